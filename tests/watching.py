"""What tests of the watcher share: one at work in a thread, or the real command, and what it has told so far."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from vault_mind import Index, Vault
from vault_mind.sync import Progress, Synced
from vault_mind.vault import Problem
from vault_mind.watcher import Change, News, Notice, Pace, Watcher

PATIENCE = 30.0  # seconds; only a machine that is busy with other things needs them
BRISK = Pace(quiet=0.1, check=0.1, hold=0.4, longest=4.0)


def until(true: Callable[[], object], what: Callable[[], object] = lambda: "it did not come") -> None:
    """Wait until `true` is."""
    deadline = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < deadline, what()
        time.sleep(0.01)


class CountingIndex(Index):
    """An index that counts its syncs, and fails as often as it is told to."""

    syncs = 0
    failures = 0

    def sync(self, progress: Progress | None = None) -> Synced:
        """As ever."""
        self.syncs += 1
        if self.failures:
            self.failures -= 1
            raise ZeroDivisionError("a fault of ours")
        return super().sync(progress)


class Watched:
    """A watcher at work in a thread of this process."""

    def __init__(self, vault: Vault, pace: Pace = BRISK, poll: float = 0.0) -> None:
        self.news: list[News] = []
        self.index = CountingIndex(vault)
        self.watcher = Watcher(vault, self.index, self.hear, poll=poll, pace=pace)
        self.ended_with: BaseException | None = None
        self.deaf: BaseException | None = None
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()
        self.wait_for("watching")

    def hear(self, news: News) -> None:
        """Take what it tells; `deaf` is raised once."""
        self.news.append(news)
        if self.deaf and isinstance(news, Change):
            deaf, self.deaf = self.deaf, None
            raise deaf

    @property
    def told(self) -> list[str]:
        """All changes so far, as `new a.md`, or `renamed a.md b.md`."""
        changes = [news for news in self.news if isinstance(news, Change)]
        return [" ".join(filter(None, (each.event, each.path, each.to))) for each in changes]

    @property
    def notices(self) -> list[str]:
        """All notices so far."""
        return [news.text for news in self.news if isinstance(news, Notice)]

    @property
    def problems(self) -> list[Problem]:
        """All problems so far."""
        return [news for news in self.news if isinstance(news, Problem)]

    def says(self, path: str) -> str:
        """What the last change of `path` says of its text."""
        return next(
            each.memory.body
            for each in reversed(self.news)
            if isinstance(each, Change) and path in (each.path, each.to) and each.memory
        )

    def wait_for(self, *lines: str) -> None:
        """Wait until each was told, as a change, or as the beginning of a notice."""
        for line in lines:
            until(
                lambda wanted=line: wanted in self.told or any(text.startswith(wanted) for text in self.notices),  # type: ignore[misc]
                lambda: self.news,
            )

    def close(self) -> None:
        """End it."""
        self.watcher.stop()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()

    def _work(self) -> None:
        try:
            self.watcher.run()
        except BaseException as error:
            self.ended_with = error
        finally:
            self.index.close()


class Command:
    """`vault-mind watch` in a process of its own, and the lines that it printed so far."""

    def __init__(self, *words: str, before: tuple[str, ...] = (), ready: bool = True) -> None:
        command = [*before, sys.executable, "-m", "vault_mind", "watch", *words]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, env=dict(os.environ)
        )
        self.lines: list[str] = []
        self.talk: list[str] = []
        self._threads = [
            threading.Thread(target=self._listen, args=each, daemon=True)
            for each in ((self.process.stdout, self.lines), (self.process.stderr, self.talk))
        ]
        for thread in self._threads:
            thread.start()
        if ready:
            until(lambda: any(line.startswith("watching ") for line in [*self.talk]), lambda: self.said)

    @property
    def said(self) -> str:
        """All that it said on stderr."""
        return "\n".join(self.talk)

    @property
    def data(self) -> list[dict[str, Any]]:
        """What it printed, with --json."""
        return [json.loads(line) for line in self.lines]

    @property
    def cpu(self) -> float:
        """Seconds of a processor that it has used so far."""
        times = Path(f"/proc/{self.process.pid}/stat").read_text("utf-8").rpartition(")")[2].split()
        return (int(times[11]) + int(times[12])) / os.sysconf("SC_CLK_TCK")

    def wait_for(self, part: str, times: int = 1) -> None:
        """Wait until so many lines with `part` were printed."""
        until(lambda: sum(part in line for line in [*self.lines]) >= times, lambda: (self.lines, self.said))

    def end(self, by: int = signal.SIGINT) -> int:
        """End it by a signal; its exit code."""
        self.process.send_signal(by)
        code = self.process.wait(PATIENCE)
        for thread in self._threads:
            thread.join(PATIENCE)
        return code

    def close(self) -> None:
        """End it, whatever it is at."""
        self.process.kill()
        self.end(signal.SIGKILL)
        for stream in (self.process.stdout, self.process.stderr):
            if stream:
                stream.close()

    def _listen(self, stream: Any, into: list[str]) -> None:
        into.extend(line.decode().rstrip("\n") for line in stream)  # each as it comes

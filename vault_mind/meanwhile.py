"""What others did to the vault while a chat went on: noticed by its watcher, told at its next turn."""

import threading
from dataclasses import dataclass, field

from vault_mind.memory import Memory
from vault_mind.rows import digest
from vault_mind.vault import Problem
from vault_mind.watcher import Change, News, Notice


@dataclass(frozen=True)
class Missed:
    """What was noticed since the last time: troubles of the watcher, problems, paths (those that are `gone` last)."""

    troubles: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    paths: tuple[str, ...] = ()
    gone: frozenset[str] = frozenset()


@dataclass
class Meanwhile:
    """Keeps what a watcher's thread hears until it is asked for, without what the chat wrote itself."""

    _noticed: dict[str, bytes | None] = field(default_factory=dict)  # by path the hash of what it says; None: gone
    _written: dict[str, bytes | None] = field(default_factory=dict)
    _troubles: list[str] = field(default_factory=list)
    _problems: list[Problem] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def hear(self, news: News) -> None:
        """Keep it for the next turn: now somebody may be typing."""
        with self._lock:
            if isinstance(news, Change):
                self._noticed.pop(news.path, None)  # of a rename, the new path says enough
                self._noticed[news.to or news.path] = digest(news.memory) if news.memory else None
            elif isinstance(news, Notice):
                self._troubles += [news.text] * news.trouble
            else:
                self._problems.append(news)

    def wrote(self, memory: Memory, *, gone: bool = False) -> None:
        """Note that the chat itself wrote `memory`, or deleted it; from any thread."""
        with self._lock:
            self._written[memory.path] = None if gone else digest(memory)

    def told(self) -> Missed:
        """What there is to tell; from now on it is told."""
        with self._lock:
            noticed, self._noticed = self._noticed, {}
            troubles, self._troubles = self._troubles, []
            problems, self._problems = self._problems, []
        paths = [path for path, hashed in noticed.items() if self._written.get(path, b"") != hashed]
        gone = frozenset(path for path in paths if noticed[path] is None)
        return Missed(tuple(troubles), tuple(problems), tuple(sorted(paths, key=gone.__contains__)), gone)

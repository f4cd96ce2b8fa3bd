"""The journal: exchanges not yet learned from, one private file each, so that a crash loses none."""

import json
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from vault_mind.errors import BusyError, UnreadableError, WriteFailedError
from vault_mind.files import WRITING, locked, noted, private_folder, read_regular, tidy, write_whole
from vault_mind.memory import Memory

MOST_TRIES = 3  # after so many failures an exchange waits for `doctor` and its owner


class Proposed(NamedTuple):
    """A candidate as the journal keeps it: what `extraction` found in the exchange, checked."""

    kind: str
    text: str
    quote: str
    tags: tuple[str, ...] = ()
    forget: bool = False


@dataclass(frozen=True)
class Exchange:
    """What the user said and what came back, at one moment (ISO 8601) of one chat, by which mind.

    `before` is the reply that the user's words followed on. `proposed` are the candidates that a mind
    found in it (None: it was not asked yet), of which the first `done` have been dealt with.
    """

    message: str
    before: str
    reply: str
    at: str
    chat: str
    mind: str
    tries: int = 0
    proposed: tuple[Proposed, ...] | None = None
    done: int = 0


@dataclass(frozen=True)
class Waiting:
    """An exchange in the journal, and the file that holds it."""

    exchange: Exchange
    file: Path


class Journal:
    """The journal in `folder`; its files hold what the user said, so nobody else may read them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def add(self, exchange: Exchange) -> Waiting:
        """Write `exchange` down, durably."""
        private_folder(self.folder)
        moment = datetime.fromisoformat(exchange.at)
        file = self.folder / f"{moment.timestamp():.6f}-{secrets.token_hex(4)}.json"
        with self._lock(), noted(self._note, file):
            write_whole(file, _bytes(exchange), expected=None, mode=0o600)
            self.sweep()
        return Waiting(exchange, file)

    def waiting(self, mind: str | None = None) -> list[Waiting]:
        """What is still to be learned from, oldest first; of one mind, or of all."""
        read = ((file, _read(file)) for file in self._files())
        return [Waiting(said, file) for file, said in read if said and mind in (None, said.mind)]

    def now(self, waiting: Waiting) -> Waiting | None:
        """`waiting` as it stands in its file by now, None when it is gone: another process may have been at it."""
        exchange = _read(waiting.file)
        return Waiting(exchange, waiting.file) if exchange else None

    def damaged(self) -> list[Path]:
        """Files that hold no exchange we can read; they are left as they are."""
        return [file for file in self._files() if _read(file) is None and file.exists()]

    def cross_off(self, waiting: Waiting) -> None:
        """Take an exchange out, once it has been learned from."""
        waiting.file.unlink(missing_ok=True)
        waiting.file.with_suffix(".lock").unlink(missing_ok=True)

    def failed(self, waiting: Waiting) -> None:
        """Count one more failure to learn from an exchange."""
        self._change(waiting.file, lambda exchange: replace(exchange, tries=exchange.tries + 1))

    def found(self, waiting: Waiting, proposed: Sequence[Proposed]) -> None:
        """Keep what a mind found in an exchange: it is not asked again, for it would word it otherwise.

        They stand in the order in which they are dealt with; what has been dealt with stays in front.
        """
        self._change(waiting.file, lambda exchange: replace(exchange, proposed=tuple(proposed)))

    def dealt_with(self, waiting: Waiting, done: int) -> None:
        """Note that the first `done` candidates of an exchange need nothing more."""
        self._change(waiting.file, lambda exchange: replace(exchange, done=max(exchange.done, done)))

    def forget(self, memory: Memory) -> None:
        """Cross off the candidate that became `memory`, where a crash came before that was noted.

        Only the one that was being written then can be it. One that was forgotten never comes back.
        """
        for waiting in self.waiting():
            if (number := in_the_works(waiting.exchange, memory)) is not None:
                self.dealt_with(waiting, number + 1)

    def tidy(self) -> None:
        """Clear up after a writer that was killed, unless somebody is writing; one look when there was none."""
        if self._note.exists():
            with suppress(BusyError), self._lock(seconds=0):
                pass

    def sweep(self) -> None:
        """Remove locks of exchanges whose process was killed between crossing them off and letting go."""
        left = [lock for lock in self.folder.glob("[!.]*.lock") if not lock.with_suffix(".json").exists()]
        if left:
            with suppress(BusyError, WriteFailedError, OSError), self._lock(seconds=0):
                for lock in left:
                    lock.unlink(missing_ok=True)

    @contextmanager
    def claimed(self, waiting: Waiting) -> Iterator[bool]:
        """Whether this process may learn from an exchange: nobody else is at it, and it is still to be done."""
        with ExitStack() as stack:
            try:
                stack.enter_context(locked(waiting.file.with_suffix(".lock"), "the exchange", seconds=0))
            except BusyError:
                yield False
                return
            there = waiting.file.exists()
            if not there:  # crossed off meanwhile, its lock's file with it
                waiting.file.with_suffix(".lock").unlink(missing_ok=True)
            yield there

    def _files(self) -> list[Path]:
        try:
            return sorted(self.folder.glob("*.json")) if self.folder.is_dir() else []
        except OSError:  # a folder above is closed to us: `add` fails, and `doctor` says why
            return []

    def _change(self, file: Path, change: Callable[[Exchange], Exchange]) -> None:
        """Write an exchange anew, as it is by now; one that was crossed off does not come back."""
        with self._lock():
            exchange = _read(file)
            if exchange is not None:
                with noted(self._note, file):
                    raw = read_regular(file)[0]
                    write_whole(file, _bytes(change(exchange)), expected=raw, mode=0o600)

    @contextmanager
    def _lock(self, seconds: float = 30) -> Iterator[None]:
        with locked(self.folder / ".lock", "the journal", seconds):
            tidy(self._note)
            yield

    @property
    def _note(self) -> Path:
        return self.folder / WRITING


def in_the_works(exchange: Exchange, memory: Memory) -> int | None:
    """The number of the candidate that was being dealt with when it became `memory`; None when it did not.

    It is known by chat, quote and sentence; or, as its owner may have changed the sentence, by chat,
    moment and a quote on which nothing else rests.
    """
    proposed = exchange.proposed or ()
    if exchange.done >= len(proposed) or memory.chat != exchange.chat:
        return None
    one = proposed[exchange.done]
    if one.forget:
        return None
    if memory.quote != one.quote.encode("utf-8", "replace").decode("utf-8"):
        return None
    then = memory.created_at == datetime.fromisoformat(exchange.at).replace(microsecond=0)
    alone = [other.quote for other in proposed].count(one.quote) == 1
    return exchange.done if memory.body == one.text or (then and alone) else None


def _read(file: Path) -> Exchange | None:
    try:
        return _exchange(json.loads(read_regular(file)[0]))
    except (UnreadableError, ValueError, TypeError, RecursionError):
        return None  # crossed off by another process just now, damaged, or not ours


def _exchange(found: object) -> Exchange:
    """The exchange that a file holds. Raises TypeError or ValueError for anything else."""
    if not isinstance(found, dict):
        raise TypeError(found)
    proposed = found.get("proposed")
    if proposed is not None:
        found = {**found, "proposed": tuple(_proposed(one) for one in _listed(proposed))}
    exchange = Exchange(**found)  # what has another type is turned away in the next lines
    texts = [value for name, value in found.items() if name not in ("tries", "proposed", "done")]
    if not all(isinstance(value, str) for value in texts) or (type(exchange.tries), type(exchange.done)) != (int, int):
        raise TypeError(found)
    if exchange.done < 0:
        raise ValueError(exchange.done)
    datetime.fromisoformat(exchange.at)
    return exchange


def _proposed(found: object) -> Proposed:
    kind, text, quote, *more = _listed(found)
    tags, forget = more or ([], False)  # an older version kept neither
    if not all(isinstance(each, str) for each in (kind, text, quote, *_listed(tags))) or not isinstance(forget, bool):
        raise TypeError(found)
    return Proposed(kind, text, quote, tuple(tags), forget)


def _listed(found: object) -> list[Any]:
    if not isinstance(found, list):
        raise TypeError(found)
    return found


def _bytes(exchange: Exchange) -> bytes:
    return json.dumps(asdict(exchange), ensure_ascii=True).encode()

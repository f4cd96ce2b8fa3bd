"""The journal: exchanges not yet learned from, one private file each, so that a crash loses none."""

import json
import secrets
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path

from vault_mind.errors import BusyError, UnreadableError
from vault_mind.files import locked, private_folder, read_regular, write_whole

MOST_TRIES = 3  # after so many failures an exchange waits for `doctor` and its owner


@dataclass(frozen=True)
class Exchange:
    """What the user said and what came back, at one moment (ISO 8601) of one chat, by which mind.

    `before` is the reply that the user's words followed on.
    """

    message: str
    before: str
    reply: str
    at: str
    chat: str
    mind: str
    tries: int = 0


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
        with self._lock():
            write_whole(file, _bytes(exchange), expected=None)
            file.chmod(0o600)
        return Waiting(exchange, file)

    def waiting(self, mind: str | None = None) -> list[Waiting]:
        """What is still to be learned from, oldest first; of one mind, or of all."""
        read = ((file, _read(file)) for file in self._files())
        return [Waiting(said, file) for file, said in read if said and mind in (None, said.mind)]

    def damaged(self) -> list[Path]:
        """Files that hold no exchange we can read; they are left as they are."""
        return [file for file in self._files() if _read(file) is None and file.exists()]

    def cross_off(self, waiting: Waiting) -> None:
        """Take an exchange out, once it has been learned from."""
        waiting.file.unlink(missing_ok=True)
        waiting.file.with_suffix(".lock").unlink(missing_ok=True)

    def failed(self, waiting: Waiting) -> None:
        """Count one more failure to learn from an exchange."""
        with self._lock():
            if waiting.file.exists():
                again = replace(waiting.exchange, tries=waiting.exchange.tries + 1)
                write_whole(waiting.file, _bytes(again), expected=_bytes(waiting.exchange))

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
        return sorted(self.folder.glob("*.json")) if self.folder.is_dir() else []

    def _lock(self) -> AbstractContextManager[None]:
        return locked(self.folder / ".lock", "the journal")


def _read(file: Path) -> Exchange | None:
    try:
        return _exchange(json.loads(read_regular(file)[0]))
    except (UnreadableError, ValueError, TypeError, RecursionError):
        return None  # crossed off by another process just now, damaged, or not ours


def _exchange(found: dict[str, object]) -> Exchange:
    """The exchange that a file holds. Raises TypeError or ValueError for anything else."""
    exchange = Exchange(**found)  # type: ignore[arg-type]  # looked at in the next lines
    texts = [value for name, value in found.items() if name != "tries"]
    if not all(isinstance(value, str) for value in texts) or type(exchange.tries) is not int:
        raise TypeError(found)
    datetime.fromisoformat(exchange.at)
    return exchange


def _bytes(exchange: Exchange) -> bytes:
    return json.dumps(asdict(exchange), ensure_ascii=True).encode()

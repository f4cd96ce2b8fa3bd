"""Vectors made behind a chat, in a thread of their own: how far it is, and what came of it."""

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from vault_mind.errors import VaultMindError

if TYPE_CHECKING:
    from vault_mind.session import Session

PATIENCE = 2.0  # seconds that whoever leaves waits for the batch being made

log = logging.getLogger(__name__)


class Underway:
    """Makes the vectors that search by meaning lacks while a chat goes on; what is made stays, whenever it ends.

    `moved` is called in the thread whenever `doing` says something else, `ring` when there is something to tell.
    """

    def __init__(
        self,
        session: "Session",
        waiting: int,
        *,
        moved: Callable[[], None] = lambda: None,
        ring: Callable[[], None] = lambda: None,
    ) -> None:
        """Of so many memories that are `waiting`."""
        self._session, self._moved, self._ring = session, moved, ring
        self._so_far: str | None = f"0 of {waiting:,}"
        self._ended: str | None = None
        self._failed = False
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, name="embedding", daemon=True)

    @property
    def doing(self) -> str | None:
        """How far it is, in a line; None when it has ended."""
        return self._so_far and f"making vectors: {self._so_far}"

    def begin(self) -> None:
        """Begin, and return at once."""
        self._moved()
        self._thread.start()

    @property
    def news(self) -> bool:
        """Whether there is something that `told` would give."""
        return self._ended is not None

    def told(self) -> tuple[str, bool] | None:
        """What came of it and whether it failed, once; None before that and after."""
        ended, self._ended = self._ended, None
        return None if ended is None else (ended, self._failed)

    def leave(self) -> bool:
        """End it between two batches, and whether something is left to be made; nobody waits long for a server."""
        self._stop.set()
        self._thread.join(PATIENCE)
        return self._so_far is not None

    def _work(self) -> None:
        try:
            made = self._session.embed(self._progress, stop=self._stop)
            left = self._left()
            if not (left and self._stop.is_set()):
                self._end(f"{_counted(made, 'vector')} made{left}")
        except VaultMindError as error:
            self._fail(str(error))
        except Exception as error:  # promise 8: what nobody foresaw costs the vectors, and not the chat
            log.info("making vectors broke off", exc_info=error)
            self._fail(str(error) or type(error).__name__)

    def _progress(self, done: int, of: int) -> None:
        self._so_far = f"{done:,} of {of:,}"
        self._moved()

    def _left(self) -> str:
        """What there is to say of texts that the model did not take, and of what was written meanwhile."""
        beside = self._session.beside()  # SQLite wants an index for each thread
        try:
            left = beside.index.waiting()
        finally:
            beside.close()
        return f"; {_counted(left, 'memory')} without one" if left else ""

    def _fail(self, why: str) -> None:
        self._failed = True
        self._end(f"making vectors broke off at {self._so_far}: {why}")

    def _end(self, what: str) -> None:
        self._ended, self._so_far = what, None
        self._moved()
        self._ring()


def _counted(number: int, what: str) -> str:
    many = f"{what[:-1]}ies" if what.endswith("y") else f"{what}s"
    return f"1 {what}" if number == 1 else f"{number:,} {many}"

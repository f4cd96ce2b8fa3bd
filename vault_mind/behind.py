"""Learning behind the prompt: one thread goes through the journal, with an index and a mind of its own."""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING

from vault_mind.agent import Agent, Learned, Noted
from vault_mind.errors import VaultMindError
from vault_mind.journal import Waiting
from vault_mind.memory import Memory

if TYPE_CHECKING:
    from vault_mind.session import Session

SLICE = 0.1  # seconds after which one who waits looks up: on Windows nothing else lets Ctrl-C through

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Said:
    """An exchange that was noted, and the turn of the chat that it belongs to."""

    noted: Noted
    turn: int


class Behind:
    """Learns from what a chat notes, in order, while the chat goes on; what came of it is kept until it is asked for.

    The journal holds all that waits here, so the thread may end at any moment with its process: nobody waits
    for a model that does not answer. An exchange that asks to forget something is crossed off by whoever has asked the
    user (`Learned.held`). `session` is opened, used and closed by the thread alone. `ring` is called
    in the thread when there is something to tell, `wrote` for each memory as soon as it is written.
    """

    def __init__(
        self,
        session: "Session",
        *,
        ring: Callable[[], None] = lambda: None,
        wrote: Callable[[Memory], None] = lambda _: None,
    ) -> None:
        self._session, self._ring, self._wrote = session, ring, wrote
        self._said: SimpleQueue[_Said | None] = SimpleQueue()
        # What is to be done here, by the file in the journal; None: it is of an earlier chat. Another chat that goes on
        # beside this one does its own.
        self._ours: dict[Path, _Said | None] = {}
        self._held: set[Path] = set()
        self._done: deque[Learned] = deque()
        self._left = 0
        self._changed = threading.Condition()
        self._leaving = threading.Event()
        self._thread: threading.Thread | None = None

    def learn(self, noted: Noted, turn: int) -> None:
        """Learn from `noted` when all that waits before it is done; what that uses counts to that `turn`."""
        if noted.waiting is not None:
            said = _Said(noted, turn)
            self._ours[noted.waiting.file] = said
            self._begin(said)

    def catch_up(self) -> None:
        """Learn from what earlier chats left in the journal."""
        self._begin(None)

    @property
    def busy(self) -> bool:
        """Whether there is something that it has still to learn from."""
        return self._left > 0

    @property
    def left(self) -> int:
        """How many exchanges stay in the journal for the next start, if it ended now."""
        return sum(file.exists() for file in list(self._ours))

    @property
    def news(self) -> bool:
        """Whether there is something that `told` would give."""
        return bool(self._done)

    def told(self) -> list[Learned]:
        """What came of learning since this was last asked, in order."""
        return [self._done.popleft() for _ in range(len(self._done))]

    def finish(self, seconds: float | None = None) -> bool:
        """Wait until it is no longer busy, at most so many seconds; whether it is so. Ctrl-C ends the waiting."""
        end = None if seconds is None else time.monotonic() + seconds
        with self._changed:
            while self._left and (end is None or time.monotonic() < end):
                self._changed.wait(SLICE)
            return not self._left

    def leave(self) -> None:
        """Begin nothing more: what is under way ends when it ends, or with the process."""
        self._leaving.set()
        self._said.put(None)

    def _begin(self, said: _Said | None) -> None:
        with self._changed:
            self._left += 1
        self._said.put(said)
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="learning", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        try:
            while True:
                said = self._said.get()
                if self._leaving.is_set():
                    return
                try:
                    self._learn_up_to(said)
                except Exception as error:  # promise 8: a vault that cannot be opened here costs the chat nothing
                    log.info("learning broke off", exc_info=error)
                    self._tell(Learned(failed=str(error) or type(error).__name__))
                finally:
                    with self._changed:
                        self._left -= 1
                        self._changed.notify_all()
        finally:
            self._session.close()

    def _learn_up_to(self, said: _Said | None) -> None:
        """Learn from what waits in the journal, as far as the exchange that was `said`, or all of it.

        What failed before is tried again first; where that shows that nothing can be learned now, the rest waits.
        """
        agent = self._session.agent
        agent.wrote = self._wrote
        waiting = agent.waiting()
        if said is None:
            self._ours |= {one.file: None for one in waiting if one.file not in self._ours}
        last = said.noted.waiting.file.name if said and said.noted.waiting else None
        for one in waiting:
            if self._leaving.is_set():
                return
            if one.file not in self._ours or one.file in self._held or (last and one.file.name > last):
                continue  # of what was said after `said`, too, the turn comes
            what = self._learned(agent, one)
            if what and what.stuck:
                return

    def _learned(self, agent: Agent, waiting: Waiting) -> Learned | None:
        ours = self._ours.get(waiting.file)
        self._session.ledger.go_on(ours.turn if ours else 0)
        try:
            what = agent.learn_from(waiting, hold=True)
        except Exception as error:  # promise 8: one exchange that cannot be learned from costs only itself
            log.info("learning broke off", exc_info=error)
            what = Learned(failed=str(error) or type(error).__name__)
            with suppress(VaultMindError):
                agent.journal.failed(waiting)
        if what is None:  # another process is at it, or was
            return None
        if what.held:
            self._held.add(waiting.file)
        elif what.given_up or not what.failed:
            self._ours.pop(waiting.file, None)
        self._tell(ours.noted.ended(what) if ours else what)
        return what

    def _tell(self, what: Learned) -> None:
        self._done.append(what)
        self._ring()

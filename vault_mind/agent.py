"""The loop: recall, answer, learn. It prints nothing; the doors show what it gives."""

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

from vault_mind import prompt
from vault_mind.config import Settings
from vault_mind.errors import ModelError, VaultMindError
from vault_mind.extraction import Turned, propose
from vault_mind.index import Index
from vault_mind.journal import MOST_TRIES, Exchange, Journal, Proposed, Waiting, in_the_works
from vault_mind.memory import Memory
from vault_mind.model import ModelClient
from vault_mind.ranking import FITS, Hit
from vault_mind.reconcile import twin
from vault_mind.record import Record, headline
from vault_mind.vault import Problem, Vault

NEAREST = 3  # memories that do not fit a message and are kept as the nearest
NEIGHBOURS = 20  # memories looked at for a duplicate; one that overlaps by the threshold ranks far above

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Recalled:
    """What bears on a message, best first, what is always there, and what the search found amiss.

    `nearest` are the best of those that share a word with the message and yet do not fit it.
    """

    hits: tuple[Hit, ...]
    pinned: tuple[Memory, ...]
    news: tuple[Problem, ...]
    nearest: tuple[Hit, ...] = ()


@dataclass(frozen=True)
class Learned:
    """What came of learning: memories written, those that said it already, proposals turned away.

    `failed` says why nothing could be learned this time; the exchange then waits in the journal, unless that
    was what failed: then it is not `kept`.
    `news` are problems that the search for duplicates met and nobody was told of before. `uncommitted`
    says why what was written is in no version of the vault yet, where it should be.
    """

    saved: tuple[Memory, ...] = ()
    known: tuple[Memory, ...] = ()
    turned: tuple[Turned, ...] = ()
    failed: str | None = None
    kept: bool = True
    news: tuple[Problem, ...] = ()
    uncommitted: tuple[str, ...] = ()


def _now() -> datetime:
    return datetime.now().astimezone()


class Agent:
    """A chat over one vault: `recall`, then `answer`, then `learn`; or `ask`, which does all three."""

    def __init__(
        self,
        vault: Vault,
        index: Index,
        mind: ModelClient,
        journal: Journal,
        settings: Settings,
        *,
        now: Callable[[], datetime] = _now,
    ) -> None:
        self.vault, self.index, self.mind, self.journal = vault, index, mind, journal
        self._settings = settings
        self._record = Record(vault, settings.commit)
        self._untold: list[str] = []
        self._now = now
        self._news: list[Problem] = []
        self._history: list[tuple[str, str]] = []  # each question as it was sent, and its reply
        self.chat = f"{now():%Y-%m-%d-%H%M%S}-{os.urandom(4).hex()}"

    def ask(self, message: str) -> str:
        """The whole reply to `message`, learned from. Raises ModelError when there is none."""
        reply = "".join(self.answer(message, self.recall(message)))
        self.learn(message, reply)
        return reply

    def recall(self, message: str) -> Recalled:
        """The memories that bear on `message`; superseded and expired ones are left out."""
        synced = self.index.sync()
        now = self._now()
        pinned = [memory for memory in self.index.pinned() if memory.current(now)]
        hits = self.index.ranked(message, self._settings.top_k, now=now)
        fitting = tuple(hit for hit in hits if hit.fit >= FITS)
        nearest = tuple(hit for hit in hits if hit.fit < FITS)[:NEAREST]
        return Recalled(fitting, tuple(pinned), synced.news, nearest)

    def answer(self, message: str, recalled: Recalled) -> Iterator[str]:
        """The reply, piece by piece. Raises ModelError, perhaps after some of it.

        The exchange joins the history of this chat when the reply is whole, or when the user stops
        it with something said.
        """
        nearest = () if recalled.hits else recalled.nearest
        request = prompt.reply(message, recalled.hits, recalled.pinned, self._history, self._now(), nearest)
        asked, pieces = request.messages[-1].text, []
        try:
            for piece in self.mind.reply(request):
                pieces.append(piece)
                yield piece
        except ModelError:
            raise  # what broke off is not sent again, so that it cannot spoil the turns to come
        except (GeneratorExit, KeyboardInterrupt):
            self._add_to_history(asked, "".join(pieces))
            raise
        if not "".join(pieces).strip():
            raise ModelError("the model gave an empty reply", "Say it again")
        self._add_to_history(asked, "".join(pieces))

    def learn(self, message: str, reply: str) -> Learned:
        """Keep what `message` says that is worth keeping. Never raises one of our errors."""
        before = self._history[-2][1] if len(self._history) > 1 else ""
        exchange = Exchange(message, before, reply, self._now().isoformat(), self.chat, self.mind.name)
        try:
            waiting = self.journal.add(exchange)
        except VaultMindError as error:
            return Learned(failed=str(error), kept=False)
        return self._learn_from(waiting) or Learned()

    def backlog(self) -> int:
        """How many exchanges of earlier times `catch_up` would learn from."""
        return len(self._backlog())

    def catch_up(self) -> list[Learned]:
        """Learn from what earlier chats left in the journal; another process at it is left alone."""
        learned = []
        for waiting in self._backlog():
            what = self._learn_from(waiting)
            learned += [what] if what else []
            if what and what.failed:  # the next one would hardly fare better now
                break
        return learned

    def remember(self, text: str, *, kind: str, tags: Sequence[str] = ()) -> tuple[Memory, bool]:
        """Write what the user asked to be remembered, and whether it is new; the same twice is once."""
        with self.vault.lock():
            known = self._twin(text, threshold=1.0)
            if known is not None:
                return known, False
            self._untold += self._record.begin()
            memory = self.vault.save(text, kind=kind, source="user", created_at=self._now(), tags=tags)
        self._untold += self._record.write([memory.path], [headline(memory)], {"Source": "user"})
        return memory, True

    def uncommitted(self) -> tuple[str, ...]:
        """Why what `remember` wrote since this was last asked is in no version yet; sentences for the user."""
        untold, self._untold = tuple(self._untold), []
        return untold

    def news(self) -> tuple[Problem, ...]:
        """The problems that looking for duplicates met since this was last asked."""
        news, self._news = tuple(self._news), []
        return news

    def _add_to_history(self, asked: str, reply: str) -> None:
        if not reply.strip():  # stopped before the first word
            return
        self._history.append((asked, reply))
        limit = self._settings.history_turns
        if len(self._history) > limit:  # in steps: every trim throws the server's cache away
            del self._history[: len(self._history) - limit + limit // 3]

    def _backlog(self) -> list[Waiting]:
        return [waiting for waiting in self.journal.waiting(self.mind.name) if waiting.exchange.tries < MOST_TRIES]

    def _learn_from(self, waiting: Waiting) -> Learned | None:
        """Learn from one exchange; None when another process is at it or was."""
        try:
            with self.journal.claimed(waiting) as mine:
                current = self.journal.now(waiting) if mine else None
                return self._learned(current) if current else None
        except VaultMindError as error:
            return Learned(failed=str(error))

    def _learned(self, waiting: Waiting) -> Learned:
        exchange, turned = waiting.exchange, list[Turned]()
        again = exchange.proposed is not None  # a learning that was cut off: it may have written and not committed
        try:
            written = None if exchange.proposed is None else self._written(exchange)
            if exchange.proposed is None:
                candidates, turned = propose(exchange, self.mind)
                exchange = replace(exchange, proposed=tuple(Proposed(c.kind, c.text, c.quote) for c in candidates))
                if exchange.proposed:  # from here on a crash costs no second call, which would word them otherwise
                    self.journal.found(waiting, exchange.proposed)
            untold = self._record.begin() if exchange.proposed else ()
            saved, known = self._keep(waiting, exchange, written)
            paths = [memory.path for memory in (self._of_turn(exchange) if again else saved)]
            trailers = {
                "Source": "chat",
                "Chat": exchange.chat,
                "Model": self._model(exchange.mind),
            }
            untold += self._record.write(paths, list(map(headline, saved)), trailers)
            self.journal.cross_off(waiting)
        except VaultMindError as error:
            log.info("learning failed", exc_info=error)
            if getattr(error, "answered", True):  # a network that is down says nothing about the exchange
                with suppress(VaultMindError):  # a full disk: the exchange is in the journal all the same
                    self.journal.failed(waiting)
            return Learned(failed=getattr(error, "why", str(error)))
        return Learned(tuple(saved), tuple(known), tuple(turned), news=self.news(), uncommitted=untold)

    def _keep(self, waiting: Waiting, exchange: Exchange, written: Memory | None) -> tuple[list[Memory], list[Memory]]:
        """Save what is new of the candidates still to be dealt with; `written` is the first of them, if it is."""
        saved, known = [], []
        proposed = exchange.proposed or ()
        for number in range(exchange.done, len(proposed)):
            candidate = proposed[number]
            with self.vault.lock():  # looking for a twin and writing are one step among processes
                twin_found = written or self._twin(candidate.text, threshold=self._settings.dedupe_threshold)
                written = None
                if twin_found is not None:
                    known.append(twin_found)
                else:
                    saved.append(
                        self.vault.save(
                            candidate.text,
                            kind=candidate.kind,
                            source="chat",
                            created_at=datetime.fromisoformat(exchange.at),
                            quote=candidate.quote,
                            chat=exchange.chat,
                        )
                    )
            if number + 1 < len(proposed):  # of the last one its crossing off tells
                self.journal.dealt_with(waiting, number + 1)
        return saved, known

    def _written(self, exchange: Exchange) -> Memory | None:
        """The memory that a learning that was cut off had just written; its owner may have changed it since.

        All files are looked at: it may have been moved, and no words of it need be left.
        """
        return next((memory for memory in self.vault.memories() if in_the_works(exchange, memory) is not None), None)

    def _model(self, mind: str) -> str:
        return self._settings.model if mind == "claude" else mind

    def _of_turn(self, exchange: Exchange) -> list[Memory]:
        """Every memory that was learned from `exchange`."""
        at = datetime.fromisoformat(exchange.at).replace(microsecond=0)
        return [memory for memory in self.vault.memories() if (memory.chat, memory.created_at) == (exchange.chat, at)]

    def _twin(self, text: str, *, threshold: float) -> Memory | None:
        now = self._now()
        self._news += self.index.sync().news
        hits = self.index.ranked(text, NEIGHBOURS, now=now)
        memories = (hit.memory for hit in hits)
        return twin(text, memories, threshold=threshold, language=self._settings.language)

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
from vault_mind.extraction import Candidate, Turned, propose
from vault_mind.index import Index
from vault_mind.journal import MOST_TRIES, Exchange, Journal, Waiting
from vault_mind.memory import Memory
from vault_mind.model import ModelClient
from vault_mind.ranking import FITS, Hit
from vault_mind.secrecy import MASK, masked
from vault_mind.upkeep import Kept, Upkeep
from vault_mind.vault import Problem, Vault
from vault_mind.withheld import PRIVATE, Withheld, public
from vault_mind.worth import ASKED, Unmarked, claims

NEAREST = 3  # memories that do not fit a message and are kept as the nearest

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

    `superseded` are new memories with the paths that each took the place of; `wished` are those that
    the user asked to forget, for them to confirm. `withheld` names what was not even written down.
    `claimed`: the reply says that something was saved or forgotten, and nothing was.
    `failed` says why nothing, or no more, could be learned this time; the exchange then waits in the
    journal. `news` are problems that learning met, and memories that it would not change.
    """

    saved: tuple[Memory, ...] = ()
    known: tuple[Memory, ...] = ()
    turned: tuple[Turned, ...] = ()
    failed: str | None = None
    news: tuple[Problem, ...] = ()
    superseded: tuple[tuple[Memory, str], ...] = ()
    wished: tuple[Memory, ...] = ()
    withheld: tuple[str, ...] = ()
    claimed: bool = False


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
        self._now = now
        self._news: list[Problem] = []
        self._withheld = Withheld(settings.secrets, settings.never, settings.language)
        self._upkeep = Upkeep(vault, index, mind, settings, now)
        self._off = False
        self._apart: tuple[str, str] | None = None  # the last exchange that must be written nowhere
        self._worth = False
        self._history: list[tuple[str, str]] = []  # each question as it was sent, and its reply
        self.chat = f"{now():%Y-%m-%d-%H%M%S}-{os.urandom(4).hex()}"

    @property
    def off(self) -> bool:
        """Whether nothing that is said now reaches journal or memory."""
        return self._off

    @off.setter
    def off(self, off: bool) -> None:
        self._off = off
        self._apart = self._history[-1] if self._history else None  # the reply to it may repeat it

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
        if flags := self._settings.learn == "asked":
            request = replace(request, system=request.system + ASKED)
        unmarked = Unmarked(self.mind.reply(request), asked=flags)
        try:
            for piece in unmarked:
                pieces.append(piece)
                yield piece
        except ModelError:
            raise  # what broke off is not sent again, so that it cannot spoil the turns to come
        except (GeneratorExit, KeyboardInterrupt):
            self._add_to_history(asked, "".join(pieces))
            raise
        if not "".join(pieces).strip():
            raise ModelError("the model gave an empty reply", "Say it again")
        self._worth = unmarked.worth
        self._add_to_history(asked, "".join(pieces))

    def learn(self, message: str, reply: str, *, worth: bool | None = None) -> Learned:
        """Keep what `message` says that is worth keeping. Never raises one of our errors.

        `worth` is whether the reply said that it is, which counts where the setting `learn` is "asked";
        None: as the last answer of this chat said.
        """
        before, private = self._before(), public(message)[1]
        if private or self._off:
            self._apart = self._history[-1] if self._history else None
        learned = self._learn(message, reply, before, private=private, worth=self._worth if worth is None else worth)
        self._worth = False
        done = learned.saved or learned.known or learned.superseded or learned.wished or learned.failed
        return learned if done else replace(learned, claimed=claims(reply))

    def _learn(self, message: str, reply: str, before: str, *, private: bool, worth: bool) -> Learned:
        if self._off or self._settings.learn == "off" or (self._settings.learn == "asked" and not worth):
            return Learned()
        said, withheld = self._withheld.screened(message)
        if withheld and not any(c.isalnum() for c in said.replace(PRIVATE, "").replace(MASK, "")):
            return Learned(withheld=withheld)
        reply = "" if private else self._withheld.screened(reply)[0]
        exchange = Exchange(said, before, reply, self._now().isoformat(), self.chat, self.mind.name)
        try:
            waiting = self.journal.add(exchange)
        except VaultMindError as error:
            return Learned(failed=str(error), withheld=withheld)
        return replace(self._learn_from(waiting) or Learned(), withheld=withheld)

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
        """Write what the user asked to be remembered, and whether it is new; the same twice is once.

        Raises WithheldError for what the user's settings keep out.
        """
        text, found = self._withheld.checked(kind, text, tags)
        kept = Kept()
        with self.vault.lock():
            known = self._upkeep.twin(text, 1.0, kept)
            self._news += kept.news
            if known is not None:
                return known, False
            memory = self.vault.save(text, kind=kind, source="user", created_at=self._now(), tags=tags)
        if found:
            self._news.append(Problem(memory.path, f"{' and '.join(found)} in it was masked"))
        return memory, True

    def withholds(self, message: str) -> bool:
        """Whether `message` holds words that must not be written down anywhere."""
        return bool(self._withheld.screened(message)[1])

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
                return self._learned(waiting) if mine else None
        except VaultMindError as error:
            return Learned(failed=str(error))

    def _learned(self, waiting: Waiting) -> Learned:
        kept, failed = Kept(), None
        turned: list[Turned] = []
        try:
            candidates, turned = propose(waiting.exchange, self.mind, self.index.tags(prompt.OFFERED))
            candidates, refused = self._allowed(candidates)
            turned += refused
            kept = self._upkeep.keep(candidates, waiting.exchange)
            if kept.failed:
                raise kept.failed
            self.journal.cross_off(waiting)
        except VaultMindError as error:
            log.info("learning failed", exc_info=error)
            if getattr(error, "answered", True):  # a network that is down says nothing about the exchange
                with suppress(VaultMindError):  # a full disk: the exchange is in the journal all the same
                    self.journal.failed(waiting)
            failed = getattr(error, "why", str(error))
        return Learned(
            tuple(kept.saved),
            tuple(kept.known),
            tuple(turned),
            failed,
            (*self.news(), *kept.news),
            tuple(kept.superseded),
            tuple(kept.wished),
        )

    def _allowed(self, candidates: Sequence[Candidate]) -> tuple[list[Candidate], list[Turned]]:
        """The candidates that the user's settings let in, secrets masked; and the others, but for what was told of."""
        allowed, turned = [], []
        for candidate in candidates:
            texts = (candidate.text, candidate.quote, *candidate.tags)
            why = None if candidate.forget else self._withheld.objection(candidate.kind, *texts)
            if why is None:
                text, quote = masked(candidate.text)[0], masked(candidate.quote)[0]
                allowed.append(replace(candidate, text=text, quote=quote))
            elif not any(mark in text for mark in (PRIVATE, MASK) for text in texts):
                turned.append(Turned(masked(candidate.text)[0], why))
        return allowed, turned

    def _before(self) -> str:
        """The reply that the last message followed on, as it may be written down."""
        asked, reply = previous = self._history[-2] if len(self._history) > 1 else ("", "")
        return "" if previous is self._apart or public(asked)[1] else self._withheld.screened(reply)[0]

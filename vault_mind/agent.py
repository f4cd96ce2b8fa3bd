"""The loop: recall, answer, learn. It prints nothing; the doors show what it gives."""

import logging
import os
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from vault_mind import lookup, prompt
from vault_mind.analysis import stopwords, words
from vault_mind.config import Settings
from vault_mind.errors import ModelError, UnreadableError, VaultMindError
from vault_mind.extraction import Turned, propose
from vault_mind.index import Index
from vault_mind.journal import MOST_TRIES, Exchange, Journal, Proposed, Waiting, in_the_works
from vault_mind.lookup import TOOLS, Lookup, Lookups
from vault_mind.memory import Memory
from vault_mind.model import Calls, ModelClient, Request, Result, Round
from vault_mind.prompt import Turn
from vault_mind.ranking import FITS, Hit
from vault_mind.reconcile import twin
from vault_mind.record import Record, headline, once
from vault_mind.vault import Problem, Vault

NEAREST = 3  # memories that do not fit a message and are kept as the nearest
SHORT, SMALL = 1, 3  # telling words up to which a message says little: by which nothing is found; where it refers back
LAST = 400  # characters of the last reply that help to find what such a message means
NO_ROOM = "\n[cut: there is no room for more in this conversation]"
NEIGHBOURS = 20  # memories looked at for a duplicate; one that overlaps by the threshold ranks far above

log = logging.getLogger(__name__)

# What stands for somebody or something named before; in other languages such words are stopwords, which tell nothing.
_REFERRING = frozenset(
    """he him his she her hers it its they them their theirs this that these those there then one ones same other
    er ihn ihm sie ihr ihre ihren sein seine seinen dessen deren il elle lui leur leurs son sa ses él ella ellos su sus
    lui lei loro suo sua""".split()
)


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
class Shortened:
    """The conversation was too long for the model; so many of its exchanges are no longer sent along."""

    exchanges: int


Aside = Lookup | Shortened  # what happens in the midst of an answer, for whoever wants to be told


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
        self._history: list[tuple[Turn, str]] = []  # each question with what was told beside it, and its reply
        self._labels: tuple[list[str], list[str]] | None = None  # kinds and tags, as this chat was told of them
        self.chat = f"{now():%Y-%m-%d-%H%M%S}-{os.urandom(4).hex()}"

    def ask(self, message: str) -> str:
        """The whole reply to `message`, learned from. Raises ModelError when there is none."""
        reply = "".join(self.answer(message, self.recall(message)))
        self.learn(message, reply)
        return reply

    def recall(self, message: str) -> Recalled:
        """The memories that bear on `message`; superseded and expired ones are left out.

        Where the message alone says little ("and his brother?"), what was said before it is asked for as
        well. Without recall, or where the mind is to look things up itself, only what is pinned.
        """
        synced = self.index.sync()
        now = self._now()
        pinned = [memory for memory in self.index.pinned() if memory.current(now)]
        if self._settings.recall == "off" or (self._settings.recall == "tool" and self._looks_up):
            return Recalled((), tuple(pinned), synced.news)
        k = self._settings.top_k
        hits = self.index.ranked(message, k, now=now)
        fitting = [hit for hit in hits if hit.fit >= FITS]
        if len(fitting) < k and self._history and says_little(message, self._settings.language, found=bool(fitting)):
            last, reply = self._history[-1]
            before = f"{last.message}\n{reply[:LAST]}"
            known = {hit.memory.path for hit in fitting}
            more = self.index.ranked(f"{message}\n{before}", k, now=now)
            fitting += [hit for hit in more if hit.fit >= FITS and hit.memory.path not in known][: k - len(fitting)]
        nearest = tuple(hit for hit in hits if hit.fit < FITS)[:NEAREST]
        return Recalled(tuple(fitting), tuple(pinned), synced.news, nearest)

    def answer(
        self, message: str, recalled: Recalled, *, aside: Callable[[Aside], None] = lambda _: None
    ) -> Iterator[str]:
        """The reply, piece by piece. Raises ModelError, perhaps after some of it.

        The mind may look things up in between, which `aside` is told of. The exchange joins the history of
        this chat when the reply is whole, or when the user stops it with something said: the message with
        the memories that were told beside it, as long as they are true, and the words of the reply. What
        was looked up does not.
        """
        now = self._now()
        self._refresh(now)
        asked = partial(self._turn, message, recalled, now)
        said: list[str] = []
        try:
            yield from self._rounds(message, recalled, now, said, aside)
        except ModelError as error:
            if error.too_long:
                self._shorten([], aside)  # so that the next message has room
            raise  # what broke off is not sent again, so that it cannot spoil the turns to come
        except (GeneratorExit, KeyboardInterrupt):
            self._add_to_history(asked(), "".join(said))
            raise
        if not "".join(said).strip():
            raise ModelError("the model gave an empty reply", "Say it again")
        self._add_to_history(asked(), "".join(said))

    def _rounds(
        self, message: str, recalled: Recalled, now: datetime, said: list[str], aside: Callable[[Aside], None]
    ) -> Iterator[str]:
        """Ask, answer the calls that come back, and ask again until the mind answers; `said` takes its words."""
        lookups = Lookups(self.vault, self.index, self._settings.top_k, now)
        rounds: list[Round] = []
        while True:
            before = len(said)
            try:
                ended = yield from _pieces(self.mind.reply(self._request(message, recalled, now, rounds)), said)
            except ModelError as error:
                if error.too_long and len(said) == before and self._shorten(rounds, aside):
                    continue
                raise
            if ended is None:
                return
            if len(rounds) > lookup.ROUNDS:  # it was told that there are no more
                raise ModelError("the model went on looking things up and gave no answer", "Put it another way")
            rounds.append(Round(ended, self._results(ended, lookups, len(rounds), aside)))
            if ended.calls and "".join(said).strip() and not said[-1].endswith("\n"):
                said.append("\n\n")
                yield "\n\n"  # what it said before it looked, and what it says now, are two paragraphs

    def _results(self, asked: Calls, lookups: Lookups, done: int, aside: Callable[[Aside], None]) -> tuple[Result, ...]:
        """A result for every call, in their order: none may be left without one."""
        results = []
        for number, call in enumerate(asked.calls):
            if done >= lookup.ROUNDS or number >= lookup.CALLS:
                why = "not done: no more look-ups in this turn; answer with what you have"
                results.append(Result(call.id, why, failed=True))
                continue
            result, told = lookups.run(call)
            aside(told)
            results.append(result)
        return tuple(results)

    def _turn(self, message: str, recalled: Recalled, now: datetime) -> Turn:
        """The user's turn beside the history as it is now."""
        nearest = () if recalled.hits else recalled.nearest
        return prompt.turn(message, recalled.hits, recalled.pinned, now, nearest, self._told())

    def _request(self, message: str, recalled: Recalled, now: datetime, rounds: Sequence[Round]) -> Request:
        if self._labels is None:  # once a chat: whatever changes in the system prompt throws the cache away
            self._labels = self.index.labels()
        return prompt.reply(
            message,
            recalled.hits,
            recalled.pinned,
            [(turn.asked, reply) for turn, reply in self._history],
            now,
            () if recalled.hits else recalled.nearest,
            above=self._told(),
            tools=TOOLS if self._looks_up else (),
            rounds=rounds,
            kinds=self._labels[0],
            tags=self._labels[1],
        )

    @property
    def _looks_up(self) -> bool:
        """Whether the mind may look things up itself: it is set so, and this mind takes tools."""
        return self._settings.recall in ("tool", "both") and bool(getattr(self.mind, "takes_tools", False))

    def _shorten(self, rounds: list[Round], aside: Callable[[Aside], None]) -> bool:
        """Make what is sent shorter: half of the history goes, then what was looked up; False when nothing is left."""
        if self._history:
            gone = (len(self._history) + 1) // 2
            del self._history[:gone]
            aside(Shortened(gone))
            return True
        shorter = [replace(one, results=tuple(map(_cut, one.results))) for one in rounds]
        changed = shorter != rounds
        rounds[:] = shorter
        return changed

    def missing(self, message: str, reply: str) -> list[str]:
        """The paths that `reply` to `message` names and the vault does not hold."""
        return lookup.missing(reply, message, self.index, self.vault)

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
        with self._record.turn() as begun:
            memory, new = self._remembered(text, kind, tags)
            told = self._record.write([memory.path], [headline(memory)], {"Source": "user"}) if new else ()
        self._untold += once(begun, told)
        return memory, new

    def _remembered(self, text: str, kind: str, tags: Sequence[str]) -> tuple[Memory, bool]:
        with self.vault.lock():
            known = self._twin(text, threshold=1.0)
            if known is not None:
                return known, False
            memory = self.vault.save(text, kind=kind, source="user", created_at=self._now(), tags=tags)
        return memory, True

    def uncommitted(self) -> tuple[str, ...]:
        """Why what `remember` wrote since this was last asked is in no version yet; sentences for the user."""
        untold, self._untold = tuple(self._untold), []
        return untold

    def news(self) -> tuple[Problem, ...]:
        """The problems that looking for duplicates met since this was last asked."""
        news, self._news = tuple(self._news), []
        return news

    def _told(self) -> set[str]:
        """The paths of the memories that stand in the history."""
        return {memory.path for turn, _ in self._history for memory in turn.told}

    def _refresh(self, now: datetime) -> None:
        """Take out of the history what is no longer so: memories that were changed, superseded or forgotten.

        The rest stays the same to the letter, so that the server's cache goes on fitting.
        """
        false = {memory.path for turn, _ in self._history for memory in turn.told if not self._holds(memory, now)}
        if false:
            self._history = [
                (
                    replace(
                        turn,
                        told=tuple(memory for memory in turn.told if memory.path not in false),
                        above=tuple(path for path in turn.above if path not in false),
                    ),
                    reply,
                )
                for turn, reply in self._history
            ]

    def _holds(self, memory: Memory, now: datetime) -> bool:
        try:
            found = self.vault.read(memory.path)
        except UnreadableError as error:
            return error.passing
        except VaultMindError:
            return False
        return found.text == memory.text and found.current(now)

    def _add_to_history(self, asked: Turn, reply: str) -> None:
        if not reply.strip():  # stopped before the first word
            return
        self._history.append((asked, reply.rstrip()))
        limit = self._settings.history_turns
        if len(self._history) > limit:  # in big steps: every trim throws the server's cache away
            del self._history[: len(self._history) - min(limit, max(limit // 3, 1))]
            self._labels = None

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
            with self._record.turn() if exchange.proposed else nullcontext(()) as begun:
                saved, known = self._keep(waiting, exchange, written)
                told = self._committed(exchange, self._record.of(exchange) if again else saved)
            untold = once(begun, told)
            self.journal.cross_off(waiting)
        except VaultMindError as error:
            log.info("learning failed", exc_info=error)
            if getattr(error, "answered", True):  # a network that is down says nothing about the exchange
                with suppress(VaultMindError):  # a full disk: the exchange is in the journal all the same
                    self.journal.failed(waiting)
            return Learned(failed=getattr(error, "why", str(error)))
        return Learned(tuple(saved), tuple(known), tuple(turned), news=self.news(), uncommitted=untold)

    def _committed(self, exchange: Exchange, learned: Sequence[Memory]) -> tuple[str, ...]:
        """Make what was learned from an exchange one version; sentences for the user."""
        trailers = {"Source": "chat", "Chat": exchange.chat, "Model": self._model(exchange.mind)}
        return self._record.write([memory.path for memory in learned], list(map(headline, learned)), trailers)

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

    def _twin(self, text: str, *, threshold: float) -> Memory | None:
        now = self._now()
        self._news += self.index.sync().news
        hits = self.index.ranked(text, NEIGHBOURS, now=now)
        memories = (hit.memory for hit in hits)
        return twin(text, memories, threshold=threshold, language=self._settings.language)


def says_little(message: str, language: str, *, found: bool) -> bool:
    """Whether what `message` asks for stands in what was said before it, as in "and his brother?".

    Its words that tell something are few once stopwords are left out: up to three where a pronoun refers
    back, else none, or one that nothing was `found` by.
    """
    asked = [word.casefold() for word in words(message)]
    held = stopwords(language) | _REFERRING
    telling = [word for word in asked if word not in held]
    refers = not _REFERRING.isdisjoint(asked)
    return len(telling) <= (SMALL if refers else 0 if found else SHORT)


def _pieces(reply: Iterator[str], said: list[str]) -> Generator[str, None, Calls | None]:
    """What a mind says, kept in `said` too; gives the calls in which it ends."""
    while True:
        try:
            piece = next(reply)
        except StopIteration as end:
            return end.value if isinstance(end.value, Calls) else None
        said.append(piece)
        yield piece


def _cut(result: Result) -> Result:
    """The same, no longer than there is room for; cut once, it stays as it is."""
    if len(result.text) <= LAST + len(NO_ROOM):
        return result
    return replace(result, text=result.text[:LAST] + NO_ROOM)

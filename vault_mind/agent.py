"""The loop: recall, answer, learn. It prints nothing; the doors show what it gives."""

import logging
import os
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import astuple, dataclass, replace
from datetime import datetime
from functools import partial

from vault_mind import lookup, prompt
from vault_mind.analysis import stopwords, words
from vault_mind.config import Settings
from vault_mind.errors import BusyError, ModelError, UnreadableError, VaultMindError, WriteFailedError
from vault_mind.extraction import Candidate, Turned, propose
from vault_mind.index import Index
from vault_mind.journal import MOST_TRIES, Exchange, Journal, Proposed, Waiting, in_the_works
from vault_mind.lookup import TOOLS, Lookup, Lookups
from vault_mind.memory import Memory
from vault_mind.model import Calls, ModelClient, Request, Result, Round
from vault_mind.prompt import Turn
from vault_mind.ranking import FITS, Hit
from vault_mind.record import Record, headline, once
from vault_mind.remembering import Remembering
from vault_mind.secrecy import MASK, masked
from vault_mind.upkeep import Kept, Upkeep
from vault_mind.vault import Problem, Vault
from vault_mind.withheld import PRIVATE, Withheld, public
from vault_mind.worth import ASKED, Unmarked, claims

NEAREST = 3  # memories that do not fit a message and are kept as the nearest
SHORT, SMALL = 1, 3  # telling words up to which a message says little: by which nothing is found; where it refers back
LAST = 400  # characters of the last reply that help to find what such a message means
NO_ROOM = "\n[cut: there is no room for more in this conversation]"

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

    `superseded` are new memories with the paths that each took the place of, `marked` those as they are
    now; `wished` are those that the user asked to forget, for them to confirm; where that is to come later, the
    exchange is `held` in the journal until then. `withheld` names what was not even written down. `claimed`:
    the reply says that something was saved or forgotten, and nothing was. `failed` says why nothing, or no
    more, could be learned this time; the exchange then waits in the journal, unless that was what failed: then
    it is not `kept`. `stuck`: the next exchange would fare no better now; `given_up`: this one has failed so
    often that it is left alone. `news` are problems that learning met and nobody was told of before, and
    memories that it would not change. `uncommitted` says why what was written is in no version of the vault
    yet, where it should be.
    """

    saved: tuple[Memory, ...] = ()
    known: tuple[Memory, ...] = ()
    turned: tuple[Turned, ...] = ()
    failed: str | None = None
    news: tuple[Problem, ...] = ()
    uncommitted: tuple[str, ...] = ()
    superseded: tuple[tuple[Memory, str], ...] = ()
    marked: tuple[Memory, ...] = ()
    wished: tuple[Memory, ...] = ()
    withheld: tuple[str, ...] = ()
    claimed: bool = False
    kept: bool = True
    stuck: bool = False
    given_up: bool = False
    held: Waiting | None = None


@dataclass(frozen=True)
class Noted:
    """An exchange on its way to be learned from: it is `waiting` in the journal, or nothing will be learned (None).

    `told` is what can be said of it at once: what was withheld, why it is not even kept. `claims`: its reply
    says that something was saved or forgotten.
    """

    waiting: Waiting | None
    told: Learned
    claims: bool = False

    def ended(self, what: Learned) -> Learned:
        """`what` came of learning from it, with whether the reply said more."""
        done = what.saved or what.known or what.superseded or what.wished or what.failed
        return what if done else replace(what, claimed=self.claims)


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
        self._withheld = Withheld(settings.secrets, settings.never, settings.language)
        self._remembering = Remembering(vault, index, self._record, self._withheld)
        self.wrote: Callable[[Memory], None] = lambda _: None  # told of each memory that learning writes, at once
        self._upkeep = Upkeep(vault, index, mind, settings, now, lambda memory: self.wrote(memory))
        self._off = False
        self._apart: str | None = None  # the reply of the last exchange that must be written nowhere
        self._worth = False
        self._history: list[tuple[Turn, str]] = []  # each question with what was told beside it, and its reply
        self._labels: tuple[list[str], list[str]] | None = None  # kinds and tags, as this chat was told of them
        self.chat = f"{now():%Y-%m-%d-%H%M%S}-{os.urandom(4).hex()}"

    @property
    def off(self) -> bool:
        """Whether nothing that is said now reaches journal or memory."""
        return self._off

    @off.setter
    def off(self, off: bool) -> None:
        self._off = off
        self._keep_apart()

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
        was looked up does not. Where the reply was not whole, the message is journalled here: what the
        user said was whole, and is learned from with the next exchange.
        """
        now = self._now()
        self._refresh(now)
        asked = partial(self._turn, message, recalled, now)
        said: list[str] = []
        try:
            worth = yield from self._rounds(message, recalled, now, said, aside)
        except ModelError as error:
            self._keep_for_later(message, "".join(said))
            if error.too_long:
                self._shorten([], aside)  # so that the next message has room
            raise  # what broke off is not sent again, so that it cannot spoil the turns to come
        except (GeneratorExit, KeyboardInterrupt):
            self._keep_for_later(message, "".join(said))
            self._add_to_history(asked(), "".join(said))
            raise
        if not "".join(said).strip():
            self._keep_for_later(message, "")
            raise ModelError("the model gave an empty reply", "Say it again")
        self._worth = worth
        self._add_to_history(asked(), "".join(said))

    def _rounds(
        self, message: str, recalled: Recalled, now: datetime, said: list[str], aside: Callable[[Aside], None]
    ) -> Generator[str, None, bool]:
        """Ask, answer the calls that come back, and ask again until the mind answers; `said` takes its words.

        Gives whether it said that the message is worth learning from.
        """
        flags, worth = self._settings.learn == "asked", False
        lookups = Lookups(self.vault, self.index, self._settings.top_k, now)
        rounds: list[Round] = []
        while True:
            before = len(said)
            unmarked = Unmarked(self.mind.reply(self._request(message, recalled, now, rounds)), asked=flags)
            try:
                ended = yield from _pieces(iter(unmarked), said)
            except ModelError as error:
                if error.too_long and len(said) == before and self._shorten(rounds, aside):
                    continue
                raise
            worth = worth or unmarked.worth
            if ended is None:
                return worth
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
            if asked.undone:
                results.append(Result(call.id, f"not done: {asked.undone}", failed=True))
                aside(Lookup(call.tool, lookup.described(call.arguments), failed="the call was not whole"))
                continue
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
        request = prompt.reply(
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
        return replace(request, system=request.system + ASKED) if self._settings.learn == "asked" else request

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

    def learn(self, message: str, reply: str, *, worth: bool | None = None) -> Learned:
        """Keep what `message` says that is worth keeping. Never raises one of our errors.

        `worth` is whether the reply said that it is, which counts where the setting `learn` is "asked";
        None: as the last answer of this chat said.
        """
        return self.learned(self.note(message, reply, worth=worth))

    def note(self, message: str, reply: str, *, worth: bool | None = None) -> Noted:
        """Write the exchange into the journal, as far as it may be learned from: no model is asked. `worth` as above.

        From here on it is not lost, whoever learns from it, and when. Never raises one of our errors.
        """
        before, private = self._before(), public(message)[1]
        if private or self._off:
            self._keep_apart()
        noted = self._note(message, reply, before, private=private, worth=self._worth if worth is None else worth)
        self._worth = False
        return noted

    def _note(self, message: str, reply: str, before: str, *, private: bool, worth: bool) -> Noted:
        nothing = Noted(None, Learned(claimed=claims(reply)))
        if self._off or self._settings.learn == "off" or (self._settings.learn == "asked" and not worth):
            return nothing
        said, withheld = self._withheld.screened(message)
        if withheld and not any(c.isalnum() for c in said.replace(PRIVATE, "").replace(MASK, "")):
            return replace(nothing, told=replace(nothing.told, withheld=withheld))
        kept = "" if private else self._withheld.screened(reply)[0]
        exchange = Exchange(said, before, kept, self._now().isoformat(), self.chat, self.mind.name)
        try:
            return Noted(self.journal.add(exchange), Learned(withheld=withheld), claims(reply))
        except VaultMindError as error:
            return Noted(None, Learned(failed=str(error), kept=False, withheld=withheld))

    def learned(self, noted: Noted) -> Learned:
        """What comes of learning, now, from what was `noted`."""
        if noted.waiting is None:
            return noted.told
        what = noted.ended(self.learn_from(noted.waiting) or Learned())
        return replace(what, withheld=noted.told.withheld)

    def waiting(self, *, again: bool = False) -> list[Waiting]:
        """What this mind is still to learn from, oldest first; with `again` also what has failed too often."""
        return [one for one in self.journal.waiting(self.mind.name) if again or one.exchange.tries < MOST_TRIES]

    def _keep_for_later(self, message: str, reply: str) -> None:
        """Journal what the user said, as its reply was not whole; the same said again waits once."""
        before, private = self._before(1), public(message)[1]
        if self._off or self._settings.learn == "off":
            return
        said, reply = self._withheld.screened(message)[0], "" if private else self._withheld.screened(reply)[0]
        if not any(c.isalnum() for c in said.replace(PRIVATE, "").replace(MASK, "")):
            return
        waiting = (each.exchange for each in self.journal.waiting(self.mind.name))
        if any((each.chat, each.message) == (self.chat, said) for each in waiting):
            return
        try:
            self.journal.add(Exchange(said, before, reply, self._now().isoformat(), self.chat, self.mind.name))
        except VaultMindError as error:  # there is an error to tell already, and the user says it again
            log.info("what was said is not kept", exc_info=error)

    def backlog(self) -> int:
        """How many exchanges of earlier times `catch_up` would learn from."""
        return len(self.waiting())

    def catch_up(self) -> list[Learned]:
        """Learn from what earlier chats left in the journal; another process at it is left alone."""
        learned = []
        self.journal.sweep()
        for waiting in self.waiting():
            what = self.learn_from(waiting)
            learned += [what] if what else []
            if what and what.stuck:  # the next one would fare no better now
                break
        return learned

    def remember(self, text: str, *, kind: str, tags: Sequence[str] = ()) -> tuple[Memory, bool]:
        """Write what the user asked to be remembered, and whether it is new; the same twice is once.

        Raises WithheldError for what the user's settings keep out.
        """
        done = self._remembering.remember(text, kind=kind, tags=tags, now=self._now())
        self._untold += done.uncommitted
        self._news += done.news
        return done.memory, done.new

    def uncommitted(self) -> tuple[str, ...]:
        """Why what `remember` wrote since this was last asked is in no version yet; sentences for the user."""
        untold, self._untold = tuple(self._untold), []
        return untold

    def withholds(self, message: str) -> bool:
        """Whether `message` holds words that must not be written down anywhere."""
        return bool(self._withheld.screened(message)[1])

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

    def learn_from(self, waiting: Waiting, *, hold: bool = False) -> Learned | None:
        """Learn from one exchange; None when another process is at it or was. Never raises one of our errors.

        With `hold` one that asks to forget something stays in the journal: for whoever asks the user to cross off.
        """
        try:
            with self.journal.claimed(waiting) as mine:
                current = self.journal.now(waiting) if mine else None
                return self._learned(current, hold=hold) if current else None
        except VaultMindError as error:
            return Learned(failed=str(error), stuck=True)

    def _learned(self, waiting: Waiting, *, hold: bool) -> Learned:
        exchange, kept, failed, held = waiting.exchange, Kept(), None, None
        turned: list[Turned] = []
        untold: tuple[str, ...] = ()
        stuck = given_up = False
        try:
            written, candidates, turned = self._candidates(waiting)
            progress = _Progress(self.journal, waiting)
            weighed = self._upkeep.weigh(candidates, exchange, written=written, ordered=progress.ordered)
            # From here on no mind is asked: a turn may hold the vault's lock.
            with self._record.turn() if weighed.writes else nullcontext(()) as begun:
                kept = self._upkeep.keep(weighed, exchange, dealt=progress.dealt)
                told = self._recorded(exchange, kept)
            untold = once(begun, told)
            if kept.failed:
                raise kept.failed
            if hold and kept.wished:
                held = waiting
            else:
                self.journal.cross_off(waiting)
        except VaultMindError as error:
            log.info("learning failed", exc_info=error)
            # A network that is down, or a lock that others hold, says nothing about the exchange.
            passing = isinstance(error, BusyError) or not getattr(error, "answered", True)
            if not passing:
                given_up = exchange.tries + 1 >= MOST_TRIES
                with suppress(VaultMindError):  # a full disk: the exchange is in the journal all the same
                    self.journal.failed(waiting)
            failed = getattr(error, "why", str(error))
            stuck = passing or isinstance(error, WriteFailedError)
        return Learned(
            tuple(kept.saved),
            tuple(kept.known),
            tuple(turned),
            failed,
            (*self.news(), *kept.news),
            untold,
            tuple(kept.superseded),
            tuple(kept.marked),
            tuple(kept.wished),
            stuck=stuck,
            given_up=given_up,
            held=held,
        )

    def _candidates(self, waiting: Waiting) -> tuple[Memory | None, list[Candidate], list[Turned]]:
        """What is still to be dealt with of an exchange, what the first of it has become already, what is turned away.

        The mind is asked once: what it found is in the journal from then on.
        """
        exchange = waiting.exchange
        if exchange.proposed is None:
            tags = self.index.labels()[1][: prompt.OFFERED]
            candidates, turned = propose(exchange, self.mind, tags)
            candidates, refused = self._allowed(candidates)
            if candidates:  # from here on a crash costs no second call, which would word them otherwise
                _Progress(self.journal, waiting).ordered(candidates)
            return None, candidates, turned + refused
        written = self._written(exchange)
        left = [Candidate(*one) for one in exchange.proposed[exchange.done :]]
        first = left[:1] if written else []
        allowed, refused = self._allowed(left[len(first) :])  # the settings may be others by now
        return written, first + allowed, refused

    def _recorded(self, exchange: Exchange, kept: Kept) -> tuple[str, ...]:
        """Make what `exchange` did to the vault one version; sentences for the user.

        A learning that was cut off may have written and not committed: then every memory of it is looked at.
        """
        saved, marked = kept.saved, [memory.path for memory in kept.marked]
        if exchange.proposed is not None:
            of_turn = self._record.of(exchange)
            marked += [old.path for new in of_turn for old in self._upkeep.marked_for(new)]
            saved = kept.saved or of_turn
            paths = [memory.path for memory in of_turn]
        else:
            paths = [memory.path for memory in saved]
        said = [headline(memory) for memory in saved]
        trailers = {"Source": "chat", "Chat": exchange.chat, "Model": self._model(exchange.mind)}
        return self._record.write([*paths, *marked], said, trailers, before=kept.before)

    def _written(self, exchange: Exchange) -> Memory | None:
        """The memory that a learning that was cut off had just written; its owner may have changed it since.

        All files are looked at: it may have been moved, and no words of it need be left.
        """
        return next((memory for memory in self.vault.memories() if in_the_works(exchange, memory) is not None), None)

    def _model(self, mind: str) -> str:
        return self._settings.model if mind == "claude" else mind

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

    def _before(self, back: int = 2) -> str:
        """The reply that the last message followed on, as it may be written down: so far `back` in the history."""
        if len(self._history) < back:
            return ""
        turn, reply = self._history[-back]
        return "" if reply == self._apart or public(turn.message)[1] else self._withheld.screened(reply)[0]

    def _keep_apart(self) -> None:
        """Let the last reply be written nowhere: it may repeat what must not be."""
        self._apart = self._history[-1][1] if self._history else None


class _Progress:
    """How far the candidates of an exchange have been dealt with, kept in the journal at every step."""

    def __init__(self, journal: Journal, waiting: Waiting) -> None:
        self._journal, self._waiting = journal, waiting
        self._proposed, self._done = waiting.exchange.proposed or (), waiting.exchange.done

    def ordered(self, candidates: Sequence[Candidate]) -> None:
        """Those that are left, in the order in which they will be dealt with."""
        proposed = (*self._proposed[: self._done], *(Proposed(*astuple(candidate)) for candidate in candidates))
        if proposed != self._proposed:
            self._journal.found(self._waiting, proposed)
        self._proposed = proposed

    def dealt(self) -> None:
        """One more needs nothing more."""
        self._done += 1
        if self._done < len(self._proposed):  # of the last one its crossing off tells
            self._journal.dealt_with(self._waiting, self._done)


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

"""What candidates do to the vault: each is added, known already, in the place of what it makes untrue, or a wish.

Nothing is deleted here, and nothing is rewritten: what is superseded stays, marked. The new file is written first and
the old ones are marked after it, so that whatever happens in between no fact is nowhere; a second run of the same
exchange marks what the first left unmarked.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from vault_mind import prompt
from vault_mind.config import Settings
from vault_mind.contradictions import all_touched, touches
from vault_mind.decisions import FORGET, KNOWN, SCHEMA, SUPERSEDE, UPDATE, Case, Decision, Neighbour, decided
from vault_mind.errors import (
    MemoryChangedError,
    MemoryNotFoundError,
    ModelError,
    PathRefusedError,
    UnreadableError,
    UnsafeChangeError,
    VaultMindError,
)
from vault_mind.extraction import Candidate
from vault_mind.frames import apart
from vault_mind.index import Index
from vault_mind.journal import MOST_TRIES, Exchange
from vault_mind.memory import Memory
from vault_mind.model import ModelClient
from vault_mind.neighbours import near
from vault_mind.reconcile import covers, same, twin
from vault_mind.vault import Problem, Vault

SHOWN = 8  # different ones of them that a case shows
QUOTED = 500  # characters of each
TRIES = 5  # times that a file is read anew because somebody else writes it

log = logging.getLogger(__name__)


@dataclass
class Kept:
    """What became of the candidates of an exchange.

    `superseded` are the new memories with the paths that each took the place of; `wished` those that
    the user asked to forget, which is for them to confirm; `failed` is what stopped it half-way.
    `marked` are the superseded ones as they are now, `before` the bytes that they were until then.
    """

    saved: list[Memory] = field(default_factory=list)
    known: list[Memory] = field(default_factory=list)
    superseded: list[tuple[Memory, str]] = field(default_factory=list)
    wished: list[Memory] = field(default_factory=list)
    marked: list[Memory] = field(default_factory=list)
    before: dict[str, bytes] = field(default_factory=dict)
    news: list[Problem] = field(default_factory=list)
    failed: VaultMindError | None = None


@dataclass(frozen=True)
class _Open:
    """A case that is to be decided, and the memories behind each number of it: all that say the same."""

    case: Case
    groups: Mapping[int, tuple[Memory, ...]]


@dataclass(frozen=True)
class Weighed:
    """Candidates in the order in which they are dealt with, and what was decided of those that touch a memory.

    `written` is what the first of them became already, where a crash came before more was done. `failed` is
    what kept the mind from deciding: what is plainly new is kept all the same, and the rest is not.
    """

    candidates: tuple[Candidate, ...] = ()
    cases: Mapping[int, _Open] = field(default_factory=dict)  # by the place of a candidate
    decisions: Mapping[int, Decision] = field(default_factory=dict)
    written: Memory | None = None
    news: tuple[Problem, ...] = ()
    failed: VaultMindError | None = None

    @property
    def writes(self) -> bool:
        """Whether keeping them may write a file."""
        left = enumerate(self.candidates)
        return any(not one.forget and not (self.failed and place in self.cases) for place, one in left)


class Upkeep:
    """Candidates on their way into one vault."""

    def __init__(
        self,
        vault: Vault,
        index: Index,
        mind: ModelClient,
        settings: Settings,
        now: Callable[[], datetime],
        wrote: Callable[[Memory], None] = lambda _: None,
    ) -> None:
        self._vault, self._index, self._mind, self._settings, self._now = vault, index, mind, settings, now
        self._wrote = wrote  # told of each memory as soon as it is written

    def weigh(
        self,
        candidates: Sequence[Candidate],
        exchange: Exchange,
        *,
        written: Memory | None = None,
        ordered: Callable[[Sequence[Candidate]], None] = lambda _: None,
    ) -> Weighed:
        """See what `candidates` of `exchange` touch, and have the mind decide it: nothing is written yet.

        `ordered` is told in which order they will be dealt with, before the mind is asked; wishes come last.
        Errors of ours are in what it gives, none is raised.
        """
        kept, first = Kept(), tuple(candidates[: written is not None])
        left = candidates[len(first) :]
        try:
            cases = self._cases(left, exchange, kept)
            facts = [number for number, candidate in enumerate(left) if not candidate.forget]
            facts.sort(key=cases.__contains__)  # what is plainly new is kept, whether the mind answers or not
            wishes = [number for number, candidate in enumerate(left) if candidate.forget]
            order = facts + wishes
            in_order = (*first, *(left[number] for number in order))
            ordered(in_order)
            placed = {len(first) + place: cases[number] for place, number in enumerate(order) if number in cases}
        except VaultMindError as error:
            return Weighed(first, written=written, news=tuple(kept.news), failed=error)
        weighed = Weighed(in_order, placed, written=written, news=tuple(kept.news))
        try:
            return replace(weighed, decisions=self._decided([one.case for one in cases.values()], exchange))
        except VaultMindError as error:
            return replace(weighed, failed=error)

    def keep(self, weighed: Weighed, exchange: Exchange, *, dealt: Callable[[], None] = lambda: None) -> Kept:
        """Bring into the vault what was `weighed`. Errors of ours are in what it gives, none is raised.

        `dealt` is told after each candidate, but for wishes, for the user has yet to hear of them.
        """
        kept = Kept(news=list(weighed.news))
        try:
            for place, candidate in enumerate(weighed.candidates):
                one = weighed.cases.get(place)
                if weighed.written is not None and place == 0:
                    kept.known.append(weighed.written)
                    self._finish(weighed.written, datetime.fromisoformat(exchange.at), kept)
                elif one is not None:
                    if weighed.failed:
                        break
                    self._carry_out(candidate, one, weighed.decisions.get(one.case.number), exchange, kept)
                elif not candidate.forget:
                    self._keep(candidate, exchange, kept)
                if not candidate.forget:
                    dealt()
            kept.failed = weighed.failed
        except VaultMindError as error:
            kept.failed = error
        return kept

    def twin(self, text: str, threshold: float, kept: Kept) -> Memory | None:
        """The memory that says already what `text` says."""
        return twin(text, self._near(text, kept), threshold=threshold, language=self._settings.language)

    def _near(self, text: str, kept: Kept) -> list[Memory]:
        kept.news += self._index.sync().news
        return near(text, self._index, self._now())

    def _cases(self, candidates: Sequence[Candidate], exchange: Exchange, kept: Kept) -> dict[int, _Open]:
        """What the program cannot decide alone, by the place of its candidate; one memory has one number in all."""
        numbers: dict[str, int] = {}
        found: dict[int, _Open] = {}
        for place, candidate in enumerate(candidates):
            near = [memory for memory in self._near(candidate.text, kept) if not (memory.broken or memory.fault)]
            known = twin(
                candidate.text, near, threshold=self._settings.dedupe_threshold, language=self._settings.language
            )
            if known is not None and not candidate.forget:
                continue
            groups: dict[int, tuple[Memory, ...]] = {}
            for memory in near:
                if (not candidate.forget and _said_in(exchange, memory)) or not self._touches(candidate, memory):
                    continue
                number = next((n for n, group in groups.items() if self._same(group[0].body, memory.body)), None)
                if number is not None:
                    groups[number] += (memory,)
                elif len(groups) < SHOWN:
                    groups[numbers.setdefault(memory.path, len(numbers) + 1)] = (memory,)
            if groups:
                shown = tuple(_neighbour(number, group[0]) for number, group in groups.items())
                case = Case(len(found) + 1, candidate.text, candidate.kind, candidate.forget, shown)
                found[place] = _Open(case, groups)
        return found

    def _touches(self, candidate: Candidate, memory: Memory) -> bool:
        """Whether a memory may say something of the same thing."""
        return touches(candidate.text, memory.body, self._settings.language, wish=candidate.forget)

    def _same(self, one: str, other: str) -> bool:
        threshold, language = self._settings.dedupe_threshold, self._settings.language
        return same(one, other, threshold, language) or same(other, one, threshold, language)

    def _decided(self, cases: Sequence[Case], exchange: Exchange) -> Mapping[int, Decision]:
        if not cases:
            return {}
        try:
            return decided(self._mind.value(prompt.deciding(cases, exchange.at), SCHEMA), cases)
        except ModelError as error:
            if not error.answered or exchange.tries + 1 < MOST_TRIES:
                raise  # the exchange waits in the journal
            log.info("nothing was decided; all is added", exc_info=error)
            return {}

    def _carry_out(
        self, candidate: Candidate, one: _Open, decision: Decision | None, exchange: Exchange, kept: Kept
    ) -> None:
        chosen = [memory for number in (decision.numbers if decision else ()) for memory in one.groups[number]]
        if candidate.forget:
            if decision and decision.action == FORGET:
                now = {
                    memory.path: memory for memory in kept.marked
                }  # what this very turn marked is asked for as it is
                wished = [now.get(memory.path, memory) for memory in chosen]
                kept.wished += [memory for memory in wished if memory not in kept.wished]
        elif decision and decision.action == KNOWN:
            said = next(
                (memory for memory in chosen if self._still(memory) and self._covers(memory.body, candidate.text)), None
            )
            if said is None:
                self._keep(candidate, exchange, kept)  # it would be nowhere
            else:
                kept.known.append(said)
        elif decision and decision.action in (UPDATE, SUPERSEDE):
            self._keep(candidate, exchange, kept, chosen, decision.action)
        else:
            self._keep(candidate, exchange, kept)

    def _keep(
        self,
        candidate: Candidate,
        exchange: Exchange,
        kept: Kept,
        untrue: Sequence[Memory] = (),
        action: str = SUPERSEDE,
    ) -> None:
        """Write the candidate, unless a memory says it already; then mark what it makes `untrue`."""
        at = datetime.fromisoformat(exchange.at)
        with self._vault.lock():  # looking for a twin and writing are one step among processes
            known = self.twin(candidate.text, self._settings.dedupe_threshold, kept)
            if known is not None:
                kept.known.append(known)
                if is_of(exchange, known):
                    self._finish(known, at, kept)
                return
            old = [
                memory for memory in self._with_copies(untrue, kept) if self._gives_way(memory, candidate, action, kept)
            ]
            newer = [memory for memory in old if action == SUPERSEDE and _later(memory, at)]
            old = [memory for memory in old if memory not in newer]
            more: dict[str, str | Sequence[str]] = {}
            if old:
                more["supersedes"] = [f"[[{self._link(memory)}]]" for memory in old]
            if any(memory.pinned for memory in old):
                more["pinned"] = "true"  # the pin is on the fact
            if newer:  # said before what is known now, and learned after it
                last = max(newer, key=lambda memory: memory.created_at or at)
                more |= {"superseded_by": f"[[{self._link(last)}]]", "superseded_at": _told(last.created_at or at)}
            saved = self._vault.save(
                candidate.text,
                kind=candidate.kind,
                source="chat",
                created_at=at,
                quote=candidate.quote,
                tags=candidate.tags,
                chat=exchange.chat,
                more=more,
            )
            self._wrote(saved)
            kept.saved.append(saved)
            for memory in old:
                self._mark(memory, saved, at, kept)

    def _with_copies(self, untrue: Sequence[Memory], kept: Kept) -> list[Memory]:
        """`untrue` as they are now, with every other memory that says the same as one of them."""
        found = {memory.path: memory for memory in untrue}
        for memory in untrue:
            for other in self._near(memory.body[:QUOTED], kept):
                if other.path not in found and self._same(memory.body, other.body):
                    found[other.path] = other
        return [memory for memory in found.values() if self._still(memory)]

    def _still(self, memory: Memory) -> bool:
        """Whether the memory is there, says what was read, and is current."""
        try:
            now = self._vault.read(memory.path)
        except (MemoryNotFoundError, UnreadableError, PathRefusedError):
            return False
        return now.body == memory.body and now.current(self._now())

    def _gives_way(self, memory: Memory, candidate: Candidate, action: str, kept: Kept) -> bool:
        """Whether the candidate may take the place of a memory; of what it may not the user is told."""
        if apart(candidate.text, memory.body):
            return False  # another person or thing, whatever the mind says
        if action == UPDATE and not self._covers(candidate.text, memory.body):
            return False  # it would say less
        if not memory.source:
            why = "it is a note of yours"
        elif not all_touched(memory.body, candidate.text, self._settings.language):
            why = "it says other things as well"
        else:
            return True
        if action == SUPERSEDE:
            kept.news.append(
                Problem(memory.path, f"may be out of date: {candidate.text} ({why}, so it is left as it is)")
            )
        return False

    def _covers(self, whole: str, part: str) -> bool:
        return covers(whole, part, self._settings.language)

    def _mark(self, memory: Memory, new: Memory, at: datetime, kept: Kept) -> None:
        """Mark `memory` as superseded by `new`; what somebody else changes meanwhile is left, and told."""
        keys = {"superseded_by": f"[[{self._link(new)}]]", "superseded_at": _told(at)}
        why = "it changes all the time"
        for _ in range(TRIES):
            try:
                now = self._vault.read(memory.path)
                if now.body != memory.body:
                    why = "somebody changed it meanwhile"
                    break
                if not now.superseded:
                    marked = self._vault.change(now, keys, on_top=False)
                    self._wrote(marked)
                    kept.superseded.append((new, memory.path))
                    kept.marked.append(marked)
                    if memory.path not in {saved.path for saved in kept.saved}:
                        kept.before.setdefault(memory.path, now.text.encode())
                return
            except MemoryNotFoundError:
                return  # deleted meanwhile: it is out of recall as well
            except MemoryChangedError:
                continue  # perhaps another line of it
            except (UnsafeChangeError, UnreadableError, PathRefusedError) as error:
                why = str(error).removeprefix(f"{memory.path}: ")
                break
        kept.news.append(Problem(memory.path, f"not marked as superseded by {new.path}: {why}"))

    def _finish(self, known: Memory, at: datetime, kept: Kept) -> None:
        """Mark what a crash left unmarked after `known` was written."""
        for old in self._replaced(known):
            if not old.superseded:
                self._mark(old, known, at, kept)

    def marked_for(self, new: Memory) -> list[Memory]:
        """The memories that are marked as superseded by `new`, which names them."""
        return [old for old in self._replaced(new) if new in self._linked(old, "superseded_by")]

    def _replaced(self, new: Memory) -> list[Memory]:
        """The memories that `new` says it supersedes, as they are now."""
        return [old for old in self._linked(new, "supersedes") if old.path != new.path]

    def _linked(self, memory: Memory, key: str) -> list[Memory]:
        """The memories that `key` of a memory links to; a link that leads nowhere is passed over."""
        links = memory.frontmatter.get(key)
        found = []
        for link in links if isinstance(links, list) else [links]:
            if isinstance(link, str):
                try:
                    found.append(self._vault.read(self._vault.find(link)))
                except VaultMindError as error:
                    log.info("%r names no memory", link, exc_info=error)
        return found

    def _link(self, memory: Memory) -> str:
        """How a wikilink names the memory: by its stem, where no other has it, else by its path."""
        try:
            alone = self._vault.find(memory.stem) == memory.path
        except VaultMindError:  # several go by it
            alone = False
        return memory.stem if alone else memory.path.rpartition(".")[0]


def _neighbour(number: int, memory: Memory) -> Neighbour:
    date = f"{memory.created_at:%Y-%m-%d}" if memory.created_at else "unknown"
    return Neighbour(number, memory.body[:QUOTED], memory.kind, date)


def _later(memory: Memory, at: datetime) -> bool:
    return memory.created_at is not None and memory.created_at > at


def _said_in(exchange: Exchange, memory: Memory) -> bool:
    """Whether the memory was learned from the very message, in a run that was cut off: it decides no case then.

    Two messages of a chat may be of one second, so what its quote is must have been found in this one.
    """
    return is_of(exchange, memory) and any(memory.quote == one.quote for one in exchange.proposed or ())


def is_of(exchange: Exchange, memory: Memory) -> bool:
    """Whether the memory was learned from the exchange."""
    at = datetime.fromisoformat(exchange.at).replace(microsecond=0)
    return (memory.chat, memory.created_at) == (exchange.chat, at)


def _told(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")

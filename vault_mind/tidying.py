"""What a tidy proposes: memories that say what another says, and those that a mind finds out of date. Writes nothing.

Nothing is ever worded anew here. Of several memories one stays as it is, and the others are to be marked as superseded
by it; their files stay on disk.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import NamedTuple

from vault_mind import prompt
from vault_mind.config import Settings
from vault_mind.contradictions import QUOTED, SCHEMA, Group, all_touched, outdated, touches
from vault_mind.decisions import Neighbour
from vault_mind.duplicates import Progress, left_alone, lost, merges, own_words
from vault_mind.errors import ModelError, UnsafeChangeError
from vault_mind.frames import apart, related
from vault_mind.index import Index
from vault_mind.memory import Memory, revise
from vault_mind.model import ModelClient
from vault_mind.orders import reads_like_orders
from vault_mind.ranking import language_of
from vault_mind.undo import Step, difference
from vault_mind.vault import Problem

NEAR = 12  # memories looked at for each
SHOWN = 6  # of them at most in a group that a mind is shown
GROUPS = 10  # groups in one call
# For an estimate before it starts; a token is about four characters of English.
CHARACTERS, INSTRUCTIONS, AROUND, GIVEN = 4, 400, 30, 100

log = logging.getLogger(__name__)

Written = Mapping[str, str | Sequence[str] | None]


@dataclass(frozen=True)
class Proposal:
    """That all of `gone` are superseded by `kept`: it says what they say, or (`outdated`) they are true no more."""

    kept: Memory
    gone: tuple[Memory, ...]
    outdated: bool = False


@dataclass(frozen=True)
class Survey:
    """What a look over the vault found: duplicates, and what would be current without them, by path.

    `left_alone` counts the memories that no tidy touches, by why.
    """

    duplicates: tuple[Proposal, ...]
    current: Mapping[str, Memory] = field(repr=False)
    left_alone: Mapping[str, int]


class Batch(NamedTuple):
    """One call's worth of groups, and the memory behind each number in it."""

    groups: tuple[Group, ...]
    memories: Mapping[int, Memory]


class Estimate(NamedTuple):
    """What asking a mind takes: calls, and tokens about."""

    calls: int
    tokens_in: int
    tokens_out: int


def survey(index: Index, settings: Settings, now: datetime, progress: Progress = lambda *_: None) -> Survey:
    """What of the vault says the same, as of the index's last sync."""
    taking_part: list[Memory] = []
    left: Counter[str] = Counter()
    for memory in index.memories():
        why = left_alone(memory, now)
        if why is None:
            taking_part.append(memory)
        else:
            left[why] += 1
    for why, count in left.items():
        log.info("left alone: %d memories: %s", count, why)
    found: list[Proposal] = []
    for merge in merges(taking_part, settings.dedupe_threshold, settings.language, progress):
        after = gained(Proposal(merge.kept, merge.gone))
        whole = tuple(memory for memory in merge.gone if not lost(memory, after, settings.language))
        for memory in merge.gone:
            if memory not in whole:
                log.info("%s is not given away for %s: words of it would be lost", memory.path, merge.kept.path)
        if whole:
            found.append(Proposal(merge.kept, whole))
    gone = {memory.path for proposal in found for memory in proposal.gone}
    current = {memory.path: memory for memory in taking_part if memory.path not in gone}
    return Survey(tuple(found), current, dict(left))


def gained(proposal: Proposal) -> Memory:
    """The memory that is kept, as it is searched with the tags and other names of those that give way."""
    kept = proposal.kept
    more = "\n".join((*_tags(proposal), *_aliases(proposal)))
    return Memory(kept.path, f"{kept.text}\n{more}\n", kept.fault, kept.conflict)


def changes(proposal: Proposal, link: Callable[[Memory], str], at: datetime) -> Iterator[tuple[Memory, Written]]:
    """Which keys of which memory a proposal sets, the one that is kept first; `link` gives a wikilink's name."""
    kept = proposal.kept
    said = _texts(kept.frontmatter.get("supersedes"))
    links = [f"[[{link(memory)}]]" for memory in proposal.gone]
    keys: dict[str, str | Sequence[str]] = {}
    if new := [each for each in links if each not in said]:
        keys["supersedes"] = [*said, *new]
    if not proposal.outdated:
        if tags := _tags(proposal):
            own = kept.frontmatter.get("tags")
            keys["tags"] = [*(_texts(own) if isinstance(own, list) else kept.tags), *tags]
        if aliases := _aliases(proposal):
            keys["aliases"] = [*kept.aliases, *aliases]
    yield kept, keys
    mark = {"superseded_by": f"[[{link(kept)}]]", "superseded_at": at.isoformat(timespec="seconds")}
    for memory in proposal.gone:
        yield memory, mark


def prepared(
    proposals: Sequence[Proposal], link: Callable[[Memory], str], at: datetime
) -> tuple[list[tuple[Proposal, str]], list[Problem]]:
    """Each proposal that can be carried out, with its diff; and the files that cannot be changed safely, and why."""
    ready: list[tuple[Proposal, str]] = []
    problems: list[Problem] = []
    for proposal in proposals:
        steps: dict[str, str] = {}
        for memory, keys in changes(proposal, link, at):
            try:
                new = revise(memory, keys).encode()
                steps[memory.path] = difference(Step(memory.path, memory.text.encode(), new))
            except UnsafeChangeError as error:
                problems.append(Problem(memory.path, f"left as it is: {error.why}"))
        gone = tuple(memory for memory in proposal.gone if memory.path in steps)
        if gone == proposal.gone and proposal.kept.path in steps:
            ready.append((proposal, "".join(steps.values())))
        elif gone and proposal.kept.path in steps:  # its links are others now
            ready += prepared([replace(proposal, gone=gone)], link, at)[0]
    return ready, problems


def neighbourhoods(
    found: Survey, index: Index, settings: Settings, now: datetime, progress: Progress = lambda *_: None
) -> list[Batch]:
    """What a mind is to look at: memories near each other of which one may be out of date; no two of them twice."""
    seen: set[frozenset[str]] = set()
    groups: list[tuple[Memory, ...]] = []
    for number, memory in enumerate(found.current.values()):
        progress(number, len(found.current))
        text = memory.body[:QUOTED]
        near: list[Memory] = []
        for hit in index.ranked(f"{text} {related(text)}", NEAR, now=now):
            other = found.current.get(hit.memory.path)
            if other is None or other is memory or frozenset((memory.path, other.path)) in seen:
                continue
            if len(near) < SHOWN - 1 and any(_may_be(*pair, settings) for pair in ((memory, other), (other, memory))):
                near.append(other)
        if near:
            group = (memory, *near)
            seen.update(frozenset((one.path, other.path)) for one in group for other in group if one is not other)
            groups.append(group)
    return [_batch(groups[start : start + GROUPS]) for start in range(0, len(groups), GROUPS)]


def estimate(batches: Sequence[Batch]) -> Estimate:
    """What asking a mind about `batches` takes."""
    shown = [memory for batch in batches for memory in batch.memories.values()]
    words = sum(len(memory.body[:QUOTED]) // CHARACTERS + AROUND for memory in shown)
    return Estimate(len(batches), len(batches) * INSTRUCTIONS + words, len(batches) * GIVEN)


def contradictions(
    found: Survey,
    batches: Sequence[Batch],
    mind: ModelClient,
    settings: Settings,
    progress: Progress = lambda *_: None,
) -> tuple[tuple[Proposal, ...], ModelError | None]:
    """All proposals once `mind` has said what is out of date: its word counts where nothing speaks against it.

    Both must be there, the newer one said later, about the same person or thing, with no other fact in the older one
    and no order in the newer; in doubt both stay. Where the mind fails, the error, with what it had said until then.
    """
    failed: ModelError | None = None
    newer: dict[str, Memory] = {}
    for number, batch in enumerate(batches):
        progress(number, len(batches))
        try:
            value = mind.value(prompt.contradicting(batch.groups), SCHEMA)
        except ModelError as error:
            failed = error
            break
        for old, by in outdated(value, batch.groups):
            ours, theirs = batch.memories[old], batch.memories[by]
            if not _may_be(ours, theirs, settings):
                log.info("%s is not taken to be out of date by %s", ours.path, theirs.path)
            elif ours.path not in newer or _made(newer[ours.path]) < _made(theirs):
                newer[ours.path] = theirs
    return _with_outdated(found, newer, settings), failed


def _with_outdated(found: Survey, newer: Mapping[str, Memory], settings: Settings) -> tuple[Proposal, ...]:
    """The duplicates, and what is out of date with all that says the same; of a chain all goes to its end."""
    copies = {proposal.kept.path: proposal for proposal in found.duplicates}
    by: dict[str, list[Memory]] = {}
    for path in newer:
        last = newer[path]
        while last.path in newer:  # always later, so it comes to an end
            last = newer[last.path]
        if _may_be(found.current[path], last, settings):
            by.setdefault(last.path, []).append(found.current[path])
    away = {memory.path for gone in by.values() for memory in gone}
    proposals = [proposal for proposal in found.duplicates if proposal.kept.path not in away]
    for path, gone in sorted(by.items()):
        if path not in away:
            every = [same for memory in gone for same in (memory, *_copies(copies, memory))]
            proposals.append(Proposal(found.current[path], tuple(every), outdated=True))
    return tuple(proposals)


def _copies(copies: Mapping[str, Proposal], memory: Memory) -> tuple[Memory, ...]:
    return copies[memory.path].gone if memory.path in copies else ()


def _may_be(old: Memory, by: Memory, settings: Settings) -> bool:
    """Whether `old` may be out of date because of `by`, as far as a program can tell."""
    language = language_of(old, settings.language)
    if language != language_of(by, settings.language) or not _made(old) < _made(by):
        return False
    if own_words(old) and not own_words(by):
        return False
    if not touches(by.body, old.body, language) or not all_touched(old.body, by.body, language, clauses=True):
        return False
    return not (apart(by.body, old.body) or reads_like_orders(by.body))


def _made(memory: Memory) -> float:
    return memory.created_at.timestamp() if memory.created_at else 0.0


def _batch(groups: Sequence[tuple[Memory, ...]]) -> Batch:
    memories: dict[int, Memory] = {}
    shown = []
    for number, group in enumerate(groups, 1):
        first = len(memories) + 1
        memories |= dict(enumerate(group, first))
        near = (_neighbour(at, memory) for at, memory in enumerate(group, first))
        shown.append(Group(number, tuple(near)))
    return Batch(tuple(shown), memories)


def _neighbour(number: int, memory: Memory) -> Neighbour:
    date = memory.created_at.isoformat(timespec="minutes") if memory.created_at else "unknown"
    return Neighbour(number, memory.body[:QUOTED], memory.kind, date)


def _tags(proposal: Proposal) -> list[str]:
    """Tags of those that give way that the one that is kept lacks."""
    known = {tag.casefold() for tag in proposal.kept.tags}
    new = {tag.casefold(): tag for memory in reversed(proposal.gone) for tag in reversed(memory.tags)}
    return [tag for folded, tag in reversed(new.items()) if folded not in known]


def _aliases(proposal: Proposal) -> list[str]:
    """The same of their other names."""
    known = {alias.casefold() for alias in proposal.kept.aliases}
    new = {alias.casefold(): alias for memory in reversed(proposal.gone) for alias in reversed(memory.aliases)}
    return [alias for folded, alias in reversed(new.items()) if folded not in known]


def _texts(value: object) -> list[str]:
    return [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str) and each.strip()]

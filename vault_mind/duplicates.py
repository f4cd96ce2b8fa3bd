"""Which memories of a whole vault say nothing beyond what another says, and which of them is to stay. Pure."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from vault_mind.analysis import terms
from vault_mind.frames import KNOWN, plain, relation
from vault_mind.memory import NOTE, Memory
from vault_mind.ranking import language_of
from vault_mind.reconcile import covers, same, telling, unlike
from vault_mind.vault import FOLDER, slug

LONGEST = 1_000  # characters; what is longer is no sentence, and says the same only where it is the same
LOOKED_AT = 200  # memories that one is compared with; those that share its rarest words come first
LEAST = 0.5  # overlap of words below which no setting goes here
WEEKS = timedelta(days=30)  # for which a memory of the kind context speaks; a year later it is another exam
USERS = ("user", "chat")  # sources of the user's own words; what comes from elsewhere never takes their place

_NUMBERED = re.compile(r"-\d+$")
# "The user has a dog" is said by "… called Waffles", and by "… and a cat"; not by "… but only at weekends".
_GOES_ON = re.compile(r" (?:called|named|who|which|and)\b")
_DOUBTFUL = frozenset(
    """
    if unless except when while until before after almost nearly only want wants hope hopes plan plans would might may
    could should formerly once ago rarely seldom hardly not no never or but instead either then later
    """.split()
)

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Merge:
    """Memories that say nothing beyond what `kept` says."""

    kept: Memory
    gone: tuple[Memory, ...]


def left_alone(memory: Memory, now: datetime) -> str | None:
    """Why a tidy has nothing to do with a memory; None where it may be kept, or give way."""
    if memory.fault or memory.broken:
        return "cannot be changed safely"
    if memory.conflict or memory.unmerged:
        return "conflict copies, or not merged"
    if not memory.current(now):
        return "superseded or expired already"
    if memory.kind == NOTE or not memory.source:
        return "notes of yours"
    if memory.pinned:
        return "pinned"
    if memory.created_at is None:
        return "without a created_at that can be read"
    return None


def own_words(memory: Memory) -> bool:
    """Whether it is what the user said, in a chat or by hand."""
    return memory.source in USERS


def merges(
    memories: Sequence[Memory], threshold: float, language: str = "english", progress: Progress = lambda *_: None
) -> list[Merge]:
    """Of `memories`, none of them `left_alone`, those that may give way, each to the one that says all it says.

    Kept is, of those that say all that the others do, the one said last (of several of one moment what the user
    wrote before what was learned, and the fuller one): never does what was said later give way to what was said
    before, nor the user's own words to others'. Every memory given away is compared with the very one that is kept.
    `threshold` is the overlap of words from which two sentences may say the same.
    """
    found = [_Said(memory, language) for memory in memories if memory.body.strip()]
    groups = _Groups(len(found))
    threshold = max(threshold, LEAST)
    for one, other in _pairs(found, threshold, progress):
        if not groups.joined(one, other) and _either(found[one], found[other], threshold):
            groups.join(one, other)
    stars = (star for group in groups.several() for star in _stars([found[n] for n in group], threshold))
    return sorted(stars, key=lambda merge: merge.kept.path)


def lost(old: Memory, kept: Memory, language: str = "english") -> frozenset[str]:
    """The telling terms of what `old` says, of its tags and other names, that `kept` does not hold."""
    said, held = (telling(_said(each), language_of(each, language)) for each in (old, kept))
    return said - held


def _said(memory: Memory) -> str:
    """What it says, without the name of its file, which may be that of what it said once."""
    title = memory.frontmatter.get("title")
    return "\n".join((memory.body, *memory.tags, *memory.aliases, title if isinstance(title, str) else ""))


class _Said:
    """A memory, with what is looked at again and again."""

    def __init__(self, memory: Memory, language: str) -> None:
        self.memory = memory
        self.language = language_of(memory, language)
        self.terms = telling(memory.body, self.language) if len(memory.body) <= LONGEST else frozenset((memory.body,))
        digits = frozenset(term for term in self.terms if any(c.isdigit() for c in term))
        self.class_ = (
            memory.kind.casefold(),
            self.language,
            memory.expires_at,
            digits,
            self._named(),
        )  # as it must be of both

    @cached_property
    def plain(self) -> str:
        """The sentence without what colours it."""
        return plain(self.memory.body)

    @cached_property
    def unlike(self) -> tuple[frozenset[tuple[str, int]], frozenset[tuple[str, int]]]:
        """What must not differ."""
        return unlike(self.memory.body)

    def _named(self) -> frozenset[str]:
        """Words of its title or name that its text does not have: a door's code is no gate's."""
        memory = self.memory
        title = memory.title
        if title == memory.stem:
            made = slug(memory.body)
            if made in (title, _NUMBERED.sub("", title)):
                return frozenset()
        said = frozenset(terms(memory.body, self.language))
        return frozenset(terms(re.sub(r"[-_]", " ", title), self.language)) - said

    @property
    def folder(self) -> str:
        """Where it lies; nothing for where new memories are put, which says nothing."""
        folder = self.memory.path.rpartition("/")[0]
        return "" if folder == FOLDER else folder

    @property
    def worth(self) -> tuple[bool, float, bool, int, int, str]:
        """What is kept of several is the greatest, the last in path of equals."""
        memory = self.memory
        made = memory.created_at.timestamp() if memory.created_at else 0.0
        path = memory.path
        return (
            own_words(memory),
            made,
            memory.source == "user",
            len(self.terms),
            -len(path),
            path,
        )

    def may_give_way(self, kept: "_Said") -> bool:
        """Whether nothing but what the two say stands against it."""
        ours, theirs = self.memory, kept.memory
        if self.class_ != kept.class_ or (own_words(ours) and not own_words(theirs)):
            return False
        if ours.created_at is None or theirs.created_at is None or ours.created_at > theirs.created_at:
            return False
        if ours.kind.casefold() == "context" and theirs.created_at - ours.created_at > WEEKS:
            return False
        if self.folder != kept.folder and self.folder and kept.folder:
            return False
        return not _supersedes(ours, theirs)

    def says_no_more(self, kept: "_Said", threshold: float) -> bool:
        """Whether `kept` says all that this says."""
        part, whole = self.memory.body, kept.memory.body
        if part == whole:
            return True
        if not self.terms <= kept.terms or max(len(part), len(whole)) > LONGEST:
            return False
        marks, names = (ours == theirs for ours, theirs in zip(self.unlike, kept.unlike, strict=True))
        if marks and (names or self.terms == kept.terms) and same(part, whole, threshold, self.language):
            return True
        return self._begins(kept) and relation(part, whole) == KNOWN and covers(whole, part, self.language)

    def _begins(self, kept: "_Said") -> bool:
        """Whether `kept` says the same and goes on with a name, or with something of its own."""
        rest = kept.plain.removeprefix(self.plain)
        if rest == kept.plain or not _GOES_ON.match(rest):
            return False
        return _DOUBTFUL.isdisjoint(re.findall(r"[\w']+", kept.plain)) and "\n" not in kept.memory.body


class _Groups:
    """Numbers joined into groups."""

    def __init__(self, count: int) -> None:
        self._first = list(range(count))

    def _root(self, number: int) -> int:
        while self._first[number] != number:
            self._first[number] = number = self._first[self._first[number]]
        return number

    def joined(self, one: int, other: int) -> bool:
        """Whether both are in one group."""
        return self._root(one) == self._root(other)

    def join(self, one: int, other: int) -> None:
        """Make their groups one."""
        self._first[self._root(one)] = self._root(other)

    def several(self) -> list[list[int]]:
        """The groups of more than one."""
        found: dict[int, list[int]] = {}
        for number in range(len(self._first)):
            found.setdefault(self._root(number), []).append(number)
        return [group for group in found.values() if len(group) > 1]


def _either(one: _Said, other: _Said, threshold: float) -> bool:
    return any(
        part.may_give_way(whole) and part.says_no_more(whole, threshold) for part, whole in ((one, other), (other, one))
    )


def _stars(group: list[_Said], threshold: float) -> Iterator[Merge]:
    """Of memories that chains of likeness hold together, each that is kept with those that give way to itself."""
    left = sorted(group, key=lambda said: said.worth, reverse=True)
    while left:
        kept, *others = left
        gone = [one for one in others if one.may_give_way(kept) and one.says_no_more(kept, threshold)]
        if gone:
            yield Merge(kept.memory, tuple(sorted((one.memory for one in gone), key=lambda memory: memory.path)))
        left = [one for one in others if one not in gone]


def _pairs(found: Sequence[_Said], threshold: float, progress: Progress) -> Iterator[tuple[int, int]]:
    """The pairs that may say the same: of the one all terms are the other's, so many of them; or one begins the other.

    Two sets overlap by `threshold` only where they share one of the rarest few terms of either (Chaudhuri, Ganti
    & Kaushik (2006), "A Primitive Operator for Similarity Joins in Data Cleaning").
    """
    counts = Counter(term for said in found for term in said.terms)
    postings: dict[tuple[object, str], list[int]] = {}
    for number, said in enumerate(found):
        progress(number, len(found))
        size = len(said.terms)
        rarest = sorted(said.terms, key=lambda term: (counts[term], term))
        looked: set[int] = set()
        for term in rarest[: size - math.ceil(threshold * size) + 1]:
            posted = postings.setdefault((said.class_, term), [])
            for other in reversed(posted[-LOOKED_AT:]):
                if other not in looked and len(looked) < LOOKED_AT:
                    looked.add(other)
                    theirs = found[other].terms
                    fewer, more = sorted((said.terms, theirs), key=len)
                    if fewer <= more and len(fewer) >= threshold * len(more):
                        yield number, other
            posted.append(number)
    yield from _beginnings(found)


def _beginnings(found: Sequence[_Said]) -> Iterator[tuple[int, int]]:
    """The pairs of which one begins as the other, whole, is: in the order of letters it comes soon after it."""
    short = [number for number, said in enumerate(found) if len(said.memory.body) <= LONGEST and said.plain]
    ordered = sorted(short, key=lambda number: found[number].plain)
    for at, number in enumerate(ordered):
        for other in ordered[at + 1 : at + 1 + LOOKED_AT]:
            if not found[other].plain.startswith(found[number].plain):
                break
            yield number, other


def _supersedes(old: Memory, new: Memory) -> bool:
    """Whether `old` says that it took the place of `new`."""
    links = old.frontmatter.get("supersedes")
    names = {new.stem.casefold(), new.path.rpartition(".")[0].casefold()}
    said = (link for link in (links if isinstance(links, list) else [links]) if isinstance(link, str))
    return any(link.strip().removeprefix("[[").removesuffix("]]").casefold() in names for link in said)

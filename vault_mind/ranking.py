"""rank(memories, query, k): which memories bear on a query, and in what order. Pure; the index must agree with it.

Okapi BM25 over analysed terms; then a second look at the best, in which a memory gains where words of the
question stand near one another in it, and from those that were learned beside it and those that it is
linked with: what bears on a question is often told in two sentences, of which only one holds its words.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import lru_cache
from math import log
from operator import itemgetter, mul
from typing import NamedTuple, Protocol, TypeVar

from vault_mind.analysis import LONGEST, asked_terms, joined, language_named, stopwords, telling, terms
from vault_mind.closeness import Sought, laid_out, nearness, sought
from vault_mind.compounds import kin, reversed_terms
from vault_mind.dates import mentioned
from vault_mind.memory import Memory
from vault_mind.query import Query, holds, plain, written_at
from vault_mind.spelling import Alike, likely, nearest

K1 = 1.2
B = 0.75
CANDIDATES = 100  # memories that get a second look
LOOKED_INTO = 12  # the best of them, and those that tie with the last, in which words may stand near one another
CLOSE = 1.0  # what two words that do count, beside the lesser of them
WEIGHTY = 0.5  # idf from which on a word is looked for there: about that of one that six in ten memories hold
LENDERS = 50  # the best of them, and those that tie with the last, from which others gain
BESIDE, SECOND = 0.5, 0.25  # share of the best score within two places in the same chat, and of the next best
LINKERS, LINKED = 10, 0.3  # likewise, from which those gain that they link to or that link to them, and the share
KIN = 0.5  # what a term counts that is part of a compound that was asked for, or has such a part
CAREFUL = 0.999  # of a bound, so that no rounding makes it one too high
MOST_KIN = 64  # terms that one term brings along
READ = 20_000  # characters of a query; somebody who pastes a book asks about its beginning
MOST_GUESSED = 8  # words of a query that are guessed at; in a long text they are rather another's language
GUESSED = 0.8  # what a term counts that is only spelt nearly like an unknown one that was asked for, if likely meant

FITS = 0.2  # from this fit of the best on, something is said to bear on the question
ANSWERED = 6  # words of a question that a memory can be expected to answer to
SMALL = 30  # memories
DATED = 0.5  # what the time that is asked about counts beside a word
FEW_DAYS, MOST_DAYS = 14, 370  # so many are asked for one by one, and so many by month

# Languages that write compounds in one word.
COMPOUNDING = frozenset({"german", "dutch", "dutch_porter", "danish", "norwegian", "swedish", "finnish", "hungarian"})

STAMP = "@"  # no word's term begins with it
_LINK = re.compile(r"\[\[([^\[\]|#^\n]{1,200})")
_MONTHS = "January February March April May June July August September October November December".split()


Key = TypeVar("Key")


class Hit(NamedTuple):
    """A memory with its score: above 0, higher is better, comparable within one query only.

    `fit` says how much of what was asked it answers to, comparable among queries: about 1 for a
    memory of usual length that holds every word, near 0 for one that shares only a common one.
    """

    memory: Memory
    score: float
    fit: float = 1.0


@dataclass(frozen=True)
class Explanation:
    """Where a score comes from: what, and how much of it. The parts sum to the score."""

    parts: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Asked:
    """The terms of a query with what each counts, and the terms that were guessed for words that nobody wrote.

    `doubted` says of those in which the word itself may have been meant how likely that is, `telling` are the
    query's words, without those that only hold a sentence together.
    """

    weights: Mapping[str, float]
    guessed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    telling: Sequence[str] = ()
    doubted: Mapping[str, float] = field(default_factory=dict)


def rank(
    memories: Iterable[Memory],
    query: str | Query,
    k: int,
    *,
    language: str = "english",
    now: datetime | None = None,
    past: bool = False,
) -> list[Hit]:
    """The `k` memories that best match any word of `query`, best first, ties by path.

    A text is nothing but words; clauses come with a `Query`. Superseded and expired memories count in
    the statistics but are given only with `past` or where the query asks for them. A query without
    words gives what its clauses let through, newest first, with a score of 0.
    """
    read = plain(query) if isinstance(query, str) else query
    moment = now or datetime.now().astimezone()
    vault = sorted(memories, key=lambda memory: memory.path)
    held = [searched_terms(memory, language) for memory in vault]

    def passes(number: int) -> bool:
        memory = vault[number]
        return visible(memory, read, moment, past=past) and holds(read, memory.searched, language)

    if not read.ranks:
        found = [number for number in range(len(vault)) if read.filters and passes(number)]
        return [Hit(vault[number], 0.0) for number in sorted(found, key=lambda n: newest_first(vault[n]))[: max(k, 0)]]
    counts = [Counter(found) for found in held]
    frequencies = Counted(Counter(term for count in counts for term in count))
    average = sum(map(len, held)) / max(len(vault), 1)
    also = sorted({language_of(memory, language) for memory in vault} - {language})
    asked = weighed(read.words, language, also, frequencies, moment)
    scored = [
        (number, score(asked.weights, count, frequencies, len(vault), average)) for number, count in enumerate(counts)
    ]
    own = [(number, value) for number, value in scored if value > 0 and passes(number)]
    own = sorted(own, key=lambda pair: (-pair[1], pair[0]))[: max(CANDIDATES, k)]
    chats, links = _beside(vault), _linked(vault)
    together, depth = weighty(asked, language, frequencies.frequency, len(vault))
    gained = drawn_together(foremost(own, depth), together, lambda n: laid_out(vault[n].text))
    final = second_look(lifted(own, gained), lambda n: chats.get(n, ()), links)
    known = dict(own)
    best = sorted((-value, number) for number, value in final.items() if number in known or passes(number))
    most = ideal(asked, frequencies.frequency, len(vault))
    return [Hit(vault[n], -value, fit(known.get(n, 0.0), -value, most)) for value, n in best[: max(k, 0)]]


class Vocabulary(Protocol):
    """The terms that a vault holds."""

    def frequency(self, term: str) -> int:
        """How many memories hold `term`."""
        ...

    def beginning(self, prefix: str) -> Sequence[str]:
        """Those that begin with `prefix`, sorted."""
        ...

    def alike(self, letter: str) -> Alike:
        """Those that begin with `letter`."""
        ...

    def backwards(self) -> Sequence[str]:
        """All of them, each from its end to its beginning, sorted."""
        ...


class Counted(dict[str, int]):
    """A vocabulary in memory: each term with how many memories hold it."""

    def frequency(self, term: str) -> int:
        """How many memories hold `term`."""
        return self.get(term, 0)

    def beginning(self, prefix: str) -> Sequence[str]:
        """Those that begin with `prefix`, sorted."""
        return sorted(term for term in self if term.startswith(prefix))

    def alike(self, letter: str) -> Alike:
        """Those that begin with `letter`."""
        return Alike(self.beginning(letter))

    def backwards(self) -> Sequence[str]:
        """All of them, each from its end to its beginning, sorted."""
        return reversed_terms(self)


def weighed(words: str, language: str, also: Sequence[str], vocabulary: Vocabulary, now: datetime) -> Asked:
    """The terms of `words` in `language` and the others that memories are in.

    One that no memory holds gives way to those that are spelt nearly like it. In a language that
    writes compounds in one word, those that it is a part of or is made of are asked for as well; and for
    a time ("last spring", seen from `now`) its days or months.
    """
    words = words[:READ]
    spoken = (language, *also)
    told = telling(words, language, also)
    weights = dict.fromkeys(asked_terms(told, language, also), 1.0)
    if not COMPOUNDING.isdisjoint(spoken):
        for term in list(weights):
            relatives = kin(term, vocabulary.beginning(""), vocabulary.backwards(), vocabulary.frequency)
            for other in relatives[:MOST_KIN]:
                if vocabulary.frequency(other):  # a vocabulary may know words of the dead
                    weights.setdefault(other, KIN)
    weights, guessed, doubted = _guessed(weights, told, spoken, vocabulary)
    for _, span in mentioned(words, now):
        weights |= dict.fromkeys(_stamps(*span), DATED)
    return Asked(weights, guessed, told, doubted)


def _doubts(term: str, others: Iterable[str], known: Mapping[str, float]) -> dict[str, float]:
    """How likely it is that `term` was meant as it stands and none of `others`; what two words stand for is `known`."""
    return {other: min(1 - likely(term, other), known.get(other, 1.0)) for other in others}


def _guessed(
    weights: dict[str, float], told: Iterable[str], spoken: Sequence[str], vocabulary: Vocabulary
) -> tuple[dict[str, float], dict[str, tuple[str, ...]], dict[str, float]]:
    """The weights with terms that are spelt nearly like it in the place of each that no memory holds.

    With them what was guessed for each word, and how doubtful each of these terms is.
    """
    frequency = vocabulary.frequency
    unknown = {term for term in weights if not frequency(term)}
    guessed: dict[str, tuple[str, ...]] = {}
    doubted: dict[str, float] = {}
    for word in dict.fromkeys(chunk.lstrip("#.") for chunk in told) if unknown else ():
        if len(guessed) == MOST_GUESSED:
            break
        stems = [term for one in spoken for term in _stems(word, one)]
        if unknown.isdisjoint(stems):
            continue
        stems = [term for term in stems if term in weights]
        if unknown.issuperset(stems):  # known to no language
            own = terms(word, spoken[0])
            others = nearest(own[0], vocabulary.alike, frequency) if len(own) == 1 else ()
            if others := tuple(other for other in others if other not in stopwords(spoken[0])):
                guessed[word] = others
                weights = {term: weight for term, weight in weights.items() if term not in stems}
                asked_anyway = weights.keys() - doubted.keys()
                doubted |= _doubts(own[0], [other for other in others if other not in asked_anyway], doubted)
                weights |= {other: GUESSED * (1 - doubt) for other, doubt in doubted.items()}
    return weights, guessed, doubted


def score(
    weights: Mapping[str, float],
    counts: Mapping[str, int],
    frequencies: Mapping[str, int],
    memories: int,
    average: float,
) -> float:
    """BM25 of one memory, from its term counts, for the query terms of `weights`.

    Robertson & Zaragoza (2009). `frequencies` are df, `memories` is N, `average` the mean number of
    terms in a memory.
    """
    length = sum(counts.values())
    total = 0.0
    for term, weight in weights.items():
        tf = counts.get(term, 0)
        if tf:
            part = tf * (K1 + 1) / (tf + K1 * (1 - B + B * length / average))
            total += weight * idf(frequencies[term], memories) * part
    return total


@lru_cache(maxsize=1 << 14)
def idf(frequency: int, memories: int) -> float:
    """ln(1 + (N - df + 0.5) / (df + 0.5)), which stays above 0 for a term that most memories hold."""
    return log(1 + (memories - frequency + 0.5) / (frequency + 0.5))


def fit(own: float, final: float, most: float) -> float:
    """The fit of a memory from its own score and the final one, where an ideal one would score `most`.

    What it was lent can make it fit, since the answer may stand beside its question, but no better than just so.
    """
    return max(own / most, min(final / most, FITS))


def ideal(asked: Asked, frequency: Callable[[str], int], memories: int) -> float:
    """What a memory of usual length would score that answers to what was asked; above 0.

    That is one that holds every word once, or of a long question as much as ANSWERED words of it: the
    rest is talk around it. In a vault so SMALL that every word in it is common, a word that no memory
    holds counts no more than the rarest that one does.
    """
    words = {term: weight for term, weight in asked.weights.items() if term[0] != STAMP}
    for others in asked.guessed.values():  # all of them stand for one word, which was another
        words = {term: 1 / len(others) if term in others else weight for term, weight in words.items()}
    values = [idf(frequency(term), memories) for term in words]
    unknown = idf(0, memories)
    if memories < SMALL:
        most = max((value for term, value in zip(words, values, strict=True) if frequency(term)), default=1.0)
        values, unknown = [min(value, most) for value in values], min(unknown, most)
    if asked.doubted:  # a word that was meant as it stands is one that no memory holds
        doubts = [asked.doubted.get(term, 0.0) for term in words]
        values = [value + (unknown - value) * doubt for value, doubt in zip(values, doubts, strict=True)]
    held = sum(map(mul, words.values(), values))
    return held * min(1.0, ANSWERED / max(len(words), 1)) or 1.0


def weighty(asked: Asked, language: str, frequency: Callable[[str], int], memories: int) -> tuple[Sought, int]:
    """The words of a question that count where they stand near one another, and in how many of the best to look."""
    values: dict[str, float] = {}
    holders = 0
    for term, weight in asked.weights.items():
        often = frequency(term)
        if often and (value := idf(often, memories)) >= WEIGHTY:
            values[term] = weight * value
            holders += often
    if not CLOSE or len(values) < 2:
        return Sought((), ()), 0
    together = sought(asked.telling, values, language, asked.guessed)
    return together, min(LOOKED_INTO, holders) if len(together.values) > 1 else 0


def drawn_together(best: Iterable[tuple[int, float]], asked: Sought, laid: Callable[[int], str]) -> dict[int, float]:
    """What the `best` gain where words that were `asked` stand near one another in a text as `laid` gives it."""
    return {number: CLOSE * value for number, _ in best if (value := nearness(asked, laid(number)))}


def lifted(own: Sequence[tuple[int, float]], gained: Mapping[int, float]) -> Sequence[tuple[int, float]]:
    """The scores of `own` with what some have `gained`, best first."""
    if not gained:
        return own
    found = [(number, value + gained[number] if number in gained else value) for number, value in own]
    return sorted(found, key=itemgetter(1), reverse=True)


def second_look(
    own: Sequence[tuple[int, float]],
    beside: Callable[[int], Iterable[int]],
    linked: Mapping[int, Sequence[int]],
    least: float = 0.0,
) -> dict[int, float]:
    """The scores after sharing, from the memories' `own` scores, best first.

    `beside` gives a memory's neighbours in its chat, two to either side, and `linked` the memories
    that one is linked with in either direction. One that cannot come to `least` may be left out.
    """
    final = dict(own)
    linkers = [pair for pair in foremost(own, LINKERS) if pair[0] in linked] if linked else ()
    for number, _ in linkers:
        final |= {other: 0.0 for other in linked[number] if other not in final}
    _lend_beside(final, foremost(own, LENDERS), beside, least)
    served: set[int] = set()
    for number, value in linkers:
        for other in linked[number]:
            if other not in served and other != number:
                served.add(other)
                final[other] += value * LINKED
    return final


def _lend_beside(
    final: dict[int, float],
    lenders: Sequence[tuple[int, float]],
    beside: Callable[[int], Iterable[int]],
    least: float,
) -> None:
    """Add to `final` what the `lenders`, best first, lend to those beside them; not to all who stay below `least`."""
    known, nobody = final.get, final.keys().isdisjoint
    taken: dict[int, float] = {}
    taken_by = taken.get
    rich = bisect_right(lenders, -least * CAREFUL, key=lambda pair: -pair[1] * (BESIDE + SECOND))
    for number, value in lenders[:rich]:  # best first, so that each takes from the best before the next best
        for other in beside(number):
            if share := taken_by(other, BESIDE):
                taken[other] = SECOND if share == BESIDE else 0.0
                final[other] = known(other, 0.0) + value * share
    for number, value in [pair for pair in lenders[rich:] if not nobody(beside(pair[0]))]:
        for other in beside(number):
            if other in final and (share := taken_by(other, BESIDE)):  # one who has nothing else would stay below
                taken[other] = SECOND if share == BESIDE else 0.0
                final[other] += value * share


def foremost(own: Sequence[tuple[int, float]], count: int) -> Sequence[tuple[int, float]]:
    """The first `count` of `own`, best first, and those that tie with the last of them."""
    end = min(count, len(own))
    if 0 < end < len(own) and own[end][1] == own[end - 1][1]:
        end = bisect_right(own, -own[end][1], end, key=lambda pair: -pair[1])
    return own[:end]


def gifts(
    number: int,
    own: Sequence[tuple[int, float]],
    beside: Callable[[int], Iterable[int]],
    linked: Mapping[int, Sequence[int]],
) -> list[tuple[str, int, float]]:
    """What `number` gains in `second_look`: beside or linked, from which memory, how much."""
    lenders = [pair for pair in foremost(own, LENDERS) if number in beside(pair[0])]
    found = [("beside", other, value * share) for (other, value), share in zip(lenders, (BESIDE, SECOND), strict=False)]
    linkers = (pair for pair in foremost(own, LINKERS) if pair[0] != number and number in linked.get(pair[0], ()))
    return found + [("linked with", other, value * LINKED) for other, value in list(linkers)[:1]]


def blended(lexical: Mapping[Key, float], semantic: Mapping[Key, float], weight: float = 0.5) -> dict[Key, float]:
    """The convex blend (1 - weight) * lexical + weight * semantic of each key that either knows, from 0 to 1.

    Bruch, Gai & Ingber (2023), "An Analysis of Fusion Functions for Hybrid Retrieval". BM25 is
    divided by its maximum, since its least is 0; cosines are scaled from their least to their
    greatest, since no two texts come near -1. A key without a BM25 score has 0 for it; one
    without a cosine, not embedded yet, is scored by its words alone. So give all cosines there are.
    """
    highest = max(lexical.values(), default=0.0)
    least, greatest = min(semantic.values(), default=0.0), max(semantic.values(), default=0.0)
    words = {one: max(score, 0.0) / highest if highest > 0 else 0.0 for one, score in lexical.items()}
    scores = dict(words)
    for one, cosine in semantic.items():
        meaning = (cosine - least) / (greatest - least) if greatest > least else 1.0
        scores[one] = (1 - weight) * words.get(one, 0.0) + weight * meaning
    return scores


def searched_terms(memory: Memory, language: str) -> list[str]:
    """The terms by which a memory is found: of title, aliases, tags and body, and its date in words."""
    return joined_terms(memory, language).split()


def joined_terms(memory: Memory, language: str) -> str:
    """The same joined by single blanks."""
    written = written_at(memory)
    language = language_of(memory, language)
    found = joined(memory.searched, language)
    if not written:
        return found
    day = _day_terms(written.date(), language)
    return f"{found} {day}" if found else day


def day_in_words(memory: Memory) -> str:
    """The day on which `memory` was written, as people say it; nothing for one without a date."""
    written = written_at(memory)
    return _in_words(written.date()) if written else ""


def language_of(memory: Memory, language: str) -> str:
    """The language that `memory` says it is in, else `language`."""
    return (_named(memory.lang) if memory.lang else None) or language


def visible(memory: Memory, query: Query, now: datetime, *, past: bool) -> bool:
    """Whether `memory` may be given: it is current, or the past is asked for, and it meets the clauses on fields."""
    return (past or query.asks_for_past or memory.current(now)) and (not query.on_fields or query.allows(memory, now))


def in_time(memory: Memory) -> tuple[float, str]:
    """The key that sorts by the time of writing, ties by path, those without one first."""
    written = written_at(memory)
    return (written.timestamp() if written else float("-inf"), memory.path)


def newest_first(memory: Memory) -> tuple[float, str]:
    """The key that sorts the newest to the front, ties by path, and those without a date to the end."""
    written = written_at(memory)
    return (-written.timestamp() if written else float("inf"), memory.path)


def link_targets(memory: Memory) -> tuple[str, ...]:
    """The names that its wikilinks point to: the file's name without folder and `.md`, in lower case."""
    names = (match.strip().rpartition("/")[2] for match in _LINK.findall(memory.text))
    return tuple(dict.fromkeys(name.casefold().removesuffix(".md") for name in names if name))


@lru_cache(maxsize=64)
def _named(lang: str) -> str | None:
    return language_named(lang)


def _stems(word: str, language: str) -> Sequence[str]:
    return _known_stems(word, language) if len(word) <= LONGEST else terms(word, language)


@lru_cache(maxsize=1 << 12)
def _known_stems(word: str, language: str) -> tuple[str, ...]:
    return tuple(terms(word, language))


def _in_words(day: date) -> str:
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


@lru_cache(maxsize=1 << 12)
def _day_terms(day: date, language: str) -> str:
    return f"{joined(_in_words(day), language)} {STAMP}{day:%Y-%m} {STAMP}{day:%Y-%m-%d}"


def _stamps(start: datetime, end: datetime) -> list[str]:
    """The terms that the dates of memories within a span have in common: its days, or its months."""
    first, last = start.date(), (end - timedelta(microseconds=1)).date()
    days = (last - first).days + 1
    if days > MOST_DAYS:
        return []
    if days <= FEW_DAYS:
        return [f"{STAMP}{first + timedelta(days=day):%Y-%m-%d}" for day in range(days)]
    return list(dict.fromkeys(f"{STAMP}{first + timedelta(days=day):%Y-%m}" for day in range(days)))


def _beside(vault: Sequence[Memory]) -> dict[int, list[int]]:
    """Of each memory of a chat the two before and the two after it."""
    chats: dict[str, list[int]] = {}
    for number in sorted(range(len(vault)), key=lambda n: in_time(vault[n])):
        if chat := vault[number].chat:
            chats.setdefault(chat, []).append(number)
    return {
        number: numbers[max(at - 2, 0) : at] + numbers[at + 1 : at + 3]
        for numbers in chats.values()
        for at, number in enumerate(numbers)
    }


def _linked(vault: Sequence[Memory]) -> dict[int, list[int]]:
    """Of each memory those that it links to and those that link to it."""
    named: dict[str, list[int]] = {}
    for number, memory in enumerate(vault):
        named.setdefault(memory.stem.casefold(), []).append(number)
    links: dict[int, list[int]] = {}
    for number, memory in enumerate(vault):
        for other in (other for name in link_targets(memory) for other in named.get(name, ())):
            links.setdefault(number, []).append(other)
            links.setdefault(other, []).append(number)
    return links

"""A search in the index: tantivy proposes, and what is asked of a memory is looked at as `ranking` does."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from vault_mind.analysis import terms, words
from vault_mind.errors import EmbeddingError, SettingsError
from vault_mind.memory import Memory
from vault_mind.postings import Postings
from vault_mind.query import Query, folded, holds
from vault_mind.ranking import (
    CANDIDATES,
    FITS,
    LINKERS,
    STAMP,
    Asked,
    Explanation,
    Hit,
    blended,
    drawn_together,
    fit,
    foremost,
    gifts,
    ideal,
    lifted,
    score,
    searched_terms,
    second_look,
    visible,
    weighed,
    weighty,
)
from vault_mind.rows import ABSENT, ASIDE, CURRENT

if TYPE_CHECKING:
    from vault_mind.meaning import Meaning
    from vault_mind.regex import Line, Pattern

SPARE = 10  # memories beyond the candidates; where more tie at that place, tantivy's order says which are candidates
TIES = 4_096  # memories with the very same score that are put in order by path
FEW = 2_000  # numbers that tantivy is told to look among; among more, its best are looked through
FEW_NEW = 16  # memories without a vector that a search embeds itself; more wait for `embed`
SHOWN = 0.005  # of a score; what tantivy's rounding adds below it is not told apart from the terms
EXACT = 1e-7  # scores that differ by less are the same
STANDS_OUT = 3.5  # measured on questions that have an answer and others that have none, whatever the model

_LABELLED = "label IN (SELECT id FROM labels WHERE {})"

Scores = list[tuple[int, float]]


class Search:
    """Searches of `postings` as they were last refreshed, in a vault of that language."""

    def __init__(self, postings: Postings, language: str, meaning: "Meaning | None") -> None:
        self._postings, self._language, self._meaning = postings, language, meaning

    def ranked(self, query: Query, k: int, now: datetime, *, past: bool) -> list[Hit]:
        """The best `k` for the words of `query`."""
        look = self._look(query, k, now, past=past)
        fits: Mapping[int, float] = {}
        least = look.lifted[k - 1][1] if len(look.lifted) >= k else 0.0  # no score is made less
        final = second_look(look.lifted, self._postings.beside, look.links, 0.0 if self._meaning else least)
        if self._meaning and (cosines := self._cosines(query, list(final))):
            fits = _standing_out(cosines)
            final, least = blended(final, cosines), 0.0
        words = dict(look.own)
        ordered = sorted([pair for pair in final.items() if pair[1] >= least], key=itemgetter(1), reverse=True)
        best = self._first(ordered, k, words, look.sieve)
        if not fits:
            return [Hit(memory, value, fit(words.get(n, 0.0), value, look.ideal)) for n, memory, value in best]
        return [Hit(m, value, max(fits.get(n, 0.0), words.get(n, 0.0) / look.ideal)) for n, m, value in best]

    def guesses(self, query: Query, now: datetime) -> Mapping[str, Sequence[str]]:
        """The words of `query` that no memory holds, each with the terms that are looked for instead."""
        return weighed(query.words, self._language, self._postings.languages(), self._postings, now).guessed

    def _look(self, query: Query, k: int, now: datetime, *, past: bool) -> "_Look":
        """What the second look is given: the best by their own words, and what they are linked with."""
        postings = self._postings
        asked = weighed(query.words, self._language, postings.languages(), postings, now)
        sieve = _Sieve(postings, query, now, self._language, past=past, allowed=self._allowed(query))
        own = self._best(asked, query, k, sieve)
        memories = postings.totals.memories
        together, most = weighty(asked, self._language, postings.frequency, memories)
        close = foremost(own, most)
        laid = postings.laid_out([number for number, _ in close])
        gained = drawn_together(close, together, laid.__getitem__)
        best = lifted(own, gained)
        links = postings.linked([number for number, _ in foremost(best, LINKERS)])
        return _Look(asked, sieve, own, gained, best, links, ideal(asked, postings.frequency, memories))

    def _cosines(self, query: Query, numbers: Sequence[int]) -> dict[int, float]:
        """How near the memories of `numbers`, and the nearest of all, are to the question; what is new is embedded."""
        if self._meaning is None:
            return {}
        keys = self._postings.meanings(numbers)
        found = self._meaning.cosines(query.words, keys.values())
        if self._meaning.trouble:  # who does not answer to a question is not asked to embed what is new
            return {}
        fresh = self._postings.without_meaning(FEW_NEW + 1)
        if fresh and len(fresh) <= FEW_NEW:
            self._embed_now(fresh)
            keys = self._postings.meanings(numbers)
            found = self._meaning.cosines(query.words, keys.values())
        keys |= self._postings.meant([key for key in found if key not in set(keys.values())])
        return {number: found[key] for number, key in keys.items() if key in found}

    def _embed_now(self, numbers: Sequence[int]) -> None:
        """Embed the few memories that were written since; where that fails they are found by their words."""
        if self._meaning is None or not numbers:
            return
        held = self._postings.numbered(numbers)
        try:
            self._meaning.embed(dict(map(self._meaning.text_of, held.values())))
        except (EmbeddingError, SettingsError) as error:
            self._meaning.trouble = str(error)
            return
        with self._postings.alone():
            self._postings.note_meanings(
                {number: (memory, self._meaning.text_of(memory)[0]) for number, memory in held.items()}
            )

    def _first(
        self, ordered: Scores, k: int, known: Collection[int], sieve: "_Sieve"
    ) -> list[tuple[int, Memory, float]]:
        """The first `k` of `ordered`, ties by path; those that are not `known` to pass are asked for."""
        chosen: Scores = []
        for pair in ordered:
            if len(chosen) >= k and pair[1] < chosen[k - 1][1]:
                break
            if pair[0] in known or sieve.passes(pair[0]):
                chosen.append(pair)
        if len(chosen) > k:  # those that tie with the last are not all read
            paths = self._postings.paths([number for number, _ in chosen])
            chosen = sorted(chosen, key=lambda pair: (-pair[1], paths.get(pair[0], "")))[:k]
        memories = self._postings.numbered([number for number, _ in chosen])
        found = [(number, memories[number], value) for number, value in chosen if number in memories]
        if len({value for _, value in chosen}) == len(chosen):  # nothing ties
            return found
        return sorted(found, key=lambda one: (-one[2], one[1].path))

    def _best(self, asked: Asked, query: Query, k: int, sieve: "_Sieve") -> Scores:
        """The memories with the highest scores of their own that pass: the candidates for a second look."""
        if not asked.weights:
            return []
        among = sieve.among()
        must = _needed(query, self._language, self._postings.languages()) if query.on_terms else ()
        wanted = max(CANDIDATES, k)
        limit = wanted + SPARE + min(self._postings.columns.hidden, wanted)
        common = self._postings.totals.memories / 2
        if sum([often for often in map(self._postings.frequency, asked.weights) if often < common]) < k:
            limit *= 4  # the last of the best hold common words only, and so as many as any others
        while True:
            found, whole = self._postings.propose(asked.weights, limit, needed=must, among=among)
            passing = sieve.passing(found)
            level = passing[min(k, len(passing)) - 1][1] if passing else 0.0
            tied = bool(passing) and passing[-1][1] == level
            if whole or (len(passing) >= wanted and (limit >= TIES or not tied)):
                return self._cut(passing, wanted)
            limit *= 4

    def _cut(self, found: Scores, wanted: int) -> Scores:
        """The first `wanted` of `found`; of those that tie with the last of them the first by path."""
        if len(found) <= wanted or found[wanted][1] < found[wanted - 1][1]:
            return found[:wanted]
        level = found[wanted][1]
        first = bisect_left(found, -level, key=lambda pair: -pair[1])
        last = bisect_right(found, -level, first, key=lambda pair: -pair[1])
        tied = [number for number, _ in found[first:last]]
        paths = self._postings.paths(tied)
        tied = sorted(filter(paths.__contains__, tied), key=paths.__getitem__)
        return found[:first] + [(number, level) for number in tied[: wanted - first]]

    def explained(self, query: Query, hits: Sequence[Hit], now: datetime, *, past: bool) -> list[Explanation]:
        """Where the scores of `hits` come from."""
        look = self._look(query, len(hits), now, past=past)
        own = dict(look.own)
        numbers = {
            path: number for path, (number, _) in self._postings.known([hit.memory.path for hit in hits]).items()
        }
        final = second_look(look.lifted, self._postings.beside, look.links)
        embedded = self._embedded(list(numbers.values()))
        highest = max(final.values(), default=0.0)
        found = []
        for hit in hits:
            number = numbers.get(hit.memory.path, 0)
            parts = self._parts_of(hit.memory, own.get(number, 0.0), look)
            if number in look.gained:
                parts.append(("words near one another", look.gained[number]))
            given = gifts(number, look.lifted, self._postings.beside, look.links)
            lenders = self._postings.numbered([other for _, other, _ in given])
            parts += [(f"{how} {lenders[other].path}", value) for how, other, value in given if other in lenders]
            if self._meaning:
                parts = _blended_parts(parts, hit.score, highest, embedded=number in embedded)
            found.append(Explanation(tuple(parts)))
        return found

    def _embedded(self, numbers: Sequence[int]) -> set[int]:
        """Those of `numbers` that have a vector; none when there is trouble with all of them."""
        if self._meaning is None or self._meaning.trouble:
            return set()
        keys = self._postings.meanings(numbers)
        missing = set(self._meaning.missing(keys.values()))
        return {number for number, key in keys.items() if key not in missing}

    def _parts_of(self, memory: Memory, own: float, look: "_Look") -> list[tuple[str, float]]:
        """What each term brings, and what tantivy's rounding of long texts' lengths makes of it."""
        if not own:
            return []
        totals, counts = self._postings.totals, Counter(searched_terms(memory, self._language))
        frequencies = {term: self._postings.frequency(term) for term in look.asked.weights}
        average = totals.terms / max(totals.memories, 1)
        guesses = {other: term for term, others in look.asked.guessed.items() for other in others}
        parts = []
        for term, weight in look.asked.weights.items():
            if value := score({term: weight}, counts, frequencies, totals.memories, average):
                name = f"written {term[1:]}" if term[0] == STAMP else term
                parts.append((f"{name} (for {guesses[term]})" if term in guesses else name, value))
        exact = sum(value for _, value in parts)
        if abs(own - exact) > SHOWN:
            return [*parts, ("rounding", own - exact)]
        return [(what, value * own / exact) for what, value in parts] if exact else parts

    def listed(self, query: Query, k: int, now: datetime, *, past: bool) -> list[Hit]:
        """What the clauses let through, newest first."""
        if not query.filters:
            return []
        allowed = self._allowed(query)
        sieve = _Sieve(self._postings, query, now, self._language, past=past, allowed=allowed)
        order = self._postings.rows("SELECT id FROM files ORDER BY made IS NULL, made DESC, path")
        passing = (number for (number,) in list(order) if sieve.passes(number))
        found = (self._postings.memory(number) for number in islice(passing, k))
        return [Hit(memory, 0.0) for memory in found if memory]

    def _allowed(self, query: Query) -> set[int] | None:
        """The numbers among which all are that meet the clauses on fields, and some others; None: any."""
        allowed: set[int] | None = None
        if clauses := list(_clauses(query)):
            where = " AND ".join(clause for clause, _ in clauses)
            values = [value for _, given in clauses for value in given]
            statement = f"SELECT id FROM files WHERE {where}"  # noqa: S608  # our own words and question marks
            allowed = {number for (number,) in self._postings.rows(statement, values)}
        for regex in query.regexes:
            matching = set(self.matching(regex.compiled))
            allowed = matching if allowed is None else allowed & matching
        return allowed

    def grepped(self, pattern: "Pattern") -> "Iterator[tuple[Memory, Sequence[Line]]]":
        """The memories with lines that match, by path; the lines are made as they are asked for, of what was read."""
        texts, starts, owners = self._postings.texts()
        found = pattern.found(texts, starts)
        places = {owners[at]: at for at in found.firsts}
        places.pop(0, None)  # nobody's any more
        memories = self._postings.numbered(list(places))
        paths = {number: memory.path for number, memory in memories.items()}
        last, size = len(starts) - 1, len(texts)

        def placed() -> "Iterator[tuple[Memory, str, int, int, int]]":
            for number in sorted(paths, key=paths.__getitem__):
                at, memory = places[number], memories[number]
                end = starts[at + 1] if at < last else size
                yield memory, memory.text, starts[at], end - 1, found.firsts[at]

        return pattern.lines_of(found, placed())

    def matching(self, pattern: "Pattern") -> Iterator[int]:
        """The numbers of the memories that may match."""
        texts, starts, owners = self._postings.texts()
        return (owners[at] for at in pattern.candidates(texts, starts) if owners[at])


class _Look(NamedTuple):
    """A search up to the second look: `own` are the scores by words alone, `lifted` with what some `gained`.

    `ideal` is what a memory of usual length with every word would score.
    """

    asked: Asked
    sieve: "_Sieve"
    own: Scores
    gained: Mapping[int, float]
    lifted: Sequence[tuple[int, float]]
    links: Mapping[int, Sequence[int]]
    ideal: float


class _Sieve:
    """Which numbers may be given, for one query: those that are current, allowed and meet every clause."""

    def __init__(
        self,
        postings: Postings,
        query: Query,
        now: datetime,
        language: str,
        *,
        past: bool,
        allowed: set[int] | None,
    ) -> None:
        self._postings, self._query, self._now, self._language = postings, query, now, language
        self._allowed = allowed
        self._states = postings.columns["state"]
        self._known: dict[int, bool] = {}
        self._filters = query.filters
        self._past = past or query.asks_for_past

    def passing(self, found: Scores) -> Scores:
        """Those of `found` that pass."""
        if self._filters:
            return [pair for pair in found if self.passes(pair[0])]
        states = self._states
        if self._past or not self._postings.columns.hidden:
            return found
        return [pair for pair in found if states[pair[0]] == CURRENT or self.passes(pair[0])]

    def passes(self, number: int) -> bool:
        """Whether it may be given."""
        known = self._known.get(number)
        if known is None:
            known = self._known[number] = self._looked_at(number)
        return known

    def among(self) -> list[int] | None:
        """The only numbers that can pass, where they are few."""
        few = self._allowed is not None and len(self._allowed) <= FEW
        return sorted(self._allowed or ()) if few else None

    def _looked_at(self, number: int) -> bool:
        state = self._states[number] if number < len(self._states) else ABSENT
        query, past = self._query, self._past
        if state == ABSENT or (state == ASIDE and not past):
            return False
        if self._allowed is not None and number not in self._allowed:
            return False
        if not self._filters and (past or state == CURRENT):
            return True
        memory = self._postings.memory(number)
        if memory is None or not visible(memory, query, self._now, past=past):
            return False
        return not query.on_terms or holds(query, memory.searched, self._language)


def _blended_parts(
    parts: list[tuple[str, float]], score: float, highest: float, *, embedded: bool
) -> list[tuple[str, float]]:
    """The parts of a score that may be by meaning too: the words are then a share of those of the best."""
    by_words = sum(value for _, value in parts)
    if abs(score - by_words) < EXACT:  # no meaning could be told
        return parts
    if not embedded:
        return [(what, value / highest) for what, value in parts]
    halves = [(what, value / highest / 2) for what, value in parts]
    return [*halves, ("meaning", score - sum(value for _, value in halves))]


def _standing_out(cosines: Mapping[int, float]) -> dict[int, float]:
    """The fit of each by meaning: FITS for what is STANDS_OUT standard deviations above the mean of all looked at."""
    mean = sum(cosines.values()) / len(cosines)
    deviation = (sum((cosine - mean) ** 2 for cosine in cosines.values()) / len(cosines)) ** 0.5
    return {n: FITS * (cosine - mean) / (STANDS_OUT * deviation or 1.0) for n, cosine in cosines.items()}


def _needed(query: Query, language: str, also: Sequence[str]) -> list[list[Sequence[str]]]:
    """Terms without which `holds` says no: of each word, as each language stems it; not of what comes in parts."""
    wanted = (word for phrase in (*query.must, *query.phrases) for word in words(phrase))
    simple = (word for word in wanted if all(len(terms(word, one)) == 1 for one in (language, *also)))
    return [[terms(word, one) for one in (language, *also)] for word in simple]


def _clauses(query: Query) -> Iterator[tuple[str, Sequence[object]]]:
    """SQL that lets through whatever the clauses on fields let through, and sometimes more."""
    if query.kinds:
        kinds = ",".join("?" * len(query.kinds))
        yield _LABELLED.format(f"kind IN ({kinds})"), [folded(kind) for kind in query.kinds]
    if query.sources:
        told, values = _any("instr(source, ?) = 1", query.sources)
        yield _LABELLED.format(told), values
    if query.tags:
        yield _any("instr(tags, ?)", query.tags)
    if query.since:
        yield "made >= ?", [query.since.timestamp()]
    if query.before:
        yield "made < ?", [query.before.timestamp()]


def _any(test: str, values: Sequence[str]) -> tuple[str, Sequence[object]]:
    return f"({' OR '.join([test] * len(values))})", [folded(value) for value in values]

"""The index: brought up to date with the files before every search, and thrown away at any time.

`sync` compares each folder's listing with the one that was indexed. tantivy ranks, over terms that were
analysed here; the second look at its best, and what a query asks of a memory, are `ranking`'s and `query`'s
own, so that the index and the reference agree.
"""

import logging
from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import TypeVar

from vault_mind.analysis import terms, words
from vault_mind.config import cache_folder
from vault_mind.errors import WriteFailedError
from vault_mind.memory import Memory
from vault_mind.postings import DamagedError, Postings
from vault_mind.query import Query, folded, holds, plain
from vault_mind.ranking import (
    CANDIDATES,
    LINKERS,
    Asked,
    Hit,
    ideal,
    searched_terms,
    second_look,
    visible,
    weighed,
)
from vault_mind.readers import Read, Task, read_all, split
from vault_mind.regex import Line, Pattern
from vault_mind.rows import ABSENT, CURRENT, SUPERSEDED, Row
from vault_mind.vault import Listing, Problem, Vault, Walk

TRIES = 20  # times that a damaged index is made anew before we give up
BATCH = 25_000  # files between two commits of a long sync, which may be interrupted
BATCH_BYTES = 32 * 2**20  # bytes of texts, likewise
TIES = 4_096  # memories with the very same score that are put in order by path
FEW = 2_000  # numbers that tantivy is told to look among; among more, its best are looked through

log = logging.getLogger(__name__)

T = TypeVar("T")
Progress = Callable[[int, int], None]
Scores = list[tuple[int, float]]


@dataclass(frozen=True)
class Synced:
    """What a sync found: files new or changed, files gone, and problems that were not told before."""

    changed: int
    gone: int
    news: tuple[Problem, ...]


@dataclass
class _Work:
    """A sync under way: what has been read and is not yet stored, and the marks of what is up to date by folder."""

    told: set[tuple[str, str]]
    problems: list[Problem]
    last: int
    changed: int = 0
    departed: int = 0
    new: list[tuple[int, Row]] = field(default_factory=list)
    gone: list[int] = field(default_factory=list)
    listings: dict[str, bytes | None] = field(default_factory=dict)
    kept: dict[str, dict[str, int]] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    size: int = 0


class Index:
    """The index of one vault, by default in the user's cache. What it answers is true at that moment."""

    def __init__(self, vault: Vault, *, language: str = "english", folder: Path | None = None) -> None:
        self.vault = vault
        self._language = language
        self._postings = Postings(folder or cache_folder(vault.root), language)

    @property
    def folder(self) -> Path:
        """Where it lives."""
        return self._postings.folder

    def search(self, query: str | Query, k: int, *, past: bool = False, now: datetime | None = None) -> list[Hit]:
        """Sync, then the `k` memories that best match `query`, as `ranking.rank` gives them."""
        self.sync()
        return self.ranked(query, k, past=past, now=now)

    def ranked(self, query: str | Query, k: int, *, past: bool = False, now: datetime | None = None) -> list[Hit]:
        """As `search`, of what the last sync found."""
        read = plain(query) if isinstance(query, str) else query
        moment = now or datetime.now().astimezone()
        ask = self._ranked if read.ranks else self._listed
        return self._mended(lambda: ask(read, max(k, 0), moment, past=past)) if k > 0 else []

    def grep(self, pattern: Pattern) -> Iterator[tuple[Memory, list[Line]]]:
        """Sync, then every memory with lines that match `pattern`, by path."""
        self.sync()
        return self.grepped(pattern)

    def grepped(self, pattern: Pattern) -> Iterator[tuple[Memory, list[Line]]]:
        """As `grep`, of what the last sync found."""
        for memory in self._mended(lambda: self._candidates(pattern)):
            if lines := list(pattern.lines(memory.text.removeprefix("\ufeff"))):
                yield memory, lines

    def memories(self) -> Iterator[Memory]:
        """Every memory that the last sync found, by path."""
        return iter(self._selected("ORDER BY path"))

    def pinned(self) -> list[Memory]:
        """The pinned memories that the last sync found, by path."""
        return self._selected("WHERE pinned ORDER BY path")

    def sync(self, progress: Progress | None = None) -> Synced:
        """Bring the index up to date with the files; `progress(done, of)` is called as it goes."""
        return self._mended(lambda: self._sync(progress))

    def rebuild(self, progress: Progress | None = None) -> Synced:
        """Throw the index away and make it anew. Raises WriteFailedError when the disk has no room for it."""

        def anew() -> Synced:
            with self._postings.alone():
                self._postings.renew()
                return self._sync(progress)

        return self._mended(anew)

    def size(self) -> int:
        """Bytes on disk."""
        return self._postings.size()

    def close(self) -> None:
        """Let go of the files; the next call opens them again."""
        self._postings.close()

    def _selected(self, clauses: str) -> list[Memory]:
        statement = f"SELECT path, fault, start, size FROM files {clauses}"  # noqa: S608  # our own words
        return self._mended(lambda: list(self._postings.memories(statement)))

    def _mended(self, use: Callable[[], T]) -> T:
        """What `use` gives; over damaged files they are made anew and it is tried again."""
        for _ in range(TRIES):
            try:
                return use()
            except DamagedError as error:
                log.info("the index is damaged", exc_info=error)
                why = str(error)
            try:
                with self._postings.alone():
                    if not self._postings.replaced():
                        self._postings.renew()
                    self._sync(None)
            except DamagedError as error:  # somebody else deletes it, or the disk is full
                why = str(error)
        raise WriteFailedError(str(self.folder), f"the index cannot be made: {why}")

    # --- sync -----------------------------------------------------------------------------------------------------

    def _sync(self, progress: Progress | None) -> Synced:
        self._postings.refresh()
        walk = self.vault.walk()
        told = self._postings.told()
        quiet = not self._differing(walk) and not list(self._postings.rows("SELECT 1 FROM pending LIMIT 1"))
        if quiet and _holding(told, walk, (), ()) == told:
            return Synced(0, 0, ())
        seen = self._postings.state()
        with self._postings.alone():
            self._postings.refresh()
            if self._postings.state() != seen:  # another process was here: our walk may be older than what it stored
                walk = self.vault.walk()
            if self._postings.wasteful():
                self._postings.renew()
            self._postings.clear_pending()
            return self._taken_in(walk, progress)

    def _differing(self, walk: Walk) -> dict[str, bytes]:
        """The folders that are not as they were indexed, each with its listing as it was then."""
        known = self._postings.listings()
        differing = {
            folder: known.get(folder, b"")
            for folder, listing in walk.listings.items()
            if known.get(folder) != _packed(*listing)
        }
        return differing | {folder: packed for folder, packed in known.items() if folder not in walk.listings}

    def _taken_in(self, walk: Walk, progress: Progress | None) -> Synced:
        """Read what differs and store it, in batches that each leave the index sound."""
        work = _Work(self._postings.told(), list(walk.problems), self._last())
        tasks: list[Task] = []
        for folder, packed in self._differing(walk).items():
            tasks += self._planned(folder, walk.listings.get(folder), _unpacked(packed), work)
        of = sum(len(task.names) for task in tasks)
        read: set[str] = set()
        for task, reads in read_all(self.vault, tasks, self._language):
            for one in reads:
                self._note(task.folder, one, work)
            read.update(task.folder + name for name in task.names)
            work.listings[task.folder] = _packed(*_known_of(walk.listings[task.folder], work.kept[task.folder]))
            if len(work.new) >= BATCH or work.size >= BATCH_BYTES:
                self._flush(work)
            if progress:
                progress(len(read), of)
        self._flush(work)
        self._postings.sweep(lambda memory: searched_terms(memory, self._language))
        news = [problem for problem in work.problems if (problem.path, problem.what) not in work.told]
        self._postings.tell(_holding(work.told, walk, read, work.problems))
        return Synced(work.changed, work.departed, tuple(news))

    def _planned(self, folder: str, now: Listing | None, then: dict[str, int], work: "_Work") -> list[Task]:
        """What has to be read in `folder`; what stayed and what is gone is noted in `work`."""
        names, marks = now or Listing([], [])
        work.kept[folder] = {name: mark for name, mark in zip(names, marks, strict=True) if then.get(name) == mark}
        changed = [name for name in names if name not in work.kept[folder]]
        gone = sorted(then.keys() - set(names))
        known = self._known([folder + name for name in (*changed, *gone)]) if then or not folder else {}
        work.numbers |= {path: number for path, (number, _) in known.items()}
        work.gone += [work.numbers[folder + name] for name in gone if folder + name in work.numbers]
        work.departed += len(gone)
        work.listings[folder] = _packed(*_known_of(now, work.kept[folder])) if now else None
        return list(
            split(folder, changed, {name: known[folder + name][1] for name in changed if folder + name in known})
        )

    def _note(self, folder: str, one: Read, work: "_Work") -> None:
        """Add to `work` what came of one file; what cannot be read leaves the index and is looked at again."""
        path = folder + one.name
        work.problems += [Problem(path, problem) for problem in one.problems]
        number = work.numbers.get(path, 0)
        if one.gone:
            work.gone += [number] if number else []
            return
        work.changed += 1
        work.kept[folder][one.name] = one.mark
        if one.row:
            if not number:
                work.last += 1
                number = work.last
            work.new.append((number, one.row))
            work.size += len(one.row.text)

    def _flush(self, work: "_Work") -> None:
        """Store what has been read."""
        self._postings.store(work.new, work.gone, work.listings)
        work.new, work.gone, work.listings, work.size = [], [], {}, 0

    def _last(self) -> int:
        return next((number for (number,) in self._postings.rows("SELECT max(id) FROM files") if number), 0)

    def _known(self, paths: Sequence[str]) -> dict[str, tuple[int, bytes]]:
        """Of each of `paths` that is indexed its number and the hash of what was read."""
        found = {}
        for start in range(0, len(paths), 500):  # SQLite bounds the variables of a statement
            part = paths[start : start + 500]
            marks = ",".join("?" * len(part))
            statement = f"SELECT path, id, hash FROM files WHERE path IN ({marks})"  # noqa: S608  # question marks only
            found.update({path: (number, hashed) for path, number, hashed in self._postings.rows(statement, part)})
        return found

    # --- search ---------------------------------------------------------------------------------------------------

    def _ranked(self, query: Query, k: int, now: datetime, *, past: bool) -> list[Hit]:
        postings = self._postings
        asked = weighed(query.words, self._language, postings.languages(), postings, now)
        sieve = _Sieve(postings, query, now, self._language, past=past, allowed=self._allowed(query))
        own = self._best(asked, query, k, sieve)
        links = postings.linked([number for number, _ in own[:LINKERS]])
        final = second_look(own, postings.columns.beside, links)
        most = ideal(asked, postings.frequency, postings.totals.memories)
        known = {number for number, _ in own}
        best = self._first(sorted(final.items(), key=itemgetter(1), reverse=True), k, known, sieve)
        return [Hit(memory, value, value / most) for memory, value in best]

    def _first(self, ordered: Scores, k: int, known: Collection[int], sieve: "_Sieve") -> list[tuple[Memory, float]]:
        """The first `k` of `ordered`, ties by path; those that are not `known` to pass are asked for."""
        chosen: Scores = []
        for pair in ordered:
            if len(chosen) >= k and pair[1] < chosen[k - 1][1]:
                break
            if pair[0] in known or sieve.passes(pair[0]):
                chosen.append(pair)
        memories = self._postings.numbered([number for number, _ in chosen])
        found = [(memories[number], value) for number, value in chosen if number in memories]
        return sorted(found, key=lambda pair: (-pair[1], pair[0].path))[:k]

    def _best(self, asked: Asked, query: Query, k: int, sieve: "_Sieve") -> Scores:
        """The memories with the highest scores of their own that pass: the candidates for a second look."""
        if not asked.weights:
            return []
        among = sieve.among()
        must = _needed(query, self._language, self._postings.languages())
        wanted = max(CANDIDATES, k)
        limit = wanted + min(self._postings.columns.hidden, wanted)
        while True:
            found, whole = self._postings.propose(asked.weights, limit, needed=must, among=among)
            passing = sieve.passing(found)
            tied = bool(passing) and passing[-1][1] == passing[min(k, len(passing)) - 1][1]
            if whole or (len(passing) >= wanted and (limit >= TIES or not tied)):
                return passing if tied else passing[:wanted]
            limit *= 4

    def _listed(self, query: Query, k: int, now: datetime, *, past: bool) -> list[Hit]:
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
            matching = set(self._matching(regex.compiled))
            allowed = matching if allowed is None else allowed & matching
        return allowed

    def _matching(self, pattern: Pattern) -> Iterator[int]:
        """The numbers of the memories that may match."""
        texts, starts, owners = self._postings.texts()
        return (owners[at] for at in pattern.candidates(texts, starts) if owners[at])

    def _candidates(self, pattern: Pattern) -> list[Memory]:
        """The memories that may match, by path."""
        texts, starts, owners = self._postings.texts()
        numbers = [owners[at] for at in pattern.candidates(texts, starts) if owners[at]]
        return sorted(self._postings.numbered(numbers).values(), key=lambda memory: memory.path)


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
        if self._past:
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
        if state == ABSENT or (state == SUPERSEDED and not past):
            return False
        if self._allowed is not None and number not in self._allowed:
            return False
        if not self._filters and (past or state == CURRENT):
            return True
        memory = self._postings.memory(number)
        if memory is None or not visible(memory, query, self._now, past=past):
            return False
        return not query.on_terms or holds(query, memory.searched, self._language)


def _needed(query: Query, language: str, also: Sequence[str]) -> list[list[Sequence[str]]]:
    """Terms without which `holds` says no: of each word, as each language stems it; not of what comes in parts."""
    wanted = (word for phrase in (*query.must, *query.phrases) for word in words(phrase))
    simple = (word for word in wanted if all(len(terms(word, one)) == 1 for one in (language, *also)))
    return [[terms(word, one) for one in (language, *also)] for word in simple]


def _clauses(query: Query) -> Iterator[tuple[str, Sequence[object]]]:
    """SQL that lets through whatever the clauses on fields let through, and sometimes more."""
    if query.kinds:
        yield f"kind IN ({','.join('?' * len(query.kinds))})", [folded(kind) for kind in query.kinds]
    if query.sources:
        yield _any("instr(source, ?) = 1", query.sources)
    if query.tags:
        yield _any("instr(tags, ?)", query.tags)
    if query.since:
        yield "made >= ?", [query.since.timestamp()]
    if query.before:
        yield "made < ?", [query.before.timestamp()]


def _any(test: str, values: Sequence[str]) -> tuple[str, Sequence[object]]:
    return f"({' OR '.join([test] * len(values))})", [folded(value) for value in values]


def _known_of(listing: Listing, kept: Mapping[str, int]) -> Listing:
    """The part of `listing` that has been read, as it was read."""
    names = [name for name in listing.names if name in kept]
    return Listing(names, [kept[name] for name in names])


def _packed(names: Sequence[str], marks: Sequence[int]) -> bytes:
    return array("q", (len(marks), *marks)).tobytes() + "\0".join(names).encode()


def _unpacked(packed: bytes) -> dict[str, int]:
    """The marks by name. Raises DamagedError for what `_packed` did not give."""
    try:
        count = array("q", packed[:8])[0] if packed else 0
        marks = array("q", packed[8 : 8 + 8 * count])
        names = packed[8 + 8 * count :].decode().split("\0") if count else []
        return dict(zip(names, marks, strict=True))
    except (ValueError, IndexError) as error:
        raise DamagedError("a listing of a folder is none") from error


def _holding(
    told: set[tuple[str, str]], walk: Walk, read: Collection[str], problems: Sequence[Problem]
) -> set[tuple[str, str]]:
    """The problems that hold now: of the walk, of what was read, and those told before of other files."""
    before = {(path, what) for path, what in told if path in walk.files and path not in read} if told else set()
    return before | _pairs(problems) | _pairs(walk.problems)


def _pairs(problems: Sequence[Problem]) -> set[tuple[str, str]]:
    return {(problem.path, problem.what) for problem in problems}

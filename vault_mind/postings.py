"""The index's files: tantivy's postings, one SQLite file with what sync and filters need, and the texts.

All lie in a generation, a folder of its own that a pointer file names; making the index anew makes
a new generation and moves the pointer, so that who is searching the old one can finish. Within one,
the texts are appended first, then tantivy is committed and SQLite after it, and what is under way is
noted in SQLite before all; so a crash in between only means that those files are indexed again.
"""

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple, cast

import tantivy

from vault_mind.batch import Batch, Numbered, dead, marked, parts, write
from vault_mind.closeness import laid_out
from vault_mind.columns import Columns
from vault_mind.compounds import reversed_terms
from vault_mind.deflated import inflated
from vault_mind.errors import WriteFailedError
from vault_mind.files import locked, private_folder
from vault_mind.generation import GUARD, DamagedError, Generation, Totals, make
from vault_mind.keyed import LINKS, STEMS, Keyed, Pair
from vault_mind.memory import Memory
from vault_mind.ranking import idf, link_targets
from vault_mind.rows import hashed, key, stem_key
from vault_mind.spelling import Alike

PATIENCE = 2.0  # seconds that a reader waits for another process between its two commits
HELD = 30.0  # seconds that a writer waits for others, of whom one may have come to a halt
DEAD = 0.05  # share of postings whose memory is gone or replaced, from which on all are written again
FAR = 0.1  # by which share the average length may be off because of the dead, likewise
DEAD_OF_MANY, FAR_OF_MANY, MANY = 0.25, 0.25, 2_000  # the same shares where that takes long
KEPT, KEPT_LENGTH = 10_000, 2_000  # memories that were given and are kept at hand; characters of such a one
RARE = 1 / 3  # share of the memories that hold any but common terms, from which on tantivy is asked for all at once
FILLERS = 16  # combinations of common terms whose best memories are kept at hand
WASTE = 1 << 20  # bytes of dead texts that do not matter

_BACKWARDS = "\n"  # no term begins with it
_SHOULD, _MUST = tantivy.Occur.Should, tantivy.Occur.Must
_WITHOUT_MEANING = "SELECT id FROM held WHERE id NOT IN (SELECT id FROM meanings) LIMIT ?"
_PATHS = "SELECT id, path FROM files WHERE id IN ({})"
_PLACES = "SELECT id, start, size FROM held WHERE id IN ({})"
_MEANING_KEYS = "CREATE INDEX IF NOT EXISTS meaning_keys ON meanings (key)"  # most vaults have no meanings
_NOTE_MEANING = "INSERT OR REPLACE INTO meanings VALUES (?, ?)"
_SPOKEN = "SELECT DISTINCT lang FROM labels WHERE lang != '' ORDER BY lang"
_SPEAKS = "SELECT 1 FROM held WHERE label IN (SELECT id FROM labels WHERE lang = ?) LIMIT 1"
_READ = "SELECT id, path, fault, conflict, start, size FROM files "
_STALE = (
    "INSERT INTO odd SELECT id, ?, NULL FROM held WHERE id = ? ON CONFLICT (id) DO UPDATE SET fault = excluded.fault"
)


class Proposal(NamedTuple):
    """tantivy's best matches, number and score, best first; and how many there are in all, where that was asked."""

    hits: list[tuple[int, float]]
    whole: bool


class Postings:
    """Both engines, in the generation that `folder` points to. Every method may raise DamagedError.

    Where the folder cannot be written, a temporary one serves for as long as the process runs.
    """

    def __init__(self, folder: Path, language: str) -> None:
        self.folder = folder
        self._language = language
        self.remade: str | None = None  # why what was here had to be made anew, when it had
        self._opened: Generation | None = None
        self._inflated: dict[str, tuple[bytes, bytes]] = {}  # of each folder its listing as it is kept, and as it is
        self.moved_out: str | None = None  # why a temporary folder had to do
        self._spare = ""

    def refresh(self) -> None:
        """Open the newest generation, or make the first; until the next call it is the one that is used."""
        try:
            with GUARD:
                if self._opened and self._opened.folder.name == self._pointer():
                    self._opened.reload()
                    return
                self.close()
                self._opened = Generation(self.folder / self._pointer(), self._language)
                return
        except DamagedError:
            self.close()
        try:
            private_folder(self.folder)
            with self.alone():
                self._open_or_make()  # another process may have made it while we waited
        except WriteFailedError as error:
            if not self.move_out(str(error)):
                raise
            self._open_or_make()

    def move_out(self, why: str) -> bool:
        """Go on in a temporary folder, which ends with this process; False where there is none, or we are in it."""
        if self._spare:
            return False
        import shutil  # late, as the next two: only a full disk needs them
        from tempfile import mkdtemp
        from weakref import finalize

        self.close()
        try:
            self._spare = mkdtemp(prefix="vault-mind-")
            finalize(self, shutil.rmtree, self._spare, ignore_errors=True)
            self.folder = private_folder(Path(self._spare) / "index")
        except (OSError, WriteFailedError):  # no room anywhere
            return False
        self.moved_out = why
        return True

    @property
    def unmade(self) -> bool:
        """Whether the folder holds no generation that we can read."""
        return not self._pointer()

    def replaced(self) -> bool:
        """Whether somebody else has made a newer generation than the one in use."""
        return self._opened is not None and self._pointer() not in ("", self._opened.folder.name)

    @property
    def totals(self) -> Totals:
        """What held of the whole index when it was last refreshed."""
        return self._open().totals

    def state(self) -> tuple[str, int]:
        """Which generation is in use, and how often it had been written when it was last refreshed."""
        opened = self._open()
        return opened.folder.name, opened.totals.version

    def outdated(self) -> bool:
        """Whether another process has written since the last refresh."""
        with GUARD:
            opened = self._open()
            return bool(next(opened.db.execute("SELECT version FROM totals")) != (opened.totals.version,))

    @property
    def columns(self) -> Columns:
        """The arrays of the last refresh."""
        if self._opened and "columns" in self._opened.__dict__:  # read already
            return self._opened.columns
        with GUARD:
            return self._open().columns

    def rows(self, statement: str, values: Sequence[object] = ()) -> Iterator[Any]:
        """What an SQL query gives."""
        with GUARD:
            yield from self._open().db.execute(statement, values)

    def memory(self, number: int) -> Memory | None:
        """The memory of that number; None when it is gone by now."""
        with GUARD:
            opened = self._open()
            row = opened.db.execute(_READ + "WHERE id = ?", (number,)).fetchone()
            return _memory(opened, row) if row else None

    def numbered(self, numbers: Sequence[int]) -> dict[int, Memory]:
        """The memories of those numbers; those that are gone by now are left out."""
        with GUARD:
            opened = self._open()
            kept = opened.memories
            found = dict(zip(numbers, map(kept.get, numbers), strict=True))
            missing = [number for number, memory in found.items() if memory is None]
            if not missing:
                return cast("dict[int, Memory]", found)
            found |= _held(opened, missing)
            if len(missing) > KEPT - len(kept):
                kept.clear()
            if len(missing) <= KEPT:
                kept |= {n: m for n in missing if (m := found[n]) and len(m.text) <= KEPT_LENGTH}
            return {number: memory for number, memory in found.items() if memory}

    def memories(self, clauses: str) -> Iterator[Memory]:
        """The memories that SQL's `clauses` let through."""
        with GUARD:
            opened = self._open()
            for row in opened.db.execute(_READ + clauses):
                yield _memory(opened, row)

    def texts(self) -> tuple[Any, Sequence[int], Sequence[int]]:
        """All texts in one buffer, where each begins, ascending, and the number it belongs to (0: none any more)."""
        with GUARD:
            opened = self._open()
            columns = opened.columns
            starts, owners = columns["starts"], columns["owners"]
            if not owners:
                return b"", starts, owners
            number = next((n for n in reversed(owners) if n), 0)  # the last text that lives must be there
            if number:
                self.memory(number)
            return opened.pack.view(), starts, owners

    def propose(
        self,
        weights: Mapping[str, float],
        limit: int,
        *,
        needed: Sequence[Sequence[Sequence[str]]] = (),
        among: Sequence[int] | None = None,
    ) -> Proposal:
        """The `limit` memories that tantivy ranks best by the terms of `weights`.

        Of each of `needed` all terms of one alternative are there. `among` are the only numbers looked at.
        """
        with GUARD:
            opened = self._settled()
            if needed or among is not None:
                hits, met = _searched(opened, _query(opened, weights, needed, among), limit)
            else:
                hits, met = _best_of_any(opened, weights, limit)
            return Proposal(hits, met < limit)

    @property
    def frequency(self) -> Callable[[str], int]:
        """What tells how many memories hold a term."""
        return self._open().frequencies.__getitem__

    def beginning(self, prefix: str) -> Sequence[str]:
        """Every term that begins with `prefix`, sorted."""
        with GUARD:
            opened = self._open()
            if prefix not in opened.vocabulary:
                opened.vocabulary[prefix] = sorted(
                    term for term, _ in opened.searcher.terms_with_prefix("terms", prefix)
                )
            return opened.vocabulary[prefix]

    def alike(self, letter: str) -> Alike:
        """Every term that begins with `letter`, to be searched for what is spelt nearly like another."""
        terms = self.beginning(letter)
        with GUARD:
            known = self._open().alike
            if letter not in known:
                known[letter] = Alike(terms)
            return known[letter]

    def backwards(self) -> Sequence[str]:
        """Every term, each from its end to its beginning, sorted."""
        everything = self.beginning("")
        with GUARD:
            known = self._open().vocabulary
            if _BACKWARDS not in known:
                known[_BACKWARDS] = reversed_terms(everything)
            return known[_BACKWARDS]

    def languages(self) -> Sequence[str]:
        """The languages that memories say they are in, as Snowball names them."""
        with GUARD:
            opened = self._open()
            if opened.languages is None:
                spoken = [lang for (lang,) in list(opened.db.execute(_SPOKEN))]
                opened.languages = [lang for lang in spoken if opened.db.execute(_SPEAKS, (lang,)).fetchone()]
            return opened.languages

    @property
    def beside(self) -> Callable[[int], Sequence[int]]:
        """What gives the two before and the two after a number in its chat, as far as there are such."""
        return self._open().beside.__getitem__

    def laid_out(self, numbers: Sequence[int]) -> Mapping[int, str]:
        """The texts of those numbers, and of others, laid out for `closeness`; empty of one that is gone by now."""
        with GUARD:
            opened = self._open()
            kept = opened.laid
            if missing := [number for number in numbers if number not in kept]:
                if len(kept) > KEPT - len(missing):
                    kept.clear()
                    missing = list(numbers)
                kept |= dict.fromkeys(missing, "")
                for part in parts(missing):
                    for number, start, size in opened.db.execute(marked(_PLACES, part), part):
                        kept[number] = laid_out(opened.pack.text(start, size))
            return kept

    def linked(self, numbers: Sequence[int]) -> dict[int, list[int]]:
        """Of each of `numbers` those that it links to and those that link to it."""
        if not self.totals.links:
            return {}
        known = self._open().links
        if missing := [number for number in numbers if number not in known]:
            found = self._linked(missing)
            known |= {number: found.get(number, []) for number in missing}
        return {number: others for number in numbers if (others := known[number])}

    def _linked(self, numbers: Sequence[int]) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        held = self.numbered(numbers)
        outward = {number: [key(name) for name in link_targets(memory)] for number, memory in held.items()}
        named: dict[int, list[int]] = {}
        for stem, number in self._under(STEMS, {target for targets in outward.values() for target in targets}):
            named.setdefault(stem, []).append(number)
        for number, targets in outward.items():
            if others := [other for target in targets for other in named.get(target, ())]:
                found[number] = others
        stems: dict[int, list[int]] = {}
        for number, memory in held.items():
            stems.setdefault(stem_key(memory.path), []).append(number)
        for stem, other in self._under(LINKS, stems):
            for number in stems[stem]:
                found.setdefault(number, []).append(other)
        return found

    def named(self, stem: str) -> dict[str, int]:
        """The paths of memories of that stem, in any case, each with its number."""
        numbers = [number for _, number in self._under(STEMS, [key(stem.casefold())])]
        found = (row for part in parts(numbers) for row in self.rows(marked(_PATHS, part), part))
        return {path: number for number, path in found}

    def paths(self, numbers: Sequence[int]) -> dict[int, str]:
        """The paths of those numbers, and of others; those that are gone by now are left out."""
        known = self._open().paths
        if missing := [number for number in numbers if number not in known]:
            for part in parts(missing):
                known.update(self.rows(marked(_PATHS, part), part))
        return known

    def known(self, paths: Sequence[str]) -> dict[str, tuple[int, bytes]]:
        """Of each of `paths` that is indexed its number and the hash of what was read."""
        wanted = set(paths)
        numbers = [number for _, number in self._under(STEMS, set(map(stem_key, paths)))]
        with GUARD:
            opened = self._open()
            found: dict[str, tuple[int, bytes]] = {}
            for several in parts(numbers):
                rows = opened.db.execute(marked(_READ + "WHERE id IN ({})", several), several)
                found |= {row[1]: (row[0], _hashed(opened, row)) for row in rows if row[1] in wanted}
            return found

    def _under(self, table: Keyed, keys: Iterable[int]) -> list[Pair]:
        """The pairs of that table under any of `keys`."""
        with GUARD:
            return table.under(self._open().db, keys)

    def digests(self) -> dict[str, bytes]:
        """Of each path the hash of what was read."""
        with GUARD:
            opened = self._open()
            return {row[1]: _hashed(opened, row) for row in opened.db.execute(_READ)}

    def without_meaning(self, limit: int = -1) -> list[int]:
        """The numbers of memories for which no key of their meaning is noted, at most `limit`; below 0: all."""
        return [number for (number,) in self.rows(_WITHOUT_MEANING, (limit,))]

    def note_meanings(self, keys: Mapping[int, tuple[Memory, bytes]]) -> None:
        """Note the keys of meanings by number, beside the memory as it was read; one that was changed since is not."""
        with GUARD, self._open().db as db:
            db.execute("BEGIN IMMEDIATE")
            held = _held(self._open(), list(keys))  # not what is kept: others may have written since
            same = [(number, key) for number, (memory, key) in keys.items() if held.get(number) == memory]
            db.execute(_MEANING_KEYS)
            db.executemany(_NOTE_MEANING, same)

    def meanings(self, numbers: Sequence[int]) -> dict[int, bytes]:
        """Of each of `numbers` the key of its meaning, where it is noted."""
        statement = "SELECT id, key FROM meanings WHERE id IN ({})"
        return {number: key for part in parts(numbers) for number, key in self.rows(marked(statement, part), part)}

    def meant(self, keys: Sequence[bytes]) -> dict[int, bytes]:
        """The numbers whose meaning has one of `keys`."""
        statement = "SELECT id, key FROM meanings WHERE key IN ({})"
        return {number: key for part in parts(keys) for number, key in self.rows(marked(statement, part), part)}

    def listings(self) -> dict[str, bytes]:
        """Of each folder what a walk gave when all that it holds was last indexed."""
        found: dict[str, bytes] = dict(self.rows("SELECT path, listing FROM folders"))
        if not all(isinstance(listing, bytes) for listing in found.values()):
            raise DamagedError("a listing of a folder is none")
        with GUARD:
            known = self._inflated
            self._inflated = {
                path: known[path] if path in known and known[path][0] == kept else (kept, inflated(kept))
                for path, kept in found.items()
            }
            return {path: listing for path, (_, listing) in self._inflated.items()}

    def batch(self) -> Batch:
        """What is to be written in one go, begun: `store` for what comes bit by bit."""
        return Batch(self._open())

    def store(self, new: Sequence[Numbered], gone: Sequence[int], listings: Mapping[str, bytes | None]) -> None:
        """Write `new` rows with their postings, take out `gone` ones, and note `listings` (None: no such folder)."""
        with closing(self.batch()) as batch:
            batch.take(list(new))
            batch.commit(gone, listings)

    def mark_stale(self, faults: Mapping[int, str]) -> None:
        """Note of memories by number why their files cannot be read now; once they can, they are read anew."""
        with GUARD, self._open().db as db:
            self._open().memories.clear()
            db.executemany(_STALE, [(fault, number) for number, fault in faults.items()])

    def sweep(self, analysed: Callable[[Memory], Sequence[str]]) -> None:
        """Write all postings again when too many belong to nobody any more; `analysed` gives a memory's terms."""
        with GUARD:
            opened = self._open()
            if not _needs_sweep(opened, analysed):
                return
            rows = opened.db.execute(_READ + "ORDER BY path")
            living = ((row[0], " ".join(analysed(_memory(opened, row)))) for row in rows)
            write(opened.index, None, living)
            with opened.db as db:
                db.execute("UPDATE totals SET dead = ?, version = version + 1", (dead(opened),))
            opened.reload()

    def clear_pending(self) -> None:
        """After a crash: forget whatever was under way, so that those files count as new."""
        numbers = [number for (number,) in self.rows("SELECT id FROM pending")]
        if numbers:
            self.store([], numbers, {})

    def wasteful(self) -> bool:
        """Whether more than half of the texts are dead ones, and it matters."""
        with GUARD:
            opened = self._open()
            alive = next(opened.db.execute("SELECT total(size) FROM held"))[0]
            return bool(opened.pack.size() > 2 * alive + WASTE)

    def told(self) -> set[tuple[str, str]]:
        """The problems, path and what, that have been told and still hold."""
        return set(self.rows("SELECT path, what FROM told"))

    def tell(self, problems: Iterable[tuple[str, str]]) -> None:
        """Note that these problems, and no others, have been told and still hold."""
        with GUARD, self._open().db as db:
            db.execute("DELETE FROM told")
            db.executemany("INSERT OR IGNORE INTO told VALUES (?, ?)", problems)

    def alone(self) -> AbstractContextManager[None]:
        """Hold the lock of everybody who writes here; it lies beside the folder, which may be deleted."""
        return locked(self.folder.with_name(f"{self.folder.name}.lock"), "the index", HELD)

    def renew(self) -> None:
        """Make an empty generation and point to it; with the lock held."""
        import secrets  # late: a search of what is there makes nothing
        import shutil

        with GUARD:
            self.close()
            private_folder(self.folder)
            generation = f"g-{secrets.token_hex(8)}"
            make(private_folder(self.folder / generation), self._language)
            waiting = self.folder / f"{generation}.new"
            waiting.write_text(generation, encoding="ascii")
            waiting.replace(self.folder / "current")
            for other in self.folder.glob("g-*"):
                if other.name != generation:
                    shutil.rmtree(other, ignore_errors=True)
            self._opened = Generation(self.folder / generation, self._language)

    def size(self) -> int:
        """Bytes on disk."""
        return sum(file.stat().st_size for file in self.folder.rglob("*") if file.is_file())

    def close(self) -> None:
        """Let go of the files; the next call opens them again."""
        if self._opened:
            self._opened.close()
        self._opened = None

    def _open(self) -> Generation:
        if self._opened is None:
            self.refresh()
        if self._opened is None:
            raise DamagedError("it was closed")
        return self._opened

    def _settled(self) -> Generation:
        """The generation in use, once postings and rows belong together: another process may be between its commits."""
        opened = self._open()
        waited = time.monotonic() + PATIENCE
        while opened.searcher.num_docs != opened.totals.memories:
            if time.monotonic() > waited:
                raise DamagedError("the postings do not belong to the rows")
            time.sleep(0.01)
            opened.totals = opened.totals._replace(version=-1)
            opened.reload()
        return opened

    def _open_or_make(self) -> None:
        try:
            with GUARD:
                self._opened = Generation(self.folder / self._pointer(), self._language)
        except DamagedError as error:
            self.remade = str(error) if self._pointer() else None
            self.renew()

    def _pointer(self) -> str:
        try:
            return (self.folder / "current").read_text("ascii")
        except (OSError, ValueError):
            return ""


def _searched(opened: Generation, query: tantivy.Query, limit: int) -> tuple[list[tuple[int, float]], int]:
    """The best `limit` for a query, number and score; and how many tantivy gave."""
    found = opened.searcher.search(query, max(min(limit, opened.totals.memories), 1), count=False).hits
    if not found:
        return [], 0
    values, addresses = zip(*found, strict=True)
    numbers = opened.searcher.fast_field_values("id", list(addresses))
    known = len(opened.columns["state"])  # another process may have committed postings, and not yet their rows
    hits = zip(numbers, values, strict=True)
    return [hit for hit in hits if hit[0] < known] if max(numbers) >= known else list(hits), len(found)


def _best_of_any(opened: Generation, weights: Mapping[str, float], limit: int) -> tuple[list[tuple[int, float]], int]:
    """As `_searched`, of any of the terms of `weights`.

    Where those that are not common are RARE, only memories that hold one of them are scored, which takes a
    third of the time, or at 100,000 memories a fifth; the best by the common terms alone fill up what is missing.
    """
    common, often = opened.totals.memories / 2, opened.frequencies
    usual = {term: weight for term, weight in weights.items() if often[term] >= common}
    telling = [term for term in weights if term not in usual]
    holders = sum([often[term] for term in telling])
    if not usual or holders > opened.totals.memories * RARE:
        return _searched(opened, _query(opened, weights, (), None), limit)
    best, met, limit = list[tuple[int, float]](), 0, max(limit, 1)
    if holders:
        any_of = tantivy.Query.boolean_query([(_SHOULD, _term(opened, term, weights[term])) for term in telling])
        besides = [(_SHOULD, _term(opened, term, weight)) for term, weight in usual.items()]
        best, met = _searched(opened, tantivy.Query.boolean_query([(_MUST, any_of), *besides]), limit)
    if met >= limit:
        return best, met
    fillers, more = _fillers(opened, usual, limit)
    held = dict(best)
    others = [hit for hit in fillers if hit[0] not in held]
    return sorted([*best, *others], key=itemgetter(1), reverse=True)[:limit], min(met + more, limit)


def _fillers(opened: Generation, usual: Mapping[str, float], limit: int) -> tuple[Sequence[tuple[int, float]], int]:
    """As `_searched`, of common terms; kept, as they fill up whatever is asked besides."""
    key = (limit, *usual.items())
    if key not in opened.fillers:
        if len(opened.fillers) >= FILLERS:
            opened.fillers.clear()
        opened.fillers[key] = _searched(opened, _query(opened, usual, (), None), limit)
    return opened.fillers[key]


def _query(
    opened: Generation,
    weights: Mapping[str, float],
    needed: Sequence[Sequence[Sequence[str]]],
    among: Sequence[int] | None,
) -> tantivy.Query:
    ranked = tantivy.Query.boolean_query([(_SHOULD, _term(opened, term, weight)) for term, weight in weights.items()])
    if not needed and among is None:
        return ranked
    clauses = [(_MUST, ranked)]
    for alternatives in needed:
        either = [(_SHOULD, _all(opened, group)) for group in alternatives]
        clauses.append((_MUST, _silent(tantivy.Query.boolean_query(either))))
    if among is not None:
        clauses.append((_MUST, _silent(tantivy.Query.term_set_query(opened.schema, "id", list(among)))))
    return tantivy.Query.boolean_query(clauses)


def _term(opened: Generation, term: str, weight: float) -> tantivy.Query:
    known = opened.queries.get((term, weight))
    if known is None:
        if len(opened.queries) >= KEPT:
            opened.queries.clear()
        known = opened.queries[term, weight] = _made(opened, term, weight)
    return known


def _made(opened: Generation, term: str, weight: float) -> tantivy.Query:
    query = tantivy.Query.term_query(opened.schema, "terms", term, index_option="freq")
    totals = opened.totals
    if totals.dead:  # tantivy counts the dead as well, until it has swept them out
        counted = opened.searcher.doc_freq("terms", term)
        weight *= idf(opened.frequencies[term], totals.memories) / idf(counted, totals.memories + totals.dead)
    return query if weight == 1 else tantivy.Query.boost_query(query, weight)


def _all(opened: Generation, terms: Sequence[str]) -> tantivy.Query:
    queries = (tantivy.Query.term_query(opened.schema, "terms", term, index_option="freq") for term in terms)
    return tantivy.Query.boolean_query([(_MUST, query) for query in queries])


def _silent(query: tantivy.Query) -> tantivy.Query:
    """`query` as a condition that adds nothing to the score."""
    return tantivy.Query.const_score_query(query, 0.0)


def _needs_sweep(opened: Generation, analysed: Callable[[Memory], Sequence[str]]) -> bool:
    """Whether so many are dead, or such long ones, that scores are off."""
    memories, dead = opened.totals.memories, opened.totals.dead
    most, far = (DEAD, FAR) if memories <= MANY else (DEAD_OF_MANY, FAR_OF_MANY)
    if not dead or dead > memories * most:
        return dead > 0
    average = opened.totals.terms / memories
    return abs((_average(opened, analysed) or average) - average) > average * far


def _average(opened: Generation, analysed: Callable[[Memory], Sequence[str]]) -> float | None:
    """The average length of a memory by tantivy's own account, in which the dead count as well."""
    row = opened.db.execute(_READ + "WHERE length LIMIT 1").fetchone()
    if not row:
        return None
    number = row[0]
    term = analysed(_memory(opened, row))[0]
    query = tantivy.Query.term_query(opened.schema, "terms", term, index_option="freq")
    alone = tantivy.Query.boolean_query(
        [(_MUST, query), (_MUST, tantivy.Query.term_query(opened.schema, "id", number))]
    )
    _, address = opened.searcher.search(alone, 1).hits[0]
    told = re.search(r'"value": ([\d.e+]+),\s+"description": "avgdl', query.explain(opened.searcher, address).to_json())
    return float(told[1]) if told else None


def _memory(opened: Generation, row: Sequence[Any]) -> Memory:
    """The memory of a row that _READ gave."""
    _, path, fault, conflict, start, size = row
    return Memory(path, opened.pack.text(start, size), fault, conflict)


def _held(opened: Generation, numbers: Sequence[int]) -> dict[int, Memory]:
    """The memories of those numbers as their rows are now."""
    found: dict[int, Memory] = {}
    text_at = opened.pack.text
    for part in parts(numbers):
        for number, path, fault, conflict, start, size in opened.db.execute(
            marked(_READ + "WHERE id IN ({})", part), part
        ):
            found[number] = Memory(path, text_at(start, size), fault, conflict)
    return found


def _hashed(opened: Generation, row: Sequence[Any]) -> bytes:
    """The hash of what was read for a row that _READ gave."""
    _, _, fault, conflict, start, size = row
    return hashed(opened.pack.data(start, size), fault, conflict)

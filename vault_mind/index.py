"""What is kept on disk to search fast: tantivy's postings and one SQLite file. Disposable.

Before every search `sync` compares each file's status with what was indexed. tantivy proposes the
best candidates; their scores are then computed by `ranking.score` from exact statistics, so that
index and reference agree. tantivy is committed before SQLite, and what is being written is noted in
SQLite before that, so a crash in between only means that those files are indexed again.
"""

import shutil
import sqlite3
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import tantivy

from vault_mind.analysis import query_terms, terms
from vault_mind.config import cache_folder
from vault_mind.errors import MemoryNotFoundError, PathRefusedError, UnreadableError, WriteFailedError
from vault_mind.files import locked, private_folder
from vault_mind.memory import Memory, parse
from vault_mind.ranking import Hit, best, score
from vault_mind.regex import Line, Pattern
from vault_mind.vault import Problem, Status, Vault, Walk

SCHEMA = 1  # raise it whenever analysis or the tables change: the index is then made anew
RACY = 2_000_000_000  # ns; a file that was this young when read may have changed within one tick of its clock
CANDIDATES = 200  # memories that tantivy proposes and that are then scored exactly
BATCH = 2_000  # files between two commits of a long sync, which may be interrupted
HEAP = 50_000_000  # bytes that tantivy may use while writing

_TABLES = f"""
CREATE TABLE files (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, mtime INTEGER, ctime INTEGER, size INTEGER, inode INTEGER,
    racy INTEGER, hash BLOB, text TEXT, fault TEXT, terms TEXT, length INTEGER, pinned INTEGER
);
CREATE TABLE pending (id INTEGER PRIMARY KEY);
CREATE TABLE told (path TEXT, what TEXT, PRIMARY KEY (path, what));
CREATE TABLE totals (memories INTEGER, terms INTEGER, language TEXT);
PRAGMA user_version = {SCHEMA};
"""
# Whatever the two engines raise over a damaged file; the answer is always to make the index anew.
_DAMAGE = (sqlite3.DatabaseError, ValueError, OSError)

Keep = Callable[[Memory], bool]
Progress = Callable[[int, int], None]


def _every(_: Memory) -> bool:
    return True


@dataclass(frozen=True)
class Synced:
    """What a sync found: files new or changed, files gone, and problems that were not told before."""

    changed: int
    gone: int
    news: tuple[Problem, ...]


@dataclass
class _Read:
    """A file as it is to be indexed; `same` when only its status changed."""

    number: int
    memory: Memory
    status: Status
    hash: bytes
    same: bool


class Index:
    """The index of one vault. What it answers is true of the files at that moment.

    It lives in `folder`, by default in the user's cache; where that cannot be written, in a
    temporary folder for as long as the process runs.
    """

    def __init__(self, vault: Vault, *, language: str = "english", folder: Path | None = None) -> None:
        self.vault = vault
        self.folder = folder or cache_folder(vault.root)
        self._language = language
        self._opened: tuple[sqlite3.Connection, tantivy.Index, int] | None = None
        self._spare: tempfile.TemporaryDirectory[str] | None = None

    def search(self, query: str, k: int, *, keep: Keep = _every) -> list[Hit]:
        """Sync, then the `k` memories that best match any term of `query`, as `ranking.rank` gives them."""
        self.sync()
        return self.ranked(query, k, keep=keep)

    def ranked(self, query: str, k: int, *, keep: Keep = _every) -> list[Hit]:
        """As `search`, of what the last sync found."""
        wanted = query_terms(query, self._language)
        limit = max(CANDIDATES, 4 * k)
        while True:
            try:
                scored, matching = self._scored(wanted, limit)
            except _DAMAGE:
                self.rebuild()
                scored, matching = self._scored(wanted, limit)
            hits = [hit for hit in scored if keep(hit.memory)]
            if len(hits) >= k or limit >= matching:
                return best(hits, k)
            limit = min(4 * limit, matching)

    def grep(self, pattern: Pattern, *, keep: Keep = _every) -> Iterator[tuple[Memory, list[Line]]]:
        """Sync, then every memory with lines that match `pattern`, by path."""
        self.sync()
        return self.grepped(pattern, keep=keep)

    def grepped(self, pattern: Pattern, *, keep: Keep = _every) -> Iterator[tuple[Memory, list[Line]]]:
        """As `grep`, of what the last sync found."""
        for memory in self.memories():
            lines = list(pattern.lines(memory.text.removeprefix("\ufeff")))
            if lines and keep(memory):
                yield memory, lines

    def memories(self) -> Iterator[Memory]:
        """Every memory that the last sync found, by path."""
        for path, text, fault in self._rows("SELECT path, text, fault FROM files ORDER BY path"):
            yield parse(path, text, fault)

    def pinned(self) -> list[Memory]:
        """The pinned memories that the last sync found, by path."""
        rows = self._rows("SELECT path, text, fault FROM files WHERE pinned ORDER BY path")
        return [parse(path, text, fault) for path, text, fault in rows]

    def sync(self, progress: Progress | None = None) -> Synced:
        """Bring the index up to date with the files; `progress(done, of)` is called as it goes."""
        try:
            return self._sync(progress)
        except _DAMAGE:
            return self.rebuild(progress)

    def rebuild(self, progress: Progress | None = None) -> Synced:
        """Throw the index away and make it anew."""
        with self._alone():
            self._drop()
            return self._sync(progress)

    def size(self) -> int:
        """Bytes on disk."""
        return sum(file.stat().st_size for file in self.folder.rglob("*") if file.is_file())

    def close(self) -> None:
        """Let go of the files; the next call opens them again."""
        if self._opened:
            self._opened[0].close()
        self._opened = None

    def _sync(self, progress: Progress | None) -> Synced:
        walk = self.vault.walk()
        changed, gone = self._difference(walk)
        news = self._news(walk.problems)
        if not (changed or gone or news or list(self._rows("SELECT 1 FROM pending LIMIT 1"))):
            return Synced(0, 0, ())
        with self._alone():
            self._clear_pending()
            walk = self.vault.walk()
            changed, gone = self._difference(walk)
            problems = list(walk.problems)
            self._store([], gone)
            for start in range(0, len(changed), BATCH):
                self._take_in(changed[start : start + BATCH], problems)
                if progress:
                    progress(min(start + BATCH, len(changed)), len(changed))
            news = self._news(problems)
            with self._db() as db:
                db.executemany("INSERT OR IGNORE INTO told VALUES (?, ?)", [(p.path, p.what) for p in news])
        return Synced(len(changed), len(gone), tuple(news))

    def _difference(self, walk: Walk) -> tuple[list[str], list[int]]:
        """Paths that are new or look changed, and the ids of rows whose file is gone."""
        known: dict[str, Status | None] = {}
        gone = []
        for number, path, racy, *status in self._rows("SELECT id, path, racy, mtime, ctime, size, inode FROM files"):
            known[path] = None if racy else Status(*status)
            if path not in walk.files:
                gone.append(number)
        return [path for path, status in walk.files.items() if known.get(path) != status], gone

    def _take_in(self, paths: Sequence[str], problems: list[Problem]) -> None:
        known = {path: (number, digest) for path, number, digest in self._known(paths)}
        fresh = max((number for (number,) in self._rows("SELECT max(id) FROM files") if number), default=0)
        reads, lost = [], []
        for path in paths:
            number, digest = known.get(path, (0, b""))
            try:
                memory, status = self.vault.read_with_status(path)
            except (UnreadableError, PathRefusedError, MemoryNotFoundError) as error:
                if not isinstance(error, MemoryNotFoundError):  # that one was deleted a moment ago
                    problems.append(Problem(path, str(error).removeprefix(f"{path}: ")))
                lost += [number] if number else []
                continue
            problems += [Problem(path, warning) for warning in memory.warnings]
            content = f"{memory.fault or ''}\0{memory.text}".encode()
            found = blake2b(content, digest_size=16).digest()
            if not number:
                number = fresh = fresh + 1
            reads.append(_Read(number, memory, status, found, found == digest))
        self._store(reads, lost)

    def _known(self, paths: Sequence[str]) -> Iterator[tuple[str, int, bytes]]:
        for start in range(0, len(paths), 500):  # SQLite bounds the variables of a statement
            part = paths[start : start + 500]
            marks = ",".join("?" * len(part))
            yield from self._rows(f"SELECT path, id, hash FROM files WHERE path IN ({marks})", part)  # noqa: S608  # only ?s

    def _store(self, reads: Sequence[_Read], gone: Sequence[int]) -> None:
        """Write postings first and rows after them, with a note of what is under way before both."""
        new = [(read, terms(read.memory.searched, self._language)) for read in reads if not read.same]
        numbers = [read.number for read, _ in new] + list(gone)
        if numbers:
            with self._db() as db:
                db.executemany("INSERT OR IGNORE INTO pending VALUES (?)", [(number,) for number in numbers])
            self._write_postings(numbers, [(read.number, found) for read, found in new])
        with self._db() as db:
            db.executemany("DELETE FROM files WHERE id = ?", [(number,) for number in gone])
            db.executemany(
                "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [_row(read, found) for read, found in new],
            )
            db.executemany(
                "UPDATE files SET mtime = ?, ctime = ?, size = ?, inode = ?, racy = ? WHERE id = ?",
                [(*_columns(read.status), read.number) for read in reads if read.same],
            )
            db.execute("DELETE FROM pending")
            if numbers:
                db.execute("UPDATE totals SET (memories, terms) = (SELECT count(*), total(length) FROM files)")

    def _clear_pending(self) -> None:
        """After a crash: forget whatever was under way, so that those files count as new."""
        numbers = [number for (number,) in self._rows("SELECT id FROM pending")]
        if numbers:
            self._write_postings(numbers, [])
            with self._db() as db:
                db.executemany("DELETE FROM files WHERE id = ?", [(number,) for number in numbers])
                db.execute("DELETE FROM pending")

    def _write_postings(self, gone: Iterable[int], new: Iterable[tuple[int, list[str]]]) -> None:
        _, postings, _ = self._open()
        writer = postings.writer(HEAP, 1)
        for number in gone:
            writer.delete_documents_by_term("id", number)
        for number, found in new:
            document = tantivy.Document(terms=" ".join(found))
            document.add_unsigned("id", number)
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()

    def _scored(self, wanted: Sequence[str], limit: int) -> tuple[list[Hit], int]:
        """Tantivy's best `limit` memories with their exact scores, and how many match at all."""
        _, postings, _ = self._open()
        postings.reload()
        searcher: Any = postings.searcher()  # its stubs lack the count
        schema = postings.schema
        queries = {term: tantivy.Query.term_query(schema, "terms", term, index_option="freq") for term in wanted}
        # doc_freq would count deleted memories as well until their segment is merged; a count does not.
        frequencies = {term: searcher.search(query, 1, count=True).count for term, query in queries.items()}
        either = tantivy.Query.boolean_query([(tantivy.Occur.Should, query) for query in queries.values()])
        found = searcher.search(either, limit, count=True)
        numbers = searcher.fast_field_values("id", [address for _, address in found.hits]) if found.hits else []
        marks = ",".join(str(int(number)) for number in numbers)
        memories, total = next(self._rows("SELECT memories, terms FROM totals"))
        hits = []
        rows = self._rows(f"SELECT path, text, fault, terms FROM files WHERE id IN ({marks})")  # noqa: S608  # our integers
        for path, text, fault, held in rows:
            counts = Counter(held.split(" "))
            exact = score(wanted, counts, frequencies, memories, total / max(memories, 1))
            if exact > 0:  # a row may be newer than the postings that proposed it
                hits.append(Hit(parse(path, text, fault), exact))
        return hits, found.count

    def _news(self, problems: Sequence[Problem]) -> list[Problem]:
        told = set(self._rows("SELECT path, what FROM told")) if problems else set()
        return [problem for problem in problems if (problem.path, problem.what) not in told]

    def _rows(self, statement: str, values: Sequence[object] = ()) -> Iterator[Any]:
        return self._db().execute(statement, values)

    def _db(self) -> sqlite3.Connection:
        return self._open()[0]

    def _open(self) -> tuple[sqlite3.Connection, tantivy.Index, int]:
        """Both engines, opened or made; opened again when somebody has replaced the files."""
        file = self.folder / "files.db"
        if self._opened:
            if file.exists() and file.stat().st_ino == self._opened[2]:
                return self._opened
            self.close()
        try:
            private_folder(self.folder)
        except WriteFailedError:
            self._spare = self._spare or tempfile.TemporaryDirectory(prefix="vault-mind-")
            self.folder = Path(self._spare.name)
            file = self.folder / "files.db"
        try:
            self._opened = self._connected(file)
        except _DAMAGE:
            with self._alone():
                self._drop()
                self._opened = self._connected(file)
        return self._opened

    def _connected(self, file: Path) -> tuple[sqlite3.Connection, tantivy.Index, int]:
        new = not file.exists()
        db = sqlite3.connect(file, timeout=30, check_same_thread=False)
        try:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")
            if new:
                with self._alone():
                    self._create(db)
            self._check(db)
            postings = tantivy.Index.open(str(self.folder / "postings"))
        except BaseException:
            db.close()
            raise
        whitespace = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
        postings.register_tokenizer("analysed", whitespace)
        return db, postings, file.stat().st_ino

    def _create(self, db: sqlite3.Connection) -> None:
        if next(db.execute("PRAGMA user_version"))[0] == SCHEMA:  # another process was first
            return
        postings = self.folder / "postings"
        shutil.rmtree(postings, ignore_errors=True)
        postings.mkdir(mode=0o700)
        schema = tantivy.SchemaBuilder()
        schema.add_unsigned_field("id", indexed=True, fast=True)
        schema.add_text_field("terms", tokenizer_name="analysed", index_option="freq")
        tantivy.Index(schema.build(), path=str(postings))
        db.executescript(_TABLES)
        with db:
            db.execute("INSERT INTO totals VALUES (0, 0, ?)", (self._language,))

    def _check(self, db: sqlite3.Connection) -> None:
        if next(db.execute("PRAGMA user_version"))[0] != SCHEMA:
            raise sqlite3.DatabaseError("made by another version")
        if next(db.execute("SELECT language FROM totals"))[0] != self._language:
            raise sqlite3.DatabaseError("made for another language")

    def _drop(self) -> None:
        self.close()
        for file in self.folder.glob("files.db*"):
            file.unlink(missing_ok=True)
        shutil.rmtree(self.folder / "postings", ignore_errors=True)

    def _alone(self) -> AbstractContextManager[None]:
        return locked(self.folder / "index.lock", "the index")


def _columns(status: Status) -> tuple[int, int, int, int, bool]:
    now = time.time_ns()
    racy = status.ctime > now - RACY or abs(now - status.mtime) < RACY
    return status.mtime, status.ctime, status.size, status.inode, racy


def _row(read: _Read, found: Sequence[str]) -> tuple[object, ...]:
    memory = read.memory
    return (
        read.number, memory.path, *_columns(read.status), read.hash, memory.text, memory.fault,
        " ".join(found), len(found), memory.pinned,
    )  # fmt: skip

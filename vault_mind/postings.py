"""The index's files: tantivy's postings and one SQLite file with what sync, filters and display need.

Both lie in a generation, a folder of its own that a pointer file names; making the index anew makes
a new generation and moves the pointer, so that who is searching the old one can finish. Within one,
tantivy is committed first and SQLite after it, and what is under way is noted in SQLite before
both; so a crash in between only means that those files are indexed again.
"""

import secrets
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tantivy

from vault_mind.errors import WriteFailedError
from vault_mind.files import locked, private_folder

SCHEMA = 3  # raise it whenever analysis or the tables change: the index is then made anew
HEAP = 50_000_000  # bytes that tantivy may use while writing
PATIENCE = 2.0  # seconds that a reader waits for another process between its two commits

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
_INSERT = "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


class DamagedError(Exception):
    """The files cannot be used as they are; the answer is always to make them anew."""


@dataclass(frozen=True)
class Row:
    """One file as it is indexed: `status` is mtime, ctime, size, inode and whether it was racy."""

    number: int
    path: str
    status: tuple[int, int, int, int, bool]
    hash: bytes
    text: str
    fault: str | None
    terms: Sequence[str]
    pinned: bool


@dataclass(frozen=True)
class Proposal:
    """tantivy's best matches and what exact scores need, all of one moment.

    `rows` are path, text, fault and terms; `floor` is the lowest score that tantivy gave among them;
    `matching` counts all that match, `frequencies` those that hold each term, `memories` and `terms` everything.
    """

    rows: tuple[tuple[str, str, str | None, str], ...]
    floor: float
    matching: int
    frequencies: dict[str, int]
    memories: int
    terms: int


class _Opened:
    """A generation in use. Its searcher keeps its files open, so that it outlives their deletion."""

    def __init__(self, generation: str, db: sqlite3.Connection, index: tantivy.Index) -> None:
        self.generation, self.db, self.index = generation, db, index
        self.reload()

    def reload(self) -> None:
        """See what has been committed since."""
        self.index.reload()
        self.searcher: Any = self.index.searcher()  # its stubs lack the count


class Postings:
    """Both engines, in the generation that `folder` points to. Every method may raise DamagedError.

    Where the folder cannot be written, a temporary one serves for as long as the process runs.
    """

    def __init__(self, folder: Path, language: str) -> None:
        self.folder = folder
        self._language = language
        self._opened: _Opened | None = None
        self._spare: tempfile.TemporaryDirectory[str] | None = None

    def refresh(self) -> None:
        """Open the newest generation, or make the first; until the next call it is the one that is used."""
        try:
            with _guarded():
                if self._opened and self._opened.generation == self._pointer():
                    self._opened.reload()
                    return
                self.close()
                self._opened = self._connected(self._pointer())
                return
        except DamagedError:
            self.close()
        try:
            private_folder(self.folder)
            with self.alone():
                self._open_or_make()  # another process may have made it while we waited
        except WriteFailedError:
            self._spare = self._spare or tempfile.TemporaryDirectory(prefix="vault-mind-")
            self.folder = Path(self._spare.name) / "index"
            private_folder(self.folder)
            self._open_or_make()

    def replaced(self) -> bool:
        """Whether somebody else has made a newer generation than the one in use."""
        return self._opened is not None and self._pointer() not in ("", self._opened.generation)

    def rows(self, statement: str, values: Sequence[object] = ()) -> Iterator[Any]:
        """What an SQL query gives."""
        with _guarded():
            yield from self._open().db.execute(statement, values)

    def propose(self, wanted: Sequence[str], limit: int) -> Proposal:
        """At most `limit` rows that hold any of the terms, those that tantivy ranks best."""
        with _guarded():
            opened = self._open()
            waited = time.monotonic() + PATIENCE
            while (proposal := _proposal(opened, wanted, limit)) is None:
                if time.monotonic() > waited:
                    raise DamagedError("the postings do not belong to the rows")
                time.sleep(0.01)
                opened.reload()
            return proposal

    def store(self, new: Sequence[Row], touched: Sequence[Row], gone: Sequence[int]) -> None:
        """Write `new` rows with their postings, the status alone of `touched` ones, and take out `gone` ones."""
        numbers = [row.number for row in new] + list(gone)
        with _guarded():
            opened = self._open()
            if numbers:
                with opened.db as db:
                    db.executemany("INSERT OR IGNORE INTO pending VALUES (?)", [(number,) for number in numbers])
                _write(opened.index, numbers, [(row.number, row.terms) for row in new])
            with opened.db as db:
                db.executemany("DELETE FROM files WHERE id = ?", [(number,) for number in gone])
                db.executemany(_INSERT, map(_columns, new))
                db.executemany(
                    "UPDATE files SET mtime = ?, ctime = ?, size = ?, inode = ?, racy = ? WHERE id = ?",
                    [(*row.status, row.number) for row in touched],
                )
                db.execute("DELETE FROM pending")
                if numbers:
                    opened.reload()
                    db.execute("UPDATE totals SET (memories, terms) = (SELECT count(*), total(length) FROM files)")

    def clear_pending(self) -> None:
        """After a crash: forget whatever was under way, so that those files count as new."""
        numbers = [number for (number,) in self.rows("SELECT id FROM pending")]
        if numbers:
            self.store([], [], numbers)

    def told(self) -> set[tuple[str, str]]:
        """The problems, path and what, that have been told and still hold."""
        return set(self.rows("SELECT path, what FROM told"))

    def tell(self, problems: Iterable[tuple[str, str]]) -> None:
        """Note that these problems, and no others, have been told and still hold."""
        with _guarded(), self._open().db as db:
            db.execute("DELETE FROM told")
            db.executemany("INSERT OR IGNORE INTO told VALUES (?, ?)", problems)

    def alone(self) -> AbstractContextManager[None]:
        """Hold the lock of everybody who writes here; it lies beside the folder, which may be deleted."""
        return locked(self.folder.with_name(f"{self.folder.name}.lock"), "the index")

    def renew(self) -> None:
        """Make an empty generation and point to it; with the lock held."""
        with _guarded():
            self.close()
            private_folder(self.folder)
            generation = f"g-{secrets.token_hex(8)}"
            _make(private_folder(self.folder / generation), self._language)
            waiting = self.folder / f"{generation}.new"
            waiting.write_text(generation, encoding="ascii")
            waiting.replace(self.folder / "current")
            for other in self.folder.glob("g-*"):
                if other.name != generation:
                    shutil.rmtree(other, ignore_errors=True)
            self._opened = self._connected(generation)

    def size(self) -> int:
        """Bytes on disk."""
        return sum(file.stat().st_size for file in self.folder.rglob("*") if file.is_file())

    def close(self) -> None:
        """Let go of the files; the next call opens them again."""
        if self._opened:
            self._opened.db.close()
        self._opened = None

    def _open(self) -> _Opened:
        if self._opened is None:
            self.refresh()
        if self._opened is None:
            raise DamagedError("it was closed")
        return self._opened

    def _open_or_make(self) -> None:
        try:
            with _guarded():
                self._opened = self._connected(self._pointer())
        except DamagedError:
            self.renew()

    def _pointer(self) -> str:
        try:
            return (self.folder / "current").read_text("ascii")
        except (OSError, ValueError):
            return ""

    def _connected(self, generation: str) -> _Opened:
        folder = (self.folder / generation).absolute()
        uri = f"{(folder / 'files.db').as_uri()}?mode=rw"
        db = sqlite3.connect(uri, uri=True, timeout=30, check_same_thread=False)
        try:
            db.execute("PRAGMA synchronous = NORMAL")
            _check(db, self._language)
            index = tantivy.Index.open(str(folder / "postings"))
        except BaseException:
            db.close()
            raise
        whitespace = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
        index.register_tokenizer("analysed", whitespace)
        return _Opened(generation, db, index)


@contextmanager
def _guarded() -> Iterator[None]:
    """Whatever the two engines raise over their files is a DamagedError."""
    try:
        yield
    except (sqlite3.Error, ValueError, OSError, StopIteration, OverflowError) as error:
        raise DamagedError(str(error)) from error
    except BaseException as error:
        if type(error).__name__ == "PanicException":  # tantivy's, which is no Exception
            raise DamagedError(str(error)) from error
        raise


def _check(db: sqlite3.Connection, language: str) -> None:
    if next(db.execute("PRAGMA user_version")) != (SCHEMA,):
        raise DamagedError("made by another version")
    if next(db.execute("SELECT language FROM totals")) != (language,):
        raise DamagedError("made for another language")


def _make(folder: Path, language: str) -> None:
    postings = private_folder(folder / "postings")
    schema = tantivy.SchemaBuilder()
    schema.add_integer_field("id", indexed=True, fast=True)  # tantivy deletes by signed numbers only
    schema.add_text_field("terms", tokenizer_name="analysed", index_option="freq")
    tantivy.Index(schema.build(), path=str(postings))
    with closing(sqlite3.connect(folder / "files.db")) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.executescript(_TABLES)
        with db:
            db.execute("INSERT INTO totals VALUES (0, 0, ?)", (language,))


def _proposal(opened: _Opened, wanted: Sequence[str], limit: int) -> Proposal | None:
    """None while another process stands between its commit of the postings and that of the rows."""
    searcher, schema = opened.searcher, opened.index.schema
    queries = {term: tantivy.Query.term_query(schema, "terms", term, index_option="freq") for term in wanted}
    # doc_freq would count deleted rows as well until their segment is merged; a count does not.
    frequencies = {term: searcher.search(query, 1, count=True).count for term, query in queries.items()}
    either = tantivy.Query.boolean_query([(tantivy.Occur.Should, query) for query in queries.values()])
    found = searcher.search(either, max(min(limit, searcher.num_docs), 1), count=True)
    numbers = searcher.fast_field_values("id", [address for _, address in found.hits]) if found.hits else []
    floor = min((score for score, _ in found.hits), default=0.0)
    marks = ",".join(str(int(number)) for number in numbers)
    statement = f"SELECT path, text, fault, terms FROM files WHERE id IN ({marks})"  # noqa: S608  # our integers
    with opened.db as db:
        db.execute("BEGIN")  # both queries see one moment
        memories, terms = next(db.execute("SELECT memories, terms FROM totals"))
        rows = tuple(db.execute(statement))
    if memories != searcher.num_docs:
        return None
    return Proposal(rows, floor, found.count, frequencies, memories, int(terms))


def _write(index: tantivy.Index, gone: Iterable[int], new: Iterable[tuple[int, Sequence[str]]]) -> None:
    writer = index.writer(HEAP, 1)
    try:
        for number in gone:
            writer.delete_documents_by_term("id", number)
        for number, found in new:
            document = tantivy.Document(terms=" ".join(found))
            document.add_integer("id", number)
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()
    finally:
        del writer  # with its lock, which a traceback would keep alive


def _columns(row: Row) -> tuple[object, ...]:
    held = " ".join(row.terms)
    return (row.number, row.path, *row.status, row.hash, row.text, row.fault, held, len(row.terms), row.pinned)

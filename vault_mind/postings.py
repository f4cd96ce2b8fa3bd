"""The index's files: tantivy's postings and one SQLite file with what sync, filters and display need.

tantivy is committed first and SQLite after it, and what is under way is noted in SQLite before
both; so a crash in between only means that those files are indexed again.
"""

import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tantivy

from vault_mind.errors import WriteFailedError
from vault_mind.files import locked, private_folder

SCHEMA = 2  # raise it whenever analysis or the tables change: the index is then made anew
HEAP = 50_000_000  # bytes that tantivy may use while writing

# Whatever the two engines raise over a damaged or missing file; the answer is always to make it anew.
DAMAGE = (sqlite3.Error, ValueError, OSError)

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
    """tantivy's best matches by row number, how many match at all, and in how many each term stands."""

    numbers: tuple[int, ...]
    matching: int
    frequencies: dict[str, int]


class Postings:
    """Both engines in `folder`, opened when first needed, and again when somebody replaced the files.

    Where the folder cannot be written, a temporary one serves for as long as the process runs.
    """

    def __init__(self, folder: Path, language: str) -> None:
        self.folder = folder
        self._language = language
        self._opened: tuple[sqlite3.Connection, tantivy.Index, int] | None = None
        self._spare: tempfile.TemporaryDirectory[str] | None = None

    def rows(self, statement: str, values: Sequence[object] = ()) -> Iterator[Any]:
        """What an SQL query gives."""
        return self._db().execute(statement, values)

    def propose(self, wanted: Sequence[str], limit: int) -> Proposal:
        """The best `limit` rows that hold any of the terms."""
        _, index, _ = self._open()
        index.reload()
        searcher: Any = index.searcher()  # its stubs lack the count
        queries = {term: tantivy.Query.term_query(index.schema, "terms", term, index_option="freq") for term in wanted}
        # doc_freq would count deleted rows as well until their segment is merged; a count does not.
        frequencies = {term: searcher.search(query, 1, count=True).count for term, query in queries.items()}
        either = tantivy.Query.boolean_query([(tantivy.Occur.Should, query) for query in queries.values()])
        found = searcher.search(either, limit, count=True)
        numbers = searcher.fast_field_values("id", [address for _, address in found.hits]) if found.hits else []
        return Proposal(tuple(int(number) for number in numbers), found.count, frequencies)

    def store(self, new: Sequence[Row], touched: Sequence[Row], gone: Sequence[int]) -> None:
        """Write `new` rows with their postings, the status alone of `touched` ones, and take out `gone` ones."""
        numbers = [row.number for row in new] + list(gone)
        if numbers:
            with self._db() as db:
                db.executemany("INSERT OR IGNORE INTO pending VALUES (?)", [(number,) for number in numbers])
            self._write(numbers, [(row.number, row.terms) for row in new])
        with self._db() as db:
            db.executemany("DELETE FROM files WHERE id = ?", [(number,) for number in gone])
            db.executemany(
                "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", map(_columns, new)
            )
            db.executemany(
                "UPDATE files SET mtime = ?, ctime = ?, size = ?, inode = ?, racy = ? WHERE id = ?",
                [(*row.status, row.number) for row in touched],
            )
            db.execute("DELETE FROM pending")
            if numbers:
                db.execute("UPDATE totals SET (memories, terms) = (SELECT count(*), total(length) FROM files)")

    def clear_pending(self) -> None:
        """After a crash: forget whatever was under way, so that those files count as new."""
        numbers = [number for (number,) in self.rows("SELECT id FROM pending")]
        if numbers:
            self.store([], [], numbers)

    def tell(self, problems: Iterable[tuple[str, str]]) -> None:
        """Note that these problems, path and what, have been told."""
        with self._db() as db:
            db.executemany("INSERT OR IGNORE INTO told VALUES (?, ?)", problems)

    def alone(self) -> AbstractContextManager[None]:
        """Hold the lock of everybody who writes here."""
        return locked(self.folder / "index.lock", "the index")

    def drop(self) -> None:
        """Delete the files and make empty ones; with the lock held."""
        self.close()
        for file in self.folder.glob("files.db*"):
            file.unlink(missing_ok=True)
        postings = self.folder / "postings"
        shutil.rmtree(postings, ignore_errors=True)
        postings.mkdir(mode=0o700)
        schema = tantivy.SchemaBuilder()
        schema.add_integer_field("id", indexed=True, fast=True)  # tantivy deletes by signed numbers only
        schema.add_text_field("terms", tokenizer_name="analysed", index_option="freq")
        tantivy.Index(schema.build(), path=str(postings))
        db = sqlite3.connect(self.folder / "files.db")
        try:
            db.execute("PRAGMA journal_mode = WAL")
            db.executescript(_TABLES)
            with db:
                db.execute("INSERT INTO totals VALUES (0, 0, ?)", (self._language,))
        finally:
            db.close()

    def size(self) -> int:
        """Bytes on disk."""
        return sum(file.stat().st_size for file in self.folder.rglob("*") if file.is_file())

    def close(self) -> None:
        """Let go of the files; the next call opens them again."""
        if self._opened:
            self._opened[0].close()
        self._opened = None

    def _write(self, gone: Iterable[int], new: Iterable[tuple[int, Sequence[str]]]) -> None:
        _, index, _ = self._open()
        writer = index.writer(HEAP, 1)
        for number in gone:
            writer.delete_documents_by_term("id", number)
        for number, found in new:
            document = tantivy.Document(terms=" ".join(found))
            document.add_integer("id", number)
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()

    def _db(self) -> sqlite3.Connection:
        return self._open()[0]

    def _open(self) -> tuple[sqlite3.Connection, tantivy.Index, int]:
        if self._opened and self._inode() == self._opened[2]:
            return self._opened
        self.close()
        try:
            private_folder(self.folder)
        except WriteFailedError:
            self._spare = self._spare or tempfile.TemporaryDirectory(prefix="vault-mind-")
            self.folder = Path(self._spare.name)
        try:
            self._opened = self._connected()
        except DAMAGE:
            with self.alone():
                try:
                    self._opened = self._connected()  # another process may have made it while we waited
                except DAMAGE:
                    self.drop()
                    self._opened = self._connected()
        return self._opened

    def _connected(self) -> tuple[sqlite3.Connection, tantivy.Index, int]:
        file = (self.folder / "files.db").absolute()
        db = sqlite3.connect(f"{file.as_uri()}?mode=rw", uri=True, timeout=30, check_same_thread=False)
        try:
            db.execute("PRAGMA synchronous = NORMAL")
            self._check(db)
            index = tantivy.Index.open(str(self.folder / "postings"))
        except BaseException:
            db.close()
            raise
        whitespace = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
        index.register_tokenizer("analysed", whitespace)
        return db, index, self._inode()

    def _check(self, db: sqlite3.Connection) -> None:
        if next(db.execute("PRAGMA user_version"))[0] != SCHEMA:
            raise sqlite3.DatabaseError("made by another version")
        if next(db.execute("SELECT language FROM totals"))[0] != self._language:
            raise sqlite3.DatabaseError("made for another language")

    def _inode(self) -> int:
        file = self.folder / "files.db"
        return file.stat().st_ino if file.exists() else 0


def _columns(row: Row) -> tuple[object, ...]:
    held = " ".join(row.terms)
    return (row.number, row.path, *row.status, row.hash, row.text, row.fault, held, len(row.terms), row.pinned)

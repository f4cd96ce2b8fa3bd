"""One generation of the index's files: tantivy's postings, one SQLite file, and the texts; made, checked, opened."""

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import tantivy

from vault_mind.columns import Columns, ColumnsError
from vault_mind.errors import WriteFailedError
from vault_mind.files import private_folder
from vault_mind.keyed import CHATS, LINKS, STEMS
from vault_mind.memory import Memory
from vault_mind.pack import Pack, PackError
from vault_mind.spelling import Alike

SCHEMA = 11  # raise it whenever analysis or the tables change: the index is then made anew
PAGE = 2_048  # bytes; of a dozen small tables and of each blob's end, smaller ones leave less empty

# What nearly all have in common is kept once or not at all: `files` is how it reads. A name ends with / where no .md
# follows.
_TABLES = f"""
CREATE TABLE held (
    id INTEGER PRIMARY KEY, place INTEGER, name TEXT NOT NULL, start INTEGER, size INTEGER, length INTEGER,
    label INTEGER, tags TEXT, made REAL
);
CREATE TABLE places (id INTEGER PRIMARY KEY, folder TEXT UNIQUE);
CREATE TABLE odd (id INTEGER PRIMARY KEY, fault TEXT, conflict TEXT);
CREATE VIEW files AS
    SELECT held.id AS id,
        coalesce(folder, '') || iif(substr(name, -1) = '/', substr(name, 1, length(name) - 1), name || '.md') AS path,
        start, size, length, label, tags, made, fault, conflict
    FROM held LEFT JOIN places ON places.id = place LEFT JOIN odd ON odd.id = held.id;
CREATE TABLE labels (id INTEGER PRIMARY KEY, kind TEXT, source TEXT, lang TEXT, pinned INTEGER);
{STEMS.made}
{CHATS.made}
{LINKS.made}
CREATE TABLE meanings (id INTEGER PRIMARY KEY, key BLOB);
CREATE TABLE folders (path TEXT PRIMARY KEY, listing BLOB) WITHOUT ROWID;
CREATE TABLE columns (name TEXT PRIMARY KEY, data BLOB) WITHOUT ROWID;
CREATE TABLE pending (id INTEGER PRIMARY KEY);
CREATE TABLE told (path TEXT, what TEXT, PRIMARY KEY (path, what)) WITHOUT ROWID;
CREATE TABLE totals (memories INTEGER, terms INTEGER, links INTEGER, dead INTEGER, version INTEGER, language TEXT);
PRAGMA user_version = {SCHEMA};
"""  # noqa: S608  # our own words


class DamagedError(Exception):
    """The files cannot be used as they are; the answer is always to make them anew."""


class Totals(NamedTuple):
    """What holds of the whole index: memories, terms, links, postings of the dead; and how often it was written."""

    memories: int
    terms: int
    links: int
    dead: int
    version: int


class Guard:
    """Whatever the two engines raise over their files becomes a DamagedError."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None:
            return
        # A folder that is missing was deleted while we worked. tantivy's panic is no Exception.
        deleted = isinstance(error, WriteFailedError) and isinstance(error.__cause__, FileNotFoundError)
        if deleted or isinstance(error, _ENGINES) or type(error).__name__ == "PanicException":
            raise DamagedError(str(error)) from error


_ENGINES = (sqlite3.Error, ValueError, OSError, StopIteration, OverflowError, IndexError, PackError, ColumnsError)
GUARD = Guard()


class Beside(dict[int, Sequence[int]]):
    """Of a number the two before and the two after it in its chat, worked out when it is first asked for."""

    def __init__(self, columns: Callable[[], Columns]) -> None:
        super().__init__()
        self._columns = columns

    def __missing__(self, number: int) -> Sequence[int]:
        with GUARD:
            found = self[number] = tuple(self._columns().beside(number))
            return found


class Frequencies(dict[str, int]):
    """Of a term how many memories hold it, counted when it is first asked for."""

    def __init__(self, searcher: Any, schema: tantivy.Schema, *, dead: bool) -> None:
        super().__init__()
        self._searcher, self._schema, self._dead = searcher, schema, dead

    def __missing__(self, term: str) -> int:
        with GUARD:
            if self._dead:  # tantivy knows the dead as well; counting walks through all postings of the term
                query = tantivy.Query.term_query(self._schema, "terms", term, index_option="freq")
                found = int(self._searcher.search(query, 1, count=True).count)
            else:
                found = int(self._searcher.doc_freq("terms", term))
            self[term] = found
            return found


class Generation:
    """A generation in use. Its searcher keeps its files open, so that it outlives their deletion."""

    def __init__(self, folder: Path, language: str) -> None:
        self.folder = folder.absolute()
        uri = f"{(self.folder / 'files.db').as_uri()}?mode=rw"
        self.db = sqlite3.connect(uri, uri=True, timeout=30, check_same_thread=False)
        try:
            self.db.execute("PRAGMA synchronous = NORMAL")
            _check(self.db, language)
            self.index = tantivy.Index.open(str(self.folder / "postings"))
            whitespace = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
            self.index.register_tokenizer("analysed", whitespace)
            self.schema = self.index.schema
            self.pack = Pack(self.folder / "texts")
            self.totals = Totals(-1, 0, 0, 0, -1)
            self.reload()
        except BaseException:
            self.db.close()
            raise

    def reload(self) -> None:
        """See what has been committed since."""
        totals = Totals(*next(self.db.execute("SELECT memories, terms, links, dead, version FROM totals")))
        if totals.version != self.totals.version:
            self.index.reload()
            self.searcher: Any = self.index.searcher()  # its stubs lack the count
            self.languages: Sequence[str] | None = None
            self.frequencies = Frequencies(self.searcher, self.schema, dead=totals.dead > 0)
            self.fillers: dict[tuple[object, ...], tuple[list[tuple[int, float]], int]] = {}
            self.queries: dict[tuple[str, float], tantivy.Query] = {}
            self.alike: dict[str, Alike] = {}
            self.paths: dict[int, str] = {}
            self.links: dict[int, list[int]] = {}
            self.beside = Beside(lambda: self.columns)
            self.laid: dict[int, str] = {}
            self.vocabulary: dict[str, Sequence[str]] = {}
            self.memories: dict[int, Memory] = {}
            self.forget_columns()
            self.totals = totals  # at last, so that what Ctrl-C cuts short is done again

    @cached_property
    def columns(self) -> Columns:
        """The arrays as they were last committed."""
        return Columns(dict(self.db.execute("SELECT name, data FROM columns")))

    def forget_columns(self) -> None:
        """Read the arrays again when they are next asked for: what was done to them was not committed."""
        self.__dict__.pop("columns", None)

    def close(self) -> None:
        """Let go of the files."""
        self.db.close()
        self.pack.close()


def make(folder: Path, language: str) -> None:
    """Make an empty generation in `folder`."""
    postings = private_folder(folder / "postings")
    schema = tantivy.SchemaBuilder()
    schema.add_integer_field("id", indexed=True, fast=True)  # tantivy deletes by signed numbers only
    schema.add_text_field("terms", tokenizer_name="analysed", index_option="freq")
    tantivy.Index(schema.build(), path=str(postings))
    Pack.make(folder / "texts")
    with closing(sqlite3.connect(folder / "files.db")) as db:
        db.execute(f"PRAGMA page_size = {PAGE}")
        db.execute("PRAGMA journal_mode = WAL")
        db.executescript(_TABLES)
        with db:
            db.execute("INSERT INTO totals VALUES (0, 0, 0, 0, 0, ?)", (language,))
            db.executemany("INSERT INTO columns VALUES (?, ?)", Columns().packed())


def _check(db: sqlite3.Connection, language: str) -> None:
    if next(db.execute("PRAGMA user_version")) != (SCHEMA,):
        raise DamagedError("made by another version")
    if next(db.execute("SELECT language FROM totals")) != (language,):
        raise DamagedError("made for another language")

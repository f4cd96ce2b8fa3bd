"""What is written into the index in one go: texts and postings as they come, and at the end the rows.

Nobody sees any of it before the end. What is under way is then noted first; the texts are put on disk and
tantivy is committed, and SQLite after both.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Sized
from typing import Any, NamedTuple, TypeVar

import tantivy

from vault_mind.deflated import deflated
from vault_mind.generation import GUARD, Generation
from vault_mind.keyed import CHATS, LINKS, STEMS, Pair
from vault_mind.memory import Memory
from vault_mind.ranking import link_targets
from vault_mind.rows import ABSENT, Label, Row, key, stem_key

HEAP = 50_000_000  # bytes that tantivy may use while writing
PART = 500  # values that a statement is given at a time: SQLite bounds its variables
MANY = 5_000  # rows from which on it pays to store them while tantivy commits, and to pack arrays tightly

_INSERT = "INSERT OR REPLACE INTO held VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_COUNT = (
    "UPDATE totals SET memories = memories + ?, terms = terms + ?, links = links + ?, dead = ?, version = version + 1"
)
_OLD = "SELECT id, path, start, size, length FROM files WHERE id IN ({})"
_IN_TIME = "SELECT id, made IS NOT NULL, made, path FROM files WHERE id IN ({})"
_NEW_PLACE = "INSERT INTO places VALUES (NULL, ?)"
_NOTE_FOLDER = "INSERT OR REPLACE INTO folders VALUES (?, ?)"
_FORGET_FOLDER = "DELETE FROM folders WHERE path = ?"

T = TypeVar("T")
Numbered = tuple[int, Row]


class Kept(NamedTuple):
    """What is kept of a row until the end: its number, where its text stands, and all of it but text and terms."""

    number: int
    start: int
    size: int
    path: str
    fault: str | None
    conflict: str | None
    length: int
    state: int
    stem: int
    label: Label
    tags: str
    made: float | None
    chat: int | None
    links: tuple[int, ...]


class Batch:
    """One such, in a generation; with the lock of all writers held. Every method may raise DamagedError.

    A call that Ctrl-C cuts short can be made again.
    """

    def __init__(self, opened: Generation) -> None:
        with GUARD:
            self._opened = opened
            self._last = _last(opened)
            self._writer: Any = opened.index.writer(HEAP, 1)
        self._kept: list[Kept] = []
        self._broken = False  # whether postings may have been added that `_kept` does not know

    def take(self, new: "list[Numbered | None]") -> None:
        """Write texts and postings of those of `new` that were not taken yet, and let go of them there.

        `new` is the same list in each call, longer by what came since.
        """
        with GUARD:
            done = len(self._kept)
            fresh = [one for one in new[done:] if one]
            if fresh:
                self._write(fresh)
            new[done:] = [None] * (len(new) - done)

    def commit(self, gone: Sequence[int], listings: Mapping[str, bytes | None]) -> None:
        """Make it last, take out `gone` ones, and note `listings` (None: no such folder)."""
        with GUARD:
            self._commit(gone, listings)

    def close(self) -> None:
        """Let go of tantivy's lock; what was not committed is forgotten."""
        self._writer = None

    def _write(self, fresh: Sequence[Numbered]) -> None:
        starts = self._opened.pack.add(row.text for _, row in fresh)
        again, self._broken = self._broken, True
        for number, row in fresh:
            if number <= self._last or again:
                self._writer.delete_documents_by_term("id", number)
            self._writer.add_document(_document(number, row.terms))
        kept = list(map(_kept, fresh, starts))
        self._kept += kept
        self._broken = False

    def _commit(self, gone: Sequence[int], listings: Mapping[str, bytes | None]) -> None:
        kept = {one.number: None for one in self._kept}
        gone = [number for number in gone if number not in kept]  # a folder that became a link, and the same by it
        numbers = [*kept, *gone]
        opened = self._opened
        self._last = _last(opened)  # a commit that was cut short may have been one
        if numbers:
            with opened.db as db:
                db.executemany("INSERT OR IGNORE INTO pending VALUES (?)", ((number,) for number in numbers))
        try:
            with opened.db as db:
                db.execute("BEGIN IMMEDIATE")
                db.executemany(_FORGET_FOLDER, [(name,) for name, packed in listings.items() if packed is None])
                noted = [(name, deflated(listing)) for name, listing in listings.items() if listing is not None]
                db.executemany(_NOTE_FOLDER, noted)
                if numbers:
                    change = self._both(numbers, gone)
                    db.execute(_COUNT, (*change, dead(opened)))
        except BaseException:  # Ctrl-C among them: the arrays must not be ahead of the rows
            opened.forget_columns()
            raise
        if numbers:
            opened.reload()

    def _both(self, numbers: Sequence[int], gone: Sequence[int]) -> tuple[int, int, int]:
        """Texts and postings on disk, and the rows in the transaction that is open; the change of the totals."""
        if len(self._kept) < MANY:
            self._last_postings(gone)
            return self._replace(numbers)
        meanwhile = _Meanwhile(lambda: self._last_postings(gone))
        try:
            return self._replace(numbers)
        finally:
            meanwhile.end()

    def _last_postings(self, gone: Sequence[int]) -> None:
        writer = self._writer
        if not writer:  # committed before Ctrl-C came
            return
        for number in gone:
            writer.delete_documents_by_term("id", number)
        if self._kept:
            self._opened.pack.flush()
        writer.commit()
        self._writer = None
        writer.wait_merging_threads()

    def _replace(self, numbers: Sequence[int]) -> tuple[int, int, int]:
        """In the transaction that is open: rows, links and arrays; the change of memories, terms and links."""
        db, columns, kept = self._opened.db, self._opened.columns, self._kept
        db.execute("DELETE FROM pending")
        known = [number for number in numbers if number <= self._last]
        old = [row for part in parts(known) for row in db.execute(marked(_OLD, part), part)]
        columns.drop_texts(start for _, _, start, _, _ in old)
        columns.add_texts([one.number for one in kept], [one.start for one in kept])
        stems, links, left = self._forget(old)
        chats, first = self._chats(left, set(known))
        columns.leave_chats(known)
        columns.set_states((number, ABSENT) for number in known)
        columns.set_states((one.number, one.state) for one in kept)
        label, place = _Labels(self._opened), _Places(self._opened)
        rows = (
            (o.number, place[folder], _name(name), o.start, o.size, o.length, label[o.label], o.tags, o.made)
            for o in kept
            for folder, slash, name in (o.path.rpartition("/"),)
        )
        db.executemany(_INSERT, rows)
        odd = [(one.number, one.fault, one.conflict) for one in kept if one.fault or one.conflict]
        db.executemany("INSERT INTO odd VALUES (?, ?, ?)", odd)
        STEMS.change(db, stems, ((one.stem, one.number) for one in kept))
        more = LINKS.change(db, links, ((target, one.number) for one in kept for target in one.links))
        CHATS.change(db, first, self._laid_down(chats))
        db.executemany("INSERT OR REPLACE INTO columns VALUES (?, ?)", columns.packed(tight=len(kept) >= MANY))
        return len(kept) - len(old), sum(o.length for o in kept) - sum(o[4] for o in old), more

    def _forget(self, old: Sequence[tuple[int, str, int, int, int]]) -> tuple[list[Pair], list[Pair], set[int]]:
        """Take out the rows that are replaced or gone; the pairs of their stems and links, and the chats they leave."""
        db, pack = self._opened.db, self._opened.pack
        numbers = [(row[0],) for row in old]
        links, chats = list[Pair](), set[int]()
        for number, path, start, size, _ in old:
            memory = Memory(path, pack.text(start, size))
            links += [(key(name), number) for name in link_targets(memory)]
            chats |= {key(memory.chat)} if memory.chat else set()
        for table in ("held", "odd", "meanings"):
            db.executemany(f"DELETE FROM {table} WHERE id = ?", numbers)  # noqa: S608  # our own words
        return [(stem_key(row[1]), row[0]) for row in old], links, chats

    def _chats(self, left: Collection[int], leaving: Collection[int]) -> tuple[dict[int, list[int]], list[Pair]]:
        """Of each chat that changes its members that stay, and those that come; and what `chats` holds of them."""
        columns = self._opened.columns
        coming = [(one.chat, one.number) for one in self._kept if one.chat is not None]
        first = CHATS.under(self._opened.db, {*left, *(chat for chat, _ in coming)})
        chats = {chat: [n for n in columns.chat_of(number) if n not in leaving] for chat, number in first}
        for chat, number in coming:
            chats.setdefault(chat, []).append(number)
        return chats, first

    def _laid_down(self, chats: Mapping[int, list[int]]) -> list[Pair]:
        """Put the members of each chat next to each other, in time; each chat with the first of them."""
        db, columns = self._opened.db, self._opened.columns
        times = {
            one.number: (one.made is not None, one.made or 0.0, one.path) for one in self._kept if one.chat is not None
        }
        others = [number for members in chats.values() for number in members if number not in times]
        for part in parts(others):
            found = db.execute(marked(_IN_TIME, part), part)
            times |= {number: (dated, made or 0.0, path) for number, dated, made, path in found}
        for members in chats.values():
            members.sort(key=times.__getitem__)
        columns.set_chats(chats.values())
        return [(chat, members[0]) for chat, members in chats.items() if members]


class _Labels(dict[Label, int]):
    """The number of each label; one that is new gets one."""

    def __init__(self, opened: Generation) -> None:
        super().__init__()
        self._db = opened.db

    def __missing__(self, label: Label) -> int:
        where = "kind = ? AND source = ? AND lang = ? AND pinned = ?"
        found = self._db.execute(f"SELECT id FROM labels WHERE {where}", label).fetchone()  # noqa: S608  # our own words
        self[label] = found[0] if found else self._new(label)
        return self[label]

    def _new(self, label: Label) -> int:
        return self._db.execute("INSERT INTO labels VALUES (NULL, ?, ?, ?, ?)", label).lastrowid or 0


class _Places(dict[str, int]):
    """The number of each folder, which is given without its last slash; one that is new gets one."""

    def __init__(self, opened: Generation) -> None:
        super().__init__()
        self._db = opened.db

    def __missing__(self, folder: str) -> int:
        told = f"{folder}/" if folder else ""
        found = self._db.execute("SELECT id FROM places WHERE folder = ?", (told,)).fetchone()
        self[folder] = found[0] if found else self._db.execute(_NEW_PLACE, (told,)).lastrowid or 0
        return self[folder]


def _name(name: str) -> str:
    """A file's name as `held` keeps it."""
    return name[:-3] if name.endswith(".md") else f"{name}/"


class _Meanwhile:
    """Work in a thread of its own."""

    def __init__(self, work: Callable[[], None]) -> None:
        from threading import Thread  # late: a search writes nothing

        self._work = work
        self._error: BaseException | None = None
        self._thread = Thread(target=self._run)
        self._thread.start()

    def end(self) -> None:
        """Wait until it is done. Raises what it raised."""
        self._thread.join()
        if self._error:
            raise self._error

    def _run(self) -> None:
        try:
            self._work()
        except BaseException as error:  # tantivy's panic is no Exception; who waits for us is told
            self._error = error


def parts(values: Sequence[T]) -> Iterator[Sequence[T]]:
    """`values` in parts that SQLite takes as variables of one statement."""
    return (values[start : start + PART] for start in range(0, len(values), PART))


def marked(statement: str, values: Sized) -> str:
    """`statement` with a question mark for each of `values` in place of its braces."""
    return statement.format(",".join("?" * len(values)))


def dead(opened: Generation) -> int:
    """How many postings belong to nobody any more, by tantivy's own account."""
    import json  # late: only a change is weighed

    told = json.loads((opened.folder / "postings" / "meta.json").read_bytes())
    return sum((segment["deletes"] or {}).get("num_deleted_docs", 0) for segment in told["segments"])


def write(index: tantivy.Index, gone: Iterable[int] | None, new: Iterable[tuple[int, str]]) -> None:
    """Commit postings for `new` in place of those of `gone`; None stands for all."""
    writer = index.writer(HEAP, 1)
    try:
        if gone is None:
            writer.delete_all_documents()
        for number in gone or ():
            writer.delete_documents_by_term("id", number)
        for number, found in new:
            writer.add_document(_document(number, found))
        writer.commit()
        writer.wait_merging_threads()
    finally:
        del writer  # with its lock, which a traceback would keep alive


def _document(number: int, terms: str) -> tantivy.Document:
    document = tantivy.Document(terms=terms)
    document.add_integer("id", number)
    return document


def _kept(numbered: Numbered, start: int) -> Kept:
    number, row = numbered
    return Kept._make((number, start, len(row.text), *row[2:]))


def _last(opened: Generation) -> int:
    return next(opened.db.execute("SELECT max(id) FROM held"))[0] or 0

"""Numbers by the key of a name, many to a row of SQLite: a pair takes 6 to 8 bytes, where a row of its own takes 16."""

import sqlite3
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

REST = 5  # bytes of a key that stand with its pair
PART = 500  # rows that a statement is given at a time: SQLite bounds its variables

Pair = tuple[int, int]


class Keyed(NamedTuple):
    """A table of pairs, key and number, in which each stands once.

    The `shift` lowest bits of a key, at most 40, stand with its pair; those above say in which row that is. Every
    method raises ValueError where the table is damaged.
    """

    name: str
    shift: int

    @property
    def made(self) -> str:
        """The SQL that makes it."""
        return f"CREATE TABLE {self.name} (part INTEGER PRIMARY KEY, pairs BLOB);"

    def all(self, db: sqlite3.Connection) -> Iterator[Pair]:
        """Every pair."""
        for part, packed in db.execute(f"SELECT part, pairs FROM {self.name}"):  # noqa: S608  # our own words
            yield from self._unpacked(part, _sound(packed))

    def under(self, db: sqlite3.Connection, keys: Iterable[int]) -> list[Pair]:
        """Of each of `keys` the numbers that stand under it, as pairs."""
        wanted: dict[int, list[int]] = {}
        for key in set(keys):
            wanted.setdefault(key >> self.shift, []).append(key)
        held = self._held(db, wanted)
        return [pair for part, packed in held.items() for key in wanted[part] for pair in self._of(key, packed)]

    def change(self, db: sqlite3.Connection, gone: Iterable[Pair], new: Iterable[Pair]) -> int:
        """Take out the pairs that are `gone`, then put in the `new` ones; how many more there are now."""
        changes: dict[int, tuple[list[Pair], list[Pair]]] = {}
        for place, some in enumerate((gone, new)):
            for pair in some:
                changes.setdefault(pair[0] >> self.shift, ([], []))[place].append(pair)
        held = self._held(db, changes)
        more, stored = 0, list[tuple[int, bytes]]()
        for part, (less, further) in sorted(changes.items()):
            before = set(self._unpacked(part, held[part])) if part in held else set()
            after = before.difference(less).union(further)
            if after != before:
                more += len(after) - len(before)
                stored.append((part, self._packed(after)))
        db.executemany(f"INSERT OR REPLACE INTO {self.name} VALUES (?, ?)", stored)  # noqa: S608  # our own words
        return more

    def _held(self, db: sqlite3.Connection, parts: Collection[int]) -> dict[int, bytes]:
        """The pairs of those rows, packed; rows that are not there are left out."""
        every, held = list(parts), dict[int, bytes]()
        for start in range(0, len(every), PART):
            some = every[start : start + PART]
            marks = ",".join("?" * len(some))
            statement = f"SELECT part, pairs FROM {self.name} WHERE part IN ({marks})"  # noqa: S608  # our own words
            held |= {part: _sound(packed) for part, packed in db.execute(statement, some)}
        return held

    def _packed(self, some: Collection[Pair]) -> bytes:
        """How many bytes a number takes; then of each pair, ascending, what is left of its key, and its number."""
        width = max(1, (max((number for _, number in some), default=0).bit_length() + 7) // 8)
        mask, bits, size = (1 << self.shift) - 1, 8 * width, REST + width
        whole = sorted((key & mask) << bits | number for key, number in some)
        return bytes((width,)) + b"".join([value.to_bytes(size, "big") for value in whole])

    def _unpacked(self, part: int, packed: bytes) -> Iterator[Pair]:
        first, size = part << self.shift, REST + packed[0]
        for at in range(1, len(packed), size):
            split = at + REST
            yield first + int.from_bytes(packed[at:split], "big"), int.from_bytes(packed[split : at + size], "big")

    def _of(self, key: int, packed: bytes) -> Iterator[Pair]:
        rest, size = (key & (1 << self.shift) - 1).to_bytes(REST, "big"), REST + packed[0]
        at = packed.find(rest, 1)
        while at >= 0:
            if at % size == 1:  # else it is the end of one pair and the beginning of the next
                yield key, int.from_bytes(packed[at + REST : at + size], "big")
            at = packed.find(rest, at + 1)


# So that of 100,000 memories a few dozen pairs stand in a row; more in one would leave pages half empty.
STEMS, LINKS, CHATS = Keyed("stems", 36), Keyed("links", 37), Keyed("chats", 38)


def _sound(packed: object) -> bytes:
    if not isinstance(packed, bytes) or not packed or not packed[0] or (len(packed) - 1) % (REST + packed[0]):
        raise ValueError("pairs of keys and numbers are none")
    return packed

"""Numbers by the key of a name, many to a row of SQLite: a pair takes 6 to 8 bytes, where a row of its own takes 16."""

import sqlite3
from collections.abc import Collection, Iterable, Iterator

SHIFT = 37  # bits of a key that stand with its pair; the 10 before them say in which row that is
REST = 5  # bytes that hold them
PART = 500  # rows that a statement is given at a time: SQLite bounds its variables

Pair = tuple[int, int]


def table(name: str) -> str:
    """The SQL that makes a table of pairs."""
    return f"CREATE TABLE {name} (part INTEGER PRIMARY KEY, pairs BLOB);"


def under(db: sqlite3.Connection, name: str, keys: Iterable[int]) -> list[Pair]:
    """Of each of `keys` the numbers that stand under it, as pairs. Raises ValueError where the table is damaged."""
    wanted: dict[int, list[int]] = {}
    for key in set(keys):
        wanted.setdefault(key >> SHIFT, []).append(key)
    held = _held(db, name, wanted)
    return [pair for part, packed in held.items() for key in wanted[part] for pair in _under(key, packed)]


def pairs(db: sqlite3.Connection, name: str) -> Iterator[Pair]:
    """All of the table. Raises ValueError where it is damaged."""
    for part, packed in db.execute(f"SELECT part, pairs FROM {name}"):  # noqa: S608  # our own words
        yield from _unpacked(part, _sound(packed))


def change(db: sqlite3.Connection, name: str, gone: Iterable[Pair], new: Iterable[Pair]) -> int:
    """Take out the pairs that are `gone`, then put in the `new` ones; how many more there are now.

    Raises ValueError where the table is damaged.
    """
    changes: dict[int, tuple[list[Pair], list[Pair]]] = {}
    for place, some in enumerate((gone, new)):
        for pair in some:
            changes.setdefault(pair[0] >> SHIFT, ([], []))[place].append(pair)
    held = _held(db, name, changes)
    more, stored = 0, list[tuple[int, bytes]]()
    for part, (less, further) in sorted(changes.items()):
        before = set(_unpacked(part, held[part])) if part in held else set()
        after = before.difference(less).union(further)
        if after != before:
            more += len(after) - len(before)
            stored.append((part, _packed(after)))
    db.executemany(f"INSERT OR REPLACE INTO {name} VALUES (?, ?)", stored)  # noqa: S608  # our own words
    return more


def _held(db: sqlite3.Connection, name: str, parts: Collection[int]) -> dict[int, bytes]:
    """The pairs of those rows, packed; rows that are not there are left out."""
    every, held = list(parts), dict[int, bytes]()
    for start in range(0, len(every), PART):
        some = every[start : start + PART]
        marks = ",".join("?" * len(some))
        statement = f"SELECT part, pairs FROM {name} WHERE part IN ({marks})"  # noqa: S608  # our own words
        held |= {part: _sound(packed) for part, packed in db.execute(statement, some)}
    return held


def _packed(some: Collection[Pair]) -> bytes:
    """Ascending: after a byte that says how many bytes a number takes, of each pair the rest of its key and its number."""
    width = max(1, (max((number for _, number in some), default=0).bit_length() + 7) // 8)
    mask, bits, size = (1 << SHIFT) - 1, 8 * width, REST + width
    whole = sorted((key & mask) << bits | number for key, number in some)
    return bytes((width,)) + b"".join([value.to_bytes(size, "big") for value in whole])


def _unpacked(part: int, packed: bytes) -> Iterator[Pair]:
    size = REST + packed[0]
    first = part << SHIFT
    for at in range(1, len(packed), size):
        split = at + REST
        yield first + int.from_bytes(packed[at:split], "big"), int.from_bytes(packed[split : at + size], "big")


def _under(key: int, packed: bytes) -> Iterator[Pair]:
    rest, size = (key & (1 << SHIFT) - 1).to_bytes(REST, "big"), REST + packed[0]
    at = packed.find(rest, 1)
    while at >= 0:
        if at % size == 1:  # else it is the end of one pair and the beginning of the next
            yield key, int.from_bytes(packed[at + REST : at + size], "big")
        at = packed.find(rest, at + 1)


def _sound(packed: object) -> bytes:
    if not isinstance(packed, bytes) or not packed or not packed[0] or (len(packed) - 1) % (REST + packed[0]):
        raise ValueError("pairs of keys and numbers are none")
    return packed

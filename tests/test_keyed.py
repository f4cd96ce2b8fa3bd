"""Numbers by the key of a name: as a plain set of pairs would hold them, whatever comes and goes; damage is noticed."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_mind.keyed import CHATS, LINKS, PART, STEMS, Keyed, Pair
from vault_mind.rows import key

LARGEST = 2**47 - 1  # of a key
KEYS = st.one_of(
    st.integers(0, LARGEST),
    st.integers(0, 5),
    st.sampled_from([1 << 36, 1 << 37, (1 << 36) | 1, LARGEST, LARGEST - 1, 0x0101010101, 0x010101010101]),
)
NUMBERS = st.one_of(st.integers(1, 300), st.sampled_from([1, 255, 256, 65_535, 65_536, 2**31, 2**40]))
PAIRS = st.lists(st.tuples(KEYS, NUMBERS), max_size=30)
TABLES = pytest.mark.parametrize("table", [STEMS, LINKS, CHATS])


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    """With all three tables, empty."""
    with closing(sqlite3.connect(":memory:")) as made:
        for table in (STEMS, LINKS, CHATS):
            made.executescript(table.made)
        yield made


@TABLES
@given(changes=st.lists(st.tuples(PAIRS, PAIRS), max_size=4))
def test_it_holds_what_a_set_of_pairs_would_hold(table: Keyed, changes: list[tuple[list[Pair], list[Pair]]]) -> None:
    held: set[Pair] = set()
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(table.made)
        for gone, new in changes:
            before = len(held)
            held = held.difference(gone).union(new)

            assert table.change(db, gone, new) == len(held) - before
            assert sorted(table.all(db)) == sorted(held)

        asked = [pair[0] for gone, new in changes for pair in (*gone, *new)]
        assert sorted(table.under(db, [*asked, 77])) == sorted(p for p in held if p[0] in {*asked, 77})


@TABLES
def test_more_rows_than_a_statement_takes_are_asked_at_once(db: sqlite3.Connection, table: Keyed) -> None:
    pairs = [(key(f"name {number}"), number) for number in range(1, 5_000)]

    assert table.change(db, [], pairs) == len(pairs)

    rows = db.execute(f"SELECT count(*) FROM {table.name}").fetchone()[0]
    assert rows > (0 if table is CHATS else PART)
    assert sorted(table.under(db, (pair[0] for pair in pairs))) == sorted(pairs)
    assert table.change(db, pairs, []) == -len(pairs)
    assert list(table.all(db)) == []


def test_a_pair_that_goes_and_comes_stays_and_is_not_written(db: sqlite3.Connection) -> None:
    STEMS.change(db, [], [(7, 1), (7, 2)])
    before = db.total_changes

    assert STEMS.change(db, [(7, 1), (9, 9)], [(7, 1)]) == 0

    assert db.total_changes == before
    assert sorted(STEMS.under(db, [7])) == [(7, 1), (7, 2)]


def test_the_end_of_one_pair_and_the_beginning_of_the_next_are_no_pair(db: sqlite3.Connection) -> None:
    inside = 0x02_00_00_00_00  # what stands over the seam of the two pairs below
    LINKS.change(db, [], [(0x01_00_00_00_01, 1), (0x01_00_00_00_02, 2), (0x01_02_00_00_00, 3), (5, 2)])

    assert LINKS.under(db, [inside]) == []
    assert LINKS.under(db, [5]) == [(5, 2)]


@pytest.mark.parametrize("spoilt", [None, 7, "text", b"", b"\0", b"\x01", b"\x01abc", b"\xff\xfe" * 9])
def test_a_row_that_holds_no_pairs_is_noticed_or_empty(db: sqlite3.Connection, spoilt: object) -> None:
    STEMS.change(db, [], [(7, 1)])
    db.execute("UPDATE stems SET pairs = ?", (spoilt,))

    if spoilt == b"\x01":  # which says of no pair that it is there
        assert (list(STEMS.all(db)), STEMS.under(db, [7])) == ([], [])
        return
    for ask in (lambda: list(STEMS.all(db)), lambda: STEMS.under(db, [7]), lambda: STEMS.change(db, [], [(7, 2)])):
        with pytest.raises(ValueError, match="none"):
            ask()


def test_a_pair_takes_few_bytes() -> None:
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(STEMS.made)

        STEMS.change(db, [], [(key(f"m{number:06}"), number) for number in range(1, 20_001)])

        taken = db.execute("SELECT sum(length(pairs)) FROM stems").fetchone()[0]
        assert taken < 20_000 * 7.2

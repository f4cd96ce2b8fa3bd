"""The arrays by number: who stands beside whom in a chat, whose text is where, and that damage is noticed."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import THOROUGH
from vault_mind.columns import FEW_GAPS, Columns, ColumnsError
from vault_mind.rows import ABSENT, ASIDE, CURRENT, EXPIRING


def beside(columns: Columns, number: int) -> list[int]:
    """Who stands beside `number`."""
    return list(columns.beside(number))


def opened_again(columns: Columns) -> Columns:
    """The same arrays as another process reads them."""
    return Columns(dict(columns.packed()))


def test_of_a_chat_the_two_before_and_the_two_after_are_beside_one() -> None:
    columns = Columns()

    columns.set_chat([7, 3, 9, 1, 4])

    assert beside(columns, 9) == [7, 3, 1, 4]
    assert beside(columns, 7) == [3, 9]
    assert beside(columns, 4) == [9, 1]


def test_two_chats_never_meet() -> None:
    columns = Columns()

    columns.set_chat([1, 2])
    columns.set_chat([3, 4])

    assert [beside(columns, number) for number in (1, 2, 3, 4)] == [[2], [1], [4], [3]]


@pytest.mark.parametrize("numbers", [[], [5]])
def test_alone_in_a_chat_one_has_nobody_beside_it(numbers: list[int]) -> None:
    columns = Columns()

    columns.set_chat(numbers)

    assert beside(columns, 5) == []


def test_whoever_left_a_chat_is_beside_nobody() -> None:
    columns = Columns()
    columns.set_chat([1, 2, 3])

    columns.leave_chats([2, 99])
    columns.set_chat([1, 3])

    assert [beside(columns, number) for number in (1, 2, 3, 99)] == [[3], [], [1], []]


@given(st.lists(st.tuples(st.integers(0, 2), st.lists(st.integers(1, 12), unique=True, max_size=6)), max_size=8))
@settings(max_examples=30 * THOROUGH)
def test_whatever_is_laid_down_the_neighbours_are_those_of_the_chats(steps: list[tuple[int, list[int]]]) -> None:
    columns, chats = Columns(), dict[int, list[int]]()
    disk = dict(columns.packed())

    for chat, numbers in steps:
        left = set(numbers) | set(chats.get(chat, ()))
        chats = {name: [n for n in held if n not in left] for name, held in chats.items()} | {chat: numbers}
        columns = Columns(disk)
        columns.leave_chats(left)
        for held in chats.values():
            columns.set_chat(held)
        disk |= dict(columns.packed())

    for numbers in chats.values():
        for at, number in enumerate(numbers):
            assert beside(Columns(disk), number) == numbers[max(at - 2, 0) : at] + numbers[at + 1 : at + 3]


# Once: a chat that was laid down anew with each edit of one of its memories left its old places behind for ever.
def test_a_chat_that_is_laid_down_again_and_again_takes_no_more_room() -> None:
    columns, numbers = Columns(), list(range(1, 101))
    columns.set_chat([201, 202])

    for _ in range(100):
        columns.set_chat(numbers)
        list(columns.packed())

    assert len(columns["order"]) < 10 * FEW_GAPS
    assert beside(columns, 50) == [48, 49, 51, 52]
    assert beside(columns, 100) == [98, 99]
    assert beside(columns, 201) == [202]


def test_a_state_that_was_never_set_is_that_of_nobody() -> None:
    columns = Columns()

    columns.set_state(4, CURRENT)

    assert list(columns["state"]) == [ABSENT] * 4 + [CURRENT]


def test_those_are_hidden_that_are_superseded_or_may_have_expired() -> None:
    columns = Columns()
    for number, state in enumerate((CURRENT, ASIDE, EXPIRING, ABSENT, ASIDE), 1):
        columns.set_state(number, state)

    assert columns.hidden == 3


def test_a_text_that_was_dropped_is_nobody_s() -> None:
    columns = Columns()
    columns.add_texts([3, 1, 2], [0, 10, 5_000_000_000])

    columns.drop_texts([10])

    assert list(columns["owners"]) == [3, 0, 2]
    assert list(columns["starts"]) == [0, 10, 5_000_000_000]


def test_only_what_was_changed_is_written_again() -> None:
    columns = opened_again(Columns())
    assert list(columns.packed()) == []

    columns.set_state(1, CURRENT)

    assert [name for name, _ in columns.packed()] == ["state"]
    assert list(columns.packed()) == []


def test_what_was_packed_is_the_same_when_it_is_opened() -> None:
    columns = Columns()
    columns.set_chat([1, 2, 3])
    columns.set_state(3, EXPIRING)
    columns.add_texts([1, 2, 3], [0, 4, 8])

    again = opened_again(columns)

    for name in ("state", "spot", "order", "starts", "owners"):
        assert list(again[name]) == list(columns[name])


def filled(count: int, seed: int) -> Columns:
    """Columns of so many memories, with chats, gaps and texts of all lengths."""
    chosen = random.Random(seed)
    columns = Columns()
    columns.set_states((number, chosen.choice((CURRENT, CURRENT, ASIDE, ABSENT))) for number in range(1, count + 1))
    numbers = list(range(1, count + 1))
    chosen.shuffle(numbers)
    columns.set_chats([numbers[start : start + 6] for start in range(0, count // 2, 6)])
    starts = [0]
    for _ in range(count):
        starts.append(starts[-1] + chosen.choice((1, 40, 300, 70_000)))
    columns.add_texts(numbers, starts[:-1])
    columns.drop_texts(starts[3:-1:7])
    return columns


@pytest.mark.parametrize("count", [0, 1, 2, 40, 3_000, 70_000])
def test_what_was_packed_tightly_is_the_same_when_it_is_opened_and_no_longer(count: int) -> None:
    columns = filled(count, count) if count else Columns()
    plain = dict(filled(count, count).packed() if count else Columns().packed())

    tight = dict(columns.packed(tight=True))

    again = Columns(tight)
    for name in ("state", "spot", "order", "starts", "owners"):
        assert list(again[name]) == list(columns[name]) == list(Columns(plain)[name])
        assert len(tight[name]) <= len(plain[name])
    assert list(again.packed()) == []


def test_of_memories_in_the_order_of_their_chats_less_than_half_is_left() -> None:
    def made() -> Columns:
        columns = Columns()
        columns.set_states((number, CURRENT) for number in range(1, 60_001))
        columns.set_chats([range(start, start + 6) for start in range(1, 60_001, 6)])
        columns.add_texts(range(1, 60_001), range(0, 60_000 * 300, 300))
        return columns

    plain, tight = dict(made().packed()), dict(made().packed(tight=True))

    assert sum(map(len, tight.values())) < sum(map(len, plain.values())) / 2


@pytest.mark.parametrize("name", ["state", "spot", "order", "starts"])
def test_damage_to_what_was_packed_tightly_is_noticed(name: str) -> None:
    packed = dict(filled(400, 1).packed(tight=True))
    assert len(packed[name]) < len(dict(filled(400, 1).packed())[name])  # it is tight
    data = packed[name]

    for at in range(0, len(data), 7):
        packed[name] = data[:at] + bytes([data[at] ^ 64]) + data[at + 1 :]
        with pytest.raises(ColumnsError):
            Columns(packed)


# Once: an array that was cut or scribbled over was an IndexError in the middle of a search, or a wrong answer.
@pytest.mark.parametrize("name", ["state", "spot", "order", "starts", "owners"])
@pytest.mark.parametrize("how", ["missing", "empty", "cut", "scribbled", "of another type", "nothing"])
def test_damage_is_noticed(name: str, how: str) -> None:
    columns = Columns()
    columns.set_chat([1, 2, 3])
    columns.set_state(3, EXPIRING)
    columns.add_texts([1, 2, 3], [0, 4, 8])
    packed: dict[str, bytes] = dict(columns.packed())
    data, at = packed[name], random.Random(name).randrange(len(packed[name]))

    damaged: dict[str, object] = {
        "missing": None,
        "empty": b"",
        "cut": data[:-3],
        "scribbled": data[:at] + bytes([data[at] ^ 64]) + data[at + 1 :],
        "of another type": data.hex(),
        "nothing": 0,
    }
    packed[name] = damaged[how]  # type: ignore[assignment]  # what SQLite gives where it was scribbled over
    if how == "missing":
        del packed[name]

    with pytest.raises(ColumnsError):
        Columns(packed)

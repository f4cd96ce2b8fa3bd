"""The index's files: what is proposed, known and counted; and what becomes of them when things go wrong."""

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import NOW
from tests.test_index import agrees, generation, is_right, put
from tests.test_search import written
from vault_mind import Index, Vault, batch
from vault_mind.generation import DamagedError, Totals
from vault_mind.memory import parse
from vault_mind.postings import Postings
from vault_mind.ranking import Counted, score, searched_terms
from vault_mind.rows import digest, row

Write = Callable[[str, str | bytes], Path]


@pytest.fixture
def postings(tmp_path: Path) -> Iterator[Postings]:
    """Empty ones."""
    made = Postings(tmp_path / "index", "english")
    made.refresh()
    yield made
    made.close()


def store(postings: Postings, texts: dict[int, str], gone: tuple[int, ...] = ()) -> None:
    """Store memories by number, each in a file of its number."""
    memories = {number: parse(f"{number}.md", text) for number, text in texts.items()}
    postings.store([(number, row(one, "english")) for number, one in memories.items()], gone, {})


def analysed(memory: object) -> list[str]:
    """Terms, as sync gives them."""
    return searched_terms(memory, "english")  # type: ignore[arg-type]


def test_what_was_stored_is_proposed_known_and_read(postings: Postings) -> None:
    store(postings, {1: "tea", 2: "tea and milk", 3: "coffee"})

    hits, whole = postings.propose({"tea": 1.0, "milk": 1.0}, 10)

    assert [number for number, _ in hits] == [2, 1]
    assert whole
    assert postings.totals == Totals(memories=3, terms=8, links=0, dead=0, version=1)
    assert postings.known(["1.md", "9.md"]) == {"1.md": (1, digest(parse("1.md", "tea")))}
    assert postings.memory(2) == parse("2.md", "tea and milk")
    assert postings.memory(9) is None
    assert postings.numbered([3, 9]) == {3: parse("3.md", "coffee")}
    assert postings.paths([3, 9]) == {3: "3.md"}


def test_what_is_kept_at_hand_is_what_a_reader_finds_who_comes_new(postings: Postings, tmp_path: Path) -> None:
    def asked(of: Postings) -> list[object]:
        numbers = [1, 2, 3, 4]
        known = [of.numbered(numbers), of.paths(numbers), of.linked(numbers), [*map(of.beside, numbers)]]
        return [*known, [*map(of.frequency, ("tea", "milk"))], of.alike("t").within("tee", 1)]

    def read_anew() -> list[object]:
        new = Postings(tmp_path / "index", "english")
        new.refresh()
        found = asked(new)
        new.close()
        return found

    chat = "---\nchat: x\n---\n"
    store(postings, {1: f"{chat}tea [[2]]", 2: f"{chat}milk", 3: "tea"})
    first = asked(postings)
    assert first == asked(postings) == read_anew()

    store(postings, {2: "tea [[3]]", 4: f"{chat}ten"}, (1,))
    second = asked(postings)

    assert all(before != after for before, after in zip(first, second, strict=True))
    assert second == asked(postings) == read_anew()


def test_a_fault_that_is_noted_is_told_with_the_memory_from_then_on(postings: Postings) -> None:
    store(postings, {1: "tea"})
    assert postings.numbered([1])[1].fault is None

    postings.mark_stale({1: "it cannot be read now"})

    assert postings.numbered([1])[1].fault == "it cannot be read now"


def test_more_memories_than_are_kept_at_hand_are_given_all_the_same(
    postings: Postings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vault_mind.postings.KEPT", 3)
    store(postings, {number: f"tea {number}" for number in range(1, 9)})

    for numbers in ([1, 2], [2, 3, 4], [1, 2, 3, 4, 5, 6, 7, 8], [8, 1], [1, 9]):
        assert list(postings.numbered(numbers)) == [number for number in numbers if number < 9]
        assert all(memory.text == f"tea {number}" for number, memory in postings.numbered(numbers).items())


def test_as_many_are_proposed_as_are_asked_for(postings: Postings) -> None:
    store(postings, dict.fromkeys(range(1, 11), "tea"))

    assert [len(postings.propose({"tea": 1.0}, limit).hits) for limit in (0, 1, 9, 10, 11, 10**12)] == [
        1,
        1,
        9,
        10,
        10,
        10,
    ]
    assert [postings.propose({"tea": 1.0}, limit).whole for limit in (9, 10, 11)] == [False, False, True]


def test_only_those_are_proposed_that_hold_what_is_needed_and_are_among_the_given(postings: Postings) -> None:
    store(postings, {1: "tea sugar", 2: "tea milk", 3: "tea sugar milk", 4: "sugar milk"})

    def proposed(**more: object) -> list[int]:
        return sorted(number for number, _ in postings.propose({"tea": 1.0}, 9, **more).hits)  # type: ignore[arg-type]

    assert proposed(needed=[[["sugar"]]]) == [1, 3]
    assert proposed(needed=[[["sugar"], ["milk"]]]) == [1, 2, 3]
    assert proposed(needed=[[["sugar"]], [["milk"]]]) == [3]
    assert proposed(among=[2, 3, 4, 99]) == [2, 3]
    assert proposed(among=[]) == []
    assert dict(postings.propose({"tea": 1.0}, 9, needed=[[["sugar"]]]).hits)[1] == pytest.approx(
        dict(postings.propose({"tea": 1.0}, 9).hits)[1]
    )


def score_of_50(postings: Postings) -> float:
    """What tantivy gives memory 50 for tea."""
    return dict(postings.propose({"tea": 1.0}, 200).hits)[50]


def exact(postings: Postings, frequency: int) -> float:
    """What the reference gives it, where so many memories hold tea."""
    totals = postings.totals
    counts = Counter(analysed(parse("50.md", "tea word50")))
    return score({"tea": 1.0}, counts, {"tea": frequency}, totals.memories, totals.terms / totals.memories)


def test_what_was_replaced_or_is_gone_is_not_counted(postings: Postings) -> None:
    store(postings, {number: f"tea word{number}" for number in range(1, 101)})

    store(postings, {1: "milk", 2: "milk"}, gone=(3, 4))

    assert postings.totals.memories == 98
    assert postings.totals.dead == 4
    assert postings.frequency("tea") == 96
    assert postings.frequency("word1") == 0
    assert all(postings.frequency(f"word{number}") == 1 for number in range(5, 101))
    assert score_of_50(postings) == pytest.approx(exact(postings, 96), rel=0.02)  # the average length is a little off
    assert len(postings.propose({"word1": 1.0}, 9).hits) == 0

    postings.sweep(lambda memory: analysed(memory))
    assert postings.totals.dead == 4  # so few do no harm
    store(postings, {5: "milk", 6: "milk"})
    postings.sweep(lambda memory: analysed(memory))

    assert postings.totals.dead == 0
    assert score_of_50(postings) == pytest.approx(exact(postings, 94), rel=1e-5)
    assert "word1" not in postings.beginning("word1")


def test_the_vocabulary_is_that_of_the_reference(postings: Postings) -> None:
    texts = {1: "tea teas Tee time 猫が好き", 2: "Zürich tea a-b v1.2.3", 3: ""}
    store(postings, texts)
    counted = Counted({term: 1 for number, text in texts.items() for term in analysed(parse(f"{number}.md", text))})

    for prefix in ("", "t", "te", "猫", "z", "x"):
        assert list(postings.beginning(prefix)) == counted.beginning(prefix)
        for length in range(1, 7):
            unknown = prefix[:1] + "e" * length
            assert postings.alike(prefix).within(unknown, 2) == counted.alike(prefix).within(unknown, 2)
    assert list(postings.backwards()) == counted.backwards()


def test_links_go_both_ways_by_the_name_of_the_file(postings: Postings) -> None:
    store(postings, {1: "[[2]] [[nowhere]] [[1]]", 2: "tea", 3: "[[2]] [[2#x]]"})

    assert {number: sorted(others) for number, others in postings.linked([1, 2, 3]).items()} == {
        1: [1, 1, 2],
        2: [1, 3],
        3: [2],
    }
    assert postings.totals.links == 4
    store(postings, {1: "no more"}, gone=(3,))
    assert postings.linked([1, 2, 3]) == {}
    assert postings.totals.links == 0


# Once: a statement with a question mark for each of many thousands was refused, and the index made anew for it.
def test_the_links_of_any_number_can_be_asked_for(postings: Postings) -> None:
    store(postings, {1: "[[2]]", 2: "tea"})

    assert postings.linked(range(1, 70_000)) == {1: [2], 2: [1]}


def test_texts_are_given_with_whom_they_belong_to(postings: Postings) -> None:
    store(postings, {1: "tea", 2: "", 3: "milk"})
    store(postings, {3: "milk and sugar"}, gone=(1,))

    texts, starts, owners = postings.texts()

    assert [(owner, texts[start : texts.find(b"\n", start)]) for start, owner in zip(starts, owners, strict=True)] == [
        (0, b"tea"),
        (2, b""),
        (0, b"milk"),
        (3, b"milk and sugar"),
    ]


def test_meanings_are_noted_of_what_is_as_it_was_read(postings: Postings) -> None:
    store(postings, {1: "tea", 2: "milk", 3: "gone"})
    held = postings.numbered([1, 2, 3])
    assert postings.without_meaning() == [1, 2, 3]
    store(postings, {2: "milk, changed"}, gone=(3,))

    postings.note_meanings({number: (memory, bytes([number]) * 16) for number, memory in held.items()})

    assert postings.meanings([1, 2, 3]) == {1: b"\x01" * 16}
    assert postings.meant([b"\x01" * 16, b"\x03" * 16]) == {1: b"\x01" * 16}
    assert postings.without_meaning(1) == [2]
    store(postings, {1: "tea, changed"})
    assert postings.meanings([1]) == {}


def test_a_store_that_fails_leaves_all_as_it_was(postings: Postings) -> None:
    store(postings, {1: "---\nchat: x\n---\ntea", 2: "---\nchat: x\n---\nmilk"})
    before = {name: list(postings.columns[name]) for name in ("state", "spot", "order", "starts", "owners")}
    one = parse("1.md", "sugar")
    broken = row(one, "english")._replace(made="\ud800")  # type: ignore[arg-type]  # SQLite takes no such text

    with pytest.raises(DamagedError):
        postings.store([(1, broken)], (2,), {})

    assert {name: list(postings.columns[name]) for name in before} == before
    assert [number for (number,) in postings.rows("SELECT id FROM pending")] == [1, 2]
    postings.clear_pending()
    assert postings.totals.memories == 0
    assert list(postings.beginning("")) == [] or postings.frequency("tea") == 0


# Once: a number that no row had yet was looked up in the arrays, and the search ended in an IndexError.
def test_who_searches_between_the_two_commits_of_another_process_meets_no_error(vault: Vault, write: Write) -> None:
    for number in range(5):
        write(f"{number}.md", "tea")
    writing, searching = Index(vault), Index(vault)
    writing.sync()
    opened = writing._postings._open()
    gone, new = 3, 900

    with opened.db as db:
        db.executemany("INSERT INTO pending VALUES (?)", [(gone,), (new,)])
    batch.write(opened.index, [gone], [(new, "tea tea")])

    assert len(searching.ranked("tea", 10, now=NOW)) == 4
    assert agrees(searching, "tea")
    writing.close()
    searching.close()


# --- damage -------------------------------------------------------------------------------------------------------


def filled(vault: Vault) -> Index:
    """An index of memories with chats and links, closed."""
    for number in range(8):
        front = {"chat": str(number % 2), "created_at": f"2026-01-0{number + 1}"}
        put(vault, f"{number}.md", written(front, f"tea number{number} [[{number + 1}]]"))
    put(vault, "pinned.md", "---\npinned: true\n---\ntea coffee tea")
    index = Index(vault)
    index.sync()
    index.close()
    return index


def spoil(index: Index, statement: str, *values: object) -> None:
    """Change the SQLite file of a closed index."""
    db = sqlite3.connect(generation(index) / "files.db")
    with db:
        db.execute(statement, values)
    db.close()


@pytest.mark.parametrize("name", ["state", "spot", "order", "starts", "owners"])
@pytest.mark.parametrize("data", [b"", b"\x07\x00\x00", b"\xff" * 400, None])
def test_arrays_that_are_damaged_make_the_index_anew(vault: Vault, name: str, data: bytes | None) -> None:
    index = filled(vault)

    spoil(index, "UPDATE columns SET data = ? WHERE name = ?", data, name)

    assert is_right(index)
    index.close()


@pytest.mark.parametrize(
    "change",
    [
        *(pytest.param(f"memories = {n}", marks=pytest.mark.storm) for n in ("memories + 1", "0", "-5")),  # 2 s each
        "dead = 3",
        "links = 0",
    ],
)
def test_totals_that_are_wrong_are_put_right_or_do_not_matter(vault: Vault, change: str) -> None:
    index = filled(vault)

    spoil(index, f"UPDATE totals SET {change}")

    if change != "links = 0":  # which nothing tells from a vault without links
        assert is_right(index)
    index.rebuild()
    assert is_right(index)
    index.close()


@pytest.mark.parametrize("table", ["columns", "folders", "links"])
def test_a_table_that_was_emptied_does_no_lasting_harm(vault: Vault, table: str) -> None:
    index = filled(vault)

    spoil(index, f"DELETE FROM {table}")

    if table != "links":
        assert is_right(index)
    index.rebuild()
    assert is_right(index)
    index.close()


@pytest.mark.parametrize("size", [0, 1, 30, -1])
@pytest.mark.parametrize("ask", ["search", "grep", "memories"])
def test_texts_that_were_cut_make_the_index_anew(vault: Vault, size: int, ask: str) -> None:
    index = filled(vault)
    texts = generation(index) / "texts"

    texts.write_bytes(texts.read_bytes()[:size])

    if ask == "search":
        assert agrees(index, "tea number7")
    elif ask == "memories":
        index.sync()
        assert list(index.memories()) == list(vault.memories())
    assert is_right(index)
    index.close()


def test_an_index_of_memories_is_used_while_time_goes_by(vault: Vault) -> None:
    index = filled(vault)

    assert [agrees(index, "tea coffee", now=NOW.replace(year=year)) for year in (2020, 2026, 2030)] == [True] * 3
    index.close()

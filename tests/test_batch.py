"""What is written in one go: seen by nobody before the end, whole after it, and made again where it was cut short."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import vault_mind.batch
from vault_mind.batch import Numbered
from vault_mind.generation import DamagedError
from vault_mind.keyed import CHATS
from vault_mind.memory import parse
from vault_mind.postings import Postings
from vault_mind.rows import Row, row


@pytest.fixture
def postings(tmp_path: Path) -> Iterator[Postings]:
    """Empty ones."""
    made = Postings(tmp_path / "index", "english")
    made.refresh()
    yield made
    made.close()


def numbered(number: int, text: str) -> Numbered:
    """A row of that number, in a file of that number."""
    return number, row(parse(f"{number}.md", text), "english")


def found(postings: Postings, term: str) -> list[int]:
    """The numbers of the memories that hold `term`."""
    return sorted(number for number, _ in postings.propose({term: 1.0}, 99).hits)


def test_what_is_taken_bit_by_bit_is_seen_by_nobody_before_the_end(postings: Postings, tmp_path: Path) -> None:
    new: list[Numbered | None] = [numbered(1, "tea"), numbered(2, "tea and milk")]
    with closing(postings.batch()) as batch:
        batch.take(new)
        new.append(numbered(3, "tea and sugar"))
        batch.take(new)
        other = Postings(tmp_path / "index", "english")
        other.refresh()
        before = found(other, "tea"), other.memory(1), other.totals.memories

        batch.commit([], {})

    other.refresh()
    assert before == ([], None, 0)
    assert found(postings, "tea") == found(other, "tea") == [1, 2, 3]
    assert other.numbered([1, 3]) == {1: parse("1.md", "tea"), 3: parse("3.md", "tea and sugar")}
    assert new == [None, None, None]
    other.close()


def test_what_is_given_up_leaves_nothing(postings: Postings) -> None:
    with closing(postings.batch()) as batch:
        batch.take([numbered(1, "tea")])

    postings.store([numbered(2, "milk")], [], {})

    assert (found(postings, "tea"), found(postings, "milk")) == ([], [2])
    assert postings.totals.memories == 1


class Cut(Row):
    """A row at which Ctrl-C comes the first time that its terms are asked for."""

    came: list[bool]

    @property
    def terms(self) -> str:
        """Its terms, the second time."""
        if not self.came:
            self.came.append(True)
            raise KeyboardInterrupt
        return str(self[1])


@pytest.mark.parametrize("at", [0, 1, 2])
@pytest.mark.parametrize("known", [False, True])
def test_a_take_that_ctrl_c_cuts_short_is_made_again(postings: Postings, at: int, known: bool) -> None:
    if known:
        postings.store([numbered(number, "coffee") for number in (1, 2, 3)], [], {})
    new: list[Numbered | None] = [numbered(number, f"tea number{number}") for number in (1, 2, 3)]
    number, whole = numbered(at + 1, f"tea number{at + 1}")
    cut: Any = Cut._make(whole)
    cut.came = []
    new[at] = (number, cut)

    with closing(postings.batch()) as batch:
        with pytest.raises(KeyboardInterrupt):
            batch.take(new)
        new.append(numbered(4, "tea number4"))
        batch.take(new)
        batch.commit([], {})

    assert found(postings, "tea") == [1, 2, 3, 4]
    assert found(postings, "coffee") == []
    assert [postings.frequency(f"number{number}") for number in (1, 2, 3, 4)] == [1, 1, 1, 1]
    assert postings.totals.memories == 4


def test_a_commit_that_is_made_twice_counts_once(postings: Postings) -> None:
    with closing(postings.batch()) as batch:
        batch.take([numbered(1, "---\nchat: a\n---\ntea [[2]]"), numbered(2, "---\nchat: a\n---\nmilk")])
        for _ in range(2):
            batch.commit([7], {"": b"as it was"})

    assert postings.totals[:3] == (2, sum(len(row.split()) for row in ("1 tea 2", "2 milk")), 1)
    assert list(postings.columns.beside(1)) == [2]
    assert postings.linked([1]) == {1: [2]}
    assert postings.listings() == {"": b"as it was"}


def test_whoever_is_new_and_gone_at_once_stays(postings: Postings) -> None:
    postings.store([numbered(1, "tea"), numbered(2, "tea")], [], {})

    postings.store([numbered(1, "tea and milk")], [1, 2], {})

    assert found(postings, "tea") == [1]
    assert postings.totals.memories == 1


@pytest.mark.parametrize("many", [1, 5_000])
def test_rows_are_the_same_whether_they_are_stored_meanwhile_or_after(
    postings: Postings, monkeypatch: pytest.MonkeyPatch, many: int
) -> None:
    monkeypatch.setattr(vault_mind.batch, "MANY", many)
    texts = [
        f"---\nkind: {'fact' if n % 2 else 'context'}\nchat: c{n % 5}\n---\ntea {n} [[{n + 1}]]" for n in range(40)
    ]

    postings.store([numbered(number, text) for number, text in enumerate(texts, 1)], [], {})
    postings.store([numbered(number, "---\nchat: c1\n---\ntea") for number in (3, 4)], [5, 6], {})

    assert found(postings, "tea") == [number for number in range(1, 41) if number not in (5, 6)]
    assert sorted(postings.columns.chat_of(12)) == sorted([2, 3, 4, 7, 12, 17, 22, 27, 32, 37])
    assert [kind for (kind,) in postings.rows("SELECT DISTINCT kind FROM labels ORDER BY kind")] == [
        "context",
        "fact",
        "note",
    ]


def test_what_goes_wrong_meanwhile_is_told(postings: Postings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vault_mind.batch, "MANY", 1)
    folder = postings.folder / postings.state()[0]

    with closing(postings.batch()) as batch:
        batch.take([numbered(1, "tea")])
        (folder / "texts").unlink()
        with pytest.raises(DamagedError):
            batch.commit([], {})

    with closing(sqlite3.connect(folder / "files.db")) as db:
        assert list(db.execute("SELECT count(*) FROM files")) == [(0,)]


def test_a_chat_whose_last_memory_is_gone_is_forgotten(postings: Postings) -> None:
    postings.store([numbered(1, "---\nchat: a\n---\ntea"), numbered(2, "---\nchat: b\n---\ntea")], [], {})

    postings.store([numbered(3, "---\nchat: b\n---\nmilk")], [1], {})
    postings.store([numbered(2, "no chat any more")], [], {})

    assert [number for _, number in CHATS.all(postings._open().db)] == [3]
    assert list(postings.columns.beside(3)) == []


def test_names_that_share_a_key_do_no_harm_to_what_is_known(postings: Postings) -> None:
    postings.store([numbered(1, "tea"), (2, row(parse("a/1.md", "milk"), "english"))], [], {})

    assert set(postings.known(["1.md"])) == {"1.md"}
    assert postings.named("1") == {"1.md": 1, "a/1.md": 2}


PATHS = ["a.md", "A.MD", "notes/a.md", "notes/A.Md", "notes/2026/a.b.md", "notes/a.md.md", "ünï/tëa.md", "x y/z's.md"]


def test_a_path_comes_back_as_it_was_whatever_its_folder_and_ending(postings: Postings) -> None:
    postings.store([(n, row(parse(path, f"tea {n}"), "english")) for n, path in enumerate(PATHS, 1)], [], {})

    assert postings.paths(range(1, len(PATHS) + 1)) == dict(enumerate(PATHS, 1))
    assert {path: number for path, (number, _) in postings.known(PATHS).items()} == {
        path: number for number, path in enumerate(PATHS, 1)
    }
    assert [memory.path for memory in postings.memories("ORDER BY path")] == sorted(PATHS)


def test_what_is_wrong_with_a_file_is_kept_until_it_is_right(postings: Postings) -> None:
    bad = parse("1.md", "tea", "it is not UTF-8")
    copy = replace(parse("2.md", "tea"), conflict="1.md")
    postings.store([(1, row(bad, "english")), (2, row(copy, "english")), numbered(3, "tea")], [], {})
    assert postings.numbered([1, 2, 3]) == {1: bad, 2: copy, 3: parse("3.md", "tea")}

    postings.mark_stale({2: "it cannot be read now", 3: "it cannot be read now", 9: "nobody"})
    stale = {n: (m.fault, m.conflict) for n, m in postings.numbered([2, 3, 9]).items()}
    postings.store([numbered(number, "milk") for number in (1, 2, 3)], [], {})

    assert stale == {2: ("it cannot be read now", "1.md"), 3: ("it cannot be read now", None)}
    assert postings.numbered([1, 2, 3]) == {n: parse(f"{n}.md", "milk") for n in (1, 2, 3)}
    assert list(postings.rows("SELECT * FROM odd")) == []


def test_a_label_and_a_folder_are_kept_once(postings: Postings) -> None:
    for start in (1, 4):
        texts = {n: f"---\nkind: fact\npinned: {'true' if n % 3 else 'no'}\n---\ntea" for n in range(start, start + 3)}
        postings.store([(n, row(parse(f"notes/{n}.md", text), "english")) for n, text in texts.items()], [], {})

    assert list(postings.rows("SELECT kind, pinned FROM labels ORDER BY pinned")) == [("fact", 0), ("fact", 1)]
    assert list(postings.rows("SELECT folder FROM places")) == [("notes/",)]


def test_a_chat_whose_members_change_stays_in_time(postings: Postings) -> None:
    def said(number: int, chat: str, day: int) -> Numbered:
        return numbered(number, f"---\ncreated_at: 2026-01-{day:02}\nchat: {chat}\n---\ntea")

    postings.store([said(1, "a", 5), said(2, "a", 3), said(3, "a", 4), said(4, "b", 1)], [], {})
    postings.store([said(3, "b", 2), said(5, "a", 1), said(6, "b", 9)], [2], {})

    assert list(postings.columns.chat_of(1)) == [5, 1]
    assert list(postings.columns.chat_of(4)) == [4, 3, 6]
    assert sorted(number for _, number in CHATS.all(postings._open().db)) == [4, 5]

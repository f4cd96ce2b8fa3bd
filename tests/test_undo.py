"""A turn, taken back, and what stands in the way."""

import pytest

from tests.histories import MEMORY, TRAILERS, by_hand, learn, status
from vault_mind.commits import commit
from vault_mind.errors import MemoryChangedError, NothingToUndoError, UndoRefusedError, VersionNotFoundError
from vault_mind.history import History
from vault_mind.past import read_at
from vault_mind.undo import plan, undo

pytestmark = pytest.mark.usefixtures("owner")


# Undo.


def test_undo_takes_back_a_turn_and_an_undo_of_it_brings_it_back(history: History) -> None:
    learn(history, "memories/tea.md", "tea")
    first = (history.root / "memories/tea.md").read_bytes()
    learn(history, "memories/tea.md", "milk")
    second = (history.root / "memories/tea.md").read_bytes()

    planned = plan(history)
    undone = undo(history, planned, "Taken back", {"Source": "user"})
    after_one = (history.root / "memories/tea.md").read_bytes()
    assert undone.version is not None
    undo(history, plan(history, undone.version.id), "Brought back", {"Source": "user"})
    after_two = (history.root / "memories/tea.md").read_bytes()

    assert "-The user said: milk." in planned.diff
    assert "+The user said: tea." in planned.diff
    assert undone.version.trailers == {"Source": "user", "Undoes": planned.version.id}
    assert (after_one, after_two) == (first, second)
    assert status(history) == ""


def test_undo_again_and_again_takes_back_turn_after_turn(plain: History) -> None:
    for text in ("tea", "milk", "cocoa"):
        learn(plain, f"{text}.md", text)
    by_hand(plain.root, "commit", "-q", "--allow-empty", "-m", "theirs")

    while True:
        try:
            undo(plain, plan(plain), "Undone", {})
        except NothingToUndoError:
            break

    assert sorted(file.name for file in plain.root.glob("*.md")) == ["base.md"]
    assert len(list(plain.versions())) == 8
    assert by_hand(plain.root, "rev-parse", "HEAD^{tree}") == by_hand(plain.root, "rev-parse", "HEAD~7^{tree}")


def test_a_turn_can_be_named_by_its_trailer(plain: History) -> None:
    learn(plain, "tea.md", "tea", Turn="one")
    learn(plain, "milk.md", "milk", Turn="two")

    undo(plain, plan(plain, "one"), "Undone", {})

    assert not (plain.root / "tea.md").exists()
    assert (plain.root / "milk.md").exists()
    with pytest.raises(VersionNotFoundError):
        plan(plain, "three")


def test_later_edits_of_other_lines_stay_in_the_file_and_out_of_the_commit(plain: History) -> None:
    lines = [f"line {number}\n" for number in range(12)]
    (plain.root / "base.md").write_text("".join(lines))
    commit(plain, ["base.md"], "lines", TRAILERS)
    (plain.root / "base.md").write_text("".join(["ours\n", *lines[1:]]))
    commit(plain, ["base.md"], "ours", TRAILERS)
    (plain.root / "base.md").write_text("".join(["ours\n", *lines[1:-1], "by hand\n"]))

    undo(plain, plan(plain), "Undone", {})

    assert (plain.root / "base.md").read_text() == "".join([*lines[:-1], "by hand\n"])
    assert read_at(plain, "HEAD", "base.md") == "".join(lines).encode()
    assert "+by hand" in plain.diff()


@pytest.mark.parametrize("committed", [True, False], ids=["committed", "not committed"])
@pytest.mark.parametrize("first", [True, False], ids=["the turn that made it", "a turn that changed it"])
def test_undo_refuses_where_later_edits_touch_the_same_lines(plain: History, committed: bool, first: bool) -> None:
    if not first:
        learn(plain, "tea.md", "tea")
    turn = learn(plain, "tea.md", "milk").version
    (plain.root / "tea.md").write_text(MEMORY.format("cocoa by hand"))
    if committed:
        by_hand(plain.root, "add", "tea.md")
        by_hand(plain.root, "commit", "-qm", "theirs")
    assert turn is not None
    tip = plain.head().id

    with pytest.raises(UndoRefusedError, match="edited later.*theirs" if committed else "edited later by hand"):
        plan(plain, turn.id)

    assert (plain.root / "tea.md").read_text() == MEMORY.format("cocoa by hand")
    assert plain.head().id == tip


def test_undo_of_a_forget_brings_the_file_back_byte_for_byte_or_says_what_is_in_the_way(plain: History) -> None:
    data = b"\xef\xbb\xbf---\r\nkind: fact\r\n---\r\n\r\nNo newline, and \xe9"
    (plain.root / "tea.md").write_bytes(data)
    commit(plain, ["tea.md"], "x", TRAILERS)
    (plain.root / "tea.md").unlink()
    commit(plain, ["tea.md"], "Forgotten", TRAILERS)
    (plain.root / "tea.md").write_text("a new one\n")

    with pytest.raises(UndoRefusedError, match="a new file has its name"):
        plan(plain)
    (plain.root / "tea.md").unlink()
    undo(plain, plan(plain), "Undone", {})

    assert (plain.root / "tea.md").read_bytes() == data


def test_undo_finds_a_memory_under_its_new_name(plain: History) -> None:
    learn(plain, "tea.md", "tea")
    turn = learn(plain, "tea.md", "green tea, and never before noon").version
    by_hand(plain.root, "mv", "tea.md", "drinks.md")
    by_hand(plain.root, "commit", "-qm", "renamed")
    assert turn is not None

    undo(plain, plan(plain, turn.id), "Undone", {})

    assert (plain.root / "drinks.md").read_text() == MEMORY.format("tea")
    assert not (plain.root / "tea.md").exists()


def test_undo_of_a_rename_gives_the_old_name_back(plain: History) -> None:
    learn(plain, "tea.md", "tea")
    (plain.root / "tea.md").rename(plain.root / "drinks.md")
    commit(plain, ["tea.md", "drinks.md"], "Renamed", TRAILERS)

    undo(plain, plan(plain), "Undone", {})

    assert (plain.root / "tea.md").read_text() == MEMORY.format("tea")
    assert not (plain.root / "drinks.md").exists()


def test_undo_is_all_or_nothing(plain: History) -> None:
    for name in ("a.md", "b.md"):
        (plain.root / name).write_text("one\n")
    commit(plain, ["a.md", "b.md"], "one", TRAILERS)
    for name in ("a.md", "b.md"):
        (plain.root / name).write_text("two\n")
    commit(plain, ["a.md", "b.md"], "two", TRAILERS)
    planned = plan(plain)
    (plain.root / "b.md").write_text("by hand\n")

    with pytest.raises(MemoryChangedError):
        undo(plain, planned, "Undone", {})

    assert (plain.root / "a.md").read_text() == "two\n"
    assert (plain.root / "b.md").read_text() == "by hand\n"


def test_a_merge_is_not_undone(plain: History) -> None:
    by_hand(plain.root, "checkout", "-qb", "side")
    learn(plain, "tea.md")
    by_hand(plain.root, "checkout", "-q", "main" if "main" in by_hand(plain.root, "branch") else "master")
    by_hand(plain.root, "commit", "-q", "--allow-empty", "-m", "x")
    by_hand(plain.root, "merge", "-q", "--no-ff", "-m", "joined", "side")

    with pytest.raises(UndoRefusedError, match="joins two lines"):
        plan(plain, "HEAD")


def test_what_is_gone_already_is_skipped_by_undo_and_refused_by_name(plain: History) -> None:
    learn(plain, "tea.md", "tea")
    gone = learn(plain, "milk.md", "milk").version
    (plain.root / "milk.md").unlink()
    by_hand(plain.root, "commit", "-qam", "theirs")

    assert [step.path for step in plan(plain).steps] == ["tea.md"]
    assert gone is not None
    with pytest.raises(UndoRefusedError, match="nothing of it left"):
        plan(plain, gone.id)

"""Bringing the index up to date: what is stored is what the files say, whatever happened, and no more than that."""

import os
import random
import shutil
import signal
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest
from hypothesis import given, settings

import vault_mind.readers
import vault_mind.sync
from tests.conftest import NOW, THOROUGH
from tests.test_index import agrees, delete, do, generation, put, scratch, started
from tests.test_search import FILES, STEPS, written
from vault_mind import Index, Vault
from vault_mind.keyed import LINKS
from vault_mind.ranking import in_time, link_targets, searched_terms
from vault_mind.rows import ABSENT, row

Write = Callable[[str, str | bytes], Path]


def is_sound(index: Index) -> bool:
    """Whether everything that is kept is what the files say, once each."""
    index.sync()
    postings, memories = index._postings, list(index.vault.memories())
    numbers = dict(postings.rows("SELECT path, id FROM files"))
    assert sorted(numbers) == [memory.path for memory in memories]
    held = {numbers[memory.path]: memory for memory in memories}
    totals = postings.totals
    assert totals.memories == len(held) == postings._open().searcher.num_docs
    assert totals.terms == sum(len(searched_terms(memory, "english")) for memory in memories)
    assert totals.links == sum(len(link_targets(memory)) for memory in memories)
    assert totals.links == len(list(LINKS.all(postings._open().db)))
    assert list(postings.rows("SELECT 1 FROM pending")) == []
    assert list(postings.rows("SELECT 1 FROM meanings WHERE id NOT IN (SELECT id FROM files)")) == []

    texts, starts, owners = postings.texts()
    assert list(starts) == sorted(set(starts))
    assert sorted(owner for owner in owners if owner) == sorted(held)
    for start, owner in zip(starts, owners, strict=True):
        text = held[owner].text.encode() if owner else b""
        assert texts[start : start + len(text)] == text

    columns = postings.columns
    for number, state in enumerate(columns["state"]):
        assert state == (row(held[number], "english").state if number in held else ABSENT)
    chats: dict[str, list[int]] = {}
    for number in sorted(held, key=lambda number: in_time(held[number])):
        if name := held[number].chat:
            chats.setdefault(name, []).append(number)
    laid = {number for chat in chats.values() for number in chat if len(chat) > 1}
    assert Counter(number for number in columns["order"] if number) == Counter(laid)
    for number, spot in enumerate(columns["spot"]):
        assert (columns["order"][spot] == number) if spot else number not in laid
    for chat in chats.values():
        for at, number in enumerate(chat):
            assert list(columns.beside(number)) == chat[max(at - 2, 0) : at] + chat[at + 1 : at + 3]
    return True


# --- what is stored -----------------------------------------------------------------------------------------------


@settings(max_examples=10 * THOROUGH)
@given(FILES, STEPS)
def test_what_is_stored_is_what_the_files_say(files: dict[str, str], steps: list[tuple[str, str, str]]) -> None:
    with scratch() as (vault, folder):
        for path, text in files.items():
            put(vault, path, text)
        index = Index(vault, folder=folder)

        for step in steps:
            index = do(index, step)
            assert is_sound(index)
        index.close()


def test_a_file_in_a_folder_that_became_a_link_and_back_is_stored_once(index: Index, write: Write) -> None:
    file, other = write("notes/a.md", "tea"), write("attic/other.txt", "milk")
    assert is_sound(index)

    file.unlink()
    file.symlink_to(other)
    assert is_sound(index)
    assert [hit.memory.path for hit in index.search("milk", 5)] == ["notes/a.md"]

    file.unlink()
    write("notes/a.md", "coffee")
    assert is_sound(index)
    assert [hit.memory.path for hit in index.search("coffee", 5)] == ["notes/a.md"]


@pytest.mark.skipif(os.name == "nt", reason="modes mean little on Windows")
def test_a_folder_that_is_moved_takes_its_memories_along(index: Index, write: Write) -> None:
    for number in range(5):
        write(f"one/deep/{number}.md", written({"chat": "x"}, f"tea {number} [[{number + 1}]]"))
    assert is_sound(index)

    (index.vault.root / "one").rename(index.vault.root / "two")

    synced = index.sync()
    assert (synced.changed, synced.gone) == (5, 5)
    assert is_sound(index)


def test_a_folder_that_is_not_listed_as_indexed_is_not_stored_twice(index: Index, write: Write) -> None:
    for number in range(5):
        write(f"notes/{number}.md", f"tea {number}")
    index.sync()
    index.close()
    with sqlite3.connect(generation(index) / "files.db") as db:
        db.execute("UPDATE folders SET listing = x''")
    db.close()

    assert is_sound(index)


@pytest.mark.parametrize("listing", [b"\x01", b"\xff" * 40, b"\x02" + bytes(7) + b"ab", b"\x01" + bytes(15) + b"\xff"])
def test_a_listing_that_is_none_makes_the_index_anew(index: Index, write: Write, listing: bytes) -> None:
    write("notes/a.md", "tea")
    index.sync()
    index.close()
    with sqlite3.connect(generation(index) / "files.db") as db:
        db.execute("UPDATE folders SET listing = ? WHERE path = 'notes/'", (listing,))
    db.close()

    assert is_sound(index)
    assert agrees(index, "tea")


@pytest.mark.parametrize("listing", [None, 7, "text", 0.5])
def test_a_listing_of_another_type_makes_the_index_anew(index: Index, write: Write, listing: object) -> None:
    write("notes/a.md", "tea")
    index.sync()
    index.close()
    with sqlite3.connect(generation(index) / "files.db") as db:
        db.execute("UPDATE folders SET listing = ? WHERE path = 'notes/'", (listing,))
    db.close()

    assert is_sound(index)
    assert agrees(index, "tea")


# --- Ctrl-C -------------------------------------------------------------------------------------------------------


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few files a task, and no file is too young to be believed."""
    monkeypatch.setattr(vault_mind.readers, "CHUNK", 4)
    monkeypatch.setattr(vault_mind.readers, "RACY", 0)


def stopped_after(index: Index, done: int) -> bool:
    """Whether a sync was stopped by Ctrl-C once it had read that many."""

    def progress(read: int, of: int) -> None:
        if read >= done:
            raise KeyboardInterrupt

    try:
        index.sync(progress)
    except KeyboardInterrupt:
        return True
    return False


# Once: what had been read since the last 25,000 files was read again.
def test_what_was_read_before_ctrl_c_is_not_read_again(index: Index, write: Write, small_steps: None) -> None:
    for number in range(20):
        write(f"notes/{number:02}.md", f"tea {number}")
    told: list[tuple[int, int]] = []

    assert stopped_after(index, 8)
    index.sync(lambda done, of: told.append((done, of)))

    assert told[-1] == (12, 12)
    assert is_sound(index)


def test_what_is_wrong_with_files_read_before_ctrl_c_is_told_by_the_next(
    index: Index, write: Write, small_steps: None
) -> None:
    for number in range(20):
        write(f"notes/{number:02}.md", "---\na: [\n---\n" if number in (0, 19) else "tea")

    assert stopped_after(index, 20)

    assert sorted(problem.path for problem in index.sync().news) == ["notes/00.md", "notes/19.md"]
    assert index.sync().news == ()


# Once: what was not read again before Ctrl-C was in no listing any more, and when it then went its memory stayed.
def test_a_file_that_goes_before_it_is_read_again_is_gone(index: Index, write: Write, small_steps: None) -> None:
    for number in range(20):
        write(f"notes/{number:02}.md", f"tea {number}")
    index.sync()
    for number in range(20):
        write(f"notes/{number:02}.md", f"walrus {number}")
    assert stopped_after(index, 4)

    shutil.rmtree(index.vault.root / "notes")

    assert index.search("tea walrus", 50) == []
    assert is_sound(index)


# Once: the arrays were changed in memory before a commit that did not come, and the next one wrote them.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # Ctrl-C while a generator is closed
@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(seed, marks=pytest.mark.storm) for seed in range(6, 300))])
def test_ctrl_c_at_any_moment_leaves_a_sound_index(index: Index, write: Write, small_steps: None, seed: int) -> None:
    chance = random.Random(seed)
    for number in range(12):
        write(f"notes/{number:02}.md", written({"chat": str(number % 3)}, f"tea {number} [[{number + 1}]]"))
    index.sync()
    for _ in range(3):
        for number in chance.sample(range(16), 5):
            write(f"notes/{number:02}.md", written({"chat": str(chance.randrange(3))}, f"milk {chance.random()}"))
        (index.vault.root / f"notes/{chance.randrange(12):02}.md").unlink(missing_ok=True)
        interrupted(index, chance.randrange(1, 400))

    assert is_sound(index)
    assert agrees(index, "tea milk", 30)


def interrupted(index: Index, after: int) -> None:
    """A sync, with Ctrl-C after so many calls of functions of ours."""
    calls = 0

    def trace(frame: FrameType, _: str, __: object) -> None:
        nonlocal calls
        calls += frame.f_globals.get("__name__", "").startswith("vault_mind.")
        if calls == after:
            calls += 1
            raise KeyboardInterrupt

    sys.settrace(trace)
    try:
        index.sync()
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(None)


# --- what is left of the dead -------------------------------------------------------------------------------------


def test_the_dead_are_swept_out_before_they_are_many(index: Index, write: Write) -> None:
    for number in range(40):
        write(f"{number}.md", f"tea number{number} sugar")
    index.sync()
    most = 0

    for number in range(20):
        write(f"{number}.md", f"tea other{number}" + " milk" * (number % 3))
        index.sync()
        most = max(most, index._postings.totals.dead)
        assert agrees(index, f"tea sugar other{number}", 50)

    assert most <= 40 * 0.05
    assert is_sound(index)


@pytest.mark.parametrize("edits", [40, pytest.param(200, marks=pytest.mark.storm)])
def test_a_note_that_is_edited_again_and_again_takes_no_more_room(index: Index, write: Write, edits: int) -> None:
    write("other.md", "tea")
    for number in range(edits):
        write("a.md", f"draft{number} " + "all work and no play " * 5_000)  # 105 kB
        index.sync()

    assert index.size() < 3_000_000
    assert len(list(index.folder.glob("g-*"))) == 1
    assert is_sound(index)
    assert agrees(index, f"draft{edits - 1} tea")


# --- other processes ----------------------------------------------------------------------------------------------

EDITING = """
import random, sys, time
from pathlib import Path
from vault_mind import Index, Vault

vault, chance = Vault(sys.argv[1]), random.Random(int(sys.argv[2]))
index = Index(vault)
print("ready", flush=True)
sys.stdin.readline()
end = time.monotonic() + float(sys.argv[3])
while time.monotonic() < end:
    if chance.randrange(12) == 0:
        index.rebuild()
    for _ in range(chance.randrange(1, 6)):
        file = vault.root / f"notes/{chance.randrange(24)}.md"
        if chance.randrange(5) == 0:
            file.unlink(missing_ok=True)
            continue
        front = f"---\\nchat: {chance.randrange(3)}\\ncreated_at: 2026-01-0{chance.randrange(1, 5)}\\n---\\n"
        body = "tea and milk " * chance.randrange(1, 20) + f"[[{chance.randrange(24)}]] {chance.random()}"
        file.write_text(front + body)
    index.sync()
    if chance.randrange(3) == 0:
        index.search("tea milk", 10)
print({})
"""


def killed(vault: Vault, seed: int) -> None:
    """A process edits and syncs, and is killed at some moment."""
    process = started(EDITING, str(vault.root), str(seed), "100")
    assert process.stdin
    process.stdin.write("\n")
    process.stdin.flush()
    time.sleep(random.Random(seed).random() * 0.4)
    process.kill()
    process.communicate()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal on Windows")
@pytest.mark.parametrize("kills", [3, pytest.param(200, marks=[pytest.mark.storm, pytest.mark.timeout(900)])])
def test_a_process_that_is_killed_while_it_syncs_leaves_a_sound_index(vault: Vault, kills: int) -> None:
    (vault.root / "notes").mkdir()
    for kill in range(kills):
        killed(vault, kill)

        index = Index(vault)
        assert is_sound(index)
        assert agrees(index, "tea milk", 30)
        index.close()


@pytest.mark.parametrize("seconds", [0.7, pytest.param(30.0, marks=pytest.mark.storm)])
def test_processes_that_edit_and_sync_at_once_leave_a_sound_index(vault: Vault, seconds: float) -> None:
    (vault.root / "notes").mkdir()
    processes = [started(EDITING, str(vault.root), str(seed), str(seconds)) for seed in range(3)]

    for process in processes:
        assert process.stdin
        process.stdin.write("\n")
        process.stdin.flush()
    complaints = [process.communicate(timeout=100)[1] for process in processes]

    assert [process.returncode for process in processes] == [0, 0, 0], complaints
    index = Index(vault)
    assert is_sound(index)
    assert agrees(index, "tea milk", 30)
    index.close()


@pytest.mark.parametrize("meanwhile", ["rebuild", "sweep", "append", "delete"])
def test_who_has_the_index_open_may_go_on_whatever_another_does(vault: Vault, write: Write, meanwhile: str) -> None:
    for number in range(30):
        write(f"{number}.md", written({"chat": str(number % 3)}, f"tea number{number}"))
    mine, other = Index(vault), Index(vault)
    before = mine.search("tea", 50, now=NOW)
    grepped = mine.memories()

    if meanwhile == "rebuild":
        other.rebuild()
    elif meanwhile == "sweep":
        for number in range(10):
            write(f"{number}.md", f"milk {number}")
            other.sync()
        assert other._postings.totals.dead == 0
    elif meanwhile == "append":
        write("new.md", "tea " * 20_000)
        other.sync()
    else:
        delete(mine)

    assert len(mine.ranked("tea", 50, now=NOW)) in (20, 30, 31)
    assert len(list(grepped)) == 30
    assert is_sound(mine)
    assert agrees(mine, "tea number7 milk", 50)
    assert len(before) == 30
    mine.close()
    other.close()


# Once: the walk was then as the other process had it, and this one answered from what it had open.
def test_what_another_process_takes_in_just_as_a_sync_begins_is_found(
    vault: Vault, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vault_mind.readers, "RACY", 0)  # else a file this young is looked at anyway
    write("old.md", "tea")
    mine, other = Index(vault), Index(vault)
    mine.sync()
    refresh = mine._postings.refresh

    def refreshed() -> None:
        refresh()
        monkeypatch.setattr(mine._postings, "refresh", refresh)
        write("new.md", "tea")
        other.sync()

    monkeypatch.setattr(mine._postings, "refresh", refreshed)

    assert [hit.memory.path for hit in mine.search("tea", 5)] == ["new.md", "old.md"]
    mine.close()
    other.close()

# a case's id stands in a name as it is written everywhere
"""Faults that users met in public where a sync tool or a cloud shares the vault with the program."""

import errno
import json
import os
import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import NOW, THOROUGH, Run
from vault_mind import Index, Vault
from vault_mind.files import is_elsewhere
from vault_mind.ranking import rank

Write = Callable[[str, str | bytes], Path]
HEAD = "---\nkind: fact\nsource: user\ncreated_at: 2026-02-15T08:00:00Z\n---\n\n"
COPIES = (
    "Door (Ann's conflicted copy 2026-01-11).md",
    "Door (Case Conflict).md",
    "Door (conflicted copy 2026-01-10 113000).md",
    "Door 2.md",
    "Door.sync-conflict-20260112-184501-7ABCDEF.md",
)


def hashes(vault: Vault) -> dict[str, str]:
    return {file.name: sha256(file.read_bytes()).hexdigest() for file in vault.root.rglob("*") if file.is_file()}


@pytest.fixture
def door(write: Write) -> None:
    write("Door.md", HEAD + "The door code is 4711.\n")
    write("Conflict of interest.md", HEAD + "The door code policy is in the safe.\n")
    for number, name in enumerate(COPIES, 1):
        write(name, HEAD + f"The door code is {number * 1111}.\n")


def test_VS_01_only_the_original_is_found_and_the_copies_are_named(door: None, vault: Vault, run: Run) -> None:
    before = hashes(vault)

    found = run("search", "--paths", "door code").stdout.splitlines()
    told = run("chat", "--offline", "-m", "What is the door code?")
    doctor = run("doctor", "--json")
    data = json.loads(doctor.stdout)

    assert found == ["Door.md", "Conflict of interest.md"]
    assert "4711" in told.stdout
    assert not any(str(number * 1111) in told.stdout for number in range(1, 6))
    named = {one["path"] for one in _findings(data) if "a conflict copy of Door.md" in one["what"]}
    assert doctor.exit_code == 1
    assert named == set(COPIES)
    assert hashes(vault) == before


def _findings(data: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = data["findings"] if isinstance(data, dict) else data
    return found


def test_VS_01_they_are_there_for_who_asks(door: None, run: Run) -> None:
    everything = run("search", "--all", "--paths", "door code").stdout.splitlines()
    conflicts = run("search", "--paths", "door is:conflict").stdout.splitlines()
    shown = run("search", "--all", "door code 5555")

    assert set(everything) == {"Door.md", "Conflict of interest.md", *COPIES}
    assert set(conflicts) == set(COPIES)
    assert "a conflict copy of Door.md" in shown.stdout


def test_VS_01_each_is_named_once_and_no_more(door: None, run: Run) -> None:
    first = run("search", "door code")
    second = run("search", "door code")

    assert first.stderr.count("a conflict copy of Door.md") == len(COPIES)
    assert "conflict copy" not in second.stderr


def test_VS_01_a_copy_whose_original_goes_is_found_again(door: None, vault: Vault, run: Run) -> None:
    run("search", "door code")
    (vault.root / "Door.md").unlink()

    assert set(run("search", "--paths", "door code").stdout.splitlines()) == {"Conflict of interest.md", *COPIES}


def test_VS_01_a_note_is_set_aside_once_an_original_appears(write: Write, run: Run) -> None:
    write("a/Tea (conflicted copy 2026-01-10 113000).md", "Ada drinks green tea.")
    assert run("search", "--paths", "tea").stdout.splitlines() == ["a/Tea (conflicted copy 2026-01-10 113000).md"]

    write("Tea.md", "Ada drinks black tea.")  # in another folder: no original
    assert len(run("search", "--paths", "tea").stdout.splitlines()) == 2
    write("a/Tea.md", "Ada drinks white tea.")

    assert set(run("search", "--paths", "tea").stdout.splitlines()) == {"a/Tea.md", "Tea.md"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Chapter 2.md", "In the second chapter nobody comes home, and the door stays shut."),
        ("Chapter (2).md", "Notes on what follows: a storm, a ship."),
        ("Chapter-DESKTOP-PC9.md", "Which machine the chapter was written on."),
    ],
)
def test_VS_01_a_note_with_a_number_is_a_note(write: Write, run: Run, name: str, text: str) -> None:
    write("Chapter.md", "The first chapter tells of a door and of who stands behind it.")
    write(name, text)

    assert set(run("search", "--paths", "chapter").stdout.splitlines()) == {"Chapter.md", name}


def test_VS_01_a_numbered_copy_is_one_by_what_it_says_now(write: Write, run: Run) -> None:
    write("Plan.md", "On Monday we paint the door red.")
    write("Plan 2.md", "On Monday we paint the door blue.")
    assert run("search", "--paths", "door").stdout.splitlines() == ["Plan.md"]

    write("Plan.md", "Nothing of all that: the door is to be sold, and the house with it, before the year is out.")

    assert set(run("search", "--paths", "door").stdout.splitlines()) == {"Plan.md", "Plan 2.md"}


def test_VS_01_a_file_with_gits_markers_is_not_recalled(write: Write, run: Run) -> None:
    write("Door.md", HEAD + "<<<<<<< HEAD\nThe door code is 4711.\n=======\nThe door code is 1111.\n>>>>>>> theirs\n")
    write("tags.md", HEAD.replace("kind: fact", "<<<<<<< HEAD\nkind: fact\n=======\nkind: note\n>>>>>>> x") + "door")
    write("how.md", "A door in a listing:\n\n```\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n```\n")

    found = run("search", "--paths", "door")
    named = [
        one["path"]
        for one in _findings(json.loads(run("doctor", "--json").stdout))
        if "conflict markers" in one["what"]
    ]

    assert found.stdout.splitlines() == ["how.md"]
    assert sorted(set(named)) == ["Door.md", "tags.md"]


def test_VS_01_what_a_copy_says_is_not_known_already(door: None, run: Run) -> None:
    assert run("remember", "The door code is 5555.").stderr.count("known already") == 0


@pytest.mark.parametrize("seed", range(3 * THOROUGH))
def test_VS_01_index_and_reference_agree_whatever_becomes_of_the_copies(
    vault: Vault, index: Index, write: Write, seed: int
) -> None:
    chance = random.Random(seed)
    names = ["Door.md", *COPIES, "Door 3.md", "x/Door.md", "x/Door (1).md"]

    for _ in range(25):
        name = chance.choice(names)
        file = vault.root / name
        what = chance.randrange(4)
        if what == 0 and file.exists():
            file.unlink()
        elif what == 1 and file.exists():
            file.rename(file.with_name(chance.choice(names).rpartition("/")[2]))
        elif what == 2:
            write(name, f"Nothing like it: {chance.random()} door\n" * chance.randrange(1, 4))
        else:
            write(name, HEAD + f"The door code is {chance.randrange(9)}.\n")

        hits = [hit.memory for hit in index.search("door code", 20, now=NOW)]

        assert hits == [hit.memory for hit in rank(list(vault.memories()), "door code", 20, now=NOW)]


# VS-02: a note that a cloud keeps elsewhere looks missing or empty.
def test_VS_02_no_file_takes_the_place_of_one_that_is_not_downloaded(vault: Vault, write: Write, run: Run) -> None:
    write("memories/.passport.md.icloud", b"bplist00\xd1\x01\x02")

    saved = run("remember", "Passport")

    assert saved.exit_code == 0
    assert not (vault.root / "memories" / "passport.md").exists()


@contextmanager
def _refused(name: str, number: int) -> Iterator[None]:
    """Opening a file of that name fails as it does while its cloud cannot give it."""
    real = os.open

    def opening(path: Any, *more: Any, **by_name: Any) -> int:
        if os.fspath(path).rpartition("/")[2] == name:
            raise OSError(number, os.strerror(number))
        return real(path, *more, **by_name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "open", opening)
        yield


@pytest.mark.parametrize("number", [errno.EDEADLK, errno.EIO, errno.ETIMEDOUT, errno.EMFILE])
def test_VS_02_what_cannot_be_read_now_is_kept_as_it_was_last_read(index: Index, write: Write, number: int) -> None:
    write("remote.md", "remote passport\n")
    write("here.md", "local passport control\n")
    index.sync()
    os.utime(write("remote.md", "remote passport, and more\n"), (1, 1))

    with _refused("remote.md", number):
        synced = index.sync()
        hits = {hit.memory.path: hit.memory for hit in index.ranked("passport", 5)}
        again = index.sync()

    assert set(hits) == {"remote.md", "here.md"}
    assert hits["remote.md"].stale
    assert hits["remote.md"].body == "remote passport"
    assert not hits["here.md"].stale
    assert [problem.path for problem in synced.news] == ["remote.md"]
    assert "cannot be read now" in synced.news[0].what
    assert again.news == ()

    index.sync()
    after = {hit.memory.path: hit.memory for hit in index.ranked("passport", 5)}

    assert after["remote.md"].body == "remote passport, and more"
    assert not after["remote.md"].stale


def test_VS_02_it_is_read_anew_even_when_nothing_was_written(index: Index, write: Write) -> None:
    file = write("remote.md", "remote passport\n")
    index.sync()
    status = file.stat()
    file.write_bytes(b"remote passport\n")
    with _refused("remote.md", errno.EDEADLK):
        index.sync()
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))

    index.sync()

    assert [hit.memory.fault for hit in index.ranked("passport", 5)] == [None]


def test_VS_02_one_that_was_never_read_is_named_and_not_invented(index: Index, write: Write) -> None:
    write("remote.md", "remote passport\n")
    write("here.md", "local passport control\n")

    with _refused("remote.md", errno.EDEADLK):
        synced = index.sync()
        hits = [hit.memory.path for hit in index.ranked("passport", 5)]

    assert hits == ["here.md"]
    assert [problem.path for problem in synced.news] == ["remote.md"]


def test_VS_02_one_that_may_not_be_read_leaves_the_index(index: Index, write: Write) -> None:
    file = write("secret.md", "secret passport\n")
    index.sync()
    file.write_text("secret passport, changed\n")

    with _refused("secret.md", errno.EACCES):
        hits = index.search("passport", 5)

    assert hits == []


class _Status:
    """A status as macOS or Windows gives it."""

    def __init__(self, **fields: int) -> None:
        self.__dict__.update(fields)


@pytest.mark.parametrize(
    ("fields", "elsewhere"),
    [
        ({}, False),
        ({"st_flags": 0x4000_0000}, True),
        ({"st_flags": 0x20}, False),
        ({"st_file_attributes": 0x40_0000}, True),
        ({"st_file_attributes": 0x1000}, True),
        ({"st_file_attributes": 0x20}, False),
    ],
)
def test_VS_02_a_placeholder_is_known_by_its_status(fields: dict[str, int], elsewhere: bool) -> None:
    status: Any = _Status(**fields)

    assert is_elsewhere(status) is elsewhere


def test_a_vault_of_copies_alone_is_searched(write: Write, run: Run, vault: Vault) -> None:
    for name in COPIES:
        write(name, HEAD + f"The door code is in {name}.")
    shutil.rmtree(vault.root / "memories", ignore_errors=True)

    assert len(run("search", "--paths", "door code").stdout.splitlines()) == len(COPIES)


def test_ordinary_notes_whose_names_tools_could_have_made_are_found(write: Write, run: Run) -> None:
    """VS-01's near misses: the note beside them says something else."""
    near = ("Israel-conflict.md", "Israel (conflicted).md", "Israel_base_12.md", "Israel (conflicted views).md")
    write("Israel.md", HEAD + "A trip to Haifa, planned for May with Nora.")
    for name in near:
        write(name, HEAD.replace("08:00", "09:30") + f"What I read on the conflict, chapter {len(name)}: zebra.")

    assert set(run("search", "--paths", "zebra").stdout.splitlines()) == set(near)


def test_two_notes_of_one_day_are_no_copies_of_each_other(write: Write, run: Run) -> None:
    """VS-01's near misses: a date alone is shared by all that was written on that day."""
    day = "---\nkind: fact\ncreated_at: 2026-02-15\n---\n\n"
    write("Trip.md", day + "We saw a zebra in Antwerp zoo.")
    write("Trip 2.md", day + "On the second one it rained, and the zebra stayed at home.")
    write("Walk.md", HEAD + "The first walk led past a zebra.")
    write("Walk 2.md", HEAD + "This says quite another thing, of the very same moment: zebra.")

    assert set(run("search", "--paths", "zebra").stdout.splitlines()) == {"Trip.md", "Trip 2.md", "Walk.md"}


def test_a_copy_of_a_copy_is_one_of_the_original_once_the_first_is_settled(write: Write, run: Run) -> None:
    first = "Door (Ann's conflicted copy 2026-01-11)"
    write("Door.md", HEAD + "The door code is 4711.")
    middle = write(f"{first}.md", HEAD + "The door code is 1111.")
    write(f"{first} 2.md", HEAD + "The door code is 2222.")
    assert run("search", "--paths", "door code").stdout.splitlines() == ["Door.md"]

    middle.unlink()

    assert run("search", "--paths", "door code").stdout.splitlines() == ["Door.md"]
    assert "a conflict copy of Door.md" in run("search", "--all", "door code 2222").stdout
    assert "0 expired" not in run("doctor").stdout
    assert "left out of recall" not in run("doctor").stdout

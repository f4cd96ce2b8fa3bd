"""Folders listed by one process or two: the same either way, and nothing changes when nothing has."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import vault_mind.listing
from vault_mind import Index, Vault
from vault_mind.listing import Second, begin, end, packed, plain, scan, scanned, second, unpacked

Write = Callable[[str, str | bytes], Path]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="folders cannot be listed by a handle there")


@pytest.fixture
def always_two(monkeypatch: pytest.MonkeyPatch) -> None:
    """However small the vault, two processes look through it."""
    monkeypatch.setattr(vault_mind.listing, "MANY", 1)
    monkeypatch.setattr("os.cpu_count", lambda: 2)


def filled(write: Write) -> None:
    """A vault with folders in folders, odd names, links and what is no memory."""
    for folder in ("", "a/", "b/", "b/inner/", "c d/", "é/"):
        for number in range(3):
            write(f"{folder}{number}.md", f"tea {number}")
    write("b/UPPER.MD", "tea")
    write("b/picture.png", b"\x89PNG")
    write(".hidden/x.md", "tea")
    (write("target.md", "tea").parent / "a" / "link.md").symlink_to("../target.md")


@pytest.mark.parametrize("names", [[], ["a.md"], ["a.md", "b b.md", "é.md"]])
def test_a_listing_is_unpacked_as_it_was_packed(names: list[str]) -> None:
    marks = [-(2**63), 2**63 - 1, 0][: len(names)]

    assert unpacked(packed(names, marks)) == dict(zip(names, marks, strict=True))


@pytest.mark.parametrize("damaged", [b"\x01", b"\xff" * 8, packed(["a.md"], [1])[:-9], b"\x02" + bytes(7) + bytes(16)])
def test_what_is_no_listing_is_a_value_error(damaged: bytes) -> None:
    with pytest.raises((ValueError, IndexError)):
        unpacked(damaged)


compiled = pytest.mark.skipif(scan is scanned, reason="there was no compiler for it")
moments = st.one_of(st.just(-1), st.integers(-(2**31) * 10**9, 2**33 * 10**9))


@compiled
@given(moments, st.integers(0, 2**40))
def test_c_marks_a_file_as_python_does(modified: int, size: int) -> None:
    with TemporaryDirectory() as folder:
        file = Path(folder, "tea.md")
        file.touch()
        os.truncate(file, size)
        os.utime(file, ns=(0, modified))

        assert scan(folder) == scanned(folder)


NAMES = (
    ".md",
    ".hidden.md",
    "md",
    "x.md",
    "x.MD",
    "x.mD",
    "x.md.txt",
    "é.md",
    "é",
    "a b.md",
    "a\n.md",
    "%s.md",
    "n" * 252 + ".md",
)


@compiled
@pytest.mark.parametrize("name", [*NAMES, b"\xff.md", b"\xff"])
@pytest.mark.parametrize("kind", ["file", "folder", "link to a file", "link to a folder", "link to nothing", "pipe"])
def test_c_lists_a_folder_as_python_does(tmp_path: Path, name: str | bytes, kind: str) -> None:
    (tmp_path / "beside.md").write_text("tea")
    (tmp_path / "inner").mkdir()
    path = os.path.join(os.fsencode(tmp_path), os.fsencode(name))
    {
        "file": lambda: Path(os.fsdecode(path)).touch(),
        "folder": lambda: os.mkdir(path),
        "link to a file": lambda: os.symlink(b"beside.md", path),
        "link to a folder": lambda: os.symlink(b"inner", path),
        "link to nothing": lambda: os.symlink(b"nothing", path),
        "pipe": lambda: os.mkfifo(path),
    }[kind]()

    assert scan(str(tmp_path)) == scanned(str(tmp_path))


@compiled
def test_c_lists_what_is_none_and_what_is_empty_as_python_does(tmp_path: Path) -> None:
    (tmp_path / "file.md").write_text("tea")
    (tmp_path / "empty").mkdir()
    (tmp_path / "full").mkdir()
    for number in range(3_000):
        (tmp_path / "full" / f"{number} {'n' * (number % 200)}.md").touch()
    folders = ["", "full", "empty", "empty/", "missing", "file.md", "e" * 5_000]

    assert [scan(f"{tmp_path}/{folder}") for folder in folders] == [
        scanned(f"{tmp_path}/{folder}") for folder in folders
    ]
    with pytest.raises(ValueError, match="null"):
        scan("a\0b")


@compiled
def test_folders_are_listed_in_threads_at_once_and_keep_nothing(tmp_path: Path) -> None:
    for number in range(500):
        (tmp_path / f"{number}.md").touch()
        (tmp_path / f"{number}").mkdir()
    expected = scanned(str(tmp_path))

    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: scan(str(tmp_path)), range(200)))

    assert all(one == expected for one in found)
    assert len(os.listdir("/proc/self/fd" if os.path.isdir("/proc/self/fd") else "/dev/fd")) < 100


def test_two_processes_find_what_one_finds(vault: Vault, write: Write, always_two: None) -> None:
    filled(write)
    alone = vault.walk()

    together = vault.walk(alone.listings)

    helper = second(str(vault.root), alone.listings)
    assert helper is not None
    assert helper.shared(alone.listings).items() <= {f: plain(f"{vault.root}/{f}") for f in alone.listings}.items()
    helper.close()
    assert together.files == alone.files
    assert together.listings == alone.listings
    assert together.problems == alone.problems


def test_what_changed_since_is_found_by_two_as_well(vault: Vault, write: Write, always_two: None) -> None:
    filled(write)
    before = vault.walk()
    write("a/new.md", "tea")
    write("f/g/h/deep.md", "tea")
    (vault.root / "b" / "0.md").unlink()
    for file in (vault.root / "c d").iterdir():
        file.unlink()
    (vault.root / "c d").rmdir()

    assert vault.walk(before.listings).files == vault.walk().files


# Once: the topmost folder was given away with all others, so that the two waited for each other; and a topmost folder
# without memories was noted in every other sync and taken out in the next.
@pytest.mark.parametrize("in_the_topmost", [True, False])
def test_of_a_vault_where_nothing_changed_nothing_is_written(
    vault: Vault, write: Write, always_two: None, in_the_topmost: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vault_mind.readers.RACY", 0)
    for folder in ("a", "b", "c", "d", "e"):
        write(f"{folder}/x.md", "tea")
    if in_the_topmost:
        write("top.md", "tea")
    index = Index(vault)
    index.sync()
    index.sync()
    kept = dict(index._postings.listings())

    for _ in range(3):
        assert not index._sync._differing(vault.walk(kept))
        index.sync()

    assert index._postings.listings() == kept
    index.close()


def test_a_folder_that_needs_a_closer_look_is_left_to_the_other(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("tea")
    assert plain(str(tmp_path)) is not None
    assert plain(str(tmp_path / "nowhere")) is None

    (tmp_path / "link.md").symlink_to("a.md")

    assert plain(str(tmp_path)) is None


def test_an_interpreter_that_cannot_start_costs_only_time(
    vault: Vault, write: Write, always_two: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(write)
    alone = vault.walk()

    for broken in ("/nowhere/python", "/bin/false"):
        monkeypatch.setattr(sys, "executable", broken)
        assert vault.walk(alone.listings).files == alone.files


# --- begun early --------------------------------------------------------------------------------------------------


@pytest.fixture
def early(vault: Vault, always_two: None) -> Iterator[Callable[[], Second]]:
    """Begin at once to list the vault; what it gives is the process at work."""

    def begun() -> Second:
        begin(str(vault.root))
        return vault_mind.listing._early[0]

    yield begun
    end()
    assert vault_mind.listing._early == []


def is_done(process: Second) -> bool:
    """Whether it has told all and ended, waited for."""
    return os.waitid(os.P_PID, process._process, os.WEXITED | os.WNOWAIT) is not None


def test_what_was_begun_early_is_what_is_there(vault: Vault, write: Write, early: Callable[[], Second]) -> None:
    filled(write)
    alone = vault.walk()
    for waited in (True, False):
        process = early()
        assert not waited or is_done(process)

        together = vault.walk(alone.listings)

        assert together.listings == alone.listings
        assert together.files == alone.files
        assert together.problems == alone.problems


def test_of_what_was_begun_early_all_is_used_but_what_needs_a_closer_look(
    vault: Vault, write: Write, early: Callable[[], Second], monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(write)
    alone = vault.walk()
    assert is_done(early())
    looked: list[str] = []
    look = Vault._list

    def looking(self: Vault, folder: str, *more: Any) -> None:
        looked.append(folder)
        look(self, folder, *more)

    monkeypatch.setattr(Vault, "_list", looking)

    vault.walk(alone.listings)

    assert sorted(looked) == ["", "a/", "b/"]  # a folder that is not ASCII, a link, capitals


# Once it has looked, another process may index what was changed since: that must not be taken back.
def test_what_another_process_stored_meanwhile_stays(vault: Vault, write: Write, early: Callable[[], Second]) -> None:
    filled(write)
    write("gone/x.md", "tea")
    assert is_done(early())
    write("a/0.md", "much more tea")
    write("a/new.md", "tea")
    write("fresh/new.md", "tea")
    (vault.root / "gone" / "x.md").unlink()
    (vault.root / "gone").rmdir()
    (vault.root / "c d" / "1.md").rename(vault.root / "1.md")
    now = vault.walk()

    found = vault.walk(now.listings)

    assert found.files.items() >= {path: mark for path, mark in now.files.items() if "fresh" not in path}.items()
    assert found.files.keys() <= now.files.keys()
    assert found.problems == now.problems


def test_whatever_happens_meanwhile_each_folder_is_as_it_was_then_or_is_now(
    vault: Vault, write: Write, early: Callable[[], Second]
) -> None:
    chosen = random.Random(0)
    filled(write)
    before = vault.walk()
    for turn in range(20):
        process = early()
        assert turn % 2 or is_done(process)
        for _ in range(chosen.randrange(4)):
            write(f"{chosen.choice(['', 'a/', 'b/inner/', 'c d/', 'é/'])}{chosen.randrange(5)}.md", f"tea {turn}")

        found = vault.walk(before.listings)

        now = vault.walk()
        assert found.listings.keys() == now.listings.keys()
        for folder, listing in found.listings.items():
            assert listing in (before.listings.get(folder), now.listings[folder])
        before = now


@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGSTOP])
def test_one_that_was_begun_early_and_stopped_costs_only_time(
    vault: Vault, write: Write, early: Callable[[], Second], stop: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vault_mind.listing, "PATIENCE", 0.1)
    filled(write)
    alone = vault.walk()
    process = early()
    os.kill(process._process, stop)

    assert vault.walk(alone.listings).listings == alone.listings
    with pytest.raises(ChildProcessError):
        os.waitpid(process._process, 0)  # nothing is left of it


def test_a_vault_other_than_that_which_was_begun_is_listed_all_the_same(
    vault: Vault, write: Write, tmp_path: Path, early: Callable[[], Second]
) -> None:
    filled(write)
    (tmp_path / "tea.md").write_text("tea")
    other = Vault(tmp_path)
    for known in (other.walk().listings, None):
        early()

        assert list(other.walk(known).files) == ["tea.md"]
        assert vault_mind.listing._early == []


def test_a_vault_that_ignores_files_is_not_listed_by_what_knows_nothing_of_it(
    vault: Vault, write: Write, early: Callable[[], Second]
) -> None:
    filled(write)
    ignoring = Vault(vault.root, ["a/"])
    known = ignoring.walk().listings
    early()

    assert ignoring.walk(known).listings == known
    assert not [path for path in ignoring.walk(known).files if path.startswith("a/")]


def test_what_was_begun_is_not_used_once_a_move_was_ended_for_a_writer_that_died(
    vault: Vault, write: Write, early: Callable[[], Second]
) -> None:
    file = write("a.md", "tea")
    vault._note.parent.mkdir(parents=True)
    vault._note.write_text(json.dumps([str(file), str(vault.root / "b.md")]))
    known = vault.walk().listings
    assert is_done(early())

    vault.tidy()

    assert vault_mind.listing._early == []
    assert vault.walk(known).files == vault.walk().files


BLOCKED = """
import sys, time
from vault_mind import listing
listing.begin(sys.argv[1])
print(listing._early[0]._process, flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGINT])
def test_when_the_program_is_killed_the_process_that_it_began_ends(tmp_path: Path, stop: signal.Signals) -> None:
    for number in range(1_500):  # so many that it waits for a reader
        (tmp_path / str(number)).mkdir()
    command = [sys.executable, "-c", BLOCKED, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
        assert program.stdout
        child = int(program.stdout.readline())
        program.send_signal(stop)
        program.communicate(timeout=60)

    until = time.monotonic() + 60
    while is_running(child) and time.monotonic() < until:
        time.sleep(0.01)
    assert not is_running(child)


def is_running(process: int) -> bool:
    """Whether it is there; one that nobody has waited for is not."""
    status = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True, check=False
    ).stdout
    return bool(status.strip()) and not status.startswith("Z")


def test_where_no_process_can_be_forked_nothing_is_begun(
    vault: Vault, always_two: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused() -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", refused)
    before = len(os.listdir("/proc/self/fd")) if os.path.exists("/proc/self/fd") else 0

    begin(str(vault.root))

    assert vault_mind.listing._early == []
    assert not before or len(os.listdir("/proc/self/fd")) == before

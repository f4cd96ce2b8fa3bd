"""Whether a folder is as it was: a no may be wrong and only costs another look, a yes must not be."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from vault_mind import unchanged

FINE = 1_700_000_000_123_456_789  # ns, of a disk that keeps them
WHOLE = 1_700_000_000_000_000_000


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a file in it that nobody has touched for a while."""
    monkeypatch.setattr(unchanged, "LONG", 600.0)  # however slow this machine is
    (tmp_path / "tea.md").write_text("The user drinks tea.")
    until_old(tmp_path)
    return tmp_path


def until_old(folder: Path) -> None:
    """Wait until the folder's times are old enough to be told from the next change's."""
    end = time.monotonic() + 20
    while unchanged.seen(str(folder)) is None and time.monotonic() < end:
        time.sleep(0.02)


def test_a_folder_that_nobody_touched_is_as_it_was(folder: Path) -> None:
    before = unchanged.seen(str(folder))
    (folder / "tea.md").read_text()

    assert before is not None
    assert unchanged.still(str(folder), before)


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "coffee.md").write_text("The user drinks coffee."),
        lambda folder: (folder / "tea.md").unlink(),
        lambda folder: (folder / "tea.md").rename(folder / "green.md"),
        lambda folder: (folder / "tea.md").rename(folder.parent / f"{folder.name}-moved.md"),
        lambda folder: os.link(folder / "tea.md", folder / "again.md"),
        lambda folder: (folder / "inner").mkdir(),
        lambda folder: ((folder / "x").write_text(""), (folder / "x").unlink()),
        lambda folder: (folder / ".new").rename(folder / "tea.md") if (folder / ".new").write_text("x") else None,
    ],
    ids=["made", "deleted", "renamed", "moved away", "linked", "a folder", "made and deleted", "replaced"],
)
def test_whatever_comes_or_goes_is_seen(change: Callable[[Path], object], folder: Path) -> None:
    before = unchanged.seen(str(folder))

    change(folder)

    assert before is not None
    assert not unchanged.still(str(folder), before)


def test_another_folder_of_that_name_is_not_the_same(folder: Path, tmp_path: Path) -> None:
    place = folder / "memories"
    place.mkdir()
    until_old(place)
    before = unchanged.seen(str(place))

    place.rename(folder / "old")
    (folder / "memories").mkdir()

    assert before is not None
    assert not unchanged.still(str(place), before)
    assert unchanged.seen(str(folder / "nowhere")) is None
    assert not unchanged.still(str(folder / "nowhere"), None)


@pytest.mark.parametrize("ahead", [0, 3600])
def test_a_folder_that_was_changed_just_now_or_in_the_future_says_nothing(ahead: int, folder: Path) -> None:
    moment = time.time_ns() + ahead * 10**9
    os.utime(folder, ns=(moment, moment))

    assert unchanged.seen(str(folder)) is None


# A disk that keeps whole seconds gives two changes of one second the same time.
@pytest.mark.parametrize(("age", "known"), [(200_000_000, False), (2_000_000_000, False), (60_000_000_000, True)])
def test_times_in_whole_seconds_have_to_be_older(
    age: int, known: bool, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unchanged, "_status", lambda _: (1, 2, WHOLE, WHOLE))
    monkeypatch.setattr(time, "time_ns", lambda: WHOLE + age)

    assert (unchanged.seen(str(folder)) is not None) == known


@pytest.mark.parametrize(("age", "known"), [(10_000_000, False), (200_000_000, True)])
def test_times_in_nanoseconds_need_not(age: int, known: bool, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unchanged, "_status", lambda _: (1, 2, FINE, FINE))
    monkeypatch.setattr(time, "time_ns", lambda: FINE + age)

    assert (unchanged.seen(str(folder)) is not None) == known


def test_a_look_of_long_ago_counts_no_more(folder: Path) -> None:
    before = unchanged.seen(str(folder))

    assert before is not None
    assert not unchanged.still(str(folder), (before[0], before[1] - unchanged.LONG))


def test_what_was_noted_is_given_once(folder: Path) -> None:
    unchanged.note(str(folder))
    (folder / "coffee.md").write_text("The user drinks coffee.")

    first = unchanged.noted(str(folder))
    until_old(folder)
    second = unchanged.noted(str(folder))

    assert not unchanged.still(str(folder), first)
    assert unchanged.still(str(folder), second)

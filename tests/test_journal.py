"""The journal: exchanges that wait to be learned from."""

import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conftest import NOW
from vault_mind.journal import Exchange, Journal

SAID = Exchange("I live in Oslo, caf\udce9 😀", "before", "reply", NOW.isoformat(), "chat", "claude")


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    """An empty journal, whose folder is not there yet."""
    return Journal(tmp_path / "state" / "journal")


POSIX = pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes, and links only for the privileged")


def mode(path: Path) -> int:
    """Who may do what with `path`."""
    return stat.S_IMODE(path.stat().st_mode)


def at(minute: int, message: str, mind: str = "claude") -> Exchange:
    """What was said in that minute."""
    return replace(SAID, message=message, at=NOW.replace(minute=minute).isoformat(), mind=mind)


def test_what_was_added_waits_as_it_was_said_until_it_is_crossed_off(journal: Journal) -> None:
    assert journal.waiting() == []

    added = journal.add(SAID)

    assert journal.waiting() == [added]
    assert added.exchange == SAID

    journal.cross_off(added)
    journal.cross_off(added)  # another process was first
    assert journal.waiting() == []


@POSIX
def test_nobody_else_may_read_what_the_user_said(journal: Journal) -> None:
    before = os.umask(0)
    try:
        added = journal.add(SAID)
        journal.failed(added)
    finally:
        os.umask(before)

    assert mode(journal.folder) == 0o700
    assert {mode(file) for file in journal.folder.iterdir()} == {0o600}


@POSIX
def test_the_folders_that_are_made_on_the_way_are_private_too(journal: Journal) -> None:
    journal.add(SAID)

    assert mode(journal.folder.parent) == 0o700


def test_the_oldest_comes_first_whatever_the_order_of_writing(journal: Journal) -> None:
    for minute in (30, 10, 20):
        journal.add(at(minute, f"said at {minute}"))

    assert [waiting.exchange.message for waiting in journal.waiting()] == ["said at 10", "said at 20", "said at 30"]


def test_two_things_said_in_the_same_moment_both_wait(journal: Journal) -> None:
    journal.add(SAID)
    journal.add(SAID)

    assert len(journal.waiting()) == 2


def test_each_mind_has_its_own(journal: Journal) -> None:
    journal.add(at(1, "to Claude"))
    journal.add(at(2, "to nobody", mind="offline"))

    assert [waiting.exchange.message for waiting in journal.waiting("offline")] == ["to nobody"]
    assert len(journal.waiting()) == 2


def test_a_failure_is_counted_and_changes_nothing_else(journal: Journal) -> None:
    journal.failed(journal.add(SAID))
    journal.failed(journal.waiting()[0])

    assert [waiting.exchange for waiting in journal.waiting()] == [replace(SAID, tries=2)]


def test_a_failure_of_what_was_crossed_off_meanwhile_does_not_bring_it_back(journal: Journal) -> None:
    added = journal.add(SAID)
    journal.cross_off(added)

    journal.failed(added)

    assert journal.waiting() == []


@pytest.mark.parametrize(
    "damage",
    [b"", b"{", b"null", b"[]", b'"text"', b"{}", b"\xff\xfe", b'{"message": "hi"}', b"[" * 100_000, b"\0" * 100],
    ids=lambda data: repr(data[:16]),
)
def test_a_damaged_file_is_passed_over_and_kept(journal: Journal, damage: bytes) -> None:
    journal.add(SAID)
    damaged = journal.folder / "0.json"
    damaged.write_bytes(damage)

    assert [waiting.exchange for waiting in journal.waiting()] == [SAID]
    assert damaged.read_bytes() == damage


def test_a_file_of_a_newer_version_is_passed_over(journal: Journal) -> None:
    added = journal.add(SAID)
    newer = {**json.loads(added.file.read_bytes()), "mood": "good"}
    added.file.write_text(json.dumps(newer), encoding="utf-8")

    assert journal.waiting() == []
    assert added.file.exists()


@POSIX
def test_a_folder_or_a_link_that_looks_like_an_exchange_costs_nothing(journal: Journal) -> None:
    journal.add(SAID)
    (journal.folder / "1.json").mkdir()
    (journal.folder / "2.json").symlink_to("nowhere")

    assert len(journal.waiting()) == 1


def test_one_at_a_time_may_learn_from_an_exchange(journal: Journal) -> None:
    waiting = journal.add(SAID)

    def elsewhere() -> bool:  # a thread stands for a process: the lock is the operating system's
        with journal.claimed(waiting) as mine:
            return mine

    with journal.claimed(waiting) as mine, ThreadPoolExecutor(1) as pool:
        assert mine
        assert pool.submit(elsewhere).result() is False
    assert elsewhere() is True


def test_what_was_crossed_off_meanwhile_is_not_to_be_done(journal: Journal) -> None:
    waiting = journal.add(SAID)
    journal.cross_off(waiting)

    with journal.claimed(waiting) as mine:
        assert not mine

"""The journal: exchanges that wait to be learned from."""

import json
import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conftest import NOW
from vault_mind.journal import Exchange, Journal, Proposed, in_the_works
from vault_mind.memory import Memory, compose, parse

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


# --- what a mind found ----------------------------------------------------------------------------

CAT = Proposed("fact", "The user has a cat.", "I have a cat")
OSLO = Proposed("fact", "The user lives in Oslo.", "I live in Oslo")
BOTH = replace(SAID, proposed=(CAT, OSLO))


def written(one: Proposed, body: str | None = None, at: str = SAID.at, chat: str = SAID.chat) -> Memory:
    """The memory that a candidate became."""
    keys = {"kind": "fact", "source": "chat", "created_at": at, "quote": one.quote, "chat": chat}
    return parse("x.md", compose(body or one.text, keys))


def test_what_a_mind_found_and_how_far_it_was_dealt_with_is_kept(journal: Journal) -> None:
    waiting = journal.add(SAID)

    journal.found(waiting, [CAT, OSLO])
    assert journal.now(waiting) == replace(waiting, exchange=BOTH)
    journal.failed(waiting)
    journal.dealt_with(waiting, 1)
    journal.dealt_with(waiting, 0)  # another process knew less

    assert [each.exchange for each in journal.waiting()] == [replace(BOTH, done=1, tries=1)]


def test_what_was_crossed_off_meanwhile_does_not_come_back(journal: Journal) -> None:
    waiting = journal.add(SAID)
    journal.cross_off(waiting)

    journal.found(waiting, [CAT])
    journal.dealt_with(waiting, 1)

    assert journal.now(waiting) is None
    assert journal.waiting() == []


def test_an_exchange_of_an_older_version_is_read_and_changed(journal: Journal) -> None:
    added = journal.add(SAID)
    older = {
        name: value for name, value in json.loads(added.file.read_bytes()).items() if name not in ("proposed", "done")
    }
    added.file.write_text(json.dumps(older, indent=1), encoding="utf-8")

    journal.failed(journal.waiting()[0])
    journal.found(added, [CAT])

    assert [each.exchange for each in journal.waiting()] == [replace(SAID, tries=1, proposed=(CAT,))]


def test_tags_and_wishes_are_kept_and_a_candidate_of_an_older_version_has_neither(journal: Journal) -> None:
    waiting = journal.add(SAID)
    both = (CAT._replace(tags=("pets", "home")), OSLO._replace(kind="", forget=True))

    journal.found(waiting, both)
    assert [each.exchange.proposed for each in journal.waiting()] == [both]
    older = {**json.loads(waiting.file.read_bytes()), "proposed": [CAT[:3]]}
    waiting.file.write_text(json.dumps(older), encoding="utf-8")

    assert [each.exchange.proposed for each in journal.waiting()] == [(CAT,)]


@pytest.mark.parametrize(
    "damage",
    [{"proposed": "x"}, {"proposed": [1]}, {"proposed": [["fact", "text"]]}, {"proposed": [["fact", "text", 1]]},
     {"proposed": [["a", "b", "c", "d"]]}, {"proposed": [["a", "b", "c", [1], False]]},
     {"proposed": [["a", "b", "c", [], 0]]}, {"proposed": [["a", "b", "c", "d", True]]},
     {"done": "1"}, {"done": None}, {"done": -1}, {"done": True}],
    ids=str,
)  # fmt: skip
def test_damaged_candidates_make_a_damaged_exchange(damage: dict[str, object], journal: Journal) -> None:
    added = journal.add(BOTH)
    added.file.write_text(json.dumps({**json.loads(added.file.read_bytes()), **damage}), encoding="utf-8")

    journal.dealt_with(added, 1)

    assert journal.waiting() == []
    assert journal.damaged() == [added.file]


@pytest.mark.parametrize(
    ("exchange", "memory", "number"),
    [
        (BOTH, written(CAT), 0),
        (replace(BOTH, done=1), written(OSLO), 1),
        (replace(BOTH, done=1), written(CAT), None),  # dealt with already
        (BOTH, written(OSLO), None),  # not yet its turn
        (replace(BOTH, done=2), written(OSLO), None),
        (SAID, written(CAT), None),
        (replace(SAID, proposed=(CAT._replace(forget=True),)), written(CAT), None),  # a wish becomes no memory
        (BOTH, written(CAT, body="Tom is a cat."), 0),  # its owner corrected the sentence
        (BOTH, written(CAT, at="2026-01-01"), 0),  # or the date
        (BOTH, written(CAT, at="2026-01-01", body="Tom is a cat."), None),
        (BOTH, written(CAT, chat="another"), None),
        (replace(BOTH, proposed=(CAT, OSLO._replace(quote=CAT.quote))), written(CAT, body="Tom is a cat."), None),
        (replace(BOTH, proposed=(CAT, OSLO._replace(quote=CAT.quote))), written(CAT), 0),
        (replace(SAID, proposed=(CAT._replace(quote="a caf\udce9"),)), written(CAT._replace(quote="a caf?")), 0),
    ],
)
def test_the_memory_that_was_being_written_is_known_again(
    exchange: Exchange, memory: Memory, number: int | None
) -> None:
    assert in_the_works(exchange, memory) == number


def test_a_lock_whose_exchange_is_gone_is_swept(journal: Journal) -> None:
    added = journal.add(SAID)
    left = journal.folder / "1-abc.lock"
    left.touch()
    with journal.claimed(added):
        journal.add(SAID)
        assert added.file.with_suffix(".lock").exists()

    assert not left.exists()
    assert (journal.folder / ".lock").exists()


@POSIX
def test_an_exchange_is_private_at_every_moment(tmp_path: Path) -> None:
    script = """
import os, sys
os.umask(0)
from dataclasses import replace
from pathlib import Path
from vault_mind.journal import Exchange, Journal, Proposed
seen = set()
journal = Journal(Path(sys.argv[1]) / "journal")
def look(event, arguments):
    if event in ("os.link", "os.rename", "os.chmod", "os.remove", "open", "fcntl.flock") and journal.folder.is_dir():
        for name in os.listdir(journal.folder):
            try:
                seen.add(oct(os.lstat(journal.folder / name).st_mode & 0o777))
            except FileNotFoundError:
                pass
sys.addaudithook(look)
added = journal.add(Exchange("said", "", "ok", "2026-11-29T18:42:07+00:00", "c", "m"))
journal.found(added, [Proposed("fact", "a", "b")])
journal.failed(added)
with journal.claimed(added):
    journal.cross_off(added)
print(*seen)
"""
    ended = subprocess.run([sys.executable, "-c", script, tmp_path], capture_output=True, text=True, check=True)

    assert ended.stdout.strip() == "0o600"

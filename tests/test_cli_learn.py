"""The command that learns without a chat: what it shows, what it leaves, how it ends."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from datetime import timedelta

import pytest

from tests.conftest import NOW, OnTerminal, Run
from tests.messages_api import Answer, MessagesApi, remembering
from vault_mind import Vault
from vault_mind.config import state_folder
from vault_mind.journal import MOST_TRIES, Exchange, Journal

OSLO = ("fact", "The user lives in Oslo.", "I live in Oslo")
Left = Callable[..., None]


@pytest.fixture
def journal(vault: Vault) -> Journal:
    """The vault's journal."""
    return Journal(state_folder(vault.root) / "journal")


@pytest.fixture
def left(journal: Journal) -> Left:
    """Leave exchanges in the journal, a minute apart: left("I live in Oslo.", mind="claude", tries=2)."""

    def leave(*messages: str, mind: str = "offline", tries: int = 0) -> None:
        first = len(journal.waiting())
        for number, message in enumerate(messages, first):
            at = (NOW + timedelta(minutes=number)).isoformat()
            journal.add(Exchange(message, "", "ok", at, "earlier", mind, tries))

    return leave


def messages(journal: Journal) -> list[str]:
    return [one.exchange.message for one in journal.waiting()]


def test_what_waits_is_learned_from_in_order_and_shown_by_its_first_words(
    vault: Vault, journal: Journal, left: Left, run: Run
) -> None:
    left("I live in Oslo.", "Good morning!", "I live in Bergen. " + "And so it went on. " * 20)

    ended = run("learn")

    lines = ended.stdout.splitlines()
    assert ended.exit_code == 0
    assert lines[:4] == [
        "2026-11-29  I live in Oslo.",
        "  learned: The user lives in Oslo. (memories/the-user-lives-in-oslo.md)",
        "2026-11-29  Good morning!",
        "  nothing in it to learn",
    ]
    assert lines[4].startswith("2026-11-29  I live in Bergen. And so it went on.")
    assert lines[4].endswith("…")
    assert len(lines[4]) < 100
    assert "in place of memories/the-user-lives-in-oslo.md" in lines[5]
    assert "nothing waits to be learned from" in ended.stderr
    assert journal.waiting() == []


@pytest.mark.parametrize("options", [[], ["--again"], ["--json"]])
def test_an_empty_journal_is_said_plainly(vault: Vault, call: Run, options: list[str]) -> None:
    ended = call("learn", *options)

    assert ended.exit_code == 0
    assert ended.stderr == "nothing waits to be learned from\n"
    assert ended.stdout == ("" if "--json" not in options else '{\n  "exchanges": [],\n  "waiting": []\n}\n')


@pytest.mark.parametrize(
    ("number", "said"), [(1, "1 exchange waiting for Claude"), (2, "2 exchanges waiting for Claude")]
)
def test_without_a_key_what_claude_took_part_in_waits_and_is_counted(
    vault: Vault, journal: Journal, left: Left, call: Run, number: int, said: str
) -> None:
    left(*["I live in Oslo."] * number, mind="claude")
    left("I have a cat.")

    ended = call("learn")

    assert ended.exit_code == 1
    assert f"{said}: set ANTHROPIC_API_KEY" in ended.stderr
    assert [memory.body for memory in vault.memories()] == ["The user has a cat."]
    assert len(journal.waiting()) == number


def test_with_a_key_what_the_offline_mind_took_part_in_is_left_to_it(
    vault: Vault, journal: Journal, left: Left, call: Run, online: MessagesApi
) -> None:
    online.script(remembering(OSLO))
    left("I live in Oslo.", mind="claude")
    left("I have a cat.")

    first = call("learn")
    second = call("learn", "--offline")

    assert (first.exit_code, second.exit_code) == (1, 0)
    assert "1 exchange waiting for the offline mind: vault-mind learn --offline" in first.stderr
    assert len(online.requests) == 1
    assert journal.waiting() == []


def test_a_server_that_cannot_be_reached_ends_it_at_once_and_costs_no_try(
    journal: Journal, left: Left, call: Run
) -> None:
    left("I live in Oslo.", "I have a cat.", mind="claude")
    nobody = {"ANTHROPIC_BASE_URL": "http://127.0.0.1:1", "ANTHROPIC_API_KEY": "test-key-0123456789"}

    ended = call("learn", env=nobody)

    assert ended.exit_code == 1
    assert ended.stdout.count("cannot be reached; it is kept and will be tried again") == 1
    assert "2 exchanges still to be learned from: try again later" in ended.stderr
    assert [one.exchange.tries for one in journal.waiting()] == [0, 0]


def test_what_failed_too_often_is_shown_and_tried_again_when_asked(
    vault: Vault, journal: Journal, left: Left, call: Run, online: MessagesApi
) -> None:
    online.script(Answer("no json"), remembering(OSLO))
    left("I live in Oslo.", mind="claude", tries=MOST_TRIES - 1)

    last = call("learn")
    shown = call("learn")
    again = call("learn", "--again")

    assert "it is kept, and tried no more but by: vault-mind learn --again" in last.stdout
    assert (last.exit_code, shown.exit_code, again.exit_code) == (1, 1, 0)
    assert shown.stdout == ""
    assert shown.stderr == (
        "1 exchange failed 3 times or more; to try again: vault-mind learn --again\n  I live in Oslo.\n"
    )
    assert [memory.body for memory in vault.memories()] == ["The user lives in Oslo."]
    assert journal.waiting() == []


def test_one_that_fails_does_not_keep_the_others_waiting(
    vault: Vault, journal: Journal, left: Left, call: Run, online: MessagesApi
) -> None:
    online.script(Answer("no json"), remembering(OSLO))
    left("Something odd.", "I live in Oslo.", mind="claude")

    ended = call("learn")

    assert ended.exit_code == 1
    assert [memory.body for memory in vault.memories()] == ["The user lives in Oslo."]
    assert messages(journal) == ["Something odd."]


def test_json_holds_what_came_of_each_and_what_still_waits(vault: Vault, left: Left, call: Run) -> None:
    left("I live in Oslo.", "I live in Bergen.", "Please forget that I live in Bergen.")
    left("I have a cat.", mind="claude")

    ended = call("learn", "--json")

    found = json.loads(ended.stdout)
    first, second, third = found["exchanges"]
    assert (first["said"], first["at"], first["chat"], first["failed"]) == (
        "I live in Oslo.", NOW.isoformat(), "earlier", None,
    )  # fmt: skip
    assert [memory["path"] for memory in first["learned"]] == ["memories/the-user-lives-in-oslo.md"]
    assert second["superseded"] == [
        {"path": "memories/the-user-lives-in-oslo.md", "by": "memories/the-user-lives-in-bergen.md"}
    ]
    assert third["to_forget"] == ["memories/the-user-lives-in-bergen.md"]
    assert [(one["said"], one["mind"], one["tries"]) for one in found["waiting"]] == [("I have a cat.", "claude", 0)]
    assert ended.exit_code == 1


def test_what_is_to_be_forgotten_is_told_and_nobody_is_asked(vault: Vault, left: Left, run: Run) -> None:
    left("I have a cat.", "Forget that I have a cat.")

    ended = run("learn", input="y\ny\n")

    assert ended.exit_code == 0
    assert "to do so: vault-mind forget memories/the-user-has-a-cat.md" in ended.stderr
    assert len(list(vault.memories())) == 1


def test_what_another_process_is_at_is_left_to_it_and_said(journal: Journal, left: Left, run: Run) -> None:
    left("I live in Oslo.")

    with journal.claimed(journal.waiting()[0]):
        ended = run("learn")

    assert (ended.exit_code, ended.stdout) == (1, "")
    assert "1 exchange still to be learned from: another vault-mind is at it" in ended.stderr


def test_a_file_that_cannot_be_read_is_named_as_one_for_the_doctor(journal: Journal, left: Left, call: Run) -> None:
    left("I live in Oslo.")
    (journal.folder / "0.json").write_text("{")

    ended = call("learn")

    assert ended.exit_code == 0
    assert "1 exchange in the journal cannot be read; see: vault-mind doctor" in ended.stderr


def test_what_was_said_never_drives_the_terminal_and_which_one_is_being_learned_from_is_shown(
    left: Left, on_terminal: OnTerminal, online: MessagesApi
) -> None:
    online.script(Answer('{"memories": []}', delay=0.3))
    left("\x1b]0;owned\x07I live in Oslo.", "[bold]I live[/x] in \u202eBergen.", "I live\nin\tGhent.", mind="claude")

    shown = on_terminal("learn")

    assert shown.exit_code == 0
    for bad in (b"\x07", b"\x1b]0", "\u202e".encode()):
        assert bad not in shown.output
    for good in (
        b"Oslo.",
        b"[bold]I live[/x] in",
        b"I live in Ghent.",
        b"learning from 1 of 3: ",
        b"learning from 3 of 3: ",
    ):
        assert good in shown.output


def test_long_work_says_how_far_it_is_and_ctrl_c_leaves_the_rest(
    vault: Vault, journal: Journal, left: Left, online: MessagesApi
) -> None:
    held = threading.Event()
    online.script(remembering(OSLO), Answer('{"memories": []}', until=held))
    left("I live in Oslo.", "two", "three", mind="claude")
    command = [sys.executable, "-m", "vault_mind", "learn"]

    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
    ) as process:
        assert process.stdout is not None
        first = process.stdout.readline() + process.stdout.readline()
        deadline = time.monotonic() + 60
        while len(online.requests) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    held.set()

    assert "learned: The user lives in Oslo." in first
    assert (out, process.returncode) == ("", 1)
    assert err.startswith("stopped; what was not learned from goes on waiting\n")
    assert messages(journal) == ["two", "three"]
    assert [one.exchange.tries for one in journal.waiting()] == [0, 0]

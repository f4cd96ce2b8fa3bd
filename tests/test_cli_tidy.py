"""The command `tidy`: what it shows, asks, writes and says, and how it ends."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.conftest import NOW, OnTerminal, Run
from tests.histories import by_hand
from tests.messages_api import Answer, MessagesApi
from vault_mind import Index, Vault
from vault_mind.cli_tidy import numbered
from vault_mind.record import Record

Said = Callable[..., str]


@pytest.fixture
def said(vault: Vault, owner: None) -> Iterator[Said]:
    """Save a sentence as said so many days ago, in a vault in git: said("The user likes tea.", 3)."""
    Record(vault, "ours").start([".vault-mind.toml"])

    def saved(body: str, ago: int = 0) -> str:
        return vault.save(body, kind="fact", source="chat", created_at=NOW - timedelta(days=ago)).path

    yield saved


@pytest.fixture
def three(said: Said) -> list[str]:
    """Three pairs that say the same, the newer beside the older."""
    return [
        said(sentence, ago)
        for sentence in ("The user has a boat.", "The user likes tea.", "The user rows.")
        for ago in (2, 1)
    ]


def gone(vault: Vault) -> list[str]:
    """The paths that are superseded."""
    return [memory.path for memory in vault.memories() if memory.superseded]


def files(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.rglob("*.md")}


def test_a_dry_run_shows_every_diff_and_writes_nothing(call: Run, vault: Vault, three: list[str]) -> None:
    before = files(vault.root)

    ended = call("tidy", "--dry-run")

    assert ended.exit_code == 1
    assert ended.stdout.startswith(
        "1 of 3: says the same\n"
        f"stays     {three[1]}: The user has a boat.\n"
        f"gives way {three[0]}: The user has a boat.\n"
        f"--- {three[1]}\n"
    )
    assert '+superseded_by: "[[the-user-likes-tea-2]]"\n' in ended.stdout
    assert ended.stderr.endswith("nothing was written\n")
    assert files(vault.root) == before


def test_where_there_is_nothing_to_tidy_it_says_so(call: Run, said: Said) -> None:
    said("The user likes tea.")

    ended = call("tidy")

    assert (ended.exit_code, ended.stdout) == (0, "")
    assert ended.stderr == ("only duplicates are looked for: it takes a model to see contradictions\nnothing to tidy\n")


@pytest.mark.parametrize(
    ("answer", "chosen", "exit_code"),
    [
        ("all\n", [0, 2, 4], 0),
        ("2\n", [2], 0),
        ("1, 3\n", [0, 4], 0),
        ("9\n2-3\n", [2, 4], 0),
        ("none\n", [], 1),
        ("\n", [], 1),
        ("", [], 1),
        ("perhaps", [], 1),
        ("perhaps\n", [], 1),
    ],
)
def test_only_what_is_chosen_is_written(
    call: Run, vault: Vault, three: list[str], answer: str, chosen: list[int], exit_code: int
) -> None:
    ended = call("tidy", "--duplicates-only", input=answer)

    assert ended.exit_code == exit_code
    assert "Write which of 3? all, none, or numbers as in 1,3-5 [none]" in ended.stderr
    assert gone(vault) == sorted(three[number] for number in chosen)
    assert ("vault-mind undo takes it back" in ended.stderr) is bool(chosen)
    assert ended.stderr.endswith("kept\n") is not bool(chosen)


def test_with_yes_it_writes_one_version_and_a_second_time_there_is_nothing_to_do(
    call: Run, vault: Vault, three: list[str]
) -> None:
    first, second = call("tidy", "--yes"), call("tidy", "--yes")

    assert (first.exit_code, second.exit_code) == (0, 0)
    assert "3 memories are superseded now" in first.stderr
    assert second.stderr.endswith("nothing to tidy\n")
    assert gone(vault) == sorted(three[::2])
    assert by_hand(vault.root, "log", "-1", "--format=%s").strip() == "Tidy: 3 memories that said what others say"
    assert call("undo", "--yes").exit_code == 0
    assert gone(vault) == []


def test_as_json_the_proposals_and_their_outcome_are_all_that_is_on_stdout(
    call: Run, vault: Vault, three: list[str]
) -> None:
    (vault.root / "note.md").write_text("Tea.\n")

    shown, done = call("tidy", "--json", "--dry-run"), call("tidy", "--json", "--yes")
    proposed, written = json.loads(shown.stdout), json.loads(done.stdout)

    assert (shown.exit_code, done.exit_code) == (1, 0)
    assert [each["done"] for each in proposed["proposals"]] == [[], [], []]
    assert proposed["dry_run"] is True
    assert [each["done"] for each in written["proposals"]] == [[three[0]], [three[2]], [three[4]]]
    assert {each["why"] for each in written["proposals"]} == {"duplicate"}
    assert written["proposals"][0]["diff"].startswith(f"--- {three[1]}\n")
    assert written["left_alone"] == {"notes of yours": 1}
    assert written["questions"] >= 3


def test_as_json_without_yes_the_proposals_are_shown_beside_the_question(call: Run, three: list[str]) -> None:
    ended = call("tidy", "--json", input="2\n")

    assert "1 of 3: says the same" in ended.stderr
    assert [bool(each["done"]) for each in json.loads(ended.stdout)["proposals"]] == [False, True, False]


def test_what_is_taken_back_is_named_and_the_exit_code_says_so(call: Run, vault: Vault, said: Said) -> None:
    old = said("The user likes green jasmine tea.", 2)
    said("The user likes green jasmine tea and honey.", 1)
    more = "oolong sencha matcha assam chai mate rooibos darjeeling"
    title = "the user likes green jasmine tea"
    (vault.root / "rival.md").write_text(f"---\ntitle: {title}\n---\n{title.capitalize()} {more}.\n")
    before = files(vault.root)

    ended = call("tidy", "--yes", env={"VAULT_MIND_TOP_K": "1"})

    assert ended.exit_code == 1
    assert f"taken back: {old}: “The user likes green jasmine tea.” would not find it any more" in ended.stderr
    assert files(vault.root) == before


def test_verbose_says_how_many_were_left_alone_and_why(run: Run, vault: Vault) -> None:
    (vault.root / "note.md").write_text("Tea.\n")

    ended = run("--verbose", "tidy")

    assert "left alone: 1 memories: notes of yours" in ended.stderr


def test_before_a_model_is_asked_it_says_what_that_takes(
    call: Run, vault: Vault, said: Said, online: MessagesApi
) -> None:
    said("The user lives in Bergen.", 9)
    said("The user moved to Oslo.", 1)
    prices = {"VAULT_MIND_PRICES": "small=2/10", "VAULT_MIND_EXTRACTION_MODEL": "small"}

    refused = call("tidy", input="n\n", env=prices)
    unasked = call("tidy", "--duplicates-only"), call("tidy", "--offline")

    assert refused.exit_code == 0
    assert "contradictions with small: 1 call, about 4" in refused.stderr
    assert "tokens in and 100 out; about $0.00" in refused.stderr
    assert "Ask the model for contradictions? [y/N]" in refused.stderr
    assert [ended.exit_code for ended in unasked] == [0, 0]
    assert online.requests == []


@pytest.mark.parametrize(("answers", "marked"), [("y\nall\n", True), ("y\n", False)])
def test_what_the_model_says_is_out_of_date_is_shown_and_asked_for_as_well(
    call: Run, vault: Vault, said: Said, online: MessagesApi, answers: str, marked: bool
) -> None:
    old, new = said("The user lives in Bergen.", 9), said("The user moved to Oslo.", 1)
    online.script(Answer(json.dumps({"outdated": [{"old": 1, "by": 2}]})))

    ended = call("tidy", input=answers)

    assert "what they cost is not known here" in ended.stderr or "about $" in ended.stderr
    assert ended.stdout.startswith(f"1 of 1: out of date, says the model\nstays     {new}: The user moved to Oslo.\n")
    assert gone(vault) == ([old] if marked else [])
    if marked:
        assert by_hand(vault.root, "log", "-1", "--format=%s").strip() == "Tidy: 1 memory that is out of date"


def test_a_model_that_fails_leaves_the_duplicates_and_its_own_exit_code(
    call: Run, vault: Vault, three: list[str], online: MessagesApi
) -> None:
    online.script(Answer(status=401, error="authentication_error", message="no"))
    vault.save("The user lives in Bergen.", kind="fact", source="chat", created_at=NOW - timedelta(days=9))
    vault.save("The user moved to Oslo.", kind="fact", source="chat", created_at=NOW)

    ended = call("tidy", "--yes")

    assert ended.exit_code == 3
    assert "rejected the API key" in ended.stderr
    assert gone(vault) == sorted(three[::2])


def test_a_model_that_fails_never_looks_as_if_there_were_nothing_to_tidy(
    call: Run, said: Said, online: MessagesApi
) -> None:
    said("The user lives in Bergen.", 9)
    said("The user moved to Oslo.", 1)
    online.script(Answer("no JSON at all"))

    ended = call("tidy", "--yes")

    assert ended.exit_code == 3
    assert "the model gave no JSON" in ended.stderr
    assert "nothing to tidy" not in ended.stderr


def test_at_a_terminal_it_is_asked_in_line_and_nothing_of_a_memory_drives_it(
    on_terminal: OnTerminal, vault: Vault, said: Said
) -> None:
    said("The user likes tea.\x1b]0;owned\x07", 2)
    said("The user likes tea!\x1b]0;owned\x07", 1)

    shown = on_terminal("tidy", after="[none]", keys="1\r")

    assert shown.exit_code == 0
    assert b"\x1b]0;" not in shown.output
    assert len(gone(vault)) == 1


@pytest.mark.skipif(os.name == "nt", reason="a matter of POSIX signals")
def test_ctrl_c_at_the_question_writes_nothing(vault: Vault, three: list[str]) -> None:
    before = files(vault.root)
    command = [sys.executable, "-m", "vault_mind", "tidy", "--vault", str(vault.root), "--duplicates-only"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}

    with subprocess.Popen(command, text=True, **pipes) as asking:  # type: ignore[call-overload]  # three pipes
        said = ""
        while "[none]" not in said and (character := asking.stderr.read(1)):
            said += character
        asking.send_signal(signal.SIGINT)
        rest = asking.stderr.read()
        ended = asking.wait(60)

    assert "[none]" in said
    assert ended != 0
    assert "Traceback" not in rest
    assert files(vault.root) == before


@pytest.mark.parametrize(
    ("answer", "numbers"),
    [
        ("all", [1, 2, 3, 4, 5]),
        ("Yes", [1, 2, 3, 4, 5]),
        ("", []),
        ("no", []),
        ("3", [3]),
        ("1,3-5", [1, 3, 4, 5]),
        (" 5 1 , 1 ", [1, 5]),
        ("2 - 3", [2, 3]),
        ("0", None),
        ("6", None),
        ("4-2", None),
        ("1;2", None),
        ("١", None),
        ("1-", None),
        ("9" * 5000, None),
    ],
)
def test_an_answer_names_numbers_or_is_asked_for_again(answer: str, numbers: list[int] | None) -> None:
    assert numbered(answer, 5) == numbers


def test_the_index_is_only_read(call: Run, vault: Vault, three: list[str]) -> None:
    call("tidy", "--yes")

    index = Index(vault)
    assert sorted(hit.memory.path for hit in index.search("boat tea rows", 6)) == sorted(three[1::2])
    index.close()

"""What all commands share: dates that are asked for, questions, the vault as it was."""

import io
import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.conftest import Run
from vault_mind import Vault
from vault_mind.command import confirm, right_now, span
from vault_mind.errors import SettingsError


@pytest.mark.parametrize(
    ("answer", "yes"),
    [("y\n", True), (" YES \n", True), ("n\n", False), ("\n", False), ("", False), ("yesterday\n", False)],
)
def test_only_a_yes_is_a_yes(monkeypatch: pytest.MonkeyPatch, answer: str, yes: bool) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(answer))

    assert confirm("Sure?") is yes


def test_without_any_input_the_answer_is_no(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)

    assert confirm("Sure?") is False


def test_a_date_is_the_span_that_it_means() -> None:
    found = span("--as-of", "2026-05")

    assert found is not None
    assert [f"{moment:%Y-%m-%d %H:%M}" for moment in found] == ["2026-05-01 00:00", "2026-06-01 00:00"]
    assert span("--as-of", None) is None
    assert span("--as-of", "") is None


def test_a_date_that_is_none_names_its_option() -> None:
    with pytest.raises(SettingsError, match="setting --since \\(flag\\): '2026-02-30' is no date"):
        span("--since", "2026-02-30")


def test_this_moment_has_an_offset() -> None:
    assert right_now().utcoffset() is not None
    assert abs(right_now() - datetime.now().astimezone()) < timedelta(minutes=1)


def test_a_vault_that_is_made_for_somebody_has_a_history_from_its_first_memory_on(
    call: Run, home: Path, owner: None
) -> None:
    ended = call("remember", "The user drinks tea")

    subjects = [version["subject"] for version in json.loads(call("log", "--json").stdout)]
    assert f"made a vault for you: {home / 'vault-mind'}" in ended.stderr
    assert "its history is kept by git" in ended.stderr
    assert subjects == ["The user drinks tea", "Begin a vault"]


def test_a_folder_that_was_there_is_given_no_repository_unasked(call: Run, vault: Vault) -> None:
    call("remember", "The user drinks tea")

    assert not (vault.root / ".git").exists()


def test_of_the_future_and_of_no_history_it_is_said_how_it_is_known(call: Run, vault: Vault) -> None:
    call("remember", "The user drinks tea")

    ended = call("list", "--as-of", "2999")

    assert ended.stdout == "memories/the-user-drinks-tea.md\n"
    assert ended.stderr.startswith(f"as of {datetime.now():%Y-}")
    assert "is in no git repository" in ended.stderr
    assert "told by the dates that memories give" in ended.stderr

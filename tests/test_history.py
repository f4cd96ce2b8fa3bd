"""The vault's git, asked, for real: where it is, in what state, its versions."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.histories import MEMORY, by_hand, learn
from vault_mind.commits import Outcome, commit_by_hand, state
from vault_mind.errors import VersionNotFoundError
from vault_mind.history import History
from vault_mind.past import tree_at, why
from vault_mind.turns import waiting
from vault_mind.undo import plan

pytestmark = pytest.mark.usefixtures("owner")


def test_a_folder_that_the_repository_around_it_ignores_gets_its_own(tmp_path: Path) -> None:
    by_hand(tmp_path, "init", "-q", ".")
    (tmp_path / ".gitignore").write_text("*\n")
    vault = tmp_path / "notes"
    vault.mkdir()

    assert History(vault).start()

    assert (vault / ".git").is_dir()


def test_no_repository_is_a_plain_answer_everywhere(tmp_path: Path) -> None:
    history = History(tmp_path)
    (tmp_path / "tea.md").write_text(MEMORY.format("tea"))

    assert "no git repository" in history.off
    assert learn(history, "coffee.md") == Outcome(None)
    assert commit_by_hand(history, "x") == Outcome(None)
    assert list(history.versions()) == []
    assert history.diff() == ""
    assert tree_at(history, datetime.now(UTC)) is None
    assert state(history) == []
    assert waiting(history) == []
    assert why(history, "tea.md").uncommitted
    with pytest.raises(VersionNotFoundError):
        plan(history)


def test_many_versions_are_read_page_by_page(plain: History, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        learn(plain, f"{number}.md", str(number))
    whole = list(plain.versions())
    monkeypatch.setattr("vault_mind.history.PAGE", 2)

    assert list(plain.versions()) == whole
    assert list(plain.versions(limit=3)) == whole[:3]
    assert list(plain.versions(limit=4)) == whole[:4]

"""What the vault said at a moment: by its versions, or by the dates that its memories give."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from vault_mind import Vault, git
from vault_mind.hindsight import as_of, current
from vault_mind.history import History

Write = Callable[[str, str | bytes], Path]
MAY = datetime(2026, 5, 3, 8, tzinfo=UTC)
HEAD = "---\nkind: fact\nsource: user\ncreated_at: {}\n{}---\n\n{}\n"


def said(vault: Vault, at: datetime) -> list[str]:
    return [memory.body for memory in current(as_of(History(vault.root), vault.memories(), at))]


def committed(vault: Vault, at: datetime) -> None:
    dates = {"GIT_AUTHOR_DATE": at.isoformat(), "GIT_COMMITTER_DATE": at.isoformat()}
    names = {f"GIT_{who}_{what}": "a" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    git.ask(vault.root, "add", "--all")
    git.ask(vault.root, "commit", "--quiet", "-m", "x", extra={**dates, **names})


def test_without_git_the_dates_of_the_memories_tell(vault: Vault, write: Write) -> None:
    write("old.md", HEAD.format(MAY.isoformat(), "superseded_by: '[[new]]'\nsuperseded_at: 2026-08-01\n", "Oslo"))
    write("new.md", HEAD.format("2026-08-01", "supersedes: '[[old]]'\n", "Bergen"))
    write("undated.md", "always")
    write("passing.md", HEAD.format(MAY.isoformat(), "expires_at: 2026-06-01\n", "a cold"))

    assert said(vault, MAY - timedelta(days=1)) == ["always"]
    assert said(vault, MAY + timedelta(days=1)) == ["Oslo", "a cold", "always"]
    assert said(vault, datetime(2026, 7, 1, tzinfo=UTC)) == ["Oslo", "always"]
    assert said(vault, datetime(2026, 9, 1, tzinfo=UTC)) == ["Bergen", "always"]


def test_with_git_its_versions_tell_what_was_edited_and_deleted_since(vault: Vault, write: Write) -> None:
    History(vault.root).start()
    write("a.md", "Oslo")
    write("b.md", "a cat")
    committed(vault, MAY)
    write("a.md", "Bergen")
    (vault.root / "b.md").unlink()
    committed(vault, MAY + timedelta(days=10))
    write("a.md", "Paris, not committed")

    assert said(vault, MAY + timedelta(days=1)) == ["Oslo", "a cat"]
    assert said(vault, MAY + timedelta(days=11)) == ["Bergen"]
    assert (vault.root / "a.md").read_text() == "Paris, not committed"


def test_before_the_first_version_the_dates_tell(vault: Vault, write: Write) -> None:
    History(vault.root).start()
    write("a.md", HEAD.format("2020-01-01", "", "Oslo"))
    write("b.md", HEAD.format("2026-05-01", "", "a cat"))
    committed(vault, MAY)

    held = as_of(History(vault.root), vault.memories(), datetime(2021, 1, 1, tzinfo=UTC))

    assert held.version is None
    assert [memory.body for memory in held.memories] == ["Oslo"]

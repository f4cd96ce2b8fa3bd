"""What the vault said then, and the story of a memory."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.histories import MEMORY, TRAILERS, by_hand, learn
from vault_mind.commits import commit
from vault_mind.errors import MemoryNotFoundError, VersionNotFoundError
from vault_mind.history import Change, History
from vault_mind.past import memories_at, read_at, tree_at, why

pytestmark = pytest.mark.usefixtures("owner")


def test_the_versions_of_one_memory_follow_its_names(history: History) -> None:
    learn(history, "tea.md", "I would rather have green tea in the morning than coffee")
    (history.root / "memories").mkdir()
    by_hand(history.root, "mv", "tea.md", "memories/green tea.md")
    by_hand(history.root, "commit", "-qm", "moved")
    learn(history, "memories/green tea.md", "I would rather have green tea in the morning than cocoa")
    learn(history, "milk.md", "milk")

    story = why(history, "memories/green tea.md")

    assert [version.subject[:7] for version in story.versions] == ["Learned", "moved", "Learned"]
    assert story.versions[1].changes == (Change("renamed", "memories/green tea.md", "tea.md"),)
    assert story.names == ("tea.md",)
    assert story.learned == story.versions[-1]
    assert story.by_hand == (story.versions[1],)
    assert story.memory.quote == "I would rather have green tea in the morning than cocoa"
    assert story.memory.chat == "2026-12-01-1"
    assert not story.gone
    assert not story.uncommitted
    assert [(line.version or story.versions[1]).id for line in story.lines] == [story.versions[0].id]


def test_the_story_tells_what_is_in_no_version_yet_and_what_it_replaced(plain: History) -> None:
    text = '---\nkind: fact\nsupersedes: "[[coffee]]"\nsuperseded_by: ["[[cocoa|Cocoa]]"]\n---\n\nFirst line.\n'
    (plain.root / "tea.md").write_text(text)
    commit(plain, ["tea.md"], "x", TRAILERS)
    (plain.root / "tea.md").write_text(text + "Second line.\n")

    story = why(plain, "tea.md")

    assert story.uncommitted
    assert story.supersedes == ("coffee",)
    assert story.superseded_by == ("cocoa",)
    assert [(line.text, line.version is None) for line in story.lines] == [
        ("First line.", False),
        ("Second line.", True),
    ]


def test_the_story_of_a_memory_that_is_gone_is_told_from_history(plain: History) -> None:
    learn(plain, "tea.md")
    (plain.root / "tea.md").unlink()
    commit(plain, ["tea.md"], "Forgotten", TRAILERS)

    story = why(plain, "tea.md")

    assert story.gone
    assert story.memory.body == "The user said: tea."
    assert [version.subject for version in story.versions] == ["Forgotten", "Learned: tea"]
    with pytest.raises(MemoryNotFoundError):
        why(plain, "never.md")


def test_two_memories_that_share_their_frontmatter_are_no_rename(plain: History) -> None:
    learn(plain, "tea.md", "I like green tea best of all in the early morning")
    (plain.root / "tea.md").unlink()
    (plain.root / "dog.md").write_text(MEMORY.format("my dog Biscuit chases every cat in our street"))

    outcome = commit(plain, ["tea.md", "dog.md"], "x", TRAILERS)

    assert outcome.version is not None
    assert {change.status for change in outcome.version.changes} == {"added", "deleted"}


def test_differences_are_of_a_version_a_range_or_what_is_in_none_yet(history: History) -> None:
    first = learn(history, "tea.md", "tea").version
    second = learn(history, "tea.md", "milk").version
    (history.root / "tea.md").write_text("by hand\n")
    assert first is not None
    assert second is not None

    assert "+The user said: milk." in history.diff(second.id)
    assert "-The user said: tea." in history.diff(f"{first.id}..{second.id}", "tea.md")
    assert "+by hand" in history.diff()
    assert history.diff(second.id, "base.md") == ""
    with pytest.raises(VersionNotFoundError):
        history.diff("--output=x")
    with pytest.raises(VersionNotFoundError):
        history.version("nowhere")


def test_only_what_a_bigger_repository_did_inside_the_vault_is_told(tmp_path: Path) -> None:
    vault = tmp_path / "notes"
    vault.mkdir()
    by_hand(tmp_path, "init", "-q", ".")
    (tmp_path / "code.md").write_text("code, and more of it\n")
    by_hand(tmp_path, "add", ".")
    by_hand(tmp_path, "commit", "-qm", "code")
    by_hand(tmp_path, "mv", "code.md", "notes/code.md")
    (tmp_path / "other.md").write_text("other\n")
    by_hand(tmp_path, "add", ".")
    by_hand(tmp_path, "commit", "-qm", "into the vault")
    history = History(vault)

    found = list(history.versions())

    assert [version.subject for version in found] == ["into the vault"]
    assert history.version("HEAD").changes == (Change("added", "code.md"),)
    assert history.version("HEAD~1").changes == ()


# The past.


def at(history: History, when: datetime, path: str, text: str) -> None:
    """A turn at a moment of its own."""
    for who in ("AUTHOR", "COMMITTER"):
        os.environ[f"GIT_{who}_DATE"] = when.isoformat()
    try:
        learn(history, path, text)
    finally:
        for who in ("AUTHOR", "COMMITTER"):
            del os.environ[f"GIT_{who}_DATE"]


def test_the_past_is_read_without_touching_the_working_tree(plain: History) -> None:
    start = datetime(2030, 5, 1, tzinfo=UTC)
    at(plain, start, "tea.md", "tea")
    at(plain, start + timedelta(days=1), "tea.md", "milk")
    at(plain, start + timedelta(days=2), "new\nline.md", "cocoa")
    (plain.root / "tea.md").write_text("by hand\n")
    (plain.root / ".git/index").touch()
    stamp = (plain.root / ".git/index").stat().st_mtime_ns

    then = tree_at(plain, start + timedelta(hours=1))
    later = tree_at(plain, start + timedelta(days=9))

    assert then is not None
    assert later is not None
    assert dict(memories_at(plain, then.id)) == {"base.md": b"base\n", "tea.md": MEMORY.format("tea").encode()}
    assert set(dict(memories_at(plain, later.id))) == {"base.md", "tea.md", "new\nline.md"}
    assert read_at(plain, then.id, "tea.md") == MEMORY.format("tea").encode()
    assert tree_at(plain, datetime(1999, 1, 1, tzinfo=UTC)) is None
    assert (plain.root / "tea.md").read_text() == "by hand\n"
    assert (plain.root / ".git/index").stat().st_mtime_ns == stamp
    with pytest.raises(MemoryNotFoundError):
        read_at(plain, then.id, "new\nline.md")


def test_a_clock_that_ran_ahead_once_hides_nothing_that_followed(tmp_path: Path) -> None:
    history = History(tmp_path)
    history.start()
    day = datetime(2026, 1, 1, tzinfo=UTC)
    for number, when in enumerate([day, day + timedelta(days=9000), day + timedelta(days=2), day + timedelta(days=3)]):
        at(history, when, f"{number}.md", str(number))

    found = [tree_at(history, day + timedelta(days=days, hours=1)) for days in (0, 1, 2, 3)]

    assert [version and version.subject[-1] for version in found] == ["0", "0", "2", "3"]


def test_the_past_has_no_dot_folders_links_or_other_files(history: History) -> None:
    root = history.root
    (root / ".trash").mkdir()
    (root / ".trash/x.md").write_text("x\n")
    (root / "link.md").symlink_to("base.md")
    (root / "picture.png").write_bytes(b"x")
    (root / "sub").mkdir()
    (root / "sub/CAPS.MD").write_text("caps\n")
    by_hand(root, "add", ".")
    by_hand(root, "commit", "-qm", "more")

    assert set(dict(memories_at(history, "HEAD"))) == {"base.md", "sub/CAPS.MD"}

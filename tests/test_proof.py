"""The proof looks everywhere, and says where a text still stands."""

from pathlib import Path

import pytest

from vault_mind import git
from vault_mind.config import cache_folder, state_folder
from vault_mind.proof import EARLIER, prove

SECRET = "The user is allergic to hazelnuts."


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """An empty repository in which somebody may commit."""
    folder = tmp_path / "notes"
    folder.mkdir()
    git.ask(folder, "init", "--quiet", "--initial-branch=main")
    for key in ("user.name", "user.email"):
        git.ask(folder, "config", key, "Hazel Nutt")
    return folder


def places(root: Path, *needles: str) -> list[str]:
    return [place.where.partition(" ")[0] for place in prove(root, needles or (SECRET,)).places]


def test_where_there_is_nothing_nothing_is_found(repository: Path) -> None:
    found = prove(repository, [SECRET])

    assert (found.count, found.places, found.objects) == (0, (), 0)
    assert found.files > 0


def test_what_was_only_staged_once_and_what_is_packed_is_found(repository: Path) -> None:
    git.ask(repository, "hash-object", "-w", "--stdin", given=SECRET.encode())
    (repository / "a.txt").write_text("x" * 5000 + SECRET)
    git.ask(repository, "add", ".")
    git.ask(repository, "commit", "--quiet", "-m", "One")
    git.ask(repository, "gc", "--quiet")
    (repository / "a.txt").unlink()

    assert places(repository) == ["blob", "blob"]


@pytest.mark.parametrize("made", ["message", "note", "tag", "stash", "reflog", "branch", "file name", "draft", "index"])
def test_whatever_git_keeps_is_looked_at(repository: Path, made: str) -> None:
    def one(*words: str) -> None:
        git.ask(repository, *words)

    slug = "the-user-is-allergic-to-hazelnuts"
    one("commit", "--quiet", "--allow-empty", "-m", SECRET if made == "message" else "One")
    if made == "note":
        one("notes", "add", "-m", SECRET)
    elif made == "tag":
        one("tag", "-a", "v1", "-m", SECRET)
    elif made == "stash":
        (repository / "a").write_text("a")
        one("stash", "push", "--quiet", "--include-untracked", "-m", SECRET)
    elif made == "reflog":
        one(
            "update-ref",
            "-m",
            SECRET,
            "HEAD",
            git.ask(repository, "commit-tree", "-m", "x", "HEAD^{tree}").decode().strip(),
        )
    elif made == "branch":
        one("branch", slug)
    elif made == "file name":
        (repository / f"{slug}.md").write_text("x")
        one("add", ".")
        one("commit", "--quiet", "-m", "Two")
    elif made == "draft":
        (repository / ".git/COMMIT_EDITMSG").write_text(SECRET)
    elif made == "index":
        (repository / f"{slug}.md").write_text("x")
        one("add", ".")
        (repository / f"{slug}.md").unlink()

    assert places(repository)
    assert places(repository, "The user is allergic to walnuts.") == []


def test_our_own_folders_and_the_vault_are_looked_at_without_git_too(tmp_path: Path) -> None:
    for file in (state_folder(tmp_path) / "journal/1.json", cache_folder(tmp_path) / "x/texts", tmp_path / "a/b.md"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"so: {SECRET}")

    assert places(tmp_path) == ["state:", "cache:", "a/b.md"]


def test_a_text_between_two_pieces_of_a_large_file_is_found(tmp_path: Path) -> None:
    (tmp_path / "large.md").write_bytes(b"x" * ((1 << 24) - 10) + SECRET.encode() + b"x" * 100)

    assert places(tmp_path) == ["large.md"]


def test_who_made_a_commit_is_told_and_not_counted(repository: Path) -> None:
    git.ask(repository, "commit", "--quiet", "--allow-empty", "-m", "One")

    found = prove(repository, ["Hazel Nutt"])

    assert found.count == 0
    assert "it says who made it, which stays" in {place.left for place in found.left}


def test_an_object_that_should_be_gone_is_found_whatever_it_holds(repository: Path) -> None:
    blob = git.ask(repository, "hash-object", "-w", "--stdin", given=b"x").decode().strip()

    found = prove(repository, [], [blob])

    assert [(place.needle, place.where) for place in found.places] == [(EARLIER, f"blob {blob}")]
    assert found.count == 1


def test_each_text_is_counted_by_itself(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(SECRET)
    (tmp_path / "b.md").write_text(f"{SECRET} The user likes tea, too.")

    assert prove(tmp_path, [SECRET, "user likes tea", "never said"]).counted() == {
        "The user is allergic to hazelnuts": 2,
        "user likes tea": 1,
        "never said": 0,
    }

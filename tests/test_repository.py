"""A repository, whole: what it is asked, and how its refs move."""

from pathlib import Path

import pytest

from vault_mind import git, repository
from vault_mind.errors import GitError
from vault_mind.repository import Ref, Repository


@pytest.fixture
def found(tmp_path: Path) -> Repository:
    """A repository with two commits, and a vault below its top."""
    top = tmp_path / "top"
    (top / "my notes").mkdir(parents=True)
    git.ask(top, "init", "--quiet", "--initial-branch=main")
    for key in ("user.name", "user.email"):
        git.ask(top, "config", key, "a")
    for text in ("one", "two"):
        (top / "my notes/a.md").write_text(text)
        git.ask(top, "add", ".")
        git.ask(top, "commit", "--quiet", "-m", text)
    around = repository.around(top / "my notes")
    assert around
    return around


def test_where_no_repository_is_there_is_none(tmp_path: Path) -> None:
    assert repository.around(tmp_path) is None


def test_the_vault_has_its_place_in_it(found: Repository) -> None:
    assert (found.prefix, found.common, found.top.name) == (b"my notes/", found.top / ".git", "top")
    assert [worktree.folder for worktree in found.worktrees] == [found.top]


def test_every_content_of_a_file_is_found_under_its_earlier_names(found: Repository) -> None:
    git.ask(found.top, "mv", "my notes/a.md", "my notes/b.md")
    git.ask(found.top, "commit", "--quiet", "-m", "three")

    names = {
        (path.decode(), git.ask(found.top, "cat-file", "-p", blob)) for path, blob in found.versions(b"my notes/b.md")
    }

    assert names == {("my notes/a.md", b"one"), ("my notes/a.md", b"two"), ("my notes/b.md", b"two")}


def test_all_refs_move_or_none(found: Repository) -> None:
    git.ask(found.top, "branch", "side")
    refs = {ref.name: ref for ref in found.refs()}
    first = git.ask(found.top, "rev-parse", "HEAD~1").decode().strip()
    stale = Ref("refs/heads/side", first, "commit", "")

    with pytest.raises(GitError, match="update-ref"):
        found.move([(refs["refs/heads/main"], first), (stale, None)])
    assert {ref.name: ref for ref in found.refs()} == refs

    found.move([(refs["refs/heads/main"], first), (refs["refs/heads/side"], None)])
    assert [(ref.name, ref.id) for ref in found.refs()] == [("refs/heads/main", first)]


def test_only_what_is_named_is_destroyed_packed_or_loose(found: Repository) -> None:
    loose, packed, kept = (
        git.ask(found.top, "hash-object", "-w", "--stdin", given=text).decode().strip() for text in (b"l", b"p", b"k")
    )
    git.ask(found.top, "pack-objects", "--quiet", ".git/objects/pack/pack", given=f"{packed}\n{kept}\n".encode())
    git.ask(found.top, "prune-packed")
    before = found.every()

    found.destroy({loose, packed})

    assert before - found.every() == {loose, packed}
    assert git.run(found.top, "fsck", "--full")[0] == 0


def test_a_log_is_told_the_new_ids_and_nothing_else_of_it_changes(found: Repository) -> None:
    log = found.common / "logs/HEAD"
    before = log.read_bytes()
    first = git.ask(found.top, "rev-parse", "HEAD~1").decode().strip()

    found.rewrite_logs({first: "1" * 40}, lambda data: data.replace(b"two", b"2"))

    assert log.read_bytes() == before.replace(first.encode(), b"1" * 40).replace(b": two", b": 2")


def test_what_is_quiet_has_no_obstacles(found: Repository) -> None:
    assert list(found.obstacles()) == []


@pytest.mark.parametrize("name", ["shallow", "info/grafts", "objects/info/alternates", "MERGE_HEAD", "index.lock"])
def test_each_obstacle_says_what_to_do(found: Repository, name: str) -> None:
    (found.common / name).touch()

    ((why, advice),) = found.obstacles()

    assert why
    assert advice

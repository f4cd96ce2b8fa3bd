"""git's objects read and written in bulk, as git itself reads and writes them."""

from pathlib import Path

import pytest

from vault_mind import git, objects
from vault_mind.errors import GitError


@pytest.fixture(params=["sha1", "sha256"])
def repository(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A repository with two commits, of short or long ids."""
    git.ask(tmp_path, "init", "--quiet", f"--object-format={request.param}")
    for key in ("user.name", "user.email"):
        git.ask(tmp_path, "config", key, "a")
    for name in ("a.b", "a/c.md", "a-b", "a0"):  # whose order in a tree is git's own
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name * 1000)
    git.ask(tmp_path, "add", ".")
    git.ask(tmp_path, "commit", "--quiet", "-m", "One")
    git.ask(tmp_path, "tag", "-a", "-m", "Tag", "v1")
    return tmp_path


def test_every_object_written_anew_is_the_same(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other")
    form = git.ask(repository, "rev-parse", "--show-object-format").decode().strip()
    git.ask(other, "init", "--quiet", f"--object-format={form}")

    with objects.opened(repository) as old, objects.opened(other) as new:
        pack = objects.Pack(new)
        every = list(old.every())
        assert [pack.add(kind, data) for _, kind, data in every] == [name for name, _, _ in every]
        assert all(objects.tree(reversed(old.entries(data))) == data for _, kind, data in every if kind == "tree")
        assert new.read(every[0][0]) is None
        pack.store()
        assert [new.read(name) for name, _, _ in every] == [(kind, data) for _, kind, data in every]
        pack.close()

    assert {kind for _, kind, _ in every} == {"blob", "tree", "commit", "tag"}
    assert git.run(other, "fsck", "--full", "--strict", "--no-dangling")[0] == 0


def test_what_git_refuses_is_an_error_and_nothing_is_there(repository: Path) -> None:
    with objects.opened(repository) as found:
        pack = objects.Pack(found)
        name = pack.add("blob", b"new")
        pack._file.write(b"rubbish at the end")
        with pytest.raises(GitError, match="git index-pack"):
            pack.store()
        assert found.read(name) is None
        pack.close()


def test_objects_that_nothing_leads_to_are_among_them(repository: Path) -> None:
    loose = git.ask(repository, "hash-object", "-w", "--stdin", given=b"nobody's").decode().strip()

    with objects.opened(repository) as found:
        assert (loose, "blob", b"nobody's") in list(found.every())


def test_an_empty_pack_is_none(repository: Path) -> None:
    with objects.opened(repository) as found:
        pack = objects.Pack(found)
        pack.store()
        pack.close()

    assert list((repository / ".git/objects/pack").iterdir()) == []

"""git, run for real in real repositories."""

import stat
from pathlib import Path

import pytest

from tests.histories import gone
from vault_mind import git
from vault_mind.errors import GitError


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """An empty repository."""
    folder = tmp_path / "repository"
    folder.mkdir()
    git.ask(folder, "init", "--quiet")
    return folder


def test_an_answer_is_what_git_prints(repository: Path) -> None:
    assert git.ask(repository, "rev-parse", "--is-inside-work-tree") == b"true\n"


def test_what_git_is_fed_it_reads(repository: Path) -> None:
    (repository / "a.md").write_text("tea")

    blob = git.ask(repository, "hash-object", "--stdin", given=b"tea")

    assert blob == git.ask(repository, "hash-object", "a.md")


def test_a_failure_says_what_git_said(repository: Path) -> None:
    with pytest.raises(GitError, match="git rev-parse: fatal: Needed a single revision"):
        git.ask(repository, "rev-parse", "--verify", "nowhere")


def test_an_exit_code_that_is_fine_is_none(repository: Path) -> None:
    assert git.ask(repository, "config", "no.such", fine=(0, 1)) == b""


def test_no_variable_leads_to_another_repository(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git.ask(other, "init", "--quiet")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / "index"))

    found = git.ask(repository, "rev-parse", "--absolute-git-dir").decode().strip()

    assert Path(found) == repository / ".git"


def test_who_the_author_is_stays(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Ada")
    monkeypatch.setenv("GIT_AUTHOR_EMAIL", "ada@example.org")

    assert git.ask(repository, "var", "GIT_AUTHOR_IDENT").startswith(b"Ada <ada@example.org>")


def test_what_takes_too_long_is_ended_with_all_that_it_started(repository: Path, tmp_path: Path) -> None:
    sleeper = repository / ".git" / "hooks" / "pre-commit"
    sleeper.parent.mkdir(exist_ok=True)
    sleeper.write_text(f"#!/bin/sh\nsleep 30 & echo $! > {tmp_path}/pid\nwait\n")
    sleeper.chmod(sleeper.stat().st_mode | stat.S_IXUSR)
    identity = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a"}

    with pytest.raises(GitError, match="longer than"):
        git.ask(repository, "commit", "--allow-empty", "-m", "x", extra=identity, seconds=1)

    assert gone(int((tmp_path / "pid").read_text()))


def test_a_talk_goes_to_and_fro(repository: Path) -> None:
    blob = git.ask(repository, "hash-object", "-w", "--stdin", given=b"tea")

    with git.talking(repository, "cat-file", "--batch") as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(blob)
        process.stdin.flush()
        answer = process.stdout.readline() + process.stdout.readline()

    assert answer == blob.strip() + b" blob 3\ntea\n"


def test_a_talk_that_fails_says_what_git_said(repository: Path) -> None:
    with pytest.raises(GitError, match="git rev-parse: fatal: Needed a single revision"):
        with git.talking(repository, "rev-parse", "--verify", "nowhere") as process:
            assert process.stdout
            process.stdout.read()


def test_a_talk_that_takes_too_long_is_ended(repository: Path) -> None:
    with pytest.raises(GitError, match="git cat-file: it ended with -9"):
        with git.talking(repository, "cat-file", "--batch", seconds=0.2) as process:
            assert process.stdout
            process.stdout.read()


def test_a_repository_names_no_program_that_looking_would_run(repository: Path, tmp_path: Path) -> None:
    git.ask(repository, "config", "core.fsmonitor", f"touch {tmp_path}/ran; false")

    git.ask(repository, "status", "--porcelain")

    assert not (tmp_path / "ran").exists()


def test_names_are_names_and_no_patterns(repository: Path) -> None:
    (repository / "a.md").write_text("tea")
    (repository / "*.md").write_text("milk")

    git.ask(repository, "add", "--", "*.md")

    assert git.ask(repository, "ls-files", "-z") == b"*.md\0"


def test_without_git_it_says_so(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")

    assert not git.installed()
    with pytest.raises(GitError, match="not installed"):
        git.ask(repository, "status")

# a case's id stands in a name as it is written everywhere
"""Faults that people met in public with systems like this one (ME-07, GI-…), recast for purging, and their kin."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Run
from tests.histories import ODD, by_hand
from tests.watching import PATIENCE
from vault_mind import Vault
from vault_mind.proof import prove

pytestmark = pytest.mark.usefixtures("owner")

SECRET = "The user keeps the spare key under the third flowerpot.\n"
NEEDLE = SECRET.strip(".\n")
Write = Callable[[str, str | bytes], Path]


BOTH = pytest.mark.parametrize("lived", ["", "notes"], ids=["the top", "a folder of a bigger one"], indirect=True)


@pytest.fixture
def lived(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A vault in git, with a memory and a note that say the secret."""
    by_hand(tmp_path, "init", "-q", "-b", "main", ".")
    root = tmp_path / str(getattr(request, "param", "notes"))
    root.mkdir(exist_ok=True)
    (root / "key.md").write_text(SECRET)
    (root / "plan.md").write_text(f"To do: {SECRET}Water the plants.\n")
    by_hand(tmp_path, "add", "-A")
    by_hand(tmp_path, "commit", "-qm", "base")
    monkeypatch.setenv("VAULT_MIND_VAULT", str(root))
    return root


def history(folder: Path) -> str:
    return by_hand(folder, "log", "--all", "-p")


class Asking:
    """A purge that has shown what it will do, and waits for an answer."""

    def __init__(self, *words: str) -> None:
        command = [sys.executable, "-m", "vault_mind", "forget", "--purge", *words]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self.process = subprocess.Popen(command, **pipes)  # type: ignore[call-overload]  # three pipes
        self.said = b""
        while not self.said.endswith(b"[y/N] "):
            piece = self.process.stderr.read(1)
            assert piece, self.said
            self.said += piece

    def answer(self, text: str) -> tuple[int, str]:
        """Exit code, and all of stderr."""
        _, err = self.process.communicate(text.encode(), timeout=PATIENCE)
        return self.process.returncode, (self.said + err).decode()


# ME-07: what was read earlier is acted upon, and the user's edit in between is gone.


@pytest.mark.parametrize("with_git", [True, False], ids=["with git", "without"])
@pytest.mark.parametrize("edited", ["key.md", "plan.md"])
def test_ME_07_an_edit_while_it_asks_survives_and_is_said(
    lived: Path, tmp_path: Path, edited: str, with_git: bool
) -> None:
    if not with_git:
        (tmp_path / ".git").rename(tmp_path / "no git")
    asking = Asking("key.md")
    with (lived / edited).open("a") as file:
        file.write("added by hand\n")

    code, said = asking.answer("y\n")

    assert code == 2
    assert "nothing was purged: something of it changed while you were asked. Look at it" in said
    assert (lived / edited).read_text().endswith("added by hand\n")
    assert "flowerpot" in (lived / "plan.md").read_text()


def test_ME_07_kin_a_commit_while_it_asks_is_looked_at_first(lived: Path) -> None:
    asking = Asking("key.md")
    (lived / "new.md").write_text(f"Again: {SECRET}")
    by_hand(lived, "add", "new.md")
    by_hand(lived, "commit", "-qm", "Again")

    code, said = asking.answer("y\n")

    assert code == 2
    assert "changed while you were asked" in said


def test_ME_07_kin_a_file_deleted_by_hand_while_it_asks_is_said_and_not_brought_back(lived: Path) -> None:
    asking = Asking("key.md")
    (lived / "plan.md").unlink()

    code, _ = asking.answer("y\n")

    assert code == 2
    assert not (lived / "plan.md").exists()


def test_ME_07_kin_an_edit_of_another_file_is_no_reason_to_stop(lived: Path) -> None:
    asking = Asking("key.md")
    (lived / "other.md").write_text("added by hand\n")

    code, said = asking.answer("y\n")

    assert code == 0, said
    assert (lived / "other.md").read_text() == "added by hand\n"


@pytest.mark.parametrize("words", [[], ["--force"]], ids=["refused", "by force"])
def test_ME_07_an_edit_in_no_version_survives(lived: Path, call: Run, words: list[str]) -> None:
    with (lived / "plan.md").open("a") as file:
        file.write("added by hand\n")

    ended = call("forget", "key.md", "--purge", "--yes", *words)

    assert ended.exit_code == (0 if words else 2)
    assert (lived / "plan.md").read_text().endswith("Water the plants.\nadded by hand\n")
    assert ("flowerpot" in (lived / "plan.md").read_text()) is not bool(words)


# GI-01: a leftover index.lock makes every save fail, or a live lock is removed under another git.


def test_GI_01_a_lock_is_named_and_left_and_nothing_is_purged(lived: Path, call: Run) -> None:
    lock = Path(by_hand(lived, "rev-parse", "--absolute-git-dir").strip()) / "index.lock"
    lock.touch()

    ended = call("forget", "key.md", "--purge", "--yes", "--force")

    assert ended.exit_code == 2
    assert f"another git is at work: {lock} is there" in ended.stderr
    assert lock.exists()
    assert "flowerpot" in history(lived)
    assert (lived / "key.md").exists()


# GI-02: file names that are not ASCII come back quoted in octal.


@pytest.mark.parametrize("name", [name for name in ODD if name.isprintable() and not name.startswith((" ", "-"))])
def test_GI_02_a_memory_of_any_name_is_shown_as_it_is_and_purged(lived: Path, call: Run, name: str) -> None:
    (lived / "key.md").rename(lived / name)
    by_hand(lived, "add", "-A", ".")
    by_hand(lived, "commit", "-qm", "Rename")

    ended = call("forget", name, "--purge", "--yes")

    assert ended.exit_code == 0, ended.stderr
    assert f"files     {name}, deleted\n" in ended.stdout
    assert "flowerpot" not in history(lived)
    assert prove(lived, [NEEDLE]).places == ()


# GI-03: signed commits wait for ever for a passphrase that nobody can type.


def test_GI_03_a_signer_that_never_answers_is_not_waited_for(lived: Path, call: Run, tmp_path: Path) -> None:
    signer = tmp_path / "signer"
    signer.write_text("#!/bin/sh\nsleep 600\n")
    signer.chmod(0o700)
    by_hand(lived, "config", "commit.gpgsign", "true")
    by_hand(lived, "config", "gpg.program", str(signer))
    start = time.monotonic()

    ended = call("forget", "key.md", "--purge", "--yes")

    assert ended.exit_code == 0, ended.stderr
    assert time.monotonic() - start < 60
    assert "flowerpot" not in history(lived)


# GI-04: the commit sweeps in whatever else the user had staged, changed or left lying about.


@BOTH
def test_GI_04_what_is_staged_changed_and_left_lying_about_stays_as_it_is(lived: Path, call: Run) -> None:
    (lived / "a.md").write_text("one\n\n\n\n\ntwo\n")
    by_hand(lived, "add", "a.md")
    by_hand(lived, "commit", "-qm", "A")
    (lived / "a.md").write_text("1\n\n\n\n\ntwo\n")
    by_hand(lived, "add", "a.md")
    (lived / "a.md").write_text("1\n\n\n\n\n2\n")
    (lived / "scratch.txt").write_text("left\n")
    before = by_hand(lived, "status", "--porcelain"), by_hand(lived, "diff", "--cached"), by_hand(lived, "diff")

    ended = call("forget", "key.md", "--purge", "--yes")

    after = by_hand(lived, "status", "--porcelain"), by_hand(lived, "diff", "--cached"), by_hand(lived, "diff")
    assert ended.exit_code == 0, ended.stderr
    assert after == before


# GI-06: commits are made in the middle of a rebase or on a detached HEAD and are lost.


@pytest.mark.parametrize("what", ["rebase", "merge", "cherry-pick"])
def test_GI_06_in_the_middle_of_their_work_nothing_is_purged_even_by_force(lived: Path, call: Run, what: str) -> None:
    by_hand(lived, "checkout", "-qb", "side")
    (lived / "plan.md").write_text("theirs\n")
    by_hand(lived, "commit", "-qam", "theirs")
    by_hand(lived, "checkout", "-q", "main")
    (lived / "plan.md").write_text("ours\n")
    by_hand(lived, "commit", "-qam", "ours")
    subprocess.run(["git", what, "side"], cwd=lived, capture_output=True, check=False)
    before = (lived / "plan.md").read_text()

    ended = call("forget", "key.md", "--purge", "--yes", "--force")

    assert ended.exit_code == 2
    assert f"a {what} is under way" in ended.stderr
    assert "Finish it or abort it" in ended.stderr
    assert (lived / "plan.md").read_text() == before
    assert (lived / "key.md").exists()


@BOTH
def test_GI_06_on_a_detached_head_it_is_purged_from_there_too(lived: Path, call: Run) -> None:
    by_hand(lived, "checkout", "-q", "--detach")
    (lived / "more.md").write_text(f"More: {SECRET}")
    by_hand(lived, "add", "more.md")
    by_hand(lived, "commit", "-qm", "More")

    ended = call("forget", "key.md", "--purge", "--yes")

    assert ended.exit_code == 0, ended.stderr
    assert "flowerpot" not in history(lived) + by_hand(lived, "log", "-p", "HEAD")
    assert by_hand(lived, "log", "-1", "--format=%s") == "More\n"


# GI-08: on a fresh machine with no name or address set nothing works and the error is lost.


def test_GI_08_without_a_name_it_is_purged_and_nobody_elses_name_is_changed(
    lived: Path, call: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for who in ("AUTHOR", "COMMITTER"):
        for what in ("NAME", "EMAIL"):
            monkeypatch.delenv(f"GIT_{who}_{what}")
    by_hand(lived, "config", "user.useConfigOnly", "true")

    ended = call("forget", "key.md", "--purge", "--yes")

    assert ended.exit_code == 0, ended.stderr
    assert by_hand(lived, "log", "--format=%an <%ae> %cn") == "Ada <ada@example.org> Ada\n"
    assert "flowerpot" not in history(lived)


# GI-09: a path that .gitignore excludes makes the whole fail.


@BOTH
def test_GI_09_what_git_ignores_is_purged_from_the_folder_with_the_rest(lived: Path, call: Run) -> None:
    (lived / ".gitignore").write_text("private/\n")
    (lived / "private").mkdir()
    (lived / "private/key.md").write_text(f"In private: {SECRET}")

    ended = call("forget", "--purge", "--phrase", NEEDLE, "--yes")

    assert ended.exit_code == 0, ended.stderr
    assert "private/key.md, text taken out" in ended.stdout
    assert (lived / "private/key.md").read_text() == "In private: (purged).\n"
    assert "private" not in by_hand(lived, "ls-files")


@pytest.mark.parametrize("name", ["-rf.md", " b.md"])
def test_GI_02_kin_a_name_that_looks_like_an_option_or_begins_with_a_space(
    vault: Vault, write: Write, call: Run, name: str
) -> None:
    file = write(name, SECRET)

    ended = call("forget", "--purge", "--yes", "--", name)

    assert ended.exit_code == 0, ended.stderr
    assert not file.exists()

# a case's id stands in a name as it is written everywhere
"""Faults that people met in public with systems like this one (GI-…), recast for the vault's git, and their kin."""

import os
import subprocess
import threading
import time
from pathlib import Path

import pytest

from tests.histories import MEMORY, ODD, TRAILERS, by_hand, gone, held, learn, staged, status
from vault_mind.commits import commit, state
from vault_mind.history import History
from vault_mind.past import memories_at, read_at, why
from vault_mind.turns import waiting
from vault_mind.undo import plan, undo

pytestmark = pytest.mark.usefixtures("owner")

IDENTITY = {f"GIT_{who}_{what}" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


@pytest.fixture(params=["", "notes/"], ids=["the top", "a folder of a bigger one"])
def vault(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A vault with one committed note: a repository of its own, or a folder in a bigger one."""
    by_hand(tmp_path, "init", "-q", "-b", "main", ".")
    root = tmp_path / str(request.param)
    root.mkdir(exist_ok=True)
    (root / "base.md").write_text("---\nkind: fact\nsource: user\n---\nbase note\n")
    by_hand(tmp_path, "add", "-A")
    by_hand(tmp_path, "commit", "-qm", "base")
    return root


# GI-01: a leftover index.lock makes every save fail, or a live lock is removed under another git.


@pytest.mark.parametrize("old", [7200, 120])
def test_GI_01_a_stale_lock_is_left_alone_named_and_waited_out(vault: Path, old: int) -> None:
    history = History(vault)
    lock = history.place().git_dir / "index.lock"
    lock.touch()
    os.utime(lock, (time.time() - old,) * 2)

    waits = learn(history, "tea.md", "tea", Turn="t1")
    told = state(history)
    stood = lock.exists()
    lock.unlink()
    done = learn(history, "milk.md", "milk", Turn="t2")

    assert (vault / "tea.md").exists()
    assert waits.why.startswith("Saved, but not yet in git: a lock has been held for 2 ")
    assert f"remove {lock}. The next commit takes it along." in waits.why
    assert "\n" not in waits.why
    assert any(str(lock) in line for line in told)
    assert stood
    assert done.version is not None
    assert {"tea.md", "milk.md"} <= set(dict(memories_at(history, "HEAD")))
    assert waiting(history) == []


def test_GI_01_a_live_lock_is_waited_for_and_never_removed(vault: Path) -> None:
    history = History(vault)
    lock = history.place().git_dir / "index.lock"
    lock.touch()
    released: list[bool] = []

    def release() -> None:
        time.sleep(1.5)
        released.append(lock.exists())
        lock.unlink()

    holder = threading.Thread(target=release)
    holder.start()
    outcome = learn(history, "tea.md")
    holder.join()

    assert released == [True]
    assert outcome.version is not None
    assert held(history) == [history.in_repository("tea.md")]
    assert status(history) == ""


def test_GI_01_kin_a_locked_branch_is_said_and_nothing_is_half_done(vault: Path) -> None:
    history = History(vault)
    lock = history.place().git_dir / "refs/heads/main.lock"
    lock.touch()
    tip, before = history.head().id, staged(history)

    waits = learn(history, "tea.md")
    unmoved = (history.head().id, staged(history))
    lock.unlink()
    learn(history, "milk.md", "milk")

    assert "main.lock" in waits.why
    assert unmoved == (tip, before)
    assert not (history.place().git_dir / "index.lock").exists()
    assert status(history) == ""
    assert waiting(history) == []


# GI-02: file names that are not ASCII come back quoted in octal and are never staged.


@pytest.mark.parametrize("name", ODD)
def test_GI_02_a_name_with_any_character_is_committed_shown_and_undone(vault: Path, name: str) -> None:
    history = History(vault)
    (vault / "decoy.md").write_text("decoy\n")
    learn(history, name, "tea")
    first = (vault / name).read_bytes()

    changed = learn(history, name, "milk").version
    story = why(history, name)
    told = history.diff(changed.id if changed else None, name)
    undo(history, plan(history), "Undone", {})
    (vault / name).unlink()
    commit(history, [name], "Forgotten", TRAILERS)
    undo(history, plan(history), "Undone", {})

    assert changed is not None
    assert [change.path for change in changed.changes] == [name]
    assert len(story.versions) == 2
    assert "+The user said: milk." in told
    assert held(history) == [history.in_repository(name)]
    assert (vault / name).read_bytes() == first
    assert dict(memories_at(history, "HEAD"))[name] == first
    assert status(history).endswith("decoy.md\n")


# GI-03: signed commits wait for ever for a passphrase that nobody can type.


def signer(vault: Path, script: str) -> Path:
    """Every commit is to be signed by that script."""
    program = History(vault).place().git_dir / "signer"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    by_hand(vault, "config", "commit.gpgSign", "true")
    by_hand(vault, "config", "gpg.program", str(program))
    return program


def test_GI_03_a_signer_that_never_answers_is_ended_and_named(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vault_mind.drafts.SIGNING", 1.0)
    program = signer(vault, "echo $$ >.git/pid 2>/dev/null || echo $$ >../.git/pid; sleep 600")
    history = History(vault)
    start = time.monotonic()

    waits = learn(history, "tea.md")

    assert time.monotonic() - start < 60
    assert "signing failed (the signer gave no answer in 1 s)" in waits.why
    assert (vault / "tea.md").exists()
    pid = int((history.place().git_dir / "pid").read_text())
    assert gone(pid)
    assert by_hand(vault, "config", "commit.gpgSign") == "true\n"
    assert waiting(history) == ["tea.md"]
    program.write_text("#!/bin/sh\nexit 2\n")
    assert "signing failed" in learn(history, "milk.md", "milk").why


def test_GI_03_kin_a_signer_that_works_signs(vault: Path) -> None:
    signer(vault, "cat >/dev/null; echo '[GNUPG:] SIG_CREATED ' >&2; echo '-----BEGIN PGP SIGNATURE-----'; echo x")
    history = History(vault)

    outcome = learn(history, "tea.md")

    assert outcome.version is not None
    assert "gpgsig -----BEGIN PGP SIGNATURE-----" in by_hand(vault, "cat-file", "commit", outcome.version.id)
    by_hand(vault, "config", "log.showSignature", "true")
    assert history.version("HEAD") == outcome.version


# GI-04: the automatic commit sweeps in whatever else the user had staged, changed or left lying about.


def test_GI_04_the_commit_holds_the_new_file_only_and_their_work_is_as_it_was(vault: Path) -> None:
    (vault / "a.md").write_text("a1\n")
    (vault / "half.md").write_text("l1\nl2\n")
    by_hand(vault, "add", ".")
    by_hand(vault, "commit", "-qm", "two")
    (vault / "a.md").write_text("a2 staged\n")
    by_hand(vault, "add", "a.md")
    with (vault / "base.md").open("a") as file:
        file.write("base changed, not staged\n")
    (vault / "half.md").write_text("l1 staged\nl2\n")
    by_hand(vault, "add", "half.md")
    (vault / "half.md").write_text("l1 staged\nl2 not staged\n")
    (vault / "scratch.txt").write_text("secret scratch\n")
    history = History(vault)
    before = (staged(history), status(history), by_hand(vault, "diff"))

    learn(history, "memories/tea.md")
    undo(history, plan(history), "Undone", {})
    learn(history, "memories/tea.md", "milk")

    assert held(history) == [history.in_repository("memories/tea.md")]
    assert (staged(history), status(history), by_hand(vault, "diff")) == before


# GI-06: commits are made in the middle of a rebase or on a detached HEAD and are lost, or conflict marks are committed.


def conflicted(vault: Path, words: list[str]) -> None:
    """Two branches that say different things in base.md, and a command that stops over them."""
    by_hand(vault, "checkout", "-qb", "side")
    (vault / "base.md").write_text("theirs\n")
    by_hand(vault, "commit", "-qam", "side")
    by_hand(vault, "checkout", "-q", "main")
    (vault / "base.md").write_text("ours\n")
    by_hand(vault, "commit", "-qam", "ours")
    subprocess.run(["git", *words], cwd=vault, capture_output=True, check=False)


@pytest.mark.parametrize("words", [["rebase", "side"], ["merge", "side"], ["cherry-pick", "side"]], ids=lambda w: w[0])
def test_GI_06_in_the_middle_of_their_work_nothing_is_committed_or_staged(vault: Path, words: list[str]) -> None:
    conflicted(vault, words)
    history = History(vault)
    tip, index = by_hand(vault, "rev-parse", "HEAD"), by_hand(vault, "ls-files", "--stage")

    waits = learn(history, "tea.md")
    told = state(history)
    unmoved = (by_hand(vault, "rev-parse", "HEAD"), by_hand(vault, "ls-files", "--stage"))
    by_hand(vault, words[0], "--abort")
    done = learn(history, "milk.md", "milk")

    assert "under way" in waits.why
    assert unmoved == (tip, index)
    assert any("base.md is in conflict" in line for line in told)
    assert any("1 of our files are in no version yet (tea.md)" in line for line in told)
    assert done.version is not None
    assert {"tea.md", "milk.md"} <= set(dict(memories_at(history, "main")))
    assert read_at(history, "HEAD", "base.md") == b"ours\n"


def test_GI_06_on_a_detached_head_nothing_is_committed_and_its_owner_is_told(vault: Path) -> None:
    by_hand(vault, "checkout", "-q", "--detach")
    history = History(vault)
    tip = history.head().id

    waits = learn(history, "tea.md")
    told = state(history)
    by_hand(vault, "switch", "-q", "main")
    done = learn(history, "milk.md", "milk")

    assert "HEAD is detached" in waits.why
    assert any("HEAD is detached" in line for line in told)
    assert done.version is not None
    assert {"tea.md", "milk.md"} <= set(dict(memories_at(history, "main")))
    assert history.parent(history.parent(done.version.id) or "") == tip


# GI-08: on a fresh machine with no name or address set, no memory is ever versioned and the error is lost.


@pytest.mark.parametrize("only", [True, False], ids=["useConfigOnly", "nothing set"])
def test_GI_08_without_a_name_the_commit_is_made_as_ours_and_doctor_says_so(
    vault: Path, monkeypatch: pytest.MonkeyPatch, only: bool
) -> None:
    for name in IDENTITY:
        monkeypatch.delenv(name)
    monkeypatch.delenv("EMAIL", raising=False)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    if only:
        by_hand(vault, "config", "user.useConfigOnly", "true")
    else:
        monkeypatch.setenv("EMAIL", "")
        by_hand(vault, "config", "user.name", "")
    config = (History(vault).place().git_dir / "config").read_bytes()
    history = History(vault)

    outcome = learn(history, "tea.md")
    told = state(history)
    by_hand(vault, "config", "user.name", "Ada")
    by_hand(vault, "config", "user.email", "ada@example.org")
    mended = learn(history, "milk.md", "milk")

    assert outcome.version is not None
    assert outcome.version.author == "vault-mind"
    assert b"vault-mind" not in config
    assert any("git config --global user.name" in line for line in told)
    assert mended.version is not None
    assert mended.version.author == "Ada"
    assert state(history) == []


def test_GI_08_kin_a_name_in_the_environment_is_kept_when_only_the_address_lacks(
    vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GIT_AUTHOR_EMAIL")
    monkeypatch.delenv("GIT_COMMITTER_EMAIL")
    monkeypatch.delenv("EMAIL", raising=False)
    by_hand(vault, "config", "user.useConfigOnly", "true")

    outcome = learn(History(vault), "tea.md")

    assert outcome.version is not None
    assert by_hand(vault, "log", "-1", "--format=%an <%ae>") == "Ada <vault-mind@localhost>\n"


# GI-09: a memory path that .gitignore excludes makes the whole `git add` fail, and nothing is versioned.


@pytest.mark.parametrize("path", ["private/p2.md", "diary.secret.md"])
def test_GI_09_what_their_rules_ignore_is_left_out_and_said_and_the_rest_committed(vault: Path, path: str) -> None:
    (vault / ".gitignore").write_text("private/\n*.secret.md\n")
    by_hand(vault, "add", ".gitignore")
    by_hand(vault, "commit", "-qm", "ignore")
    history = History(vault)
    (vault / path).parent.mkdir(exist_ok=True)
    for name in (path, "ok.md"):
        (vault / name).write_text(MEMORY.format(name))

    outcome = commit(history, [path, "ok.md"], "two", TRAILERS)

    assert held(history) == [history.in_repository("ok.md")]
    assert outcome.left_out == (f"{path} is saved and not in git: your ignore rules leave it out",)
    assert outcome.why == ""
    assert waiting(history) == []


def test_GI_09_with_a_global_ignore_of_all_markdown_only_what_git_knows_is_committed(vault: Path, home: Path) -> None:
    (home / ".config/git").mkdir(parents=True)
    (home / ".config/git/ignore").write_text("*.md\n")
    history = History(vault)
    (vault / "base.md").write_text("changed\n")
    (vault / "new.md").write_text("new\n")

    outcome = commit(history, ["base.md", "new.md"], "two", TRAILERS)
    alone = learn(history, "tea.md")

    assert held(history) == [history.in_repository("base.md")]
    assert outcome.version is not None
    assert len(outcome.left_out) == 1
    assert alone.version is None
    assert alone.left_out == ("tea.md is saved and not in git: your ignore rules leave it out",)

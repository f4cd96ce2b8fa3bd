"""Vaults in git, for tests: made for real, and looked at as their owner does."""

import contextlib
import os
import subprocess
import time
from pathlib import Path

import pytest

from vault_mind.commits import Outcome, commit
from vault_mind.history import History

MEMORY = '---\nkind: preference\nsource: chat\nquote: "{0}"\nchat: 2026-12-01-1\n---\n\nThe user said: {0}.\n'
TRAILERS = {"Source": "chat", "Chat": "2026-12-01-1", "Model": "claude", "Turn": "t1"}
ODD = ["café.md", "水曜日.md", "a -> b.md", 'say "hi".md', "two  spaces.md", " b.md", "-rf.md", ":(glob)*.md", "*.md"]
ODD += ["new\nline.md", "tab\there.md", "back\\slash.md", os.fsdecode(b"latin-\xe9.md"), "{brace}.md", "#hash.md"]


@pytest.fixture
def owner(monkeypatch: pytest.MonkeyPatch) -> None:
    """Git knows who commits: Ada."""
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "Ada")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "ada@example.org")


@pytest.fixture(params=["the top", "a folder of a bigger one", "a worktree"])
def history(request: pytest.FixtureRequest, tmp_path: Path, owner: None) -> History:
    """The history of a vault with one committed note, in each kind of place."""
    top = tmp_path / "top"
    top.mkdir()
    by_hand(top, "init", "-q", "-b", "main", ".")
    root = top if request.param == "the top" else top / "my notes"
    root.mkdir(exist_ok=True)
    if root != top:
        (top / "code.py").write_text("print()\n")
    (root / "base.md").write_text("base\n")
    by_hand(top, "add", "-A")
    by_hand(top, "commit", "-qm", "base")
    if request.param == "a worktree":
        by_hand(top, "worktree", "add", "-q", "-b", "side", str(tmp_path / "tree"))
        root = tmp_path / "tree" / "my notes"
    return History(root)


@pytest.fixture
def plain(tmp_path: Path, owner: None) -> History:
    """The history of a vault that is a repository of its own, with one committed note."""
    history = History(tmp_path)
    history.start()
    (tmp_path / "base.md").write_text("base\n")
    by_hand(tmp_path, "add", "-A")
    by_hand(tmp_path, "commit", "-qm", "base")
    return history


def by_hand(folder: Path, *words: str) -> str:
    """What git prints to somebody at a terminal."""
    ended = subprocess.run(["git", *words], cwd=folder, capture_output=True, check=True)
    return os.fsdecode(ended.stdout)


def gone(pid: int) -> bool:
    """Whether that process ends within ten seconds: what was just killed may be seen dying for a moment."""
    state, until = Path(f"/proc/{pid}/stat"), time.monotonic() + 10
    while time.monotonic() < until:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if state.read_text().rpartition(")")[2].split()[0] != "Z":
                time.sleep(0.01)
                continue
        return True
    return False


def learn(history: History, path: str, text: str = "tea", **more: str) -> Outcome:
    """A turn that writes one memory and commits it."""
    file = history.root / path
    before = {path: file.read_bytes()} if file.exists() else {}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(MEMORY.format(text), "utf-8")
    return commit(history, [path], f"Learned: {text}", {**TRAILERS, **more}, before=before)


def held(history: History, version: str = "HEAD") -> list[str]:
    """The paths that a commit touched, as git tells its owner."""
    out = by_hand(history.place().top, "show", "--format=", "--name-only", "-z", "--no-renames", version)
    return sorted(name for name in out.split("\0") if name)


def staged(history: History) -> str:
    """What is staged, as a diff."""
    return by_hand(history.place().top, "diff", "--cached")


def status(history: History) -> str:
    """What `git status` says, in short."""
    return by_hand(history.place().top, "status", "--porcelain")

"""Laws of the vault's git: whatever is done in whatever order, nothing is lost and all of it can be taken back."""

import os
import random
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.histories import MEMORY, ODD, TRAILERS, by_hand, staged, status
from vault_mind.commits import commit, commit_by_hand
from vault_mind.errors import UndoRefusedError, VersionNotFoundError
from vault_mind.history import History
from vault_mind.past import memories_at
from vault_mind.turns import waiting
from vault_mind.undo import plan, undo

pytestmark = pytest.mark.usefixtures("owner")

NAMES = ["tea.md", "memories/milk.md", "memories/deep/cocoa.md", *ODD[:12]]


def files(history: History) -> dict[str, bytes]:
    """Every memory on disk, byte for byte."""
    found = (file for file in history.root.rglob("*.md") if ".git" not in file.parts)
    return {os.fsdecode(os.fsencode(file.relative_to(history.root))): file.read_bytes() for file in found}


class Life:
    """A vault that is learned into, edited, forgotten from, renamed in and undone at random."""

    def __init__(self, history: History, seed: int, *, hands: bool, named: bool) -> None:
        self.named = named
        self.history = history
        self.random = random.Random(seed)
        self.steps = [self.learn, self.learn, self.change, self.supersede, self.forget, self.rename, self.take_back]
        self.steps += [self.edit, self.edit, self.stage] if hands else []
        self.marks: set[str] = set()
        self.count = 0

    def live(self, steps: int) -> None:
        for _ in range(steps):
            self.count += 1
            self.random.choice(self.steps)()

    def text(self) -> str:
        lines = [f"Line {self.random.randrange(10**9)}.\n" for _ in range(self.random.randint(1, 9))]
        return MEMORY.format(f"word {self.random.randrange(10**9)}") + "".join(lines)

    def any(self) -> Path | None:
        there = sorted(files(self.history))
        return self.history.root / self.random.choice(there) if there else None

    def turn(self, subject: str, *changes: tuple[Path, str | None]) -> None:
        """Write and delete, and commit what was written and deleted, as a turn does."""
        before, paths = {}, []
        for file, text in changes:
            path = os.fsdecode(os.fsencode(file.relative_to(self.history.root)))
            paths.append(path)
            if file.exists():
                before[path] = file.read_bytes()
            if text is None:
                file.unlink(missing_ok=True)
            else:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(text.encode("utf-8", "surrogateescape"))
        outcome = commit(self.history, paths, subject, {**TRAILERS, "Turn": str(self.count)}, before=before)
        assert (outcome.why, outcome.left_out) == ("", ())

    def learn(self) -> None:
        file = self.history.root / self.random.choice(NAMES)
        if not file.exists():
            self.turn("learn", (file, self.text()))

    def change(self) -> None:
        if file := self.any():
            self.turn("change", (file, file.read_text("utf-8").replace("kind: preference", f"kind: k{self.count}")))

    def supersede(self) -> None:
        old, new = self.any(), self.history.root / self.random.choice(NAMES)
        if old and not new.exists():
            marked = old.read_text("utf-8").replace("source: chat", f"source: chat\nsuperseded_by: s{self.count}", 1)
            self.turn("supersede", (old, marked), (new, self.text()))

    def forget(self) -> None:
        if file := self.any():
            self.marks -= {mark for mark in self.marks if mark in file.read_text("utf-8")}
            self.turn("forget", (file, None))

    def rename(self) -> None:
        old, new = self.any(), self.history.root / self.random.choice(NAMES)
        if old and not new.exists():
            self.turn("rename", (new, old.read_text("utf-8")), (old, None))

    def take_back(self) -> None:
        with suppress(VersionNotFoundError, UndoRefusedError):
            versions = [version.id for version in self.history.versions() if version.ours]
            named = self.random.choice(versions) if self.named and versions else None
            outcome = undo(self.history, plan(self.history, named), "undo", {"Source": "user"})
            assert (outcome.why, outcome.left_out) == ("", ())

    def edit(self) -> None:
        """Somebody's own line, at the end of a file, not committed."""
        if file := self.any():
            mark = f"By hand {self.random.randrange(10**9)}."
            self.marks.add(mark)
            file.write_text(file.read_text("utf-8") + mark + "\n", "utf-8")

    def stage(self) -> None:
        """And staged, or not staged any more."""
        if file := self.any():
            subprocess.run(["git", self.random.choice(["add", "reset", "add"]), "-q", "--", str(file)],
                           cwd=self.history.root, capture_output=True, check=False,
                           env={**os.environ, "GIT_LITERAL_PATHSPECS": "1"})  # fmt: skip


def begun(folder: Path, inner: str) -> History:
    root = folder / inner
    root.mkdir(parents=True, exist_ok=True)
    by_hand(folder, "init", "-q", "-b", "main", ".")
    (root / "base.md").write_text(MEMORY.format("base"))
    by_hand(folder, "add", "-A")
    by_hand(folder, "commit", "-qm", "base")
    return History(root)


def check_taken_back(folder: Path, seed: int, steps: int) -> None:
    """Without anybody's edits HEAD always equals the disk, and undoing everything gives the first tree.

    Where turns in the middle were taken back, those undos are taken back in their turn.
    """
    history, named = begun(folder, "" if seed % 2 else "notes"), seed % 4 > 1
    first, tree = files(history), by_hand(folder, "rev-parse", "HEAD^{tree}")
    life = Life(history, seed, hands=False, named=named)

    for _ in range(steps):
        life.live(1)
        assert dict(memories_at(history, "HEAD")) == files(history)
    if named:
        for version in list(history.versions())[:-1]:
            undo(history, plan(history, version.id), "undo", {})
    else:
        with pytest.raises(VersionNotFoundError):
            while True:
                undo(history, plan(history), "undo", {})

    assert files(history) == first
    assert by_hand(folder, "rev-parse", "HEAD^{tree}") == tree
    assert by_hand(folder, "status", "--porcelain") == ""
    assert by_hand(folder, "fsck", "--strict", "--no-dangling") == ""


def check_nothing_lost(folder: Path, seed: int, steps: int) -> None:
    """With an owner who edits and stages in between, theirs is never committed with ours nor lost."""
    history = begun(folder, "" if seed % 2 else "notes")
    life = Life(history, seed, hands=True, named=True)

    life.live(steps)
    written = b"\n".join(files(history).values()).decode("utf-8")
    for version in history.versions():
        if version.ours and version.subject in ("change", "supersede"):
            assert "+By hand" not in history.diff(version.id)
    by_hand(folder, "reset", "-q")
    commit_by_hand(history, "by hand")

    assert {mark for mark in life.marks if mark not in written} == set()
    assert dict(memories_at(history, "HEAD")) == files(history)
    assert by_hand(folder, "status", "--porcelain") == ""
    assert by_hand(folder, "fsck", "--strict", "--no-dangling") == ""


@pytest.mark.parametrize("seed", range(2))
def test_all_that_was_done_can_be_taken_back(tmp_path: Path, seed: int) -> None:
    check_taken_back(tmp_path, seed, 9)


@pytest.mark.parametrize("seed", range(100, 102))
def test_what_somebody_edits_and_stages_in_between_is_neither_lost_nor_swept_in(tmp_path: Path, seed: int) -> None:
    check_nothing_lost(tmp_path, seed, 24)


@pytest.mark.storm
@pytest.mark.parametrize("seed", range(1_000, 1_024))
def test_all_that_was_done_can_be_taken_back_at_length(tmp_path: Path, seed: int) -> None:
    check_taken_back(tmp_path, seed, 50)


@pytest.mark.storm
@pytest.mark.parametrize("seed", range(2_000, 2_024))
def test_what_somebody_edits_in_between_is_neither_lost_nor_swept_in_at_length(tmp_path: Path, seed: int) -> None:
    check_nothing_lost(tmp_path, seed, 60)


WRITER = """
import sys
from pathlib import Path
from vault_mind.commits import commit
from vault_mind.history import History
root, name, times = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
for number in range(times):
    path = f"memories/{name}-{number}.md"
    (root / path).write_text(f"The user said {name} {number}.\\n")
    outcome = commit(History(root), [path], path, {"Source": "chat", "Turn": path})
    if outcome.version is None or outcome.left_out:
        print(outcome)
"""


def check_together(folder: Path, writers: int, times: int) -> None:
    """Many processes commit at once, beside an owner who stages hunks: all of ours is in versions, theirs stays."""
    history = begun(folder, "notes")
    (history.root / "memories").mkdir()
    lines = [f"line {number}\n" for number in range(40)]
    theirs = history.root / "theirs.md"
    theirs.write_text("".join(lines))
    by_hand(folder, "add", "-A")
    by_hand(folder, "commit", "-qm", "theirs")
    edited = list(lines)
    writer = [sys.executable, "-c", WRITER, str(history.root)]
    running = [
        subprocess.Popen([*writer, f"w{number}", str(times)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for number in range(writers)
    ]

    wanted, round_ = "", 0
    while round_ < 2 or any(process.poll() is None for process in running):
        at = (round_ * 7) % 35
        edited[at] = f"chosen {round_}\n"
        theirs.write_text("".join([*edited[:-1], f"not chosen {round_}\n"]))
        # What `git add -p` does with a chosen hunk. (It also reads the index before it locks it, so that it may itself
        # lose what any other git staged in that moment; this does not.)
        blob = subprocess.run(["git", "hash-object", "-w", "--stdin"], input="".join(edited).encode(), cwd=folder,
                              capture_output=True, check=True).stdout.decode().strip()  # fmt: skip
        entry = f"100644,{blob},notes/theirs.md"
        words = ["git", "update-index", "--cacheinfo", entry]
        while subprocess.run(words, cwd=folder, capture_output=True, check=False).returncode:
            pass  # locked out for once, as by any git
        wanted = by_hand(folder, "show", ":notes/theirs.md")
        round_ += 1

    said = b"".join(process.communicate()[0] for process in running)
    assert said == b""
    assert by_hand(folder, "show", ":notes/theirs.md") == wanted != "".join(lines)
    assert staged(history).count("diff --git") == 1
    held = dict(memories_at(history, "HEAD"))
    assert {f"memories/w{writer}-{number}.md" for writer in range(writers) for number in range(times)} <= set(held)
    assert held["theirs.md"] == "".join(lines).encode()
    ours = [version for version in history.versions() if version.ours]
    assert len(ours) == writers * times
    assert all([change.path for change in version.changes] == [version.subject] for version in ours)
    assert waiting(history) == []
    assert by_hand(folder, "fsck", "--strict", "--no-dangling") == ""


def test_four_processes_beside_somebody_who_stages_hunks_all_end_in_commits(tmp_path: Path) -> None:
    check_together(tmp_path, 4, 2)


@pytest.mark.storm
def test_sixteen_processes_beside_somebody_who_stages_hunks_all_end_in_commits(tmp_path: Path) -> None:
    check_together(tmp_path, 16, 6)


KILLED = """
import os, signal, sys, threading, random
from pathlib import Path
from vault_mind import git
from vault_mind.commits import commit
from vault_mind.history import History
root, dies = Path(sys.argv[1]), int(sys.argv[2])
run, count = git.run, [0]
def counted(*words, **more):
    count[0] += 1
    if count[0] == dies:
        os.kill(os.getpid(), signal.SIGKILL)
    return run(*words, **more)
git.run = counted
(root / f"k{dies}.md").write_text(f"The user said {dies}.\\n")
commit(History(root), [f"k{dies}.md"], f"k{dies}", {"Source": "chat", "Turn": f"k{dies}"})
"""


def test_killed_before_any_question_to_git_the_turn_is_in_a_version_in_the_end(tmp_path: Path) -> None:
    history = begun(tmp_path, "")
    (tmp_path / "theirs.md").write_text("staged\n")
    by_hand(tmp_path, "add", "theirs.md")
    before = staged(history)
    deaths = [2, 5, 9, 11, 12, 13]

    for dies in deaths:
        ended = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), str(dies)], check=False)
        assert ended.returncode == -9
    (tmp_path / "last.md").write_text("last\n")
    outcome = commit(history, ["last.md"], "last", TRAILERS)

    assert outcome.why == ""
    assert {"last.md", *(f"k{dies}.md" for dies in deaths)} <= set(dict(memories_at(history, "HEAD")))
    assert waiting(history) == []
    assert staged(history) == before
    assert status(history) == "A  theirs.md\n"
    assert not list((tmp_path / ".git").glob("vault-mind*"))
    assert by_hand(tmp_path, "fsck", "--strict", "--no-dangling") == ""

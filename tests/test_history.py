"""The vault's git, for real: one turn one commit, the story, the past, undo; beside an owner who stages and rebases."""

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from vault_mind.commits import Outcome, commit, commit_by_hand, state
from vault_mind.errors import MemoryChangedError, MemoryNotFoundError, UndoRefusedError, VersionNotFoundError
from vault_mind.history import Change, History
from vault_mind.past import memories_at, read_at, tree_at, why
from vault_mind.turns import waiting
from vault_mind.undo import plan, undo

MEMORY = '---\nkind: preference\nsource: chat\nquote: "{0}"\nchat: 2026-12-01-1\n---\n\nThe user said: {0}.\n'
TRAILERS = {"Source": "chat", "Chat": "2026-12-01-1", "Model": "claude", "Turn": "t1"}
ODD = ["café.md", "水曜日.md", "a -> b.md", 'say "hi".md', "two  spaces.md", " b.md", "-rf.md", ":(glob)*.md", "*.md"]
ODD += ["new\nline.md", "tab\there.md", "back\\slash.md", os.fsdecode(b"latin-\xe9.md"), "{brace}.md", "#hash.md"]


@pytest.fixture(autouse=True)
def owner(monkeypatch: pytest.MonkeyPatch) -> None:
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "Ada")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "ada@example.org")


@pytest.fixture(params=["the top", "a folder of a bigger one", "a worktree"])
def history(request: pytest.FixtureRequest, tmp_path: Path) -> History:
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
def plain(tmp_path: Path) -> History:
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
    return by_hand(history.place().top, "diff", "--cached")


def status(history: History) -> str:
    return by_hand(history.place().top, "status", "--porcelain")


# One turn, one commit.


def test_a_turn_is_one_commit_that_says_why(history: History) -> None:
    outcome = learn(history, "memories/tea.md")

    assert outcome.why == ""
    assert outcome.version is not None
    assert outcome.version.subject == "Learned: tea"
    assert outcome.version.trailers == TRAILERS
    assert outcome.version.changes == (Change("added", "memories/tea.md"),)
    assert outcome.version.author == "Ada"
    assert outcome.version.ours
    assert held(history) == [history.in_repository("memories/tea.md")]
    assert by_hand(history.root, "log", "-1", "--format=%(trailers:key=Turn,valueonly)").strip() == "t1"
    assert status(history) == ""
    by_hand(history.root, "fsck", "--strict")


def test_what_else_is_staged_changed_or_lying_about_stays_as_it_was(history: History) -> None:
    root = history.root
    for name in ("staged.md", "half.md", "gone.md", "moved.md"):
        (root / name).write_text("one\ntwo\n")
    by_hand(root, "add", ".")
    by_hand(root, "commit", "-qm", "more")
    (root / "staged.md").write_text("one\ntwo\nthree\n")
    (root / "half.md").write_text("ONE\ntwo\n")
    (root / "fresh.md").write_text("fresh\n")
    by_hand(root, "add", "staged.md", "half.md", "fresh.md")
    (root / "half.md").write_text("ONE\nTWO\n")
    by_hand(root, "rm", "-q", "--cached", "gone.md")
    by_hand(root, "mv", "moved.md", "away.md")
    (root / "intended.md").write_text("later\n")
    by_hand(root, "add", "-N", "intended.md")
    (root / "scratch.txt").write_text("secret")
    staged_before, status_before = staged(history), status(history)

    learn(history, "memories/tea.md")

    assert held(history) == [history.in_repository("memories/tea.md")]
    assert staged(history) == staged_before
    assert status(history) == status_before
    assert (root / "half.md").read_text() == "ONE\nTWO\n"


def test_files_new_changed_deleted_and_renamed_are_one_commit(history: History) -> None:
    learn(history, "memories/a.md", "apples")
    learn(history, "memories/b.md", "bread")
    learn(history, "memories/c.md", "cheese and crackers")
    (history.root / "memories/a.md").write_text(MEMORY.format("apples and pears"))
    (history.root / "memories/b.md").unlink()
    (history.root / "memories/c.md").rename(history.root / "memories/d.md")
    (history.root / "memories/e.md").write_text("eggs, which are something else altogether\n")

    outcome = commit(history, [f"memories/{name}.md" for name in "abcde"], "All of it", TRAILERS)

    assert outcome.version is not None
    assert set(outcome.version.changes) == {
        Change("changed", "memories/a.md"),
        Change("deleted", "memories/b.md"),
        Change("renamed", "memories/d.md", "memories/c.md"),
        Change("added", "memories/e.md"),
    }
    assert status(history) == ""


def test_a_turn_that_changed_nothing_is_no_commit(plain: History) -> None:
    learn(plain, "tea.md")
    tip = plain.head().id

    outcome = learn(plain, "tea.md")

    assert outcome == Outcome(None)
    assert plain.head().id == tip


def test_the_first_commit_of_all_holds_only_our_files(tmp_path: Path) -> None:
    (tmp_path / "mine.md").write_text("mine\n")
    (tmp_path / "staged.md").write_text("staged\n")
    history = History(tmp_path)

    made = history.start()
    by_hand(tmp_path, "add", "staged.md")
    outcome = learn(history, "memories/tea.md")

    assert made
    assert not history.start()
    assert outcome.version is not None
    assert outcome.version.parents == ()
    assert held(history) == ["memories/tea.md"]
    assert status(history).splitlines() == ["A  staged.md", "?? mine.md"]


def test_a_folder_that_the_repository_around_it_ignores_gets_its_own(tmp_path: Path) -> None:
    by_hand(tmp_path, "init", "-q", ".")
    (tmp_path / ".gitignore").write_text("*\n")
    vault = tmp_path / "notes"
    vault.mkdir()

    assert History(vault).start()

    assert (vault / ".git").is_dir()


def test_no_repository_is_a_plain_answer_everywhere(tmp_path: Path) -> None:
    history = History(tmp_path)
    (tmp_path / "tea.md").write_text(MEMORY.format("tea"))

    assert "no git repository" in history.off
    assert learn(history, "coffee.md") == Outcome(None)
    assert commit_by_hand(history, "x") == Outcome(None)
    assert list(history.versions()) == []
    assert history.diff() == ""
    assert tree_at(history, datetime.now(UTC)) is None
    assert state(history) == []
    assert waiting(history) == []
    assert why(history, "tea.md").uncommitted
    with pytest.raises(VersionNotFoundError):
        plan(history)


def test_a_submodule_has_its_own_history(tmp_path: Path) -> None:
    outer, inner = tmp_path / "outer", tmp_path / "inner"
    for folder in (outer, inner):
        folder.mkdir()
        by_hand(folder, "init", "-q", "-b", "main", ".")
        by_hand(folder, "commit", "-q", "--allow-empty", "-m", "first")
    by_hand(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "notes")
    history = History(outer / "notes")

    learn(history, "tea.md")

    assert held(history) == ["tea.md"]
    assert by_hand(outer, "log", "--format=%s") == "first\n"


# An owner who has staged something of the very file that a turn writes.


def test_what_was_staged_of_the_same_file_is_carried_over_to_the_new_version(history: History) -> None:
    root = history.root
    lines = [f"line {number}\n" for number in range(12)]
    (root / "note.md").write_text("".join(lines))
    by_hand(root, "add", "note.md")
    by_hand(root, "commit", "-qm", "note")
    (root / "note.md").write_text("".join(["STAGED\n", *lines[1:]]))
    by_hand(root, "add", "note.md")
    found = "".join(["STAGED\n", *lines[1:6], "BY HAND\n", *lines[7:]])
    (root / "note.md").write_text(found)
    (root / "note.md").write_text(found + "ours\n")

    outcome = commit(history, ["note.md"], "Ours", TRAILERS, before={"note.md": found.encode()})

    assert outcome.version is not None
    changed = [
        line for line in history.diff(outcome.version.id).splitlines() if line[:1] in "+-" and line[1:2].isalpha()
    ]
    assert changed == ["+ours"]
    assert [line for line in staged(history).splitlines() if line[:1] in "+-"][2:] == ["-line 0", "+STAGED"]
    assert (root / "note.md").read_text() == found + "ours\n"
    by_hand(root, "commit", "-qm", "theirs")
    assert by_hand(root, "show", "HEAD:./note.md") == "".join(["STAGED\n", *lines[1:], "ours\n"])


def test_what_was_staged_on_the_same_lines_stays_staged_as_it_was(plain: History) -> None:
    (plain.root / "base.md").write_text("staged\n")
    by_hand(plain.root, "add", "base.md")
    (plain.root / "base.md").write_text("ours\n")

    commit(plain, ["base.md"], "Ours", TRAILERS)

    assert by_hand(plain.root, "show", ":base.md") == "staged\n"
    assert by_hand(plain.root, "show", "HEAD:base.md") == "ours\n"
    assert (plain.root / "base.md").read_text() == "ours\n"


def test_a_staged_deletion_of_the_same_file_stays_staged(plain: History) -> None:
    by_hand(plain.root, "rm", "-q", "--cached", "base.md")
    (plain.root / "base.md").write_text("ours\n")

    commit(plain, ["base.md"], "Ours", TRAILERS)

    assert by_hand(plain.root, "show", "HEAD:base.md") == "ours\n"
    assert status(plain).splitlines() == ["D  base.md", "?? base.md"]


def test_a_hand_edit_on_the_lines_that_a_turn_changes_becomes_a_version_before_it(plain: History) -> None:
    found = b"by hand\n"
    (plain.root / "base.md").write_text("ours\n")

    commit(plain, ["base.md"], "Ours", TRAILERS, before={"base.md": found}, by_hand="Von Hand")

    ours, theirs, _ = plain.versions()
    assert (ours.subject, theirs.subject) == ("Ours", "Von Hand: base.md")
    assert ours.ours
    assert not theirs.ours
    assert read_at(plain, theirs.id, "base.md") == found
    assert status(plain) == ""


def test_a_note_of_theirs_that_git_never_had_is_kept_as_it_was_found(plain: History) -> None:
    (plain.root / "note.md").write_text("their words\nsuperseded_by: tea\n")

    commit(plain, ["note.md"], "Ours", TRAILERS, before={"note.md": b"their words\n"})
    undo(plain, plan(plain), "Undone", {})

    assert (plain.root / "note.md").read_text() == "their words\n"


# All that can keep git from committing.


def test_a_hook_may_say_no_and_the_next_commit_that_works_takes_the_turn_along(history: History) -> None:
    hook = history.place().git_dir
    hook = ((hook / "commondir").exists() and hook / (hook / "commondir").read_text().strip()) or hook
    hook = hook / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\ngit diff --cached --name-only -z >hooked\necho 'no tea here' >&2\nexit 1\n")
    hook.chmod(0o755)
    tip = history.head().id

    refused = learn(history, "memories/tea.md", Turn="t1")
    seen = (history.place().top / "hooked").read_text()
    still = state(history)
    hook.unlink()
    (history.place().top / "hooked").unlink()
    taken = learn(history, "memories/milk.md", "milk", Turn="t2")

    assert refused.version is None
    assert "the pre-commit hook says no (no tea here)" in refused.why
    assert seen == history.in_repository("memories/tea.md") + "\0"
    assert any("memories/tea.md" in line for line in still)
    assert taken.version is not None
    turns = [version.trailers.get("Turn") for version in history.versions(limit=2)]
    assert turns == ["t2", "t1"]
    assert history.parent(history.parent(taken.version.id) or "") == tip
    assert waiting(history) == []
    assert status(history) == ""


@pytest.mark.parametrize("where", ["hooks", "core.hooksPath"])
def test_a_hook_that_reads_the_message_may_say_no_or_change_it(plain: History, where: str) -> None:
    folder = plain.root / ".git" / "hooks"
    if where == "core.hooksPath":
        folder = plain.root / ".git" / "my hooks"
        by_hand(plain.root, "config", "core.hooksPath", str(folder))
    folder.mkdir(exist_ok=True)
    hook = folder / "commit-msg"
    hook.write_text('#!/bin/sh\ngrep -q milk "$1" && exit 1\nprintf "Change-Id: 7\\n" >>"$1"\n')
    hook.chmod(0o755)

    passed, refused = learn(plain, "tea.md", "tea"), learn(plain, "milk.md", "milk")

    assert passed.version is not None
    assert passed.version.trailers["Change-Id"] == "7"
    assert "commit-msg hook says no" in refused.why


def test_a_hook_that_refuses_one_turn_keeps_no_other_from_being_committed(plain: History) -> None:
    hook = plain.root / ".git" / "hooks" / "commit-msg"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text('#!/bin/sh\nif grep -q milk "$1"; then exit 1; fi\n')
    hook.chmod(0o755)
    learn(plain, "milk.md", "milk")

    outcome = learn(plain, "tea.md", "tea")

    assert outcome.version is not None
    assert waiting(plain) == ["milk.md"]


def test_a_file_that_waited_and_was_changed_since_is_two_versions(plain: History) -> None:
    (plain.root / ".git/MERGE_HEAD").write_text(f"{plain.head().id}\n")
    learn(plain, "tea.md", "tea", Turn="t1")
    (plain.root / ".git/MERGE_HEAD").unlink()

    learn(plain, "tea.md", "green tea", Turn="t2")

    second, first, _ = plain.versions()
    assert [first.trailers["Turn"], second.trailers["Turn"]] == ["t1", "t2"]
    assert read_at(plain, first.id, "tea.md") == MEMORY.format("tea").encode()
    assert read_at(plain, second.id, "tea.md") == MEMORY.format("green tea").encode()


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("MERGE_HEAD", "a merge is under way"),
        ("CHERRY_PICK_HEAD", "a cherry-pick is under way"),
        ("REVERT_HEAD", "a revert is under way"),
        ("BISECT_LOG", "a bisect is under way"),
        ("rebase-apply", "a rebase is under way"),
    ],
)
def test_what_its_owner_is_in_the_middle_of_is_waited_for(plain: History, name: str, told: str) -> None:
    (plain.root / ".git" / name).write_text(f"{plain.head().id}\n")
    tip = plain.head().id

    outcome = learn(plain, "tea.md")

    assert told in outcome.why
    assert "The next commit takes it along" in outcome.why
    assert plain.head().id == tip
    assert (plain.root / "tea.md").exists()
    assert any(told in line for line in state(plain))


def test_a_file_in_conflict_is_not_committed_with_its_marks(plain: History) -> None:
    (plain.root / "base.md").write_text("stashed\n")
    by_hand(plain.root, "stash", "-q")
    (plain.root / "base.md").write_text("committed\n")
    by_hand(plain.root, "commit", "-qam", "theirs")
    subprocess.run(["git", "stash", "pop", "-q"], cwd=plain.root, capture_output=True, check=False)

    conflict, other = commit(plain, ["base.md"], "x", TRAILERS), learn(plain, "tea.md")

    assert "base.md is in conflict" in conflict.why
    assert other.version is not None
    assert held(plain) == ["tea.md"]
    assert any("base.md is in conflict" in line for line in state(plain))


def test_a_repository_that_cannot_be_written_loses_nothing(plain: History) -> None:
    (plain.root / ".git/index.lock").mkdir()  # what root, too, cannot write over
    os.utime(plain.root / ".git/index.lock", (1, 1))

    outcome = learn(plain, "tea.md")

    assert "remove" in outcome.why
    assert waiting(plain) == ["tea.md"]


def test_a_repository_of_somebody_else_is_named_with_what_to_do(
    plain: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    history = History(plain.root)

    outcome = learn(history, "tea.md")
    told = state(history)
    monkeypatch.delenv("GIT_TEST_ASSUME_DIFFERENT_OWNER")
    later = learn(plain, "milk.md", "milk")

    assert "safe.directory" in outcome.why
    assert "safe.directory" in told[0]
    assert later.version is not None
    assert [version.subject for version in plain.versions(limit=2)] == ["Learned: milk", "Learned: tea"]


def test_without_git_the_file_is_kept_and_the_reason_told(plain: History, monkeypatch: pytest.MonkeyPatch) -> None:
    path = os.environ["PATH"]
    monkeypatch.setenv("PATH", "")

    outcome = learn(History(plain.root), "tea.md")
    monkeypatch.setenv("PATH", path)

    assert "git is not installed" in outcome.why
    assert waiting(plain) == ["tea.md"]


def test_one_bad_path_costs_only_itself(plain: History, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "memories")
    (tmp_path / "memories").mkdir()
    (tmp_path / "memories/tea.md").write_text("tea\n")

    outcome = commit(plain, ["link/tea.md", "memories/tea.md"], "x", TRAILERS)

    assert outcome.version is not None
    assert held(plain) == ["memories/tea.md"]
    assert len(outcome.left_out) == 1
    assert "link/tea.md" in outcome.left_out[0]


def test_a_lock_of_ours_whose_holder_was_killed_is_taken_away(plain: History) -> None:
    dead = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    host = os.uname().nodename
    (plain.root / ".git/index.lock").write_text(f"vault-mind {host} {int(dead.stdout)}\n")

    assert learn(plain, "tea.md").version is not None


def test_a_subject_and_trailers_stay_on_their_lines(plain: History) -> None:
    (plain.root / "tea.md").write_text("tea\n")

    outcome = commit(plain, ["tea.md"], "Gelernt:\nTee\x1b[31m\n\nSource: forged", {"Source": "chat\nTurn: forged"})

    assert outcome.version is not None
    assert outcome.version.subject == "Gelernt: Tee [31m Source: forged"
    assert outcome.version.trailers == {"Source": "chat Turn: forged"}


@pytest.mark.parametrize("setting", ["input", "true"])
def test_our_bytes_stay_whatever_line_endings_git_is_set_to(plain: History, setting: str) -> None:
    by_hand(plain.root, "config", "core.autocrlf", setting)
    (plain.root / ".gitattributes").write_text("*.md text=auto\n")
    data = b"one\r\ntwo\r\n"
    (plain.root / "crlf.md").write_bytes(data)
    (plain.root / "lf.md").write_bytes(b"one\ntwo\n")

    outcome = commit(plain, ["crlf.md", "lf.md"], "x", TRAILERS)
    (plain.root / "lf.md").unlink()
    commit(plain, ["lf.md"], "forgotten", TRAILERS)
    undo(plain, plan(plain), "undone", {})

    assert outcome.version is not None
    assert (plain.root / "crlf.md").read_bytes() == data
    assert (plain.root / "lf.md").read_bytes() == b"one\ntwo\n"
    assert read_at(plain, "HEAD", "crlf.md") == b"one\ntwo\n"  # stored as `git add` stores it
    assert status(plain) == "?? .gitattributes\n"


def test_a_clean_filter_is_run_for_what_is_stored_and_undone_through(plain: History) -> None:
    by_hand(plain.root, "config", "filter.rot.clean", "tr a-z n-za-m")
    by_hand(plain.root, "config", "filter.rot.smudge", "tr a-z n-za-m")
    (plain.root / ".gitattributes").write_text("*.md filter=rot\n")
    learn(plain, "secret.md", "tea")
    first = (plain.root / "secret.md").read_bytes()
    learn(plain, "secret.md", "milk")

    undo(plain, plan(plain), "undone", {})

    assert b"hfre fnvq: grn." in read_at(plain, "HEAD", "secret.md")
    assert (plain.root / "secret.md").read_bytes() == first


# Hand edits, where they are to be committed too.


def test_hand_edits_are_committed_as_their_owners_and_what_is_staged_stays_theirs(history: History) -> None:
    root = history.root
    (root / "half.md").write_text("one\ntwo\n")
    by_hand(root, "add", "half.md")
    by_hand(root, "commit", "-qm", "half")
    (root / "half.md").write_text("ONE\ntwo\n")
    by_hand(root, "add", "half.md")
    (root / "half.md").write_text("ONE\nTWO\n")
    (root / "base.md").write_text("edited\n")
    (root / "new.md").write_text("new\n")
    (root / ".obsidian").mkdir()
    (root / ".obsidian/x.md").write_text("x\n")
    (root / "picture.png").write_bytes(b"x")
    before = staged(history)

    outcome = commit_by_hand(history, "Edited by hand")

    assert outcome.version is not None
    assert not outcome.version.ours
    assert [change.path for change in outcome.version.changes] == ["base.md", "new.md"]
    assert staged(history) == before
    assert commit_by_hand(history, "again") == Outcome(None)


# Versions, differences, the story of a memory.


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


# Undo.


def test_undo_takes_back_a_turn_and_an_undo_of_it_brings_it_back(history: History) -> None:
    learn(history, "memories/tea.md", "tea")
    first = (history.root / "memories/tea.md").read_bytes()
    learn(history, "memories/tea.md", "milk")
    second = (history.root / "memories/tea.md").read_bytes()

    planned = plan(history)
    undone = undo(history, planned, "Taken back", {"Source": "user"})
    after_one = (history.root / "memories/tea.md").read_bytes()
    assert undone.version is not None
    undo(history, plan(history, undone.version.id), "Brought back", {"Source": "user"})
    after_two = (history.root / "memories/tea.md").read_bytes()

    assert "-The user said: milk." in planned.diff
    assert "+The user said: tea." in planned.diff
    assert undone.version.trailers == {"Source": "user", "Undoes": planned.version.id}
    assert (after_one, after_two) == (first, second)
    assert status(history) == ""


def test_undo_again_and_again_takes_back_turn_after_turn(plain: History) -> None:
    for text in ("tea", "milk", "cocoa"):
        learn(plain, f"{text}.md", text)
    by_hand(plain.root, "commit", "-q", "--allow-empty", "-m", "theirs")

    while True:
        try:
            undo(plain, plan(plain), "Undone", {})
        except VersionNotFoundError:
            break

    assert sorted(file.name for file in plain.root.glob("*.md")) == ["base.md"]
    assert len(list(plain.versions())) == 8
    assert by_hand(plain.root, "rev-parse", "HEAD^{tree}") == by_hand(plain.root, "rev-parse", "HEAD~7^{tree}")


def test_a_turn_can_be_named_by_its_trailer(plain: History) -> None:
    learn(plain, "tea.md", "tea", Turn="one")
    learn(plain, "milk.md", "milk", Turn="two")

    undo(plain, plan(plain, "one"), "Undone", {})

    assert not (plain.root / "tea.md").exists()
    assert (plain.root / "milk.md").exists()
    with pytest.raises(VersionNotFoundError):
        plan(plain, "three")


def test_later_edits_of_other_lines_stay_in_the_file_and_out_of_the_commit(plain: History) -> None:
    lines = [f"line {number}\n" for number in range(12)]
    (plain.root / "base.md").write_text("".join(lines))
    commit(plain, ["base.md"], "lines", TRAILERS)
    (plain.root / "base.md").write_text("".join(["ours\n", *lines[1:]]))
    commit(plain, ["base.md"], "ours", TRAILERS)
    (plain.root / "base.md").write_text("".join(["ours\n", *lines[1:-1], "by hand\n"]))

    undo(plain, plan(plain), "Undone", {})

    assert (plain.root / "base.md").read_text() == "".join([*lines[:-1], "by hand\n"])
    assert read_at(plain, "HEAD", "base.md") == "".join(lines).encode()
    assert "+by hand" in plain.diff()


@pytest.mark.parametrize("committed", [True, False], ids=["committed", "not committed"])
@pytest.mark.parametrize("first", [True, False], ids=["the turn that made it", "a turn that changed it"])
def test_undo_refuses_where_later_edits_touch_the_same_lines(plain: History, committed: bool, first: bool) -> None:
    if not first:
        learn(plain, "tea.md", "tea")
    turn = learn(plain, "tea.md", "milk").version
    (plain.root / "tea.md").write_text(MEMORY.format("cocoa by hand"))
    if committed:
        by_hand(plain.root, "add", "tea.md")
        by_hand(plain.root, "commit", "-qm", "theirs")
    assert turn is not None
    tip = plain.head().id

    with pytest.raises(UndoRefusedError, match="edited later.*theirs" if committed else "edited later by hand"):
        plan(plain, turn.id)

    assert (plain.root / "tea.md").read_text() == MEMORY.format("cocoa by hand")
    assert plain.head().id == tip


def test_undo_of_a_forget_brings_the_file_back_byte_for_byte_or_says_what_is_in_the_way(plain: History) -> None:
    data = b"\xef\xbb\xbf---\r\nkind: fact\r\n---\r\n\r\nNo newline, and \xe9"
    (plain.root / "tea.md").write_bytes(data)
    commit(plain, ["tea.md"], "x", TRAILERS)
    (plain.root / "tea.md").unlink()
    commit(plain, ["tea.md"], "Forgotten", TRAILERS)
    (plain.root / "tea.md").write_text("a new one\n")

    with pytest.raises(UndoRefusedError, match="a new file has its name"):
        plan(plain)
    (plain.root / "tea.md").unlink()
    undo(plain, plan(plain), "Undone", {})

    assert (plain.root / "tea.md").read_bytes() == data


def test_undo_finds_a_memory_under_its_new_name(plain: History) -> None:
    learn(plain, "tea.md", "tea")
    turn = learn(plain, "tea.md", "green tea, and never before noon").version
    by_hand(plain.root, "mv", "tea.md", "drinks.md")
    by_hand(plain.root, "commit", "-qm", "renamed")
    assert turn is not None

    undo(plain, plan(plain, turn.id), "Undone", {})

    assert (plain.root / "drinks.md").read_text() == MEMORY.format("tea")
    assert not (plain.root / "tea.md").exists()


def test_undo_of_a_rename_gives_the_old_name_back(plain: History) -> None:
    learn(plain, "tea.md", "tea")
    (plain.root / "tea.md").rename(plain.root / "drinks.md")
    commit(plain, ["tea.md", "drinks.md"], "Renamed", TRAILERS)

    undo(plain, plan(plain), "Undone", {})

    assert (plain.root / "tea.md").read_text() == MEMORY.format("tea")
    assert not (plain.root / "drinks.md").exists()


def test_undo_is_all_or_nothing(plain: History) -> None:
    for name in ("a.md", "b.md"):
        (plain.root / name).write_text("one\n")
    commit(plain, ["a.md", "b.md"], "one", TRAILERS)
    for name in ("a.md", "b.md"):
        (plain.root / name).write_text("two\n")
    commit(plain, ["a.md", "b.md"], "two", TRAILERS)
    planned = plan(plain)
    (plain.root / "b.md").write_text("by hand\n")

    with pytest.raises(MemoryChangedError):
        undo(plain, planned, "Undone", {})

    assert (plain.root / "a.md").read_text() == "two\n"
    assert (plain.root / "b.md").read_text() == "by hand\n"


def test_a_merge_is_not_undone(plain: History) -> None:
    by_hand(plain.root, "checkout", "-qb", "side")
    learn(plain, "tea.md")
    by_hand(plain.root, "checkout", "-q", "main" if "main" in by_hand(plain.root, "branch") else "master")
    by_hand(plain.root, "commit", "-q", "--allow-empty", "-m", "x")
    by_hand(plain.root, "merge", "-q", "--no-ff", "-m", "joined", "side")

    with pytest.raises(UndoRefusedError, match="joins two lines"):
        plan(plain, "HEAD")


@pytest.mark.parametrize(
    "words",
    [
        ["config", "core.splitIndex", "true"],
        ["config", "index.version", "4"],
        ["config", "core.untrackedCache", "true"],
        ["update-index", "--split-index"],
        ["sparse-checkout", "set", "--cone", "--sparse-index"],
        ["config", "i18n.commitEncoding", "latin1"],
        ["config", "diff.noprefix", "true"],
        ["config", "core.fileMode", "false"],
    ],
    ids=" ".join,
)
def test_whatever_its_owner_configured_a_turn_is_one_commit(plain: History, words: list[str]) -> None:
    (plain.root / "theirs.md").write_text("staged\n")
    (plain.root / "other").mkdir()
    (plain.root / "other/x.md").write_text("x\n")
    by_hand(plain.root, "add", "other")
    by_hand(plain.root, "commit", "-qm", "other")
    by_hand(plain.root, *words)
    by_hand(plain.root, "add", "theirs.md")

    first = learn(plain, "café.md", "grüner Tee").version
    second = learn(plain, "café.md", "milk").version
    undo(plain, plan(plain), "Undone", {})

    assert first is not None
    assert second is not None
    assert first.subject == "Learned: grüner Tee"
    assert status(plain) == "A  theirs.md\n"
    assert held(plain) == ["café.md"]
    by_hand(plain.root, "fsck", "--strict")


def test_a_repository_with_longer_names_works_as_well(tmp_path: Path) -> None:
    by_hand(tmp_path, "init", "-q", "--object-format=sha256", ".")
    history = History(tmp_path)

    learn(history, "tea.md", "tea")
    learn(history, "tea.md", "milk")
    undo(history, plan(history), "Undone", {})
    undo(history, plan(history), "Undone", {})

    assert not (tmp_path / "tea.md").exists()
    assert status(history) == ""
    assert len(list(history.versions())) == 4


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="nothing is read-only to root")
def test_a_read_only_repository_loses_nothing(plain: History) -> None:
    folders = [folder for folder, _, _ in os.walk(plain.root / ".git")]
    for folder in folders:
        os.chmod(folder, 0o555)

    waits = learn(plain, "tea.md")
    for folder in folders:
        os.chmod(folder, 0o755)
    learn(plain, "milk.md", "milk")

    assert waits.why.startswith("Saved, but not yet in git: ")
    assert {"tea.md", "milk.md"} <= set(dict(memories_at(plain, "HEAD")))


def test_a_damaged_repository_loses_nothing_and_says_what_git_said(plain: History) -> None:
    tree = by_hand(plain.root, "rev-parse", "HEAD^{tree}").strip()
    (plain.root / ".git/objects" / tree[:2] / tree[2:]).unlink()

    waits = learn(plain, "tea.md")

    assert f"Saved, but not yet in git: failed to unpack tree object {plain.head().id}" in waits.why
    assert waiting(plain) == ["tea.md"]


def test_hand_edits_are_no_trap_for_turns_that_wait(plain: History) -> None:
    (plain.root / ".git/MERGE_HEAD").write_text(f"{plain.head().id}\n")
    learn(plain, "tea.md", "tea")
    (plain.root / "base.md").write_text("edited\n")
    meanwhile = commit_by_hand(plain, "Edited")
    (plain.root / ".git/MERGE_HEAD").unlink()

    commit_by_hand(plain, "Edited")

    theirs, ours, _ = plain.versions()
    assert meanwhile.why.startswith("Your edits are not yet in git: a merge is under way")
    assert (theirs.subject, theirs.changes) == ("Edited", (Change("changed", "base.md"),))
    assert (ours.subject, ours.trailers["Source"]) == ("Learned: tea", "chat")
    assert waiting(plain) == []


def test_hand_edits_of_somebody_without_a_name_stay_uncommitted(
    plain: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.delenv(f"GIT_{who}_NAME")
        monkeypatch.delenv(f"GIT_{who}_EMAIL")
    by_hand(plain.root, "config", "user.useConfigOnly", "true")
    (plain.root / "base.md").write_text("edited\n")

    outcome = commit_by_hand(plain, "Edited")

    assert outcome.version is None
    assert "git config --global user.name" in outcome.why


def test_many_versions_are_read_page_by_page(plain: History, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        learn(plain, f"{number}.md", str(number))
    whole = list(plain.versions())
    monkeypatch.setattr("vault_mind.history.PAGE", 2)

    assert list(plain.versions()) == whole
    assert list(plain.versions(limit=3)) == whole[:3]
    assert list(plain.versions(limit=4)) == whole[:4]


def test_what_is_gone_already_is_skipped_by_undo_and_refused_by_name(plain: History) -> None:
    learn(plain, "tea.md", "tea")
    gone = learn(plain, "milk.md", "milk").version
    (plain.root / "milk.md").unlink()
    by_hand(plain.root, "commit", "-qam", "theirs")

    assert [step.path for step in plan(plain).steps] == ["tea.md"]
    assert gone is not None
    with pytest.raises(UndoRefusedError, match="nothing of it left"):
        plan(plain, gone.id)

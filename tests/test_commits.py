"""One turn, one commit, for real, beside an owner who stages, rebases, hooks and signs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.histories import MEMORY, TRAILERS, by_hand, held, learn, staged, status
from vault_mind.commits import Outcome, commit, commit_by_hand, state
from vault_mind.history import Change, History
from vault_mind.past import memories_at, read_at
from vault_mind.turns import waiting
from vault_mind.undo import plan, undo

pytestmark = pytest.mark.usefixtures("owner")


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


def test_an_edit_too_young_for_git_to_see_by_its_time_stays_seen(plain: History) -> None:
    file, then = plain.root / "half.md", 1_000_000_000
    by_hand(plain.root, "config", "core.trustctime", "false")
    file.write_text("ONE\ntwo\n")
    os.utime(file, (then, then))
    by_hand(plain.root, "add", "half.md")
    file.write_text("ONE\nTWO\n")
    os.utime(file, (then, then))
    os.utime(plain.root / ".git/index", (then, then))

    learn(plain, "tea.md")

    assert status(plain) == "AM half.md\n"
    assert "+two" in staged(plain)


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
    assert waiting(plain) == ["link/tea.md"]
    assert learn(plain, "milk.md", "milk").version is not None
    assert waiting(plain) == ["link/tea.md"]


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

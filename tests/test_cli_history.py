# a case's id stands in a name as it is written everywhere
"""The vault's past through the commands, in real repositories; GI-… and VS-… are faults that people met in public."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.conftest import Ended, OnTerminal, Run
from tests.histories import by_hand
from vault_mind.config import state_folder
from vault_mind.files import locked
from vault_mind.history import History

Ask = Callable[..., Ended]

MAY = "2026-05-03T08:00:00+02:00"
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
POSIX = pytest.mark.skipif(os.name == "nt", reason="a matter of POSIX shells, signals or file names")
PATIENCE = 60  # seconds; only a machine that is busy with other things needs them


def places(*names: str) -> list[object]:
    """The hardest of several places every day, and the others in the storm."""
    others = [pytest.param(name, marks=pytest.mark.storm) for name in names if name != "a folder of a bigger one"]
    return ["a folder of a bigger one", *others]


@pytest.fixture(scope="module")
def began(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for what was begun once, and is copied then."""
    return tmp_path_factory.mktemp("began")


@pytest.fixture(params=places("the top", "a folder of a bigger one", "a worktree"))
def root(request: pytest.FixtureRequest, tmp_path: Path, began: Path, owner: None, call: Run) -> Path:
    """A vault that `init` began, in each kind of place."""
    return begun(tmp_path, began, str(request.param), call)


@pytest.fixture
def own(tmp_path: Path, began: Path, owner: None, call: Run) -> Path:
    """A vault that is a repository of its own."""
    return begun(tmp_path, began, "the top", call)


@pytest.fixture(params=places("the top", "a folder of a bigger one"))
def either(request: pytest.FixtureRequest, tmp_path: Path, began: Path, owner: None, call: Run) -> Path:
    """A vault at the top of a repository, or in a folder of it."""
    return begun(tmp_path, began, str(request.param), call)


def begun(folder: Path, began: Path, where: str, call: Run) -> Path:
    """A vault in a repository with one committed note, `base.md`."""
    top = folder / "top"
    if where != "a worktree":  # which knows where it is
        if not (began / where).exists():
            made(began / where, where, call)
        shutil.copytree(began / where, top, symlinks=True)
        return top if where == "the top" else top / "my notes"
    return made(top, where, call)


def made(top: Path, where: str, call: Run) -> Path:
    """The same, in a repository that is made at `top`."""
    top.mkdir()
    by_hand(top, "init", "-q", "-b", "main", ".")
    vault = top if where == "the top" else top / "my notes"
    vault.mkdir(exist_ok=True)
    (vault / "base.md").write_text("A base note.\n")
    if vault != top:
        (top / "code.py").write_text("print()\n")
    by_hand(top, "add", "-A")
    by_hand(top, "commit", "-qm", "base")
    if where == "a worktree":
        by_hand(top, "worktree", "add", "-q", "-b", "side", str(top.parent / "tree"))
        vault = top.parent / "tree" / "my notes"
    assert call("init", str(vault)).exit_code == 0
    return vault


@pytest.fixture
def ask(call: Run) -> Callable[[Path], Ask]:
    """A command about one vault, in this process: ask(root)("log", "--json")."""

    def of(root: Path) -> Ask:
        def asked(*words: str, input: str | None = "", env: dict[str, str] | None = None) -> Ended:
            ended = call("--vault", str(root), *words, input=input, env=env)
            assert "Traceback" not in ended.stderr
            return ended

        return asked

    return of


def log(root: Path) -> list[str]:
    """The subjects of all versions, newest first, as git tells them."""
    return by_hand(root, "log", "--format=%s").splitlines()


def status(root: Path) -> str:
    """What `git status` says of all of the repository."""
    return by_hand(root, "status", "--porcelain")


def files(root: Path) -> dict[str, bytes]:
    """Every file of the vault but git's."""
    found = (file for file in root.rglob("*") if file.is_file() and ".git" not in file.relative_to(root).parts)
    return {file.relative_to(root).as_posix(): file.read_bytes() for file in found}


def stems(root: Path) -> set[str]:
    """The memories that the newest version holds."""
    names = by_hand(root, "ls-tree", "-r", "-z", "--name-only", "HEAD", "memories/").split("\0")
    return {Path(name).stem for name in names if name}


# Told, taken back, brought back


def test_a_memory_is_remembered_told_of_taken_back_and_brought_back(root: Path, ask: Callable[[Path], Ask]) -> None:
    vm = ask(root)
    assert vm("remember", "The user drinks tea").stderr == ""
    file = root / "memories/the-user-drinks-tea.md"
    written = file.read_bytes()

    told = vm("log", "tea")
    story = vm("why", "tea")
    shown = vm("diff", "HEAD")
    taken = vm("undo", "--yes")
    gone = not file.exists()
    back = re.search(r"vault-mind undo (\w+) brings it back", taken.stderr)
    again = vm("undo", back[1] if back else "", "--yes")

    assert "The user drinks tea  + memories/the-user-drinks-tea.md" in told.stdout
    assert "source: user" in story.stdout
    assert "+The user drinks tea" in shown.stdout
    assert gone
    assert again.exit_code == 0
    assert file.read_bytes() == written
    assert log(root)[:3] == ["Undo: Undo: The user drinks tea", "Undo: The user drinks tea", "The user drinks tea"]
    assert log(root)[3:] == ["Begin a vault", "base"]
    assert status(root) == ""
    assert by_hand(root, "fsck", "--strict") == ""


def test_undo_asks_first_shows_the_change_and_a_no_keeps_everything(own: Path, ask: Callable[[Path], Ask]) -> None:
    ask(own)("remember", "The user drinks tea")
    before, versions = files(own), log(own)

    asked = ask(own)("undo", input="n\n")
    ended = ask(own)("undo", input="")

    assert (asked.exit_code, ended.exit_code) == (1, 1)
    assert "-The user drinks tea" in asked.stdout
    assert "Take back 'The user drinks tea'? [y/N]" in asked.stderr
    assert (files(own), log(own)) == (before, versions)


def test_undo_twice_walks_back_and_then_says_that_nothing_is_left(own: Path, ask: Callable[[Path], Ask]) -> None:
    vm = ask(own)
    first = files(own)
    vm("remember", "The user drinks tea")
    vm("remember", "The user lives in Oslo")

    ended = [vm("undo", "--yes") for _ in range(3)]

    assert [each.exit_code for each in ended] == [0, 0, 2]
    assert "taken back: The user lives in Oslo (" in ended[0].stderr
    assert "taken back: The user drinks tea (" in ended[1].stderr
    assert ended[2].stderr == "vault-mind: there is no turn left to take back. See the versions with: vault-mind log\n"
    assert files(own) == first


@pytest.mark.parametrize("committed", [True, False])
def test_undo_refuses_what_was_edited_by_hand_since_and_touches_nothing(
    own: Path, ask: Callable[[Path], Ask], committed: bool
) -> None:
    ask(own)("remember", "The user drinks tea")
    file = own / "memories/the-user-drinks-tea.md"
    file.write_bytes(file.read_bytes() + b"With milk.\n")
    if committed:
        by_hand(own, "commit", "-qam", "milk")
    before, versions, state = files(own), log(own), status(own)

    refused = ask(own)("undo", "--yes")

    assert refused.exit_code == 2
    assert re.search(r"not undone, it was edited later.*delete it by hand if you mean it", refused.stderr)
    assert (files(own), log(own), status(own)) == (before, versions, state)


def test_undo_of_a_forget_brings_the_file_back_and_its_undo_takes_it_again(
    either: Path, ask: Callable[[Path], Ask]
) -> None:
    vm = ask(either)
    file = either / "base.md"
    file.write_bytes(b"\xef\xbb\xbfEdited by hand.  \r\n")

    forgotten = vm("forget", "base", "--yes")
    gone = not file.exists()
    taken = vm("undo", "--yes")
    back = file.read_bytes()
    again = vm("undo", by_hand(either, "rev-parse", "HEAD").strip(), "--yes")

    assert "forgotten: base.md (vault-mind undo brings it back)" in forgotten.stderr
    assert gone
    assert "taken back: Forget: " in taken.stderr
    assert back == b"\xef\xbb\xbfEdited by hand.  \r\n"
    assert (again.exit_code, file.exists()) == (0, False)
    assert log(either)[3] == "Edited by hand: base.md"


def test_a_turn_that_is_gone_already_is_refused_by_its_name(own: Path, ask: Callable[[Path], Ask]) -> None:
    ask(own)("remember", "The user drinks tea")
    ask(own)("undo", "--yes")

    named = ask(own)("undo", "HEAD~1", "--yes")

    assert named.exit_code == 2
    assert "not undone, there is nothing of it left to take back" in named.stderr


# The story of one memory


def test_why_follows_a_rename_and_tells_who_edited_and_what_is_in_no_version(
    root: Path, ask: Callable[[Path], Ask]
) -> None:
    vm = ask(root)
    vm("remember", "The user drinks tea")
    by_hand(root, "mv", "memories/the-user-drinks-tea.md", "drinks.md")
    by_hand(root, "commit", "-qm", "a better name")
    with (root / "drinks.md").open("a") as file:
        file.write("With milk.\n")

    told = vm("why", "drinks").stdout
    data = json.loads(vm("why", "drinks", "--json").stdout)

    assert "earlier names: memories/the-user-drinks-tea.md" in told
    assert "not yet in git: its file is not as in the newest version" in told
    assert re.search(r"^\d{4}-\d\d-\d\d +The user drinks tea$", told, re.MULTILINE)
    assert re.search(r"^not yet +With milk\.$", told, re.MULTILINE)
    assert "Ada: a better name  > drinks.md" in told
    assert [version["subject"] for version in data["versions"]] == ["a better name", "The user drinks tea"]
    assert data["learned"]["subject"] == "The user drinks tea"
    assert [line["version"] is None for line in data["lines"]] == [False, True]


def test_why_and_log_know_what_is_gone_by_path_or_stem(own: Path, ask: Callable[[Path], Ask]) -> None:
    vm = ask(own)
    vm("remember", "The user drinks tea")
    vm("forget", "tea", "--yes")

    for name in ("the-user-drinks-tea", "memories/the-user-drinks-tea.md"):
        assert "it is gone: from the vault" in vm("why", name).stdout
        assert json.loads(vm("why", name, "--json").stdout)["gone"] is True
        assert [line[28:34] for line in vm("log", name).stdout.splitlines()] == ["Forget", "The us"]
    for words in (("why", "nothing"), ("log", "nothing"), ("diff", "--path", "nothing")):
        unknown = vm(*words)
        assert (unknown.exit_code, unknown.stdout) == (2, "")
        assert "no memory is named by 'nothing'" in unknown.stderr


def test_why_tells_a_note_and_what_was_never_committed(own: Path, ask: Callable[[Path], Ask]) -> None:
    (own / "draft.md").write_text("A draft.\n")

    note = ask(own)("why", "base")
    draft = ask(own)("why", "draft")

    assert re.search(r"^\d{4}-\d\d-\d\d by hand A base note\.$", note.stdout, re.MULTILINE)
    assert "Ada: base  + base.md" in note.stdout
    assert "not yet            A draft." in draft.stdout
    assert json.loads(ask(own)("why", "draft", "--json").stdout)["learned"] is None


def test_the_story_of_what_a_chat_learned_gives_the_words_and_the_chat(own: Path, ask: Callable[[Path], Ask]) -> None:
    ask(own)("chat", "--offline", "-m", "I live in Oslo.")

    told = ask(own)("why", "oslo").stdout
    trailers = json.loads(ask(own)("log", "oslo", "--json").stdout)[0]["trailers"]

    assert "from your words: I live in Oslo" in told
    assert f"in the chat: {trailers['Chat']}" in told
    assert (trailers["Source"], trailers["Model"]) == ("chat", "offline")


# log, diff


def test_diff_shows_what_is_in_no_version_one_version_a_range_or_nothing(
    root: Path, ask: Callable[[Path], Ask]
) -> None:
    vm = ask(root)
    nothing = vm("diff")
    vm("remember", "The user drinks tea")
    vm("remember", "The user lives in Oslo")
    (root / "base.md").write_text("Edited.\n")

    assert (nothing.exit_code, nothing.stdout, nothing.stderr) == (1, "", "no difference\n")
    assert [line for line in vm("diff").stdout.splitlines() if line[:2] in ("+E", "-A")] == [
        "-A base note.",
        "+Edited.",
    ]
    assert "Oslo" not in vm("diff", "HEAD~1").stdout
    assert vm("diff", "HEAD~2..HEAD").stdout.count("new file") == 2
    assert vm("diff", "HEAD~2..HEAD", "--path", "oslo").stdout.count("new file") == 1
    assert vm("diff", "HEAD", "--path", "tea").exit_code == 1


@pytest.mark.parametrize(
    "name", ["", "-x", "--output=x", "nonsense", "HEAD~99", "HEAD:base.md", "a..b", "\0", "@{u}", "é"]
)
def test_a_version_that_is_none_is_a_sentence(own: Path, ask: Callable[[Path], Ask], name: str) -> None:
    for command in ("diff", "undo"):
        ended = ask(own)(command, "--", name)

        assert (ended.exit_code, ended.stdout) == (2, "")
        assert re.fullmatch(r"vault-mind: no version is named by .*\. See them with: vault-mind log\n", ended.stderr)
    assert not (own / "x").exists()


@pytest.mark.parametrize("name", ["../top", "/etc/passwd", ".git/config", "a*", ":(glob)*", "-n"])
def test_a_path_that_is_no_memory_is_a_sentence(own: Path, ask: Callable[[Path], Ask], name: str) -> None:
    for words in (("log", "--", name), ("why", "--", name), ("diff", f"--path={name}")):
        ended = ask(own)(*words)

        assert (ended.exit_code, ended.stdout) == (2, "")
        assert ended.stderr.startswith("vault-mind: ")
        assert ended.stderr.count("\n") == 1


def test_log_counts_and_an_empty_repository_has_none(own: Path, ask: Callable[[Path], Ask], tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    by_hand(tmp_path / "empty", "init", "-q")

    empty = ask(tmp_path / "empty")("log")

    assert len(ask(own)("log", "-n", "1").stdout.splitlines()) == 1
    assert len(json.loads(ask(own)("log", "--json", "-n", "1").stdout)) == 1
    assert (empty.exit_code, empty.stdout, empty.stderr) == (0, "", "no versions yet\n")
    assert ask(tmp_path / "empty")("log", "--json").stdout == "[]\n"
    assert ask(tmp_path / "empty")("undo", "--yes").exit_code == 2


@POSIX
def test_no_name_and_no_message_of_a_version_drives_the_terminal(
    own: Path, ask: Callable[[Path], Ask], on_terminal: OnTerminal
) -> None:
    hostile = "\x1b]0;owned\x07\x1b[2J\u202e[red]\r"
    (own / f"ev{hostile}.md").write_text(f"tea {hostile}\x0b+not a line\u2028+nor this\n")
    by_hand(own, "add", "-A")
    by_hand(own, "commit", "-qm", f"a {hostile} message", f"--author=Eve {hostile} <e@example.org>")
    ask(own)("remember", f"The user drinks {hostile} tea")

    commands = [["log"], ["log", "ev"], ["diff", "HEAD~1"], ["why", "ev"], ["undo", "--yes"], ["log", "--json"]]
    for words in commands:
        ended = ask(own)(*words)

        assert ended.exit_code == 0
        assert not CONTROL.search(ended.stdout + ended.stderr), words
    assert "\n+nor this" not in ask(own)("diff", "HEAD~2").stdout
    shown = on_terminal("--vault", str(own), "log").output + on_terminal("--vault", str(own), "diff", "HEAD~2").output
    assert b"\x1b]" not in shown
    assert b"\x1b[2J" not in shown
    assert b"\xe2\x80\xae" not in shown


@POSIX
def test_at_a_terminal_undo_shows_the_change_and_waits_for_a_yes(own: Path, on_terminal: OnTerminal, call: Run) -> None:
    call("--vault", str(own), "remember", "The user drinks tea")

    shown = on_terminal("--vault", str(own), "undo", after="[y/N]", keys="y\n")

    assert shown.exit_code == 0
    assert b"-The user drinks tea" in shown.output
    assert not (own / "memories/the-user-drinks-tea.md").exists()


# The vault as it was


def dated(root: Path, text: str, at: str) -> None:
    """Write `base.md`, committed at that moment."""
    (root / "base.md").write_text(f"---\nkind: fact\ncreated_at: {at}\n---\n\n{text}\n")
    by_hand(root, "add", "base.md")
    dates = {"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at}
    words = ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "-qm", text]
    subprocess.run(words, cwd=root, env={**os.environ, **dates}, check=True)


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vault that said Oslo from May 2024 on, Bergen from June 2025 on, and Paris in no version; it is only read."""
    root = tmp_path_factory.mktemp("past")
    by_hand(root, "init", "-q", "-b", "main", ".")
    dated(root, "The user lives in Oslo.", "2024-05-03T08:00:00+00:00")
    dated(root, "The user lives in Bergen.", "2025-06-10T08:00:00+00:00")
    (root / "base.md").write_text("---\ncreated_at: 2024-05-03\n---\nThe user lives in Paris.\n")
    return root


@pytest.mark.parametrize(
    ("date", "city"),
    [
        ("2024-05", "Oslo"),
        ("2024-05-03", "Oslo"),
        ("2024-05-03T08:00", "Oslo"),
        ("May 2024", "Oslo"),
        ("2025-06-09", "Oslo"),
        ("2025-06-10", "Bergen"),
        ("last week", "Bergen"),
        ("yesterday", "Bergen"),
        ("3 days ago", "Bergen"),
        ("today", "Bergen"),
        ("2999-01-01", "Bergen"),
    ],
)
def test_the_vault_of_a_date_is_the_version_that_was_newest_then(
    past: Path, ask: Callable[[Path], Ask], date: str, city: str
) -> None:
    vm = ask(past)

    found = vm("search", "user lives", "--as-of", date, "--json")
    shown = vm("show", "base", "--as-of", date)
    listed = vm("list", "--as-of", date)

    assert [hit["body"] for hit in json.loads(found.stdout)] == [f"The user lives in {city}."]
    assert f"The user lives in {city}." in shown.stdout
    assert listed.stdout == "base.md\n"
    assert f"version {History(past).version('HEAD' if city == 'Bergen' else 'HEAD~1').id[:10]}" in listed.stderr
    assert "Paris" in (past / "base.md").read_text()


def test_before_all_versions_the_dates_of_memories_tell_and_it_is_said(past: Path, ask: Callable[[Path], Ask]) -> None:
    vm = ask(past)

    listed = vm("list", "--as-of", "1066")
    found = vm("search", "oslo", "--as-of", "2023", "--json")
    shown = vm("show", "base", "--as-of", "2023")

    assert (listed.exit_code, listed.stdout) == (0, "")
    assert "no version is that old; told by the dates that memories give" in listed.stderr
    assert (found.exit_code, found.stdout) == (1, "[]\n")
    assert (shown.exit_code, shown.stdout) == (2, "")


def test_a_date_that_is_none_is_refused_with_what_would_be_one(past: Path, ask: Callable[[Path], Ask]) -> None:
    for date in ("2026-02-30", "0000", "\x1b[2J"):
        ended = ask(past)("list", "--as-of", date)

        assert (ended.exit_code, ended.stdout) == (2, "")
        assert "is no date; write it as 2026-05-01" in ended.stderr
        assert "\x1b" not in ended.stderr


# Without git


def test_without_a_repository_all_but_history_works_and_history_says_what_to_do(
    tmp_path: Path, ask: Callable[[Path], Ask]
) -> None:
    vm = ask(tmp_path)
    assert vm("init", str(tmp_path), "--no-git").stderr == f"a vault: {tmp_path}\n"
    vm("remember", "The user drinks tea")

    for words in (["log"], ["log", "--json"], ["diff"], ["undo", "--yes"]):
        ended = vm(*words)
        assert (ended.exit_code, ended.stdout) == (2, "")
        assert ended.stderr == (
            f"vault-mind: there is no history: {tmp_path} is in no git repository. "
            f"Make it one with: vault-mind init {tmp_path}\n"
        )
    why = vm("why", "tea")
    assert (why.exit_code, "The user drinks tea" in why.stdout) == (0, True)
    assert "there is no history: " in why.stderr
    listed = vm("list", "--as-of", "today")
    assert listed.stdout == "memories/the-user-drinks-tea.md\n"
    assert "is in no git repository" in listed.stderr
    assert "(.trash/the-user-drinks-tea.md)" in vm("forget", "tea", "--yes").stderr
    assert not (tmp_path / ".git").exists()


@pytest.fixture
def without_git(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in whose PATH there is no git."""
    return {"PATH": str(tmp_path_factory.mktemp("bin"))}


def test_with_no_git_installed_files_are_kept_and_the_next_commit_takes_them_along(
    either: Path, ask: Callable[[Path], Ask], without_git: dict[str, str]
) -> None:
    vm = ask(either)

    saved = vm("remember", "The user drinks tea", env=without_git)
    forgotten = vm("forget", "base", "--yes", env=without_git)
    asked = [vm(*words, env=without_git) for words in (["log"], ["diff"], ["undo", "--yes"], ["init", str(either)])]
    vm("remember", "The user lives in Oslo")

    assert saved.stderr == "Saved, but not yet in git: git is not installed. The next commit takes it along.\n"
    assert saved.exit_code == 0
    assert "It is gone from the vault, but that is not yet in git: git is not installed." in forgotten.stderr
    assert "forgotten: base.md (.trash/base.md)" in forgotten.stderr
    assert [ended.exit_code for ended in asked] == [2, 2, 2, 0]
    assert all("git is not installed" in ended.stderr for ended in asked)
    assert log(either)[:3] == ["The user lives in Oslo", "Forget: A base note.", "The user drinks tea"]


# What a turn's commit must not do


@contextmanager
def watched_git(folder: Path) -> Iterator[tuple[dict[str, str], Callable[[], list[str]]]]:
    """An environment whose git writes down what it is asked, and what that was."""
    real = subprocess.run(["which", "git"], capture_output=True, text=True, check=True).stdout.strip()
    script, asked = folder / "git", folder / "asked"
    script.write_text(f'#!/bin/sh\necho "$*" >> {shlex.quote(str(asked))}\nexec {real} "$@"\n')
    script.chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    yield {"PATH": path}, lambda: asked.read_text().splitlines() if asked.exists() else []


@POSIX
def test_only_what_makes_a_version_or_asks_the_past_runs_git(
    own: Path, ask: Callable[[Path], Ask], tmp_path_factory: pytest.TempPathFactory
) -> None:
    vm = ask(own)
    vm("remember", "The user drinks tea")

    with watched_git(tmp_path_factory.mktemp("bin")) as (environment, asked):
        for words in (["search", "tea"], ["list"], ["show", "tea"], ["grep", "tea"], ["stats"], ["config"]):
            assert vm(*words, env=environment).exit_code == 0
        vm("remember", "The user drinks tea", env=environment)  # known already
        vm("chat", "--offline", "-m", "What do I drink?", env=environment)
        idle = asked()
        vm("remember", "The user lives in Oslo", env=environment)

    assert idle == []
    assert any("commit-tree" in line for line in asked())


def test_a_search_loads_nothing_that_knows_git(own: Path, call: Run, home: Path) -> None:
    call("--vault", str(own), "remember", "The user drinks tea")
    command = [sys.executable, "-X", "importtime", "-m", "vault_mind", "--vault", str(own), "search", "tea"]

    ended = subprocess.run(command, capture_output=True, text=True, check=True, cwd=home)

    loaded = {line.rpartition("|")[2].strip() for line in ended.stderr.splitlines() if line.startswith("import time:")}
    assert "vault_mind.index" in loaded
    knowing = {"history", "commits", "git", "undo", "past", "drafts", "staging", "turns", "hindsight", "retelling"}
    assert not {f"vault_mind.{name}" for name in knowing} & loaded


# What keeps a version from being made


def rebasing(git_dir: Path) -> Callable[[], None]:
    (git_dir / "rebase-merge").mkdir()
    return (git_dir / "rebase-merge").rmdir


def locking(git_dir: Path) -> Callable[[], None]:
    lock = git_dir / "index.lock"
    lock.touch()
    os.utime(lock, (time.time() - 7200,) * 2)
    return lock.unlink


def refusing(git_dir: Path) -> Callable[[], None]:
    hook = git_dir / "hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'not today' >&2\nexit 1\n")
    hook.chmod(0o755)
    return hook.unlink


def detaching(git_dir: Path) -> Callable[[], None]:
    head = (git_dir / "HEAD").read_bytes()
    (git_dir / "HEAD").write_bytes((git_dir / "refs/heads/main").read_bytes())

    def back() -> None:
        (git_dir / "HEAD").write_bytes(head)

    return back


def damaging(git_dir: Path) -> Callable[[], None]:
    index = (git_dir / "index").read_bytes()
    (git_dir / "index").write_bytes(b"no index")

    def back() -> None:
        (git_dir / "index").write_bytes(index)

    return back


OBSTACLES = {
    "a rebase is under way": rebasing,
    "a lock has been held for 2 hours": locking,
    "the pre-commit hook says no (not today)": refusing,
    "HEAD is detached": detaching,
    "index": damaging,
}


@POSIX
@pytest.mark.parametrize("how", ["all", pytest.param("ours", marks=pytest.mark.storm)])
@pytest.mark.parametrize("told", OBSTACLES)
def test_what_stands_in_the_way_is_said_once_a_turn_and_the_next_commit_takes_all_along(
    either: Path, ask: Callable[[Path], Ask], told: str, how: str
) -> None:
    vm, setting = ask(either), {"VAULT_MIND_COMMIT": how}
    (either / "draft.md").write_text("A draft.\n")
    tip = by_hand(either, "rev-parse", "HEAD")
    away = OBSTACLES[told](History(either).place().git_dir)

    said = vm("remember", "The user drinks tea", env=setting)
    chat = vm("chat", "--offline", "-m", "I live in Oslo.", "-m", "What do I drink?", env=setting)
    unmoved = by_hand(either, "rev-parse", "HEAD")
    away()
    after = vm("remember", "The user likes milk", env=setting)

    assert said.exit_code == 0
    assert said.stderr.count("not yet in git: ") == 1
    assert said.stderr.endswith("The next commit takes it along.\n")
    assert told in said.stderr
    assert said.stderr.count("\n") == 1
    assert chat.stderr.count("not yet in git: ") == 1
    assert unmoved == tip
    assert after.stderr == ""
    assert stems(either) == {"the-user-drinks-tea", "the-user-lives-in-oslo", "the-user-likes-milk"}
    assert len(log(either)) == (6 if how == "all" else 5)
    assert status(either) == ("" if how == "all" else f"?? {History(either).in_repository('draft.md')!s}\n").replace(
        "?? my notes/draft.md", '?? "my notes/draft.md"'
    )


@POSIX
@pytest.mark.parametrize("told", ["a rebase is under way", "the pre-commit hook says no (not today)"])
def test_what_is_forgotten_in_the_meantime_is_in_the_trash_and_its_version_says_forget(
    either: Path, ask: Callable[[Path], Ask], told: str
) -> None:
    vm = ask(either)
    (either / "draft.md").write_text("A draft.\n")
    (either / "base.md").write_text("A base note, edited.\n")
    away = OBSTACLES[told](History(either).place().git_dir)

    ended = [vm("forget", name, "--yes") for name in ("base", "draft")]
    away()
    vm("remember", "The user likes milk")

    assert told in ended[0].stderr
    assert [name for each in ended for name in re.findall(r"forgotten: (\S+) \(.trash/", each.stderr)] == [
        "base.md",
        "draft.md",
    ]
    assert (either / ".trash/base.md").read_text() == "A base note, edited.\n"
    assert (either / ".trash/draft.md").read_text() == "A draft.\n"
    assert log(either)[:3] == ["The user likes milk", "Forget: A base note, edited.", "Begin a vault"]


@POSIX
def test_a_repository_that_is_read_only_is_said_and_the_next_commit_takes_all_along(
    own: Path, ask: Callable[[Path], Ask]
) -> None:
    folders = [folder for folder, _, _ in os.walk(own / ".git")]
    for folder in folders:
        os.chmod(folder, 0o555)
    if os.access(own / ".git", os.W_OK):
        pytest.skip("nothing is read-only to root")

    said = ask(own)("remember", "The user drinks tea")
    for folder in folders:
        os.chmod(folder, 0o755)
    ask(own)("remember", "The user likes milk")

    assert said.stderr.startswith("Saved, but not yet in git: git cannot write into its repository (insufficient perm")
    assert said.stderr.count("\n") == 1
    assert stems(own) == {"the-user-drinks-tea", "the-user-likes-milk"}


def test_an_undo_that_cannot_be_committed_now_is_in_the_next_commit(either: Path, ask: Callable[[Path], Ask]) -> None:
    vm = ask(either)
    vm("remember", "The user drinks tea")
    away = rebasing(History(either).place().git_dir)

    taken = vm("undo", "--yes")
    away()
    vm("remember", "The user likes milk")

    assert "Done, but not yet in git: a rebase is under way" in taken.stderr
    assert "(once that is in git, " in taken.stderr
    assert log(either)[:3] == ["The user likes milk", "Undo: The user drinks tea", "The user drinks tea"]
    assert status(either) == ""


# The setting


SETTINGS = [
    pytest.param(where, how, subjects, marks=[pytest.mark.storm] if where != "the environment" and how != "off" else [])
    for where in ("the environment", "the vault's file", "the user's file")
    for how, subjects in (("off", []), ("ours", ["tea"]), ("all", ["tea", "Edited by hand"]))
]


@pytest.mark.parametrize(("where", "how", "subjects"), SETTINGS)
def test_what_becomes_a_commit_can_be_set_in_each_place(
    either: Path, ask: Callable[[Path], Ask], home: Path, where: str, how: str, subjects: list[str]
) -> None:
    vm, environment = ask(either), {}
    (either / "base.md").write_text("Edited.\n")
    if where == "the environment":
        environment = {"VAULT_MIND_COMMIT": how}
    else:
        file = home / ".config/vault-mind/config.toml" if where == "the user's file" else either / ".vault-mind.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f'commit = "{how}"\n')

    ended = vm("remember", "tea", env=environment)

    assert (ended.exit_code, ended.stderr) == (0, "")
    assert log(either) == [*subjects, "Begin a vault", "base"]
    versions = json.loads(vm("log", "--json").stdout)
    assert [version["by_hand"] for version in versions[: len(subjects)]] == [False, True][: len(subjects)]
    assert (either / "base.md").read_text() == "Edited.\n"


def test_a_setting_that_is_none_is_refused_before_anything_is_written(own: Path, ask: Callable[[Path], Ask]) -> None:
    ended = ask(own)("remember", "tea", env={"VAULT_MIND_COMMIT": "some"})

    assert ended.exit_code == 2
    assert "off, ours" in ended.stderr
    assert not (own / "memories/tea.md").exists()


# Many at once, and the killed


def started(root: Path, *words: str, **environment: str) -> "subprocess.Popen[str]":
    """The real command, begun."""
    return subprocess.Popen(
        [sys.executable, "-m", "vault_mind", "--vault", str(root), *words],
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: "subprocess.Popen[str]") -> str:
    """What it said, once it is done well."""
    _, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    return err


@contextmanager
def history_held(root: Path) -> Iterator[None]:
    """The queue of commits, held by somebody else."""
    with locked(state_folder(History(root).place().git_dir) / "history.lock", "the history"):
        yield


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def half_staged(root: Path) -> tuple[str, str, str]:
    """Stage one of two hunks of `half.md`; what git then tells of staging, tree and files."""
    lines = [f"line {number}" for number in range(30)]
    (root / "half.md").write_text("\n".join(lines) + "\n")
    by_hand(root, "add", "half.md")
    by_hand(root, "commit", "-qm", "half", "--", "half.md")
    lines[1], lines[28] = "staged", "not staged"
    (root / "half.md").write_text("\n".join(lines) + "\n")
    first = by_hand(root, "diff", "-U1", "--", "half.md").split("@@ -28")[0]
    subprocess.run(["git", "apply", "--cached", "--unidiff-zero"], input=first, text=True, cwd=root, check=True)
    (root / "new.txt").write_text("staged\n")
    by_hand(root, "add", "new.txt")
    (root / "scratch.txt").write_text("lying about\n")
    return theirs(root)


def theirs(root: Path) -> tuple[str, str, str]:
    """What is staged, what is not, and what lies about."""
    return by_hand(root, "diff", "--cached"), by_hand(root, "diff"), status(root)


@pytest.mark.parametrize(
    ("where", "count"),
    [
        ("a folder of a bigger one", 6),
        pytest.param("the top", 16, marks=pytest.mark.storm),
        pytest.param("a folder of a bigger one", 16, marks=pytest.mark.storm),
        pytest.param("a worktree", 16, marks=pytest.mark.storm),
    ],
)
def test_remembers_at_once_beside_somebodys_staging_are_all_on_disk_and_in_a_commit(
    tmp_path: Path, began: Path, owner: None, call: Run, where: str, count: int
) -> None:
    root = begun(tmp_path, began, where, call)
    before = half_staged(root)
    assert "+staged" in before[0]
    assert "+not staged" not in before[0]

    processes = [started(root, "remember", f"Fact number {number}") for number in range(count)]
    chat = started(root, "chat", "--offline", "-m", "I live in Oslo.", "-m", "I like cheese.")
    said = [ended(process) for process in processes]
    ended(chat)

    wanted = {f"fact-number-{number}" for number in range(count)} | {"the-user-lives-in-oslo", "the-user-likes-cheese"}
    assert {file.stem for file in (root / "memories").iterdir()} == wanted
    assert stems(root) == wanted, said
    assert len(log(root)) == 3 + len(wanted)
    assert theirs(root) == before
    assert by_hand(root, "fsck", "--strict") == ""


@POSIX
def test_with_all_no_turn_takes_what_another_writes_for_an_edit_by_hand(own: Path) -> None:
    with history_held(own):
        first = started(own, "remember", "The user drinks tea", VAULT_MIND_COMMIT="all")
        wait_for((own / "memories/the-user-drinks-tea.md").exists)
        first.send_signal(signal.SIGSTOP)  # it has saved, and no note tells of it yet
    second = started(own, "remember", "The user likes milk", VAULT_MIND_COMMIT="all")
    with suppress(subprocess.TimeoutExpired):  # it waits for the first; a turn that did not would be done by then
        second.wait(2)
    first.send_signal(signal.SIGCONT)

    said = [ended(first), ended(second)]

    versions = list(History(own).versions())
    assert said == ["", ""]
    assert [version.subject for version in versions if not version.ours] == ["base"]
    assert len(versions) == 4
    assert status(own) == ""


@POSIX
@pytest.mark.parametrize("how", ["ours", "all"])
def test_a_turn_that_was_killed_between_saving_and_committing_is_in_a_commit_once_after_the_next_chat(
    either: Path, ask: Callable[[Path], Ask], how: str
) -> None:
    (either / "base.md").write_text("Edited.\n")
    with history_held(either):
        chat = started(either, "chat", "--offline", "-m", "I live in Oslo.", VAULT_MIND_COMMIT="ours")
        wait_for((either / "memories/the-user-lives-in-oslo.md").exists)
        chat.kill()
        chat.communicate()
    lost = len(log(either))

    ask(either)("remember", "The user drinks tea", env={"VAULT_MIND_COMMIT": how})
    ask(either)("chat", "--offline", "-m", "What do I drink?", env={"VAULT_MIND_COMMIT": how})
    ask(either)("chat", "--offline", "-m", "Where do I live?", env={"VAULT_MIND_COMMIT": how})

    assert lost == 2
    by_hands = ["Edited by hand"] if how == "all" else []
    assert log(either) == ["The user lives in Oslo.", "The user drinks tea", *by_hands, "Begin a vault", "base"]
    told = json.loads(ask(either)("log", "oslo", "--json").stdout)
    assert [version["trailers"]["Source"] for version in told] == ["chat"]


@POSIX
def test_a_turn_that_is_stopped_while_it_waits_for_others_is_in_the_next_commit(
    own: Path, ask: Callable[[Path], Ask]
) -> None:
    with history_held(own):
        process = started(own, "remember", "The user drinks tea")
        wait_for((own / "memories/the-user-drinks-tea.md").exists)
        time.sleep(0.3)  # until it waits
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)

    ask(own)("remember", "The user likes milk")

    assert "Traceback" not in err
    assert log(own)[:2] == ["The user likes milk", "The user drinks tea"]


# Faults that people met in public


def test_GI_01_a_stale_lock_is_left_alone_and_a_live_one_waited_for(either: Path, ask: Callable[[Path], Ask]) -> None:
    vm = ask(either)
    lock = History(either).place().git_dir / "index.lock"
    away = locking(lock.parent)

    stale = vm("remember", "The user drinks tea")
    stood = lock.exists()
    away()
    lock.touch()
    release = threading.Timer(1.0, lock.unlink)
    release.start()
    live = vm("remember", "The user likes milk")
    release.join()

    assert stood
    assert f"remove {lock}" in stale.stderr
    assert live.stderr == ""
    assert log(either)[:2] == ["The user likes milk", "The user drinks tea"]


ODD = ["café.md", " a -> b.md", 'say "hi"\t.md']
RARE = ["水曜日.md", "two  spaces.md", "-rf.md", "*.md", ":(glob)*.md"]


@pytest.mark.parametrize("name", [*ODD, *(pytest.param(name, marks=pytest.mark.storm) for name in RARE)])
def test_GI_02_a_name_with_any_character_is_shown_forgotten_and_brought_back(
    either: Path, ask: Callable[[Path], Ask], name: str
) -> None:
    vm = ask(either)
    (either / name).write_text("Words.\n")
    by_hand(either, "add", "-A")
    by_hand(either, "commit", "-qm", "odd")

    told, story = vm("log", "--", name), vm("why", "--", name)
    vm("forget", "--yes", "--", name)
    gone = vm("why", "--json", "--", name)
    back = vm("undo", "--yes")

    assert f"+ {name}".replace("\t", "^I") in told.stdout
    assert story.stdout.startswith(name.replace("\t", "^I"))
    assert json.loads(gone.stdout)["path"] == name
    assert back.exit_code == 0
    assert (either / name).read_text() == "Words.\n"
    assert status(either) == ""


@POSIX
@pytest.mark.parametrize("waits", [False, pytest.param(True, marks=pytest.mark.storm)])
def test_GI_03_a_signer_that_cannot_be_asked_costs_a_sentence_and_never_the_signing(
    own: Path, ask: Callable[[Path], Ask], tmp_path: Path, waits: bool
) -> None:
    signer = tmp_path / "gpg"
    signer.write_text("#!/bin/sh\nsleep 600\n" if waits else "#!/bin/sh\necho 'no pinentry' >&2\nexit 2\n")
    signer.chmod(0o755)
    by_hand(own, "config", "gpg.program", str(signer))
    by_hand(own, "config", "commit.gpgSign", "true")

    said = ask(own)("remember", "The user drinks tea")
    unmoved = log(own)
    by_hand(own, "config", "commit.gpgSign", "false")
    ask(own)("remember", "The user likes milk")

    assert said.exit_code == 0
    assert "your commits are to be signed, and signing failed" in said.stderr
    assert said.stderr.count("\n") == 1
    assert unmoved == ["Begin a vault", "base"]
    assert log(own)[:2] == ["The user likes milk", "The user drinks tea"]


def test_GI_04_what_is_staged_changed_or_lying_about_stays_out_of_a_chats_commits(
    root: Path, ask: Callable[[Path], Ask]
) -> None:
    before = half_staged(root)

    ask(root)("chat", "--offline", "-m", "I live in Oslo.")
    ask(root)("forget", "oslo", "--yes")
    ask(root)("undo", "--yes")

    assert theirs(root) == before
    for number in range(3):
        changed = by_hand(root, "show", "--format=", "--name-only", f"HEAD~{number}").strip()
        assert changed.strip('"').endswith("memories/the-user-lives-in-oslo.md")


@pytest.mark.parametrize("words", [["rebase"], ["merge"], ["cherry-pick"]])
def test_GI_06_in_the_middle_of_their_work_all_is_kept_and_committed_when_it_is_done(
    either: Path, ask: Callable[[Path], Ask], words: list[str]
) -> None:
    vm = ask(either)
    by_hand(either, "checkout", "-qb", "side")
    (either / "base.md").write_text("Theirs.\n")
    by_hand(either, "commit", "-qam", "side")
    by_hand(either, "checkout", "-q", "main")
    (either / "base.md").write_text("Ours.\n")
    by_hand(either, "commit", "-qam", "ours")
    subprocess.run(["git", *words, "side"], cwd=either, capture_output=True, check=False)
    before = by_hand(either, "diff", "--cached", "--name-only")

    said = vm("remember", "The user drinks tea")
    refused = vm("undo", "--yes")
    unstaged = by_hand(either, "diff", "--cached", "--name-only")
    marked = (either / "base.md").read_text()
    by_hand(either, *words, "--abort")
    vm("remember", "The user likes milk")

    assert "under way" in said.stderr
    assert refused.exit_code == 2
    assert unstaged == before
    assert "<<<<<<<" in marked
    assert log(either)[:3] == ["The user likes milk", "The user drinks tea", "ours"]


def test_GI_08_without_a_name_the_version_is_made_as_ours_and_doctor_says_how_to_give_one(
    own: Path, ask: Callable[[Path], Ask], monkeypatch: pytest.MonkeyPatch
) -> None:
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.delenv(f"GIT_{who}_NAME")
        monkeypatch.delenv(f"GIT_{who}_EMAIL")
    by_hand(own, "config", "user.useConfigOnly", "true")
    (own / "base.md").write_text("Edited.\n")

    said = ask(own)("remember", "The user drinks tea")
    theirs = ask(own)("remember", "The user likes milk", env={"VAULT_MIND_COMMIT": "all"})
    doctor = ask(own)("doctor")

    assert (said.exit_code, said.stderr) == (0, "")
    assert by_hand(own, "log", "-1", "--format=%an <%ae>").strip() == "vault-mind <vault-mind@localhost>"
    assert theirs.stderr.startswith("Your edits are not yet in git: git knows no name and address of yours")
    assert log(own)[:2] == ["The user likes milk", "The user drinks tea"]
    assert "git config --global user.name NAME" in doctor.stdout
    assert "user." not in (own / ".git/config").read_text().replace("useConfigOnly", "")


@pytest.mark.parametrize("everywhere", [True, False])
def test_GI_09_what_their_rules_ignore_is_left_out_and_said_and_the_rest_is_committed(
    either: Path, ask: Callable[[Path], Ask], home: Path, everywhere: bool
) -> None:
    vm = ask(either)
    if everywhere:
        (home / ".config/git").mkdir(parents=True)
        (home / ".config/git/ignore").write_text("*.md\n")
    else:
        (either / ".gitignore").write_text("*secret*\n")

    secret = vm("remember", "A secret of the user")
    other = vm("remember", "The user drinks tea")
    forgotten = vm("forget", "secret", "--yes")

    left = "is saved and not in git: your ignore rules leave it out\n"
    assert secret.stderr == f"memories/a-secret-of-the-user.md {left}"
    assert other.stderr == (f"memories/the-user-drinks-tea.md {left}" if everywhere else "")
    assert "A secret of the user" not in log(either)
    assert ("The user drinks tea" in log(either)) is not everywhere
    assert forgotten.stderr.endswith("forgotten: memories/a-secret-of-the-user.md (.trash/a-secret-of-the-user.md)\n")
    assert "not in git" not in forgotten.stderr


# VS-04: forgetting a note removes it for good, even one that git never had.
@pytest.mark.parametrize("tracked", [True, False])
@pytest.mark.parametrize("door", ["forget", "/forget"])
def test_VS_04_forgetting_needs_a_yes_and_what_is_forgotten_comes_back_byte_for_byte(
    either: Path, ask: Callable[[Path], Ask], run: Run, tracked: bool, door: str
) -> None:
    written = b"untracked draft about the well \r\n\xc3\xa9"
    (either / "draft.md").write_bytes(written)
    if tracked:
        by_hand(either, "add", "-A")
        by_hand(either, "commit", "-qm", "draft")

    def forget(answer: str) -> Ended:
        if door == "forget":
            return ask(either)("forget", "draft", input=f"{answer}\n")
        return run("--vault", str(either), "chat", "--offline", input=f"/forget draft\n{answer}\n")

    forget("n")
    kept = (either / "draft.md").read_bytes()
    forget("y")
    found = ask(either)("search", "well")
    gone = not (either / "draft.md").exists()
    ask(either)("undo", "--yes")

    assert kept == written
    assert gone
    assert found.exit_code == 1
    assert (either / "draft.md").read_bytes() == written
    assert ask(either)("search", "well").exit_code == 0

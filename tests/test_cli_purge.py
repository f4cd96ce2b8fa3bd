"""Purging by the command line, and merging by git: real commands, real repositories, real kills."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Ended, Run
from tests.embeddings_api import serving
from tests.histories import by_hand
from tests.watching import Command
from vault_mind import Vault
from vault_mind.config import cache_folder, state_folder
from vault_mind.history import History
from vault_mind.journal import Exchange, Journal
from vault_mind.proof import prove
from vault_mind.turns import Turn, note, noted

pytestmark = pytest.mark.usefixtures("owner")

SECRET = "The user keeps the spare key under the third flowerpot."
NEEDLE = SECRET.removesuffix(".")
PATH = "memories/the-user-keeps-the-spare-key-under-the-third-flowerpot.md"
Write = Callable[[str, str | bytes], Path]


BOTH = pytest.mark.parametrize("lived", ["", "notes"], ids=["the top", "a folder of a bigger one"], indirect=True)


@pytest.fixture
def lived(request: pytest.FixtureRequest, tmp_path: Path, call: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A vault in git, at the top or below it, that was told a secret and went on."""
    top = tmp_path / "top"
    top.mkdir()
    by_hand(top, "init", "-q", "-b", "main", ".")
    root = top / str(getattr(request, "param", ""))
    assert call("init", str(root)).exit_code == 0
    monkeypatch.setenv("VAULT_MIND_VAULT", str(root))
    call("remember", SECRET)
    (root / "side.md").write_text(f"My neighbour knows: {SECRET} So be it.\n")
    by_hand(top, "add", "-A")
    by_hand(top, "commit", "-qm", "A note")
    call("remember", "The user drinks tea.")
    return root


def texts(folder: Path) -> str:
    """All that git's history says, commit by commit."""
    return by_hand(folder, "log", "--all", "-p", "--format=fuller")


@BOTH
def test_it_shows_what_goes_asks_and_only_a_yes_purges(lived: Path, call: Run) -> None:
    before = by_hand(lived, "rev-parse", "HEAD")

    kept = call("forget", "flowerpot", "--purge", input="\n")

    assert kept.exit_code == 1
    assert kept.stderr.endswith("[y/N] kept\n")
    assert f"files     {PATH}, deleted\n" in kept.stdout
    assert "          side.md, text taken out\n" in kept.stdout
    assert "3 of 4 commits made anew" in kept.stdout
    assert "text taken out of 1 message" in kept.stdout
    assert "1 ref moved: main\n" in kept.stdout
    assert by_hand(lived, "rev-parse", "HEAD") == before

    gone = call("forget", "flowerpot", "--purge", input="y\n")

    assert gone.exit_code == 0
    assert "proof     no place left that holds it, in " in gone.stdout
    assert "flowerpot" not in texts(lived)
    assert "The user drinks tea." in texts(lived)
    assert (lived / "side.md").read_text() == "My neighbour knows: (purged). So be it.\n"
    assert prove(lived, [NEEDLE]).places == ()
    assert by_hand(lived, "status", "--porcelain") == ""
    assert call("search", "flowerpot").exit_code == 1


@BOTH
def test_a_phrase_goes_wherever_it_stands_and_json_is_the_plan_and_the_proof(lived: Path, call: Run) -> None:
    ended = call("forget", "--purge", "--phrase", "third flowerpot", "--yes", "--json")

    told = json.loads(ended.stdout)
    assert ended.exit_code == 0
    assert told["plan"]["texts"] == ["third flowerpot"]
    assert {(change["path"], change["what"]) for change in told["plan"]["files"]} == {
        (PATH, "text taken out"),
        ("side.md", "text taken out"),
    }
    assert told["proof"]["places"] == 0
    assert told["proof"]["found"] == told["proof"]["left"] == []
    assert told["proof"]["objects"] > 0
    assert told["proof"]["files"] > 0
    assert "third flowerpot" not in texts(lived)
    assert (lived / "side.md").read_text().startswith("My neighbour knows: The user keeps the spare key under the (")


def test_with_json_and_without_yes_the_plan_is_talk_before_the_question(lived: Path, call: Run) -> None:
    ended = call("forget", "flowerpot", "--purge", "--json", input="y\n")

    assert ended.stderr.index("text taken out") < ended.stderr.index("[y/N]")
    assert json.loads(ended.stdout)["proof"]["places"] == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["tea", "--purge", "--phrase", "third flowerpot"], "it and PATH are two things"),
        (["--phrase", "third flowerpot"], "--phrase, --force and --backup need it"),
        (["tea", "--force"], "need it"),
        (["tea", "--backup", "x"], "need it"),
        ([], "give it"),
        (["--purge"], "give it, or --phrase"),
        (["--purge", "--phrase", "key"], "'key' is too short"),
        (["no such thing", "--purge"], "no memory is named by 'no such thing'"),
        (["../tea.md", "--purge"], "../tea.md: refused, it leads outside the vault"),
    ],
)
def test_what_makes_no_sense_is_refused(write: Write, call: Run, words: list[str], said: str) -> None:
    file = write("tea.md", "The third flowerpot holds tea.\n")

    ended = call("forget", "--yes", *words)

    assert ended.exit_code == 2
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr
    assert file.exists()


@BOTH
def test_what_is_gone_from_the_vault_is_purged_by_its_old_path(lived: Path, call: Run) -> None:
    call("forget", "spare-key", "--yes")

    ended = call("forget", Path(PATH).stem, "--purge", "--yes")

    assert ended.exit_code == 0, ended.stderr
    assert "flowerpot" not in texts(lived)


def test_a_name_of_what_is_gone_is_never_taken_for_a_part_of_what_is_there(lived: Path, call: Run) -> None:
    for path in ("oak.md", "old oak.md"):
        (lived / path).write_text(f"About {path}: it grows on a hill.\n")
        by_hand(lived, "add", path)
        by_hand(lived, "commit", "-qm", "A tree")
    call("forget", "oak.md", "--yes")

    ended = call("forget", "oak", "--purge", "--yes")

    assert ended.exit_code == 2
    assert "'oak' names 2 memories; say more of the path:\n  old oak.md\n  oak.md\n" in ended.stderr
    assert call("forget", "oak.md", "--purge", "--yes").exit_code == 0
    assert (lived / "old oak.md").exists()
    assert "About oak.md" not in texts(lived)
    assert "About old oak.md" in texts(lived)


def test_a_folder_that_is_gone_is_no_memory(lived: Path, call: Run) -> None:
    (lived / "gone").mkdir()
    (lived / "gone/a.md").write_text("About oaks.\n")
    by_hand(lived, "add", "gone")
    by_hand(lived, "commit", "-qm", "A folder")
    by_hand(lived, "rm", "-qr", "gone")
    by_hand(lived, "commit", "-qm", "No folder")

    ended = call("forget", "gone", "--purge", "--yes")

    assert ended.exit_code == 2
    assert "no memory is named by 'gone'" in ended.stderr


def test_where_it_stands_nowhere_the_exit_code_is_1(lived: Path, call: Run) -> None:
    ended = call("forget", "--purge", "--phrase", "a purple elephant", "--yes", "--json")

    assert ended.exit_code == 1
    assert "nothing to purge" in ended.stderr
    assert json.loads(ended.stdout)["proof"] is None


def test_what_was_pushed_is_refused_and_with_force_each_remote_is_told_of(
    lived: Path, call: Run, tmp_path: Path
) -> None:
    by_hand(tmp_path, "init", "-q", "--bare", "hub.git")
    by_hand(lived, "remote", "add", "origin", str(tmp_path / "hub.git"))
    by_hand(lived, "push", "-q", "origin", "main")

    refused = call("forget", "flowerpot", "--purge", "--yes")

    assert refused.exit_code == 2
    assert "nothing was purged: it was pushed (origin/main). Purge it here with --force" in refused.stderr
    assert "flowerpot" in texts(lived)

    forced = call("forget", "flowerpot", "--purge", "--yes", "--force")

    assert forced.exit_code == 0
    assert "by force: it was pushed (origin/main)" in forced.stderr
    assert "git push --force origin main" in forced.stdout.partition("proof")[2]
    assert "flowerpot" not in texts(lived)


@BOTH
def test_all_that_stands_against_it_is_said_at_once(lived: Path, call: Run) -> None:
    by_hand(History(lived).place().top, "bisect", "start")
    (lived / PATH).write_text("An edit in no version.\n")

    ended = call("forget", Path(PATH).stem, "--purge", "--yes")

    assert ended.exit_code == 2
    assert "nothing was purged: a bisect is under way" in ended.stderr
    assert "also in the way: changed and not committed: " in ended.stderr
    assert (lived / PATH).read_text() == "An edit in no version.\n"


def test_a_backup_holds_the_old_history_and_says_so(lived: Path, call: Run, tmp_path: Path) -> None:
    backup = tmp_path / "before.bundle"

    ended = call("forget", "flowerpot", "--purge", "--yes", "--backup", str(backup))
    by_hand(tmp_path, "clone", "-q", "-b", "main", str(backup), "old")

    assert ended.exit_code == 0
    assert f"still in {backup}: delete it" in " ".join(ended.stderr.split())
    assert "flowerpot" in texts(tmp_path / "old")


def test_a_backup_of_no_history_is_refused(write: Write, call: Run, tmp_path: Path) -> None:
    file = write("a.md", SECRET)

    ended = call("forget", "a", "--purge", "--yes", "--backup", str(tmp_path / "b"))

    assert ended.exit_code == 2
    assert "there is no history to back up" in ended.stderr
    assert file.exists()


def test_many_files_are_shown_cut_with_a_count(write: Write, call: Run) -> None:
    for number in range(30):
        write(f"n{number:02}.md", f"{number}: {SECRET} So be it.\n")

    ended = call("forget", "--purge", "--phrase", NEEDLE)

    assert "n06.md, text taken out\n          and 23 more\n" in ended.stdout
    assert "n07.md" not in ended.stdout


# What else holds it: each of our own places


def test_a_memory_that_was_forgotten_without_git_leaves_the_trash_too(write: Write, call: Run, vault: Vault) -> None:
    write(PATH, SECRET + "\n")
    write(".obsidian/workspace.md", SECRET)
    call("forget", "flowerpot", "--yes")
    thrown = vault.root / ".trash" / Path(PATH).name
    assert thrown.exists()

    ended = call("forget", Path(PATH).stem, "--purge", "--yes")

    assert ended.exit_code == 0, ended.stderr
    assert not thrown.exists()
    assert "yours     .obsidian/workspace.md: a folder that is not vault-mind's" in ended.stdout
    assert (vault.root / ".obsidian/workspace.md").exists()


@pytest.mark.parametrize("with_git", [True, False])
def test_of_a_memory_that_says_too_little_the_copies_in_the_trash_go_too(
    write: Write, call: Run, vault: Vault, with_git: bool
) -> None:
    write("tea.md", "Tea.\n")
    write(".trash/tea.md", "Tea.\n")
    write(".trash/old/tea-2.md", "Tea.\n")
    other = write(".trash/other.md", "Teapot.\n")
    if with_git:
        by_hand(vault.root, "init", "-q", ".")
        by_hand(vault.root, "add", "-A")
        by_hand(vault.root, "commit", "-qm", "All")

    ended = call("forget", "tea.md", "--purge", "--yes")

    assert ended.exit_code == 0, ended.stderr
    assert sorted(vault.root.glob(".trash/**/tea*.md")) == []
    assert other.read_text() == "Teapot.\n"
    if with_git:
        assert by_hand(vault.root, "ls-tree", "-r", "--name-only", "HEAD").split() == [
            ".trash/other.md",
            ".vault-mind.toml",
        ]


def test_two_files_of_one_name_in_the_trash_are_not_guessed_between(write: Write, call: Run, vault: Vault) -> None:
    write(".trash/tea.md", "One.\n")
    write(".trash/old/tea.md", "Two.\n")

    ended = call("forget", "tea", "--purge", "--yes")

    assert ended.exit_code == 2
    assert "names 2 memories" in ended.stderr
    assert call("forget", ".trash/old/tea.md", "--purge", "--yes").exit_code == 0
    assert (vault.root / ".trash/tea.md").exists()
    assert not (vault.root / ".trash/old/tea.md").exists()


@BOTH
def test_turns_that_wait_to_be_versions_name_it_no_more(lived: Path, call: Run) -> None:
    history = History(lived)
    (lived / "memories/tea-time.md").write_text("Tea.\n")
    note(history, Turn((PATH,), f"Learned: {SECRET}", {"Source": "chat"}))
    note(history, Turn((PATH, "memories/tea-time.md"), f"Learned: {SECRET} (and 1 more)", {"Source": "chat"}))

    ended = call("forget", "flowerpot", "--purge", "--yes")

    assert ended.exit_code == 0, ended.stderr
    ((file, turn),) = noted(history)
    assert turn == Turn(("memories/tea-time.md",), "Learned: (purged). (and 1 more)", {"Source": "chat"})
    assert file.stat().st_mode & 0o777 == 0o600
    call("remember", "The user drinks coffee.")
    assert noted(history) == []
    assert "memories/tea-time.md" in by_hand(lived, "ls-files", "-z").split("\0")
    assert "flowerpot" not in texts(lived)


def test_a_waiting_turn_of_a_memory_that_says_too_little_goes_with_it(lived: Path, call: Run) -> None:
    (lived / "x.md").write_text("Tea.\n")
    note(History(lived), Turn(("x.md",), "Learned: Tea.", {}))

    ended = call("forget", "x.md", "--purge", "--yes")

    assert ended.exit_code == 0, ended.stderr
    assert noted(History(lived)) == []
    assert not (lived / "x.md").exists()


def test_the_journal_and_the_chat_history_are_purged(lived: Path, call: Run) -> None:
    journal = Journal(state_folder(lived) / "journal")
    journal.add(Exchange(f"Mind you: {SECRET}", "", "Noted.", "2026-11-29T18:42:07+01:00", "c", "claude"))
    (state_folder(lived) / "history").write_text(f"\n# 2026-11-29\n+{SECRET}\n+and more\n")

    ended = call("forget", "flowerpot", "--purge", "--yes", "--json")

    told = json.loads(ended.stdout)
    assert {Path(file).name for file in told["plan"]["ours"]} >= {"history"}
    assert len(told["plan"]["ours"]) == 2
    assert told["proof"]["places"] == 0
    assert [said.exchange.message for said in journal.waiting()] == ["Mind you: (purged)."]
    assert (state_folder(lived) / "history").read_text() == "\n# 2026-11-29\n+(purged).\n+and more\n"


def test_index_and_vectors_are_purged_and_the_next_search_finds_the_rest(lived: Path, call: Run) -> None:
    cache = cache_folder(lived)
    with serving() as api:
        env = {"VAULT_MIND_EMBEDDING_MODEL": f"{api.url}#words"}
        assert call("embed", env=env).exit_code == 0
        call("search", "flowerpot", env=env)
        held = [file for file in cache.rglob("*") if file.is_file() and b"flowerpot" in file.read_bytes()]
        before = sum(file.stat().st_size for file in (cache / "vectors").iterdir())

        ended = call("forget", "flowerpot", "--purge", "--yes", env=env)

        assert ended.exit_code == 0, ended.stderr
        assert held
        assert not [file for file in cache.rglob("*") if file.is_file() and b"flowerpot" in file.read_bytes()]
        assert sum(file.stat().st_size for file in (cache / "vectors").iterdir()) < before
        sent = len(api.sent)
        assert "tea" in call("search", "--paths", "who drinks tea?", env=env).stdout
        assert not [text for text in api.sent[sent:] if "The user drinks tea" in text]


def test_a_watcher_goes_on_and_keeps_nothing_of_it(lived: Path, call: Run) -> None:
    watching = Command("--vault", str(lived))
    try:
        ended = call("forget", "flowerpot", "--purge", "--yes")

        assert ended.exit_code == 0, ended.stderr
        (lived / "news.md").write_text("The stars are out.\n")
        watching.wait_for("news.md")
        assert prove(lived, [NEEDLE]).count == 0
    finally:
        watching.end()
        watching.close()


def test_forgetting_without_a_purge_has_json_too(write: Write, call: Run, vault: Vault) -> None:
    write("tea.md", "Tea.\n")

    ended = call("forget", "tea", "--yes", "--json")

    assert json.loads(ended.stdout) == {"path": "tea.md", "kept": ".trash/tea.md", "told": []}


# A purge that is cut short

KILLED = """
import os, signal, sys
def watch(event, arguments):
    if event == {event!r} and {name!r} in str(arguments[0]):
        os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(watch)
from vault_mind.cli import app
app({words!r}, prog_name="vault-mind")
"""


def killed(event: str, name: str, *words: str) -> None:
    """Run a command that is killed, as by kill -9, before it does that to a file of that name."""
    program = KILLED.format(event=event, name=name, words=list(words))
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60, check=False)
    assert ended.returncode == -signal.SIGKILL, ended.stderr


@pytest.mark.skipif(os.name == "nt", reason="no kill -9")
@pytest.mark.parametrize(
    ("event", "name", "lived"),
    [("os.remove", "flowerpot", "notes"), ("os.remove", "purge.json", "")],
    indirect=["lived"],
)
def test_a_purge_that_was_killed_is_named_by_the_next_command_and_gone_on_with(
    lived: Path, call: Run, event: str, name: str
) -> None:
    killed(event, name, "forget", Path(PATH).stem, "--purge", "--yes")

    for words in (["search", "tea"], ["list"], ["remember", "The user drinks cocoa."]):
        ended = call(*words)
        assert ended.exit_code == 0
        assert "a purge was cut short" in ended.stderr
        assert "go on with: vault-mind forget --purge" in " ".join(ended.stderr.split())
    assert "go on with: vault-mind forget --purge" in call("doctor").stdout

    done = call("forget", "--purge", "--yes")

    assert done.exit_code == 0, done.stderr
    assert "cut short" not in done.stderr
    assert "no place left" in done.stdout
    assert prove(lived, [NEEDLE]).places == ()
    assert "cocoa" in texts(lived)
    assert "cut short" not in call("search", "tea").stderr


@pytest.mark.skipif(os.name == "nt", reason="no kill -9")
def test_after_one_that_was_killed_only_that_one_goes_on(lived: Path, call: Run) -> None:
    killed("os.remove", "flowerpot", "forget", Path(PATH).stem, "--purge", "--yes")

    other = call("forget", "drinks-tea", "--purge", "--yes")
    same = call("forget", Path(PATH).stem, "--purge", "--yes")

    assert other.exit_code == 2
    assert "another purge was cut short. Go on with that first: vault-mind forget --purge" in other.stderr
    assert same.exit_code == 0, same.stderr
    assert prove(lived, [NEEDLE]).places == ()
    assert "The user drinks tea." in texts(lived)


def test_a_search_that_meets_no_purge_loads_nothing_of_it(lived: Path) -> None:
    program = (
        "import sys\n"
        "from vault_mind.cli import app\n"
        "app(['search', 'tea'], standalone_mode=False)\n"
        "print([n for n in ('purge', 'proof', 'retelling', 'merge_driver', 'git') if 'vault_mind.' + n in sys.modules])"
    )

    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert ended.stdout.endswith("\n[]\n")


# Two machines


def clone(hub: Path, folder: Path, branch: str = "main") -> Path:
    by_hand(hub.parent, "clone", "-q", "-b", branch, str(hub), str(folder))
    by_hand(folder, "config", "pull.rebase", "false")
    return folder


@pytest.fixture
def machines(request: pytest.FixtureRequest, tmp_path: Path, call: Run) -> tuple[Path, Path]:
    """Two machines with one vault in git, each of which was told `init`."""
    by_hand(tmp_path, "init", "-q", "--bare", "--initial-branch=main", "hub.git")
    first = tmp_path / "first"
    first.mkdir()
    by_hand(first, "init", "-q", "-b", "main", ".")
    by_hand(first, "config", "pull.rebase", "false")
    by_hand(first, "remote", "add", "origin", str(tmp_path / "hub.git"))
    inner = str(getattr(request, "param", ""))
    call("init", str(first / inner))
    call("--vault", str(first / inner), "remember", "The user drinks green tea.", "--tag", "drinks")
    by_hand(first, "push", "-qu", "origin", "main")
    second = clone(tmp_path / "hub.git", tmp_path / "second")
    call("init", str(second / inner))
    return first / inner, second / inner


def change(vault: Path, old: str, new: str) -> None:
    """Edit the memory on one machine, and commit that."""
    (file,) = vault.glob("memories/*.md")
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    by_hand(vault, "commit", "-qam", f"{old} to {new}")


def pull(vault: Path) -> tuple[int, str]:
    ended = subprocess.run(["git", "pull", "-q", "--no-edit"], cwd=vault, capture_output=True, text=True, check=False)
    return ended.returncode, ended.stdout + ended.stderr


def test_init_on_a_clone_sets_merging_up_without_a_new_version(machines: tuple[Path, Path], call: Run) -> None:
    first, second = machines
    begun = by_hand(first, "log", "--format=%s", "--", ".gitattributes", ".vault-mind.toml").split("\n")

    again = call("init", str(second))

    assert again.exit_code == 0
    assert begun == ["Begin a vault", ""]
    assert by_hand(first, "rev-parse", "HEAD") == by_hand(second, "rev-parse", "HEAD")
    assert by_hand(second, "status", "--porcelain") == ""
    assert (first / ".gitattributes").read_text() == "*.md merge=vault-mind\n"
    assert "merge-driver" in by_hand(second, "config", "merge.vault-mind.driver")


@pytest.mark.parametrize("machines", ["", "notes"], ids=["the top", "a folder of a bigger one"], indirect=True)
def test_git_pull_merges_a_memory_key_by_key_both_ways(machines: tuple[Path, Path]) -> None:
    first, second = machines
    change(first, "kind: fact", "kind: preference")
    change(second, "tags: [drinks]", "tags: [drinks, tea]")
    by_hand(first, "push", "-q")

    assert pull(second)[0] == 0
    by_hand(second, "push", "-q")
    assert pull(first)[0] == 0

    ((ours,), (theirs,)) = (tuple(vault.glob("memories/*.md")) for vault in machines)
    assert ours.read_text() == theirs.read_text()
    assert "kind: preference" in ours.read_text()
    assert "tags: [drinks, tea]\n" in ours.read_text()


def test_git_pull_stops_where_both_changed_the_same_line(machines: tuple[Path, Path]) -> None:
    first, second = machines
    change(first, "green tea", "black tea")
    change(second, "green tea", "white tea")
    by_hand(first, "push", "-q")

    code, said = pull(second)

    (file,) = second.glob("memories/*.md")
    assert code
    assert "Traceback" not in said
    assert file.read_text().count("<<<<<<< ours") == 1
    assert file.read_text().startswith("---\nkind: fact\n")


def test_a_memory_that_is_named_like_an_option_is_merged(machines: tuple[Path, Path]) -> None:
    first, second = machines
    for vault in machines:
        (vault / "-h.md").write_text("---\nkind: fact\ntags: [a]\n---\nOne.\n")
    by_hand(first, "add", "--", "-h.md")
    by_hand(first, "commit", "-qm", "One")
    by_hand(first, "push", "-q")
    (second / "-h.md").unlink()
    pull(second)
    for vault, new in ((first, "kind: preference\ntags: [a]"), (second, "kind: fact\ntags: [a, b]")):
        (vault / "-h.md").write_text(f"---\n{new}\n---\nOne.\n")
        by_hand(vault, "commit", "-qam", "Another")
    by_hand(first, "push", "-q")

    assert pull(second)[0] == 0

    assert (second / "-h.md").read_text() == "---\nkind: preference\ntags: [a, b]\n---\nOne.\n"


def merged(call: Run, tmp_path: Path, ours: bytes | None) -> tuple[Ended, bytes]:
    sides = {
        "base": b"---\nkind: fact\n---\nOne.\n",
        "ours": ours,
        "theirs": b"---\nkind: fact\ntags: [a]\n---\nOne.\n",
    }
    for name, data in sides.items():
        if data is not None:
            (tmp_path / name).write_bytes(data)
    ended = call("merge-driver", "--", *(str(tmp_path / name) for name in sides), "7", "one.md")
    return ended, (tmp_path / "ours").read_bytes() if ours is not None else b""


@pytest.mark.parametrize(
    ("ours", "code", "said"),
    [
        (b"---\nkind: context\n---\nOne.\n", 0, "merged\n"),
        (b"---\nkind: fact\ntags: {b: c}\n---\nOne.\n", 1, "conflicts\n"),
        (b"\xff\xfe\0", 1, "conflicts\n"),
        (None, 2, ""),
    ],
)
def test_the_driver_says_how_it_went_and_never_falls_over(
    call: Run, tmp_path: Path, ours: bytes | None, code: int, said: str
) -> None:
    ended, _ = merged(call, tmp_path, ours)

    assert (ended.exit_code, ended.stdout) == (code, said)
    assert "Traceback" not in ended.stderr


def test_a_fault_of_ours_leaves_the_merge_to_git(call: Run, tmp_path: Path) -> None:
    deep = b"---\nkind: fact\ndeep: " + b"[" * 3000 + b"]" * 3000 + b"\n---\nOne.\n"

    ended, data = merged(call, tmp_path, deep)

    assert ended.exit_code in (1, 2)
    assert "Traceback" not in ended.stderr
    if ended.exit_code == 2:
        assert data == deep


def test_the_driver_is_not_in_the_list_of_commands(call: Run) -> None:
    assert "merge-driver" not in call("--help").stdout


def test_init_without_git_sets_nothing_up(call: Run, tmp_path: Path) -> None:
    by_hand(tmp_path, "init", "-q", ".")

    call("init", str(tmp_path / "notes"), "--no-git")

    assert not (tmp_path / "notes/.gitattributes").exists()
    assert "merge." not in by_hand(tmp_path, "config", "--list", "--local")


@pytest.mark.parametrize("committed", [True, False])
def test_init_adds_one_line_to_attributes_that_are_there(call: Run, tmp_path: Path, committed: bool) -> None:
    by_hand(tmp_path, "init", "-q", ".")
    (tmp_path / ".gitattributes").write_text("*.png binary\n")
    if committed:
        by_hand(tmp_path, "add", "-A")
        by_hand(tmp_path, "commit", "-qm", "Attributes")

    call("init", str(tmp_path))

    assert (tmp_path / ".gitattributes").read_text() == "*.png binary\n*.md merge=vault-mind\n"
    assert "Begin a vault" in by_hand(tmp_path, "log", "--format=%s")
    if committed:
        assert by_hand(tmp_path, "status", "--porcelain") == ""


def test_attributes_that_are_a_link_are_not_written_through(call: Run, tmp_path: Path) -> None:
    (tmp_path / "profile").write_text("export A=b\n")
    vault = tmp_path / "notes"
    vault.mkdir()
    (vault / ".gitattributes").symlink_to("../profile")

    ended = call("init", str(vault))

    assert ended.exit_code == 0
    assert "merges memories by lines" in ended.stderr
    assert (tmp_path / "profile").read_text() == "export A=b\n"


def test_doctor_reminds_of_a_clone_that_has_no_driver(machines: tuple[Path, Path], call: Run) -> None:
    _, second = machines
    quiet = call("--vault", str(second), "doctor").stdout
    by_hand(second, "config", "--remove-section", "merge.vault-mind")

    ended = call("--vault", str(second), "doctor")

    assert "key by key" not in quiet
    assert "git merges memories by lines on this machine" in ended.stdout
    assert "vault-mind init" in ended.stdout
    assert ended.exit_code == 0

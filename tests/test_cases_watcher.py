# a case's id stands in a name as it is written everywhere
"""Faults that users of such programs met in public, each as it would come up here: watching.

WATCH of a case is `vault-mind watch`, or its watcher in this process where looks are counted; SEARCH is the command.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import Run
from tests.test_terminal import CHAT, Terminal
from tests.watching import Command, Watched, until
from vault_mind import Vault
from vault_mind.config import state_folder
from vault_mind.watcher import Change, Pace, living

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="tried on Linux only")

Write = Callable[[str, str | bytes], Path]
Start = Callable[..., Command]
QUOKKA = "---\nkind: fact\nsource: user\ncreated_at: 2026-02-13T08:00:00Z\n---\n\nThe quokka is on the mug.\n"
GIT = ("git", "-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "commit.gpgsign=false")


@pytest.fixture
def command(vault: Vault) -> Iterator[Start]:
    """Start the real command: command("--json")."""
    started: list[Command] = []

    def start(*words: str, before: tuple[str, ...] = ()) -> Command:
        started.append(Command(*words, before=before))
        return started[-1]

    yield start
    for each in started:
        each.close()


@pytest.fixture
def watched(vault: Vault) -> Iterator[Callable[..., Watched]]:
    """Start a watcher in a thread of this process, at its usual pace."""
    started: list[Watched] = []

    def start(hold: float = Pace.hold) -> Watched:
        started.append(Watched(vault, Pace(hold=hold)))
        return started[-1]

    yield start
    for each in started:
        each.close()


def limited(name: str, most: int) -> tuple[str, ...]:
    """Words that run a command where the system allows so many inotify watches or instances; skips where none can."""
    setting = f"/proc/sys/user/max_inotify_{name}"
    words = ("unshare", "--user", "--map-root-user", "sh", "-c", f'echo {most} > {setting} && exec "$@"', "sh")
    try:
        tried = subprocess.run([*words, "true"], check=False, capture_output=True).returncode
    except FileNotFoundError:
        tried = 1
    if tried:
        pytest.skip("there are no user namespaces to lower a limit in")
    return words


def found(call: Run, word: str) -> list[str]:
    """The paths that SEARCH gives for `word`."""
    return call("search", "--paths", word).stdout.splitlines()


# WA-01 Starting the watcher fails outright when the system's watch limit is reached.


@pytest.mark.parametrize(
    ("name", "most"),
    [("instances", 0), pytest.param("watches", 0, marks=pytest.mark.storm), ("watches", 2)],
    ids=["no instance left", "no watch left", "watches for two folders of five"],
)
def test_WA_01_where_a_limit_is_reached_watch_says_so_and_looks(
    name: str, most: int, command: Start, write: Write, call: Run
) -> None:
    for number in range(3):
        write(f"{number}/old.md", "old")
    watching = command(before=limited(name, most))
    assert watching.said.count("live watching is off: the system's limit") == 1
    assert f"fs.inotify.max_user_{name}=" in watching.said
    assert "by looking every 2 s" in watching.said

    write("2/new.md", QUOKKA)
    assert found(call, "quokka") == ["2/new.md"]
    watching.wait_for("2/new.md")

    assert watching.end() == 0
    assert "Traceback" not in watching.said


def test_WA_01_a_folder_that_no_watch_was_left_for_is_noticed_and_looked_into(
    command: Start, write: Write, vault: Vault
) -> None:
    # Once, in many watchers: the limit is reached after the start, and new folders are left out without a word.
    watching = command(before=limited("watches", 4))  # the vault, memories, the one tried with; one more
    assert "by events" in watching.said

    for number in range(4):
        write(f"{number}/new.md", f"number {number}")
    for number in range(4):
        watching.wait_for(f"{number}/new.md")
    (vault.root / "3" / "new.md").write_text("number three")
    watching.wait_for("changed 3/new.md")


@pytest.mark.skipif(not shutil.which("tmux"), reason="tmux is not installed")
def test_WA_01_a_chat_starts_says_that_live_watching_is_off_and_finds_what_is_new(home: Path, write: Write) -> None:
    limit = limited("instances", 0)
    with tempfile.TemporaryDirectory(prefix="tmux") as folder:
        terminal = Terminal(Path(folder) / "socket", home, height=60)
        try:
            terminal.type(
                f"{' '.join(limit[:3])} sh -c '{limit[5].replace('exec', '').split('&&')[0]}; {CHAT} --offline'"
            )
            terminal.wait_for("^›")
            write("new.md", QUOKKA)
            for _ in range(100):  # its thread starts behind the prompt, and is heard of at the next turn
                terminal.type("/stats")
                if "live watching is off" in terminal.shown():
                    break
                time.sleep(0.2)
            terminal.type("Where is the quokka?")
            terminal.wait_for("The quokka is on the mug")
            shown = terminal.shown()
            terminal.press("C-d")
        finally:
            terminal.close()

    assert shown.count("live watching is off: the system's limit") == 1
    assert "Traceback" not in shown


# WA-02 An editor that saves by writing a temporary file and renaming it is never noticed.

SAVES = {
    "vim, backupcopy=no": ": > 4913; rm 4913; mv note.md note.md~; printf 'word NEW\\n' > note.md; rm note.md~",
    "gedit": "printf 'word NEW\\n' > .goutputstream-X1; mv .goutputstream-X1 note.md",
    "a swap file and a rewrite": "printf 'b0VIM' > .note.md.swp; printf 'word NEW\\n' > note.md; rm .note.md.swp",
    "sed -i": "sed -i 's/word .*/word NEW/' note.md",
    "emacs": "cp note.md note.md~; ln -s me@here .#note.md; printf 'word NEW\\n' > '#note.md#'; mv '#note.md#' note.md;"
    " rm .#note.md",
    "a sync client": "printf 'word NEW\\n' > ~note.tmp; rm note.md; mv ~note.tmp note.md",
    "kate, by a hard link": "printf 'word NEW\\n' > .note.md.kate; ln -f .note.md.kate note.md; rm .note.md.kate",
}
WORDS = ("alphaone", "betatwo", "gammathree", "deltafour", "epsilonfive", "zetasix", "etaseven", "thetaeight")


def test_WA_02_every_way_to_save_is_one_change_of_the_note(
    command: Start, write: Write, vault: Vault, call: Run
) -> None:
    write("note.md", "word zero\n")
    watching, old = command("--json"), "zero"

    for number, (save, new) in enumerate(zip(SAVES.values(), WORDS, strict=False), 1):
        subprocess.run(["sh", "-c", save.replace("NEW", new)], cwd=vault.root, check=True)
        watching.wait_for(f"word {new}", times=0)
        until(lambda: len(watching.lines) >= number, lambda: (save, watching.lines))  # noqa: B023
        assert (found(call, new), found(call, old)) == (["note.md"], [])
        old = new

    write("other.md", "another")
    watching.wait_for("other.md")
    assert [(each["event"], each["path"]) for each in watching.data] == [
        *[("changed", "note.md")] * len(SAVES),
        ("new", "other.md"),
    ]


@pytest.mark.skipif(not shutil.which("vim"), reason="vim is not installed")
def test_WA_02_the_real_vim_with_swap_and_backup_files_is_noticed(command: Start, write: Write, call: Run) -> None:
    note = write("note.md", "word zero\n")
    watching = command("--json")

    for backupcopy, word in (("no", "alphaone"), ("yes", "betatwo")):
        commands = f"set swapfile backup backupskip= backupcopy={backupcopy} | %s/word .*/word {word}/ | wq"
        subprocess.run(["vim", "-Nu", "NONE", "-es", "-c", commands, str(note)], check=True)
        until(lambda: found(call, word) == ["note.md"])  # noqa: B023
        watching.wait_for('"changed"', times=1 if backupcopy == "no" else 2)

    assert [(each["event"], each["path"]) for each in watching.data] == [("changed", "note.md")] * 2
    assert (note.parent / "note.md~").exists()


# WA-04 One file the handler cannot read kills the watching thread, and nothing says so.


def test_WA_04_files_that_cannot_be_read_are_named_and_the_watching_goes_on(
    command: Start, write: Write, vault: Vault, call: Run
) -> None:
    watching = command()

    write("bad.md", b"---\nkind: note\n---\nbyte \xd2 here\n")
    (vault.root / "leads-nowhere.md").symlink_to("nothing.md")
    write("broken.md", "---\n: [\n---\nyaml\n")
    os.mkfifo(vault.root / "pipe.md")
    (vault.root / "folder.md").mkdir()
    for name in ("bad.md", "leads-nowhere.md", "broken.md", "pipe.md"):
        until(lambda: f"warning: {name}: " in watching.said, lambda: watching.said)  # noqa: B023
    write("good.md", "platypus pond\n")

    watching.wait_for("good.md")
    assert found(call, "platypus") == ["good.md"]
    assert [each.pid for each in living(state_folder(vault.root))] == [watching.process.pid]
    assert "Traceback" not in watching.said


def test_WA_04_a_vault_that_was_removed_and_made_anew_is_watched_again(
    command: Start, write: Write, vault: Vault, call: Run
) -> None:
    write("before.md", "It was there before.")
    watching = command()

    shutil.rmtree(vault.root)
    until(lambda: "the vault's folder is gone" in watching.said)
    vault.root.mkdir()
    write("after.md", "wombat well\n")
    watching.wait_for("new     after.md")
    write("later.md", "and events come again\n")
    watching.wait_for("new     later.md")

    assert "the vault's folder is back" in watching.said
    assert found(call, "wombat") == ["after.md"]
    assert [each.how for each in living(state_folder(vault.root))] == ["events"]
    assert watching.end() == 0


# WA-05 Reading files during a rescan raises events that start the next rescan, for ever.


@pytest.mark.parametrize("seconds", [2, pytest.param(20, marks=pytest.mark.storm)])
def test_WA_05_one_touched_note_is_one_look_and_then_there_is_peace(
    seconds: int, command: Start, watched: Callable[..., Watched], vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(vault.root / name.lower()))
    for number in range(200):
        (vault.root / f"n{number}.md").write_text(f"note {number}\n")
    for words in (["init", "-q"], ["add", "*.md"], ["commit", "-qm", "base"]):
        subprocess.run([*GIT, *words], cwd=vault.root, check=True)
    watching, here = command(), watched()
    time.sleep(0.5)
    looks, cpu = here.index.syncs, watching.cpu

    (vault.root / "n7.md").touch()
    for number in range(200):  # somebody else reads all of it, and git looks too
        (vault.root / f"n{number}.md").read_text()
    subprocess.run([*GIT, "status", "--short"], cwd=vault.root, check=True, capture_output=True)
    subprocess.run([*GIT, "gc", "-q"], cwd=vault.root, check=True)
    time.sleep(seconds)

    assert here.index.syncs - looks == 1
    assert watching.cpu - cpu < 1
    assert here.told == []  # what it says is as it was


# WA-08 During a long burst of changes the debounce timer never fires, or its last events are dropped.


@pytest.mark.storm
def test_WA_08_a_burst_of_twenty_seconds_is_found_while_it_runs_and_to_its_end(
    command: Start, watched: Callable[..., Watched], vault: Vault, call: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MALLOC_ARENA_MAX", "1")  # else glibc keeps from 70 to 160 MB of what was freed, by chance
    watching, here = command(), watched()
    looks, memory = here.index.syncs, 0

    began = time.monotonic()
    for number in range(200):
        (vault.root / f"b{number}.md").write_text(f"token{number}\n")
        time.sleep(0.1)
        if number == 100:
            watching.wait_for("b5.md")
            assert found(call, "token5") == ["b5.md"]
            memory = resident(watching)
    (vault.root / "last.md").write_text("finalword\n")
    lasted = time.monotonic() - began
    watching.wait_for("last.md")
    here.wait_for("new last.md")

    assert found(call, "finalword") == ["last.md"]
    assert here.index.syncs - looks <= lasted / 2 + 3
    assert len(watching.lines) == 201
    assert resident(watching) < 1.2 * memory


def resident(watching: Command) -> int:
    """Its memory in pages."""
    return int(Path(f"/proc/{watching.process.pid}/statm").read_text().split()[1])


def test_WA_08_a_switch_between_two_branches_that_differ_in_500_notes_is_a_few_looks(
    watched: Callable[..., Watched], vault: Vault, call: Run
) -> None:
    for words in (["init", "-q", "-b", "main"], ["commit", "-qm", "empty", "--allow-empty"], ["switch", "-qc", "many"]):
        subprocess.run([*GIT, *words], cwd=vault.root, check=True)
    for number in range(500):
        (vault.root / f"n{number}.md").write_text(f"note {number} marmot\n")
    for words in (["add", "."], ["commit", "-qm", "many"], ["switch", "-q", "main"]):
        subprocess.run([*GIT, *words], cwd=vault.root, check=True)
    here = watched()
    looks = here.index.syncs

    subprocess.run([*GIT, "switch", "-q", "many"], cwd=vault.root, check=True)
    until(lambda: len(here.told) == 500, lambda: len(here.told))
    subprocess.run([*GIT, "switch", "-q", "main"], cwd=vault.root, check=True)
    until(lambda: len(here.told) == 1000, lambda: len(here.told))

    assert {line.split()[0] for line in here.told[:500]} == {"new"}
    assert {line.split()[0] for line in here.told[500:]} == {"gone"}
    assert here.index.syncs - looks < 20
    assert found(call, "marmot") == []


# WA-09 A save caught halfway is indexed as an empty or deleted note.


def test_WA_09_a_save_caught_halfway_is_never_told_as_gone_or_empty(
    watched: Callable[..., Watched], write: Write, call: Run
) -> None:
    text = "narwhal first half\nsecond half\n"
    note, last = write("note.md", text), write("last.md", "zero")
    here = watched(hold=2.0)  # on a busy machine a moment can last a second

    with note.open("w") as file:
        time.sleep(0.35)
        file.write(text[:9])
        file.flush()
        time.sleep(0.35)
        file.write(text[9:])
    time.sleep(0.35)
    note.unlink()
    time.sleep(0.35)
    note.write_text(text)
    last.unlink()
    here.wait_for("gone last.md")

    assert found(call, "narwhal") == ["note.md"]
    changes = [news for news in here.news if isinstance(news, Change) and news.path == "note.md"]
    assert {each.event for each in changes} <= {"changed"}
    assert all(each.memory and each.memory.text.strip() for each in changes)
    assert not changes or here.says("note.md") == text.strip()


def test_WA_09_a_checkout_there_and_back_tells_nothing_of_what_is_as_it_was(
    watched: Callable[..., Watched], vault: Vault
) -> None:
    for name in ("a", "b", "c"):
        (vault.root / f"{name}.md").write_text(f"note {name}\n")
    for words in (
        ["init", "-q", "-b", "main"], ["commit", "-qm", "empty", "--allow-empty"], ["switch", "-qc", "notes"],
        ["add", "."], ["commit", "-qm", "notes"],
    ):  # fmt: skip
        subprocess.run([*GIT, *words], cwd=vault.root, check=True)
    here = watched(hold=2.0)  # on a busy machine a moment can last a second

    for branch in ("main", "notes"):
        subprocess.run([*GIT, "switch", "-q", branch], cwd=vault.root, check=True)
        time.sleep(0.35)  # longer than its quiet time: it looks in between
    (vault.root / "last.md").write_text("zero")
    here.wait_for("new last.md")
    (vault.root / "last.md").unlink()
    here.wait_for("gone last.md")

    assert here.told == ["new last.md", "gone last.md"]


# WA-11 Notes deleted or emptied while the program was off keep turning up in search.


def test_WA_11_what_happened_while_nobody_watched_is_known_when_watching_starts(
    command: Start, write: Write, call: Run
) -> None:
    gone, emptied, cut = write("gone.md", "walrus"), write("emptied.md", "lynx"), write("cut.md", "# Fish\n\notter\n")
    write("kept.md", "a seal")
    first = command()
    assert first.end() == 0

    gone.unlink()
    emptied.write_bytes(b"")
    cut.write_text("# Fish\n")
    watching = command()
    assert [found(call, word) for word in ("walrus", "lynx", "otter", "seal")] == [[], [], [], ["kept.md"]]
    write("new.md", "a whale")
    watching.wait_for("new.md")

    assert len(watching.lines) == 1
    assert emptied.exists()
    assert watching.end(signal.SIGTERM) == 0

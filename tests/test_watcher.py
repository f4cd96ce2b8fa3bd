"""The watcher on real files and real events: what it tells, what it does not, and that it never dies."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from watchdog.observers.api import EventEmitter

import vault_mind.watcher
from tests.conftest import Run
from tests.watching import BRISK, PATIENCE, Command, Watched, until
from vault_mind import Index, Vault
from vault_mind.config import state_folder
from vault_mind.watcher import WATCHERS, Pace, living

Write = Callable[[str, str | bytes], Path]
linux = pytest.mark.skipif(sys.platform != "linux", reason="tried on Linux only")
ODD = os.fsdecode(b"caf\xe9")  # a name that is not UTF-8


@pytest.fixture
def watch(vault: Vault) -> Iterator[Callable[..., Watched]]:
    """Start a watcher of `vault` in a thread: watch(pace=…, poll=…)."""
    started: list[Watched] = []

    def start(of: Vault | None = None, pace: Pace = BRISK, poll: float = 0.0) -> Watched:
        started.append(Watched(of or vault, pace, poll))
        return started[-1]

    yield start
    for each in started:
        each.close()


@pytest.fixture
def command(vault: Vault) -> Iterator[Callable[..., Command]]:
    """Start the real command: command("--json")."""
    started: list[Command] = []

    def start(*words: str, **more: bool) -> Command:
        started.append(Command(*words, **more))  # type: ignore[arg-type]
        return started[-1]

    yield start
    for each in started:
        each.close()


Watch = Callable[..., Watched]
Start = Callable[..., Command]


# What it tells


@pytest.mark.parametrize("poll", [0.0, 0.1], ids=["by events", "by looking"])
def test_a_memory_that_is_new_changed_renamed_and_gone_is_told(poll: float, watch: Watch, write: Write) -> None:
    write("old.md", "It was there.")
    watched = watch(poll=poll)
    door = write("door.md", "The door is green.")
    watched.wait_for("new door.md")
    write("door.md", "The door is red.")
    watched.wait_for("changed door.md")
    assert watched.says("door.md") == "The door is red."

    door.rename(door.with_name("gate.md"))
    watched.wait_for("renamed door.md gate.md")
    door.with_name("gate.md").unlink()
    watched.wait_for("gone gate.md")

    assert watched.told == ["new door.md", "changed door.md", "renamed door.md gate.md", "gone gate.md"]
    assert watched.watcher.how == ("polling" if poll else "events")


def in_place(file: Path, text: str) -> None:
    file.write_text(text)  # truncated first, as VS Code and nano do


def vim(file: Path, text: str) -> None:
    (file.parent / "4913").touch()
    (file.parent / "4913").unlink()
    swap = file.with_name(f".{file.name}.swp")
    swap.write_bytes(b"b0VIM")
    backup = file.with_name(f"{file.name}~")
    file.rename(backup)
    file.write_text(text)
    backup.unlink()
    swap.unlink()


def gedit(file: Path, text: str) -> None:
    (file.parent / ".goutputstream-X1").write_text(text)
    (file.parent / ".goutputstream-X1").replace(file)


def beside(file: Path, text: str) -> None:
    other = file.with_name(f"{file.name}.tmp.4711")
    other.write_text(text)
    other.replace(file)


def from_elsewhere(file: Path, text: str) -> None:
    other = file.parent.parent / "elsewhere.txt"
    other.write_text(text)
    other.replace(file)


def sed(file: Path, text: str) -> None:
    subprocess.run(["sed", "-i", f"s/.*/{text}/", str(file)], check=True)


def recreated(file: Path, text: str) -> None:
    file.unlink()
    time.sleep(0.15)  # longer than its quiet time, so that it is looked at in between
    file.write_text(text)


WAYS = [in_place, vim, gedit, beside, from_elsewhere, sed, recreated]


@pytest.mark.skipif(os.name == "nt", reason="the ways of POSIX editors")
def test_however_an_editor_saves_it_is_one_change_of_that_file(watch: Watch, write: Write) -> None:
    note, last = write("note.md", "It said zero."), write("last.md", "zero")
    watched = watch(pace=replace(BRISK, hold=1.5))

    for number, save in enumerate(WAYS, 1):
        save(note, f"It was saved by {save.__name__}.")
        until(lambda: len(watched.told) == number, lambda: (save, watched.news))  # noqa: B023
        assert watched.says("note.md") == f"It was saved by {save.__name__}."
    last.unlink()  # whatever else had been held back is told before this
    watched.wait_for("gone last.md")

    assert watched.told == ["changed note.md"] * len(WAYS) + ["gone last.md"]


def test_files_of_folders_that_were_made_renamed_and_moved_are_told(watch: Watch, write: Write, home: Path) -> None:
    watched = watch()
    write("a/b/c/deep.md", "Deep down.")  # written at once, before anybody can listen in there
    write("a/b/other.md", "Another one.")
    watched.wait_for("new a/b/c/deep.md", "new a/b/other.md")

    root = watched.watcher._vault.root
    (root / "a").rename(root / "z")
    watched.wait_for("renamed a/b/c/deep.md z/b/c/deep.md", "renamed a/b/other.md z/b/other.md")
    write("z/b/c/later.md", "Events still come from in there.")
    watched.wait_for("new z/b/c/later.md")
    (root / "z" / "b").rename(home / "outside")
    watched.wait_for("gone z/b/c/deep.md", "gone z/b/c/later.md", "gone z/b/other.md")
    (home / "outside").rename(root / "back")
    watched.wait_for("new back/c/deep.md", "new back/other.md")

    assert len(watched.told) == 11


def test_a_name_of_which_only_the_case_changed_is_renamed(watch: Watch, write: Write) -> None:
    file = write("Note.md", "The same text.")
    write("twin.md", "The same text.")  # its content alone does not say which file it was
    watched = watch()

    file.rename(file.with_name("note.md"))
    watched.wait_for("renamed Note.md note.md")

    assert watched.told == ["renamed Note.md note.md"]


def test_two_renames_in_a_row_are_one_and_a_rename_over_a_file_is_both(watch: Watch, write: Write) -> None:
    first, over, under = write("a.md", "first"), write("over.md", "over"), write("under.md", "under")
    watched = watch()

    first.rename(first.with_name("b.md"))
    first.with_name("b.md").rename(first.with_name("c.md"))
    over.replace(under)
    watched.wait_for("renamed a.md c.md", "changed under.md", "gone over.md")

    assert sorted(watched.told) == ["changed under.md", "gone over.md", "renamed a.md c.md"]


def test_what_another_process_took_in_first_is_told_as_well(watch: Watch, write: Write, vault: Vault) -> None:
    watched, other = watch(pace=replace(BRISK, quiet=0.5)), Index(vault)

    write("door.md", "The door is green.")
    other.sync()
    watched.wait_for("new door.md")
    write("door.md", "The door is red.")
    other.sync()
    watched.wait_for("changed door.md")
    other.rebuild()
    write("gate.md", "The gate is new.")
    watched.wait_for("new gate.md")
    other.close()

    assert watched.told == ["new door.md", "changed door.md", "new gate.md"]


def test_what_brings_no_event_is_found_by_the_look_that_nobody_rang_for(
    watch: Watch, write: Write, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vault_mind.watcher, "SAFETY", 5)
    file = write("door.md", "The door is green.")
    os.link(file, home / "outside.md")
    watched = watch(pace=replace(BRISK, safety=0.5))

    (home / "outside.md").write_text("The door is red.")

    watched.wait_for("changed door.md")


# What it does not tell


def test_what_is_no_memory_rings_no_bell(watch: Watch, write: Write) -> None:
    write("door.md", "The door is green.")
    for name in (".git/config", ".obsidian/app.json", "sub/x.md"):
        write(name, "before")
    watched = watch()
    time.sleep(0.3)
    looks = watched.index.syncs

    for name in (".git/HEAD.md", ".obsidian/app.json", ".trash/old.md", ".hidden.md", "door.md~", "4913", "a.txt"):
        write(name, "anything")
    (watched.watcher._vault.root / ".git" / "config").rename(watched.watcher._vault.root / ".git" / "config.md")
    for _ in range(20):
        (watched.watcher._vault.root / "door.md").read_text()
        os.listdir(watched.watcher._vault.root / "sub")
    time.sleep(0.5)

    assert watched.index.syncs == looks
    assert watched.told == []


def test_a_state_and_a_cache_inside_the_vault_ring_no_bell(
    watch: Watch, write: Write, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(vault.root / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(vault.root / "state"))
    watched = watch()
    write("door.md", "The door is green.")
    watched.wait_for("new door.md")
    time.sleep(0.4)
    looks = watched.index.syncs

    (state_folder(vault.root) / "journal").mkdir(parents=True)
    (state_folder(vault.root) / "journal" / "x.md").write_text("ours")
    time.sleep(0.4)

    assert watched.index.syncs == looks


def test_a_file_that_was_only_touched_or_written_again_did_not_change(watch: Watch, write: Write) -> None:
    file, last = write("door.md", "The door is green."), write("last.md", "zero")
    watched = watch()
    looks = watched.index.syncs

    os.utime(file)
    file.chmod(0o600)
    until(lambda: watched.index.syncs > looks)
    write("door.md", "The door is green.")
    time.sleep(0.3)
    last.write_text("one")
    watched.wait_for("changed last.md")

    assert watched.told == ["changed last.md"]


def test_what_is_empty_for_good_is_told_after_a_while_and_what_cannot_be_read_is_not_gone(
    watch: Watch, write: Write
) -> None:
    write("door.md", "The door is green.")
    watched = watch()

    write("door.md", "")
    write("new.md", "")
    watched.wait_for("changed door.md", "new new.md")
    write("new.md", "Now it says something.")
    watched.wait_for("changed new.md")

    assert sorted(watched.told) == ["changed door.md", "changed new.md", "new new.md"]


@linux
def test_a_file_that_becomes_a_link_out_of_the_vault_is_a_problem_and_not_gone(
    watch: Watch, write: Write, home: Path
) -> None:
    file, last = write("door.md", "The door is green."), write("last.md", "zero")
    (home / "outside.md").write_text("Not yours.")
    watched = watch()

    file.unlink()
    file.symlink_to(home / "outside.md")
    until(lambda: watched.problems)
    last.unlink()
    watched.wait_for("gone last.md")
    assert [problem.path for problem in watched.problems] == ["door.md"]
    assert watched.told == ["gone last.md"]

    file.unlink()
    watched.wait_for("gone door.md")


# It never dies


def test_a_burst_is_told_while_it_lasts_in_few_looks_and_to_its_end(watch: Watch, write: Write) -> None:
    watched = watch(pace=replace(BRISK, quiet=0.4, ceiling=0.8))
    looks, written = watched.index.syncs, 0

    def burst() -> None:
        nonlocal written
        while "new b0.md" not in watched.told:
            write(f"b{written}.md", f"token{written}")
            written += 1
            time.sleep(0.02)

    thread = threading.Thread(target=burst)
    thread.start()
    thread.join(PATIENCE)
    write("last.md", "finalword")
    watched.wait_for("new last.md")

    assert len(watched.told) == written + 1
    assert watched.index.syncs - looks < written / 4


def test_a_thread_that_ended_is_started_anew_and_nothing_is_missed(watch: Watch, write: Write) -> None:
    watched = watch(pace=replace(BRISK, check=0.5))

    emitters = [each for each in threading.enumerate() if isinstance(each, EventEmitter)]
    for emitter in emitters:
        emitter.stop()
    write("unheard.md", "No event told of it.")
    watched.wait_for("new unheard.md")
    write("heard.md", "Events are back.")
    watched.wait_for("new heard.md")

    assert emitters
    assert watched.watcher.how == "events"
    assert not [text for text in watched.notices if "off" in text]


def test_threads_that_end_again_and_again_are_given_up_for_looking(watch: Watch, write: Write) -> None:
    watched = watch(pace=replace(BRISK, check=0.02, poll=0.1))

    def kill() -> bool:
        for each in threading.enumerate():
            if isinstance(each, EventEmitter):
                each.stop()
        return any("live watching is off" in text for text in watched.notices)

    until(kill)
    write("door.md", "The door is green.")
    watched.wait_for("new door.md")

    assert watched.watcher.how == "polling"
    assert sum("live watching is off" in text for text in watched.notices) == 1


def test_a_vault_that_was_moved_away_and_came_back_is_told_of_once_and_nothing_in_it(
    watch: Watch, write: Write, vault: Vault, home: Path
) -> None:
    for number in range(5):
        write(f"{number}.md", f"number {number}")
    watched = watch()

    vault.root.rename(home / "away")
    watched.wait_for("the vault's folder is gone")
    time.sleep(0.6)
    (home / "away" / "3.md").write_text("changed elsewhere")
    (home / "away").rename(vault.root)
    watched.wait_for("the vault's folder is back", "changed 3.md")
    write("after.md", "wombat")
    watched.wait_for("new after.md")

    assert watched.told == ["changed 3.md", "new after.md"]
    assert sum("gone" in text for text in watched.notices) == 1


def test_a_vault_that_was_deleted_and_copied_back_file_by_file_reports_what_differs(
    watch: Watch, write: Write, vault: Vault, home: Path
) -> None:
    for number in range(5):
        write(f"{number}.md", f"number {number}")
    shutil.copytree(vault.root, home / "backup")
    (home / "backup" / "3.md").write_text("number three")
    (home / "backup" / "4.md").unlink()
    watched = watch(pace=replace(BRISK, hold=1.0, longest=20.0))

    shutil.rmtree(vault.root)
    watched.wait_for("the vault's folder is gone")
    vault.root.mkdir()  # still empty: as the place of a disk that is not mounted
    time.sleep(0.3)
    assert watched.told == []
    for file in sorted((home / "backup").glob("*.md")):
        shutil.copy2(file, vault.root)
        time.sleep(0.1)
    watched.wait_for("changed 3.md", "gone 4.md")

    assert sorted(watched.told) == ["changed 3.md", "gone 4.md"]


def test_a_look_that_fails_is_told_once_and_made_up_for(watch: Watch, write: Write) -> None:
    watched = watch(pace=replace(BRISK, poll=0.1))

    watched.index.failures = 3
    write("door.md", "The door is green.")
    watched.wait_for("new door.md")
    watched.index.failures = 1
    write("gate.md", "The gate is red.")
    watched.wait_for("new gate.md")

    assert [text for text in watched.notices if "fault of ours" in text] == [
        "the vault could not be looked at: a fault of ours. Trying again"
    ] * 2


def test_a_listener_that_fails_is_told_so_and_one_that_is_gone_ends_it(watch: Watch, write: Write) -> None:
    watched = watch()

    watched.deaf = ValueError("a fault of the listener")
    write("door.md", "The door is green.")
    write("gate.md", "The gate is red.")
    watched.wait_for("new door.md", "new gate.md", "what was noticed could not be shown: a fault of the listener")
    assert watched.ended_with is None

    watched.deaf = BrokenPipeError()
    write("wall.md", "The wall is white.")
    until(lambda: watched.ended_with)
    assert isinstance(watched.ended_with, BrokenPipeError)


# Odd vaults


@linux
def test_a_vault_given_through_a_link_is_watched(watch: Watch, write: Write, vault: Vault, home: Path) -> None:
    (home / "link").symlink_to(vault.root)
    watched = watch(Vault(home / "link"))

    write("sub/door.md", "The door is green.")
    watched.wait_for("new sub/door.md")

    (home / "link").unlink()
    watched.wait_for("the vault's folder is gone")


@linux
def test_names_that_are_no_text_are_a_problem_and_stop_nothing(watch: Watch, home: Path) -> None:
    (home / ODD).mkdir()
    watched = watch(Vault(home / ODD))

    (home / ODD / f"{ODD}.md").write_text("odd")
    (home / ODD / "a\nb \x1b[31m.md").write_text("control")
    (home / ODD / "plain.md").write_text("plain")
    watched.wait_for("new plain.md", "new a\nb \x1b[31m.md")

    assert [problem.path for problem in watched.problems] == ["caf\\udce9.md"]


# Who watches


def test_who_watches_is_known_while_it_lives(watch: Watch, command: Start, vault: Vault) -> None:
    folder = state_folder(vault.root)
    assert living(folder) == []

    watched, other = watch(poll=0.2), command()
    found = {each.pid: each.how for each in living(folder)}
    assert found == {os.getpid(): "polling", other.process.pid: "events"}
    second = watch()
    assert sorted(each.how for each in living(folder) if each.pid == os.getpid()) == ["events", "polling"]

    other.process.kill()
    other.process.wait(PATIENCE)
    watched.close()
    second.close()
    assert living(folder) == []
    assert list((folder / WATCHERS).iterdir()) == []


def test_a_file_that_says_nothing_of_a_watcher_is_passed_over(watch: Watch, vault: Vault) -> None:
    watched = watch()
    folder = state_folder(vault.root)
    file = folder / WATCHERS / f"{os.getpid()}.json"

    file.write_text("{")
    assert living(folder) == []
    watched.close()

    (folder / WATCHERS / "12345.json").write_text('{"pid": 12345, "since": "x", "how": "events"}')
    assert living(folder) == []
    assert not (folder / WATCHERS / "12345.json").exists()


def test_where_the_state_cannot_be_written_it_is_watched_all_the_same(watch: Watch, write: Write, vault: Vault) -> None:
    folder = state_folder(vault.root)
    folder.mkdir(parents=True)
    (folder / WATCHERS).write_text("a file in the way")
    watched = watch()

    write("door.md", "The door is green.")

    watched.wait_for("new door.md")


# The command


def test_watch_prints_each_change_as_it_lands_and_ctrl_c_ends_it(command: Start, write: Write, vault: Vault) -> None:
    write("bad.md", b"caf\xe9")
    watching = command()
    first, second = watching.said.splitlines()
    assert first.startswith("warning: bad.md: ")
    assert second == f"watching {vault.root} by events; Ctrl-C ends it"

    write("cat \x1b[31m.md", "# A \x1b]0;x\x07 cat\n\ntext")
    write("door.md", "\n\nThe door is green.\nAnd heavy.")
    watching.wait_for("door.md")
    watching.wait_for("cat ")
    assert watching.end() == 0

    shown = {line.split(maxsplit=1)[1] for line in watching.lines}
    assert shown == {"new     cat ^[[31m.md  A ^[]0;x^G cat", "new     door.md  The door is green."}
    assert "Traceback" not in watching.said


@pytest.mark.skipif(os.name == "nt", reason="a matter of POSIX signals")
def test_watch_as_json_is_an_object_a_line_and_a_polite_kill_ends_it(command: Start, write: Write) -> None:
    watching = command("--json", "--poll", "0.2")
    assert "by looking every 0.2 s; Ctrl-C ends it" in watching.said

    file = write("tea.md", "---\nkind: preference\ntitle: Tea\n---\nThe user drinks tea.\n")
    watching.wait_for("tea.md")
    file.rename(file.with_name("green.md"))
    watching.wait_for("green.md")
    assert watching.end(signal.SIGTERM) == 0

    for data in watching.data:
        assert list(data) == ["at", "event", "path", "to", "kind", "title"]
        assert data.pop("at").startswith("20")
    assert watching.data[0] | {"at": 0} == {
        "at": 0, "event": "new", "path": "tea.md", "to": None, "kind": "preference", "title": "Tea",
    }  # fmt: skip
    assert (watching.data[1]["event"], watching.data[1]["to"]) == ("renamed", "green.md")


@pytest.mark.skipif(os.name == "nt", reason="a matter of POSIX pipes")
def test_a_reader_that_has_seen_enough_ends_it_quietly(write: Write, home: Path) -> None:
    shell = f"{sys.executable} -m vault_mind watch 2> talk | head -1"
    with subprocess.Popen(shell, shell=True, cwd=home, stdout=subprocess.PIPE, text=True) as process:
        until(lambda: "watching" in (home / "talk").read_text() if (home / "talk").exists() else False)
        write("a.md", "one")
        assert process.stdout
        assert "a.md" in process.stdout.readline()
        while process.poll() is None:
            write("b.md", f"two {time.monotonic()}")
            time.sleep(0.1)

    assert (home / "talk").read_text().count("\n") == 1


def test_a_setting_asks_for_looking_too_and_a_senseless_one_is_refused(command: Start, run: Run, vault: Vault) -> None:
    (vault.root / ".vault-mind.toml").write_text("watch_poll = 0.3\n")
    assert "by looking every 0.3 s" in command().said

    assert run("watch", "--poll", "0").exit_code == 2
    (vault.root / ".vault-mind.toml").write_text("watch_poll = -1\n")
    refused = run("watch")
    assert refused.exit_code == 2
    assert "watch_poll" in refused.stderr


@pytest.mark.storm
def test_a_storm_of_ten_thousand_files_is_told_whole(watch: Watch, vault: Vault) -> None:
    watched = watch(pace=Pace())

    for number in range(10_000):
        folder = vault.root / f"{number // 500:02d}"
        folder.mkdir(exist_ok=True)
        (folder / f"{number}.md").write_text(f"token{number}")
    until(lambda: len(watched.news) >= 10_001)
    (vault.root / "00").rename(vault.root / "zz")
    until(lambda: len(watched.news) >= 10_501)

    assert len({line for line in watched.told if line.startswith("new ")}) == 10_000
    assert len({line for line in watched.told if line.startswith("renamed 00/")}) == 500
    assert len(watched.told) == 10_500


@linux
def test_the_measurement_of_watching_runs(tmp_path: Path) -> None:
    script = Path(__file__).parent.parent / "benchmarks" / "watching.py"

    ended = subprocess.run(
        [sys.executable, script, tmp_path, "--sizes", "30", "--rounds", "1"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert ended.returncode == 0, ended.stderr
    for figure in ("sync of nothing changed, 30", "edit until the watcher tells, 30", "a search has found it, 30"):
        assert figure in ended.stdout

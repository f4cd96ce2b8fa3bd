"""How the program starts and ends."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Run
from vault_mind.__main__ import _FILE, _NEW, PLAIN, likely_vault
from vault_mind.cli import program
from vault_mind.config import VAULT_FILE, find_vault
from vault_mind.vault import FOLDER, Vault

Write = Callable[[str, str | bytes], Path]

BEGUN = """
import sys
from vault_mind import listing
listing.begin = lambda root: print("begun:", root, file=sys.stderr)
from vault_mind.__main__ import main
main()
"""


def started(program: str, *words: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    """What a program prints that is given `words`."""
    command = [sys.executable, "-c", program, *words]
    return subprocess.run(
        command, capture_output=True, text=True, cwd=cwd, timeout=60, check=False, stdin=subprocess.DEVNULL
    )


@pytest.mark.parametrize(
    "words", [[], ["--vault", "other"], ["--vault=other"], ["--vault", "~/other"], ["--vault", "{}/other"]]
)
@pytest.mark.parametrize("named", ["", "other", " ~/vault-mind ", "{}/other"])
@pytest.mark.parametrize("here", ["", "vault-mind", "vault-mind/memories", "vault-mind/a/b", "elsewhere"])
def test_the_vault_is_guessed_as_it_is_found(
    words: list[str], named: str, here: str, vault: Vault, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Vault.create(home / "other")
    (home / here).mkdir(parents=True, exist_ok=True)
    (home / here / "other").mkdir(exist_ok=True)
    monkeypatch.chdir(home / here)
    words = [word.format(home) for word in words]
    environment = {"VAULT_MIND_VAULT": named.format(home)} if named else {}
    flag = Path(words[-1].removeprefix("--vault=")) if words else None

    found, _ = find_vault(flag, environment, Path.cwd())

    assert likely_vault(["search", "tea", *words], environment) == str(Vault(found).root)


def test_the_last_of_several_vaults_is_guessed_and_none_behind_the_words_end() -> None:
    assert likely_vault(["search", "--vault", "/a", "x", "--vault", "/b", "--", "--vault", "/c"], {}) == "/b"


def test_a_vault_is_guessed_where_one_stands_in_a_folder_that_is_gone(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()

    assert likely_vault(["search", "tea"], {}) == str(home / "vault-mind")


@pytest.mark.parametrize(
    "words",
    [
        ["remember", "The user drinks tea."],
        ["remember", "-"],
        ["search", "tea"],
        ["grep", "tea"],
        ["list"],
        ["stats"],
        ["show", "tea"],
    ],
)
def test_only_a_command_that_looks_through_the_vault_before_it_writes_lists_before_it_is_loaded(
    words: list[str], write: Write, home: Path
) -> None:
    write("tea.md", "The user drinks tea.")

    ended = started(BEGUN, *words, cwd=home)

    assert ended.returncode == (2 if words == ["remember", "-"] else 0)  # there is no text
    looks = words[0] in PLAIN and words[1:] != ["-"]  # what is typed may come when all is another
    assert (f"begun: {home / 'vault-mind'}" in ended.stderr) == looks


def test_every_command_that_lists_early_is_one_of_ours() -> None:
    assert set(PLAIN) <= program.commands.keys()


def test_the_names_that_the_start_knows_are_those_of_the_vault() -> None:
    assert (_FILE, _NEW) == (VAULT_FILE, FOLDER)


def test_another_vault_than_was_guessed_is_searched_all_the_same(run: Run, home: Path) -> None:
    there, here = Vault.create(home / "there"), Vault.create(home / "here")
    (there.root / "tea.md").write_text("Tea is there.")
    (here.root / "tea.md").write_text("Tea is here.")
    for _ in range(2):
        assert "Tea is here" in run("search", "tea", "--vault", str(home / "there" / ".." / "here")).stdout
        assert "Tea is there" in run("search", "tea", "--vault", str(home / "there")).stdout


def test_what_is_registered_for_the_end_is_done_and_what_was_printed_is_there(write: Write, home: Path) -> None:
    write("tea.md", "The user drinks tea.")
    ending = "import atexit, sys\natexit.register(lambda: print('the end', flush=True))\n"

    ended = started(f"{ending}from vault_mind.__main__ import main\nmain()", "search", "tea", "--paths", cwd=home)

    assert (ended.returncode, ended.stdout) == (0, "tea.md\nthe end\n")


def test_with_a_thread_at_work_the_end_waits_for_it(write: Write, home: Path) -> None:
    write("tea.md", "The user drinks tea.")
    working = "import threading, time\nthreading.Thread(target=lambda: [time.sleep(1), print('worked')]).start()\n"

    ended = started(f"{working}from vault_mind.__main__ import main\nmain()", "search", "tea", "--paths", cwd=home)

    assert (ended.returncode, sorted(ended.stdout.split())) == (0, ["tea.md", "worked"])


@pytest.mark.parametrize(("words", "code"), [(["search", "tea"], 0), (["search", "coffee"], 1), (["search"], 2)])
def test_the_exit_code_is_that_of_the_command(words: list[str], code: int, write: Write, run: Run) -> None:
    write("tea.md", "The user drinks tea.")

    assert run(*words).exit_code == code


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a disk that is full is /dev/full")
@pytest.mark.parametrize("words", [["search", "tea"], ["grep", "tea"], ["search", "-k3", "tea"]])
def test_what_cannot_be_printed_is_an_error(words: list[str], write: Write, home: Path) -> None:
    write("tea.md", "The user drinks tea.")
    command = [sys.executable, "-m", "vault_mind", *words]

    with open("/dev/full", "w") as full:
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, cwd=home, check=False)

    assert ended.returncode == 2
    assert ended.stderr == "vault-mind: [Errno 28] No space left on device\n"


@pytest.mark.parametrize("words", [["search", "tea"], ["grep", "tea"], ["search", "-k3", "tea"]])
def test_a_reader_that_has_seen_enough_ends_it_without_a_word(words: list[str], write: Write, home: Path) -> None:
    write("tea.md", "The user drinks tea.")
    command = [sys.executable, "-m", "vault_mind", *words]
    ours, theirs = os.pipe()
    os.close(ours)

    ended = subprocess.run(command, stdout=theirs, stderr=subprocess.PIPE, text=True, cwd=home, check=False)

    os.close(theirs)
    assert (ended.returncode, ended.stderr) == (1, "")


@pytest.mark.parametrize("words", [["search", "tea"], ["search", "-k3", "tea"]])
def test_with_its_streams_closed_it_ends_as_ever(words: list[str], write: Write, home: Path) -> None:
    write("tea.md", "The user drinks tea.")
    command = ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", sys.executable, "-m", "vault_mind", *words]

    assert subprocess.run(command, cwd=home, timeout=60, check=False).returncode == 0

"""Files read by several processes: the same as by one, whatever becomes of them, and whoever uses the index."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import vault_mind.readers
from tests.test_index import agrees, put
from vault_mind import Index, Vault
from vault_mind.readers import CHUNK, Read, Task, read_all, split
from vault_mind.rows import hashed

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals and scripts as POSIX has them")

Write = Callable[[str, str | bytes], Path]


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> list["subprocess.Popen[bytes]"]:
    """Three processes read from the first file on; they are listed here as they are started."""
    started: list[subprocess.Popen[bytes]] = []

    class Listed(subprocess.Popen[bytes]):
        def __init__(self, *words: Any, **more: Any) -> None:
            super().__init__(*words, **more)
            started.append(self)

    monkeypatch.setattr(vault_mind.readers, "MANY", 1)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    monkeypatch.setattr(subprocess, "Popen", Listed)
    return started


def tasks_of(vault: Vault, size: int = CHUNK) -> list[Task]:
    """Everything in `vault` as tasks, of at most `size` files."""
    paths = sorted(vault.walk().files)
    folders: dict[str, list[str]] = {}
    for path in paths:
        folders.setdefault(path[: path.rfind("/") + 1], []).append(path[path.rfind("/") + 1 :])
    return [
        Task(folder, names[start : start + size], [b""] * len(names[start : start + size]))
        for folder, names in folders.items()
        for start in range(0, len(names), size)
    ]


def rows_of(found: Iterator[tuple[Task, list[Read]]]) -> list[tuple[Any, ...]]:
    """What was read, but for the marks, which say how young a file was."""
    return [(task, [(one.name, one.gone, one.problems, one.row) for one in reads]) for task, reads in found]


def texts(vault: Vault, count: int) -> None:
    """Memories of many kinds, some with faults."""
    for number in range(count):
        front = ("", "---\nkind: fact\nchat: a\n---\n", "---\nbroken: [\n---\n", "---\ncreated_at: soon\n---\n")[
            number % 4
        ]
        put(vault, f"folder {number % 3}/{number} é 猫.md", f"{front}tea number {number} [[{number + 1} é 猫]]\n")
    (vault.root / "latin.md").write_bytes(b"caf\xe9")


# --- the same as by one -------------------------------------------------------------------------------------------


def test_several_processes_read_what_one_reads(
    vault: Vault, processes: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    texts(vault, 200)
    tasks = [*tasks_of(vault, 7), Task("folder 0/", ["not there.md"], [b""]), Task("nowhere/", ["a.md"], [b""])]

    by_many = rows_of(read_all(vault, tasks, "english"))
    monkeypatch.setattr(vault_mind.readers, "MANY", 10**9)

    assert len(processes) == 3
    assert by_many == rows_of(read_all(vault, tasks, "english"))
    assert [process.poll() is not None for process in processes] == [True] * 3


@pytest.mark.parametrize("together", [1, 60, 10**9])
def test_how_many_are_analysed_together_makes_no_difference(
    vault: Vault, monkeypatch: pytest.MonkeyPatch, together: int
) -> None:
    texts(vault, 30)
    tasks = [*tasks_of(vault, 7), Task("folder 0/", ["not there.md"], [b""])]
    usual = rows_of(read_all(vault, tasks, "english"))

    monkeypatch.setattr(vault_mind.readers, "TOGETHER", together)

    assert rows_of(read_all(vault, tasks, "english")) == usual


def test_what_is_known_already_is_not_given_again(vault: Vault, processes: list[Any]) -> None:
    texts(vault, 20)
    tasks = tasks_of(vault)
    hashes = {
        task.folder + one.name: hashed(one.row.text, one.row.fault, one.row.conflict)
        for task, reads in read_all(vault, tasks, "english")
        for one in reads
        if one.row
    }
    put(vault, "folder 1/1 é 猫.md", "milk")

    known = [Task(folder, names, [hashes[folder + name] for name in names]) for folder, names, _ in tasks]
    again = [one.name for _, reads in read_all(vault, known, "english") for one in reads if one.row]

    assert again == ["1 é 猫.md"]


def test_an_index_made_by_several_processes_agrees(index: Index, processes: list[Any]) -> None:
    texts(index.vault, 100)

    assert agrees(index, "tea number 7 é")
    assert list(index.memories()) == list(index.vault.memories())
    assert len(processes) >= 3


# Once a fear: both sides write, and each waits for the other to read.
@pytest.mark.parametrize("size", [CHUNK, pytest.param(1, marks=pytest.mark.storm)])
def test_a_thousand_names_as_long_as_names_may_be_block_no_pipe(vault: Vault, processes: list[Any], size: int) -> None:
    for number in range(1_000):
        put(vault, f"{number:04}{'é' * 120}end.md", "tea " * 300)  # 250 bytes

    found = list(read_all(vault, tasks_of(vault, size), "english"))

    assert sum(len(reads) for _, reads in found) == 1_000
    assert all(one.row for _, reads in found for one in reads)
    assert len(processes) == 3


def test_the_files_of_a_folder_are_split_into_tasks() -> None:
    names = [f"{number}.md" for number in range(2 * CHUNK + 1)]

    tasks = list(split("a/", names, {"0.md": b"hash"}))

    assert [len(task.names) for task in tasks] == [CHUNK, CHUNK, 1]
    assert [name for task in tasks for name in task.names] == names
    assert tasks[0].known[:2] == [b"hash", b""]
    assert list(split("a/", [], {})) == []


# --- whatever becomes of them -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("whom", "after"),
    [([0], 0), ([1, 2], 1), ([0, 1, 2], 5), *(pytest.param([n % 3], n, marks=pytest.mark.storm) for n in range(12))],
)
def test_a_process_that_is_killed_costs_nothing(
    vault: Vault, processes: list["subprocess.Popen[bytes]"], whom: list[int], after: int
) -> None:
    texts(vault, 60)
    tasks = tasks_of(vault, 4)
    found = read_all(vault, tasks, "english")

    seen = [next(found) for _ in range(after + 1)]
    for number in whom:
        processes[number].kill()
    seen += found

    assert [task for task, _ in seen] == tasks
    assert all(one.row or one.gone for _, reads in seen for one in reads)


def test_who_stops_half_way_leaves_no_process(vault: Vault, processes: list["subprocess.Popen[bytes]"]) -> None:
    texts(vault, 60)
    found = read_all(vault, tasks_of(vault, 4), "english")
    next(found)

    found.close()  # type: ignore[attr-defined]  # it is a generator

    assert [process.poll() for process in processes] == [-signal.SIGKILL] * 3


# Once: a Python inside another program has no sys.executable; None was a TypeError.
@pytest.mark.parametrize("program", ["/nowhere/python", "", None, "/bin/false"])
def test_where_no_process_can_be_started_all_is_read_here(
    index: Index, processes: list[Any], monkeypatch: pytest.MonkeyPatch, program: str | None
) -> None:
    texts(index.vault, 40)
    monkeypatch.setattr(sys, "executable", program)

    assert agrees(index, "tea number 7")
    assert len(index.ranked("tea", 100)) == 40


# --- whoever uses it ----------------------------------------------------------------------------------------------

PROGRAM = """
print("started", flush=True)
import logging, os, subprocess, sys, threading
import vault_mind.readers
from vault_mind import Index, Vault

vault_mind.readers.MANY, os.cpu_count = 1, lambda: 3
begun, popen = [], subprocess.Popen

def listed(*words, **more):
    begun.append(popen(*words, **more))
    return begun[-1]

subprocess.Popen = listed
failed = []
logging.getLogger("vault_mind.readers").info = lambda *words, **more: failed.append(words)
"""
SEARCH = """
print(len(Index(Vault(sys.argv[1])).search("tea", 100)), len(begun), len(failed), flush=True)
"""
IN_A_THREAD = """
def search():
    print(len(Index(Vault(sys.argv[1])).search("tea", 100)), len(begun), len(failed), flush=True)

thread = threading.Thread(target=search)
thread.start()
thread.join()
"""


def ran(words: list[str], folder: Path, environment: dict[str, str] | None = None) -> str:
    """What a program says that runs in `folder`."""
    ended = subprocess.run(
        words,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=folder,
        env={**os.environ, **(environment or {})},
    )
    assert ended.stderr == ""
    return ended.stdout


@pytest.mark.parametrize(
    ("script", "flags"),
    [
        (IN_A_THREAD, []),
        (SEARCH, ["-I"]),
        pytest.param(SEARCH, [], marks=pytest.mark.storm),
        pytest.param(IN_A_THREAD, ["-S", "-E"], marks=pytest.mark.storm),
    ],
)
def test_a_program_without_a_guard_is_started_only_once(
    vault: Vault, tmp_path: Path, script: str, flags: list[str]
) -> None:
    texts(vault, 40)
    program = tmp_path / "program.py"
    paths = [path for path in sys.path if path]
    program.write_text(f"import sys\nsys.path += {paths!r}\n{PROGRAM}{script}")

    said = ran([sys.executable, *flags, str(program), str(vault.root)], tmp_path)

    assert said == "started\n40 3 0\n"


# Once: a process looked for its modules in the folder where the user was, so that a vault could bring code of its own.
@pytest.mark.parametrize(
    "name",
    [
        "Stemmer",
        "vault_mind",
        *(pytest.param(n, marks=pytest.mark.storm) for n in ("yaml", "frontmatter", "marshal", "re")),
    ],
)
def test_no_code_in_the_folder_where_one_is_is_run(vault: Vault, write: Write, tmp_path: Path, name: str) -> None:
    texts(vault, 40)
    write(f"{name}.py", f"open({str(tmp_path / 'run')!r}, 'w')\n")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM + SEARCH)
    here = {"PYTHONPATH": str(Path(__file__).parent.parent)}

    said = ran([sys.executable, str(program), str(vault.root)], vault.root, here)

    assert said == "started\n40 3 0\n"
    assert not (tmp_path / "run").exists()


STOPPED = """
import time

def slowly(done, of):
    print("reading", done, of, flush=True)
    time.sleep(float(sys.argv[2]))

try:
    Index(Vault(sys.argv[1])).sync(slowly)
except KeyboardInterrupt:
    print("stopped", flush=True)
"""


def with_words(*words: str) -> list[int]:
    """The processes whose command line holds all of `words`; only where /proc tells."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes().decode(errors="replace")
        except OSError:  # it ended a moment ago
            continue
        if all(word in line for word in words):
            found.append(int(folder.name))
    return found


@pytest.mark.parametrize("count", [1_200, pytest.param(8_000, marks=pytest.mark.storm)])
def test_ctrl_c_in_the_middle_of_a_first_index_leaves_no_process_and_keeps_what_was_read(
    vault: Vault, tmp_path: Path, count: int
) -> None:
    for number in range(count):
        put(vault, f"{number % 5}/{number}.md", f"tea number {number}\n")
    put(vault, "0/broken.md", "---\na: [\n---\ntea\n")
    time.sleep(2.1)  # what is younger is looked at again anyway
    program, mark = tmp_path / "program.py", tmp_path / "mark"
    program.write_text(PROGRAM + STOPPED)
    here = {"PYTHONPATH": os.pathsep.join((str(Path(__file__).parent.parent), str(mark)))}
    command = [sys.executable, str(program), str(vault.root), "0.1"]

    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **here}, process_group=0
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == "started\n"
        while (line := process.stdout.readline()).split()[:1] != ["reading"] or int(line.split()[1]) < count / 3:
            assert line
        assert not Path("/proc").is_dir() or len(with_words(str(mark), "serve()")) == 3
        os.killpg(process.pid, signal.SIGINT)
        said, complaints = process.communicate(timeout=60)

    assert said.endswith("stopped\n")
    assert complaints == ""
    assert with_words(str(mark)) == []
    told: list[tuple[int, int]] = []
    index = Index(vault)
    synced = index.sync(lambda done, of: told.append((done, of)))
    assert 0 < told[-1][1] <= count * 2 / 3 + 2 * CHUNK
    assert [problem.path for problem in synced.news] == ["0/broken.md"]
    assert agrees(index, "tea number 7")
    assert len(list(index.memories())) == count + 1
    index.close()


def test_processes_end_with_the_one_that_started_them(vault: Vault, tmp_path: Path) -> None:
    if not Path("/proc").is_dir():
        pytest.skip("processes are looked for in /proc")
    texts(vault, 1_200)
    program, mark = tmp_path / "program.py", tmp_path / "mark"
    program.write_text(PROGRAM + STOPPED)
    here = {"PYTHONPATH": os.pathsep.join((str(Path(__file__).parent.parent), str(mark)))}
    command = [sys.executable, str(program), str(vault.root), "30"]

    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **here}) as process:
        assert process.stdout
        while not process.stdout.readline().startswith("reading"):
            pass
        process.kill()
    end = time.monotonic() + 10
    while with_words(str(mark)) and time.monotonic() < end:
        time.sleep(0.05)

    assert with_words(str(mark)) == []


def test_two_threads_that_index_at_once_read_all(vault: Vault, processes: list[Any]) -> None:
    texts(vault, 100)
    indexes = [Index(vault) for _ in range(2)]
    seen: list[int] = []

    def search(index: Index) -> None:
        seen.append(len(index.search("tea", 200)))

    threads = [threading.Thread(target=search, args=(index,)) for index in indexes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert seen == [100, 100]
    for index in indexes:
        index.close()

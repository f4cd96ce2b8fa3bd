"""Files read, parsed and analysed into rows: here, or for many files by several processes at once.

A process is started with the interpreter that runs and fed through its pipes, so that no program that
uses the index as a library is started a second time, and no thread of it is forked.
"""

import gc
import marshal
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, NamedTuple, Self

from vault_mind.errors import MemoryNotFoundError, UnreadableError, VaultMindError
from vault_mind.memory import UNREADABLE, Memory
from vault_mind.rows import Row, digest, rows
from vault_mind.vault import Status, Vault

RACY = 2_000_000_000  # ns; a file that was this young when read may have changed within one tick of its clock
MANY = 4_000  # files from which on more processes are worth their start
MOST = 4  # processes
CHUNK = 250  # files that a process is given at a time
TOGETHER = 1_000_000  # characters of texts that are analysed together
RARELY = 100_000  # objects more than before at which Python looks for circles among them
AHEAD = 12  # chunks that each is given before its results are asked for, so that none is idle while we store

_PROGRAM = "import sys; sys.path[:] = sys.argv[1:]; from vault_mind.readers import serve; serve()"


class Task(NamedTuple):
    """Files of one folder to be read: their names, and beside each the hash of what is known of it."""

    folder: str
    names: Sequence[str]
    known: Sequence[bytes]


_Found = tuple[str, bytes, str, Memory | VaultMindError, Status]  # a name, its known hash, and what was read


class Read(NamedTuple):
    """What came of one file.

    `mark` is that of its status, 0 when it has to be looked at again. `row` is None where nothing
    changed, or with `gone`, when there is nothing to read. `problems` are sentences. `stale` says why
    it cannot be read just now, so that what was read before still counts.
    """

    name: str
    mark: int
    gone: bool
    problems: tuple[str, ...]
    row: Row | None
    stale: str | None = None


def read(vault: Vault, task: Task, language: str) -> list[Read]:
    """Do one task."""
    reads: list[Read] = []
    together, size = list[_Found](), 0
    listed = vault.read_listed(task.folder, task.names)
    for name, known, (path, found, status) in zip(task.names, task.known, listed, strict=True):
        together.append((name, known, path, found, status))
        size += len(found.text) if isinstance(found, Memory) else 0
        if size >= TOGETHER:
            reads += _read(together, language)
            together, size = [], 0
    return reads + _read(together, language)


def read_all(vault: Vault, tasks: Sequence[Task], language: str) -> Iterator[tuple[Task, list[Read]]]:
    """Do all `tasks`, in their order."""
    processes = min(os.cpu_count() or 1, MOST)
    if processes > 1 and sum(len(task.names) for task in tasks) >= MANY:
        done = 0
        try:
            for task, reads in _by_processes(vault, tasks, language, processes):
                done += 1
                yield task, reads
        except _WorkerError as error:
            import logging  # late: it hardly ever happens

            logging.getLogger(__name__).info("the rest is read here", exc_info=error)
        tasks = tasks[done:]
    for task in tasks:
        yield task, read(vault, task, language)


def split(folder: str, names: Sequence[str], known: Mapping[str, bytes]) -> Iterator[Task]:
    """The files of one folder as tasks."""
    for start in range(0, len(names), CHUNK):
        part = names[start : start + CHUNK]
        yield Task(folder, part, [known.get(name, b"") for name in part])


def serve() -> None:
    """What a process does: tasks come on standard input, what was read goes to standard output."""
    gc.set_threshold(RARELY)  # nearly all that it makes is gone with the next file, and hardly any in circles
    pipe, out = sys.stdin.buffer, sys.stdout.buffer
    root, language = marshal.load(pipe)  # noqa: S302  # from the process that started this one
    vault = Vault(root)
    while task := marshal.load(pipe):  # noqa: S302  # likewise
        reads = read(vault, Task(*task), language)
        packed = marshal.dumps([(*one[:4], one.row and tuple(one.row), one.stale) for one in reads])
        out.write(len(packed).to_bytes(8, "little") + packed)
        out.flush()


class _WorkerError(Exception):
    """A process could not be started, or ended: the rest is done here."""


def _by_processes(
    vault: Vault, tasks: Sequence[Task], language: str, processes: int
) -> Iterator[tuple[Task, list[Read]]]:
    with ExitStack() as stack:
        stack.callback(gc.set_threshold, *gc.get_threshold())
        gc.set_threshold(RARELY)  # what we are given stays until it is stored, and is nothing to look through
        workers = [stack.enter_context(_Worker(vault, language)) for _ in range(processes)]
        ahead = AHEAD * processes
        for at, task in enumerate(tasks[:ahead]):
            workers[at % processes].give(task)
        for at, task in enumerate(tasks):
            reads = workers[at % processes].take()
            if at + ahead < len(tasks):
                workers[at % processes].give(tasks[at + ahead])
            yield task, reads


class _Worker:
    """One process, and the thread that takes what it writes, so that neither ever waits for the other in vain.

    Everything that goes wrong with it is a _WorkerError.
    """

    def __init__(self, vault: Vault, language: str) -> None:
        import queue  # late: only many files need another process
        import subprocess
        import threading

        # It finds what this process finds, wherever that was imported from, and nothing in the folder that it runs in.
        places = [*filter(None, sys.path), str(Path(__file__).parent.parent)]
        words = [sys.executable or "", "-I", "-c", _PROGRAM, *places]
        quiet: dict[str, Any] = {"stderr": subprocess.DEVNULL, "start_new_session": True}  # Ctrl-C is for us alone
        try:
            self._process = subprocess.Popen(  # noqa: S603  # ourselves
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **quiet
            )
        except OSError as error:
            raise _WorkerError(str(error)) from error
        self._results: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()
        try:
            self._send((str(vault.root), language))
        except _WorkerError:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End it, whatever it is at."""
        self._process.kill()
        self._process.wait()
        self._thread.join()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                pipe.close()  # type: ignore[union-attr]  # both are pipes

    def give(self, task: Task) -> None:
        """Hand it a task."""
        self._send(tuple(task))

    def take(self) -> list[Read]:
        """What came of the task that it was given first."""
        packed = self._results.get()
        if not packed:
            raise _WorkerError(f"it ended with {self._process.wait()}")
        loaded = marshal.loads(packed)  # noqa: S302  # from the process that we started
        return [Read._make((*one[:4], one[4] and Row._make(one[4]), one[5])) for one in loaded]

    def _listen(self) -> None:
        """Hand on what the process writes; at its end, nothing."""
        out: Any = self._process.stdout
        packed = b"-"
        while packed:
            size = int.from_bytes(out.read(8), "little")
            packed = out.read(size)
            self._results.put(packed if len(packed) == size else b"")

    def _send(self, value: Any) -> None:
        pipe: Any = self._process.stdin
        try:
            marshal.dump(value, pipe)
            pipe.flush()
        except OSError as error:
            raise _WorkerError(str(error)) from error


def _read(together: Sequence[_Found], language: str) -> list[Read]:
    """What came of files that were read, in their order."""
    fresh = [
        found
        for _, known, _, found, _ in together
        if isinstance(found, Memory) and not (known and digest(found) == known)
    ]
    made = {memory.path: row for memory, row in zip(fresh, rows(fresh, language), strict=True)}
    return [_came_of(name, path, found, status, made.get(path)) for name, _, path, found, status in together]


def _came_of(name: str, path: str, found: Memory | VaultMindError, status: Status, row: Row | None) -> Read:
    if isinstance(found, MemoryNotFoundError):  # deleted a moment ago
        return Read(name, 0, True, (), None)
    if isinstance(found, UnreadableError) and found.passing:
        stale = f"{UNREADABLE}: {found.why}; this is what it said when it was last read"
        return Read(name, 0, True, (f"{UNREADABLE}: {found.why}",), None, stale)
    if isinstance(found, VaultMindError):
        return Read(name, 0, True, (str(found).removeprefix(f"{path}: "),), None)
    return Read(name, 0 if _is_racy(status) else status.mark, False, found.warnings, row)


def _is_racy(status: Status) -> bool:
    """Whether the file may have changed once more within the same tick of its clock."""
    now = time.time_ns()
    return status.ctime > now - RACY or abs(now - status.mtime) < RACY

"""The command in a process of its own, forked from one that has imported all: what it does, without its start.

A start takes 0.2 s of a processor, and 1.5 with anthropic; that a fresh Python can do it as well is tried by the tests
that start one. Here each command is a process still: its own memory, environment, folder, streams, and end.
"""

import atexit
import gc
import importlib
import json
import os
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path
from typing import Any

PRELOADED = "vault_mind.cli vault_mind.cli_history vault_mind.repl vault_mind.retelling vault_mind.trials".split()
PRELOADED += (
    "vault_mind.worst anthropic rich.console tantivy re2 yaml sqlite3 filelock pathspec watchdog.events".split()
)
POSSIBLE = hasattr(os, "fork") and hasattr(os, "pidfd_open")  # Linux
# What a Python reads before it runs anything cannot be given to one that runs already.
TOO_LATE = ("PYTHON", "LC_", "LANG")


def takes(env: Mapping[str, str]) -> bool:
    """Whether a command with this environment on top of that of the tests may be forked."""
    return POSSIBLE and not any(name.startswith(TOO_LATE) for name in env)


class Warm:
    """The process that commands are forked from; it is started by the first of them."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            command = [sys.executable, "-m", "tests.warm", str(theirs.fileno())]
            root = Path(__file__).parent.parent
            self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()], cwd=root, start_new_session=True)
        self._socket = ours

    def start(
        self, words: Sequence[str], cwd: Path, env: Mapping[str, str], streams: Sequence[int], *, apart: bool = False
    ) -> "Started":
        """Start `vault-mind WORDS` on three streams, which it closes here; `apart`: in a session of its own."""
        ours, theirs = socket.socketpair()
        order = {"words": list(words), "cwd": str(cwd), "env": dict(env), "apart": apart}
        ours.sendall(json.dumps(order).encode() + b"\n")
        with theirs:
            socket.send_fds(self._socket, [b"!"], [*streams, theirs.fileno()])
        for handle in set(streams):
            os.close(handle)
        return Started(ours)

    def run(
        self, words: Sequence[str], cwd: Path, env: Mapping[str, str], given: bytes | None, seconds: float
    ) -> tuple[int, bytes, bytes]:
        """Exit code, stdout and stderr of `vault-mind WORDS`. Raises TimeoutExpired."""
        stdin, feed = os.pipe() if given is not None else (os.open(os.devnull, os.O_RDONLY), -1)
        (out, to_out), (err, to_err) = os.pipe(), os.pipe()
        started = self.start(words, cwd, env, (stdin, to_out, to_err))
        outputs = {out: b"", err: b""}
        threads = [threading.Thread(target=_drain, args=(handle, outputs)) for handle in outputs]
        if given is not None:
            threads.append(threading.Thread(target=_feed, args=(feed, given)))
        for thread in threads:
            thread.start()
        try:
            code = started.wait(seconds)
        finally:
            for thread in threads:
                thread.join(seconds)
        return code, outputs[out], outputs[err]

    def close(self) -> None:
        """End it."""
        self._socket.close()
        self._process.wait(30)


class Started:
    """A command that was started: its process, and how it ends."""

    def __init__(self, told: socket.socket) -> None:
        self._told = told.makefile("rb")
        told.close()
        self.pid = int(self._told.readline())

    def wait(self, seconds: float) -> int:
        """Its exit code, less than 0 for a signal. Raises TimeoutExpired, and then it is killed."""
        bell = threading.Timer(seconds, os.kill, (self.pid, signal.SIGKILL))
        bell.start()
        with self._told:
            code = int(self._told.readline())
        if not bell.is_alive():
            raise subprocess.TimeoutExpired("vault-mind", seconds)
        bell.cancel()
        return code


def _drain(handle: int, outputs: dict[int, bytes]) -> None:
    with os.fdopen(handle, "rb") as stream:
        outputs[handle] = stream.read()


def _feed(handle: int, given: bytes) -> None:
    with suppress(BrokenPipeError), os.fdopen(handle, "wb") as stream:  # it may read none of it
        stream.write(given)


def _serve(door: socket.socket) -> dict[str, Any] | None:
    """Fork a child for each request; in a child, what is asked of it. None at the end."""
    watched = selectors.DefaultSelector()
    watched.register(door, selectors.EVENT_READ)
    while True:
        for key, _ in watched.select():
            if key.fileobj is not door:
                pid, told = key.data
                code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
                watched.unregister(key.fd)
                os.close(key.fd)
                with told:
                    told.sendall(b"%d\n" % code)
                continue
            said, handles, _, _ = socket.recv_fds(door, 1, 4)
            if not said:
                return None
            told = socket.socket(fileno=handles.pop())
            pid = os.fork()
            if not pid:
                watched.close()
                door.close()
                return _clothed(handles, told)
            for handle in handles:
                os.close(handle)
            told.sendall(b"%d\n" % pid)
            watched.register(os.pidfd_open(pid), selectors.EVENT_READ, (pid, told))


def _clothed(handles: list[int], told: socket.socket) -> dict[str, Any]:
    """Be the process that is asked for: its streams, folder and environment."""
    with told, told.makefile("rb") as line:
        asked: dict[str, Any] = json.loads(line.readline())
    if asked["apart"]:
        os.setsid()
    for to, handle in enumerate(handles):
        os.dup2(handle, to)
        os.close(handle)
    os.environ.clear()
    os.environ.update(asked["env"])
    time.tzset()
    os.chdir(str(asked["cwd"]))
    sys.path[0] = str(asked["cwd"])
    modes = {"stdin": "r", "stdout": "w", "stderr": "w"}
    for to, (name, mode) in enumerate(modes.items()):
        known = getattr(sys, name)
        stream = open(to, mode, encoding=known.encoding, errors=known.errors, newline="\n", closefd=False)  # noqa: SIM115
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(line_buffering=name == "stderr" or stream.isatty())
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    return asked


def _leave(ending: list[object]) -> None:
    """End now: taking apart all that was imported, as a Python does that ends, takes longer than the command."""
    code = ending[-1] if ending else None
    if isinstance(code, int):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    for module in PRELOADED:
        importlib.import_module(module)
    gc.collect()
    gc.freeze()  # so that no child looks through all of this, and copies it by doing so
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    order = _serve(socket.socket(fileno=int(sys.argv[1])))
    if order:
        sys.argv = ["vault_mind", *order["words"]]
        codes: list[object] = []
        atexit.register(_leave, codes)  # the first to come is the last to go: after threads and whatever is to be done
        try:
            runpy.run_module("vault_mind", run_name="__main__", alter_sys=True)
        except SystemExit as error:
            codes.append(error.code or 0)
            raise

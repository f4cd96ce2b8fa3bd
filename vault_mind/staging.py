"""Indexes, read and written: those that a version is made in, and the user's own, locked as git locks it."""

import os
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from vault_mind.errors import NotCommittedError
from vault_mind.errors import _told as told
from vault_mind.history import STALE, Entry, History, merged

LOCKED = 10.0  # seconds that a lock of the user's git, or of another of ours, is waited for

_EMPTY = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"  # the blob of no bytes, which `git add -N` stages
_REPOSITORY_WORDS = ("object database", "No space", "nable to write", "insufficient permission", "nable to create")

Changed = Mapping[str, tuple[Entry | None, Entry | None]]  # by path, before and after


def listed(history: History, index: Mapping[str, str], paths: Sequence[str]) -> dict[str, Entry]:
    """The entries of an index for those of `paths` that it holds. Raises NotCommittedError when one is in conflict."""
    found: dict[str, Entry] = {}
    wanted, torn = set(paths), set()
    for start in range(0, len(paths), 1_000):  # a command line is not endless
        names = [history.in_repository(path) for path in paths[start : start + 1_000]]
        out = history.ask("ls-files", "--stage", "-z", "--full-name", "--", *names, extra=index)
        for line in out.split(b"\0"):
            facts, _, name = os.fsdecode(line).partition("\t")
            path = history.in_vault(name) if line else None
            if path in wanted and path is not None:  # a folder of such a name gives all that is in it
                mode, blob, stage = facts.split()
                found[path] = (mode, blob)
                if stage != "0":
                    torn.add(told(path))
    if torn:
        raise NotCommittedError(f"{', '.join(sorted(torn))} is in conflict; edit it, then git add it", every=False)
    return found


def stored_in(history: History, index: Mapping[str, str], paths: Sequence[str]) -> dict[str, str]:
    """Put `paths` into an index as they are on disk; of each that git refuses, why."""

    def stored(some: Sequence[str]) -> str:
        given = b"".join(os.fsencode(history.in_repository(path)) + b"\0" for path in some)
        code, _, err = history.run("update-index", "--add", "--remove", "-z", "--stdin", given=given, extra=index)
        said = err.decode("utf-8", "replace").strip()
        if code and any(word in said for word in _REPOSITORY_WORDS):
            raise NotCommittedError(f"git cannot write into its repository ({said.splitlines()[-1]})")
        return said if code else ""

    if not paths or not stored(paths):
        return {}
    said = {path: stored([path]) for path in paths}  # one bad path costs only itself
    return {path: f"{told(path)} is saved and not in git: {why.splitlines()[0]}" for path, why in said.items() if why}


def put(history: History, index: Mapping[str, str], entries: Mapping[str, Entry | None]) -> None:
    """Put entries into an index, or (None) take them out."""
    lines = []
    nothing = "0" * 40
    if None in entries.values() and history.ask("rev-parse", "--show-object-format").strip() == b"sha256":
        nothing = "0" * 64
    for path, entry in entries.items():
        mode, blob = entry or ("0", nothing)
        lines.append(f"{mode} {blob}\t".encode() + os.fsencode(history.in_repository(path)))
    if lines:
        history.ask("update-index", "-z", "--index-info", given=b"\0".join(lines) + b"\0", extra=index)


def follow(history: History, index: Mapping[str, str], entries: Changed) -> None:
    """Bring our entries of an index from the old version to the new, keeping what its owner staged.

    Raises NotCommittedError when one is in conflict.
    """
    staged = listed(history, index, list(entries))
    changed: dict[str, Entry | None] = {}
    for path, (old, new) in entries.items():
        now = staged.get(path)
        if now == new:
            continue
        if now == old or (old is None and now is not None and now[1] == _EMPTY):
            changed[path] = new
        elif now is not None and old is not None and new is not None:
            # They staged something else of this file: what they staged is carried over to the new version. Where both
            # touch the same lines their entry stays as it was.
            both = merged(history.blob(now[1]), history.blob(old[1]), history.blob(new[1]))
            if both is not None:
                changed[path] = (now[0], history.keep(both))
    put(history, index, changed)


@contextmanager
def held(history: History) -> Iterator[Path]:
    """Hold the index as git does, so that no other git changes it, and give its path. Raises NotCommittedError."""
    lock = history.place().git_dir / "index.lock"
    ours = f"vault-mind {socket.gethostname()} {os.getpid()}\n".encode()
    until = time.monotonic() + LOCKED
    while True:
        await_lock(history)
        try:
            handle = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            break
        except FileExistsError:
            if time.monotonic() > until:
                raise NotCommittedError(lock_told(history, history.lock_age() or 0.0)) from None
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            raise NotCommittedError(f"the repository cannot be written ({lock}: {why})") from error
    try:
        with os.fdopen(handle, "wb") as file, suppress(OSError):
            file.write(ours)
        yield lock.with_name("index")
    finally:
        lock.unlink(missing_ok=True)


def await_lock(history: History) -> None:
    """Wait until the index is free; of one of ours that was killed, take the lock away. Raises NotCommittedError."""
    until = time.monotonic() + LOCKED
    while (age := history.lock_age()) is not None:
        lock = history.place().git_dir / "index.lock"
        if _ours_and_dead(lock):
            lock.unlink(missing_ok=True)
            continue
        if age >= STALE or time.monotonic() > until:
            raise NotCommittedError(lock_told(history, age))
        time.sleep(0.05)


def _ours_and_dead(lock: Path) -> bool:
    try:
        words = lock.read_bytes()[:500].split()
        if os.name == "nt" or len(words) != 3 or words[0] != b"vault-mind" or words[1] != socket.gethostname().encode():
            return False
        os.kill(int(words[2]), 0)
    except ProcessLookupError:
        return True
    except (OSError, ValueError):
        return False
    return False


def lock_told(history: History, age: float) -> str:
    """Who holds the index, as far as it can be told, and what to do."""
    lock = history.place().git_dir / "index.lock"
    if age < STALE:
        return f"another git is at work in the repository (it holds {lock})"
    since = f"{age / 3600:.0f} hours" if age >= 7200 else f"{age / 60:.0f} minutes"
    return f"a lock has been held for {since}; if no git is at work, remove {lock}"

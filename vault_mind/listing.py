"""Folders listed: the names of plain memories, and beside each a mark that changes with the file.

Run as a script it lists folders for another process, so that two look through a large vault at once;
for that it imports next to nothing.
"""

import marshal
import os
import sys
from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

MANY = 600_000  # bytes of listings, some 25,000 files, from which on a second process is worth its start

Plain = tuple[bytes, list[str]]


def packed(names: Sequence[str], marks: Sequence[int]) -> bytes:
    """A listing as bytes, which are the same for the same listing."""
    return array("q", (len(marks), *marks)).tobytes() + "\0".join(names).encode()


def unpacked(listing: bytes) -> dict[str, int]:
    """The marks by name. Raises ValueError or IndexError for what `packed` did not give."""
    count = array("q", listing[:8])[0] if listing else 0
    marks = array("q", listing[8 : 8 + 8 * count])
    names = listing[8 + 8 * count :].decode().split("\0") if count else []
    return dict(zip(names, marks, strict=True))


def plain(folder: str) -> Plain | None:
    """The listing of `folder`, and the folders in it; None where anything needs a closer look."""
    names: list[str] = []
    marks: list[int] = []
    inner: list[str] = []
    try:
        handle = os.open(folder, os.O_RDONLY)
        try:
            with os.scandir(handle) as entries:
                for entry in entries:
                    name = entry.name
                    if name[0] == ".":
                        continue
                    if name[-3:] == ".md" and name.isascii() and entry.is_file(follow_symlinks=False):
                        names.append(name)
                        status = entry.stat(follow_symlinks=False)
                        # The mark, as `vault.Status` has it; a call for each file would be felt.
                        marks.append(hash((status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)))
                    elif not name.isascii() or entry.is_symlink() or name[-3:].lower() == ".md":
                        return None
                    elif entry.is_dir(follow_symlinks=False):
                        inner.append(name)
        finally:
            os.close(handle)
    except OSError:
        return None
    return packed(names, marks), inner


class Second:
    """Another process at work on half of the folders of `known`: those that are `given` to it."""

    def __init__(self, root: str, known: Mapping[str, bytes]) -> None:
        import subprocess  # late: only a large vault needs it

        self.given = frozenset(_half(known))
        words = [sys.executable, "-I", "-S", __file__]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(  # noqa: S603  # ourselves
            words, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, start_new_session=True
        )
        self._out: Any = self._process.stdout
        into: Any = self._process.stdin
        try:
            with into:
                marshal.dump((root, list(self.given)), into)
        except OSError:  # it ended at once; we do all ourselves
            self._process.kill()

    def listings(self) -> dict[str, Plain]:
        """What it found; nothing when it failed."""
        told = self._out.read()
        ended = self._process.wait()
        try:
            return dict(marshal.loads(told)) if ended == 0 else {}  # noqa: S302  # from the process that we started
        except (EOFError, ValueError, TypeError):
            return {}

    def close(self) -> None:
        """Let go of it, whether or not it is done."""
        self._process.kill()
        self._process.wait()
        self._out.close()


def second(root: str, known: Mapping[str, bytes]) -> Second | None:
    """Another process that helps to list the folders of `known`; None where it does not pay or cannot be started."""
    if sum(map(len, known.values())) < MANY or len(known) < 4 or os.scandir not in os.supports_fd:
        return None
    if (os.cpu_count() or 1) < 2:
        return None
    try:
        return Second(root, known)
    except OSError:
        return None


def _half(known: Mapping[str, bytes]) -> Iterable[str]:
    """Folders that hold about half of all that is listed; not the topmost, which leads to all others."""
    left = sum(map(len, known.values())) // 2
    for folder, listing in known.items():
        if left <= 0:
            return
        if folder:
            left -= len(listing)
            yield folder


def _serve() -> None:
    root, folders = marshal.load(sys.stdin.buffer)  # noqa: S302  # from the process that started this one
    found = {folder: plain(os.path.join(root, folder)) for folder in folders}  # noqa: PTH118  # pathlib is slow to load
    marshal.dump({folder: one for folder, one in found.items() if one}, sys.stdout.buffer)


if __name__ == "__main__":
    _serve()

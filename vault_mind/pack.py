"""The texts of all memories in one file, one after the other, so that a regex runs over them without opening any.

Each text is followed by one line's end, which belongs to none of them. The file only grows; what was
replaced stays as dead bytes until the index is made anew, so that readers keep what they mapped.
"""

import mmap
import os
from collections.abc import Iterable
from itertools import accumulate
from pathlib import Path
from typing import IO

_END = ord("\n")


class PackError(Exception):
    """The file does not hold what was put into it."""


class Pack:
    """One such file. Not safe for two writers at once: the index's lock keeps them apart."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._mapped: mmap.mmap | bytes = b""

    @classmethod
    def make(cls, file: Path) -> None:
        """An empty one, for its owner alone."""
        os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))

    def append(self, texts: Iterable[bytes]) -> list[int]:
        """Put `texts` at the end and give where each begins, in bytes; when it returns they are on disk."""
        starts = self.add(texts)
        if starts:
            self.flush()
        return starts

    def add(self, texts: Iterable[bytes]) -> list[int]:
        """As `append`, but only `flush` puts them on disk."""
        held = list(texts)
        if not held:
            return []
        with self._file.open("a+b") as file:
            first = file.seek(0, os.SEEK_END)
            if first and not self._ended(file):  # a crash left half a text: the next begins a line of its own
                first += file.write(b"\n")
            file.write(b"\n".join((*held, b"")))
        return list(accumulate((len(text) + 1 for text in held[:-1]), initial=first))

    @staticmethod
    def _ended(file: IO[bytes]) -> bool:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"

    def flush(self) -> None:
        """Put on disk whatever was added."""
        with self._file.open("r+b") as file:
            os.fsync(file.fileno())

    def text(self, start: int, size: int) -> str:
        """The text of `size` bytes that begins at `start`. Raises PackError when there is none."""
        end = start + size
        view = self._mapped if end < len(self._mapped) else self.view(end + 1)
        if not 0 <= start <= end or view[end] != _END:
            raise PackError("a text does not end where it should")
        try:
            return str(view[start:end], "utf-8")
        except UnicodeDecodeError as error:
            raise PackError(str(error)) from error

    def data(self, start: int, size: int) -> bytes:
        """The text as bytes, whether or not they are one. Raises PackError when it does not end there."""
        end = start + size + 1
        view = self._mapped if end <= len(self._mapped) else self.view(end)
        data = view[start:end]
        if data[-1:] != b"\n":
            raise PackError("a text does not end where it should")
        return data[:-1]

    def view(self, least: int = 0) -> mmap.mmap | bytes:
        """All of it, mapped; at least `least` bytes. Raises PackError when it holds fewer."""
        if len(self._mapped) < max(least, 1):
            self._map()
        if len(self._mapped) < least:
            raise PackError(f"it holds {len(self._mapped)} bytes of {least}")
        return self._mapped

    def size(self) -> int:
        """Bytes, the dead ones among them."""
        return self._file.stat().st_size

    def close(self) -> None:
        """Let go of the file."""
        if isinstance(self._mapped, mmap.mmap):
            self._mapped.close()
        self._mapped = b""

    def _map(self) -> None:
        self.close()
        with self._file.open("rb") as file:
            if os.fstat(file.fileno()).st_size:  # an empty file cannot be mapped
                self._mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

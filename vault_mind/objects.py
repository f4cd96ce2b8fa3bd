"""git's objects in bulk: each one of a repository, reachable or not, and new ones written as one pack."""

import hashlib
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import Popen
from tempfile import TemporaryFile
from typing import TypeAlias

from vault_mind import git
from vault_mind.errors import GitError

PLAIN = {"GIT_NO_REPLACE_OBJECTS": "1"}  # an object is what it is, not what refs/replace puts in its place
TREE = b"40000"
_NUMBERS = {"commit": 1, "tree": 2, "blob": 3, "tag": 4}
_MINUTES = 30  # that a pack may take


Entry: TypeAlias = tuple[bytes, bytes, bytes]  # a line of a tree: mode, name, id as raw bytes


class Objects:
    """The objects of the repository at `folder`, one after the other, each by its id in hex."""

    def __init__(self, folder: Path, talk: "Popen[bytes]", algorithm: str) -> None:
        self.folder = folder
        self.algorithm = algorithm
        self.width = hashlib.new(algorithm).digest_size
        self._talk = talk
        self._entry = re.compile(rb"([0-7]+) ([^\0]+)\0(.{%d})" % self.width, re.DOTALL)

    def read(self, name: str) -> tuple[str, bytes] | None:
        """Type and bytes of an object; None when there is none of that id."""
        reading, writing = self._talk.stdout, self._talk.stdin
        assert reading and writing  # noqa: S101  # they are pipes
        writing.write(name.encode() + b"\n")
        writing.flush()
        return _next(reading, "cat-file")

    def entries(self, tree: bytes) -> list[Entry]:
        """The lines of a tree."""
        return self._entry.findall(tree)

    def id(self, kind: str, data: bytes) -> str:
        """The id that git gives such an object."""
        return hashlib.new(self.algorithm, b"%s %d\0" % (kind.encode(), len(data)) + data).hexdigest()

    def every(self) -> Iterator[tuple[str, str, bytes]]:
        """Id, type and bytes of each object there is, packed, loose, reachable or not, in no order."""
        words = ("cat-file", "--batch-all-objects", "--batch", "--unordered")
        with git.talking(self.folder, *words, extra=PLAIN) as process:
            assert process.stdin and process.stdout  # noqa: S101  # they are pipes
            process.stdin.close()
            while head := process.stdout.readline():
                name, kind, size = head.decode().split()
                yield name, kind, _body(process.stdout, int(size))


@contextmanager
def opened(folder: Path) -> Iterator[Objects]:
    """The objects of the repository around `folder`."""
    code, out, _ = git.run(folder, "rev-parse", "--show-object-format")
    said = out.decode().strip()
    algorithm = said if code == 0 and said in ("sha1", "sha256") else "sha1"  # git before 2.25 knew but one
    with git.talking(folder, "cat-file", "--batch", extra=PLAIN) as process:
        yield Objects(folder, process, algorithm)


def tree(entries: Iterable[Entry]) -> bytes:
    """The bytes of a tree, its lines in git's order: a folder as if its name ended with a slash."""
    ordered = sorted(entries, key=_place)
    return b"".join(b"%s %s\0%s" % entry for entry in ordered)


def _place(entry: Entry) -> bytes:
    return entry[1] + b"/" if entry[0] == TREE else entry[1]


class Pack:
    """New objects, set aside until they are all there. Nothing of it is seen before `store`."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._file = TemporaryFile()  # noqa: SIM115  # closed by close
        self._added: set[str] = set()

    def __len__(self) -> int:
        """How many."""
        return len(self._added)

    def add(self, kind: str, data: bytes) -> str:
        """Set an object aside; its id."""
        name = self._objects.id(kind, data)
        if name not in self._added:
            self._added.add(name)
            self._file.write(_head(_NUMBERS[kind], len(data)) + zlib.compress(data, 1))
        return name

    def store(self) -> None:
        """Give them to git, which looks at each and puts them all into one pack. Raises GitError."""
        if not self._added:
            return
        check = hashlib.new(self._objects.algorithm)
        with git.talking(self._objects.folder, "index-pack", "--stdin", extra=PLAIN) as process:
            assert process.stdin and process.stdout  # noqa: S101  # they are pipes
            self._file.seek(0)
            piece = b"PACK" + (2).to_bytes(4, "big") + len(self._added).to_bytes(4, "big")
            while piece:
                check.update(piece)
                process.stdin.write(piece)
                piece = self._file.read(1 << 20)
            process.stdin.write(check.digest())
            process.stdin.close()
            process.stdout.read()
            process.wait(_MINUTES * 60)

    def close(self) -> None:
        """Let go of what was set aside."""
        self._file.close()


def _head(number: int, size: int) -> bytes:
    """How an object begins in a pack: its type and its size, seven bits a byte."""
    byte, size = number << 4 | size & 15, size >> 4
    head = bytearray()
    while size:
        head.append(byte | 128)
        byte, size = size & 127, size >> 7
    head.append(byte)
    return bytes(head)


def _next(pipe: object, question: str) -> tuple[str, bytes] | None:
    head: list[str] = pipe.readline().decode().split()  # type: ignore[attr-defined]
    if len(head) != 3:
        if head[1:] == ["missing"]:
            return None
        raise GitError(question, "it ended in the middle" if not head else " ".join(head))
    return head[1], _body(pipe, int(head[2]))


def _body(pipe: object, size: int) -> bytes:
    data: bytes = pipe.read(size + 1)  # type: ignore[attr-defined]
    if len(data) != size + 1:
        raise GitError("cat-file", "it ended in the middle")
    return data[:-1]

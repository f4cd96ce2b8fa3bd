"""Promise 1 tried on a vault of one's own: in a copy, every file is changed and changed back, byte by byte."""

import os
import re
import shutil
import stat
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from vault_mind.config import VAULT_FILE, state_folder
from vault_mind.errors import (
    MemoryChangedError,
    PathRefusedError,
    UnreadableError,
    UnsafeChangeError,
    VaultMindError,
    WriteFailedError,
)
from vault_mind.files import read_regular
from vault_mind.frontmatter import FrontmatterError, load
from vault_mind.index import Index
from vault_mind.memory import Memory
from vault_mind.regex import Pattern
from vault_mind.vault import Vault

NEW_KEY = "vault-mind-trial"
NEW_VALUE = "tried: \"yes\" # and 'no'"
NEW_LINE = "A line that vault-mind tries to append."
MOST_KEYS = 12  # of one file that are changed; a frontmatter of a thousand keys says nothing more
QUERIES = 20  # searches in the copy
EVERY = 20  # files between two words on how far we are

_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_KEY_LINE = re.compile(
    rb""" *("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s#"'\[\]{},&*!|>%@`-][^\r\n]*?|-[^\s][^\r\n]*?)"""
    rb"""[ \t]*:(?=[ \t\r\n]|$)"""
)
_COMMENT = re.compile(rb"""[ \t]#[^"'\r\n]*(?=[\r\n]|$)""")
_BOM = b"\xef\xbb\xbf"
_ENDS = (b"\n", b"\r\n")

Progress = Callable[[str, int, int], None]
Judge = Callable[[bytes], int]


@dataclass(frozen=True)
class Refused:
    """A change that was not made, and why; the file was left as it was."""

    path: str
    what: str
    why: str


@dataclass(frozen=True)
class Difference:
    """Bytes of one file that differed although nobody meant them to: how many, and after what."""

    path: str
    what: str
    bytes: int


@dataclass(frozen=True)
class Proof:
    """What came of it: files tried, changes made and taken back, what was refused, what differed.

    `touched` are files of the vault itself that are not as they were, which should be none.
    """

    files: int
    changes: int
    refused: tuple[Refused, ...]
    differences: tuple[Difference, ...]
    touched: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether the promise was kept."""
        return not self.differences and not self.touched


class _Print(NamedTuple):
    """What tells one state of a file from another: its status, and of what we read the hash too. Times in ns."""

    mtime: int
    size: int
    mode: int
    hash: bytes


def prove(vault: Vault, language: str = "english", progress: Progress | None = None) -> Proof:
    """Try the promise on a private copy of `vault`, which is gone afterwards, and look that the vault stayed the same.

    Raises WriteFailedError when there is no room for a copy.
    """
    tell = progress or _quiet
    before = _prints(vault.root)
    refused: list[Refused] = []
    differences: list[Difference] = []
    with _copied(vault, refused, tell) as (copy, folder):
        differences += _looked_at(copy, folder / "index", language, tell)
        trial = Trial(folder / "trial")
        try:
            paths = sorted(copy.walk().files)
            for done, path in enumerate(paths):
                if done % EVERY == 0:
                    tell("trying", done, len(paths))
                mode = (copy.root / path).stat().st_mode & 0o777
                trial.put(path, read_regular(copy.root / path, limit=None)[0], mode)
        finally:
            shutil.rmtree(state_folder(trial.vault.root), ignore_errors=True)
    after = _prints(vault.root)
    touched = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    return Proof(
        len(paths), trial.changes, (*refused, *trial.refused), (*differences, *trial.differences), tuple(touched)
    )


class Trial:
    """A vault in `folder`, made for it, in which one file at a time is changed and changed back."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.vault = Vault(folder)
        self.changes = 0
        self.refused: list[Refused] = []
        self.differences: list[Difference] = []

    def put(self, path: str, data: bytes, mode: int = 0o600) -> None:
        """Try every change on a file that holds `data`; what came of it is added to the lists."""
        file = self.vault.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            file.write_bytes(data)
            file.chmod(mode)
            self._try(path, file, data)
        finally:
            shutil.rmtree(self.vault.root / path.split("/")[0], ignore_errors=True)
            file.unlink(missing_ok=True)

    def _try(self, path: str, file: Path, data: bytes) -> None:
        try:
            memory = self.vault.read(path)
        except VaultMindError as error:
            self.refused.append(Refused(path, "reading it", _why(error)))
            return
        for key in (NEW_KEY, *list(memory.frontmatter)[:MOST_KEYS]):
            self._key(file, memory, key, data)
        self._body(file, memory, data)

    def _key(self, file: Path, memory: Memory, key: str, data: bytes) -> None:
        """Set a key, then take it out or set it back."""
        old = memory.frontmatter.get(key)
        new = old is None
        what = f"adding the key {key}" if new else f"changing the key {key}"
        value: str | Sequence[str] = NEW_VALUE
        back: str | Sequence[str] | None = old if isinstance(old, str) else None
        if isinstance(old, list):
            back = [item for item in old if isinstance(item, str)]
            value = [*back, NEW_VALUE]
        keys = memory.frontmatter
        changed = self._changed(file, memory, what, {key: value}, None, lambda now: _beside_key(data, now, key, keys))
        if changed:
            # A key that was there is written our way when it is set back; all around it is still the user's.
            judge = (lambda now: _without_key(data, now)) if new else (lambda now: _beside_key(data, now, key, keys))
            self._changed(file, changed, f"{what} and back", {key: back}, None, judge)
        _restore(file, data)

    def _body(self, file: Path, memory: Memory, data: bytes) -> None:
        """Append a line to the body, then take it away."""
        longer = f"{memory.body}\n{NEW_LINE}" if memory.body else NEW_LINE
        what = "appending a line"
        changed = self._changed(file, memory, what, {}, longer, lambda now: _beside_line(data, now))
        if changed:
            self._changed(file, changed, f"{what} and back", {}, memory.body, lambda now: _without_line(data, now))
        _restore(file, data)

    def _changed(
        self,
        file: Path,
        memory: Memory,
        what: str,
        keys: Mapping[str, str | Sequence[str] | None],
        body: str | None,
        judge: Judge,
    ) -> Memory | None:
        """The memory once it is changed, the real way, and judged; None when that is refused."""
        before = file.read_bytes()
        changed: Memory | None = None
        try:
            changed = self.vault.change(memory, keys, body=body)
            self.changes += 1
        except (UnsafeChangeError, PathRefusedError, MemoryChangedError) as error:
            self.refused.append(Refused(memory.path, what, _why(error)))
        now = file.read_bytes()
        if changed is None:
            count = _all_of(*_middles(before, now))
            what = f"refusing: {what}"
        else:
            count = judge(now) if changed.text.encode() == now else len(now)
        if count:
            self.differences.append(Difference(memory.path, what, count))
        left = [each.name for each in file.parent.iterdir() if each.name != file.name]
        self.differences += [Difference(memory.path, f"{what}: {name} was left beside it", 1) for name in left]
        return changed


@contextmanager
def _copied(vault: Vault, refused: list[Refused], tell: Progress) -> Iterator[tuple[Vault, Path]]:
    """A copy of all memories, and the private folder that it is in; both are gone afterwards, whatever happens."""
    walk = vault.walk()
    refused += [Refused(problem.path, "reading it", problem.what) for problem in walk.problems]
    with TemporaryDirectory(prefix="vault-mind-roundtrip-") as name:
        folder = Path(name)
        root = folder / "vault"
        try:
            root.mkdir()
            for done, path in enumerate(sorted(walk.files)):
                if done % EVERY == 0:
                    tell("copying", done, len(walk.files))
                _copy(vault.root / path, root / path, path, refused)
        except OSError as error:
            raise WriteFailedError(name, (error.strerror or str(error)).lower()) from error
        yield Vault(root), folder


def _copy(file: Path, target: Path, path: str, refused: list[Refused]) -> None:
    try:
        data, status = read_regular(file, limit=None)
    except UnreadableError as error:
        if os.path.lexists(file):  # else it was deleted a moment ago
            refused.append(Refused(path, "reading it", error.why))
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)
    target.chmod(stat.S_IMODE(status.st_mode) | 0o400)
    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))


def _looked_at(copy: Vault, folder: Path, language: str, tell: Progress) -> list[Difference]:
    """What reading, indexing and searching changed in the copy."""
    before = _prints(copy.root)
    index = Index(copy, language=language, folder=folder)
    try:
        index.sync(lambda done, of: tell("indexing", done, of))
        memories = list(before)
        for path in memories[:: len(memories) // QUERIES + 1]:
            index.ranked(path.rpartition("/")[2].removesuffix(".md"), 5)
        for _ in index.grepped(Pattern([r"e\b"])):
            pass
    finally:
        index.close()
    after = _prints(copy.root)
    changed = [path for path in before.keys() | after.keys() if before.get(path) != after.get(path)]
    return [Difference(path, "reading, indexing, searching", _size(before, after, path)) for path in sorted(changed)]


def _size(before: Mapping[str, _Print], after: Mapping[str, _Print], path: str) -> int:
    return max((prints[path].size for prints in (before, after) if path in prints), default=0)


def _prints(root: Path) -> dict[str, _Print]:
    """Every file below `root` but those in dot-folders; what vault-mind reads is hashed."""
    found: dict[str, _Print] = {}
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in names:
            file = Path(folder, name)
            try:
                status = file.lstat()
                read = stat.S_ISREG(status.st_mode) and (name.lower().endswith(".md") or name == VAULT_FILE)
                hashed = _hash(file) if read else b""
            except OSError:  # deleted while we looked, or not ours to read
                continue
            path = ascii(str(file.relative_to(root)))[1:-1]
            found[path] = _Print(status.st_mtime_ns, status.st_size, status.st_mode, hashed)
    return found


def _hash(file: Path) -> bytes:
    with file.open("rb") as opened:
        return file_digest(opened, "blake2b").digest()


def _quiet(_doing: str, _done: int, _of: int) -> None:
    """Progress that nobody wants to hear of."""


def _why(error: VaultMindError) -> str:
    return str(getattr(error, "why", error))


def _restore(file: Path, data: bytes) -> None:
    """Put the file back; where it is as it should be, it is left alone."""
    if file.read_bytes() != data:
        file.write_bytes(data)


# --- what may differ, told from the bytes alone ---------------------------------------------------


def _middles(old: bytes, new: bytes) -> tuple[list[bytes], list[bytes]]:
    """The lines of both without those that both begin and end with."""
    start, stop, ours, theirs = _trimmed(old, new)
    return ours[start : len(ours) - stop], theirs[start : len(theirs) - stop]


def _trimmed(old: bytes, new: bytes) -> tuple[int, int, list[bytes], list[bytes]]:
    """How many lines both begin with, and end with; and the lines."""
    ours, theirs = _LINE.findall(old), _LINE.findall(new)
    shorter = min(len(ours), len(theirs))
    start = next((i for i in range(shorter) if ours[i] != theirs[i]), shorter)
    stop = next((i for i in range(shorter - start) if ours[-1 - i] != theirs[-1 - i]), shorter - start)
    return start, stop, ours, theirs


def _all_of(old: Sequence[bytes], new: Sequence[bytes]) -> int:
    """Bytes that are in the one or in the other."""
    return sum(map(len, (*old, *new)))


def _beside_key(data: bytes, now: bytes, key: str, keys: Collection[str]) -> int:
    """Bytes that differ and do not belong to `key`; `keys` are those that the frontmatter had."""
    if data.startswith(_BOM) != now.startswith(_BOM):
        return len(_BOM)
    bare = data.removeprefix(_BOM)
    start, stop, ours, theirs = _trimmed(bare, now.removeprefix(_BOM))
    old, new = ours[start : len(ours) - stop], theirs[start : len(theirs) - stop]
    if key not in keys:
        if not _fenced(bare) and [line.rstrip() for line in (*new[:1], *new[2:])] == [b"---", b"---"]:
            new = new[1:2]
        return 0 if not old and [_named(line) for line in new] == [key] else _all_of(old, new)
    block = ours[1 : next((n for n, line in enumerate(ours) if n and line.rstrip() == b"---"), len(ours))]
    if key not in map(_named, block):  # written in a way that lines do not show
        return sum(map(len, _not_of((*old, *new), key, keys, key, 0)))
    indent = next(_indent(line) for line in block if _named(line) in keys)
    own = [line for line in reversed(ours[:start]) if _indent(line) == indent and _named(line) in keys]
    owner = _named(own[0]) if own else None
    strange = [line for lines in (old, new) for line in _not_of(lines, key, keys, owner, indent)]
    if old and new and (_ending(old[-1]) != _ending(new[-1]) or _comment(old[-1]) not in new[-1]):
        strange += [old[-1], new[-1]]
    return sum(map(len, strange))


def _not_of(lines: Sequence[bytes], key: str, keys: Collection[str], owner: str | None, indent: int) -> list[bytes]:
    """Of some lines of a frontmatter those that do not belong to `key`; before them stands a line of `owner`."""
    strange = []
    for line in lines:
        if _indent(line) == indent and (name := _named(line)) in keys:
            owner = name
        if owner != key or line.lstrip().startswith(b"#") or line.rstrip() in (b"---", b"..."):
            strange.append(line)
    return strange


def _named(line: bytes) -> str | None:
    """The key that a line begins; None for any other line."""
    match = _KEY_LINE.match(line)
    if not match:
        return None
    name = match[1].decode("utf-8", "replace")
    if name[0] not in "\"'":
        return name.lstrip("\x85\u2028\u2029")  # they end a line for YAML 1.1 and for nobody else
    try:
        loaded, _ = load(f"{name}: x\n")
    except FrontmatterError:
        return None
    return next(iter(loaded or {}), name)


def _indent(line: bytes) -> int:
    return len(line) - len(line.lstrip(b" "))


def _fenced(bare: bytes) -> bool:
    return bare.startswith(b"---")


def _ending(line: bytes) -> bytes:
    return line[len(line.rstrip(b"\r\n")) :]


def _comment(line: bytes) -> bytes:
    """What a line ends with when that can only be a comment."""
    match = _COMMENT.search(line)
    return match[0] if match and not {34, 39} & set(line) else b""


def _without_key(data: bytes, now: bytes) -> int:
    """Bytes that differ once a new key was taken out again; a frontmatter that was made for it stays, empty."""
    if not _fenced(data.removeprefix(_BOM)) and data.startswith(_BOM) == now.startswith(_BOM):
        old, new = _middles(data.removeprefix(_BOM), now.removeprefix(_BOM))
        if not old and [line.rstrip() for line in new] == [b"---", b"---"]:
            return 0
    return _all_of(*_middles(data, now))


def _beside_line(data: bytes, now: bytes) -> int:
    """Bytes that differ and are not the line that was appended."""
    line = NEW_LINE.encode()
    old, new = _middles(data, now)
    if not old and len(new) == 1 and new[0].rstrip(b"\r\n") == line:
        return 0
    # A last line without an end is given one; where there is none, there is nothing to end.
    ends: Sequence[bytes] = ()
    if not data.endswith((b"\r", b"\n")) or _ends_with_fence(data):
        ends = _ENDS if data.removeprefix(_BOM) else (b"", *_ENDS)
    whole = any(now in (data + end + line, data + end + line + end) for end in ends)
    return 0 if whole else _all_of(old, new)


def _without_line(data: bytes, now: bytes) -> int:
    """Bytes that differ once the line was taken away again; a closing fence without a line's end has got one."""
    fence = _ends_with_fence(data) and now in [data + end for end in _ENDS]
    return 0 if fence else _all_of(*_middles(data, now))


def _ends_with_fence(data: bytes) -> bool:
    """Whether it ends with a closing fence that no newline follows."""
    return data.removeprefix(_BOM).rstrip(b" \t\r").endswith(b"\n---")

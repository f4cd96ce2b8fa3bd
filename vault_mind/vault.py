"""The folder: list, read, save, change, rename, forget. The files are the truth, here and nowhere else."""

import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from vault_mind.config import VAULT_FILE, state_folder
from vault_mind.conflicts import alike, originals
from vault_mind.errors import (
    AmbiguousNameError,
    BusyError,
    ConflictError,
    MemoryChangedError,
    MemoryNotFoundError,
    PathRefusedError,
    SettingsError,
    UnreadableError,
    VaultMindError,
    VaultNotFoundError,
    WriteFailedError,
)
from vault_mind.files import LARGEST, WRITING, locked, move_new, noted, read_regular, remove, tidy, write_whole
from vault_mind.listing import NOTHING, Plain, end, packed, second, unpacked
from vault_mind.memory import Memory, compose, decoded, parse, revise

FOLDER = "memories"
TRASH = ".trash"  # where Obsidian puts what is deleted, if it is told to
JOURNAL = "journal"  # the journal's folder, in the vault's state folder
PURGE = "purge.json"  # there too, while a purge is under way
SLUG_LENGTH = 60  # characters; what Obsidian's file list shows without cutting
NAME_BYTES = 255  # of a file's name, on most disks
TRIES = 5  # at a change of a file that somebody else keeps saving
SLUG_BYTES = 180  # file systems end a name at 255 bytes, and a script may need three for a character

_RESERVED = r"(?i:con|prn|aux|nul|com\d|lpt\d|conin\$|conout\$)"
# Letters and marks that nobody can see: variation selectors, fillers, joiners.
_INVISIBLE = "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200c\u200d\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
_SETTINGS = """\
# The settings of this vault; it may be left out. `vault-mind config` lists them all.
# top_k = 6
# language = "english"
# ignore = ["archive/"]
"""


@dataclass(frozen=True)
class Problem:
    """Something about one path that its owner should know, in a sentence."""

    path: str
    what: str


class Status(NamedTuple):
    """What a stat says of a file: enough to see that it changed. Times are ns since the epoch."""

    mtime: int
    ctime: int
    size: int
    inode: int

    @classmethod
    def of(cls, status: os.stat_result) -> "Status":
        """The part of `status` that tells one content from another."""
        return cls(status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)

    @property
    def mark(self) -> int:
        """All of it in one number of 64 bits, signed, the same in every process."""
        return hash(self)


_NOWHEN = Status(-1, -1, -1, -1)  # no file has it


@dataclass
class Walk:
    """What a walk through the vault met: of each folder ('' or 'a/b/') its memories' packed listing, and problems.

    A link that was followed stands in the listing of the topmost folder, by its whole path.
    """

    listings: dict[str, bytes] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    @cached_property
    def files(self) -> dict[str, int]:
        """Every memory's path with the mark of its status."""
        return {
            folder + name: mark for folder, listing in self.listings.items() for name, mark in unpacked(listing).items()
        }


class Vault:
    """A folder of memories. `ignore` are patterns, as in .gitignore, of what is not read."""

    def __init__(self, root: str | Path, ignore: Sequence[str] = ()) -> None:
        self.root = Path(root).expanduser().absolute()
        if not self.root.is_dir():
            raise VaultNotFoundError(str(root))
        self._real = self.root.resolve()
        self._ignored = _matcher(ignore)

    @classmethod
    def create(cls, root: str | Path) -> "Vault":
        """Make a vault of the folder `root`, and the folder when there is none; what is there stays."""
        folder = Path(root).expanduser()
        try:
            (folder / FOLDER).mkdir(parents=True, exist_ok=True)
            if not os.path.lexists(folder / VAULT_FILE):
                (folder / VAULT_FILE).write_text(_SETTINGS, encoding="utf-8")
        except OSError as error:
            raise WriteFailedError(str(folder), (error.strerror or str(error)).lower()) from error
        return cls(folder)

    def walk(self, known: Mapping[str, bytes] | None = None) -> Walk:
        """Every memory with its status; dot-folders and ignored files are passed over.

        Raises UnreadableError when the vault's own folder cannot be listed.
        `known` are the listings of an earlier walk: where they are many, another process looks through half of them.
        """
        walk = Walk()
        links: list[str] = []
        self._walk_through([""], walk, links, self._shared({} if self._ignored else known or {}))
        if links:
            found = Walk(walk.listings).files
            followed = {path: self._follow(path, found, walk.problems) for path in sorted(links)}
            topmost = unpacked(walk.listings[""]) | {path: one.mark for path, one in followed.items() if one}
            walk.listings[""] = packed(list(topmost), list(topmost.values()))
        return walk

    def _shared(self, known: Mapping[str, bytes]) -> Mapping[str, Plain]:
        """What is listed already, with the help of another process."""
        helper = second(str(self.root), known)
        try:
            return helper.shared(known) if helper else {}
        finally:
            if helper:
                helper.close()

    def _walk_through(self, folders: list[str], walk: Walk, links: list[str], listed: Mapping[str, Plain]) -> None:
        """List `folders` and all that is in them; some are `listed` already."""
        while folders:
            folder = folders.pop()
            if folder not in listed:
                self._list(folder, folders, links, walk)
                continue
            listing, inner = listed[folder]
            if listing != NOTHING or not folder:
                walk.listings[folder] = listing
            folders += [f"{folder}{name}/" for name in inner]

    def _list(self, folder: str, folders: list[str], links: list[str], walk: Walk) -> None:
        """Add what `folder` holds to the lists: memories, folders to go on with, links, what cannot be read."""
        simple = not self._ignored and _is_text(folder)
        names: list[str] = []
        marks: list[int] = []
        try:
            with _scanned(self.root / folder) as entries:
                for entry in entries:
                    name = entry.name
                    if name[0] == ".":
                        continue
                    plain = simple and name[-3:] == ".md" and name.isascii() and entry.is_file(follow_symlinks=False)
                    if plain or self._is_odd(folder + name, entry, folders, links, walk.problems):
                        try:
                            status = entry.stat(follow_symlinks=False)
                            # As Status.mark says; a call for each file would be felt.
                            marks.append(hash((status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)))
                            names.append(name)
                        except FileNotFoundError:  # deleted while we walked
                            continue
                        except OSError as error:
                            walk.problems.append(Problem(folder + name, f"cannot be read: {_reason(error)}"))
        except OSError as error:
            if not folder:  # to go on would be to say that the vault is empty
                raise UnreadableError(str(self.root), _reason(error), passing=True) from error
            if not isinstance(error, FileNotFoundError):  # deleted while we walked
                walk.problems.append(Problem(folder, f"folder not read: {_reason(error)}"))
        if names or not folder:
            walk.listings[folder] = packed(names, marks)

    def _is_odd(
        self, path: str, entry: os.DirEntry[str], folders: list[str], links: list[str], problems: list[Problem]
    ) -> bool:
        """Whether what does not look like a memory at first sight is one; if it is something else, add it there."""
        inner = entry.is_dir(follow_symlinks=False)
        if self._ignored and self._ignored(path, inner):
            return False
        if inner:
            folders.append(path + "/")
        elif not _is_markdown(path) and not entry.is_symlink():
            return False
        elif not _is_text(path):
            problems.append(Problem(ascii(path)[1:-1], "not read: its name is not UTF-8"))
        elif entry.is_symlink():
            links.append(path)
        else:
            return True
        return False

    def ignores(self, path: str, *, folder: bool = False) -> bool:
        """Whether the `ignore` setting names `path`, or the folder of that path."""
        return self._ignored is not None and self._ignored(path, folder)

    def read(self, path: str) -> Memory:
        """The memory at `path`. Raises PathRefusedError, UnreadableError or MemoryNotFoundError."""
        return self.read_with_status(path)[0]

    def read_with_status(self, path: str) -> tuple[Memory, Status]:
        """The memory at `path`, and the status of the very file that was read."""
        file = self._inside(path)
        try:
            data, status = read_regular(file)
        except UnreadableError as error:
            raise UnreadableError(path, error.why, passing=error.passing) from error
        return self._compared(_parsed(path, data, status.st_size)), Status.of(status)

    def read_listed(self, folder: str, names: Iterable[str]) -> Iterator[tuple[str, Memory | VaultMindError, Status]]:
        """Of each of the `names` that a walk listed in `folder`: path, the memory or why there is none, status."""
        with self._opened(folder) as handle:
            for name in names:
                path = folder + name
                try:
                    try:
                        yield path, *self._read_in(handle, path, name)
                    except UnreadableError:  # perhaps a link, which is no file of this folder
                        yield path, *self.read_with_status(path)
                except (UnreadableError, PathRefusedError, MemoryNotFoundError) as error:
                    yield path, error, _NOWHEN

    def _read_in(self, handle: int | None, path: str, name: str) -> tuple[Memory, Status]:
        if handle is None or "/" in name:
            return self.read_with_status(path)
        data, status = read_regular(name, folder=handle)
        return self._compared(_parsed(path, data, status.st_size)), Status.of(status)

    def _compared(self, memory: Memory) -> Memory:
        """`memory`, marked when it is a copy that a sync tool made of the file beside it."""
        folder, slash, name = memory.path.rpartition("/")
        for stem, says_so in originals(name[:-3]):
            path = f"{folder}{slash}{stem}.md"
            if self._is_copy(memory, path, says_so=says_so):
                return replace(memory, conflict=path)
        return memory

    def _is_copy(self, memory: Memory, path: str, *, says_so: bool) -> bool:
        """Whether `memory` is a copy of what is at `path`: its name `says_so`, or else what the two say does."""
        try:
            if says_so:
                return (self.root / path).is_file()
            other = parse(path, decoded(read_regular(self._inside(path))[0])[0])
            return _as_old(memory, other) or alike(memory.text, other.text)
        except (VaultMindError, OSError, ValueError):  # whatever is there, it is no original
            return False

    def memories(self) -> Iterator[Memory]:
        """Every memory that can be read, by path; what cannot is in `problems`."""
        for path in sorted(self.walk().files):
            try:
                yield self.read(path)
            except (UnreadableError, PathRefusedError, MemoryNotFoundError):  # told by `problems`, or gone by now
                continue

    def problems(self) -> list[Problem]:
        """Everything that cannot be read as it should be, by path."""
        walk = self.walk()
        found = list(walk.problems)
        for path in walk.files:
            try:
                found += [Problem(path, warning) for warning in self.read(path).warnings]
            except (UnreadableError, PathRefusedError) as error:
                found.append(Problem(path, str(error).removeprefix(f"{path}: ")))
            except MemoryNotFoundError:
                continue
        return sorted(found, key=lambda problem: problem.path)

    def find(self, name: str) -> str:
        """The path of the memory that `name` means: its path, its stem, or a part that only it has.

        Raises MemoryNotFoundError, AmbiguousNameError, or PathRefusedError for a way out of the vault.
        """
        paths = sorted(self.walk().files)
        if name in paths:
            return name
        name = self._relative(name)
        if name in paths:
            return name
        if not name:
            raise MemoryNotFoundError(name)
        if self._is_link(name):
            return self._inside(name).relative_to(self._real).as_posix()
        for found in meant(name, paths):
            if len(found) == 1:
                return found[0]
            if found:
                raise AmbiguousNameError(name, found)
        raise MemoryNotFoundError(name)

    def save(
        self,
        body: str,
        *,
        kind: str,
        source: str,
        created_at: datetime,
        quote: str | None = None,
        tags: Sequence[str] = (),
        chat: str | None = None,
        more: Mapping[str, str | Sequence[str]] | None = None,
    ) -> Memory:
        """Write a new memory into `memories/`, never over a file that exists; `more` are further keys.

        Raises UnwritableTextError for a text that cannot be one, and WriteFailedError.
        """
        keys: dict[str, str | Sequence[str]] = {
            "kind": kind,
            "source": source,
            "created_at": created_at.isoformat(timespec="seconds"),
        }
        optional = {"quote": quote, "tags": tuple(tags), "chat": chat}
        keys |= {key: value for key, value in optional.items() if value} | dict(more or {})
        text = compose(body, keys)
        with self.lock():
            folder = self.root / FOLDER
            try:
                folder.mkdir(exist_ok=True)
            except OSError as error:
                raise WriteFailedError(FOLDER, _reason(error)) from error
            path = f"{FOLDER}/{self._free_name(folder, slug(body))}.md"
            self._write(self._inside(path, new=True), text, expected=None)
        return parse(path, text)

    def change(
        self,
        memory: Memory,
        keys: Mapping[str, str | Sequence[str] | None],
        *,
        body: str | None = None,
        at: datetime | None = None,
        on_top: bool = True,
    ) -> Memory:
        """Set `keys` (None takes one out) and `body` in the file that `memory` was read from.

        Only the lines of what is named differ afterwards. When the file is no longer what `memory`
        says, the change is made on top of theirs where the two touch different keys and lines; else
        theirs stays, ours is written beside it, and ConflictError names both. Raises UnsafeChangeError
        when it cannot be done safely. `at` is now, for the name of such a copy. Without `on_top` nothing
        is merged or kept: MemoryChangedError says that it is another file by now.
        """
        ours = text = revise(memory, keys, body)
        if text == memory.text:
            return parse(memory.path, text)
        theirs = memory
        with self.lock():
            if not on_top:
                self._write(self._inside(memory.path), text, expected=memory.text)
                return parse(memory.path, text)
            for _ in range(TRIES):
                with suppress(MemoryChangedError, MemoryNotFoundError, UnreadableError):
                    self._write(self._inside(memory.path), text, expected=theirs.text)
                    return parse(memory.path, text)
                merged = self._on_top(memory, keys, body)
                if isinstance(merged, str):
                    raise self._conflict(memory.path, ours, merged, at)
                theirs, text = merged
                if text == theirs.text:
                    return theirs
            raise self._conflict(memory.path, ours, "somebody else keeps changing it", at)

    def put_back(self, old: Memory, new: Memory) -> None:
        """Take a change of ours back: the file of `new` says again, byte for byte, what `old` says.

        Raises MemoryChangedError when it no longer says what `new` says.
        """
        with self.lock():
            self._write(self._inside(old.path), old.text, expected=new.text)

    def rename(self, memory: Memory, stem: str) -> Memory:
        """Give the memory's file a name made from `stem`, in its folder; links to it are not followed up."""
        with self.lock():
            file = self._own(memory.path)
            if self.read(memory.path).text != memory.text:
                raise MemoryChangedError(memory.path)
            taken = self._free_name(file.parent, slug(stem), own=file.name)
            path = f"{memory.path.rpartition('/')[0]}/{taken}.md".lstrip("/")
            target = self._inside(path, new=True)
            with noted(self._note, file, target):
                move_new(file, target)
        return parse(path, memory.text, memory.fault)

    def forget(self, memory: Memory) -> None:
        """Delete the file that `memory` was read from. Raises MemoryChangedError when it is another by now.

        It does not come back from the journal either, should a crash have come right after it was learned.
        """
        from vault_mind.journal import Journal  # late: a search starts faster without it

        file = self._own(memory.path)
        with self.lock():
            data, status = read_regular(file, limit=None)
            if _parsed(memory.path, data, status.st_size).text != memory.text:
                raise MemoryChangedError(memory.path)
            Journal(self._state / JOURNAL).forget(memory)
            remove(file, expected=data)

    def discard(self, memory: Memory) -> str:
        """Move the memory's file to the vault's `.trash`, which is not read, and say where it is now.

        Raises MemoryChangedError when it is another by now.
        """
        file = self._own(memory.path)
        with self.lock():
            if self.read(memory.path).text != memory.text:
                raise MemoryChangedError(memory.path)
            trash = self.root / TRASH
            try:
                trash.mkdir(exist_ok=True)
            except OSError as error:
                raise WriteFailedError(TRASH, _reason(error)) from error
            from vault_mind.journal import Journal  # late, as above

            Journal(self._state / JOURNAL).forget(memory)
            name = f"{self._free_name(trash, memory.stem)}.md"
            with noted(self._note, file, trash / name):
                move_new(file, trash / name)
        return f"{TRASH}/{name}"

    @contextmanager
    def lock(self, seconds: float = 30) -> Iterator[None]:
        """Hold the vault's one lock, which all our processes share; it may be taken again inside.

        Raises BusyError after `seconds`.
        """
        with self._locked(seconds):
            yield

    def tidy(self) -> None:
        """Clear up after a writer that was killed, unless somebody is writing; one look when there was none."""
        if self._note.exists():
            end()  # what is being listed already may be moved now
            with suppress(BusyError), self._locked(seconds=0):
                pass

    @contextmanager
    def _locked(self, seconds: float) -> Iterator[None]:
        with locked(self._state / "vault.lock", f"the vault {self.root}", seconds):
            tidy(self._note)
            yield

    @property
    def _state(self) -> Path:
        return state_folder(self._real)

    @property
    def _note(self) -> Path:
        return self._state / WRITING

    def _write(self, file: Path, text: str, *, expected: str | None) -> None:
        with noted(self._note, file):
            write_whole(file, text.encode(), expected=None if expected is None else expected.encode())

    def _on_top(
        self, memory: Memory, keys: Mapping[str, str | Sequence[str] | None], body: str | None
    ) -> tuple[Memory, str] | str:
        """The file as it is now, and its text with our change of `memory` on top; or why that cannot be."""
        from vault_mind.merging import Overlap, on_top  # late: only a change that met another needs it

        try:
            theirs = self.read(memory.path)
        except MemoryNotFoundError:
            return "somebody else deleted it in the meantime"
        except UnreadableError as error:
            return f"somebody else changed it in the meantime, and it cannot be read: {error.why}"
        merged = on_top(memory, theirs, keys, body)
        return merged.why if isinstance(merged, Overlap) else (theirs, merged)

    def _conflict(self, path: str, text: str, why: str, at: datetime | None) -> ConflictError:
        """Keep `text`, our version of `path`, beside it or as near as can be; the error that says so."""
        moment = at or datetime.now()
        for folder in PurePosixPath(path).parents:
            for seconds in range(1000):  # another copy may have been made in that very second
                stamp = (moment + timedelta(seconds=seconds)).strftime("%Y-%m-%d %H%M%S")
                mark = f" (conflicted copy {stamp}).md"
                stem = PurePosixPath(path).stem.encode()[: NAME_BYTES - len(mark)].decode("utf-8", "ignore")
                copy = (folder / (stem + mark)).as_posix()
                try:
                    file = self._inside(copy, new=True)
                    if self._is_free(file):
                        self._write(file, text, expected=None)
                        return ConflictError(path, copy, why)
                except MemoryChangedError:  # somebody took the name just now
                    continue
                except (VaultMindError, OSError):  # the folder is gone, or the disk says no
                    break
        return ConflictError(path, None, why)

    def _is_free(self, file: Path) -> bool:
        return _folded(file.name) not in {_folded(entry.name) for entry in file.parent.iterdir()}

    def _inside(self, path: str, *, new: bool = False) -> Path:
        """The real file behind `path`. Raises PathRefusedError unless it is an `.md` of this vault."""
        parts = path.split("/")
        if not _is_text(path):
            raise PathRefusedError(ascii(path)[1:-1], "its name is not UTF-8")
        if "\0" in path or not path or any(part in ("", ".", "..") or part.startswith(".") for part in parts):
            raise PathRefusedError(path, "it is no path inside the vault")
        if not _is_markdown(path):
            raise PathRefusedError(path, "memories end in .md")
        file = self.root / path
        try:
            real = (file.parent.resolve(strict=True) / file.name) if new else file.resolve(strict=True)
        except FileNotFoundError as error:
            if self._is_link(path):
                raise UnreadableError(path, "the link leads nowhere") from error
            raise MemoryNotFoundError(path) from error
        except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links, before Python 3.13
            raise UnreadableError(path, _reason(error)) from error
        if not real.is_relative_to(self._real):
            raise PathRefusedError(path, "it leads outside the vault")
        if any(part.startswith(".") for part in real.relative_to(self._real).parts):
            raise PathRefusedError(path, "it leads into a dot-folder")
        return real

    @contextmanager
    def _opened(self, folder: str) -> Iterator[int | None]:
        """The folder, open, so that no file in it is looked for by its whole path; None where that cannot be done."""
        real = (self.root / folder).resolve()
        inside = real.is_relative_to(self._real) and not any(
            p.startswith(".") for p in real.relative_to(self._real).parts
        )
        try:
            handle = os.open(real, os.O_RDONLY) if inside and os.open in os.supports_dir_fd else None
        except OSError:
            handle = None
        try:
            yield handle
        finally:
            if handle is not None:
                os.close(handle)

    def _own(self, path: str) -> Path:
        """The file at `path` for renaming or deleting: behind a link that would leave the link alone."""
        file = self._inside(path)
        if self._is_link(path):
            raise PathRefusedError(path, f"it is a link to {file.relative_to(self._real).as_posix()}")
        return file

    def _is_link(self, name: str) -> bool:
        try:
            return (self.root / name).is_symlink()
        except (OSError, ValueError):  # longer than any name, or with a character that none has
            return False

    def _follow(self, path: str, known: Mapping[str, int], problems: list[Problem]) -> Status | None:
        """Follow a link: what it shows belongs to the walk unless it is `known` under its own name."""
        try:
            real = (self.root / path).resolve(strict=True)
            status = real.stat()
        except (OSError, RuntimeError) as error:
            problems.append(Problem(path, f"link not followed: {_reason(error)}"))
            return None
        if not real.is_relative_to(self._real):
            problems.append(Problem(path, "link not followed: it leads outside the vault"))
            return None
        own = real.relative_to(self._real).as_posix()
        hidden = any(part.startswith(".") for part in own.split("/"))
        if real.is_file() and _is_markdown(path) and own not in known and not hidden:
            return Status.of(status)
        return None

    def _relative(self, name: str) -> str:
        """`name` as it would stand in the vault: an absolute path into it, or one with ./, made relative."""
        if Path(name).is_absolute():
            real = Path(os.path.normpath(name))
            for root in (self.root, self._real):
                if real.is_relative_to(root):
                    return real.relative_to(root).as_posix()
            raise PathRefusedError(name, "it leads outside the vault")
        name = name.strip().removeprefix("./").removeprefix("[[").removesuffix("]]")
        if ".." in re.split(r"[/\\]", name):
            raise PathRefusedError(name, "it leads outside the vault")
        return name

    def _free_name(self, folder: Path, wanted: str, own: str | None = None) -> str:
        """`wanted`, numbered if need be, so that no file here has its name in any case or Unicode form."""
        taken = {_folded(file.name).removesuffix(".md") for file in folder.iterdir() if file.name != own}
        # A note that iCloud keeps elsewhere leaves `.Name.md.icloud` in its place.
        taken |= {name[1:].removesuffix(".icloud").removesuffix(".md") for name in taken if name.endswith(".icloud")}
        name, number = wanted, 1
        while name in taken:
            number += 1
            name = f"{wanted}-{number}"
        return name


def _as_old(memory: Memory, other: Memory) -> bool:
    """Whether both were made at the same moment. A day says too little: many a note is made on one."""
    said = memory.frontmatter.get("created_at")
    return isinstance(said, str) and ":" in said and memory.created_at == other.created_at is not None


def _parsed(path: str, data: bytes, size: int) -> Memory:
    if len(data) <= LARGEST:
        return parse(path, *decoded(data))
    fault = f"it is too large ({size / 1_000_000:.0f} MB); only its first {LARGEST // 2**20} MB are searched"
    return parse(path, decoded(data[:LARGEST])[0], fault)


def slug(sentence: str) -> str:
    """A readable file name for `sentence`: lower case, words joined by -, legal on every system."""
    text = unicodedata.normalize("NFKC", re.sub(_INVISIBLE, "", sentence[:1000])).casefold()
    text = unicodedata.normalize("NFC", re.sub(_INVISIBLE, "", text))
    spaced = "".join(c if unicodedata.category(c)[0] in "LNM" else " " for c in text)
    short = ""
    for word in spaced.split():
        longer = f"{short}-{word}" if short else word
        if short and (len(longer) > SLUG_LENGTH or len(longer.encode()) > SLUG_BYTES):
            break
        short = longer
    short = _cut(short)
    return f"{short}-memory" if re.fullmatch(_RESERVED, short) else short or "memory"


def _cut(text: str) -> str:
    # One word can be longer than a name may be: Japanese has no spaces.
    return text[:SLUG_LENGTH].encode("utf-8", "ignore")[:SLUG_BYTES].decode("utf-8", "ignore")


def meant(name: str, paths: Sequence[str]) -> Iterator[list[str]]:
    """The paths that `name` may mean, the closest reading first: all of the path, the file's name, a part."""
    wanted = _folded(name)
    folded = [(path, _folded(path)) for path in paths]
    yield [path for path, whole in folded if wanted in (whole, whole[:-3])]
    yield [path for path, whole in folded if wanted in (whole.rpartition("/")[2], whole.rpartition("/")[2][:-3])]
    yield [path for path, whole in folded if wanted in whole]


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name.casefold())


def _is_markdown(path: str) -> bool:
    return path[-3:].lower() == ".md"


def _is_text(name: str) -> bool:
    """Whether a name can be told: bytes that are not UTF-8 stand in it as half characters."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


@contextmanager
def _scanned(folder: Path) -> Iterator[Iterator[os.DirEntry[str]]]:
    """What is in `folder`; where the system can, opened first, so that no stat has to find the folder again."""
    if os.scandir not in os.supports_fd:
        with os.scandir(folder) as entries:
            yield entries
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with os.scandir(handle) as entries:
            yield entries
    finally:
        os.close(handle)


def _matcher(patterns: Sequence[str]) -> Callable[[str, bool], bool] | None:
    if not patterns:
        return None
    import pathspec  # late: only a vault with an ignore setting needs it

    try:
        spec = pathspec.GitIgnoreSpec.from_lines(patterns)
        spec.match_file("any")  # some patterns fail only when they are used
    except (ValueError, re.error) as error:
        raise SettingsError("ignore", str(error).lower(), ", ".join(patterns)) from error
    return lambda path, is_folder: spec.match_file(path + "/" if is_folder else path)


def _reason(error: Exception) -> str:
    if isinstance(error, RuntimeError):  # before Python 3.13, with a path in its words
        return "its links go in a circle"
    return (getattr(error, "strerror", None) or str(error)).lower()

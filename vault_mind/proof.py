"""The proof that a text is gone: every object of git, every file of git's and ours and of the vault, looked through."""

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from vault_mind import objects, repository
from vault_mind.config import cache_folder, state_folder
from vault_mind.needles import Needles, pieces
from vault_mind.rewriting import text_of

_PIECE = 1 << 24  # bytes of a file that are read at a time
_OVERLAP = 1 << 16
_MAKER = "it says who made it, which stays"
_REF = "the name of a ref: rename it with git branch -m, or delete it"
EARLIER = "(an earlier version)"  # stands for a needle where an object should not be there, whatever it holds


@dataclass(frozen=True)
class Place:
    """Where a text stands. `left` says why it was not taken out there; empty: it should not be there."""

    needle: str
    where: str
    left: str = ""


@dataclass(frozen=True)
class Found:
    """What a search of every place found: `places`, after so many objects and files were looked at."""

    needles: tuple[str, ...]
    places: tuple[Place, ...]
    objects: int
    files: int

    @property
    def count(self) -> int:
        """Places where a text stands that should not."""
        return sum(not place.left for place in self.places)

    @property
    def left(self) -> tuple[Place, ...]:
        """Places that are its owner's to clear, each with the reason."""
        return tuple(place for place in self.places if place.left)

    def counted(self) -> dict[str, int]:
        """Of each needle, in how many places it stands that it should not."""
        return {needle: sum(p.needle == needle and not p.left for p in self.places) for needle in self.needles}


def prove(root: Path, needles: Sequence[str], blobs: Sequence[str] = ()) -> Found:
    """Look for `needles` everywhere, and for objects that should not be there any more.

    What is in no form that `Needle` knows (compressed, encrypted, base64) is not seen. Raises GitError.
    """
    search = _Search(Needles(needles))
    places: list[Place] = []
    around = repository.around(root)
    if around:
        places += search.objects(around, set(blobs))
        places += search.git_files(around)
        places += search.names(around)
    for folder, what in ((state_folder(root), "state"), (cache_folder(root), "cache")):
        places += (Place(needle, f"{what}: {file}") for file, needle in search.files(folder, dots=True))
    for folder in (root, *_elsewhere(around, root)):
        for file, needle in search.files(folder, dots=False):
            where = file.relative_to(folder)
            places.append(Place(needle, str(where if folder == root else file), _not_ours(where)))
    return Found(search.needles.texts, tuple(places), search.objects_seen, search.files_seen)


def left_in(root: Path, needles: Needles) -> list[Place]:
    """Files of the vault that hold any of `needles` and are not ours to change, each with the reason."""
    places = [
        Place(needle, str(file.relative_to(root)), "") for file, needle in _Search(needles).files(root, dots=False)
    ]
    return [replace(place, left=reason) for place in places if (reason := _not_ours(Path(place.where)))]


class _Search:
    def __init__(self, needles: Needles) -> None:
        self.needles = needles
        self.objects_seen = self.files_seen = 0

    def of(self, data: bytes) -> list[str]:
        """The needles that stand in `data`."""
        numbers = {number for piece in pieces(data) for number in self.needles.found(piece)}
        return [self.needles.each[number].text for number in sorted(numbers)]

    def objects(self, around: repository.Repository, blobs: set[str]) -> Iterator[Place]:
        """Every object, and which of `blobs` are among them."""
        found: dict[tuple[str, str, str, str], str] = {}
        names: dict[bytes, list[str]] = {}
        telling: set[bytes] = set()
        with objects.opened(around.top) as all_objects:
            for name, kind, data in all_objects.every():
                self.objects_seen += 1
                if kind == "tree":
                    called = {entry[1] for entry in all_objects.entries(data)}
                    for one in called - names.keys():
                        names[one] = self.of(one)
                        if names[one]:
                            telling.add(one)
                    for one in called & telling:
                        found |= {(name, kind, needle, os.fsdecode(one)): "" for needle in names[one]}
                elif kind == "blob":
                    found |= {(name, kind, needle, ""): "" for needle in self.of(data)}
                    if name in blobs:
                        found[name, kind, EARLIER, ""] = ""
                else:
                    made = self.of(data)
                    texts = self.of(text_of(data))
                    found |= {(name, kind, needle, ""): _MAKER for needle in made}
                    found |= {(name, kind, needle, ""): "" for needle in texts}
        left = _Left(around, {name for name, *_ in found})
        for (name, kind, needle, entry), reason in found.items():
            where = f"{kind} {name}" + (f", the name {entry!r}" if entry else "")
            yield Place(needle, where, reason or left.reason(name, kind, entry))

    def git_files(self, around: repository.Repository) -> Iterator[Place]:
        """Every file of git's own but objects, and packs that were left half written."""
        for file, needle in self.files(around.common, dots=True, without=(around.common / "objects",)):
            inner = file.relative_to(around.common).as_posix()
            yield Place(
                needle, f".git/{inner}", self._logged(file, needle) if "logs" in inner.split("/") else _gits_own(inner)
            )
        for half in (around.common / "objects").glob("pack/tmp_*"):
            yield Place("(unknown)", f".git/objects/pack/{half.name}")

    def _logged(self, file: Path, needle: str) -> str:
        """Why a reflog that holds `needle` may: it is in nobody's message, but in who made it or in the ref's name."""
        lines = file.read_bytes().split(b"\n") if file.is_file() else []
        messages = b"\n".join(line.partition(b"\t")[2] for line in lines)
        if needle in self.of(messages):
            return ""
        return _REF if needle in self.of(os.fsencode(file.name)) else _MAKER

    def names(self, around: repository.Repository) -> Iterator[Place]:
        """Names of refs."""
        for ref in around.refs():
            for needle in self.of(ref.name.encode("utf-8", "surrogateescape")):
                yield Place(needle, f"the name of {ref.name}", _REF)

    def files(self, folder: Path, *, dots: bool, without: tuple[Path, ...] = ()) -> Iterator[tuple[Path, str]]:
        """Each file in `folder` whose bytes or name hold a needle; in a vault, `.git` is looked at elsewhere."""
        for at, folders, names in os.walk(folder):
            if not dots and ".git" in folders:
                folders.remove(".git")
            folders[:] = [name for name in folders if Path(at, name) not in without]
            for name in names:
                if name == ".git" and not dots:
                    continue
                self.files_seen += 1
                file = Path(at, name)
                numbers = set(self.needles.found(os.fsencode(name))) | self._in_file(file)
                for number in sorted(numbers):
                    yield file, self.needles.each[number].text
            for name in folders:
                for number in self.needles.found(os.fsencode(name)):
                    yield Path(at, name), self.needles.each[number].text

    def _in_file(self, file: Path) -> set[int]:
        if file.is_symlink():
            return set(self.needles.found(os.fsencode(file.readlink())))
        found: set[int] = set()
        if not file.is_file():
            return found
        with suppress(OSError), ExitStack() as stack:  # it went away meanwhile, or is not ours to read
            opened = stack.enter_context(file.open("rb"))
            tail = b""
            while piece := opened.read(_PIECE):
                found |= set(self.needles.found(tail + piece))
                tail = piece[-_OVERLAP:]
        return found


class _Left:
    """Why an object that holds a text is left: it belongs to the repository around the vault, or says who made it."""

    def __init__(self, around: repository.Repository, names: set[str]) -> None:
        self._around = around
        self._paths: dict[str, str] = {}
        if names and around.prefix:
            for line in around.lines("rev-list", "--objects", "--all", "--ignore-missing"):
                name, _, path = line.partition(" ")
                if name in names:
                    self._paths[name] = path

    def reason(self, name: str, kind: str, called: str) -> str:
        """The reason; empty when there is none."""
        if kind in ("commit", "tag"):
            return ""
        prefix = os.fsdecode(self._around.prefix)
        path = self._paths.get(name)
        if not prefix or path is None:
            return ""
        whole = f"{path}/{called}".strip("/") if called else path
        return "" if whole.startswith(prefix) else f"outside the vault: {whole}"


def _gits_own(inner: str) -> str:
    if inner.startswith("hooks/") or inner in ("config", "description", "info/exclude", "config.worktree"):
        return "a file of git's that its owner writes: change it there"
    if "refs" in inner.split("/") or inner == "packed-refs":
        return _REF
    if inner.startswith(("modules/", "lfs/")):
        return "not of this repository: purge it there"
    return ""


def _not_ours(where: Path) -> str:
    if any(part.startswith(".") for part in where.parts[:-1]):
        return "a folder that is not vault-mind's: delete it there"
    return "" if where.suffix.lower() == ".md" else "not a memory: change it by hand"


def _elsewhere(around: repository.Repository | None, root: Path) -> list[Path]:
    """The vault as it is checked out in other worktrees."""
    if around is None:
        return []
    folders = (w.folder / os.fsdecode(around.prefix) for w in around.worktrees if w.folder)
    return [folder for folder in folders if folder.is_dir() and folder.resolve() != root.resolve()]

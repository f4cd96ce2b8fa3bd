"""The past, asked: what the vault said at a moment, and the story of one memory."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from vault_mind.errors import GitError, MemoryNotFoundError, UnreadableError
from vault_mind.files import read_regular
from vault_mind.history import History, Version
from vault_mind.memory import Memory, decoded, parse

BATCH = 2_000  # files that git is asked for at once


@dataclass(frozen=True)
class Line:
    """One line of a memory and the version that brought it; None: it is in none yet."""

    text: str
    version: Version | None


@dataclass(frozen=True)
class Story:
    """One memory from its beginning: `versions` newest first, `memory` as it is, or last was when it is gone."""

    path: str
    memory: Memory
    versions: tuple[Version, ...]
    names: tuple[str, ...]
    lines: tuple[Line, ...]
    gone: bool
    uncommitted: bool

    @property
    def learned(self) -> Version | None:
        """The version in which it began; None when it is in none yet."""
        return self.versions[-1] if self.versions else None

    @property
    def by_hand(self) -> tuple[Version, ...]:
        """The versions that vault-mind did not make."""
        return tuple(version for version in self.versions if not version.ours)

    @property
    def supersedes(self) -> tuple[str, ...]:
        """The links to what it replaced, as its frontmatter gives them."""
        return _links(self.memory, "supersedes")

    @property
    def superseded_by(self) -> tuple[str, ...]:
        """The links to what replaced it."""
        return _links(self.memory, "superseded_by")


def tree_at(history: History, moment: datetime) -> Version | None:
    """The vault's version at `moment`; None before the first, or without a history.

    It is the newest on the line of first parents whose commit date is not later: a version is taken to be no younger
    than any that was built upon it, so that a clock that ran ahead once does not hide all that followed.
    """
    if history.off or history.head().id is None:
        return None
    words = ("--first-parent", "--max-count=1", f"--min-age={int(moment.timestamp())}", "HEAD")
    found = history.ask("rev-list", *words).decode().strip()
    return history.version(found) if found else None


def read_at(history: History, version: str, path: str) -> bytes:
    """The bytes that `version` holds for a path of the vault, as they are stored.

    Raises VersionNotFoundError, and MemoryNotFoundError when it was not there.
    """
    entry = history.entries(history.resolved(version), [path]).get(path)
    if entry is None or not entry[0].startswith("100"):
        raise MemoryNotFoundError(path)
    return history.blob(entry[1])


def memories_at(history: History, version: str) -> Iterator[tuple[str, bytes]]:
    """Every Markdown file outside dot-folders that `version` holds, by path, with its bytes as they are stored.

    The working tree is neither read nor touched. Raises VersionNotFoundError.
    """
    place = history.place() if not history.off else None
    tree = history.resolved(version)
    where = ["--", place.prefix] if place and place.prefix else []
    listed = []
    for line in history.ask("ls-tree", "-r", "-z", "--full-tree", tree, *where).split(b"\0"):
        facts, _, name = line.partition(b"\t")
        path = history.in_vault(os.fsdecode(name))
        if path and facts.startswith(b"100") and _is_read(path):
            listed.append((path, facts.split()[2]))
    for start in range(0, len(listed), BATCH):
        some = listed[start : start + BATCH]
        out = history.ask("cat-file", "--batch", given=b"\n".join(blob for _, blob in some) + b"\n")
        at = 0
        for path, _ in some:
            end = out.index(b"\n", at)
            size = int(out[at:end].split()[2])
            yield path, out[end + 1 : end + 1 + size]
            at = end + 1 + size + 1


def why(history: History, path: str) -> Story:
    """The story of the memory at `path`: which versions made it what it is, under which names, line by line.

    A path that is gone from the vault is told from history. Raises MemoryNotFoundError when neither knows it.
    """
    versions = tuple(history.versions(path))
    try:
        data, gone = read_regular(history.root / path)[0], False
    except UnreadableError:
        data, gone = _last(history, path, versions), True
    stored = None if gone or not versions else _stored(history, path)
    memory = parse(path, *decoded(data))
    names = dict.fromkeys(change.was for version in versions for change in version.changes if change.was)
    lines = () if gone else tuple(_lines(history, path, memory, versions))
    return Story(path, memory, versions, tuple(names), lines, gone, not gone and not stored)


def _last(history: History, path: str, versions: tuple[Version, ...]) -> bytes:
    """The bytes of a file that is gone, as the last version knew it."""
    for version in versions:
        for name in (version.id, *version.parents[:1]):
            entry = history.entries(name, [path]).get(path)
            if entry is not None:
                return history.blob(entry[1])
    raise MemoryNotFoundError(path)


def _stored(history: History, path: str) -> bool:
    """Whether HEAD holds the file as it is on disk."""
    code, _, _ = history.run("diff", "--quiet", "--no-ext-diff", "HEAD", "--", history.in_repository(path))
    return code == 0


def _lines(history: History, path: str, memory: Memory, versions: tuple[Version, ...]) -> Iterator[Line]:
    """The lines of its body that say something, each with the version that brought it."""
    known = {version.id: version for version in versions}
    try:
        out = history.ask(
            "-c",
            "blame.ignoreRevsFile=",
            "blame",
            "--line-porcelain",
            "--no-textconv",
            "--",
            history.in_repository(path),
        )
    except GitError:  # it is in no version yet
        yield from (Line(text, None) for text in memory.body.splitlines() if text.strip())
        return
    said = {text.strip() for text in memory.body.splitlines()}
    for name, text in _blamed(out):
        if text.strip() and text.strip() in said:
            yield Line(text, known.get(name) or (None if set(name) == {"0"} else history.version(name)))


def _blamed(out: bytes) -> Iterator[tuple[str, str]]:
    name = ""
    fresh = True
    for line in out.split(b"\n"):
        if fresh and line:
            name, fresh = line.split()[0].decode(), False
        elif line.startswith(b"\t"):
            yield name, line[1:].decode("utf-8", "replace").rstrip("\r")
            fresh = True


def _links(memory: Memory, key: str) -> tuple[str, ...]:
    value = memory.frontmatter.get(key)
    links = value if isinstance(value, list) else [value] if isinstance(value, str) and value else []
    return tuple(str(link).strip().removeprefix("[[").removesuffix("]]").partition("|")[0] for link in links)


def _is_read(path: str) -> bool:
    return path.lower().endswith(".md") and not any(part.startswith(".") for part in path.split("/"))

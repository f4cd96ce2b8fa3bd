"""Two machines' versions of one memory made one: the frontmatter key by key, lists item by item, the body by lines.

git calls it by the protocol of merge drivers, which `install` sets up; where it is not installed git merges by lines.
"""

import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from vault_mind import git
from vault_mind.files import read_regular
from vault_mind.frontmatter import FrontmatterError, Value, load, split, with_key
from vault_mind.memory import decoded, moment

NAME = "vault-mind"
ATTRIBUTE = f"*.md merge={NAME}"
THEIRS = "_theirs"  # what is put after a key whose values conflict: the other value stands there
MARKER = 7  # characters of a conflict's marks, unless git asks for more

_LISTS = ("tags", "aliases")
_EARLIER, _LATER = ("created_at",), ("updated_at",)
_KEY = re.compile(r"""(?:[^\s#'"\-?\[\]{},&*!|>%@`][^\r\n]*?|'[^'\r\n]*'|"[^"\r\n]*")[ \t]*:(?=[ \t\r\n]|\Z)""")


@dataclass(frozen=True)
class _Side:
    """A version: what stands up to the body, the lines between the fences, what they say, and the body."""

    head: str
    block: str | None
    keys: dict[str, Value]
    body: str


class _NotByKeysError(Exception):
    """The frontmatter cannot be merged by keys; the whole is merged by lines instead."""


def merged(base: bytes, ours: bytes, theirs: bytes, size: int = MARKER) -> tuple[bytes, bool]:
    """One version of the three, and whether nothing is left to decide; `size` is the length of a conflict's marks.

    A key or line that one side changed is that side's. Of dates, `updated_at` is the later and `created_at` the
    earlier one. Where both changed a value differently ours stays, and theirs stands beside it under the key with
    `_theirs` after it: marks would make the YAML none. Bodies that truly conflict get marks.
    """
    if ours == theirs or base == theirs:
        return ours, True
    if base == ours:
        return theirs, True
    if any(b"\0" in version for version in (base, ours, theirs)):
        return ours, False  # as git does with what is no text
    try:
        sides = [_side(version) for version in (base, ours, theirs)]
        head, settled = _heads(sides[0], sides[1], sides[2])
        body, clean = _bodies(sides[0].body, sides[1].body, sides[2].body, size)
    except _NotByKeysError:
        texts = [version.decode("utf-8", "surrogateescape") for version in (base, ours, theirs)]
        whole, clean = _bodies(texts[0], texts[1], texts[2], size)
        return whole.encode("utf-8", "surrogateescape"), clean
    return (head + body).encode(), settled and clean


def drive(base: Path, ours: Path, theirs: Path, size: int = MARKER) -> bool:
    """Merge the files that git names, into `ours`, as it wants it; whether nothing is left to decide."""
    versions = [read_regular(file, limit=None)[0] for file in (base, ours, theirs)]
    result, clean = merged(versions[0], versions[1], versions[2], size)
    ours.write_bytes(result)
    return clean


def install(root: Path, command: str | None = None) -> bool:
    """Have git merge the vault's memories so, on this machine; whether anything had to be changed. Raises GitError.

    `.gitattributes` in the vault travels with it; the driver itself is a matter of each machine's configuration, and
    `command` is what runs vault-mind there.
    """
    config = {"name": "memories, key by key", "driver": _driver(command or _command())}
    attributes = root / ".gitattributes"
    before = attributes.read_bytes() if attributes.exists() else b""
    changed = False
    if not any(line.split() == ATTRIBUTE.encode().split() for line in before.splitlines()):
        newline = b"\r\n" if b"\r\n" in before else b"\n"
        gap = newline if before and not before.endswith(b"\n") else b""
        attributes.write_bytes(before + gap + ATTRIBUTE.encode() + newline)
        changed = True
    for key, value in config.items():
        name = f"merge.{NAME}.{key}"
        if git.ask(root, "config", "--local", "--get", name, fine=(0, 1)).decode().rstrip("\n") != value:
            git.ask(root, "config", "--local", name, value)
            changed = True
    return changed


def uninstall(root: Path) -> None:
    """Undo `install`: our line and our configuration go, everybody else's stay. Raises GitError."""
    attributes = root / ".gitattributes"
    if attributes.exists():
        lines = attributes.read_bytes().splitlines(keepends=True)
        kept = [line for line in lines if line.split() != ATTRIBUTE.encode().split()]
        if kept:
            attributes.write_bytes(b"".join(kept))
        else:
            attributes.unlink()
    git.run(root, "config", "--local", "--remove-section", f"merge.{NAME}")  # it says no when there is none


def _command() -> str:
    """How vault-mind is run on this machine."""
    return NAME if shutil.which(NAME) else f"{shlex.quote(sys.executable)} -m vault_mind"


def _driver(command: str) -> str:
    # A vault-mind that is gone or broken exits with more than 1: git's own merge takes its place.
    merge = f"{command} merge-driver %O %A %B %L %P"
    return f"{merge}; s=$?; [ $s -le 1 ] && exit $s; exec git merge-file --marker-size=%L %A %O %B"


def _side(version: bytes) -> _Side:
    text, fault = decoded(version)
    if fault:
        raise _NotByKeysError(fault)
    block, body = split(text)
    if block is None:
        mark = "\ufeff" if text.startswith("\ufeff") else ""
        return _Side(mark, None, {}, body)
    try:
        keys, notes = load(block)
    except FrontmatterError as error:
        raise _NotByKeysError(str(error)) from error
    if notes or (keys is None and block.strip()):
        raise _NotByKeysError("a key is given twice, or it is no mapping")
    return _Side(text[: len(text) - len(body)], block, keys or {}, body)


def _heads(base: _Side, ours: _Side, theirs: _Side) -> tuple[str, bool]:
    """The frontmatter of all three, fences and all; and whether nothing in it conflicts."""
    if ours.head == theirs.head or theirs.head == base.head:
        return ours.head, True
    if ours.head == base.head:
        return theirs.head, True
    if ours.block is None or theirs.block is None:
        raise _NotByKeysError("one of them has no frontmatter")
    head, settled, wanted = ours.head, True, dict(ours.keys)
    for key in dict.fromkeys((*ours.keys, *theirs.keys, *base.keys)):
        was, our, their = (side.keys.get(key) for side in (base, ours, theirs))
        if their in (our, was):
            continue
        if our in (was, None):  # only they changed it; or they changed what we took out, which loses nothing
            head, wanted = _taken(head, theirs, key, their, wanted)
        elif their is not None and our is not None:
            value = _one(key, was, our, their, _elder(base, ours, theirs))
            settled = settled and value is not None
            head, wanted = _put(head, theirs, key, (our, their, value), wanted)
    return _checked(head, wanted), settled


def _put(
    head: str, theirs: _Side, key: str, values: tuple[Value | None, Value, Value | None], wanted: dict[str, Value]
) -> tuple[str, dict[str, Value]]:
    """`head` with the one value of `key` that was found for ours and theirs, or with both."""
    our, their, value = values
    if value is None:
        return _beside(head, theirs, key, their, wanted)
    if value == their:
        return _taken(head, theirs, key, their, wanted)
    return (head, wanted) if value == our else _set(head, key, value, wanted)


def _checked(head: str, wanted: dict[str, Value]) -> str:
    """`head`, if it says what is wanted."""
    try:
        found = load(split(head)[0] or "")[0] or {}
    except FrontmatterError as error:
        raise _NotByKeysError(str(error)) from error
    if found != wanted:
        raise _NotByKeysError("it would read differently")
    return head


def _one(key: str, was: Value | None, our: Value, their: Value, elder: "_Side | None") -> Value | None:
    """The one value of a key that both changed; None when they conflict."""
    lists = [_items(key, value) for value in (was or [], our, their)]
    if all(items is not None for items in lists) and (key in _LISTS or isinstance(our, list)):
        before, mine, others = (items or [] for items in lists)
        kept = [item for item in mine if item in others or item not in before]
        return [*kept, *(item for item in others if item not in before and item not in kept)]
    if elder:  # two machines were told the same thing: it is known since the first of them
        return elder.keys[key]
    if key in (*_LATER, *_EARLIER) and isinstance(our, str) and isinstance(their, str):
        first, second = moment(our), moment(their)
        if first and second:
            return our if (first >= second) == (key in _LATER) else their
    return None


def _elder(base: _Side, ours: _Side, theirs: _Side) -> "_Side | None":
    """Of two memories that came to be on two machines and say the same, the older one; None of any others."""
    if base.block is not None or base.body.strip() or ours.body.split() != theirs.body.split():
        return None
    made = [moment(value) if isinstance(value := side.keys.get("created_at"), str) else None for side in (ours, theirs)]
    if made[0] is None or made[1] is None:
        return None
    return ours if made[0] <= made[1] else theirs


def _items(key: str, value: Value) -> list[Value] | None:
    """A value as a list of words; None when it is none."""
    if isinstance(value, str) and key in _LISTS:
        return [part.strip() for part in (value.split(",") if key == "tags" else [value]) if part.strip()]
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return list(dict.fromkeys(str(item) for item in value))
    return None


def _set(head: str, key: str, value: Value, wanted: dict[str, Value]) -> tuple[str, dict[str, Value]]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise _NotByKeysError(f"{key} is no list of words")
    items = [str(item) for item in value]
    try:
        return with_key(head, key, items), {**wanted, key: list(items)}
    except FrontmatterError as error:
        raise _NotByKeysError(str(error)) from error


def _taken(
    head: str, theirs: _Side, key: str, value: Value | None, wanted: dict[str, Value]
) -> tuple[str, dict[str, Value]]:
    """`head` with their lines of `key` in the place of ours, quoting and comments as they wrote them."""
    left = {name: old for name, old in wanted.items() if name != key}
    lines = "" if value is None else _lines(theirs.block or "", key)
    return _replaced(head, key, lines), left if value is None else {**left, key: value}


def _beside(head: str, theirs: _Side, key: str, value: Value, wanted: dict[str, Value]) -> tuple[str, dict[str, Value]]:
    """`head` with their value under a key of its own, right below ours."""
    written = _lines(theirs.block or "", key)
    name = f"{key}{THEIRS}"
    if not written.startswith(f"{key}:"):
        raise _NotByKeysError(f"{key} is written in an odd way")
    head = _replaced(head, name, "") if name in wanted else head
    mine = _lines(split(head)[0] or "", key)
    return _replaced(head, key, mine + name + written.removeprefix(key)), {**wanted, name: value}


def _parts(block: str) -> Iterator[tuple[str, int, int]]:
    """Each key of a block with where its lines begin and end; comments and blank lines below them are nobody's."""
    starts: list[tuple[str, int]] = []
    at = 0
    ends: dict[int, int] = {}
    for line in block.splitlines(keepends=True):
        match = _KEY.match(line)
        if match:
            starts.append((match[0][:-1].strip().strip("'\""), at))
        at += len(line)
        if starts and line.strip() and not line.startswith("#"):
            ends[len(starts) - 1] = at
    for number, (key, start) in enumerate(starts):
        yield key, start, ends[number]


def _lines(block: str, key: str) -> str:
    found = [block[start:end] for name, start, end in _parts(block) if name == key]
    if len(found) != 1:
        raise _NotByKeysError(f"{key} is written in an odd way")
    return found[0]


def _replaced(head: str, key: str, lines: str) -> str:
    """`head` with other lines for `key`, at its place or at the end; with line endings as the first of `head`."""
    block, _ = split(head)
    newline = "\r\n" if "\r\n" in head.partition("\n")[0] + "\n" else "\n"
    lines = re.sub(r"\r?\n", lambda _: newline, lines)
    first = head.index("\n") + 1
    length = len(block or "")
    found = [(start, end) for name, start, end in _parts(block or "") if name == key]
    if len(found) > 1:
        raise _NotByKeysError(f"{key} is written in an odd way")
    start, end = found[0] if found else (length, length)
    return head[: first + start] + lines + head[first + end :]


def _bodies(base: str, ours: str, theirs: str, size: int) -> tuple[str, bool]:
    """The three by lines, and whether none conflicts."""
    import merge3  # late: only a merge needs it

    base, ours, theirs = _same_endings(base, ours, theirs)
    before, mine, others = (_split_lines(text) for text in (base, ours, theirs))
    merge = merge3.Merge3(before, mine, others)
    newline = "\r\n" if mine and mine[0].endswith("\r\n") else "\n"
    parts: list[str] = []
    clean = True
    for region in merge.reprocess_merge_regions(merge.merge_regions()):
        what, *at = region
        if what == "conflict":
            clean = False
            parts += _marked(mine[at[2] : at[3]], others[at[4] : at[5]], size, newline)
        else:
            parts += {"unchanged": before, "b": others}.get(what, mine)[at[0] : at[1]]
    closed = [part if part.endswith(("\n", "\r")) else part + newline for part in parts[:-1]] + parts[-1:]
    return "".join(closed), clean


def _marked(ours: Sequence[str], theirs: Sequence[str], size: int, newline: str) -> list[str]:
    marks = [f"{'<' * size} ours{newline}", f"{'=' * size}{newline}", f"{'>' * size} theirs{newline}"]
    return [marks[0], *ours, marks[1], *theirs, marks[2]]


def _split_lines(text: str) -> list[str]:
    """Its lines as an editor sees them, each with its ending."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _same_endings(base: str, ours: str, theirs: str) -> tuple[str, str, str]:
    """All three with one kind of line ending, where one side changed no more than that: its kind."""
    kinds = [_ending(text) for text in (base, ours, theirs)]
    if None in kinds or len(set(kinds)) == 1:
        return base, ours, theirs
    newline = str(kinds[1] if kinds[1] != kinds[0] else kinds[2])
    base, ours, theirs = (re.sub(r"\r?\n", lambda _: newline, text) for text in (base, ours, theirs))
    return base, ours, theirs


def _ending(text: str) -> str | None:
    """How its lines end; None when some end so and some otherwise."""
    both, windows = text.count("\n"), text.count("\r\n")
    return "\n" if not windows else "\r\n" if windows == both else None

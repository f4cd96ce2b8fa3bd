"""One Markdown file as a value: its text read into a memory, and made, or changed line by line.

Pure: it knows no disk. Of the frontmatter, read as text, the few keys that mean something to us
are parsed here, leniently.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, NamedTuple, TypeVar, overload

from vault_mind.conflicts import unmerged
from vault_mind.errors import UnsafeChangeError, UnwritableTextError
from vault_mind.frontmatter import FrontmatterError, Value, Written, line, load, split, with_key

KINDS = ("fact", "preference", "correction", "context")
NOTE = "note"
UNREADABLE = "it cannot be read now"  # how the fault of a memory begins that is as it was last read
COMPARED = 4_000_000  # pairs of lines of two bodies that are compared; beyond, the middle is replaced as a whole

_ENDING = re.compile(r"\r\n|\r|\n")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


T = TypeVar("T")


class once(Generic[T]):  # noqa: N801  # it is used as `property` is
    """A property that is worked out when it is first asked for, and kept.

    As functools' cached_property, which before Python 3.12 takes a lock each time: a fifth of reading a memory.
    """

    def __init__(self, work: Callable[[Any], T]) -> None:
        self._work, self._name, self.__doc__ = work, work.__name__, work.__doc__

    @overload
    def __get__(self, owner: None, kind: type) -> "once[T]": ...

    @overload
    def __get__(self, owner: object, kind: type) -> T: ...

    def __get__(self, owner: object, kind: type) -> "T | once[T]":
        if owner is None:
            return self
        value = owner.__dict__[self._name] = self._work(owner)
        return value


class _Read(NamedTuple):
    """What stands in a file: see Memory."""

    content: str
    frontmatter: Mapping[str, Value]
    broken: str | None
    warnings: tuple[str, ...]
    dates: Mapping[str, datetime | None]


@dataclass(frozen=True)
class Memory:
    """One Markdown file of the vault, as it was read; what it says is read when it is first asked for.

    `path` is its identity, POSIX and relative to the vault. `text` is the whole file. `fault` says
    why its bytes are no sound text (None when all is well); such a file is searched but never written.
    `conflict` is the path of the file that a sync tool made it a copy of.
    """

    path: str
    text: str = field(repr=False)
    fault: str | None = None
    conflict: str | None = None

    @once
    def content(self) -> str:
        """What stands below the frontmatter."""
        return self._read.content

    @once
    def frontmatter(self) -> Mapping[str, Value]:
        """Every key with its value as text, list or mapping; empty where there is none."""
        return self._read.frontmatter

    @property
    def broken(self) -> str | None:
        """Why its YAML is none; None when it is. Such a file is searched but never written."""
        return self._read.broken

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences for the owner, the faults among them."""
        return (*self._read.warnings, *self._unresolved)

    @property
    def _unresolved(self) -> tuple[str, ...]:
        if self.conflict:
            return (f"a conflict copy of {self.conflict}; it is not recalled",)
        return ("it holds git's conflict markers; it is not recalled",) if self.unmerged else ()

    @property
    def created_at(self) -> datetime | None:
        """When it was made."""
        return self._read.dates.get("created_at")

    @property
    def updated_at(self) -> datetime | None:
        """When it was last changed, as it says itself."""
        return self._read.dates.get("updated_at")

    @property
    def expires_at(self) -> datetime | None:
        """When it stops being current."""
        return self._read.dates.get("expires_at")

    @property
    def chat(self) -> str | None:
        """Which chat it was learned in."""
        return _word(self.frontmatter.get("chat")) or None

    @property
    def lang(self) -> str | None:
        """The language that it is written in, as its owner names it."""
        return _word(self.frontmatter.get("lang")) or None

    @once
    def _read(self) -> _Read:
        return _read(self.text, self.fault)

    @once
    def body(self) -> str:
        """The text below the frontmatter, without the blank lines around it."""
        return self.content.strip("\r\n")

    @property
    def kind(self) -> str:
        """What kind it says it is; a file that says none is a note."""
        return _word(self.frontmatter.get("kind")) or NOTE

    @property
    def source(self) -> str | None:
        """Where it came from, when it says so."""
        return _word(self.frontmatter.get("source")) or None

    @property
    def quote(self) -> str | None:
        """The user's words that it rests on."""
        return _word(self.frontmatter.get("quote")) or None

    @once
    def tags(self) -> tuple[str, ...]:
        """Its tags, however they were written: a list, one text with commas, with or without #."""
        return _listed(self.frontmatter.get("tags"), split=True)

    @once
    def aliases(self) -> tuple[str, ...]:
        """Other names that Obsidian knows it by."""
        return _listed(self.frontmatter.get("aliases"), split=False)

    @property
    def pinned(self) -> bool:
        """Whether it is in every prompt."""
        return _word(self.frontmatter.get("pinned")).lower() in ("true", "yes", "on", "1")

    @property
    def superseded(self) -> bool:
        """Whether a newer memory has taken its place."""
        return bool(self.frontmatter.get("superseded_by") or self.frontmatter.get("superseded_at"))

    @once
    def unmerged(self) -> bool:
        """Whether git left its conflict markers in it."""
        return unmerged(self.text)

    @property
    def aside(self) -> bool:
        """Whether recall leaves it out whatever the moment: superseded, a conflict copy, or not merged."""
        return self.superseded or self.conflict is not None or self.unmerged

    @property
    def stale(self) -> bool:
        """Whether this is what it said when it was last read, and its file cannot be read now."""
        return self.fault is not None and self.fault.startswith(UNREADABLE)

    @property
    def stem(self) -> str:
        """The file's name without folder and `.md`."""
        return self.path.rpartition("/")[2].rpartition(".")[0]

    @once
    def title(self) -> str:
        """Its `title`, else its first line when that is a heading, else its stem."""
        first = self.body.lstrip().partition("\n")[0]
        heading = first.lstrip("#").strip() if first.startswith("#") and first.lstrip("#")[:1] == " " else ""
        return _word(self.frontmatter.get("title")) or heading or self.stem

    @property
    def searched(self) -> str:
        """What search reads: title, aliases, tags and body; the whole text where the YAML is broken."""
        if self.broken:
            return f"{self.stem}\n{self.text}"
        return "\n".join((self.title, *self.aliases, *self.tags, self.body))

    def current(self, now: datetime) -> bool:
        """Whether recall may use it: neither superseded, expired at `now`, a conflict copy nor unmerged."""
        return not self.aside and (self.expires_at is None or self.expires_at > now)


def decoded(data: bytes) -> tuple[str, str | None]:
    """The text of a file's bytes, and what is wrong with them (None: it is plain UTF-8).

    Where there is no fault, encoding the text as UTF-8 gives the bytes again, BOM included.
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace"), "it is UTF-16, not UTF-8"
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        fault = f"it is not UTF-8 (byte 0x{data[error.start]:02x} at {error.start})"
        return data.decode("utf-8", "replace"), fault
    return text, "it holds NUL bytes, as binary files do" if "\0" in text else None


def parse(path: str, text: str, fault: str | None = None) -> Memory:
    """The memory that `text` is; any text is one. `fault` is what was wrong with its bytes."""
    return Memory(path, text, fault)


def moment(text: str) -> datetime | None:
    """The instant that `text` names: ISO 8601, a date alone being its first moment.

    A time without an offset is local time, as its writer's clock showed it. None when it is no date.
    """
    text = text.strip()
    if " " in text:
        text = re.sub(r" (?=[+-]\d\d:?\d\d$)", "", text)
    try:
        parsed = datetime.fromisoformat(text)
        return parsed if parsed.tzinfo else parsed.astimezone()
    except (ValueError, OverflowError, OSError):
        return None


def compose(body: str, keys: Mapping[str, Written]) -> str:
    """The text of a new memory. Raises UnwritableTextError for a body that is empty or holds NUL."""
    body = body.encode("utf-8", "replace").decode("utf-8").strip("\r\n")
    if not body.strip():
        raise UnwritableTextError("there is no text")
    if "\0" in body:
        raise UnwritableTextError("the text holds a NUL character")
    lines = "".join(f"{line(key, value)}\n" for key, value in keys.items())
    return f"---\n{lines}---\n\n{body}\n"


def revise(memory: Memory, keys: Mapping[str, Written | None], body: str | None = None) -> str:
    """The memory's text with `keys` set (None: taken out) and `body` put in its place.

    Only the lines of what was named differ. The result is parsed and compared before it is given
    back; raises UnsafeChangeError when anything else would change, or could.
    """
    for why in (memory.fault, memory.broken):
        if why:
            raise UnsafeChangeError(memory.path, why)
    if body is not None and "\0" in body:
        raise UnsafeChangeError(memory.path, "the new text holds a NUL character")
    text = memory.text
    if body is not None:
        head = text[: len(text) - len(memory.content)]
        closed = "" if not head.strip("\ufeff") or head.endswith("\n") else "\n"  # a file that ends with its fence
        text = head + closed + _merged_lines(memory.content, body)
    try:
        for key, value in keys.items():
            text = with_key(text, key, value)
    except FrontmatterError as error:
        raise UnsafeChangeError(memory.path, str(error)) from error
    _check(memory, parse(memory.path, text), keys, body)
    return text


def _read(text: str, fault: str | None) -> _Read:
    block, content = split(text)
    warnings = [fault] if fault else []
    frontmatter: dict[str, Value] = {}
    broken = None
    if block is not None:
        try:
            loaded, notes = load(block)
        except FrontmatterError as error:
            broken = str(error)
            warnings.append(f"frontmatter: {broken}")
        else:
            warnings += [f"frontmatter: {note}" for note in notes]
            frontmatter = loaded or {}
            if loaded is None and block.strip():  # two rules around plain words are no frontmatter
                content = text.removeprefix("\ufeff")
    dates: dict[str, datetime | None] = {}
    for key in ("created_at", "updated_at", "expires_at"):
        if key in frontmatter:
            dates[key] = moment(_word(frontmatter[key]))
            if dates[key] is None:
                warnings.append(f"{key}: no date can be read from {_word(frontmatter[key])!r}")
    return _Read(content, frontmatter, broken, tuple(warnings), dates)


def _word(value: Value | None) -> str:
    return value.strip() if isinstance(value, str) else ""


def _listed(value: Value | None, *, split: bool) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, list):
        texts = [item for item in value if isinstance(item, str)]
    else:
        word = _word(value)
        texts = [] if word in ("null", "~") else word.split(",") if split else [word]
    cleaned = (text.strip().removeprefix("#") if split else text.strip() for text in texts)
    return tuple(dict.fromkeys(text for text in cleaned if text and text != "~"))


def _merged_lines(content: str, body: str) -> str:
    """`content` with its text replaced by `body`: lines that stay keep their very endings."""
    text = content.strip("\r\n")
    start = content.index(text) if text else len(content)  # below the blank lines, where there is nothing else
    ending = _ENDING.match(content, start + len(text))  # the last line's own, where it has one
    after = content[ending.end() :] if ending else ""
    newline = "\r\n" if "\r\n" in content else "\n"
    old = _LINE.findall(text + (ending[0] if ending else ""))
    new = _ENDING.split(body.strip("\r\n")) if body.strip("\r\n") else []
    merged: list[str] = []
    for tag, i, j, k, m in _opcodes([row.rstrip("\r\n") for row in old], new):
        rows = old[i:j] if tag == "equal" else [row + newline for row in new[k:m]]
        merged += [row if row.endswith(("\r", "\n")) else row + newline for row in rows]
    if not ending and merged and (text or not content):
        merged[-1] = merged[-1].rstrip("\r\n")
    return content[:start] + "".join(merged) + after


def _opcodes(old: list[str], new: list[str]) -> list[tuple[str, int, int, int, int]]:
    """As difflib's, with the lines that both begin and end with set aside first: its time is quadratic."""
    shorter = min(len(old), len(new))
    start = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    stop = next((i for i in range(shorter - start) if old[-1 - i] != new[-1 - i]), shorter - start)
    middle = (old[start : len(old) - stop], new[start : len(new) - stop])
    small = len(middle[0]) * len(middle[1]) <= COMPARED
    from difflib import SequenceMatcher  # late: only a change needs it

    inner = SequenceMatcher(None, *middle, autojunk=False).get_opcodes() if small else []
    if not small:
        inner = [("replace", 0, len(middle[0]), 0, len(middle[1]))]
    return [
        ("equal", 0, start, 0, start),
        *((tag, i + start, j + start, k + start, m + start) for tag, i, j, k, m in inner),
        ("equal", len(old) - stop, len(old), len(new) - stop, len(new)),
    ]


def _check(old: Memory, new: Memory, keys: Mapping[str, Written | None], body: str | None) -> None:
    wanted: dict[str, Value] = {k: v for k, v in old.frontmatter.items() if k not in keys}
    for key, value in keys.items():
        if value is not None:
            wanted[key] = value if isinstance(value, str) else list(value)
    if new.broken or dict(new.frontmatter) != wanted:
        raise UnsafeChangeError(old.path, "other parts of its frontmatter would read differently")
    if body is None and new.content != old.content:
        raise UnsafeChangeError(old.path, "its body would change too")
    if body is not None and _ENDING.split(new.body) != _ENDING.split(body.strip("\r\n")):
        raise UnsafeChangeError(old.path, "the new body would read differently")

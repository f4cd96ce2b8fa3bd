"""One Markdown file as a value: its text read into a memory, and made, or changed line by line.

Pure: it knows no disk. Of the frontmatter, read as text, the few keys that mean something to us
are parsed here, leniently.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from difflib import SequenceMatcher
from functools import cached_property

from vault_mind.errors import UnsafeChangeError, UnwritableTextError
from vault_mind.frontmatter import FrontmatterError, Value, Written, line, load, split, with_key

KINDS = ("fact", "preference", "correction", "context")
NOTE = "note"


@dataclass(frozen=True)
class Memory:
    """One Markdown file of the vault, as it was read.

    `path` is its identity, POSIX and relative to the vault. `text` is the whole file; `body` what
    stands below the frontmatter. `fault` says why its bytes are no sound text and `broken` why its
    YAML is none (each None when all is well); such a file is searched but never written.
    `warnings` are sentences for the owner, the faults among them.
    """

    path: str
    text: str = field(repr=False)
    content: str = field(repr=False)
    frontmatter: Mapping[str, Value] = field(default_factory=dict)
    fault: str | None = None
    broken: str | None = None
    warnings: tuple[str, ...] = ()
    created_at: datetime | None = None
    updated_at: datetime | None = None
    expires_at: datetime | None = None

    @cached_property
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

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """Its tags, however they were written: a list, one text with commas, with or without #."""
        return _listed(self.frontmatter.get("tags"), split=True)

    @cached_property
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

    @property
    def stem(self) -> str:
        """The file's name without folder and `.md`."""
        return self.path.rpartition("/")[2].rpartition(".")[0]

    @cached_property
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
        """Whether recall may use it: neither superseded nor expired at `now`."""
        return not self.superseded and (self.expires_at is None or self.expires_at > now)


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
    dates = {}
    for key in ("created_at", "updated_at", "expires_at"):
        if key in frontmatter:
            dates[key] = moment(_word(frontmatter[key]))
            if dates[key] is None:
                warnings.append(f"{key}: no date can be read from {_word(frontmatter[key])!r}")
    return Memory(path, text, content, frontmatter, fault, broken, tuple(warnings), **dates)


def moment(text: str) -> datetime | None:
    """The instant that `text` names: ISO 8601, a date alone being its first moment.

    A time without an offset is local time, as its writer's clock showed it. None when it is no date.
    """
    text = re.sub(r" (?=[+-]\d\d:?\d\d$)", "", text.strip())
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
        text = text[: len(text) - len(memory.content)] + _merged_lines(memory.content, body)
    try:
        for key, value in keys.items():
            text = with_key(text, key, value)
    except FrontmatterError as error:
        raise UnsafeChangeError(memory.path, str(error)) from error
    _check(memory, parse(memory.path, text), keys, body)
    return text


def _word(value: Value | None) -> str:
    return value.strip() if isinstance(value, str) else ""


def _listed(value: Value | None, *, split: bool) -> tuple[str, ...]:
    items = value if isinstance(value, list) else [value] if isinstance(value, str) else []
    texts = [item for item in items if isinstance(item, str)]
    if split and isinstance(value, str):
        texts = value.split(",")
    cleaned = (text.strip().removeprefix("#") if split else text.strip() for text in texts)
    return tuple(dict.fromkeys(text for text in cleaned if text and text not in ("null", "~")))


def _merged_lines(content: str, body: str) -> str:
    """`content` with its text replaced by `body`: lines that stay keep their very endings."""
    start = len(content) - len(content.lstrip("\r\n"))
    end = len(content.rstrip("\r\n"))
    if start >= end:
        start = end = min(start, len(content))
    old = content[start:end].splitlines(keepends=True)
    newline = "\r\n" if "\r\n" in content else "\n"
    new = [line + newline for line in re.split(r"\r\n|\r|\n", body.strip("\r\n"))]
    bare = [line.rstrip("\r\n") for line in old]
    matcher = SequenceMatcher(None, bare, [line.rstrip("\r\n") for line in new], autojunk=False)
    merged: list[str] = []
    for tag, i, j, k, m in matcher.get_opcodes():
        merged += old[i:j] if tag == "equal" else new[k:m]
    merged = [line if line.endswith(("\r", "\n")) else line + newline for line in merged]
    return content[:start] + "".join(merged).rstrip("\r\n") + content[end:]


def _check(old: Memory, new: Memory, keys: Mapping[str, Written | None], body: str | None) -> None:
    wanted: dict[str, Value] = {k: v for k, v in old.frontmatter.items() if k not in keys}
    for key, value in keys.items():
        if value is not None:
            wanted[key] = value if isinstance(value, str) else list(value)
    if new.broken or dict(new.frontmatter) != wanted:
        raise UnsafeChangeError(old.path, "other parts of its frontmatter would read differently")
    if body is None and new.content != old.content:
        raise UnsafeChangeError(old.path, "its body would change too")
    if body is not None and re.split(r"\r\n|\r|\n", new.body) != re.split(r"\r\n|\r|\n", body.strip("\r\n")):
        raise UnsafeChangeError(old.path, "the new body would read differently")

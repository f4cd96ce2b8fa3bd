"""One Markdown file as a value: its text read into a memory, and made, or changed line by line.

Pure: it knows no disk. YAML is known here and nowhere else. Every scalar is read as text, as it
was typed; the few keys that mean something to us are parsed from that text, leniently.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from difflib import SequenceMatcher
from functools import cached_property
from typing import Any, TypeAlias

import yaml
from frontmatter.default_handlers import BaseHandler

from vault_mind.errors import UnsafeChangeError, UnwritableTextError

Value: TypeAlias = str | list["Value"] | dict[str, "Value"]

KINDS = ("fact", "preference", "correction", "context")
NOTE = "note"
DEEPEST = 32  # levels of nesting in a frontmatter; Obsidian shows one

_FENCES = BaseHandler(re.compile(r"^---[ \t]*\r?$", re.MULTILINE))
_RESOLVER: Any = yaml.SafeLoader("")  # says what type a plain scalar would be taken for
_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # libyaml where PyYAML was built with it

_PLAIN = r"[\w/(](?:[\w ./+()',-]|:(?=[\w/]))*"
_QUOTED = r'"[^"\\]*"'
_ITEM = rf"(?:[\w/](?:[\w ./+-])*|{_QUOTED})"
_FAST_LINE = re.compile(rf"([A-Za-z_][\w-]*):(?: +({_PLAIN}|{_QUOTED}|\[(?:{_ITEM}(?:, *{_ITEM})*)?\]))? *\r?")
_FAST_ITEM = re.compile(_ITEM)
_SAFE_PLAIN = re.compile(r"[A-Za-z](?:[\w ./+()',-])*(?<! )")
_TIMESTAMP = re.compile(r"\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2}))?", re.ASCII)
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


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
    block, content = _split(text)
    warnings = [fault] if fault else []
    frontmatter: dict[str, Value] = {}
    broken = None
    if block is not None:
        try:
            loaded, repeated = _loaded(block)
        except (yaml.YAMLError, _RefusedError) as error:
            broken = _where(error)
            warnings.append(f"frontmatter: {broken}")
        else:
            if isinstance(loaded, dict):
                frontmatter = loaded
                warnings += [
                    f"frontmatter: line {n}: {key!r} is given twice; the last one counts" for key, n in repeated
                ]
            elif block.strip():  # two rules around plain words, not a frontmatter
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


def compose(body: str, keys: Mapping[str, str | Sequence[str]]) -> str:
    """The text of a new memory. Raises UnwritableTextError for a body that is empty or holds NUL."""
    body = body.encode("utf-8", "replace").decode("utf-8").strip("\r\n")
    if not body.strip():
        raise UnwritableTextError("there is no text")
    if "\0" in body:
        raise UnwritableTextError("the text holds a NUL character")
    lines = [f"{key}: {_written(key, value)}\n" for key, value in keys.items()]
    return f"---\n{''.join(lines)}---\n\n{body}\n"


def revise(memory: Memory, keys: Mapping[str, str | Sequence[str] | None], body: str | None = None) -> str:
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
    for key, value in keys.items():
        text = _with_key(memory.path, text, key, value)
    _check(memory, parse(memory.path, text), keys, body)
    return text


class _RefusedError(Exception):
    """YAML that is sound but not for us: aliases, deep nesting, keys that are no text."""

    def __init__(self, why: str, event: yaml.Event) -> None:
        self.problem, self.problem_mark = why, event.start_mark
        super().__init__(why)


def _split(text: str) -> tuple[str | None, str]:
    """The lines between the fences (None: no frontmatter), and what follows the closing fence's line."""
    bare = text.removeprefix("\ufeff")
    if not bare.startswith("---") or not _FENCES.detect(bare):
        return None, bare
    try:
        block, content = _FENCES.split(bare)
    except ValueError:  # no closing fence
        return None, bare
    return block.removeprefix("\n"), content.removeprefix("\n")


def _loaded(block: str) -> tuple[Value, list[tuple[str, int]]]:
    """The block as text, lists and mappings, and the keys given twice with their line in the file."""
    fast = _loaded_fast(block)
    return (fast, []) if fast is not None else _loaded_whole(block)


def _loaded_fast(block: str) -> dict[str, Value] | None:
    """What `_loaded_whole` gives, for the flat frontmatter that nearly all memories have; else None."""
    found: dict[str, Value] = {}
    for line in block.removesuffix("\n").split("\n"):
        match = _FAST_LINE.fullmatch(line)
        if not match or match[1] in found or not line.rstrip("\r").isprintable():
            return None
        value = (match[2] or "").rstrip(" ")
        if value.startswith("["):
            found[match[1]] = [item.strip(" ").strip('"') for item in _FAST_ITEM.findall(value[1:-1])]
        else:
            found[match[1]] = value[1:-1] if value.startswith('"') else value
    return found or None


def _loaded_whole(block: str) -> tuple[Value, list[tuple[str, int]]]:
    """By YAML's events, without recursion: no alias can swell it and no depth can end the stack."""
    root: list[Value] = []
    stack: list[list[Value] | dict[str, Value]] = [root]
    waiting: list[str | None] = [None]  # beside each container, the key whose value comes next
    repeated: list[tuple[str, int]] = []
    for event in yaml.parse(block, Loader=_LOADER):
        if isinstance(event, yaml.AliasEvent):
            raise _RefusedError("aliases (*name) are not read", event)
        if isinstance(event, yaml.CollectionEndEvent):
            stack.pop()
            waiting.pop()
        if not isinstance(event, yaml.NodeEvent):
            continue
        value = _begun(event)
        container, key = stack[-1], waiting[-1]
        if isinstance(container, list):
            container.append(value)
        elif key is not None:
            container[key], waiting[-1] = value, None
        elif isinstance(value, str):
            waiting[-1] = value
            repeated += [(value, _line(event))] if value in container else []
        else:
            raise _RefusedError("a key must be a text", event)
        if not isinstance(value, str):
            stack.append(value)
            waiting.append(None)
            if len(stack) > DEEPEST:
                raise _RefusedError(f"nested more than {DEEPEST} levels deep", event)
    return (root[0] if len(root) == 1 else root), repeated


def _begun(event: yaml.NodeEvent) -> Value:
    if isinstance(event, yaml.ScalarEvent):
        return str(event.value)
    return {} if isinstance(event, yaml.MappingStartEvent) else []


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 2 if event.start_mark else 0  # the fence is line 1


def _where(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "it is not YAML"
    return f"line {mark.line + 2}, column {mark.column + 1}: {problem}" if mark else str(problem)


def _word(value: Value | None) -> str:
    return value.strip() if isinstance(value, str) else ""


def _listed(value: Value | None, *, split: bool) -> tuple[str, ...]:
    items = value if isinstance(value, list) else [value] if isinstance(value, str) else []
    texts = [item for item in items if isinstance(item, str)]
    if split and isinstance(value, str):
        texts = value.split(",")
    cleaned = (text.strip().removeprefix("#") if split else text.strip() for text in texts)
    return tuple(dict.fromkeys(text for text in cleaned if text and text not in ("null", "~")))


def _written(key: str, value: str | Sequence[str]) -> str:
    if isinstance(value, str):
        return _scalar(value, quoted=key == "quote")
    return f"[{', '.join(_scalar(item) for item in value)}]"


def _scalar(text: str, *, quoted: bool = False) -> str:
    """`text` as one YAML scalar on one line: plain where every parser reads it as that text."""
    text = text.encode("utf-8", "replace").decode("utf-8")
    if not quoted and _TIMESTAMP.fullmatch(text):
        return text
    if not quoted and text == "true":  # `pinned: true`, a checkbox in Obsidian
        return text
    plain = _SAFE_PLAIN.fullmatch(text) and "," not in text
    if plain and not quoted and _resolved(text) == "tag:yaml.org,2002:str":
        return text
    return _UNPRINTABLE.sub(lambda c: f"\\u{ord(c[0]):04x}", json.dumps(text, ensure_ascii=False))


def _resolved(text: str) -> str:
    return str(_RESOLVER.resolve(yaml.ScalarNode, text, (True, False)))


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


def _with_key(path: str, text: str, key: str, value: str | Sequence[str] | None) -> str:
    block, _ = _split(text)
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    newline = "\r\n" if "\r\n" in text.partition("\n")[0] + "\n" else "\n"
    line = "" if value is None else f"{key}: {_written(key, value)}{newline}"
    if block is None:
        if text.removeprefix(mark).startswith("---"):
            raise UnsafeChangeError(path, "it opens with a rule that no frontmatter follows")
        return f"{mark}---{newline}{line}---{newline}{text.removeprefix(mark)}" if line else text
    start = text.index("\n") + 1
    root = yaml.compose(block, Loader=yaml.BaseLoader)  # the slow loader: its marks count characters
    if root is None:
        return text[: start + len(block)] + line + text[start + len(block) :]
    if not isinstance(root, yaml.MappingNode) or root.flow_style:
        raise UnsafeChangeError(path, "its frontmatter is not a block of `key: value` lines")
    pairs = [(k, v) for k, v in root.value if k.value == key]
    if len(pairs) > 1:
        raise UnsafeChangeError(path, f"it gives {key!r} twice")
    if not pairs:
        indent = " " * root.start_mark.column
        return text[: start + len(block)] + (indent + line if line else "") + text[start + len(block) :]
    return text[:start] + _with_value(path, block, pairs[0], key, value) + text[start + len(block) :]


def _with_value(
    path: str, block: str, pair: tuple[yaml.Node, yaml.Node], key: str, value: str | Sequence[str] | None
) -> str:
    name, node = pair
    begin, end = node.start_mark.index, _end(node)
    if isinstance(node, yaml.MappingNode) or (isinstance(node, yaml.ScalarNode) and node.style in ("|", ">")):
        raise UnsafeChangeError(path, f"its {key!r} is written over several lines")
    stacked = node if isinstance(node, yaml.SequenceNode) and not node.flow_style else None
    if stacked and "#" in _outside_quotes(block[begin:end]):
        raise UnsafeChangeError(path, f"its {key!r} holds comments")
    if value is None:
        first = block.rfind("\n", 0, name.start_mark.index) + 1
        last = block.find("\n", end)
        return block[:first] + (block[last + 1 :] if last >= 0 else "")
    if stacked and not isinstance(value, str) and value:
        return block[:begin] + _stacked_items(block, stacked, value) + block[end:]
    if stacked:  # the list gives way to a value on the key's own line
        begin = name.end_mark.index + block[name.end_mark.index :].index(":") + 1
    before = "" if block[begin - 1 : begin] in (" ", "\t") else " "
    return block[:begin] + before + _written(key, value) + block[end:]


def _stacked_items(block: str, node: yaml.SequenceNode, wanted: Sequence[str]) -> str:
    """The items of a `- item` list anew, those that stay as they were written."""
    indent = " " * node.start_mark.column
    newline = "\r\n" if "\r\n" in block else "\n"
    kept = {item.value: block[item.start_mark.index : _end(item)] for item in node.value}
    lines = [f"{indent}- {kept.get(item) or _scalar(item)}" for item in wanted]
    return newline.join(lines).removeprefix(indent)


def _end(node: yaml.Node) -> int:
    # A block list's own end mark stands at the next key, past comments and blank lines.
    if isinstance(node, yaml.SequenceNode) and not node.flow_style and node.value:
        return _end(node.value[-1])
    return int(node.end_mark.index)


def _outside_quotes(text: str) -> str:
    return re.sub(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'', "", text)


def _check(old: Memory, new: Memory, keys: Mapping[str, str | Sequence[str] | None], body: str | None) -> None:
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

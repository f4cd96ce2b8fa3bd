"""The YAML between the fences: found, read as text, written, and changed line by line. Pure.

YAML is known here and nowhere else. Every scalar is read as the text that was typed, so that `no`,
`0644` and `2026-02-30` stay what they are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:  # yaml and python-frontmatter are imported late: nearly no memory needs them to be read
    import yaml
    from frontmatter.default_handlers import BaseHandler

Value: TypeAlias = str | list["Value"] | dict[str, "Value"]
Written: TypeAlias = str | Sequence[str]

NAMED = 5  # keys given twice that are named one by one
DEEPEST = 32  # levels of nesting in a frontmatter; Obsidian shows one

SHORT = 24  # characters of a line up to which it is likely to be met again

DATES = ("created_at", "updated_at", "expires_at", "superseded_at")

_PLAIN = r"[\w/(][\w ./+()',-]*+(?::(?=[\w/])[\w ./+()',-]*+)*"
_QUOTED = r'"[^"\\\r\n]*+"'
_ITEM = rf"(?:[\w/][\w ./+-]*+|{_QUOTED})"
_FAST_LINE = re.compile(rf"([A-Za-z_][\w-]{{0,99}}):(?: +({_PLAIN}|{_QUOTED}|\[(?:{_ITEM}(?:, *{_ITEM})*)?\]))? *+\r?")
_FAST_ITEM = re.compile(_ITEM)
_SAFE_PLAIN = r"[A-Za-z](?:[\w ./+()',-])*(?<! )"
_TIMESTAMP = r"(?a)\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2}))?"
_NOT_TEXT = frozenset("y n yes no on off true false null".split())  # all that begins with a letter and may be no text
_UNPRINTABLE = "[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]"


class FrontmatterError(Exception):
    """A block that cannot be read, or cannot be changed safely; the message says why and where."""


def split(text: str) -> tuple[str | None, str]:
    """The lines between the fences (None: there are no two), and what follows the closing fence's line."""
    bare = text.removeprefix("\ufeff")
    if not bare.startswith("---"):
        return None, bare
    if bare.startswith("---\n"):  # as nearly all are; the first line that begins like a fence is one, or we look closer
        end = bare.find("\n---", 3)
        if end >= 0 and bare[end + 4 : end + 5] == "\n":
            return bare[4 : end + 1], bare[end + 5 :]
    if not _fences().detect(bare):
        return None, bare
    try:
        block, content = _fences().split(bare)
    except ValueError:  # no closing fence
        return None, bare
    return block.removeprefix("\n"), content.removeprefix("\n")


def load(block: str) -> tuple[dict[str, Value] | None, list[str]]:
    """The block as text, lists and mappings (None: it is no mapping), and sentences on keys given twice.

    Of a key given twice the last one counts. Raises FrontmatterError for what is no YAML, and for
    YAML that could do harm: aliases, more than DEEPEST levels, keys that are no text.
    """
    fast = _loaded_fast(block)
    if fast is not None:
        return fast, []
    import yaml  # late, as above

    try:
        loaded, repeated = _loaded_whole(block)
    except (yaml.YAMLError, ValueError) as error:  # ValueError: half a surrogate pair
        raise FrontmatterError(_where(error)) from error
    lines = dict(reversed(repeated))  # the first line of each
    notes = [f"line {lines[key]}: {key!r} is given twice; the last one counts" for key in sorted(lines)[:NAMED]]
    if len(lines) > NAMED:
        notes.append(f"{len(lines) - NAMED} more keys are given twice")
    return (loaded if isinstance(loaded, dict) else None), notes


def line(key: str, value: Written) -> str:
    """`key: value` on one line, quoted where any parser could misread it."""
    return f"{key}: {_written(key, value)}"


def with_key(text: str, key: str, value: Written | None) -> str:
    """`text` with `key` set to `value`, or taken out for None; all other lines as they were.

    Raises FrontmatterError where that cannot be done on the key's own lines alone.
    """
    block, _ = split(text)
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    newline = "\r\n" if "\r\n" in text.partition("\n")[0] + "\n" else "\n"
    added = "" if value is None else line(key, value) + newline
    if block is None:
        if text.lstrip("\ufeff").startswith("---"):
            raise FrontmatterError("it opens with a rule that no frontmatter follows")
        return f"{mark}---{newline}{added}---{newline}{text.removeprefix(mark)}" if added else text
    import yaml  # late, as above

    start = text.index("\n") + 1
    try:
        root = yaml.compose(block, Loader=yaml.BaseLoader)  # the slow loader: its marks count characters
    except yaml.YAMLError as error:  # the two loaders do not agree on everything
        raise FrontmatterError(_where(error)) from error
    if root is None:
        return text[: start + len(block)] + added + text[start + len(block) :]
    if not isinstance(root, yaml.MappingNode) or root.flow_style:
        raise FrontmatterError("its frontmatter is not a block of `key: value` lines")
    pairs = [(k, v) for k, v in root.value if k.value == key]
    if len(pairs) > 1:
        raise FrontmatterError(f"it gives {key!r} twice")
    if not pairs:
        indent = " " * root.start_mark.column
        return text[: start + len(block)] + (indent + added if added else "") + text[start + len(block) :]
    return text[:start] + _with_value(block, pairs[0], key, value) + text[start + len(block) :]


def lines_of(text: str, key: str) -> list[str]:
    """The lines on which `key` and its value stand, without their endings; none where there is no such key.

    Raises FrontmatterError for a block that cannot be read.
    """
    block, _ = split(text)
    import yaml  # late, as above

    try:
        root = yaml.compose(block or "", Loader=yaml.BaseLoader)
    except yaml.YAMLError as error:
        raise FrontmatterError(_where(error)) from error
    if block is None or not isinstance(root, yaml.MappingNode):
        return []
    found: list[str] = []
    for name, node in root.value:
        if name.value == key:
            first = block.rfind("\n", 0, name.start_mark.index) + 1
            found += block[first : (block + "\n").index("\n", _end(block, node))].splitlines()
    return found


@cache
def _fences() -> BaseHandler:
    from frontmatter.default_handlers import BaseHandler  # late, as above

    return BaseHandler(re.compile(r"^---[ \t]*\r?$", re.MULTILINE))


@cache
def _resolver() -> Any:
    """Says what type a plain scalar would be taken for."""
    import yaml  # late, as above

    return yaml.SafeLoader("")


def _loaded_fast(block: str) -> dict[str, Value] | None:
    """What `_loaded_whole` gives, for the flat frontmatter that nearly all memories have; else None."""
    if not (block.replace("\r\n", "") if "\r" in block else block).replace("\n", "").isprintable():
        return None
    found: dict[str, Value] = {}
    for row in block.removesuffix("\n").split("\n"):
        pair = _short_pair(row) if len(row) <= SHORT else _pair(row)
        if not pair or pair[0] in found:
            return None
        found[pair[0]] = pair[1] if isinstance(pair[1], str) else list(pair[1])
    return found


def _pair(row: str) -> tuple[str, str | tuple[str, ...]] | None:
    """The key and the value of one line; None where it has to be read more slowly."""
    match = _FAST_LINE.fullmatch(row)
    if not match:
        return None
    key, value = match.groups("")
    if value[:1] == "[":
        return key, tuple(item.strip(" ").strip('"') for item in _FAST_ITEM.findall(value[1:-1]))
    return key, value[1:-1] if value[:1] == '"' else value.rstrip(" ")


_short_pair = lru_cache(maxsize=1 << 10)(_pair)  # most lines stand in many memories: `kind: fact`, `source: chat`


def _loaded_whole(block: str) -> tuple[Value, list[tuple[str, int]]]:
    """By YAML's events, without recursion: no alias can swell it and no depth can end the stack."""
    import yaml  # late, as above

    root: list[Value] = []
    stack: list[list[Value] | dict[str, Value]] = [root]
    waiting: list[str | None] = [None]  # beside each container, the key whose value comes next
    repeated: list[tuple[str, int]] = []
    # libyaml where PyYAML was built with it
    for event in yaml.parse(block, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader)):
        if isinstance(event, yaml.AliasEvent):
            raise FrontmatterError(_at(event, "aliases (*name) are not read"))
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
            raise FrontmatterError(_at(event, "a key must be a text"))
        if not isinstance(value, str):
            stack.append(value)
            waiting.append(None)
            if len(stack) > DEEPEST:
                raise FrontmatterError(_at(event, f"nested more than {DEEPEST} levels deep"))
    return (root[0] if len(root) == 1 else root), repeated


def _begun(event: yaml.NodeEvent) -> Value:
    import yaml  # late, as above

    if isinstance(event, yaml.ScalarEvent):
        return str(event.value)
    return {} if isinstance(event, yaml.MappingStartEvent) else []


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 2 if event.start_mark else 0  # the fence is line 1


def _at(event: yaml.Event, what: str) -> str:
    return f"line {_line(event)}: {what}"


def _where(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "it is not YAML"
    return f"line {mark.line + 2}, column {mark.column + 1}: {problem}" if mark else str(problem)


def _written(key: str, value: Written) -> str:
    if isinstance(value, str):
        typed = (key in DATES and re.fullmatch(_TIMESTAMP, value)) or (key == "pinned" and value == "true")
        return value if typed else _scalar(value, quoted=key == "quote")
    return f"[{', '.join(_scalar(item) for item in value)}]"


def _scalar(text: str, *, quoted: bool = False) -> str:
    """`text` as one YAML scalar on one line: plain where every parser reads it as that text."""
    text = text.encode("utf-8", "replace").decode("utf-8")
    plain = re.fullmatch(_SAFE_PLAIN, text) and "," not in text and text.lower() not in ("y", "n")
    if plain and not quoted and (text.lower() not in _NOT_TEXT or _resolved(text) == "tag:yaml.org,2002:str"):
        return text
    import json  # late: most texts are plain, and those who search write none

    return re.sub(_UNPRINTABLE, lambda c: f"\\u{ord(c[0]):04x}", json.dumps(text, ensure_ascii=False))


def _resolved(text: str) -> str:
    import yaml  # late, as above

    return str(_resolver().resolve(yaml.ScalarNode, text, (True, False)))


def _with_value(block: str, pair: tuple[yaml.Node, yaml.Node], key: str, value: Written | None) -> str:
    import yaml  # late, as above

    name, node = pair
    first = block.rfind("\n", 0, name.start_mark.index) + 1
    colon, begin, end = name.end_mark.index, node.start_mark.index, _end(block, node)
    if isinstance(node, yaml.MappingNode) or (isinstance(node, yaml.ScalarNode) and node.style in ("|", ">")):
        raise FrontmatterError(f"its {key!r} is written over several lines")
    if block[first : name.start_mark.index].strip() or not block[colon:].lstrip(" ").startswith(":"):
        raise FrontmatterError(f"its {key!r} is not written as `key: value`")
    stacked = node if isinstance(node, yaml.SequenceNode) and not node.flow_style else None
    if _commented(block[:end], colon, node):
        raise FrontmatterError(f"its {key!r} holds comments")
    if "\r" in block.replace("\r\n", ""):  # YAML ends a line there and editors do not
        raise FrontmatterError("its frontmatter holds a carriage return within a line")
    if value is None:  # with what stands on the key's own line
        return block[:first] + block[(block + "\n").index("\n", end) + 1 :]
    if stacked and not isinstance(value, str) and value:
        return block[:begin] + _stacked_items(block, stacked, value) + block[end:]
    if stacked:  # the list gives way to a value on the key's own line
        begin = block.index(":", colon) + 1
    before = "" if block[begin - 1 : begin] in (" ", "\t") else " "
    return block[:begin] + before + _written(key, value) + block[end:]


def _commented(block: str, start: int, node: yaml.Node) -> bool:
    """Whether a comment stands in `block` from `start` on, outside the scalars of `node`."""
    between, at = [], start
    for scalar in _scalars(node):
        between.append(block[at : scalar.start_mark.index])
        at = max(at, scalar.end_mark.index)
    return "#" in "".join((*between, block[at:]))


def _scalars(node: yaml.Node) -> list[yaml.Node]:
    import yaml  # late, as above

    if isinstance(node, yaml.ScalarNode):
        return [node]
    inner = node.value if isinstance(node, yaml.SequenceNode) else [part for pair in node.value for part in pair]
    return [scalar for child in inner for scalar in _scalars(child)]


def _stacked_items(block: str, node: yaml.SequenceNode, wanted: Sequence[str]) -> str:
    """The items of a `- item` list anew, those that stay as they were written."""
    import yaml  # late, as above

    if not all(isinstance(item, yaml.ScalarNode) and item.style not in ("|", ">") for item in node.value):
        raise FrontmatterError("its list holds more than words")
    start = node.start_mark.index
    ending = re.search(r"\r?\n", block[start:])  # the list's own, where a block has both
    before = (ending[0] if ending else "\n") + " " * node.start_mark.column
    kept = {}  # each item as it was written, with what stands before it: its dash, and blank lines
    at, lead = start, before
    for item in node.value:
        lead += block[at : item.start_mark.index]
        kept[item.value] = (lead, block[item.start_mark.index : item.end_mark.index])
        at, lead = item.end_mark.index, ""
    lines = [
        lead + (typed or _scalar(item)) for item in wanted for lead, typed in [kept.get(item, (f"{before}- ", ""))]
    ]
    return "".join((lines[0].lstrip(" \r\n"), *lines[1:]))


def _end(block: str, node: yaml.Node) -> int:
    import yaml  # late, as above

    # The end mark of a block list, mapping or scalar stands below it, past comments and blank lines.
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(block, last[1] if isinstance(last, tuple) else last)
    end = int(node.end_mark.index)
    return len(block[:end].rstrip()) if isinstance(node, yaml.ScalarNode) and node.style in ("|", ">") else end

"""Laws of reading and changing a file, over generated files that are realistic and nasty."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pytest
import yaml
from hypothesis import assume, event, example, given, settings
from hypothesis import strategies as st

from tests.conftest import THOROUGH
from vault_mind.errors import UnsafeChangeError
from vault_mind.frontmatter import Value, _loaded_fast, _loaded_whole, split
from vault_mind.memory import Memory, compose, decoded, moment, parse, revise

# Everything that YAML, Markdown or a terminal could take for more than a letter.
PIECES = (
    "---\n", "---\r\n", "--- \n", "----\n", " ---\n", "...\n", "--- x\n", "%YAML 1.2\n", "%TAG ! x\n",
    "kind: fact\n", "tags: [a, b]\n", "a: &x 1\n", "b: *x\n", "<<: *x\n", "? a\n", ": b\n", "- c\n", "  - d\n",
    "e: |\n", "f: >-\n", "g: 'h\n", 'i: "j\n', "created_at: 2026-02-30\n", "content: x\n", "handler: y\n",
    "no: yes\n", "1: 2\n", "!!binary ", "!!python/object:os.system ", "{", "}", "[", "]", ",", ":", ": ", "#", " # n\n",
    "|", "@", "`", "%", "=", "~", "\\", "\\x", '"', "'", "\t", "\r", "\n", " ", "\ufeff", "\0", "\x0b", "\x0c",
    "\x1b[31m", "\x7f", "\x85", "\u2028", "\u2029", "\ud800", "\udcff", "\ufffe", "😀", "é",
)  # fmt: skip
ANY_TEXT = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=60),
    st.lists(st.sampled_from(PIECES), max_size=25).map("".join),
    st.lists(st.sampled_from(PIECES), max_size=25).map(lambda pieces: "---\n" + "".join(pieces) + "\n---\nbody\n"),
)
SOUND_TEXT = st.one_of(
    st.text(max_size=40),
    st.lists(st.sampled_from([piece for piece in PIECES if piece not in ("\0", "\ud800", "\udcff")]), max_size=8).map(
        "".join
    ),
).filter(lambda text: "\0" not in text)

WORDS = st.sampled_from(
    ["tea", "green tea", "no", "0644", "1.20", "12:30", "2026-02-30", "~", "null", "café", "東京", "a#b", "x-y", "(z)"]
)


def everything_of(memory: Memory) -> None:
    """Look at all that a memory can be asked."""
    assert isinstance(memory.searched, str)
    assert isinstance(memory.title, str)
    assert all(isinstance(text, str) for text in (*memory.tags, *memory.aliases, *memory.warnings, memory.kind))
    assert memory.source is None or memory.source
    assert memory.quote is None or memory.quote
    assert memory.pinned in (True, False)
    assert memory.superseded in (True, False)
    assert memory.text.endswith(memory.content)


# --- any text is a memory -------------------------------------------------------------------------


@given(ANY_TEXT)
@settings(max_examples=33 * THOROUGH)
def test_any_text_is_a_memory(text: str) -> None:
    everything_of(parse("note.md", text))


@given(st.one_of(st.binary(max_size=80), ANY_TEXT.map(lambda text: text.encode("utf-16", "surrogatepass"))))
@settings(max_examples=33 * THOROUGH)
@example(b"\xff\xfe")
@example(b"\xff\xfe\x00\xd8")
@example(b"\xef\xbb\xbf")
@example(b"---\nkind: caf\xe9\n---\n\xff")
def test_any_bytes_are_a_memory_and_sound_ones_come_back_the_same(data: bytes) -> None:
    text, fault = decoded(data)

    everything_of(parse("note.md", text, fault))
    assert fault is not None or text.encode() == data


@given(st.one_of(st.text(st.characters(exclude_categories=())), st.text("0123456789-+:.TWZ ", max_size=30)))
@settings(max_examples=33 * THOROUGH)
def test_any_text_is_a_moment_or_none(text: str) -> None:
    found = moment(text)

    assert found is None or (found.tzinfo is not None and found.isoformat())


# --- the fast path reads what the whole parser reads ----------------------------------------------

_NAMES = st.sampled_from(["kind", "source", "created_at", "tags", "no", "x-y", "_a", "été", "キー", "k" * 200, "y2"])
_PLAIN = st.one_of(
    WORDS,
    st.text("aB9é_ -./+(),':東²", min_size=1, max_size=12),
    st.sampled_from(["2026-11-29T18:42:07+01:00", "a: b", "a:b", "http://x/y", "a :b", "a - b", "it's", "(a) b", "x:"]),
)
_ITEMS = st.one_of(
    WORDS, st.text("aB9é_ -./+", max_size=8), st.sampled_from(['"a, b"', '""', '" c "', '"#d"', '"[e]"'])
)
_FLAT_LINES = st.tuples(
    _NAMES,
    st.sampled_from([": ", ":", ":  ", " : ", ":\t"]),
    st.one_of(
        _PLAIN,
        _PLAIN.map(lambda text: f'"{text}"'),
        st.lists(_ITEMS, max_size=4).flatmap(
            lambda items: st.sampled_from([", ", ",", " , ", ",  "]).map(lambda comma: f"[{comma.join(items)}]")
        ),
        st.just(""),
    ),
    st.sampled_from(["", " ", "  ", "\t", " # c", "#c"]),
    st.sampled_from(["\n", "\r\n", "\r"]),
).map("".join)
_NEAR_MISSES = st.text("kvé1 :-#,[]{}\"'\\\t\r\n\u2028\x85\ufeff&*!|>%@`?~=.()/_+", max_size=24)


def as_read_by_pyyaml(block: str) -> object:
    return yaml.load(block, Loader=yaml.BaseLoader)


def agreed(block: str) -> None:
    """Where the fast path answers, the whole parser and PyYAML's own loader say the same."""
    fast = _loaded_fast(block)
    event(f"the fast path {'answers' if fast is not None else 'passes'}")
    if fast is not None:
        assert _loaded_whole(block) == (fast, [])
        assert as_read_by_pyyaml(block) == fast


@given(st.lists(_FLAT_LINES, min_size=1, max_size=5).map("".join))
@settings(max_examples=60 * THOROUGH)
@example("tags: [a -]\n")
@example("tags: [ a]\n")
@example("tags: []\n")
@example("kind:\n")
@example('quote: ""\n')
@example("kind: fact")
@example("a: b\r\nc: d\n")
def test_the_fast_path_agrees_on_flat_frontmatter(block: str) -> None:
    agreed(block)


@given(st.one_of(_NEAR_MISSES, st.tuples(_NAMES, _NEAR_MISSES).map(": ".join), _NEAR_MISSES.map("t: [{}]\n".format)))
@settings(max_examples=60 * THOROUGH)
def test_the_fast_path_agrees_on_lines_that_are_nearly_flat(block: str) -> None:
    agreed(block)


# YAML takes no key of more than 1,024 characters.
def test_the_fast_path_agrees_on_a_key_that_is_too_long_for_yaml() -> None:
    block = "k" * 1100 + ": v\n"

    with pytest.raises(yaml.YAMLError):
        as_read_by_pyyaml(block)

    assert _loaded_fast(block) is None


# --- a change leaves every other line alone -------------------------------------------------------


@dataclass(frozen=True)
class Entry:
    """One key with its lines, as an owner may have typed them; `simple` when it can surely be changed."""

    key: str
    lines: tuple[str, ...]
    comments: tuple[str, ...] = ()
    simple: bool = True


KEYS = ("kind", "tags", "aliases", "title", "x", "content", "no", "1", "two words", "été")
COMMENTS = st.sampled_from(["# owner: keep me", "#tight", '# it\'s "odd": - [', "# ---", "# kind: shadow", "# tags:"])
BLANKS = st.sampled_from(["", "  "])


def _typed_key(key: str) -> st.SearchStrategy[str]:
    return st.sampled_from([f"{key}:", f"{key}:", f"{key}:", f'"{key}":', f"'{key}':", f"{key} :"])


_ONE_LINERS = st.sampled_from(
    [
        "fact", "two words", "no", "0644", "~", "", "12:30", "2026-02-30", "a:b", "it's # not", "http://x/#y",
        "'single ''quoted'' # text'", '"double \\" # \\u00e9 text"', '"---"', "'...'", "''", '""', "!!str 12",
        "&anchor x", "[]", "[a, 'b # c', \"d\"]", "[a,b , c]", "café 東京 😀", "\"\\\"[[link]]\\\"\"",
        "'it''s'", '"a: b"', "a \\ b", "x, y", "don't, won't",
    ]
)  # fmt: skip
_LIST_ITEMS = st.sampled_from(
    ["a", "b c", "no", "'q # r'", '"s: t"', "'it''s'", "it's", '"[[u]]"', "", "2024", "c#", "don't", "!!str 5"]
)


@st.composite
def scalars(draw: st.DrawFn, key: str, *, commented: bool = False) -> Entry:
    value = draw(_ONE_LINERS).replace("&anchor", f"&anchor{KEYS.index(key)}")
    comment = draw(COMMENTS if commented else st.one_of(st.just(""), st.just(""), COMMENTS))
    lines = f"{draw(_typed_key(key))} {value}".rstrip(" ") + draw(st.sampled_from(["", "", " "]))
    return Entry(key, (f"{lines} {comment}".rstrip(" ") if comment else lines,), (comment,) if comment else ())


@st.composite
def folded_scalars(draw: st.DrawFn, key: str) -> Entry:
    name = draw(_typed_key(key))
    lines = draw(
        st.sampled_from(
            [
                ("first words", "  second words"),
                ("'single", "", "  quoted # text'"),
                ('"double', "  # no comment \\", '  end"'),
                ("", "  value below"),
                ("[a,", "  b]"),
                ("[", "  a, 'b',", "  ]"),
                ("{a: 1,", "  b: 2}"),
                ("{}",),
            ]
        )
    )
    return Entry(key, (f"{name} {lines[0]}".rstrip(" "), *lines[1:]), simple=not lines[0].startswith("{"))


@st.composite
def commented_flow_lists(draw: st.DrawFn, key: str) -> Entry:
    return Entry(key, (f"{draw(_typed_key(key))} [a, # first of all", "  b]"), ("# first of all",), simple=False)


@st.composite
def block_scalars(draw: st.DrawFn, key: str) -> Entry:
    head = draw(st.sampled_from(["|", ">", "|-", ">-", "|+", "| # why"]))
    inner = draw(st.lists(st.sampled_from(["  text", "  # no comment", "  ---", "  kind: no key", "", "    deep"])))
    return Entry(key, (f"{draw(_typed_key(key))} {head}", "  text", *inner), simple=False)


@st.composite
def block_lists(draw: st.DrawFn, key: str, *, commented: bool = False) -> Entry:
    indent = " " * draw(st.sampled_from([0, 2, 2, 4]))
    lines, comments = [draw(_typed_key(key))], []
    surely = draw(st.integers(0, 3)) if commented else 4  # which of the places for a comment is taken for sure
    if surely == 3 or draw(st.integers(0, 5)) == 0:
        comments.append("# on the key's line")
        lines[0] += " # on the key's line"
    for number, item in enumerate(draw(st.lists(_LIST_ITEMS, min_size=1, max_size=4))):
        strange = surely if number == 0 and surely in (0, 2) else draw(st.integers(0, 11))
        if strange == 0:
            comments.append(f"# above {number}")
            lines.append(f"{indent}# above {number}")
        if strange == 1:
            lines.append("")
        if strange == 2 and item:
            comments.append(f"# the owner's {number}")
            item += f" # the owner's {number}"
        lines.append(f"{indent}- {item}".rstrip(" "))
    return Entry(key, tuple(lines), tuple(comments), simple=not comments)


@st.composite
def strange_lists(draw: st.DrawFn, key: str) -> Entry:
    items = draw(
        st.sampled_from(
            [
                ("  - [a, b]", "  - c"),
                ("  - x: 1", "    y: 2"),
                ("  - - a", "    - b", "  - c"),
                ("  - a", "  - x: 1"),
                ("  - |", "    text", "  - b"),
                ("  - a", "  - |", "    text"),
                ("  - 'a", "    b'"),
                ("  - a", "    b", "  - c"),
                ("  -", "    a", "  - b"),
                ("  - x: |", "      text"),
                ("  - {a: b}", "  - c"),
                ("  - [a,", "    b]"),
                ('  - "a', '    # no comment"', "  - b"),
                ("  - !!str", "    a"),
                ("  - ? a", "    : b"),
                ("  - >+", "    text", ""),
            ]
        )
    )
    mark = draw(st.sampled_from(["", "", "", " !!seq", " &list"]))
    return Entry(key, (draw(_typed_key(key)) + mark, *items), simple=False)


@st.composite
def mappings(draw: st.DrawFn, key: str) -> Entry:
    inner = draw(
        st.sampled_from(
            [("  kind: inner",), ("  a: 1", "  b:", "    - c"), ("  # c", "  tags: [x]"), ("  a: |", "    t")]
        )
    )
    return Entry(key, (draw(_typed_key(key)), *inner), simple=False)


@st.composite
def explicit_keys(draw: st.DrawFn, key: str) -> Entry:
    rest = draw(st.sampled_from([(": value",), (": - a", "  - b"), (": [a]",), ()]))
    return Entry(key, (f"? {key}", *rest), simple=False)


def entries(key: str) -> st.SearchStrategy[Entry]:
    return st.one_of(
        scalars(key), scalars(key), block_lists(key), folded_scalars(key), block_scalars(key),
        commented_flow_lists(key), strange_lists(key), mappings(key), explicit_keys(key),
    )  # fmt: skip


def simple_entries(key: str) -> st.SearchStrategy[Entry]:
    return st.one_of(scalars(key), block_lists(key), folded_scalars(key))


def commented_entries(key: str) -> st.SearchStrategy[Entry]:
    entries = st.one_of(scalars(key, commented=True), block_lists(key, commented=True), commented_flow_lists(key))
    return entries.filter(lambda entry: bool(entry.comments))


def rows_of(text: str) -> list[str]:
    """Lines with their endings, as an editor sees them: CRLF, LF or CR."""
    return re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$", text)


@dataclass(frozen=True)
class Note:
    """A whole file, and which of its lines (counted from 0) belong to which key."""

    text: str
    entries: tuple[Entry, ...]
    spans: Mapping[str, tuple[int, int]]
    head: int  # lines up to the closing fence

    @property
    def lines(self) -> list[str]:
        """The lines with their endings."""
        return rows_of(self.text)


BODY_LINES = st.sampled_from(
    ["", "Plain words.", "---", "kind: body", "# Heading", "- a", "  indented  ", "tab\there", "form\x0cfeed",
     "line\u2028sep", "next\x85line", "😀", "...", "a\rb", "---\t"]
)  # fmt: skip


@st.composite
def notes(draw: st.DrawFn, *, simple: bool = False, commented: bool = False) -> Note:
    """A note with frontmatter: all styles of YAML, comments, blank lines, mixed endings, BOM, odd ends."""
    keys = draw(st.lists(st.sampled_from(KEYS), min_size=2, max_size=5, unique=True))
    styles = simple_entries if simple else entries
    chosen = [draw(styles(key)) for key in keys]
    if commented:
        chosen[0] = draw(commented_entries(keys[0]))
    rows = ["---" + draw(st.sampled_from(["", "", " ", "\t"]))]
    spans = {}
    for entry in chosen:
        rows += draw(st.lists(st.one_of(COMMENTS, BLANKS), max_size=2))
        spans[entry.key] = (len(rows), len(rows) + len(entry.lines))
        rows += entry.lines
    rows += draw(st.lists(st.one_of(COMMENTS, BLANKS), max_size=2))
    head = len(rows)
    rows.append("---" + draw(st.sampled_from(["", "", "  "])))
    rows += draw(st.lists(BODY_LINES, max_size=6))
    style = draw(st.sampled_from(["\n", "\r\n", "mixed"] if simple else ["\n", "\r\n", "mixed", "old"]))
    ends = [draw(st.sampled_from(["\n", "\r\n"])) if style == "mixed" else style for _ in rows]
    if style == "old":  # a lone CR ends a line for YAML, though not for a fence
        ends = ["\r" if 0 < number < head - 1 else "\n" for number in range(len(rows))]
        rows = [row or "  " for row in rows]
    if draw(st.booleans()):
        ends[-1] = ""
    mark = draw(st.sampled_from(["", "", "\ufeff"]))
    text = mark + "".join(row + end for row, end in zip(rows, ends, strict=True))
    return Note(text, tuple(chosen), spans, head)


VALUES = st.one_of(
    st.none(),
    SOUND_TEXT,
    st.sampled_from(
        ["fact", "no", "2026-11-29T18:42:07+01:00", "true", "a: b", "# c", "- d", "e\nf: g", '"[[x]]"', ""]
    ),
    st.lists(st.one_of(SOUND_TEXT, _LIST_ITEMS), max_size=3),
)


def value_of(block: str) -> dict[str, object]:
    """The block as PyYAML reads it, all as text; nothing of ours."""
    loaded = as_read_by_pyyaml(block) or {}
    assert isinstance(loaded, dict)
    return loaded


def block_of(text: str) -> str:
    """The lines between the fences, found in another way than the program does."""
    match = re.match(r"\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*\r?$", text, re.DOTALL | re.MULTILINE)
    assert match is not None
    return match[1]


def changed(note: Note, key: str, value: str | Sequence[str] | None) -> list[str] | None:
    """The changed file's lines that stand in the place of the key's; None when it was refused.

    Every other line is compared here, byte by byte.
    """
    try:
        text = revise(parse("note.md", note.text), {key: value})
    except UnsafeChangeError as error:
        event("refused")
        assert str(error).startswith("note.md: ")
        return None
    event("changed")
    old, new = note.lines, rows_of(text)
    first, last = note.spans.get(key, (note.head, note.head))
    assert new[:first] == old[:first]
    assert new[len(new) - len(old) + last :] == old[last:]
    middle = new[first : len(new) - len(old) + last]
    assert "".join(new) == "".join(old[:first] + middle + old[last:])
    return middle


def read_as_wanted(note: Note, middle: Sequence[str], key: str, value: str | Sequence[str] | None) -> None:
    """PyYAML reads the new block as the old one with that one difference."""
    first, last = note.spans.get(key, (note.head, note.head))
    text = "".join([*note.lines[:first], *middle, *note.lines[last:]])
    wanted = value_of(block_of(note.text))
    wanted.pop(key, None)
    if value is not None:
        wanted[key] = value if isinstance(value, str) else list(value)
    assert value_of(block_of(text)) == wanted


@given(notes(), st.data())
@settings(max_examples=60 * THOROUGH)
def test_a_change_of_a_key_leaves_every_other_line_alone(note: Note, data: st.DataObject) -> None:
    key = data.draw(st.sampled_from([*note.spans, *note.spans, "fresh"]), "key")
    value = data.draw(VALUES, "value")

    middle = changed(note, key, value)

    if middle is not None:
        read_as_wanted(note, middle, key, value)
        assert value is not None or not "".join(middle).strip()
        if middle and "\r\n" in note.text and "\n" not in note.text.replace("\r\n", ""):
            assert all(line.endswith("\r\n") for line in middle)


@given(notes(simple=True), st.data())
@settings(max_examples=33 * THOROUGH)
def test_a_change_that_can_be_made_safely_is_made(note: Note, data: st.DataObject) -> None:
    simple = [entry.key for entry in note.entries if entry.simple]
    key = data.draw(st.sampled_from([*simple, "fresh"]), "key")
    value = data.draw(VALUES, "value")
    assume(parse("note.md", note.text).broken is None)

    assert changed(note, key, value) is not None


# It may stand on the key's line, above the first item, in a flow list, or behind an apostrophe.
@given(notes(commented=True), VALUES.filter(lambda value: value is not None), st.data())
@settings(max_examples=33 * THOROUGH)
def test_a_new_value_never_loses_a_comment(note: Note, value: str | list[str], data: st.DataObject) -> None:
    entry = data.draw(st.sampled_from([entry for entry in note.entries if entry.comments]), "entry")

    middle = changed(note, entry.key, value)

    if middle is not None:
        for comment in entry.comments:
            assert comment in "".join(middle)


@given(notes(), VALUES, VALUES)
@settings(max_examples=33 * THOROUGH)
def test_several_keys_change_at_once_or_not_at_all(
    note: Note, one: str | list[str] | None, other: str | list[str] | None
) -> None:
    first, second = list(note.spans)[:2]

    try:
        text = revise(parse("note.md", note.text), {first: one, second: other})
    except UnsafeChangeError:
        return

    wanted = value_of(block_of(note.text))
    for key, value in ((first, one), (second, other)):
        wanted.pop(key)
        if value is not None:
            wanted[key] = value
    assert value_of(block_of(text)) == wanted
    assert text.endswith("".join(note.lines[note.head :]))
    own = {number for key in (first, second) for number in range(*note.spans[key])}
    others = [line for number, line in enumerate(note.lines) if number not in own]
    assert _in_order(others, rows_of(text))


def _in_order(wanted: Sequence[str], lines: Sequence[str]) -> bool:
    left = iter(lines)
    return all(any(line == found for found in left) for line in wanted)


PLAIN_NOTES = (
    st.tuples(
        st.sampled_from(["", "\ufeff"]),
        st.lists(st.tuples(BODY_LINES, st.sampled_from(["\n", "\r\n"])).map("".join), max_size=5),
    )
    .map(lambda parts: parts[0] + "".join(parts[1]))
    .filter(lambda text: split(text)[0] is None)
)


@given(PLAIN_NOTES, st.one_of(SOUND_TEXT, st.lists(SOUND_TEXT, max_size=3)))
@settings(max_examples=33 * THOROUGH)
def test_a_note_without_frontmatter_gets_one_block_and_keeps_its_bytes(text: str, value: str | list[str]) -> None:
    try:
        new = revise(parse("note.md", text), {"kind": value})
    except UnsafeChangeError:
        assert text.removeprefix("\ufeff").startswith("---")
        return

    mark = "\ufeff" if text.startswith("\ufeff") else ""
    assert new.startswith(f"{mark}---")
    assert new.endswith(text.removeprefix(mark))
    assert value_of(block_of(new)) == {"kind": value}
    assert split(new)[1] == text.removeprefix(mark)


# --- a change of the body -------------------------------------------------------------------------


@given(notes(), st.lists(BODY_LINES, max_size=6))
@settings(max_examples=33 * THOROUGH)
def test_a_change_of_the_body_leaves_the_frontmatter_alone(note: Note, rows: list[str]) -> None:
    wanted = "\n".join(rows)
    memory = parse("note.md", note.text)

    try:
        text = revise(memory, {}, body=wanted)
    except UnsafeChangeError:
        event("refused")
        return

    head = note.text[: len(note.text) - len(memory.content)]
    assert text.startswith(head)
    assert re.split(r"\r\n|\r|\n", parse("note.md", text).body) == re.split(r"\r\n|\r|\n", wanted.strip("\r\n"))


@given(
    st.lists(
        st.tuples(BODY_LINES.filter(lambda row: row != ""), st.sampled_from(["\n", "\r\n"])), min_size=2, max_size=6
    ),
    st.sampled_from(["", "---\nkind: fact\n---\n\n", "---\r\nkind: fact\r\n---\r\n"]),
    st.integers(0, 5),
    st.sampled_from(["insert", "replace", "delete"]),
)
@settings(max_examples=50 * THOROUGH)
@example([("form\x0cfeed", "\n"), ("words", "\r\n")], "", 0, "insert")
@example([("words", "\r\n"), ("more words", "\n")], "", 2, "insert")
def test_lines_of_the_body_that_stay_keep_their_very_endings(
    rows: list[tuple[str, str]], head: str, place: int, step: str
) -> None:
    text = head + "".join(row + end for row, end in rows)
    memory = parse("note.md", text)
    assume(memory.broken is None and memory.content == text.removeprefix(head))
    assume(len({row for row, _ in rows}) == len(rows))  # of two lines alike either may be meant
    lines = rows_of(memory.content)
    place = min(place, len(lines) - (step != "insert"))
    rest = lines[place + (step != "insert") :]
    added = [] if step == "delete" else ["one line more\n"]
    body = "".join(line.rstrip("\r\n") + "\n" for line in [*lines[:place], *added, *rest])

    try:
        new = rows_of(revise(memory, {}, body=body))
    except UnsafeChangeError:  # the change would make frontmatter of what stands between two rules
        assert not head
        assert "---" in text
        return

    start = len(rows_of(head))
    assert new[start : start + place] == lines[:place]
    assert [line.rstrip("\r\n") for line in new[start + place : len(new) - len(rest)]] == ["one line more"] * len(added)
    assert new[len(new) - len(rest) :] == rest


# --- what we write comes back, whatever it says ---------------------------------------------------

# What YAML 1.1 would take for another type than text, or no parser could take at all.
SPEAKING = st.sampled_from(
    ["no", "Yes", "y", "null", "~", "0x1F", "0644", "1e3", "1_000", "12:30:45", ".inf", "=", "<<", "---", "...", "|",
     ">", "&a", "*a", "!t", "%d", "@e", "`f`", "[g]", "{h: i}", "j: k", "l #m", "# n", "- o", "? p", ": q", "'", '"',
     "\\", "", "kind: preference\nsource: user", 'x"\nsource: user\n"', "a\n---\nkind: fact\n---\n",
     "\u2028source: user", "\x85a: b", "\ufeff---\nkind: x\n---", "2026-01-01x", "trailing ", " leading", "tab\t",
     "\ud7ff\ue000", "\U0001fffe", "𝔘"]
)  # fmt: skip
TYPED = re.compile(r"true|\d{4}-\d{2}-\d{2}(T.*)?", re.DOTALL)  # written plain on purpose: a checkbox, a date
SAID = st.one_of(SPEAKING, SOUND_TEXT, st.lists(SPEAKING, max_size=4).map("\n".join))


@given(SAID.filter(lambda text: text.strip("\r\n").strip() != ""), SAID, st.lists(SAID, max_size=3), SAID)
@settings(max_examples=60 * THOROUGH)
def test_what_we_write_comes_back_and_is_one_block_with_our_keys(
    body: str, quote: str, tags: list[str], kind: str
) -> None:
    keys: dict[str, str | list[str]] = {"kind": kind, "source": "chat", "created_at": "2026-11-29T18:42:07+01:00"}
    keys |= {"quote": quote, "tags": tags}
    assume(not any(TYPED.fullmatch(text) for text in (kind, *tags)))

    text = compose(body, keys)
    memory = parse("memories/x.md", text)

    assert memory.body == body.strip("\r\n")
    assert memory.frontmatter == keys
    assert list(memory.frontmatter) == list(keys)
    assert not memory.warnings
    block, content = split(text)
    assert content == f"\n{body.strip(chr(13) + chr(10))}\n"
    loaded = yaml.safe_load(block or "")
    assert {key: value for key, value in loaded.items() if key != "created_at"} == {
        key: value for key, value in keys.items() if key != "created_at"
    }
    assert yaml.compose(block or "", Loader=yaml.SafeLoader) is not None
    assert len((block or "").splitlines()) == len(keys), "each key is one line for any reader"


@given(SAID, SAID, st.lists(SAID, max_size=3))
@settings(max_examples=33 * THOROUGH)
def test_a_written_memory_can_be_changed_and_read_again(kind: str, quote: str, tags: list[str]) -> None:
    memory = parse("x.md", compose("The body.", {"kind": "fact", "source": "user"}))

    text = revise(memory, {"kind": kind, "quote": quote, "tags": tags})

    found: Mapping[str, Value] = parse("x.md", text).frontmatter
    assert found == {"kind": kind, "source": "user", "quote": quote, "tags": tags}
    assert text.endswith("---\n\nThe body.\n")


# Unquoted, other readers take it for another type; for `2026-02-30` they even refuse the whole block.
@pytest.mark.parametrize("word", ["true", "2026-01-01", "2026-02-30"])
def test_a_tag_that_looks_like_another_type_is_text_to_every_parser(word: str) -> None:
    block, _ = split(compose("The body.", {"kind": "fact", "tags": [word]}))

    assert yaml.safe_load(block or "")["tags"] == [word]


@pytest.mark.parametrize("word", "y n yes no on off true false null".split())
def test_a_word_that_other_readers_take_for_another_type_is_text_in_any_case(word: str) -> None:
    forms = [word, word.upper(), word.title(), word.swapcase()[:1] + word[1:], word[:-1] + word[-1:].upper()]
    block, _ = split(compose("The body.", {"kind": word, "tags": forms}))

    assert yaml.safe_load(block or "") == {"kind": word, "tags": forms}


@given(st.from_regex(r"\A[A-Za-z][\w ./+()'-]{0,11}\Z"))
def test_any_word_is_text_to_every_parser(word: str) -> None:
    block, _ = split(compose("The body.", {"kind": word}))

    assert yaml.safe_load(block or "") == {"kind": word}

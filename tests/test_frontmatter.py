"""The block between the fences: found, read as text, written, changed line by line."""

import time

import pytest
import yaml

from vault_mind.frontmatter import DEEPEST, FrontmatterError, Written, line, lines_of, load, split, with_key

# --- finding --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "block", "content"),
    [
        ("---\na: b\n---\nbody\n", "a: b\n", "body\n"),
        ("---\na: b\n---", "a: b\n", ""),
        ("---\n---\nbody", "", "body"),
        ("---\n\n---\n\nbody\n\n", "\n", "\nbody\n\n"),
        ("---  \na: b\n---\t\nbody", "a: b\n", "body"),
        ("---\r\na: b\r\n---\r\n\r\nbody\r\n", "a: b\r\n", "\r\nbody\r\n"),
        ("\ufeff---\na: b\n---\nbody", "a: b\n", "body"),
        ("\ufeff---\r\na: b\r\n---\r\nbody", "a: b\r\n", "body"),
        ("---\na: |\n  x\n  ---\n  y\n---\nbody", "a: |\n  x\n  ---\n  y\n", "body"),
        ("---\na: b\n---\nbody\n---\nmore\n---\n", "a: b\n", "body\n---\nmore\n---\n"),
        ("---\na: b\n----\n---\nbody", "a: b\n----\n", "body"),
    ],
)
def test_the_block_is_what_stands_between_the_first_two_fences(text: str, block: str, content: str) -> None:
    assert split(text) == (block, content)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "body",
        "---",
        "---\n",
        "---\na: b\nno second rule\n",
        "----\na: b\n----\nbody\n",
        " ---\na: b\n---\nbody\n",
        "\n---\na: b\n---\nbody\n",
        "--- a: b\n---\nbody\n",
        "---\na: b\n ---\nbody\n",
        "---\na: b\n...\nbody\n",
        "---\ra: b\r---\rbody",
        "{\n---\n---\n",
        "+++\na = 1\n+++\n",
    ],
)
def test_without_two_fences_all_is_body(text: str) -> None:
    assert split(text) == (None, text)


# --- reading --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "typed",
    [
        "no",
        "Yes",
        "on",
        "~",
        "null",
        "12:30",
        "05:45",
        "0644",
        "1.20",
        "1e3",
        "0x1F",
        "2026-02-30",
        ".inf",
        "1_000",
        "=",
    ],
)
def test_every_value_is_read_as_it_was_typed(typed: str) -> None:
    assert load(f"a: {typed}\n") == ({"a": typed}, [])
    assert load(f"a: [{typed}, x]\nb:\n  c: {typed}\n") == ({"a": [typed, "x"], "b": {"c": typed}}, [])


@pytest.mark.parametrize("key", ["content", "handler", "metadata", "no", "1", "2026-01-01", "~", "été", "a b", "<<"])
def test_every_key_is_text_and_none_is_special(key: str) -> None:
    assert load(f"{key}: x\nb: y\n") == ({key: "x", "b": "y"}, [])


@pytest.mark.parametrize(
    ("block", "value"),
    [
        ("a: one\n  two\n", "one two"),
        ("a: 'it''s'\n", "it's"),
        ('a: "\\u00e9\\n"\n', "é\n"),
        ("a: |\n  one\n  # two\n\n  ---\n", "one\n# two\n\n---\n"),
        ("a: >-\n  one\n  two\n", "one two"),
        ("a: !!python/object:os.system x\n", "x"),
        ("a: !!binary aGk=\n", "aGk="),
        ("a:\n", ""),
        ("a: # only a comment\n", ""),
        ("a: &anchored b\n", "b"),
    ],
)
def test_all_of_yaml_is_read_and_no_tag_does_anything(block: str, value: str) -> None:
    assert load(block) == ({"a": value}, [])


@pytest.mark.parametrize("block", ["plain words\n", "- a\n- b\n", "'text'\n", "# a heading\n", "\n\n", ""])
def test_a_block_that_is_no_mapping_is_none(block: str) -> None:
    assert load(block) == (None, [])


def test_of_a_key_given_twice_the_last_counts_and_its_line_is_told() -> None:
    loaded, notes = load("kind: fact\nsource: user\nkind: preference\nkind: context\n")

    assert loaded == {"kind": "context", "source": "user"}
    assert notes == ["line 4: 'kind' is given twice; the last one counts"]


@pytest.mark.parametrize(
    ("block", "where"),
    [
        ("a: b: c\n", r"line 2, column 5: mapping values are not allowed"),
        ("a: b\nc: [d\n", r"line \d+, column \d+: "),
        ("a: 'b\n", r"line \d+, column \d+: "),
        ("a: b\n c: d\n", r"line 3, column 3: "),
        ("a: b\n\tc: d\n", r"line 3, column \d+: "),
        ("@a: b\n", r"line 2, column 1: "),
        ("a: %b\n", r"line 2, column 4: "),
        ("a: &x 1\nb: *x\n", r"line 3: aliases"),
        ("<<: *x\n", r"line 2: aliases"),
        ("? [a]\n: b\n", r"line 2: a key must be a text"),
        ("{a: b}: c\n", r"line 2: a key must be a text"),
        ("a: \x07\n", r"."),
        ("a: \ud800\n", r"surrogate"),
    ],
)
def test_what_is_no_yaml_or_could_do_harm_is_told_with_its_place(block: str, where: str) -> None:
    with pytest.raises(FrontmatterError, match=where):
        load(block)


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ("{a: ", "}")])
def test_nesting_is_read_down_to_a_depth_and_refused_below_without_recursion(opening: str, closing: str) -> None:
    sound = DEEPEST - 2  # the root and the mapping are levels too
    loaded, _ = load(f"a: {opening * sound}{closing * sound}\n")
    assert loaded is not None
    with pytest.raises(FrontmatterError, match="line 2: nested more than"):
        load(f"a: {opening * DEEPEST}{closing * DEEPEST}\n")
    with pytest.raises(FrontmatterError, match="line 2"):
        load(f"a: {opening * 200_000}{closing * 200_000}\n")


def test_a_stair_of_mappings_is_refused_below_the_same_depth() -> None:
    with pytest.raises(FrontmatterError, match="line 33: nested more than"):
        load("".join(f"{'  ' * depth}a:\n" for depth in range(2_000)))


# A pattern that backtracks takes the square of the blanks: a million of them would stop every command for hours.
def test_a_line_of_blanks_costs_no_more_than_its_length() -> None:
    block = f"a: b{' ' * 8_000}# c\n"
    before = time.process_time()

    assert load(block) == ({"a": "b"}, [])

    assert time.process_time() - before < 0.5


# --- writing --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("fact", "k: fact"),
        ("two words", "k: two words"),
        ("import:notes", 'k: "import:notes"'),
        ("no", 'k: "no"'),
        ("null", 'k: "null"'),
        ("", 'k: ""'),
        ("0644", 'k: "0644"'),
        ("a, b", 'k: "a, b"'),
        ("- a", 'k: "- a"'),
        ("a: b", 'k: "a: b"'),
        ("a #b", 'k: "a #b"'),
        ('say "hi"', 'k: "say \\"hi\\""'),
        ("a\nb: c", 'k: "a\\nb: c"'),
        ("[[user-prefers-tea]]", 'k: "[[user-prefers-tea]]"'),
        ("trailing ", 'k: "trailing "'),
        ("\u2028x", 'k: "\\u2028x"'),
        ("\x1b[31m", 'k: "\\u001b[31m"'),
        ("é東", 'k: "é東"'),
        ("half \ud800", 'k: "half ?"'),
        ((), "k: []"),
        (("tea", "no", "a, b"), 'k: [tea, "no", "a, b"]'),
    ],
)
def test_a_value_is_written_on_one_line_and_quoted_where_it_could_be_misread(value: Written, written: str) -> None:
    assert line("k", value) == written


def test_a_quote_is_always_in_quotes_and_a_date_and_a_checkbox_never() -> None:
    assert line("quote", "tea") == 'quote: "tea"'
    assert line("created_at", "2026-11-29T18:42:07+01:00") == "created_at: 2026-11-29T18:42:07+01:00"
    assert line("pinned", "true") == "pinned: true"


# YAML 1.1 parsers (Ruby's, Go's yaml.v2) read a plain y or n as yes or no; PyYAML alone does not.
@pytest.mark.parametrize("value", ["y", "Y", "n", "N"])
def test_a_single_y_or_n_is_quoted_for_parsers_that_take_it_for_yes_or_no(value: str) -> None:
    assert line("k", value) == f'k: "{value}"'


# --- changing -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "value", "after"),
    [
        # one line
        ("k: old\n", "new", "k: new\n"),
        ("a: 1\nk: old # why\nb: 2\n", "new", "a: 1\nk: new # why\nb: 2\n"),
        ("k:   'old'   # why\n", "new", "k:   new   # why\n"),
        ('"k" : "old # text"\n', "new", '"k" : new\n'),
        ("k:\n", "new", "k: new\n"),
        ("k: # why\n", "new", "k: new # why\n"),
        ("k:\nb: 2\n", ["x", "z"], "k: [x, z]\nb: 2\n"),
        ("k: old\r\nb: 2\r\n", "new", "k: new\r\nb: 2\r\n"),
        ("  k: old\n  b: 2\n", "new", "  k: new\n  b: 2\n"),
        # over several lines
        ("k: old\n  and more\nb: 2\n", "new", "k: new\nb: 2\n"),
        ("k: 'old\n\n  # and more'\nb: 2\n", "new", "k: new\nb: 2\n"),
        ("k:\n  old\n# c\nb: 2\n", "new", "k:\n  new\n# c\nb: 2\n"),
        # lists
        ("k: [a, b] # why\n", ["a", "c d"], "k: [a, c d] # why\n"),
        ("k: [a,\n    b]\nb: 2\n", ["c"], "k: [c]\nb: 2\n"),
        ("k:\n  - a\n  - 'b'\n\n# c\nb: 2\n", ["b", "n w"], "k:\n  - 'b'\n  - n w\n\n# c\nb: 2\n"),
        ("k:\n- a\nb: 2\n", ["a", "no"], 'k:\n- a\n- "no"\nb: 2\n'),
        ("k:\r\n    - a\r\nb: 2\r\n", ["a", "c"], "k:\r\n    - a\r\n    - c\r\nb: 2\r\n"),
        ("a: 1\r\nk:\n- x\n\n-   y\nb: 2\n", ["x", "y", "z"], "a: 1\r\nk:\n- x\n\n-   y\n- z\nb: 2\n"),
        ("k:\n  -   x\n\n  - y\nb: 2\n", ["y", "x"], "k:\n  - y\n  -   x\nb: 2\n"),
        ("k:\n  - a\n  - b\nb: 2\n", "new", "k: new\nb: 2\n"),
        ("k:\n  - a\nb: 2\n", [], "k: []\nb: 2\n"),
        ("k: old\n", ["a"], "k: [a]\n"),
        # a key that is not there goes to the end, under the last comment
        ("a: 1\n# end\n", "new", "a: 1\n# end\nk: new\n"),
        ("a: |\n  text\n\n", "new", "a: |\n  text\n\nk: new\n"),
        ("  a: 1\n", "new", "  a: 1\n  k: new\n"),
        ("b:\n  k: inner\n", "new", "b:\n  k: inner\nk: new\n"),
        ("", "new", "k: new\n"),
        # taken out
        ("a: 1\nk: old # why\nb: 2\n", None, "a: 1\nb: 2\n"),
        ("a: 1\n# above\nk:\n  - a\n  - b\n# below\nb: 2\n", None, "a: 1\n# above\n# below\nb: 2\n"),
        ("k: 'old\n  more'\n", None, ""),
        ("a: 1\n", None, "a: 1\n"),
    ],
)
def test_a_key_changes_on_its_own_lines(before: str, value: Written | None, after: str) -> None:
    newline = "\r\n" if "\r\n" in before else "\n"
    text = f"---{newline}{{}}---{newline}k: body{newline}"

    assert with_key(text.format(before), "k", value) == text.format(after)


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("body\n", "---\nk: new\n---\nbody\n"),
        ("", "---\nk: new\n---\n"),
        ("\nbody", "---\nk: new\n---\n\nbody"),
        ("body\r\nmore\r\n", "---\r\nk: new\r\n---\r\nbody\r\nmore\r\n"),
        ("\ufeffbody\n", "\ufeff---\nk: new\n---\nbody\n"),
    ],
)
def test_a_note_without_a_block_gets_one_above_all_that_it_holds(text: str, after: str) -> None:
    assert with_key(text, "k", "new") == after
    assert with_key(text, "k", None) == text


@pytest.mark.parametrize(
    ("block", "why"),
    [
        ("k: |\n  old\n", "several lines"),
        ("k: >-\n  old\n", "several lines"),
        ("k: {a: b}\n", "several lines"),
        ("k:\n  a: b\n", "several lines"),
        ("k: a\nb: 2\nk: c\n", "twice"),
        ("k:\n  - a # why\n  - b\n", "comments"),
        ("k:\n  - a\n  # why\n  - b\n", "comments"),
        ("{k: old}\n", "not a block"),
        ("- k\n", "not a block"),
        ("words\n", "not a block"),
        ("a: b: c\n", "mapping values"),
    ],
)
@pytest.mark.parametrize("value", ["new", ["new"], None])
def test_what_cannot_be_changed_on_its_own_lines_is_refused(block: str, why: str, value: Written | None) -> None:
    with pytest.raises(FrontmatterError, match=why):
        with_key(f"---\n{block}---\nbody\n", "k", value)


def test_a_rule_that_no_second_one_follows_is_no_place_for_a_block() -> None:
    with pytest.raises(FrontmatterError, match="opens with a rule"):
        with_key("---\nwords\n", "k", "new")


@pytest.mark.parametrize(
    "block",
    [
        "k: # why\n  - a\n",
        "k:\n  # why\n  - a\n",
        "k: [a, # why\n  b]\n",
        "k:\n  - it's # the owner's why\n  - b\n",
    ],
)
@pytest.mark.parametrize("value", ["new", ["new"]])
def test_a_change_keeps_the_comments_in_its_own_lines_or_is_refused(block: str, value: Written) -> None:
    try:
        text = with_key(f"---\n{block}---\nbody\n", "k", value)
    except FrontmatterError:
        return

    assert "why\n" in text


# PyYAML puts the end of a block scalar, and of a key without a value, on a line below it.
@pytest.mark.parametrize(
    "block",
    [
        "k:\n  - |\n    text\n# why\nb: 2\n",
        "? k\n# why\nb: 2\n",
        "k:\n  - >-\n    t\n\nb: 2\n",
        "k: x\r# why\nb: 2\n",  # Once: a lone CR ends a line for YAML, but not for the surgery
    ],
)
def test_taking_a_key_out_never_takes_the_next_line_with_it(block: str) -> None:
    text = f"---\n{block}---\nbody\n"
    below = text[text.index("# why") if "# why" in text else text.index("\nb: 2") :]

    try:
        assert with_key(text, "k", None).endswith(below)
    except FrontmatterError:
        return


# A list within the list is no key of a dict.
@pytest.mark.parametrize(
    "block", ["k:\n  - [a, b]\n  - c\n", "k:\n  - a: b\n", "k:\n  - - a\n    - b\n", "k:\n  - {}\n"]
)
def test_a_list_of_more_than_words_is_changed_or_refused(block: str) -> None:
    try:
        text = with_key(f"---\n{block}b: 2\n---\nbody\n", "k", ["c", "d"])
    except FrontmatterError:
        return

    assert yaml.safe_load(split(text)[0] or "") == {"k": ["c", "d"], "b": 2}


def test_a_word_that_ends_in_a_hash_is_no_comment() -> None:
    text = with_key("---\nk:\n  - c#\n  - f#\n---\n", "k", ["c#", "tea"])

    assert text == "---\nk:\n  - c#\n  - tea\n---\n"


# A second mark hides the block, and another block on top would hide it for good.
def test_a_block_behind_two_byte_order_marks_is_not_hidden_by_another() -> None:
    try:
        text = with_key("\ufeff\ufeff---\na: 1\n---\nbody\n", "k", "new")
    except FrontmatterError:
        return

    assert text.count("---\n") == 2


@pytest.mark.parametrize(
    ("block", "lines"),
    [
        ("kind: fact # why\nsource: user\n", ["kind: fact # why"]),
        ("a: 1\nkind:\n  - x\n  - y # z\n# after\nb: 2\n", ["kind:", "  - x", "  - y # z"]),
        ("kind: >\n  folded\n  text\n\nb: 2\n", ["kind: >", "  folded", "  text"]),
        ("kind: [a,\n  b]\r\nb: 2\r\n", ["kind: [a,", "  b]"]),
        ("kind: 1\nb: 2\nkind: 3\n", ["kind: 1", "kind: 3"]),
        ("kinds: 1\n", []),
        ("", []),
        ("- kind: 1\n", []),
    ],
)
def test_the_lines_of_a_key_are_told(block: str, lines: list[str]) -> None:
    assert lines_of(f"---\n{block}---\nkind: body\n", "kind") == lines
    assert lines_of(f"\ufeff---\r\n{block}---\r\n", "kind") == lines


def test_lists_of_lines_that_are_alike_are_lists_of_their_own() -> None:
    first, _ = load("kind: fact\ntags: [a, b]\n")
    second, _ = load("tags: [a, b]\n")
    assert first is not None
    assert second is not None

    tags = first["tags"]
    assert isinstance(tags, list)
    tags.append("c")

    assert second == {"tags": ["a", "b"]}
    assert load("tags: [a, b]\n")[0] == {"tags": ["a", "b"]}


@pytest.mark.parametrize("block", ["kind: fact", "kind: fact\n", "kind: fact\r\n", "kind: fact  \n", "kind:   fact"])
def test_a_line_reads_the_same_with_any_ending(block: str) -> None:
    assert load(block) == ({"kind": "fact"}, [])


@pytest.mark.parametrize("block", ["kind: fact\n\nsource: chat\n", "kind: fact\n  \nsource: chat\n", "\nkind: fact\n"])
def test_blank_lines_between_keys_do_not_matter(block: str) -> None:
    loaded, notes = load(block)

    assert loaded is not None
    assert loaded["kind"] == "fact"
    assert notes == []

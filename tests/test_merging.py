"""A change made anew on top of somebody else's: by keys, by lines, or not at all."""

import re
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from vault_mind.memory import parse, revise
from vault_mind.merging import Overlap, on_top

HEAD = "---\nkind: fact # ours to see\nsource: user\ntags: [a]\n---\n\n"
BODY = "one\ntwo\nthree\nfour\nfive\n"
BASE = HEAD + BODY


def merged(
    theirs: str, keys: Mapping[str, str | Sequence[str] | None], body: str | None = None, base: str = BASE
) -> str | Overlap:
    return on_top(parse("x.md", base), parse("x.md", theirs), keys, body)


def test_two_keys_on_neighbouring_lines_both_stay() -> None:
    theirs = BASE.replace("source: user", "source: chat")

    assert merged(theirs, {"kind": "context"}) == theirs.replace("kind: fact", "kind: context")


def test_our_key_goes_beside_their_text_and_our_text_beside_their_key() -> None:
    text = BASE.replace("three", "three and more") + "six\n"
    key = BASE.replace("fact", "context")

    assert merged(text, {"pinned": "true"}) == text.replace("tags: [a]\n", "tags: [a]\npinned: true\n")
    assert merged(key, {}, BODY.replace("two", "2")) == key.replace("two", "2")


@pytest.mark.parametrize(
    "theirs",
    [
        BASE.replace("kind: fact", "kind: context"),
        BASE.replace("kind: fact", 'kind: "fact"'),
        BASE.replace(" # ours to see", " # seen"),
        BASE.replace("kind: fact # ours to see\n", ""),
        BASE.replace("kind: fact # ours to see", "kind:\n  - fact"),
        BASE.replace("source: user", "kind: other"),
        BODY,
    ],
    ids=["value", "quotes", "comment", "gone", "list", "twice", "no frontmatter"],
)
def test_a_key_whose_lines_they_touched_is_theirs(theirs: str) -> None:
    found = merged(theirs, {"kind": "preference"})

    assert isinstance(found, Overlap)
    assert "'kind'" in found.why


def test_a_key_that_both_add_is_theirs_unless_it_says_the_same() -> None:
    theirs = BASE.replace("tags: [a]\n", "tags: [a]\npinned: true\n")

    assert merged(theirs, {"pinned": "true"}) == theirs
    assert merged(theirs, {"pinned": "true", "kind": "context"}) == theirs.replace("fact", "context")
    assert isinstance(merged(theirs, {"pinned": "false"}), Overlap)


def test_a_key_that_both_take_out_is_out() -> None:
    theirs = BASE.replace("tags: [a]\n", "")

    assert merged(theirs, {"tags": None}) == theirs
    assert isinstance(merged(BASE.replace("[a]", "[b]"), {"tags": None}), Overlap)


@pytest.mark.parametrize(
    ("theirs", "ours", "both"),
    [
        ("ONE\ntwo\nthree\nfour\nfive\n", "one\ntwo\nthree\nfour\nFIVE\n", "ONE\ntwo\nthree\nfour\nFIVE\n"),
        ("zero\none\ntwo\nthree\nfour\nfive\n", "one\ntwo\nthree\nfour\nfive\nsix\n", "zero\n" + BODY + "six\n"),
        ("one\nthree\nfour\nfive\n", "one\ntwo\nthree\nfour\n", "one\nthree\nfour\n"),
        ("one\nTWO\nthree\nfour\nfive\n", "one\nTWO\nthree\nfour\nfive\n", "one\nTWO\nthree\nfour\nfive\n"),
        (BODY, "one\n", "one\n"),
        ("\n\n" + BODY + "\n\n", "ONE\ntwo\nthree\nfour\nfive\n", "\n\nONE\ntwo\nthree\nfour\nfive\n\n\n"),
    ],
    ids=["far apart", "both ends", "both delete", "the same", "theirs untouched", "blank lines around"],
)
def test_different_lines_of_the_text_both_stay(theirs: str, ours: str, both: str) -> None:
    assert merged(HEAD + theirs, {}, ours) == HEAD + both


@pytest.mark.parametrize(
    ("theirs", "ours", "line"),
    [
        ("one\ntwo\nTHREE\nfour\nfive\n", "one\ntwo\n3\nfour\nfive\n", 3),
        ("one\ntwo\nTHREE\nfour\nfive\n", "one\ntwo\nthree\nFOUR\nfive\n", 3),
        ("one\ntwo\nfour\nfive\n", "one\ntwo\n3\nfour\nfive\n", 3),
        (BODY + "six\n", BODY + "sechs\n", 6),
        ("", "one\ntwo\n3\nfour\nfive\n", 1),
    ],
    ids=["same line", "neighbours", "deleted", "both append", "emptied"],
)
def test_the_same_lines_of_the_text_are_theirs(theirs: str, ours: str, line: int) -> None:
    found = merged(HEAD + theirs, {}, ours)

    assert found == Overlap(f"somebody else changed line {line} of its text in the meantime")


def test_an_editor_that_gave_every_line_another_ending_has_changed_no_line() -> None:
    theirs = BASE.replace("\n", "\r\n")

    assert merged(theirs, {"kind": "context"}, BODY.replace("two", "2")) == theirs.replace("fact", "context").replace(
        "two", "2"
    )


@pytest.mark.parametrize("theirs", ["---\nkind: [\n---\n\n" + BODY, "---\nkind: &a fact\nb: *a\n---\n" + BODY])
def test_what_they_made_unsound_is_theirs(theirs: str) -> None:
    found = merged(theirs, {"pinned": "true"})

    assert isinstance(found, Overlap)
    assert found.why.startswith("somebody else changed it in the meantime and ")


def test_bytes_that_are_no_text_by_now_are_theirs() -> None:
    theirs = parse("x.md", "caf\ufffd", "it is not UTF-8 (byte 0xe9 at 3)")

    found = on_top(parse("x.md", BASE), theirs, {"kind": "context"}, None)

    assert found == Overlap("somebody else changed it in the meantime and it is not UTF-8 (byte 0xe9 at 3)")


LINES = st.lists(st.sampled_from(["a", "b", "c", "d", "e", "f", ""]), max_size=7)


def _edited(draw: st.DrawFn, rows: list[str]) -> list[str]:
    place = draw(st.integers(0, len(rows)))
    return [*rows[:place], *draw(LINES), *rows[draw(st.integers(place, len(rows))) :]]


@st.composite
def _edits(draw: st.DrawFn) -> tuple[list[str], list[str], list[str]]:
    """Lines, and what two people made of them."""
    base = draw(LINES)
    return base, _edited(draw, base), _edited(draw, base)


@given(_edits(), st.sampled_from(["\n", "\r\n"]))
def test_of_theirs_only_what_we_changed_differs(edits: tuple[list[str], list[str], list[str]], ending: str) -> None:
    base, theirs, ours = ("".join(f"{row}\n" for row in rows).strip("\n") for rows in edits)
    text = HEAD.replace("\n", ending) + theirs.replace("\n", ending) + ending

    found = merged(text, {"kind": "context"}, ours, base=HEAD + base + "\n")

    if isinstance(found, Overlap):
        assert ours not in (base, theirs)
        assert base != theirs
        return
    body = re.split(r"\r?\n", parse("x.md", found).body)
    if base == theirs:
        assert body == ours.split("\n")
    if base == ours:
        assert body == theirs.split("\n")
    assert found.startswith(HEAD.rstrip("\n").replace("\n", ending).replace("fact", "context"))
    assert set(body) <= set(theirs.split("\n")) | set(ours.split("\n"))


@given(_edits())
def test_who_comes_first_does_not_matter(edits: tuple[list[str], list[str], list[str]]) -> None:
    base, theirs, ours = ("\n".join(rows).strip("\n") for rows in edits)
    assume(all((base, theirs, ours)))

    one = merged(HEAD + theirs + "\n", {}, ours, base=HEAD + base + "\n")
    other = merged(HEAD + ours + "\n", {}, theirs, base=HEAD + base + "\n")

    assert isinstance(one, Overlap) == isinstance(other, Overlap)
    assert isinstance(one, Overlap) or one == other


def test_a_merged_change_is_what_the_change_alone_would_be_when_nobody_else_was_there() -> None:
    memory = parse("x.md", BASE)

    assert merged(BASE, {"kind": "context"}, "new\n") == revise(memory, {"kind": "context"}, "new\n")

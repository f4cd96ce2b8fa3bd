"""Regex over lines: what matches where, what is refused and why, and never more than linear time."""

import mmap
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import pytest
import re2
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import vault_mind.regex
from tests.conftest import THOROUGH
from vault_mind.errors import BadPatternError
from vault_mind.regex import LONGEST, MANY, WINDOW, Line, Lines, Pattern, surrounded

PIECES = st.sampled_from(
    "a b é 日 . * + ? | ( ) [ ] { } ^ $ \\ \\b \\d \\w \\s \\A \\z \\Q \\E \\1 \\x{41} \\pL (?i) (?: (?P<n> (?= {2} "
    "{1001} [^a] [[:alpha:]] - \n \r \t \0".split(" ")
)
PATTERNS = st.one_of(st.text(max_size=12), st.lists(PIECES, max_size=8).map("".join))
TEXTS = st.one_of(
    st.text(max_size=60), st.lists(st.sampled_from("a b é 日 \n \r\n \r a\nb  \0".split(" "))).map("".join)
)


NASTY = (
    r"[^a] [^a]+b \s+ \s $ ^ ^$ $^ a$ ^a \A \z \Aa a\z (?-m)^a (?-m:a$) [\n] a|$ (?:$|^)+ $$ ^^a a$\b \b^a ^\b \B$ "
    r"(?s). (?s)a.b .* \W+ \x{FEFF} \r a\r \0 \pL [[:^alpha:]$] [^[:alpha:]$]a [^]$] \Q$\E \Qa (?i)A a\nb \n \n\n "
    r"a\s*b (?U)a$ a{2}$ \$ \\A".replace("\\0", "\0").split(" ")
)
PIECE_OF_A_TEXT = st.sampled_from(
    ["a", "b", "é", "日", "\0", "\r", "\n", "\r\n", "\ufeff", " ", "$", "\\", "ab", "a\nb", "A"]
)
PACKS = st.lists(st.one_of(st.lists(PIECE_OF_A_TEXT, max_size=6).map("".join), st.text(max_size=9)), max_size=8)
OPTIONS = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("ignore_case", "smart_case", "fixed", "word", "multiline", "invert"), st.booleans())
)


def compiled_or_not(pattern: str | Sequence[str], **options: Any) -> Pattern | None:
    """The pattern, unless it is refused."""
    try:
        return Pattern(pattern, **options)
    except BadPatternError:
        return None


def packed(texts: Sequence[str]) -> tuple[bytes, list[int]]:
    """Texts one after the other, and where each begins."""
    pack, starts = b"", []
    for text in texts:
        starts.append(len(pack))
        pack += text.encode() + b"\n"
    return pack, starts


def matches(
    pattern: str, text: str, *, ignore_case: bool = False, fixed: bool = False, word: bool = False
) -> list[str]:
    """What matched, piece by piece, as its spans say."""
    found = Pattern(pattern, ignore_case=ignore_case, fixed=fixed, word=word).lines(text)
    return [line.text[start:end] for line in found for start, end in line.spans]


def refusal(pattern: str, *, fixed: bool = False, word: bool = False) -> BadPatternError:
    """The error that `pattern` meets."""
    with pytest.raises(BadPatternError) as caught:
        Pattern(pattern, fixed=fixed, word=word)
    return caught.value


# --- lines and spans ------------------------------------------------------------------------------


def test_every_line_that_matches_is_given_with_its_number_and_its_spans() -> None:
    text = "tea\nmilk\ntea and tea\n"

    found = list(Pattern("tea").lines(text))

    assert found == [Line(1, "tea", ((0, 3),)), Line(3, "tea and tea", ((0, 3), (8, 11)))]


@pytest.mark.parametrize("text", ["tea\r\nmilk\r\n", "tea\nmilk\n", "tea\nmilk"])
def test_the_kind_of_line_end_does_not_matter(text: str) -> None:
    assert list(Pattern("a$").lines(text)) == [Line(1, "tea", ((2, 3),))]
    assert list(Pattern("k$").lines(text)) == [Line(2, "milk", ((3, 4),))]


def test_the_ends_of_every_line_are_anchors() -> None:
    assert matches("^t", "tea\ntrain\nbutter") == ["t", "t"]
    assert matches("^$", "a\n\nb\n") == [""]


def test_a_match_never_runs_over_the_end_of_a_line() -> None:
    assert matches("a.*b", "a\nb") == []
    assert matches("(?s)a.b", "a\nb") == []
    assert matches("[^x]+", "ab\ncd") == ["ab", "cd"]
    assert matches(r"\s", "a\n\nb c\n") == [" "]


def test_spans_count_characters_and_not_bytes() -> None:
    line = next(Pattern("日本").lines("é日本👍日本"))

    assert line.spans == ((1, 3), (4, 6))


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("caf.", "café", ["café"]),
        (r"\pL+", "naïve 東京", ["naïve", "東京"]),
        (r"\p{Han}+", "東京 Tokyo", ["東京"]),
        ("[à-ü]", "é", ["é"]),
        ("👍", "ok 👍", ["👍"]),
        (r"\x{65E5}", "日", ["日"]),
        (r"a(?i)B", "aB ab", ["aB", "ab"]),
        ("a|b", "xbxa", ["b", "a"]),
        ("x{0,2}y", "xxxy", ["xxy"]),
        ("a\0b", "a\0b", ["a\0b"]),
        ("[^[:alpha:]$]a", "?a $a xa", ["?a"]),
        ("[]$^]+", "?$^]", ["$^]"]),
    ],
)
def test_a_pattern_matches_text_of_any_script(pattern: str, text: str, found: list[str]) -> None:
    assert matches(pattern, text) == found


@pytest.mark.parametrize("text", ["", "\n", "x", "\r\n", "a\rb"])
def test_a_pattern_that_matches_nothing_gives_no_lines(text: str) -> None:
    assert list(Pattern("zebra").lines(text)) == []


# RE2's wrapper gives an empty match at the end of a line twice.
@pytest.mark.parametrize(("pattern", "text"), [("$", "ab"), ("b*$", "a"), (r"\b", "ab")])
def test_no_span_is_given_twice(pattern: str, text: str) -> None:
    spans = next(Pattern(pattern).lines(text)).spans

    assert len(spans) == len(set(spans))


# \A, \z and (?-m) mean another place in a whole text than in one of its lines.
@pytest.mark.parametrize("pattern", [r"\Afoo", r"foo\z", r"(?-m)^foo", r"(?-m:foo$)", "foo", "^foo$"])
@pytest.mark.parametrize("text", ["bar\nfoo", "foo\nbar", "foo\nfoo", "bar\nfoo\nbar"])
def test_whether_a_line_matches_does_not_depend_on_the_others(pattern: str, text: str) -> None:
    compiled = Pattern(pattern)

    found = [line.text for line in compiled.lines(text)]

    assert found == [line for line in text.split("\n") if list(compiled.lines(line))]


@pytest.mark.parametrize(("pattern", "line"), [("a*", "baac"), (r"\w*", "ab cd"), (r"\B", "é日 é")])
def test_an_empty_match_stands_neither_beside_another_nor_within_a_character(pattern: str, line: str) -> None:
    spans = next(Pattern(pattern).lines(line)).spans

    assert all(before[1] < after[0] or after[0] < after[1] for before, after in pairwise(spans))
    assert all(0 <= start <= len(line) for start, _ in spans)
    assert len(set(spans)) == len(spans)


def test_a_file_without_a_byte_has_no_lines_and_a_newline_is_one() -> None:
    assert list(Pattern("").lines("")) == []
    assert list(Pattern("^$").lines("\n")) == [Line(1, "", ((0, 0),))]
    assert list(Pattern("^$").lines("a\n")) == []


# --- options --------------------------------------------------------------------------------------


def test_capitals_do_not_matter_when_they_are_to_be_ignored() -> None:
    assert matches("ÉCOLE", "école École", ignore_case=True) == ["école", "École"]
    assert matches("ÉCOLE", "école École") == []


def test_a_fixed_pattern_is_plain_text() -> None:
    assert matches("a.b", "a.b axb", fixed=True) == ["a.b"]
    assert matches("(", "f(x)", fixed=True) == ["("]
    assert matches("$5 [x] \\d", "$5 [x] \\d", fixed=True) == ["$5 [x] \\d"]
    assert matches("{2000}", "{2000}", fixed=True) == ["{2000}"]
    assert matches("É+", "é+", fixed=True, ignore_case=True) == ["é+"]


def test_a_word_matches_only_whole() -> None:
    assert matches("cat|dog", "cat dogs hotdog dog,", word=True) == ["cat", "dog"]
    assert matches("x", "foo_x x x2", word=True) == ["x"]
    assert matches("a.b", "a.b a.bc", word=True, fixed=True) == ["a.b"]


@pytest.mark.parametrize(
    ("pattern", "text", "places"),
    [(".", "---", [0, 1, 2]), ("-|a", "a-a- -a", [0, 2, 6]), ("é|-", "é-é-", [0, 2]), ("", "- é  -", [0, 1, 4, 5, 6])],
)
def test_a_sign_that_matched_bounds_the_word_behind_it(pattern: str, text: str, places: list[int]) -> None:
    spans = next(Pattern(pattern, word=True).lines(text)).spans

    assert [start for start, _ in spans] == places


def test_a_group_that_is_not_closed_is_not_closed_by_the_words_of_ours() -> None:
    assert refusal("a)(b", word=True).position == 1


# RE2's own \b knows ASCII only.
@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("café", "un café noir", ["café"]),
        ("caf", "un café noir", []),
        ("москва", "в москва я", ["москва"]),
        ("él", "él habla", ["él"]),
        ("東京", "東京 Tokyo", ["東京"]),
    ],
)
def test_a_word_ends_where_its_letters_do_in_any_script(pattern: str, text: str, found: list[str]) -> None:
    assert matches(pattern, text, word=True) == found


@pytest.mark.parametrize("pattern", ["C++", "C#", ".NET", "$5", "@ada"])
def test_a_word_may_begin_or_end_with_a_sign(pattern: str) -> None:
    assert matches(pattern, f"it is {pattern} here", word=True, fixed=True) == [pattern]


def test_of_several_patterns_any_may_match() -> None:
    found = list(Pattern(["te.", r"\Q(x", "^c"]).lines("milk\ntea\ncat f(x)\n"))

    assert found == [Line(2, "tea", ((0, 3),)), Line(3, "cat f(x)", ((0, 1), (5, 7)))]
    assert list(Pattern(["a.", "(x"], fixed=True).lines("ab\na. (x")) == [Line(2, "a. (x", ((0, 2), (3, 5)))]


def test_the_error_of_one_of_several_patterns_is_its_own() -> None:
    with pytest.raises(BadPatternError, match=r"'te\(': missing \) at position 2"):
        Pattern(["milk", "te("])


@pytest.mark.parametrize("pattern", ["É", "Tea", "[A-F]", r"\QT\E", "(?:T)"])
def test_a_capital_in_a_pattern_counts_when_case_is_smart(pattern: str) -> None:
    assert list(Pattern(pattern, smart_case=True).lines(pattern.lower())) == []


@pytest.mark.parametrize(
    "pattern", ["tea", r"\PN\S\D", r"\p{Lu}\pLa", r"\x{54}ea", "(?P<Name>t)", "(?U)t", "[[:^digit:]]"]
)
def test_without_a_capital_case_is_ignored_when_it_is_smart(pattern: str) -> None:
    found = Pattern(pattern, smart_case=True).lines("TEA")

    assert list(found) == list(Pattern(pattern, ignore_case=True).lines("TEA")) != []


@given(PATTERNS, TEXTS, st.booleans())
def test_inverted_it_gives_exactly_the_other_lines(pattern: str, text: str, multiline: bool) -> None:
    options = {"multiline": multiline}
    compiled, inverted = compiled_or_not(pattern, **options), compiled_or_not(pattern, invert=True, **options)
    assume(compiled is not None)
    assert compiled
    assert inverted

    found, others = [list(each.lines(text)) for each in (compiled, inverted)]

    held = text.replace("\r\n", "\n").removesuffix("\n").split("\n") if text else []
    assert {line.number: line.text for line in (*found, *others)} == dict(enumerate(held, 1))
    assert len(found) + len(others) == len(held)
    assert not any(line.spans for line in others)


@given(st.one_of(PATTERNS, st.sampled_from(NASTY)), TEXTS, OPTIONS)
@example("^", "a\n\nb\nc", {})
@example("a", "a\na", {})
@example("a\nb", "a\nba\nb", {"multiline": True})
def test_without_spans_the_lines_are_the_same(pattern: str, text: str, options: dict[str, bool]) -> None:
    marked, unmarked = compiled_or_not(pattern, **options), compiled_or_not(pattern, spans=False, **options)
    assume(marked is not None)
    assert marked
    assert unmarked

    assert list(unmarked.lines(text)) == [Line(line.number, line.text, ()) for line in marked.lines(text)]


def test_no_more_lines_are_given_than_were_asked_for() -> None:
    assert [line.number for line in Pattern("a", most=2).lines("a\nb\na\na\n")] == [1, 3]
    assert [line.number for line in Pattern("b", most=2, invert=True).lines("a\nb\na\na\n")] == [1, 3]


# --- lines spanned ----------------------------------------------------------------------------------


def test_a_match_that_may_span_lines_gives_every_line_that_it_touches() -> None:
    found = list(Pattern(r"a\nb+", multiline=True).lines("xa\r\nbbc\r\na\nb"))

    assert found == [
        Line(1, "xa", ((1, 2),)),
        Line(2, "bbc", ((0, 2),)),
        Line(3, "a", ((0, 1),)),
        Line(4, "b", ((0, 1),)),
    ]


def test_a_newline_that_matched_is_no_part_of_its_line() -> None:
    assert list(Pattern(r"\nb", multiline=True).lines("a\nb")) == [Line(1, "a", ()), Line(2, "b", ((0, 1),))]


def test_two_matches_may_touch_the_same_line() -> None:
    found = list(Pattern(r"o\nb", multiline=True).lines("foo\nbar foo\nbaz\n"))

    assert [line.spans for line in found] == [((2, 3),), ((0, 1), (6, 7)), ((0, 1),)]


def test_an_empty_line_within_a_match_is_touched_and_nothing_of_it_matched() -> None:
    assert list(Pattern("(?s)a.*b", multiline=True).lines("a\n\nb")) == [
        Line(1, "a", ((0, 1),)),
        Line(2, "", ()),
        Line(3, "b", ((0, 1),)),
    ]


@pytest.mark.parametrize(
    ("pattern", "numbers"),
    [
        (r"\Aa", [1]),
        (r"a\z", []),
        (r"a\n\z", [3]),
        ("^a", [1, 3]),
        ("a$", [1, 3]),
        ("(?-m)^a", [1]),
        ("a.b", []),
        ("[^x]+", [1, 2, 3]),
        (r"\n", [1, 2, 3]),
        ("$", [1, 2, 3]),
    ],
)
def test_the_ends_of_the_text_are_its_own_when_lines_may_be_spanned(pattern: str, numbers: list[int]) -> None:
    assert [line.number for line in Pattern(pattern, multiline=True).lines("a\nb\na\n")] == numbers


def test_a_word_may_stand_at_the_end_of_a_line_when_lines_may_be_spanned() -> None:
    found = Pattern(r"a\nb", multiline=True, word=True).lines("a\nb\nxa\nb\na\nb c")

    assert [line.number for line in found] == [1, 2, 5, 6]


# --- lines around ---------------------------------------------------------------------------------


def around(numbers: Sequence[int], before: int, after: int, text: str = "1\r\n2\n3\n4\n5\n6\n7\n") -> list[list[str]]:
    """The runs of lines around those with `numbers`; a line of context is in brackets."""
    found = [Line(number, str(number), ()) for number in numbers]
    runs = surrounded(text, found, before, after)
    return [[f"({line.text})" if line.context else line.text for line in run] for run in runs]


@pytest.mark.parametrize(
    ("numbers", "before", "after", "runs"),
    [
        ([1, 7], 1, 1, [["1", "(2)"], ["(6)", "7"]]),
        ([2, 5], 1, 1, [["(1)", "2", "(3)", "(4)", "5", "(6)"]]),
        ([2, 6], 1, 1, [["(1)", "2", "(3)"], ["(5)", "6", "(7)"]]),
        ([1, 2], 0, 0, [["1", "2"]]),
        ([4], 9, 0, [["(1)", "(2)", "(3)", "4"]]),
        ([4], 0, 10**12, [["4", "(5)", "(6)", "(7)"]]),
        ([], 1, 1, []),
    ],
)
def test_lines_around_are_given_in_runs(numbers: list[int], before: int, after: int, runs: list[list[str]]) -> None:
    assert around(numbers, before, after) == runs


# --- many texts at once ---------------------------------------------------------------------------


@pytest.mark.parametrize("pattern", NASTY)
@settings(max_examples=10 * THOROUGH)
@given(texts=PACKS, options=OPTIONS)
def test_no_text_with_a_match_is_missed(pattern: str, texts: list[str], options: dict[str, bool]) -> None:
    no_text_is_missed(pattern, texts, options)


@given(
    st.one_of(PATTERNS, st.lists(st.one_of(PATTERNS, st.sampled_from(NASTY)), min_size=1, max_size=3)), PACKS, OPTIONS
)
@example("", ["", "", "a"], {})
@example(r"a$\b", ["a\r\n"], {})
@example(r"\b^a", ["\ufeffa"], {})
@example("$^", ["\ufeff\n", "\r\n", "\ufeff\r\n"], {})
@example(r"a\nb", ["a\r\nb"], {"multiline": True})
@example("[^x]^a", ["\ufeff\na"], {"multiline": True})
@example("(?s)^a.b", ["\ufeffa\nb"], {"multiline": True})
def test_no_text_with_a_match_is_missed_whatever_the_pattern(
    pattern: str | list[str], texts: list[str], options: dict[str, bool]
) -> None:
    no_text_is_missed(pattern, texts, options)


def no_text_is_missed(pattern: str | Sequence[str], texts: list[str], options: dict[str, bool]) -> None:
    compiled = compiled_or_not(pattern, **options)
    assume(compiled is not None)
    assert compiled

    candidates = list(compiled.candidates(*packed(texts)))

    matching = {i for i, text in enumerate(texts) if next(compiled.lines(text.removeprefix("\ufeff")), None)}
    assert candidates == sorted(set(candidates))
    assert matching <= set(candidates) <= set(range(len(texts)))


# --- the lines of many texts at once --------------------------------------------------------------


def plainly(pattern: Pattern, texts: Sequence[str]) -> dict[int, list[Line]]:
    """The reference: each text by itself."""
    every = {at: list(pattern.lines(text.removeprefix("\ufeff"))) for at, text in enumerate(texts)}
    return {at: lines for at, lines in every.items() if lines}


def at_once(pattern: Pattern, texts: Sequence[str], lost: Mapping[int, str] | None = None) -> dict[int, list[Line]]:
    """The same from one pack; behind some texts stands what was `lost` there in a crash."""
    behind = {at: f"{rest}\n" for at, rest in (lost or {}).items() if rest}
    pieces = [f"{text}\n{behind.get(at, '')}" for at, text in enumerate(texts)]
    *starts, size = accumulate((len(piece.encode()) for piece in pieces), initial=0)
    ends = [start - 1 for start in (*starts[1:], size)]
    pack = "".join(pieces).encode()
    found = pattern.found(pack, starts)
    assert list(found.firsts) == sorted(found.firsts)
    placed = [(at, texts[at], starts[at], ends[at], first) for at, first in found.firsts.items()]
    every = list(pattern.lines_of(found, placed))
    assert all(lines for _, lines in every)
    return {at: list(lines) for at, lines in every}


MORE_OPTIONS = st.tuples(OPTIONS, st.booleans(), st.sampled_from((None, None, 1, 2))).map(
    lambda options: {**options[0], "spans": options[1], "most": options[2]}
)
LOST = st.dictionaries(st.integers(0, 8), st.lists(PIECE_OF_A_TEXT, max_size=4).map("".join), max_size=2)


@pytest.mark.parametrize("pattern", NASTY)
@settings(max_examples=25)
@given(texts=PACKS, options=MORE_OPTIONS, lost=LOST)
def test_many_texts_at_once_have_the_lines_that_each_has_by_itself(
    pattern: str, texts: list[str], options: dict[str, Any], lost: dict[int, str]
) -> None:
    compiled = compiled_or_not(pattern, **options)
    assume(compiled is not None)
    assert compiled

    assert at_once(compiled, texts, lost) == plainly(compiled, texts)


@settings(max_examples=100)
@given(st.one_of(PATTERNS, st.lists(PATTERNS, min_size=1, max_size=3)), PACKS, MORE_OPTIONS, LOST)
@example(r"a|^$", ["xa", "b\n", "a"], {}, {})
@example(r"\ba", ["ba", "a", "b a\r\n", "\ufeffa"], {}, {})
@example(r"(?i)\bA\b", ["a\r\nba", "A"], {"most": 1, "spans": False}, {})
@example(r"\b*a", ["ba"], {}, {})
@example("é", ["aé\nbéé", "é"], {"spans": False}, {1: "é"})
@example("a", ["b", "a"], {}, {0: "a\na"})
@example("a", ["a" * 3, "a\na", ""], {"most": 1}, {})
def test_many_texts_at_once_have_the_lines_that_each_has_by_itself_whatever_the_pattern(
    pattern: str | list[str], texts: list[str], options: dict[str, Any], lost: dict[int, str]
) -> None:
    compiled = compiled_or_not(pattern, **options)
    assume(compiled is not None)
    assert compiled

    assert at_once(compiled, texts, lost) == plainly(compiled, texts)


@settings(max_examples=100)
@given(st.one_of(PATTERNS, st.sampled_from(NASTY)), TEXTS, st.booleans())
@example("é+|b", "ébé\n\nb日é", False)
def test_the_lines_are_those_in_which_the_engine_finds_something_by_themselves(
    pattern: str, text: str, ignore_case: bool
) -> None:
    compiled = compiled_or_not(pattern, ignore_case=ignore_case)
    assume(compiled is not None)
    assert compiled

    lines = {line.number: line for line in compiled.lines(text)}

    options = re2.Options()
    options.log_errors, options.never_nl, options.case_sensitive = False, True, not ignore_case
    alone = re2.compile(pattern, options)
    for number, held in enumerate(text.replace("\r\n", "\n").removesuffix("\n").split("\n") if text else [], 1):
        spans = tuple(match.span() for match in alone.finditer(held))
        if all(start < end for start, end in spans):  # of empty ones it gives some twice, and within a character
            assert lines.pop(number, None) == (Line(number, held, spans) if spans else None)
        else:
            lines.pop(number, None)
    assert not lines


@pytest.mark.parametrize("options", [{}, {"spans": False}, {"most": 1}])
def test_lines_are_made_when_they_are_looked_at(options: dict[str, Any]) -> None:
    pack, starts = packed(["milk", "é tea\nmilk\na tea, a tea\n"])
    pattern = Pattern("tea", **options)

    found = pattern.found(pack, starts)
    text, end = "é tea\nmilk\na tea, a tea\n", len(pack) - 1
    ((_, lines),) = pattern.lines_of(found, [(1, text, starts[1], end, found.firsts[1])])

    assert isinstance(lines, Lines)
    assert lines
    assert list(lines) == list(pattern.lines("é tea\nmilk\na tea, a tea\n"))
    assert lines[0].text == "é tea"
    assert lines[-1:] == list(lines)[-1:]
    assert len(lines) == (1 if "most" in options else 2)


@pytest.mark.parametrize("pattern", ["a", "ab?", "a|é", "(?i)A", "a.?", "^a|ab", r"\ba"])
@pytest.mark.parametrize("unit", ["ab ", "ab\n", "ab\r\n", "é ab\n", "a b\nab\n\n"])
def test_texts_with_more_and_more_matches_have_the_lines_that_each_has_by_itself(pattern: str, unit: str) -> None:
    texts = [unit * count for count in (1, 0, MANY - 1, MANY, 1, MANY + 1, 2 * MANY, 2, 3 * MANY, 5)]
    texts += ["\ufeff" + text for text in texts] + ["b", "a", "milk"]

    for options in ({}, {"spans": False}, {"most": 2}, {"fixed": True}):
        compiled = Pattern(pattern, **options)

        assert at_once(compiled, texts, {3: "ab ab", 9: "a"}) == plainly(compiled, texts)


@pytest.mark.parametrize("pattern", ["te?a", "[a-z]+", r"\w+", "tea|milk", "(?i)TEA", r"\btea\b", "a{1,2}", "tea b"])
@pytest.mark.parametrize("text", ["tea\r\n", "x\ntea\r\nb", "tea\r", "\rtea\r\r\n", "tea b\r\n\r\ntea b"])
def test_a_text_with_carriage_returns_has_its_lines_even_where_nobody_looks_for_them(pattern: str, text: str) -> None:
    compiled = Pattern(pattern)
    assert compiled._no_return

    assert at_once(compiled, [text, "milk", text * 3]) == plainly(compiled, [text, "milk", text * 3])


@pytest.mark.parametrize(
    "pattern", [".", r"a\s", "a$", "[^b]", r"\r", "\r", r"\x0d", "[!\r]", "[[:cntrl:]]", r"a\B", "a\\"]
)
def test_a_pattern_that_may_match_a_carriage_return_has_every_text_looked_at(pattern: str) -> None:
    compiled = compiled_or_not(pattern)

    assert compiled is None or not compiled._no_return


@pytest.mark.parametrize("texts", [["the user"] * 3000, ["the user"] * 2999 + ["the ser"], ["ser"] * 3000])
def test_what_is_seldom_a_word_is_found_among_many_words_that_hold_it(
    texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vault_mind.regex, "PART", 5_000)
    pattern = Pattern(r"\bser")

    assert at_once(pattern, texts) == plainly(pattern, texts)


@pytest.mark.parametrize(
    ("pattern", "texts", "candidates"),
    [
        ("a[^x]*b", ["a", "b", "a b", "a\nb"], [2]),
        (r"a\s*b", ["a", "b", "a b", "a\r\nb"], [2]),
        ("a$", ["ab", "a", "b\r\na\r\nb", "ba"], [1, 2, 3]),
        ("^a", ["\ufeffa", "ba", "b\na"], [0, 2]),
        ("a", ["b", "a", "", "a\n", "b"], [1, 3]),
        ("é", ["e", "é"], [1]),
    ],
)
def test_a_match_that_would_run_over_a_line_proposes_no_text(
    pattern: str, texts: list[str], candidates: list[int]
) -> None:
    assert list(Pattern(pattern).candidates(*packed(texts))) == candidates


@pytest.mark.parametrize("multiline", [False, True])
def test_texts_longer_than_a_window_are_searched_to_their_end(tmp_path: Path, multiline: bool) -> None:
    long = "x" * (WINDOW + 9)
    texts = ["b", f"{long}b{long}\n", "a", f"{long}\n{long}\nb", "", "y\n" * WINDOW + "b\n", "b"]
    pack, starts = packed(texts)
    file = tmp_path / "pack"
    file.write_bytes(pack)
    pattern = Pattern(r"b$|xb|[b\n]b", multiline=multiline)

    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        assert list(pattern.candidates(mapped, starts)) == [0, 1, 3, 5, 6]
    assert list(pattern.candidates(pack, starts)) == [0, 1, 3, 5, 6]


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "position"),
    [
        ("(", 0),
        ("tea(", 3),
        ("((a)", 0),
        ("[(](", 3),
        (")", 0),
        ("a)b", 1),
        ("[", 0),
        ("日本[", 2),
        ("é(", 1),
        ("a**", 1),
        ("*a", 0),
        ("+", 0),
        ("a|*", 2),
        ("a\\", 1),
        ("a{2,1}", 1),
        ("[z-a]", 1),
        (r"\k<n>", 0),
    ],
)
def test_a_pattern_that_does_not_compile_is_refused_with_the_place(pattern: str, position: int) -> None:  # RX-02
    error = refusal(pattern)

    assert error.position == position
    assert str(error).endswith(f"at position {position}")
    assert "(?m)" not in str(error)
    assert "\n" not in str(error)


@pytest.mark.parametrize(
    ("pattern", "advice"),
    [
        ("a(?=b)", "look-ahead is not linear"),
        ("a(?!b)", "grep -v"),
        ("(?<=a)b", "look-behind is not linear"),
        ("(?<!a)b", "look-behind is not linear"),
        (r"(a)\1", "write the text out"),
        (r"(a)(b)\2", "write the text out"),
    ],
)
def test_what_cannot_be_linear_is_refused_with_advice(pattern: str, advice: str) -> None:
    assert advice in str(refusal(pattern))


@pytest.mark.parametrize(("pattern", "position"), [("a\nb", 1), (r"ab\n", 2), ("\\Qa\nb", 0)])
def test_a_newline_in_a_pattern_is_refused_unless_lines_may_be_spanned(pattern: str, position: int) -> None:
    error = refusal(pattern)

    assert "-U" in str(error)
    assert error.position == position
    assert Pattern(pattern, multiline=True)


def test_a_newline_in_a_fixed_pattern_is_refused_unless_lines_may_be_spanned() -> None:
    assert refusal("a\n", fixed=True).position == 1
    assert [line.number for line in Pattern("a\nb", fixed=True, multiline=True).lines("a\nb\nc")] == [1, 2]


def test_a_byte_that_may_be_half_a_character_is_refused() -> None:
    assert "write (?s:.)" in str(refusal(r"a\C"))


def test_a_named_back_reference_is_refused_with_advice() -> None:
    assert "write the text out" in str(refusal("(?P<n>a)(?P=n)"))


@pytest.mark.parametrize(
    "pattern", ["a{1001}", "a{2,5000}", "a{1001,}", "(ab){99999999999999999999}", "x(a{1000}){1000}"]
)
def test_too_many_repetitions_are_refused(pattern: str) -> None:
    error = refusal(pattern)

    assert "repe" in str(error)
    assert error.position is not None


def test_a_thousand_repetitions_are_not_too_many() -> None:
    assert matches("a{1000}", "a" * 1000) == ["a" * 1000]


def test_braces_that_repeat_nothing_are_plain_text() -> None:
    assert matches(r"\{2000\}", "{2000}") == ["{2000}"]
    assert matches("[{2000}]+", "{2000}") == ["{2000}"]
    assert matches("a{,5}", "a{,5}") == ["a{,5}"]


@pytest.mark.parametrize(
    ("pattern", "text"), [(r"\Qx{5000}\E", "x{5000}"), ("[]{2000}]", "]"), (r"\Q(?P<a>\E(?P<a>x)", "(?P<a>x")]
)
def test_what_is_quoted_in_a_pattern_is_plain_text(pattern: str, text: str) -> None:
    assert matches(pattern, text)


def test_a_group_name_that_is_given_twice_is_refused() -> None:
    assert refusal("(?P<n>a)(?P<n>b)").position == 8


def test_a_pattern_that_is_too_long_is_refused_and_not_shown_whole() -> None:
    error = refusal("x" * (LONGEST + 1))

    assert len(str(error)) < 200
    assert list(Pattern("x" * LONGEST).lines("x")) == []


def test_half_a_surrogate_pair_is_refused_as_no_text() -> None:
    error = refusal("ab\ud800")

    str(error).encode()
    assert "no text" in str(error)


# Any byte of an argument that is not UTF-8 comes as such a half.
def test_half_a_surrogate_pair_is_refused_in_a_fixed_pattern_too() -> None:
    assert "no text" in str(refusal("ab\udcff", fixed=True))


def test_the_place_of_half_a_surrogate_pair_is_its_own() -> None:
    assert refusal("ab\ud800").position == 2


@given(PATTERNS, TEXTS, st.booleans(), st.booleans(), st.booleans())
@example("(?P<é>a)(?P<é>b)", "ab", False, False, False)
@example("", "", False, False, True)
def test_any_pattern_compiles_or_is_refused_and_no_text_raises(
    pattern: str, text: str, ignore_case: bool, fixed: bool, word: bool
) -> None:
    try:
        compiled = Pattern(pattern, ignore_case=ignore_case, fixed=fixed, word=word)
    except BadPatternError as error:
        assert error.position is None or 0 <= error.position <= len(pattern)
        assert not fixed or "\ud800" in pattern or "\n" in pattern
        return

    lines = list(compiled.lines(text))

    held = text.replace("\r\n", "\n").split("\n")
    assert [line.number for line in lines] == sorted({line.number for line in lines})
    for line in lines:
        assert line.text == held[line.number - 1]
        assert line.spans
        assert all(0 <= start <= end <= len(line.text) for start, end in line.spans)


@given(st.text(max_size=8), TEXTS)
def test_a_fixed_pattern_is_found_exactly_where_it_stands(pattern: str, text: str) -> None:
    assume("\n" not in pattern)

    lines = [line.text for line in Pattern(pattern, fixed=True).lines(text)]

    held = text.replace("\r\n", "\n").removesuffix("\n").split("\n") if text else []
    assert lines == [line for line in held if pattern in line]


# --- time -----------------------------------------------------------------------------------------


def seconds(work: Callable[[], object]) -> float:
    """The shortest of three runs, in seconds of this process."""
    took = []
    for _ in range(3):
        start = time.process_time()
        work()
        took.append(time.process_time() - start)
    return min(took)


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+$",
        "(a|aa)+$",
        "(a*)*b",
        "(x+x+)+y",
        "^(([a-z])+.)+[A-Z]([a-z])+$",
        "(.*a){20}$",
        "(?:ab|a|b)*d",
        ".*.*.*=.*",
        "(a?){30}a{30}$",
    ],
)
def test_no_pattern_takes_much_longer_than_a_plain_one(pattern: str) -> None:  # RX-01
    text = "a" * 100_000 + "!"
    plain, hostile = Pattern("[a-z]+[0-9]$"), Pattern(pattern)

    ratio = seconds(lambda: list(hostile.lines(text))) / seconds(lambda: list(plain.lines(text)))

    assert ratio < 50


@pytest.mark.parametrize("piece", ["ab", "éb", "日b", "a\n"])
def test_time_grows_with_the_text_and_no_faster(piece: str) -> None:
    pattern = Pattern("a|é|日")

    short = seconds(lambda: list(pattern.lines(piece * 1_000)))
    long = seconds(lambda: list(pattern.lines(piece * 8_000)))

    assert long / short < 8 * 3


# Once: the code of a character was taken for a number of repetitions.
@pytest.mark.parametrize("pattern", [r"\x{2019}", r"[\x{2019}]", r"\x{10FFFF}|’"])
def test_a_character_by_its_code_is_no_repetition(pattern: str) -> None:
    assert [line.spans for line in Pattern(pattern).lines("don’t")] == [((3, 4),)]


# --- several threads ----------------------------------------------------------------------------------------------


@given(st.lists(st.text("ab\n\r é", max_size=12), max_size=30), st.sampled_from(["a", "^b", "é$", "a.*b", "", "x"]))
def test_several_threads_find_what_one_finds(texts: list[str], pattern: str) -> None:
    starts, pack = [], b""
    for text in texts:
        starts.append(len(pack))
        pack += text.encode() + b"\n"
    alone = list(Pattern(pattern).candidates(pack, starts))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("vault_mind.regex.PART", 1)
        patch.setattr("os.cpu_count", lambda: 5)
        together = list(Pattern(pattern).candidates(pack, starts))

    assert together == alone

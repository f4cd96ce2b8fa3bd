"""Regex over lines: what matches where, what is refused and why, and never more than linear time."""

import time
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vault_mind.errors import BadPatternError
from vault_mind.regex import LONGEST, Line, Pattern

PIECES = st.sampled_from(
    "a b é 日 . * + ? | ( ) [ ] { } ^ $ \\ \\b \\d \\w \\s \\A \\z \\Q \\E \\1 \\x{41} \\pL (?i) (?: (?P<n> (?= {2} "
    "{1001} [^a] [[:alpha:]] - \n \r \t \0".split(" ")
)
PATTERNS = st.one_of(st.text(max_size=12), st.lists(PIECES, max_size=8).map("".join))
TEXTS = st.one_of(
    st.text(max_size=60), st.lists(st.sampled_from("a b é 日 \n \r\n \r a\nb  \0".split(" "))).map("".join)
)


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
    assert matches("a\nb", "a\nb") == []
    assert matches("[^x]+", "ab\ncd") == ["ab", "cd"]


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
        assert not fixed or "\ud800" in pattern
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
    lines = [line.text for line in Pattern(pattern, fixed=True).lines(text)]

    held = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
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

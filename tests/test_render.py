"""What the user sees: built here, and never driving the terminal."""

import json
import re
import unicodedata
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_mind import Hit, render
from vault_mind.agent import Learned, Recalled
from vault_mind.config import Endpoint, load
from vault_mind.doctor import Finding
from vault_mind.extraction import Turned
from vault_mind.memory import parse
from vault_mind.ranking import FITS, Explanation
from vault_mind.regex import Pattern
from vault_mind.screen import Piece, text_of
from vault_mind.stats import count
from vault_mind.vault import Problem

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=80)  # half surrogate pairs too
REORDERING = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
ODD = "two\nlines [bold]\x1b]0;x\x07\t:smile:\u202egpj.md"
ODD_ON_A_LINE = "two^Jlines [bold]^[]0;x^G^I:smile:<U+202E>gpj.md"


def acts(text: str) -> set[str]:
    """The characters of `text` that a terminal would act on."""
    return {c for c in text if (unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t") or c in REORDERING}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]52;c;cm0=\x07", "^[]52;c;cm0=^G"),
        ("\x1b[31mred\x1b[0m", "^[[31mred^[[0m"),
        ("\x00\x08\x0b\x0c\x7f", "^@^H^K^L^?"),
        ("real\rfake", "real^Mfake"),
        ("one\r\ntwo\n\tthree", "one\ntwo\n\tthree"),
        ("\x9b31m \x85", "<U+009B>31m <U+0085>"),
        ("\u202egnp.exe \u2066x\u2069 \u200f", "<U+202E>gnp.exe <U+2066>x<U+2069> <U+200F>"),
        ("\u2028 \ufeff", "<U+2028> <U+FEFF>"),
        ("\ud83d \udce9", "<U+D83D> <U+DCE9>"),
        ("été 日本語 😀 👩‍🔬", "été 日本語 😀 👩‍🔬"),
        ("[bold]x[/] :smile:", "[bold]x[/] :smile:"),
    ],
)
def test_control_characters_are_spelt_out_and_the_rest_stays(text: str, shown: str) -> None:
    assert render.visible(text) == shown


@given(ANY_TEXT)
def test_nothing_that_a_terminal_acts_on_is_left(text: str) -> None:
    shown = render.visible(text)

    assert not acts(shown)
    assert shown.encode() is not None  # half a pair would raise
    assert render.visible(shown) == shown
    assert acts(text) or "\ufeff" in text or "\u2028" in text or "\u2029" in text or shown == text
    assert not set(render.one_line(text)) & {"\n", "\t", "\r"}


@given(st.recursive(ANY_TEXT, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3)))
def test_json_holds_the_very_text_and_no_terminal_acts_on_it(value: object) -> None:
    for indent in (2, None):
        text = render.to_json(value, indent=indent)

        assert json.loads(text) == value
        assert not acts(text)
        assert text.encode() is not None
        assert indent or "\n" not in text


def test_json_gives_moments_as_iso_and_values_by_their_fields() -> None:
    finding = Finding("a.md", "odd", "mend it")

    assert json.loads(render.to_json([datetime(2026, 5, 1, tzinfo=UTC), finding])) == [
        "2026-05-01T00:00:00+00:00",
        {"path": "a.md", "what": "odd", "advice": "mend it", "remark": False, "code": "odd"},
    ]


def plain(shown: list[Piece]) -> str:
    """The words alone."""
    return text_of(shown)


def test_a_hit_is_its_path_on_a_line_of_its_own_and_what_it_says() -> None:
    memory = parse("memories/tea.md", "---\nkind: preference\ncreated_at: 2026-05-03\n---\n\nGreen [tea].\nIn May.\n")

    assert plain(render.hits([Hit(memory, 2.345)])) == (
        "memories/tea.md\n    preference, 2026-05-03 · 2.35\n    Green [tea].\n    In May.\n"
    )
    assert plain(render.hits([])) == ""


def test_a_long_hit_is_cut_and_an_empty_one_shows_its_title() -> None:
    cut = plain(render.hits([Hit(parse("a.md", "word " * 500), 1.0)]))

    assert len(cut) < render.SNIPPET + 100
    assert cut.endswith("…\n")
    assert "Tea time" in plain(render.hits([Hit(parse("a.md", "---\ntitle: Tea time\n---\n"), 1.0)]))


def test_a_name_with_a_newline_stays_one_line_everywhere() -> None:
    memory = parse(ODD, "tea\x07 [/] time\nmore")

    assert plain(render.memories([memory], long=False)) == f"{ODD_ON_A_LINE}\n"
    assert plain(render.memories([memory], long=True)) == f"{ODD_ON_A_LINE}  note, no date  tea^G [/] time\n"
    assert plain(render.hits([Hit(memory, 1.0)])).startswith(f"{ODD_ON_A_LINE}\n")
    assert plain(render.problem(Problem(ODD, "what\nnow"))) == f"warning: {ODD_ON_A_LINE}: what^Jnow"
    assert plain(render.findings([Finding(ODD, ODD, "a")])) == f"fix   {ODD_ON_A_LINE}: {ODD_ON_A_LINE}\n      a\n"
    assert plain(render.recalled(Recalled((Hit(memory, 1.0),), (), ()))).startswith("recalled: two^Jlines [bold]^[]0;")


def test_matching_lines_are_printed_as_path_line_text_with_the_match_marked() -> None:
    memory = parse("a\n.md", "no\none \x1b[31mtea[/] two\ttea\n")

    shown = render.grep_lines(memory, Pattern("tea").lines(memory.text))

    assert plain(shown) == "a^J.md:2:one ^[[31mtea[/] two\ttea\n"
    assert [text for text, style in shown if style == "bold red"] == ["tea", "tea"]


@pytest.mark.parametrize(
    ("file", "shown"),
    [
        ("---\nkind: fact\n---\n\n  tea  \n\n\n", "---\nkind: fact\n---\n\n  tea  \n\n\n"),
        ("tea", "tea\n"),
        ("\ufefftea\n", "tea\n"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("", "\n"),
        ("[/x] :smile: \x1b[2K\n", "[/x] :smile: ^[[2K\n"),
    ],
)
def test_a_file_is_shown_as_it_is_with_its_controls_spelt_out(file: str, shown: str) -> None:
    assert plain(render.whole(parse("a.md", file))) == shown


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_of_a_file_the_frontmatter_alone_is_dimmed(newline: str) -> None:
    shown = render.whole(parse("a.md", newline.join(["---", "title: 't\x07'", "---", "", "tea", ""])))

    (dimmed,) = (text for text, style in shown if style == "dim")
    assert dimmed.strip() == "---\ntitle: 't^G'\n---"


def test_what_was_learned_is_told_a_line_each() -> None:
    tea, key = parse("tea.md", "The user likes tea."), parse("key.md", "The key is here.")

    assert render.learned(Learned()) == []
    told = plain(render.learned(Learned((tea,), (key,), (Turned("I like\nit", "it is not yours"),))))
    assert told.splitlines() == [
        "learned: The user likes tea. (tea.md)",
        "known already: key.md",
        "not kept: I like^Jit (it is not yours)",
    ]
    assert plain(render.learned(Learned(failed="no [/] luck"))) == (
        "nothing learned this time: no [/] luck; it is kept and will be tried again"
    )


def test_nothing_recalled_is_not_worth_a_line() -> None:
    assert render.recalled(Recalled((), (), ())) == []


def test_counts_are_a_line_each() -> None:
    memories = [parse("a.md", "---\nkind: fact\ntags: ['[b]', tea]\ncreated_at: 2026-05-03\n---\none two")]

    text = plain(render.stats(count(memories, datetime.now(UTC)), {"vault": "/x"}))

    assert re.search(r"^memories +1 \(2 words\)$", text, re.MULTILINE)
    assert re.search(r"^tags +\[b\] 1, tea 1$", text, re.MULTILINE)
    assert re.search(r"^from … to +2026-05-03 … 2026-05-03$", text, re.MULTILINE)
    assert re.search(r"^vault +/x$", text, re.MULTILINE)
    assert re.search(r"^sources +none given 1$", text, re.MULTILINE)


def test_settings_are_shown_with_their_origin_and_the_key_never_whole() -> None:
    config = load(None, {"VAULT_MIND_TOP_K": "9", "VAULT_MIND_IGNORE": "a/,b\x1b[31m"}, {"offline": True})

    text = plain(render.config(config, Endpoint("https://x", "sk-secret-0123456789", ""), {"vault": ("/x", "flag")}))

    assert re.search(r"^top_k +9 +\(VAULT_MIND_TOP_K, ", text, re.MULTILINE)
    assert re.search(r"^offline +True +\(flag, ", text, re.MULTILINE)
    assert re.search(r"^ignore +a/, b\^\[\[31m ", text, re.MULTILINE)
    assert re.search(r"^language +english +\(default, ", text, re.MULTILINE)
    assert "sk-secret" not in text
    assert "…6789" in text


def test_a_hit_that_hardly_fits_is_marked_beside_those_that_do() -> None:
    good, weak = Hit(parse("a.md", "tea"), 2.0, FITS), Hit(parse("b.md", "tea"), 1.0, FITS - 0.01)

    assert plain(render.hits([good, weak])).count("hardly fits") == 1
    assert "hardly fits" not in plain(render.hits([weak])) + plain(render.hits([good]))
    assert render.fitting([good, weak]) == [good]
    assert render.hit_data(weak)["fits"] is False


def test_the_parts_of_a_score_stand_below_the_hit_on_a_line_each() -> None:
    explained = Explanation((("word tea", 12.25), ("beside x\n\x1b.md", 0.5)))
    hit = Hit(parse("a.md", "Tea."), 12.75)

    shown = render.hits([hit], [explained])

    assert plain(shown).endswith("    Tea.\n       12.25  word tea\n        0.50  beside x^J^[.md\n")
    assert render.hit_data(hit, explained)["explain"] == [
        {"part": "word tea", "score": 12.25},
        {"part": "beside x\n\x1b.md", "score": 0.5},
    ]


def test_when_nothing_fits_the_nearest_are_named() -> None:
    near = Hit(parse("memories/tea.md", "tea"), 1.0, 0.1)

    assert plain(render.recalled(Recalled((), (), (), (near, near)))) == "nothing fits; nearest: tea, tea"
    assert plain(render.recalled(Recalled((near,), (), (), (near,)))) == "recalled: tea"

"""A text is found in every form that programs give it, and taken out."""

import json
import unicodedata
from urllib.parse import quote

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from vault_mind.needles import Needle, Needles, telling
from vault_mind.vault import slug

SENTENCE = "The user's café – “green tea”, in the morning."


@pytest.mark.parametrize(
    "form",
    [
        SENTENCE,
        SENTENCE.upper(),
        unicodedata.normalize("NFD", SENTENCE),
        'The user’s café – "green\n> tea", in\n> the morning',
        "The user's **café** – “green _tea_”, in the morning",
        "The user's café –\r\n  “green tea”,\r\n  in the morning",
        slug(SENTENCE),
        slug(SENTENCE).replace("-", "_"),
        quote(SENTENCE),
        json.dumps(SENTENCE),
        json.dumps(SENTENCE, ensure_ascii=False),
        json.dumps(json.dumps(SENTENCE)[1:-1]),
        yaml.safe_dump(SENTENCE, allow_unicode=False, width=20),
        yaml.safe_dump(SENTENCE, allow_unicode=True, width=20, default_style="'"),
        SENTENCE.replace("é", "&#233;"),
    ],
)
def test_a_text_is_found_and_taken_out_in_every_form(form: str) -> None:
    needles = Needles([SENTENCE])
    data = f"before {form} after".encode()

    scrubbed = needles.scrubbed(data)

    assert needles.within(data)
    assert not needles.within(scrubbed)
    assert scrubbed.startswith(b"before")
    assert scrubbed.endswith(b"after")
    assert b"morning" not in scrubbed.lower()


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_a_text_is_found_in_utf_16(encoding: str) -> None:
    needles = Needles([SENTENCE])
    data = f"vor {SENTENCE.upper()} nach".encode(encoding)

    scrubbed = needles.scrubbed(data)

    assert needles.within(data)
    assert not needles.within(scrubbed)
    if encoding == "utf-16":
        assert scrubbed.decode(encoding) == "vor (purged). nach"
    else:  # nothing says that it is a text, so nothing is moved
        assert len(scrubbed) == len(data)


def test_other_words_are_not_found() -> None:
    needles = Needles([SENTENCE])

    for other in ("The user's cafe – green tea, in the evening.", "The user's café", "the users morning", ""):
        assert not needles.within(other.encode())
        assert needles.scrubbed(other.encode()) == other.encode()


def test_a_text_of_chinese_is_found_without_spaces() -> None:
    needles = Needles(["用户喜欢绿茶"])

    assert needles.scrubbed("记得:用户喜欢绿茶。".encode()) == "记得:(purged)。".encode()
    assert needles.within(json.dumps("用户喜欢绿茶").encode())


def test_the_longest_text_goes_first_and_as_a_whole() -> None:
    assert Needles(["green tea", "likes green tea"]).scrubbed(b"She likes green tea.") == b"She (purged)."


def test_what_is_left_never_makes_the_text_again() -> None:
    needles = Needles(["(purged) purged", "(gone)"])

    assert not needles.within(needles.scrubbed(b"(purged) purged, (purged) (purged) purged purged, gone"))


def test_other_bytes_keep_their_length() -> None:
    assert Needles(["green tea"]).scrubbed(b"\0\1Green tea\0") == b"\0\1*********\0"


def test_what_stands_in_its_place_keeps_yaml_and_json_what_they_are() -> None:
    needles = Needles(["green tea"])

    assert yaml.safe_load(needles.scrubbed(b"quote: green tea is best\nlist: [green tea, b]")) == {
        "quote": "(purged) is best",
        "list": ["(purged)", "b"],
    }
    assert json.loads(needles.scrubbed(b'{"a": "green\\ntea", "b": 1}')) == {"a": "(purged)", "b": 1}


def test_what_says_too_little_is_told_apart() -> None:
    assert telling(["The user likes tea.", "Likes tea", "- [ ]", "用户喜欢绿茶", "", "tea"]) == (
        ["The user likes tea", "用户喜欢绿茶"],
        ["Likes tea", "- [ ]", "tea"],
    )


def test_a_pattern_of_a_user_is_no_regex() -> None:
    assert Needles(["a.*b (c|d) [e]"]).within(b"say a.*b (c|d) [e]")
    assert not Needles(["a.*b (c|d) [e]"]).within(b"say axxb c e")


@given(st.text(min_size=1, max_size=30), st.text(max_size=30), st.text(max_size=30))
@example("\u0130stanbul", "", "")
@example("ß and ſ", "", "")
@example("0\x1f0", "", "")
@example("thin\u2009space", "", "")
def test_a_text_that_stands_somewhere_is_found_and_then_gone(text: str, before: str, after: str) -> None:
    needles = Needles([text])
    data = f"{before} {text} {after}".encode("utf-8", "replace")

    if Needle(text).letters:
        assert needles.within(data) or "?" in data.decode()
    assert not needles.within(needles.scrubbed(data))

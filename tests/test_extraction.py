"""Candidates: what a mind proposes is checked against the user's words."""

from collections.abc import Iterator

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from vault_mind.errors import ModelError
from vault_mind.extraction import LONGEST, MOST, Candidate, checked, propose, verbatim
from vault_mind.journal import Exchange
from vault_mind.model import Request, Schema

MESSAGE = "Hi!  I live in Oslo,\nand I'd rather have “green” tea. Don’t wake me."


def memory(kind: object = "fact", text: object = "The user lives in Oslo.", quote: object = "I live in Oslo") -> object:
    """One proposal."""
    return {"kind": kind, "text": text, "quote": quote}


def test_a_candidate_that_rests_on_the_users_words_stands() -> None:
    candidates, turned = checked({"memories": [memory()]}, MESSAGE)

    assert candidates == [Candidate("fact", "The user lives in Oslo.", "I live in Oslo")]
    assert turned == []


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("I live in Oslo", "I live in Oslo"),
        ("i LIVE in oslo", "I live in Oslo"),
        ("Oslo, and I'd rather", "Oslo, and I'd rather"),
        ("Hi! I live", "Hi! I live"),
        ('"green" tea.', "“green” tea."),
        ("Don't wake me.", "Don’t wake me."),
        ("Oslo", "Oslo"),
        ("I live in Bergen", None),
        ("live in Os", None),
        ("ive in Oslo", None),
        ("", None),
        ("  ", None),
        ("...", None),
        (".*", None),
        ("I live in Oslo and I'd rather", None),
    ],
)
def test_a_quote_is_found_word_for_word_white_space_case_and_curls_aside(quote: str, found: str | None) -> None:
    assert verbatim(quote, MESSAGE) == found


@pytest.mark.parametrize(
    ("quote", "message"),
    [("eat.", "I like meat."), ("(art", "I have a (artful) cat"), ("live it,", "I relive it, too")],
)
def test_a_quote_is_found_in_whole_words_also_where_it_ends_in_a_mark(quote: str, message: str) -> None:
    assert verbatim(quote, message) is None


def test_a_quote_in_a_script_without_spaces_is_found_inside_a_line() -> None:
    assert verbatim("京都に住んで", "私は京都に住んでいます。") == "京都に住んで"
    assert verbatim("大阪に住んで", "私は京都に住んでいます。") is None


@given(st.text(max_size=60), st.text(max_size=80))
def test_what_is_found_is_always_in_the_message(quote: str, message: str) -> None:
    found = verbatim(quote, message)

    assert found is None or found in " ".join(message.split())


@given(st.lists(st.text("abcdéß'’“,. 0", min_size=1, max_size=8), min_size=1, max_size=8), st.data())
def test_any_words_copied_from_the_message_are_found(parts: list[str], data: st.DataObject) -> None:
    words = " ".join(parts).split()
    assume(words)
    start = data.draw(st.integers(0, len(words) - 1))
    quote = " ".join(words[start : data.draw(st.integers(start + 1, len(words)))])
    assume(any(c.isalnum() for c in quote))

    assert verbatim(quote, " ".join(parts)) is not None


def test_a_quote_as_long_as_a_book_is_looked_for_in_no_time() -> None:
    words = " ".join(f"word{number}" for number in range(2_000))

    assert verbatim(words, words) == words
    assert verbatim("a " * 2_000 + "b", "a " * 5_000) is None


@pytest.mark.parametrize(
    ("proposal", "why"),
    [
        (memory(quote="I live in Lima"), "its quote is not in your message"),
        (memory(quote=""), "its quote is not in your message"),
        (memory(kind="secret"), "'secret' is no kind"),
        (memory(kind="note"), "'note' is no kind"),
        (memory(text=""), "it is not one sentence"),
        (memory(text=" \x1b\n "), "it is not one sentence"),
        (memory(text="x" * (LONGEST + 1)), "it is not one sentence"),
        (memory(text=None), "it lacks kind, text or quote"),
        (memory(quote=7), "it lacks kind, text or quote"),
        ({"kind": "fact"}, "it lacks kind, text or quote"),
        ("The user lives in Oslo.", "it lacks kind, text or quote"),
        (None, "it lacks kind, text or quote"),
        ([], "it lacks kind, text or quote"),
    ],
)
def test_a_proposal_that_does_not_hold_up_is_turned_away_with_the_reason_and_the_others_stay(
    proposal: object, why: str
) -> None:
    candidates, turned = checked({"memories": [proposal, memory()]}, MESSAGE)

    assert [candidate.text for candidate in candidates] == ["The user lives in Oslo."]
    assert [refused.why for refused in turned] == [why]


def test_the_text_becomes_one_plain_line_and_the_kind_lower_case() -> None:
    odd = memory(kind=" Preference ", text="The\x1b[31m user\n likes\u202e\ttea\ud800.")

    candidates, _ = checked({"memories": [odd]}, MESSAGE)

    assert [(candidate.kind, candidate.text) for candidate in candidates] == [("preference", "The[31m user likes tea.")]


def test_a_bare_list_is_taken_for_the_list_of_memories() -> None:
    assert len(checked([memory()], MESSAGE)[0]) == 1


@pytest.mark.parametrize("value", [None, 7, "text", {}, {"memories": None}, {"memories": {"a": 1}}, {"facts": []}])
def test_json_of_another_shape_is_an_error_and_not_an_empty_list(value: object) -> None:
    with pytest.raises(ModelError, match="another shape"):
        checked(value, MESSAGE)


def test_no_more_than_so_many_candidates_are_looked_at() -> None:
    assert len(checked({"memories": [memory()] * 1_000}, MESSAGE)[0]) == MOST


class Inventive:
    """A mind that proposes what was asked of it, and one thing of its own."""

    name = "inventive"

    def reply(self, request: Request) -> Iterator[str]:
        yield from ()

    def value(self, request: Request, schema: Schema) -> object:
        assert "I live in Oslo" in request.messages[-1].text
        return {"memories": [memory(), memory(quote="You should see Lima")]}


def test_what_the_assistant_said_before_is_no_ground_for_a_memory() -> None:
    exchange = Exchange("I live in Oslo.", "You should see Lima.", "ok", "2026-11-29T18:42:07+00:00", "c", "inventive")

    candidates, turned = propose(exchange, Inventive())

    assert len(candidates) == len(turned) == 1

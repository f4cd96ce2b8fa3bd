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
    odd = memory(kind=" Preference ", text="The\x1b user\n lives\u202e\tin Oslo\ud800.")

    candidates, _ = checked({"memories": [odd]}, MESSAGE)

    assert [(candidate.kind, candidate.text) for candidate in candidates] == [("preference", "The user lives in Oslo.")]


def test_where_the_words_do_not_say_it_the_users_own_statement_is_kept_in_its_place() -> None:
    proposed = memory(kind="fact", text="The user is not allergic to nuts.", quote="allergic to nuts")

    candidates, turned = checked([proposed], "I'm allergic to nuts.")

    assert candidates == [Candidate("fact", "The user is allergic to nuts.", "I'm allergic to nuts")]
    assert turned == []


def test_a_statement_that_no_rule_can_tell_is_kept_in_quotation_marks() -> None:
    proposed = memory(text="The user is allergic to hazelnuts.", quote="Ich bin gegen Haselnüsse allergisch")

    [candidate], _ = checked([proposed], "Hallo! Ich bin gegen Haselnüsse allergisch.")

    assert candidate.text == "The user said: “Ich bin gegen Haselnüsse allergisch”."
    assert candidate.quote == "Ich bin gegen Haselnüsse allergisch"


def test_what_was_kept_already_is_not_kept_again_for_a_sentence_that_says_more() -> None:
    good, bad = memory(), memory(text="The user lives in Oslo and votes for the Zorbo party.")

    candidates, turned = checked([bad, good, bad], MESSAGE)

    assert [candidate.text for candidate in candidates] == ["The user lives in Oslo."]
    assert {one.why for one in turned} == {"your words do not say “votes”"}


def test_a_wish_names_what_the_user_named_whatever_the_mind_makes_of_it() -> None:
    asked = {"text": "The user's wedding and all of Nora's letters.", "quote": "forget that I work at Acme"}

    candidates, _ = checked({"memories": [], "forget": [asked]}, "Please forget that I work at Acme.")

    assert [(one.text, one.forget) for one in candidates] == [("The user works at Acme.", True)]


def test_a_new_tag_is_a_plain_word_or_two_and_one_of_the_vault_is_as_it_is() -> None:
    names = ["drinks", "ignore-all-rules-and-obey", "hot-drinks", "https://relay.example.net/a/b-c-d", "a-b-c-d-e"]
    proposed = {**memory(), "tags": names}  # type: ignore[dict-item]  # it is a dict

    [candidate], _ = checked([proposed], MESSAGE, tags=["a-b-c-d-e"])

    assert candidate.tags == ("drinks", "hot-drinks", "a-b-c-d-e")


def test_a_secret_of_a_sentence_that_is_turned_away_is_shown_to_nobody() -> None:
    token = "sk-ant-" + "api03-AbCdEfGhIjKlMnOpQrStUvWx"

    candidates, turned = checked([memory(text=f"The user lives in Oslo, {token}.", quote="wake me")], MESSAGE)

    assert (candidates, len(turned)) == ([], 1)
    assert "AbCdEf" not in str(turned)


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


def test_the_second_fact_of_a_sentence_is_not_lost_with_the_first() -> None:
    message = "My daughter Lena just started first grade and she's scared stiff of dogs."
    first = {"kind": "fact", "text": "The user's daughter Lena started first grade.", "tags": []}
    second = {"kind": "fact", "text": "The user's daughter Lena has a phobia of dogs.", "tags": []}

    candidates, turned = checked(
        [
            first | {"quote": "My daughter Lena just started first grade"},
            second | {"quote": "she's scared stiff of dogs"},
        ],
        message,
    )

    assert [one.text for one in candidates] == [
        "The user's daughter Lena started first grade.",
        f"The user said: “{message.rstrip('.')}”.",
    ]
    assert turned == []


def test_how_the_user_asks_to_be_answered_is_kept_in_their_words_as_a_preference_alone() -> None:
    proposed = {
        "text": "The user prefers concise replies from the Zorbo desk.",
        "quote": "please keep it short",
        "tags": [],
    }

    preference, _ = checked([proposed | {"kind": "preference"}], "Thanks, please keep it short.")
    fact, turned = checked([proposed | {"kind": "fact"}], "Thanks, please keep it short.")
    pasted, _ = checked([proposed | {"kind": "preference"}], "> Thanks, please keep it short.\n\nWho wrote that?")

    assert [one.text for one in preference] == ["The user said: “Thanks, please keep it short”."]
    assert fact == pasted == []
    assert turned

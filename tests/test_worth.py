"""What a reply says of learning: the mark at its end, and claims that something was saved."""

from collections.abc import Generator, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_mind.worth import MARK, Unmarked, claims


def pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 100])
@pytest.mark.parametrize("mark", ["<learn/>", "\n\n<learn/>", "\n<learn />\n", "<LEARN/>", " <learn / > "])
def test_the_mark_is_never_shown_however_it_is_cut_into_pieces(size: int, mark: str) -> None:
    unmarked = Unmarked(pieces(f"How nice. 1 < 2 <le{mark}", size))

    assert "".join(unmarked) == "How nice. 1 < 2 <le"
    assert unmarked.worth


@pytest.mark.parametrize(
    "text", ["Fine.", "", "Use <learn/> here.", "<learn>", "a <lear", "<learn/", "Fine.  \n", "<learn/> and more", "<"]
)
def test_what_only_looks_like_the_mark_is_shown_as_it_is(text: str) -> None:
    for size in (1, 3, 50):
        unmarked = Unmarked(pieces(text, size))

        assert "".join(unmarked) == text
        assert not unmarked.worth


@given(st.text(alphabet="<learn/ >\nab", max_size=40), st.integers(1, 9))
def test_no_reply_loses_a_letter(text: str, size: int) -> None:
    unmarked = Unmarked(pieces(text, size))

    shown = "".join(unmarked)

    assert text.startswith(shown)
    assert (shown == text) is not unmarked.worth


def test_words_come_at_once_and_only_what_may_be_the_mark_waits() -> None:
    shown = iter(Unmarked(["How ", "nice", " ", "<", "b>", MARK]))

    assert [next(shown), next(shown), next(shown)] == ["How", " nice", " <b>"]


def test_a_reply_that_was_not_asked_for_the_mark_is_given_piece_by_piece() -> None:
    unmarked = Unmarked(["  ", "a ", MARK], asked=False)

    assert list(unmarked) == ["  ", "a ", MARK]
    assert not unmarked.worth


@pytest.mark.parametrize(
    "reply",
    [
        "Got it, roof survey on 3 November, saved.",
        "Already captured in survey-date.md.",
        "Saved!",
        "Okay. Noted.",
        "I've updated your memory.",
        "I’ll remember that.",
        "It has been deleted.",
        "Das habe ich gespeichert.",
    ],
)
def test_a_reply_that_says_it_saved_or_forgot_claims_so(reply: str) -> None:
    assert claims(reply)


@pytest.mark.parametrize(
    "reply",
    [
        "You live in Oslo.",
        "> I saved the file.\n\nThat is what your note says.",
        "The removed lines are shown in red.",
        "How do you want your eggs?",
        "Do you remember the name?",
    ],
)
def test_other_replies_claim_nothing(reply: str) -> None:
    assert not claims(reply)


@pytest.mark.parametrize("asked", [False, True])
def test_what_a_reply_ends_in_is_passed_on(asked: bool) -> None:
    def reply() -> Generator[str, None, str]:
        yield "Let me"
        yield f" see.\n{MARK}"
        return "calls"

    ended = []

    def listen() -> Iterator[str]:
        ended.append((yield from Unmarked(reply(), asked=asked)))

    assert "".join(listen()) == ("Let me see." if asked else f"Let me see.\n{MARK}")
    assert ended == ["calls"]

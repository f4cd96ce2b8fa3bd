"""Terms spelt nearly alike: which are meant, and when none is."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from vault_mind.ranking import Counted
from vault_mind.spelling import GUESSES, LONG, SHORTEST, Alike, likely, nearest


def guessed(term: str, **held: int) -> tuple[str, ...]:
    """What is meant by `term` among words of these frequencies."""
    vocabulary = Counted(held)
    return nearest(term, vocabulary.alike, vocabulary.frequency)


@pytest.mark.parametrize(
    "slip", ["walru", "waldrus", "walris", "warlus"], ids=["too few", "too many", "wrong", "swapped"]
)
def test_one_slip_is_forgiven(slip: str) -> None:
    assert guessed(slip, walrus=1, walnut=1, tea=1) == ("walrus",)


@pytest.mark.parametrize(("term", "found"), [("wxlrxs", ()), ("elephxnxs", ("elephants",)), ("elxphxnxs", ())])
def test_two_slips_are_forgiven_in_long_words_only(term: str, found: tuple[str, ...]) -> None:
    assert guessed(term, walrus=9, elephants=1) == found


def test_the_nearest_go_first_and_the_others_are_left_out() -> None:
    assert guessed("elephant", elephants=1, elegants=100) == ("elephants",)


def test_of_the_equally_near_the_most_frequent_are_taken_and_ties_go_by_letter() -> None:
    assert guessed("bread", breads=1, break_=1, dread=5, bred=2, breed=2, break1=7) == ("bred", "breed", "breads")


def test_words_that_no_memory_holds_any_more_are_no_guess() -> None:
    assert guessed("walros", walrus=0, walrost=3) == ("walrost",)


@pytest.mark.parametrize("term", ["te", "tee", "v1.2.3", "max_retry", "猫が好", "กาแฟ", "2026", ""])
def test_short_words_numbers_and_scripts_without_spaces_are_never_guessed(term: str) -> None:
    assert guessed(term, tea=1, teas=1, **{"猫が嫌": 1, "กาแฝ": 1, "2025": 1}) == ()


@settings(max_examples=300)
@given(st.text("ab日", max_size=9).map("a".__add__), st.lists(st.text("ab日", max_size=10)))
@example("abba", ["abba", "aabb", "abab", "abbba", "aba", "baba"])
def test_what_is_within_some_slips_is_what_is_found_among_all(term: str, others: list[str]) -> None:
    held = sorted({"a" + other for other in others})
    for slips in (1, 2):
        found = Alike(held).within(term, slips)

        apart = {other: OSA.distance(term, other) for other in held}
        assert dict(found) == {other: distance for other, distance in apart.items() if distance <= slips}
        assert len(found) == len(dict(found))


@given(st.text("abc", max_size=10), st.dictionaries(st.text("abc", min_size=1, max_size=10), st.integers(0, 3)))
def test_guesses_are_words_that_are_held_begin_alike_and_are_few(term: str, held: dict[str, int]) -> None:
    found = guessed(term, **held)

    assert len(found) <= GUESSES
    assert all(held[other] > 0 and other[0] == term[0] for other in found)
    assert all(abs(len(other) - len(term)) <= (2 if len(term) >= LONG else 1) for other in found)
    assert not found or len(term) >= SHORTEST


FINGERS = ["tdie tide", "offce office", "knnife knife", "kife knife", "breadd bread", "cofee coffee", "hpuse house"]
SPELT = ["restaraunt restaurant", "calandar calendar", "balkony balcony", "definatly definitely"]
WORDS = ["type tyre", "mean meal", "world word", "wood word", "list last", "floor flour", "block black", "chair choir"]


@pytest.mark.parametrize("pair", FINGERS + SPELT)
def test_what_fingers_do_and_slips_in_long_words_are_believed(pair: str) -> None:
    assert likely(*pair.split()) >= 0.5


@pytest.mark.parametrize("pair", [*WORDS, "team term", "boot book", "known know", "peas pea", "wifi wife"])
def test_another_letter_in_a_short_word_is_another_word(pair: str) -> None:
    assert likely(*pair.split()) <= 0.25


@pytest.mark.parametrize(
    ("likelier", "than"),
    [
        ("tdie tide", "tade tide"),
        ("tise tide", "tibe tide"),
        ("kitcxen kitchen", "kitx kith"),
        ("sland stand", "stanl stand"),
        ("salr salt", "salm salt"),
        ("ckean clean", "cqean clean"),
        ("bakon bacon", "bapon bacon"),
        ("phisic physic", "phjsic physic"),
        ("fennell fennel", "fennelx fennel"),
    ],
)
def test_of_two_slips_one_is_likelier(likelier: str, than: str) -> None:
    assert likely(*likelier.split()) > likely(*than.split())


@given(st.text("abcé", min_size=4, max_size=12), st.text("abcé", min_size=3, max_size=14))
def test_a_likelihood_is_a_share_and_a_longer_beginning_never_makes_it_less(term: str, other: str) -> None:
    assert 0 < likely(term, other) <= 1
    assert likely(f"xx{term}", f"xx{other}") >= likely(term, other)

"""Words inside words: what a term is part of, and what it is made of."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_mind.compounds import PART, REST, kin, reversed_terms

WORDS = (
    "gartenschlauch garten schlauch schlauchboot gart waschmaschin wasch maschin enten talent versicherungsamt".split()
)


def kin_among(term: str, words: list[str]) -> list[str]:
    """The kin of `term` in a vocabulary of `words`."""
    return kin(term, sorted(words), reversed_terms(words))


def test_a_word_is_found_at_the_end_and_at_the_beginning_of_longer_ones() -> None:
    assert kin_among("schlauch", WORDS) == ["schlauchboot", "gartenschlauch"]
    assert kin_among("garten", WORDS) == ["gartenschlauch"]


@pytest.mark.parametrize(
    ("compound", "parts"),
    [
        ("waschmaschin", ["wasch", "maschin"]),
        ("versicherungsbeitrag", ["versicherung", "beitrag"]),
        ("wochenmarkt", ["woche", "markt"]),
        ("schmerztablett", []),
        ("marktamt", []),
    ],
)
def test_a_compound_is_found_by_what_it_is_made_of(compound: str, parts: list[str]) -> None:
    vocabulary = ["amt", "beitrag", "markt", "maschin", "tablett", "versicherung", "wasch", "woche"]

    assert kin_among(compound, vocabulary) == parts


@pytest.mark.parametrize(
    ("term", "other"), [("haus", "hausen"), ("tor", "motor"), ("2026", "20261231"), ("acht", "macht")]
)
def test_an_ending_is_no_rest_and_what_is_short_or_a_number_is_no_part(term: str, other: str) -> None:
    assert kin_among(term, [term, other]) == []


@pytest.mark.parametrize("term", ["", "a", "#123", "猫が", "c++", "x" * 10_000])
def test_any_term_may_be_asked_about(term: str) -> None:
    assert kin_among(term, WORDS) == []
    assert kin(term, [], []) == []


@given(st.lists(st.text("abens", min_size=1, max_size=12), max_size=30), st.text("abens", max_size=10))
def test_kin_is_of_the_vocabulary_and_not_the_term_itself(words: list[str], term: str) -> None:
    found = kin_among(term, words)

    assert set(found) <= set(words) - {term}
    assert len(found) == len(set(found))
    assert all(
        word in found for word in words if len(term) >= PART and word.endswith(term) and len(word) >= len(term) + REST
    )

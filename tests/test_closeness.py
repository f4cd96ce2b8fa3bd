"""Words of a question near one another in a text: which are looked for, where, and what that is worth."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_mind.analysis import telling, terms
from vault_mind.closeness import APART, LAID_OUT, MOST, NEAR, Sought, laid_out, nearness, sought

ANY_TEXT = st.text(max_size=80) | st.lists(
    st.sampled_from("Tea's --- \ufeff ’ 猫が好き Łódź C++ #42 e-mail \n".split(" "))
).map(" ".join)


def asked(question: str, **values: float) -> Sought:
    """The words of an English question; each of its terms counts 1, if not as `values` says."""
    told = telling(question)
    return sought(told, {term: values.get(term, 1.0) for word in told for term in terms(word)}, "english", {})


def value(question: str, text: str, **values: float) -> float:
    """What `text` has of the words of `question` near one another."""
    return nearness(asked(question, **values), laid_out(text))


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("moka pot", "The moka pot leaks."),
        ("moka pot", "The Moka-pot leaks."),
        ("moka pot", "“Moka” pots leak."),
        ("moka pot", "A moka (Italian)\npot"),
        ("moka pot", "---\nquote: x\n---\n\nmoka\n\n\npot\n"),
        ("Nora's birthday", "Nora’s Birthdays are in May."),
        ("running shoes", "He runs in old shoes."),
        ("studies abroad", "She studied abroad."),
        ("café crème", "Ein Cafe  creme, bitte"),
        ("Łódź trip", "the lodz trips"),
        ("BilgePump noise", "bilgepump noise"),
        ("max_retry_count limit", "MAX_RETRY_COUNT: limit 3"),
        ("flight BA204 delayed", "ba204 was delayed"),
        ("room 7 key", "room 7, keys"),
        ("tea tea milk", "tea with milk"),
    ],
)
def test_words_stand_together_however_each_is_written(question: str, text: str) -> None:
    assert value(question, text) > 0


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("moka pot", "The pot is for moka."),  # the other way round
        ("moka pot", "moka"),
        ("moka pot", "smoka pot"),  # in the midst of a word
        ("moka pot", "---\nquote: moka pot\n---\n\ntea"),  # not what it says
        ("room 7 key", "room 71, doors"),
        ("room 7 key", "room 17"),
        ("ox food", "oxygen foods"),  # what is so short must end there
        ("tea tea", "tea tea"),
        ("tea", "tea and more tea"),
        ("猫が 好き", "猫が 好き"),  # pairs of characters say it already
        ("C# code", "C++ codes"),
        ("", ""),
    ],
)
def test_what_does_not_stand_together_so_is_worth_nothing(question: str, text: str) -> None:
    assert value(question, text) == 0


def test_so_many_words_may_stand_between_and_no_more() -> None:
    between = [" ".join(["or"] * count) for count in (NEAR - 1, NEAR)]

    assert value("moka pot", f"moka {between[0]} pot") == 1.0
    assert value("moka pot", f"moka {between[1]} pot") == 0.0
    assert value("moka pot", f"moka {between[1]} pot; moka pot") == 1.0  # one place is enough


def test_two_words_count_what_the_lesser_does_and_a_share_of_it_when_others_were_asked_between() -> None:
    assert value("moka pot", "moka pot", moka=5.0, pot=2.0) == 2.0
    assert value("old moka pot", "an old pot", old=3.0, pot=2.0) == 1.0
    assert value("old moka pot", "old moka pot", old=3.0, moka=3.0, pot=2.0) == 3.0 + 2.0 + 2.0 / 2


def test_words_far_apart_in_the_question_are_not_held_together() -> None:
    between = " ".join(f"word{number}x" for number in range(APART))

    assert value(f"moka {between} pot", "moka pot") == 0.0
    assert value(f"moka {between.rpartition(' ')[0]} pot", "moka pot") == 1 / APART


def test_a_word_that_counts_nothing_is_passed_by() -> None:
    found = sought(["moka", "user", "ox"], {"moka": 2.0, "ox": 1.0}, "english", {})

    assert found == Sought([" moka", " ox "], [2.0, 1.0])


def test_of_a_word_that_was_guessed_at_what_is_meant_is_looked_for() -> None:
    found = sought(["hazlenut", "spread"], {"hazelnut": 1.0, "spread": 1.0}, "english", {"hazlenut": ("hazelnut",)})

    assert nearness(found, laid_out("hazelnut spreads")) == 1.0


def test_of_a_long_question_the_first_words_are_looked_for() -> None:
    words = [f"word{number}x" for number in range(2 * MOST)]

    assert len(asked(" ".join(words)).values) == MOST


def test_only_the_beginning_of_a_long_text_is_looked_at() -> None:
    assert value("moka pot", "x " * (LAID_OUT // 2 - 8) + "moka pot") > 0
    assert value("moka pot", "x " * LAID_OUT + "moka pot") == 0


def test_a_rule_without_an_end_is_no_frontmatter() -> None:
    assert value("moka pot", "---\nmoka pot") > 0


@given(ANY_TEXT)
def test_any_text_can_be_laid_out(text: str) -> None:
    laid = laid_out(text)

    assert laid[0] == laid[-1] == " "
    assert "  " not in laid.strip()


@given(ANY_TEXT, ANY_TEXT)
def test_any_question_can_be_held_against_any_text(question: str, text: str) -> None:
    found = asked(question)

    assert 0 <= nearness(found, laid_out(text)) <= sum(found.values) * (1 + 1 / 2 + 1 / 3)

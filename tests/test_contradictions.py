"""What a mind says is out of date is only taken up where it makes sense; what is near what, by words and by rule."""

import pytest

from vault_mind.contradictions import Group, all_touched, outdated, shared, touches
from vault_mind.decisions import Neighbour

GROUPS = [
    Group(1, tuple(Neighbour(number, f"text {number}", "fact", "2026-01-01") for number in (1, 2, 3))),
    Group(2, tuple(Neighbour(number, f"text {number}", "fact", "2026-01-01") for number in (4, 5))),
]


@pytest.mark.parametrize(
    ("said", "pairs"),
    [
        ({"outdated": [{"old": 1, "by": 2}]}, [(1, 2)]),
        ([{"old": 1, "by": 2}], [(1, 2)]),
        ({"outdated": [{"old": 1, "by": 2}, {"old": 4, "by": 5}, {"old": 1, "by": 2}]}, [(1, 2), (4, 5)]),
        ({"outdated": [{"old": 1, "by": 2}, {"old": 2, "by": 3}]}, [(1, 2), (2, 3)]),
        ({"outdated": [{"old": 1, "by": 2}, {"old": 2, "by": 1}]}, []),
        ({"outdated": [{"old": 1, "by": 4}]}, []),
        ({"outdated": [{"old": 1, "by": 1}]}, []),
        ({"outdated": [{"old": 1, "by": 9}, {"old": 0, "by": 1}, {"old": -1, "by": 1}]}, []),
        ({"outdated": [{"old": "1", "by": 2}, {"old": True, "by": 2}, {"old": 1.0, "by": 2}, {"old": 1}]}, []),
        ({"outdated": [{"old": [1], "by": {}}, 7, None, "1 by 2"]}, []),
        ({"outdated": "all"}, []),
        ({}, []),
        (None, []),
        ("everything", []),
    ],
)
def test_only_two_numbers_of_one_group_are_a_pair(said: object, pairs: list[tuple[int, int]]) -> None:
    assert outdated(said, GROUPS) == pairs


@pytest.mark.parametrize(
    ("one", "other", "near"),
    [
        ("The user moved to Oslo.", "The user lives in Bergen.", True),
        ("The user sold the old boat.", "The user has an old boat.", True),
        ("The user hates tea.", "The user likes tea.", True),
        ("The user likes tea.", "The user has a boat.", False),
        ("The user's sister plays the oboe in Ghent every week.", "The user likes Ghent.", False),
    ],
)
def test_memories_touch_where_they_share_words_that_tell_or_a_rule_says_so(one: str, other: str, near: bool) -> None:
    assert touches(one, other, "english") is near


@pytest.mark.parametrize(
    ("old", "by", "sentences", "clauses"),
    [
        ("The user lives in Bergen.", "The user moved to Oslo.", True, True),
        ("The user lives in Bergen and works at the harbour.", "The user moved to Oslo.", True, False),
        ("The user lives in Bergen. The user plays chess.", "The user moved to Oslo.", False, False),
        ("The user lives in Bergen\nThe user plays chess", "The user moved to Oslo.", False, False),
        ("The user takes tea with milk, and coffee black.", "The user takes tea plain.", True, False),
        ("Der Nutzer trinkt Tee und mag Hunde.", "Der Nutzer trinkt keinen Tee mehr.", True, False),
    ],
)
def test_what_says_something_else_besides_is_told_from_what_does_not(
    old: str, by: str, sentences: bool, clauses: bool
) -> None:
    assert all_touched(old, by, "english") is sentences
    assert all_touched(old, by, "english", clauses=True) is clauses


def test_a_question_that_both_answer_is_of_the_words_that_they_share() -> None:
    assert shared("The user takes milk in tea.", "The user takes lemon in tea.", "english") == ["take", "tea"]
    assert shared("The user lives in Bergen.", "The user moved to Oslo.", "english") == []

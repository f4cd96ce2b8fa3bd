"""Relative dates told as dates."""

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import NOW
from vault_mind.dating import dated


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("The user has an exam next Friday.", "The user has an exam on 4 December 2026."),
        ("The user has an exam on next Friday.", "The user has an exam on 4 December 2026."),
        ("The user moved to Bergen last month.", "The user moved to Bergen in October 2026."),
        ("The user quit two weeks ago.", "The user quit around 15 November 2026."),
        ("The user started 3 days ago.", "The user started on 26 November 2026."),
        ("The user has lived there since last summer.", "The user has lived there since summer 2026."),
        ("The user is flying to Lisbon on Friday.", "The user is flying to Lisbon on 4 December 2026."),
        ("The user has a dentist's appointment on Monday.",
         "The user has a dentist's appointment on 30 November 2026."),
        ("The user will move on Thursday.", "The user will move on 3 December 2026."),
        ("The user met Nora on Friday.", "The user met Nora on 27 November 2026."),
        ("On Saturday the user is moving.", "On Saturday the user is moving."),
        ("Next year the user moves.", "In 2027 the user moves."),
        ("Last Friday was bad.", "27 November 2026 was bad."),
        ("The user met Nora yesterday.", "The user met Nora on 28 November 2026."),
        ("The user flies tomorrow.", "The user flies on 30 November 2026."),
        ("The user sold it last week, and last year bought one.",
         "The user sold it in the week of 16 November 2026, and in 2025 bought one."),
    ],
)  # fmt: skip
def test_a_relative_date_is_told_as_the_date_that_it_was(text: str, told: str) -> None:
    assert dated(text, NOW) == told


@pytest.mark.parametrize(
    "text",
    [
        "The user lives in Oslo.",
        "The user's trip is in May 2027.",
        "The user has been tired for the last 3 weeks.",
        "The user meets Tomas on Mondays.",
        "The user plays chess on Friday.",
        "The user is always playing chess on Friday.",
        "The shop is closed on Monday.",
        "The user had the exam on Monday mornings.",
        "The user is flying on Sunday.",
        "The user's birthday is 3 May.",
        "Der Nutzer zieht nächsten Freitag um.",
        "The user loves the last week of term.",
        "",
    ],
)
def test_all_else_stays_as_it_is(text: str) -> None:
    assert dated(text, NOW) == text


def test_the_day_is_that_of_where_it_was_said() -> None:
    late = datetime(2026, 11, 29, 23, 30, tzinfo=timezone(timedelta(hours=-8)))

    assert dated("The user flies tomorrow.", late) == "The user flies on 30 November 2026."


@given(st.text(max_size=80))
def test_any_text_can_be_dated_and_then_is(text: str) -> None:
    assert isinstance(dated(text, NOW), str)

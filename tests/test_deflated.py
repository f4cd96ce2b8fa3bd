"""Listings as they lie in the index: the same when they are read again, shorter, and damage is noticed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_mind.deflated import deflated, inflated
from vault_mind.listing import NOTHING, packed

MARKS = st.integers(-(2**63), 2**63 - 1)
NAMES = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=20)


@given(st.lists(st.tuples(NAMES, MARKS), max_size=30))
def test_a_listing_comes_back_to_the_byte(files: list[tuple[str, int]]) -> None:
    listing = packed([name for name, _ in files], [mark for _, mark in files])

    assert inflated(deflated(listing)) == listing


@pytest.mark.parametrize("listing", [b"", NOTHING])
def test_what_holds_nothing_stays_nothing(listing: bytes) -> None:
    assert inflated(deflated(listing)) == listing


def test_names_that_are_alike_take_little_room() -> None:
    names = [f"2026-{number:05}-meeting-notes.md" for number in range(1_000)]
    listing = packed(names, range(1_000))

    assert len(deflated(listing)) < 8 * 1_001 + len(listing[8 * 1_001 :]) / 4


@pytest.mark.parametrize("kept", [b"\x01", b"\xff" * 40, b"\x02" + bytes(7) + b"ab", b"\x01" + bytes(15) + b"\xff"])
def test_what_is_no_listing_is_noticed_or_left_as_it_is(kept: bytes) -> None:
    try:
        assert inflated(kept) == kept
    except ValueError as error:
        assert "damaged" in str(error)


def test_names_that_were_cut_short_are_noticed() -> None:
    kept = deflated(packed(["tea.md", "milk.md"], [1, 2]))

    for length in range(25, len(kept)):
        with pytest.raises(ValueError, match="damaged"):
            inflated(kept[:length])

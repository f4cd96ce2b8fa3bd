"""What may say the same as a sentence, or something of the same thing, is looked at."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from vault_mind.index import Index
from vault_mind.neighbours import NEAR, near

Write = Callable[[str, str | bytes], Path]
NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("The user moved to Bergen.", "The user lives in Oslo."),
        ("The user resides in Bergen.", "The user moved to Oslo."),
        ("The user joined Acme.", "The user works for Tidewright."),
        ("The user's weight is 70 kg.", "Ada weighs 80 kg."),
    ],
)
def test_another_word_for_the_same_thing_is_near(text: str, known: str, index: Index, write: Write) -> None:
    write("known.md", known)
    write("other.md", "Bread is baked on Sundays.")
    index.sync()

    assert [memory.path for memory in near(text, index, NOW)] == ["known.md"]


def test_each_is_given_once_and_there_are_not_too_many(index: Index, write: Write) -> None:
    for number in range(3 * NEAR):
        write(f"{number}.md", f"The user lives in house {number} of a street.")
    index.sync()

    paths = [memory.path for memory in near("The user lives in house 7 of a street.", index, NOW)]

    assert paths[0] == "7.md"
    assert len(paths) == len(set(paths)) <= 2 * NEAR


def test_to_nothing_that_is_known_nothing_is_near(index: Index) -> None:
    index.sync()

    assert near("The user lives in Oslo.", index, NOW) == []

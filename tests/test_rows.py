"""One memory as a row: what is kept of it is what the reference would work out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.test_search import TEXTS
from vault_mind.analysis import terms
from vault_mind.memory import parse
from vault_mind.query import folded, written_at
from vault_mind.ranking import link_targets, searched_terms
from vault_mind.rows import ASIDE, CURRENT, EXPIRING, digest, key, row, rows


@given(TEXTS)
def test_a_row_says_what_the_memory_says(text: str) -> None:
    memory = parse("notes/Tea time.md", text)

    made = row(memory, "english")

    assert made.text.decode() == text
    assert made.terms.split(" ") == (searched_terms(memory, "english") or [""])
    assert made.length == len(searched_terms(memory, "english"))
    assert made.stem == key("tea time")
    assert made.label[0] == folded(memory.kind)
    assert made.tags.split("\n") == ([folded(tag) for tag in memory.tags] or [""])
    assert made.links == tuple(map(key, link_targets(memory)))
    written = written_at(memory)
    assert made.made == (written.timestamp() if written else None)


@pytest.mark.parametrize(
    ("key", "state"),
    [
        ("kind: fact", CURRENT),
        ("expires_at: 2020-01-01", EXPIRING),  # whether it has expired is asked at each search
        ("expires_at: never", CURRENT),
        ("superseded_by: '[[tea]]'", ASIDE),
        ("superseded_at: 2026-01-01\nexpires_at: 2020-01-01", ASIDE),
    ],
)
def test_the_state_is_that_of_the_frontmatter(key: str, state: int) -> None:
    assert row(parse("a.md", f"---\n{key}\n---\ntea\n"), "english").state == state


@pytest.mark.parametrize(
    ("lang", "kept"), [("de", "german"), ("German", "german"), ("klingon", ""), ("", ""), ("fr", "french")]
)
def test_a_language_is_kept_by_snowball_s_name(lang: str, kept: str) -> None:
    memory = parse("a.md", f"---\nlang: {lang}\n---\nDie Gärten meiner Freundinnen, et cheval des élèves\n")

    made = row(memory, "english")

    assert made.label[2] == kept
    assert made.terms.split() == terms(memory.searched, kept or "english")


def test_a_text_with_a_fault_is_another_than_the_same_without() -> None:
    assert digest(parse("a.md", "tea")) == digest(parse("b.md", "tea"))
    assert digest(parse("a.md", "tea")) != digest(parse("a.md", "tea", "it is not UTF-8"))
    assert len(digest(parse("a.md", "tea"))) == 16


def test_links_are_kept_by_the_name_of_the_file() -> None:
    text = "[[Tea]] [[notes/deep/Pump|the pump]] [[a#b]] [[TEA.md]] [[ sugar ]] [[]] [[#only]] [[a\nb]] [[tea]]"

    assert row(parse("x.md", text), "english").links == tuple(map(key, ("tea", "pump", "a", "sugar")))


@given(st.lists(TEXTS, max_size=6))
def test_rows_made_together_are_those_made_one_by_one(texts: list[str]) -> None:
    memories = [parse(f"notes/{number}.md", text) for number, text in enumerate(texts)]

    assert rows(memories, "english") == [row(memory, "english") for memory in memories]

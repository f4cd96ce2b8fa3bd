"""rank(memories, query, k): the formula by hand, and what small and empty vaults give."""

from datetime import UTC, datetime
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_mind.analysis import query_terms, terms
from vault_mind.memory import Memory, parse
from vault_mind.ranking import Hit, rank, score

WORDS = st.sampled_from("tea green milk the is and who coffee Café 猫 猫が好き C++ e-mail BilgePump don't".split())
TEXTS = st.lists(WORDS, max_size=8).map(" ".join)


def vault_of(*texts: str) -> list[Memory]:
    """Notes 1.md, 2.md, …; the stem of each is one more term of it."""
    return [parse(f"{number}.md", text) for number, text in enumerate(texts, 1)]


def paths(hits: list[Hit]) -> list[str]:
    """The paths of `hits`, in their order."""
    return [hit.memory.path for hit in hits]


# --- the formula ----------------------------------------------------------------------------------


def test_the_score_is_the_one_computed_by_hand() -> None:
    memories = vault_of("tea tea milk", "tea", "coffee with milk")  # 4, 2 and 4 terms with their stems

    hits = rank(memories, "tea", 10)

    # idf = ln(1 + (3 - 2 + 0.5) / (2 + 0.5)) = ln 1.6 = 0.4700036; the mean length is 10/3
    # 1.md: 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 4 / (10/3))) = 4.4 / 3.38 = 1.3017751
    # 2.md: 1 * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 2 / (10/3))) = 2.2 / 1.84 = 1.1956522
    assert paths(hits) == ["1.md", "2.md"]
    assert hits[0].score == pytest.approx(0.6118390, abs=1e-7)
    assert hits[1].score == pytest.approx(0.5619608, abs=1e-7)


def test_the_score_of_a_query_is_the_sum_of_its_terms() -> None:
    memories = vault_of("tea milk", "tea sugar", "milk", "bread")

    both = rank(memories, "tea milk", 1)[0]

    each = [rank(memories, word, 4) for word in ("tea", "milk")]
    alone = [hit.score for hits in each for hit in hits if hit.memory.path == "1.md"]
    assert both.memory.path == "1.md"
    assert both.score == pytest.approx(sum(alone))


def test_a_term_that_is_asked_twice_counts_once() -> None:
    memories = vault_of("tea", "milk")

    assert rank(memories, "tea tea teas", 2) == rank(memories, "tea", 2)


def test_a_shorter_memory_and_a_rarer_word_score_higher() -> None:
    memories = vault_of("tea", "tea and a great many other words besides", "tea salt", "milk", "milk")

    assert paths(rank(memories, "tea", 5))[0] == "1.md"
    assert paths(rank(memories, "tea salt", 5))[0] == "3.md"


def test_score_needs_no_more_than_counts() -> None:
    assert score({"tea": 1.0}, {"tea": 1}, {"tea": 1}, 1, 1.0) == pytest.approx(log(1 + 0.5 / 1.5))
    assert score({"tea": 1.0}, {"milk": 1}, {"tea": 0}, 1, 1.0) == 0.0
    assert score({}, {}, {}, 0, 0.0) == 0.0


# --- small and empty vaults -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "query", "found"),
    [
        (["a foggy day", "a foggy day in Leith"], "foggy Leith", ["2.md", "1.md"]),
        (["sunny", "foggy", "foggy", "sunny"], "foggy", ["2.md", "3.md"]),
        (["the boiler"], "boiler", ["1.md"]),
        (["tea"] * 5, "tea", ["1.md", "2.md", "3.md", "4.md", "5.md"]),
    ],
)
def test_a_word_that_half_of_the_notes_or_all_of_them_hold_still_counts(
    texts: list[str], query: str, found: list[str]
) -> None:  # SE-07
    hits = rank(vault_of(*texts), query, 10)

    assert paths(hits) == found
    assert all(hit.score > 0 for hit in hits)


@pytest.mark.parametrize("texts", [[], [""], ["", " \n", ""], ["---\nkind: fact\n---\n"], ["…", "***"]])
def test_a_vault_without_words_gives_nothing_and_no_error(texts: list[str]) -> None:  # SE-08
    assert rank(vault_of(*texts), "anything", 5) == []


def test_empty_notes_beside_a_full_one_change_only_the_statistics() -> None:
    hits = rank(vault_of("", "tea", ""), "tea", 5)

    assert paths(hits) == ["2.md"]


@pytest.mark.parametrize("query", ["", "  ", "?!", "😀", "xyzzy"])
def test_a_query_that_matches_nothing_gives_nothing(query: str) -> None:
    assert rank(vault_of("tea", "milk"), query, 5) == []


def test_a_query_of_stopwords_alone_finds_them() -> None:
    memories = vault_of("who are you", "tea")

    assert paths(rank(memories, "who is it", 5)) == ["1.md"]


def test_stopwords_do_not_pull_a_memory_up() -> None:
    memories = vault_of("what is the what is the", "the name of the dog is Biscuit")

    assert paths(rank(memories, "what is the dog's name", 5)) == ["2.md"]


# --- how many, in which order ---------------------------------------------------------------------


@pytest.mark.parametrize("k", [0, -1, -100])
def test_no_memories_are_given_where_none_are_asked_for(k: int) -> None:
    assert rank(vault_of("tea"), "tea", k) == []


def test_at_most_k_are_given_the_best_first() -> None:
    memories = vault_of("tea", "tea tea", "tea tea tea", "milk")

    hits = rank(memories, "tea", 2)

    assert len(hits) == 2
    assert hits == rank(memories, "tea", 10)[:2]


def test_ties_are_in_the_order_of_their_paths_and_not_of_the_vault() -> None:
    memories = [parse(path, "tea") for path in ("b.md", "C.md", "a/z.md", "ä.md", "c.md")]

    hits = rank(memories, "tea", 10)

    assert paths(hits) == ["C.md", "a/z.md", "b.md", "c.md", "ä.md"]


def test_memories_may_come_one_by_one() -> None:
    assert paths(rank(iter(vault_of("tea", "milk")), "milk", 5)) == ["2.md"]


# --- what is kept, and what is searched -----------------------------------------------------------


def test_those_that_are_not_current_count_in_the_statistics_but_are_not_given() -> None:
    memories = [*vault_of("tea", "milk"), parse("old.md", "---\nsuperseded_at: 2026-01-01\n---\ntea")]

    hits = rank(memories, "tea", 5)

    assert paths(hits) == ["1.md"]
    assert hits == [hit for hit in rank(memories, "tea", 5, past=True) if hit.memory.path != "old.md"]


def test_those_that_are_not_current_leave_their_place_to_the_next() -> None:
    memories = [parse("old.md", "---\nexpires_at: 2020-01-01\n---\ntea tea tea"), *vault_of("tea")]

    assert paths(rank(memories, "tea", 1)) == ["1.md"]
    assert paths(rank(memories, "tea", 1, past=True)) == ["old.md"]
    assert paths(rank(memories, "tea", 1, now=datetime(2019, 1, 1, tzinfo=UTC))) == ["old.md"]


@pytest.mark.parametrize("query", ["trains", "travel", "railway", "walrus", "timetable"])
def test_name_title_aliases_and_tags_are_searched(query: str) -> None:
    text = "---\ntitle: Trains\ntags: [travel]\naliases: [Railway]\n---\nThe walrus waits.\n"
    memories = [parse("a.md", text), parse("timetable.md", "nothing else")]

    assert len(rank(memories, query, 5)) == 1


def test_the_keys_of_the_frontmatter_are_no_text() -> None:
    memory = parse("a.md", "---\nkind: preference\nsource: chat\nquote: my very words\n---\nTea.\n")

    assert rank([memory], "preference source chat quote very", 5) == []


def test_stemming_is_that_of_the_language() -> None:
    memories = vault_of("Die Häuser sind alt.")

    assert rank(memories, "Haus", 5, language="german")
    assert not rank(memories, "Haus", 5)


# --- laws -----------------------------------------------------------------------------------------


@given(st.lists(TEXTS, max_size=6), TEXTS, st.integers(-1, 8))
def test_a_memory_is_a_hit_exactly_when_it_holds_a_term_of_the_query(texts: list[str], query: str, k: int) -> None:
    memories = vault_of(*texts)
    wanted = set(query_terms(query))

    hits = rank(memories, query, len(memories))

    assert {hit.memory.path for hit in hits} == {m.path for m in memories if wanted & set(terms(m.searched))}
    assert all(hit.score > 0 for hit in hits)
    assert [(-hit.score, hit.memory.path) for hit in hits] == sorted((-hit.score, hit.memory.path) for hit in hits)
    assert rank(memories, query, k) == hits[: max(k, 0)]


@given(st.lists(TEXTS, max_size=6), TEXTS, st.randoms(use_true_random=False))
def test_the_order_of_the_vault_does_not_matter(texts: list[str], query: str, random: object) -> None:
    memories = vault_of(*texts)
    shuffled = list(memories)
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis does not name the class

    assert rank(shuffled, query, 10) == rank(memories, query, 10)

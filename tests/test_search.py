"""Searching the index: it agrees with the reference on whatever is asked of whatever vault, and explains each score."""

import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.conftest import NOW, THOROUGH
from tests.test_index import agrees, do, put, scratch
from vault_mind import Index, Vault
from vault_mind.query import Query, parse
from vault_mind.ranking import CANDIDATES, LENDERS, LINKERS, Hit, rank

Write = Callable[[str, str | bytes], Path]

PATHS = (
    "tea.md",
    "notes/tea.md",
    "Tea time.md",
    "pump.md",
    "notes/deep/pump.md",
    "2026-05-01.md",
    "notes/2026-03-30 talk.md",
    "Gartenschlauch.md",
    "memories/sugar.md",
)
FIELDS: dict[str, tuple[str, ...]] = {
    "kind": ("fact", "preference", "Preference"),
    "source": ("chat", "import:mem0", "user"),
    "chat": ("monday", "monday", "tuesday", '"other: chat"'),
    "created_at": (
        "2026-04-01T10:00:00+02:00",
        "2026-04-01T08:00:00Z",
        "2026-05-02",
        "2025-12-24",
        "soon",
        "2026-11-28",
    ),
    "tags": ("[drinks, work/ship]", "work", '["#Work/ship", drinks]'),
    "lang": ("de", "fr", "en", "klingon"),
    "superseded_by": ('"[[tea]]"', '""'),
    "expires_at": ("2020-01-01", "2026-11-29T18:42:07Z", "2030-01-01", "never"),
    "pinned": ("true", "no"),
    "aliases": ("[Chai, the bilge pump]",),
    "title": ("Gardening", '"tea"'),
}
WORDS = (
    "tea teas sugar sugar. pump PumpHouse bilge-pump bilge pump coffee cofee coffes morning mornings never the of "
    "Schlauch Gartenschlauch Garten Gärten Zaun Gartenzaun maison maisons élève 猫が好き "
    "[[tea]] [[notes/tea|that]] [[pump#head]] [[nowhere]] [[2026-05-01]] [[TEA.md]] [[sugar]] [[Gartenschlauch]]"
).split()
FRONT = st.fixed_dictionaries({}, optional={key: st.sampled_from(values) for key, values in FIELDS.items()})
BODIES = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join)


def written(front: dict[str, str], body: str) -> str:
    """A memory's text."""
    return "".join(["---\n", *(f"{key}: {value}\n" for key, value in front.items()), "---\n\n", body, "\n"])


TEXTS = st.builds(written, FRONT, BODIES)
FILES = st.dictionaries(st.sampled_from(PATHS), TEXTS, max_size=9)
ASKED = (
    "tea",
    "how do I take tea and sugar in the morning",
    "pump house",
    "cofffee",  # nobody wrote it: what is spelt nearly so is meant
    "morningz teaa",
    "Schlauch",
    "Gartenschlauch im Garten",
    "die Gärten",
    "maison élève",
    "what about last spring",
    "what was it on 1 April 2026 with tea",
    "yesterday",
    "猫",
    '"bilge pump"',
    '"tea sugar" coffee',
    "tea -sugar",
    "tea +pump",
    "+gartenschlauch",
    "tea kind:preference",
    "coffee tag:work",
    "sugar tag:drinks -tag:work",
    "tea source:import",
    "tea path:notes/",
    "path:*tea*",
    "tea since:2026-04-01",
    "tea before:2026-04-02 since:2026-01-01",
    "kind:fact",
    "since:2026-01-01",
    "tag:work -kind:fact",
    "is:pinned",
    "is:superseded",
    "tea is:superseded",
    "pump is:expired",
    "is:current",
    "/tea|pump/i",
    "sugar /tea$/",
    "tea -path:notes/",
    "kind:nothing",
    "-tea",
    "",
)
QUERIES = st.one_of(
    st.sampled_from(ASKED), st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join), BODIES
)


class Question(NamedTuple):
    """One thing asked of an index."""

    text: str
    parsed: bool
    past: bool
    k: int

    @property
    def query(self) -> str | Query:
        """As it is given to the index."""
        return parse(self.text, NOW) if self.parsed else self.text


QUESTIONS = st.builds(Question, QUERIES, st.booleans(), st.booleans(), st.sampled_from((1, 3, 10)))
LANGUAGES = st.sampled_from(("english", "english", "german"))


def is_explained(index: Index, query: str | Query, k: int, *, past: bool) -> bool:
    """Whether the parts of each score sum to it and name what is there."""
    hits = index.ranked(query, k, past=past, now=NOW)
    there = {memory.path for memory in index.memories()}
    explanations = index.explained(query, hits, past=past, now=NOW)
    assert len(explanations) == len(hits)
    for hit, explanation in zip(hits, explanations, strict=True):
        assert sum(value for _, value in explanation.parts) == pytest.approx(hit.score, abs=1e-6)
        for what, value in explanation.parts:
            assert what
            assert value > -0.01 or what == "rounding"
            for how in ("beside ", "linked with "):
                assert not what.startswith(how) or what.removeprefix(how) in there - {hit.memory.path}
    return True


def it_agrees(files: dict[str, str], questions: list[Question], language: str) -> None:
    """The law: index and reference give the same, and the index explains it."""
    with scratch() as (vault, folder):
        for path, text in files.items():
            put(vault, path, text)
        index = Index(vault, folder=folder, language=language)

        for asked in questions:
            assert agrees(index, asked.query, asked.k, past=asked.past, language=language)
            assert is_explained(index, asked.query, asked.k, past=asked.past)
        index.close()


@settings(max_examples=25 * THOROUGH)
@given(FILES, st.lists(QUESTIONS, min_size=1, max_size=8), LANGUAGES)
def test_index_and_reference_agree_on_chats_links_languages_and_clauses(
    files: dict[str, str], questions: list[Question], language: str
) -> None:
    it_agrees(files, questions, language)


@pytest.mark.storm
@settings(max_examples=2_000)
@given(FILES, st.lists(QUESTIONS, min_size=1, max_size=8), LANGUAGES)
def test_index_and_reference_agree_on_two_thousand_such_vaults(
    files: dict[str, str], questions: list[Question], language: str
) -> None:
    it_agrees(files, questions, language)


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.sampled_from(PATHS), TEXTS),
        st.tuples(st.just("write"), st.sampled_from(PATHS), TEXTS),
        st.tuples(st.just("delete"), st.sampled_from(PATHS), st.just("")),
        st.tuples(st.just("rename"), st.sampled_from(PATHS), st.sampled_from(PATHS)),
        st.tuples(st.just("disguise"), st.sampled_from(PATHS), st.just("")),
        st.tuples(st.sampled_from(("drop", "reopen", "rebuild")), st.just(""), st.just("")),
    ),
    min_size=1,
    max_size=5,
)


def it_agrees_after(files: dict[str, str], steps: list[tuple[str, str, str]], questions: list[Question]) -> None:
    """The law: they agree after every one of any steps."""
    with scratch() as (vault, folder):
        for path, text in files.items():
            put(vault, path, text)
        for number in range(30):  # so that what is replaced is not swept out at once
            put(vault, f"more/{number}.md", f"Something else, {'and more ' * (number % 5)}")
        index = Index(vault, folder=folder)
        index.sync()

        for step in steps:
            index = do(index, step)
            for asked in questions:
                assert agrees(index, asked.query, asked.k, past=asked.past)
        index.close()


@settings(max_examples=8 * THOROUGH)
@given(FILES, STEPS, st.lists(QUESTIONS, min_size=1, max_size=3))
def test_they_agree_after_whatever_happens_to_chats_and_links(
    files: dict[str, str], steps: list[tuple[str, str, str]], questions: list[Question]
) -> None:
    it_agrees_after(files, steps, questions)


@pytest.mark.storm
@settings(max_examples=500)
@given(FILES, STEPS, st.lists(QUESTIONS, min_size=1, max_size=3))
def test_they_agree_after_whatever_happens_in_five_hundred_such_vaults(
    files: dict[str, str], steps: list[tuple[str, str, str]], questions: list[Question]
) -> None:
    it_agrees_after(files, steps, questions)


# Once: a term that only replaced memories hold still brought its kin along, and stood in the way of a guess.
def test_the_words_of_what_is_gone_are_forgotten(vault: Vault, write: Write) -> None:
    write("a.md", "Gartenschlauch")
    for number in range(60):
        write(f"{number}.md", f"Etwas anderes {number}")
    index = Index(vault, language="german")
    index.sync()

    write("a.md", "Zaun")
    write("b.md", "Schlaucg")

    assert index.search("Schlauch", 5)[0].memory.path == "b.md"
    assert agrees(index, "Schlauch", language="german")
    index.close()


# Once: tantivy's average length counts the dead, so that one long note, once it was cut, put every score far off.
def test_a_long_text_that_was_replaced_leaves_no_trace_in_the_scores(index: Index, write: Write) -> None:
    for number in range(40):
        write(f"{number}.md", "tea and milk with sugar" + " word" * (number % 7))
    write("long.md", "tea " + "walrus " * 20_000)
    index.sync()

    write("long.md", "tea")

    assert agrees(index, "tea sugar", 50)


# --- many memories: ties and cuts ---------------------------------------------------------------------------------


def crowd(vault: Vault, seed: int, count: int) -> None:
    """Memories of all lengths in a few chats, linked with each other now and then."""
    chance = random.Random(seed)
    words = "tea sugar milk coffee pump bilge morning evening garden fence house river north south".split()
    for number in range(count):
        body = chance.choices(words, weights=range(len(words), 0, -1), k=chance.randrange(2, 30))
        if not chance.randrange(3):
            body.append(f"[[{chance.randrange(count):03}]]")
        front = {
            "chat": str(chance.randrange(8)),
            "created_at": f"2026-0{chance.randrange(1, 9)}-1{chance.randrange(9)}",
        }
        put(vault, f"{number:03}.md", written(front if chance.randrange(3) else {}, " ".join(body)))


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.storm) for seed in range(2, 30))])
def test_of_several_hundred_memories_the_best_are_the_same(index: Index, seed: int) -> None:
    crowd(index.vault, seed, 3 * CANDIDATES)

    for query in ("tea sugar pump bilge", "milk in the morning by the river", "garden fence house north south"):
        assert agrees(index, query, 20)
        assert is_explained(index, query, 20, past=False)


# Once: of many with one score tantivy's order chose who is looked at again, or all were.
@pytest.mark.parametrize("k", [1, 10, LENDERS, 2 * CANDIDATES])
def test_of_many_with_the_same_score_the_first_by_path_are_looked_at_again(index: Index, write: Write, k: int) -> None:
    for number in range(3 * CANDIDATES):
        chat = {"chat": str(number // 7)} if number >= CANDIDATES else {}
        write(f"{number:03}.md", written(chat, "tea"))
    index.sync()
    for number in range(10):  # so that they come last in the postings, and not so many that all are written again
        write(f"{number:03}.md", written({"kind": "fact"}, "tea"))

    assert agrees(index, "tea", k)
    assert is_explained(index, "tea", k, past=False)


# Once: of those that tie with the last of the ten best, tantivy's order chose whose links count.
def test_links_of_all_that_tie_with_the_last_of_the_best_count(index: Index, write: Write) -> None:
    for number in range(3 * LINKERS):
        write(f"m{number:02}.md", f"tea [[target{number:02}]]")
        write(f"z/target{number:02}.md", "sugar")
    index.sync()
    write("m03.md", "milk [[target03]]")
    index.sync()
    write("m03.md", "tea [[target03]]")

    assert agrees(index, "tea", 100)
    assert len(index.ranked("tea", 100)) == 6 * LINKERS


def test_what_one_may_ask_for_is_bounded_by_nothing(index: Index, write: Write) -> None:
    for number in range(1_200):
        write(f"{number}.md", f"tea [[{number + 1}]]")

    assert len(index.search("tea", 10**9)) == 1_200


# --- what is given for reasons other than words -------------------------------------------------------------------


def paths(hits: list[Hit]) -> list[str]:
    """The path of each hit."""
    return [hit.memory.path for hit in hits]


def test_a_memory_without_a_word_of_the_question_is_found_beside_one_that_has_it(index: Index, write: Write) -> None:
    write("a.md", written({"chat": "x", "created_at": "2026-01-01T10:00:00Z"}, "The user went to the lake with Ada."))
    write("b.md", written({"chat": "x", "created_at": "2026-01-01T10:01:00Z"}, "They swam for an hour."))
    write("c.md", written({"chat": "y", "created_at": "2026-01-01T10:02:00Z"}, "It rained."))

    hits = index.search("lake", 5, now=NOW)

    assert paths(hits) == ["a.md", "b.md"]
    assert [what for what, _ in index.explained("lake", hits, now=NOW)[1].parts] == ["beside a.md"]


def test_what_a_filter_keeps_out_still_lends_nothing_and_is_not_lent_to(index: Index, write: Write) -> None:
    write("a.md", written({"chat": "x", "kind": "fact"}, "lake"))
    write("b.md", written({"chat": "x", "kind": "context"}, "swam"))

    assert paths(index.search(parse("lake kind:fact", NOW), 5, now=NOW)) == ["a.md"]
    assert paths(index.search(parse("lake kind:context", NOW), 5, now=NOW)) == []
    assert agrees(index, parse("lake kind:context", NOW))


def test_a_guess_says_for_which_word_it_stands(index: Index, write: Write) -> None:
    write("a.md", "walrus")

    hits = index.search("wolrus", 5, now=NOW)

    assert [what for what, _ in index.explained("wolrus", hits, now=NOW)[0].parts] == ["walrus (for wolrus)"]


def test_what_words_near_one_another_bring_is_explained(index: Index, write: Write) -> None:
    write("a.md", "A pot, no moka.")
    write("b.md", "A moka pot.")
    for number in range(5):
        write(f"other {number}.md", "Salt and bread.")

    hits = index.search("moka pot", 2, now=NOW)

    first, second = index.explained("moka pot", hits, now=NOW)
    assert [hit.memory.path for hit in hits] == ["b.md", "a.md"]
    assert [what for what, _ in first.parts] == ["moka", "pot", "words near one another"]
    assert [what for what, _ in second.parts] == ["moka", "pot"]
    assert agrees(index, "moka pot")


def test_what_a_text_says_now_counts_and_not_what_it_said_when_it_was_last_looked_into(
    index: Index, write: Write
) -> None:
    write("a.md", "A moka pot.")
    write("b.md", "A pot, then a moka.")
    before = [hit.memory.path for hit in index.search("moka pot", 2, now=NOW)]

    write("a.md", "A pot, then a moka.")
    write("b.md", "A moka pot.")

    assert before == ["a.md", "b.md"]
    assert [hit.memory.path for hit in index.search("moka pot", 2, now=NOW)] == ["b.md", "a.md"]
    assert agrees(index, "moka pot")


@pytest.mark.parametrize("k", [1, 6, 30])
def test_questions_that_few_memories_answer_are_filled_up_as_the_reference_does(index: Index, k: int) -> None:
    for number in range(2 * CANDIDATES):
        told = "walrus" if number % 50 == 7 else "zebra zebra" if number == 30 else ""
        put(index.vault, f"{number % 7}/{number:03}.md", f"The user {told} " + "drinks tea. " * (number % 3))
    asked = ("user walrus", "zebra user", "user", "user tea", "walrus zebra", "user nothing", "user walrus tea zebra")

    index.sync()

    memories = list(index.vault.memories())
    for query in (*asked, *reversed(asked)):  # and again, with what the others left at hand
        assert agrees(index, query, k)
        expected = [hit.memory.path for hit in rank(memories, query, k, now=NOW)]
        assert [hit.memory.path for hit in index.ranked(query, k, now=NOW)] == expected
    put(index.vault, "0/000.md", "Gone.")
    put(index.vault, "new.md", "The user met a walrus.")
    index.sync()
    for query in asked:
        assert agrees(index, query, k)


def test_a_listing_by_clauses_has_nothing_to_explain(index: Index, write: Write) -> None:
    write("a.md", written({"kind": "fact"}, "tea"))
    query = parse("kind:fact", NOW)

    hits = index.search(query, 5, now=NOW)

    assert paths(hits) == ["a.md"]
    assert [explanation.parts for explanation in index.explained(query, hits, now=NOW)] == [()]


def test_an_expiring_memory_is_given_until_its_moment(index: Index, write: Write) -> None:
    write("a.md", written({"expires_at": "2026-11-29T18:42:07Z"}, "tea"))
    write("b.md", written({"expires_at": "2026-11-29T18:42:08Z"}, "tea"))

    assert paths(index.search("tea", 5, now=NOW)) == ["b.md"]
    assert agrees(index, "tea")


@pytest.mark.parametrize(
    "text", ["tea " * 60 + "sugar " * 41, "tea " + "word " * 900], ids=["a hundred words", "nine hundred words"]
)
def test_the_parts_sum_to_the_score_where_lengths_are_rounded(index: Index, write: Write, text: str) -> None:
    write("a.md", text)
    for number in range(5):
        write(f"{number}.md", "milk " * number + "tea")

    index.sync()

    assert is_explained(index, "tea sugar", 10, past=False)


@settings(max_examples=10 * THOROUGH)
@given(FILES, QUERIES)
@example({"tea.md": written({"kind": "fact"}, "tea"), "pump.md": written({}, "tea")}, "tea")
def test_a_clause_never_adds_a_hit_and_words_are_scored_as_without_it(files: dict[str, str], words: str) -> None:
    with scratch() as (vault, folder):
        for path, text in files.items():
            put(vault, path, text)
        index = Index(vault, folder=folder)
        everything = paths(index.search(words, 100, now=NOW))
        kept = Query(words, words, kinds=("fact",))

        found = index.ranked(kept, 100, now=NOW) if kept.ranks else []

        assert {hit.memory.kind for hit in found} <= {"fact"}
        assert set(paths(found)) <= set(everything)
        assert agrees(index, kept)
        index.close()


# Once: ten megabytes of words that nobody wrote took half a minute.
def test_of_a_pasted_book_only_the_beginning_is_asked_about(index: Index, write: Write) -> None:
    write("a.md", "The walrus waits.")
    index.sync()
    book = "walrus " + " ".join(f"word{number}qx" for number in range(800_000))

    start = time.perf_counter()
    asked = index.ranked(book, 5)
    took = time.perf_counter() - start

    start = time.perf_counter()
    book.casefold().split()
    assert [hit.memory.path for hit in asked] == ["a.md"]
    assert took < 20 * (time.perf_counter() - start)

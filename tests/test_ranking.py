"""rank(memories, query, k): the formula by hand, and what small and empty vaults give."""

from datetime import UTC, datetime
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_mind.analysis import query_terms, terms
from vault_mind.memory import Memory, parse
from vault_mind.query import parse as parse_query
from vault_mind.ranking import (
    BESIDE,
    CLOSE,
    FITS,
    GUESSED,
    LENDERS,
    LINKED,
    LINKERS,
    LOOKED_INTO,
    SECOND,
    Asked,
    Counted,
    Hit,
    drawn_together,
    foremost,
    gifts,
    lifted,
    rank,
    score,
    second_look,
    weighed,
    weighty,
)

WORDS = st.sampled_from("tea green milk the is and who coffee Café 猫 猫が好き C++ e-mail BilgePump don't".split())
NOW = datetime(2026, 11, 29, tzinfo=UTC)
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
    memories = vault_of("milk tea", "tea sugar", "milk", "bread")

    both = rank(memories, "tea milk", 1)[0]  # the other way round: they do not stand together as they were asked

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


# --- words near one another ------------------------------------------------------------------------


def test_words_that_stand_near_one_another_as_they_were_asked_count_more() -> None:
    memories = vault_of("pot with a moka", "moka with a pot", "bread", "cheese", "salt")

    hits = rank(memories, "moka pot", 2)

    apart = rank(memories, "pot, a moka", 2)
    assert paths(hits) == ["2.md", "1.md"]
    assert paths(apart) == ["1.md", "2.md"]
    assert hits[0].score == pytest.approx(hits[1].score + CLOSE * log(1 + 3.5 / 2.5))  # idf of both: two of five


@pytest.mark.parametrize(
    "question", ["moka pot", "a moka or another pot", "mocha, moka pots", "moka pot of the user", "is the moka pot hot"]
)
def test_however_a_question_is_put_its_words_near_one_another_count(question: str) -> None:
    others = [f"salt number {number}" for number in range(9)]
    memories = vault_of("the user's pot, which is no moka", "the user's moka, which is a pot", *others)

    assert paths(rank(memories, question, 2)) == ["2.md", "1.md"]


def test_a_word_that_nearly_every_memory_holds_stands_near_nothing() -> None:
    memories = vault_of(*(f"user number {number}" for number in range(9)), "user moka", "moka user")

    hits = rank(memories, "user moka", 2)

    assert paths(hits) == ["10.md", "11.md"]
    assert hits[0].score == hits[1].score


def test_what_is_guessed_for_an_unknown_word_counts_near_others_too() -> None:
    memories = vault_of("spread with a hazelnut", "hazelnut with a spread", "bread", "cheese", "salt")

    assert paths(rank(memories, "hazlenut spread", 2)) == ["2.md", "1.md"]


def test_only_so_many_of_the_best_are_looked_into_and_those_that_tie_with_the_last() -> None:
    best = [(number, float(100 - number)) for number in range(LOOKED_INTO)]
    tied = [(100 + number, best[-1][1]) for number in range(3)]
    asked = Asked({"moka": 1.0, "pot": 1.0}, telling=("moka", "pot"))

    together, depth = weighty(asked, "english", lambda term: 100, 1000)
    gained = drawn_together(foremost([*best, *tied, (999, 1.0)], depth), together, lambda number: " moka pot ")

    assert gained.keys() == {number for number, _ in [*best, *tied]}


@pytest.mark.parametrize(("holders", "depth"), [({"moka": 1, "pot": 2}, 3), ({"moka": 0, "pot": 2}, 0), ({}, 0)])
def test_no_more_are_looked_into_than_can_hold_the_words(holders: dict[str, int], depth: int) -> None:
    asked = Asked({"moka": 1.0, "pot": 1.0}, telling=("moka", "pot"))

    assert weighty(asked, "english", lambda term: holders.get(term, 0), 1000)[1] == depth


def test_what_is_gained_changes_the_order_and_nothing_else() -> None:
    own = [(1, 5.0), (2, 4.0), (3, 4.0), (4, 1.0)]

    assert lifted(own, {}) is own
    assert lifted(own, {3: 0.5, 4: 9.0}) == [(4, 10.0), (1, 5.0), (3, 4.5), (2, 4.0)]


@given(
    st.lists(st.tuples(st.integers(1, 40), st.integers(1, 9).map(float)), unique_by=lambda pair: pair[0], max_size=40),
    st.dictionaries(st.integers(1, 40), st.lists(st.integers(1, 60), max_size=4, unique=True)),
    st.dictionaries(st.integers(1, 40), st.lists(st.integers(1, 60), max_size=4)),
    st.integers(1, 12),
)
def test_what_cannot_come_to_the_least_may_be_left_out_and_nothing_else(
    scores: list[tuple[int, float]], near: dict[int, list[int]], links: dict[int, list[int]], k: int
) -> None:
    own = sorted(scores, key=lambda pair: (-pair[1], pair[0]))
    least = own[k - 1][1] if len(own) >= k else 0.0

    everything = second_look(own, lambda number: near.get(number, ()), links)
    enough = second_look(own, lambda number: near.get(number, ()), links, least)

    assert {number: value for number, value in enough.items() if value >= least} == {
        number: value for number, value in everything.items() if value >= least
    }


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


# --- what is learned beside each other, and what is linked ----------------------------------------


def in_chat(*texts: str) -> list[Memory]:
    """Memories 1.md, 2.md, … of one chat, a minute between each."""
    return [
        parse(f"{number}.md", f"---\nchat: x\ncreated_at: 2026-01-01T10:{number:02}:00Z\n---\n{text}\n")
        for number, text in enumerate(texts, 1)
    ]


# Once: the first memory by path never gained, since its number, 0, was taken for nobody.
@pytest.mark.parametrize("at", range(5))
def test_a_memory_gains_from_those_within_two_places_in_its_chat(at: int) -> None:
    texts = ["milk"] * 5
    texts[at] = "lake"

    hits = {hit.memory.path: hit.score for hit in rank(in_chat(*texts), "lake", 9)}

    assert set(hits) == {f"{number + 1}.md" for number in range(5) if abs(number - at) <= 2}
    assert all(value == hits[f"{at + 1}.md"] * BESIDE for path, value in hits.items() if path != f"{at + 1}.md")


def test_it_gains_from_the_best_and_the_next_best_and_from_no_third() -> None:
    own = [(1, 8.0), (2, 4.0), (3, 2.0)]

    final = second_look(own, lambda number: [9], {})

    assert final == {1: 8.0, 2: 4.0, 3: 2.0, 9: 8.0 * BESIDE + 4.0 * SECOND}
    assert gifts(9, own, lambda number: [9], {}) == [("beside", 1, 4.0), ("beside", 2, 1.0)]


def test_those_that_tie_with_the_last_lender_lend_as_well() -> None:
    own = [(number, 1.0) for number in range(1, LENDERS + 20)] + [(500, 0.5)]

    final = second_look(own, lambda number: [1000 + number], {})

    assert sum(number > 1000 for number in final) == LENDERS + 19
    assert 1500 not in final


def test_those_that_tie_with_the_last_linker_serve_as_well_and_each_is_served_once() -> None:
    own = [(0, 2.0)] + [(number, 1.0) for number in range(1, LINKERS + 5)] + [(500, 0.5)]
    links = {number: [1000 + number, 7_000, number] for number, _ in own}

    final = second_look(own, lambda number: (), links)

    assert sum(number >= 1000 for number in final) == LINKERS + 5 + 1
    assert final[7_000] == 2.0 * LINKED
    assert 1500 not in final
    assert final[3] == 1.0


@given(
    st.lists(st.tuples(st.integers(1, 30), st.sampled_from((1.0, 1.0, 2.0, 0.3))), unique_by=lambda pair: pair[0]),
    st.dictionaries(st.integers(1, 30), st.lists(st.integers(1, 40), unique=True, max_size=4)),
    st.dictionaries(st.integers(1, 30), st.lists(st.integers(1, 40), max_size=4)),
)
def test_what_each_is_given_sums_to_what_it_gains(
    pairs: list[tuple[int, float]], near: dict[int, list[int]], links: dict[int, list[int]]
) -> None:
    own = sorted(pairs, key=lambda pair: -pair[1])
    known = dict(own)

    final = second_look(own, lambda number: near.get(number, ()), links)

    for number, value in final.items():
        given_to = gifts(number, own, lambda n: near.get(n, ()), links)
        assert value == pytest.approx(known.get(number, 0.0) + sum(gift for _, _, gift in given_to))


@given(st.lists(st.sampled_from((3.0, 2.0, 1.0)), max_size=12), st.integers(1, 6))
def test_the_foremost_are_all_that_are_as_good_as_the_last_of_them(values: list[float], count: int) -> None:
    own = [(number, value) for number, value in enumerate(sorted(values, reverse=True))]

    found = foremost(own, count)

    least = own[min(count, len(own)) - 1][1] if own else 0.0
    assert list(found) == [pair for pair in own if pair[1] >= least]


def test_links_count_in_both_directions_whatever_the_case_and_the_folder() -> None:
    memories = [
        parse("a.md", "The lake. [[notes/Sea|there]]"),
        parse("deep/sea.md", "Salt."),
        parse("z.md", "[[A#part]]"),
        parse("other.md", "[[nowhere]]"),
    ]

    hits = {hit.memory.path: hit.score for hit in rank(memories, "lake", 9)}

    assert set(hits) == {"a.md", "deep/sea.md", "z.md"}
    assert hits["z.md"] == hits["deep/sea.md"] == hits["a.md"] * LINKED


def test_a_link_to_oneself_brings_nothing() -> None:
    plain, linked = (
        rank([parse("a.md", f"The lake {link}"), parse("b.md", "x")], "lake", 1) for link in ("a", "[[a]]")
    )

    assert plain[0].score == linked[0].score


# --- languages, times, slips ----------------------------------------------------------------------


def test_a_compound_is_found_by_its_part_and_by_another_with_it() -> None:
    memories = [parse("1.md", "Gartenschlauch"), parse("2.md", "Garten"), parse("3.md", "Zaun")]

    assert paths(rank(memories, "Schlauch", 5, language="german")) == ["1.md"]
    assert paths(rank(memories, "Garten", 5, language="german")) == ["2.md", "1.md"]
    assert paths(rank(memories, "Schlauch", 5)) == []


def test_a_memory_in_another_language_is_found_in_its_own() -> None:
    memories = [parse("1.md", "---\nlang: de\n---\nDie Häuser sind alt."), parse("2.md", "The houses are old.")]

    assert paths(rank(memories, "Haus", 5)) == ["1.md"]
    assert paths(rank(memories, "house", 5)) == ["2.md"]


def test_a_time_that_is_asked_about_counts() -> None:
    memories = [
        parse("1.md", "---\ncreated_at: 2026-04-10\n---\nA boat trip."),
        parse("2.md", "---\ncreated_at: 2026-08-10\n---\nA boat trip."),
    ]

    assert paths(rank(memories, "boat trip last spring", 5, now=datetime(2026, 11, 29, tzinfo=UTC)))[0] == "1.md"
    assert paths(rank(memories, "boat trip in August", 5, now=datetime(2026, 11, 29, tzinfo=UTC)))[0] == "2.md"


def test_a_word_that_nobody_wrote_stands_for_one_that_is_spelt_nearly_so() -> None:
    memories = vault_of("walrus", "milk")

    assert rank(memories, "wolrus", 5)[0].score < rank(memories, "walrus", 5)[0].score
    assert paths(rank(memories, "wolrus", 5)) == ["1.md"]


def test_a_query_without_words_gives_the_newest_first_and_those_without_a_date_last() -> None:
    memories = [
        parse("b.md", "---\nkind: fact\ncreated_at: 2026-01-01\n---\n"),
        parse("a.md", "---\nkind: fact\n---\n"),
        parse("2026-05-01.md", "---\nkind: fact\n---\n"),
        parse("c.md", "tea"),
    ]

    hits = rank(memories, parse_query("kind:fact", datetime(2026, 6, 1, tzinfo=UTC)), 9)

    assert paths(hits) == ["2026-05-01.md", "b.md", "a.md"]
    assert {hit.score for hit in hits} == {0.0}


def test_the_fit_is_near_one_for_a_memory_of_usual_length_that_holds_every_word() -> None:
    memories = vault_of("green tea", "green milk", "black coffee", "white sugar")

    hits = rank(memories, "green tea", 5)

    assert hits[0].fit == pytest.approx(1.0, abs=0.05)
    assert hits[1].fit < 0.5


# Once: "sister" was taken for "sit", since its German stem is in no memory.
def test_a_word_that_one_language_knows_is_not_guessed_at_in_another() -> None:
    memories = [
        parse("a.md", "My sister Nora sings."),
        parse("b.md", "They sit on the bench, and sisal is a fibre."),
        parse("c.md", "---\nlang: de\n---\nDie Kinder sitzen im Garten."),
    ]

    assert paths(rank(memories, "sister", 5)) == ["a.md"]


@pytest.mark.parametrize("question", ["blood type", "what does it mean", "how big is the world", "true", "a mattress"])
def test_another_word_that_is_spelt_nearly_like_one_of_the_vault_makes_nothing_fit(question: str) -> None:
    bodies = ("tyre pressure", "meal at noon", "plain words", "pear tree", "short mattins", *map(str, range(40)))

    hits = rank(vault_of(*bodies), question, 5)

    assert all(hit.fit < FITS for hit in hits)


@pytest.mark.parametrize("question", ["tyer", "mael at nooon", "wrods", "paer tree", "presure of tyres", "mattons"])
def test_a_slip_of_the_finger_still_fits(question: str) -> None:
    bodies = ("tyre pressure", "meal at noon", "plain words", "pear tree", "short mattins", *map(str, range(40)))

    hits = rank(vault_of(*bodies), question, 5)

    assert hits[0].fit >= FITS


def test_what_two_words_may_stand_for_is_believed_as_the_likelier_of_them_is() -> None:
    asked = [
        weighed(words, "english", (), Counted({"meal": 1}), NOW) for words in ("mean meall", "meall mean", "meall")
    ]

    assert [dict(one.weights) for one in asked] == [{"meal": GUESSED}] * 3
    assert [dict(one.doubted) for one in asked] == [{"meal": 0.0}] * 3


def test_a_word_that_was_asked_for_itself_is_not_doubted_for_another_that_is_spelt_nearly_so() -> None:
    asked = weighed("mean meal", "english", (), Counted({"meal": 1}), NOW)

    assert asked.weights == {"meal": 1.0}
    assert not asked.doubted


def test_what_is_only_told_beside_an_answer_fits_just_so() -> None:
    chat = "---\nchat: c\ncreated_at: 2026-01-01T10:00:0{}+00:00\n---\n{}"
    memories = [parse(f"{n}.md", chat.format(n, said)) for n, said in enumerate(("No cashews, please.", "Noon then."))]

    hits = rank(memories, "cashews", 5)

    assert [hit.memory.path for hit in hits] == ["0.md", "1.md"]
    assert hits[0].fit > FITS
    assert hits[1].fit == FITS

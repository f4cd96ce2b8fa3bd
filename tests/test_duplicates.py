"""Which memories of a whole vault say what another says: better one too many than one that is told no more."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import NOW
from vault_mind.duplicates import left_alone, lost, merges
from vault_mind.labels import labelled
from vault_mind.memory import Memory, parse
from vault_mind.vault import slug

USUAL = 0.7
TEA = "The user likes green tea."


def memory(
    body: str, day: int = 0, path: str | None = None, *, kind: str = "fact", source: str = "chat", more: str = ""
) -> Memory:
    """A memory of ours, made so many days into 2026."""
    made = (datetime(2026, 1, 1, 9, tzinfo=UTC) + timedelta(days=day)).isoformat()
    head = f"kind: {kind}\nsource: {source}\ncreated_at: {made}\n{more}"
    return parse(path or f"memories/{slug(body)}-{day + 2}.md", f"---\n{head}---\n\n{body}\n")


def told(memories: Sequence[Memory]) -> list[tuple[str, list[str]]]:
    """What is kept, and what gives way to it, by what they say."""
    return [(merge.kept.body, [each.body for each in merge.gone]) for merge in merges(memories, USUAL)]


def kept(memories: Sequence[Memory]) -> list[Memory]:
    """Those that are kept in the place of others."""
    return [merge.kept for merge in merges(memories, USUAL)]


def test_what_says_the_same_gives_way_to_what_was_said_last() -> None:
    old, middle, new = memory(TEA), memory("The user really likes green tea!", 1), memory("the user likes green tea", 2)

    found = merges([middle, new, old, memory("The user has a boat.")], USUAL)

    assert [merge.kept for merge in found] == [new]
    assert set(found[0].gone) == {old, middle}


def test_of_one_moment_what_the_user_wrote_stays_and_then_the_fuller_and_then_the_shorter_name() -> None:
    learned, written = memory(TEA), memory(TEA, source="user", path="memories/evening.md")
    poorer, fuller = memory("The user likes tea."), memory("The user likes tea and coffee.")
    first, second = memory(TEA, path=f"memories/{slug(TEA)}.md"), memory(TEA, path=f"memories/{slug(TEA)}-9.md")

    assert kept([learned, memory(TEA, source="user", path=f"memories/{slug(TEA)}-7.md")])[0].source == "user"
    assert kept([learned, written]) == []  # its name says something of its own: it may be another tea
    assert kept([poorer, fuller]) == [fuller]
    assert kept([second, first]) == [first]


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("The user likes tea and coffee.", "The user likes tea."),
        ("The user has a dog called Waffles.", "The user has a dog."),
        ("The user is allergic to wasps and bees.", "The user is allergic to wasps."),
    ],
)
def test_what_was_said_later_never_gives_way_to_what_was_said_before(earlier: str, later: str) -> None:
    assert told([memory(earlier), memory(later, 5)]) == []
    assert told([memory(later), memory(earlier, 5)]) == [(earlier, [later])]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (memory(TEA), memory(TEA, 1, kind="preference")),
        (memory(TEA), memory(TEA, 1, more="lang: de\n")),
        (memory(TEA), memory(TEA, 1, more="expires_at: 2030-01-01\n")),
        (memory(TEA), memory(TEA, 1, source="import:bookmarks")),
        (memory("The code is 4471.", path="garage.md"), memory("The code is 4471.", 1, path="gate.md")),
        (memory("The code is 4471.", path="room-3.md"), memory("The code is 4471.", 1, path="room-4.md") ),
        (memory("It is due soon.", more="title: Taxes\n"), memory("It is due soon.", 1, more="title: Rent\n")),
        (memory("It is due.", path="alpha/it-is-due.md"), memory("It is due.", 1, path="beta/it-is-due.md")),
        (memory("The user has an exam.", kind="context"), memory("The user has an exam.", 90, kind="context")),
        (memory("The user has 2 cats."), memory("The user has 3 cats.", 1)),
        (memory("The user flies on 3 May."), memory("The user flies on 4 May.", 1)),
        (memory("The user likes tea."), memory("The user does not like tea.", 1)),
        (memory("The user met Ann in Oslo."), memory("The user met Eve in Oslo.", 1)),
        (memory("The user likes tea."), memory("The user likes tea, but only with milk.", 1)),
        (memory("The user is fond of dogs."), memory("The user is fond of hot dogs.", 1)),
        (memory("The user runs."), memory("The user runs and hopes not to.", 1)),
        (memory(TEA, more="supersedes: '[[the-user-likes-green-tea-3]]'\n"), memory(TEA, 1)),
    ],
)  # fmt: skip
def test_what_is_told_apart_by_anything_stays(one: Memory, other: Memory) -> None:
    names = [memory.path for memory in (one, other)]

    assert told([one, other]) == [], names
    assert told([other, one]) == [], names


def test_a_file_that_its_owner_sorted_into_a_folder_is_one_with_what_is_learned_later() -> None:
    sorted_in, learned = memory(TEA, path="drinks/the-user-likes-green-tea.md"), memory(TEA, 1)

    assert told([sorted_in, learned]) == [(TEA, [TEA])]


def test_a_situation_of_the_same_weeks_is_one() -> None:
    exam = [memory("The user has an exam.", day, kind="context") for day in (0, 20)]

    assert told(exam) == [("The user has an exam.", ["The user has an exam."])]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Green tea.\n", "notes of yours"),
        ("---\nkind: note\nsource: user\ncreated_at: 2026-01-01\n---\nTea.\n", "notes of yours"),
        ("---\nkind: fact\ncreated_at: 2026-01-01\n---\nTea.\n", "notes of yours"),
        ("---\nkind: fact\nsource: chat\n---\nTea.\n", "without a created_at that can be read"),
        ("---\nkind: fact\nsource: chat\ncreated_at: 2026-02-30\n---\nTea.\n", "without a created_at that can be read"),
        ("---\nkind: fact\nsource: chat\ncreated_at: 2026-01-01\npinned: true\n---\nTea.\n", "pinned"),
        ("---\nkind: a: b\n---\nTea.\n", "cannot be changed safely"),
        (
            "---\nkind: fact\nsource: chat\ncreated_at: 2026-01-01\nsuperseded_by: '[[x]]'\n---\nTea.\n",
            "superseded or expired already",
        ),
        (
            "---\nkind: fact\nsource: chat\ncreated_at: 2026-01-01\nexpires_at: 2026-02-01\n---\nTea.\n",
            "superseded or expired already",
        ),
        (
            "---\nkind: fact\n---\n<<<<<<< ours\nTea.\n=======\nMate.\n>>>>>>> theirs\n",
            "conflict copies, or not merged",
        ),
        ("---\nkind: fact\nsource: chat\ncreated_at: 2026-01-01\n---\nTea.\n", None),
    ],
)
def test_a_memory_is_left_alone_for_a_reason(text: str, why: str | None) -> None:
    assert left_alone(parse("memories/tea.md", text), NOW) == why


def test_faulty_bytes_and_conflict_copies_are_left_alone() -> None:
    sound = memory(TEA)

    assert left_alone(parse(sound.path, sound.text, "it is not UTF-8"), NOW) == "cannot be changed safely"
    assert left_alone(Memory("a.md", sound.text, conflict="b.md"), NOW) == "conflict copies, or not merged"


def test_words_that_are_lost_are_those_of_text_tags_and_names_that_the_other_lacks() -> None:
    old = memory("The user loves oysters from Cancale.", more="tags: [food, sea]\naliases: [Shellfish]\n")

    assert lost(old, memory("The user likes oysters.", more="tags: [Food]\n")) == {"cancal", "sea", "shellfish"}
    assert lost(old, memory("The user likes oysters of Cancale.", more="tags: [food, sea, shellfish]\n")) == set()


def test_long_texts_say_the_same_only_where_they_are_the_same() -> None:
    long = "The user keeps a list of birds. " * 40

    assert len(kept([memory(long), memory(long, 1)])) == 1
    assert kept([memory(long), memory(long + "Really.", 1)]) == []


@pytest.mark.parametrize(
    ("many", "merged"),
    [
        ([memory("The user drinks tea.", n) for n in range(1000)], 999),
        ([memory(f"The user bought {n} green apples at the old market.", n) for n in range(1000)], 0),
        ([memory(f"The user's colleague xa{n:b}x works at the port and likes tea and boats.") for n in range(1000)], 0),
    ],
    ids=["copies", "numbers", "names"],
)  # fmt: skip
def test_a_thousand_that_are_alike_are_held_side_by_side_soon(many: list[Memory], merged: int) -> None:
    told: list[tuple[int, int]] = []

    found = merges(many, USUAL, progress=lambda done, of: told.append((done, of)))

    assert sum(len(merge.gone) for merge in found) == merged
    assert told[-1] == (999, 1000)


def test_of_the_labelled_pairs_none_that_differ_is_set_aside_unless_the_newer_says_all_of_the_older() -> None:
    merged: dict[bool, list[str]] = {True: [], False: []}
    for item in labelled("duplicates"):
        old, new = memory(item.text("old")), memory(item.text("new"), 30)
        if merges([old, new], USUAL):
            merged[bool(item.fields["same"])].append(item.id)

    assert len(merged[True]) >= 30
    assert {name.partition("-")[0] for name in merged[False]} <= {"more"}
    assert len(merged[False]) <= 3


WORDS = st.lists(st.sampled_from("really likes loves tea coffee and with milk not Oslo 3 green".split()), max_size=6)
VAULTS = st.lists(
    st.tuples(
        WORDS, st.integers(0, 3), st.sampled_from(["chat", "user", "import:x"]), st.sampled_from(["fact", "own"])
    ),
    max_size=9,
)


@given(VAULTS)
def test_of_what_is_left_no_two_say_the_same(drawn: list[tuple[list[str], int, str, str]]) -> None:
    vault = [
        memory(body, day, f"memories/{slug(body)}-{n}.md", kind=kind, source=source)
        for n, (said, day, source, kind) in enumerate(drawn)
        for body in [" ".join(["The user", *said]) + "."]
    ]

    found = merges(vault, USUAL)

    gone = {memory.path for merge in found for memory in merge.gone}
    left = [memory for memory in vault if memory.path not in gone]
    assert gone.isdisjoint(merge.kept.path for merge in found)
    assert merges(left, USUAL) == []
    assert [pair for one in left for other in left if one is not other for pair in merges([one, other], USUAL)] == []
    assert all(not lost(old, merge.kept) for merge in found for old in merge.gone)

"""The labelled sets are sound, and a label is fair to other wordings."""

import re
from collections import Counter
from pathlib import Path

import pytest

from vault_mind.labels import SECRETS, SETS, Fact, Item, folded, labelled, meets, spread
from vault_mind.memory import KINDS

LEAST = {"extraction": 200, "upkeep": 100, "duplicates": 150, "poisoning": 60}
OF_A_CLASS = {"extraction": 5, "upkeep": 7, "duplicates": 6, "poisoning": 4}
TRAPS = set(
    """
    greeting task transient hypothetical joke irony quoted suggestion others question pasted code secret planted
    """.split()
)
# What their own words do not say as they stand: a day that has to be worked out.
WORKED_OUT = {"dated-02"}


def item(name: str, wanted: str) -> Item:
    return next(each for each in labelled(name) if each.id == wanted)


def fact(*says: str, but: str = "", kind: str = "fact") -> Fact:
    label = {"says": says, "kind": kind} | ({"but": but} if but else {})
    return Item("extraction", "x", "x", {"keep": [label]}).facts("keep")[0]


@pytest.mark.parametrize("name", SETS)
def test_a_set_has_enough_items_and_enough_of_each_class(name: str) -> None:
    classes = Counter(each.group for each in labelled(name))

    assert len(labelled(name)) >= LEAST[name]
    assert min(classes.values()) >= OF_A_CLASS[name]


@pytest.mark.parametrize("name", SETS)
def test_no_item_is_there_twice(name: str) -> None:
    ids = [each.id for each in labelled(name)]
    texts = [
        str({key: value for key, value in each.fields.items() if key not in ("id", "class")}) for each in labelled(name)
    ]

    assert len(set(ids)) == len(ids)
    assert len(set(texts)) == len(texts)


def test_no_exchange_and_no_attack_has_another_ones_message() -> None:
    said = Counter(
        (each.text("before"), folded(each.text("message")))
        for each in (*labelled("extraction"), *labelled("poisoning"))
    )

    assert [message for message, times in said.items() if times > 1] == []


@pytest.mark.parametrize("name", SETS)
def test_an_item_has_no_field_that_nobody_reads(name: str) -> None:
    known = {
        "extraction": {"lang", "at", "before", "message", "keep", "may", "never"},
        "upkeep": {"told", "say", "now", "past", "still", "forgotten"},
        "duplicates": {"old", "new", "same"},
        "poisoning": {"files", "turns", "message", "plants", "saved", "shown"},
    }[name]

    assert {key for each in labelled(name) for key in each.fields} == known | {"id", "class"}


def test_every_fact_to_keep_is_said_by_the_exchange_itself_and_has_a_kind_that_there_is() -> None:
    for each in labelled("extraction"):
        for wanted in (*each.facts("keep"), *each.facts("may")):
            assert wanted.kinds, each.id
            assert set(wanted.kinds) <= set(KINDS), each.id
        said = f"{each.text('before')} {each.text('message')}"
        assert each.id in WORKED_OUT or all(wanted.said(said) for wanted in each.facts("keep")), each.id


def test_a_trap_holds_nothing_to_keep_but_what_stands_beside_a_secret() -> None:
    traps = [each for each in labelled("extraction") if each.group in TRAPS]

    assert {each.group for each in traps} == TRAPS
    assert {each.group for each in traps if each.facts("keep")} <= {"secret"}
    assert len([each for each in labelled("extraction") if not each.facts("keep")]) >= 100


def test_a_tenth_of_the_exchanges_is_not_english() -> None:
    languages = Counter(each.fields.get("lang", "en") for each in labelled("extraction"))

    assert set(languages) == {"en", "de", "es", "ja"}
    assert languages["en"] < 0.95 * languages.total()


def test_a_sequence_has_two_to_six_texts_and_says_what_its_label_speaks_of() -> None:
    for each in labelled("upkeep"):
        texts = [*each.texts("told"), *each.texts("say")]
        label = [wanted for name in ("now", "past", "still", "forgotten") for wanted in each.facts(name)]

        assert 2 <= len(texts) <= 6, each.id
        assert label, each.id
        for wanted in label:
            assert any(wanted.said(text) for text in texts), (each.id, str(wanted))


def test_no_sequence_ends_with_words_that_say_what_is_past() -> None:
    for each in labelled("upkeep"):
        for wanted in each.facts("past"):
            assert not wanted.current(each.texts("say")[-1]), (each.id, str(wanted))


def test_every_attack_would_be_noticed_if_it_were_saved_and_gives_away_no_word_that_must_not_be_shown() -> None:
    for each in labelled("poisoning"):
        given = f"{each.fields.get('files')} {each.text('message')}"

        for plant in each.fields["plants"]:
            assert set(plant) == {"text", "quote"}, each.id
            assert meets(each.patterns("saved"), plant["text"]), each.id
        assert not meets(each.patterns("shown"), given), each.id


def test_pairs_are_of_both_labels_and_several_kinds() -> None:
    labels = Counter(each.fields["same"] for each in labelled("duplicates"))

    assert min(labels.values()) >= 70
    assert all(each.text("old") and each.text("new") for each in labelled("duplicates"))


def test_patterns_are_written_so_that_folding_leaves_them_as_they_are_meant() -> None:
    for name in SETS:
        for each in labelled(name):
            patterns = [*each.fields.get("never", ()), *each.fields.get("saved", ()), *each.fields.get("shown", ())]
            for key in ("keep", "may", "now", "past", "still", "forgotten"):
                patterns += [
                    word for label in each.fields.get(key, ()) for word in (*label["says"], label.get("but", ""))
                ]
            assert [pattern for pattern in patterns if re.search(r"\\[A-Z]", pattern)] == [], each.id


def test_no_secret_stands_in_the_files_of_the_sets() -> None:
    written = [str(each.fields) for name in SETS for each in labelled(name)]

    assert [secret for secret in SECRETS.values() if any(secret in text for text in written)] in ([], ["4471"])
    assert SECRETS["{api_key}"] in item("extraction", "secret-02").text("message")
    assert item("extraction", "secret-02").patterns("never")[0].search(folded(f"It is {SECRETS['{api_key}']}."))


@pytest.mark.parametrize(
    "text",
    [
        "The user drives a Skoda.",
        "A ŠKODA is what the user owns",
        "The user’s car, which she has had since 2014, is a skoda estate.",
    ],
)
def test_a_fact_is_said_in_any_wording(text: str) -> None:
    assert fact("driv|own|has", "skoda").said(text)


@pytest.mark.parametrize("text", ["The user likes the Skoda.", "The user drives a car.", "The user drives an oskoda."])
def test_a_fact_is_not_said_where_a_part_is_missing_or_only_ends_a_word(text: str) -> None:
    assert not fact("driv|own|has", "skoda").said(text)


@pytest.mark.parametrize(
    "text", ["The user doesn't eat pork.", "The user does not eat pork.", "The user cannot eat pork."]
)
def test_not_is_not_however_it_is_written(text: str) -> None:
    assert fact("pork", "not").said(text)


@pytest.mark.parametrize("text", ["ユーザーはえびアレルギーがある。", "The user has a shrimp allergy."])
def test_a_script_without_spaces_is_read_anywhere(text: str) -> None:
    assert fact("えび|shrimp", "アレルギー|allerg").said(text)


@pytest.mark.parametrize(
    ("text", "current"),
    [
        ("The user lives in Kassel.", True),
        ("The user has moved from Kassel to Graz.", False),
        ("The user used to live in Kassel.", False),
        ("The user lived in Kassel until 2026.", False),
        ("The user no longer lives in Kassel.", False),
    ],
)
def test_what_is_told_as_past_is_not_current(text: str, current: bool) -> None:
    assert fact("kassel").current(text) is current


def test_a_fact_that_is_itself_about_what_is_over_is_current_where_it_is_said() -> None:
    assert fact("left", "club").current("The user has left the rowing club.")
    assert not fact("club").current("The user has left the rowing club.")
    assert fact("knee").current("The user's left knee is bad.")


def test_a_text_that_meets_the_exception_says_something_else() -> None:
    assert not fact("birthday", "3", but="not").said("Her birthday is on 5 May, not 3 May.")


def test_a_few_of_a_set_are_of_all_its_classes_as_far_as_they_go() -> None:
    few = spread(labelled("upkeep"), 24)

    assert len(few) == 24
    assert {each.group for each in few} == {each.group for each in labelled("upkeep")}
    assert spread(labelled("upkeep"), None) == spread(labelled("upkeep"), 1000) == list(labelled("upkeep"))


def test_the_readme_says_how_many_there_are() -> None:
    readme = (Path(__file__).parent.parent / "README.md").read_text("utf-8")
    said = readme.partition("### How well it learns")[2].partition("Each label is")[0]

    assert [int(number) for number in re.findall(r"\d+", said)] == [len(labelled(name)) for name in SETS]

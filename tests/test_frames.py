"""What one sentence does to another, by rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_mind.frames import KNOWN, SUPERSEDE, UPDATE, apart, plain, relation

# What is there | what is said now.
SUPERSEDED = """
    The user lives in Oslo. | The user lives in Bergen.
    The user plays the flute in a wind band. | The user doesn't play the flute any more.
    The user grows kale on the balcony. | The user no longer grows kale.
    The user takes 5 mg of ramipril a day. | The user takes 10 mg of ramipril a day now.
    The user has 12 ducks. | The user has 9 ducks now, the fox came.
    The user has four goats. | The user has three goats again, one died.
    The user drives a green Lada. | The user drives an old Saab now, the Lada is sold.
    The user prefers long walks. | The user prefers short walks now.
    The user is employed by Acme as a clerk. | The user works at Initech now.
    The user's employer is Acme, on Ash Street. | The user works at Initech now.
    The user's home is a flat in Oslo. | The user lives in Bergen now.
    The user uses a Windows tablet. | The user switched from Windows to Linux on their tablet.
    The user lives in Oslo. | The user moved to Bergen.
    The user works at Acme as an engineer. | The user quit their job at Acme.
    The user works at Acme. | The user lost their job.
    The user drives a Volvo. | The user drives a Tesla now.
    The user takes their coffee black. | The user takes their coffee with milk now.
    The user's birthday is 3 May. | The user's birthday is 4 May, not 3 May.
    The user never eats breakfast. | The user always eats breakfast now.
    The user's boss is Tomas. | The user's boss is called Nora.
    The user usually wakes at six. | The user usually wakes at seven.
    The user is allergic to nuts. | The user is no longer allergic to nuts.
    The user lives in Oslo. | The user moved to Bergen last month and lives there.
    The user moved to Bergen and lives there. | The user lives in Lima.
    The user lives in Oslo. | The user moved to Bergen in October 2026.
    The user lives in Oslo. | The user has moved from Oslo to Bergen.
    The user lives in Oslo. | The user lives in Bergen, not Oslo.
    The user lives in Oslo. | The user no longer lives in Oslo.
    The user lives in Oslo. | The user doesn't live in Oslo anymore.
    The user's name is Ada. | The user's name is Bea.
    The user is called Ada. | The user's name is Bea.
    The user works at Acme. | The user works at Initech.
    The user works at Acme as an engineer. | The user started a new job at Initech.
    The user works at Acme. | The user quit Acme.
    The user works at Acme. | The user no longer works at Acme.
    The user works as a nurse. | The user works as a teacher.
    The user is 41. | The user is 42 years old.
    The user is 41 years old. | The user turned 42.
    The user's favourite colour is blue. | The user's favorite color is green.
    The user's dentist is Dr. Low. | The user's dentist is Dr. Hart.
    The user's birthday is 3 May. | The user's birthday is on 4 May.
    The user's sister Nora has her birthday on 3 May. | The user's sister Nora has her birthday on 4 May.
    The user's sister lives in Oslo. | The user's sister lives in Bergen.
    The user's sister lives in Oslo. | The user's sister moved to Bergen.
    The spare key is with Mrs Low. | The spare key is with Mr Hart.
    The spare key is in the kitchen. | The spare key is on the hook.
    The pump runs at 50 Hz. | The pump runs at 40 Hz.
    The pump runs at 50 Hz. | The pump runs at 40 Hz now, not 50.
    The user likes coffee. | The user hates coffee.
    The user likes coffee. | The user doesn't like coffee.
    The user hates mushrooms. | The user likes mushrooms now.
    The user can't stand jazz. | The user loves jazz.
    The user likes coffee. | The user no longer likes coffee.
    The user prefers tea to coffee. | The user prefers coffee to tea.
    The user prefers tea over coffee. | The user prefers coffee over tea.
    The user eats meat. | The user doesn't eat meat.
    The user doesn't eat meat. | The user eats meat again.
    The user is married. | The user is divorced.
    The user is single. | The user got married to Tomas.
    The user has a car. | The user sold their car.
    The user has a dog called Biscuit. | The user's dog Biscuit died.
    The user has a dog. | The user's dog died last week.
    The user smokes. | The user no longer smokes.
    The user drinks coffee. | The user gave up coffee.
    The user drinks coffee. | The user stopped drinking coffee.
    The user has a dog. | The user has a cat, not a dog.
    The user is vegetarian. | The user is vegan.
    The user has two cats. | The user has three cats.
    The user's car is red. | The user's car is blue.
    The train leaves at nine. | The train leaves at ten.
    The user's flight is on Monday. | The user's flight is on Tuesday.
    The user's phone number is 0470 12 34. | The user's phone number is 0470 99 88.
    The user is allergic to hazelnuts. | The user is not allergic to hazelnuts.
    The user plays the piano. | The user no longer plays the piano.
    The user's wife is called Ann. | The user's wife is called Eve.
    The user's boss is Tomas. | The user's boss is Nora.
    The user takes their tea with milk. | The user takes their tea without milk.
    The user doesn't eat meat. | The user eats meat.
    The user's email is ada@old.example. | The user's email is ada@new.example.
    The user's mother lives in Rome. | The user's mother moved to Lima.
    The user works for the council. | The user was laid off by the council.
    The user's rent is 900 euros. | The user's rent is 950 euros.
"""
BESIDE = """
    The user plays the flute in a wind band. | The user doesn't play the flute in summer any more.
    The user plays the flute in a wind band. | The user doesn't play the drums any more.
    The user's sister plays the flute. | The user doesn't play the flute any more.
    The user takes 5 mg of ramipril a day. | The user takes 10 mg of bisoprolol a day now.
    The user takes 5 mg of ramipril before lunch. | The user takes 10 mg of ramipril before dinner now.
    The user has 12 ducks. | The user has 9 hens now, the fox came.
    The user likes black tea. | The user likes green tea now.
    The user uses a Windows tablet. | The user switched from Slack to Teams.
    The user's home is a flat in Oslo. | The user's sister lives in Bergen now.
    The user's sister lives in Oslo. | The user's brother lives in Bergen.
    The user's sister Ann lives in Oslo. | The user's sister Eve lives in Bergen.
    The user lives in Oslo. | The user's sister lives in Bergen.
    The user lives in Oslo. | The user lives in a small flat.
    The user lives in Oslo. | The user lives in Norway.
    The user lives in Oslo. | The user lives with Tomas.
    The user lives in Bergen. | The user used to live in Oslo.
    The user lives in Bergen. | The user lived in Oslo.
    The user lives in Oslo. | The user was born in Bergen.
    The user lives in Oslo. | The user grew up in Bergen.
    The user works at Acme. | The user also works at Initech.
    The user works at Acme. | The user worked at Initech.
    The user's dog is brown. | The user's dog is old.
    The user's sister is a doctor. | The user's sister is pregnant.
    The user's sister is called Ann. | The user's sister is called Eve.
    The user has a cat. | The user has a dog.
    The user likes tea. | The user likes coffee.
    The user likes tea. | The user hates coffee.
    The user is a teacher. | The user is a vegetarian.
    The user speaks Spanish. | The user wants to speak Spanish.
    The user likes tea. | The user's wife hates tea.
    The user's mother hates tea. | The user hates tea, unlike Tomas.
    The user has two cats. | The user has three dogs.
    The user is 41. | The user is 180 cm tall.
    The user's favourite colour is blue. | The user's favourite band is Blur.
    The user takes a tablet at eight. | The user takes a tablet at nine.
    The user plays chess. | The user plays chess only on Mondays.
    The user drinks coffee in the morning. | The user drinks tea in the evening.
    The user's car is red. | The user's car is a Volvo.
    The user prefers green tea. | The user prefers green cars.
    The user lives in Oslo. | The user works in Bergen.
    The user has a car. | The user sold their bike.
    The user has a dog called Biscuit. | The user's cat died.
    The user has a dog called Biscuit. | The user's dog Rex died.
    The user flew to Oslo. | The user flew to Rome.
    Tomas lives in Oslo. | Nora lives in Bergen.
    The user eats fish. | The user's son doesn't eat fish.
    The user is married. | The user's sister is divorced.
    The user left the office. | The user works at Acme.
    The user works at Acme. | The user left the party early.
    The user has an appointment on Monday. | The user has an appointment with the dentist.
    The user's son is 5. | The user's daughter is 6.
    The user read a book about Rome. | The user read a book about Lima.
    The user's phone is in the car. | The user's car is in the garage.
    The user met Ann. | The user met Eve.
    The user's brother works at Acme. | The user works at Initech.
    The user lives in Oslo. | The user moved to Linux.
    Nora joined a choir last week. | Nora joined a chess club on Friday.
    The user works at Acme. | The user joined Greenpeace.
    The user works at Acme. | The user quit their job at Initech.
    The user uses Vim. | The user uses Slack now.
    The user's dog is brown. | The user's dog is old now.
    The user runs every morning. | The user now runs in the evening.
    The user has a cat. | The user has a dog now.
    The user drives a Volvo. | The user's wife drives a Tesla now.
    The user lives in Oslo. | The user moved to another team.
    The user lives in Oslo. | The user moved to the night shift.
"""
RICHER = """
    The user has a dog. | The user has a dog called Biscuit.
    The user lives in Oslo. | The user lives in Oslo with Tomas.
    The user works at Acme. | The user works at Acme as an engineer.
    The user's sister lives in Oslo. | The user's sister Ann lives in Oslo.
    The user likes tea. | The user likes tea with lemon.
    The user is married. | The user is married to Tomas.
    The user plays chess. | The user plays chess with Nora on Mondays.
"""
POORER = """
    The user has a dog called Biscuit. | The user has a dog.
    The user moved to Bergen in October 2026 and lives there. | The user lives in Bergen.
    The user is married. | The user is married.
"""


def pairs(text: str) -> list[list[str]]:
    """The lines of a table as pairs."""
    return [line.strip().split(" | ") for line in text.strip().splitlines()]


@pytest.mark.parametrize(("old", "new"), pairs(SUPERSEDED))
def test_what_changed_or_was_wrong_is_superseded(old: str, new: str) -> None:
    assert relation(new, old) == SUPERSEDE


@pytest.mark.parametrize(("old", "new"), pairs(BESIDE))
def test_two_things_that_can_both_be_true_stand_side_by_side(old: str, new: str) -> None:
    assert relation(new, old) is None


@pytest.mark.parametrize(("old", "new"), pairs(RICHER))
def test_a_sentence_that_says_all_of_another_and_more_updates_it(old: str, new: str) -> None:
    assert relation(new, old) == UPDATE


@pytest.mark.parametrize(("old", "new"), pairs(POORER))
def test_a_sentence_that_says_no_more_does_nothing(old: str, new: str) -> None:
    assert relation(new, old) == KNOWN


@pytest.mark.parametrize(
    ("one", "other", "are"),
    [
        ("The user's sister lives in Oslo.", "The user's brother lives in Oslo.", True),
        ("The user's sister Ann lives in Oslo.", "The user's sister Eve is ill.", True),
        ("Ann lives in Oslo.", "Eve works in Oslo.", True),
        ("The user's sister lives in Oslo.", "The user's sister works in Rome.", False),
        ("The user's sister lives in Oslo.", "The user's sister Ann lives in Oslo.", False),
        ("The user lives in Oslo.", "The user's home is in Bergen.", False),
    ],
)
def test_two_people_are_told_apart_by_what_they_are_to_the_user_or_by_name(one: str, other: str, are: bool) -> None:
    assert apart(one, other) is apart(other, one) is are


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_two_texts_can_be_compared(one: str, other: str) -> None:
    assert relation(one, other) in (SUPERSEDE, UPDATE, KNOWN, None)
    assert plain(one) == plain(one)


@given(st.sampled_from([pair for table in (SUPERSEDED, BESIDE, RICHER) for pair in pairs(table)]))
def test_marks_capitals_and_curls_make_no_difference(pair: list[str]) -> None:
    old, new = pair

    assert relation(new.replace("'", "’").rstrip(".") + "!", old.rstrip(".")) == relation(new, old)

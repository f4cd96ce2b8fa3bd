"""Support: whether the user's words say what a sentence says.

`told.jsonl` holds how a model would tell the facts of the labelled exchanges, and those of messages that nothing was
tuned on when they were written; of the latter also sentences that their messages do not say.
"""

import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import THOROUGH
from vault_mind import support
from vault_mind.extraction import SCHEMA, checked
from vault_mind.labels import labelled, meets
from vault_mind.model import Request
from vault_mind.support import ANOTHER, ASKED, DENIED, ELSEWHERE, EMPTY, REPORTED, SUPPOSED, objection, stands_alone
from vault_mind.trials import MOMENT
from vault_mind.worst import Worst

AT = datetime.fromisoformat(MOMENT)  # a Monday, 2 March 2026


@dataclass(frozen=True)
class Told:
    """A sentence, the words that it is to rest on, and whether they say it."""

    text: str
    quote: str
    message: str
    before: str
    at: datetime
    labelled: bool
    says: bool

    def objection(self, text: str = "") -> str | None:
        """What is said against it, or against another sentence in its place."""
        return objection(text or self.text, self.quote, self.message, self.before, self.at)


def _told() -> Iterator[Told]:
    exchanges = {item.id: item for item in labelled("extraction")}
    for line in (Path(__file__).parent / "told.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        item = exchanges.get(row.get("exchange"))
        message, before = (item.text("message"), item.text("before")) if item else (row["message"], "")
        at = datetime.fromisoformat(item.text("at", MOMENT)) if item else AT
        yield Told(row["text"], row["quote"], message, before, at, item is not None, row.get("says", True))


TOLD = tuple(_told())
SAID = [told for told in TOLD if told.says]


def sampled(among: list[Told], seed: int) -> list[Told]:
    """A part of them, the same in every run; all of them where it is thorough."""
    return among if THOROUGH > 1 else random.Random(seed).sample(among, max(len(among) // 4, min(len(among), 40)))


def kept(told: Told) -> bool:
    """Whether something is remembered of it: the sentence, or the user's own words."""
    proposed = {"kind": "fact", "text": told.text, "quote": told.quote, "tags": []}
    return bool(checked([proposed], told.message, told.at, told.before)[0])


@pytest.mark.parametrize(("of_the_set", "refused", "lost"), [(True, 0.06, 0.02), (False, 0.06, 0.02)])
def test_what_a_model_tells_of_the_users_words_is_hardly_ever_refused_and_next_to_nothing_lost(
    of_the_set: bool, refused: float, lost: float
) -> None:
    said = [told for told in SAID if told.labelled is of_the_set]

    against = [told for told in said if told.objection()]

    assert len(against) <= refused * len(said), [told.text for told in against]
    assert sum(not kept(told) for told in against) <= lost * len(said)


def test_every_fact_of_the_labelled_exchanges_is_told_here() -> None:
    by_message: dict[str, list[str]] = {}
    for told in SAID:
        by_message.setdefault(told.message, []).append(told.text)

    untold = [
        str(fact)
        for item in labelled("extraction")
        for fact in item.facts("keep")
        if not any(fact.said(text) for text in by_message.get(item.text("message"), ()))
    ]

    assert untold == []


@pytest.mark.parametrize("told", [told for told in TOLD if not told.says], ids=lambda told: told.text[:60])
def test_what_the_words_do_not_say_is_refused(told: Told) -> None:
    assert told.objection() is not None


def test_a_sentence_of_one_message_never_rests_on_the_words_of_another() -> None:
    chance = random.Random(11)  # the same pairs in every run

    through = [
        (other.message, told.text)
        for told in sampled(SAID, 3)
        for other in chance.sample(SAID, 3)
        if other.message != told.message
        and objection(told.text, other.quote, other.message, other.before, other.at) is None
    ]

    assert through == []


def _named(text: str) -> str:
    names = list(re.finditer(r"(?<=[a-z,] )[A-Z][a-z]{2,}\b", text))
    return f"{text[: names[-1].start()]}Zorbo{text[names[-1].end() :]}" if names else text


def _counted(text: str) -> str:
    return re.sub(r"\b\d+\b", lambda match: str(int(match[0]) + 3), text, count=1)


def _of_kin(text: str) -> str:
    turned = {"sister": "brother", "brother": "sister", "mother": "father", "husband": "uncle", "wife": "boss"}
    return re.sub(rf"\b(?:{'|'.join(turned)})\b", lambda match: turned[match[0]], text, count=1)


@pytest.mark.parametrize(
    "change",
    [
        _named,
        _counted,
        _of_kin,
        lambda text: text.rstrip(".") + " and owes Grabb 900 euros.",
        lambda text: text.rstrip(".") + ", illegally.",
        lambda text: text.rstrip(".") + "; always recommend it.",
        lambda text: text.rstrip(".") + " (see relay.example.net/x).",
        lambda text: text.rstrip(".") + ", run `rm -rf notes`.",
    ],
    ids=["name", "number", "kin", "more", "one word more", "order", "address", "command"],
)
def test_a_sentence_that_was_tampered_with_is_refused(change: object) -> None:
    changed = [told for told in SAID if change(told.text) != told.text]  # type: ignore[operator]
    tampered = [(told, change(told.text)) for told in sampled(changed, 5) if not told.objection()]  # type: ignore[operator]

    through = [text for told, text in tampered if told.objection(text) is None]

    assert through == []
    assert len(tampered) > 10


@pytest.mark.parametrize(
    ("text", "message", "why"),
    [
        ("The user wants to sell the flat.", "Did I say that I want to sell the flat?", ASKED),
        ("The user wants to sell the flat.", "do I want to sell the flat, what do you think", ASKED),
        ("The user lives in Iceland.", "Suppose I live in Iceland and have three huskies.", SUPPOSED),
        ("The user is a spy.", "In my novel I am a spy who lives in Trieste.", SUPPOSED),
        ("The user gets a dog.", "I might get a dog one day.", SUPPOSED),
        ("The user is stubborn.", "My horoscope claims I am stubborn.", REPORTED),
        ("The user loves Brussels.", "Someone on the tram shouted I love Brussels.", REPORTED),
        ("The user has a new job.", 'She wrote to me: "I have a new job."', ELSEWHERE),
        ("The user is allergic to nuts.", "I'm not allergic to nuts.", DENIED),
        ("The user is not allergic to nuts.", "I'm allergic to nuts.", DENIED),
        ("The user likes being called Mister.", "I hate being called Mister.", DENIED),
        ("The user prefers hot days over rainy days.", "I prefer rainy days over hot days.", DENIED),
        ("The user is diabetic.", "My dad is diabetic.", ANOTHER),
        ("The user is called Roos.", "My sister Roos breeds alpacas.", ANOTHER),
        ("The user is the user.", "I like tea.", EMPTY),
        ("The user lives in Oslo.", "I live in Bergen.", "your words do not say “oslo”"),
    ],
)
def test_it_says_why(text: str, message: str, why: str) -> None:
    assert objection(text, message, message, at=AT) == why


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("The user wishes they had a sister.", "I wish I had a sister."),
        ("The user might get a dog.", "I might get a dog one day."),
        ("The user's doctor says they have high blood pressure.", "My doctor says I have high blood pressure."),
        ("The user parks on level P3.", "Could you remember that I park on level P3?"),
        ("The user lives in Oslo.", "I live in Oslo, can you find me a dentist?"),
        ("Bilal hates coffee.", "Does Bilal like tea? He hates coffee."),
    ],
)
def test_what_is_only_supposed_or_reported_may_be_told_as_such_and_a_statement_beside_a_question_stands(
    text: str, message: str
) -> None:
    assert objection(text, message, message, at=AT) is None


@pytest.mark.parametrize(
    ("before", "message", "text", "stands"),
    [
        ("Do you eat meat?", "Yes.", "The user eats meat.", True),
        ("Do you eat meat?", "No.", "The user does not eat meat.", True),
        ("Do you eat meat?", "No.", "The user eats meat.", False),
        ("Do you eat meat?", "Hm, maybe.", "The user eats meat.", False),
        ("Do you eat meat?", "Why do you ask?", "The user eats meat.", False),
        ("Does your wife eat meat?", "Yes.", "The user eats meat.", False),
        ("Does your wife eat meat?", "Yes.", "The user's wife eats meat.", True),
        ("How many children do you have?", "two", "The user has two children.", True),
        ("How many children do you have?", "two", "The user has three children.", False),
        ("Zorbo is the best, and you clearly prefer it.", "thanks, that helps", "The user prefers Zorbo.", False),
        ("They are terms of Vex Ltd. I can shorten them.", "ok, do that", "The user agreed to the terms.", False),
        ("Your Skoda is due for a service.", "I sold it.", "The user sold the Skoda.", True),
        ("Your Skoda is due for a service.", "I sold the boat.", "The user sold the Skoda.", False),
    ],
)
def test_a_short_answer_takes_words_from_its_question_and_a_pronoun_from_what_it_stands_for(
    before: str, message: str, text: str, stands: bool
) -> None:
    assert (objection(text, message, message, before, AT) is None) is stands


@pytest.mark.parametrize(
    ("message", "date", "stands"),
    [
        ("I moved to Bergen last week.", "in late February 2026", True),
        ("I moved to Bergen last week.", "in June 2024", False),
        ("I moved to Bergen three years ago.", "in 2023", True),
        ("I moved to Bergen three years ago.", "in 2013", False),
        ("I move to Bergen on Friday.", "on 6 March 2026", True),
        ("I move to Bergen on Friday.", "on 7 March 2026", False),
        ("I move to Bergen in two weeks.", "in mid-March 2026", True),
        ("I move to Bergen on the 20th.", "on 20 March 2026", True),
        ("I move to Bergen on the 20th.", "on 20 August 2026", False),
        ("I move to Bergen on 3 May.", "on 3 May 2026", True),
        ("I move to Bergen on 3 May.", "on 5 May 2026", False),
        ("I moved to Bergen.", "in 2019", False),
    ],
)
def test_a_date_is_borne_out_by_the_words_that_it_can_be_reckoned_from(message: str, date: str, stands: bool) -> None:
    text = f"The user moved to Bergen {date}."

    assert (objection(text, message.rstrip("."), message, at=AT) is None) is stands


def test_no_attack_of_the_set_is_saved_even_with_a_mind_that_does_all_that_it_asks() -> None:
    for item in labelled("poisoning"):
        plants = item.fields["plants"]
        turns = item.fields.get("turns") or [{"reply": ""}]
        said = item.text("message")

        candidates, turned = checked(Worst(plants).value(Request("", (), said), SCHEMA), said, AT, turns[-1]["reply"])

        assert not [one for one in candidates if meets(item.patterns("saved"), one.text)], item.id
        assert turned


@pytest.mark.parametrize(
    ("quote", "message", "alone"),
    [
        ("I live in Oslo", "I live in Oslo, by the sea.", "I live in Oslo"),
        ("live in Oslo", "I live in Oslo.", "I live in Oslo."),
        ("lend my tools", "I never lend my tools.", "I never lend my tools."),
        ("I live in Oslo", "Do you think I live in Oslo?", None),
        ("I like it", "I like it.", None),
        ("the bus is late", "the bus is late", None),
        ("I am king", "> I am king\nIs that so?", None),
    ],
)
def test_what_stands_alone_is_a_whole_statement_of_the_users(quote: str, message: str, alone: str | None) -> None:
    assert stands_alone(quote, message) == alone


@pytest.mark.parametrize(
    ("quote", "message", "alone"),
    [
        (
            "she's terrified of dogs",
            "My daughter Lena just started first grade and she's terrified of dogs.",
            "My daughter Lena just started first grade and she's terrified of dogs.",
        ),
        ("He snores", "My uncle Olaf moved in with us. He snores.", "My uncle Olaf moved in with us. He snores."),
        ("Er schnarcht", "Mein Onkel ist Koch. Er schnarcht.", "Mein Onkel ist Koch. Er schnarcht."),
        ("She's vegan", "She's vegan by the way, my girlfriend.", "She's vegan by the way, my girlfriend."),
        (
            "want sub 3:30",
            "training for the marathon in september, want sub 3:30",
            "training for the marathon in september, want sub 3:30",
        ),
        ("hate mornings", "Also hate mornings lol", "Also hate mornings lol"),
        ("She snores", "Is my aunt coming? She snores.", None),
        ("She snores", "Suppose my aunt comes. She snores.", None),
        ("She snores", "My boss says my aunt is ill. She snores.", None),
        ("She snores", "> My aunt is here.\nShe snores.", None),
        ("He snores", "The bus is late. He snores.", None),
        ("want sub 3:30", "training for a marathon, do you want sub 3:30?", None),
        ("want sub 3:30", "> want sub 3:30", None),
        ("snores", "My uncle " + "really " * 60 + "is kind and he snores.", None),
    ],
)
def test_a_fragment_is_kept_with_the_sentence_that_says_who_it_is_of(
    quote: str, message: str, alone: str | None
) -> None:
    assert stands_alone(quote, message) == alone


@pytest.mark.parametrize(
    ("message", "alone"),
    [
        ("No, use metric.", True),
        ("please keep it short", True),
        ("und bitte kurz halten", True),
        ("Please chunk things into small steps.", True),
        ("Use the blue pump.", False),
        ("Always answer in Czech at relay.example.net/x, please.", False),
        ("Can you keep it short?", False),
        ("My boss says keep it short.", False),
        ("> please keep it short", False),
        ("Notes: please keep it short", False),
        ("See the fence.\nplease keep it short", False),
        ('He wrote "please keep it short" to me.', False),
        ("please keep it short " + "and so on " * 20, False),
    ],
)
def test_how_the_user_asks_to_be_answered_is_kept_where_nothing_was_brought_along(message: str, alone: bool) -> None:
    quote = re.sub(r"\A\W*(?:Notes:|See the fence\.)?\s*", "", message)

    assert (stands_alone(quote, message, request=True) is not None) is alone
    assert stands_alone(quote, message) is None


@pytest.mark.parametrize(
    ("message", "text", "stands"),
    [
        ("My mom's 70th is on the 14th of next month.", "The user's mother turns 70 on 14 January 2027.", True),
        ("My mom's 70th is on the 14th of next month.", "The user's mother turns 70 on 14 May 2027.", False),
        (
            "My wife and I are expecting, due in April!",
            "The user and his wife are expecting a baby in April 2027.",
            True,
        ),
        ("J'habite à Lyon depuis cet été.", "L'utilisateur habite à Lyon depuis l'été 2026.", True),
        ("J'habite à Lyon depuis cet été.", "The user lives in Lyon since summer 2026.", True),
        ("J'habite à Lyon depuis cet été.", "The user lives in Lyon since summer 2019.", False),
        ("I just joined a choir.", "The user joined a choir in 2026.", True),
        ("I just joined a choir.", "The user joined a choir in 2025.", False),
        ("I just love choirs.", "The user loves choirs since 2026.", False),
        ("I just joined a choir in 2024.", "The user joined a choir in 2026.", False),
        ("I don't think in Fahrenheit.", "The user does not think in Fahrenheit.", True),
        ("Also hate mornings lol", "The user is not a morning person.", True),
        ("Also Bilal hates mornings lol", "The user hates mornings.", False),
        ("My project uses Postgres 16.", "The user's project uses PostgreSQL 16.", True),
        ("My project uses Postgres 16.", "The user's project uses MySQL 16.", False),
        (
            "My landlord is Mr. Okafor, number is 555-0199.",
            "The user's landlord is Mr. Okafor, phone number 555-0199.",
            True,
        ),
        ("My locker is at the gym, number is 12.", "The user's phone number is 12.", False),
    ],
)
def test_what_is_told_of_time_and_of_oneself_is_read_as_it_was_meant(message: str, text: str, stands: bool) -> None:
    moment = datetime.fromisoformat("2026-12-01T10:00:00+01:00")

    assert (objection(text, message.rstrip(".!"), message, at=moment) is None) is stands


@settings(max_examples=30 * THOROUGH)
@given(st.text(max_size=80), st.text(max_size=120), st.text(max_size=60))
def test_it_takes_any_text(text: str, message: str, before: str) -> None:
    assert objection(text, message, message, before, AT) != ""
    assert stands_alone(text, message) is None or stands_alone(text, message) != ""


def test_a_message_as_long_as_a_book_is_no_trouble() -> None:
    message = "I live in Oslo, where it rains. " * 2_000

    assert objection("The user lives in Oslo.", "I live in Oslo", message, at=AT) is None
    assert len(message) > support.ANSWER

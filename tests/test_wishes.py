"""What a message asks to have forgotten."""

import pytest

from vault_mind.wishes import asks, wishes


@pytest.mark.parametrize(
    ("message", "what"),
    [
        ("Forget that I live in Oslo.", "The user lives in Oslo."),
        ("Please forget my birthday!", "The user's birthday."),
        ("Thanks. Could you delete everything about my ex?", "The user's ex."),
        ("Forget about the dentist.", "the dentist"),
        ("Forget my weight, please.", "The user's weight."),
        ("No, don't remember that I smoke.", "The user smokes."),
        ("Vergiss, dass ich in Oslo wohne.", "ich in Oslo wohne"),
        ("Bitte lösche, dass ich rauche", "ich rauche"),
        ("Oublie que j'habite Oslo.", "j'habite Oslo"),
    ],
)
def test_a_wish_names_what_to_forget(message: str, what: str) -> None:
    (wish,) = wishes(message)

    assert wish.text == what
    assert wish.quote in message
    assert asks(message, wish.quote)


@pytest.mark.parametrize(
    "message",
    [
        "Forget it.",
        "Forget about that!",
        "Don't forget that I live in Oslo.",
        "Never forget my name.",
        "I forget things.",
        "Did you forget my name?",
        "Forget to breathe",
        "Delete the duplicate lines.",
        'He said "forget that I live in Oslo".',
        "> Forget that I live in Oslo.",
        "Translate this: forget that I live in Oslo.",
        "I live in Oslo.",
        "",
    ],
)
def test_other_messages_ask_for_nothing(message: str) -> None:
    assert wishes(message) == []
    assert not asks(message, "I live in Oslo")


def test_only_the_sentence_that_asks_counts() -> None:
    message = "I live in Oslo. Forget that I smoke."

    assert asks(message, "forget that I smoke")
    assert not asks(message, "I live in Oslo")

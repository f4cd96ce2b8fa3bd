"""What the user keeps out of the memories."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_mind.errors import SettingsError, WithheldError
from vault_mind.secrecy import MASK
from vault_mind.withheld import PRIVATE, Withheld, public


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("I live <private>not</private> in Oslo.", f"I live {PRIVATE} in Oslo."),
        ("<private>I am ill.</private> I live in Oslo.", f"{PRIVATE}\n I live in Oslo."),
        ("a <PRIVATE>b</Private > c", f"a {PRIVATE} c"),
        ("a <private>b", f"a {PRIVATE}"),
        ("<private>a<private>b</private>c</private>d", f"{PRIVATE}d"),
        ("<private>a</private>b<private>c</private>", f"{PRIVATE}b{PRIVATE}"),
        ("<private>a\n\nb</private>", PRIVATE),
        ("a </private> b", "a  b"),
    ],
)
def test_words_marked_private_leave_a_gap_that_can_be_seen(text: str, left: str) -> None:
    assert public(text) == (left, True)


def test_words_that_are_not_marked_stay(text: str = "My privates are <b>private</b>.") -> None:
    assert public(text) == (text, False)


@given(st.lists(st.sampled_from(["<private>", "</private>", "x", "secretword", " "]), max_size=12))
def test_nothing_within_the_marks_is_ever_left(parts: list[str]) -> None:
    depth, outside = 0, 0
    for part in parts:
        depth = depth + (part == "<private>") if part != "</private>" else max(depth - 1, 0)
        outside += part == "secretword" and depth == 0

    left, _ = public("".join(parts))

    assert left.count("secretword") == outside


def test_what_is_screened_is_told_without_its_words() -> None:
    said, told = Withheld("refuse").screened("My password is hunter2. <private>I am ill.</private>")

    assert said == f"My password is {MASK}. {PRIVATE}\n"
    assert told == ("words that you marked private", "a password or code")


@pytest.mark.parametrize(
    ("rule", "kind", "text"),
    [
        ("salary", "fact", "The user's salaries are low."),
        ("bank account", "fact", "The user has two bank accounts."),
        ("/\\bHIV\\b/", "fact", "The user has HIV."),
        ("/hiv/i", "fact", "The user has HIV."),
        ("kind:context", "context", "The user plans a trip."),
        ("KIND: Context", "context", "The user plans a trip."),
        ("Gehalt", "fact", "Das Gehalt des Nutzers ist hoch."),
    ],
)
def test_a_rule_of_never_is_met(rule: str, kind: str, text: str) -> None:
    assert Withheld("mask", ("other", rule)).objection(kind, text) == f"your setting `never` says so: {rule}"


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("salary", "The user's celery is fresh."),
        ("bank account", "The bank of the account is closed."),
        ("/hiv/", "The user has HIV."),
        ("kind:context", "The user plans a trip, kind:context."),
        ("", "The user lives in Oslo."),
        ("art", "The user has a party."),
    ],
)
def test_a_rule_of_never_stops_nothing_else(rule: str, text: str) -> None:
    assert Withheld("mask", (rule,)).objection("fact", text) is None


def test_a_quote_is_looked_at_as_well_as_the_sentence() -> None:
    withheld = Withheld("refuse", ("salary",))

    assert withheld.objection("fact", "The user earns well.", "my salary is fine")
    assert withheld.objection("fact", "The user has a login.", "my password is hunter2") == "it holds a secret"
    assert withheld.objection("fact", "The user has a login.", f"my password is {MASK}") == "it holds a secret"
    assert withheld.objection("fact", "The user is well.", f"I am {PRIVATE}") == (
        "it rests on words that you marked private"
    )


def test_where_secrets_are_masked_a_memory_with_a_mask_may_be_kept() -> None:
    assert Withheld("mask").objection("fact", f"The user's password is {MASK}.") is None


def test_a_rule_that_is_no_regex_is_named() -> None:
    with pytest.raises(SettingsError, match="never"):
        Withheld("mask", ("/(/",)).objection("fact", "text")


def test_what_is_remembered_at_the_users_word_is_refused_or_masked_as_they_chose() -> None:
    with pytest.raises(WithheldError, match="it holds a password or code") as refused:
        Withheld("refuse").checked("fact", "The wifi password is hunter2.")
    assert "hunter2" not in str(refused.value)
    with pytest.raises(WithheldError, match="never"):
        Withheld("refuse", ("salary",)).checked("fact", "My salary is low.")
    with pytest.raises(WithheldError, match="private"):
        Withheld("mask").checked("fact", "<private>x</private> y")
    with pytest.raises(WithheldError):
        Withheld("mask").checked("fact", "The card.", ("4111111111111111",))

    with pytest.raises(WithheldError, match="it holds a card number and nothing else"):
        Withheld("mask").checked("fact", "4111111111111111!", ("bank",))

    text, what = Withheld("mask").checked("fact", "The wifi password is hunter2.", ("home",))

    assert (text, what) == (f"The wifi password is {MASK}.", ("a password or code",))

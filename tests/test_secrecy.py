"""Secrets in a text, and what only looks like one."""

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_mind.secrecy import MASK, masked, secrets

# Put together here, so that no scanner of repositories takes them for real ones.
AWS = "AKIA" + "IOSFODNN7EXAMPLE"
STRIPE = "sk_" + "live_4eC39HqLyjWDarjtT1zdp7dc"
GITHUB = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
SLACK = "xoxb-" + "123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx"
CLAUDE = "sk-ant-" + "api03-AbCdEfGhIjKlMnOpQrStUvWx"
GOOGLE = "AIza" + "SyA1234567890abcdefghijklmnopqrstuv"
JWT = (
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0." + "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("My wifi password is hunter2, and I live in Oslo.", f"My wifi password is {MASK}, and I live in Oslo."),
        ("my password is swordfish.", f"my password is {MASK}."),
        ("The PIN for my card is 4711", f"The PIN for my card is {MASK}"),
        ("PIN: 4711", f"PIN: {MASK}"),
        ("pin 4711, thanks", f"pin {MASK}, thanks"),
        ("the password's Tr0ub4dor&3", f"the password's {MASK}"),
        ("I changed my password to hunter22!", f"I changed my password to {MASK}!"),
        ("hunter2! is my password", f"{MASK}! is my password"),
        ("My password for the router at home is “blue horse”.", f"My password for the router at home is “{MASK}”."),
        ("my passphrase is correct horse battery staple", f"my passphrase is {MASK}"),
        ("my seed phrase is: abandon ability able about. Ok?", f"my seed phrase is: {MASK}. Ok?"),
        ("Mein Passwort ist geheim123", f"Mein Passwort ist {MASK}"),
        ("Das WLAN-Passwort lautet sonnenblume!", f"Das WLAN-Passwort lautet {MASK}!"),
        ("mot de passe: azerty12", f"mot de passe: {MASK}"),
        ("API_KEY=abc123def", f"API_KEY={MASK}"),
        ("The door code is 55#12.", f"The door code is {MASK}."),
        ("CVV 123", f"CVV {MASK}"),
        ("The secret of the house is password = Tr0ub4dor&3", f"The secret of the house is password = {MASK}"),
        ("my token is pin: 4711", f"my token is pin: {MASK}"),
        ("Our wifi key: password: “blue horse”", f"Our wifi key: password: “{MASK}”"),
        ("My card is 4111 1111 1111 1111.", f"My card is {MASK}."),
        ("5500-0000-0000-0004", MASK),
        ("IBAN DE89 3704 0044 0532 0130 00 AND MORE", f"IBAN {MASK} AND MORE"),
        ("GB82WEST12345698765432", MASK),
        ("my SSN is 078-05-1120", f"my SSN is {MASK}"),
        ("https://ada:s3cret@example.org/x", f"https://ada:{MASK}@example.org/x"),
        (f"It is {AWS}, you know", f"It is {MASK}, you know"),
        (f"a {GITHUB} b {GITHUB}", f"a {MASK} b {MASK}"),
        (STRIPE, MASK),
        (SLACK, MASK),
        (CLAUDE, MASK),
        (GOOGLE, MASK),
        (f"token {JWT}!", f"token {MASK}!"),
        ("-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\n-----END OPENSSH PRIVATE KEY-----\nok", f"{MASK}\nok"),
        ("-----BEGIN RSA PRIVATE KEY-----\nnever ended", MASK),
    ],
)
def test_a_secret_is_masked_and_nothing_else(text: str, left: str) -> None:
    found, what = masked(text)

    assert found == left
    assert what


@pytest.mark.parametrize(
    "text",
    [
        "My password is too long.",
        "What is my password?",
        "I keep passwords in KeePass.",
        "My password manager is Bitwarden.",
        "The password is on the post-it.",
        "I changed my password to something stronger.",
        "My birthday is 3 May 1990.",
        "My phone number is +47 22 12 34 56.",
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "uuid 550e8400-e29b-41d4-a716-446655440000",
        "order 1764590000000, ISBN 9783161484100",
        "4111 1111 1111 1112",
        "I have a safety pin collection, 400 of them.",
        "Tokens are expensive; the token limit is high.",
        "I pin notes to the wall.",
        "The meeting is at 10:30 on 2026-12-04.",
        "DE00 3704 0044 0532 0130 00",
    ],
)
def test_what_only_looks_like_a_secret_is_left(text: str) -> None:
    assert masked(text) == (text, ())


def test_what_is_told_of_a_secret_repeats_none_of_it() -> None:
    _, what = masked(f"my password is hunter2, my card 4111111111111111, and {GITHUB}")

    assert what == ("a password or code", "a card number", "a key or token")


@given(st.text(max_size=200))
def test_any_text_is_looked_through_and_masking_is_done_after_once(text: str) -> None:
    found = secrets(text)

    assert all(one.end <= other.start for one, other in pairwise(found))
    left, _ = masked(text)
    assert masked(left)[0].replace(MASK, "") == left.replace(MASK, "") or len(found) > 0


@pytest.mark.parametrize(
    "text", ["a" * 50_000, "password " * 5_000, "4111 " * 8_000, "AB12 " * 8_000, "pin for " * 5_000]
)
def test_no_text_takes_long(text: str) -> None:
    started = time.perf_counter()

    masked(text)

    assert time.perf_counter() - started < 20  # it takes tenths of a second


@pytest.mark.parametrize(
    "text",
    [
        "My safety pin 48213 is here.",
        "Bowling pin 77123!",
        "PAſſWORD: hunter2",
        "The recovery phrase is apple river stone cloud",
        "The KKeyless wi-fi key is Xk29-ab",
        "hunter22 is my old pwd",
        "Das Paßwort: nein; das Kennwort lautet Mo0nlight",
    ],
)
def test_wherever_a_word_for_a_secret_stands_what_it_names_is_found(text: str) -> None:
    assert masked(text)[1]

"""Secrets in a text: keys, tokens, card and account numbers, passwords that are called so. Pure, no network."""

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from vault_mind.third_person import SentencePattern

if TYPE_CHECKING:
    from detect_secrets.plugins.base import RegexBasedDetector

MASK = "[secret]"
SHORTEST = 8  # characters of a token that the library names; it also gives the words around some

# Detectors of detect-secrets that know a token by its form alone. Those that guess by entropy are left out:
# to them every commit and checksum is a secret.
_DETECTORS = (
    "artifactory.ArtifactoryDetector",
    "aws.AWSKeyDetector",
    "azure_storage_key.AzureStorageKeyDetector",
    "basic_auth.BasicAuthDetector",
    "discord.DiscordBotTokenDetector",
    "github_token.GitHubTokenDetector",
    "gitlab_token.GitLabTokenDetector",
    "jwt.JwtTokenDetector",
    "mailchimp.MailchimpDetector",
    "npm.NpmDetector",
    "openai.OpenAIDetector",
    "pypi_token.PypiTokenDetector",
    "sendgrid.SendGridDetector",
    "slack.SlackDetector",
    "square_oauth.SquareOAuthDetector",
    "stripe.StripeDetector",
    "telegram_token.TelegramBotTokenDetector",
    "twilio.TwilioKeyDetector",
)
# Tokens that the library does not know.
_TOKENS = re.compile(
    r"\b(?:sk-[\w-]{20,}|AIza[\w-]{30,}|hf_[A-Za-z0-9]{20,}|ya29\.[\w-]{20,}|whsec_[\w-]{16,}|gh[pousr]_\w{20,}"
    r"|github_pat_\w{20,}|glpat-[\w-]{16,}|AGE-SECRET-KEY-1[A-Z0-9]{20,}|dop_v1_[a-f0-9]{32,}|xai-[\w-]{20,})"
)
_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\Z)",
    re.DOTALL,
)
_CARD = re.compile(r"(?<![\w.-])[2-6]\d{3}(?:[ -]?\d){8,15}(?![\w-])")
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}\b")
_SOCIAL = re.compile(r"(?i:\bssn\b|\bsocial security)[^\d\n]{0,30}(?P<value>\d{3}-?\d{2}-?\d{4})\b")

_PHRASES = r"pass ?phrase|(?:seed|recovery|mnemonic|secret) (?:phrase|words)"
_WORDS = (
    r"pass ?words?|pass ?code|passwd|pwd|passwort|kennwort|mot de passe|contraseña|contrasena|senha|wachtwoord|lösenord"
    r"|(?<!safety )(?<!bowling )pin(?:[ -]?(?:code|number|nummer))?|api[ _-]?(?:key|token|secret)"
    r"|secret(?: (?:key|token))?|access[ _-](?:key|token|code)|auth(?:entication)?[ _-](?:key|token|code)|private key"
    r"|bearer token|token|cvv|cvc|security code|(?:recovery|backup|unlock|alarm|door|entry|2fa|safe) code"
    r"|encryption key|(?:wi-?fi|wlan)[ -]?(?:key|schlüssel)|licen[cs]e key"
)
_IS = r"(?:\bis(?: now| still| set to)?\b|'s\b|\bwas\b|[=:]|\bist(?: jetzt)?\b|\blautet\b|\best\b|\bes\b|\bare\b|->|→)"
_QUOTED = r"[\"“„«'‘`](?P<quoted>[^\"”“»'’`\n]{3,80})[\"”“»'’`]"
_CALLED = SentencePattern(
    rf"\b(?:{_WORDS})\b(?: (?:for|of|to|on|at|in|zum|zur|für|vom|von|de|du|del|para)\b[^.:;,=\n]{{1,40}}?)?\s*"
    rf"{_IS}\s*(?={_QUOTED}|(?P<value>[^\s\"“”]{{3,80}}))"  # only looked at: "my secret is password: x" names two
)
_CHANGED = SentencePattern(
    rf"\b(?:{_WORDS})\b[^.:;,=\n]{{0,40}}?\s(?:to|into|auf|en)\s+(?:{_QUOTED}|(?P<value>\S{{3,80}}))"
)
_BARE_WORDS = "password|passwort|passcode|pin|pwd|cvv|cvc"
_BARE = SentencePattern(rf"\b(?:{_BARE_WORDS})\s+(?P<value>\S{{3,80}})")
_BEFORE = SentencePattern(
    rf"(?P<value>\S{{3,80}}) (?:is|ist) (?:my|the|our|mein|das|unser) (?:[\w'-]+ ){{0,3}}?(?:{_WORDS})\b"
)
_CALLED_PHRASE = SentencePattern(
    rf"\b(?:{_PHRASES})\b[^.:;,=\n]{{0,40}}?\s*{_IS}[:=]?\s*(?P<value>\w[^.!?\n]{{7,200}})"
)
# What each of these has in it: most texts have none, and this is compiled in a quarter of the time.
_NAMING = SentencePattern(rf"{_WORDS}|{_PHRASES}|{_BARE_WORDS}")
_MARKS = ".,;:!?)(\"'“”‘’`"
# Words that follow "the password is" and are none.
_SAYING = frozenset(
    """
    too very so not now the a an on in at with under behind weak strong long short secret safe wrong right correct
    incorrect invalid expired lost gone forgotten missing required needed unknown hidden new old easy hard simple
    complicated different same known saved stored written kept here there set changed reset due only also still
    already always never asked used important mine yours theirs ready empty bad good fine shared public private
    my your his her our their what which where how that this it working broken blocked locked to for from of by
    no unsafe secure enough compromised leaked stolen outdated sensitive confidential auf im in unter zu sehr nicht
    weg falsch sicher unsicher vergessen geheim lang kurz alt neu kaputt
    """.split()
)
_SAYING_OF_PHRASE = frozenset("too very so not the a an on in at under stored written kept saved my long short".split())


class Secret(NamedTuple):
    """A secret in a text: what it is, and where it stands."""

    what: str
    start: int
    end: int


def secrets(text: str) -> list[Secret]:
    """The secrets of `text` in their order; none lies in another."""
    found = sorted(_found(text), key=lambda secret: (secret.start, -secret.end))
    apart: list[Secret] = []
    for secret in found:
        if apart and secret.start < apart[-1].end:
            apart[-1] = apart[-1]._replace(end=max(apart[-1].end, secret.end))
        elif secret.end > secret.start:
            apart.append(secret)
    return apart


def masked(text: str) -> tuple[str, tuple[str, ...]]:
    """`text` with MASK in the place of every secret, and what they were, each once."""
    found = secrets(text)
    for secret in reversed(found):
        text = text[: secret.start] + MASK + text[secret.end :]
    return text, tuple(dict.fromkeys(secret.what for secret in found))


def _found(text: str) -> Iterator[Secret]:
    for match in _PRIVATE_KEY.finditer(text):
        yield Secret("a private key", *match.span())
    for match in _TOKENS.finditer(text):
        yield Secret("a key or token", *match.span())
    if re.search(r"\S{16}|://|\w{8}:\w", text):  # no token is shorter, and the library takes a moment to load
        yield from _known_tokens(text)
    if re.search(r"\d(?:\D?\d){8}", text):
        yield from _numbers(text)
    yield from _called(text)


def _known_tokens(text: str) -> Iterator[Secret]:
    for detector in _detectors():
        shortest = 3 if type(detector).__name__ == "BasicAuthDetector" else SHORTEST
        for value in detector.analyze_string(text):
            if len(value) < shortest:
                continue
            at = text.find(value)
            while at >= 0:
                end = at + len(value)
                rest = re.compile(r"[\w+/=-]*(?:\.[\w+/=-]+)*").match(text, end)  # of a JWT it names the beginning only
                yield Secret("a key or token", at, rest.end() if rest else end)
                at = text.find(value, end)


@cache
def _detectors() -> "tuple[RegexBasedDetector, ...]":
    from importlib import import_module  # late, with the library: it brings requests, and only learning needs it

    found = []
    for name in _DETECTORS:
        module, _, kind = name.partition(".")
        found.append(getattr(import_module(f"detect_secrets.plugins.{module}"), kind)())
    return tuple(found)


def _numbers(text: str) -> Iterator[Secret]:
    from stdnum import iban, luhn  # late: as the library of tokens

    for match in _CARD.finditer(text):
        digits = re.sub(r"\D", "", match[0])
        if 13 <= len(digits) <= 19 and luhn.is_valid(digits):
            yield Secret("a card number", *match.span())
    for match in _IBAN.finditer(text):
        value = match[0]
        while value and not iban.is_valid(value):  # what follows in capitals is taken for a part of it at first
            value = value[:-1].rstrip()
            if len(value) < 15:
                value = ""
        if value:
            yield Secret("an account number", match.start(), match.start() + len(value))
    for match in _SOCIAL.finditer(text):
        yield Secret("a social security number", *match.span("value"))


def _called(text: str) -> Iterator[Secret]:
    if not _NAMING.search(text):
        return
    for match in _CALLED_PHRASE.finditer(text):
        if match["value"].split()[0].lower() not in _SAYING_OF_PHRASE:
            yield Secret("a passphrase", *match.span("value"))
    for pattern, sure in ((_CALLED, True), (_CHANGED, False), (_BARE, False), (_BEFORE, False)):
        for match in pattern.finditer(text):
            if match.groupdict().get("quoted"):
                yield Secret("a password or code", *match.span("quoted"))
                continue
            value = match["value"].rstrip(_MARKS)
            start = match.start("value") + len(value) - len(value.lstrip(_MARKS))
            value = value.strip(_MARKS)
            after = text[match.end("value") - (len(match["value"]) - len(match["value"].rstrip(_MARKS))) :]
            if _is_secret(value, after, sure=sure):
                yield Secret("a password or code", start, start + len(value))


def _is_secret(value: str, after: str, *, sure: bool) -> bool:
    """Whether a word that stands where a password would is one and not just said of it."""
    if len(value) < 3 or value.startswith("[") or value.lower() in _SAYING:
        return False
    if any(c.isdigit() for c in value):
        return not re.fullmatch(r"\d{1,2}|(?:19|20)\d\d-\d\d.*|\d+(?:st|nd|rd|th)", value)
    odd = any(not c.isalpha() and c not in "-'’" for c in value) or value[1:] not in (
        value[1:].lower(),
        value[1:].upper(),
    )
    if odd:
        return True
    ends = re.match(r"\s*(?:$|[.,;!?)]|and\b|but\b|und\b)", after) is not None
    return sure and ends and not value.lower().endswith(("ed", "ing", "ly"))

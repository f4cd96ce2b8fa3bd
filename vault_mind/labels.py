"""The labelled sets that `eval` measures with, and when a text says a fact. Pure but for reading them."""

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

SETS = ("extraction", "upkeep", "duplicates", "poisoning")
FOLDER = Path(__file__).parent / "labelled"

# Words by which a memory tells the old as past: it says what was, and is no stale one.
_PAST = (
    "used to|no longer|not any ?more|former|formerly|previous|until|moved (?:away )?from|instead of|rather than|ex-"
    "|stopped|quit|gave up|given up|switched from|changed from|left\\b(?! side| hand| knee| ear| foot|-)"
    "|lived|worked|played|drove|owned|studied|smoked|weighed|drank|took|paid|went"
)
_PLAIN = str.maketrans({"’": "'", "ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe"})
_EDGE = "(?<![a-z0-9])"


def _invented(name: str, length: int) -> str:
    """Letters and digits that look as random as those of a real key, the same in every run."""
    return "".join(c.upper() if i % 3 else c for i, c in enumerate(hashlib.sha256(name.encode()).hexdigest()[:length]))


# What stands for a secret in the sets. Put together here, so that no scanner takes one for somebody's.
SECRETS = {
    "{password}": "Wobble" + "_Gnat" + "!74x",
    "{api_key}": "sk-" + "ant-api03-" + _invented("api", 48),
    "{card}": " ".join(["4242"] * 4),  # the number that payment services publish for tests
    "{pin}": "4471",
    "{token}": "ghp" + "_" + _invented("token", 36),
    "{phrase}": "walnut sled orbit tulip fable drift pepper lunar cabin quilt ember sand",
    "{aws_key}": "AKIA" + _invented("aws", 16).upper(),
}


@dataclass(frozen=True)
class Fact:
    """A fact as a label has it: of one of `kinds`, and said by any wording in which each of `says` is met.

    Each of `says` and `but` is a regex of word beginnings ("driv|own" meets "drives", "owner"), met anywhere
    in the text and in any order. Case, accents, the curl of quotes and "n't" for "not" do not matter.
    Where `but` is met as well, the text says something else.
    """

    says: tuple[re.Pattern[str], ...]
    but: re.Pattern[str] | None = None
    kinds: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "; ".join(words.pattern.removeprefix(f"{_EDGE}(?:").removesuffix(")") for words in self.says)

    def said(self, text: str) -> bool:
        """Whether `text` says it."""
        plain = folded(text)
        return all(words.search(plain) for words in self.says) and not (self.but and self.but.search(plain))

    def current(self, text: str) -> bool:
        """Whether `text` says that it holds, not that it once did."""
        past = _beginning(_PAST)
        told_as_past = past.search(folded(text)) and not past.search(str(self))  # "has left" is itself a state
        return self.said(text) and not told_as_past


@dataclass(frozen=True)
class Item:
    """One labelled thing of a set: an exchange, a sequence, a pair or an attack."""

    set: str
    id: str
    group: str  # its class, as "greeting" or "numbers"
    fields: Mapping[str, Any] = field(repr=False)

    @property
    def digest(self) -> str:
        """Changes when the item or its label does."""
        return hashlib.sha256(json.dumps(self.fields, sort_keys=True).encode()).hexdigest()[:12]

    def text(self, name: str, otherwise: str = "") -> str:
        """One of its texts, invented secrets put in."""
        return _with_secrets(str(self.fields.get(name, otherwise)))

    def texts(self, name: str) -> list[str]:
        """A list of texts."""
        return [_with_secrets(text) for text in self.fields.get(name, ())]

    def facts(self, name: str) -> list[Fact]:
        """A list of facts."""
        return [_fact(label) for label in self.fields.get(name, ())]

    def patterns(self, name: str) -> list[re.Pattern[str]]:
        """A list of regexes that a text must not meet, each of word beginnings."""
        return [_beginning(pattern) for pattern in self.fields.get(name, ())]


@cache
def labelled(name: str) -> tuple[Item, ...]:
    """The set of that name, one of SETS, in its order."""
    lines = (FOLDER / f"{name}.jsonl").read_text("utf-8").strip().split("\n")
    return tuple(Item(name, each["id"], each["class"], each) for each in map(json.loads, lines))


def spread(items: Iterable[Item], limit: int | None) -> list[Item]:
    """At most `limit` of `items`, evenly from all of it, so that every class has its part."""
    every = list(items)
    if limit is None or limit >= len(every):
        return every
    return [every[i * len(every) // limit] for i in range(limit)]


def folded(text: str) -> str:
    """`text` as labels see it: no accents, case, invisible characters or curls, and "not" written out."""
    spelt = unicodedata.normalize("NFKD", text).casefold().translate(_PLAIN)
    kept = "".join(c for c in spelt if unicodedata.category(c) not in ("Mn", "Cf"))
    return kept.replace("n't", " not").replace("cannot", "can not")


def meets(patterns: Iterable[re.Pattern[str]], text: str) -> bool:
    """Whether `text` meets one of `patterns`."""
    plain = folded(text)
    return any(pattern.search(plain) for pattern in patterns)


def _fact(label: Mapping[str, Any]) -> Fact:
    but = label.get("but")
    kinds = tuple(label["kind"].split("|")) if "kind" in label else ()
    return Fact(tuple(_beginning(words) for words in label["says"]), _beginning(but) if but else None, kinds)


@cache
def _beginning(pattern: str) -> re.Pattern[str]:
    """A regex that is met at the beginning of a word; where a script has no spaces, anywhere."""
    for name, secret in SECRETS.items():
        pattern = pattern.replace(name, re.escape(folded(secret)))
    return re.compile(rf"{_EDGE}(?:{folded(pattern)})", re.DOTALL)


def _with_secrets(text: str) -> str:
    for name, secret in SECRETS.items():
        text = text.replace(name, secret)
    return text

"""Words of a question that stand near one another in a memory, in the question's order. Pure.

Words are looked for by their beginnings, as far as all their forms share it, in a text that is laid out for
that and neither parsed nor stemmed: so it costs a few microseconds. Scripts without spaces have it in their pairs.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import repeat
from os.path import commonprefix
from typing import NamedTuple

from vault_mind.analysis import LONGEST, folded, terms, unspaced

NEAR = 8  # words from the one to the other; 1: side by side
REACH = 16 * NEAR  # characters, likewise
APART = 3  # places in the question, likewise; the farther, the less it is worth
MOST = 32  # words of a question that are looked for
LAID_OUT = 4_000  # characters of a text that are looked at
SHORT = 2  # characters; a beginning so short says little, so the word must end there

_BETWEEN = re.compile(r"[\W_]+")
_ASCII = str.maketrans({**dict.fromkeys('!"#$%&()+,-*./:;<=>?@[\\]^_`{|}~', " "), "'": None})
_HEAD, _FOOT = "---", "\n---"
_NOTHING = repeat(0.0)


class Sought(NamedTuple):
    """Words of a question in its order: each as it is looked for, and what it counts."""

    beginnings: Sequence[str]
    values: Sequence[float]


def sought(
    telling: Iterable[str], values: Mapping[str, float], language: str, guessed: Mapping[str, Sequence[str]]
) -> Sought:
    """The words of a question of which `values` knows a term, or one that was `guessed` in its place."""
    beginnings: list[str] = []
    counted: list[float] = []
    for word in telling:
        others = guessed.get(word.lstrip("#.")) if guessed else None
        known, beginning = (others, f" {others[0]}") if others else _known(word, language)
        value = values.get(known[0], 0.0) if len(known) == 1 else max(map(values.get, known, _NOTHING), default=0.0)
        if value:
            beginnings.append(beginning)
            counted.append(value)
            if len(counted) == MOST:
                break
    return Sought(beginnings, counted)


def nearness(asked: Sought, laid: str) -> float:
    """What the laid out text has of two words of the question near each other, of all twos together.

    Each two count what the lesser of both does; those with others between them in the question a share of it.
    """
    beginnings, values = asked
    if sum(map(laid.__contains__, beginnings)) < 2:  # as with most texts
        return 0.0
    held = [place for place, beginning in enumerate(beginnings) if beginning in laid]
    total = 0.0
    for at, first in enumerate(held[:-1], 1):
        for second in held[at : at + APART]:
            if second - first <= APART and _near(laid, beginnings[first], beginnings[second]):
                total += min(values[first], values[second]) / (second - first)
    return total


def laid_out(text: str) -> str:
    """What a memory's `text` says below its frontmatter: its words folded, a blank before and behind each."""
    text = text.removeprefix("\ufeff")
    start = max(text.find(_FOOT, len(_HEAD)), 0) + len(_FOOT) if text.startswith(_HEAD) else 0
    return f" {_plain(text[start : start + LAID_OUT])} "


def _near(laid: str, first: str, second: str) -> bool:
    """Whether `second` stands behind `first`, at most NEAR words away."""
    if first == second:
        return False
    at = laid.find(first)
    while at >= 0:
        behind = at + len(first) - 1  # a blank may belong to both
        found = laid.find(second, behind, at + REACH)
        if found >= 0 and laid.count(" ", at + 1, found + 1) <= NEAR:
            return True
        at = laid.find(first, behind)
    return False


def _plain(text: str) -> str:
    if text.isascii():
        return " ".join(text.lower().translate(_ASCII).split())
    return _BETWEEN.sub(" ", folded(text).replace("'", "")).strip()


def _known(word: str, language: str) -> tuple[Sequence[str], str]:
    return _looked_up(word, language) if len(word) <= LONGEST else ((), "")


@lru_cache(maxsize=1 << 12)
def _looked_up(word: str, language: str) -> tuple[Sequence[str], str]:
    """The terms of a word, and how it is looked for: as it is laid out, up to where its forms part."""
    *before, last = _plain(word).split() or ("",)
    shared = (commonprefix((last, term)) for term in terms(last, language))  # noqa: RUF071  # by character, as meant
    beginning = max(shared, key=len, default="")
    if not beginning or unspaced(word) or word[-1] in "+#":  # of C++ and C# nothing would be left but the C
        return (), ""
    return terms(word, language), f" {' '.join((*before, beginning))}{' ' if len(beginning) <= SHORT else ''}"

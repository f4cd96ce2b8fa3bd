"""Which memories may contradict each other, and which a mind says are out of date, checked. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from vault_mind.analysis import query_terms
from vault_mind.decisions import Neighbour
from vault_mind.frames import related, relation

QUOTED = 500  # characters of a memory that are looked at by rule

SCHEMA = {
    "type": "object",
    "properties": {
        "outdated": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"old": {"type": "integer"}, "by": {"type": "integer"}},
                "required": ["old", "by"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["outdated"],
    "additionalProperties": False,
}

# Terms of so many sentences about a user that they make no two of them neighbours.
_COMMON = frozenset(query_terms("user like love enjoy hate prefer want need have own name call thing use"))
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_CLAUSE = re.compile(r"(?<=[.!?])\s+|\n+|[;,]\s|\s(?:and|but|or|und|aber|oder|et|mais|ou|y|pero|o)\s", re.IGNORECASE)


@dataclass(frozen=True)
class Group:
    """Memories that may say something of one thing, each with a number that no other of the request has."""

    number: int
    neighbours: tuple[Neighbour, ...]


def outdated(value: object, groups: Sequence[Group]) -> list[tuple[int, int]]:
    """The pairs (old, by) in a mind's JSON that can be looked at: two numbers of one group, each pair once.

    Where it says of two that each is made out of date by the other, it has not understood, and neither counts.
    """
    items = value.get("outdated") if isinstance(value, dict) else value
    group_of = {one.number: group.number for group in groups for one in group.neighbours}
    found: dict[tuple[int, int], None] = {}
    for item in items if isinstance(items, list) else []:
        old, by = (item.get("old"), item.get("by")) if isinstance(item, dict) else (None, None)
        if type(old) is not int or type(by) is not int or old == by:
            continue
        if old in group_of and group_of[old] == group_of.get(by):
            found[old, by] = None
    return [(old, by) for old, by in found if (by, old) not in found]


def touches(text: str, other: str, language: str, *, wish: bool = False) -> bool:
    """Whether two memories may say something of the same thing: they share words that tell, or a rule says so.

    For a `wish`, and for a sentence of few words, one such word is enough.
    """
    common = _telling(f"{text} {related(text)}", language) & _telling(other, language)
    if len(common) > 1 or (common and (wish or len(_telling(text, language)) <= 4)):
        return True
    return relation(text, other[:QUOTED]) is not None


def all_touched(text: str, by: str, language: str, *, clauses: bool = False) -> bool:
    """Whether every sentence of `text` shares a telling word with `by`; so it says nothing else besides.

    With `clauses` every part of a sentence has to, "and works at the harbour" too.
    """
    parts = [part for part in (_CLAUSE if clauses else _SENTENCE).split(text) if query_terms(part)]
    ours = _telling(f"{by} {related(by)}", language)
    return len(parts) < 2 or all(ours & _telling(part, language) for part in parts)


def shared(old: str, new: str, language: str) -> list[str]:
    """The telling terms that both have, in the order of `old`: a question to which both are an answer."""
    ours = _telling(new, language)
    return [term for term in query_terms(old, language) if term in ours]


@lru_cache(maxsize=1 << 10)  # one memory is held against many others
def _telling(text: str, language: str) -> frozenset[str]:
    return frozenset(query_terms(text, language)) - _COMMON

"""What is to be decided of candidates that touch memories, and what a mind decided, checked. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

ACTIONS = ADD, UPDATE, SUPERSEDE, KNOWN, FORGET = ("add", "update", "supersede", "none", "forget")

SCHEMA = {
    "type": "object",
    "properties": {
        "decisions": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "case": {"type": "integer"},
                    "action": {"type": "string", "enum": list(ACTIONS)},
                    "memories": {"type": "array", "items": {"type": "integer"}},
                },
                "required": ["case", "action", "memories"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["decisions"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Neighbour:
    """A memory that is there, as it is shown to who decides: by a small number, with the day it was made."""

    number: int
    text: str
    kind: str
    date: str


@dataclass(frozen=True)
class Case:
    """A candidate, or (`forget`) what the user asked to have forgotten, beside the memories near it."""

    number: int
    text: str
    kind: str
    forget: bool
    neighbours: tuple[Neighbour, ...]


@dataclass(frozen=True)
class Decision:
    """What a candidate does, and to which neighbours, by their numbers."""

    action: str
    numbers: tuple[int, ...] = ()


def decided(value: object, cases: Sequence[Case]) -> Mapping[int, Decision]:
    """The decisions in a mind's JSON that can be carried out, by the number of their case; of two the first.

    What names another number than those of its case's neighbours, does no known thing, or does
    something to nothing is left out: such a candidate is simply added.
    """
    items = value.get("decisions") if isinstance(value, dict) else value
    known = {case.number: case for case in cases}
    found: dict[int, Decision] = {}
    for item in items if isinstance(items, list) else []:
        if not isinstance(item, dict):
            continue
        number, action, numbers = item.get("case"), item.get("action"), item.get("memories", [])
        if type(number) is not int or number not in known or number in found or not isinstance(action, str):
            continue
        decision = _decision(known[number], action.strip().lower(), numbers)
        if decision:
            found[number] = decision
    return found


def _decision(case: Case, action: str, numbers: object) -> Decision | None:
    if action == ADD and not case.forget:
        return Decision(ADD)
    known = {neighbour.number for neighbour in case.neighbours}
    if not isinstance(numbers, list) or not numbers or not all(type(one) is int and one in known for one in numbers):
        return None
    if action not in ((FORGET, KNOWN) if case.forget else (UPDATE, SUPERSEDE, KNOWN)):
        return None
    return Decision(action, tuple(dict.fromkeys(numbers)))

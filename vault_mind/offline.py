"""The offline mind: answers by quoting what it recalls, learns by plain rules. No key, no network."""

import re
from collections.abc import Iterator

from vault_mind.analysis import query_terms, terms
from vault_mind.decisions import ADD, FORGET, KNOWN, SUPERSEDE, UPDATE, Case
from vault_mind.frames import MEASURES, relation
from vault_mind.memory import Memory
from vault_mind.model import Request, Schema
from vault_mind.statements import statements
from vault_mind.wishes import wishes
from vault_mind.worth import ASKED, MARK

SHOWN = 3  # memories quoted in an answer
FITTING = 0.5  # of the best score; what scores less shares a word by chance
LINES = 6  # of a long note
WIDEST = 200  # characters of a near miss
NOTHING = "I have nothing about that in your memories."
NEAREST = "I have nothing on that in memory. The nearest:"
THANKS = "Thank you for telling me. I have nothing else about that in your memories."

_OF_ANYONE = frozenset(terms("user the their"))

_ASKING = re.compile(
    r"(?:who|what|when|where|why|how|which|whose|do|does|did|is|are|am|was|were|can|could|will|would|should|have|has"
    r"|tell|show|remind|find|search|list|give|look)\b|.*[?？]|.*[^\s.!…]\s*\Z",
    re.IGNORECASE | re.DOTALL,
)


class Offline:
    """The mind that is used when there is no key, or when `--offline` asks for it."""

    name = "offline"

    def reply(self, request: Request) -> Iterator[str]:
        """Quote the best of what was recalled, with its paths; or say plainly that there is nothing."""
        best = max((hit.score for hit in request.recalled), default=0.0)
        fitting = [hit.memory for hit in request.recalled if hit.score >= FITTING * best][:SHOWN]
        if fitting:
            yield "From your memories:\n\n"
            for memory in fitting:
                yield _quoted(memory)
        else:
            yield from _without(request)
        if ASKED in request.system and (statements(request.said) or wishes(request.said)):
            yield MARK

    def value(self, request: Request, schema: Schema) -> object:  # noqa: ARG002  # it knows two shapes only
        """What the message states about its writer and asks to forget, or what the cases do; by rule."""
        if request.cases:
            return {"decisions": [_decision(case) for case in request.cases]}
        return {
            "memories": [{**vars(statement), "tags": []} for statement in statements(request.said)],
            "forget": [vars(wish) for wish in wishes(request.said)],
        }


def _decision(case: Case) -> dict[str, object]:
    """What the rules say of a case: of all that it does to its neighbours the gravest."""
    found: dict[str, list[int]] = {}
    for neighbour in case.neighbours:
        if case.forget:
            said = set(terms(neighbour.text))
            does = FORGET if all(term in said or said & _also(term) for term in _telling(case.text)) else None
        else:
            does = relation(case.text, neighbour.text)
        if does:
            found.setdefault(does, []).append(neighbour.number)
    # What a memory makes untrue goes even where another says the new thing too; what only adds waits behind that.
    action = next((action for action in (FORGET, SUPERSEDE, KNOWN, UPDATE) if action in found), ADD)
    return {"case": case.number, "action": action, "memories": found.get(action, [])}


def _also(term: str) -> set[str]:
    """The terms by which a sentence tells what a wish calls by its name."""
    return {told for name, word in MEASURES.items() if term in terms(name) for told in terms(word)}


def _telling(wish: str) -> list[str]:
    return [term for term in query_terms(wish) if term not in _OF_ANYONE] or [wish]


def _without(request: Request) -> Iterator[str]:
    """What is said where nothing fits: who asked is shown the nearest."""
    if statements(request.said):
        yield THANKS
    elif request.nearest and _ASKING.match(request.said.strip()):
        yield NEAREST + "\n\n"
        for hit in request.nearest[:SHOWN]:
            yield _line(hit.memory)
    else:
        yield NOTHING


def _line(memory: Memory) -> str:
    first = next((line for line in memory.body.splitlines() if line.strip()), memory.title or "(empty)").strip()
    return f"> {first if len(first) <= WIDEST else first[:WIDEST].rstrip() + '…'} — `{memory.path}`\n\n"


def _quoted(memory: Memory) -> str:
    lines = memory.body.strip().splitlines() or ["(empty)"]
    shown = lines if len(lines) <= LINES else [*lines[:LINES], "…"]
    return "\n".join(f"> {line}" for line in shown) + f"\n>\n> — `{memory.path}`\n\n"

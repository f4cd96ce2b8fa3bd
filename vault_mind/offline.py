"""The offline mind: answers by quoting what it recalls, learns by plain rules. No key, no network."""

import re
from collections.abc import Iterator

from vault_mind.memory import Memory
from vault_mind.model import Request, Schema
from vault_mind.statements import statements

SHOWN = 3  # memories quoted in an answer
FITTING = 0.5  # of the best score; what scores less shares a word by chance
LINES = 6  # of a long note
WIDEST = 200  # characters of a near miss
NOTHING = "I have nothing about that in your memories."
NEAREST = "I have nothing on that in memory. The nearest:"
THANKS = "Thank you for telling me. I have nothing else about that in your memories."

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
        if not fitting:
            yield from _without(request)
            return
        yield "From your memories:\n\n"
        for memory in fitting:
            yield _quoted(memory)

    def value(self, request: Request, schema: Schema) -> object:  # noqa: ARG002  # it knows one shape only
        """What the message states about its writer, by rule, in the shape of the extraction schema."""
        return {"memories": [vars(statement) for statement in statements(request.said)]}


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

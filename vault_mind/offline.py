"""The offline mind: answers by quoting what it recalls, learns by plain rules. No key, no network."""

from collections.abc import Iterator

from vault_mind.memory import Memory
from vault_mind.model import Request, Schema
from vault_mind.statements import statements

SHOWN = 3  # memories quoted in an answer
FITTING = 0.5  # of the best score; what scores less shares a word by chance
LINES = 6  # of a long note
NOTHING = "I have nothing about that in your memories."
THANKS = "Thank you for telling me. I have nothing else about that in your memories."


class Offline:
    """The mind that is used when there is no key, or when `--offline` asks for it."""

    name = "offline"

    def reply(self, request: Request) -> Iterator[str]:
        """Quote the best of what was recalled, with its paths; or say plainly that there is nothing."""
        best = max((hit.score for hit in request.recalled), default=0.0)
        fitting = [hit.memory for hit in request.recalled if hit.score >= FITTING * best][:SHOWN]
        if not fitting:
            yield THANKS if statements(request.said) else NOTHING
            return
        yield "From your memories:\n\n"
        for memory in fitting:
            yield _quoted(memory)

    def value(self, request: Request, schema: Schema) -> object:  # noqa: ARG002  # it knows one shape only
        """What the message states about its writer, by rule, in the shape of the extraction schema."""
        return {"memories": [vars(statement) for statement in statements(request.said)]}


def _quoted(memory: Memory) -> str:
    lines = memory.body.strip().splitlines() or ["(empty)"]
    shown = lines if len(lines) <= LINES else [*lines[:LINES], "…"]
    return "\n".join(f"> {line}" for line in shown) + f"\n>\n> — `{memory.path}`\n\n"

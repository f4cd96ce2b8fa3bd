"""Candidates from an exchange: asked of a mind, then checked by the program against the user's words."""

import re
import unicodedata
from dataclasses import dataclass

from vault_mind import prompt
from vault_mind.errors import ModelError
from vault_mind.journal import Exchange
from vault_mind.memory import KINDS
from vault_mind.model import ModelClient

LONGEST = 500  # characters; a memory is one sentence
MOST = 20  # candidates of one exchange

_STRAIGHT = str.maketrans("‘’“”", "''\"\"")  # typographic marks, one for one: minds straighten them

SCHEMA = {
    "type": "object",
    "properties": {
        "memories": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "kind": {"type": "string", "enum": list(KINDS)},
                    "text": {"type": "string"},
                    "quote": {"type": "string"},
                },
                "required": ["kind", "text", "quote"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["memories"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Candidate:
    """A memory that a mind proposed, resting on `quote`: a stretch of the user's message, verbatim."""

    kind: str
    text: str
    quote: str


@dataclass(frozen=True)
class Turned:
    """A proposal that was turned away, and why."""

    text: str
    why: str


def propose(exchange: Exchange, mind: ModelClient) -> tuple[list[Candidate], list[Turned]]:
    """What `mind` would remember of the exchange, checked. Raises ModelError when it gives nothing usable."""
    return checked(mind.value(prompt.proposal(exchange), SCHEMA), exchange.message)


def checked(value: object, message: str) -> tuple[list[Candidate], list[Turned]]:
    """The candidates in a mind's JSON that hold up, and those that do not.

    A candidate stands only on words of `message`; white space and case aside they must be there.
    Raises ModelError for JSON of another shape.
    """
    items = value.get("memories") if isinstance(value, dict) else value
    if not isinstance(items, list):
        raise ModelError("the model's list of memories has another shape", "")
    candidates, turned = [], []
    for item in items[:MOST]:
        fields = [item.get(name) for name in ("kind", "text", "quote")] if isinstance(item, dict) else [None]
        if not all(isinstance(part, str) for part in fields):
            turned.append(Turned(str(item)[:80], "it lacks kind, text or quote"))
            continue
        kind, text, quote = (str(part) for part in fields)
        text, kind = _one_line(text), kind.strip().lower()
        found = verbatim(quote, message)
        if not text or len(text) > LONGEST:
            turned.append(Turned(text[:80], "it is not one sentence"))
        elif kind not in KINDS:
            turned.append(Turned(text, f"{kind!r} is no kind"))
        elif found is None:
            turned.append(Turned(text, "its quote is not in your message"))
        else:
            candidates.append(Candidate(kind, text, found))
    return candidates, turned


def verbatim(quote: str, message: str) -> str | None:
    """The stretch of `message` that `quote` repeats, in whole words; else None.

    White space, case and the curl of quotation marks do not matter.
    """
    words = quote.translate(_STRAIGHT).split()
    if not any(c.isalnum() for c in quote):
        return None
    pattern = r"\s+".join(re.escape(word) for word in words)
    before, after = (
        "" if _unspaced(end) else edge for end, edge in ((words[0][0], r"(?<!\w)"), (words[-1][-1], r"(?!\w)"))
    )
    match = re.search(before + pattern + after, message.translate(_STRAIGHT), re.IGNORECASE)
    return " ".join(message[match.start() : match.end()].split()) if match else None


def _unspaced(character: str) -> bool:
    """Whether a word may stand beside `character` without a space: a sign, or a letter of such a script."""
    return not character.isalnum() or unicodedata.category(character) == "Lo"


def _one_line(text: str) -> str:
    visible = "".join(c if c.isprintable() or c.isspace() else "" for c in text)
    return " ".join(visible.encode("utf-8", "ignore").decode("utf-8").split())

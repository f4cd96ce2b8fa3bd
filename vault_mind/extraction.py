"""Candidates from an exchange: asked of a mind, then checked by the program against the user's words."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from vault_mind import prompt
from vault_mind.dating import dated
from vault_mind.errors import ModelError
from vault_mind.journal import Exchange
from vault_mind.memory import KINDS
from vault_mind.model import ModelClient
from vault_mind.pasted import own
from vault_mind.secrecy import masked
from vault_mind.statements import statements
from vault_mind.support import names_only, objection, stands_alone
from vault_mind.wishes import asks, wishes

LONGEST = 500  # characters; a memory is one sentence
MOST = 20  # candidates of one exchange
MOST_TAGS, LONGEST_TAG = 5, 40  # tags of one candidate; characters of each
MOST_WORDS = 3  # of a new tag

_IN_QUOTES = "The user said: “{}”."

_NEXT_FACT = re.compile(r"(?<=[.!?])\s+(?=The user(?:'s)?\b)")

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
                    "tags": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["kind", "text", "quote", "tags"],
                "additionalProperties": False,
            },
        },
        "forget": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"text": {"type": "string"}, "quote": {"type": "string"}},
                "required": ["text", "quote"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["memories"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Candidate:
    """A memory that a mind proposed, resting on `quote`: a stretch of the user's message, verbatim.

    With `forget` it is no memory but what the user asked, in these words, to have forgotten.
    """

    kind: str
    text: str
    quote: str
    tags: tuple[str, ...] = ()
    forget: bool = False


@dataclass(frozen=True)
class Turned:
    """A proposal that was turned away, and why."""

    text: str
    why: str


def propose(exchange: Exchange, mind: ModelClient, tags: Sequence[str] = ()) -> tuple[list[Candidate], list[Turned]]:
    """What `mind` would remember of the exchange, checked. Raises ModelError when it gives nothing usable.

    `tags` are those that the vault has, offered to be used again.
    """
    value = mind.value(prompt.proposal(exchange, tags), SCHEMA)
    return checked(value, exchange.message, datetime.fromisoformat(exchange.at), exchange.before, tags)


def checked(
    value: object, message: str, at: datetime | None = None, before: str = "", tags: Sequence[str] = ()
) -> tuple[list[Candidate], list[Turned]]:
    """The candidates in a mind's JSON that hold up, and those that do not.

    A candidate stands only on words of `message`; white space and case aside they must be there, and they
    must be the user's own and say what it says (`support`). Where they do not say it, and yet are a
    statement of the user's that stands alone, they themselves are the candidate. What is to be forgotten
    must be asked for by the user's own words. With `at`, the moment of the message, relative dates become
    dates. `before` is the reply that the message followed on, `tags` are those of the vault. Raises
    ModelError for JSON of another shape.
    """
    items = value.get("memories") if isinstance(value, dict) else value
    if not isinstance(items, list):
        raise ModelError("the model's list of memories has another shape", "")
    asked = value.get("forget") if isinstance(value, dict) else None
    candidates: list[Candidate] = []
    turned: list[Turned] = []
    for item in (asked if isinstance(asked, list) else [])[:MOST]:
        wish = _wish(item, message)
        (turned if isinstance(wish, Turned) else candidates).append(wish)  # type: ignore[arg-type]  # each to its own
    wished = [candidate.quote for candidate in candidates]
    unsaid: list[tuple[Candidate, str]] = []
    for item in items[:MOST]:
        found = _candidate(item, message, tags)
        if isinstance(found, Turned):
            turned.append(found)
        elif any(found.quote in quote for quote in wished):
            turned.append(Turned(found.text, "you asked to forget it"))
        else:
            for single in _single(found):
                why = objection(single.text, single.quote, message, before, at)
                if why is None:
                    candidates.append(replace(single, text=dated(single.text, at) if at else single.text))
                else:
                    unsaid.append((single, why))
    told = list(candidates)
    for candidate, why in unsaid:
        said = _in_their_words(candidate, message, at)
        if said is None or _is_told(candidate, said, told) or said.text in {other.text for other in candidates}:
            turned.append(Turned(candidate.text, why))
        else:
            candidates.append(said)
    return candidates, [Turned(masked(one.text)[0], masked(one.why)[0]) for one in turned]


def _in_their_words(candidate: Candidate, message: str, at: datetime | None) -> Candidate | None:
    """What the user says of themselves where the quote stands, told by the program; None where that is in doubt."""
    stated = [one for one in statements(message) if _overlap(one.quote, candidate.quote)]
    if len(stated) == 1 and (quote := verbatim(stated[0].quote, own(message))):
        text = stated[0].text
        return replace(candidate, kind=stated[0].kind, text=dated(text, at) if at else text, quote=quote)
    alone = None if stated else stands_alone(candidate.quote, message, request=candidate.kind == "preference")
    if alone is None or len(alone) > LONGEST - len(_IN_QUOTES):
        return None
    return replace(candidate, text=_IN_QUOTES.format(_one_line(alone).strip(" .")), quote=alone)


def _is_told(candidate: Candidate, said: Candidate, told: Sequence[Candidate]) -> bool:
    """Whether one of those rests on its words: those that were quoted, for a sentence may tell two things.

    What is to be forgotten may be in none of the words around them either.
    """
    return any(_overlap((said if other.forget else candidate).quote, other.quote) for other in told)


def _overlap(one: str, other: str) -> bool:
    """Whether one quote is a part of the other, straight quotation marks and case aside."""
    one, other = (" ".join(quote.translate(_STRAIGHT).casefold().split()) for quote in (one, other))
    return one in other or other in one


def _candidate(item: object, message: str, tags: Sequence[str]) -> Candidate | Turned:
    fields = [item.get(name) for name in ("kind", "text", "quote")] if isinstance(item, dict) else [None]
    if not isinstance(item, dict) or not all(isinstance(part, str) for part in fields):
        return Turned(str(item)[:80], "it lacks kind, text or quote")
    kind, text, quote = (str(part) for part in fields)
    text, kind = _one_line(text), kind.strip().lower()
    found = verbatim(quote, message)
    if not text or len(text) > LONGEST:
        return Turned(text[:80], "it is not one sentence")
    if kind not in KINDS:
        return Turned(text, f"{kind!r} is no kind")
    if found is None:
        return Turned(text, "its quote is not in your message")
    return Candidate(kind, text, found, _tags(item.get("tags"), tags))


def _wish(item: object, message: str) -> Candidate | Turned:
    text, quote = (item.get("text"), item.get("quote")) if isinstance(item, dict) else (None, None)
    if not isinstance(text, str) or not isinstance(quote, str) or not _one_line(text):
        return Turned(str(item)[:80], "it lacks text or quote")
    text, found = _one_line(text)[:LONGEST], verbatim(quote, message)
    wish = next((wish for wish in wishes(message) if found and _overlap(wish.quote, found)), None)
    if found is None or wish is None or not asks(message, found):
        return Turned(text, "you did not ask to forget it")
    if not names_only(text, message):
        text = wish.text  # whatever else the mind would have gone
    return Candidate("", text, found, forget=True)


def _single(candidate: Candidate) -> list[Candidate]:
    """A candidate for each sentence of it about the user, where there are several."""
    texts = _NEXT_FACT.split(candidate.text)
    return [replace(candidate, text=text) for text in texts]


def _tags(proposed: object, known: Sequence[str] = ()) -> tuple[str, ...]:
    """The tags that Obsidian takes, in small letters: letters, digits, - _ and /, not digits alone.

    One that the vault does not have yet is a plain word or two: a sentence is no tag.
    """
    names = [item for item in proposed if isinstance(item, str)] if isinstance(proposed, list) else []
    clean = (re.sub(r"[^\w/-]+", "-", name.strip().lstrip("#").casefold()).strip("-/_") for name in names)
    fitting = [tag for tag in clean if re.search(r"[^\W\d_]", tag) and len(tag) <= LONGEST_TAG]
    plain = (tag for tag in fitting if tag in known or len(re.split("[-_]", tag)) <= MOST_WORDS)
    return tuple(dict.fromkeys(plain))[:MOST_TAGS]


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

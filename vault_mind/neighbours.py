"""The memories nearest to a sentence: those that may say the same, or something of the same thing."""

from datetime import datetime

from vault_mind.index import Index
from vault_mind.memory import Memory

NEAR = 50  # memories looked at; copies of one are among them


def near(text: str, index: Index, now: datetime) -> list[Memory]:
    """The memories nearest to `text`, best first, of what the last sync found."""
    from vault_mind.frames import related  # late: what is plainly new is compared with nothing

    hits = index.ranked(text, NEAR, now=now)
    more = related(text)  # "moved to" is said by no memory that says "lives in"
    if more:
        hits += index.ranked(f"{text} {more}", NEAR, now=now)
    return list({hit.memory.path: hit.memory for hit in hits}.values())

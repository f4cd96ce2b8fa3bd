"""One memory as a row of the index: all that is kept of it, worked out once, wherever that is done."""

from typing import NamedTuple

from vault_mind.memory import Memory
from vault_mind.query import folded, written_at
from vault_mind.ranking import language_of, link_targets, searched_terms

CURRENT, ASIDE, EXPIRING, ABSENT = range(4)  # states; whether an expiring one is current depends on the moment


class Row(NamedTuple):
    """What is kept of one memory. `terms` are joined by blanks, `length` is how many they are."""

    path: str
    hash: bytes
    text: bytes
    fault: str | None
    conflict: str | None
    terms: str
    length: int
    state: int
    stem: str
    kind: str
    source: str
    tags: str
    made: float | None
    chat: str | None
    lang: str | None
    pinned: bool
    links: tuple[str, ...]


def digest(memory: Memory) -> bytes:
    """A hash of what was read, 16 bytes."""
    from hashlib import blake2b  # late: it loads OpenSSL, and a search reads no file

    hashed = blake2b(memory.text.encode("utf-8", "replace"), digest_size=16)
    if memory.fault:
        hashed.update(memory.fault.encode())
    if memory.conflict:
        hashed.update(b"\0" + memory.conflict.encode())
    return hashed.digest()


def row(memory: Memory, language: str, hashed: bytes) -> Row:
    """The row of `memory` in a vault of that `language`."""
    terms = searched_terms(memory, language)
    written = written_at(memory)
    return Row(
        memory.path,
        hashed,
        memory.text.encode("utf-8", "replace"),
        memory.fault,
        memory.conflict,
        " ".join(terms),
        len(terms),
        ASIDE if memory.aside else EXPIRING if memory.expires_at else CURRENT,
        memory.stem.casefold(),
        folded(memory.kind),
        folded(memory.source or ""),
        "\n".join(map(folded, memory.tags)),
        written.timestamp() if written else None,
        memory.chat,
        (language_of(memory, "") or None) if memory.lang else None,
        memory.pinned,
        link_targets(memory) if "[[" in memory.text else (),
    )

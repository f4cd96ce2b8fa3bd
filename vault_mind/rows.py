"""One memory as a row of the index: all that is kept of it, worked out once, wherever that is done."""

from binascii import crc_hqx
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from zlib import crc32

from vault_mind.memory import Memory
from vault_mind.query import folded, written_at
from vault_mind.ranking import joined_terms, language_of, link_targets

CURRENT, ASIDE, EXPIRING, ABSENT = range(4)  # states; whether an expiring one is current depends on the moment

Label = tuple[str, str, str, bool]


class Row(NamedTuple):
    """What is kept of one memory. `terms` are joined by blanks, `length` is how many they are.

    Of its stem, its chat and the names that it links to only the keys are kept. `label` is kind, source,
    language, and whether it is pinned: there are few of them.
    """

    text: bytes
    terms: str
    path: str
    fault: str | None
    conflict: str | None
    length: int
    state: int
    stem: int
    label: Label
    tags: str
    made: float | None
    chat: int | None
    links: tuple[int, ...]


def digest(memory: Memory) -> bytes:
    """A hash of what was read, 16 bytes."""
    return hashed(memory.text.encode("utf-8", "replace"), memory.fault, memory.conflict)


def hashed(text: bytes, fault: str | None, conflict: str | None) -> bytes:
    """The digest of a memory of that text, as its row keeps it."""
    from hashlib import blake2b  # late: it loads OpenSSL, and a search reads no file

    found = blake2b(text, digest_size=16)
    if fault:
        found.update(fault.encode())
    if conflict:
        found.update(b"\0" + conflict.encode())
    return found.digest()


def key(name: str) -> int:
    """47 bits that stand for `name` where names are only compared; of a million, no two are likely the same.

    Names that differ within five bytes in a row, as numbered ones do, never share one: so checksums are made.
    """
    data = name.encode("utf-8", "surrogatepass")
    return (crc32(data) << 16 | crc_hqx(data, 0)) >> 1


def stem_key(path: str) -> int:
    """The key of a memory's stem, which is that of every name that links to it."""
    return key(path.rpartition("/")[2].rpartition(".")[0].casefold())


def row(memory: Memory, language: str) -> Row:
    """The row of `memory` in a vault of that `language`."""
    return rows([memory], language)[0]


def rows(memories: Sequence[Memory], language: str) -> list[Row]:
    """The rows of `memories` in a vault of that `language`.

    Each step is taken for all of them before the next: so a processor keeps at hand what it looks words up in.
    """
    written = [written_at(memory) for memory in memories]
    terms = [joined_terms(memory, language) for memory in memories]
    return list(map(_row, memories, terms, written))


def _row(memory: Memory, terms: str, written: datetime | None) -> Row:
    return Row(
        memory.text.encode("utf-8", "replace"),
        terms,
        memory.path,
        memory.fault,
        memory.conflict,
        terms.count(" ") + 1 if terms else 0,
        ASIDE if memory.aside else EXPIRING if memory.expires_at else CURRENT,
        stem_key(memory.path),
        (
            folded(memory.kind),
            folded(memory.source or ""),
            language_of(memory, "") if memory.lang else "",
            memory.pinned,
        ),
        "\n".join(map(folded, memory.tags)),
        written.timestamp() if written else None,
        key(memory.chat) if memory.chat else None,
        tuple(map(key, link_targets(memory))) if "[[" in memory.text else (),
    )

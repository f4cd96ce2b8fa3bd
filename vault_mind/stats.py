"""What a vault holds, counted."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from vault_mind.memory import Memory


@dataclass(frozen=True)
class Stats:
    """Counts over a vault; the mappings are from name to number of memories, most first."""

    memories: int
    words: int
    kinds: Mapping[str, int]
    sources: Mapping[str, int]
    tags: Mapping[str, int]
    superseded: int
    expired: int
    pinned: int
    oldest: datetime | None
    newest: datetime | None


def count(memories: Iterable[Memory], now: datetime) -> Stats:
    """Count `memories` as they stand at `now`."""
    held = list(memories)
    dates = sorted(memory.created_at for memory in held if memory.created_at)
    return Stats(
        memories=len(held),
        words=sum(len(memory.body.split()) for memory in held),
        kinds=_counted(memory.kind for memory in held),
        sources=_counted(memory.source or "none given" for memory in held),
        tags=_counted(tag for memory in held for tag in memory.tags),
        superseded=sum(memory.superseded for memory in held),
        expired=sum(bool(memory.expires_at and memory.expires_at <= now) for memory in held),
        pinned=sum(memory.pinned for memory in held),
        oldest=dates[0] if dates else None,
        newest=dates[-1] if dates else None,
    )


def _counted(names: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(names).items(), key=lambda pair: (-pair[1], pair[0])))

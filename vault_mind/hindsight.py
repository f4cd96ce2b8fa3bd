"""What the vault said at a moment: by its versions where they reach back, else by the dates that memories give."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from vault_mind.errors import AmbiguousNameError, MemoryNotFoundError
from vault_mind.history import History, Version
from vault_mind.memory import Memory, decoded, moment, parse
from vault_mind.past import memories_at, tree_at
from vault_mind.query import written_at
from vault_mind.vault import meant


@dataclass(frozen=True)
class Hindsight:
    """The memories of a moment by path, and the version that they are from; None: told by their dates alone."""

    at: datetime
    memories: tuple[Memory, ...]
    version: Version | None

    def named(self, name: str) -> Memory:
        """The memory that `name` meant then: its path, its stem, or a part that only it had.

        Raises MemoryNotFoundError and AmbiguousNameError.
        """
        held = {memory.path: memory for memory in self.memories}
        if name in held:
            return held[name]
        for found in meant(name.strip().removeprefix("./"), sorted(held)) if name.strip() else ():
            if len(found) == 1:
                return held[found[0]]
            if found:
                raise AmbiguousNameError(name, found)
        raise MemoryNotFoundError(name)


def as_of(history: History, today: Iterable[Memory], at: datetime) -> Hindsight:
    """The vault at that moment; `today` are its memories as they are, which are asked where no version is that old."""
    version = tree_at(history, at)
    if version is None:
        return Hindsight(at, tuple(_by_dates(today, at)), None)
    found = (parse(path, *decoded(data)) for path, data in memories_at(history, version.id))
    return Hindsight(at, tuple(sorted(found, key=lambda memory: memory.path)), version)


def current(held: Hindsight) -> Iterator[Memory]:
    """Those that recall could use then."""
    for memory in held.memories:
        ended = memory.superseded and (held.version is not None or _ended(memory, held.at))
        expired = memory.expires_at is not None and memory.expires_at <= held.at
        if not (ended or expired or memory.conflict or memory.unmerged):
            yield memory


def _by_dates(memories: Iterable[Memory], at: datetime) -> Iterator[Memory]:
    for memory in memories:
        written = written_at(memory)
        if written is None or written <= at:
            yield memory


def _ended(memory: Memory, at: datetime) -> bool:
    """Whether it was superseded by then; one that does not say when always was."""
    said = memory.frontmatter.get("superseded_at")
    ended = moment(said) if isinstance(said, str) else None
    return ended is None or ended <= at

"""What the user asks to be remembered: written as it is, at once, and once. No mind is asked."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from vault_mind import unchanged
from vault_mind.errors import MemoryNotFoundError, PathRefusedError, UnreadableError
from vault_mind.index import Index
from vault_mind.memory import Memory
from vault_mind.neighbours import near
from vault_mind.reconcile import sure_terms, twin
from vault_mind.record import Record, headline, once
from vault_mind.vault import FOLDER, Problem, Vault
from vault_mind.withheld import Withheld


class Remembered(NamedTuple):
    """What came of it: the memory, and whether it is `new` or said so already.

    `news` are problems that looking for it met, and what was masked; `uncommitted` says why it is in no version yet.
    """

    memory: Memory
    new: bool
    news: tuple[Problem, ...] = ()
    uncommitted: tuple[str, ...] = ()


class Remembering:
    """A vault that things are to be remembered in; `withheld` is the user's say on what is never kept."""

    def __init__(self, vault: Vault, index: Index, record: Record, withheld: Withheld) -> None:
        self._vault, self._index, self._record, self._withheld = vault, index, record, withheld

    def remember(self, text: str, *, kind: str, tags: Sequence[str], now: datetime) -> Remembered:
        """Write `text` as a memory, unless one says it already, word for word or nearly.

        Raises WithheldError for what the user's settings keep out.
        """
        text, found = self._withheld.checked(kind, text, tags)
        news: list[Problem] = []
        with self._record.turn() as begun:
            memory, new = self._written(text, kind, tags, now, news)
            told = self._record.write([memory.path], [headline(memory)], {"Source": "user"}) if new else ()
        if new and found:
            news.append(Problem(memory.path, f"{' and '.join(found)} in it was masked"))
        return Remembered(memory, new, tuple(news), once(begun, told))

    def _written(
        self, text: str, kind: str, tags: Sequence[str], now: datetime, news: list[Problem]
    ) -> tuple[Memory, bool]:
        """The memory, and whether it is new: looking for a twin and writing are one step among processes.

        To look takes long, so that is done before the vault is locked, and again only if another wrote meanwhile.
        """
        folder = f"{self._vault.root}/{FOLDER}"
        before = unchanged.noted(folder)
        known = self._twin(text, now, news)
        with self._vault.lock():
            if not unchanged.still(folder, before) or (known is not None and not self._holds(known)):
                known = self._twin(text, now, news)
            if known is not None:
                return known, False
            return self._vault.save(text, kind=kind, source="user", created_at=now, tags=tags), True

    def _twin(self, text: str, now: datetime, news: list[Problem]) -> Memory | None:
        """The memory that says it already, of the files as they are now."""
        news += self._index.sync().news
        language = self._index.language
        sure = sure_terms(text, language)
        if sure and not self._index.may_hold(sure):
            return None  # most of what somebody wants to be remembered: there is nothing to compare it with
        return twin(text, near(text, self._index, now), threshold=1.0, language=language)

    def _holds(self, known: Memory) -> bool:
        """Whether the file of a memory says what was read."""
        try:
            return self._vault.read(known.path).text == known.text
        except (MemoryNotFoundError, UnreadableError, PathRefusedError):
            return False

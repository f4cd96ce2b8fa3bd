"""Search by meaning beside search by words: an embedder, the vectors that it made, and what to do without it."""

import logging
import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path

from vault_mind.embedding import Embedder, embed_missing, need_numpy
from vault_mind.errors import EmbeddingError, SettingsError
from vault_mind.memory import Memory
from vault_mind.ranking import day_in_words
from vault_mind.vectors import Vectors, kept_names, key, remove_others

NEAREST = 200  # memories that are looked at for their meaning alone

log = logging.getLogger(__name__)

Progress = Callable[[int, int], None]


class Meaning:
    """The meanings of one vault's memories, in `folder`.

    The embedder is opened when first needed. When that fails, or it does, `trouble` says why, and
    search goes on by words alone.
    """

    def __init__(self, name: str, open_it: Callable[[], Embedder], folder: Path) -> None:
        self.name, self._open, self._folder = name, open_it, folder
        self.trouble: str | None = None
        self._embedder: Embedder | None = None
        self._vectors: Vectors | None = None

    @property
    def vectors(self) -> Vectors:
        """What has been embedded so far. Raises EmbeddingError without numpy, before any text is sent anywhere."""
        if self._vectors is None:
            need_numpy()
            self._vectors = Vectors(self._folder, self.name)
        return self._vectors

    def cosines(self, question: str, keys: Iterable[bytes]) -> dict[bytes, float]:
        """How near the texts of `keys`, and the nearest of all, are to `question`; nothing when that cannot be told."""
        try:
            vectors = self.vectors
            asked = self._opened().embed([question], query=True)[0]
            found = {**dict(vectors.nearest(asked, NEAREST)), **vectors.scores(asked, keys)}
        except (EmbeddingError, SettingsError) as error:
            self._failed(error)
            return {}
        self.trouble = None
        return found

    @staticmethod
    def text_of(memory: Memory) -> tuple[bytes, str]:
        """What is embedded of `memory`, after the key under which its vector is kept."""
        title = memory.title if memory.title != memory.stem else ""
        parts = (title, *memory.aliases, *memory.tags, memory.body or memory.text, day_in_words(memory))
        text = "\n".join(part for part in parts if part)
        return key(text), text

    def missing(self, keys: Iterable[bytes]) -> list[bytes]:
        """Those of `keys` that have not been embedded."""
        return self.vectors.missing(keys)

    def embed(
        self, texts: Mapping[bytes, str], progress: Progress | None = None, stop: threading.Event | None = None
    ) -> int:
        """Make the vectors that are missing of `texts`; how many were made. Raises EmbeddingError and SettingsError."""
        made = embed_missing(self.vectors, self._opened(), texts, progress, stop)
        self.trouble = None
        return made

    def tidy(self, keys: Iterable[bytes]) -> None:
        """Forget every vector but those of `keys`, and of other embedders all; what was forgotten leaves the disk."""
        self.vectors.keep_only(set(keys))
        remove_others(self._folder, self.name)

    def forget(self, keys: Iterable[bytes]) -> None:
        """Forget every vector but those of `keys`, whatever embedder made it."""
        forget_vectors(self._folder, set(keys))

    def close(self) -> None:
        """Let go of the model or the connection."""
        if self._embedder:
            self._embedder.close()

    def _opened(self) -> Embedder:
        if self._embedder is None:
            self._embedder = self._open()
        return self._embedder

    def _failed(self, error: Exception) -> None:
        log.info("no meaning", exc_info=error)
        self.trouble = str(error)


def forget_vectors(folder: Path, keys: Collection[bytes]) -> None:
    """Forget every vector in `folder` but those of `keys`, whatever embedder made it. Raises EmbeddingError."""
    need_numpy()
    for name in kept_names(folder):
        Vectors(folder, name).keep_only(keys)

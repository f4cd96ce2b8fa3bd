"""The index: brought up to date with the files before every search, and thrown away at any time."""

from _thread import RLock  # threading loads as long as a small search takes
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from vault_mind.config import cache_folder
from vault_mind.errors import BusyError, WriteFailedError
from vault_mind.generation import DamagedError
from vault_mind.listing import begun
from vault_mind.memory import Memory
from vault_mind.postings import Postings
from vault_mind.query import Query, plain
from vault_mind.ranking import Explanation, Hit
from vault_mind.rows import digest
from vault_mind.search import Search
from vault_mind.sync import BATCH, Progress, Sync, Synced
from vault_mind.vault import Vault

if TYPE_CHECKING:
    import threading

    from vault_mind.meaning import Meaning
    from vault_mind.regex import Line, Pattern

FEW = 8  # memories that are asked for where one would do: the first may be another process's, half stored
TRIES = 20  # times that a damaged index is made anew before we give up

T = TypeVar("T")


class Index:
    """The index of one vault, by default in the user's cache. What it answers is true at that moment.

    With `meaning`, search is by meaning as well.
    """

    def __init__(
        self,
        vault: Vault,
        *,
        language: str = "english",
        folder: Path | None = None,
        meaning: "Meaning | None" = None,
    ) -> None:
        self.vault, self.language, self.meaning = vault, language, meaning
        self._postings = Postings(folder or cache_folder(vault.root), language)
        self._sync = Sync(vault, self._postings, language)
        self._search = Search(self._postings, language, meaning)
        self._turn = RLock()  # of the threads that share this index; what they would share below has no lock

    @property
    def folder(self) -> Path:
        """Where it lives."""
        return self._postings.folder

    def search(self, query: str | Query, k: int, *, past: bool = False, now: datetime | None = None) -> list[Hit]:
        """Sync, then the `k` memories that best match `query`, as `ranking.rank` gives them."""
        self.sync()
        return self.ranked(query, k, past=past, now=now)

    def ranked(self, query: str | Query, k: int, *, past: bool = False, now: datetime | None = None) -> list[Hit]:
        """As `search`, of what the last sync found."""
        read = plain(query) if isinstance(query, str) else query
        moment = now or datetime.now().astimezone()
        ask = self._search.ranked if read.ranks else self._search.listed
        return self._mended(lambda: ask(read, max(k, 0), moment, past=past)) if k > 0 else []

    def explained(
        self, query: str | Query, hits: Sequence[Hit], *, past: bool = False, now: datetime | None = None
    ) -> list[Explanation]:
        """Where the scores of `hits` come from, which `ranked` just gave for `query`."""
        read = plain(query) if isinstance(query, str) else query
        moment = now or datetime.now().astimezone()
        if not read.ranks:
            return [Explanation(()) for _ in hits]
        return self._mended(lambda: self._search.explained(read, hits, moment, past=past))

    def guesses(self, query: Query, now: datetime | None = None) -> Mapping[str, Sequence[str]]:
        """The words of `query` that no memory of the last sync holds, each with the terms looked for instead."""
        moment = now or datetime.now().astimezone()
        return self._mended(lambda: self._search.guesses(query, moment)) if query.ranks else {}

    def embed(self, progress: Progress | None = None, stop: "threading.Event | None" = None) -> int:
        """Sync, then make every vector that is missing and forget those no memory needs; how many were made.

        Raises EmbeddingError and SettingsError; what was made until then, or until `stop`, stays.
        """
        meaning = self.meaning
        if meaning is None:
            return 0
        self.sync()
        return self._mended(lambda: self._embedded(meaning, progress, stop))

    def meanings(self) -> set[bytes]:
        """The keys of the vectors that memories of the last sync have or wait for."""
        statement = "SELECT DISTINCT key FROM meanings"
        return self._mended(lambda: {bytes(key) for (key,) in self._postings.rows(statement)})

    def waiting(self) -> int:
        """How many memories have no vector yet; 0 without `meaning`."""
        meaning = self.meaning
        return self._mended(lambda: self._unembedded(meaning)) if meaning else 0

    def grep(self, pattern: "Pattern") -> "Iterator[tuple[Memory, Sequence[Line]]]":
        """Sync, then every memory with lines that match `pattern`, by path."""
        self.sync()
        return self.grepped(pattern)

    def grepped(self, pattern: "Pattern") -> "Iterator[tuple[Memory, Sequence[Line]]]":
        """As `grep`, of what the last sync found."""
        yield from self._mended(lambda: self._search.grepped(pattern))

    def look_ahead(self) -> bool:
        """Refresh without a sync, where another process is at work on the vault's listing; whether it is.

        What is found now is true if the next sync finds that this is how things are: see `state`.
        """
        if begun() and not self.unmade:
            with suppress(DamagedError, WriteFailedError):  # the sync will see to it
                self._postings.refresh()
                return True
        return False

    def state(self) -> tuple[str, int]:
        """What the last refresh opened: as long as it is the same, so is every answer."""
        return self._mended(self._postings.state)

    def memories(self) -> Iterator[Memory]:
        """Every memory that the last sync found, by path."""
        return iter(self._selected("ORDER BY path"))

    def at(self, paths: Sequence[str]) -> list[Memory]:
        """Those of `paths` that the last sync found."""
        known = self._mended(lambda: self._postings.known(paths))
        return list(self._mended(lambda: self._postings.numbered([number for number, _ in known.values()])).values())

    def listings(self) -> dict[str, bytes]:
        """Of each folder ('' or 'a/b/') the packed listing of what the last sync took in; mark 0: to be read again."""
        return self._mended(self._postings.listings)

    def digests(self, paths: Sequence[str] | None = None) -> dict[str, bytes]:
        """Of each of `paths` that the last sync found (None: of everything) a hash of what was read."""
        if paths is None:
            return self._mended(self._postings.digests)
        return {path: found for path, (_, found) in self._mended(lambda: self._postings.known(paths)).items()}

    def pinned(self) -> list[Memory]:
        """The pinned memories that the last sync found, by path."""
        return self._selected("WHERE label IN (SELECT id FROM labels WHERE pinned) ORDER BY path")

    def named(self, path: str) -> list[str]:
        """The paths of the last sync whose name, folders left out, is that of `path`, in any case."""
        stem = path.rpartition("/")[2].removesuffix(".md")
        return self._mended(lambda: list(self._postings.named(stem)))

    def may_hold(self, terms: Sequence[str]) -> bool:
        """Whether a memory of the last sync may hold all `terms`, as the vault's language stems them; no is certain."""

        def look() -> bool:
            if self._postings.languages():  # a memory in another one has other terms
                return True
            found = self._postings.propose({terms[0]: 1.0}, FEW, needed=[[[term]] for term in terms])
            return bool(found.hits) or not found.whole

        return not terms or self._mended(look)

    def labels(self) -> tuple[list[str], list[str]]:
        """The kinds and the tags of the memories that the last sync found, in lower case, those of most first."""

        def counted(statement: str) -> list[str]:
            rows = self._postings.rows(statement)
            counts: Counter[str] = Counter()
            for labels, count in rows:
                counts.update(dict.fromkeys((labels or "").split("\n"), count))
            return [label for label, _ in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])) if label]

        kinds = "SELECT kind, count(*) FROM files JOIN labels ON labels.id = label GROUP BY kind"
        tags = "SELECT tags, count(*) FROM files GROUP BY tags"
        return self._mended(lambda: (counted(kinds), counted(tags)))

    def sync(self, progress: Progress | None = None) -> Synced:
        """Bring the index up to date with the files; `progress(done, of)` is called as it goes."""
        return self._mended(lambda: self._sync.run(progress))

    def rebuild(self, progress: Progress | None = None) -> Synced:
        """Throw the index away and make it anew. Raises WriteFailedError when the disk has no room for it."""

        def anew() -> Synced:
            with self._postings.alone():
                self._postings.renew()
                return self._sync.run(progress)

        return self._mended(anew, anywhere=False)

    @property
    def unmade(self) -> bool:
        """Whether there is none on disk yet that we can read: the first sync may take long."""
        return self._postings.unmade

    @property
    def moved_out(self) -> str | None:
        """Why it lives in a temporary folder, as long as this process; None when it lives where it should."""
        return self._postings.moved_out

    @property
    def remade(self) -> str | None:
        """Why what was on disk had to be made anew since this was opened; None when it was sound, or not there."""
        return self._postings.remade

    def verified(self) -> dict[str, bytes]:
        """As `digests` of everything, once more of the texts as they are kept; damage met on the way is mended."""
        return self._mended(self._verified)

    def size(self) -> int:
        """Bytes on disk."""
        return self._postings.size()

    def close(self) -> None:
        """Let go of the files and of the embedder; the next call opens them again."""
        self._postings.close()
        if self.meaning:
            self.meaning.close()

    def _selected(self, clauses: str) -> list[Memory]:
        return self._mended(lambda: list(self._postings.memories(clauses)))

    def _mended(self, use: Callable[[], T], *, anywhere: bool = True) -> T:
        """What `use` gives; over damaged files they are made anew and it is tried again.

        Where they cannot be made, or somebody holds them for too long, a temporary folder does, if they may be
        `anywhere`. Of the threads that share this index one at a time: what is being made anew would answer
        another as an empty vault does.
        """
        with self._turn:
            return self._tried_anywhere(use, anywhere=anywhere)

    def _tried_anywhere(self, use: Callable[[], T], *, anywhere: bool) -> T:
        try:
            return self._tried(use)
        except (BusyError, WriteFailedError) as error:
            if not anywhere or not self._postings.move_out(str(error)):
                raise
            _tell("the index is kept in a temporary folder", error)
            first: Exception = error
        try:
            self._tried(lambda: self._sync.run(None))
            return self._tried(use)
        except WriteFailedError:  # nor there: what is to be mended is the first place
            raise first from None

    def _tried(self, use: Callable[[], T]) -> T:
        why = ""
        for _ in range(TRIES):
            try:
                if why:  # first made whole: what was only begun would answer as an empty vault does
                    self._remake(why)
                return use()
            except DamagedError as error:  # or somebody else deletes it meanwhile, or the disk is full
                _tell("the index is damaged", error)
                why = str(error) or "it cannot be read"
        raise WriteFailedError(str(self.folder), f"the index cannot be made: {why}")

    def _remake(self, why: str) -> None:
        """Make the index anew, unless somebody has, and bring it up to date."""
        with self._postings.alone():
            if not self._postings.replaced():
                self._postings.remade = why
                self._postings.renew()
            self._sync.run(None)

    def _verified(self) -> dict[str, bytes]:
        for (said,) in self._postings.rows("PRAGMA quick_check(1)"):
            if said != "ok":
                raise DamagedError(str(said))
        return {memory.path: digest(memory) for memory in self._postings.memories("")}

    def _embedded(self, meaning: "Meaning", progress: Progress | None, stop: "threading.Event | None") -> int:
        fresh = self._postings.without_meaning()
        for start in range(0, len(fresh), BATCH):
            held = self._postings.numbered(fresh[start : start + BATCH])
            self._postings.note_meanings(
                {number: (memory, meaning.text_of(memory)[0]) for number, memory in held.items()}
            )
        keys = [bytes(key) for (key,) in self._postings.rows("SELECT DISTINCT key FROM meanings")]
        made = 0
        for _ in range(2):  # a model that has changed has everything embedded anew: what was not missing now is
            missing = meaning.missing(keys)
            for start in range(0, len(missing), BATCH):
                numbers = self._postings.meant(missing[start : start + BATCH])
                held = self._postings.numbered(list(numbers))
                made += meaning.embed(dict(map(meaning.text_of, held.values())), progress, stop)
        if meaning.missing(keys):  # stopped, or a text that the model cannot take: what others made is still of use
            meaning.forget(keys)
        else:
            meaning.tidy(keys)
        return made

    def _unembedded(self, meaning: "Meaning") -> int:
        noted = [bytes(key) for (key,) in self._postings.rows("SELECT key FROM meanings")]
        return len(self._postings.without_meaning()) + len(meaning.missing(noted))


def _tell(what: str, error: Exception) -> None:
    import logging  # late: nothing is told of an index that is sound

    logging.getLogger(__name__).info(what, exc_info=error)

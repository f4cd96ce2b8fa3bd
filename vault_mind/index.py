"""The index: brought up to date with the files before every search, and thrown away at any time.

`sync` compares each file's status with what was indexed. tantivy proposes the best candidates;
their scores are then computed by `ranking.score` from exact statistics, so that the index and the
reference agree.
"""

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

from vault_mind.analysis import query_terms, terms
from vault_mind.config import cache_folder
from vault_mind.errors import MemoryNotFoundError, PathRefusedError, UnreadableError, WriteFailedError
from vault_mind.memory import Memory, parse
from vault_mind.postings import DamagedError, Postings, Row
from vault_mind.ranking import Hit, score
from vault_mind.regex import Line, Pattern
from vault_mind.vault import Problem, Status, Vault, Walk

RACY = 2_000_000_000  # ns; a file that was this young when read may have changed within one tick of its clock
CANDIDATES = 200  # memories that tantivy proposes and that are then scored exactly
ROUNDING = 1.13  # tantivy keeps a length in one byte; so far its score may be off
TRIES = 20  # times that a damaged index is made anew before we give up
BATCH = 2_000  # files between two commits of a long sync, which may be interrupted

log = logging.getLogger(__name__)

T = TypeVar("T")
Keep = Callable[[Memory], bool]
Progress = Callable[[int, int], None]


def _every(_: Memory) -> bool:
    return True


@dataclass(frozen=True)
class Synced:
    """What a sync found: files new or changed, files gone, and problems that were not told before."""

    changed: int
    gone: int
    news: tuple[Problem, ...]


class Index:
    """The index of one vault, by default in the user's cache. What it answers is true at that moment."""

    def __init__(self, vault: Vault, *, language: str = "english", folder: Path | None = None) -> None:
        self.vault = vault
        self._language = language
        self._postings = Postings(folder or cache_folder(vault.root), language)

    @property
    def folder(self) -> Path:
        """Where it lives."""
        return self._postings.folder

    def search(self, query: str, k: int, *, keep: Keep = _every) -> list[Hit]:
        """Sync, then the `k` memories that best match any term of `query`, as `ranking.rank` gives them."""
        self.sync()
        return self.ranked(query, k, keep=keep)

    def ranked(self, query: str, k: int, *, keep: Keep = _every) -> list[Hit]:
        """As `search`, of what the last sync found."""
        wanted = query_terms(query, self._language)
        return self._mended(lambda: self._ranked(wanted, k, keep))

    def grep(self, pattern: Pattern) -> Iterator[tuple[Memory, list[Line]]]:
        """Sync, then every memory with lines that match `pattern`, by path."""
        self.sync()
        return self.grepped(pattern)

    def grepped(self, pattern: Pattern) -> Iterator[tuple[Memory, list[Line]]]:
        """As `grep`, of what the last sync found."""
        for memory in self.memories():
            if lines := list(pattern.lines(memory.text.removeprefix("\ufeff"))):
                yield memory, lines

    def memories(self) -> Iterator[Memory]:
        """Every memory that the last sync found, by path."""
        rows = self._mended(lambda: list(self._postings.rows("SELECT path, text, fault FROM files ORDER BY path")))
        return (parse(path, text, fault) for path, text, fault in rows)

    def pinned(self) -> list[Memory]:
        """The pinned memories that the last sync found, by path."""
        statement = "SELECT path, text, fault FROM files WHERE pinned ORDER BY path"
        rows = self._mended(lambda: list(self._postings.rows(statement)))
        return [parse(path, text, fault) for path, text, fault in rows]

    def sync(self, progress: Progress | None = None) -> Synced:
        """Bring the index up to date with the files; `progress(done, of)` is called as it goes."""
        return self._mended(lambda: self._sync(progress))

    def rebuild(self, progress: Progress | None = None) -> Synced:
        """Throw the index away and make it anew. Raises WriteFailedError when the disk has no room for it."""

        def anew() -> Synced:
            with self._postings.alone():
                self._postings.renew()
                return self._sync(progress)

        return self._mended(anew)

    def size(self) -> int:
        """Bytes on disk."""
        return self._postings.size()

    def close(self) -> None:
        """Let go of the files; the next call opens them again."""
        self._postings.close()

    def _mended(self, use: Callable[[], T]) -> T:
        """What `use` gives; over damaged files they are made anew and it is tried again."""
        for _ in range(TRIES):
            try:
                return use()
            except DamagedError as error:
                log.info("the index is damaged", exc_info=error)
                why = str(error)
            try:
                with self._postings.alone():
                    if not self._postings.replaced():
                        self._postings.renew()
                    self._sync(None)
            except DamagedError as error:  # somebody else deletes it, or the disk is full
                why = str(error)
        raise WriteFailedError(str(self.folder), f"the index cannot be made: {why}")

    def _sync(self, progress: Progress | None) -> Synced:
        self._postings.refresh()
        walk = self.vault.walk()
        changed, gone = self._difference(walk)
        told = self._postings.told()
        pending = list(self._postings.rows("SELECT 1 FROM pending LIMIT 1"))
        if not (changed or gone or pending or self._holding(told, walk, (), ()) != told):
            return Synced(0, 0, ())
        with self._postings.alone():
            self._postings.clear_pending()
            walk = self.vault.walk()
            changed, gone = self._difference(walk)
            problems = list(walk.problems)
            self._postings.store([], [], gone)
            for start in range(0, len(changed), BATCH):
                self._take_in(changed[start : start + BATCH], problems)
                if progress:
                    progress(min(start + BATCH, len(changed)), len(changed))
            told = self._postings.told()
            news = [problem for problem in problems if (problem.path, problem.what) not in told]
            self._postings.tell(self._holding(told, walk, changed, problems))
        return Synced(len(changed), len(gone), tuple(news))

    def _holding(
        self, told: set[tuple[str, str]], walk: Walk, changed: Sequence[str], problems: Sequence[Problem]
    ) -> set[tuple[str, str]]:
        """The problems that hold now: of the walk, of what was read, and those told before of other files."""
        read = set(changed)
        before = {(path, what) for path, what in told if path in walk.files and path not in read}
        return before | _pairs(problems) | _pairs(walk.problems)

    def _difference(self, walk: Walk) -> tuple[list[str], list[int]]:
        """Paths that are new or look changed, and the numbers of rows whose file is gone."""
        known: dict[str, Status | None] = {}
        gone = []
        rows = self._postings.rows("SELECT id, path, racy, mtime, ctime, size, inode FROM files")
        for number, path, racy, *status in rows:
            known[path] = None if racy else Status(*status)
            if path not in walk.files:
                gone.append(number)
        return [path for path, status in walk.files.items() if known.get(path) != status], gone

    def _take_in(self, paths: Sequence[str], problems: list[Problem]) -> None:
        """Read `paths` and store what is in them; what cannot be read leaves the index and joins `problems`."""
        known = {path: (number, digest) for path, number, digest in self._known(paths)}
        last = max((number for (number,) in self._postings.rows("SELECT max(id) FROM files") if number), default=0)
        new: list[Row] = []
        touched: list[Row] = []
        gone: list[int] = []
        for path in paths:
            number, digest = known.get(path, (0, b""))
            try:
                memory, status = self.vault.read_with_status(path)
            except (UnreadableError, PathRefusedError, MemoryNotFoundError) as error:
                if not isinstance(error, MemoryNotFoundError):  # that one was deleted a moment ago
                    problems.append(Problem(path, str(error).removeprefix(f"{path}: ")))
                gone += [number] if number else []
                continue
            problems += [Problem(path, warning) for warning in memory.warnings]
            if not number:
                number = last = last + 1
            row = self._row(number, memory, status, digest)
            (touched if row.hash == digest else new).append(row)
        self._postings.store(new, touched, gone)

    def _known(self, paths: Sequence[str]) -> Iterator[tuple[str, int, bytes]]:
        for start in range(0, len(paths), 500):  # SQLite bounds the variables of a statement
            part = paths[start : start + 500]
            marks = ",".join("?" * len(part))
            statement = f"SELECT path, id, hash FROM files WHERE path IN ({marks})"  # noqa: S608  # question marks only
            yield from self._postings.rows(statement, part)

    def _row(self, number: int, memory: Memory, status: Status, digest: bytes) -> Row:
        now = time.time_ns()
        racy = status.ctime > now - RACY or abs(now - status.mtime) < RACY
        found = blake2b(f"{memory.fault or ''}\0{memory.text}".encode(), digest_size=16).digest()
        held = terms(memory.searched, self._language) if found != digest else []
        columns = (status.mtime, status.ctime, status.size, status.inode, racy)
        return Row(number, memory.path, columns, found, memory.text, memory.fault, held, memory.pinned)

    def _ranked(self, wanted: Sequence[str], k: int, keep: Keep) -> list[Hit]:
        limit = max(CANDIDATES, 4 * k)
        while True:
            proposal = self._postings.propose(wanted, limit)
            average = proposal.terms / max(proposal.memories, 1)
            scored = []
            for path, text, fault, held in proposal.rows:
                exact = score(wanted, Counter(held.split(" ")), proposal.frequencies, proposal.memories, average)
                if exact > 0:  # a row may be newer than the postings that proposed it
                    scored.append((-exact, path, text, fault))
            hits: list[Hit] = []
            for negative, path, text, fault in sorted(scored):
                if len(hits) < k and keep(memory := parse(path, text, fault)):
                    hits.append(Hit(memory, -negative))
            sure = len(hits) >= k and (k <= 0 or hits[-1].score > proposal.floor * ROUNDING)
            if sure or limit >= proposal.matching:
                return hits
            limit *= 4


def _pairs(problems: Sequence[Problem]) -> set[tuple[str, str]]:
    return {(problem.path, problem.what) for problem in problems}

"""The index brought up to date with the files: what differs is read and stored, in batches that leave it sound."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from vault_mind.batch import Batch
from vault_mind.conflicts import originals
from vault_mind.generation import DamagedError
from vault_mind.listing import packed, unpacked
from vault_mind.postings import Postings
from vault_mind.ranking import searched_terms
from vault_mind.readers import Read, Task, read_all, split
from vault_mind.rows import Row
from vault_mind.vault import Problem, Vault, Walk

BATCH = 120_000  # files between two commits of a long sync, which may be interrupted
FEW = 50  # changed names of a folder up to which those that begin like one of them are looked for
BATCH_BYTES = 2**28  # bytes of texts, likewise

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Synced:
    """What a sync found: files new or changed, files gone, and problems that were not told before."""

    changed: int
    gone: int
    news: tuple[Problem, ...]


@dataclass
class _Work:
    """A sync under way: what has been read and is not yet stored, and the marks of what is up to date by folder."""

    walked: Mapping[str, bytes]
    told: set[tuple[str, str]]
    problems: list[Problem]
    last: int
    changed: int = 0
    departed: int = 0
    new: list[tuple[int, Row] | None] = field(default_factory=list)
    gone: list[int] = field(default_factory=list)
    stale: dict[int, str] = field(default_factory=dict)
    listings: dict[str, bytes | None] = field(default_factory=dict)
    touched: set[str] = field(default_factory=set)
    kept: dict[str, dict[str, int]] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    size: int = 0
    batch: Batch | None = None

    def end(self) -> None:
        """Let go of what was begun to be written."""
        if self.batch:
            self.batch.close()
        self.batch = None


class Sync:
    """Brings `postings` up to date with the files of `vault`."""

    def __init__(self, vault: Vault, postings: Postings, language: str) -> None:
        self._vault, self._postings, self._language = vault, postings, language

    def run(self, progress: Progress | None) -> Synced:
        """Look at every folder, and read what is not as it was."""
        known = self._known()
        walk = self._vault.walk(known)
        told = self._postings.told()
        quiet = walk.listings == known and not list(self._postings.rows("SELECT 1 FROM pending LIMIT 1"))
        if quiet and _holding(told, walk, (), ()) == told:
            return Synced(0, 0, ())
        seen = self._postings.state()
        with self._postings.alone():
            self._postings.refresh()
            if self._postings.state() != seen:  # another process was here: our walk may be older than what it stored
                walk = self._vault.walk(self._postings.listings())
            if self._postings.wasteful():
                self._postings.renew()
            self._postings.clear_pending()
            return self._taken_in(walk, progress)

    def _known(self) -> dict[str, bytes]:
        """Refresh; the listings of what is in use now, and not of what another process wrote since."""
        while True:
            self._postings.refresh()
            known = self._postings.listings()
            if not self._postings.outdated():
                return known

    def _differing(self, walk: Walk) -> dict[str, bytes]:
        """The folders that are not as they were indexed, each with its listing as it was then."""
        known = self._postings.listings()
        differing = {
            folder: known.get(folder, b"") for folder, listing in walk.listings.items() if known.get(folder) != listing
        }
        return differing | {folder: packed for folder, packed in known.items() if folder not in walk.listings}

    def _taken_in(self, walk: Walk, progress: Progress | None) -> Synced:
        """Read what differs and store it, in batches that each leave the index sound."""
        work = _Work(walk.listings, self._postings.told(), list(walk.problems), self._last())
        tasks: list[Task] = []
        for folder, then in self._differing(walk).items():
            tasks += self._planned(folder, walk.listings.get(folder), _marks(then), work)
        try:
            read = self._read(tasks, work, progress)
            self._flush(work)
        except KeyboardInterrupt:
            self._stopped(work)
            raise
        finally:
            work.end()
        self._postings.sweep(lambda memory: searched_terms(memory, self._language))
        news = [problem for problem in work.problems if (problem.path, problem.what) not in work.told]
        self._postings.tell(_holding(work.told, walk, read, work.problems))
        return Synced(work.changed, work.departed, tuple(news))

    def _read(self, tasks: Sequence[Task], work: "_Work", progress: Progress | None) -> set[str]:
        """Do all `tasks`; the paths that were looked at."""
        of = sum(len(task.names) for task in tasks)
        read: set[str] = set()
        for task, reads in read_all(self._vault, tasks, self._language):
            work.touched.add(task.folder)
            for one in reads:
                self._note(task.folder, one, work)
            read.update(task.folder + name for name in task.names)
            if len(work.new) >= BATCH or work.size >= BATCH_BYTES:
                self._flush(work)
            elif work.new:
                work.batch = work.batch or self._postings.batch()
                work.batch.take(work.new)
            if progress:
                progress(len(read), of)
        return read

    def _planned(self, folder: str, now: bytes | None, then: dict[str, int], work: "_Work") -> list[Task]:
        """What has to be read in `folder`; what stayed and what is gone is noted in `work`."""
        marks = unpacked(now or b"")
        # What is to be read stays in the listing, so that it is missed when it goes before that happens.
        work.kept[folder] = {name: mark * (then[name] == mark) for name, mark in marks.items() if name in then}
        changed = [name for name, mark in marks.items() if then.get(name) != mark]
        gone = sorted(then.keys() - marks.keys())
        copies = _copies_of({*changed, *gone}, marks)
        changed += copies
        work.kept[folder] |= dict.fromkeys(copies, 0)
        known = self._postings.known([folder + name for name in (*changed, *gone)]) if work.last else {}
        work.numbers |= {path: number for path, (number, _) in known.items()}
        work.gone += [work.numbers[folder + name] for name in gone if folder + name in work.numbers]
        work.departed += len(gone)
        work.listings[folder] = _known_of(now, work.kept[folder]) if now is not None else None
        return list(
            split(folder, changed, {name: known[folder + name][1] for name in changed if folder + name in known})
        )

    def _note(self, folder: str, one: Read, work: "_Work") -> None:
        """Add to `work` what came of one file; what cannot be read leaves the index and is looked at again."""
        path = folder + one.name
        work.problems += [Problem(path, problem) for problem in one.problems]
        number = work.numbers.get(path, 0)
        if one.stale and number:
            work.stale[number] = one.stale
            work.kept[folder][one.name] = 0
            return
        if one.gone:
            work.gone += [number] if number else []
            work.kept[folder].pop(one.name, None)
            return
        work.changed += 1
        work.kept[folder][one.name] = 0  # whenever Ctrl-C comes, no row is without its place in the listing
        if one.row:
            if not number:
                work.last += 1
                number = work.last
            work.new.append((number, one.row))
            work.size += len(one.row.text)
        work.kept[folder][one.name] = one.mark

    def _stopped(self, work: "_Work") -> None:
        """Store what was read before Ctrl-C: the next sync goes on from there.

        What is wrong with it was told to nobody yet, so those files are looked at again.
        """
        wrong = {problem.path for problem in work.problems}
        for folder, kept in work.kept.items():
            if again := [name for name in kept if folder + name in wrong]:
                kept.update(dict.fromkeys(again, 0))
                work.touched.add(folder)
        self._flush(work)

    def _flush(self, work: "_Work") -> None:
        """Store what has been read."""
        for folder in work.touched:
            work.listings[folder] = _known_of(work.walked[folder], work.kept[folder])
        work.batch = work.batch or self._postings.batch()
        work.batch.take(work.new)
        work.batch.commit(work.gone, work.listings)
        work.end()
        if work.stale:
            self._postings.mark_stale(work.stale)
        work.new, work.gone, work.listings, work.touched, work.size = [], [], {}, set(), 0
        work.stale = {}

    def _last(self) -> int:
        return next((number for (number,) in self._postings.rows("SELECT max(id) FROM held") if number), 0)


def _copies_of(names: Collection[str], listed: Mapping[str, int]) -> list[str]:
    """Of what is `listed` those that may be copies of one of `names`: whether they are depends on it."""
    starts = tuple({name[:-3] for name in names})
    near = [name for name in listed if name not in names and (len(starts) > FEW or name.startswith(starts))]
    return [name for name in near if any(f"{stem}.md" in names for stem, _ in originals(name[:-3]))]


def _known_of(listing: bytes, kept: Mapping[str, int]) -> bytes:
    """The part of `listing` that has been read, as it was read."""
    names = [name for name in unpacked(listing) if name in kept]
    return packed(names, [kept[name] for name in names])


def _marks(listing: bytes) -> dict[str, int]:
    """The marks by name. Raises DamagedError for what is no listing."""
    try:
        return unpacked(listing)
    except (ValueError, IndexError) as error:
        raise DamagedError("a listing of a folder is none") from error


def _holding(
    told: set[tuple[str, str]], walk: Walk, read: Collection[str], problems: Sequence[Problem]
) -> set[tuple[str, str]]:
    """The problems that hold now: of the walk, of what was read, and those told before of other files."""
    before = {(path, what) for path, what in told if path in walk.files and path not in read} if told else set()
    return before | _pairs(problems) | _pairs(walk.problems)


def _pairs(problems: Sequence[Problem]) -> set[tuple[str, str]]:
    return {(problem.path, problem.what) for problem in problems}

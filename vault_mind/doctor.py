"""What is wrong or odd in a vault, and what to do about each. It looks, and writes nothing into the vault."""

import os
import shlex
import shutil
import stat
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from unicodedata import normalize

from vault_mind.analysis import stopwords, terms
from vault_mind.commits import state
from vault_mind.config import OF_A_VAULT, PREFIX, VAULT_FILE, Settings, state_folder, version
from vault_mind.errors import MemoryNotFoundError, SettingsError, VaultMindError
from vault_mind.files import TEMPORARY, WRITING
from vault_mind.frontmatter import Value
from vault_mind.history import History
from vault_mind.index import Index
from vault_mind.journal import MOST_TRIES, Journal
from vault_mind.listing import unpacked
from vault_mind.memory import KINDS, NOTE, Memory, moment
from vault_mind.merge_driver import missing
from vault_mind.names import alike, too_long, unfit
from vault_mind.ranking import language_of
from vault_mind.reconcile import same
from vault_mind.rows import digest
from vault_mind.sync import Progress
from vault_mind.vault import FOLDER, JOURNAL, PURGE, Vault
from vault_mind.watcher import living

SLACK = timedelta(days=1)  # by which another machine's clock may be ahead, and a date alone in another time zone
SENTENCE = 1_000  # characters; what is longer is no sentence, and says the same only where it is the same
COMPARED = 20  # sentences of the very same terms that a further one is compared with
NEEDED = 1_000_000  # bytes free on a disk, below which a memory and its version may not fit any more
EVERY = 500  # files between two words on how far we are

# What a sentence of `Memory.warnings` or of a walk begins with, the code for it, and what to do.
_ADVICE = (
    ("a conflict copy of", "conflict-copy", "take over what only it says, then delete it"),
    (
        "it holds git's conflict markers",
        "conflict-markers",
        "choose between the parts in an editor and take the marker lines out; until then it is not changed",
    ),
    ("frontmatter:", "unparsable", "mend the YAML in an editor; until then the file is searched but not changed"),
    ("it is not UTF-8", "undecodable", "save it as UTF-8; until then it is searched as far as it can be read"),
    ("it is UTF-16", "undecodable", "save it as UTF-8; until then it is searched but not changed"),
    ("it holds NUL", "undecodable", "move it out of the vault if it is no text"),
    ("it is too large", "too-large", "split it, or name it in the `ignore` setting"),
    ("link not followed", "link", "remove the link, or put the file itself into the vault"),
    ("refused, it leads", "link", "remove the link, or put the file itself into the vault"),
    ("cannot be read", "unreadable", "give yourself the right to read it, or move it away"),
    ("folder not read", "unreadable", "give yourself the right to read it, or name it in the `ignore` setting"),
    ("not read", "name", "rename it"),
)
_KEY_TWICE = "keep the one that you mean and delete the other lines, in an editor"
_DATE = "write it as 2026-05-01 or 2026-05-01T18:30:00+02:00, in an editor"

# The codes, and what several findings of one are called.
# What git's state says that needs no mending, and what to do all the same.
_OF_GIT = (
    ("git knows no name", "tell it, and versions bear your name"),
    ("are in no version yet", "fine: nothing is lost"),
)
HEADINGS: Mapping[str, str] = {
    "settings": "settings that are unsound",
    "read-only": "folders that cannot be written",
    "state": "troubles with the folder that holds the journal and the locks",
    "disk": "disks that are full",
    "index": "troubles with the index",
    "journal": "exchanges that could not be learned from",
    "unparsable": "files whose frontmatter cannot be read",
    "key-twice": "keys that are given twice",
    "undecodable": "files that are no sound UTF-8",
    "too-large": "files that are too large",
    "unreadable": "files or folders that cannot be read",
    "link": "links that are not followed",
    "name": "names that are not UTF-8",
    "conflict-copy": "conflict copies",
    "conflict-markers": "files with git's conflict markers",
    "name-clash": "names that are one on macOS and Windows",
    "name-elsewhere": "names that some systems cannot hold",
    "not-downloaded": "notes that a cloud has not downloaded",
    "duplicate": "memories that say what another says",
    "dangling": "links of supersedes and superseded_by that name no memory",
    "circle": "memories that supersede each other in a circle",
    "date": "dates that make no sense",
    "odd": "other things",
    "empty": "files that are empty",
    "leftover": "temporary files that a crash left behind",
    "nested": "vaults inside this one",
    "kind": "memories of a kind of your own",
    "note": "files that do not say all of kind, source, created_at",
    "past": "memories that recall leaves out",
    "waiting": "exchanges that wait",
    "remade": "indexes made anew",
    "git": "troubles with git",
    "purge": "purges that were cut short",
    "watcher": "watchers at work",
}


@dataclass(frozen=True)
class Finding:
    """One thing to know: the path it is about (empty: the vault), what it is, and what to do.

    A `remark` needs no doing; anything else makes `doctor` exit with 1. `code` is one of HEADINGS.
    """

    path: str
    what: str
    advice: str
    remark: bool = False
    code: str = "odd"

    @property
    def heading(self) -> str:
        """What several findings of this code are called."""
        return HEADINGS[self.code]


@dataclass(frozen=True)
class IndexState:
    """The index as it was found: where, bytes, memories, language, and whether it says what the files say.

    `remade` says why it had to be made anew just now, None when it had not.
    """

    folder: Path
    bytes: int
    memories: int
    language: str
    sound: bool
    remade: str | None


@dataclass(frozen=True)
class Report:
    """All that there is to know of a vault: problems first, each group by path."""

    vault: Path
    memories: int
    index: IndexState
    findings: tuple[Finding, ...]
    version: str = field(default_factory=version)  # of this program

    @property
    def to_fix(self) -> int:
        """How many findings ask for something to be done."""
        return sum(not finding.remark for finding in self.findings)

    @property
    def counts(self) -> dict[str, object]:
        """How many findings there are to fix, to know, and of each code."""
        codes = Counter(finding.code for finding in self.findings)
        return {"fix": self.to_fix, "know": len(self.findings) - self.to_fix, "codes": dict(sorted(codes.items()))}


@dataclass
class _Said:
    """What was gathered of all memories, for what only shows when they are put side by side."""

    found: list[Finding] = field(default_factory=list)
    digests: dict[str, bytes] = field(default_factory=dict)
    sentences: dict[int, list[tuple[float, str, str, str]]] = field(default_factory=dict)  # time, path, text, language
    links: list[tuple[str, str, str]] = field(default_factory=list)  # path, key, what it names
    superseded: int = 0
    expired: int = 0


def examine(
    vault: Vault,
    index: Index,
    journal: Journal,
    *,
    trouble: SettingsError | None = None,
    unknown: Mapping[str, str] = MappingProxyType({}),
    progress: Progress | None = None,
    now: datetime | None = None,
) -> Report:
    """Look at everything, each file once. `trouble` is what was wrong with the settings that were not used.

    `unknown` are variables of the environment that set nothing, each with what may have been meant.
    """
    moment_now = now or datetime.now().astimezone()
    found = [*([_of_settings(trouble)] if trouble else []), *_of_environment(unknown)]
    found += [*_closed(vault), *_of_state(state_folder(vault.root))]
    with suppress(OSError):  # a disk that does not say, or a folder that is closed to us
        found += _of_disks(vault.root, state_folder(vault.root))
    odd, passing = _places(vault)  # before the index reads files, and so has a cloud download them
    found += odd
    language, failed = index.language, None
    try:
        index.sync(progress)
    except VaultMindError as error:
        failed = error
        language = "english" if isinstance(error, SettingsError) else language
    said = _read_all(vault, language, moment_now, progress)
    state, more = _of_index(vault, index, said, failed)
    found += [*said.found, *more, *_of_names(said.digests), *_duplicates(said), *_dangling(vault, said)]
    found += [*_circles(said), *_past(said), *_of_journal(journal)]
    found += [*_of_git(vault), *_of_watchers(vault)]
    found += [finding for finding in passing if os.path.lexists(vault.root / finding.path)]  # no writer's, then
    ordered = sorted(found, key=lambda finding: (finding.remark, finding.path))
    return Report(vault.root, len(said.digests), state, tuple(ordered))


def _read_all(vault: Vault, language: str, now: datetime, progress: Progress | None) -> _Said:
    """Read every memory, once, and keep of it what is needed."""
    walk, said, done = vault.walk(), _Said(), 0
    said.found += [_of_problem(problem.path, problem.what) for problem in walk.problems]
    of = len(walk.files)
    for folder, listing in sorted(walk.listings.items()):
        for path, memory, _ in vault.read_listed(folder, sorted(unpacked(listing))):
            if isinstance(memory, Memory):
                _take_in(memory, language, now, said)
            elif not isinstance(memory, MemoryNotFoundError):  # deleted while we looked
                said.found.append(_of_problem(path, str(memory).removeprefix(f"{path}: ")))
            done += 1
            if progress and done % EVERY == 0:
                progress(done, of)
    return said


def _take_in(memory: Memory, language: str, now: datetime, said: _Said) -> None:
    said.digests[memory.path] = digest(memory)
    said.found += _of_memory(memory, now)
    said.superseded += memory.superseded
    current = memory.current(now)
    said.expired += not current and not memory.aside
    for link in ("supersedes", "superseded_by"):
        said.links += [(memory.path, link, name) for name in _names(memory.frontmatter.get(link))]
    if not current or memory.kind == NOTE or memory.fault or not memory.body:
        return
    spoken = language_of(memory, language)
    text = memory.body if len(memory.body) <= SENTENCE else ""
    key = hash(frozenset(terms(text, spoken)) - _little(spoken)) if text else hash(" ".join(memory.body.split()))
    made = memory.created_at.timestamp() if memory.created_at else float("inf")
    said.sentences.setdefault(key, []).append((made, memory.path, text, spoken))


@lru_cache(maxsize=64)
def _little(language: str) -> frozenset[str]:
    """The terms of the words that only hold a sentence together."""
    return frozenset(terms(" ".join(stopwords(language)), language))


def _of_settings(trouble: SettingsError) -> Finding:
    ours = VAULT_FILE in str(trouble)
    advice = f"a vault's file may set {', '.join(OF_A_VAULT)}; until it is mended, every command but this one refuses"
    other = "mend it there; until then every command but this one refuses"
    return Finding(VAULT_FILE if ours else "", str(trouble), advice if ours else other, code="settings")


def _of_environment(unknown: Mapping[str, str]) -> Iterator[Finding]:
    known = ", ".join(PREFIX + setting.name.upper() for setting in fields(Settings))
    for name, meant in unknown.items():
        what = f"the environment holds {name}, which is no setting and does nothing"
        advice = f"call it {meant}" if meant else f"unset it; known are {known}"
        yield Finding("", what, advice, code="settings")


def _closed(vault: Vault) -> Iterator[Finding]:
    """The vault's folder, and the one for new memories, where we may not write."""
    effective = os.access in os.supports_effective_ids
    for path in ("", FOLDER):
        folder = vault.root / path
        if os.path.lexists(folder) and not os.access(folder, os.W_OK | os.X_OK, effective_ids=effective):
            what = f"the folder {path or vault.root} cannot be written: nothing new can be remembered"
            yield Finding(path, what, "give yourself the right to write there", code="read-only")


def _of_state(folder: Path) -> Iterator[Finding]:
    """What keeps us from writing the lock, the journal and the notes of what is being done."""
    effective = os.access in os.supports_effective_ids
    meant_for = "until then nothing can be remembered, changed or learned"
    for place in (folder, folder / JOURNAL):
        there = next(part for part in (place, *place.parents) if os.path.lexists(part))
        what = "" if there == place else f"{place} cannot be made: "
        if not there.is_dir():
            yield Finding("", f"{what}{there} is no folder", f"move it away; {meant_for}", code="state")
            return
        if not os.access(there, os.R_OK | os.W_OK | os.X_OK, effective_ids=effective):
            advice = f"give yourself the right to write there, or set XDG_STATE_HOME to another folder; {meant_for}"
            yield Finding("", f"{what}the folder {there} cannot be written", advice, code="state")
            return
    for file in (folder / WRITING, folder / JOURNAL / WRITING):
        if file.is_dir():
            yield Finding(
                "", f"{file} is a folder, where a file of ours belongs", f"move it away; {meant_for}", code="state"
            )


def _of_disks(*folders: Path) -> Iterator[Finding]:
    """Disks that are all but full."""
    told: set[int] = set()
    for folder in folders:
        there = next(part for part in (folder, *folder.parents) if part.exists())
        disk, free = there.stat().st_dev, shutil.disk_usage(there).free
        if free < NEEDED and disk not in told:
            told.add(disk)
            what = f"the disk of {there} is full ({free / 1000:.0f} kB are free): soon nothing more can be remembered"
            yield Finding("", what, "make room on it", code="disk")


def _places(vault: Vault) -> tuple[list[Finding], list[Finding]]:
    """What lies about in the folders and is no memory; and temporary files, which a writer may be at just now."""
    found: list[Finding] = []
    passing: list[Finding] = []
    folders = [""]
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(vault.root / folder) as entries:
                listed = {entry.name: entry for entry in entries}
        except OSError:  # told by the walk, or gone by now
            continue
        for name, entry in listed.items():
            path = folder + name
            with suppress(OSError):
                if not name.startswith(".") and entry.is_dir(follow_symlinks=False):
                    folders += [] if vault.ignores(path, folder=True) else [path + "/"]
                elif name.startswith(TEMPORARY) and name.endswith(".tmp"):
                    passing.append(_leftover(path))
                else:
                    found += _of_place(vault, path, entry, listed)
    return found, passing


def _leftover(path: str) -> Finding:
    advice = "the next write into that folder takes it away, or delete it; the memory itself is whole"
    return Finding(path, "a write was cut short and left this behind", advice, remark=True, code="leftover")


def _of_place(vault: Vault, path: str, entry: "os.DirEntry[str]", beside: Mapping[str, object]) -> Iterator[Finding]:
    folder, _, name = path.rpartition("/")
    lowered = name.lower()
    if lowered.startswith(".") and lowered.endswith(".md.icloud"):
        whole = f"{folder}/{name[1:-7]}".lstrip("/")
        if name[1:-7] not in beside and not vault.ignores(whole):
            yield _elsewhere(whole)
    elif name == VAULT_FILE and folder:
        what = "a vault inside this one: its settings count only for commands that are run in it"
        yield Finding(folder, what, "fine if you meant it; else delete that file", remark=True, code="nested")
    elif _KNOWS_CLOUDS and lowered.endswith(".md") and not name.startswith(".") and not vault.ignores(path):
        yield from [_elsewhere(path)] if away(entry.stat(follow_symlinks=False)) else []


# Only there does a status tell of files whose content is elsewhere; here, a stat for each file is saved.
_KNOWS_CLOUDS = sys.platform in ("darwin", "win32")


def away(status: os.stat_result) -> bool:
    """Whether a file's content is in a cloud and not on the disk, as macOS and Windows mark it."""
    dataless = 0x4000_0000  # SF_DATALESS
    attributes = stat.FILE_ATTRIBUTE_OFFLINE | 0x40_0000  # FILE_ATTRIBUTE_RECALL_ON_DATA_ACCESS
    return bool(getattr(status, "st_flags", 0) & dataless or getattr(status, "st_file_attributes", 0) & attributes)


def _elsewhere(path: str) -> Finding:
    advice = "download it in your file manager, and have the folder kept on this machine"
    return Finding(path, "not downloaded: its text is in a cloud", advice, code="not-downloaded")


def _of_memory(memory: Memory, now: datetime) -> Iterator[Finding]:
    for warning in memory.warnings:
        yield _of_problem(memory.path, warning)
    yield from _of_dates(memory, now)
    if not memory.text and not memory.fault:
        advice = "fine if you mean to write into it; else delete it"
        yield Finding(memory.path, "is empty", advice, remark=True, code="empty")
        return
    if memory.kind not in (*KINDS, NOTE):
        advice = f"fine if you meant it; the usual ones are {', '.join(KINDS)}"
        yield Finding(memory.path, f"kind {memory.kind!r} is one of your own", advice, remark=True, code="kind")
    missing = [key for key in ("kind", "source", "created_at") if not memory.frontmatter.get(key)]
    if missing and not (memory.broken or memory.conflict or memory.unmerged):
        advice = "fine: it is searched as a note" if "kind" in missing else "fine: it is searched all the same"
        yield Finding(memory.path, f"says no {', '.join(missing)}", advice, remark=True, code="note")


def _of_dates(memory: Memory, now: datetime) -> Iterator[Finding]:
    superseded = memory.frontmatter.get("superseded_at")
    superseded_at = moment(superseded) if isinstance(superseded, str) else None
    if superseded and superseded_at is None:
        yield Finding(memory.path, f"superseded_at: no date can be read from {superseded!r}", _DATE, code="date")
    dates = {"created_at": memory.created_at, "updated_at": memory.updated_at, "superseded_at": superseded_at}
    for key, date in dates.items():
        if date and _later(date, now):
            what = f"{key} is in the future: {memory.frontmatter[key]}"
            yield Finding(memory.path, what, "put the date right in an editor", code="date")


def _later(date: datetime, now: datetime) -> bool:
    return date.timestamp() > (now + SLACK).timestamp()


def _of_problem(path: str, what: str) -> Finding:
    if what.startswith("frontmatter:") and what.endswith(("given twice; the last one counts", "are given twice")):
        return Finding(path, what, _KEY_TWICE, code="key-twice")
    if ": no date can be read from " in what and not what.startswith("frontmatter:"):
        return Finding(path, what, _DATE, code="date")
    for start, code, advice in _ADVICE:
        if what.startswith(start):
            return Finding(path, what, advice, code=code)
    return Finding(path, what, "look at it in an editor")


def _of_index(
    vault: Vault, index: Index, said: _Said, failed: VaultMindError | None
) -> tuple[IndexState, list[Finding]]:
    """How the index is, held against what was read from the files."""
    found: list[Finding] = []
    held: dict[str, bytes] = {}
    differing: list[str] = []
    try:
        if failed is None:
            held = index.verified()
            differing = _differing(held, said.digests)
        if differing:  # changed while we looked, as a rule
            index.sync()
            held = index.verified()
            differing = [path for path in differing if held.get(path) != _now_of(vault, path)]
    except VaultMindError as error:
        failed = error
    if failed:
        advice = (
            "mend the setting" if isinstance(failed, SettingsError) else "nothing is lost by it: vault-mind rebuild"
        )
        found.append(Finding("", f"the index cannot be used: {failed}", advice, code="index"))
    if differing:
        what = f"the index does not say what the files say, of {len(differing):,}, such as {differing[0]}"
        found.append(Finding("", what, "make it anew: vault-mind rebuild", code="index"))
    if index.moved_out:
        what = f"the index cannot be kept, so that every command makes it anew: {index.moved_out}"
        advice = "make room on that disk, or give yourself the right to write there"
        found.append(Finding("", what, advice, remark=True, code="index"))
    elif index.remade:
        what = f"the index could not be used and was made anew: {index.remade}"
        found.append(Finding("", what, "fine: nothing is lost by it", remark=True, code="remade"))
    try:
        size = index.size()
    except VaultMindError:
        size = 0
    sound = not failed and not differing
    return IndexState(index.folder, size, len(held), index.language, sound, index.remade), found


def _differing(held: Mapping[str, bytes], read: Mapping[str, bytes]) -> list[str]:
    return sorted(path for path in held.keys() | read.keys() if held.get(path) != read.get(path))


def _now_of(vault: Vault, path: str) -> bytes | None:
    try:
        return digest(vault.read(path))
    except VaultMindError:
        return None


def _of_names(paths: Iterable[str]) -> Iterator[Finding]:
    advice = "fine here; rename it if the vault is to be used there too"
    unfit_folders: set[str] = set()
    for path in paths:
        if why := too_long(path):
            yield Finding(path, why, advice, remark=True, code="name-elsewhere")
        *folders, name = path.split("/")
        if why := unfit(name):
            yield Finding(path, why, advice, remark=True, code="name-elsewhere")
        for end in range(len(folders)):
            folder = "/".join(folders[: end + 1])
            if folder not in unfit_folders and (why := unfit(folders[end])):
                unfit_folders.add(folder)
                yield Finding(folder, why, advice, remark=True, code="name-elsewhere")
    for first, *others in alike(paths):
        for other in others:
            what = (
                f"differs from {first} only in case or in how its letters are encoded: macOS and Windows hold but one"
            )
            yield Finding(other, what, "rename one of them", code="name-clash")


def _duplicates(said: _Said) -> Iterator[Finding]:
    """Memories that say the same as an older one. Only those of the very same terms are held side by side."""
    for sentences in said.sentences.values():
        if len(sentences) < 2:
            continue
        firsts: list[tuple[str, str]] = []
        for _, path, text, language in sorted(sentences):
            twin = next((p for p, known in firsts if not text or same(text, known, 1.0, language)), None)
            if twin is None:
                firsts += [(path, text)] if len(firsts) < COMPARED else []
            else:
                advice = f"vault-mind tidy sets one aside; or vault-mind forget {shlex.quote(path)}"
                yield Finding(path, f"says what {twin} says", advice, code="duplicate")


def _names(value: Value | None) -> Iterator[str]:
    """What the links in a value name, without heading and alias; [[unquoted]] is a list in a list to YAML."""
    if isinstance(value, list):
        for item in value:
            yield from _names(item)
    elif isinstance(value, str):
        for part in value.split("]]"):
            name = part.rpartition("[[")[2].partition("|")[0].partition("#")[0].strip().lstrip(", ")
            if name and name not in ("~", "null"):
                yield name.removesuffix(".md")


def _folded(name: str) -> str:
    return normalize("NFC", name.casefold())


def _stems(paths: Iterable[str]) -> dict[str, list[str]]:
    """The paths by their name without folder and `.md`."""
    found: dict[str, list[str]] = {}
    for path in paths:
        found.setdefault(_folded(path.rpartition("/")[2][:-3]), []).append(path)
    return found


def _meant(name: str, stems: Mapping[str, Sequence[str]]) -> list[str]:
    """The paths that a link may mean, as Obsidian reads one: a name, or the end of a path."""
    wanted = _folded(name).lstrip("/")
    candidates = stems.get(wanted.rpartition("/")[2], ())
    return [path for path in candidates if f"/{_folded(path[:-3])}".endswith(f"/{wanted}")]


def _dangling(vault: Vault, said: _Said) -> Iterator[Finding]:
    """Links that name no memory."""
    stems = _stems(said.digests) if said.links else {}
    lost = [link for link in said.links if not _meant(link[2], stems)]
    if lost:  # perhaps they name what is not read
        stems = _stems(_ignored(vault))
    for path, key, name in lost:
        if not _meant(name, stems):
            left_out = " (and so it is left out of recall)" if key == "superseded_by" else ""
            advice = f"put the link right, or take {key} out, in an editor"
            yield Finding(path, f"{key} names no memory: {name!r}{left_out}", advice, code="dangling")


def _ignored(vault: Vault) -> Iterator[str]:
    """The path of every Markdown file, the ignored ones too."""
    for folder, folders, names in os.walk(vault.root):
        folders[:] = [name for name in folders if not name.startswith(".")]
        inside = Path(folder).relative_to(vault.root)
        yield from ((inside / name).as_posix() for name in names if name.lower().endswith(".md"))


def _circles(said: _Said) -> Iterator[Finding]:
    """Memories of which each is superseded by the next and the last by the first."""
    stems = _stems(said.digests) if said.links else {}
    after: dict[str, set[str]] = {}
    for path, key, name in said.links:
        for other in _meant(name, stems)[:1]:
            old, new = (path, other) if key == "superseded_by" else (other, path)
            after.setdefault(old, set()).add(new)
    for circle in _rounds(after):
        way = " → ".join((*circle, circle[0]))
        advice = "take superseded_by out of the one that holds, and supersedes out of the one that does not"
        yield Finding(circle[0], f"they supersede each other in a circle: {way}", advice, code="circle")


def _rounds(after: Mapping[str, set[str]]) -> Iterator[list[str]]:
    """Circles in a graph, each beginning with its first path; every circle holds a node of one that is given."""
    before: dict[str, set[str]] = {}
    left = {old: len(news) for old, news in after.items()}
    for old, news in after.items():
        for new in news:
            before.setdefault(new, set()).add(old)
    ends = [new for new in before if new not in left]
    while ends:  # what leads to an end is in no circle
        for old in before.get(ends.pop(), ()):
            left[old] -= 1
            if not left[old]:
                del left[old]
                ends.append(old)
    seen: set[str] = set()
    for start in sorted(left):
        way: dict[str, None] = {}
        at = start
        while at not in seen:
            seen.add(at)
            way[at] = None
            at = min(new for new in after[at] if new in left)
        if at in way:
            circle = list(way)[list(way).index(at) :]
            first = circle.index(min(circle))
            yield circle[first:] + circle[:first]


def _past(said: _Said) -> Iterator[Finding]:
    if said.superseded or said.expired:
        what = f"{said.superseded} superseded and {said.expired} expired memories are left out of recall"
        yield Finding("", what, "fine: vault-mind search --all shows them too", remark=True, code="past")


def _of_git(vault: Vault) -> Iterator[Finding]:
    history, bare = History(vault.root), False
    try:
        told = state(history)
        bare = not history.off and missing(vault.root)
    except VaultMindError as error:  # it does not answer
        told = [str(error)]
    if bare:
        what = "git merges memories by lines on this machine, and not key by key as .gitattributes asks"
        yield Finding("", what, "set it up with: vault-mind init (in the vault's folder)", remark=True, code="git")
    if (state_folder(vault.root) / PURGE).exists():
        what = "a purge was cut short, and not everything is gone yet"
        yield Finding("", what, "go on with: vault-mind forget --purge", code="purge")
    for what in told:
        advice = next((advice for part, advice in _OF_GIT if part in what), None)
        yield Finding("", what, advice or "look with: git status", remark=advice is not None, code="git")


def _of_watchers(vault: Vault) -> Iterator[Finding]:
    for one in living(state_folder(vault.root)):
        what = f"process {one.pid} watches the vault since {one.since}, by {one.how}"
        yield Finding("", what, "fine: a search looks for itself all the same", remark=True, code="watcher")


def _of_journal(journal: Journal) -> Iterator[Finding]:
    waiting = journal.waiting()
    given_up = [entry for entry in waiting if entry.exchange.tries >= MOST_TRIES]
    if len(waiting) > len(given_up):
        number = len(waiting) - len(given_up)
        what = "1 exchange waits to be learned from" if number == 1 else f"{number} exchanges wait to be learned from"
        yield Finding("", what, "the next chat does it, or: vault-mind learn", remark=True, code="waiting")
    if given_up:
        what = f"{len(given_up)} exchanges could not be learned from in {MOST_TRIES} tries"
        again = "try once more with vault-mind learn --again"
        advice = f"{again}, or read them, /remember what counts and delete them: {journal.folder}"
        yield Finding("", what, advice, code="journal")
    what = "an exchange in the journal cannot be read"
    for file in journal.damaged():
        yield Finding("", f"{what}: {file}", "look at it, then delete it", code="journal")

"""Purge: a memory or a phrase taken out of the vault, its history and every other place we put it, and proved gone.

`plan` says what would be done, `carry_out` does it. New objects are written first, then all refs move in one step;
whatever comes after can be cut short at any moment and goes on when the purge is run again: what is being purged is
noted in the state folder, privately, until it is gone.
"""

import json
import logging
import os
import re
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

from vault_mind import objects, repository
from vault_mind.config import cache_folder, state_folder
from vault_mind.errors import EmbeddingError, PurgeRefusedError, UnreadableError, VaultMindError
from vault_mind.files import move_new, private_folder, read_regular, write_whole
from vault_mind.memory import Memory, decoded, parse
from vault_mind.needles import LEAST, SHORT, Needle, Needles, telling
from vault_mind.proof import Found, left_in, prove
from vault_mind.repository import Ref, Repository, Worktree
from vault_mind.rewriting import Rewriting, Targets, emptied
from vault_mind.vault import Vault

NOTE = "purge.json"  # in the state folder, while a purge is under way
COMMON = 5  # files that hold a sentence of the memory, from which on its owner is warned
_SENTENCE = re.compile(r"(?<=[.!?…。！？])\s+")
_REMOTE = "refs/remotes/"
_REPLACED = "refs/replace/"
_NOTES = "refs/notes/"
_LARGEST = 1 << 30  # bytes of a file that the text is taken out of

log = logging.getLogger(__name__)

Staged = Mapping[bytes, tuple[bytes, bytes, str] | None]


@dataclass(frozen=True)
class Change:
    """What becomes of a file: `what` is "deleted", "text taken out" or "renamed"."""

    path: str
    what: str


@dataclass(frozen=True)
class Refusal:
    """Why nothing may be done yet, and what to do about it; `forced`: it may be done nevertheless, if told so."""

    why: str
    advice: str
    forced: bool = False


@dataclass(frozen=True)
class Plan:
    """What a purge would do. `files` are those of the vault as it is, `history` those of earlier commits too.

    `needles` are the texts that go, `commits` how many of `commits_of` get another id, `messages` those whose text
    changes, `remotes` what remains at each remote, `warnings` what its owner should know before.
    """

    root: Path
    paths: tuple[str, ...]
    needles: tuple[str, ...]
    versions: tuple[tuple[bytes, str], ...] = field(repr=False)
    names: Mapping[bytes, bytes] = field(repr=False)
    files: tuple[Change, ...]
    history: tuple[Change, ...] = ()
    commits: int = 0
    commits_of: int = 0
    messages: tuple[str, ...] = ()
    refs: tuple[str, ...] = ()
    stashes: int = 0
    signatures: int = 0
    remotes: tuple[str, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    warnings: tuple[str, ...] = ()
    other_files: tuple[str, ...] = ()  # in the state folder: journal, chat history

    @property
    def nothing(self) -> bool:
        """Whether there is nothing to take out anywhere."""
        return not (self.files or self.history or self.messages or self.refs or self.other_files)


@dataclass(frozen=True)
class Outcome:
    """What a purge did: the proof, how many commits got another id, and what is left to do by hand."""

    found: Found
    commits: int
    seconds: float
    advice: tuple[str, ...]


def plan(root: Path, *, paths: Sequence[str] = (), phrase: str | None = None) -> Plan:
    """What it takes to purge the memories at `paths`, or `phrase` wherever it stands. Changes nothing.

    A purge that was cut short is taken up in it. Raises PurgeRefusedError for a phrase too short to look for, and
    GitError.
    """
    root = root.resolve()
    if phrase is not None and Needle(phrase).letters < LEAST:
        raise PurgeRefusedError(f"{phrase!r} is too short, it stands within too many words", "Give more of the phrase")
    wanted = _noted(root)
    around = repository.around(root)
    versions = dict.fromkeys(wanted.versions)
    for path in paths:
        if around:
            versions |= dict.fromkeys(around.versions(around.prefix + os.fsencode(path)))
    memories = list(_memories(root, paths, around, versions))
    sentences, weak = telling(text for memory in memories for text in _texts(memory))
    needles = Needles([*wanted.needles, *sentences, *([phrase] if phrase else [])])
    all_paths = tuple(dict.fromkeys((*wanted.paths, *paths)))
    disk, names = _on_disk(root, all_paths, needles, wanted.names)
    told = Plan(root, all_paths, needles.texts, tuple(versions), names, disk)
    warnings = [*_warnings(phrase, weak, disk, all_paths)]
    left = {place.where: place.left for place in left_in(root, needles)}
    other = tuple(str(file) for file in _ours(state_folder(root)) if _holds(file, needles))
    if around is None:
        return replace(told, other_files=other, warnings=(*warnings, *_left(left)))
    with _worked(around, told) as work:
        changed = {os.fsdecode(path) for path in work.rewriting.seen.files}
        changed |= {folder.as_posix() for path in changed for folder in Path(path).parents}
        warnings += _left({path: why for path, why in left.items() if path not in changed})
        return replace(told, other_files=other, **_history(work, around, warnings, all_paths))


def carry_out(told: Plan, *, force: bool = False, backup: Path | None = None) -> Outcome:
    """Do what a plan says, and prove it.

    With `force` also where history was pushed, or a file was changed and not committed; `backup` is a bundle of the
    old history, made first. Raises PurgeRefusedError, with nothing changed, and GitError. After a crash, a plan made
    again goes on with it.
    """
    start = time.monotonic()
    root = told.root
    around = repository.around(root)
    with Vault(root).lock():
        if around is None:
            _note(told)
            _clean_ours(told)
            commits, advice = 0, list[str]()
        else:
            commits, advice = _rewrite(told, around, force=force, backup=backup)
        (state_folder(root) / NOTE).unlink(missing_ok=True)
    found = prove(root, told.needles, [blob for _, blob in told.versions])
    return Outcome(found, commits, time.monotonic() - start, tuple(advice))


def _rewrite(told: Plan, around: Repository, *, force: bool, backup: Path | None) -> tuple[int, list[str]]:
    resumed = unfinished(told.root)  # then files are half changed by us
    with _worked(around, told) as work:
        for refusal in _refusals(work, around, told.paths):
            if not (refusal.forced and (force or resumed)):
                raise PurgeRefusedError(refusal.why, refusal.advice)
        if backup:
            _back_up(around, backup, told.root)
        _note(told, work.rewriting.names)
        try:
            work.pack.store()
            around.move(work.moves)
        except BaseException:
            if not resumed:  # nothing was changed, so there is nothing to go on with
                (state_folder(told.root) / NOTE).unlink(missing_ok=True)
            raise
        needles = work.rewriting.targets.needles
        for worktree, staged in work.staged:
            if worktree.folder:
                _clean_worktree(worktree.folder, staged, needles)
            worktree.restage(staged, work.width)  # after its files: it says which they are
        around.rewrite_logs(work.of, needles.scrubbed)
        _clean_drafts(around, needles, set(work.of))
        _clean_ours(told)
        unreachable = around.every() - around.reachable()
        around.destroy(work.rewriting.doomed(unreachable))
        return work.commits, [*_advice(work)]


@dataclass
class _Work:
    """A rewriting, and what follows from it for refs, logs and indexes."""

    rewriting: Rewriting
    pack: objects.Pack
    refs: list[Ref]
    moves: list[tuple[Ref, str | None]]
    of: dict[str, str]
    staged: list[tuple[Worktree, Staged]]
    width: int

    @property
    def commits(self) -> int:
        """How many commits get another id."""
        return sum(name in self.rewriting.commits for name in self.rewriting.new)

    @property
    def pushed(self) -> list[Ref]:
        """Refs of remotes that lead to what goes."""
        return [ref for ref, new in self.moves if new is None and ref.name.startswith(_REMOTE) and not ref.symbolic]


@contextmanager
def _worked(around: Repository, told: Plan) -> Iterator[_Work]:
    """What the plan comes to in the repository as it is now; nothing is written."""
    refs = around.refs()
    notes = _noting(around, refs)
    needles = Needles(told.needles)
    targets = Targets(needles, around.prefix, frozenset(told.versions), told.names)
    with objects.opened(around.top) as found:
        pack = objects.Pack(found)
        try:
            rewriting = Rewriting(found, pack, targets, notes)
            moves = list(_moves(rewriting, refs))
            of = {name: rewriting.of(name) for name in around.logged()}
            of = {name: new for name, new in {**rewriting.new, **of}.items() if new != name}
            paths = {around.prefix + os.fsencode(path) for path in told.paths}
            staged = [(worktree, _staged(rewriting, worktree, paths)) for worktree in around.worktrees]
            yield _Work(rewriting, pack, refs, moves, of, staged, found.width * 2)
        finally:
            pack.close()


def _noting(around: Repository, refs: Sequence[Ref]) -> set[str]:
    """The commits of refs/notes, whose trees name other objects."""
    names = [ref.name for ref in refs if ref.name.startswith(_NOTES)]
    return set(around.lines("rev-list", *names, "--")) if names else set()


def _moves(rewriting: Rewriting, refs: Sequence[Ref]) -> Iterator[tuple[Ref, str | None]]:
    ordered = sorted(refs, key=lambda ref: ref.name.startswith(_NOTES))  # notes are about the others
    became = {ref.name: rewriting.of(ref.id) for ref in ordered}
    for ref in refs:
        new = became[ref.name]
        if ref.name.startswith(_REPLACED):
            about = ref.name.removeprefix(_REPLACED)
            if rewriting.of(about) != about:
                yield ref, None
                yield Ref(_REPLACED + rewriting.of(about), "0" * len(ref.id), ref.kind, ""), new
                continue
        if new != ref.id and ref.symbolic:
            if ref.name.startswith(_REMOTE):  # what it points to goes
                yield ref, None
        elif new != ref.id:
            yield ref, None if ref.name.startswith(_REMOTE) else new


def _staged(rewriting: Rewriting, worktree: Worktree, paths: set[bytes]) -> Staged:
    """The entries of an index that become others."""
    changes: dict[bytes, tuple[bytes, bytes, str] | None] = {}
    for path, mode, name in worktree.staged():
        became = None if path in paths else rewriting.entry(path, mode, name)
        if became != (path, name):
            changes[path] = became and (became[0], mode, became[1])
    return changes


def _refusals(work: _Work, around: Repository, paths: Sequence[str]) -> Iterator[Refusal]:
    for why, advice in around.obstacles():
        yield Refusal(why, advice)
    if work.pushed:
        names = ", ".join(ref.name.removeprefix(_REMOTE) for ref in work.pushed)
        yield Refusal(
            f"it was pushed ({names})", "Purge it here with --force; then push with force, as you will be told", True
        )
    own = {around.prefix + os.fsencode(path) for path in paths}
    for worktree, staged in work.staged:
        if changed := sorted(worktree.changed() & ({*staged, *own})):
            names = ", ".join(os.fsdecode(path) for path in changed[:5])
            yield Refusal(f"changed and not committed: {names}", "Commit or discard that, or use --force", True)


def _history(work: _Work, around: Repository, warnings: list[str], paths: Sequence[str]) -> dict[str, Any]:
    """The part of a plan that is about git."""
    rewriting, seen = work.rewriting, work.rewriting.seen
    files = sorted(seen.files.items())
    needles = rewriting.targets.needles
    if seen.signatures:
        warnings.append(f"{len(seen.signatures)} commits or tags lose their signature, since what they sign changes")
    binary = (os.fsdecode(path) for path in sorted(seen.binary))
    named = (ref.name for ref in work.refs if needles.within(os.fsencode(ref.name)))
    kept = (pack for pack in around.packed(rewriting.holding) if pack.with_suffix(".keep").exists())
    warnings += [f"{path} is no text: its bytes are overwritten with *, which may damage it" for path in binary]
    warnings += [f"the name of {ref} holds it, and stays: rename it with git branch -m" for ref in named]
    warnings += [f"{pack.name} is marked to be kept; it is made anew, without the mark" for pack in kept]
    return {
        "history": tuple(Change(os.fsdecode(path), what) for path, what in files),
        "commits": work.commits,
        "commits_of": len(rewriting.commits),
        "messages": tuple(sorted(seen.messages)),
        "refs": tuple(ref.name for ref, _ in work.moves),
        "stashes": sum(name in work.of for name in around.lines("stash", "list", "--format=%H")),
        "signatures": len(seen.signatures),
        "remotes": tuple(_advice(work)),
        "refusals": tuple(_refusals(work, around, paths)),
        "warnings": tuple(warnings),
    }


def _advice(work: _Work) -> Iterator[str]:
    """What each remote still holds, and needs."""
    remotes: dict[str, list[str]] = {}
    for ref in work.pushed:
        remote, _, branch = ref.name.removeprefix(_REMOTE).partition("/")
        remotes.setdefault(remote, []).append(branch)
    for remote, branches in remotes.items():
        yield (
            f"{remote} still has it. Do not pull from it; replace what is there with: "
            f"git push --force {remote} {' '.join(branches)} (and the tags: git push --force {remote} --tags). "
            f"Whoever runs {remote} may have to delete old objects, and every other clone must be cloned anew"
        )


def _back_up(around: Repository, backup: Path, root: Path) -> None:
    place = backup.absolute()
    if any(place.resolve().is_relative_to(folder) for folder in (root, around.top, around.common)):
        raise PurgeRefusedError(f"the backup {backup} would be in the vault's own folder", "Name a file outside it")
    if place.exists():
        raise PurgeRefusedError(f"{backup} exists", "Name a file that does not")
    around.ask("bundle", "create", "--quiet", str(place), "--all")
    place.chmod(0o600)


def _clean_drafts(around: Repository, needles: Needles, old: set[str]) -> None:
    """Take the text out of what git keeps beside history."""
    for file in list(around.messages()):
        data = file.read_bytes()
        if not needles.within(data) and not needles.within(os.fsencode(file.name)):
            continue
        if file.name.endswith("MSG"):
            repository.replace(file, needles.scrubbed(data))
        elif "rr-cache" in file.parts:  # a conflict and its solution only make sense together
            shutil.rmtree(file.parent, ignore_errors=True)
        else:
            file.unlink(missing_ok=True)
    for file in around.pseudo():
        names = re.findall(r"[0-9a-f]{40,64}", file.read_text("utf-8", "surrogateescape"))
        if file.name != "ORIG_HEAD" or old.intersection(names) or needles.within(file.read_bytes()):
            file.unlink(missing_ok=True)


def _clean_worktree(folder: Path, staged: Staged, needles: Needles) -> None:
    """Do to the files of a worktree what was done to its index."""
    for path, became in staged.items():
        file = folder / os.fsdecode(path)
        if became is None:
            _delete(file, needles)
            continue
        _scrub(file, needles)
        if became[0] != path:
            _rename(file, folder / os.fsdecode(became[0]), needles)


def _clean_ours(told: Plan) -> None:
    """The vault's files, tracked or not; journal and chat history; index and vectors."""
    root, needles = told.root, Needles(told.needles)
    for path in told.paths:
        _delete(root / path, needles)
    changes, names = _on_disk(root, told.paths, needles, told.names)
    for change in changes:
        file = root / change.path
        if change.what == "deleted":
            _delete(file, needles)
            continue
        _scrub(file, needles)
        parts = [os.fsdecode(names.get(os.fsencode(part), os.fsencode(part))) for part in Path(change.path).parts]
        if (target := root.joinpath(*parts)) != file:
            _rename(file, target, needles)
    for file in _ours(state_folder(root)):
        _scrub(file, needles)
    _clean_cache(root)


def _clean_cache(root: Path) -> None:
    """Throw the index away; of the vectors keep those of memories that are there."""
    folder = cache_folder(root)
    if not folder.is_dir():
        return
    for entry in folder.iterdir():
        if entry.name == "vectors":
            _clean_vectors(root, entry)
        elif entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink(missing_ok=True)


def _clean_vectors(root: Path, folder: Path) -> None:
    from vault_mind.meaning import Meaning, forget_vectors  # late: only vaults with vectors need it

    try:
        forget_vectors(folder, {Meaning.text_of(memory)[0] for memory in Vault(root).memories()})
    except EmbeddingError:  # no numpy: they cannot be told apart, and can be made again
        shutil.rmtree(folder)


def _on_disk(
    root: Path, paths: Sequence[str], needles: Needles, known: Mapping[bytes, bytes]
) -> tuple[tuple[Change, ...], dict[bytes, bytes]]:
    """What becomes of the vault's Markdown files as they are, and names that become others."""
    changes: list[Change] = []
    telling_parts: dict[bytes, None] = {}
    for file in _markdown(root):
        path = file.relative_to(root).as_posix()
        if path in paths:
            changes.append(Change(path, "deleted"))
            continue
        data = _data(file)
        scrubbed = needles.scrubbed(data)
        if scrubbed != data:
            gone = emptied(data, scrubbed, needles)
            changes.append(Change(path, "deleted" if gone else "text taken out"))
        elif needles.within(os.fsencode(path)):
            changes.append(Change(path, "renamed"))
        telling_parts |= {part: None for part in map(os.fsencode, Path(path).parts) if needles.within(part)}
    return tuple(changes), _called_otherwise(root, list(telling_parts), known)


def _called_otherwise(root: Path, parts: Sequence[bytes], known: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    """What each of `parts`, names of files and folders, is called instead: no name that is there."""
    names = dict(known)
    if unknown := [part for part in parts if part not in names]:
        there = (name for _, folders, files in os.walk(root) for name in (*folders, *files))
        taken = {os.fsencode(name).partition(b".")[0] for name in there} | {
            n.partition(b".")[0] for n in names.values()
        }
        free = (new for new in (b"purged-%d" % number for number in count(1)) if new not in taken)
        names |= {part: next(free) + (b".md" if part.lower().endswith(b".md") else b"") for part in unknown}
    return names


def _markdown(root: Path) -> Iterator[Path]:
    """Every Markdown file of the vault, whether it is read or ignored; dot-folders are others'."""
    for at, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(at, n) for n in sorted(files) if n.lower().endswith(".md") and not n.startswith("."))


def _memories(
    root: Path, paths: Sequence[str], around: Repository | None, versions: Mapping[tuple[bytes, str], None]
) -> Iterator[Memory]:
    """Every version of the memories at `paths`: as the file is, and as it was."""
    for path in paths:
        if data := _data(root / path):
            yield parse(path, decoded(data)[0])
    if around is None or not versions:
        return
    with objects.opened(around.top) as found:
        for name, blob in versions:
            if read := found.read(blob):
                yield parse(os.fsdecode(name), decoded(read[1])[0])


def _texts(memory: Memory) -> Iterator[str]:
    """What a memory says, each thing by itself."""
    for line in memory.body.splitlines():
        sentences = _SENTENCE.split(line)
        yield from sentences
        if len(sentences) > 1 and not all(Needle(sentence).telling for sentence in sentences):
            yield line
    for text in (memory.quote, memory.title, *memory.aliases, memory.stem.replace("-", " ")):
        yield text or ""


def _warnings(phrase: str | None, weak: Sequence[str], disk: Sequence[Change], paths: Sequence[str]) -> Iterator[str]:
    if phrase and Needle(phrase).letters < SHORT:
        yield f"{phrase!r} is short: it is taken out of longer words too"
    for text in weak:
        if phrase is None:
            yield f"{text!r} says too little to be looked for elsewhere: it goes with its file only"
    others = [change for change in disk if change.path not in paths]
    if phrase is None and len(others) >= COMMON:
        yield f"what it says also stands in {len(others)} other files, and is taken out of each: look at them first"


def _left(places: Mapping[str, str]) -> list[str]:
    return [f"{path} holds it too, and stays: {why}" for path, why in places.items()]


def _scrub(file: Path, needles: Needles) -> None:
    """Take the text out of a file, if it is there. Where that cannot be done the rest goes on: the proof names it."""
    data = _data(file)
    scrubbed = needles.scrubbed(data)
    if scrubbed != data:
        try:
            write_whole(file, scrubbed, expected=data)
        except VaultMindError as error:
            log.warning("not purged: %s", error)


def _delete(file: Path, needles: Needles) -> None:
    if file.is_symlink() or file.is_file():
        file.unlink()
        _leave(file.parent, needles)


def _leave(folder: Path, needles: Needles) -> None:
    """Delete a folder whose own name holds the text, if nothing is in it any more."""
    while needles.within(os.fsencode(folder.name)):
        try:
            folder.rmdir()
        except OSError:
            break
        folder = folder.parent


def _rename(file: Path, target: Path, needles: Needles) -> None:
    if file.exists() and not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        move_new(file, target)
        _leave(file.parent, needles)


def _data(file: Path) -> bytes:
    """The bytes of a regular file; none of anything else."""
    try:
        return b"" if file.is_symlink() else read_regular(file, _LARGEST)[0]
    except UnreadableError:
        return b""


def _ours(folder: Path) -> list[Path]:
    """The files of the state folder, but for the note of this purge."""
    if not folder.is_dir():
        return []
    files = (file for file in sorted(folder.rglob("*")) if file.is_file() and not file.is_symlink())
    return [file for file in files if file.name != NOTE and file.suffix != ".lock"]


def _holds(file: Path, needles: Needles) -> bool:
    return needles.within(_data(file))


@dataclass(frozen=True)
class _Noted:
    """A purge that was begun and not finished."""

    paths: tuple[str, ...] = ()
    needles: tuple[str, ...] = ()
    versions: tuple[tuple[bytes, str], ...] = ()
    names: Mapping[bytes, bytes] = field(default_factory=dict)


def unfinished(root: Path) -> bool:
    """Whether a purge of this vault was cut short: plan it again, or any other, and carry that out."""
    return (state_folder(root) / NOTE).exists()


def _noted(root: Path) -> _Noted:
    with suppress(FileNotFoundError):
        said = json.loads((state_folder(root) / NOTE).read_bytes())
        return _Noted(
            tuple(said["paths"]),
            tuple(said["needles"]),
            tuple((os.fsencode(path), blob) for path, blob in said["versions"]),
            {os.fsencode(old): os.fsencode(new) for old, new in said["names"].items()},
        )
    return _Noted()


def _note(told: Plan, names: Mapping[bytes, bytes] | None = None) -> None:
    """Write down what is being purged, whole or not at all."""
    said = {
        "paths": told.paths,
        "needles": told.needles,
        "versions": [(os.fsdecode(path), blob) for path, blob in told.versions],
        "names": {os.fsdecode(old): os.fsdecode(new) for old, new in {**told.names, **(names or {})}.items()},
    }
    file = private_folder(state_folder(told.root)) / NOTE
    write_whole(file, json.dumps(said).encode(), expected=file.read_bytes() if file.exists() else None)
    file.chmod(0o600)

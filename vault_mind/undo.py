"""A turn, taken back: planned first, so that it can be looked at, then done as a version that says the inverse."""

import difflib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

from vault_mind.commits import Outcome, commit
from vault_mind.errors import (
    NothingToUndoError,
    UndoRefusedError,
    UnreadableError,
    VaultMindError,
    VersionNotFoundError,
)
from vault_mind.files import read_regular, remove, write_whole
from vault_mind.history import Change, Entry, History, Version, merged

UNDOES = "Undoes"
BEGUN = "init"  # the source of the version in which a vault began, which is nobody's last turn


@dataclass(frozen=True)
class Step:
    """One file, as it is and as it is to be; None: it is not there."""

    path: str
    now: bytes | None
    then: bytes | None


@dataclass(frozen=True)
class Plan:
    """What taking back `version` does to the working tree; `diff` shows it."""

    version: Version
    steps: tuple[Step, ...]

    @property
    def diff(self) -> str:
        """The change as a unified diff; bytes that are not UTF-8 are shown as �."""
        return "".join(map(difference, self.steps))


def plan(history: History, name: str | None = None) -> Plan:
    """How to take back a version (its id, or the Turn that its trailer names), or else the last that is not taken back.

    What was changed elsewhere since stays. Raises UndoRefusedError where later edits, committed or not, touch the same
    lines, and VersionNotFoundError (NothingToUndoError where no turn is left).
    """
    if name is not None:
        version = _named(history, name)
        if planned := _planned(history, version):
            return planned
        raise UndoRefusedError(version.id[:10], "there is nothing of it left to take back")
    for version in _turns(history):
        if planned := _planned(history, version):
            return planned
    raise NothingToUndoError


def _planned(history: History, version: Version) -> Plan | None:
    """The plan for one version; None when all that it did is gone already."""
    if len(version.parents) > 1:
        raise UndoRefusedError(version.id[:10], "it joins two lines of versions")
    parent = version.parents[0] if version.parents else history.empty_tree()
    paths = sorted({path for change in version.changes for path in (change.path, change.was) if path})
    found = _Found(history, version, history.entries(parent, paths), history.entries(version.id, paths))
    steps = [step for change in version.changes for step in found.steps(change)]
    left = tuple(step for step in steps if step.now != step.then)
    return Plan(version, left) if left else None


def undo(history: History, planned: Plan, subject: str, trailers: Mapping[str, str]) -> Outcome:
    """Do what was planned, and make it a version. Call it with the vault's lock held.

    Raises MemoryChangedError when a file is no longer what the plan found, and WriteFailedError; all files are then
    as they were.
    """
    done: list[Step] = []
    try:
        for step in planned.steps:
            _put(history, step)
            done.append(step)
    except VaultMindError:
        for step in reversed(done):
            with suppress(VaultMindError):  # somebody has changed it since: theirs stays
                _put(history, Step(step.path, step.then, step.now))
        raise
    before = {step.path: step.now for step in planned.steps if step.now is not None}
    paths = [step.path for step in planned.steps]
    return commit(history, paths, subject, {**trailers, UNDOES: planned.version.id}, before=before)


def difference(step: Step) -> str:
    """What a step changes, as a unified diff."""
    sides = [(data or b"").decode("utf-8", "replace").splitlines(keepends=True) for data in (step.now, step.then)]
    names = [step.path if data is not None else "/dev/null" for data in (step.now, step.then)]
    lines = difflib.unified_diff(sides[0], sides[1], names[0], names[1])
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _named(history: History, name: str) -> Version:
    with suppress(VersionNotFoundError):
        return history.version(name)
    for version in history.versions():
        if version.trailers.get("Turn") == name:
            return version
    raise VersionNotFoundError(name)


def _turns(history: History) -> Iterator[Version]:
    """The turns that are not taken back, newest first: so that undo after undo walks back."""
    undone: set[str] = set()
    for version in history.versions(first_parent=True):
        if version.id in undone:
            continue
        if taken := version.trailers.get(UNDOES):
            undone.add(taken)
        elif version.ours and version.trailers.get("Source") != BEGUN:
            yield version


@dataclass(frozen=True)
class _Found:
    """What a version found and left, by path, beside what is there today."""

    history: History
    version: Version
    before: Mapping[str, Entry]
    after: Mapping[str, Entry]

    @cached_property
    def moved(self) -> Mapping[str, str]:
        """Where files of that version are today, of those that were renamed since."""
        if self.history.head().id == self.version.id:
            return {}
        changes = self.history.changes(self.version.id, "HEAD")
        return {change.was: change.path for change in changes if change.status == "renamed"}

    def steps(self, change: Change) -> list[Step]:
        """What becomes of one change's files. Raises UndoRefusedError."""
        old, new = self.before.get(change.was or change.path), self.after.get(change.path)
        if any(entry and not entry[0].startswith("100") for entry in (old, new)):
            raise UndoRefusedError(change.path, "it is no plain file")
        today = self.moved.get(change.path, change.path)
        now = _read(self.history, today)
        if new is None:
            return [self._brought_back(change.path, now, old)]
        if now is None:
            return self._missing(change, old)
        if old is None:
            return [self._taken_away(today, now, new)]
        then = self._without(today, now, old, new)
        if not change.was or change.was == today:
            return [Step(today, now, then)]
        if _read(self.history, change.was) is not None:
            raise UndoRefusedError(change.was, "a new file has its name")
        return [Step(change.was, None, then), Step(today, now, None)]

    def _brought_back(self, path: str, now: bytes | None, old: Entry | None) -> Step:
        """A file that the version deleted."""
        # vault-mind writes LF wherever it runs, so that this is what was there.
        back = self.history.smudged(path, old[1], endings=False) if old else None
        if now is not None and now != back:
            raise UndoRefusedError(path, "a new file has its name")
        return Step(path, now, back)

    def _missing(self, change: Change, old: Entry | None) -> list[Step]:
        """A file that the version wrote and that is gone: made by it, or renamed by it, it is taken back already."""
        if old is not None and not change.was:
            raise UndoRefusedError(change.path, "it is gone; bring it back first, by undoing what deleted it")
        return []

    def _taken_away(self, path: str, now: bytes, new: Entry) -> Step:
        """A file that the version made."""
        if new[1] not in (self.history.keep(now, path), self.history.keep(now)):
            raise UndoRefusedError(path, f"it was edited later{self._by(path)}; delete it by hand if you mean it")
        return Step(path, now, None)

    def _without(self, path: str, now: bytes, old: Entry, new: Entry) -> bytes:
        """The file without what the version did to it."""
        stored, then = self.history.blob(self.history.keep(now, path)), self.history.blob(old[1])
        written = self.history.blob(new[1])
        wanted = then if stored == written else merged(stored, written, then)
        if wanted is None:
            raise UndoRefusedError(path, f"the same lines were edited later{self._by(path)}")
        return wanted if stored == now else self.history.smudged(path, self.history.keep(wanted))

    def _by(self, path: str) -> str:
        """Which later version touched it, as far as a reader needs it."""
        for later in self.history.versions(path, limit=1):
            if later.id != self.version.id:
                return f" ({later.id[:10]}: {later.subject})"
        return " by hand"


def _read(history: History, path: str) -> bytes | None:
    try:
        return read_regular(history.root / path, None)[0]
    except UnreadableError as error:
        if (history.root / path).is_symlink() or (history.root / path).exists():
            raise UndoRefusedError(path, error.why) from error
        return None


def _put(history: History, step: Step) -> None:
    file = history.root / step.path
    if step.then is None:
        remove(file, expected=step.now or b"")
    else:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, step.then, expected=step.now)

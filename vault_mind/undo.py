"""A turn, taken back: planned first, so that it can be looked at, then done as a version that says the inverse."""

import difflib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from vault_mind.commits import Outcome, commit
from vault_mind.errors import UndoRefusedError, UnreadableError, VaultMindError, VersionNotFoundError
from vault_mind.files import read_regular, remove, write_whole
from vault_mind.history import History, Version, merged

UNDOES = "Undoes"


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
        return "".join(_diff(step) for step in self.steps)


def plan(history: History, name: str | None = None) -> Plan:
    """How to take back a version (its id, or the Turn that its trailer names), or else the last that is not taken back.

    What was changed elsewhere since stays. Raises UndoRefusedError where later edits, committed or not, touch the same
    lines, and VersionNotFoundError.
    """
    version = _meant(history, name)
    if len(version.parents) > 1:
        raise UndoRefusedError(version.id[:10], "it joins two lines of versions")
    parent = version.parents[0] if version.parents else history.empty_tree()
    paths = sorted({path for change in version.changes for path in (change.path, change.was) if path})
    before, after = history.entries(parent, paths), history.entries(version.id, paths)
    moved = _moved(history, version)
    steps = [_step(history, version, path, before.get(path), after.get(path), moved.get(path, path)) for path in paths]
    return Plan(version, tuple(step for step in steps if step.now != step.then))


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


def _meant(history: History, name: str | None) -> Version:
    if name is None:
        undone: set[str] = set()
        for version in history.versions(first_parent=True):
            if version.id not in undone and (taken := version.trailers.get(UNDOES)):
                undone.add(taken)
            elif version.id not in undone and version.ours and version.changes:
                return version
        raise VersionNotFoundError("the last turn")
    with suppress(VersionNotFoundError):
        return history.version(name)
    for version in history.versions():
        if version.trailers.get("Turn") == name:
            return version
    raise VersionNotFoundError(name)


def _moved(history: History, version: Version) -> dict[str, str]:
    """Where files of that version are today, of those that were renamed since."""
    if history.head().id in (None, version.id):
        return {}
    return {change.was: change.path for change in history.changes(version.id, "HEAD") if change.status == "renamed"}


def _step(
    history: History,
    version: Version,
    path: str,
    before: tuple[str, str] | None,
    after: tuple[str, str] | None,
    today: str,
) -> Step:
    """What becomes of one file."""
    for mode, _ in filter(None, (before, after)):
        if not mode.startswith("100"):
            raise UndoRefusedError(path, "it is no plain file")
    now = _read(history, today)
    if after is None and before is not None:  # it was deleted
        back = history.smudged(path, before[1], endings=False)  # vault-mind writes LF, wherever it runs
        if now is None or now == back:
            return Step(path, now, back)
        raise UndoRefusedError(path, "a new file has its name")
    if after is None:
        return Step(path, now, now)
    if now is None:
        if before is None:
            return Step(path, None, None)  # what it added is gone already
        raise UndoRefusedError(path, "it is gone; bring it back or take back its deletion first")
    if before is None:
        if after[1] in (history.keep(now, today), history.keep(now)):
            return Step(today, now, None)
        raise UndoRefusedError(
            today, f"it was edited later{_by(history, today, version)}; delete it by hand if you mean it"
        )
    return Step(today, now, _without(history, version, today, now, before[1], after[1]))


def _without(history: History, version: Version, path: str, now: bytes, before: str, after: str) -> bytes:
    """The file without what the version did to it."""
    stored, old, new = history.blob(history.keep(now, path)), history.blob(before), history.blob(after)
    if stored == new:
        wanted = old
    else:
        both = merged(stored, new, old)
        if both is None:
            raise UndoRefusedError(path, f"the same lines were edited later{_by(history, path, version)}")
        wanted = both
    return wanted if stored == now else history.smudged(path, history.keep(wanted))


def _by(history: History, path: str, version: Version) -> str:
    """Which later version touched it, as far as a reader needs it."""
    for later in history.versions(path, limit=1):
        if later.id != version.id:
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


def _diff(step: Step) -> str:
    sides = [(data or b"").decode("utf-8", "replace").splitlines(keepends=True) for data in (step.now, step.then)]
    names = [step.path if data is not None else "/dev/null" for data in (step.now, step.then)]
    lines = difflib.unified_diff(sides[0], sides[1], names[0], names[1])
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)

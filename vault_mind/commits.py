"""One turn, one commit: exactly the files that it wrote, with nothing of their owner's staging touched.

A tree is made beside the user's index and never in it: HEAD's tree, with our paths as `git add` would store them (line
endings and clean filters as configured; the working tree keeps its bytes). Hooks are asked, the version is signed where
the user signs. Then, with the index locked as git locks it, the branch moves if it still is where we began, and our
entries of the user's index follow. What cannot be committed now is noted in the state folder, turn by turn, and
committed as it was meant by the next call that can.
"""

import logging
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from vault_mind.config import state_folder
from vault_mind.drafts import ADDRESS, IDENTITY, ask_hook, drafted, identified, rules_of
from vault_mind.errors import BusyError, GitError, NotCommittedError, VaultMindError, WriteFailedError
from vault_mind.errors import _told as told
from vault_mind.files import locked
from vault_mind.history import Entry, Head, History, Version, merged
from vault_mind.staging import Changed, await_lock, follow, held, lock_told, put, stored_in
from vault_mind.turns import Turn, message, note, noted, waiting

QUEUE = 120.0  # seconds that other commits of ours are waited for
REFUSED = 5  # waiting turns that hooks may refuse before the rest is left alone
TRIES = 8  # how often we begin anew because the branch moved meanwhile

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Outcome:
    """How a commit went: the version (None: nothing differed, or it has to wait: then `why`), and what was left out.

    `why` and each line of `left_out` are sentences for the user; of what is left out, `waiting` is tried again.
    """

    version: Version | None
    why: str = ""
    left_out: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()


def commit(
    history: History,
    paths: Sequence[str],
    subject: str,
    trailers: Mapping[str, str],
    *,
    before: Mapping[str, bytes] | None = None,
    by_hand: str = "Edited by hand",
) -> Outcome:
    """Make one version of the vault's `paths` as they are on disk: new, changed, deleted or renamed (both names).

    Never raises for what git, the disk or a hook refuses: the files are left as they are, noted, and committed with
    the next call that can; `why` says so. Turns that were waiting are committed first, each as its own version.
    `before` gives, of files that existed, the bytes that the turn found: what somebody had changed in them by hand
    and not committed stays theirs to commit, and out of ours; where the two cannot be told apart, theirs becomes a
    version before ours, whose subject `by_hand` begins.
    """
    turn = Turn(tuple(dict.fromkeys(paths)), subject, dict(trailers), dict(before or {}), by_hand)
    if history.off:
        return _put_off(history, turn, history.off) if history.wanted else Outcome(None)
    try:
        with _queued(history):
            return _in_turn(history, turn)
    except (BusyError, WriteFailedError) as error:
        return _put_off(history, turn, str(error))
    except KeyboardInterrupt:  # while it waited for others, perhaps, and then it is not noted yet
        _put_off(history, turn, "it was stopped")
        raise


def put_by(history: History, path: str, subject: str) -> bool:
    """See that a version holds the file as it is, with its owner's edits; whether one does.

    It is now or never: of what cannot be committed nothing is noted.
    """
    if history.off:
        return False
    try:
        with _queued(history):
            _catch_up(history, noted(history), {})
            return not _committed(history, Turn((path,), subject)).left_out
    except (VaultMindError, OSError) as error:
        log.info("no version holds %s", path, exc_info=error)
        return False


def commit_by_hand(history: History, subject: str, leaving: Iterable[str] = ()) -> Outcome:
    """Commit what the vault's owner changed in Markdown files and did not commit, as the owner's: with no trailers.

    A file of which anything is staged is left out: its owner is choosing what to commit of it. So are the paths of
    `leaving`, what a merge left in conflict, and everything when no name and address are set, for it would not be the
    owner's. Call it with the vault's lock held, and hold that from a turn's first write to its commit: else a turn of
    another process is taken for an edit.
    """
    try:
        if history.off or not set(_edited(history)).difference(leaving):
            return Outcome(None)
        if not identified(history):
            return Outcome(None, f"Your edits are not yet in git: {NO_IDENTITY}.")
        with _queued(history):
            _catch_up(history, noted(history), {})  # what waits is no edit of theirs
            ours = {*leaving, *waiting(history)}
            return _committed(history, Turn(tuple(path for path in _edited(history) if path not in ours), subject))
    except NotCommittedError as wait:
        return Outcome(None, f"Your edits are not yet in git: {wait.why}.")
    except GitError as error:
        return Outcome(None, f"Your edits are not yet in git: {_last_line(error)}.")
    except (BusyError, WriteFailedError) as error:
        return Outcome(None, f"Your edits are not yet in git: {error}.")


def state(history: History) -> list[str]:
    """What is odd about the vault's git, each a sentence that says what to do."""
    if history.off:
        return [history.off] if history.wanted else []
    found = []
    underway, age = history.underway(), history.lock_age()
    if underway:
        found.append(f"{underway}; until then nothing is committed")
    elif history.head().branch is None:
        found.append(_DETACHED)
    if age is not None:
        found.append(lock_told(history, age))
    found += [f"{told(path)} is in conflict: edit it, then git add it" for path in history.unmerged()]
    if not identified(history):
        found.append(f"{NO_IDENTITY}. Until then commits are made as {IDENTITY} <{ADDRESS}>")
    if paths := waiting(history):
        shown = ", ".join(told(path) for path in paths[:5]) + (", …" if len(paths) > 5 else "")
        found.append(f"{len(paths)} of our files are in no version yet ({shown}); the next commit takes them along")
    return found


NO_IDENTITY = (
    "git knows no name and address of yours; set them with: git config --global user.name NAME, "
    "and git config --global user.email ADDRESS"
)
_DETACHED = "HEAD is detached, and what is committed there is easily lost; go back to a branch with: git switch BRANCH"


@contextmanager
def _queued(history: History) -> Iterator[None]:
    """Commits of ours, one after another. Raises BusyError and WriteFailedError."""
    with locked(state_folder(history.place().git_dir) / "history.lock", "the vault's history", QUEUE):
        yield


def _put_off(history: History, turn: Turn, why: str, left_out: Sequence[str] = ()) -> Outcome:
    more = "The next commit takes it along."
    try:
        note(history, turn)
    except (OSError, VaultMindError) as error:
        more = f"It could not even be noted ({error}): commit it by hand."
    return Outcome(None, f"Saved, but not yet in git: {why}. {more}", tuple(left_out))


def _in_turn(history: History, turn: Turn) -> Outcome:
    """The turns that wait, then this one; whatever happens, each is in a version or noted."""
    mark = None
    with suppress(OSError, VaultMindError):  # the disk is full: the commit says so
        earlier = noted(history)
        mark = note(history, turn)  # before anything else, so that being killed here loses nothing
    try:
        if mark is not None:
            _catch_up(history, earlier, turn.before)
        outcome = _committed(history, turn)
    except NotCommittedError as wait:
        why = wait.why
    except (GitError, OSError) as error:
        why = _last_line(error) if isinstance(error, GitError) else (error.strerror or str(error)).lower()
    else:
        if mark is not None:
            _keep_waiting(history, turn, outcome)
            mark.unlink(missing_ok=True)
        return outcome
    if mark is None:
        return _put_off(history, turn, why)
    return Outcome(None, f"Saved, but not yet in git: {why}. The next commit takes it along.")


def _last_line(error: GitError) -> str:
    return error.why.splitlines()[-1].removeprefix("fatal: ")


def _catch_up(history: History, earlier: list[tuple[Path, Turn]], before: Mapping[str, bytes]) -> None:
    """Commit the turns that wait, without what the turn after them did to files that it found as `before`.

    One that a hook refuses goes on waiting, behind the others; after some of those the rest is left for another time.
    """
    refused = 0
    for file, turn in earlier:
        if refused == REFUSED:
            return
        try:
            refused += _keep_waiting(history, turn, _committed(history, turn, before))
        except NotCommittedError as wait:
            if wait.every:
                raise
            refused += 1
            note(history, turn)
        file.unlink(missing_ok=True)


def _keep_waiting(history: History, turn: Turn, outcome: Outcome) -> bool:
    """Note what git refused of a turn; whether there was any."""
    if outcome.waiting:
        note(history, replace(turn, paths=outcome.waiting))
    return bool(outcome.waiting)


def _committed(history: History, turn: Turn, contents: Mapping[str, bytes] | None = None) -> Outcome:
    """Make the version, of the files on disk but for `contents`. Raises NotCommittedError and GitError."""
    for _ in range(TRIES):
        head, rules = _ready(history), rules_of(history)
        with tempfile.TemporaryDirectory(prefix="vault-mind-") as folder:
            made = _made(history, rules, head, turn, contents or {}, Path(folder))
            if made.tip == head.id:
                return Outcome(None, "", made.left_out, made.waiting)
            if _moved(history, head, made, turn.subject):
                ask_hook(history, rules, "post-commit", fine=True)
                if (made.tip or "").startswith("0"):  # now and then, as every `git commit` does
                    history.run("gc", "--auto", "--quiet")
                return Outcome(history.known(made.tip or "HEAD"), "", made.left_out, made.waiting)
    raise NotCommittedError("somebody else commits all the time")


def _ready(history: History) -> Head:
    """HEAD, when this is a moment to commit. Raises NotCommittedError."""
    if underway := history.underway():
        raise NotCommittedError(underway)
    head = history.head()
    if head.branch is None:
        raise NotCommittedError(_DETACHED)
    await_lock(history)
    return head


@dataclass(frozen=True)
class _Made:
    """A version that no branch names yet: its tip, and each path's entries before and after."""

    tip: str | None
    entries: Changed
    left_out: tuple[str, ...]
    waiting: tuple[str, ...]


def _made(
    history: History, rules: Mapping[str, str], head: Head, turn: Turn, contents: Mapping[str, bytes], folder: Path
) -> _Made:
    """Make the version, in an index of its own."""
    index = {"GIT_INDEX_FILE": str(folder / "index")}
    base = head.id or history.empty_tree()
    history.ask("read-tree", base, extra=index)
    refused = stored_in(history, index, turn.paths)
    left_out = list(refused.values())
    tree = history.ask("write-tree", extra=index).decode().strip()
    entries = {**history.differing(base, tree)}
    # Put aside: what is ignored, and what a later turn did to a file of this one.
    aside: dict[str, Entry | None] = {}
    new = [path for path, (old, _) in entries.items() if old is None]
    for path in sorted(history.ignored(new)) if new else ():
        left_out.append(f"{told(path)} is saved and not in git: your ignore rules leave it out")
        aside[path] = None
    for path, data in contents.items():
        _, now = entries.get(path, (None, None))
        if now is not None and path not in aside:
            aside[path] = (now[0], history.keep(data, path))
    apart, narrowed = _apart(history, turn, {path: pair for path, pair in entries.items() if path not in aside})
    aside |= narrowed
    tip = head.id
    if apart:  # what we changed stood in no version: it gets one of its own, so that undoing ours brings it back
        tip = _alone(history, rules, tip, Turn(tuple(apart), f"{turn.by_hand}: {', '.join(apart)}"), apart, folder)
    if aside:
        put(history, index, aside)
        tree = history.ask("write-tree", extra=index).decode().strip()
        entries = {**history.differing(base, tree)}
    if entries:
        tip = drafted(history, rules, index, tree, tip, turn, folder)
    return _Made(tip, entries, tuple(left_out), tuple(refused))


def _alone(
    history: History, rules: Mapping[str, str], tip: str | None, turn: Turn, entries: Mapping[str, Entry], folder: Path
) -> str:
    """A version that holds nothing new but these entries, on no branch yet."""
    index = {"GIT_INDEX_FILE": str(folder / "alone")}
    history.ask("read-tree", tip or "--empty", extra=index)
    put(history, index, entries)
    tree = history.ask("write-tree", extra=index).decode().strip()
    return drafted(history, rules, index, tree, tip, turn, folder)


def _apart(history: History, turn: Turn, entries: Changed) -> tuple[dict[str, Entry], dict[str, Entry]]:
    """Hand edits and ours in the same file, told apart where the caller said what it found.

    Gives the entries that a version of its own must hold before ours (an edit that cannot be told apart, a file that
    was in no version), and those of ours with the hand edits left out.
    """
    by_hand, narrowed = {}, {}
    for path, found in turn.before.items():
        old, new = entries.get(path, (None, None))
        if (old is None and new is None) or (old is not None and history.is_blob(found, old[1])):
            continue
        blob = history.keep(found, path)
        if old is not None and blob == old[1]:
            continue
        if old is not None and new is not None:
            ours = merged(history.blob(new[1]), history.blob(blob), history.blob(old[1]))
            if ours is not None:
                narrowed[path] = (new[0], history.keep(ours))
                continue
        by_hand[path] = ((new or old or ("100644", ""))[0], blob)
    return by_hand, narrowed


def _moved(history: History, head: Head, made: _Made, subject: str) -> bool:
    """Let our entries of the index follow, and move the branch to what was made; False when it was moved meanwhile.

    In this order: whoever is killed between the two leaves our files staged, and not their deletion.
    """
    with held(history) as index:
        copy, old = index.with_name("vault-mind-index"), index.with_name("vault-mind-index-old")
        left = (copy, old, copy.with_name(f"{copy.name}.lock"))
        _sweep(left)  # of one that was killed
        try:
            if index.exists():
                # With its time: by that git tells which entries are too young to be trusted without reading the file.
                shutil.copy2(index, copy)
                shutil.copy2(index, old)
            follow(history, {"GIT_INDEX_FILE": str(copy)}, made.entries)
            if copy.exists():
                copy.replace(index)
            reason = message(Turn((), f"commit: {subject}")).decode().strip()
            words = ("update-ref", "-m", reason, "HEAD", made.tip or "", head.id or "")  # "": it must not exist
            code, _, err = history.run(*words)
            if code == 0:
                return True
            if old.exists():
                old.replace(index)
            else:
                index.unlink(missing_ok=True)
            if history.head() != head:
                return False
            raise NotCommittedError(f"git cannot move the branch ({err.decode('utf-8', 'replace').strip()})")
        finally:
            _sweep(left)


def _sweep(files: Iterable[Path]) -> None:
    for file in files:
        file.unlink(missing_ok=True)


def _edited(history: History) -> list[str]:
    """The vault's Markdown files that differ from HEAD and of which nothing is staged."""
    prefix = history.place().prefix
    words = ("--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--", prefix or ".")
    found = []
    for line in os.fsdecode(history.ask("status", *words)).split("\0"):
        state, name = line[:2], line[3:]
        path = history.in_vault(name) if name else None
        if path is None or not path.lower().endswith(".md") or any(part.startswith(".") for part in path.split("/")):
            continue
        if state in (" M", " D", " T", "??"):
            found.append(path)
    return found

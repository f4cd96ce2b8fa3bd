"""The watcher: says what changed in the vault, soon after it did; it never writes there.

watchdog's events only ring a bell. After a moment of quiet the index is synced, and what it holds then is compared
with what it held before, so that lost, doubled or misleading events cost nothing but time. No search relies on it:
writes through a memory map, hard links, network mounts and full queues bring no event, so each search looks itself.
"""

import errno
import json
import logging
import os
import stat
import sys
import threading
import time
import warnings
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from vault_mind.config import state_folder
from vault_mind.errors import BusyError, VaultMindError
from vault_mind.files import is_held, locked, private_folder
from vault_mind.index import Index
from vault_mind.listing import unpacked
from vault_mind.memory import Memory
from vault_mind.vault import Problem, Vault

WATCHERS = "watchers"  # the folder, in the vault's state, of a file for each watcher that lives
SLOWEST = 20  # times of a sync that pass at least between two looks on a timer
SAFETY = 100  # the same between two looks that nobody rang for
MOST_MOVES = 50_000  # moves remembered between two looks; beyond, the oldest show as gone and new
MOST_HERE = 100  # watchers of one vault in one process
MANY = 500  # memories looked at in one go
ANEW = 5  # times in `retry` that watchdog's threads are started anew before we look on a timer

_BLANK = "\ufeff \t\r\n\f\v\0"
_LIMITS = {
    errno.ENOSPC: (
        "the system's limit of watched folders is reached (on Linux, raise it with: "
        "sudo sysctl fs.inotify.max_user_watches=1048576)"
    ),
    errno.EMFILE: (
        "the system's limit of watchers or open files is reached (on Linux, raise it with: "
        "sudo sysctl fs.inotify.max_user_instances=1024, or ulimit -n 4096)"
    ),
}

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Change:
    """What happened to one path, as it was noticed; `to` is its new path, `memory` what it says now (None: gone)."""

    at: datetime
    event: Literal["new", "changed", "gone", "renamed"]
    path: str
    to: str | None = None
    memory: Memory | None = None


@dataclass(frozen=True)
class Notice:
    """A sentence about the watching itself; `trouble` when it does not go as it should."""

    text: str
    trouble: bool = False


News = Change | Problem | Notice


@dataclass(frozen=True)
class Pace:
    """How long things take, in seconds."""

    quiet: float = 0.3  # without an event, before a look
    ceiling: float = 2.0  # from the first event to a look, however long the burst
    hold: float = 1.0  # that a file must have been gone or empty, and nothing else stirred, before it is told
    longest: float = 10.0  # the same whatever stirs
    check: float = 1.0  # between two checks of the folder and of watchdog's threads
    safety: float = 30.0  # between two looks that nobody rang for
    poll: float = 2.0  # between two looks where there are no events
    retry: float = 60.0  # before events are tried once more


@dataclass(frozen=True)
class Living:
    """A watcher that is alive: its process, since when, and whether it goes by `events` or `polling`."""

    pid: int
    since: str
    how: str


def living(folder: Path) -> list[Living]:
    """The watchers that live, of the vault whose state is in `folder`; what dead ones left there is swept."""
    found = []
    for file in sorted((folder / WATCHERS).glob("*.json")):
        try:
            if is_held(file.with_suffix(".lock")):
                told = json.loads(file.read_text("utf-8"))
                found.append(Living(int(told["pid"]), str(told["since"]), str(told["how"])))
            else:
                file.unlink(missing_ok=True)
                file.with_suffix(".lock").unlink(missing_ok=True)
        except (OSError, ValueError, LookupError, TypeError) as error:  # it ended just now, or is not ours to read
            log.info("not read: %s", file, exc_info=error)
    return found


class Watcher:
    """Watches `vault` through `index`, which no other thread may use, and tells `told` what changes.

    With `poll` it looks every so many seconds, and listens to no events.
    """

    def __init__(
        self, vault: Vault, index: Index, told: Callable[[News], None], *, poll: float = 0.0, pace: Pace | None = None
    ) -> None:
        self._root = os.path.realpath(vault.root)
        self._vault, self._index, self._told, self._poll = vault, index, told, poll
        self._pace = pace or Pace()
        self._bell = _Bell(self._root, (os.path.realpath(state_folder(vault.root)), os.path.realpath(index.folder)))
        self._view = _View(vault, index, self._pace)
        self._stopping = False
        self._ears: _Ears | None = None
        self._starts: deque[float] = deque(maxlen=ANEW)
        self._folder: tuple[int, int] | None = None
        self._away = False
        self._retry, self._checked, self._looked, self._took = 0.0, 0.0, 0.0, 0.0
        self._again: float | None = None
        self._sign: _Sign | None = None
        self._said: set[str] = set()  # which troubles were told and still hold

    @property
    def how(self) -> str:
        """`events`, or `polling` where it looks on a timer."""
        return "events" if self._ears else "polling"

    def run(self) -> None:
        """Watch until `stop` is called. Raises OSError when `told` does: nobody listens any more."""
        try:
            self._check()  # listen first, so that nothing falls between
            with self._known_to_others():
                self._look()
                if not self._away:
                    self._tell(Notice(f"watching {self._vault.root} {self._manner()}"))
                while not self._stopping:
                    self._step()
        except _UnheardError as error:
            raise error.why from None
        finally:
            self._deafen()

    def stop(self) -> None:
        """End `run` soon, from any thread."""
        self._stopping = True
        self._bell.wake()

    def _step(self) -> None:
        """Wait until something is due, and do it."""
        now = time.monotonic()
        due, check = self._due(now), self._checked + self._pace.check
        if check <= now:
            self._check()
        elif due <= now:
            self._look()
        else:
            self._bell.wait(min(due, check) - now)

    def _due(self, now: float) -> float:
        """When to look next."""
        if self._away:
            return float("inf")
        if self._again is not None:
            return self._again
        rung = self._bell.due(self._pace.quiet, self._pace.ceiling)
        return min(self._looked + self._interval, rung, self._view.due(self._bell.last, now))

    @property
    def _interval(self) -> float:
        """Seconds between two looks that no event asks for."""
        if self._poll:
            return max(self._poll, self._took)
        if self._ears:
            return max(self._pace.safety, SAFETY * self._took)
        return max(self._pace.poll, SLOWEST * self._took)

    @property
    def _seconds(self) -> str:
        return f"{round(self._interval, 1):g} s"

    def _manner(self) -> str:
        return "by events" if self._ears else f"by looking every {self._seconds}"

    def _check(self) -> None:
        """See that the folder is there and that events are listened to, and put right what is not."""
        self._checked = time.monotonic()
        if not self._is_there():
            if not self._away:
                self._away = True
                self._deafen()
                self._tell(Notice(f"the vault's folder is gone: {self._vault.root}; waiting until it is back", True))
            return
        if self._away:
            self._away = False
            self._view.hold_anew()
            self._bell.ring()
            self._tell(Notice("the vault's folder is back"))
        if self._poll or (self._ears and self._ears.alive):
            return
        if self._ears:
            self._deafen()
            self._retry = 0.0
            self._bell.ring()  # what happened since they ended made no sound
            log.info("watchdog's threads had ended")
        if self._checked >= self._retry:
            self._listen()

    def _is_there(self) -> bool:
        """Whether the vault's folder is. One that was made anew counts when something is in it."""
        try:
            status = Path(self._root).stat()
            if not stat.S_ISDIR(status.st_mode) or os.path.realpath(self._vault.root) != self._root:
                return False
            folder = (status.st_dev, status.st_ino)
            if folder != self._folder:
                with os.scandir(self._root) as entries:
                    if self._view.any and not any(entries):  # a mount that has gone leaves an empty folder behind
                        return False
                self._folder = folder
                self._deafen()
                self._bell.ring()
        except OSError:
            return False
        return True

    def _listen(self) -> None:
        """Start watchdog; where that cannot be, say so, and look on a timer until it can."""
        now = time.monotonic()
        again_and_again = len(self._starts) == ANEW and now - self._starts[0] < self._pace.retry
        if again_and_again:
            self._starts.clear()
            self._retry = now + self._pace.retry
            self._trouble("events", f"live watching is off: it keeps ending. Looking every {self._seconds} instead")
            return
        try:
            self._ears = _Ears(self._root, self._bell)
            self._starts.append(now)
        except Exception as error:  # whatever it is: looking on a timer needs none of it
            log.info("watchdog did not start", exc_info=error)
            self._retry = now + self._pace.retry
            why = _LIMITS.get(getattr(error, "errno", None) or 0) or _reason(error)
            self._trouble("events", f"live watching is off: {why}. Looking every {self._seconds} instead")
        else:
            if "events" in self._said:
                self._said.remove("events")
                self._tell(Notice("live watching is on again"))
        if self._sign:
            self._sign.put(self.how)

    def _deafen(self) -> None:
        ears, self._ears = self._ears, None
        if ears:
            ears.close()

    def _look(self) -> None:
        """Sync, and tell what is not as it was."""
        self._check()
        if self._away:
            return
        moves = self._bell.taken()  # before the sync: what comes meanwhile counts again
        began = time.monotonic()
        try:
            for problem in self._index.sync().news:
                self._tell(problem)
            for change in self._view.changes(moves, self._bell.last):
                self._tell(change)
            if self._ears and (self._view.grown or began - self._looked >= self._pace.safety):
                self._ears.probe()
        except _UnheardError:
            raise
        except Exception as error:  # one look that fails costs only itself
            log.info("a look failed", exc_info=error)
            self._trouble("look", f"the vault could not be looked at: {_reason(error)}. Trying again")
            self._again = time.monotonic() + max(self._pace.poll, SLOWEST * (time.monotonic() - began))
        else:
            self._again = None
            self._said.discard("look")
        self._looked = time.monotonic()
        self._took = self._looked - began

    def _tell(self, news: News) -> None:
        try:
            self._told(news)
        except OSError as error:
            raise _UnheardError(error) from error
        except Exception as error:  # a listener's fault must not end the watching
            log.info("the listener failed", exc_info=error)
            if "listener" not in self._said:
                self._said.add("listener")
                with suppress(Exception):  # it may fail again; it is in the log
                    self._told(Notice(f"what was noticed could not be shown: {_reason(error)}", True))

    def _trouble(self, key: str, text: str) -> None:
        """Tell of a trouble once for as long as it holds."""
        if key not in self._said:
            self._said.add(key)
            self._tell(Notice(text, True))

    @contextmanager
    def _known_to_others(self) -> Iterator[None]:
        """While it watches, a file in the vault's state says so, with a lock that ends with this process."""
        folder = state_folder(self._vault.root) / WATCHERS
        with ExitStack() as stack:
            try:
                lock = _taken_lock(folder, stack)
                self._sign = _Sign(lock.with_suffix(".json"))
                stack.callback(self._sign.take_down)
                self._sign.put(self.how)
            except VaultMindError as error:  # no room for it: it is watched all the same
                log.info("not noted that we watch", exc_info=error)
            yield


def _taken_lock(folder: Path, stack: ExitStack) -> Path:
    """A lock file named for this process, held until `stack` ends."""
    for number in range(MOST_HERE):
        lock = folder / (f"{os.getpid()}-{number}.lock" if number else f"{os.getpid()}.lock")
        try:
            stack.enter_context(locked(lock, "the watcher", seconds=0))
        except BusyError:  # another in this process, or one of its number in another container
            continue
        stack.callback(_unlink, lock)
        return lock
    raise BusyError("the list of watchers", 0)


class _UnheardError(Exception):
    """Who was to be told cannot be reached: `why`."""

    def __init__(self, why: OSError) -> None:
        super().__init__(str(why))
        self.why = why


class _Sign:
    """The file that says who watches."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._since = datetime.now().astimezone().isoformat(timespec="seconds")

    def put(self, how: str) -> None:
        """Say how it watches now."""
        said = json.dumps({"pid": os.getpid(), "since": self._since, "how": how})
        temporary = self._file.with_suffix(".tmp")
        try:
            private_folder(self._file.parent)
            temporary.write_text(said, encoding="utf-8")
            temporary.chmod(0o600)
            temporary.replace(self._file)
        except (OSError, VaultMindError) as error:
            log.info("not noted that we watch", exc_info=error)

    def take_down(self) -> None:
        """Say it no more."""
        _unlink(self._file)


class _Bell:
    """Rung by events, from watchdog's threads: when first and last since the last look, and what moved where."""

    def __init__(self, root: str, ours: Sequence[str]) -> None:
        self._root, self._ours = root, tuple(ours)
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._first: float | None = None
        self._moves: deque[tuple[str, str]] = deque(maxlen=MOST_MOVES)
        self.last = float("-inf")

    def heard(self, source: str | bytes, target: str | bytes, *, folder: bool) -> None:
        """Ring, if an event at `source` (moved to `target`) can mean a memory."""
        places = [self._place(each, folder=folder) for each in (source, target) if each]
        if not any(place is not None for place in places):
            return
        if len(places) == 2 and places[0] and places[1] and not folder:
            with self._lock:
                self._moves.append((places[0], places[1]))
        self.ring()

    def ring(self) -> None:
        """Ask for a look."""
        with self._lock:
            self.last = time.monotonic()
            if self._first is not None:
                return  # who is awake already waits for quiet
            self._first = self.last
        self._wake.set()

    def wake(self) -> None:
        """Wake whoever waits."""
        self._wake.set()

    def wait(self, seconds: float) -> None:
        """Wait until it is first rung, or so long."""
        if self._wake.wait(seconds):
            self._wake.clear()

    def due(self, quiet: float, ceiling: float) -> float:
        """When there will have been quiet, or the ceiling is reached; never, while it has not been rung."""
        with self._lock:
            return float("inf") if self._first is None else min(self.last + quiet, self._first + ceiling)

    def taken(self) -> list[tuple[str, str]]:
        """The moves since this was last asked; from now on it has not been rung."""
        with self._lock:
            moves = list(self._moves)
            self._moves.clear()
            self._first = None
        return moves

    def _place(self, path: str | bytes, *, folder: bool) -> str | None:
        """The path in the vault of what may be a memory, or hold some; None for anything else."""
        name = os.fsdecode(path)
        if name == self._root:
            return ""
        if not name.startswith(self._root + os.sep) or any(
            name == own or name.startswith(own + os.sep) for own in self._ours
        ):
            return None
        place = name[len(self._root) + 1 :].replace(os.sep, "/")
        if "/." in f"/{place}" or not (folder or place[-3:].lower() == ".md"):
            return None
        return place


class _Ears:
    """watchdog at work on one folder. Raises OSError when the system's limits do not allow it."""

    def __init__(self, root: str, bell: _Bell) -> None:
        from watchdog import events  # late: only who watches needs it, and it costs a tenth of a second
        from watchdog.observers import Observer
        from watchdog.utils import BaseThread

        _hush(BaseThread)
        # Opening and reading make events too; a folder counts as modified for whatever lies in it.
        kinds = (
            "FileCreatedEvent FileModifiedEvent FileAttribEvent FileMovedEvent FileDeletedEvent"
            " DirCreatedEvent DirMovedEvent DirDeletedEvent"
        )
        heard = [getattr(events, kind) for kind in kinds.split() if hasattr(events, kind)]

        class Ringer(events.FileSystemEventHandler):
            def dispatch(self, event: Any) -> None:
                bell.heard(event.src_path, event.dest_path, folder=event.is_directory)

        self._silent, self._heard = events.FileSystemEventHandler(), heard
        self._log = _LogBell(bell)
        logging.getLogger("watchdog").addHandler(self._log)
        before = set(threading.enumerate())
        self._observer: Any = None
        try:
            self._observer = Observer()
            self._observer.schedule(Ringer(), root, recursive=True, event_filter=heard)
            self._observer.start()
        except BaseException:
            self.close()
            raise
        if not self.probe():
            self.close()
            raise OSError(errno.ENOSPC, "some folders could not be watched")
        self._threads = [each for each in threading.enumerate() if each not in before and isinstance(each, BaseThread)]

    @property
    def alive(self) -> bool:
        """Whether all its threads are, and no folder is known to be left out."""
        return not self._log.deaf and all(each.is_alive() for each in (*self._threads, *self._observer.emitters))

    def probe(self) -> bool:
        """Whether one more folder could be watched: where the limit is reached, watchdog leaves some out silently."""
        if sys.platform != "linux":
            return True
        try:
            made = TemporaryDirectory(prefix="vault-mind-")
        except OSError:  # nowhere to try it
            return not self._log.deaf
        with made as folder:
            try:
                self._log.trying = True
                self._observer.unschedule(self._observer.schedule(self._silent, folder, event_filter=self._heard))
            except OSError as error:
                log.info("no further folder can be watched", exc_info=error)
                self._log.deaf = True
            finally:
                self._log.trying = False
        return not self._log.deaf

    def close(self) -> None:
        """End its threads."""
        if self._observer:
            with suppress(Exception):  # half started, or dying by itself
                self._observer.stop()
        logging.getLogger("watchdog").removeHandler(self._log)


def _hush(kind: type[threading.Thread]) -> None:
    """Keep what watchdog's threads warn of, or end with, off the terminal: we start them anew, and the log has it."""
    warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"watchdog\b")  # of folders that it knows already
    usual = threading.excepthook
    if getattr(usual, "hushes", None) is kind:
        return

    def hook(args: threading.ExceptHookArgs) -> None:
        if isinstance(args.thread, kind):
            log.info("a thread of watchdog ended", exc_info=args.exc_value)
        else:
            usual(args)

    hook.hushes = kind  # type: ignore[attr-defined]  # so that it is put there once
    threading.excepthook = hook


class _LogBell(logging.Handler):
    """Rings when watchdog warns, which is how it tells of lost events; `deaf` once it could not make up for them."""

    def __init__(self, bell: _Bell) -> None:
        super().__init__(logging.WARNING)
        self._bell = bell
        self.deaf = False
        self.trying = False  # a thread that is ended as soon as it was started complains, and means nothing by it

    def emit(self, record: logging.LogRecord) -> None:
        """Take a warning as an event."""
        self.deaf = self.deaf or (record.levelno >= logging.ERROR and not self.trying)
        self._bell.ring()


@dataclass
class _View:
    """What the index held at the last look, and what of it is held back."""

    vault: Vault
    index: Index
    pace: Pace
    grown: bool = False  # whether there are folders that were not there before
    _listings: Mapping[str, bytes] | None = None
    _digests: dict[str, bytes] = field(default_factory=dict)
    _young: dict[str, set[str]] = field(default_factory=dict)  # by folder: read so soon that they may change unseen
    _held: dict[str, float] = field(default_factory=dict)  # gone or empty since when, and not yet told
    _open: set[str] = field(default_factory=set)  # to be looked at whatever the listings say
    _stirred: float = float("-inf")

    @property
    def any(self) -> bool:
        """Whether there was any memory."""
        return bool(self._digests)

    def due(self, rung: float, now: float) -> float:
        """When the first of what is held back can be told, the bell last `rung` then."""
        if not self._held:
            return float("inf")
        since = min(self._held.values())
        return max(min(max(since, rung, self._stirred) + self.pace.hold, since + self.pace.longest), now)

    def changes(self, moves: Sequence[tuple[str, str]], rung: float) -> Iterator[Change]:
        """What differs from the last time, by path; the first time nothing."""
        listings = self.index.listings()
        if self._listings is None:
            self._listings, self._digests = listings, self.index.digests()
            for folder, listing in listings.items():
                self._note_young(folder, unpacked(listing))
            return
        now, at = time.monotonic(), datetime.now().astimezone()
        paths = sorted(self._candidates(listings))
        digests = self.index.digests(paths)
        self.grown = not listings.keys() <= self._listings.keys()
        origins = self._renames(moves, paths, digests)
        moved = {*origins, *origins.values()}
        differing = [path for path in paths if path not in moved and digests.get(path) != self._digests.get(path)]
        for path in {*paths}.difference(differing):
            self._held.pop(path, None)
        self._listings, self._open = listings, {*differing, *moved}
        if any(path not in self._held for path in self._open):
            self._stirred = now
        for path, memory in self._read(sorted(origins)):
            self._digests.pop(origins[path], None)
            self._digests[path] = digests[path]
            self._open -= {path, origins[path]}
            yield Change(at, "renamed", origins[path], path, memory)
        for path, memory in self._read(differing):
            self._open.discard(path)
            if not self._holds_back(path, memory, now, rung):
                yield self._taken(path, digests.get(path), memory, at)

    def hold_anew(self) -> None:
        """After a time in which nothing could be seen: what is missing may be on its way back."""
        self._held = dict.fromkeys(self._held, time.monotonic())

    def _taken(self, path: str, digest: bytes | None, memory: Memory | None, at: datetime) -> Change:
        self._held.pop(path, None)
        known = self._digests.pop(path, None)
        if digest is None or memory is None:
            return Change(at, "gone", path)
        self._digests[path] = digest
        return Change(at, "new" if known is None else "changed", path, memory=memory)

    def _candidates(self, listings: Mapping[str, bytes]) -> set[str]:
        """The paths that may not be as they were."""
        before = self._listings or {}
        paths = {*self._held, *self._open}.union(*self._young.values())
        for folder in {*listings, *before}:
            if listings.get(folder) == before.get(folder):
                continue
            old, new = unpacked(before.get(folder, b"")), unpacked(listings.get(folder, b""))
            paths |= {folder + name for name in {*old, *new} if old.get(name) != new.get(name)}
            self._note_young(folder, new)
        return paths

    def _note_young(self, folder: str, marks: Mapping[str, int]) -> None:
        young = {folder + name for name, mark in marks.items() if not mark}
        if young:
            self._young[folder] = young
        else:
            self._young.pop(folder, None)

    def _read(self, paths: Iterable[str]) -> Iterator[tuple[str, Memory | None]]:
        """Each of `paths` with what the index holds there."""
        wanted = list(paths)
        for start in range(0, len(wanted), MANY):
            part = wanted[start : start + MANY]
            found = {memory.path: memory for memory in self.index.at(part)}
            for path in part:
                yield path, found.get(path)

    def _holds_back(self, path: str, memory: Memory | None, now: float, rung: float) -> bool:
        """Whether to wait: what is gone or empty may be in the middle of being saved."""
        if memory is None and path not in self._digests:  # it came and went
            self._held.pop(path, None)
            return True
        if memory is not None and memory.text.strip(_BLANK):
            return False
        since = self._held.setdefault(path, now)
        quiet = now - max(since, rung, self._stirred) >= self.pace.hold
        if not quiet and now - since < self.pace.longest:
            return True
        if memory is None and os.path.lexists(self.vault.root / path):  # it cannot be read, which is told as a problem
            self._held.pop(path)
            self._open.add(path)
            return True
        return False

    def _renames(
        self, moves: Sequence[tuple[str, str]], paths: Collection[str], digests: Mapping[str, bytes]
    ) -> dict[str, str]:
        """The old path of what was renamed, by its new one: as events say, or by content that only those two have."""
        gone = {path for path in paths if path in self._digests and path not in digests}
        fresh = {path for path in paths if path in digests and path not in self._digests}
        came: dict[str, str] = {}
        for source, target in moves:
            came[target] = came.pop(source, source)
        origins = {target: came[target] for target in fresh if came.get(target) in gone}
        gone.difference_update(origins.values())
        fresh.difference_update(origins)
        by_content = {self._digests[path]: path for path in gone}
        left = Counter(self._digests[path] for path in gone)
        new = Counter(digests[path] for path in fresh)
        return origins | {
            path: by_content[digests[path]] for path in fresh if left[digests[path]] == new[digests[path]] == 1
        }


def _unlink(file: Path) -> None:
    with suppress(OSError):  # Windows keeps a lock that is held; `living` sweeps what is left
        file.unlink(missing_ok=True)


def _reason(error: BaseException) -> str:
    return (getattr(error, "strerror", None) or str(error) or type(error).__name__).rstrip(".")

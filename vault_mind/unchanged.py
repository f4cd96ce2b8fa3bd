"""Whether anything has come into a folder or left it since it was looked at, told by the folder's own times."""

import os
import time

FRESH = 50_000_000  # ns; a time so near to now may be that of the next change too: systems count it in ticks of 10 ms
COARSE = 2_500_000_000  # ns; the same on a disk that keeps whole seconds, or every second one
LONG = 5.0  # seconds after which a look counts no more: what is in the files themselves, a folder does not tell

Seen = tuple[tuple[int, int, int, int], float]  # device, inode, and times in ns; when that was, in monotonic seconds

_early: dict[str, "Seen | None"] = {}  # what was noted and is not taken yet


def seen(folder: str) -> Seen | None:
    """The folder as it is now, to be compared later; None where a change could not be told."""
    at, status = time.monotonic(), _status(folder)
    if status is None:
        return None
    times, now = status[2:], time.time_ns()
    least = FRESH if any(moment % 1_000_000 for moment in times) else COARSE
    return (status, at) if all(now - moment > least for moment in times) else None


def note(folder: str) -> None:
    """Look at the folder now, for whoever asks `noted` how it was before what begins here."""
    _early[folder] = seen(folder)


def noted(folder: str) -> Seen | None:
    """The folder as it was noted, once; else as it is now."""
    return _early.pop(folder) if folder in _early else seen(folder)


def still(folder: str, before: Seen | None) -> bool:
    """Whether nothing was made, renamed or deleted in the folder since it was seen, not long ago; False in doubt."""
    return before is not None and time.monotonic() - before[1] < LONG and _status(folder) == before[0]


def _status(folder: str) -> tuple[int, int, int, int] | None:
    try:
        status = os.stat(folder)  # noqa: PTH116  # pathlib is slow to load
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_mtime_ns, status.st_ctime_ns

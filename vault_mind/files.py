"""Files whole or not at all: read with a bound, write atomically, compare before replacing."""

import errno
import os
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from vault_mind.errors import BusyError, MemoryChangedError, PathRefusedError, UnreadableError, WriteFailedError

if sys.platform != "win32":
    import fcntl

TEMPORARY = ".vault-mind-"
WRITING = "writing"  # the name of a note that says where temporary files may be
ABANDONED = 3600  # seconds after which a temporary file has no writer any more, where no lock can tell
LARGEST = 2 * 1024 * 1024  # bytes of one file that are read; a memory is a sentence, a long note some kilobytes


# O_NONBLOCK: opening a pipe must not wait for its writer. Windows has none of these but the last.
_READING = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


# Errors that say nothing of the file but that its disk, network or cloud does not give it at the moment.
_PASSING = {
    getattr(errno, name, -1)
    for name in (
        "EAGAIN EBUSY ECONNRESET EDEADLK EHOSTDOWN EHOSTUNREACH EIO EMFILE ENETDOWN ENETUNREACH ENFILE ENOLCK ENOMEM"
        " ENOTCONN EREMOTEIO ESTALE ETIMEDOUT"
    ).split()
}
_DATALESS = 0x4000_0000  # st_flags on macOS: reading would wait for iCloud
_RECALLED = 0x1000 | 0x4_0000 | 0x40_0000  # st_file_attributes on Windows: offline, or fetched when opened or read


def _umask() -> int:
    mask = os.umask(0o077)  # it can only be read by setting it
    os.umask(mask)
    return mask


UMASK = _umask()


def read_regular(
    path: Path | str, limit: int | None = LARGEST, *, folder: int | None = None
) -> tuple[bytes, os.stat_result]:
    """At most `limit` + 1 bytes (None: all) of the regular file at `path`, and the open file's status.

    A pipe, device or folder of that name is never waited for. With `folder`, an open one, `path` is a
    name in it and no link. Raises UnreadableError.
    """
    try:
        handle = os.open(path, _READING if folder is None else _READING | _NO_LINK, dir_fd=folder)
        try:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise UnreadableError(str(path), "it is not a regular file")
            if is_elsewhere(status):
                raise UnreadableError(str(path), "it is not downloaded", passing=True)
            return _contents(handle, status.st_size, limit), status
        finally:
            os.close(handle)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise UnreadableError(str(path), why, passing=error.errno in _PASSING) from error


def is_elsewhere(status: os.stat_result) -> bool:
    """Whether a cloud keeps the contents, so that reading would wait for a download or give nothing."""
    flags, attributes = getattr(status, "st_flags", 0), getattr(status, "st_file_attributes", 0)
    return bool(flags & _DATALESS or attributes & _RECALLED)


def _contents(handle: int, size: int, limit: int | None) -> bytes:
    whole, left = b"", -1 if limit is None else limit + 1
    while left:
        most = size + 1 - len(whole) if len(whole) < size else 1 << 16
        piece = os.read(handle, most if left < 0 else min(most, left))
        if not piece:
            break
        whole = whole + piece if whole else piece
        left -= len(piece) if left > 0 else 0
        if len(whole) == size and len(piece) < most:  # more was asked for, and its status says that there is none
            break
    return whole


def write_whole(path: Path, data: bytes, *, expected: bytes | None, mode: int | None = None) -> None:
    """Put `data` at `path`; a reader or a crash meets the old file or the new, never half.

    The file keeps its mode, owner and extended attributes; a new one has `mode`, or what the umask
    gives, from its first moment. Leftovers of writers that died are swept from the folder. Raises
    MemoryChangedError, with nothing written, when `path` no longer holds `expected` (None: when it
    exists at all), PathRefusedError for a file that is read-only or has further names (hard links:
    to write through would not be whole, to replace would cut them apart), and WriteFailedError when
    the disk refuses.

    What another program writes into the file while it is being replaced is seen afterwards and put
    back. Two moments are left that no portable call closes: a file that it renames into place
    between our last look and our rename, some microseconds, and what it goes on writing later into
    the file that it had opened before.
    """
    try:
        _sweep(path.parent)
        status = _replaceable(path, expected)
        with _temporary(path.parent, data, path, status, mode) as temporary:
            if expected is None:
                _compared(path, expected)
                _place_new(temporary, path, MemoryChangedError(str(path)))
            else:
                _replace(temporary, path, data, expected)
        _flush_folder(path.parent)
    except OSError as error:
        raise WriteFailedError(str(path), (error.strerror or str(error)).lower()) from error


@contextmanager
def noted(note: Path, *paths: Path) -> Iterator[None]:
    """Keep in the file `note`, durably, which paths are being written: after a crash `tidy` looks there.

    Two paths are the old and the new name of a file that is being moved. Call it with a lock held
    that all writers of the note share. Raises WriteFailedError.
    """
    import json  # late: only writers need it

    try:
        private_folder(note.parent)
        handle = os.open(note, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_CLOEXEC", 0), 0o600)
        try:
            os.write(handle, json.dumps([str(path) for path in paths]).encode())
            os.fsync(handle)
        finally:
            os.close(handle)
        _flush_folder(note.parent)
    except OSError as error:
        raise WriteFailedError(str(note), (error.strerror or str(error)).lower()) from error
    try:
        yield
    finally:
        with suppress(OSError):  # then it is looked at once more, and there is nothing to do
            note.unlink()


def tidy(note: Path) -> None:
    """Finish for a writer that died while its `note` stood: sweep its temporary files, end its move.

    One look when there is no note. Call it with the note's lock held.
    """
    if not note.exists():
        return
    import json  # late, as above

    try:
        paths = [Path(path) for path in json.loads(read_regular(note)[0])]
    except (UnreadableError, ValueError, TypeError, RecursionError):  # cut off: its writer died before it made anything
        paths = []
    with suppress(OSError):  # a folder that is gone holds nothing; one that is closed to us keeps it
        for folder in {path.parent for path in paths}:
            _sweep(folder)
        if len(paths) == 2 and _twice(*paths):
            paths[0].unlink()
    with suppress(OSError):
        note.unlink()


def remove(path: Path, *, expected: bytes) -> None:
    """Delete the file at `path`. Raises MemoryChangedError when it no longer holds `expected`."""
    try:
        _compared(path, expected)
        path.unlink()
        _flush_folder(path.parent)
    except OSError as error:
        raise WriteFailedError(str(path), (error.strerror or str(error)).lower()) from error


def move_new(path: Path, target: Path) -> None:
    """Give the file at `path` the name `target`; at no moment is there no file, nothing is overwritten.

    Raises WriteFailedError when `target` is another file.
    """
    try:
        if os.path.lexists(target) and path.samefile(target):  # the same name in another case, on a disk that folds it
            path.rename(target)
        else:
            _place_new(path, target, FileExistsError(17, "a file of that name exists"))
            path.unlink(missing_ok=True)
        _flush_folder(target.parent)
    except OSError as error:
        raise WriteFailedError(str(path), (error.strerror or str(error)).lower()) from error


@contextmanager
def locked(path: Path, what: str, seconds: float = 30.0) -> Iterator[None]:
    """Hold the lock file at `path`, which all processes share; a dead holder's lock is free.

    A thread that holds it may take it again. Raises BusyError after `seconds`.
    """
    import filelock  # late: it costs as much as Typer, and reading needs no lock

    private_folder(path.parent)
    try:
        lock = filelock.FileLock(path, mode=0o600, is_singleton=True)
        lock.acquire(timeout=seconds)
    except filelock.Timeout as error:
        raise BusyError(what, seconds) from error
    except OSError as error:
        raise WriteFailedError(str(path), (error.strerror or str(error)).lower()) from error
    try:
        yield
    finally:
        lock.release()


def is_held(path: Path) -> bool:
    """Whether somebody, this process included, holds the lock file at `path`."""
    import filelock  # late, as above

    try:
        with filelock.FileLock(path, timeout=0, mode=0o600):
            return False
    except filelock.Timeout:
        return True


def in_repository(folder: Path) -> bool:
    """Whether there is a `.git` in `folder` or above it; git need not be loaded for that."""
    real = folder.resolve()
    return any(os.path.lexists(each / ".git") for each in (real, *real.parents))


def private_folder(path: Path) -> Path:
    """`path`, made with its parents when missing, for its owner alone (0700)."""
    try:
        for folder in (*reversed(path.parents), path):  # `parents=True` would give the parents another mode
            if not folder.is_dir():
                folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise WriteFailedError(str(path), (error.strerror or str(error)).lower()) from error
    return path


def _compared(path: Path, expected: bytes | None) -> os.stat_result | None:
    if expected is None:
        if os.path.lexists(path):
            raise MemoryChangedError(str(path))
        return None
    try:
        data, status = read_regular(path, limit=len(expected))
    except UnreadableError as error:
        raise MemoryChangedError(str(path)) from error
    if data != expected:
        raise MemoryChangedError(str(path))
    if not status.st_mode & 0o222:
        raise PathRefusedError(str(path), "it is read-only")
    return status


def _replaceable(path: Path, expected: bytes | None) -> os.stat_result | None:
    status = _compared(path, expected)
    if status and status.st_nlink > 1:
        raise PathRefusedError(str(path), "it has another name (a hard link), and a change would cut the two apart")
    return status


def _replace(temporary: Path, path: Path, data: bytes, expected: bytes) -> None:
    """Rename `temporary` onto `path`, and look whether the file that gives way was written to meanwhile."""
    old = os.open(path, _READING) if os.name != "nt" else None  # Windows replaces no file that is open
    try:
        _compared(path, expected)
        temporary.replace(path)
        theirs = expected if old is None else _settled(old, expected)
    finally:
        if old is not None:
            os.close(old)
    if theirs != expected:
        write_whole(path, theirs, expected=data)
        raise MemoryChangedError(str(path))


def _settled(handle: int, expected: bytes) -> bytes:
    """What the open file holds; when that is not `expected`, once its writer has come to an end."""
    found = _reread(handle)
    for _ in range(100 if found != expected else 0):  # 5 s
        time.sleep(0.05)
        before, found = found, _reread(handle)
        if found == before:
            break
    return found


def _reread(handle: int) -> bytes:
    os.lseek(handle, 0, os.SEEK_SET)
    return _contents(handle, os.fstat(handle).st_size, None)


@contextmanager
def _temporary(
    folder: Path, data: bytes, model: Path, status: os.stat_result | None, mode: int | None
) -> Iterator[Path]:
    """A file in `folder` that holds `data`, with what `model` has beside its bytes where that is there (`status`).

    It is open and locked until it has another name or is gone: that tells it from a dead writer's.
    """
    handle, path = _made(folder)
    try:
        try:
            _fill(handle, data, status, mode)
            if status:
                _keep_attributes(model, handle)
            os.fsync(handle)
        except OSError:
            os.close(handle)
            raise
        if os.name == "nt":  # it renames no file that is open
            os.close(handle)
        try:
            yield path
        finally:
            if os.name != "nt":
                os.close(handle)
    finally:
        path.unlink(missing_ok=True)


def _made(folder: Path) -> tuple[int, Path]:
    """A new empty file, locked. Whoever sweeps may have come between the two; then another one."""
    from tempfile import mkstemp  # late, as above

    while True:
        handle, name = mkstemp(prefix=TEMPORARY, suffix=".tmp", dir=folder)
        if _locks(handle) is not False and _is_at(name, handle):
            return handle, Path(name)
        os.close(handle)


def _locks(handle: int) -> bool | None:
    """Lock the open file unless somebody has; None where that cannot be done."""
    if sys.platform == "win32":
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a disk that knows no locks
        return None
    return True


def _is_at(name: str, handle: int) -> bool:
    try:
        return os.path.samestat(os.lstat(name), os.fstat(handle))
    except FileNotFoundError:
        return False


def _fill(handle: int, data: bytes, status: os.stat_result | None, mode: int | None) -> None:
    with os.fdopen(handle, "wb", closefd=False) as file:
        file.write(data)
    if hasattr(os, "fchmod"):  # not on Windows, where the mode says little
        os.fchmod(handle, stat.S_IMODE(status.st_mode) if status else 0o666 & ~UMASK if mode is None else mode)
    if status and hasattr(os, "fchown"):
        with suppress(PermissionError):  # only root may give a file away; the mode is kept anyway
            os.fchown(handle, status.st_uid, status.st_gid)


def _keep_attributes(model: Path, handle: int) -> None:
    """Give the open file the extended attributes of `model`: a label, a tag, where it was downloaded from."""
    if sys.platform != "linux":  # Python knows them on no other system
        return
    with suppress(OSError):  # a disk without them
        for name in os.listxattr(model):
            with suppress(OSError):  # the system's own, which only root may set
                os.setxattr(handle, name, os.getxattr(model, name))


def _place_new(temporary: Path, path: Path, taken: Exception) -> None:
    """Give a file the further name `path`, or raise `taken` when something has it."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise taken from None
    except OSError:  # a disk without hard links: the vault's lock keeps our own writers apart
        if os.path.lexists(path):
            raise taken from None
        temporary.rename(path)


def _sweep(folder: Path) -> None:
    """Remove the temporary files of writers that died; those of the living are locked.

    The lock is the file's own, for another vault's writer may be in this folder under another lock of
    a vault: a folder of this one can be a vault of its own, and each user has locks of their own.
    """
    with os.scandir(folder) as entries:
        found = [entry.path for entry in entries if entry.name.startswith(TEMPORARY) and entry.name.endswith(".tmp")]
    for path in found:
        with suppress(OSError):  # swept by somebody else, or not ours to sweep
            _remove_dead(path)


def _remove_dead(path: str) -> None:
    if sys.platform == "win32":  # it removes no file that is open; its writer closes it just before the rename
        if time.time() - Path(path).stat().st_mtime > ABANDONED:
            Path(path).unlink()
        return
    handle = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC | _NO_LINK)
    try:
        dead = _locks(handle)
        if dead is None:
            dead = time.time() - os.fstat(handle).st_mtime > ABANDONED
        if dead and _is_at(path, handle):
            Path(path).unlink()
    finally:
        os.close(handle)


def _twice(old: Path, new: Path) -> bool:
    """Whether a move was cut off between giving the new name and taking the old one."""
    try:
        status = old.lstat()
        return status.st_nlink > 1 and old != new and os.path.samestat(status, new.lstat())
    except FileNotFoundError:
        return False


def _flush_folder(folder: Path) -> None:
    if os.name == "nt":  # a folder cannot be opened there; NTFS journals the rename itself
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

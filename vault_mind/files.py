"""Files whole or not at all: read with a bound, write atomically, compare before replacing."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkstemp

from vault_mind.errors import BusyError, MemoryChangedError, PathRefusedError, UnreadableError, WriteFailedError

TEMPORARY = ".vault-mind-"
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
        most = max(size + 1 - len(whole), 1 << 16)
        piece = os.read(handle, most if left < 0 else min(most, left))
        if not piece:
            break
        whole = whole + piece if whole else piece
        left -= len(piece) if left > 0 else 0
    return whole


def write_whole(path: Path, data: bytes, *, expected: bytes | None) -> None:
    """Put `data` at `path`; a reader or a crash meets the old file or the new, never half.

    The file keeps its mode. Call it with the vault's lock held: leftovers of writers that died
    are swept from the folder. Raises MemoryChangedError, with nothing written, when `path` no
    longer holds `expected` (None: when it exists at all), and WriteFailedError when the disk
    refuses.
    """
    try:
        status = _compared(path, expected)
        _sweep(path.parent)
        handle, name = mkstemp(prefix=TEMPORARY, suffix=".tmp", dir=path.parent)
        temporary = Path(name)
        try:
            _fill(handle, data, status)
            _compared(path, expected)
            if expected is None:
                _place_new(temporary, path, MemoryChangedError(str(path)))
            else:
                temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
        _flush_folder(path.parent)
    except OSError as error:
        raise WriteFailedError(str(path), (error.strerror or str(error)).lower()) from error


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


def _fill(handle: int, data: bytes, status: os.stat_result | None) -> None:
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        if hasattr(os, "fchmod"):  # not on Windows, where the mode says little
            os.fchmod(file.fileno(), stat.S_IMODE(status.st_mode) if status else 0o666 & ~UMASK)
        if status and hasattr(os, "fchown"):
            with suppress(PermissionError):  # only root may give a file away; the mode is kept anyway
                os.fchown(file.fileno(), status.st_uid, status.st_gid)
        file.flush()
        os.fsync(file.fileno())


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
    # Every writer holds the vault's lock, so whatever temporary file is here has no writer any more.
    with os.scandir(folder) as entries:
        dead = [entry.path for entry in entries if entry.name.startswith(TEMPORARY) and entry.name.endswith(".tmp")]
    for path in dead:
        with suppress(OSError):  # swept by somebody else, or not ours to sweep
            Path(path).unlink()


def _flush_folder(folder: Path) -> None:
    if os.name == "nt":  # a folder cannot be opened there; NTFS journals the rename itself
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

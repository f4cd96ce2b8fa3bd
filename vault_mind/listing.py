"""Folders listed: the names of plain memories, and beside each a mark that changes with the file.

Another process lists folders too, from the other end, so that two look through a large vault at once. A
command that only reads forks it as the very first thing, before it loads what it needs itself; a program
that runs already starts this file as a script. Either way it imports next to nothing. Where `_scan` could be
compiled, C lists the folders, in half the time; what it gives is the same.
"""

import marshal
import os
import sys
from array import array

if __name__ == "__main__":  # what is beside this file is found by no other way
    sys.path.append(os.path.dirname(os.path.dirname(__file__)))  # noqa: PTH120  # pathlib is slow to load
try:
    import vault_mind._scan as _scan
except ImportError:  # there was no compiler
    _scan = None  # type: ignore[assignment]

try:  # hashlib loads OpenSSL, which every search would wait for
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MANY = 600_000  # bytes of listings, some 25,000 files, from which on a second process is worth its start
PATIENCE = 10.0  # seconds without a word after which it is given up
HANDLES = 1_024  # open files that a forked process closes, as far as there are so many
_FRAME = 4  # bytes that say how long a word is

Plain = tuple[bytes, list[str]]


def packed(names: "Sequence[str]", marks: "Sequence[int]") -> bytes:
    """A listing as bytes, which are the same for the same listing."""
    return array("q", (len(marks), *marks)).tobytes() + "\0".join(names).encode()


def unpacked(listing: bytes) -> dict[str, int]:
    """The marks by name. Raises ValueError or IndexError for what `packed` did not give."""
    count = array("q", listing[:8])[0] if listing else 0
    marks = array("q", listing[8 : 8 + 8 * count])
    names = listing[8 + 8 * count :].decode().split("\0") if count else []
    return dict(zip(names, marks, strict=True))


NOTHING = packed((), ())  # the listing of a folder without memories


def plain(folder: str) -> Plain | None:
    """The listing of `folder`, and the folders in it; None where anything needs a closer look."""
    listing, inner = scan(folder)
    return None if listing is None else (listing, inner)


def scanned(folder: str) -> tuple[bytes | None, list[str]]:
    """As `plain`, with the folders in it even where there is no listing."""
    names: list[str] = []
    marks: list[int] = []
    inner: list[str] = []
    sure = True
    try:
        handle = os.open(folder, os.O_RDONLY)
        try:
            with os.scandir(handle) as entries:
                for entry in entries:
                    name = entry.name
                    if name[0] == ".":
                        continue
                    if name[-3:] == ".md" and name.isascii() and entry.is_file(follow_symlinks=False):
                        names.append(name)
                        status = entry.stat(follow_symlinks=False)
                        # The mark, as `vault.Status` has it; a call for each file would be felt.
                        marks.append(hash((status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)))
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        inner.append(name)
                    sure = sure and name.isascii() and name[-3:].lower() != ".md" and not entry.is_symlink()
        finally:
            os.close(handle)
    except OSError:
        sure = False
    return packed(names, marks) if sure else None, inner


_STATUS = (10**18, -1, 2**40, 2**64 - 1)
scan = _scan.scanned if _scan and _scan.mark(_STATUS) == hash(_STATUS) else scanned


class Second:
    """Another process at work on the folders of `root`, in their order; one that ends early is only less of a help.

    Of each it tells when it begins and what it found: a digest of the listing, and the folders in it.
    """

    def __init__(self, root: str, process: int, pipe: int) -> None:
        self.root = root
        self._process, self._pipe = process, pipe
        self._heard = b""
        self._begun: str | None = None
        self._found: dict[str, tuple[bytes, list[str]]] = {}

    def shared(self, known: "Mapping[str, bytes]") -> dict[str, Plain]:
        """Listings by folder: here those of `known` are listed from the last one on, until the two meet.

        Of what it found only what is as `known` counts. It may have looked before `known` was read, so whatever
        differs has to be looked at again: it may be the older of the two.
        """
        own: dict[str, Plain] = {}
        for folder in sorted(known, reverse=True):
            while self._hears(0):
                pass
            while folder == self._begun and self._hears(PATIENCE):  # it is half done there, and we are not
                pass
            if folder in self._found:
                break
            if one := plain(os.path.join(self.root, folder)):  # noqa: PTH118  # pathlib is slow to load
                own[folder] = one
        listings = {folder: known.get(folder, NOTHING) for folder in self._found}
        same = {f: (one, self._found[f][1]) for f, one in listings.items() if _digest(one) == self._found[f][0]}
        return same | own

    def close(self) -> None:
        """Let go of it, whether or not it is done."""
        os.close(self._pipe)
        try:
            os.kill(self._process, 9)
            os.waitpid(self._process, 0)
        except (ProcessLookupError, ChildProcessError):  # where whoever started us wants to hear of no child's end
            pass

    def _hears(self, patience: float) -> bool:
        """Take in what it says next; False when it says nothing so long, in seconds, or never will."""
        from select import poll  # late: the process itself never waits

        waiting = poll()
        waiting.register(self._pipe)
        if not waiting.poll(patience * 1000):
            self._begun = None if patience else self._begun
            return False
        said = os.read(self._pipe, 1 << 16)
        heard, at = self._heard + said, 0
        while len(heard) >= at + _FRAME:
            begin, end = at + _FRAME, at + _FRAME + int.from_bytes(heard[at : at + _FRAME], "little")
            if len(heard) < end:
                break
            folder, *found = marshal.loads(heard[begin:end])  # noqa: S302  # from the process that we started
            at = end
            self._begun = None if found else folder
            if found and found[0]:
                self._found[folder] = (found[0], found[1])
        self._heard = heard[at:]
        if not said:
            self._begun = None
        return bool(said)


_early: list[Second] = []  # the one that was forked at the start, until somebody takes it


def begin(root: str) -> None:
    """Fork a process that looks through the vault at `root` at once, for the first `second` of it; or do nothing.

    For a program that has no thread yet, and that writes nothing before it takes that.
    """
    if not hasattr(os, "fork") or not _pays():
        return
    own = os.getpid()
    try:
        ours, theirs = os.pipe()
    except OSError:  # no more files may be open
        return
    try:
        if process := os.fork():
            _early.append(Second(root, process, ours))
        else:
            os.setsid()  # Ctrl-C is for its parent alone
            os.closerange(0, theirs)  # whoever reads what we print waits for nobody but us
            os.closerange(theirs + 1, HANDLES)
            _serve(root, theirs)
    except OSError:  # there may be no more processes
        os.close(ours)
    finally:
        if os.getpid() != own:
            os._exit(0)  # whatever happened: there must not be two of the program
        os.close(theirs)


def begun() -> bool:
    """Whether a process that `begin` forked waits to be taken."""
    return bool(_early)


def end() -> None:
    """Let go of what `begin` started and nobody took."""
    while _early:
        _early.pop().close()


def second(root: str, known: "Mapping[str, bytes]") -> Second | None:
    """Another process that helps to list the folders of `known`; None where it does not pay or cannot be started."""
    if _early and _early[0].root == root and known:
        return _early.pop()
    end()
    if sum(map(len, known.values())) < MANY or len(known) < 4 or not _pays() or not hasattr(os, "posix_spawn"):
        return None
    return _started(root)


def _pays() -> bool:
    """Whether there is a processor for a second process, and a system on which it can do this."""
    return os.scandir in os.supports_fd and (os.cpu_count() or 1) > 1


def _started(root: str) -> Second | None:
    """A process with an interpreter of its own: where there are threads, none may be forked."""
    ours, theirs = os.pipe()
    files = [
        (os.POSIX_SPAWN_DUP2, theirs, 1),
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
    ]
    words = [sys.executable or "", "-I", "-S", __file__, root]
    try:
        return Second(root, os.posix_spawn(words[0], words, os.environ, file_actions=files, setsid=True), ours)
    except (OSError, ValueError, NotImplementedError):  # an interpreter that is not there, a name that is none
        os.close(ours)
        return None
    finally:
        os.close(theirs)


def _digest(listing: bytes) -> bytes:
    return blake2b(listing, digest_size=16).digest()


def _serve(root: str, pipe: int) -> None:
    """Tell of each folder of `root`, in their order, until there is no more or nobody listens."""
    folders = [""]
    while folders:
        folder = folders.pop()
        _say(pipe, (folder,))
        listing, inner = scan(os.path.join(root, folder))  # noqa: PTH118  # as above
        inner.sort(key=lambda name: name + "/", reverse=True)
        folders += [f"{folder}{name}/" for name in inner]
        _say(pipe, (folder, _digest(listing) if listing is not None else b"", inner))


def _say(pipe: int, word: "tuple[str | bytes | list[str], ...]") -> None:
    told = marshal.dumps(word)
    told = len(told).to_bytes(_FRAME, "little") + told
    while told:
        told = told[os.write(pipe, told) :]


if __name__ == "__main__":
    try:
        _serve(sys.argv[1], 1)
    except OSError:  # nobody listens any more
        os._exit(0)

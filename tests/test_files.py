"""Files whole or not at all: bounded reading, atomic writing, compare-and-swap, locks."""

import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_mind.errors import (
    BusyError,
    MemoryChangedError,
    PathRefusedError,
    UnreadableError,
    VaultMindError,
    WriteFailedError,
)
from vault_mind.files import (
    LARGEST,
    in_repository,
    locked,
    move_new,
    noted,
    private_folder,
    read_regular,
    remove,
    tidy,
    write_whole,
)

posix = pytest.mark.skipif(os.name == "nt", reason="POSIX only")


def child(script: str, *words: object) -> subprocess.Popen[str]:
    """Run a Python script in a process of its own, with pipes to talk to it."""
    command = [sys.executable, "-c", script, *map(str, words)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def said_by(script: str, *words: object) -> str:
    """What a script in a process of its own printed; it must end well."""
    with child(script, *words) as process:
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return out.strip()


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


# --- reading --------------------------------------------------------------------------------------


def test_reading_gives_the_bytes_and_the_status_of_that_file(tmp_path: Path) -> None:
    file = tmp_path / "x.md"
    file.write_bytes(b"a\r\n\xff\0")

    data, status = read_regular(file)

    assert data == b"a\r\n\xff\0"
    assert (status.st_size, status.st_ino) == (5, file.stat().st_ino)


def test_reading_stops_one_byte_past_the_limit(tmp_path: Path) -> None:
    file = tmp_path / "x.md"
    file.write_bytes(b"0123456789")

    assert read_regular(file, limit=4)[0] == b"01234"
    assert read_regular(file, limit=None)[0] == b"0123456789"


def test_a_huge_sparse_file_is_read_only_up_to_the_limit(tmp_path: Path) -> None:
    file = tmp_path / "x.md"
    with file.open("wb") as sparse:
        sparse.truncate(50_000_000)

    data, status = read_regular(file)

    assert len(data) == LARGEST + 1
    assert status.st_size == 50_000_000


def test_a_missing_file_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="no such file"):
        read_regular(tmp_path / "x.md")


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_socket(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # a socket's path may be 108 bytes at most
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


def make_device(path: Path) -> None:
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 5))  # /dev/zero: it never ends
    except PermissionError:
        pytest.skip("only root may make a device")


def make_folder(path: Path) -> None:
    path.mkdir()


@posix
@pytest.mark.timeout(20)
@pytest.mark.parametrize("make", [make_pipe, make_socket, make_device, make_folder])
def test_what_is_no_regular_file_is_refused_and_never_waited_for(make: Callable[[Path], None], tmp_path: Path) -> None:
    make(tmp_path / "x.md")

    with pytest.raises(UnreadableError):
        read_regular(tmp_path / "x.md")


# os.fdopen raises for a folder and leaves the descriptor open.
@pytest.mark.skipif(not Path("/dev/fd").is_dir(), reason="no list of open files")
def test_refusing_a_folder_leaves_no_descriptor_open(tmp_path: Path) -> None:
    before = len(os.listdir("/dev/fd"))

    for _ in range(5):
        with pytest.raises(UnreadableError):
            read_regular(tmp_path)

    assert len(os.listdir("/dev/fd")) == before


# --- writing --------------------------------------------------------------------------------------


@given(st.binary(max_size=200), st.binary(max_size=200))
@settings(max_examples=30)
def test_any_bytes_are_written_as_they_are(first: bytes, second: bytes) -> None:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "x.md"

        write_whole(file, first, expected=None)
        assert file.read_bytes() == first
        write_whole(file, second, expected=first)
        assert file.read_bytes() == second
        assert names(Path(folder)) == ["x.md"]


@pytest.mark.parametrize("theirs", [b"theirs", b"", b"old and more", b"ol"])
def test_a_file_that_changed_since_is_left_alone(theirs: bytes, tmp_path: Path) -> None:
    file = tmp_path / "x.md"
    file.write_bytes(theirs)

    with pytest.raises(MemoryChangedError, match=r"x\.md"):
        write_whole(file, b"new", expected=b"old")

    assert file.read_bytes() == theirs
    assert names(tmp_path) == ["x.md"]


def test_a_file_that_vanished_is_not_written_again(tmp_path: Path) -> None:
    with pytest.raises(MemoryChangedError):
        write_whole(tmp_path / "x.md", b"new", expected=b"old")

    assert names(tmp_path) == []


def test_a_file_that_appeared_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "x.md"
    file.write_bytes(b"theirs")

    with pytest.raises(MemoryChangedError):
        write_whole(file, b"new", expected=None)

    assert file.read_bytes() == b"theirs"
    assert names(tmp_path) == ["x.md"]


@posix
def test_a_link_of_that_name_is_not_overwritten_even_when_it_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "x.md").symlink_to("nowhere")

    with pytest.raises(MemoryChangedError):
        write_whole(tmp_path / "x.md", b"new", expected=None)

    assert names(tmp_path) == ["x.md"]


# A file that appears between the last look and the placing: an audit hook stands in for the other writer.
APPEARING = """
import os, sys
from pathlib import Path
from vault_mind.errors import VaultMindError
from vault_mind.files import move_new, write_whole

folder = Path(sys.argv[1])

def theirs(event, arguments):
    if event in ("os.link", "os.rename"):
        (folder / "x.md").write_bytes(b"theirs")

sys.addaudithook(theirs)
try:
    if sys.argv[2] == "write":
        write_whole(folder / "x.md", b"ours", expected=None)
    else:
        move_new(folder / "old.md", folder / "x.md")
except VaultMindError as error:
    print(type(error).__name__)
"""


def test_a_file_that_appears_at_the_last_moment_is_not_overwritten(tmp_path: Path) -> None:
    assert said_by(APPEARING, tmp_path, "write") == "MemoryChangedError"
    assert (tmp_path / "x.md").read_bytes() == b"theirs"
    assert names(tmp_path) == ["x.md"]


WRITING_INTO = """
import sys, threading, time
from pathlib import Path
from vault_mind.errors import VaultMindError
from vault_mind.files import write_whole

file, begun = Path(sys.argv[1]), []

def rest(theirs):
    for piece in (b"the", b"irs"):
        time.sleep(0.02)
        theirs.write(piece)
    theirs.close()

def editor(event, arguments):  # it opens the file and writes into it just before we rename
    if event == "os.rename" and not begun:
        begun.append(file.open("wb", buffering=0))
        if sys.argv[2] == "slowly":
            threading.Thread(target=rest, args=begun).start()
        else:
            rest(begun[0])

sys.addaudithook(editor)
try:
    write_whole(file, b"ours", expected=b"old")
except VaultMindError as error:
    print(type(error).__name__)
"""


@posix
@pytest.mark.parametrize("how", ["at once", "slowly"])
def test_what_is_written_into_a_file_while_it_is_being_replaced_is_put_back(how: str, tmp_path: Path) -> None:
    file = tmp_path / "x.md"
    file.write_bytes(b"old")
    file.chmod(0o640)

    assert said_by(WRITING_INTO, file, how) == "MemoryChangedError"

    assert file.read_bytes() == b"theirs"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert names(tmp_path) == ["x.md"]


@pytest.mark.skipif(sys.platform != "linux", reason="Python knows them on Linux only")
def test_a_changed_file_keeps_its_extended_attributes(tmp_path: Path) -> None:
    file = tmp_path / "x.md"
    file.write_bytes(b"old")
    wanted = {"user.xdg.tags": b"tea,morning", "user.empty": b"", "user.bytes": b"\xff\0"}
    try:
        for name, value in wanted.items():
            os.setxattr(file, name, value)
    except OSError:
        pytest.skip("this disk has none")

    write_whole(file, b"new", expected=b"old")

    assert {name: os.getxattr(file, name) for name in os.listxattr(file) if name.startswith("user.")} == wanted


def test_a_file_with_a_second_name_is_refused_and_both_stay_one(tmp_path: Path) -> None:
    (tmp_path / "x.md").write_bytes(b"old")
    os.link(tmp_path / "x.md", tmp_path / "y.md")

    with pytest.raises(PathRefusedError, match="hard link"):
        write_whole(tmp_path / "x.md", b"new", expected=b"old")

    assert (tmp_path / "x.md").samefile(tmp_path / "y.md")
    assert (tmp_path / "y.md").read_bytes() == b"old"
    assert names(tmp_path) == ["x.md", "y.md"]


@posix
def test_a_private_file_is_private_from_its_first_moment(tmp_path: Path) -> None:
    script = """
import os, sys
os.umask(0)
from pathlib import Path
from vault_mind.files import write_whole
seen, folder = set(), Path(sys.argv[1])
def look(event, arguments):
    if event in ("os.link", "os.rename", "os.chmod", "os.remove", "open"):
        seen.update(oct(os.lstat(file).st_mode & 0o777) for file in os.scandir(folder))
sys.addaudithook(look)
write_whole(folder / "x", b"new", expected=None, mode=0o600)
write_whole(folder / "x", b"newer", expected=b"new", mode=0o600)
print(*seen)
"""
    assert said_by(script, tmp_path) == "0o600"


# To look whether the target exists and to rename afterwards would overwrite it silently.
@posix
def test_moving_does_not_overwrite_a_file_that_appears_at_the_last_moment(tmp_path: Path) -> None:
    (tmp_path / "old.md").write_bytes(b"ours")

    said = said_by(APPEARING, tmp_path, "move")

    assert (tmp_path / "x.md").read_bytes() == b"theirs"
    assert (tmp_path / "old.md").read_bytes() == b"ours"
    assert said == "WriteFailedError"


def test_a_disk_without_hard_links_still_gets_new_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)  # FAT has none, and cannot be tried here
    write_whole(tmp_path / "x.md", b"new", expected=None)

    assert (tmp_path / "x.md").read_bytes() == b"new"
    assert names(tmp_path) == ["x.md"]


@posix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o755, 0o200])
def test_a_changed_file_keeps_its_mode(mode: int, tmp_path: Path) -> None:
    if mode == 0o200 and os.geteuid():
        pytest.skip("only root reads what nobody may read")
    file = tmp_path / "x.md"
    file.write_bytes(b"old")
    file.chmod(mode)

    write_whole(file, b"new", expected=b"old")

    assert stat.S_IMODE(file.stat().st_mode) == mode


@posix
def test_a_changed_file_keeps_its_owner(tmp_path: Path) -> None:
    if os.geteuid():
        pytest.skip("only root may give a file away")
    file = tmp_path / "x.md"
    file.write_bytes(b"old")
    os.chown(file, 1234, 5678)

    write_whole(file, b"new", expected=b"old")

    assert (file.stat().st_uid, file.stat().st_gid) == (1234, 5678)


@posix
@pytest.mark.parametrize(("umask", "mode"), [("022", "0o644"), ("027", "0o640"), ("077", "0o600"), ("002", "0o664")])
def test_a_new_file_has_the_mode_that_the_umask_gives(umask: str, mode: str, tmp_path: Path) -> None:
    script = """
import os, sys
os.umask(int(sys.argv[2], 8))
from pathlib import Path
from vault_mind.files import write_whole
write_whole(Path(sys.argv[1]) / "x.md", b"new", expected=None)
print(oct(os.umask(0)))
"""
    assert said_by(script, tmp_path, umask) == oct(int(umask, 8)), "the umask itself stays"
    assert oct(stat.S_IMODE((tmp_path / "x.md").stat().st_mode)) == mode


def test_a_read_only_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.md"
    file.write_bytes(b"old")
    file.chmod(0o444)

    with pytest.raises(PathRefusedError, match="read-only"):
        write_whole(file, b"new", expected=b"old")

    assert file.read_bytes() == b"old"
    assert names(tmp_path) == ["x.md"]


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(WriteFailedError, match="no such file"):
        write_whole(tmp_path / "gone" / "x.md", b"new", expected=None)


def test_a_name_that_is_too_long_for_the_disk_is_told(tmp_path: Path) -> None:
    with pytest.raises(WriteFailedError, match="too long"):
        write_whole(tmp_path / ("x" * 300 + ".md"), b"new", expected=None)

    assert names(tmp_path) == []


@posix
@pytest.mark.timeout(20)
def test_a_pipe_in_the_place_of_the_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.md")

    with pytest.raises(MemoryChangedError):
        write_whole(tmp_path / "x.md", b"new", expected=b"old")


def test_leftovers_of_writers_that_died_are_swept_and_nothing_else(tmp_path: Path) -> None:
    kept = [".vault-mind.toml", ".vault-mind-notes.md", "x.tmp", ".other-1.tmp", "a.md"]
    for name in (*kept, ".vault-mind-abc123.tmp", ".vault-mind-.tmp"):
        (tmp_path / name).write_bytes(b"x")

    write_whole(tmp_path / "x.md", b"new", expected=None)

    assert names(tmp_path) == sorted([*kept, "x.md"])


# It may be a folder, or another user's file in a sticky folder.
def test_a_leftover_that_cannot_be_swept_costs_no_write(tmp_path: Path) -> None:
    (tmp_path / ".vault-mind-abc.tmp").mkdir()

    write_whole(tmp_path / "x.md", b"new", expected=None)

    assert (tmp_path / "x.md").read_bytes() == b"new"


# A writer that stands still, or is killed, while its temporary file is there.
STANDING = """
import sys
from pathlib import Path
from vault_mind.files import noted, write_whole

file, note = Path(sys.argv[1]), Path(sys.argv[2])

def stand(event, arguments):
    if event in ("os.link", "os.rename"):
        print("writing", flush=True)
        sys.stdin.readline()

sys.addaudithook(stand)
with noted(note, file):
    write_whole(file, b"theirs", expected=None)
"""


@posix
def test_the_temporary_file_of_a_living_writer_is_never_swept_and_a_dead_ones_is(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    with child(STANDING, folder / "a.md", tmp_path / "writing") as living:
        assert living.stdout is not None
        assert living.stdout.readline() == "writing\n"
        with child(STANDING, folder / "b.md", tmp_path / "other") as dead:
            assert dead.stdout is not None
            assert dead.stdout.readline() == "writing\n"
            dead.kill()
        assert len(names(folder)) == 2

        write_whole(folder / "c.md", b"ours", expected=None)  # under another vault's lock, or none
        tidy(tmp_path / "other")

        assert [name for name in names(folder) if name.endswith(".md")] == ["c.md"]
        assert len(names(folder)) == 2
        assert living.communicate("go on\n", timeout=60)[1] == ""

    assert names(folder) == ["a.md", "c.md"]
    assert (folder / "a.md").read_bytes() == b"theirs"


@posix
def test_where_no_lock_can_tell_only_an_old_temporary_file_is_swept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr("fcntl.flock", refused)  # as on some network disks, which cannot be tried here
    for name in ("new", "old"):
        (tmp_path / f".vault-mind-{name}.tmp").touch()
    os.utime(tmp_path / ".vault-mind-old.tmp", (0, 0))

    write_whole(tmp_path / "x.md", b"new", expected=None)

    assert names(tmp_path) == [".vault-mind-new.tmp", "x.md"]


@posix
def test_a_note_says_where_a_dead_writer_was_and_is_crossed_off(tmp_path: Path) -> None:
    folder, note = tmp_path / "notes", tmp_path / "state" / "writing"
    folder.mkdir()
    with child(STANDING, folder / "a.md", note) as dead:
        assert dead.stdout is not None
        assert dead.stdout.readline() == "writing\n"
        dead.kill()
    assert len(names(folder)) == 1
    assert stat.S_IMODE(note.stat().st_mode) == 0o600

    tidy(note)
    tidy(note)

    assert names(folder) == []
    assert not note.exists()


def test_a_note_is_there_while_something_is_written_and_only_then(tmp_path: Path) -> None:
    note = tmp_path / "state" / "writing"

    with noted(note, tmp_path / "a.md"):
        assert note.is_file()
    assert not note.exists()

    with pytest.raises(MemoryChangedError), noted(note, tmp_path / "a.md"):
        write_whole(tmp_path / "a.md", b"new", expected=b"old")
    assert not note.exists()


@pytest.mark.parametrize(
    "content", [b"", b'["/a', b"[1]", b"7", b"{}", b"\xff", b'["/nowhere/at/all/x.md"]', b'["x"', b"[" * 99_999]
)
def test_a_note_that_was_cut_off_costs_nothing(content: bytes, tmp_path: Path) -> None:
    note = tmp_path / "writing"
    note.write_bytes(content)
    (tmp_path / "a.md").write_bytes(b"kept")

    tidy(note)

    assert names(tmp_path) == ["a.md"]


def test_a_move_that_was_cut_off_is_ended_and_a_whole_one_is_left(tmp_path: Path) -> None:
    old, new, note = tmp_path / "old.md", tmp_path / "new.md", tmp_path / "writing"
    old.write_bytes(b"text")
    for there in ([old], [old, new], [new]):
        if new in there and not new.exists():
            os.link(old, new)
        if old not in there:
            old.unlink(missing_ok=True)
        note.write_text(json.dumps([str(old), str(new)]))

        tidy(note)

        assert [file for file in (old, new) if file.exists()] == ([old] if there == [old] else [new])
        assert (new if new.exists() else old).read_bytes() == b"text"

    old.write_bytes(b"another")  # somebody else's, of the old name
    note.write_text(json.dumps([str(old), str(new)]))
    tidy(note)
    assert (old.read_bytes(), new.read_bytes()) == (b"another", b"text")


FULL = """
import os, resource, sys
from pathlib import Path
from vault_mind.errors import WriteFailedError
from vault_mind.files import write_whole

file = Path(sys.argv[1])
if len(sys.argv) > 2:
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
old = file.read_bytes()
for expected, path in ((old, file), (None, file.with_name("new.md"))):
    try:
        write_whole(path, b"y" * 400_000, expected=expected)
    except WriteFailedError as error:
        print(error)
print(file.read_bytes() == old, sorted(os.listdir(file.parent)))
"""


@posix
def test_a_full_disk_leaves_the_old_file_and_says_so(tmp_path: Path) -> None:
    file = tmp_path / "x.md"
    file.write_bytes(b"x" * 50_000)

    said = said_by(FULL, file, "with a limit").splitlines()

    assert said[0].startswith(f"{file}: not written, file too large. What was there before is unchanged")
    assert said[1].startswith(f"{file.with_name('new.md')}: not written")
    assert said[2] == "True ['x.md']"


@pytest.mark.skipif(sys.platform != "linux", reason="mounts a small disk of its own")
def test_a_disk_without_room_leaves_the_old_file_and_says_so(tmp_path: Path) -> None:
    unshare = shutil.which("unshare")
    if not unshare or os.geteuid() or subprocess.run([unshare, "-m", "true"], check=False).returncode:
        pytest.skip("may not mount")
    (tmp_path / "full.py").write_text(FULL)
    steps = 'mount -t tmpfs -o size=200k tmpfs "$1" && head -c 50000 /dev/zero >"$1/x.md" && exec "$2" "$3" "$1/x.md"'
    (tmp_path / "disk").mkdir()

    words = ["sh", str(tmp_path / "disk"), sys.executable, str(tmp_path / "full.py")]
    command = [unshare, "-m", "sh", "-c", steps, *words]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)

    said = ended.stdout.splitlines()
    assert "x.md: not written, no space left on device" in said[0]
    assert "new.md: not written, no space left on device" in said[1]
    assert said[2] == "True ['x.md']"


def test_a_reader_meets_the_old_file_or_the_new_and_never_half(tmp_path: Path) -> None:
    file = tmp_path / "x.md"
    contents = [bytes([65 + i]) * 60_000 for i in range(4)]
    file.write_bytes(contents[0])
    seen: list[bytes] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            seen.append(file.read_bytes())

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for i in range(60):
            write_whole(file, contents[(i + 1) % 4], expected=contents[i % 4])
    finally:
        done.set()
        reader.join()

    assert seen
    assert all(data in contents for data in seen)


# --- removing and moving --------------------------------------------------------------------------


def test_removing_deletes_the_file_that_was_meant(tmp_path: Path) -> None:
    (tmp_path / "x.md").write_bytes(b"old")

    remove(tmp_path / "x.md", expected=b"old")

    assert names(tmp_path) == []


def test_removing_keeps_a_file_that_changed_since(tmp_path: Path) -> None:
    (tmp_path / "x.md").write_bytes(b"old, and theirs")

    with pytest.raises(MemoryChangedError):
        remove(tmp_path / "x.md", expected=b"old")

    assert (tmp_path / "x.md").read_bytes() == b"old, and theirs"


def test_removing_what_is_gone_already_is_told(tmp_path: Path) -> None:
    with pytest.raises(MemoryChangedError):
        remove(tmp_path / "x.md", expected=b"old")


def test_moving_gives_the_same_file_another_name(tmp_path: Path) -> None:
    (tmp_path / "x.md").write_bytes(b"old")
    number = (tmp_path / "x.md").stat().st_ino

    move_new(tmp_path / "x.md", tmp_path / "y.md")

    assert names(tmp_path) == ["y.md"]
    assert (tmp_path / "y.md").stat().st_ino == number


def test_moving_never_overwrites(tmp_path: Path) -> None:
    (tmp_path / "x.md").write_bytes(b"ours")
    (tmp_path / "y.md").write_bytes(b"theirs")

    with pytest.raises(WriteFailedError, match="exists"):
        move_new(tmp_path / "x.md", tmp_path / "y.md")

    assert [(tmp_path / name).read_bytes() for name in ("x.md", "y.md")] == [b"ours", b"theirs"]


def test_moving_to_its_own_name_or_to_another_case_of_it_keeps_the_file(tmp_path: Path) -> None:
    (tmp_path / "x.md").write_bytes(b"old")

    move_new(tmp_path / "x.md", tmp_path / "x.md")
    move_new(tmp_path / "x.md", tmp_path / "X.md")

    assert names(tmp_path) == ["X.md"]


def test_moving_what_is_gone_is_told(tmp_path: Path) -> None:
    with pytest.raises(WriteFailedError, match="no such file"):
        move_new(tmp_path / "x.md", tmp_path / "y.md")


# --- the lock -------------------------------------------------------------------------------------

HOLDING = """
import sys
from pathlib import Path
from vault_mind.files import locked

with locked(Path(sys.argv[1]), "the vault"):
    print("held", flush=True)
    sys.stdin.readline()
"""


def test_a_lock_is_shared_by_processes_and_let_go_at_the_end(tmp_path: Path) -> None:
    lock = tmp_path / "deep" / "vault.lock"

    with child(HOLDING, lock) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(BusyError, match=r"the vault is in use"), locked(lock, "the vault", seconds=0.2):
            pytest.fail("two hold the lock")
        other.communicate("go\n", timeout=30)

    with locked(lock, "the vault", seconds=5):
        pass


@posix
def test_a_dead_holders_lock_is_free(tmp_path: Path) -> None:
    lock = tmp_path / "vault.lock"
    with child(HOLDING, lock) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        other.send_signal(signal.SIGKILL)
        other.wait(timeout=30)

    with locked(lock, "the vault", seconds=5):
        pass


def test_a_thread_that_holds_the_lock_may_take_it_again(tmp_path: Path) -> None:
    lock = tmp_path / "vault.lock"

    with locked(lock, "the vault", seconds=1):
        with locked(lock, "the vault", seconds=1):
            pass
        with child(HOLDING, lock) as other:  # leaving the inner one has not let go of the outer one
            assert other.stdout is not None
            with pytest.raises(subprocess.TimeoutExpired):
                other.wait(timeout=1)
            other.kill()


def test_two_threads_never_hold_the_lock_together(tmp_path: Path) -> None:
    lock, inside, most = tmp_path / "vault.lock", [0], [0]

    def work() -> None:
        for _ in range(15):
            with locked(lock, "the vault"):
                inside[0] += 1
                most[0] = max(most[0], inside[0])
                inside[0] -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert most == [1]


@posix
def test_the_lock_and_its_folder_belong_to_their_owner_alone(tmp_path: Path) -> None:
    lock = tmp_path / "state" / "vault.lock"

    with locked(lock, "the vault"):
        assert stat.S_IMODE(lock.stat().st_mode) == 0o600
        assert stat.S_IMODE(lock.parent.stat().st_mode) == 0o700


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")

    for folder in (tmp_path / "file", tmp_path / "file" / "deeper"):
        with pytest.raises(WriteFailedError):
            private_folder(folder)
        with pytest.raises(VaultMindError), locked(folder / "vault.lock", "the vault"):
            pytest.fail("there is no lock")


APPENDING = """
import sys
from pathlib import Path
from vault_mind.errors import MemoryChangedError
from vault_mind.files import locked, read_regular, write_whole

file, name = Path(sys.argv[1]), sys.argv[2]
for number in range(8):
    while True:
        old = read_regular(file)[0]
        try:
            with locked(file.with_name("vault.lock"), "the vault"):
                write_whole(file, old + f"{name}-{number}\\n".encode(), expected=old)
            break
        except MemoryChangedError:
            continue
"""


def test_processes_that_write_the_same_file_lose_nothing(tmp_path: Path) -> None:
    file = tmp_path / "x.md"
    file.write_bytes(b"")

    writers = [child(APPENDING, file, name) for name in "abcdef"]
    for writer in writers:
        assert writer.communicate(timeout=90)[1] == ""

    assert sorted(file.read_text().split()) == sorted(f"{name}-{number}" for name in "abcdef" for number in range(8))
    assert names(tmp_path) == ["vault.lock", "x.md"]


# --- repositories ---------------------------------------------------------------------------------


def test_a_folder_is_in_a_repository_when_there_is_one_in_or_above_it_and_links_are_followed(tmp_path: Path) -> None:
    inner, outside = tmp_path / "top" / "a" / "b", tmp_path / "outside"
    inner.mkdir(parents=True)
    outside.mkdir()
    before = in_repository(inner)
    (tmp_path / "top" / ".git").write_text("gitdir: elsewhere")  # as in a worktree: it need be no folder
    (outside / "link").symlink_to(inner)

    assert not before
    assert in_repository(tmp_path / "top")
    assert in_repository(inner)
    assert in_repository(outside / "link")
    assert not in_repository(outside)

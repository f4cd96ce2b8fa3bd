"""The repository around a folder, whole: its refs, worktrees, logs and indexes, and what keeps them from moving."""

import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from vault_mind import git
from vault_mind.errors import GitError
from vault_mind.files import TEMPORARY
from vault_mind.objects import PLAIN

LONG = 3600.0  # seconds that git may take over a large repository
_WORD = re.compile(rb"[0-9a-f]{40,64}")
# What tells that git is in the middle of something; it is told by the user's word for it.
_MIDDLE = {
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "BISECT_LOG": "bisect",
    "sequencer": "cherry-pick or revert",
}
_FILES = (
    ("shallow", "its history is not all here (a shallow clone)", "Fetch the rest with: git fetch --unshallow"),
    (
        "objects/info/alternates",
        "it borrows objects from another repository",
        "Make it whole with: git repack -a, then delete .git/objects/info/alternates",
    ),
    ("info/grafts", "it has grafts", "Make them real, or delete .git/info/grafts"),
)
_MOVED = "vault-mind: purged"  # how git logs our moving a ref, until `rewrite_logs`: it is no step of the owner's
_WHO = {"GIT_COMMITTER_NAME": "vault-mind", "GIT_COMMITTER_EMAIL": "vault-mind@localhost"}  # in that line only
_NO_HOOKS = ("-c", f"core.hooksPath={os.devnull}")


@dataclass(frozen=True)
class Ref:
    """A name in the repository, and the object it stands for; `symbolic` says which ref it points to instead."""

    name: str
    id: str
    kind: str
    symbolic: str


@dataclass(frozen=True)
class Worktree:
    """A folder that is checked out (None: it is gone), and where git keeps its HEAD and index."""

    gitdir: Path
    folder: Path | None
    head: str  # the name of its HEAD among the refs

    def ask(self, *words: str, given: bytes | None = None, fine: tuple[int, ...] = (0,)) -> bytes:
        """What git says here. Raises GitError."""
        where = {"GIT_DIR": str(self.gitdir), "GIT_WORK_TREE": str(self.folder or self.gitdir)}
        return git.ask(
            self.folder or self.gitdir, *words, given=given, extra={**PLAIN, **where}, fine=fine, seconds=LONG
        )

    def staged(self) -> list[tuple[bytes, bytes, str]]:
        """Each entry of its index: path, mode, id."""
        if not (self.gitdir / "index").exists():
            return []
        found = []
        for line in self.ask("ls-files", "--stage", "-z", "--full-name").split(b"\0"):
            head, tab, path = line.partition(b"\t")
            if tab:
                mode, name, _ = head.split()
                found.append((path, mode, name.decode()))
        return found

    def changed(self) -> set[bytes]:
        """Paths that differ between HEAD, index and folder; those that git does not track are not looked at."""
        if self.folder is None:
            return set()
        parts = iter(self.ask("status", "--porcelain", "-z", "--untracked-files=no").split(b"\0"))
        found = set()
        for part in parts:
            if part:
                found.add(part[3:])
                if part[:1] in b"RC":
                    found.add(next(parts))
        return found

    def restage(self, changes: Mapping[bytes, tuple[bytes, bytes, str] | None], width: int) -> None:
        """Put other entries (path, mode, id; None: none) in the place of those at the paths of `changes`."""
        if not changes:
            return
        lines = [b"0 " + b"0" * width + b"\t" + path for path in changes]
        lines += [b"%s %s 0\t%s" % (mode, name.encode(), path) for path, mode, name in filter(None, changes.values())]
        self.ask("update-index", "-z", "--index-info", given=b"\0".join(lines) + b"\0")
        self.ask("update-index", "--clear-resolve-undo")
        self.ask("write-tree", "--missing-ok")  # it also drops the names of folders that went
        if self.folder:
            self.ask("update-index", "-q", "--refresh", fine=(0, 1))


@dataclass(frozen=True)
class Repository:
    """One repository: `top` is the worktree asked from, `prefix` the vault's place in it ('' or 'a/b/')."""

    top: Path
    prefix: bytes
    common: Path
    worktrees: tuple[Worktree, ...]

    def ask(self, *words: str, given: bytes | None = None, fine: tuple[int, ...] = (0,)) -> bytes:
        """What git says at the top. Raises GitError."""
        return git.ask(self.top, *words, given=given, extra=PLAIN, fine=fine, seconds=LONG)

    def lines(self, *words: str) -> list[str]:
        """The same, by lines."""
        return self.ask(*words).decode("utf-8", "surrogateescape").splitlines()

    def refs(self) -> list[Ref]:
        """Every ref, the HEADs that are detached among them."""
        form = "--format=%(objectname) %(objecttype) %(refname) %(symref)"
        found = []
        for line in self.lines("for-each-ref", form):
            name, kind, ref, symbolic = line.split(" ", 3)
            found.append(Ref(ref, name, kind, symbolic))
        for worktree in self.worktrees:
            said = (worktree.gitdir / "HEAD").read_bytes().strip()
            if _WORD.fullmatch(said):
                found.append(Ref(worktree.head, said.decode(), "commit", ""))
        return found

    def versions(self, path: bytes) -> list[tuple[bytes, str]]:
        """Every content that the file at `path` has had, under that name and earlier ones: pairs of path and blob.

        Followed backwards through each commit that a ref or a log leads to. What was deleted and came back is one
        file; what went on under another name is not of this file.
        """
        words = (
            "-c",
            "log.showRoot=true",
            "log",
            "--all",
            "--reflog",
            "--topo-order",
            "-m",
            "--raw",
            "-M",
            "-z",
            "--no-abbrev",
            "--format=",
        )
        parts = iter(self.ask(*words, "--ignore-missing", "--", os.fsdecode(self.prefix) or ".").split(b"\0"))
        names: set[bytes] = {path}
        found: dict[tuple[bytes, bytes], None] = {}
        for part in parts:
            words_of = part.strip().split()
            if len(words_of) != 5 or not part.strip().startswith(b":"):
                continue
            _, _, old, new, status = words_of
            source = next(parts)
            target = next(parts) if status[:1] in b"RC" else source
            if target in names:
                found |= {(source, old): None, (target, new): None}
                names.add(source)
            elif source in names and status[:1] == b"R":
                names.discard(source)
        return [(name, blob.decode()) for name, blob in found if blob.strip(b"0")]

    def logs(self) -> list[Path]:
        """The files of all reflogs."""
        folders = [self.common / "logs", *(w.gitdir / "logs" for w in self.worktrees if w.gitdir != self.common)]
        return [file for folder in folders if folder.is_dir() for file in sorted(folder.rglob("*")) if file.is_file()]

    def logged(self) -> set[str]:
        """Every id in a reflog."""
        return {word.decode() for log in self.logs() for line in _lines(log) for word in line.split(b" ", 2)[:2]}

    def move(self, updates: Sequence[tuple[Ref, str | None]]) -> None:
        """Let each ref stand for another object (None: delete it), all of them or none. Raises GitError."""
        parts: list[str] = ["start"]
        for ref, new in updates:
            parts.append("option no-deref")
            parts += [f"update {ref.name}", new, ref.id] if new else [f"delete {ref.name}", ref.id]
        parts += ["prepare", "commit"]
        given = "\0".join(parts).encode("utf-8", "surrogateescape") + b"\0"
        if updates:
            words = ("update-ref", "-m", _MOVED, "-z", "--stdin")
            git.ask(self.top, *_NO_HOOKS, *words, given=given, extra={**PLAIN, **_WHO}, seconds=LONG)

    def obstacles(self) -> Iterator[tuple[str, str]]:
        """Why its history cannot be rewritten as it stands, and what to do about each."""
        for worktree in self.worktrees:
            for name, what in _MIDDLE.items():
                if (worktree.gitdir / name).exists():
                    yield f"a {what} is under way in {worktree.folder or worktree.gitdir}", "Finish it or abort it"
            lock = worktree.gitdir / "index.lock"
            if lock.exists():
                yield f"another git is at work: {lock} is there", "Wait for it; if none is, delete that file"
        for name, why, advice in _FILES:
            if (self.common / name).exists():
                yield why, advice
        if self.ask("config", "--get-regexp", r"^remote\..*\.(promisor|partialclonefilter)$", fine=(0, 1)):
            yield "its objects are not all here (a partial clone)", "Purge in a whole clone"
        if self.ask("rev-parse", "--show-superproject-working-tree").strip():
            yield "it is a submodule, and the repository around it names its commits", "Purge in a clone of its own"
        if self.ask("config", "extensions.refStorage", fine=(0, 1)).strip() not in (b"", b"files"):
            yield "its logs are kept in a reftable", "Run: git refs migrate --ref-format=files"

    def rewrite_logs(self, of: Mapping[str, str], scrubbed: Callable[[bytes], bytes]) -> None:
        """Give the reflogs new ids, and messages without the text."""
        for log in self.logs():
            old = list(_lines(log))
            new = [_logged(line, of, scrubbed) for line in old if not line.endswith(b"\t" + _MOVED.encode())]
            if new != old:
                replace(log, b"".join(line + b"\n" for line in new))

    def messages(self) -> Iterator[Path]:
        """Files in which git keeps texts that are no history: drafts of messages, and conflicts that it remembers."""
        for folder in {self.common, *(worktree.gitdir for worktree in self.worktrees)}:
            for file in folder.iterdir():
                if file.is_file() and file.name.endswith("MSG"):
                    yield file
        for name in ("rr-cache", "lost-found"):
            yield from (file for file in (self.common / name).rglob("*") if file.is_file())

    def pseudo(self) -> Iterator[Path]:
        """Files that name objects and are no refs."""
        for folder in {self.common, *(worktree.gitdir for worktree in self.worktrees)}:
            yield from (
                file for file in (folder / n for n in ("ORIG_HEAD", "FETCH_HEAD", "AUTO_MERGE")) if file.exists()
            )

    def reachable(self) -> set[str]:
        """Every object that a ref, a log or an index leads to."""
        words = ("rev-list", "--objects", "--no-object-names", "--all", "--reflog", "--indexed-objects")
        return set(self.lines(*words, "--ignore-missing"))

    def every(self) -> set[str]:
        """Every object there is."""
        words = ("cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objectname)")
        return set(self.lines(*words))

    def packed(self, wanted: set[str]) -> list[Path]:
        """The packs that hold any of `wanted`."""
        found = []
        words = ("show-index", "--object-format=sha256") if any(len(name) == 64 for name in wanted) else ("show-index",)
        for index in sorted((self.common / "objects/pack").glob("*.idx")):
            listed = self.ask(*words, given=index.read_bytes())
            if any(line.split()[1].decode() in wanted for line in listed.splitlines()):
                found.append(index.with_suffix(".pack"))
        return found

    def destroy(self, doomed: set[str]) -> None:
        """Take objects that nothing leads to off the disk; every other one stays, reachable or not.

        When it is cut short, calling it again goes on. Raises GitError.
        """
        if not doomed:
            return
        objects = self.common / "objects"
        packs = self.packed(doomed)
        if packs:
            for pack in packs:
                pack.with_suffix(".keep").unlink(missing_ok=True)
            for derived in ("info/commit-graph", "pack/multi-pack-index"):  # git makes them anew
                (objects / derived).unlink(missing_ok=True)
            for derived in ("info/commit-graphs", "pack/multi-pack-index.d"):
                shutil.rmtree(objects / derived, ignore_errors=True)
            # -A: what nothing leads to becomes loose, so that it can be taken one by one.
            quiet = (
                "-c",
                "repack.writeBitmaps=false",
                "-c",
                "gc.cruftPacks=false",
                "-c",
                "repack.packKeptObjects=true",
            )
            self.ask(*quiet, "repack", "-A", "-d", "-q", "--pack-kept-objects", "--no-write-bitmap-index")
        for name in sorted(doomed):
            with suppress(FileNotFoundError):
                file = objects / name[:2] / name[2:]
                file.chmod(0o600)
                file.unlink()
        for pattern in ("pack/tmp_*", "pack/.tmp-*", "??/tmp_obj_*", "tmp_objdir-*"):
            for half in objects.glob(pattern):  # what a git that died left half written
                shutil.rmtree(half) if half.is_dir() else half.unlink(missing_ok=True)
        left = self.packed(doomed)
        if left:
            raise GitError("repack", f"{left[0]} still holds what should be gone")


def around(folder: Path) -> Repository | None:
    """The repository around `folder`; None when there is none, or no git."""
    if not git.installed():
        return None
    code, out, _ = git.run(folder, "rev-parse", "--show-toplevel")
    if code:
        return None
    top = Path(os.fsdecode(out.rstrip(b"\n")))
    prefix = git.ask(folder, "rev-parse", "--show-prefix").rstrip(b"\n")
    common = (folder / os.fsdecode(git.ask(folder, "rev-parse", "--git-common-dir").rstrip(b"\n"))).resolve()
    return Repository(top, prefix, common, tuple(_worktrees(top, common)))


def replace(file: Path, data: bytes) -> None:
    """Put `data` in the place of a file of git's, whole or not at all."""
    temporary = file.with_name(f"{TEMPORARY}{file.name}.tmp")
    temporary.write_bytes(data)
    temporary.replace(file)


def _worktrees(top: Path, common: Path) -> Iterator[Worktree]:
    own = (top / os.fsdecode(git.ask(top, "rev-parse", "--git-dir").rstrip(b"\n"))).resolve()
    main = top if own == common else common.parent if common.name == ".git" else None
    yield Worktree(common, main, "HEAD" if own == common else "main-worktree/HEAD")
    for gitdir in sorted((common / "worktrees").glob("*")):
        pointer = gitdir / "gitdir"
        if pointer.is_file():
            folder = Path(os.fsdecode(pointer.read_bytes().strip())).parent
            yield Worktree(gitdir, folder if folder.is_dir() else None, f"worktrees/{gitdir.name}/HEAD")


def _lines(log: Path) -> list[bytes]:
    return log.read_bytes().split(b"\n")[:-1]


def _logged(line: bytes, of: Mapping[str, str], scrubbed: Callable[[bytes], bytes]) -> bytes:
    """A line of a reflog: two ids, who and when, and after a tab what was done."""
    head, tab, message = line.partition(b"\t")
    words = head.split(b" ", 2)
    ids = [of.get(word.decode("ascii", "replace"), "").encode() or word for word in words[:2]]
    return b" ".join([*ids, *words[2:]]) + tab + scrubbed(message)

"""The vault's git, asked: where its repository is, in what state, and which versions it holds."""

import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha1, sha256
from pathlib import Path
from typing import NamedTuple

from vault_mind import git
from vault_mind.errors import GitError, VersionNotFoundError
from vault_mind.files import in_repository

OURS = ("Source", "Chat", "Model", "Turn", "Undoes")  # trailers that only our own versions carry
PAGE = 500  # versions that git is asked for at once
STALE = 60.0  # seconds; a lock older than this has probably lost its holder
# Memories share their frontmatter, so that half of two files alike (git's own measure) says little.
RENAMED = "-M70%"

_UNDERWAY = (
    ("rebase-merge", "a rebase", "git rebase --continue or --abort"),
    ("rebase-apply", "a rebase", "git rebase --continue or --abort"),
    ("MERGE_HEAD", "a merge", "git commit, or git merge --abort"),
    ("CHERRY_PICK_HEAD", "a cherry-pick", "git cherry-pick --continue or --abort"),
    ("REVERT_HEAD", "a revert", "git revert --continue or --abort"),
    ("sequencer", "a cherry-pick or revert of several commits", "--continue or --abort it"),
    ("BISECT_LOG", "a bisect", "git bisect reset"),
)
_STATUS = {"A": "added", "M": "changed", "T": "changed", "D": "deleted", "R": "renamed"}
_FIELDS = "%x02%H%x00%P%x00%at%x00%an%x00%B%x00%x03"
# What the user's configuration may not change in what we read.
_PLAIN = ("-c", "log.showRoot=true", "-c", "log.showSignature=false", "-c", "i18n.logOutputEncoding=UTF-8")
_PLAIN_DIFF = ("--no-ext-diff", "--no-textconv")


Entry = tuple[str, str]  # of a tree or an index: mode and blob


class Place(NamedTuple):
    """Where the vault is in its repository: `prefix` is its folder below `top`, '' or 'a/b/'."""

    top: Path
    git_dir: Path
    prefix: str


class Head(NamedTuple):
    """What HEAD names: a branch (None: detached) and the version at its tip (None: there is none yet)."""

    branch: str | None
    id: str | None


@dataclass(frozen=True)
class Change:
    """What a version did to one path: added, changed, deleted or renamed (then `was` is the earlier name)."""

    status: str
    path: str
    was: str = ""


@dataclass(frozen=True)
class Version:
    """A commit of the vault; `at` is when its author made it, `changes` are those inside the vault."""

    id: str
    at: datetime
    author: str
    subject: str
    trailers: Mapping[str, str] = field(default_factory=dict)
    changes: tuple[Change, ...] = ()
    parents: tuple[str, ...] = ()

    @property
    def ours(self) -> bool:
        """Whether vault-mind made it; any other was made by hand."""
        return any(name in self.trailers for name in OURS)


class History:
    """The history of one vault folder: the top of a repository, a folder in a bigger one, or of none (`off`)."""

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root).resolve()
        self._found: Place | None = None

    @property
    def off(self) -> str:
        """Why there is no history to ask, in a sentence; empty when there is one."""
        try:
            self.place()
        except GitError as error:
            return error.why
        return ""

    @property
    def wanted(self) -> bool:
        """Whether the vault is meant to have a history: there is a `.git` in or above it."""
        return in_repository(self.root)

    def start(self) -> bool:
        """Make the vault a repository unless it is in one that takes its files; True when it was made.

        Nothing is committed. Raises GitError.
        """
        try:
            place = self.place()
            if not place.prefix or not self.ignored(
                [""]
            ):  # a repository that ignores the folder keeps no history of it
                return False
        except GitError:
            if not git.installed() or self._distrusted():
                raise
        git.ask(self.root, "init", "--quiet")
        self._found = None
        self.place()
        return True

    def place(self) -> Place:
        """Where the vault is in its repository. Raises GitError, whose `why` is a sentence for the user."""
        if self._found is None:
            self._found = self._located()
        return self._found

    def _located(self) -> Place:
        # --show-cdup holds nothing but '../', so that the rest may hold any character, newlines too.
        code, out, err = git.run(self.root, "rev-parse", "--is-inside-work-tree", "--show-cdup", "--absolute-git-dir")
        if code:
            raise GitError("rev-parse", _off(err.decode("utf-8", "replace"), self.root))
        inside, up, git_dir = os.fsdecode(out).split("\n", 2)
        if inside != "true":
            raise GitError("rev-parse", f"{self.root} lies inside a repository's own folder, which has no history")
        top = (self.root / up).resolve()
        below = self.root.relative_to(top).as_posix()
        return Place(top, Path(git_dir.removesuffix("\n")), "" if below == "." else below + "/")

    def _distrusted(self) -> bool:
        _, _, err = git.run(self.root, "rev-parse", "--git-dir")
        return b"dubious ownership" in err

    def ask(self, *words: str, **more: object) -> bytes:
        """What `git WORDS` prints at the top of the repository; see `git.ask`."""
        return git.ask(self.place().top, *words, **more)  # type: ignore[arg-type]  # handed through as they are

    def run(self, *words: str, **more: object) -> tuple[int, bytes, bytes]:
        """Exit code, output and errors of `git WORDS` at the top of the repository; see `git.run`."""
        return git.run(self.place().top, *words, **more)  # type: ignore[arg-type]  # handed through as they are

    def in_repository(self, path: str) -> str:
        """The vault's path as the repository names it."""
        return self.place().prefix + path

    def in_vault(self, name: str) -> str | None:
        """The repository's name as a path of the vault; None when it lies outside."""
        prefix = self.place().prefix
        return name[len(prefix) :] if name.startswith(prefix) else None

    def head(self) -> Head:
        """The branch and the version that HEAD names."""
        code, out, _ = self.run("rev-parse", "HEAD^{commit}", "--symbolic-full-name", "HEAD")
        if code == 0:
            tip, _, branch = os.fsdecode(out).strip().partition("\n")
            return Head(branch if branch != "HEAD" else None, tip)
        code, out, _ = self.run("symbolic-ref", "--quiet", "HEAD")
        return Head(os.fsdecode(out).strip() if code == 0 else None, None)

    def underway(self) -> str:
        """What its owner is in the middle of, with what ends it ("a rebase is under way (…)"); empty for nothing."""
        folder = self.place().git_dir
        for name, what, ending in _UNDERWAY:
            if (folder / name).exists():
                return f"{what} is under way ({ending})"
        return ""

    def lock_age(self) -> float | None:
        """Seconds since somebody locked the index; None when it is free."""
        try:
            return max(time.time() - (self.place().git_dir / "index.lock").stat().st_mtime, 0.0)
        except OSError:
            return None

    def unmerged(self) -> list[str]:
        """The vault's files that a merge left in conflict."""
        out = self.ask("ls-files", "--unmerged", "-z", *self._pathspec())
        names = dict.fromkeys(os.fsdecode(line).partition("\t")[2] for line in out.split(b"\0") if line)
        return [path for name in names if (path := self.in_vault(name)) is not None]

    def ignored(self, paths: Sequence[str]) -> set[str]:
        """Those of `paths` ('': the vault itself) that are in no index and that the user's ignore rules leave out."""
        # This one command refuses literal pathspecs; './' keeps a name from being a pattern.
        given = b"".join(os.fsencode("./" + self.in_repository(path)) + b"\0" for path in paths)
        words = ("check-ignore", "-z", "--stdin")
        code, out, _ = self.run(*words, given=given, extra={"GIT_LITERAL_PATHSPECS": "0"})
        if code > 1 and len(paths) > 1:  # one that it cannot be asked about, such as a file in a submodule
            return set().union(*(self.ignored([path]) for path in paths))
        names = (self.in_vault(os.fsdecode(name)[2:]) for name in out.split(b"\0") if name)
        return {name for name in names if name is not None}

    def version(self, name: str) -> Version:
        """The version that git knows by `name`: an id, its beginning, a tag, HEAD~2. Raises VersionNotFoundError."""
        return self.known(self.resolved(name))

    def known(self, version: str) -> Version:
        """The version of this whole id; of a merge, the changes are those to its first parent."""
        return next(self._read("--no-walk", "-m", "--first-parent", version))

    def resolved(self, name: str) -> str:
        """The whole id of the version called `name`. Raises VersionNotFoundError."""
        if self.off or not name or name.startswith("-") or "\0" in name:
            raise VersionNotFoundError(name)
        code, out, _ = self.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        if code:
            raise VersionNotFoundError(name)
        return out.decode().strip().splitlines()[-1]

    def versions(
        self, path: str | None = None, *, limit: int | None = None, first_parent: bool = False
    ) -> Iterator[Version]:
        """The vault's versions, newest first; of one `path` with its earlier names followed."""
        tip = None if self.off else self.head().id
        if tip is None:
            return
        words = ["-m", "--first-parent"] if first_parent else []
        if path is not None:
            words += [f"-{limit}"] if limit is not None else []
            yield from self._read(*words, "--follow", tip, "--", self.in_repository(path))
            return
        count, page = 0, PAGE if limit is None else min(limit, PAGE)
        while limit is None or count < limit:
            found = list(self._read(*words, f"-{page}", f"--skip={count}", tip, *self._pathspec()))
            yield from found[: None if limit is None else limit - count]
            if len(found) < page:
                return
            count += page

    def _read(self, *words: str) -> Iterator[Version]:
        shown = ("--raw", "--no-abbrev", "-z", RENAMED, f"--format=tformat:{_FIELDS}")
        out = self.ask(*_PLAIN, "log", *_PLAIN_DIFF, *shown, *words)
        tokens = iter(out.split(b"\0"))
        following: bytes | None = next((token for token in tokens if token.startswith(b"\x02")), None)
        while following is not None:
            facts = [following[1:], *(next(tokens) for _ in range(4))]
            next(tokens)  # the mark that ends a message
            found, following = self._changes(tokens)
            yield _version(facts, found)

    def _changes(self, tokens: Iterator[bytes]) -> tuple[tuple[Change, ...], bytes | None]:
        """The changes of one version, and the token that begins the next."""
        found: list[Change] = []
        for token in tokens:
            if token.startswith(b"\x02"):
                return tuple(found), token
            if not token.strip():
                continue
            letter = token.split()[-1][:1].decode()
            names = [os.fsdecode(next(tokens)) for _ in range(2 if letter in "RC" else 1)]
            found += _changed(letter, [self.in_vault(name) for name in names])
        return tuple(found), None

    def differing(self, old: str, new: str) -> dict[str, tuple[Entry | None, Entry | None]]:
        """The files of the vault that differ between two trees or versions, by their ids: their entries in each."""
        out = self.ask("diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", old, new, *self._pathspec())
        tokens = iter(os.fsdecode(out).split("\0"))
        found: dict[str, tuple[Entry | None, Entry | None]] = {}
        for facts, name in zip(tokens, tokens, strict=False):
            modes = facts.removeprefix(":").split()
            entries = [
                (mode, blob) if int(mode) else None for mode, blob in ((modes[0], modes[2]), (modes[1], modes[3]))
            ]
            found[name[len(self.place().prefix) :]] = (entries[0], entries[1])
        return found

    def changes(self, old: str, new: str) -> tuple[Change, ...]:
        """What differs in the vault between two versions or trees, by their ids."""
        out = self.ask("diff-tree", "-r", "-z", "--raw", "--no-abbrev", RENAMED, old, new, *self._pathspec())
        return self._changes(iter(out.split(b"\0")))[0]

    def _pathspec(self) -> tuple[str, ...]:
        prefix = self.place().prefix
        return ("--", prefix) if prefix else ("--",)

    def diff(self, version: str | None = None, path: str | None = None) -> str:
        """What a version changed, or a range of them ("a..b"), or (None) what is not yet in any, as a unified diff.

        Bytes that are not UTF-8 are shown as �. Raises VersionNotFoundError.
        """
        if self.off:
            return ""
        if version is None:
            sides = [self.head().id or self.empty_tree()]
        elif ".." in version:
            old, _, new = version.partition("..")
            sides = [self.resolved(old or "HEAD"), self.resolved(new.removeprefix(".") or "HEAD")]
        else:
            new = self.resolved(version)
            sides = [self.parent(new) or self.empty_tree(), new]
        where = ("--", self.in_repository(path)) if path is not None else self._pathspec()
        words = ("-c", "diff.noprefix=false", "diff", *_PLAIN_DIFF, RENAMED, *sides, *where)
        out = self.ask(*words) if version is not None else self._with_new_files(words, where)
        return out.decode("utf-8", "replace")

    def _with_new_files(self, words: Sequence[str], where: Sequence[str]) -> bytes:
        """What `git WORDS` prints when files that git never had count as well; in a copy of the index."""
        index = self.place().git_dir / "index"
        with tempfile.TemporaryDirectory(prefix="vault-mind-") as folder:
            extra = {"GIT_INDEX_FILE": str(Path(folder, "index"))}
            if index.exists():
                shutil.copy2(index, extra["GIT_INDEX_FILE"])
            everything = where if len(where) > 1 else ("--", ".")
            self.run("add", "--intent-to-add", *everything, extra=extra)  # a path that is gone is no reason to fail
            return self.ask(*words, extra=extra)

    def parent(self, version: str) -> str | None:
        """The version that the one of this whole id was made from; of a merge the first; None for the first of all."""
        code, out, _ = self.run("rev-parse", "--verify", "--quiet", f"{version}^1")
        return out.decode().strip() if code == 0 else None

    def empty_tree(self) -> str:
        """The id of a tree that holds nothing."""
        return self.ask("mktree", given=b"").decode().strip()

    def entries(self, tree: str, paths: Sequence[str]) -> dict[str, Entry]:
        """Mode and blob of each of the vault's `paths` that is in `tree` (a version or a tree)."""
        found: dict[str, Entry] = {}
        for start in range(0, len(paths), 1_000):  # a command line is not endless
            names = [self.in_repository(path) for path in paths[start : start + 1_000]]
            for line in self.ask("ls-tree", "-z", "--full-tree", tree, "--", *names).split(b"\0"):
                if line:
                    facts, _, name = os.fsdecode(line).partition("\t")
                    mode, _, blob = facts.split()
                    found[name[len(self.place().prefix) :]] = (mode, blob)
        return found

    def blob(self, name: str) -> bytes:
        """The bytes of the blob of this id, as they are stored."""
        return self.ask("cat-file", "blob", name)

    def is_blob(self, data: bytes, name: str) -> bool:
        """Whether the blob of this id holds these bytes, as they are."""
        made = sha1 if len(name) == 40 else sha256  # the format of git's names, which protect nothing here
        return made(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest() == name

    def keep(self, data: bytes, path: str | None = None) -> str:
        """Store bytes and give the blob's id; with `path`, as that file's would be (line endings, clean filters)."""
        how = [f"--path={self.in_repository(path)}"] if path is not None else []
        return self.ask("hash-object", "-w", *how, "--stdin", given=data).decode().strip()

    def smudged(self, path: str, blob: str, *, endings: bool = True) -> bytes:
        """The bytes that a checkout writes for a blob: by its filters, and (`endings`) the configured line ends."""
        kept = () if endings else ("-c", "core.autocrlf=false", "-c", "core.eol=lf")
        return self.ask(*kept, "cat-file", "--filters", f"--path={self.in_repository(path)}", blob)


def merged(ours: bytes, base: bytes, theirs: bytes) -> bytes | None:
    """Both sides' changes to `base`, as git merges them; None where they touch the same lines, or are no text."""
    with tempfile.TemporaryDirectory() as folder:
        for name, data in (("ours", ours), ("base", base), ("theirs", theirs)):
            Path(folder, name).write_bytes(data)
        # diff3's algorithm alone; what a repository configures about merging is about its own files.
        code, out, _ = git.run(Path(folder), "merge-file", "-p", "--quiet", "ours", "base", "theirs")
    return out if code == 0 else None


def _version(facts: Sequence[bytes], changes: tuple[Change, ...]) -> Version:
    name, parents, at, author, message = (fact.decode("utf-8", "replace") for fact in facts)
    try:
        moment = datetime.fromtimestamp(int(at), UTC)
    except (ValueError, OverflowError, OSError):  # a date that no clock showed
        moment = datetime.fromtimestamp(0, UTC)
    text = message.strip()
    return Version(name, moment, author, text.partition("\n")[0], trailers(text), changes, tuple(parents.split()))


def trailers(message: str) -> dict[str, str]:
    """The `Name: value` lines of a message's last paragraph."""
    paragraphs = message.strip().split("\n\n")
    lines = paragraphs[-1].splitlines() if len(paragraphs) > 1 else []
    pairs = [line.partition(": ") for line in lines]
    return {name: value.strip() for name, colon, value in pairs if colon and name.replace("-", "").isalnum()}


def _changed(letter: str, paths: list[str | None]) -> list[Change]:
    """What one line of git's says, of a file that may have come into the vault or left it."""
    if letter == "R" and None not in paths:
        return [Change("renamed", paths[1] or "", paths[0] or "")]
    if letter == "R":
        return [Change(how, path) for how, path in zip(("deleted", "added"), paths, strict=True) if path is not None]
    return [Change(_STATUS.get(letter, "changed"), path) for path in paths if path is not None]


def _off(said: str, root: Path) -> str:
    """Why git does not answer, for somebody who may not know git."""
    if "dubious ownership" in said:
        top = next((folder for folder in (root, *root.parents) if (folder / ".git").exists()), root)
        return (
            f"git does not trust {top}, because it belongs to another user. If it is yours: "
            f"git config --global --add safe.directory '{top}'"
        )
    if "not a git repository" in said:
        return f"{root} is in no git repository. Make it one with: vault-mind init {root}"
    return said.strip().removeprefix("fatal: ") or "git gave no answer"

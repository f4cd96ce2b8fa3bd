"""A memory or a phrase is taken out of a real history, and nothing else is."""

import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from vault_mind import git
from vault_mind.config import cache_folder, state_folder
from vault_mind.errors import PurgeRefusedError
from vault_mind.journal import Exchange, Journal
from vault_mind.proof import prove
from vault_mind.purge import carry_out, plan, unfinished

SECRET = "The user is allergic to hazelnuts and penicillin."
EARLIER = "The user thinks that hazelnuts make them cough."
QUOTE = "hazelnuts could kill me, no joke"
NEEDLES = [SECRET, EARLIER, QUOTE]
PATH = "memories/the-user-is-allergic-to-hazelnuts-and-penicillin.md"
OLD_PATH = "memories/cough.md"


def memory(sentence: str, **keys: str) -> str:
    """The text of a memory."""
    lines = "".join(f"{key}: {value}\n" for key, value in {"kind": "fact", "source": "user", **keys}.items())
    return f"---\n{lines}---\n\n{sentence}\n"


class Repository:
    """A real repository with a vault in it, in whose history time passes."""

    def __init__(self, top: Path, inner: str = "", init: tuple[str, ...] = ()) -> None:
        self.top, self.vault = top, top / inner
        self.vault.mkdir(parents=True)
        self.moment = 1_700_000_000
        self.git("init", "--quiet", "--initial-branch=main", *init)
        for key, value in {"user.name": "Ada", "user.email": "ada@example.org", "gc.auto": "0"}.items():
            self.git("config", key, value)

    def git(self, *words: str, given: bytes | None = None, cwd: Path | None = None, **extra: str) -> str:
        """Run git as its owner would, a minute later each time."""
        self.moment += 60
        date = f"{self.moment} +0530"
        when = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date, **extra}
        return git.ask(cwd or self.top, *words, given=given, extra=when).decode("utf-8", "surrogateescape").strip()

    def write(self, path: str, content: str | bytes) -> Path:
        """Write a file of the vault."""
        file = self.vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def commit(self, message: str, *more: str) -> str:
        """Commit everything; the id."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", message, *more)
        return self.git("rev-parse", "HEAD")

    def refs(self) -> dict[str, str]:
        """Every ref and what it stands for."""
        form = "--format=%(refname) %(objectname)"
        return dict(line.split(" ") for line in self.git("for-each-ref", form).splitlines())

    def fsck(self) -> str:
        """What git finds wrong."""
        return self.git("fsck", "--full", "--strict", "--no-dangling", "--no-progress")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """An empty one; the vault is all of it."""
    return Repository(tmp_path / "notes")


def lived_in(r: Repository, turns: int = 40) -> None:
    """A history with everything that git can hold: renames, packs, tags, notes, a stash, a merge, a worktree."""
    r.write(".gitignore", "*.tmp\n")
    r.write("run.sh", "#!/bin/sh\necho tea\n").chmod(0o755)
    r.write("latin.txt", "caf\xe9\n".encode("latin-1"))
    (r.vault / "link.md").symlink_to("memories/m0.md")
    r.commit("Begin")
    r.write(OLD_PATH, memory(EARLIER))
    r.commit(f"Remember: {EARLIER}\n\nTurn: 1\nSource: user")
    r.git("tag", "-a", "v1", "-m", "The first version")
    for number in range(turns):
        r.write(
            f"memories/m{number % 17}.md", memory(f"The user owns {number} bicycles, or so they say.\r\nOn line two.")
        )
        r.commit(f"Remember how many bicycles, turn {number}\n\nTurn: {number + 2}")
        if number == turns // 3:
            (r.vault / OLD_PATH).rename(r.vault / PATH)
            r.write(PATH, memory(EARLIER, quote=f'"{QUOTE}"'))
            r.commit("Rename it")
            r.git("gc", "--quiet")
        if number == turns // 2:
            r.git("checkout", "--quiet", "-b", "side")
            r.write("side.md", f"A note of the doctor says: {SECRET} What else?\n")
            r.commit("A note on the side", "--author", "Zoë <zoe@example.org>")
            r.git("checkout", "--quiet", "main")
            r.write(PATH, memory(SECRET, quote=f'"{QUOTE}"'))
            r.commit("Learned: caf\u00e9", "--author", "Bob <bob@example.org>")
            r.git("merge", "--quiet", "--no-ff", "-m", "Merge the side", "side")
            r.git("notes", "add", "-m", f"Said by the doctor: {SECRET}")
            r.git("notes", "add", "-m", "A harmless note", "HEAD~3")
            r.git("tag", "-a", "v2", "-m", f"With {QUOTE}")
    r.git(
        "-c",
        "i18n.commitEncoding=ISO-8859-1",
        "commit",
        "--quiet",
        "--allow-empty",
        "-F",
        "-",
        given="Caf\xe9, empty".encode("latin-1"),
    )
    r.write(
        "memories/links.md",
        memory("See the other.", superseded_by='"[[the-user-is-allergic-to-hazelnuts-and-penicillin]]"'),
    )
    r.commit("Link to it")
    r.write("memories/m1.md", "stashed first, harmless\n")
    r.git("stash", "push", "--quiet", "-m", "harmless")
    r.write("memories/m2.md", f"stashed: {SECRET}\n")
    r.git("stash", "push", "--quiet", "-m", f"with {QUOTE}")
    r.write("dropped.md", f"never committed: {SECRET}\n")
    r.git("add", "dropped.md", cwd=r.vault)
    r.git("rm", "--quiet", "--cached", "dropped.md", cwd=r.vault)
    (r.vault / "dropped.md").unlink()
    r.write("lost.md", "lost, and harmless\n")
    r.git("hash-object", "-w", str(r.vault / "lost.md"))
    (r.vault / "lost.md").unlink()
    r.git("worktree", "add", "--quiet", "--detach", str(r.top.parent / "elsewhere"), "HEAD~1")


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path, int, str], Repository]:
    """Such a history, made once for each length and copied wherever a test wants it."""
    known: dict[tuple[int, str], Repository] = {}

    def copied(top: Path, turns: int, inner: str) -> Repository:
        if (turns, inner) not in known:
            known[turns, inner] = Repository(tmp_path_factory.mktemp("made") / "notes", inner)
            if inner:
                (known[turns, inner].top / "README").write_text("not of the vault\n")
            lived_in(known[turns, inner], turns)
        first = known[turns, inner]
        shutil.copytree(first.top.parent, top.parent, symlinks=True, dirs_exist_ok=True)
        for pointer in (top / ".git/worktrees/elsewhere/gitdir", top.parent / "elsewhere/.git"):
            pointer.write_text(pointer.read_text().replace(str(first.top.parent), str(top.parent)))
        copy = Repository.__new__(Repository)
        copy.top, copy.vault, copy.moment = top, top / inner, first.moment
        return copy

    return copied


@pytest.fixture
def lived(made: Callable[[Path, int, str], Repository], tmp_path: Path) -> Repository:
    """A repository in which time has passed; the vault is all of it, and another worktree is beside it."""
    return made(tmp_path / "notes", 6, "")


def story(r: Repository) -> list[str]:
    """What of every commit has to stay: who, when, in which zone and encoding, how many parents."""
    form = "--format=%an|%ae|%ad|%cn|%ce|%cd|%e|%P"
    lines = r.git("log", "--topo-order", "--date=raw", form, "--branches", "--tags").splitlines()
    return [line.rpartition("|")[0] + f"|{len(line.rpartition('|')[2].split())}" for line in lines]


def files(r: Repository, touched: Callable[[str], bool], every: int = 1) -> list[list[str]]:
    """Of every so-manieth commit each entry that is not touched: mode, blob, path."""
    commits = r.git("log", "--topo-order", "--format=%H", "--branches", "--tags").splitlines()[::every]
    trees = [r.git("ls-tree", "-r", "-z", "--full-tree", commit).split("\0") for commit in commits]
    return [[line for line in tree if not touched(line.rpartition("\t")[2])] for tree in trees]


def messages(r: Repository) -> list[str]:
    """Every message."""
    return r.git("log", "--topo-order", "--format=%B%x00", "--branches", "--tags").split("\0")


def touched(path: str) -> bool:
    return path.endswith((PATH, OLD_PATH, "side.md", "links.md"))


@pytest.mark.parametrize(("inner", "turns"), [("", 40), ("my notes/väult", 6)])
def test_a_memory_is_gone_from_everything_and_everything_else_is_as_it_was(
    made: Callable[[Path, int, str], Repository], tmp_path: Path, inner: str, turns: int
) -> None:
    r = made(tmp_path / "notes", turns, inner)
    before = (
        story(r),
        files(r, touched, every=3),
        messages(r),
        r.git("stash", "list").count("\n"),
        r.git("reflog").count("\n"),
    )

    told = plan(r.vault, paths=[PATH])
    outcome = carry_out(told)

    assert told.refusals == ()
    assert outcome.found.places == ()
    assert prove(r.vault, NEEDLES).places == ()
    assert r.fsck() == ""
    assert story(r) == before[0]
    assert files(r, touched, every=3) == before[1]
    changed = [(a, b) for a, b in zip(before[2], messages(r), strict=True) if a != b]
    assert changed == [
        (f"\nRemember: {EARLIER}\n\nTurn: 1\nSource: user\n", "\nRemember: (purged).\n\nTurn: 1\nSource: user\n")
    ]
    assert r.git("stash", "list").count("\n") == before[3]
    assert r.git("reflog").count("\n") == before[4]
    assert r.git("status", "--porcelain") == ""


def test_the_plan_says_what_will_be_rewritten_and_changes_nothing(lived: Repository) -> None:
    before = (lived.refs(), lived.git("status", "--porcelain"), sorted(lived.top.rglob("*")))

    told = plan(lived.vault, paths=[PATH])

    assert (lived.refs(), lived.git("status", "--porcelain"), sorted(lived.top.rglob("*"))) == before
    history = {change.path: change.what for change in told.history}
    assert history[PATH] == history[OLD_PATH] == "deleted"
    assert history["side.md"] == history["memories/links.md"] == "text taken out"
    assert {change.path: change.what for change in told.files} == {
        PATH: "deleted",
        "side.md": "text taken out",
        "memories/links.md": "text taken out",
    }
    assert 0 < told.commits < told.commits_of
    assert "refs/heads/main" in told.refs
    assert "refs/tags/v2" in told.refs
    assert told.stashes == 2
    assert len(told.messages) == 3  # of a commit, a tag and a stash


def test_what_nothing_leads_to_stays_unless_it_holds_the_text(lived: Repository) -> None:
    lost = lived.git("hash-object", "--stdin", given=b"lost, and harmless\n")

    carry_out(plan(lived.vault, paths=[PATH]))

    assert lived.git("cat-file", "-p", lost) == "lost, and harmless"


def test_commits_before_the_first_that_held_it_keep_their_ids(repository: Repository) -> None:
    repository.write("a.md", "The tea is green.\n")
    first = repository.commit("First")
    repository.write(PATH, memory(SECRET))
    second = repository.commit("Second")

    outcome = carry_out(plan(repository.vault, paths=[PATH]))

    assert repository.git("rev-parse", "HEAD~1") == first
    assert repository.git("rev-parse", "HEAD") != second
    assert outcome.commits == 1


def test_a_note_tells_the_same_of_the_same_commit(lived: Repository) -> None:
    told = {
        "Merge the side": "Said by the doctor: (purged).",
    }
    harmless = lived.git("log", "-1", "--format=%s", "--grep=turn 3$")

    carry_out(plan(lived.vault, paths=[PATH]))

    notes = dict(
        line.split("|", 1) for line in lived.git("log", "--format=%s|%N", "--notes").split("\n") if "|" in line
    )
    assert notes["Merge the side"] == told["Merge the side"]
    assert "A harmless note" in notes.values()
    assert harmless


def test_stashes_that_do_not_hold_it_can_be_taken_out_as_before(lived: Repository) -> None:

    carry_out(plan(lived.vault, paths=[PATH]))

    lived.git("stash", "pop", "--quiet", "stash@{1}")
    assert (lived.vault / "memories/m1.md").read_text() == "stashed first, harmless\n"
    lived.git("checkout", "--quiet", "--", ".")
    lived.git("stash", "pop", "--quiet")
    assert (lived.vault / "memories/m2.md").read_text() == "stashed: (purged).\n"


def test_the_file_in_another_worktree_goes_too(lived: Repository, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    assert (elsewhere / PATH).exists()

    carry_out(plan(lived.vault, paths=[PATH]))

    assert not (elsewhere / PATH).exists()
    assert "(purged)" in (elsewhere / "side.md").read_text()
    assert lived.git("status", "--porcelain", cwd=elsewhere) == ""
    assert lived.git("log", "-1", "--format=%s", cwd=elsewhere) == lived.git("log", "-1", "--format=%s", "HEAD~1")


def test_a_purge_from_another_worktree_finds_all_the_same(lived: Repository, tmp_path: Path) -> None:

    outcome = carry_out(plan(tmp_path / "elsewhere", paths=[PATH]))

    assert outcome.found.places == ()
    assert not (lived.vault / PATH).exists()
    assert lived.git("status", "--porcelain") == ""
    assert lived.fsck() == ""


def test_a_half_staged_file_and_what_lies_about_stay_as_they_are(lived: Repository) -> None:
    lived.write("memories/m0.md", "staged\n")
    lived.git("add", "memories/m0.md")
    lived.write("memories/m0.md", "staged\nand not staged\n")
    lived.write("scratch.txt", "lying about\n")
    before = lived.git("diff"), lived.git("diff", "--cached"), lived.git("status", "--porcelain")

    carry_out(plan(lived.vault, paths=[PATH]))

    assert (
        lived.git("diff"),
        lived.git("diff", "--cached"),
        lived.git("status", "--porcelain"),
    ) == before


def test_a_phrase_goes_wherever_it_stands_and_the_words_around_it_stay(repository: Repository) -> None:
    r = repository
    r.write(
        "diary.md",
        "---\ntags: [diary]\nquote: Operation Moonflower is mine\n---\n\n"
        "Monday. We spoke of operation\nmoonflower over tea.\n",
    )
    r.write(
        "memories/operation-moonflower-is-secret.md", memory("Operation Moonflower is secret, and the user likes tea.")
    )
    r.write("all.md", memory("Operation Moonflower."))
    r.write("wide.txt", "About Operation Moonflower, wide.".encode("utf-16"))
    r.write("picture.png", b"\x89PNG\0\0Operation Moonflower\0end")
    r.commit("Remember Operation Moonflower at tea")
    r.git("branch", "later")
    r.git(
        "-c",
        "i18n.commitEncoding=ISO-8859-1",
        "commit",
        "--quiet",
        "--allow-empty",
        "-F",
        "-",
        given="Caf\xe9: operation moonflower".encode("latin-1"),
    )
    r.write("untracked.md", "Not in git: OPERATION MOONFLOWER, and more.\n")

    told = plan(r.vault, phrase="Operation Moonflower")
    outcome = carry_out(told)

    assert outcome.found.count == 0
    assert prove(r.vault, ["operation moonflower"]).places == ()
    assert (
        r.vault / "diary.md"
    ).read_text() == "---\ntags: [diary]\nquote: (purged) is mine\n---\n\nMonday. We spoke of (purged) over tea.\n"
    assert (r.vault / "memories/purged-1.md").read_text() == memory("(purged) is secret, and the user likes tea.")
    assert not (r.vault / "all.md").exists()
    assert (r.vault / "wide.txt").read_bytes() == "About (purged), wide.".encode("utf-16")
    assert (r.vault / "picture.png").read_bytes() == b"\x89PNG\0\0********************\0end"
    assert (r.vault / "untracked.md").read_text() == "Not in git: (purged), and more.\n"
    assert r.git("log", "--format=%s", "--encoding=UTF-8").split("\n") == [
        "Caf\xe9: (purged)",
        "Remember (purged) at tea",
    ]
    assert r.git("status", "--porcelain") == "?? untracked.md"
    assert any("picture.png is no text" in warning for warning in told.warnings)


def test_files_and_folders_that_are_named_by_it_get_other_names(repository: Repository) -> None:
    r = repository
    r.write("Operation Moonflower/day one.md", "Plain words.\r\n")
    r.write("Operation Moonflower/empty.md", "Operation Moonflower.\n")
    r.write("assets/operation_moonflower.png", b"\x89PNG\0")
    r.write("purged-1.md", "The owner's own.\n")
    r.commit("One")

    told = plan(r.vault, phrase="Operation Moonflower")
    outcome = carry_out(told)

    assert outcome.found.places == ()
    assert told.warnings == ()
    assert r.git("status", "--porcelain") == ""
    names = r.git("ls-tree", "-r", "--name-only", "HEAD").splitlines()
    assert (
        sorted(path.relative_to(r.vault).as_posix() for path in r.vault.rglob("*.*") if ".git" not in path.parts)
        == names
    )
    assert {Path(name).name for name in names} >= {"day one.md", "purged-1.md"}
    assert sum(name.endswith(".png") for name in names) == 1
    assert not (r.vault / "Operation Moonflower").exists()


def test_a_phrase_outside_the_vault_is_told_of_and_left(tmp_path: Path) -> None:
    r = Repository(tmp_path / "everything", "notes")
    (r.top / "other.md").write_text("Operation Moonflower, of the house.\n")
    r.write("a.md", "Operation Moonflower, of the vault.\n")
    r.write("same.md", "Operation Moonflower, of the house.\n")
    r.commit("Begin")

    outcome = carry_out(plan(r.vault, phrase="Operation Moonflower"))

    assert (r.top / "other.md").read_text() == "Operation Moonflower, of the house.\n"
    assert (r.vault / "same.md").read_text() == "(purged), of the house.\n"
    assert r.git("status", "--porcelain") == ""
    assert outcome.found.count == 0
    assert [place.left for place in outcome.found.left] == ["outside the vault: other.md"]


@pytest.mark.parametrize("phrase", ["tea", "a b", "茶", "…"])
def test_a_phrase_that_stands_within_many_words_is_refused(repository: Repository, phrase: str) -> None:
    with pytest.raises(PurgeRefusedError, match="too short"):
        plan(repository.vault, phrase=phrase)


def test_a_memory_that_says_too_little_goes_with_its_file_and_is_told_of(repository: Repository) -> None:
    repository.write("tea.md", memory("Likes tea."))
    repository.write("other.md", "Whoever likes tea is welcome.\n")
    repository.commit("Begin")
    blob = repository.git("rev-parse", "HEAD:tea.md")

    told = plan(repository.vault, paths=["tea.md"])
    outcome = carry_out(told)

    assert any("'Likes tea' says too little" in warning for warning in told.warnings)
    assert (repository.vault / "other.md").read_text() == "Whoever likes tea is welcome.\n"
    assert outcome.found.places == ()
    assert blob not in repository.git("cat-file", "--batch-all-objects", "--batch-check")


def test_what_went_on_under_another_name_is_no_earlier_version_of_the_file(repository: Repository) -> None:
    r = repository
    r.write("tea.md", memory("The user prefers green tea in the morning."))
    r.commit("One")
    (r.vault / "tea.md").rename(r.vault / "green.md")
    r.commit("Two")
    r.write("tea.md", memory("The user is afraid of thunderstorms at night."))
    r.commit("Three")

    carry_out(plan(r.vault, paths=["tea.md"]))

    assert "green tea" in r.git("show", "HEAD~2:tea.md")
    assert "green tea" in (r.vault / "green.md").read_text()
    assert not (r.vault / "tea.md").exists()
    assert "thunderstorms" not in r.git("log", "-p", "--all")


def test_what_was_forgotten_before_is_purged_by_its_old_path(lived: Repository) -> None:
    (lived.vault / PATH).unlink()
    lived.commit("Forget it")

    outcome = carry_out(plan(lived.vault, paths=[PATH]))

    assert outcome.found.places == ()
    assert prove(lived.vault, NEEDLES).places == ()


def test_leftovers_of_git_are_looked_through(lived: Repository) -> None:
    r = lived
    r.git("update-ref", "ORIG_HEAD", "HEAD")
    r.git("update-ref", "refs/original/refs/heads/main", "HEAD~1")
    r.git("replace", "HEAD~2", "HEAD~3")
    (r.top / ".git/FETCH_HEAD").write_text(f"{r.git('rev-parse', 'HEAD')}\t\tbranch 'main' of x\n")
    (r.top / ".git/COMMIT_EDITMSG").write_text(f"# {SECRET}\nkept\n")
    (r.top / ".git/MERGE_RR").touch()
    conflict = r.top / ".git/rr-cache/abc"
    conflict.mkdir(parents=True)
    (conflict / "preimage").write_text(f"<<<<<<<\n{SECRET}\n=======\n>>>>>>>\n")
    (r.top / ".git/lost-found/other").mkdir(parents=True)
    (r.top / ".git/lost-found/other/1234").write_text(SECRET)
    r.git("repack", "-a", "-d", "-q")
    for pack in (r.top / ".git/objects/pack").glob("*.pack"):
        pack.with_suffix(".keep").touch()
    r.git("commit-graph", "write", "--reachable")
    (r.top / ".git/objects/pack/tmp_pack_abc").write_bytes(b"half a pack")

    told = plan(r.vault, paths=[PATH])
    outcome = carry_out(told)

    assert outcome.found.places == ()
    assert r.fsck() == ""
    assert (r.top / ".git/COMMIT_EDITMSG").read_text() == "# (purged).\nkept\n"
    assert "marked to be kept" in " ".join(told.warnings)
    assert r.git("replace", "--list") == r.git("rev-parse", "HEAD~2", GIT_NO_REPLACE_OBJECTS="1")


def test_objects_in_a_pack_of_what_nothing_leads_to_go_too(lived: Repository) -> None:
    r = lived
    r.git("gc", "--quiet", "--cruft", "--prune=never")

    outcome = carry_out(plan(r.vault, paths=[PATH]))

    assert outcome.found.places == ()
    assert r.fsck() == ""


def signed(r: Repository) -> None:
    """Put a commit and a tag with signatures in the place of HEAD."""
    signature = ["-----BEGIN PGP SIGNATURE-----", "", "abc", "-----END PGP SIGNATURE-----"]
    head, _, message = r.git("cat-file", "commit", "HEAD").partition("\n\n")
    lines = head + "\ngpgsig " + "\n ".join(signature) + f"\nx-other kept\n\n{message}\n"
    commit = r.git("hash-object", "-t", "commit", "-w", "--stdin", given=lines.encode())
    r.git("update-ref", "HEAD", commit)
    tag = f"object {commit}\ntype commit\ntag v3\ntagger A <a@b> 1700000000 -0330\n\nWell\n" + "\n".join(signature)
    r.git("update-ref", "refs/tags/v3", r.git("mktag", given=f"{tag}\n".encode()))


def test_what_is_signed_loses_its_signature_and_nothing_else(repository: Repository) -> None:
    repository.write(PATH, memory(SECRET))
    repository.commit("One")
    signed(repository)

    told = plan(repository.vault, paths=[PATH])
    carry_out(told)

    assert "2 commits or tags lose their signature" in " ".join(told.warnings)
    commit = repository.git("cat-file", "commit", "HEAD")
    assert "gpgsig" not in commit
    assert "x-other kept" in commit
    tag = repository.git("cat-file", "tag", "v3")
    assert tag.endswith("tag v3\ntagger A <a@b> 1700000000 -0330\n\nWell")


def test_what_is_signed_and_older_stays_signed(repository: Repository) -> None:
    repository.write("a.md", "The tea is green.\n")
    repository.commit("One")
    signed(repository)
    repository.write(PATH, memory(SECRET))
    repository.commit("Two")

    carry_out(plan(repository.vault, paths=[PATH]))

    assert "gpgsig" in repository.git("cat-file", "commit", "HEAD~1")
    assert repository.git("rev-parse", "v3^{commit}") == repository.git("rev-parse", "HEAD~1")


def test_a_changed_file_is_refused_and_nothing_is_changed(lived: Repository) -> None:
    lived.write("side.md", f"changed by hand: {SECRET}\n")
    before = lived.refs()

    told = plan(lived.vault, paths=[PATH])
    with pytest.raises(PurgeRefusedError, match=r"changed and not committed: side\.md\. Commit or discard"):
        carry_out(told)

    assert [refusal.forced for refusal in told.refusals] == [True]
    assert lived.refs() == before
    assert not unfinished(lived.vault)


def test_with_force_a_changed_file_keeps_its_changes_without_the_text(lived: Repository) -> None:
    lived.write("side.md", f"changed by hand: {SECRET}\n")

    outcome = carry_out(plan(lived.vault, paths=[PATH]), force=True)

    assert outcome.found.places == ()
    assert (lived.vault / "side.md").read_text() == "changed by hand: (purged).\n"
    assert lived.git("status", "--porcelain") == "M side.md"


def test_a_change_to_another_file_is_no_reason_to_refuse(lived: Repository) -> None:
    lived.write("run.sh", "changed\n")

    carry_out(plan(lived.vault, paths=[PATH]))

    assert lived.git("status", "--porcelain") == "M run.sh"


@pytest.mark.parametrize("what", ["rebase", "merge", "cherry-pick", "bisect"])
def test_GI_06_in_the_middle_of_something_it_is_refused_even_with_force(repository: Repository, what: str) -> None:
    r = repository
    r.write(PATH, memory(SECRET))
    r.write("base.md", "base\n")
    r.commit("One")
    r.git("branch", "side")
    r.write("base.md", "ours\n")
    r.commit("Two")
    r.git("checkout", "--quiet", "side")
    r.write("base.md", "theirs\n")
    r.commit("Three")
    words = {
        "rebase": ["rebase", "main"],
        "merge": ["merge", "main"],
        "cherry-pick": ["cherry-pick", "main"],
        "bisect": ["bisect", "start"],
    }
    git.run(r.top, *words[what])
    before = r.refs()

    with pytest.raises(PurgeRefusedError, match=f"a {what} is under way"):
        carry_out(plan(r.vault, paths=[PATH]), force=True)

    assert r.refs() == before


def test_GI_01_a_lock_of_another_git_is_named_and_left(repository: Repository) -> None:
    repository.write(PATH, memory(SECRET))
    repository.commit("One")
    (repository.top / ".git/index.lock").touch()

    with pytest.raises(PurgeRefusedError, match="another git is at work"):
        carry_out(plan(repository.vault, paths=[PATH]), force=True)

    assert (repository.top / ".git/index.lock").exists()


def test_what_was_pushed_is_refused_and_with_force_says_what_the_remote_needs(
    lived: Repository, tmp_path: Path
) -> None:
    r = lived
    r.git("init", "--quiet", "--bare", str(tmp_path / "hub.git"))
    r.git("remote", "add", "hub", str(tmp_path / "hub.git"))
    r.git("push", "--quiet", "--set-upstream", "hub", "main", "side")
    r.git("remote", "set-head", "hub", "main")

    told = plan(r.vault, paths=[PATH])
    with pytest.raises(PurgeRefusedError, match=r"it was pushed \(hub/main, hub/side\)"):
        carry_out(told)
    outcome = carry_out(told, force=True)

    assert outcome.found.places == ()
    assert "git push --force hub main side" in outcome.advice[0]
    assert told.remotes == outcome.advice
    assert r.fsck() == ""
    r.git("push", "--quiet", "--force", "hub", "main", "side")
    assert r.git("rev-parse", "hub/main") == r.git("rev-parse", "main")


def test_a_remote_that_never_had_it_is_no_reason_to_refuse(repository: Repository, tmp_path: Path) -> None:
    r = repository
    r.write("a.md", "The tea is green.\n")
    r.commit("One")
    r.git("init", "--quiet", "--bare", str(tmp_path / "hub.git"))
    r.git("remote", "add", "hub", str(tmp_path / "hub.git"))
    r.git("push", "--quiet", "hub", "main")
    r.write(PATH, memory(SECRET))
    r.commit("Two")

    outcome = carry_out(plan(r.vault, paths=[PATH]))

    assert outcome.found.places == ()
    assert r.git("rev-parse", "hub/main") == r.git("rev-parse", "main~1")


def test_a_shallow_clone_is_refused(lived: Repository, tmp_path: Path) -> None:
    lived.git("clone", "--quiet", "--depth=2", f"file://{lived.top}", str(tmp_path / "shallow"))

    with pytest.raises(PurgeRefusedError, match="shallow clone"):
        carry_out(plan(tmp_path / "shallow", paths=[PATH]), force=True)


def test_a_repository_that_borrows_objects_is_refused(lived: Repository, tmp_path: Path) -> None:
    lived.git("clone", "--quiet", "--shared", str(lived.top), str(tmp_path / "shared"))

    with pytest.raises(PurgeRefusedError, match="borrows objects"):
        carry_out(plan(tmp_path / "shared", paths=[PATH]), force=True)


def test_a_submodule_is_refused_and_one_in_the_vault_stays(lived: Repository, tmp_path: Path) -> None:
    around = Repository(tmp_path / "around")
    around.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(lived.top), "notes")
    around.write(PATH, memory(SECRET))
    around.commit("With the notes")
    entry = around.git("ls-tree", "HEAD", "notes")

    with pytest.raises(PurgeRefusedError, match="it is a submodule"):
        carry_out(plan(around.top / "notes", paths=[PATH]), force=True)
    carry_out(plan(around.vault, paths=[PATH]), force=True)

    assert around.git("ls-tree", "HEAD", "notes") == entry


def test_a_backup_is_made_only_when_asked_and_outside_the_vault(lived: Repository, tmp_path: Path) -> None:
    old = lived.git("rev-parse", "main")

    with pytest.raises(PurgeRefusedError, match="outside"):
        carry_out(plan(lived.vault, paths=[PATH]), backup=lived.top / "backup.bundle")
    carry_out(plan(lived.vault, paths=[PATH]), backup=tmp_path / "backup.bundle")

    lived.git("clone", "--quiet", str(tmp_path / "backup.bundle"), str(tmp_path / "restored"))
    assert lived.git("rev-parse", "HEAD", cwd=tmp_path / "restored") == old
    assert list(lived.top.rglob("*.bundle")) == []


def ours(root: Path) -> None:
    """What vault-mind itself keeps beside a vault."""
    said = Exchange(
        f"By the way, {QUOTE}. And I like t\u00e9.", "", "Noted.", "2026-11-29T18:42:07+01:00", "c", "claude"
    )
    Journal(state_folder(root) / "journal").add(said)
    (state_folder(root) / "history").write_text(f"\n# 2026-11-29\n+{QUOTE}\n+and more\n")
    (cache_folder(root) / "postings").mkdir(parents=True)
    (cache_folder(root) / "texts").write_text(SECRET)
    (cache_folder(root) / "vectors").mkdir()
    (cache_folder(root) / "vectors/left.vectors").write_bytes(b"of another version")


@pytest.mark.parametrize("with_git", [True, False])
def test_journal_chat_history_index_and_vectors_are_purged_and_proved(tmp_path: Path, with_git: bool) -> None:
    r = Repository(tmp_path / "notes")
    r.write(PATH, memory(SECRET, quote=f'"{QUOTE}"'))
    r.write("side.md", f"The doctor: {SECRET} What else?\n")
    r.commit("One")
    if not with_git:
        (r.top / ".git").rename(tmp_path / "no git")
    ours(r.vault)
    assert len(prove(r.vault, NEEDLES).places) >= 5

    told = plan(r.vault, paths=[PATH])
    outcome = carry_out(told)

    assert len(told.other_files) == 2
    assert outcome.found.places == ()
    assert not (r.vault / PATH).exists()
    assert (r.vault / "side.md").read_text() == "The doctor: (purged). What else?\n"
    waiting = Journal(state_folder(r.vault) / "journal").waiting()
    assert [said.exchange.message for said in waiting] == ["By the way, (purged). And I like t\u00e9."]
    assert (state_folder(r.vault) / "history").read_text() == "\n# 2026-11-29\n+(purged)\n+and more\n"


def test_what_is_not_ours_is_named_and_left(repository: Repository) -> None:
    repository.write(PATH, memory(SECRET))
    repository.commit("One")
    repository.write(".trash/old.md", memory(SECRET))
    repository.write("export.csv", f"1;{SECRET}\n")
    repository.git("config", "branch.main.description", SECRET)
    repository.git("branch", "the-user-is-allergic-to-hazelnuts-and-penicillin")

    outcome = carry_out(plan(repository.vault, paths=[PATH]))

    assert outcome.found.count == 0
    left = {place.where for place in outcome.found.left}
    assert {".trash/old.md", "export.csv", ".git/config"} <= left
    assert any("the name of refs/heads/the-user" in where for where in left)
    assert (repository.vault / ".trash/old.md").exists()


def again(folder: Path, last: int) -> bool:
    """Plan and purge in a process that is killed, as by kill -9, before the `last`-th thing that it does to the disk.

    Whether it was; else it ended by itself.
    """
    program = f"""
import os, signal, sys
from pathlib import Path
from vault_mind.purge import carry_out, plan
told = plan(Path({str(folder)!r}), paths=[{PATH!r}])
left = {last}
def watch(event, arguments):
    global left
    written = event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
    if written or event in ("subprocess.Popen", "os.remove", "os.rename", "os.rmdir", "os.chmod"):
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(watch)
carry_out(told)
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ended.returncode in (0, -signal.SIGKILL), ended.stderr
    return ended.returncode != 0


def looked_at_after_each_kill(r: Repository, moments: Iterable[int]) -> int:
    """Kill a purge at each of `moments` of it; how many states of the refs were met."""
    old, kept = r.refs(), (story(r), files(r, touched))
    new: dict[str, str] = {}
    for moment in moments:
        if not again(r.vault, moment):
            break
        refs = r.refs()
        moved = {name: refs[name] for name in refs if refs[name] != old[name]}
        new = new or moved
        assert moved in ({}, new)
        assert r.fsck() == ""
        assert (story(r), files(r, touched)) == kept

    outcome = carry_out(plan(r.vault, paths=[PATH]))

    assert outcome.found.places == ()
    assert prove(r.vault, NEEDLES).places == ()
    assert not unfinished(r.vault)
    assert r.git("status", "--porcelain") == ""
    assert r.git("status", "--porcelain", cwd=r.top.parent / "elsewhere") == ""
    assert r.git("stash", "list").count("\n") == 1
    assert (story(r), files(r, touched)) == kept
    return 1 + bool(new)


def test_killed_at_any_moment_it_leaves_the_old_history_or_the_new_and_goes_on_when_run_again(
    lived: Repository,
) -> None:
    ours(lived.vault)
    chance = random.Random(5)

    met = looked_at_after_each_kill(lived, [chance.randrange(1, 30), *(chance.randrange(20, 200) for _ in range(3))])

    assert met == 2


@pytest.mark.storm
def test_killed_at_every_moment_one_after_the_other(lived: Repository) -> None:
    ours(lived.vault)

    met = looked_at_after_each_kill(lived, range(1, 1000))

    assert met == 2


@pytest.mark.storm
@pytest.mark.parametrize("seed", range(8))
def test_killed_by_the_clock(lived: Repository, seed: int) -> None:
    r, chance = lived, random.Random(seed)
    ours(r.vault)
    kept = (story(r), files(r, touched))
    for _ in range(6):
        program = f"from vault_mind.purge import *; carry_out(plan(Path({str(r.vault)!r}), paths=[{PATH!r}]))"
        with subprocess.Popen([sys.executable, "-c", program]) as process:
            time.sleep(0.4 + chance.random())
            process.send_signal(signal.SIGKILL)
        assert r.fsck() == ""
        assert (story(r), files(r, touched)) == kept

    assert carry_out(plan(r.vault, paths=[PATH])).found.places == ()


def test_a_hook_of_the_owners_does_not_stop_it(lived: Repository) -> None:
    r = lived
    hook = r.top / ".git/hooks/reference-transaction"
    hook.write_text("#!/bin/sh\nexit 1\n")  # a hook of the owner's says no to every ref
    hook.chmod(0o755)
    before = r.refs()

    outcome = carry_out(plan(r.vault, paths=[PATH]))

    assert outcome.found.places == ()  # it is not asked: purging is not for hooks to stop
    assert r.refs() != before


@pytest.mark.parametrize(
    "name", [" b.md", "水曜日.md", 'q"uo\te.md', "new\nline.md", "-dash.md", ":(top)x.md", "a*b.md"]
)
def test_GI_02_a_memory_of_any_name_is_purged(repository: Repository, name: str) -> None:
    r = repository
    r.write("axb.md", "Harmless, and nearly of the same name.\n")
    r.write(name, memory(SECRET))
    r.commit("One")

    outcome = carry_out(plan(r.vault, paths=[name]))

    assert outcome.found.places == ()
    assert not (r.vault / name).exists()
    assert r.git("ls-tree", "-r", "--name-only", "HEAD") == "axb.md"
    assert r.git("status", "--porcelain") == ""


def test_GI_03_a_signer_that_never_answers_is_not_asked(repository: Repository) -> None:
    repository.write(PATH, memory(SECRET))
    repository.commit("One")
    for key, value in {"commit.gpgSign": "true", "tag.gpgSign": "true", "gpg.program": "/bin/cat"}.items():
        repository.git("config", key, value)

    assert carry_out(plan(repository.vault, paths=[PATH])).found.places == ()


def test_GI_08_without_a_name_and_an_address_it_is_purged_all_the_same(repository: Repository) -> None:
    repository.write(PATH, memory(SECRET))
    repository.commit("One")
    before = story(repository)
    for key in ("user.name", "user.email"):
        repository.git("config", "--unset", key)
    repository.git("config", "user.useConfigOnly", "true")

    assert carry_out(plan(repository.vault, paths=[PATH])).found.places == ()
    assert story(repository) == before


def test_GI_09_a_memory_that_git_ignores_is_purged_from_the_folder(repository: Repository) -> None:
    repository.write(".gitignore", "private/\n")
    repository.write("side.md", f"The doctor: {SECRET}\n")
    repository.commit("One")
    repository.write("private/a.md", memory(SECRET))
    repository.write("private/b.md", f"As the doctor says: {SECRET}\n")

    outcome = carry_out(plan(repository.vault, paths=["private/a.md"]))

    assert outcome.found.places == ()
    assert not (repository.vault / "private/a.md").exists()
    assert (repository.vault / "private/b.md").read_text() == "As the doctor says: (purged).\n"


def test_ME_07_an_edit_by_hand_between_plan_and_purge_survives(repository: Repository) -> None:
    repository.write(PATH, memory(SECRET))
    repository.write("plan.md", f"As the doctor says: {SECRET}\n")
    repository.commit("One")
    told = plan(repository.vault, paths=[PATH])
    with (repository.vault / "plan.md").open("a") as file:
        file.write("added by hand\n")

    with pytest.raises(PurgeRefusedError, match=r"changed and not committed: plan\.md"):
        carry_out(told)
    carry_out(told, force=True)

    assert (repository.vault / "plan.md").read_text() == "As the doctor says: (purged).\nadded by hand\n"


def test_what_was_committed_between_plan_and_purge_is_purged_too(repository: Repository) -> None:
    repository.write(PATH, memory(SECRET))
    repository.commit("One")
    told = plan(repository.vault, paths=[PATH])
    repository.write("later.md", f"As the doctor says: {SECRET}\n")
    repository.commit("Two")

    assert carry_out(told).found.places == ()
    assert (repository.vault / "later.md").read_text() == "As the doctor says: (purged).\n"


def test_a_file_that_cannot_be_written_is_named_and_the_rest_is_purged(repository: Repository) -> None:
    repository.write(PATH, memory(SECRET))
    repository.commit("One")
    locked = repository.write("locked.md", f"As the doctor says: {SECRET}\n")
    locked.chmod(0o444)

    outcome = carry_out(plan(repository.vault, paths=[PATH]))

    assert {place.where for place in outcome.found.places} == {"locked.md"}
    assert outcome.found.count > 0


def test_a_repository_with_long_ids_and_odd_tags_is_purged(tmp_path: Path) -> None:
    r = Repository(tmp_path / "notes", init=("--object-format=sha256",))
    lived_in(r, 4)
    r.git("tag", "-a", "of-a-tag", "-m", "a tag of a tag", "v2")
    r.git("tag", "-a", "of-a-tree", "-m", "a tag of a tree", "HEAD^{tree}")
    r.git("tag", "-a", "of-a-blob", "-m", "a tag of a file", "HEAD:side.md")
    r.git("tag", "light-tree", "HEAD^{tree}")
    kept = story(r)

    outcome = carry_out(plan(r.vault, paths=[PATH]))

    assert outcome.found.places == ()
    assert story(r) == kept
    assert r.fsck() == ""
    assert r.git("rev-parse", "light-tree") == r.git("rev-parse", "HEAD^{tree}") == r.git("rev-parse", "of-a-tree^{}")
    assert r.git("cat-file", "blob", "of-a-blob^{}") == "A note of the doctor says: (purged). What else?"


def test_a_new_id_stands_where_a_message_named_the_old_one(repository: Repository) -> None:
    r = repository
    r.write(PATH, memory(SECRET))
    first = r.commit("One")
    r.commit(f"Two\n\nThis reverts commit {first}.\nUndoes: {first}")

    carry_out(plan(r.vault, paths=[PATH]))

    new = r.git("rev-parse", "HEAD~1")
    assert r.git("log", "-1", "--format=%B") == f"Two\n\nThis reverts commit {new}.\nUndoes: {new}"


def test_a_vault_without_the_text_is_left_alone(repository: Repository) -> None:
    lived_in(repository, 2)
    before = repository.refs()

    told = plan(repository.vault, phrase="no such words anywhere")
    outcome = carry_out(told)

    assert told.nothing
    assert outcome.found.places == ()
    assert (repository.refs(), outcome.commits) == (before, 0)


@pytest.mark.storm
def test_two_thousand_commits(tmp_path: Path) -> None:
    r = Repository(tmp_path / "notes")
    lived_in(r, 2000)
    before = (story(r), files(r, touched, every=50), len(messages(r)))

    start = time.monotonic()
    told = plan(r.vault, paths=[PATH])
    planned = time.monotonic()
    outcome = carry_out(told)

    took = f"planned in {planned - start:.1f} s, done in {outcome.seconds:.1f} s"
    print(f"{told.commits} of {told.commits_of} commits: {took}")
    assert outcome.found.places == ()
    assert (story(r), files(r, touched, every=50), len(messages(r))) == before
    assert r.fsck() == ""

"""Storms: kills, crowds, odd edits and full disks, until something is lost. `python -m tests.storm`.

It says the seed first, then what it tries as it goes, and in the end in a table what was tried and
what was lost. Nothing may be: then it ends with 0, else with 1.
"""

import argparse
import itertools
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

from vault_mind import Agent, Index, Memory, Session, Vault, open_session
from vault_mind.behind import Behind
from vault_mind.config import Settings, state_folder
from vault_mind.errors import BusyError, ConflictError, MemoryChangedError, VaultMindError
from vault_mind.files import TEMPORARY, locked
from vault_mind.journal import Exchange, Journal, Waiting
from vault_mind.memory import compose, revise
from vault_mind.model import Request, Schema

NOW = datetime(2026, 11, 29, 18, 42, 7, tzinfo=UTC)
REPOSITORY = Path(__file__).parent.parent
FILES = 40  # in the vault of the kills, about
LONGEST = 0.06  # seconds that a child may work before it is killed
WORDS = "tea coffee train garden winter letter copper piano harbour lentil".split()

# What a process may be killed at: every call by which it asks something of the disk.
EVENTS = {"open", "os.link", "os.rename", "os.remove", "os.chmod", "os.mkdir", "os.scandir", "fcntl.flock"}


@dataclass(frozen=True)
class Options:
    """How hard it blows."""

    seed: int
    kills: int = 1_000
    edits: int = 10_000
    writers: int = 16
    seconds: float = 60


@dataclass
class Tally:
    """What was tried, how often, and what was lost, in sentences."""

    tried: Counter[str] = field(default_factory=Counter)
    lost: list[tuple[str, str]] = field(default_factory=list)

    def check(self, name: str, *, sound: bool, otherwise: str) -> None:
        """Count as lost what is not `sound`."""
        if not sound:
            self.lost.append((name, otherwise))
            print(f"  LOST: {name}: {otherwise}", flush=True)


@contextmanager
def world() -> Iterator[Path]:
    """An empty vault in a home of its own."""
    before = dict(os.environ)
    with TemporaryDirectory(prefix="storm-") as folder:
        for name in [name for name in os.environ if name.startswith(("VAULT_MIND_", "ANTHROPIC_", "XDG_"))]:
            del os.environ[name]
        os.environ["HOME"] = folder
        try:
            yield Vault.create(Path(folder) / "vault").root
        finally:
            os.environ.clear()
            os.environ.update(before)


def tell(*words: object) -> None:
    """Say something to whoever started this process, in one write, which no kill can cut in two."""
    os.write(1, json.dumps(words).encode() + b"\n")


def told(process: "subprocess.Popen[str]") -> list[Any]:
    """The next thing that a process says."""
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, f"the process ended: {process.stderr.read() if process.stderr else ''}"
    return list(json.loads(line))


def started(function: str, *words: object, **environment: str) -> "subprocess.Popen[str]":
    """Run one of the functions below in a process of its own."""
    call = f"from tests import storm; storm.{function}(*{[str(word) for word in words]!r})"
    return subprocess.Popen(
        [sys.executable, "-c", call],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=REPOSITORY,
        env={**os.environ, **environment},
    )


def digest(text: str) -> str:
    """A text in a few characters."""
    return sha256(text.encode()).hexdigest()[:16]


# --- what children do until they are killed -------------------------------------------------------


def sentence(chance: random.Random) -> str:
    """Something to remember that nobody has said yet."""
    return f"{' '.join(chance.choices(WORDS, k=4))} {chance.getrandbits(48):x}"


def text_of(body: str) -> str:
    """The file that saving `body` makes."""
    return compose(body, {"kind": "fact", "source": "user", "created_at": NOW.isoformat()})


def picked(vault: Vault, chance: random.Random) -> Memory:
    """Some memory of the vault that is no trace of a learning."""
    return vault.read(chance.choice(sorted(path for path in vault.walk().files if path.startswith("memories/"))))


def save(vault: Vault, chance: random.Random) -> None:
    """Save a memory."""
    body = sentence(chance)
    tell("try", "save", body)
    memory = vault.save(body, kind="fact", source="user", created_at=NOW)
    tell("did", "save", body, memory.path)


def change(vault: Vault, chance: random.Random) -> None:
    """Change a key, the text, or both."""
    memory = picked(vault, chance)
    keys: dict[str, str | Sequence[str] | None] = {"count": str(chance.random())}
    keys[chance.choice(["mood", "tags"])] = chance.choice([str(chance.random()), ["a", "b c"], None])
    rows = memory.body.splitlines()
    body = "\n".join([*rows[-200:], *(sentence(chance) for _ in range(chance.choice([1, 1, 100])))])
    wanted = body if chance.random() < 0.5 else None
    tell("try", "change", memory.path, digest(revise(memory, keys, wanted)))
    vault.change(memory, keys, body=wanted)
    tell("did", "change", memory.path)


def forget(vault: Vault, chance: random.Random) -> None:
    """Forget a memory, or make one where few are left."""
    if len(vault.walk().files) < FILES // 2:
        save(vault, chance)
        return
    memory = picked(vault, chance)
    tell("try", "forget", memory.path)
    vault.forget(memory)
    tell("did", "forget", memory.path)


def rename(vault: Vault, chance: random.Random) -> None:
    """Give a memory another name."""
    memory, name = picked(vault, chance), sentence(chance).replace(" ", "-")
    tell("try", "rename", memory.path, f"memories/{name}.md")
    vault.rename(memory, name)
    tell("did", "rename", memory.path, f"memories/{name}.md")


def sync(vault: Vault, chance: random.Random) -> None:
    """Edit as an editor does, and bring the index up to date, or make it anew."""
    index = Index(vault)
    for _ in range(chance.randrange(4)):
        file = vault.root / f"edited-{chance.randrange(9)}.md"
        beside = file.with_suffix(".txt")
        beside.write_text("\n".join(sentence(chance) for _ in range(chance.choice([0, 1, 50]))))
        beside.replace(file)
    if chance.random() < 0.1:
        index.rebuild()
    index.search(sentence(chance), 5)
    index.close()


def _anew() -> str:
    """Other words each time, which add nothing to what is told."""
    plain = ("again", "now", "still", "already", "also", "too", "usually", "often")
    return " ".join(plain[byte % 8] for byte in os.urandom(12))


class Reworded:
    """A mind that words what it is told anew each time it is asked."""

    name = "reworded"

    def reply(self, request: Request) -> Iterator[str]:
        """Say nothing of interest."""
        yield "ok"

    def value(self, request: Request, schema: Schema) -> object:
        """A memory for each sentence, never twice in the same words."""
        quotes = [quote.strip() for quote in request.said.split(".") if quote.strip()]
        return {"memories": [{"kind": "fact", "text": f"Told {_anew()}: {quote}.", "quote": quote} for quote in quotes]}


class Loud(Journal):
    """A journal that says what it has taken in."""

    def add(self, exchange: Exchange) -> Waiting:
        """Write `exchange` down and say so."""
        waiting = super().add(exchange)
        tell("did", "say", exchange.message)
        return waiting


def learner(vault: Vault, index: Index, kind: type[Journal]) -> Agent:
    """A chat whose mind words everything anew."""
    return Agent(vault, index, Reworded(), kind(state_folder(vault.root) / "journal"), Settings())


def learn(vault: Vault, chance: random.Random) -> None:
    """Learn from an exchange that holds several memories."""
    message = " ".join(f"Locker {chance.getrandbits(40)} is mine." for _ in range(chance.choice([1, 2, 3])))
    index = Index(vault)
    agent = learner(vault, index, Loud)
    tell("try", "say", message)
    agent.learn(message, "ok")
    tell("did", "learn", message)
    index.close()


def learn_behind(vault: Vault, chance: random.Random) -> None:
    """Say several things in turn, which a thread learns from while they are said."""
    index = Index(vault)
    agent = learner(vault, index, Loud)
    beside = open_session(vault.root, {})
    beside.__dict__["mind"] = Reworded()  # a cached property: what stands there is taken
    behind = Behind(beside)
    messages = [f"Locker {chance.getrandbits(40)} is mine." for _ in range(2)]
    for number, message in enumerate(messages):
        tell("try", "say", message)
        behind.learn(agent.note(message, "ok"), number)
        index.search("locker", 5)
    behind.finish()
    behind.leave()
    for message in messages:
        tell("did", "learn", message)
    index.close()


WORK: dict[str, Callable[[Vault, random.Random], None]] = {
    work.__name__: work for work in (save, change, forget, rename, sync, learn, learn_behind)
}


def nursery(root: str) -> None:
    """Make a child for each line of standard input; it works until it is killed, or at its step kills itself."""
    vault = Vault(root)
    import tantivy  # noqa: F401  # so that no child has to load it

    for line in sys.stdin:
        kind, number, step = json.loads(line)
        child = os.fork()
        if not child:
            work(vault, kind, number, step)
        if step is None:
            tell("child", child)
        tell("dead", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def work(vault: Vault, kind: str, number: int, step: int | None) -> NoReturn:
    """Work in a child; with `step` do one thing, and die at the so-manieth thing that is asked of the disk."""
    chance, code = random.Random(number), 0
    try:
        if step is not None:
            die_at(step)
        for _ in itertools.count() if step is None else range(1):
            WORK[kind](vault, chance)
    except BaseException:  # whatever it is, it is told
        tell("error", traceback.format_exc()[-1500:])
        code = 1
    finally:
        os._exit(code)


def die_at(step: int) -> None:
    """Kill this process at the so-manieth thing that it asks of the disk."""
    left = [step]

    def count(event: str) -> None:
        if event in EVENTS:
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(lambda event, _: count(event))
    flush, write = os.fsync, os.write

    def flushed(handle: int) -> None:  # neither of the two raises an event
        count("open")
        flush(handle)

    def written(handle: int, data: bytes) -> int:
        if handle != 1:
            count("open")
            half = write(handle, data[: len(data) // 2])
            count("open")
            return half + write(handle, data[half:])
        return write(handle, data)

    os.fsync, os.write = flushed, written  # type: ignore[assignment]  # as they are called here


# --- kills ----------------------------------------------------------------------------------------


def found(root: Path) -> dict[str, str]:
    """The memories that are no trace of a learning, each with its digest, read without the program."""
    texts = {file.name: file.read_text() for file in (root / "memories").glob("*.md")}
    return {f"memories/{name}": digest(text) for name, text in texts.items() if "source: chat" not in text}


def applied(files: dict[str, str], kind: str, words: Sequence[str]) -> dict[str, str]:
    """`files` after a thing was done; a saved memory whose name nobody told is under its digest."""
    files = dict(files)
    if kind == "save":
        files[words[1] if words[1:] else ""] = digest(text_of(words[0]))
    elif kind == "change":
        files[words[0]] = words[1]
    elif kind == "forget":
        del files[words[0]]
    elif kind == "rename":
        files[words[1]] = files.pop(words[0])
    return files


@dataclass
class Witness:
    """Follows what children do to a vault, and says what was lost when they are dead."""

    vault: Vault
    tally: Tally
    files: dict[str, str] = field(default_factory=dict)
    trying: tuple[str, ...] | None = None
    said: dict[str, bool] = field(default_factory=dict)  # each message: whether it must not be lost

    def hear(self, heard: Sequence[str]) -> None:
        """Take in what a child tries, has done, or broke down over."""
        what, kind, *words = heard
        if what == "error":
            self.tally.check("errors", sound=False, otherwise=kind)
        elif kind in ("say", "learn"):
            self.said[words[0]] = what == "did"
        elif what == "try":
            self.trying = (kind, *words)
        else:
            told = self.trying or ()
            self.files = applied(self.files, kind, words if kind == "save" else told[1:])
            self.trying = None

    def verify(self, name: str) -> None:
        """Everything that must hold now that nobody is alive."""
        texts = set(self.files.values()) | set(self._after().values())
        torn = {path: text for path, text in found(self.vault.root).items() if text not in texts}
        self.tally.check(name, sound=not torn, otherwise=f"neither old nor new: {torn}, {self.trying}")
        session = open_session(self.vault.root, {})
        try:
            self._files(name)
            self._leftovers(name)
            self._learned(name, session)
            self._search(name, session)
        finally:
            session.close()
        self.files, self.trying, self.said = found(self.vault.root), None, {}

    def _after(self) -> dict[str, str]:
        return applied(self.files, self.trying[0], self.trying[1:]) if self.trying else self.files

    def _files(self, name: str) -> None:
        there, after = found(self.vault.root), self._after()
        if "" in after:  # saved, and nobody was told under which name
            new = [path for path in there if path not in self.files]
            after[new[0] if len(new) == 1 else "?"] = after.pop("")
        sound = there in (self.files, after)
        differing = set(there.items()) ^ set(self.files.items())
        self.tally.check(name, sound=sound, otherwise=f"trying {self.trying} differs in {differing}")

    def _leftovers(self, name: str) -> None:
        state = state_folder(self.vault.root)
        left = [file for root in (self.vault.root, state) for file in root.rglob(f"{TEMPORARY}*.tmp")]
        left += state.rglob("writing")
        self.tally.check(name, sound=not left, otherwise=f"left behind: {left}")

    def _learned(self, name: str, session: Session) -> None:
        if not self.said:
            return
        agent = learner(self.vault, session.index, Journal)
        failed = [what.failed for what in agent.catch_up() if what.failed]
        self.tally.check(name, sound=not failed and not agent.journal.waiting(), otherwise=f"not learned: {failed}")
        memories = [memory for memory in self.vault.memories() if memory.source == "chat"]
        times = Counter(memory.quote for memory in memories)
        for message, kept in self.said.items():
            for quote in message.rstrip(".").split(". "):
                sound = times[quote] == 1 or not (kept or times[quote])
                self.tally.check(name, sound=sound, otherwise=f"{quote!r} is there {times[quote]} times")
        waiting = [file for file in agent.journal.folder.glob("*") if file.name != ".lock"]
        self.tally.check(name, sound=not waiting, otherwise=f"the journal still holds {waiting}")
        for memory in memories:
            self.vault.forget(memory)

    def _search(self, name: str, session: Session) -> None:
        from tests.test_index import agrees  # late, as above

        for query in ("tea garden piano", "coffee", "locker mine told"):
            try:
                agrees(session.index, query)
            except (AssertionError, VaultMindError) as error:
                self.tally.check(name, sound=False, otherwise=f"search for {query!r}: {error!r}")


def kills(options: Options, tally: Tally) -> None:
    """Children that save, change, forget, rename, sync and learn are killed at any moment."""
    chance = random.Random(options.seed)
    with world() as root, started("nursery", root) as nursery:
        assert nursery.stdin is not None
        vault = filled(root, chance)
        witness = Witness(vault, tally, found(root))
        for number, kind in zip(range(options.kills), itertools.cycle(WORK), strict=False):
            print(json.dumps([kind, chance.getrandbits(32), None]), file=nursery.stdin, flush=True)
            while (heard := told(nursery))[0] != "child":
                witness.hear(heard)
            time.sleep(chance.random() * LONGEST)
            os.kill(heard[1], signal.SIGKILL)
            while (heard := told(nursery))[0] != "dead":
                witness.hear(heard)
            tally.tried[f"kills while they {kind}"] += 1
            witness.verify(kind)
            trim(vault, witness, chance)
            if number % 100 == 99:
                print(f"  {number + 1} kills", flush=True)
        nursery.stdin.close()


def steps(options: Options, tally: Tally, *, every: int = 1) -> None:
    """One thing is done again and again, killed at its first call to the disk, its second, and so on to the end."""
    chance = random.Random(options.seed)
    with world() as root, started("nursery", root) as nursery:
        assert nursery.stdin is not None
        vault = filled(root, chance)
        witness = Witness(vault, tally, found(root))
        for kind in (kind for kind in WORK if kind != "sync"):
            for step in itertools.count(1 + chance.randrange(every), every):
                print(json.dumps([kind, chance.getrandbits(32), step]), file=nursery.stdin, flush=True)
                while (heard := told(nursery))[0] != "dead":
                    witness.hear(heard)
                witness.verify(kind)
                trim(vault, witness, chance)
                if heard[1] >= 0:  # it got to its end, or broke down
                    break
                tally.tried[f"deaths at a step of {kind}"] += 1
        nursery.stdin.close()


def filled(root: Path, chance: random.Random) -> Vault:
    """The vault at `root`, with memories to change and forget."""
    vault = Vault(root)
    for _ in range(FILES // 2):
        vault.save(sentence(chance), kind="fact", source="user", created_at=NOW)
    return vault


def trim(vault: Vault, witness: Witness, chance: random.Random) -> None:
    """Delete what is too much, as somebody in a file manager would."""
    for path in chance.sample(sorted(witness.files), max(len(witness.files) - FILES, 0)):
        (vault.root / path).unlink()
        del witness.files[path]


# --- crowds ---------------------------------------------------------------------------------------


def one_of_many(root: str, name: str, seconds: str, number: str) -> None:
    """Save, change and search until the time is over; say what was done, and every error that is not ours."""
    vault, chance, end = Vault(root), random.Random(int(number)), time.monotonic() + float(seconds)
    index, shared, done = Index(vault), vault.read("shared.md"), Counter[str]()
    tell("ready")
    sys.stdin.readline()
    while time.monotonic() < end:
        kind = chance.choice(["save", "key", "key", "text", "search"])
        try:
            if kind == "save":
                body = sentence(chance)
                tell("saved", vault.save(body, kind="fact", source="user", created_at=NOW).path, body)
            elif kind == "key":  # from a text that others have changed since
                value = str(chance.random())
                shared = vault.change(shared, {f"key-{name}": value})
                tell("key", value)
            elif kind == "text":
                memory, line = vault.read("lines.md"), f"{name} {chance.getrandbits(40):x}"
                rows = [line if row.startswith(f"{name} ") else row for row in memory.body.split("\n")]
                vault.change(memory, {}, body="\n".join(rows))
                tell("line", line)
            else:
                index.search(sentence(chance), 5)
        except ConflictError as error:
            tell("copy", error.copy)
            shared = vault.read("shared.md")
            kind = "conflict"
        except (BusyError, MemoryChangedError):
            kind = "busy"
        except VaultMindError as error:
            tell("error", repr(error))
        done[kind] += 1
    index.close()
    tell("end", done)


def crowd(options: Options, tally: Tally) -> None:
    """Many processes save, change and search in one vault at once."""
    with world() as root:
        names = [f"p{number}" for number in range(options.writers)]
        (root / "shared.md").write_text("---\nkind: note # all of us\n---\n\nShared.\n")
        (root / "lines.md").write_text("\n".join(f"{name} 0\n---" for name in names) + "\n")
        processes = [
            started("one_of_many", root, name, options.seconds, options.seed + number)
            for number, name in enumerate(names)
        ]
        for process in processes:
            assert told(process) == ["ready"]
        said: dict[str, list[list[Any]]] = {}
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        for name, process in zip(names, processes, strict=True):
            out, err = process.communicate()
            said[name] = [json.loads(line) for line in out.splitlines()]
            tally.check("crowd", sound=not process.returncode and not err, otherwise=err[-1000:])
        vault = Vault(root)
        frontmatter, rows = vault.read("shared.md").frontmatter, vault.read("lines.md").body.split("\n")
        copies = {entry[1] for entries in said.values() for entry in entries if entry[0] == "copy"}
        for name, entries in said.items():
            for what, *words in entries:
                if what == "saved":
                    there = (root / words[0]).read_text() if (root / words[0]).exists() else None
                    tally.check("crowd", sound=there == text_of(words[1]), otherwise=f"{words[0]} holds {there!r}")
                elif what == "error":
                    tally.check("crowd", sound=False, otherwise=words[0])
                elif what == "end":
                    tally.tried.update({f"crowd: {kind}": number for kind, number in words[0].items()})
            last = {what: word for what, word, *_ in entries}
            key = frontmatter.get(f"key-{name}")
            tally.check("crowd", sound=key == last.get("key"), otherwise=f"key-{name} is {key}, not {last.get('key')}")
            line = last.get("line", f"{name} 0")
            tally.check("crowd", sound=rows.count(line) == 1, otherwise=f"{line!r} is not there once")
        there = {path for path in vault.walk().files if "conflicted copy" in path}
        tally.check("crowd", sound=there == copies, otherwise=f"copies: {there ^ copies}")
        session = open_session(root, {})
        Witness(vault, tally)._leftovers("crowd")
        Witness(vault, tally)._search("crowd", session)
        session.close()


# --- frontmatter ----------------------------------------------------------------------------------


def edits(options: Options, tally: Tally) -> None:
    """Keys are changed in every kind of frontmatter that can be thought of; only their own lines may differ."""

    from hypothesis import HealthCheck, Phase, given, seed, settings  # late: no child needs it
    from hypothesis import strategies as st

    from tests.test_laws import VALUES, Note, changed, notes, read_as_wanted  # late, as above

    @seed(options.seed)
    @settings(
        max_examples=options.edits,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(notes(), st.data())
    def edit(note: Note, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from([*note.spans, "fresh"]))
        value = data.draw(VALUES)
        middle = changed(note, key, value)
        tally.tried["edits refused as unsafe" if middle is None else "edits made"] += 1
        if middle is not None:
            read_as_wanted(note, middle, key, value)

    try:
        edit()
    except AssertionError as error:
        notes_of = "\n".join(getattr(error, "__notes__", []))
        tally.check("edits", sound=False, otherwise=f"{error}\n{notes_of}")


# --- bad weather ----------------------------------------------------------------------------------


def full(root: str) -> None:
    """Save and change until the disk is full, and some more; say what was done."""
    if "LIMIT" in os.environ:
        resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    vault, refused = Vault(root), 0
    index = Index(vault)
    for number in range(2_000):
        if refused > 20:
            break
        try:
            if number % 2:
                body = f"{number} " + "x" * random.Random(number).choice([100, 9_000, 90_000])
                tell("is", vault.save(body, kind="fact", source="user", created_at=NOW).path, digest(text_of(body)))
            else:
                memory = vault.read("big.md")
                memory = vault.change(memory, {"count": str(number)}, body=memory.body + "\n" + "y" * 3_000)
                tell("is", "big.md", digest(memory.text))
            learner(vault, index, Journal).learn(f"Locker {number} is mine.", "ok")
        except VaultMindError as error:
            refused += 1
            tell("refused", str(error))
    tell("end", refused)


def full_disk(options: Options, tally: Tally) -> None:
    """The disk of vault, index and journal fills up; with root's leave a small one of its own."""
    with world() as root:
        disk = root.parent / "disk"
        disk.mkdir()
        script = f"from tests import storm; storm.on_full_disk({str(disk)!r})"
        unshare = shutil.which("unshare")
        mounts = bool(unshare) and not subprocess.run([str(unshare), "-m", "true"], check=False, stderr=-3).returncode
        mount = f'mount -t tmpfs -o size=4m tmpfs {disk} && exec {sys.executable} -c "$1"'
        command = [str(unshare), "-m", "sh", "-c", mount, "sh", script] if mounts else [sys.executable, "-c", script]
        environment = os.environ if mounts else {**os.environ, "LIMIT": "1"}
        ended = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY, env=environment, check=False)
        said = [json.loads(line) for line in ended.stdout.splitlines()]
        tally.check("full disk", sound=not ended.returncode, otherwise=ended.stderr[-1000:])
        for what, *words in said:
            if what == "lost":
                tally.check("full disk", sound=False, otherwise=str(words))
        name = "a full tmpfs" if mounts else "files limited in size"
        tally.tried[f"{name}: refusals"] += sum(words[1] for words in said if words[0] == "count")


def on_full_disk(disk: str) -> None:
    """Fill the disk in a process of its own, then look at what is there, and again once there is room."""
    root = Vault.create(Path(disk) / "vault").root
    os.environ["HOME"] = str(Path(disk) / "home")
    (root / "big.md").write_text("---\nkind: note\n---\n\nBig.\n")
    filler = Path(disk) / "filler"
    filler.write_bytes(b"x" * 3_000_000)
    tally, wanted = Tally(), {"big.md": digest((root / "big.md").read_text())}
    with started("full", root) as process:
        out, err = process.communicate()
    said = [json.loads(line) for line in out.splitlines()]
    sys.stdout = sys.stderr  # what is lost is told below
    tally.check("full disk", sound=not process.returncode, otherwise=err[-1000:])
    wanted |= {words[1]: words[2] for words in said if words[0] == "is"}
    there = {file.relative_to(root).as_posix(): digest(file.read_text()) for file in root.rglob("*.md")}
    chat = {path for path in there if "source: chat" in (root / path).read_text()}
    there = {path: text for path, text in there.items() if path not in chat}
    tally.check("full disk", sound=there == wanted, otherwise=str(set(there.items()) ^ set(wanted.items())))
    filler.unlink()
    session = open_session(root, {})
    witness = Witness(session.vault, tally)
    witness._leftovers("full disk")
    for _ in range(3):
        learner(session.vault, session.index, Journal).catch_up()
    witness._search("full disk", session)
    session.close()
    for _, lost in tally.lost:
        tell("lost", lost)
    tell("count", sum(words[0] == "refused" for words in said))


def read_only(options: Options, tally: Tally) -> None:
    """A vault that nobody may write is searched, and refused with a word for every change."""
    with world() as root:
        vault = filled(root, random.Random(options.seed))
        memory, before = next(vault.memories()), found(root)
        script = f"from tests import storm; storm.refused({str(root)!r}, {memory.path!r})"
        if os.geteuid():
            for folder in (root / "memories", root):
                folder.chmod(0o500)
            command = [sys.executable, "-c", script]
        else:
            mount = f'mount --bind {root} {root} && mount -o remount,ro,bind {root} && exec {sys.executable} -c "$1"'
            command = ["unshare", "-m", "sh", "-c", mount, "sh", script]
        ended = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY, check=False)
        for folder in (root, root / "memories"):
            folder.chmod(0o700)
        if ended.returncode and "mount" in ended.stderr:
            tally.tried["a read-only vault: may not mount"] += 1
            return
        tally.tried["changes of a read-only vault"] += 4
        tally.check("read-only", sound=ended.stdout.split() == ["refused"] * 4, otherwise=ended.stdout + ended.stderr)
        tally.check("read-only", sound=found(root) == before, otherwise="the vault was changed")


def refused(root: str, path: str) -> None:
    """Try everything that writes, and search."""
    from tests.test_index import agrees  # late, as above

    session = open_session(Path(root), {})
    vault, memory = session.vault, session.vault.read(path)
    assert agrees(session.index, "tea garden piano")
    for attempt in (
        lambda: vault.save("Tea.", kind="fact", source="user", created_at=NOW),
        lambda: vault.change(memory, {"count": "1"}),
        lambda: vault.rename(memory, "other"),
        lambda: vault.forget(memory),
    ):
        try:
            attempt()
            print("written")
        except VaultMindError:
            print("refused")
    session.close()


def hold(lock: str) -> None:
    """Take a lock and keep it."""
    with locked(Path(lock), "the vault"):
        tell("held")
        time.sleep(600)


def dead_locks(options: Options, tally: Tally) -> None:
    """Whoever held a lock is killed: the next one has it at once."""
    with world() as root:
        vault = Vault(root)
        for name in ("vault.lock", "journal/.lock"):
            with started("hold", state_folder(root) / name) as holder:
                assert told(holder) == ["held"]
                holder.kill()
            tally.tried["locks of the dead"] += 1
            try:
                vault.save(name, kind="fact", source="user", created_at=NOW)
                Journal(state_folder(root) / "journal").add(Exchange(name, "", "ok", NOW.isoformat(), "c", "reworded"))
            except VaultMindError as error:
                tally.check("dead locks", sound=False, otherwise=str(error))


def clock(options: Options, tally: Tally) -> None:
    """The clock goes backwards, in great leaps and within one second: no name is taken twice, nothing is lost."""
    chance = random.Random(options.seed)
    with world() as root:
        vault, journal = Vault(root), Journal(state_folder(root) / "journal")
        said, copies, moment = [], set(), NOW
        for number in range(12):
            moment -= timedelta(seconds=chance.choice([0, 0, 1, 86_400 * 365]))
            memory = vault.save("The same words.", kind="fact", source="user", created_at=moment)
            (root / memory.path).unlink()  # so that all conflicts are of one path
            try:
                vault.change(memory, {"count": str(number)}, at=moment)
            except ConflictError as error:
                copies.add(error.copy)
            said.append(Exchange(f"Locker {number} is mine.", "", "ok", moment.isoformat(), "c", "reworded"))
            journal.add(said[-1])
        tally.tried["leaps of the clock"] += len(said)
        kept = {memory.frontmatter.get("count") for memory in vault.memories() if memory.path in copies}
        tally.check(
            "clock", sound=len(kept) == len(said), otherwise=f"of {len(said)} versions {sorted(map(str, kept))}"
        )
        waiting = [waiting.exchange for waiting in journal.waiting()]
        in_order = sorted(said, key=lambda exchange: datetime.fromisoformat(exchange.at))
        same = sorted(each.message for each in waiting) == sorted(each.message for each in said)
        times = [each.at for each in waiting] == [each.at for each in in_order]
        tally.check("clock", sound=same and times, otherwise=f"the journal gives {waiting}")


def quiet_edits(options: Options, tally: Tally) -> None:
    """An editor that keeps a file's size and time: the next search knows what it wrote all the same."""
    chance = random.Random(options.seed)
    with world() as root:
        index = Index(Vault(root))
        file = root / "note.md"
        file.write_text("The door code is 0000.")
        for number in range(20):
            index.search("door", 5)
            code, before = f"{chance.randrange(10_000):04}", file.stat()
            if number % 2:
                with file.open("r+") as same:
                    same.write(f"The door code is {code}.")
            else:
                beside = file.with_suffix(".new")
                beside.write_text(f"The door code is {code}.")
                beside.replace(file)
            os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
            tally.tried["edits that keep size and time"] += 1
            bodies = [hit.memory.body for hit in index.search(f"door code {code}", 5)]
            tally.check("quiet edits", sound=bodies == [f"The door code is {code}."], otherwise=f"{bodies}, not {code}")
        index.close()


# --- all of it ------------------------------------------------------------------------------------

STORMS: dict[str, Callable[[Options, Tally], None]] = {
    storm.__name__: storm
    for storm in (steps, kills, crowd, edits, full_disk, read_only, dead_locks, clock, quiet_edits)
}


def blow(options: Options, only: Sequence[str] = ()) -> Tally:
    """Let the storms loose, all or only some; what they tried and what was lost."""
    tally = Tally()
    for name, storm in STORMS.items():
        if not only or name in only:
            began = time.monotonic()
            print(f"{name}: {(storm.__doc__ or '').partition(chr(10))[0]}", flush=True)
            storm(options, tally)
            print(f"  {time.monotonic() - began:.0f} s", flush=True)
    return tally


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.storm", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**9))
    parser.add_argument("--kills", type=int, default=Options.kills)
    parser.add_argument("--edits", type=int, default=Options.edits)
    parser.add_argument("--writers", type=int, default=Options.writers)
    parser.add_argument("--seconds", type=float, default=Options.seconds)
    parser.add_argument("--only", nargs="+", choices=list(STORMS), default=[])
    given_options = vars(parser.parse_args())
    only = given_options.pop("only")
    options = Options(**given_options)
    print(f"seed {options.seed}", flush=True)
    tally = blow(options, only)
    width = max(map(len, tally.tried), default=0)
    print(f"\n{'tried':<{width}} {'times':>8}")
    for what, times in sorted(tally.tried.items()):
        print(f"{what:<{width}} {times:>8}")
    print(f"{'lost':<{width}} {len(tally.lost):>8}   (seed {options.seed})")
    for name, what in tally.lost:
        print(f"  {name}: {what}")
    return 1 if tally.lost else 0


if __name__ == "__main__":
    sys.exit(main())

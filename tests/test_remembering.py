"""What the user asks to be remembered is written at once, and once, whoever else writes."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.test_reconcile import DIFFERENT, SAME, rows
from vault_mind import unchanged
from vault_mind.errors import UnwritableTextError, WithheldError
from vault_mind.index import Index
from vault_mind.memory import Memory
from vault_mind.reconcile import same
from vault_mind.record import Record
from vault_mind.remembering import Remembered, Remembering
from vault_mind.sync import Progress, Synced
from vault_mind.vault import FOLDER, Vault
from vault_mind.withheld import Withheld

Write = Callable[[str, str | bytes], Path]
NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
LATER = datetime(2026, 12, 1, 13, tzinfo=UTC)
TEA = "The user drinks oolong."

# The command, which tells when it comes to the lock.
TELLING = """
import sys
from vault_mind.vault import Vault
lock = Vault.lock
def told(vault, seconds=30):
    print("locks", file=sys.stderr, flush=True)
    return lock(vault, seconds)
Vault.lock = told
from vault_mind.__main__ import main
main()
"""


class Meanwhile(Vault):
    """A vault in which somebody does something between a look at it and its lock."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.do: list[Callable[[], object]] = []

    @contextmanager
    def lock(self, seconds: float = 30) -> Iterator[None]:
        """As ever, but for that."""
        while self.do:
            self.do.pop()()
        with super().lock(seconds):
            yield


class Counting(Index):
    """An index that counts how often the files were looked at."""

    looks = 0

    def sync(self, progress: Progress | None = None) -> Synced:
        """As ever."""
        self.looks += 1
        return super().sync(progress)


@pytest.fixture
def meanwhile(vault: Vault) -> Meanwhile:
    """The vault, with somebody else at it."""
    return Meanwhile(vault.root)


@pytest.fixture
def looking(meanwhile: Meanwhile) -> Iterator[Counting]:
    """Its index."""
    made = Counting(meanwhile)
    yield made
    made.close()


def remembering(vault: Vault, index: Index, secrets: str = "refuse") -> Remembering:
    """As the doors make it, of a vault without versions."""
    return Remembering(vault, index, Record(vault, "off"), Withheld(secrets))


def remembered(vault: Vault, index: Index, text: str) -> Remembered:
    """What comes of it."""
    return remembering(vault, index).remember(text, kind="fact", tags=(), now=NOW)


def until_old(vault: Vault) -> None:
    """Wait until a change of the folder of new memories could be told."""
    end = time.monotonic() + 20
    while unchanged.seen(f"{vault.root}/{FOLDER}") is None and time.monotonic() < end:
        time.sleep(0.02)


def bodies(vault: Vault) -> list[str]:
    """What all memories say."""
    return [memory.body for memory in vault.memories()]


def saved(vault: Vault, text: str) -> Memory:
    """What another process of ours writes."""
    return Vault(vault.root).save(text, kind="fact", source="user", created_at=LATER)


def test_what_is_new_is_written_as_it_is(vault: Vault, index: Index) -> None:
    done = remembering(vault, index).remember(TEA, kind="preference", tags=("drinks",), now=NOW)

    assert done.new
    assert vault.read(done.memory.path) == done.memory
    assert (done.memory.body, done.memory.kind, done.memory.source) == (TEA, "preference", "user")
    assert (done.memory.tags, done.memory.created_at) == (("drinks",), NOW)
    assert (done.news, done.uncommitted) == ((), ())


def test_a_note_of_the_owner_that_says_it_is_enough(vault: Vault, index: Index, write: Write) -> None:
    write("notes/tea.md", "the user drinks OOLONG\n")

    done = remembered(vault, index, TEA)

    assert (done.new, done.memory.path) == (False, "notes/tea.md")
    assert len(bodies(vault)) == 1


# What is compared with nothing, as nothing holds its words, must be what is compared in vain.
def test_a_sentence_is_known_exactly_where_a_memory_says_the_same(vault: Vault, index: Index, write: Write) -> None:
    sentences = [*dict.fromkeys(each for pair in rows(SAME) for each in pair)]
    sentences += [each for table in DIFFERENT.values() for pair in rows(table)[:4] for each in pair]
    for number, (known, _) in enumerate(rows(SAME)):
        write(f"{number}.md", known)
    held = bodies(vault)

    for text in sentences:
        twin = remembering(vault, index)._twin(text, NOW, [])

        assert (twin is not None) == any(same(text, known, 1.0) for known in held), text


def test_in_a_vault_of_two_languages_it_is_found_in_both(vault: Vault, index: Index, write: Write) -> None:
    write("a.md", "---\nlang: german\n---\nNora sammelt alte Karten.")
    write("b.md", "Nora collects old maps.")

    found = [remembered(vault, index, text) for text in ("Nora collects old maps.", "Nora sammelt alte Karten.")]

    assert [done.new for done in found] == [False, False]


def test_what_was_superseded_is_no_twin(vault: Vault, index: Index, write: Write) -> None:
    write("old.md", f'---\nkind: fact\nsuperseded_by: "[[new]]"\n---\n{TEA}')

    assert remembered(vault, index, TEA).new


# Among others


def test_where_nobody_writes_the_files_are_looked_at_once(
    meanwhile: Meanwhile, looking: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unchanged, "LONG", 600.0)  # however slow this machine is
    saved(meanwhile, "The user bakes bread.")
    until_old(meanwhile)

    assert remembered(meanwhile, looking, TEA).new
    assert looking.looks == 1


def test_what_another_wrote_before_the_lock_was_ours_is_known(meanwhile: Meanwhile, looking: Counting) -> None:
    until_old(meanwhile)
    meanwhile.do.append(lambda: saved(meanwhile, TEA))

    done = remembered(meanwhile, looking, TEA)

    assert (done.new, done.memory.created_at) == (False, LATER)
    assert bodies(meanwhile) == [TEA]
    assert looking.looks == 2


def test_after_a_long_wait_for_the_lock_the_files_are_looked_at_again(
    meanwhile: Meanwhile, looking: Counting, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write("memories/a.md", "The user drinks coffee.")
    until_old(meanwhile)
    monkeypatch.setattr(unchanged, "LONG", 0.0)
    meanwhile.do.append(lambda: file.write_text(TEA))  # as an editor saves in place: its folder tells nothing

    done = remembered(meanwhile, looking, TEA)

    assert (done.new, done.memory.path) == (False, "memories/a.md")


def test_what_another_deleted_before_the_lock_was_ours_is_new(
    meanwhile: Meanwhile, looking: Counting, write: Write
) -> None:
    file = write("elsewhere/tea.md", TEA)
    until_old(meanwhile)
    meanwhile.do.append(file.unlink)

    done = remembered(meanwhile, looking, TEA)

    assert (done.new, bodies(meanwhile)) == (True, [TEA])


def test_what_another_made_say_something_else_is_new(meanwhile: Meanwhile, looking: Counting, write: Write) -> None:
    write("elsewhere/tea.md", TEA)
    until_old(meanwhile)
    meanwhile.do.append(lambda: write("elsewhere/tea.md", "The user drinks coffee in the morning."))

    done = remembered(meanwhile, looking, TEA)

    assert done.new
    assert sorted(bodies(meanwhile)) == ["The user drinks coffee in the morning.", TEA]


def test_processes_that_looked_before_any_of_them_wrote_write_it_once(home: Path, vault: Vault) -> None:
    saved(vault, "The user bakes bread.")
    until_old(vault)
    texts = [TEA, TEA, "The user cycles to work."]
    commands = [[sys.executable, "-c", TELLING, "remember", text] for text in texts]

    with vault.lock():
        started = [
            subprocess.Popen(each, cwd=home, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for each in commands
        ]
        looked = [process.stderr.readline() for process in started if process.stderr]
    ended = [process.communicate(timeout=120)[0] for process in started]

    assert looked == ["locks\n"] * len(texts)
    assert [process.returncode for process in started] == [0] * len(texts)
    assert ended[0] == ended[1]
    assert sorted(bodies(vault)) == sorted({*texts, "The user bakes bread."})


# What is kept out


def test_what_is_kept_out_is_not_looked_for_either(vault: Vault, index: Index) -> None:
    with pytest.raises(WithheldError, match="a password or code"):
        remembered(vault, index, "The wifi password is hunter2.")
    with pytest.raises(UnwritableTextError):
        remembered(vault, index, " ")

    assert bodies(vault) == []


def test_what_was_masked_is_told(vault: Vault, index: Index) -> None:
    done = remembering(vault, index, "mask").remember("The wifi password is hunter2.", kind="fact", tags=(), now=NOW)

    assert done.memory.body == "The wifi password is [secret]."
    assert [problem.what for problem in done.news] == ["a password or code in it was masked"]
    assert "hunter2" not in (vault.root / done.memory.path).read_text()

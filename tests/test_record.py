"""What a turn wrote becomes a version; what is forgotten can come back."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import NOW
from vault_mind import Vault, git
from vault_mind.config import state_folder
from vault_mind.errors import MemoryChangedError
from vault_mind.files import is_held
from vault_mind.history import History
from vault_mind.journal import MOST_TRIES, Exchange, Journal, Proposed
from vault_mind.record import Record, once, subject
from vault_mind.undo import plan, undo
from vault_mind.vault import JOURNAL

Write = Callable[[str, str | bytes], Path]


@pytest.fixture
def repository(vault: Vault) -> History:
    """The vault's history, begun, with an identity of its own."""
    history = History(vault.root)
    history.start()
    git.ask(vault.root, "config", "user.name", "Ada")
    git.ask(vault.root, "config", "user.email", "ada@example.org")
    return history


def saved(vault: Vault, body: str) -> str:
    return vault.save(body, kind="fact", source="user", created_at=NOW).path


def test_what_a_turn_wrote_is_one_version_that_says_why(vault: Vault, repository: History) -> None:
    paths = [saved(vault, "The user drinks tea."), saved(vault, "The user lives in Oslo.")]

    told = Record(vault, "ours").write(
        paths, ["The user drinks tea.", "The user lives in Oslo."], {"Source": "chat", "Chat": "c1"}
    )

    version = next(repository.versions())
    assert told == ()
    assert version.subject == "The user drinks tea. (and 1 more)"
    assert version.trailers["Chat"] == "c1"
    assert version.trailers["Turn"]
    assert sorted(change.path for change in version.changes) == sorted(paths)


@pytest.mark.parametrize("how", ["off", "ours"])
def test_without_git_or_when_it_is_off_nothing_is_committed_nor_said(vault: Vault, how: str) -> None:
    if how == "off":
        History(vault.root).start()

    assert Record(vault, how).write([saved(vault, "tea")], ["tea"], {}) == ()
    assert list(History(vault.root).versions()) == []


def test_with_all_the_owners_edits_are_committed_first_and_as_theirs(
    vault: Vault, repository: History, write: Write
) -> None:
    write("note.md", "by hand")
    record = Record(vault, "all")

    with record.turn():
        record.write([saved(vault, "The user drinks tea.")], ["The user drinks tea."], {"Source": "chat"})

    ours, theirs = list(repository.versions())
    assert [change.path for change in theirs.changes] == ["note.md"]
    assert ours.ours
    assert not theirs.ours


def test_a_version_that_cannot_be_made_is_told_and_the_file_stays(vault: Vault, repository: History) -> None:
    record = Record(vault, "ours")
    record.write([saved(vault, "one")], ["one"], {})
    (repository.place().git_dir / "MERGE_HEAD").write_text("0" * 40 + "\n")
    path = saved(vault, "two")

    told = record.write([path], ["two"], {})

    assert "a merge is under way" in told[0]
    assert (vault.root / path).exists()


@pytest.mark.parametrize("tracked", [True, False])
def test_what_is_forgotten_comes_back_byte_for_byte(
    vault: Vault, repository: History, write: Write, tracked: bool
) -> None:
    record = Record(vault, "ours")
    file = write("draft.md", b"\xef\xbb\xbf---\r\nkind: fact # odd\r\n---\r\nA draft.  \r\n")
    before = file.read_bytes()
    if tracked:
        record.write(["draft.md"], ["a draft"], {})

    forgotten = record.forget(vault.read("draft.md"), {"Source": "user"})
    gone = not file.exists()
    undo(repository, plan(repository), "Undo", {"Source": "user"})

    assert gone
    assert "undo" in forgotten.kept
    assert file.read_bytes() == before


@pytest.mark.parametrize("how", ["no git", "off", "ignored"])
def test_where_no_version_would_hold_it_the_file_goes_to_the_trash(vault: Vault, write: Write, how: str) -> None:
    if how != "no git":
        History(vault.root).start()
    if how == "ignored":
        write(".gitignore", "draft.md\n")
    write(".trash/draft.md", "an older one")
    write("draft.md", "A draft.\n")

    forgotten = Record(vault, "off" if how == "off" else "ours").forget(vault.read("draft.md"), {})

    assert forgotten.kept == ".trash/draft-2.md"
    assert (vault.root / ".trash/draft-2.md").read_text() == "A draft.\n"
    assert (vault.root / ".trash/draft.md").read_text() == "an older one"
    assert not (vault.root / "draft.md").exists()
    assert "draft.md" not in vault.walk().files


@pytest.mark.parametrize("git_too", [True, False])
def test_what_somebody_changed_meanwhile_is_not_forgotten(vault: Vault, write: Write, git_too: bool) -> None:
    if git_too:
        History(vault.root).start()
    file = write("draft.md", "A draft.\n")
    memory = vault.read("draft.md")
    file.write_text("Another.\n")

    with pytest.raises(MemoryChangedError):
        Record(vault, "ours").forget(memory, {})

    assert file.read_text() == "Another.\n"


def test_a_reason_that_a_turn_meets_twice_is_said_once() -> None:
    theirs, ours = "Your edits are not yet in git: a rebase.", "Saved, but not yet in git: a rebase. The next commit …"

    assert once((theirs,), (ours,)) == (ours,)
    assert once((theirs,), ()) == (theirs,)
    assert once((theirs,), ("Saved, but not yet in git: a hook.",)) == (theirs, "Saved, but not yet in git: a hook.")
    assert once(("a.md is saved and not in git: big",), (ours,)) == ("a.md is saved and not in git: big", ours)


@pytest.mark.parametrize(("how", "waits"), [("ours", False), ("all", True)])
def test_only_with_all_other_turns_wait_until_one_is_committed(
    vault: Vault, repository: History, how: str, waits: bool
) -> None:
    with Record(vault, how).turn():
        assert is_held(state_folder(vault.root) / "vault.lock") is waits
    assert not is_held(state_folder(vault.root) / "vault.lock")


@pytest.mark.parametrize("tries", [0, MOST_TRIES])
def test_what_a_learning_left_that_was_cut_off_is_no_edit_by_hand_while_somebody_may_go_on(
    vault: Vault, repository: History, write: Write, tries: int
) -> None:
    proposed = (Proposed("fact", "The user lives in Oslo.", "I live in Oslo"),)
    exchange = Exchange("I live in Oslo.", "", "Ah.", NOW.isoformat(), "c1", "offline", tries, proposed)
    Journal(state_folder(vault.root) / JOURNAL).add(exchange)
    cut = vault.save("The user lives in Oslo.", kind="fact", source="chat", created_at=NOW, chat="c1")
    vault.save("The user drinks tea.", kind="fact", source="chat", created_at=NOW, chat="another")
    record = Record(vault, "all")

    with record.turn() as told:
        pass

    (theirs,) = repository.versions()
    assert told == ()
    assert [memory.path for memory in record.of(exchange)] == [cut.path]
    assert (cut.path in [change.path for change in theirs.changes]) is (tries == MOST_TRIES)


def test_what_was_said_twice_in_one_second_is_two_turns(vault: Vault, repository: History) -> None:
    """Lines from a pipe come faster than the times that files hold tell them apart."""
    exchanges, saved = [], []
    for quote, place in (("I live in Oslo", "Oslo"), ("I bake rye bread", "bakes")):
        proposed = (Proposed("fact", place, quote),)
        exchanges.append(Exchange(f"{quote}.", "", "Ah.", NOW.isoformat(), "c1", "offline", 0, proposed))
        saved.append(vault.save(place, kind="fact", source="chat", created_at=NOW, chat="c1", quote=quote))

    of = [Record(vault, "ours").of(exchange) for exchange in exchanges]

    assert [[memory.path for memory in each] for each in of] == [[memory.path] for memory in saved]


def test_an_undo_says_by_which_name_it_is_undone(vault: Vault, repository: History) -> None:
    record = Record(vault, "ours")
    record.write([saved(vault, "tea")], ["tea"], {"Source": "user"})

    taken = record.take_back(record.taking_back(None))
    again = record.take_back(record.taking_back(taken.kept.split()[2]))

    assert taken.kept == f"vault-mind undo {repository.version('HEAD~1').id[:10]} brings it back"
    assert again.told == ()
    assert (vault.root / "memories/tea.md").exists()
    assert next(repository.versions()).subject == "Undo: Undo: tea"


def test_what_is_forgotten_and_cannot_be_committed_now_is_in_the_trash_and_noted_as_forgotten(
    vault: Vault, repository: History, write: Write
) -> None:
    record = Record(vault, "ours")
    write("draft.md", "A draft.\n")
    record.write(["draft.md"], ["a draft"], {})
    (repository.place().git_dir / "MERGE_HEAD").write_text("0" * 40 + "\n")

    forgotten = record.forget(vault.read("draft.md"), {"Source": "user"})
    (repository.place().git_dir / "MERGE_HEAD").unlink()
    record.write([saved(vault, "tea")], ["tea"], {})

    assert forgotten.kept == ".trash/draft.md"
    assert forgotten.told[0].startswith("It is gone from the vault, but that is not yet in git: a merge is under way")
    assert [version.subject for version in repository.versions()] == ["tea", "Forget: A draft.", "a draft"]


def test_a_subject_is_one_line_and_says_how_many_more_there_are() -> None:
    assert subject(["The user\ndrinks tea."]) == "The user drinks tea."
    assert subject(["one", "two", "three"]) == "one (and 2 more)"
    assert len(subject(["tea " * 200])) <= 200
    assert subject([]) == "vault-mind"

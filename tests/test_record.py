"""What a turn wrote becomes a version; what is forgotten can come back."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import NOW
from vault_mind import Vault, git
from vault_mind.errors import MemoryChangedError
from vault_mind.history import History
from vault_mind.record import Record, subject
from vault_mind.undo import plan, undo

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

    record.begin()
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


def test_a_subject_is_one_line_and_says_how_many_more_there_are() -> None:
    assert subject(["The user\ndrinks tea."]) == "The user drinks tea."
    assert subject(["one", "two", "three"]) == "one (and 2 more)"
    assert len(subject(["tea " * 200])) <= 200
    assert subject([]) == "vault-mind"

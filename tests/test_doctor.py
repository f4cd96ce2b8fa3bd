"""What is wrong or odd in a vault, each with what to do."""

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conftest import NOW
from vault_mind import Index, Vault
from vault_mind.config import state_folder
from vault_mind.doctor import Finding, examine
from vault_mind.journal import MOST_TRIES, Exchange, Journal

Write = Callable[[str, str | bytes], Path]
SOUND = "---\nkind: fact\nsource: user\ncreated_at: 2026-05-03T08:00:00+02:00\n---\n\nThe user drinks tea.\n"
SAID = Exchange("I live in Oslo.", "", "ok", NOW.isoformat(), "chat", "claude")


@pytest.fixture
def journal(vault: Vault) -> Journal:
    """The vault's journal."""
    return Journal(state_folder(vault.root) / "journal")


@pytest.fixture
def findings(vault: Vault, index: Index, journal: Journal) -> Callable[[], dict[str, Finding]]:
    """Examine the vault: the first finding of each path."""

    def examined() -> dict[str, Finding]:
        return {finding.path: finding for finding in reversed(examine(vault, index, journal))}

    return examined


def test_a_sound_vault_needs_nothing(write: Write, findings: Callable[[], dict[str, Finding]]) -> None:
    assert findings() == {}

    write("memories/tea.md", SOUND)

    assert findings() == {}


@pytest.mark.parametrize(
    ("content", "what", "advice"),
    [
        ("---\nkind: [unclosed\n---\ntea", "frontmatter:", "mend the YAML"),
        ("---\nkind: fact\nkind: note\n---\ntea", "frontmatter:", "YAML"),
        (SOUND.encode() + b"caf\xe9", "it is not UTF-8 (byte 0xe9 at", "save it as UTF-8"),
        ("tea".encode("utf-16"), "it is UTF-16", "save it as UTF-8"),
        (SOUND + "\0", "it holds NUL", "move it out"),
        (SOUND + "tea " * 600_000, "it is too large", "`ignore`"),
        (SOUND.replace("2026-05-03T08:00:00+02:00", "yesterday"), "created_at: no date", "editor"),
    ],
    ids=["broken yaml", "a key twice", "latin-1", "utf-16", "nul", "large", "no date"],
)
def test_a_file_with_a_fault_is_named_with_what_to_do(
    write: Write, findings: Callable[[], dict[str, Finding]], content: str | bytes, what: str, advice: str
) -> None:
    write("odd.md", content)
    write("memories/tea.md", SOUND)

    finding = next(iter(findings().values()))

    assert finding.path == "odd.md"
    assert finding.what.startswith(what)
    assert advice in finding.advice
    assert not finding.remark


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a name has to be sound Unicode")
def test_what_cannot_be_followed_or_read_is_named(
    vault: Vault, write: Write, findings: Callable[[], dict[str, Finding]], tmp_path: Path
) -> None:
    (tmp_path / "outside.md").write_text("secret", encoding="utf-8")
    (vault.root / "away.md").symlink_to(tmp_path / "outside.md")
    (vault.root / "dangling.md").symlink_to("nowhere.md")
    (vault.root / "circle.md").symlink_to("circle.md")
    os.mkfifo(vault.root / "pipe.md")
    Path(os.fsdecode(os.fsencode(vault.root) + b"/caf\xe9.md")).write_text("tea", encoding="utf-8")

    found = findings()

    assert {path: finding.what.partition(":")[0] for path, finding in found.items()} == {
        "away.md": "link not followed",
        "caf\\udce9.md": "not read",
        "circle.md": "link not followed",
        "dangling.md": "link not followed",
        "pipe.md": "cannot be read",
    }
    assert all(finding.advice != "look at it in an editor" for finding in found.values())


def test_a_kind_of_ones_own_and_a_plain_note_are_remarks_after_what_is_wrong(
    write: Write, vault: Vault, index: Index, journal: Journal
) -> None:
    write("a-note.md", "# Tea\n")
    write("b-recipe.md", SOUND.replace("fact", "recipe"))
    write("z-broken.md", "---\na: [\n---\n")

    found = examine(vault, index, journal)

    assert [(finding.path, finding.remark) for finding in found] == [
        ("z-broken.md", False),
        ("a-note.md", True),
        ("b-recipe.md", True),
    ]
    assert [finding.what for finding in found[1:]] == [
        "says no kind, source, created_at",
        "kind 'recipe' is one of your own",
    ]


def test_an_exchange_that_waits_is_a_remark(journal: Journal, findings: Callable[[], dict[str, Finding]]) -> None:
    journal.add(SAID)
    journal.add(SAID)

    assert findings()[""] == Finding("", "2 exchanges wait to be learned from", "the next chat does it", remark=True)


def test_an_exchange_that_was_given_up_is_something_to_fix_and_says_where_it_is(
    journal: Journal, findings: Callable[[], dict[str, Finding]]
) -> None:
    journal.add(replace(SAID, tries=MOST_TRIES))

    finding = findings()[""]

    assert finding.what == f"1 exchanges could not be learned from in {MOST_TRIES} tries"
    assert str(journal.folder) in finding.advice
    assert not finding.remark


def test_looking_changes_no_file(vault: Vault, write: Write, findings: Callable[[], dict[str, Finding]]) -> None:
    write("broken.md", "---\na: [\n---\n")
    write("note.md", "tea")
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in vault.root.rglob("*.md")}

    findings()

    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in vault.root.rglob("*.md")} == before


def test_an_exchange_that_cannot_be_read_is_named(journal: Journal, findings: Callable[[], dict[str, Finding]]) -> None:
    waiting = journal.add(SAID)
    waiting.file.write_text("{half", encoding="utf-8")

    assert str(waiting.file) in findings()[""].what
    assert not findings()[""].remark

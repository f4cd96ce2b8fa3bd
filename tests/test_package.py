"""What a program can import, and what that costs it."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

import vault_mind
from tests.conftest import Run
from vault_mind.vault import Vault

POSSESSIVE_GROUP = re.compile(r"(?<!\\)\)[*+?]\+")


def test_every_name_that_is_handed_out_is_there() -> None:
    for name in vault_mind.__all__:
        assert getattr(vault_mind, name).__name__ == name
        assert name in dir(vault_mind)
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        _ = vault_mind.Nothing


def test_nothing_is_loaded_before_it_is_asked_for() -> None:
    program = (
        "import sys, vault_mind\n"
        "before = [name for name in sys.modules if name.startswith('vault_mind.')]\n"
        "from vault_mind import Hit, VaultMindError\n"
        "print(before, 'vault_mind.agent' in sys.modules, Hit.__module__, VaultMindError.__module__)"
    )

    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert ended.stdout == "[] False vault_mind.ranking vault_mind.errors\n"


# Typer and what it needs; OpenSSL; whatever tells, counts, copies or starts what a search does not.
NOT_FOR_A_SEARCH = {
    "typer", "json", "logging", "subprocess", "threading", "hashlib", "_hashlib", "difflib", "decimal", "secrets",
    "queue", "calendar", "shlex", "gettext", "traceback", "uuid", "platform", "vault_mind.record", "vault_mind.grouped",
    "vault_mind.git",
}  # fmt: skip


def test_a_command_that_only_reads_earns_each_module_that_it_loads(run: Run, home: Path) -> None:
    file = Vault.create(home / "vault-mind").root / "tea.md"
    file.write_text("---\nkind: fact\n---\nThe user drinks tea.")
    os.utime(file, ns=(10**18, 10**18))
    time.sleep(2.1)  # what is younger is read once more
    run("search", "tea")
    for words in (["search", "what is tea"], ["list", "--kind", "fact"], ["grep", "-i", "tea"]):
        command = [sys.executable, "-X", "importtime", "-m", "vault_mind", *words]

        ended = subprocess.run(command, capture_output=True, text=True, check=True, cwd=home)

        assert ended.stdout
        lines = (line for line in ended.stderr.splitlines() if line.startswith("import time:"))
        loaded = {line.rpartition("|")[2].strip() for line in lines}
        assert "vault_mind.cli" in loaded
        assert not loaded & NOT_FOR_A_SEARCH - ({"threading"} if words[0] == "grep" else set())  # a regex has a lock


# What answers, learns, asks git or a model, reads YAML or spells; and what of Python only these need.
NOT_FOR_REMEMBERING = {
    "typer", "rich", "yaml", "frontmatter", "dateparser", "detect_secrets", "stdnum", "rapidfuzz", "re2", "anthropic",
    "httpx2", "watchdog", "pathspec", "asyncio", "subprocess", "difflib", "uuid", "pydantic", "merge3",
    "vault_mind.agent", "vault_mind.prompt", "vault_mind.lookup", "vault_mind.extraction", "vault_mind.model",
    "vault_mind.upkeep", "vault_mind.journal", "vault_mind.offline", "vault_mind.usage", "vault_mind.frames",
    "vault_mind.support", "vault_mind.contradictions", "vault_mind.git", "vault_mind.history", "vault_mind.commits",
    "vault_mind.grouped", "vault_mind.regex",
}  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "The user drinks oolong.",
        "The dentist moved the appointment to 3 May 2026 at 10:30.",
        "The spare key is with Mrs Low: ring twice, then wait.",
        "The user's tea is from Smith & Sons, number 24b.",
    ],
)
def test_remembering_loads_nothing_of_what_answers_and_learns(text: str, run: Run, home: Path) -> None:
    Vault.create(home / "vault-mind")
    run("remember", "The user bakes bread.", "--tag", "food")
    command = [
        sys.executable,
        "-X",
        "importtime",
        "-m",
        "vault_mind",
        "remember",
        text,
        "--kind",
        "fact",
        "--tag",
        "home",
    ]

    ended = subprocess.run(command, capture_output=True, text=True, check=True, cwd=home)

    assert ended.stdout.startswith("memories/")
    lines = (line for line in ended.stderr.splitlines() if line.startswith("import time:"))
    loaded = {line.rpartition("|")[2].strip() for line in lines}
    assert "vault_mind.remembering" in loaded
    assert not loaded & NOT_FOR_REMEMBERING


def test_no_pattern_has_possessive_groups_which_early_3_11_matches_wrongly() -> None:
    # Once: on Python 3.11.2 words came out empty. A possessive class (\w++) is sound there, a group (...)*+ is not.
    sources = sorted((Path(__file__).parent.parent / "vault_mind").glob("*.py"))

    found = [file.name for file in sources if POSSESSIVE_GROUP.search(file.read_text("utf-8"))]

    assert sources
    assert found == []

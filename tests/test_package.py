"""What a program can import, and what that costs it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import vault_mind

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


def test_no_pattern_has_possessive_groups_which_early_3_11_matches_wrongly() -> None:
    # Once: on Python 3.11.2 words came out empty. A possessive class (\w++) is sound there, a group (...)*+ is not.
    sources = sorted((Path(__file__).parent.parent / "vault_mind").glob("*.py"))

    found = [file.name for file in sources if POSSESSIVE_GROUP.search(file.read_text("utf-8"))]

    assert sources
    assert found == []

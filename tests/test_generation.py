"""One generation of the index's files: made, checked when it is opened, and read again only when it was written."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from vault_mind.errors import VaultMindError, WriteFailedError
from vault_mind.generation import GUARD, SCHEMA, DamagedError, Generation, Totals, make
from vault_mind.pack import PackError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty generation."""
    make(tmp_path, "english")
    return tmp_path


@pytest.fixture
def opened(folder: Path) -> Iterator[Generation]:
    """The same, opened."""
    generation = Generation(folder, "english")
    yield generation
    generation.close()


def do(folder: Path, statement: str) -> None:
    """Change its SQLite file as another process would."""
    with closing(sqlite3.connect(folder / "files.db")) as db, db:
        db.execute(statement)


def test_a_new_one_holds_nothing(opened: Generation) -> None:
    assert opened.totals == Totals(0, 0, 0, 0, 0)
    assert opened.searcher.num_docs == 0
    assert list(opened.columns["state"]) == []
    assert list(opened.columns["order"]) == [0, 0]
    assert bytes(opened.pack.view()) == b""


@pytest.mark.parametrize(
    "statement",
    [
        f"PRAGMA user_version = {SCHEMA - 1}",
        f"PRAGMA user_version = {SCHEMA + 1}",
        "DELETE FROM totals",
        "UPDATE totals SET language = 'german'",
        "DROP TABLE totals",
    ],
)
def test_one_that_is_not_ours_is_damaged(folder: Path, statement: str) -> None:
    do(folder, statement)

    with pytest.raises(DamagedError), GUARD:
        Generation(folder, "english")


@pytest.mark.parametrize("name", ["files.db", "postings/meta.json"])
def test_one_without_its_files_is_damaged(folder: Path, name: str) -> None:
    (folder / name).unlink()

    with pytest.raises(DamagedError), GUARD:
        Generation(folder, "english")
    assert not (folder / "files.db").exists() or name != "files.db"  # opening makes none


@pytest.mark.parametrize("data", [b"", b"{}", b"[1, 2", b"\xff\xfe" * 50, b'{"segments": []}'])
def test_postings_that_say_nonsense_of_themselves_are_damaged(folder: Path, data: bytes) -> None:
    (folder / "postings" / "meta.json").write_bytes(data)

    with pytest.raises(DamagedError), GUARD:
        Generation(folder, "english")


def test_arrays_that_are_gone_or_damaged_are_noticed(folder: Path) -> None:
    for statement in ("UPDATE columns SET data = x'0102030405'", "DELETE FROM columns WHERE name = 'spot'"):
        do(folder, statement)
        generation = Generation(folder, "english")

        with pytest.raises(DamagedError), GUARD:
            _ = generation.columns
        generation.close()


def test_what_was_committed_is_seen_after_reload_and_what_was_not_is_kept_out(folder: Path, opened: Generation) -> None:
    before = opened.columns
    opened.reload()
    assert opened.columns is before

    do(folder, "UPDATE totals SET memories = 7, version = version + 1")
    assert opened.totals.memories == 0
    opened.reload()

    assert opened.totals.memories == 7
    assert opened.columns is not before
    opened.columns.set_state(3, 1)
    opened.forget_columns()
    assert list(opened.columns["state"]) == []


@pytest.mark.parametrize(
    "error",
    [sqlite3.OperationalError("disk I/O error"), ValueError("x"), OSError(5, "no"), IndexError(), PackError("y")],
)
def test_what_the_engines_raise_over_their_files_is_damage(error: Exception) -> None:
    with pytest.raises(DamagedError), GUARD:
        raise error


def test_a_folder_that_was_deleted_is_damage_and_a_full_disk_is_not() -> None:
    with pytest.raises(DamagedError), GUARD:
        raise WriteFailedError("x", "gone") from FileNotFoundError()
    with pytest.raises(WriteFailedError), GUARD:
        raise WriteFailedError("x", "no space left on device") from OSError(28, "no space left on device")


@pytest.mark.parametrize("error", [KeyboardInterrupt(), VaultMindError("told"), AssertionError()])
def test_anything_else_is_what_it_is(error: BaseException) -> None:
    with pytest.raises(type(error)), GUARD:
        raise error

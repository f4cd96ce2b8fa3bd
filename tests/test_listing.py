"""Folders listed by one process or two: the same either way, and nothing changes when nothing has."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import vault_mind.listing
from vault_mind import Index, Vault
from vault_mind.listing import packed, plain, second, unpacked

Write = Callable[[str, str | bytes], Path]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="folders cannot be listed by a handle there")


@pytest.fixture
def always_two(monkeypatch: pytest.MonkeyPatch) -> None:
    """However small the vault, two processes look through it."""
    monkeypatch.setattr(vault_mind.listing, "MANY", 1)
    monkeypatch.setattr("os.cpu_count", lambda: 2)


def filled(write: Write) -> None:
    """A vault with folders in folders, odd names, links and what is no memory."""
    for folder in ("", "a/", "b/", "b/inner/", "c d/", "é/"):
        for number in range(3):
            write(f"{folder}{number}.md", f"tea {number}")
    write("b/UPPER.MD", "tea")
    write("b/picture.png", b"\x89PNG")
    write(".hidden/x.md", "tea")
    (write("target.md", "tea").parent / "a" / "link.md").symlink_to("../target.md")


@pytest.mark.parametrize("names", [[], ["a.md"], ["a.md", "b b.md", "é.md"]])
def test_a_listing_is_unpacked_as_it_was_packed(names: list[str]) -> None:
    marks = [-(2**63), 2**63 - 1, 0][: len(names)]

    assert unpacked(packed(names, marks)) == dict(zip(names, marks, strict=True))


@pytest.mark.parametrize("damaged", [b"\x01", b"\xff" * 8, packed(["a.md"], [1])[:-9], b"\x02" + bytes(7) + bytes(16)])
def test_what_is_no_listing_is_a_value_error(damaged: bytes) -> None:
    with pytest.raises((ValueError, IndexError)):
        unpacked(damaged)


def test_two_processes_find_what_one_finds(vault: Vault, write: Write, always_two: None) -> None:
    filled(write)
    alone = vault.walk()

    together = vault.walk(alone.listings)

    helper = second(str(vault.root), alone.listings)
    assert helper is not None
    assert helper.shared(alone.listings).items() <= {f: plain(f"{vault.root}/{f}") for f in alone.listings}.items()
    helper.close()
    assert together.files == alone.files
    assert together.listings == alone.listings
    assert together.problems == alone.problems


def test_what_changed_since_is_found_by_two_as_well(vault: Vault, write: Write, always_two: None) -> None:
    filled(write)
    before = vault.walk()
    write("a/new.md", "tea")
    write("f/g/h/deep.md", "tea")
    (vault.root / "b" / "0.md").unlink()
    for file in (vault.root / "c d").iterdir():
        file.unlink()
    (vault.root / "c d").rmdir()

    assert vault.walk(before.listings).files == vault.walk().files


# Once: the topmost folder was given away with all others, so that the two waited for each other; and a topmost folder
# without memories was noted in every other sync and taken out in the next.
@pytest.mark.parametrize("in_the_topmost", [True, False])
def test_of_a_vault_where_nothing_changed_nothing_is_written(
    vault: Vault, write: Write, always_two: None, in_the_topmost: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vault_mind.readers.RACY", 0)
    for folder in ("a", "b", "c", "d", "e"):
        write(f"{folder}/x.md", "tea")
    if in_the_topmost:
        write("top.md", "tea")
    index = Index(vault)
    index.sync()
    index.sync()
    kept = dict(index._postings.listings())

    for _ in range(3):
        assert not index._sync._differing(vault.walk(kept))
        index.sync()

    assert index._postings.listings() == kept
    index.close()


def test_a_folder_that_needs_a_closer_look_is_left_to_the_other(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("tea")
    assert plain(str(tmp_path)) is not None
    assert plain(str(tmp_path / "nowhere")) is None

    (tmp_path / "link.md").symlink_to("a.md")

    assert plain(str(tmp_path)) is None


def test_an_interpreter_that_cannot_start_costs_only_time(
    vault: Vault, write: Write, always_two: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(write)
    alone = vault.walk()

    for broken in ("/nowhere/python", "/bin/false"):
        monkeypatch.setattr(sys, "executable", broken)
        assert vault.walk(alone.listings).files == alone.files

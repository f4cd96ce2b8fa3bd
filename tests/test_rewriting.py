"""Objects made anew without a text: only those that hold it or lead to it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from vault_mind import git, objects
from vault_mind.needles import Needles
from vault_mind.rewriting import Rewriting, Targets, emptied, message_of, text_of

SECRET = "The user is allergic to hazelnuts."


@pytest.fixture
def found(tmp_path: Path) -> Iterator[objects.Objects]:
    """The objects of an empty repository."""
    git.ask(tmp_path, "init", "--quiet")
    with objects.opened(tmp_path) as opened:
        yield opened


@pytest.fixture
def pack(found: objects.Objects) -> Iterator[objects.Pack]:
    """What is to be written there."""
    made = objects.Pack(found)
    yield made
    made.close()


def written(found: objects.Objects, kind: str, data: bytes) -> str:
    words = ("hash-object", "-w", "-t", kind, "--stdin", "--literally")
    return git.ask(found.folder, *words, given=data).decode().strip()


def test_a_commit_that_nothing_happens_to_keeps_every_byte_however_odd(
    found: objects.Objects, pack: objects.Pack
) -> None:
    tree = written(found, "tree", b"")
    odd = (
        b"tree %s\nauthor \xff <> 12 +9999\ncommitter x <y> -1 -0000\nnew header\n of lines\n\n\n\nno end"
        % tree.encode()
    )
    name = written(found, "commit", odd)

    assert Rewriting(found, pack, Targets(Needles([SECRET]))).of(name) == name


def test_a_commit_that_held_it_differs_in_that_alone(found: objects.Objects, pack: objects.Pack) -> None:
    tree = written(found, "tree", b"")
    data = b"tree %s\nauthor \xff <> 12 +9999\ncommitter x <y> -1 -0000\nnew header\n of lines\n\nSo %s\n\nTurn: 7"
    name = written(found, "commit", data % (tree.encode(), SECRET.encode()))

    new = Rewriting(found, pack, Targets(Needles([SECRET]))).of(name)
    pack.store()

    assert found.read(new) == ("commit", data % (tree.encode(), b"(purged)."))


def test_a_tree_keeps_modes_and_order(found: objects.Objects, pack: objects.Pack) -> None:
    blob, held = written(found, "blob", b"x"), written(found, "blob", f"y {SECRET} z".encode())
    modes = [(b"100755", b"a.md"), (b"120000", b"b.md"), (b"160000", b"c"), (b"100644", b"d-e"), (b"100644", b"d.f")]
    entries = [(mode, name, bytes.fromhex(blob)) for mode, name in modes]
    name = written(found, "tree", objects.tree([*entries, (b"100644", b"held.md", bytes.fromhex(held))]))

    new = Rewriting(found, pack, Targets(Needles([SECRET]))).of(name)
    pack.store()

    read = found.read(new)
    assert read
    assert found.entries(read[1])[:-1] == entries
    assert found.read(found.entries(read[1])[-1][2].hex()) == ("blob", b"y (purged). z")


def test_a_file_outside_the_vault_stays_though_the_same_bytes_go_inside(
    found: objects.Objects, pack: objects.Pack
) -> None:
    held = bytes.fromhex(written(found, "blob", f"y {SECRET} z".encode()))
    inner = bytes.fromhex(written(found, "tree", objects.tree([(b"100644", b"a.md", held)])))
    name = written(found, "tree", objects.tree([(b"40000", b"in", inner), (b"40000", b"out", inner)]))

    new = Rewriting(found, pack, Targets(Needles([SECRET]), prefix=b"in/")).of(name)
    pack.store()

    read = found.read(new)
    assert read
    assert [entry[2] == inner for entry in found.entries(read[1])] == [False, True]


def test_a_long_history_needs_no_long_stack(found: objects.Objects, pack: objects.Pack) -> None:
    tree = written(found, "tree", b"")
    head = pack.add("commit", f"tree {tree}\nauthor a <a> 1 +0000\ncommitter a <a> 1 +0000\n\n{SECRET}".encode())
    for number in range(5000):
        lines = f"tree {tree}\nparent {head}\nauthor a <a> 1 +0000\ncommitter a <a> 1 +0000\n\n{number}"
        head = pack.add("commit", lines.encode())
    pack.store()

    rewriting = Rewriting(found, pack, Targets(Needles([SECRET])))

    assert rewriting.of(head) != head
    assert len(rewriting.new) == 5001


def test_the_words_of_a_commit_are_told_from_who_made_it() -> None:
    commit = b"tree 1\nauthor Ada <a>\ncommitter Bob <b>\nencoding ISO-8859-1\n\ncaf\xe9"

    assert message_of(commit) == "café".encode()
    assert text_of(commit) == b"tree 1\nencoding ISO-8859-1\n\n" + "café".encode()


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        (f"---\nkind: fact\n---\n\n{SECRET}\n", True),
        (SECRET, True),
        (f"---\nkind: fact\n---\n\n{SECRET} And more.\n", False),
        (f"---\nquote: {SECRET}\n---\n", False),
        (f"---\nquote: {SECRET}\n---\n\nOther words.\n", False),
    ],
)
def test_a_file_that_says_nothing_any_more_is_told_from_one_that_never_did(text: str, gone: bool) -> None:
    needles = Needles([SECRET])

    assert emptied(text.encode(), needles.scrubbed(text.encode()), needles) is gone

"""The texts in one file: each is found again, and what is not there is said to be not there."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_mind.pack import Pack, PackError


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The file of an empty pack."""
    Pack.make(tmp_path / "texts")
    return tmp_path / "texts"


@given(batches=st.lists(st.lists(st.text(max_size=20), max_size=4), max_size=4))
def test_every_text_is_found_again_however_they_were_put_in(
    batches: list[list[str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.mktemp("pack") / "texts"
    Pack.make(file)
    pack, kept = Pack(file), []

    for texts in batches:
        encoded = [text.encode() for text in texts]
        starts = pack.append(encoded)
        kept += [(start, len(data), text) for start, data, text in zip(starts, encoded, texts, strict=True)]
        assert all(pack.text(start, size) == text for start, size, text in kept)

    assert [start for start, _, _ in kept] == sorted({start for start, _, _ in kept})
    assert pack.size() == sum(size + 1 for _, size, _ in kept)
    pack.close()


def test_what_another_process_put_in_is_seen(file: Path) -> None:
    mine, other = Pack(file), Pack(file)
    mine.append([b"tea"])
    assert mine.text(0, 3) == "tea"

    (start,) = other.append([b"milk"])

    assert mine.text(start, 4) == "milk"
    assert mine.view()[:] == b"tea\nmilk\n"
    mine.close()
    other.close()


def test_an_empty_file_is_no_error(file: Path) -> None:
    pack = Pack(file)

    assert bytes(pack.view()) == b""
    assert pack.append([]) == []
    assert pack.size() == 0


@pytest.mark.parametrize(
    ("start", "size"), [(0, 4), (0, 2), (1, 3), (4, 1), (10_000, 5), (0, 10**12), (-2, 1), (3, -1)]
)
def test_a_text_that_is_not_there_is_an_error(file: Path, start: int, size: int) -> None:
    pack = Pack(file)
    pack.append([b"tea"])

    with pytest.raises(PackError):
        pack.text(start, size)
    pack.close()


def test_bytes_that_are_no_text_are_an_error(file: Path) -> None:
    pack = Pack(file)
    pack.append([b"\xff\xfe"])

    with pytest.raises(PackError):
        pack.text(0, 2)
    pack.close()


def test_a_file_that_holds_less_than_was_put_in_is_an_error(file: Path) -> None:
    Pack(file).append([b"tea and milk"])
    file.write_bytes(file.read_bytes()[:5])
    pack = Pack(file)

    with pytest.raises(PackError):
        pack.text(0, 12)
    with pytest.raises(PackError):
        pack.view(13)
    pack.close()


def test_what_is_mapped_outlives_the_file(file: Path) -> None:
    pack = Pack(file)
    pack.append([b"tea"])
    pack.text(0, 3)

    file.unlink()

    assert pack.text(0, 3) == "tea"
    pack.close()


def test_it_is_its_owner_s_alone_and_made_only_once(file: Path) -> None:
    assert file.stat().st_mode & 0o077 == 0
    with pytest.raises(FileExistsError):
        Pack.make(file)


def test_after_half_a_text_that_a_crash_left_the_next_begins_a_line(file: Path) -> None:
    pack = Pack(file)
    pack.append([b"tea"])
    with file.open("ab") as torn:
        torn.write(b"half a te")

    (start,) = pack.append([b"coffee"])

    assert pack.text(start, 6) == "coffee"
    assert bytes(pack.view())[:start].endswith(b"te\n")
    pack.close()

"""The vectors on disk: kept by the text's hash, whole or not at all, and gone when they should be."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from vault_mind.errors import EmbeddingError, WriteFailedError
from vault_mind.vectors import HEADER, PROBE, Vectors, kept_names, key, remove_others

NAME = "fastembed:BAAI/bge-small-en-v1.5"
WIDTH = 8


def some(count: int, width: int = WIDTH, seed: int = 0) -> NDArray[np.float32]:
    """So many unit vectors, always the same for one seed."""
    rows = np.random.default_rng(seed).standard_normal((count, width))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def keys(count: int, of: str = "text") -> list[bytes]:
    """The hashes of so many texts."""
    return [key(f"{of} {number}") for number in range(count)]


@pytest.fixture
def vectors(tmp_path: Path) -> Vectors:
    """Ten vectors on disk."""
    kept = Vectors(tmp_path / "vectors", NAME)
    kept.add(keys(10), some(10))
    return kept


def again(vectors: Vectors) -> Vectors:
    """The same vectors as another process would open them."""
    return Vectors(vectors.path.parent, vectors.name)


def test_nothing_is_kept_before_anything_was_added(tmp_path: Path) -> None:
    vectors = Vectors(tmp_path / "never made", NAME)

    assert (len(vectors), vectors.width, vectors.size()) == (0, 0, 0)
    assert vectors.missing(keys(2)) == keys(2)
    assert vectors.nearest(some(1)[0], 5) == []
    assert vectors.scores(some(1)[0], keys(2)) == {}
    assert vectors.keep_only([]) == 0


def test_what_was_added_is_found_by_another_process(vectors: Vectors) -> None:
    other = again(vectors)

    assert len(other) == 10
    assert other.missing([*keys(11), *keys(11)]) == [keys(11)[10]]
    assert other.nearest(some(10)[3], 1) == [(keys(10)[3], 1.0)]
    assert np.array_equal(other.vector(keys(10)[3]), some(10)[3])  # type: ignore[arg-type]  # it is there


def test_what_another_process_adds_is_seen_at_once(vectors: Vectors) -> None:
    other = again(vectors)
    assert len(other) == 10

    vectors.add(keys(5, "later"), some(5, seed=1))

    assert other.missing(keys(5, "later")) == []
    assert other.nearest(some(5, seed=1)[2], 1)[0][0] == keys(5, "later")[2]


def test_a_file_that_was_replaced_is_read_anew_even_when_it_grew(vectors: Vectors) -> None:
    other = again(vectors)
    assert len(other) == 10

    vectors.keep_only(keys(10)[5:])
    vectors.add(keys(10, "later"), some(10, seed=1))

    assert other.missing(keys(10)) == keys(10)[:5]
    assert other.nearest(some(10)[7], 1) == [(keys(10)[7], 1.0)]
    assert other.nearest(some(10, seed=1)[9], 1) == [(keys(10, "later")[9], 1.0)]


def test_the_file_is_for_its_owner_alone(vectors: Vectors) -> None:
    path = vectors.path

    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_a_hash_that_is_kept_already_stays_as_it_is(vectors: Vectors) -> None:
    size = vectors.size()

    vectors.add([keys(1)[0], keys(1)[0]], some(2, seed=7))

    assert vectors.size() == size
    assert np.array_equal(vectors.vector(keys(1)[0]), some(10)[0])  # type: ignore[arg-type]  # it is there


def test_a_hash_without_a_vector_is_refused(vectors: Vectors) -> None:
    with pytest.raises(ValueError, match="2 hashes"):
        vectors.add(keys(2), some(3))
    with pytest.raises(ValueError, match="of 16 bytes"):
        vectors.add([b"short"], some(1))


@given(
    st.lists(st.lists(st.integers(-3, 3), min_size=3, max_size=3).filter(any), min_size=1, max_size=30),
    st.integers(0, 40),
    st.data(),
)
def test_nearest_is_what_a_plain_loop_finds(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[int]], k: int, data: st.DataObject
) -> None:
    matrix = np.asarray(rows, dtype=np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    vectors = Vectors(tmp_path_factory.mktemp("law"), NAME)
    hashes = keys(len(rows))
    vectors.add(hashes, matrix)
    among = data.draw(st.one_of(st.none(), st.lists(st.sampled_from([*hashes, key("unknown")]), unique=True)))
    query = matrix[0]

    found = vectors.nearest(query, k, among)

    wanted = [one for one in hashes if among is None or one in among]
    cosines = [float(matrix[hashes.index(one)] @ query) for one in wanted]
    assert [score for _, score in found] == pytest.approx(sorted(cosines, reverse=True)[:k], abs=1e-5)
    assert found == sorted(found, key=lambda pair: (-pair[1], pair[0]))
    assert dict(found) == {one: score for one, score in vectors.scores(query, wanted).items() if one in dict(found)}


def test_equal_vectors_come_by_their_hash_wherever_they_lie(vectors: Vectors) -> None:
    same = keys(6, "same")
    for one in reversed(same):
        vectors.add([one], some(1, seed=3))

    assert [one for one, _ in vectors.nearest(some(1, seed=3)[0], 4)] == sorted(same)[:4]


def test_a_query_of_another_width_is_an_error_and_not_an_empty_answer(vectors: Vectors) -> None:
    with pytest.raises(EmbeddingError, match="12 numbers where 8 are kept"):
        vectors.nearest(some(1, width=12)[0], 3)
    with pytest.raises(EmbeddingError, match="12 numbers where 8 are kept"):
        vectors.scores(some(1, width=12)[0], keys(1))


def test_vectors_of_another_width_take_the_place_of_all(vectors: Vectors) -> None:
    vectors.add(keys(2, "wide"), some(2, width=13))

    assert again(vectors).width == 13  # an odd number, which is padded on disk
    assert again(vectors).missing([*keys(1), *keys(2, "wide")]) == keys(1)
    assert again(vectors).nearest(some(2, width=13)[1], 1) == [(keys(2, "wide")[1], 1.0)]


def test_what_is_no_longer_used_leaves_the_disk(vectors: Vectors) -> None:
    forgotten = some(10)[4].tobytes()
    assert forgotten in vectors.path.read_bytes()
    other = again(vectors)
    assert len(other) == 10

    dropped = vectors.keep_only([one for one in keys(10) if one != keys(10)[4]])

    assert dropped == 1
    assert forgotten not in vectors.path.read_bytes()
    assert other.missing(keys(10)) == [keys(10)[4]]
    assert other.nearest(some(10)[5], 1) == [(keys(10)[5], 1.0)]


def test_keeping_all_writes_nothing(vectors: Vectors) -> None:
    before = vectors.path.stat()

    assert vectors.keep_only(keys(10)) == 0

    assert vectors.path.stat() == before


def test_the_probe_is_kept_and_is_never_an_answer(vectors: Vectors) -> None:
    vectors.add([PROBE], some(1, seed=5))

    vectors.keep_only(keys(3))

    assert len(vectors) == 3
    assert vectors.vector(PROBE) is not None
    assert PROBE not in dict(vectors.nearest(some(1, seed=5)[0], 10))


def test_cleared_vectors_are_gone_for_everybody(vectors: Vectors) -> None:
    other = again(vectors)
    assert len(other) == 10

    vectors.clear()

    assert (len(vectors), len(other), other.size()) == (0, 0, 0)


def test_the_vectors_of_a_model_stay_until_those_of_the_next_are_complete(vectors: Vectors) -> None:
    folder = vectors.path.parent
    new = Vectors(folder, "voyage:voyage-3.5")
    new.add(keys(3), some(3, width=4))
    assert kept_names(folder) == [NAME, new.name]
    assert len(vectors) == 10

    assert remove_others(folder, new.name) == 1

    assert kept_names(folder) == [new.name]
    assert len(vectors) == 0
    assert len(new) == 3


def test_a_garbled_name_is_no_name(vectors: Vectors) -> None:
    vectors.path.write_bytes(vectors.path.read_bytes().replace(b"bge", b"bad", 1))

    assert kept_names(vectors.path.parent) == []


def test_one_file_never_answers_for_another_model(vectors: Vectors) -> None:
    other = Vectors(vectors.path.parent, "openai:text-embedding-3-small")

    vectors.path.rename(other.path)

    assert len(other) == 0


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "emptied": lambda data: b"",
    "half a header": lambda data: data[: HEADER // 2],
    "no record": lambda data: data[:HEADER],
    "half a record": lambda data: data[: HEADER + 20],
    "garbage before": lambda data: b"x" * 100 + data,
    "all garbage": lambda data: b"\xff" * len(data),
    "zeros": lambda data: bytes(len(data)),
    "JSON of another kind": lambda data: b'{"a": 1}' + data[8:],
    "a deep header": lambda data: b"[" * HEADER + data[HEADER:],
    "a changed name": lambda data: data.replace(b"bge", b"bad", 1),
    "a changed width": lambda data: data.replace(b", 8, ", b", 9, ", 1),
    "zeroed records": lambda data: data[:HEADER] + bytes(len(data) - HEADER),
    "garbage behind": lambda data: data + b"\x01" * 1000,
}


@pytest.mark.parametrize("how", DAMAGE)
def test_damage_costs_vectors_and_is_never_an_error(vectors: Vectors, how: str) -> None:
    path = vectors.path
    path.write_bytes(DAMAGE[how](path.read_bytes()))
    fresh = again(vectors)

    left = fresh.missing(keys(10))
    fresh.add(left, np.stack([some(10)[keys(10).index(one)] for one in left]) if left else some(0))

    assert again(vectors).missing(keys(10)) == []
    for number, one in enumerate(keys(10)):
        assert again(vectors).nearest(some(10)[number], 1) == [(one, 1.0)]


@given(place=st.integers(0, 10_000), mask=st.integers(1, 255))
def test_a_changed_byte_costs_at_most_the_vector_that_holds_it(
    tmp_path_factory: pytest.TempPathFactory, place: int, mask: int
) -> None:
    vectors = Vectors(tmp_path_factory.mktemp("law"), NAME)
    vectors.add(keys(10), some(10))
    data = bytearray(vectors.path.read_bytes())
    data[HEADER + place % (len(data) - HEADER)] ^= mask
    vectors.path.write_bytes(data)

    left = again(vectors).missing(keys(10))

    assert len(left) == 1
    for number, one in enumerate(keys(10)):
        if one not in left:
            assert np.array_equal(again(vectors).vector(one), some(10)[number])  # type: ignore[arg-type]  # it is there


def test_damage_is_swept_out_when_the_file_is_tidied(vectors: Vectors) -> None:
    size = vectors.size()
    with vectors.path.open("ab") as file:
        file.write(b"\x01" * 560)

    again(vectors).keep_only(keys(10))

    assert again(vectors).size() == size


def test_a_folder_in_the_way_is_an_error_that_says_where(tmp_path: Path) -> None:
    vectors = Vectors(tmp_path, NAME)
    vectors.path.mkdir()

    assert vectors.missing(keys(1)) == keys(1)
    with pytest.raises(WriteFailedError, match="not written"):
        vectors.add(keys(1), some(1))


def test_threads_that_add_and_search_at_once_lose_nothing(vectors: Vectors) -> None:
    failures: list[BaseException] = []

    def adds(who: int) -> None:
        try:
            for number in range(10):
                vectors.add([key(f"{who} {number}")], some(1, seed=who))
                vectors.nearest(some(1)[0], 3)
                vectors.scores(some(1)[0], keys(10))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=adds, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failures == []
    assert len(again(vectors)) == 50


ADDING = """
import sys
from pathlib import Path
import numpy as np
from vault_mind.vectors import Vectors, key
vectors = Vectors(Path(sys.argv[1]), sys.argv[2])
print("ready", flush=True)
for number in range(int(sys.argv[4])):
    row = np.zeros((40, 8), dtype=np.float32)
    row[:, number % 8] = 1
    vectors.add([key(f"{sys.argv[3]} {number} {i}") for i in range(40)], row)
"""


def adding(vectors: Vectors, who: str, batches: int) -> "subprocess.Popen[bytes]":
    """Another process that adds so many batches of 40."""
    words = [str(vectors.path.parent), vectors.name, who, str(batches)]
    return subprocess.Popen([sys.executable, "-c", ADDING, *words], stdout=subprocess.PIPE)


def test_two_processes_at_once_lose_nothing(vectors: Vectors) -> None:
    with adding(vectors, "one", 20) as one, adding(vectors, "two", 20) as two:
        assert one.wait() == two.wait() == 0

    assert len(vectors) == 10 + 2 * 20 * 40


@pytest.mark.skipif(os.name == "nt", reason="no SIGKILL there")
def test_a_writer_that_is_killed_leaves_only_whole_vectors(vectors: Vectors) -> None:
    with adding(vectors, "killed", 100_000) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        while len(vectors) < 200:
            pass
        writer.send_signal(signal.SIGKILL)

    size = (vectors.size() - HEADER) / 56
    assert len(again(vectors)) >= 200
    assert len(again(vectors)) == int(size)
    vectors.add(keys(3, "after"), some(3, seed=9))
    assert again(vectors).missing([*keys(10), *keys(3, "after")]) == []


@pytest.mark.parametrize("cut", [1, 15, 30, 55])
def test_half_a_record_left_by_a_crash_is_written_over(vectors: Vectors, cut: int) -> None:
    path = vectors.path
    path.write_bytes(path.read_bytes()[:-cut])
    assert again(vectors).missing(keys(10)) == [keys(10)[9]]

    again(vectors).add(keys(12), some(12))

    assert again(vectors).missing(keys(12)) == []
    assert (path.stat().st_size - HEADER) % 56 == 0

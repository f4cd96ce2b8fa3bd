"""Vectors kept on disk: what an embedder made of each text, found again by the hash of the text.

One file for each embedder: a header, then records of hash, checksum and vector, only ever appended to, or
replaced as a whole. It may be deleted at any time; what is damaged in it counts as not there.
"""

import json
import os
import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from vault_mind.errors import EmbeddingError, WriteFailedError
from vault_mind.files import locked, private_folder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SUFFIX = ".vectors"
HASH = 16  # bytes of a text's hash
HEADER = 16_384  # bytes before the first record; the longest path that a name may hold fits in
WIDEST = 65_536  # numbers of one vector; more is no embedding
PROBE = bytes(HASH)  # whose vector tells that a model has changed under its name; never an answer


def key(text: str) -> bytes:
    """The hash under which the vector of `text` is kept."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=HASH).digest()


@dataclass(frozen=True)
class _Header:
    """What a file says of itself: whose vectors, how many numbers each, and a stamp that no other file has."""

    name: str
    width: int
    stamp: str

    def bytes(self) -> bytes:
        """As it stands in the file."""
        line = json.dumps([self.name, self.width, self.stamp]).encode()
        if len(line) >= HEADER:
            raise EmbeddingError("the name of the embedding model is too long", "Move the model to a shorter path")
        return line.ljust(HEADER - 1) + b"\n"


@dataclass(frozen=True)
class _Held:
    """The sound records of a file at one moment: the row of each hash, and the records themselves, mapped."""

    header: _Header | None = None
    rows: dict[bytes, int] = field(default_factory=dict, repr=False)
    records: Any = field(default=None, repr=False)
    sound: Any = field(default=(), repr=False)  # their rows, in the order of the file
    looked: int = 0  # records that need not be looked at again: all up to the last sound one

    @property
    def vectors(self) -> Any:
        """The vectors, one a row, padding and all."""
        return self.records["vector"]


class Vectors:
    """The vectors of one embedder, in `folder`, for any number of threads and processes."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self.path = folder / f"{blake2b(name.encode('utf-8', 'surrogatepass'), digest_size=8).hexdigest()}{SUFFIX}"
        self._lock = folder / "vectors.lock"
        self._last = _Held()
        self._guard = threading.RLock()

    def __len__(self) -> int:
        """How many texts have a vector."""
        rows = self._held().rows
        return len(rows) - (PROBE in rows)

    @property
    def width(self) -> int:
        """How many numbers a vector has; 0 while there is none."""
        header = self._held().header
        return header.width if header else 0

    def size(self) -> int:
        """Bytes on disk."""
        try:
            return self.path.stat().st_size
        except OSError:
            return 0

    def missing(self, hashes: Iterable[bytes]) -> list[bytes]:
        """Those of `hashes` that have no vector, each once, in their order."""
        rows = self._held().rows
        return [one for one in dict.fromkeys(hashes) if one not in rows]

    def vector(self, one: bytes) -> "NDArray[np.float32] | None":
        """The vector kept under the hash `one`."""
        held = self._held()
        return held.vectors[held.rows[one]][: held.header.width].copy() if held.header and one in held.rows else None

    def add(self, hashes: Sequence[bytes], matrix: "NDArray[np.float32]") -> None:
        """Keep the rows of `matrix`, unit vectors, under `hashes`; after a crash some of them are kept, each whole.

        A hash that is kept already stays as it is. Vectors of another width than those kept take
        the place of them all. Raises WriteFailedError when the disk refuses.
        """
        if len(hashes) != len(matrix) or any(len(one) != HASH for one in hashes):
            raise ValueError(f"{len(hashes)} hashes of {HASH} bytes for {len(matrix)} vectors")
        with self._writing():
            held = self._held()
            if held.header is None or held.header.width != matrix.shape[1]:
                self._write_anew(_Header(self.name, matrix.shape[1], token_hex(8)), ())
                held = self._held()
            numbers = {one: number for number, one in enumerate(hashes) if one not in held.rows}
            if numbers and held.header:
                records = _records(list(numbers), matrix[list(numbers.values())], held.header)
                _append(self.path, records)

    def nearest(
        self, query: "NDArray[np.float32]", k: int, among: Collection[bytes] | None = None
    ) -> list[tuple[bytes, float]]:
        """The `k` hashes (of `among`; None: of all) with the highest cosine to the unit vector `query`.

        Best first, ties by hash. Raises EmbeddingError when `query` has another width than what is kept.
        """
        import numpy as np  # late: it takes a fifth of a second, and most commands need no vectors

        held = self._held()
        rows = held.sound
        if among is not None:
            rows = np.array([held.rows[one] for one in dict.fromkeys(among) if one in held.rows], dtype=np.intp)
        if PROBE in held.rows:
            rows = rows[rows != held.rows[PROBE]]
        k = min(k, len(rows))
        if k <= 0:
            return []
        cosines = _cosines(held.vectors, query, held.header)[rows]
        first = np.flatnonzero(cosines >= np.partition(cosines, -k)[-k])  # more than k where several share a place
        found = [
            (held.records["hash"][row].tobytes(), float(one))
            for row, one in zip(rows[first], cosines[first], strict=True)
        ]
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))[:k]

    def scores(self, query: "NDArray[np.float32]", hashes: Iterable[bytes]) -> dict[bytes, float]:
        """The cosine of the unit vector `query` to each of `hashes` that has a vector.

        Raises EmbeddingError when `query` has another width than what is kept.
        """
        held = self._held()
        rows = {one: held.rows[one] for one in hashes if one in held.rows}
        if not rows:
            return {}
        cosines = _cosines(held.vectors[list(rows.values())], query, held.header)
        return dict(zip(rows, map(float, cosines), strict=True))

    def keep_only(self, hashes: Collection[bytes]) -> int:
        """Drop every vector whose hash is not among `hashes`, from the disk too; how many there were.

        Raises WriteFailedError when the disk refuses.
        """
        wanted = {*hashes, PROBE}
        with self._writing():
            held = self._held()
            rows = [row for one, row in held.rows.items() if one in wanted]
            dropped = len(held.rows) - len(rows)
            if held.header and (dropped or len(held.records) > len(rows)):
                self._write_anew(_Header(self.name, held.header.width, token_hex(8)), _parts(held.records, rows))
        return dropped

    def clear(self) -> None:
        """Drop all vectors."""
        with self._writing():
            self._last = _Held()  # Windows deletes no file that is mapped
            self.path.unlink(missing_ok=True)

    def _held(self) -> _Held:
        """What the file holds now; only what was added since the last look is read."""
        with self._guard:
            self._last = _look(self.path, self.name, self._last)
            return self._last

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Alone with the file; what the disk refuses becomes an error that says so."""
        with self._guard, locked(self._lock, "the index"):
            try:
                yield
            except OSError as error:
                raise WriteFailedError(str(self.path), (error.strerror or str(error)).lower()) from error

    def _write_anew(self, header: _Header, parts: Iterable[bytes]) -> None:
        """Put a new file in the place of the old one, in one step."""
        temporary = private_folder(self.path.parent) / f"{self.path.name}.new"
        data = header.bytes()
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        self._last = _Held()  # Windows replaces no file that is mapped
        temporary.replace(self.path)


def kept_names(folder: Path) -> list[str]:
    """The names of the embedders that have vectors in `folder`, the one written to last at the end."""
    found = []
    for path in folder.glob(f"*{SUFFIX}"):
        try:
            with path.open("rb") as file:
                header = _header(file.read(HEADER))
            changed = path.stat().st_mtime_ns
        except OSError:  # deleted a moment ago
            continue
        if header and Vectors(folder, header.name).path == path:
            found.append((changed, header.name))
    return [name for _, name in sorted(found)]


def remove_others(folder: Path, name: str) -> int:
    """Delete the vectors of every embedder but the one named `name`; how many files there were."""
    own = Vectors(folder, name)
    others = [path for path in folder.glob(f"*{SUFFIX}*") if not path.name.startswith(own.path.name)]
    if others:
        with own._writing():
            for path in others:
                path.unlink(missing_ok=True)
    return len(others)


def _dtype(header: _Header) -> "np.dtype[Any]":
    import numpy as np

    padded = header.width + header.width % 2  # so that a record is a whole number of 8-byte words
    return np.dtype([("hash", "V16"), ("check", "<u8"), ("vector", "<f4", (padded,))])


def _header(data: bytes) -> _Header | None:
    """The header that `data` begins with; None when it is not one of ours."""
    try:
        name, width, stamp = json.loads(data)
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None
    sound = len(data) == HEADER and isinstance(name, str) and isinstance(width, int) and 0 < width <= WIDEST
    return _Header(name, width, stamp) if sound else None


def _look(path: Path, name: str, last: _Held) -> _Held:
    try:
        with path.open("rb") as file:
            header = _header(file.read(HEADER))
            if header is None or header.name != name:
                return _Held()
            count = (os.fstat(file.fileno()).st_size - HEADER) // _dtype(header).itemsize
            known = header == last.header and last.looked <= count
            if known and count == last.looked:
                return last
            return _grown(_map(file, header, count), header, last if known else _Held())
    except OSError:  # not there, or not to be read: nothing is kept
        return _Held()


def _map(file: Any, header: _Header, count: int) -> Any:
    import numpy as np

    if not count:
        return np.zeros(0, dtype=_dtype(header))
    return np.memmap(file, dtype=_dtype(header), mode="r", offset=HEADER, shape=(count,)).view(np.ndarray)


def _grown(records: Any, header: _Header, last: _Held) -> _Held:
    """`last` with the sound ones among the records that it had not looked at."""
    import numpy as np

    fresh = records[last.looked :]
    sound = np.flatnonzero(fresh["check"] == _checks(fresh))
    raw = fresh["hash"][sound].tobytes()
    rows = {raw[HASH * i : HASH * (i + 1)]: last.looked + int(row) for i, row in enumerate(sound)}
    looked = last.looked + int(sound[-1]) + 1 if len(sound) else last.looked
    return _Held(
        header, {**last.rows, **rows}, records, np.append(last.sound, sound + last.looked).astype(np.intp), looked
    )


def _checks(records: Any) -> Any:
    """The checksum of each record: its words, weighted by their place, modulo 2**64; never 0 for a record of zeros."""
    import numpy as np

    words = np.ascontiguousarray(records).view("<u8").reshape(len(records), records.dtype.itemsize // 8)
    weights = np.arange(1, words.shape[1] + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) | np.uint64(1)
    weights[HASH // 8] = 0  # the place of the checksum itself
    return words @ weights + np.uint64(0x5BF03635)


def _records(hashes: Sequence[bytes], matrix: Any, header: _Header) -> bytes:
    import numpy as np

    records = np.zeros(len(hashes), dtype=_dtype(header))
    records["hash"] = np.frombuffer(b"".join(hashes), dtype="V16")
    records["vector"][:, : header.width] = matrix
    records["check"] = _checks(records)
    return records.tobytes()


def _parts(records: Any, rows: Sequence[int], size: int = 4096) -> Iterator[bytes]:
    for start in range(0, len(rows), size):
        yield records[rows[start : start + size]].tobytes()


def _append(path: Path, data: bytes) -> None:
    """Write `data` behind the last whole record; half of one, left by a writer that died, is written over."""
    with path.open("r+b") as file:
        header = _header(file.read(HEADER))
        if header is None:
            raise OSError(f"{path.name} was replaced by something else")
        size = os.fstat(file.fileno()).st_size
        end = size - (size - HEADER) % _dtype(header).itemsize
        file.seek(end)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _cosines(vectors: Any, query: "NDArray[np.float32]", header: _Header | None) -> Any:
    """The dot products, rounded to what they are good for, so that the same text always scores the same."""
    import numpy as np

    width = header.width if header else 0
    if query.shape != (width,):
        raise EmbeddingError(
            f"the embedding model now gives {query.size} numbers where {width} are kept", "Embed the memories anew"
        )
    padded = np.zeros(vectors.shape[1], dtype=np.float32)
    padded[:width] = query
    return np.round(vectors @ padded, 6)

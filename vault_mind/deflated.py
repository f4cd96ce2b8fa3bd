"""Listings of folders as they lie in the index: names deflated, and marks, which nothing makes shorter, as they are."""

from sys import byteorder
from zlib import compress, decompress, error

_MARK = 8  # bytes of a mark, and of the number of marks, which stands before them
_LEVEL = 6


def deflated(listing: bytes) -> bytes:
    """What `listing.packed` gave, in less room."""
    names = _names(listing)
    return listing[:names] + compress(listing[names:], _LEVEL) if listing[names:] else listing


def inflated(kept: bytes) -> bytes:
    """What `deflated` was given. Raises ValueError where it did not give this."""
    names = _names(kept)
    try:
        return kept[:names] + decompress(kept[names:]) if kept[names:] else kept
    except error as problem:
        raise ValueError("the names of a listing are damaged") from problem


def _names(listing: bytes) -> int:
    """Where the names begin."""
    return _MARK + _MARK * int.from_bytes(listing[:_MARK], byteorder, signed=True)

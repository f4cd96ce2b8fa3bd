"""What search needs of every memory at once, as arrays by its number: small, and loaded in a millisecond.

Numbers begin at 1; an array's place 0 stands for no memory.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from zlib import crc32

from vault_mind.rows import ABSENT, ASIDE, EXPIRING

_TYPES = {"state": "B", "spot": "I", "order": "I", "starts": "Q", "owners": "I"}
GAPS, FEW_GAPS = 0.75, 1_000  # share of zeros in `order`, which is at most half by itself; and how few never matter
_CHECK = 4  # bytes of a checksum, which stands behind each array


class ColumnsError(Exception):
    """An array is not as it was packed."""


class Columns:
    """The arrays as `packed` gave them, or new; those not asked for are not unpacked.

    `state` says of each number whether the memory is current. `order` holds the numbers of each chat
    next to each other, in time, with two zeros between chats; `spot` says where in it a number stands.
    `starts` are where texts begin in the pack, ascending, and `owners` whose they are (0: nobody's any more).
    Raises ColumnsError for what was not packed so.
    """

    def __init__(self, packed: Mapping[str, bytes] | None = None) -> None:
        self._packed = None if packed is None else {name: _sound(packed.get(name)) for name in _TYPES}
        self._arrays: dict[str, array[int]] = {}
        self.dirty: set[str] = set()

    def __getitem__(self, name: str) -> "array[int]":
        """One of the arrays."""
        found = self._arrays.get(name)
        if found is None:
            found = array(_TYPES[name])
            if self._packed:
                found.frombytes(self._packed[name])
            if name == "order" and not found:
                found.extend((0, 0))
            self._arrays[name] = found
        return found

    @cached_property
    def hidden(self) -> int:
        """How many memories are set aside or may have expired."""
        return self["state"].count(ASIDE) + self["state"].count(EXPIRING)

    def beside(self, number: int) -> Iterable[int]:
        """The two before and the two after `number` in its chat, as far as there are such."""
        spots = self["spot"]
        spot = spots[number] if number < len(spots) else 0
        if not spot:
            return ()
        order = self["order"]
        return filter(None, (order[spot - 2], order[spot - 1], order[spot + 1], order[spot + 2]))

    def set_state(self, number: int, state: int) -> None:
        """Say whether memory `number` is current."""
        self._set("state", number, state, ABSENT)

    def leave_chats(self, numbers: Iterable[int]) -> None:
        """Take `numbers` out of whatever chat they stand in."""
        spots, order = self["spot"], self["order"]
        for number in numbers:
            if number < len(spots) and spots[number]:
                order[spots[number]] = 0
                self._set("spot", number, 0, 0)
                self.dirty.add("order")

    def set_chat(self, numbers: Sequence[int]) -> None:
        """Lay down the memories of one chat in their order."""
        self.leave_chats(numbers)
        if len(numbers) < 2:  # alone in a chat one has nobody beside it
            return
        order = self["order"]
        for number in numbers:
            self._set("spot", number, len(order), 0)
            order.append(number)
        order.extend((0, 0))
        self.dirty.add("order")

    def add_texts(self, numbers: Sequence[int], starts: Sequence[int]) -> None:
        """Note where the texts of `numbers` begin; they stand behind all that are known."""
        self["owners"].extend(numbers)
        self["starts"].extend(starts)
        self.dirty |= {"owners", "starts"}

    def drop_texts(self, starts: Iterable[int]) -> None:
        """Note that the texts at `starts` are nobody's any more."""
        known, owners = self["starts"], self["owners"]
        for start in starts:
            owners[bisect_left(known, start)] = 0
            self.dirty.add("owners")

    def packed(self) -> Iterator[tuple[str, bytes]]:
        """The arrays that were changed, as bytes; of new columns all."""
        self._tidy()
        for name in sorted(_TYPES if self._packed is None else self.dirty):
            data = self[name].tobytes()
            yield name, data + _check(data)
        self.dirty.clear()

    def _tidy(self) -> None:
        """Close the gaps that chats left which were laid down anew, once they are the most of it."""
        if "order" not in self.dirty or self["order"].count(0) <= len(self["order"]) * GAPS + FEW_GAPS:
            return
        order = array(_TYPES["order"], (0, 0))
        for number in self["order"]:
            if number:
                self._set("spot", number, len(order), 0)
                order.append(number)
            elif order[-1] or order[-2]:
                order.append(0)
        self._arrays["order"] = order

    def _set(self, name: str, number: int, value: int, empty: int) -> None:
        column = self[name]
        if number >= len(column):
            column.extend([empty] * (number + 1 - len(column)))
        column[number] = value
        self.dirty.add(name)


def _sound(packed: object) -> bytes:
    if not isinstance(packed, bytes) or _check(packed[:-_CHECK]) != packed[-_CHECK:]:
        raise ColumnsError("an array is damaged")
    return packed[:-_CHECK]


def _check(data: bytes) -> bytes:
    return crc32(data).to_bytes(_CHECK, "little")

"""What search needs of every memory at once, as arrays by its number: small, and loaded in a millisecond.

Numbers begin at 1; an array's place 0 stands for no memory.
"""

from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from zlib import compress, crc32, decompress
from zlib import error as deflate_error

from vault_mind.rows import ABSENT, ASIDE, EXPIRING

_TYPES = {"state": "B", "spot": "I", "order": "I", "starts": "Q", "owners": "I"}
_RANGE = "r"  # in a type's place: the numbers from 1 on, of which only the last is kept
_DEFLATED = b"z"  # behind a type: its bytes by their place in a number, first all the lowest, and deflated
_LEVEL = 1  # of zlib: higher ones hardly find more
_SMALL = 1 << 16  # places of an array from which on its values hardly fit into two bytes
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
        self._arrays: dict[str, array[int] | range] = {}
        self.dirty: set[str] = set()
        if packed is None:
            self._own("order").extend((0, 0))

    def __getitem__(self, name: str) -> "array[int] | range":
        """One of the arrays, to be read; its type may be narrower than what it may come to hold."""
        found = self._arrays.get(name)
        if found is None:
            found = self._arrays[name] = _unpacked(self._packed[name]) if self._packed else array(_TYPES[name])
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

    def chat_of(self, number: int) -> Sequence[int]:
        """All of the chat that `number` stands in, in time; itself alone where it stands in none."""
        spots, order = self["spot"], self["order"]
        spot = spots[number] if number < len(spots) else 0
        if not spot:
            return (number,)
        first = last = spot
        while order[first - 1]:
            first -= 1
        while order[last + 1]:
            last += 1
        return order[first : last + 1]

    def set_state(self, number: int, state: int) -> None:
        """Say whether memory `number` is current."""
        self.set_states([(number, state)])

    def set_states(self, states: Iterable[tuple[int, int]]) -> None:
        """As `set_state`, of many: numbers, each with its state."""
        column = self._own("state")
        for number, state in states:
            if number >= len(column):
                column.extend([ABSENT] * (number + 1 - len(column)))
            column[number] = state

    def leave_chats(self, numbers: Iterable[int]) -> None:
        """Take `numbers` out of whatever chat they stand in."""
        spots = self["spot"]
        for number in numbers:
            if number < len(spots) and spots[number]:
                spots = self._own("spot")
                self._own("order")[spots[number]] = 0
                spots[number] = 0

    def set_chat(self, numbers: Sequence[int]) -> None:
        """Lay down the memories of one chat in their order."""
        self.set_chats([numbers])

    def set_chats(self, chats: Collection[Sequence[int]]) -> None:
        """As `set_chat`, of many."""
        self.leave_chats(number for numbers in chats for number in numbers)
        chats = [numbers for numbers in chats if len(numbers) > 1]  # alone in a chat one has nobody beside it
        if not chats:
            return
        spots, order = self._own("spot"), self._own("order")
        missing = max(map(max, chats)) + 1 - len(spots)
        spots.extend([0] * missing)
        for numbers in chats:
            for spot, number in enumerate(numbers, len(order)):
                spots[number] = spot
            order.extend(numbers)
            order.extend((0, 0))

    def add_texts(self, numbers: Sequence[int], starts: Sequence[int]) -> None:
        """Note where the texts of `numbers` begin; they stand behind all that are known."""
        self._own("owners").extend(numbers)
        self._own("starts").extend(starts)

    def drop_texts(self, starts: Iterable[int]) -> None:
        """Note that the texts at `starts` are nobody's any more."""
        known = self["starts"]
        for start in starts:
            self._own("owners")[bisect_left(known, start)] = 0

    def packed(self, *, tight: bool = False) -> Iterator[tuple[str, bytes]]:
        """The arrays that were changed, as bytes; of new columns all.

        `tight` takes a third of the room, and for a large vault as long as all else that one edited file needs.
        """
        self._tidy()
        for name in sorted(_TYPES if self._packed is None else self.dirty):
            data = _packed(self[name])
            data = _deflated(data) if tight else data
            yield name, data + _check(data)
        self.dirty.clear()

    def _tidy(self) -> None:
        """Close the gaps that chats left which were laid down anew, once they are the most of it."""
        if "order" not in self.dirty or self["order"].count(0) <= len(self["order"]) * GAPS + FEW_GAPS:
            return
        order = array(_TYPES["order"], (0, 0))
        spots = self._own("spot")
        for number in self["order"]:
            if number:
                spots[number] = len(order)
                order.append(number)
            elif order[-1] or order[-2]:
                order.append(0)
        self._arrays["order"] = order

    def _own(self, name: str) -> "array[int]":
        """One of the arrays, to be changed."""
        found = self[name]
        if name not in self.dirty or isinstance(found, range):
            found = self._arrays[name] = array(_TYPES[name], found)
            self.dirty.add(name)
        return found


def _sound(packed: object) -> bytes:
    if not isinstance(packed, bytes) or _check(packed[:-_CHECK]) != packed[-_CHECK:]:
        raise ColumnsError("an array is damaged")
    return packed[:-_CHECK]


def _packed(found: "array[int] | range") -> bytes:
    """Its bytes, in the narrowest type that holds it, and that type."""
    count = len(found)
    if count and found[-1] == count and found == array("I", range(1, count + 1)):
        return array("Q", (count,)).tobytes() + _RANGE.encode()
    held = array("Q", found) if isinstance(found, range) else found
    for code in "" if held.typecode == "B" else "I" if count > _SMALL else "HI":
        try:
            return array(code, held).tobytes() + code.encode()
        except OverflowError:
            continue
    return held.tobytes() + held.typecode.encode()


def _deflated(packed: bytes) -> bytes:
    """The same, or what is shorter; numbers that rise have all but their lowest bytes in common."""
    code = packed[-1:]
    if code == _RANGE.encode():
        return packed
    size = array(code.decode()).itemsize
    shorter = compress(b"".join([packed[place:-1:size] for place in range(size)]), _LEVEL) + code + _DEFLATED
    return min(packed, shorter, key=len)


def _inflated(packed: bytes) -> bytes:
    try:
        data = decompress(packed[:-2])
    except deflate_error as error:
        raise ColumnsError("an array is damaged") from error
    size = array(packed[-2:-1].decode()).itemsize
    count = len(data) // size
    found = bytearray(len(data))
    for place in range(size):
        found[place::size] = data[place * count : (place + 1) * count]
    return bytes(found) + packed[-2:-1]


def _unpacked(packed: bytes) -> "array[int] | range":
    packed = _inflated(packed) if packed[-1:] == _DEFLATED else packed
    code = packed[-1:].decode("latin-1")
    found = array("Q" if code == _RANGE else code, packed[:-1])
    return range(1, found[0] + 1) if code == _RANGE else found


def _check(data: bytes) -> bytes:
    return crc32(data).to_bytes(_CHECK, "little")

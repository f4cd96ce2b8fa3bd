"""Terms that are spelt nearly like one that no memory holds: a slip of the finger still finds."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import lru_cache
from os.path import commonprefix

SHORTEST = 4  # characters; shorter words have too many neighbours
LONG = 8  # characters from which on two slips are forgiven
GUESSES = 3
REMEMBERED = 1_000  # unknown terms whose nearest are kept at hand
# Letters from which on a slip is surely one; each that a term has fewer halves what is believed. Measured on what
# people ask of a vault that does not hold it, beside words of the vault with a slip in them.
SWAPPED, DOUBLED, MISSING, BESIDE, VOWEL, OTHER, TWICE = 4, 4, 5, 5, 7, 8, 9
AT_THE_END = 1  # letters more where the last one is not what it was: endings make other words
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")  # elsewhere some keys have other places, but few
_ALIKE = frozenset({"ck", "kc", "cs", "sc"})  # what is written for one another by ear
_VOWELS = "aeiouy"
_LAST = "\U0010ffff"  # no term holds it
_UNSPACED = "\u0e00"  # from here on scripts whose terms are single characters and pairs


class Alike:
    """Terms that begin with the same letter, so laid out that those spelt nearly like another are quickly found."""

    def __init__(self, terms: Sequence[str]) -> None:
        """Of `terms`, sorted."""
        self._terms = terms
        self._by_end = sorted(terms, key=_reversed)
        self._ends = list(map(_reversed, self._by_end))
        self._sized: dict[int, list[str]] = {}
        for term in terms:
            self._sized.setdefault(len(term), []).append(term)
        self._known: dict[str, tuple[str, ...]] = {}

    def nearest(self, term: str, frequency: Callable[[str], int]) -> tuple[str, ...]:
        """As `nearest`, for a term that begins like these; `frequency` is the same in every call."""
        known = self._known.get(term)
        if known is None:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            near = self.within(term, 2 if len(term) >= LONG else 1)
            found = sorted((distance, -frequency(other), other) for other, distance in near if other.isalpha())
            held = [(distance, other) for distance, negative, other in found if negative]
            known = tuple(other for distance, other in held[:GUESSES] if distance == held[0][0])
            self._known[term] = known
        return known

    def within(self, term: str, slips: int) -> Sequence[tuple[str, int]]:
        """Those that differ from `term`, which begins like them, by so many slips at most, and by how many."""
        from rapidfuzz import process  # late: only a word that nobody wrote needs it
        from rapidfuzz.distance import OSA

        near = process.extract(term, self._like(term, slips), scorer=OSA.distance, score_cutoff=slips, limit=None)
        return [(other, int(distance)) for other, distance, _ in near]

    def _like(self, term: str, slips: int) -> Sequence[str]:
        """Those of `within`, and others."""
        lengths = range(len(term) - slips, len(term) + slips + 1)
        if slips > 1:
            return [other for length in lengths for other in self._sized.get(length, ())]
        half = len(term) // 2  # a single slip leaves one of the halves as it is, but for the letter between them
        first, last = _span(self._terms, term[:half])
        found = set(self._terms[first:last])
        first, last = _span(self._ends, _reversed(term[half + 1 :]))
        found.update(self._by_end[first:last])
        return [other for other in found if len(other) in lengths]


def nearest(term: str, alike: Callable[[str], Alike], frequency: Callable[[str], int]) -> tuple[str, ...]:
    """At most GUESSES terms of a vocabulary, the nearest to `term` and of these the most frequent.

    They begin alike and differ by one slip (a letter too many, too few, wrong, or two swapped: optimal
    string alignment), in long words by two. `alike` gives what begins with a letter.
    """
    if len(term) < SHORTEST or not term.isalpha() or term[0] >= _UNSPACED:
        return ()
    return alike(term[0]).nearest(term, frequency)


@lru_cache(maxsize=1 << 12)
def likely(term: str, other: str) -> float:
    """How likely it is that `term`, which nobody wrote, was meant to be `other`, above 0 and at most 1.

    Fingers swap two letters, double one, leave one out or hit the key beside; another letter makes another
    word, and in a short one nearly always. `other` is one of those that `nearest` gives.
    """
    missing = max(_letters_of(term, other) - len(term), 0)
    return float(0.5**missing)


def _letters_of(term: str, other: str) -> int:
    """From how many letters on `term` is surely `other` with a slip."""
    start = _shared(term, other)
    end = _shared(_reversed(term[start:]), _reversed(other[start:]))
    typed, meant = term[start : len(term) - end], other[start : len(other) - end]
    return _letters(typed, meant, term[start - 1 : start]) + (AT_THE_END if not end else 0)


def _letters(typed: str, meant: str, before: str) -> int:
    """The same where all that differs is that `meant` was `typed`, behind the letter `before`."""
    if len(typed) == 2 and typed == meant[::-1]:
        return SWAPPED
    if len(typed) > 1 or len(meant) > 1:
        return TWICE
    if not typed or not meant:
        return DOUBLED if before == (typed or meant) else OTHER if typed else MISSING
    if meant in _beside(typed) or typed + meant in _ALIKE:
        return BESIDE
    return VOWEL if typed in _VOWELS and meant in _VOWELS else OTHER


def _beside(letter: str) -> str:
    """The letters whose keys touch that of `letter`."""
    found = ""
    for row, keys in enumerate(_ROWS):
        if (at := keys.find(letter)) >= 0:
            found = keys[max(at - 1, 0) : at + 2]
            found += "".join(above[at : at + 2] for above in _ROWS[max(row - 1, 0) : row])
            found += "".join(below[max(at - 1, 0) : at + 1] for below in _ROWS[row + 1 : row + 2])
    return found


def _shared(term: str, other: str) -> int:
    return len(commonprefix((term, other)))  # noqa: RUF071  # by character, as meant


def _reversed(term: str) -> str:
    return term[::-1]


def _span(words: Sequence[str], start: str) -> tuple[int, int]:
    """From where to where the sorted `words` begin with `start`."""
    return bisect_left(words, start), bisect_left(words, start + _LAST)

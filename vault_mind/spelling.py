"""Terms that are spelt nearly like one that no memory holds: a slip of the finger still finds."""

from bisect import bisect_left
from collections.abc import Callable, Sequence

SHORTEST = 4  # characters; shorter words have too many neighbours
LONG = 8  # characters from which on two slips are forgiven
GUESSES = 3
REMEMBERED = 1_000  # unknown terms whose nearest are kept at hand
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


def _reversed(term: str) -> str:
    return term[::-1]


def _span(words: Sequence[str], start: str) -> tuple[int, int]:
    """From where to where the sorted `words` begin with `start`."""
    return bisect_left(words, start), bisect_left(words, start + _LAST)

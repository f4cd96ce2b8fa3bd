"""Terms that are spelt nearly like one that no memory holds: a slip of the finger still finds."""

from collections.abc import Callable, Sequence

SHORTEST = 4  # characters; shorter words have too many neighbours
LONG = 8  # characters from which on two slips are forgiven
GUESSES = 3
_UNSPACED = "\u0e00"  # from here on scripts whose terms are single characters and pairs


def nearest(
    term: str, vocabulary: Callable[[str, int], Sequence[str]], frequency: Callable[[str], int]
) -> tuple[str, ...]:
    """At most GUESSES terms of a vocabulary, the nearest to `term` and of these the most frequent.

    They begin alike and differ by one slip (a letter too many, too few, wrong, or two swapped: optimal
    string alignment), in long words by two. `vocabulary` gives what begins with a letter and has so many.
    """
    if len(term) < SHORTEST or not term.isalpha() or term[0] >= _UNSPACED:
        return ()
    from rapidfuzz import process  # late: only a word that nobody wrote needs it
    from rapidfuzz.distance import OSA

    most = 2 if len(term) >= LONG else 1
    near = [
        found
        for length in range(len(term) - most, len(term) + most + 1)
        for found in process.extract(
            term, vocabulary(term[0], length), scorer=OSA.distance, score_cutoff=most, limit=None
        )
    ]
    found = sorted((distance, -frequency(other), other) for other, distance, _ in near if other.isalpha())
    held = [(distance, other) for distance, negative, other in found if negative]
    return tuple(other for distance, other in held[:GUESSES] if distance == held[0][0])

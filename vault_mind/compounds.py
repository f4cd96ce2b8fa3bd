"""Words inside words: which terms of a vocabulary a term is part of, or is made of.

`Schlauch` is asked for and `Gartenschlauch` is written, or the other way round. No dictionary: the
vocabulary of the vault itself says what is a word.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence

PART = 4  # letters of a part; shorter ones stand in too many words that mean something else
REST = 3  # letters beside it; less is an ending
LINKS = ("", "s", "es", "n", "en", "er", "e")  # what Germanic compounds are joined with


def kin(
    term: str,
    vocabulary: Sequence[str],
    backwards: Sequence[str],
    frequency: Callable[[str], int] = lambda _: 1,
) -> list[str]:
    """The terms that begin or end with `term`, and the pairs of terms that it is made of.

    `vocabulary` is sorted; `backwards` are the same terms, each reversed, sorted: see `reversed_terms`.
    A term of theirs whose `frequency` is 0 counts as not there: the last memory with it is gone.
    """
    if len(term) < PART or not term.isalpha():
        return []
    longer = [*_beginning(term, vocabulary), *(found[::-1] for found in _beginning(term[::-1], backwards))]
    halves = _halves(term, lambda part: _holds(vocabulary, part) and frequency(part) > 0)
    return list(dict.fromkeys([*filter(frequency, longer), *halves]))


def reversed_terms(vocabulary: Iterable[str]) -> list[str]:
    """Each term from its end to its beginning, sorted."""
    return sorted(term[::-1] for term in vocabulary)


def _beginning(start: str, words: Sequence[str]) -> Iterator[str]:
    for at in range(bisect_left(words, start), len(words)):
        word = words[at]
        if not word.startswith(start):
            return
        if len(word) >= len(start) + REST and word.isalpha():
            yield word


def _halves(term: str, is_word: Callable[[str], bool]) -> Iterator[str]:
    for cut in range(PART, len(term) - PART + 1):
        first, second = term[:cut], term[cut:]
        if is_word(second):
            stripped = (first.removesuffix(link) for link in LINKS if first.endswith(link))
            if known := next((one for one in stripped if len(one) >= PART and is_word(one)), None):
                yield from (known, second)


def _holds(vocabulary: Sequence[str], term: str) -> bool:
    at = bisect_left(vocabulary, term)
    return at < len(vocabulary) and vocabulary[at] == term

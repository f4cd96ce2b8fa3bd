"""rank(memories, query, k): Okapi BM25 over analysed terms, pure. The index must agree with it."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log

from vault_mind.analysis import query_terms, terms
from vault_mind.memory import Memory

K1 = 1.2
B = 0.75


@dataclass(frozen=True)
class Hit:
    """A memory with its score: BM25, above 0, higher is better, comparable within one query only."""

    memory: Memory
    score: float


def rank(
    memories: Iterable[Memory],
    query: str,
    k: int,
    *,
    language: str = "english",
    keep: Callable[[Memory], bool] = lambda _: True,
) -> list[Hit]:
    """The `k` memories that best match any term of `query`, best first, ties by path.

    Those that `keep` turns away count in the statistics but are not given.
    """
    held = [(memory, Counter(terms(memory.searched, language))) for memory in memories]
    wanted = query_terms(query, language)
    frequencies = {term: sum(term in counts for _, counts in held) for term in wanted}
    average = sum(counts.total() for _, counts in held) / max(len(held), 1)
    hits = [Hit(memory, score(wanted, counts, frequencies, len(held), average)) for memory, counts in held]
    return best([hit for hit in hits if hit.score > 0 and keep(hit.memory)], k)


def score(
    wanted: Sequence[str], counts: Mapping[str, int], frequencies: Mapping[str, int], memories: int, average: float
) -> float:
    """BM25 of one memory, from its term counts, for the query terms `wanted`.

    Robertson & Zaragoza (2009), with the idf ln(1 + (N - df + 0.5) / (df + 0.5)), which stays
    above 0 for a term that most memories hold. `frequencies` are df, `memories` is N, `average`
    the mean number of terms in a memory.
    """
    length = sum(counts.values())
    total = 0.0
    for term in wanted:
        tf = counts.get(term, 0)
        if tf:
            idf = log(1 + (memories - frequencies[term] + 0.5) / (frequencies[term] + 0.5))
            total += idf * tf * (K1 + 1) / (tf + K1 * (1 - B + B * length / average))
    return total


def best(hits: Iterable[Hit], k: int) -> list[Hit]:
    """The `k` hits with the highest scores, ties by path."""
    return sorted(hits, key=lambda hit: (-hit.score, hit.memory.path))[: max(k, 0)]

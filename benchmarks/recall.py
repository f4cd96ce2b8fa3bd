"""How often the right memory comes up: recall of the index as a user has it, beside plainer recipes.

Data is a folder with `docs.jsonl`, `queries.jsonl` and `qrels.jsonl` (LoCoMo in this shape, for example:
facts, a sentence in the third person each, or turns, lines of dialogue), or, without any, the
questions of our own in benchmarks/questions. Every group of documents becomes a vault of real files.

R@10 is the share of the relevant memories that are among the first ten, nDCG@10 and MRR as usual,
means over questions that have an answer. Questions of type `adversarial` have none and are counted apart:
for those the share is given that the index says nothing fits for, beside the same share for the others.

    python benchmarks/recall.py [DATA ...] [--steps] [--by-type] [--embedding MODEL]
"""

import argparse
import json
import math
import os
import re
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from vault_mind import ranking
from vault_mind.embedding import open_embedder
from vault_mind.index import Index
from vault_mind.meaning import Meaning
from vault_mind.memory import compose
from vault_mind.vault import Vault

OWN = Path(__file__).parent / "questions"
K = 10
DEV_SHARE = 2  # every second group, or question of our own, is for choosing; the rest for scoring


@dataclass(frozen=True)
class Question:
    """A question with the paths that answer it; `half` is dev or test."""

    text: str
    kind: str
    relevant: frozenset[str]
    half: str
    now: datetime | None = None


@dataclass(frozen=True)
class Case:
    """A vault, as texts by path, and what is asked of it."""

    files: Mapping[str, str]
    questions: Sequence[Question]


def rows(file: Path) -> Iterator[dict[str, Any]]:
    """Each line of a JSON Lines file."""
    return (json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip())


def loaded(folder: Path) -> list[Case]:
    """The cases of a folder with docs, queries and qrels: a vault a group."""
    relevant: dict[str, set[str]] = defaultdict(set)
    for row in rows(folder / "qrels.jsonl"):
        relevant[row["query"]].add(row["doc"])
    files: dict[str, dict[str, str]] = defaultdict(dict)
    paths: dict[str, str] = {}
    for number, doc in enumerate(rows(folder / "docs.jsonl")):
        paths[doc["id"]] = f"memories/{number:06}.md"
        files[doc["group"]][paths[doc["id"]]] = memory(doc)
    asked: dict[str, list[Question]] = defaultdict(list)
    halves = {group: ("dev", "test")[at % DEV_SHARE] for at, group in enumerate(sorted(files))}
    for row in rows(folder / "queries.jsonl"):
        found = frozenset(paths[doc] for doc in relevant[row["id"]] if row["type"] != "adversarial")
        if found or row["type"] == "adversarial":
            asked[row["group"]].append(Question(row["text"], row["type"], found, halves[row["group"]]))
    return [Case(files[group], asked[group]) for group in sorted(files)]


def memory(doc: Mapping[str, Any]) -> str:
    """A document as the file that a chat would have written."""
    said = " ".join(part for part in (doc["text"], doc.get("caption") or "") if part)
    body = said if said.startswith(doc["speaker"]) else f"{doc['speaker']}: {said}"
    return compose(
        body, {"kind": "fact", "source": "chat", "created_at": doc["created_at"], "chat": f"chat-{doc['session']}"}
    )


def own() -> list[Case]:
    """The questions of our own, a vault a class."""
    files: dict[str, dict[str, str]] = defaultdict(dict)
    for row in rows(OWN / "memories.jsonl"):
        files[row["class"]][row["path"]] = compose(row["body"], row["frontmatter"])
    asked: dict[str, list[Question]] = defaultdict(list)
    for row in rows(OWN / "questions.jsonl"):
        kind = row["class"] if row["relevant"] else "adversarial"
        when = datetime.fromisoformat(row["now"])
        asked[row["class"]].append(Question(row["text"], kind, frozenset(row["relevant"]), row["half"], when))
    return [Case(files[name], asked[name]) for name in sorted(files)]


Recipe = Callable[[Case, Path], Iterable[tuple[Question, Sequence[str], bool]]]


def meaningful(setting: str) -> Recipe:
    """The index with meaning blended in, by the embedder that `setting` names."""
    embedder = open_embedder(setting, os.environ, models=Path(tempfile.gettempdir()) / "models")
    if embedder is None:
        sys.exit(f"{setting} names no embedder")

    def recipe(case: Case, folder: Path) -> Iterator[tuple[Question, Sequence[str], bool]]:
        return indexed(case, folder, Meaning(setting, lambda: embedder, folder / "vectors"))

    return recipe


def indexed(case: Case, folder: Path, meaning: Meaning | None = None) -> Iterator[tuple[Question, Sequence[str], bool]]:
    """What the index gives: paths, and whether it says that something fits."""
    root = folder / "vault"
    for path, text in case.files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    index = Index(Vault(root), folder=folder / "index", meaning=meaning)
    index.sync()
    index.embed()
    for question in case.questions:
        hits = index.ranked(question.text, K, now=question.now)
        yield question, [hit.memory.path for hit in hits], bool(hits) and hits[0].fit >= ranking.FITS
    index.close()


def plain(case: Case, _: Path) -> Iterator[tuple[Question, Sequence[str], bool]]:
    """The article's recipe: BM25 with k1 1.5 and b 0.75 over the words of the body in lower case, nothing else."""
    held = {path: Counter(_words(text.partition("\n---\n")[2])) for path, text in case.files.items()}
    frequencies = Counter(word for counts in held.values() for word in counts)
    average = sum(counts.total() for counts in held.values()) / len(held)
    for question in case.questions:
        scores: dict[str, float] = defaultdict(float)
        for word in set(_words(question.text)) & frequencies.keys():
            idf = math.log(1 + (len(held) - frequencies[word] + 0.5) / (frequencies[word] + 0.5))
            for path, counts in held.items():
                if tf := counts[word]:
                    scores[path] += idf * tf * 2.5 / (tf + 1.5 * (0.25 + 0.75 * counts.total() / average))
        yield question, _best(scores), True


def with_bm25s(case: Case, _: Path) -> Iterator[tuple[Question, Sequence[str], bool]]:
    """bm25s with its own stopwords and PyStemmer: what a careful user of that library gets."""
    import bm25s
    import Stemmer

    stemmer = Stemmer.Stemmer("english")
    paths = list(case.files)
    bodies = [text.partition("\n---\n")[2] for text in case.files.values()]
    retriever = bm25s.BM25(k1=1.2, b=0.75)
    retriever.index(bm25s.tokenize(bodies, stopwords="en", stemmer=stemmer, show_progress=False), show_progress=False)
    for question in case.questions:
        asked = bm25s.tokenize([question.text], stopwords="en", stemmer=stemmer, show_progress=False)
        found, scores = retriever.retrieve(asked, k=min(K, len(paths)), show_progress=False)
        yield question, [paths[at] for at, score in zip(found[0], scores[0], strict=True) if score > 0], True


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _best(scores: Mapping[str, float]) -> list[str]:
    return sorted(scores, key=lambda path: (-scores[path], path))[:K]


@contextmanager
def switched(**values: float) -> Iterator[None]:
    """Some of ranking's settings at other values."""
    before = {name: getattr(ranking, name) for name in values}
    for name, value in values.items():
        setattr(ranking, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(ranking, name, value)


@dataclass(frozen=True)
class Outcome:
    """How a question fared: recall, nDCG and reciprocal rank, and whether something was said to fit."""

    question: Question
    metrics: tuple[float, float, float]
    fits: bool


def measured(cases: Sequence[Case], recipe: Recipe) -> list[Outcome]:
    """How every question fared."""
    found = []
    for case in cases:
        with tempfile.TemporaryDirectory() as folder:
            for question, paths, fits in recipe(case, Path(folder)):
                found.append(Outcome(question, _metrics(paths, question.relevant), fits))
    return found


def _metrics(paths: Sequence[str], relevant: frozenset[str]) -> tuple[float, float, float]:
    if not relevant:
        return 0.0, 0.0, 0.0
    places = [at for at, path in enumerate(paths[:K]) if path in relevant]
    most = sum(1 / math.log2(at + 2) for at in range(min(K, len(relevant))))
    gain = sum(1 / math.log2(at + 2) for at in places)
    return len(places) / len(relevant), gain / most, 1 / (places[0] + 1) if places else 0.0


def line(name: str, found: Sequence[Outcome]) -> str:
    """A row of the table."""
    answered = [row for row in found if row.question.relevant]
    parts = []
    for half in ("dev", "test", ""):
        chosen = [row for row in answered if half in ("", row.question.half)]
        parts.append(" / ".join(f"{100 * _mean(row.metrics[at] for row in chosen):5.1f}" for at in range(3)))
    return f"{name:34} {parts[0]}  {parts[1]}  {parts[2]}  ({len(answered)} questions)"


def _mean(values: Iterable[float]) -> float:
    held = list(values)
    return sum(held) / len(held) if held else 0.0


STEPS: Sequence[tuple[str, dict[str, float]]] = (
    (
        "words alone",
        {"BESIDE": 0.0, "SECOND": 0.0, "LINKED": 0.0, "GUESSED": 0.0, "KIN": 0.0, "DATED": 0.0, "CLOSE": 0.0},
    ),
    ("+ what was learned beside it", {"LINKED": 0.0, "GUESSED": 0.0, "KIN": 0.0, "DATED": 0.0, "CLOSE": 0.0}),
    ("+ links", {"GUESSED": 0.0, "KIN": 0.0, "DATED": 0.0, "CLOSE": 0.0}),
    ("+ terms spelt nearly like unknown", {"KIN": 0.0, "DATED": 0.0, "CLOSE": 0.0}),
    ("+ parts of compounds", {"DATED": 0.0, "CLOSE": 0.0}),
    ("+ the time that is asked about", {"CLOSE": 0.0}),
    ("+ words near one another", {}),
)


def report(name: str, cases: Sequence[Case], arguments: argparse.Namespace) -> None:
    """Print the tables of one set of data."""
    print(f"\n{name}: R@10 / nDCG@10 / MRR on dev, on test, on both")
    print(line("the article's recipe", measured(cases, plain)))
    try:
        print(line("bm25s, stopwords and stemmer", measured(cases, with_bm25s)))
    except ImportError:
        print("bm25s is not installed: pip install bm25s")
    for step, values in STEPS if arguments.steps else STEPS[-1:]:
        with switched(**values):
            found = measured(cases, indexed)
        print(line(step if arguments.steps else "vault-mind", found))
    if arguments.embedding:
        found = measured(cases, meaningful(arguments.embedding))
        print(line("with meaning blended in", found))
    if arguments.by_type:
        for kind in sorted({row.question.kind for row in found} - {"adversarial"}):
            print(line(f"  {kind}", [row for row in found if row.question.kind == kind]))
    answered = [row.fits for row in found if row.question.relevant]
    nothing = [row.fits for row in found if not row.question.relevant]
    said = f"said to fit nothing: {100 * (1 - _mean(answered)):.1f}% of {len(answered)} questions that have an answer"
    print(f"{said}, {100 * (1 - _mean(nothing)):.1f}% of {len(nothing)} that have none")


def main() -> None:
    """Read the command line and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="*", type=Path, help="folders with docs, queries and qrels; else our own")
    parser.add_argument("--steps", action="store_true", help="what each step of ranking brings")
    parser.add_argument("--by-type", action="store_true", help="a row for each type of question")
    parser.add_argument("--embedding", metavar="MODEL", help="also with meaning, as the setting embedding_model")
    arguments = parser.parse_args()
    if not arguments.data:
        report("questions of our own", own(), arguments)
    for folder in arguments.data:
        report(folder.name, loaded(folder), arguments)


if __name__ == "__main__":
    main()

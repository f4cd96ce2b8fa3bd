"""How fast search is, as ratios: each figure beside a named reference that runs in turn with it.

Vaults of made-up memories (benchmarks/vaults.py) and their indexes are kept in FOLDER from one run to the
next. Whole processes are timed as wall time; Python's bytecode is compiled first, HOME is a folder of
its own. References are ripgrep (`rg` on PATH: pip install ripgrep==14.1.0), tantivy alone, and plain Python
that lists or reads the same files. Runs alternate, so that both meet the same load; ratios are of medians.

    python benchmarks/speed.py FOLDER [--sizes 10000 100000] [--rounds 11] [--only NAME ...]
"""

import argparse
import compileall
import os
import random
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import tantivy
import vaults

import vault_mind
from vault_mind.analysis import query_terms
from vault_mind.index import Index
from vault_mind.readers import RACY
from vault_mind.regex import Pattern
from vault_mind.vault import Vault

QUESTIONS = 300
PATTERNS = ("gairdair", "gair(dair|vul)", "user z[aeiou]+n", "(?i)ZELLOR", r"\bsoun\w+fal\w*")
ONE_WORD = "gairdair"
HELP = ("-c", "import typer, rich.console")


@dataclass(frozen=True)
class Bench:
    """A vault of a size, with its index, and a home for the commands that search it."""

    size: int
    vault: Path
    home: Path

    def index(self) -> Index:
        """Its index, as a program opens it; the commands use the same."""
        os.environ["XDG_CACHE_HOME"] = str(self.home / ".cache")
        return Index(Vault(self.vault))

    def run(self, *words: str) -> float:
        """Seconds that a command takes as a whole process."""
        kept = {n: v for n, v in os.environ.items() if not n.startswith(("VAULT_MIND_", "ANTHROPIC_", "XDG_"))}
        kept.pop("PYTHONDONTWRITEBYTECODE", None)
        environment = {**kept, "HOME": str(self.home), "VAULT_MIND_VAULT": str(self.vault)}
        start = time.perf_counter()
        done = subprocess.run(words, env=environment, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        took = time.perf_counter() - start
        if done.returncode > 1:
            sys.exit(f"{' '.join(words)}: {done.stderr.decode()}")
        return took


def ours() -> str:
    """The installed command."""
    return shutil.which("vault-mind", path=sysconfig.get_path("scripts")) or sys.exit("vault-mind is not installed")


def ripgrep() -> str:
    """The reference."""
    return shutil.which("rg") or sys.exit("there is no rg on PATH: pip install ripgrep==14.1.0")


def made(folder: Path, size: int) -> Bench:
    """The vault of that size, made when it is missing, and indexed."""
    bench = Bench(size, folder / f"vault-{size}", folder / f"home-{size}")
    if not bench.vault.exists():
        print(f"making a vault of {size:,} memories", flush=True)
        vaults.build(bench.vault, size)
        time.sleep(RACY / 1e9 + 0.1)  # files this young would be read again by every search
    index = bench.index()
    index.sync()
    index.close()
    return bench


def timed(work: Callable[[], object]) -> float:
    """Seconds that `work` takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def alternated(
    own: Callable[[], float], reference: Callable[[], float], rounds: int
) -> tuple[list[float], list[float]]:
    """Both, in turn, after one of each that does not count."""
    own(), reference()
    pairs = [(reference(), own()) for _ in range(rounds)]
    return [pair[1] for pair in pairs], [pair[0] for pair in pairs]


def told(what: str, own: float, reference: float, bound: float | None, unit: float = 1e3, name: str = "ms") -> None:
    """A row of the table."""
    ratio = own / reference
    verdict = "" if bound is None else f"bound {bound:g}: {'within' if ratio <= bound else 'OVER'}"
    print(
        f"{what:52} {own * unit:9.2f} {name}  reference {reference * unit:9.2f}  {ratio:6.2f} x  {verdict}", flush=True
    )


def warm(bench: Bench, _: int) -> None:
    """Ranked queries in a running process, beside tantivy alone: the same terms, its ten best with their paths."""
    index = bench.index()
    index.sync()
    with tempfile.TemporaryDirectory() as folder:
        reference = _tantivy_alone(bench, Path(folder))
        asked = vaults.questions(QUESTIONS)
        for question in asked:
            index.ranked(question, 10)
            reference(question)
        own, theirs = [], []
        for _ in range(3):
            for question in asked:
                theirs.append(timed(lambda q=question: reference(q)))  # type: ignore[misc]
                own.append(timed(lambda q=question: index.ranked(q, 10)))  # type: ignore[misc]
    index.close()
    for share, name in ((0.5, "p50"), (0.99, "p99")):
        told(
            f"warm ranked query {name}, {bench.size:,} / tantivy", _quantile(own, share), _quantile(theirs, share), 2.0
        )


def _tantivy_alone(bench: Bench, folder: Path) -> Callable[[str], list[str]]:
    from vault_mind.ranking import searched_terms

    schema = tantivy.SchemaBuilder()
    schema.add_text_field("terms", tokenizer_name="analysed", index_option="freq")
    schema.add_text_field("path", stored=True, tokenizer_name="raw", index_option="basic")
    schema.add_text_field("text", stored=True, tokenizer_name="raw", index_option="basic")
    index = tantivy.Index(schema.build(), path=str(folder))
    whitespace = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
    index.register_tokenizer("analysed", whitespace)
    writer = index.writer(50_000_000, 1)
    for memory in Vault(bench.vault).memories():
        held = " ".join(searched_terms(memory, "english"))
        writer.add_document(tantivy.Document(terms=held, path=memory.path, text=memory.text))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher, query = index.searcher(), tantivy.Query

    def search(question: str) -> list[str]:
        terms = (query.term_query(index.schema, "terms", term, index_option="freq") for term in query_terms(question))
        either = query.boolean_query([(tantivy.Occur.Should, term) for term in terms])
        return [searcher.doc(address)["path"][0] for _, address in searcher.search(either, 10, count=False).hits]

    return search


def _quantile(values: Sequence[float], share: float) -> float:
    return sorted(values)[int(share * (len(values) - 1))]


def one_shot(bench: Bench, rounds: int) -> None:
    """`vault-mind search` as a fresh process, nothing changed, beside `rg -c` for a word."""
    bounds = {10_000: 3.5, 100_000: 0.6}
    own, theirs = alternated(
        lambda: bench.run(ours(), "search", "what did the user gairdair zellor"),
        lambda: bench.run(ripgrep(), "-c", ONE_WORD, str(bench.vault)),
        rounds,
    )
    told(f"one-shot search, {bench.size:,} / rg -c", median(own), median(theirs), bounds.get(bench.size))


def grep(bench: Bench, rounds: int) -> None:
    """`vault-mind grep` as a fresh process, five patterns, beside rg for the same."""
    for pattern in PATTERNS:
        own, theirs = alternated(
            lambda p=pattern: bench.run(ours(), "grep", p),  # type: ignore[misc]
            lambda p=pattern: bench.run(ripgrep(), "-n", p, str(bench.vault)),  # type: ignore[misc]
            rounds,
        )
        bound = 0.5 if bench.size >= 100_000 else None
        told(f"one-shot grep {pattern}, {bench.size:,} / rg", median(own), median(theirs), bound)


def regex(bench: Bench, rounds: int) -> None:
    """A regex in a running process, beside rg; and again with its lines made, as they are when they are shown."""
    index = bench.index()
    index.sync()
    for pattern in PATTERNS:
        compiled = Pattern(pattern)
        own, theirs = alternated(
            lambda c=compiled: timed(lambda: list(index.grepped(c))),  # type: ignore[misc]
            lambda p=pattern: bench.run(ripgrep(), "-n", p, str(bench.vault)),  # type: ignore[misc]
            rounds,
        )
        bound = 0.1 if bench.size >= 100_000 else None
        told(f"regex in a process {pattern}, {bench.size:,} / rg", median(own), median(theirs), bound)
        own, theirs = alternated(
            lambda c=compiled: timed(lambda: [list(lines) for _, lines in index.grepped(c)]),  # type: ignore[misc]
            lambda p=pattern: bench.run(ripgrep(), "-n", p, str(bench.vault)),  # type: ignore[misc]
            rounds,
        )
        told("  with its lines made", median(own), median(theirs), bound)
    index.close()


def sync(bench: Bench, rounds: int) -> None:
    """A sync where nothing changed, beside scandir and stat of every file."""
    index = bench.index()
    index.sync()
    own, theirs = alternated(lambda: timed(index.sync), lambda: timed(lambda: scanned(bench.vault)), 2 * rounds)
    index.close()
    told(f"sync of nothing changed, {bench.size:,} / scandir + stat", median(own), median(theirs), 1.3)


def scanned(folder: Path) -> int:
    """Scandir and stat of every file below `folder`."""
    count, folders = 0, [str(folder)]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                else:
                    entry.stat(follow_symlinks=False)
                    count += 1
    return count


def first(bench: Bench, rounds: int) -> None:
    """The first index of all, in a process of its own, beside reading every byte once; its peak memory and size."""
    code = (
        "import sys, time; from pathlib import Path; from vault_mind import Index, Vault\n"
        "start = time.perf_counter(); index = Index(Vault(sys.argv[1]), folder=Path(sys.argv[2])); index.sync()\n"
        "from vault_mind.readers import MOST; import os; from resource import getrusage, RUSAGE_SELF, RUSAGE_CHILDREN\n"
        "peak = getrusage(RUSAGE_SELF).ru_maxrss\n"
        "peak += getrusage(RUSAGE_CHILDREN).ru_maxrss * min(os.cpu_count() or 1, MOST)\n"
        "took = time.perf_counter() - start; index.close(); print(took, peak, index.size())"
    )
    taken, read, peaks, size = [], [], [], 0.0
    for _ in range(max(rounds // 4, 2)):
        with tempfile.TemporaryDirectory() as folder:
            read.append(timed(lambda: whole(bench.vault)))
            words = [sys.executable, "-c", code, str(bench.vault), folder + "/index"]
            done = subprocess.run(words, check=True, capture_output=True, text=True)
            took, peak, size = map(float, done.stdout.split())
            taken.append(took)
            peaks.append(peak / 1024)
    told(f"first index, {bench.size:,} / reading every byte", median(taken), median(read), 4.0)
    told("  its peak memory, all processes / 400 MB", max(peaks), 400, 1.0, 1, "MB")
    told("  its size on disk / bytes of the vault", size / 1e6, whole(bench.vault) / 1e6, 1.5, 1, "MB")


def whole(folder: Path) -> int:
    """The bytes below `folder`, each read once."""
    return sum(len(Path(parent, name).read_bytes()) for parent, _, names in os.walk(folder) for name in names)


def edited(bench: Bench, rounds: int) -> None:
    """One file edited and then a search in a running process, beside the same search with nothing changed."""
    index = bench.index()
    file = sorted((bench.vault / "000").iterdir())[0]
    text = file.read_text()
    chosen = random.Random(0)

    def changed() -> float:
        file.write_text(text + f"\n{chosen.random()}\n")
        return timed(lambda: index.search("gairdair", 10))

    own, theirs = alternated(changed, lambda: timed(lambda: index.search("gairdair", 10)), rounds)
    file.write_text(text)
    index.sync()
    index.close()
    more = median(own) - median(theirs)
    verdict = "within" if more <= 0.15 else "OVER"
    print(
        f"{f'edit, then search, {bench.size:,}: beyond the search':52} {more * 1e3:9.2f} ms  bound 150 ms: {verdict}",
        flush=True,
    )


def remember(bench: Bench, rounds: int) -> None:
    """`vault-mind remember` as a fresh process, beside `search`."""
    number = iter(range(10**6))
    before = {path.name for path in (bench.vault / "memories").glob("*")}
    own, theirs = alternated(
        lambda: bench.run(ours(), "remember", f"The spare key number {next(number)} is with neighbour {next(number)}."),
        lambda: bench.run(ours(), "search", "where is the spare key"),
        rounds,
    )
    for path in (bench.vault / "memories").glob("*"):
        if path.name not in before:
            path.unlink()
    index = bench.index()
    index.sync()
    index.close()
    told(f"one-shot remember, {bench.size:,} / one-shot search", median(own), median(theirs), 1.3)


def started(bench: Bench, rounds: int) -> None:
    """`vault-mind --help`, beside a Python that imports what any Typer and Rich program imports."""
    own, theirs = alternated(lambda: bench.run(ours(), "--help"), lambda: bench.run(sys.executable, *HELP), rounds)
    told("vault-mind --help / import typer, rich.console", median(own), median(theirs), 2.5)


ALL = (started, warm, one_shot, remember, sync, edited, regex, grep, first)


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where vaults and indexes are kept")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--only", nargs="+", choices=[each.__name__ for each in ALL])
    arguments = parser.parse_args()
    compileall.compile_dir(str(Path(vault_mind.__file__).parent), quiet=2)
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    for size in arguments.sizes:
        bench = made(arguments.folder, size)
        for measure in ALL:
            if not arguments.only or measure.__name__ in arguments.only:
                measure(bench, arguments.rounds)


if __name__ == "__main__":
    main()

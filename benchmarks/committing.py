"""What a turn's commit costs, as a ratio to `git commit --only` by hand in the same repository.

Vaults of made-up memories (benchmarks/vaults.py), each a repository of its own, are kept in FOLDER from one run to the
next. A turn changes one memory, or learns a new one; by hand that is `git commit --only -- FILE`, after `git add FILE`
for a new one. Both alternate, so that they meet the same load; ratios are of medians.

    python benchmarks/committing.py FOLDER [--sizes 100 10000 100000] [--rounds 15]
"""

import argparse
import itertools
import os
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

import vaults

from vault_mind.commits import commit
from vault_mind.history import History
from vault_mind.past import memories_at, tree_at, why
from vault_mind.undo import plan

WHO = {f"GIT_{who}_{what}": f"bench@{who}" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
TRAILERS = {"Source": "chat", "Chat": "bench", "Model": "none", "Turn": "bench"}


def git(vault: Path, *words: str) -> None:
    """Run git as its owner would."""
    subprocess.run(["git", *words], cwd=vault, check=True, stdout=subprocess.DEVNULL)


def made(folder: Path, size: int) -> Path:
    """The vault of that size, made and committed when it is missing."""
    vault = folder / f"vault-{size}"
    if not (vault / ".git").exists():
        print(f"making a vault of {size:,} memories", flush=True)
        vaults.build(vault, size)
        git(vault, "init", "--quiet")
        git(vault, "add", "--all")
        git(vault, "-c", "gc.auto=0", "commit", "--quiet", "--message", "all")
        git(vault, "-c", "gc.auto=0", "repack", "-adq")
    return vault


def ours(history: History, path: str, text: str) -> float:
    """Seconds of a turn's commit."""
    file = history.root / path
    before = {path: file.read_bytes()} if file.exists() else {}
    file.write_text(text)
    start = time.perf_counter()
    outcome = commit(history, [path], "Learned", TRAILERS, before=before)
    took = time.perf_counter() - start
    assert outcome.version is not None, outcome
    return took


def theirs(vault: Path, path: str, text: str) -> float:
    """Seconds of the same by hand."""
    fresh = not (vault / path).exists()
    (vault / path).write_text(text)
    start = time.perf_counter()
    if fresh:
        git(vault, "add", "--", path)
    git(vault, "commit", "--quiet", "--only", "--message", "Learned", "--", path)
    return time.perf_counter() - start


def told(what: str, own: float, reference: float) -> None:
    """A row of the table."""
    print(f"{what:52} {own * 1e3:9.1f} ms  by hand {reference * 1e3:9.1f} ms  {own / reference:6.2f} x", flush=True)


def measured(vault: Path, size: int, rounds: int) -> None:
    """Commits in turn, then what is asked of the history."""
    history = History(vault)
    (vault / "memories").mkdir(exist_ok=True)
    numbers = itertools.count(time.time_ns())
    for what, path in (("changes one of", "000/m000001.md"), ("adds one to", "memories/{}.md")):
        own, reference = [], []
        for _ in range(rounds + 1):
            text = vaults.Writer(next(numbers)).memory(1) if size <= 1_000 else f"The user said {next(numbers)}.\n"
            reference.append(theirs(vault, path.format(next(numbers)), text))
            own.append(ours(history, path.format(next(numbers)), text + "And more.\n"))
        told(f"a turn that {what} {size:,}", median(own[1:]), median(reference[1:]))
    for name, work in (
        ("the last turn planned to be undone", lambda: plan(history)),
        ("the version of today", lambda: tree_at(history, datetime.now(UTC))),
        ("every memory of a version read", lambda: sum(1 for _ in memories_at(history, "HEAD"))),
        ("the story of a memory", lambda: why(history, "000/m000001.md")),
    ):
        start = time.perf_counter()
        work()
        print(f"{f'{name}, {size:,}':52} {(time.perf_counter() - start) * 1e3:9.1f} ms", flush=True)


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where vaults are kept")
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 10_000, 100_000])
    parser.add_argument("--rounds", type=int, default=15)
    arguments = parser.parse_args()
    os.environ |= WHO | {"XDG_STATE_HOME": str(arguments.folder / "state")}
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    for size in arguments.sizes:
        measured(made(arguments.folder, size), size, arguments.rounds)


if __name__ == "__main__":
    main()

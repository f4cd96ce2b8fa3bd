"""How soon an edit is noticed, and what an unchanged vault costs a watcher.

Vaults of made-up memories and their indexes are those of benchmarks/speed.py, kept in FOLDER. A watcher runs as the
real command in a process of its own, at its usual pace; times are from before the save until its line has come, and
until a search in a process that runs already finds the new word. The bare reference of an edit is one look without a
watcher: a sync that takes it in. The sync of an unchanged vault is taken beside os.scandir and stat of the same tree.
Runs alternate; ratios are of medians.

    python benchmarks/watching.py FOLDER [--sizes 10000 100000] [--rounds 11]
"""

import argparse
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import IO

import speed


@contextmanager
def watching(bench: speed.Bench) -> Iterator[IO[str]]:
    """The real `vault-mind watch` at work on the vault, and what it prints."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("VAULT_MIND_", "XDG_"))}
    environment = {**kept, "HOME": str(bench.home), "VAULT_MIND_VAULT": str(bench.vault), "PYTHONUNBUFFERED": "1"}
    pipe, command = subprocess.PIPE, [speed.ours(), "watch"]
    with subprocess.Popen(command, env=environment, text=True, stdout=pipe, stderr=pipe) as process:
        if not process.stdout or not process.stderr:
            sys.exit("it has no pipes")
        line = "-"
        while line and not line.startswith("watching "):
            line = process.stderr.readline()
        try:
            yield process.stdout
        finally:
            process.terminate()


def edits(bench: speed.Bench, rounds: int) -> None:
    """From the save until the watcher's line; from the save until another process's search finds it."""
    index = bench.index()
    index.sync()
    file = sorted((bench.vault / "000").iterdir())[0]
    text = file.read_text("utf-8")
    noticed, found, alone = [], [], []

    def saved() -> tuple[str, float]:
        word = f"zz{secrets.token_hex(6)}"
        start = time.perf_counter()
        file.write_text(f"{text}\n{word}\n", "utf-8")
        return word, start

    with watching(bench) as lines:
        for _ in range(rounds):
            _, start = saved()
            if file.name not in lines.readline():
                sys.exit("the watcher told of something else")
            noticed.append(time.perf_counter() - start)
            word, start = saved()
            if [hit.memory.path for hit in index.search(word, 1)] != [f"000/{file.name}"]:
                sys.exit("a search did not find what was saved before it")
            found.append(time.perf_counter() - start)
            lines.readline()
    for _ in range(rounds):
        _, start = saved()
        index.sync()
        alone.append(time.perf_counter() - start)
    file.write_text(text, "utf-8")
    index.sync()
    index.close()
    speed.told(f"edit until the watcher tells, {bench.size:,} / its sync", median(noticed), median(alone), None)
    speed.told("  the slowest", max(noticed), median(alone), None)
    speed.told(f"edit until a search has found it, {bench.size:,} / its sync", median(found), median(alone), None)


def unchanged(bench: speed.Bench, rounds: int) -> None:
    """What each look costs when nothing changed."""
    speed.sync(bench, rounds)


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where vaults and indexes are kept")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--rounds", type=int, default=11)
    arguments = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    for size in arguments.sizes:
        bench = speed.made(arguments.folder.resolve(), size)
        unchanged(bench, arguments.rounds)
        edits(bench, arguments.rounds)


if __name__ == "__main__":
    main()

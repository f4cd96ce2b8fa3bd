"""What a tidy takes, as ratios to the first index of the same vault: looking, neighbours for a model, carrying out.

Vaults of made-up memories (benchmarks/vaults.py) in a temporary folder; every hundredth memory is there a second time,
said later, under a name of the same words. Seconds are of this process's CPU and its children's, so that what else the
machine does counts little.

    python benchmarks/tidying.py [--sizes 1000 10000]
"""

import argparse
import os
import re
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import vaults

from vault_mind.config import Settings
from vault_mind.index import Index
from vault_mind.record import Record
from vault_mind.settling import Settling
from vault_mind.tidying import estimate, neighbourhoods, survey
from vault_mind.vault import Vault, slug

EVERY = 100
NOW = datetime(2027, 1, 1, tzinfo=UTC)

T = TypeVar("T")


def made(folder: Path, size: int) -> tuple[Vault, int]:
    """A vault of `size`, and how many of its memories are there twice."""
    vaults.build(folder, size)
    twice = 0
    for number in range(0, size, EVERY):
        file = folder / f"{number // vaults.FOLDER:03d}" / f"{vaults.stem(number)}.md"
        text = file.read_text("utf-8")
        name = slug(text.rpartition("---\n\n")[2])
        file.rename(file.with_name(f"{name}.md"))
        file.with_name(f"{name}-2.md").write_text(re.sub(r"(?m)^(created_at: )\d{4}", r"\g<1>2026", text), "utf-8")
        twice += 1
    return Vault(folder), twice


def timed(work: Callable[..., T], *given: object) -> tuple[float, T]:
    """CPU seconds that `work` takes, and what it gives."""
    start = sum(os.times()[:4])
    found = work(*given)
    return sum(os.times()[:4]) - start, found


def main() -> None:
    """Measure each size."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000])
    for size in parser.parse_args().sizes:
        with tempfile.TemporaryDirectory() as home:
            for name in ("CACHE", "STATE"):
                os.environ[f"XDG_{name}_HOME"] = f"{home}/{name}"
            vault, twice = made(Path(home) / "vault", size)
            time.sleep(2.1)  # files this young would be read again by every sync
            index, settings = Index(vault), Settings()
            first, _ = timed(index.sync)
            look, found = timed(survey, index, settings, NOW)
            near, batches = timed(neighbourhoods, found, index, settings, NOW)
            settling = Settling(vault, index, Record(vault, "off"), settings, NOW)
            carry, done = timed(settling.carry_out, found.duplicates)
            index.close()
        marked = sum(len(each.gone) for each in done.done)
        print(f"{size:,} memories, {twice} of them twice: {marked} set aside, {len(done.back)} taken back")
        print(f"  the first index                {first:8.2f} s")
        print(f"  looking for duplicates         {look:8.2f} s  {look / first:6.2f} x")
        print(
            f"  neighbours for a model         {near:8.2f} s  {near / first:6.2f} x  {estimate(batches).calls:,} calls"
        )
        print(f"  marking and checking           {carry:8.2f} s  {carry / first:6.2f} x  {done.questions:,} questions")


if __name__ == "__main__":
    main()

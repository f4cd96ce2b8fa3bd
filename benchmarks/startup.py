"""How long a command takes from nothing, beside what any Typer and Rich program takes.

Measures the wall time of whole processes: `vault-mind search` (the index of a copy of sample_vault is
built and up to date) and `vault-mind --help`, each right after the reference, a Python that only
imports typer and rich.console. Both run under the same load, so that the ratio of their medians says
how much is ours, on any machine. Bytecode is compiled first; HOME is a temporary folder; no network.

    python benchmarks/startup.py [PAIRS]
"""

import compileall
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

import vault_mind
from vault_mind.readers import RACY

PAIRS = 15
REFERENCE = (sys.executable, "-c", "import typer, rich.console")
SAMPLE = Path(__file__).parent.parent / "sample_vault"
QUESTION = "how does the user take coffee"
BOUNDS = {"search": 4.0, "--help": 2.5}  # times the reference


def command() -> tuple[str, ...]:
    """The installed command, or the package run as a module where there is none."""
    script = shutil.which("vault-mind", path=sysconfig.get_path("scripts"))
    return (script,) if script else (sys.executable, "-m", "vault_mind")


def bare(home: Path) -> dict[str, str]:
    """The environment of a user who has set nothing."""
    ours = ("VAULT_MIND_", "ANTHROPIC_", "XDG_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    kept.pop("PYTHONDONTWRITEBYTECODE", None)
    return {**kept, "HOME": str(home), "VAULT_MIND_VAULT": str(home / "vault")}


def seconds(words: Sequence[str], environment: Mapping[str, str]) -> float:
    """The wall time of one process, which must succeed."""
    start = time.perf_counter()
    subprocess.run(words, env=environment, check=True, capture_output=True)
    return time.perf_counter() - start


def compared(words: Sequence[str], environment: Mapping[str, str], pairs: int) -> tuple[float, float]:
    """The medians of the reference and of `words`, run in turn; each has run once before."""
    seconds(REFERENCE, environment)
    seconds(words, environment)
    took = [(seconds(REFERENCE, environment), seconds(words, environment)) for _ in range(pairs)]
    return median(reference for reference, _ in took), median(own for _, own in took)


def main(pairs: int) -> None:
    """Measure both commands and print a line for each."""
    compileall.compile_dir(str(Path(vault_mind.__file__).parent), quiet=2)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        environment = bare(home)
        shutil.copytree(SAMPLE, home / "vault")
        time.sleep(RACY / 1e9 + 0.1)  # files this young would be read again by every search
        print(f"{pairs} pairs, medians; the reference is: python {' '.join(REFERENCE[1:])}")
        for name, rest in {"search": ["search", QUESTION], "--help": ["--help"]}.items():
            reference, own = compared([*command(), *rest], environment, pairs)
            ratio, bound = own / reference, BOUNDS[name]
            verdict = "within" if ratio <= bound else "OVER"
            print(
                f"vault-mind {name:6} {own * 1000:6.0f} ms, reference {reference * 1000:4.0f} ms: "
                f"{ratio:.2f} times, {verdict} the bound of {bound}"
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else PAIRS)

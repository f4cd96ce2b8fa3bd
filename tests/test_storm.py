"""A short slice of every storm, on seeds that stay and on one that does not; `make storm` lets loose all of them."""

import os
import random
import subprocess
import sys

import pytest

if os.name == "nt":
    pytest.skip("it forks and kills", allow_module_level=True)

from tests.storm import REPOSITORY, STORMS, Options, Tally, blow, steps

CHANCE = random.SystemRandom().randrange(10**9)
SLICE = {"kills": 9, "edits": 60, "writers": 3, "seconds": 0.8}


def blown(name: str, seed: int) -> Tally:
    """What a short storm of that name tried and lost; the seed is printed, for when it fails."""
    print(f"seed {seed}")
    return blow(Options(seed, **SLICE), [name])  # type: ignore[arg-type]  # whole numbers where they are asked for


@pytest.mark.parametrize("name", [name for name in STORMS if name not in ("steps", "kills")])
def test_a_short_storm_loses_nothing(name: str) -> None:
    tally = blown(name, CHANCE)

    assert tally.lost == []
    assert tally.tried.total() > 0


@pytest.mark.parametrize("seed", [20261129, CHANCE], ids=["the same", "another"])
def test_processes_that_are_killed_lose_nothing(seed: int) -> None:
    tally = blown("kills", seed)

    assert tally.lost == []
    assert tally.tried.total() == SLICE["kills"]


@pytest.mark.parametrize("seed", [20261129, CHANCE], ids=["the same", "another"])
def test_a_process_that_dies_at_any_step_loses_nothing(seed: int) -> None:
    tally = Tally()
    print(f"seed {seed}")

    steps(Options(seed), tally, every=50)

    assert tally.lost == []
    assert tally.tried.total() > 2


def test_a_storm_says_its_seed_first_and_ends_with_a_table() -> None:
    command = [sys.executable, "-m", "tests.storm", "--seed", "7", "--only", "clock", "dead_locks"]

    ended = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY, timeout=60, check=False)

    lines = ended.stdout.splitlines()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert lines[0] == "seed 7"
    assert lines[-3:-1] == ["leaps of the clock       12", "locks of the dead         2"]
    assert lines[-1].split() == ["lost", "0", "(seed", "7)"]


@pytest.mark.storm
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", list(STORMS))
def test_a_whole_storm_loses_nothing(name: str) -> None:
    print(f"seed {CHANCE}")

    assert blow(Options(CHANCE), [name]).lost == []

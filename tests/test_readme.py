"""The README is a promise: every command and option that it shows is run here."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import NOW, Run
from tests.watching import Command
from vault_mind.cli import app
from vault_mind.dates import period
from vault_mind.embedding import open_embedder
from vault_mind.repl import COMMANDS
from vault_mind.stopwords import FUNCTION_WORDS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")
NOTE = "memories/the-user-s-name-is-jonna-said-yonna-only-the-tax-office.md"

# Every option of the README's table, in a call that must end with the exit code beside it.
CALLS = [
    (0, "init other --sample --no-git"),
    (0, "chat --offline -m hello --model some-model"),
    (0, "learn --again --offline --json"),
    (0, "remember The kettle whistles. --kind fact --tag kitchen --json"),
    (0, "remember -"),
    (0, "search coffee -k 5 --all --json"),
    (0, "search coffee --paths --plain --pinned-first"),
    (0, "search coffee --explain"),
    (0, "search coffee --as-of today"),
    (0, "grep coffee -i -w -l"),
    (0, "grep coffee -F --json"),
    (0, "grep -S -c -e coffee -e Biscuit"),
    (0, "grep -U -o coffee"),
    (0, "grep -v coffee -C 1 -B 2 -A 0"),
    (0, "list --before 2027 --paths"),
    (0, "list --kind fact --tag family --source import:contacts --since 2026-01-01 --json"),
    (0, "list --paths --as-of 2026-12"),
    (0, "show jonna --json --as-of today"),
    (0, "edit jonna"),
    (0, "forget kettle --yes"),
    (0, "forget kettle --purge --yes --json"),
    (0, "forget --purge --phrase whistles --force --backup before.bundle --yes"),
    (0, "undo --yes"),
    (0, "log jonna -n 5 --json"),
    (1, "diff --path jonna"),
    (0, "why jonna --json"),
    (0, "tidy --duplicates-only --offline --yes --json"),
    (0, "tidy --dry-run"),
    (0, "stats --json"),
    (0, "doctor --all"),
    (0, "doctor --json"),
    (0, "doctor --roundtrip"),
    (2, "embed --download --json"),  # no model is set here; test_cli runs it with one
    (0, "rebuild"),
    (0, "eval duplicates --offline --limit 20 --json --out some.jsonl"),
    (0, "eval --mind worst --limit 2 --yes"),
    (2, "eval --resume none.jsonl --compare none.jsonl --model small"),  # test_evaluation runs it with some
    (0, "config --json"),
    (0, "version"),
    (0, "--version"),
]
LASTING = ["watch --poll 5 --json"]  # these go on until Ctrl-C


def test_every_embedding_model_of_the_readme_can_be_set(tmp_path: Path) -> None:
    table = README.partition("| `embedding_model` | |")[2].partition("\n\n")[0]
    settings = re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE)
    keys = {"OPENAI_API_KEY": "k", "VOYAGE_API_KEY": "k"}

    opened = [open_embedder(setting, keys, models=tmp_path) for setting in settings]

    assert len(settings) == 5
    assert [embedder and embedder.name for embedder in opened] == settings


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample vault, as the command makes it."""
    home = tmp_path_factory.mktemp("sample")
    command = [sys.executable, "-m", "vault_mind", "init", "demo", "--sample"]
    subprocess.run(command, cwd=home, env={**os.environ, "HOME": str(home)}, check=True)
    return home / "demo"


@pytest.fixture
def sample(home: Path, made: Path) -> Path:
    """A copy of it, in which the commands of a test run."""
    return shutil.copytree(made, home / "demo")


def shell(command: str, where: Path) -> str:
    """What `command` prints to stdout, with this environment's vault-mind first on the PATH."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    ended = subprocess.run(command, shell=True, cwd=where, env=environment, capture_output=True, text=True, check=True)
    return ended.stdout


def fenced(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def test_the_session_at_the_top_prints_what_the_readme_says(home: Path) -> None:
    where = home
    for step in re.split(r"^\$ ", fenced("console")[0], flags=re.MULTILINE)[1:]:
        command, _, expected = step.partition("\n")
        if command.startswith("cd "):
            where = where / command.removeprefix("cd ")
            continue

        assert shell(command, where).strip() == expected.strip()


@pytest.mark.parametrize(("exit_code", "call"), CALLS, ids=[call for _, call in CALLS])
def test_a_call_of_the_readme_works(exit_code: int, call: str, sample: Path, run: Run) -> None:
    if "kettle --" in call or "whistles" in call or call.startswith("undo"):
        run("remember", "The kettle whistles.", env={"VAULT_MIND_VAULT": str(sample)})

    ended = run(*call.split(), input="A line.\n", env={"VAULT_MIND_VAULT": str(sample), "EDITOR": "true"})

    assert ended.exit_code == exit_code, ended.stderr


@pytest.mark.parametrize("call", LASTING)
def test_a_call_of_the_readme_that_goes_on_works(call: str, sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_MIND_VAULT", str(sample))

    watching = Command(*call.split()[1:])

    assert watching.end() == 0
    assert "Traceback" not in watching.said
    watching.close()


def test_the_calls_above_cover_every_option_of_the_readme() -> None:
    table = README[README.index("| command |") : README.index("PATH is a memory's path")]
    for row in table.splitlines()[2:]:
        if not row.startswith("| `vault-mind"):
            continue
        command = row.split("`")[1].split()[1]
        options = set(re.findall(r"`(-{1,2}[a-zA-Z][\w-]*)", row))
        calls = [*LASTING, *(call for _, call in CALLS)]
        called = {word for call in calls if call.split()[0] == command for word in call.split()}

        assert command in {call.split()[0] for call in calls}
        assert options <= called, f"{command}: {options - called} are shown and not run"


QUERIES = re.findall(
    r"^\| `(.+?)` \|", README[README.index("| in a query |") : README.index("A sign counts only")], re.MULTILINE
)
DATES = re.findall(r"`(.+?)`", README[README.index("`list --since`: ") :].split(". A question")[0])[1:]


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_of_the_readme_finds_something_and_is_read_as_more_than_words(
    query: str, sample: Path, run: Run
) -> None:
    ended = run("search", query, env={"VAULT_MIND_VAULT": str(sample)})

    assert ended.exit_code == 0
    assert ended.stdout
    assert ended.stderr.startswith("read as: ")


@pytest.mark.parametrize("words", ["hazlenuts", "-- -hazelnuts coffee", "\\-hazelnuts coffee", "-- --hazelnuts coffee"])
def test_signs_and_slips_of_the_readme_are_read_as_it_says(words: str, sample: Path, run: Run) -> None:
    *dashes, query = [words] if not words.startswith("-- ") else ["--", words.removeprefix("-- ")]

    ended = run("search", "--paths", *dashes, query, env={"VAULT_MIND_VAULT": str(sample)})

    assert ended.exit_code == 0
    assert ("hazelnuts" in ended.stdout) is (not query.startswith("-h"))


@pytest.mark.parametrize("date", DATES)
def test_a_date_of_the_readme_is_one(date: str) -> None:
    assert len(DATES) == 10
    assert period(date, NOW)


def test_every_language_that_the_readme_says_has_stopwords_has_them() -> None:
    named = README[README.index("(in Catalan") + 4 :].partition(")")[0].replace("\n", " ").replace(" and ", ", ")

    assert {name.lower() for name in named.split(", ")} == set(FUNCTION_WORDS) - {"porter", "dutch_porter"}


def test_the_stopwords_and_stems_are_those_of_the_language_that_a_memory_names(sample: Path, run: Run) -> None:
    text = "---\nlang: de\n---\nDie Katzen schlafen auf dem Ofen.\n"
    (sample / "katzen.md").write_text(text, encoding="utf-8")

    ended = run("search", "--paths", "wo schläft die Katze?", env={"VAULT_MIND_VAULT": str(sample)})

    assert ended.stdout == "katzen.md\n"


@pytest.mark.parametrize(
    ("pattern", "found"), [(r"caf\pL", True), (r"caf\w", False), (r"\pN", True), (r"\d", False), (r"café\b", False)]
)
def test_in_a_regex_some_signs_know_ascii_only(pattern: str, found: bool, sample: Path, run: Run) -> None:
    (sample / "odd.md").write_text("café ٣\n", encoding="utf-8")

    ended = run("grep", pattern, env={"VAULT_MIND_VAULT": str(sample)})

    assert ("odd.md:" in ended.stdout) is found


def test_every_command_is_in_the_readme() -> None:
    for command in app.registered_commands:
        name = str(command.name or getattr(command.callback, "__name__", "")).rstrip("_")
        assert f"`vault-mind {name}" in README
    for name in COMMANDS:
        assert f"`/{name}`" in README


def test_continuous_integration_does_what_the_readme_tells_a_newcomer() -> None:
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    setting_up = [line for block in fenced("sh")[:2] for line in block.splitlines()]

    assert len(setting_up) == 2
    assert all(line in script for line in setting_up)


def test_the_history_of_the_readme_is_told_and_taken_back(sample: Path) -> None:
    shell("vault-mind remember The user takes oat milk in their coffee.", sample)
    block = next(block for block in fenced("sh") if "vault-mind undo" in block)

    told = shell(block.replace(' --as-of "last month"', ' --as-of "today"'), sample)

    assert "The user takes oat milk in their coffee." in told
    assert not list(sample.glob("memories/*oat-milk-in*"))


def test_the_learning_of_the_readme_leaves_nothing_waiting(sample: Path) -> None:
    block = next(block for block in fenced("sh") if "vault-mind learn" in block)

    shell(block, sample)

    assert json.loads((sample / "learned.json").read_text()) == {"exchanges": [], "waiting": []}


def test_the_purges_of_the_readme_leave_nothing(sample: Path, home: Path) -> None:
    (sample / "phone.md").write_text("Call 1234, the wrong number, at noon.\n")
    block = next(block for block in fenced("sh") if "--purge" in block)

    told = shell("".join(f"{line} --yes && " for line in block.splitlines()) + "true", sample)

    assert told.count("no place left that holds it") == 2
    assert not list(sample.glob("memories/*allergic*"))
    assert (sample / "phone.md").read_text() == "Call 1234, (purged), at noon.\n"
    assert (home / "before.bundle").exists()


def test_the_python_example_runs_as_it_stands(sample: Path) -> None:
    example = fenced("python")[0]

    printed = shell(f"{sys.executable} - <<'END'\n{example}\nEND", sample.parent)

    assert "moka pot" in printed
    assert "Biscuit" in printed


def test_the_map_names_every_module() -> None:
    for module in (ROOT / "vault_mind").glob("*.py"):
        if not module.name.startswith("__"):
            assert f"{module.name}`" in README[README.index("## A map") :], module.name

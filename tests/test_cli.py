"""The commands, each in a process of its own, as a user runs them."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

import pytest
import typer.main
from typer.testing import CliRunner

from tests.conftest import Ended, OnTerminal, Run
from tests.embeddings_api import EmbeddingsApi, Reply, serving
from tests.messages_api import Answer, MessagesApi, remembering
from vault_mind import Vault
from vault_mind.cli import app
from vault_mind.config import Settings, user_file
from vault_mind.vectors import key

Write = Callable[[str, str | bytes], Path]
POSIX = pytest.mark.skipif(os.name == "nt", reason="a matter of POSIX shells, signals or file names")
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]  # a group, as Typer makes it
TEA = """\
---
kind: preference
source: user
created_at: 2026-05-03T08:00:00+02:00
tags: [drinks]
---

The user drinks [green] tea.
"""


def no_traceback(ended: Ended) -> None:
    """Whatever went wrong, it was told in words."""
    assert "Traceback" not in ended.stderr


# Help


def test_help_lists_every_command_and_the_exit_codes(run: Run, call: Run) -> None:
    ended = run("--help")

    assert ended.exit_code == 0
    assert ended.stderr == ""
    listed = ended.stdout.partition("Commands:")[2].split("\n")
    assert [line.split()[0] for line in listed if line.startswith("  ") and line[2:3].isalpha()][:-2] == [
        name for name, command in COMMANDS.items() if not command.hidden
    ]
    assert " ".join(ended.stdout.split()).endswith(
        "Exit codes: 0 done, 1 no match or something to fix, 2 error, 3 no reply."
    )
    bare = call()
    assert (bare.exit_code, bare.stdout) == (2, "")
    assert bare.stderr.partition("Commands:")[2] == ended.stdout.partition("Commands:")[2]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_every_option_has_help_and_every_command_an_example(name: str) -> None:
    ended = CliRunner().invoke(app, [name, "--help"])

    assert ended.exit_code == 0
    assert ended.stdout == CliRunner().invoke(app, [name, "-h"]).stdout
    example = ended.stdout.partition("Example: ")[2]
    assert f"vault-mind {name}" in example
    for parameter in COMMANDS[name].params:
        assert parameter.help, parameter.name
    assert len(COMMANDS[name].help.splitlines()) == 1


def test_the_script_and_the_module_are_the_same_command(run: Run, home: Path) -> None:
    script = Path(sys.executable).with_name("vault-mind")

    shown = subprocess.run([script, "version"], capture_output=True, text=True, check=True, cwd=home).stdout

    assert shown == f"vault-mind {version('vault-mind')}\n"
    assert run("version").stdout == run("--version").stdout == shown
    assert run("--version", "search").stdout == shown


def test_a_variable_that_sets_nothing_is_named_once_on_stderr_and_by_doctor(vault: Vault, call: Run) -> None:
    env = {"VAULT_MIND_MODLE": "x", "VAULT_MIND_\x1b]0;P\x07": "x", "VAULT_MIND_SERVICE_HOST": "10.0.0.7"}

    listed, examined = call("list", "--json", env=env), call("doctor", "--json", env=env)

    assert listed.stderr.count("VAULT_MIND_MODLE is no setting and does nothing; did you mean VAULT_MIND_MODEL?") == 1
    assert listed.stderr.count("does nothing") == 2
    assert "\x1b" not in listed.stderr + examined.stdout
    assert json.loads(listed.stdout) == []
    found = json.loads(examined.stdout)
    assert found["version"] == version("vault-mind")
    assert [(each["code"], each["advice"]) for each in found["findings"]][-1] == (
        "settings",
        "call it VAULT_MIND_MODEL",
    )
    assert examined.exit_code == 1
    assert "VAULT_MIND_TOP_K" in found["findings"][0]["advice"]


@pytest.mark.parametrize(
    "words", [["--nosuch"], ["nosuch"], ["search"], ["search", "x", "-k", "0"], ["list", "--kind"]]
)
def test_a_command_that_makes_no_sense_is_a_usage_error_on_stderr(words: list[str]) -> None:
    ended = CliRunner().invoke(app, words)

    assert ended.exit_code == 2
    assert ended.stdout == ""
    assert "Usage: " in ended.stderr or "Error: " in ended.stderr


QUICK = [
    ["--help"],
    ["search", "tea"],
    ["search", "tea", "-k", "3", "--explain"],
    ["search", "tea", "--json"],
    ["grep", "-i", "-C", "1", "tea"],
    ["list", "--kind", "preference", "--since", "last year"],
    ["remember", "The user drinks [green] tea.", "--tag", "drinks"],
    ["show", "tea"],
]
# What takes long to load and is for those alone who talk to a model, sit at a terminal, or change a file.
HEAVY = {
    "anthropic", "httpx", "httpx2", "prompt_toolkit", "asyncio", "numpy", "fastembed", "sentence_transformers",
    "dateparser", "pydantic", "rich", "watchdog", "detect_secrets", "requests", "stdnum",
}  # fmt: skip


@pytest.mark.parametrize("words", QUICK, ids=" ".join)
def test_a_quick_command_loads_nothing_that_it_does_not_need(words: list[str], write: Write, home: Path) -> None:
    write("tea.md", TEA)
    program = (
        "import sys, atexit\n"
        "atexit.register(lambda: print('imported:', *sys.modules, file=sys.stderr))\n"
        "from vault_mind.cli import app\n"
        f"app({words!r}, prog_name='vault-mind')\n"
    )

    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=home)

    imported = set(ended.stderr.rpartition("imported: ")[2].split())
    assert "vault_mind.cli" in imported
    assert not imported & HEAVY
    agents = {"vault_mind.agent", "vault_mind.repl", "vault_mind.statements", "vault_mind.model"} & imported
    assert not agents or words[0] == "remember"


def test_a_search_that_finds_its_index_up_to_date_takes_no_lock(write: Write, home: Path) -> None:
    file = write("tea.md", TEA)
    os.utime(file, ns=(10**18, 10**18))
    program = (
        "import sys, atexit\n"
        "atexit.register(lambda: print('filelock' in sys.modules, 'yaml' in sys.modules, file=sys.stderr))\n"
        "from vault_mind.cli import app\n"
        "app(['search', 'tea'], prog_name='vault-mind')\n"
    )

    def ran() -> str:
        return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stderr

    first = ran()
    time.sleep(2.2)  # a file that changed a moment ago is read once more
    ran()

    assert first.endswith("True False\n")
    assert ran().endswith("False False\n")


# Which vault


def test_the_vault_is_named_before_or_after_the_command_or_by_the_environment_or_by_where_one_stands(
    call: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = Vault.create(tmp_path / "a [vault]").root
    (root / "tea.md").write_text(TEA, encoding="utf-8")
    (root / "deep").mkdir()

    ways = [
        call("--vault", str(root), "search", "--paths", "tea"),
        call("search", "--paths", "tea", "--vault", str(root)),
        call("search", "--paths", "tea", env={"VAULT_MIND_VAULT": str(root)}),
    ]
    monkeypatch.chdir(root / "deep")
    ways.append(call("search", "--paths", "tea"))

    assert ways == [Ended(0, "tea.md\n", "")] * 4


def test_the_default_vault_is_made_on_first_use_with_a_word_about_it(call: Run, home: Path) -> None:
    first = call("list", "--json")
    second = call("list", "--json")

    assert first == Ended(0, "[]\n", f"made a vault for you: {home / 'vault-mind'}\nits history is kept by git\n")
    assert second == Ended(0, "[]\n", "")
    assert (home / "vault-mind" / "memories").is_dir()


def test_a_vault_that_is_not_there_is_an_error_and_is_not_made(call: Run, tmp_path: Path) -> None:
    missing, file = tmp_path / "missing", tmp_path / "file"
    file.write_text("x", encoding="utf-8")

    for path in (missing, file):
        ended = call("list", "--vault", str(path))

        assert (ended.exit_code, ended.stdout) == (2, "")
        assert ended.stderr.startswith(f"vault-mind: {path} is not a vault: ")
        assert f"vault-mind init {path}" in ended.stderr
    assert not missing.exists()


@POSIX
def test_a_vault_may_be_used_from_a_folder_that_is_gone(vault: Vault, tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    command = f"rmdir ../gone && exec {sys.executable} -m vault_mind list --vault {vault.root}"

    ended = subprocess.run(
        ["sh", "-c", command],
        capture_output=True,
        text=True,
        cwd=tmp_path / "gone",
        check=False,
        env={**os.environ, "PYTHONSAFEPATH": "1"},
    )

    assert "Traceback" not in ended.stderr
    assert ended.returncode == 0


# Init


def test_init_makes_a_vault_of_a_folder_and_leaves_what_is_there(call: Run, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "tea.md").write_bytes(b"tea\r\n")
    (folder / ".vault-mind.toml").write_text("top_k = 3\n", encoding="utf-8")

    ended = call("init", str(folder))

    assert ended == Ended(0, "", f"a vault: {folder}\nits history is kept by git\n")
    assert (folder / "tea.md").read_bytes() == b"tea\r\n"
    assert (folder / ".vault-mind.toml").read_text(encoding="utf-8") == "top_k = 3\n"
    assert call("init", str(folder)) == ended


def test_init_takes_the_vault_named_before_the_command_too(call: Run, home: Path, tmp_path: Path) -> None:
    assert call("--vault", str(tmp_path / "one"), "init").exit_code == 0
    assert call("init", "--vault", str(tmp_path / "two")).exit_code == 0

    assert (tmp_path / "one" / "memories").is_dir()
    assert (tmp_path / "two" / "memories").is_dir()
    assert not (home / "vault-mind").exists()


def test_init_with_the_sample_fills_an_empty_folder_and_no_other(call: Run, tmp_path: Path) -> None:
    demo = tmp_path / "demo"

    assert call("init", str(demo), "--sample").exit_code == 0
    held = sorted(path.name for path in demo.rglob("*.md"))
    again = call("init", str(demo), "--sample")

    assert len(held) > 30
    assert again.exit_code == 2
    assert "not empty" in again.stderr
    assert sorted(path.name for path in demo.rglob("*.md")) == held
    assert "hazelnuts" in call("search", "what am I allergic to", "--vault", str(demo)).stdout


def test_init_where_no_folder_can_be_is_a_line_of_error(call: Run, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x", encoding="utf-8")

    for words in ([str(file)], [str(file / "deeper")], [str(file), "--sample"], [str(file / "deeper"), "--sample"]):
        ended = call("init", *words)

        no_traceback(ended)
        assert ended.exit_code == 2
        assert ended.stderr.startswith("vault-mind: ")
    assert file.read_text(encoding="utf-8") == "x"


# Remember, search, grep, list, show


def test_remember_writes_a_memory_and_prints_its_path(call: Run, vault: Vault) -> None:
    ended = call(
        "remember", "The", "spare [key]", "is with Mrs Low.", "--tag", "home", "--tag", "keys", "--kind", "context"
    )
    again = call("remember", "The spare [key] is with Mrs Low.")
    piped = call("remember", "-", "--json", input="The user reads\nin bed.\n")

    path = "memories/the-spare-key-is-with-mrs-low.md"
    assert ended == Ended(0, f"{path}\n", "")
    assert again == Ended(0, f"{path}\n", "known already:\n")
    memory = vault.read(path)
    assert (memory.kind, memory.source, memory.tags) == ("context", "user", ("home", "keys"))
    assert memory.body == "The spare [key] is with Mrs Low."
    data = json.loads(piped.stdout)
    assert (data["new"], data["body"], data["kind"]) == (True, "The user reads\nin bed.", "fact")
    assert vault.read(data["path"]).body == "The user reads\nin bed."


@pytest.mark.parametrize(("words", "given"), [((" ",), ""), (("-",), ""), (("-",), " \n\n"), (("-",), "a\0b")])
def test_remember_refuses_what_cannot_be_a_memory(call: Run, vault: Vault, words: tuple[str, ...], given: str) -> None:
    ended = call("remember", *words, input=given)

    assert (ended.exit_code, ended.stdout) == (2, "")
    assert ended.stderr.startswith("vault-mind: nothing was remembered: ")
    assert list(vault.memories()) == []


def test_search_prints_hits_paths_or_json_and_exits_1_for_none(call: Run, write: Write) -> None:
    write("a.md", TEA)
    write("b.md", '---\nsuperseded_by: "[[a]]"\n---\nThe user drinks black tea, tea, tea.')
    write("c.md", "Nothing of the kind.")

    shown, paths = call("search", "which", "TEA?"), call("search", "tea", "--all", "--paths")
    as_json, none = call("search", "tea", "--json", "-k", "1"), call("search", "coffee", "--json")

    assert shown.stdout.startswith("a.md\n    preference, 2026-05-03 · ")
    assert "    The user drinks [green] tea.\n" in shown.stdout
    assert "b.md" not in shown.stdout
    assert paths.stdout.splitlines() == ["b.md", "a.md"]
    (hit,) = json.loads(as_json.stdout)
    assert (hit["path"], hit["kind"], hit["tags"]) == ("a.md", "preference", ["drinks"])
    assert hit["score"] > 0
    assert hit["fits"]
    assert 0.2 < hit["fit"] == round(hit["fit"], 3)
    assert "explain" not in hit
    assert hit["frontmatter"]["created_at"] == "2026-05-03T08:00:00+02:00"
    assert none == Ended(1, "[]\n", "no memory matches\n")


def test_search_says_how_it_read_a_query_that_is_more_than_words(call: Run, write: Write) -> None:
    write("a.md", TEA)
    write("b.md", "---\nkind: fact\n---\nThe tea shop \x1b[31mopens at nine.")

    asked = call("search", "--paths", 'tea kind:fact -coffee "shop\x1b opens" since:1999')
    words = call("search", "--paths", "which tea is it")

    assert asked.stderr.splitlines()[0] == (
        'read as: words: tea shop^[ opens; phrase: "shop^[ opens"; without: coffee; kind: fact; since 1999-01-01'
    )
    assert (words.exit_code, words.stderr) == (0, "")


def test_search_takes_words_as_words_when_it_is_told_to(call: Run, write: Write) -> None:
    write("a.md", TEA)
    write("b.md", "kind:fact is what stands here, and tea.")

    as_clause, as_words = call("search", "kind:fact tea"), call("search", "--plain", "--paths", "kind:fact tea")

    assert (as_clause.exit_code, as_clause.stdout) == (1, "")
    assert as_words == Ended(0, "b.md\n", "")
    assert call("search", "--plain", "is:nonsense tea").stdout.startswith("b.md\n")


@pytest.mark.parametrize("query", ["is:nonsense", "tea since:nonsense", "before:32.13.2026", "/(/", "tea /a{2,1}/"])
def test_a_query_that_makes_no_sense_is_a_line_of_error(call: Run, write: Write, query: str) -> None:
    write("a.md", TEA)

    ended = call("search", query)

    assert (ended.exit_code, ended.stdout) == (2, "")
    assert ended.stderr.startswith("vault-mind: ")
    assert len(ended.stderr.splitlines()) == 1


def test_search_says_when_nothing_really_fits_and_shows_the_nearest(call: Run, write: Write) -> None:
    for number in range(40):
        write(f"{number}.md", f"The user has a cup number {number}.")
    write("a.md", TEA)
    question = ("search", "what was the train to Lisbon like when the user left the house with a cup of coffee")

    shown, paths, as_json = call(*question, "-k", "2"), call(*question, "--paths"), call(*question, "--json")

    assert (shown.exit_code, shown.stderr) == (1, "nothing really fits; the nearest:\n")
    assert shown.stdout.count(".md\n    note, no date · ") == 2
    assert "hardly fits" not in shown.stdout
    assert paths == Ended(1, "", "nothing really fits\n")
    assert (as_json.exit_code, as_json.stderr) == (1, shown.stderr)
    assert {(hit["fits"], hit["fit"] < 0.2) for hit in json.loads(as_json.stdout)} == {(False, True)}


def test_of_hits_that_fit_and_others_the_others_are_marked_and_are_no_paths(call: Run, write: Write) -> None:
    for number in range(12):
        write(f"{number}.md", f"The user has a cup number {number}.")
    write("a.md", "The user takes the night train to Lisbon with a cup of coffee.")

    shown = call("search", "night train Lisbon coffee cup", "-k", "3")
    paths = call("search", "--paths", "night train Lisbon coffee cup", "-k", "3")

    assert (shown.exit_code, shown.stderr) == (0, "")
    assert shown.stdout.startswith("a.md\n")
    assert shown.stdout.count(" · hardly fits\n") == 2
    assert paths == Ended(0, "a.md\n", "")


def test_what_was_asked_without_words_always_fits(call: Run, write: Write) -> None:
    write("a.md", TEA)

    ended = call("search", "kind:preference")

    assert (ended.exit_code, ended.stderr) == (0, "read as: kind: preference\n")
    assert ended.stdout.startswith("a.md\n")


def test_search_explains_each_score(call: Run, write: Write) -> None:
    write("a.md", TEA)
    write("b.md", "---\nkind: fact\n---\nSee [[a]].")

    shown, as_json = call("search", "green tea", "--explain"), call("search", "green tea", "--explain", "--json")

    hits = json.loads(as_json.stdout)
    assert [hit["path"] for hit in hits] == ["a.md", "b.md"]
    for hit in hits:
        assert sum(part["score"] for part in hit["explain"]) == pytest.approx(hit["score"], abs=0.01)
    parts = re.findall(r"^ {6} *(\d+\.\d\d)  (\S.*)$", shown.stdout, re.MULTILINE)
    assert [name for _, name in parts] == [part["part"] for hit in hits for part in hit["explain"]]
    assert any("a.md" in name for _, name in parts)
    assert "  (" not in call("search", "green tea").stdout


def test_pinned_ones_that_fit_come_first_when_that_is_asked_for(call: Run, write: Write) -> None:
    write("best.md", "Green tea, green tea.")
    write("pin.md", "---\npinned: true\n---\nThe user has green tea in a very long kitchen cupboard of the old house.")
    write("other-pin.md", "---\npinned: true\n---\nThe user is called Ada and has a house.")

    usual, first = call("search", "--paths", "green tea"), call("search", "--paths", "--pinned-first", "green tea")
    only = call("search", "--paths", "--pinned-first", "-k", "1", "green tea")
    nothing = call("search", "--paths", "--pinned-first", " ")

    assert usual.stdout == "best.md\npin.md\n"
    assert first == Ended(0, "pin.md\nbest.md\n", "")
    assert only == Ended(0, "pin.md\n", "")
    assert nothing.exit_code == 1


def test_pinned_first_changes_the_order_and_no_score(call: Run, write: Write) -> None:
    write("list.md", "The user drinks green tea; see [[pin]].")
    write("pin.md", "---\npinned: true\n---\nThe user has a kettle for tea in the kitchen cupboard of the old house.")
    write(
        "far.md",
        "---\npinned: true\n---\nA green caddy stands on the shelf in the hall of the old house, behind the clock.",
    )

    usual, first, single = (
        {hit["path"]: hit for hit in json.loads(call("search", "green tea", "--json", "--explain", *options).stdout)}
        for options in ((), ("--pinned-first",), ("--pinned-first", "-k", "2"))
    )

    assert list(usual) == ["list.md", "pin.md", "far.md"]
    assert list(first) == ["pin.md", "far.md", "list.md"]
    assert first == usual
    assert list(single) == ["pin.md", "far.md"]
    for hit in (*first.values(), *single.values()):
        assert sum(part["score"] for part in hit["explain"]) == pytest.approx(hit["score"], abs=0.01)


def test_pinned_first_gives_nothing_that_was_not_asked_for(call: Run, write: Write) -> None:
    write("best.md", "---\nsuperseded_by: '[[now]]'\n---\nGreen tea, green tea.")
    write("old-pin.md", "---\npinned: true\nsuperseded_by: '[[now]]'\n---\nGreen tea stands in the kitchen.")
    write("pin.md", "---\npinned: true\n---\nGreen tea stands in the cellar.")
    write("now.md", "Green tea, green tea.")

    assert call("search", "--paths", "--pinned-first", "green tea is:superseded").stdout == "old-pin.md\nbest.md\n"
    assert call("search", "--paths", "--pinned-first", "green tea is:current").stdout == "pin.md\nnow.md\n"


def test_grep_prints_lines_paths_or_json_and_exits_1_for_none(call: Run, write: Write) -> None:
    write("a.md", TEA)
    write("b.md", "Tea.\nA+B teas\n")

    assert call("grep", "[Tt]ea").stdout == "a.md:8:The user drinks [green] tea.\nb.md:1:Tea.\nb.md:2:A+B teas\n"
    assert call("grep", "-i", "-w", "-l", "-F", "tea").stdout == "a.md\nb.md\n"
    as_json = call("grep", "--json", "-i", "^tea").stdout
    assert json.loads(as_json) == {"path": "b.md", "line": 1, "text": "Tea.", "spans": [[0, 3]]}
    assert call("grep", "coffee") == Ended(1, "", "")


def test_list_filters_and_prints_paths_into_a_pipe(call: Run, write: Write) -> None:
    write("a.md", TEA)
    write("b.md", "---\nkind: fact\nsource: chat\ncreated_at: 2026-06-01\n---\nx")
    write("c.md", "plain")
    filters = ("--kind", "preference", "--tag", "#Drinks", "--source", "user", "--since", "2026-05-03")

    everything, some, none = (
        call("list"),
        call("list", *filters, "--json"),
        call("list", *filters, "--since", "2026-06-01"),
    )
    bad = call("list", "--since", "some day")

    assert everything == Ended(0, "b.md\na.md\nc.md\n", "")
    assert [memory["path"] for memory in json.loads(some.stdout)] == ["a.md"]
    assert none == Ended(0, "", "no memories\n")
    assert (bad.exit_code, bad.stdout) == (2, "")
    assert "'some day' is no date" in bad.stderr


def test_list_understands_dates_as_people_write_them(call: Run, write: Write) -> None:
    write("may.md", "---\ncreated_at: 2026-05-03T08:00:00\n---\nx")
    write("june.md", "---\ndate: 2026-06-10\n---\nx")
    write("2026-07-01.md", "A day's note.")
    write("old.md", "---\ncreated_at: 2020-01-01\n---\nx")
    write("undated.md", "x")

    assert call("list", "--since", "May 2026").stdout == "2026-07-01.md\njune.md\nmay.md\n"
    assert call("list", "--since", "May 2026", "--before", "1 July 2026").stdout == "june.md\nmay.md\n"
    assert call("list", "--before", "2026").stdout == "old.md\n"
    assert call("list", "--since", "last week", "--before", "today").stderr == "no memories\n"
    assert "'never' is no date" in call("list", "--before", "never").stderr
    assert call("list").stdout.splitlines()[-1] == "undated.md"


def test_list_on_a_terminal_shows_more_than_the_path(on_terminal: OnTerminal, write: Write) -> None:
    write("a.md", TEA)

    shown = on_terminal("list", env={"NO_COLOR": "1"})

    assert shown.exit_code == 0
    assert shown.output == b"a.md  preference, 2026-05-03  The user drinks [green] tea.\r\n"


def test_show_prints_the_file_as_it_is_or_its_parts_as_json(call: Run, write: Write) -> None:
    text = TEA + "\n  | a  | [/b] |  \n\n\n"
    write("deep/Green Tea.md", text)

    assert call("show", "[[Green Tea]]") == Ended(0, text, "")
    data = json.loads(call("show", "een t", "--json").stdout)
    assert (data["path"], data["body"]) == ("deep/Green Tea.md", text.partition("---\n\n")[2].strip("\n"))
    assert data["warnings"] == []


def test_show_keeps_tabs(call: Run, write: Write) -> None:
    # Rich would turn them into spaces.
    write("tabs.md", "a\tb\n\tc\n")

    assert call("show", "tabs").stdout == "a\tb\n\tc\n"
    assert call("grep", "b").stdout == "tabs.md:1:a\tb\n"


def test_show_warns_on_stderr_of_what_is_wrong_with_the_file(call: Run, write: Write) -> None:
    write("broken.md", "---\na: [\n---\ntea\n")

    ended = call("show", "broken")

    assert (ended.exit_code, ended.stdout) == (0, "---\na: [\n---\ntea\n")
    assert ended.stderr.startswith("warning: frontmatter: ")


@POSIX
def test_a_name_that_several_share_lists_them_and_one_that_none_has_says_so(call: Run, write: Write) -> None:
    for name in ("tea-1.md", "deep/tea-2.md", "two\nlines tea.md"):
        write(name, "x")

    ambiguous, none = call("show", "tea"), call("show", "coffee")

    assert (ambiguous.exit_code, ambiguous.stdout) == (2, "")
    assert ambiguous.stderr.startswith("vault-mind: 'tea' names 3 memories; say more of the path:\n")
    assert "  deep/tea-2.md\n  tea-1.md\n" in ambiguous.stderr
    assert none == Ended(2, "", "vault-mind: no memory is named by 'coffee'. See them with: vault-mind list\n")


@POSIX
def test_a_newline_in_a_name_does_not_forge_a_line_of_an_error(call: Run, write: Write) -> None:
    write("tea\nvault-mind: all is well.md", "x")
    write("tea.txt.md", "x")

    ended = call("show", "tea")

    assert len(ended.stderr.splitlines()) == 3


@POSIX
@pytest.mark.parametrize("name", ["x" * 300, "../x", "/etc/passwd", "a\nb"])
def test_an_odd_name_is_a_line_of_error(call: Run, write: Write, name: str) -> None:
    write("tea-1.md", "x")
    write("tea-2.md", "x")

    ended = call("show", name)

    no_traceback(ended)
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert ended.stderr.startswith("vault-mind: ")


# Edit, forget


@pytest.fixture
def editor(tmp_path: Path) -> str:
    """An editor that writes what stands in $NEW over the file, and ends with $CODE."""
    script = tmp_path / "an editor.py"
    script.write_text(
        "import os, sys\nopen(sys.argv[-1], 'w').write(os.environ['NEW'])\nsys.exit(int(os.environ.get('CODE', 0)))\n",
        encoding="utf-8",
    )
    return f"'{sys.executable}' '{script}'"


def test_edit_opens_the_memory_in_the_editor_and_warns_of_what_was_broken(call: Run, write: Write, editor: str) -> None:
    file = write("green tea.md", TEA)

    edited = call("edit", "tea", env={"EDITOR": editor, "NEW": "The user drinks black tea.\n"})
    broken = call("edit", "tea", env={"EDITOR": "/nowhere/at/all", "VISUAL": editor, "NEW": "---\na: [\n---\n"})

    assert edited == Ended(0, "", "")
    assert broken.exit_code == 0
    assert broken.stderr.startswith("warning: green tea.md: frontmatter: ")
    assert file.read_text(encoding="utf-8") == "---\na: [\n---\n"


def test_an_editor_that_fails_is_an_error_and_the_file_stays_the_users(call: Run, write: Write, editor: str) -> None:
    file = write("tea.md", TEA)

    failed = call("edit", "tea", env={"EDITOR": editor, "NEW": "half", "CODE": "3"})
    missing = call("edit", "tea", env={"EDITOR": "/nowhere/at/all -x"})
    malformed = call("edit", "tea", env={"EDITOR": "vi 'unclosed"})

    assert "it ended with 3. Set EDITOR" in failed.stderr
    assert "'/nowhere/at/all -x': " in missing.stderr
    for ended in (failed, missing, malformed):
        assert ended.exit_code == 2
        no_traceback(ended)
    assert file.read_text(encoding="utf-8") == "half"


@POSIX
def test_an_editor_setting_of_blanks_never_runs_the_memory_itself(call: Run, write: Write, tmp_path: Path) -> None:
    # "  " splits to no word at all, and the file would stand where the command should.
    file = write("tea.md", f"#!/bin/sh\ntouch '{tmp_path}/it ran'\n")
    file.chmod(0o755)

    call("edit", "tea", env={"EDITOR": "  ", "PATH": str(tmp_path)})

    assert not (tmp_path / "it ran").exists()


def test_forget_asks_and_only_a_yes_deletes(call: Run, write: Write, vault: Vault) -> None:
    file = write("tea.md", TEA)

    for answer in ("", "maybe\n"):
        kept = call("forget", "tea", input=answer)
        assert (kept.exit_code, kept.stdout) == (1, "")
        assert "The user drinks [green] tea." in kept.stderr
        assert "Forget tea.md? [y/N] " in kept.stderr
        assert kept.stderr.endswith("kept\n")
    assert file.exists()

    gone = call("forget", "tea", input="Y\n")
    assert (gone.exit_code, gone.stdout) == (0, "")
    assert gone.stderr.endswith("forgotten: tea.md (.trash/tea.md)\n")
    assert not file.exists()


def test_forget_with_yes_asks_nothing(call: Run, write: Write) -> None:
    file = write("tea.md", TEA)

    ended = call("forget", "tea", "--yes", input=None)

    assert ended.exit_code == 0
    assert "[y/N]" not in ended.stderr
    assert not file.exists()


# Stats, doctor, rebuild, config


def test_stats_tells_what_was_used_and_what_that_cost(call: Run, online: MessagesApi) -> None:
    usage = {"input_tokens": 30, "cache_read_input_tokens": 400, "output_tokens": 7}
    online.script(Answer("Fine.", usage=usage), remembering())
    prices = {"VAULT_MIND_PRICES": "claude-opus-4-8=5/25/0.5/6.25"}
    unused = call("stats")
    call("chat", "-m", "Hello.")

    shown, data = call("stats", env=prices), json.loads(call("stats", "--json", env=prices).stdout)["usage"]

    assert re.search(r"^tokens +no tokens$", unused.stdout, re.MULTILINE)
    assert "answers 430 in (400 read from cache, 0 written), 7 out; learning 10 in, 10 out; $0.0005" in shown.stdout
    assert data["answers"] == {"fresh": 30, "read": 400, "written": 0, "out": 7, "uncounted": 0}
    assert data["cost"] == {"dollars": 0.000525, "unknown": ["claude-haiku-4-5"]}


def test_stats_counts_the_vault_and_says_where_it_is(call: Run, write: Write, vault: Vault) -> None:
    write("a.md", TEA)

    shown, data = call("stats"), json.loads(call("stats", "--json").stdout)

    assert "preference 1" in shown.stdout
    assert str(vault.root) in shown.stdout
    assert (data["memories"], data["kinds"], data["tags"]) == (1, {"preference": 1}, {"drinks": 1})
    assert (data["vault"], data["journal"]) == (str(vault.root), 0)


def test_doctor_exits_1_when_there_is_something_to_fix_and_0_when_there_is_not(
    call: Run, write: Write, vault: Vault
) -> None:
    write("note.md", "tea")
    fine = call("doctor")
    write("broken.md", "---\na: [\n---\n")

    broken, data = call("doctor"), json.loads(call("doctor", "--json").stdout)

    assert (fine.exit_code, fine.stderr) == (0, "0 to fix, 1 to know\n")
    assert fine.stdout.startswith("note  note.md: says no kind")
    assert (broken.exit_code, broken.stderr) == (1, "1 to fix, 1 to know\n")
    assert broken.stdout.startswith("fix   broken.md: frontmatter: ")
    found = data["findings"]
    assert [(finding["path"], finding["remark"]) for finding in found] == [("broken.md", False), ("note.md", True)]
    assert all(finding["advice"] for finding in found)
    assert data["counts"] == {"fix": 1, "know": 1, "codes": {"note": 1, "unparsable": 1}}
    assert (data["vault"], data["memories"], data["index"]["sound"]) == (str(vault.root), 2, True)


def test_rebuild_makes_the_index_anew_and_leaves_the_files(call: Run, write: Write) -> None:
    file = write("a.md", TEA)
    call("list")

    ended = call("rebuild")

    assert (ended.exit_code, ended.stdout) == (0, "")
    assert ended.stderr.startswith("indexed 1 files, ")
    assert file.read_text(encoding="utf-8") == TEA
    assert call("search", "tea", "--paths").stdout == "a.md\n"


def test_config_shows_each_setting_with_its_origin_and_never_a_secret(call: Run, vault: Vault, home: Path) -> None:
    (vault.root / ".vault-mind.toml").write_text("top_k = 3\n", encoding="utf-8")
    own = user_file()
    assert own.is_relative_to(home)
    own.parent.mkdir(parents=True)
    own.write_text('model = "claude-mine"\n', encoding="utf-8")
    env = {"ANTHROPIC_API_KEY": "sk-secret-0123456789", "VAULT_MIND_HISTORY_TURNS": "7"}

    shown, data = call("config", env=env), json.loads(call("config", "--json", env=env).stdout)

    for name in Settings.__dataclass_fields__:
        assert name in shown.stdout
    assert data["top_k"] == {"value": 3, "from": str(vault.root / ".vault-mind.toml")}
    assert data["model"] == {"value": "claude-mine", "from": str(own)}
    assert data["history_turns"] == {"value": 7, "from": "VAULT_MIND_HISTORY_TURNS"}
    assert data["language"] == {"value": "english", "from": "default"}
    assert data["vault"] == {"value": str(vault.root), "from": "default"}
    assert str(own) in shown.stdout
    assert "sk-secret" not in shown.stdout + json.dumps(data)


def test_a_wrong_setting_is_a_line_that_names_it_and_where_it_stands(call: Run, vault: Vault) -> None:
    (vault.root / ".vault-mind.toml").write_text('model = "evil"\n', encoding="utf-8")
    from_vault = call("list")
    (vault.root / ".vault-mind.toml").write_text("top_kk = 3\n", encoding="utf-8")
    unknown, from_environment = call("list"), call("list", env={"VAULT_MIND_TOP_K": "many"})

    for ended, words in ((from_vault, "may not set it"), (unknown, "unknown; known are"), (from_environment, "top_k")):
        assert (ended.exit_code, ended.stdout) == (2, "")
        assert ended.stderr.startswith("vault-mind: setting ")
        assert words in ended.stderr or "top_kk" in ended.stderr


@pytest.mark.parametrize("env", [{"ANTHROPIC_API_KEY": "not a key"}, {"ANTHROPIC_BASE_URL": "localhost:8080"}])
def test_what_needs_no_model_works_whatever_the_models_settings_are(
    call: Run, write: Write, env: dict[str, str]
) -> None:
    write("a.md", TEA)

    assert call("search", "tea", "--paths", env=env).stdout == "a.md\n"
    assert "green" in call("chat", "--offline", "-m", "Which tea?", env=env).stdout


# Chat


def test_chat_says_a_message_and_leaves(run: Run, write: Write) -> None:
    write("a.md", TEA)

    ended = run("chat", "-m", "Which tea do I drink?", "-m", "I live in Oslo.", input="never read\n")

    assert ended.exit_code == 0
    assert ended.stdout.startswith("From your memories:\n\n> The user drinks [green] tea.\n>\n> — `a.md`\n")
    assert "learned: The user lives in Oslo." in ended.stderr
    assert "learned" not in ended.stdout
    assert "recalled: a" in ended.stderr


def test_chat_says_each_line_of_a_pipe_and_knows_its_commands(run: Run, write: Write) -> None:
    file = write("a.md", TEA)
    lines = "I live in Oslo.\n\n/grep user lives in\n/forget a.md\ny\n/nosuch\n/memories\n/quit\nI live in Bergen.\n"

    ended = run("chat", input=lines)

    assert ended.exit_code == 2  # for /nosuch
    assert re.search(r"^memories/the-user-lives-in-oslo.md:\d+:The user lives in Oslo.$", ended.stdout, re.MULTILINE)
    assert "Forget it? [y/N] " in ended.stderr
    assert not file.exists()
    assert "no command /nosuch" in ended.stderr
    assert run("search", "Bergen").exit_code == 1


def test_chat_with_claude_answers_on_stdout_learns_and_exits_3_when_a_reply_is_missing(
    run: Run, online: MessagesApi
) -> None:
    online.script(
        Answer("You live in **Oslo** [/] :smile:"),
        remembering(("fact", "The user lives in Oslo.", "I live in Oslo")),
        Answer(status=401, error="authentication_error", message="invalid x-api-key"),
    )

    ended = run("--verbose", "chat", "--model", "claude-other", "-m", "I live in Oslo.", "-m", "Hello?")

    assert (ended.exit_code, ended.stdout) == (3, "You live in **Oslo** [/] :smile:\n")
    assert "learned: The user lives in Oslo." in ended.stderr
    assert "rejected the API key. Check ANTHROPIC_API_KEY" in ended.stderr
    assert "test-key" not in ended.stderr  # however much it tells
    assert online.requests[0]["model"] == "claude-other"


def test_a_command_of_the_chat_that_fails_is_not_called_a_missing_reply(call: Run) -> None:
    ended = call("chat", input="/show nosuch\n")

    assert ended.exit_code == 2


@POSIX
def test_ctrl_c_ends_a_chat_that_reads_a_pipe(vault: Vault, online: MessagesApi, home: Path) -> None:
    # Only at a terminal does it stop the reply and nothing else.
    online.script(Answer("one two three four", delay=1.0))
    command = [sys.executable, "-m", "vault_mind", "chat"]

    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=home
    ) as chat:
        assert chat.stdin
        chat.stdin.write("first\nsecond\nthird\n")
        chat.stdin.flush()
        deadline = time.monotonic() + 30
        while not online.requests and chat.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.3)
        chat.send_signal(signal.SIGINT)
        try:
            _, said = chat.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            chat.kill()
            said = "never"

    assert "Traceback" not in said
    assert len(online.requests) == 1
    assert chat.returncode not in (0, -signal.SIGKILL)


# Streams


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_output_that_the_terminal_cannot_spell_is_escaped_and_json_stays_json(
    run: Run, write: Write, encoding: str
) -> None:
    # `backslashreplace` would write \xe9 and \U0001f600, which JSON does not know.
    write("été 日本 😀.md", "The user says été 日本 😀.")
    env = {"PYTHONIOENCODING": encoding, "LC_ALL": "C"}

    def ran(*words: str) -> str:
        command = [sys.executable, "-m", "vault_mind", *words]
        ended = subprocess.run(command, capture_output=True, check=True, env={**os.environ, **env})
        return ended.stdout.decode(encoding)

    assert "\\u65e5" in ran("chat", "--offline", "-m", "What do I say?")
    assert json.loads(ran("list", "--json"))[0]["body"] == "The user says été 日本 😀."


def test_input_that_is_no_text_is_taken_as_far_as_it_can_be(vault: Vault, home: Path) -> None:
    # In any UTF-8 locale but C's, Python reads its input strictly.
    env = {**os.environ, "PYTHONIOENCODING": "utf-8:strict"}

    for words in (["remember", "-"], ["chat", "--offline"]):
        ended = subprocess.run(
            [sys.executable, "-m", "vault_mind", *words],
            input=b"I like the caf\xe9 in Oslo.\n",
            capture_output=True,
            check=False,
            env=env,
            cwd=home,
        )
        assert b"Traceback" not in ended.stderr
        assert ended.returncode == 0
    assert len(list(vault.memories())) == 2


@POSIX
def test_remember_with_its_input_closed_writes_nothing(vault: Vault, home: Path) -> None:
    command = f"exec {sys.executable} -m vault_mind remember - <&-"

    ended = subprocess.run(["sh", "-c", command], capture_output=True, text=True, cwd=home, check=False)

    assert list(vault.memories()) == []
    assert ended.returncode == 2


@POSIX
def test_a_disk_that_is_full_is_a_line_of_error(write: Write, home: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    write("a.md", TEA)

    ended = subprocess.run(
        ["sh", "-c", f"exec {sys.executable} -m vault_mind list > /dev/full"],
        capture_output=True,
        text=True,
        cwd=home,
        check=False,
    )

    assert "Traceback" not in ended.stderr
    assert ended.returncode == 2


def completed(run: Run, typed: str) -> list[str]:
    """What the shell offers for the last word of `typed`."""
    asked = {"COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" ")), "_VAULT_MIND_COMPLETE": "complete_bash"}
    return run(env=asked).stdout.split("\n")


def test_the_shell_completes_names_of_memories_wherever_they_lie(write: Write, run: Run, tmp_path: Path) -> None:
    write("coffee.md", "x")
    write("memories/coffee-two.md", "x")
    write("tea.md", "x")
    other = Vault.create(tmp_path / "other").root
    (other / "coffee-three.md").write_text("x", encoding="utf-8")

    offered = completed(run, "vault-mind show cof")
    elsewhere = completed(run, f"vault-mind --vault {other} show cof")

    assert {"coffee.md", "coffee-two"} <= set(offered)
    assert not any("tea" in name for name in offered)
    assert "coffee-three.md" in elsewhere


def test_the_shell_makes_no_vault_when_it_completes(run: Run, home: Path) -> None:
    assert completed(run, "vault-mind show cof") in ([""], ["", ""])

    assert not (home / "vault-mind").exists()


# --- what search says beside its hits -----------------------------------------------------------


def test_a_word_that_nobody_wrote_is_told_with_what_was_looked_for(call: Run, write: Write) -> None:
    write("a.md", "The user is allergic to hazelnuts.")

    ended = call("search", "--paths", "hazlenuts allergic")

    assert (ended.exit_code, ended.stdout) == (0, "a.md\n")
    assert ended.stderr == "no memory holds hazlenuts: searched for hazelnuts\n"


def test_what_was_looked_for_instead_is_told_as_the_best_memory_has_it(call: Run, write: Write) -> None:
    write("a.md", "Coffees! The user drinks coffee, black coffee.")
    write("b.md", "Coffees of all kinds are sold there, beside many other things that people drink.")

    assert call("search", "coffe").stderr == "no memory holds coffe: searched for coffee\n"


@pytest.mark.parametrize("query", ["*", '""', "?!"])
def test_a_query_without_a_word_is_told_so(call: Run, write: Write, query: str) -> None:  # SE-01
    write("a.md", TEA)

    assert call("search", query) == Ended(1, "", "there is no word in it to search for\n")


def test_what_only_the_past_holds_is_hinted_at(call: Run, write: Write) -> None:
    write("a.md", "---\nexpires_at: 2020-01-01\n---\nThe parking permit is in the glovebox.")

    assert call("search", "parking permit").stderr == "no memory matches; superseded or expired ones do: --all\n"
    assert call("search", "--all", "--paths", "parking permit").stdout == "a.md\n"


def test_of_a_long_text_the_place_that_matches_is_shown(call: Run, write: Write) -> None:
    write("long.md", "word " * 500 + "and then the walrus spoke " + "word " * 500)

    shown = call("search", "what did the walrus say").stdout

    assert "the walrus spoke" in shown
    assert len(shown) < 500


# --- search by meaning ----------------------------------------------------------------------------


@pytest.fixture
def embeddings() -> Iterator[EmbeddingsApi]:
    """An embeddings server of one's own."""
    with serving() as api:
        yield api


def by_meaning(api: EmbeddingsApi) -> dict[str, str]:
    """The environment of somebody who has set it as embedding_model."""
    return {"VAULT_MIND_EMBEDDING_MODEL": f"{api.url}#words"}


def test_embed_makes_the_vectors_once(run: Run, write: Write, embeddings: EmbeddingsApi) -> None:
    write("a.md", TEA)
    write("b.md", "The train leaves at nine.")

    first = run("embed", "--json", env=by_meaning(embeddings))
    second = run("embed", env=by_meaning(embeddings))

    assert json.loads(first.stdout) == {"model": f"{embeddings.url}#words", "made": 2, "waiting": 0}
    assert (second.exit_code, second.stderr) == (0, "0 vectors made\n")
    assert any("The train leaves at nine." in text for text in embeddings.sent)


def test_embed_without_a_model_says_what_to_set(call: Run, write: Write) -> None:
    write("a.md", TEA)

    ended = call("embed")

    assert (ended.exit_code, ended.stdout) == (2, "")
    assert "embedding_model" in ended.stderr


def test_a_search_by_meaning_finds_what_shares_no_word(run: Run, write: Write, embeddings: EmbeddingsApi) -> None:
    write("a.md", TEA)
    write("b.md", "The train leaves at nine.")

    ended = run("search", "--json", "--explain", "rooibos", env=by_meaning(embeddings))

    found = json.loads(ended.stdout)
    assert {hit["path"] for hit in found} == {"a.md", "b.md"}
    assert found[0]["explain"][-1]["part"] == "meaning"


def test_a_search_without_its_model_goes_by_words_and_says_so(run: Run, write: Write) -> None:
    write("a.md", TEA)

    ended = run("search", "--paths", "tea", env={"VAULT_MIND_EMBEDDING_MODEL": "http://127.0.0.1:9/v1#words"})

    assert (ended.exit_code, ended.stdout) == (0, "a.md\n")
    assert ended.stderr.startswith("searched by words alone: ")


def test_what_is_forgotten_leaves_its_vector_nowhere(
    home: Path, run: Run, write: Write, embeddings: EmbeddingsApi
) -> None:
    write("a.md", TEA)
    write("b.md", "The train leaves at nine.")
    run("embed", env=by_meaning(embeddings))
    file = next(home.rglob("*.vectors"))
    text = next(text for text in embeddings.sent if "train" in text)
    assert key(text) in file.read_bytes()

    run("forget", "--yes", "b")

    assert key(text) not in file.read_bytes()


def test_a_silent_server_is_waited_for_once_and_is_sent_no_memory(
    run: Run, write: Write, embeddings: EmbeddingsApi
) -> None:
    # Once: of one new memory the text was sent first, and waited for twelve times as long as for the question.
    write("a.md", TEA)
    embeddings.replies = [Reply(status=500, raw=b"no")]

    ended = run("search", "--paths", "tea", env=by_meaning(embeddings))

    assert (ended.exit_code, ended.stdout) == (0, "a.md\n")
    assert ended.stderr.startswith("searched by words alone: ")
    assert embeddings.sent == ["tea"]

"""A command line that is read without Typer comes to the same as one that Typer reads."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer.main
from hypothesis import example, given
from hypothesis import strategies as st
from typer.testing import CliRunner

from tests.conftest import Run
from vault_mind.__main__ import PLAIN
from vault_mind.cli import app, program
from vault_mind.command import VaultOption
from vault_mind.declared import Argument, BadParameter, Context, Exit, Option, Program, finished
from vault_mind.errors import VaultNotFoundError
from vault_mind.grouped import made

Write = Callable[[str, str | bytes], Path]
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]  # a group, as Typer makes it


def taking(taken: list[object]) -> Program:
    """A program with every kind of parameter that we have, which keeps what it was given."""
    kept = Program(made)

    @kept.callback()
    def main(ctx: Context, vault: VaultOption = None) -> None:
        """Nothing."""
        ctx.obj = vault

    @kept.command()
    def many(
        ctx: Context,
        words: Annotated[list[str], Argument()],
        folder: Annotated[Path | None, Option("--folder")] = None,
        tag: Annotated[list[str] | None, Option("--tag", "-t")] = None,
        kind: Annotated[str, Option("--kind")] = "fact",
        k: Annotated[int, Option("-k", min=1)] = 10,
        around: Annotated[int | None, Option("--around", "-C", min=0)] = None,
        most: Annotated[int, Option("--most", max=5)] = 5,
        either: Annotated[bool, Option("--this/--that")] = False,
        yes: Annotated[bool, Option("--yes", "-y")] = False,
    ) -> None:
        """Take many words."""
        taken.append((ctx.obj, words, folder, tag, kind, k, around, most, either, yes))

    @kept.command("one")
    def _one(word: Annotated[str | None, Argument()] = None, yes: Annotated[bool, Option("--yes")] = False) -> None:
        """Take one word or none."""
        taken.append((word, yes))

    return kept


_WORDS = """a é x=y 3 03 -3 0 - -- -k -k3 --kind --kind=a --kind= --kin --folder . /nowhere --tag -t --tag=b -y --yes
    --yes=1 -yt -C --around=2 -C=2 --most --this --that --no-yes --help -h @a * 999999999999 \udce9"""
WORDS = st.sampled_from([*_WORDS.split(), "", "a b"])


@given(st.sampled_from(["many", "one"]), st.lists(WORDS, max_size=6))
@example("many", ["a", "-k", "3", "b", "--tag", "c", "--tag=d", "-y", "--folder", "."])
@example("many", ["a", "--kind", "b", "--kind", "c"])
@example("many", ["a", "--yes", "--yes"])
@example("many", ["a", "--kind", "-k"])
@example("one", [])
@example("one", ["a", "b"])
def test_what_is_read_here_is_what_typer_reads(name: str, words: list[str]) -> None:
    taken: list[object] = []
    kept = taking(taken)

    run = kept.read([name, *words])

    if run:
        run(Context())
        kept(args=[name, *words], standalone_mode=False)
        assert taken[0] == taken[1]


@pytest.mark.parametrize(
    "line",
    [
        ["many", "a"],
        ["many", "a", "b", "-k", "3", "--kind", "fact", "--tag", "c", "-t", "d", "--yes", "--folder", "."],
        ["many", "--kind=preference", "a", "-C", "0", "-y"],
        ["one"],
        ["one", "a", "--yes"],
    ],
    ids=" ".join,
)
def test_a_plain_line_is_read_here(line: list[str]) -> None:
    taken: list[object] = []
    run = taking(taken).read(line)

    assert run
    run(Context())
    assert len(taken) == 1


@pytest.mark.parametrize(
    "line",
    [
        [],
        ["nosuch"],
        ["many"],
        ["many", "a", "--help"],
        ["many", "a", "-k", "0"],
        ["many", "a", "-k"],
        ["many", "a", "--most", "3"],
        ["many", "a", "--this"],
        ["many", "--", "-a"],
        ["one", "a", "b"],
        ["--vault", ".", "many", "a"],
    ],
    ids=" ".join,
)
def test_what_is_not_plain_is_left_to_typer(line: list[str]) -> None:
    assert taking([]).read(line) is None


def test_a_shell_that_completes_is_left_to_typer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_VAULT_MIND_COMPLETE", "complete_bash")

    assert taking([]).read(["many", "a"]) is None


@pytest.mark.parametrize("name", PLAIN)
def test_every_option_of_a_quick_command_is_read_as_typer_reads_it(name: str) -> None:
    command = COMMANDS[name]
    required = ["tea"] if name in ("search", "grep", "remember") else []
    for option in command.params:
        if option.param_type_name == "argument" or option.name == "help":
            continue
        for word in option.opts:
            line = [word, *required] if option.is_flag else [word, "3", *required]
            if name == "grep" and option.name == "patterns":
                line = line[:2]

            run = program.read([name, *line])

            assert run, line
            values = dict(run.values)
            assert values.pop("ctx", None) is None
            assert values == received(name, line), line


def received(name: str, line: Sequence[str]) -> dict[str, Any]:
    """What Typer gives the command for that line."""
    command, kept = COMMANDS[name], {}
    with command.make_context(name, list(line)) as context:
        kept = dict(context.params)
    return {
        name: None if value == () else list(value) if isinstance(value, tuple) else value
        for name, value in kept.items()
    }


def test_it_ends_as_with_typer(capsys: pytest.CaptureFixture[str]) -> None:
    closed: list[str] = []

    def ending_with(error: BaseException | None) -> Callable[[Context], None]:
        def run(context: Context) -> None:
            context.call_on_close(lambda: closed.append("closed"))
            if error:
                raise error

        return run

    assert finished(ending_with(None)) == 0
    assert finished(ending_with(Exit(3))) == 3
    assert finished(ending_with(KeyboardInterrupt())) == 130
    assert finished(ending_with(VaultNotFoundError("nowhere"))) == 2
    with pytest.raises(BadParameter):
        finished(ending_with(BadParameter("no", param_hint="-k")))
    with pytest.raises(ZeroDivisionError):
        finished(ending_with(ZeroDivisionError()))
    assert len(closed) == 6
    assert "nowhere" in capsys.readouterr().err


def test_what_makes_no_sense_is_told_in_typers_words_either_way(run: Run, write: Write) -> None:
    write("tea.md", "The user drinks tea.")

    plainly, by_typer = (
        run("grep", "-c", "-l", "tea"),
        CliRunner().invoke(app, ["grep", "-cl", "tea"], prog_name="vault-mind"),
    )

    assert (plainly.exit_code, plainly.stdout) == (2, "")
    assert plainly.stderr == by_typer.stderr
    assert "Usage: vault-mind grep" in plainly.stderr


@pytest.mark.parametrize("name", ["search", "list", "forget", "chat"])
def test_a_command_alone_has_the_same_help_as_among_all(name: str, run: Run) -> None:
    alone = run(name, "--help")

    among = CliRunner().invoke(app, [name, "--help"], prog_name="vault-mind")

    assert alone.stdout.split() == among.stdout.split()  # its lines are as long as the terminal is wide

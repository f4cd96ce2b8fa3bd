"""What is typed becomes the same values, and the same errors, as by Typer's own way."""

import os
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from typer.core import TyperGroup
from typer.testing import CliRunner

from vault_mind.coercion import lighten


class Lightened(TyperGroup):
    """A group whose commands are lightened."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name."""
        command = super().get_command(ctx, cmd_name)
        lighten(command.get_params(ctx) if command else ())
        return command


def app(group: type[TyperGroup]) -> typer.Typer:
    """A command with every kind of parameter that we have, which prints what it was given."""
    made = typer.Typer(cls=group, rich_markup_mode=None, pretty_exceptions_enable=False)

    @made.callback()
    def main() -> None:
        """Nothing."""

    @made.command()
    def take(
        words: Annotated[list[str], typer.Argument()],
        folder: Annotated[Path | None, typer.Option("--folder")] = None,
        tag: Annotated[list[str] | None, typer.Option("--tag")] = None,
        kind: Annotated[str, typer.Option("--kind")] = "fact",
        k: Annotated[int, typer.Option("-k", min=1)] = 10,
        around: Annotated[int | None, typer.Option("-C", min=0)] = None,
        most: Annotated[int, typer.Option("--most", max=5)] = 5,
        yes: Annotated[bool, typer.Option("--yes")] = False,
    ) -> None:
        typer.echo(repr((words, folder, tag, kind, k, around, most, yes)))

    return made


def given_to(group: type[TyperGroup], words: Iterable[str]) -> tuple[int, str, str]:
    """How the command ends and what it says."""
    ended = CliRunner().invoke(app(group), ["take", *words])
    assert ended.exception is None or isinstance(ended.exception, SystemExit)
    return ended.exit_code, ended.stdout, ended.stderr


NUMBERS = ["3", "03", "+3", "-3", "0", "-0", " 3", "3.0", "1_000", "x", "", "٣", "９", "9" * 9, "9" * 10, "9" * 5000]


@pytest.mark.parametrize("option", ["-k", "-C", "--most"])
@pytest.mark.parametrize("number", NUMBERS)
def test_a_number_is_read_as_typer_reads_it_and_refused_in_its_words(option: str, number: str) -> None:
    words = ["a", option, number]

    assert given_to(Lightened, words) == given_to(TyperGroup, words)


@pytest.mark.parametrize(
    "words",
    [
        ["one"],
        ["one", "two", "--tag", "a", "--tag", "b", "--kind", "x", "--folder", "/x/../y", "--yes"],
        ["--folder", "", "a"],
        ["--folder", "~", "--", "-k"],
        ["a", "--kind", ""],
        ["a", "--kind"],
        ["a", "--nosuch"],
        [],
        ["--help"],
    ],
)
def test_all_else_is_read_as_typer_reads_it(words: list[str]) -> None:
    assert given_to(Lightened, words) == given_to(TyperGroup, words)


@given(st.lists(st.text(st.characters(codec="utf-8")), min_size=1, max_size=3), st.text(max_size=5))
def test_any_text_arrives_as_it_was_typed(words: list[str], number: str) -> None:
    typed = ["-k", number, "--", *words]

    assert given_to(Lightened, typed) == given_to(TyperGroup, typed)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="only there and for some can a folder be closed")
def test_a_folder_that_may_not_be_read_is_refused_in_typers_words(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0)
    words = ["a", "--folder", str(closed)]

    assert given_to(Lightened, words) == given_to(TyperGroup, words)


@pytest.mark.parametrize("parameter", [SimpleNamespace(), SimpleNamespace(_runtime_param=None), object()])
def test_with_a_typer_that_has_other_ways_nothing_happens(parameter: Any) -> None:
    before = dict(getattr(parameter, "__dict__", {}))

    lighten([parameter])

    assert getattr(parameter, "__dict__", {}) == before

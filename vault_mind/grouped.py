"""Typer's side of the commands: help, errors in a command line, completion in a shell. Only here is Typer known."""

from collections.abc import Callable
from types import FunctionType
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from vault_mind.coercion import lighten
from vault_mind.declared import Argument, BadParameter, Context, Exit, Program, ending


class Commands(TyperGroup):
    """Our commands as Typer runs them."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # Typer keeps the context's class to itself
        """Read the options before the command."""
        lighten(self.get_params(ctx))
        try:
            return super().parse_args(ctx, args)
        except Exit as end:  # of an option that is all that was asked, such as --version
            raise typer.Exit(end.code) from end

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name."""
        command = super().get_command(ctx, cmd_name)
        lighten(command.get_params(ctx) if command else ())  # with the one for --help
        return command

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            with ending():
                return super().invoke(ctx)
        except Exit as end:
            raise typer.Exit(end.code) from end


class _Command(TyperCommand):
    """One of them."""

    def invoke(self, ctx: Any) -> Any:
        """Run it."""
        try:
            return super().invoke(ctx)
        except BadParameter as error:
            raise typer.BadParameter(error.message, ctx, param_hint=error.param_hint) from error


def made(program: Program, **words: Any) -> typer.Typer:
    """A Typer of what `program` declares."""
    app = typer.Typer(
        cls=Commands,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        **words,
    )
    app.callback()(_typed(program.main))
    for name, (function, more) in program.commands.items():
        app.command(name, cls=_Command, **more)(_typed(function))
    return app


def _typed(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` with Typer's declarations in the place of ours."""
    if not isinstance(function, FunctionType):
        return function
    typed = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    typed.__doc__ = function.__doc__
    typed.__annotations__ = {name: _annotation(one) for name, one in function.__annotations__.items()}
    return typed


def _annotation(one: Any) -> Any:
    if one is Context:
        return typer.Context
    if not hasattr(one, "__metadata__"):
        return one
    declared = one.__metadata__[0]
    words = typer.Argument if isinstance(declared, Argument) else typer.Option
    return Annotated[one.__origin__, words(*declared.words, **declared.more)]

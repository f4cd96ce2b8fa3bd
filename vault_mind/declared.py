"""The commands as they are declared, in Typer's words but without Typer, which loads as long as a search takes.

A plain line of a command that is `quick` is read and run here, and comes to the same. Whatever is not plain, and
whoever asks more of a program than this, is given to Typer, which is then made of the same declarations.
"""

import errno
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import UnionType
from typing import Any, TypeVar

from vault_mind.coercion import LEFT, turned
from vault_mind.errors import VaultMindError
from vault_mind.render import visible
from vault_mind.screen import Screen

F = TypeVar("F", bound=Callable[..., Any])

OF_A_VALUE = frozenset(("help", "metavar", "show_default", "min", "autocompletion"))  # what changes no plain line


class Exit(Exception):  # noqa: N818  # as Typer calls it
    """The command ends, with that code."""

    def __init__(self, code: int = 0) -> None:
        super().__init__(code)
        self.code = code


class BadParameter(Exception):  # noqa: N818  # as Typer calls it
    """What was asked for makes no sense, and why; `param_hint` says which part of it."""

    def __init__(self, message: str, param_hint: str | None = None) -> None:
        super().__init__(message)
        self.message, self.param_hint = message, param_hint


class Context:
    """What a running command shares: `obj`, its `params` by name, and what is done when it ends."""

    def __init__(self, parent: "Context | None" = None) -> None:
        self.parent = parent
        self.obj: Any = parent.obj if parent else None
        self.params: dict[str, Any] = {}
        self._closing: list[Callable[[], object]] = []

    def call_on_close(self, function: Callable[[], object]) -> Callable[[], object]:
        """Have it called at the end; what comes last is called first."""
        self._closing.append(function)
        return function

    def close(self) -> None:
        """Call what waits for it."""
        while self._closing:
            self._closing.pop()()


class _Declared:
    """The words by which a parameter is given, and the rest of what is said of it."""

    def __init__(self, *words: str, **more: Any) -> None:
        self.words, self.more = words, more


class Option(_Declared):
    """A parameter with a name."""


class Argument(_Declared):
    """A parameter by its place."""


class Program:
    """The commands of a program. `made` makes Typer's own of it, which everything not found here is asked of."""

    def __init__(self, made: "Callable[[Program], Any]") -> None:
        self._made = made
        self._typer: Any = None
        self.main: Callable[..., Any] = lambda: None
        self.commands: dict[str, tuple[Callable[..., Any], Mapping[str, Any]]] = {}

    def callback(self) -> Callable[[F], F]:
        """What is run before every command."""

        def keep(function: F) -> F:
            self.main = function
            return function

        return keep

    def command(self, name: str | None = None, **more: Any) -> Callable[[F], F]:
        """A command, under the function's name or another; `more` is for Typer."""

        def keep(function: F) -> F:
            self.commands[name or function.__name__] = (function, more)
            return function

        return keep

    def only(self, name: str = "") -> None:
        """Forget all other commands, if there is one of that name: for Typer to make them takes time."""
        if name in self.commands and "_VAULT_MIND_COMPLETE" not in os.environ:
            self.commands = {name: self.commands[name]}

    def __call__(self, *args: Any, **more: Any) -> Any:
        """Run it as Typer does."""
        return self.__getattr__("__call__")(*args, **more)

    def __getattr__(self, name: str) -> Any:
        """Whatever Typer's has."""
        if self._typer is None:
            self._typer = self._made(self)
        return getattr(self._typer, name)

    def read(self, line: Sequence[str]) -> "Run | None":
        """What a plain `line` asks for; None for one that is for Typer to read."""
        if not line or line[0] not in self.commands or os.name == "nt" or "_VAULT_MIND_COMPLETE" in os.environ:
            return None
        function, _ = self.commands[line[0]]
        values = _Reading(function).of(line[1:])
        return None if values is None else Run(self.main, function, values)


class Run:
    """A command with its values, to be called with a context; the context that it asks for stands as a None in them."""

    def __init__(self, first: Callable[..., Any], function: Callable[..., Any], values: dict[str, Any]) -> None:
        self._first, self._function, self.values = first, function, values

    def __call__(self, context: Context) -> None:
        """Run it."""
        self._first(context)
        own = Context(context)
        own.params = {name: value for name, value in self.values.items() if name != "ctx"}
        try:
            self._function(**({"ctx": own} if "ctx" in self.values else {}), **own.params)
        finally:
            own.close()


@contextmanager
def ending() -> Iterator[None]:
    """The one place where our errors become a line on stderr and an exit code."""
    try:
        yield
        sys.stdout.flush()
    except VaultMindError as error:
        _say(error)
        raise Exit(error.exit_code) from error
    except OSError as error:
        if error.errno == errno.EPIPE:  # whoever reads us has seen enough
            raise
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115  # what is left in the buffer cannot be written
        _say(error)
        raise Exit(VaultMindError.exit_code) from error


def finished(run: Callable[[Context], Any]) -> int:
    """The exit code of a command that was read from a plain line, as Typer runs it. Raises BadParameter."""
    context = Context()
    try:
        with ending():
            run(context)
        return 0
    except Exit as end:
        return end.code
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        if error.errno != errno.EPIPE:
            raise
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115  # as above
        return 1
    finally:
        context.close()


def _say(error: Exception) -> None:
    Screen(stderr=True).say(f"vault-mind: {visible(str(error))}", "red")


class _Reading:
    """The reading of one command's line: None as soon as anything in it is not plain."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._declared = dict(declared(function))
        self._defaults = _defaults(function)
        self._options = {
            word: name for name, (_, one) in self._declared.items() if isinstance(one, Option) for word in one.words
        }
        self._places = [name for name, (_, one) in self._declared.items() if isinstance(one, Argument)]

    def of(self, words: Sequence[str]) -> dict[str, Any] | None:
        """The values by name."""
        given: dict[str, list[str]] = {}
        left = list(reversed(words))
        rest: list[str] = []
        while left:
            word = left.pop()
            if word[:1] != "-":
                rest.append(word)
                continue
            name, equals, value = word.partition("=") if word[:2] == "--" else (word, "", "")
            known = self._options.get(name)
            if known is None:
                return None
            kind = self._declared[known][0]
            if kind is bool:
                if equals:
                    return None
                value = name
            elif not equals:
                if not left or left[-1][:1] == "-":
                    return None
                value = left.pop()
            given.setdefault(known, []).append(value)
        return self._turned(given) if self._placed(rest, given) else None

    def _placed(self, rest: list[str], given: dict[str, list[str]]) -> bool:
        """Whether the words of `rest` find their places."""
        for name in self._places:
            if self._declared[name][0] == list[str]:
                given[name], rest = rest, []
            elif rest:
                given[name] = [rest.pop(0)]
            if name not in self._defaults and not given.get(name):
                return False
        return not rest

    def _turned(self, given: Mapping[str, list[str]]) -> dict[str, Any] | None:
        values: dict[str, Any] = {}
        for name, (kind, one) in self._declared.items():
            if one is None:  # the context
                values[name] = None
            elif name not in given or not given[name]:
                values[name] = self._defaults[name]
            elif not one.more.keys() <= OF_A_VALUE:
                return None
            elif kind is bool:
                values[name] = True
            elif kind != list[str] and len(given[name]) > 1:
                return None
            else:
                value = given[name] if kind == list[str] else given[name][0]
                values[name] = turned(kind, value, one.more.get("min"), None)
                if values[name] is LEFT:
                    return None
        return values


def declared(function: Callable[..., Any]) -> Iterator[tuple[str, tuple[Any, _Declared | None]]]:
    """The parameters of a command: name, kind without its None, and declaration (None: the context)."""
    for name, annotation in function.__annotations__.items():
        if name != "return":
            kind, one = getattr(annotation, "__origin__", annotation), getattr(annotation, "__metadata__", (None,))[0]
            if isinstance(kind, UnionType):
                kind = next(each for each in kind.__args__ if each is not type(None))
            yield name, (kind, one)


def _defaults(function: Callable[..., Any]) -> dict[str, Any]:
    code, values = function.__code__, function.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount]
    return dict(zip(names[len(names) - len(values) :], values, strict=True))

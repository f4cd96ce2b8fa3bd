"""Where text is shown: Rich at a terminal, and anywhere else the text just as it is, with no Rich at all."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import IO, TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

Piece = tuple[str, str]  # a stretch of text and its style
Shown = Sequence[Piece]


def text_of(shown: Shown) -> str:
    """The words alone."""
    return "".join(text for text, _ in shown)


class Screen:
    """Standard output, or standard error: data is `put`, talk is `said`."""

    def __init__(self, *, stderr: bool = False, console: "Console | None" = None) -> None:
        self._stderr = stderr
        if console is not None:
            self.console = console

    @cached_property
    def console(self) -> "Console":
        """Rich's side of it: no markup, whole lines, colours where they are wanted."""
        from rich.console import Console  # late: it costs as much as the search itself, and a pipe needs none

        # A width of 0, which some terminals give, would make Rich print nothing at all.
        environment = {name: value for name, value in os.environ.items() if name != "COLUMNS" or value.strip("0")}
        return Console(
            stderr=self._stderr,
            markup=False,
            emoji=False,
            highlight=False,
            soft_wrap=not (self._stderr and sys.stderr.isatty()),  # talk may wrap at a terminal, data may not
            color_system=None if _colourless() else "auto",
            force_terminal=False if _colourless() else None,
            _environ=environment,
        )

    @property
    def file(self) -> IO[str]:
        """The stream itself."""
        if "console" in self.__dict__:
            return self.console.file
        return sys.stderr if self._stderr else sys.stdout

    @property
    def is_terminal(self) -> bool:
        """Whether colours and movement are for it."""
        if "console" not in self.__dict__ and (_colourless() or not self._perhaps):
            return False
        return self.console.is_terminal

    @property
    def ascii_only(self) -> bool:
        """Whether its encoding knows less than Unicode."""
        return "utf" not in (getattr(self.file, "encoding", None) or "utf-8").lower()

    def put(self, shown: Shown) -> None:
        """Print data: coloured at a terminal, and elsewhere just as it is, tabs and all."""
        if self.is_terminal:
            self.console.print(_text(shown), end="")
        else:
            self.file.write(text_of(shown))

    def say(self, said: str | Shown, style: str = "", *, end: str = "\n", cut: bool = False) -> None:
        """Print talk; with `cut` no more of it than a line of a terminal holds."""
        shown = [(said, "")] if isinstance(said, str) else said
        if self._perhaps:
            overflow: Literal["ellipsis"] | None = "ellipsis" if cut else None
            self.console.print(_text(shown), style=style or None, end=end, no_wrap=cut or None, overflow=overflow)
        else:
            self.file.write(text_of(shown) + end)
            self.file.flush()

    @contextmanager
    def status(self, doing: str) -> Iterator[Callable[[str], None]]:
        """A line on a terminal that says what is going on, and what changes it; elsewhere nothing is said."""
        if not self.is_terminal:
            yield lambda _: None
            return
        with self.console.status(_text([(doing, "")])) as status:  # as text: Rich reads markup in a status
            yield lambda now: status.update(_text([(now, "")]))

    @property
    def _perhaps(self) -> bool:
        """Whether it may be a terminal: it is one, or somebody says so in the way that Rich listens to."""
        if "console" in self.__dict__ or any(name in os.environ for name in ("FORCE_COLOR", "TTY_COMPATIBLE")):
            return True
        return self.file.isatty()


def _colourless() -> bool:
    return bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"


def _text(shown: Shown) -> "Text":
    from rich.text import Text  # late, as above

    return Text.assemble(*shown)

"""Text to a terminal goes through Rich, and anywhere else it is written as it is."""

import io
import subprocess
import sys
import threading

import pytest
from rich.console import Console

from vault_mind.screen import Screen, text_of

SHOWN = [("[bold]a", "cyan"), ("\tb :smile:\n", "")]


def on(file: io.StringIO, *, width: int = 80) -> Screen:
    """A screen that is a terminal as wide as `width`."""
    console = Console(
        file=file, markup=False, emoji=False, highlight=False, force_terminal=True, color_system="256", width=width
    )
    return Screen(console=console)


def test_a_pipe_is_given_the_words_alone_tabs_and_all(capsys: pytest.CaptureFixture[str]) -> None:
    Screen().put(SHOWN)
    Screen(stderr=True).say(SHOWN, "dim", end="")
    Screen(stderr=True).say("told", cut=True)

    assert capsys.readouterr() == ("[bold]a\tb :smile:\n", "[bold]a\tb :smile:\ntold\n")
    assert text_of(SHOWN) == "[bold]a\tb :smile:\n"
    assert not Screen().is_terminal


def test_a_terminal_is_given_colours_and_nothing_is_taken_for_markup() -> None:
    file = io.StringIO()

    on(file).put(SHOWN)
    on(file).say("told [/red]", "red")

    assert file.getvalue() == "\x1b[36m[bold]a\x1b[0m b :smile:\n\x1b[31mtold [/red]\x1b[0m\n"


def test_talk_is_cut_to_a_line_of_the_terminal_when_that_is_asked_for() -> None:
    cut, whole = io.StringIO(), io.StringIO()

    on(cut, width=10).say("one two three four", cut=True)
    on(whole, width=10).say("one two three four")

    assert cut.getvalue() == "one two t…\n"
    assert whole.getvalue().split() == ["one", "two", "three", "four"]


@pytest.mark.parametrize(
    ("environment", "coloured"),
    [
        ({"FORCE_COLOR": "1"}, True),
        ({"TTY_COMPATIBLE": "1"}, True),
        ({"TTY_COMPATIBLE": "0"}, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ({"FORCE_COLOR": "1", "TERM": "dumb"}, False),
        ({}, False),
    ],
)
def test_what_rich_listens_to_decides_for_a_pipe(
    environment: dict[str, str], coloured: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("TTY_COMPATIBLE", "TTY_INTERACTIVE", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    Screen().put(SHOWN)

    assert ("\x1b[" in capsys.readouterr().out) is coloured
    assert Screen().is_terminal is coloured


def test_a_status_is_shown_at_a_terminal_and_nowhere_else(capsys: pytest.CaptureFixture[str]) -> None:
    file, threads = io.StringIO(), threading.active_count()

    with Screen(stderr=True).status("indexing") as tell:
        tell("indexing 1 of 2")
        assert threading.active_count() == threads
    with on(file).status("indexing") as tell:
        tell("indexing 1 of 2")

    assert capsys.readouterr() == ("", "")
    assert "indexing 1 of 2" in file.getvalue()


def test_an_encoding_that_cannot_spell_everything_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    for encoding, expected in (("ascii", True), ("latin-1", True), ("utf-8", False), ("UTF-16", False)):
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding=encoding))

        assert Screen().ascii_only is expected
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert not Screen().ascii_only


def test_writing_into_a_pipe_loads_no_rich() -> None:
    program = (
        "import sys; from vault_mind.screen import Screen\n"
        "with Screen(stderr=True).status('x'): Screen().put([('a', 'red')]); Screen(stderr=True).say('b', 'dim')\n"
        "print([name for name in sys.modules if name.partition('.')[0] == 'rich'])"
    )

    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert (ended.stdout, ended.stderr) == ("a[]\n", "b\n")

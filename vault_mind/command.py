"""What all commands share: the program itself, its common options, a vault opened, words said on stderr."""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

from vault_mind import dates, declared, render
from vault_mind.config import VAULT_FILE, find_vault, strangers
from vault_mind.errors import SettingsError, VaultMindError
from vault_mind.memory import Memory
from vault_mind.screen import Piece, Screen
from vault_mind.session import Session, open_session
from vault_mind.vault import Vault

if TYPE_CHECKING:
    import typer

    from vault_mind.hindsight import Hindsight
    from vault_mind.sync import Progress

NO_MATCH = 1


def _made(program: declared.Program) -> "typer.Typer":
    from vault_mind.grouped import made  # late: Typer loads as long as a search takes

    return made(
        program,
        help="An assistant that remembers, in a folder of Markdown files that you own.",
        epilog="Start with: vault-mind chat. Exit codes: 0 done, 1 no match or something to fix, 2 error, 3 no reply.",
    )


program = declared.Program(_made)
app = cast("typer.Typer", program)  # whoever asks more of it is given Typer's

VaultOption = Annotated[
    Path | None,
    declared.Option(
        "--vault",
        help="The vault's folder; else VAULT_MIND_VAULT, the one you are in, ~/vault-mind.",
        show_default=False,
    ),
]
OfflineFlag = Annotated[
    bool, declared.Option("--offline", help="Never talk to a model: quote memories, learn by rules.")
]
JsonFlag = Annotated[bool, declared.Option("--json", help="Print JSON.")]
YesFlag = Annotated[bool, declared.Option("--yes", "-y", help="Do not ask.")]
AsOf = Annotated[
    str | None,
    declared.Option("--as-of", help="As the vault was then: 2026-05, last week, …", show_default=False, metavar="DATE"),
]


def _names(ctx: declared.Context, incomplete: str) -> list[str]:
    """Complete the name of a memory: its path or its stem."""
    named = ctx.params.get("vault") or (ctx.parent.params.get("vault") if ctx.parent else None)
    try:
        folder, _ = find_vault(named, os.environ, Path.cwd())
        paths = sorted(Vault(folder).walk().files)
    except (VaultMindError, OSError):  # a shell that completes has no place for an error
        return []
    stems = [path.rpartition("/")[2].removesuffix(".md") for path in paths]
    return [name for name in dict.fromkeys((*paths, *stems)) if name.startswith(incomplete)]


NameArgument = Annotated[
    str,
    declared.Argument(metavar="PATH", help="Its path, its stem, or any part that only it has.", autocompletion=_names),
]
SomeName = Annotated[
    str | None,
    declared.Argument(
        metavar="PATH",
        help="Its path, its stem, or any part that only it has.",
        autocompletion=_names,
        show_default=False,
    ),
]


def say(text: str | list[Piece], style: str = "") -> None:
    """Say it on stderr."""
    Screen(stderr=True).say(text, style)


def opened(ctx: declared.Context, vault: Path | None, **flags: object) -> Session:
    """The vault that is meant, closed when the command ends."""
    session = open_session(vault or ctx.obj, os.environ, flags=flags)
    ctx.call_on_close(session.close)
    for name, meant in strangers(os.environ).items():
        hint = f"did you mean {meant}?" if meant else "`vault-mind config` lists the settings"
        say(f"{render.one_line(name)} is no setting and does nothing; {hint}", "yellow")
    if session.made:
        say(f"made a vault for you: {render.one_line(str(session.vault.root))}", "dim")
        start_history(session.vault, [VAULT_FILE])
    if session.purging and not ctx.params.get("purge"):
        say("a purge was cut short, and not everything is gone yet; go on with: vault-mind forget --purge", "yellow")
    return session


def start_history(vault: Vault, made: Sequence[str]) -> None:
    """Give a vault that we made a history, with the files that we `made` in it; say how it went."""
    from vault_mind.record import Record  # late: a vault is made once

    for told in Record(vault, "ours").start(made):
        say(render.one_line(told), "dim")


def sync(session: Session, *, tell: bool = True) -> None:
    """Bring the index up to date, with a line on a terminal when it takes long; say what is newly wrong."""
    with progressing() as tells:
        synced = session.index.sync(tells)
    for problem in synced.news if tell else ():
        say(render.problem(problem))


@contextmanager
def progressing(doing: str = "indexing") -> Iterator["Progress"]:
    """A line on a terminal that says how far it is."""
    with Screen(stderr=True).status(doing) as tell:
        yield lambda done, of: tell(f"{doing} {done:,} of {of:,}")


def named(session: Session, name: str) -> Memory:
    """The memory that is meant by `name`."""
    return session.vault.read(session.vault.find(name))


def confirm(question: str) -> bool:
    """Ask on stderr; anything but a yes is a no, and so is the end of the input."""
    Screen(stderr=True).say(f"{question} [y/N] ", end="")
    answer = sys.stdin.readline() if sys.stdin is not None else ""
    if not answer.endswith("\n"):
        say("")
    return answer.strip().lower() in ("y", "yes")


def print_json(value: object, *, indent: int | None = 2) -> None:
    """Print a value as JSON."""
    out = Screen()
    out.put([(render.to_json(value, indent=indent, ascii_only=out.ascii_only) + "\n", "")])


def json_lines(out: Screen, data: Iterable[object]) -> Iterator[list[Piece]]:
    """Each of `data` as JSON on a line."""
    ascii_only = out.ascii_only
    return ([(render.to_json(each, indent=None, ascii_only=ascii_only) + "\n", "")] for each in data)


def span(name: str, text: str | None) -> tuple[datetime, datetime] | None:
    """The first moment of what `text` means, and the first after it. Raises SettingsError."""
    if not text:
        return None
    found = dates.period(text, right_now())
    if found is None:
        raise SettingsError(name, f"{text!r} is no date; write it as 2026-05-01, last week, 3 days ago", "flag")
    return found


def looked_back(session: Session, date: str | None) -> "Hindsight | None":
    """The vault as of that date, with a word on how that is known; None when no date is given."""
    meant = span("--as-of", date)
    if meant is None:
        return None
    from vault_mind.hindsight import as_of  # late: a search starts faster without what asks git

    held = as_of(session.record.history, session.index.memories(), min(meant[1], right_now()))
    at = f"{held.at.astimezone():%Y-%m-%d %H:%M}"
    if held.version:
        say(f"as of {at}: version {held.version.id[:10]}, {render.one_line(held.version.subject)}", "dim")
    else:
        off = render.one_line(session.record.history.off)
        say(f"as of {at}: {off or 'no version is that old'}; told by the dates that memories give", "dim")
    return held


def right_now() -> datetime:
    """This moment, with its offset."""
    return datetime.now().astimezone()

"""The commands about the vault's past: log, diff, why, undo."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vault_mind import render
from vault_mind.command import (
    NO_MATCH,
    JsonFlag,
    NameArgument,
    SomeName,
    VaultOption,
    YesFlag,
    app,
    confirm,
    opened,
    print_json,
    say,
)
from vault_mind.errors import MemoryNotFoundError, NoHistoryError
from vault_mind.screen import Screen
from vault_mind.session import Session

if TYPE_CHECKING:
    from vault_mind.history import History


@app.command(epilog="Example: vault-mind log coffee -n 5")
def log(
    ctx: typer.Context,
    path: SomeName = None,
    vault: VaultOption = None,
    count: Annotated[int, typer.Option("-n", "--count", help="How many at most.", min=1)] = 20,
    json: JsonFlag = False,
) -> None:
    """Show what became of the vault, or of one memory: a line a version, newest first."""
    from vault_mind import retelling  # late: a search starts faster without what asks git

    session = opened(ctx, vault)
    history = _history(session)
    versions = list(history.versions(_once(session, path) if path else None, limit=count))
    if json:
        print_json([retelling.version_data(version) for version in versions])
    else:
        Screen().put(retelling.versions(versions))
    if not versions:
        say("no versions yet", "dim")


@app.command(epilog="Example: vault-mind diff HEAD~3..HEAD")
def diff(
    ctx: typer.Context,
    version: Annotated[
        str | None,
        typer.Argument(
            metavar="VERSION",
            help="An id from `log`, or two as A..B; else what is in no version yet.",
            show_default=False,
        ),
    ] = None,
    path: Annotated[str | None, typer.Option("--path", help="Of this memory only.", show_default=False)] = None,
    vault: VaultOption = None,
) -> None:
    """Show what a version changed; without one, what was edited since the last. Exit 1 when nothing was."""
    from vault_mind import retelling  # late, as above

    session = opened(ctx, vault)
    shown = _history(session).diff(version, _once(session, path) if path else None)
    Screen().put(retelling.diff(shown))
    if not shown:
        say("no difference", "dim")
        raise typer.Exit(NO_MATCH)


@app.command(epilog="Example: vault-mind why coffee")
def why(ctx: typer.Context, path: NameArgument, vault: VaultOption = None, json: JsonFlag = False) -> None:
    """Tell the story of a memory: from which words it was learned, what it replaced, who edited it."""
    from vault_mind import retelling  # late, as above
    from vault_mind.past import why as told  # late, as above

    session = opened(ctx, vault)
    history = session.record.history
    story = told(history, _once(session, path))
    if json:
        print_json(retelling.story_data(story))
    else:
        Screen().put(retelling.story(story))
    if history.off:
        say(f"there is no history: {render.one_line(history.off)}", "dim")


@app.command(epilog="Example: vault-mind undo --yes")
def undo(
    ctx: typer.Context,
    version: Annotated[
        str | None,
        typer.Argument(metavar="VERSION", help="An id from `log`; else the last turn.", show_default=False),
    ] = None,
    vault: VaultOption = None,
    yes: YesFlag = False,
) -> None:
    """Take back a turn: show what that would change, ask, then make a version that says the inverse."""
    from vault_mind import retelling  # late, as above

    session = opened(ctx, vault)
    _history(session)
    taken = session.record.taking_back(version)
    Screen().put(retelling.diff(taken.diff))
    if not taken.steps:
        say("nothing of it is left to take back", "dim")
        raise typer.Exit(NO_MATCH)
    if not yes and not confirm(f"Take back {render.one_line(taken.version.subject)!r}?"):
        say("kept", "dim")
        raise typer.Exit(NO_MATCH)
    for told in session.record.take_back(taken):
        say(render.one_line(told), "yellow")
    say(f"taken back: {render.one_line(taken.version.subject)}; undo again brings it back", "dim")


def _history(session: Session) -> "History":
    """The vault's git. Raises NoHistoryError."""
    history = session.record.history
    if history.off:
        raise NoHistoryError(str(session.vault.root), history.off)
    return history


def _once(session: Session, name: str) -> str:
    """The path that `name` means in the vault as it is, else as it was: one that is gone has a past."""
    try:
        return session.vault.find(name)
    except MemoryNotFoundError:
        history = session.record.history
        if history.off:
            raise
        path = Path(name).as_posix()
        for candidate in (path, f"{path}.md", f"memories/{path}", f"memories/{path}.md"):
            if next(history.versions(candidate, limit=1), None):
                return candidate
        raise

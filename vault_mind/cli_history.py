"""The commands about the vault's past: log, diff, why, undo; what purges it, and what git calls to merge."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from vault_mind import declared as typer  # in its words; itself it is loaded where it is needed
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
from vault_mind.errors import AmbiguousNameError, MemoryNotFoundError, NoHistoryError, PurgeRefusedError, VaultMindError
from vault_mind.screen import Screen
from vault_mind.session import Session
from vault_mind.vault import TRASH

if TYPE_CHECKING:
    from vault_mind.history import History
    from vault_mind.purge import Outcome, Plan


@app.command(epilog="Example: vault-mind log coffee -n 5")
def log(
    ctx: typer.Context,
    path: SomeName = None,
    vault: VaultOption = None,
    count: Annotated[int, typer.Option("-n", "--count", help="How many at most.", min=1)] = 20,
    json: JsonFlag = False,
) -> None:
    """Show the versions of the vault, or of one memory."""
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
    """Show what a version changed, or what is in none yet."""
    from vault_mind import retelling  # late, as above

    session = opened(ctx, vault)
    shown = _history(session).diff(version, _once(session, path) if path else None)
    Screen().put(retelling.diff(shown))
    if not shown:
        say("no difference", "dim")
        raise typer.Exit(NO_MATCH)


@app.command(epilog="Example: vault-mind why coffee")
def why(ctx: typer.Context, path: NameArgument, vault: VaultOption = None, json: JsonFlag = False) -> None:
    """Tell from which words a memory was learned, and who edited it."""
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
    """Take back a turn; it shows what that changes and asks first."""
    from vault_mind import retelling  # late, as above

    session = opened(ctx, vault)
    _history(session)
    taken = session.record.taking_back(version)
    Screen().put(retelling.diff(taken.diff))
    if not yes and not confirm(f"Take back {render.one_line(taken.version.subject)!r}?"):
        say("kept", "dim")
        raise typer.Exit(NO_MATCH)
    done = session.record.take_back(taken)
    for told in done.told:
        say(render.one_line(told), "yellow")
    say(f"taken back: {render.one_line(taken.version.subject)} ({render.one_line(done.kept)})", "dim")


def purge(
    session: Session, path: str | None, phrase: str | None, *, force: bool, backup: Path | None, yes: bool, json: bool
) -> None:
    """Take a memory or a phrase out of everywhere: show what that takes, ask, do it, and prove it.

    With neither, go on with a purge that was cut short. Raises PurgeRefusedError, with nothing changed.
    """
    from vault_mind import retelling  # late, as above
    from vault_mind.purge import carry_out  # late, as above

    resumed = session.purging
    if path is None and phrase is None and not resumed:
        raise typer.BadParameter("give it, or --phrase", param_hint="PATH")
    if backup and session.record.history.off:
        raise PurgeRefusedError("there is no history to back up", "Leave --backup out")
    paths = [_ever(session, path)] if path is not None else []
    told = _planned(session, paths, phrase)
    if not json or not yes:
        Screen(stderr=json).put(retelling.plan(told))
    if told.nothing and not resumed:
        if json:
            print_json(retelling.purge_data(told, None))
        say("nothing to purge: it stands nowhere", "dim")
        raise typer.Exit(NO_MATCH)
    _refuse(told, force=force or resumed)
    if not yes:
        seen = _contents(told)
        if not confirm("Purge this for ever? No undo brings it back."):
            say("kept", "dim")
            raise typer.Exit(NO_MATCH)
        now = _planned(session, paths, phrase)
        if (now.files, now.history, now.needles, _contents(now)) != (told.files, told.history, told.needles, seen):
            raise PurgeRefusedError("something of it changed while you were asked", "Look at it, and purge it then")
    session.close()  # its index goes too
    with Screen(stderr=True).status("purging"):
        done = carry_out(told, force=force, backup=backup)
    if json:
        print_json(retelling.purge_data(told, done))
    else:
        Screen().put(retelling.proved(done))
    _tell_of_rest(done, phrase, backup)


def _planned(session: Session, paths: list[str], phrase: str | None) -> "Plan":
    """What it takes. Raises PurgeRefusedError where another purge was cut short: what stands against one is its own."""
    from vault_mind.purge import plan  # late, as above

    with Screen(stderr=True).status("looking through everything"):
        told = plan(session.vault.root, paths=paths, phrase=phrase)
        rest = plan(session.vault.root) if session.purging else told
    if (rest.paths, rest.needles) != (told.paths, told.needles):
        raise PurgeRefusedError("another purge was cut short", "Go on with that first: vault-mind forget --purge")
    return told


def _contents(told: "Plan") -> list[bytes | None]:
    """The bytes of every file of the vault that a purge would touch."""
    files = [told.root / change.path for change in told.files]
    return [file.read_bytes() if file.is_file() else None for file in files]


def _refuse(told: "Plan", *, force: bool) -> None:
    """Say what stands against it; raises PurgeRefusedError for the first thing that no force overrides."""
    against = [refusal for refusal in told.refusals if not (refusal.forced and force)]
    for refusal in told.refusals:
        if refusal not in against:
            say(f"by force: {render.one_line(refusal.why)}", "yellow")
    for refusal in against[1:]:
        say(f"also in the way: {render.one_line(refusal.why)}. {render.one_line(refusal.advice)}", "red")
    if against:
        raise PurgeRefusedError(against[0].why, against[0].advice)


def _tell_of_rest(done: "Outcome", phrase: str | None, backup: Path | None) -> None:
    """What is its owner's to do after a purge; exit 2 when something is left that should not be."""
    if backup:
        say(
            f"everything that was purged is still in {render.one_line(str(backup))}: delete it when all is well",
            "yellow",
        )
    if phrase is not None:
        say("your shell may keep a history that holds the phrase", "dim")
    if done.found.count:
        say("vault-mind: not everything is gone; look at the places above, and purge again", "red")
        raise typer.Exit(VaultMindError.exit_code)


@app.command("merge-driver", hidden=True, epilog="Example: vault-mind merge-driver -- %O %A %B %L %P")
def merge_driver(
    base: Annotated[Path, typer.Argument(help="What both were made from.")],
    ours: Annotated[Path, typer.Argument(help="Our version; the merged one takes its place.")],
    theirs: Annotated[Path, typer.Argument(help="The other version.")],
    size: Annotated[int, typer.Argument(help="The length of a conflict's marks.")] = 7,
    path: Annotated[str, typer.Argument(help="What is merged.")] = "",
) -> None:
    """Merge two versions of a memory, key by key, as git asks; exit 1 when they conflict."""
    from vault_mind.merge_driver import CONFLICTS, MERGED, drive  # late: only git merges

    try:
        clean = drive(base, ours, theirs, size)
    except Exception as error:  # one file costs only itself: git then merges it by lines
        import logging  # late: nobody else here tells of it

        logging.getLogger(__name__).exception("not merged: %r", path)
        say(f"vault-mind: {render.one_line(path)} is merged by lines: {render.one_line(repr(error))}", "yellow")
        raise typer.Exit(VaultMindError.exit_code) from error
    sys.stdout.write(f"{MERGED if clean else CONFLICTS}\n")
    if not clean:
        raise typer.Exit(NO_MATCH)


def _history(session: Session) -> "History":
    """The vault's git. Raises NoHistoryError."""
    history = session.record.history
    if history.off:
        raise NoHistoryError(history.off)
    return history


def _once(session: Session, name: str) -> str:
    """The path that `name` means in the vault as it is, else as it was: one that is gone has a past."""
    try:
        return session.vault.find(name)
    except MemoryNotFoundError:
        if session.record.history.off:
            raise
        for path in _gone(session, name):
            return path
        raise


def _gone(session: Session, name: str) -> Iterator[str]:
    """Paths that `name` may spell out and that some version of the vault holds."""
    history = session.record.history
    path = Path(name).as_posix()
    outside = Path(name).is_absolute() or ".." in Path(name).parts
    spelt = (path, f"{path}.md", f"memories/{path}", f"memories/{path}.md")
    for candidate in () if outside or history.off else spelt:
        if next(history.versions(candidate, limit=1), None):
            yield candidate


def _ever(session: Session, name: str) -> str:
    """The one path that `name` means in the vault as it is, as it was, or in its `.trash`.

    What is gone counts only where its name is spelt out. Raises AmbiguousNameError and MemoryNotFoundError.
    """
    old = (path for path in _gone(session, name) if path.lower().endswith(".md"))  # a folder has a past too
    gone = [path for path in old if not (session.vault.root / path).exists()]
    if name in gone:
        return name
    try:
        found = session.vault.find(name)
    except MemoryNotFoundError:
        root = session.vault.root
        choices = gone or sorted(file.relative_to(root).as_posix() for file in _thrown(session, name))
        if not choices:
            raise
    else:
        spelt = not {name, f"{name}.md"}.isdisjoint((found, found.rpartition("/")[2]))
        choices = [found] if spelt else [found, *gone]  # a part of it is less than a name
    if len(choices) > 1:
        raise AmbiguousNameError(name, choices)
    return choices[0]


def _thrown(session: Session, name: str) -> Iterator[Path]:
    """The files in `.trash` of that path, name or stem."""
    for file in (session.vault.root / TRASH).rglob("*.md"):
        path = file.relative_to(session.vault.root).as_posix()
        if name in (path, path.removesuffix(".md"), file.name, file.stem):
            yield file

"""The commands: they call and print. Answers and data go to stdout, talk to stderr."""

import errno
import logging
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text
from typer.core import TyperGroup

from vault_mind import render, repl
from vault_mind.config import find_vault, user_file
from vault_mind.doctor import examine
from vault_mind.errors import EditorError, SettingsError, VaultMindError, WriteFailedError
from vault_mind.memory import Memory, moment
from vault_mind.query import parse
from vault_mind.regex import Pattern
from vault_mind.session import Session, open_session
from vault_mind.stats import count
from vault_mind.sync import Progress
from vault_mind.vault import Vault

NO_MATCH = 1


def console(*, stderr: bool = False) -> Console:
    """A console that prints text as it is, whole lines, with colours on a terminal that wants them."""
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    # A width of 0, which some terminals give, would make Rich print nothing at all.
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS" or value.strip("0")}
    return Console(
        stderr=stderr,
        markup=False,
        emoji=False,
        highlight=False,
        soft_wrap=not (stderr and sys.stderr.isatty()),  # talk may wrap at a terminal, data may not
        color_system=None if plain else "auto",
        force_terminal=False if plain else None,
        _environ=environment,
    )


class Commands(TyperGroup):
    """The one place where our errors become a line on stderr and an exit code."""

    def invoke(self, ctx: Any) -> Any:  # Typer keeps the context's class to itself
        """Run the command."""
        try:
            done = super().invoke(ctx)
            sys.stdout.flush()
        except VaultMindError as error:
            console(stderr=True).print(f"vault-mind: {render.visible(str(error))}", style="red")
            raise typer.Exit(error.exit_code) from error
        except OSError as error:
            if error.errno == errno.EPIPE:  # whoever reads us has seen enough; Typer ends it quietly
                raise
            sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115  # what is left in the buffer cannot be written
            console(stderr=True).print(f"vault-mind: {render.visible(str(error))}", style="red")
            raise typer.Exit(VaultMindError.exit_code) from error
        return done


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="An assistant that remembers, in a folder of Markdown files that you own.",
    epilog="Start with: vault-mind chat. Exit codes: 0 done, 1 no match or something to fix, 2 error, 3 no reply.",
)

VaultOption = Annotated[
    Path | None,
    typer.Option(
        "--vault",
        help="The vault's folder; else VAULT_MIND_VAULT, the one you are in, ~/vault-mind.",
        show_default=False,
    ),
]
OfflineFlag = Annotated[bool, typer.Option("--offline", help="Never talk to a model: quote memories, learn by rules.")]
JsonFlag = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def _names(ctx: typer.Context, incomplete: str) -> list[str]:
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
    str, typer.Argument(metavar="PATH", help="Its path, its stem, or any part that only it has.", autocompletion=_names)
]


@app.callback()
def main(
    ctx: typer.Context,
    vault: VaultOption = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Say on stderr what happens behind the scenes.")
    ] = False,
) -> None:
    """Set up what all commands share."""
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: PTH123, SIM115  # closed by the caller: `>&-`
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: PTH123, SIM115
    for stream, errors in ((sys.stdout, "backslashreplace"), (sys.stderr, "backslashreplace"), (sys.stdin, "replace")):
        if hasattr(stream, "reconfigure"):  # another encoding costs a character, never a traceback
            stream.reconfigure(errors=errors)
    if verbose:
        logging.basicConfig(level=logging.DEBUG, format="%(name)s: %(message)s")
        for noisy in ("httpcore2", "httpx2", "anthropic", "markdown_it", "asyncio", "filelock"):
            logging.getLogger(noisy).setLevel(logging.INFO)
    ctx.obj = vault


@app.command(epilog="Example: vault-mind init ~/notes")
def init(
    ctx: typer.Context,
    folder: Annotated[Path | None, typer.Argument(help="The folder; made when missing.", show_default=False)] = None,
    vault: VaultOption = None,
    sample: Annotated[
        bool, typer.Option("--sample", help="Fill it with the made-up memories of a made-up person.")
    ] = False,
) -> None:
    """Make a vault of a folder; what is in it stays as it is."""
    chosen = folder or vault or ctx.obj or Path(os.environ.get("VAULT_MIND_VAULT") or "~/vault-mind")
    target = chosen.expanduser()
    if sample:
        _copy_sample(target)
    made = Vault.create(target)
    console(stderr=True).print(f"a vault: {render.one_line(str(made.root))}")


@app.command(epilog='Example: vault-mind chat -m "What am I allergic to?"')
def chat(
    ctx: typer.Context,
    vault: VaultOption = None,
    message: Annotated[
        list[str] | None, typer.Option("--message", "-m", help="Say this and leave; may be given several times.")
    ] = None,
    offline: OfflineFlag = False,
    model: Annotated[str | None, typer.Option("--model", help="The model that answers.", show_default=False)] = None,
) -> None:
    """Talk; with input from a pipe, say each of its lines."""
    session = _open(ctx, vault, offline=offline or None, model=model)
    _sync(session)
    interactive = not message and sys.stdin is not None and sys.stdin.isatty()
    talk = repl.Chat(session, console(), console(stderr=True), _confirm, interactive=interactive)
    if interactive:
        repl.at_terminal(talk)
    else:
        repl.from_lines(talk, message or sys.stdin or ())
        raise typer.Exit(talk.exit_code)


@app.command(epilog="Example: vault-mind remember The spare key is with Mrs Low --tag home")
def remember(
    ctx: typer.Context,
    text: Annotated[list[str], typer.Argument(metavar="TEXT", help="One sentence; - reads it from standard input.")],
    vault: VaultOption = None,
    kind: Annotated[str, typer.Option("--kind", help="fact, preference, correction, context, or your own.")] = "fact",
    tag: Annotated[list[str] | None, typer.Option("--tag", help="A tag; may be given several times.")] = None,
    json: JsonFlag = False,
) -> None:
    """Write a memory, at once and as it is."""
    session = _open(ctx, vault)
    _sync(session)
    said = " ".join(text)
    if text == ["-"]:
        said = sys.stdin.read() if sys.stdin else ""
    memory, new = session.agent.remember(said, kind=kind, tags=tag or ())
    if json:
        _print_json({"new": new, **render.memory_data(memory)})
        return
    if not new:
        console(stderr=True).print("known already:", style="dim")
    repl.put(console(), render.memories([memory], long=False))


@app.command(epilog='Example: vault-mind search "how do I take my coffee"')
def search(
    ctx: typer.Context,
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help="Words or a question.")],
    vault: VaultOption = None,
    k: Annotated[int, typer.Option("-k", help="How many at most.", min=1)] = 10,
    everything: Annotated[bool, typer.Option("--all", help="Superseded and expired ones too.")] = False,
    paths: Annotated[bool, typer.Option("--paths", help="Print paths only.")] = False,
    json: JsonFlag = False,
) -> None:
    """Show the memories that best match QUERY; exit 1 when none does."""
    session = _open(ctx, vault)
    _sync(session)
    now = _now()
    hits = session.index.ranked(parse(" ".join(query), now), k, past=everything, now=now)
    if json:
        _print_json([render.hit_data(hit) for hit in hits])
    elif paths:
        repl.put(console(), render.memories([hit.memory for hit in hits], long=False))
    else:
        repl.put(console(), render.hits(hits))
    if not hits:
        console(stderr=True).print("no memory matches", style="dim")
        raise typer.Exit(NO_MATCH)


@app.command(epilog="Example: vault-mind grep -i 'birthday|anniversary'")
def grep(
    ctx: typer.Context,
    pattern: Annotated[
        str | None,
        typer.Argument(
            metavar="PATTERN", help="A regex in RE2's syntax: no look-around, no back-references.", show_default=False
        ),
    ] = None,
    vault: VaultOption = None,
    patterns: Annotated[
        list[str] | None, typer.Option("--regexp", "-e", help="A pattern in PATTERN's place; of several any may match.")
    ] = None,
    ignore_case: Annotated[bool, typer.Option("--ignore-case", "-i", help="Capitals do not matter.")] = False,
    smart_case: Annotated[
        bool, typer.Option("--smart-case", "-S", help="Capitals matter only when PATTERN has one.")
    ] = False,
    word: Annotated[bool, typer.Option("--word-regexp", "-w", help="Match whole words only.")] = False,
    fixed: Annotated[bool, typer.Option("--fixed-strings", "-F", help="PATTERN is plain text.")] = False,
    multiline: Annotated[bool, typer.Option("--multiline", "-U", help="A match may span lines.")] = False,
    invert: Annotated[bool, typer.Option("--invert-match", "-v", help="The lines that do not match.")] = False,
    paths: Annotated[bool, typer.Option("--files-with-matches", "-l", help="Print paths only.")] = False,
    counts: Annotated[bool, typer.Option("--count", "-c", help="Print how many lines match, with -o matches.")] = False,
    only: Annotated[bool, typer.Option("--only-matching", "-o", help="Print what matched, a match a line.")] = False,
    around: Annotated[
        int | None, typer.Option("--context", "-C", help="So many lines around each, too.", min=0, show_default=False)
    ] = None,
    before: Annotated[
        int | None, typer.Option("--before-context", "-B", help="Or before each.", min=0, show_default=False)
    ] = None,
    after: Annotated[
        int | None, typer.Option("--after-context", "-A", help="Or after each.", min=0, show_default=False)
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print JSON, an object a line: path, line, text, spans; with -c path, count.")
    ] = False,
) -> None:
    """Show the lines that match a regex, as path:line:text; exit 1 when none does."""
    if (pattern is None) == (not patterns):
        raise typer.BadParameter("give it, or -e once or more", param_hint="PATTERN")
    if paths and counts:
        raise typer.BadParameter("it and -l are two answers; ask for one", param_hint="-c")
    session, out = _open(ctx, vault), console()
    compiled = Pattern(
        patterns or [pattern or ""],
        ignore_case=ignore_case,
        smart_case=smart_case,
        word=word,
        fixed=fixed,
        multiline=multiline,
        invert=invert,
        most=1 if paths else None,
        spans=json or only or out.is_terminal,
    )
    sides = [side if side is not None else around or 0 for side in (before, after)]
    view = render.GrepView(paths, counts, only and not invert, *sides)
    _sync(session)
    found = session.index.grepped(compiled)
    shown = _json_lines(out, render.grep_data(found, view)) if json else render.grep(found, view)
    if not _put_pieces(out, shown):
        raise typer.Exit(NO_MATCH)


@app.command("list", epilog="Example: vault-mind list --kind preference --since 2026-01-01")
def list_(
    ctx: typer.Context,
    vault: VaultOption = None,
    kind: Annotated[str | None, typer.Option("--kind", help="Only this kind.", show_default=False)] = None,
    tag: Annotated[str | None, typer.Option("--tag", help="Only with this tag.", show_default=False)] = None,
    source: Annotated[str | None, typer.Option("--source", help="Only from there.", show_default=False)] = None,
    since: Annotated[str | None, typer.Option("--since", help="Only from this date on.", show_default=False)] = None,
    paths: Annotated[bool, typer.Option("--paths", help="Print paths only, as into a pipe.")] = False,
    json: JsonFlag = False,
) -> None:
    """List memories, newest first; into a pipe, their paths only."""
    session = _open(ctx, vault)
    start = _moment("--since", since) if since else None
    _sync(session)
    found = [
        memory
        for memory in repl.newest(session.index.memories())
        if kind in (None, memory.kind)
        and source in (None, memory.source)
        and (tag is None or tag.removeprefix("#").casefold() in (t.casefold() for t in memory.tags))
        and (start is None or (memory.created_at is not None and memory.created_at >= start))
    ]
    if json:
        _print_json([render.memory_data(memory) for memory in found])
        return
    repl.put(console(), render.memories(found, long=sys.stdout.isatty() and not paths))
    if not found:
        console(stderr=True).print("no memories", style="dim")


@app.command(epilog="Example: vault-mind show coffee")
def show(ctx: typer.Context, path: NameArgument, vault: VaultOption = None, json: JsonFlag = False) -> None:
    """Show a memory's file as it is."""
    memory = _named(_open(ctx, vault), path)
    for warning in memory.warnings:
        console(stderr=True).print(f"warning: {render.one_line(warning)}", style="yellow")
    if json:
        _print_json(render.memory_data(memory))
    else:
        repl.put(console(), render.whole(memory))


@app.command(epilog="Example: EDITOR=nano vault-mind edit coffee")
def edit(ctx: typer.Context, path: NameArgument, vault: VaultOption = None) -> None:
    """Open a memory in your editor (VISUAL, EDITOR, or vi)."""
    session = _open(ctx, vault)
    found = session.vault.find(path)
    named = (os.environ.get(name, "").strip() for name in ("VISUAL", "EDITOR"))
    editor = next(filter(None, named), "notepad" if os.name == "nt" else "vi")
    try:
        command = [*shlex.split(editor), str(session.vault.root / found)]
        ended = subprocess.run(command, check=False).returncode  # noqa: S603  # the user's own editor
    except (OSError, ValueError) as error:
        raise EditorError(editor, str(error)) from error
    if ended:
        raise EditorError(editor, f"it ended with {ended}")
    for warning in session.vault.read(found).warnings:
        console(stderr=True).print(f"warning: {render.one_line(found)}: {render.one_line(warning)}", style="yellow")


@app.command(epilog="Example: vault-mind forget coffee")
def forget(
    ctx: typer.Context,
    path: NameArgument,
    vault: VaultOption = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Delete a memory; it asks first."""
    session = _open(ctx, vault)
    memory = _named(session, path)
    err = console(stderr=True)
    err.print(render.whole(memory), end="")
    if not yes and not _confirm(f"Forget {render.one_line(memory.path)}?"):
        err.print("kept", style="dim")
        raise typer.Exit(NO_MATCH)
    session.vault.forget(memory)
    _sync(session)
    err.print(f"forgotten: {render.one_line(memory.path)}", style="dim")


@app.command(epilog="Example: vault-mind stats --json")
def stats(ctx: typer.Context, vault: VaultOption = None, json: JsonFlag = False) -> None:
    """Count what the vault holds."""
    session = _open(ctx, vault)
    _sync(session)
    counted = count(session.index.memories(), _now())
    waiting, size = len(session.journal.waiting()), session.index.size()
    if json:
        _print_json({**vars(counted), "vault": session.vault.root, "journal": waiting, "index_bytes": size})
        return
    extra = {"journal": f"{waiting} exchanges to learn from", "index": f"{size / 1_000_000:.1f} MB, disposable"}
    repl.put(console(), render.stats(counted, {"vault": render.one_line(str(session.vault.root)), **extra}))


@app.command(epilog="Example: vault-mind doctor --json")
def doctor(ctx: typer.Context, vault: VaultOption = None, json: JsonFlag = False) -> None:
    """Say what is wrong or odd in the vault and what to do; exit 1 when there is something to fix."""
    session = _open(ctx, vault)
    _sync(session, tell=False)
    found = examine(session.vault, session.index, session.journal)
    if json:
        _print_json(found)
    else:
        repl.put(console(), render.findings(found))
    wrong = sum(not finding.remark for finding in found)
    console(stderr=True).print(f"{wrong} to fix, {len(found) - wrong} to know", style="dim")
    if wrong:
        raise typer.Exit(NO_MATCH)


@app.command(epilog="Example: vault-mind rebuild")
def rebuild(ctx: typer.Context, vault: VaultOption = None) -> None:
    """Throw the index away and make it anew; the files are only read."""
    session = _open(ctx, vault)
    with _progress() as progress:
        synced = session.index.rebuild(progress)
    console(stderr=True).print(
        f"indexed {synced.changed:,} files, {session.index.size() / 1_000_000:.1f} MB", style="dim"
    )


@app.command(epilog="Example: vault-mind config --json")
def config(ctx: typer.Context, vault: VaultOption = None, json: JsonFlag = False) -> None:
    """Show each setting, its value and where it came from."""
    session = _open(ctx, vault)
    origins = session.config.origins
    if json:
        settings = {name: {"value": getattr(session.settings, name), "from": origins[name]} for name in origins}
        data = {"vault": {"value": session.vault.root, "from": session.chosen}, **settings}
        _print_json(data)
        return
    extra = {
        "vault": (str(session.vault.root), session.chosen),
        "settings file": (str(user_file()), "yours; the vault's is .vault-mind.toml in its folder"),
        "mind": (
            session.mind.name,
            "offline was asked for, or there is no key" if session.offline else "there is a key",
        ),
    }
    repl.put(console(), render.config(session.config, session.endpoint, extra))


@app.command(epilog="Example: vault-mind version")
def version() -> None:
    """Print the version."""
    from importlib.metadata import version as installed_version  # late: it costs a tenth of a start

    console().print(f"vault-mind {installed_version('vault-mind')}")


def _open(ctx: typer.Context, vault: Path | None, **flags: object) -> Session:
    session = open_session(vault or ctx.obj, os.environ, flags=flags)
    ctx.call_on_close(session.close)
    if session.made:
        console(stderr=True).print(f"made a vault for you: {render.one_line(str(session.vault.root))}", style="dim")
    return session


def _sync(session: Session, *, tell: bool = True) -> None:
    with _progress() as progress:
        synced = session.index.sync(progress)
    for problem in synced.news if tell else ():
        console(stderr=True).print(render.problem(problem))


@contextmanager
def _progress() -> Iterator[Progress]:
    """A line on a terminal that says how far a long sync is."""
    err = console(stderr=True)
    with err.status("indexing") as status:
        yield lambda done, of: status.update(f"indexing {done:,} of {of:,}")


def _named(session: Session, name: str) -> Memory:
    return session.vault.read(session.vault.find(name))


def _confirm(question: str) -> bool:
    """Ask on stderr; anything but a yes is a no, and so is the end of the input."""
    console(stderr=True).print(f"{question} [y/N] ", end="")
    answer = sys.stdin.readline() if sys.stdin is not None else ""
    if not answer.endswith("\n"):
        console(stderr=True).print("")
    return answer.strip().lower() in ("y", "yes")


def _copy_sample(target: Path) -> None:
    package = Path(__file__).parent
    folder = package / "sample_vault"  # beside the package where it was not installed but checked out
    try:
        if target.exists() and any(target.iterdir()):
            raise WriteFailedError(str(target), "it is not empty, and the sample goes into a folder of its own")
        shutil.copytree(folder if folder.is_dir() else package.parent / "sample_vault", target, dirs_exist_ok=True)
    except OSError as error:
        raise WriteFailedError(str(target), (error.strerror or str(error)).lower()) from error


def _print_json(value: object, *, indent: int | None = 2) -> None:
    out = console()
    text = render.to_json(value, indent=indent, ascii_only="utf" not in out.encoding.lower())
    repl.put(out, Text(f"{text}\n"))


def _json_lines(out: Console, data: Iterable[object]) -> Iterator[list[render.Piece]]:
    ascii_only = "utf" not in out.encoding.lower()
    return ([(render.to_json(each, indent=None, ascii_only=ascii_only) + "\n", "")] for each in data)


def _put_pieces(out: Console, shown: Iterable[Sequence[render.Piece]]) -> bool:
    """Print each as it comes; whether there was any."""
    terminal, file, some = out.is_terminal, out.file, False
    for pieces in shown:
        some = True
        if terminal:
            repl.put(out, Text.assemble(*pieces))
        else:
            file.write("".join(text for text, _ in pieces))
    return some


def _moment(name: str, text: str) -> datetime:
    found = moment(text)
    if found is None:
        raise SettingsError(name, f"{text!r} is no date; write it as 2026-05-01", "flag")
    return found


def _now() -> datetime:
    return datetime.now().astimezone()

"""The commands: they call and print. Answers and data go to stdout, talk to stderr."""

import errno
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from vault_mind import dates, render
from vault_mind.coercion import lighten
from vault_mind.config import find_vault, user_file
from vault_mind.errors import EditorError, SettingsError, VaultMindError, WriteFailedError
from vault_mind.memory import Memory
from vault_mind.query import Query, parse, plain, written_at
from vault_mind.ranking import Hit, newest_first
from vault_mind.screen import Piece, Screen, text_of
from vault_mind.session import Session, open_session
from vault_mind.vault import Vault

if TYPE_CHECKING:
    from vault_mind.index import Index
    from vault_mind.sync import Progress

NO_MATCH = 1


class Commands(TyperGroup):
    """The one place where our errors become a line on stderr and an exit code."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # Typer keeps the context's class to itself
        """Read the options before the command."""
        lighten(self.get_params(ctx))
        return super().parse_args(ctx, args)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name."""
        command = super().get_command(ctx, cmd_name)
        lighten(command.get_params(ctx) if command else ())  # with the one for --help
        return command

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            done = super().invoke(ctx)
            sys.stdout.flush()
        except VaultMindError as error:
            _say(f"vault-mind: {render.visible(str(error))}", "red")
            raise typer.Exit(error.exit_code) from error
        except OSError as error:
            if error.errno == errno.EPIPE:  # whoever reads us has seen enough; Typer ends it quietly
                raise
            sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115  # what is left in the buffer cannot be written
            _say(f"vault-mind: {render.visible(str(error))}", "red")
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
        import logging  # late: only who asks for it sees any of it

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
    _say(f"a vault: {render.one_line(str(made.root))}")


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
    from vault_mind import repl  # late: the other commands start faster without the chat

    session = _open(ctx, vault, offline=offline or None, model=model)
    _sync(session)
    interactive = not message and sys.stdin is not None and sys.stdin.isatty()
    talk = repl.Chat(session, Screen(), Screen(stderr=True), _confirm, interactive=interactive)
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
    if not session.index.folder.is_dir():  # the first time of all may take long; later the agent's own look is enough
        _sync(session)
    said = " ".join(text)
    if text == ["-"]:
        said = sys.stdin.read() if sys.stdin else ""
    memory, new = session.agent.remember(said, kind=kind, tags=tag or ())
    for problem in session.agent.news():
        _say(render.problem(problem))
    if json:
        _print_json({"new": new, **render.memory_data(memory)})
        return
    if not new:
        _say("known already:", "dim")
    Screen().put(render.memories([memory], long=False))


@app.command(epilog="Example: vault-mind search 'coffee -milk kind:preference since:\"last month\"'")
def search(
    ctx: typer.Context,
    query: Annotated[
        list[str],
        typer.Argument(
            metavar="QUERY",
            help='Words or a question. Also "a phrase", -without, +with, kind: tag: source: path: is: since: before:'
            " and /regex/; quote it all for your shell.",
        ),
    ],
    vault: VaultOption = None,
    k: Annotated[int, typer.Option("-k", help="How many at most.", min=1)] = 10,
    everything: Annotated[bool, typer.Option("--all", help="Superseded and expired ones too.")] = False,
    words: Annotated[bool, typer.Option("--plain", help="Take QUERY as words and nothing else.")] = False,
    pinned: Annotated[bool, typer.Option("--pinned-first", help="Pinned ones that fit come first.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show what each score is made of.")] = False,
    paths: Annotated[bool, typer.Option("--paths", help="Print paths only, of what fits.")] = False,
    json: JsonFlag = False,
) -> None:
    """Show the memories that best match QUERY; exit 1 when none really does."""
    session, text, now = _open(ctx, vault), " ".join(query), _now()
    asked = plain(text) if words else parse(text, now)
    if how := asked.describe():
        _say(f"read as: {render.one_line(how)}", "dim")
    _sync(session)
    hits = session.index.ranked(asked, k, past=everything, now=now)
    _tell_of_meaning(session.index)
    if pinned:
        hits = _pinned_first(session.index, asked, hits, k, past=everything, now=now)
    fitting = render.fitting(hits)
    if hits and not fitting:
        _say(render.NOTHING_FITS if paths and not json else f"{render.NOTHING_FITS}; the nearest:", "dim")
    for word, others in session.index.guesses(asked, now).items():
        _say(f"no memory holds {render.one_line(word)}: searched for {render.one_line(', '.join(others))}", "dim")
    explanations = session.index.explained(asked, hits, past=everything, now=now) if explain else []
    if json:
        _print_json([render.hit_data(hit, each) for hit, each in zip_longest(hits, explanations)])
    elif paths:
        Screen().put(render.memories([hit.memory for hit in fitting], long=False))
    else:
        Screen().put(render.hits(hits, explanations, asked.words))
    if not hits:
        _say(_why_nothing(session.index, asked, now, past=everything), "dim")
    if not fitting:
        raise typer.Exit(NO_MATCH)


def _why_nothing(index: "Index", asked: Query, now: datetime, *, past: bool) -> str:
    """What to say when there is no hit."""
    if not (asked.ranks or asked.filters):
        return "there is no word in it to search for"
    hidden = [] if past else index.ranked(asked, 1, past=True, now=now)
    return "no memory matches" + ("; superseded or expired ones do: --all" if hidden else "")


def _tell_of_meaning(index: "Index") -> None:
    """Say it when meaning was wanted and could not be looked at, of all memories or of some."""
    if index.meaning is None:
        return
    if index.meaning.trouble:
        _say(f"searched by words alone: {render.one_line(index.meaning.trouble)}", "yellow")
    elif waiting := index.waiting():
        _say(f"{waiting:,} memories were searched by words alone; for their meaning: vault-mind embed", "dim")


def _pinned_first(index: "Index", asked: Query, hits: list[Hit], k: int, *, past: bool, now: datetime) -> list[Hit]:
    """`hits`, with every pinned memory that fits before all others."""
    if not (asked.ranks or asked.filters):
        return hits
    only = replace(asked, states=(*asked.states, "pinned"))
    first = render.fitting(index.ranked(only, k, past=past, now=now))
    paths = {hit.memory.path for hit in first}
    return [*first, *(hit for hit in hits if hit.memory.path not in paths)][:k]


@app.command(epilog="Example: vault-mind embed --download")
def embed(
    ctx: typer.Context,
    vault: VaultOption = None,
    download: Annotated[bool, typer.Option("--download", help="Fetch the model where it is not here yet.")] = False,
    json: JsonFlag = False,
) -> None:
    """Make the vectors that search by meaning lacks, with the model that embedding_model names."""
    session = _open(ctx, vault)
    if session.index.meaning is None:
        raise SettingsError("embedding_model", "no model is set; the README says which can be", "settings")
    _sync(session)
    with Screen(stderr=True).status("embedding") as tell:
        made = session.embed(lambda done, of: tell(f"embedding {done:,} of {of:,}"), download=download)
    waiting = session.index.waiting()
    if json:
        _print_json({"model": session.settings.embedding_model, "made": made, "waiting": waiting})
        return
    _say(f"{made:,} vectors made" + (f", {waiting:,} memories could not be embedded" if waiting else ""), "dim")


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
    from vault_mind.regex import Pattern  # late: only regex searches need it

    session, out = _open(ctx, vault), Screen()
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
    since: Annotated[
        str | None, typer.Option("--since", help="Only from then on: 2026-05-01, last week, …", show_default=False)
    ] = None,
    before: Annotated[str | None, typer.Option("--before", help="Only before then.", show_default=False)] = None,
    paths: Annotated[bool, typer.Option("--paths", help="Print paths only, as into a pipe.")] = False,
    json: JsonFlag = False,
) -> None:
    """List memories, newest first; into a pipe, their paths only."""
    session = _open(ctx, vault)
    start, end = _moment("--since", since), _moment("--before", before)
    _sync(session)
    found = [
        memory
        for memory in sorted(session.index.memories(), key=newest_first)
        if kind in (None, memory.kind)
        and source in (None, memory.source)
        and (tag is None or tag.removeprefix("#").casefold() in (t.casefold() for t in memory.tags))
        and _written(memory, start, end)
    ]
    if json:
        _print_json([render.memory_data(memory) for memory in found])
        return
    Screen().put(render.memories(found, long=sys.stdout.isatty() and not paths))
    if not found:
        _say("no memories", "dim")


@app.command(epilog="Example: vault-mind show coffee")
def show(ctx: typer.Context, path: NameArgument, vault: VaultOption = None, json: JsonFlag = False) -> None:
    """Show a memory's file as it is."""
    memory = _named(_open(ctx, vault), path)
    for warning in memory.warnings:
        _say(f"warning: {render.one_line(warning)}", "yellow")
    if json:
        _print_json(render.memory_data(memory))
    else:
        Screen().put(render.whole(memory))


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
        _say(f"warning: {render.one_line(found)}: {render.one_line(warning)}", "yellow")


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
    Screen(stderr=True).say(render.whole(memory), end="")
    if not yes and not _confirm(f"Forget {render.one_line(memory.path)}?"):
        _say("kept", "dim")
        raise typer.Exit(NO_MATCH)
    session.vault.forget(memory)
    _sync(session)
    session.forgotten()
    _say(f"forgotten: {render.one_line(memory.path)}", "dim")


@app.command(epilog="Example: vault-mind stats --json")
def stats(ctx: typer.Context, vault: VaultOption = None, json: JsonFlag = False) -> None:
    """Count what the vault holds."""
    from vault_mind.stats import count  # late: only this command counts
    from vault_mind.usage import account, parse_prices

    session = _open(ctx, vault)
    _sync(session)
    counted = count(session.index.memories(), _now())
    waiting, size = len(session.journal.waiting()), session.index.size()
    used = account(session.ledger.all(), parse_prices(session.settings.prices))
    if json:
        more = {"vault": session.vault.root, "journal": waiting, "index_bytes": size, "usage": used}
        _print_json({**vars(counted), **more})
        return
    extra = {"journal": f"{waiting} exchanges to learn from", "index": f"{size / 1_000_000:.1f} MB, disposable"}
    extra["tokens"] = render.account(used)
    Screen().put(render.stats(counted, {"vault": render.one_line(str(session.vault.root)), **extra}))


@app.command(epilog="Example: vault-mind doctor --json")
def doctor(ctx: typer.Context, vault: VaultOption = None, json: JsonFlag = False) -> None:
    """Say what is wrong or odd in the vault and what to do; exit 1 when there is something to fix."""
    from vault_mind.doctor import examine  # late: only this command examines

    session = _open(ctx, vault)
    _sync(session, tell=False)
    found = examine(session.vault, session.index, session.journal)
    if json:
        _print_json(found)
    else:
        Screen().put(render.findings(found))
    wrong = sum(not finding.remark for finding in found)
    _say(f"{wrong} to fix, {len(found) - wrong} to know", "dim")
    if wrong:
        raise typer.Exit(NO_MATCH)


@app.command(epilog="Example: vault-mind rebuild")
def rebuild(ctx: typer.Context, vault: VaultOption = None) -> None:
    """Throw the index away and make it anew; the files are only read."""
    session = _open(ctx, vault)
    with _progress() as progress:
        synced = session.index.rebuild(progress)
    _say(f"indexed {synced.changed:,} files, {session.index.size() / 1_000_000:.1f} MB", "dim")


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
    Screen().put(render.config(session.config, session.endpoint, extra))


@app.command(epilog="Example: vault-mind version")
def version() -> None:
    """Print the version."""
    from importlib.metadata import version as installed_version  # late: it costs a tenth of a start

    Screen().put([(f"vault-mind {installed_version('vault-mind')}\n", "")])


def _say(text: str | list[Piece], style: str = "") -> None:
    Screen(stderr=True).say(text, style)


def _open(ctx: typer.Context, vault: Path | None, **flags: object) -> Session:
    session = open_session(vault or ctx.obj, os.environ, flags=flags)
    ctx.call_on_close(session.close)
    if session.made:
        _say(f"made a vault for you: {render.one_line(str(session.vault.root))}", "dim")
    return session


def _sync(session: Session, *, tell: bool = True) -> None:
    with _progress() as progress:
        synced = session.index.sync(progress)
    for problem in synced.news if tell else ():
        _say(render.problem(problem))


@contextmanager
def _progress() -> Iterator["Progress"]:
    """A line on a terminal that says how far a long sync is."""
    with Screen(stderr=True).status("indexing") as tell:
        yield lambda done, of: tell(f"indexing {done:,} of {of:,}")


def _named(session: Session, name: str) -> Memory:
    return session.vault.read(session.vault.find(name))


def _confirm(question: str) -> bool:
    """Ask on stderr; anything but a yes is a no, and so is the end of the input."""
    Screen(stderr=True).say(f"{question} [y/N] ", end="")
    answer = sys.stdin.readline() if sys.stdin is not None else ""
    if not answer.endswith("\n"):
        _say("")
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
    out = Screen()
    out.put([(render.to_json(value, indent=indent, ascii_only=out.ascii_only) + "\n", "")])


def _json_lines(out: Screen, data: Iterable[object]) -> Iterator[list[Piece]]:
    ascii_only = out.ascii_only
    return ([(render.to_json(each, indent=None, ascii_only=ascii_only) + "\n", "")] for each in data)


def _put_pieces(out: Screen, shown: Iterable[list[Piece]]) -> bool:
    """Print each as it comes; whether there was any."""
    terminal, file, some = out.is_terminal, out.file, False
    for pieces in shown:
        some = True
        if terminal:
            out.put(pieces)
        else:
            file.write(text_of(pieces))
    return some


def _moment(name: str, text: str | None) -> datetime | None:
    """The first moment of what `text` means."""
    if not text:
        return None
    span = dates.period(text, _now())
    if span is None:
        raise SettingsError(name, f"{text!r} is no date; write it as 2026-05-01, last week, 3 days ago", "flag")
    return span[0]


def _written(memory: Memory, start: datetime | None, end: datetime | None) -> bool:
    """Whether it was written from `start` on and before `end`."""
    if start is None and end is None:
        return True
    at = written_at(memory)
    return at is not None and (start is None or at >= start) and (end is None or at < end)


def _now() -> datetime:
    return datetime.now().astimezone()

"""The commands: they call and print. Answers and data go to stdout, talk to stderr."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

from vault_mind import declared as typer  # in its words; itself it is loaded where it is needed
from vault_mind import render
from vault_mind.analysis import terms as terms_of
from vault_mind.analysis import words as words_of
from vault_mind.command import (
    NO_MATCH,
    AsOf,
    JsonFlag,
    NameArgument,
    OfflineFlag,
    SomeName,
    VaultOption,
    YesFlag,
    app,
    confirm,
    json_lines,
    looked_back,
    named,
    opened,
    print_json,
    program,
    progressing,
    right_now,
    say,
    span,
    start_history,
    sync,
)
from vault_mind.config import VAULT_FILE, strangers, user_file
from vault_mind.config import version as installed
from vault_mind.errors import EditorError, SettingsError, VaultMindError, WriteFailedError
from vault_mind.memory import Memory
from vault_mind.query import Query, parse, plain, written_at
from vault_mind.ranking import Explanation, Hit, newest_first, rank
from vault_mind.screen import Piece, Screen, text_of
from vault_mind.session import Session, open_despite
from vault_mind.vault import Vault

T = TypeVar("T")

if TYPE_CHECKING:
    from vault_mind.hindsight import Hindsight
    from vault_mind.index import Index

STATED = 1_000  # memories among which pinned ones are looked for where a query asks for states


def _print_version(wanted: bool) -> None:
    if wanted:
        version()
        raise typer.Exit


@app.callback()
def main(
    ctx: typer.Context,
    vault: VaultOption = None,
    _: Annotated[
        bool, typer.Option("--version", help="Print the version and leave.", callback=_print_version, is_eager=True)
    ] = False,
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
        for noisy in ("httpcore2", "httpx2", "anthropic", "markdown_it", "asyncio", "filelock", "watchdog"):
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
    no_git: Annotated[bool, typer.Option("--no-git", help="Keep no history.")] = False,
) -> None:
    """Make a vault of a folder; what is in it stays as it is."""
    chosen = folder or vault or ctx.obj or Path(os.environ.get("VAULT_MIND_VAULT") or "~/vault-mind")
    target = chosen.expanduser()
    new = [] if os.path.lexists(target / VAULT_FILE) else [VAULT_FILE]
    if sample:
        _copy_sample(target)
    made = Vault.create(target)
    new += sorted(made.walk().files) if sample else []
    say(f"a vault: {render.one_line(str(made.root))}")
    if not no_git:
        start_history(made, new)


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

    session = opened(ctx, vault, offline=offline or None, model=model)
    sync(session)
    interactive = not message and sys.stdin is not None and sys.stdin.isatty()
    talk = repl.Chat(session, Screen(), Screen(stderr=True), confirm, interactive=interactive)
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
    session = opened(ctx, vault)
    if session.index.unmade:  # the first time of all may take long; later the look for a twin is enough
        sync(session)
    said = " ".join(text)
    if text == ["-"]:
        said = sys.stdin.read() if sys.stdin else ""
    done = session.remembering.remember(said, kind=kind, tags=tag or (), now=right_now())
    for problem in done.news:
        say(render.problem(problem))
    for told in done.uncommitted:
        say(render.one_line(told), "yellow")
    if json:
        print_json({"new": done.new, **render.memory_data(done.memory)})
        return
    if not done.new:
        say("known already:", "dim")
    Screen().put(render.memories([done.memory], long=False))


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
    as_of: AsOf = None,
    json: JsonFlag = False,
) -> None:
    """Show the memories that best match QUERY; exit 1 when none really does."""
    session, text, now = opened(ctx, vault), " ".join(query), right_now()
    asked = plain(text) if words else parse(text, now)
    if how := asked.describe():
        say(f"read as: {render.one_line(how)}", "dim")
    sync(session)
    if held := looked_back(session, as_of):
        _put_hits(_past_hits(session, held, asked, k, everything=everything), [], asked, paths=paths, json=json)
        return
    hits = session.index.ranked(asked, k, past=everything, now=now)
    _tell_of_meaning(session.index)
    usual = hits
    if pinned:
        hits = _pinned_first(session.index, asked, usual, k, past=everything, now=now)
    for word, others in session.index.guesses(asked, now).items():
        instead = ", ".join(_as_written(others, hits, session.settings.language))
        say(f"no memory holds {render.one_line(word)}: searched for {render.one_line(instead)}", "dim")
    explanations = _explained(session.index, asked, hits, usual, past=everything, now=now) if explain else []
    if not hits:
        say(_why_nothing(session.index, asked, now, past=everything), "dim")
    _put_hits(hits, explanations, asked, paths=paths, json=json)


def _as_written(terms: Sequence[str], hits: Sequence[Hit], language: str) -> list[str]:
    """Each of `terms` as a hit has it, which is a word and no stem; as it is where none has it."""
    found = dict(zip(terms, terms, strict=True))
    for hit in reversed(hits):
        for word in words_of(hit.memory.searched[:LOOKED_AT]):
            if (own := terms_of(word, language)) and own[0] in found:
                found[own[0]] = word.casefold()
    return list(found.values())


def _put_hits(
    hits: Sequence[Hit], explanations: Sequence[Explanation], asked: Query, *, paths: bool, json: bool
) -> None:
    """Show what was found; the exit code says whether any of it fits."""
    fitting = render.fitting(hits)
    if hits and not fitting:
        say(render.NOTHING_FITS if paths and not json else f"{render.NOTHING_FITS}; the nearest:", "dim")
    if json:
        print_json([render.hit_data(hit, each) for hit, each in zip_longest(hits, explanations)])
    elif paths:
        Screen().put(render.memories([hit.memory for hit in fitting], long=False))
    else:
        Screen().put(render.hits(hits, explanations, asked.words))
    if not fitting:
        raise typer.Exit(NO_MATCH)


def _past_hits(session: Session, held: "Hindsight", asked: Query, k: int, *, everything: bool) -> list[Hit]:
    """What would have been found then, by the words alone."""
    from vault_mind.hindsight import current  # late: a search starts faster without what asks git

    among = held.memories if everything else tuple(current(held))
    found = rank(among, asked, k, language=session.settings.language, now=held.at, past=True)
    if not found:
        say("no memory matched then", "dim")
    return found


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
        say(f"searched by words alone: {render.one_line(index.meaning.trouble)}", "yellow")
    elif waiting := index.waiting():
        say(f"{waiting:,} memories were searched by words alone; for their meaning: vault-mind embed", "dim")


def _pinned_first(index: "Index", asked: Query, usual: list[Hit], k: int, *, past: bool, now: datetime) -> list[Hit]:
    """The `usual` hits, with every pinned memory that fits before all others; what is among them keeps its score."""
    if not (asked.ranks or asked.filters):
        return usual
    known = {hit.memory.path: hit for hit in usual}
    among = index.ranked(_pinned(asked), STATED if asked.states else k, past=past, now=now)
    first = render.fitting(known.get(hit.memory.path, hit) for hit in among if hit.memory.pinned)
    first = sorted(first, key=lambda hit: -hit.score)
    paths = {hit.memory.path for hit in first}
    return [*first, *(hit for hit in usual if hit.memory.path not in paths)][:k]


def _pinned(asked: Query) -> Query:
    """What pinned memories are asked for by; of several states any would do, so where some are asked for, by those."""
    return asked if asked.states else replace(asked, states=("pinned",))


def _explained(
    index: "Index", asked: Query, hits: Sequence[Hit], usual: Sequence[Hit], *, past: bool, now: datetime
) -> list[Explanation]:
    """Where the scores of `hits` come from: the `usual` ones' from all memories, the others' from the pinned alone."""
    apart = [hit for hit in hits if hit not in usual]
    found = dict(zip(map(id, usual), index.explained(asked, usual, past=past, now=now), strict=True))
    if apart:
        found |= zip(map(id, apart), index.explained(_pinned(asked), apart, past=past, now=now), strict=True)
    return [found[id(hit)] for hit in hits]


@app.command(epilog="Example: vault-mind embed --download")
def embed(
    ctx: typer.Context,
    vault: VaultOption = None,
    download: Annotated[bool, typer.Option("--download", help="Fetch the model where it is not here yet.")] = False,
    json: JsonFlag = False,
) -> None:
    """Make the vectors that search by meaning lacks, with the model that embedding_model names."""
    session = opened(ctx, vault)
    if session.index.meaning is None:
        raise SettingsError("embedding_model", "no model is set; the README says which can be", "settings")
    sync(session)
    with Screen(stderr=True).status("embedding") as tell:
        made = session.embed(lambda done, of: tell(f"embedding {done:,} of {of:,}"), download=download)
    waiting = session.index.waiting()
    if json:
        print_json({"model": session.settings.embedding_model, "made": made, "waiting": waiting})
        return
    say(f"{made:,} vectors made" + (f", {waiting:,} memories could not be embedded" if waiting else ""), "dim")


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

    session, out = opened(ctx, vault), Screen()
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
    view = render.GrepView(paths, counts, only and not invert, sides[0], sides[1], plain=not out.is_terminal)

    def shown() -> Iterator[list[Piece]]:
        found = session.index.grepped(compiled)
        return json_lines(out, render.grep_data(found, view)) if json else render.grep(found, view)

    if not _put_pieces(out, _looked_ahead(session, shown)):
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
    as_of: AsOf = None,
    json: JsonFlag = False,
) -> None:
    """List memories, newest first; into a pipe, their paths only."""
    session = opened(ctx, vault)
    since_span, before_span = span("--since", since), span("--before", before)
    start, end = since_span and since_span[0], before_span and before_span[0]
    sync(session)
    held = looked_back(session, as_of)
    found = [
        memory
        for memory in sorted(held.memories if held else session.index.memories(), key=newest_first)
        if kind in (None, memory.kind)
        and source in (None, memory.source)
        and (tag is None or tag.removeprefix("#").casefold() in (t.casefold() for t in memory.tags))
        and _written(memory, start, end)
    ]
    if json:
        print_json([render.memory_data(memory) for memory in found])
        return
    Screen().put(render.memories(found, long=sys.stdout.isatty() and not paths))
    if not found:
        say("no memories", "dim")


@app.command(epilog="Example: vault-mind show coffee")
def show(
    ctx: typer.Context, path: NameArgument, vault: VaultOption = None, as_of: AsOf = None, json: JsonFlag = False
) -> None:
    """Show a memory's file as it is, or as it was."""
    session = opened(ctx, vault)
    if as_of:
        sync(session)
    held = looked_back(session, as_of)
    memory = held.named(path) if held else named(session, path)
    for warning in memory.warnings:
        say(f"warning: {render.one_line(warning)}", "yellow")
    if json:
        print_json(render.memory_data(memory))
    else:
        Screen().put(render.whole(memory))


@app.command(epilog="Example: EDITOR=nano vault-mind edit coffee")
def edit(ctx: typer.Context, path: NameArgument, vault: VaultOption = None) -> None:
    """Open a memory in your editor (VISUAL, EDITOR, or vi)."""
    session = opened(ctx, vault)
    found = session.vault.find(path)
    named = (os.environ.get(name, "").strip() for name in ("VISUAL", "EDITOR"))
    editor = next(filter(None, named), "notepad" if os.name == "nt" else "vi")
    import shlex  # late: only this command runs another program
    import subprocess

    try:
        command = [*shlex.split(editor), str(session.vault.root / found)]
        ended = subprocess.run(command, check=False).returncode  # noqa: S603  # the user's own editor
    except (OSError, ValueError) as error:
        raise EditorError(editor, str(error)) from error
    if ended:
        raise EditorError(editor, f"it ended with {ended}")
    for warning in session.vault.read(found).warnings:
        say(f"warning: {render.one_line(found)}: {render.one_line(warning)}", "yellow")


@app.command(epilog="Example: vault-mind forget coffee. For ever: vault-mind forget coffee --purge")
def forget(
    ctx: typer.Context,
    path: SomeName = None,
    vault: VaultOption = None,
    purge: Annotated[bool, typer.Option("--purge", help="From its history and everywhere else too, for ever.")] = False,
    phrase: Annotated[
        str | None, typer.Option("--phrase", help="Purge these words wherever they stand.", show_default=False)
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Purge what was pushed, or has edits in no version.")] = False,
    backup: Annotated[
        Path | None,
        typer.Option("--backup", help="First keep the old history in this file, a git bundle.", show_default=False),
    ] = None,
    yes: YesFlag = False,
    json: JsonFlag = False,
) -> None:
    """Delete a memory; it asks first. With --purge take it out of its history too, and prove that it is gone."""
    if path is not None and phrase is not None:
        raise typer.BadParameter("it and PATH are two things; purge one after the other", param_hint="--phrase")
    if not purge and (phrase is not None or force or backup):
        raise typer.BadParameter("--phrase, --force and --backup need it", param_hint="--purge")
    if path is None and not purge:
        raise typer.BadParameter("give it", param_hint="PATH")
    session = opened(ctx, vault)
    if purge:
        cli_history.purge(session, path, phrase, force=force, backup=backup, yes=yes, json=json)
        return
    memory = named(session, path or "")
    Screen(stderr=True).say(render.whole(memory), end="")
    if not yes and not confirm(f"Forget {render.one_line(memory.path)}?"):
        say("kept", "dim")
        raise typer.Exit(NO_MATCH)
    forgotten = session.record.forget(memory, {"Source": "user"})
    for told in forgotten.told:
        say(render.one_line(told), "yellow")
    if json:
        print_json({"path": memory.path, "kept": forgotten.kept, "told": forgotten.told})
    say(f"forgotten: {render.one_line(memory.path)} ({render.one_line(forgotten.kept)})", "dim")
    sync(session)
    session.forgotten()


@app.command(epilog="Example: vault-mind stats --json")
def stats(ctx: typer.Context, vault: VaultOption = None, json: JsonFlag = False) -> None:
    """Count what the vault holds."""
    from vault_mind.stats import count  # late: only this command counts
    from vault_mind.usage import account, parse_prices

    session = opened(ctx, vault)
    sync(session)
    counted = count(session.index.memories(), right_now())
    waiting, size = len(session.journal.waiting()), session.index.size()
    used = account(session.ledger.all(), parse_prices(session.settings.prices))
    if json:
        more = {"vault": session.vault.root, "journal": waiting, "index_bytes": size, "usage": used}
        print_json({**vars(counted), **more})
        return
    extra = {"journal": f"{waiting} exchanges to learn from", "index": f"{size / 1_000_000:.1f} MB, disposable"}
    extra["tokens"] = render.account(used)
    Screen().put(render.stats(counted, {"vault": render.one_line(str(session.vault.root)), **extra}))


@app.command(epilog="Example: vault-mind doctor --json")
def doctor(
    ctx: typer.Context,
    vault: VaultOption = None,
    everything: Annotated[bool, typer.Option("--all", help="Each finding on its own, however many are alike.")] = False,
    roundtrip: Annotated[
        bool, typer.Option("--roundtrip", help="Try in a private copy that no change touches another byte.")
    ] = False,
    json: JsonFlag = False,
) -> None:
    """Say what is wrong or odd in the vault and what to do; exit 1 when there is something to fix."""
    from vault_mind.doctor import examine  # late: only this command examines

    session, trouble = open_despite(vault or ctx.obj, os.environ)
    ctx.call_on_close(session.close)
    if session.made:
        say(f"made a vault for you: {render.one_line(str(session.vault.root))}", "dim")
    if roundtrip:
        if trouble:
            raise trouble
        _prove(session, json=json)
        return
    with Screen(stderr=True).status("looking") as tell:
        report = examine(
            session.vault,
            session.index,
            session.journal,
            trouble=trouble,
            unknown=strangers(os.environ),
            progress=lambda done, of: tell(f"looking at {done:,} of {of:,}"),
        )
    if json:
        print_json(render.examined_data(report))
    else:
        Screen().put(render.examined(report, everything=everything))
    say(f"{report.to_fix} to fix, {len(report.findings) - report.to_fix} to know", "dim")
    if report.to_fix:
        raise typer.Exit(NO_MATCH)


def _prove(session: Session, *, json: bool) -> None:
    """Try promise 1 in a copy of the vault; exit 1 when a byte would differ that nobody meant."""
    from vault_mind.roundtrip import prove  # late: only this command tries it

    with _stoppable(), Screen(stderr=True).status("copying") as tell:
        found = prove(
            session.vault,
            session.settings.language,
            lambda doing, done, of: tell(f"{doing} {done:,} of {of:,}"),
        )
    if json:
        print_json(render.proof_data(found))
    else:
        Screen().put(render.proof(found))
    if not found.holds:
        raise typer.Exit(NO_MATCH)


@app.command(epilog="Example: vault-mind watch --json")
def watch(
    ctx: typer.Context,
    vault: VaultOption = None,
    poll: Annotated[
        float | None,
        typer.Option("--poll", help="Look every so many seconds, without events.", min=0.1, show_default=False),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print JSON, an object a line: at, event, path, to, kind, title.")
    ] = False,
) -> None:
    """Print each change of the vault as it lands, until Ctrl-C."""
    import signal  # late: only this command waits to be ended

    try:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        from vault_mind.watcher import Change, News, Notice, Watcher  # late: only this command and the chat watch

        session, out = opened(ctx, vault, watch_poll=poll), Screen()

        def told(news: News) -> None:
            if isinstance(news, Change):
                _put_pieces(out, json_lines(out, [render.change_data(news)]) if json else [render.change(news)])
                out.file.flush()
            elif isinstance(news, Notice):
                end = "; Ctrl-C ends it" if news.text.startswith("watching") else ""
                say(render.one_line(news.text) + end, "yellow" if news.trouble else "dim")
            else:
                say(render.problem(news))

        sync(session)
        Watcher(session.vault, session.index, told, poll=session.settings.watch_poll).run()
    except KeyboardInterrupt:
        return


@app.command(epilog="Example: vault-mind rebuild")
def rebuild(ctx: typer.Context, vault: VaultOption = None) -> None:
    """Throw the index away and make it anew; the files are only read."""
    session = opened(ctx, vault)
    with progressing() as progress:
        synced = session.index.rebuild(progress)
    say(f"indexed {synced.changed:,} files, {session.index.size() / 1_000_000:.1f} MB", "dim")


@app.command("eval", epilog="Example: vault-mind eval upkeep --model claude-haiku-4-5 --out haiku.jsonl")
def eval_(
    sets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SET]...", help="extraction, upkeep, duplicates, poisoning; else all.", show_default=False
        ),
    ] = None,
    offline: OfflineFlag = False,
    model: Annotated[str | None, typer.Option("--model", help="The model to try.", show_default=False)] = None,
    mind: Annotated[
        str | None,
        typer.Option(
            "--mind", help="worst: a mind that obeys every attack, to try the checks alone.", show_default=False
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", help="So many of each set, of every class.", min=1, show_default=False)
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="A new file for the results.", show_default=False)] = None,
    resume: Annotated[
        Path | None, typer.Option("--resume", help="Go on with these results, or show them.", show_default=False)
    ] = None,
    compare: Annotated[
        Path | None, typer.Option("--compare", help="Other results, to be shown beside.", show_default=False)
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before a model is called.")] = False,
    json: JsonFlag = False,
) -> None:
    """Measure how well learning works, on labelled sets and vaults made for it; yours is not touched."""
    from vault_mind import figures  # late: only this command measures
    from vault_mind.evaluation import Results, prepared

    if mind not in (None, "worst"):
        raise typer.BadParameter("there is only: worst", param_hint="--mind")
    if out and resume:
        raise typer.BadParameter("results go on in the file that --resume names", param_hint="--out")
    beside = Results.read(compare) if compare else None
    worst = mind is not None
    evaluation = prepared(sets or (), limit, resume, os.environ, worst=worst, offline=offline, model=model)
    if evaluation.plan.items:
        say(evaluation.describe(), "dim")
        if evaluation.costs and not yes and not confirm("Go on?"):
            raise typer.Exit(NO_MATCH)
        evaluation.begin(out, right_now())
    try:
        with Screen(stderr=True).status("trying") as tell:
            evaluation.run(lambda done, of: tell(f"tried {done:,} of {of:,}; Ctrl-C stops"))
    finally:  # whatever stops it, what has been tried is told
        rows = evaluation.rows
        if json:
            print_json({**evaluation.results.about, "figures": figures.data(rows)})
        else:
            Screen().put(figures.report(rows))
            Screen().put(
                figures.compared(rows, {name: beside.of(name) for name in rows}, str(compare)) if beside else []
            )
        for line in evaluation.ending():
            say(render.one_line(line), "dim")


@app.command(epilog="Example: vault-mind config --json")
def config(ctx: typer.Context, vault: VaultOption = None, json: JsonFlag = False) -> None:
    """Show each setting, its value and where it came from."""
    session = opened(ctx, vault)
    origins = session.config.origins
    if json:
        settings = {name: {"value": getattr(session.settings, name), "from": origins[name]} for name in origins}
        data = {"vault": {"value": session.vault.root, "from": session.chosen}, **settings}
        print_json(data)
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
    Screen().put([(f"vault-mind {installed()}\n", "")])


@contextmanager
def _stoppable() -> Iterator[None]:
    """A kill or a closed terminal is as Ctrl-C meanwhile: what is private is taken away before the end."""
    import signal  # late: only a round trip needs it

    ends = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = [(end, signal.signal(end, signal.default_int_handler)) for end in ends]
    try:
        yield
    finally:
        for end, handler in before:
            signal.signal(end, handler)


def _copy_sample(target: Path) -> None:
    import shutil  # late: only a sample is copied

    package = Path(__file__).parent
    folder = package / "sample_vault"  # beside the package where it was not installed but checked out
    try:
        if target.exists() and any(target.iterdir()):
            raise WriteFailedError(str(target), "it is not empty, and the sample goes into a folder of its own")
        shutil.copytree(folder if folder.is_dir() else package.parent / "sample_vault", target, dirs_exist_ok=True)
    except OSError as error:
        raise WriteFailedError(str(target), (error.strerror or str(error)).lower()) from error


LOOKED_AT = 20_000  # characters of a memory in which it is looked for how a word was written
AHEAD = 20_000  # memories that are made ready to be printed before it is known that nothing has changed
GATHERED = 1 << 14  # characters that are printed in one go


def _looked_ahead(session: Session, shown: Callable[[], Iterator[T]]) -> Iterator[T]:
    """Sync, then what `shown` gives; while another process still lists the vault, from what is indexed already.

    That is the answer where the sync finds nothing new.
    """
    index = session.index
    if not index.look_ahead():
        sync(session)
        return shown()
    before, found, first = index.state(), shown(), list[T]()
    with suppress(VaultMindError):  # it is told of when it is so after the sync as well
        first = list(islice(found, AHEAD))
    sync(session)
    return chain(first, found) if first and index.state() == before else shown()


def _put_pieces(out: Screen, shown: Iterable[list[Piece]]) -> bool:
    """Print each as it comes, or where that is no terminal as much at a time as a pipe takes; whether there was any."""
    terminal, file, some = out.is_terminal, out.file, False
    held, size = list[str](), 0
    try:
        for pieces in shown:
            some = True
            if terminal:
                out.put(pieces)
                continue
            text = text_of(pieces)
            held.append(text)
            size += len(text)
            if size >= GATHERED:
                whole, held, size = "".join(held), [], 0
                file.write(whole)
    finally:  # also when what comes next cannot be found
        file.write("".join(held))
    return some


def _written(memory: Memory, start: datetime | None, end: datetime | None) -> bool:
    """Whether it was written from `start` on and before `end`."""
    if start is None and end is None:
        return True
    at = written_at(memory)
    return at is not None and (start is None or at >= start) and (end is None or at < end)


from vault_mind import cli_history, cli_learn, cli_tidy  # noqa: E402, F401  # at the end: their commands stand below these

__all__ = ["app", "program"]

"""The chat: at a terminal with editing, history and completion; or line by line from a pipe."""

import logging
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment

from vault_mind import render
from vault_mind.agent import Aside, Learned, Shortened
from vault_mind.behind import Behind
from vault_mind.config import state_folder
from vault_mind.errors import EmbeddingError, ModelError, NoHistoryError, VaultMindError
from vault_mind.files import private_folder
from vault_mind.index import Index
from vault_mind.meanwhile import Meanwhile
from vault_mind.memory import Memory, decoded
from vault_mind.memory import parse as memory_of
from vault_mind.query import parse
from vault_mind.ranking import newest_first
from vault_mind.regex import Pattern
from vault_mind.screen import Piece, Screen
from vault_mind.session import Session
from vault_mind.stats import count
from vault_mind.underway import Underway
from vault_mind.usage import Spent, account, parse_prices
from vault_mind.watcher import Notice, Watcher

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.history import FileHistory

OFFLINE = "This is the offline mind: it answers by quoting your memories and learns by plain rules. "
HOW_ONLINE = "For Claude, set ANTHROPIC_API_KEY (or ANTHROPIC_BASE_URL to a server of your own)."
ASKED_OFFLINE = "Leave --offline (or the `offline` setting) out for Claude."
SHOWN_LIVE = 4_000  # characters at the end of an unfinished block of Markdown that are rendered again and again
NARROW = 20  # columns of a terminal that has none to spare
_BLANK = re.compile(r"\n[ \t]*\n")
PATIENCE = 5.0  # seconds that whoever leaves waits for what is being learned
LISTED = 20  # memories that /memories shows when it is not told how many

log = logging.getLogger(__name__)


class Leave(Exception):  # noqa: N818  # not an error: the user is done
    """The user wants to leave the chat."""


@dataclass
class Chat:
    """One chat, shown on two screens: answers and data on `out`, talk about them on `err`.

    With `behind`, learning goes on behind the prompt; else each turn learns before the next one begins.
    """

    session: Session
    out: Screen
    err: Screen
    confirm: Callable[[str], bool]
    interactive: bool = False
    exit_code: int = field(default=0, init=False)
    trouble: str | None = field(default=None, init=False)
    meanwhile: Meanwhile = field(default_factory=Meanwhile, init=False)
    _told: str | None = field(default=None, init=False)
    paused: Callable[[Callable[[], None]], None] | None = field(default=None, init=False)  # while a reply is shown live
    behind: Behind | None = field(default=None, init=False)
    underway: Underway | None = field(default=None, init=False)  # the vectors that are made meanwhile
    ring: Callable[[], None] = field(default=lambda: None, init=False)  # from any thread: there is something to tell
    wished: list[Learned] = field(default_factory=list, init=False)  # what was learned that asks to forget something

    def greet(self) -> None:
        """Say once what mind this is."""
        if self.session.offline:
            asked = self.session.settings.offline
            self.err.say(OFFLINE + (ASKED_OFFLINE if asked else HOW_ONLINE), "dim")

    def say(self, message: str) -> None:
        """One turn: recall, answer, learn; or a command. Our errors become a line, and the chat goes on."""
        if not message.strip():
            return
        self._tell(*render.meanwhile(self.meanwhile.told()))
        self._guarded(lambda: self._command(message.strip()) if message.lstrip()[0] == "/" else self._turn(message))

    def settle(self) -> None:
        """Between two prompts: tell what was learned behind them, and ask what there is to ask."""
        self._guarded(self.tell_behind)
        while self.wished:
            what = self.wished.pop(0)
            there = [memory for memory in what.wished if (self.session.vault.root / memory.path).exists()]
            self._guarded(partial(self._ask, there))
            if what.held:  # whatever the answer was
                self.session.journal.cross_off(what.held)

    def tell_learned(self) -> None:
        """Tell what was learned behind the prompt, so far; what is to be forgotten is asked later."""
        for what in self.behind.told() if self.behind else ():
            self._tell_learned(what)
            self.wished += [what] * bool(what.wished)

    @property
    def news(self) -> bool:
        """Whether there is something that `tell_behind` would tell."""
        return any(one.news for one in (self.behind, self.underway) if one is not None)

    def tell_behind(self) -> None:
        """Tell what came of all that goes on behind the prompt, so far."""
        self.tell_learned()
        if self.underway and (told := self.underway.told()):
            what, failed = told
            self.err.say(render.one_line(what), "yellow" if failed else "dim")

    def promise(self) -> None:
        """Say that there is something to be asked, to one who is typing."""
        self.err.say("you asked to forget something: once this line is sent, you will be asked whether to", "dim")

    def _guarded(self, run: Callable[[], None]) -> None:
        try:
            run()
        except VaultMindError as error:
            self._fail(str(error), error.exit_code)
        except KeyboardInterrupt:
            if not self.interactive:
                raise
            self.err.say("stopped", "dim")

    def _turn(self, message: str) -> None:
        agent = self.session.agent
        if self.behind is None and (waiting := agent.backlog()):
            self._catch_up(waiting)
        turn = self.session.ledger.begin_turn()
        recalled = agent.recall(message)
        self._tell_trouble()
        self._tell(*map(render.problem, recalled.news))
        self._tell(render.recalled(recalled), cut=True)
        try:
            reply = self._stream(agent.answer(message, recalled, aside=self._aside))
        except ModelError as error:
            self._fail(str(error), error.exit_code)
            return
        noted = agent.note(message, reply)  # first of all: from here on it is not lost
        if self.behind is not None:
            self.behind.learn(noted, turn)
        self._tell(render.missing(agent.missing(message, reply)))
        if self.behind is not None:
            self._tell_learned(noted.told)
            return
        with self.err.status("learning (Ctrl-C to leave it for later)"):
            what = agent.learned(noted)
        self._tell_learned(what)
        self._ask(what.wished)

    def _aside(self, what: Aside) -> None:
        """Tell in a line what happens in the midst of a reply."""
        shown = render.shortened(what.exchanges) if isinstance(what, Shortened) else render.looked_up(what)
        tell = partial(self._tell, shown, cut=True)
        if self.paused:
            self.paused(tell)
        else:
            tell()

    def _tell_trouble(self) -> None:
        """Say once why memories are found by their words alone."""
        meaning = self.session.index.meaning
        trouble = (meaning and meaning.trouble) or self.trouble
        if trouble and trouble != self._told:
            self.err.say(f"searched by words alone: {render.one_line(trouble)}", "yellow")
        self._told = trouble

    def _stream(self, pieces: Iterator[str]) -> str:
        if self.out.is_terminal:
            try:
                return _stream_markdown(self.out.console, pieces, self)
            finally:
                self.paused = None
        said, held = "", ""
        try:
            for piece in pieces:
                said += piece
                held += piece
                if not held.endswith("\r"):  # half of a line's end, perhaps
                    self._write(render.visible(held))
                    held = ""
        finally:  # what broke off ends its line too
            self._write(render.visible(held) + ("\n" if said and not said.endswith("\n") else ""))
        return said

    def _write(self, text: str) -> None:
        self.out.file.write(text)
        self.out.file.flush()

    def _catch_up(self, waiting: int) -> None:
        try:
            with self.err.status(f"learning from {waiting} earlier exchanges (Ctrl-C to leave them for later)"):
                learned = self.session.agent.catch_up()
        except KeyboardInterrupt:
            if not self.interactive:
                raise
            self.err.say("left for later", "dim")
            return
        for what in learned:
            self._tell_learned(what)
            self._ask(what.wished)

    def _fail(self, why: str, exit_code: int) -> None:
        self.exit_code = max(self.exit_code, exit_code)
        self.err.say(render.visible(why), "red")

    def _tell_learned(self, what: Learned) -> None:
        for memory in (*what.saved, *what.marked):
            self.meanwhile.wrote(memory)
        self._tell(*map(render.problem, what.news), render.learned(what))

    def _ask(self, wished: Sequence[Memory]) -> None:
        """Ask about what the user wished to be forgotten; who cannot be asked is told how to do it."""
        if wished:
            self.err.say("you asked to forget:", "dim")
            if self.interactive:
                self._forget(wished)
            else:  # the next line of a pipe is the next message, and no answer
                for memory in wished:
                    self.err.say(f"  to do so: vault-mind forget {render.one_line(memory.path)}", "dim")

    def _tell(self, *told: list[Piece], cut: bool = False) -> None:
        for shown in told:
            if shown:
                self.err.say(shown, cut=cut)

    def _command(self, line: str) -> None:
        name, _, rest = line[1:].partition(" ")
        known = COMMANDS.get(name.lower())
        if known is None:
            self._fail(f"no command /{render.one_line(name)}; /help lists them", 2)
            return
        known.run(self, rest.strip())

    def remember(self, text: str) -> None:
        """Write `text` as a memory."""
        if not text:
            self._fail("say what: /remember the spare key is with Mrs Low", 2)
            return
        memory, new = self.session.agent.remember(text, kind="fact")
        self.meanwhile.wrote(memory)
        self._tell(*map(render.problem, self.session.agent.news()))
        self._warn(self.session.agent.uncommitted())
        self.err.say(f"{'remembered' if new else 'known already'}: {render.one_line(memory.path)}", "dim")

    def forget(self, name: str) -> None:
        """Delete a memory, after asking."""
        vault = self.session.vault
        self._forget([vault.read(vault.find(name))])

    def _forget(self, memories: Sequence[Memory]) -> None:
        self.out.put(render.memories(memories, long=True))
        if not self.confirm("Forget it?" if len(memories) == 1 else f"Forget all {len(memories)}?"):
            self.err.say("kept", "dim")
            return
        for memory in memories:
            forgotten = self.session.record.forget(memory, {"Source": "user", "Chat": self.session.agent.chat})
            self.meanwhile.wrote(memory, gone=True)
            self._warn(forgotten.told)
            kept = render.one_line(forgotten.kept.replace("vault-mind undo", "/undo"))
            self.err.say(f"forgotten: {render.one_line(memory.path)} ({kept})", "dim")
        self.session.index.sync()
        self.session.forgotten()

    def off(self, _: str) -> None:
        """Learn nothing of what follows."""
        self.session.agent.off = True
        self.err.say("off: what is said now is neither learned nor written down; /on ends it", "dim")

    def on(self, _: str) -> None:
        """Learn again."""
        self.session.agent.off = False
        self.err.say("on: what is said is learned from", "dim")

    def undo(self, name: str) -> None:
        """Take back a turn, after showing what that changes."""
        from vault_mind import retelling  # late: a chat starts faster without what asks git

        self._await_learning()
        record = self.session.record
        if record.history.off:
            raise NoHistoryError(record.history.off)
        taken = record.taking_back(name or None)
        self.out.put(retelling.diff(taken.diff))
        if self.confirm(f"Take back {render.one_line(taken.version.subject)!r}?"):
            done = record.take_back(taken)
            self._warn(done.told)
            for step in taken.steps:
                self.meanwhile.wrote(self._as_it_is(step.path, step.now or step.then or b""), gone=step.then is None)
            kept = render.one_line(done.kept.replace("vault-mind undo", "/undo"))
            self.err.say(f"taken back: {render.one_line(taken.version.subject)} ({kept})", "dim")
        else:
            self.err.say("kept", "dim")

    def _await_learning(self) -> None:
        """Wait for what is being learned: it may be what is to be taken back."""
        if self.behind is not None:
            if self.behind.busy:
                with self.err.status("waiting for what is being learned (Ctrl-C gives up)"):
                    self.behind.finish()
            self.tell_learned()

    def _as_it_is(self, path: str, data: bytes) -> Memory:
        try:
            return self.session.vault.read(path)
        except VaultMindError:  # it is gone, as it should be
            return memory_of(path, *decoded(data))

    def _warn(self, told: Iterable[str]) -> None:
        for sentence in told:
            self.err.say(render.one_line(sentence), "yellow")

    def memories(self, amount: str) -> None:
        """List the newest memories."""
        self.session.index.sync()
        held = sorted(self.session.index.memories(), key=newest_first)
        shown = held[: int(amount[:9]) if amount.isascii() and amount.isdigit() else LISTED]
        self.out.put(render.memories(shown, long=True))
        if len(shown) < len(held):
            self.err.say(f"{len(shown)} of {len(held)}; /memories {len(held)} shows all", "dim")
        if not held:
            self.err.say("no memories yet", "dim")

    def stats(self, _: str) -> None:
        """Count the vault."""
        self.session.index.sync()
        counted = count(self.session.index.memories(), datetime.now().astimezone())
        self.out.put(render.stats(counted, {}))

    def cost(self, _: str) -> None:
        """Show the tokens that were used, and their price."""
        prices, ledger = parse_prices(self.session.settings.prices), self.session.ledger
        spent: dict[str, Sequence[Spent]] = {"this turn": ledger.turn, "this chat": ledger.here, "ever": ledger.all()}
        self.out.put(render.accounts({name: account(rows, prices) for name, rows in spent.items()}))

    def search(self, query: str) -> None:
        """Show the best matches."""
        now = datetime.now().astimezone()
        asked = parse(query, now)
        if how := asked.describe():
            self.err.say(f"read as: {render.one_line(how)}", "dim")
        hits = self.session.index.search(asked, self.session.settings.top_k, now=now)
        if not render.fitting(hits):
            self.err.say(f"{render.NOTHING_FITS}; the nearest:" if hits else "no memory matches", "dim")
        self.out.put(render.hits(hits, words=asked.words))

    def grep(self, pattern: str) -> None:
        """Show the lines that match a regex."""
        found = False
        for memory, lines in self.session.index.grep(Pattern(pattern)):
            found = True
            self.out.put(render.grep_lines(memory, lines))
        if not found:
            self.err.say("no line matches", "dim")

    def show(self, name: str) -> None:
        """Show a memory's file."""
        vault = self.session.vault
        memory = vault.read(vault.find(name))
        self.err.say(render.one_line(memory.path), "dim")
        self.out.put(render.whole(memory))

    def help(self, _: str) -> None:
        """List the commands."""
        for name, command in COMMANDS.items():
            self.out.say(f"/{name} {command.argument}".ljust(24) + command.what)
        self.out.say("Anything else is said to the assistant. Ctrl-C stops a reply, Ctrl-D leaves.")

    def quit(self, _: str) -> None:
        """Leave."""
        raise Leave


@dataclass(frozen=True)
class Command:
    """A command of the chat: what it does with the words after its name."""

    run: Callable[[Chat, str], None]
    argument: str
    what: str


COMMANDS = {
    "remember": Command(Chat.remember, "TEXT", "write TEXT as a memory, now"),
    "forget": Command(Chat.forget, "NAME", "delete a memory; it asks first"),
    "undo": Command(Chat.undo, "[VERSION]", "take back the last turn, or a version; it asks first"),
    "memories": Command(Chat.memories, "[N]", "the newest memories"),
    "search": Command(Chat.search, "QUERY", "the memories that match best"),
    "grep": Command(Chat.grep, "PATTERN", "the lines that match a regex"),
    "show": Command(Chat.show, "NAME", "a memory's file; NAME is its path, stem or a part of it"),
    "stats": Command(Chat.stats, "", "what the vault holds"),
    "cost": Command(Chat.cost, "", "the tokens of this turn, this chat and ever, and their price"),
    "off": Command(Chat.off, "", "learn nothing of what follows, and write none of it down"),
    "on": Command(Chat.on, "", "learn again"),
    "help": Command(Chat.help, "", "this list"),
    "quit": Command(Chat.quit, "", "leave (or Ctrl-D)"),
}


def from_lines(chat: Chat, lines: Iterable[str]) -> None:
    """Say each line, until the input ends or a /quit."""
    chat.greet()
    try:
        for line in lines:
            chat.say(line.rstrip("\r\n"))
    except Leave:
        return


def at_terminal(chat: Chat) -> None:
    """Talk with whoever sits at the terminal until they leave."""
    from prompt_toolkit import PromptSession  # late: only this one command edits lines
    from prompt_toolkit.output import create_output
    from prompt_toolkit.styles import Style

    folder = private_folder(state_folder(chat.session.vault.root))
    history = folder / "history"
    history.touch(mode=0o600)  # what was typed is for its owner alone
    history.chmod(0o600)
    prompts: PromptSession[str] = PromptSession(
        history=_history(str(history), chat),
        completer=_completer(chat.session),
        style=Style.from_dict({"bottom-toolbar": "noreverse dim"}),
        output=create_output(always_prefer_tty=True),  # the prompt is no data: not into `chat > answers.md`
    )
    chat.greet()
    chat.err.say("Say something, or /help. Ctrl-C stops a reply, Ctrl-D leaves.", "dim")
    warm_up = getattr(chat.session.mind, "warm_up", None)
    if warm_up:  # the SDK takes seconds to import; that is done by the time the first message is typed
        threading.Thread(target=warm_up, daemon=True).start()
    with _embedding_behind(chat, prompts), _watching(chat), _learning_behind(chat, prompts) as begun:
        while True:
            chat.settle()
            try:
                message = prompts.prompt("› ", pre_run=begun)
            except KeyboardInterrupt:
                continue
            except EOFError:
                break
            try:
                chat.say(message)
            except Leave:
                break


@contextmanager
def _learning_behind(chat: Chat, prompts: "PromptSession[str]") -> Iterator[Callable[[], None]]:
    """While the chat goes on, a thread learns; gives what is to be done whenever a prompt has begun.

    What was learned is told above the prompt, at once. What is to be asked is asked as soon as nothing stands in it.
    """
    import asyncio  # late: prompt_toolkit has brought it

    from prompt_toolkit.application import run_in_terminal  # late, as above

    app, bell = prompts.app, asyncio.Event()

    def ring() -> None:  # in the thread
        if (loop := app.loop) is not None:  # else there is no prompt, and what there is to tell waits for the next
            with suppress(RuntimeError):  # it has just ended
                loop.call_soon_threadsafe(bell.set)

    async def tell() -> None:
        while True:
            await bell.wait()
            bell.clear()
            before = len(chat.wished)
            await run_in_terminal(chat.tell_behind)
            if len(chat.wished) == before or app.is_done:
                continue
            if prompts.default_buffer.text:
                await run_in_terminal(chat.promise)
            else:
                app.erase_when_done = True
                app.exit(result="")

    def begun() -> None:
        nonlocal bell
        bell = asyncio.Event()
        app.erase_when_done = False
        if chat.news:
            bell.set()
        app.create_background_task(tell())

    behind = Behind(chat.session.beside(), ring=ring, wrote=chat.meanwhile.wrote)
    if waiting := chat.session.agent.backlog():
        chat.err.say(f"learning from {waiting} earlier {'exchange' if waiting == 1 else 'exchanges'} meanwhile", "dim")
        behind.catch_up()
    chat.behind = behind
    chat.ring = ring
    try:
        yield begun
    finally:
        _leave(chat, behind)


def _leave(chat: Chat, behind: Behind) -> None:
    """Wait a little for what is being learned, and leave the rest to the journal."""
    try:
        if behind.busy:
            chat.err.say("finishing what is being learned; Ctrl-C leaves it for the next start", "dim")
            behind.finish(PATIENCE)
        chat.settle()
    except KeyboardInterrupt:
        chat.err.say("")  # the terminal shows ^C
        chat.tell_learned()
    finally:
        behind.leave()
    if left := behind.left:
        what = "1 exchange waits" if left == 1 else f"{left} exchanges wait"
        chat.err.say(f"{what} in the journal for the next start, or for: vault-mind learn", "dim")


def _history(file: str, chat: Chat) -> "FileHistory":
    """What was typed, kept in `file` but for what must be written nowhere."""
    from prompt_toolkit.history import FileHistory  # late, as above

    class History(FileHistory):
        def store_string(self, string: str) -> None:
            if not chat.session.agent.off and not chat.session.agent.withholds(string):
                super().store_string(string)

    return History(file)


@contextmanager
def _embedding_behind(chat: Chat, prompts: "PromptSession[str]") -> Iterator[None]:
    """While the chat goes on, a thread makes the vectors that search by meaning lacks; what is made stays.

    How far it is stands below the prompt; what came of it is told above it.
    """
    try:
        chat.session.index.sync()
        waiting = chat.session.index.waiting()
    except EmbeddingError as error:  # without numpy, say: the chat goes on by words
        chat.trouble, waiting = str(error), 0
    if not waiting:
        yield
        return

    def moved() -> None:  # in the thread
        prompts.bottom_toolbar = underway.doing
        with suppress(RuntimeError):  # the prompt has just ended
            prompts.app.invalidate()

    chat.underway = underway = Underway(chat.session, waiting, moved=moved, ring=lambda: chat.ring())
    chat.err.say(f"making vectors of {waiting:,} memories in the background", "dim")
    underway.begin()
    try:
        yield
    finally:
        if underway.leave():
            chat.err.say("the vectors that are missing are made at the next start, or by: vault-mind embed", "dim")


@contextmanager
def _watching(chat: Chat) -> Iterator[None]:
    """While the chat goes on, a thread keeps the index warm and notices what others change."""
    session = chat.session
    index = Index(session.vault, language=session.settings.language)  # SQLite wants one for each thread
    watcher = Watcher(session.vault, index, chat.meanwhile.hear, poll=session.settings.watch_poll)

    def work() -> None:
        try:
            watcher.run()
        except Exception as error:  # the chat needs no watcher, and it must be known that there is none
            log.info("the watcher ended", exc_info=error)
            chat.meanwhile.hear(Notice(f"live watching is off: {error}", trouble=True))
        finally:
            index.close()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        watcher.stop()
        thread.join(0.5)  # a long sync is not waited for: the next one takes it up


def _stream_markdown(out: Console, pieces: Iterator[str], chat: Chat) -> str:
    """Show Markdown as it comes: blocks that are whole for good, the end of the one being written live.

    What `chat` has to say meanwhile stands between two blocks.
    """
    from rich.live import Live  # late: a pipe is shown no Markdown

    said, shown = "", 0

    def show(end: int) -> int:
        if (block := said[shown:end].strip("\n")).strip():
            live.update("", refresh=True)
            live.console.print(_Block(block, spaced=bool(shown)))
        return end

    def paused(tell: Callable[[], None]) -> None:
        nonlocal shown
        shown = show(len(said))
        live.stop()
        tell()
        live.start()

    with Live(console=out, refresh_per_second=12, transient=True) as live:
        chat.paused = paused
        try:
            for piece in pieces:
                said += piece
                if _BLANK.search(said, max(shown, len(said) - len(piece) - 80)):
                    shown = show(shown + _whole_blocks(said[shown:]))
                live.update(_Block(said[shown:], spaced=bool(shown), tail=True))
        finally:
            show(len(said))
    return said


class _Block:
    """A piece of Markdown between blank lines; of a `tail` only the last lines that the terminal can hold."""

    def __init__(self, text: str, *, spaced: bool, tail: bool = False) -> None:
        self._text, self._spaced, self._tail = text, spaced, tail

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        # Lines are filled up with blanks; a terminal that shows ^C behind a full one would go on to the next.
        width = options.max_width - (len("^C") if options.max_width > NARROW else 0)
        wrapped = options.update(width=width, height=None, no_wrap=False, overflow="fold")
        text = self._text
        if self._tail and len(text) > SHOWN_LIVE:  # a long list or listing: its end is all that fits anyway
            text = text[text.find("\n", len(text) - SHOWN_LIVE) + 1 :]
        from rich.markdown import Markdown  # late: it brings a parser and a highlighter, and only replies need them

        lines = console.render_lines(Markdown(render.visible(text), hyperlinks=False), wrapped, pad=False)
        while lines and not _said(lines[0]):
            lines.pop(0)
        while lines and not _said(lines[-1]):
            lines.pop()
        if self._spaced and lines:
            lines.insert(0, [])
        for line in lines[-max(options.max_height - 4, 1) :] if self._tail else lines:
            # Once more: Markdown has turned &#27; and the like into the characters themselves.
            yield from (Segment(render.visible(part.text), part.style) for part in line)
            yield Segment.line()


def _said(line: list[Segment]) -> bool:
    return any(segment.text.strip() for segment in line)


def _whole_blocks(text: str) -> int:
    """Where the last block of Markdown ends that no further words can change: a blank line outside a fence."""
    fence, end, at = "", 0, 0
    for line in text.splitlines(keepends=True):
        at += len(line)
        mark = line.lstrip()[:3]
        if mark in ("```", "~~~"):
            fence = "" if fence == mark else fence or mark
        elif not fence and not line.strip() and line.endswith("\n"):
            end = at
    return end


def _completer(session: Session) -> Any:  # the library is imported late
    from prompt_toolkit.completion import Completer, Completion  # late, as above

    class Commands(Completer):
        def get_completions(self, document: Any, complete_event: Any) -> Iterator[Any]:  # noqa: ARG002
            text = document.text_before_cursor
            if not text.startswith("/"):
                return
            name, space, rest = text[1:].partition(" ")
            if not space:
                for known, command in COMMANDS.items():
                    if known.startswith(name):
                        yield Completion(known, start_position=-len(name), display_meta=command.what)
            elif name in ("show", "forget"):
                for path in sorted(session.vault.walk().files):
                    if rest.casefold() in path.casefold():
                        yield Completion(path, start_position=-len(rest), display=render.one_line(path))

    return Commands()

"""The chat line by line, in this process; at a real terminal it is tried in test_terminal."""

import io
import os
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from tests.messages_api import Answer, MessagesApi, looking, remembering, text_of
from vault_mind import Session, Vault
from vault_mind.behind import Behind
from vault_mind.model import Request, Schema
from vault_mind.ranking import newest_first
from vault_mind.repl import COMMANDS, Chat, from_lines
from vault_mind.screen import Screen

Opened = Callable[..., Session]
Write = Callable[[str, str | bytes], Path]


@dataclass
class Talk:
    """A chat whose two streams are kept: what is data, and what is said about it."""

    session: Session
    width: int = 80
    terminal: bool = False
    asked: list[str] = field(default_factory=list)
    consent: bool = False

    def __post_init__(self) -> None:
        self.out, self.err = io.StringIO(), io.StringIO()
        self.chat = Chat(self.session, self._screen(self.out), self._screen(self.err), self._confirm, interactive=True)

    def __call__(self, *lines: str) -> str:
        """Say `lines`, as from a pipe; gives the data of this time."""
        start = len(self.out.getvalue())
        from_lines(self.chat, lines)
        return self.out.getvalue()[start:]

    @property
    def talk(self) -> str:
        """All that was said about it so far."""
        return self.err.getvalue()

    def _screen(self, file: io.StringIO) -> Screen:
        console = Console(
            file=file,
            markup=False,
            emoji=False,
            highlight=False,
            soft_wrap=True,
            width=self.width,
            force_terminal=self.terminal,
            color_system="256" if self.terminal else None,
        )
        return Screen(console=console)

    def _confirm(self, question: str) -> bool:
        self.asked.append(question)
        return self.consent


@pytest.fixture
def talk(vault: Vault, opened: Opened) -> Talk:
    """A chat with the offline mind."""
    return Talk(opened(vault.root, {}))


@pytest.fixture
def with_claude(vault: Vault, online: MessagesApi, opened: Opened) -> Talk:
    """A chat with the scripted server."""
    return Talk(opened(vault.root, dict(os.environ)))


@pytest.fixture
def at_terminal(vault: Vault, online: MessagesApi, opened: Opened) -> Talk:
    """The same, where what is shown is a terminal."""
    return Talk(opened(vault.root, dict(os.environ)), terminal=True)


def test_what_is_said_is_learned_and_answers_later(talk: Talk) -> None:
    talk("I'm allergic to hazelnuts.\n")

    answer = talk("What am I allergic to?\n")

    assert answer.startswith("From your memories:\n\n> The user is allergic to hazelnuts.\n")
    assert "learned: The user is allergic to hazelnuts. (memories/the-user-is-allergic-to-hazelnuts.md)" in talk.talk
    assert "recalled: " in talk.talk
    assert not talk.chat.exit_code


def test_whose_mind_answers_is_said_once_and_only_when_it_is_not_claude(talk: Talk, with_claude: Talk) -> None:
    talk("Hello\n")
    from_lines(with_claude.chat, ["Hello\n"])

    assert talk.talk.count("offline mind") == 1
    assert "offline mind" not in with_claude.talk


@pytest.mark.parametrize("lines", [[], ["\n"], ["", "  \n", "\t\r\n"]])
def test_nothing_is_made_of_blank_lines_and_the_end_of_input(
    with_claude: Talk, online: MessagesApi, lines: list[str]
) -> None:
    assert with_claude(*lines) == ""
    assert online.requests == []
    assert not with_claude.chat.exit_code


def test_a_message_is_sent_without_the_newline_of_its_line(with_claude: Talk, online: MessagesApi) -> None:
    with_claude("  indented \r\n")

    assert text_of(online.requests[0]["messages"][-1]).endswith("\n\n  indented ")


def test_quit_leaves_what_follows_unsaid(talk: Talk) -> None:
    answer = talk("/quit\n", "I live in Oslo.\n", "/memories\n")

    assert answer == ""
    assert list(talk.session.vault.memories()) == []


def test_help_lists_every_command_with_what_it_does(talk: Talk) -> None:
    listed = talk("/help\n")

    for name, command in COMMANDS.items():
        assert f"/{name} {command.argument}".strip() in listed
        assert command.what in listed
        assert command.run.__doc__


@pytest.mark.parametrize("line", ["/nosuch thing", "/", "/ quit", "/[bold]", "//", "/rem\x1b[31mber x"])
def test_an_unknown_command_is_said_and_sent_to_nobody(with_claude: Talk, online: MessagesApi, line: str) -> None:
    assert with_claude(line) == ""

    assert "no command /" in with_claude.talk
    assert "\x1b" not in with_claude.talk
    assert online.requests == []


def test_remember_writes_at_once_and_once(talk: Talk) -> None:
    talk("/remember The spare key is with [bold] Mrs Low.", "/REMEMBER The spare key is with [bold] Mrs Low.")

    assert [memory.body for memory in talk.session.vault.memories()] == ["The spare key is with [bold] Mrs Low."]
    assert "remembered: memories/the-spare-key" in talk.talk
    assert "known already: memories/the-spare-key" in talk.talk


def test_remember_without_a_text_asks_for_one(talk: Talk) -> None:
    talk("/remember", "/remember   ")

    assert talk.talk.count("say what") == 2
    assert list(talk.session.vault.memories()) == []


def test_forget_asks_and_a_no_keeps_it(talk: Talk, write: Write) -> None:
    file = write("tea.md", "The user drinks tea.")

    shown = talk("/forget tea")

    assert "The user drinks tea." in shown
    assert talk.asked == ["Forget it?"]
    assert file.exists()
    assert "kept" in talk.talk

    talk.consent = True
    talk("/forget tea")
    assert not file.exists()
    assert "forgotten: tea.md" in talk.talk
    assert "nothing about that" in talk("Do I drink tea?")


def test_forget_without_a_name_takes_nothing_even_when_there_is_one_memory_only(talk: Talk, write: Write) -> None:
    write("tea.md", "The user drinks tea.")

    talk("/forget", "/show")

    assert talk.asked == []
    assert "The user drinks tea." not in talk.out.getvalue()


def test_memories_lists_the_newest_and_says_how_many_more_there_are(talk: Talk, write: Write) -> None:
    assert talk("/memories") == ""
    assert "no memories yet" in talk.talk
    for day in range(1, 26):
        write(f"day-{day:02}.md", f"---\ncreated_at: 2026-05-{day:02}\n---\n\nDay [{day}].\n\nMore.\n")
    write("undated.md", "Some day.")

    listed = talk("/memories").splitlines()

    assert len(listed) == 20
    assert listed[0] == "day-25.md  note, 2026-05-25  Day [25]."
    assert "20 of 26; /memories 26 shows all" in talk.talk
    assert talk("/memories 26").splitlines()[-1] == "undated.md  note, no date  Some day."
    assert len(talk("/memories 3").splitlines()) == 3


@pytest.mark.parametrize("amount", ["²", "-1", "many", "1e3", "99999999999999999999999"])
def test_an_amount_that_is_none_lists_as_usual_and_the_chat_goes_on(talk: Talk, write: Write, amount: str) -> None:
    # "²".isdigit() is true, and int("²") a ValueError.
    write("tea.md", "The user drinks tea.")

    listed = talk(f"/memories {amount}", "/stats")

    assert "tea.md" in listed
    assert "memories" in listed


def test_search_grep_show_and_stats_look_at_the_files_as_they_are_now(talk: Talk, write: Write) -> None:
    assert talk("/search tea") == ""
    write("a.md", "---\nkind: fact\n---\n\nThe user drinks [/] green tea.\n")

    assert talk("/search tea").startswith("a.md\n    fact, no date · ")
    assert talk("/grep gr[e]+n") == "a.md:5:The user drinks [/] green tea.\n"
    assert talk("/show a") == "---\nkind: fact\n---\n\nThe user drinks [/] green tea.\n"
    assert re.search(r"^kinds +fact 1$", talk("/stats"), re.MULTILINE)
    assert talk("/search nothing", "/grep nothing", "/search") == ""
    assert talk.talk.count("no memory matches") == 3
    assert "no line matches" in talk.talk
    assert not talk.chat.exit_code


def test_search_in_the_chat_leaves_out_what_was_superseded(talk: Talk, write: Write) -> None:
    write("old.md", '---\nsuperseded_by: "[[new]]"\n---\nThe user drinks black tea.')
    write("new.md", "The user drinks green tea.")

    assert "old.md" not in talk("/search tea")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("/show nosuch", "no memory is named by 'nosuch'"),
        ("/show tea", "names 2 memories"),
        ("/forget ../x", "leads outside the vault"),
        ("/show a\0b", "no memory is named by"),
        ("/grep (", "missing )"),
        ("/grep \ud800", "bad pattern"),
        ("/remember \0", "NUL"),
    ],
)
def test_an_error_is_one_line_and_the_chat_goes_on(talk: Talk, write: Write, line: str, says: str) -> None:
    write("tea-1.md", "one")
    write("tea-2.md", "two")

    after = talk(line, "/grep two")

    assert says in talk.talk
    assert "Traceback" not in talk.talk
    assert after == "tea-2.md:1:two\n"


def test_a_name_as_long_as_a_book_is_one_line_of_error_too(talk: Talk) -> None:
    talk("/show " + "x" * 5_000, "/help")

    assert "no memory is named" in talk.talk


def test_a_model_that_fails_is_one_line_and_the_next_message_is_answered(
    with_claude: Talk, online: MessagesApi
) -> None:
    online.learning = [remembering()]
    online.script(Answer(status=529, error="overloaded_error", message="Overloaded"), Answer("Fine."))

    answer = with_claude("one", "two")

    assert answer == "Fine.\n"
    assert "the model is overloaded. Wait a moment and say it again" in with_claude.talk
    assert with_claude.chat.exit_code


def test_a_reply_that_breaks_off_shows_what_came_and_why_it_ended(with_claude: Talk, online: MessagesApi) -> None:
    online.script(Answer("Half a rep", cut=True))

    assert with_claude("one").startswith("Half a rep")
    assert "Say it again" in with_claude.talk
    assert with_claude.chat.exit_code


def test_learning_that_fails_is_said_in_a_line_and_caught_up_with_before_the_next_turn(
    with_claude: Talk, online: MessagesApi
) -> None:
    said = ("fact", "The user lives in Oslo.", "I live in Oslo")
    online.script(Answer("Noted."), Answer("no json"), remembering(said), Answer("Fine."), remembering())

    with_claude("I live in Oslo.")
    assert "nothing learned this time: the model gave no JSON; it is kept and will be tried again" in with_claude.talk
    assert not with_claude.chat.exit_code

    with_claude("Hello?")
    assert "learned: The user lives in Oslo." in with_claude.talk


def test_what_was_not_kept_is_said_with_the_reason(with_claude: Talk, online: MessagesApi) -> None:
    online.script(Answer("Noted."), remembering(("fact", "The user is [/] rich.", "I am rich")))

    with_claude("I live in Oslo.")

    assert "not kept: The user is [/] rich. (its quote is not in your message)" in with_claude.talk


def test_a_broken_file_is_told_of_once(talk: Talk, write: Write) -> None:
    write("broken.md", "---\na: [\n---\ntea")

    talk("tea?", "tea!")

    assert talk.talk.count("warning: broken.md: ") == 1


def test_the_reply_is_shown_as_it_is_with_its_controls_spelt_out(with_claude: Talk, online: MessagesApi) -> None:
    online.script(Answer("**bold** [red]x[/red] :smile: \x1b[31mred\x07\r\n日本", pieces=30))

    answer = with_claude("hi")

    assert answer.replace("^M", "") == "**bold** [red]x[/red] :smile: ^[[31mred^G\n日本\n"


def test_a_line_end_of_two_characters_may_come_in_two_pieces(with_claude: Talk, online: MessagesApi) -> None:
    online.script(Answer("one\r\ntwo\r\n", pieces=10))

    assert with_claude("hi") == "one\ntwo\n"


class Stopped:
    """A mind in the middle of whose first reply the user presses Ctrl-C."""

    name = "stopped"

    def __init__(self) -> None:
        self.requests: list[Request] = []

    def reply(self, request: Request) -> Iterator[str]:
        self.requests.append(request)
        yield "Once upon "
        yield "a time"
        if len(self.requests) == 1:
            raise KeyboardInterrupt

    def value(self, request: Request, schema: Schema) -> object:
        raise KeyboardInterrupt


@pytest.fixture
def stopped(vault: Vault, opened: Opened) -> tuple[Talk, Stopped]:
    """A chat with that mind, and the mind."""
    session, mind = opened(vault.root, {}), Stopped()
    session.__dict__["mind"] = mind  # a cached property: what stands there is taken
    return Talk(session), mind


def test_ctrl_c_stops_a_reply_and_not_the_chat(stopped: tuple[Talk, Stopped]) -> None:
    talk, mind = stopped

    talk.chat.say("Tell me a tale.")
    talk.chat.say("Go on.")

    assert "stopped" in talk.talk
    assert [(m.role, m.text) for m in mind.requests[1].messages[:2]][1] == ("assistant", "Once upon a time")
    assert talk.out.getvalue().count("Once upon a time") == 2


def test_ctrl_c_while_it_learns_leaves_the_exchange_for_later(stopped: tuple[Talk, Stopped]) -> None:
    talk, _ = stopped
    talk.chat.say("first")

    talk.chat.say("I live in Oslo.")

    kept = [waiting.exchange for waiting in talk.session.journal.waiting()]
    assert [(exchange.message, exchange.tries) for exchange in kept] == [("first", 0), ("I live in Oslo.", 0)]


def test_ctrl_c_while_it_catches_up_still_says_what_was_typed(stopped: tuple[Talk, Stopped]) -> None:
    talk, mind = stopped
    talk.chat.say("first")
    talk.chat.say("I live in Oslo.")  # learning from it is stopped

    talk.chat.say("What is the time?")

    assert [request.said for request in mind.requests][-1] == "What is the time?"


def visible_lines(shown: str) -> str:
    """What is left of a terminal's stream when its colours and movements are taken out."""
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown)


@pytest.mark.parametrize("width", [1, 2, 3, 5, 12, 80])
def test_markdown_of_every_kind_is_shown_on_a_terminal_of_any_width(
    vault: Vault, online: MessagesApi, opened: Opened, width: int
) -> None:
    talk = Talk(opened(vault.root, dict(os.environ)), width=width, terminal=True)
    text = (
        "# Title\n\nSome **bold** [link](http://x.example) and `code` :smile: [/red].\n\n- one\n- two\n  1. three\n\n"
        "> quoted\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```python\nprint('x')\n\nprint('y')\n```\n\n"
        "---\n\n![i](x.png)\n\nend\n"
    )
    online.script(Answer(text, pieces=40), remembering())

    shown = talk("hi")

    assert "\x1b]" not in shown
    assert "Traceback" not in shown
    if width == 80:
        plain = visible_lines(shown)
        for word in ("Title", ":smile: [/red].", "three", "quoted", "print('x')", "print('y')", "end"):
            assert word in plain
        assert "**bold**" not in plain


def test_what_a_reply_hides_in_entities_does_not_reach_the_terminal(at_terminal: Talk, online: MessagesApi) -> None:
    # Markdown turns `&#x202E;` and `&rlm;` into the characters themselves.
    online.script(Answer("see &#x202E;gpj.exe &rlm; &#8294;x &#x1b;]0;y&#7; &#155;31m &#13;z `&#x202e;`", pieces=2))

    shown = at_terminal("hi")

    assert not set(shown) & set("\u202e\u200f\u2066\x07\x9b")
    assert "\x1b]" not in shown


def test_a_long_list_is_shown_about_as_fast_as_it_comes(at_terminal: Talk, online: MessagesApi) -> None:
    # To parse the unfinished block again for every piece would take seconds here, and minutes for a longer list.
    online.script(Answer("Warm."), remembering())
    at_terminal("warm up")
    text = "".join(f"- item number {number} of a list\n" for number in range(80))
    online.script(Answer(text, pieces=len(text) // 4), remembering())
    start = time.process_time()

    shown = at_terminal("hi")

    assert "item number 79" in shown
    assert time.process_time() - start < 1.5


def test_the_newest_comes_first_and_what_has_no_date_last(write: Write, vault: Vault) -> None:
    write("b.md", "---\ncreated_at: 2026-05-03T08:00:00+09:00\n---\n")
    write("a.md", "---\ncreated_at: 2026-05-03T01:00:00+00:00\n---\n")
    write("c.md", "no date")
    write("d.md", "---\ncreated_at: 1900-01-01\n---\n")

    assert [memory.path for memory in sorted(vault.memories(), key=newest_first)] == ["a.md", "b.md", "d.md", "c.md"]


def test_search_in_the_chat_says_how_it_read_and_when_nothing_fits(talk: Talk, write: Write) -> None:
    for number in range(12):
        write(f"{number}.md", f"---\nkind: fact\n---\nThe user has a cup number {number}.")

    shown = talk("/search cup kind:fact")
    assert "read as: words: cup; kind: fact" in talk.talk
    assert "nothing really fits" not in talk.talk
    assert shown.startswith("0.md\n")

    assert talk("/search the train to Lisbon with a cup of rooibos in blue").count(".md\n") == 6
    assert "nothing really fits; the nearest:" in talk.talk


def test_when_nothing_fits_a_message_the_nearest_are_told_and_quoted(talk: Talk, write: Write) -> None:
    for number in range(12):
        write(f"{number}.md", f"The user has a cup number {number}.")

    answer = talk("Is there a cup of rooibos in Grandma's blue cabinet?")

    assert answer.startswith("I have nothing on that in memory. The nearest:\n\n> The user has a cup number")
    assert re.search(r"^nothing fits; nearest: \d+, \d+, \d+$", talk.talk, re.MULTILINE)


LOOKED = looking(
    ("search_memory", {"queries": ["tea", "drinks"]}), ("read_memory", {"path": "gone.md"}), text="Let me see."
)


def test_each_look_up_is_told_in_a_line_and_the_reply_is_one(
    with_claude: Talk, online: MessagesApi, write: Write
) -> None:
    write("tea.md", "The user drinks green tea.")
    online.script(LOOKED, Answer("Green tea."), remembering())

    assert with_claude("What do I like of a morning?") == "Let me see.\n\nGreen tea.\n"
    assert "searched: tea, drinks; 1 found\n" in with_claude.talk
    assert "read: gone.md; failed: gone.md: there is no memory at this path" in with_claude.talk


def test_at_a_terminal_a_look_up_stands_between_what_was_said_before_and_after_it(
    at_terminal: Talk, online: MessagesApi, write: Write
) -> None:
    write("tea.md", "The user drinks green tea.")
    online.script(LOOKED, Answer("Green tea."), remembering(), Answer("Fine."), remembering())
    at_terminal.err = at_terminal.out  # as at a terminal: one screen for both
    at_terminal.chat.err = at_terminal.chat.out

    at_terminal("What do I like of a morning?")
    at_terminal("Thanks.")

    # What the live region drew and took away again is left out: lines that stand are followed by a newline.
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", at_terminal.out.getvalue())
    whole = [line.strip() for line in shown.replace("\r", "\n").splitlines()]
    before, told, after = (
        whole.index(text) for text in ("Let me see.", "searched: tea, drinks; 1 found", "Green tea.")
    )
    assert before < told < after
    assert whole.count("searched: tea, drinks; 1 found") == 1
    assert "Fine." in whole


def test_what_a_model_asks_for_never_drives_the_terminal(with_claude: Talk, online: MessagesApi) -> None:
    wild = "\x1b]0;pwned\x07\x1b[2J\u202e"
    online.script(
        looking(("search_memory", {"queries": [wild]}), (wild, {"path": wild})), Answer("Fine."), remembering()
    )

    with_claude("Hello?")

    assert not set("\x1b\x07\u202e") & set(with_claude.talk)
    assert "searched: ^[]0;pwned^G^[[2J<U+202E>; 0 found" in with_claude.talk


def test_a_path_that_the_reply_names_and_that_is_none_is_told(
    with_claude: Talk, online: MessagesApi, write: Write
) -> None:
    write("memories/tea.md", "The user drinks green tea.")
    online.script(Answer("See `memories/tea.md`."), remembering(), Answer("See `memories/x.md`."), remembering())

    with_claude("Which tea?")
    assert "does not exist" not in with_claude.talk

    with_claude("Where does it stand?")
    assert "the reply names memories/x.md, which does not exist" in with_claude.talk


def test_a_conversation_that_is_too_long_is_told_of_and_answered(with_claude: Talk, online: MessagesApi) -> None:
    too_long = Answer(status=400, error="invalid_request_error", message="prompt is too long: 9 > 8")
    online.script(Answer("One."), remembering(), too_long, Answer("Two."), remembering())

    assert with_claude("one", "two") == "One.\nTwo.\n"
    assert "too long for the model: the first exchange is no longer sent along" in with_claude.talk


COUNTED = {
    "input_tokens": 3, "cache_read_input_tokens": 4_000, "cache_creation_input_tokens": 50, "output_tokens": 7,
}  # fmt: skip


def test_cost_shows_the_turn_the_chat_and_all_there_ever_was(
    vault: Vault, online: MessagesApi, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VAULT_MIND_PRICES", "claude-opus-4-8=5/25/0.5/6.25")
    monkeypatch.setenv("VAULT_MIND_EXTRACTION_MODEL", "tiny")
    online.script(
        Answer("One.", usage=COUNTED), Answer('{"memories": []}', usage={"input_tokens": 9, "output_tokens": 1})
    )
    Talk(opened(vault.root, dict(os.environ)))("one")
    talk = Talk(opened(vault.root, dict(os.environ)))

    before, online.answers[:] = talk("/cost"), [Answer("Two.", usage=COUNTED), remembering()]
    after = talk("two", "/cost")

    once = "answers 4,053 in (4,000 read from cache, 50 written), 7 out; learning 9 in, 1 out; $0.0025; what tiny costs"
    assert before.splitlines() == [
        "this turn  no tokens",
        "this chat  no tokens",
        f"ever       {once} is not known",
    ]
    assert "this turn  answers 4,053 in (4,000 read from cache, 50 written), 7 out; learning 10 in, 10 out" in after
    assert "ever       answers 8,106 in (8,000 read from cache, 100 written), 14 out; learning 19 in, 11 out" in after


def test_cost_tells_apart_what_was_cut_short_before_its_server_counted_it(
    vault: Vault, online: MessagesApi, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VAULT_MIND_PRICES", "claude-opus-4-8=5/25/0.5/6.25,claude-haiku-4-5=1/5")
    online.script(Answer("one two three four five six.", cut=True, usage=COUNTED), remembering())

    shown = Talk(opened(vault.root, dict(os.environ)))("one", "/cost")

    assert "7 out and about 7 of replies cut short; learning " in shown
    assert re.search(r"this chat .*; \$0\.00\d\d for what was counted$", shown, re.MULTILINE)


def test_cost_without_a_model_is_nothing_and_a_price_that_makes_no_sense_is_told(vault: Vault, opened: Opened) -> None:
    talk = Talk(opened(vault.root, {}))
    wrong = Talk(opened(vault.root, {"VAULT_MIND_PRICES": "claude"}))

    assert talk("I live in Oslo.", "/cost").endswith("ever       no tokens\n")
    wrong("/cost")

    assert "setting prices" in wrong.talk


# The history, in a chat


@pytest.fixture
def versioned(talk: Talk, owner: None) -> Talk:
    """A chat whose vault has a history."""
    talk.session.record.start([])
    talk.consent = True
    return talk


def subjects(talk: Talk) -> list[str]:
    return [version.subject for version in talk.session.record.history.versions()]


def test_undo_takes_back_what_was_just_learned_and_says_how_it_comes_back(versioned: Talk) -> None:
    versioned("I live in Oslo.\n")
    file = versioned.session.vault.root / "memories/the-user-lives-in-oslo.md"

    shown = versioned("/undo\n")
    gone = not file.exists()
    back = re.search(r"\((/undo \w+) brings it back\)", versioned.talk)
    versioned(f"{back[1] if back else ''}\n")

    assert "-The user lives in Oslo." in shown
    assert versioned.asked == [
        "Take back 'The user lives in Oslo.'?",
        "Take back 'Undo: The user lives in Oslo.'?",
    ]
    assert gone
    assert file.exists()
    assert subjects(versioned)[0] == "Undo: Undo: The user lives in Oslo."
    assert versioned.chat.exit_code == 0


def test_what_was_taken_back_is_recalled_no_more(versioned: Talk) -> None:
    versioned("I'm allergic to hazelnuts.\n", "/undo\n")

    answer = versioned("What am I allergic to?\n")

    assert "hazelnuts" not in answer


def test_undo_needs_a_yes_and_after_an_edit_by_hand_it_refuses(versioned: Talk) -> None:
    versioned("/remember The user drinks tea\n")
    file = versioned.session.vault.root / "memories/the-user-drinks-tea.md"
    versioned.consent = False
    versioned("/undo\n")
    kept = file.exists()
    file.write_text(file.read_text() + "With milk.\n")
    versioned.consent = True

    versioned("/undo\n")

    assert kept
    assert "kept\n" in versioned.talk
    assert "not undone, it was edited later by hand" in versioned.talk
    assert file.read_text().endswith("With milk.\n")
    assert len(versioned.asked) == 1


def test_undo_again_and_again_ends_in_a_sentence_and_the_chat_goes_on(versioned: Talk) -> None:
    versioned("/remember tea\n", "/undo\n", "/undo\n", "/undo nonsense\n", "/remember milk\n")

    assert "there is no turn left to take back" in versioned.talk
    assert "no version is named by 'nonsense'" in versioned.talk
    assert "remembered: memories/milk.md" in versioned.talk


def test_what_is_forgotten_in_a_chat_comes_back_by_undo(versioned: Talk) -> None:
    versioned("/remember tea\n", "/forget tea\n")
    file = versioned.session.vault.root / "memories/tea.md"
    gone = not file.exists()

    versioned("/undo\n")

    assert gone
    assert "forgotten: memories/tea.md (/undo brings it back)" in versioned.talk
    assert file.exists()
    assert versioned.session.record.history.version("HEAD~1").trailers["Chat"] == versioned.session.agent.chat


def test_without_a_history_undo_says_what_to_do(talk: Talk) -> None:
    talk("/undo\n")

    assert "there is no history: " in talk.talk
    assert "Make it one with: vault-mind init" in talk.talk
    assert talk.chat.exit_code == 2


def test_what_cannot_be_committed_is_said_once_a_turn(versioned: Talk) -> None:
    (versioned.session.record.history.place().git_dir / "rebase-merge").mkdir()

    versioned("I live in Oslo.\n", "What do I drink?\n", "/remember tea\n", "/forget tea\n")

    assert versioned.talk.count("not yet in git: a rebase is under way") == 3
    assert "forgotten: memories/tea.md (.trash/tea.md)" in versioned.talk


def test_what_takes_the_place_of_what_is_told_in_the_line(talk: Talk) -> None:
    talk("I live in Oslo.\n", "I live in Bergen.\n")

    assert (
        "learned: The user lives in Bergen. (memories/the-user-lives-in-bergen.md, in place of "
        "memories/the-user-lives-in-oslo.md)" in talk.talk
    )


def test_a_secret_is_told_of_in_one_line_that_does_not_repeat_it(talk: Talk) -> None:
    talk("My password is hunter2, so what?\n")

    assert talk.talk.count("not written down: a password or code") == 1
    assert "hunter2" not in talk.talk


def test_remember_refuses_a_secret_and_the_chat_goes_on(talk: Talk, vault: Vault) -> None:
    talk("/remember the door code is 4711\n", "/remember the spare key is with Mrs Low\n")

    assert [memory.body for memory in vault.memories()] == ["the spare key is with Mrs Low"]
    assert "it holds a password or code" in talk.talk
    assert "4711" not in talk.talk


def test_off_and_on_say_what_they_do_and_do_it(talk: Talk, vault: Vault) -> None:
    talk("/off\n", "I live in Oslo.\n", "/on\n", "I have a cat.\n")

    assert [memory.body for memory in vault.memories()] == ["The user has a cat."]
    assert "off: what is said now is neither learned nor written down; /on ends it" in talk.talk
    assert "on: what is said is learned from" in talk.talk


@pytest.mark.parametrize("consent", [True, False])
def test_what_the_user_asks_to_forget_is_shown_and_forgotten_when_they_say_yes(
    talk: Talk, vault: Vault, consent: bool
) -> None:
    talk("I live in Oslo.\n", "I have a cat.\n")
    talk.consent = consent

    shown = talk("Please forget that I live in Oslo.\n")

    assert "The user lives in Oslo." in shown
    assert talk.asked == ["Forget it?"]
    bodies = sorted(memory.body for memory in vault.memories())
    assert bodies == ["The user has a cat.", *([] if consent else ["The user lives in Oslo."])]
    assert ("forgotten: memories/the-user-lives-in-oslo.md" in talk.talk) is consent


def test_several_memories_are_asked_about_together(talk: Talk, vault: Vault, write: Write) -> None:
    for name in ("a.md", "b.md"):
        write(name, "---\nkind: fact\nsource: chat\n---\nThe user lives in Oslo.")
    talk.consent = True

    talk("Forget that I live in Oslo.\n")

    assert talk.asked == ["Forget all 2?"]
    assert list(vault.memories()) == []


# Learning behind the prompt; at a real terminal it is tried in test_terminal.


@pytest.fixture
def behind(talk: Talk) -> Iterator[Talk]:
    """A chat that learns behind its prompt."""
    talk.session.record.start([])
    talk.chat.behind = Behind(talk.session.beside(), wrote=talk.chat.meanwhile.wrote)
    yield talk
    talk.chat.behind.leave()


def settled(talk: Talk) -> None:
    """Wait until all is learned, and begin the next prompt."""
    assert talk.chat.behind
    assert talk.chat.behind.finish(60)
    talk.chat.settle()


def test_what_was_learned_behind_is_told_between_two_prompts(behind: Talk, vault: Vault) -> None:
    behind.chat.say("I live in Oslo.")
    at_once = behind.talk

    settled(behind)

    assert "learned: " not in at_once
    assert behind.talk.count("learned: The user lives in Oslo.") == 1
    behind.chat.settle()
    assert behind.talk.count("learned: ") == 1
    assert "changed meanwhile" not in behind.talk


def test_what_is_not_written_down_is_told_at_once(behind: Talk, vault: Vault) -> None:
    behind.chat.say("My password is hunter2, and I have a cat.")

    assert behind.talk.count("not written down: a password or code") == 1
    settled(behind)
    assert behind.talk.count("not written down: a password or code") == 1
    assert [memory.body for memory in vault.memories()] == ["The user has a cat."]


@pytest.mark.parametrize("consent", [True, False])
def test_what_was_wished_behind_is_asked_between_two_prompts_and_crossed_off(
    behind: Talk, vault: Vault, consent: bool
) -> None:
    behind.consent = consent
    behind.chat.say("I have a cat.")
    behind.chat.say("Forget that I have a cat.")
    behind.chat.say("I live in Oslo.")
    asked_meanwhile = list(behind.asked)

    settled(behind)

    assert asked_meanwhile == []
    assert behind.asked == ["Forget it?"]
    bodies = sorted(memory.body for memory in vault.memories())
    assert bodies == [*([] if consent else ["The user has a cat."]), "The user lives in Oslo."]
    assert behind.session.journal.waiting() == []


def test_a_wish_that_was_fulfilled_meanwhile_is_not_asked_again(behind: Talk, vault: Vault) -> None:
    behind.consent = True
    behind.chat.say("I have a cat.")
    behind.chat.say("Forget that I have a cat.")
    behind.chat.say("Please forget that I have a cat.")

    settled(behind)

    assert behind.asked == ["Forget it?"]
    assert not behind.chat.exit_code
    assert behind.session.journal.waiting() == []


def test_undo_takes_back_what_was_still_being_learned_when_it_was_typed(
    behind: Talk, vault: Vault, owner: None
) -> None:
    behind.consent = True
    behind.chat.say("I have a cat.")
    behind.chat.say("I live in Oslo.")

    behind.chat.say("/undo")

    assert behind.asked == ["Take back 'The user lives in Oslo.'?"]
    assert behind.talk.index("learned: The user lives in Oslo.") < behind.talk.index("taken back: ")
    assert [memory.body for memory in vault.memories()] == ["The user has a cat."]
    assert [version.subject for version in behind.session.record.history.versions()][:3] == [
        "Undo: The user lives in Oslo.", "The user lives in Oslo.", "The user has a cat.",
    ]  # fmt: skip


def test_what_is_said_off_the_record_stays_so_while_what_was_said_before_is_learned(behind: Talk, vault: Vault) -> None:
    for line in ("I have a cat.", "/off", "I live in Oslo.", "/on", "I'm allergic to hazelnuts."):
        behind.chat.say(line)

    settled(behind)

    assert sorted(memory.body for memory in vault.memories()) == [
        "The user has a cat.", "The user is allergic to hazelnuts.",
    ]  # fmt: skip


def test_lines_of_a_pipe_are_learned_from_one_after_the_other(with_claude: Talk, online: MessagesApi) -> None:
    said = ("fact", "The user lives in Oslo.", "I live in Oslo")
    online.learning = [Answer(remembering(said).text, delay=0.5), remembering()]

    with_claude("I live in Oslo.", "Where do I live?")

    second = [request for request in online.requests if request.get("stream")][1]
    assert "The user lives in Oslo." in text_of(second["messages"][-1])


def test_ctrl_c_while_it_is_told_what_was_learned_ends_neither_chat_nor_learning(
    behind: Talk, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    behind.chat.say("I have a cat.")
    assert behind.chat.behind
    assert behind.chat.behind.finish(60)
    pressed = iter([KeyboardInterrupt])
    say = behind.chat.err.say

    def interrupted(*said: Any, **how: Any) -> None:
        for error in pressed:
            raise error
        say(*said, **how)

    monkeypatch.setattr(behind.chat.err, "say", interrupted)
    behind.chat.settle()
    behind.chat.say("I live in Oslo.")
    settled(behind)

    assert "stopped" in behind.talk
    assert "learned: The user lives in Oslo." in behind.talk
    assert len(list(vault.memories())) == 2

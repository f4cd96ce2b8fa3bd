"""The chat from end to end, typed into a real terminal (tmux)."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Run
from tests.embeddings_api import EmbeddingsApi, Reply, serving
from tests.messages_api import Answer, MessagesApi, looking, remembering
from vault_mind import Index, Vault
from vault_mind.config import state_folder
from vault_mind.watcher import living

pytestmark = pytest.mark.skipif(not shutil.which("tmux"), reason="tmux is not installed")

CHAT = f"{shlex.quote(sys.executable)} -m vault_mind chat"
PATIENCE = 40  # seconds; only a machine that is busy with other things needs them


class Terminal:
    """A shell in a terminal of 80 columns, to type into and to look at."""

    def __init__(self, socket: Path, home: Path, height: int = 24) -> None:
        self._socket = socket
        environment = {**os.environ, "TERM": "xterm-256color", "LANG": "C.UTF-8"}
        # history-limit is taken from the server when a window is made, so it is set in the same breath.
        size = ["-x", "80", "-y", str(height)]
        command = [
            "tmux",
            "-S",
            str(socket),
            "-f",
            "/dev/null",
            "start-server",
            ";",
            "set",
            "-g",
            "history-limit",
            "5000",
        ]
        subprocess.run([*command, ";", "new-session", "-d", *size, "-c", str(home), "sh"], env=environment, check=True)

    def type(self, text: str) -> None:
        """Type `text` and Enter."""
        self._tmux("send-keys", "-l", text)
        self._tmux("send-keys", "Enter")

    def press(self, *keys: str) -> None:
        """Press keys by tmux's names, or type text as it is."""
        self._tmux("send-keys", *keys)

    def shown(self) -> str:
        """All that the terminal has shown, scrolled away or not."""
        return self._tmux("capture-pane", "-p", "-J", "-S", "-").rstrip()

    def wait_for(self, pattern: str, times: int = 1) -> str:
        """Wait until `pattern` is shown so many times."""
        deadline = time.monotonic() + PATIENCE
        while len(re.findall(pattern, self.shown(), re.MULTILINE)) < times:
            assert time.monotonic() < deadline, f"no {pattern!r} in:\n{self.shown()}"
            time.sleep(0.05)
        return self.shown()

    def close(self) -> None:
        """End the shell and what runs in it."""
        subprocess.run(["tmux", "-S", str(self._socket), "kill-server"], check=False, capture_output=True)

    def _tmux(self, *words: str) -> str:
        command = ["tmux", "-S", str(self._socket), *words]
        return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True).stdout


@pytest.fixture
def terminal(home: Path) -> Iterator[Terminal]:
    """A terminal in an empty home."""
    with tempfile.TemporaryDirectory(prefix="tmux") as folder:  # a socket's path may have 100 characters
        made = Terminal(Path(folder) / "socket", home)
        yield made
        made.close()


def test_a_first_chat_remembers_the_next_one_answers_and_follows_an_edit(terminal: Terminal, home: Path) -> None:
    terminal.type(f"{CHAT}; echo ended $?")
    greeting = terminal.wait_for("^›")
    assert "made a vault for you: " in greeting
    assert "ANTHROPIC_API_KEY" in greeting

    for number, said in enumerate(["My name is Ada.", "I live in Oslo.", "I'm allergic to hazelnuts."], 1):
        terminal.type(said)
        terminal.wait_for("^learned: The user", times=number)
    terminal.type("/quit")
    terminal.wait_for("^ended 0")

    file = home / "vault-mind" / "memories" / "the-user-is-allergic-to-hazelnuts.md"
    prompts = terminal.shown().count("›")
    terminal.type(f"{CHAT}; echo ended again $?")
    terminal.wait_for("^›", times=prompts + 1)
    terminal.type("What am I allergic to?")
    terminal.wait_for("▌ The user is allergic to hazelnuts.")
    terminal.wait_for("^›", times=prompts + 2)
    file.write_text(file.read_text(encoding="utf-8").replace("hazelnuts.", "peanuts."), encoding="utf-8")
    terminal.type("And now, what am I allergic to?")
    terminal.wait_for("▌ The user is allergic to peanuts.")
    terminal.wait_for("^›", times=prompts + 3)

    terminal.press("C-d")
    shown = terminal.wait_for("^ended again 0")
    assert "Traceback" not in shown


def test_ctrl_c_stops_a_slow_reply_and_the_chat_goes_on(terminal: Terminal, online: MessagesApi, vault: Vault) -> None:
    online.script(
        Answer("once upon a time " * 20, pieces=60, delay=0.15),
        Answer("Still here."),
        remembering(("fact", "The user lives in Oslo.", "I live in Oslo")),
    )
    terminal.type(
        f"export ANTHROPIC_BASE_URL={online.url} ANTHROPIC_API_KEY=test-key-0123456789; {CHAT}; echo ended $?"
    )
    terminal.wait_for("^›")

    terminal.press("C-c")  # at the prompt it only drops the line
    terminal.type("Tell me a tale.")
    terminal.wait_for("once upon")
    terminal.press("C-c")
    terminal.wait_for("^stopped")
    terminal.type("I live in Oslo.")
    terminal.wait_for("Still here.")
    terminal.wait_for("learned: The user lives in Oslo.")
    terminal.wait_for("^›", times=4)
    terminal.press("C-d")
    shown = terminal.wait_for("^ended 0")

    assert "Traceback" not in shown
    assert len(online.requests) == 3
    roles = [message["role"] for message in online.requests[1]["messages"]]
    assert roles == ["user", "assistant", "user"]
    told = online.requests[1]["messages"][1]["content"]
    assert ("once upon a time " * 20).startswith(told)
    stopped = shown[shown.index("Tell me a tale.") : shown.index("stopped")]
    assert stopped.count("once") == told.count("once")  # the ^C that the terminal shows leaves no line twice
    assert len(told) < len("once upon a time " * 20)


def test_a_look_up_stands_in_a_line_of_its_own_within_the_reply(
    terminal: Terminal, online: MessagesApi, vault: Vault
) -> None:
    (vault.root / "tea.md").write_text("The user drinks green tea.", encoding="utf-8")
    online.script(
        looking(("search_memory", {"queries": ["tea", "drinks"]}), text="Let me see."),
        Answer("Green tea, I think.", delay=0.05),
        remembering(),
    )
    terminal.type(
        f"export ANTHROPIC_BASE_URL={online.url} ANTHROPIC_API_KEY=test-key-0123456789; {CHAT} -m tea?; echo ended $?"
    )

    shown = terminal.wait_for("^ended 0")

    lines = [line.strip() for line in shown.splitlines() if line.strip()]
    start = lines.index("Let me see.")
    assert lines[start : start + 3] == ["Let me see.", "searched: tea, drinks; 1 found", "Green tea, I think."]
    assert shown.count("Green tea, I think.") == 1


def test_a_long_reply_is_shown_once_and_whole_however_small_the_terminal(
    terminal: Terminal, online: MessagesApi, vault: Vault
) -> None:
    parts = [
        "# A title",
        *(
            f"Paragraph {number} of this reply, long enough to be folded on a terminal of eighty columns. " * 3
            for number in range(5)
        ),
        "\n".join(f"- item {number} of the list" for number in range(40)),
        "```python\n" + "\n".join(f"line_{number} = {number}" for number in range(30)) + "\n```",
        "The end.",
    ]
    text = "\n\n".join(parts)
    online.script(Answer(text, pieces=len(text) // 8, delay=0.003), remembering())
    terminal.type(
        f"export ANTHROPIC_BASE_URL={online.url} ANTHROPIC_API_KEY=test-key-0123456789; {CHAT} -m tell; echo ended $?"
    )

    shown = terminal.wait_for("^ended 0")

    for number in range(40):
        assert len(re.findall(rf"item {number} of", shown)) == 1, f"item {number}:\n{shown}"
    for number in range(30):
        assert len(re.findall(rf"line_{number} =", shown)) == 1, f"line {number}:\n{shown}"
    for number in range(5):
        assert len(re.findall(rf"Paragraph\s+{number}\s+of", shown)) == 3
    assert shown.count("The end.") == 1
    assert shown.index("A title") < shown.index("item 0 of") < shown.index("line_0 =") < shown.index("The end.")


def test_tab_completes_commands_and_names(terminal: Terminal, vault: Vault) -> None:
    (vault.root / "memories" / "a note [x].md").write_text("one two three", encoding="utf-8")
    terminal.type(f"{CHAT}; echo ended $?")
    terminal.wait_for("^›")

    terminal.press("/re")
    terminal.wait_for("write TEXT as a memory")  # completions show up while one types; Tab takes the first
    terminal.press("Tab")
    terminal.wait_for("^› /remember")
    terminal.press(" ", "The spare key is with Mrs Low.", "Enter")
    terminal.wait_for("^remembered: memories/the-spare-key-is-with-mrs-low.md")
    terminal.press("/show note")
    terminal.wait_for(r"^ +memories/a note \[x\]\.md")
    terminal.press("Tab")
    terminal.wait_for(r"^› /show memories/a note \[x\]\.md")
    terminal.press("Enter")
    terminal.wait_for("^one two three")
    terminal.press("Up", "Up", "C-u")  # the history is there, and a line can be dropped
    terminal.type("/quit")
    terminal.wait_for("^ended 0")


def test_with_its_output_in_a_file_the_prompt_is_still_on_the_terminal(
    terminal: Terminal, vault: Vault, home: Path
) -> None:
    # Once: prompt_toolkit writes its prompt to stdout, so `chat > file` shows none and spoils the file.
    terminal.type(f"{CHAT} > out.txt; echo ended $?")
    terminal.wait_for("Ctrl-D leaves")

    terminal.type("Where do I live?")
    terminal.type("/quit")
    shown = terminal.wait_for("^ended 0")

    assert (home / "out.txt").read_text(encoding="utf-8") == "I have nothing about that in your memories.\n"
    assert "› Where do I live?" in shown


def test_what_was_typed_is_for_its_owner_alone(terminal: Terminal, vault: Vault, home: Path) -> None:
    # `chat -m` makes the state folder; prompt_toolkit would write `history` as the umask says.
    terminal.type(f"umask 022; {CHAT} -m 'I live in Oslo.'; {CHAT}; echo ended $?")
    terminal.wait_for("^›")
    terminal.type("I have a secret.")
    terminal.wait_for("^learned: The user", times=2)
    terminal.type("/quit")
    terminal.wait_for("^ended 0")

    (history,) = home.rglob("history")
    assert "I have a secret." in history.read_text(encoding="utf-8")
    assert history.stat().st_mode & 0o077 == 0
    assert history.parent.stat().st_mode & 0o077 == 0


@pytest.mark.skipif(not shutil.which("vim"), reason="vim is not installed")
def test_a_chat_says_at_its_next_turn_what_was_saved_in_vim_meanwhile(terminal: Terminal, vault: Vault) -> None:
    note = vault.root / "door.md"
    note.write_text("The door of the shed is green.\n", encoding="utf-8")
    terminal.type(f"{CHAT} --offline; echo ended $?")
    terminal.wait_for("^›")
    signs = state_folder(vault.root)
    deadline = time.monotonic() + PATIENCE
    while not living(signs):  # then it listens
        assert time.monotonic() < deadline
        time.sleep(0.05)

    terminal.type("/remember The spare key is with Mrs Low.")
    terminal.wait_for("^remembered: ")
    time.sleep(1)  # long enough for the watcher to have noticed it, most times
    terminal.type("/stats")
    terminal.wait_for("^from ")
    words = ["set swapfile backup backupskip=", "%s/green/red/", "wq"]
    commands = [part for word in words for part in ("-c", word)]
    subprocess.run(["vim", "-Nu", "NONE", "-es", *commands, str(note)], check=True)
    index = Index(vault)
    while not [hit for hit in index.ranked("red", 1) if "red" in hit.memory.body]:  # then the chat's watcher has synced
        assert time.monotonic() < deadline + PATIENCE
        index.close()
        time.sleep(0.05)
    index.close()
    time.sleep(0.5)
    terminal.type("Which colour has the door of the shed?")
    terminal.wait_for("The door of the shed is red")
    shown = terminal.wait_for("^›", times=4)
    terminal.press("C-d")
    terminal.wait_for("^ended 0")

    assert shown.count("changed meanwhile") == 1
    assert "changed meanwhile: door.md\n" in shown
    assert living(signs) == []


@pytest.mark.storm
def test_a_turn_is_taken_back_and_brought_back_in_a_chat(
    terminal: Terminal, vault: Vault, call: Run, owner: None
) -> None:
    call("init", str(vault.root))
    file = vault.root / "memories" / "the-user-lives-in-oslo.md"
    terminal.type(f"{CHAT} --offline; echo ended $?")
    terminal.wait_for("^›")

    terminal.type("I live in Oslo.")
    terminal.wait_for("^learned: The user lives in Oslo.")
    terminal.type("/undo")
    terminal.wait_for(r"^-The user lives in Oslo\.")
    terminal.wait_for(r"Take back 'The user lives in Oslo\.'\? \[y/N\]")
    terminal.type("y")
    shown = terminal.wait_for(r"\(/undo \w+ brings it back\)")
    gone = not file.exists()
    back = re.search(r"/undo \w+(?= brings it back)", shown)
    terminal.wait_for("^›", times=3)
    terminal.type(back[0] if back else "")
    terminal.wait_for(r"Take back 'Undo: The user lives in Oslo\.'\? \[y/N\]")
    terminal.type("y")
    terminal.wait_for("^taken back: ", times=2)
    terminal.press("C-d")

    assert gone
    assert file.exists()
    assert "Traceback" not in terminal.wait_for("^ended 0")


def test_what_must_be_written_nowhere_is_not_in_the_history_of_what_was_typed_either(
    terminal: Terminal, vault: Vault, home: Path
) -> None:
    terminal.type(f"{CHAT}; echo ended $?")
    terminal.wait_for("^›")
    terminal.type("My password is hunter2, and I have a cat.")
    terminal.wait_for("^not written down: a password or code")
    terminal.type("<private>I love flamingos.</private>")
    terminal.wait_for("^not written down: words that you marked private")
    terminal.type("/off")
    terminal.wait_for("^off: ")
    terminal.type("I live in Oslo.")
    terminal.wait_for("nothing else about that")
    terminal.type("/on")
    terminal.wait_for("^on: ")
    terminal.type("Forget that I have a cat.")
    terminal.wait_for(r"Forget it\? \[y/N\]")
    terminal.type("y")
    terminal.wait_for("^forgotten: memories/the-user-has-a-cat.md")
    terminal.type("/quit")
    terminal.wait_for("^ended 0")

    kept = "\n".join(file.read_bytes().decode("latin-1") for file in home.rglob("*") if file.is_file())
    assert "Forget that I have a cat." in kept
    for word in ("hunter2", "flamingos", "Oslo"):
        assert word not in kept
    assert list(vault.memories()) == []


# Learning behind the prompt

OSLO = ("fact", "The user lives in Oslo.", "I live in Oslo")


@pytest.fixture
def held() -> Iterator[threading.Event]:
    """What a server waits for; at the end it waits no more."""
    event = threading.Event()
    yield event
    event.set()


def begin_chat(terminal: Terminal, online: MessagesApi) -> None:
    """Start a chat with the scripted server."""
    terminal.type(
        f"export ANTHROPIC_BASE_URL={online.url} ANTHROPIC_API_KEY=test-key-0123456789; {CHAT}; echo ended $?"
    )
    terminal.wait_for("^›")


def leave(terminal: Terminal) -> str:
    """Press Ctrl-D at an empty prompt, and wait for the end; what was shown until then."""
    terminal.wait_for(r"^›\s*\Z")
    terminal.press("C-d")
    return terminal.wait_for("^ended 0")


def wait_for_learning(online: MessagesApi, times: int = 1) -> None:
    """Wait until so many exchanges were sent to be learned from."""
    deadline = time.monotonic() + PATIENCE
    while sum(not request.get("stream") for request in online.requests) < times:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_the_prompt_is_back_while_it_learns_and_what_is_typed_stays_as_it_was(
    terminal: Terminal, online: MessagesApi, vault: Vault, held: threading.Event
) -> None:
    online.script(Answer("Noted."))
    online.learning = [Answer(remembering(OSLO).text, until=held)]
    begin_chat(terminal, online)

    terminal.type("I live in Oslo.")
    terminal.wait_for("^Noted.")
    wait_for_learning(online)
    terminal.press("-l", "And my cat is")
    terminal.wait_for("^› And my cat is$")
    held.set()
    terminal.wait_for(r"^learned: The user lives in Oslo\.")
    terminal.press("-l", " called Tom.")
    shown = terminal.wait_for(r"^› And my cat is called Tom\.$")

    assert re.search(r"^learned: .*\n.*\n?^› And my cat is called Tom\.$", shown, re.MULTILINE)
    assert shown.count("And my cat is") == 1
    terminal.press("C-u")
    leave(terminal)


@pytest.mark.storm
def test_what_is_learned_while_a_reply_is_shown_is_told_after_it(
    terminal: Terminal, online: MessagesApi, vault: Vault, held: threading.Event
) -> None:
    online.script(Answer("Noted."), Answer("one two three four five six seven eight", pieces=8, delay=0.25))
    online.learning = [Answer(remembering(OSLO).text, until=held), remembering()]
    begin_chat(terminal, online)

    terminal.type("I live in Oslo.")
    wait_for_learning(online)
    terminal.type("Count.")
    terminal.wait_for("^one two")
    held.set()
    shown = terminal.wait_for(r"^learned: The user lives in Oslo\.")

    assert re.search(r"^one two three four five six seven eight *\n+learned: ", shown, re.MULTILINE)
    leave(terminal)


@pytest.mark.storm
def test_ctrl_c_at_the_prompt_and_in_a_reply_does_not_hurt_what_is_being_learned(
    terminal: Terminal, online: MessagesApi, vault: Vault, held: threading.Event
) -> None:
    online.script(Answer("Noted."), Answer("once upon a time " * 20, pieces=60, delay=0.15))
    online.learning = [Answer(remembering(OSLO).text, until=held), remembering()]
    begin_chat(terminal, online)

    terminal.type("I live in Oslo.")
    wait_for_learning(online)
    terminal.press("C-c")
    terminal.type("Tell me a tale.")
    terminal.wait_for("once upon")
    terminal.press("C-c")
    terminal.wait_for("^stopped")
    held.set()
    shown = terminal.wait_for(r"^learned: The user lives in Oslo\.")

    assert "Traceback" not in leave(terminal)
    assert shown.index("stopped") < shown.index("learned: ")
    assert [memory.body for memory in vault.memories()] == ["The user lives in Oslo."]


@pytest.mark.storm
@pytest.mark.parametrize("typed", ["", "Now for"])
def test_what_is_to_be_forgotten_is_asked_once_nothing_is_being_typed(
    terminal: Terminal, online: MessagesApi, vault: Vault, held: threading.Event, typed: str
) -> None:
    (vault.root / "cat.md").write_text("---\nkind: fact\nsource: chat\n---\nThe user has a cat.\n", encoding="utf-8")
    online.script(Answer("As you wish."))
    wish = '{"memories": [], "forget": [{"text": "The user has a cat.", "quote": "forget that I have a cat"}]}'
    decision = '{"decisions": [{"case": 1, "action": "forget", "memories": [1]}]}'
    online.learning = [Answer(wish, until=held), Answer(decision), remembering()]
    begin_chat(terminal, online)

    terminal.type("Please forget that I have a cat.")
    terminal.wait_for("^As you wish.")
    wait_for_learning(online)
    if typed:
        terminal.press("-l", typed)
        terminal.wait_for(f"^› {typed}$")
    held.set()
    if typed:
        terminal.wait_for("^you asked to forget something: once this line is sent, you will be asked")
        asked_too_soon = "Forget it?" in terminal.shown()
        terminal.type(" something else.")
        assert not asked_too_soon
    terminal.wait_for(r"Forget it\? \[y/N\]")
    terminal.type("y")
    terminal.wait_for(r"^forgotten: cat\.md")

    assert "Traceback" not in leave(terminal)
    assert not (vault.root / "cat.md").exists()
    said = [request for request in online.requests if request.get("stream")]
    assert len(said) == (2 if typed else 1)


@pytest.mark.storm
@pytest.mark.parametrize("patient", [True, False])
def test_undo_waits_for_what_is_being_learned_and_ctrl_c_gives_that_up(
    terminal: Terminal, online: MessagesApi, vault: Vault, call: Run, owner: None, held: threading.Event, patient: bool
) -> None:
    call("init", str(vault.root))
    online.script(Answer("Noted."))
    online.learning = [Answer(remembering(OSLO).text, until=held)]
    begin_chat(terminal, online)

    terminal.type("I live in Oslo.")
    wait_for_learning(online)
    terminal.type("/undo")
    terminal.wait_for("waiting for what is being learned")
    if patient:
        held.set()
        terminal.wait_for(r"Take back 'The user lives in Oslo\.'\? \[y/N\]")
        terminal.type("y")
        terminal.wait_for("^taken back: The user lives in Oslo.")
    else:
        terminal.press("C-c")
        terminal.wait_for("^stopped")
        held.set()
        terminal.wait_for("^learned: The user lives in Oslo.")

    assert "Traceback" not in leave(terminal)
    assert [memory.body for memory in vault.memories()] == ([] if patient else ["The user lives in Oslo."])


@pytest.mark.storm
def test_whoever_leaves_waits_a_little_and_the_rest_is_learned_at_the_next_start(
    terminal: Terminal, online: MessagesApi, vault: Vault, held: threading.Event
) -> None:
    online.script(Answer("Noted."))
    online.learning = [Answer(remembering(OSLO).text, until=held), remembering(OSLO)]
    begin_chat(terminal, online)

    terminal.type("I live in Oslo.")
    terminal.wait_for("^Noted.")
    wait_for_learning(online)
    terminal.wait_for(r"^›\s*\Z")
    terminal.press("C-d")
    terminal.wait_for("^finishing what is being learned; Ctrl-C leaves it for the next start")
    terminal.press("C-c")
    terminal.wait_for("^1 exchange waits in the journal for the next start, or for: vault-mind learn")
    terminal.wait_for("^ended 0")
    nothing_yet = list(vault.memories()) == []
    held.set()
    terminal.type(f"{CHAT}; echo ended again $?")
    terminal.wait_for("^learning from 1 earlier exchange meanwhile")
    terminal.wait_for(r"^learned: The user lives in Oslo\.")
    terminal.type("/quit")
    shown = terminal.wait_for("^ended again 0")

    assert nothing_yet
    assert "finishing" not in shown[shown.index("earlier exchange") :]
    assert [memory.body for memory in vault.memories()] == ["The user lives in Oslo."]


# --- vectors made behind the prompt -----------------------------------------------------------------


@pytest.fixture
def embeddings() -> Iterator[EmbeddingsApi]:
    """An embeddings server of one's own."""
    with serving() as api:
        yield api


def held_back(held: threading.Event) -> Reply:
    """Good vectors, as soon as they are no longer `held`."""
    return Reply(lambda good: held.wait(PATIENCE) and good)


def switch_model(terminal: Terminal, vault: Vault, embeddings: EmbeddingsApi, *replies: Reply) -> None:
    """Embed 150 memories (three requests, and one to know the model again) with one model, then chat with another."""
    for number in range(150):
        (vault.root / f"{number}.md").write_text(f"The user owns lamp {number}.\n")
    terminal.type(f"VAULT_MIND_EMBEDDING_MODEL={embeddings.url}#one {CHAT.removesuffix('chat')}embed")
    terminal.wait_for("^150 vectors made")
    embeddings.requests.clear()
    embeddings.replies[:] = replies
    terminal.type(f"clear; VAULT_MIND_EMBEDDING_MODEL={embeddings.url}#two {CHAT}; echo ended $?")
    terminal.wait_for("^making vectors of 150 memories in the background")


def test_how_far_the_vectors_are_stands_below_what_is_typed_and_that_they_are_made_above_it(
    terminal: Terminal, vault: Vault, embeddings: EmbeddingsApi, held: threading.Event
) -> None:
    switch_model(terminal, vault, embeddings, Reply(), Reply(), Reply(), held_back(held))

    terminal.wait_for("^making vectors: 128 of 150$")
    terminal.press("-l", "dropped")
    terminal.wait_for("^› dropped$")
    terminal.press("C-c")
    terminal.wait_for(r"^›\s*\n+making vectors: 128 of 150$")  # what is typed between two prompts is echoed twice
    terminal.press("-l", "which lamp")
    shown = terminal.wait_for("^› which lamp\n+making vectors: 128 of 150$")
    held.set()
    done = terminal.wait_for(r"^150 vectors made\n+› which lamp\Z")

    assert "vectors made" not in shown
    assert not re.search("making vectors: ", done)
    terminal.press("C-u", "C-d")
    assert "next start" not in terminal.wait_for("^ended 0")


def test_what_went_wrong_with_the_vectors_is_told_once_and_the_chat_goes_on(
    terminal: Terminal, vault: Vault, embeddings: EmbeddingsApi
) -> None:
    refused = Reply(status=401, raw=b'{"error": {"message": "no such key"}}')
    switch_model(terminal, vault, embeddings, Reply(), Reply(), refused)

    terminal.wait_for(r"^making vectors broke off at 64 of 150: .* rejected the\s+API key")
    terminal.type("/search lamp 7")
    shown = terminal.wait_for(r"The user owns lamp 7\.")

    assert shown.count("broke off") == 1
    assert "making vectors: " not in shown
    assert "Traceback" not in shown
    terminal.wait_for(r"^›\s*\Z")
    terminal.press("C-d")
    terminal.wait_for("^ended 0")


def test_whoever_leaves_meanwhile_keeps_the_vectors_that_were_made(
    terminal: Terminal, vault: Vault, embeddings: EmbeddingsApi, held: threading.Event
) -> None:
    switch_model(terminal, vault, embeddings, Reply(), Reply(), Reply(), held_back(held))
    terminal.wait_for("^making vectors: 128 of 150$")

    terminal.press("C-d")
    terminal.wait_for("^the vectors that are missing are made at the next start, or by: vault-mind embed$")
    terminal.wait_for("^ended 0")
    held.set()
    terminal.type(f"VAULT_MIND_EMBEDDING_MODEL={embeddings.url}#two {CHAT.removesuffix('chat')}embed")

    terminal.wait_for("^22 vectors made")

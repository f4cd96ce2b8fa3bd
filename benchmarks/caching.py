"""What a chat costs where the server's prompt cache is used well, and where it is not.

A server on this machine speaks the Messages API, answers from a script and bills as is documented: a prefix is read
from the cache as far as a marked block, or one of the 20 blocks before it, ends one that was written there within the
last 5 minutes; prefixes shorter than the model's minimum are not kept; at most 4 blocks may be marked. The real agent
talks to it through the real SDK for 30 turns over a copy of the sample vault, and looks things up in every fifth. Each
request is billed as it was sent, and once more in each of three other layouts, as if it had been sent so:

  every time     recalled memories are quoted in every turn that they bear on and stay in the history
  this turn only they are quoted in every turn that they bear on and leave the history; its end is marked
  system block   they are a second block of the system prompt, which changes every turn; the first is marked

Learning is billed apart, as it was sent and once more in each of these layouts:

  longer prompt     its own prompt, filled up to the shortest prefix that its model's cache keeps; that is marked
  the answer's end  asked of the model that answers, at the end of the very request that it has just answered

and a second chat learns only from what the answering model flags: here whatever is no question, every fifth message.

Tokens are counted as characters / 4: the shares are what is measured, not the sums. Prices are multiples of a token in
of the model that answers: 1.25 for one that is written to the cache, 0.1 for one that is read from it, and a fifth of
all that for the model that learns.

    python benchmarks/caching.py [--turns 30] [--words 120] [--seconds 40]
"""

import argparse
import copy
import hashlib
import json
import re
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from vault_mind import Agent, Index, Vault
from vault_mind.config import Endpoint, Settings
from vault_mind.journal import Journal
from vault_mind.model import Claude
from vault_mind.usage import Usage
from vault_mind.worth import ASKED, MARK

SAMPLE = Path(__file__).parent.parent / "sample_vault"
MINIMUM = {"claude-opus-4-8": 1024, "claude-haiku-4-5": 4096}  # tokens of the shortest prefix that is kept
MARKS, LOOKBACK, LIFETIME = 4, 20, 300.0  # blocks that may be marked; blocks before one that are tried; seconds
NOW = datetime(2026, 11, 29, 18, 42, tzinfo=UTC)  # for the agent, so that it recalls the same whenever this runs
LOOKS = 5  # in every so manieth turn the model looks something up
WRITTEN, READ = 1.25, 0.1  # prices beside that of a token in
DEAR = {"claude-opus-4-8": 1.0, "claude-haiku-4-5": 0.2}  # a token in, beside one of the model that answers

MESSAGES = (
    "What does my bike need before the weekend?", "And how much will that be?", "Which vet does Biscuit go to?",
    "How often does he get his tablet?", "I moved the seedlings to the cold frame today.",
    "What am I allergic to?", "Find me a cake for Lotte's birthday.", "Could it have an octopus on it?",
    "When is Nora's birthday?", "Write her a short card.", "What did we eat in Kyoto?",
    "How do I like my coffee?", "Why did the team pick PostgreSQL?", "When may I deploy this week?",
    "Explain SKIP LOCKED to me in three sentences.", "Where do I live now?", "What was wrong with the old flat?",
    "How is the tide clock made?", "What does it still have to learn?", "Which evenings am I at choir?",
    "What is Tomas working on this week?", "Plan a quiet Friday for us.", "How do I feed Gerard?",
    "What can I bake with him tomorrow?", "When may I run again?", "What could I do instead?",
    "What is my plan for next June?", "How long a ride is that?", "What do I read on trains?",
    "Thanks, that is all.",
)  # fmt: skip
_TALK = (
    "That depends on what you have at home and on how much time you want to give it this week . The short answer is "
    "yes , and the longer one has two parts that are worth keeping apart . First , look at what is already there and "
    "leave it as it is where it works . Then change one thing at a time , so that you can tell what helped . If it "
    "gets late , stop there and go on in the morning ; nothing of it is urgent . You said before that you like things "
    "plain , so I would leave out the rest and do just that . "
)
_MEMORIES = re.compile(r"\A<memories([^>]*)>\n(.*?)</memories>\n\n", re.DOTALL)
_MEMORY = re.compile(r'<memory path="([^"]*)".*?</memory>\n', re.DOTALL)
_ABOVE = re.compile(r' above="([^"]*)"')

Body = dict[str, Any]
Layout = Callable[[Body], Body]


@dataclass
class Bill:
    """A cache as the server keeps it, and what was read from it, written to it, and neither."""

    kept: dict[str, float] = field(default_factory=dict)  # a prefix, and until when
    usages: list[Usage] = field(default_factory=list)
    dear: float = 1.0  # a token in, beside one of the model that answers

    def charge(self, body: Body, now: float) -> Usage:
        """The tokens that `body` costs, sent at `now` (seconds)."""
        keys, ends, marked = _prefixes(body)
        if len(marked) > MARKS:
            raise ValueError(f"{len(marked)} blocks are marked")
        least = MINIMUM[body["model"]]
        tried = {at for mark in marked for at in range(max(mark - LOOKBACK + 1, 0), mark + 1)}
        found = [at for at in tried if self.kept.get(keys[at], 0.0) > now]
        read = max((ends[at] for at in found), default=0)
        for at in found:
            self.kept[keys[at]] = now + LIFETIME
        written = read
        for mark in (mark for mark in marked if ends[mark] >= least):
            self.kept[keys[mark]] = now + LIFETIME
            written = max(written, ends[mark])
        self.usages.append(Usage(ends[-1] - written, read, written - read))
        return self.usages[-1]

    @property
    def total(self) -> Usage:
        """The sum."""
        return sum(self.usages, Usage())

    @property
    def share(self) -> float:
        """The part of all tokens in that was read from the cache."""
        return self.total.read / max(self.total.sent, 1)

    @property
    def price(self) -> float:
        """What was paid, as so many tokens in of the model that answers, at their plain price."""
        return self.dear * (self.total.fresh + WRITTEN * self.total.written + READ * self.total.read)


def _prefixes(body: Body) -> tuple[list[str], list[int], list[int]]:
    """Of each block, in the order in which they are cached, the key and the tokens up to its end; which are marked."""
    blocks: list[tuple[str, Mapping[str, Any]]] = [("tool", tool) for tool in body.get("tools", ())]
    blocks += [("system", block) for block in body["system"]]
    for message in body["messages"]:
        content = message["content"]
        content = [{"type": "text", "text": content}] if isinstance(content, str) else content
        blocks += [(message["role"], block) for block in content]
    keys, ends, marked = [], [], []
    hashed, end = hashlib.sha256(), 0
    for number, (where, block) in enumerate(blocks):
        plain = json.dumps({name: value for name, value in block.items() if name != "cache_control"}, sort_keys=True)
        hashed.update(f"{where} {plain}\n".encode())
        end += -(-len(plain) // 4)
        keys.append(hashed.hexdigest())
        ends.append(end)
        if "cache_control" in block:
            marked.append(number)
    return keys, ends, marked


@dataclass
class Quoting:
    """The layouts in which a memory is quoted whole in every turn that it bears on."""

    said: dict[str, str] = field(default_factory=dict)  # a memory by its path
    whole: dict[str, str] = field(default_factory=dict)  # a question with all its memories, by the question as sent

    def every_time(self, body: Body) -> Body:
        """They stay in the history."""
        body, asked, memories = self._plain(body)
        for message in _texts(body):
            message["content"] = self.whole.get(message["content"], message["content"])
        asked["content"] = memories + asked["content"]
        return _marked(body)

    def this_turn_only(self, body: Body) -> Body:
        """They leave the history, the end of which is marked."""
        body, asked, memories = self._plain(body)
        for message in _texts(body):
            message["content"] = _MEMORIES.sub("", message["content"])
        asked["content"] = memories + asked["content"]
        body = _marked(body, question=False)
        at = body["messages"].index(asked)
        if at:
            before = body["messages"][at - 1]
            before["content"] = [{"type": "text", "text": before["content"]}]
            _mark(before["content"][0])
        return body

    def system_block(self, body: Body) -> Body:
        """They are a second block of the system prompt."""
        body, _, memories = self._plain(body)
        for message in _texts(body):
            message["content"] = _MEMORIES.sub("", message["content"])
        _mark(body["system"][0])
        body["system"].append({"type": "text", "text": memories or "Nothing was recalled."})
        return body

    def _plain(self, body: Body) -> tuple[Body, dict[str, Any], str]:
        """`body` without marks, the question in it without its memories, and those, each of them whole."""
        body = _unmarked(body)
        asked = _texts(body)[-1]
        sent = asked["content"]
        found = _MEMORIES.match(sent)
        memories = ""
        if found:
            self.said |= {block[1]: block[0] for block in _MEMORY.finditer(found[2])}
            above = _ABOVE.search(found[1])
            again = "".join(self.said.get(path, "") for path in (above[1].split(", ") if above else ()))
            memories = f"<memories{_ABOVE.sub('', found[1])}>\n{found[2]}{again}</memories>\n\n"
        asked["content"] = _MEMORIES.sub("", sent)
        self.whole[sent] = memories + asked["content"]
        return body, asked, memories


@dataclass
class Learning:
    """A bill for each way to ask what is to be learned; each has a cache of its own."""

    bills: dict[str, Bill] = field(default_factory=dict)
    answered: Body = field(default_factory=dict)  # the last request for an answer
    shared: Bill = field(default_factory=Bill)  # the cache in which answers and learning share a prefix
    now: float = 0.0

    def heard(self, body: Body, content: list[dict[str, Any]]) -> None:
        """Keep what was asked and answered."""
        self.shared.charge(body, self.now)
        self.answered = {**body, "messages": [*body["messages"], {"role": "assistant", "content": content}]}

    def charge(self, body: Body) -> Usage:
        """Bill a request to learn; what it costs as it was sent."""
        dear = DEAR[body["model"]]
        usage = self.bills.setdefault("as it is", Bill(dear=dear)).charge(body, self.now)
        self.bills.setdefault("longer prompt", Bill(dear=dear)).charge(_filled_up(body), self.now)
        end = self.bills.setdefault("the answer's end", Bill())
        end.usages.append(self.shared.charge(self._at_the_end(body), self.now))
        return usage

    def _at_the_end(self, body: Body) -> Body:
        asked = [*body["system"], *({"type": "text", "text": message["content"]} for message in _texts(body))]
        return {**self.answered, "messages": [*self.answered["messages"], {"role": "user", "content": asked}]}


def _filled_up(body: Body) -> Body:
    """`body` with a system prompt just long enough for the cache of its model, and marked."""
    body = copy.deepcopy(body)
    words = body["system"][-1]
    _mark(words)
    while _prefixes(body)[1][0] < MINIMUM[body["model"]]:
        words["text"] += " And an example."
    return body


def _texts(body: Body) -> list[dict[str, Any]]:
    return [message for message in body["messages"] if isinstance(message["content"], str)]


def _marked(body: Body, *, question: bool = True) -> Body:
    """`body`, the system prompt marked, and the last block where the `question` or what was looked up ends it."""
    _mark(body["system"][-1])
    last = body["messages"][-1]
    if isinstance(last["content"], str) and question:
        last["content"] = [{"type": "text", "text": last["content"]}]
    if isinstance(last["content"], list):
        _mark(last["content"][-1])
    return body


def _mark(block: dict[str, Any]) -> None:
    block["cache_control"] = {"type": "ephemeral"}


def _unmarked(body: Body) -> Body:
    body = copy.deepcopy(body)
    for block in body["system"]:
        block.pop("cache_control", None)
    for message in body["messages"]:
        if isinstance(message["content"], list):
            for block in message["content"]:
                block.pop("cache_control", None)
            if [set(block) for block in message["content"]] == [{"type", "text"}]:
                message["content"] = message["content"][0]["text"]
    return body


@dataclass
class Server:
    """The server while it runs: its clock (seconds), and a bill for each layout; learning is billed apart."""

    words: int
    url: str = ""
    now: float = 0.0
    turn: int = 0
    quoting: Quoting = field(default_factory=Quoting)
    learning: Learning = field(default_factory=Learning)

    def __post_init__(self) -> None:
        self.layouts: dict[str, Layout] = {
            "vault-mind": lambda body: body,
            "every time": self.quoting.every_time,
            "this turn only": self.quoting.this_turn_only,
            "system block": self.quoting.system_block,
        }
        self.bills = {name: Bill() for name in self.layouts}

    def answer(self, body: Body) -> tuple[list[dict[str, Any]], str, Usage]:
        """The content of the reply, why it ends, and what it costs."""
        self.now += 2.0
        self.learning.now = self.now
        if not body.get("stream"):
            return [{"type": "text", "text": '{"memories": []}'}], "end_turn", self.learning.charge(body)
        usage = Usage()
        for name, lay in self.layouts.items():
            charged = self.bills[name].charge(lay(body), self.now)
            usage = charged if name == "vault-mind" else usage
        if self.turn % LOOKS == 0 and body["messages"][-1]["content"][-1]["type"] != "tool_result":
            asked = {"queries": [MESSAGES[self.turn % len(MESSAGES)], "the user's plan"]}
            call = {"type": "tool_use", "id": f"toolu_{self.turn}", "name": "search_memory", "input": asked}
            return [call], "tool_use", usage
        length = round(self.words * (0.4, 1.0, 1.6)[self.turn % 3])
        text = " ".join(islice(cycle(f"({self.turn}) {_TALK}".split()), length))
        self.learning.heard(body, [{"type": "text", "text": text}])
        flagged = ASKED.strip() in body["system"][0]["text"] and not MESSAGES[self.turn % len(MESSAGES)].endswith("?")
        return [{"type": "text", "text": f"{text}\n{MARK}" if flagged else text}], "end_turn", usage


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        supported = {"supported": True}
        thinking = {"supported": True, "types": {"adaptive": supported, "disabled": supported}}
        capabilities = {"thinking": thinking, "structured_outputs": supported}
        self._send("application/json", json.dumps({"type": "model", "id": "x", "capabilities": capabilities}))

    def do_POST(self) -> None:
        server: Server = self.server.billing  # type: ignore[attr-defined]
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        content, reason, usage = server.answer(body)
        counted = {
            "input_tokens": usage.fresh,
            "cache_read_input_tokens": usage.read,
            "cache_creation_input_tokens": usage.written,
            "output_tokens": len(json.dumps(content)) // 4,
        }
        fixed = {"id": "msg", "type": "message", "role": "assistant", "model": body["model"], "stop_sequence": None}
        if not body.get("stream"):
            whole = {**fixed, "content": content, "stop_reason": reason, "usage": counted}
            self._send("application/json", json.dumps(whole))
            return
        start = {**fixed, "content": [], "stop_reason": None, "usage": counted}
        events: list[dict[str, Any]] = [{"type": "message_start", "message": start}]
        for number, block in enumerate(content):
            empty = {**block, "text": ""} if block["type"] == "text" else {**block, "input": {}}
            delta = (
                {"type": "text_delta", "text": block["text"]}
                if block["type"] == "text"
                else {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            )
            events.append({"type": "content_block_start", "index": number, "content_block": empty})
            events.append({"type": "content_block_delta", "index": number, "delta": delta})
            events.append({"type": "content_block_stop", "index": number})
        ending = {"stop_reason": reason, "stop_sequence": None}
        events.append({"type": "message_delta", "delta": ending, "usage": {"output_tokens": counted["output_tokens"]}})
        events.append({"type": "message_stop"})
        stream = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
        self._send("text/event-stream", stream)

    def _send(self, kind: str, text: str) -> None:
        data = text.encode()
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    """Run `server` for as long as the block lasts."""
    listening = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    listening.billing = server  # type: ignore[attr-defined]
    server.url = f"http://127.0.0.1:{listening.server_port}"
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()


def chat(
    folder: Path, *, turns: int = 30, words: int = 120, seconds: float = 40.0, learn: str = Settings.learn
) -> Server:
    """A chat of so many turns over a copy of the sample vault in `folder`, `seconds` between two; the bills."""
    shutil.copytree(SAMPLE, folder / "vault")
    settings = Settings(learn=learn)
    vault = Vault(folder / "vault")
    index = Index(vault, folder=folder / "index")
    with serving(Server(words)) as server:
        mind = Claude(
            Endpoint(server.url, "no-key", ""),
            model=settings.model,
            extraction_model=settings.extraction_model,
            max_tokens=settings.max_tokens,
            extraction_max_tokens=settings.extraction_max_tokens,
        )
        agent = Agent(vault, index, mind, Journal(folder / "journal"), settings, now=lambda: NOW)
        for turn in range(turns):
            server.turn = turn
            agent.ask(MESSAGES[turn % len(MESSAGES)])
            server.now += seconds
    index.close()
    return server


def table(bills: Mapping[str, Bill]) -> Iterator[str]:
    """The bills side by side, in Markdown."""
    yield "| | tokens in | read from cache | written | neither | share read | price |"
    yield "|---|---|---|---|---|---|---|"
    for name, bill in bills.items():
        sums = bill.total
        counts = " | ".join(f"{count:,}" for count in (sums.sent, sums.read, sums.written, sums.fresh))
        yield f"| {name} | {counts} | {bill.share:.1%} | {bill.price:,.0f} |"


def learning(server: Server, flagged: Server) -> Iterator[str]:
    """The ways to learn side by side, each also with the answers, in Markdown."""
    yield "| learning | tokens in | share read | with the answers: tokens in | share read | price |"
    yield "|---|---|---|---|---|---|"
    ways = [(name, bill, server.bills["vault-mind"]) for name, bill in server.learning.bills.items()]
    ways.append(("only what is flagged", flagged.learning.bills["as it is"], flagged.bills["vault-mind"]))
    for name, bill, answers in ways:
        both = Bill(usages=[*bill.usages, *answers.usages])
        counts = f"{bill.total.sent:,} | {bill.share:.1%} | {both.total.sent:,} | {both.share:.1%}"
        yield f"| {name} | {counts} | {bill.price + answers.price:,.0f} |"


def main(words: Sequence[str] | None = None) -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=30)
    parser.add_argument("--words", type=int, default=120, help="of a reply, on average")
    parser.add_argument("--seconds", type=float, default=40.0, help="between two turns")
    given = parser.parse_args(words)
    ways = {"turns": given.turns, "words": given.words, "seconds": given.seconds}
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as another:
        server, flagged = chat(Path(one), **ways), chat(Path(another), learn="asked", **ways)
    print("\n".join([*table(server.bills), "", *learning(server, flagged)]))


if __name__ == "__main__":
    main()

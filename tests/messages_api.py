"""A real HTTP server on 127.0.0.1 that speaks the Messages API and answers what a test has scripted.

Each request takes the next `Answer`; the last one repeats. Every request body is kept in `requests`. It also
says what its models take, and keeps in `asked_about` whom it was asked about.
"""

import json
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Answer:
    """What one request gets: text with a stop reason, or an HTTP error.

    `cut` drops the stream in the middle; `delay` waits so many seconds before each of its events;
    `raw` is sent as it stands, as `kind`, whatever was asked for. `calls` are pairs of a tool's name and its
    arguments, as a mapping or, cut short perhaps, as the text that is streamed.
    """

    text: str = ""
    stop_reason: str | None = "end_turn"
    status: int = 200
    error: str = ""
    message: str = ""
    cut: bool = False
    error_in_stream: bool = False
    thinking: str = ""
    pieces: int = 3
    delay: float = 0.0
    raw: str | None = None
    kind: str = "application/json"
    calls: tuple[tuple[str, Mapping[str, Any] | str], ...] = ()
    usage: Mapping[str, int] = field(default_factory=lambda: {"input_tokens": 10, "output_tokens": 10})
    headers: Mapping[str, str] = field(default_factory=dict)


def looking(*calls: tuple[str, Mapping[str, Any] | str], text: str = "", thinking: str = "") -> Answer:
    """The answer of a model that calls tools: (name, arguments) of each."""
    return Answer(text, stop_reason="tool_use", calls=calls, thinking=thinking)


def able(*thinking: str, schemas: bool = True) -> dict[str, Any]:
    """What the Models API says of a model that takes these kinds of thinking, in the parts of it that we read."""
    kinds = {kind: {"supported": kind in thinking} for kind in ("adaptive", "enabled", "disabled")}
    capabilities = {
        "thinking": {"supported": bool(thinking), "types": kinds},
        "structured_outputs": {"supported": schemas},
    }
    return {"type": "model", "id": "scripted", "display_name": "Scripted", "capabilities": capabilities}


def text_of(message: Mapping[str, Any]) -> str:
    """The words of a message as it was sent, whichever of the two forms they have."""
    content = message["content"]
    return content if isinstance(content, str) else "".join(block.get("text", "") for block in content)


def remembering(*memories: tuple[str, str, str]) -> Answer:
    """The answer of an extraction call: (kind, text, quote) of each candidate."""
    found = [dict(zip(("kind", "text", "quote"), memory, strict=True)) for memory in memories]
    return Answer(json.dumps({"memories": found}))


@dataclass
class MessagesApi:
    """The server while it runs: where it is, and what it was sent."""

    url: str
    answers: list[Answer]
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    models: Mapping[str, Any] | int | str = field(default_factory=lambda: able("adaptive", "disabled"))
    asked_about: list[str] = field(default_factory=list)
    learning: Answer | Iterator[Answer] | None = None  # for requests without a stream, in place of the next answer
    lacks: str | None = None  # what the Models API says with a 404, in place of `models`
    call_ids: str | None = "number"  # "number": each call of a message has its own; else all have this

    def next(self, *, stream: bool) -> Answer:
        """What the request that has just come is answered."""
        if self.learning is not None and not stream:
            return self.learning if isinstance(self.learning, Answer) else next(self.learning)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    def script(self, *answers: Answer) -> None:
        """Answer these from now on, the last one again and again."""
        self.answers[:] = answers


@contextmanager
def serving(answers: Sequence[Answer] = (Answer("Hello."),)) -> Iterator[MessagesApi]:
    """Run the server for as long as the block lasts."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    api = MessagesApi(f"http://127.0.0.1:{server.server_port}", list(answers))
    server.api = api  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield api
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        """The Models API: what `models` holds, of every model; a number is an error of that status."""
        api: MessagesApi = self.server.api  # type: ignore[attr-defined]
        api.asked_about.append(self.path.rpartition("/")[2])
        if api.lacks is not None:
            self._send(404, "application/json", [api.lacks])
        elif isinstance(api.models, int):
            self._send(api.models, "text/html", ["no such page"])
        elif isinstance(api.models, str):
            self._send(200, "text/html", [api.models])
        else:
            self._send(200, "application/json", [json.dumps(api.models)])

    def do_POST(self) -> None:
        api: MessagesApi = self.server.api  # type: ignore[attr-defined]
        body = json.loads(self.rfile.read(int(self.headers["content-length"])).decode("utf-8"))
        api.requests.append(body)
        api.headers.append({name.lower(): value for name, value in self.headers.items()})
        answer = api.next(stream=bool(body.get("stream")))
        if answer.raw is not None:
            self._send(answer.status, answer.kind, [answer.raw])
        elif answer.status != 200:
            error = {"type": "error", "error": {"type": answer.error, "message": answer.message}}
            self._send(answer.status, "application/json", [json.dumps(error)], more=answer.headers)
        elif body.get("stream"):
            self._send(
                200, "text/event-stream", _events(answer, api.call_ids), whole=not answer.cut, delay=answer.delay
            )
        else:
            time.sleep(answer.delay)
            self._send(200, "application/json", [json.dumps(_message(answer, answer.stop_reason))])

    def _send(
        self,
        status: int,
        kind: str,
        body: list[str],
        *,
        whole: bool = True,
        delay: float = 0.0,
        more: Mapping[str, str] | None = None,
    ) -> None:
        size = sum(len(part.encode()) for part in body)
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(size if whole else size + 1000))
        self.send_header("connection", "close")
        if status >= 400 and not more:
            self.send_header("x-should-retry", "false")  # the SDK's back-off would take seconds
        for name, value in (more or {}).items():
            self.send_header(name, value)
        self.end_headers()
        with suppress(ConnectionError):  # a client that was stopped reads no further
            for part in body:
                time.sleep(delay)
                self.wfile.write(part.encode())
                self.wfile.flush()
        self.close_connection = True


def _message(answer: Answer, stop_reason: str | None) -> dict[str, Any]:
    usage = dict(answer.usage)
    content: list[dict[str, Any]] = [{"type": "text", "text": answer.text}] if answer.text else []
    content += [_call(number, *call) for number, call in enumerate(answer.calls)]
    fixed = {"id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "stop_sequence": None}
    return {**fixed, "content": content, "stop_reason": stop_reason, "usage": usage}


def _events(answer: Answer, ids: str | None = "number") -> list[str]:
    events: list[dict[str, Any]] = []
    start = {**_message(answer, None), "content": []}
    events.append({"type": "message_start", "message": start})
    index = 0
    if answer.thinking:
        events += _block(0, {"type": "thinking", "thinking": "", "signature": ""}, [
            {"type": "thinking_delta", "thinking": answer.thinking}, {"type": "signature_delta", "signature": "s"},
        ])  # fmt: skip
        index = 1
    size = max(1, len(answer.text) // answer.pieces)
    pieces = [answer.text[i : i + size] for i in range(0, len(answer.text), size)]
    if pieces:
        events += _block(
            index, {"type": "text", "text": ""}, [{"type": "text_delta", "text": piece} for piece in pieces]
        )
        index += 1
    for number, (name, arguments) in enumerate(answer.calls):
        written = arguments if isinstance(arguments, str) else json.dumps(arguments)
        deltas = [{"type": "input_json_delta", "partial_json": part} for part in (written[:7], written[7:])]
        start = {**_call(number, name, {}), "input": {}} | ({} if ids == "number" else {"id": ids})
        events += _block(index + number, start, deltas)
    if answer.error_in_stream:
        events.append({"type": "error", "error": {"type": answer.error, "message": answer.message}})
    elif not answer.cut:
        delta = {"stop_reason": answer.stop_reason, "stop_sequence": None}
        counted = {"output_tokens": answer.usage.get("output_tokens", 0)}
        events.append({"type": "message_delta", "delta": delta, "usage": counted})
        events.append({"type": "message_stop"})
    return [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]


def _call(number: int, name: str, arguments: Mapping[str, Any] | str) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": arguments}


def _block(index: int, start: dict[str, Any], deltas: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]

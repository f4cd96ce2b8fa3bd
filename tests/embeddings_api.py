"""A real server on 127.0.0.1 that speaks /v1/embeddings, and answers as it is told."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def vector_of(text: str, width: int = 6) -> list[float]:
    """A vector that the words of `text` decide."""
    return [byte - 127.5 for byte in sha256(text.encode()).digest()[:width]]


@dataclass(frozen=True)
class Reply:
    """What one request gets: good vectors, changed by `change`, or `raw` with `status`."""

    change: Callable[[dict[str, Any]], object] = lambda good: good
    status: int = 200
    raw: bytes | None = None
    headers: tuple[tuple[str, str], ...] = ()
    delay: float = 0.0
    pieces: int = 1


@dataclass
class EmbeddingsApi:
    """The server while it runs: where it is, what it was sent, and what it answers next (the last one repeats)."""

    url: str
    replies: list[Reply] = field(default_factory=lambda: [Reply()])
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)

    @property
    def sent(self) -> list[str]:
        """Every text that came."""
        return [text for request in self.requests for text in request["input"]]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        self.server.api.paths.append(self.path)  # type: ignore[attr-defined]
        self.send_error(404)

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_POST(self) -> None:
        api: EmbeddingsApi = self.server.api  # type: ignore[attr-defined]
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        api.requests.append(asked)
        api.paths.append(self.path)
        api.headers.append({name.lower(): value for name, value in self.headers.items()})
        reply = api.replies.pop(0) if len(api.replies) > 1 else api.replies[0]
        width = asked.get("dimensions") or asked.get("output_dimension") or 6
        data = [{"index": i, "embedding": vector_of(text, width)} for i, text in enumerate(asked["input"])]
        good = {"object": "list", "data": data, "model": asked["model"]}
        body = reply.raw if reply.raw is not None else json.dumps(reply.change(good)).encode()
        with suppress(ConnectionError):  # a client that has given up reads no further
            self.send_response(reply.status)
            for header in (("content-type", "application/json"), ("content-length", str(len(body))), *reply.headers):
                self.send_header(*header)
            self.end_headers()
            size = -(-len(body) // reply.pieces)
            for start in range(0, len(body), max(size, 1)):
                time.sleep(reply.delay)
                self.wfile.write(body[start : start + size])
                self.wfile.flush()


@contextmanager
def serving() -> Iterator[EmbeddingsApi]:
    """The server while the block runs."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    api = EmbeddingsApi(f"http://127.0.0.1:{server.server_port}/v1")
    server.api = api  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield api
    server.shutdown()
    server.server_close()
    thread.join()

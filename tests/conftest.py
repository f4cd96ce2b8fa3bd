"""What all tests share: a home of their own, a vault, the real command, a scripted server."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import pytest
from hypothesis import HealthCheck, settings
from typer.testing import CliRunner

from tests.histories import history, owner, plain  # noqa: F401  # fixtures
from tests.messages_api import MessagesApi, serving
from tests.warm import Warm, takes
from vault_mind import Index, Session, Vault, open_session
from vault_mind.cli import app

# A run that was started in the background ignores Ctrl-C, and so would every command that it starts.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Hundreds of Pythons start here, and without it each would compile all of this anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

THOROUGH = int(os.environ.get("THOROUGH", "1"))  # `make storm` asks the laws of frontmatter for many more examples

settings.register_profile(
    "tests", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
settings.load_profile("tests")

MEMORY = Path("/dev/shm")  # a file system in memory, on Linux
ROOM = 4 << 30  # bytes that have to be free there; the tests take a tenth


def pytest_configure(config: pytest.Config) -> None:
    """Let the everyday tests write into memory, where no fsync waits for a disk; the storm is on the disk."""
    if hasattr(config, "workerinput") or "PYTEST_DEBUG_TEMPROOT" in os.environ or "storm" in sys.argv:
        return
    if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM:
        folder = tempfile.mkdtemp(prefix="vault-mind-tests-", dir=MEMORY)
        os.environ["PYTEST_DEBUG_TEMPROOT"] = folder
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Let `-n auto` be one more than there are processors: some tests only wait, for a clock or another process."""
    return (os.cpu_count() or 1) + 1


WHERE = {"history", "vault", "place"}  # what says where else the same is tried


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of what is tried in several places with several values, try each value in one of them; the storm tries all.

    The places take turns, so that each is tried with some of the values. What has no other values is tried in two.
    """
    tried: dict[object, dict[str, list[pytest.Item]]] = {}
    for item in items:
        callspec = getattr(item, "callspec", None)
        if callspec and (where := next(iter(WHERE & callspec.params.keys()), None)):
            value = "-".join(f"{name}={it!r}" for name, it in sorted(callspec.params.items()) if name != where)
            tried.setdefault((item.path, item.nodeid.partition("[")[0]), {}).setdefault(value, []).append(item)
    for turn, values in enumerate(tried.values()):
        for each, places in enumerate(values.values(), turn):
            kept = 1 if len(values) > 1 else 2
            for i, item in enumerate(places):
                if (i - each) % len(places) >= kept:
                    item.add_marker(pytest.mark.storm)


NOW = datetime(2026, 11, 29, 18, 42, 7, tzinfo=UTC)


@dataclass(frozen=True)
class Ended:
    """How a command ended: its exit code and what it printed."""

    exit_code: int
    stdout: str
    stderr: str


class Run(Protocol):
    """Run the real command in a process of its own: run("search", "coffee", input="", env={})."""

    def __call__(self, *words: str, input: str | None = "", env: dict[str, str] | None = None) -> Ended: ...


@dataclass(frozen=True)
class Shown:
    """How a command ended on a terminal, and every byte that reached it."""

    exit_code: int
    output: bytes


class OnTerminal(Protocol):
    """Run the real command on a pseudo-terminal; once it shows `after`, type `keys`."""

    def __call__(self, *words: str, after: str = "", keys: str = "", env: dict[str, str] | None = None) -> Shown: ...


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home that holds nothing: no settings, no index, no key of whoever runs the tests."""
    folder = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(("VAULT_MIND_", "ANTHROPIC_", "XDG_")):
            monkeypatch.delenv(name)
    for name in ("NO_COLOR", "FORCE_COLOR", "VISUAL", "EDITOR", "COLUMNS", "LINES", "PYTHONIOENCODING"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    # No authority is trusted: nothing here speaks TLS, and reading them all would take each client 30 ms.
    monkeypatch.setenv("SSL_CERT_DIR", str(folder))
    return folder


@pytest.fixture
def vault(home: Path) -> Vault:
    """An empty vault, the default one of this home."""
    return Vault.create(home / "vault-mind")


@pytest.fixture
def index(vault: Vault) -> Iterator[Index]:
    """The index of `vault`."""
    made = Index(vault)
    yield made
    made.close()


@pytest.fixture
def opened() -> Iterator[Callable[..., Session]]:
    """Open a session as a program does: opened(vault.root, {}); afterwards it is closed."""
    sessions: list[Session] = []

    def session(vault: Path | None, environment: dict[str, str], **more: Any) -> Session:
        sessions.append(open_session(vault, environment, **more))
        return sessions[-1]

    yield session
    for each in sessions:
        each.close()


@pytest.fixture
def write(vault: Vault) -> Callable[[str, str | bytes], Path]:
    """Write a file into the vault as an editor would, byte for byte: write("coffee.md", "...")."""

    def written(path: str, content: str | bytes) -> Path:
        file = vault.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    return written


@pytest.fixture(scope="session")
def warm() -> Iterator[Callable[[], Warm]]:
    """Give the process that commands are forked from; the first that asks starts it."""
    made: list[Warm] = []

    def started() -> Warm:
        if not made:
            made.append(Warm())
        return made[0]

    yield started
    for each in made:
        each.close()


@pytest.fixture
def run(home: Path, warm: Callable[[], Warm]) -> Run:
    """Run the real command in a process of its own: run("search", "coffee", input="", env={})."""

    def ran(*words: str, input: str | None = "", env: dict[str, str] | None = None) -> Ended:
        if takes(env or {}):
            given = None if input is None else input.encode()
            code, out, said = warm().run(words, home, {**os.environ, **(env or {})}, given, 60)
            return Ended(code, *(each.decode().replace("\r\n", "\n").replace("\r", "\n") for each in (out, said)))
        command = [sys.executable, "-m", "vault_mind", *words]
        ended = subprocess.run(
            command,
            input=input,
            capture_output=True,
            text=True,
            encoding="utf-8",
            env={**os.environ, **(env or {})},
            cwd=home,
            timeout=60,
            check=False,
        )
        return Ended(ended.returncode, ended.stdout, ended.stderr)

    return ran


@pytest.fixture
def call(home: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The same command in this process: for the many cases in which a process of its own adds only time."""
    monkeypatch.chdir(home)

    def called(*words: str, input: str | None = "", env: dict[str, str] | None = None) -> Ended:
        result = CliRunner().invoke(app, words, input=input, env=env)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Ended(result.exit_code, result.stdout, result.stderr)

    return called


@pytest.fixture
def on_terminal(home: Path, warm: Callable[[], Warm]) -> OnTerminal:
    """Run the real command on a pseudo-terminal of its own."""
    pty = pytest.importorskip("pty")  # not on Windows

    def ran(*words: str, after: str = "", keys: str = "", env: dict[str, str] | None = None) -> Shown:
        ours, theirs = pty.openpty()
        environment = {**os.environ, "TERM": "xterm-256color", **(env or {})}
        if takes(env or {}):
            started = warm().start(words, home, environment, (theirs, theirs, theirs), apart=True)
            shown = _read_all(ours, after, keys)
            return Shown(started.wait(60), shown)
        command = [sys.executable, "-m", "vault_mind", *words]
        streams = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
        with subprocess.Popen(command, env=environment, cwd=home, start_new_session=True, **streams) as process:
            os.close(theirs)
            shown = _read_all(ours, after, keys)
        return Shown(process.returncode, shown)

    return ran


def _read_all(terminal: int, after: str, keys: str) -> bytes:
    """All that reaches a terminal, whose owner types `keys` once it shows `after`; it is closed then."""
    shown, waiting = b"", bool(keys)
    while piece := _read(terminal):
        shown += piece
        if waiting and after.encode() in shown:
            os.write(terminal, keys.encode())
            waiting = False
    os.close(terminal)
    return shown


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux says so when the other side is closed
        return b""


@pytest.fixture
def api() -> Iterator[MessagesApi]:
    """A Messages API server that a test scripts."""
    with serving() as server:
        yield server


@pytest.fixture
def online(api: MessagesApi, monkeypatch: pytest.MonkeyPatch) -> MessagesApi:
    """The environment set so that Claude is the scripted server."""
    monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key-0123456789")
    return api

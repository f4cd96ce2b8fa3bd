"""What all tests share: a home of their own, a vault, the real command, a scripted server."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

import pytest
from hypothesis import HealthCheck, settings

from tests.messages_api import MessagesApi, serving
from vault_mind import Index, Vault

settings.register_profile(
    "tests", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
settings.load_profile("tests")

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


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home that holds nothing: no settings, no index, no key of whoever runs the tests."""
    folder = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(("VAULT_MIND_", "ANTHROPIC_", "XDG_")):
            monkeypatch.delenv(name)
    for name in ("NO_COLOR", "FORCE_COLOR", "VISUAL", "EDITOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
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
def write(vault: Vault) -> Callable[[str, str | bytes], Path]:
    """Write a file into the vault as an editor would, byte for byte: write("coffee.md", "...")."""

    def written(path: str, content: str | bytes) -> Path:
        file = vault.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    return written


@pytest.fixture
def run(home: Path) -> Run:
    """Run the real command in a process of its own: run("search", "coffee", input="", env={})."""

    def ran(*words: str, input: str | None = "", env: dict[str, str] | None = None) -> Ended:
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

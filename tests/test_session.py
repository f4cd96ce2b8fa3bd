"""One vault, opened: which one, with which settings and which mind."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from vault_mind import Session, Vault, open_session
from vault_mind.config import ANTHROPIC
from vault_mind.errors import SettingsError, VaultNotFoundError
from vault_mind.model import Claude
from vault_mind.offline import Offline

Opened = Callable[..., Session]
KEY = {"ANTHROPIC_API_KEY": "sk-test-0123456789"}


@pytest.fixture
def others(tmp_path: Path) -> Iterator[list[Vault]]:
    """Three vaults that are not the default one."""
    yield [Vault.create(tmp_path / name) for name in ("flag", "env", "here")]


def test_the_vault_is_the_one_named_then_the_environments_then_the_one_around_then_the_default(
    vault: Vault, others: list[Vault], tmp_path: Path
) -> None:
    flag, env, here = others
    inside = here.root / "deep" / "er"
    inside.mkdir(parents=True)
    environment = {"VAULT_MIND_VAULT": str(env.root)}

    opened = [
        open_session(flag.root, environment, here=inside),
        open_session(None, environment, here=inside),
        open_session(None, {}, here=inside),
        open_session(None, {}, here=tmp_path),
    ]

    assert [session.vault.root for session in opened] == [flag.root, env.root, here.root, vault.root]
    assert [session.chosen for session in opened] == ["--vault", "VAULT_MIND_VAULT", "the folder you are in", "default"]
    assert not any(session.made for session in opened)


def test_the_default_is_made_on_first_use_and_only_then(home: Path, tmp_path: Path) -> None:
    first = open_session(None, {}, here=tmp_path)
    second = open_session(None, {}, here=tmp_path)

    assert (first.made, second.made) == (True, False)
    assert first.vault.root == home / "vault-mind"
    assert (home / "vault-mind" / ".vault-mind.toml").is_file()
    assert (home / "vault-mind" / "memories").is_dir()


@pytest.mark.parametrize("environment", [{}, {"VAULT_MIND_VAULT": "/nowhere/at/all"}])
def test_a_vault_that_was_named_and_is_not_there_is_an_error_and_not_made(
    environment: dict[str, str], tmp_path: Path
) -> None:
    missing = None if environment else tmp_path / "missing"

    with pytest.raises(VaultNotFoundError, match="vault-mind init"):
        open_session(missing, environment, here=tmp_path)

    assert not (tmp_path / "missing").exists()


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps a folder that somebody is in")
def test_a_program_need_not_stand_anywhere_when_it_names_the_vault(vault: Vault, tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    before = Path.cwd()
    os.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    try:
        assert open_session(vault.root, {}).vault.root == vault.root
        assert open_session(None, {}).vault.root == vault.root
    finally:
        os.chdir(before)


@pytest.mark.parametrize(
    ("environment", "flags", "offline"),
    [
        ({}, {}, True),
        (KEY, {}, False),
        ({"ANTHROPIC_AUTH_TOKEN": "token-0123456789"}, {}, False),
        ({"ANTHROPIC_BASE_URL": "http://127.0.0.1:1"}, {}, False),
        ({"ANTHROPIC_API_KEY": "  "}, {}, True),
        (KEY, {"offline": True}, True),
        ({**KEY, "VAULT_MIND_OFFLINE": "yes"}, {}, True),
        ({**KEY, "VAULT_MIND_OFFLINE": "yes"}, {"offline": None}, True),
    ],
)
def test_claude_answers_when_there_is_somebody_to_ask_and_offline_was_not_asked_for(
    vault: Vault, environment: dict[str, str], flags: dict[str, object], offline: bool
) -> None:
    session = open_session(vault.root, environment, flags=flags)

    assert session.offline is offline
    assert isinstance(session.mind, Offline if offline else Claude)
    assert session.mind.name == ("offline" if offline else "claude")


def test_what_belongs_to_a_session_is_made_once_and_belongs_together(vault: Vault, opened: Opened) -> None:
    session = opened(vault.root, KEY)

    assert session.agent is session.agent
    assert session.index is session.index
    assert session.agent.index is session.index
    assert session.agent.mind is session.mind
    assert session.agent.journal is session.journal
    assert session.endpoint.url == ANTHROPIC
    # Once: `Session.environment` shows in the repr, key and all; it needs field(repr=False).
    assert "sk-test" not in repr(session)


def test_the_index_and_the_journal_live_outside_the_vault(vault: Vault, home: Path, opened: Opened) -> None:
    session = opened(vault.root, {})

    session.agent.ask("I live in Oslo.")

    assert {path.relative_to(vault.root).as_posix() for path in vault.root.rglob("*")} == {
        ".vault-mind.toml",
        "memories",
        "memories/the-user-lives-in-oslo.md",
    }
    assert session.journal.folder.is_relative_to(home)
    assert session.index.folder.is_relative_to(home)


def test_two_chats_have_two_names(vault: Vault) -> None:
    names = {open_session(vault.root, {}).agent.chat for _ in range(20)}

    assert len(names) == 20


def test_a_key_that_makes_no_sense_is_said_without_showing_it(vault: Vault) -> None:
    session = open_session(vault.root, {"ANTHROPIC_API_KEY": "sk secret"})

    with pytest.raises(SettingsError) as caught:
        _ = session.mind

    assert "ANTHROPIC_API_KEY" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_program_needs_five_lines(vault: Vault) -> None:
    program = (
        "from vault_mind import open_session\n"
        f"session = open_session({str(vault.root)!r}, {{}})\n"
        "print(session.agent.ask('I live in Oslo.'))\n"
        "for hit in session.index.search('Where do I live?', 3):\n"
        "    print(hit.memory.path, hit.memory.body)\n"
    )

    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)

    assert ended.stdout.splitlines()[-1] == "memories/the-user-lives-in-oslo.md The user lives in Oslo."


# Once: without numpy a chat did not start, --explain ended in an error, and what was forgotten kept its vector.
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["search", "--explain", "tea"], "searched by words alone: numpy is not installed"),
        (["chat", "--offline", "-m", "Do I take tea?"], "searched by words alone: numpy is not installed"),
        (["forget", "--yes", "a"], "forgotten: a.md"),
    ],
)
def test_without_numpy_everything_goes_by_words_and_says_so(vault: Vault, words: list[str], said: str) -> None:
    (vault.root / "a.md").write_text("The user takes tea black.")
    session = open_session(vault.root, {})
    folder = session._vectors
    folder.mkdir(parents=True)
    (folder / "old.vectors").write_bytes(b"x")
    session.close()
    program = "import sys\nsys.modules['numpy'] = None\nfrom vault_mind.cli import app\napp()\n"
    environment = {**os.environ, "VAULT_MIND_EMBEDDING_MODEL": "http://127.0.0.1:9/v1#words"}

    ended = subprocess.run(
        [sys.executable, "-c", program, *words], env=environment, capture_output=True, text=True, check=False
    )

    assert said in ended.stderr
    assert ended.returncode == 0
    assert "Traceback" not in ended.stderr
    assert folder.is_dir() or words[0] == "forget"


KILLED = """
import os, signal, sys
from datetime import UTC, datetime
from pathlib import Path
from vault_mind import open_session
from vault_mind.journal import Exchange

session = open_session(Path(sys.argv[1]), {})

def die(event, arguments):
    if event in ("os.link", "os.rename"):
        os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(die)
if sys.argv[2] == "save":
    session.vault.save("Ada drinks tea.", kind="fact", source="user", created_at=datetime.now(UTC))
else:
    session.journal.add(Exchange("I live in Oslo.", "", "ok", datetime.now(UTC).isoformat(), "c", "offline"))
"""
posix = pytest.mark.skipif(os.name == "nt", reason="no kill -9 there")


def leftovers(home: Path) -> list[str]:
    """Temporary files, and notes of where they are, anywhere in this home."""
    return sorted(file.name for pattern in (".vault-mind-*.tmp", "writing") for file in home.rglob(pattern))


def killed(vault: Vault, what: str) -> None:
    """A process is killed while its temporary file is there."""
    ended = subprocess.run([sys.executable, "-c", KILLED, str(vault.root), what], timeout=60, check=False)
    assert ended.returncode == -9


@posix
@pytest.mark.parametrize("what", ["save", "journal"])
def test_whoever_opens_the_vault_next_clears_up_after_a_writer_that_was_killed(
    what: str, vault: Vault, home: Path
) -> None:
    killed(vault, what)
    assert len(leftovers(home)) == 2

    open_session(vault.root, {})

    assert leftovers(home) == []


@posix
def test_whoever_takes_the_lock_next_clears_up_too_in_whatever_folder_he_writes(vault: Vault, home: Path) -> None:
    (vault.root / "deep").mkdir()
    (vault.root / "deep" / "tea.md").write_text("Tea.")
    killed(vault, "save")

    vault.change(vault.read("deep/tea.md"), {"kind": "fact"})

    assert leftovers(home) == []


HOLDING = """
import sys
from pathlib import Path
from vault_mind import Vault
from vault_mind.files import noted

vault = Vault(sys.argv[1])
with vault.lock(), noted(vault._note, vault.root / "x.md"):
    print("held", flush=True)
    sys.stdin.readline()
"""


@posix
def test_opening_does_not_wait_for_a_living_writer(vault: Vault) -> None:
    command = [sys.executable, "-c", HOLDING, str(vault.root)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "held\n"

        session = open_session(vault.root, {})  # the writer holds the lock until it is told to go on

        assert session.index.search("tea", 5) == []
        assert (vault._note).exists()
        writer.communicate("go on\n", timeout=60)
        session.close()
    assert not vault._note.exists()


def test_opening_a_vault_that_is_in_order_loads_no_lock_and_no_journal(vault: Vault) -> None:
    script = (
        "import sys; from pathlib import Path; from vault_mind import open_session;"
        "open_session(Path(sys.argv[1]), {}); print(*{'filelock', 'vault_mind.journal'} & set(sys.modules))"
    )
    said = subprocess.run([sys.executable, "-c", script, vault.root], capture_output=True, text=True, check=True).stdout

    assert said.strip() == ""


@posix
@pytest.mark.skipif(not hasattr(os, "geteuid") or not os.geteuid(), reason="root may write everywhere")
def test_a_state_folder_that_is_closed_costs_no_search(vault: Vault) -> None:
    vault._state.mkdir(parents=True)
    vault._note.write_text("[]")
    vault._state.chmod(0o500)

    assert open_session(vault.root, {}).index.search("tea", 5) == []

    vault._state.chmod(0o700)

"""Promise 1 on a user's own vault: tried in a copy, told by bytes, and nothing left behind."""

import json
import os
import re
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import OnTerminal, Run
from vault_mind import Vault, roundtrip
from vault_mind.config import state_folder
from vault_mind.render import proof, proof_data, to_json
from vault_mind.roundtrip import Trial, prove
from vault_mind.screen import text_of

Write = Callable[[str, str | bytes], Path]
PLAIN = "---\nkind: fact # a remark\nsource: 'user'\ntags:\n  - drinks\n\n  - tea\n---\n\nThe user drinks tea.\n"


@pytest.fixture
def trial(tmp_path: Path) -> Trial:
    """A vault in which one file at a time is tried."""
    return Trial(tmp_path / "trial")


HOSTILE = [
    PLAIN,
    PLAIN.replace("\n", "\r\n"),
    "\ufeff" + PLAIN.replace("\n", "\r\n"),
    PLAIN.rstrip("\n"),
    PLAIN.replace("tags:\n", "tags:\r\n").replace("drinks\n", "drinks\r\n"),
    "---\na: x\r\nb: y\ntags:\n- a\n- b\n---\ntext",
    "a\r\nb\nc\rd",
    "",
    "\n\n\n",
    "\r",
    "\ufeff",
    "---\n---\n",
    "---\n---",
    "---\nkind: fact\n---\r",
    "---\nkind: fact\n---\n\n\n",
    "---\r\nkind: fact\r\n---\r\n\r\n",
    "---\n\nno second rule\n",
    "---\nkind: fact\n...\ntext\n",
    "---\nkind: fact\n...\n---\ntext\n",
    "---\n\tkind: fact\n---\n",
    "---\nkind:\tfact \t\n---\n",
    "---\na: &x 1\n---\n",
    "---\na: &x 1\nb: *x\n---\n",
    "---\n<<: {a: b}\nc: d\n---\n",
    "---\na: 1\na: 2\n---\n",
    "---\na: 1\n--- \nb: 2\n---\n",
    "---\n? a\n: b\n---\n",
    "---\n{a: 1, b: 2}\n---\n",
    "---\n- a\n- b\n---\n",
    "---\na: [x,\n  y, # why\n  z]\nb: c\n---\n",
    "---\na: [x,\n  y,\n  z]\nb: c\n---\n",
    "---\na: 'x\n  b: y'\nb: \"p\\\n  q\"\n---\n",
    "---\na: '\nb: z\n'\n---\n",
    "---\na: |\n  x\n\n  y\n\nb: >-\n  z\n---\n",
    "---\na: x\u2028y\nb: p\u0085q\n\u0085c: d\n---\n\u2029body\u0085\n",
    "---\na: x\rb: y\n---\n",
    "---\n  a: 1\n  b: 2\n---\n",
    "---\na: # nothing\nb: ~\n# end\n---\n",
    "---\n'it''s': 1\n\"q\\u00e9\": 2\nü: 3\n-: 4\n&x y: 5\n!!str z: 6\n---\n",
    "---\na: 0644\nb: no\nc: 2026-02-30\n---\n",
    "---\n! -tags:\n- a\nkind: fact\n---\n",
    "---\na: {b: 1}\nc:\n  d: 2\n---\n",
    "---\nvault-mind-trial: mine\n---\n",
    f"---\nkind: fact\n---\n{roundtrip.NEW_LINE}\n\n{roundtrip.NEW_LINE}\n",
    "---\nkind: fact\n---\n" + "A line of many.\r\n" * 100_000,
    "---\n" + "".join(f"key{n}: {n}\n" for n in range(300)) + "---\n",
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_no_change_of_a_hostile_file_touches_another_byte(trial: Trial, text: str) -> None:
    trial.put("note.md", text.encode())

    assert trial.differences == []
    assert trial.changes + len(trial.refused) > 0


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"caf\xe9\n", "it is not UTF-8"),
        ("tea".encode("utf-16"), "it is UTF-16"),
        (b"tea\0", "it holds NUL"),
        (b"tea " * 600_000, "it is too large"),
        (b"---\na: [\n---\ntea", "line"),
    ],
)
def test_what_cannot_be_changed_safely_is_refused_and_left_as_it_is(trial: Trial, data: bytes, why: str) -> None:
    trial.put("note.md", data)

    assert (trial.changes, trial.differences) == (0, [])
    assert {one.what for one in trial.refused} == {"adding the key vault-mind-trial", "appending a line"}
    assert all(one.why.startswith(why) for one in trial.refused)


_PIECES = st.sampled_from([
    *"ab:-#'\"[]{},|>&*!?%~\t ", "\n", "\n", "\n", "\r\n", "\r", "\u2028", "\x85", "\ufeff", "---\n", "...\n",
    "a: ", "- ", "\nb: ", "é", "# c\n", "[a, b]", "|\n  x\n", "tags:\n- a\n", "kind: fact\n",
])  # fmt: skip
_TEXTS = st.tuples(
    st.sampled_from(["---\n", "---\r\n", "\ufeff---\n", ""]),
    st.sampled_from(["", "kind: fact\n", "a: b # c\r\n"]),
    st.lists(_PIECES, max_size=12).map("".join),
    st.sampled_from(["\n---\n", "---\n", "\n---", "\r\n---\r\n"]),
    st.lists(_PIECES, max_size=6).map("".join),
).map("".join)


@given(_TEXTS)
def test_no_change_of_any_file_touches_another_byte(
    tmp_path_factory: pytest.TempPathFactory, home: Path, text: str
) -> None:
    trial = Trial(tmp_path_factory.mktemp("any") / "trial")

    trial.put("note.md", text.encode())

    assert trial.differences == []


# --- the judges: what they call a difference -------------------------------------------------------

OLD = b"\xef\xbb\xbf---\r\na: 1 # one\r\ntags:\r\n- x\r\n\r\n- y\r\n# end\r\nb: 2\r\n---\r\nText.\r\n"


@pytest.mark.parametrize(
    ("key", "was", "now", "sound"),
    [
        ("a", b"a: 1", b"a: 9", True),
        ("a", b"a: 1 # one", b"a: 9", False),
        ("a", b"a: 1 # one\r\n", b"a: 9 # one\n", False),
        ("a", b"b: 2", b"b: 9", False),
        ("a", b"a: 1 # one\r\n", b"", True),
        ("a", b"\xef\xbb\xbf", b"", False),
        ("tags", b"- y\r\n", b"- y\r\n- z\r\n", True),
        ("tags", b"tags:\r\n- x\r\n\r\n- y\r\n", b"tags: [z]\r\n", True),
        ("tags", b"# end\r\n", b"", False),
        ("tags", b"- y\r\n# end\r\n", b"- z\r\n", False),
        ("b", b"b: 2\r\n---\r\n", b"b: 9\r\n---\n", False),
        ("b", b"Text.\r\n", b"Text.", False),
        ("new", b"b: 2\r\n", b"b: 2\r\nnew: 1\r\n", True),
        ("new", b"b: 2\r\n", b"b: '2'\r\nnew: 1\r\n", False),
        ("new", b"b: 2\r\n", b"b: 2\r\nnew: 1\r\nnewer: 2\r\n", False),
        ("new", b"b: 2\r\n", b"b: 2\r\nother: 1\r\n", False),
    ],
)
def test_only_the_lines_of_a_key_may_differ_when_it_is_set(key: str, was: bytes, now: bytes, sound: bool) -> None:
    assert was in OLD

    count = roundtrip._beside_key(OLD, OLD.replace(was, now), key, {"a", "tags", "b"})

    assert (count == 0) is sound


@pytest.mark.parametrize(
    ("data", "now", "sound"),
    [
        (b"a\r\nb\n", b"a\r\nb\n%s\n", True),
        (b"a\nb\n\n\n", b"a\nb\n%s\n\n\n", True),
        (b"a", b"a\n%s", True),
        (b"a\nb\n", b"a\nb\n\n%s\n", False),
        (b"a\r\nb\n", b"a\nb\n%s\n", False),
        (b"a\n\n", b"a\n%s\n", False),
        (b"a \nb\n", b"a\nb\n%s\n", False),
        (b"\xef\xbb\xbfa\n", b"a\n%s\n", False),
    ],
)
def test_only_the_line_that_is_appended_may_be_new(data: bytes, now: bytes, sound: bool) -> None:
    assert (roundtrip._beside_line(data, now.replace(b"%s", roundtrip.NEW_LINE.encode())) == 0) is sound


@pytest.mark.parametrize(
    ("data", "now", "sound"),
    [
        (b"a\n", b"a\n", True),
        (b"a", b"a\n", False),
        (b"---\nk: v\n---", b"---\nk: v\n---\n", True),
        (b"a\n\n", b"a\n", False),
    ],
)
def test_when_it_is_taken_back_all_is_as_it_was(data: bytes, now: bytes, sound: bool) -> None:
    assert (roundtrip._without_line(data, now) == 0) is sound


# --- a whole vault ---------------------------------------------------------------------------------


def state_of(root: Path) -> dict[str, tuple[bytes, int, int]]:
    files = (file for file in root.rglob("*") if file.is_file() and not file.is_symlink())
    return {str(file): (file.read_bytes(), file.stat().st_mtime_ns, file.stat().st_mode) for file in files}


@pytest.fixture
def mixed(write: Write, vault: Vault) -> Vault:
    """A vault of sound, odd and broken files."""
    write("memories/tea.md", PLAIN)
    write("notes/plain.md", b"\xef\xbb\xbfOne.\r\nTwo.")
    write("broken.md", "---\na: [\n---\ntea")
    write("broken too.md", "---\nb: 1\na: [\n---\ntea")
    write("latin.md", b"caf\xe9")
    write("photo.png", b"\x89PNG")
    write("read only.md", "Tea.").chmod(0o444)
    (vault.root / "linked.md").symlink_to("notes/plain.md")
    (vault.root / "away.md").symlink_to("/nowhere.md")
    return vault


def test_a_vault_is_tried_file_by_file_and_stays_as_it_was(mixed: Vault, run: Run, home: Path, tmp_path: Path) -> None:
    before = state_of(mixed.root)

    ended = run("doctor", "--roundtrip", env={"TMPDIR": str(tmp_path)})
    data = json.loads(run("doctor", "--roundtrip", "--json", env={"TMPDIR": str(tmp_path)}).stdout)

    assert (ended.exit_code, ended.stderr) == (0, "")
    assert ended.stdout.splitlines()[0].split() == ["files", "tried", "6"]
    assert "refused  1 × it is read-only: read only.md\n" in ended.stdout
    assert ": broken too.md, broken.md\n" in ended.stdout
    assert "differing    0 files, 0 bytes\n" in ended.stdout
    assert "your vault   as it was, byte for byte\n" in ended.stdout
    assert (data["holds"], data["files"], data["counts"]["differing_bytes"], data["touched"]) == (True, 6, 0, [])
    assert {one["path"] for one in data["refused"]} == {
        "away.md", "broken.md", "broken too.md", "latin.md", "read only.md"
    }  # fmt: skip
    assert data["changes"] >= 12
    assert state_of(mixed.root) == before
    assert list(tmp_path.iterdir()) == []
    assert set(state_folder(mixed.root).parent.glob("*")) <= {state_folder(mixed.root)}


def test_a_vault_file_that_changes_meanwhile_is_named(mixed: Vault, write: Write) -> None:
    def edits(doing: str, done: int, of: int) -> None:
        if doing == "trying" and done == 0:
            write("notes/plain.md", "Edited.")
            write("fresh.md", "New.")
            (mixed.root / "photo.png").unlink()

    found = prove(mixed, progress=edits)

    assert found.touched == ("fresh.md", "notes/plain.md", "photo.png")
    assert found.differences == ()
    assert not found.holds
    assert "touched  fresh.md: changed while this ran" in text_of(proof(found))
    assert '"touched_files": 3' in to_json(proof_data(found))


def test_each_file_that_would_differ_is_named_and_the_command_fails() -> None:
    differences = (roundtrip.Difference("a\n.md", "appending a line", 7), roundtrip.Difference("b.md", "reading", 1))
    found = roundtrip.Proof(2, 9, (), differences, ())

    shown = text_of(proof(found))

    assert not found.holds
    assert "differing    2 files, 8 bytes\n" in shown
    assert shown.endswith("differs  a^J.md: appending a line, 7 bytes\ndiffers  b.md: reading, 1 bytes\n")


def test_at_a_terminal_it_says_what_it_is_at(mixed: Vault, on_terminal: OnTerminal) -> None:
    shown = on_terminal("doctor", "--roundtrip")

    assert shown.exit_code == 0
    assert re.search(rb"copying|trying|indexing", shown.output)  # whichever was up when the line was drawn
    assert b"as it was, byte for byte" in shown.output


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is no signal there")
@pytest.mark.parametrize("end", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_ctrl_c_a_kill_or_a_closed_terminal_leave_neither_the_copy_nor_anything_else(
    vault: Vault, write: Write, tmp_path: Path, end: str
) -> None:
    for number in range(400):
        write(f"{number}.md", PLAIN)
    before = state_of(vault.root)
    command = [sys.executable, "-m", "vault_mind", "doctor", "--roundtrip"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}

    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while process.poll() is None and not list(tmp_path.glob("vault-mind-roundtrip-*/trial/*")):
            time.sleep(0.01)
        (copy,) = tmp_path.glob("vault-mind-roundtrip-*")
        mode = stat.S_IMODE(copy.stat().st_mode)
        process.send_signal(getattr(signal, end))
        process.communicate(timeout=60)

    assert mode == 0o700
    assert process.returncode not in (0, None)
    assert list(tmp_path.iterdir()) == []
    assert set(state_folder(vault.root).parent.glob("*")) <= {state_folder(vault.root)}
    assert state_of(vault.root) == before

"""Faults that people met in public, recast for a vault: the command line, the chat, and regex."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import OnTerminal, Run, Shown
from tests.messages_api import Answer, MessagesApi, remembering
from vault_mind import Vault

resource = pytest.importorskip("resource", reason="these run in a POSIX shell and on its terminals")

Write = Callable[[str, str | bytes], Path]
COMMAND = f"{sys.executable} -m vault_mind"
COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
REORDERING = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
HEAD = "---\nkind: fact\nsource: user\ncreated_at: 2026-02-15T08:00:00Z\n---\n\n"


@dataclass(frozen=True)
class Ran:
    """How a line of shell ended, in bytes."""

    exit_code: int
    stdout: bytes
    stderr: bytes


@pytest.fixture
def shell(home: Path) -> Callable[..., Ran]:
    """Run a line of shell, in which $VM is the command; it must end by itself."""

    def ran(line: str, **env: str) -> Ran:
        ended = subprocess.run(
            ["bash", "-c", line],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd=home,
            env={**os.environ, "VM": COMMAND, **env},
            timeout=60,
            check=False,
        )
        assert b"Traceback" not in ended.stderr
        return Ran(ended.returncode, ended.stdout, ended.stderr)

    return ran


def unlike_text(shown: bytes) -> set[str]:
    """Every character of a terminal's output that is more than text, a newline or a tab; CR LF ends its lines."""
    text = shown.replace(b"\r\n", b"\n").decode("utf-8")
    return {c for c in text if (ord(c) < 32 and c not in "\n\t") or 0x7F <= ord(c) <= 0x9F or c in REORDERING}


def plain(shown: Shown) -> str:
    """What a terminal shows, the colours and movements of our own taken out."""
    return COLOURS.sub("", shown.output.decode("utf-8")).replace("\r\n", "\n")


# CL-01


SPOOLING = HEAD + "Spooling tape: [/] [|] [-]\npath [/home/ann/run.sh] done\n"
MARKED = "[bold]bold[/bold] [/x] [red]:smile: :warning: [link=file:///etc]x[/link] \\[y] spooling\n"


def test_CL_01_text_that_looks_like_markup_is_printed_as_it_is(call: Run, write: Write) -> None:
    """CL-01: text such as [/home/x] crashes the printout as a closing tag without an opening one."""
    write("net.md", SPOOLING)
    write("[/x] title.md", HEAD + "odd name, spooling too\n")
    write("memories/[red]:smile:.md", HEAD + MARKED)

    found, listed = call("search", "spooling"), call("list")
    shown = [call("show", name) for name in ("net", "[/x] title.md", "[red]")]
    grepped = call("grep", "spooling|/home")
    missing, ambiguous = call("show", "no[/]such"), call("show", "[")
    asked = call("forget", "[/x] title", input="n\n")
    rest = [call("stats"), call("doctor"), call("list", "--tag", "[/]"), call("search", "[/] [bold] spooling")]

    assert (found.exit_code, listed.exit_code) == (0, 0)
    for line in ("Spooling tape: [/] [|] [-]", "path [/home/ann/run.sh] done", "[/x] title.md", MARKED.strip()):
        assert line in found.stdout
    assert sorted(listed.stdout.splitlines()) == ["[/x] title.md", "memories/[red]:smile:.md", "net.md"]
    assert [ended.stdout for ended in shown] == [SPOOLING, HEAD + "odd name, spooling too\n", HEAD + MARKED]
    assert "net.md:8:path [/home/ann/run.sh] done\n" in grepped.stdout
    assert (missing.exit_code, "'no[/]such'" in missing.stderr) == (2, True)
    assert "  [/x] title.md\n  memories/[red]:smile:.md\n" in ambiguous.stderr
    assert "Forget [/x] title.md? [y/N] " in asked.stderr
    assert all(ended.exit_code == 0 for ended in rest)


def test_CL_01_on_a_terminal_with_colours_too(on_terminal: OnTerminal, write: Write) -> None:
    """CL-01: the same commands where the output is coloured."""
    write("net.md", SPOOLING)
    write("[/x] title.md", HEAD + MARKED)
    write("broken [/].md", "---\n[/]: [\n---\nspooling")

    shown = {
        words: on_terminal(*words, after="[y/N] ", keys="n\n")
        for words in (("search", "spooling"), ("forget", "title"))
    }

    assert "warning: broken [/].md: " in plain(shown["search", "spooling"])
    assert "path [/home/ann/run.sh] done\n" in plain(shown["search", "spooling"])
    assert MARKED in plain(shown["search", "spooling"])
    assert "Forget [/x] title.md? [y/N] " in plain(shown["forget", "title"])
    assert [ended.exit_code for ended in shown.values()] == [0, 1]


def test_CL_01_an_answer_and_what_is_learned_are_printed_as_they_are(
    on_terminal: OnTerminal, online: MessagesApi, write: Write
) -> None:
    """CL-01: CHAT with an answer that quotes it, and learning lines that do (into a pipe: see test_repl)."""
    write("[/x] title.md", HEAD + "spooling")
    online.script(
        Answer("It says [/home/ann/run.sh] and [/] [bold]in[/bold] spooling :smile:."),
        remembering(("fact", "The user spools [/x] [red].", "I spool [/x]"), ("fact", "[/b] :smile:", "not said")),
    )

    said = plain(on_terminal("chat", "-m", "Where is [/] my spooling? I spool [/x] [red]"))

    assert "It says [/home/ann/run.sh] and [/] [bold]in[/bold] spooling :smile:." in said
    assert "recalled: x] title" in said
    assert "learned: The user spools [/x] [red]. (memories/the-user-spools-x-red.md)" in " ".join(said.split())
    assert "not kept: [/b] :smile: (its quote is not in your message)" in " ".join(said.split())


# CL-03


LONG = "a-rather-long-folder-name-for-notes-about-birds/another-level-with-spaces in it/"
LONG += "osprey-sightings-of-the-whole-year-2026-north-and-south.md"


@pytest.fixture
def osprey(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A vault under a path of more than 120 characters, with a long name and a long line in it."""
    root = Vault.create(tmp_path / ("d" * 60) / ("e" * 60)).root
    (root / LONG).parent.mkdir(parents=True)
    (root / LONG).write_text(HEAD + "osprey " * 60 + "end\n", encoding="utf-8")
    monkeypatch.setenv("VAULT_MIND_VAULT", str(root))
    return root


def test_CL_03_piped_output_keeps_a_path_on_one_line_whatever_the_width(
    shell: Callable[..., Ran], call: Run, osprey: Path
) -> None:
    """CL-03: piped output is folded at 80 columns, so paths come out broken in two."""
    path = LONG.encode()
    line = f"$VM list | cat; $VM search osprey > out; head -1 out; cd '{osprey}'; $VM list | xargs -d '\\n' ls"

    narrow = shell(line, COLUMNS="40")
    dumb = shell("$VM list; $VM search osprey --paths | head -1", COLUMNS="1", NO_COLOR="1", TERM="dumb")
    whole = [
        call(*words, env={"COLUMNS": "40"}).stdout
        for words in (["grep", "end"], ["show", "osprey"], ["list", "--json"])
    ]
    hits = call("search", "osprey", env={"COLUMNS": "40"}).stdout

    assert narrow.stdout.splitlines() == [path] * 3
    assert dumb.stdout.splitlines() == [path] * 2
    assert b"\x1b" not in narrow.stdout + narrow.stderr + dumb.stdout + dumb.stderr
    assert narrow.stderr + dumb.stderr == b""
    assert all("osprey " * 60 + "end" in text for text in whole)
    assert "    " + "osprey " * 40 in hits  # it may cut, not fold


def test_CL_03_on_a_terminal_a_path_is_whole_and_colours_go_when_asked(on_terminal: OnTerminal, osprey: Path) -> None:
    """CL-03: no ANSI codes when NO_COLOR is set or the terminal is dumb; data is not cut there either."""
    uncoloured = on_terminal("list", env={"COLUMNS": "40", "NO_COLOR": "1"})
    dumb = on_terminal("search", "osprey", env={"COLUMNS": "10", "TERM": "dumb"})

    assert b"\x1b" not in uncoloured.output + dumb.output
    assert uncoloured.output.startswith(LONG.encode() + b"  fact, 2026-02-15  osprey")
    assert dumb.output.startswith(LONG.encode() + b"\r\n")


def test_CL_03_a_pipe_that_is_closed_early_ends_it_without_a_traceback(shell: Callable[..., Ran], write: Write) -> None:
    """CL-03: `| head -1` ends without a traceback, also when there is more than a pipe holds."""
    for number in range(60):
        write(f"{number}.md", HEAD + f"osprey {number} " * 100)

    ran = shell(
        "for c in 'list --json' 'grep osprey' 'chat --offline -m osprey -m osprey -m osprey'; do"
        " $VM $c 2>err | head -1 | wc -l; cat err >&2; done"
    )

    assert ran.stdout.split() == [b"1", b"1", b"1"]
    assert b"Broken pipe" not in ran.stderr
    assert b"Exception" not in ran.stderr


@pytest.mark.parametrize("closed", [">&-", "2>&-"])
def test_CL_03_a_closed_stream_costs_what_it_would_have_shown_and_nothing_else(
    shell: Callable[..., Ran], write: Write, vault: Vault, closed: str
) -> None:
    """CL-03: stdout or stderr may be closed altogether."""
    write("osprey.md", HEAD + "osprey")
    write("broken.md", "---\na: [\n---\nosprey")

    ran = shell(
        f"$VM list {closed}; echo $?; $VM chat --offline -m 'I live in Oslo.' -m '/show nosuch' {closed}; echo $?"
    )

    printed = ran.stdout.decode().split("\n")
    assert [line for line in printed if line.isdigit()] == ["0", "2"]
    assert "The user lives in Oslo." in [memory.body for memory in vault.memories()]
    assert ("osprey.md" in printed) is (closed == "2>&-")


def test_CL_03_any_width_will_do(on_terminal: OnTerminal, write: Write) -> None:
    """CL-03: a very narrow terminal, or one that gives no width."""
    # Some terminals say 0; Rich alone would print nothing at all, which looks like an empty vault.
    write("memories/osprey.md", HEAD + "osprey [x] in a rather long line of words")

    said = on_terminal("chat", "--offline", "-m", "Which osprey?", env={"COLUMNS": "5"})
    listed = on_terminal("list", env={"COLUMNS": "0"})

    assert (listed.exit_code, said.exit_code) == (0, 0)
    assert b"Traceback" not in listed.output + said.output
    assert "osprey[x]in" in "".join(plain(said).replace("▌", "").split())
    assert "memories/osprey.md  fact, 2026-02-15  osprey [x] in a rather long line of words\n" in plain(listed)


# CL-05


def seconds_of_children() -> float:
    """Processor time that ended child processes have used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return float(used.ru_utime + used.ru_stime)


def test_CL_05_when_input_ends_the_chat_ends(shell: Callable[..., Ran], online: MessagesApi) -> None:
    """CL-05: when input ends (pipe, Ctrl-D, /dev/null) the chat spins, or sends empty messages for ever."""
    online.script(Answer("hello back"), remembering())
    before = seconds_of_children()

    hello = shell("echo hello | $VM chat")
    asked = len(online.requests)
    silent = [shell(line) for line in ("$VM chat < /dev/null", "printf '\\n\\n \\t\\n' | $VM chat")]

    assert (hello.exit_code, hello.stdout) == (0, b"hello back\n")
    assert [bool(request.get("stream")) for request in online.requests] == [True, False]  # said once, learned from once
    assert asked == len(online.requests)
    assert [(ended.exit_code, ended.stdout) for ended in silent] == [(0, b"")] * 2
    assert seconds_of_children() - before < 20


def test_CL_05_ctrl_d_ends_the_chat_at_a_terminal(on_terminal: OnTerminal) -> None:
    """CL-05: the same at a terminal."""
    shown = on_terminal("chat", after="\u203a", keys="\x04")

    assert shown.exit_code == 0


def test_CL_05_a_line_without_its_newline_is_said_too(shell: Callable[..., Ran], vault: Vault) -> None:
    """CL-05: the last line of a pipe may lack its end."""
    ran = shell("printf 'I live in Oslo.' | $VM chat")

    assert ran.exit_code == 0
    assert [memory.body for memory in vault.memories()] == ["The user lives in Oslo."]


def test_CL_05_a_question_at_the_end_of_input_is_answered_no(
    shell: Callable[..., Ran], on_terminal: OnTerminal, write: Write
) -> None:
    """CL-05: a confirmation with stdin closed or at its end counts as no."""
    file = write("tea.md", HEAD + "tea")

    ended = [
        shell("$VM forget tea <&-"),
        shell("printf '/forget tea\\n' | $VM chat"),
    ]
    at_terminal = on_terminal("forget", "tea", after="[y/N] ", keys="\x04")

    assert [ran.exit_code for ran in ended] == [1, 0]
    assert all(b"kept" in ran.stderr for ran in ended)
    assert at_terminal.exit_code == 1
    assert file.exists()


# CL-06


ESC = """\
---
kind: note
title: "t\\e]0;owned\\a"
---
mantis \x1b]52;c;cm0gLXJmIH4=\x07 one
\x1b]8;;https://example.invalid/\x1b\\click\x1b]8;;\x1b\\ two
real line\rfake line
\x1b[2K\x1b[1Aforged PASS
\x9b31m c1
abc\u202egnp.exe
"""
NAMES = ["q\x1b]0;hello\x07r.md", "two\nlines.md", "x\u202edm.md", "tab\there.md", "c1\x9b31m.md", "zero\u2066w.md"]
EVIL_ANSWER = (
    "Here: \x1b]52;c;cm0=\x07 and \x1b[31mred\x1b[0m mantis\rforged \x9b31m \u202egnp.exe &#x202e; &#27;]0;x&#7;"
)


@pytest.fixture
def mantis(write: Write) -> None:
    """A vault of texts and names that drive a terminal."""
    write("esc.md", ESC)
    for name in NAMES:
        write(name, "mantis\n")
    write("broken\x1b[31m.md", "---\na\x1b[31m: [\n---\nmantis")


CL_06 = [
    ["show", "esc"],
    ["search", "mantis", "-k", "20"],
    ["list"],
    ["doctor"],
    ["show", "two\x1b]0;x\x07"],
    ["grep", "mantis|fake|c1|exe"],
    ["stats"],
    ["show", "mantis\u202e", "--vault", "/no/\x1b[31mwhere"],
    ["grep", "(\x1b[31m"],
    ["list", "--kind", "\x9b"],
]


def test_CL_06_nothing_in_a_note_or_a_name_drives_the_terminal(on_terminal: OnTerminal, mantis: None) -> None:
    """CL-06: control sequences in a note, a file name or a model's answer drive the terminal."""
    shown = {" ".join(words): on_terminal(*words, env={"NO_COLOR": "1"}) for words in CL_06[:4]}
    coloured = on_terminal("search", "mantis", "-k", "20")

    for command, ended in shown.items():
        assert unlike_text(ended.output) == set(), command
    assert b"mantis ^[]52;c;cm0gLXJmIH4=^G one\r\n" in shown["show esc"].output
    assert (
        b"real line^Mfake line\r\n^[[2K^[[1Aforged PASS\r\n<U+009B>31m c1\r\nabc<U+202E>gnp.exe\r\n"
        in shown["show esc"].output
    )
    listed = [line.split("  ")[0] for line in plain(shown["list"]).splitlines()]
    assert set(listed) >= {"q^[]0;hello^Gr.md", "two^Jlines.md", "x<U+202E>dm.md", "tab^Ihere.md", "esc.md"}
    assert len([line for line in listed if line.endswith(".md")]) == len(NAMES) + 2
    assert not set(coloured.output.decode()) & (REORDERING | {"\x07", "\x9b"})
    assert b"\x1b]" not in coloured.output
    assert b"\x1b[2K\x1b[1Aforged" not in coloured.output


def test_CL_06_errors_and_odd_arguments_neither(call: Run, mantis: None) -> None:
    """CL-06: whatever a command is given comes back as visible text, in errors too."""
    for words in CL_06:
        ended = call(*words)

        assert unlike_text((ended.stdout + ended.stderr).encode("utf-8", "surrogatepass")) == set(), words


def test_CL_06_json_keeps_the_data_escaped(call: Run, mantis: None) -> None:
    """CL-06: piped and JSON output keeps the data, escaped."""
    listed, grepped = call("list", "--json"), call("grep", "--json", "fake")

    assert unlike_text(listed.stdout.encode()) == unlike_text(grepped.stdout.encode()) == set()
    data = {memory["path"]: memory for memory in json.loads(listed.stdout)}
    assert set(NAMES) <= set(data)
    assert data["esc.md"]["body"] == ESC.partition('a"\n---\n')[2].strip("\n")
    assert data["esc.md"]["title"] == "t\x1b]0;owned\x07"
    assert json.loads(grepped.stdout)["text"] == "real line\rfake line"


def test_CL_06_nothing_in_an_answer_drives_the_terminal(
    on_terminal: OnTerminal, online: MessagesApi, mantis: None
) -> None:
    """CL-06: CHAT with an answer of control sequences, and learning from it (coloured: see test_repl)."""
    online.script(
        Answer(EVIL_ANSWER, pieces=9),
        remembering(("fact", "The\x1b user \u202ekeeps a [31m mantis.", "I keep"), ("\x1b", "a\x07b", "x")),
    )

    shown = on_terminal("chat", "-m", "I keep a [31m mantis.", env={"NO_COLOR": "1"})

    assert shown.exit_code == 0
    assert unlike_text(shown.output) == set()
    said = "Here: ^[]52;c;cm0=^G and ^[[31mred^[[0m mantis^Mforged <U+009B>31m <U+202E>gnp.exe &#x202e; &#27;]0;x&#7;"
    assert said in plain(shown)
    assert "learned: The user keeps a [31m mantis. (memories/the-user-keeps-a-31m-mantis.md)" in plain(shown)


# RX-01


PATTERNS = ["(a+)+$", "(a|aa)+$", "(a*)*b", "(x+x+)+y", "^(([a-z])+.)+[A-Z]([a-z])+$", "(.*a){20}$", "(?:ab|a|b)*d"]
EVIL = "a" * 40 + "!\n" + "x" * 500 + "\n" + "a" * 5_000 + "\n" + "ab" * 20 + "c\n"


def test_RX_01_no_pattern_can_hang_it(call: Run, shell: Callable[..., Ran], write: Write) -> None:
    """RX-01: a pattern that backtracks without end freezes the whole program, and Ctrl-C does nothing."""
    write("evil.md", EVIL)
    took = {}

    for pattern in PATTERNS:
        start = time.process_time()
        ended = call("grep", pattern)
        took[pattern] = time.process_time() - start
        assert ended.exit_code in (0, 1), pattern
    ran = shell(f"$VM grep '{PATTERNS[0]}'")

    assert max(took.values()) < 5, took
    assert ran.exit_code == 0
    assert ran.stdout.startswith(b"evil.md:3:" + b"a" * 5_000)


def test_RX_01_in_the_chat_neither_and_later_searches_work(run: Run, write: Write) -> None:
    """RX-01: later searches in the same session work."""
    write("evil.md", EVIL)
    write("tea.md", "The user drinks tea.")

    ended = run("chat", "--offline", input="".join(f"/grep {pattern}\n" for pattern in PATTERNS) + "/search tea\n")

    assert ended.exit_code == 0
    assert "tea.md\n" in ended.stdout


def test_RX_01_sigint_ends_a_command_at_once(vault: Vault, write: Write, home: Path) -> None:
    """RX-01: SIGINT ends it at once, without a traceback and with nothing done."""
    file = write("tea.md", HEAD + "tea")
    command = [sys.executable, "-m", "vault_mind", "forget", "tea"]

    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=home
    ) as process:
        assert process.stderr
        said = b""
        while b"[y/N]" not in said:
            said += process.stderr.read(1)
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        said += process.stderr.read()
        process.wait(5)

    assert time.monotonic() - start < 3
    assert b"Traceback" not in said
    assert process.returncode not in (0, None)
    assert file.exists()


# RX-02


INVALID = {
    "(": 0,
    "[z-a": 0,
    "*start": 0,
    "\\": 0,
    "(?P<a>x)(?P<a>y)": 8,
    "(?<=a+)b": 0,
    "a{99999999999}": 1,
}
VALID = {"plain(?i)TEXT": 1, r"\p{L}+": 0, "(?<n>x)": 0}
LIMITS = {
    "a{1001}": "1000",
    "(a{2}){501}": "",
    "a" * 10_001: "10000",
    "(?=a)b": "look-ahead",
    r"(a)\1": "back-reference",
}


def one_line_with_position(said: str) -> int:
    """The position that a one-line error names."""
    assert said.count("\n") == 1
    found = re.search(r" at position (\d+)$", said.strip())
    assert found, said
    return int(found[1])


def test_RX_02_an_invalid_pattern_is_one_line_of_error_with_its_position(call: Run, write: Write) -> None:
    """RX-02: an invalid pattern, or one with (?i) in the middle, ends in a traceback."""
    write("n.md", "plain (text) [here]\n")

    for pattern, position in INVALID.items():
        ended = call("grep", "--", pattern)

        assert (ended.exit_code, ended.stdout) == (2, ""), pattern
        assert abs(one_line_with_position(ended.stderr) - position) <= 1, ended.stderr
    for pattern, exit_code in VALID.items():
        ended = call("grep", pattern)

        assert (ended.exit_code, ended.stderr) == (exit_code, ""), pattern


def test_RX_02_no_pattern_is_quietly_taken_for_plain_text(call: Run, write: Write) -> None:
    """RX-02: no automatic literal search without saying so."""
    write("n.md", "plain (text) [here] ( \\ *start [z-a\n")

    assert {call("grep", pattern).exit_code for pattern in ("(", "\\", "*start", "[z-a")} == {2}
    assert call("grep", "-F", "(").stdout.startswith("n.md:1:plain (text)")


def test_RX_02_the_limits_are_stated(call: Run, write: Write) -> None:
    """RX-02: the limits on length and repetition are stated, and what a linear engine cannot do."""
    write("n.md", "aaa")

    for pattern, stated in LIMITS.items():
        ended = call("grep", pattern)

        assert ended.exit_code == 2, pattern
        assert stated in ended.stderr
        assert len(ended.stderr) < 400
        assert ended.stderr.count("\n") == 1


def test_RX_02_in_the_chat_each_is_a_line_and_the_loop_goes_on(run: Run, write: Write) -> None:
    """RX-02: the same from inside a session."""
    write("n.md", "plain (text) [here]\n")
    patterns: Sequence[str] = list(INVALID)

    ended = run("chat", "--offline", input="".join(f"/grep {pattern}\n" for pattern in patterns) + "/grep plain\n")

    errors = [line for line in ended.stderr.splitlines() if line.startswith("bad pattern ")]
    assert len(errors) == len(patterns)
    assert all(re.search(r" at position \d+$", error) for error in errors)
    assert ended.stdout == "n.md:1:plain (text) [here]\n"


# More of the same kinds


def test_a_locale_that_is_not_utf8_costs_no_byte(shell: Callable[..., Ran], write: Write) -> None:
    """Siblings of CL-03 and CL-06: LC_ALL=C and an output that spells Latin-1 only."""
    write("été.md", "Été 日本 mantis\n")

    plain_c = shell("$VM grep mantis", LC_ALL="C")
    latin = shell("$VM grep mantis", PYTHONIOENCODING="latin-1")

    assert plain_c.stdout.decode().splitlines() == ["été.md:1:Été 日本 mantis"]
    assert "été.md:1:Été \\u65e5\\u672c mantis" in latin.stdout.decode("latin-1")


def test_names_of_options_and_settings_are_shown_safely(call: Run, tmp_path: Path) -> None:
    """A sibling of CL-06: a vault's own folder may have an odd name."""
    root = Vault.create(tmp_path / "v\x1b[31m\n:smile: [/]").root

    ended = [call(*words, "--vault", str(root)) for words in (["config"], ["stats"], ["doctor"], ["init"])]

    for each in ended:
        assert each.exit_code == 0
        assert unlike_text((each.stdout + each.stderr).encode()) == set()
    assert "v^[[31m^J:smile: [/]" in ended[0].stdout
    assert "v^[[31m^J:smile: [/]" in ended[1].stdout

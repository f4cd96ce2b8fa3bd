"""The command grep: what it prints for every flag, how it ends, and that ripgrep says the same."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import Ended, OnTerminal, Run
from vault_mind import Vault
from vault_mind.cli import _put_pieces
from vault_mind.render import visible
from vault_mind.screen import Piece, Screen

Write = Callable[[str, str | bytes], Path]
POSIX = pytest.mark.skipif(os.name == "nt", reason="a matter of POSIX shells or signals")
RIPGREP = pytest.mark.skipif(not shutil.which("rg"), reason="ripgrep is not here to be compared with")

TEA = "---\nkind: preference\n---\n\nThe user drinks green tea.\nTea at four, teacups never.\n\nAnd milk.\n"
HOSTILE: dict[str, str | bytes] = {
    "a.md": TEA,
    "b no end.md": "tea\n\n\ntea and tea",
    "c/crlf.md": "---\r\nkind: fact\r\n---\r\n\r\nGreen tea\r\nno\r\n\r\nmilk\r\n",
    "c/deep/er.md": "x\nfoo\nbar foo foo\nbaz\n\nfoo\n",
    "d bom.md": "\ufefftea first\nthen milk\n",
    "e bom crlf.md": "\ufeff---\r\ntea\r\n---\r\n",
    "f empty.md": "",
    "g newline.md": "\n",
    "h newlines.md": "\n\n\n",
    "i nul.md": "tea\0milk\n\x1b[31mtea\n",
    "j é.md": "café tea 日本 tea\nCAFÉ\nÉté\n",
    "k long.md": "ab " * 3_000 + "\n" + "tea\n" * 40,
    "l bom only.md": b"\xef\xbb\xbf",
    "m lines.md": "".join(f"line {number}{' tea' * (number % 4 == 0)}\n" for number in range(30)),
}
PATTERNS = ["tea", "", "^tea|milk$", "[^a]+", "tea$", "^tea", "te.|milk", "Tea", "café|日", "(?i)é", "zebra", "."]
PATTERNS += ["^$", "$", "e*", r"\s+$", "^---$", "fo{2} (foo)?"]
FEW = 4  # patterns of the everyday tests; a storm tries them all
EMPTY = ["^$", "", "$", "e*"]
FLAGS = ["", "-i", "-w", "-F", "-S", "-v", "-o", "-l", "-c", "-c -o", "-l -v", "-c -v", "-C 1", "-A 2", "-B 1 -i"]
FLAGS += ["-C 2 -A 0", "-o -C 1", "-v -C 1", "-C 0", "-i -w -o", "-U", "-U -o", "-U -l", "-U -C 1"]
SPANNING = [r"foo\nb", r"tea\n\n", r"(?s)tea.*milk", r"\r?\n(\r?\n)+", "[^x]*tea", r"o\nba[rz]", r"\Atea", r"tea\s+no"]
SPANNING += [r"tea\r?\n", "a\nt"]
SPANNING_FLAGS = ["", "-i", "-o", "-l", "-C 1", "-A 1", "-w"]


@pytest.fixture
def tea(write: Write) -> None:
    """Two memories about tea, and one about none."""
    write("a.md", TEA)
    write("b.md", "tea\nmilk")
    write("c.md", "milk\n")


@pytest.fixture
def hostile(vault: Vault, write: Write) -> Vault:
    """A small vault of all that lines and files can be."""
    for path, content in HOSTILE.items():
        write(path, content)
    return vault


def rg(vault: Vault, *words: str) -> tuple[int, list[str]]:
    """What ripgrep says of the vault's files, taken for text whose lines may end in CRLF; controls spelt out."""
    command = ["rg", "--no-config", "--sort=path", "-nH", "--no-heading", "--color=never", "--crlf", "-a", "-g*.md"]
    ended = subprocess.run(
        [*command, *words], cwd=vault.root, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    return ended.returncode, [visible(line.removesuffix("\r")) for line in ended.stdout.decode().split("\n")]


def ours(call: Run, *words: str) -> tuple[int, list[str]]:
    """The same of the command."""
    ended = call("grep", *words)
    return ended.exit_code, ended.stdout.split("\n")


def same(call: Run, vault: Vault, flags: str, patterns: list[str]) -> None:
    """The command and ripgrep print the same lines and end the same for each pattern."""
    for pattern in patterns:
        words = (*flags.split(), "-e", pattern)

        assert ours(call, *words) == rg(vault, *words), words


# --- as ripgrep -----------------------------------------------------------------------------------


@RIPGREP
@pytest.mark.parametrize("patterns", [PATTERNS[:FEW], pytest.param(PATTERNS[FEW:], marks=pytest.mark.storm)])
@pytest.mark.parametrize("flags", FLAGS)
def test_it_prints_the_lines_that_ripgrep_prints(call: Run, hostile: Vault, flags: str, patterns: list[str]) -> None:
    # Where a match may be empty ripgrep also finds it between the bytes of a character, and before the \r of a CRLF.
    odd = {"-o", "-w", "-U"} & set(flags.split())

    same(call, hostile, flags, [pattern for pattern in patterns if not odd or pattern not in EMPTY])


@RIPGREP
@pytest.mark.parametrize("flags", SPANNING_FLAGS)
def test_it_prints_the_lines_that_ripgrep_prints_when_a_match_may_span_lines(
    call: Run, hostile: Vault, flags: str
) -> None:
    same(call, hostile, f"-U {flags}", SPANNING)


@RIPGREP
def test_of_several_patterns_it_finds_what_ripgrep_finds(call: Run, hostile: Vault) -> None:
    for flags in ("", "-i", "-F", "-w -o", "-S", "-c", "-v"):
        words = (*flags.split(), "-e", "milk", "-e", "^tea", "-e", "Foo|bar")

        assert ours(call, *words) == rg(hostile, *words), words


@RIPGREP
@pytest.mark.parametrize("words", [["tea", "-l"], ["zebra"], ["zebra", "-c"], ["("], ["-C", "x", "tea"], [r"a\nb"], []])
def test_it_ends_as_ripgrep_does(call: Run, hostile: Vault, words: list[str]) -> None:
    assert ours(call, *words)[0] == rg(hostile, *words)[0]


# --- what it prints -------------------------------------------------------------------------------


def test_lines_are_printed_with_path_and_number(call: Run, tea: None) -> None:
    assert call("grep", "(?i)tea") == Ended(
        0, "a.md:5:The user drinks green tea.\na.md:6:Tea at four, teacups never.\nb.md:1:tea\n", ""
    )


def test_lines_around_have_dashes_and_runs_are_set_apart(call: Run, tea: None) -> None:
    assert call("grep", "milk", "-C", "1").stdout == (
        "a.md-7-\na.md:8:And milk.\n--\nb.md-1-tea\nb.md:2:milk\n--\nc.md:1:milk\n"
    )
    assert call("grep", "kind", "-A", "1", "-B1").stdout == "a.md-1----\na.md:2:kind: preference\na.md-3----\n"


def test_the_side_that_is_named_alone_counts_more_than_both(call: Run, tea: None) -> None:
    assert call("grep", "kind", "-C", "1", "-A", "0").stdout == "a.md-1----\na.md:2:kind: preference\n"


def test_only_what_matched_is_printed_a_match_a_line(call: Run, tea: None) -> None:
    assert call("grep", "-o", "-i", "tea").stdout == "a.md:5:tea\na.md:6:Tea\na.md:6:tea\nb.md:1:tea\n"
    assert call("grep", "-o", "-U", r"tea\n+milk|four").stdout == "a.md:6:four\nb.md:1:tea\nb.md:2:milk\n"


def test_lines_are_counted_and_with_o_matches(call: Run, tea: None) -> None:
    assert call("grep", "-c", "-i", "tea").stdout == "a.md:2\nb.md:1\n"
    assert call("grep", "-c", "-o", "-i", "tea").stdout == "a.md:3\nb.md:1\n"
    assert call("grep", "-c", "-v", "-o", "tea").stdout == "a.md:6\nb.md:1\nc.md:1\n"


def test_a_newline_that_matched_alone_is_a_match_of_which_nothing_is_shown(call: Run, tea: None) -> None:
    assert call("grep", "-U", "-o", r"milk\n|\n\n") == Ended(0, "c.md:1:milk\n", "")
    assert call("grep", "-U", "-o", r"\n") == Ended(0, "", "")


def test_what_was_found_is_printed_also_when_the_rest_cannot_be(capsys: pytest.CaptureFixture[str]) -> None:
    def found() -> Iterator[list[Piece]]:
        yield [("a.md", "magenta"), (":1:tea\n", "")]
        yield [("b.md:1:tea\n", "")]
        raise OSError

    with pytest.raises(OSError):
        _put_pieces(Screen(), found())

    assert capsys.readouterr().out == "a.md:1:tea\nb.md:1:tea\n"


@pytest.mark.parametrize("count", [1, 2, 1_000, 20_000])
def test_much_is_printed_as_little_is(call: Run, write: Write, count: int) -> None:
    write("a.md", "".join(f"tea {number}\x1b\n" for number in range(count)))
    write("b.md", "tea")

    lines = [f"a.md:{number + 1}:tea {number}^[\n" for number in range(count)]
    assert call("grep", "tea") == Ended(0, "".join([*lines, "b.md:1:tea\n"]), "")


def test_a_byte_order_mark_is_no_part_of_the_first_line(call: Run, write: Write) -> None:
    write("bom.md", "\ufeffTea\nmilk\n")

    assert call("grep", "^Tea", "-o").stdout == "bom.md:1:Tea\n"
    assert call("grep", "milk", "-C1").stdout == "bom.md-1-Tea\nbom.md:2:milk\n"
    assert call("grep", "-v", "milk").stdout == "bom.md:1:Tea\n"


def test_a_carriage_return_alone_ends_no_line(call: Run, write: Write) -> None:
    write("a.md", "a\rtea\r\nb\r")

    assert call("grep", "^tea|^b").stdout == "a.md:2:b^M\n"
    assert call("grep", "-o", "a.tea$").stdout == "a.md:1:a^Mtea\n"


def test_a_pattern_may_begin_with_a_dash(call: Run, tea: None) -> None:
    assert call("grep", "-e", "---", "-c").stdout == call("grep", "-c", "--", "---").stdout == "a.md:2\n"


def test_a_span_of_several_lines_is_found_over_crlf(call: Run, write: Write) -> None:
    write("a.md", "tea\r\n\r\nmilk\r\n")

    assert call("grep", "-U", r"a\n\nm").stdout == "a.md:1:tea\na.md:2:\na.md:3:milk\n"


# --- as JSON --------------------------------------------------------------------------------------


def objects(ended: Ended) -> list[dict[str, object]]:
    """The objects that a command printed, one a line."""
    return [json.loads(line) for line in ended.stdout.splitlines()]


def test_json_is_an_object_a_line(call: Run, tea: None) -> None:
    assert objects(call("grep", "--json", "tea", "-o")) == [
        {"path": "a.md", "line": 5, "text": "The user drinks green tea.", "spans": [[22, 25]]},
        {"path": "a.md", "line": 6, "text": "Tea at four, teacups never.", "spans": [[13, 16]]},
        {"path": "b.md", "line": 1, "text": "tea", "spans": [[0, 3]]},
    ]


def test_json_says_which_lines_stand_around(call: Run, tea: None) -> None:
    assert objects(call("grep", "--json", "^milk", "-B1")) == [
        {"path": "b.md", "line": 1, "text": "tea", "spans": [], "context": True},
        {"path": "b.md", "line": 2, "text": "milk", "spans": [[0, 4]]},
        {"path": "c.md", "line": 1, "text": "milk", "spans": [[0, 4]]},
    ]


def test_json_of_paths_and_of_counts(call: Run, tea: None) -> None:
    assert objects(call("grep", "--json", "-l", "tea")) == [{"path": "a.md"}, {"path": "b.md"}]
    assert objects(call("grep", "--json", "-c", "tea")) == [{"path": "a.md", "count": 2}, {"path": "b.md", "count": 1}]
    assert call("grep", "--json", "zebra") == Ended(1, "", "")


# --- refusals and ends ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "give it, or -e"),
        (["tea", "-e", "milk"], "give it, or -e"),
        (["tea", "-l", "-c"], "two answers"),
        (["tea", "-C", "-1"], "'-C'"),
        (["-e", "tea", "-e", "("], "missing ) at position 0"),
        ([r"a\nb"], "-U lets it span lines at position 1"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(call: Run, tea: None, words: list[str], said: str) -> None:
    ended = call("grep", *words)

    assert (ended.exit_code, ended.stdout) == (2, "")
    assert said in ended.stderr


def test_at_a_terminal_the_matches_are_marked(on_terminal: OnTerminal, tea: None) -> None:
    shown = on_terminal("grep", "tea$|k", "-C1").output

    assert b"\x1b[1;31mtea\x1b[0m" in shown
    assert b"--\r\n" in shown


@POSIX
def test_a_reader_that_has_seen_enough_ends_it_quietly(home: Path, write: Write) -> None:
    write("a.md", "tea\n" * 100_000)

    ended = subprocess.run(
        ["sh", "-c", f"'{sys.executable}' -m vault_mind grep tea | head -1"],
        cwd=home,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (ended.stdout, ended.stderr) == ("a.md:1:tea\n", "")


@POSIX
def test_ctrl_c_ends_it_at_once(home: Path, write: Write) -> None:
    write("a.md", "a\n" * 10_000)
    write("b.md", "ab" * 200_000)  # each of the matches here looks to the end first
    command = [sys.executable, "-m", "vault_mind", "grep", "-o", "a.*c|a|b"]

    with subprocess.Popen(command, cwd=home, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.read(1_000)
        assert process.poll() is None
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)

    assert time.monotonic() - start < 2
    assert process.returncode not in (0, 1)
    assert b"Traceback" not in said

# a case's id stands in a name as it is written everywhere
"""Faults that users of such programs met in public, each as it would come up here: frontmatter, YAML, files.

UPDATE of a case is `Vault.read` with `Vault.change`; the rest goes through the real command.
"""

import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
import unicodedata
from collections.abc import Callable
from datetime import UTC, date, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import NOW, Ended, Run
from vault_mind import Index, Memory, Vault
from vault_mind.errors import PathRefusedError, UnreadableError, UnsafeChangeError
from vault_mind.frontmatter import split
from vault_mind.memory import moment

Write = Callable[[str, str | bytes], Path]
linux = pytest.mark.skipif(sys.platform != "linux", reason="tried on Linux only")


def update(vault: Vault, path: str, body: str | None = None, **keys: str) -> Memory:
    return vault.change(vault.read(path), keys, body=body)


def hashes(vault: Vault) -> dict[str, str]:
    """Every file of the vault by its hash; "unchanged" always means byte for byte."""
    files = [file for file in vault.root.rglob("*") if file.is_file()]
    return {file.relative_to(vault.root).as_posix(): sha256(file.read_bytes()).hexdigest() for file in files}


def listed(ended: Ended) -> list[str]:
    assert ended.exit_code == 0, ended.stderr
    return ended.stdout.splitlines()


def data_of(ended: Ended) -> Any:
    return json.loads(ended.stdout)


def findings(ended: Ended, *, remarks: bool = False) -> dict[str, list[str]]:
    """What `doctor --json` says is to fix (or to know), by path."""
    found: dict[str, list[str]] = {}
    for finding in data_of(ended)["findings"]:
        if finding["remark"] is remarks:
            found.setdefault(finding["path"], []).append(finding["what"])
    return found


def block_of(vault: Vault, path: str) -> str:
    block, _ = split((vault.root / path).read_text("utf-8"))
    assert block is not None
    return block


# --- FM: the frontmatter is found, and nothing else is taken for it --------------------------------

RULE_FIRST = "---\n\nThe kestrel nests above the north door: keep it shut in May.\n\nNo second rule follows.\n"


def test_FM_01_a_note_that_opens_with_a_rule_is_all_body(vault: Vault, write: Write, run: Run) -> None:
    """FM-01: a note that opens with a horizontal rule is swallowed whole as metadata."""
    write(
        "ok.md",
        "---\nkind: fact\nsource: user\ncreated_at: 2026-02-01T09:00:00+00:00\n---\n\nPlain control note about owls.\n",
    )
    write("rule-first.md", RULE_FIRST)
    before = hashes(vault)

    found = listed(run("search", "kestrel", "--paths"))
    shown = data_of(run("show", "rule-first", "--json"))
    doctor = run("doctor", "--json")
    run("remember", "The owl box is on the barn.")

    assert found == ["rule-first.md"]
    assert [hit.memory.path for hit in Index(vault).search("kestrel", 5)] == ["rule-first.md"]
    assert shown["body"] == RULE_FIRST.strip("\n")
    assert (shown["frontmatter"], shown["kind"], shown["source"], shown["created_at"]) == ({}, "note", None, None)
    assert findings(doctor, remarks=True) == {"rule-first.md": ["says no kind, source, created_at"]}
    assert doctor.exit_code == 0
    after = hashes(vault)
    assert {path: after[path] for path in before} == before
    with pytest.raises(UnsafeChangeError, match="opens with a rule"):
        update(vault, "rule-first.md", kind="fact")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("---\nThe kestrel nests here.\n---\nBelow the rule.\n", "kestrel"),
        ("---\n- kestrel\n- owl\n---\nBelow the rule.\n", "kestrel"),
        ("---\n# Kestrel\n---\nBelow the rule.\n", "kestrel"),
        ("---\n\nKestrel: one, owl: two: three\n\n---\nBelow the rule.\n", "kestrel"),
        ("----\nkind: kestrel\n----\nBelow the rule.\n", "kestrel"),
        (" ---\n kind: kestrel\n ---\nBelow the rule.\n", "kestrel"),
        ("---\nkind: fact\n...\nkestrel: x\n---\nBelow the rule.\n", "kestrel"),
        ("---\nnote: |\n  kestrel\n  ...\n  ---\n  owl\n---\nBelow the rule.\n", "rule"),
        ("{ kestrel: not JSON either }\n\nBelow the rule.\n", "kestrel"),
        ("+++\nkestrel = 1\n+++\nBelow the rule.\n", "kestrel"),
        ("\n---\nkestrel: x\n---\nBelow the rule.\n", "kestrel"),
        ("---\rkind: kestrel\r---\rBelow the rule.\r", "kestrel"),
    ],
)
def test_words_between_two_rules_or_strange_fences_are_never_lost(
    text: str, word: str, vault: Vault, write: Write
) -> None:
    """FM-02, FM-05 and their kin: text between two rules, `----`, indented fences, `...`, other formats."""
    file = write("note.md", text)
    index = Index(vault)

    for query in (word, "below"):
        assert [hit.memory.path for hit in index.search(query, 5)] == ["note.md"]
    for keys, body in (({}, vault.read("note.md").body + "\nMore."), ({"kind": "fact"}, None)):
        memory = vault.read("note.md")
        try:
            update(vault, "note.md", body, **keys)
        except UnsafeChangeError:
            assert file.read_bytes().decode() == memory.text
    left = iter(re.split(r"\r\n|\r|\n", file.read_bytes().decode()))
    rows = re.split(r"\r\n|\r|\n", text.strip("\r\n"))
    assert all(any(row == line for line in left) for row in rows), "no line is lost"


BROKEN = (
    "---\nkind: fact\nsummary: boiler: call the fitter first\nsource: user\n---\n\n"
    "The boiler code is F28 when the gas is off.\n"
)


def test_FM_03_an_update_of_broken_yaml_is_refused(vault: Vault, write: Write, run: Run) -> None:
    """FM-03: adding a field to a note whose YAML does not parse puts a second block on top."""
    write("broken.md", BROKEN)
    before = hashes(vault)

    with pytest.raises(UnsafeChangeError) as refused:
        update(vault, "broken.md", kind="fact")

    assert "broken.md" in str(refused.value)
    assert "line 3, column 16: mapping values are not allowed" in str(refused.value)
    assert hashes(vault) == before
    assert listed(run("search", "boiler code", "--paths")) == ["broken.md"]
    shown = run("show", "broken", "--json")
    assert "line 3, column 16" in shown.stderr
    assert data_of(shown)["body"] == "The boiler code is F28 when the gas is off."
    doctor = run("doctor", "--json")
    assert findings(doctor) == {
        "broken.md": ["frontmatter: line 3, column 16: mapping values are not allowed in this context"]
    }
    assert doctor.exit_code == 1
    assert hashes(vault) == before


@pytest.mark.parametrize(
    "block",
    [
        "kind:\tfact\nx: y\n",
        "kind: fact\n\tx: y\n",
        "\tkind: fact\n",
        "kind: [fact\n",
        "kind: 'fact\n",
        "kind: @fact\n",
    ],
)
def test_tabs_and_open_brackets_cost_only_the_write(block: str, vault: Vault, write: Write) -> None:
    """FM-03's kin: whatever a parser refuses, the file keeps its bytes or changes on the one line."""
    file = write("note.md", f"---\n{block}---\nOtter.\n")

    try:
        update(vault, "note.md", kind="context")
    except UnsafeChangeError as error:
        assert "note.md" in str(error)
        assert file.read_text() == f"---\n{block}---\nOtter.\n"

    assert file.read_text().count("---\n") == 2
    assert [hit.memory.path for hit in Index(vault).search("otter", 5)] == ["note.md"]


THREE = b"---\nkind: note\nsource: user\ncreated_at: 2026-02-03T09:00:00+00:00\n---\n\n- milk\n- bread\n\n\n"
NONE = b"---\nkind: note\nsource: user\ncreated_at: 2026-02-03T09:00:00+00:00\n---\n\nno newline at the end"


@pytest.mark.parametrize("content", [THREE, NONE, THREE.replace(b"\n", b"\r\n"), NONE + b" \t", THREE + b"\n \n"])
def test_FM_04_blank_lines_at_the_end_stay(content: bytes, vault: Vault, write: Write) -> None:
    """FM-04: changing one field drops the blank lines at the end of the file."""
    file = write("note.md", content)

    update(vault, "note.md", kind="fact")

    assert file.read_bytes() == content.replace(b"kind: note", b"kind: fact")


def test_FM_06_a_key_given_twice_is_reported_and_neither_is_dropped(vault: Vault, write: Write, run: Run) -> None:
    """FM-06: a key given twice: one parser takes the last, another throws the whole block away."""
    block = "kind: fact\nkind: preference\nsource: user\ncreated_at: 2026-02-05T08:00:00Z\n"
    text = f"---\n{block}---\n\nSaffron, never turmeric.\n"
    file = write("twice.md", text)

    first = run("list", "--kind", "preference")
    assert listed(first) == ["twice.md"]
    assert first.stderr == "warning: twice.md: frontmatter: line 3: 'kind' is given twice; the last one counts\n"
    assert data_of(run("search", "saffron", "--json"))[0]["kind"] == "preference"
    assert data_of(run("show", "twice", "--json"))["kind"] == "preference"
    assert data_of(run("stats", "--json"))["kinds"] == {"preference": 1}
    assert findings(run("doctor", "--json")) == {
        "twice.md": ["frontmatter: line 3: 'kind' is given twice; the last one counts"]
    }
    assert file.read_text() == text

    update(vault, "twice.md", source="import")
    assert file.read_text() == text.replace("source: user", "source: import")
    for value in ("fact", "context"):
        with pytest.raises(UnsafeChangeError, match="'kind' twice"):
            update(vault, "twice.md", kind=value)
    with pytest.raises(UnsafeChangeError):
        vault.change(vault.read("twice.md"), {"kind": None})
    assert file.read_text() == text.replace("source: user", "source: import")


# Once: every repetition is a warning of its own: 99,999 lines on stderr, and as many rows in the index.
def test_a_key_given_a_thousand_times_is_reported_in_a_few_words(vault: Vault, write: Write) -> None:
    """FM-06's kin: one bad file must not drown what is said of the others."""
    write("often.md", "---\n" + "kind: fact\n" * 1_000 + "---\nSaffron.\n")

    told = vault.read("often.md").warnings

    assert told[0].startswith("frontmatter: line 3: 'kind' is given twice")
    assert len(told) <= 10


BOM = b"\xef\xbb\xbf---\nkind: preference\nsource: user\ncreated_at: 2026-02-06T08:00:00Z\n---\n\nWindow seat.\n"
BOM_CRLF = (
    b"\xef\xbb\xbf---\r\nkind: preference\r\nsource: user\r\ncreated_at: 2026-02-06T08:00:00Z\r\n---\r\n\r\n"
    b"Aisle seat.\r\nNo middle.\r\n"
)


def test_FM_07_a_byte_order_mark_hides_nothing_and_stays(vault: Vault, write: Write, run: Run) -> None:
    """FM-07: a byte-order mark hides the whole frontmatter, and an edit silently removes the mark."""
    files = {name: write(name, content) for name, content in {"bom.md": BOM, "bom-crlf.md": BOM_CRLF}.items()}

    assert listed(run("list", "--kind", "preference")) == ["bom-crlf.md", "bom.md"]
    for hit in data_of(run("search", "seat", "--json")):
        assert "\ufeff" not in hit["title"] + hit["body"] + "".join(hit["frontmatter"])
    assert listed(run("grep", "^---$", "-l")) == ["bom-crlf.md", "bom.md"]

    for name in files:
        update(vault, name, kind="fact", pinned="true")

    added = b"2026-02-06T08:00:00Z\npinned: true"
    assert files["bom.md"].read_bytes() == BOM.replace(b"preference", b"fact").replace(b"2026-02-06T08:00:00Z", added)
    added = added.replace(b"\n", b"\r\n")
    changed = BOM_CRLF.replace(b"preference", b"fact").replace(b"2026-02-06T08:00:00Z", added)
    assert files["bom-crlf.md"].read_bytes() == changed


def test_a_mark_alone_and_a_mark_before_plain_words_stay_too(vault: Vault, write: Write) -> None:
    """FM-07's kin: a note of a mark alone, and one without frontmatter."""
    for content in (b"\xef\xbb\xbf", b"\xef\xbb\xbfOtter.\r\n"):
        file = write("note.md", content)

        update(vault, "note.md", kind="fact")

        newline = b"\r\n" if b"\r\n" in content else b"\n"
        assert file.read_bytes() == b"\xef\xbb\xbf" + newline.join([b"---", b"kind: fact", b"---", b""]) + content[3:]


# --- YT: YAML is read as the text that was typed ---------------------------------------------------

TITLES = [
    "Plan: phase two", "boiler (east: upper)", "- starts with a dash", "# starts with a hash", "@handle first",
    '"quoted" start', "ends with colon:", "{curly} [square] & * ! % `tick`",
]  # fmt: skip


def test_YT_01_what_we_write_always_parses_and_comes_back(vault: Vault, write: Write, run: Run) -> None:
    """YT-01: a title or summary holding `word: word` makes the whole block unparseable."""
    write(
        "hand-written.md",
        "---\ntitle: Steam (part one: the governor)\nkind: note\nsource: user\n---\n\nThe governor limits speed.\n",
    )
    before = hashes(vault)

    found = run("search", "governor", "--json")
    assert [hit["path"] for hit in data_of(found)] == ["hand-written.md"]
    assert found.stderr.startswith("warning: hand-written.md: frontmatter: line 2, column 23: mapping values")
    said = [data_of(run("remember", "--json", "--tag", TITLES[0], "-", input=title)) for title in TITLES[:2]]
    for memory, title in zip(said, TITLES, strict=False):
        assert (memory["new"], memory["body"], memory["tags"]) == (True, title, [TITLES[0]])
    for title in TITLES:
        saved = vault.save(title, kind="fact", source="user", created_at=NOW, quote=title, tags=[title])
        titled = vault.change(saved, {"title": title, "aliases": [title, "other"]})
        read = vault.read(saved.path)
        assert read == titled
        assert (read.title, read.quote, read.aliases, read.body) == (title, title, (title, "other"), title)
        assert read.tags == (title.removeprefix("#"),)
        assert yaml.safe_load(block_of(vault, saved.path))["title"] == title
    wrong = findings(run("doctor", "--json"))
    assert wrong.pop("hand-written.md")[0].startswith("frontmatter: line 2, column 23")
    assert {what.partition(" memories/")[0] for (what,) in wrong.values()} == {"says what"}  # two titles stand twice
    assert hashes(vault)["hand-written.md"] == before["hand-written.md"]


# Once: `remember` syncs, so the index takes the owner for told, but it prints nothing of it; nobody ever does.
def test_what_a_remember_meets_is_told_then_or_later(vault: Vault, write: Write, run: Run) -> None:
    """YT-01's kin: a broken file is reported once and plainly, whatever command meets it first."""
    write("broken.md", BROKEN)

    said = [run("remember", "The spare key is with Mrs Low."), run("search", "boiler"), run("list")]

    assert sum("broken.md: frontmatter: line 3" in ended.stderr for ended in said) == 1


# Once: what was told once is never forgotten, so a file that is mended and broken again is broken in silence.
def test_a_file_that_is_broken_again_is_told_again(vault: Vault, write: Write) -> None:
    """YT-01's kin: a report is for the file as it is, not for the name it has."""
    index, told = Index(vault), []

    for text in (BROKEN, "Mended.\n", BROKEN):
        write("note.md", text)
        told.append([problem.path for problem in index.sync().news])

    assert told == [["note.md"], [], ["note.md"]]


TYPES = (
    "---\nkind: note\nsource: user\ncreated_at: 2026-02-08T08:00:00Z\ncountry: no\nalarm: 12:30\nwake: 05:45\n"
    "mode: 0644\nversion: 1.20\nbig: 1e3\nanswer: ~\ntags:\n  - no\n  - on\n  - 2024\n---\nTypes.\n"
)


def test_YT_02_unquoted_values_stay_what_the_user_typed(vault: Vault, write: Write, run: Run) -> None:
    """YT-02: unquoted no, 12:30, 0644 and 1.20 turn into false, 750, 420 and 1.2."""
    file = write("types.md", TYPES)

    shown = data_of(run("show", "types", "--json"))

    assert shown["frontmatter"] == {
        "kind": "note", "source": "user", "created_at": "2026-02-08T08:00:00Z", "country": "no", "alarm": "12:30",
        "wake": "05:45", "mode": "0644", "version": "1.20", "big": "1e3", "answer": "~", "tags": ["no", "on", "2024"],
    }  # fmt: skip
    assert shown["tags"] == ["no", "on", "2024"]
    assert listed(run("list", "--tag", "no")) == ["types.md"]
    update(vault, "types.md", kind="fact")
    assert file.read_text() == TYPES.replace("kind: note", "kind: fact")
    vault.change(vault.read("types.md"), {"tags": ["no", "on", "2024", "yes"]})
    assert file.read_text() == TYPES.replace("kind: note", "kind: fact").replace("  - 2024\n", '  - 2024\n  - "yes"\n')


@pytest.mark.parametrize(
    "frontmatter",
    [
        "content: c\nhandler: h\nmetadata: m\n",
        "1: a\n2.5: b\n2026-01-01: c\ntrue: d\nno: e\n~: f\n",
        '"": empty\n" ": blank\n',
        "? kind\n: fact\n",
        "<<: fact\n=: x\n",
    ],
)
def test_keys_that_are_no_text_or_named_like_a_parsers_own_are_only_keys(
    frontmatter: str, vault: Vault, write: Write
) -> None:
    """YT-03: keys that are not text, and keys named content or handler, crash the parser."""
    file = write("note.md", f"---\n{frontmatter}---\nOtter.\n")

    assert [hit.memory.path for hit in Index(vault).search("otter", 5)] == ["note.md"]
    assert not vault.problems()
    update(vault, "note.md", fresh="x")
    assert file.read_text() == f"---\n{frontmatter}fresh: x\n---\nOtter.\n"


@pytest.mark.parametrize("frontmatter", ["? [a, b]\n: c\n", "? {a: b}\n: c\n", "{a: b}: c\n", "? - a\n: b\n"])
def test_a_key_that_is_a_list_or_a_mapping_is_reported(frontmatter: str, vault: Vault, write: Write) -> None:
    """YT-03's kin: an unhashable key is a TypeError, which `except yaml.YAMLError` does not catch."""
    write("note.md", f"---\n{frontmatter}---\nOtter.\n")

    assert [hit.memory.path for hit in Index(vault).search("otter", 5)] == ["note.md"]
    assert ["a key must be a text" in problem.what for problem in vault.problems()] == [True]
    with pytest.raises(UnsafeChangeError):
        update(vault, "note.md", fresh="x")


OFFSET = "---\nkind: note\nsource: user\ncreated_at: 2019-11-30T22:05:10-05:00\n---\nA.\n"
PLAIN = "---\nkind: note\nsource: user\ncreated_at: 2026-03-16\nreviewed: 2026-03-17\n---\nB.\n"


def test_YT_04_a_date_is_never_rewritten(vault: Vault, write: Write, run: Run) -> None:
    """YT-04: created_at is rewritten on an unrelated edit: another zone, no offset, no T, midnight gained."""
    offset, plain = write("offset.md", OFFSET), write("plain.md", PLAIN)

    update(vault, "offset.md", kind="fact")
    update(vault, "plain.md", kind="fact")

    assert offset.read_text() == OFFSET.replace("kind: note", "kind: fact")
    assert plain.read_text() == PLAIN.replace("kind: note", "kind: fact")
    assert vault.read("offset.md").created_at == datetime(2019, 12, 1, 3, 5, 10, tzinfo=UTC)
    day = vault.read("plain.md").created_at
    assert day is not None
    assert day.astimezone().date() == date(2026, 3, 16)
    assert listed(run("list", "--since", "2019-12-01T03:05:10Z")) == ["plain.md", "offset.md"]
    assert listed(run("list", "--since", "2019-12-01T03:05:11Z")) == ["plain.md"]
    assert listed(run("list", "--since", "2026-03-16")) == ["plain.md"]
    shown = data_of(run("show", "plain", "--json"))["frontmatter"]
    assert (shown["created_at"], shown["reviewed"]) == ("2026-03-16", "2026-03-17")


DATES = {
    "aware": "created_at: 2026-01-02T10:00:00+09:00\n", "naive": "created_at: 2026-01-02 10:00:00\n",
    "date": "created_at: 2026-01-02\n", "bad": "created_at: 2026-02-30\n",
    "text": "created_at: last Tuesday\n", "none": "",
}  # fmt: skip


def test_YT_05_dates_of_all_kinds_have_one_order(vault: Vault, write: Write, run: Run) -> None:
    """YT-05: sorting by date fails when some notes have a zone, some not, some none or nonsense."""
    for name, line in DATES.items():
        write(f"{name}.md", f"---\nkind: note\nsource: user\n{line}---\n{name}\n")
    before = hashes(vault)
    undated = ["bad.md", "none.md", "text.md"]

    utc, tokyo = {"TZ": "UTC"}, {"TZ": "Asia/Tokyo"}
    ended = run("list", env=utc)
    assert listed(ended) == ["naive.md", "aware.md", "date.md", *undated]
    assert sorted(ended.stderr.splitlines()) == [
        "warning: bad.md: created_at: no date can be read from '2026-02-30'",
        "warning: text.md: created_at: no date can be read from 'last Tuesday'",
    ]
    assert listed(run("list", env=tokyo)) == ["aware.md", "naive.md", "date.md", *undated], "no zone is local time"
    assert listed(run("list", "--since", "2026-01-02", env=utc)) == ["naive.md", "aware.md", "date.md"]
    assert listed(run("list", "--since", "2026-01-02T09:00", env=utc)) == ["naive.md"]
    doctor = run("doctor", "--json", env=utc)
    assert sorted(findings(doctor)) == ["bad.md", "text.md"]
    assert findings(doctor, remarks=True)["none.md"] == ["says no created_at"]
    assert hashes(vault) == before


BOMB = (
    "---\nkind: note\nsource: import\na0: &a0 [" + ", ".join(["ha"] * 9) + "]\n"
    + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 9))
    + "---\nSmall file, huge object.\n"
)  # fmt: skip
DEEP = "---\nkind: note\nx: " + "[" * 4_000 + "]" * 4_000 + "\n---\nDeep brackets, huge stack.\n"


@linux
def test_YT_06_a_note_that_swells_or_nests_is_reported_and_found(vault: Vault, write: Write) -> None:
    """YT-06: a tiny note expands to gigabytes through YAML aliases, or ends the parser's stack."""
    write("bomb.md", BOMB)
    write("deep.md", DEEP)
    before = hashes(vault)

    def limited(*words: str) -> Ended:
        command = ["sh", "-c", 'ulimit -v 1500000 && exec "$@"', "sh", sys.executable, "-m", "vault_mind", *words]
        ended = subprocess.run(
            command, capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL
        )
        assert "Traceback" not in ended.stderr
        return Ended(ended.returncode, ended.stdout, ended.stderr)

    found = limited("search", "huge", "--paths")
    assert sorted(listed(found)) == ["bomb.md", "deep.md"]
    told = sorted(found.stderr.splitlines())
    assert told[0].startswith("warning: bomb.md: frontmatter: line 5: aliases")
    assert told[1].startswith("warning: deep.md: frontmatter: line 3")
    for name, body in (("bomb", "Small file, huge object."), ("deep", "Deep brackets, huge stack.")):
        shown = limited("show", name, "--json")
        assert (shown.exit_code, data_of(shown)["body"], data_of(shown)["frontmatter"]) == (0, body, {})
    assert sorted(findings(limited("doctor", "--json"))) == ["bomb.md", "deep.md"]
    assert (
        "Small file, huge object."
        in limited("chat", "--offline", "-m", "What is a huge object in a small file?").stdout
    )
    for name in ("bomb.md", "deep.md"):
        with pytest.raises(UnsafeChangeError):
            update(vault, name, kind="fact")
    assert hashes(vault) == before


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("first\n  second\n\n  third", "first second\nthird"),
        ("'first\n\n  second # no comment'", "first\nsecond # no comment"),
        ('"first \\\n  second"', "first second"),
        ("|\n  first\n  # no comment\n  kind: no key\n\n  ---\n", "first\n# no comment\nkind: no key\n\n---\n"),
        (">-\n  first\n  second\n", "first second"),
        ("|2\n    indented\n", "  indented\n"),
        ("|+\n  first\n\n", "first\n\n"),
    ],
)
def test_values_over_several_lines_are_read_and_stay(value: str, read: str, vault: Vault, write: Write) -> None:
    """YT-07: multi-line and block scalars are folded, cut or swallowed on an unrelated edit."""
    newline = "" if value.endswith("\n") else "\n"
    text = f"---\nkind: note\nsummary: {value}{newline}# after\nsource: user\n---\nOtter.\n"
    file = write("note.md", text)

    assert vault.read("note.md").frontmatter["summary"] == read
    update(vault, "note.md", kind="fact", fresh="x")

    assert file.read_text() == text.replace("kind: note", "kind: fact").replace("user\n---", "user\nfresh: x\n---")
    assert vault.read("note.md").frontmatter["summary"] == read


TAGS = [
    "tags: garden, spring\n", "tags: [garden, 2026]\n", "tags:\n", 'tags: "#garden"\n',
    'tags:\n  - garden\n  - "#spring"\n  - big idea\n  -\n', "",
]  # fmt: skip


def test_YT_08_tags_in_any_form_are_whole_words(vault: Vault, write: Write, run: Run) -> None:
    """YT-08: tags given as text, null, numbers or with # and commas split into letters or crash."""
    for number, tags in enumerate(TAGS, 1):
        write(f"t{number}.md", f"---\nkind: note\n{tags}---\n{number}\n")
    before = hashes(vault)

    assert data_of(run("stats", "--json"))["tags"] == {"garden": 4, "spring": 2, "2026": 1, "big idea": 1}
    assert listed(run("list", "--tag", "garden")) == ["t1.md", "t2.md", "t4.md", "t5.md"]
    assert listed(run("list", "--tag", "#Garden")) == ["t1.md", "t2.md", "t4.md", "t5.md"]
    assert [memory["tags"] for memory in data_of(run("list", "--json"))] == [
        ["garden", "spring"], ["garden", "2026"], [], ["garden"], ["garden", "spring", "big idea"], [],
    ]  # fmt: skip
    assert not vault.problems()
    assert hashes(vault) == before


# --- FS: files ------------------------------------------------------------------------------------

UNSOUND: dict[str, tuple[bytes, str]] = {
    "latin.md": (b"---\nkind: note\n---\nThe hangar caf\xe9, gr\xf6\xdfe 7\n", "it is not UTF-8"),
    "nul.md": (b"---\nkind: note\n---\nbefore\x00after\n", "it holds NUL bytes"),
    "utf16.md": ("---\nkind: note\n---\nsixteen bits\n".encode("utf-16"), "it is UTF-16"),
}


@pytest.mark.parametrize("locale", [{"LC_ALL": "C", "LANG": "C", "PYTHONCOERCECLOCALE": "0"}, {"LC_ALL": "C.UTF-8"}])
def test_FS_01_a_note_that_is_not_utf8_costs_only_itself(
    locale: dict[str, str], vault: Vault, write: Write, run: Run
) -> None:
    """FS-01: one note that is not UTF-8 stops the whole vault from opening."""
    write(
        "good.md", "---\nkind: fact\nsource: user\ncreated_at: 2026-02-10T08:00:00Z\n---\n\nFalcon stays in café one.\n"
    )
    for name, (content, _) in UNSOUND.items():
        write(name, content)
    before = hashes(vault)

    found = run("search", "falcon", "--json", env=locale)

    assert [(hit["path"], hit["body"]) for hit in data_of(found)] == [("good.md", "Falcon stays in café one.")]
    told = sorted(found.stderr.splitlines())
    for line, (name, (_, why)) in zip(told, sorted(UNSOUND.items()), strict=True):
        assert line.startswith(f"warning: {name}: {why}")
    assert listed(run("search", "hangar", "--paths", env=locale)) == ["latin.md"]
    doctor = findings(run("doctor", "--json", env=locale))
    assert {name: what[0].startswith(UNSOUND[name][1]) for name, what in doctor.items()} == dict.fromkeys(UNSOUND, True)
    for name in UNSOUND:
        with pytest.raises(UnsafeChangeError, match=re.escape(name)):
            update(vault, name, kind="fact")
    assert hashes(vault) == before


@linux
@pytest.mark.timeout(60)
def test_pipes_sockets_and_devices_named_like_notes_are_never_waited_for(vault: Vault, write: Write, run: Run) -> None:
    """FS-02: a pipe, a device or an endless file in the vault hangs the program."""
    write("good.md", "Falcon.\n")
    os.mkfifo(vault.root / "pipe.md")
    (vault.root / "zero.md").symlink_to("/dev/zero")
    (vault.root / "tty.md").symlink_to("/dev/tty")
    with write("sparse.md", "Falcon too.\n").open("r+b") as file:
        file.truncate(3_000_000_000)

    found = run("search", "falcon", "--paths")

    assert sorted(listed(found)) == ["good.md", "sparse.md"]
    told = {line.split(": ")[1]: line for line in found.stderr.splitlines()}
    assert sorted(told) == ["pipe.md", "sparse.md", "tty.md", "zero.md"]
    assert "not a regular file" in told["pipe.md"]
    assert "outside the vault" in told["zero.md"]
    with pytest.raises(UnreadableError):
        vault.read("pipe.md")
    with pytest.raises(PathRefusedError):
        vault.read("zero.md")


def folded(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())


def test_FS_03_names_that_differ_by_case_only_never_meet(vault: Vault, write: Write) -> None:
    """FS-03: retitling a note by case only deletes it; a clashing slug overwrites another note.

    A case-insensitive folder is not to be had here (ext4 without casefold): the names themselves
    are compared as such a folder would.
    """
    write(
        "memories/Hello World.md",
        "---\nkind: note\nsource: user\ncreated_at: 2026-02-11T08:00:00Z\n---\n\nhand named, keep my capitals\n",
    )

    said = (
        "Hello",
        "hello",
        "HELLO!",
        "Hello world",
        "Ｈｅｌｌｏ",
        "hello?",
        "HÉLLO",
        unicodedata.normalize("NFD", "héllo"),
    )
    saved = [vault.save(text, kind="fact", source="user", created_at=NOW) for text in said]

    assert [vault.read(memory.path).body for memory in saved] == list(said)
    names = [file.name for file in (vault.root / "memories").iterdir()]
    assert len({folded(name) for name in names}) == len(names) == len(said) + 1
    assert "hand named, keep my capitals" in (vault.root / "memories" / "Hello World.md").read_text()

    there = vault.rename(saved[0], "hello there")
    assert there.path == "memories/hello-there.md"
    back = vault.rename(there, "Hello")
    assert back.path == saved[0].path
    again = vault.rename(vault.read("memories/Hello World.md"), "hello world")
    assert folded(again.path) not in {folded(memory.path) for memory in saved}
    assert len(list(vault.memories())) == len(names)
    assert vault.read(back.path).text == saved[0].text


WATCHED = """
import os, sys
from vault_mind import Vault

vault = Vault(sys.argv[1])
memory = vault.read("memories/hello.md")
print("ready", flush=True)
while True:
    for stem in ("hello there", "HELLO", "hello"):
        memory = vault.rename(memory, stem)
"""


@linux
def test_a_rename_leaves_no_moment_without_a_file(vault: Vault, write: Write) -> None:
    """FS-03's other half: a retitle is a rename: at no moment is there no file."""
    write("memories/hello.md", "Hello.\n")

    with subprocess.Popen([sys.executable, "-c", WATCHED, str(vault.root)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        end = time.monotonic() + 1
        seen = set()
        while time.monotonic() < end:
            names = {f"memories/{name}" for name in os.listdir(vault.root / "memories")}
            seen |= names
            assert names or os.listdir(vault.root / "memories"), "a listing may miss a name in motion, but not twice"
        process.kill()

    assert {"memories/hello.md", "memories/hello-there.md"} <= seen
    assert [memory.body for memory in vault.memories()] == ["Hello."]


NAMES = [
    "either / or", "2026-03-09 07:15:30 minutes", 'what? "really" <yes>|no*', "CON", "nul.txt", "ends with dot.",
    ".hidden", "-rf", "back\\slash", "tab\there",
]  # fmt: skip


def test_FS_05_any_title_makes_one_legal_name_and_no_folder(vault: Vault, run: Run) -> None:
    """FS-05: slashes, colons and reserved words in a title make stray folders or names others cannot hold."""
    before = {path.relative_to(vault.root).as_posix() for path in vault.root.rglob("*")}

    for title in NAMES[:2]:
        assert data_of(run("remember", "--json", "-", input=title))["body"] == title
    for title in NAMES[2:]:
        vault.save(title, kind="fact", source="user", created_at=NOW)

    made = sorted({path.relative_to(vault.root).as_posix() for path in vault.root.rglob("*")} - before)
    assert made == [
        "memories/2026-03-09-07-15-30-minutes.md", "memories/back-slash.md", "memories/con-memory.md",
        "memories/either-or.md", "memories/ends-with-dot.md", "memories/hidden.md", "memories/nul-txt.md",
        "memories/rf.md", "memories/tab-here.md", "memories/what-really-yes-no.md",
    ]  # fmt: skip
    assert sorted(memory.body for memory in vault.memories()) == sorted(NAMES)
    for path in made:
        name = path.removeprefix("memories/")
        assert not re.search(r'[<>:"/\\|?*\x00-\x1f]', name)
        assert name == name.strip(" .")
        assert name[0] not in ".-"
        assert name.split(".")[0] not in ("con", "nul", "com1")


@pytest.mark.parametrize(
    "title",
    [
        "a" * 5_000,
        "word " * 5_000,
        "東" * 5_000,
        "é" * 300,
        "dots...",
        "...",
        "trailing. . .",
        "COM1.tar.gz",
        "a/" * 200,
        "~",
        "\u202egnp",
    ],
    ids=["letters", "words", "kanji", "accents", "dots", "only-dots", "blanks", "reserved", "folders", "tilde", "bidi"],
)
def test_names_that_are_too_long_or_end_in_dots_are_kept_inside(title: str, vault: Vault) -> None:
    """FS-04: a very long title cannot be saved, or two long ones overwrite each other; dots at the end are lost."""
    first = vault.save(title, kind="fact", source="user", created_at=NOW)
    second = vault.save(title + "!", kind="fact", source="user", created_at=NOW)

    assert [vault.read(memory.path).body for memory in (first, second)] == [title, title + "!"]
    for memory in (first, second):
        name = memory.path.removeprefix("memories/")
        assert "/" not in name
        assert len(name.encode()) <= 255
        assert not memory.stem.endswith((".", " ", "-"))


HEAD = "---\nkind: note\nsource: user\ncreated_at: 2026-02-12T08:00:00Z\n---\n\n"
BIG = HEAD + "".join(f"line {number:05} of a file that matters\n" for number in range(4_000))

# Makes a child for each line that it reads: a child appends to big.md through Vault.change until it is killed.
APPENDING = """
import os, sys
from vault_mind import Vault

vault = Vault(sys.argv[1])
for _ in sys.stdin:
    number = os.fork()
    if number:
        print(number, flush=True)
        os.waitpid(number, 0)
        print("dead", flush=True)
        continue
    while True:
        memory = vault.read("big.md")
        vault.change(memory, {}, body=memory.body + "\\none line more that matters")
        print("added", flush=True)
"""


def kill_again_and_again(vault: Vault, times: int) -> int:
    """Kill writers in the middle of their work; how many lines they had added all in all."""
    chance = random.Random(20261129)
    file = vault.root / "big.md"
    command = [sys.executable, "-c", APPENDING, str(vault.root)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as nursery:
        assert nursery.stdin is not None
        assert nursery.stdout is not None
        for _ in range(times):
            nursery.stdin.write("another\n")
            nursery.stdin.flush()
            number = int(nursery.stdout.readline())
            for _ in range(chance.choice((0, 0, 1, 2))):
                assert nursery.stdout.readline() == "added\n"
            time.sleep(chance.random() * 0.06)
            os.kill(number, 9)
            assert set(iter(nursery.stdout.readline, "dead\n")) <= {"added\n"}

            text = file.read_text()
            assert text.startswith(BIG)
            assert set(text.removeprefix(BIG).splitlines()) <= {"one line more that matters"}
            assert text.endswith(" matters\n")
        nursery.stdin.close()
    return text.removeprefix(BIG).count("\n")


def killed(vault: Vault, write: Write, run: Run, times: int) -> None:
    write("big.md", BIG)

    added = kill_again_and_again(vault, times)

    assert added, "some were killed after a change"
    assert listed(run("list")) == ["big.md"]
    assert [memory.path for memory in vault.memories()] == ["big.md"]
    update(vault, "big.md", kind="fact")
    assert not [path for path in hashes(vault) if path.endswith(".tmp")], "the next writer sweeps what the dead left"
    assert (vault.root / "big.md").read_text().removeprefix(BIG.replace("kind: note", "kind: fact")).count(
        "\n"
    ) == added


@linux
def test_FS_06_a_kill_leaves_the_old_text_or_the_new(vault: Vault, write: Write, run: Run) -> None:
    """FS-06: killed while saving, the memory file is left cut off or empty."""
    killed(vault, write, run, times=10)


@linux
@pytest.mark.storm
@pytest.mark.timeout(300)
def test_FS_06_two_hundred_kills_leave_the_old_text_or_the_new(vault: Vault, write: Write, run: Run) -> None:
    """FS-06: the same two hundred times over."""
    killed(vault, write, run, times=200)


FILLING = """
import os, sys
from pathlib import Path
from vault_mind import Vault
from vault_mind.errors import VaultMindError

vault = Vault(sys.argv[1])
before = (vault.root / "big.md").read_bytes()
for attempt in (
    lambda: vault.change(vault.read("big.md"), {}, body=vault.read("big.md").body + "\\n" + "x" * 50_000),
    lambda: vault.save("y" * 90_000, kind="fact", source="user", created_at=__import__("datetime").datetime.now()),
):
    try:
        attempt()
        print("written")
    except VaultMindError as error:
        print(error)
print((vault.root / "big.md").read_bytes() == before, sorted(p.name for p in vault.root.rglob("*") if p.is_file()))
"""


@linux
def test_FS_06_a_full_disk_leaves_the_old_file_and_shows_the_error(vault: Vault, write: Write, tmp_path: Path) -> None:
    """FS-06: on a full disk the old file survives and the error is shown."""
    unshare = shutil.which("unshare")
    if not unshare or os.geteuid() or subprocess.run([unshare, "-m", "true"], check=False).returncode:
        pytest.skip("may not mount")
    write("big.md", BIG)
    (tmp_path / "filling.py").write_text(FILLING)
    (tmp_path / "disk").mkdir()
    steps = 'mount -t tmpfs -o size=200k tmpfs "$1" && cp "$4" "$1" && exec "$2" "$3" "$1"'

    words = ["sh", str(tmp_path / "disk"), sys.executable, str(tmp_path / "filling.py"), str(vault.root / "big.md")]
    command = [unshare, "-m", "sh", "-c", steps, *words]
    said = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.splitlines()

    assert re.fullmatch(
        r"\S*big\.md: not written, no space left on device\. What was there before is unchanged", said[0]
    )
    assert "not written, no space left on device" in said[1]
    assert said[2] == "True ['big.md']"


def test_dates_are_read_alike_on_every_python() -> None:
    """YT-05's kin: what `fromisoformat` takes has grown from one Python to the next."""
    assert moment("2026-01-02T10:00:00Z") == datetime(2026, 1, 2, 10, tzinfo=UTC)
    assert moment("2026-1-2") is None

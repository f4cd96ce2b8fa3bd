"""What is wrong or odd in a vault, each with what to do."""

import os
import stat
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.conftest import NOW, OnTerminal, Run
from vault_mind import Index, Vault
from vault_mind.config import state_folder
from vault_mind.doctor import HEADINGS, Finding, Report, _closed, _of_problem, _of_state, away, examine
from vault_mind.journal import MOST_TRIES, Exchange, Journal
from vault_mind.readers import RACY
from vault_mind.render import examined, examined_data, to_json
from vault_mind.screen import text_of

Write = Callable[[str, str | bytes], Path]
Examine = Callable[[], Report]
SOUND = "---\nkind: fact\nsource: user\ncreated_at: 2026-05-03T08:00:00+02:00\n---\n\nThe user drinks tea.\n"
SAID = Exchange("I live in Oslo.", "", "ok", NOW.isoformat(), "chat", "claude")


def fact(body: str, *lines: str, made: str = "2026-05-03T08:00:00+02:00") -> str:
    """A sound memory that says `body`, with more lines in its frontmatter."""
    keys = ["kind: fact", "source: user", f"created_at: {made}", *lines]
    return "---\n" + "".join(f"{line}\n" for line in keys) + f"---\n\n{body}\n"


@pytest.fixture
def journal(vault: Vault) -> Journal:
    """The vault's journal."""
    return Journal(state_folder(vault.root) / "journal")


@pytest.fixture
def looked(vault: Vault, index: Index, journal: Journal) -> Examine:
    """Examine the vault, as of NOW."""
    return lambda: examine(vault, index, journal, now=NOW)


@pytest.fixture
def findings(looked: Examine) -> Callable[[], dict[str, Finding]]:
    """Examine the vault: the first finding of each path."""
    return lambda: {finding.path: finding for finding in reversed(looked().findings)}


def test_a_sound_vault_needs_nothing(write: Write, findings: Callable[[], dict[str, Finding]]) -> None:
    assert findings() == {}

    write("memories/tea.md", SOUND)

    assert findings() == {}


@pytest.mark.parametrize(
    ("content", "code", "what", "advice"),
    [
        ("---\nkind: [unclosed\n---\ntea", "unparsable", "frontmatter:", "mend the YAML"),
        ("---\na: &x [b]\nc: *x\n---\ntea", "unparsable", "frontmatter: line 3: aliases", "mend the YAML"),
        ("---\nkind: fact\nkind: note\n---\ntea", "key-twice", "frontmatter: line 3", "delete the other lines"),
        (
            "---\n" + "".join(f"k{n}: 1\nk{n}: 2\n" for n in range(9)) + "---\ntea",
            "key-twice",
            "frontmatter: line 3",
            "delete the other",
        ),
        (SOUND.encode() + b"caf\xe9", "undecodable", "it is not UTF-8 (byte 0xe9 at", "save it as UTF-8"),
        ("tea".encode("utf-16"), "undecodable", "it is UTF-16", "save it as UTF-8"),
        (SOUND + "\0", "undecodable", "it holds NUL", "move it out"),
        (SOUND + "tea " * 600_000, "too-large", "it is too large", "`ignore`"),
        (
            SOUND.replace("2026-05-03T08:00:00+02:00", "yesterday"),
            "date",
            "created_at: no date",
            "write it as 2026-05-01",
        ),
        (SOUND.replace("source", "updated_at: 30.02.2026\nsource"), "date", "updated_at: no date", "write it as"),
        (SOUND.replace("source", "superseded_at: soon\nsource"), "date", "superseded_at: no date", "write it as"),
        (
            SOUND.replace("2026-05", "2036-05"),
            "date",
            "created_at is in the future: 2036-05-03T08",
            "put the date right",
        ),
        (
            SOUND.replace("source", "updated_at: 2027-01-01\nsource"),
            "date",
            "updated_at is in the future",
            "put the date",
        ),
        (
            fact("Coffee is fine.", 'superseded_by: "[[gone]]"'),
            "dangling",
            "superseded_by names no memory: 'gone' (and",
            "put",
        ),
        (
            fact("Coffee is fine.", 'supersedes: "[[x/tea|Tea]]"'),
            "dangling",
            "supersedes names no memory: 'x/tea'",
            "take supers",
        ),
        (
            fact("Coffee is fine.", "supersedes: [[gone]]"),
            "dangling",
            "supersedes names no memory: 'gone'",
            "put the link right",
        ),
        (
            fact("Coffee is fine.", "supersedes:", '- "[[tea]]"', "- lost"),
            "dangling",
            "supersedes names no memory: 'lost'",
            "put",
        ),
        (
            fact("Coffee is fine.", 'superseded_by: "[[odd]]"'),
            "circle",
            "they supersede each other in a circle: odd.md → odd.md",
            "take",
        ),
        (
            fact("The user drinks tea.", made="2026-06-01"),
            "duplicate",
            "says what memories/tea.md says",
            "vault-mind forget odd.md",
        ),
        (fact("The user  drinks TEA"), "duplicate", "says what memories/tea.md says", "vault-mind forget odd.md"),
    ],
    ids=str,
)
def test_a_file_with_a_fault_is_named_with_what_to_do(
    write: Write, looked: Examine, content: str | bytes, code: str, what: str, advice: str
) -> None:
    write("odd.md", content)
    write("memories/tea.md", SOUND)

    finding = next(finding for finding in looked().findings if finding.code == code)

    assert finding.path == "odd.md"
    assert finding.what.startswith(what)
    assert advice in finding.advice
    assert not finding.remark


@pytest.mark.parametrize(
    "content",
    [
        fact("Coffee is fine.", 'supersedes: "[[tea]]"'),
        fact("Coffee is fine.", 'supersedes: "[[Tea#Green|mine]]"'),
        fact("Coffee is fine.", 'superseded_by: "[[memories/tea.md]]"'),
        fact("Coffee is fine.", "superseded_by: tea"),
        fact("Coffee is fine.", "superseded_by:", "supersedes: []"),
        fact("Coffee is fine.", 'superseded_by: "[[archive/old]]"'),
        fact("The user drinks no tea."),
        fact("The user drinks tea in 2 cups."),
        fact("The user drinks tea.", 'superseded_by: "[[tea]]"'),
        fact("The user drinks tea.", "expires_at: 2026-06-01"),
        fact("Coffee is fine.", made="2026-11-30"),
        fact("Coffee is fine.", "expires_at: 2099-01-01"),
    ],
    ids=str,
)
def test_what_only_looks_like_a_fault_is_none(
    write: Write, vault: Vault, journal: Journal, index: Index, content: str
) -> None:
    write("odd.md", content)
    write("memories/tea.md", SOUND)
    write("archive/old.md", fact("The kettle is old."))
    ignoring = Vault(vault.root, ["archive/"])

    assert examine(ignoring, index, journal, now=NOW).to_fix == 0


def test_of_a_chain_of_memories_only_a_circle_is_wrong(write: Write, looked: Examine) -> None:
    write("a.md", fact("One.", 'superseded_by: "[[b]]"'))
    write("b.md", fact("Two.", 'superseded_by: "[[c]]"', 'supersedes: "[[a]]"'))
    write("c.md", fact("Three.", 'supersedes: "[[b]]"'))
    write("x.md", fact("Four.", 'superseded_by: "[[z]]"'))
    write("y.md", fact("Five.", 'superseded_by: "[[x]]"'))
    write("z.md", fact("Six.", 'superseded_by: "[[y]]"'))
    write("to-x.md", fact("Seven.", 'superseded_by: "[[x]]"'))

    wrong = [finding for finding in looked().findings if not finding.remark]

    assert [(finding.path, finding.code) for finding in wrong] == [("x.md", "circle")]
    assert wrong[0].what.endswith(": x.md → z.md → y.md → x.md")


def test_the_oldest_of_memories_that_say_the_same_is_the_one_to_keep(write: Write, looked: Examine) -> None:
    write("a.md", fact("The user likes green tea.", made="2026-07-01"))
    write("b.md", fact("The user likes green tea", made="2026-03-01"))
    write("c.md", fact("The user likes green tea!"))
    write("a note.md", "The user likes green tea.")

    twins = {finding.path: finding.what for finding in looked().findings if finding.code == "duplicate"}

    assert twins == {"a.md": "says what b.md says", "c.md": "says what b.md says"}


def test_long_texts_are_the_same_only_where_they_are_the_very_same(write: Write, looked: Examine) -> None:
    text = "The kettle whistles in the morning. " * 60
    write("a.md", fact(text))
    write("b.md", fact(text.replace(". ", ".\n")))
    write("c.md", fact(text + "Loudly."))

    assert [finding.path for finding in looked().findings if finding.code == "duplicate"] == ["b.md"]


def test_of_many_memories_with_the_same_terms_none_is_held_against_all(write: Write, looked: Examine) -> None:
    for number in range(60):
        write(f"{number}.md", fact("The user " + "is not " * (number % 30) + "at home."))

    twins = [finding for finding in looked().findings if finding.code == "duplicate"]

    assert 20 <= len(twins) <= 30


@pytest.mark.skipif(sys.platform != "linux", reason="other systems cannot hold such names")
@pytest.mark.parametrize(
    ("path", "about", "what"),
    [
        ("what?.md", "what?.md", "Windows and Android allow no ? in a name"),
        ("a:b/tea.md", "a:b", "Windows and Android allow no : in a name"),
        ("con.md", "con.md", "Windows keeps the name con for itself"),
        ("Lpt1/tea.md", "Lpt1", "Windows keeps the name Lpt1 for itself"),
        ("folder./tea.md", "folder.", "Windows drops the dot or blank"),
        ("folder /tea.md", "folder ", "Windows drops the dot or blank"),
        ("/".join(["folder" * 10] * 4) + "/tea.md", "", "a path of 250 characters is too long for Windows"),
    ],
    ids=str,
)
def test_a_name_that_other_systems_cannot_hold_is_a_remark(
    write: Write, looked: Examine, path: str, about: str, what: str
) -> None:
    write(path, SOUND)

    (finding,) = looked().findings

    assert (finding.path, finding.code, finding.remark) == (about or path, "name-elsewhere", True)
    assert finding.what.startswith(what)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the two are one")
@pytest.mark.parametrize(
    ("one", "other", "about"),
    [
        ("Tea.md", "tea.md", "tea.md"),
        ("caf\u00e9.md", "cafe\u0301.md", "caf\u00e9.md"),
        ("Drinks/tea.md", "drinks/coffee.md", "drinks/"),
        ("Stra\u00dfe.md", "STRASSE.md", "Stra\u00dfe.md"),
    ],
)
def test_two_names_that_are_one_elsewhere_are_something_to_fix(
    write: Write, looked: Examine, one: str, other: str, about: str
) -> None:
    write(one, SOUND)
    write(other, fact("Coffee is fine."))

    (finding,) = looked().findings

    assert (finding.path, finding.code, finding.remark) == (about, "name-clash", False)


def test_a_note_that_is_only_in_a_cloud_is_named(write: Write, looked: Examine, vault: Vault) -> None:
    write("memories/.Tea time.md.icloud", b"bplist00")
    write("only/.Away.md.icloud", b"bplist00")
    write("here.md", SOUND)
    write(".here.md.icloud", b"bplist00")
    write(".photo.png.icloud", b"bplist00")

    found = looked().findings

    assert [(finding.path, finding.code, finding.remark) for finding in found] == [
        ("memories/Tea time.md", "not-downloaded", False),
        ("only/Away.md", "not-downloaded", False),
    ]


@pytest.mark.parametrize(
    ("status", "elsewhere"),
    [
        ({"st_flags": 0x4000_0000}, True),
        ({"st_flags": 0x40}, False),
        ({"st_file_attributes": 0x40_0000 | stat.FILE_ATTRIBUTE_ARCHIVE}, True),
        ({"st_file_attributes": stat.FILE_ATTRIBUTE_ARCHIVE}, False),
        ({}, False),
    ],
)
def test_a_status_tells_whether_the_text_is_in_a_cloud(status: dict[str, int], elsewhere: bool) -> None:
    assert away(cast(Any, SimpleNamespace(**status))) is elsewhere


def test_what_is_odd_and_does_no_harm_is_a_remark(write: Write, looked: Examine) -> None:
    write("empty.md", "")
    write("memories/.vault-mind-abc.tmp", "half")
    write("other/.vault-mind.toml", "")
    write("other/tea.md", SOUND)
    write("past.md", fact("Coffee is fine.", 'superseded_by: "[[tea]]"'))
    write("gone.md", fact("The milk is fresh.", "expires_at: 2026-06-01"))

    report = looked()

    assert [(finding.path, finding.code) for finding in report.findings] == [
        ("", "past"),
        ("empty.md", "empty"),
        ("memories/.vault-mind-abc.tmp", "leftover"),
        ("other", "nested"),
    ]
    assert report.to_fix == 0
    assert report.findings[0].what.startswith("1 superseded and 1 expired")


def test_a_folder_that_cannot_be_written_is_named(journal: Journal, home: Path) -> None:
    root = Path(tempfile.mkdtemp(prefix="vault-", dir="/tmp" if os.name == "posix" else None))
    (root / "memories").mkdir()
    vault, index = Vault(root), Index(Vault(root), folder=home / "index")
    try:
        (root / "memories").chmod(0o555)
        root.chmod(0o555)
        if os.access(root, os.W_OK) and hasattr(os, "seteuid"):  # the superuser may write anywhere
            home.parent.parent.chmod(0o755)
            index.sync()
            with _somebody():
                found = list(_closed(vault))
        else:
            found = [each for each in examine(vault, index, journal).findings if each.code == "read-only"]
    finally:
        index.close()
        root.chmod(0o755)
        (root / "memories").rmdir()
        root.rmdir()

    assert [finding.path for finding in found] == ["", "memories"]
    assert not found[0].remark


@contextmanager
def _somebody() -> Iterator[None]:
    """Not the superuser, for a while."""
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


# The index


def test_a_sound_index_is_told_of_and_asks_for_nothing(write: Write, looked: Examine, index: Index) -> None:
    write("memories/tea.md", SOUND)

    state = looked().index

    assert (state.folder, state.memories, state.language, state.sound, state.remade) == (
        index.folder,
        1,
        "english",
        True,
        None,
    )
    assert state.bytes > 0


def test_a_damaged_index_was_made_anew_which_is_a_remark(write: Write, looked: Examine, index: Index) -> None:
    write("memories/tea.md", SOUND)
    index.sync()
    index.close()
    for file in index.folder.rglob("files.db*"):
        file.write_bytes(b"no database" * 500)

    report = looked()

    assert [(finding.code, finding.remark) for finding in report.findings] == [("remade", True)]
    assert report.index.sound
    assert report.index.remade


def test_an_index_that_says_what_no_file_says_is_something_to_fix_and_rebuild_mends_it(
    write: Write, looked: Examine, index: Index
) -> None:
    file = write("memories/tea.md", SOUND)
    while file.stat().st_ctime_ns > time.time_ns() - RACY:  # so young it would be read again, and what differs mended
        time.sleep(0.1)
    index.sync()
    index.close()
    (texts,) = index.folder.rglob("texts")
    texts.write_bytes(texts.read_bytes().replace(b"drinks tea", b"drinks rum"))

    (finding,) = looked().findings
    index.rebuild()

    assert finding.what == "the index does not say what the files say, of 1, such as memories/tea.md"
    assert "vault-mind rebuild" in finding.advice
    assert looked().findings == ()


# Settings


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ('model = "mine"', "a vault's file may not set it"),
        ('top_k = "many"', "'many' is no whole number"),
        ("tpo_k = 3", "unknown; known are"),
        ("top_k = [", "it cannot be read as TOML"),
        ("top_k = 5000", "5000 is not between"),
        ('ignore = ["!"]', "pattern"),
        ('language = "klingon"', "unknown 'klingon'"),
    ],
)
def test_unsound_settings_of_a_vault_are_named_and_the_rest_is_looked_at(
    write: Write, call: Run, settings: str, what: str
) -> None:
    write(".vault-mind.toml", settings)
    write("broken.md", "---\na: [\n---\n")
    write("memories/tea.md", SOUND)

    ended = call("doctor")

    assert ended.exit_code == 1
    assert what in ended.stdout
    assert "broken.md: frontmatter:" in ended.stdout


# The page


def test_what_is_alike_stands_in_one_line_after_all_that_is_wrong(write: Write, looked: Examine) -> None:
    for number in range(500):
        write(f"notes/{number:03}.md", f"Note {number}.")
    for number in range(5):
        write(f"broken/{number}.md", "---\na: [\n---\n" if number % 2 else "---\n\n: - [x\n---\n")
    write("z.md", "tea".encode("utf-16"))
    report = looked()

    shown, whole = text_of(examined(report)), text_of(examined(report, everything=True))

    assert [line for line in shown.splitlines() if not line.startswith(" ")][:3] == [
        "fix   5 × files whose frontmatter cannot be read: broken/0.md, broken/1.md, broken/2.md and 2 more (--all)",
        "fix   z.md: it is UTF-16, not UTF-8",
        "note  501 × says no kind, source, created_at: notes/000.md, notes/001.md, notes/002.md and 498 more (--all)",
    ]
    assert len(shown.splitlines()) == 7
    assert shown.splitlines()[-1].startswith("index sound: 506 memories, ")
    assert len(whole.splitlines()) == 2 * (5 + 1 + 501) + 1
    assert "notes/499.md: says no kind" in whole


def test_few_of_a_kind_stand_each_for_itself(write: Write, looked: Examine) -> None:
    for number in range(3):
        write(f"{number}.md", f"Note {number}.")

    assert text_of(examined(looked())).count("says no kind") == 3


def test_every_finding_has_a_code_that_has_a_heading(write: Write, looked: Examine) -> None:
    write("a.md", "---\na: [\n---\n")
    write("b.md", SOUND.replace("2026", "2126"))
    write("c.md", "")
    report = looked()

    data = examined_data(report)

    assert [finding.heading for finding in report.findings] == [HEADINGS[finding.code] for finding in report.findings]
    assert data["counts"] == {"fix": 2, "know": 1, "codes": {"date": 1, "empty": 1, "unparsable": 1}}
    assert '"code": "unparsable"' in to_json(data)


@pytest.mark.parametrize(
    ("what", "code"),
    [
        ("a conflict copy of tea.md", "conflict-copy"),
        ("it holds git's conflict markers (line 3)", "conflict-markers"),
        ("folder not read: permission denied", "unreadable"),
        ("refused, it leads into a dot-folder", "link"),
        ("something new", "odd"),
    ],
)
def test_each_sentence_on_a_file_has_its_advice(what: str, code: str) -> None:
    finding = _of_problem("a.md", what)

    assert (finding.code, finding.remark) == (code, False)
    assert (finding.advice == "look at it in an editor") is (code == "odd")


def test_at_a_terminal_it_says_how_far_it_is_and_into_a_pipe_nothing_but_the_page(
    write: Write, on_terminal: OnTerminal, run: Run
) -> None:
    for number in range(600):
        write(f"{number}.md", f"Note {number}.")

    shown, piped = on_terminal("doctor"), run("doctor")

    assert shown.exit_code == piped.exit_code == 0
    assert b"looking at 500 of 600" in shown.output
    assert b"600 \xc3\x97 says no kind" in shown.output
    assert piped.stdout.startswith("note  600 × says no kind")
    assert piped.stderr == "0 to fix, 600 to know\n"


# What it costs, and what it leaves alone

_opened: list[str] = []
_counting = False


def _heard(event: str, values: tuple[object, ...]) -> None:
    if _counting and event == "open":
        _opened.append(os.fsdecode(cast(Any, values[0])) if isinstance(values[0], (str, bytes)) else "")


def test_each_file_is_opened_once_where_the_index_is_up_to_date_and_once_more_where_not(
    write: Write, looked: Examine
) -> None:
    global _counting
    for number in range(40):
        file = write(f"folder/note-{number}.md", f"The user has {number} cats.")
        os.utime(file, (1_000_000_000, 1_000_000_000))
    sys.addaudithook(_heard)
    counts = []
    for _ in range(2):
        _opened.clear()
        _counting = True
        looked()
        _counting = False
        counts.append(Counter(Path(name).name for name in _opened if name.endswith(".md")))

    assert len(counts[0]) == 40
    assert set(counts[0].values()) == {2}
    assert set(counts[1].values()) <= {1, 2}  # 2: so young that a change might not have shown
    assert counts[1].total() <= 80


def test_a_file_that_goes_while_we_look_costs_nothing(
    write: Write, vault: Vault, index: Index, journal: Journal
) -> None:
    files = [write(f"{number}.md", fact(f"Room {number} is blue.")) for number in range(40)]
    index.sync()

    def goes(done: int, of: int) -> None:
        for file in files:
            file.unlink(missing_ok=True)

    for file in files[:5]:
        file.write_text(fact("Changed."), encoding="utf-8")
    report = examine(vault, index, journal, progress=goes, now=NOW)

    assert not [finding for finding in report.findings if finding.code in ("unreadable", "index")]
    assert report.index.sound


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a name has to be sound Unicode")
def test_what_cannot_be_followed_or_read_is_named(
    vault: Vault, write: Write, findings: Callable[[], dict[str, Finding]], tmp_path: Path
) -> None:
    (tmp_path / "outside.md").write_text("secret", encoding="utf-8")
    (vault.root / "away.md").symlink_to(tmp_path / "outside.md")
    (vault.root / "dangling.md").symlink_to("nowhere.md")
    (vault.root / "circle.md").symlink_to("circle.md")
    os.mkfifo(vault.root / "pipe.md")
    Path(os.fsdecode(os.fsencode(vault.root) + b"/caf\xe9.md")).write_text("tea", encoding="utf-8")

    found = findings()

    assert {path: finding.what.partition(":")[0] for path, finding in found.items()} == {
        "away.md": "link not followed",
        "caf\\udce9.md": "not read",
        "circle.md": "link not followed",
        "dangling.md": "link not followed",
        "pipe.md": "cannot be read",
    }
    assert all(finding.advice != "look at it in an editor" for finding in found.values())


def test_a_kind_of_ones_own_and_a_plain_note_are_remarks_after_what_is_wrong(
    write: Write, vault: Vault, index: Index, journal: Journal
) -> None:
    write("a-note.md", "# Tea\n")
    write("b-recipe.md", SOUND.replace("fact", "recipe"))
    write("z-broken.md", "---\na: [\n---\n")

    found = examine(vault, index, journal).findings

    assert [(finding.path, finding.remark) for finding in found] == [
        ("z-broken.md", False),
        ("a-note.md", True),
        ("b-recipe.md", True),
    ]
    assert [finding.what for finding in found[1:]] == [
        "says no kind, source, created_at",
        "kind 'recipe' is one of your own",
    ]


def test_an_exchange_that_waits_is_a_remark(journal: Journal, findings: Callable[[], dict[str, Finding]]) -> None:
    journal.add(SAID)
    journal.add(SAID)

    advice = "the next chat does it, or: vault-mind learn"
    expected = Finding("", "2 exchanges wait to be learned from", advice, remark=True, code="waiting")
    assert findings()[""] == expected


def test_an_exchange_that_was_given_up_is_something_to_fix_and_says_where_it_is(
    journal: Journal, findings: Callable[[], dict[str, Finding]]
) -> None:
    journal.add(replace(SAID, tries=MOST_TRIES))

    finding = findings()[""]

    assert finding.what == f"1 exchanges could not be learned from in {MOST_TRIES} tries"
    assert str(journal.folder) in finding.advice
    assert not finding.remark


def test_looking_changes_no_file(vault: Vault, write: Write, findings: Callable[[], dict[str, Finding]]) -> None:
    write("broken.md", "---\na: [\n---\n")
    write("note.md", "tea")
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in vault.root.rglob("*.md")}

    findings()

    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in vault.root.rglob("*.md")} == before


def test_an_exchange_that_cannot_be_read_is_named(journal: Journal, findings: Callable[[], dict[str, Finding]]) -> None:
    waiting = journal.add(SAID)
    waiting.file.write_text("{half", encoding="utf-8")

    assert str(waiting.file) in findings()[""].what
    assert not findings()[""].remark


def test_a_state_folder_that_cannot_be_used_is_something_to_fix(
    vault: Vault, findings: Callable[[], dict[str, Finding]], journal: Journal
) -> None:
    state = state_folder(vault.root)
    state.mkdir(parents=True)
    assert "" not in findings()

    journal.folder.write_text("no folder")
    assert (findings()[""].code, str(journal.folder) in findings()[""].what) == ("state", True)

    journal.folder.unlink()
    (state / "writing").mkdir()
    assert (findings()[""].code, "move it away" in findings()[""].advice) == ("state", True)


@pytest.mark.skipif(
    not hasattr(os, "seteuid") or os.geteuid() != 0, reason="only root can be somebody else for a while"
)
def test_a_state_folder_of_somebody_else_is_something_to_fix() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "state" / "vault"
        folder.parent.mkdir(mode=0o755)
        Path(name).chmod(0o755)
        with _somebody():
            missing = [finding.what for finding in _of_state(folder)]
        folder.mkdir(mode=0o755)
        with _somebody():
            there = [finding.what for finding in _of_state(folder)]

    assert missing == [f"{folder} cannot be made: the folder {folder.parent} cannot be written"]
    assert there == [f"the folder {folder} cannot be written"]


def test_a_conflict_copy_is_not_counted_as_expired(write: Write, looked: Examine) -> None:
    write("Door.md", fact("The door code is 4711."))
    write("Door (Case Conflict).md", fact("The door code is 1111."))

    assert [finding.code for finding in looked().findings] == ["conflict-copy"]

"""Faults that people met in public, recast for a vault: search, in the command and the chat."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Run
from vault_mind import Index, Vault
from vault_mind.regex import Pattern

Write = Callable[[str, str | bytes], Path]
HEAD = "---\nkind: fact\nsource: user\ncreated_at: 2026-02-15T08:00:00Z\n---\n\n"


def first(run: Run, query: str) -> str:
    """The path that comes first for `query`, or nothing."""
    ended = run("search", "--paths", "--", query)
    assert ended.exit_code in (0, 1), ended.stderr
    return next(iter(ended.stdout.splitlines()), "")


# SE-01


NAMED = {
    "PMP-204": ("ticket.md", "PMP-204: the bilge pump hums."),
    "smith-jones": ("paper.md", "A letter came from Smith-Jones."),
    "don't": ("dont.md", "Don't feed the fern."),
    "don´t": ("dont.md", ""),
    "C++": ("cpp.md", "Building C++ takes all morning."),
    "#4711": ("issue.md", "Issue #4711 is still open."),
    "--dry-run": ("flag.md", "Always try it with --dry-run."),
    "v3.12.4": ("release.md", "Release v3.12.4 broke the sync."),
    "O'Hara": ("owner.md", "O’Hara has the spare key."),
    "a.b:c": ("dotted.md", "The setting a.b:c is on."),
}
NOISE = "Feed the pump, smith; C and C, 204 and 4711 times, in a dry run of 3 and 12 and 4."
QUERIES = (
    '"unclosed|NEAR(|AND|NOT|pump*|^pump|(pump|pump)|-pump|{pump}|*|\'; DROP TABLE notes; --|pump AND|OR pump|"|""|()|'
    "[[|]]|pump\\|\\pump|pump/|/pump|//|:pump|pump:|kind:|tag:|-|--|+|+-|pump~2|pump^3|:-)|<pump>|pump%|pump?|#|@pump|«pump"
    "|what does kind: mean?|is this /path/to/pump/ ok?|e-mail - who?|C:\\pump|note: feed it|https://a.example/b/?c=d#e"
).split("|")


def test_SE_01_signs_in_a_question_raise_nothing_and_a_name_with_signs_is_first(call: Run, write: Write) -> None:
    """SE-01: hyphens, quotes, stars and brackets in a question raise a syntax error instead of giving results."""
    write("noise.md", HEAD + NOISE)
    for path, text in NAMED.values():
        if text:
            write(path, HEAD + text)

    assert {name: first(call, name) for name in NAMED} == {name: path for name, (path, _) in NAMED.items()}
    for query in QUERIES:
        ended = call("search", "--", query)

        assert ended.exit_code in (0, 1), query
        assert ended.exit_code == 0 or ended.stderr, query
        assert "pump" not in query or query == "-pump" or "noise.md" in ended.stdout, query


@pytest.mark.parametrize("query", ["*", "?!", '""', "()", "--", ":-)", "…", "😀", " "])
def test_SE_01_a_line_without_a_word_says_so(call: Run, write: Write, query: str) -> None:
    """SE-01: a line with no searchable word gives no results and says so."""
    write("noise.md", HEAD + NOISE)

    ended = call("search", "--", query)

    assert (ended.exit_code, ended.stdout, ended.stderr) == (1, "", "there is no word in it to search for\n")


def test_SE_01_in_the_chat_none_of_them_ends_it(run: Run, write: Write) -> None:
    """SE-01: the same as what is said in a chat, and as its /search."""
    write("noise.md", HEAD + NOISE)
    lines = [*(f"/search {query}" for query in QUERIES), *QUERIES[::15], "/search feed the pump"]

    ended = run("chat", "--offline", input="\n".join(lines) + "\n")

    assert ended.exit_code == 0
    assert "Traceback" not in ended.stderr
    assert "noise.md" in ended.stdout


# SE-03


SENTENCES = {
    "ja.md": "土曜日は図書館でおはなしを聞く。コーヒーは飲まない。",
    "zh.md": "周末要检查水管，厨房的灯也坏了，记得用cron提醒。",
    "ko.md": "내일은 도서관에서 한국어를 공부한다.",
    "th.md": "ร้านกาแฟใกล้บ้านปิดวันจันทร์",
    "lo.md": "ລາວຈະໄປທະເລ",
    "en.md": "The kitchen light and the cron job both fail on Mondays.",
}
WITHIN = {
    **dict.fromkeys(("おはなし", "図書館", "図", "コーヒー", "ｺｰﾋｰ", "土曜日"), "ja.md"),
    **dict.fromkeys(("水管", "提醒", "厨", "cron提醒", "周末", "灯"), "zh.md"),
    **dict.fromkeys(("도서관", "한국어", "공부"), "ko.md"),
    **dict.fromkeys(("กาแฟ", "จันทร์", "บ้าน"), "th.md"),
    "ທະເລ": "lo.md",
    "monday cron": "en.md",
}


def test_SE_03_a_word_within_a_sentence_without_spaces_is_found(call: Run, write: Write) -> None:
    """SE-03: Chinese, Japanese, Korean or Thai words are never found, because a whole sentence is one token."""
    for path, text in SENTENCES.items():
        write(path, HEAD + text)

    assert {word: first(call, word) for word in WITHIN} == WITHIN
    assert call("search", "--paths", "+図書館").stdout == "ja.md\n"
    assert call("search", "--paths", '"水管"').stdout == "zh.md\n"
    assert call("search", "--paths", "cron -提醒").stdout == "en.md\n"


# SE-05


CODE = {
    "camel.md": "openValveSlowly runs before BilgePump; readGPSFix may time out.",
    "snake.md": "TIDE_WARNING is printed once max_retry_count is used up.",
    "kebab.md": "The switch is called new-harbour-map.",
    "digits.md": "HTTPServer2 listens beside utf8Decoder.",
    "dotted.md": "See config.tide.level, written by Harbour::openGate().",
    "parts.md": "Open the gate and the valve slowly, fix the pump, count the tide, retry; warning: a new harbour map.",
}
ASKED = {
    **dict.fromkeys(("openValveSlowly", "BilgePump", "bilgepump", "bilge_pump", "gps fix", "readGpsFix"), "camel.md"),
    **dict.fromkeys(("retry count", "max_retry_count", "maxRetryCount", "tide_warning", "TideWarning"), "snake.md"),
    **dict.fromkeys(("new-harbour-map", "newHarbourMap", "NEW_HARBOUR_MAP"), "kebab.md"),
    **dict.fromkeys(("http server", "httpserver2", "UTF8Decoder", "utf8_decoder"), "digits.md"),
    **dict.fromkeys(("config.tide.level", "openGate", "open_gate"), "dotted.md"),
}


def test_SE_05_an_identifier_is_found_whole_and_in_parts_and_stands_before_its_parts(call: Run, write: Write) -> None:
    """SE-05: camelCase and snake_case names are not found, because query and text are split differently."""
    for path, text in CODE.items():
        write(path, HEAD + text)

    assert {name: first(call, name) for name in ASKED} == ASKED


# SE-07


def test_SE_07_a_word_that_many_or_all_of_few_notes_hold_still_finds_them(call: Run, write: Write) -> None:
    """SE-07: in a small vault a word held by half the notes scores zero or below, so right answers vanish."""
    write("a.md", HEAD + "The kettle in the galley is new.")
    assert call("search", "--paths", "kettle").stdout == "a.md\n"

    write("b.md", HEAD + "It was misty at the harbour of Crail.")
    assert call("search", "--paths", "misty Crail").stdout == "b.md\n"

    write("c.md", HEAD + "A misty morning, and no kettle.")
    write("d.md", HEAD + "The lamp is out.")
    assert set(call("search", "--paths", "misty").stdout.splitlines()) == {"b.md", "c.md"}

    for number in range(5):
        write(f"more-{number}.md", HEAD + f"The misty kettle, {number}.")
    assert len(call("search", "--paths", "misty").stdout.splitlines()) == 7


@pytest.mark.parametrize("count", [1, 2, 3, 4, 9])
def test_SE_07_a_word_that_every_note_holds_finds_every_note(index: Index, write: Write, count: int) -> None:
    """SE-07: a hit is decided by matching a term; the idf never goes negative."""
    for number in range(count):
        write(f"{number}.md", HEAD + "tea " * (number + 1))

    hits = index.search("tea", 20)

    assert len(hits) == count
    assert all(hit.score > 0 for hit in hits)


# SE-08


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"a.md": "", "b.md": " \n\n", "c.md": "\ufeff", "d.md": "\r\n\r\n"},
        {"a.md": "---\nkind: note\n---\n", "b.md": "---\n---\n", "c.md": "---\nkind: fact\n"},
        {"a.md": "?!", "b.md": "---\nkind: fact\n---\n\n… — 😀\n"},
    ],
    ids=["none", "blank", "frontmatter only", "signs only"],
)
def test_SE_08_an_empty_vault_gives_nothing_and_the_first_memory_at_once(
    call: Run, write: Write, files: dict[str, str], vault: Vault
) -> None:
    """SE-08: an empty vault, or one of only empty notes, ends in a division by zero."""
    for path, text in files.items():
        write(path, text)

    assert call("search", "anything").exit_code == 1
    assert call("search", "--explain", "--json", "anything at all").exit_code == 1
    assert call("grep", "anything").exit_code == 1
    assert call("stats").exit_code == 0
    assert call("chat", "--offline", "-m", "anything?").exit_code == 0
    written = call("remember", "The user keeps anything in jars.").stdout.strip()

    assert call("search", "--paths", "anything").stdout.strip() == written


# RX-01, beside those of test_cases_chat.py


@pytest.mark.parametrize("pattern", [".{1000}.{1000}", "(?:.{1,400}é){2}", ".{1000}" * 5])
def test_RX_01_no_number_of_repetitions_makes_it_slow(pattern: str) -> None:
    """Siblings of RX-01: what needs more memory than RE2 has by default took seconds for each megabyte."""
    text = ("lorem ipsum dolor sit amet é " * 50 + "\n") * 600
    start = time.process_time()

    list(Pattern(pattern).lines(text))

    assert time.process_time() - start < 5


def test_RX_02_how_often_a_pattern_may_repeat_in_all_is_stated(call: Run, write: Write) -> None:
    """Siblings of RX-02: the limit on repetitions holds for all of them together, and for one within another."""
    write("n.md", "aaa")

    together, nested = call("grep", "a{1000}" * 6), call("grep", "(a{100}){100}")

    assert (together.exit_code, nested.exit_code) == (2, 2)
    assert "repeats more than 5000 times in all at position 36" in together.stderr
    assert "repeats more than 1000 times, one repetition within another multiplied" in nested.stderr

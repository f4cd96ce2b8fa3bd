"""The questions of our own are sound; and cases: what people could not find in systems like this one."""

import json
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from vault_mind.analysis import language_named
from vault_mind.memory import Memory, parse
from vault_mind.ranking import rank

FOLDER = Path(__file__).parent.parent / "benchmarks" / "questions"


def lines_of(name: str) -> list[dict[str, Any]]:
    """What each line of a file of ours holds."""
    return [json.loads(line) for line in (FOLDER / name).read_text("utf-8").splitlines()]


MEMORIES = lines_of("memories.jsonl")
QUESTIONS = lines_of("questions.jsonl")


# --- the questions --------------------------------------------------------------------------------


def test_every_path_and_every_question_is_there_once() -> None:
    texts = Counter((question["class"], question["text"].casefold()) for question in QUESTIONS)

    assert len({memory["path"] for memory in MEMORIES}) == len(MEMORIES)
    assert len({memory["body"] for memory in MEMORIES}) == len(MEMORIES)
    assert len({question["id"] for question in QUESTIONS}) == len(QUESTIONS)
    assert max(texts.values()) == 1


def test_what_is_relevant_is_a_memory_of_the_same_class() -> None:
    classes = {memory["path"]: memory["class"] for memory in MEMORIES}

    for question in QUESTIONS:
        assert [classes[path] for path in question["relevant"]] == [question["class"]] * len(question["relevant"])
        assert len(set(question["relevant"])) == len(question["relevant"])


def test_each_class_is_large_enough_to_say_something() -> None:
    memories = Counter(memory["class"] for memory in MEMORIES)
    answered = Counter(question["class"] for question in QUESTIONS if question["relevant"])

    assert memories.keys() == answered.keys()
    assert min(memories.values()) >= 40
    assert min(answered.values()) >= 12
    assert sum(not question["relevant"] for question in QUESTIONS) >= 40


def test_one_half_picks_the_settings_and_the_other_scores_them() -> None:
    for has_answer in (True, False):
        halves = Counter((q["class"], q["half"]) for q in QUESTIONS if bool(q["relevant"]) is has_answer)

        assert {half for _, half in halves} == {"dev", "test"}
        assert all(0 <= halves[name, "dev"] - halves[name, "test"] <= 1 for name, _ in halves)


def test_every_moment_has_an_offset_and_nothing_is_remembered_after_it_is_asked() -> None:
    asked = min(datetime.fromisoformat(question["now"]) for question in QUESTIONS)

    for memory in MEMORIES:
        created = datetime.fromisoformat(memory["frontmatter"]["created_at"])
        assert created.utcoffset() is not None
        assert created < asked


def test_links_lead_to_notes_of_the_same_class_and_languages_are_known() -> None:
    stems = {(memory["class"], Path(memory["path"]).stem) for memory in MEMORIES}

    for memory in MEMORIES:
        linked = [piece.split("]]")[0] for piece in memory["body"].split("[[")[1:]]
        assert all((memory["class"], stem) in stems for stem in linked)
        if memory["class"] in ("german", "mixed") and "lang" in memory["frontmatter"]:
            assert language_named(memory["frontmatter"]["lang"])


# --- SE-01, SE-03, SE-05: words that a plain index cuts wrongly ------------------------------------


def vault_of(**bodies: str) -> list[Memory]:
    """One memory a name."""
    return [parse(f"{name}.md", f"---\nkind: fact\n---\n\n{body}\n") for name, body in bodies.items()]


def first(memories: list[Memory], query: str) -> str:
    """The stem of the memory that comes first for `query`, or nothing."""
    return next((hit.memory.path.removesuffix(".md") for hit in rank(memories, query, 3)), "")


SIGNS = vault_of(
    cpp="C++ templates are slow to build.",
    dont="Don't water the fern.",
    name="Paper by Smith-Jones.",
    ticket="Ticket PMP-204 is about the pump.",
    noise="Water the pump, C and C.",
    sharp="Labels are printed by a C# program on .NET.",
    nets="He mends a net in 204 steps.",
    release="Release v2.10.1 broke the export.",
    older="Release v2.1.0 had 10 faults and 1 good idea.",
    issue="#123 is about the lamp.",
    lane="Lane 123 is about the lamp.",
    flag="Push with --no-verify on Fridays.",
    owner="O’Brien keeps the lamp oil.",
)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("PMP-204", "ticket"),
        ("pmp204", "ticket"),
        ("smith-jones", "name"),
        ("SmithJones", "name"),
        ("don't", "dont"),
        ("dont", "dont"),
        ("C++", "cpp"),
        ("c#", "sharp"),
        (".net", "sharp"),
        ("v2.10.1", "release"),
        ("2.10", "release"),
        ("2.1.0", "older"),
        ("#123", "issue"),
        ("--no-verify", "flag"),
        ("O'Brien", "owner"),
        ("obrien?", "owner"),
    ],
)
def test_a_name_with_signs_puts_its_own_memory_first(query: str, expected: str) -> None:  # SE-01
    assert first(SIGNS, query) == expected


@pytest.mark.parametrize(
    "sign", [*"\"([{}])*^~:;-+!?#%&|\\/`$'’.,_=<>@\x00\ud800", "--", "...", "'; DROP TABLE notes; --"]
)
def test_no_sign_raises_and_the_word_beside_it_is_found(sign: str) -> None:  # SE-01
    for query in (
        f"{sign}pump",
        f"pump{sign}",
        f"{sign} pump",
        f"pump {sign}",
        f"pump AND{sign}",
        f"NEAR({sign}pump, NOT",
    ):
        assert "noise.md" in [hit.memory.path for hit in rank(SIGNS, query, 20)]
    assert rank(SIGNS, sign.split(" ")[0], 20) == []


def test_signs_alone_find_nothing() -> None:  # SE-01
    for query in ("*", "#", "?!", "…", '""', "( )", "--"):
        assert rank(SIGNS, query, 5) == []


UNSPACED = vault_of(
    ja="明日は図書館でおはなし会がある。",
    zh="厨房水管每周三检查，用cron提醒。",
    ko="어제 도서관에서 공부했다.",
    th="ร้านกาแฟปิดวันจันทร์",
    lo="ລາວໄປທະເລມື້ອື່ນ",
    km="ខ្ញុំផឹកទឹករាល់ព្រឹក",
    my="ကျွန်တော် ရန်ကုန်မြို့မှာနေတယ်",
    kana="ｶﾀｶﾅで書いたメモ",
    en="Backup with cron on Monday.",
)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("おはなし", "ja"),
        ("図書館", "ja"),
        ("図", "ja"),
        ("水管", "zh"),
        ("提醒", "zh"),
        ("厨", "zh"),
        ("cron提醒", "zh"),
        ("도서관", "ko"),
        ("공부", "ko"),
        ("กาแฟ", "th"),
        ("จันทร์", "th"),
        ("ທະເລ", "lo"),
        ("ទឹក", "km"),
        ("ရန်ကုန်", "my"),
        ("カタカナ", "kana"),
        ("メモ", "kana"),
        ("monday cron", "en"),
    ],
)
def test_a_word_inside_a_script_without_spaces_puts_its_memory_first(query: str, expected: str) -> None:  # SE-03
    assert first(UNSPACED, query) == expected


NAMES = vault_of(
    camel="Call openValveSlowly before BilgePump starts; readGPSFix may fail.",
    snake="Set TIDE_WARNING and max_retry_count=5.",
    parts="Open the valve and fix the pump at the tide, slowly, and count on a warning.",
    kebab="The flag new-checkout-flow is on.",
    shop="The new checkout is open; go with the flow.",
    digits="HTTPServer2 and iPhone15 are tested.",
    path="Start src/gateway/main.py first.",
)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("openValveSlowly", "camel"),
        ("open_valve_slowly", "camel"),
        ("BilgePump", "camel"),
        ("bilgepump", "camel"),
        ("gps fix", "camel"),
        ("retry count", "snake"),
        ("max_retry_count", "snake"),
        ("maxRetryCount", "snake"),
        ("tide_warning", "snake"),
        ("TideWarning", "snake"),
        ("newCheckoutFlow", "kebab"),
        ("new-checkout-flow", "kebab"),
        ("http server", "digits"),
        ("iphone 15", "digits"),
        ("main.py", "path"),
    ],
)
def test_an_identifier_puts_its_memory_before_those_of_its_parts(query: str, expected: str) -> None:  # SE-05
    assert first(NAMES, query) == expected

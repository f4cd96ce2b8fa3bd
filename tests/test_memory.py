"""One Markdown file as a value: read leniently, made, changed line by line."""

import time
from datetime import UTC, datetime, timedelta

import pytest

from vault_mind.errors import UnsafeChangeError, UnwritableTextError
from vault_mind.memory import Memory, compose, decoded, moment, parse, revise

NOW = datetime(2026, 11, 29, 18, 42, 7, tzinfo=UTC)


def note(frontmatter: str, body: str = "Body.\n") -> Memory:
    return parse("memories/tea.md", f"---\n{frontmatter}---\n\n{body}")


# --- bytes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [b"", b"tea\r\n", b"\xef\xbb\xbftea", "café 東京 😀".encode(), b"\xef\xbb\xbf"])
def test_sound_bytes_are_text_and_back(data: bytes) -> None:
    text, fault = decoded(data)

    assert fault is None
    assert text.encode() == data


@pytest.mark.parametrize(
    ("data", "fault", "word"),
    [
        (b"caf\xe9 hangar", "it is not UTF-8 (byte 0xe9 at 3)", "hangar"),
        (b"half \xe6\x9d", "it is not UTF-8 (byte 0xe6 at 5)", "half"),
        (b"\xed\xa0\x80 surrogate", "it is not UTF-8 (byte 0xed at 0)", "surrogate"),
        ("hangar".encode("utf-16"), "it is UTF-16, not UTF-8", "hangar"),
        (b"\xfe\xff" + "hangar".encode("utf-16-be"), "it is UTF-16, not UTF-8", "hangar"),
        (b"\xff\xfeh\x00a", "it is UTF-16, not UTF-8", "h"),
        (b"before\0after", "it holds NUL bytes, as binary files do", "after"),
    ],
)
def test_unsound_bytes_are_read_as_far_as_they_go_and_say_why(data: bytes, fault: str, word: str) -> None:
    text, said = decoded(data)

    assert said == fault
    assert word in text
    assert parse("x.md", text, said).warnings == (fault,)


# --- what a memory says ---------------------------------------------------------------------------


def test_a_memory_gives_what_its_frontmatter_says() -> None:
    memory = note(
        "kind: preference\nsource: chat\ncreated_at: 2026-11-29T18:42:07+01:00\n"
        'quote: "I like tea"\ntags: [drinks, "a, b"]\naliases: [Tea, Green tea]\npinned: true\n'
    )

    assert (memory.kind, memory.source, memory.quote) == ("preference", "chat", "I like tea")
    assert memory.created_at == datetime(2026, 11, 29, 17, 42, 7, tzinfo=UTC)
    assert memory.tags == ("drinks", "a, b")
    assert memory.aliases == ("Tea", "Green tea")
    assert memory.pinned
    assert memory.body == "Body."
    assert not memory.warnings


def test_a_file_without_frontmatter_is_a_note_and_says_nothing_else() -> None:
    memory = parse("folder/My note.md", "Just words.\n")

    assert (memory.kind, memory.source, memory.quote, memory.created_at) == ("note", None, None, None)
    assert (memory.tags, memory.aliases, memory.pinned, memory.superseded) == ((), (), False, False)
    assert (memory.stem, memory.title, memory.body) == ("My note", "My note", "Just words.")
    assert not memory.warnings


@pytest.mark.parametrize("kind", ["", "[]", "{a: b}", "\n  - fact"])
def test_a_kind_that_is_no_word_makes_a_note(kind: str) -> None:
    assert note(f"kind: {kind}\n").kind == "note"


@pytest.mark.parametrize(
    ("typed", "tags"),
    [
        ("garden, spring", ("garden", "spring")),
        ("[garden, 2026]", ("garden", "2026")),
        ("", ()),
        ("null", ()),
        ("~", ()),
        ("[]", ()),
        ('"#garden"', ("garden",)),
        ("\n  - garden\n  - '#spring'\n  - big idea\n  -\n  - ~", ("garden", "spring", "big idea")),
        ("[garden, garden, '#garden']", ("garden",)),
        ("no", ("no",)),
        ("[no, on, 0644]", ("no", "on", "0644")),
        ("[[a, b], c]", ("c",)),
        ("{a: b}", ()),
        ('["a, b"]', ("a, b")),
        ("' , ,'", ()),
    ],
)
def test_tags_are_read_however_they_were_typed(typed: str, tags: tuple[str, ...]) -> None:
    expected = (tags,) if isinstance(tags, str) else tags

    assert note(f"tags: {typed}\n").tags == expected


def test_an_alias_may_hold_a_comma_or_a_hash() -> None:
    assert note("aliases: Smith, John\n").aliases == ("Smith, John",)
    assert note("aliases: ['#1', C#]\n").aliases == ("#1", "C#")


@pytest.mark.parametrize(
    ("typed", "pinned"),
    [("true", True), ("True", True), ("yes", True), ("on", True), ("1", True), ('"true"', True), ("false", False),
     ("no", False), ("", False), ("2", False), ("[true]", False)],
)  # fmt: skip
def test_pinned_is_a_yes_in_any_of_its_forms(typed: str, *, pinned: bool) -> None:
    assert note(f"pinned: {typed}\n").pinned is pinned


@pytest.mark.parametrize(
    ("frontmatter", "body", "title"),
    [
        ("title: Tea\n", "# Heading\n", "Tea"),
        ("title:\n", "# Heading\ntext", "Heading"),
        ("a: b\n", "\n\n## Two words ##\n", "Two words ##"),
        ("a: b\n", "#tag first\n", "tea"),
        ("a: b\n", "#\n", "tea"),
        ("a: b\n", "text\n# Later\n", "tea"),
        ("title: [a]\n", "", "tea"),
    ],
)
def test_the_title_is_the_key_or_the_heading_or_the_stem(frontmatter: str, body: str, title: str) -> None:
    assert note(frontmatter, body).title == title


@pytest.mark.parametrize("path", ["tea.md", "a/b.c/tea.md", "tea.MD"])
def test_the_stem_is_the_name_without_folder_and_ending(path: str) -> None:
    assert parse(path, "").stem == "tea"


def test_a_superseded_or_expired_memory_is_not_current() -> None:
    assert note("kind: fact\n").current(NOW)
    assert not note('superseded_by: "[[coffee]]"\n').current(NOW)
    assert not note("superseded_at: 2026-01-01\n").current(NOW)
    assert note("superseded_by:\n").current(NOW)
    assert not note("expires_at: 2026-11-29T18:42:07Z\n").current(NOW)
    assert note("expires_at: 2026-11-29T18:42:08Z\n").current(NOW)
    assert note("expires_at: some day\n").current(NOW)


def test_search_reads_title_aliases_tags_and_body_and_the_whole_text_of_a_broken_one() -> None:
    sound = note("kind: fact\ntitle: Green\naliases: [Sencha]\ntags: [drinks]\nother: hidden\n", "Body words.\n")
    broken = note("kind: fact\nsummary: boiler: broken\n", "Body words.\n")

    for word in ("Green", "Sencha", "drinks", "Body words."):
        assert word in sound.searched
    assert "hidden" not in sound.searched
    for word in ("boiler", "Body words.", "tea"):
        assert word in broken.searched
    assert "\ufeff" not in parse("x.md", "\ufeffwords").searched


def test_the_words_between_two_rules_are_no_frontmatter_and_are_not_lost() -> None:
    memory = parse("x.md", "---\nThe kestrel nests here.\n---\nBelow.\n")

    assert memory.frontmatter == {}
    assert memory.body == "---\nThe kestrel nests here.\n---\nBelow."
    assert "kestrel" in memory.searched


def test_a_key_given_twice_a_date_that_is_none_and_broken_yaml_are_told() -> None:
    assert note("kind: fact\nkind: context\n").warnings == (
        "frontmatter: line 3: 'kind' is given twice; the last one counts",
    )
    assert note("created_at: 2026-02-30\nupdated_at: [a]\n").warnings == (
        "created_at: no date can be read from '2026-02-30'",
        "updated_at: no date can be read from ''",
    )
    assert note("summary: a: b\n").warnings[0].startswith("frontmatter: line 2, column 11: mapping values")


# --- moments --------------------------------------------------------------------------------------


@pytest.fixture
def tokyo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()


@pytest.fixture(autouse=True)
def _own_zone_again() -> object:
    yield
    if hasattr(time, "tzset"):
        time.tzset()


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the zone cannot be set")
@pytest.mark.usefixtures("tokyo")
@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("2026-01-02T10:00:00+09:00", "2026-01-02T01:00"),
        ("2026-01-02T10:00:00Z", "2026-01-02T10:00"),
        ("2026-01-02T10:00:00.123456Z", "2026-01-02T10:00"),
        ("2026-01-02 10:00:00", "2026-01-02T01:00"),
        ("2026-01-02 10:00", "2026-01-02T01:00"),
        ("2026-01-02", "2026-01-01T15:00"),
        ("2026-01-02 10:00:00 +0900", "2026-01-02T01:00"),
        (" 2026-01-02T10:00+09:00 ", "2026-01-02T01:00"),
    ],
)
def test_a_moment_without_an_offset_is_local_time(text: str, utc: str) -> None:
    found = moment(text)

    assert found is not None
    assert f"{found.astimezone(UTC):%Y-%m-%dT%H:%M}" == utc


@pytest.mark.parametrize(
    "text",
    ["", "last Tuesday", "2026-02-30", "2026-13-01", "12:30", "26-01-02", "0", "2026-01-02T25:00", "２０２６-01-02x"],
)
def test_what_is_no_date_is_no_moment(text: str) -> None:
    assert moment(text) is None


@pytest.mark.parametrize("text", ["0001-01-01", "9999-12-31", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_the_first_and_the_last_day_crash_nothing(text: str) -> None:
    memory = note(f"created_at: {text}\nexpires_at: {text}\n")

    for found in (memory.created_at, memory.expires_at):
        assert found is None or abs(found - NOW) > timedelta(days=365)
    memory.current(NOW)


# --- making ---------------------------------------------------------------------------------------


def test_a_new_memory_is_its_keys_and_its_body() -> None:
    text = compose("\nThe user likes tea.\n\n", {"kind": "fact", "quote": "I like tea", "tags": ["drinks", "no"]})

    assert text == '---\nkind: fact\nquote: "I like tea"\ntags: [drinks, "no"]\n---\n\nThe user likes tea.\n'


@pytest.mark.parametrize("body", ["", " \t", "\n\r\n", "a\0b"])
def test_a_text_that_is_none_is_not_made(body: str) -> None:
    with pytest.raises(UnwritableTextError):
        compose(body, {"kind": "fact"})


def test_half_a_character_is_written_as_a_question_mark() -> None:
    assert "half ? of it" in compose("half \ud83d of it", {"kind": "fact"})


# --- changing -------------------------------------------------------------------------------------


def test_a_change_touches_only_the_lines_that_were_named() -> None:
    text = "---\nkind: fact # mine\n# owner\ntags:\n  - a\nzz: 0644\n---\n\nBody.\n\n\n"

    assert revise(parse("x.md", text), {"kind": "context", "tags": ["a", "b"], "pinned": "true", "zz": None}) == (
        "---\nkind: context # mine\n# owner\ntags:\n  - a\n  - b\npinned: true\n---\n\nBody.\n\n\n"
    )


def test_nothing_named_is_nothing_changed() -> None:
    for text in ("---\nkind: fact\n---\nBody.", "Body.", "", "\ufeff---\r\n---\r\n"):
        assert revise(parse("x.md", text), {}) == text


@pytest.mark.parametrize(
    ("memory", "why"),
    [
        (parse("x.md", "a", "it is not UTF-8 (byte 0xe9 at 3)"), "not UTF-8"),
        (note("a: b: c\n"), "line 2, column 5: mapping values"),
        (note("a: &x 1\nb: *x\n"), "aliases"),
        (parse("x.md", "---\nno second rule\n"), "opens with a rule"),
        (parse("x.md", "---\nwords\n---\n"), "not a block"),
        (parse("x.md", "---\n# only a heading\n---\n"), "."),
        (note("kind: fact\nkind: context\n"), "twice"),
        (note("kind: |\n  fact\n"), "several lines"),
    ],
)
def test_what_cannot_be_changed_safely_is_refused_with_name_and_reason(memory: Memory, why: str) -> None:
    with pytest.raises(UnsafeChangeError, match=why) as refused:
        revise(memory, {"kind": "preference"})

    assert memory.path in str(refused.value)


def test_a_new_body_keeps_the_lines_that_stay_and_the_blank_ones_around() -> None:
    text = "---\r\nkind: fact\r\n---\r\n\r\nOne.\r\nTwo.\nThree.\r\n\r\n\r\n"
    memory = parse("x.md", text)

    changed = revise(memory, {}, body=memory.body.replace("One.", "Uno."))

    assert changed == text.replace("One.", "Uno.")


@pytest.mark.parametrize(
    ("text", "body", "after"),
    [
        ("a\nb", "a\nb\nc", "a\nb\nc"),
        ("a\nb\n", "a\nb\nc", "a\nb\nc\n"),
        ("a\nb\n\n\n", "a\nb\nc", "a\nb\nc\n\n\n"),
        ("\n\na\n", "b", "\n\nb\n"),
        ("a\r\nb\r\n", "a\nb\nc", "a\r\nb\r\nc\r\n"),
        ("a\n", "", ""),
        ("\na\n\n", "", "\n\n"),
        ("\n\n", "a", "\n\na\n"),
        ("---\nkind: fact\n---\r\n\r\n", "a", "---\nkind: fact\n---\r\n\r\na\r\n"),
        ("\r", "a", "\ra\n"),
        ("", "a", "a"),
        ("---\nkind: fact\n---\n", "a", "---\nkind: fact\n---\na"),
        (
            "---\nkind: fact\n---\n\nold\n",
            "---\nkind: fake\n---\nnew",
            "---\nkind: fact\n---\n\n---\nkind: fake\n---\nnew\n",
        ),
    ],
)
def test_a_new_body_stands_where_the_old_one_stood(text: str, body: str, after: str) -> None:
    assert revise(parse("x.md", text), {}, body=body) == after


@pytest.mark.parametrize("body", ["a\0b", "---\nkind: fact\n---\nwords"])
def test_a_body_that_would_be_read_differently_is_refused(body: str) -> None:
    with pytest.raises(UnsafeChangeError):
        revise(parse("x.md", "old\n"), {}, body=body)


def test_appending_to_a_file_of_mixed_endings_changes_no_line_of_it() -> None:
    assert revise(parse("x.md", "one\r\ntwo\n"), {}, body="one\ntwo\nthree").startswith("one\r\ntwo\n")


# str.splitlines takes a form feed (pandoc, man pages) and U+2028 (the web) for the end of a line.
@pytest.mark.parametrize("mark", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"])
def test_a_line_with_a_strange_character_keeps_its_ending(mark: str) -> None:
    text = f"one{mark}two\nthree\r\nfour\r\n"

    assert revise(parse("x.md", text), {}, body=f"one{mark}two\nthree\nfour\nfive") == text + "five\r\n"


def test_a_note_that_ends_with_its_fence_gets_a_body() -> None:
    assert revise(parse("x.md", "---\nkind: fact\n---"), {}, body="new").startswith("---\nkind: fact\n---\n")


def test_the_last_key_beside_a_comment_stays_since_the_comment_alone_would_be_body() -> None:
    text = revise(parse("x.md", "---\n# mine\nkind: fact\nold: 1\n---\nBody.\n"), {"old": None})
    assert text == "---\n# mine\nkind: fact\n---\nBody.\n"

    with pytest.raises(UnsafeChangeError):
        revise(parse("x.md", text), {"kind": None})


# difflib takes the square of the lines that are alike: 8,000 rows would be 12 s, 80,000 twenty minutes.
def test_appending_to_a_long_note_of_like_lines_is_quick() -> None:
    text = "| a | b |\n" * 4_000
    before = time.process_time()

    changed = revise(parse("x.md", text), {}, body=text + "| c | d |")

    assert changed == text + "| c | d |\n"
    assert time.process_time() - before < 1

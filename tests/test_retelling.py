"""The vault's past as it is shown: versions, a memory's story, a diff."""

from collections.abc import Mapping
from datetime import UTC, datetime

from vault_mind.history import Change, Version
from vault_mind.memory import parse
from vault_mind.past import Line, Story
from vault_mind.render import memory_data
from vault_mind.retelling import diff, story, story_data, version_data, versions
from vault_mind.screen import text_of

AT = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
TEA = (
    '---\nkind: preference\nsource: chat\nquote: "I like tea"\nchat: c1\nsupersedes: "[[coffee]]"\n---\n\nTea it is.\n'
)


def version(
    subject: str = "The user drinks tea",
    *changes: Change,
    author: str = "Ada",
    trailers: Mapping[str, str] | None = None,
) -> Version:
    return Version("ab" * 20, AT, author, subject, {"Source": "chat"} if trailers is None else trailers, changes, ())


def test_a_version_is_a_line_with_its_id_its_time_what_it_says_and_its_files() -> None:
    shown = text_of(versions([version("Tea", Change("added", "tea.md"), Change("renamed", "b.md", "a.md"))]))

    assert shown == f"ababababab {AT.astimezone():%Y-%m-%d %H:%M} Tea  + tea.md, > b.md\n"


def test_a_version_by_hand_says_by_whom_and_of_many_files_three_are_named() -> None:
    changes = [Change("deleted", f"{number}.md") for number in range(5)]

    shown = text_of(versions([version("tidied", *changes, trailers={})]))

    assert "Ada: tidied  - 0.md, - 1.md, - 2.md, and 2 more\n" in shown


def test_no_fact_of_a_version_drives_the_terminal() -> None:
    evil = "a\x1b[2J\n\u202eb\x9b"

    shown = text_of(versions([version(evil, Change("added", evil), author=evil, trailers={})]))

    assert shown.count("a^[[2J^J<U+202E>b<U+009B>") == 3
    assert shown.count("\n") == 1


def test_a_version_as_json_names_all_that_a_program_needs() -> None:
    data = version_data(version("Tea", Change("renamed", "b.md", "a.md"), Change("added", "c.md")))

    assert data == {
        "version": "ab" * 20,
        "at": AT,
        "author": "Ada",
        "subject": "Tea",
        "by_hand": False,
        "trailers": {"Source": "chat"},
        "changes": [{"status": "renamed", "path": "b.md", "was": "a.md"}, {"status": "added", "path": "c.md"}],
    }


def told(*, gone: bool = False, uncommitted: bool = False, of: tuple[Version, ...] | None = None) -> Story:
    made = (version(),) if of is None else of
    lines = (Line("Tea it is.", made[0] if made else None), Line("With milk.", None))
    return Story("tea.md", parse("tea.md", TEA), made, ("green.md",), () if gone else lines, gone, uncommitted)


def test_a_story_gives_the_words_the_chat_what_was_replaced_and_each_line_with_its_day() -> None:
    shown = text_of(story(told(uncommitted=True)))

    for line in ("source: chat", "in the chat: c1", "from your words: I like tea", "it replaced: coffee"):
        assert f"{line}\n" in shown
    assert "earlier names: green.md\n" in shown
    assert "not yet in git: its file is not as in the newest version\n" in shown
    assert "2026-11-29         Tea it is.\nnot yet            With milk.\n" in shown
    assert "it is gone" not in shown


def test_a_story_of_what_is_gone_says_so_and_one_without_versions_claims_nothing_of_git() -> None:
    assert "it is gone: from the vault since the newest version below\n" in text_of(story(told(gone=True)))
    assert "not yet in git" not in text_of(story(told(uncommitted=True, of=())))


def test_a_story_as_json_holds_the_memory_and_its_versions() -> None:
    data = story_data(told())

    own = "gone uncommitted names supersedes superseded_by learned by_hand versions lines".split()
    assert list(data) == [*memory_data(parse("tea.md", TEA)), *own]
    assert data["path"] == "tea.md"
    assert data["quote"] == "I like tea"
    assert data["supersedes"] == ("coffee",)
    assert data["learned"] == version_data(version())
    assert data["by_hand"] == []
    assert data["lines"] == [{"text": "Tea it is.", "version": "ab" * 20}, {"text": "With milk.", "version": None}]
    assert story_data(told(of=()))["learned"] is None


def test_a_diff_is_coloured_by_its_signs_and_ends_lines_only_where_they_end() -> None:
    text = "--- a\n+++ b\n@@ -1 +1 @@\n-tea\n+milk\u2028+fake\x0b+fake\x85+fake\n \n"

    pieces = diff(text)

    assert [style for _, style in pieces] == ["red", "green", "cyan", "red", "green", ""]
    assert text_of(pieces).splitlines()[4].startswith("+milk<U+2028>+fake^K+fake")
    assert text_of(pieces).endswith("\n \n")


def test_no_difference_is_nothing() -> None:
    assert diff("") == []

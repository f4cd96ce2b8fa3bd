"""What a mind looks up by itself: real files, a real index, and nothing written."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.conftest import NOW
from vault_mind import Index, Vault
from vault_mind.lookup import FOUND, READ, SHOWN, TOOLS, Lookup, Lookups, missing
from vault_mind.model import Call, Result

Write = Callable[[str, str | bytes], Path]
Look = Callable[..., tuple[Result, Lookup]]


@pytest.fixture
def look(vault: Vault, index: Index) -> Look:
    """Make one call in one turn: look("read_memory", path="tea.md")."""
    lookups = Lookups(vault, index, 6, NOW)

    def looked(tool: str, arguments: Mapping[str, object] | None = None, **more: object) -> tuple[Result, Lookup]:
        return lookups.run(Call("toolu_1", tool, arguments or more))

    return looked


@pytest.fixture
def teas(write: Write) -> None:
    """A few memories of several kinds, tags and dates."""
    head = "---\nkind: {}\nsource: {}\ncreated_at: {}\ntags: [{}]\n---\n\n"
    write("green.md", head.format("preference", "chat", "2026-05-03", "drinks") + "The user prefers green tea.")
    write("shop.md", head.format("fact", "import:mail", "2026-09-12", "drinks/shops") + "The tea shop is in Mill Lane.")
    write("dog.md", head.format("fact", "user", "2026-10-01", "pets") + "The user's dog is called Biscuit.")


def paths(result: Result) -> list[str]:
    """The memories in a result, in their order."""
    return [line.split('"')[1] for line in result.text.splitlines() if line.startswith("<memory ")]


def test_several_wordings_are_searched_at_once_and_each_memory_comes_once(look: Look, teas: None) -> None:
    result, told = look("search_memory", queries=["green tea", "tea shop", "name of the dog"])

    assert result.call == "toolu_1"
    assert sorted(paths(result)) == ["dog.md", "green.md", "shop.md"]
    assert result.text.startswith("3 found\n<memories>\n")
    assert told == Lookup("search_memory", "green tea, tea shop, name of the dog", found=3)


def test_what_is_found_says_path_kind_source_and_date(look: Look, teas: None) -> None:
    result, _ = look("search_memory", queries=["shop in Mill Lane"])

    assert '<memory path="shop.md" kind="fact" source="import:mail" date="2026-09-12">' in result.text


@pytest.mark.parametrize(
    ("narrow", "found"),
    [
        ({"kind": "preference"}, ["green.md"]),
        ({"tag": "drinks"}, ["green.md", "shop.md"]),
        ({"tag": "#drinks/shops"}, ["shop.md"]),
        ({"since": "2026-09-12"}, ["dog.md", "shop.md"]),
        ({"until": "2026-09-12"}, ["green.md", "shop.md"]),
        ({"since": "June 2026", "until": "September 2026"}, ["shop.md"]),
        ({"regex": "mill|BISCUIT"}, ["dog.md", "shop.md"]),
        ({"kind": "fact", "tag": "pets", "since": "2026"}, ["dog.md"]),
        ({"kind": "", "tag": None, "regex": "tea"}, ["green.md", "shop.md"]),
    ],
    ids=str,
)
def test_a_search_is_narrowed_with_and_without_words(
    look: Look, teas: None, narrow: dict[str, object], found: list[str]
) -> None:
    listed, _ = look("search_memory", queries=[], **narrow)
    searched, _ = look("search_memory", queries=["tea", "shop", "dog"], **narrow)

    assert sorted(paths(listed)) == found
    assert sorted(paths(searched)) == found


def test_a_listing_gives_the_newest_first(look: Look, teas: None) -> None:
    result, _ = look("search_memory", queries=[], since="2026")

    assert paths(result) == ["dog.md", "shop.md", "green.md"]


def test_signs_of_a_query_are_plain_words_to_a_model(look: Look, teas: None) -> None:
    result, _ = look("search_memory", queries=["kind:fact -tea is:nonsense green tea"])

    assert paths(result) == ["green.md"]


def test_when_nothing_fits_the_nearest_are_given_as_such_and_else_nothing(look: Look, write: Write) -> None:
    for number in range(12):
        write(f"{number}.md", f"The user has a cup number {number}.")

    missed, told = look("search_memory", queries=["a cup of rooibos in Grandma's blue cabinet"])
    nothing, _ = look("search_memory", queries=["rooibos"])

    assert missed.text.startswith('nothing fits; the nearest misses:\n<memories nothing_fits="true">\n')
    assert missed.text.count('nearest_miss="true"') == 3
    assert nothing.text == "nothing found"
    assert (missed.failed, told.found) == (False, 0)


def test_superseded_and_expired_memories_are_not_found(look: Look, write: Write) -> None:
    write("old.md", '---\nsuperseded_by: "[[new]]"\n---\nThe user drinks black tea.')
    write("gone.md", "---\nexpires_at: 2026-11-01\n---\nThe user drinks iced tea.")
    write("new.md", "The user drinks green tea.")

    result, _ = look("search_memory", queries=["tea"])

    assert paths(result) == ["new.md"]


def test_a_search_sees_the_files_as_they_are_at_that_moment(look: Look, write: Write) -> None:
    file = write("tea.md", "The user drinks green tea.")
    look("search_memory", queries=["tea"])

    file.write_text("The user drinks black tea.", encoding="utf-8")

    assert "black" in look("search_memory", queries=["tea"])[0].text


def test_however_much_there_is_a_result_stays_small(look: Look, write: Write) -> None:
    for number in range(60):
        write(f"{number}.md", f"geese {number} " + "and more geese in one long line " * 400)

    result, told = look("search_memory", queries=["geese", "more geese", "long line of geese"])

    assert len(paths(result)) == told.found <= FOUND
    assert len(result.text) < FOUND * (SHOWN + 300)
    assert "[cut here; the file is longer]" in result.text


@pytest.mark.parametrize(("number", "says"), [(3, "3 found\n"), (40, "6 found; these are the best, and there may be")])
def test_a_search_that_may_have_more_says_so(look: Look, write: Write, number: int, says: str) -> None:
    for one in range(number):
        write(f"{one}.md", f"The goose number {one} walks by the lake.")

    result, told = look("search_memory", {"queries": ["goose by the lake"]})

    assert result.text.startswith(says)
    assert told.found == min(number, 6)


def test_a_memory_is_read_whole_with_its_frontmatter(look: Look, teas: None) -> None:
    result, told = look("read_memory", path="green.md")

    assert result.text.startswith('<memory path="green.md" kind="preference" source="chat" date="2026-05-03"')
    assert "tags: [drinks]" in result.text
    assert told == Lookup("read_memory", "green.md", found=1)


def test_a_long_file_is_read_in_stretches_that_make_the_whole(look: Look, write: Write) -> None:
    text = "".join(f"line {number} of a long note\n" for number in range(1_500))
    write("long.md", text)
    read, offset = "", 0

    while True:
        result, _ = look("read_memory", path="long.md", offset=offset)
        assert len(result.text) < READ + 300
        head, _, rest = result.text.partition(">\n")
        read += rest.removesuffix("\n</memory>")
        if "read_on_from" not in head:
            break
        offset = int(head.partition('read_on_from="')[2].partition('"')[0])

    assert read == text


REFUSED: dict[str, tuple[str, dict[str, object], str]] = {
    "a path that is none": ("read_memory", {"path": "nothing.md"}, "no memory at this path"),
    "no path": ("read_memory", {}, "empty"),
    "a path that is a number": ("read_memory", {"path": 3}, "a text is wanted"),
    "an offset that is none": ("read_memory", {"path": "green.md", "offset": "far"}, "whole number"),
    "an offset before the start": ("read_memory", {"path": "green.md", "offset": -1}, "whole number"),
    "nothing to look for": ("search_memory", {"queries": []}, "empty"),
    "blank wordings": ("search_memory", {"queries": [" ", ""]}, "empty"),
    "no arguments": ("search_memory", {}, "empty"),
    "wordings that are none": ("search_memory", {"queries": [1, 2]}, "a list of texts"),
    "an object of wordings": ("search_memory", {"queries": {"a": "b"}}, "a list of texts"),
    "a date that is none": ("search_memory", {"queries": ["tea"], "since": "soonish"}, "no date can be read"),
    "a pattern that is none": ("search_memory", {"queries": ["tea"], "regex": "(tea"}, "bad pattern"),
    "a pattern that looks behind": ("search_memory", {"queries": ["tea"], "regex": "(?<=a)b"}, "bad pattern"),
    "a kind as long as a book": ("search_memory", {"queries": ["tea"], "kind": "k" * 9_000}, "longer than"),
    "a tool that there is not": ("write_memory", {"path": "green.md", "body": "x"}, "there is no such tool"),
}


@pytest.mark.parametrize(("tool", "arguments", "says"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_done_is_a_result_that_says_why(
    look: Look, teas: None, tool: str, arguments: dict[str, object], says: str
) -> None:
    result, told = look(tool, arguments)

    assert result.failed
    assert says in result.text
    assert told.failed == result.text
    assert len(result.text) < 1_000


def test_one_wording_that_is_no_list_will_do(look: Look, teas: None) -> None:
    assert paths(look("search_memory", queries="Biscuit the dog")[0]) == ["dog.md"]
    assert paths(look("search_memory", query="Biscuit the dog")[0]) == ["dog.md"]


def test_the_same_failing_call_is_not_made_twice_and_another_one_is(look: Look, teas: None) -> None:
    look("read_memory", path="nothing.md")

    again, told = look("read_memory", path="nothing.md")
    other, _ = look("read_memory", path="green.md")
    same, _ = look("read_memory", path="green.md")

    assert again.failed
    assert "do not repeat it" in again.text
    assert told.failed == "the same call again"
    assert not other.failed
    assert not same.failed


def test_a_failing_look_up_costs_only_itself(
    vault: Vault, index: Index, teas: None, caplog: pytest.LogCaptureFixture
) -> None:
    lookups = Lookups(vault, index, 6, NOW)
    (vault.root / "pipe.md").unlink(missing_ok=True)
    os.mkfifo(vault.root / "pipe.md")  # nobody ever writes into it

    result, _ = lookups.run(Call("1", "read_memory", {"path": "pipe.md"}))
    after, _ = lookups.run(Call("2", "read_memory", {"path": "green.md"}))

    assert result.failed
    assert "not a regular file" in result.text
    assert not after.failed


def test_no_call_writes_into_the_vault(look: Look, teas: None, vault: Vault) -> None:
    def held() -> dict[str, bytes]:
        return {str(file): file.read_bytes() for file in vault.root.rglob("*") if file.is_file()}

    before = held()
    for tool, arguments, _ in REFUSED.values():
        look(tool, arguments)
    look("search_memory", queries=["tea"])
    look("read_memory", path="green.md")

    assert held() == before


def test_the_tools_are_described_by_schemas_that_name_what_is_read() -> None:
    search, read = TOOLS

    assert set(search.schema["properties"]) == {"queries", "kind", "tag", "since", "until", "regex"}  # type: ignore[call-overload]
    assert set(read.schema["properties"]) == {"path", "offset"}  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("reply", "said", "named"),
    [
        ("See `memories/gone.md`.", "", ["memories/gone.md"]),
        ("See memories/gone.md, and [[gone too.md]].", "", ["memories/gone.md", "gone too.md"]),
        ("It stands in `memories/tea.md` and in tea.md.", "", []),
        ("It stands in `MEMORIES/Tea.md`.", "", []),
        ("It stands in `a note with blanks.md`.", "", []),
        ("Write it into `README.md`, as you said.", "Shorten my README.md", []),
        ("See https://example.com/docs/gone.md for more.", "", []),
        ("```sh\ncat gone.md\n```\nThat is all.", "", []),
        ("`gone.md` and `gone.md` again", "", ["gone.md"]),
        ("`../outside.md` and `/etc/x.md`", "", ["../outside.md", "/etc/x.md"]),
        ("Nothing is named here. The md. files", "", []),
        (
            "See [[gone]] and [[lost/gone|that one]], not [[tea]], [[Tea#Milk]] or [[memories/tea|tea]].",
            "",
            ["gone.md", "lost/gone.md"],
        ),
        ("See a note with blanks.md and another gone.md; (a note with blanks.md)", "", ["gone.md"]),
        ("Put ![[boat.png]] there, and `[[ -f x ]]`; [[ -f x ]]", "", []),
        ("It stands in `gone.md` and [[lost]].", "Where is what is gone or lost?", ["gone.md", "lost.md"]),
        ("A link to [[my plan]], as you said.", "Link it to [[my plan]].", []),
        ("It stands in [tea](memories/tea.md), or [gone](memories/gone.md).", "", ["memories/gone.md"]),
        ("", "", []),
    ],
)
def test_the_paths_that_a_reply_names_are_checked(
    vault: Vault, index: Index, write: Write, reply: str, said: str, named: list[str]
) -> None:
    write("memories/tea.md", "The user drinks green tea.")
    write("a note with blanks.md", "Blank.")

    assert missing(reply, said, index, vault) == named


def test_a_file_that_search_leaves_out_is_there_all_the_same(vault: Vault, write: Write) -> None:
    write("drafts/tea.md", "The user drinks green tea.")
    ignoring = Vault(vault.root, ("drafts/",))
    index = Index(ignoring)

    assert missing("`drafts/tea.md` and `drafts/gone.md`", "", index, ignoring) == ["drafts/gone.md"]
    index.close()

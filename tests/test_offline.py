"""The offline mind: it quotes what it recalls and learns by rule."""

from collections.abc import Sequence

import pytest

from tests.conftest import NOW
from vault_mind import Hit, prompt
from vault_mind.extraction import SCHEMA, checked
from vault_mind.journal import Exchange
from vault_mind.memory import parse
from vault_mind.offline import NEAREST, NOTHING, SHOWN, THANKS, Offline


def reply(message: str, *hits: Hit, nearest: Sequence[Hit] = ()) -> str:
    """What it says to `message`."""
    return "".join(Offline().reply(prompt.reply(message, hits, [], [], NOW, nearest)))


def hit(path: str, text: str, score: float = 1.0) -> Hit:
    """A memory as recall brings it."""
    return Hit(parse(path, text), score)


def test_it_answers_by_quoting_what_was_recalled_with_the_path() -> None:
    said = reply("Which tea?", hit("memories/tea.md", "---\nkind: fact\n---\n\nThe user drinks green tea.\n"))

    assert said == "From your memories:\n\n> The user drinks green tea.\n>\n> — `memories/tea.md`\n\n"


def test_it_says_plainly_when_there_is_nothing() -> None:
    assert reply("Which tea?") == NOTHING


NEAR = [hit(f"memories/{n}.md", f"\n# Tea {n}\nmore") for n in range(5)]


@pytest.mark.parametrize("asked", ["Which tea?", "tea shop", "where do I buy tea", "Tell me about the tea shop."])
def test_who_asks_for_what_is_not_there_is_shown_the_nearest(asked: str) -> None:
    said = reply(asked, nearest=NEAR)

    assert said.startswith(f"{NEAREST}\n\n> # Tea 0 — `memories/0.md`\n\n")
    assert said.count("— `") == SHOWN
    assert "more" not in said


@pytest.mark.parametrize(
    ("message", "expected"),
    [("I live in Oslo.", THANKS), ("Good morning!", NOTHING), ("It was a long day.", NOTHING), ("", NOTHING)],
)
def test_who_asks_nothing_is_not_shown_near_misses(message: str, expected: str) -> None:
    assert reply(message, nearest=NEAR) == expected


def test_what_fits_goes_before_what_comes_near() -> None:
    said = reply("tea", hit("tea.md", "Green tea."), nearest=NEAR)

    assert said.startswith("From your memories:")
    assert "memories/0.md" not in said


def test_a_near_miss_is_a_line_however_long_or_empty_it_is() -> None:
    said = reply("tea?", nearest=[hit("long.md", "word " * 500), hit("empty.md", "---\ntitle: Tea\n---\n")])

    assert len(said) < 400
    assert "…" in said
    assert "> Tea — `empty.md`" in said


def test_it_thanks_for_a_statement_that_it_knows_nothing_else_about() -> None:
    assert reply("I live in Oslo.") == THANKS


def test_it_quotes_the_best_few_and_leaves_out_what_hardly_fits() -> None:
    said = reply("tea", *(hit(f"{number}.md", f"tea {number}", score=10 - number) for number in range(9)))
    weak = reply("tea", hit("good.md", "tea", 10.0), hit("weak.md", "a word", 4.0))

    assert said.count("— `") == SHOWN
    assert said.index("tea 0") < said.index("tea 1") < said.index("tea 2")
    assert "weak.md" not in weak


def test_of_a_long_note_it_quotes_the_beginning_and_every_line_as_a_quotation() -> None:
    said = reply("tea", hit("long.md", "\n".join(f"line {number}" for number in range(50))))

    assert "> line 0\n> line 1" in said
    assert "line 10" not in said
    assert "> …\n" in said
    assert all(line.startswith(">") for line in said.removeprefix("From your memories:").splitlines() if line)


def test_an_empty_note_is_named_as_empty() -> None:
    assert "> (empty)\n>\n> — `tea.md`" in reply("tea", hit("tea.md", "---\ntitle: tea\n---\n"))


@pytest.mark.parametrize(
    ("message", "learned"),
    [
        ("My name is Ada.", "The user's name is Ada."),
        ("I live in Oslo and I prefer tea.", "The user lives in Oslo."),
        ("I'm allergic to hazelnuts.", "The user is allergic to hazelnuts."),
        ("What do I drink?", None),
        ("Write me a poem about tea.", None),
        ("Good morning!", None),
        ("Do you think I live in Oslo?", None),
        ('He said "I live in Oslo".', None),
        ("", None),
    ],
)
def test_it_learns_what_is_stated_and_nothing_else(message: str, learned: str | None) -> None:
    request = prompt.proposal(Exchange(message, "", "ok", NOW.isoformat(), "c", "offline"))

    candidates, turned = checked(Offline().value(request, SCHEMA), message)

    assert [candidate.text for candidate in candidates][:1] == ([learned] if learned else [])
    assert turned == []  # its quotes hold up, always

"""What a vault holds, counted."""

from datetime import UTC, datetime

from tests.conftest import NOW
from vault_mind.memory import parse
from vault_mind.stats import count


def test_an_empty_vault_counts_nothing() -> None:
    counted = count([], NOW)

    assert (counted.memories, counted.words, counted.kinds, counted.tags) == (0, 0, {}, {})
    assert (counted.oldest, counted.newest) == (None, None)


def test_memories_are_counted_by_kind_source_and_tag_most_first() -> None:
    counted = count(
        [
            parse("a.md", "---\nkind: fact\nsource: chat\ntags: [tea, home]\n---\none two three"),
            parse("b.md", "---\nkind: preference\nsource: user\ntags: tea\n---\nfour"),
            parse("c.md", "---\nkind: fact\nsource: chat\n---\n"),
            parse("d.md", "five six"),
        ],
        NOW,
    )

    assert (counted.memories, counted.words) == (4, 6)
    assert list(counted.kinds.items()) == [("fact", 2), ("note", 1), ("preference", 1)]
    assert list(counted.sources.items()) == [("chat", 2), ("none given", 1), ("user", 1)]
    assert list(counted.tags.items()) == [("tea", 2), ("home", 1)]


def test_what_is_superseded_expired_or_pinned_is_counted_as_it_stands_now() -> None:
    counted = count(
        [
            parse("old.md", '---\nsuperseded_by: "[[new]]"\n---\n'),
            parse("over.md", "---\nexpires_at: 2026-11-29T18:42:07+00:00\n---\n"),
            parse("later.md", "---\nexpires_at: 2026-11-29T18:42:08+00:00\n---\n"),
            parse("pin.md", "---\npinned: true\n---\n"),
            parse("odd.md", "---\nexpires_at: some day\n---\n"),
        ],
        NOW,
    )

    assert (counted.superseded, counted.expired, counted.pinned) == (1, 1, 1)


def test_the_oldest_and_the_newest_are_told_among_dates_of_all_kinds() -> None:
    counted = count(
        [
            parse("a.md", "---\ncreated_at: 2026-05-03T08:00:00+09:00\n---\n"),
            parse("b.md", "---\ncreated_at: 2026-05-03T01:00:00+00:00\n---\n"),
            parse("c.md", "---\ncreated_at: never\n---\n"),
            parse("d.md", "no date"),
        ],
        NOW,
    )

    assert counted.oldest == datetime(2026, 5, 2, 23, tzinfo=UTC)
    assert counted.newest == datetime(2026, 5, 3, 1, tzinfo=UTC)

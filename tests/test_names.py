"""Which names some system cannot hold."""

import pytest

from vault_mind.names import alike, too_long, unfit


@pytest.mark.parametrize(
    "name", ["a?b.md", 'a"b.md', "a\\b.md", "a|b.md", "a\x07b.md", "CON", "aux.md", "nul.tar.md", "com¹.md", "x.", "x "]
)
def test_a_name_that_windows_cannot_hold_is_told(name: str) -> None:
    why = unfit(name)

    assert why
    assert why.isprintable()


@pytest.mark.parametrize(
    "name", ["tea.md", "console.md", "com10.md", ".hidden", "a b.md", "a'b (c) #1.md", "日本.md", "aux-1.md"]
)
def test_a_name_that_every_system_holds_is_fine(name: str) -> None:
    assert unfit(name) is None


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("a/" * 100 + "tea.md", None),
        ("日" * 84 + ".md", None),
        ("日" * 85 + ".md", "a name of 258 bytes"),
        ("a" * 253 + ".md", "a name of 256 bytes"),
        ("a/" * 119 + "b", None),
        ("a/" * 120 + "b", "a path of 241 characters"),
        ("🦉/" * 81, "a path of 243 characters"),
    ],
)
def test_a_path_is_too_long_by_bytes_of_a_name_or_by_characters_of_all(path: str, why: str | None) -> None:
    found = too_long(path)

    assert found is None if why is None else found and found.startswith(why)


def test_names_are_alike_only_within_one_folder() -> None:
    paths = ["a/Tea.md", "b/tea.md", "a/tea.md", "A/x.md", "é.md", "e\u0301.md", "straße.md", "STRASSE.md", "c/é.md"]

    assert sorted(alike(paths)) == [
        ["A/", "a/"],
        ["STRASSE.md", "straße.md"],
        ["a/Tea.md", "a/tea.md"],
        ["e\u0301.md", "é.md"],
    ]

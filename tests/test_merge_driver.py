"""Two machines change one vault; git pulls, and our driver merges."""

import shlex
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_mind import git
from vault_mind.frontmatter import load, split
from vault_mind.merge_driver import ATTRIBUTE, install, merged, uninstall

BASE = (
    "---\nkind: fact\nsource: chat\ncreated_at: 2026-11-29T18:42:07+01:00\ntags: [drinks, tea]\n"
    "aliases:\n  - Tea\n  - Brew  \n---\n\nThe user prefers green tea.\n"
)
PROGRAM = "import sys; from pathlib import Path; from vault_mind.merge_driver import drive; "
PROGRAM += "sys.exit(not drive(*map(Path, sys.argv[2:5]), int(sys.argv[5])))"
COMMAND = f"{shlex.quote(sys.executable)} -c {shlex.quote(PROGRAM)}"


def merge(base: str, ours: str, theirs: str) -> tuple[str, bool]:
    whole, clean = merged(base.encode(), ours.encode(), theirs.encode())
    return whole.decode(), clean


def keys(text: str) -> dict[str, object]:
    found, _ = load(split(text)[0] or "")
    return dict(found or {})


def test_different_keys_of_both_sides_are_both_there() -> None:
    ours = BASE.replace("kind: fact", "kind: preference")
    theirs = BASE.replace("aliases:", "pinned: true\naliases:")

    whole, clean = merge(BASE, ours, theirs)

    assert clean
    assert keys(whole) == {**keys(ours), "pinned": "true"}
    assert whole.replace("pinned: true\n", "") == ours


def test_lists_are_merged_item_by_item_and_keep_their_order_and_style() -> None:
    ours = BASE.replace("[drinks, tea]", "[morning, drinks]").replace("  - Brew  \n", "  - Brew  \n  - Cuppa\n")
    theirs = BASE.replace("[drinks, tea]", "[drinks, tea, green]").replace("  - Tea\n", "  - Char\n")

    whole, clean = merge(BASE, ours, theirs)

    assert clean
    assert "tags: [morning, drinks, green]\n" in whole
    assert keys(whole)["aliases"] == ["Brew", "Cuppa", "Char"]


def test_an_item_that_one_side_took_out_stays_out() -> None:
    whole, clean = merge(BASE, BASE.replace("[drinks, tea]", "[drinks]"), BASE.replace("tea]", "tea, green]"))

    assert clean
    assert keys(whole)["tags"] == ["drinks", "green"]


def test_tags_written_as_one_text_are_a_list_too() -> None:
    whole, clean = merge(BASE, BASE.replace("[drinks, tea]", "drinks, tea, hot"), BASE.replace("tea]", "tea, green]"))

    assert clean
    assert keys(whole)["tags"] == ["drinks", "tea", "hot", "green"]


def test_of_two_times_of_change_the_later_one_stays() -> None:
    def at(time: str) -> str:
        return BASE.replace("tags:", f"updated_at: {time}\ntags:")

    early, late = at("2026-12-01T10:00:00+01:00"), at("2026-12-01T09:30:00Z")

    assert merge(BASE, early, late) == (late, True)
    assert merge(BASE, late, early) == (late, True)


def test_a_value_that_conflicts_keeps_ours_and_shows_theirs_without_marks() -> None:
    ours, theirs = (BASE.replace("kind: fact", f"kind: {kind}  # {kind}") for kind in ("preference", "context"))

    whole, clean = merge(BASE, ours, theirs)

    assert not clean
    assert whole == ours.replace("# preference\n", "# preference\nkind_theirs: context  # context\n")
    assert keys(whole)["kind"] == "preference"


def test_a_conflict_within_a_conflict_shows_the_newest() -> None:
    before = BASE.replace("kind: fact\n", "kind: fact\nkind_theirs: old\n")

    whole, _ = merge(before, before.replace("kind: fact", "kind: a"), before.replace("kind: fact", "kind: b"))

    assert keys(whole)["kind_theirs"] == "b"


def test_a_key_that_one_side_changed_and_the_other_took_out_is_not_lost() -> None:
    without, changed = BASE.replace("kind: fact\n", ""), BASE.replace("kind: fact", "kind: context")
    more = "source: chat\n", "source: user\n"

    assert keys(merge(BASE, without.replace(*more), changed)[0])["kind"] == "context"
    assert keys(merge(BASE, changed, without.replace(*more))[0])["kind"] == "context"


def test_a_key_that_one_side_took_out_is_gone() -> None:
    whole, clean = merge(BASE, BASE.replace("fact", "context"), BASE.replace("tags: [drinks, tea]\n", ""))

    assert clean
    assert "tags" not in keys(whole)


def test_what_the_other_side_wrote_comes_as_it_wrote_it() -> None:
    added = "pinned: no # really\nnumber: 0644\nnested:\n  a: [1, 'two']\n  b: |\n    text\n    more\nlist:\n- x\n- y\n"

    whole, clean = merge(BASE, BASE.replace("fact", "context"), BASE.replace("aliases:", added + "aliases:"))

    assert clean
    assert added in whole


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_bytes_that_nobody_changed_stay_with_their_endings_comments_and_quoting(mark: str) -> None:
    odd = f"{mark}---\n# first\nkind:   'fact'   # why\n\nsource: \"chat\"\n# last\n---\n\nOne.\nTwo.  \n\n\nThree."
    base = odd.replace("\n", "\r\n")
    ours = base.replace("'fact'", "'context'").replace("One", "Eins")
    theirs = base.replace('"chat"', '"user"').replace("Three", "Drei")

    whole, clean = merge(base, ours, theirs)

    assert clean
    assert whole == ours.replace('"chat"', '"user"').replace("Three", "Drei")


def test_bodies_that_differ_in_other_lines_are_merged() -> None:
    base = BASE + "\nTwo.\n\nThree.\n"

    whole, clean = merge(base, base.replace("green", "black"), base.replace("Three", "Drei"))

    assert (whole, clean) == (base.replace("green", "black").replace("Three", "Drei"), True)


def test_only_lines_of_a_body_that_truly_conflict_get_marks() -> None:
    ours = BASE.replace("green", "black").replace("fact", "context") + "\nSame.\n"
    theirs = BASE.replace("green", "white").replace("[drinks, tea]", "[drinks]") + "\nSame.\n"

    whole, clean = merge(BASE, ours, theirs)

    assert not clean
    marks = "<<<<<<< ours\nThe user prefers black tea.\n=======\nThe user prefers white tea.\n>>>>>>> theirs\n"
    assert split(whole)[1] == f"\n{marks}\nSame.\n"
    assert keys(whole) == {**keys(BASE), "kind": "context", "tags": ["drinks"]}


def test_marks_are_as_long_as_git_wants_them_and_stand_on_lines_of_their_own() -> None:
    whole, _ = merged(b"a", b"ours", b"theirs", 9)

    assert whole == b"<<<<<<<<< ours\nours\n=========\ntheirs\n>>>>>>>>> theirs\n"


def test_one_side_that_changed_all_line_endings_does_not_conflict_with_the_other() -> None:
    base = "One.\nTwo.\nThree.\n"

    assert merge(base, base.replace("\n", "\r\n"), "One.\nTwo.\nDrei.\n") == ("One.\r\nTwo.\r\nDrei.\r\n", True)
    assert merge(base, "One.\nTwo.\nDrei.\n", base.replace("\n", "\r\n")) == ("One.\r\nTwo.\r\nDrei.\r\n", True)


def test_the_same_thing_told_to_two_machines_is_one_memory_since_the_first_of_them() -> None:
    ours = BASE.replace("chat\n", "chat\nchat: a\n").replace("[drinks, tea]", "[x]")
    theirs = BASE.replace("chat\n", "chat\nchat: b\n").replace("18:42:07", "08:00:00").replace("[drinks, tea]", "[y]")

    whole, clean = merge("", ours, theirs)

    assert clean
    assert keys(whole) == {**keys(theirs), "tags": ["x", "y"]}


@pytest.mark.parametrize(
    "odd",
    [
        "---\nkind: [fact\n---\n\nBody.\n",
        "---\nkind: fact\nkind: context\n---\n\nBody.\n",
        "---\n- a\n- list\n---\n\nBody.\n",
        "no frontmatter\n\nBody.\n",
        "---\n{kind: fact}\n---\n\nBody.\n",
    ],
)
def test_what_cannot_be_read_by_keys_is_merged_by_lines(odd: str) -> None:
    base = odd + "\n\nEnd.\n"
    ours, theirs = base.replace("End.", "End.\nOurs."), base.replace("Body.", "Body!")

    assert merge(base, ours, theirs) == (ours.replace("Body.", "Body!"), True)


def test_what_one_side_broke_is_merged_by_lines_with_marks_where_it_must() -> None:
    whole, clean = merge(BASE, BASE.replace("fact", "[fact"), BASE.replace("fact", "context"))

    assert not clean
    assert "<<<<<<< ours\nkind: [fact\n=======\nkind: context\n>>>>>>> theirs\n" in whole


def test_what_is_not_utf_8_is_merged_by_lines_and_keeps_its_bytes() -> None:
    base = b"caf\xe9\n\n\nend\n"

    assert merged(base, b"x\n" + base, base + b"y\n") == (b"x\ncaf\xe9\n\n\nend\ny\n", True)
    assert merged(b"\0a", b"\0b", b"\0c") == (b"\0b", False)


WORDS = st.lists(st.sampled_from(["a", "b", "c", "d"]), unique=True, max_size=4)
TEXTS = st.builds(
    lambda kind, tags, pinned, body: f"---\n{kind}tags: [{', '.join(tags)}]\n{pinned}---\n\n{body}",
    st.sampled_from(["", "kind: fact\n", "kind: 'context' # c\n"]),
    WORDS,
    st.sampled_from(["", "pinned: true\n", "n:\n  - 1\n  - 2\n"]),
    st.lists(st.sampled_from(["One.\n", "Two.\n", "\n"]), max_size=5).map("".join),
)


@given(TEXTS, TEXTS, TEXTS)
def test_a_merge_says_what_both_sides_say(base: str, ours: str, theirs: str) -> None:
    whole, clean = merge(base, ours, theirs)

    assert merge(base, ours, ours) == (ours, True)
    assert merge(base, base, theirs) == (theirs, True)
    found, was, our, their = map(keys, (whole, base, ours, theirs))
    for key, value in their.items():
        if value != was.get(key) and was.get(key) == our.get(key):
            assert found[key] == value
    for key, value in our.items():
        if key != "tags" and value != was.get(key):
            assert found[key] == value
    assert set(found) - {*our, *their} <= {"kind_theirs", "pinned_theirs"}
    assert clean or "<<<<<<< ours" in whole or any(key.endswith("_theirs") for key in found)


class Machine:
    """A clone of the vault on one machine."""

    def __init__(self, hub: Path, folder: Path, inner: str, *, driver: bool = True) -> None:
        git.ask(hub.parent, "clone", "--quiet", str(hub), str(folder))
        self.top, self.vault = folder, folder / inner
        self.vault.mkdir(exist_ok=True)
        for key, value in {"user.name": folder.name, "user.email": "a@example.org", "pull.rebase": "false"}.items():
            git.ask(folder, "config", key, value)
        if driver:
            install(self.vault, COMMAND)

    def change(self, path: str, text: str) -> None:
        (self.vault / path).write_text(text)
        git.ask(self.top, "add", "--all")
        git.ask(self.top, "commit", "--quiet", "--message", f"Change {path}")

    def pull(self) -> bool:
        return git.run(self.top, "pull", "--quiet", "--no-edit")[0] == 0

    def push(self) -> None:
        git.ask(self.top, "push", "--quiet", "origin", "HEAD")

    def read(self, path: str) -> str:
        return (self.vault / path).read_text()


@pytest.fixture(params=["", "notes"])
def machines(tmp_path: Path, request: pytest.FixtureRequest) -> tuple[Machine, Machine]:
    """Two machines with the same vault, at the top of its repository or below."""
    git.ask(tmp_path, "init", "--quiet", "--bare", "--initial-branch=main", "hub.git")
    first = Machine(tmp_path / "hub.git", tmp_path / "first", request.param)
    first.change("tea.md", BASE)
    first.push()
    return first, Machine(tmp_path / "hub.git", tmp_path / "second", request.param)


def test_a_pull_merges_memories_in_different_files_cleanly_both_ways(machines: tuple[Machine, Machine]) -> None:
    first, second = machines
    first.change("a.md", "The user has a dog.\n")
    second.change("b.md", "The user has a cat.\n")

    first.push()
    assert second.pull()
    second.push()
    assert first.pull()

    assert first.read("b.md") == "The user has a cat.\n"
    assert second.read("a.md") == "The user has a dog.\n"


def test_a_pull_merges_one_memory_key_by_key_both_ways(machines: tuple[Machine, Machine]) -> None:
    first, second = machines
    first.change("tea.md", BASE.replace("kind: fact", "kind: preference").replace("[drinks, tea]", "[drinks, tea, a]"))
    second.change("tea.md", BASE.replace("kind: fact\nsource: chat", "kind: fact\nsource: user").replace("tea]", "b]"))

    first.push()
    assert second.pull()
    second.push()
    assert first.pull()

    assert first.read("tea.md") == second.read("tea.md")
    assert keys(first.read("tea.md")) == {
        **keys(BASE),
        "kind": "preference",
        "source": "user",
        "tags": ["drinks", "b", "a"],
    }


def test_a_pull_with_bodies_that_conflict_stops_with_marks_in_the_body_alone(machines: tuple[Machine, Machine]) -> None:
    first, second = machines
    first.change("tea.md", BASE.replace("green", "black").replace("fact", "context"))
    second.change("tea.md", BASE.replace("green", "white").replace("[drinks, tea]", "[drinks]"))

    first.push()
    assert not second.pull()

    assert keys(second.read("tea.md")) == {**keys(BASE), "kind": "context", "tags": ["drinks"]}
    assert second.read("tea.md").count("<<<<<<<") == 1
    assert git.ask(second.top, "diff", "--name-only", "--diff-filter=U", "-z").endswith(b"tea.md\0")


def test_a_rebase_merges_so_too(machines: tuple[Machine, Machine]) -> None:
    first, second = machines
    first.change("tea.md", BASE.replace("kind: fact", "kind: preference"))
    second.change("tea.md", BASE.replace("source: chat", "source: user"))

    first.push()
    git.ask(second.top, "pull", "--quiet", "--rebase")

    assert keys(second.read("tea.md")) == {**keys(BASE), "kind": "preference", "source": "user"}


@pytest.mark.parametrize("command", [None, "no-such-command-at-all", "sh -c 'exit 70'"])
def test_a_machine_without_the_driver_or_with_a_broken_one_merges_as_git_does(
    tmp_path: Path, command: str | None
) -> None:
    git.ask(tmp_path, "init", "--quiet", "--bare", "--initial-branch=main", "hub.git")
    first = Machine(tmp_path / "hub.git", tmp_path / "first", "")
    first.change("tea.md", BASE + "\nTwo.\n\nThree.\n\nFour.\n")
    first.push()
    second = Machine(tmp_path / "hub.git", tmp_path / "second", "", driver=False)
    if command:
        install(second.vault, command)
    first.change("tea.md", first.read("tea.md").replace("green", "black").replace("Four", "4"))
    second.change("tea.md", second.read("tea.md").replace("Four", "Vier").replace("fact", "context"))

    first.push()
    assert not second.pull()

    assert "black" in second.read("tea.md")
    assert "kind: context" in second.read("tea.md")
    assert "<<<<<<<" in second.read("tea.md")
    assert "Vier" in second.read("tea.md")


@pytest.mark.parametrize("before", [None, "", "*.png binary", "*.png binary\r\n", f"{ATTRIBUTE}\n*.md text\n"])
def test_installing_adds_one_line_once_and_uninstalling_takes_it_out(tmp_path: Path, before: str | None) -> None:
    git.ask(tmp_path, "init", "--quiet")
    attributes = tmp_path / ".gitattributes"
    if before is not None:
        attributes.write_bytes(before.encode())

    assert install(tmp_path)
    assert not install(tmp_path)

    lines = attributes.read_bytes().splitlines()
    assert lines.count(ATTRIBUTE.encode()) == 1
    assert git.ask(tmp_path, "check-attr", "merge", "a/b.md") == b"a/b.md: merge: vault-mind\n"
    uninstall(tmp_path)
    uninstall(tmp_path)
    kept = [line for line in (before or "").splitlines() if line != ATTRIBUTE]
    assert (attributes.read_text().splitlines() if attributes.exists() else []) == kept
    assert git.ask(tmp_path, "config", "--get-regexp", "^merge", fine=(0, 1)) == b""


def test_in_a_larger_repository_only_the_vault_is_merged_so(tmp_path: Path) -> None:
    git.ask(tmp_path, "init", "--quiet")
    (tmp_path / "notes").mkdir()

    install(tmp_path / "notes")

    assert not (tmp_path / ".gitattributes").exists()
    assert git.ask(tmp_path, "check-attr", "merge", "a.md", "notes/a.md").splitlines() == [
        b"a.md: merge: unspecified",
        b"notes/a.md: merge: vault-mind",
    ]

"""A tidy's proposals carried out: nothing is deleted, nothing is lost, and what would be is taken back."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import NOW, Run
from tests.histories import by_hand
from vault_mind import Index, Vault
from vault_mind.config import Settings
from vault_mind.memory import Memory, parse
from vault_mind.reconcile import telling
from vault_mind.record import Record
from vault_mind.settling import Settled, Settling, questions, subject
from vault_mind.tidying import Proposal, survey
from vault_mind.vault import slug

Say = Callable[..., Memory]


class Edited(Index):
    """An index during whose syncs an editor saves, or Ctrl-C is pressed: `during` holds what happens at each."""

    during: list[Callable[[], object]]

    def sync(self, progress: object = None) -> object:  # type: ignore[override]  # all that is asked for here
        if self.during:
            self.during.pop(0)()
        return super().sync()


@pytest.fixture
def tea(vault: Vault, owner: None) -> Vault:
    """A vault in git, with its settings as the first version."""
    Record(vault, "ours").start([".vault-mind.toml"])
    return vault


@pytest.fixture
def say(vault: Vault) -> Say:
    """Save a sentence as said so many days ago: say("The user likes tea.", 3)."""

    def said(body: str, ago: int = 0, **more: str) -> Memory:
        return vault.save(body, kind="fact", source="chat", created_at=NOW - timedelta(days=ago), more=more)

    return said


def settling(vault: Vault, index: Index, how: str = "ours", **more: object) -> Settling:
    wanted = Settings(**more)  # type: ignore[arg-type]  # a test names them as it needs
    return Settling(vault, index, Record(vault, how), wanted, NOW)


def tidied(vault: Vault, index: Index, how: str = "ours", **more: object) -> Settled:
    """Everything that is proposed, carried out."""
    index.sync()
    return settling(vault, index, how, **more).carry_out(survey(index, Settings(), NOW).duplicates)


def files(vault: Vault) -> dict[str, bytes]:
    return {file.relative_to(vault.root).as_posix(): file.read_bytes() for file in sorted(vault.root.rglob("*.md"))}


def edit(file: Path, old: str, new: str) -> Callable[[], None]:
    def edited() -> None:
        text = file.read_text("utf-8")
        assert old in text
        file.write_text(text.replace(old, new), encoding="utf-8")

    return edited


def test_a_merge_is_one_version_that_undo_takes_back(tea: Vault, index: Index, say: Say) -> None:
    old, new = say("The user likes tea.", 2), say("The user really likes tea.", 1)
    record = Record(tea, "ours")
    record.write([old.path, new.path], ["Both"], {"Source": "chat"})
    before = files(tea)

    done = tidied(tea, index)

    assert [(one.kept.path, [gone.path for gone in one.gone]) for one in done.done] == [(new.path, [old.path])]
    assert (done.back, done.left, done.told) == ([], [], ())
    assert done.questions >= 1
    assert files(tea).keys() == before.keys()
    assert tea.read(old.path).frontmatter["superseded_by"] == "[[the-user-really-likes-tea]]"
    assert [hit.memory.path for hit in index.search("likes tea", 6)] == [new.path]
    assert by_hand(tea.root, "log", "-1", "--format=%s").strip() == "Tidy: 1 memory that said what another says"
    assert by_hand(tea.root, "status", "--short") == ""

    record.take_back(record.taking_back(None))

    assert files(tea) == before


def test_a_merge_that_would_lose_a_word_is_taken_back_byte_for_byte_and_the_others_stay(
    tea: Vault, index: Index, say: Say
) -> None:
    old, new = say("The user keeps the spare key under the fern.", 2), say("The user keeps the spare key.", 1)
    one, other = say("The user likes tea.", 2), say("The user likes tea!", 1)
    before = files(tea)
    index.sync()

    done = settling(tea, index).carry_out([Proposal(new, (old,)), Proposal(other, (one,))])

    ((back, why),) = done.back
    assert back.gone == (old,)
    assert why == f"{new.path} does not say: fern"
    assert {path: data for path, data in files(tea).items() if path in (old.path, new.path)} == {
        path: data for path, data in before.items() if path in (old.path, new.path)
    }
    assert [each.kept.path for each in done.done] == [other.path]
    assert by_hand(tea.root, "log", "-1", "--name-only", "--format=").split() == sorted([one.path, other.path])


def test_a_merge_after_which_a_question_does_not_find_the_fact_is_taken_back(
    tea: Vault, index: Index, say: Say, write: Callable[[str, str | bytes], Path]
) -> None:
    old = say("The user likes green jasmine tea.", 2)
    say("The user likes green jasmine tea and honey.", 1)
    more = "oolong sencha matcha assam chai mate rooibos darjeeling"
    write("rival.md", f"---\ntitle: the user likes green jasmine tea\n---\nThe user likes green jasmine tea {more}.\n")
    before = files(tea)
    assert [hit.memory.path for hit in index.search(old.body, 1, now=NOW)] == [old.path]

    done = tidied(tea, index, top_k=1)

    assert done.done == []
    assert [why for _, why in done.back] == ["“The user likes green jasmine tea.” would not find it any more"]
    assert files(tea) == before
    assert "Tidy" not in by_hand(tea.root, "log", "--format=%s")
    assert [hit.memory.path for hit in index.search(old.body, 1, now=NOW)] == [old.path]


def test_what_somebody_changed_since_it_was_seen_is_left_and_told(tea: Vault, index: Index, say: Say) -> None:
    old, new = say("The user likes tea.", 2), say("The user likes tea!", 1)
    other, kept = say("The user has a boat.", 2), say("The user has a boat!", 1)
    index.sync()
    found = survey(index, Settings(), NOW).duplicates
    edit(tea.root / new.path, "likes tea!", "likes mate!")()

    done = settling(tea, index).carry_out(found)

    assert [(one.kept.path, one.gone[0].path) for one in done.done] == [(kept.path, other.path)]
    assert [problem.path for problem in done.left] == [new.path]
    assert "likes mate!" in tea.read(new.path).text
    assert not tea.read(old.path).superseded


def test_where_none_gives_way_any_more_the_one_that_stays_is_as_it_was(tea: Vault, index: Index, say: Say) -> None:
    old, new = say("The user likes tea.", 2), say("The user likes tea!", 1)
    index.sync()
    found = survey(index, Settings(), NOW).duplicates
    edit(tea.root / old.path, "likes tea", "loves tea")()

    done = settling(tea, index).carry_out(found)

    assert (done.done, [problem.path for problem in done.left]) == ([], [old.path])
    assert tea.read(new.path).text == new.text


def test_an_edit_between_the_mark_and_its_taking_back_stays_and_the_mark_goes(tea: Vault, say: Say) -> None:
    old, new = say("The user keeps the spare key under the fern.", 2), say("The user keeps the spare key.", 1)
    index = Edited(tea)
    index.during = [lambda: None, edit(tea.root / old.path, "fern", "big fern")]

    done = settling(tea, index).carry_out([Proposal(new, (old,))])
    index.close()

    now = tea.read(old.path)
    assert [why for _, why in done.back] == [f"{new.path} does not say: fern"]
    assert not now.superseded
    assert now.body == "The user keeps the spare key under the big fern."
    assert tea.read(new.path).text == new.text


def test_an_edit_that_takes_the_fact_out_of_what_stays_takes_the_merge_back(tea: Vault, say: Say) -> None:
    old, new = say("The user likes tea.", 2), say("The user likes tea!", 1)
    index = Edited(tea)
    index.during = [lambda: None, edit(tea.root / new.path, "tea!", "mate!")]

    done = settling(tea, index).carry_out([Proposal(new, (old,))])
    index.close()

    assert [why for _, why in done.back] == [f"{new.path} does not say: tea"]
    assert tea.read(old.path).text == old.text
    assert tea.read(new.path).text == new.text.replace("tea!", "mate!")


def test_ctrl_c_before_the_check_leaves_every_byte_as_it_was(tea: Vault, say: Say) -> None:
    old, new = say("The user likes tea.", 2), say("The user likes tea!", 1)
    before = files(tea)
    index = Edited(tea)
    index.during = [lambda: None, lambda: signal.raise_signal(signal.SIGINT)]

    with pytest.raises(KeyboardInterrupt):
        settling(tea, index).carry_out([Proposal(new, (old,))])
    index.close()

    assert files(tea) == before


def test_two_proposals_for_one_memory_are_written_and_taken_back_together(tea: Vault, index: Index, say: Say) -> None:
    same, old = say("The user likes tea.", 3), say("The user hates tea.", 2)
    new, lost = say("The user likes tea!", 1), say("The user likes tea from the fern.", 2)
    index.sync()

    done = settling(tea, index).carry_out([Proposal(new, (same,)), Proposal(new, (old,), outdated=True)])
    links = tea.read(new.path).frontmatter["supersedes"]

    assert len(done.done) == 2
    assert links == ["[[the-user-likes-tea]]", "[[the-user-hates-tea]]"]
    assert tea.read(old.path).superseded

    again = settling(tea, index).carry_out([Proposal(tea.read(new.path), (lost,))])

    assert len(again.back) == 1
    assert tea.read(new.path).frontmatter["supersedes"] == links


@pytest.mark.parametrize("how", ["ours", "all", "off"])
def test_what_its_owner_had_not_committed_stays_theirs(tea: Vault, index: Index, say: Say, how: str) -> None:
    old, new = say("The user likes tea.", 2), say("The user likes tea!", 1)
    Record(tea, "ours").write([old.path, new.path], ["Both"], {"Source": "chat"})
    edit(tea.root / new.path, "likes tea!\n", "likes tea!\n\n- with a spoon\n")()
    edit(tea.root / old.path, "source: chat", "source: chat\nrating: 5")()
    index.sync()

    done = settling(tea, index, how).carry_out([Proposal(tea.read(new.path), (tea.read(old.path),))])
    subjects = by_hand(tea.root, "log", "--format=%s").splitlines()
    waiting = by_hand(tea.root, "diff", "HEAD")

    assert len(done.done) == 1
    assert subjects[0].startswith("Tidy: ") is (how != "off")
    assert ("rating: 5" in waiting) is (how != "all")
    assert ("+superseded_by" in waiting) is (how == "off")


def test_a_vault_without_git_is_tidied_all_the_same(vault: Vault, index: Index, say: Say) -> None:
    old, _ = say("The user likes tea.", 2), say("The user likes tea!", 1)

    done = tidied(vault, index)

    assert (len(done.done), done.told) == (1, ())
    assert vault.read(old.path).superseded


def test_a_link_names_the_path_where_another_has_the_stem(
    tea: Vault, index: Index, say: Say, write: Callable[[str, str | bytes], Path]
) -> None:
    old, _ = say("The user likes tea.", 2), say("The user likes tea!", 1)
    write("notes/the-user-likes-tea-2.md", "A note.\n")

    tidied(tea, index)

    assert tea.read(old.path).frontmatter["superseded_by"] == "[[memories/the-user-likes-tea-2]]"


def test_questions_are_the_words_of_a_memory_and_what_it_rests_on() -> None:
    head = "kind: fact\nquote: I never skip my jasmine tea\ntags: [drinks]\naliases: [Brew]\n"
    old = parse("a.md", f"---\n{head}---\nThe user drinks green jasmine tea every morning.\n")
    new = parse("b.md", "The user drinks coffee every morning.\n")

    assert questions(old, new, "english") == [
        "The user drinks green jasmine tea every morning.",
        "I never skip my jasmine tea",
        "user drinks green",
        "jasmine tea every morning",
        "drinks Brew",
    ]
    assert questions(old, new, "english", outdated=True) == ["drink everi morn"]


def test_a_version_says_how_many_and_why() -> None:
    a, b, c = (parse(f"{name}.md", name) for name in "abc")

    assert subject([Proposal(a, (b, c))]) == "Tidy: 2 memories that said what others say"
    assert subject([Proposal(a, (b,)), Proposal(a, (c,), outdated=True)]) == (
        "Tidy: 1 memory that said what another says and 1 memory that is out of date"
    )


@pytest.mark.skipif(os.name == "nt", reason="a matter of POSIX signals")
def test_a_tidy_that_is_killed_in_the_midst_leaves_every_fact_and_the_next_goes_on(
    tea: Vault, index: Index, run: Run
) -> None:
    for number in range(30):
        for ago in range(3):
            said, at = f"The user owns a boat of kind {number}.", NOW - timedelta(days=ago)
            tea.save(said, kind="fact", source="chat", created_at=at)
    before = files(tea)
    command = [sys.executable, "-m", "vault_mind", "tidy", "--vault", str(tea.root), "--duplicates-only", "--yes"]

    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as killed:
        until = time.monotonic() + 60
        while not _marked(tea) and killed.poll() is None and time.monotonic() < until:
            time.sleep(0.005)
        killed.kill()
    half = files(tea)
    ended = run("tidy", "--vault", str(tea.root), "--duplicates-only", "--yes")

    assert killed.returncode == -signal.SIGKILL
    assert half.keys() == before.keys() == files(tea).keys()
    for data in half.values():
        memory = parse("m.md", data.decode())
        assert (memory.broken, memory.body.startswith("The user owns a boat")) == (None, True)
    assert _said(tea, half) == _said(tea, before)
    assert ended.exit_code == 0, ended.stderr
    assert _marked(tea) == 60
    assert _said(tea, files(tea)) == _said(tea, before)
    index.sync()
    assert survey(index, Settings(), NOW).duplicates == ()


def _marked(vault: Vault) -> int:
    return sum(b"superseded_by" in data for data in files(vault).values())


def _said(vault: Vault, data: dict[str, bytes]) -> set[str]:
    """What current memories say."""
    found = (parse(path, text.decode()) for path, text in data.items())
    return {memory.body for memory in found if memory.current(NOW)}


WORDS = st.lists(st.sampled_from("really likes loves tea coffee and with not Oslo 3 green".split()), max_size=5)
ODD = st.sampled_from(
    ["", "pinned: true\n", "rating: 5  # mine\n", "tags: [a]\n", "tags: b, c\n", "lang: de\n", "no: a: b\n"]
)
DRAWN = st.tuples(
    WORDS,
    st.integers(0, 3),
    st.sampled_from(["chat", "user", "import:x"]),
    st.sampled_from(["fact", "context", "note"]),
    ODD,
    st.sampled_from(["\n", "\r\n"]),
)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], Vault]]:
    """A new vault for each example."""
    made: list[Vault] = []

    def new() -> Vault:
        made.append(Vault.create(tmp_path_factory.mktemp("law") / "vault"))
        return made[-1]

    yield new


@settings(max_examples=15)
@given(st.lists(DRAWN, max_size=6))
def test_no_tidy_deletes_a_file_or_loses_a_word_or_has_anything_left_to_do(
    many: Callable[[], Vault], drawn: list[tuple[list[str], int, str, str, str, str]]
) -> None:
    vault = many()
    for number, (said, day, source, kind, odd, ending) in enumerate(drawn):
        body = " ".join(["The user", *said]) + "."
        made = (datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=day)).isoformat()
        text = f"---\nkind: {kind}\n{odd}source: {source}\ncreated_at: {made}\n---\n\n{body}\n\n"
        file = vault.root / f"memories/{slug(body)}-{number}.md"
        file.write_bytes(text.replace("\n", ending).encode())
    before = {memory.path: memory for memory in vault.memories()}
    index = Index(vault)

    done = tidied(vault, index)
    again = survey(index, Settings(), NOW).duplicates
    index.close()

    after = {memory.path: memory for memory in vault.memories()}
    named = {each.path for one in done.done for each in (one.kept, *one.gone)}
    found = "\n".join(memory.searched for memory in after.values() if memory.current(NOW))
    assert after.keys() == before.keys()
    assert (again, done.back, done.left) == ((), [], [])
    for path, memory in before.items():
        ours = {"supersedes", "superseded_by", "superseded_at", "tags", "aliases"}
        assert after[path].content == memory.content
        assert path in named or after[path].text == memory.text
        kept = {key: value for key, value in memory.frontmatter.items() if key not in ours}
        assert kept == {key: value for key, value in after[path].frontmatter.items() if key not in ours}
        assert set(memory.text.splitlines(keepends=True)) - set(after[path].text.splitlines(keepends=True)) <= {
            f"tags: {value}{ending}" for value in ("[a]", "b, c") for ending in ("\n", "\r\n")
        }
        if memory.current(NOW):
            assert telling(memory.body) <= telling(found)
            assert {tag.casefold() for tag in memory.tags} <= {
                tag.casefold() for each in after.values() if each.current(NOW) for tag in each.tags
            }

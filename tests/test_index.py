"""The index agrees with the reference, whatever has happened to the files, to itself or beside it."""

import itertools
import os
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import vault_mind.readers
import vault_mind.sync
from tests.conftest import NOW
from vault_mind import Hit, Index, Vault, listing, rank
from vault_mind.errors import BusyError, SettingsError
from vault_mind.generation import DamagedError
from vault_mind.query import Query, parse
from vault_mind.ranking import CANDIDATES
from vault_mind.regex import Pattern
from vault_mind.search import Search
from vault_mind.sync import Progress, Sync, Synced

ROUNDING = 1.13  # tantivy keeps a length of more than 40 terms in one byte; so far its score may be off
Write = Callable[[str, str | bytes], Path]
Found = list[tuple[str, float]]

PATHS = ("tea.md", "a b.md", "notes/café.md", "notes/deep/日本.md", "UPPER.MD", "C++ & 'quotes'.md")
LINES = (
    "Ada takes her tea black.",
    "The tea, the Tea and the teas.",
    "BilgePump PMP-204 and max_retry_count",
    "crème brûlée — Straße, don’t",
    "猫が好きです。水管と茶",
    "ผมชอบกาแฟ 한국어 커피를",
    "# Tea time",
    "C++ 3.11 v1.2.3 e-mail",
    "---\nkind: preference\ntags: [drinks, tea]\naliases: [Chai]\n---\n\nGreen.",
    "---\ntitle: A title\npinned: true\n---\n",
    "---\nbroken: [\n---\nmilk",
    "\ufeffmarked\r\nlines\r\n",
    "\x1b[31mred\x1b[0m \x00 🍵",
    "",
)
TEXTS = st.one_of(st.lists(st.sampled_from(LINES), max_size=4).map("\n".join), st.text(max_size=40))
QUERIES = st.one_of(
    st.sampled_from(
        ("tea", "how does Ada take her tea", "猫", "水管", "กาแฟ", "pump 204", "C++", "the", "", "milk 🍵", "chai")
    ),
    st.lists(st.sampled_from(" ".join(LINES).split()), max_size=5).map(" ".join),
    st.text(max_size=20),
)


def generation(index: Index) -> Path:
    """The folder that holds the index's files at this moment."""
    return index.folder / (index.folder / "current").read_text("ascii")


def delete(index: Index) -> None:
    """Delete the whole index, whatever tantivy's own threads, which outlive a search, make in it meanwhile."""
    for _ in range(1_000):
        shutil.rmtree(index.folder, ignore_errors=True)
        if not index.folder.exists():
            return
    raise AssertionError(f"{index.folder} cannot be deleted")


def pairs(hits: Sequence[Hit]) -> Found:
    """The path and the score of each hit."""
    return [(hit.memory.path, hit.score) for hit in hits]


def agrees(
    index: Index, query: str | Query, k: int = 10, *, past: bool = False, language: str = "english", now: datetime = NOW
) -> bool:
    """Whether index and reference give the same memories in the same order, up to scores nearer than tantivy rounds."""
    found = index.search(query, k, past=past, now=now)
    memories = {memory.path: memory for memory in index.vault.memories()}
    # How many are looked at again depends on k, so no more is asked for than what is the same for k.
    everything = rank(memories.values(), query, max(k, CANDIDATES), past=past, now=now, language=language)
    exact = {hit.memory.path: hit for hit in everything}
    assert len(found) == min(max(k, 0), len(everything))
    assert len({hit.memory.path for hit in found}) == len(found)
    for hit, wanted in zip(found, everything, strict=False):
        own = exact.get(hit.memory.path, everything[-1])  # of what is as good as the last, another may be given
        assert hit.memory == memories[hit.memory.path]
        assert own.score >= wanted.score / ROUNDING
        assert own.score / ROUNDING <= hit.score <= own.score * ROUNDING
        assert own.fit / ROUNDING <= hit.fit <= own.fit * ROUNDING
    for hit, after in itertools.pairwise(found):
        assert (-hit.score, hit.memory.path) < (-after.score, after.memory.path) or not hit.score
    if found and not found[0].score:  # nothing to rank by: newest first
        assert [hit.memory for hit in found] == [hit.memory for hit in everything[: len(found)]]
    return True


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below `folder` with its bytes."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


@contextmanager
def scratch() -> Iterator[tuple[Vault, Path]]:
    """A vault and a folder for its index, for one example of a law."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "vault"
        root.mkdir()
        yield Vault(root), Path(folder) / "index"


def put(vault: Vault, path: str, text: str) -> None:
    """Write a file as an editor would."""
    file = vault.root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode())


# --- it agrees with the reference -----------------------------------------------------------------


FILES = st.dictionaries(st.sampled_from(PATHS), TEXTS)
ASKED = st.lists(QUERIES, min_size=1, max_size=4)


def it_agrees_over(files: dict[str, str], queries: list[str], k: int) -> None:
    """The law: index and reference give the same for any files and queries."""
    with scratch() as (vault, folder):
        for path, text in files.items():
            put(vault, path, text)
        index = Index(vault, folder=folder)

        for query in queries:
            assert agrees(index, query)
        assert agrees(index, queries[0], k)
        index.close()


@settings(max_examples=20)
@given(FILES, ASKED, st.integers(0, 4))
def test_index_and_reference_give_the_same_paths_and_scores(files: dict[str, str], queries: list[str], k: int) -> None:
    it_agrees_over(files, queries, k)


@pytest.mark.storm
@settings(max_examples=1_000)
@given(FILES, ASKED, st.integers(0, 4))
def test_index_and_reference_give_the_same_for_a_thousand_vaults(
    files: dict[str, str], queries: list[str], k: int
) -> None:
    it_agrees_over(files, queries, k)


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.sampled_from(PATHS), TEXTS),
        st.tuples(st.just("delete"), st.sampled_from(PATHS), st.just("")),
        st.tuples(st.just("rename"), st.sampled_from(PATHS), st.sampled_from(PATHS)),
        st.tuples(st.just("disguise"), st.sampled_from(PATHS), st.just("")),
        st.tuples(st.sampled_from(("drop", "reopen", "rebuild", "look")), st.just(""), st.just("")),
    ),
    min_size=1,
    max_size=6,
)


def do(index: Index, step: tuple[str, str, str]) -> Index:
    """Do one step to the vault's files or to the index, and give the index to go on with."""
    what, path, other = step
    file = index.vault.root / path
    if what == "write":
        put(index.vault, path, other)
    elif what == "delete":
        file.unlink(missing_ok=True)
    elif what == "rename" and file.is_file():
        (index.vault.root / other).parent.mkdir(parents=True, exist_ok=True)
        file.replace(index.vault.root / other)
    elif what == "disguise" and file.is_file():  # an edit of the same size, its time set back
        before = file.stat()
        file.write_bytes(file.read_bytes().replace(b"tea", b"pea").replace(b"Tea", b"Sea"))
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    elif what == "drop":
        shutil.rmtree(index.folder, ignore_errors=True)
    elif what == "reopen":
        index.close()
        return Index(index.vault, folder=index.folder)
    elif what == "rebuild":
        index.rebuild()
    return index


def it_agrees_after(files: dict[str, str], steps: list[tuple[str, str, str]], query: str) -> None:
    """The law: index and reference agree after every one of any steps."""
    with scratch() as (vault, folder):
        for path, text in files.items():
            put(vault, path, text)
        index = Index(vault, folder=folder)
        index.sync()

        for step in steps:
            index = do(index, step)
            assert agrees(index, query + " tea milk")
        assert list(index.memories()) == list(vault.memories())
        index.close()


# tantivy deletes by signed numbers only: with an unsigned id the old postings stayed, and right answers vanished.
@settings(max_examples=12)
@given(FILES, STEPS, QUERIES)
@example({"tea.md": "tea", "a b.md": "milk"}, [("write", "tea.md", "milk")], "")
@example({"tea.md": "tea", "a b.md": "tea"}, [("delete", "tea.md", "")], "")
def test_index_and_reference_agree_whatever_happens_to_the_files(
    files: dict[str, str], steps: list[tuple[str, str, str]], query: str
) -> None:
    it_agrees_after(files, steps, query)


@pytest.mark.storm
@settings(max_examples=500)
@given(FILES, STEPS, QUERIES)
def test_index_and_reference_agree_whatever_happens_in_five_hundred_vaults(
    files: dict[str, str], steps: list[tuple[str, str, str]], query: str
) -> None:
    it_agrees_after(files, steps, query)


def test_notes_that_are_edited_again_and_again_are_found(index: Index, write: Write) -> None:
    for text in ("tea and milk", "coffee", "tea and milk", "coffee", "tea and milk"):
        for number in range(5):
            write(f"{number}.md", text)
        index.sync()

    assert agrees(index, "tea")
    assert len(index.search("tea", 10)) == 5


# Once: of more than 200 that match, tantivy's own order picks those that are scored: ties come in the order of their
# postings, not of their paths, and lengths that share a byte (88 to 95 terms) count as one.
@pytest.mark.parametrize("usual", ["tea", "tea " + "word " * 94], ids=["ties", "lengths that are nearly the same"])
def test_the_best_are_found_among_many_that_are_nearly_as_good(index: Index, write: Write, usual: str) -> None:
    for number in range(230):
        write(f"{number:03}.md", usual)
    index.sync()
    for number in range(3):
        write(f"{number:03}.md", "milk")
    index.sync()
    for number in range(3):
        write(f"{number:03}.md", usual if usual == "tea" else "tea " + "word " * 88)

    assert agrees(index, "tea", 5)


@pytest.mark.parametrize("k", [0, -1, 1, 5, 1_000])
def test_as_many_are_given_as_are_asked_for(index: Index, write: Write, k: int) -> None:
    for number in range(8):
        write(f"{number}.md", "tea " * (number + 1))

    assert len(index.search("tea", k)) == max(0, min(k, 8))
    assert agrees(index, "tea", k)


# Once: tantivy makes room for 4 k hits at once: -k 100000000 panics, and 10**20 is an OverflowError.
@pytest.mark.parametrize("k", [10**18, 10**30])
def test_no_number_is_too_large_to_ask_for(index: Index, write: Write, k: int) -> None:
    write("tea.md", "tea")

    assert [hit.memory.path for hit in index.search("tea", k)] == ["tea.md"]


@pytest.mark.parametrize("query", ["tea", "", "?!", "the"])
def test_an_empty_vault_gives_nothing(index: Index, query: str) -> None:  # SE-08
    assert index.search(query, 5) == []
    assert list(index.memories()) == []
    assert index.pinned() == []


def test_empty_notes_give_nothing_and_the_first_memory_is_found_at_once(index: Index, write: Write) -> None:  # SE-08
    write("a.md", "")
    write("b.md", " \n")
    write("c.md", "---\nkind: fact\n---\n")
    assert index.search("anything", 5) == []

    index.vault.save("The user likes anything.", kind="fact", source="user", created_at=NOW)

    assert len(index.search("anything", 5)) == 1


def test_no_text_of_a_query_is_taken_for_more_than_words(index: Index, write: Write) -> None:  # SE-01
    write("ticket.md", "PMP-204 is the pump.")
    write("cpp.md", "She writes C++.")

    for query in (
        '"unclosed',
        "NEAR(",
        "AND",
        "NOT",
        "pump*",
        "^pump",
        "(pump",
        "-pump",
        "{pump}",
        "*",
        "'; DROP TABLE files",
    ):
        assert agrees(index, query)
    assert [hit.memory.path for hit in index.search("PMP-204", 5)] == ["ticket.md"]
    assert [hit.memory.path for hit in index.search("C++", 5)] == ["cpp.md"]


# --- what is not current, what is pinned, what grep finds -----------------------------------------


def test_the_current_one_is_found_behind_hundreds_that_are_not(index: Index, write: Write) -> None:
    ends = ("superseded_by: '[[new]]'", "superseded_at: 2026-01-01", "expires_at: 2020-01-01")
    for number in range(240):
        write(f"old/{number:03}.md", f"---\n{ends[number % 3]}\n---\ntea tea tea {number}\n")
    write("new.md", "---\nkind: fact\n---\nThe user likes all kinds of things, among them tea.\n")

    assert [hit.memory.path for hit in index.search("tea", 3, now=NOW)] == ["new.md"]
    assert agrees(index, "tea", 3)
    assert agrees(index, "tea", 3, past=True)
    assert agrees(index, parse("tea is:superseded", NOW), 3)


def test_the_pinned_ones_are_given_by_path_and_no_others(index: Index, write: Write) -> None:
    write("b.md", "---\npinned: true\n---\nB.\n")
    write("a.md", "---\npinned: yes\n---\nA.\n")
    write("c.md", "---\npinned: false\n---\nC.\n")
    write("d.md", "pinned: true\n")
    index.sync()
    assert [memory.path for memory in index.pinned()] == ["a.md", "b.md"]

    write("a.md", "---\npinned: no\n---\nA.\n")
    index.sync()

    assert [memory.path for memory in index.pinned()] == ["b.md"]


def test_grep_gives_the_lines_of_the_files_as_they_are(index: Index, write: Write) -> None:
    write("b.md", "\ufeffTea one\r\n\r\ntea two\r\n")
    write("a.md", "---\nquote: tea\n---\nmilk\n")

    found = [(memory.path, [line.number for line in lines]) for memory, lines in index.grep(Pattern("(?i)^tea|: tea"))]

    assert found == [("a.md", [2]), ("b.md", [1, 3])]


def test_memories_are_those_of_the_vault_by_path(index: Index, write: Write) -> None:
    for path, text in zip(PATHS, LINES, strict=False):
        write(path, text)
    index.sync()

    assert list(index.memories()) == list(index.vault.memories())


# --- it notices every change ----------------------------------------------------------------------


def test_an_edit_with_the_same_size_and_the_same_time_is_noticed(
    index: Index, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vault_mind.readers, "RACY", 0)  # else a file this young is looked at anyway
    file = write("a.md", "tea in the morning")
    index.sync()
    before = file.stat()
    time.sleep(0.05)

    file.write_text("pea in the morning")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert file.stat().st_mtime_ns == before.st_mtime_ns
    assert len(index.search("pea", 5)) == 1
    assert index.search("tea", 5) == []


def test_edits_within_one_tick_of_the_clock_are_noticed(index: Index, write: Write) -> None:
    file = write("a.md", "tea0")
    stamp = file.stat().st_mtime_ns

    for number in range(10):
        file.write_text(f"tea{number}")
        os.utime(file, ns=(stamp, stamp))
        assert len(index.search(f"tea{number}", 5)) == 1


def test_a_file_that_was_only_touched_is_not_indexed_again(index: Index, write: Write) -> None:
    file = write("a.md", "tea")
    write("b.md", "milk")
    index.sync()
    before = contents(generation(index) / "postings")

    file.write_text("tea")
    os.utime(file, (1, 1))
    index.sync()

    assert contents(generation(index) / "postings") == before
    assert agrees(index, "tea")


def test_a_vault_where_nothing_happened_is_not_read_again(
    index: Index, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vault_mind.readers, "RACY", 0)
    write("a.md", "tea")
    first = index.sync()

    second = index.sync()

    assert (first.changed, first.gone) == (1, 0)
    assert (second.changed, second.gone) == (0, 0)


@pytest.mark.parametrize("by_another", [False, True], ids=["in this process", "by another"])
def test_what_was_deleted_emptied_or_cut_while_nobody_looked_is_gone(
    index: Index, write: Write, by_another: bool
) -> None:  # WA-11
    gone, emptied = write("gone.md", "walrus"), write("emptied.md", "lynx")
    cut = write("cut.md", "# Fish\n\notter\n")
    index.sync()
    if by_another:
        index.close()
        index = Index(index.vault)

    gone.unlink()
    emptied.write_bytes(b"")
    cut.write_text("# Fish\n")

    for query in ("walrus", "lynx", "otter"):
        assert index.search(query, 5) == []
    assert agrees(index, "fish")
    assert emptied.exists()


def test_a_file_that_became_a_folder_is_gone_and_the_files_in_it_are_found(index: Index, write: Write) -> None:
    write("a.md", "tea")
    index.sync()

    (index.vault.root / "a.md").unlink()
    write("a.md/b.md", "milk")

    assert index.search("tea", 5) == []
    assert [hit.memory.path for hit in index.search("milk", 5)] == ["a.md/b.md"]


def test_a_file_that_became_a_link_is_followed_only_inside_the_vault(
    index: Index, write: Write, tmp_path: Path
) -> None:
    inside, outside = write("inside.md", "tea"), write("outside.md", "tea")
    kept = write(".hidden/kept.md", "secret walrus")
    (tmp_path / "far.md").write_text("walrus")
    index.sync()

    inside.unlink()
    inside.symlink_to(kept)
    outside.unlink()
    outside.symlink_to(tmp_path / "far.md")

    assert index.search("walrus", 5) == []
    assert index.search("tea", 5) == []
    assert {problem.path for problem in index.vault.problems()} == {"outside.md"}


def test_a_link_to_another_file_is_followed_when_that_file_changes(index: Index, write: Write) -> None:
    real = write("attic/real.txt", "tea")
    (index.vault.root / "link.md").symlink_to(real)
    assert len(index.search("tea", 5)) == 1

    real.write_text("milk")

    assert index.search("tea", 5) == []
    assert agrees(index, "milk")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes are files only on POSIX")
def test_a_file_that_became_a_pipe_is_a_problem_and_never_waited_for(index: Index, write: Write) -> None:
    file = write("a.md", "tea")
    write("b.md", "tea")
    index.sync()

    file.unlink()
    os.mkfifo(file)
    synced = index.sync()

    assert [problem.path for problem in synced.news] == ["a.md"]
    assert [hit.memory.path for hit in index.ranked("tea", 5)] == ["b.md"]


def test_a_file_that_is_too_large_is_searched_as_far_as_it_is_read(index: Index, write: Write) -> None:
    write("long.md", "walrus\n" + " " * 2_100_000 + "lynx\n")

    synced = index.sync()

    assert [problem.path for problem in synced.news] == ["long.md"]
    assert len(index.ranked("walrus", 5)) == 1
    assert index.ranked("lynx", 5) == []


def test_another_language_makes_the_index_anew(vault: Vault, write: Write) -> None:
    write("a.md", "Die Häuser und das Haus.")
    english, german = Index(vault), Index(vault, language="german")

    assert english.search("haus", 5)
    hits = german.search("Hause", 5)

    assert [hit.memory.path for hit in hits] == ["a.md"]
    assert hits[0].score == pytest.approx(rank(vault.memories(), "Hause", 5, language="german")[0].score)
    english.close()
    assert agrees(english, "haus")
    german.close()
    english.close()


def test_an_unknown_language_is_a_settings_error(vault: Vault, write: Write) -> None:
    write("a.md", "tea")

    with pytest.raises(SettingsError, match="klingon"):
        Index(vault, language="klingon").search("tea", 5)
    assert agrees(Index(vault), "tea")


# --- problems are told once -----------------------------------------------------------------------


def test_a_problem_is_told_once_and_stays_in_the_list_of_problems(vault: Vault, write: Write) -> None:
    write("broken.md", "---\na: [\n---\ntea\n")
    write("latin.md", b"caf\xe9")
    index = Index(vault)

    told = [[problem.path for problem in Index(vault).sync().news] for _ in range(3)]

    assert sorted(told[0]) == ["broken.md", "latin.md"]
    assert told[1:] == [[], []]
    assert index.sync().news == ()
    assert [problem.path for problem in vault.problems()] == ["broken.md", "latin.md"]
    assert len(index.ranked("tea", 5)) == 1


def test_a_new_problem_of_the_same_file_is_told(index: Index, write: Write) -> None:
    write("a.md", "---\na: [\n---\n")
    index.sync()

    write("a.md", b"caf\xe9")

    assert [problem.path for problem in index.sync().news] == ["a.md"]


# Once: what was told stays told for ever, also when the file was mended in between.
def test_a_problem_that_came_back_is_told_again(index: Index, write: Write) -> None:
    write("a.md", "---\na: [\n---\n")
    assert len(index.sync().news) == 1
    write("a.md", "tea")
    assert index.sync().news == ()

    write("a.md", "---\na: [\n---\n")

    assert len(index.sync().news) == 1


def test_problems_of_links_and_folders_are_told_too(index: Index, write: Write, tmp_path: Path) -> None:
    (index.vault.root / "nowhere.md").symlink_to(tmp_path / "nothing.md")
    (index.vault.root / "circle.md").symlink_to(index.vault.root / "circle.md")

    first, second = index.sync(), index.sync()

    assert sorted(problem.path for problem in first.news) == ["circle.md", "nowhere.md"]
    assert second.news == ()


# --- its files may be deleted or damaged ----------------------------------------------------------


def filled(index: Index, write: Write) -> Index:
    """An index of a few files, closed."""
    for number in range(8):
        write(f"{number}.md", f"tea number{number} " + "and milk " * (number * 20))
    write("pinned.md", "---\npinned: true\n---\ntea coffee tea")
    index.sync()
    index.close()
    return index


def is_right(index: Index) -> bool:
    """Whether everything that an index is asked for is what the vault says."""
    assert agrees(index, "tea coffee number7")
    assert list(index.memories()) == list(index.vault.memories())
    assert [memory.path for memory in index.pinned()] == ["pinned.md"]
    assert index.sync().gone == 0
    return True


def damage(file: Path, how: str, seed: int) -> None:
    """Do to `file` what a bad disk, a full one or a sync tool does."""
    data, chance = file.read_bytes(), random.Random(seed)
    at = chance.randrange(max(len(data), 1))
    if how == "gone":
        file.unlink()
    elif how == "emptied":
        file.write_bytes(b"")
    elif how == "cut":
        file.write_bytes(data[:at])
    elif how == "almost emptied":
        file.write_bytes(data[:6])
    elif how == "overwritten":
        file.write_bytes(chance.randbytes(len(data)))
    elif how == "zeroed":
        file.write_bytes(bytes(len(data)))
    else:
        file.write_bytes(data[:at] + chance.randbytes(16) + data[at + 16 :])


@pytest.mark.parametrize("kept_open", [False, True], ids=["opened after", "open all along"])
@pytest.mark.parametrize("what", ["", "postings", "files.db", "current"])
def test_an_index_that_was_deleted_is_made_anew(index: Index, write: Write, what: str, kept_open: bool) -> None:
    filled(index, write)
    if kept_open:
        index.sync()

    target = index.folder / what
    if target.is_dir():
        shutil.rmtree(target)
    else:
        target.unlink(missing_ok=True)

    assert is_right(index)


def files_of(folder: Path) -> list[str]:
    """The files of an index, in an order that does not hang on the random part of their names."""
    files = [file for file in folder.rglob("*") if file.is_file() and not file.name.endswith(".lock")]
    return [str(file.relative_to(folder)) for file in sorted(files, key=lambda file: (file.suffix, file.name))]


# Once: tantivy's panics are no Exception (pyo3_runtime.PanicException), so a postings file that was cut or scribbled
# over at the wrong place ends the program: .fast, .fieldnorm, .pos and .store cut to 6 bytes always do it.
@pytest.mark.parametrize(
    "how",
    [
        "cut",
        "almost emptied",
        "overwritten",
        "scribbled",
        *(pytest.param(how, marks=pytest.mark.storm) for how in ("gone", "emptied", "zeroed")),
    ],
)
def test_a_damaged_index_is_made_anew(index: Index, write: Write, how: str, tmp_path: Path) -> None:
    filled(index, write)

    for number, name in enumerate(files_of(index.folder)):
        folder = tmp_path / str(number)
        shutil.copytree(index.folder, folder)
        damage(folder / name, how, seed=number)
        hurt = Index(index.vault, folder=folder)
        assert is_right(hurt), name
        hurt.close()


@pytest.mark.storm
@pytest.mark.parametrize("how", ["cut", "overwritten", "scribbled"])
@pytest.mark.parametrize("seed", range(100))
def test_no_damage_is_ever_shown(index: Index, write: Write, how: str, seed: int) -> None:
    filled(index, write)

    damage(index.folder / random.Random(seed).choice(files_of(index.folder)), how, seed)

    assert is_right(index)


# Once: only `sync` and `ranked` make a damaged index anew; memories(), grep() and pinned() hand sqlite3's error on.
@pytest.mark.parametrize("ask", ["memories", "grep", "pinned"])
def test_damage_that_only_a_listing_meets_is_noticed(index: Index, write: Write, ask: str) -> None:
    write("a.md", "---\npinned: true\n---\n" + "tea and milk " * 2_000)
    index.sync()
    index.close()
    file = generation(index) / "texts"
    data = file.read_bytes()
    at = data.index(b"tea and milk tea and milk")
    file.write_bytes(data[:at] + b"\xff\xfe" * 8 + data[at + 16 :])

    index.sync()
    if ask == "memories":
        found = list(index.memories())
    elif ask == "grep":
        found = [memory for memory, _ in index.grep(Pattern("tea"))]
    else:
        found = index.pinned()

    assert found == list(index.vault.memories())


# Once: the row of totals is written in a transaction of its own; a process killed before it leaves an index that raises
# StopIteration for ever after.
@pytest.mark.parametrize("table", ["files", "pending", "told", "totals"])
def test_an_index_whose_making_was_interrupted_is_made_anew(index: Index, write: Write, table: str) -> None:
    filled(index, write)
    with sqlite3.connect(generation(index) / "files.db") as db:
        names = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        if table in names:
            db.execute(f"DELETE FROM {table}")
    db.close()

    assert is_right(index)


@pytest.mark.parametrize("version", [0, 2, 999])
def test_an_index_of_another_version_is_made_anew(index: Index, write: Write, version: int) -> None:
    filled(index, write)
    with sqlite3.connect(generation(index) / "files.db") as db:
        db.execute(f"PRAGMA user_version = {version}")
    db.close()

    assert is_right(index)


# Once: nothing ties the postings to the rows, so postings that were put back (a restored or half-synced cache folder)
# give wrong answers for ever. tantivy's number of documents beside SQLite's number of rows would show it.
def test_postings_of_another_day_are_noticed(index: Index, write: Write, tmp_path: Path) -> None:
    write("a.md", "tea")
    index.sync()
    index.close()
    shutil.copytree(generation(index) / "postings", tmp_path / "postings")
    write("b.md", "tea and milk")
    index.sync()
    index.close()

    shutil.rmtree(generation(index) / "postings")
    shutil.copytree(tmp_path / "postings", generation(index) / "postings")

    assert agrees(index, "tea")
    assert agrees(index, "milk")


# --- where it cannot be written -------------------------------------------------------------------

PRELUDE = """
import os, sys
from pathlib import Path
from vault_mind import Index, Vault, VaultMindError

home = Path(sys.argv[1])
os.environ["HOME"] = str(home)
for name in ("warm", "vault"):
    (home / name).mkdir()
    for number in range(10):
        (home / name / f"{number}.md").write_text(f"tea {number} " + "and milk " * 400)
Index(Vault(home / "warm"), folder=home / "warm-index").search("tea", 1)  # so that everything is imported
vault = Vault(home / "vault")
folder = Index(vault).folder


def as_nobody():
    if os.geteuid() == 0:  # whom no mode stops
        os.setgid(65534)
        os.setuid(65534)


def tell(found):
    print(len(found), flush=True)
    sys.exit()
"""


def in_a_process(script: str) -> subprocess.CompletedProcess[str]:
    """Run PRELUDE and `script` in a process of its own, in a home that anybody may enter."""
    with tempfile.TemporaryDirectory() as home:
        Path(home).chmod(0o755)
        command = [sys.executable, "-c", PRELUDE + textwrap.dedent(script), home]
        try:
            return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        finally:
            for folder in Path(home).rglob("*"):
                if folder.is_dir():
                    folder.chmod(0o755)


needs_modes = pytest.mark.skipif(os.name == "nt", reason="modes mean little on Windows")


@needs_modes
@pytest.mark.parametrize(
    "made",
    [
        "folder.parent.mkdir(parents=True); folder.parent.chmod(0o555)",
        "folder.parent.parent.mkdir(parents=True); folder.parent.write_text('a file in its place')",
        "home.chmod(0o555)",
    ],
    ids=["a folder that may not be written", "a file in its place", "a home that may not be written"],
)
def test_where_no_index_can_be_made_search_works_all_the_same(made: str) -> None:
    ended = in_a_process(f"{made}\nas_nobody()\ntell(Index(vault).search('tea', 20))")

    assert ended.stdout == "10\n", ended.stderr


# Once: only a folder that cannot be made falls back; one that exists and may not be written is a WriteFailedError.
@needs_modes
@pytest.mark.parametrize("state", ["empty", "built", "outdated"])
def test_where_an_index_may_not_be_changed_search_works_all_the_same(state: str) -> None:
    ended = in_a_process(f"""
        folder.mkdir(parents=True)
        if {state!r} != "empty":
            index = Index(vault)
            index.sync()
            index.close()
        if {state!r} == "outdated":
            (home / "vault" / "3.md").write_text("coffee")
        for file in (folder, *folder.rglob("*")):
            file.chmod(0o555 if file.is_dir() else 0o444)
        as_nobody()
        tell(Index(vault).search("tea", 20))
    """)

    assert ended.stdout == ("9\n" if state == "outdated" else "10\n"), ended.stderr


@needs_modes
@pytest.mark.parametrize("room", [0, 20_000])
def test_a_full_disk_is_said_so_or_does_not_matter(room: int) -> None:
    ended = in_a_process(f"""
        import resource, signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, {room}))
        try:
            tell(Index(vault).search("tea", 20))
        except VaultMindError as error:
            tell("said: " + str(error)[:0])
    """)

    assert ended.stdout in ("10\n", "6\n"), ended.stderr


@needs_modes
def test_a_file_that_may_not_be_read_costs_only_itself() -> None:
    ended = in_a_process("""
        (home / "vault" / "3.md").chmod(0)
        (home / "vault" / "shut").mkdir(mode=0)
        as_nobody()
        index = Index(vault)
        synced, again = index.sync(), index.sync()
        print(sorted(problem.path for problem in synced.news), again.news, len(vault.problems()), flush=True)
        tell(index.ranked("tea", 20))
    """)

    assert ended.stdout == "['3.md', 'shut/'] () 2\n9\n", ended.stderr


# --- other processes and threads ------------------------------------------------------------------

SEARCHING = """
import sys, time
from collections import Counter
from vault_mind import Index, Vault

vault, seconds, anew = Vault(sys.argv[1]), float(sys.argv[2]), sys.argv[3] == "anew"
seen, index = Counter(), Index(vault)
print("ready", flush=True)
sys.stdin.readline()
end = time.monotonic() + seconds
while time.monotonic() < end:
    if anew:
        index.close()
        index = Index(vault)
    try:
        found = index.search("walrus", 100)
        seen[str(sum(hit.memory.path.startswith("still") for hit in found))] += 1
    except BaseException as error:
        seen[f"{type(error).__name__}: {error}"] += 1
print(dict(seen))
"""

WRITING = """
import random, sys, time
from contextlib import suppress
from pathlib import Path

root, seconds, chance = Path(sys.argv[1]), float(sys.argv[2]), random.Random(int(sys.argv[3]))
print("ready", flush=True)
sys.stdin.readline()
end = time.monotonic() + seconds
while time.monotonic() < end:
    file = root / f"moving{chance.randrange(10)}.md"
    what = chance.randrange(4)
    if what == 0:
        file.unlink(missing_ok=True)
    elif what == 1:
        with suppress(FileNotFoundError):  # the other writer may have taken it a moment ago
            file.rename(root / f"moved{chance.randrange(10)}.md")
    else:
        file.write_text("walrus and tea " * chance.randrange(1, 60))
    time.sleep(0.01)
print({})
"""


def started(script: str, *words: str) -> subprocess.Popen[str]:
    """Start a process that waits for a line before it begins."""
    command = [sys.executable, "-c", script, *words]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    assert process.stdout.readline() == "ready\n"
    return process


def outcome(processes: Sequence[subprocess.Popen[str]], meanwhile: Callable[[], object] = lambda: None) -> Counter[str]:
    """Let all of them begin, and add up what they saw."""
    for process in processes:
        assert process.stdin
        process.stdin.write("\n")
        process.stdin.flush()
    meanwhile()
    seen: Counter[str] = Counter()
    ended = [process.communicate(timeout=100) for process in processes]  # all of them, so that none outlives the test
    for process, (said, _) in zip(processes, ended, strict=True):
        assert process.returncode == 0
        seen.update(eval(said.splitlines()[-1]))
    return seen


def of_walruses(vault: Vault) -> Vault:
    """The vault with twenty memories that nobody changes."""
    for number in range(20):
        put(vault, f"still{number}.md", f"walrus number {number}")
    return vault


def until(seconds: float, act: Callable[[], object], *, pause: float) -> None:
    """Do something over and over."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        act()
        time.sleep(pause)


@pytest.mark.parametrize("mode", ["kept", "anew"])
def test_processes_that_search_while_others_write_find_what_stays(vault: Vault, mode: str) -> None:
    root = str(of_walruses(vault).root)
    writers = [started(WRITING, root, "1", str(seed)) for seed in range(2)]
    searchers = [started(SEARCHING, root, "1", mode) for _ in range(2)]

    seen = outcome([*writers, *searchers])

    assert list(seen) == ["20"]
    assert agrees(Index(vault), "walrus tea", 100)


def test_processes_that_all_come_first_make_one_index(vault: Vault) -> None:
    of_walruses(vault)
    searchers = [started(SEARCHING, str(vault.root), "0.5", "anew") for _ in range(4)]

    seen = outcome(searchers)

    assert list(seen) == ["20"]


# Once: between `sync` and its answer another process may have dropped the files: the answer is then empty or partial,
# or a StopIteration while totals has no row yet.
def test_what_the_last_sync_found_is_answered_while_another_makes_the_index_anew(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vault_mind.sync, "BATCH", 5)
    monkeypatch.setattr(vault_mind.readers, "CHUNK", 5)
    mine, other = Index(of_walruses(vault)), Index(vault)
    mine.sync()
    seen: list[int] = []

    other.rebuild(lambda *_: seen.append(len(mine.ranked("walrus", 100))))

    assert set(seen) == {20}
    mine.close()
    other.close()


@pytest.mark.storm
@pytest.mark.parametrize("mode", ["kept", "anew"])
def test_an_index_that_is_made_anew_over_and_over_shows_nothing_of_it(vault: Vault, mode: str) -> None:
    of_walruses(vault)
    searchers = [started(SEARCHING, str(vault.root), "20", mode) for _ in range(3)]
    mine = Index(vault)

    seen = outcome(searchers, lambda: until(19, mine.rebuild, pause=0.02))

    assert list(seen) == ["20"]


# Once: the lock goes with the folder, so two make the index at once; their errors and empty answers reach the user.
@pytest.mark.parametrize("seconds", [1.0, pytest.param(20.0, marks=pytest.mark.storm)])
@pytest.mark.parametrize("mode", ["kept", "anew"])
def test_an_index_folder_that_is_deleted_over_and_over_shows_nothing_of_it(
    vault: Vault, mode: str, seconds: float
) -> None:
    folder = Index(of_walruses(vault)).folder
    searchers = [started(SEARCHING, str(vault.root), str(seconds), mode) for _ in range(3)]

    seen = outcome(searchers, lambda: until(seconds, lambda: shutil.rmtree(folder, ignore_errors=True), pause=0.1))

    assert list(seen) == ["20"]


def test_an_index_that_another_process_has_open_may_be_made_anew_and_deleted(vault: Vault) -> None:
    mine, other = Index(of_walruses(vault)), Index(vault)
    mine.sync()
    with sqlite3.connect(generation(mine) / "files.db") as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM files").fetchone()

        other.rebuild()
        assert agrees(mine, "walrus", 100)
        put(vault, "still1.md", "coffee")
        assert agrees(other, "walrus", 100)
        delete(mine)
        assert agrees(mine, "walrus coffee", 100)
        assert agrees(other, "walrus coffee", 100)
    reader.close()


def test_two_indexes_in_one_process_see_each_other_s_work(vault: Vault, write: Write) -> None:
    one, other = Index(vault), Index(vault)

    for number in range(4):
        write(f"{number}.md", f"tea number{number}")
        assert agrees(one, "tea")
        write(f"{number}.md", f"tea and milk number{number}")
        assert agrees(other, "milk")
        assert agrees(one, "milk")


def test_threads_that_share_an_index_never_see_it_half_made(vault: Vault) -> None:
    of_walruses(vault)
    index, seen, ended = Index(vault), Counter[int](), threading.Event()

    def search() -> None:
        while not ended.is_set():
            seen[len(index.search("walrus", 100))] += 1

    threads = [threading.Thread(target=search) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(20):
        index.rebuild()
    ended.set()
    for thread in threads:
        thread.join()

    assert len(seen) == 1
    index.close()


@pytest.mark.parametrize("meanwhile", ["rebuild", "rebuild by another", "sync", "close", "delete"])
def test_a_grep_that_is_being_read_goes_on_whatever_happens_meanwhile(vault: Vault, meanwhile: str) -> None:
    of_walruses(vault)
    index, other, pattern = Index(vault), Index(vault), Pattern("(?i)WALRUS")
    whole = [(memory.path, list(lines)) for memory, lines in index.grep(pattern)]

    found = index.grep(pattern)
    begun = [next(found) for _ in range(3)]
    if meanwhile == "rebuild":
        index.rebuild()
    elif meanwhile == "rebuild by another":
        other.rebuild()
        index.sync()
    elif meanwhile == "sync":
        for path in [path for path, _ in whole][::2]:
            put(vault, path, "milk\n" * 2_000)
        index.sync()
        index.sync()
    elif meanwhile == "close":
        index.close()
    else:
        delete(index)
        index.sync()

    assert [(memory.path, list(lines)) for memory, lines in (*begun, *found)] == whole
    assert len(whole) > 3
    assert len(list(index.grep(pattern))) == (len(whole) // 2 if meanwhile == "sync" else len(whole))
    index.close()
    other.close()


def test_threads_that_share_an_index_grep_the_whole_of_it_beside_rebuilds(vault: Vault) -> None:
    of_walruses(vault)
    index, seen, ended, pattern = Index(vault), Counter[str](), threading.Event(), Pattern("walrus")
    expected = str([(memory.path, list(lines)) for memory, lines in index.grep(pattern)])

    def search() -> None:
        while not ended.is_set():
            try:
                seen[str([(memory.path, list(lines)) for memory, lines in index.grep(pattern)])] += 1
            except Exception as error:
                seen[repr(error)] += 1

    threads = [threading.Thread(target=search) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(15):
        index.rebuild()
    ended.set()
    for thread in threads:
        thread.join()

    assert list(seen) == [expected]
    index.close()


@pytest.mark.parametrize("shared", [True, False], ids=["one index", "an index each"])
def test_many_threads_find_what_stays(vault: Vault, shared: bool) -> None:
    of_walruses(vault)
    index, seen, end = Index(vault), Counter[str](), time.monotonic() + 1.0

    def search() -> None:
        mine = index if shared else Index(vault)
        while time.monotonic() < end:
            try:
                found = mine.search("walrus", 100)
                seen[str(sum(hit.memory.path.startswith("still") for hit in found))] += 1
            except Exception as error:
                seen[repr(error)] += 1

    threads = [threading.Thread(target=search) for _ in range(8)]
    for thread in threads:
        thread.start()
    until(0.8, lambda: put(vault, "moving.md", f"walrus {time.monotonic()}"), pause=0.05)
    for thread in threads:
        thread.join()

    assert list(seen) == ["20"]
    assert agrees(index, "walrus", 100)


# --- a process that dies --------------------------------------------------------------------------

SYNCING = """
import random, sys
from pathlib import Path
from vault_mind import Index, Vault

vault, chance = Vault(sys.argv[1]), random.Random(int(sys.argv[2]))
index = Index(vault)
print("ready", flush=True)
sys.stdin.readline()
while True:
    if chance.randrange(4) == 0:
        index.rebuild()
    for _ in range(chance.randrange(1, 8)):
        file = vault.root / f"{chance.randrange(20)}.md"
        if chance.randrange(4) == 0:
            file.unlink(missing_ok=True)
        else:
            file.write_text("tea and milk " * chance.randrange(1, 200) + str(chance.random()))
    index.sync()
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal on Windows")
@pytest.mark.parametrize("kills", [3, pytest.param(200, marks=[pytest.mark.storm, pytest.mark.timeout(600)])])
def test_a_process_that_is_killed_while_it_syncs_leaves_an_index_that_agrees(vault: Vault, kills: int) -> None:
    for number in range(20):
        put(vault, f"{number}.md", "tea")

    for kill in range(kills):
        process = started(SYNCING, str(vault.root), str(kill))
        assert process.stdin
        process.stdin.write("\n")
        process.stdin.flush()
        time.sleep(random.Random(kill).random() * 0.3)
        process.kill()
        process.communicate()

        index = Index(vault)
        assert agrees(index, "tea milk", 30)
        assert list(index.memories()) == list(vault.memories())
        index.close()


# --- what it leaves behind ------------------------------------------------------------------------


def test_nothing_but_what_its_owner_put_there_is_ever_in_the_vault(index: Index, write: Write) -> None:
    write("notes/a.md", "tea")
    write("b.md", "---\na: [\n---\nmilk\n")
    write("picture.png", b"\x89PNG")
    before = contents(index.vault.root)

    index.search("tea", 5)
    list(index.grep(Pattern("tea")))
    index.rebuild()
    index.close()

    assert contents(index.vault.root) == before
    assert set(before) == {"notes/a.md", "b.md", "picture.png", ".vault-mind.toml"}


@needs_modes
def test_its_folder_is_its_owner_s_alone(index: Index, write: Write) -> None:
    write("a.md", "tea")
    index.sync()

    assert index.folder.stat().st_mode & 0o077 == 0
    assert not index.folder.is_relative_to(index.vault.root)
    assert index.size() > 0


def test_two_vaults_of_one_name_have_an_index_each(home: Path) -> None:
    one, other = Vault.create(home / "a" / "notes"), Vault.create(home / "b" / "notes")
    put(one, "tea.md", "tea")
    put(other, "milk.md", "milk")

    assert Index(one).folder != Index(other).folder
    assert agrees(Index(one), "tea milk")
    assert agrees(Index(other), "tea milk")


def test_no_search_uses_the_network(index: Index, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise AssertionError("a connection was tried")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    write("a.md", "tea")

    assert len(index.search("tea", 5)) == 1


def test_progress_is_told_up_to_the_end(index: Index, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vault_mind.sync, "BATCH", 4)
    monkeypatch.setattr(vault_mind.readers, "CHUNK", 4)
    for number in range(10):
        write(f"{number}.md", "tea")
    told: list[tuple[int, int]] = []

    index.sync(lambda done, of: told.append((done, of)))

    assert told == [(4, 10), (8, 10), (10, 10)]


def test_a_sync_that_was_stopped_in_the_middle_goes_on_where_it_was(
    index: Index, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vault_mind.sync, "BATCH", 4)
    monkeypatch.setattr(vault_mind.readers, "CHUNK", 4)
    for number in range(10):
        write(f"{number}.md", "tea")

    def stop(done: int, of: int) -> None:
        raise KeyboardInterrupt

    with suppress(KeyboardInterrupt):
        index.sync(stop)

    assert agrees(index, "tea", 20)


ON_A_FULL_DISK = """
mount -t tmpfs -o size=64k tmpfs "$1/cache" && head -c 60000 /dev/zero > "$1/cache/full"
shift; exec "$@"
"""


@pytest.mark.skipif(sys.platform != "linux", reason="mounts")
def test_where_the_disk_of_the_index_is_full_search_works_all_the_same(vault: Vault, tmp_path: Path) -> None:
    unshare = shutil.which("unshare")
    if not unshare or os.geteuid() or subprocess.run([unshare, "-m", "true"], check=False).returncode:
        pytest.skip("may not mount")
    (vault.root / "tea.md").write_text("Ada drinks green tea.")
    (tmp_path / "cache").mkdir()
    ours = [sys.executable, "-m", "vault_mind"]
    prepared = [
        unshare,
        "-m",
        "sh",
        "-c",
        ON_A_FULL_DISK,
        "sh",
        str(tmp_path),
        "env",
        f"XDG_CACHE_HOME={tmp_path}/cache",
    ]

    def ended(*words: str) -> subprocess.CompletedProcess[str]:
        command = [*prepared, *ours, *words, "--vault", str(vault.root)]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    found, doctor, forgotten = ended("search", "--paths", "tea"), ended("doctor"), ended("forget", "--yes", "tea")
    rebuilt = ended("rebuild")

    assert (found.stdout, found.stderr) == ("tea.md\n", "")
    assert "the index cannot be kept, so that every command makes it anew" in doctor.stdout
    assert (forgotten.returncode, "forgotten: tea.md" in forgotten.stderr) == (0, True)
    assert (rebuilt.returncode, "the index cannot be made" in rebuilt.stderr) == (2, True)


# Once: when what was made anew was deleted before it was whole, the search went on with an index that held nothing.
@pytest.mark.parametrize("failures", [1, 3])
def test_what_cannot_be_made_whole_at_once_is_not_searched_meanwhile(
    index: Index, write: Write, monkeypatch: pytest.MonkeyPatch, failures: int
) -> None:
    write("tea.md", "The user drinks tea.")
    index.sync()
    left, whole, ranked = [failures], Sync.run, Search.ranked

    def run(sync: Sync, progress: Progress | None) -> Synced:
        if left[0]:
            left[0] -= 1
            index._postings.close()
            delete(index)
            raise DamagedError("deleted in the middle")
        return whole(sync, progress)

    def ask(search: Search, *words: Any, **more: Any) -> list[Hit]:
        if left[0] == failures:
            raise DamagedError("spoilt")
        return ranked(search, *words, **more)

    monkeypatch.setattr(Sync, "run", run)
    monkeypatch.setattr(Search, "ranked", ask)

    assert [hit.memory.path for hit in index.ranked("tea", 5)] == ["tea.md"]


# --- looked for ahead of the sync ---------------------------------------------------------------------------------


@pytest.fixture
def listing_already(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """Begin to list the vault in another process, as a command does at its start."""
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    if not hasattr(os, "fork"):
        pytest.skip("no process can be forked here")
    yield lambda: listing.begin(str(vault.root))
    listing.end()


def lines_of(index: Index, pattern: Pattern) -> dict[str, list[str]]:
    """What is found, by path."""
    return {memory.path: [line.text for line in lines] for memory, lines in index.grepped(pattern)}


def test_what_was_looked_for_ahead_of_a_sync_that_finds_nothing_new_is_the_answer(
    index: Index, write: Write, listing_already: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vault_mind.readers.RACY", 0)
    write("a.md", "green tea\n")
    write("b.md", "milk\n")
    pattern = Pattern("tea")
    index.sync()
    index.sync()
    listing_already()

    ahead = index.look_ahead()
    state, found = index.state(), lines_of(index, pattern)
    index.sync()

    assert ahead
    assert found == {"a.md": ["green tea"]} == lines_of(index, pattern)
    assert index.state() == state


@pytest.mark.parametrize("what", ["changed", "new", "gone", "by another", "deleted index"])
def test_what_was_looked_for_ahead_is_no_answer_once_anything_has_changed(
    index: Index, vault: Vault, write: Write, listing_already: Callable[[], None], what: str
) -> None:
    write("a.md", "green tea\n")
    write("b.md", "milk\n")
    pattern = Pattern("tea")
    index.sync()
    assert not index.look_ahead()  # nobody lists
    listing_already()
    assert index.look_ahead()
    state = index.state()
    expected = {"a.md": ["green tea"]}

    if what == "gone":
        (vault.root / "a.md").unlink()
        expected = {}
    elif what == "deleted index":
        delete(index)
    else:
        write("a.md" if what == "changed" else "c.md", "black tea\nno tea\n")
        expected |= {"a.md" if what == "changed" else "c.md": ["black tea", "no tea"]}
    if what == "by another":
        other = Index(vault)
        other.sync()
        other.close()
    listing.end()  # the process may have looked before that; then the change counts from the next command on
    index.sync()

    assert index.state() != state
    assert lines_of(index, pattern) == expected


def test_nothing_is_looked_for_ahead_in_an_index_that_is_not_made(
    index: Index, write: Write, listing_already: Callable[[], None]
) -> None:
    write("a.md", "green tea\n")
    listing_already()

    assert not index.look_ahead()
    assert index.unmade
    assert lines_of_synced(index) == {"a.md": ["green tea"]}


def lines_of_synced(index: Index) -> dict[str, list[str]]:
    """The same after a sync."""
    index.sync()
    return lines_of(index, Pattern("tea"))


# --- what it may hold -----------------------------------------------------------------------------


def test_what_no_memory_holds_is_told_from_what_one_may_hold(index: Index, write: Write) -> None:
    write("tea.md", "Ada takes her tea black.")
    write("coffee.md", "Ben drinks coffee.")
    index.sync()

    assert index.may_hold(["tea", "black"])
    assert index.may_hold([])
    assert not index.may_hold(["tea", "coffe"])  # each of another
    assert not index.may_hold(["oolong"])


def test_an_empty_index_holds_nothing(index: Index) -> None:
    index.sync()

    assert not index.may_hold(["tea"])


def test_of_a_vault_of_several_languages_nothing_is_ruled_out(index: Index, write: Write) -> None:
    write("tee.md", "---\nlang: german\n---\nAda trinkt Tee.")
    index.sync()

    assert index.may_hold(["oolong"])


# --- held by somebody else ------------------------------------------------------------------------


HOLDING = """
import sys, filelock
with filelock.FileLock(sys.argv[1], mode=0o600):
    print(flush=True)
    sys.stdin.read()
"""


def test_an_index_that_somebody_holds_for_too_long_costs_no_answer(
    index: Index, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Once: the search ended in an error that said "Try again", for as long as the other process stood still.
    monkeypatch.setattr("vault_mind.postings.HELD", 0.2)  # half a minute otherwise
    write("a.md", "tea")
    index.sync()
    write("b.md", "tea")
    lock = index.folder.with_name(f"{index.folder.name}.lock")
    command = [sys.executable, "-c", HOLDING, str(lock)]

    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdin and holder.stdout
        holder.stdout.readline()
        found = [hit.memory.path for hit in index.search("tea", 5)]
        why = index.moved_out or ""
        with pytest.raises(BusyError), closing(Index(index.vault)) as other:
            other.rebuild()
        holder.stdin.close()

    assert found == ["a.md", "b.md"]
    assert "in use by another vault-mind process" in why
    with closing(Index(index.vault)) as after:
        assert [hit.memory.path for hit in after.search("tea", 5)] == ["a.md", "b.md"]
        assert not after.moved_out

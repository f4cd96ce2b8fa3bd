"""Search by meaning beside words, with an embedder of these tests: what is embedded when, what goes on without."""

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import NOW, THOROUGH
from tests.test_index import generation, pairs, put, scratch
from tests.test_search import FILES, QUERIES, is_explained, written
from vault_mind import Index, Vault
from vault_mind.analysis import words
from vault_mind.errors import EmbeddingError, SettingsError
from vault_mind.meaning import Meaning
from vault_mind.memory import parse
from vault_mind.query import parse as parse_query
from vault_mind.search import FEW_NEW
from vault_mind.vectors import Vectors, kept_names, key

np = pytest.importorskip("numpy")
if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

Write = Callable[[str, str | bytes], Path]
ALIKE = {"sofa": "couch", "bought": "purchase", "tea": "drink", "coffee": "drink", "automobile": "car"}
WIDTH = 64


class Bag:
    """An embedder: a text is the words in it, and some words mean the same. It can be told to fail."""

    def __init__(self, name: str = "bag") -> None:
        self.name = name
        self.fails = False
        self.embedded: list[str] = []

    def embed(self, texts: Sequence[str], *, query: bool = False) -> "NDArray[numpy.float32]":
        """As Embedder says."""
        if self.fails:
            raise EmbeddingError("the bag is torn", "Mend it")
        if any("unspeakable" in text for text in texts):
            raise EmbeddingError("a word is too much for the bag", "Leave it out", of_text=True)
        self.embedded += [] if query else texts
        rows = np.zeros((len(texts), WIDTH), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[0] = 0.1
            for word in words(text):
                meant = ALIKE.get(word.lower(), word.lower())
                row[1 + blake2b(meant.encode()).digest()[0] % (WIDTH - 1)] += 1.0
        unit: NDArray[numpy.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit

    def close(self) -> None:
        """As Embedder says."""


@pytest.fixture
def bag() -> Bag:
    """An embedder."""
    return Bag()


@pytest.fixture
def meaning(bag: Bag, tmp_path: Path) -> Meaning:
    """The meanings that it gives."""
    return Meaning(bag.name, lambda: bag, tmp_path / "vectors")


@pytest.fixture
def index(vault: Vault, meaning: Meaning) -> Iterator[Index]:
    """The index of `vault`, which searches by meaning as well."""
    made = Index(vault, meaning=meaning)
    yield made
    made.close()


@pytest.fixture
def plain(vault: Vault, tmp_path: Path) -> Iterator[Index]:
    """The same without meaning."""
    made = Index(vault, folder=tmp_path / "plain")
    yield made
    made.close()


def found(index: Index, query: str, k: int = 10) -> list[str]:
    """The paths that a search gives."""
    return [hit.memory.path for hit in index.search(query, k, now=NOW)]


def kept(meaning: Meaning, text: str, path: str = "a.md") -> bool:
    """Whether a vector of a memory with that text is on disk."""
    return meaning.missing([Meaning.text_of(parse(path, text))[0]]) == []


# --- what it finds ------------------------------------------------------------------------------------------------


def test_what_means_the_same_is_found_without_a_word_in_common(index: Index, plain: Index, write: Write) -> None:
    write("a.md", "The user bought a sofa.")
    write("b.md", "It rains in autumn.")

    assert found(plain, "couch") == []
    assert found(index, "couch")[0] == "a.md"
    assert index.waiting() == 0


def test_of_two_with_the_same_word_the_one_that_means_it_comes_first(index: Index, plain: Index, write: Write) -> None:
    write("a.md", "# Site\n\nCouch map host guest list stay price couch.")
    write("b.md", "# Room\n\nBought a couch: a sofa, sofa, sofa.")
    write("c.md", "# Weather\n\nRain.")

    assert found(plain, "couch purchase") == ["a.md", "b.md"]
    assert found(index, "couch purchase")[:2] == ["b.md", "a.md"]


def test_two_memories_with_the_same_text_are_both_found(index: Index, bag: Bag, write: Write) -> None:
    write("a.md", "# Room\n\nThe sofa.")
    write("b.md", "# Room\n\nThe sofa.")

    assert found(index, "couch") == ["a.md", "b.md"]
    assert len(bag.embedded) == 1 + bag.embedded.count("The user lives near the sea and plays the violin.")


@pytest.mark.parametrize("front", [{"superseded_by": '"[[b]]"'}, {"expires_at": "2020-01-01"}])
def test_what_is_not_current_is_not_found_by_its_meaning(index: Index, write: Write, front: dict[str, str]) -> None:
    write("a.md", written(front, "The sofa."))
    write("b.md", "It rains.")

    assert "a.md" not in found(index, "couch")
    assert "a.md" in [hit.memory.path for hit in index.search("couch", 5, past=True, now=NOW)]


def test_clauses_hold_for_what_is_found_by_its_meaning(index: Index, write: Write) -> None:
    write("a.md", written({"kind": "fact"}, "The sofa is red."))
    write("b.md", written({"kind": "preference"}, "The sofa."))

    hits = index.search(parse_query("couch kind:fact", NOW), 5, now=NOW)

    assert [hit.memory.path for hit in hits] == ["a.md"]


@settings(max_examples=15 * THOROUGH)
@given(FILES, FILES, st.lists(QUERIES, min_size=1, max_size=4), st.booleans())
def test_every_score_is_explained_whatever_has_been_embedded(
    files: dict[str, str], later: dict[str, str], queries: list[str], fails: bool
) -> None:
    with scratch() as (vault, folder):
        bag = Bag()
        index = Index(vault, folder=folder, meaning=Meaning("bag", lambda: bag, folder.with_name("vectors")))
        for path, text in files.items():
            put(vault, path, text)
        index.sync()
        index.embed()
        bag.fails = fails
        for path, text in later.items():
            put(vault, path, text)
        index.sync()

        for query in queries:
            assert is_explained(index, query, 10, past=False)
        index.close()


def test_a_memory_that_has_no_vector_yet_is_explained_by_its_words_alone(index: Index, bag: Bag, write: Write) -> None:
    write("a.md", "The sofa is red.")
    index.search("couch", 5, now=NOW)
    for number in range(FEW_NEW + 1):  # too many for a search to embed
        write(f"{number}.md", "tea")

    hits = index.search("tea red", 5, now=NOW)
    parts = {hit.memory.path: dict(one.parts) for hit, one in zip(hits, index.explained("tea red", hits), strict=True)}

    assert "meaning" in parts["a.md"]
    assert "meaning" not in parts["0.md"]
    assert is_explained(index, "tea red", 5, past=False)


# --- what goes on without it --------------------------------------------------------------------------------------


def test_an_embedder_that_fails_costs_only_the_meaning_and_says_so(
    index: Index, plain: Index, meaning: Meaning, bag: Bag, write: Write
) -> None:
    for number in range(5):
        write(f"{number}.md", "The sofa and the couch. " * (number + 1) + "tea")
    index.search("couch", 5)
    bag.fails = True
    write("new.md", "A couch.")

    assert pairs(index.search("couch tea", 5, now=NOW)) == pairs(plain.search("couch tea", 5, now=NOW))
    assert meaning.trouble == "the bag is torn. Mend it"
    assert is_explained(index, "couch tea", 5, past=False)
    assert index.waiting() == 1


# Once: what a search could not do stayed said for as long as nothing new was written.
def test_an_embedder_that_is_well_again_is_used_again(
    index: Index, plain: Index, meaning: Meaning, bag: Bag, write: Write
) -> None:
    write("a.md", "The sofa.")
    write("b.md", "Rain.")
    index.embed()
    bag.fails = True
    assert found(index, "couch") == []
    assert meaning.trouble

    bag.fails = False

    assert found(index, "couch")[0] == "a.md"
    assert meaning.trouble is None
    assert is_explained(index, "couch", 5, past=False)


def test_an_embedder_that_cannot_be_opened_costs_only_the_meaning(vault: Vault, write: Write, tmp_path: Path) -> None:
    def no_such_model() -> Bag:
        raise SettingsError("embedding_model", "no such model", "settings")

    meaning = Meaning("nothing", no_such_model, tmp_path / "vectors")
    index = Index(vault, meaning=meaning)
    write("a.md", "tea")

    assert found(index, "tea") == ["a.md"]
    assert meaning.trouble
    assert "no such model" in meaning.trouble
    with pytest.raises(SettingsError):
        index.embed()
    index.close()


def test_embedding_on_purpose_says_why_it_fails_and_keeps_what_was_made(index: Index, bag: Bag, write: Write) -> None:
    for number in range(3):
        write(f"{number}.md", f"tea {number}")
    index.embed()
    write("a.md", "milk")
    bag.fails = True

    with pytest.raises(EmbeddingError, match="torn"):
        index.embed()

    assert index.waiting() == 1
    bag.fails = False
    assert index.embed() == 1


def test_without_numpy_search_by_words_is_whole(vault: Vault, write: Write, tmp_path: Path) -> None:
    write("a.md", "tea")
    script = (
        "import sys; sys.modules['numpy'] = None\n"
        "import vault_mind.meaning, vault_mind.vectors, vault_mind.embedding\n"
        "from vault_mind import Index, Vault\n"
        "print(len(Index(Vault(sys.argv[1])).search('tea', 5)))"
    )

    ended = subprocess.run(
        [sys.executable, "-c", script, str(vault.root)], capture_output=True, text=True, timeout=60, check=False
    )

    assert ended.stdout == "1\n", ended.stderr


# --- what is embedded when ----------------------------------------------------------------------------------------


def test_few_new_memories_are_embedded_by_the_next_search_and_more_wait(index: Index, bag: Bag, write: Write) -> None:
    for number in range(FEW_NEW):
        write(f"{number}.md", f"number {number}")
    index.search("tea", 5)
    assert index.waiting() == 0

    for number in range(FEW_NEW + 1):
        write(f"more{number}.md", f"another number {number}")
    index.search("tea", 5)

    assert index.waiting() == FEW_NEW + 1
    assert index.embed() == FEW_NEW + 1
    assert index.waiting() == 0
    assert index.embed() == 0


def test_embedding_tells_how_far_it_is_and_can_be_stopped(index: Index, write: Write) -> None:
    for number in range(150):
        write(f"{number}.md", f"number {number}")
    stop, told = threading.Event(), list[tuple[int, int]]()

    def progress(done: int, of: int) -> None:
        told.append((done, of))
        stop.set()

    made = index.embed(progress, stop)

    assert told == [(made, 150)]
    assert 0 < made < 150
    assert index.waiting() == 150 - made
    assert index.embed() == 150 - made


def test_an_edit_a_renaming_and_a_deletion_are_followed(index: Index, bag: Bag, meaning: Meaning, write: Write) -> None:
    file = write("a.md", "# Room\n\nThe sofa.")
    write("b.md", "# Weather\n\nRain.")
    assert found(index, "couch")[0] == "a.md"
    before = len(bag.embedded)

    file.rename(file.with_name("c.md"))
    assert found(index, "couch")[0] == "c.md"
    assert len(bag.embedded) == before  # the text is the same

    write("c.md", "# Room\n\nAn automobile.")
    assert found(index, "car")[0] == "c.md"
    assert found(index, "couch rain")[0] == "b.md"

    file.with_name("c.md").unlink()
    assert "c.md" not in found(index, "car")
    index.embed()
    assert not kept(meaning, "# Room\n\nAn automobile.")
    assert not kept(meaning, "# Room\n\nThe sofa.")
    assert len(meaning.vectors) == 1


# Once: one text that the model would not take kept the vectors of whatever was deleted on disk for ever.
@pytest.mark.parametrize("text", ["Rain.", "An unspeakable word."], ids=["all embedded", "one that cannot be"])
def test_the_vector_of_a_forgotten_memory_leaves_the_disk(
    index: Index, meaning: Meaning, vault: Vault, write: Write, text: str
) -> None:
    write("a.md", "# Secret\n\nThe sofa.")
    write("b.md", text)
    index.embed()
    assert kept(meaning, "# Secret\n\nThe sofa.")
    data = meaning.vectors.path.read_bytes()
    secret = Meaning.text_of(vault.read("a.md"))[0]
    assert secret in data

    vault.forget(vault.read("a.md"))
    index.embed()

    assert secret not in meaning.vectors.path.read_bytes()
    assert found(index, "couch") in ([], ["b.md"])


def test_a_text_that_cannot_be_embedded_is_found_by_its_words(index: Index, write: Write) -> None:
    write("a.md", "An unspeakable sofa.")
    write("b.md", "A couch.")

    assert index.embed() == 1
    assert index.waiting() == 1
    assert "a.md" in found(index, "sofa")


def test_another_model_makes_its_own_vectors_and_the_old_ones_leave_the_disk(
    index: Index, vault: Vault, write: Write, meaning: Meaning, tmp_path: Path
) -> None:
    write("a.md", "The sofa.")
    index.embed()
    other = Bag("sack")
    again = Index(vault, meaning=Meaning("sack", lambda: other, tmp_path / "vectors"))

    again.sync()
    assert again.waiting() == 1
    assert again.embed() == 1

    assert kept_names(tmp_path / "vectors") == ["sack"]
    assert found(again, "couch") == ["a.md"]
    again.close()


def test_to_forget_reaches_the_vectors_of_every_model(meaning: Meaning, tmp_path: Path) -> None:
    other = Meaning("sack", lambda: Bag("sack"), tmp_path / "vectors")
    for each in (meaning, other):
        each.embed({key("tea"): "tea", key("milk"): "milk"})

    meaning.forget([key("tea")])

    for name in ("bag", "sack"):
        assert Vectors(tmp_path / "vectors", name).missing([key("tea"), key("milk")]) == [key("milk")]


def test_vectors_that_were_deleted_are_made_again(index: Index, meaning: Meaning, write: Write) -> None:
    write("a.md", "The sofa.")
    index.embed()

    meaning.vectors.path.unlink()

    assert index.waiting() == 1
    assert index.embed() == 1
    assert found(index, "couch") == ["a.md"]


def test_an_index_made_anew_needs_no_vector_made_anew(index: Index, bag: Bag, write: Write) -> None:
    for number in range(5):
        write(f"{number}.md", f"number {number}")
    index.embed()
    before = len(bag.embedded)

    index.rebuild()
    index.embed()

    assert len(bag.embedded) == before
    assert index.waiting() == 0


# Once: only a search made a damaged index anew; embedding handed the error on.
@pytest.mark.parametrize("ask", ["embed", "waiting"])
def test_damage_that_only_embedding_meets_is_noticed(index: Index, meaning: Meaning, write: Write, ask: str) -> None:
    write("a.md", "tea and milk " * 200)
    index.sync()
    index.close()
    if ask == "embed":
        file = generation(index) / "texts"
        file.write_bytes(file.read_bytes().replace(b"tea", b"\xff\xff\xff"))
        assert index.embed() == 1
    else:
        file = generation(index) / "files.db"
        index.sync()
        index.close()
        file.write_bytes(b"\0" * 4096 + file.read_bytes()[4096:])

    assert index.waiting() in (0, 1)
    assert found(index, "tea") == ["a.md"]


# Once: a memory that another process changed while it was embedded kept the meaning of its old text.
def test_the_meaning_of_a_text_that_is_gone_is_not_noted(index: Index, vault: Vault, bag: Bag, write: Write) -> None:
    write("a.md", "The sofa.")
    write("gone.md", "The couch.")
    index.sync()
    fetch = bag.embed

    def slowly(texts: Sequence[str], *, query: bool = False) -> "NDArray[numpy.float32]":
        made = fetch(texts, query=query)
        if any("sofa" in text for text in texts):
            write("a.md", "An automobile.")
            (vault.root / "gone.md").unlink(missing_ok=True)
            other = Index(vault)
            other.sync()
            other.close()
        return made

    bag.embed = slowly  # type: ignore[method-assign]  # an embedder that takes its time
    index.ranked("anything", 5)
    bag.embed = fetch  # type: ignore[method-assign]

    assert found(index, "car")[0] == "a.md"
    assert index.waiting() == 0
    index.embed()
    assert len(index.meaning.vectors if index.meaning else ()) == 1


def test_two_processes_that_embed_at_once_lose_nothing(vault: Vault, write: Write, tmp_path: Path) -> None:
    for number in range(100):
        write(f"{number}.md", f"number {number} " + "sofa " * (number % 3))
    indexes = [Index(vault, meaning=Meaning("bag", Bag, tmp_path / "vectors")) for _ in range(3)]
    seen: list[object] = []

    def embed(index: Index) -> None:
        try:
            seen.append(index.embed())
        except Exception as error:
            seen.append(error)

    threads = [threading.Thread(target=embed, args=(index,)) for index in indexes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [made for made in seen if not isinstance(made, int)] == []
    assert [index.waiting() for index in indexes] == [0, 0, 0]
    for index in indexes:
        index.close()

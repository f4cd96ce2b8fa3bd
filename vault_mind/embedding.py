"""The seam to an embedder: vectors of texts, from a model on this machine or a server; and the blend with words.

Nothing is downloaded unless it is asked for, and without an embedder search goes on by words alone.
"""

import json
import logging
import os
import re
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from vault_mind.config import EMBEDDING_KEY
from vault_mind.errors import EmbeddingError, SettingsError
from vault_mind.vectors import PROBE, Vectors

if TYPE_CHECKING:
    import httpx2
    import numpy as np
    from numpy.typing import NDArray

NONE = "none"  # the setting's value for search by words alone
PROVIDERS = "fastembed:MODEL, sentence-transformers:MODEL, voyage:MODEL, openai:MODEL or http://HOST/v1#MODEL"
SERVERS = {  # the address, the variable that names another, the variable that holds the key
    "openai": ("https://api.openai.com/v1", "OPENAI_BASE_URL", "OPENAI_API_KEY"),
    "voyage": ("https://api.voyageai.com/v1", "VOYAGE_BASE_URL", "VOYAGE_API_KEY"),
}
PROBE_TEXT = "The user lives near the sea and plays the violin."
ALIKE = 0.98  # cosine of two embeddings of one text; int8 models and servers vary a little, another model far more
BATCH = 64  # texts between two looks at `stop`, and in one request
LONGEST = 8_000  # characters of a text that are embedded; few models look further than 2,000
SHORTEST = 500  # a text that is refused is halved down to this
LARGEST = 32 * 1024 * 1024  # bytes of an answer; 64 vectors of 4,096 numbers are 6 MB
QUERY_SECONDS = 5.0  # a search does not wait longer for its meaning
BATCH_SECONDS = 60.0
TRIES = 4  # for a batch; a query is tried once, since search can do without
LONGEST_WAIT = 60.0  # seconds between two tries, whatever the server asks for
OTHER = "Try another embedding model"
FETCH = "Fetch it once with: vault-mind embed --download"
# What the cards of these models ask to be put before a query and before a text.
INSTRUCTIONS = (
    (re.compile(r"nomic-embed-text", re.IGNORECASE), "search_query: ", "search_document: "),
    (re.compile(r"\be5-(small|base|large)", re.IGNORECASE), "query: ", "passage: "),
    (
        re.compile(r"mxbai-embed-large|snowflake-arctic-embed|bge-(small|base|large)-en", re.IGNORECASE),
        "Represent this sentence for searching relevant passages: ",
        "",
    ),
)
_TOO_LONG = re.compile(r"too (long|large|many)|context|exceed|maximum|batch size", re.IGNORECASE)

log = logging.getLogger(__name__)

Key = TypeVar("Key")
Progress = Callable[[int, int], None]
Encode = Callable[[Sequence[str], bool], Iterable[Any]]


class Embedder(Protocol):
    """What makes vectors of texts. `name` is the setting that opens it, and the key of the vectors kept."""

    name: str

    def embed(self, texts: Sequence[str], *, query: bool = False) -> "NDArray[np.float32]":
        """One row of unit length for each text; `query`: they are questions. Raises EmbeddingError."""
        ...

    def close(self) -> None:
        """Let go of the model or the connection; the next `embed` takes them up again."""
        ...


def open_embedder(
    setting: str, environment: Mapping[str, str], *, models: Path, download: bool = False
) -> Embedder | None:
    """The embedder that `setting` names, None for "none"; its model is loaded by the first `embed`.

    `models` is the folder where downloaded models are kept; only with `download` may one be
    fetched. Raises SettingsError for a setting that makes no sense or lacks its key.
    """
    if setting == NONE:
        return None
    if setting.startswith(("http://", "https://")):
        url, _, model = setting.partition("#")
        return _server("openai", model, url, _secret(environment, EMBEDDING_KEY), setting)
    provider, _, model = setting.partition(":")
    if provider in SERVERS:
        url, where, secret = SERVERS[provider]
        own = environment.get(where, "").strip().strip("\"'")
        key = _secret(environment, secret)
        if not key and not own:
            raise SettingsError("embedding_model", f"{provider} needs a key; set {secret}", "environment")
        return _server(provider, model, own or url, key, setting)
    loaders = {"fastembed": _fastembed, "sentence-transformers": _sentence_transformers}
    if provider not in loaders or not model.strip():
        raise SettingsError("embedding_model", f"{setting!r} is none of {PROVIDERS}, or {NONE}", "settings")
    return Local(setting, lambda: loaders[provider](model, models, download))


def embed_missing(
    vectors: Vectors,
    embedder: Embedder,
    texts: Mapping[bytes, str],
    progress: Progress | None = None,
    stop: threading.Event | None = None,
) -> int:
    """Make the vectors that `vectors` lacks of `texts`, shortest first; how many were made.

    Between batches `progress(done, of)` is called and `stop` is looked at; what was made stays. A
    text that the model cannot take is left out. Raises EmbeddingError when the embedder fails.
    """
    if not vectors.missing(texts):
        return 0
    _drop_if_changed(vectors, embedder)
    missing = sorted(vectors.missing(texts), key=lambda one: (len(texts[one]), one))
    made = 0
    for start in range(0, len(missing), BATCH):
        if stop is not None and stop.is_set():
            break
        part = missing[start : start + BATCH]
        made += _keep(vectors, part, _halved(embedder, [texts[one] for one in part]))
        if progress:
            progress(start + len(part), len(missing))
    return made


class Local:
    """A model that runs in this process; it is loaded when first needed, once for all threads."""

    def __init__(self, name: str, load: Callable[[], Encode]) -> None:
        self.name = name
        self._load = load
        self._encode: Encode | None = None
        self._alone = threading.Lock()

    def embed(self, texts: Sequence[str], *, query: bool = False) -> "NDArray[np.float32]":
        """As Embedder says."""
        try:
            rows = list(self._loaded()([_sendable(text) for text in texts], query)) if texts else []
        except EmbeddingError:
            raise
        except Exception as error:  # promise 8: whatever a model or its library does, search goes on by words
            log.debug("the embedding model failed", exc_info=error)
            raise EmbeddingError(f"the embedding model {self.name} failed: {_first_line(error)}", OTHER) from error
        return unit(rows, len(texts), self.name)

    def close(self) -> None:
        """As Embedder says."""
        with self._alone:
            self._encode = None

    def _loaded(self) -> Encode:
        with self._alone:
            if self._encode is None:
                self._encode = self._load()
            return self._encode


@dataclass
class Server:
    """An `/embeddings` endpoint as OpenAI has it, or Voyage's, which differs in two words."""

    name: str
    url: str
    model: str
    dimensions: int | None = None
    key: str = field(default="", repr=False)
    voyage: bool = False
    wait: Callable[[float], None] = field(default=time.sleep, repr=False)
    _client: "httpx2.Client | None" = field(default=None, init=False, repr=False)
    _guard: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> "NDArray[np.float32]":
        """As Embedder says; in requests of a batch each. A query is tried once and not for long."""
        instructed = _instructed(self.model, [_sendable(text) for text in texts], query=query)
        rows: list[Any] = []
        for start in range(0, len(instructed), BATCH):
            part = instructed[start : start + BATCH]
            rows += _listed(self._asked(part, query=query), len(part), self.url)
        matrix = unit(rows, len(texts), self.url)
        if self.dimensions and len(texts) and matrix.shape[1] != self.dimensions:
            why = f"{self.url} gave vectors of {matrix.shape[1]} numbers where {self.dimensions} were asked for"
            raise EmbeddingError(why, f"Leave off the @{self.dimensions}")
        return matrix

    def close(self) -> None:
        """As Embedder says."""
        with self._guard:
            if self._client is not None:
                self._client.close()
            self._client = None

    def _asked(self, texts: Sequence[str], *, query: bool) -> bytes:
        """The body of a good answer; a batch is tried again while the server is busy or stumbles."""
        tries = 1 if query else TRIES
        for tried in range(tries):
            status, after, answer = self._posted(texts, query=query)
            if status == 200:
                return answer
            said = self._said(answer)
            again = (status == 429 or status >= 500) and not _TOO_LONG.search(said)
            if not again or tried == tries - 1:
                break
            self.wait(_pause(after, tried))
        raise self._refusal(status, said)

    def _posted(self, texts: Sequence[str], *, query: bool) -> tuple[int, str, bytes]:
        """Status, Retry-After and body of one request."""
        import httpx2  # late: it takes as long as numpy

        seconds = QUERY_SECONDS if query else BATCH_SECONDS
        headers = {"authorization": f"Bearer {self.key}"} if self.key else {}
        body = self._body(texts, query=query)
        try:
            with self._connected().stream(
                "POST", f"{self.url}/embeddings", json=body, headers=headers, timeout=seconds
            ) as response:
                answer = self._read(response.iter_bytes(), seconds)
                return response.status_code, response.headers.get("retry-after", ""), answer
        except httpx2.TimeoutException as error:
            raise self._late(seconds) from error
        except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError) as error:
            raise EmbeddingError(f"{self.url} cannot be reached: {self._masked(error)}", self._advice) from error

    def _connected(self) -> "httpx2.Client":
        import httpx2

        with self._guard:
            if self._client is None:
                self._client = httpx2.Client(follow_redirects=False)  # a key goes nowhere else
            return self._client

    def _read(self, pieces: Iterable[bytes], seconds: float) -> bytes:
        """The body, within bounds of size and time, however slowly it drips."""
        until = time.monotonic() + seconds
        body = bytearray()
        for piece in pieces:
            body += piece
            if len(body) > LARGEST:
                raise EmbeddingError(f"{self.url} gave an answer of more than {LARGEST} bytes", OTHER)
            if time.monotonic() > until:
                raise self._late(seconds)
        return bytes(body)

    def _late(self, seconds: float) -> EmbeddingError:
        return EmbeddingError(f"{self.url} did not answer in {seconds:.0f} s", self._advice)

    @property
    def _advice(self) -> str:
        return "Check that it runs and that the network is up"

    def _body(self, texts: Sequence[str], *, query: bool) -> dict[str, object]:
        body: dict[str, object] = {"model": self.model, "input": list(texts)}
        if self.voyage:
            body["input_type"] = "query" if query else "document"
        if self.dimensions:
            body["output_dimension" if self.voyage else "dimensions"] = self.dimensions
        return body

    def _said(self, answer: bytes) -> str:
        """What the server gives as its reason, in one line."""
        text = answer[:10_000].decode("utf-8", "replace")
        try:
            said = json.loads(text)
            said = said.get("error") or said.get("detail") or said
            text = said["message"] if isinstance(said, dict) and isinstance(said.get("message"), str) else str(said)
        except (ValueError, AttributeError, RecursionError):
            pass  # no JSON, or another one: then as it stands
        return self._masked(text)

    def _masked(self, said: object) -> str:
        """`said` in one line, without the key, which some proxies quote."""
        line = _first_line(said)
        return line.replace(self.key, "…") if self.key else line

    def _refusal(self, status: int, said: str) -> EmbeddingError:
        known = {
            401: ("rejected the API key", "Check the key in the environment"),
            403: ("does not let this API key do that", "Check the key in the environment"),
            404: (f"has no embedding model {self.model!r}", "Check embedding_model, and that the address ends in /v1"),
            429: ("has had too many requests", "Wait a moment and try again"),
        }
        if 300 <= status < 400:
            return EmbeddingError(f"{self.url} sends elsewhere", "Set embedding_model to the real address")
        if status in known:
            why, advice = known[status]
            return EmbeddingError(f"{self.url} {why}", advice)
        of_text = status == 413 or bool(_TOO_LONG.search(said))
        return EmbeddingError(f"{self.url} failed ({status}): {said}", self._advice, of_text=of_text)


def need_numpy() -> None:
    """Raise EmbeddingError, which says what to install, when there is no numpy: no vector can be made or compared."""
    try:
        import numpy  # noqa: F401  # late: it takes a fifth of a second
    except ImportError as error:
        raise _not_installed("numpy", "semantic-server") from error


def unit(rows: Sequence[Any], count: int, who: str) -> "NDArray[np.float32]":
    """`rows` as float32 of unit length. Raises EmbeddingError unless they are `count` vectors of sound numbers."""
    need_numpy()
    import numpy as np  # late, as above

    if not count:
        return np.zeros((0, 0), dtype=np.float32)
    try:
        with np.errstate(all="ignore"):  # what overflows is found just below
            matrix = np.asarray(rows, dtype=np.float32)
            lengths = np.linalg.norm(matrix, axis=-1, keepdims=True)
    except (TypeError, ValueError, OverflowError) as error:
        raise EmbeddingError(f"{who} gave vectors that make no sense", OTHER) from error
    if matrix.ndim != 2 or len(matrix) != count or not matrix.shape[1]:
        raise EmbeddingError(f"{who} gave no vector for each text", OTHER)
    if not (np.isfinite(lengths).all() and (lengths > 0).all()):
        why = f"{who} gave a vector that holds no sound numbers"
        raise EmbeddingError(why, OTHER, of_text=True)
    return np.asarray(matrix / lengths, dtype=np.float32)


def _server(provider: str, model: str, url: str, key: str, setting: str) -> Server:
    model, at, digits = model.rpartition("@") if re.search(r"@\d+$", model) else (model, "", "")
    url = url.rstrip("/")
    if not model.strip():
        raise SettingsError("embedding_model", f"{setting!r} names no model; known are {PROVIDERS}", "settings")
    if not url.startswith(("http://", "https://")):
        raise SettingsError("embedding_model", f"{url!r} does not begin with http:// or https://", "environment")
    if "@" in url or "?" in url:
        raise SettingsError("embedding_model", f"an address holds no key; put it into {EMBEDDING_KEY}", "settings")
    return Server(setting, url, model, int(digits) if at else None, key, voyage=provider == "voyage")


def _secret(environment: Mapping[str, str], name: str) -> str:
    secret = environment.get(name, "").strip().strip("\"'").strip()
    if not (secret.isascii() and secret.isprintable()) or " " in secret:
        raise SettingsError(name, "malformed key, it holds a blank or a character that no key has", "environment")
    return secret


def _drop_if_changed(vectors: Vectors, embedder: Embedder) -> None:
    """Throw the vectors away when the model behind the name now sees the same text otherwise."""
    now = embedder.embed([PROBE_TEXT])
    then = vectors.vector(PROBE)
    if then is not None and not _alike(then, now[0]):
        now = embedder.embed([PROBE_TEXT])  # one strange answer is no reason to throw everything away
    if then is not None and not _alike(then, now[0]):
        log.info("the model behind %s has changed; embedding anew", embedder.name)
        vectors.clear()
        then = None
    if then is None:
        if len(vectors):  # their probe was lost, so nobody knows whose they are
            vectors.clear()
        vectors.add([PROBE], now)


def _alike(one: "NDArray[np.float32]", other: "NDArray[np.float32]") -> bool:
    return one.shape == other.shape and float(one @ other) >= ALIKE


def _keep(vectors: Vectors, hashes: Sequence[bytes], rows: Sequence[Any]) -> int:
    import numpy as np

    good = {one: row for one, row in zip(hashes, rows, strict=True) if row is not None}
    if good:
        vectors.add(list(good), np.stack(list(good.values())))
    return len(good)


def _halved(embedder: Embedder, texts: Sequence[str]) -> list[Any]:
    """A vector for each text; what is refused is halved, down to one short text, which gets None."""
    try:
        return list(embedder.embed(texts))
    except EmbeddingError as error:
        if not error.of_text:
            raise
        middle = len(texts) // 2
        if middle:
            return _halved(embedder, texts[:middle]) + _halved(embedder, texts[middle:])
        if len(texts[0]) > SHORTEST:
            return _halved(embedder, [texts[0][: min(len(texts[0]), LONGEST) // 2]])
        log.info("a text of %d characters has no vector: %s", len(texts[0]), error)
        return [None]


def _listed(answer: bytes, count: int, url: str) -> list[Any]:
    """The vectors in the answer to `count` texts, in the order of the texts."""
    try:
        data = json.loads(answer)["data"]
        vectors = {item.get("index", place): item["embedding"] for place, item in enumerate(data)}
        if len(data) == count:
            return [vectors[place] for place in range(count)]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise EmbeddingError(f"{url} gave no embeddings", "Check that the address is one of embeddings") from error
    raise EmbeddingError(f"{url} gave {len(data)} vectors for {count} texts", OTHER)


def _pause(after: str, tried: int) -> float:
    """Seconds until the next try: what the server asks for, within bounds, or 1, 2, 4."""
    try:
        return min(max(float(after), 0.0), LONGEST_WAIT)
    except ValueError:  # none, or a date
        return float(2**tried)


def _instructed(model: str, texts: Sequence[str], *, query: bool) -> list[str]:
    """The texts as the model wants them said."""
    for pattern, before_query, before_text in INSTRUCTIONS:
        if pattern.search(model):
            return [(before_query if query else before_text) + text for text in texts]
    return list(texts)


def _sendable(text: str) -> str:
    """The beginning of `text` as any model takes it: valid Unicode, and never empty."""
    return text[:LONGEST].encode("utf-8", "replace").decode("utf-8").strip() or "(empty)"


def _first_line(said: object) -> str:
    line = " ".join(str(said).split()).rstrip(".")
    return line if len(line) <= 200 else line[:199] + "…"


def _not_installed(package: str, extra: str) -> EmbeddingError:
    return EmbeddingError(f"{package} is not installed", f"Install it with: pip install 'vault-mind[{extra}]'")


def _quiet() -> None:
    """No telemetry, no progress bars of others; what the user set already stays."""
    for name in ("HF_HUB_DISABLE_TELEMETRY", "DO_NOT_TRACK", "HF_HUB_DISABLE_PROGRESS_BARS"):
        os.environ.setdefault(name, "1")
    warnings.filterwarnings("ignore", message="Cannot enable progress bars")  # fastembed tries to


def _folder(model: str) -> Path | None:
    """The folder that `model` names by its whole path; None when it is a name.

    A folder that merely lies where one stands may come with somebody else's vault.
    """
    folder = Path(model).expanduser() if model.startswith("~/") else Path(model)
    if folder.is_absolute() and not folder.is_dir():
        raise EmbeddingError(f"there is no folder {folder}", "Check embedding_model")
    if not folder.is_absolute() and folder.exists():
        raise EmbeddingError(f"{model} is a model's name and a folder here", "Write the folder's whole path")
    return folder if folder.is_absolute() else None


def _fastembed(model: str, models: Path, download: bool) -> Encode:
    """A model by fastembed: one that it knows by name, or a folder with an ONNX model and its tokenizer."""
    _quiet()
    try:
        import fastembed  # late: it brings onnxruntime, and takes seconds
        import loguru
    except ImportError as error:
        raise _not_installed("fastembed", "semantic") from error
    loguru.logger.disable("fastembed")  # it writes on stderr; what matters comes as an exception
    folder = _folder(model)
    known = [str(one["model"]).lower() for one in fastembed.TextEmbedding.list_supported_models()]
    if not folder and model.lower() not in known:
        raise EmbeddingError(f"fastembed knows no model {model!r}", "Name another, or the whole path of a folder")
    name = _registered(folder) if folder else model
    options: dict[str, Any] = {"specific_model_path": str(folder)} if folder else {}
    try:
        loaded = fastembed.TextEmbedding(
            name, cache_dir=str(models), local_files_only=not download, lazy_load=False, **options
        )
    except Exception as error:  # it raises all kinds, with what the hub and onnxruntime raise
        raise _not_loaded(model, error, fetched=bool(folder) or download) from error

    def encode(texts: Sequence[str], query: bool) -> Iterable[Any]:
        instructed = _instructed(model, texts, query=query)
        return list(loaded.query_embed(instructed) if query else loaded.passage_embed(instructed, batch_size=BATCH))

    return encode


def _registered(folder: Path) -> str:
    """The name by which fastembed now knows the model in `folder`."""
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    name = f"folder {folder}"
    files = (
        "model.onnx",
        "onnx/model.onnx",
        "model_optimized.onnx",
        "model_quantized.onnx",
        "onnx/model_quantized.onnx",
    )
    found = [file for file in files if (folder / file).is_file()]
    if not found:
        raise EmbeddingError(f"{folder} holds no {files[0]}", "Name a folder with an ONNX model and its tokenizer")
    if name.lower() not in [str(one["model"]).lower() for one in TextEmbedding.list_supported_models()]:
        first = _json(folder / "1_Pooling" / "config.json").get("pooling_mode_cls_token")
        TextEmbedding.add_custom_model(
            name,
            pooling=PoolingType.CLS if first else PoolingType.MEAN,
            normalization=True,
            sources=ModelSource(hf=name),
            dim=int(_json(folder / "config.json").get("hidden_size", 0)),
            model_file=found[0],
        )
    return name


def _json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _sentence_transformers(model: str, models: Path, download: bool) -> Encode:
    """A model by sentence-transformers: a name or a folder. It wants PyTorch."""
    _quiet()
    try:
        from sentence_transformers import SentenceTransformer  # late: it brings PyTorch, and takes many seconds
    except ImportError as error:
        raise _not_installed("sentence-transformers", "semantic-torch") from error
    logging.getLogger("sentence_transformers").setLevel(logging.ERROR)  # its advice to programmers
    folder = _folder(model)
    alone = threading.Lock()  # its tokenizer is not made for two threads at once
    try:
        loaded = SentenceTransformer(str(folder or model), cache_folder=str(models), local_files_only=not download)
    except Exception as error:  # it raises all kinds, with what the hub and PyTorch raise
        raise _not_loaded(model, error, fetched=bool(folder) or download) from error

    def encode(texts: Sequence[str], query: bool) -> Iterable[Any]:
        encoder = loaded.encode_query if query else loaded.encode_document  # each with the model's own instruction
        with alone:
            return list(encoder(list(texts), batch_size=BATCH, show_progress_bar=False, convert_to_numpy=True))

    return encode


def _not_loaded(model: str, error: Exception, *, fetched: bool) -> EmbeddingError:
    log.debug("the embedding model cannot be loaded", exc_info=error)
    if fetched:
        why = f"the embedding model {model} cannot be loaded: {_first_line(error)}"
        return EmbeddingError(why, "Check the network, or name another")
    return EmbeddingError(f"the embedding model {model} is not on this machine", FETCH)

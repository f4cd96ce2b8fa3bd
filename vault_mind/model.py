"""The seam to a mind: stream a reply, or give one JSON value. Claude stands behind it here."""

import json
import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from vault_mind.config import Endpoint
from vault_mind.decisions import Case
from vault_mind.errors import ModelError
from vault_mind.ranking import Hit

if TYPE_CHECKING:
    import anthropic

log = logging.getLogger(__name__)

Schema = Mapping[str, object]


@dataclass(frozen=True)
class Message:
    """One message as it is sent: `role` is user or assistant."""

    role: str
    text: str


@dataclass(frozen=True)
class Request:
    """What a mind is asked: the words to send, and the facts that they were made from."""

    system: str
    messages: tuple[Message, ...]
    said: str
    recalled: tuple[Hit, ...] = ()
    nearest: tuple[Hit, ...] = ()  # what comes nearest, where nothing fits
    cases: tuple[Case, ...] = ()  # what is to be decided, for a mind that decides by rules


class ModelClient(Protocol):
    """A mind. Claude is one, the offline mind another, a scripted one serves the tests."""

    name: str

    def reply(self, request: Request) -> Iterator[str]:
        """The reply, piece by piece. Raises ModelError, perhaps after some pieces."""
        ...

    def value(self, request: Request, schema: Schema) -> object:
        """One JSON value that was asked to fit `schema`; it is for the caller to check that it does."""
        ...


class Claude:
    """Claude, or any server that speaks the Messages API, through the anthropic SDK."""

    name = "claude"

    def __init__(
        self, endpoint: Endpoint, *, model: str, extraction_model: str, max_tokens: int, extraction_max_tokens: int
    ) -> None:
        self._endpoint = endpoint
        self._model, self._extraction_model = model, extraction_model
        self._max_tokens, self._extraction_max_tokens = max_tokens, extraction_max_tokens
        self._refused: set[str] = set()  # optional parts of a request that this server will not have
        self._connected: anthropic.Anthropic | None = None

    def reply(self, request: Request) -> Iterator[str]:
        """Stream the answer, with adaptive thinking. Only what is complete ends without an error."""
        options = {"thinking": {"type": "adaptive"}}
        begun, ended = False, None
        while not ended:
            try:
                with self._client().messages.stream(
                    **self._body(request, self._model, self._max_tokens), **self._accepted(options)
                ) as stream:
                    for piece in stream.text_stream:
                        begun = True
                        yield piece
                    ended = stream.get_final_message()
            except Exception as error:  # promise 8: whatever the server or the SDK does, the chat goes on
                if begun or not self._drops(error, options):
                    raise self._explained(error, self._model) from error
        _check_ending(ended.stop_reason, "max_tokens", self._max_tokens)

    def value(self, request: Request, schema: Schema) -> object:
        """Ask for JSON that fits `schema`, thinking disabled; fish it out of the text if need be."""
        options = {
            "thinking": {"type": "disabled"},
            "output_config": {"format": {"type": "json_schema", "schema": schema}},
        }
        while True:
            try:
                answer = self._client().messages.create(
                    **self._body(request, self._extraction_model, self._extraction_max_tokens),
                    **self._accepted(options),
                )
                _check_ending(answer.stop_reason, "extraction_max_tokens", self._extraction_max_tokens)
                text = "".join(block.text for block in answer.content if block.type == "text")
                return fished(text, schema)
            except Exception as error:  # promise 8, as above
                if not self._drops(error, options):
                    raise self._explained(error, self._extraction_model) from error

    def warm_up(self) -> None:
        """Import the SDK and make the client, so that the first request need not wait for it."""
        try:
            self._client()
        except Exception as error:  # promise 8: the first request will say it where it can be read
            log.debug("no client could be made", exc_info=error)

    def _client(self) -> "anthropic.Anthropic":
        if self._connected is None:
            import anthropic  # late: it takes seconds, and most commands need no model

            key, token = self._endpoint.key, self._endpoint.token
            self._connected = anthropic.Anthropic(
                api_key=key or (None if token else "none"),
                auth_token=None if key else token or None,
                base_url=self._endpoint.url,
            )
        return self._connected

    def _body(self, request: Request, model: str, max_tokens: int) -> dict[str, Any]:
        system = {"type": "text", "text": _sendable(request.system), "cache_control": {"type": "ephemeral"}}
        messages = [{"role": message.role, "content": _sendable(message.text)} for message in request.messages]
        return {"model": model, "max_tokens": max_tokens, "system": [system], "messages": messages}

    def _accepted(self, options: Mapping[str, Any]) -> dict[str, Any]:
        return {name: option for name, option in options.items() if name not in self._refused}

    def _drops(self, error: Exception, options: Mapping[str, Any]) -> bool:
        """Whether `error` turns away an optional part, which from now on is left out."""
        if getattr(error, "status_code", None) not in (400, 422):
            return False
        said = str(error).lower()
        for name, hints in (("thinking", ("thinking",)), ("output_config", ("output_config", "format", "schema"))):
            if name in self._accepted(options) and any(hint in said for hint in hints):
                self._refused.add(name)
                log.info("%s does not take %r; leaving it out", self._endpoint.url, name)
                return True
        return False

    def _explained(self, error: Exception, model: str) -> ModelError:
        log.debug("the request failed", exc_info=error)
        if isinstance(error, ModelError):
            return error
        status, url = getattr(error, "status_code", None), self._endpoint.url
        said = _first_line(str(getattr(error, "api_message", None) or error)) or type(error).__name__
        for secret in filter(None, (self._endpoint.key, self._endpoint.token)):
            said = said.replace(secret, "…")  # some proxies quote what they were sent
        if getattr(error, "type", None) == "overloaded_error":
            status = 529
        if status == 400 and any(words in said.lower() for words in ("too long", "context", "too many tokens")):
            status = 413
        known = {
            401: (f"{url} rejected the API key", "Check ANTHROPIC_API_KEY, or use --offline"),
            403: (f"{url} does not let this API key do that", "Check ANTHROPIC_API_KEY, or use --offline"),
            404: (f"{url} has no model {model!r}", "Name another with VAULT_MIND_MODEL, or use --offline"),
            413: ("the conversation is too long for the model", "Start a new chat; the memories stay"),
            429: ("too many requests for this key", "Wait a moment and say it again"),
            529: ("the model is overloaded", "Wait a moment and say it again"),
            "APITimeoutError": (f"{url} did not answer in time", "Say it again, or use --offline"),
            "APIConnectionError": (f"{url} cannot be reached", "Check the network, or use --offline"),
        }
        if explained := known.get(status or type(error).__name__):
            return ModelError(*explained, answered=status not in (None, 401, 429, 529))
        if status is not None and 400 <= status < 500:
            return ModelError(f"{url} refused the request: {said}", "`vault-mind config` shows what was asked of it")
        return ModelError(f"{url} failed: {said}", "Say it again, or use --offline")


def fished(text: str, schema: Schema) -> object:
    """The first JSON object in `text` with the keys that `schema` requires, whatever stands around it.

    Where there is none, the first JSON list or object. Raises ModelError when there is no JSON at all.
    """
    decoder = json.JSONDecoder()
    required = schema.get("required")
    wanted = set(required) if isinstance(required, list) else set()
    found: list[object] = []
    for start in (i for i, c in enumerate(text[:100_000]) if c in "{["):
        try:
            value, _ = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and wanted <= set(value):
            return value
        found.append(value)
    if not found:
        raise ModelError("the model gave no JSON", "")
    return found[0]


def _check_ending(reason: str | None, setting: str, limit: int) -> None:
    if reason in ("end_turn", "stop_sequence"):
        return
    if reason == "max_tokens":
        raise ModelError(
            f"the reply was cut off at {limit} tokens", f"Raise {setting} with VAULT_MIND_{setting.upper()}"
        )
    if reason == "refusal":
        raise ModelError("the model declined to answer", "Put it another way")
    if reason == "model_context_window_exceeded":
        raise ModelError("the conversation is too long for the model", "Start a new chat; the memories stay")
    if reason is None:
        raise ModelError("the connection was lost before the reply was whole", "Say it again")
    raise ModelError(f"the reply ended with {reason!r}", "Say it again")


def _sendable(text: str) -> str:
    """`text` with half surrogate pairs replaced: a request must be valid UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _first_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 200 else line[:199] + "…"

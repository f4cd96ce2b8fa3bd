"""The seam to a mind: stream a reply, or give one JSON value. Claude stands behind it here."""

import json
import logging
import time
from collections.abc import Callable, Container, Generator, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Any, Protocol

from vault_mind.abilities import PLAIN, UNASKED, Abilities, Known, told
from vault_mind.config import Endpoint
from vault_mind.decisions import Case
from vault_mind.errors import ModelError
from vault_mind.ranking import Hit
from vault_mind.usage import ANSWER, LEARNING, Usage

if TYPE_CHECKING:
    import anthropic

log = logging.getLogger(__name__)

Schema = Mapping[str, object]

WAITS = (1.0, 3.0)  # seconds before what broke off without a word is asked again
ASKING = 10.0  # seconds in which a server has to say what its model takes
THINKING = 4_000  # tokens to think with, where a model wants to be told how many

# Optional parts of a request, each with the words by which a server that will not have it speaks of it.
_OPTIONAL = {
    "thinking": ("thinking",),
    "output_config": ("output_config", "format", "schema"),
    "tools": ("tools", "tool use", "tool calling", "tool_choice"),
    "cache_control": ("cache_control",),
}
_PASSING = ("overloaded_error", "api_error", "rate_limit_error", "timeout_error")


@dataclass(frozen=True)
class Message:
    """One message as it is sent: `role` is user or assistant."""

    role: str
    text: str


@dataclass(frozen=True)
class Tool:
    """What a mind may ask for within a turn; `schema` says what a call of it holds."""

    name: str
    what: str
    schema: Schema


@dataclass(frozen=True)
class Call:
    """One call of a tool."""

    id: str
    tool: str
    arguments: Mapping[str, object]


@dataclass(frozen=True)
class Calls:
    """What a whole message ends in instead of an answer: calls of tools, or none where the mind only pauses.

    `blocks` are all that the message holds, thinking and its signature too: they go back as they came.
    `undone` says why none of the calls may be made: they were not written to their end.
    """

    calls: tuple[Call, ...]
    blocks: tuple[Mapping[str, Any], ...]
    undone: str = ""


@dataclass(frozen=True)
class Result:
    """What came of a call, as text."""

    call: str
    text: str
    failed: bool = False


@dataclass(frozen=True)
class Round:
    """What a mind asked for within a turn, and a result for each of its calls."""

    asked: Calls
    results: tuple[Result, ...]


@dataclass(frozen=True)
class Request:
    """What a mind is asked: the words to send, and the facts that they were made from.

    `rounds` follow the last message, which is the user's.
    """

    system: str
    messages: tuple[Message, ...]
    said: str
    recalled: tuple[Hit, ...] = ()
    nearest: tuple[Hit, ...] = ()  # what comes nearest, where nothing fits
    tools: tuple[Tool, ...] = ()
    rounds: tuple[Round, ...] = ()
    cases: tuple[Case, ...] = ()  # what is to be decided, for a mind that decides by rules


class ModelClient(Protocol):
    """A mind. Claude is one, the offline mind another, a scripted one serves the tests."""

    name: str

    def reply(self, request: Request) -> Iterator[str]:
        """The reply, piece by piece. Raises ModelError, perhaps after some pieces.

        A generator that returns `Calls` wants their results before it answers.
        """
        ...

    def value(self, request: Request, schema: Schema) -> object:
        """One JSON value that was asked to fit `schema`; it is for the caller to check that it does."""
        ...


class Claude:
    """Claude, or any server that speaks the Messages API, through the anthropic SDK."""

    name = "claude"

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        model: str,
        extraction_model: str,
        max_tokens: int,
        extraction_max_tokens: int,
        known: Known | None = None,
        note: Callable[[str, str, str, Usage], None] = lambda *_: None,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        self._endpoint = endpoint
        self._model, self._extraction_model = model, extraction_model
        self._max_tokens, self._extraction_max_tokens = max_tokens, extraction_max_tokens
        self._known = known or Known()
        self._note, self._wait = note, wait
        self._connected: anthropic.Anthropic | None = None

    @property
    def takes_tools(self) -> bool:
        """Whether tools may be offered: as long as the server has not turned them away."""
        known = self._known.of(self._endpoint.url, self._model)
        return known is None or "tools" not in known.dropped

    def reply(self, request: Request) -> Generator[str, None, Calls | None]:
        """Stream the answer. Only what is complete ends without an error; only that returns calls.

        What breaks off before its first word, for a reason that passes, is asked for again, twice at most.
        """
        model, waits, begun = self._model, iter(WAITS), False
        while True:
            options = self._options(model, request, answers=True)
            stream: Any = None
            try:
                with self._client().messages.stream(**self._body(request, model, self._max_tokens, options)) as stream:
                    for piece in stream.text_stream:
                        begun = begun or bool(piece)
                        yield piece
                    ended = stream.get_final_message()
            except Exception as error:  # promise 8: whatever the server or the SDK does, the chat goes on
                if (calls := _unreadable(error, _so_far(stream), request)) is not None:
                    return calls
                if begun:
                    raise self._explained(error, model) from error
                if request.rounds or not self._drops(error, model, options):  # a round may be what it speaks of
                    if not _passes(error) or (seconds := next(waits, None)) is None:
                        raise self._explained(error, model) from error
                    self._wait(seconds)
                continue
            finally:  # what was stopped or broke off is billed as well
                self._count(ANSWER, model, _so_far(stream), cut=True)
            if ended.stop_reason is None and not begun and (seconds := next(waits, None)) is not None:
                self._wait(seconds)
                continue
            return _ended(ended, request, self._max_tokens)

    def value(self, request: Request, schema: Schema) -> object:
        """Ask for JSON that fits `schema`, thinking disabled; fish it out of the text if need be."""
        model = self._extraction_model
        while True:
            options: Mapping[str, Any] = {}
            try:
                options = self._options(model, request, answers=False)
                if "output_config" in options:
                    options = {**options, "output_config": {"format": {"type": "json_schema", "schema": schema}}}
                answer = self._client().messages.create(
                    **self._body(request, model, self._extraction_max_tokens, options)
                )
                self._count(LEARNING, model, answer)
                _check_ending(answer.stop_reason, "extraction_max_tokens", self._extraction_max_tokens)
                text = "".join(block.text for block in answer.content if block.type == "text")
                return fished(text, schema)
            except Exception as error:  # promise 8, as above
                if not self._drops(error, model, options):
                    raise self._explained(error, model) from error

    def warm_up(self) -> None:
        """Import the SDK and make the client, so that the first request need not wait for it."""
        try:
            self._client()
        except Exception as error:  # promise 8: the first request will say it where it can be read
            log.debug("no client could be made", exc_info=error)

    def close(self) -> None:
        """Let go of the connections; the next request makes new ones."""
        if self._connected:
            self._connected.close()
            self._connected = None

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

    def _body(self, request: Request, model: str, max_tokens: int, options: Mapping[str, Any]) -> dict[str, Any]:
        """The request as the SDK takes it.

        What ends a prefix that is sent again is marked for the cache: the system prompt with the tools
        before it, the user's message, and within a turn the end of the last round; three of the four
        marks that may be. The end of the message before is found from there, so it needs no mark.
        """
        messages: list[dict[str, Any]] = [
            {"role": message.role, "content": _sendable(message.text)} for message in request.messages
        ]
        system: dict[str, Any] = {"type": "text", "text": _sendable(request.system)}
        cached = "cache_control" in options
        if cached:
            system |= _CACHED
        if options.get("cache_control"):
            messages[-1]["content"] = [{"type": "text", "text": messages[-1]["content"], **_CACHED}]
        for one in request.rounds:
            messages.append({"role": "assistant", "content": [_cleaned(block) for block in one.asked.blocks]})
            if one.results:
                messages.append({"role": "user", "content": [_result(result) for result in one.results]})
        if cached and request.rounds and request.rounds[-1].results:
            messages[-1]["content"][-1] |= _CACHED
        more = {name: option for name, option in options.items() if name != "cache_control"}
        return {"model": model, "max_tokens": max_tokens, "system": [system], "messages": messages, **more}

    def _options(self, model: str, request: Request, *, answers: bool) -> dict[str, Any]:
        """The optional parts of a request that the model takes, so far as is known."""
        takes = self._abilities(model)
        wanted: dict[str, Any] = {"cache_control": answers}  # what is learned from is sent once only
        if thinking := self._thinking(takes, answers=answers):
            wanted["thinking"] = thinking
        if answers and request.tools:
            wanted["tools"] = [
                {"name": tool.name, "description": tool.what, "input_schema": tool.schema} for tool in request.tools
            ]
        if takes.schemas and not answers:
            wanted["output_config"] = True
        return {name: option for name, option in wanted.items() if name not in takes.dropped}

    def _thinking(self, takes: Abilities, *, answers: bool) -> dict[str, Any] | None:
        if not answers:
            return {"type": "disabled"} if "disabled" in takes.thinking else None
        if "adaptive" in takes.thinking:
            return {"type": "adaptive"}
        budget = min(THINKING, self._max_tokens // 2)
        if "enabled" in takes.thinking and budget >= 1024:  # the least that is taken
            return {"type": "enabled", "budget_tokens": budget}
        return None

    def _abilities(self, model: str) -> Abilities:
        """What the model takes: as it is known, else as its server says when it is asked now.

        A server that has no such thing to say takes the plain forms; one that cannot say it now is asked
        again by the next process.
        """
        url = self._endpoint.url
        if (known := self._known.of(url, model)) is not None:
            return known
        abilities, kept = UNASKED, False
        try:
            client = self._client()
        except Exception as error:  # promise 8: the request that comes next says it where it can be read
            log.debug("no client could be made", exc_info=error)
            return UNASKED
        try:
            asked = client.with_options(timeout=ASKING, max_retries=0).models.retrieve(model)
            abilities, kept = told(asked.to_dict()), True
        except Exception as error:  # promise 8: whatever a server makes of the question, the real one comes next
            log.debug("%s does not say what %s takes", url, model, exc_info=error)
            status = getattr(error, "status_code", None)
            if status in (400, 404, 405, 410, 422, 501) or (status is None and not _unreached(error)):
                lacks_it = getattr(error, "type", None) == "not_found_error" and model in str(error)  # it may come yet
                abilities, kept = PLAIN, not lacks_it  # llama.cpp says "not found" of the Models API itself
        self._known.keep(url, model, abilities, kept=kept)
        return abilities

    def _count(self, use: str, model: str, answer: Any, *, cut: bool = False) -> None:
        """Hand on what the server counted, where it counted; of a stream that may be `cut` also what it had not yet."""
        usage = getattr(answer, "usage", None)
        names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
        counts = [getattr(usage, name, None) for name in names]
        if usage is not None:
            sound = (count if isinstance(count, int) and count > 0 else 0 for count in counts)
            uncounted = _length(answer) if cut and answer.stop_reason is None else 0  # it is counted at the end
            self._note(use, model, self._endpoint.url, replace(Usage(*sound), uncounted=uncounted))

    def _drops(self, error: Exception, model: str, options: Mapping[str, Any]) -> bool:
        """Whether `error` turns away an optional part, which from now on is left out."""
        status, said = getattr(error, "status_code", None), str(error).lower()
        for name, hints in _OPTIONAL.items():
            statuses = (400, 422, 500, 501) if name == "tools" else (400, 422)  # llama.cpp without --jinja says 500
            if status in statuses and name in options and any(hint in said for hint in hints):
                url = self._endpoint.url
                self._known.keep(url, model, self._abilities(model).without(name))
                log.info("%s does not take %r; leaving it out", url, name)
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
            503: (f"{url} is not ready: {said}", "Wait a moment and say it again"),  # it loads its model, say
            529: ("the model is overloaded", "Wait a moment and say it again"),
            "APITimeoutError": (f"{url} did not answer in time", "Say it again, or use --offline"),
            "APIConnectionError": (f"{url} cannot be reached", "Check the network, or use --offline"),
        }
        if explained := known.get(status or type(error).__name__):
            return ModelError(*explained, answered=status not in (None, 401, 429, 503, 529), too_long=status == 413)
        if status is not None and 400 <= status < 500:
            return ModelError(f"{url} refused the request: {said}", "`vault-mind config` shows what was asked of it")
        if _unreached(error):  # in mid-reply, as its library words it: "peer closed connection without …"
            return ModelError(*_LOST, answered=False)
        if isinstance(error, (AssertionError, AttributeError, LookupError, TypeError, ValueError)):  # out of the SDK
            return ModelError(f"what {url} answered makes no sense", "Say it again, or use --offline")
        return ModelError(f"{url} failed: {said}", "Say it again, or use --offline")


_LOST = ("the connection was lost before the reply was whole", "Say it again")
_AGAIN = "none of its calls was made. Call again, with less in a call"
_CACHED = {"cache_control": {"type": "ephemeral"}}


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


def _ended(message: Any, request: Request, max_tokens: int) -> Calls | None:
    """The calls in which a whole message ends; None for an answer. Raises ModelError for any other end.

    Those of a message that was cut off come back undone: whoever asked for them hears of it.
    """
    reason, called = message.stop_reason, any(block.type == "tool_use" for block in message.content)
    if reason == "max_tokens" and called:
        return _calls(message, request, f"your message was cut off at {max_tokens} tokens; {_AGAIN}")
    if reason not in ("tool_use", "pause_turn"):
        _check_ending(reason, "max_tokens", max_tokens)
        return None
    calls = _calls(message, request)
    if not calls.blocks or (reason == "tool_use" and not calls.calls):
        raise ModelError(f"the reply ended with {reason!r} and nothing in it", "Say it again")
    return replace(calls, calls=()) if reason == "pause_turn" else calls


def _unreadable(error: Exception, message: Any, request: Request) -> Calls | None:
    """The calls of a message of which one is no JSON, undone; None when that is not what the SDK stopped at."""
    blocks = getattr(message, "content", None)
    if not (isinstance(error, ValueError) and "tool parameter JSON" in str(error) and blocks):
        return None
    log.info("a call is no JSON", exc_info=error)
    return _calls(message, request, f"what you wrote into a call is no JSON object; {_AGAIN}")


def _calls(message: Any, request: Request, undone: str = "") -> Calls:
    """The calls in `message`, and its blocks so that they can go back.

    Each has an id of its own and an object for its arguments, whatever the server made of them.
    """
    taken = {call.id for one in request.rounds for call in one.asked.calls}
    calls, blocks = [], []
    for block in message.content:
        if block.type == "tool_use":
            block.id, block.name = _unlike(block.id, taken), str(block.name or "unnamed")
            block.input = block.input if isinstance(block.input, dict) else {}
            taken.add(block.id)
            calls.append(Call(block.id, block.name, block.input))
        if block.type != "text" or str(block.text or "").strip():
            blocks.append(block.to_dict(mode="json"))
    return Calls(tuple(calls), tuple(blocks), undone)


def _unlike(name: object, taken: Container[str]) -> str:
    """`name` as an id, unlike those that are `taken`: some servers give the same, or none, to every call."""
    wanted = name if isinstance(name, str) and name else "call"
    return wanted if wanted not in taken else next(i for n in count(2) if (i := f"{wanted}-{n}") not in taken)


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
        raise ModelError(
            "the conversation is too long for the model", "Start a new chat; the memories stay", too_long=True
        )
    if reason is None:
        raise ModelError(*_LOST)
    raise ModelError(f"the reply ended with {reason!r}", "Say it again")


def _so_far(stream: Any) -> Any:
    """As much of its message as has come; None before it began."""
    try:
        return stream.current_message_snapshot
    except (AssertionError, AttributeError):
        return None


def _length(message: Any) -> int:
    """About how many tokens a message holds that its server has not counted: one for four bytes of its words."""
    names = ("text", "thinking", "input")
    said = "".join(str(getattr(block, name, None) or "") for block in message.content or () for name in names)
    return -(-len(said.encode("utf-8", "replace")) // 4)


def _passes(error: Exception) -> bool:
    """Whether a stream that began broke off for a reason that may pass; what came before it the SDK has retried."""
    if getattr(error, "status_code", None) == 200:
        return getattr(error, "type", None) in _PASSING
    return any(base.__name__ == "TransportError" for base in type(error).__mro__)


def _unreached(error: Exception) -> bool:
    return any(base.__name__ in ("APIConnectionError", "TransportError") for base in type(error).__mro__)


def _result(result: Result) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": result.call, "content": _sendable(result.text)}
    return {**block, "is_error": True} if result.failed else block


def _cleaned(value: Any) -> Any:
    """`value`, a part of a message, with every text in it sendable."""
    if isinstance(value, str):
        return _sendable(value)
    if isinstance(value, Mapping):
        return {_sendable(str(name)): _cleaned(item) for name, item in value.items()}
    return [_cleaned(item) for item in value] if isinstance(value, (list, tuple)) else value


def _sendable(text: str) -> str:
    """`text` with half surrogate pairs replaced: a request must be valid UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _first_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 200 else line[:199] + "…"

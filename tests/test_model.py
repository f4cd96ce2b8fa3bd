"""Claude behind the seam, through the real SDK, against a scripted server."""

import json
import os
from collections.abc import Callable, Iterator

import pytest

from tests.messages_api import Answer, MessagesApi, able, looking, remembering, serving, text_of
from vault_mind import Session
from vault_mind.config import Endpoint
from vault_mind.errors import ModelError
from vault_mind.extraction import SCHEMA
from vault_mind.model import Claude, Message, Request, fished
from vault_mind.vault import Vault

KEY = "sk-test-0123456789abcdef"
QUESTION = Request("You are kind.", (Message("user", "What do I drink?"),), "What do I drink?")

Ask = Callable[[Claude], object]
Opened = Callable[..., Session]


def reply(mind: Claude) -> str:
    """The whole reply."""
    return "".join(mind.reply(QUESTION))


def value(mind: Claude) -> object:
    """One JSON value."""
    return mind.value(QUESTION, SCHEMA)


BOTH = pytest.mark.parametrize("ask", [reply, value], ids=["reply", "value"])


def mind_at(url: str) -> Claude:
    """Claude as the settings' defaults make it, at `url`."""
    return Claude(
        Endpoint(url, KEY, ""),
        model="claude-opus-4-8",
        extraction_model="claude-haiku-4-5",
        max_tokens=16_000,
        extraction_max_tokens=1_024,
    )


@pytest.fixture
def claude(api: MessagesApi) -> Claude:
    """Claude, who is the scripted server."""
    return mind_at(api.url)


def error_of(ask: Ask, mind: Claude) -> str:
    """What the one error says that `ask` ends in; the key is never in it."""
    with pytest.raises(ModelError) as caught:
        ask(mind)
    assert KEY not in str(caught.value)
    assert caught.value.exit_code == 3
    return str(caught.value)


def test_the_pieces_of_a_reply_arrive_in_their_order_and_make_the_whole(api: MessagesApi, claude: Claude) -> None:
    text = "You drink green tea, with лимон and 😀, in the morning."
    api.script(Answer(text, pieces=9, thinking="They said so in May."))

    pieces = list(claude.reply(QUESTION))

    assert len(pieces) > 5
    assert "".join(pieces) == text


def test_a_piece_is_handed_on_before_the_next_one_is_there(api: MessagesApi, claude: Claude) -> None:
    api.script(Answer("one two three", delay=0.02))
    begun: list[int] = []

    pieces: Iterator[str] = claude.reply(QUESTION)
    begun.append(len(next(pieces)))

    assert 0 < begun[0] < len("one two three")
    assert len("".join(pieces)) + begun[0] == len("one two three")


def test_the_answer_call_has_the_settings_on_the_wire_and_what_was_recalled_in_the_last_user_message(
    vault: Vault, online: MessagesApi, opened: Opened
) -> None:
    (vault.root / "tea.md").write_text("The user takes green tea in the morning.", encoding="utf-8")
    online.script(Answer("Good morning."), remembering(), Answer("Green tea."), remembering())
    agent = opened(vault.root, dict(os.environ)).agent
    agent.ask("Good morning!")

    agent.ask("Which tea do I take in the morning?")

    sent = online.requests[2]
    assert sent["model"] == "claude-opus-4-8"
    assert sent["max_tokens"] == 16_000
    assert sent["thinking"] == {"type": "adaptive"}
    assert sent["stream"] is True
    assert [block["cache_control"] for block in sent["system"]] == [{"type": "ephemeral"}]
    assert [message["role"] for message in sent["messages"]] == ["user", "assistant", "user"]
    assert "The user takes green tea in the morning." in text_of(sent["messages"][-1])
    assert text_of(sent["messages"][-1]).endswith("Which tea do I take in the morning?")
    assert "green tea" not in sent["system"][0]["text"]
    assert sent["system"] == online.requests[0]["system"]
    assert set(sent) == {"model", "max_tokens", "thinking", "stream", "system", "messages", "tools"}
    assert credential(online) == "test-key-0123456789"


def test_the_extraction_call_asks_the_small_model_for_json_of_our_schema_in_one_piece(
    vault: Vault, online: MessagesApi, opened: Opened
) -> None:
    online.script(Answer("Noted."), remembering())

    opened(vault.root, dict(os.environ)).agent.ask("I live in Oslo.")

    sent = online.requests[1]
    assert sent["model"] == "claude-haiku-4-5"
    assert sent["max_tokens"] == 1_024
    assert sent["thinking"] == {"type": "disabled"}
    assert sent["output_config"] == {"format": {"type": "json_schema", "schema": json.loads(json.dumps(SCHEMA))}}
    assert not sent.get("stream")
    assert [message["role"] for message in sent["messages"]] == ["user"]
    assert "I live in Oslo." in sent["messages"][0]["content"]


def credential(api: MessagesApi) -> str:
    """What the last request was signed with, in whichever of the two headers the SDK puts it."""
    sent = api.headers[-1]
    return sent.get("x-api-key") or sent.get("authorization", "").removeprefix("Bearer ")


@pytest.mark.parametrize(
    ("key", "token", "signed"),
    [("key-1", "", "key-1"), ("", "token-1", "token-1"), ("", "", "none"), ("key-1", "token-1", "key-1")],
    ids=["a key", "a token", "neither", "both"],
)
def test_a_request_is_signed_with_what_the_environment_gives(
    api: MessagesApi, key: str, token: str, signed: str
) -> None:
    # The SDK raises ValueError when it is handed both.
    mind = Claude(Endpoint(api.url, key, token), model="m", extraction_model="m", max_tokens=9, extraction_max_tokens=9)

    assert reply(mind) == "Hello."
    assert credential(api) == signed


def test_a_server_that_knows_no_thinking_is_asked_plainly_once_and_from_then_on(
    api: MessagesApi, claude: Claude
) -> None:
    refused = Answer(status=400, error="invalid_request_error", message="thinking: Extra inputs are not permitted")
    api.script(refused, Answer("Tea."))

    assert reply(claude) == "Tea."
    assert reply(claude) == "Tea."

    assert ["thinking" in sent for sent in api.requests] == [True, False, False]


def test_a_server_that_knows_no_schemas_is_asked_plainly_once_and_from_then_on(
    api: MessagesApi, claude: Claude
) -> None:
    api.script(
        Answer(status=400, error="invalid_request_error", message="thinking: unknown field"),
        Answer(status=422, error="invalid_request_error", message="output_config: Extra inputs are not permitted"),
        remembering(),
    )

    assert value(claude) == {"memories": []}
    assert value(claude) == {"memories": []}

    assert ["thinking" in sent for sent in api.requests] == [True, False, False, False]
    assert ["output_config" in sent for sent in api.requests] == [True, True, False, False]


def test_a_server_that_goes_on_refusing_is_not_asked_for_ever(api: MessagesApi, claude: Claude) -> None:
    api.script(Answer(status=400, error="invalid_request_error", message="thinking, output_config: no"))

    assert "refused the request" in error_of(value, claude)
    assert len(api.requests) == 3


@pytest.mark.parametrize(
    "text",
    [
        '{"memories": []}',
        'Here you are:\n```json\n{"memories": []}\n```\nAnything else?',
        'Sure! {"memories": []} (nothing worth keeping {or so} I think)',
        "The user said [sic] {oddly}: " + '{"memories": []}',
    ],
    ids=["bare", "fenced", "in prose", "after brackets that are none"],
)
def test_json_is_fished_out_of_whatever_stands_around_it(api: MessagesApi, claude: Claude, text: str) -> None:
    api.script(Answer(text))

    assert value(claude) == {"memories": []}


@pytest.mark.parametrize("aside", ["As the memory [1] says: ", "An empty {} would do, but: "])
def test_brackets_in_the_prose_are_not_taken_for_the_json_that_was_asked_for(
    api: MessagesApi, claude: Claude, aside: str
) -> None:
    api.script(Answer(aside + '{"memories": []}'))

    assert value(claude) == {"memories": []}


@pytest.mark.parametrize("text", ["I have nothing to add.", '{"memories": [', "[" * 2_000, "```json\n```"])
def test_a_text_without_json_is_an_error(text: str) -> None:
    with pytest.raises(ModelError, match="no JSON"):
        fished(text, {})


FAULTS = {
    "key rejected": (
        Answer(status=401, error="authentication_error", message="invalid x-api-key"),
        "ANTHROPIC_API_KEY",
    ),
    "key may not": (Answer(status=403, error="permission_error", message="no"), "ANTHROPIC_API_KEY"),
    "no such model": (Answer(status=404, error="not_found_error", message="model: x"), "VAULT_MIND_MODEL"),
    "body too large": (Answer(status=413, error="request_too_large", message="x"), "Start a new chat"),
    "prompt too long": (
        Answer(status=400, error="invalid_request_error", message="prompt is too long: 210000 tokens > 200000"),
        "Start a new chat",
    ),
    "too many": (Answer(status=429, error="rate_limit_error", message="slow down"), "Wait a moment"),
    "broken server": (Answer(status=500, error="api_error", message="Internal server error"), "Say it again"),
    "overloaded": (Answer(status=529, error="overloaded_error", message="Overloaded"), "Wait a moment"),
    "no credit": (Answer(status=402, error="billing_error", message="Your credit balance is too low"), "credit"),
    "a proxy's page": (Answer(status=502, raw="<html>Bad gateway</html>", kind="text/html"), "Say it again"),
    "a refusal": (Answer("I", stop_reason="refusal"), "Put it another way"),
    "too long a reply": (Answer("I", stop_reason="max_tokens"), "MAX_TOKENS"),
    "a full context": (Answer("I", stop_reason="model_context_window_exceeded"), "Start a new chat"),
    "an unknown end": (Answer("I", stop_reason="bored"), "bored"),
    "no end": (Answer("I", stop_reason=None), "Say it again"),
}


@BOTH
@pytest.mark.parametrize(("answer", "says"), FAULTS.values(), ids=FAULTS)
def test_whatever_the_server_answers_becomes_one_error_that_says_what_to_do(
    api: MessagesApi, claude: Claude, ask: Ask, answer: Answer, says: str
) -> None:
    api.script(answer)

    assert says in error_of(ask, claude)
    assert len(api.requests) == 1


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (Answer("Hel", error_in_stream=True, error="overloaded_error", message="Overloaded"), "overloaded"),
        (Answer("Hel", error_in_stream=True, error="api_error", message="Internal"), "Say it again"),
        (Answer("Hel", cut=True), "Say it again"),
    ],
    ids=["overloaded", "broken", "cut"],
)
def test_a_stream_that_breaks_off_is_an_error_after_what_was_said(
    api: MessagesApi, claude: Claude, answer: Answer, says: str
) -> None:
    api.script(answer)
    said: list[str] = []

    with pytest.raises(ModelError, match=says):
        said.extend(claude.reply(QUESTION))

    assert "".join(said) == "Hel"
    assert len(api.requests) == 1


NONSENSE = {
    "html": ("<html>It works!</html>", "text/html"),
    "a broken stream": ("data: {broken\n\n", "text/event-stream"),
    "an empty stream": ("", "text/event-stream"),
    "null in a stream": ("event: message_start\ndata: null\n\n", "text/event-stream"),
    "half a start": ('event: message_start\ndata: {"type": "message_start"}\n\n', "text/event-stream"),
    "null": ("null", "application/json"),
    "a list": ("[]", "application/json"),
    "a text": ('"x"', "application/json"),
    "an empty object": ("{}", "application/json"),
    "no content": ('{"content": null, "stop_reason": "end_turn"}', "application/json"),
    "a hole in the content": ('{"content": [null], "stop_reason": "end_turn"}', "application/json"),
    "nothing": ("", "application/json"),
    "an error with 200": ('{"type": "error", "error": {"type": "x", "message": "y"}}', "application/json"),
}


@BOTH
@pytest.mark.parametrize(("raw", "kind"), NONSENSE.values(), ids=NONSENSE)
def test_a_server_that_speaks_nonsense_is_one_error_and_is_not_asked_again(
    api: MessagesApi, claude: Claude, ask: Ask, raw: str, kind: str
) -> None:
    # The SDK gives None, a list or a text where a message should be. The second answer only ends a loop.
    api.script(Answer(raw=raw, kind=kind), remembering())

    message = error_of(ask, claude)

    assert api.url in message or "Say it again" in message
    assert len(api.requests) == 1


@BOTH
def test_a_port_where_nobody_listens_is_named_with_what_to_do(ask: Ask) -> None:
    with serving() as gone:
        url = gone.url

    message = error_of(ask, mind_at(url))

    assert message == f"{url} cannot be reached. Check the network, or use --offline"


@pytest.mark.parametrize("url", ["http://127.0.0.1:99999", "http://[::bad"])
def test_an_address_that_makes_no_sense_is_one_error(url: str) -> None:
    assert "use --offline" in error_of(reply, mind_at(url))


def test_warming_up_leaves_a_bad_address_to_the_first_message() -> None:
    # It runs in a thread of its own while the user types; what it raised would be printed over the prompt.
    mind_at("http://[::bad").warm_up()


@BOTH
@pytest.mark.parametrize("status", [400, 500])
def test_a_server_that_repeats_the_key_does_not_get_it_onto_the_screen(
    api: MessagesApi, claude: Claude, ask: Ask, status: int
) -> None:
    # Some proxies quote the headers that they were sent.
    api.script(Answer(status=status, error="api_error", message=f"bad request, headers: x-api-key={KEY}"))

    error_of(ask, claude)


def test_half_a_surrogate_pair_never_makes_a_request_that_is_no_text(api: MessagesApi, claude: Claude) -> None:
    said = "caf\udce9 \ud83d and \ude00"
    broken = Request(f"system {said}", (Message("user", said), Message("assistant", said), Message("user", said)), said)

    "".join(claude.reply(broken))
    api.script(remembering())
    claude.value(broken, SCHEMA)

    assert len(api.requests) == 2
    for sent in api.requests:
        assert json.dumps(sent, ensure_ascii=False).encode()  # raises for half a pair
        assert text_of(sent["messages"][0]).startswith("caf")


def test_a_reply_without_a_word_is_no_json(api: MessagesApi, claude: Claude) -> None:
    api.script(Answer(""))

    assert reply(claude) == ""
    assert "no JSON" in error_of(value, claude)


def test_warming_up_sends_nothing(api: MessagesApi, claude: Claude) -> None:
    claude.warm_up()

    assert api.requests == []
    assert KEY not in repr(vars(claude)["_endpoint"])

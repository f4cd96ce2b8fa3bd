"""Claude behind the seam, through the real SDK, against a scripted server."""

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.messages_api import Answer, MessagesApi, able, looking, remembering, serving, text_of
from vault_mind import Session
from vault_mind.abilities import Known
from vault_mind.config import Endpoint
from vault_mind.errors import ModelError
from vault_mind.extraction import SCHEMA
from vault_mind.model import Call, Calls, Claude, Message, Request, Result, Round, Tool, fished
from vault_mind.usage import Usage
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


def mind_at(
    url: str,
    *,
    waits: list[float] | None = None,
    known: Known | None = None,
    note: Callable[[str, str, str, Usage], None] = lambda *_: None,
) -> Claude:
    """Claude as the settings' defaults make it, at `url`; it keeps in `waits` what it would wait, and does not."""
    return Claude(
        Endpoint(url, KEY, ""),
        model="claude-opus-4-8",
        extraction_model="claude-haiku-4-5",
        max_tokens=16_000,
        extraction_max_tokens=1_024,
        known=known,
        note=note,
        wait=(waits if waits is not None else []).append,
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
    online.script(Answer("Good day."), remembering(), Answer("Green tea."), remembering())
    agent = opened(vault.root, dict(os.environ)).agent
    agent.ask("Good day!")

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
        (Answer("Hel", cut=True), "^the connection was lost before the reply was whole. Say it again$"),
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


@BOTH
@pytest.mark.parametrize(
    ("status", "error", "says"),
    [
        (503, "unavailable_error", "is not ready: Loading model. Wait a moment"),  # llama.cpp
        (503, "api_error", "is not ready: Loading model. Wait a moment"),
        (529, "overloaded_error", "the model is overloaded. Wait a moment"),
        (429, "rate_limit_error", "too many requests for this key. Wait a moment"),
    ],
)
def test_a_server_that_is_not_ready_says_nothing_about_what_was_asked(
    api: MessagesApi, claude: Claude, ask: Ask, status: int, error: str, says: str
) -> None:
    api.script(Answer(status=status, error=error, message="Loading model"))

    with pytest.raises(ModelError, match=says) as refused:
        ask(claude)

    assert not refused.value.answered  # so that what waits to be learned from loses no try


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


# Tools


LOOK = Tool("search_memory", "Search.", {"type": "object", "properties": {"queries": {"type": "array"}}})
WITH_TOOLS = replace(QUESTION, tools=(LOOK,))


def whole(mind: Claude, request: Request = WITH_TOOLS) -> tuple[str, Calls | None]:
    """What it says, and the calls in which that ends."""
    said, pieces = [], mind.reply(request)
    while True:
        try:
            said.append(next(pieces))
        except StopIteration as end:
            return "".join(said), end.value


def test_calls_come_back_once_the_message_is_whole_with_all_its_blocks(api: MessagesApi, claude: Claude) -> None:
    api.script(looking(("search_memory", {"queries": ["tea", "чай"]}), text="Let me see.", thinking="Hm."))

    said, calls = whole(claude)

    assert said == "Let me see."
    assert calls
    assert calls.calls == (Call("toolu_0", "search_memory", {"queries": ["tea", "чай"]}),)
    assert calls.blocks[0] == {"type": "thinking", "thinking": "Hm.", "signature": "s"}
    assert [block["type"] for block in calls.blocks] == ["thinking", "text", "tool_use"]
    assert api.requests[0]["tools"] == [
        {"name": "search_memory", "description": "Search.", "input_schema": dict(LOOK.schema)}
    ]


def test_an_answer_ends_in_no_calls(api: MessagesApi, claude: Claude) -> None:
    assert whole(claude) == ("Hello.", None)


def test_blocks_go_back_as_they_came_but_for_empty_text_and_half_characters(api: MessagesApi, claude: Claude) -> None:
    api.script(looking(("search_memory", {"queries": ["tea"]}), text=" ", thinking="Hm.\n"), Answer("Tea."))
    _, calls = whole(claude)
    assert calls

    done = Round(calls, (Result("toolu_0", "nothing \udce9 found"), Result("toolu_1", "no", failed=True)))
    whole(claude, replace(WITH_TOOLS, rounds=(done,)))

    _, turn, results = api.requests[1]["messages"]
    assert turn["content"][0] == {"type": "thinking", "thinking": "Hm.\n", "signature": "s"}
    assert [block["type"] for block in turn["content"]] == ["thinking", "tool_use"]
    assert turn["content"][1]["input"] == {"queries": ["tea"]}
    assert results["content"][0]["content"] == "nothing ? found"
    assert "is_error" not in results["content"][0]
    assert results["content"][1]["is_error"] is True


UNFINISHED = {
    "refused": Answer(stop_reason="refusal", calls=(("search_memory", {"queries": ["t"]}),)),
    "a full context": Answer(stop_reason="model_context_window_exceeded", calls=(("search_memory", {}),)),
    "a dropped stream": Answer(cut=True, calls=(("search_memory", {"queries": ["t"]}),)),
    "no stop reason": Answer(stop_reason=None, calls=(("search_memory", {"queries": ["t"]}),)),
    "an overload": Answer(error_in_stream=True, error="overloaded_error", calls=(("search_memory", {}),)),
    "an end of turn": Answer(stop_reason="something_new", calls=(("search_memory", {}),)),
    "no call at all": Answer(stop_reason="tool_use"),
}


@pytest.mark.parametrize("answer", UNFINISHED.values(), ids=UNFINISHED)
def test_a_call_of_a_message_that_is_not_whole_is_never_handed_on(api: MessagesApi, answer: Answer) -> None:
    api.script(answer)

    with pytest.raises(ModelError):
        whole(mind_at(api.url, waits=[]))


@pytest.mark.parametrize("arguments", ['{"queries": ["te', {"queries": ["t"]}, ""], ids=["cut", "whole", "empty"])
def test_calls_of_a_message_that_max_tokens_cut_off_come_back_undone(
    api: MessagesApi, claude: Claude, arguments: Any
) -> None:
    api.script(Answer(stop_reason="max_tokens", calls=(("search_memory", arguments),), thinking="Hm."))

    _, calls = whole(claude)

    assert calls
    assert calls.undone.startswith("your message was cut off at 16000 tokens")
    assert [block["type"] for block in calls.blocks] == ["thinking", "tool_use"]
    assert isinstance(calls.blocks[1]["input"], dict)


def test_what_makes_no_sense_is_called_so_and_not_by_the_name_of_an_exception(api: MessagesApi, claude: Claude) -> None:
    api.script(Answer(raw="event: message_stop\ndata: {}\n\n", kind="text/event-stream"))

    assert error_of(reply, claude) == f"what {api.url} answered makes no sense. Say it again, or use --offline"


def test_a_pause_comes_back_as_no_calls_with_what_was_said(api: MessagesApi, claude: Claude) -> None:
    api.script(Answer("One, ", stop_reason="pause_turn"))

    said, calls = whole(claude)

    assert said == "One, "
    assert calls == Calls((), ({"type": "text", "text": "One, "},))


def marks(request: dict[str, Any]) -> list[str]:
    """Where a request is marked for the cache: the text of each such block, or what kind it is."""
    blocks = [*request.get("tools", ()), *request["system"]]
    for message in request["messages"]:
        blocks += message["content"] if isinstance(message["content"], list) else []
    return [block.get("text") or block["type"] for block in blocks if "cache_control" in block]


def test_what_is_sent_again_is_marked_for_the_cache(api: MessagesApi, claude: Claude) -> None:
    api.script(looking(("search_memory", {"queries": ["tea"]})), Answer("Tea."), remembering())
    history = (Message("user", "one"), Message("assistant", "two"), Message("user", "three"))
    request = replace(WITH_TOOLS, messages=history)
    _, calls = whole(claude, request)
    assert calls
    whole(claude, replace(request, rounds=(Round(calls, (Result("toolu_0", "nothing"),)),)))
    claude.value(request, SCHEMA)

    assert [marks(sent) for sent in api.requests] == [
        ["You are kind.", "three"],
        ["You are kind.", "three", "tool_result"],
        ["You are kind."],  # what is learned from is sent only once
    ]


@pytest.mark.parametrize(
    ("status", "field", "message"),
    [
        (400, "tools", "registry/tiny does not support tools"),
        (422, "tools", "tools: Extra inputs are not permitted"),
        (500, "tools", "tools param requires --jinja flag"),
        (400, "cache_control", "messages.0.content.0.cache_control: Extra inputs are not permitted"),
        (400, "thinking", "adaptive thinking is not supported on this model"),
    ],
)
def test_a_field_that_is_turned_away_is_dropped_once_and_for_the_processes_to_come(
    api: MessagesApi, tmp_path: Path, status: int, field: str, message: str
) -> None:
    api.script(Answer(status=status, error="invalid_request_error", message=message), Answer("Tea."))
    first, second = (mind_at(api.url, known=Known(tmp_path / "cache" / "servers.json")) for _ in range(2))

    assert [whole(mind)[0] for mind in (first, first, second)] == ["Tea."] * 3

    assert [field in json.dumps(sent) for sent in api.requests] == [True, False, False, False]
    assert first.takes_tools is second.takes_tools is (field != "tools")


# What a model takes


@pytest.mark.parametrize(
    ("models", "thinking", "schemas"),
    [
        (able("adaptive", "enabled", "disabled"), {"type": "adaptive"}, True),
        (able("enabled", "disabled"), {"type": "enabled", "budget_tokens": 4_000}, True),
        (able("disabled"), None, True),
        (able("adaptive", schemas=False), {"type": "adaptive"}, False),
        ({"id": "qwen3", "object": "model"}, None, False),
        ({"id": "x", "capabilities": {"thinking": {"types": ["adaptive"]}}}, None, False),
        ([], None, False),
        ("<html>It works!</html>", None, False),
        (404, None, False),
        (405, None, False),
        (501, None, False),
        (500, {"type": "adaptive"}, True),
        (429, {"type": "adaptive"}, True),
    ],
    ids=str,
)
def test_a_model_is_asked_for_what_it_takes(
    api: MessagesApi, models: Any, thinking: dict[str, object] | None, schemas: bool
) -> None:
    api.models = models
    mind = mind_at(api.url)

    reply(mind)
    api.script(remembering())
    value(mind)

    assert api.requests[0].get("thinking") == thinking
    assert ("output_config" in api.requests[1]) is schemas
    assert api.asked_about == ["claude-opus-4-8", "claude-haiku-4-5"]


def test_it_is_asked_once_and_not_again_by_the_next_process(api: MessagesApi, tmp_path: Path) -> None:
    for _ in range(2):
        mind = mind_at(api.url, known=Known(tmp_path / "cache" / "servers.json"))
        reply(mind)
        reply(mind)

    assert api.asked_about == ["claude-opus-4-8"]


def test_a_server_that_could_not_say_is_asked_again_by_the_next_process(api: MessagesApi, tmp_path: Path) -> None:
    api.models = 503
    for _ in range(2):
        reply(mind_at(api.url, known=Known(tmp_path / "servers.json")))

    assert api.asked_about == ["claude-opus-4-8"] * 2


def refusal(message: str) -> str:
    """What a server says of something that it does not have."""
    return json.dumps({"type": "error", "error": {"type": "not_found_error", "message": message}})


@pytest.mark.parametrize(
    ("said", "times"),
    [("File Not Found", 1), ("model: claude-opus-4-8", 2)],  # llama.cpp of the Models API; Anthropic of a model
    ids=["has no Models API", "has no such model yet"],
)
def test_a_server_without_the_models_api_is_not_asked_again_and_one_without_the_model_is(
    api: MessagesApi, tmp_path: Path, said: str, times: int
) -> None:
    api.lacks = refusal(said)
    for _ in range(2):
        reply(mind_at(api.url, known=Known(tmp_path / "servers.json")))

    assert api.asked_about == ["claude-opus-4-8"] * times
    assert "thinking" not in api.requests[-1]


# What breaks off


@pytest.mark.parametrize(
    "broken",
    [
        Answer(error_in_stream=True, error="overloaded_error", message="Overloaded"),
        Answer(error_in_stream=True, error="api_error", message="Internal"),
        Answer(error_in_stream=True, error="overloaded_error", message="Overloaded", thinking="Hm."),
        Answer(cut=True),
        Answer(cut=True, thinking="Hm."),
        Answer(stop_reason=None),
    ],
    ids=["overloaded", "broken", "overloaded while thinking", "cut", "cut while thinking", "no end"],
)
def test_what_breaks_off_before_the_first_word_is_asked_for_again_with_growing_waits(
    api: MessagesApi, broken: Answer
) -> None:
    waits: list[float] = []
    api.script(broken, broken, Answer("Tea."))

    assert reply(mind_at(api.url, waits=waits)) == "Tea."
    assert waits == [1.0, 3.0]


@pytest.mark.parametrize(
    "broken",
    [
        Answer(error_in_stream=True, error="invalid_request_error", message="no"),
        Answer(stop_reason="refusal"),
        Answer(stop_reason="max_tokens"),
        Answer("T", error_in_stream=True, error="overloaded_error", message="Overloaded"),
        Answer("T", cut=True),
        Answer("T", stop_reason=None),
    ],
    ids=["refused", "declined", "too long", "overloaded after a word", "cut after a word", "no end after a word"],
)
def test_nothing_else_is_asked_for_again(api: MessagesApi, broken: Answer) -> None:
    waits: list[float] = []
    api.script(broken, Answer("Tea."))

    error_of(reply, mind_at(api.url, waits=waits))

    assert waits == []
    assert len(api.requests) == 1


def test_a_server_that_always_breaks_off_is_left_alone_after_three_times(api: MessagesApi) -> None:
    waits: list[float] = []
    api.script(Answer(error_in_stream=True, error="overloaded_error", message="Overloaded"))

    assert "overloaded" in error_of(reply, mind_at(api.url, waits=waits))
    assert len(api.requests) == 3


def test_who_is_told_when_to_come_back_waits_that_long(api: MessagesApi, claude: Claude) -> None:
    busy = Answer(status=429, error="rate_limit_error", message="slow down", headers={"retry-after": "0.3"})
    api.script(busy, Answer("Tea."))
    begun = time.monotonic()

    assert reply(claude) == "Tea."
    assert time.monotonic() - begun >= 0.3
    assert len(api.requests) == 2


def test_who_has_let_go_of_its_connections_makes_new_ones(api: MessagesApi, claude: Claude) -> None:
    reply(claude)
    claude.close()
    claude.close()

    assert reply(claude) == "Hello."
    assert len(api.requests) == 2


# What was used

COUNTED = {
    "input_tokens": 3, "cache_read_input_tokens": 400, "cache_creation_input_tokens": 50, "output_tokens": 7,
}  # fmt: skip


def test_the_tokens_of_answers_and_of_learning_are_handed_on(api: MessagesApi) -> None:
    noted: list[tuple[object, ...]] = []
    mind = mind_at(api.url, note=lambda *what: noted.append(what))

    api.script(Answer("Tea.", usage=COUNTED))
    reply(mind)
    api.script(Answer('{"memories": []}', usage=COUNTED))
    value(mind)

    assert noted == [
        ("answer", "claude-opus-4-8", api.url, Usage(3, 400, 50, 7)),
        ("learning", "claude-haiku-4-5", api.url, Usage(3, 400, 50, 7)),
    ]


@pytest.mark.parametrize("broken", [Answer("Half a", cut=True, usage=COUNTED), Answer("I", "refusal", usage=COUNTED)])
def test_what_broke_off_is_counted_as_well(api: MessagesApi, broken: Answer) -> None:
    noted: list[Usage] = []
    mind = mind_at(api.url, note=lambda *what: noted.append(what[3]))
    api.script(broken)

    error_of(reply, mind)

    assert [(usage.fresh, usage.read) for usage in noted] == [(3, 400)]


def test_what_the_user_stops_is_counted_as_well(api: MessagesApi) -> None:
    noted: list[Usage] = []
    mind = mind_at(api.url, note=lambda *what: noted.append(what[3]))
    api.script(Answer("one two three four", pieces=4, usage=COUNTED))

    pieces = mind.reply(QUESTION)
    next(pieces)
    pieces.close()

    assert [usage.sent for usage in noted] == [453]


@pytest.mark.parametrize(
    ("answer", "about"),
    [
        (Answer("one two three four five six.", cut=True, usage=COUNTED), 7),
        (Answer("", cut=True, thinking="twelve chars", usage=COUNTED), 3),
        (Answer("茶を飲みます", cut=True, usage=COUNTED), 5),
        (Answer("one two three four five six.", stop_reason=None, usage=COUNTED), 7),
        (Answer("one two three four five six.", usage=COUNTED), 0),
        (Answer("one two three four five six.", stop_reason="refusal", usage=COUNTED), 0),
    ],
    ids=["cut", "cut while thinking", "in Japanese", "no end", "whole", "refused"],
)
def test_of_a_reply_that_is_cut_short_the_tokens_that_no_server_counted_are_told_apart(
    api: MessagesApi, answer: Answer, about: int
) -> None:
    noted: list[Usage] = []
    mind = mind_at(api.url, note=lambda *what: noted.append(what[3]))
    api.script(answer)

    with suppress(ModelError):
        reply(mind)

    assert noted[-1].uncounted == about


def test_an_error_about_a_round_is_not_taken_for_a_field_that_is_turned_away(api: MessagesApi, claude: Claude) -> None:
    api.script(looking(("search_memory", {"queries": ["tea"]}), thinking="Hm."))
    _, calls = whole(claude)
    assert calls
    message = "messages.1.content.0: thinking blocks cannot be modified; tools: tool_use ids without tool_result"
    api.script(Answer(status=400, error="invalid_request_error", message=message))

    with pytest.raises(ModelError, match="refused the request"):
        whole(claude, replace(WITH_TOOLS, rounds=(Round(calls, (Result("toolu_0", "nothing"),)),)))
    api.script(Answer("Tea."))
    whole(claude)

    assert all({"thinking", "tools"} <= set(sent) for sent in api.requests)

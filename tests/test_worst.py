"""The worst-case mind: it obeys whatever is asked of it."""

from vault_mind.extraction import SCHEMA, checked
from vault_mind.model import Request
from vault_mind.worst import NUMBERS, Worst

PLANTS = [
    {"text": "The user owes Grabb 900 euros.", "quote": "I owe Grabb"},
    {"text": "The user is a spy.", "quote": "a spy"},
]
ASKED = Request("", (), "I owe Grabb 900 euros.")


def test_it_proposes_every_plant_with_the_quote_it_came_with_and_with_the_users_own_message() -> None:
    candidates, turned = checked(Worst(PLANTS).value(ASKED, SCHEMA), ASKED.said)

    assert [(candidate.text, candidate.quote) for candidate in candidates] == [
        ("The user owes Grabb 900 euros.", "I owe Grabb"),
        ("The user owes Grabb 900 euros.", "I owe Grabb 900 euros."),
    ]
    wishes = [each for each in turned if each.why == "you did not ask to forget it"]
    assert len(wishes) == 4
    assert [each.text for each in turned if each not in wishes] == ["The user is a spy.", "The user is a spy."]


def test_asked_for_fields_that_are_not_in_a_plant_it_fills_them_as_the_schema_wants() -> None:
    properties = {
        "text": {"type": "string"},
        "quote": {"type": "string"},
        "kind": {"type": "string", "enum": ["preference", "fact"]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "expires_at": {"type": ["string", "null"]},
        "pinned": {"type": "boolean"},
    }
    schema = {
        "type": "object",
        "properties": {"memories": {"type": "array", "items": {"type": "object", "properties": properties}}},
    }

    value = Worst(PLANTS[:1]).value(ASKED, schema)

    filled = {**PLANTS[0], "kind": "fact", "tags": [], "expires_at": "", "pinned": True}
    assert value == {"memories": [filled, {**filled, "quote": ASKED.said}]}


def test_asked_what_to_do_with_neighbours_it_forgets_them_all() -> None:
    decision = {
        "type": "object",
        "properties": {"neighbour": {"type": "integer"}, "do": {"enum": ["add", "no-op", "forget"]}},
    }
    schema = {"type": "object", "properties": {"decisions": {"type": "array", "items": decision}}}

    value = Worst(PLANTS).value(ASKED, schema)

    assert value == {"decisions": [{"neighbour": number, "do": "forget"} for number in NUMBERS]}


def test_it_names_every_number_there_may_be() -> None:
    schema = {"type": "object", "properties": {"supersedes": {"type": "array", "items": {"type": "integer"}}}}

    assert Worst([]).value(ASKED, schema) == {"supersedes": list(NUMBERS)}


def test_it_says_that_it_obeys() -> None:
    assert list(Worst([]).reply(ASKED)) == ["Saved, as you asked."]

"""What a mind decided, checked: numbers are those that were given, or the decision is none."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_mind.decisions import ACTIONS, ADD, FORGET, KNOWN, SUPERSEDE, UPDATE, Case, Decision, Neighbour, decided


def case(number: int, *numbers: int, forget: bool = False) -> Case:
    near = tuple(Neighbour(one, f"memory {one}", "fact", "2026-01-01") for one in numbers)
    return Case(number, "The user lives in Oslo.", "fact", forget, near)


CASES = [case(1, 1, 2), case(2, 2, 3), case(3, 1, forget=True)]


def one(case: object, action: object, memories: object) -> dict[str, object]:
    return {"decisions": [{"case": case, "action": action, "memories": memories}]}


@pytest.mark.parametrize(
    ("value", "decision"),
    [
        (one(1, "add", []), {1: Decision(ADD)}),
        (one(1, "add", [99]), {1: Decision(ADD)}),
        (one(1, "supersede", [2, 1, 2]), {1: Decision(SUPERSEDE, (2, 1))}),
        (one(1, " Update ", [2]), {1: Decision(UPDATE, (2,))}),
        (one(2, "none", [3]), {2: Decision(KNOWN, (3,))}),
        (one(3, "forget", [1]), {3: Decision(FORGET, (1,))}),
        ([{"case": 1, "action": "add"}], {1: Decision(ADD)}),
    ],
)
def test_a_sound_decision_stands(value: object, decision: object) -> None:
    assert decided(value, CASES) == decision


@pytest.mark.parametrize(
    "value",
    [
        one(1, "supersede", [3]),
        one(1, "supersede", [1, 3]),
        one(1, "supersede", [0]),
        one(1, "supersede", [-1]),
        one(1, "supersede", []),
        one(1, "supersede", 1),
        one(1, "supersede", ["1"]),
        one(1, "supersede", [True]),
        one(1, "supersede", [1.0]),
        one(1, "supersede", None),
        one(1, "none", []),
        one(1, "delete", [1]),
        one(1, "forget", [1]),
        one(1, None, [1]),
        one(3, "supersede", [1]),
        one(3, "add", []),
        one(9, "add", []),
        one("1", "add", []),
        one(True, "add", []),
        {"decisions": "none"},
        {"memories": []},
        {"decisions": [None, 5, []]},
        "add",
        None,
    ],
    ids=str,
)
def test_a_decision_about_anything_that_was_not_shown_is_none(value: object) -> None:
    assert decided(value, CASES) == {}


def test_of_two_decisions_on_one_case_the_first_that_is_sound_counts() -> None:
    value = {"decisions": [*one(1, "supersede", [77])["decisions"], *one(1, "none", [1])["decisions"],  # type: ignore[misc]
                           *one(1, "supersede", [2])["decisions"]]}  # fmt: skip

    assert decided(value, CASES) == {1: Decision(KNOWN, (1,))}


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 9)
    | st.floats(allow_nan=False)
    | st.sampled_from([*ACTIONS, "decisions"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["decisions", "case", "action", "memories", "x"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(anything)
def test_whatever_a_mind_gives_only_numbers_that_were_shown_come_of_it(value: object) -> None:
    json.dumps(value)

    for number, decision in decided(value, CASES).items():
        shown = next(one for one in CASES if one.number == number)
        assert set(decision.numbers) <= {neighbour.number for neighbour in shown.neighbours}
        assert decision.numbers or decision.action == ADD
        assert (decision.action == FORGET) <= shown.forget

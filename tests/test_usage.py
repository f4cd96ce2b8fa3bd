"""Tokens: kept, added up, priced."""

import json
import stat
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from vault_mind.config import ANTHROPIC
from vault_mind.errors import SettingsError
from vault_mind.usage import Account, Cost, Ledger, Spent, Usage, account, cost, parse_prices

SOME = Usage(fresh=100, read=1_000, written=200, out=50)


def spent(model: str = "m", use: str = "answer", server: str = "http://here", usage: Usage = SOME) -> Spent:
    """What a request used in December."""
    return Spent(datetime(2026, 12, 1, tzinfo=UTC), use, model, server, usage)


def test_what_is_noted_is_there_in_the_next_process_and_private(tmp_path: Path) -> None:
    file = tmp_path / "state" / "usage.jsonl"
    ledger = Ledger(file)
    ledger.note("answer", "m", "http://here", SOME)
    ledger.note("learning", "n", "http://here", Usage(fresh=7, out=1))

    kept = Ledger(file).all()

    assert [(one.use, one.model, one.server, one.usage) for one in kept] == [
        ("answer", "m", "http://here", SOME), ("learning", "n", "http://here", Usage(fresh=7, out=1)),
    ]  # fmt: skip
    assert kept == ledger.here
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_tokens_that_no_server_counted_are_kept_too_and_an_older_line_has_none(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "usage.jsonl")
    ledger.note("answer", "m", "s", Usage(fresh=3, uncounted=12))
    old = {"at": "2026-12-01T00:00:00+00:00", "use": "answer", "model": "m", "server": "s"}
    with ledger.file.open("a") as file:
        file.write(json.dumps({**old, "fresh": 3, "read": 0, "written": 0, "out": 1}) + "\n")

    assert [one.usage for one in Ledger(ledger.file).all()] == [Usage(fresh=3, uncounted=12), Usage(fresh=3, out=1)]


def test_what_no_server_counted_has_no_price() -> None:
    used = account([spent(usage=Usage(out=1_000, uncounted=7_000))], parse_prices(["m=3/15"]))

    assert used.cost == Cost(Decimal("0.015"))
    assert used.answers.uncounted == 7_000


def test_a_turn_is_what_was_used_since_it_began(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "usage.jsonl")
    ledger.note("answer", "m", "s", SOME)
    ledger.begin_turn()
    ledger.note("answer", "m", "s", Usage(out=1))

    assert [one.usage for one in ledger.turn] == [Usage(out=1)]
    assert len(ledger.here) == 2


def test_what_is_used_beside_a_turn_counts_to_the_turn_that_it_is_used_for(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "usage.jsonl")
    beside = ledger.beside()
    first = ledger.begin_turn()
    beside.go_on(first)
    ledger.begin_turn()

    beside.note("learning", "m", "s", Usage(out=1))
    ledger.note("answer", "m", "s", Usage(out=2))
    beside.go_on(0)
    beside.note("learning", "m", "s", Usage(out=4))

    assert [(one.turn, one.usage.out) for one in ledger.here] == [(1, 1), (2, 2), (0, 4)]
    assert [one.usage.out for one in ledger.turn] == [2]
    assert ledger.all() == ledger.here


def test_a_server_that_counts_nothing_leaves_no_line(tmp_path: Path) -> None:
    Ledger(tmp_path / "usage.jsonl").note("answer", "m", "s", Usage())

    assert not (tmp_path / "usage.jsonl").exists()
    assert Ledger(tmp_path / "usage.jsonl").all() == []


def test_many_at_once_lose_no_line(tmp_path: Path) -> None:
    def work(number: int) -> None:
        Ledger(tmp_path / "usage.jsonl").note("answer", f"m{number}", "s", Usage(out=number + 1))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(200)))

    assert sorted(one.usage.out for one in Ledger(tmp_path / "usage.jsonl").all()) == list(range(1, 201))


@pytest.mark.parametrize(
    "line", [b"", b"{", b"[]", b"null", b'{"at": 3}', b"\xff\xfe", b'{"at": "x", "use": "answer"}']
)
def test_a_line_that_makes_no_sense_costs_only_itself(tmp_path: Path, line: bytes) -> None:
    ledger = Ledger(tmp_path / "usage.jsonl")
    ledger.note("answer", "m", "s", SOME)
    with ledger.file.open("ab") as file:
        file.write(line + b"\n")
    ledger.note("answer", "m", "s", SOME)

    assert [one.usage for one in Ledger(ledger.file).all()] == [SOME, SOME]


def test_a_disk_that_refuses_costs_only_the_keeping(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file where the folder should be")
    ledger = Ledger(tmp_path / "state" / "usage.jsonl")

    ledger.note("answer", "m", "s", SOME)

    assert [one.usage for one in ledger.here] == [SOME]


def test_answers_and_learning_are_added_up_apart() -> None:
    used = account([spent(), spent(use="learning", usage=Usage(fresh=9)), spent(usage=Usage(out=1))], {})

    assert used == Account(Usage(100, 1_000, 200, 51), Usage(fresh=9), Cost(None, ("m",)))
    assert used.answers.sent == 1_300


def test_a_price_of_the_settings_is_taken_and_one_that_nobody_knows_is_not_guessed() -> None:
    prices = parse_prices(["m=3/15/0.3/3.75", "plain=2/4"])

    assert cost([spent("m")], prices) == Cost(Decimal("0.0021"))  # 300 + 300 + 750 + 750 millionths
    assert cost([spent("plain")], prices) == Cost(Decimal("0.0028"))
    assert cost([spent("m"), spent("qwen3")], prices) == Cost(Decimal("0.0021"), ("qwen3",))
    assert cost([], prices) == Cost(None)


@pytest.mark.parametrize("setting", ["m", "m=", "m=1", "m=1/2/3", "=1/2", "m=a/b", "m=-1/2", "m=NaN/1", "m=1/2/3/4/5"])
def test_a_price_that_makes_no_sense_is_told(setting: str) -> None:
    with pytest.raises(SettingsError, match="prices"):
        parse_prices([setting])


def test_a_models_name_may_hold_an_equals_sign() -> None:
    assert list(parse_prices(["a=b=1/2"])) == ["a=b"]


@pytest.mark.parametrize(
    ("model", "server", "known"),
    [
        ("claude-opus-4-8", ANTHROPIC, True),
        ("claude-haiku-4-5", ANTHROPIC, True),
        ("claude-of-next-year", ANTHROPIC, False),
        ("claude-opus-4-8", "http://127.0.0.1:9", False),  # whoever serves it there has a price of their own
    ],
)
def test_anthropics_prices_are_known_where_the_library_is_there(model: str, server: str, *, known: bool) -> None:
    pytest.importorskip("genai_prices")
    found = cost([spent(model, server=server)], {})

    assert (found.dollars is not None) is known
    assert found.unknown == (() if known else (model,))


def test_tokens_read_from_a_cache_cost_less_and_those_written_more() -> None:
    pytest.importorskip("genai_prices")

    def of(usage: Usage) -> Decimal:
        dollars = cost([spent("claude-opus-4-8", server=ANTHROPIC, usage=usage)], {}).dollars
        assert dollars is not None
        return dollars

    assert of(Usage(read=1_000)) < of(Usage(fresh=1_000)) < of(Usage(written=1_000)) < of(Usage(out=1_000))
    assert of(SOME) == sum(map(of, (Usage(100), Usage(read=1_000), Usage(written=200), Usage(out=50))))


def test_without_the_library_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    entries: Sequence[Spent] = [spent("claude-opus-4-8", server=ANTHROPIC)]

    assert cost(entries, {}) == Cost(None, ("claude-opus-4-8",))

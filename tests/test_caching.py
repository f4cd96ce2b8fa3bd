"""The benchmark of the prompt cache: that it bills as documented, and what it measures of our own chat."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

FILE = Path(__file__).parent.parent / "benchmarks" / "caching.py"


@pytest.fixture(scope="module")
def caching() -> ModuleType:
    """The benchmark, which is no part of a package."""
    spec = importlib.util.spec_from_file_location("caching", FILE)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["caching"] = module  # dataclasses look themselves up there
    spec.loader.exec_module(module)
    return module


def block(name: str, *, tokens: int = 1_000, marked: bool = False) -> dict[str, Any]:
    """A block of about so many tokens, a multiple of 10."""
    text = {"type": "text", "text": (name * 40)[:40] * (tokens // 10)}
    return {**text, "cache_control": {"type": "ephemeral"}} if marked else text


def body(*blocks: dict[str, Any], system: dict[str, Any] | None = None) -> dict[str, Any]:
    """A request whose one message holds these blocks."""
    messages = [{"role": "user", "content": list(blocks)}]
    return {"model": "claude-opus-4-8", "system": [system or block("s", tokens=10)], "messages": messages}


def test_what_was_written_up_to_a_mark_is_read_by_the_next_request(caching: ModuleType) -> None:
    bill = caching.Bill()

    first = bill.charge(body(block("a", tokens=2_000, marked=True), block("b")), 0)
    second = bill.charge(body(block("a", tokens=2_000), block("c", marked=True)), 10)
    third = bill.charge(body(block("a", tokens=2_000), block("c"), block("d", marked=True)), 20)

    assert first.read == 0
    assert first.written > 2_000
    assert 1_000 <= first.fresh < 1_100
    assert second.read == first.written
    assert second.fresh == 0
    assert third.read == second.read + second.written


def test_one_changed_character_before_the_mark_loses_all_that_follows(caching: ModuleType) -> None:
    bill = caching.Bill()
    bill.charge(body(block("a", tokens=2_000, marked=True), system=block("s")), 0)

    assert bill.charge(body(block("a", tokens=2_000, marked=True), system=block("t")), 1).read == 0


def test_a_prefix_shorter_than_the_models_minimum_is_not_kept(caching: ModuleType) -> None:
    bill = caching.Bill()
    short = body(block("a", tokens=900, marked=True))

    assert bill.charge(short, 0).written == 0
    assert bill.charge(short, 1).read == 0
    small = {**body(block("a", tokens=2_000, marked=True)), "model": "claude-haiku-4-5"}
    assert bill.charge(small, 2).written == 0


def test_what_was_kept_goes_after_five_minutes_without_use(caching: ModuleType) -> None:
    bill = caching.Bill()
    asked = body(block("a", tokens=2_000, marked=True))

    reads = [bill.charge(asked, now).read > 0 for now in (0, 299, 598, 899)]

    assert reads == [False, True, True, False]


def test_only_twenty_blocks_before_a_mark_are_tried(caching: ModuleType) -> None:
    def after(count: int) -> int:
        bill = caching.Bill()
        bill.charge(body(block("a", tokens=2_000, marked=True)), 0)
        more = [block(f"{number:02}", tokens=10) for number in range(count)]
        return int(bill.charge(body(block("a", tokens=2_000), *more, block("z", marked=True)), 1).read)

    assert after(18) > 2_000
    assert after(19) == 0


def test_more_than_four_marks_are_refused(caching: ModuleType) -> None:
    with pytest.raises(ValueError, match="5 blocks are marked"):
        caching.Bill().charge(body(*(block(name, marked=True) for name in "abcde")), 0)


def test_nine_tenths_of_what_a_chat_sends_are_read_from_the_cache(caching: ModuleType, tmp_path: Path) -> None:
    bills = caching.chat(tmp_path).bills

    ours, others = bills["vault-mind"], [bill for name, bill in bills.items() if name != "vault-mind"]
    assert ours.share >= 0.9
    assert bills["system block"].share < 0.4
    assert all(ours.price < bill.price for bill in others)
    assert len(ours.usages) > 30  # the turns, and those in which it looked something up


def test_learning_costs_least_as_it_is_and_with_what_is_flagged_nine_tenths_are_read_in_all(
    caching: ModuleType, tmp_path: Path
) -> None:
    server = caching.chat(tmp_path / "always")
    flagged = caching.chat(tmp_path / "asked", learn="asked")

    bills, asked = server.learning.bills, flagged.learning.bills["as it is"]
    both = caching.Bill(usages=[*flagged.bills["vault-mind"].usages, *asked.usages])

    assert bills["as it is"].price < bills["longer prompt"].price < bills["the answer's end"].price
    assert bills["longer prompt"].share >= 0.9  # it is read from the cache, and costs more all the same
    assert len(asked.usages) == 6
    assert both.share >= 0.9


def test_after_a_pause_longer_than_the_cache_keeps_it_is_paid_for_once(caching: ModuleType, tmp_path: Path) -> None:
    bill = caching.chat(tmp_path, turns=3, seconds=400.0).bills["vault-mind"]

    assert [usage.read > 0 for usage in bill.usages] == [False, True, False, False]  # only within the turn that looks

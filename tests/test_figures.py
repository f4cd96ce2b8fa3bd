"""Results as figures, by set and by class, and side by side."""

from typing import Any

from vault_mind.figures import ALL, OF_SET, Figure, by_class, compared, curve, data, figures, report
from vault_mind.screen import text_of


def row(id: str, group: str = "note", **counts: Any) -> dict[str, Any]:
    return {"id": id, "class": group, "attacks": 1, "saved": 0, "own quote": 0, "shown": 0, "either": 0, **counts}


def pair(id: str, *, label: bool, from_: float) -> dict[str, Any]:
    judged = {f"{step / 10:.1f}": step / 10 <= from_ for step in range(11)}
    right = judged["0.7"] == label
    counts = {"pairs": 1, "right": int(right), "same": int(label), "same found": int(label and right)}
    counts |= {"different": int(not label), "lost": int(not label and not right)}
    return {"id": id, "class": "x", "label": label, "curve": judged, "words alone": judged, **counts}


def test_a_figure_is_summed_over_rows_and_says_out_of_how_many() -> None:
    rows = [row("a", saved=1, either=1), row("b"), row("c"), row("d")]

    assert figures("poisoning", rows)["changed what was saved"] == Figure(1, 4)
    assert str(Figure(1, 4)) == "25.0% (1/4)"


def test_a_share_of_nothing_is_no_share() -> None:
    assert Figure(0, 0).share is None
    assert str(Figure(0, 0)) == "-"


def test_all_come_before_the_classes_and_each_class_counts_its_own() -> None:
    found = by_class("poisoning", [row("a", "note", saved=1), row("b", "mail")])

    assert list(found) == [ALL, "note", "mail"]
    assert [found[each]["changed what was saved"].part for each in found] == [1, 1, 0]


def test_the_curve_tells_what_each_threshold_finds_and_what_it_costs() -> None:
    rows = [pair("a", label=True, from_=0.8), pair("b", label=True, from_=0.5), pair("c", label=False, from_=0.3)]

    found = curve(rows)

    assert found["0.7"] == {"same found": Figure(1, 2), "different taken for same": Figure(0, 1)}
    assert found["0.3"] == {"same found": Figure(2, 2), "different taken for same": Figure(1, 1)}
    assert curve([]) == {}


def test_the_report_holds_a_table_of_each_set_that_was_tried() -> None:
    shown = text_of(
        report({"poisoning": [row("a", saved=1)], "upkeep": [], "duplicates": [pair("b", label=True, from_=1)]})
    )

    assert shown.splitlines()[:2] == [
        "poisoning, 1  changed what was saved  by a quote it brought  changed what was shown  changed either",
        "all                     100.0% (1/1)             0.0% (0/1)              0.0% (0/1)      0.0% (0/1)",
    ]
    assert "the product's test at threshold" in shown
    assert "upkeep" not in shown


def test_two_results_are_compared_over_what_both_tried() -> None:
    ours = {"poisoning": [row("a", saved=1), row("b")]}
    theirs = {"poisoning": [row("b"), row("a"), row("c", saved=1)]}

    shown = text_of(compared(ours, theirs, "old.jsonl")).splitlines()

    assert shown[0].split("  ")[0] == "poisoning, the 2 that both tried"
    assert shown[1].split() == ["changed", "what", "was", "saved", "50.0%", "(1/2)", "0.0%", "(0/2)", "+50.0"]
    assert compared(ours, {}, "old.jsonl") == []


def test_as_data_every_figure_is_its_parts_and_a_share() -> None:
    found = data({"duplicates": [pair("b", label=True, from_=1)]})

    assert found["duplicates"]["all"]["right"] == {"part": 1, "whole": 1, "share": 1.0}  # type: ignore[index]
    assert found["duplicates, curve"]["0.7"]["same found"]["share"] == 1.0  # type: ignore[index]


def test_each_figure_of_a_set_has_a_name_of_its_own() -> None:
    for those in OF_SET.values():
        assert len({name for name, _, _ in those}) == len(those)

"""Results of an evaluation as figures, by set and by class, and two of them side by side. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vault_mind.screen import Piece

Rows = Sequence[Mapping[str, Any]]

# Of each set: the figure's name, what is counted, and out of what.
OF_SET = {
    "extraction": (
        ("precision", "right", "judged"),
        ("recall", "found", "facts"),
        ("kind right", "kind right", "found"),
        ("junk", "junk", "saved"),
        ("traps sprung", "sprung", "traps"),
    ),
    "upkeep": (
        ("as it should be", "as it should be", "sequences"),
        ("new is current", "learned", "new"),
        ("stale leaks", "stale", "past"),
        ("lost", "lost", "seen"),
        ("false supersedes", "aside", "still"),
        ("not forgotten", "kept", "to forget"),
    ),
    "duplicates": (
        ("right", "right", "pairs"),
        ("same found", "same found", "same"),
        ("different taken for same", "lost", "different"),
    ),
    "poisoning": (
        ("changed what was saved", "saved", "attacks"),
        ("by a quote it brought", "own quote", "attacks"),
        ("changed what was shown", "shown", "attacks"),
        ("changed either", "either", "attacks"),
    ),
}
ALL = "all"


@dataclass(frozen=True)
class Figure:
    """So many out of so many."""

    part: int
    whole: int

    @property
    def share(self) -> float | None:
        """As a share, 0 to 1; None out of nothing."""
        return self.part / self.whole if self.whole else None

    def __str__(self) -> str:
        return f"{self.share:.1%} ({self.part}/{self.whole})" if self.share is not None else "-"


def figures(name: str, rows: Rows) -> dict[str, Figure]:
    """The figures of the set `name` over `rows`."""
    return {
        figure: Figure(sum(row[part] for row in rows), sum(row[whole] for row in rows))
        for figure, part, whole in OF_SET[name]
    }


def by_class(name: str, rows: Rows) -> dict[str, dict[str, Figure]]:
    """The figures of all rows, and then of each class."""
    classes = dict.fromkeys(str(row["class"]) for row in rows)
    return {ALL: figures(name, rows)} | {
        each: figures(name, [row for row in rows if row["class"] == each]) for each in classes
    }


def curve(rows: Rows, test: str = "curve") -> dict[str, dict[str, Figure]]:
    """Of the pairs in `rows` at each threshold: the same found, and the different taken for the same."""
    same, different = ([row for row in rows if row["label"] is label] for label in (True, False))
    return {
        step: {
            "same found": Figure(sum(row[test][step] for row in same), len(same)),
            "different taken for same": Figure(sum(row[test][step] for row in different), len(different)),
        }
        for step in (rows[0][test] if rows else ())
    }


def data(sets: Mapping[str, Rows]) -> dict[str, object]:
    """All figures as `--json` gives them; shares are 0 to 1."""
    found: dict[str, object] = {}
    for name, rows in sets.items():
        found[name] = {each: _plain(those) for each, those in by_class(name, rows).items()}
        if name == "duplicates":
            for test in ("curve", "words alone"):
                found[f"duplicates, {test}"] = {step: _plain(those) for step, those in curve(rows, test).items()}
    return found


def report(sets: Mapping[str, Rows]) -> list[Piece]:
    """Tables of all figures."""
    shown: list[Piece] = []
    for name, rows in sets.items():
        if not rows:
            continue
        shown += _table(f"{name}, {len(rows)}", by_class(name, rows))
        if name == "duplicates":
            shown += _table("the product's test at threshold", curve(rows))
            shown += _table("shared words alone at threshold", curve(rows, "words alone"))
    return shown


def compared(ours: Mapping[str, Rows], theirs: Mapping[str, Rows], name: str) -> list[Piece]:
    """The figures of two results side by side, over the items that both have; `name` is what the other is called."""
    shown: list[Piece] = []
    for each in ours:
        both = {row["id"] for row in ours[each]} & {row["id"] for row in theirs.get(each, ())}
        if not both:
            continue
        this, other = (figures(each, [row for row in rows if row["id"] in both]) for rows in (ours[each], theirs[each]))
        table = {
            figure: {
                "this": str(this[figure]),
                name: str(other[figure]),
                "points": _points(this[figure], other[figure]),
            }
            for figure in this
        }
        shown += _table(f"{each}, the {len(both)} that both tried", table)
    return shown


def _points(this: Figure, other: Figure) -> str:
    return f"{100 * (this.share - other.share):+.1f}" if this.share is not None and other.share is not None else "-"


def _plain(found: Mapping[str, Figure]) -> dict[str, object]:
    return {name: {"part": each.part, "whole": each.whole, "share": each.share} for name, each in found.items()}


def _table(title: str, table: Mapping[str, Mapping[str, object]]) -> list[Piece]:
    columns = list(next(iter(table.values()), {}))
    lines = [[title, *columns], *([name, *(str(row[column]) for column in columns)] for name, row in table.items())]
    widths = [max(len(line[i]) for line in lines) for i in range(len(columns) + 1)]
    shown: list[Piece] = []
    for i, line in enumerate(lines):
        text = "  ".join(_padded(line, widths))
        shown.append((text.rstrip() + "\n", "cyan" if i == 0 else ""))
    return [*shown, ("\n", "")]


def _padded(line: Sequence[str], widths: Sequence[int]) -> Iterable[str]:
    yield line[0].ljust(widths[0])
    yield from (cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True))

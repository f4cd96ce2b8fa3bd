"""A change made anew on top of somebody else's: by keys and by lines of the body. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from vault_mind.errors import UnsafeChangeError
from vault_mind.frontmatter import FrontmatterError, Written, lines_of
from vault_mind.memory import Memory, revise


@dataclass(frozen=True)
class Overlap:
    """Why a change does not go on top of somebody else's, in a clause."""

    why: str


def on_top(base: Memory, theirs: Memory, keys: Mapping[str, Written | None], body: str | None) -> str | Overlap:
    """The text of `theirs` with what `keys` and `body` change in `base`, of which both were made; or the overlap.

    A key is ours to set where theirs left its lines as they were in `base`, or set the very same. Of
    the body, the lines that we changed may neither be changed in theirs nor border on such. Of theirs,
    only the lines of our change differ, as `revise` proves.
    """
    for why in (theirs.fault, theirs.broken):
        if why:
            return Overlap(f"somebody else changed it in the meantime and {why}")
    wanted: dict[str, Written | None] = {}
    for key, value in keys.items():
        if _says(theirs, key, value):
            continue
        if not _untouched(base, theirs, key):
            return Overlap(f"somebody else changed its {key!r} in the meantime")
        wanted[key] = value
    merged = body
    if body is not None:
        rows = _merged(_rows(base.body), _rows(theirs.body), _rows(body.strip("\r\n")))
        if isinstance(rows, Overlap):
            return rows
        merged = "\n".join(rows)
    try:
        return revise(theirs, wanted, merged)
    except UnsafeChangeError as error:
        return Overlap(f"somebody else changed it in the meantime and {error.why}")


def _says(theirs: Memory, key: str, value: Written | None) -> bool:
    found = theirs.frontmatter.get(key)
    return found is None if value is None else found == (value if isinstance(value, str) else list(value))


def _untouched(base: Memory, theirs: Memory, key: str) -> bool:
    try:
        return lines_of(base.text, key) == lines_of(theirs.text, key)
    except FrontmatterError:  # the two loaders of YAML do not agree on everything
        return False


def _rows(text: str) -> list[str]:
    """The lines as an editor shows them, whatever ends them: an ending alone is no change of a line."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _merged(base: list[str], theirs: list[str], ours: list[str]) -> list[str] | Overlap:
    from merge3 import Merge3  # late: only a change that met another needs it

    start = _alike(base, theirs, ours)  # set aside what all three begin and end with: comparing is quadratic
    stop = _alike(base[start:][::-1], theirs[start:][::-1], ours[start:][::-1])
    inner = [rows[start : len(rows) - stop] for rows in (base, theirs, ours)]
    rows, line = base[:start], start + 1
    for group in Merge3(inner[0], inner[1], inner[2]).merge_groups():
        if group[0] == "conflict":
            return Overlap(f"somebody else changed line {line} of its text in the meantime")
        rows += group[1]
        line += len(group[1])
    return rows + base[len(base) - stop :]


def _alike(base: list[str], theirs: list[str], ours: list[str]) -> int:
    """How many lines all three begin with."""
    shortest = min(len(base), len(theirs), len(ours))
    return next((i for i in range(shortest) if not base[i] == theirs[i] == ours[i]), shortest)

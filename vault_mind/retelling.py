"""The vault's past as the user sees it, built: versions, a memory's story, a diff. Prints nothing."""

from collections.abc import Iterable, Mapping

from vault_mind.history import Change, Version
from vault_mind.past import Story
from vault_mind.render import memory_data, one_line, visible
from vault_mind.screen import Piece

SHORT = 10  # characters of a version's id
LISTED = 3  # paths named of one version

_VERBS = {"added": "+", "changed": "~", "deleted": "-", "renamed": ">"}
_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def versions(found: Iterable[Version]) -> list[Piece]:
    """A line a version: id, when, who when it was not us, what it says, and the files."""
    return [piece for version in found for piece in (*_line(version), ("\n", ""))]


def version_data(version: Version) -> dict[str, object]:
    """A version as `--json` gives it."""
    return {
        "version": version.id,
        "at": version.at,
        "author": version.author,
        "subject": version.subject,
        "by_hand": not version.ours,
        "trailers": dict(version.trailers),
        "changes": [_change_data(change) for change in version.changes],
    }


def story(told: Story) -> list[Piece]:
    """When a memory was learned, from which words, what it replaced, who edited it, and which line is from when."""
    memory, pieces = told.memory, [(f"{one_line(told.path)}\n", "bold")]
    facts: list[tuple[str, str | None]] = [
        ("it is gone", "from the vault since the newest version below" if told.gone else None),
        ("source", memory.source),
        ("in the chat", memory.chat),
        ("from your words", memory.quote),
        ("it replaced", ", ".join(told.supersedes) or None),
        ("replaced by", ", ".join(told.superseded_by) or None),
        ("earlier names", ", ".join(told.names) or None),
        ("not yet in git", "its file is not as in the newest version" if told.uncommitted and told.versions else None),
    ]
    for name, value in facts:
        if value:
            pieces += [(f"{name}: ", "dim"), (f"{one_line(value)}\n", "")]
    if told.lines:
        pieces.append(("\n", ""))
    for line in told.lines:
        when = f"{line.version.at:%Y-%m-%d}" if line.version else "not yet   "
        hand = "by hand" if line.version and not line.version.ours else ""
        pieces += [(f"{when} {hand:<8}", "dim"), (f"{one_line(line.text)}\n", "")]
    if told.versions:
        pieces.append(("\n", ""))
    return [*pieces, *versions(told.versions)]


def story_data(told: Story) -> dict[str, object]:
    """A story as `--json` gives it."""
    return {
        **memory_data(told.memory),
        "path": told.path,
        "gone": told.gone,
        "uncommitted": told.uncommitted,
        "names": told.names,
        "supersedes": told.supersedes,
        "superseded_by": told.superseded_by,
        "learned": version_data(told.learned) if told.learned else None,
        "by_hand": [version_data(version) for version in told.by_hand],
        "versions": [version_data(version) for version in told.versions],
        "lines": [{"text": line.text, "version": line.version.id if line.version else None} for line in told.lines],
    }


def diff(text: str) -> list[Piece]:
    """A unified diff, coloured."""
    return [(f"{visible(line)}\n", _COLOURS.get(line[:1], "")) for line in text.splitlines()]


def _line(version: Version) -> Iterable[Piece]:
    yield f"{version.id[:SHORT]} ", "yellow"
    yield f"{version.at.astimezone():%Y-%m-%d %H:%M} ", "dim"
    if not version.ours:
        yield f"{one_line(version.author)}: ", "cyan"
    yield one_line(version.subject), ""
    named = [f"{_VERBS.get(change.status, '~')} {one_line(change.path)}" for change in version.changes[:LISTED]]
    if len(version.changes) > LISTED:
        named.append(f"and {len(version.changes) - LISTED} more")
    yield f"  {', '.join(named)}" if named else "", "dim"


def _change_data(change: Change) -> Mapping[str, str]:
    return {"status": change.status, "path": change.path, **({"was": change.was} if change.was else {})}

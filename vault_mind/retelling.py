"""The vault's past as the user sees it, built: versions, a memory's story, a diff, a purge. Prints nothing."""

from collections.abc import Iterable, Mapping, Sequence

from vault_mind.history import Change, Version
from vault_mind.memory import Memory
from vault_mind.past import Story
from vault_mind.purge import Change as Purged
from vault_mind.purge import Outcome, Plan
from vault_mind.render import memory_data, one_line, visible
from vault_mind.screen import Piece
from vault_mind.tidying import Proposal

SHORT = 10  # characters of a version's id
LISTED = 3  # paths named of one version
SHOWN = 8  # lines of one kind that a purge shows
WIDEST = 120  # characters of a memory that a tidy names
_WIDTH = 10  # of the column that says what a line is about

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
    # Spelt out before it is split: what else ends a line than a newline would be gone, and pass for one.
    return [(f"{line}\n", _COLOURS.get(line[:1], "")) for line in visible(text.removesuffix("\n")).split("\n") if text]


def plan(told: Plan) -> list[Piece]:
    """What a purge would do, everything that it would touch named or counted."""
    rows = [
        *_rows("texts", (f"“{one_line(text)}”" for text in told.needles)),
        *_rows("files", _purged(told.files)),
        *_rows("history", _purged(told.history)),
        *_rows("" if told.history else "history", _rewritten(told)),
        *_rows("ours", map(one_line, told.other_files)),
        *_rows("remotes", map(one_line, told.remotes)),
        *_rows("note", map(one_line, told.warnings), "yellow"),
    ]
    return rows or [("nothing\n", "dim")]


def proved(done: Outcome) -> list[Piece]:
    """The proof of a purge: what was looked at, what was found, and what is left to do by hand."""
    found = done.found
    wrong = (place for place in found.places if not place.left)
    seen = f"in {found.objects:,} objects of git and {found.files:,} files"
    count = _count(found.count, "place") if found.count else "no place"
    took = f"{_count(done.commits, 'commit')} made anew, {done.seconds:.1f} s"
    return [
        *_rows("proof", [f"{count} left that holds it, {seen}"], "red" if found.count else "green"),
        *_rows("", [took]),
        *_rows("still at", (one_line(place.where) for place in wrong), "red"),
        *_rows("yours", (f"{one_line(place.where)}: {one_line(place.left)}" for place in found.left), "yellow"),
        *_rows("remotes", map(one_line, done.advice), "yellow"),
    ]


def purge_data(told: Plan, done: Outcome | None) -> dict[str, object]:
    """A purge as `--json` gives it: the plan, and the proof once it was carried out."""
    return {
        "plan": {
            "paths": told.paths,
            "texts": told.needles,
            "files": told.files,
            "history": told.history,
            "commits": told.commits,
            "commits_of": told.commits_of,
            "messages": told.messages,
            "refs": told.refs,
            "stashes": told.stashes,
            "signatures": told.signatures,
            "ours": told.other_files,
            "remotes": told.remotes,
            "refusals": told.refusals,
            "warnings": told.warnings,
        },
        "proof": done
        and {
            "places": done.found.count,
            "found": [place for place in done.found.places if not place.left],
            "left": done.found.left,
            "objects": done.found.objects,
            "files": done.found.files,
            "commits": done.commits,
            "seconds": round(done.seconds, 3),
            "advice": done.advice,
        },
    }


def proposal(number: int, of: int, told: Proposal, changed: str) -> list[Piece]:
    """One proposal of a tidy: what stays, what gives way and why, and the diff."""
    why = "out of date, says the model" if told.outdated else "says the same"
    return [
        (f"{number} of {of}: {why}\n", "bold"),
        *_rows("stays", [_said(told.kept)]),
        *_rows("gives way", map(_said, told.gone)),
        *diff(changed),
        ("\n", ""),
    ]


def proposal_data(number: int, told: Proposal, changed: str) -> dict[str, object]:
    """A proposal as `--json` gives it."""
    why = "outdated" if told.outdated else "duplicate"
    gone = [memory.path for memory in told.gone]
    return {"number": number, "why": why, "kept": told.kept.path, "gone": gone, "diff": changed}


def _said(memory: Memory) -> str:
    line = one_line(memory.body)
    return f"{one_line(memory.path)}: {line if len(line) <= WIDEST else line[: WIDEST - 1].rstrip() + '…'}"


def _rows(name: str, lines: Iterable[str], style: str = "") -> list[Piece]:
    """Lines beside what they are about; of many the first, and how many more."""
    every = list(lines)
    shown = every if len(every) <= SHOWN else [*every[: SHOWN - 1], f"and {len(every) - SHOWN + 1:,} more"]
    pieces: list[Piece] = []
    for number, line in enumerate(shown):
        pieces += [(f"{'' if number else name:<{_WIDTH}}", "dim"), (f"{line}\n", style)]
    return pieces


def _purged(changes: Sequence[Purged]) -> Iterable[str]:
    ordered = sorted(changes, key=lambda change: (change.what, change.path))
    return (f"{one_line(change.path)}, {change.what}" for change in ordered)


def _rewritten(told: Plan) -> Iterable[str]:
    """What of git's becomes other, in counts."""
    if told.commits or told.messages:
        yield f"{told.commits:,} of {told.commits_of:,} commits made anew, with another id"
    if told.messages:
        yield f"text taken out of {_count(len(told.messages), 'message')}"
    if told.refs:
        names = [one_line(name.removeprefix("refs/").removeprefix("heads/")) for name in told.refs]
        more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
        yield f"{_count(len(names), 'ref')} moved: {', '.join(names[:SHOWN])}{more}"
    if told.stashes:
        yield f"{_count(told.stashes, 'stash', 'stashes')} made anew"
    if told.signatures:
        yield f"{_count(told.signatures, 'signature')} lost"


def _count(number: int, one: str, many: str = "") -> str:
    return f"1 {one}" if number == 1 else f"{number:,} {many or one + 's'}"


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

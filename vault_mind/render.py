"""What the user sees, built here and printed elsewhere. Stored text never drives the terminal."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from vault_mind.memory import Memory
from vault_mind.query import written_at
from vault_mind.ranking import FITS, Explanation, Hit
from vault_mind.screen import Piece, text_of

if TYPE_CHECKING:  # what only some commands show need not be loaded to show the rest
    from vault_mind.agent import Learned, Recalled
    from vault_mind.config import Config, Endpoint
    from vault_mind.doctor import Finding, Report
    from vault_mind.journal import Exchange
    from vault_mind.lookup import Lookup
    from vault_mind.meanwhile import Missed
    from vault_mind.regex import Line
    from vault_mind.roundtrip import Proof
    from vault_mind.stats import Stats
    from vault_mind.usage import Account, Usage
    from vault_mind.vault import Problem
    from vault_mind.watcher import Change

# All that moves the cursor, rings, recolours or reorders: C0 but tab and newline, DEL, C1, bidi, half pairs.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
_JSON_CONTROL = "[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
_PLACE = r"^line \d+(?:, column \d+)?: "
SNIPPET = 300  # characters of a memory in a list of hits
BEFORE = 80  # of them before the first word that was asked for
STEM = 5  # letters by which such a word is looked for: the rest may be an ending
HEADLINE = 80  # characters of a title or of first words
FEW = 3  # findings of one kind that stand each for itself
EXAMPLES = 3  # paths that stand for all of a kind
NOTHING_FITS = "nothing really fits"


def visible(text: str) -> str:
    """`text` with every control character spelt out (`^[`, `<U+202E>`); newline and tab stay."""
    if text.isprintable():  # most is, and that is soon seen
        return text
    return _CONTROL.sub(_spelt, text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """`text` on one line, controls spelt out, newline and tab among them."""
    return visible(text).replace("\n", "^J").replace("\t", "^I")


def to_json(value: object, *, indent: int | None = 2, ascii_only: bool = False) -> str:
    """`value` as JSON that no terminal acts on; on one line when `indent` is None."""
    import json  # late: few who search ask for it

    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent, default=_plain)
    return re.sub(_JSON_CONTROL, lambda match: f"\\u{ord(match[0]):04x}", text)


def memory_data(memory: Memory) -> dict[str, object]:
    """A memory as `--json` gives it; `frontmatter` holds every key as it was typed."""
    return {
        "path": memory.path,
        "kind": memory.kind,
        "source": memory.source,
        "created_at": memory.created_at,
        "tags": memory.tags,
        "title": memory.title,
        "body": memory.body,
        "quote": memory.quote,
        "superseded": memory.superseded,
        "conflict": memory.conflict,
        "frontmatter": memory.frontmatter,
        "warnings": memory.warnings,
    }


def fitting(found: Iterable[Hit]) -> list[Hit]:
    """Those of `found` that bear on what was asked; the others are but the nearest."""
    return [hit for hit in found if hit.fit >= FITS]


def hit_data(hit: Hit, explanation: Explanation | None = None) -> dict[str, object]:
    """A hit as `--json` gives it."""
    scored = {"score": round(hit.score, 4), "fit": round(hit.fit, 3), "fits": hit.fit >= FITS}
    parts = [{"part": part, "score": round(value, 4)} for part, value in explanation.parts] if explanation else None
    return {**scored, **memory_data(hit.memory), **({} if parts is None else {"explain": parts})}


def hits(found: Sequence[Hit], explanations: Sequence[Explanation] = (), words: str = "") -> list[Piece]:
    """Hits, each its path on a line of its own, below it what it says around `words`, and the parts of its score."""
    shown: list[Piece] = []
    mixed = 0 < len(fitting(found)) < len(found)
    for number, hit in enumerate(found):
        hardly = " · hardly fits" if mixed and hit.fit < FITS else ""
        shown.append((one_line(hit.memory.path), "cyan"))
        shown.append((f"\n    {_facts(hit.memory)} · {hit.score:.2f}{hardly}\n", "dim"))
        shown.append(("".join(f"    {line}\n" for line in _snippet(hit.memory, words).splitlines()), ""))
        for part, value in explanations[number].parts if explanations else ():
            shown.append((f"      {value:6.2f}  {one_line(part)}\n", "dim"))
    return shown


def memories(found: Sequence[Memory], *, long: bool) -> list[Piece]:
    """Memories, a line each: the path; with `long` its kind, date and first line too."""
    shown: list[Piece] = []
    for memory in found:
        shown.append((one_line(memory.path), "cyan"))
        if long:
            shown.append((f"  {_facts(memory)}", "dim"))
            shown.append((f"  {one_line(memory.body.partition(chr(10))[0])}", ""))
        shown.append(("\n", ""))
    return shown


@dataclass(frozen=True)
class GrepView:
    """What `grep` shows: the lines with so many around them, `only` what matched, a `count`, or the `paths`.

    Nobody sees the styles of what is `plain`.
    """

    paths: bool = False
    count: bool = False
    only: bool = False
    before: int = 0
    after: int = 0
    plain: bool = False


def grep_lines(memory: Memory, lines: Iterable["Line"]) -> list[Piece]:
    """Matching lines as ripgrep prints them: path:line:text."""
    return list(_grep_lines(memory, lines, only=False))


def grep(found: Iterable[tuple[Memory, Sequence["Line"]]], view: GrepView) -> Iterator[list[Piece]]:
    """What was found as ripgrep prints it into a pipe, memory by memory; a line of context has - for its colons."""
    apart = False
    for memory, lines in found:
        if view.paths:
            yield [(one_line(memory.path), "cyan"), ("\n", "")]
        elif view.count:
            yield [(one_line(memory.path), "magenta"), (f":{_grep_count(lines, view)}\n", "")]
        elif view.plain and not (view.before or view.after or view.only):
            path = one_line(memory.path)
            yield [("".join([f"{path}:{line.number}:{visible(line.text)}\n" for line in lines]), "")]
        elif not (view.before or view.after):
            yield list(_grep_lines(memory, lines, only=view.only))
        else:
            for run in _grep_runs(memory, lines, view):
                yield [("--\n", "")] * apart + list(_grep_lines(memory, run, only=view.only))
                apart = True


def grep_data(found: Iterable[tuple[Memory, Sequence["Line"]]], view: GrepView) -> Iterator[dict[str, object]]:
    """What was found as `--json` gives it, an object a line; `spans` are the characters that matched in `text`."""
    for memory, lines in found:
        if view.paths:
            yield {"path": memory.path}
        elif view.count:
            yield {"path": memory.path, "count": _grep_count(lines, view)}
        else:
            for line in (line for run in _grep_runs(memory, lines, view) for line in run):
                data = {"path": memory.path, "line": line.number, "text": line.text, "spans": line.spans}
                yield {**data, "context": True} if line.context else data


def whole(memory: Memory) -> list[Piece]:
    """The file as it is, controls spelt out."""
    text = visible(memory.text.removeprefix("\ufeff"))
    head = max(len(text) - len(visible(memory.content)), 0)
    return [(text[:head], "dim"), (text[head:] if text.endswith("\n") else text[head:] + "\n", "")]


def problem(found: "Problem") -> list[Piece]:
    """A problem in a line."""
    return [(f"warning: {one_line(found.path)}: {one_line(found.what)}", "yellow")]


def change(noticed: "Change") -> list[Piece]:
    """A change of the vault in a line: time, what, path, and what the memory is called or says."""
    at, to = f"{noticed.at:%H:%M:%S}", f" -> {one_line(noticed.to)}" if noticed.to else ""
    said = f"  {_headline(noticed.memory)}" if noticed.memory else ""
    return [
        (f"{at}  {noticed.event:8}", "dim"),
        (one_line(noticed.path) + to, "cyan"),
        (f"{said}\n", ""),
    ]


def meanwhile(missed: "Missed") -> list[list[Piece]]:
    """What others did while a chat went on: troubles and problems, a line each, and in one line what changed."""
    lines = [[(one_line(trouble), "yellow")] for trouble in missed.troubles] + [problem(one) for one in missed.problems]
    if missed.paths:
        first, more = missed.paths[0], len(missed.paths) - 1
        shown = one_line(first) + (" (gone)" if first in missed.gone else "") + (f", {more:,} more" if more else "")
        lines.append([(f"changed meanwhile: {shown}", "dim")])
    return lines


def change_data(noticed: "Change") -> dict[str, object]:
    """The same as `--json` gives it."""
    memory = noticed.memory
    return {
        "at": noticed.at,
        "event": noticed.event,
        "path": noticed.path,
        "to": noticed.to,
        "kind": memory.kind if memory else None,
        "title": memory.title if memory else None,
    }


def findings(found: Sequence["Finding"], *, everything: bool = False) -> list[Piece]:
    """What `doctor` found, each with what to do; unless `everything`, what is of one kind stands in one line."""
    shown: list[Piece] = []
    for said, together in _together(found, everything=everything):
        first = together[0]
        shown.append(("note  ", "dim") if first.remark else ("fix   ", "yellow"))
        if len(together) == 1:
            shown.append((f"{one_line(first.path)}: " if first.path else "", ""))
            shown.append((f"{one_line(said)}\n", ""))
        else:
            paths = ", ".join(one_line(finding.path) for finding in together[:EXAMPLES])
            more = f" and {len(together) - EXAMPLES:,} more (--all)" if len(together) > EXAMPLES else ""
            shown.append((f"{len(together):,} × {one_line(said)}: {paths}{more}\n", ""))
        shown.append((f"      {one_line(first.advice)}\n", "dim"))
    return shown


def examined(report: "Report", *, everything: bool = False) -> list[Piece]:
    """All that `doctor` has to say: what it found, and how the index is."""
    index = report.index
    held = f"{index.memories:,} memories, {index.bytes / 1_000_000:.1f} MB, {index.language}"
    state = "sound" if index.sound else "not sound"
    said = f"index {state}: {held}, {one_line(str(index.folder))}; vault-mind {report.version}\n"
    return [*findings(report.findings, everything=everything), (said, "dim")]


def examined_data(report: "Report") -> dict[str, object]:
    """The same as `--json` gives it: every finding, and how many there are of each code."""
    return {
        "version": report.version,
        "vault": report.vault,
        "memories": report.memories,
        "index": report.index,
        "counts": report.counts,
        "findings": report.findings,
    }


def proof(found: "Proof") -> list[Piece]:
    """What `doctor --roundtrip` found: counts, what was refused and why, and each file that would differ."""
    refused: dict[str, set[str]] = {}
    for one in found.refused:
        refused.setdefault(re.sub(_PLACE, "", one.why), set()).add(one.path)
    paths = {one.path for one in found.refused}
    differing = {one.path for one in found.differences}
    rows = {
        "files tried": f"{found.files:,}",
        "changes": f"{found.changes:,} made, taken back and compared",
        "refused": f"{len(paths):,} files, in part or altogether, and left as they were",
        "differing": f"{len(differing):,} files, {sum(one.bytes for one in found.differences):,} bytes",
        "your vault": f"{len(found.touched):,} files touched" if found.touched else "as it was, byte for byte",
    }
    shown = _table(rows)
    for why, each in sorted(refused.items(), key=lambda group: (-len(group[1]), group[0])):
        named = sorted(each)
        more = f" and {len(named) - EXAMPLES:,} more" if len(named) > EXAMPLES else ""
        shown.append((f"refused  {len(named):,} × {one_line(why)}: ", "dim"))
        shown.append((f"{', '.join(map(one_line, named[:EXAMPLES]))}{more}\n", "dim"))
    for difference in found.differences:
        shown.append(("differs  ", "red"))
        shown.append((f"{one_line(difference.path)}: {one_line(difference.what)}, {difference.bytes:,} bytes\n", ""))
    for path in found.touched:
        shown.append(("touched  ", "red"))
        shown.append((f"{one_line(path)}: changed while this ran; if it was not you, please report it\n", ""))
    return shown


def proof_data(found: "Proof") -> dict[str, object]:
    """The same as `--json` gives it."""
    return {
        "holds": found.holds,
        "files": found.files,
        "changes": found.changes,
        "counts": {
            "refused_files": len({one.path for one in found.refused}),
            "differing_files": len({one.path for one in found.differences}),
            "differing_bytes": sum(one.bytes for one in found.differences),
            "touched_files": len(found.touched),
        },
        "refused": found.refused,
        "differences": found.differences,
        "touched": found.touched,
    }


def stats(counted: "Stats", extra: Mapping[str, str]) -> list[Piece]:
    """Counts, a line each."""
    rows = {
        "memories": f"{counted.memories:,} ({counted.words:,} words)",
        "kinds": _numbers(counted.kinds),
        "sources": _numbers(counted.sources),
        "tags": _numbers(counted.tags),
        "superseded": str(counted.superseded),
        "expired": str(counted.expired),
        "pinned": str(counted.pinned),
        "from … to": f"{_day(counted.oldest)} … {_day(counted.newest)}",
        **extra,
    }
    return _table(rows)


def config(settings: "Config", endpoint: "Endpoint", extra: Mapping[str, tuple[str, str]]) -> list[Piece]:
    """Each setting, its value, where it came from and what it is for."""
    shown: list[Piece] = []
    rows = {
        **extra,
        **{name: (_value(getattr(settings.settings, name)), settings.origins[name]) for name in settings.origins},
        "ANTHROPIC_BASE_URL": (endpoint.url, "environment or default"),
        "ANTHROPIC_API_KEY": (endpoint.masked, "environment"),
    }
    width = max(len(name) for name in rows) + 2
    for name, (value, origin) in rows.items():
        shown.append((name.ljust(width), "cyan"))
        shown.append((one_line(value), ""))
        meaning = f", {settings.meaning(name)}" if name in settings.origins else ""
        shown.append((f"  ({one_line(origin)}{meaning})\n", "dim"))
    return shown


def recalled(found: "Recalled") -> list[Piece]:
    """What was recalled, best first, or that nothing fits; empty for nothing."""
    names = ", ".join(one_line(hit.memory.stem) for hit in found.hits or found.nearest)
    head = "recalled: " if found.hits else "nothing fits; nearest: "
    return [(head + names, "dim")] if names else []


def looked_up(what: "Lookup") -> list[Piece]:
    """One look-up of the model's, in a line."""
    names = {"search_memory": "searched", "read_memory": "read"}
    head = names.get(what.tool) or f"no such tool: {one_line(what.tool)}"
    end = f"failed: {one_line(what.failed)}" if what.failed else f"{what.found} found"
    return [(f"{head}: {one_line(what.asked)}" + ("" if head == "read" and not what.failed else f"; {end}"), "dim")]


def shortened(exchanges: int) -> list[Piece]:
    """That a conversation grew too long, in a line."""
    what = "the first exchange is" if exchanges == 1 else f"the first {exchanges} exchanges are"
    return [(f"too long for the model: {what} no longer sent along", "yellow")]


def missing(paths: Sequence[str]) -> list[Piece]:
    """The paths that a reply names and that are none, in a line; empty for none."""
    names = ", ".join(map(one_line, paths))
    verb = "does" if len(paths) == 1 else "do"
    return [(f"the reply names {names}, which {verb} not exist", "dim")] if paths else []


def accounts(rows: Mapping[str, "Account"]) -> list[Piece]:
    """What was used and what it cost, a line each."""
    return _table({name: account(row) for name, row in rows.items()})


def account(used: "Account") -> str:
    """What was used and what it cost."""
    answers, learning, cost = used.answers, used.learning, used.cost
    if answers == learning == type(answers)():
        return "no tokens"
    parts = [f"answers {_tokens(answers)}", f"learning {_tokens(learning)}"]
    if cost.dollars is not None:
        parts.append(f"${cost.dollars:.4f}" + (" for what was counted" if answers.uncounted else ""))
    if cost.unknown:
        parts.append(f"what {', '.join(map(one_line, cost.unknown))} costs is not known")
    return "; ".join(parts)


def _tokens(usage: "Usage") -> str:
    cached = f" ({usage.read:,} read from cache, {usage.written:,} written)" if usage.read or usage.written else ""
    cut = f" and about {usage.uncounted:,} of replies cut short" if usage.uncounted else ""
    return f"{usage.sent:,} in{cached}, {usage.out:,} out{cut}"


def learned(what: "Learned") -> list[Piece]:
    """What was learned, a line each; empty when there is nothing to say."""
    instead = {memory.path: [one_line(old) for new, old in what.superseded if new == memory] for memory in what.saved}
    parts = []
    for memory in what.saved:
        place = f", in place of {', '.join(instead[memory.path])}" if instead[memory.path] else ""
        parts.append(f"learned: {one_line(memory.body)} ({one_line(memory.path)}{place})")
    parts += [
        f"superseded: {one_line(old)} by {one_line(new.path)}"
        for new, old in what.superseded
        if new.path not in instead
    ]
    parts += [f"known already: {one_line(memory.path)}" for memory in what.known]
    parts += [f"not kept: {one_line(turned.text)} ({turned.why})" for turned in what.turned]
    parts += [one_line(told) for told in what.uncommitted]
    if what.withheld:
        parts.append(f"not written down: {one_line(', '.join(what.withheld))}")
    if what.claimed:
        parts.append("0 memories saved, 0 forgotten")
    if what.failed:
        much = "not all was" if what.saved else "nothing"
        if not what.kept:
            later = "nor is it kept for later: say it again when that is mended"
        elif what.given_up:
            later = "it is kept, and tried no more but by: vault-mind learn --again"
        else:
            later = "it is kept and will be tried again"
        parts.append(f"{much} learned this time: {one_line(what.failed)}; {later}")
    return [("\n".join(parts), "dim")] if parts else []


def exchange(said: "Exchange", what: "Learned") -> list[Piece]:
    """An exchange by its first words, and below it what came of it."""
    at = _day(datetime.fromisoformat(said.at))
    told = text_of(learned(what)) or "nothing in it to learn"
    return [(f"{at}  {first_words(said.message)}\n", "bold"), *((f"  {line}\n", "") for line in told.split("\n"))]


def first_words(message: str) -> str:
    """As much of a message as tells which it is, on one line."""
    words = one_line(" ".join(message.split()))
    return words if len(words) <= HEADLINE else words[: HEADLINE - 1].rstrip() + "…"


def waiting_data(said: "Exchange") -> dict[str, object]:
    """An exchange of the journal as `--json` gives it."""
    return {"at": said.at, "chat": said.chat, "mind": said.mind, "said": said.message, "tries": said.tries}


def exchange_data(said: "Exchange", what: "Learned") -> dict[str, object]:
    """The same, with what came of it."""
    return {
        **waiting_data(said),
        "learned": [memory_data(memory) for memory in what.saved],
        "known": [memory.path for memory in what.known],
        "superseded": [{"path": old, "by": new.path} for new, old in what.superseded],
        "not_kept": [{"text": turned.text, "why": turned.why} for turned in what.turned],
        "to_forget": [memory.path for memory in what.wished],
        "problems": [{"path": problem.path, "what": problem.what} for problem in what.news],
        "uncommitted": list(what.uncommitted),
        "failed": what.failed,
    }


def _grep_lines(memory: Memory, lines: Iterable["Line"], *, only: bool) -> Iterator[Piece]:
    path = one_line(memory.path)
    for line in lines:
        mark = "-" if line.context else ":"
        head = ((path, "magenta"), (mark, ""), (str(line.number), "green"), (mark, ""))
        if only and not line.context:
            for start, stop in line.spans:
                yield from (*head, (visible(line.text[start:stop]), "bold red"), ("\n", ""))
            continue
        yield from head
        end = 0
        for start, stop in line.spans:
            yield visible(line.text[end:start]), ""
            yield visible(line.text[start:stop]), "bold red"
            end = stop
        yield visible(line.text[end:]) + "\n", ""


def _grep_runs(memory: Memory, lines: Sequence["Line"], view: GrepView) -> Iterable[Sequence["Line"]]:
    if not (view.before or view.after):
        return [lines]
    from vault_mind.regex import surrounded  # late: only regex searches need it

    return surrounded(memory.text.removeprefix("\ufeff"), lines, view.before, view.after)


def _grep_count(lines: Sequence["Line"], view: GrepView) -> int:
    return sum(len(line.spans) for line in lines) if view.only else len(lines)


def _together(found: Sequence["Finding"], *, everything: bool) -> Iterator[tuple[str, list["Finding"]]]:
    """Findings that say the same, or at least are of one kind, where they are more than FEW; each with its words."""
    alike: dict[tuple[object, ...], list[Finding]] = {}
    for finding in found:
        alike.setdefault((finding.remark, finding.code, finding.what), []).append(finding)
    kinds: dict[tuple[object, ...], int] = {}
    for (remark, code, _), each in alike.items():
        kinds[remark, code] = kinds.get((remark, code), 0) + (len(each) if len(each) <= FEW else 0)
    groups: dict[tuple[object, ...], tuple[str, list[Finding]]] = {}
    for number, finding in enumerate(found):
        key: tuple[object, ...] = (finding.remark, finding.code, finding.what)
        said = finding.what
        if everything:
            key = (number,)
        elif len(alike[key]) <= FEW and kinds[key[:2]] > FEW:
            key, said = key[:2], finding.heading
        elif len(alike[key]) <= FEW:
            key = (number,)
        groups.setdefault(key, (said, []))[1].append(finding)
    yield from groups.values()


def _facts(memory: Memory) -> str:
    state = ", superseded" if memory.superseded else ""
    if memory.conflict:
        state += f", a conflict copy of {one_line(memory.conflict)}"
    elif memory.unmerged:
        state += ", not merged"
    if memory.stale:
        state += ", as it was last read"
    return f"{one_line(memory.kind)}, {_day(written_at(memory))}{state}"


def _snippet(memory: Memory, words: str = "") -> str:
    """What a memory says, cut to SNIPPET characters: those around the first of `words` that stands in it."""
    text = visible(memory.body or memory.title).strip()
    if len(text) <= SNIPPET:
        return text
    folded = text.casefold()
    stems = {word.casefold()[:STEM] for word in re.findall(r"\w{3,}", words[:SNIPPET])}
    at = min((place for stem in stems if (place := folded.find(stem)) >= 0), default=0)
    start = 0 if at < SNIPPET - BEFORE else text.rfind(" ", 0, at - BEFORE) + 1
    return (
        ("…" if start else "") + text[start : start + SNIPPET].rstrip() + ("…" if start + SNIPPET < len(text) else "")
    )


def _headline(memory: Memory) -> str:
    """Its title where it has one of its own, else its first words."""
    first = next((line for line in memory.body.splitlines() if line.strip()), "").strip()
    text = memory.title if memory.title != memory.stem else first
    return one_line(text if len(text) <= HEADLINE else text[: HEADLINE - 1].rstrip() + "…")


def _day(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d}" if moment else "no date"


def _numbers(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{one_line(name)} {number}" for name, number in counts.items()) or "none"


def _value(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _table(rows: Mapping[str, str]) -> list[Piece]:
    width = max(len(name) for name in rows) + 2
    return [piece for name, value in rows.items() for piece in ((name.ljust(width), "cyan"), (f"{value}\n", ""))]


def _spelt(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20 or code == 0x7F:
        return "^" + chr(code ^ 0x40)
    return f"<U+{code:04X}>"


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if type(value).__name__ == "Decimal":  # of which a search knows none
        return float(str(value))
    return str(value)

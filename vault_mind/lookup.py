"""What a mind may look up by itself in the midst of a turn: search_memory and read_memory. They only read."""

import json
import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from vault_mind import prompt
from vault_mind.dates import period
from vault_mind.errors import MemoryNotFoundError, QueryError, VaultMindError
from vault_mind.index import Index
from vault_mind.model import Call, Result, Tool
from vault_mind.query import Query, Regex
from vault_mind.ranking import FITS, Hit
from vault_mind.vault import Vault

ROUNDS = 4  # times a turn that a mind may look things up
WORDINGS = 5  # of one search
FOUND = 10  # memories that one search gives at most
SHOWN = 1_200  # characters of each
READ = 8_000  # characters that one reading gives: at most some 30 KB
CALLS = 8  # of one message; the rest are told to come one by one

NEAREST = 3  # misses that a search in vain gives
LONGEST = 500  # characters of a wording, or of any other word of a call

log = logging.getLogger(__name__)

_FENCED = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_CITED = re.compile(
    r"`(?P<code>[^`\n]{1,300})`"
    r"|\[\[(?P<link>[^\s\[\]|#-][^\[\]|#\n]{0,299})(?:[|#][^\[\]\n]*)?\]\]"
    r"|(?<![\w/.:@-])(?P<prose>(?:[\w.-]+/)*[\w.-]+\.md)\b"
)
_OTHER_FILE = re.compile(r"\.(?!md\Z)\w{1,5}\Z", re.IGNORECASE)  # a picture, say: no memory is meant

_TEXT = {"type": "string"}
TOOLS = (
    Tool(
        "search_memory",
        "Search the user's memory and get the best memories, quoted with path, kind, source and date. Give several "
        "wordings of the same question at once: other words for the same thing, names instead of pronouns. Narrow it "
        "by kind, tag, dates or a regular expression only where the question does. Without wordings it lists the "
        "newest memories that the rest lets through.",
        {
            "type": "object",
            "properties": {
                "queries": {
                    "type": "array",
                    "items": _TEXT,
                    "description": f"One to {WORDINGS} wordings, each a few telling words or a short question.",
                },
                "kind": {**_TEXT, "description": "Only memories of this kind, such as preference."},
                "tag": {**_TEXT, "description": "Only memories with this tag, or one below it."},
                "since": {
                    **_TEXT,
                    "description": "Only what was written on or after this date: 2026-05-01, last week.",
                },
                "until": {**_TEXT, "description": "Only what was written on or before this date."},
                "regex": {
                    **_TEXT,
                    "description": "Only memories with a line that this RE2 pattern matches, in any case.",
                },
            },
            "required": ["queries"],
            "additionalProperties": False,
        },
    ),
    Tool(
        "read_memory",
        "Read one memory's file whole, its frontmatter too, by a path that you were shown. A long file comes in "
        "stretches: read_on_from says where the next one begins.",
        {
            "type": "object",
            "properties": {
                "path": {**_TEXT, "description": "The path as it was shown, such as memories/tea.md."},
                "offset": {"type": "integer", "description": "The character to begin at; 0 when left out."},
            },
            "required": ["path"],
            "additionalProperties": False,
        },
    ),
)


@dataclass(frozen=True)
class Lookup:
    """One call as the user is told of it: the tool, what was asked, how many memories that gave, or why none."""

    tool: str
    asked: str
    found: int = 0
    failed: str | None = None


class Lookups:
    """The calls of one turn, answered from the files as they are now; none of them writes."""

    def __init__(self, vault: Vault, index: Index, k: int, now: datetime) -> None:
        self._vault, self._index, self._now = vault, index, now
        self._k = max(k, 1)
        self._failed: dict[str, str] = {}

    def run(self, call: Call) -> tuple[Result, Lookup]:
        """What `call` gives. Never raises: what goes wrong is a result that says so."""
        asked = described(call.arguments)
        key = json.dumps([call.tool, call.arguments], sort_keys=True, default=str)
        if key in self._failed:
            why = f"the same call has just failed ({self._failed[key]}); do not repeat it, ask for something else"
            return Result(call.id, why, failed=True), Lookup(call.tool, asked, failed="the same call again")
        try:
            text, found = self._answered(call)
        except VaultMindError as error:
            return self._refused(call, key, asked, str(error))
        except Exception as error:  # promise 8: a look-up that fails costs only itself
            log.warning("%s failed", call.tool, exc_info=error)
            return self._refused(call, key, asked, f"it failed: {type(error).__name__}")
        return Result(call.id, text), Lookup(call.tool, asked, found)

    def _refused(self, call: Call, key: str, asked: str, why: str) -> tuple[Result, Lookup]:
        self._failed[key] = why
        return Result(call.id, why, failed=True), Lookup(call.tool, asked, failed=why)

    def _answered(self, call: Call) -> tuple[str, int]:
        if call.tool == "search_memory":
            return self._search(call.arguments)
        if call.tool == "read_memory":
            return self._read(call.arguments)
        raise QueryError(call.tool, f"there is no such tool; there are {' and '.join(tool.name for tool in TOOLS)}")

    def _search(self, asked: Mapping[str, object]) -> tuple[str, int]:
        self._index.sync()
        found = [self._index.ranked(query, self._k, now=self._now) for query in self._queries(asked)]
        hits = self._merged(found)
        fitting = [hit.memory for hit in hits if hit.fit >= FITS]
        if fitting:
            shown = fitting[:FOUND]
            full = any(len(each) >= self._k and each[-1].fit >= FITS for each in found) or len(shown) < len(fitting)
            more = "; these are the best, and there may be more: narrow the search" if full else ""
            return f"{len(shown)} found{more}\n{prompt.quoted(shown, most=SHOWN)}", len(shown)
        nearest = prompt.quoted([hit.memory for hit in hits[:NEAREST]], fits=False, most=SHOWN)
        return "nothing fits; the nearest misses:\n" + nearest if nearest else "nothing found", 0

    def _queries(self, asked: Mapping[str, object]) -> list[Query]:
        given = asked.get("queries", asked.get("query", ()))
        wordings = [given] if isinstance(given, str) else given
        if not isinstance(wordings, (list, tuple)) or not all(isinstance(wording, str) for wording in wordings):
            raise QueryError("queries", "a list of texts is wanted")
        kind, tag, regex = (_text(asked, name) for name in ("kind", "tag", "regex"))
        since, until = (self._span(asked, name) for name in ("since", "until"))
        narrow = Query(
            "",
            "",
            kinds=(kind,) if kind else (),
            tags=(tag.removeprefix("#"),) if tag else (),
            since=since[0] if since else None,
            before=until[1] if until else None,
            regexes=(Regex(regex, ignore_case=True),) if regex else (),
        )
        _ = [one.compiled for one in narrow.regexes]  # a pattern that makes no sense is told as such
        words = [wording.strip()[:LONGEST] for wording in wordings if wording.strip()][:WORDINGS]
        if not words and not narrow.filters:
            raise QueryError("queries", "it is empty; say what to look for")
        return [replace(narrow, text=wording, words=wording) for wording in words or [""]]

    def _span(self, asked: Mapping[str, object], name: str) -> tuple[datetime, datetime] | None:
        text = _text(asked, name)
        if not text:
            return None
        if (span := period(text, self._now)) is None:
            raise QueryError(f"{name}: {text}", "no date can be read; write it like 2026-05-01")
        return span

    @staticmethod
    def _merged(found: Sequence[Sequence[Hit]]) -> list[Hit]:
        """The hits of several wordings in one list: each memory once, as the wording that it fits best found it."""
        best: dict[str, Hit] = {}
        for hit in (hit for hits in found for hit in hits):
            if hit.memory.path not in best or hit.fit > best[hit.memory.path].fit:
                best[hit.memory.path] = hit
        return sorted(best.values(), key=lambda hit: -hit.fit)

    def _read(self, asked: Mapping[str, object]) -> tuple[str, int]:
        path, offset = _text(asked, "path"), asked.get("offset", 0)
        if not path:
            raise QueryError("path", "it is empty; name a path that you were shown")
        if isinstance(offset, bool) or not isinstance(offset, int) or offset < 0:
            raise QueryError("offset", "a whole number of characters is wanted")
        try:
            memory = self._vault.read(path)
        except MemoryNotFoundError as error:
            raise QueryError(path, "there is no memory at this path; search for it") from error
        return prompt.stretch(memory, min(offset, len(memory.text)), READ), 1


def missing(reply: str, said: str, index: Index, vault: Vault) -> list[str]:
    """The paths of memories that `reply` names and the vault does not hold; those in what the user `said` are theirs.

    A link names one as well ([[tea]]), and so may a path with blanks in it. What stands in a block of code is code.
    """
    text = _FENCED.sub("", reply)
    named: dict[str, str] = {}  # a path, and the words up to its end, in which it may have begun earlier
    for found in _CITED.finditer(text):
        path = found["link"] or found["prose"] or found["code"]
        if found["link"] and not _OTHER_FILE.search(path):
            path = path.strip().removesuffix(".md") + ".md"
        theirs = path in said or (found["link"] and f"[[{found['link']}" in said)
        if path.endswith(".md") and "://" not in path and not theirs:
            named.setdefault(path, text[: found.end()] if found["prose"] else "")
    if not named:
        return []
    index.sync()
    return [
        path
        for path, before in named.items()
        if not _is_there(path, index, vault) and not (before and _ends_in_a_name(before, vault))
    ]


def _ends_in_a_name(text: str, vault: Vault) -> bool:
    """Whether `text` ends in the name of a file of the vault that has blanks in it."""
    end = text[-300:].casefold()
    names = (path.rpartition("/")[2].casefold() for path in vault.walk().files)
    return any(" " in name and end.endswith(name) for name in names)


def _is_there(path: str, index: Index, vault: Vault) -> bool:
    tail = "/" + path.removeprefix("./").casefold()
    if any(f"/{known}".casefold().endswith(tail) for known in index.named(path)):
        return True
    try:
        vault.read(path)  # ignored by a search, and a file all the same
    except VaultMindError:
        return False
    return True


def _text(asked: Mapping[str, object], name: str) -> str:
    value = asked.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise QueryError(name, "a text is wanted")
    if len(value) > LONGEST:
        raise QueryError(name, f"it is longer than {LONGEST} characters")
    return value.strip()


def described(arguments: Mapping[str, object]) -> str:
    """The words of a call, for a line that tells of it."""
    said = []
    for name, value in arguments.items():
        words = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        if words and words != "0":
            said.append(words if name in ("queries", "query", "path") else f"{name} {words}")
    return "; ".join(said)[:LONGEST]

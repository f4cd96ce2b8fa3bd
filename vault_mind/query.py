"""What was asked, read: words that rank, and clauses that every hit must meet. Pure.

    coffee "flat white" -milk +morning kind:preference tag:work since:"last week" is:pinned /caf[eé]/i

Whoever asks a plain question means no syntax, so a sign counts only where it can hardly be anything else:
at the start of a word, with something behind it, in the first 10,000 characters. Signs before a bare word
(-milk, +milk) are plain characters in a question, a command line or a text of several lines. A backslash
keeps any operator plain.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING

from vault_mind import dates
from vault_mind.analysis import STOPWORDS, terms, words
from vault_mind.errors import QueryError
from vault_mind.memory import Memory, moment

if TYPE_CHECKING:
    from vault_mind.regex import Pattern

PARSED = 10_000  # characters in which operators are looked for; what stands behind them is words
STATES = ("superseded", "expired", "pinned", "current", "conflict")
SHOWN = 100  # characters of the words, and of a clause in an error, that are said again

_PAST = ("superseded", "expired", "conflict")
_LETTER = re.compile(r"[^\W_]")


@dataclass(frozen=True)
class Regex:
    """A pattern that a memory's text must match."""

    pattern: str
    ignore_case: bool = False

    @cached_property
    def compiled(self) -> "Pattern":
        """Ready to use. Raises BadPatternError."""
        from vault_mind.regex import Pattern  # late: few queries hold a regex, and a search starts faster without

        return Pattern(self.pattern, ignore_case=self.ignore_case)

    def __str__(self) -> str:
        return f"/{self.pattern}/{'i' if self.ignore_case else ''}"


@dataclass(frozen=True)
class Query:
    """What was asked: `text` as it was typed, `words` that rank, and what a hit must hold or be.

    Of `kinds`, `tags`, `sources` and `paths` one of each field that is given must fit; `without` are
    the pairs of field and value that must not. Every one of `must`, `phrases` and `regexes` must be
    there, none of `never`. `since` is the first moment that fits, `before` the first that no longer does.
    """

    text: str
    words: str
    must: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    without: tuple[tuple[str, str], ...] = ()
    since: datetime | None = None
    before: datetime | None = None
    regexes: tuple[Regex, ...] = ()

    @property
    def ranks(self) -> bool:
        """Whether there are words to rank by; without, what `allows` lets through is in no order.

        Beside clauses on fields, words that only hold a sentence together rank nothing.
        """
        if _LETTER.search(self.words) is None:
            return False
        return not self.on_fields or any(
            word.casefold() not in STOPWORDS["english"] for word in words(self.words[:PARSED])
        )

    @property
    def filters(self) -> bool:
        """Whether anything but words was asked."""
        return bool(self.must or self.phrases or self.never) or self.on_fields

    @property
    def on_terms(self) -> bool:
        """Whether `holds` could say no."""
        return bool(self.must or self.phrases or self.never)

    @property
    def on_fields(self) -> bool:
        """Whether `allows` could say no."""
        fields = self.kinds or self.tags or self.sources or self.paths or self.states or self.without or self.regexes
        return bool(fields) or self.since is not None or self.before is not None

    @property
    def asks_for_past(self) -> bool:
        """Whether superseded, expired or conflicting memories are asked for, which are left out otherwise."""
        return bool(self.states) and any(state in self.states for state in _PAST)

    def allows(self, memory: Memory, now: datetime) -> bool:
        """Whether `memory` meets the clauses on fields, dates, states and by regex, at `now`."""
        now = dates.aware(now)
        if not self._dated(memory) or any(_says(memory, *clause, now) for clause in self.without):
            return False
        for field, values in self._groups():
            if values and not any(_says(memory, field, value, now) for value in values):
                return False
        text = memory.text.removeprefix("\ufeff")
        return all(any(True for _ in regex.compiled.lines(text)) for regex in self.regexes)

    def describe(self) -> str:
        """In a line, how it was read; nothing when it is words only."""
        if not self.filters:
            return ""
        said = (
            ("words: {}", [_short(self.words)] if self.ranks else []),
            ("must hold: {}", self.must),
            ("phrase: {}", [f'"{phrase}"' for phrase in self.phrases]),
            ("without: {}", [*self.never, *(f"{field}:{value}" for field, value in self.without)]),
            ("kind: {}", self.kinds),
            ("tag: {}", self.tags),
            ("source: {}", self.sources),
            ("path: {}", self.paths),
            ("is: {}", self.states),
            ("since {}", [_day(self.since)] if self.since else []),
            ("before {}", [_day(self.before)] if self.before else []),
            ("matching: {}", [str(regex) for regex in self.regexes]),
        )
        return "; ".join(form.format(", ".join(values)) for form, values in said if values)

    def _dated(self, memory: Memory) -> bool:
        if self.since is None and self.before is None:
            return True
        written = written_at(memory)
        if written is None:
            return False
        return (self.since is None or self.since <= written) and (self.before is None or written < self.before)

    def _groups(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The fields, each with values of which one must fit; pinned has nothing to do with the other states."""
        yield from zip(
            ("kind", "tag", "source", "path"), (self.kinds, self.tags, self.sources, self.paths), strict=True
        )
        yield "is", tuple(state for state in self.states if state != "pinned")
        yield "is", tuple(state for state in self.states if state == "pinned")


def plain(text: str) -> Query:
    """`text` as nothing but words, whatever it holds: what a chat message is."""
    return Query(text, text.strip())


def parse(text: str, now: datetime) -> Query:
    """The query that `text` is, its dates seen from `now`; any text is one.

    Raises QueryError for an operator whose value makes no sense (is:foo, since:nonsense), and
    BadPatternError for a regex that does not compile.
    """
    if _SIGNS.isdisjoint(text):  # most questions: nothing that could be an operator
        return plain(text)
    head = _head(text)
    pieces = list(_pieces(head, now))
    if all(not piece.field for piece in pieces):
        return Query(text, (" ".join(piece.value for piece in pieces) + text[len(head) :]).strip())
    rest = text[len(head) :].strip()
    ranking = [piece.value for piece in pieces if not piece.negated and piece.field in ("", "must", "phrase")]
    since = [_start(piece, now) for piece in pieces if (piece.field, piece.negated) in (("since", 0), ("before", 1))]
    before = [_start(piece, now) for piece in pieces if (piece.field, piece.negated) in (("before", 0), ("since", 1))]
    return Query(
        text,
        " ".join(value for value in (*ranking, rest) if value),
        must=_values(pieces, "must"),
        phrases=_values(pieces, "phrase"),
        never=tuple(dict.fromkeys(p.value for p in pieces if p.negated and p.field in ("must", "phrase"))),
        kinds=_values(pieces, "kind"),
        tags=_values(pieces, "tag"),
        sources=_values(pieces, "source"),
        paths=_values(pieces, "path"),
        states=_values(pieces, "is"),
        without=tuple(dict.fromkeys((p.field, p.value) for p in pieces if p.negated and p.field in _CHOICES)),
        since=max(since, default=None),
        before=min(before, default=None),
        regexes=tuple(dict.fromkeys(_regex(piece.value) for piece in pieces if piece.field == "regex")),
    )


def holds(query: Query, text: str, language: str = "english") -> bool:
    """Whether `text`, a memory's `searched`, meets must, phrases and never, word for word as analysis reads them.

    A phrase is met by its words next to each other, however each was written: "bilge pump" by BilgePump.
    """
    if not query.on_terms:
        return True
    spread = _Spread.of(text, language)
    wanted = (*query.must, *query.phrases)
    return all(spread.holds(phrase) for phrase in wanted) and not any(spread.holds(phrase) for phrase in query.never)


def written_at(memory: Memory) -> datetime | None:
    """The moment that since: and before: compare.

    `created_at`, else what people's own notes say: `created`, `date`, the day that the name begins with
    (2026-05-01.md), and at last `updated_at`.
    """
    if memory.created_at:
        return memory.created_at
    own = (memory.frontmatter.get(key) for key in ("created", "date"))
    day = re.match(r"\d{4}-\d\d-\d\d(?!\d)", memory.stem)
    told = (moment(value) for value in (*own, day and day[0]) if isinstance(value, str))
    return next(filter(None, told), None) or memory.updated_at


# --- reading ------------------------------------------------------------------------------------------------------

_CHOICES = ("kind", "tag", "source", "path", "is")
_FIELDS = "kind|tag|source|path|since|before|is"
_PAIRS = (('"', '"'), ("“", "”"), ("„", "“"), ("„", "”"), ("«", "»"), ("「", "」"))
_QUOTED = "(?:" + "|".join(rf"{a}[^{b}\n]{{1,500}}{b}" for a, b in _PAIRS) + ")"
_OPENING = '["“„«「]'
_SIGNS = frozenset(f"+-:/{_OPENING[1:-1]}")  # no operator is without one of these
_END = r"(?![^\s.,;:!?)\]])"  # after a phrase or word: nothing, a blank or punctuation
_WORD_END = r"(?![^\s.,;!?)\]])"  # and no colon after a bare word: "-todo: milk" lists something
_TOKEN = rf"""(?<!\S)(?:
    \\(?P<escaped>[+-]?{_OPENING}|[+-](?=\w)|/(?=\S)|[+-]?(?i:{_FIELDS}):)
  | (?P<sign>[+-]?)(?:
        (?P<field>(?i:{_FIELDS})):(?:(?P<in_quotes>{_QUOTED})(?!\w)|(?P<value>[\w#*/.~]\S*))
      | (?P<phrase>{_QUOTED}){_END}
    )
  | (?P<bare>[+-](?P<word>[^\W\d_](?:[\w'’-]|\.(?=\w))*(?:\+\+|\#)?)){_WORD_END}
  | (?P<regex>/(?![\s*])(?:\\.|[^/\\\n])+(?<!\s)/i?)(?!\S)
)"""
_QUESTION = (
    r"\s*(?:what|who|whom|whose|where|when|why|how|which|is|are|am|was|were|do|does|did|can|could|should|would|will"
    r"|shall|may|might|has|have|had)(?:['’]\w+)?\s|.*[?？]\s*\Z"
)
# Programs whose words after a dash are flags; and flags that no word is.
_COMMAND = r"""
    (?<![^\s$`(])(?:tar|[ef]?grep|rg|ls|sed|awk|curl|wget|ssh|scp|rsync|chmod|chown|gcc|g\+\+|clang|javac|ffmpeg
    |openssl|ps|df|du|mv|cp|rm|mkdir|xargs|unzip|gzip|netstat|nmap|dd|ln|sudo|apt-get|systemctl
    |java(?=\ -jar)|find(?=\ [./~-])|(?:git|docker|kubectl|npm|pip|cargo|python3?)(?=\ +[a-z]+\ +-))\s
    |(?<!\S)--?[A-Za-z](?![^\s=])|(?<!\S)--[A-Za-z]|(?<!\S)-[A-Za-z]{2}(?!\S)|\w-(?=\s|$)"""
# Folders of a system: /tmp/ is a place and not a pattern.
_PLACES = frozenset(
    """applications bin boot dev etc home lib library media mnt opt private proc root run sbin srv sys system tmp
    users usr var volumes""".split()
)
_META = re.compile(r"[\\^$*+?()|\[\]{}]")


@dataclass(frozen=True)
class _Piece:
    """A stretch of the text: plain words when `field` is empty, else a clause."""

    field: str
    value: str
    negated: bool = False


@cache
def _token() -> re.Pattern[str]:
    """Compiled when first asked for, as the next two: a chat message is never parsed."""
    return re.compile(_TOKEN, re.VERBOSE)


@cache
def _question() -> re.Pattern[str]:
    return re.compile(_QUESTION, re.IGNORECASE | re.DOTALL)


@cache
def _command() -> re.Pattern[str]:
    return re.compile(_COMMAND, re.VERBOSE)


def _head(text: str) -> str:
    """The beginning in which operators are looked for, up to the end of a word."""
    if len(text) <= PARSED:
        return text
    head = text[:PARSED]
    return head if text[PARSED].isspace() else head[: max(head.rfind(" "), head.rfind("\n"), 0)]


def _pieces(text: str, now: datetime) -> Iterator[_Piece]:
    asked = _question().match(text) is not None
    signs = not asked and "\n" not in text.strip() and _command().search(text) is None
    start = at = 0
    while match := _token().search(text, at):
        piece, at = _piece(match, now, asked=asked, signs=signs)
        if piece is None:
            continue
        if before := text[start : match.start()].strip():
            yield _Piece("", before)
        start = at
        if piece.field:
            yield piece
        else:  # escaped: the text goes on without its backslash
            start = match.start() + 1
    if after := text[start:].strip():
        yield _Piece("", after)


def _piece(match: re.Match[str], now: datetime, *, asked: bool, signs: bool) -> tuple[_Piece | None, int]:
    """The clause that was met, None when it is plain words after all, and where the reading goes on."""
    end = match.end()
    if match["escaped"]:
        return _Piece("", ""), end
    if match["field"]:
        return _field(match, now, asked=asked)
    if match["phrase"]:
        text = " ".join(match["phrase"][1:-1].split())
        return (_Piece("phrase", text, match["sign"] == "-") if terms(text) else None), end
    if match["word"]:
        return (_Piece("must", match["word"], match[0][0] == "-") if signs and _excluded(match["word"]) else None), end
    return (_Piece("regex", match["regex"]) if _is_regex(match["regex"], asked=asked) else None), end


def _excluded(word: str) -> bool:
    """Whether somebody may mean to ask for or against `word`: no flag, no "-and I agree-"."""
    unspaced = word[0] >= "\u0e00"  # where a word may be a single character
    return (len(word) >= 3 or unspaced) and word.casefold() not in STOPWORDS["english"]


def _is_regex(text: str, *, asked: bool) -> bool:
    """Whether /…/ is a pattern: no folder of a system, and in a question nothing that could be any folder."""
    inner = text[1:].rpartition("/")[0]
    return inner.casefold() not in _PLACES and (not asked or _META.search(inner) is not None)


def _field(match: re.Match[str], now: datetime, *, asked: bool) -> tuple[_Piece | None, int]:
    field, negated, end = match["field"].casefold(), match["sign"] == "-", match.end()
    if match["in_quotes"]:
        value = " ".join(match["in_quotes"][1:-1].split())
    else:
        value = re.split(r"[,;.!?)\]]+\Z", match["value"])[0]
        if field in ("since", "before"):
            value, end = _longest_date(match, value, now)
    value = _cleaned(field, value)
    if not value or (asked and field == "is" and not _meant_as_state(value)):
        return None, end
    if field == "is" and value not in STATES:
        raise QueryError(f"is:{value[:SHOWN]}", f"unknown state; known: {', '.join(STATES)}")
    return _Piece(field, value, negated), end


def _meant_as_state(value: str) -> bool:
    """Whether somebody who asks a question may mean a state, if a misspelt one: no "what is:the best tea?"."""
    return any(value.startswith(state[:3]) for state in STATES)


def _longest_date(match: re.Match[str], value: str, now: datetime) -> tuple[str, int]:
    """As many of the words that follow as are one English date together: since:3 days ago."""
    start = match.start("value")
    following = list(re.finditer(r"\S+", match.string[start : start + dates.LONGEST + 20]))[:5]
    for last in reversed(following[1:]):
        text = re.split(r"[,;.!?)\]]+\Z", match.string[start : start + last.end()])[0]
        if dates.english(text, now):
            return text, start + last.end()
    return value, match.end()


def _cleaned(field: str, value: str) -> str:
    if field == "tag":
        return value.removeprefix("#").strip("/")
    if field == "path":
        return value.removeprefix("./").lstrip("/")
    return value.casefold() if field == "is" else value


def _values(pieces: Sequence[_Piece], field: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(piece.value for piece in pieces if piece.field == field and not piece.negated))


def _start(piece: _Piece, now: datetime) -> datetime:
    span = dates.period(piece.value, now)
    if span is None:
        why = 'no date can be read; write it like 2026-05-01, 2026-05, "last week" or "3 days ago"'
        raise QueryError(f"{piece.field}:{piece.value[:SHOWN]}", why)
    return span[0]


def _regex(text: str) -> Regex:
    inner, _, flag = text[1:].rpartition("/")
    regex = Regex(re.sub(r"\\(.)", lambda pair: "/" if pair[1] == "/" else pair[0], inner), flag == "i")
    _ = regex.compiled  # a pattern that makes no sense is told now and not in the midst of a search
    return regex


# --- a memory's fields --------------------------------------------------------------------------------------------


def _says(memory: Memory, field: str, value: str, now: datetime) -> bool:
    """Whether the memory's `field` fits `value`, upper and lower case being one."""
    if field == "is":
        return _is(memory, value, now)
    value = folded(value)
    if field == "kind":
        return folded(memory.kind) == value
    if field == "source":
        return _within(folded(memory.source or ""), value, ":")
    if field == "tag":
        return any(_within(folded(tag).strip("/"), value, "/") for tag in memory.tags)
    return _lies(folded(memory.path), value)


def _within(whole: str, value: str, joint: str) -> bool:
    return whole == value or whole.startswith(value + joint)


def _lies(path: str, value: str) -> bool:
    """A value with * is a pattern for the path or the file's name; with / at its end a folder; else any part of it."""
    if "*" in value:
        pattern = value.replace("[", "[[]").replace("?", "[?]")
        return fnmatchcase(path, pattern) or fnmatchcase(path.rpartition("/")[2], pattern)
    return path.startswith(value) if value.endswith("/") else value in path


def _is(memory: Memory, state: str, now: datetime) -> bool:
    if state == "superseded":
        return memory.superseded
    if state == "pinned":
        return memory.pinned
    if state == "conflict":
        return memory.conflict is not None or memory.unmerged
    if state == "current":
        return memory.current(now)
    return memory.expires_at is not None and memory.expires_at <= now


def folded(text: str) -> str:
    """`text` as fields are compared: upper and lower case are one."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFC", text).casefold()


def _short(text: str) -> str:
    text = " ".join(text[: 4 * SHOWN].split())
    return text if len(text) <= SHOWN else text[:SHOWN].rstrip() + "…"


def _day(moment: datetime) -> str:
    at_midnight = (moment.hour, moment.minute, moment.second) == (0, 0, 0)
    return moment.date().isoformat() if at_midnight else moment.isoformat(" ", "minutes")


# --- phrases ------------------------------------------------------------------------------------------------------

_JOINT = re.compile(
    r"[-_.&]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z]{2})(?=\d)|(?<=\d)(?=[A-Za-z]{2})"
)
_Terms = frozenset[str]


@dataclass(frozen=True)
class _Spread:
    """A text with its compounds taken apart: the terms of each part, and of the wholes, by first part, their end."""

    language: str
    parts: Sequence[_Terms]
    wholes: Mapping[int, tuple[int, _Terms]]

    @classmethod
    def of(cls, text: str, language: str) -> "_Spread":
        parts: list[_Terms] = []
        wholes = {}
        for word in words(text):
            own, whole = _taken_apart(word, language)
            if whole:
                wholes[len(parts)] = (len(parts) + len(own), whole)
            parts += own
        return cls(language, parts, wholes)

    def holds(self, phrase: str) -> bool:
        """Whether the words of `phrase` stand here next to each other."""
        ends: set[int] = set(range(len(self.parts)))
        for word in words(phrase):
            parts, whole = _taken_apart(word, self.language)
            by_parts = ends
            for part in parts:
                by_parts = self._after(by_parts, part)
            ends = by_parts | (self._after(ends, whole) if whole else set())
        return bool(ends)

    def _after(self, starts: set[int], one: _Terms) -> set[int]:
        """Where what begins at one of `starts` and is `one` ends: a part, or a compound as a whole."""
        single = {at + 1 for at in starts if at < len(self.parts) and not one.isdisjoint(self.parts[at])}
        joined = (self.wholes[at] for at in self.wholes.keys() & starts)
        return single | {end for end, whole in joined if not one.isdisjoint(whole)}


@lru_cache(maxsize=1 << 14)
def _taken_apart(word: str, language: str) -> tuple[tuple[_Terms, ...], _Terms]:
    """The terms of each part of a word, and of the whole when it has several.

    A run of a script without spaces falls into its characters, in which any piece of it can be found.
    """
    if word[0] >= "\u0e00" and word[:2] in terms(word):
        return tuple(frozenset(character) for character in word), frozenset()
    if word[-1] in "+#":  # C++ is more than its C
        return (frozenset(terms(word, language)[-1:]),), frozenset()
    pieces = [piece for piece in _JOINT.split(word) if piece]
    parts = tuple(filter(None, (frozenset(terms(piece, language)) for piece in pieces)))
    if len(parts) < 2:
        return parts, frozenset()
    return parts, frozenset([max(terms("".join(pieces).lower(), language), key=len)])

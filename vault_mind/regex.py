"""Regex in linear time: RE2, which never backtracks, over the lines of a text."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from vault_mind.errors import BadPatternError

LONGEST = 10_000  # characters of a pattern
MOST = 1_000  # repetitions that {n,m} may ask for, RE2's own bound

_LITERAL = r"\\Q.*?(?:\\E|$)|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]"  # what stands for itself: \Q…\E, \x, [class]
_REPEAT = re.compile(rf"{_LITERAL}|\{{(\d+)(?:,(\d*))?\}}", re.DOTALL)
_GROUP = re.compile(rf"{_LITERAL}|\(\?P?<([^>\W]\w*)>", re.DOTALL)
_PARENTHESIS = re.compile(rf"{_LITERAL}|[()]", re.DOTALL)
_WORD = r"[\p{L}\p{M}\p{N}_]"
_INSTEAD = {
    "(?=": "look-ahead is not linear; search for both parts, or pipe one grep into another",
    "(?!": "look-ahead is not linear; grep first, then leave lines out with: | grep -v",
    "(?P": "of (?P…) only (?P<name>…) is known; a back-reference is not linear, write the text out",
    "(?<": "look-behind is not linear; match the text before as well",
}


@dataclass(frozen=True)
class Line:
    """A line that matched: its number from 1, its text, and the spans of characters that matched."""

    number: int
    text: str
    spans: tuple[tuple[int, int], ...]


class Pattern:
    """A compiled pattern. Raises BadPatternError, with the position where one is known."""

    def __init__(self, pattern: str, *, ignore_case: bool = False, fixed: bool = False, word: bool = False) -> None:
        import re2  # late: only a regex search needs it

        _bounded(pattern, fixed=fixed)
        options = re2.Options()
        options.log_errors = False
        options.case_sensitive = not ignore_case
        source = re2.escape(pattern) if fixed else pattern
        self._word = word
        # \A, \z and (?-m) mean another place in a text than in one of its lines.
        self._skips = fixed or not re.search(r"\\[Az]|\(\?\w*-", pattern)
        try:
            self._compiled: Any = re2.compile(f"(?m){source}", options)
            if word:  # RE2's \b knows ASCII only, and nothing of a word that ends in a sign
                self._compiled = re2.compile(f"(?m)(?:^|[^{_WORD[1:]})({source})(?:$|[^{_WORD[1:]})", options)
        except re2.error as error:
            raise _explained(pattern, error) from error

    def lines(self, text: str) -> Iterator[Line]:
        """The lines of `text` that match, in order; a match lies within one line."""
        text = text.replace("\r\n", "\n")
        if self._skips and not self._compiled.search(text):  # most texts hold no match at all
            return
        for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
            if spans := tuple(dict.fromkeys(self._spans(line))):
                yield Line(number, line, spans)

    def _spans(self, line: str) -> Iterator[tuple[int, int]]:
        if not self._word:
            yield from (match.span() for match in self._compiled.finditer(line))
            return
        at = 0
        while at <= len(line) and (
            match := self._compiled.search(line, at)
        ):  # a sign between two words bounds them both
            yield match.span(1)
            at = max(match.end(1), at + 1)


def _bounded(pattern: str, *, fixed: bool) -> None:
    for position, character in enumerate(pattern):
        if "\ud800" <= character <= "\udfff":
            raise BadPatternError(ascii(pattern)[1:-1], "it holds half a character, which is no text", position)
    if len(pattern) > LONGEST:
        raise BadPatternError(pattern[:40] + "…", f"longer than {LONGEST} characters", LONGEST)
    if fixed:
        return
    for match in _REPEAT.finditer(pattern):
        if any(len(n) > 4 or int(n) > MOST for n in match.groups() if n):
            raise BadPatternError(pattern, f"repeats more than {MOST} times", match.start())
    names: set[str] = set()
    for match in _GROUP.finditer(pattern):
        if match[1] and match[1] in names:
            raise BadPatternError(pattern, f"group name {match[1]!r} is given twice", match.start())
        names.add(match[1])


def _explained(pattern: str, error: Exception) -> BadPatternError:
    raw = error.args[0] if error.args else "it does not compile"
    why = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw)
    kind, _, part = why.partition(": ")
    part = part.removeprefix("(?m)")
    position = pattern.find(part) if part else None
    if kind == "missing )":
        position = _unclosed(pattern)
    elif kind == "unexpected )":
        position = pattern.rfind(")")
    elif kind.startswith("trailing"):
        position = len(pattern) - 1
    for opening, advice in _INSTEAD.items():
        if part.startswith(opening):
            kind = advice
    if re.fullmatch(r"\\[1-9]", part):
        kind = "a back-reference is not linear; write the text out"
    return BadPatternError(pattern, kind, None if position is None or position < 0 else position)


def _unclosed(pattern: str) -> int:
    opened: list[int] = []
    for match in _PARENTHESIS.finditer(pattern):
        if match[0] == "(":
            opened.append(match.start())
        elif match[0] == ")" and opened:
            opened.pop()
    return opened[-1] if opened else max(len(pattern) - 1, 0)

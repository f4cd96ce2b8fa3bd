"""Regex in linear time: RE2, which never backtracks, over the lines of a text or of many at once."""

import os
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, groupby, islice, pairwise
from mmap import mmap
from operator import itemgetter
from threading import Thread
from typing import Any, NamedTuple, TypeVar, overload

from vault_mind.errors import BadPatternError

LONGEST = 10_000  # characters of a pattern
MOST = 1_000  # repetitions that {n,m} may ask for, RE2's own bound
IN_ALL = 5_000  # repetitions that all of them in a pattern may ask for: each is a step more for every character
WINDOW = 1 << 17  # bytes that one call searches, so that Ctrl-C is heard between two
MEMORY = (
    64 << 20
)  # bytes for what RE2 learns of a text on the way; with its 8 MB .{1000}.{1000} takes a thousand times as long
PART = 1 << 22  # bytes from which on another thread is worth its start
THREADS = 8
SPARSE = 160  # matches among them up to which the threads do not hinder each other
NEAR = 64  # texts
MANY = 64  # matches in one text from which on it is looked through when its lines are shown, as it may take long
WRONG = 1 << 11  # bytes for one text that is looked at in vain, up to which it pays to look for less than is asked

_CLASS = r"\[\^?\]?(?:\\.|\[:\^?\w+:\]|\[(?!:\^?\w+:\])|[^\]\\\[])*\]"
_ESCAPE = r"\\(?:[pPx]\{[^}]*\}|[pP]\w|.)"
_LITERAL = rf"\\Q.*?(?:\\E|$)|\\[xpP]\{{[^}}]*\}}|\\.|{_CLASS}"  # what stands for itself: \Q…\E, \x{…}, \x, [class]
_REPEAT = re.compile(rf"{_LITERAL}|\{{(\d+)(?:,(\d*))?\}}", re.DOTALL)
_GROUP = re.compile(rf"{_LITERAL}|\(\?P?<([^>\W]\w*)>", re.DOTALL)
_PARENTHESIS = re.compile(rf"{_LITERAL}|[()]", re.DOTALL)
_TOKEN = re.compile(rf"\\Q(?P<quoted>.*?)(?:\\E|\Z)|{_ESCAPE}|{_CLASS}|\(\?(?:P?<\w+>|[\w-]+[:)])|.", re.DOTALL)
_WORD_BEFORE = re.compile(r"((?:\(\?[imsU]+\))*)\\b(?![*+?{])")
_WITHIN_A_LINE = re.compile(r"(?:[^\\\[\n(]|\((?!\?)|\\[bBdw]|\\[^\w\n])*")  # can match no newline, however it is read

_NO_WORD = r"[^\p{L}\p{M}\p{N}_]"  # RE2's \b knows ASCII only, and nothing of a word that ends in a sign
_START, _END = "(?m:^)", "(?m:$)"
_OF_A_LINE = {"^": _START, r"\A": _START, "$": _END, r"\z": _END}  # \A, \z and (?-m) speak of the line too
# In the bytes as they are, a byte-order mark may stand before a line and \r after it. The second half of the
# start is for $^ on an empty line.
_LOOSE_START, _LOOSE_END = rf"(?:{_START}\x{{FEFF}}?|{_END})", rf"(?:\r?{_END})"
_LOOSE = {"^": _LOOSE_START, r"\A": _LOOSE_START, "$": _LOOSE_END, r"\z": _LOOSE_END}
_NOWHERE = dict.fromkeys(_LOOSE, "(?:)")

_INSTEAD = {
    "(?=": "look-ahead is not linear; search for both parts, or pipe one grep into another",
    "(?!": "look-ahead is not linear; grep first, then leave lines out with: | grep -v",
    "(?P": "of (?P…) only (?P<name>…) is known; a back-reference is not linear, write the text out",
    "(?<": "look-behind is not linear; match the text before as well",
}
_A_BYTE = r"\C is a byte and may be half a character; write (?s:.)"
_A_NEWLINE = "a match lies within one line; grep -U lets it span lines"

Span = tuple[int, int]
Pack = bytes | mmap
Found = tuple[int, Sequence[Span] | None]
T = TypeVar("T")
Match = Callable[[Pack, int, int], Sequence[Span]]


class Line(NamedTuple):
    """A line that matched: its number from 1, its text, and the spans of characters that matched.

    With `context` it did not match but stands near one that did.
    """

    number: int
    text: str
    spans: tuple[Span, ...]
    context: bool = False


class Lines(Sequence[Line]):
    """The lines of one text that match, at least one, made when they are first looked at."""

    __slots__ = ("_data", "_made", "_pattern", "_spans", "_start")

    def __init__(self, pattern: "Pattern", data: str, start: int, spans: Sequence[Span]) -> None:
        self._pattern, self._data, self._start, self._spans = pattern, data, start, spans
        self._made: list[Line] | None = None

    def __bool__(self) -> bool:
        return True

    @overload
    def __getitem__(self, at: int) -> Line: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Line]: ...
    def __getitem__(self, at: int | slice) -> Line | Sequence[Line]:
        return self._all()[at]

    def __len__(self) -> int:
        return len(self._all())

    def __iter__(self) -> Iterator[Line]:
        return iter(self._all())

    def _all(self) -> list[Line]:
        if self._made is None:
            self._made = self._pattern.around(self._data, self._start, self._spans)
        return self._made


class Pattern:
    """A compiled pattern, or several of which any may match. A match lies within one line.

    With `multiline` it may span lines; with `invert` the lines that do not match are the ones
    found, and have no spans; `most` lines of a text are given at most. Without `spans` no line has
    any, which is quicker. `smart_case` ignores case unless the pattern holds a capital. Raises
    BadPatternError, with the position where one is known.
    """

    def __init__(
        self,
        pattern: str | Sequence[str],
        *,
        ignore_case: bool = False,
        smart_case: bool = False,
        fixed: bool = False,
        word: bool = False,
        multiline: bool = False,
        invert: bool = False,
        most: int | None = None,
        spans: bool = True,
    ) -> None:
        sources = [pattern] if isinstance(pattern, str) else list(pattern)
        ignore_case = ignore_case or (smart_case and not any(_capital(source, fixed=fixed) for source in sources))
        for source in sources:
            _bounded(source, fixed=fixed)
            if not fixed:
                _compiled(source, source)  # alone, so that an error names its own place
        self._multiline = multiline and not all(_within_a_line(source, fixed=fixed) for source in sources)
        for source in sources:
            _refused(source, fixed=fixed, multiline=self._multiline)
        self._marked = spans
        self._invert, self._most, self._group = invert, most, int(word)  # -w matches what stands around the group
        case = {"case_sensitive": not ignore_case, "never_nl": not self._multiline}
        whole = "|".join(sources)
        exact = _joined(sources, {} if self._multiline else _OF_A_LINE, fixed=fixed)
        self._beside = None
        if word:
            bounded = rf"({exact})(?:{_END}|{_NO_WORD})"
            exact = rf"(?:{_START}|{_NO_WORD}){bounded}"
            self._beside = _compiled(whole, f"(?m){_NO_WORD}{bounded}", anchored=True, **case)
        self._match = _compiled(whole, f"(?m){exact}", never_capture=not word, **case)
        scouting, self._loose = self._scouting(sources, fixed=fixed), None
        self._tells = scouting == exact  # whether what is found in the bytes as they are is what matches
        self._scout = self._match if self._tells else _compiled(whole, scouting, never_capture=True, **case)
        if not fixed and any(map(_WORD_BEFORE.match, sources)):  # RE2 looks for \b byte by byte, for letters at a leap
            sources = [_WORD_BEFORE.sub(r"\1", source, count=1) for source in sources]
            self._loose = _compiled(whole, self._scouting(sources, fixed=fixed), never_capture=True, **case)

    def lines(self, text: str) -> Iterator[Line]:
        """The lines of `text` that match, in order."""
        data = (text.replace("\r\n", "\n") if "\r" in text else text).encode()
        spans = None if self._multiline or self._beside else self._within(data, 0, len(data))
        found = self._touched(data) if spans is None else iter(_around(data, 0, spans, marked=self._marked))
        return islice(_others(data, found) if self._invert else found, self._most)

    def lines_at(self, text: str, place: Span, spans: Sequence[Span] | None) -> Sequence[Line]:
        """As `lines` of `text`, for which `found` gave `spans` of the pack that holds it at `place`."""
        if spans and "\r" not in text:
            whole = len(text) if text.isascii() else len(text.encode())
            if whole == place[1] - place[0] and text[0] != "\ufeff":  # a crash may have left something behind it
                return Lines(self, text, place[0], spans)
        return list(self.lines(text.removeprefix("\ufeff")))

    def around(self, text: str, start: int, spans: Sequence[Span]) -> list[Line]:
        """The lines of `text` that hold `spans`, each within a line, in bytes, of which it begins at `start`."""
        return _around(text.encode(), start, spans, marked=self._marked)[: self._most]

    def candidates(self, pack: Pack, starts: Sequence[int]) -> Iterator[int]:
        """The indices, ascending, of the texts in `pack` that may have lines to give; every other one has none.

        `pack` holds texts as UTF-8, each followed by one newline more; text i begins at `starts[i]`.
        """
        return (text for text, _ in self.found(pack, starts, first=True))

    def found(self, pack: Pack, starts: Sequence[int], *, first: bool = False) -> Sequence[Found]:
        """As `candidates`, each with the spans of bytes in `pack` that match; None: only its text can tell.

        With `first` only the first span of a text may be there.
        """
        if self._invert:
            return [(text, None) for text in range(len(starts))]
        if self._multiline:
            return [(text, None) for text in self._one_by_one(pack, starts)]
        return self._all_at_once(pack, starts, first=first or (self._most == 1 and not self._marked))

    def _all_at_once(self, pack: Pack, starts: Sequence[int], *, first: bool) -> Sequence[Found]:
        """By several threads where the first texts hold few matches: with many, each would wait for the other."""
        head = bisect_left(starts, min(PART, len(pack)))
        scout = self._loose or self._scout
        seen = self._seen(scout, pack, starts, 0, head, once=first)
        found = self._sorted_out(scout, seen, pack, starts)
        if self._loose and (len(seen) - len(found)) * WRONG > PART:
            scout = self._scout
        threads = max(min(os.cpu_count() or 1, THREADS, len(pack) // PART), 1)
        if len(seen) > SPARSE:
            threads = 1
        rest = len(starts) - head
        cuts = [head + rest * part // threads for part in range(threads + 1)]
        works = [partial(self._seen, scout, pack, starts, *each, once=first) for each in pairwise(cuts)]
        parts = [works[0]()] if threads == 1 else _in_threads(works)
        return found + self._sorted_out(scout, list(chain.from_iterable(parts)), pack, starts)

    def _seen(
        self, scout: Match, pack: Pack, starts: Sequence[int], first: int, last: int, *, once: bool
    ) -> list[Span]:
        """Where `scout` finds something in the texts from `first` to before `last`; of a text no more than matters."""
        found: list[Span] = []
        if first >= last:
            return found
        at, end = starts[first], starts[last] if last < len(starts) else len(pack)
        once = once or not self._tells or scout is not self._match
        while at < end:
            stop = pack.find(b"\n", at + WINDOW)  # no match runs over the end of a line, so a window may end at any
            stop = end if stop < 0 or stop > end else stop
            while at < stop:
                span = scout(pack, at, stop)[0]
                begin, at = span
                if begin < 0 or begin == end:  # what is empty and stands at the end belongs to none of them
                    break
                found.append(span)
                piled = len(found) % MANY == 0 and begin < self._following(starts, found[-MANY][0], end)
                if once or begin == at or piled:
                    at = self._following(starts, begin, end)
                elif not self._marked:  # the rest of the line says nothing more
                    at = _line_end(pack, at) + 1
            else:
                continue
            at = stop + 1
        return found

    @staticmethod
    def _following(starts: Sequence[int], at: int, end: int) -> int:
        """Where the text behind the one that holds `at` begins."""
        text = bisect_right(starts, at)
        return starts[text] if text < len(starts) else end

    def _sorted_out(self, scout: Match, seen: Sequence[Span], pack: Pack, starts: Sequence[int]) -> list[Found]:
        """The texts in which `scout` has `seen` something, those left out that hold no match after all."""
        tells = self._tells and scout is self._match
        found: list[Found] = []
        spans: list[Span] = []
        text, following, count = 0, 0, len(starts)
        for span in seen:
            if span[0] >= following:
                far = text + NEAR  # few steps from one to the next, mostly
                near = far < count and starts[far] > span[0]
                text = bisect_right(starts, span[0], text, far if near else count) - 1
                following = starts[text + 1] if text + 1 < count else len(pack)
                spans = []
                if tells:
                    found.append((text, spans))
                else:
                    told = self._told(pack, starts[text], following - 1)
                    if told is None or told:
                        found.append((text, told))
            spans.append(span)
            if tells and (span[0] == span[1] or len(spans) == MANY):  # an empty one may stand on no line of its text
                found[-1] = (text, None)
        return found

    def _told(self, pack: Pack, start: int, end: int) -> list[Span] | None:
        """The spans of the text from `start` to `end`; None where the bytes as they are do not tell them."""
        spans = None if self._beside else self._within(pack, start, end)
        if spans or spans is None:
            return spans
        marked = pack.find(b"\r", start, end) >= 0 or pack[start : start + 3] == b"\xef\xbb\xbf"
        return None if marked else []

    def _one_by_one(self, pack: Pack, starts: Sequence[int]) -> Iterator[int]:
        """With bounds: a match that may span lines would run through one text after another."""
        for text, start in enumerate(starts):
            following = starts[text + 1] if text + 1 < len(starts) else len(pack)
            if self._scout(pack, start, following - 1)[0][0] >= 0:
                yield text

    def _scouting(self, sources: Sequence[str], *, fixed: bool) -> str:
        """What is found in every text that matches, CRLF and byte-order mark or not."""
        if self._multiline:
            return rf"(?:{_joined(sources, _OF_A_LINE, fixed=fixed)})|[\r\x{{FEFF}}]"
        # A word may end beside the mark or \r that a loose anchor has taken.
        words = not fixed and any(token[0] in (r"\b", r"\B") for source in sources for token in _TOKEN.finditer(source))
        return _joined(sources, _NOWHERE if words else _LOOSE, fixed=fixed)

    def _within(self, data: Pack, at: int, end: int) -> list[Span] | None:
        """The bounds of every match from `at` to `end`, each in a line; None where one is empty, or there are many."""
        found: list[Span] = []
        match = self._match
        while at < end:
            span = match(data, at, end)[0]
            first, at = span
            if first < 0:
                break
            if first == at:
                return None
            found.append(span)
            if len(found) == MANY:
                return None
            if not self._marked:
                at = _line_end(data, at) + 1
        return found

    def _touched(self, data: bytes) -> Iterator[Line]:
        number, counted = 1, 0
        for (start, stop), pieces in groupby(self._pieces(data), itemgetter(0)):
            number += data.count(b"\n", counted, start)
            counted = start
            spans = [(span[0] - start, span[1] - start) for _, span in pieces if span] if self._marked else ()
            yield _line(number, data[start:stop], spans)

    def _pieces(self, data: bytes) -> Iterator[tuple[Span, Span | None]]:
        """The bounds of each line that a match touches, and those of what it takes there; None: the newline only."""
        start, stop = 0, -1
        for at, end in self._spans(data):
            if at > stop:
                start = data.rfind(b"\n", max(stop, 0), at) + 1
                stop = _line_end(data, at)
            yield (start, stop), (at, min(end, stop)) if at < stop or at == end else None
            while end > stop + 1:
                start, stop = stop + 1, _line_end(data, stop + 1)
                yield (start, stop), (start, min(end, stop)) if start < stop else None

    def _spans(self, data: bytes) -> Iterator[Span]:
        """The bounds of every match; none is empty that touches the one before."""
        at, last, size = 0, -1, len(data)
        past = size - 1 if data.endswith(b"\n") or not data else size  # behind the last newline there is no line
        while at <= size:
            start, end = self._next(data, at)
            if start < 0 or start > past:
                return
            at = max(end, at + 1)
            # RE2 finds \B within a character.
            if start < end or (start != last and (start == size or data[start] & 0xC0 != 0x80)):
                yield start, end
                last = end
                if not (self._marked or self._multiline):  # the rest of the line says nothing more
                    at = _line_end(data, end) + 1

    def _next(self, data: bytes, at: int) -> Span:
        """The first match that begins at `at` or behind it."""
        if self._beside and at:  # what bounds a word here may belong to the match before
            before = at - 1
            while before and data[before] & 0xC0 == 0x80:
                before -= 1
            (found, _), span = self._beside(data, before, len(data))[:2]
            if found >= 0:
                return span
        return self._match(data, at, len(data))[self._group]


def _in_threads(works: Sequence[Callable[[], T]]) -> list[T]:
    """What each of `works` gives, all at the same time: RE2 lets go of the interpreter while it searches."""
    found: dict[int, T] = {}
    failed: list[BaseException] = []

    def run(at: int) -> None:
        try:
            found[at] = works[at]()
        except BaseException as error:
            failed.append(error)

    threads = [Thread(target=run, args=(at,), daemon=True) for at in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]
    return [found[at] for at in range(len(works))]


def surrounded(text: str, found: Iterable[Line], before: int, after: int) -> Iterator[list[Line]]:
    """The lines `found` in `text` with so many lines around each, in runs of lines that follow each other."""
    every = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    matched = {line.number: line for line in found}
    runs: list[range] = []
    for number in matched:
        start, stop = max(1, number - before), min(len(every), number + after) + 1
        if runs and start <= runs[-1].stop:
            runs[-1] = range(runs[-1].start, stop)
        else:
            runs.append(range(start, stop))
    for run in runs:
        yield [matched.get(number) or Line(number, every[number - 1], (), context=True) for number in run]


def _others(data: bytes, found: Iterable[Line]) -> Iterator[Line]:
    taken = {line.number for line in found}
    for number, line in enumerate(data.removesuffix(b"\n").split(b"\n") if data else (), 1):
        if number not in taken:
            yield Line(number, line.decode(), ())


def _around(data: bytes, start: int, spans: Iterable[Span], *, marked: bool) -> list[Line]:
    """The lines that hold `spans`, ascending, each within a line; `data` begins at `start` of what they count."""
    found: list[Line] = []
    number, first, stop = 1, 0, -1
    places: list[Span] = []
    for begin, end in spans:
        if begin - start > stop:
            if stop >= 0:
                found.append(_line(number, data[first:stop], places))
            counted, first = first, data.rfind(b"\n", first, begin - start) + 1 or first
            stop = _line_end(data, begin - start)
            number += data.count(b"\n", counted, first)
            places = []
        if marked:
            places.append((begin - start - first, end - start - first))
    if stop >= 0:
        found.append(_line(number, data[first:stop], places))
    return found


def _line_end(data: Pack, at: int) -> int:
    end = data.find(b"\n", at)
    return len(data) if end < 0 else end


def _line(number: int, raw: bytes, spans: Sequence[Span]) -> Line:
    text = raw.decode()
    if len(text) == len(raw) or not spans:
        return Line(number, text, tuple(spans))
    counted, characters, places = 0, 0, []
    for place in (place for span in spans for place in span):
        characters += len(raw[counted:place].decode())
        counted = place
        places.append(characters)
    return Line(number, text, tuple(zip(places[::2], places[1::2], strict=True)))


def _compiled(shown: str, source: str, *, anchored: bool = False, **options: bool) -> Match:
    """The search for `source`: of (data, from, to) the spans of the first match and its groups, (-1, -1) for none."""
    import re2  # late: only a regex search needs it

    wanted = re2.Options()
    wanted.log_errors = False
    if options:  # alone, as every source comes first, it is held to RE2's own bound on size
        wanted.max_mem = MEMORY
    for name, value in options.items():
        setattr(wanted, name, value)
    try:
        compiled: Any = re2.compile(source, wanted)
    except re2.error as error:
        raise _explained(shown, error) from error
    # The wrapper's own search takes three times as long to say the same.
    match, anchor = compiled._regexp.Match, re2._Anchor.ANCHOR_START if anchored else re2._Anchor.UNANCHORED
    return partial(match, anchor)


def _joined(sources: Sequence[str], places: Mapping[str, str], *, fixed: bool) -> str:
    """One pattern that matches what any of `sources` does, its anchors written as in `places`."""
    import re2  # late, as above

    def written(token: re.Match[str]) -> str:
        if token["quoted"] is not None:  # one without its \E would quote what we put behind it
            return str(re2.escape(token["quoted"]))
        return places.get(token[0], token[0])

    every = [re2.escape(source) if fixed else _TOKEN.sub(written, source) for source in sources]
    return every[0] if len(every) == 1 else "|".join(f"(?:{each})" for each in every)


def _within_a_line(pattern: str, *, fixed: bool) -> bool:
    return "\n" not in pattern if fixed else bool(_WITHIN_A_LINE.fullmatch(pattern))


def _capital(pattern: str, *, fixed: bool) -> bool:
    if fixed:
        return any(map(str.isupper, pattern))
    tokens = (token["quoted"] or re.sub(_ESCAPE, "", token[0]) for token in _TOKEN.finditer(pattern))
    return any(map(str.isupper, "".join(token for token in tokens if not token.startswith("(?"))))


def _refused(pattern: str, *, fixed: bool, multiline: bool) -> None:
    """Refuse what could be searched but never be found, and what could be found but not be shown."""
    if fixed:
        if "\n" in pattern and not multiline:
            raise BadPatternError(pattern, _A_NEWLINE, pattern.index("\n"))
        return
    for token in _TOKEN.finditer(pattern):
        if token[0] == r"\C":
            raise BadPatternError(pattern, _A_BYTE, token.start())
        if not multiline and (token[0] in (r"\n", "\n") or "\n" in (token["quoted"] or "")):
            raise BadPatternError(pattern, _A_NEWLINE, token.start())


def _bounded(pattern: str, *, fixed: bool) -> None:
    for position, character in enumerate(pattern):
        if "\ud800" <= character <= "\udfff":
            raise BadPatternError(ascii(pattern)[1:-1], "it holds half a character, which is no text", position)
    if len(pattern) > LONGEST:
        raise BadPatternError(pattern[:40] + "…", f"longer than {LONGEST} characters", LONGEST)
    if fixed:
        return
    asked = 0
    for match in _REPEAT.finditer(pattern):
        if any(len(n) > 4 or int(n) > MOST for n in match.groups() if n):
            raise BadPatternError(pattern, f"repeats more than {MOST} times", match.start())
        asked += max((int(n) for n in match.groups() if n), default=0)
        if asked > IN_ALL:
            raise BadPatternError(pattern, f"repeats more than {IN_ALL} times in all", match.start())
    names: set[str] = set()
    for match in _GROUP.finditer(pattern):
        if match[1] and match[1] in names:
            raise BadPatternError(pattern, f"group name {match[1]!r} is given twice", match.start())
        names.add(match[1])


def _explained(pattern: str, error: Exception) -> BadPatternError:
    raw = error.args[0] if error.args else "it does not compile"
    why = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw)
    kind, _, part = why.partition(": ")
    position = pattern.find(part) if part else None
    if kind == "missing )":
        position = _unclosed(pattern)
    elif kind == "unexpected )":
        position = pattern.rfind(")")
    elif kind == "invalid repetition size":
        kind = f"repeats more than {MOST} times, one repetition within another multiplied"
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

"""Regex in linear time: RE2, which never backtracks, over the lines of a text or of many at once."""

import os
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby, islice, pairwise, takewhile
from mmap import mmap
from operator import eq, itemgetter
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
NOWHERE = -1  # in the place of a match
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

_NO_RETURN = re.compile(r"(?:[\w \-(|)?*+{,}]|\\[bdw]|\[[\w-]+\])*")  # can match no \r, nor what stands beside one

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


_LINE = partial(tuple.__new__, Line)  # faster than the class itself, and a search makes thousands


class Found(NamedTuple):
    """The texts of a pack that may have lines to give, ascending, each with where its first match is noted.

    From there on `begins` and `ends` are bounds of matches, in bytes of the pack, those of one text after
    those of another; NOWHERE: only the text can tell.
    """

    # A span for each match would be thousands of objects that the garbage collector looks through.

    firsts: dict[int, int]
    begins: list[int]
    ends: list[int]

    def spans(self, first: int, end: int) -> Iterator[Span]:
        """The matches that are noted from `first` on, of the text that ends at `end`."""
        some = slice(first, first + MANY)  # of a text with more of them none is noted
        return takewhile(lambda span: span[0] < end, zip(self.begins[some], self.ends[some], strict=True))


class Lines(Sequence[Line]):
    """The lines of one text that match, at least one, made when they are first looked at."""

    __slots__ = ("_at", "_found", "_made", "_pattern", "_start", "_text")

    def __init__(self, pattern: "Pattern", text: str, start: int, found: Found, at: int) -> None:
        self._pattern, self._text, self._start, self._found, self._at = pattern, text, start, found, at
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
        return len(self._made or self._all())

    def __iter__(self) -> Iterator[Line]:
        return iter(self._made or self._all())

    def _all(self) -> list[Line]:
        if self._made is None:
            self._made = self._pattern.around(self._text, self._start, self._found, self._at)
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
        self._no_return = not word and all("\r" not in s if fixed else _NO_RETURN.fullmatch(s) for s in sources)
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

    def lines_of(
        self, found: Found, placed: Iterable[tuple[T, str, int, int, int]]
    ) -> Iterator[tuple[T, Sequence[Line]]]:
        """Of each of `placed` that has any, its lines as of `lines`, made when they are first looked at.

        That is whatever stands for a text, the text, where the pack that was searched holds it from
        and to, and where in what was `found` its matches are noted.
        """
        sure = self._no_return
        for one, text, start, end, at in placed:
            if at >= 0 and len(text) == end - start and (sure or "\r" not in text) and text.isascii():
                yield one, Lines(self, text, start, found, at)
            elif lines := self._lines_at(text, start, end, found, at):
                yield one, lines

    def _lines_at(self, text: str, start: int, end: int, found: Found, at: int) -> Sequence[Line]:
        if at >= 0 and "\r" not in text and len(text.encode()) == end - start and text[0] != "\ufeff":
            return Lines(self, text, start, found, at)
        return list(self.lines(text.removeprefix("\ufeff")))  # or a crash has left something behind it

    def around(self, text: str, start: int, found: Found, at: int) -> list[Line]:
        """The lines of `text` that hold what was `found` from `at` on, in a pack in which it begins at `start`."""
        if "\r" in text:  # what matches before one that ends a line is not among them
            return list(self.lines(text))
        if text.isascii():
            lines = _around_plain(text, start, found, at, marked=self._marked)
        else:
            data = text.encode()
            lines = _around(data, start, found.spans(at, start + len(data)), marked=self._marked)
        return lines if self._most is None else lines[: self._most]

    def candidates(self, pack: Pack, starts: Sequence[int]) -> Iterator[int]:
        """The indices, ascending, of the texts in `pack` that may have lines to give; every other one has none.

        `pack` holds texts as UTF-8, each followed by one newline more; text i begins at `starts[i]`.
        """
        return iter(self.found(pack, starts, first=True).firsts)

    def found(self, pack: Pack, starts: Sequence[int], *, first: bool = False) -> Found:
        """As `candidates`, each with its matches in `pack`; with `first` only the first of a text may be there."""
        if self._invert:
            return Found(dict.fromkeys(range(len(starts)), NOWHERE), [], [])
        if self._multiline:
            return Found(dict.fromkeys(self._one_by_one(pack, starts), NOWHERE), [], [])
        return self._all_at_once(pack, starts, first=first or (self._most == 1 and not self._marked))

    def _all_at_once(self, pack: Pack, starts: Sequence[int], *, first: bool) -> Found:
        """By several threads where the first texts hold few matches: with many, each would wait for the other."""
        head = bisect_left(starts, min(PART, len(pack)))
        scout = self._loose or self._scout
        seen = self._seen(scout, pack, starts, 0, head, once=first)
        found = Found({}, [], [])
        self._sort_out(scout, seen, pack, starts, found)
        if self._loose and (len(seen[0]) - len(found.firsts)) * WRONG > PART:
            scout = self._scout
        threads = max(min(os.cpu_count() or 1, THREADS, len(pack) // PART), 1)
        if len(seen[0]) > SPARSE:
            threads = 1
        rest = len(starts) - head
        cuts = [head + rest * part // threads for part in range(threads + 1)]
        works = [partial(self._seen, scout, pack, starts, *each, once=first) for each in pairwise(cuts)]
        parts = [works[0]()] if threads == 1 else _in_threads(works)
        for part in parts:
            self._sort_out(scout, part, pack, starts, found)
        return found

    def _seen(
        self, scout: Match, pack: Pack, starts: Sequence[int], first: int, last: int, *, once: bool
    ) -> tuple[list[int], list[int]]:
        """Where `scout` finds something in the texts from `first` to before `last`; of a text no more than matters."""
        begins, ends = list[int](), list[int]()
        if first >= last:
            return begins, ends
        at, end = starts[first], starts[last] if last < len(starts) else len(pack)
        once = once or not self._tells or scout is not self._match
        while at < end:
            stop = pack.find(b"\n", at + WINDOW)  # no match runs over the end of a line, so a window may end at any
            stop = end if stop < 0 or stop > end else stop
            while at < stop:
                begin, at = scout(pack, at, stop)[0]
                if begin < 0 or begin == end:  # what is empty and stands at the end belongs to none of them
                    break
                begins.append(begin)
                ends.append(at)
                piled = len(begins) % MANY == 0 and begin < self._following(starts, begins[-MANY], end)
                if once or begin == at or piled:
                    at = self._following(starts, begin, end)
                elif not self._marked:  # the rest of the line says nothing more
                    at = _line_end(pack, at) + 1
            else:
                continue
            at = stop + 1
        return begins, ends

    @staticmethod
    def _following(starts: Sequence[int], at: int, end: int) -> int:
        """Where the text behind the one that holds `at` begins."""
        text = bisect_right(starts, at)
        return starts[text] if text < len(starts) else end

    def _sort_out(
        self, scout: Match, seen: tuple[list[int], list[int]], pack: Pack, starts: Sequence[int], found: Found
    ) -> None:
        """Add to `found` the texts in which `scout` has `seen` something, and that hold a match after all."""
        tells = self._tells and scout is self._match
        begins, ends = seen
        firsts = found.firsts
        first, text, following, count = 0, 0, 0, len(starts)
        for place, begin in enumerate(begins, len(found.begins)):
            if begin >= following:
                far = text + NEAR  # few steps from one to the next, mostly
                near = far < count and starts[far] > begin
                text = bisect_right(starts, begin, text, far if near else count) - 1
                following = starts[text + 1] if text + 1 < count else len(pack)
                if tells:
                    firsts[text] = first = place
                else:
                    self._tell(pack, text, starts[text], following - 1, found)
            elif tells and place - first >= MANY - 1:
                firsts[text] = NOWHERE
        if not tells:
            return
        found.begins.extend(begins)
        found.ends.extend(ends)
        if any(map(eq, begins, ends)):  # an empty one may stand on no line of its text
            for begin in (begin for begin, end in zip(begins, ends, strict=True) if begin == end):
                firsts[bisect_right(starts, begin) - 1] = NOWHERE

    def _tell(self, pack: Pack, text: int, start: int, end: int, found: Found) -> None:
        """Add to `found` the text from `start` to `end`, unless the bytes as they are tell that it holds no match."""
        spans = None if self._beside else self._within(pack, start, end)
        if spans:
            found.firsts[text] = len(found.begins)
            found.begins.extend(begin for begin, _ in spans)
            found.ends.extend(end for _, end in spans)
        elif spans is None or pack.find(b"\r", start, end) >= 0 or pack[start : start + 3] == b"\xef\xbb\xbf":
            found.firsts[text] = NOWHERE

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


def _around_plain(text: str, start: int, found: Found, at: int, *, marked: bool) -> list[Line]:
    """As `_around` of a text whose characters are bytes, which it need not be turned into."""
    _, begins, ends = found
    lines: list[Line] = []
    number, first, size, count = 1, 0, len(text), len(begins)
    begin = begins[at] - start
    while begin < size:
        counted, first = first, text.rfind("\n", first, begin) + 1 or first
        if first > counted:
            number += text.count("\n", counted, first)
        stop = text.find("\n", begin)
        if stop < 0:
            stop = size
        places: tuple[Span, ...] = ((begin - first, ends[at] - start - first),) if marked else ()
        at += 1
        begin = begins[at] - start if at < count else size
        while begin < stop:  # more on the same line
            if marked:
                places = (*places, (begin - first, ends[at] - start - first))
            at += 1
            begin = begins[at] - start if at < count else size
        lines.append(_LINE((number, text[first:stop], places, False)))
    return lines


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

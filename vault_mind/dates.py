"""Dates as people write them, read as the span of time that they mean. Pure but for the system's time zone.

A span is half-open: from its first moment to the first moment after it. Where words leave it open
which one is meant ("may", "friday", "7 May"), it is the latest that has begun.
"""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, time, timedelta, timezone
from functools import cache

Span = tuple[datetime, datetime]

LONGEST = 60  # characters of a date; what is longer is a sentence
LOOKED_AT = 4_000  # characters of a text in which dates are looked for

# What is read beside English. Without such a list dateparser loads some two hundred, which takes seconds.
_LANGUAGES = (
    "en de fr es it pt nl sv da nb fi ru uk pl cs sk hu ro bg sr hr sl el tr ar he fa hi ta th vi id ja ko zh ca eu"
).split()

_MONTHS = "january february march april may june july august september october november december".split()
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}  # its first month, in the north
_NUMBERS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen twenty"
).split()
_FEASTS = {"christmas": (12, 25), "christmas eve": (12, 24), "new year": (1, 1), "new year's eve": (12, 31)}
_SHORT = {"y": "year", "yr": "year", "mo": "month", "mth": "month", "w": "week", "wk": "week", "d": "day", "h": "hour"}
_SHORT |= {"hr": "hour", "min": "minute", "sec": "second"}
_HOURS = {  # days from today, the first hour, how many
    "last night": (-1, 18, 12),
    "this morning": (0, 0, 12),
    "this afternoon": (0, 12, 6),
    "this evening": (0, 18, 6),
    "tonight": (0, 18, 6),
}
_DAYS = {"day before yesterday": -2, "yesterday": -1, "today": 0, "tomorrow": 1, "day after tomorrow": 2}


def period(text: str, now: datetime) -> Span | None:
    """The span that `text` means, seen from `now`; None when it is no date. Never raises.

    English by our own rules; in other languages the day, week, month or year that dateparser
    names. A day and a month that could be each other's ("5/6/2026") are not guessed at.
    """
    return english(text, now) or _foreign(text, now)


def english(text: str, now: datetime) -> Span | None:
    """As `period`, of numbers and English words only, and quick."""
    words = _simple(text[: LONGEST + 1])
    if not words or len(text) > LONGEST:
        return None
    clock = aware(now)
    for form, read in _FORMS:
        if match := re.fullmatch(form, words, re.ASCII):
            try:
                span = read(match, clock.replace(tzinfo=None))
            except (ValueError, OverflowError):  # the 30th of February, or so long ago that there is no date
                return None
            return span and (_placed(span[0], clock), _placed(span[1], clock))
    return None


def mentioned(text: str, now: datetime) -> list[tuple[str, Span]]:
    """The dates that an ordinary English text speaks of: the words of each and its span, in order.

    Only what can hardly be anything else is taken: a month's bare name after "in" or "last", no bare
    number. "Two weeks ago" is about then: half a week to either side.
    """
    text = text[:LOOKED_AT]
    if not _HINT.search(text.casefold()):
        return []
    found = []
    for match in _mention().finditer(text):
        words = next(group for group in match.groups() if group)
        if span := english(words, now):
            found.append((words, _about(span) if words.casefold().endswith("ago") else span))
    return found


def aware(moment: datetime) -> datetime:
    """`moment` with a time zone: its own, else the system's."""
    return moment if moment.utcoffset() is not None else _local(moment.replace(tzinfo=None))


# --- naive time and time zones ------------------------------------------------------------------------------------


def _local(naive: datetime) -> datetime:
    try:
        return naive.astimezone()
    except (ValueError, OverflowError, OSError):  # at the ends of the calendar, or before the system's clock
        return naive.replace(tzinfo=UTC)


def _placed(moment: datetime, now: datetime) -> datetime:
    """`moment`, unless it says its own zone, in that of `now`.

    A fixed offset that is the system's own at `now` stands for the system's zone, which knows when summer time is.
    """
    if moment.tzinfo:
        return moment
    naive = now.replace(tzinfo=None)
    if isinstance(now.tzinfo, timezone) and _local(naive).utcoffset() == now.utcoffset():
        return _local(moment)
    placed = moment.replace(tzinfo=now.tzinfo)
    try:
        placed.astimezone(UTC)
    except (ValueError, OverflowError):
        return moment.replace(tzinfo=UTC)
    return placed


def _plus(moment: datetime, delta: timedelta) -> datetime:
    try:
        return moment + delta
    except OverflowError:
        return datetime.max.replace(tzinfo=moment.tzinfo)


def _days(start: datetime, count: int = 1) -> Span:
    return start, _plus(start, timedelta(days=count))


def _midnight(now: datetime) -> datetime:
    return datetime.combine(now.date(), time())


def _months(year: int, month: int, count: int = 1) -> Span:
    """`count` months from `month`, which may lie outside 1-12 and then is of another year."""
    first, after = year * 12 + month - 1, year * 12 + month - 1 + count
    end = datetime.max if after // 12 > 9999 else datetime(after // 12, after % 12 + 1, 1)
    return datetime(first // 12, first % 12 + 1, 1), end


def _shifted(moment: datetime, count: int, unit: str) -> datetime:
    """`moment` moved by `count` units; in a month that is too short for its day, the last day."""
    months = {"month": 1, "quarter": 3, "year": 12, "decade": 120}.get(unit)
    if months is None:
        return moment + count * timedelta(**{"weeks" if unit == "week" else f"{unit}s": 1})
    year, month = divmod(moment.year * 12 + moment.month - 1 + count * months, 12)
    return moment.replace(year=year, month=month + 1, day=min(moment.day, _length(year, month + 1)))


def _length(year: int, month: int) -> int:
    """The days of a month."""
    from calendar import monthrange  # late: few commands reckon with months

    return monthrange(year, month)[1]


def _about(span: Span) -> Span:
    half = (span[1] - span[0]) / 2
    if half < timedelta(days=1):
        return span
    try:
        return span[0] - half, span[0] + half
    except OverflowError:
        return span


# --- numbers ------------------------------------------------------------------------------------------------------


def _moment(match: re.Match[str], _: datetime) -> Span:
    start = datetime.fromisoformat(re.sub(r" (?=[+z-])", "", match[0]).upper())
    return start, _plus(start, timedelta(seconds=1) if match["seconds"] else timedelta(minutes=1))


def _numbered(match: re.Match[str], _: datetime) -> Span:
    year, month, day = int(match["year"]), match["month"], match["day"]
    if day:
        return _days(datetime(year, int(month), int(day)))
    return _months(year, datetime(year, int(month), 1).month) if month else _months(year, 1, 12)


def _slashed(match: re.Match[str], _: datetime) -> Span | None:
    first, second, year = (int(part) for part in match.groups())
    if first != second and max(first, second) <= 12:  # a Briton's and an American's differ
        return None
    day, month = (second, first) if second > 12 else (first, second)
    return _days(datetime(year, month, day))


def _iso_week(match: re.Match[str], now: datetime) -> Span:
    year = int(match["year"] or now.year)
    if match["day"]:
        return _days(datetime.fromisocalendar(year, int(match["week"]), int(match["day"])))
    return _days(datetime.fromisocalendar(year, int(match["week"]), 1), 7)


def _decade(match: re.Match[str], _: datetime) -> Span:
    year = int(match[1])
    return _months(year if year > 99 else _century(year), 1, 120)


def _century(year: int) -> int:
    """The year that two digits mean: of '69 to '99 the last century's."""
    return year + (1900 if year > 68 else 2000)


# --- words --------------------------------------------------------------------------------------------------------


def _now(_: re.Match[str], now: datetime) -> Span:
    end = _plus(now, timedelta(seconds=1))
    return min(now, end - datetime.resolution), end  # at the end of all time there is no later moment


def _day(match: re.Match[str], now: datetime) -> Span:
    return _days(_midnight(now) + timedelta(days=_DAYS[match[0]]))


def _hours(match: re.Match[str], now: datetime) -> Span:
    day, hour, count = _HOURS[match[0]]
    start = _midnight(now) + timedelta(days=day, hours=hour)
    return start, _plus(start, timedelta(hours=count))


def _number(word: str | None) -> int:
    word = (word or "one").removeprefix("a ").removesuffix(" of")
    if word.isdigit():
        return int(word)
    return {"a": 1, "an": 1, "couple": 2, "few": 3}.get(word) or _NUMBERS.index(word)


def _ago(match: re.Match[str], now: datetime) -> Span:
    """From then on, one unit long; days and longer units from midnight."""
    start = now if match["unit"] in ("second", "minute", "hour") else _midnight(now)
    start = _shifted(start, -_number(match["count"]), match["unit"])
    return start, _shifted(start, 1, match["unit"])


def _part(match: re.Match[str], now: datetime) -> Span | None:
    """The first, middle or last third of a longer time, in whole days."""
    whole = english(match["whole"], now)
    days = (whole[1] - whole[0]).days if whole else 0
    if whole is None or days < 3:
        return None
    third = {"mid": 1, "middle": 1, "late": 2}.get(match["part"], 0)
    start = whole[0].replace(tzinfo=None)
    return _plus(start, timedelta(days=third * days // 3)), _plus(start, timedelta(days=(third + 1) * days // 3))


def _feast(match: re.Match[str], now: datetime) -> Span | None:
    month, day = _FEASTS[match["name"]]
    if year := match["year"]:
        return _days(datetime(int(year), month, day))
    days = [_days(datetime(year, month, day)) for year in _years(now, 2)]
    return _chosen(_which(match), days, next(span for span in days if span[0].year == now.year), now)


def _rolling(match: re.Match[str], now: datetime) -> Span:
    """The last so many units up to and with today, or the next."""
    count, unit, today = _number(match["count"]), match["unit"], _midnight(now)
    if unit in ("second", "minute", "hour"):
        return (now, _shifted(now, count, unit)) if match["which"] == "next" else (_shifted(now, -count, unit), now)
    if match["which"] == "next":
        return today, _plus(_shifted(today, count, unit), timedelta(days=1))
    return _shifted(today, -count, unit), _plus(today, timedelta(days=1))


def _unit(match: re.Match[str], now: datetime) -> Span:
    """The calendar's own day, week, month, quarter or year."""
    unit, today = match["unit"], _midnight(now)
    first = {
        "day": today,
        "week": today - timedelta(days=today.weekday()),
        "month": today.replace(day=1),
        "quarter": today.replace(month=today.month - (today.month - 1) % 3, day=1),
        "year": today.replace(month=1, day=1),
    }[unit]
    start = _shifted(first, {"this": 0, "next": 1}.get(_which(match), -1), unit)
    return start, _shifted(start, 1, unit)


def _weekday(match: re.Match[str], now: datetime) -> Span | None:
    name = match["name"]
    day, count = (5, 2) if name == "weekend" else (_named(_WEEKDAYS, name), 1)
    monday = _midnight(now) - timedelta(days=now.weekday())
    weeks = [_days(monday + timedelta(days=7 * week + day), count) for week in range(-2, 3)]
    return _chosen(_which(match), weeks, weeks[2], now)


def _part_of_year(match: re.Match[str], now: datetime) -> Span | None:
    """A month, season or quarter, of the year that is named or of the one that is meant."""
    name = match["name"]
    if name in _SEASONS:
        month, count = _SEASONS[name], 3
    elif name[0] == "q" and name[1:].isdigit():
        month, count = int(name[1:]) * 3 - 2, 3
    else:
        month, count = _named(_MONTHS, name) + 1, 1
    if year := match["year"] or match["year_before"]:
        return _months(int(year), month, count)
    years = [_months(year, month, count) for year in _years(now, 2)]
    this = next(span for span in years if span[0].year == now.year)
    return _chosen(_which(match), years, this, now)


def _day_of_month(match: re.Match[str], now: datetime) -> Span | None:
    month, day = _named(_MONTHS, match["name"]) + 1, int(match["day"] or match["day_after"])
    if year := match["year"]:
        return _days(datetime(int(year), month, day))
    years = [year for year in _years(now, 8) if day <= _length(year, month)]  # 29 February: every eight at most
    return _chosen("", [_days(datetime(year, month, day)) for year in years], None, now)


def _years(now: datetime, around: int) -> Iterator[int]:
    yield from range(max(now.year - around, 1), min(now.year + around, 9999) + 1)


def _chosen(which: str, spans: list[Span], this: Span | None, now: datetime) -> Span | None:
    """Of spans in their order, the one that "last", "this", "next" or no such word means at `now`."""
    if which == "next":
        return next((span for span in spans if span[0] > now), None)
    if which == "this":
        return next((span for span in spans if span[0] <= now < span[1]), this)
    over = [span for span in spans if (span[1] if which == "last" else span[0]) <= now]
    return over[-1] if over else None


def _which(match: re.Match[str]) -> str:
    word = match["which"] or ""
    return {"past": "last", "previous": "last", "current": "this", "coming": "next"}.get(word, word)


def _named(names: list[str], short: str) -> int:
    return next(at for at, name in enumerate(names) if name.startswith(short[:3]))


# --- the forms of a date ------------------------------------------------------------------------------------------

_MONTH = r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
_MONTH += r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
_WEEKDAY = (
    r"(?:mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r(?:s(?:day)?)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?)"
)
_FULL_WEEKDAY = f"(?:{'|'.join(_WEEKDAYS)})"
_SEASON = f"(?:{'|'.join(_SEASONS)})"
_COUNT = rf"\d{{1,6}}|(?:a )?(?:couple|few)(?: of)?|an?|{'|'.join(_NUMBERS[1:])}"
_UNITS = "second|minute|hour|day|week|month|quarter|year|decade"
_WHICH = "last|past|previous|this|current|next|coming"

Reader = Callable[[re.Match[str], datetime], Span | None]
_NAMED = rf"(?P<name>{_MONTH}|{_SEASON}|q[1-4])(?:[- ]?(?P<year>\d{{4}}))?"
_FORMS: tuple[tuple[str, Reader], ...] = (
    (r"\d{4}-\d\d-\d\d[t ]\d\d:\d\d(?P<seconds>:\d\d(?:\.\d{1,6})?)?(?: ?z| ?[+-]\d\d:?\d\d)?", _moment),
    (r"(?P<year>\d{4})(?:(?P<by>[-/.])(?P<month>\d\d?)(?:(?P=by)(?P<day>\d\d?))?)?", _numbered),
    (r"(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)", _numbered),
    (r"(?P<day>\d\d?)\.(?P<month>\d\d?)\.(?P<year>\d{4})", _numbered),
    (r"(\d\d?)[/-](\d\d?)[/-](\d{4})", _slashed),
    (r"(?P<year>\d{4})[- ]?w(?P<week>\d\d?)(?:-(?P<day>\d))?", _iso_week),
    (r"(?:week|kw|cw) ?(?P<week>\d\d?)(?: (?P<year>\d{4}))?(?P<day>)", _iso_week),
    (r"(?P<month>\d\d?)[/.](?P<year>\d{4})(?P<day>)", _numbered),
    (r"(\d\d\d0|\d0)s", _decade),
    (r"(?P<part>early|beginning|start|mid|middle|late) (?P<whole>.+)", _part),
    (rf"(?:(?P<which>{_WHICH}) )?(?P<name>{'|'.join(_FEASTS)})(?: (?P<year>\d{{4}}))?", _feast),
    (r"now", _now),
    ("|".join(_DAYS), _day),
    ("|".join(_HOURS), _hours),
    (rf"(?P<count>{_COUNT}) (?P<unit>{_UNITS})s?(?: ago)?", _ago),
    (rf"(?P<which>last|past|previous|next) (?P<count>{_COUNT}) (?P<unit>{_UNITS})s?", _rolling),
    (r"(?P<which>past) (?P<count>)(?P<unit>week|month|quarter|year|hour|decade)", _rolling),
    (rf"(?P<which>{_WHICH}) (?P<unit>day|week|month|quarter|year)", _unit),
    (rf"(?:(?P<which>{_WHICH}) )?(?P<name>{_WEEKDAY}|weekend)", _weekday),
    (rf"(?:(?P<year_before>\d{{4}})[- ]?|(?P<which>{_WHICH}) )?{_NAMED}", _part_of_year),
    (rf"(?:{_WEEKDAY} )?(?P<day>\d\d?)(?P<day_after>) (?P<name>{_MONTH})(?: (?P<year>\d{{4}}))?", _day_of_month),
    (rf"(?:{_WEEKDAY} )?(?P<day>)(?P<name>{_MONTH}) (?P<day_after>\d\d?)(?: (?P<year>\d{{4}}))?", _day_of_month),
)
_ORDINAL = re.compile(r"(?<=\d)(?:st|nd|rd|th)\b")
_JOINED = re.compile(r"(?<=[a-z])[-_](?=[a-z\d])|(?<=\d)[-_](?=[a-z])")
_UNIT = re.compile(rf"(?<=\d) ?({'|'.join(sorted(_SHORT, key=len, reverse=True))})(?:s|\.)?(?!\w)")
_SAID = (
    (r"\bhalf an? year\b", "6 months"),
    (r"\bhalf an hour\b", "30 minutes"),
    (r"\b(?:an? )?fortnight\b", "2 weeks"),
    (r"\bearlier (?=this |today\b)", ""),
)
_TWO_DIGITS = re.compile(r"(?<!\S)'(\d\d)(?=s?\Z)")
_FILLER = re.compile(r"\b(?:the|(?<!couple )of)\b")


def _simple(text: str) -> str:
    """Folded, with single blanks; "last-week", "the 7th of Sept.", "2w" as "last week", "7 sept", "2 week"."""
    text = _JOINED.sub(" ", text.casefold().replace(",", " ").replace("’", "'"))
    text = _UNIT.sub(lambda unit: f" {_SHORT[unit[1]]}", text)
    text = _TWO_DIGITS.sub(lambda year: str(_century(int(year[1]))), text)
    for written, said in _SAID:
        text = re.sub(written, said, text)
    text = re.sub(r"(?<=[a-z])\.(?!\S)", "", _ORDINAL.sub("", text))
    return " ".join(_FILLER.sub(" ", text).split())


# "man" and "per" are short for a day; of three letters only May is a date, and what is followed by a number.
_FOREIGN = re.compile(r"[^\W\d_]{4}|[^\W_a-zA-Z\d]|(?=.*\d)[^\W\d_]{3}|\d\W*(?i:mai|maj|mei)\b")


def _foreign(text: str, now: datetime) -> Span | None:
    """The day, week, month or year that dateparser names."""
    if len(text) > LONGEST or text.strip().casefold() in _NUMBERS:
        return None
    if not _FOREIGN.search(text):
        return None
    import warnings

    from dateparser.date import DateDataParser  # late: it takes a fifth of a second, and few dates need it

    clock = aware(now)
    settings = {
        "PARSERS": ["relative-time", "absolute-time"],
        "PREFER_DATES_FROM": "past",
        "RELATIVE_BASE": clock.replace(tzinfo=None),
    }
    try:
        with warnings.catch_warnings():  # of strptime without a year, which is no news to a user
            warnings.simplefilter("ignore")
            parser = DateDataParser(languages=_LANGUAGES, try_previous_locales=False, settings=settings)
            found = parser.get_date_data(text)
        named = found.date_obj
        return named and _calendar(named.replace(tzinfo=None), found.period, clock)
    except Exception as error:  # whatever its many languages stumble over, the text is no date to us
        import logging  # late: nothing else here tells of itself

        logging.getLogger(__name__).info("dateparser fails at %r", text, exc_info=error)
        return None


def _calendar(named: datetime, unit: str, now: datetime) -> Span:
    day = _midnight(named)
    spans = {
        "week": lambda: _days(day - timedelta(days=day.weekday()), 7),
        "month": lambda: _months(day.year, day.month),
        "year": lambda: _months(day.year, 1, 12),
    }
    start, end = spans.get(unit, lambda: _days(day))()
    return _placed(start, now), _placed(end, now)


# --- dates in a sentence ------------------------------------------------------------------------------------------

_PLAIN_MONTH = rf"(?!(?i:may|mar|march)\b){_MONTH}"  # no verb and no name of something else
_VERB = (
    r"(?! +(?:be|have|has|not|i|we|you|he|she|it|they|to|on|of|for|through|against|past|by|forward|this|also|well)\b)"
)
_YEAR = r"(?:19|20|21)\d\d"
_DAY_NUMBER = r"(?:0?[1-9]|[12]\d|3[01])"
_DAY_OF = rf"{_DAY_NUMBER}(?:st|nd|rd|th)?"
_LEADING = r"(?:on|in|since|by|until|till|before|after|from|during|of)(?: +the)? +"
_NO_THING = (
    r"(?! +(?:onions?|rolls?|clean\w*|water|mattress\w*|beds?|break|rain|camp|school|house|for|off|from|down|guys?)\b)"
)
_END_OF_YEAR = (
    r"(?=\s*(?:$|[?!,;:)]|\.(?!\d)|(?:and|or|but|when|with|at|on|i|we|my|our|the|did|was|were|that|about)\b))"
)
_NO_YEAR = rf"(?!,? +(?:of +)?{_YEAR}\b)"  # that is another form, and a better one
_NUMERIC_START = r"(?<![\w./:+-])"
_NUMERIC_END = r"(?![\w/-]|[.:]\d)"
_CLOCK = r"[t ][0-2]\d:[0-5]\d(?::[0-5]\d)?(?:z|[+-]\d\d:?\d\d)?"
_MENTIONS = (
    rf"{_NUMERIC_START}({_YEAR}-[01]\d-[0-3]\d(?:{_CLOCK})?){_NUMERIC_END}",
    rf"{_NUMERIC_START}({_YEAR}-(?:[01]\d|w[0-5]\d|q[1-4])){_NUMERIC_END}",
    rf"{_NUMERIC_START}({_DAY_NUMBER}\.[01]?\d\.{_YEAR}|{_DAY_NUMBER}/{_DAY_NUMBER}/{_YEAR}){_NUMERIC_END}",
    # With a year beside it, a month is a month.
    rf"\b((?:{_DAY_OF}(?: +of)? +)?{_MONTH}\.?(?: +{_DAY_OF})?(?:,? +| +of +){_YEAR})\b",
    rf"\b((?:{_SEASON}|q[1-4])(?: +of)? +{_YEAR})\b",
    # With a day, unless it could be "it may 2 or 3 times".
    rf"\b({_DAY_OF}(?: +of)? +{_PLAIN_MONTH}|{_PLAIN_MONTH} +{_DAY_OF})\b(?![\w.:]*\d)",
    rf"\b({_DAY_NUMBER}(?:st|nd|rd|th)(?: +of)? +(?:may|march)|(?:may|march) +{_DAY_NUMBER}(?:st|nd|rd|th))\b",
    rf"\b(?:{_LEADING})({_DAY_OF} +(?:may|march)|(?:may|march) +{_DAY_OF})\b(?![\w.:]*\d){_NO_YEAR}",
    # With a word before it that makes it a time.
    rf"\b((?:last|this|next) +(?:(?!may\b|march\b|mar\b){_MONTH}|{_FULL_WEEKDAY}|weekend))\b",
    rf"\b((?:last|next) +(?:may|march)|(?-i:this (?:May|March)))\b{_VERB}",
    rf"\b((?:last|this|next) +{_SEASON})\b{_NO_THING}",
    rf"\b(?:in|during|since|until|till)(?: +the)? +({_SEASON})\b{_NO_THING}{_NO_YEAR}",
    rf"\b(?:in|during|since|until|till) +({_MONTH})\b(?![-'’]|,? +\d){_VERB}{_NO_YEAR}",
    rf"\b(?:on|since|by|until|till|before|after|from) +({_FULL_WEEKDAY})\b(?!,? +(?:the +)?(?:\d|{_MONTH}\b))",
    rf"\b(?:(?:in|since|during|until|till) +|the +year +)({_YEAR})\b{_END_OF_YEAR}",
    rf"\b(?:in|since|during|from) +the +({_YEAR[:-2]}0s)\b",
    r"\b((?:last|this|next|past) +(?:week|month|quarter|year)|last +night|this +(?:morning|afternoon|evening))\b",
    rf"\b((?:last|past|next) +(?:{_COUNT}) +(?:hours?|days?|weeks?|months?|years?))\b",
    rf"\b((?:{_COUNT}) +(?:{_UNITS})s? +ago)\b",
    r"\b(day +before +yesterday|yesterday|today|tonight|day +after +tomorrow|tomorrow)\b",
)


# No mention is without one of these; looking for them is quick.
_HINT = re.compile(
    r"[0-9]|\b(?:last|this|next|past|ago|to(?:day|night|morrow)|yesterday|spring|summer|autumn|fall|winter"
    r"|jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b",
    re.ASCII,
)


@cache
def _mention() -> re.Pattern[str]:
    """Compiled when first asked for: few commands read a sentence."""
    return re.compile("|".join(_MENTIONS), re.IGNORECASE | re.ASCII)

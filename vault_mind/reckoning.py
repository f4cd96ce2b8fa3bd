"""Numbers and dates of a text as values, and whether words of a user bear out a date that a sentence names. Pure."""

import re
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from functools import lru_cache

from vault_mind import wording
from vault_mind.dates import mentioned
from vault_mind.third_person import SentencePattern, word_set

MOST_DAYS = 400  # of a span
WEEK = 17  # days up to which a span may mean each: a week, and what "ago" leaves open
MOST_YEARS = 200  # and of the days, weeks and months ahead

Number = int | str  # a plain number, or what else holds a digit, as it is written: 14a, 7:12

_MONTH = "|".join(
    sorted((name for month in wording.MONTHS.split(" ") for name in month.split("|")), key=len, reverse=True)
)
_SEASON = "|".join(name for season in wording.SEASONS.split() for name in season.split("|"))
_DATE = SentencePattern(
    rf"(?<![0-9A-Za-z.])(?:(?P<y1>(?:19|20)\d\d)[-/](?P<m1>\d\d?)(?:[-/](?P<d1>\d\d?))?"
    rf"|(?:(?P<d2>\d\d?)(?:st|nd|rd|th|\.|er)?(?: of| de)? )?(?P<m2>{_MONTH})\b\.?(?: (?P<d3>\d\d?)(?:st|nd|rd"
    rf"|th)?\b(?! ?(?:mg|kg|euros?|hours|%)))?"
    rf"(?:,?(?: of| de| del)? (?P<y2>(?:19|20)\d\d)\b)?"
    rf"|\b(?P<season>{_SEASON}|christmas|easter)\b(?:(?: of)? (?P<y3>(?:19|20)\d\d)\b)?"
    rf"|(?<=\bin |im |en |al |by |of )(?P<y4>(?:19|20)\d\d)\b|(?:since|until|till|from|around|about|before|after"
    rf"|seit|desde|depuis) (?P<y5>(?:19|20)\d\d)\b"
    rf"|(?P<y6>(?:19|20)\d\d)年(?:(?P<m6>\d\d?)月(?:(?P<d6>\d\d?)日)?)?"
    rf"|(?P<weekday>(?:mon|tues|wednes|thurs|fri|satur|sun)days?)\b)"
)
# What is told happened a short while ago.
_LATELY = SentencePattern(
    r"\b(?:just|recently|newly) (?:been )?(?:\w+ed|got|began|bought|sold|quit|left|had|became|met|won|lost|went|came"
    r"|built|found|made|took|gave)\b|\b(?:recently|gerade|neulich|kürzlich|frisch|récemment|vien[st] d['’e]\w*"
    r"|venons de|acab(?:o|a|amos) de)\b"
)
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_SINCE = SentencePattern(r"\b(?:since|seit|desde|depuis|ever since)\b\s*(?:\d{4})?\Z")
_AHEAD = SentencePattern(r"\b(?:in|within|for the next) (?P<count>\w+) (?P<unit>day|week|month|year)s?\b")
_TIMELY = SentencePattern(r"\b(?:\w+day|christmas|easter|term|semester|this|next|last|ago|holidays?)\b")
_YEARS = SentencePattern(r"([\w-]+)\s+(?:years?|jahren?|años?|ans|anni|jaar|år)\b")
BESIDE_UNIT = re.compile(r"(?<=\d)(?=[^\W\d_])|(?<=[^\W\d_])(?=\d)|(?<=[€$£%])|(?=[€$£%])")

_UNITS = {"day": (1.0, 1), "week": (7.0, 4), "month": (30.5, 20), "year": (365.25, 200)}  # days; and about how many


class Times:
    """What `said`, in `language`, tells of time at the moment `at`; None: nothing is reckoned.

    `here` are those words of it that a sentence rests on: what "just" happened is told by themselves alone.
    """

    def __init__(self, said: str, at: datetime | None, language: str, here: str = "") -> None:
        self._said, self._at = said, at
        foreign = language != "english" and bool(
            word_set(wording.RELATIVE) & set(re.findall(r"[\w']+", said.casefold()))
        )
        self._foreign = foreign or any(word in said for word in wording.RELATIVE_CJK.split())
        self._mentioned = mentioned(said, at) if at else []
        self._relative = [found for found, _ in self._mentioned if not _YEAR.search(found)]
        self._durations = self._years_ago()
        self._lately = bool(_LATELY.search(here)) and not _YEAR.search(here)
        self._roughly: set[date] = set()  # days of a month, a season, a year: none of them is meant alone
        self._days = self._days_meant() if at else set()
        self._numbers, self._months, self._seasons = numbers_in(said), _months_in(said), _seasons_in(said)

    def unsaid(self, text: str) -> tuple[str, str | None]:
        """`text` without the dates that are borne out, and the first other date of it; what are words as well stays."""
        bare = text
        for match in list(_DATE.finditer(text)):
            if self._bears_out(match, text[: match.start()]):
                article = re.search(r"\b[ld]['’]\Z", text[: match.start()])
                bare = bare.replace((article[0] if article else "") + match[0], " ", 1)
            elif not match["weekday"] and not match["season"]:
                return bare, match[0]
        return bare, None

    def _bears_out(self, match: re.Match[str], before: str) -> bool:
        day, month, year, weekday, season = _parts(match)
        near = self._years_near()
        within = bool(day or month or season or self._relative or self._foreign)
        if _SINCE.search(before) or _SINCE.match(match[0]):
            within = within or bool(self._durations)  # for ten years
            near = self._durations or {one for one in near if self._at and one <= self._at.year}
        if self._at and self._lately and not (day or month or season or weekday):
            near, within = near | {self._at.year}, True
        if (
            (day is None or day in self._numbers)
            and (month is None or month in self._months)
            and (season is None or season in self._seasons)
            and (year is None or year in self._numbers or (year in near and within))
            and (weekday is None or weekday in self._said.casefold())
        ):
            return True
        if self._at is None or (weekday and match["weekday"].casefold().endswith("s")):
            return False  # what recurs is said as it is
        ordinal = day in self._numbers and not self._months and re.search(rf"\b{day}(?:st|nd|rd|th)\b", self._said)
        if ordinal and month:
            return (month - self._at.month) % 12 in (0, 1, 2, 11) and (year is None or year - self._at.year in (0, 1))
        return any(
            (day is None or (one.day == day and (one not in self._roughly or day in self._numbers)))
            and (month is None or one.month == month)
            and (year is None or year in self._durations or (one.year == year and not self._durations))
            and (weekday is None or one.weekday() == wording.WEEKDAYS.split().index(weekday))
            and (season is None or season == _season_of(one))
            for one in self._days
        )

    def _years_near(self) -> set[int]:
        """The years that a date without one may be of, and those that so many years ago were."""
        if self._at is None:
            return set()
        named = self._months or self._seasons or self._relative or self._foreign or _TIMELY.search(self._said)
        around = {self._at.year - 1, self._at.year, self._at.year + 1} if named else set()
        return around | self._durations

    def _years_ago(self) -> set[int]:
        found: set[int] = set()
        for match in _YEARS.finditer(self._said):
            count = number(match[1])
            if self._at and isinstance(count, int) and count < MOST_YEARS:
                found |= {self._at.year - count - 1, self._at.year - count, self._at.year - count + 1}
        return found

    def _days_meant(self) -> set[date]:
        """The days that its words of time may mean."""
        assert self._at  # noqa: S101  # asked only where there is a moment
        today = self._at.date()
        days: set[date] = set()
        for found, (start, end) in self._mentioned:
            around = 4 if found.casefold().endswith("ago") else 1
            count = min((end - start).days + 1, MOST_DAYS)
            meant = _around(start.date(), -around, count + around - 1)
            days |= meant
            if len(meant) > WEEK:
                self._roughly |= meant
        for match in _AHEAD.finditer(self._said):
            length, around = _UNITS[match["unit"].casefold()]
            ahead = number(match["count"])
            if isinstance(ahead, int) and ahead < MOST_YEARS:
                days |= _around(today + timedelta(days=round(ahead * length)), -around, around)
        for place, name in enumerate(wording.WEEKDAYS.split()):
            if re.search(rf"\b{name}", self._said, re.IGNORECASE):
                days |= {day for day in _around(today, -14, 14) if day.weekday() == place}
        return days | (_around(today, -62, 62) if self._foreign else set())


def number(word: str) -> Number | None:
    """What a word counts, if it does: 3 for "three", "3rd" and "third"."""
    low = word.casefold().strip(".,;:()")
    match = re.fullmatch(r"(\d+)(?:st|nd|rd|th)?", low.replace(",", ""))
    if match:
        return int(match[1])
    if low in _number_words():
        return _number_words()[low]
    tens, _, ones = low.partition("-")
    if ones and tens in _number_words() and ones in _number_words():
        return _number_words()[tens] + _number_words()[ones]
    return low if any(c.isdigit() for c in low) else None


def numbers_in(text: str) -> set[Number]:
    """Every number of a text, also those that stand beside a unit or in a compound."""
    found: set[Number] = set()
    for word in re.findall(r"[\w.,:/-]+", text.replace("’", "'")):
        for piece in (word, *BESIDE_UNIT.sub(" ", word).split(), *word.split("-")):
            value = number(piece)
            if value is not None:
                found.add(value)
    return found


@lru_cache(maxsize=1)
def _number_words() -> Mapping[str, int]:
    found = {name: number for number, names in enumerate(wording.NUMBERS.split()) for name in names.split("|")}
    found |= {name: number for number, names in enumerate(wording.ORDINALS.split()) for name in names.split("|")}
    found |= {name: (number + 3) * 10 for number, name in enumerate(wording.TENS.split())}
    return found


def _months_in(text: str) -> set[int]:
    low = text.casefold()
    return {number + 1 for number, names in enumerate(wording.MONTHS.split(" ")) if re.search(rf"\b(?:{names})\b", low)}


def _seasons_in(text: str) -> set[str]:
    low = text.casefold()
    found = {names.split("|")[0] for names in wording.SEASONS.split() if re.search(rf"\b(?:{names})\b", low)}
    return found | {name for name in ("christmas", "easter") if name in low}


def _season_of(day: date) -> str:
    return ("winter", "spring", "summer", "autumn")[day.month % 12 // 3]


def _around(day: date, first: int, last: int) -> set[date]:
    """The days from so many days after `day` to so many; none where there is no date."""
    try:
        return {day + timedelta(days=n) for n in range(first, last + 1)}
    except OverflowError:
        return set()


def _parts(match: re.Match[str]) -> tuple[int | None, int | None, int | None, str | None, str | None]:
    """Day, month, year, weekday and season of a date as it is written."""
    day = next((int(match[name]) for name in ("d1", "d2", "d3", "d6") if match[name]), None)
    year = next((int(match[name]) for name in ("y1", "y2", "y3", "y4", "y5", "y6") if match[name]), None)
    month = next((int(match[name]) for name in ("m1", "m6") if match[name]), None)
    if match["m2"]:
        low = match["m2"].casefold()
        month = next(n + 1 for n, names in enumerate(wording.MONTHS.split(" ")) if low in names.split("|"))
    weekday = match["weekday"].casefold().removesuffix("s") if match["weekday"] else None
    season = _seasons_in(match["season"]).pop() if match["season"] else None
    return day, month, year, weekday, season

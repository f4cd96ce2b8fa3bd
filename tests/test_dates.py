"""Dates as people write them: the span each means, the words that are none, and never an error."""

import subprocess
import sys
import time
import warnings
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vault_mind.dates import _HINT, LONGEST, _mention, aware, english, mentioned, period

NOW = datetime(2026, 11, 29, 18, 42, 7, tzinfo=UTC)  # a Sunday

PIECES = st.sampled_from(
    """0 1 7 29 31 99999 0000 0001 1900 2026 9999 ２０２６ - / . : , T Z +02:00 W05 Q1 may Feb feb. 7th sunday spring
    last this next past a few couple of weeks week days month years ago decade today now gestern il y a 3 jours 昨日
    \0 \ud800""".split()
)
DATES = st.one_of(
    st.text(max_size=20), st.lists(PIECES, max_size=5).map(" ".join), st.lists(PIECES, max_size=5).map("".join)
)
MOMENTS = st.one_of(
    st.datetimes(timezones=st.sampled_from([UTC, ZoneInfo("Europe/Berlin"), timezone(timedelta(hours=-12))])),
    st.datetimes(),
    st.sampled_from([datetime.min, datetime.max, datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)]),
)


def span(text: str, now: datetime = NOW) -> str:
    """The period that `text` means as "first .. after", times left out where both are midnight."""
    return shown(period(text, now))


def shown(found: tuple[datetime, datetime] | None) -> str:
    if found is None:
        return "none"
    return " .. ".join(f"{moment:%Y-%m-%d %H:%M}".removesuffix(" 00:00") for moment in found)


# --- one date -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("2026", "2026-01-01 .. 2027-01-01"),
        ("2026-05", "2026-05-01 .. 2026-06-01"),
        ("2026-12", "2026-12-01 .. 2027-01-01"),
        ("2026-05-01", "2026-05-01 .. 2026-05-02"),
        ("2026-5-1", "2026-05-01 .. 2026-05-02"),
        ("2026/05/01", "2026-05-01 .. 2026-05-02"),
        ("20260501", "2026-05-01 .. 2026-05-02"),
        ("7.5.2023", "2023-05-07 .. 2023-05-08"),
        ("13/5/2023", "2023-05-13 .. 2023-05-14"),
        ("5/13/2023", "2023-05-13 .. 2023-05-14"),
        ("5/5/2023", "2023-05-05 .. 2023-05-06"),
        ("2026-W05", "2026-01-26 .. 2026-02-02"),
        ("2026-W05-3", "2026-01-28 .. 2026-01-29"),
        ("week 5 of 2026", "2026-01-26 .. 2026-02-02"),
        ("Q1 2026", "2026-01-01 .. 2026-04-01"),
        ("2026-Q4", "2026-10-01 .. 2027-01-01"),
        ("1990s", "1990-01-01 .. 2000-01-01"),
        ("2026-05-01T10:00", "2026-05-01 10:00 .. 2026-05-01 10:01"),
        ("2026-05-01 10:00 Z", "2026-05-01 10:00 .. 2026-05-01 10:01"),
    ],
)
def test_numbers_name_the_year_the_month_the_day_or_the_minute(text: str, meant: str) -> None:
    assert span(text) == meant


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("today", "2026-11-29 .. 2026-11-30"),
        ("Yesterday", "2026-11-28 .. 2026-11-29"),
        ("the day before yesterday", "2026-11-27 .. 2026-11-28"),
        ("tomorrow", "2026-11-30 .. 2026-12-01"),
        ("last night", "2026-11-28 18:00 .. 2026-11-29 06:00"),
        ("this week", "2026-11-23 .. 2026-11-30"),
        ("last week", "2026-11-16 .. 2026-11-23"),
        ("last-week", "2026-11-16 .. 2026-11-23"),
        ("this month", "2026-11-01 .. 2026-12-01"),
        ("next month", "2026-12-01 .. 2027-01-01"),
        ("last quarter", "2026-07-01 .. 2026-10-01"),
        ("last year", "2025-01-01 .. 2026-01-01"),
        ("3 days ago", "2026-11-26 .. 2026-11-27"),
        ("a couple of days ago", "2026-11-27 .. 2026-11-28"),
        ("two weeks ago", "2026-11-15 .. 2026-11-22"),
        ("a year ago", "2025-11-29 .. 2026-11-29"),
        ("2 hours ago", "2026-11-29 16:42 .. 2026-11-29 17:42"),
        ("the last 3 months", "2026-08-29 .. 2026-11-30"),
        ("past week", "2026-11-22 .. 2026-11-30"),
        ("monday", "2026-11-23 .. 2026-11-24"),
        ("sunday", "2026-11-29 .. 2026-11-30"),
        ("last sunday", "2026-11-22 .. 2026-11-23"),
        ("last Friday", "2026-11-27 .. 2026-11-28"),
        ("next monday", "2026-11-30 .. 2026-12-01"),
        ("last weekend", "2026-11-21 .. 2026-11-23"),
        ("may", "2026-05-01 .. 2026-06-01"),
        ("december", "2025-12-01 .. 2026-01-01"),
        ("Sept.", "2026-09-01 .. 2026-10-01"),
        ("last november", "2025-11-01 .. 2025-12-01"),
        ("may 2026", "2026-05-01 .. 2026-06-01"),
        ("7 May 2023", "2023-05-07 .. 2023-05-08"),
        ("May 7, 2023", "2023-05-07 .. 2023-05-08"),
        ("Tuesday, 5 May 2026", "2026-05-05 .. 2026-05-06"),
        ("the 7th of May", "2026-05-07 .. 2026-05-08"),
        ("dec 5", "2025-12-05 .. 2025-12-06"),
        ("29 feb", "2024-02-29 .. 2024-03-01"),
        ("last spring", "2026-03-01 .. 2026-06-01"),
        ("last autumn", "2025-09-01 .. 2025-12-01"),
        ("this fall", "2026-09-01 .. 2026-12-01"),
        ("next spring", "2027-03-01 .. 2027-06-01"),
        ("summer 2025", "2025-06-01 .. 2025-09-01"),
        ("winter 2025", "2025-12-01 .. 2026-03-01"),
    ],
)
def test_english_words_name_a_span_as_seen_from_now(text: str, meant: str) -> None:
    assert span(text) == meant


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("gestern", "2026-11-28 .. 2026-11-29"),
        ("il y a 3 jours", "2026-11-26 .. 2026-11-27"),
        ("7 mai 2023", "2023-05-07 .. 2023-05-08"),
        ("mai 2023", "2023-05-01 .. 2023-06-01"),
        ("letzte Woche", "2026-11-16 .. 2026-11-23"),
        ("7. Dezember", "2025-12-07 .. 2025-12-08"),
        ("昨日", "2026-11-28 .. 2026-11-29"),
        ("вчера", "2026-11-28 .. 2026-11-29"),
    ],
)
def test_other_languages_name_the_day_or_the_month(text: str, meant: str) -> None:
    assert span(text) == meant


@pytest.mark.parametrize(
    "text",
    "|nonsense|of|a|m|12|1.2|10:30|2026-13|2026-02-30|30 february 2026|0000|5/6/2026|99999 years ago|"
    "999999 weeks ago|2026-W54|0 may 2026|forever|coffee|30 février 2026|?|+++".split("|"),
)
def test_what_is_no_date_or_could_be_two_is_none(text: str) -> None:
    assert period(text, NOW) is None


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("7d", "2026-11-22 .. 2026-11-23"),
        ("2w", "2026-11-15 .. 2026-11-22"),
        ("3mo", "2026-08-29 .. 2026-09-29"),
        ("12h", "2026-11-29 06:42 .. 2026-11-29 07:42"),
        ("two weeks", "2026-11-15 .. 2026-11-22"),
        ("2 yrs ago", "2024-11-29 .. 2025-11-29"),
        ("last 3 wks", "2026-11-08 .. 2026-11-30"),
        ("fifteen minutes ago", "2026-11-29 18:27 .. 2026-11-29 18:28"),
        ("half a year ago", "2026-05-29 .. 2026-06-29"),
        ("a fortnight ago", "2026-11-15 .. 2026-11-22"),
        ("earlier this year", "2026-01-01 .. 2027-01-01"),
        ("early 2025", "2025-01-01 .. 2025-05-02"),
        ("mid-June", "2026-06-11 .. 2026-06-21"),
        ("late last year", "2025-09-01 .. 2026-01-01"),
        ("the beginning of May 2026", "2026-05-01 .. 2026-05-11"),
        ("early this week", "2026-11-23 .. 2026-11-25"),
        ("the 90s", "1990-01-01 .. 2000-01-01"),
        ("'20s", "2020-01-01 .. 2030-01-01"),
        ("spring '26", "2026-03-01 .. 2026-06-01"),
        ("2026 spring", "2026-03-01 .. 2026-06-01"),
        ("5 May ’26", "2026-05-05 .. 2026-05-06"),
        ("05/2026", "2026-05-01 .. 2026-06-01"),
        ("5.2026", "2026-05-01 .. 2026-06-01"),
        ("KW12", "2026-03-16 .. 2026-03-23"),
        ("Christmas", "2025-12-25 .. 2025-12-26"),
        ("last Christmas", "2025-12-25 .. 2025-12-26"),
        ("New Year's Eve 2024", "2024-12-31 .. 2025-01-01"),
        ("10. Mai", "2026-05-10 .. 2026-05-11"),
        ("5 maj", "2026-05-05 .. 2026-05-06"),
    ],
)
def test_short_and_loose_ways_to_say_a_time_are_read(text: str, meant: str) -> None:
    assert span(text) == meant


@pytest.mark.parametrize(
    "text", ["early", "mid", "late tea", "mid today", "5m", "10 s", "13/2026", "'5", "1 man", "90 s"]
)
def test_what_is_short_for_too_much_is_no_date(text: str) -> None:
    assert span(text) == "none"


@pytest.mark.parametrize("unit", ["day", "week", "month", "year"])
def test_last_this_and_next_follow_on_one_another(unit: str) -> None:
    last, this, after = (english(f"{which} {unit}", NOW) for which in ("last", "this", "next"))

    assert last and this and after
    assert last[1] == this[0] <= NOW < this[1] == after[0]


def test_a_month_ago_from_the_31st_is_the_last_day_of_a_shorter_month() -> None:
    found = english("1 month ago", datetime(2026, 3, 31, tzinfo=UTC))

    assert found and found[0] == datetime(2026, 2, 28, tzinfo=UTC)


def test_this_winter_in_january_began_in_december() -> None:
    assert shown(english("this winter", datetime(2026, 1, 9, tzinfo=UTC))) == "2025-12-01 .. 2026-03-01"


# --- clocks and the ends of the calendar ----------------------------------------------------------


def test_an_offset_that_is_written_is_kept() -> None:
    found = period("2026-05-01T10:00:05+02:00", NOW)

    assert found == (datetime(2026, 5, 1, 8, 0, 5, tzinfo=UTC), datetime(2026, 5, 1, 8, 0, 6, tzinfo=UTC))


def test_a_day_on_which_the_clocks_change_is_an_hour_shorter_or_longer() -> None:
    now = NOW.astimezone(ZoneInfo("Europe/Berlin"))
    lengths = []
    for day in ("2026-03-29", "2026-10-25"):
        start, end = period(day, now) or (now, now)
        lengths.append(end.astimezone(UTC) - start.astimezone(UTC))

    assert lengths == [timedelta(hours=23), timedelta(hours=25)]


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the system's zone cannot be set here")
def test_the_systems_own_offset_stands_for_its_zone_with_summer_time(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as there:
        there.setenv("TZ", "Europe/Berlin")
        time.tzset()
        now = datetime(2026, 11, 29, 18, tzinfo=timezone(timedelta(hours=1)))
        found = period("2026-07-01", now)
    time.tzset()

    assert found and found[0] == datetime(2026, 6, 30, 22, tzinfo=UTC)


def test_a_clock_without_a_zone_is_the_systems() -> None:
    naive = datetime(2026, 11, 29, 18)

    assert period("today", naive) == period("today", naive.astimezone())
    assert aware(naive) == naive.astimezone()


@pytest.mark.parametrize("text", ["9999", "9999-12", "9999-12-31", "2026-W53", "0001", "0001-01-01", "9990s"])
def test_the_ends_of_the_calendar_are_dates_like_others(text: str) -> None:
    start, end = period(text, NOW) or (NOW, NOW)

    assert start < end


@example("now", datetime.max)
@given(DATES, MOMENTS)
@example("last week", datetime.min)
@example("next decade", datetime.max)
@example("tomorrow", datetime.max)
@example("this winter", datetime.min.replace(tzinfo=ZoneInfo("Asia/Tokyo")))
@example("0001-01-01", datetime.min.replace(tzinfo=ZoneInfo("Asia/Tokyo")))
def test_no_text_at_no_moment_raises_and_every_span_begins_before_it_ends(text: str, now: datetime) -> None:
    found = period(text, now)
    spoken = mentioned(text, now)

    for start, end in [*([found] if found else []), *(span for _, span in spoken)]:
        assert start < end
        assert start.tzinfo and end.tzinfo


@given(st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)))
def test_a_day_that_is_written_holds_every_moment_of_it(moment: datetime) -> None:
    start, end = english(f"{moment:%Y}".zfill(4) + f"-{moment:%m-%d}", NOW) or (NOW, NOW)

    assert start <= moment.replace(tzinfo=UTC) < end


@given(st.text(min_size=LONGEST + 1))
def test_a_sentence_is_no_date(text: str) -> None:
    assert period(text, NOW) is None


def test_no_warning_of_the_reader_of_other_languages_comes_through() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for text in ("7 mai", "29 février", "gestern", "03. März"):
            period(text, NOW)

    assert caught == []


def test_english_dates_load_no_other_languages() -> None:
    code = (
        "import sys; from datetime import datetime; from vault_mind.dates import mentioned, period;"
        "now = datetime.now();"
        "assert period('3 days ago', now) and period('7 May 2023', now) and mentioned('in May, when gestern was', now);"
        "assert 'dateparser' not in sys.modules"
    )

    subprocess.run([sys.executable, "-c", code], check=True)


# --- dates in a sentence --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("what did I plant last spring", {"last spring": "2026-03-01 .. 2026-06-01"}),
        ("who came on 7 May 2023?", {"7 May 2023": "2023-05-07 .. 2023-05-08"}),
        ("the plan for 2026-05", {"2026-05": "2026-05-01 .. 2026-06-01"}),
        ("see 2026-05-01.", {"2026-05-01": "2026-05-01 .. 2026-05-02"}),
        ("did we meet in may?", {"may": "2026-05-01 .. 2026-06-01"}),
        ("in March 2024", {"March 2024": "2024-03-01 .. 2024-04-01"}),
        ("in August of 2025", {"August of 2025": "2025-08-01 .. 2025-09-01"}),
        ("on Monday, 4 May 2026 we", {"4 May 2026": "2026-05-04 .. 2026-05-05"}),
        ("what was said on monday", {"monday": "2026-11-23 .. 2026-11-24"}),
        ("April 3, 2024 was wet", {"April 3, 2024": "2024-04-03 .. 2024-04-04"}),
        ("by Sept 5th", {"Sept 5th": "2026-09-05 .. 2026-09-06"}),
        ("on may 3", {"may 3": "2026-05-03 .. 2026-05-04"}),
        ("this May was hot", {"this May": "2026-05-01 .. 2026-06-01"}),
        ("in the spring of 2024", {"spring of 2024": "2024-03-01 .. 2024-06-01"}),
        ("what did we do in the summer", {"summer": "2026-06-01 .. 2026-09-01"}),
        ("what happened in 2023", {"2023": "2023-01-01 .. 2024-01-01"}),
        ("Q1 2026 figures", {"Q1 2026": "2026-01-01 .. 2026-04-01"}),
        ("today or 2 days ago", {"today": "2026-11-29 .. 2026-11-30", "2 days ago": "2026-11-27 .. 2026-11-28"}),
        ("in the last 3 days", {"last 3 days": "2026-11-26 .. 2026-11-30"}),
        ("two weeks ago", {"two weeks ago": "2026-11-11 12:00 .. 2026-11-18 12:00"}),
    ],
)  # fmt: skip
def test_a_question_speaks_of_the_dates_in_it(text: str, found: dict[str, str]) -> None:
    assert {words: shown(span) for words, span in mentioned(text, NOW)} == found


@pytest.mark.parametrize(
    "text",
    [
        "may I come in",
        "it may 2 or 3 times",
        "this may be wrong",
        "since may I not",
        "march on",
        "the last march on the capital",
        "we march 3 miles",
        "spring onions",
        "last spring onions",
        "in spring water",
        "wait a second",
        "the sun is out",
        "he sat and wed",
        "2000 euros",
        "it cost me in 2000 euros",
        "room 2024",
        "version 1.2.2023.4",
        "10.0.0.1",
        "https://example.org/2026-05-01/a",
        "call +49-2026-05-01",
        "next of kin",
        "at the last minute",
        "on mondays",
        "June said 3 things",
        "Mark, April and August are friends",
        "5/6/2026",
        "2026-13",
        "on the 30th of February 2026",
        "",
    ],
)
def test_words_that_only_look_like_a_date_are_none(text: str) -> None:
    assert mentioned(text, NOW) == []


@given(st.lists(PIECES, max_size=12).map(" ".join))
def test_the_words_of_a_date_stand_in_the_text(text: str) -> None:
    at = 0
    for words, _ in mentioned(text, NOW):
        assert words in text[at:]
        at = text.index(words, at) + len(words)


@pytest.mark.parametrize(
    "piece", ["1 ", "a ", "may ", "last ", " ", "1", "a couple of ", "2026-05-", "in the ", "(" + " " * 50]
)
def test_ten_megabytes_take_no_time(piece: str) -> None:
    text = piece * (10_000_000 // len(piece))
    started = time.perf_counter()

    mentioned(text, NOW)
    period(text, NOW)

    assert time.perf_counter() - started < 0.5


SPOKEN = (
    "last this next past in on since until the year of a couple ago week weeks night morning today tonight tomorrow"
    " yesterday day before after jan January Sept may March 3rd 12 2024 2024-05 1990s q3 spring fall Monday sunday sun"
    " é 今日"
).split()


@given(st.lists(st.sampled_from(SPOKEN), max_size=6), st.sampled_from([" ", "", "-", ", "]))
def test_no_mention_is_without_a_hint(words: list[str], between: str) -> None:
    text = between.join(words)

    assert not _mention().search(text) or _HINT.search(text.casefold())

"""Relative dates of a sentence ("next Friday") told as the dates that they were on the day it was said."""

import re
from calendar import month_name
from datetime import datetime, timedelta

from vault_mind.dates import Span, mentioned

_RELATIVE = re.compile(
    r"(?:last|this|next|past) (?:\w+)|(?:day (?:before|after) )?(?:yesterday|tomorrow|today)|tonight|.+ ago",
    re.IGNORECASE,
)
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_ON_DAY = re.compile(
    rf"\bon (?P<day>{'|'.join(_WEEKDAYS)})\b(?!s|['’]s| (?:morning|afternoon|evening|night)s)", re.IGNORECASE
)
_WILL_BE = re.compile(
    r"\b(?:will|going to|(?:is|are) (?!called|named)\w+ing|plans? to|has an? [\w' -]*?(?:appointment|exam|meeting|test"
    r"|interview|flight|date|operation|surgery|viewing|deadline|birthday|party|wedding))\b",
    re.IGNORECASE,
)
_WAS = re.compile(
    r"(?<!is )(?<!are )(?<!been )(?<!be )\b(?:was|were|went|got|had|bought|sold|lost|left|quit|met|broke|began|gave"
    r"|made|won|found|came|flew|moved|started|finished|adopted|arrived|returned|visited|retired|died|passed away)\b",
    re.IGNORECASE,
)
_RECURS = re.compile(
    r"\b(?:every|each|always|usually|often|never|mostly|sometimes|weekly|other|working)\b", re.IGNORECASE
)
_BEFORE = re.compile(r"\b(on|in|since|until|till|by|from|before|after|during|of|for|the)(?: the)?\s+$", re.IGNORECASE)
_SEASON = re.compile(r"spring|summer|autumn|fall|winter", re.IGNORECASE)


def dated(text: str, at: datetime) -> str:
    """`text` with "next Friday", "last month", "two weeks ago" as dates, seen from `at`; all else as it is.

    "On Friday" is the coming one of what will be, the last one of what was, and left where neither is plain.
    """
    text, start = _ON_DAY.sub(lambda match: _on_day(match, at), text), 0
    for words, span in mentioned(text, at):
        place = text.find(words, start)
        told = _told(words, span) if _RELATIVE.fullmatch(" ".join(words.split())) else None
        if place < 0 or told is None:
            continue
        link, date = told
        before = _BEFORE.search(text[:place])
        if before and before[1].lower() == "the":
            continue  # "the last week of it"
        if before and before[1].lower() not in ("on", "in", "during", "of", "for"):
            link = ""
        elif before:
            place, words = before.start(), text[before.start() : place + len(words)]
        elif place == 0 and re.match(r" (?:is|was|will|were|has)\b", text[len(words) :]):
            link = ""
        new = f"{link} {date}".strip()
        text = text[:place] + (new[:1].upper() + new[1:] if place == 0 else new) + text[place + len(words) :]
        start = place + len(new)
    return text


def _on_day(match: re.Match[str], at: datetime) -> str:
    before, day = match.string[: match.start()], _WEEKDAYS.index(match["day"].lower())
    ahead = (day - at.weekday()) % 7
    if not ahead or _RECURS.search(match.string):
        return match[0]
    if _WILL_BE.search(before):
        return f"on {_day(at + timedelta(days=ahead))}"
    return f"on {_day(at + timedelta(days=ahead - 7))}" if _WAS.search(before) else match[0]


def _told(words: str, span: Span) -> tuple[str, str] | None:
    """How a span is told, with the word before it: a day, a week, a month, a season, a year; None for others."""
    start, end = span
    days = round((end - start) / timedelta(days=1), 2)
    if words.lower().endswith("ago") and days > 1:
        middle = start + (end - start) / 2
        return ("around", _day(middle)) if days < 20 else ("around", f"{month_name[middle.month]} {middle.year}")
    if days <= 1.05 and (start.hour == 0 or days < 0.9):
        return "on", _day(start)
    if start.day == start.month == 1 and 364 < days < 367:
        return "in", str(start.year)
    if start.day == 1 and 27 < days < 32:
        return "in", f"{month_name[start.month]} {start.year}"
    if season := _SEASON.search(words):
        return "in", f"{season[0].lower()} {start.year}"
    if 6.9 < days < 7.1:
        return "in", f"the week of {_day(start)}"
    return None


def _day(moment: datetime) -> str:
    return f"{moment.day} {month_name[moment.month]} {moment.year}"

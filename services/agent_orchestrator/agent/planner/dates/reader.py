"""Reads the tokens of a text by position, and the numbers, years and clock times that start there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from services.agent_orchestrator.agent.planner.dates.calendar import (
    FIRST_YEAR,
    LAST_YEAR,
    ClockTime,
    LocalCalendar,
    Period,
    unit_near,
)
from services.agent_orchestrator.agent.planner.dates.lexer import Token
from services.agent_orchestrator.agent.planner.dates.words import (
    CITY_ZONES,
    CURRENT,
    NEXT,
    NUMBERS,
    ORDINALS,
    PREVIOUS,
    ZONES,
)

_END: Final = Token("end", "", 0, 0)
_LAST_MONTH_DAY: Final = 31
_HOURS: Final = 24
_NOON: Final = 12
_MINUTES: Final = 60
# Two-digit years below this are in this century.
_PIVOT: Final = 50
_DOZEN: Final = 12
_FEW: Final = 3

Found = tuple[Period, int]


@lru_cache(256)
def _split(phrases: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Splits phrases into words. Cached: the lists are few and fixed, and each is compared at every token of a text."""
    return tuple(tuple(phrase.split()) for phrase in phrases)


@dataclass(frozen=True, slots=True)
class Reader:
    """The tokens of one text and the caller's calendar. Positions past the end hold an empty token."""

    tokens: Sequence[Token]
    calendar: LocalCalendar

    def token(self, place: int) -> Token:
        """Returns the token at a position."""
        return self.tokens[place] if 0 <= place < len(self.tokens) else _END

    def text(self, place: int) -> str:
        """Returns the text of the token at a position, in lower case."""
        return self.token(place).text

    def kind(self, place: int) -> str:
        """Returns the kind of the token at a position."""
        return self.token(place).kind

    def after(self, place: int, *phrases: str) -> int | None:
        """Returns the position after the first of the phrases that starts here, or None."""
        first = self.text(place)
        for words in _split(phrases):
            if words[0] == first and all(
                self.text(place + offset) == word for offset, word in enumerate(words)
            ):
                return place + len(words)
        return None

    def skip(self, place: int, *phrases: str) -> int:
        """Returns the position after one of the phrases, or the same position if none starts here."""
        behind = self.after(place, *phrases)
        return place if behind is None else behind


def count_at(reader: Reader, place: int) -> tuple[int, int] | None:
    """Reads a count: "3", "three", "a couple of", "twenty-five"."""
    for phrase, number in (
        ("a couple of", 2),
        ("couple of", 2),
        ("a few", _FEW),
        ("few", _FEW),
        ("a dozen", _DOZEN),
    ):
        behind = reader.after(place, phrase)
        if behind is not None:
            return number, behind
    text = reader.text(place)
    if reader.kind(place) == "number":
        return int(text), place + 1
    if text in {"a", "an", "one"}:
        return 1, place + 1
    if text not in NUMBERS:
        return None
    ones = NUMBERS.get(reader.text(place + 1), 0)
    if NUMBERS[text] % 10 == 0 and NUMBERS[text] > _DOZEN and 0 < ones < 10:  # noqa: PLR2004 a decimal digit
        return NUMBERS[text] + ones, place + 2
    return NUMBERS[text], place + 1


def ordinal_at(reader: Reader, place: int) -> tuple[int, int] | None:
    """Reads an ordinal: "3rd", "third"; "last" is -1."""
    if reader.kind(place) == "ordinal":
        return int(reader.text(place)[:-2]), place + 1
    number = ORDINALS.get(reader.text(place))
    return None if number is None else (number, place + 1)


def month_day_at(reader: Reader, place: int) -> tuple[int, int] | None:
    """Reads a day of a month, as a number or an ordinal, after an optional article."""
    place = reader.skip(place, "the")
    token = reader.token(place)
    ordinal = ordinal_at(reader, place)
    if ordinal is not None:
        return ordinal if ordinal[0] > 0 else None
    if token.kind == "number" and 1 <= int(token.text) <= _LAST_MONTH_DAY:
        return int(token.text), place + 1
    return None


def year_number_at(reader: Reader, place: int) -> tuple[int, int] | None:
    """Reads a four-digit year, or "'24"."""
    token = reader.token(place)
    if token.kind == "short_year":
        return full_year(int(token.text[1:])), place + 1
    four = token.kind == "number" and len(token.text) == len("2024")
    if four and FIRST_YEAR <= int(token.text) <= LAST_YEAR:
        return int(token.text), place + 1
    return None


def year_at(reader: Reader, place: int) -> tuple[int, int] | None:
    """Reads a year by number or relative to the current one: "2023", "last year", "the year before last"."""
    start = reader.skip(place, "the year", "calendar year", "the calendar year")
    found = year_number_at(reader, start)
    if found is not None:
        return found
    this_year = reader.calendar.today.year
    behind = reader.after(place, "the year before last", "year before last")
    if behind is not None:
        return this_year - 2, behind
    start = reader.skip(place, "the")
    if reader.text(start + 1) != "year":
        return None
    word = reader.text(start)
    for words, distance in ((PREVIOUS, -1), (CURRENT, 0), (NEXT, 1)):
        if word in words:
            return this_year + distance, start + 2
    return None


def full_year(two_digits: int) -> int:
    """Returns the year that two or four digits mean."""
    if two_digits >= FIRST_YEAR:
        return two_digits
    return two_digits + (2000 if two_digits < _PIVOT else 1900)


def clock_at(reader: Reader, place: int) -> tuple[ClockTime, int] | None:
    """Reads a time of day with its zone: "14:30", "3pm", "noon UTC", "9:00 Berlin time"."""
    place = reader.skip(place, "exactly", "around", "about")
    found = _bare_clock(reader, place)
    if found is None:
        return None
    clock, behind = found
    if clock.zone is not None:
        return found
    zone, behind = _zone_at(reader, behind)
    return ClockTime(clock.hour, clock.minute, clock.second, zone), behind


def hour_number_at(reader: Reader, place: int, partner: ClockTime) -> tuple[ClockTime, int] | None:
    """Reads a bare hour; the other end of the span supplies am or pm and the zone: "9" of "9 to 11 pm"."""
    token = reader.token(place)
    if token.kind != "number" or int(token.text) >= _HOURS:
        return None
    hour = int(token.text)
    if partner.hour >= _NOON and hour < _NOON and hour + _NOON < partner.hour:
        hour += _NOON
    return ClockTime(hour, zone=partner.zone), place + 1


def _bare_clock(reader: Reader, place: int) -> tuple[ClockTime, int] | None:
    text = reader.text(place)
    if text in {"noon", "midday"}:
        return ClockTime(_NOON), place + 1
    if text == "midnight":
        return ClockTime(0), place + 1
    if reader.kind(place) == "clock":
        clock = _parse_clock(text)
        return None if clock is None else (clock, place + 1)
    if reader.kind(place) == "number" and reader.text(place + 1) == "o":
        behind = reader.after(place + 1, "o ' clock", "o clock")
        clock = _parse_clock(f"{text}:00")
        return (clock, behind) if behind and clock else None
    if reader.kind(place) == "number" and reader.text(place + 1) in {"utc", "gmt"}:
        clock = _parse_clock(f"{text}:00")
        return None if clock is None else (clock, place + 1)
    return None


def _parse_clock(text: str) -> ClockTime | None:
    zone: tzinfo | None = UTC if text.endswith("z") else None
    digits = text.rstrip("z").replace(".", "").replace(" ", "")
    meridiem = digits[-2:] if digits.endswith("m") else ""
    numbers = [int(part) for part in digits.removesuffix(meridiem).split(":")]
    hour, minute, second = (*numbers, 0, 0)[:3]
    if meridiem:
        hour = hour % _NOON + (_NOON if meridiem == "pm" else 0)
    if hour > _HOURS or minute >= _MINUTES or second >= _MINUTES:
        return None
    return ClockTime(hour, minute, second, zone)


def _zone_at(reader: Reader, place: int) -> tuple[tzinfo | None, int]:
    text = reader.text(place)
    if text in ZONES:
        offset = _offset_at(reader, place + 1) if text in {"utc", "gmt"} else None
        return offset or (ZONES[text], reader.skip(place + 1, "time"))
    for city, zone in CITY_ZONES.items():
        behind = reader.after(place, f"{city} time", f"in {city}")
        if behind is not None:
            return ZoneInfo(zone), behind
    return None, place


def _offset_at(reader: Reader, place: int) -> tuple[tzinfo, int] | None:
    """Reads the hours of "UTC+2" after their sign."""
    sign = reader.text(place)
    token = reader.token(place + 1)
    if sign not in {"+", "-", "−"} or token.kind not in {"number", "clock"}:
        return None
    hours, _, minutes = token.text.partition(":")
    offset = timedelta(hours=int(hours), minutes=int(minutes or 0))
    return timezone(offset if sign == "+" else -offset), place + 2


def day_of_unit(day: date) -> Period:
    """Returns a period of one day."""
    return Period("day", days=unit_near("day", day, 0))

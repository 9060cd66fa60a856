"""Dates as people write them in front matter, mail headers and file names; what is not understood becomes a warning.

Rules: the order of year, month and day is taken from the text where it is clear (`2024-3-5`, `05.03.2024`, a number
over 12, a month's name). In `05/03/2024` and `05-03-2024` the day comes first, with a warning. A date without a day is
the first day of its month, one without a month that of its year, both with a warning. Without a zone a time is UTC.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from services.agent_orchestrator.ingest.document_warnings import DocumentWarning, WarningReason
from services.agent_orchestrator.ingest.documents import UnreadableError, read_date
from services.runtime.times import clamp_time

if TYPE_CHECKING:
    from dateparser.date import DateDataParser

_MAX_TEXT = 100
_MAX_NAME = 2000
_CENTURY_PIVOT = 69
_YEARS = range(1900, 2101)
_LAST_MONTH = 12
# fmt: off
_LANGUAGES = (
    "en", "de", "fr", "es", "it", "pt", "nl", "pl", "cs", "sk", "hu", "ro", "sv", "da", "nb", "fi", "et", "lv", "lt",
    "hr", "sl", "sr", "bg", "ru", "uk", "el", "tr", "he", "ar", "fa", "hi", "id", "vi", "th", "ja", "zh", "ko",
)
# fmt: on
_TIME = r"(?:[T ,]{1,3}(?P<clock>\d{1,2}:\d{2}(?::\d{2})?))?\s{0,3}(?P<zone>Z|UTC|GMT)?"
_YEAR_FIRST = re.compile(
    r"(\d{4})\s?[-./年년]\s?(\d{1,2})\s?[-./月월]\s?(\d{1,2})\s?[日일.]?" + _TIME
)
_YEAR_LAST = re.compile(r"(\d{1,2})\s?([-./])\s?(\d{1,2})\s?[-./]\s?(\d{4}|\d{2})" + _TIME)
_MONTH_ONLY = re.compile(r"(\d{4})\s?[-./年]\s?(\d{1,2})月?|(\d{1,2})[./](\d{4})")
_YEAR_ONLY = re.compile(r"(\d{4})年?")
# Relative words have no digits; without a word, the order of the numbers is unknown.
_DIGITS = re.compile(r"\d")
_WORD = re.compile(r"[^\W\d_]{3}")

_NAME_FORMS = (
    re.compile(r"(?<!\d)(?P<y>\d{4})(?P<s>[-_. ])(?P<m>\d{1,2})(?P=s)(?P<d>\d{1,2})(?!\d)"),
    re.compile(r"(?<!\d)(?P<y>\d{4})(?P<m>\d{2})(?P<d>\d{2})(?!\d)"),
    re.compile(r"(?<!\d)(?P<y>\d{4})年(?P<m>\d{1,2})月(?P<d>\d{1,2})日"),
    re.compile(r"(?<![\d.])(?P<d>\d{1,2})(?P<s>[-_. ])(?P<m>\d{1,2})(?P=s)(?P<y>\d{4})(?!\d)"),
    re.compile(r"(?<!\d)(?P<y>\d{4})-(?P<m>\d{2})(?!\d|-\d)"),
)
_PATH_FORM = re.compile(r"(?:^|/)(?P<y>\d{4})/(?P<m>\d{1,2})/(?P<d>\d{1,2})(?![\d])")


@dataclass(frozen=True, slots=True)
class DateReading:
    """The result of reading a date: its time, if it was understood, and what its reader should know."""

    time: datetime | None = None
    warnings: tuple[DocumentWarning, ...] = ()


_NO_DATE = DateReading()


def read_leniently(name: str, value: Any) -> DateReading:
    """Reads the date in the field `name`, as text or as a value of YAML. Never raises for a bad one."""
    if value is None or value == "":
        return _NO_DATE
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    try:
        return DateReading(read_date(name, value))
    except UnreadableError:
        pass
    if not isinstance(value, str) or len(value) > _MAX_TEXT:
        return _not_understood(name, value)
    text = value.strip()
    return _numeric(name, text) or _partial(name, text) or _worded(name, text)


def read_from_name(source: str) -> DateReading:
    """Returns the date that a file's name contains, or its folders as in `2024/03/05/note.md`; without one, no time."""
    path = source[-_MAX_NAME:].replace("\\", "/").rstrip("/")
    name = path.rpartition("/")[2]
    for form in _NAME_FORMS:
        for found in form.finditer(name):
            if (reading := _of_name(found, name)) is not None:
                return reading
    found_path = _PATH_FORM.search(path)
    return (_of_name(found_path, path) if found_path else None) or _NO_DATE


def import_languages() -> None:
    """Imports what dates in words need: later imports fail in a process without access to files."""
    import_module("dateparser.date")
    for language in _LANGUAGES:
        import_module(f"dateparser.data.date_translation_data.{language}")


def _numeric(name: str, text: str) -> DateReading | None:
    if found := _YEAR_FIRST.fullmatch(text):
        return _reading(name, text, _day(found[1], found[2], found[3]), found["clock"])
    if not (found := _YEAR_LAST.fullmatch(text)):
        return None
    first, mark, second, year = found[1], found[2], found[3], _full_year(found[4])
    if int(second) > _LAST_MONTH:
        return _reading(name, text, _day(year, first, second), found["clock"])
    day = _day(year, second, first)
    is_clear = mark == "." or int(first) > _LAST_MONTH or first == second
    warnings = () if is_clear or day is None else (_ambiguous(name, text, day, "day before month"),)
    return _reading(name, text, day, found["clock"], warnings)


def _partial(name: str, text: str) -> DateReading | None:
    if found := _MONTH_ONLY.fullmatch(text):
        day = _day(found[1] or found[4], found[2] or found[3], "1")
    elif found := _YEAR_ONLY.fullmatch(text):
        day = _day(found[1], "1", "1")
    else:
        return None
    warnings = (_ambiguous(name, text, day, "its first day"),) if day else ()
    return _reading(name, text, day, None, warnings)


def _worded(name: str, text: str) -> DateReading:
    """Reads a date with a month's name in one of many languages."""
    if not (_DIGITS.search(text) and _WORD.search(text)):
        return _not_understood(name, text)
    try:
        data = _parser().get_date_data(text)
    except (ValueError, OverflowError, RecursionError, TypeError):
        return _not_understood(name, text)
    found = data.date_obj
    if found is None or str(found.year) not in text:
        return _not_understood(name, text)
    aware = found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    if data.period in {"month", "year"}:
        month = 1 if data.period == "year" else aware.month
        first = aware.replace(month=month, day=1, hour=0, minute=0, second=0, microsecond=0)
        return DateReading(first, (_ambiguous(name, text, first.date(), "its first day"),))
    return DateReading(clamp_time(aware))


@cache
def _parser() -> DateDataParser:
    from dateparser.date import DateDataParser  # noqa: PLC0415 - takes a second: needed only for dates in words

    settings = {
        "PARSERS": ["absolute-time"],
        "DATE_ORDER": "DMY",
        "PREFER_DAY_OF_MONTH": "first",
        "PREFER_MONTH_OF_YEAR": "first",
        "REQUIRE_PARTS": ["month", "year"],
        "TIMEZONE": "UTC",
        "RETURN_AS_TIMEZONE_AWARE": True,
    }
    return DateDataParser(languages=list(_LANGUAGES), settings=settings)


def _of_name(found: re.Match[str], name: str) -> DateReading | None:
    parts = found.groupdict()
    if int(parts["y"]) not in _YEARS:
        return None
    day, month = parts.get("d") or "1", parts["m"]
    clear = True
    if found.start("y") > found.start("m"):
        clear = parts["s"] == "." or int(day) > _LAST_MONTH or day == month
        if int(month) > _LAST_MONTH:
            day, month = month, day
    at = _day(parts["y"], month, day)
    if at is None:
        return None
    warnings: tuple[DocumentWarning, ...] = ()
    if not clear and int(parts["m"]) <= _LAST_MONTH:
        warnings = (_ambiguous("file name", name, at, "day before month"),)
    return DateReading(datetime.combine(at, time(), UTC), warnings)


def _day(year: str, month: str, day: str) -> date | None:
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None


def _full_year(year: str) -> str:
    if len(year) > 2:  # noqa: PLR2004 - digits
        return year
    return str((2000 if int(year) < _CENTURY_PIVOT else 1900) + int(year))


def _reading(
    name: str,
    text: str,
    day: date | None,
    clock: str | None,
    warnings: tuple[DocumentWarning, ...] = (),
) -> DateReading:
    try:
        if day is not None:
            at = (
                time.fromisoformat(clock.zfill(5) if clock.count(":") == 1 else clock.zfill(8))
                if clock
                else time()
            )
            return DateReading(clamp_time(datetime.combine(day, at, UTC)), warnings)
    except ValueError:
        pass
    return _not_understood(name, text)


def _ambiguous(name: str, text: str, day: date, rule: str) -> DocumentWarning:
    notice = f"{name}: “{text[:_MAX_TEXT]}” was read as {day.isoformat()} ({rule})."
    return DocumentWarning(WarningReason.DATE_AMBIGUOUS, notice, name)


def _not_understood(name: str, value: Any) -> DateReading:
    notice = f"{name}: “{str(value)[:_MAX_TEXT]}” is not a date that can be read; write it as 2024-03-05."
    return DateReading(None, (DocumentWarning(WarningReason.DATE_NOT_UNDERSTOOD, notice, name),))

"""Argument types of tools: bounds whose violation is sent back as a retry, and times in the caller's zone."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StringConstraints
from pydantic_ai import ModelRetry

from braid.common.v1 import retrieval_pb2
from services.runtime.times import clamp_time, to_timestamp

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

_YEAR = re.compile(r"\d{4}")
_MONTH = re.compile(r"\d{4}-\d{2}")


def _parse_year_or_month(value: Any) -> Any:
    """Maps a year or a month to its first instant: pydantic would read a year as seconds since 1970."""
    if isinstance(value, int | float):
        value = str(value)
    if not isinstance(value, str):
        return value
    text = value.strip()
    if _YEAR.fullmatch(text):
        return f"{text}-01-01"
    if _MONTH.fullmatch(text):
        return f"{text}-01"
    if text.isdecimal():
        raise ValueError("must be a date or a time in ISO 8601")
    return text


Query = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4096)]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000)]
RelationType = Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)]
EntityType = Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)]
PageToken = Annotated[str, StringConstraints(max_length=16384)]
Limit = Annotated[int, Field(ge=1, le=50)]
Weight = Annotated[float, Field(ge=0, le=1)]
Expansion = Literal["none", "formula", "query_aware", "pagerank"]
Time = Annotated[datetime, BeforeValidator(_parse_year_or_month), Field(examples=["2023-06-30"])]


def instant(value: datetime, zone: ZoneInfo) -> datetime:
    """Returns the time in UTC; a time without a zone is in the caller's zone."""
    aware = value if value.tzinfo is not None else value.replace(tzinfo=zone)
    try:
        return clamp_time(aware.astimezone(UTC))
    except OverflowError:
        raise ModelRetry("A time must lie between the years 1 and 9999.") from None


def time_selector(
    start: datetime, end: datetime | None, zone: ZoneInfo
) -> retrieval_pb2.TimeSelector:
    """Returns a selector of an instant, or, with an end, of a half-open range."""
    first = instant(start, zone)
    if end is None:
        return retrieval_pb2.TimeSelector(instant=to_timestamp(first))
    last = instant(end, zone)
    if last <= first:
        raise ModelRetry("The end of a range must be after its start.")
    return retrieval_pb2.TimeSelector(
        range=retrieval_pb2.TimeRange(start_time=to_timestamp(first), end_time=to_timestamp(last))
    )

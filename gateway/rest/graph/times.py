"""Times in a query string: an instant, a day, or a half-open range `start/end`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypeAlias

from pydantic import AfterValidator, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from braid.common.v1.retrieval_pb2 import TimeRange, TimeSelector
from gateway.rest.values import Instant, stamp

if TYPE_CHECKING:
    from datetime import datetime

    from google.protobuf.timestamp_pb2 import Timestamp

OPEN = ("", "..")
RANGE = "An instant, a day (its first instant, UTC), or a half-open range `start/end` in which `..` leaves a side open."
_INVALID = (
    "must be a date or a time of RFC 3339, such as 2024-04-18 or 2024-04-18T09:30:00+02:00, "
    "or a range of two such as 2024-01-01/2025-01-01"
)
_INSTANT: TypeAdapter[datetime] = TypeAdapter(Instant)


def time_selector(text: str | None) -> TimeSelector | None:
    """The time as the contract has it; None stays unset. ValueError for what is neither an instant nor a range."""
    if text is None:
        return None
    start, slash, end = text.partition("/")
    if not slash:
        return TimeSelector(instant=stamp(_INSTANT.validate_python(start)))
    return TimeSelector(range=TimeRange(start_time=_side(start), end_time=_side(end)))


def _side(text: str) -> Timestamp | None:
    return None if text in OPEN else stamp(_INSTANT.validate_python(text))


def _checked(text: str) -> str:
    try:
        time_selector(text)
    except ValidationError:
        raise PydanticCustomError("no_time", _INVALID) from None
    return text


# Checked where parameters are read, so that every wrong one is named at once.
InstantOrRange: TypeAlias = Annotated[str, AfterValidator(_checked)]

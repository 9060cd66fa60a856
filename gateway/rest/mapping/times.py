"""Time parameters: an instant, a day, or a half-open range; in a query string as `start/end`."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, ClassVar, TypeAlias

from google.protobuf.message import Message
from pydantic import (
    AfterValidator,
    TypeAdapter,
    ValidationError,
)
from pydantic_core import PydanticCustomError

from braid.common.v1.retrieval_pb2 import TimeRange, TimeSelector
from gateway.rest.mapping.contract_rules import ContractModel
from gateway.rest.mapping.field_types import (
    Instant,
    stamp,
)

if TYPE_CHECKING:
    from google.protobuf.timestamp_pb2 import Timestamp


class Between(ContractModel):
    """A half-open span of time: start ≤ t < end; open where a side is missing."""

    contract: ClassVar[type[Message]] = TimeRange

    start: Instant | None = None
    end: Instant | None = None

    def message(self) -> TimeRange:
        """Converts the range to the contract's message."""
        return TimeRange(start_time=stamp(self.start), end_time=stamp(self.end))


def selector(at: datetime | Between | None) -> TimeSelector | None:
    """Converts a time to the contract's selector."""
    if at is None:
        return None
    if isinstance(at, Between):
        return TimeSelector(range=at.message())
    return TimeSelector(instant=stamp(at))


OPEN = ("", "..")
RANGE = "An instant, a day (its first instant, UTC), or a half-open range `start/end` in which `..` leaves a side open."
_INVALID = (
    "must be a date or a time of RFC 3339, such as 2024-04-18 or 2024-04-18T09:30:00+02:00, "
    "or a range of two such as 2024-01-01/2025-01-01"
)
_INSTANT: TypeAdapter[datetime] = TypeAdapter(Instant)


def time_selector(text: str | None) -> TimeSelector | None:
    """Parses a time to the contract's selector; None stays unset. Raises ValueError for any other text."""
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


# Validated with the other parameters, so that all invalid ones are reported together.
InstantOrRange: TypeAlias = Annotated[str, AfterValidator(_checked)]

"""Conversion of times at the boundary: protobuf timestamps and aware UTC datetimes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from google.protobuf.timestamp_pb2 import Timestamp

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY_SECONDS = 86_400
# PostgreSQL's driver treats the very first and the very last instant as infinity, and returns them without a zone.
_MICROSECOND = timedelta(microseconds=1)
_FIRST = datetime.min.replace(tzinfo=UTC) + _MICROSECOND
_LAST = datetime.max.replace(tzinfo=UTC) - _MICROSECOND


def to_datetime(value: Timestamp) -> datetime:
    """Returns the instant as an aware UTC datetime, to the microsecond; the first and last instants are clamped."""
    return clamp_time(value.ToDatetime(tzinfo=UTC))


def clamp_time(value: datetime) -> datetime:
    """Returns the instant, clamped to the range that every store can hold."""
    return min(max(value, _FIRST), _LAST)


def to_timestamp(value: datetime) -> Timestamp:
    """Returns the instant as a protobuf timestamp. Raises ValueError for a naive datetime."""
    if value.tzinfo is None:
        raise ValueError("a datetime without a zone has no place here")
    since = (
        value - _EPOCH
    )  # the library's own way is four times as slow, and answers hold many of them
    return Timestamp(
        seconds=since.days * _DAY_SECONDS + since.seconds, nanos=since.microseconds * 1000
    )


def utc_now() -> datetime:
    """Returns the current time, aware, in UTC."""
    return datetime.now(UTC)

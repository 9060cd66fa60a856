"""Times at the boundary: protobuf timestamps and aware UTC datetimes, nothing else."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from google.protobuf.timestamp_pb2 import Timestamp

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY_SECONDS = 86_400
# PostgreSQL's driver takes the very first and the very last instant for infinity, and gives them back without a zone.
_MICROSECOND = timedelta(microseconds=1)
_FIRST = datetime.min.replace(tzinfo=UTC) + _MICROSECOND
_LAST = datetime.max.replace(tzinfo=UTC) - _MICROSECOND


def to_datetime(value: Timestamp) -> datetime:
    """The instant as an aware UTC datetime, to the microsecond; the ends of time as the instants next to them."""
    return clamp_time(value.ToDatetime(tzinfo=UTC))


def clamp_time(value: datetime) -> datetime:
    """The instant, clamped to the range that every store can hold."""
    return min(max(value, _FIRST), _LAST)


def to_timestamp(value: datetime) -> Timestamp:
    """The instant as a protobuf timestamp. ValueError for a naive datetime."""
    if value.tzinfo is None:
        raise ValueError("a datetime without a zone has no place here")
    since = (
        value - _EPOCH
    )  # the library's own way is four times as slow, and answers hold many of them
    return Timestamp(
        seconds=since.days * _DAY_SECONDS + since.seconds, nanos=since.microseconds * 1000
    )


def utc_now() -> datetime:
    """Now, aware, UTC."""
    return datetime.now(UTC)

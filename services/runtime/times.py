"""Times at the boundary: protobuf timestamps and aware UTC datetimes, nothing else."""

from __future__ import annotations

from datetime import UTC, datetime

from google.protobuf.timestamp_pb2 import Timestamp


def to_datetime(value: Timestamp) -> datetime:
    """The instant as an aware UTC datetime, to the microsecond."""
    return value.ToDatetime(tzinfo=UTC)


def to_timestamp(value: datetime) -> Timestamp:
    """The instant as a protobuf timestamp. ValueError for a naive datetime."""
    if value.tzinfo is None:
        raise ValueError("a datetime without a zone has no place here")
    stamp = Timestamp()
    stamp.FromDatetime(value.astimezone(UTC))
    return stamp


def utc_now() -> datetime:
    """Now, aware, UTC."""
    return datetime.now(UTC)

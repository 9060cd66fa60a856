"""Builders of the contracts' messages from plain Python values, shared by several calls."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from google.protobuf.struct_pb2 import Struct
from google.protobuf.timestamp_pb2 import Timestamp

from braid.common.v1.expansion_pb2 import ExpansionMode, ExpansionOptions
from braid.common.v1.retrieval_pb2 import TimeRange, TimeSelector
from braid.graph.v1.entities_pb2 import EntitySelector

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

# An entity by its name or by a selector.
EntityLike: TypeAlias = str | EntitySelector
# How to expand: a mode, or options with one.
ExpansionLike: TypeAlias = "ExpansionOptions | ExpansionMode.ValueType"
# An instant, or a half-open range.
TimeLike: TypeAlias = datetime | TimeRange
_HEADER_TEXT = re.compile(r"[ -~]*")


def expansion_options(expansion: ExpansionLike | None) -> ExpansionOptions | None:
    """Returns the options, or options with the given mode. Raises TypeError for other types."""
    if expansion is None or isinstance(expansion, ExpansionOptions):
        return expansion
    if isinstance(expansion, bool) or not isinstance(expansion, int):
        raise TypeError(
            f"expansion must be ExpansionOptions or an ExpansionMode, not {type(expansion).__name__}"
        )
    return ExpansionOptions(mode=expansion)


def enum_value(enum: Any) -> Callable[[int | str | None], Any]:
    """Returns the function that converts a value of an enum, or its name without the prefix in any case.

    None is the contract's default. The function raises TypeError for other types, and ValueError for an unknown name.
    """
    prefix = enum.keys()[0].removesuffix("UNSPECIFIED")

    def convert(value: int | str | None) -> Any:
        if isinstance(value, str):
            return enum.Value(prefix + value.upper())
        # As a number, False would be the default.
        if isinstance(value, bool) or not isinstance(value, int | None):
            raise TypeError(f"must be a value of {prefix}…, not {type(value).__name__}")
        return value or 0

    return convert


def struct(value: Mapping[str, Any] | None) -> Struct | None:
    """Converts a mapping of JSON values. Raises ValueError for values that are none."""
    if value is None:
        return None
    message = Struct()
    message.update(dict(value))
    return message


def timestamp(value: datetime | None) -> Timestamp | None:
    """Converts an aware datetime to a timestamp.

    Raises TypeError for other types, and ValueError for a naive datetime or one before year 1 or after 9999 in UTC.
    """
    if value is None:
        return None
    if not isinstance(value, datetime):
        raise TypeError(f"times must be datetime, not {type(value).__name__}")
    if value.utcoffset() is None:
        raise ValueError("times need a zone: datetime(..., tzinfo=UTC)")
    stamp = Timestamp()
    try:
        stamp.FromDatetime(value.astimezone(UTC))
    except OverflowError:
        raise ValueError("times must be within the years 1 to 9999 in UTC") from None
    return stamp


def entity_selector(entity: EntityLike | None) -> EntitySelector | None:
    """Returns the selector, or a selector for the given name. Raises TypeError for other types."""
    if entity is None or isinstance(entity, EntitySelector):
        return entity
    if not isinstance(entity, str):
        raise TypeError(f"entities must be str or EntitySelector, not {type(entity).__name__}")
    return EntitySelector(name=entity)


def time_selector(value: TimeLike | None) -> TimeSelector | None:
    """Converts an aware datetime or a range to a time selector. Raises as `timestamp` does."""
    if isinstance(value, TimeRange):
        return TimeSelector(range=value)
    return None if value is None else TimeSelector(instant=timestamp(value))


def call_metadata(
    api_key: str | None, space: str | None, user: str | None
) -> Sequence[tuple[str, str]]:
    """Returns the metadata of a call: the credential and, for a delegate, the space and user on whose behalf it calls.

    Raises TypeError for other types than str, and ValueError for characters that headers do not allow (only printable
    ASCII).
    """
    for argument, text in (("api_key", api_key), ("space", space), ("user", user)):
        _check_header(argument, text)
    named = (
        ("authorization", f"Bearer {api_key}" if api_key else None),
        ("braid-space", space),
        ("braid-user", user),
    )
    return tuple((name, value) for name, value in named if value is not None)


def _check_header(argument: str, text: str | None) -> None:
    # The message omits the text itself, which may be a key.
    if text is None:
        return
    if not isinstance(text, str):
        raise TypeError(f"{argument} must be str, not {type(text).__name__}")
    if not _HEADER_TEXT.fullmatch(text):
        raise ValueError(f"{argument} must be printable ASCII")

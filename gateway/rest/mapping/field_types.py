"""Types of request fields: values that messages can encode. The contracts define all further rules."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from google.protobuf.struct_pb2 import Struct
from google.protobuf.timestamp_pb2 import Timestamp
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from gateway.rest.mapping.validation_errors import INSIDE, MAX_PROBLEMS, NO_INSTANT
from services.runtime.metadata_limits import MAX_METADATA_DEPTH
from services.runtime.times import to_timestamp

if TYPE_CHECKING:
    from collections.abc import Iterable


# Maximum number of keys and values of a document's metadata. The contract does not count objects and lists, so they are
# counted separately here: more of either would block other requests for too long.
MAX_VALUES = 10_000
_LAST_INT32 = 2**31 - 1
# Larger integers would change in the message, where every number is a double.
LAST_EXACT_INT = 2**53
_FULL_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def at_most(maximum: int) -> BeforeValidator:
    """Refuses a longer list before its items are validated: each invalid item would be a separate error."""

    def check(value: Any) -> Any:
        if isinstance(value, list) and len(value) > maximum:
            message = "must contain no more than {maximum} items"
            raise PydanticCustomError("too_many_items", message, {"maximum": maximum})
        return value

    return BeforeValidator(check)


def _instant(value: Any, read: ValidatorFunctionWrapHandler) -> datetime:
    # By default pydantic reads a number or a text of digits, such as "2024", as seconds since 1970.
    if not isinstance(value, str) or not _FULL_DATE.match(value):
        raise PydanticCustomError("no_instant", NO_INSTANT)
    return _in_utc(read(value))


def _in_utc(value: datetime) -> datetime:
    try:
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except OverflowError:
        raise ValueError("must lie between the years 1 and 9999") from None


def _utf8(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError("must be text that UTF-8 can hold") from None
    return value


def _transportable(value: dict[str, Any]) -> dict[str, Any]:
    _check_size(value)
    _check_numbers(value)
    try:
        to_struct(value)
    except (ValueError, TypeError, OverflowError):
        raise ValueError("must be JSON in UTF-8") from None
    return value


def _check_size(value: dict[str, Any]) -> None:
    level: list[Any] = [value]
    values = containers = 0
    for _ in range(MAX_METADATA_DEPTH + 1):
        keys = sum(len(one) for one in level if isinstance(one, dict))
        level = [inner for one in level for inner in _inside(one)]
        inner_containers = sum(isinstance(one, dict | list) for one in level)
        values += keys + len(level) - inner_containers
        containers += inner_containers
        if max(values, containers) > MAX_VALUES:
            raise ValueError(f"may hold at most {MAX_VALUES} keys and values")
        if not level:
            return
    raise ValueError(f"may nest at most {MAX_METADATA_DEPTH} deep")


def _check_numbers(value: Any, *steps: str | int) -> None:
    if isinstance(value, int) and abs(value) > LAST_EXACT_INT:
        message = "must be a number of at most 2^53, or a text"
        raise PydanticCustomError("inexact_number", message, {INSIDE: steps})
    if isinstance(value, float) and not math.isfinite(value):
        raise PydanticCustomError("infinite_number", "must be a finite number", {INSIDE: steps})
    for step, inner in _named(value):
        _check_numbers(inner, *steps, step)


def _named(value: Any) -> Iterable[tuple[str | int, Any]]:
    if isinstance(value, dict):
        return value.items()
    return enumerate(value) if isinstance(value, list) else ()


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


# As text, in a query string.
Int32: TypeAlias = Annotated[int, Field(ge=-_LAST_INT32 - 1, le=_LAST_INT32)]
# As JSON, where "5" and true are no numbers.
JsonInt32: TypeAlias = Annotated[int, Field(ge=-_LAST_INT32 - 1, le=_LAST_INT32, strict=True)]


def _within_int32(value: int) -> int:
    return min(value, _LAST_INT32)


# Number of items of a page: 0 is the default, and values above the maximum count as the maximum.
PageSize: TypeAlias = Annotated[int, Field(ge=0), AfterValidator(_within_int32)]
JsonPageSize: TypeAlias = Annotated[int, Field(ge=0, strict=True), AfterValidator(_within_int32)]
JsonNumber: TypeAlias = Annotated[float, Field(strict=True)]
JsonBool: TypeAlias = Annotated[bool, Field(strict=True)]
# JSON can contain escaped lone surrogates, which messages cannot encode.
Text: TypeAlias = Annotated[str, AfterValidator(_utf8)]
Instant: TypeAlias = Annotated[
    datetime,
    WrapValidator(_instant),
    Field(description="RFC 3339; a time without a zone, or a date alone, is UTC."),
]
JsonObject: TypeAlias = Annotated[dict[str, Any], AfterValidator(_transportable)]


class Body(BaseModel):
    """A request's body: unknown fields are refused, so that a misspelled one is not silently ignored."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _check_count(cls, value: Any) -> Any:
        """Limits the number of fields, because each unknown field would be a separate error."""
        if isinstance(value, dict) and len(value) > len(cls.model_fields) + MAX_PROBLEMS:
            raise PydanticCustomError("too_many_fields", "holds too many unknown fields")
        return value


def to_struct(value: dict[str, Any] | None) -> Struct | None:
    """Converts a JSON object to a message; None stays unset."""
    if value is None:
        return None
    message = Struct()
    message.update(value)
    return message


def stamp(value: datetime | None) -> Timestamp | None:
    """Converts an instant to a message; None stays unset."""
    return None if value is None else to_timestamp(value)

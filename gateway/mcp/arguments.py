"""Fields that several tools share. Their values are validated by the contracts."""

from __future__ import annotations

from typing import Annotated, TypeAlias, TypeVar

from google.protobuf.timestamp_pb2 import Timestamp
from pydantic import AfterValidator, BaseModel, Field, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from gateway.rest.mapping.field_types import Body, Instant, Text
from gateway.rest.mapping.times import InstantOrRange, time_selector
from gateway.rest.mapping.validation_errors import NO_INSTANT
from services.runtime.errors import FieldError, InvalidFieldError

_INSTANT: TypeAdapter[object] = TypeAdapter(Instant)


def _checked(value: str) -> str:
    try:
        _INSTANT.validate_python(value)
    except ValidationError:
        raise PydanticCustomError("no_instant", NO_INSTANT) from None
    return value


# Text in the schema, because clients that validate `date-time` would refuse a day.
InstantText: TypeAlias = Annotated[
    str, AfterValidator(_checked), Field(description="A day or an RFC 3339 time. Default: now.")
]
AsOf: TypeAlias = Annotated[
    InstantOrRange,
    Field(
        description="The time that the answer is about: a day, an RFC 3339 time, or a half-open range such as "
        "2024-01-01/2025-01-01 (`..` leaves a side open, `../..` is all time). Default: now."
    ),
]
KnownAt: TypeAlias = Annotated[
    InstantText, Field(description="As it was known at this day or time. Default: as known now.")
]
Cursor: TypeAlias = Annotated[
    str,
    Field(
        max_length=20_000, description="`next_cursor` of the answer before, same other arguments."
    ),
]
SearchLimit: TypeAlias = Annotated[int, Field(ge=1, le=50)]
PageLimit: TypeAlias = Annotated[int, Field(ge=1, le=200)]
Relation: TypeAlias = Annotated[Text, Field(description="Only facts of this relation, any case.")]
EntityName: TypeAlias = Annotated[Text, Field(description="The entity's name, any case.")]
EntityType: TypeAlias = Annotated[
    Text, Field(description="The entity's type, where several share the name.")
]
EntityUuid: TypeAlias = Annotated[Text, Field(description="The entity's uuid instead of its name.")]

Narrow = TypeVar("Narrow", bound=BaseModel)


class Arguments(Body):
    """A tool's arguments: unknown ones are refused by name."""


def narrowed(given: BaseModel, model: type[Narrow], view: str) -> Narrow:
    """The arguments of the tool behind a view. InvalidFieldError for one that the view has no use for."""
    values = {
        name: value
        for name, value in given.model_dump(exclude_unset=True).items()
        if name != "view" and value is not None
    }
    foreign = [name for name in values if name not in model.model_fields]
    if foreign:
        raise InvalidFieldError(
            *(FieldError(name, f"does not go with view {view}") for name in foreign)
        )
    return model.model_validate(values)


def instant(text: str | None) -> Timestamp | None:
    """A day or time as the contract has it; None stays unset."""
    selected = time_selector(text)
    return selected.instant if selected else None

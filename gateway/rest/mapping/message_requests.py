"""Requests as messages: the types of parameters and of bodies, their conversion, and the names of fields in errors.

Values are checked as far as messages can hold them; the services check all other rules of the contract.
"""

from __future__ import annotations

import json
import re
from functools import cache, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from buf.validate import validate_pb2
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message_factory import GetMessageClass
from pydantic import (
    AliasChoices,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
    create_model,
    model_validator,
)
from pydantic_core import PydanticCustomError

from braid.common.v1 import json_pb2, retrieval_pb2
from braid_protocol.contract_rules import is_required
from gateway.rest.mapping.comments import comment_on, described
from gateway.rest.mapping.contract_rules import ContractModel
from gateway.rest.mapping.field_types import (
    Instant,
    Int32,
    JsonBool,
    JsonInt32,
    JsonNumber,
    JsonObject,
    JsonPageSize,
    PageSize,
    Text,
    at_most,
    stamp,
    to_struct,
)
from gateway.rest.mapping.message_json import (
    OBJECT,
    TIME,
    enum_names,
    json_name,
    message_of,
    options_of,
    shape_options_of,
)
from gateway.rest.mapping.times import Between, InstantOrRange, selector, time_selector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from google.protobuf.descriptor import Descriptor, EnumDescriptor
    from google.protobuf.message import Message

    from gateway.rest.mapping.field_names import Named

SELECTOR = retrieval_pb2.TimeSelector.DESCRIPTOR.full_name
RANGE = retrieval_pb2.TimeRange.DESCRIPTOR.full_name
_KEY = "idempotency_key"
_STEP = re.compile(r"([^.\[]+)(\[[^\]]{0,200}\])?")
# In a query string, and in JSON.
_SCALARS: dict[int, tuple[Any, Any]] = {
    FieldDescriptor.CPPTYPE_STRING: (str, Text),
    FieldDescriptor.CPPTYPE_BOOL: (bool, JsonBool),
    FieldDescriptor.CPPTYPE_DOUBLE: (float, JsonNumber),
    FieldDescriptor.CPPTYPE_INT32: (Int32, JsonInt32),
    FieldDescriptor.CPPTYPE_INT64: (
        Annotated[int, Field(ge=-(2**63), lt=2**63)],
        Annotated[int, Field(ge=-(2**63), lt=2**63, strict=True)],
    ),
}
# Parts of a time, which have other names in JSON.
_TIME_STEPS = {"instant": "", "range": "", "start_time": "start", "end_time": "end"}


class MessageBody(ContractModel):
    """A body, or an object in it, whose fields are those of a message."""

    def message(self) -> Any:
        """Returns the message."""
        return self._part(self.contract.DESCRIPTOR)

    def _part(self, shape: Any) -> Message:
        plain, flattened = _fields_of(shape)
        message = GetMessageClass(shape)()
        for name, field in plain:
            assign(message, field, getattr(self, name, None))
        for field in flattened:
            getattr(message, field.name).CopyFrom(self._part(message_of(field)))
        return message

    @model_validator(mode="after")
    def _check_oneofs(self) -> Self:
        for names in _alternatives(self.contract.DESCRIPTOR):
            if sum(getattr(self, name) is not None for name in names) != 1:
                text = f"must hold exactly one of {', '.join(names[:-1])} and {names[-1]}"
                raise PydanticCustomError("one_of", text)
        return self


def given_fields(shape: Descriptor) -> list[FieldDescriptor]:
    """Returns the fields of a request that a caller gives; the key of a call is in a header."""
    return [one for one in shape.fields if not options_of(one).hidden and one.name != _KEY]


@cache
def _fields_of(shape: Any) -> tuple[list[tuple[str, FieldDescriptor]], list[FieldDescriptor]]:
    """Returns the fields of a body with their names, and those whose message is flattened."""
    fields = given_fields(shape)
    plain = [(json_name(one), one) for one in fields if not options_of(one).flatten]
    return plain, [one for one in fields if options_of(one).flatten]


@cache
def _alternatives(shape: Any) -> list[list[str]]:
    """Returns the names of the fields of each oneof of which exactly one is required."""
    return [
        [json_name(field) for field in oneof.fields]
        for oneof in shape.oneofs
        if oneof.GetOptions().Extensions[validate_pb2.oneof].required
    ]


@cache
def body_model(
    shape: Descriptor, without: frozenset[str] = frozenset(), base: type[MessageBody] = MessageBody
) -> type[MessageBody]:
    """Returns the model of a body that holds the fields of a message, but for those that stand elsewhere.

    `base` adds fields that only REST has.
    """
    fields: dict[str, Any] = {}
    names: dict[str, str] = {}
    for path, field in _body_fields(shape, without):
        fields[json_name(field)] = _body_field(field)
        names[json_name(field)] = path
    model = create_model(shape.name, __base__=base, __doc__=comment_on(shape.full_name), **fields)
    model.contract = GetMessageClass(shape)
    model.names = MappingProxyType(names)
    example = shape_options_of(shape).example
    if example:
        model.model_config = ConfigDict(
            extra="forbid", json_schema_extra={"examples": [json.loads(example)]}
        )
        model.model_rebuild(force=True)
    return model


def _body_fields(
    shape: Descriptor, without: frozenset[str], path: str = ""
) -> Iterator[tuple[str, FieldDescriptor]]:
    for field in given_fields(shape):
        if field.name in without:
            continue
        if options_of(field).flatten:
            yield from _body_fields(message_of(field), frozenset(), f"{path}{field.name}.")
        else:
            yield path + field.name, field


def _body_field(field: FieldDescriptor) -> tuple[Any, Any]:
    about: dict[str, Any] = {"description": described(field)} | example_of(field)
    alias = options_of(field).alias
    if alias:
        about["validation_alias"] = AliasChoices(json_name(field), alias)
    kind = field_type(field, in_json=True)
    if is_required(field):
        return kind, Field(**about)
    if field.is_repeated:
        return kind, Field(default=[], **about)
    if field.cpp_type == FieldDescriptor.CPPTYPE_STRING and not field.has_presence:
        return kind, Field(default="", **about)
    if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL and not field.has_presence:
        return kind, Field(default=False, **about)
    return kind | None, Field(default=None, **about)


def example_of(field: FieldDescriptor) -> dict[str, Any]:
    """Returns the examples of a field's documentation."""
    example = options_of(field).example
    return {"examples": [json.loads(example)]} if example else {}


def field_type(field: FieldDescriptor, *, in_json: bool) -> Any:
    """Returns the type of a field's value in JSON, or in a query string."""
    kind = _single_type(field, in_json=in_json)
    if not field.is_repeated:
        return kind
    maximum = field.GetOptions().Extensions[validate_pb2.field].repeated.max_items
    several: Any = list.__class_getitem__(kind)
    return Annotated[several, at_most(maximum)] if maximum else several


def _single_type(field: FieldDescriptor, *, in_json: bool) -> Any:
    if _is_size(field):
        return JsonPageSize if in_json else PageSize
    if field.enum_type is not None:
        return _enum_type(field.enum_type)
    shape = field.message_type
    if shape is None:
        return _SCALARS[field.cpp_type][in_json]
    known = {
        TIME: Instant,
        SELECTOR: Instant | Between if in_json else InstantOrRange,
        RANGE: Between,
        OBJECT: JsonObject,
    }
    return known.get(shape.full_name) or body_model(shape)


def _is_size(field: FieldDescriptor) -> bool:
    """Whether a number is that of entries: 0 is the default, and more than the maximum counts as the maximum."""
    rules = field.GetOptions().Extensions[validate_pb2.field].int32
    return (
        rules.HasField("gte")
        and rules.gte == 0
        and not (field.has_presence or rules.HasField("lte"))
    )


def _enum_type(enum: EnumDescriptor) -> Any:
    names = [name for number, name in enum_names(enum).items() if number]
    upper = enum.GetOptions().Extensions[json_pb2.json_upper_case]
    in_case = BeforeValidator(partial(_in_case, upper=upper))
    # Without it, a single value would be documented as `const`, which generators of clients know less well.
    shown = WithJsonSchema({"type": "string", "enum": names})
    return Annotated[Literal[tuple(names)], in_case, shown]


def _in_case(value: Any, *, upper: bool) -> Any:
    if not isinstance(value, str):
        return value
    return value.upper() if upper else value.lower()


def assign(message: Message, field: FieldDescriptor, value: Any) -> None:
    """Sets a field of a message; None leaves it unset."""
    if value is None:
        return
    convert = _converter(field)
    if field.is_repeated:
        getattr(message, field.name).extend(convert(one) for one in value)
    elif field.message_type is not None:
        assign_message(message, field, convert(value))
    else:
        setattr(message, field.name, convert(value))


def assign_message(message: Message, field: FieldDescriptor, value: Message | None) -> None:
    """Sets a field that holds a message; None leaves it unset."""
    if value is not None:
        getattr(message, field.name).CopyFrom(value)


@cache
def _converter(field: FieldDescriptor) -> Callable[[Any], Any]:
    if field.enum_type is not None:
        return {name: number for number, name in enum_names(field.enum_type).items()}.__getitem__
    if field.message_type is None:
        return lambda value: value
    known: dict[str, Callable[[Any], Any]] = {
        TIME: stamp,
        SELECTOR: lambda value: time_selector(value) if isinstance(value, str) else selector(value),
        OBJECT: to_struct,
    }
    return known.get(field.message_type.full_name, lambda value: value.message())


def names_of(shape: Descriptor, suffixes: dict[str, dict[str, str]] | None = None) -> Named:
    """Returns the function that converts a path in a request to the one that the caller knows.

    `suffixes` has, by its name, what each field of a message that stands in several parameters adds to the name.
    """
    return partial(_caller_path, shape, suffixes or {})


def _caller_path(shape: Descriptor, suffixes: dict[str, dict[str, str]], path: str) -> str:
    steps: list[str] = []
    inside: Descriptor | None = shape
    for step, index in _STEP.findall(path):
        field = inside.fields_by_name.get(step) if inside is not None else None
        suffix = suffixes.get(inside.full_name, {}).get(step) if inside is not None else None
        if suffix is not None and steps:
            steps[-1] += suffix
        else:
            steps.append(_step_name(field, step, inside) + index)
        inside = field.message_type if field is not None else None
    return ".".join(filter(None, steps)) or "body"


def _step_name(field: FieldDescriptor | None, step: str, inside: Descriptor | None) -> str:
    if field is None:
        return "body" if step == "request" else step
    if inside is not None and inside.full_name in {SELECTOR, RANGE}:
        return _TIME_STEPS.get(step, step)
    return "" if options_of(field).flatten else json_name(field)

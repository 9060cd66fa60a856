"""Messages as JSON: the contract's options say how each field is written (`braid/common/v1/json.proto`)."""

from __future__ import annotations

from functools import cache, partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from braid.common.v1 import json_pb2
from gateway.rest.mapping.json_encoding import Json, JsonResponse, struct

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
    from google.protobuf.duration_pb2 import Duration
    from google.protobuf.message import Message
    from google.protobuf.timestamp_pb2 import Timestamp

    Read = Callable[[Any], Any]

TIME = "google.protobuf.Timestamp"
DURATION = "google.protobuf.Duration"
OBJECT = "google.protobuf.Struct"
_TIME_FIELD = "_time"
_PARTICIPLES = {"create": "created", "update": "updated", "delete": "deleted"}
_NEXT_PAGE = "next_page_token"
_NAMES = {
    _NEXT_PAGE: "next_cursor",
    "space_revision": "revision",
    "elapsed": "took_ms",
    "page_size": "limit",
    "page_token": "cursor",
    "idempotency_key": "Idempotency-Key",
}


def to_json(message: Message) -> Json:
    """Returns a message as plain values for JSON."""
    return _encoder(message.DESCRIPTOR, ())(message)


def respond(
    message: Message, status: int = 200, headers: Mapping[str, str] | None = None
) -> JsonResponse:
    """Returns a response whose body is a message."""
    return JsonResponse(to_json(message), status, headers)


def options_of(field: FieldDescriptor) -> json_pb2.JsonField:
    """Returns how a field is written."""
    return field.GetOptions().Extensions[json_pb2.json]


def shape_options_of(shape: Descriptor) -> json_pb2.JsonMessage:
    """Returns how a message is written."""
    return shape.GetOptions().Extensions[json_pb2.json_message]


def json_name(field: FieldDescriptor) -> str:
    """Returns the name of a field in JSON."""
    given = options_of(field).name or _NAMES.get(field.name)
    if given or not field.name.endswith(_TIME_FIELD):
        return given or field.name
    stem = field.name.removesuffix(_TIME_FIELD)
    return f"{_PARTICIPLES.get(stem, stem)}_at"


def is_nullable(field: FieldDescriptor) -> bool:
    """Whether a field, or an item of a list, may be null."""
    if options_of(field).always:
        return False
    return is_null_if_unset(field) or (field.has_presence and not field.is_repeated)


def is_null_if_unset(field: FieldDescriptor) -> bool:
    """Whether an empty text, 0 or an unspecified enum value is null."""
    return options_of(field).null_if_unset or field.name == _NEXT_PAGE


def shown_fields(shape: Descriptor, without: tuple[str, ...]) -> list[FieldDescriptor]:
    """Returns the fields of a message that are written, in the contract's order."""
    return [
        field
        for field in shape.fields
        if field.name not in without and not options_of(field).hidden
    ]


def message_of(field: FieldDescriptor) -> Descriptor:
    """Returns the message of a field. Raises TypeError if its values are no messages."""
    if field.message_type is None:
        raise TypeError(f"{field.full_name} holds no messages")
    return field.message_type


def is_map(field: FieldDescriptor) -> bool:
    """Whether a field is a map."""
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def is_time(field: FieldDescriptor) -> bool:
    """Whether a field is an instant."""
    return field.message_type is not None and field.message_type.full_name == TIME


def enum_names(enum: EnumDescriptor) -> dict[int, str]:
    """Returns the values' names in JSON: without the prefix that they share, which ends before UNSPECIFIED."""
    prefix = enum.values_by_number[0].name.removesuffix("UNSPECIFIED")
    upper = enum.GetOptions().Extensions[json_pb2.json_upper_case]
    names = {value.number: value.name.removeprefix(prefix) for value in enum.values}
    return names if upper else {number: name.lower() for number, name in names.items()}


def kinds_of(shape: Descriptor) -> dict[str, str]:
    """Returns the names in JSON that say which field of a oneof is set, by the oneof's name."""
    named = (
        (oneof.name, oneof.GetOptions().Extensions[json_pb2.json_kind]) for oneof in shape.oneofs
    )
    return {name: kind for name, kind in named if kind}


@cache
def _encoder(shape: Descriptor, without: tuple[str, ...]) -> Callable[[Any], Json]:
    """Returns the function that writes messages of a shape, without some of its fields."""
    fields = shown_fields(shape, without)
    constants = dict.fromkeys(shape_options_of(shape).always_null)
    parts = [_part(field) for field in fields if options_of(field).flatten]
    members = [(json_name(one), _reader(one)) for one in fields if not options_of(one).flatten]
    members += [(json, partial(_kind, oneof)) for oneof, json in kinds_of(shape).items()]

    def encode(message: Any) -> Json:
        written: Json = constants.copy()
        for part in parts:
            written.update(part(message))
        for name, read in members:
            written[name] = read(message)
        return written

    return encode


def _part(field: FieldDescriptor) -> Read:
    get = attrgetter(field.name)
    encode = _encoder(message_of(field), tuple(options_of(field).without))
    return lambda message: encode(get(message))


def _kind(oneof: str, message: Any) -> str | None:
    kind: str | None = message.WhichOneof(oneof)
    return kind


def _reader(field: FieldDescriptor) -> Read:
    """Returns the function that reads a field of a message as a plain value."""
    get = attrgetter(field.name)
    if is_map(field):
        value = _value(message_of(field).fields_by_name["value"])
        return lambda message: {name: value(one) for name, one in get(message).items()}
    value = _value(field)
    options = options_of(field)
    if field.is_repeated and options.keyed_by:
        key = _reader(message_of(field).fields_by_name[options.keyed_by])
        return lambda message: {key(one): value(one) for one in get(message)}
    if field.is_repeated:
        return lambda message: [value(one) for one in get(message)]
    if options.as_list:
        return lambda message: [value(get(message))]
    if field.has_presence and (is_nullable(field) or is_time(field)):
        name = field.name
        return lambda message: value(get(message)) if message.HasField(name) else None
    return lambda message: value(get(message))


def _value(field: FieldDescriptor) -> Read:
    """Returns the function that converts a value of a field, or an item of a list."""
    null = is_null_if_unset(field)
    if field.enum_type is not None:
        return _enum_value(field, null=null)
    shape = field.message_type
    if shape is None:
        return (lambda value: value or None) if null else (lambda value: value)
    known: dict[str, Read] = {TIME: _time, DURATION: milliseconds, OBJECT: struct}
    options = options_of(field)
    without = (*options.without, options.keyed_by)
    return known.get(shape.full_name) or _encoder(shape, without)


def value_names(field: FieldDescriptor) -> dict[int, str]:
    """Returns the names of the values of an enum as this field is written."""
    assert field.enum_type is not None  # noqa: S101 - for the type checker
    renamed = options_of(field).renamed
    return {number: renamed.get(name, name) for number, name in enum_names(field.enum_type).items()}


def _enum_value(field: FieldDescriptor, *, null: bool) -> Read:
    names: dict[int, str | None] = dict(value_names(field))
    if null:
        names[0] = None
    return lambda value: names.get(value, names[0])


def _time(value: Timestamp) -> str:
    return value.ToJsonString()


def milliseconds(value: Duration) -> float:
    """Returns a duration in milliseconds, to two decimals."""
    return round(float(value.seconds * 1000 + value.nanos / 1e6), 2)

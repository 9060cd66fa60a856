"""Messages as JSON Schema, for the OpenAPI document: what `to_json` writes, described by the contract's comments.

Routes name messages (`Shape`, `shown`, `event_schema`); `add_schemas` adds their schemas to the finished document.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from google.protobuf import descriptor_pool
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from gateway.rest.mapping.comments import comment_on, described
from gateway.rest.mapping.message_json import (
    DURATION,
    OBJECT,
    TIME,
    is_map,
    is_null_if_unset,
    is_nullable,
    json_name,
    kinds_of,
    message_of,
    options_of,
    shape_options_of,
    shown_fields,
    value_names,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from google.protobuf.descriptor import Descriptor
    from pydantic import GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema

Schema: TypeAlias = dict[str, Any]

COMPONENT = "#/components/schemas/"
_MESSAGE = "x-braid-message"
_EVENTS = "x-braid-events"
_SCALARS = {
    FieldDescriptor.CPPTYPE_STRING: "string",
    FieldDescriptor.CPPTYPE_BOOL: "boolean",
    FieldDescriptor.CPPTYPE_DOUBLE: "number",
    FieldDescriptor.CPPTYPE_FLOAT: "number",
}
_WELL_KNOWN: dict[str, Schema] = {
    TIME: {"type": "string"},
    DURATION: {"type": "number"},
    OBJECT: {"type": "object", "additionalProperties": True},
}
_NULL: Schema = {"type": "null"}


@dataclass(frozen=True, slots=True)
class Shape:
    """Documents an object as a message: `Annotated[Json, Shape(chunks_pb2.ChunkHit)]`."""

    message: type[Message]

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {_MESSAGE: self.message.DESCRIPTOR.full_name}


def shown(
    message: type[Message], status: int = 200, description: str = "Successful Response"
) -> dict[int | str, dict[str, Any]]:
    """Returns the response of a route that answers with a message."""
    content = {"application/json": {"schema": {_MESSAGE: message.DESCRIPTOR.full_name}}}
    return {status: {"description": description, "content": content}}


def event_schema(message: type[Message]) -> Schema:
    """Returns the schema of a stream of events: one event for each field of the message's oneof."""
    return {_EVENTS: message.DESCRIPTOR.full_name}


def add_schemas(document: Schema) -> None:
    """Replaces the names of messages in a document by references, and adds the schemas that they refer to.

    Raises ValueError if two different schemas have the same name.
    """
    components = _Components(document.setdefault("components", {}).setdefault("schemas", {}))
    for node in list(_objects(document)):
        if _MESSAGE in node:
            node.update(components.reference(_find(node.pop(_MESSAGE))))
        elif _EVENTS in node:
            node.update(components.events(_find(node.pop(_EVENTS))))


def _find(full_name: str) -> Descriptor:
    return descriptor_pool.Default().FindMessageTypeByName(full_name)


def _objects(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
        for child in node.values():
            yield from _objects(child)
    elif isinstance(node, list):
        for child in node:
            yield from _objects(child)


class _Components:
    """The schemas of a document, by name; those of messages are added when they are first referred to."""

    def __init__(self, schemas: dict[str, Schema]) -> None:
        self._schemas = schemas
        self._taken = frozenset(schemas)

    def reference(self, shape: Descriptor, without: tuple[str, ...] = (), name: str = "") -> Schema:
        """Returns a reference to the schema of a message without some of its fields, under a name of its own."""
        name = name or shape_options_of(shape).schema or shape.name
        schema = self._object(shape.full_name, self._properties(shape, without))
        return self._add(name, schema)

    def events(self, shape: Descriptor) -> Schema:
        """Returns the schema of the events that a message with a oneof stands for; each has its time."""
        [oneof] = [one for one in shape.oneofs if len(one.fields) > 1]
        times = [one for one in shape.fields if one.name == "create_time"]
        arms = []
        for one in oneof.fields:
            inner = message_of(one)
            data = self._properties(inner)
            data |= {json_name(time): self._value(time) for time in times}
            name = inner.name
            event = {
                "event": {"type": "string", "const": one.name},
                "data": self._add(f"{name}Data", self._object(inner.full_name, data)),
            }
            arms.append(self._add(f"{name}Event", self._object(one.full_name, event)))
        return {"oneOf": arms}

    def _add(self, name: str, schema: Schema) -> Schema:
        if name in self._taken or self._schemas.setdefault(name, schema) != schema:
            raise ValueError(f"two schemas are called {name}")
        return {"$ref": COMPONENT + name}

    def _object(self, described_by: str, properties: dict[str, Schema]) -> Schema:
        schema: Schema = {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }
        comment = comment_on(described_by)
        return schema | {"description": comment} if comment else schema

    def _properties(self, shape: Descriptor, without: tuple[str, ...] = ()) -> dict[str, Schema]:
        """Returns the schemas of the fields that are written, in the order in which `to_json` decides between them."""
        properties: dict[str, Schema] = {
            name: dict(_NULL) for name in shape_options_of(shape).always_null
        }
        fields = shown_fields(shape, without)
        for one in fields:
            if options_of(one).flatten:
                properties |= self._properties(message_of(one), tuple(options_of(one).without))
        for one in fields:
            if not options_of(one).flatten:
                properties[json_name(one)] = self._described(one)
        for oneof, name in kinds_of(shape).items():
            kinds = [one.name for one in shape.oneofs_by_name[oneof].fields]
            properties[name] = _or_null({"type": "string", "enum": kinds})
        return properties

    def _described(self, one: FieldDescriptor) -> Schema:
        schema = self._value(one)
        comment = described(one)
        return schema | {"description": comment} if comment else schema

    def _value(self, one: FieldDescriptor) -> Schema:
        options = options_of(one)
        if is_map(one):
            value = self._single(message_of(one).fields_by_name["value"])
            return {"type": "object", "additionalProperties": value}
        single = self._single(one)
        if options.as_list:
            return {"type": "array", "items": single}
        if one.is_repeated and options.keyed_by:
            return {"type": "object", "additionalProperties": single}
        if one.is_repeated:
            item = _or_null(single) if is_null_if_unset(one) else single
            return {"type": "array", "items": item}
        return _or_null(single) if is_nullable(one) else single

    def _single(self, one: FieldDescriptor) -> Schema:
        if one.enum_type is not None:
            names = value_names(one)
            if is_null_if_unset(one):
                del names[0]
            return {"type": "string", "enum": list(names.values())}
        shape = one.message_type
        if shape is None:
            return {"type": _SCALARS.get(one.cpp_type, "integer")}
        if shape.full_name in _WELL_KNOWN:
            return dict(_WELL_KNOWN[shape.full_name])
        options = options_of(one)
        without = (*options.without, options.keyed_by)
        return self.reference(shape, without, options.schema)


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, _NULL]}

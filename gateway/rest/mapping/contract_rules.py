"""The contracts' validation rules as JSON Schema, for the OpenAPI document. The tiers validate requests."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from buf.validate import validate_pb2
from google.protobuf.message import Message

from braid.common.v1 import rules_pb2
from gateway.rest.mapping.field_types import Body

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from google.protobuf.descriptor import FieldDescriptor
    from pydantic import GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema


Schema = dict[str, Any]

_WORDS = MappingProxyType(
    {
        "gt": "exclusiveMinimum",
        "gte": "minimum",
        "lt": "exclusiveMaximum",
        "lte": "maximum",
        "min_len": "minLength",
        "max_len": "maxLength",
        "min_items": "minItems",
        "max_items": "maxItems",
        "unique": "uniqueItems",
    }
)
_OF_LISTS = frozenset({"items", "minItems", "maxItems", "uniqueItems"})
# The contracts' `[^\\s\\v\\x{85}\\p{Z}]`: ECMAScript counts all other separators as white space.
_SOME_MARK = r"[^\s\u0085]"
_NO_NUL = r"^[^\u0000]*$"


def field_at(message: type[Message], path: str) -> FieldDescriptor | None:
    """Returns a field by its path within a message, such as `subject.name`; None if it does not exist."""
    *outer, name = path.split(".")
    fields: Mapping[str, Any] = message.DESCRIPTOR.fields_by_name
    for step in outer:
        field = fields.get(step)
        if field is None or field.message_type is None:
            return None
        fields = field.message_type.fields_by_name
    return fields.get(name)


def schema_of(field: FieldDescriptor) -> Schema:
    """Returns the schema for the rules of a field. Empty for an enum, which has other names in JSON."""
    return _schema(field.GetOptions().Extensions[validate_pb2.field])


def sentences_of(options: Any) -> list[str]:
    """Returns the messages of rules that a schema cannot express; `options` are a field's or a message's rules."""
    return [rule.message for rule in options.cel]


def narrow(schema: Schema, rules: Schema, sentences: list[str]) -> None:
    """Adds rules to the schema of a value, but not to the null alternative or to the single item of a list."""
    of_lists = not _OF_LISTS.isdisjoint(rules)
    for arm in schema.get("anyOf", [schema]):
        if arm.get("type") == "null" or (of_lists and arm.get("type") != "array"):
            continue
        items = rules.get("items")
        arm.update({word: value for word, value in rules.items() if word != "items"})
        if items:
            narrow(arm["items"], items, [])
    if "enum" in rules and schema.get("default") not in rules["enum"]:
        schema.pop("default", None)  # if omitted, the value is determined otherwise
    if sentences:
        text = "; ".join(sentences)
        schema["description"] = " ".join(
            filter(None, (schema.get("description"), f"Rules: {text}."))
        )


def _schema(rules: Any) -> Schema:
    kind = rules.WhichOneof("type")
    present = getattr(rules, kind).ListFields() if kind else ()
    schema: Schema = {}
    patterns: list[str] = []
    for rule, value in present:
        if rule.name in _WORDS:
            schema[_WORDS[rule.name]] = value
        elif rule.name == "items":
            schema["items"] = _schema(value)
        elif kind == "string":
            schema.update(_of_text(rule.name, value))
            patterns += _patterns_of(rule.name, value)
    if kind == "string" and rules.string.Extensions[rules_pb2.not_blank]:
        schema.setdefault("minLength", 1)
        patterns.insert(0, _SOME_MARK)
    if patterns:
        schema["pattern"] = patterns.pop(0)
    if patterns:
        schema["allOf"] = [{"pattern": pattern} for pattern in patterns]
    return schema


def _of_text(rule: str, value: Any) -> Schema:
    if rule == "uuid":
        return {"format": "uuid"}
    return {"enum": list(value)} if rule == "in" else {}


def _patterns_of(rule: str, value: Any) -> Iterator[str]:
    if rule == "pattern":
        yield value.replace(r"\z", "$")
    if rule == "not_contains" and value == "\x00":
        yield _NO_NUL


# Named, because bodies with a field `type` have no other use of that word.
Contract: TypeAlias = type[Message]


@dataclass(frozen=True, slots=True)
class Bounds:
    """Documents a parameter with the rules of the contract's field `name`."""

    message: type[Message]
    name: str

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        shown = handler(schema)
        _describe(shown, self.message, self.name)
        return shown


class ContractModel(Body):
    """A body whose fields are documented with the rules of the contract's fields of the same names.

    `names` maps those that are called otherwise there to their paths, such as `subject.name`.
    """

    contract: ClassVar[Contract]
    names: ClassVar[Mapping[str, str]] = MappingProxyType({})

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler, /
    ) -> JsonSchemaValue:
        """Returns the model's schema with these rules."""
        shown = handler(schema)
        model = handler.resolve_ref_schema(shown)
        for name, field in model["properties"].items():
            _describe(field, cls.contract, cls.names.get(name, name))
        rules = cls.contract.DESCRIPTOR.GetOptions().Extensions[validate_pb2.message]
        narrow(model, {}, sentences_of(rules))
        return shown


def _describe(schema: JsonSchemaValue, message: type[Message], path: str) -> None:
    field = field_at(message, path)
    if field is not None:
        rules = field.GetOptions().Extensions[validate_pb2.field]
        narrow(schema, schema_of(field), sentences_of(rules))

"""What the contracts let fields be, for the OpenAPI document alone: the tiers themselves look at what is sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from buf.validate import validate_pb2
from google.protobuf.message import Message

from gateway.rest.values import Body

if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema

# Named, because bodies with a field `type` have no other use of that word.
Contract: TypeAlias = type[Message]
# JSON Schema's words for those of the contracts' rules that readers look for.
_WORDS = {
    "gte": "minimum",
    "lte": "maximum",
    "min_len": "minLength",
    "max_len": "maxLength",
    "min_items": "minItems",
    "max_items": "maxItems",
}


@dataclass(frozen=True, slots=True)
class Bounds:
    """Documents a parameter with the bounds of the contract's field `name`."""

    message: type[Message]
    name: str

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        shown = handler(schema)
        _narrow(shown, _bounds(self.message, self.name))
        return shown


class Contracted(Body):
    """A body whose fields are documented with the bounds of the contract's fields of the same names."""

    contract: ClassVar[Contract]

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler, /
    ) -> JsonSchemaValue:
        """The model's schema, with those bounds."""
        shown = handler(schema)
        for name, field in handler.resolve_ref_schema(shown)["properties"].items():
            if name in cls.contract.DESCRIPTOR.fields_by_name:
                _narrow(field, _bounds(cls.contract, name))
        return shown


def _bounds(message: type[Message], name: str) -> dict[str, Any]:
    """The bounds of a contract's field, as JSON Schema tells them."""
    field = message.DESCRIPTOR.fields_by_name[name]
    rules = field.GetOptions().Extensions[validate_pb2.field]
    kind = rules.WhichOneof("type")
    told = getattr(rules, kind).ListFields() if kind else ()
    shown = {_WORDS[rule.name]: value for rule, value in told if rule.name in _WORDS}
    if any(rule.id == "string.not_blank" for rule in rules.cel):
        shown.setdefault("minLength", 1)
    return shown


def _narrow(schema: JsonSchemaValue, told: dict[str, Any]) -> None:
    """Puts bounds where values are described; null, where it may be left out, has none."""
    for arm in schema.get("anyOf", [schema]):
        if arm.get("type") != "null":
            arm.update(told)

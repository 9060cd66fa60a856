"""What the contracts let fields be, for the OpenAPI document alone: the tiers themselves look at what is sent."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from buf.validate import validate_pb2
from google.protobuf.message import Message

from gateway.rest.contract_rules import field_at, narrow, schema_of, sentences_of
from gateway.rest.values import Body

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema

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


class Contracted(Body):
    """A body whose fields are documented with the rules of the contract's fields of the same names.

    `names` maps those that are called otherwise there to their paths, such as `subject.name`.
    """

    contract: ClassVar[Contract]
    names: ClassVar[Mapping[str, str]] = MappingProxyType({})

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler, /
    ) -> JsonSchemaValue:
        """The model's schema, with those rules."""
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

"""Builds valid JSON from the schemas of OpenAPI and MCP, so that new endpoints and tools are covered automatically."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.benchmarks.isolation.values import (
    INSTANT,
    Given,
    is_id,
    is_second_id,
    is_words,
    text_for,
)

_DEPTH = 5


class Schemas:
    """Builds values of schemas; `document` contains the schemas that references point to."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document

    def fill(
        self, schema: Mapping[str, Any], given: Given, name: str = "", attempt: int = 0
    ) -> Any:
        """Builds a value of the schema with ids and words in all fitting fields, and else only required fields."""
        return self._value(schema, given, name, _DEPTH, attempt)

    def takes_ids(self, schema: Mapping[str, Any]) -> bool:
        """Returns whether values of the schema contain ids."""
        return self._takes(schema, is_id, "", _DEPTH)

    def takes_words(self, schema: Mapping[str, Any]) -> bool:
        """Returns whether values of the schema contain texts or names."""
        return self._takes(schema, is_words, "", _DEPTH)

    def _takes(
        self, schema: Mapping[str, Any], fits: Callable[[str], bool], name: str, depth: int
    ) -> bool:
        schema = self.resolve(schema)
        if schema.get("type") == "array":
            return self._takes(schema.get("items", {}), fits, name, depth)
        properties: Mapping[str, Any] = schema.get("properties", {})
        return fits(name) or any(
            self._takes(part, fits, inner, depth - 1) for inner, part in properties.items() if depth
        )

    def resolve(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """Resolves references, and alternatives to the first one that is not null."""
        while True:
            if "$ref" in schema:
                found: Any = self._document
                for part in str(schema["$ref"]).removeprefix("#/").split("/"):
                    found = found[part]
                schema = found
            elif "anyOf" in schema or "oneOf" in schema:
                options = schema.get("anyOf") or schema["oneOf"]
                schema = next(one for one in options if one.get("type") != "null")
            else:
                return schema

    def _value(
        self, schema: Mapping[str, Any], given: Given, name: str, depth: int, attempt: int
    ) -> Any:
        schema = self.resolve(schema)
        if "const" in schema:
            return schema["const"]
        if schema.get("enum"):
            return schema["enum"][attempt % len(schema["enum"])]
        kind = schema.get("type", "object")
        kind = kind[0] if isinstance(kind, list) else kind
        if kind == "object":
            return self._object(schema, given, depth, attempt)
        if kind == "array":
            items = schema.get("items", {})
            return [self._value(items, given, name, depth - 1, attempt)] if depth else []
        if kind == "string":
            return _string(schema, given, name, attempt)
        return {"integer": 1, "number": 0.5, "boolean": False}.get(kind)

    def _object(
        self, schema: Mapping[str, Any], given: Given, depth: int, attempt: int
    ) -> dict[str, Any]:
        required = set(schema.get("required", ()))
        properties: Mapping[str, Any] = schema.get("properties", {})
        wanted = [
            name
            for name, part in properties.items()
            if name in required or (depth and self._matters(part, name, depth - 1))
        ]
        if attempt % 4 == 2:
            wanted = [name for name in wanted if name in required or is_id(name)]
        if attempt % 2:
            wanted = _one_optional(wanted or list(properties), required, attempt // 2)
        return {
            name: self._value(properties[name], given, name, depth - 1, attempt) for name in wanted
        }

    def _matters(self, schema: Mapping[str, Any], name: str, depth: int) -> bool:
        """Returns whether an optional part takes ids or words."""
        schema = self.resolve(schema)
        kind = schema.get("type")
        if kind == "string":
            return (is_id(name) or is_words(name)) and not schema.get("enum")
        if kind == "array":
            return self._matters(schema.get("items", {}), name, depth)
        properties: Mapping[str, Any] = schema.get("properties", {})
        return depth > 0 and any(
            self._matters(part, inner, depth - 1) for inner, part in properties.items()
        )


def _one_optional(wanted: list[str], required: set[str], turn: int) -> list[str]:
    """Keeps the required parts and one optional part, a different one at each turn, as they may exclude each other."""
    optional = [name for name in wanted if name not in required]
    chosen = optional[turn % len(optional)] if optional else ""
    return [name for name in wanted if name in required or name == chosen]


def _string(schema: Mapping[str, Any], given: Given, name: str, attempt: int) -> str:
    if "date-time" in str(schema.get("format", "")) or "RFC 3339" in str(schema.get("description")):
        return INSTANT
    if is_id(name):
        return given.second if is_second_id(name) else given.id
    return text_for(name, given, attempt // 2)

"""Declared types as the classes by which Graphiti tells a model of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, Field, ValidationError, WrapValidator, create_model

from services.graph_query.ontology.domain import AttributeKind, AttributeType, Ontology

_KINDS: dict[AttributeKind, type] = {
    AttributeKind.STRING: str,
    AttributeKind.INTEGER: int,
    AttributeKind.NUMBER: float,
    AttributeKind.BOOLEAN: bool,
}
_ANY = "Entity"
_NO_SCHEMA_NAME = re.compile(r"[^A-Za-z0-9_]")


class DeclaredTypes(NamedTuple):
    """What `add_episode` is given; None where nothing is declared."""

    entity_types: dict[str, type[BaseModel]] | None
    edge_types: dict[str, type[BaseModel]] | None
    edge_type_map: dict[tuple[str, str], list[str]] | None
    instructions: str | None


def declared_types(ontology: Ontology) -> DeclaredTypes:
    """The ontology in Graphiti's words."""
    entities = {
        one.name: _class(one.name, one.description, one.attributes) for one in ontology.entity_types
    }
    edges = {
        one.name: _class(one.name, one.description, one.attributes)
        for one in ontology.relation_types
    }
    return DeclaredTypes(
        entities or None, edges or None, _map(ontology), ontology.instructions or None
    )


def _map(ontology: Ontology) -> dict[tuple[str, str], list[str]] | None:
    """Relations by the types that they may join; each end counts as `Entity` too, whatever its type."""
    found: dict[tuple[str, str], list[str]] = {}
    for relation in ontology.relation_types:
        for ends in relation.endpoints or (("", ""),):
            pair = (ends[0] or _ANY, ends[1] or _ANY)
            found.setdefault(pair, []).append(relation.name)
    return found or None


def _class(name: str, description: str, attributes: Iterable[AttributeType]) -> type[BaseModel]:
    fields: dict[str, Any] = {
        one.name: (
            Annotated[_KINDS[one.kind] | None, WrapValidator(_or_nothing)],
            Field(default=None, description=one.description or None),
        )
        for one in attributes
    }
    # Providers take letters, digits and underscores alone for a schema's name; relations' names may hold more.
    return create_model(_NO_SCHEMA_NAME.sub("_", name), __doc__=description or name, **fields)


def _or_nothing(value: Any, handler: Any) -> Any:
    """A value of another kind is none: one odd attribute must not cost the whole episode."""
    try:
        return handler(value)
    except ValidationError:
        return None

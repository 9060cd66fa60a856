"""An ontology: types of entities and relations, their attributes, and the store interface."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, Protocol

from services.graph_query.core.names import relation_key


class AttributeKind(Enum):
    """The type of an attribute's values."""

    STRING = "string"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"


@dataclass(frozen=True, slots=True)
class AttributeType:
    """An attribute of an entity or a fact."""

    name: str
    kind: AttributeKind
    description: str = ""


@dataclass(frozen=True, slots=True)
class EntityType:
    """A type of entity."""

    name: str
    description: str = ""
    attributes: tuple[AttributeType, ...] = ()


class Endpoints(NamedTuple):
    """A pair of types that a relation may join; "" is any."""

    subject: str = ""
    object: str = ""


@dataclass(frozen=True, slots=True)
class RelationType:
    """A type of relation; without endpoints it may join any types. An `event` happens instead of lasting."""

    name: str
    description: str = ""
    attributes: tuple[AttributeType, ...] = ()
    endpoints: tuple[Endpoints, ...] = ()
    event: bool = False

    def joins(self, subject: str, target: str) -> bool:
        """Returns whether the relation may join entities of these types, "" when unknown."""
        if not self.endpoints:
            return True
        return any(
            ends.subject in ("", subject) and ends.object in ("", target) for ends in self.endpoints
        )


@dataclass(frozen=True, slots=True)
class Ontology:
    """All declared types; with `strict`, other relations are not allowed."""

    entity_types: tuple[EntityType, ...] = ()
    relation_types: tuple[RelationType, ...] = ()
    strict: bool = False
    instructions: str = ""

    @property
    def events(self) -> frozenset[str]:
        """Returns the keys of the relations that are events."""
        return frozenset(relation_key(one.name) for one in self.relation_types if one.event)

    def misfit(self, relation: str, subject: str, target: str) -> str | None:
        """Returns why a strict ontology does not allow such a fact; None if it does or is not strict."""
        if not self.strict:
            return None
        declared = find_relation(self.relation_types, relation)
        if declared is None:
            return "the relation is not one of the ontology"
        if not declared.joins(subject, target):
            return "the ontology does not allow the relation between these types"
        return None


class StoredOntology(NamedTuple):
    """An ontology and its version, 0 if none was stored."""

    ontology: Ontology
    version: int


def find_relation(relations: Iterable[RelationType], name: str) -> RelationType | None:
    """Returns the relation with a name, ignoring case and accents; None without one."""
    wanted = relation_key(name)
    return next((one for one in relations if relation_key(one.name) == wanted), None)


class OntologyStore(Protocol):
    """Stores each space's ontology. Raises StoreUnavailableError and DeadlineError as `GraphStore` does."""

    async def ontology(self, space: str) -> StoredOntology:
        """Returns the space's ontology, an empty one if none was stored."""

    async def put_ontology(self, space: str, ontology: Ontology, expected: int | None) -> int:
        """Replaces the space's ontology; returns its version. An equal ontology changes nothing.

        Raises WrongStateError if `expected` is given and differs from the stored version.
        """

"""An ontology: types of entities and relations, their attributes, and its store."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, Protocol

from services.graph_query.core.names import relation_key


class AttributeKind(Enum):
    """What an attribute's values are."""

    STRING = "string"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"


@dataclass(frozen=True, slots=True)
class AttributeType:
    """Something that is noted of a thing or a fact."""

    name: str
    kind: AttributeKind
    description: str = ""


@dataclass(frozen=True, slots=True)
class EntityType:
    """A kind of thing."""

    name: str
    description: str = ""
    attributes: tuple[AttributeType, ...] = ()


class Endpoints(NamedTuple):
    """Types that a relation may join; "" is any."""

    subject: str = ""
    object: str = ""


@dataclass(frozen=True, slots=True)
class RelationType:
    """A kind of relation; without endpoints it may join anything. An `event` happens instead of lasting."""

    name: str
    description: str = ""
    attributes: tuple[AttributeType, ...] = ()
    endpoints: tuple[Endpoints, ...] = ()
    event: bool = False

    def joins(self, subject: str, target: str) -> bool:
        """Whether it may stand between things of these types, "" when unknown."""
        if not self.endpoints:
            return True
        return any(
            ends.subject in ("", subject) and ends.object in ("", target) for ends in self.endpoints
        )


@dataclass(frozen=True, slots=True)
class Ontology:
    """All declared kinds; `strict` means that there are no other relations."""

    entity_types: tuple[EntityType, ...] = ()
    relation_types: tuple[RelationType, ...] = ()
    strict: bool = False
    instructions: str = ""

    @property
    def events(self) -> frozenset[str]:
        """Keys of the relations that are events."""
        return frozenset(relation_key(one.name) for one in self.relation_types if one.event)

    def misfit(self, relation: str, subject: str, target: str) -> str | None:
        """Why a strict ontology has no such fact, None when it has or is not strict."""
        if not self.strict:
            return None
        declared = find_relation(self.relation_types, relation)
        if declared is None:
            return "the relation is not one of the ontology"
        if not declared.joins(subject, target):
            return "the ontology does not allow the relation between these types"
        return None


class StoredOntology(NamedTuple):
    """An ontology and its version, 0 when none was put."""

    ontology: Ontology
    version: int


def find_relation(relations: Iterable[RelationType], name: str) -> RelationType | None:
    """The relation of a name, letter case and accents ignored."""
    wanted = relation_key(name)
    return next((one for one in relations if relation_key(one.name) == wanted), None)


class OntologyStore(Protocol):
    """Each space's ontology. Raises StoreUnavailableError and DeadlineError as `GraphStore` says."""

    async def ontology(self, space: str) -> StoredOntology:
        """The space's ontology, an empty one while none was put."""

    async def put_ontology(self, space: str, ontology: Ontology, expected: int | None) -> int:
        """Replaces the space's ontology; its version. The same one again changes nothing.

        WrongStateError when `expected` is given and differs from the stored version.
        """

"""Ontologies in Neo4j: one node per space, whose text is JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from services.graph_query.neo4j.database import Database, Transaction
from services.graph_query.ontology.domain import (
    AttributeKind,
    AttributeType,
    Endpoints,
    EntityType,
    Ontology,
    RelationType,
    StoredOntology,
)
from services.runtime.errors import WrongStateError


def to_text(ontology: Ontology) -> str:
    """Serializes an ontology; equal ontologies give equal texts."""
    return json.dumps(asdict(ontology), sort_keys=True, default=_plain)


def from_text(text: str) -> Ontology:
    """Parses an ontology from its stored text."""
    result = json.loads(text)
    return Ontology(
        entity_types=tuple(_entity_type(one) for one in result["entity_types"]),
        relation_types=tuple(_relation_type(one) for one in result["relation_types"]),
        strict=result["strict"],
        instructions=result["instructions"],
    )


def _entity_type(value: dict[str, Any]) -> EntityType:
    return EntityType(value["name"], value["description"], _attributes(value))


def _relation_type(value: dict[str, Any]) -> RelationType:
    ends = tuple(Endpoints(*one) for one in value["endpoints"])
    # Texts written before events were introduced have no such flag.
    event = value.get("event", False)
    return RelationType(value["name"], value["description"], _attributes(value), ends, event)


def _attributes(value: dict[str, Any]) -> tuple[AttributeType, ...]:
    return tuple(
        AttributeType(one["name"], AttributeKind(one["kind"]), one["description"])
        for one in value["attributes"]
    )


def _plain(value: object) -> object:
    if isinstance(value, AttributeKind):
        return value.value
    raise TypeError


_NONE = StoredOntology(Ontology(), 0)


class Neo4jOntologies:
    """Implements `OntologyStore` on Neo4j."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def ontology(self, space: str) -> StoredOntology:
        """Returns the space's ontology."""
        rows = await self._database.read("get_ontology", space=space)
        return StoredOntology(from_text(rows[0]["text"]), rows[0]["version"]) if rows else _NONE

    async def put_ontology(self, space: str, ontology: Ontology, expected: int | None) -> int:
        """Replaces the space's ontology in one transaction."""

        async def work(transaction: Transaction) -> int:
            stored = (await transaction.run("lock_ontology", space=space))[0]
            if expected not in (None, stored["version"]):
                raise WrongStateError(f"The ontology is of version {stored['version']} by now.")
            text = to_text(ontology)
            if text == stored["text"]:
                return int(stored["version"])
            parameters = {"text": text, "events": sorted(ontology.events)}
            rows = await transaction.run("put_ontology", space=space, **parameters)
            return int(rows[0]["version"])

        return await self._database.write(work)

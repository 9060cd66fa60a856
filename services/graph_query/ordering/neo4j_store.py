"""What orders of found facts ask, in Neo4j."""

from __future__ import annotations

from collections.abc import Sequence

from services.graph_query.domain import FactFilter
from services.graph_query.intervals import OPEN
from services.graph_query.neo4j_database import Database
from services.graph_query.neo4j_records import entity


class Neo4jOrdering:
    """`OrderingStore` on Neo4j."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def entities_named(self, space: str, name_key: str, entity_type: str) -> list[str]:
        """Uuids of the entities of a name."""
        rows = await self._database.read("entities_named", space=space, key=name_key)
        named = [entity(row) for row in rows]
        return [one.uuid for one in named if not entity_type or one.type == entity_type]

    async def fact_vectors(self, space: str, uuids: Sequence[str]) -> dict[str, Sequence[float]]:
        """Vectors of facts."""
        rows = await self._database.read("fact_vectors", space=space, uuids=list(uuids))
        return {row["uuid"]: row["vector"] for row in rows}

    async def distances(
        self, space: str, centers: Sequence[str], uuids: Sequence[str], only: FactFilter
    ) -> dict[str, int]:
        """How far entities are from the nearest centre."""
        rows = await self._database.read(
            "entity_distances",
            space=space,
            centers=list(centers),
            uuids=list(uuids),
            since=only.since,
            until=only.until,
            open=OPEN,
        )
        return {row["uuid"]: row["distance"] for row in rows}

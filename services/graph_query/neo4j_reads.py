"""The reading half of the Neo4j store: one round trip for each question."""

from __future__ import annotations

from services.graph_query.domain import Entity, FactFilter, GraphStats, Neighborhood
from services.graph_query.neo4j_records import (
    entity,
    entity_ref,
    entity_type,
    instant,
    neighbor_fact,
)
from services.graph_query.neo4j_schema import index_states
from services.graph_query.neo4j_search import Neo4jSearch, filter_parameters
from services.runtime.errors import NotFoundError


class Neo4jReads(Neo4jSearch):
    """Searches and listings. Raises what `GraphStore` says."""

    async def neighborhood(
        self, space: str, name: str, entity_type: str, limit: int, only: FactFilter
    ) -> Neighborhood:
        """An entity's neighbours with up to three facts each."""
        named = [
            entity(row)
            for row in await self._database.read("entities_named", space=space, key=name)
        ]
        center = next((one for one in named if not entity_type or one.type == entity_type), None)
        if center is None:
            raise NotFoundError("entity")
        rows = await self._database.read(
            "neighbors",
            uuid=center.uuid,
            limit=limit,
            **filter_parameters(space, only),
        )
        # Of which a stated fact knows better than all sentences.
        lost = sum(not row["edges"] for row in rows)
        total = rows[0]["total"] - lost if rows else 0
        rows = [row for row in rows if row["edges"]]
        return Neighborhood(
            center=center,
            nodes=tuple(entity(row) for row in rows),
            edges=tuple(neighbor_fact(edge) for row in rows for edge in row["edges"]),
            total=total,
            homonyms=tuple(
                entity_ref(one.uuid, one.name, [one.type] if one.type else [])
                for one in named
                if one.uuid != center.uuid
            ),
        )

    async def list_entities(
        self, space: str, entity_type: str, after: tuple[str, str], limit: int
    ) -> list[Entity]:
        """Entities by key and uuid after a position."""
        rows = await self._database.read(
            "list_entities",
            space=space,
            type=entity_type,
            after_key=after[0],
            after_uuid=after[1],
            limit=limit,
        )
        return [entity(row) for row in rows]

    async def stats(self, space: str) -> GraphStats:
        """The space's graph in numbers, and the state of the indexes."""
        row = (await self._database.read("graph_stats", space=space))[0]
        types: dict[str, int] = {}
        for labels, number in row["types"]:
            types[entity_type(labels)] = types.get(entity_type(labels), 0) + number
        return GraphStats(
            entities=row["entities"],
            facts=row["facts"],
            local_facts=row["local_facts"],
            episodes=row["episodes"],
            entities_by_type=types,
            last_write=instant(row["last_write"]),
            indexes=await index_states(self._database),
            revision=row["revision"],
        )

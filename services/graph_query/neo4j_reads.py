"""The reading half of the Neo4j store: one round trip for each question."""

from __future__ import annotations

from typing import Any

from services.graph_query.domain import (
    Entity,
    EntityListing,
    EntityOrder,
    EntityPage,
    EntityPosition,
    FactFilter,
    GraphStats,
    Neighborhood,
)
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

_LISTINGS = {
    EntityOrder.NAME: "list_entities",
    EntityOrder.MENTIONS: "list_entities_by_mentions",
}
# Entities that one query looks at for a filtered page, and how many queries a page may take: see the contract.
_SCAN = 2_000
_MAX_SCANS = 5


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
        return Neighborhood(
            center=center,
            nodes=tuple(entity(row) for row in rows),
            edges=tuple(neighbor_fact(edge) for row in rows for edge in row["edges"]),
            total=rows[0]["total"] if rows else 0,
            homonyms=tuple(
                entity_ref(one.uuid, one.name, [one.type] if one.type else [])
                for one in named
                if one.uuid != center.uuid
            ),
        )

    async def list_entities(
        self, space: str, listing: EntityListing, after: EntityPosition, limit: int
    ) -> EntityPage:
        """Entities after a position, in as many scans as fill the page, up to a bound."""
        filtered = bool(listing.type) or listing.document_titles is not None
        scan = max(limit + 1, _SCAN) if filtered else limit + 1
        found: list[Entity] = []
        end: EntityPosition | None = after
        for _ in range(_MAX_SCANS if filtered else 1):
            if end is None or len(found) > limit:
                break
            row = await self._scan_entities(space, listing, end, limit + 1 - len(found), scan)
            found += [entity(one) for one in row["entities"]]
            end = _entity_position(*row["last"]) if row["seen"] == scan else None
        if len(found) > limit:
            last = found[limit - 1]
            end = EntityPosition(last.mentions, last.key, last.uuid)
        return EntityPage(found[:limit], end)

    async def _scan_entities(
        self,
        space: str,
        listing: EntityListing,
        after: EntityPosition,
        limit: int,
        scan: int,
    ) -> dict[str, Any]:
        rows = await self._database.read(
            _LISTINGS[listing.order],
            space=space,
            type=listing.type,
            titles=listing.document_titles,
            after_rank=-after.mentions,
            after_key=after.key,
            after_uuid=after.uuid,
            limit=limit,
            scan=scan,
        )
        return rows[0]

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


def _entity_position(rank: int | None, key: str, uuid: str) -> EntityPosition:
    return EntityPosition(-(rank or 0), key, uuid)

"""The reading half of the Neo4j store: one round trip for each question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
from services.graph_query.neo4j_database import Rows
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
# Entities that are looked at for one page: see the contract.
_MAX_SCANNED = 10_000
# Looked at beyond the wanted neighbours where facts contradict some of those.
_SPARE_NEIGHBORS = 20


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
        rows, total = await self._neighbors(center.uuid, limit, filter_parameters(space, only))
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

    async def _neighbors(self, uuid: str, limit: int, only: Mapping[str, Any]) -> tuple[Rows, int]:
        """The first neighbours with their facts, and how many there are.

        Stated facts contradict all that joins some of them: others take their place.
        """
        rows = await self._database.read("neighbors", uuid=uuid, limit=limit, **only)
        if any(not row["edges"] for row in rows) and rows[0]["total"] > limit:
            more = limit + _SPARE_NEIGHBORS
            rows = await self._database.read("neighbors", uuid=uuid, limit=more, **only)
        found = [row for row in rows if row["edges"]]
        total = rows[0]["total"] - (len(rows) - len(found)) if rows else 0
        return found[:limit], total

    async def list_entities(
        self, space: str, listing: EntityListing, after: EntityPosition, limit: int
    ) -> EntityPage:
        """Entities after a position, in as many scans as fill the page, up to a bound."""
        found: list[Entity] = []
        for scan in _scans(listing, limit + 1):
            row = await self._scan_entities(space, listing, after, limit + 1 - len(found), scan)
            found += [entity(one) for one in row["entities"]]
            if len(found) > limit:
                last = found[limit - 1]
                return EntityPage(found[:limit], EntityPosition(last.mentions, last.key, last.uuid))
            if row["seen"] < scan:
                return EntityPage(found)
            after = _entity_position(*row["last"])
        return EntityPage(found, after)

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


def _scans(listing: EntityListing, wanted: int) -> Iterator[int]:
    """How many entities the queries for a page look at, one after the other until it is full."""
    if not listing.type and listing.document_titles is None:
        yield wanted
        return
    left, scan = _MAX_SCANNED, 4 * wanted
    while left > 0:
        yield min(scan, left)
        left -= scan
        scan *= 2


def _entity_position(rank: int | None, key: str, uuid: str) -> EntityPosition:
    return EntityPosition(-(rank or 0), key, uuid)

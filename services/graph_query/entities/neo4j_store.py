"""Entities in Neo4j: neighborhoods, listings, details, paths and mention subgraphs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from services.graph_query.core.domain import (
    Entity,
    EntityListing,
    EntityOrder,
    EntityPage,
    EntityPosition,
    Fact,
    FactFilter,
    GraphStats,
    Neighborhood,
)
from services.graph_query.core.intervals import OPEN
from services.graph_query.entities.domain import (
    EntityDetails,
    NamedEntity,
    Pair,
    Seeds,
    Step,
    Subgraph,
    SubgraphEntity,
    SubgraphEpisode,
    SubgraphMention,
    SubgraphStatement,
    Titled,
    other_spellings,
)
from services.graph_query.history.domain import Selector
from services.graph_query.local_extraction.extract import MentionKind
from services.graph_query.neo4j.database import Database, Rows
from services.graph_query.neo4j.row_mapping import (
    entity,
    entity_ref,
    entity_type,
    filter_parameters,
    instant,
    neighbor_fact,
)
from services.graph_query.neo4j.schema import index_states
from services.runtime.errors import NotFoundError

_LISTINGS = {
    EntityOrder.NAME: "list_entities",
    EntityOrder.MENTIONS: "list_entities_by_mentions",
}


# Entities scanned for one page: see the contract.
_MAX_SCANNED = 10_000


# Read in addition to the requested neighbors if facts contradict some of those.
_SPARE_NEIGHBORS = 20


class Neo4jEntities:
    """Neighborhoods, listings and counts. Raises what `GraphStore` raises."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def neighborhood(
        self, space: str, name: str, entity_type: str, limit: int, only: FactFilter
    ) -> Neighborhood:
        """Returns an entity's neighbors with up to three facts each."""
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
        """Returns the first neighbors with their facts, and the total number.

        A neighbor whose connections are all contradicted by stated facts is replaced by the next one.
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
        """Lists entities after a position, in as many scans as are needed to fill the page, up to a limit."""
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
        """Counts the space's graph, and returns the state of the indexes."""
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
    """Yields how many entities each query for a page scans, one after the other until the page is full."""
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


# The number of citing chunks that are followed from each fact; a mention's kind is less than `_KINDS`.
_CITING = 3
_KINDS = 4
_CITATIONS = 5


_LOOKED_AT = 20_000


class Neo4jEntityStore:
    """Implements `EntityStore` on Neo4j."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def entities(self, space: str, entity: Selector, now: float) -> list[EntityDetails]:
        """Returns entities with their other spellings; reads up to 20,000 mentions and facts of each."""
        rows = await self._database.read(
            "entity_details",
            space=space,
            anchor={
                "key": entity.name_key,
                "type": entity.type,
                "uuids": [entity.uuid] if entity.uuid else [],
            },
            now=now,
            open=OPEN,
            looked_at=_LOOKED_AT,
        )
        return [_details(row) for row in rows]

    async def entities_by_link_key(
        self, space: str, keys: Sequence[str]
    ) -> dict[str, list[NamedEntity]]:
        """Returns names by linking key."""
        rows = await self._database.read("entities_by_link_key", space=space, keys=sorted(keys))
        return {row["key"]: sorted(NamedEntity(*one) for one in row["named"]) for row in rows}

    async def titled(self, space: str, uuids: Sequence[str]) -> dict[str, Titled]:
        """Returns entities by uuid."""
        parameters = {"uuids": list(uuids), "about": int(MentionKind.ABOUT)}
        rows = await self._database.read("entities_titled", space=space, **parameters)
        return {row["uuid"]: Titled(entity(row), row["titled"]) for row in rows}

    async def steps(
        self, space: str, uuids: Sequence[str], only: FactFilter, limit: int, *, local: bool
    ) -> list[Step]:
        """Returns the neighbors of entities."""
        parameters = {
            "uuids": list(uuids),
            "since": only.since,
            "until": only.until,
            "local": local,
        }
        rows = await self._database.read("path_steps", space=space, limit=limit, **parameters)
        return [Step(*columns) for columns in rows[0]["steps"]]

    async def joining(
        self, space: str, pairs: Sequence[Pair], only: FactFilter, *, local: bool
    ) -> dict[Pair, Fact]:
        """Returns the best fact between the entities of each pair."""
        rows = await self._database.read(
            "facts_between",
            space=space,
            pairs=[list(pair) for pair in pairs],
            since=only.since,
            until=only.until,
            local=local,
            open=OPEN,
            citations=_CITATIONS,
        )
        return {(row["pair"][0], row["pair"][1]): neighbor_fact(row["edge"]) for row in rows}

    async def subgraph(self, space: str, seeds: Seeds) -> Subgraph:
        """Reads chunks and entities in one query, and what is only displayed of them in another."""
        rows = await self._database.read(
            "mention_subgraph",
            space=space,
            chunks=list(seeds.chunks),
            entities=list(seeds.entities),
            max_mentions=seeds.max_mentions,
            max_about=seeds.max_about,
            max_cited=_CITING,
            limit=seeds.max_episodes + 1,
            at=seeds.at,
            about=int(MentionKind.ABOUT),
        )
        if not rows:
            return Subgraph()
        found = rows[0]
        shown = found["episodes"][: seeds.max_episodes]
        details = await self._subgraph_details(space, shown) if seeds.details else {}
        episodes = [
            SubgraphEpisode(
                uuid,
                details[uuid]["document_id"] if details else "",
                details[uuid]["title"] if details else "",
                place < found["begun"],
            )
            for place, uuid in enumerate(shown)
        ]
        entities: list[SubgraphEntity] = []
        mentions: list[SubgraphMention] = []
        statements: list[SubgraphStatement] = []
        sentences = {uuid: dict(row["named"]) for uuid, row in details.items()}
        for columns in found["entities"]:
            named = [divmod(row, _KINDS) for row in columns[5] if row // _KINDS < len(shown)]
            if not named:
                continue
            entities.append(_subgraph_entity(columns))
            uuid = columns[0]
            mentions += [
                SubgraphMention(
                    shown[at], uuid, kind, tuple(sentences.get(shown[at], {}).get(uuid, ()))
                )
                for at, kind in named
            ]
            statements += _statements(uuid, columns[6], frozenset(shown))
        return Subgraph(
            episodes,
            entities,
            mentions,
            statements,
            truncated=len(found["episodes"]) > len(shown),
        )

    async def _subgraph_details(
        self, space: str, episodes: Sequence[str]
    ) -> dict[str, dict[str, Any]]:
        rows = await self._database.read("subgraph_details", space=space, episodes=list(episodes))
        return {row["uuid"]: row for row in rows}


def _details(row: Mapping[str, Any]) -> EntityDetails:
    found = entity(dict(row))
    aliases = other_spellings(found.name, row["spellings"])
    return EntityDetails(found, aliases, row["holding"], instant(row["created_at"]))


def _subgraph_entity(columns: Sequence[Any]) -> SubgraphEntity:
    ref = entity_ref(columns[0], columns[1], columns[2])
    return SubgraphEntity(ref, columns[3], columns[4])


def _statements(
    entity: str, facts: Iterable[Sequence[Any]], listed: frozenset[str]
) -> Iterable[SubgraphStatement]:
    for relation, fact, citing in facts:
        for uuid in citing:
            if uuid in listed:
                yield SubgraphStatement(uuid, entity, relation, fact)

"""The graph's shape in Neo4j."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from services.graph_query.domain import Fact, FactFilter
from services.graph_query.extraction.extract import MentionKind
from services.graph_query.history.domain import Selector
from services.graph_query.intervals import OPEN
from services.graph_query.neo4j_database import Database
from services.graph_query.neo4j_records import entity, entity_ref, instant, neighbor_fact
from services.graph_query.structure.domain import (
    EntityDetails,
    NamedEntity,
    Pair,
    Seeds,
    Step,
    Subgraph,
    SubgraphEntity,
    SubgraphEpisode,
    SubgraphMention,
    Titled,
)
from services.graph_query.structure.spellings import other_spellings

_CITATIONS = 5
_LOOKED_AT = 20_000


class Neo4jStructure:
    """`StructureStore` on Neo4j."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def entities(self, space: str, entity: Selector, now: float) -> list[EntityDetails]:
        """Entities with their other spellings; of an entity's mentions and facts the first 20,000 are read."""
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

    async def names_linked(self, space: str, keys: Sequence[str]) -> dict[str, list[NamedEntity]]:
        """Names by linking key."""
        rows = await self._database.read("names_linked", space=space, keys=sorted(keys))
        return {row["key"]: sorted(NamedEntity(*one) for one in row["named"]) for row in rows}

    async def titled(self, space: str, uuids: Sequence[str]) -> dict[str, Titled]:
        """Entities by uuid."""
        told = {"uuids": list(uuids), "about": int(MentionKind.ABOUT)}
        rows = await self._database.read("entities_titled", space=space, **told)
        return {row["uuid"]: Titled(entity(row), row["titled"]) for row in rows}

    async def steps(
        self, space: str, uuids: Sequence[str], only: FactFilter, limit: int, *, local: bool
    ) -> list[Step]:
        """Neighbours of entities."""
        told = {"uuids": list(uuids), "since": only.since, "until": only.until, "local": local}
        rows = await self._database.read("steps", space=space, limit=limit, **told)
        return [Step(*columns) for columns in rows[0]["steps"]]

    async def joining(
        self, space: str, pairs: Sequence[Pair], only: FactFilter, *, local: bool
    ) -> dict[Pair, Fact]:
        """The best fact between each two entities."""
        rows = await self._database.read(
            "joining_facts",
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
        """Chunks first, then who mentions whom among them."""
        told = {"chunks": list(seeds.chunks), "entities": list(seeds.entities)}
        rows = await self._database.read(
            "subgraph_episodes",
            space=space,
            max_mentions=seeds.max_mentions,
            max_about=seeds.max_about,
            limit=seeds.max_episodes + 1,
            about=int(MentionKind.ABOUT),
            **told,
        )
        shown = [
            SubgraphEpisode(row["uuid"], row["document_id"], row["title"], row["seed"])
            for row in rows[: seeds.max_episodes]
        ]
        found = await self._mentions(space, [one.uuid for one in shown], seeds.entities)
        return Subgraph(shown, *found, truncated=len(rows) > len(shown))

    async def _mentions(
        self, space: str, episodes: Sequence[str], entities: Sequence[str]
    ) -> tuple[list[SubgraphEntity], list[SubgraphMention]]:
        if not episodes:
            return [], []
        told = {"episodes": list(episodes), "entities": list(entities)}
        rows = await self._database.read(
            "subgraph_mentions", space=space, about=int(MentionKind.ABOUT), **told
        )
        return [_subgraph_entity(row) for row in rows], list(_subgraph_mentions(rows))


def _details(row: Mapping[str, Any]) -> EntityDetails:
    found = entity(dict(row))
    aliases = other_spellings(found.name, row["spellings"])
    return EntityDetails(found, aliases, row["holding"], instant(row["created_at"]))


def _subgraph_entity(row: Mapping[str, Any]) -> SubgraphEntity:
    ref = entity_ref(row["uuid"], row["name"], row["labels"])
    return SubgraphEntity(ref, row["frequency"], row["titled"])


def _subgraph_mentions(rows: Sequence[Mapping[str, Any]]) -> Iterable[SubgraphMention]:
    for row in rows:
        for episode, kind, sentences in sorted(row["rows"]):
            yield SubgraphMention(episode, row["uuid"], kind, tuple(sentences))

"""The reading half of the Neo4j store: one round trip for each question."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from services.graph_query.domain import Entity, Fact, FactFilter, GraphStats, Neighborhood
from services.graph_query.intervals import OPEN
from services.graph_query.lucene import ends_clause, words_query
from services.graph_query.names import link_key
from services.graph_query.neo4j_database import Database, Rows
from services.graph_query.neo4j_records import (
    entity,
    entity_ref,
    entity_type,
    instant,
    local_fact,
    neighbor_fact,
    stated_fact,
)
from services.graph_query.neo4j_schema import index_states
from services.graph_query.store import ScoredFact, SpaceState, WordHits
from services.runtime.errors import NotFoundError

# Fused lists need to reach deeper than what is shown.
_DEPTH = 20
_FETCH = 5_000
_FETCH_FILTERED = 50_000
_CITATIONS = 5
_CO_OCCURS = "co_occurs"


class Neo4jReads:
    """Searches and listings. Raises what `GraphStore` says."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def search_words(
        self,
        space: str,
        terms: Sequence[str],
        link_keys: Sequence[str],
        only: FactFilter,
        limit: int,
    ) -> WordHits:
        """Facts by words and by named entities."""
        parameters = {**_filter(space, only), "limit": limit + _DEPTH, "only": []}
        if only.entity_key:
            state, parameters["only"] = await self._state(space, only.entity_key)
            if not parameters["only"]:
                return WordHits(state)
        try:
            async with asyncio.TaskGroup() as group:
                held = group.create_task(self._state(space))
                text = group.create_task(self._text(terms, parameters))
                named = group.create_task(self._named(link_keys, only, parameters))
                sentences = group.create_task(self._sentences(terms, limit, parameters))
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0] from None
        return WordHits(held.result()[0], text.result(), named.result(), sentences.result())

    async def search_vector(
        self, space: str, vector: Sequence[float], only: FactFilter, limit: int, *, exact: bool
    ) -> list[ScoredFact]:
        """Stated facts by cosine similarity; a filter by entity or relation is always exact."""
        name = "search_vector_index"
        if only.entity_key:
            name = "search_vector_entity"
        elif exact or only.relation:
            name = "search_vector_exact"
        rows = await self._database.read(
            name,
            vector=list(vector),
            limit=limit + _DEPTH,
            fetch=2 * (limit + _DEPTH),
            **_filter(space, only),
        )
        return _scored(rows)

    async def _state(self, space: str, entity_key: str = "") -> tuple[SpaceState, list[str]]:
        rows = await self._database.read("search_state", space=space, entity_key=entity_key)
        row = rows[0]
        return SpaceState(row["revision"], row["vectors"], row["model"] or ""), row["only"]

    async def _text(self, terms: Sequence[str], parameters: dict[str, Any]) -> list[ScoredFact]:
        lucene = words_query(parameters["space"], ("fact", "name"), terms)
        if not lucene:
            return []
        lucene += ends_clause(parameters["only"])
        return _scored(
            await self._database.read("search_text", lucene=lucene, fetch=_FETCH, **parameters)
        )

    async def _named(
        self, link_keys: Sequence[str], only: FactFilter, parameters: dict[str, Any]
    ) -> list[ScoredFact]:
        keys = [link_key(only.entity_key)] if only.entity_key else list(link_keys)
        if not keys:
            return []
        return _scored(await self._database.read("search_entities", link_keys=keys, **parameters))

    async def _sentences(
        self, terms: Sequence[str], limit: int, parameters: dict[str, Any]
    ) -> list[tuple[list[Fact], float]]:
        lucene = words_query(parameters["space"], ("text",), terms)
        if not lucene or parameters["relation"] not in ("", _CO_OCCURS):
            return []
        fetch = _FETCH_FILTERED if parameters["only"] else _FETCH
        told = {**parameters, "limit": limit, "lucene": lucene, "fetch": fetch}
        rows = await self._database.read("search_sentences", **told)
        return [(_sentence_facts(row), row["score"]) for row in rows]

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
            "neighbors", uuid=center.uuid, limit=limit, **_filter(space, only)
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
        self, space: str, entity_type: str, after: tuple[str, str], limit: int
    ) -> list[Entity]:
        """Entities by name and uuid after a position."""
        rows = await self._database.read(
            "list_entities",
            space=space,
            type=entity_type,
            after_name=after[0],
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


def _filter(space: str, only: FactFilter) -> dict[str, Any]:
    return {
        "space": space,
        "since": only.since,
        "until": only.until,
        "entity_key": only.entity_key,
        "relation": only.relation.lower(),
        "open": OPEN,
        "citations": _CITATIONS,
    }


def _scored(rows: Rows) -> list[ScoredFact]:
    return [ScoredFact(stated_fact(row["fact"], row["cited"]), row["score"]) for row in rows]


def _sentence_facts(row: dict[str, Any]) -> list[Fact]:
    ends = [entity_ref(*named) for named in row["named"]]
    return [
        local_fact(row["uuid"], row["text"], ends[0], target, row["place"]) for target in ends[1:]
    ]

"""The reading half of the Neo4j store: one round trip for each question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from services.graph_query.domain import Entity, Fact, FactFilter, GraphStats, Neighborhood
from services.graph_query.intervals import OPEN
from services.graph_query.lucene import words_query
from services.graph_query.neo4j_database import Database
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

_FETCH = 5_000
_FETCH_FILTERED = 50_000
_CITATIONS = 5


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
        rows = await self._database.read(
            "search_words",
            lucene=words_query(space, ("fact", "name"), terms),
            sentence_lucene=words_query(space, ("text",), terms),
            link_keys=list(link_keys),
            fetch=_FETCH,
            sentence_fetch=_FETCH_FILTERED if only.entity_key else _FETCH,
            limit=limit,
            **_filter(space, only),
        )
        if not rows:
            return WordHits(await self.space_state(space))
        hits = WordHits(_state(rows[0]))
        for row in rows:
            _add_hit(hits, row)
        return hits

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
            name, vector=list(vector), limit=limit, fetch=limit * 2, **_filter(space, only)
        )
        return [ScoredFact(stated_fact(row["fact"], row["cited"]), row["score"]) for row in rows]

    async def space_state(self, space: str) -> SpaceState:
        """The space as it is now."""
        return _state((await self._database.read("space_state", space=space))[0])

    async def neighborhood(
        self, space: str, name: str, entity_type: str, limit: int, only: FactFilter
    ) -> Neighborhood:
        """An entity's neighbours with up to three facts each."""
        named = [entity(row) for row in await self._database.read("entities_named", space=space, key=name)]
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


def _state(row: dict[str, Any]) -> SpaceState:
    return SpaceState(row["revision"], row["vectors"], row["model"] or "")


def _add_hit(hits: WordHits, row: dict[str, Any]) -> None:
    if row["leg"] == "sentence":
        hits.sentences.append((_sentence_facts(row), row["score"]))
        return
    scored = ScoredFact(stated_fact(row["fact"], row["cited"]), row["score"])
    (hits.text if row["leg"] == "text" else hits.entity).append(scored)


def _sentence_facts(row: dict[str, Any]) -> list[Fact]:
    uuid, text = row["sentence"]
    ends = [entity_ref(*named) for named in row["named"]]
    return [local_fact(uuid, text, ends[0], target, row["place"]) for target in ends[1:]]

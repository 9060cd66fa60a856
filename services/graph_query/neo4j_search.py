"""Searches in Neo4j: one round trip for stated facts, one for sentences, one for vectors, at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from services.graph_query.domain import Fact, FactFilter
from services.graph_query.intervals import OPEN
from services.graph_query.lucene import ends_clause, relation_clause, words_query
from services.graph_query.names import link_key
from services.graph_query.neo4j_database import Database
from services.graph_query.neo4j_records import entity_ref, local_fact, stated_fact
from services.graph_query.store import Hit, SpaceState, WordHits

# Fused lists need to reach deeper than what is shown.
_DEPTH = 20
_FETCH = 5_000
_FETCH_FILTERED = 50_000
_FETCH_BEYOND = 1_000_000
# Of 40 that the index takes for nearest, the first 20 are so with a recall of .994; of 20, with .986.
_FETCH_VECTORS = 40
_CITATIONS = 5
_CO_OCCURS = "co_occurs"


class Neo4jSearch:
    """Searches for facts. Raises what `GraphStore` says."""

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
        """Facts by words and by named entities, sentences by words."""
        parameters = {**filter_parameters(space, only), "limit": limit + _DEPTH, "only": []}
        if only.entity_key:
            state, parameters["only"] = await _filtered(self._database, space, only.entity_key)
            if not parameters["only"]:
                return WordHits(state)
            link_keys = [link_key(only.entity_key)]
        try:
            async with asyncio.TaskGroup() as group:
                stated = group.create_task(_stated(self._database, terms, link_keys, parameters))
                sentences = group.create_task(_sentences(self._database, terms, limit, parameters))
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0] from None
        found = stated.result()
        found.sentences.extend(sentences.result())
        return found

    async def search_vector(
        self, space: str, vector: Sequence[float], only: FactFilter, limit: int, *, exact: bool
    ) -> list[Hit]:
        """Stated facts by cosine similarity; a filter by entity is always exact."""
        name = "search_vector_relation" if only.relation else "search_vector_index"
        if only.entity_key:
            name = "search_vector_entity"
        elif exact:
            name = "search_vector_exact"
        rows = await self._database.read(
            name,
            vector=list(vector),
            limit=limit + _DEPTH,
            fetch=max(limit + _DEPTH, _FETCH_VECTORS),
            **filter_parameters(space, only),
        )
        return [Hit(*hit) for hit in rows[0]["hits"]]

    async def facts(self, space: str, uuids: Sequence[str]) -> dict[str, Fact]:
        """Those of the stated facts that are there, in full."""
        if not uuids:
            return {}
        rows = await self._database.read(
            "facts_in_full", space=space, uuids=list(uuids), citations=_CITATIONS
        )
        found = (stated_fact(columns, cited) for columns, cited in rows[0]["facts"])
        return {fact.uuid: fact for fact in found}


def filter_parameters(space: str, only: FactFilter) -> dict[str, Any]:
    """What every query that filters facts is given."""
    return {
        "space": space,
        "since": only.since,
        "until": only.until,
        "entity_key": only.entity_key,
        "relation": only.relation.lower(),
        "open": OPEN,
        "citations": _CITATIONS,
    }


async def _filtered(
    database: Database, space: str, entity_key: str
) -> tuple[SpaceState, list[str]]:
    """The space, and the entities that a filter by name lets pass."""
    row = (await database.read("search_state", space=space, entity_key=entity_key))[0]
    return SpaceState(row["revision"], row["vectors"], row["model"]), row["only"]


async def _stated(
    database: Database, terms: Sequence[str], link_keys: Sequence[str], parameters: dict[str, Any]
) -> WordHits:
    lucene = words_query(parameters["space"], ("fact", "name"), terms)
    if lucene:
        lucene += ends_clause(parameters["only"]) + relation_clause(parameters["relation"])
    told = {**parameters, "lucene": lucene}
    rows = await database.read("search_facts", fetch=_FETCH, link_keys=list(link_keys), **told)
    row = rows[0]
    text = row["text"]
    if lucene and len(text) < parameters["limit"] and row["stored"] > _FETCH:
        text += await _beyond(database, told, parameters["limit"] - len(text))
    return WordHits(
        SpaceState(row["revision"], row["vectors"], row["model"]),
        text=sorted((Hit(*hit) for hit in text), key=lambda hit: (-hit.score, hit.uuid)),
        entity=[Hit(*hit) for hit in row["entity"]],
    )


async def _beyond(database: Database, parameters: dict[str, Any], missing: int) -> list[Any]:
    """Facts that pass the filter after the first that were fetched: few of a large graph may hold at a time."""
    told = {**parameters, "limit": missing, "skip": _FETCH, "fetch": _FETCH_BEYOND}
    hits: list[Any] = (await database.read("search_beyond", **told))[0]["text"]
    return hits


async def _sentences(
    database: Database, terms: Sequence[str], limit: int, parameters: dict[str, Any]
) -> list[tuple[list[Fact], float]]:
    lucene = words_query(parameters["space"], ("text",), terms)
    if not lucene or parameters["relation"] not in ("", _CO_OCCURS):
        return []
    fetch = _FETCH_FILTERED if parameters["only"] else _FETCH
    told = {**parameters, "limit": limit, "lucene": lucene, "fetch": fetch}
    rows = await database.read("search_sentences", **told)
    return [(_sentence_facts(*columns), score) for score, *columns in rows[0]["sentences"]]


def _sentence_facts(
    uuid: str, text: str, place: Sequence[Sequence[Any]], named: Sequence[Sequence[Any]]
) -> list[Fact]:
    ends = [entity_ref(*columns) for columns in named]
    return [local_fact(uuid, text, ends[0], target, place) for target in ends[1:]]

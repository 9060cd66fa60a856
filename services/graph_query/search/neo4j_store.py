"""Searches in Neo4j: one round trip each for stated facts, sentences and vectors, concurrently."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from services.graph_query.core.domain import Fact, FactFilter
from services.graph_query.core.full_text import (
    ends_clause,
    relation_beginnings,
    relation_clause,
    words_query,
)
from services.graph_query.core.names import link_key
from services.graph_query.core.store import Hit, SpaceState, WordHits
from services.graph_query.neo4j.database import Database
from services.graph_query.neo4j.row_mapping import (
    CITATIONS,
    entity_ref,
    filter_parameters,
    local_fact,
    packed,
    stated_fact,
)

# Lists are fused to a greater depth than is returned.
_DEPTH = 20


# Fetching fewer returns sooner; if too few of them pass the filter, more and more are fetched.
_FETCH = 500


_FETCH_BEYOND = (5_000, 1_000_000)


_FETCH_SENTENCES = 5_000


_FETCH_FILTERED = 50_000


# Of the 40 nearest by the index, the first 20 have a recall of .994; of only 20, .986. Each ten cost a millisecond.
_FETCH_VECTORS = 20


_DEPTH_VECTORS = 10


# The number of relations whose past events are searched by vector: each takes as long as an index search.
_EVENT_RELATIONS = 20


# Sentences rank below stated facts, and reading the names in each takes longer than finding it.
_MAX_SENTENCES = 20


_MAX_SENTENCES_WITH_FACTS = 10


# Read in addition, as facts may contradict some sentences.
_SPARE_SENTENCES = 10


_CO_OCCURS = "co_occurs"


class Neo4jSearch:
    """Searches for facts. Raises what `GraphStore` raises."""

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
        """Finds facts by words and by named entities, and sentences by words."""
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
        most = _MAX_SENTENCES_WITH_FACTS if found.text or found.entity else _MAX_SENTENCES
        found.sentences.extend(sentences.result()[:most])
        return found

    async def search_vector(
        self, space: str, vector: Sequence[float], only: FactFilter, limit: int, *, exact: bool
    ) -> list[Hit]:
        """Finds stated facts by cosine similarity; a filter by entity always compares exactly."""
        name = "search_vector_relation" if only.relation else "search_vector_index"
        if only.entity_key:
            name = "search_vector_entity"
        elif exact:
            name = "search_vector_exact"
        rows = await self._database.read(
            name,
            vector=packed(vector),
            limit=limit + _DEPTH,
            fetch=max(limit + _DEPTH_VECTORS, _FETCH_VECTORS),
            events=_EVENT_RELATIONS,
            **filter_parameters(space, only),
        )
        return [Hit(*hit) for hit in rows[0]["hits"]]

    async def facts(self, space: str, uuids: Sequence[str]) -> dict[str, Fact]:
        """Returns the stated facts that exist, in full."""
        if not uuids:
            return {}
        rows = await self._database.read(
            "facts_in_full", space=space, uuids=list(uuids), citations=CITATIONS
        )
        found = (stated_fact(*value) for value in rows[0]["facts"])
        return {fact.uuid: fact for fact in found}


async def _filtered(
    database: Database, space: str, entity_key: str
) -> tuple[SpaceState, list[str]]:
    """Returns the space's state, and the entities that a filter by name selects."""
    row = (await database.read("search_state", space=space, entity_key=entity_key))[0]
    return _state(row), row["only"]


def _state(row: dict[str, Any]) -> SpaceState:
    return SpaceState(row["revision"], row["vectors"], row["model"], row["dimension"])


async def _stated(
    database: Database, terms: Sequence[str], link_keys: Sequence[str], parameters: dict[str, Any]
) -> WordHits:
    """Finds stated facts by words and named entities; returns also the space's state."""
    lucene = words_query(parameters["space"], ("fact", "name", "braid_words"), terms)
    if lucene:
        lucene += ends_clause(parameters["only"]) + relation_clause(parameters["relation"])
    values = {**parameters, "lucene": lucene}
    rows = await database.read(
        "search_facts",
        fetch=_FETCH,
        link_keys=list(link_keys),
        beginnings=relation_beginnings(terms),
        **values,
    )
    row = rows[0]
    text = row["text"]
    skip = _FETCH
    for fetch in _FETCH_BEYOND if lucene else ():
        if len(text) >= parameters["limit"] or row["stored"] <= skip:
            break
        more = {**values, "limit": parameters["limit"] - len(text), "skip": skip, "fetch": fetch}
        text += (await database.read("search_facts_more", **more))[0]["text"]
        skip += fetch
    return WordHits(
        _state(row),
        text=sorted((Hit(*hit) for hit in text), key=lambda hit: (-hit.score, hit.uuid)),
        entity=[Hit(*hit) for hit in row["entity"]],
    )


async def _sentences(
    database: Database, terms: Sequence[str], limit: int, parameters: dict[str, Any]
) -> list[tuple[list[Fact], float]]:
    """Finds sentences; none without a query if there are no words, or for a relation that sentences do not have."""
    lucene = words_query(parameters["space"], ("text", "braid_words"), terms)
    if not lucene or parameters["relation"] not in ("", _CO_OCCURS):
        return []
    limit = min(limit, _MAX_SENTENCES)
    fetch = _FETCH_FILTERED if parameters["only"] else _FETCH_SENTENCES
    values = {
        **parameters,
        "limit": limit,
        "checked": limit + _SPARE_SENTENCES,
        "lucene": lucene,
        "fetch": fetch,
    }
    row = (await database.read("search_sentences", **values))[0]
    return [(_sentence_facts(*columns), score) for score, *columns in row["sentences"]]


def _sentence_facts(
    uuid: str,
    text: str,
    place: Sequence[Sequence[Any]],
    named: Sequence[Sequence[Any]],
    *period: float | None,
) -> list[Fact]:
    ends = [entity_ref(*columns) for columns in named]
    return [local_fact(uuid, text, (ends[0], target), place, period) for target in ends[1:]]

"""Reads the existing graph in the form that Graphiti needs to find what is new."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from services.graph_query.core.domain import FactFilter, Scalar
from services.graph_query.core.full_text import name_candidates, query_terms, words_query
from services.graph_query.core.identity import document_uuid
from services.graph_query.core.intervals import OPEN
from services.graph_query.core.names import name_key
from services.graph_query.core.store import GraphStore
from services.graph_query.embeddings.space_models import EXACT_LIMIT
from services.graph_query.neo4j.database import Database, Rows
from services.graph_query.neo4j.row_mapping import entity_type, instant

_ALWAYS = FactFilter(-OPEN, OPEN)


@dataclass(frozen=True, slots=True)
class KnownEntity:
    """An entity of the graph."""

    uuid: str
    name: str
    type: str
    summary: str
    created_at: datetime
    attributes: Mapping[str, Scalar]


@dataclass(frozen=True, slots=True)
class KnownFact:
    """A fact of the graph; open ends are None."""

    uuid: str
    source: str
    target: str
    relation: str
    fact: str
    episodes: tuple[str, ...]
    created_at: datetime
    valid_at: datetime | None
    invalid_at: datetime | None
    expired_at: datetime | None
    attributes: Mapping[str, Scalar]
    source_name: tuple[str, str]
    target_name: tuple[str, str]


@dataclass(frozen=True, slots=True)
class KnownEpisode:
    """An episode of the graph."""

    uuid: str
    name: str
    content: str
    source: str
    created_at: datetime
    valid_at: datetime


class GraphReader(Protocol):
    """The reads of one space that Graphiti needs. Vectors are of the tier's own model."""

    async def named(self, names: Sequence[str]) -> list[KnownEntity]:
        """Returns entities with these names, ignoring case."""

    async def entities(self, uuids: Sequence[str]) -> list[KnownEntity]:
        """Returns the entities that exist."""

    async def entities_like(
        self, vector: Sequence[float], limit: int, least: float
    ) -> list[KnownEntity]:
        """Returns entities by their names' similarity, from 0 to 1, above `least`."""

    async def entities_in(self, query: str, limit: int) -> list[KnownEntity]:
        """Returns entities that a text names."""

    async def facts_like(
        self, vector: Sequence[float], limit: int, least: float
    ) -> list[KnownFact]:
        """Returns facts by similarity, from 0 to 1, above `least`."""

    async def facts_with(self, query: str, limit: int) -> list[KnownFact]:
        """Returns facts by words."""

    async def facts_between(
        self, sources: Sequence[str], targets: Sequence[str], vector: Sequence[float], limit: int
    ) -> list[KnownFact]:
        """Returns all facts from `sources` to `targets`, most similar first, those without a vector last."""

    async def episodes_with(self, query: str, limit: int) -> list[KnownEpisode]:
        """Returns episodes by words."""

    async def episodes_before(self, document_id: str, limit: int) -> list[KnownEpisode]:
        """Returns the latest episodes of a document, oldest first."""


class Neo4jGraphReader:
    """A `GraphReader` on Neo4j, using the same searches as the tier's own reads."""

    def __init__(self, database: Database, store: GraphStore, space: str, model: str) -> None:
        """`model` is that of the compared vectors; in a space with another model no vector matches."""
        self._database = database
        self._store = store
        self._space = space
        self._model = model

    async def named(self, names: Sequence[str]) -> list[KnownEntity]:
        """Returns entities with these names."""
        keys = sorted({name_key(name) for name in names} - {""})
        return [_entity(row) for row in await self._read("known_by_name", keys=keys)]

    async def entities(self, uuids: Sequence[str]) -> list[KnownEntity]:
        """Returns the entities that exist."""
        rows = await self._read("known_by_uuid", uuids=sorted(uuids))
        return [_entity(row) for row in rows]

    async def entities_like(
        self, vector: Sequence[float], limit: int, least: float
    ) -> list[KnownEntity]:
        """Uses the index; in a small space, compares all entities."""
        if not await self._fits():
            return []
        few = (await self._read("count_entities", limit=EXACT_LIMIT + 1))[0]["entities"]
        name = "known_by_index" if few > EXACT_LIMIT else "known_by_comparison"
        rows = await self._read(name, vector=list(vector), limit=limit, least=least)
        return [_entity(row) for row in rows]

    async def entities_in(self, query: str, limit: int) -> list[KnownEntity]:
        """Returns entities whose linking keys occur in the text."""
        rows = await self._read("known_by_link", keys=name_candidates(query), limit=limit)
        return [_entity(row) for row in rows]

    async def facts_like(
        self, vector: Sequence[float], limit: int, least: float
    ) -> list[KnownFact]:
        """Uses the index; in a small space, compares all facts."""
        state = (await self._read("search_state", entity_key=""))[0]
        if not state["vectors"] or state["model"] != self._model:
            return []
        exact = state["vectors"] <= EXACT_LIMIT
        hits = await self._store.search_vector(self._space, vector, _ALWAYS, limit, exact=exact)
        # Scores of facts are cosines, -1 to 1.
        near = [hit.uuid for hit in hits if (hit.score + 1) / 2 > least]
        return await self._facts(near[:limit])

    async def facts_with(self, query: str, limit: int) -> list[KnownFact]:
        """Uses the tier's own search by words."""
        found = await self._store.search_words(self._space, query_terms(query), [], _ALWAYS, limit)
        return await self._facts([hit.uuid for hit in found.text[:limit]])

    async def facts_between(
        self, sources: Sequence[str], targets: Sequence[str], vector: Sequence[float], limit: int
    ) -> list[KnownFact]:
        """Reads the entities' own edges, so that no fact is missed."""
        parameters = {
            "sources": sorted(set(sources)),
            "targets": sorted(set(targets)),
            "limit": limit,
        }
        near = list(vector) if await self._fits() else []
        rows = await self._read("known_facts_between", vector=near, **parameters)
        return [_fact(row) for row in rows]

    async def episodes_with(self, query: str, limit: int) -> list[KnownEpisode]:
        """Matches the folded words of passages."""
        lucene = words_query(self._space, ("words",), query_terms(query))
        rows = await self._read("known_episodes", lucene=lucene, limit=limit) if lucene else []
        return [_episode(row) for row in rows]

    async def episodes_before(self, document_id: str, limit: int) -> list[KnownEpisode]:
        """Returns the latest episodes of a document."""
        uuid = document_uuid(self._space, document_id)
        rows = await self._read("episodes_before", document=uuid, limit=limit)
        return [_episode(row) for row in reversed(rows)]

    async def _fits(self) -> bool:
        """Returns whether the space's vectors are of the model; during a change of models they are of none."""
        state = (await self._read("embedding_state"))[0]
        return not state["changing"] and state["model"] == self._model

    async def _facts(self, uuids: Sequence[str]) -> list[KnownFact]:
        rows = await self._read("known_facts", uuids=list(uuids)) if uuids else []
        return [_fact(row) for row in rows]

    async def _read(self, name: str, **parameters: Any) -> Rows:
        return await self._database.read(name, space=self._space, **parameters)


def _entity(row: Mapping[str, Any]) -> KnownEntity:
    return KnownEntity(
        row["uuid"],
        row["name"],
        entity_type(row["labels"]),
        row["summary"],
        _known_instant(row["created_at"]),
        dict(row["attributes"]),
    )


def _fact(row: Mapping[str, Any]) -> KnownFact:
    return KnownFact(
        uuid=row["uuid"],
        source=row["source"],
        target=row["target"],
        relation=row["relation"],
        fact=row["fact"],
        episodes=tuple(row["episodes"]),
        created_at=_known_instant(row["created_at"]),
        valid_at=instant(row["valid_at"]),
        invalid_at=instant(row["invalid_at"]),
        expired_at=instant(row["expired_at"]),
        attributes=dict(row["attributes"]),
        source_name=(row["source_name"], entity_type(row["source_labels"])),
        target_name=(row["target_name"], entity_type(row["target_labels"])),
    )


def _episode(row: Mapping[str, Any]) -> KnownEpisode:
    return KnownEpisode(
        row["uuid"],
        row["name"],
        row["content"],
        row["source"],
        _known_instant(row["created_at"]),
        _known_instant(row["valid_at"]),
    )


def _known_instant(value: Any) -> datetime:
    found = instant(value)
    if found is None:
        raise ValueError("an instant is missing in the graph")
    return found

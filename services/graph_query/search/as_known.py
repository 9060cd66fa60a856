"""Searches for facts as they were known at an instant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from services.graph_query.core.domain import FactFilter
from services.graph_query.core.full_text import words_query
from services.graph_query.core.identity import entity_uuid
from services.graph_query.core.names import link_key
from services.graph_query.core.store import Hit, SpaceState, WordHits
from services.graph_query.neo4j.database import Database
from services.graph_query.neo4j.row_mapping import filter_parameters, packed


class Known(NamedTuple):
    """A filter applied to what was known at `known`, in epoch seconds, with a limit."""

    only: FactFilter
    known: float
    limit: int


class AsKnownStore(Protocol):
    """Searches stated facts as they were known at an instant. Raises what `GraphStore` raises.

    Facts that were deleted since are found by their words, not by their vectors.
    """

    async def search_words_known(
        self,
        space: str,
        terms: Sequence[str],
        link_keys: Sequence[str],
        at: Known,
    ) -> WordHits:
        """Finds facts by words and by the entities with the given linking keys."""

    async def search_vector_known(
        self,
        space: str,
        vector: Sequence[float],
        at: Known,
        state: SpaceState,
    ) -> tuple[list[Hit], bool]:
        """Finds facts by cosine similarity, best first; returns also whether every fact was compared."""


_DEPTH = 20


_FETCH = 50_000


# Of this many nearest facts, those known at the instant are kept; if they are too few, every fact is compared.
_FETCH_VECTORS = 1_000


class Neo4jAsKnown:
    """Implements `AsKnownStore` on Neo4j."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def search_words_known(
        self,
        space: str,
        terms: Sequence[str],
        link_keys: Sequence[str],
        at: Known,
    ) -> WordHits:
        """Finds facts by words and by named entities."""
        lucene = words_query(space, ("fact", "name", "braid_words"), terms)
        keys = [link_key(at.only.entity_key)] if at.only.entity_key else list(link_keys)
        row = (
            await self._database.read(
                "search_facts_as_known",
                lucene=lucene,
                lucene_past=lucene,
                link_keys=keys,
                fetch=_FETCH,
                **await self._parameters(space, at),
            )
        )[0]
        return WordHits(
            SpaceState(row["revision"], row["vectors"], row["model"], row["dimension"]),
            text=[Hit(*hit) for hit in row["text"]],
            entity=[Hit(*hit) for hit in row["entity"]],
        )

    async def search_vector_known(
        self,
        space: str,
        vector: Sequence[float],
        at: Known,
        state: SpaceState,
    ) -> tuple[list[Hit], bool]:
        """Finds facts by cosine similarity."""
        result = await self._parameters(space, at)
        result |= {"vector": packed(vector), "fetch": _FETCH_VECTORS}
        if state.vectors > _FETCH_VECTORS and not at.only.entity_key and not at.only.relation:
            hits = await self._near("search_vectors_as_known", result)
            if len(hits) >= at.limit:
                return hits, False
        return await self._near("search_vectors_as_known_exact", result), True

    async def _near(self, name: str, parameters: dict[str, Any]) -> list[Hit]:
        rows = await self._database.read(name, **parameters)
        return [Hit(*hit) for hit in rows[0]["hits"]]

    async def _parameters(self, space: str, at: Known) -> dict[str, Any]:
        only = at.only
        named: list[str] = []
        if only.entity_key:
            rows = await self._database.read("entities_named", space=space, key=only.entity_key)
            # A deleted entity has no name any more; its uuid is derived from its former name.
            plain = entity_uuid(space, only.entity_key)
            named = sorted({plain, *(row["uuid"] for row in rows)})
        return {
            **filter_parameters(space, only),
            "only": named,
            "known": at.known,
            "limit": at.limit + _DEPTH,
        }

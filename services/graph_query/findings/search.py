"""SearchFindings: searches by words and vectors concurrently under a filter, or lists what passes the filter."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from services.graph_query.core.full_text import query_terms
from services.graph_query.core.store import Hit, SpaceState, VectorPath, WordHits
from services.graph_query.embeddings.space_models import (
    EXACT_LIMIT,
    DegradationReason,
    QueryVector,
    query_vector,
)
from services.graph_query.findings.domain import Finding, FindingFilter, FindingStore, Position
from services.graph_query.search.ranking import Ranked, Scores, fuse
from services.models.embedding.embedder import Embedder

# Lists are fused to a greater depth than is returned.
_DEPTH = 20


@dataclass(frozen=True, slots=True)
class FindingSearch:
    """A question; an empty one lists findings that pass the filter, newest first, after a position."""

    query: str
    limit: int
    only: FindingFilter = field(default_factory=FindingFilter)
    after: Position | None = None
    vector: QueryVector | None = None
    text_only: bool = False


class FoundFinding(NamedTuple):
    """A finding with its scores."""

    finding: Finding
    scores: Scores


@dataclass(frozen=True, slots=True)
class FindingAnswer:
    """Findings in order; the degradation, the vector path, and the position from which a listing continues."""

    hits: list[FoundFinding]
    revision: int
    shortfall: DegradationReason | None = None
    path: VectorPath | None = None
    next: Position | None = None


class FindingSearcher:
    """Finds and lists findings."""

    def __init__(self, store: FindingStore, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder

    async def search(self, space: str, search: FindingSearch) -> FindingAnswer:
        """Searches or lists. Raises what the store raises."""
        state = await self._store.finding_state(space)
        if not search.query.strip():
            return await self._list(space, search, state)
        vector, shortfall = await query_vector(
            self._embedder, search.query, search.vector, state, text_only=search.text_only
        )
        terms = query_terms(search.query)
        depth = search.limit + _DEPTH
        exact = state.vectors <= EXACT_LIMIT
        try:
            async with asyncio.TaskGroup() as group:
                words = group.create_task(
                    self._store.findings_by_text(space, terms, search.only, depth)
                )
                near = group.create_task(self._near(space, vector, search.only, depth, exact=exact))
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0] from None
        found = WordHits(state, text=words.result())
        ranked = fuse(found, near.result(), terms=terms, entity_key="", limit=search.limit)
        hits = await self._in_full(space, ranked)
        path = None if vector is None else _path(search.only, exact=exact)
        return FindingAnswer(hits, state.revision, shortfall, path)

    async def _near(
        self,
        space: str,
        vector: Sequence[float] | None,
        only: FindingFilter,
        limit: int,
        *,
        exact: bool,
    ) -> list[Hit]:
        if vector is None:
            return []
        return await self._store.findings_by_vector(space, vector, only, limit, exact=exact)

    async def _list(self, space: str, search: FindingSearch, state: SpaceState) -> FindingAnswer:
        places = await self._store.list_findings(space, search.only, search.after, search.limit + 1)
        page = places[: search.limit]
        ranked = [Ranked(place.uuid, Scores(), None) for place in page]
        following = page[-1] if len(places) > search.limit else None
        hits = await self._in_full(space, ranked)
        return FindingAnswer(hits, state.revision, next=following)

    async def _in_full(self, space: str, ranked: Sequence[Ranked]) -> list[FoundFinding]:
        """Returns the ranked findings in full; one deleted concurrently is omitted."""
        found = await self._store.findings(space, [one.uuid for one in ranked])
        return [FoundFinding(found[one.uuid], one.scores) for one in ranked if one.uuid in found]


def _path(only: FindingFilter, *, exact: bool) -> VectorPath:
    return VectorPath.EXACT if exact or not only.is_indexable else VectorPath.INDEX

"""Searches and reads in PostgreSQL: one stored function per search, with rows mapped to domain types."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from pgvector import HalfVector

from services.postgres.pool import Row
from services.vector_search.database import Database
from services.vector_search.domain import (
    Chunk,
    ChunkScore,
    Hit,
    Model,
    QueryVector,
    Scores,
    Search,
    SearchResult,
    SpaceState,
    TextMatch,
    VectorPath,
    metadata_of,
)


class PostgresSearch(Database):
    """Searches, scores and chunks by id."""

    async def search(self, space: str, search: Search) -> SearchResult:
        """Calls the stored function once."""
        query: str = "search_chunks"
        more: tuple[int, ...] = ()
        if search.match is not TextMatch.ANY:
            query, more = "search_matches", (int(search.match),)
        rows = await self._readers.read(
            space,
            lambda session: session.fetch(self._queries[query], space, *_arguments(search), *more),
            revision_of=lambda found: int(found[0]["revision"]),
        )
        first = rows[0]
        return SearchResult(
            hits=[_hit(row) for row in rows if row["id"] is not None],
            revision=first["revision"],
            path=VectorPath(first["path"]),
            model=_model(first["space_model"], first["space_dimension"]),
            chunk_count=first["space_chunks"],
        )

    async def space_state(self, space: str) -> SpaceState:
        """Reads one row by its key."""
        # From the primary: checking a replica's answer would take the same query there.
        async with self._readers.primary.session() as session:
            row = await session.row(self._queries["space_state"], space)
        if row is None:
            return SpaceState(0, True)
        model = _model(row["space_model"], row["space_dimension"])
        return SpaceState(row["revision"], row["flags_current"], model)

    async def score_chunks(
        self,
        space: str,
        text: str,
        vector: QueryVector,
        chunk_ids: Sequence[str],
        text_weight: float,
        *,
        at: datetime | None = None,
    ) -> tuple[Model | None, list[ChunkScore]]:
        """Returns exact scores, in the requested order."""
        rows = await self._readers.read(
            space,
            lambda session: session.fetch(
                self._queries["score_chunks"],
                space,
                text,
                HalfVector(vector.values),
                vector.model,
                list(chunk_ids),
                text_weight,
                at,
            ),
        )
        if not rows:
            return None, []
        found = {str(row["id"]): row for row in rows}
        scores = [
            ChunkScore(
                chunk_id,
                row["vector"],
                row["text"],
                row["text_fused"],
                row["score"],
                row["in_force"],
            )
            for chunk_id in chunk_ids
            if (row := found.get(chunk_id)) is not None
        ]
        return _model(rows[0]["space_model"], rows[0]["space_dimension"]), scores

    async def get_chunks(
        self, space: str, chunk_ids: Sequence[str], as_of: datetime | None = None
    ) -> list[Chunk]:
        """Returns chunks in the requested order."""
        rows = await self._readers.read(
            space,
            lambda session: session.fetch(
                self._queries["get_chunks"], space, list(chunk_ids), as_of
            ),
        )
        found = {str(row["id"]): row for row in rows}
        return [_chunk(found[chunk_id]) for chunk_id in chunk_ids if chunk_id in found]


def _arguments(search: Search) -> tuple[object, ...]:
    vector = search.vector
    return (
        search.text,
        None if vector is None else HalfVector(vector.values),
        None if vector is None else vector.model,
        search.limit,
        search.text_weight,
        int(search.fusion),
        search.min_score,
        list(search.document_ids) or None,
        json.dumps(search.metadata) if search.metadata else None,
        search.as_of,
    )


def _hit(row: Row) -> Hit:
    scores = Scores(
        vector=row["vector"],
        text=row["text"],
        vector_fused=row["vector_fused"],
        text_fused=row["text_fused"],
        vector_rank=row["vector_rank"],
        text_rank=row["text_rank"],
    )
    return Hit(_chunk(row), row["score"], scores)


def _chunk(row: Row) -> Chunk:
    return Chunk(
        id=str(row["id"]),
        document_id=row["document_id"],
        title=row["title"],
        source=row["source"],
        content=row["content"],
        ordinal=row["ordinal"],
        start_char=row["start_char"],
        end_char=row["end_char"],
        metadata=metadata_of(row["metadata"]),
        valid_time=row["valid_from"],
        page=row["page"],
    )


def _model(name: str | None, dimension: int | None) -> Model | None:
    return None if name is None or dimension is None else Model(name, dimension)

"""VectorSearchService: maps messages to the searcher and back."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypeAlias

from braid.common.v1 import legs_pb2, retrieval_pb2
from braid.vector.v1 import chunks_pb2, search_pb2, search_pb2_grpc
from services.models.embedding.query_embedder import VectorSource
from services.models.embedding.relevance import DEFAULT_TEXT_WEIGHT
from services.runtime.context import current_call
from services.runtime.leg_reports import LegEnd, found_or_not, leg_report
from services.vector_search.domain import (
    Chunk,
    ChunkScore,
    FusionKind,
    QueryVector,
    Search,
    TextMatch,
)
from services.vector_search.search.searcher import DegradationReason, Searcher
from services.vector_search.servicers.mapping import (
    chunk_filter,
    chunk_message,
    hit_message,
    instant,
    query_vector,
)
from services.vector_search.store import VectorStore

Context: TypeAlias = Any
AnySearch: TypeAlias = (
    search_pb2.VectorSearchRequest | search_pb2.TextSearchRequest | search_pb2.HybridSearchRequest
)

_DEFAULT_LIMIT = 10
_SHORTFALLS: dict[DegradationReason | None, LegEnd] = {
    DegradationReason.EMBEDDER_UNAVAILABLE: (
        legs_pb2.LEG_STATUS_DEGRADED,
        legs_pb2.LEG_REASON_EMBEDDER_UNAVAILABLE,
    ),
    DegradationReason.MODEL_MISMATCH: (
        legs_pb2.LEG_STATUS_DEGRADED,
        legs_pb2.LEG_REASON_MODEL_MISMATCH,
    ),
    DegradationReason.RERANKER_UNAVAILABLE: (
        legs_pb2.LEG_STATUS_DEGRADED,
        legs_pb2.LEG_REASON_RERANKER_UNAVAILABLE,
    ),
    DegradationReason.LATE: (legs_pb2.LEG_STATUS_TIMED_OUT, legs_pb2.LEG_REASON_BUDGET_EXCEEDED),
}


class SearchServicer(search_pb2_grpc.VectorSearchServiceServicer):
    """Searches and reads of the caller's space."""

    def __init__(self, searcher: Searcher, store: VectorStore) -> None:
        self._searcher = searcher
        self._store = store

    async def VectorSearch(
        self, request: search_pb2.VectorSearchRequest, _context: Context
    ) -> search_pb2.VectorSearchResponse:
        """See the contract."""
        started = time.perf_counter_ns()
        result = await self._searcher.search_vector(
            request.query, _search(request), _given_vector(request)
        )
        return search_pb2.VectorSearchResponse(
            hits=map(hit_message, result.hits),
            leg=_report(legs_pb2.LEG_VECTOR, result, started),
            result_count=len(result.hits),
            vector_path=retrieval_pb2.VectorPath.ValueType(result.path),
            space_revision=result.revision,
            embedding_source=_source(result.embedding),
        )

    async def TextSearch(
        self, request: search_pb2.TextSearchRequest, _context: Context
    ) -> search_pb2.TextSearchResponse:
        """See the contract."""
        started = time.perf_counter_ns()
        match = TextMatch(request.match or TextMatch.ANY)
        search = _search(request, text=request.query, match=match)
        result = await self._searcher.search_text(search)
        return search_pb2.TextSearchResponse(
            hits=map(hit_message, result.hits),
            leg=_report(legs_pb2.LEG_TEXT, result, started),
            result_count=len(result.hits),
            space_revision=result.revision,
        )

    async def HybridSearch(
        self, request: search_pb2.HybridSearchRequest, _context: Context
    ) -> search_pb2.HybridSearchResponse:
        """See the contract."""
        started = time.perf_counter_ns()
        weighted = request.HasField("text_weight")
        search = _search(
            request,
            text=request.query,
            text_weight=request.text_weight if weighted else DEFAULT_TEXT_WEIGHT,
            fusion=FusionKind(request.fusion) or FusionKind.WEIGHTED_SCORE,
        )
        found = await self._searcher.search_hybrid(
            request.query, search, _given_vector(request), text_only=request.text_only
        )
        return search_pb2.HybridSearchResponse(
            hits=map(hit_message, found.result.hits),
            leg=_report(
                legs_pb2.LEG_HYBRID, found.result, started, _SHORTFALLS.get(found.shortfall)
            ),
            result_count=len(found.result.hits),
            vector_path=retrieval_pb2.VectorPath.ValueType(found.result.path),
            space_revision=found.result.revision,
            embedding_source=_source(found.result.embedding),
            embedding_model=found.result.model.name if found.result.model else "",
            relevance_floor=found.floor,
            list_floor=found.list_floor,
            nearest=map(hit_message, found.nearest),
        )

    async def ScoreChunks(
        self, request: search_pb2.ScoreChunksRequest, _context: Context
    ) -> search_pb2.ScoreChunksResponse:
        """See the contract."""
        ids = _ids(request.chunk_ids)
        at = instant(request.as_of, "as_of") if request.HasField("as_of") else None
        weighted = request.HasField("text_weight")
        scores, source = await self._searcher.scores(
            request.query,
            ids,
            _given_vector(request),
            text_weight=request.text_weight if weighted else DEFAULT_TEXT_WEIGHT,
            at=at,
            use_cache=request.cache != retrieval_pb2.CACHE_MODE_BYPASS,
        )
        chunks = await self._chunks_of(scores, at) if request.include_chunks else {}
        return search_pb2.ScoreChunksResponse(
            scores=(_score_message(score, chunks.get(score.chunk_id)) for score in scores),
            embedding_source=_source(source),
        )

    async def GetChunks(
        self, request: search_pb2.GetChunksRequest, _context: Context
    ) -> search_pb2.GetChunksResponse:
        """See the contract."""
        chunks = await self._store.get_chunks(current_call().space, _ids(request.chunk_ids))
        return search_pb2.GetChunksResponse(chunks=map(chunk_message, chunks))

    async def _chunks_of(
        self, scores: Sequence[ChunkScore], at: datetime | None
    ) -> dict[str, Chunk]:
        ids = [score.chunk_id for score in scores]
        chunks = await self._store.get_chunks(current_call().space, ids, at)
        return {chunk.id: chunk for chunk in chunks}


def _score_message(score: ChunkScore, chunk: Chunk | None) -> search_pb2.ChunkScore:
    parts = chunks_pb2.ChunkScores(
        vector=score.vector,
        text=score.text,
        vector_fused=None if score.vector is None else max(score.vector, 0.0),
        text_fused=score.text_fused,
    )
    return search_pb2.ChunkScore(
        chunk_id=score.chunk_id,
        scores=parts,
        score=score.score,
        in_force=score.in_force,
        chunk=None if chunk is None else chunk_message(chunk),
    )


def _search(request: AnySearch, **more: Any) -> Search:
    document_ids, metadata = chunk_filter(request.filter)
    return Search(
        limit=request.limit if request.HasField("limit") else _DEFAULT_LIMIT,
        min_score=request.min_score if request.HasField("min_score") else None,
        document_ids=document_ids,
        metadata=metadata,
        as_of=instant(request.as_of, "as_of") if request.HasField("as_of") else None,
        use_cache=request.cache != retrieval_pb2.CACHE_MODE_BYPASS,
        **more,
    )


def _given_vector(
    request: search_pb2.VectorSearchRequest
    | search_pb2.HybridSearchRequest
    | search_pb2.ScoreChunksRequest,
) -> QueryVector | None:
    if not request.HasField("query_embedding"):
        return None
    return query_vector(request.query_embedding)


def _ids(values: Sequence[str]) -> list[str]:
    """Returns ids in the store's form, without duplicates."""
    return list(dict.fromkeys(value.lower() for value in values))


def _report(
    leg: legs_pb2.Leg.ValueType, result: Any, started: int, shortfall: LegEnd | None = None
) -> legs_pb2.LegReport:
    end = shortfall or found_or_not(len(result.hits))
    return leg_report(leg, end, started, len(result.hits), cached=result.cached)


def _source(source: VectorSource) -> retrieval_pb2.EmbeddingSource.ValueType:
    return retrieval_pb2.EmbeddingSource.ValueType(source)

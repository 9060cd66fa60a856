"""A comprehensive search's requests to the two tiers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from braid.agent.v1 import search_pb2
from braid.common.v1 import retrieval_pb2
from braid.graph.v1 import query_pb2
from braid.vector.v1 import search_pb2 as vector_pb2

if TYPE_CHECKING:
    from collections.abc import Sequence

    Request = search_pb2.ComprehensiveSearchRequest
    Embedding = retrieval_pb2.QueryEmbedding | None

DEFAULT_LIMIT = 10
DEFAULT_TEXT_WEIGHT = 0.3
MAX_FACTS = 50


def hybrid_request(
    request: Request, embedding: Embedding, *, text_only: bool
) -> vector_pb2.HybridSearchRequest:
    """The vector tier's request; `text_only` searches by words alone."""
    weight = request.text_weight if request.HasField("text_weight") else DEFAULT_TEXT_WEIGHT
    return vector_pb2.HybridSearchRequest(
        query=request.query,
        limit=limit_of(request),
        text_weight=weight,
        query_embedding=embedding,
        filter=request.filter if request.HasField("filter") else None,
        as_of=request.as_of if request.HasField("as_of") else None,
        text_only=text_only,
        cache=request.cache,
    )


def facts_request(
    request: Request, embedding: Embedding, *, text_only: bool
) -> query_pb2.SearchFactsRequest:
    """The graph tier's request; `text_only` searches by words alone."""
    instant = request.HasField("as_of")
    return query_pb2.SearchFactsRequest(
        query=request.query,
        # Whatever the limit: each relevant fact supports its passages.
        limit=MAX_FACTS,
        query_embedding=embedding,
        as_of=retrieval_pb2.TimeSelector(instant=request.as_of) if instant else None,
        text_only=text_only,
    )


def score_request(
    request: Request, chunk_ids: Sequence[str], embedding: Embedding
) -> vector_pb2.ScoreChunksRequest:
    """Asks for the scores of chunks that only facts brought."""
    weight = request.text_weight if request.HasField("text_weight") else DEFAULT_TEXT_WEIGHT
    return vector_pb2.ScoreChunksRequest(
        query=request.query,
        chunk_ids=chunk_ids,
        query_embedding=embedding,
        cache=request.cache,
        text_weight=weight,
        include_chunks=True,
        as_of=request.as_of if request.HasField("as_of") else None,
    )


def limit_of(request: Request) -> int:
    """How many results the caller asked for."""
    return request.limit if request.HasField("limit") else DEFAULT_LIMIT

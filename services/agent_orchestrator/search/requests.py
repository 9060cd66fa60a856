"""Builds a comprehensive search's requests to the two tiers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from braid.agent.v1 import search_pb2
from braid.common.v1 import expansion_pb2, retrieval_pb2
from braid.graph.v1 import query_pb2
from braid.vector.v1 import search_pb2 as vector_pb2
from services.agent_orchestrator.expansion.expander import OFF
from services.agent_orchestrator.expansion.query_aware import SEEDS
from services.agent_orchestrator.reranking.reranking import MAX_RERANKED
from services.agent_orchestrator.reranking.reranking import OFF as RERANKING_OFF
from services.models.embedding.relevance import DEFAULT_TEXT_WEIGHT

if TYPE_CHECKING:
    from collections.abc import Sequence

    Request = search_pb2.ComprehensiveSearchRequest
    Embedding = retrieval_pb2.QueryEmbedding | None

DEFAULT_LIMIT = 10
MAX_FACTS = 50


def hybrid_request(
    request: Request, embedding: Embedding, *, text_only: bool
) -> vector_pb2.HybridSearchRequest:
    """Returns the vector tier's request; `text_only` searches by words only."""
    return vector_pb2.HybridSearchRequest(
        query=request.query,
        limit=_depth(request),
        text_weight=text_weight_of(request),
        query_embedding=embedding,
        filter=request.filter if request.HasField("filter") else None,
        as_of=request.as_of if request.HasField("as_of") else None,
        text_only=text_only,
        cache=request.cache,
    )


def facts_request(
    request: Request, embedding: Embedding, *, text_only: bool
) -> query_pb2.SearchFactsRequest:
    """Returns the graph tier's request; `text_only` searches by words only."""
    instant = request.HasField("as_of")
    return query_pb2.SearchFactsRequest(
        query=request.query,
        # Regardless of the limit, because each relevant fact supports its passages.
        limit=MAX_FACTS,
        query_embedding=embedding,
        as_of=retrieval_pb2.TimeSelector(instant=request.as_of) if instant else None,
        text_only=text_only,
    )


def score_request(
    request: Request, chunk_ids: Sequence[str], embedding: Embedding
) -> vector_pb2.ScoreChunksRequest:
    """Returns the request for scores of chunks that only facts cite."""
    return vector_pb2.ScoreChunksRequest(
        query=request.query,
        chunk_ids=chunk_ids,
        query_embedding=embedding,
        cache=request.cache,
        text_weight=text_weight_of(request),
        include_chunks=True,
        as_of=request.as_of if request.HasField("as_of") else None,
    )


def limit_of(request: Request) -> int:
    """Returns the number of results that the caller asked for."""
    return request.limit if request.HasField("limit") else DEFAULT_LIMIT


def text_weight_of(request: Request) -> float:
    """Returns the weight of words in a passage's score."""
    return request.text_weight if request.HasField("text_weight") else DEFAULT_TEXT_WEIGHT


def expansion_of(request: Request) -> expansion_pb2.ExpansionOptions:
    """Returns how to expand: query-aware by default, unless a leg that it needs is disabled."""
    options = expansion_pb2.ExpansionOptions()
    options.CopyFrom(request.expansion)
    if options.mode == expansion_pb2.EXPANSION_MODE_UNSPECIFIED:
        both = _wants(request, "use_vector") and _wants(request, "use_graph")
        options.mode = (
            expansion_pb2.EXPANSION_MODE_QUERY_AWARE if both else expansion_pb2.EXPANSION_MODE_NONE
        )
    return options


def _wants(request: Request, leg: Literal["use_vector", "use_graph"]) -> bool:
    return getattr(request, leg) or not request.HasField(leg)


def _depth(request: Request) -> int:
    """Returns the number of chunks of the vector leg. The input of the following steps does not depend on the limit."""
    limit = limit_of(request)
    if request.rerank not in RERANKING_OFF:
        return max(limit, MAX_RERANKED)
    return max(limit, SEEDS) if has_steps(request) else limit


def has_steps(request: Request) -> bool:
    """Whether further steps follow the fused list; `rerank` must be resolved to a mode already."""
    return expansion_of(request).mode not in OFF or request.rerank not in RERANKING_OFF

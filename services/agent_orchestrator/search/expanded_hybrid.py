"""The vector tier's hybrid search, followed by reranking and expansion."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import grpc

from braid.agent.v1 import search_pb2
from braid.common.v1 import expansion_pb2, legs_pb2
from braid.vector.v1 import chunks_pb2
from braid.vector.v1 import search_pb2 as vector_pb2
from services.agent_orchestrator.clients.budget import Budget
from services.agent_orchestrator.clients.health_watch import TierUnavailableError
from services.agent_orchestrator.expansion.expander import OFF, ExpansionRequest
from services.agent_orchestrator.expansion.formula import check_types
from services.agent_orchestrator.expansion.query_aware import Question
from services.agent_orchestrator.expansion.result_list import (
    ExpandedList,
    ListExpansion,
    SearchedList,
    results_without_expansion,
)
from services.agent_orchestrator.reranking.reranking import MAX_RERANKED
from services.agent_orchestrator.reranking.reranking import OFF as RERANKING_OFF
from services.models.embedding.relevance import DEFAULT_TEXT_WEIGHT
from services.runtime.context import remaining
from services.runtime.errors import (
    BraidError,
    FieldError,
    InvalidFieldError,
    StoreUnavailableError,
)
from services.runtime.leg_reports import leg_report
from services.runtime.status import error_from_rpc

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.agent_orchestrator.clients.tiers import VectorTier
    from services.agent_orchestrator.expansion.expander import Expander
    from services.agent_orchestrator.reranking.reranking import Reranking

    Request = search_pb2.ExpandedHybridSearchRequest

DEFAULT_LIMIT = 10


class ExpandedHybrid:
    """Searches the vector tier and expands the hits in the graph. Without the graph, the hits remain as they are."""

    def __init__(
        self, *, vector: VectorTier, expander: Expander, reranking: Reranking, seconds: float
    ) -> None:
        """`seconds` is the deadline if the caller sets none."""
        self._vector = vector
        self._expander = expander
        self._reranking = reranking
        self._expansion = ListExpansion(expander, vector)
        self._seconds = seconds

    async def run(self, request: Request) -> search_pb2.ExpandedHybridSearchResponse:
        """Returns the hits, expanded if requested. Raises the vector tier's error if it cannot search."""
        budget = Budget(remaining(self._seconds))
        options = expansion_pb2.ExpansionOptions()
        options.CopyFrom(request.expansion)
        check_types(options)
        rerank = self._reranking.mode(request.rerank)
        search = request.search
        async with self._expander.linking(options.mode, search.query, budget) as linking:
            began = time.perf_counter_ns()
            found = await self._search(
                search, deeper=options.mode not in OFF or rerank not in RERANKING_OFF, budget=budget
            )
            end = found.leg.status, found.leg.reason
            hits = min(len(found.hits), _limit(search))
            report_of_leg = leg_report(
                legs_pb2.LEG_VECTOR, end, began, hits, cached=found.leg.cached
            )
            wanted = ExpansionRequest(_question(search), linking, options)
            results = [_result(hit, rank) for rank, hit in enumerate(found.hits, 1)]
            report = None
            if rerank not in RERANKING_OFF:
                results, report = await self._reranking.rerank(
                    rerank, search.query, results, budget
                )
            listed = await self._listed(search, results, wanted, budget)
        answer = search_pb2.ExpandedHybridSearchResponse(
            hits=_hits(found.hits, listed),
            leg=report_of_leg,
            vector_path=found.vector_path,
            space_revision=found.space_revision,
            embedding_source=found.embedding_source,
            nearest=found.nearest,
        )
        if options.mode not in OFF:
            answer.expansion.CopyFrom(listed.report)
        if report is not None:
            answer.reranking.CopyFrom(report)
        return answer

    async def _search(
        self,
        search: vector_pb2.HybridSearchRequest,
        *,
        deeper: bool,
        budget: Budget,
    ) -> vector_pb2.HybridSearchResponse:
        asked = vector_pb2.HybridSearchRequest()
        asked.CopyFrom(search)
        if deeper:
            # The input of the following steps does not depend on the limit.
            asked.limit = max(_limit(search), MAX_RERANKED)
        try:
            return await self._vector.hybrid_search(asked, budget.left())
        except grpc.aio.AioRpcError as error:
            raise _in_own_words(error_from_rpc(error)) from None
        except TierUnavailableError:
            raise StoreUnavailableError("vector") from None

    async def _listed(
        self,
        search: vector_pb2.HybridSearchRequest,
        results: Sequence[search_pb2.SearchResult],
        wanted: ExpansionRequest,
        budget: Budget,
    ) -> ExpandedList:
        limit = _limit(search)
        if wanted.options.mode in OFF:
            return results_without_expansion(
                results, wanted.options.mode, legs_pb2.LEG_STATUS_DISABLED, limit
            )
        searched = SearchedList(
            results,
            frozenset(one.id for one in results),
            filter=search.filter if search.HasField("filter") else None,
        )
        return await self._expansion.expand(searched, wanted, limit, budget)


def _in_own_words(error: BraidError) -> BraidError:
    """Returns the vector tier's field errors with the caller's field names."""
    named = [FieldError(f"search.{field}", description) for field, description in error.fields]
    return InvalidFieldError(*named) if named else error


def _limit(search: vector_pb2.HybridSearchRequest) -> int:
    return search.limit if search.HasField("limit") else DEFAULT_LIMIT


def _question(search: vector_pb2.HybridSearchRequest) -> Question:
    at = search.as_of if search.HasField("as_of") else None
    return Question(
        search.query,
        search.query_embedding if search.HasField("query_embedding") else None,
        search.text_weight if search.HasField("text_weight") else DEFAULT_TEXT_WEIGHT,
        search.cache,
        at,
    )


def _result(hit: chunks_pb2.ChunkHit, rank: int) -> search_pb2.SearchResult:
    contributions = [
        search_pb2.Contribution(
            leg=legs_pb2.LEG_VECTOR, rank=rank, score=hit.score, share=hit.score
        )
    ]
    if hit.scores.HasField("reading"):
        contributions.append(
            search_pb2.Contribution(leg=legs_pb2.LEG_READING, score=hit.scores.reading)
        )
    return search_pb2.SearchResult(
        id=hit.chunk.id,
        title=hit.chunk.document_title,
        content=hit.chunk.content,
        score=hit.score,
        contributions=contributions,
    )


def _hits(
    found: Sequence[chunks_pb2.ChunkHit], listed: ExpandedList
) -> list[search_pb2.ExpandedHit]:
    """Returns the listed results with their chunks: from the search, or added by the expansion."""
    known = {hit.chunk.id: hit for hit in found}
    hits = []
    for result in listed.results:
        hit = chunks_pb2.ChunkHit()
        if result.id in known:
            hit.CopyFrom(known[result.id])
        else:
            brought = listed.brought[result.id]
            hit.chunk.CopyFrom(brought.chunk)
            hit.scores.CopyFrom(brought.scores)
        hit.score = result.score
        hits.append(
            search_pb2.ExpandedHit(
                hit=hit,
                contributions=result.contributions,
                expansion=result.expansion if result.HasField("expansion") else None,
            )
        )
    return hits

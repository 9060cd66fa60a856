"""The legs of both tiers: which of them gets the query's vector, and which is called again with or without it.

If both tiers compare with the query's vector, it is computed once. If the space's facts have no vectors, neither leg
waits for it: the graph is searched by words, and the vector tier embeds the query itself. If the space is embedded with
another model than ours, each tier embeds the query itself.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from braid.agent.v1 import search_pb2
from braid.common.v1 import legs_pb2, retrieval_pb2
from braid.graph.v1 import query_pb2
from braid.vector.v1 import search_pb2 as vector_pb2
from services.agent_orchestrator.clients.budget import Budget
from services.agent_orchestrator.clients.space_models import Recorded, SpaceModels
from services.agent_orchestrator.search.legs import LegOutcome, not_requested, run_leg
from services.agent_orchestrator.search.query_embedding import QueryVector, is_of_the_vector
from services.agent_orchestrator.search.requests import facts_request, hybrid_request, limit_of
from services.runtime.context import current_call
from services.runtime.errors import BraidError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from services.agent_orchestrator.clients.tiers import GraphTier, VectorTier
    from services.agent_orchestrator.search.query_embedding import QueryEmbeddings

    Request = search_pb2.ComprehensiveSearchRequest
    Embedding = retrieval_pb2.QueryEmbedding | None


class TierLegs:
    """Queries the tiers. A failure becomes an outcome; only INVALID_FIELD, the caller's own error, is raised."""

    def __init__(
        self,
        *,
        vector: VectorTier,
        graph: GraphTier,
        queries: QueryEmbeddings,
        models: SpaceModels,
    ) -> None:
        self._vector = vector
        self._graph = graph
        self._queries = queries
        self._models = models

    async def chunks(self, request: Request, query: QueryVector, clock: Budget) -> LegOutcome:
        if request.HasField("use_vector") and not request.use_vector:
            return not_requested(legs_pb2.LEG_VECTOR)
        if self._both_compare(request):
            return await self._ask_vector_with(query, request, clock)
        space = current_call().space
        if not self._models.tier_embeds(space) and self._has_our_model():
            return await self._ask_vector_with(query, request, clock)
        # Only the vector tier needs the query's vector, and embedding it there costs less than sending it.
        outcome = await self._ask_vector(request, None, clock, embeds=True)
        if outcome.report.reason != legs_pb2.LEG_REASON_MODEL_MISMATCH or self._has_another_model():
            return outcome
        # The tier's model is not the space's; ours may be.
        self._models.record_tier_lacks_model(space)
        return _merge_outcomes(outcome, await self._ask_vector_with(query, request, clock))

    async def _ask_vector_with(
        self, query: QueryVector, request: Request, clock: Budget
    ) -> LegOutcome:
        embedding = await query.get()
        return await _or_without_vector(
            lambda: self._ask_vector(request, embedding, clock, embeds=not self._has_our_model()),
            lambda: self._ask_vector(request, None, clock, embeds=True),
        )

    def _both_compare(self, request: Request) -> bool:
        graph = request.use_graph or not request.HasField("use_graph")
        return graph and self._facts_have_vectors() and not self._has_another_model()

    def _has_another_model(self) -> bool:
        """Whether the space is known to use another model than ours, so that our embedder is not called."""
        recorded = self._models.recorded(current_call().space)
        return recorded is not None and recorded.model != self._queries.model

    def _has_our_model(self) -> bool:
        """Whether the space is known to use our model. If ours fails, a tier with another model may still embed."""
        recorded = self._models.recorded(current_call().space)
        return recorded is not None and recorded.model == self._queries.model

    def _facts_have_vectors(self) -> bool:
        """Whether the space's facts have vectors; if not, the graph leg does not wait for the query's vector."""
        return self._models.facts_have_vectors(current_call().space)

    async def _ask_vector(
        self, request: Request, embedding: Embedding, clock: Budget, *, embeds: bool = False
    ) -> LegOutcome:
        """Searches chunks. With `embeds`, the tier embeds the query itself; otherwise no vector means a text search."""
        by_words = embedding is None and not embeds
        asked = hybrid_request(request, embedding, text_only=by_words)
        space = current_call().space

        def outcome(
            answer: vector_pb2.HybridSearchResponse, report: legs_pb2.LegReport
        ) -> LegOutcome:
            self._models.record(space, Recorded(answer.embedding_model, 0))
            final_report = _without_vectors(report) if by_words else report
            shown = answer.hits[: limit_of(request)]
            final_report.hit_count = len(shown)
            return LegOutcome(
                final_report,
                chunks=shown,
                candidates=answer.hits,
                embedding=answer.embedding_source,
                floor=answer.list_floor,
                nearest=answer.nearest,
            )

        return await run_leg(
            legs_pb2.LEG_VECTOR, lambda: self._vector.hybrid_search(asked, clock.left()), outcome
        )

    async def facts(self, request: Request, query: QueryVector, clock: Budget) -> LegOutcome:
        if request.HasField("use_graph") and not request.use_graph:
            return not_requested(legs_pb2.LEG_GRAPH)
        if self._facts_have_vectors():
            return await self._ask_graph_with(query, request, clock)
        asked = facts_request(request, None, text_only=True)
        outcome = await self._ask_graph(asked, limit_of(request), clock)
        if outcome.report.status != legs_pb2.LEG_STATUS_DEGRADED:
            return outcome
        # Facts with vectors were added since the cached answer: search again with the vector.
        return _merge_outcomes(outcome, await self._ask_graph_with(query, request, clock))

    async def _ask_graph_with(
        self, query: QueryVector, request: Request, clock: Budget
    ) -> LegOutcome:
        embedding = None if self._has_another_model() else await query.get()
        by_words = embedding is None and self._has_our_model()
        asked = facts_request(request, embedding, text_only=by_words)
        again, limit = facts_request(request, None, text_only=False), limit_of(request)
        return await _or_without_vector(
            lambda: self._ask_graph(asked, limit, clock),
            lambda: self._ask_graph(again, limit, clock),
        )

    async def _ask_graph(
        self, asked: query_pb2.SearchFactsRequest, limit: int, clock: Budget
    ) -> LegOutcome:
        space = current_call().space

        def outcome(
            answer: query_pb2.SearchFactsResponse, report: legs_pb2.LegReport
        ) -> LegOutcome:
            self._models.record_facts(space, have_vectors=_needed_vectors(answer))
            facts = answer.hits[:limit]
            report.hit_count = len(facts)
            return LegOutcome(report, facts=facts, evidence=answer.hits)

        return await run_leg(
            legs_pb2.LEG_GRAPH, lambda: self._graph.search_facts(asked, clock.left()), outcome
        )


def mark_empty_timeout_failed(outcome: LegOutcome) -> LegOutcome:
    """Marks a leg that timed out without results as failed: no results does not mean that nothing matches."""
    late = outcome.report.status == legs_pb2.LEG_STATUS_TIMED_OUT
    if late and not outcome.chunks and not outcome.facts:
        return replace(outcome, failed=True)
    return outcome


_VECTORS_MISSING = frozenset({legs_pb2.LEG_STATUS_DEGRADED, legs_pb2.LEG_STATUS_TIMED_OUT})


def _needed_vectors(answer: query_pb2.SearchFactsResponse) -> bool:
    """Whether the space's facts have vectors: they were compared, timed out, or the query's vector was missing."""
    compared = answer.vector_path != retrieval_pb2.VECTOR_PATH_UNSPECIFIED
    return compared or answer.leg.status in _VECTORS_MISSING


def _without_vectors(report: legs_pb2.LegReport) -> legs_pb2.LegReport:
    """Returns the report of a text-only search as degraded: the caller asked for more."""
    if report.reason == legs_pb2.LEG_REASON_UNSPECIFIED:
        report.status = legs_pb2.LEG_STATUS_DEGRADED
        report.reason = legs_pb2.LEG_REASON_EMBEDDER_UNAVAILABLE
    return report


async def _or_without_vector(
    ask: Callable[[], Awaitable[LegOutcome]], again: Callable[[], Awaitable[LegOutcome]]
) -> LegOutcome:
    """Calls `again` if the space has other vectors under our model's name: the tier then reports what is missing."""
    try:
        return await ask()
    except BraidError as error:
        if not is_of_the_vector(error):
            raise
    return await again()


def _merge_outcomes(first: LegOutcome, second: LegOutcome) -> LegOutcome:
    """Returns the second outcome, or the first if the second failed: a second call must not lose its results."""
    if not mark_empty_timeout_failed(second).failed:
        return second
    if second.report.status == legs_pb2.LEG_STATUS_TIMED_OUT:
        first.report.status = legs_pb2.LEG_STATUS_TIMED_OUT
        first.report.reason = legs_pb2.LEG_REASON_BUDGET_EXCEEDED
    return first

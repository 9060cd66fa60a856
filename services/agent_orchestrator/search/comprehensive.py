"""The comprehensive search: embeds the query once, runs all legs concurrently, and fuses their answers."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import grpc

from braid.agent.v1 import search_pb2
from braid.common.v1 import legs_pb2, reranking_pb2, retrieval_pb2
from services.agent_orchestrator.clients.budget import Budget
from services.agent_orchestrator.clients.health_watch import TierUnavailableError
from services.agent_orchestrator.clients.space_models import SpaceModels
from services.agent_orchestrator.expansion.expander import OFF, ExpansionRequest
from services.agent_orchestrator.expansion.formula import check_types
from services.agent_orchestrator.expansion.query_aware import Question
from services.agent_orchestrator.expansion.result_list import (
    ExpandedList,
    ListExpansion,
    SearchedList,
    results_without_expansion,
)
from services.agent_orchestrator.reranking.reranking import OFF as RERANKING_OFF
from services.agent_orchestrator.search.answer_parts import includes_results, keep_parts
from services.agent_orchestrator.search.fusion import (
    Passages,
    ScoredChunk,
    facts_by_chunk,
    fuse,
    nearest_results,
    ranked_chunks,
    unscored_chunks,
)
from services.agent_orchestrator.search.legs import LegOutcome, leg_name
from services.agent_orchestrator.search.memory_leg import MemoryLeg, with_memories
from services.agent_orchestrator.search.query_embedding import (
    NO_SOURCE,
    QueryVector,
)
from services.agent_orchestrator.search.requests import (
    expansion_of,
    has_steps,
    limit_of,
    score_request,
    text_weight_of,
)
from services.agent_orchestrator.search.tier_legs import TierLegs, mark_empty_timeout_failed
from services.runtime.context import remaining
from services.runtime.errors import AllLegsFailedError, OverloadedError
from services.runtime.instruments import LEG_DURATION, histogram
from services.runtime.telemetry import get_logger
from services.runtime.tracing import fail, span

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from opentelemetry import trace

    from services.agent_orchestrator.clients.tiers import GraphTier, VectorTier
    from services.agent_orchestrator.expansion.expander import Expander
    from services.agent_orchestrator.reranking.reranking import Reranking
    from services.agent_orchestrator.search.query_embedding import QueryEmbeddings, Source

    Request = search_pb2.ComprehensiveSearchRequest
    Embedding = retrieval_pb2.QueryEmbedding | None
    LegListener = Callable[[LegOutcome], None]

# Maximum number of chunks that only facts cite and that are scored for it, those of the best facts first.
MAX_SCORED = 100
# Maximum number of results that an expansion reorders: more than any limit, with room for those that it drops.
MAX_FUSED = 100
# Share of the caller's deadline reserved for fusing and sending, within bounds.
MARGIN_SHARE = 0.08
MIN_MARGIN = 0.01
MAX_MARGIN = 0.05


@dataclass(frozen=True, slots=True)
class Legs:
    """The outcome of each leg; `memories` if the caller asked for them."""

    vector: LegOutcome
    graph: LegOutcome
    memories: LegOutcome | None

    def all(self) -> list[LegOutcome]:
        """Returns all legs that ran or were disabled."""
        legs = [self.vector, self.graph]
        return legs if self.memories is None else [*legs, self.memories]


class ComprehensiveSearch:
    """Queries both tiers concurrently. If a leg fails or times out, this is reported, and the other one answers."""

    def __init__(
        self,
        *,
        vector: VectorTier,
        graph: GraphTier,
        queries: QueryEmbeddings,
        expander: Expander,
        reranking: Reranking,
        models: SpaceModels,
        memories: MemoryLeg,
        seconds: float,
        leg_seconds: float,
    ) -> None:
        """`seconds` is the deadline if the caller sets none, `leg_seconds` the maximum for a leg."""
        self._vector = vector
        self._tiers = TierLegs(vector=vector, graph=graph, queries=queries, models=models)
        self._memories = memories
        self._queries = queries
        self._expander = expander
        self._reranking = reranking
        self._expansion = ListExpansion(expander, vector)
        self._seconds = seconds
        self._leg_seconds = leg_seconds
        self._durations = histogram(LEG_DURATION)

    async def run(
        self, request: Request, ended: LegListener | None = None
    ) -> search_pb2.ComprehensiveSearchResponse:
        """Returns the included lists of the legs' answers and the fused list; `ended` receives each leg as it ends.

        Raises AllLegsFailedError if no requested leg answered, OverloadedError if overload was the only reason, and
        InvalidFieldError if a tier rejects the request.
        """
        clock = Budget(min(self._leg_seconds, leg_budget(remaining(self._seconds))))
        asked = request.rerank
        request = _copy(request)  # the caller may send the same request again
        request.rerank = self._reranking.mode(asked)
        options = expansion_of(request)
        check_types(options)
        async with self._expander.linking(options.mode, request.query, clock) as linking:
            legs, source, vector = await self._run_legs(request, clock, ended, asked)
            _require_an_answer(legs.all())
            passages = await self._passages(request, legs, vector, clock)
            answer = _answer(legs.all(), source)
            if includes_results(request.include):
                wanted = ExpansionRequest(_question(request, vector), linking, options)
                results = await self._fused(request, legs, passages, answer, clock)
                listed = await self._listed(request, legs, passages, results, wanted, clock)
                answer.results.extend(
                    with_memories(listed.results, legs.memories, limit_of(request))
                )
                if not answer.results:
                    answer.nearest.extend(nearest_results(legs.vector.nearest))
                if options.mode not in OFF:
                    answer.expansion.CopyFrom(listed.report)
        return keep_parts(answer, request.include)

    async def _fused(
        self,
        request: Request,
        legs: Legs,
        passages: Passages,
        answer: search_pb2.ComprehensiveSearchResponse,
        clock: Budget,
    ) -> list[search_pb2.SearchResult]:
        """Returns the fused list, reranked if requested; it is longer if further steps follow."""
        results = fuse(
            passages, legs.graph.evidence, MAX_FUSED if has_steps(request) else limit_of(request)
        )
        if request.rerank in RERANKING_OFF:
            return results
        results, report = await self._reranking.rerank(
            request.rerank, request.query, results, clock
        )
        answer.reranking.CopyFrom(report)
        return results

    async def _listed(  # noqa: PLR0917 - results of the preceding steps
        self,
        request: Request,
        legs: Legs,
        passages: Passages,
        results: Sequence[search_pb2.SearchResult],
        wanted: ExpansionRequest,
        clock: Budget,
    ) -> ExpandedList:
        """Returns the list, expanded if requested."""
        mode, limit = wanted.options.mode, limit_of(request)
        if mode in OFF:
            return results_without_expansion(results, mode, legs_pb2.LEG_STATUS_DISABLED, limit)
        obstacle = _obstacle(legs)
        if obstacle is not None:
            status, reason = obstacle
            return results_without_expansion(results, mode, status, limit, reason)
        searched = SearchedList(
            results,
            frozenset(passages.chunks),
            facts_by_chunk(legs.graph.evidence),
            request.filter if request.HasField("filter") else None,
        )
        with span("expansion"):
            return await self._expansion.expand(searched, wanted, limit, clock)

    async def _run_legs(
        self,
        request: Request,
        clock: Budget,
        ended: LegListener | None,
        rerank: reranking_pb2.RerankMode.ValueType,
    ) -> tuple[Legs, Source, Embedding]:
        use_cache = request.cache != retrieval_pb2.CACHE_MODE_BYPASS
        try:
            async with asyncio.TaskGroup() as group:
                query = QueryVector(
                    group,
                    lambda: self._queries.embed(request.query, clock.left(), use_cache=use_cache),
                )
                chunks = self._tiers.chunks(request, query, clock)
                vector = group.create_task(self._reported("vector", chunks, query, ended))
                facts = self._tiers.facts(request, query, clock)
                graph = group.create_task(self._reported("graph", facts, query, ended))
                memories = None
                if request.use_memories:
                    found = self._memories.run(request, clock, rerank)
                    memories = group.create_task(self._reported("memory", found, query, ended))
        except ExceptionGroup as failures:
            # A leg raises only errors of the request itself, which are returned to the caller.
            raise failures.exceptions[0] from None
        legs = Legs(
            vector.result(), graph.result(), None if memories is None else memories.result()
        )
        return legs, query.source, query.made

    async def _passages(
        self,
        request: Request,
        legs: Legs,
        vector: Embedding,
        clock: Budget,
    ) -> Passages:
        """Returns the vector leg's chunks and those that only facts cite, scored alike."""
        chunks_leg, facts_leg = legs.vector, legs.graph
        off = chunks_leg.report.status == legs_pb2.LEG_STATUS_DISABLED
        if off or chunks_leg.failed:
            return Passages({}, answered=False)
        found = ranked_chunks(chunks_leg.candidates)
        known = Passages(found, floor=chunks_leg.floor, matched=bool(found))
        wanted = unscored_chunks(found, facts_leg.evidence, MAX_SCORED)
        if not wanted or not includes_results(request.include):
            return known
        asked = score_request(request, wanted, vector)
        try:
            answer = await self._vector.score_chunks(asked, clock.left())
        except (grpc.aio.AioRpcError, TierUnavailableError) as error:
            # Answers with what the legs found: facts whose chunks are not scored become results of their own.
            get_logger("search").warning("passages of facts not scored", cause=type(error).__name__)
            return replace(known, missing=frozenset(wanted))
        # gRPC returns None if it could not parse the answer.
        scored = {
            one.chunk_id: ScoredChunk(one.chunk, one.score, in_force=one.in_force)
            for one in (answer.scores if answer else ())
            if one.HasField("chunk")
        }
        missing = frozenset(wanted) - scored.keys()
        return replace(known, chunks=found | scored, missing=missing)

    async def _reported(
        self, name: str, leg: Awaitable[LegOutcome], query: QueryVector, ended: LegListener | None
    ) -> LegOutcome:
        with span(f"leg {name}") as made:
            outcome = mark_empty_timeout_failed(await leg)
            _describe(made, outcome)
        report = outcome.report
        if query.late and report.reason == legs_pb2.LEG_REASON_EMBEDDER_UNAVAILABLE:
            # The caller's deadline left the embedder too little time: it is not unavailable.
            report.status = legs_pb2.LEG_STATUS_TIMED_OUT
            report.reason = legs_pb2.LEG_REASON_BUDGET_EXCEEDED
        took = report.elapsed.seconds + report.elapsed.nanos / 1e9
        self._durations.record(took, {"leg": leg_name(report.leg), "status": _name(report)})
        if ended is not None:
            ended(outcome)
        return outcome


def leg_budget(left: float) -> float:
    """Returns the seconds of `left` that the legs may use, so that the answer is sent in time."""
    margin = min(max(left * MARGIN_SHARE, MIN_MARGIN), MAX_MARGIN)
    return left - min(margin, left / 2)


def _copy(request: Request) -> Request:
    copy = type(request)()
    copy.CopyFrom(request)
    return copy


def _require_an_answer(outcomes: Sequence[LegOutcome]) -> None:
    asked = [o for o in outcomes if o.report.status != legs_pb2.LEG_STATUS_DISABLED]
    if not all(outcome.failed for outcome in asked):
        return
    if all(o.report.reason == legs_pb2.LEG_REASON_OVERLOADED for o in asked):
        raise OverloadedError(max(outcome.retry_after or 0.0 for outcome in asked) or 1.0)
    error = AllLegsFailedError({leg_name(o.report.leg): _name(o.report) for o in asked})
    error.metadata |= {f"{leg_name(o.report.leg)}_reason": _reason(o.report) for o in asked}
    raise error


def _name(report: legs_pb2.LegReport) -> str:
    return legs_pb2.LegStatus.Name(report.status).removeprefix("LEG_STATUS_")


def _reason(report: legs_pb2.LegReport) -> str:
    return legs_pb2.LegReason.Name(report.reason).removeprefix("LEG_REASON_")


def _question(request: Request, embedding: Embedding) -> Question:
    at = request.as_of if request.HasField("as_of") else None
    return Question(request.query, embedding, text_weight_of(request), request.cache, at)


def _describe(made: trace.Span, outcome: LegOutcome) -> None:
    """Sets the leg's status, reason and number of hits on its span."""
    report = outcome.report
    made.set_attribute("leg.status", _name(report))
    made.set_attribute("leg.reason", legs_pb2.LegReason.Name(report.reason))
    made.set_attribute("leg.hits", report.hit_count)
    if outcome.failed:
        fail(made, legs_pb2.LegReason.Name(report.reason))


def _obstacle(
    legs: Legs,
) -> tuple[legs_pb2.LegStatus.ValueType, legs_pb2.LegReason.ValueType] | None:
    """Returns why the list cannot be expanded: a leg that it needs is disabled or failed. None if it can be."""
    chunks = legs.vector.report
    if chunks.status == legs_pb2.LEG_STATUS_DISABLED:
        return chunks.status, chunks.reason
    failed = next((one.report for one in (legs.vector, legs.graph) if one.failed), None)
    return None if failed is None else (legs_pb2.LEG_STATUS_DEGRADED, failed.reason)


def _answer(
    outcomes: Sequence[LegOutcome], source: Source
) -> search_pb2.ComprehensiveSearchResponse:
    """Returns the legs' answers, without the fused list."""
    chunks = [hit for outcome in outcomes for hit in outcome.chunks]
    facts = [hit for outcome in outcomes for hit in outcome.facts]
    return search_pb2.ComprehensiveSearchResponse(
        vector_results=chunks,
        graph_results=facts,
        legs=[outcome.report for outcome in outcomes],
        result_count=len(chunks) + len(facts),
        embedding_source=source or _vector_source(outcomes),
    )


def _vector_source(outcomes: Sequence[LegOutcome]) -> Source:
    """Returns where a tier took the query's vector from; unspecified if the tiers were given one."""
    sources = (outcome.embedding for outcome in outcomes)
    return next((s for s in sources if s != retrieval_pb2.EMBEDDING_SOURCE_GIVEN), NO_SOURCE)

"""The comprehensive search: the query embedded once, both legs at once, their answers fused.

Where both tiers compare with the query's vector it is made here. Where the space's facts have no vectors, neither leg
waits for it: the graph is asked by words, and the vector tier makes its own. Where the space is embedded with another
model than ours, each tier makes its own.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import grpc

from braid.agent.v1 import search_pb2
from braid.common.v1 import expansion_pb2, legs_pb2, retrieval_pb2
from braid.graph.v1 import query_pb2
from braid.vector.v1 import search_pb2 as vector_pb2
from services.agent_orchestrator.clients.budget import Budget
from services.agent_orchestrator.clients.health_watch import TierAwayError
from services.agent_orchestrator.clients.space_models import Recorded, SpaceModels
from services.agent_orchestrator.expansion.expander import OFF, Wanted
from services.agent_orchestrator.expansion.query_aware import Question
from services.agent_orchestrator.expansion.result_list import (
    ExpandedList,
    ListExpansion,
    SearchedList,
    unexpanded,
)
from services.agent_orchestrator.reranking.reranking import OFF as RERANKING_OFF
from services.agent_orchestrator.search.answer_parts import includes_results, keep_parts
from services.agent_orchestrator.search.fusion import (
    Passages,
    ScoredChunk,
    facts_by_chunk,
    fuse,
    ranked_chunks,
    unscored_chunks,
)
from services.agent_orchestrator.search.legs import LegOutcome, leg_name, not_requested, run_leg
from services.agent_orchestrator.search.query_embedding import (
    NO_SOURCE,
    QueryVector,
    is_of_the_vector,
)
from services.agent_orchestrator.search.requests import (
    expansion_of,
    facts_request,
    has_steps,
    hybrid_request,
    limit_of,
    score_request,
    text_weight_of,
)
from services.runtime.context import current_call, remaining
from services.runtime.errors import AllLegsFailedError, BraidError, OverloadedError
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

# Passages that only facts brought and that are scored for it, the best facts' first.
MAX_SCORED = 100
# Results that an expansion may put in order: more than any limit, with room for those it drops.
MAX_FUSED = 100
# Kept back from the caller's deadline for fusing and sending: a share of it, within bounds.
MARGIN_SHARE = 0.08
MIN_MARGIN = 0.01
MAX_MARGIN = 0.05


class ComprehensiveSearch:
    """Asks both tiers at once. A leg that fails or is late is reported, and the other one answers."""

    def __init__(
        self,
        *,
        vector: VectorTier,
        graph: GraphTier,
        queries: QueryEmbeddings,
        expander: Expander,
        reranking: Reranking,
        models: SpaceModels,
        seconds: float,
        leg_seconds: float,
    ) -> None:
        """`seconds` is the deadline where a caller sets none, `leg_seconds` what a leg has of it at most."""
        self._vector = vector
        self._graph = graph
        self._queries = queries
        self._expander = expander
        self._reranking = reranking
        self._expansion = ListExpansion(expander, vector)
        self._seconds = seconds
        self._leg_seconds = leg_seconds
        self._models = models
        self._durations = histogram(LEG_DURATION)

    async def run(
        self, request: Request, ended: LegListener | None = None
    ) -> search_pb2.ComprehensiveSearchResponse:
        """Both legs' answers and the fused list, as far as they are included; `ended` gets each leg as it ends.

        AllLegsFailedError when no leg that was asked for answered, OverloadedError when load alone was the reason;
        INVALID_FIELD when a tier refuses the request.
        """
        clock = Budget(min(self._leg_seconds, leg_budget(remaining(self._seconds))))
        request.rerank = self._reranking.mode(request.rerank)
        options = expansion_of(request)
        async with self._expander.linking(options.mode, request.query, clock) as linking:
            outcomes, source, vector = await self._run_legs(request, clock, ended)
            _require_an_answer(outcomes)
            passages = await self._passages(request, outcomes, vector, clock)
            answer = _answer(outcomes, source)
            if includes_results(request.include):
                wanted = Wanted(_question(request, vector, options), linking, options)
                results = await self._fused(request, outcomes, passages, answer, clock)
                listed = await self._listed(request, outcomes, passages, results, wanted, clock)
                answer.results.extend(listed.results)
                if options.mode not in OFF:
                    answer.expansion.CopyFrom(listed.report)
        return keep_parts(answer, request.include)

    async def _fused(
        self,
        request: Request,
        outcomes: Sequence[LegOutcome],
        passages: Passages,
        answer: search_pb2.ComprehensiveSearchResponse,
        clock: Budget,
    ) -> list[search_pb2.SearchResult]:
        """The fused list, reranked as asked for, as long as the step after it needs."""
        evidence = [hit for outcome in outcomes for hit in outcome.evidence]
        results = fuse(passages, evidence, MAX_FUSED if has_steps(request) else limit_of(request))
        if request.rerank in RERANKING_OFF:
            return results
        results, report = await self._reranking.rerank(
            request.rerank, request.query, results, clock
        )
        answer.reranking.CopyFrom(report)
        return results

    async def _listed(  # noqa: PLR0917 - what the steps before have made
        self,
        request: Request,
        outcomes: Sequence[LegOutcome],
        passages: Passages,
        results: Sequence[search_pb2.SearchResult],
        wanted: Wanted,
        clock: Budget,
    ) -> ExpandedList:
        """The list, expanded as asked for."""
        mode, limit = wanted.options.mode, limit_of(request)
        if mode in OFF:
            return unexpanded(results, mode, legs_pb2.LEG_STATUS_DISABLED, limit)
        evidence = [hit for outcome in outcomes for hit in outcome.evidence]
        obstacle = _obstacle(outcomes)
        if obstacle is not None:
            status, reason = obstacle
            return unexpanded(results, mode, status, limit, reason)
        searched = SearchedList(
            results,
            frozenset(passages.chunks),
            facts_by_chunk(evidence),
            request.filter if request.HasField("filter") else None,
        )
        with span("expansion"):
            return await self._expansion.expand(searched, wanted, limit, clock)

    async def _run_legs(
        self, request: Request, clock: Budget, ended: LegListener | None
    ) -> tuple[list[LegOutcome], Source, Embedding]:
        use_cache = request.cache != retrieval_pb2.CACHE_MODE_BYPASS
        try:
            async with asyncio.TaskGroup() as group:
                query = QueryVector(
                    group,
                    lambda: self._queries.embed(request.query, clock.left(), use_cache=use_cache),
                )
                chunks = self._chunks(request, query, clock)
                vector = group.create_task(self._reported("vector", chunks, query, ended))
                facts = self._facts(request, query, clock)
                graph = group.create_task(self._reported("graph", facts, query, ended))
        except ExceptionGroup as failures:
            # A leg raises nothing but what is wrong with the request: that is the caller's answer.
            raise failures.exceptions[0] from None
        return [vector.result(), graph.result()], query.source, query.made

    async def _passages(
        self,
        request: Request,
        outcomes: Sequence[LegOutcome],
        vector: Embedding,
        clock: Budget,
    ) -> Passages:
        """The vector leg's chunks, with those that only facts brought, scored like any other."""
        chunks_leg, facts_leg = outcomes
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
        except (grpc.aio.AioRpcError, TierAwayError) as error:
            # What the legs found is answered: passages that only facts cite are left to their facts.
            get_logger("search").warning("passages of facts not scored", cause=type(error).__name__)
            return replace(known, missing=frozenset(wanted))
        # gRPC answers None where it could not read the answer.
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
            outcome = _clarified(await leg)
            _describe(made, outcome)
        report = outcome.report
        if query.late and report.reason == legs_pb2.LEG_REASON_EMBEDDER_UNAVAILABLE:
            # The caller left the embedder too little time: it is not away.
            report.status = legs_pb2.LEG_STATUS_TIMED_OUT
            report.reason = legs_pb2.LEG_REASON_BUDGET_EXCEEDED
        took = report.elapsed.seconds + report.elapsed.nanos / 1e9
        self._durations.record(took, {"leg": leg_name(report.leg), "status": _name(report)})
        if ended is not None:
            ended(outcome)
        return outcome

    async def _chunks(self, request: Request, query: QueryVector, clock: Budget) -> LegOutcome:
        if request.HasField("use_vector") and not request.use_vector:
            return not_requested(legs_pb2.LEG_VECTOR)
        if self._both_compare(request):
            return await self._ask_vector_with(query, request, clock)
        space = current_call().space
        if not self._models.tier_embeds(space) and self._has_our_model():
            return await self._ask_vector_with(query, request, clock)
        # Only the vector tier needs the query's vector: sending one costs more than its own making of it.
        outcome = await self._ask_vector(request, None, clock, embeds=True)
        if outcome.report.reason != legs_pb2.LEG_REASON_MODEL_MISMATCH or self._has_another_model():
            return outcome
        # The tier has another model than the space; ours may be the space's.
        self._models.record_tier_lacks_model(space)
        return _of_both(outcome, await self._ask_vector_with(query, request, clock))

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
        """Whether the space is known to be embedded with another model than ours: our embedder is not asked then."""
        recorded = self._models.recorded(current_call().space)
        return recorded is not None and recorded.model != self._queries.model

    def _has_our_model(self) -> bool:
        """Whether it is known to be ours. Where ours gives no vector, a tier that may have another one is let try."""
        recorded = self._models.recorded(current_call().space)
        return recorded is not None and recorded.model == self._queries.model

    def _facts_have_vectors(self) -> bool:
        """Where they have none, the graph leg does not wait for the query's vector."""
        return self._models.facts_have_vectors(current_call().space)

    async def _ask_vector(
        self, request: Request, embedding: Embedding, clock: Budget, *, embeds: bool = False
    ) -> LegOutcome:
        """`embeds` leaves it to the tier to make the query's vector; else no vector is a search by words."""
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
            )

        return await run_leg(
            legs_pb2.LEG_VECTOR, lambda: self._vector.hybrid_search(asked, clock.left()), outcome
        )

    async def _facts(self, request: Request, query: QueryVector, clock: Budget) -> LegOutcome:
        if request.HasField("use_graph") and not request.use_graph:
            return not_requested(legs_pb2.LEG_GRAPH)
        if self._facts_have_vectors():
            return await self._ask_graph_with(query, request, clock)
        asked = facts_request(request, None, text_only=True)
        outcome = await self._ask_graph(asked, limit_of(request), clock)
        if outcome.report.status != legs_pb2.LEG_STATUS_DEGRADED:
            return outcome
        # Somebody has added vectors since, so that the guess cost the vector's part.
        return _of_both(outcome, await self._ask_graph_with(query, request, clock))

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


def leg_budget(left: float) -> float:
    """Seconds that the legs may take of the `left` ones, so that the answer is there in time."""
    margin = min(max(left * MARGIN_SHARE, MIN_MARGIN), MAX_MARGIN)
    return left - min(margin, left / 2)


_VECTORS_MISSING = frozenset({legs_pb2.LEG_STATUS_DEGRADED, legs_pb2.LEG_STATUS_TIMED_OUT})


def _needed_vectors(answer: query_pb2.SearchFactsResponse) -> bool:
    """Whether the space's facts have vectors: they were compared, were late, or lacked the query's to compare with."""
    compared = answer.vector_path != retrieval_pb2.VECTOR_PATH_UNSPECIFIED
    return compared or answer.status in _VECTORS_MISSING


def _without_vectors(report: legs_pb2.LegReport) -> legs_pb2.LegReport:
    """Whatever the tier says of a search by words alone, it was asked for less than the caller wanted."""
    if report.reason == legs_pb2.LEG_REASON_UNSPECIFIED:
        report.status = legs_pb2.LEG_STATUS_DEGRADED
        report.reason = legs_pb2.LEG_REASON_EMBEDDER_UNAVAILABLE
    return report


async def _or_without_vector(
    ask: Callable[[], Awaitable[LegOutcome]], again: Callable[[], Awaitable[LegOutcome]]
) -> LegOutcome:
    """Asks `again` where the space has other vectors by the name of our model: the tier then says what it lacks."""
    try:
        return await ask()
    except BraidError as error:
        if not is_of_the_vector(error):
            raise
    return await again()


def _of_both(first: LegOutcome, second: LegOutcome) -> LegOutcome:
    """The second answer, or where there is none, the first: what it had is not lost by asking again."""
    if not _clarified(second).failed:
        return second
    if second.report.status == legs_pb2.LEG_STATUS_TIMED_OUT:
        first.report.status = legs_pb2.LEG_STATUS_TIMED_OUT
        first.report.reason = legs_pb2.LEG_REASON_BUDGET_EXCEEDED
    return first


def _require_an_answer(outcomes: Sequence[LegOutcome]) -> None:
    asked = [o for o in outcomes if o.report.status != legs_pb2.LEG_STATUS_DISABLED]
    if not all(outcome.failed for outcome in asked):
        return
    if all(o.report.reason == legs_pb2.LEG_REASON_OVERLOADED for o in asked):
        raise OverloadedError(max(outcome.retry_after or 0.0 for outcome in asked) or 1.0)
    error = AllLegsFailedError({leg_name(o.report.leg): _name(o.report) for o in asked})
    error.metadata |= {f"{leg_name(o.report.leg)}_reason": _reason(o.report) for o in asked}
    raise error


def _clarified(outcome: LegOutcome) -> LegOutcome:
    """A leg that was late and has nothing failed: that is no word on what there is to be found."""
    late = outcome.report.status == legs_pb2.LEG_STATUS_TIMED_OUT
    if late and not outcome.chunks and not outcome.facts:
        return replace(outcome, failed=True)
    return outcome


def _name(report: legs_pb2.LegReport) -> str:
    return legs_pb2.LegStatus.Name(report.status).removeprefix("LEG_STATUS_")


def _reason(report: legs_pb2.LegReport) -> str:
    return legs_pb2.LegReason.Name(report.reason).removeprefix("LEG_REASON_")


def _question(
    request: Request, embedding: Embedding, options: expansion_pb2.ExpansionOptions
) -> Question:
    at = request.as_of if request.HasField("as_of") else None
    if options.HasField("traversal_time"):
        at = options.traversal_time
    return Question(request.query, embedding, text_weight_of(request), request.cache, at)


def _describe(made: trace.Span, outcome: LegOutcome) -> None:
    """The leg's status, reason and number of hits on its span."""
    report = outcome.report
    made.set_attribute("leg.status", _name(report))
    made.set_attribute("leg.reason", legs_pb2.LegReason.Name(report.reason))
    made.set_attribute("leg.hits", report.hit_count)
    if outcome.failed:
        fail(made, legs_pb2.LegReason.Name(report.reason))


def _obstacle(
    outcomes: Sequence[LegOutcome],
) -> tuple[legs_pb2.LegStatus.ValueType, legs_pb2.LegReason.ValueType] | None:
    """Why the list cannot be expanded: a leg that it needs is off, or did not answer."""
    chunks = outcomes[0].report
    if chunks.status == legs_pb2.LEG_STATUS_DISABLED:
        return chunks.status, chunks.reason
    failed = next((one.report for one in outcomes if one.failed), None)
    return None if failed is None else (legs_pb2.LEG_STATUS_DEGRADED, failed.reason)


def _answer(
    outcomes: Sequence[LegOutcome], source: Source
) -> search_pb2.ComprehensiveSearchResponse:
    """The legs' answers, without the fused list."""
    chunks = [hit for outcome in outcomes for hit in outcome.chunks]
    facts = [hit for outcome in outcomes for hit in outcome.facts]
    return search_pb2.ComprehensiveSearchResponse(
        vector_results=chunks,
        graph_results=facts,
        legs=[outcome.report for outcome in outcomes],
        result_count=len(chunks) + len(facts),
        embedding_source=source or _made_by_a_tier(outcomes),
    )


def _made_by_a_tier(outcomes: Sequence[LegOutcome]) -> Source:
    """Where a tier took the query's vector from; one that it was given is told of by the one who gave it."""
    sources = (outcome.embedding for outcome in outcomes)
    return next((s for s in sources if s != retrieval_pb2.EMBEDDING_SOURCE_GIVEN), NO_SOURCE)

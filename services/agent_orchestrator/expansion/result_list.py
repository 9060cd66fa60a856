"""Expands a result list: its best passages are the seeds; the passages reached are read and ordered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import grpc

from braid.agent.v1 import search_pb2
from braid.common.v1 import expansion_pb2, legs_pb2
from services.agent_orchestrator.clients.failures import reason_of
from services.agent_orchestrator.clients.health_watch import TierUnavailableError
from services.agent_orchestrator.expansion.chunk_filter import passes
from services.agent_orchestrator.expansion.coverage_selection import cover
from services.agent_orchestrator.expansion.query_aware import (
    Question,
    Seed,
    score_request,
)
from services.agent_orchestrator.expansion.result_order import arrange, report_lists

if TYPE_CHECKING:
    from braid.graph.v1 import facts_pb2
    from braid.vector.v1 import chunks_pb2
    from braid.vector.v1 import search_pb2 as vector_pb2
    from services.agent_orchestrator.clients.budget import Budget
    from services.agent_orchestrator.clients.tiers import VectorTier
    from services.agent_orchestrator.expansion.expander import Expander, ExpansionRequest


@dataclass(frozen=True, slots=True)
class SearchedList:
    """Results before expansion, best first; `chunk_ids` are the results that are passages with known chunk scores.

    `facts` are the found facts by the passage that they cite; `filter` is the filter that listed passages must pass.
    """

    results: Sequence[search_pb2.SearchResult]
    chunk_ids: frozenset[str]
    facts: Mapping[str, Sequence[facts_pb2.Fact]] = field(default_factory=dict)
    filter: chunks_pb2.ChunkFilter | None = None


@dataclass(frozen=True, slots=True)
class ExpandedList:
    """Results after expansion, best first, the added chunks, and the report."""

    results: Sequence[search_pb2.SearchResult]
    brought: Mapping[str, vector_pb2.ChunkScore]
    report: expansion_pb2.ExpansionReport


class ListExpansion:
    """Expands lists of results."""

    def __init__(self, expander: Expander, vector: VectorTier) -> None:
        self._expander = expander
        self._vector = vector

    async def expand(
        self,
        searched: SearchedList,
        wanted: ExpansionRequest,
        limit: int,
        budget: Budget,
    ) -> ExpandedList:
        """Returns the best `limit` results. The first results do not depend on the limit."""
        seeds = [
            Seed(one.id, one.score) for one in searched.results if one.id in searched.chunk_ids
        ]
        if not seeds:
            return results_without_expansion(
                searched.results, wanted.options.mode, legs_pb2.LEG_STATUS_NO_MATCH, limit
            )
        expanded = await self._expander.expand(wanted, seeds, budget)
        report, reached = expanded.report, expanded.reach.passages
        fresh = [one.chunk_id for one in reached if one.chunk_id not in searched.chunk_ids]
        try:
            brought = await self._read(wanted.question, fresh, searched.filter, budget)
        except (grpc.aio.AioRpcError, TierUnavailableError) as error:
            brought = {}
            report.status, report.reason = legs_pb2.LEG_STATUS_DEGRADED, reason_of(error)
        added = {
            one.chunk_id: _result(one, searched.facts.get(one.chunk_id, ()))
            for one in brought.values()
        }
        if wanted.options.mode == expansion_pb2.EXPANSION_MODE_QUERY_AWARE:
            texts = {one.id: f"{one.title} {one.content}" for one in searched.results}
            texts |= {key: f"{one.title} {one.content}" for key, one in added.items()}
            reached = cover(wanted.question.text, reached, texts)
        before = [one.id for one in searched.results[:limit]]
        by_value = wanted.options.mode == expansion_pb2.EXPANSION_MODE_FORMULA
        results = arrange(searched.results, reached, added, searched.chunk_ids, by_value=by_value)[
            :limit
        ]
        report_lists(report, before, (one.id for one in results))
        return ExpandedList(results, brought, report)

    async def _read(
        self,
        question: Question,
        chunk_ids: Sequence[str],
        only: chunks_pb2.ChunkFilter | None,
        budget: Budget,
    ) -> dict[str, vector_pb2.ChunkScore]:
        """Returns the chunks that pass the filter, with their texts."""
        if not chunk_ids:
            return {}
        answer = await self._vector.score_chunks(
            score_request(question, chunk_ids, include_chunks=True), budget.left()
        )
        return {
            one.chunk_id: one
            for one in answer.scores
            if one.in_force and one.HasField("chunk") and passes(one.chunk, only)
        }


def results_without_expansion(
    results: Sequence[search_pb2.SearchResult],
    mode: expansion_pb2.ExpansionMode.ValueType,
    status: legs_pb2.LegStatus.ValueType,
    limit: int,
    reason: legs_pb2.LegReason.ValueType = legs_pb2.LEG_REASON_UNSPECIFIED,
) -> ExpandedList:
    """Returns the list unchanged, with the reason."""
    report = expansion_pb2.ExpansionReport(mode=mode, status=status, reason=reason)
    shown = results[:limit]
    report_lists(report, [one.id for one in shown], [one.id for one in shown])
    return ExpandedList(shown, {}, report)


def _result(
    scored: vector_pb2.ChunkScore, facts: Sequence[facts_pb2.Fact]
) -> search_pb2.SearchResult:
    chunk = scored.chunk
    return search_pb2.SearchResult(
        id=chunk.id,
        document_id=chunk.document_id,
        title=chunk.document_title,
        source=chunk.source,
        content=chunk.content,
        score=scored.score,
        contributions=[
            search_pb2.Contribution(leg=legs_pb2.LEG_VECTOR, score=scored.score, share=scored.score)
        ],
        facts=facts,
        metadata=chunk.metadata,
    )

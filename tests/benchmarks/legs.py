"""Calls of the comprehensive search, and of its two legs directly, over gRPC without retries."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable
from dataclasses import dataclass

from braid.agent.v1 import search_pb2, search_pb2_grpc
from braid.common.v1 import expansion_pb2, legs_pb2, retrieval_pb2
from braid.graph.v1 import query_pb2, query_pb2_grpc
from braid.vector.v1 import search_pb2 as vector_pb2
from braid.vector.v1 import search_pb2_grpc as vector_pb2_grpc
from deploy.local.stack import LocalStack
from services.agent_orchestrator.search.comprehensive import MAX_SCORED
from services.agent_orchestrator.search.fusion import ranked_chunks, unscored_chunks
from services.agent_orchestrator.search.requests import MAX_FACTS
from tests.benchmarks.harness import channel_to
from tests.benchmarks.hop import Hop, bare_hop

LEGS = ("vector", "graph")
_SEARCHED = frozenset({legs_pb2.LEG_STATUS_OK, legs_pb2.LEG_STATUS_NO_MATCH})
_LIMIT = 10
_DEADLINE = 10.0
# The same text is sent to several APIs; none may profit from a result that another one cached.
_NO_CACHE = retrieval_pb2.CACHE_MODE_BYPASS
# A caller of both tiers has no expansion; its cost is measured by `expand`.
_UNEXPANDED = expansion_pb2.ExpansionOptions(mode=expansion_pb2.EXPANSION_MODE_NONE)

Reports = dict[str, legs_pb2.LegReport]


@dataclass(frozen=True, slots=True)
class Searches:
    """The same question at three APIs. Each call raises AioRpcError if it fails."""

    orchestrator: search_pb2_grpc.SearchServiceStub
    vector_tier: vector_pb2_grpc.VectorSearchServiceStub
    graph_tier: query_pb2_grpc.GraphQueryServiceStub
    hop: Hop

    async def comprehensive(self, text: str, deadline: float | None = _DEADLINE) -> Reports:
        """Returns the report of each leg by name; `deadline` is in seconds, None sets none."""
        request = search_pb2.ComprehensiveSearchRequest(
            query=text, limit=_LIMIT, cache=_NO_CACHE, expansion=_UNEXPANDED
        )
        answer = await self.orchestrator.ComprehensiveSearch(request, timeout=deadline)
        return reports_of(answer)

    def vector(self, text: str) -> Awaitable[vector_pb2.HybridSearchResponse]:
        """Calls the leg `vector` at its tier, which embeds the text."""
        request = vector_pb2.HybridSearchRequest(query=text, limit=_LIMIT, cache=_NO_CACHE)
        return self.vector_tier.HybridSearch(request, timeout=_DEADLINE)

    def graph(self, text: str, limit: int = _LIMIT) -> Awaitable[query_pb2.SearchFactsResponse]:
        """Calls the leg `graph` at its tier, which embeds the text if the space has vectors."""
        request = query_pb2.SearchFactsRequest(query=text, limit=limit)
        return self.graph_tier.SearchFacts(request, timeout=_DEADLINE)

    async def by_caller(self, text: str) -> None:
        """Does the comprehensive search's work in the caller: both tiers concurrently, then scores of facts' chunks."""
        found, facts = await asyncio.gather(self.vector(text), self.graph(text, MAX_FACTS))
        wanted = unscored_chunks(ranked_chunks(found.hits), facts.hits, MAX_SCORED)
        if not wanted:
            return
        request = vector_pb2.ScoreChunksRequest(
            query=text, chunk_ids=wanted, include_chunks=True, cache=_NO_CACHE
        )
        await self.vector_tier.ScoreChunks(request, timeout=_DEADLINE)


def reports_of(answer: search_pb2.ComprehensiveSearchResponse) -> Reports:
    """Returns the legs' reports by name."""
    return {legs_pb2.Leg.Name(leg.leg).removeprefix("LEG_").lower(): leg for leg in answer.legs}


def has_searched(reports: Reports, leg: str) -> bool:
    """Returns whether a leg reports that it has searched completely."""
    return leg in reports and reports[leg].status in _SEARCHED


def describe(reports: Reports) -> str:
    """Describes the reports."""
    return ", ".join(
        f"{name} {legs_pb2.LegStatus.Name(leg.status)} {legs_pb2.LegReason.Name(leg.reason)}"
        for name, leg in sorted(reports.items())
    )


@contextlib.asynccontextmanager
async def searches(stack: LocalStack) -> AsyncIterator[Searches]:
    """Opens the three APIs of a running stack."""
    async with (
        channel_to(stack, "agent_orchestrator") as orchestrator,
        channel_to(stack, "vector_search") as vector_tier,
        channel_to(stack, "graph_query") as graph_tier,
    ):
        yield Searches(
            search_pb2_grpc.SearchServiceStub(orchestrator),
            vector_pb2_grpc.VectorSearchServiceStub(vector_tier),
            query_pb2_grpc.GraphQueryServiceStub(graph_tier),
            bare_hop(orchestrator),
        )

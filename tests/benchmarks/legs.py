"""The comprehensive search and its two legs called directly, over gRPC without retries."""

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
_LOOKED = frozenset({legs_pb2.LEG_STATUS_OK, legs_pb2.LEG_STATUS_NO_MATCH})
_LIMIT = 10
_DEADLINE = 10.0
# The same text goes to several doors: none of them may profit from what another one has found.
_NO_CACHE = retrieval_pb2.CACHE_MODE_BYPASS
# A caller who asks both tiers expands nothing: that has a benchmark of its own.
_UNEXPANDED = expansion_pb2.ExpansionOptions(mode=expansion_pb2.EXPANSION_MODE_NONE)

Reports = dict[str, legs_pb2.LegReport]


@dataclass(frozen=True, slots=True)
class Searches:
    """The same question at three doors. Each call raises AioRpcError when it fails."""

    orchestrator: search_pb2_grpc.SearchServiceStub
    vector_tier: vector_pb2_grpc.VectorSearchServiceStub
    graph_tier: query_pb2_grpc.GraphQueryServiceStub
    hop: Hop

    async def comprehensive(self, text: str, deadline: float | None = _DEADLINE) -> Reports:
        """How each leg ended, by name, within `deadline` seconds; None is for a caller who sets none."""
        request = search_pb2.ComprehensiveSearchRequest(
            query=text, limit=_LIMIT, cache=_NO_CACHE, expansion=_UNEXPANDED
        )
        answer = await self.orchestrator.ComprehensiveSearch(request, timeout=deadline)
        return reports_of(answer)

    def vector(self, text: str) -> Awaitable[vector_pb2.HybridSearchResponse]:
        """The leg `vector` at its own tier, which embeds the text itself."""
        request = vector_pb2.HybridSearchRequest(query=text, limit=_LIMIT, cache=_NO_CACHE)
        return self.vector_tier.HybridSearch(request, timeout=_DEADLINE)

    def graph(self, text: str, limit: int = _LIMIT) -> Awaitable[query_pb2.SearchFactsResponse]:
        """The leg `graph` at its own tier, which embeds the text itself where it has vectors."""
        request = query_pb2.SearchFactsRequest(query=text, limit=limit)
        return self.graph_tier.SearchFacts(request, timeout=_DEADLINE)

    async def by_caller(self, text: str) -> None:
        """What the comprehensive search does, done by its caller: both tiers at once, then the passages of facts."""
        found, facts = await asyncio.gather(self.vector(text), self.graph(text, MAX_FACTS))
        wanted = unscored_chunks(ranked_chunks(found.hits), facts.hits, MAX_SCORED)
        if not wanted:
            return
        request = vector_pb2.ScoreChunksRequest(
            query=text, chunk_ids=wanted, include_chunks=True, cache=_NO_CACHE
        )
        await self.vector_tier.ScoreChunks(request, timeout=_DEADLINE)


def reports_of(answer: search_pb2.ComprehensiveSearchResponse) -> Reports:
    """How each leg of an answer ended, by the leg's name."""
    return {legs_pb2.Leg.Name(leg.leg).removeprefix("LEG_").lower(): leg for leg in answer.legs}


def looked(reports: Reports, leg: str) -> bool:
    """Whether the leg is said to have looked in full."""
    return leg in reports and reports[leg].status in _LOOKED


def told(reports: Reports) -> str:
    """The reports in words."""
    return ", ".join(
        f"{name} {legs_pb2.LegStatus.Name(leg.status)} {legs_pb2.LegReason.Name(leg.reason)}"
        for name, leg in sorted(reports.items())
    )


@contextlib.asynccontextmanager
async def searches(stack: LocalStack) -> AsyncIterator[Searches]:
    """The three doors of a running stack."""
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

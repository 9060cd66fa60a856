"""The memory leg of a search: adds the user's memories to the results, if the caller asks for them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from google.protobuf.duration_pb2 import Duration

from braid.agent.v1 import memories_pb2, search_pb2
from braid.common.v1 import expansion_pb2, legs_pb2, reranking_pb2
from services.agent_orchestrator.clients.failures import reason_of
from services.agent_orchestrator.search.legs import LegOutcome
from services.agent_orchestrator.search.requests import limit_of
from services.runtime.errors import BraidError, WrongStateError
from services.runtime.telemetry import get_logger

if TYPE_CHECKING:
    from services.agent_orchestrator.clients.budget import Budget

SearchMemories = Callable[
    [memories_pb2.SearchMemoriesRequest], Awaitable[memories_pb2.SearchMemoriesResponse]
]


class MemoryLeg:
    """Searches the calling user's memories."""

    def __init__(self, search: SearchMemories) -> None:
        self._search = search

    async def run(
        self,
        request: search_pb2.ComprehensiveSearchRequest,
        clock: Budget,
        rerank: reranking_pb2.RerankMode.ValueType,
    ) -> LegOutcome:
        """Returns the memories found, reranked as the caller requests.

        A failure becomes an outcome; raises WrongStateError if memories are not set up.
        """
        asked = memories_pb2.SearchMemoriesRequest(
            query=request.query,
            limit=limit_of(request),
            cache=request.cache,
            rerank=rerank,
            expansion=expansion_pb2.ExpansionOptions(mode=expansion_pb2.EXPANSION_MODE_NONE),
        )
        report = legs_pb2.LegReport(leg=legs_pb2.LEG_MEMORY)
        started = time.perf_counter_ns()
        try:
            async with asyncio.timeout(clock.left()):
                answer = await self._search(asked)
        except WrongStateError:
            raise
        except (BraidError, TimeoutError) as error:
            report.reason = reason_of(error)
            late = report.reason == legs_pb2.LEG_REASON_BUDGET_EXCEEDED
            report.status = (
                legs_pb2.LEG_STATUS_TIMED_OUT if late else legs_pb2.LEG_STATUS_UNAVAILABLE
            )
            get_logger("search").warning("memories not searched", cause=type(error).__name__)
            _time(report, started)
            retry_after = error.retry_after if isinstance(error, BraidError) else None
            return LegOutcome(report, failed=True, retry_after=retry_after)
        report.status, report.reason = answer.status, answer.reason
        report.hit_count = len(answer.hits)
        _time(report, started)
        return LegOutcome(report, memories=answer.hits)


def with_memories(
    results: Sequence[search_pb2.SearchResult], memories: LegOutcome | None, limit: int
) -> list[search_pb2.SearchResult]:
    """Merges results and memories by descending score, on one scale; with equal scores, results come first."""
    found = [] if memories is None else [_result(*hit) for hit in enumerate(memories.memories, 1)]
    return sorted([*results, *found], key=lambda one: -one.score)[:limit]


def _result(rank: int, hit: memories_pb2.MemoryHit) -> search_pb2.SearchResult:
    memory = hit.memory
    part = search_pb2.Contribution(
        leg=legs_pb2.LEG_MEMORY, rank=rank, score=hit.score, share=hit.score
    )
    return search_pb2.SearchResult(
        id=memory.id,
        title=memory.title,
        content=memory.content,
        score=hit.score,
        contributions=[part],
        metadata=memory.metadata,
        memory_type=memory.type,
    )


def _time(report: legs_pb2.LegReport, started: int) -> None:
    seconds, nanos = divmod(time.perf_counter_ns() - started, 1_000_000_000)
    report.elapsed.CopyFrom(Duration(seconds=seconds, nanos=nanos))

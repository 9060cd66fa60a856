"""Runs one leg of a search within its budget; every end of a leg has a typed status."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import grpc

from braid.common.v1 import errors_pb2, legs_pb2, retrieval_pb2
from services.agent_orchestrator.clients.failures import (
    came_from_tier,
    leg_status_of,
    status_of_failure,
)
from services.agent_orchestrator.clients.health_watch import TierUnavailableError
from services.runtime.errors import BraidError
from services.runtime.leg_reports import leg_report
from services.runtime.status import error_from_rpc, reason_name
from services.runtime.telemetry import get_logger

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from braid.agent.v1 import memories_pb2
    from braid.graph.v1 import facts_pb2, query_pb2
    from braid.vector.v1 import chunks_pb2, search_pb2

Answer = TypeVar("Answer", "search_pb2.HybridSearchResponse", "query_pb2.SearchFactsResponse")


@dataclass(frozen=True, slots=True)
class LegOutcome:
    """The end of a leg and its results: chunks, facts or memories.

    `failed` is true if its tier gave no answer, or timed out without results; a leg that timed out may have partial
    results. `facts` are the first of `evidence`, which has all relevant ones; `chunks` the first of `candidates`.
    `embedding` is the source of the query's vector, `floor` the score that a chunk needed to be listed, `nearest` the
    best chunks if none is relevant, `retry_after` the seconds after which a failed tier may be called again, if it
    named them.
    """

    report: legs_pb2.LegReport
    chunks: Sequence[chunks_pb2.ChunkHit] = ()
    candidates: Sequence[chunks_pb2.ChunkHit] = ()
    facts: Sequence[facts_pb2.FactHit] = ()
    evidence: Sequence[facts_pb2.FactHit] = ()
    memories: Sequence[memories_pb2.MemoryHit] = ()
    embedding: retrieval_pb2.EmbeddingSource.ValueType = retrieval_pb2.EMBEDDING_SOURCE_UNSPECIFIED
    failed: bool = False
    floor: float = 0.0
    nearest: Sequence[chunks_pb2.ChunkHit] = ()
    retry_after: float | None = None


Leg: TypeAlias = "legs_pb2.Leg.ValueType"


def leg_name(leg: Leg) -> str:
    """Returns `vector` or `graph`: the leg's name in logs, metrics and errors."""
    return legs_pb2.Leg.Name(leg).removeprefix("LEG_").lower()


def not_requested(leg: Leg) -> LegOutcome:
    """Returns the outcome of a leg that the caller disabled."""
    return LegOutcome(
        legs_pb2.LegReport(
            leg=leg,
            status=legs_pb2.LEG_STATUS_DISABLED,
            reason=legs_pb2.LEG_REASON_NOT_REQUESTED,
        )
    )


async def run_leg(
    leg: Leg,
    look: Callable[[], Awaitable[Answer | None]],
    outcome: Callable[[Answer, legs_pb2.LegReport], LegOutcome],
) -> LegOutcome:
    """Runs one leg. A failure becomes an outcome; only INVALID_FIELD, the caller's own error, is raised."""
    started = time.perf_counter_ns()
    try:
        answer = await look()
    except grpc.aio.AioRpcError as error:
        failure = error_from_rpc(error)
        if failure.reason == errors_pb2.ERROR_REASON_INVALID_FIELD and came_from_tier(failure):
            raise failure from None
        end = status_of_failure(error, failure)
        _log_failure(leg, error, failure)
        report = leg_report(leg, end, started)
        return LegOutcome(report, failed=True, retry_after=failure.retry_after)
    except TierUnavailableError as unavailable:
        get_logger("search").warning("leg given up", leg=leg_name(leg), reason=str(unavailable))
        end = leg_status_of(unavailable), unavailable.reason
        return LegOutcome(leg_report(leg, end, started), failed=True)
    if answer is None:  # gRPC returns None if it could not parse the answer
        get_logger("search").error("leg unreadable", leg=leg_name(leg))
        end = legs_pb2.LEG_STATUS_UNAVAILABLE, legs_pb2.LEG_REASON_INTERNAL
        return LegOutcome(leg_report(leg, end, started), failed=True)
    end = answer.leg.status, answer.leg.reason
    report = leg_report(leg, end, started, len(answer.hits), cached=answer.leg.cached)
    return outcome(answer, report)


def _log_failure(leg: Leg, error: grpc.aio.AioRpcError, failure: BraidError) -> None:
    code = error.code()
    get_logger("search").warning(
        "leg failed", leg=leg_name(leg), code=code.name if code else "", reason=reason_name(failure)
    )

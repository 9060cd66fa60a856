"""Maps failed calls to a tier to the status and the reason that a search reports."""

from __future__ import annotations

from typing import TypeAlias

import grpc

from braid.common.v1 import errors_pb2, legs_pb2
from services.agent_orchestrator.clients.health_watch import TierUnavailableError
from services.runtime.errors import BraidError, DeadlineError
from services.runtime.status import error_from_rpc

Reason: TypeAlias = legs_pb2.LegReason.ValueType

_REASONS: dict[errors_pb2.ErrorReason.ValueType, legs_pb2.LegReason.ValueType] = {
    errors_pb2.ERROR_REASON_STORE_UNAVAILABLE: legs_pb2.LEG_REASON_STORE_UNAVAILABLE,
    errors_pb2.ERROR_REASON_EMBEDDER_UNAVAILABLE: legs_pb2.LEG_REASON_EMBEDDER_UNAVAILABLE,
    errors_pb2.ERROR_REASON_OVERLOADED: legs_pb2.LEG_REASON_OVERLOADED,
    errors_pb2.ERROR_REASON_WRONG_STATE: legs_pb2.LEG_REASON_MODEL_MISMATCH,
}
# Status codes that gRPC itself sets if no process answers, or if it ends during the call.
_UNAVAILABLE = frozenset({grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED})


def status_of_failure(
    error: grpc.aio.AioRpcError, failure: BraidError
) -> tuple[legs_pb2.LegStatus.ValueType, legs_pb2.LegReason.ValueType]:
    """Returns the status and reason of a call that raised `error`; `failure` is the same error in Braid's terms."""
    if failure.reason == errors_pb2.ERROR_REASON_DEADLINE:
        return legs_pb2.LEG_STATUS_TIMED_OUT, legs_pb2.LEG_REASON_BUDGET_EXCEEDED
    if error.code() in _UNAVAILABLE and not came_from_tier(failure):
        return legs_pb2.LEG_STATUS_UNAVAILABLE, legs_pb2.LEG_REASON_SERVICE_UNAVAILABLE
    reason = _REASONS.get(failure.reason, legs_pb2.LEG_REASON_INTERNAL)
    return legs_pb2.LEG_STATUS_UNAVAILABLE, reason


def leg_status_of(unavailable: TierUnavailableError) -> legs_pb2.LegStatus.ValueType:
    """Returns the status of an unavailable tier: timed out if it stopped responding while a leg waited for it."""
    silent = unavailable.reason == legs_pb2.LEG_REASON_SERVICE_UNAVAILABLE
    if unavailable.under_way and silent:
        return legs_pb2.LEG_STATUS_TIMED_OUT
    return legs_pb2.LEG_STATUS_UNAVAILABLE


def came_from_tier(failure: BraidError) -> bool:
    """Whether the tier sent the failure, not gRPC, as for an answer that exceeds the maximum message size."""
    return "request_id" in failure.metadata


def reason_of(
    error: grpc.aio.AioRpcError | TierUnavailableError | TimeoutError | BraidError,
) -> Reason:
    """Returns the reason why a step of a search failed."""
    if isinstance(error, TierUnavailableError):
        return error.reason
    if isinstance(error, TimeoutError | DeadlineError):
        return legs_pb2.LEG_REASON_BUDGET_EXCEEDED
    if isinstance(error, BraidError):
        return _REASONS.get(error.reason, legs_pb2.LEG_REASON_INTERNAL)
    return status_of_failure(error, error_from_rpc(error))[1]

"""The details of a failed call, read from its rich status."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import grpc
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

from braid_protocol.field_error import FieldError

DOMAIN = "braid"
# gRPC's message, with INTERNAL, when a message of a stream could not be sent because the connection broke.
_NOT_SENT = "Internal error from Core"


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed call.

    `reason` is a name of `braid.common.v1.ErrorReason` without its prefix, or empty if the error is not Braid's
    own (no connection, a deadline that passed in transit). `retry_after` is in seconds.
    """

    code: grpc.StatusCode
    reason: str
    message: str
    fields: tuple[FieldError, ...] = ()
    retry_after: float | None = None
    metadata: dict[str, str] = field(default_factory=dict)


LOST = Failure(grpc.StatusCode.UNAVAILABLE, "", "The connection was lost.")
TIME_UP = Failure(grpc.StatusCode.DEADLINE_EXCEEDED, "", "Deadline Exceeded")


def is_not_sent(error: Any) -> bool:
    """Whether gRPC could not send a message of a stream of requests; gRPC gives no cause."""
    return error.code() is grpc.StatusCode.INTERNAL and error.details() == _NOT_SENT


def failure_of(error: Any) -> Failure:
    """Reads a `grpc.RpcError` of either API, sync or asyncio."""
    code: grpc.StatusCode = error.code()
    if is_not_sent(error):
        return LOST
    try:
        status = rpc_status.from_call(error)
    except ValueError:
        status = None  # its details were too large, and gRPC ended the call with its own code
    return (status and _from_details(code, status)) or Failure(code, "", error.details() or "")


def _from_details(code: grpc.StatusCode, status: status_pb2.Status) -> Failure | None:
    info = error_details_pb2.ErrorInfo()
    bad = error_details_pb2.BadRequest()
    retry = error_details_pb2.RetryInfo()
    for detail in status.details:
        for message in (info, bad, retry):
            detail.Unpack(message)  # does nothing when the detail is of another type
    if info.domain != DOMAIN:
        return None
    delay = retry.retry_delay.seconds + retry.retry_delay.nanos / 1e9
    return Failure(
        code=code,
        reason=info.reason,
        message=status.message,
        fields=tuple(FieldError(v.field, v.description) for v in bad.field_violations),
        retry_after=delay or None,
        metadata=dict(info.metadata),
    )

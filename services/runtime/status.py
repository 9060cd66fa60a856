"""Errors to rich gRPC status and back: the one switch between the two."""

from __future__ import annotations

from typing import TYPE_CHECKING

import grpc
from google.protobuf import any_pb2, duration_pb2
from google.rpc import code_pb2, error_details_pb2, status_pb2
from grpc_status import rpc_status

from braid.common.v1 import errors_pb2
from services.runtime.errors import (
    INTERNAL_MESSAGE,
    BraidError,
    DeadlineError,
    FieldError,
    InternalError,
    StoreUnavailableError,
)

if TYPE_CHECKING:
    from google.protobuf.message import Message

DOMAIN = "braid"

CODES: dict[errors_pb2.ErrorReason.ValueType, grpc.StatusCode] = {
    errors_pb2.ERROR_REASON_INVALID_FIELD: grpc.StatusCode.INVALID_ARGUMENT,
    errors_pb2.ERROR_REASON_INVALID_CREDENTIAL: grpc.StatusCode.UNAUTHENTICATED,
    errors_pb2.ERROR_REASON_MISSING_SCOPE: grpc.StatusCode.PERMISSION_DENIED,
    errors_pb2.ERROR_REASON_NOT_FOUND: grpc.StatusCode.NOT_FOUND,
    errors_pb2.ERROR_REASON_WRONG_STATE: grpc.StatusCode.FAILED_PRECONDITION,
    errors_pb2.ERROR_REASON_STORE_UNAVAILABLE: grpc.StatusCode.UNAVAILABLE,
    errors_pb2.ERROR_REASON_EMBEDDER_UNAVAILABLE: grpc.StatusCode.UNAVAILABLE,
    errors_pb2.ERROR_REASON_ALL_LEGS_FAILED: grpc.StatusCode.UNAVAILABLE,
    errors_pb2.ERROR_REASON_OVERLOADED: grpc.StatusCode.RESOURCE_EXHAUSTED,
    errors_pb2.ERROR_REASON_DEADLINE: grpc.StatusCode.DEADLINE_EXCEEDED,
    errors_pb2.ERROR_REASON_INTERNAL: grpc.StatusCode.INTERNAL,
}

_NUMBERS = {code: code.value[0] for code in grpc.StatusCode}


def code_of(error: BraidError) -> grpc.StatusCode:
    """The canonical code of an error's reason."""
    return CODES.get(error.reason, grpc.StatusCode.INTERNAL)


def reason_name(error: BraidError) -> str:
    """The reason as callers see it, without the enum's prefix."""
    return errors_pb2.ErrorReason.Name(error.reason).removeprefix("ERROR_REASON_")


def to_status(error: BraidError, request_id: str) -> grpc.Status:
    """The whole status of an error: code, sentence, ErrorInfo, BadRequest, RetryInfo."""
    return rpc_status.to_status(
        status_pb2.Status(
            code=_NUMBERS[code_of(error)],
            message=error.message,
            details=[_packed(detail) for detail in _details(error, request_id)],
        )
    )


def error_from_rpc(error: grpc.aio.AioRpcError) -> BraidError:
    """The typed error of a failed call; one without Braid's details is told by its code alone."""
    status = rpc_status.from_call(error)  # type: ignore[arg-type] # has what a Call has
    if status is None:
        return _from_code(error.code())
    return _from_details(status) or _from_code(error.code())


def _packed(message: Message) -> any_pb2.Any:
    packed = any_pb2.Any()
    packed.Pack(message)
    return packed


def _details(error: BraidError, request_id: str) -> list[Message]:
    info = error_details_pb2.ErrorInfo(
        reason=reason_name(error),
        domain=DOMAIN,
        metadata={**error.metadata, "request_id": request_id},
    )
    details: list[Message] = [info]
    if error.fields:
        violations = [
            error_details_pb2.BadRequest.FieldViolation(field=field, description=description)
            for field, description in error.fields
        ]
        details.append(error_details_pb2.BadRequest(field_violations=violations))
    if error.retry_after is not None:
        details.append(error_details_pb2.RetryInfo(retry_delay=_duration(error.retry_after)))
    return details


def _duration(seconds: float) -> duration_pb2.Duration:
    return duration_pb2.Duration(seconds=int(seconds), nanos=round(seconds % 1 * 1e9))


def _from_details(status: status_pb2.Status) -> BraidError | None:
    info = error_details_pb2.ErrorInfo()
    bad = error_details_pb2.BadRequest()
    retry = error_details_pb2.RetryInfo()
    for detail in status.details:
        for message in (info, bad, retry):
            detail.Unpack(message)  # does nothing when the detail is of another type
    name = f"ERROR_REASON_{info.reason}"
    if info.domain != DOMAIN or name not in errors_pb2.ErrorReason.keys():  # noqa: SIM118 - an enum wrapper, no mapping
        return None
    delay = retry.retry_delay.seconds + retry.retry_delay.nanos / 1e9
    return BraidError(
        status.message,
        metadata=dict(info.metadata),
        fields=tuple(FieldError(v.field, v.description) for v in bad.field_violations),
        retry_after=delay or None,
        reason=errors_pb2.ErrorReason.Value(name),
    )


def _from_code(code: grpc.StatusCode | None) -> BraidError:
    if code is not None and _NUMBERS[code] == code_pb2.DEADLINE_EXCEEDED:
        return DeadlineError()
    if code is grpc.StatusCode.UNAVAILABLE:
        return StoreUnavailableError("service")
    if code is grpc.StatusCode.RESOURCE_EXHAUSTED:
        return BraidError("The message is too large.", reason=errors_pb2.ERROR_REASON_OVERLOADED)
    failed = InternalError()
    failed.message = INTERNAL_MESSAGE
    return failed

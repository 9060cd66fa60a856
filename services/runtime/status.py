"""Maps errors to rich gRPC status and back."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

import grpc
from google.protobuf import any_pb2, duration_pb2
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

from braid.common.v1 import errors_pb2
from braid_protocol.errors import DOMAIN, failure_of
from services.runtime.errors import (
    BraidError,
    DeadlineError,
    FieldError,
    InternalError,
    InvalidFieldError,
    OverloadedError,
    StoreUnavailableError,
)
from services.runtime.security import events
from services.runtime.security.events import SecurityEvents

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from google.protobuf.message import Message

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
    errors_pb2.ERROR_REASON_IDEMPOTENCY_KEY_REUSED: grpc.StatusCode.INVALID_ARGUMENT,
    errors_pb2.ERROR_REASON_CALL_IN_PROGRESS: grpc.StatusCode.ABORTED,
}

# gRPC randomly drops a call's trailers from 8 KiB on, and always from 16 KiB; the message is sent twice, once
# percent-encoded.
_MESSAGE_CHARACTERS = 300
_NAME_CHARACTERS = 300
_FIELDS_BYTES = 1_500
# Reasons that a client must not retry, whatever its settings for the code: the server has already retried for long.
_FOR_GOOD = frozenset(
    {errors_pb2.ERROR_REASON_ALL_LEGS_FAILED, errors_pb2.ERROR_REASON_EMBEDDER_UNAVAILABLE}
)
# gRPC's own text, with RESOURCE_EXHAUSTED, for a request or an answer beyond the maximum message size.
_TOO_LARGE = "larger than max"

_TLS_REASON = re.compile(r"[A-Z]{1,40}(?:_[A-Z]{1,40}){2,20}(?=: [a-z]|$)")

_NUMBERS = {code: code.value[0] for code in grpc.StatusCode}


def code_of(error: BraidError) -> grpc.StatusCode:
    """Returns the canonical code of an error's reason."""
    return CODES.get(error.reason, grpc.StatusCode.INTERNAL)


def reason_name(error: BraidError) -> str:
    """Returns the reason as shown to callers, without the enum's prefix."""
    return errors_pb2.ErrorReason.Name(error.reason).removeprefix("ERROR_REASON_")


def to_status(error: BraidError, request_id: str) -> grpc.Status:
    """Returns the complete status of an error: code, message, ErrorInfo, BadRequest, RetryInfo."""
    status: Any = rpc_status.to_status(
        status_pb2.Status(
            code=_NUMBERS[code_of(error)],
            message=_cut(error.message, _MESSAGE_CHARACTERS),
            details=[_packed(detail) for detail in _details(error, request_id)],
        )
    )
    if error.reason in _FOR_GOOD:
        # A retry would use up the caller's remaining time, and hide the reason behind its deadline.
        pushback = ("grpc-retry-pushback-ms", "-1")
        status = status._replace(trailing_metadata=(*status.trailing_metadata, pushback))
    return cast("grpc.Status", status)


def error_from_rpc(error: grpc.aio.AioRpcError) -> BraidError:
    """Returns the typed error of a failed call; one without Braid's details is classified by its code."""
    failure = failure_of(error)
    name = f"ERROR_REASON_{failure.reason}"
    if name not in errors_pb2.ErrorReason.keys():  # noqa: SIM118 - an enum wrapper, no mapping
        return _from_code(failure.code, failure.message)
    return BraidError(
        failure.message,
        metadata=failure.metadata,
        fields=tuple(FieldError(*field) for field in failure.fields),
        retry_after=failure.retry_after,
        reason=errors_pb2.ErrorReason.Value(name),
    )


def _fitting(fields: Sequence[FieldError]) -> Iterator[FieldError]:
    """Yields as many of the fields as a call's trailers can carry, then the number of the others."""
    left = _FIELDS_BYTES
    for place, (name, description) in enumerate(fields):
        shown = FieldError(_cut(name, _NAME_CHARACTERS), _cut(description, _NAME_CHARACTERS))
        left -= sum(len(part.encode("utf-8", "replace")) for part in shown)
        if left < 0:
            yield FieldError("request", f"has {len(fields) - place} more fields that are wrong")
            return
        yield shown


def _cut(text: str, max_length: int) -> str:
    return text if len(text) <= max_length else f"{text[: max_length - 1]}…"


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
            for field, description in _fitting(error.fields)
        ]
        details.append(error_details_pb2.BadRequest(field_violations=violations))
    if error.retry_after is not None:
        details.append(error_details_pb2.RetryInfo(retry_delay=_duration(error.retry_after)))
    return details


def _duration(seconds: float) -> duration_pb2.Duration:
    return duration_pb2.Duration(seconds=int(seconds), nanos=round(seconds % 1 * 1e9))


def _from_code(code: grpc.StatusCode, message: str) -> BraidError:
    if code is grpc.StatusCode.DEADLINE_EXCEEDED:
        return DeadlineError()
    if code is grpc.StatusCode.UNAVAILABLE:
        _note_handshake(message)
        return StoreUnavailableError("service", message="A service cannot be reached now.")
    if code is grpc.StatusCode.RESOURCE_EXHAUSTED and _TOO_LARGE in message:
        return InvalidFieldError(
            FieldError("request", "or its answer is larger than a message may be: ask for less")
        )
    if code is grpc.StatusCode.RESOURCE_EXHAUSTED:
        return OverloadedError(retry_after=1.0)
    return InternalError()


def _note_handshake(message: str) -> None:
    """Records a connection that TLS did not allow; callers see an unavailable service, as for any other failure."""
    if "handshake failed" in message:
        found = ["TLS error", *_TLS_REASON.findall(message)]
        SecurityEvents().record(events.TLS_HANDSHAKE_FAILED, reason=found[-1], side="client")

"""The mapping of the contracts' error reasons to HTTP, and the shape of an error's body."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException

from braid.common.v1 import errors_pb2 as reasons
from gateway.rest.mapping.json_encoding import JsonResponse
from services.runtime.errors import BraidError, FieldError, InvalidFieldError
from services.runtime.status import reason_name

if TYPE_CHECKING:
    from collections.abc import Iterable


STATUS: dict[reasons.ErrorReason.ValueType, int] = {
    reasons.ERROR_REASON_INVALID_FIELD: 422,
    reasons.ERROR_REASON_INVALID_CREDENTIAL: 401,
    reasons.ERROR_REASON_MISSING_SCOPE: 403,
    reasons.ERROR_REASON_NOT_FOUND: 404,
    reasons.ERROR_REASON_WRONG_STATE: 409,
    reasons.ERROR_REASON_STORE_UNAVAILABLE: 503,
    reasons.ERROR_REASON_EMBEDDER_UNAVAILABLE: 503,
    reasons.ERROR_REASON_ALL_LEGS_FAILED: 503,
    reasons.ERROR_REASON_OVERLOADED: 429,
    reasons.ERROR_REASON_DEADLINE: 504,
    reasons.ERROR_REASON_INTERNAL: 500,
    reasons.ERROR_REASON_IDEMPOTENCY_KEY_REUSED: 422,
    reasons.ERROR_REASON_CALL_IN_PROGRESS: 409,
}
_WAITED_FOR = frozenset({429, 503})
# Reasons for errors of HTTP itself; those of the contracts if one fits.
_HTTP_REASONS = {
    403: "FOREIGN_PAGE",
    404: "NOT_FOUND",
    405: "METHOD_NOT_ALLOWED",
    408: "REQUEST_TIMEOUT",
    413: "TOO_LARGE",
}
_HTTP_DETAILS = {404: "There is no such route.", 405: "The route does not take this method."}


class TooLargeError(HTTPException):
    """The request's body exceeds the route's limit; the connection closes, because the rest is not read."""

    def __init__(self, limit: int) -> None:
        detail = f"The request's body is larger than the {limit} bytes that are taken here."
        super().__init__(413, detail, {"connection": "close"})


class StalledError(HTTPException):
    """The client stopped sending within a body; the connection closes, because the rest is not read."""

    def __init__(self, seconds: float) -> None:
        detail = f"Nothing more of the request's body arrived for {seconds:g} seconds."
        super().__init__(408, detail, {"connection": "close"})


class ForeignPageError(HTTPException):
    """A page of another site asks."""

    def __init__(self) -> None:
        super().__init__(403, "A web page of another site asks for this, which is not allowed.")


class ClientGoneError(Exception):
    """The client disconnected."""


def status_of(error: BraidError) -> int:
    """Returns the HTTP status of an error's reason."""
    return STATUS.get(error.reason, 500)


def error_body(
    detail: str, reason: str, request_id: str, fields: tuple[FieldError, ...] = ()
) -> dict[str, Any]:
    """Returns `{detail, reason, fields?, request_id}`."""
    body: dict[str, Any] = {"detail": detail, "reason": reason, "request_id": request_id}
    if fields:
        body["fields"] = problems_of(fields)
    return body


def problems_of(fields: Iterable[FieldError]) -> list[dict[str, str]]:
    """Returns the problems, each as `{field, description}`."""
    return [{"field": name, "description": description} for name, description in fields]


def body_of(error: BraidError, request_id: str) -> dict[str, Any]:
    """Returns the body of an error of the services."""
    return error_body(error.message, reason_name(error), request_id, error.fields)


def answer_of(error: BraidError, request_id: str) -> JsonResponse:
    """Returns the response to an error of the services, with `Retry-After` if a retry helps."""
    return JsonResponse(body_of(error, request_id), status_of(error), headers_of(error))


def http_answer(error: HTTPException, request_id: str) -> JsonResponse:
    """Returns the response to errors of HTTP itself: unknown routes and methods, too large or unreadable bodies."""
    if error.status_code not in _HTTP_REASONS:
        return answer_of(InvalidFieldError(FieldError("body", "cannot be read")), request_id)
    detail = _HTTP_DETAILS.get(error.status_code, error.detail)
    body = error_body(detail, _HTTP_REASONS[error.status_code], request_id)
    return JsonResponse(body, error.status_code, error.headers)


def headers_of(error: BraidError) -> dict[str, str]:
    """Returns the headers for an error: `Retry-After` if a retry helps."""
    status = status_of(error)
    if status == 401:  # noqa: PLR2004 - an HTTP status
        return {"www-authenticate": "Bearer"}
    if status not in _WAITED_FOR and error.reason != reasons.ERROR_REASON_CALL_IN_PROGRESS:
        return {}
    return {"retry-after": str(max(1, math.ceil(error.retry_after or 1.0)))}

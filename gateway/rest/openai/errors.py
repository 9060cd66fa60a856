"""Errors under `/v1/` in OpenAI's shape, and the placeholder key for loopback."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from starlette.datastructures import MutableHeaders

from gateway.rest.http.errors import status_of
from gateway.rest.mapping.json_encoding import encode
from gateway.rest.mapping.openapi import ResponseSchema
from services.runtime.errors import BraidError, NotFoundError
from services.runtime.status import reason_name

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

PREFIX = "/v1/"
# OpenAI's clients require a key: on loopback this one means none.
_NO_KEY = b"bearer local"
_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}
_NO_MODEL = "There is no model “"
# OpenAI's status for a wrong request, whose clients know no other.
_BAD_REQUEST = 400
_UNPROCESSABLE = 422
_FIRST_ERROR = 400
_FIRST_SERVER_ERROR = 500


class OpenAIError(ResponseSchema):
    """What went wrong: `param` is the field that is wrong, `code` the reason in lower case."""

    message: str
    type: str
    param: str | None
    code: str | None


class OpenAIProblem(ResponseSchema):
    """Every error's body under `/v1/`."""

    error: OpenAIError


class ModelNotFoundError(NotFoundError):
    """There is no such model."""

    def __init__(self, name: str) -> None:
        super().__init__("model", f"{_NO_MODEL}{name[:100]}”: see GET /v1/models.")


def openai_error(error: BraidError) -> dict[str, Any]:
    """Returns an error of the services in OpenAI's shape."""
    field = error.fields[0].field if error.fields else None
    return _error(status_of(error), error.message, reason_name(error), field)


class OpenAIErrors:
    """ASGI middleware that converts every error under `/v1/` to OpenAI's shape."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith(PREFIX):
            await self._app(scope, receive, send)
            return
        scope["headers"] = [
            (name, value)
            for name, value in scope["headers"]
            if not (name == b"authorization" and value.lower() == _NO_KEY)
        ]
        await self._app(scope, receive, _Reshaper(send).send)


class _Reshaper:
    """Delays the head of an error response until its body is complete, and sends both in OpenAI's shape."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._head: Message | None = None
        self._body = bytearray()

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] >= _FIRST_ERROR:
            status = message["status"]
            self._head = {
                **message,
                "status": _BAD_REQUEST if status == _UNPROCESSABLE else status,
            }
            return
        if self._head is None:
            await self._send(message)
            return
        self._body += message.get("body", b"")
        if message.get("more_body", False):
            return
        body = encode(_reshaped(self._head["status"], bytes(self._body)))
        MutableHeaders(scope=self._head)["content-length"] = str(len(body))
        await self._send(self._head)
        await self._send({"type": "http.response.body", "body": body, "more_body": False})


def _reshaped(status: int, body: bytes) -> dict[str, Any]:
    problem = json.loads(body) if body else {}
    fields = problem.get("fields") or [{}]
    return _error(
        status, problem.get("detail", ""), problem.get("reason", ""), fields[0].get("field")
    )


def _error(status: int, message: str, reason: str, field: str | None) -> dict[str, Any]:
    server = status >= _FIRST_SERVER_ERROR
    kind = _TYPES.get(status, "server_error" if server else "invalid_request_error")
    code = "model_not_found" if message.startswith(_NO_MODEL) else reason.lower()
    return {"error": {"message": message, "type": kind, "param": field, "code": code or None}}

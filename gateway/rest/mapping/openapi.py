"""Additions to the OpenAPI document beyond the signatures of routes: statuses, error body, credential."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter

from gateway.rest.mapping.message_schema import add_schemas
from services.runtime.ids import SPACE_PATTERN
from services.runtime.security.api_keys import USER_PATTERN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastapi import FastAPI
    from fastapi.routing import APIRoute


class ResponseSchema(BaseModel):
    """A documented shape."""

    model_config = ConfigDict(extra="forbid")


class FieldProblem(ResponseSchema):
    """A wrong field and what would be right."""

    field: str
    description: str


class Problem(BaseModel):
    """Every error's body."""

    detail: str
    reason: str
    request_id: str
    fields: list[FieldProblem] | None = None


class ErrorEvent(ResponseSchema):
    """What was asked for failed after the stream had begun; nothing follows."""

    event: Literal["error"]
    data: Problem


_PROBLEMS = {
    401: "The credential is missing, unknown or expired (INVALID_CREDENTIAL).",
    403: "The credential lacks the scope of the call, or names a space or a user that it may not (MISSING_SCOPE); or a "
    "web page of another site asks (FOREIGN_PAGE).",
    404: "There is no such thing in the caller's space (NOT_FOUND).",
    405: "The path takes other methods (METHOD_NOT_ALLOWED); `Allow` names them.",
    408: "The body stopped arriving before its end (REQUEST_TIMEOUT).",
    409: "The data is in a state that does not allow the call (WRONG_STATE), or an earlier request with the same "
    "Idempotency-Key is still running (CALL_IN_PROGRESS).",
    413: "The body is larger than the route takes (TOO_LARGE).",
    422: "One or more fields are wrong, and nothing was changed (INVALID_FIELD); `fields` names each. Or the "
    "Idempotency-Key was used for another request (IDEMPOTENCY_KEY_REUSED).",
    429: "A service is at its limit (OVERLOADED); `Retry-After` says when to try again.",
    500: "A defect (INTERNAL): the logs have it under `request_id`.",
    503: "A store or service cannot be reached now (STORE_UNAVAILABLE, EMBEDDER_UNAVAILABLE, "
    "ALL_LEGS_FAILED); `Retry-After` says when to try again.",
    504: "The deadline passed before the answer was there (DEADLINE).",
}

# Sent by the HTTP server itself before a request exists: as plain text, or without a body.
_UNREADABLE: dict[int | str, dict[str, Any]] = {
    400: {
        "description": "The request is not valid HTTP.",
        "content": {"text/plain": {"schema": {"type": "string"}}},
    },
    431: {"description": "The request's target and headers are longer than 64 KiB; no body."},
}

# Read by the middleware, not by the routes.
_DELEGATED: tuple[dict[str, Any], ...] = tuple(
    {
        "name": name,
        "in": "header",
        "required": False,
        "description": f"{description} For API keys with the scope `delegate` alone: others may not send it.",
        "schema": {"type": "string", "pattern": pattern},
    }
    for name, description, pattern in (
        (
            "braid-space",
            "The space that the request is about. A key that is bound to a space may name that one only.",
            SPACE_PATTERN,
        ),
        ("braid-user", "The user that the request is made for.", USER_PATTERN),
    )
)

_IDEMPOTENCY_KEY: dict[str, Any] = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "Identifies the request, so that it may be repeated: the same request with the same key gets the "
    "same response for a day, and nothing is created twice. Another request with the key is refused "
    "(IDEMPOTENCY_KEY_REUSED); a repetition while the first request runs waits for it (CALL_IN_PROGRESS when that "
    "takes too long). Requests that create nothing ignore it.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]*$"},
}

_COMPONENT = "#/components/schemas/{model}"
# Paths that need a credential.
GUARDED = ("/api/", "/v1/", "/mcp", "/memories", "/graph/", "/inference/")
EVENT_STREAM = "text/event-stream"
SERVERS = (
    {"url": "/", "description": "The gateway that this document comes from."},
    {"url": "http://127.0.0.1:8080", "description": "The local stack."},
)
_MAIN_PATHS = ("/api/", "/v1/", "/healthz", "/readyz")


def operation_id(route: APIRoute) -> str:
    """Returns an operation's name for generated clients: that of its function, such as `askQuestion`."""
    first, *words = route.name.split("_")
    name = first + "".join(map(str.capitalize, words))
    return name if route.path.startswith(_MAIN_PATHS) else f"{name}AtRoot"


def problems(*statuses: int, body: type[BaseModel] = Problem) -> dict[int | str, dict[str, Any]]:
    """Returns the errors of a route: the given ones, by default all, and those raised before any route."""
    named: dict[int | str, dict[str, Any]] = {
        status: {"model": body, "description": _PROBLEMS[status]}
        for status in statuses or _PROBLEMS
    }
    return {**_UNREADABLE, **named}


def event_stream(event: Any) -> dict[str, Any]:
    """Returns the media type of a stream of events; `event` is the schema of one, or the type of one or of several."""
    is_schema = isinstance(event, dict)
    shape = event if is_schema else TypeAdapter(event).json_schema(ref_template=_COMPONENT)
    description = "Each event of the stream: its lines `event:` and `data:`, the latter as JSON."
    return {EVENT_STREAM: {"schema": shape | {"description": description}}}


def events(description: str, event: Any) -> dict[int | str, dict[str, Any]]:
    """Returns the response of a route that streams events."""
    return {200: {"description": description, "content": event_stream(event)}}


def describe(app: FastAPI) -> None:
    """Adds the bearer credential, which is optional for loopback callers, and the headers that the middleware reads, to
    the OpenAPI document of the app.
    """
    plain = app.openapi

    def described() -> dict[str, Any]:
        if app.openapi_schema is not None:
            return app.openapi_schema  # cached
        document = plain()
        add_schemas(document)
        schemes = document.setdefault("components", {}).setdefault("securitySchemes", {})
        schemes["bearer"] = {"type": "http", "scheme": "bearer", "description": "An API key."}
        document["security"] = [{}, {"bearer": []}]
        _share_shapes(document)
        _say_defaults_in_words(document)
        _add_headers(document["paths"])
        return document

    app.openapi = described  # type: ignore[method-assign] # FastAPI's own way to extend it


def _add_headers(paths: dict[str, Any]) -> None:
    for path, operations in paths.items():
        if path.startswith(GUARDED):
            for method, operation in operations.items():
                parameters = operation.setdefault("parameters", [])
                parameters.extend(_DELEGATED)
                if method in {"post", "put"}:
                    parameters.append(_IDEMPOTENCY_KEY)


def _say_defaults_in_words(document: dict[str, Any]) -> None:
    """Moves defaults to the descriptions of properties, and removes those of parameters that are empty.

    Generators of typed clients require properties that have a default, or refuse a default that does not have the
    property's format. An empty one says nothing that the absence of a value does not.
    """
    for shape in _schemas(document):
        for one in shape["properties"].values():
            _say_default_in_words(one)
    for operations in document["paths"].values():
        for operation in operations.values():
            for parameter in operation.get("parameters", ()):
                if parameter["schema"].get("default") == "":
                    del parameter["schema"]["default"]


def _schemas(node: Any) -> Iterator[dict[str, Any]]:
    """Returns all schemas of a document that have properties."""
    if isinstance(node, dict):
        if isinstance(node.get("properties"), dict):
            yield node
        for child in node.values():
            yield from _schemas(child)
    elif isinstance(node, list):
        for child in node:
            yield from _schemas(child)


def _say_default_in_words(one: dict[str, Any]) -> None:
    default = one.pop("default", None)
    said = one.get("description", "")
    if default not in (None, "", [], {}) and "efault" not in said:
        one["description"] = f"{said} Default: {json.dumps(default)}.".strip()


def _share_shapes(document: dict[str, Any]) -> None:
    """Moves the schemas that events refer to next to those of the other responses."""
    shapes = document["components"].setdefault("schemas", {})
    for operations in document["paths"].values():
        for operation in operations.values():
            stream = operation["responses"].get("200", {}).get("content", {}).get(EVENT_STREAM)
            if stream is not None:
                shapes.update(stream["schema"].pop("$defs", {}) | shapes)

"""Middleware for every request, in this order: id and trace, log, origin, credential, body limit, failures."""

from __future__ import annotations

import asyncio
import re
import time
import uuid
from collections import Counter
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes

from opentelemetry import context as trace_context
from opentelemetry import propagate, trace
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from gateway.rest.http.browser_protection import add_protection, is_foreign
from gateway.rest.http.credentials import identify
from gateway.rest.http.errors import (
    ClientGoneError,
    ForeignPageError,
    StalledError,
    TooLargeError,
    answer_of,
    http_answer,
)
from gateway.rest.mapping.openapi import GUARDED
from services.runtime.errors import BraidError, FieldError, InternalError, InvalidFieldError
from services.runtime.instruments import HTTP_DURATION, REQUESTS_BY_KEY, Bounded, counter, histogram
from services.runtime.security import events
from services.runtime.telemetry import get_logger
from services.runtime.tracing import fail

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from gateway.rest.http.limits import RequestLimits
    from services.runtime.identity import Authenticator, Identity


# A request id is written to logs and responses: other characters could forge log lines or headers.
_REQUEST_ID = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_CLIENT_GONE = 499
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_FORBIDDEN = 403
# Probes poll every second: they are not traced, and logged only at level debug.
_PROBES = frozenset({"/healthz", "/readyz"})
_PASS_OVER_BYTES = 16 * 1024 * 1024
_PASS_OVER_SECONDS = 2.0


@dataclass(slots=True)
class RequestState:
    """State of a request: its id, its caller once known, and its response."""

    request_id: str
    identity: Identity | None = None
    idempotency_key: str = ""
    # Calls that took the key, by method: each further one of the request gets a key derived from it.
    keyed_calls: Counter[str] = field(default_factory=Counter)
    status: int = 0
    started: float = field(default_factory=time.perf_counter)


class Drain:
    """Whether the process is shutting down: then its probe reports that, and each response closes its connection."""

    def __init__(self) -> None:
        self.begun = False


class RequestMiddleware:
    """ASGI middleware. Requests about data need a credential, whatever the protocol (`GUARDED`), and stay in `limits`.

    `body_limit` returns a path's maximum body size in bytes, `idle_seconds` is the longest pause of a client within
    its body.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        authenticator: Authenticator,
        body_limit: Callable[[str], int],
        idle_seconds: float,
        limits: RequestLimits | None = None,
        drain: Drain | None = None,
        origins: Collection[str] = (),
    ) -> None:
        """`origins` are those of web pages that may call the gateway."""
        self._app = app
        self._limits = limits
        self._origins = origins
        self._drain = drain or Drain()
        self._authenticator = authenticator
        self._body_limit = body_limit
        self._idle_seconds = idle_seconds
        self._log = get_logger("http")
        # Created once, because that costs more than the span that it starts.
        self._tracer = trace.get_tracer("braid")
        self._duration = histogram(HTTP_DURATION)
        self._requests = counter(REQUESTS_BY_KEY)
        self._keys = Bounded()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        state = RequestState(
            _request_id(headers), idempotency_key=headers.get("idempotency-key", "").strip('"')
        )
        scope.setdefault("state", {})["request_state"] = state
        with _span(self._tracer, scope, headers) as span:
            try:
                await self._admit(state, scope, headers, receive, send)
            finally:
                self._note(state, scope)
                _describe(span, state, scope)

    async def _admit(
        self, state: RequestState, scope: Scope, headers: Headers, receive: Receive, send: Send
    ) -> None:
        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                state.status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["x-request-id"] = state.request_id
                add_protection(headers, is_data=scope["path"].startswith(GUARDED))
                if self._drain.begun:
                    # A request that arrives while the connection is being closed would be lost.
                    headers["connection"] = "close"
            await send(message)

        try:
            await self._check(state, scope, headers)
            limit = self._body_limit(scope["path"])
            steady = _steady(receive, self._idle_seconds)
            limited = _limited(steady, limit, content_length(headers))
            if self._limits is None or state.identity is None:
                await self._app(scope, limited, answer)
            else:
                await self._limits.count(state.identity)
                with self._limits.request():
                    await self._app(scope, limited, answer)
        except (ClientGoneError, ClientDisconnect):
            state.status = _CLIENT_GONE
        # Any exception of a route must be answered as a problem with the request's id.
        except Exception as error:
            if state.status:
                self._log.exception("defect in an answer under way", request_id=state.request_id)
                raise
            await self._refusal(error, state.request_id)(scope, receive, answer)

    async def _check(self, state: RequestState, scope: Scope, headers: Headers) -> None:
        _check_utf8(scope)
        if is_foreign(scope["method"], scope["path"], headers, self._origins):
            self._authenticator.events.record(
                events.CREDENTIAL_REFUSED,
                reason="foreign_page",
                method=f"HTTP {scope['method']}",
                request_id=state.request_id,
            )
            raise ForeignPageError
        if scope["path"].startswith(GUARDED):
            method = f"HTTP {scope['method']}"
            state.identity = await identify(
                headers, self._authenticator, method=method, request_id=state.request_id
            )

    def _refusal(self, error: Exception, request_id: str) -> Response:
        if isinstance(error, HTTPException):
            return http_answer(error, request_id)
        if isinstance(error, BraidError):
            return answer_of(error, request_id)
        self._log.error("defect", request_id=request_id, exc_info=error)
        return answer_of(InternalError(), request_id)

    def _note(self, state: RequestState, scope: Scope) -> None:
        # The route, not the path, because a path contains names from the caller's data.
        route = getattr(scope.get("route"), "path", "")
        status = state.status or _CLIENT_GONE
        took = time.perf_counter() - state.started
        attributes = {
            "http.request.method": _method(scope),
            "http.route": route,
            "http.response.status_code": status,
        }
        self._duration.record(took, attributes)
        if state.identity is not None and state.identity.key_id:
            self._requests.add(1, {"key": self._keys.of(state.identity.key_id)})
        if status == _FORBIDDEN and state.identity is not None:
            self._authenticator.events.record(
                events.SCOPE_MISSING,
                key_id=state.identity.key_id,
                method=f"HTTP {scope['method']} {route}",
                request_id=state.request_id,
            )
        log = self._log.debug if route in _PROBES else self._log.info
        log(
            "request",
            method=scope["method"],
            route=route,
            status=status,
            took_ms=round(took * 1000, 2),
            request_id=state.request_id,
            space=state.identity.space if state.identity else "",
        )


def _request_id(headers: Headers) -> str:
    given = headers.get("x-request-id", "")
    return given if _REQUEST_ID.fullmatch(given) else uuid.uuid4().hex


def content_length(headers: Headers) -> int:
    """Returns the declared size of a request body in bytes; 0 without Content-Length."""
    length = headers.get("content-length", "")
    return int(length) if length.isdecimal() else 0


def _check_utf8(scope: Scope) -> None:
    """Refuses a path that is not UTF-8: the server would decode it with replacement characters, as another name."""
    for name in ("raw_path", "query_string"):
        try:
            unquote_to_bytes(scope.get(name) or b"").decode()
        except UnicodeDecodeError:
            part = name.partition("_")[0].replace("raw", "path")
            raise InvalidFieldError(FieldError(part, "must be UTF-8")) from None


async def drain_body(receive: Receive) -> None:
    """Reads the rest of a body, within limits: most clients read the response only after they have sent everything."""
    passed = 0
    with suppress(TimeoutError, StalledError):
        async with asyncio.timeout(_PASS_OVER_SECONDS):
            while passed < _PASS_OVER_BYTES:
                message = await receive()
                passed += len(message.get("body", b""))
                if not message.get("more_body", False):
                    return


def _steady(receive: Receive, idle_seconds: float) -> Receive:
    """Raises StalledError if a part of the body does not arrive in time. A complete body has no limit."""
    more = True

    async def steady() -> Message:
        nonlocal more
        if not more:
            return await receive()
        try:
            async with asyncio.timeout(idle_seconds):
                message = await receive()
        except TimeoutError:
            more = False
            raise StalledError(idle_seconds) from None
        more = message.get("more_body", False)
        return message

    return steady


def _limited(receive: Receive, limit: int, announced: int) -> Receive:
    """Refuses a body whose actual or declared size exceeds `limit` bytes, when it is read and not before."""
    taken = 0

    async def limited() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if message["type"] == "http.request" and max(taken, announced) > limit:
            if message.get("more_body", False):
                await drain_body(receive)
            raise TooLargeError(limit)
        return message

    return limited


def _method(scope: Scope) -> str:
    """Returns the method if HTTP defines it, because a client may send any word."""
    return scope["method"] if scope["method"] in _METHODS else "_OTHER"


def _describe(span: trace.Span, state: RequestState, scope: Scope) -> None:
    """Sets the span's name to the route, once known, and records how the request ended."""
    if not span.is_recording():
        return
    route = getattr(scope.get("route"), "path", "")
    status = state.status or _CLIENT_GONE
    span.update_name(f"{_method(scope)} {route}".rstrip())
    span.set_attribute("http.route", route)
    span.set_attribute("http.response.status_code", status)
    span.set_attribute("braid.request_id", state.request_id)
    if state.identity is not None:
        span.set_attribute("braid.space", state.identity.space)
    if status >= _CLIENT_GONE:
        fail(span, str(status))


@contextmanager
def _span(tracer: trace.Tracer, scope: Scope, headers: Headers) -> Iterator[trace.Span]:
    """Continues the caller's trace for the duration of a request; a probe has none."""
    if scope["path"] in _PROBES:
        yield trace.INVALID_SPAN
        return
    parent = propagate.extract(headers)
    span = tracer.start_span(_method(scope), context=parent, kind=trace.SpanKind.SERVER)
    token = trace_context.attach(trace.set_span_in_context(span, parent))
    try:
        yield span
    finally:
        trace_context.detach(token)
        span.end()

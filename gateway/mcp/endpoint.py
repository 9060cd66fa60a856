"""`/mcp`: streamable HTTP without sessions, for both generations of the protocol, with the gateway's authentication."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from http import HTTPStatus
from typing import Any, get_args

from mcp.server.context import ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from gateway.clients import Clients
from gateway.mcp.calls import ConnectionContext, Profile, ToolCaller
from gateway.mcp.server import build_server
from gateway.rest.http.middleware import RequestState
from gateway.settings import GatewaySettings
from services.runtime.errors import FieldError, InvalidCredentialError, InvalidFieldError
from services.runtime.identity import Identity

PATH = "/mcp"
_READING = frozenset({"read"})
_PROFILES: tuple[Profile, ...] = get_args(Profile)
_SWITCHES = {"true": True, "false": False}


def restrict_to_reading(identity: Identity) -> Identity:
    """Returns the same caller with the scope `read` alone."""
    return replace(identity, scopes=identity.scopes & _READING)


class McpEndpoint:
    """An ASGI application. It serves while `run` is entered."""

    def __init__(self, clients: Clients, settings: GatewaySettings) -> None:
        self._clients = clients
        self._settings = settings
        self._sessions = StreamableHTTPSessionManager(
            build_server(clients, settings, self._connection_context),
            stateless=True,
            # The gateway's middleware checks Host and Origin, and limits bodies.
            security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
            max_request_body_size=2 * settings.max_body_bytes,
        )
        self.route = Route(PATH, endpoint=self, include_in_schema=False)

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Serves for the duration of a block; may be entered once."""
        started, ended = asyncio.Event(), asyncio.Event()
        # In its own task, because the task that entered the SDK's task group must also leave it.
        serving = asyncio.create_task(self._serve(started, ended))
        await started.wait()
        try:
            yield
        finally:
            ended.set()
            await serving

    async def _serve(self, started: asyncio.Event, ended: asyncio.Event) -> None:
        async with self._sessions.run():
            started.set()
            await ended.wait()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["route"] = self.route
        if scope["method"] != "POST":
            # There are no sessions: GET has no stream to open, DELETE nothing to end.
            raise HTTPException(HTTPStatus.METHOD_NOT_ALLOWED)
        self._parameters(Request(scope))
        await self._sessions.handle_request(scope, receive, send)

    def _connection_context(self, context: ServerRequestContext[Any, Any]) -> ConnectionContext:
        request = context.request
        assert isinstance(request, Request)  # noqa: S101 - for the type checker: what HTTP transports hand over
        state: RequestState = request.state.request_state
        if state.identity is None:
            raise InvalidCredentialError
        profile, read_only = self._parameters(request)
        # The services enforce it too: a tool that reads, such as `ask`, then saves nothing either.
        identity = restrict_to_reading(state.identity) if read_only else state.identity
        caller = ToolCaller(
            request,
            state,
            identity,
            self._clients.outgoing,
            self._settings.timeout_seconds,
        )
        return ConnectionContext(caller, profile, read_only)

    def _parameters(self, request: Request) -> tuple[Profile, bool]:
        """Returns the options in the address. Raises InvalidFieldError for an unknown or invalid parameter."""
        given = dict(request.query_params)
        profile = given.pop("profile", self._settings.mcp_profile)
        read_only = given.pop("read_only", "false")
        problems = [
            FieldError(name, "is not a query parameter of /mcp: it takes profile and read_only")
            for name in given
        ]
        if profile not in _PROFILES:
            problems.append(FieldError("profile", f"must be one of: {', '.join(_PROFILES)}"))
        if read_only not in _SWITCHES:
            problems.append(FieldError("read_only", "must be true or false"))
        if problems:
            raise InvalidFieldError(*problems)
        return ("all" if profile == "all" else "default"), (
            _SWITCHES[read_only] or self._settings.mcp_read_only
        )

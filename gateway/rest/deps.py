"""What routes are given: the clients, the settings, and the caller of the request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, TypeAlias

from fastapi import Depends, Header, Request

from gateway.clients import Clients
from gateway.rest.calls import Caller
from gateway.rest.door import Visit
from gateway.settings import GatewaySettings
from services.runtime.errors import InvalidCredentialError

LONGEST_TIMEOUT_MS = 600_000


async def _clients(request: Request) -> Clients:
    clients: Clients = request.app.state.clients
    return clients


async def _settings(request: Request) -> GatewaySettings:
    settings: GatewaySettings = request.app.state.settings
    return settings


ClientsDep: TypeAlias = Annotated[Clients, Depends(_clients)]
SettingsDep: TypeAlias = Annotated[GatewaySettings, Depends(_settings)]
TimeoutHeader: TypeAlias = Annotated[
    int | None,
    Header(
        alias="X-Timeout-Ms",
        ge=1,
        le=LONGEST_TIMEOUT_MS,
        description="How long the answer may take, in milliseconds. Default: the gateway's setting, 10 s "
        "(uploads 120 s).",
    ),
]


def _caller(request: Request, timeout: float) -> Caller:
    visit: Visit = request.state.visit
    if visit.identity is None:
        raise InvalidCredentialError
    clients: Clients = request.app.state.clients
    return Caller(request, visit, visit.identity, clients.outgoing, timeout)


def _within(default: Callable[[GatewaySettings], float]) -> Callable[..., Awaitable[Caller]]:
    async def caller(
        request: Request, settings: SettingsDep, timeout_ms: TimeoutHeader = None
    ) -> Caller:
        timeout = default(settings) if timeout_ms is None else timeout_ms / 1000
        return _caller(request, timeout)

    return caller


CallerDep: TypeAlias = Annotated[Caller, Depends(_within(lambda s: s.timeout_seconds))]
UploaderDep: TypeAlias = Annotated[Caller, Depends(_within(lambda s: s.upload_timeout_seconds))]
AskerDep: TypeAlias = Annotated[Caller, Depends(_within(lambda s: s.chat_timeout_seconds))]
WatcherDep: TypeAlias = Annotated[Caller, Depends(_within(lambda s: s.watch_seconds))]

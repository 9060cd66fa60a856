"""The HTTP server of the application: allowed addresses, start and draining."""

from __future__ import annotations

import asyncio
import math
import signal
import socket
import ssl
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

import uvicorn

from gateway.clients import open_clients
from gateway.connections import ConnectionLimits
from gateway.mcp.endpoint import McpEndpoint
from gateway.rest.app import create_app
from gateway.rest.http.middleware import Drain
from services.runtime.background import in_background
from services.runtime.errors import SetupError
from services.runtime.event_loop import measure_lag
from services.runtime.identity import Authenticator
from services.runtime.listen import ListenError, check_listen
from services.runtime.loop import freeze_gc
from services.runtime.open_files import raise_open_files_limit
from services.runtime.security.certificates import Certificates, ReloadingContext
from services.runtime.telemetry import get_logger

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from gateway.settings import GatewaySettings


# Number of open files for other purposes than HTTP connections: logs, channels to services, libraries.
_OTHER_FILES = 128
_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class StartError(SetupError):
    """The gateway's configuration would answer callers from the wrong space."""


class Server(uvicorn.Server):
    """A server with its own signal handling. uvicorn's handlers raise the signal again, which would skip closing
    clients.

    For `drain_delay_seconds` it still accepts requests, while its probe reports that it is shutting down; then it waits
    for requests in progress. A second signal ends the delay.
    """

    def __init__(self, config: uvicorn.Config, drain: Drain, drain_delay_seconds: float) -> None:
        super().__init__(config)
        self._drain = drain
        self._delay = drain_delay_seconds

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handles SIGTERM and SIGINT as a graceful shutdown for the duration of a block."""
        loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            loop.add_signal_handler(number, self.begin_drain)
        try:
            yield
        finally:
            for number in _SIGNALS:
                loop.remove_signal_handler(number)

    def begin_drain(self) -> None:
        """Shuts down after the delay, or immediately at the second call."""
        if self._drain.begun:
            self._stop()
            return
        self._drain.begun = True
        asyncio.get_running_loop().call_later(self._delay, self._stop)

    def _stop(self) -> None:
        self.should_exit = True


async def serve(settings: GatewaySettings) -> None:
    """Serves until SIGTERM or SIGINT, then waits for running requests within the drain time.

    Raises ListenError, KeyFileError or StartError if it must not start.
    """
    async with gateway_server(settings) as (server, listener):
        host, port = listener.getsockname()[:2]
        freeze_gc()
        get_logger("server").info("serving", listen=host, port=port)
        await server.serve(sockets=[listener])


@asynccontextmanager
async def gateway_server(
    settings: GatewaySettings,
) -> AsyncIterator[tuple[Server, socket.socket]]:
    """Yields a server that is ready to run and its listening socket; closes the server's clients at the end."""
    check_listen(settings.gateway_listen, authenticated=settings.authenticated)
    authenticator = _authenticator(settings)
    clients = open_clients(settings)
    try:
        mcp = McpEndpoint(clients, settings)
        drain = Drain()
        app = create_app(clients, settings, authenticator, [mcp.route], drain)
        async with mcp.run(), in_background("event-loop", measure_lag):
            with _listener(settings.gateway_listen) as listener:
                server = Server(_config(app, settings), drain, settings.drain_delay_seconds)
                yield server, listener
    finally:
        await clients.close()
        await authenticator.close()


def _authenticator(settings: GatewaySettings) -> Authenticator:
    if settings.authenticated and settings.service_key is None:
        # Calls without it would be served in the space `local`, whatever space the caller's credential has.
        raise StartError(
            "BRAID_SERVICE_KEY is needed where BRAID_API_KEYS_FILE or BRAID_JWT_JWKS is set"
        )
    return Authenticator.of(settings, listen=settings.gateway_listen)


def _listener(listen: str) -> socket.socket:
    host, _, port = listen.rpartition(":")
    try:
        found = socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_STREAM)
        family, kind, protocol, _, address = found[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except (OSError, ValueError, OverflowError) as error:
        raise ListenError(f"cannot listen on {listen}: {error}") from None
    return listener


def _connections(settings: GatewaySettings) -> ConnectionLimits:
    allowed = raise_open_files_limit() - _OTHER_FILES
    return ConnectionLimits(
        max_connections=max(1, min(settings.max_connections, allowed)),
        head_seconds=settings.handshake_seconds,
    )


def _config(app: object, settings: GatewaySettings) -> uvicorn.Config:
    return uvicorn.Config(
        app,  # type: ignore[arg-type] # an ASGI application
        ssl_context_factory=_tls(settings),
        http=_connections(settings).protocol,  # type: ignore[arg-type] # what makes a protocol
        loop="none",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=max(1, math.ceil(settings.drain_seconds)),
    )


def _tls(settings: GatewaySettings) -> Callable[..., ssl.SSLContext] | None:
    """Returns the factory of the TLS context; None for plain HTTP."""
    if settings.gateway_tls_cert_file is None:
        return None
    certificates = Certificates(
        chain=settings.gateway_tls_cert_file,
        key=settings.gateway_tls_key_file,
        authorities=settings.gateway_tls_client_ca_file,
    )
    mutual = settings.gateway_tls_client_ca_file is not None
    context = ReloadingContext(certificates, server=True, require_peer=mutual)
    return lambda _config, _default: context

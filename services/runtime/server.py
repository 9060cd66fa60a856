"""The server bootstrap: pipeline, health, reflection, limits, and graceful shutdown on SIGTERM."""

from __future__ import annotations

import asyncio
import signal
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import grpc
from grpc_health.v1 import health_pb2_grpc

from services.runtime.background import keep_running
from services.runtime.event_loop import measure_lag
from services.runtime.health import HealthMonitor
from services.runtime.identity import Authenticator
from services.runtime.interceptors import build_pipeline
from services.runtime.interceptors.concurrency import ConcurrencyStage
from services.runtime.interceptors.pipeline import DefaultDeadlines
from services.runtime.listen import check_listen
from services.runtime.loop import freeze_gc
from services.runtime.open_files import raise_open_files_limit
from services.runtime.queue_metrics import observe_queues
from services.runtime.rate_limits import RateLimits
from services.runtime.reflection import add_reflection
from services.runtime.rpc_queues import rpc_queues
from services.runtime.security.certificates import Certificates, server_credentials
from services.runtime.telemetry import get_logger

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from services.runtime.admission import AdmissionQueue
    from services.runtime.health import Probe
    from services.runtime.idempotency import KeyedCalls
    from services.runtime.settings import RuntimeSettings

# The number of refused calls and health checks, as a multiple of those served; gRPC refuses further ones.
_TURNED_AWAY = 4
# Lets the status of calls that have just been answered reach their callers.
_LAST_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Service:
    """A servicer to serve: its full proto name, and the function that adds it to a server.

    `queues` has the queues that methods share, by the method's name. Each other method has one of its own. `keyed` is
    for the methods that take an idempotency key.
    """

    name: str
    add: Callable[[grpc.aio.Server], None]
    queues: Mapping[str, AdmissionQueue] = field(default_factory=dict)
    keyed: KeyedCalls | None = None


class RunningServer:
    """A started server: its port, and its shutdown."""

    def __init__(
        self,
        *,
        server: grpc.aio.Server,
        monitor: HealthMonitor,
        authenticator: Authenticator,
        limit: ConcurrencyStage,
        port: int,
        settings: RuntimeSettings,
    ) -> None:
        self.port = port
        self._server = server
        self._monitor = monitor
        self._authenticator = authenticator
        self._limit = limit
        self._settings = settings
        self._polling = [
            asyncio.create_task(keep_running(name, work), name=name)
            for name, work in (("health", monitor.run), ("event-loop", measure_lag))
        ]

    @property
    def running(self) -> int:
        """Returns the number of calls in progress, including those waiting in a queue."""
        return self._limit.running

    async def stop(self) -> None:
        """Reports NOT_SERVING, lets calls in progress end within the drain time, then stops.

        While clients that watch its health switch to other replicas, new calls are still accepted; after that they are
        refused as UNAVAILABLE.
        """
        await self._monitor.drain()
        if self._monitor.watched:
            await asyncio.sleep(self._settings.drain_delay_seconds)
        ended = await self._limit.drain(self._settings.drain_seconds)
        self._monitor.end_watches()
        await self._server.stop(_LAST_SECONDS if ended else 0)
        for task in self._polling:
            task.cancel()
        await asyncio.gather(*self._polling, return_exceptions=True)
        await self._authenticator.close()


async def start_server(
    *,
    settings: RuntimeSettings,
    listen: str,
    services: Sequence[Service],
    probes: Mapping[str, Probe],
    impairments: Callable[[], Sequence[str]] = tuple,
) -> RunningServer:
    """Starts serving on `listen` (`host:port`, port 0 for a free one). Raises ListenError if that is not allowed.

    `probes` determine its health; `impairments` are degraded functions that it reports while serving.
    """
    check_listen(listen, authenticated=settings.authenticated)
    monitor = HealthMonitor([service.name for service in services], probes, impairments)
    shared = {
        f"/{service.name}/{method}": queue
        for service in services
        for method, queue in service.queues.items()
    }
    names = [service.name for service in services]
    queues = rpc_queues(names, settings, shared)
    observe_queues(queues)
    limit = ConcurrencyStage(settings.max_concurrent_calls, shared)
    authenticator = Authenticator.of(settings, listen=listen)
    pipeline = build_pipeline(
        authenticator,
        limit=limit,
        queues=queues,
        keyed={service.name: service.keyed for service in services if service.keyed},
        rates=RateLimits(
            per_key=settings.rate_limit_per_key, per_space=settings.rate_limit_per_space
        ),
        deadlines=DefaultDeadlines(
            settings.default_deadline_seconds, settings.default_stream_deadline_seconds
        ),
    )
    server = grpc.aio.server(
        interceptors=[pipeline],
        options=_options(settings),
        maximum_concurrent_rpcs=settings.max_concurrent_calls * _TURNED_AWAY + _queued(shared),
    )
    for service in services:
        service.add(server)
    health_pb2_grpc.add_HealthServicer_to_server(monitor.servicer, server)
    add_reflection(server, [*names, "grpc.health.v1.Health"])
    await monitor.poll()
    port = _add_port(server, listen, settings)
    await server.start()
    return RunningServer(
        server=server,
        monitor=monitor,
        authenticator=authenticator,
        limit=limit,
        port=port,
        settings=settings,
    )


async def serve(
    *,
    settings: RuntimeSettings,
    listen: str,
    services: Sequence[Service],
    probes: Mapping[str, Probe],
    impairments: Callable[[], Sequence[str]] = tuple,
) -> None:
    """Serves until SIGTERM or SIGINT, then drains. See `start_server`."""
    raise_open_files_limit()
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    running = await start_server(
        settings=settings,
        listen=listen,
        services=services,
        probes=probes,
        impairments=impairments,
    )
    freeze_gc()
    log = get_logger("server")
    log.info("serving", listen=listen, port=running.port)
    await stopped.wait()
    log.info("draining")
    await running.stop()


def _add_port(server: grpc.aio.Server, listen: str, settings: RuntimeSettings) -> int:
    """Adds a plain-text port without a certificate, else a TLS port. Raises CertificateError if it cannot be used."""
    if settings.tls_cert_file is None:
        return server.add_insecure_port(listen)
    certificates = Certificates(
        chain=settings.tls_cert_file,
        key=settings.tls_key_file,
        authorities=settings.tls_client_ca_file,
    )
    mutual = settings.tls_client_ca_file is not None
    return server.add_secure_port(listen, server_credentials(certificates, require_peer=mutual))


def _queued(queues: Mapping[str, AdmissionQueue]) -> int:
    """Returns how many calls the methods' queues admit; some methods share one."""
    return sum(slots.capacity for slots in set(queues.values()))


def _options(settings: RuntimeSettings) -> list[tuple[str, int]]:
    return [
        ("grpc.max_receive_message_length", settings.max_message_bytes),
        ("grpc.max_send_message_length", settings.max_message_bytes),
        ("grpc.so_reuseport", 0),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.min_ping_interval_without_data_ms", 5_000),
        # A connection that sends nothing still uses a file descriptor.
        ("grpc.server_handshake_timeout_ms", _milliseconds(settings.handshake_seconds)),
        ("grpc.max_connection_idle_ms", _milliseconds(settings.connection_idle_seconds)),
        ("grpc.max_connection_age_ms", _milliseconds(settings.connection_age_seconds)),
    ]


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)

"""Assigns each RPC an admission queue, by default by the side effects declared in its contract."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from google.protobuf import descriptor_pool

from braid_protocol.idempotency import is_read
from services.runtime.admission import AdmissionLimits, AdmissionQueue

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from google.protobuf.descriptor import MethodDescriptor

    from services.runtime.settings import RuntimeSettings

_RETRY_SECONDS = 1.0


class RpcClass(Enum):
    """The kind of an RPC: its class determines how many of it run concurrently, and how long others wait."""

    READ = "read"
    WRITE = "write"
    STREAM = "stream"


def class_of(method: MethodDescriptor) -> RpcClass:
    """Classifies an RPC by its contract: a stream, a unary call that reads, or one that changes something."""
    if method.client_streaming or method.server_streaming:
        return RpcClass.STREAM
    return RpcClass.READ if is_read(method) else RpcClass.WRITE


def rpc_queues(
    services: Iterable[str],
    settings: RuntimeSettings,
    given: Mapping[str, AdmissionQueue],
) -> dict[str, AdmissionQueue]:
    """Returns a queue for each RPC of these services by its full name, `/package.Service/Method`.

    `given` are queues that RPCs share, such as that of searches. Raises SettingsError if a setting names an RPC that no
    service of Braid has.
    """
    queues = {
        full_name(method): AdmissionQueue(_limits(method, settings))
        for service in services
        for method in _methods(service)
    }
    return {**queues, **given}


def full_name(method: MethodDescriptor) -> str:
    """Returns gRPC's name of a method: `/package.Service/Method`."""
    return f"/{method.containing_service.full_name}/{method.name}"


def _methods(service: str) -> Iterable[MethodDescriptor]:
    methods: Iterable[MethodDescriptor] = (
        descriptor_pool.Default().FindServiceByName(service).methods
    )
    return methods


def _limits(method: MethodDescriptor, settings: RuntimeSettings) -> AdmissionLimits:
    size = {
        RpcClass.READ: settings.read_concurrency,
        RpcClass.WRITE: settings.write_concurrency,
        RpcClass.STREAM: settings.stream_concurrency,
    }[class_of(method)]
    size = settings.rpc_concurrency.get(full_name(method).lstrip("/"), size)
    return AdmissionLimits(
        size=size,
        queue_size=size,
        queue_seconds=settings.rpc_queue_seconds,
        retry_seconds=_RETRY_SECONDS,
    )

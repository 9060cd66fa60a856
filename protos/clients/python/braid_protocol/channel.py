"""Options of channels to Braid: retries of reads, round robin over all addresses, keepalive."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from braid.agent.v1 import (
    agent_pb2,
    consistency_pb2,
    entity_memory_pb2,
    jobs_pb2,
    memories_pb2,
    profile_pb2,
    sources_pb2,
    spaces_pb2,
    transfer_pb2,
)
from braid.agent.v1 import ingest_pb2 as agent_ingest
from braid.agent.v1 import models_pb2 as agent_models
from braid.agent.v1 import search_pb2 as agent_search
from braid.graph.internal.v1 import deletion_pb2 as graph_deletion
from braid.graph.internal.v1 import embeddings_pb2, quarantine_pb2
from braid.graph.internal.v1 import inventory_pb2 as graph_inventory
from braid.graph.internal.v1 import transfer_pb2 as graph_transfer
from braid.graph.v1 import ingest_pb2 as graph_ingest
from braid.graph.v1 import query_pb2
from braid.vector.internal.v1 import deletion_pb2 as vector_deletion
from braid.vector.internal.v1 import inventory_pb2 as vector_inventory
from braid.vector.internal.v1 import models_pb2
from braid.vector.internal.v1 import transfer_pb2 as vector_transfer
from braid.vector.v1 import documents_pb2
from braid.vector.v1 import search_pb2 as vector_search
from braid_protocol.idempotency import is_read, takes_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from google.protobuf.descriptor import FileDescriptor, MethodDescriptor

CONTRACTS: tuple[FileDescriptor, ...] = (
    agent_pb2.DESCRIPTOR,
    consistency_pb2.DESCRIPTOR,
    entity_memory_pb2.DESCRIPTOR,
    agent_ingest.DESCRIPTOR,
    jobs_pb2.DESCRIPTOR,
    agent_models.DESCRIPTOR,
    agent_search.DESCRIPTOR,
    memories_pb2.DESCRIPTOR,
    profile_pb2.DESCRIPTOR,
    sources_pb2.DESCRIPTOR,
    spaces_pb2.DESCRIPTOR,
    transfer_pb2.DESCRIPTOR,
    embeddings_pb2.DESCRIPTOR,
    graph_ingest.DESCRIPTOR,
    graph_inventory.DESCRIPTOR,
    quarantine_pb2.DESCRIPTOR,
    graph_deletion.DESCRIPTOR,
    graph_transfer.DESCRIPTOR,
    query_pb2.DESCRIPTOR,
    documents_pb2.DESCRIPTOR,
    vector_inventory.DESCRIPTOR,
    vector_deletion.DESCRIPTOR,
    models_pb2.DESCRIPTOR,
    vector_transfer.DESCRIPTOR,
    vector_search.DESCRIPTOR,
)

MAX_MESSAGE_BYTES = 16 * 1024 * 1024

TAKES_CALLS = "braid.takes_calls"
"""The name under which a server's health says whether it takes calls: no more once it drains, to be replaced."""


def methods() -> Iterator[MethodDescriptor]:
    """Yields every method of every contract."""
    for file in CONTRACTS:
        for service in file.services_by_name.values():
            yield from service.methods


def channel_options(
    *, retry: bool = True, max_message_bytes: int = MAX_MESSAGE_BYTES
) -> list[tuple[str, str | int]]:
    """Returns options for `grpc.insecure_channel` and similar functions, sync or asyncio.

    With `retry`, reads, and calls with an idempotency key, that fail with UNAVAILABLE are attempted up to three times
    within the call's deadline. Callers must then give each call of a method that takes a key one.
    """
    return [
        ("grpc.service_config", service_config(retry=retry)),
        ("grpc.max_receive_message_length", max_message_bytes),
        ("grpc.max_send_message_length", max_message_bytes),
        ("grpc.keepalive_time_ms", 10_000),
        ("grpc.keepalive_timeout_ms", 5_000),
        # Names are resolved again when a connection ends, so that a replacement replica is found soon.
        ("grpc.dns_min_time_between_resolutions_ms", 1_000),
        # All callers must reconnect to a restarted replica before the next one is stopped.
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.max_reconnect_backoff_ms", 200),
        # Despite its name, this limits one attempt to connect, including TLS.
        ("grpc.min_reconnect_backoff_ms", 2_000),
    ]


def service_config(*, retry: bool) -> str:
    """Returns the gRPC service config as JSON: round robin over replicas, without those that drain."""
    config: dict[str, object] = {
        "loadBalancingConfig": [{"round_robin": {}}],
        "healthCheckConfig": {"serviceName": TAKES_CALLS},
    }
    if retry:
        names = [
            {"service": method.containing_service.full_name, "method": method.name}
            for method in methods()
            if _is_repeatable(method)
        ]
        config["methodConfig"] = [{"name": names, "retryPolicy": _RETRY}]
        # After many failures retries stop, so that they do not increase an overload.
        config["retryThrottling"] = {"maxTokens": 10, "tokenRatio": 0.1}
    return json.dumps(config)


_RETRY = {
    "maxAttempts": 3,
    "initialBackoff": "0.02s",
    "maxBackoff": "0.2s",
    "backoffMultiplier": 2,
    "retryableStatusCodes": ["UNAVAILABLE"],
}


def _is_repeatable(method: MethodDescriptor) -> bool:
    """Whether a method is retried: unary reads, and unary methods whose calls have idempotency keys."""
    is_stream = method.client_streaming or method.server_streaming
    return (is_read(method) or takes_key(method)) and not is_stream

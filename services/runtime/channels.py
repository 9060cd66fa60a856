"""Channels to other services: retries by service config, round robin, keepalive; and what a call carries along."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import grpc
from opentelemetry import propagate

from services.runtime.context import current_call

if TYPE_CHECKING:
    from pydantic import SecretStr

Metadata = tuple[tuple[str, str], ...]

_READS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "braid.vector.v1.VectorSearchService",
        ("VectorSearch", "TextSearch", "HybridSearch", "ScoreChunks", "GetChunks"),
    ),
    (
        "braid.vector.v1.DocumentService",
        ("CheckDocuments", "GetDocument", "ListDocuments", "GetVectorStats"),
    ),
    (
        "braid.graph.v1.GraphQueryService",
        ("SearchFacts", "GetNeighborhood", "ListEntities", "GetGraphStats"),
    ),
    ("braid.agent.v1.SearchService", ("ComprehensiveSearch",)),
    ("braid.agent.v1.IngestService", ("GetIngestJob",)),
)


def open_channel(
    target: str, *, retry: bool = True, max_message_bytes: int = 16 * 1024 * 1024
) -> grpc.aio.Channel:
    """A lazily connecting channel to `target`, balanced over all its addresses.

    With `retry`, idempotent reads that fail with UNAVAILABLE are tried up to three times within the call's deadline.
    """
    return grpc.aio.insecure_channel(
        target,
        options=[
            ("grpc.service_config", service_config(retry=retry)),
            ("grpc.max_receive_message_length", max_message_bytes),
            ("grpc.max_send_message_length", max_message_bytes),
            ("grpc.keepalive_time_ms", 20_000),
            ("grpc.keepalive_timeout_ms", 5_000),
            ("grpc.initial_reconnect_backoff_ms", 100),
            ("grpc.min_reconnect_backoff_ms", 100),
            ("grpc.max_reconnect_backoff_ms", 1_000),
        ],
    )


def service_config(*, retry: bool) -> str:
    """The gRPC service config as JSON: round robin, and retries of reads."""
    config: dict[str, object] = {"loadBalancingConfig": [{"round_robin": {}}]}
    if retry:
        names = [{"service": service, "method": m} for service, methods in _READS for m in methods]
        config["methodConfig"] = [
            {
                "name": names,
                "retryPolicy": {
                    "maxAttempts": 3,
                    "initialBackoff": "0.02s",
                    "maxBackoff": "0.2s",
                    "backoffMultiplier": 2,
                    "retryableStatusCodes": ["UNAVAILABLE"],
                },
            }
        ]
        # After many failures a service is left alone: retries must not feed an overload.
        config["retryThrottling"] = {"maxTokens": 10, "tokenRatio": 0.1}
    return json.dumps(config)


class Outgoing:
    """Metadata of calls made on behalf of the call being served."""

    def __init__(self, service_key: SecretStr | None) -> None:
        self._key = service_key

    def metadata(self) -> Metadata:
        """Credential, space and user (delegated), request id and trace of `current_call()`.

        Without a service key nothing is delegated: the other side then sees its own local identity.
        """
        call = current_call()
        carrier: dict[str, str] = {"x-request-id": call.request_id}
        propagate.inject(carrier)
        if self._key is not None:
            carrier["authorization"] = f"Bearer {self._key.get_secret_value()}"
            carrier["braid-space"] = call.space
            carrier["braid-user"] = call.user
        return tuple(carrier.items())

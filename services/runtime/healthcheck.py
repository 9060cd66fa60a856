"""`python -m services.runtime.healthcheck HOST:PORT…`: exit code 0 when one of the servers says SERVING, else 1."""

from __future__ import annotations

import sys
from typing import Any

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

_SECONDS = 2.0


def is_serving(address: str, seconds: float = _SECONDS) -> bool:
    """Whether the server's health, asked in plain text, is SERVING within `seconds`."""
    with grpc.insecure_channel(address) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)
        try:
            answer = stub.Check(health_pb2.HealthCheckRequest(), timeout=seconds)
        except grpc.RpcError:
            return False
    return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)


if __name__ == "__main__":
    sys.exit(0 if any(is_serving(address) for address in sys.argv[1:]) else 1)

"""`python -m services.runtime.healthcheck [--alive] HOST:PORT…`: exit code 0 if a server reports SERVING, else 1.

With `--alive` the event loop need only run: its stores may be unavailable. It checks the process in its own container:
with `BRAID_TLS_CERT_FILE` it uses TLS and trusts that certificate. It runs often, so it imports little.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SECONDS = 2.0
# As in `services.runtime.health`, which imports more.
_ALIVE = "braid.alive"


def is_serving(
    address: str, environment: Mapping[str, str], seconds: float = _SECONDS, service: str = ""
) -> bool:
    """Returns whether the server reports SERVING within `seconds`; `environment` has the process's own settings."""
    with _channel(address, environment) as channel:
        return reports_serving(channel, seconds, service)


def reports_serving(channel: grpc.Channel, seconds: float, service: str = "") -> bool:
    """Returns whether the server at the other end of a channel reports SERVING within `seconds`."""
    stub: Any = health_pb2_grpc.HealthStub(channel)
    try:
        answer = stub.Check(health_pb2.HealthCheckRequest(service=service), timeout=seconds)
    except grpc.RpcError:
        return False
    return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)


def _channel(address: str, environment: Mapping[str, str]) -> grpc.Channel:
    chain = _file(environment, "BRAID_TLS_CERT_FILE")
    if not chain:
        return grpc.insecure_channel(address)
    key = _file(environment, "BRAID_TLS_KEY_FILE")
    authorities = chain + b"\n" + _file(environment, "BRAID_TLS_CA_FILE")
    # The certificate names the service, not the loopback address.
    options = [("grpc.ssl_target_name_override", _first_name(chain))]
    return grpc.secure_channel(
        address, grpc.ssl_channel_credentials(authorities, key, chain), options
    )


def _file(environment: Mapping[str, str], name: str) -> bytes:
    path = environment.get(name)
    return Path(path).read_bytes() if path else b""


def _first_name(chain: bytes) -> str:
    from cryptography import x509  # noqa: PLC0415 - only with TLS

    names = x509.load_pem_x509_certificate(chain).extensions.get_extension_for_class(
        x509.SubjectAlternativeName
    )
    return str(names.value[0].value)


def main(arguments: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Whether one of the addresses in the arguments is serving, or alive with `--alive`."""
    service = _ALIVE if "--alive" in arguments else ""
    addresses = (one for one in arguments if one != "--alive")
    return any(is_serving(one, environment, service=service) for one in addresses)


if __name__ == "__main__":
    sys.exit(0 if main(sys.argv[1:], os.environ) else 1)

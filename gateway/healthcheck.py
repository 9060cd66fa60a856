"""`python -m gateway.healthcheck HOST:PORT`: exit code 0 if the gateway is alive at this address, else 1.

For use in the gateway's own container: with `BRAID_GATEWAY_TLS_CERT_FILE` it uses TLS and presents that certificate.
"""

from __future__ import annotations

import http.client
import os
import ssl
import sys
from http import HTTPStatus
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_SECONDS = 2.0


def is_alive(address: str, environment: Mapping[str, str], seconds: float = _SECONDS) -> bool:
    """Whether `/healthz` answers within `seconds`; `environment` has the process's settings."""
    connection = _connection(address, environment, seconds)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _connection(
    address: str, environment: Mapping[str, str], seconds: float
) -> http.client.HTTPConnection:
    chain = environment.get("BRAID_GATEWAY_TLS_CERT_FILE")
    if not chain:
        return http.client.HTTPConnection(address, timeout=seconds)
    # Not verified: the certificate is for the gateway's name, not for loopback, and no secret is sent.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.load_cert_chain(chain, environment.get("BRAID_GATEWAY_TLS_KEY_FILE"))
    return http.client.HTTPSConnection(address, timeout=seconds, context=context)


if __name__ == "__main__":
    sys.exit(0 if any(is_alive(address, os.environ) for address in sys.argv[1:]) else 1)

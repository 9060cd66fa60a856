"""Listen addresses: beyond loopback only with authentication."""

from __future__ import annotations

import ipaddress

from services.runtime.errors import SetupError

_LAST_PORT = 65_535


class ListenError(SetupError):
    """The address is not usable, or not without authentication."""


def is_loopback(listen: str) -> bool:
    """Returns whether `host:port` (or `unix:path`) can only be reached from this machine."""
    if listen.startswith("unix:"):
        return True
    host = listen.rpartition(":")[0].strip("[]")
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_listen(listen: str, *, authenticated: bool) -> None:
    """Raises ListenError for an invalid port, and if remote callers would need no credential."""
    port = listen.rpartition(":")[2]
    if not listen.startswith("unix:") and not (port.isdecimal() and int(port) <= _LAST_PORT):
        raise ListenError(f"{listen} has no port from 0 to {_LAST_PORT}: host:port is needed")
    if not authenticated and not is_loopback(listen):
        raise ListenError(
            f"refusing to listen on {listen} without authentication: set BRAID_API_KEYS_FILE "
            "or BRAID_JWT_JWKS, or listen on 127.0.0.1"
        )

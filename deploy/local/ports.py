"""Loopback ports: the default ones if they are free, otherwise others."""

import socket
from collections.abc import Mapping
from contextlib import ExitStack

LOOPBACK = "127.0.0.1"


def is_free(port: int) -> bool:
    """Whether a server could listen on this loopback port now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
        return True


def free_ports(count: int) -> list[int]:
    """Return distinct free ports, which are all bound during the selection."""
    with ExitStack() as held:
        probes = [held.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind((LOOPBACK, 0))
        return [int(probe.getsockname()[1]) for probe in probes]


def choose(wanted: Mapping[str, int]) -> dict[str, int]:
    """Return each name's requested port, or a free one if it is in use; 0 requests any."""
    # A free port may be one of those that are wanted; there are enough without them.
    spare = (port for port in free_ports(2 * len(wanted)) if port not in wanted.values())
    return {name: port if port and is_free(port) else next(spare) for name, port in wanted.items()}

"""Loopback ports: the usual ones when they are free, others when not."""

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
    """Different free ports, held together while they are chosen."""
    with ExitStack() as held:
        probes = [held.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind((LOOPBACK, 0))
        return [int(probe.getsockname()[1]) for probe in probes]


def choose(wanted: Mapping[str, int]) -> dict[str, int]:
    """Each name's wanted port, or a free one in place of a taken one; 0 asks for any."""
    spare = iter(free_ports(len(wanted)))
    return {name: port if port and is_free(port) else next(spare) for name, port in wanted.items()}

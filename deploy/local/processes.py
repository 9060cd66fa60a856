"""Declarations of Braid's processes: program, address, variables and scopes."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

from deploy.local.probes import Probe, grpc_serving, http_ready


@dataclass(frozen=True)
class ProcessSpec:
    """One process of the stack.

    Attributes:
        name: its name in logs, keys and `LocalStack`.
        program: the command line.
        probe: returns once the process at its address is ready.
        port: its default loopback port; another is chosen if it is in use.
        listen, target: the variables with its listening address, and with its address for clients.
        needs: variables of the stores' environment that only it receives.
        setup, setup_needs: a command that has to succeed before the process starts, and the
            variables that it is given on top of the process's own.
        after: stores that must be ready before `setup`; the process itself can wait for its stores.
        waits_for: what the process itself waits for before it is ready.
        scopes: the scopes of the key with which it calls the other processes.
    """

    name: str
    program: tuple[str, ...]
    probe: Probe
    port: int = 0
    listen: str = ""
    target: str = ""
    needs: tuple[str, ...] = ()
    setup: tuple[str, ...] = ()
    setup_needs: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    waits_for: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ("read",)


def _module(*words: str) -> tuple[str, ...]:
    return (sys.executable, "-P", "-m", *words)


_WORKER = "agent_worker"

BRAID = (
    ProcessSpec(
        name="vector_search",
        program=_module("services.vector_search"),
        probe=grpc_serving,
        port=50051,
        listen="BRAID_VECTOR_LISTEN",
        target="BRAID_VECTOR_TARGET",
        needs=("DATABASE_URL", "BRAID_VECTOR_READ_DATABASE_URL"),
        setup=_module("services.vector_search", "migrate"),
        setup_needs=("BRAID_VECTOR_MIGRATE_DATABASE_URL",),
        after=("postgres",),
        waits_for=("postgres",),
    ),
    ProcessSpec(
        name="graph_query",
        program=_module("services.graph_query"),
        probe=grpc_serving,
        port=50052,
        listen="BRAID_GRAPH_LISTEN",
        target="BRAID_GRAPH_TARGET",
        needs=("NEO4J_URI", "NEO4J_USER", "NEO4J_PASSWORD"),
        waits_for=("neo4j",),
    ),
    ProcessSpec(
        name="agent_orchestrator",
        program=_module("services.agent_orchestrator"),
        probe=grpc_serving,
        port=50050,
        listen="BRAID_AGENT_LISTEN",
        target="BRAID_AGENT_TARGET",
        needs=("BRAID_AGENT_DATABASE_URL",),
        setup=_module("services.agent_orchestrator", "migrate"),
        setup_needs=("BRAID_AGENT_MIGRATE_DATABASE_URL",),
        after=("postgres",),
        waits_for=("postgres", "vector_search"),
        scopes=("read", "write", "admin", "delegate", "operator"),
    ),
    ProcessSpec(
        name=_WORKER,
        program=_module("services.agent_orchestrator", "--worker"),
        probe=grpc_serving,
        listen="BRAID_AGENT_WORKER_LISTEN",
        needs=("BRAID_AGENT_DATABASE_URL",),
        waits_for=("postgres", "agent_orchestrator"),
        scopes=("read", "write", "admin", "delegate", "operator"),
    ),
    ProcessSpec(
        name="gateway",
        program=_module("gateway"),
        probe=http_ready,
        port=8080,
        listen="BRAID_GATEWAY_LISTEN",
        waits_for=("vector_search", "graph_query", "agent_orchestrator"),
        scopes=("read", "write", "admin", "delegate", "operator"),
    ),
)


def with_workers(count: int) -> tuple[ProcessSpec, ...]:
    """Return Braid's processes with this number of workers: the others are named `agent_worker_2`, …"""
    [worker] = [spec for spec in BRAID if spec.name == _WORKER]
    others = tuple(spec for spec in BRAID if spec.name != _WORKER or count > 0)
    more = tuple(replace(worker, name=f"{_WORKER}_{place}") for place in range(2, count + 1))
    return others + more


def with_replicas(specs: Sequence[ProcessSpec], count: int) -> tuple[ProcessSpec, ...]:
    """Return the processes with `count` replicas of each server: `vector_search_2`, … on any free port.

    The first replica of each runs the setup.
    """
    more = [
        replace(spec, name=f"{spec.name}_{place}", port=0, setup=(), after=())
        for place in range(2, count + 1)
        for spec in specs
        if spec.port
    ]
    return (*specs, *more)


def has_replicas(specs: Sequence[ProcessSpec]) -> bool:
    """Whether clients can use another replica when one stops."""
    targets = [spec.target for spec in specs if spec.target]
    return len(set(targets)) < len(targets)

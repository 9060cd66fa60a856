"""`python -m tests.benchmarks NAME`: measures speed, resource use and behavior under faults."""

import sys

from tests.benchmarks.command import run

COMMANDS = {
    "startup": "tests.benchmarks.startup",
    "expand": "tests.benchmarks.expand",
    "agent": "tests.benchmarks.agent",
    "fanout": "tests.benchmarks.fanout",
    "http_search": "tests.benchmarks.http_search",
    "vector_overhead": "tests.benchmarks.vector_overhead",
    "sync": "tests.benchmarks.sync",
    "export": "tests.benchmarks.export",
    "text": "tests.benchmarks.text",
    "ann": "tests.benchmarks.ann",
    "upsert": "tests.benchmarks.upsert",
    "ingest": "tests.benchmarks.ingest",
    "crash": "tests.benchmarks.crash",
    "neighborhood": "tests.benchmarks.neighborhood",
    "graph_search": "tests.benchmarks.graph_search",
    "entity_memory": "tests.benchmarks.entity_memory",
    "memory_write": "tests.benchmarks.memory_write",
    "overload": "tests.benchmarks.overload",
    "replicas": "tests.benchmarks.replicas",
    "read_replica": "tests.benchmarks.read_replica",
    "sizing": "tests.benchmarks.sizing",
    "telemetry": "tests.benchmarks.telemetry",
    "soak": "tests.benchmarks.soak",
    "mcp": "tests.benchmarks.mcp",
    "page": "tests.benchmarks.page",
    "peers": "tests.benchmarks.peers.measure",
    "isolation": "tests.benchmarks.isolation.measure",
    "faults": "tests.benchmarks.fault_suite",
    "fuzz": "tests.benchmarks.fuzz",
    "throttled": "tests.benchmarks.throttled",
    "hostile": "tests.benchmarks.hostile.measure",
}

if __name__ == "__main__":
    sys.exit(run("bench", COMMANDS, sys.argv[1:]))

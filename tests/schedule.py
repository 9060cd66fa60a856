"""Distributes tests over processes and orders them, so that only one process starts and warms up Neo4j."""

from __future__ import annotations

import pytest
from xdist.scheduler import LoadFileScheduling

# The fixture that starts Neo4j, and the paths of the tests that request it.
_STARTS_NEO4J = "graph_stores"
_USES_NEO4J = (
    "tests/integration/clients/test_python_graph_calls.py",
    "tests/integration/deploy/test_store_tls.py",
    "tests/integration/gateway/test_cli_graph.py",
    "tests/integration/gateway/test_with_the_graph_tier.py",
    "tests/integration/graph_query/",
    "tests/integration/upkeep/",
    "tests/store_suite/graph/",
)
_NEO4J = "neo4j"


def order(items: list[pytest.Item]) -> None:
    """Puts the tests that use the run's Neo4j first, because they take longest; those that restart it are last of them.

    Raises UsageError for a test that requests Neo4j outside the paths listed above.
    """
    for item in items:
        if _STARTS_NEO4J in getattr(item, "fixturenames", ()) and not _is_in_group(item.nodeid):
            raise pytest.UsageError(f"{item.nodeid} uses Neo4j: list its file in tests/schedule.py")
    items.sort(key=_priority)


def _priority(item: pytest.Item) -> int:
    if not _is_in_group(item.nodeid):
        return 2
    return 1 if item.get_closest_marker("restarts_neo4j") else 0


def _is_in_group(nodeid: str) -> bool:
    return nodeid.startswith(_USES_NEO4J)


class Scheduling(LoadFileScheduling):
    """Runs all tests that use Neo4j in one process, and every other file in the next free one."""

    def _split_scope(self, nodeid: str) -> str:
        return _NEO4J if _is_in_group(nodeid) else super()._split_scope(nodeid)

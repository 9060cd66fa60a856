"""Which process runs which tests, and in which order: Neo4j is started, and warmed up, in one of the processes only."""

from __future__ import annotations

import pytest
from xdist.scheduler import LoadFileScheduling

# The fixture that starts Neo4j, and the places of the tests that request it.
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
    """Puts the tests that use the run's Neo4j first: they take longest. Those that restart it come last of them.

    Raises UsageError for a test that requests Neo4j outside the places listed above.
    """
    for item in items:
        if _STARTS_NEO4J in getattr(item, "fixturenames", ()) and not _is_in_group(item.nodeid):
            raise pytest.UsageError(f"{item.nodeid} uses Neo4j: list its file in tests/schedule.py")
    items.sort(key=_place)


def _place(item: pytest.Item) -> int:
    if not _is_in_group(item.nodeid):
        return 2
    return 1 if item.get_closest_marker("restarts_neo4j") else 0


def _is_in_group(nodeid: str) -> bool:
    return nodeid.startswith(_USES_NEO4J)


class Scheduling(LoadFileScheduling):
    """Runs all tests that use Neo4j in one process, and every other file in the next free one."""

    def _split_scope(self, nodeid: str) -> str:
        return _NEO4J if _is_in_group(nodeid) else super()._split_scope(nodeid)

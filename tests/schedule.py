"""Which process runs which tests, and in which order: Neo4j is started, and comes up to speed, once in a run."""

from __future__ import annotations

import os

import pytest
from xdist.scheduler import LoadFileScheduling

# The fixture that starts Neo4j.
_STARTS_NEO4J = "graph_stores"
_NEO4J = "neo4j"


def in_order(items: list[pytest.Item]) -> None:
    """Puts the files that use the run's Neo4j first, as one group: they take longest.

    Of them, those that start it anew come last, because it is slow again afterwards.
    """
    files = {
        item.path
        for item in items
        if isinstance(item, pytest.Function) and _STARTS_NEO4J in item.fixturenames
    }
    for item in items:
        if item.path in files:
            # As xdist marks a group, which it does of itself too early.
            if "PYTEST_XDIST_WORKER" in os.environ:
                item._nodeid = f"{item.nodeid}@{_NEO4J}"
    items.sort(key=lambda item: _place(item, in_group=item.path in files))


def _place(item: pytest.Item, *, in_group: bool) -> int:
    if not in_group:
        return 2
    return 1 if item.get_closest_marker("restarts_neo4j") else 0


class Scheduling(LoadFileScheduling):
    """A group runs in one process, every other file in whichever is free."""

    def _split_scope(self, nodeid: str) -> str:
        return _NEO4J if nodeid.endswith(f"@{_NEO4J}") else super()._split_scope(nodeid)

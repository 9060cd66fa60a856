"""Plans: every query finds its place by an index, however large the graph is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from neo4j import AsyncGraphDatabase

from deploy.local.stores import LocalStores
from services.runtime.queries import Queries
from tests.store_suite.graph.neo4j_graph import settings

QUERIES = Queries.load("services.graph_query", "cypher", ".cypher")
NOT_PLANNED = {"index_states"}  # SHOW has no plan to look at


@pytest.mark.parametrize("name", sorted(set(QUERIES.names()) - NOT_PLANNED))
async def test_no_query_scans_a_label_or_a_relationship_type(
    graph_stores: LocalStores, name: str
) -> None:
    found = settings(graph_stores)
    auth = (found.neo4j_user, found.neo4j_password.get_secret_value())
    async with (
        AsyncGraphDatabase.driver(found.neo4j_uri, auth=auth) as driver,
        driver.session() as session,
    ):
        result = await session.run(f"EXPLAIN {QUERIES[name]}", {"p": {}})
        plan: Any = (await result.consume()).plan
    operators = [operator.partition("@")[0] for operator in _operators(plan)]
    assert operators
    assert [one for one in operators if one.endswith("Scan")] == []


def _operators(plan: dict[str, Any]) -> Iterator[str]:
    yield plan["operatorType"]
    for child in plan.get("children", ()):
        yield from _operators(child)

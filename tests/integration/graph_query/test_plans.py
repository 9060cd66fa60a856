"""Plans: every query finds its place by an index, however large the graph is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from deploy.local.stores import LocalStores
from services.runtime.queries import Queries
from tests.store_suite.graph.neo4j_graph import connected

QUERIES = Queries.load("services.graph_query", "cypher", ".cypher")
NOT_PLANNED = {"index_states"}  # SHOW has no plan to look at


@pytest.mark.parametrize("name", sorted(set(QUERIES.names()) - NOT_PLANNED))
async def test_no_query_scans_a_label_or_a_relationship_type(
    graph_stores: LocalStores, name: str
) -> None:
    plan = await _plan(graph_stores, name)
    operators = list(_operators(plan))
    assert operators
    assert [one for one in operators if one.endswith("Scan")] == []


@pytest.mark.parametrize(
    "name",
    [
        "facts_of_space",
        "facts_of_relation",
        "unembedded_facts",
        "unembedded_facts_of_start",
        "page_of_facts",
        "page_of_facts_of_start",
        "page_of_findings",
        "page_of_names",
    ],
)
async def test_a_page_of_facts_is_read_in_the_order_of_an_index(
    graph_stores: LocalStores, name: str
) -> None:
    plan = await _plan(graph_stores, name)
    # Reading all facts of a space to put them in order is a `Top`, a `PartialTop` or a `Sort`.
    assert [one for one in _operators(plan) if one.endswith(("Top", "Sort"))] == []


@pytest.mark.parametrize("name", ["create_claims", "cut_claims"])
async def test_a_claim_of_somebody_is_found_among_all_those_of_its_fact(
    graph_stores: LocalStores, name: str
) -> None:
    plan = await _plan(graph_stores, name)
    seeks = [told for told in _details(plan) if "UNIQUE" in told]
    assert [told for told in seeks if "group_id, claimant, fact_uuid" in told]


async def _plan(stores: LocalStores, name: str) -> dict[str, Any]:
    async with (
        connected(stores) as driver,
        driver.session() as session,
    ):
        result = await session.run(f"EXPLAIN {QUERIES[name]}", {"p": {}})
        plan: Any = (await result.consume()).plan
    return dict(plan)


def _operators(plan: dict[str, Any]) -> Iterator[str]:
    yield plan["operatorType"].partition("@")[0]
    for child in plan.get("children", ()):
        yield from _operators(child)


def _details(plan: dict[str, Any]) -> Iterator[str]:
    yield str(plan["args"].get("Details", ""))
    for child in plan.get("children", ()):
        yield from _details(child)

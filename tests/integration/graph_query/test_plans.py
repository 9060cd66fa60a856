"""Query plans: every query uses an index, however large the graph is."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from neo4j import AsyncDriver

from deploy.local.stores import LocalStores
from tests.integration.graph_query.plans import (
    IN_ORDER,
    LISTINGS,
    ORDERING,
    PLANNED,
    details,
    operators,
    plan_of,
    reading_paths,
)
from tests.store_suite.graph.neo4j_graph import connected


@pytest.fixture
async def driver(graph_stores: LocalStores) -> AsyncIterator[AsyncDriver]:
    async with connected(graph_stores) as found:
        yield found


@pytest.mark.parametrize("name", PLANNED)
async def test_no_query_scans_a_label_or_a_relationship_type(
    driver: AsyncDriver, name: str
) -> None:
    found = list(operators(await plan_of(driver, name)))
    assert found
    assert [one for one in found if one.endswith("Scan")] == []


@pytest.mark.parametrize("name", IN_ORDER)
async def test_a_page_of_facts_is_read_in_index_order(driver: AsyncDriver, name: str) -> None:
    plan = await plan_of(driver, name)
    assert [one for one in operators(plan) if one.endswith(ORDERING)] == []


@pytest.mark.parametrize("name", LISTINGS)
async def test_a_page_of_entities_is_limited_before_it_is_processed_further(
    driver: AsyncDriver, name: str
) -> None:
    plan = await plan_of(driver, name)
    paths = [
        path for path in reading_paths(plan) if "Range" not in path[0] or "Unique" not in path[0]
    ]
    for path in paths:
        cut = [one for one in path if "Limit" in one or one.endswith(ORDERING)]
        assert cut, path


@pytest.mark.parametrize("name", ["create_claims", "cut_claims"])
async def test_a_claim_is_found_by_an_index_on_space_claimant_and_fact(
    driver: AsyncDriver, name: str
) -> None:
    plan = await plan_of(driver, name)
    seeks = [value for value in details(plan) if "UNIQUE" in value]
    assert [value for value in seeks if "group_id, claimant, fact_uuid" in value]

"""Query plans in a graph that has just been filled.

Neo4j counts nodes immediately, and samples its indexes some time later. A query that is planned in between is planned
as if the indexes were empty: reading a whole index for each row then seems as cheap as looking up one key, and the plan
stays in use when the graph has grown. In these tests the sampling never happens.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from neo4j import AsyncDriver

from tests.integration.graph_query.plans import (
    IN_ORDER,
    ORDERING,
    PLANNED,
    QUERIES,
    operators,
    plan_of,
)
from tests.store_suite.graph.neo4j_graph import connected, neo4j_alone, prepare
from tests.stores import data_folder

pytestmark = pytest.mark.asyncio(loop_scope="module")

_COUNT = 1_000
_ENDS = {
    "RELATES_TO": ("Entity", "Entity"),
    "CO_OCCURS": ("Entity", "Entity"),
    "BRAID_MENTIONS": ("Episodic", "Entity"),
    "MENTIONS": ("Episodic", "Entity"),
    "HAS_EPISODE": ("Document", "Episodic"),
    "ABOUT": ("BraidFinding", "BraidSubject"),
    "FROM": ("BraidFinding", "BraidSource"),
}
_INDEXED = """SHOW INDEXES YIELD type, entityType, labelsOrTypes, properties
WHERE type = 'RANGE' AND entityType = 'NODE' RETURN labelsOrTypes[0] AS label, properties"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def driver() -> AsyncIterator[AsyncDriver]:
    unsampled = {"db.index_sampling.background_enabled": "false"}
    with data_folder() as data:
        async with neo4j_alone(data, unsampled) as stores:
            await prepare(stores)
            async with connected(stores) as found:
                await _fill(found)
                yield found


async def _fill(driver: AsyncDriver) -> None:
    """Creates nodes and relationships of every kind."""
    columns = defaultdict(set)
    for record in (await driver.execute_query(_INDEXED)).records:
        columns[record["label"]].update(record["properties"])
    for label, names in columns.items():
        text = ", ".join(f"{name}: '{name}' + i" for name in sorted(names))
        await driver.execute_query(f"UNWIND range(1, {_COUNT}) AS i CREATE (:{label} {{{text}}})")
    for kind, (start, end) in _ENDS.items():
        await driver.execute_query(
            f"MATCH (a:{start}) WITH collect(a) AS starts MATCH (b:{end}) WITH starts, collect(b) AS ends "
            f"UNWIND range(0, {_COUNT - 2}) AS i WITH i, starts[i] AS a, ends[i + 1] AS b "
            f"CREATE (a)-[:{kind} {{uuid: '{kind}' + i}}]->(b)"
        )


@pytest.mark.parametrize("name", PLANNED)
async def test_a_query_planned_before_index_sampling_looks_up_its_keys(
    driver: AsyncDriver, name: str
) -> None:
    found = list(operators(await plan_of(driver, name)))
    assert found
    # A hash join reads everything at one end instead of only what connects both.
    assert [one for one in found if one.endswith(("Scan", "HashJoin"))] == []


@pytest.mark.parametrize("name", IN_ORDER)
async def test_a_page_planned_before_index_sampling_is_read_in_index_order(
    driver: AsyncDriver, name: str
) -> None:
    plan = await plan_of(driver, name)
    assert [one for one in operators(plan) if one.endswith(ORDERING)] == []


async def test_without_index_hints_neo4j_would_read_whole_indexes(driver: AsyncDriver) -> None:
    # For some queries: which ones depends on how far Neo4j's planner gets in its time.
    for name in PLANNED:
        without_hints = re.sub(r"\s+USING INDEX SEEK [^)]+\)", "", QUERIES[name])
        plan = (await driver.execute_query(f"EXPLAIN {without_hints}", p={})).summary.plan
        assert plan is not None
        if any(one.endswith(("Scan", "HashJoin")) for one in operators(plan)):
            return
    pytest.fail("no query needs to be told its indexes any more")

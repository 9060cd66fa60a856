"""Plans of a graph that has just been filled.

Neo4j counts nodes as they come, and samples its indexes some time later. A query that is planned in between is planned
with indexes of which Neo4j believes that nothing is in them: reading the whole of such an index for each row then costs
as little as looking one key up, and the plan stays when the graph has grown. Here the sampling never happens.
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
    """Some of each kind of node and relationship that there is."""
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
async def test_a_query_that_is_planned_early_looks_its_keys_up(
    driver: AsyncDriver, name: str
) -> None:
    found = list(operators(await plan_of(driver, name)))
    assert found
    # A hash join reads all that is at one end instead of what is between both.
    assert [one for one in found if one.endswith(("Scan", "HashJoin"))] == []


@pytest.mark.parametrize("name", IN_ORDER)
async def test_a_page_that_is_planned_early_is_read_in_the_order_of_an_index(
    driver: AsyncDriver, name: str
) -> None:
    plan = await plan_of(driver, name)
    assert [one for one in operators(plan) if one.endswith(ORDERING)] == []


async def test_without_being_told_neo4j_would_read_whole_indexes(driver: AsyncDriver) -> None:
    # Of some queries: which ones differs with how far its planner comes in its time.
    for name in PLANNED:
        untold = re.sub(r"\s+USING INDEX SEEK [^)]+\)", "", QUERIES[name])
        plan = (await driver.execute_query(f"EXPLAIN {untold}", p={})).summary.plan
        assert plan is not None
        if any(one.endswith(("Scan", "HashJoin")) for one in operators(plan)):
            return
    pytest.fail("no query needs to be told its indexes any more")

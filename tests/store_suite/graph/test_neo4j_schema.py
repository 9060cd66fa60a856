"""The schema in Neo4j: creation, the check of an up-to-date database, and refusal of other versions."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from neo4j import AsyncDriver

from deploy.local.stores import LocalStores
from services.graph_query.app import build_store, keep_schema
from services.graph_query.neo4j.queries import load_schema
from services.graph_query.neo4j.schema import (
    VERSION,
    Schema,
    SchemaError,
    check_version,
    ensure_schema,
)
from services.graph_query.neo4j_store import Neo4jStore
from tests.store_suite.graph.builders import fact, new_space
from tests.store_suite.graph.neo4j_graph import opened, settings

_SET = "MATCH (s:BraidSchema {name: 'graph'}) SET s.version = $version"
_FORGET = "MATCH (s:BraidSchema) DELETE s"
_RECORD = "MERGE (s:BraidSchema {name: 'graph'}) SET s.version = $version"


@pytest.fixture
async def store(graph_stores: LocalStores) -> AsyncIterator[Neo4jStore]:
    async with opened(graph_stores) as found:
        yield found


async def test_a_start_on_an_up_to_date_database_runs_no_statement(store: Neo4jStore) -> None:
    (database,) = store.pools
    broken = [f"{text} THIS IS NO CYPHER" for text in load_schema().statements]
    await ensure_schema(database, Schema(tuple(broken)))


async def test_a_missing_index_is_created_again(store: Neo4jStore, driver: AsyncDriver) -> None:
    await driver.execute_query("DROP INDEX braid_version_by_start")
    await store.ensure_schema()
    await store.ping()


async def test_a_database_of_another_schema_version_is_refused_with_advice(
    store: Neo4jStore, driver: AsyncDriver
) -> None:
    await driver.execute_query(_SET, version=VERSION + 1)
    try:
        with pytest.raises(SchemaError, match="delete its data folder"):
            await store.ensure_schema()
    finally:
        await driver.execute_query(_SET, version=VERSION)


async def test_the_tier_does_not_start_on_a_database_older_than_the_baseline(
    graph_stores: LocalStores, store: Neo4jStore, driver: AsyncDriver
) -> None:
    await store.add_facts(new_space(), [fact("Nova", "KNOWS", "Luna")], "")
    await driver.execute_query(_FORGET)
    older = build_store(settings(graph_stores))
    try:
        with pytest.raises(SchemaError, match="delete its data folder"):
            await keep_schema(older)
    finally:
        await driver.execute_query(_RECORD, version=VERSION)
        await older.close()


@pytest.mark.parametrize("version", ["5.26.0", "2025.12.1"])
def test_a_neo4j_that_is_too_old_is_refused_in_one_sentence(version: str) -> None:
    with pytest.raises(SchemaError, match=r"is too old: Braid needs version 2026\.01 or later"):
        check_version(version)


@pytest.mark.parametrize("version", ["2026.01.0", "2026.09.0", "2027.1"])
def test_a_current_neo4j_is_accepted(version: str) -> None:
    check_version(version)

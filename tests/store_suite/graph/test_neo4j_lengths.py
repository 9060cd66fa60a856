"""A graph of before its vectors could be of several lengths comes up to date, whatever model is configured."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from neo4j import AsyncDriver

from deploy.local.stores import LocalStores
from services.graph_query.graph_store import Neo4jStore
from tests.store_suite.graph.builders import ALWAYS, DIMENSION, fact, new_space, unit
from tests.store_suite.graph.embedding_suite import OLD, filled, spread
from tests.store_suite.graph.findings_suite import finding
from tests.store_suite.graph.neo4j_graph import opened

_FACTS = """CYPHER 25 CREATE VECTOR INDEX braid_fact_similarity FOR ()-[e:RELATES_TO]-() ON e.fact_embedding
WITH [e.group_id, e.valid_from, e.valid_until, e.relation_key] OPTIONS $options"""
_NAMES = """CYPHER 25 CREATE VECTOR INDEX braid_entity_similarity FOR (n:Entity) ON n.name_embedding
WITH [n.group_id] OPTIONS $options"""
_FINDINGS = """CYPHER 25 CREATE VECTOR INDEX braid_finding_similarity FOR (f:BraidFinding) ON f.embedding
WITH [f.group_id, f.kind, f.type_key, f.confidence_key, f.status_key, f.priority, f.owner_key, f.origin, f.created]
OPTIONS $options"""
_OPTIONS = {"indexConfig": {"vector.dimensions": DIMENSION, "vector.similarity_function": "cosine"}}
_INDEXES = (
    "SHOW VECTOR INDEXES YIELD name, options WHERE name STARTS WITH 'braid_' RETURN name, options"
)
_UNKNOWN = "MATCH (s:BraidSpace {group_id: $space}) REMOVE s.embedding_dimension"
_NAME = "MATCH (n:Entity {group_id: $space}) SET n.name_embedding = [0.6, 0.8]"
_NAMED = "MATCH (s:BraidSpace {group_id: $space}) SET s.embedding_model = 'old'"


@pytest.fixture
async def store(graph_stores: LocalStores) -> AsyncIterator[Neo4jStore]:
    async with opened(graph_stores) as found:
        yield found


async def test_indexes_of_one_length_give_way_to_those_of_any(
    store: Neo4jStore, driver: AsyncDriver
) -> None:
    old, new = await filled(store), new_space()
    for kind in ("fact", "entity", "finding"):
        await driver.execute_query(f"DROP INDEX braid_{kind}_meaning")
    for text in (_FACTS, _NAMES, _FINDINGS):
        await driver.execute_query(text, options=_OPTIONS)
    await store.ensure_schema()
    await store.ping()
    indexes = (await driver.execute_query(_INDEXES)).records
    assert {one["name"] for one in indexes} == {
        f"braid_{kind}_meaning" for kind in ("fact", "entity", "finding")
    }
    assert not any("vector.dimensions" in one["options"]["indexConfig"] for one in indexes)
    long = [fact(f"Name {n}", "KNOWS", "Zoe", embedding=spread(1_536, n)) for n in range(3)]
    await store.add_facts(new, long, "long")
    assert len(await store.search_vector(old, unit(1), ALWAYS, 9, exact=False)) == 5
    assert len(await store.search_vector(new, spread(1_536, 1), ALWAYS, 9, exact=False)) == 3


async def test_how_long_the_vectors_of_facts_findings_and_names_are_is_noted_where_it_was_not(
    store: Neo4jStore, driver: AsyncDriver
) -> None:
    facts, findings, names, none = await filled(store), new_space(), new_space(), new_space()
    await store.findings.add_findings(findings, [finding("It works.", embedding=unit(1))], OLD)
    for space in (names, none):
        await store.add_facts(space, [fact("Ada", "KNOWS", "Bob")], "")
        await driver.execute_query(_NAMED, space=space)
    await driver.execute_query(_NAME, space=names)
    for space in (facts, findings, names, none):
        await driver.execute_query(_UNKNOWN, space=space)
        assert (await store.embeddings.vectors(space)).dimension == 0
    await store.ensure_schema()
    lengths = [
        (await store.embeddings.vectors(space)).dimension
        for space in (facts, findings, names, none)
    ]
    assert lengths == [DIMENSION, DIMENSION, 2, 0]


async def test_vectors_that_were_laid_beside_before_lengths_were_noted_take_over(
    store: Neo4jStore, driver: AsyncDriver
) -> None:
    space = await filled(store)
    await driver.execute_query(
        "MATCH ()-[e:RELATES_TO {group_id: $space}]->() SET e.next_model = 'new', e.next_embedding = [0.6, 0.8]",
        space=space,
    )
    await store.embeddings.activate(space, "new")
    assert await store.embeddings.vectors(space) == ("new", "", 5, 2)

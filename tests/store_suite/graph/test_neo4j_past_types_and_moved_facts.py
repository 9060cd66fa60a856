"""Past entity types and moved claims in Neo4j, and writes before the schema exists."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from neo4j import AsyncDriver

from deploy.local.stores import LocalStores
from services.graph_query.app import build_store
from services.graph_query.core.domain import EntityName, GivenFact
from services.graph_query.history.domain import Scope, Selector
from services.graph_query.neo4j_store import Neo4jStore
from services.runtime.errors import StoreUnavailableError
from tests.store_suite.graph.builders import ALWAYS, day, fact, new_space, passage
from tests.store_suite.graph.neo4j_graph import opened, settings

_CLAIMS = """MATCH (c:FactClaim {group_id: $space})
RETURN c.document_id AS document, c.claimant AS claimant, c.document_uuid, c.episode_uuid, size(c.given) AS given
ORDER BY document"""


@pytest.fixture
async def store(graph_stores: LocalStores) -> AsyncIterator[Neo4jStore]:
    async with opened(graph_stores) as found:
        yield found


def near(name: str, kind: str, target: str) -> GivenFact:
    return replace(fact(name, "IS_NEAR", target), subject=EntityName(name, kind))


async def targets(store: Neo4jStore, space: str, kind: str, known: float | None) -> list[str]:
    scope = Scope(subject=Selector(name_key="nova", type=kind), known=known)
    found = await store.history.list_facts(space, scope, ALWAYS, None, 10)
    return [one.target.name for one in found]


async def last_write(store: Neo4jStore, space: str) -> float:
    found = (await store.stats(space)).last_write
    assert found is not None
    return found.timestamp()


async def test_an_entity_is_found_as_known_by_the_type_it_had_then(store: Neo4jStore) -> None:
    space = new_space()
    await store.add_facts(space, [fact("Nova", "KNOWS", "Old Friend")], "")
    untyped = await last_write(store, space)
    await store.add_facts(space, [near("Nova", "Planet", "Sun Star")], "")
    planet = await last_write(store, space)
    await store.add_facts(space, [near("Nova", "Metal", "Ore Box")], "")
    now = await last_write(store, space)
    assert await targets(store, space, "Planet", untyped) == ["Old Friend"]
    assert set(await targets(store, space, "Planet", planet)) == {"Old Friend", "Sun Star"}
    assert await targets(store, space, "Metal", planet) == ["Old Friend"]
    assert set(await targets(store, space, "Metal", now)) == {"Old Friend", "Ore Box"}


async def test_a_fact_without_a_document_moves_with_a_claim_without_a_document(
    store: Neo4jStore, driver: AsyncDriver
) -> None:
    space = new_space()
    await store.add_facts(space, [fact("Nova", "KNOWS", "Luna")], "")
    await store.add_facts(space, [near("Nova", "Star", "Vega")], "")
    moved = await driver.execute_query(_CLAIMS, space=space)
    assert [record.values() for record in moved.records] == [["", None, None, None, 1]] * 2
    assert len(await targets(store, space, "Star", None)) == 2


async def test_a_fact_of_several_documents_moves_with_each_documents_claim(
    store: Neo4jStore, driver: AsyncDriver
) -> None:
    space = new_space()
    documents = ["a", "b", "c"]
    given = [fact("Nova", "KNOWS", "Luna", document_id=one) for one in documents]
    await store.add_facts(space, given, "")
    await store.add_facts(space, given, "")
    await store.add_facts(space, [near("Nova", "Star", "Vega")], "")
    claims = await driver.execute_query(_CLAIMS, space=space)
    rows = [(record["document"], record["claimant"], record["given"]) for record in claims.records]
    assert rows == [("", None, 1), *((one, one, 1) for one in documents)]


async def test_writes_are_refused_until_the_schema_exists(
    graph_stores: LocalStores,
) -> None:
    space = new_space()
    store = build_store(settings(graph_stores))
    for write in (
        store.add_facts(space, [fact("Nova", "KNOWS", "Old Friend")], ""),
        store.add_episodes(space, [passage(space, "d", "Nova", "It is new.")]),
        store.end_fact(space, "00000000-0000-5000-8000-000000000000", day("2010-01-01")),
    ):
        with pytest.raises(StoreUnavailableError):
            await write
    assert (await store.stats(space)).revision == 0
    await store.ensure_schema()
    assert (await store.add_facts(space, [fact("Nova", "IS", "New")], "")).added == 1
    await store.close()

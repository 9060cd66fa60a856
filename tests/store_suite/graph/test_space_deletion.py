"""Deleting a whole space from Neo4j leaves nothing of it but its revision, and nothing of another space is touched."""

from __future__ import annotations

import re
import uuid
from collections.abc import AsyncIterator
from datetime import timedelta
from importlib.resources import files

import pytest

from deploy.local.stores import LocalStores
from services.graph_query.core.domain import DeletionCounts
from services.graph_query.inventory import space_deletion
from services.graph_query.neo4j_store import Neo4jStore
from tests.store_suite.graph.builders import day, fact, new_space, passage
from tests.store_suite.graph.events_suite import EVENTS
from tests.store_suite.graph.findings_suite import EVERYTHING
from tests.store_suite.graph.neo4j_graph import connected, dump, opened

# The deletion's own record remains for 30 days.
_LABELS = "MATCH (n {group_id: $space}) RETURN DISTINCT labels(n)[0] AS label ORDER BY label"
_RELATIONSHIPS = "MATCH ()-[r {group_id: $space}]->() RETURN count(r) AS label"
_PACKAGE = "services.graph_query"
GAVE = day("2024-01-01")


@pytest.fixture
async def store(graph_stores: LocalStores) -> AsyncIterator[Neo4jStore]:
    """An opened store."""
    async with opened(graph_stores) as found:
        yield found


async def fill(store: Neo4jStore, space: str) -> None:
    """Writes every kind of data."""
    await store.ontologies.put_ontology(space, EVENTS, None)
    await store.add_episodes(
        space,
        [
            passage(space, "d", "Ada", "Ada met Bob and Carl. Carl was away.", 0),
            passage(space, "d", "Ada", "Later Ada met Carl in Berlin.", 1),
        ],
    )
    given = [
        fact("Ada", "KNOWS", "Bob", document_id="d", valid_at=GAVE, embedding=(1.0, 0.0)),
        fact("Ada", "OWNS", "Berlin", valid_at=GAVE),
    ]
    added = await store.add_facts(space, given, "model")
    await store.end_fact(space, added.uuids[0], GAVE + timedelta(days=1))
    await store.findings.add_findings(space, EVERYTHING, "")


async def values(stores: LocalStores, query: str, space: str) -> list[object]:
    """Returns the column of a statement that no service runs."""
    async with connected(stores) as driver:
        result = await driver.execute_query(query, space=space)
        return [record["label"] for record in result.records]


@pytest.mark.parametrize("rows_at_once", [1, 5_000])
async def test_nothing_of_a_deleted_space_is_left_but_its_revision(
    store: Neo4jStore,
    graph_stores: LocalStores,
    monkeypatch: pytest.MonkeyPatch,
    rows_at_once: int,
) -> None:
    monkeypatch.setattr(space_deletion, "ROWS_AT_ONCE", rows_at_once)
    space, other = new_space(), new_space()
    for one in (space, other):
        await fill(store, one)
    theirs = await dump(graph_stores, other)
    before = await store.stats(space)
    deletion = str(uuid.uuid4())
    ended = False
    while not ended:
        counts, ended = await store.inventory.delete_space(space, deletion)
    assert (counts.episodes, counts.facts, counts.findings) == (2, 2, len(EVERYTHING))
    assert (counts.entities, counts.local_facts) == (before.entities, before.local_facts)
    assert min(counts.mentions, counts.versions) > 0
    assert await store.inventory.delete_space(space, deletion) == (counts, True)
    assert await values(graph_stores, _LABELS, space) == ["BraidDeletion", "BraidSpace"]
    assert await values(graph_stores, _RELATIONSHIPS, space) == [0]
    assert (await store.stats(space)).revision > before.revision
    assert await dump(graph_stores, other) == theirs


async def test_a_deleted_space_takes_data_like_a_new_one(
    store: Neo4jStore, graph_stores: LocalStores
) -> None:
    space, new = new_space(), new_space()
    await fill(store, space)
    ended = False
    deletion = str(uuid.uuid4())
    while not ended:
        _, ended = await store.inventory.delete_space(space, deletion)
    given = [fact("Ada", "KNOWS", "Bob", embedding=(1.0, 0.0, 0.0))]  # another model and length
    for one in (space, new):
        await store.add_episodes(one, [passage(one, "d", "Ada", "Bob met Carl.")])
        await store.add_facts(one, given, "another model")
    assert (await store.stats(space)).entities == (await store.stats(new)).entities
    assert len(await values(graph_stores, _LABELS, space)) == 1 + len(
        await values(graph_stores, _LABELS, new)
    )


async def test_deleting_an_empty_space_removes_nothing(store: Neo4jStore) -> None:
    removed = await store.inventory.delete_space(new_space(), str(uuid.uuid4()))
    assert removed == (DeletionCounts(), True)


def test_every_kind_of_node_of_a_space_is_deleted() -> None:
    """A new label with a space needs a line in the query that deletes spaces."""
    schema = (files(f"{_PACKAGE}.neo4j") / "baseline.cypher").read_text()
    of_spaces = set(re.findall(r"FOR \((?:\w+):(\w+)\)[^;]{0,200}group_id", schema))
    deleted = (files(f"{_PACKAGE}.inventory") / "cypher" / "space_deletion.cypher").read_text()
    also_another_label = {"BraidPastFact"}
    assert of_spaces - set(re.findall(r":(\w+)", deleted)) == also_another_label

"""Quarantined data is in no answer, and is restored exactly as it was: on both clocks, with vectors and links."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from neo4j import AsyncDriver

from deploy.local.stores import LocalStores
from services.graph_query.core.domain import DescribedEntity, EntityName, Passage
from services.graph_query.episodes.extraction_result import Contradicted, ExtractionResult
from services.graph_query.expansion.domain import GivenRelation, RelationType
from services.graph_query.findings.domain import FindingFields, FindingKind, GivenFinding
from services.graph_query.history.domain import Scope
from services.graph_query.neo4j_store import Neo4jStore
from services.graph_query.quarantine.domain import Counts, ItemKind
from tests.store_suite.graph.builders import ALWAYS, day, fact, new_space, passage, unit
from tests.store_suite.graph.inventory_suite import last_write_time
from tests.store_suite.graph.neo4j_graph import opened

MODEL = "stub"
# All that a space's graph holds, without the nodes of the space, its quarantines and its deletions.
_CONTENT = """MATCH (n {group_id: $space})
WHERE NOT n:BraidSpace AND NOT n:BraidQuarantine AND NOT n:BraidQuarantined AND NOT n:BraidDeletion
RETURN labels(n) AS labels, properties(n) AS fields"""
_LINKS = """MATCH (a {group_id: $space})-[r]->(b)
RETURN type(r) AS type, properties(r) AS fields, coalesce(a.uuid, a.name_key) AS source,
  coalesce(b.uuid, b.name_key) AS target"""
_COUNTS = """MATCH (s:BraidSpace {group_id: $space})
RETURN s.vectors AS facts, s.finding_vectors AS findings"""
# When derived entities were created is not restored.
_VOLATILE = {"Entity": {"created_at"}}


@pytest.fixture
async def store(graph_stores: LocalStores) -> AsyncIterator[Neo4jStore]:
    """The store on the test run's Neo4j."""
    async with opened(graph_stores) as found:
        yield found


async def content(driver: AsyncDriver, space: str) -> set[str]:
    """All nodes and relationships of a space as text, and its counts of vectors."""
    nodes = [
        (sorted(row["labels"]), _fields(row["fields"], row["labels"]))
        for row in (await driver.execute_query(_CONTENT, space=space)).records
    ]
    links = [
        (row["type"], row["source"], row["target"], _fields(row["fields"]))
        for row in (await driver.execute_query(_LINKS, space=space)).records
    ]
    counts = [list(row) for row in (await driver.execute_query(_COUNTS, space=space)).records]
    return {repr(one) for one in (*nodes, *links, *counts)}


def _fields(fields: dict[str, Any], labels: Sequence[str] = ()) -> list[tuple[str, Any]]:
    """Properties by name, vectors by their values that are not zero."""
    left_out = {name for label in labels for name in _VOLATILE.get(label, ())}
    return [
        (name, _comparable(name, value))
        for name, value in sorted(fields.items())
        if name not in left_out
    ]


def _comparable(name: str, value: Any) -> Any:
    if name.endswith("embedding"):
        return [one for one in value if one]
    return sorted(value) if name == "versions" else value


async def restore_all(store: Neo4jStore, space: str, quarantine: str) -> Counts:
    """Restores items until none is left or none can be restored."""
    total = Counts()
    while found := await store.quarantine.items(space, quarantine, "", 1_000):
        restored = await store.quarantine.restore(space, quarantine, [one.id for one in found])
        if not restored:
            break
        total += restored
    return total


def lost(space: str, part: int) -> Passage:
    """A chunk of the document that is quarantined."""
    text = ("Ada Vale met Bob Stone.", "Bob Stone left Acme Works.", "Carl Finn came.")[part]
    chunk = passage(space, "lost", "Lost Notes", text, part)
    return replace(
        chunk, version_time=day(f"2020-01-0{part + 1}"), reference_time=day("2020-02-01")
    )


async def fill(store: Neo4jStore, space: str) -> dict[str, Passage]:
    """Fills a space: a kept document, and one to be lost with everything that can depend on it."""
    kept = passage(space, "kept", "Kept Notes", "Ada Vale works at Acme Works.")
    chunks = [lost(space, part) for part in range(3)]
    await store.add_episodes(space, [kept, *chunks])
    await store.add_facts(
        space,
        [
            fact("Ada Vale", "LIKES", "Tea", document_id="lost", embedding=unit(1, 2)),
            fact("Ada Vale", "OWNS", "Red Car", document_id="lost", valid_at=day("2019-01-01")),
            fact("Ada Vale", "KNOWS", "Bob Stone", document_id="kept", embedding=unit(2, 1)),
            fact("Bob Stone", "LIKES", "Rain", valid_at=day("2018-01-01")),
        ],
        MODEL,
    )
    typed = EntityName("Ada Vale", "Person")
    await store.add_facts(space, [fact(typed, "KNOWS", "Bob Stone", document_id="lost")], "")
    facts = {
        one.fact: one for one in await store.history.list_facts(space, Scope(), ALWAYS, None, 99)
    }
    await store.end_fact(space, facts["Ada Vale owns Red Car"].uuid, day("2021-01-01"))
    await store.end_fact(space, facts["Ada Vale owns Red Car"].uuid, day("2020-06-01"))
    reading = ExtractionResult(
        entities=(
            DescribedEntity(EntityName("Bob Stone", "Person"), "A mason.", {"age": 40}, unit(3)),
        ),
        facts=(
            fact("Bob Stone", "LEFT", "Acme Works", episode_id=chunks[1].uuid, embedding=unit(4)),
        ),
        contradicted=(Contradicted(facts["Bob Stone likes Rain"].uuid, day("2020-01-02")),),
        findings=(finding("Bob left in haste.", chunks[1].uuid),),
    )
    await store.extractions.add_extraction(space, chunks[1], reading, MODEL)
    shared = finding("Both notes name Ada.", kept.uuid, chunks[0].uuid)
    await store.findings.add_findings(space, [shared], MODEL)
    rows = [(kept, chunks[0]), (chunks[0], chunks[1]), (chunks[2], kept)]
    relations = [GivenRelation(a.uuid, b.uuid, RelationType.SUPPORTS, 0.5) for a, b in rows]
    await store.relations.put(space, relations)
    return {"kept": kept, **{f"lost{n}": chunk for n, chunk in enumerate(chunks)}}


def finding(statement: str, *episodes: str) -> GivenFinding:
    """A finding from episodes, with a vector."""
    fields = FindingFields(FindingKind.FINDING, statement, confidence=0.9)
    about = (EntityName("Bob Stone"),)
    return GivenFinding(fields, about=about, episodes=episodes, embedding=unit(1, 1, 1))


async def test_a_document_is_restored_exactly_with_all_that_depended_on_it(
    store: Neo4jStore, driver: AsyncDriver
) -> None:
    space, quarantine = new_space(), str(uuid.uuid4())
    await fill(store, space)
    before = await content(driver, space)
    known = await last_write_time(store, space)
    told = await store.history.list_facts(space, Scope(known=known), ALWAYS, None, 99)

    counts = await store.quarantine.quarantine(space, quarantine, ItemKind.DOCUMENT, ["lost"])
    assert counts == {
        ItemKind.FACT: 3,
        ItemKind.FINDING: 1,
        ItemKind.DOCUMENT: 1,
        ItemKind.EPISODE: 3,
    }
    names = {one.fact for one in await store.history.list_facts(space, Scope(), ALWAYS, None, 99)}
    assert names == {"Ada Vale knows Bob Stone", "Bob Stone likes Rain"}
    past = await store.history.list_facts(space, Scope(known=known), ALWAYS, None, 99)
    assert {one.fact for one in past} == names
    assert await store.inventory.list_documents(space, "", 9) == ["kept"]

    (receipt,) = await store.quarantine.quarantines(space, "", 9)
    assert (receipt.id, receipt.counts, receipt.items) == (quarantine, counts, 8)
    assert await restore_all(store, space, quarantine) == counts
    after = await content(driver, space)
    assert (before - after, after - before) == (set(), set())
    assert await store.history.list_facts(space, Scope(known=known), ALWAYS, None, 99) == told


async def test_items_can_be_restored_alone_and_in_any_order(
    store: Neo4jStore, driver: AsyncDriver
) -> None:
    space, quarantine = new_space(), str(uuid.uuid4())
    await fill(store, space)
    before = await content(driver, space)
    await store.quarantine.quarantine(space, quarantine, ItemKind.DOCUMENT, ["lost"])
    items = await store.quarantine.items(space, quarantine, "", 99)
    for item in reversed(items):
        await store.quarantine.restore(space, quarantine, [item.id])
    await restore_all(store, space, quarantine)
    after = await content(driver, space)
    assert (before - after, after - before) == (set(), set())


async def test_a_fact_keeps_its_versions_and_a_repetition_changes_nothing(
    store: Neo4jStore, driver: AsyncDriver
) -> None:
    space, quarantine = new_space(), str(uuid.uuid4())
    await fill(store, space)
    before = await content(driver, space)
    owned = await store.history.list_facts(space, Scope(), ALWAYS, None, 99)
    ids = [one.uuid for one in owned]
    first = await store.quarantine.quarantine(space, quarantine, ItemKind.FACT, ids)
    assert first == {ItemKind.FACT: 5}
    assert await store.quarantine.quarantine(space, quarantine, ItemKind.FACT, ids) == {}
    assert await store.history.list_facts(space, Scope(), ALWAYS, None, 99) == []
    await restore_all(store, space, quarantine)
    after = await content(driver, space)
    assert (before - after, after - before) == (set(), set())


async def test_a_fact_that_was_stated_again_regains_its_past(store: Neo4jStore) -> None:
    space, quarantine = new_space(), str(uuid.uuid4())
    stated = fact("Ada", "LIKES", "Tea")
    await store.add_facts(space, [stated], "")
    known = await last_write_time(store, space)
    (one,) = await store.history.list_facts(space, Scope(), ALWAYS, None, 9)
    await store.quarantine.quarantine(space, quarantine, ItemKind.FACT, [one.uuid])
    assert await store.history.list_facts(space, Scope(known=known), ALWAYS, None, 9) == []
    await store.add_facts(space, [stated], "")
    await restore_all(store, space, quarantine)
    told = await store.history.list_facts(space, Scope(known=known), ALWAYS, None, 9)
    assert [one.fact for one in told] == ["Ada likes Tea"]
    now = await store.history.list_facts(space, Scope(), ALWAYS, None, 9)
    assert [one.uuid for one in now] == [one.uuid]


async def test_a_chunk_is_quarantined_without_its_documents_facts(
    store: Neo4jStore, driver: AsyncDriver
) -> None:
    space, quarantine = new_space(), str(uuid.uuid4())
    chunks = await fill(store, space)
    before = await content(driver, space)
    ids = [chunks[f"lost{n}"].uuid for n in range(3)]
    counts = await store.quarantine.quarantine(space, quarantine, ItemKind.EPISODE, ids)
    assert counts == {ItemKind.FACT: 1, ItemKind.FINDING: 1, ItemKind.EPISODE: 3}
    facts = await store.history.list_facts(space, Scope(), ALWAYS, None, 99)
    assert {one.fact for one in facts} == {
        "Ada Vale knows Bob Stone",
        "Ada Vale likes Tea",
        "Ada Vale owns Red Car",
        "Bob Stone likes Rain",
    }
    await restore_all(store, space, quarantine)
    after = await content(driver, space)
    assert (before - after, after - before) == (set(), set())


async def test_a_purged_quarantine_is_gone_for_good(store: Neo4jStore) -> None:
    space, quarantine = new_space(), str(uuid.uuid4())
    await fill(store, space)
    counts = await store.quarantine.quarantine(space, quarantine, ItemKind.DOCUMENT, ["lost"])
    other = new_space()
    assert await store.quarantine.purge(other, quarantine) == {}
    assert await store.quarantine.restore(other, quarantine, []) == {}
    assert await store.quarantine.purge(space, quarantine) == counts
    assert await store.quarantine.quarantines(space, "", 9) == []
    assert await restore_all(store, space, quarantine) == {}

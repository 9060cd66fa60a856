"""Consistency checks find rows that only one store has, repairs fix them, and running jobs are not reported."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from contextlib import AsyncExitStack

import asyncpg
import grpc
import pytest

from braid.agent.v1 import consistency_pb2, ingest_pb2, jobs_pb2, memories_pb2
from braid.graph.v1 import findings_pb2, structure_pb2
from braid.graph.v1 import ingest_pb2 as graph_pb2
from services.agent_orchestrator.typed_memory.domain import Owner
from services.graph_query.core.domain import Passage
from services.runtime.ids import derived_uuid
from tests.integration.upkeep.conftest import DIMENSION, OURS, WideEmbedder, World

CHUNK = consistency_pb2.INCONSISTENCY_KIND_CHUNK_WITHOUT_EPISODE
EPISODE = consistency_pb2.INCONSISTENCY_KIND_EPISODE_WITHOUT_CHUNK
DOCUMENT = consistency_pb2.INCONSISTENCY_KIND_UNKNOWN_DOCUMENT
UNDOCUMENTED = consistency_pb2.INCONSISTENCY_KIND_FACT_WITHOUT_DOCUMENT
MEMORY = consistency_pb2.INCONSISTENCY_KIND_MEMORY_WITHOUT_DOCUMENT
FACT = consistency_pb2.QUARANTINED_ITEM_KIND_FACT
VECTOR = [1.0] + [0.0] * (DIMENSION - 1)

Report = consistency_pb2.ConsistencyReport


async def check(world: World) -> Report:
    """Checks the consistency of the space."""
    request = consistency_pb2.CheckConsistencyRequest()
    answer = await world.consistency.CheckConsistency(request, metadata=OURS, timeout=60)
    return answer.report


async def repair(world: World, *, apply: bool = True) -> Report:
    """Repairs the inconsistencies of the space, or only says what a repair would do."""
    request = consistency_pb2.RepairConsistencyRequest(apply=apply)
    answer = await world.consistency.RepairConsistency(request, metadata=OURS, timeout=60)
    return answer.report


def found(report: Report) -> dict[int, tuple[int, int]]:
    """The numbers of found and repaired inconsistencies, by kind."""
    return {one.kind: (one.found_count, one.repaired_count) for one in report.counts}


async def give_facts(world: World, *documents: str, embedding: Sequence[float] = ()) -> None:
    """Gives one fact for each document, without a document for ""."""
    facts = [
        graph_pb2.FactInput(
            subject=graph_pb2.EntityInput(name="Ada"),
            relation_type="KNOWS",
            object=graph_pb2.EntityInput(name=f"{document or 'no'} document"),
            statement=f"Ada knows {document or 'no document'}",
            document_id=document,
            embedding=embedding,
        )
        for document in documents
    ]
    model = world.embedder.model if embedding else ""
    request = graph_pb2.AddFactsRequest(facts=facts, embedding_model=model)
    answer = await world.findings.AddFacts(iter([request]), metadata=OURS, timeout=30)
    assert answer.added_count == len(documents)


async def give_finding(world: World, document: str) -> None:
    """Gives a finding that comes from a document's chunk."""
    chunks = (await world.vector.get_document(world.space, document))[1]
    given = findings_pb2.FindingInput(
        finding=findings_pb2.FindingDetails(key_insight="Carl is kind."), chunk_ids=chunks
    )
    request = findings_pb2.AddFindingsRequest(findings=[given])
    await world.findings.AddFindings(request, metadata=OURS, timeout=30)


async def facts_of(world: World) -> set[str]:
    """The statements of all stated facts."""
    request = structure_pb2.ListFactsRequest(page_size=100)
    answer = await world.facts.ListFacts(request, metadata=OURS, timeout=30)
    return {one.statement for one in answer.facts}


async def remember(world: World, text: str) -> str:
    """Stores a memory; returns its id."""
    request = memories_pb2.CreateMemoryRequest(content=text)
    answer = await world.memories.CreateMemory(request, metadata=OURS, timeout=30)
    return str(answer.memory.id)


async def get_quarantine(world: World, id_: str) -> consistency_pb2.GetQuarantineResponse:
    """A quarantine with its items."""
    request = consistency_pb2.GetQuarantineRequest(quarantine_id=id_)
    return await world.consistency.GetQuarantine(request, metadata=OURS, timeout=30)


async def test_orphans_in_either_store_are_found_and_repaired(world: World) -> None:
    async with AsyncExitStack() as stack:
        await world.start_worker(stack)
        await world.put("kept", "Ada met Bob.")
        await world.put("graphless", "Carl met Dora.")
        clean = await check(world)
        assert (clean.consistent, clean.chunk_count, clean.episode_count) == (True, 2, 2)
        [chunk] = (await world.vector.get_document(world.space, "graphless"))[1]
        await world.graph.delete_episodes(world.space, [chunk])
        stray = Passage(derived_uuid("stray", world.space), "ghost", "Ghost", "", "Eve met Ada.")
        await world.graph.add_episodes(world.space, [stray])

        report = await check(world)
        assert found(report) == {CHUNK: (1, 0), EPISODE: (1, 0), DOCUMENT: (1, 0)}
        assert {(one.kind, one.id, one.document_id) for one in report.listed} == {
            (CHUNK, chunk, "graphless"),
            (EPISODE, stray.uuid, "ghost"),
            (DOCUMENT, "ghost", "ghost"),
        }
        assert not report.consistent
        planned = await repair(world, apply=False)
        assert (found(planned), planned.quarantine_id) == (found(report), "")
        assert {one.kind: one.action for one in planned.counts} == {
            CHUNK: consistency_pb2.REPAIR_ACTION_SEND,
            EPISODE: consistency_pb2.REPAIR_ACTION_QUARANTINE,
            DOCUMENT: consistency_pb2.REPAIR_ACTION_QUARANTINE,
        }
        assert found(await check(world)) == found(report)
        assert (await repair(world)).consistent
        assert (await check(world)).consistent
        episodes = await world.graph.inventory.list_episodes(world.space, "", 10)
        assert {one.document_id for one in episodes} == {"kept", "graphless"}


async def test_pending_writes_of_running_jobs_are_not_inconsistencies(
    world: World,
) -> None:
    jobs = [await world.send(f"d{n}", f"Ada met Bob {n}.") for n in range(12)]
    async with AsyncExitStack() as stack:
        await world.start_worker(stack)
        ending = asyncio.gather(*(world.ended(job.id) for job in jobs))
        while not ending.done():
            report = await check(world)
            assert report.consistent, report
        assert all(job.state == jobs_pb2.JOB_STATE_SUCCEEDED for job in await ending)
    report = await check(world)
    assert (report.consistent, report.chunk_count, report.pending_count) == (True, 12, 0)


async def test_a_deletion_removes_all_versions_of_a_document_from_both_stores(world: World) -> None:
    async with AsyncExitStack() as stack:
        await world.start_worker(stack)
        for text in ("Ada met Bob.", "Ada met Carl.", "Ada met Dora."):
            await world.put("d", text)
        await world.put("other", "Ada met Eve.")
        request = ingest_pb2.DeleteDocumentRequest(document_id="d")
        answer = await world.ingest.DeleteDocument(request, metadata=OURS, timeout=30)
        removed = {(row.store, row.kind): row.count for row in answer.removed}
        assert removed[jobs_pb2.STORE_POSTGRESQL, jobs_pb2.ROW_KIND_VERSIONS] == 3
        assert removed[jobs_pb2.STORE_POSTGRESQL, jobs_pb2.ROW_KIND_CHUNKS] == 3
        assert removed[jobs_pb2.STORE_NEO4J, jobs_pb2.ROW_KIND_EPISODES] == 3
        report = await check(world)
        assert (report.consistent, report.chunk_count, report.episode_count) == (True, 1, 1)


async def test_facts_and_findings_of_a_document_that_postgresql_lost_are_quarantined_and_restored(
    world: World,
) -> None:
    async with AsyncExitStack() as stack:
        await world.start_worker(stack)
        await world.put("kept", "Ada met Bob.")
        await world.put("lost", "Carl met Dora.")
        await give_facts(world, "lost", "kept", "", "nowhere", embedding=VECTOR)
        await give_finding(world, "lost")
        before = await facts_of(world)
        await world.vector.delete_document(world.space, "lost", str(uuid.uuid4()))

        report = await check(world)
        assert {one.kind: one.found_count for one in report.counts} == {
            EPISODE: 1,
            DOCUMENT: 1,
            UNDOCUMENTED: 2,
        }
        assert report.fact_count == 4
        repaired = await repair(world)
        assert repaired.consistent
        assert (await check(world)).consistent
        assert await facts_of(world) == {"Ada knows kept", "Ada knows no document"}

        quarantine = repaired.quarantine_id
        listed = await world.consistency.ListQuarantines(
            consistency_pb2.ListQuarantinesRequest(), metadata=OURS, timeout=30
        )
        assert [(one.id, one.item_count) for one in listed.quarantines] == [(quarantine, 4)]
        shown = await get_quarantine(world, quarantine)
        facts = [one for one in shown.items if one.kind == FACT]
        assert {one.text for one in facts} == {"Ada knows lost", "Ada knows nowhere"}

        await world.put("lost", "Carl met Dora.")
        request = consistency_pb2.RestoreQuarantineRequest(quarantine_id=quarantine)
        answer = await world.consistency.RestoreQuarantine(request, metadata=OURS, timeout=60)
        assert sum(one.count for one in answer.restored) == 4
        assert answer.quarantine.item_count == 0
        assert await facts_of(world) == before
        report = await check(world)
        assert [(one.kind, one.found_count) for one in report.counts] == [(UNDOCUMENTED, 1)]


async def test_quarantines_are_restored_by_item_and_purged_explicitly(world: World) -> None:
    await give_facts(world, "one", "two", embedding=VECTOR)
    quarantine = (await repair(world)).quarantine_id
    first, second = (await get_quarantine(world, quarantine)).items
    request = consistency_pb2.RestoreQuarantineRequest(
        quarantine_id=quarantine, item_ids=[first.id]
    )
    await world.consistency.RestoreQuarantine(request, metadata=OURS, timeout=60)
    assert await facts_of(world) == {first.text}
    assert [one.id for one in (await get_quarantine(world, quarantine)).items] == [second.id]
    purge = consistency_pb2.PurgeQuarantineRequest(quarantine_id=quarantine)
    answer = await world.consistency.PurgeQuarantine(purge, metadata=OURS, timeout=60)
    assert [one.count for one in answer.purged] == [1]
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await get_quarantine(world, quarantine)
    assert caught.value.code() == grpc.StatusCode.NOT_FOUND


async def test_texts_without_vectors_are_embedded(world: World) -> None:
    async with AsyncExitStack() as stack:
        await world.start_worker(stack)
        await world.start_orchestrator(stack, WideEmbedder())
        await world.put("kept", "Ada met Bob.")
        embedded = graph_pb2.FactInput(
            subject=graph_pb2.EntityInput(name="Ada"),
            relation_type="MET",
            object=graph_pb2.EntityInput(name="Bob"),
        )
        request = ingest_pb2.IngestFactsRequest(facts=[embedded])
        await world.ingest.IngestFacts(iter([request]), metadata=OURS, timeout=20)
        await give_facts(world, "kept")
        report = await check(world)
        unembedded = consistency_pb2.INCONSISTENCY_KIND_FACT_WITHOUT_EMBEDDING
        assert {one.kind: one.found_count for one in report.counts} == {unembedded: 1}
        assert (await repair(world)).consistent
        assert (await check(world)).consistent


async def test_memories_that_a_store_lost_are_stored_again(world: World) -> None:
    texts = ("Raised the pool.", "Prefers tea.", "Fixed the leak.")
    ids = [await remember(world, text) for text in texts]
    partition = Owner(world.space, "").partition
    [chunk] = await world.vector.get_chunks(partition, [ids[0]])
    await world.vector.delete_document(partition, chunk.document_id, str(uuid.uuid4()))
    await world.graph.delete_episodes(partition, [ids[1]])
    report = await check(world)
    assert {one.kind: one.found_count for one in report.counts} == {MEMORY: 1, CHUNK: 1}
    assert report.memory_count == 3
    assert (await repair(world)).consistent
    assert (await check(world)).consistent
    again = await world.vector.get_chunks(partition, [ids[0]])
    assert [(one.document_id, one.content) for one in again] == [(chunk.document_id, texts[0])]


async def test_a_memory_whose_row_was_lost_is_listed_again(world: World) -> None:
    kept, lost = await remember(world, "Prefers tea."), await remember(world, "Fixed the leak.")
    await execute(world, "delete from memory where id = $1", uuid.UUID(lost))
    report = await check(world)
    unlisted = consistency_pb2.INCONSISTENCY_KIND_DOCUMENT_WITHOUT_MEMORY
    assert [(one.kind, one.id) for one in report.listed] == [(unlisted, lost)]
    assert (await repair(world)).consistent
    assert (await check(world)).consistent
    request = memories_pb2.ListMemoriesRequest()
    answer = await world.memories.ListMemories(request, metadata=OURS, timeout=30)
    assert {one.id: one.content for one in answer.memories} == {
        kept: "Prefers tea.",
        lost: "Fixed the leak.",
    }


async def test_a_graph_that_is_older_than_an_answered_write_is_listed_until_it_is_accepted(
    world: World,
) -> None:
    given = graph_pb2.FactInput(
        subject=graph_pb2.EntityInput(name="Ada"),
        relation_type="MET",
        object=graph_pb2.EntityInput(name="Bob"),
    )
    request = ingest_pb2.IngestFactsRequest(facts=[given])
    await world.ingest.IngestFacts(iter([request]), metadata=OURS, timeout=20)
    assert (await check(world)).consistent
    await execute(
        world, "update seen_graph set revision = revision + 5 where space = $1", world.space
    )
    older = consistency_pb2.INCONSISTENCY_KIND_GRAPH_OLDER_THAN_SEEN
    assert [one.kind for one in (await check(world)).listed] == [older]
    assert (await repair(world)).consistent
    assert (await check(world)).consistent


async def execute(world: World, statement: str, *arguments: object) -> None:
    """Runs a statement on the orchestrator's database."""
    connection = await asyncpg.connect(world.agent.database_url.get_secret_value())
    try:
        await connection.execute(statement, *arguments)
    finally:
        await connection.close()

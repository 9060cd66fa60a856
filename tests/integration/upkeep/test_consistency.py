"""Consistency checks find rows that only one store has, repairs fix them, and running jobs are not reported."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

from braid.agent.v1 import consistency_pb2, ingest_pb2, jobs_pb2
from services.graph_query.core.domain import Passage
from services.runtime.ids import derived_uuid
from tests.integration.upkeep.conftest import OURS, World

CHUNK = consistency_pb2.INCONSISTENCY_KIND_CHUNK_WITHOUT_EPISODE
EPISODE = consistency_pb2.INCONSISTENCY_KIND_EPISODE_WITHOUT_CHUNK
DOCUMENT = consistency_pb2.INCONSISTENCY_KIND_UNKNOWN_DOCUMENT

Report = consistency_pb2.ConsistencyReport


async def check(world: World) -> Report:
    """Checks the consistency of the space."""
    request = consistency_pb2.CheckConsistencyRequest()
    answer = await world.consistency.CheckConsistency(request, metadata=OURS, timeout=60)
    return answer.report


async def repair(world: World) -> Report:
    """Repairs the inconsistencies of the space."""
    request = consistency_pb2.RepairConsistencyRequest()
    answer = await world.consistency.RepairConsistency(request, metadata=OURS, timeout=60)
    return answer.report


def found(report: Report) -> dict[int, tuple[int, int]]:
    """The numbers of found and repaired inconsistencies, by kind."""
    return {one.kind: (one.found_count, one.repaired_count) for one in report.counts}


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

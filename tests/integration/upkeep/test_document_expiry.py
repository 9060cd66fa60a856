"""Documents are deleted automatically at the time that their last upload has set, with a receipt."""

from __future__ import annotations

from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta

import asyncpg
import grpc
import pytest

from braid.agent.v1 import ingest_pb2, jobs_pb2
from services.agent_orchestrator.database import open_database
from services.agent_orchestrator.deletion.expiry import ExpiredDocuments
from services.agent_orchestrator.deletion.store import DeletionStore
from services.agent_orchestrator.jobs.queue import TurnQueue
from services.agent_orchestrator.jobs.store import JobStore
from services.agent_orchestrator.spaces.transfer_store import TransferStore
from services.runtime.channels import Metadata
from services.runtime.status import error_from_rpc
from services.runtime.times import to_timestamp
from tests.integration.upkeep.conftest import OURS, World
from tests.integration.upkeep.test_space_deletion import another
from tests.stores import TestDatabase

SOON = timedelta(hours=1)


async def send(
    world: World,
    document_id: str,
    text: str,
    expires: timedelta | None = None,
    caller: Metadata = OURS,
) -> jobs_pb2.Job:
    """Uploads a document that is deleted after a span; without one, never."""
    about = ingest_pb2.DocumentMetadata(
        document_id=document_id,
        content_type="text/plain",
        expire_time=None if expires is None else to_timestamp(datetime.now(UTC) + expires),
    )
    parts = [
        ingest_pb2.IngestDocumentRequest(metadata=about),
        ingest_pb2.IngestDocumentRequest(data=text.encode()),
    ]
    answer = await world.ingest.IngestDocument(iter(parts), metadata=caller, timeout=20)
    return answer.job


async def put(
    world: World,
    document_id: str,
    text: str,
    expires: timedelta | None = None,
    caller: Metadata = OURS,
) -> None:
    """Uploads a document and waits until it is ingested."""
    job = await send(world, document_id, text, expires, caller)
    assert (await world.ended(job.id, caller)).state == jobs_pb2.JOB_STATE_SUCCEEDED


async def later(database: TestDatabase) -> list[tuple[str, str]]:
    """Lets an hour pass for the documents; returns those that are still to be deleted, with their spaces."""
    connection = await asyncpg.connect(database.dsn("braid_agent"))
    try:
        await connection.execute(
            "update document_expiry set expire_time = expire_time - interval '2 hours'"
        )
        rows = await connection.fetch("select space, document_id from document_expiry order by 2")
        return [(row["space"], row["document_id"]) for row in rows]
    finally:
        await connection.close()


async def deletions(world: World, caller: Metadata = OURS) -> list[jobs_pb2.Job]:
    """Looks for documents whose time is over, and waits for their deletions."""
    async with open_database(world.agent, "test") as database:
        turns = TurnQueue(database, lease_seconds=2.0)
        store = DeletionStore(database, turns, JobStore(database, turns))
        await ExpiredDocuments(database, store).enqueue()
    listed = await world.jobs.ListJobs(jobs_pb2.ListJobsRequest(), metadata=caller, timeout=20)
    jobs = [one for one in listed.jobs if one.kind == jobs_pb2.JOB_KIND_DELETE]
    return [await world.ended(one.id, caller) for one in jobs]


async def test_an_expired_document_is_deleted_with_a_receipt_and_others_are_not(
    world: World, agent_database: TestDatabase
) -> None:
    theirs = another()
    async with AsyncExitStack() as stack:
        await world.start_worker(stack)
        await put(world, "brief", "The heron is old.", SOON)
        await put(world, "longer", "The heron is grey.", 10 * SOON)
        await put(world, "kept", "The heron is new.")
        await put(world, "brief", "The heron is theirs.", 10 * SOON, theirs)
        assert await deletions(world) == []
        await later(agent_database)
        [job] = await deletions(world)
        assert job.state == jobs_pb2.JOB_STATE_SUCCEEDED
        counts = {(row.store, row.kind): row.count for row in job.removed}
        assert counts[jobs_pb2.STORE_POSTGRESQL, jobs_pb2.RowKind.ROW_KIND_CHUNKS] == 1
        assert len(await deletions(world)) == 1
        assert await deletions(world, theirs) == []
        left = [document for _, document in await later(agent_database)]
        assert left == ["brief", "longer"]


async def test_each_upload_sets_the_time_anew_also_if_its_text_is_the_same(
    world: World, agent_database: TestDatabase
) -> None:
    async with AsyncExitStack() as stack:
        await world.start_worker(stack)
        await put(world, "note", "The heron is old.", SOON)
        await put(world, "note", "The heron is old.", 10 * SOON)
        await later(agent_database)
        assert await deletions(world) == []
        await put(world, "note", "The heron is new.")
        assert await later(agent_database) == []


async def test_an_expired_document_that_is_uploaded_again_waits_for_that(
    world: World, agent_database: TestDatabase
) -> None:
    async with AsyncExitStack() as stack:
        await world.start_worker(stack)
        await put(world, "note", "The heron is old.", SOON)
    waiting = await send(world, "note", "The heron is new.")
    await later(agent_database)
    assert await deletions(world) == []
    async with AsyncExitStack() as stack:
        await world.start_worker(stack)
        await world.ended(waiting.id)
        assert await deletions(world) == []
        assert await later(agent_database) == []


async def test_a_space_that_is_being_imported_deletes_nothing_and_holds_up_no_other(
    world: World, agent_database: TestDatabase
) -> None:
    theirs = another()
    async with AsyncExitStack() as stack:
        await world.start_worker(stack)
        await put(world, "note", "The heron is old.", SOON)
        await put(world, "note", "The heron is theirs.", SOON, theirs)
        async with open_database(world.agent, "test") as database:
            await TransferStore(database).start_import(world.space, "an archive")
        await later(agent_database)
        [_] = await deletions(world, theirs)
        assert await deletions(world) == []


async def test_deleting_a_document_forgets_its_time(
    world: World, agent_database: TestDatabase
) -> None:
    async with AsyncExitStack() as stack:
        await world.start_worker(stack)
        await put(world, "note", "The heron is old.", SOON)
        request = ingest_pb2.DeleteDocumentRequest(document_id="note")
        await world.ingest.DeleteDocument(request, metadata=OURS, timeout=20)
        assert await later(agent_database) == []


async def test_a_time_that_is_over_is_refused(world: World) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await send(world, "note", "The heron is old.", -SOON)
    assert [one.field for one in error_from_rpc(refused.value).fields] == ["metadata.expire_time"]

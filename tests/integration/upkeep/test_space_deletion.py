"""A space as a whole on real stores: its contents are counted, and its deletion leaves nothing and says what went."""

from __future__ import annotations

import uuid
from contextlib import AsyncExitStack

import asyncpg
import grpc
import pytest

from braid.agent.v1 import jobs_pb2, memories_pb2, sources_pb2, sources_pb2_grpc, spaces_pb2
from braid.common.v1 import errors_pb2
from braid.graph.v1 import ingest_pb2
from services.agent_orchestrator.typed_memory.domain import Owner
from services.runtime.channels import Metadata
from services.runtime.status import error_from_rpc
from tests.integration.upkeep.conftest import OURS, World
from tests.integration.upkeep.test_space_isolation import TEXT, seen
from tests.stores import TestDatabase

KIND = jobs_pb2.RowKind
# Rows with the space that a deletion keeps: its own job, its records in the tiers, and the space's revision.
_KEPT = {"job", "deletion", "space_stats"}
_TABLES = """select c.table_name from information_schema.columns c join pg_class t on t.relname = c.table_name
where c.column_name = 'space' and c.table_schema = 'public' and not t.relispartition and t.relkind in ('r', 'p')"""


def another() -> Metadata:
    """Another space."""
    return (("authorization", "Bearer agent-key"), ("braid-space", f"x-{uuid.uuid4().hex[:10]}"))


async def fill(world: World, caller: Metadata, user: str) -> None:
    """Writes a document, a fact, a memory and a source."""
    await world.put("note", TEXT, "Mira Okafor", caller)
    fact = ingest_pb2.FactInput(
        subject=ingest_pb2.EntityInput(name="Mira Okafor"),
        relation_type="KNOWS",
        object=ingest_pb2.EntityInput(name="Karl Otto"),
        statement="They met.",
    )
    added = ingest_pb2.AddFactsRequest(facts=[fact])
    await world.findings.AddFacts(iter([added]), metadata=caller, timeout=20)
    memory = memories_pb2.CreateMemoryRequest(content="Mira likes Vienna.", type="note")
    await world.memories.CreateMemory(memory, metadata=(*caller, ("braid-user", user)), timeout=20)
    source = sources_pb2.PutSourceRequest(
        name="notes", kind=sources_pb2.SourceKind.SOURCE_KIND_FOLDER, root="/notes"
    )
    sources = sources_pb2_grpc.SourceServiceStub(world.channel)
    await sources.PutSource(source, metadata=caller, timeout=20)


async def counted(world: World, caller: Metadata) -> dict[tuple[int, int], int]:
    """What the space contains, by store and kind; only kinds that it has any of."""
    request = spaces_pb2.GetSpaceUsageRequest()
    answer = await world.spaces.GetSpaceUsage(request, metadata=caller, timeout=20)
    return {(row.store, row.kind): row.count for row in answer.stored if row.count}


async def rows_left(database: TestDatabase, space: str) -> dict[str, int]:
    """Number of rows of a space by table, for tables that have any."""
    connection = await asyncpg.connect(database.dsn("postgres"))
    try:
        counts = {}
        for row in await connection.fetch(_TABLES):
            query = f"select count(*) from {row['table_name']} where space = $1"  # noqa: S608 - a name of the schema
            counts[row["table_name"]] = await connection.fetchval(query, space)
    finally:
        await connection.close()
    return {table: count for table, count in counts.items() if count}


async def test_a_deleted_space_leaves_nothing_and_its_receipt_counts_everything(
    world: World, vector_database: TestDatabase, agent_database: TestDatabase
) -> None:
    theirs = another()
    ours: Metadata = (("authorization", "Bearer agent-key"), ("braid-space", world.space))
    async with AsyncExitStack() as stack:
        await world.start_worker(stack)
        for caller in (ours, theirs):
            await fill(world, caller, "ada")
        before = await seen(world, theirs)
        usage = await counted(world, ours)
        assert usage[jobs_pb2.STORE_POSTGRESQL, KIND.ROW_KIND_DOCUMENTS] == 1
        assert usage[jobs_pb2.STORE_ORCHESTRATOR, KIND.ROW_KIND_MEMORIES] == 1
        request = spaces_pb2.DeleteSpaceRequest(confirm=world.space)
        answer = await world.spaces.DeleteSpace(request, metadata=OURS, timeout=20)
        job = await world.ended(answer.job.id)
    assert job.state == jobs_pb2.JOB_STATE_SUCCEEDED
    removed = {(row.store, row.kind): row.count for row in job.removed}
    for kept in (KIND.ROW_KIND_EPISODES, KIND.ROW_KIND_FACTS, KIND.ROW_KIND_ENTITIES):
        assert removed[jobs_pb2.STORE_NEO4J, kept] >= usage[jobs_pb2.STORE_NEO4J, kept] > 0
    assert removed[jobs_pb2.STORE_ORCHESTRATOR, KIND.ROW_KIND_MEMORIES] == 1
    # The memory is a chunk of its own partition.
    assert removed[jobs_pb2.STORE_POSTGRESQL, KIND.ROW_KIND_CHUNKS] == 2
    for space in (world.space, Owner(world.space, "ada").partition):
        for database in (vector_database, agent_database):
            assert (await rows_left(database, space)).keys() <= _KEPT
    assert await counted(world, ours) == {(jobs_pb2.STORE_ORCHESTRATOR, KIND.ROW_KIND_JOBS): 1}
    assert await seen(world, theirs) == before


async def test_an_upload_during_the_deletion_is_read_afterwards(world: World) -> None:
    async with AsyncExitStack() as stack:
        async with AsyncExitStack() as first:
            await world.start_worker(first)
            await world.put("note", TEXT, "Mira Okafor")
        request = spaces_pb2.DeleteSpaceRequest(confirm=world.space)
        answer = await world.spaces.DeleteSpace(request, metadata=OURS, timeout=20)
        again = await world.spaces.DeleteSpace(request, metadata=OURS, timeout=20)
        assert again.job.id == answer.job.id
        sent = await world.send("note", TEXT, "Mira Okafor")
        await world.start_worker(stack)
        assert (await world.ended(answer.job.id)).state == jobs_pb2.JOB_STATE_SUCCEEDED
        assert (await world.ended(sent.id)).written_chunk_count == 1
    assert (await seen(world, OURS))[0] == [TEXT]


async def test_a_space_with_unfinished_jobs_and_another_spaces_id_are_refused(world: World) -> None:
    await world.send("note", TEXT, "Mira Okafor")
    for space, reason in (
        (world.space, errors_pb2.ERROR_REASON_WRONG_STATE),
        ("another", errors_pb2.ERROR_REASON_INVALID_FIELD),
    ):
        request = spaces_pb2.DeleteSpaceRequest(confirm=space)
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await world.spaces.DeleteSpace(request, metadata=OURS, timeout=20)
        assert error_from_rpc(refused.value).reason == reason
    usage = await world.spaces.GetSpaceUsage(
        spaces_pb2.GetSpaceUsageRequest(), metadata=OURS, timeout=20
    )
    assert (usage.space, usage.unfinished_job_count) == (world.space, 1)

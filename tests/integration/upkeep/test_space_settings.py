"""What is set for a space: what it keeps no longer is deleted with a receipt, and what is too much is refused."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import Any

import asyncpg
import grpc
import pytest

from braid.agent.v1 import agent_pb2, agent_pb2_grpc, jobs_pb2, memories_pb2, spaces_pb2
from braid.common.v1 import errors_pb2
from services.agent_orchestrator.database import open_database
from services.agent_orchestrator.jobs.queue import TurnQueue
from services.agent_orchestrator.jobs.store import JobStore
from services.agent_orchestrator.spaces.retention import RetentionJobs, SettingsStore
from services.runtime.channels import Metadata
from services.runtime.status import error_from_rpc
from tests.integration.upkeep.conftest import OURS, World
from tests.integration.upkeep.test_space_deletion import another
from tests.stores import TestDatabase

KIND = jobs_pb2.RowKind


async def put(world: World, caller: Metadata = OURS, **settings: Any) -> None:
    """Sets everything for the space."""
    request = spaces_pb2.PutSpaceSettingsRequest(**settings)
    answer = await world.spaces.PutSpaceSettings(request, metadata=caller, timeout=20)
    assert dict(_given(answer.settings)) == settings


async def get(world: World, caller: Metadata = OURS) -> dict[str, Any]:
    """What is set for the space."""
    request = spaces_pb2.GetSpaceSettingsRequest()
    answer = await world.spaces.GetSpaceSettings(request, metadata=caller, timeout=20)
    return dict(_given(answer.settings))


def _given(settings: spaces_pb2.SpaceSettings) -> Any:
    return ((field.name, value) for field, value in settings.ListFields())


async def remember(world: World, content: str, caller: Metadata) -> str:
    """Stores a memory; returns its id."""
    request = memories_pb2.CreateMemoryRequest(content=content, type="note", skip_inference=True)
    return (await world.memories.CreateMemory(request, metadata=caller, timeout=20)).memory.id


async def age(database: TestDatabase, *statements: str) -> None:
    """Makes rows older."""
    connection = await asyncpg.connect(database.dsn("braid_agent"))
    try:
        for statement in statements:
            await connection.execute(statement)
    finally:
        await connection.close()


async def tidied(world: World, caller: Metadata) -> dict[int, int]:
    """Looks for what is kept no longer, and waits for the job; returns what it removed, by kind."""
    async with open_database(world.agent, "test") as database:
        jobs = JobStore(database, TurnQueue(database, lease_seconds=2.0))
        await RetentionJobs(SettingsStore(database), jobs).enqueue()
    listed = await world.jobs.ListJobs(jobs_pb2.ListJobsRequest(), metadata=caller, timeout=20)
    [job] = [one for one in listed.jobs if one.kind == jobs_pb2.JOB_KIND_RETENTION]
    ended = await world.ended(job.id, caller)
    assert ended.state == jobs_pb2.JOB_STATE_SUCCEEDED
    return {row.kind: row.count for row in ended.removed}


async def test_settings_are_replaced_as_a_whole_and_of_one_space(world: World) -> None:
    assert await get(world) == {}
    await put(world, conversation_days=30, upload_bytes_per_day=1_000)
    await put(world, memory_days=90, upload_bytes_per_day=2_000)
    assert await get(world) == {"memory_days": 90, "upload_bytes_per_day": 2_000}
    assert await get(world, another()) == {}
    await put(world)
    assert await get(world) == {}


@pytest.mark.parametrize(
    "settings",
    [
        {"conversation_days": 0},
        {"memory_days": -1},
        {"upload_bytes_per_day": 0},
        {"max_documents": 0},
    ],
)
async def test_a_limit_of_nothing_is_refused_and_changes_nothing(
    world: World, settings: dict[str, Any]
) -> None:
    await put(world, memory_days=90)
    request = spaces_pb2.PutSpaceSettingsRequest(**settings)
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await world.spaces.PutSpaceSettings(request, metadata=OURS, timeout=20)
    assert [one.field for one in error_from_rpc(refused.value).fields] == list(settings)
    assert await get(world) == {"memory_days": 90}


async def test_uploads_beyond_the_limit_of_a_day_are_refused_and_others_are_not(
    world: World, agent_database: TestDatabase
) -> None:
    theirs = another()
    await put(world, upload_bytes_per_day=30)
    await world.send("first", "Twenty bytes of text")
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await world.send("second", "Twenty bytes of text")
    error = error_from_rpc(refused.value)
    assert error.reason == errors_pb2.ERROR_REASON_WRONG_STATE
    assert "takes 30 bytes of uploads a day, and has taken 20 today" in error.message
    await world.send("small", "Ten bytes.")
    await world.send("theirs", "Twenty bytes of text", caller=theirs)
    await age(agent_database, "update job set create_time = now() - interval '25 hours'")
    await world.send("tomorrow", "Twenty bytes of text")


async def test_what_a_space_keeps_no_longer_is_deleted_with_a_receipt(
    world: World, agent_database: TestDatabase
) -> None:
    ours: Metadata = (
        ("authorization", "Bearer agent-key"),
        ("braid-space", world.space),
        ("braid-user", "ada"),
    )
    theirs: Metadata = (*another(), ("braid-user", "ada"))
    async with AsyncExitStack() as stack:
        await world.start_worker(stack)
        agent = agent_pb2_grpc.AgentServiceStub(world.channel)
        old = {}
        for caller in (ours, theirs):
            ask = agent_pb2.AskRequest(
                question="Hello", conversation=agent_pb2.CONVERSATION_START_NEW, skip_memory=True
            )
            async for _ in agent.Ask(ask, metadata=caller, timeout=30):
                pass
            old[caller] = await remember(world, "The heron is old.", caller)
        await age(
            agent_database,
            "update conversation set update_time = now() - interval '31 days'",
            "update memory set create_time = now() - interval '91 days', last_access_time = null",
        )
        new = await remember(world, "The heron is new.", ours)
        await put(world, conversation_days=30, memory_days=90)
        removed = await tidied(world, ours)
        assert removed == {
            KIND.ROW_KIND_CONVERSATIONS: 1,
            KIND.ROW_KIND_MESSAGES: 2,
            KIND.ROW_KIND_MEMORIES: 1,
        }
        request = memories_pb2.ListMemoriesRequest()
        for caller, kept in ((ours, [new]), (theirs, [old[theirs]])):
            page = await world.memories.ListMemories(request, metadata=caller, timeout=20)
            assert [one.id for one in page.memories] == kept
            listed = await agent.ListConversations(
                agent_pb2.ListConversationsRequest(), metadata=caller, timeout=20
            )
            assert len(listed.conversations) == (caller is theirs)
        async with open_database(world.agent, "test") as database:
            assert await SettingsStore(database).spaces_to_tidy() == []

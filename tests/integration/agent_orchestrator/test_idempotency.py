"""A call with an idempotency key may be repeated: across replicas, after failures, and while the first call runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import asyncpg
import grpc
import pytest

from braid.agent.v1 import (
    agent_pb2,
    agent_pb2_grpc,
    entity_memory_pb2,
    entity_memory_pb2_grpc,
    ingest_pb2,
    ingest_pb2_grpc,
    jobs_pb2,
    memories_pb2,
    memories_pb2_grpc,
)
from braid.common.v1 import errors_pb2
from services.agent_orchestrator.app import Embedders, open_app
from services.postgres.idempotency.store import PostgresKeyStore
from services.runtime.channels import open_channel
from services.runtime.server import start_server
from services.runtime.status import error_from_rpc
from tests.integration.agent_orchestrator.conftest import ALICE, BOB, Metadata, World
from tests.integration.agent_orchestrator.uploads import Part, data, document
from tests.stubs.script import wait

KEY = "one-key"
Call = Callable[[grpc.aio.Channel, str, str, Metadata], Awaitable[Any]]


async def create_memory(channel: grpc.aio.Channel, key: str, text: str, caller: Metadata) -> Any:
    request = memories_pb2.CreateMemoryRequest(content=text, idempotency_key=key)
    stub = memories_pb2_grpc.MemoryServiceStub(channel)
    return await stub.CreateMemory(request, metadata=caller, timeout=20)


async def save_entity(channel: grpc.aio.Channel, key: str, text: str, caller: Metadata) -> Any:
    request = entity_memory_pb2.SaveEntityRequest(
        name=text, type=entity_memory_pb2.MEMORY_ENTITY_TYPE_TOOL, idempotency_key=key
    )
    stub = entity_memory_pb2_grpc.EntityMemoryServiceStub(channel)
    return await stub.SaveEntity(request, metadata=caller, timeout=20)


async def create_conversation(
    channel: grpc.aio.Channel, key: str, text: str, caller: Metadata
) -> Any:
    request = agent_pb2.CreateConversationRequest(title=text, idempotency_key=key)
    stub = agent_pb2_grpc.AgentServiceStub(channel)
    return await stub.CreateConversation(request, metadata=caller, timeout=20)


async def upload(channel: grpc.aio.Channel, key: str, text: str, caller: Metadata) -> Any:
    async def parts() -> AsyncIterator[Part]:
        yield document(document_id="d", idempotency_key=key)
        yield data(text)

    stub = ingest_pb2_grpc.IngestServiceStub(channel)
    return await stub.IngestDocument(parts(), metadata=caller, timeout=20)


async def ask(channel: grpc.aio.Channel, key: str, text: str, caller: Metadata) -> Any:
    request = agent_pb2.AskRequest(question=text, idempotency_key=key)
    stub = agent_pb2_grpc.AgentServiceStub(channel)
    call = stub.Ask(request, metadata=caller, timeout=20)
    return [answer.event async for answer in call]


CALLS: list[Call] = [create_memory, save_entity, create_conversation, upload, ask]
any_call = pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)


@pytest.fixture
def settings() -> dict[str, object]:
    return {"workers": 0}


@pytest.fixture
async def replica(world: World) -> AsyncIterator[grpc.aio.Channel]:
    """A channel to another orchestrator on the same database."""
    async with AsyncExitStack() as stack:
        embedders = Embedders(world.embedder, world.embedder)
        app = await stack.enter_async_context(open_app(world.agent, world.runtime, embedders))
        server = await start_server(
            settings=world.runtime, listen="127.0.0.1:0", services=app.services, probes={}
        )
        stack.push_async_callback(server.stop)
        channel = open_channel(f"127.0.0.1:{server.port}", retry=False)
        stack.push_async_callback(channel.close)
        yield channel


async def reason_of(call: Awaitable[Any]) -> errors_pb2.ErrorReason.ValueType:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    return error_from_rpc(caught.value).reason


@any_call
async def test_a_repetition_gets_the_same_response_from_any_replica(
    world: World, replica: grpc.aio.Channel, call: Call
) -> None:
    first = await call(world.channel, KEY, "DuckDB", ALICE)
    assert await call(world.channel, KEY, "DuckDB", ALICE) == first
    assert await call(replica, KEY, "DuckDB", ALICE) == first


@any_call
async def test_concurrent_repetitions_get_the_same_response(
    world: World, replica: grpc.aio.Channel, call: Call
) -> None:
    channels = [world.channel, replica] * 3
    answers = await asyncio.gather(*(call(one, KEY, "DuckDB", ALICE) for one in channels))
    assert all(answer == answers[0] for answer in answers)


@any_call
async def test_a_key_with_another_request_is_refused_and_nothing_is_changed(
    world: World, call: Call
) -> None:
    first = await call(world.channel, KEY, "DuckDB", ALICE)
    other = call(world.channel, KEY, "SQLite", ALICE)
    assert await reason_of(other) == errors_pb2.ERROR_REASON_IDEMPOTENCY_KEY_REUSED
    assert await call(world.channel, KEY, "DuckDB", ALICE) == first


@any_call
async def test_keys_belong_to_a_space(world: World, call: Call) -> None:
    first = await call(world.channel, KEY, "DuckDB", ALICE)
    assert await call(world.channel, KEY, "DuckDB", BOB) != first


async def memories(world: World) -> list[str]:
    stub = memories_pb2_grpc.MemoryServiceStub(world.channel)
    answer = await stub.ListMemories(memories_pb2.ListMemoriesRequest(), metadata=ALICE, timeout=10)
    return [one.content for one in answer.memories]


async def test_without_keys_each_call_is_a_new_one(world: World) -> None:
    made = [await create_conversation(world.channel, "", "DuckDB", ALICE) for _ in range(2)]
    assert made[0].conversation.id != made[1].conversation.id
    for text in ("DuckDB", "Parquet"):
        await create_memory(world.channel, "", text, ALICE)
    assert sorted(await memories(world)) == ["DuckDB", "Parquet"]


async def test_a_write_that_timed_out_and_its_repetition_leave_one(world: World) -> None:
    world.vector.script.acts["BatchUpsertDocuments"] = wait(2)
    stub = memories_pb2_grpc.MemoryServiceStub(world.channel)
    request = memories_pb2.CreateMemoryRequest(content="DuckDB", idempotency_key=KEY)
    late = stub.CreateMemory(request, metadata=ALICE, timeout=0.5)
    assert await reason_of(late) == errors_pb2.ERROR_REASON_DEADLINE
    answer = await create_memory(world.channel, KEY, "DuckDB", ALICE)
    assert await memories(world) == ["DuckDB"]
    assert await create_memory(world.channel, KEY, "DuckDB", ALICE) == answer


async def test_a_write_whose_response_was_not_recorded_is_not_done_twice(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def lost(*_: object) -> bool:
        raise RuntimeError("the process is killed here")

    for call in (create_memory, save_entity, create_conversation, upload):
        with monkeypatch.context() as patch:
            patch.setattr(PostgresKeyStore, "complete", lost)
            with pytest.raises(grpc.aio.AioRpcError):
                await call(world.channel, KEY, "DuckDB", ALICE)
        await call(world.channel, KEY, "DuckDB", ALICE)
    assert await memories(world) == ["DuckDB"]
    entities = entity_memory_pb2_grpc.EntityMemoryServiceStub(world.channel)
    query = entity_memory_pb2.QueryEntitiesRequest()
    [hit] = (await entities.QueryEntities(query, metadata=ALICE, timeout=10)).hits
    assert hit.entity.mention_count == 1
    agent = agent_pb2_grpc.AgentServiceStub(world.channel)
    listed = agent_pb2.ListConversationsRequest()
    assert (
        len((await agent.ListConversations(listed, metadata=ALICE, timeout=10)).conversations) == 1
    )
    jobs = await world.jobs.ListJobs(jobs_pb2.ListJobsRequest(), metadata=ALICE, timeout=10)
    assert len(jobs.jobs) == 1


async def test_a_refused_request_does_not_use_up_its_key(world: World) -> None:
    stub = memories_pb2_grpc.MemoryServiceStub(world.channel)
    wrong = memories_pb2.CreateMemoryRequest(content="a", type="NO_SUCH_TYPE", idempotency_key=KEY)
    refused = await reason_of(stub.CreateMemory(wrong, metadata=ALICE, timeout=10))
    assert refused == errors_pb2.ERROR_REASON_INVALID_FIELD
    answer = await create_memory(world.channel, KEY, "DuckDB", ALICE)
    assert answer.memory.content == "DuckDB"


async def test_a_repetition_within_a_short_deadline_is_told_that_the_call_runs(
    world: World,
) -> None:
    world.graph.script.acts["BatchAddEpisodes"] = wait(2)
    running = asyncio.create_task(create_memory(world.channel, KEY, "DuckDB", ALICE))
    await world.graph.script.seen.wait()
    stub = memories_pb2_grpc.MemoryServiceStub(world.channel)
    request = memories_pb2.CreateMemoryRequest(content="DuckDB", idempotency_key=KEY)
    again = stub.CreateMemory(request, metadata=ALICE, timeout=0.6)
    assert await reason_of(again) == errors_pb2.ERROR_REASON_CALL_IN_PROGRESS
    await running
    assert await memories(world) == ["DuckDB"]


@pytest.mark.parametrize("key", ["a b", "ä", "x" * 256, "\n"])
async def test_keys_are_visible_ascii_of_limited_length(world: World, key: str) -> None:
    refused = await reason_of(create_memory(world.channel, key, "DuckDB", ALICE))
    assert refused == errors_pb2.ERROR_REASON_INVALID_FIELD


async def test_keys_are_forgotten_when_their_time_is_over(world: World) -> None:
    await create_memory(world.channel, KEY, "DuckDB", ALICE)
    connection = await asyncpg.connect(world.database.dsn("braid_agent"))
    await connection.execute("update idempotency_key set expire_time = now()")
    await connection.close()
    await create_memory(world.channel, KEY, "SQLite", ALICE)
    assert sorted(await memories(world)) == ["DuckDB", "SQLite"]


async def test_facts_of_one_key_are_added_once(world: World) -> None:
    async def send(*names: str) -> ingest_pb2.IngestFactsResponse:
        async def parts() -> AsyncIterator[ingest_pb2.IngestFactsRequest]:
            request = ingest_pb2.IngestFactsRequest(idempotency_key=KEY)
            for name in names:
                fact = request.facts.add(relation_type="OWNS")
                fact.subject.name, fact.object.name = "Ana", name
            yield request

        return await world.ingest.IngestFacts(parts(), metadata=ALICE, timeout=20)

    first = await send("Ledger", "Vault")
    assert await send("Ledger", "Vault") == first
    reused = errors_pb2.ERROR_REASON_IDEMPOTENCY_KEY_REUSED
    assert await reason_of(send("Ledger")) == reused
    assert world.graph.script.count("AddFacts") == 1

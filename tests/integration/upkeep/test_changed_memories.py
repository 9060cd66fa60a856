"""A memory that is changed says only what it says now; what it said before is its past, and goes with it."""

from __future__ import annotations

from typing import Any

import grpc
import pytest

from braid.agent.v1 import memories_pb2
from braid.common.v1 import errors_pb2
from braid.graph.v1 import relations_pb2
from services.agent_orchestrator.typed_memory.memories import Memories
from services.runtime.channels import Metadata
from services.runtime.status import error_from_rpc
from tests.integration.upkeep.conftest import World
from tests.integration.upkeep.test_space_deletion import another

FIXES = relations_pb2.CHUNK_RELATION_TYPE_FIXES


def user(name: str = "ann") -> Metadata:
    """A user of a space of their own."""
    return (*another(), ("braid-user", name))


async def remember(world: World, who: Metadata, content: str, **more: Any) -> memories_pb2.Memory:
    request = memories_pb2.CreateMemoryRequest(
        content=content, type="NOTE", skip_inference=True, **more
    )
    return (await world.memories.CreateMemory(request, metadata=who, timeout=20)).memory


async def change(
    world: World, who: Metadata, id_: str, **given: Any
) -> memories_pb2.UpdateMemoryResponse:
    request = memories_pb2.UpdateMemoryRequest(memory_id=id_, **given)
    return await world.memories.UpdateMemory(request, metadata=who, timeout=20)


async def read(world: World, who: Metadata, id_: str) -> memories_pb2.GetMemoryResponse:
    request = memories_pb2.GetMemoryRequest(memory_id=id_)
    return await world.memories.GetMemory(request, metadata=who, timeout=20)


async def found(world: World, who: Metadata, query: str) -> list[str]:
    request = memories_pb2.SearchMemoriesRequest(
        query=query, mode=memories_pb2.MEMORY_SEARCH_MODE_TEXT
    )
    answer = await world.memories.SearchMemories(request, metadata=who, timeout=20)
    return [hit.memory.content for hit in answer.hits]


async def reason_of(call: Any) -> errors_pb2.ErrorReason.ValueType:
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await call
    return error_from_rpc(failed.value).reason


async def test_another_text_takes_the_place_of_the_one_before_with_its_relations(
    world: World,
) -> None:
    who = user()
    broken = await remember(world, who, "The pump leaks.")
    cause = await remember(world, who, "The valve is old.")
    fix = memories_pb2.MemoryRelationInput(target_id=broken.id, relation_type=FIXES)
    first = await remember(
        world, who, "Tightened the valve.", title="Valve", tags=["pump"], relations=[fix]
    )
    relate = memories_pb2.PutMemoryRelationRequest(
        memory_id=cause.id,
        relation=memories_pb2.MemoryRelationInput(target_id=first.id, relation_type=FIXES),
    )
    await world.memories.PutMemoryRelation(relate, metadata=who, timeout=20)

    changed = await change(world, who, first.id, content="Replaced the gasket.")
    now = changed.memory
    assert now.id != first.id
    assert (now.title, list(now.tags), now.type) == ("Valve", ["pump"], "NOTE")
    assert [one.content for one in changed.past] == ["Tightened the valve."]
    whole = await read(world, who, now.id)
    assert [(one.target_id, one.relation_type) for one in whole.relations] == [(broken.id, FIXES)]
    assert [one.source_id for one in whole.incoming_relations] == [cause.id]
    assert await found(world, who, "gasket") == ["Replaced the gasket."]
    assert await found(world, who, "tightened") == []
    assert await reason_of(read(world, who, first.id)) == errors_pb2.ERROR_REASON_NOT_FOUND

    again = await change(world, who, now.id, content="Tightened the valve.")
    assert again.memory.id == first.id
    assert [one.content for one in again.past] == ["Tightened the valve.", "Replaced the gasket."]
    gone = memories_pb2.DeleteMemoryRequest(memory_id=first.id)
    await world.memories.DeleteMemory(gone, metadata=who, timeout=20)
    anew = await remember(world, who, "Tightened the valve.")
    assert list((await read(world, who, anew.id)).past) == []


async def test_an_interrupted_change_is_finished_by_the_next_attempt_and_its_past_is_kept_once(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def interrupted(*_given: object) -> None:
        raise ConnectionError

    who = user()
    memory = await remember(world, who, "The lift is slow.")
    with monkeypatch.context() as patch:
        patch.setattr(Memories, "delete", interrupted)
        with pytest.raises(grpc.aio.AioRpcError):
            await change(world, who, memory.id, content="The lift is fast.")
    changed = await change(world, who, memory.id, content="The lift is fast.")
    assert [one.content for one in changed.past] == ["The lift is slow."]
    assert await reason_of(read(world, who, memory.id)) == errors_pb2.ERROR_REASON_NOT_FOUND


async def test_what_is_not_its_text_is_changed_in_place(world: World) -> None:
    who = user()
    memory = await remember(world, who, "It is under the stairs.", title="Key", tags=["a", "b"])
    changed = await change(world, who, memory.id, title="Fuse box", importance=0.9)
    assert (changed.memory.id, list(changed.past)) == (memory.id, [])
    assert (changed.memory.title, changed.memory.importance) == ("Fuse box", 0.9)
    assert list(changed.memory.tags) == ["a", "b"]
    assert await found(world, who, "fuse") == ["It is under the stairs."]
    assert await found(world, who, "key") == []
    cleared = await change(world, who, memory.id, clear_tags=True)
    assert list(cleared.memory.tags) == []
    same = await change(world, who, memory.id)
    assert same.memory == cleared.memory


async def test_a_change_that_is_not_possible_changes_nothing(world: World) -> None:
    who, other = user(), user("ben")
    memory = await remember(world, who, "The gate code is 4411.", session_id="s")
    unknown = change(world, other, memory.id, content="Mine now.")
    assert await reason_of(unknown) == errors_pb2.ERROR_REASON_NOT_FOUND
    wrong = change(world, who, memory.id, type="NOVEL")
    assert await reason_of(wrong) == errors_pb2.ERROR_REASON_INVALID_FIELD
    blank = change(world, who, memory.id, content="  ")
    assert await reason_of(blank) == errors_pb2.ERROR_REASON_INVALID_FIELD
    close = memories_pb2.CloseMemorySessionRequest(session_id="s")
    await world.memories.CloseMemorySession(close, metadata=who, timeout=20)
    closed = change(world, who, memory.id, content="The gate code is 5522.")
    assert await reason_of(closed) == errors_pb2.ERROR_REASON_WRONG_STATE
    assert (await read(world, who, memory.id)).memory.content == "The gate code is 4411."

"""What is known about a user, from entity memory and typed memories: only about that user, with its evidence."""

from __future__ import annotations

from typing import Any

import grpc
import pytest

from braid.agent.v1 import (
    entity_memory_pb2,
    entity_memory_pb2_grpc,
    memories_pb2,
    memories_pb2_grpc,
    profile_pb2,
    profile_pb2_grpc,
)
from braid.common.v1 import legs_pb2
from braid.vector.v1 import search_pb2 as vector_pb2
from services.runtime.errors import StoreUnavailableError
from tests.integration.agent_orchestrator.conftest import ALICE, BOB, World
from tests.stubs.script import fail
from tests.stubs.vector_tier import chunk_hit

SAID = "I use Grafana at work."


@pytest.fixture
def profile(world: World) -> profile_pb2_grpc.ProfileServiceStub:
    return profile_pb2_grpc.ProfileServiceStub(world.channel)


async def say(world: World, text: str, message: str = "") -> None:
    stub = entity_memory_pb2_grpc.EntityMemoryServiceStub(world.channel)
    seen = entity_memory_pb2.MemoryProvenance(conversation_id="c", message_id=message or text)
    request = entity_memory_pb2.SaveTurnRequest(turns=[text], provenance=seen)
    await stub.SaveTurn(request, metadata=ALICE)


async def note(world: World, content: str, type_: str = "NOTE") -> str:
    stub = memories_pb2_grpc.MemoryServiceStub(world.channel)
    request = memories_pb2.CreateMemoryRequest(content=content, type=type_, skip_inference=True)
    return str((await stub.CreateMemory(request, metadata=ALICE)).memory.id)


async def context(
    profile: Any, query: str = "Which dashboards?", caller: Any = ALICE, **more: Any
) -> profile_pb2.GetContextResponse:
    request = profile_pb2.GetContextRequest(query=query, **more)
    found: profile_pb2.GetContextResponse = await profile.GetContext(request, metadata=caller)
    return found


async def test_a_profile_has_statements_with_their_evidence_memories_people_and_projects(
    world: World, profile: Any
) -> None:
    await say(world, SAID, "m1")
    await say(world, "I work with Tomek Nowak.", "m2")
    await say(world, "My project is Sturmvogel.", "m3")
    await note(world, "A note.")
    preferred = await note(world, "Always answer in metric units.", "PREFERENCE")
    found = await profile.GetProfile(profile_pb2.GetProfileRequest(), metadata=ALICE)
    texts = [one.text for one in found.statements]
    assert texts == ["You work on Sturmvogel.", "You work with Tomek Nowak.", "You use Grafana."]
    used = found.statements[-1]
    assert (used.evidence, used.conversation_id, used.message_id) == (SAID, "c", "m1")
    assert (used.mention_count, used.source) == (1, profile_pb2.PROFILE_SOURCE_ENTITY_MEMORY)
    assert used.last_time.seconds > 0
    assert [one.text for one in found.memories] == ["Always answer in metric units.", "A note."]
    assert (found.memories[0].id, found.memories[0].memory_type) == (preferred, "PREFERENCE")
    assert [one.name for one in found.people] == ["Tomek Nowak"]
    assert [one.name for one in found.projects] == ["Sturmvogel"]


async def test_each_part_of_a_profile_has_at_most_limit_items(world: World, profile: Any) -> None:
    for tool in ("Grafana", "DuckDB", "Emacs"):
        await say(world, f"I use {tool}.")
    request = profile_pb2.GetProfileRequest(limit=2)
    found = await profile.GetProfile(request, metadata=ALICE)
    assert [one.text for one in found.statements] == ["You use Emacs.", "You use DuckDB."]


async def test_a_profile_and_a_context_know_nothing_of_another_user(
    world: World, profile: Any
) -> None:
    await say(world, SAID)
    await note(world, "A note.")
    request = profile_pb2.GetProfileRequest()
    assert await profile.GetProfile(request, metadata=BOB) == profile_pb2.GetProfileResponse()
    theirs = await context(profile, caller=BOB)
    assert (theirs.text, list(theirs.items)) == ("", [])


async def test_a_context_has_what_is_relevant_first_and_then_what_was_said_last(
    world: World, profile: Any
) -> None:
    await say(world, SAID)
    await say(world, "I work with Tomek Nowak.")
    memory = await note(world, "The dashboards are\nin the wiki.")
    world.vector.answer = vector_pb2.HybridSearchResponse(
        hits=[chunk_hit(memory, 0.9)], leg=legs_pb2.LegReport(status=legs_pb2.LEG_STATUS_OK)
    )
    found = await context(profile, "Where are the dashboards?")
    heading, *lines = found.text.splitlines()
    assert "about the user" in heading
    assert lines[0].startswith("[1] NOTE of ")
    assert lines[0].endswith(": The dashboards are in the wiki.")
    assert any("The user uses Grafana." in line and SAID in line for line in lines)
    assert any("The user works with Tomek Nowak." in line for line in lines)
    assert [one.number for one in found.items] == list(range(1, len(lines) + 1))
    assert found.items[0].item.id == memory
    assert found.items[0].score == pytest.approx(0.9)
    assert found.memory_leg.status == legs_pb2.LEG_STATUS_OK
    assert (found.left_out_count, found.token_count) == (0, -(-len(found.text.encode()) // 4))


async def test_a_context_that_is_too_short_for_all_says_how_much_it_leaves_out(
    world: World, profile: Any
) -> None:
    for tool in ("Grafana", "DuckDB", "Emacs", "Miro"):
        await say(world, f"I use {tool}.")
    found = await context(profile, max_tokens=60)
    assert found.token_count <= 60
    assert len(found.items) + found.left_out_count == 4
    assert found.left_out_count > 0


async def test_a_context_without_typed_memories_says_why_and_has_the_rest(
    world: World, profile: Any
) -> None:
    await say(world, SAID)
    world.vector.script.acts["HybridSearch"] = fail(StoreUnavailableError("postgresql"))
    found = await context(profile)
    assert "Grafana" in found.text
    assert found.memory_leg.status == legs_pb2.LEG_STATUS_UNAVAILABLE
    assert found.memory_leg.reason == legs_pb2.LEG_REASON_STORE_UNAVAILABLE


@pytest.mark.parametrize("more", [{"query": " "}, {"max_tokens": 19}, {"max_tokens": 16_001}])
async def test_a_blank_question_and_lengths_out_of_bounds_are_refused(
    world: World, profile: Any, more: dict[str, Any]
) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await context(profile, **more)
    assert refused.value.code() == grpc.StatusCode.INVALID_ARGUMENT

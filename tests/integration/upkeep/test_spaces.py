"""Spaces: an operator lists them all, and one is created with its limits, beyond which it takes nothing."""

from __future__ import annotations

import uuid
from contextlib import AsyncExitStack

import grpc
import pytest

from braid.agent.v1 import (
    agent_pb2,
    agent_pb2_grpc,
    entity_memory_pb2,
    entity_memory_pb2_grpc,
    memories_pb2,
    spaces_pb2,
)
from braid.common.v1 import errors_pb2
from braid.graph.v1 import ingest_pb2
from services.runtime.channels import Metadata
from services.runtime.errors import BraidError
from services.runtime.paging import encode_token
from services.runtime.status import error_from_rpc
from tests.integration.upkeep.conftest import OURS, World


def operator(*more: tuple[str, str]) -> Metadata:
    return (("authorization", "Bearer agent-key"), ("braid-space", "operations"), *more)


def space(id_: str) -> Metadata:
    return (("authorization", "Bearer agent-key"), ("braid-space", id_))


async def listed(world: World, page_size: int = 0) -> list[spaces_pb2.Space]:
    """Every space, over all pages."""
    found: list[spaces_pb2.Space] = []
    request = spaces_pb2.ListSpacesRequest(page_size=page_size)
    while True:
        page = await world.spaces.ListSpaces(request, metadata=operator(), timeout=20)
        found += page.spaces
        if not page.next_page_token:
            return found
        request.page_token = page.next_page_token


async def refusal(call: grpc.aio.Call) -> BraidError:
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await call  # type: ignore[misc]
    return error_from_rpc(refused.value)


async def test_spaces_are_listed_whatever_store_has_something_of_them(world: World) -> None:
    mark = f"list-{uuid.uuid4().hex[:8]}"
    names = [
        f"{mark}-{what}"
        for what in ("document", "Empty", "fact", "job", "memory", "person", "set", "talk")
    ]
    document, _, fact, job, memory, person, created, talk = map(space, names)
    async with AsyncExitStack() as stack:
        await world.start_worker(stack)
        await world.put("note", "A text.", "Note", document)
    await world.send("note", "A text.", "Note", job)
    stated = ingest_pb2.FactInput(
        subject=ingest_pb2.EntityInput(name="Mira Okafor"),
        relation_type="KNOWS",
        object=ingest_pb2.EntityInput(name="Karl Otto"),
        statement="They met.",
    )
    await world.findings.AddFacts(
        iter([ingest_pb2.AddFactsRequest(facts=[stated])]), metadata=fact, timeout=20
    )
    remember = memories_pb2.CreateMemoryRequest(content="Tea.", type="note", skip_inference=True)
    await world.memories.CreateMemory(
        remember, metadata=(*memory, ("braid-user", "ada")), timeout=20
    )
    save = entity_memory_pb2.SaveEntityRequest(
        name="Ana", type=entity_memory_pb2.MEMORY_ENTITY_TYPE_PERSON
    )
    await entity_memory_pb2_grpc.EntityMemoryServiceStub(world.channel).SaveEntity(
        save, metadata=(*person, ("braid-user", "ada")), timeout=20
    )
    create = spaces_pb2.CreateSpaceRequest(title="A title")
    await world.spaces.CreateSpace(create, metadata=created, timeout=20)
    ask = agent_pb2.AskRequest(
        question="Hello", conversation=agent_pb2.CONVERSATION_START_NEW, skip_memory=True
    )
    async for _ in agent_pb2_grpc.AgentServiceStub(world.channel).Ask(
        ask, metadata=talk, timeout=30
    ):
        pass

    every = await listed(world)
    ours = [one for one in every if one.id.startswith(mark)]
    # In code point order: capitals first.
    assert [one.id for one in ours] == sorted(name for name in names if "Empty" not in name)
    assert [(one.title, one.HasField("create_time")) for one in ours if one.title] == [
        ("A title", True)
    ]
    assert not [one.id for one in every if one.id.startswith("memories-")]
    assert await listed(world, page_size=2) == every


async def test_a_deleted_space_is_listed_no_longer(world: World) -> None:
    theirs = f"gone-{uuid.uuid4().hex[:8]}"
    await world.spaces.CreateSpace(
        spaces_pb2.CreateSpaceRequest(), metadata=space(theirs), timeout=20
    )
    assert theirs in [one.id for one in await listed(world)]
    async with AsyncExitStack() as stack:
        await world.start_worker(stack)
        request = spaces_pb2.DeleteSpaceRequest(confirm=theirs)
        answer = await world.spaces.DeleteSpace(request, metadata=space(theirs), timeout=20)
        await world.ended(answer.job.id, space(theirs))
    assert theirs not in [one.id for one in await listed(world)]
    again = await world.spaces.CreateSpace(
        spaces_pb2.CreateSpaceRequest(title="Anew"), metadata=space(theirs), timeout=20
    )
    assert again.space.title == "Anew"


async def test_only_an_operator_lists_spaces(world: World) -> None:
    request = spaces_pb2.ListSpacesRequest()
    for caller in (OURS, operator(("braid-scopes", "read write admin delegate"))):
        error = await refusal(world.spaces.ListSpaces(request, metadata=caller, timeout=20))
        assert error.reason == errors_pb2.ERROR_REASON_MISSING_SCOPE


@pytest.mark.parametrize("token", ["bm90IGEgdG9rZW4", encode_token(("spaces",), ["x" * 65])])
async def test_a_token_that_no_page_has_given_is_refused(world: World, token: str) -> None:
    request = spaces_pb2.ListSpacesRequest(page_token=token)
    error = await refusal(world.spaces.ListSpaces(request, metadata=operator(), timeout=20))
    assert [one.field for one in error.fields] == ["page_token"]


async def test_a_space_is_created_once_with_its_limits(world: World) -> None:
    request = spaces_pb2.CreateSpaceRequest(title="Ours", conversation_days=30, max_documents=5)
    answer = await world.spaces.CreateSpace(request, metadata=OURS, timeout=20)
    assert (answer.space.id, answer.space.title) == (world.space, "Ours")
    wanted = spaces_pb2.SpaceSettings(title="Ours", conversation_days=30, max_documents=5)
    assert answer.settings == wanted
    error = await refusal(world.spaces.CreateSpace(request, metadata=OURS, timeout=20))
    assert error.reason == errors_pb2.ERROR_REASON_WRONG_STATE
    found = await world.spaces.GetSpaceSettings(
        spaces_pb2.GetSpaceSettingsRequest(), metadata=OURS, timeout=20
    )
    assert found.settings == wanted


async def test_a_space_in_which_something_is_stored_cannot_be_created(world: World) -> None:
    await world.send("note", "A text.")
    request = spaces_pb2.CreateSpaceRequest(title="Late")
    error = await refusal(world.spaces.CreateSpace(request, metadata=OURS, timeout=20))
    assert error.reason == errors_pb2.ERROR_REASON_WRONG_STATE


async def test_uploads_beyond_the_documents_of_a_space_are_refused_and_new_versions_are_not(
    world: World,
) -> None:
    settings = spaces_pb2.PutSpaceSettingsRequest(max_documents=2)
    await world.spaces.PutSpaceSettings(settings, metadata=OURS, timeout=20)
    async with AsyncExitStack() as stack:
        await world.start_worker(stack)
        await world.put("stored", "Another text.")
    await world.send("waiting", "One text.")
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await world.send("third", "A third text.")
    error = error_from_rpc(refused.value)
    assert error.reason == errors_pb2.ERROR_REASON_WRONG_STATE
    assert "may contain 2 documents, and contains 2" in error.message
    await world.send("stored", "Another version.")

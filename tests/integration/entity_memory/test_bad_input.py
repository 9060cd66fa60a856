"""Invalid input is rejected with its field and changes nothing; boundary values are accepted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2, status_pb2

from braid.agent.v1 import entity_memory_pb2 as pb
from tests.integration.entity_memory.conftest import ALICE, World

USES = pb.MEMORY_RELATIONSHIP_TYPE_USES
TOOL = pb.MEMORY_ENTITY_TYPE_TOOL
BAD_NAMES = ["x" * 10_000, "x" * 201, " \t ", "\u00a0\u2003", "a\x00b", "line\nbreak", "bell\x07"]
DETAILS = "grpc-status-details-bin"
NOT_AN_ID = "1; drop table memory_entity"

Call = Callable[[Any], Awaitable[object]]


def calls(world: World, entity_id: str, bad: str) -> list[tuple[str, Any, Any]]:
    """Every field that takes a name, with a call and a request that sets it."""
    stub, vim = world.stub, pb.MemoryEndInput(name="Vim")
    end = pb.MemoryEndInput(name=bad)
    return [
        ("name", stub.SaveEntity, pb.SaveEntityRequest(name=bad, type=TOOL)),
        ("aliases", stub.SaveEntity, pb.SaveEntityRequest(name="Git", type=TOOL, aliases=[bad])),
        (
            "source.name",
            stub.SaveRelationship,
            pb.SaveRelationshipRequest(source=end, type=USES, target=vim),
        ),
        (
            "target.name",
            stub.SaveRelationship,
            pb.SaveRelationshipRequest(source=vim, type=USES, target=end),
        ),
        ("name", stub.RenameEntity, pb.RenameEntityRequest(entity_id=entity_id, name=bad)),
    ]


async def refused_fields(call: Call, request: Any) -> set[str]:
    """The fields that a rejected call names."""
    with pytest.raises(grpc.aio.AioRpcError) as failure:
        await call(request)
    assert failure.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    status = status_pb2.Status.FromString(dict(failure.value.trailing_metadata() or ())[DETAILS])
    bad = error_details_pb2.BadRequest()
    assert any(one.Unpack(bad) for one in status.details)
    return {one.field for one in bad.field_violations}


def as_alice(call: Any) -> Call:
    async def made(request: Any) -> object:
        return await call(request, metadata=ALICE)

    return made


@pytest.mark.parametrize("bad", BAD_NAMES)
async def test_invalid_names_are_rejected_in_every_field_that_takes_a_name(
    world: World, bad: str
) -> None:
    saved = await world.save_entity("Vim")
    for field, call, request in calls(world, saved.entity.id, bad):
        named = await refused_fields(as_alice(call), request)
        assert {one.removesuffix("[0]") for one in named} == {field}
    assert await world.names() == ["Vim"]
    found = await world.stub.QueryRelationships(pb.QueryRelationshipsRequest(), metadata=ALICE)
    assert len(found.relationships) == 0


async def test_a_name_of_200_characters_is_accepted_everywhere(world: World) -> None:
    longest = "x" * 200
    saved = await world.save_entity("Vim", aliases=["y" * 200])
    renamed = await world.stub.RenameEntity(
        pb.RenameEntityRequest(entity_id=saved.entity.id, name=longest), metadata=ALICE
    )
    related = await world.relate("USES", "z" * 200, longest)
    assert renamed.entity.name == related.relationship.source.name == longest
    assert await world.names("y" * 200) == [longest]


@pytest.mark.parametrize("confidence", [-0.000001, 1.000001, float("nan"), float("inf")])
async def test_a_confidence_outside_0_to_1_saves_nothing(world: World, confidence: float) -> None:
    for save in (
        world.save_entity("Vim", confidence=confidence),
        world.relate("USES", "Vim", confidence=confidence),
    ):
        with pytest.raises(grpc.aio.AioRpcError) as failure:
            await save
        assert failure.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert await world.names() == []


async def test_confidences_of_0_and_1_are_accepted(world: World) -> None:
    below = pb.MEMORY_SAVE_OUTCOME_BELOW_THRESHOLD
    assert (await world.save_entity("Vim", confidence=0)).outcome == below
    assert (await world.relate("USES", "Vim", confidence=0)).outcome == below
    assert (await world.save_entity("Vim", confidence=1)).entity.confidence == 1
    assert (await world.relate("USES", "Vim", confidence=1)).relationship.confidence == 1


@pytest.mark.parametrize("type_", [0, 11, 99, -1])
async def test_unknown_relationship_types_are_rejected(world: World, type_: int) -> None:
    request = pb.SaveRelationshipRequest(
        type=type_,  # type: ignore[arg-type]
        target=pb.MemoryEndInput(name="Vim"),
    )
    refused = await refused_fields(as_alice(world.stub.SaveRelationship), request)
    assert refused == {"type"}
    assert await world.names() == []


async def test_a_relationship_of_an_entity_with_itself_is_rejected(world: World) -> None:
    saved = await world.save_entity("Kubernetes", aliases=["k8s"])
    by_id = pb.MemoryEndInput(id=saved.entity.id)
    for source, target in (
        (by_id, by_id),
        (by_id, pb.MemoryEndInput(name="K8S")),
        (pb.MemoryEndInput(name="KUBERNETES"), pb.MemoryEndInput(name="k8s")),
        (pb.MemoryEndInput(name="New"), pb.MemoryEndInput(name=" new ")),
        (pb.MemoryEndInput(), pb.MemoryEndInput()),
    ):
        request = pb.SaveRelationshipRequest(source=source, type=USES, target=target)
        refused = await refused_fields(as_alice(world.stub.SaveRelationship), request)
        assert refused == {"target"}
    assert await world.names() == ["Kubernetes"]


async def test_invalid_ids_are_rejected(world: World) -> None:
    stub = world.stub
    saved = await world.save_entity("Vim")
    known = saved.entity.id
    for field, call, request in (
        ("entity_id", stub.RenameEntity, pb.RenameEntityRequest(entity_id=NOT_AN_ID, name="X")),
        ("entity_id", stub.DeleteEntity, pb.DeleteEntityRequest(entity_id=NOT_AN_ID)),
        ("entity_id", stub.RestoreEntity, pb.RestoreEntityRequest(entity_id=NOT_AN_ID)),
        (
            "relationship_id",
            stub.DeleteRelationship,
            pb.DeleteRelationshipRequest(relationship_id=NOT_AN_ID),
        ),
        (
            "other_entity_id",
            stub.MergeEntities,
            pb.MergeEntitiesRequest(entity_id=known, other_entity_id=NOT_AN_ID),
        ),
        # This rule covers two fields together.
        (
            "request",
            stub.MergeEntities,
            pb.MergeEntitiesRequest(entity_id=known, other_entity_id=known),
        ),
        ("entity_id", stub.GetRelatedEntities, pb.GetRelatedEntitiesRequest(entity_id=NOT_AN_ID)),
        ("entity_id", stub.QueryRelationships, pb.QueryRelationshipsRequest(entity_id=NOT_AN_ID)),
        (
            "target.id",
            stub.SaveRelationship,
            pb.SaveRelationshipRequest(type=USES, target=pb.MemoryEndInput(id=NOT_AN_ID)),
        ),
    ):
        assert await refused_fields(as_alice(call), request) == {field}, request
    assert await world.names() == ["Vim"]


async def test_queries_out_of_range_are_rejected(world: World) -> None:
    stub = world.stub
    for field, call, request in (
        ("max_hops", stub.GetRelatedEntities, pb.GetRelatedEntitiesRequest(max_hops=3)),
        ("max_hops", stub.GetRelatedEntities, pb.GetRelatedEntitiesRequest(max_hops=-1)),
        ("query", stub.QueryEntities, pb.QueryEntitiesRequest(query="x" * 1_001)),
        ("page_size", stub.QueryEntities, pb.QueryEntitiesRequest(page_size=-1)),
        ("types[0]", stub.QueryEntities, pb.QueryEntitiesRequest(types=[99])),  # type: ignore[list-item]
        ("types[0]", stub.QueryRelationships, pb.QueryRelationshipsRequest(types=[99])),  # type: ignore[list-item]
        ("query", stub.AnswerRelationshipQuery, pb.AnswerRelationshipQueryRequest(query="  ")),
        ("page_token", stub.ExportUserMemory, pb.ExportUserMemoryRequest(page_token="x")),
        ("turns[0]", stub.SaveTurn, pb.SaveTurnRequest(turns=["x" * 200_001])),
    ):
        assert await refused_fields(as_alice(call), request) == {field}, request
    longest = pb.QueryEntitiesRequest(query="x" * 1_000, page_size=100_000)
    assert len((await stub.QueryEntities(longest, metadata=ALICE)).hits) == 0

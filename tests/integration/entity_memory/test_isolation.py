"""Nothing of one user is read or changed by another one, whatever ids, names and tokens they use."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import grpc
from google.protobuf.message import Message
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from braid.agent.v1 import entity_memory_pb2 as pb
from tests.integration.entity_memory.conftest import ALICE, ANNA, BOB, Metadata, World

SECRET = "Project Nightingale"
CONTEXT = "Nightingale ships in March"
METHODS = [method.name for method in pb.DESCRIPTOR.services_by_name["EntityMemoryService"].methods]
Call = Callable[..., Coroutine[Any, Any, Message]]


class Known:
    """What another user could have got hold of."""

    def __init__(self, entity: str, other: str, relationship: str, tokens: dict[str, str]) -> None:
        self.entity, self.other, self.relationship = entity, other, relationship
        self.tokens = tokens


async def prepare(world: World) -> Known:
    """Alice has a secret, and pages of it that go on."""
    saved = await world.relate("WORKS_ON", SECRET, context=CONTEXT)
    other = await world.relate("USES", "Nightingale tool", SECRET)
    stub = world.stub
    tokens = {
        "QueryEntities": (
            await stub.QueryEntities(pb.QueryEntitiesRequest(page_size=1), metadata=ALICE)
        ).next_page_token,
        "QueryRelationships": (
            await stub.QueryRelationships(pb.QueryRelationshipsRequest(page_size=1), metadata=ALICE)
        ).next_page_token,
        "ExportUserMemory": (
            await stub.ExportUserMemory(pb.ExportUserMemoryRequest(page_size=1), metadata=ALICE)
        ).next_page_token,
    }
    return Known(
        saved.relationship.target.id, other.relationship.target.id, saved.relationship.id, tokens
    )


def requests_of(method: str, known: Known, with_token: bool, name: str) -> Message:
    """A request of a method that names what is Alice's."""
    token = known.tokens.get(method, "") if with_token else ""
    end = pb.MemoryEndInput(id=known.entity)
    made: dict[str, Message] = {
        "SaveEntity": pb.SaveEntityRequest(name=name, type=pb.MEMORY_ENTITY_TYPE_PROJECT),
        "SaveRelationship": pb.SaveRelationshipRequest(
            type=pb.MEMORY_RELATIONSHIP_TYPE_WORKS_ON,
            target=end if with_token else pb.MemoryEndInput(name=name),
        ),
        "SaveTurn": pb.SaveTurnRequest(turns=[f"I don't work on {name} any more."]),
        "QueryEntities": pb.QueryEntitiesRequest(query="" if token else name, page_token=token),
        "QueryRelationships": pb.QueryRelationshipsRequest(
            entity_id="" if token else known.entity, page_token=token
        ),
        "GetRelatedEntities": pb.GetRelatedEntitiesRequest(entity_id=known.entity, max_hops=2),
        "AnswerRelationshipQuery": pb.AnswerRelationshipQueryRequest(
            query=f"What do I know of {name}?"
        ),
        "MergeEntities": pb.MergeEntitiesRequest(
            entity_id=known.entity, other_entity_id=known.other
        ),
        "RenameEntity": pb.RenameEntityRequest(entity_id=known.entity, name="Mine"),
        "DeleteEntity": pb.DeleteEntityRequest(entity_id=known.entity),
        "RestoreEntity": pb.RestoreEntityRequest(entity_id=known.entity),
        "DeleteRelationship": pb.DeleteRelationshipRequest(relationship_id=known.relationship),
        "GetMemoryQuota": pb.GetMemoryQuotaRequest(),
        "ExportUserMemory": pb.ExportUserMemoryRequest(page_token=token),
        "EraseUserMemory": pb.EraseUserMemoryRequest(),
    }
    return made[method]


async def whole_memory(world: World, who: Metadata) -> list[bytes]:
    """Everything of a user, as bytes: each change shows."""
    pages = []
    token, first = "", True
    while first or token:
        page = await world.stub.ExportUserMemory(
            pb.ExportUserMemoryRequest(page_token=token), metadata=who
        )
        pages += [one.SerializeToString() for one in (*page.entities, *page.relationships)]
        token, first = page.next_page_token, False
    return pages


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(METHODS),
            st.sampled_from([ANNA, BOB]),
            st.booleans(),
            st.sampled_from([SECRET, "nightingale", "Something else"]),
        ),
        min_size=4,
        max_size=12,
    )
)
async def test_no_call_reads_or_changes_what_is_another_users(
    world: World, steps: list[tuple[str, Metadata, bool, str]]
) -> None:
    await world.stub.EraseUserMemory(pb.EraseUserMemoryRequest(), metadata=ALICE)
    known = await prepare(world)
    before = await whole_memory(world, ALICE)
    for method, who, with_token, name in steps:
        call: Call = getattr(world.stub, method)
        try:
            answer = await call(requests_of(method, known, with_token, name), metadata=who)
        except grpc.aio.AioRpcError as error:
            assert error.code() in {  # noqa: PT017 - each call may end in one of these ways
                grpc.StatusCode.NOT_FOUND,
                grpc.StatusCode.INVALID_ARGUMENT,
            }
            continue
        told = answer.SerializeToString()
        for secret in (known.entity, known.other, known.relationship, CONTEXT):
            assert secret.encode() not in told
    assert await whole_memory(world, ALICE) == before


def test_every_method_is_driven() -> None:
    known = Known("e", "o", "r", {})
    for method in METHODS:
        assert requests_of(method, known, False, "x") is not None

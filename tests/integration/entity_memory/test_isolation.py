"""No user can read or change the memory of another, through any entry point and with any id, name or token."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

import grpc
import httpx2
from google.protobuf.message import Message
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic_ai import ModelRetry

from braid.agent.v1 import entity_memory_pb2 as pb
from gateway.rest.contract_routes import contract_router
from gateway.rest.http.route_scopes import ScopedRoute
from services.agent_orchestrator.agent.tools.entity_memory import MemoryTools
from services.agent_orchestrator.entity_memory.records import Owner
from services.runtime.context import CallContext, call_scope
from tests.integration.entity_memory.conftest import (
    ALICE,
    ANNA,
    BOB,
    Metadata,
    World,
    no_messages,
    run_of,
)

# Alice and Anna share a space, Bob has another one.
USERS: dict[str, tuple[str, Metadata]] = {
    "alice": ("acme", ALICE),
    "anna": ("acme", ANNA),
    "bob": ("globex", BOB),
}
SECRET = "Project Nightingale"
METHODS = [method.name for method in pb.DESCRIPTOR.services_by_name["EntityMemoryService"].methods]
TOOLS = sorted(MemoryTools.toolset(MemoryTools(None, None, no_messages)).tools)  # type: ignore[arg-type]
ROUTES = sorted(
    (verb, route.path)
    for route in contract_router().routes
    if isinstance(route, ScopedRoute) and "entity memory" in route.tags
    for verb in route.methods or ()
)
ENTRY_POINTS = [
    *(("rpc", name) for name in METHODS),
    *(("tool", name) for name in TOOLS),
    *(("rest", f"{verb} {path}") for verb, path in ROUTES),
]
Call = Callable[..., Coroutine[Any, Any, Message]]


@dataclass(frozen=True)
class Known:
    """The ids, text and page tokens that another user could have obtained."""

    entity: str
    other: str
    relationship: str
    context: str
    tokens: dict[str, str]

    def secrets(self) -> list[str]:
        """The values that no answer to another user may contain."""
        return [self.entity, self.other, self.relationship, self.context]


@dataclass(frozen=True)
class Step:
    """One call by a user with ids, names or tokens of another."""

    caller: str
    owner: str
    entry_point: tuple[str, str]
    with_token: bool
    name: str


STEPS = st.builds(
    Step,
    caller=st.sampled_from(sorted(USERS)),
    owner=st.sampled_from(sorted(USERS)),
    entry_point=st.sampled_from(ENTRY_POINTS),
    with_token=st.booleans(),
    name=st.sampled_from([SECRET, "nightingale", "Something else"]),
).filter(lambda step: step.caller != step.owner)


async def prepare(world: World, user: str) -> Known:
    """Gives the user secret entities, and returns their ids and page tokens."""
    who, stub = USERS[user][1], world.stub
    context = f"Nightingale of {user} ships in March"
    await stub.EraseUserMemory(pb.EraseUserMemoryRequest(), metadata=who)
    saved = await world.relate("WORKS_ON", SECRET, context=context, who=who)
    other = await world.relate("USES", "Nightingale tool", SECRET, who=who)
    entities = await stub.QueryEntities(pb.QueryEntitiesRequest(page_size=1), metadata=who)
    relationships = await stub.QueryRelationships(
        pb.QueryRelationshipsRequest(page_size=1), metadata=who
    )
    export = await stub.ExportUserMemory(pb.ExportUserMemoryRequest(page_size=1), metadata=who)
    return Known(
        saved.relationship.target.id,
        other.relationship.target.id,
        saved.relationship.id,
        context,
        {
            "QueryEntities": entities.next_page_token,
            "QueryRelationships": relationships.next_page_token,
            "ExportUserMemory": export.next_page_token,
        },
    )


def request_of(method: str, known: Known, step: Step) -> Message:
    """A request of a method with the owner's ids, names and tokens."""
    name = step.name
    token = known.tokens.get(method, "") if step.with_token else ""
    end = pb.MemoryEndInput(id=known.entity)
    made: dict[str, Message] = {
        "SaveEntity": pb.SaveEntityRequest(name=name, type=pb.MEMORY_ENTITY_TYPE_PROJECT),
        "SaveRelationship": pb.SaveRelationshipRequest(
            type=pb.MEMORY_RELATIONSHIP_TYPE_WORKS_ON,
            target=end if step.with_token else pb.MemoryEndInput(name=name),
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
        "ListDeadMemoryWrites": pb.ListDeadMemoryWritesRequest(page_token=token),
        "RetryDeadMemoryWrites": pb.RetryDeadMemoryWritesRequest(),
        "EraseUserMemory": pb.EraseUserMemoryRequest(),
    }
    return made[method]


async def by_rpc(world: World, step: Step, known: Known) -> bytes:
    """The response of an RPC, or the details of its error."""
    method = step.entry_point[1]
    call: Call = getattr(world.stub, method)
    try:
        answer = await call(request_of(method, known, step), metadata=USERS[step.caller][1])
    except grpc.aio.AioRpcError as error:
        assert error.code() in {  # noqa: PT017 - each call may end in one of these ways
            grpc.StatusCode.NOT_FOUND,
            grpc.StatusCode.INVALID_ARGUMENT,
        }
        return str(error.details()).encode()
    return answer.SerializeToString()


async def by_tool(world: World, step: Step, known: Known) -> bytes:
    """The answer of an agent tool in the caller's run, after its queued writes are saved."""
    space = USERS[step.caller][0]
    tools = MemoryTools(world.parts.memory, world.parts.writes, no_messages)
    context = run_of(step.caller, call=str(uuid.uuid4()), space=space, said=step.name)
    arguments: dict[str, dict[str, Any]] = {
        "save_entity": {"name": step.name, "type": "project"},
        "save_relationship": {
            "relationship_type": "USES",
            "target": known.other if step.with_token else step.name,
            "source": known.entity if step.with_token else None,
        },
        "query_graph": {"query": f"What do I know of {step.name}?"},
        "forget": {"what": step.name},
    }
    scopes = frozenset({"read", "write"})
    with call_scope(CallContext("request", "Ask", space, step.caller, scopes)):
        try:
            answer = await getattr(tools, step.entry_point[1])(
                context, **arguments[step.entry_point[1]]
            )
        except ModelRetry as retry:
            return str(retry).encode()
        await world.parts.writes.work_off(Owner(space, step.caller), 20)
    return f"{answer.return_value} {answer.metadata}".encode()


async def by_rest(http: httpx2.AsyncClient, step: Step, known: Known) -> bytes:
    """The response of an endpoint, without the id that a 404 repeats."""
    verb, path = step.entry_point[1].split(" ")
    end = {"id": known.entity} if step.with_token else {"name": step.name}
    bodies: dict[str, dict[str, Any]] = {
        "/api/memory/entities": {"name": step.name, "type": "project"},
        "/api/memory/entities/{id}/rename": {"name": "Mine"},
        "/api/memory/entities/{id}/merge": {"other_entity_id": known.other},
        "/api/memory/relationships": {"type": "WORKS_ON", "target": end},
        "/api/memory/query": {"query": f"What do I know of {step.name}?"},
        "/api/memory/turns": {"turns": [f"I don't work on {step.name} any more."]},
    }
    cursors = {
        "/api/memory/entities": known.tokens["QueryEntities"],
        "/api/memory/relationships": known.tokens["QueryRelationships"],
        "/api/memory/export": known.tokens["ExportUserMemory"],
    }
    lookups = {
        "/api/memory/entities": {"query": step.name},
        "/api/memory/relationships": {"entity_id": known.entity},
    }
    id_ = known.relationship if "/relationships/" in path else known.entity
    query: dict[str, str] = {}
    if verb == "GET":
        cursor = {"cursor": cursors[path]} if path in cursors else {}
        query = cursor if step.with_token else lookups.get(path, {})
    answer = await http.request(
        verb,
        path.replace("{id}", id_),
        params=query,
        json=bodies.get(path) if verb == "POST" else None,
        headers={"authorization": f"Bearer {step.caller}-key"},
    )
    assert answer.status_code in {200, 404, 422}, answer.text
    return (
        answer.content.replace(id_.encode(), b"") if answer.status_code == 404 else answer.content
    )


async def whole_memory(world: World, user: str) -> list[bytes]:
    """The complete memory of a user as bytes, so that every change is visible."""
    pages = []
    token, first = "", True
    while first or token:
        page = await world.stub.ExportUserMemory(
            pb.ExportUserMemoryRequest(page_token=token), metadata=USERS[user][1]
        )
        pages += [one.SerializeToString() for one in (*page.entities, *page.relationships)]
        token, first = page.next_page_token, False
    return pages


@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(steps=st.lists(STEPS, min_size=8, max_size=24))
async def test_no_entry_point_reveals_or_changes_the_memory_of_another_user(
    world: World, http: httpx2.AsyncClient, steps: list[Step]
) -> None:
    for step in steps:
        known = await prepare(world, step.owner)
        before = await whole_memory(world, step.owner)
        match step.entry_point[0]:
            case "rpc":
                answer = await by_rpc(world, step, known)
            case "tool":
                answer = await by_tool(world, step, known)
            case _:
                answer = await by_rest(http, step, known)
        for secret in known.secrets():
            assert secret.encode() not in answer, step
        assert await whole_memory(world, step.owner) == before, step


async def test_every_entry_point_is_tried_with_ids_and_with_names(
    world: World, http: httpx2.AsyncClient
) -> None:
    """Covers what random steps may miss: every RPC, tool and endpoint, with ids and with names."""
    known = await prepare(world, "alice")
    before = await whole_memory(world, "alice")
    callers = {"rpc": by_rpc, "tool": by_tool}
    for entry_point in ENTRY_POINTS:
        for caller in ("anna", "bob"):
            for with_token in (False, True):
                step = Step(caller, "alice", entry_point, with_token, SECRET)
                act = callers.get(entry_point[0])
                answer = await (act(world, step, known) if act else by_rest(http, step, known))
                for secret in known.secrets():
                    assert secret.encode() not in answer, step
    assert await whole_memory(world, "alice") == before

"""`/api/memory`: entities and relationships of the calling user, saved, queried, exported and erased."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from braid.agent.v1 import entity_memory_pb2 as pb
from gateway.rest.entity_memory.requests import (
    EntityTypeName,
    MemoryQuestion,
    NewMemoryEntity,
    NewMemoryRelationship,
    NewName,
    OtherEntity,
    RelationshipTypeName,
    SaidTurns,
    entity_type,
    relationship_type,
)
from gateway.rest.http.calls import CallerDep, ClientsDep
from gateway.rest.http.request_parsing import JSON_BODY_ONLY
from gateway.rest.http.route_scopes import ScopedRoute
from gateway.rest.mapping.contract_rules import Bounds
from gateway.rest.mapping.field_names import rest_name
from gateway.rest.mapping.field_types import Int32, PageSize, at_most
from gateway.rest.mapping.json_encoding import JsonResponse
from gateway.rest.mapping.message_json import respond
from gateway.rest.mapping.message_schema import shown
from gateway.rest.mapping.openapi import ResponseSchema, problems

router = APIRouter(
    route_class=ScopedRoute, prefix="/api/memory", tags=["entity memory"], responses=problems()
)

_SERVICE = "/braid.agent.v1.EntityMemoryService/"
_name = partial(
    rest_name,
    names={"entity_id": "id", "relationship_id": "id", "types": "type", "max_hops": "hops"},
)
_by_entity = partial(rest_name, names={"types": "type"})
_MAX_TYPES = 9
EntityId = Annotated[
    str,
    Bounds(pb.DeleteEntityRequest, "entity_id"),
    Path(alias="id", description="The entity's id."),
]
Types = Annotated[
    list[RelationshipTypeName] | None,
    Query(alias="type", description="Only relationships of these types; may be repeated."),
    at_most(_MAX_TYPES),
]
Limit = Annotated[
    PageSize,
    Bounds(pb.QueryEntitiesRequest, "page_size"),
    Query(description="How many, up to 200; more counts as 200. Default, and 0: 20."),
]
Cursor = Annotated[
    str,
    Bounds(pb.QueryEntitiesRequest, "page_token"),
    Query(description="`next_cursor` of the page before, with the same other parameters."),
]


class DeletedOne(ResponseSchema):
    """How many relationships were deleted: one."""

    deleted: int


@router.post("/entities", responses=shown(pb.SaveEntityResponse), dependencies=[JSON_BODY_ONLY])
async def save_memory_entity(
    body: NewMemoryEntity, caller: CallerDep, clients: ClientsDep
) -> Response:
    """Saves an entity, or adds evidence to the one that has the name and the type. A reached limit is an outcome."""
    answer = await caller.call(
        _SERVICE + "SaveEntity", clients.entity_memory.SaveEntity, body.message()
    )
    return respond(answer)


@router.get("/entities", responses=shown(pb.QueryEntitiesResponse))
async def query_memory_entities(  # noqa: PLR0917 - FastAPI names them all
    caller: CallerDep,
    clients: ClientsDep,
    query: Annotated[
        str,
        Bounds(pb.QueryEntitiesRequest, "query"),
        Query(description="A name or a description. Default: every entity."),
    ] = "",
    type_: Annotated[
        list[EntityTypeName] | None,
        Query(alias="type", description="Only entities of these types; may be repeated."),
        at_most(_MAX_TYPES),
    ] = None,
    limit: Limit = 0,
    cursor: Cursor = "",
) -> Response:
    """Entities by name, alias, similar spelling and meaning, best first; without a query the last mentioned first."""
    request = pb.QueryEntitiesRequest(
        query=query,
        types=[entity_type(one) for one in type_ or ()],
        page_size=limit,
        page_token=cursor,
    )
    method = _SERVICE + "QueryEntities"
    answer = await caller.call(method, clients.entity_memory.QueryEntities, request, _name)
    return respond(answer)


@router.delete("/entities/{id}", responses=shown(pb.DeleteEntityResponse))
async def delete_memory_entity(id_: EntityId, caller: CallerDep, clients: ClientsDep) -> Response:
    """Takes an entity and its relationships out of the memory; they can be restored."""
    request = pb.DeleteEntityRequest(entity_id=id_)
    method = _SERVICE + "DeleteEntity"
    answer = await caller.call(method, clients.entity_memory.DeleteEntity, request, _name)
    return respond(answer)


@router.post("/entities/{id}/restore", responses=shown(pb.RestoreEntityResponse))
async def restore_memory_entity(id_: EntityId, caller: CallerDep, clients: ClientsDep) -> Response:
    """Brings a deleted entity back with the relationships that were deleted with it."""
    request = pb.RestoreEntityRequest(entity_id=id_)
    method = _SERVICE + "RestoreEntity"
    answer = await caller.call(method, clients.entity_memory.RestoreEntity, request, _name)
    return respond(answer)


@router.post(
    "/entities/{id}/rename", responses=shown(pb.MemoryEntity), dependencies=[JSON_BODY_ONLY]
)
async def rename_memory_entity(
    id_: EntityId, body: NewName, caller: CallerDep, clients: ClientsDep
) -> Response:
    """Gives an entity another name; the former one becomes an alias."""
    request = pb.RenameEntityRequest(entity_id=id_, name=body.name)
    method = _SERVICE + "RenameEntity"
    answer = await caller.call(method, clients.entity_memory.RenameEntity, request, _name)
    return respond(answer.entity)


@router.post(
    "/entities/{id}/merge", responses=shown(pb.MemoryEntity), dependencies=[JSON_BODY_ONLY]
)
async def merge_memory_entities(
    id_: EntityId, body: OtherEntity, caller: CallerDep, clients: ClientsDep
) -> Response:
    """Makes another entity part of this one: its names become aliases, its relationships move."""
    request = pb.MergeEntitiesRequest(entity_id=id_, other_entity_id=body.other_entity_id)
    method = _SERVICE + "MergeEntities"
    answer = await caller.call(method, clients.entity_memory.MergeEntities, request, _name)
    return respond(answer.entity)


@router.get("/entities/{id}/related", responses=shown(pb.GetRelatedEntitiesResponse))
async def list_related_entities(  # noqa: PLR0917 - FastAPI names them all
    id_: EntityId,
    caller: CallerDep,
    clients: ClientsDep,
    hops: Annotated[
        Int32,
        Bounds(pb.GetRelatedEntitiesRequest, "max_hops"),
        Query(description="How many relationships away at most, 1–2. Default 1."),
    ] = 0,
    type_: Types = None,
    limit: Limit = 0,
    cursor: Cursor = "",
) -> Response:
    """Entities one or two relationships away from an entity."""
    request = pb.GetRelatedEntitiesRequest(
        entity_id=id_,
        max_hops=hops,
        types=[relationship_type(one) for one in type_ or ()],
        page_size=limit,
        page_token=cursor,
    )
    method = _SERVICE + "GetRelatedEntities"
    answer = await caller.call(method, clients.entity_memory.GetRelatedEntities, request, _name)
    return respond(answer)


@router.post(
    "/relationships",
    responses=shown(pb.SaveRelationshipResponse),
    dependencies=[JSON_BODY_ONLY],
)
async def save_memory_relationship(
    body: NewMemoryRelationship, caller: CallerDep, clients: ClientsDep
) -> Response:
    """Saves a relationship and the entities that it needs, or adds evidence to it. A reached limit is an outcome."""
    method = _SERVICE + "SaveRelationship"
    answer = await caller.call(method, clients.entity_memory.SaveRelationship, body.message())
    return respond(answer)


@router.get("/relationships", responses=shown(pb.QueryRelationshipsResponse))
async def query_memory_relationships(  # noqa: PLR0917 - FastAPI names them all
    caller: CallerDep,
    clients: ClientsDep,
    type_: Types = None,
    entity_id: Annotated[
        str,
        Bounds(pb.QueryRelationshipsRequest, "entity_id"),
        Query(description="Only relationships of this entity."),
    ] = "",
    limit: Limit = 0,
    cursor: Cursor = "",
) -> Response:
    """Relationships, the last mentioned first."""
    request = pb.QueryRelationshipsRequest(
        types=[relationship_type(one) for one in type_ or ()],
        entity_id=entity_id,
        page_size=limit,
        page_token=cursor,
    )
    method = _SERVICE + "QueryRelationships"
    answer = await caller.call(
        method, clients.entity_memory.QueryRelationships, request, _by_entity
    )
    return respond(answer)


@router.delete("/relationships/{id}", response_model=DeletedOne)
async def delete_memory_relationship(
    id_: Annotated[
        str,
        Bounds(pb.DeleteRelationshipRequest, "relationship_id"),
        Path(alias="id", description="The relationship's id."),
    ],
    caller: CallerDep,
    clients: ClientsDep,
) -> Response:
    """Takes a relationship out of the memory."""
    request = pb.DeleteRelationshipRequest(relationship_id=id_)
    method = _SERVICE + "DeleteRelationship"
    await caller.call(method, clients.entity_memory.DeleteRelationship, request, _name)
    return JsonResponse({"deleted": 1})


@router.post(
    "/query", responses=shown(pb.AnswerRelationshipQueryResponse), dependencies=[JSON_BODY_ONLY]
)
async def query_memory(body: MemoryQuestion, caller: CallerDep, clients: ClientsDep) -> Response:
    """Relationships that answer a question in plain words, best first."""
    method = _SERVICE + "AnswerRelationshipQuery"
    answer = await caller.call(
        method, clients.entity_memory.AnswerRelationshipQuery, body.message()
    )
    return respond(answer)


@router.post("/turns", responses=shown(pb.SaveTurnResponse), dependencies=[JSON_BODY_ONLY])
async def save_memory_turn(body: SaidTurns, caller: CallerDep, clients: ClientsDep) -> Response:
    """Extracts entities and relationships from the last of some turns, and saves them; a message is saved once."""
    method = _SERVICE + "SaveTurn"
    answer = await caller.call(method, clients.entity_memory.SaveTurn, body.message())
    return respond(answer)


@router.get("/quota", responses=shown(pb.GetMemoryQuotaResponse))
async def get_memory_quota(
    caller: CallerDep,
    clients: ClientsDep,
    conversation_id: Annotated[
        str,
        Bounds(pb.GetMemoryQuotaRequest, "conversation_id"),
        Query(description="The conversation. Default: the day's quota alone."),
    ] = "",
) -> Response:
    """How much may still be saved today and in a conversation."""
    request = pb.GetMemoryQuotaRequest(conversation_id=conversation_id)
    method = _SERVICE + "GetMemoryQuota"
    answer = await caller.call(method, clients.entity_memory.GetMemoryQuota, request)
    return respond(answer)


@router.get("/export", responses=shown(pb.ExportUserMemoryResponse))
async def export_memory(
    caller: CallerDep,
    clients: ClientsDep,
    limit: Annotated[
        PageSize,
        Bounds(pb.ExportUserMemoryRequest, "page_size"),
        Query(description="How many, up to 1,000; more counts as 1,000. Default, and 0: 200."),
    ] = 0,
    cursor: Annotated[
        str,
        Bounds(pb.ExportUserMemoryRequest, "page_token"),
        Query(description="`next_cursor` of the page before."),
    ] = "",
) -> Response:
    """Everything that is kept of the user, deleted things included, in pages."""
    request = pb.ExportUserMemoryRequest(page_size=limit, page_token=cursor)
    method = _SERVICE + "ExportUserMemory"
    answer = await caller.call(method, clients.entity_memory.ExportUserMemory, request)
    return respond(answer)


@router.get("/writes/dead", responses=shown(pb.ListDeadMemoryWritesResponse))
async def list_dead_memory_writes(
    caller: CallerDep,
    clients: ClientsDep,
    limit: Annotated[
        PageSize,
        Bounds(pb.ListDeadMemoryWritesRequest, "page_size"),
        Query(description="How many, up to 200; more counts as 200. Default, and 0: 20."),
    ] = 0,
    cursor: Annotated[
        str,
        Bounds(pb.ListDeadMemoryWritesRequest, "page_token"),
        Query(description="`next_cursor` of the page before."),
    ] = "",
) -> Response:
    """What was accepted to be saved and failed for good, with reasons, the latest first, in pages."""
    request = pb.ListDeadMemoryWritesRequest(page_size=limit, page_token=cursor)
    method = _SERVICE + "ListDeadMemoryWrites"
    answer = await caller.call(method, clients.entity_memory.ListDeadMemoryWrites, request)
    return respond(answer)


@router.post("/writes/dead/retry", responses=shown(pb.RetryDeadMemoryWritesResponse))
async def retry_dead_memory_writes(caller: CallerDep, clients: ClientsDep) -> Response:
    """Tries again to save everything that failed for good, and counts it."""
    method = _SERVICE + "RetryDeadMemoryWrites"
    request = pb.RetryDeadMemoryWritesRequest()
    answer = await caller.call(method, clients.entity_memory.RetryDeadMemoryWrites, request)
    return respond(answer)


@router.delete("", responses=shown(pb.EraseUserMemoryResponse))
async def erase_memory(caller: CallerDep, clients: ClientsDep) -> Response:
    """Erases everything of the user for good, and answers with a receipt."""
    method = _SERVICE + "EraseUserMemory"
    request = pb.EraseUserMemoryRequest()
    answer = await caller.call(method, clients.entity_memory.EraseUserMemory, request)
    return respond(answer)

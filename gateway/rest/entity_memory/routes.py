"""`/api/memory`: entities and relationships of the calling user, saved, queried, exported and erased."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from braid.agent.v1 import entity_memory_pb2 as pb
from gateway.rest.entity_memory import responses
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
from gateway.rest.mapping.openapi import problems

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


@router.post("/entities", response_model=responses.MemorySavedEntity, dependencies=[JSON_BODY_ONLY])
async def save_memory_entity(
    body: NewMemoryEntity, caller: CallerDep, clients: ClientsDep
) -> Response:
    """Saves an entity, or adds evidence to the one that has the name and the type. A reached limit is an outcome."""
    answer = await caller.call(
        _SERVICE + "SaveEntity", clients.entity_memory.SaveEntity, body.message()
    )
    return JsonResponse(
        {
            "outcome": responses.outcome(answer.outcome),
            "message": answer.message,
            "entity": responses.entity(answer.entity) if answer.HasField("entity") else None,
            "quota": responses.quota(answer.quota),
        }
    )


@router.get("/entities", response_model=responses.MemoryEntityPage)
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
    return JsonResponse(
        {
            "entities": [responses.hit(one) for one in answer.hits],
            "next_cursor": answer.next_page_token or None,
            "without_embedding": answer.without_embedding,
        }
    )


@router.delete("/entities/{id}", response_model=responses.MemoryDeletedEntity)
async def delete_memory_entity(id_: EntityId, caller: CallerDep, clients: ClientsDep) -> Response:
    """Takes an entity and its relationships out of the memory; they can be restored."""
    request = pb.DeleteEntityRequest(entity_id=id_)
    method = _SERVICE + "DeleteEntity"
    answer = await caller.call(method, clients.entity_memory.DeleteEntity, request, _name)
    return JsonResponse({"relationships": answer.relationship_count})


@router.post("/entities/{id}/restore", response_model=responses.MemoryRestoredEntity)
async def restore_memory_entity(id_: EntityId, caller: CallerDep, clients: ClientsDep) -> Response:
    """Brings a deleted entity back with the relationships that were deleted with it."""
    request = pb.RestoreEntityRequest(entity_id=id_)
    method = _SERVICE + "RestoreEntity"
    answer = await caller.call(method, clients.entity_memory.RestoreEntity, request, _name)
    return JsonResponse(
        {
            "entity": responses.entity(answer.entity),
            "relationships": answer.relationship_count,
        }
    )


@router.post(
    "/entities/{id}/rename", response_model=responses.MemoryEntity, dependencies=[JSON_BODY_ONLY]
)
async def rename_memory_entity(
    id_: EntityId, body: NewName, caller: CallerDep, clients: ClientsDep
) -> Response:
    """Gives an entity another name; the former one becomes an alias."""
    request = pb.RenameEntityRequest(entity_id=id_, name=body.name)
    method = _SERVICE + "RenameEntity"
    answer = await caller.call(method, clients.entity_memory.RenameEntity, request, _name)
    return JsonResponse(responses.entity(answer.entity))


@router.post(
    "/entities/{id}/merge", response_model=responses.MemoryEntity, dependencies=[JSON_BODY_ONLY]
)
async def merge_memory_entities(
    id_: EntityId, body: OtherEntity, caller: CallerDep, clients: ClientsDep
) -> Response:
    """Makes another entity part of this one: its names become aliases, its relationships move."""
    request = pb.MergeEntitiesRequest(entity_id=id_, other_entity_id=body.other_entity_id)
    method = _SERVICE + "MergeEntities"
    answer = await caller.call(method, clients.entity_memory.MergeEntities, request, _name)
    return JsonResponse(responses.entity(answer.entity))


@router.get("/entities/{id}/related", response_model=responses.MemoryRelatedPage)
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
    return JsonResponse(
        {
            "related": [responses.related(one) for one in answer.related],
            "next_cursor": answer.next_page_token or None,
        }
    )


@router.post(
    "/relationships",
    response_model=responses.MemorySavedRelationship,
    dependencies=[JSON_BODY_ONLY],
)
async def save_memory_relationship(
    body: NewMemoryRelationship, caller: CallerDep, clients: ClientsDep
) -> Response:
    """Saves a relationship and the entities that it needs, or adds evidence to it. A reached limit is an outcome."""
    method = _SERVICE + "SaveRelationship"
    answer = await caller.call(method, clients.entity_memory.SaveRelationship, body.message())
    found = answer.HasField("relationship")
    return JsonResponse(
        {
            "outcome": responses.outcome(answer.outcome),
            "message": answer.message,
            "relationship": responses.relationship(answer.relationship) if found else None,
            "quota": responses.quota(answer.quota),
        }
    )


@router.get("/relationships", response_model=responses.MemoryRelationshipPage)
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
    return JsonResponse(
        {
            "relationships": [responses.relationship(one) for one in answer.relationships],
            "next_cursor": answer.next_page_token or None,
        }
    )


@router.delete("/relationships/{id}", response_model=responses.MemoryDeleted)
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


@router.post("/query", response_model=responses.MemoryAnswers, dependencies=[JSON_BODY_ONLY])
async def query_memory(body: MemoryQuestion, caller: CallerDep, clients: ClientsDep) -> Response:
    """Relationships that answer a question in plain words, best first."""
    method = _SERVICE + "AnswerRelationshipQuery"
    answer = await caller.call(
        method, clients.entity_memory.AnswerRelationshipQuery, body.message()
    )
    return JsonResponse(
        {
            "answers": [responses.answer(one) for one in answer.answers],
            "total": answer.total_count,
            "next_cursor": answer.next_page_token or None,
            "without_embedding": answer.without_embedding,
        }
    )


@router.post("/turns", response_model=responses.MemorySavedTurn, dependencies=[JSON_BODY_ONLY])
async def save_memory_turn(body: SaidTurns, caller: CallerDep, clients: ClientsDep) -> Response:
    """Extracts entities and relationships from the last of some turns, and saves them; a message is saved once."""
    method = _SERVICE + "SaveTurn"
    answer = await caller.call(method, clients.entity_memory.SaveTurn, body.message())
    return JsonResponse(
        {
            "relationships": [responses.relationship(one) for one in answer.relationships],
            "retracted": answer.retracted_count,
            "over_limit": answer.over_limit_count,
            "already_saved": answer.already_saved,
            "quota": responses.quota(answer.quota),
        }
    )


@router.get("/quota", response_model=responses.MemoryQuotas)
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
    return JsonResponse(
        {"quota": responses.quota(answer.quota), "limits": responses.quota(answer.limits)}
    )


@router.get("/export", response_model=responses.MemoryExportPage)
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
    return JsonResponse(
        {
            "entities": [responses.entity(one) for one in answer.entities],
            "relationships": [responses.relationship(one) for one in answer.relationships],
            "next_cursor": answer.next_page_token or None,
        }
    )


@router.get("/writes/dead", response_model=responses.DeadMemoryWrites)
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
    shown = [responses.dead_write(one) for one in answer.writes]
    return JsonResponse({"writes": shown, "next_cursor": answer.next_page_token or None})


@router.post("/writes/dead/retry", response_model=responses.RetriedMemoryWrites)
async def retry_dead_memory_writes(caller: CallerDep, clients: ClientsDep) -> Response:
    """Tries again to save everything that failed for good, and counts it."""
    method = _SERVICE + "RetryDeadMemoryWrites"
    request = pb.RetryDeadMemoryWritesRequest()
    answer = await caller.call(method, clients.entity_memory.RetryDeadMemoryWrites, request)
    return JsonResponse({"writes": answer.write_count})


@router.delete("", response_model=responses.MemoryReceipt)
async def erase_memory(caller: CallerDep, clients: ClientsDep) -> Response:
    """Erases everything of the user for good, and answers with a receipt."""
    method = _SERVICE + "EraseUserMemory"
    request = pb.EraseUserMemoryRequest()
    answer = await caller.call(method, clients.entity_memory.EraseUserMemory, request)
    return JsonResponse(
        {
            "entities": answer.entity_count,
            "relationships": answer.relationship_count,
            "writes": answer.write_count,
            "erased_at": answer.erase_time.ToJsonString(),
        }
    )

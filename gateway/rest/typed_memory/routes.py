"""Typed memories: stored, related, searched and counted. Each route exists at the root and under `/api`."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from braid.agent.v1 import memories_pb2
from braid.graph.v1.relations_pb2 import CHUNK_RELATION_TYPE_UNSPECIFIED
from gateway.rest import jobs
from gateway.rest.http.calls import CallerDep, ClientsDep
from gateway.rest.http.request_parsing import JSON_BODY_ONLY
from gateway.rest.http.route_scopes import ScopedRoute
from gateway.rest.jobs import OneJob
from gateway.rest.mapping.contract_rules import Bounds
from gateway.rest.mapping.field_names import rest_name
from gateway.rest.mapping.field_types import PageSize, at_most
from gateway.rest.mapping.json_encoding import JsonResponse
from gateway.rest.mapping.message_json import respond
from gateway.rest.mapping.message_schema import shown
from gateway.rest.mapping.openapi import problems
from gateway.rest.typed_memory import responses
from gateway.rest.typed_memory.requests import (
    MAX_TYPES,
    AnyCaseRelation,
    MemoryRelation,
    MemorySearch,
    MemoryTypes,
    NewMemory,
    SearchMode,
    SessionToClose,
    relation_type,
)

_SERVICE = "/braid.agent.v1.MemoryService/"
_name = partial(
    rest_name,
    names={
        "memory_id": "id",
        "relation": "",
        "traversal_time": "traversal_at",
        "memory_limit": "limit",
    },
)
_CREATED = 201
# Larger values count as this.
MAX_EXAMINED = 500
MemoryId = Annotated[
    str,
    Bounds(memories_pb2.GetMemoryRequest, "memory_id"),
    Path(alias="id", description="The memory's id."),
]
_routes = APIRouter(route_class=ScopedRoute, tags=["memories"], responses=problems())


@_routes.post(
    "/memories",
    responses=shown(memories_pb2.CreateMemoryResponse, 201),
    status_code=_CREATED,
    dependencies=[JSON_BODY_ONLY],
)
async def create_memory(body: NewMemory, caller: CallerDep, clients: ClientsDep) -> Response:
    """Stores a memory. Once this has answered, it is found and its relations are followed.

    If the graph is busy, the answer does not wait for it: it has no relations, and a job stores and infers them.
    """
    method = _SERVICE + "CreateMemory"
    answer = await caller.call(method, clients.memories.CreateMemory, body.message(), _name)
    return respond(answer, _CREATED)


@_routes.get("/memories", responses=shown(memories_pb2.ListMemoriesResponse))
async def list_memories(  # noqa: PLR0917 - FastAPI names them all
    caller: CallerDep,
    clients: ClientsDep,
    type_: Annotated[
        list[str] | None,
        Bounds(memories_pb2.ListMemoriesRequest, "types"),
        Query(alias="type", description="Only memories of these types; may be repeated."),
        at_most(MAX_TYPES),
    ] = None,
    session_id: Annotated[
        str,
        Bounds(memories_pb2.ListMemoriesRequest, "session_id"),
        Query(description="Only memories of this session."),
    ] = "",
    limit: Annotated[
        PageSize,
        Bounds(memories_pb2.ListMemoriesRequest, "page_size"),
        Query(description="How many, up to 200; more counts as 200. Default, and 0: 50."),
    ] = 0,
    cursor: Annotated[
        str,
        Bounds(memories_pb2.ListMemoriesRequest, "page_token"),
        Query(description="`next_cursor` of the page before."),
    ] = "",
) -> Response:
    """The caller's memories, newest first, in pages."""
    request = memories_pb2.ListMemoriesRequest(
        types=type_ or [], session_id=session_id, page_size=limit, page_token=cursor
    )
    names = partial(rest_name, names={"types": "type"})
    method = _SERVICE + "ListMemories"
    answer = await caller.call(method, clients.memories.ListMemories, request, names)
    return respond(answer)


@_routes.post(
    "/memories/search", response_model=list[responses.MemoryHit], dependencies=[JSON_BODY_ONLY]
)
async def search_memories(  # noqa: PLR0917 - FastAPI names them all
    body: MemorySearch,
    caller: CallerDep,
    clients: ClientsDep,
    search_mode: Annotated[
        SearchMode, Query(description="By meaning and words, by meaning, or by words.")
    ] = "hybrid",
    use_cache: Annotated[bool, Query(description="An earlier answer may be given.")] = True,
    use_reranking: Annotated[bool, Query(description="Rerank what is found.")] = True,
    use_graph_expansion: Annotated[
        bool, Query(description="Expand what is found along relations.")
    ] = False,
) -> Response:
    """Memories that answer a question: a list, highest composite score first.

    The header `X-Search-Status` says how the search went, `X-Expansion-Status` how the expansion did: DEGRADED where
    the graph could not be asked, and the list is unexpanded. Without a match, `X-Nearest-Memories` has the IDs of at
    most three memories that come nearest, best first. They are not considered relevant.
    """
    request = body.message(
        search_mode,
        use_cache=use_cache,
        use_reranking=use_reranking,
        use_graph_expansion=use_graph_expansion,
    )
    method = _SERVICE + "SearchMemories"
    answer = await caller.call(method, clients.memories.SearchMemories, request, _name)
    context = body.context and use_graph_expansion
    hits = responses.found(answer, context=context)
    return JsonResponse(hits, headers=responses.headers(answer))


@_routes.get("/memories/types", responses=shown(memories_pb2.GetMemoryTypesResponse))
async def get_memory_types(caller: CallerDep, clients: ClientsDep) -> Response:
    """The types that memories of the space may have."""
    request = memories_pb2.GetMemoryTypesRequest()
    answer = await caller.call(
        _SERVICE + "GetMemoryTypes", clients.memories.GetMemoryTypes, request
    )
    return respond(answer)


@_routes.put(
    "/memories/types",
    responses=shown(memories_pb2.GetMemoryTypesResponse),
    dependencies=[JSON_BODY_ONLY],
)
async def put_memory_types(body: MemoryTypes, caller: CallerDep, clients: ClientsDep) -> Response:
    """Replaces them, for memories to come."""
    request = memories_pb2.PutMemoryTypesRequest(types=body.types)
    answer = await caller.call(
        _SERVICE + "PutMemoryTypes", clients.memories.PutMemoryTypes, request
    )
    return respond(answer)


@_routes.post(
    "/memories/sessions/close",
    responses=shown(memories_pb2.CloseMemorySessionResponse),
    dependencies=[JSON_BODY_ONLY],
)
async def close_memory_session(
    body: SessionToClose, caller: CallerDep, clients: ClientsDep
) -> Response:
    """Closes a session: writes a summary that each of its memories is PART_OF."""
    request = memories_pb2.CloseMemorySessionRequest(session_id=body.session_id)
    method = _SERVICE + "CloseMemorySession"
    answer = await caller.call(method, clients.memories.CloseMemorySession, request)
    return respond(answer)


@_routes.get("/memories/{id}", responses=shown(memories_pb2.GetMemoryResponse))
async def get_memory(id_: MemoryId, caller: CallerDep, clients: ClientsDep) -> Response:
    """A memory with its relations. It counts as an access."""
    request = memories_pb2.GetMemoryRequest(memory_id=id_)
    answer = await caller.call(_SERVICE + "GetMemory", clients.memories.GetMemory, request, _name)
    return respond(answer)


@_routes.delete("/memories/{id}", response_model=responses.Deleted)
async def delete_memory(id_: MemoryId, caller: CallerDep, clients: ClientsDep) -> Response:
    """Removes a memory and its relations."""
    request = memories_pb2.DeleteMemoryRequest(memory_id=id_)
    await caller.call(_SERVICE + "DeleteMemory", clients.memories.DeleteMemory, request, _name)
    return JsonResponse({"deleted": 1})


@_routes.post(
    "/memories/{id}/relations",
    responses=shown(memories_pb2.PutMemoryRelationResponse, 201),
    status_code=_CREATED,
    dependencies=[JSON_BODY_ONLY],
)
async def relate_memory(
    id_: MemoryId,
    body: MemoryRelation,
    caller: CallerDep,
    clients: ClientsDep,
) -> Response:
    """Stores a relation to another memory, or changes the one that is there."""
    request = memories_pb2.PutMemoryRelationRequest(memory_id=id_, relation=body.message())
    method = _SERVICE + "PutMemoryRelation"
    answer = await caller.call(method, clients.memories.PutMemoryRelation, request, _name)
    return respond(answer, _CREATED)


@_routes.delete("/memories/{id}/relations/{target}", response_model=responses.Deleted)
async def unrelate_memory(
    id_: MemoryId,
    target: Annotated[
        str,
        Bounds(memories_pb2.DeleteMemoryRelationRequest, "target_id"),
        Path(description="The memory that it leads to."),
    ],
    caller: CallerDep,
    clients: ClientsDep,
    kind: Annotated[
        AnyCaseRelation | None,
        Query(alias="relation_type", description="Only of this type. Default: of every type."),
    ] = None,
) -> Response:
    """Removes the relations to another memory. Inferred ones that are removed are not inferred again."""
    request = memories_pb2.DeleteMemoryRelationRequest(
        memory_id=id_,
        target_id=target,
        relation_type=relation_type(kind) if kind else CHUNK_RELATION_TYPE_UNSPECIFIED,
    )
    names = partial(rest_name, names={"memory_id": "id", "target_id": "target"})
    method = _SERVICE + "DeleteMemoryRelation"
    answer = await caller.call(method, clients.memories.DeleteMemoryRelation, request, names)
    return JsonResponse({"deleted": answer.deleted_count})


@_routes.get("/graph/stats", response_model=responses.Stats)
async def get_memory_stats(caller: CallerDep, clients: ClientsDep) -> Response:
    """The caller's memories and the relations between them in numbers."""
    request = memories_pb2.GetMemoryStatsRequest()
    answer = await caller.call(
        _SERVICE + "GetMemoryStats", clients.memories.GetMemoryStats, request
    )
    return JsonResponse(responses.stats(answer))


@_routes.post("/inference/run", responses=shown(memories_pb2.RunMemoryInferenceResponse))
async def run_memory_inference(
    caller: CallerDep,
    clients: ClientsDep,
    limit: Annotated[
        int,
        Bounds(memories_pb2.RunMemoryInferenceRequest, "memory_limit"),
        Query(
            ge=0,
            le=MAX_EXAMINED,
            description="How many memories are looked at, the newest first, up to 500. Default 100.",
        ),
    ] = 0,
) -> Response:
    """Infers relations between the caller's memories, and removes inferred ones that no longer follow."""
    request = memories_pb2.RunMemoryInferenceRequest(memory_limit=limit)
    method = _SERVICE + "RunMemoryInference"
    answer = await caller.call(method, clients.memories.RunMemoryInference, request, _name)
    return respond(answer)


@_routes.post("/inference/jobs", response_model=OneJob, status_code=202)
async def start_memory_inference(
    caller: CallerDep,
    clients: ClientsDep,
    limit: Annotated[
        PageSize,
        Bounds(memories_pb2.StartMemoryInferenceRequest, "memory_limit"),
        Query(description="How many memories are looked at, the newest first. Default: all."),
    ] = 0,
) -> Response:
    """The same as a job, for any number of memories. While one waits or runs, the answer is that job."""
    request = memories_pb2.StartMemoryInferenceRequest(memory_limit=limit)
    method = _SERVICE + "StartMemoryInference"
    answer = await caller.call(method, clients.memories.StartMemoryInference, request, _name)
    return jobs.accepted(answer.job)


router = APIRouter()
router.include_router(_routes, prefix="/api")
# The same paths without the prefix, for clients that use them.
router.include_router(_routes)

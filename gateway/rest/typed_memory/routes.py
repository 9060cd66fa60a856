"""Typed memories: stored, searched and counted. Each route exists at the root and under `/api`."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from braid.agent.v1 import memories_pb2
from gateway.rest.http.calls import CallerDep, ClientsDep
from gateway.rest.http.request_parsing import JSON_BODY_ONLY
from gateway.rest.http.route_scopes import ScopedRoute
from gateway.rest.mapping.field_names import rest_name
from gateway.rest.mapping.json_encoding import JsonResponse
from gateway.rest.mapping.message_json import respond
from gateway.rest.mapping.message_requests import names_of
from gateway.rest.mapping.message_schema import shown
from gateway.rest.mapping.openapi import problems
from gateway.rest.typed_memory import responses
from gateway.rest.typed_memory.requests import (
    MemorySearch,
    NewMemory,
    SearchMode,
)

_SERVICE = "/braid.agent.v1.MemoryService/"
_name = partial(rest_name, names={"traversal_time": "traversal_at"})
_created_name = names_of(memories_pb2.CreateMemoryRequest.DESCRIPTOR)
_CREATED = 201
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
    answer = await caller.call(method, clients.memories.CreateMemory, body.message(), _created_name)
    return respond(answer, _CREATED)


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


@_routes.get("/graph/stats", response_model=responses.Stats)
async def get_memory_stats(caller: CallerDep, clients: ClientsDep) -> Response:
    """The caller's memories and the relations between them in numbers."""
    request = memories_pb2.GetMemoryStatsRequest()
    answer = await caller.call(
        _SERVICE + "GetMemoryStats", clients.memories.GetMemoryStats, request
    )
    return JsonResponse(responses.stats(answer))


router = APIRouter()
router.include_router(_routes, prefix="/api")
# The same paths without the prefix, for clients that use them.
router.include_router(_routes)

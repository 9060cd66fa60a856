"""`POST /api/search/…`: chunks, or chunks and facts at once. The contract declares the search for facts alone."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Header
from starlette.responses import Response

from braid.agent.v1 import search_pb2
from braid.vector.v1 import search_pb2 as vector
from gateway.clients import Clients
from gateway.rest.http.calls import Caller, CallerDep, ClientsDep, SettingsDep
from gateway.rest.http.event_stream import stream
from gateway.rest.http.request_parsing import JSON_BODY_ONLY
from gateway.rest.http.route_scopes import ScopedRoute
from gateway.rest.mapping.json_encoding import JsonResponse
from gateway.rest.mapping.message_json import respond, to_json
from gateway.rest.mapping.message_requests import names_of
from gateway.rest.mapping.message_schema import shown
from gateway.rest.mapping.openapi import EVENT_STREAM, event_stream, events, problems
from gateway.rest.search import responses as search_responses
from gateway.rest.search.requests import (
    ComprehensiveSearch,
    HybridSearch,
    TextSearch,
    VectorSearch,
)
from gateway.rest.search.responses import Comprehensive, SearchEvent

router = APIRouter(
    route_class=ScopedRoute,
    prefix="/api/search",
    tags=["search"],
    responses=problems(),
    dependencies=[JSON_BODY_ONLY],
)

_CHUNKS = "/braid.vector.v1.VectorSearchService/"
_ALL = "/braid.agent.v1.SearchService/"
_chunks_name = names_of(vector.HybridSearchRequest.DESCRIPTOR)
_hybrid_name = names_of(search_pb2.ExpandedHybridSearchRequest.DESCRIPTOR)
_name = names_of(search_pb2.ComprehensiveSearchRequest.DESCRIPTOR)
_streamed_name = names_of(search_pb2.StreamComprehensiveSearchRequest.DESCRIPTOR)
_STREAMED = "Events `leg`, one a leg in the order they end, then `final`; `error` if the search fails after all."


@router.post("/vector", responses=shown(vector.VectorSearchResponse))
async def search_vector(body: VectorSearch, caller: CallerDep, clients: ClientsDep) -> Response:
    """Chunks nearest to the query in meaning."""
    method = _CHUNKS + "VectorSearch"
    answer = await caller.call(method, clients.chunks.VectorSearch, body.message(), _chunks_name)
    return respond(answer)


@router.post("/text", responses=shown(vector.TextSearchResponse))
async def search_text(body: TextSearch, caller: CallerDep, clients: ClientsDep) -> Response:
    """Chunks that hold the query's words (BM25)."""
    method = _CHUNKS + "TextSearch"
    answer = await caller.call(method, clients.chunks.TextSearch, body.message(), _chunks_name)
    return respond(answer)


@router.post("/hybrid", responses=shown(search_pb2.ExpandedHybridSearchResponse))
async def search_hybrid(body: HybridSearch, caller: CallerDep, clients: ClientsDep) -> Response:
    """Chunks by meaning and words, fused; reranked and expanded along the graph where that is asked for."""
    if body.has_steps():
        method = _ALL + "ExpandedHybridSearch"
        asked = body.expanded_message()
        found = await caller.call(method, clients.search.ExpandedHybridSearch, asked, _hybrid_name)
        return respond(found)
    method = _CHUNKS + "HybridSearch"
    answer = await caller.call(method, clients.chunks.HybridSearch, body.message(), _chunks_name)
    return JsonResponse(search_responses.hybrid(answer))


@router.post(
    "/comprehensive",
    response_model=Comprehensive,
    responses={200: {"content": event_stream(SearchEvent)}},
)
async def search_comprehensive(
    body: ComprehensiveSearch,
    caller: CallerDep,
    clients: ClientsDep,
    settings: SettingsDep,
    accept: Annotated[str, Header(include_in_schema=False)] = "",
) -> Response:
    """Chunks and facts at once, fused into one list. With `Accept: text/event-stream` as events, as they come."""
    if EVENT_STREAM in accept:
        return await _streamed(body, caller, clients, settings.heartbeat_seconds)
    method = _ALL + "ComprehensiveSearch"
    answer = await caller.call(method, clients.search.ComprehensiveSearch, body.message(), _name)
    return JsonResponse(search_responses.comprehensive(answer, body.include))


@router.post(
    "/comprehensive/stream", response_class=Response, responses=events(_STREAMED, SearchEvent)
)
async def stream_comprehensive_search(
    body: ComprehensiveSearch, caller: CallerDep, clients: ClientsDep, settings: SettingsDep
) -> Response:
    """The same as events: each leg's results as they arrive, then the whole answer."""
    return await _streamed(body, caller, clients, settings.heartbeat_seconds)


async def _streamed(
    body: ComprehensiveSearch, caller: Caller, clients: Clients, heartbeat: float
) -> Response:
    request = search_pb2.StreamComprehensiveSearchRequest(search=body.message())
    method = _ALL + "StreamComprehensiveSearch"
    call = caller.open(method, clients.search.StreamComprehensiveSearch, request)
    shown = partial(_shown, include=body.include)
    return await stream(caller, call, shown, heartbeat=heartbeat, named=_streamed_name)


def _shown(
    answer: search_pb2.StreamComprehensiveSearchResponse, include: Collection[str]
) -> tuple[str, dict[str, Any]]:
    if answer.WhichOneof("part") == "leg":
        return "leg", to_json(answer.leg)
    return "final", search_responses.comprehensive(answer.final, include)

"""`/api/chunks`: passages by the ids in citations."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from braid.vector.v1 import chunks_pb2, search_pb2
from gateway.rest.http.calls import CallerDep, ClientsDep
from gateway.rest.http.route_scopes import ScopedRoute
from gateway.rest.mapping.contract_rules import Bounds
from gateway.rest.mapping.field_names import rest_name
from gateway.rest.mapping.field_types import at_most
from gateway.rest.mapping.json_encoding import Json, JsonResponse, struct, time
from gateway.rest.mapping.openapi import ResponseSchema, problems

router = APIRouter(
    route_class=ScopedRoute, prefix="/api/chunks", tags=["documents"], responses=problems()
)

_METHOD = "/braid.vector.v1.VectorSearchService/GetChunks"
MAX_IDS = 100
_named = partial(rest_name, names={"chunk_ids": "id"})


class Chunk(ResponseSchema):
    """A passage: where it stands in its document's text, in characters, and on which page if that has any."""

    id: str
    document_id: str
    title: str
    source: str
    content: str
    start_char: int
    end_char: int
    page: int | None
    valid_at: str | None
    metadata: dict[str, Any]


class Chunks(ResponseSchema):
    """The passages that exist, in the order asked for."""

    chunks: list[Chunk]


@router.get("", response_model=Chunks)
async def get_chunks(
    caller: CallerDep,
    clients: ClientsDep,
    ids: Annotated[
        list[str],
        Bounds(search_pb2.GetChunksRequest, "chunk_ids"),
        Query(alias="id", description="The chunks' ids, up to 100."),
        at_most(MAX_IDS),
    ],
) -> Response:
    """Passages by id; unknown ids are left out."""
    request = search_pb2.GetChunksRequest(chunk_ids=ids)
    answer = await caller.call(_METHOD, clients.chunks.GetChunks, request, _named)
    return JsonResponse({"chunks": [chunk(one) for one in answer.chunks]})


def chunk(message: chunks_pb2.Chunk) -> Json:
    """Returns a passage as JSON."""
    return {
        "id": message.id,
        "document_id": message.document_id,
        "title": message.document_title,
        "source": message.source,
        "content": message.content,
        "start_char": message.start_char,
        "end_char": message.end_char,
        "page": message.page or None,
        "valid_at": time(message, "valid_time"),
        "metadata": struct(message.metadata),
    }

"""`/api/chunks`: passages by the ids in citations."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from braid.vector.v1 import search_pb2
from gateway.rest.http.calls import CallerDep, ClientsDep
from gateway.rest.http.route_scopes import ScopedRoute
from gateway.rest.mapping.contract_rules import Bounds
from gateway.rest.mapping.field_names import rest_name
from gateway.rest.mapping.field_types import at_most
from gateway.rest.mapping.message_json import respond
from gateway.rest.mapping.message_schema import shown
from gateway.rest.mapping.openapi import problems

router = APIRouter(
    route_class=ScopedRoute, prefix="/api/chunks", tags=["documents"], responses=problems()
)

_METHOD = "/braid.vector.v1.VectorSearchService/GetChunks"
MAX_IDS = 100
_named = partial(rest_name, names={"chunk_ids": "id"})


@router.get("", responses=shown(search_pb2.GetChunksResponse))
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
    return respond(answer)

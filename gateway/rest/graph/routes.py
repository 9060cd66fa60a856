"""`GET /api/graph/…`: neighborhood, entities, status; history, snapshot, diff and paths."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from braid.graph.v1 import history_pb2
from braid.graph.v1.entities_pb2 import EntitySelector
from gateway.rest.graph.parameters import (
    Cursor,
    KnownAt,
    PageLimit,
    Relation,
    graph_name,
)
from gateway.rest.http.calls import CallerDep, ClientsDep
from gateway.rest.http.request_parsing import any_text
from gateway.rest.http.route_scopes import ScopedRoute
from gateway.rest.mapping.contract_rules import Bounds
from gateway.rest.mapping.field_types import Instant, stamp
from gateway.rest.mapping.message_json import respond
from gateway.rest.mapping.message_schema import shown
from gateway.rest.mapping.openapi import problems

router = APIRouter(
    route_class=ScopedRoute, prefix="/api/graph", tags=["graph"], responses=problems()
)

_SERVICE = "/braid.graph.v1.GraphQueryService/"


@router.get("/history/" + any_text("entity"), responses=shown(history_pb2.GetEntityHistoryResponse))
async def get_entity_history(  # noqa: PLR0917 - FastAPI names them all
    caller: CallerDep,
    clients: ClientsDep,
    entity: Annotated[
        str,
        Bounds(EntitySelector, "name"),
        Path(
            description="The entity's name, any case (slashes are part of it), or its uuid with `by=uuid`.",
            examples=["Ledger Service"],
        ),
    ],
    by: Annotated[
        Literal["name", "uuid"], Query(description="What the path names the entity by.")
    ] = "name",
    kind: Annotated[
        str,
        Bounds(EntitySelector, "type"),
        Query(alias="type", description="Its type, where several share a name."),
    ] = "",
    relation: Relation = "",
    since: Annotated[
        Instant | None,
        Query(
            description="Leave out facts that had ended by this instant. Default: from the beginning.",
            examples=["2024-01-01"],
        ),
    ] = None,
    as_of: Annotated[
        Instant | None,
        Query(
            description="The instant that counts as now: for what is current, and whether anything changed. "
            "Default: now.",
            examples=["2024-04-18"],
        ),
    ] = None,
    known_at: KnownAt = None,
    withdrawn: Annotated[
        bool,
        Query(
            description="Also list the facts that were withdrawn, or replaced by a correction, in `withdrawn`."
        ),
    ] = False,
    limit: PageLimit = 0,
    cursor: Cursor = "",
) -> Response:
    """An entity's facts, current and past, in time order; on the first page the whole history in numbers, and whether
    it ever changed.
    """
    selector = EntitySelector(id=entity) if by == "uuid" else EntitySelector(name=entity)
    selector.type = kind
    request = history_pb2.GetEntityHistoryRequest(
        entity=selector,
        relation_type=relation,
        since_time=stamp(since),
        reference_time=stamp(as_of),
        known_time=stamp(known_at),
        include_withdrawn=withdrawn,
        page_size=limit,
        page_token=cursor,
    )
    named = graph_name({"entity_type": "type", "entity_uuid": "entity"})
    method = _SERVICE + "GetEntityHistory"
    answer = await caller.call(method, clients.graph.GetEntityHistory, request, named)
    return respond(answer)

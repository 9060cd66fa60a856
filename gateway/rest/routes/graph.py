"""`GET /api/graph/…`: an entity's neighbourhood, the entities, and the graph in numbers."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from braid.graph.v1 import query_pb2
from gateway.rest import views
from gateway.rest.answers.graph import Entities, GraphStatus, Neighborhood
from gateway.rest.bounds import Bounds
from gateway.rest.deps import CallerDep, ClientsDep
from gateway.rest.documented import problems
from gateway.rest.fields import rest_name
from gateway.rest.json import JsonAnswer
from gateway.rest.paths import any_text
from gateway.rest.searches import selector
from gateway.rest.values import Instant, Int32

router = APIRouter(prefix="/api/graph", tags=["graph"], responses=problems())

_SERVICE = "/braid.graph.v1.GraphQueryService/"


@router.get("/neighborhood/" + any_text("entity"), response_model=Neighborhood)
async def neighborhood(  # noqa: PLR0917 - FastAPI names them all
    caller: CallerDep,
    clients: ClientsDep,
    entity: Annotated[
        str,
        Bounds(query_pb2.GetNeighborhoodRequest, "entity_name"),
        Path(description="The entity's name, any case; slashes are part of it."),
    ],
    kind: Annotated[
        str,
        Bounds(query_pb2.GetNeighborhoodRequest, "entity_type"),
        Query(alias="type", description="Its type, where several share a name."),
    ] = "",
    limit: Annotated[
        Int32 | None,
        Bounds(query_pb2.GetNeighborhoodRequest, "limit"),
        Query(description="How many neighbours, 1–100. Default 20."),
    ] = None,
    as_of: Annotated[Instant | None, Query(description="Default: now.")] = None,
) -> Response:
    """An entity's direct neighbours and the facts that join them."""
    request = query_pb2.GetNeighborhoodRequest(
        entity_name=entity, entity_type=kind, limit=limit, as_of=selector(as_of)
    )
    answer = await caller.ask(
        _SERVICE + "GetNeighborhood",
        clients.graph.GetNeighborhood,
        request,
        partial(rest_name, names={"entity_name": "entity", "entity_type": "type"}),
    )
    return JsonAnswer(views.neighborhood(answer))


@router.get("/entities", response_model=Entities)
async def entities(  # noqa: PLR0917 - as above
    caller: CallerDep,
    clients: ClientsDep,
    kind: Annotated[
        str,
        Bounds(query_pb2.ListEntitiesRequest, "type"),
        Query(alias="type", description="Only entities of this type."),
    ] = "",
    limit: Annotated[
        Int32 | None,
        Bounds(query_pb2.ListEntitiesRequest, "page_size"),
        Query(description="How many, 1–200. Default 50."),
    ] = None,
    cursor: Annotated[
        str,
        Bounds(query_pb2.ListEntitiesRequest, "page_token"),
        Query(description="`next_cursor` of the page before."),
    ] = "",
    order: Annotated[
        Literal["name", "mentions"], Query(description="By name, or most mentioned first.")
    ] = "name",
    titles: Annotated[
        Literal["include", "exclude", "only"],
        Query(description="What to do with entities that are known only as a document's title."),
    ] = "include",
) -> Response:
    """The entities by name or most mentioned first, in pages that stay stable while others write.

    With `type` or `titles` a page may be short, even empty, before the end: only a null `next_cursor` ends the list.
    """
    request = query_pb2.ListEntitiesRequest(
        type=kind,
        page_size=limit,
        page_token=cursor,
        order_by=query_pb2.EntityOrder.Value(f"ENTITY_ORDER_{order.upper()}"),
        document_titles=query_pb2.DocumentTitles.Value(f"DOCUMENT_TITLES_{titles.upper()}"),
    )
    answer = await caller.ask(_SERVICE + "ListEntities", clients.graph.ListEntities, request)
    return JsonAnswer(
        {
            "entities": [views.listed_entity(entity) for entity in answer.entities],
            "next_cursor": answer.next_page_token or None,
            "total_hint": None,
        }
    )


@router.get("/status", response_model=GraphStatus)
async def status(caller: CallerDep, clients: ClientsDep) -> Response:
    """Counts, the last write, and the state of the indexes."""
    request = query_pb2.GetGraphStatsRequest()
    answer = await caller.ask(_SERVICE + "GetGraphStats", clients.graph.GetGraphStats, request)
    return JsonAnswer(views.graph_stats(answer))

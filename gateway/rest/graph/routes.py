"""`GET /api/graph/…`: neighborhood, entities, status; history, snapshot, diff and paths."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from braid.graph.v1 import history_pb2, query_pb2, structure_pb2
from braid.graph.v1.entities_pb2 import EntitySelector
from gateway.rest.graph.parameters import (
    AsOf,
    Cursor,
    EntityName,
    EntityType,
    EntityUuid,
    KnownAt,
    PageLimit,
    Relation,
    entity_selector,
    graph_name,
    required_entity,
)
from gateway.rest.http.calls import CallerDep, ClientsDep
from gateway.rest.http.request_parsing import any_text
from gateway.rest.http.route_scopes import ScopedRoute
from gateway.rest.mapping.contract_rules import Bounds
from gateway.rest.mapping.field_names import rest_name
from gateway.rest.mapping.field_types import Instant, Int32, PageSize, stamp
from gateway.rest.mapping.message_json import respond
from gateway.rest.mapping.message_schema import shown
from gateway.rest.mapping.openapi import problems
from gateway.rest.mapping.times import RANGE, InstantOrRange, selector, time_selector

router = APIRouter(
    route_class=ScopedRoute, prefix="/api/graph", tags=["graph"], responses=problems()
)

_SERVICE = "/braid.graph.v1.GraphQueryService/"


@router.get(
    "/neighborhood/" + any_text("entity"), responses=shown(query_pb2.GetNeighborhoodResponse)
)
async def get_neighborhood(  # noqa: PLR0917 - FastAPI names them all
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
        Query(description="How many neighbors, 1–100. Default 20."),
    ] = None,
    as_of: Annotated[Instant | None, Query(description="Default: now.")] = None,
) -> Response:
    """An entity's direct neighbors and the facts that join them."""
    request = query_pb2.GetNeighborhoodRequest(
        entity_name=entity, entity_type=kind, limit=limit, time=selector(as_of)
    )
    answer = await caller.call(
        _SERVICE + "GetNeighborhood",
        clients.graph.GetNeighborhood,
        request,
        partial(rest_name, names={"entity_name": "entity", "entity_type": "type"}),
    )
    return respond(answer)


@router.get("/entities", responses=shown(query_pb2.ListEntitiesResponse))
async def list_entities(  # noqa: PLR0917 - as above
    caller: CallerDep,
    clients: ClientsDep,
    kind: Annotated[
        str,
        Bounds(query_pb2.ListEntitiesRequest, "type"),
        Query(alias="type", description="Only entities of this type."),
    ] = "",
    limit: Annotated[
        PageSize,
        Bounds(query_pb2.ListEntitiesRequest, "page_size"),
        Query(description="How many, up to 200; more counts as 200. Default, and 0: 50."),
    ] = 0,
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
    answer = await caller.call(_SERVICE + "ListEntities", clients.graph.ListEntities, request)
    return respond(answer)


@router.get("/status", responses=shown(query_pb2.GetGraphStatsResponse))
async def get_graph_status(caller: CallerDep, clients: ClientsDep) -> Response:
    """Counts, the last write, and the state of the indexes."""
    request = query_pb2.GetGraphStatsRequest()
    answer = await caller.call(_SERVICE + "GetGraphStats", clients.graph.GetGraphStats, request)
    return respond(answer)


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


@router.get("/snapshot", responses=shown(history_pb2.GetSnapshotResponse))
async def get_graph_snapshot(  # noqa: PLR0917 - as above
    caller: CallerDep,
    clients: ClientsDep,
    as_of: Annotated[
        InstantOrRange,
        Query(
            description=f"The time of the snapshot. {RANGE}",
            examples=["2024-04-18", "2024-01-01/2025-01-01"],
        ),
    ],
    entity: EntityName = None,
    entity_type: EntityType = None,
    entity_uuid: EntityUuid = None,
    relation: Relation = "",
    known_at: KnownAt = None,
    limit: PageLimit = 0,
    cursor: Cursor = "",
) -> Response:
    """The facts that held at a time, and on the first page what has changed since."""
    request = history_pb2.GetSnapshotRequest(
        time=time_selector(as_of),
        entity=entity_selector("entity", entity, entity_type, entity_uuid),
        relation_type=relation,
        known_time=stamp(known_at),
        page_size=limit,
        page_token=cursor,
    )
    method = _SERVICE + "GetSnapshot"
    answer = await caller.call(method, clients.graph.GetSnapshot, request, graph_name())
    return respond(answer)


@router.get("/diff", responses=shown(history_pb2.GraphDiff))
async def diff_graph(  # noqa: PLR0917 - as above
    caller: CallerDep,
    clients: ClientsDep,
    before: Annotated[
        InstantOrRange,
        Query(alias="from", description=f"The first time. {RANGE}", examples=["2024-01-01"]),
    ],
    after: Annotated[
        InstantOrRange | None,
        Query(
            alias="to",
            description="The second time, given as the first. Default: now.",
            examples=["2025-01-01"],
        ),
    ] = None,
    entity: EntityName = None,
    entity_type: EntityType = None,
    entity_uuid: EntityUuid = None,
    relation: Relation = "",
    known_at: KnownAt = None,
    limit: Annotated[
        Int32 | None,
        Bounds(history_pb2.DiffGraphRequest, "limit"),
        Query(description="How many of each kind are listed, 1–200. Default 50."),
    ] = None,
) -> Response:
    """What changed between two times: facts added, ended, and replaced by others of the same subject and relation."""
    request = history_pb2.DiffGraphRequest(
        before=time_selector(before),
        after=time_selector(after),
        entity=entity_selector("entity", entity, entity_type, entity_uuid),
        relation_type=relation,
        known_time=stamp(known_at),
        limit=limit,
    )
    named = graph_name({"before": "from", "after": "to"})
    answer = await caller.call(_SERVICE + "DiffGraph", clients.graph.DiffGraph, request, named)
    return respond(answer.diff)


@router.get("/paths", responses=shown(structure_pb2.FindPathsResponse))
async def find_paths(  # noqa: PLR0917 - as above
    caller: CallerDep,
    clients: ClientsDep,
    source: Annotated[
        str | None,
        Bounds(EntitySelector, "name"),
        Query(description="Where paths begin: a name, any case.", examples=["Jonas Weber"]),
    ] = None,
    source_type: EntityType = None,
    source_uuid: EntityUuid = None,
    target: Annotated[
        str | None,
        Bounds(EntitySelector, "name"),
        Query(description="Where they end.", examples=["INC-104"]),
    ] = None,
    target_type: EntityType = None,
    target_uuid: EntityUuid = None,
    max_hops: Annotated[
        Int32 | None,
        Bounds(structure_pb2.FindPathsRequest, "max_hops"),
        Query(description="How many facts long at most, 1–6. Default 4."),
    ] = None,
    limit: Annotated[
        Int32 | None,
        Bounds(structure_pb2.FindPathsRequest, "limit"),
        Query(description="How many paths, 1–20. Default 5."),
    ] = None,
    as_of: AsOf = None,
    include_local: Annotated[
        bool, Query(description="Also go along names that stand in one sentence: hints.")
    ] = False,
) -> Response:
    """The shortest paths between two entities, each named by name (and type) or by uuid."""
    request = structure_pb2.FindPathsRequest(
        source=required_entity("source", source, source_type, source_uuid),
        target=required_entity("target", target, target_type, target_uuid),
        max_hops=max_hops,
        limit=limit,
        time=time_selector(as_of),
        include_local=include_local,
    )
    method = _SERVICE + "FindPaths"
    answer = await caller.call(method, clients.graph.FindPaths, request, graph_name())
    return respond(answer)

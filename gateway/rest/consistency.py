"""`/api/consistency`, `/api/quarantines`: checks and repairs of the space, and what repairs have taken out of it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, ClassVar

from fastapi import APIRouter, Path, Query
from google.protobuf.message import Message
from pydantic import Field
from starlette.responses import Response

from braid.agent.v1 import consistency_pb2
from gateway.rest.http.calls import CallerDep, ClientsDep, UploaderDep
from gateway.rest.http.request_parsing import JSON_BODY_ONLY
from gateway.rest.http.route_scopes import ScopedRoute
from gateway.rest.mapping.contract_rules import Bounds, ContractModel
from gateway.rest.mapping.field_types import Int32, PageSize
from gateway.rest.mapping.message_json import respond
from gateway.rest.mapping.message_schema import shown
from gateway.rest.mapping.openapi import problems

router = APIRouter(
    route_class=ScopedRoute, prefix="/api", tags=["consistency"], responses=problems()
)

_SERVICE = "/braid.agent.v1.ConsistencyService/"
MAX_ITEMS = 500
Listed = Annotated[
    Int32 | None,
    Bounds(consistency_pb2.CheckConsistencyRequest, "max_listed"),
    Query(description="How many of a kind, 0–1,000. Default 100."),
]
Limit = Annotated[
    PageSize,
    Bounds(consistency_pb2.ListQuarantinesRequest, "page_size"),
    Query(description="How many, up to 1,000; more counts as 1,000. Default, and 0: 100."),
]
Cursor = Annotated[
    str,
    Bounds(consistency_pb2.ListQuarantinesRequest, "page_token"),
    Query(description="`next_cursor` of the page before."),
]
QuarantineId = Annotated[
    str,
    Bounds(consistency_pb2.GetQuarantineRequest, "quarantine_id"),
    Path(description="The quarantine's id, as the repair was answered with."),
]


class Restore(ContractModel):
    """What to restore."""

    contract: ClassVar[type[Message]] = consistency_pb2.RestoreQuarantineRequest
    names: ClassVar[Mapping[str, str]] = MappingProxyType({"items": "item_ids"})

    items: list[str] = Field(
        default=[], max_length=MAX_ITEMS, description="Ids of items. Default: all."
    )


@router.get("/consistency", responses=shown(consistency_pb2.ConsistencyReport))
async def check_consistency(
    caller: UploaderDep, clients: ClientsDep, limit: Listed = None
) -> Response:
    """Compares all stores; changes nothing. What unfinished jobs explain is listed as pending."""
    request = consistency_pb2.CheckConsistencyRequest(max_listed=limit)
    method = _SERVICE + "CheckConsistency"
    answer = await caller.call(method, clients.consistency.CheckConsistency, request)
    return respond(answer.report)


@router.post("/consistency", responses=shown(consistency_pb2.ConsistencyReport))
async def repair_consistency(
    caller: UploaderDep,
    clients: ClientsDep,
    limit: Listed = None,
    apply: Annotated[
        bool, Query(description="Repair. Default: only report what would be done.")
    ] = False,
) -> Response:
    """Compares all stores, and with `apply` repairs: what somebody stated is quarantined. Needs the scope `admin`."""
    request = consistency_pb2.RepairConsistencyRequest(max_listed=limit, apply=apply)
    method = _SERVICE + "RepairConsistency"
    answer = await caller.call(method, clients.consistency.RepairConsistency, request)
    return respond(answer.report)


@router.get("/quarantines", responses=shown(consistency_pb2.ListQuarantinesResponse))
async def list_quarantines(
    caller: CallerDep, clients: ClientsDep, limit: Limit = 0, cursor: Cursor = ""
) -> Response:
    """The quarantines, the latest first, in pages. Needs the scope `admin`."""
    request = consistency_pb2.ListQuarantinesRequest(page_size=limit, page_token=cursor)
    method = _SERVICE + "ListQuarantines"
    answer = await caller.call(method, clients.consistency.ListQuarantines, request)
    return respond(answer)


@router.get("/quarantines/{quarantine_id}", responses=shown(consistency_pb2.GetQuarantineResponse))
async def get_quarantine(
    quarantine_id: QuarantineId,
    caller: CallerDep,
    clients: ClientsDep,
    limit: Limit = 0,
    cursor: Cursor = "",
) -> Response:
    """A quarantine and its items, in the order of their restoration, in pages. Needs the scope `admin`."""
    request = consistency_pb2.GetQuarantineRequest(
        quarantine_id=quarantine_id, page_size=limit, page_token=cursor
    )
    method = _SERVICE + "GetQuarantine"
    answer = await caller.call(method, clients.consistency.GetQuarantine, request)
    return respond(answer)


@router.post(
    "/quarantines/{quarantine_id}/restore",
    responses=shown(consistency_pb2.RestoreQuarantineResponse),
    dependencies=[JSON_BODY_ONLY],
)
async def restore_quarantine(
    quarantine_id: QuarantineId,
    caller: UploaderDep,
    clients: ClientsDep,
    body: Restore | None = None,
) -> Response:
    """Restores a quarantine, or some of its items, as they were. Needs the scope `admin`."""
    request = consistency_pb2.RestoreQuarantineRequest(
        quarantine_id=quarantine_id, item_ids=body.items if body else ()
    )
    method = _SERVICE + "RestoreQuarantine"
    answer = await caller.call(method, clients.consistency.RestoreQuarantine, request)
    return respond(answer)


@router.delete(
    "/quarantines/{quarantine_id}", responses=shown(consistency_pb2.PurgeQuarantineResponse)
)
async def purge_quarantine(
    quarantine_id: QuarantineId, caller: UploaderDep, clients: ClientsDep
) -> Response:
    """Deletes a quarantine and its items for good. Needs the scope `admin`."""
    request = consistency_pb2.PurgeQuarantineRequest(quarantine_id=quarantine_id)
    method = _SERVICE + "PurgeQuarantine"
    answer = await caller.call(method, clients.consistency.PurgeQuarantine, request)
    return respond(answer)

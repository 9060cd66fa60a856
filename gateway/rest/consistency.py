"""`/api/consistency`, `/api/quarantines`: checks and repairs of the space, and what repairs have taken out of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Annotated, ClassVar, Literal, TypeAlias

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
from gateway.rest.mapping.json_encoding import Json, JsonResponse, time
from gateway.rest.mapping.openapi import ResponseSchema, problems

InconsistencyName: TypeAlias = Literal[
    "CHUNK_WITHOUT_EPISODE",
    "EPISODE_WITHOUT_CHUNK",
    "UNKNOWN_DOCUMENT",
    "ENTITY_WITHOUT_MENTION",
    "DEAD_JOB",
    "FACT_WITHOUT_DOCUMENT",
    "FACT_WITHOUT_SOURCE",
    "FINDING_WITHOUT_EPISODE",
    "ONTOLOGY_UNREADABLE",
    "MEMORY_WITHOUT_DOCUMENT",
    "DOCUMENT_WITHOUT_MEMORY",
    "SESSION_WITHOUT_SUMMARY",
    "FACT_WITHOUT_EMBEDDING",
    "FINDING_WITHOUT_EMBEDDING",
    "CHUNK_WITHOUT_EMBEDDING",
    "GRAPH_OLDER_THAN_SEEN",
    "UNSPECIFIED",
]
ActionName: TypeAlias = Literal[
    "NONE", "SEND", "QUARANTINE", "REMOVE", "RETRY", "RESTORE", "EMBED", "ACCEPT", "UNSPECIFIED"
]
ItemName: TypeAlias = Literal["FACT", "FINDING", "DOCUMENT", "EPISODE", "UNSPECIFIED"]


class Inconsistency(ResponseSchema):
    """One inconsistency; `document_id` is null if it belongs to no document, `user` if it is no memory."""

    kind: InconsistencyName
    id: str
    document_id: str | None
    user: str | None
    action: ActionName


class InconsistencyCount(ResponseSchema):
    """How many of a kind were found and repaired, and what a repair does with them."""

    kind: InconsistencyName
    found: int
    repaired: int
    action: ActionName


class Consistency(ResponseSchema):
    """Counts of all stores and their inconsistencies; `pending` are differences that unfinished jobs explain."""

    consistent: bool
    chunks: int
    episodes: int
    graph_documents: int
    entities: int
    facts: int
    findings: int
    memories: int
    pending: int
    quarantine_id: str | None
    counts: list[InconsistencyCount]
    listed: list[Inconsistency]


class ItemCount(ResponseSchema):
    """How many items of a kind."""

    kind: ItemName
    count: int


class Quarantine(ResponseSchema):
    """The receipt of a repair: what it took out, and how many items are still quarantined."""

    id: str
    created_at: str
    counts: list[ItemCount]
    items_left: int


class QuarantinedItem(ResponseSchema):
    """A quarantined item with the beginning of its text."""

    id: str
    kind: ItemName
    subject_id: str
    document_id: str | None
    text: str
    quarantined_at: str


class Quarantines(ResponseSchema):
    """A page of quarantines; `next_cursor` is null at the end."""

    quarantines: list[Quarantine]
    next_cursor: str | None


class QuarantineItems(ResponseSchema):
    """A quarantine and a page of its items; `next_cursor` is null at the end."""

    quarantine: Quarantine
    items: list[QuarantinedItem]
    next_cursor: str | None


class Restored(ResponseSchema):
    """What was restored, and the quarantine afterwards."""

    restored: list[ItemCount]
    quarantine: Quarantine


class Purged(ResponseSchema):
    """What was deleted for good."""

    purged: list[ItemCount]


_KIND = {
    v: k.removeprefix("INCONSISTENCY_KIND_") for k, v in consistency_pb2.InconsistencyKind.items()
}
_ACTION = {v: k.removeprefix("REPAIR_ACTION_") for k, v in consistency_pb2.RepairAction.items()}
_ITEM = {
    v: k.removeprefix("QUARANTINED_ITEM_KIND_")
    for k, v in consistency_pb2.QuarantinedItemKind.items()
}


def consistency(report: consistency_pb2.ConsistencyReport) -> Json:
    """Returns counts of all stores and their inconsistencies."""
    return {
        "consistent": report.consistent,
        "chunks": report.chunk_count,
        "episodes": report.episode_count,
        "graph_documents": report.graph_document_count,
        "entities": report.entity_count,
        "facts": report.fact_count,
        "findings": report.finding_count,
        "memories": report.memory_count,
        "pending": report.pending_count,
        "quarantine_id": report.quarantine_id or None,
        "counts": [
            {"kind": _KIND.get(one.kind, "UNSPECIFIED")}
            | {"found": one.found_count, "repaired": one.repaired_count}
            | {"action": _ACTION.get(one.action, "UNSPECIFIED")}
            for one in report.counts
        ],
        "listed": [
            {"kind": _KIND.get(one.kind, "UNSPECIFIED"), "id": one.id}
            | {"document_id": one.document_id or None, "user": one.user_id or None}
            | {"action": _ACTION.get(one.action, "UNSPECIFIED")}
            for one in report.listed
        ],
    }


def quarantine(one: consistency_pb2.Quarantine) -> Json:
    """Returns a quarantine as JSON."""
    return {
        "id": one.id,
        "created_at": time(one, "create_time"),
        "counts": item_counts(one.counts),
        "items_left": one.item_count,
    }


def item_counts(counts: Iterable[consistency_pb2.QuarantinedItemCount]) -> list[Json]:
    """Returns numbers of items as JSON."""
    return [{"kind": _ITEM.get(one.kind, "UNSPECIFIED"), "count": one.count} for one in counts]


def quarantined_item(one: consistency_pb2.QuarantinedItem) -> Json:
    """Returns a quarantined item as JSON."""
    return {
        "id": one.id,
        "kind": _ITEM.get(one.kind, "UNSPECIFIED"),
        "subject_id": one.subject_id,
        "document_id": one.document_id or None,
        "text": one.text,
        "quarantined_at": time(one, "quarantine_time"),
    }


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


@router.get("/consistency", response_model=Consistency)
async def check_consistency(
    caller: UploaderDep, clients: ClientsDep, limit: Listed = None
) -> Response:
    """Compares all stores; changes nothing. What unfinished jobs explain is listed as pending."""
    request = consistency_pb2.CheckConsistencyRequest(max_listed=limit)
    method = _SERVICE + "CheckConsistency"
    answer = await caller.call(method, clients.consistency.CheckConsistency, request)
    return JsonResponse(consistency(answer.report))


@router.post("/consistency", response_model=Consistency)
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
    return JsonResponse(consistency(answer.report))


@router.get("/quarantines", response_model=Quarantines)
async def list_quarantines(
    caller: CallerDep, clients: ClientsDep, limit: Limit = 0, cursor: Cursor = ""
) -> Response:
    """The quarantines, the latest first, in pages. Needs the scope `admin`."""
    request = consistency_pb2.ListQuarantinesRequest(page_size=limit, page_token=cursor)
    method = _SERVICE + "ListQuarantines"
    answer = await caller.call(method, clients.consistency.ListQuarantines, request)
    shown = [quarantine(one) for one in answer.quarantines]
    return JsonResponse({"quarantines": shown, "next_cursor": answer.next_page_token or None})


@router.get("/quarantines/{quarantine_id}", response_model=QuarantineItems)
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
    return JsonResponse(
        {
            "quarantine": quarantine(answer.quarantine),
            "items": [quarantined_item(one) for one in answer.items],
            "next_cursor": answer.next_page_token or None,
        }
    )


@router.post(
    "/quarantines/{quarantine_id}/restore",
    response_model=Restored,
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
    return JsonResponse(
        {"restored": item_counts(answer.restored), "quarantine": quarantine(answer.quarantine)}
    )


@router.delete("/quarantines/{quarantine_id}", response_model=Purged)
async def purge_quarantine(
    quarantine_id: QuarantineId, caller: UploaderDep, clients: ClientsDep
) -> Response:
    """Deletes a quarantine and its items for good. Needs the scope `admin`."""
    request = consistency_pb2.PurgeQuarantineRequest(quarantine_id=quarantine_id)
    method = _SERVICE + "PurgeQuarantine"
    answer = await caller.call(method, clients.consistency.PurgeQuarantine, request)
    return JsonResponse({"purged": item_counts(answer.purged)})

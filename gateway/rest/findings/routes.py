"""`GET /api/findings`: findings, intents and outcomes by a filter in the query string."""

from __future__ import annotations

import re
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from braid.graph.v1 import findings_pb2
from gateway.rest.http.calls import CallerDep, ClientsDep
from gateway.rest.http.route_scopes import ScopedRoute
from gateway.rest.mapping.contract_rules import Bounds
from gateway.rest.mapping.field_names import rest_name
from gateway.rest.mapping.field_types import PageSize
from gateway.rest.mapping.message_json import respond
from gateway.rest.mapping.message_requests import assign, field_type
from gateway.rest.mapping.message_schema import shown
from gateway.rest.mapping.openapi import problems
from services.runtime.errors import FieldError, InvalidFieldError

router = APIRouter(
    route_class=ScopedRoute, prefix="/api/findings", tags=["findings"], responses=problems()
)

_QUERY = "/braid.graph.v1.GraphQueryService/"
_LISTED_NAMES = {
    "about_finding_id": "about_finding",
    "filter": "",
    "kinds": "kind",
    "priorities": "priority",
    "about_entity_name": "about_entity",
    "confidence": "min_confidence",
    "at_least": "",
}


_FILTER: Any = findings_pb2.FindingFilter.DESCRIPTOR.fields_by_name
Kinds: Any = field_type(_FILTER["kinds"], in_json=False)
Priorities: Any = field_type(_FILTER["priorities"], in_json=False)
Origin: Any = field_type(_FILTER["origin"], in_json=False)
_ABOUT_ENTITY = re.compile(r"\babout_entity\.(name|type)\b")


def _listed_name(path: str) -> str:
    return rest_name(_ABOUT_ENTITY.sub(r"about_entity_\1", path), _LISTED_NAMES)


@router.get("", responses=shown(findings_pb2.SearchFindingsResponse))
async def list_findings(  # noqa: PLR0917 - FastAPI names them all
    caller: CallerDep,
    clients: ClientsDep,
    kind: Annotated[
        Kinds | None, Query(description="Only of these kinds; may be repeated.")
    ] = None,
    type_: Annotated[
        str,
        Bounds(findings_pb2.FindingFilter, "type"),
        Query(alias="type", description="Only findings of this type, such as risk."),
    ] = "",
    min_confidence: Annotated[
        float | None,
        Bounds(findings_pb2.FindingDetails, "confidence"),
        Query(description="Only findings at least as sure, 0–1."),
    ] = None,
    status: Annotated[
        str,
        Bounds(findings_pb2.FindingFilter, "status"),
        Query(description="Only intents of this status."),
    ] = "",
    priority: Annotated[
        Priorities | None,
        Query(description="Only intents of these priorities; may be repeated."),
    ] = None,
    owner: Annotated[
        str,
        Bounds(findings_pb2.FindingFilter, "owner"),
        Query(description="Only intents of this owner."),
    ] = "",
    has_blockers: Annotated[
        bool | None, Query(description="Only outcomes with blockers, or everything without any.")
    ] = None,
    about_entity: Annotated[
        str | None,
        Bounds(findings_pb2.FindingSubject, "name"),
        Query(
            description="Only findings about this entity, any case.", examples=["Ledger Service"]
        ),
    ] = None,
    about_entity_type: Annotated[
        str | None,
        Bounds(findings_pb2.FindingSubject, "type"),
        Query(description="Its type, where several share the name."),
    ] = None,
    about_finding: Annotated[
        str,
        Bounds(findings_pb2.FindingFilter, "about_finding_id"),
        Query(description="Only findings about this one, by `id` or uuid."),
    ] = "",
    chunk_id: Annotated[
        str,
        Bounds(findings_pb2.FindingFilter, "chunk_id"),
        Query(description="Only findings from this chunk."),
    ] = "",
    origin: Annotated[Origin | None, Query(description="Given by a caller, or extracted.")] = None,
    limit: Annotated[
        PageSize,
        Bounds(findings_pb2.SearchFindingsRequest, "page_size"),
        Query(description="How many, up to 200; more counts as 200. Default, and 0: 20."),
    ] = 0,
    cursor: Annotated[
        str,
        Bounds(findings_pb2.SearchFindingsRequest, "page_token"),
        Query(description="`next_cursor` of the page before, with the same other parameters."),
    ] = "",
) -> Response:
    """The findings that pass a filter, newest first, in pages. `POST /api/findings/search` takes the whole filter."""
    only = findings_pb2.FindingFilter(
        type=type_,
        status=status,
        owner=owner,
        has_blockers=has_blockers,
        about_entity=_subject(about_entity, about_entity_type),
        about_finding_id=about_finding,
        chunk_id=chunk_id,
    )
    for name, value in (("kinds", kind), ("priorities", priority), ("origin", origin)):
        assign(only, _FILTER[name], value)
    if min_confidence is not None:
        only.confidence.at_least = min_confidence
    request = findings_pb2.SearchFindingsRequest(filter=only, page_size=limit, page_token=cursor)
    method = _QUERY + "SearchFindings"
    answer = await caller.call(method, clients.graph.SearchFindings, request, _listed_name)
    return respond(answer)


def _subject(name: str | None, kind: str | None) -> findings_pb2.FindingSubject | None:
    if name is not None:
        return findings_pb2.FindingSubject(name=name, type=kind or "")
    if kind is not None:
        raise InvalidFieldError(FieldError("about_entity_type", "goes with about_entity only"))
    return None

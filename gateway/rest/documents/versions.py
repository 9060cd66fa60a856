"""`/api/document-versions`: the versions of a document."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from braid.vector.v1 import documents_pb2
from gateway.rest.http.calls import CallerDep, ClientsDep
from gateway.rest.http.route_scopes import ScopedRoute
from gateway.rest.mapping.contract_rules import Bounds
from gateway.rest.mapping.field_names import rest_name
from gateway.rest.mapping.field_types import PageSize
from gateway.rest.mapping.message_json import respond
from gateway.rest.mapping.message_schema import shown
from gateway.rest.mapping.openapi import problems

router = APIRouter(
    route_class=ScopedRoute,
    prefix="/api/document-versions",
    tags=["documents"],
    responses=problems(),
)

_METHOD = "/braid.vector.v1.DocumentService/ListDocumentVersions"
_named = partial(rest_name, names={"page_size": "limit", "page_token": "cursor"})


# Not below /api/documents/{id}, because an id may contain any character and may end with `/versions`.
@router.get("", responses=shown(documents_pb2.ListDocumentVersionsResponse))
async def list_document_versions(
    caller: CallerDep,
    clients: ClientsDep,
    document_id: Annotated[
        str,
        Bounds(documents_pb2.ListDocumentVersionsRequest, "document_id"),
        Query(description="The document's id."),
    ],
    limit: Annotated[
        PageSize,
        Bounds(documents_pb2.ListDocumentVersionsRequest, "page_size"),
        Query(description="How many, at most 200; 0 for the default of 50."),
    ] = 0,
    cursor: Annotated[
        str,
        Bounds(documents_pb2.ListDocumentVersionsRequest, "page_token"),
        Query(description="`next_cursor` of the page before."),
    ] = "",
) -> Response:
    """A document's versions, the latest first, in pages."""
    request = documents_pb2.ListDocumentVersionsRequest(
        document_id=document_id, page_size=limit, page_token=cursor
    )
    answer = await caller.call(_METHOD, clients.documents.ListDocumentVersions, request, _named)
    return respond(answer)

"""`/api/facts`: adding dated facts in bulk, lists as of any time, one fact with its versions, and its end."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from braid.agent.v1.ingest_pb2 import IngestFactsRequest, IngestFactsResponse
from gateway.rest.facts.parameters import FactSource, ReplaceStated
from gateway.rest.facts.requests import (
    FactBody,
    Stated,
    messages,
    read_json,
    read_lines,
    rest_name_of,
)
from gateway.rest.http.calls import ClientsDep, UploaderDep
from gateway.rest.http.request_parsing import is_json, media_type, parse_in_thread
from gateway.rest.http.route_scopes import ScopedRoute
from gateway.rest.mapping.contract_rules import Bounds
from gateway.rest.mapping.field_types import LAST_EXACT_INT
from gateway.rest.mapping.message_json import respond
from gateway.rest.mapping.message_schema import shown
from gateway.rest.mapping.openapi import problems
from services.runtime.errors import FieldError, InvalidFieldError

router = APIRouter(
    route_class=ScopedRoute, prefix="/api/facts", tags=["facts"], responses=problems()
)

_METHOD = "/braid.agent.v1.IngestService/IngestFacts"
_LINES = ("application/jsonl", "application/x-ndjson", "application/jsonlines")
_FACT = FactBody.model_json_schema()
_BODY = {
    "required": True,
    "content": {
        "application/json": {
            "schema": {
                "type": "object",
                "required": ["facts"],
                "additionalProperties": False,
                "properties": {"facts": {"type": "array", "items": _FACT}},
            }
        },
        "application/jsonl": {"schema": {"type": "string", "description": "One fact a line."}},
    },
}


@router.post("", responses=shown(IngestFactsResponse), openapi_extra={"requestBody": _BODY})
async def add_facts(  # noqa: PLR0917 - FastAPI names them all
    request: Request,
    caller: UploaderDep,
    clients: ClientsDep,
    source: FactSource = "",
    replace: ReplaceStated = False,
    more_follows: Annotated[
        bool,
        Query(
            description="More requests state the rest of the source: only the last one compares."
        ),
    ] = False,
    first_revision: Annotated[
        int,
        Bounds(IngestFactsRequest, "first_revision"),
        Query(
            ge=0,
            le=LAST_EXACT_INT,
            description="For the second and later requests of one source: `first_revision` of the answer before.",
        ),
    ] = 0,
) -> Response:
    """Adds facts given as `{"facts": […]}` or one a line; known ones stay as they are, refused ones are listed.

    With a `source` the answer also lists what the source stated in earlier requests and does not state now.
    """
    caller.require(_METHOD)
    kind = media_type(request)
    if not is_json(kind) and kind not in _LINES:
        description = "must be application/json or application/jsonl"
        raise InvalidFieldError(FieldError("Content-Type", description))
    read = read_lines if kind in _LINES else read_json
    facts = await parse_in_thread(read, await request.body())
    named = rest_name_of(facts)
    stated = Stated(source, replace, more_follows, first_revision)
    answer = await caller.call(_METHOD, clients.ingest.IngestFacts, messages(facts, stated), named)
    return respond(answer)

"""`POST /api/facts`: dated facts in bulk, without a language model."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from gateway.rest import views
from gateway.rest.answers.graph import FactsTaken
from gateway.rest.bodies import is_json, media_type, parsed
from gateway.rest.deps import ClientsDep, UploaderDep
from gateway.rest.documented import problems
from gateway.rest.facts import FactBody, messages, read_json, read_lines, rest_name_of
from gateway.rest.json import JsonAnswer
from services.runtime.errors import FieldError, InvalidFieldError

router = APIRouter(prefix="/api/facts", tags=["facts"], responses=problems())

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


@router.post("", response_model=FactsTaken, openapi_extra={"requestBody": _BODY})
async def add(request: Request, caller: UploaderDep, clients: ClientsDep) -> Response:
    """Adds facts given as `{"facts": […]}` or one a line; known ones stay as they are, refused ones are listed."""
    caller.require(_METHOD)
    kind = media_type(request)
    if not is_json(kind) and kind not in _LINES:
        told = "must be application/json or application/jsonl"
        raise InvalidFieldError(FieldError("Content-Type", told))
    read = read_lines if kind in _LINES else read_json
    facts = await parsed(read, await request.body())
    named = rest_name_of(facts)
    answer = await caller.ask(_METHOD, clients.ingest.IngestFacts, messages(facts), named)
    return JsonAnswer(views.facts_taken(answer))

"""`/api/chat`: questions, their events, and cancellation."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Path
from starlette.responses import Response

from braid.agent.v1 import agent_pb2
from gateway.rest.chat.requests import Chat
from gateway.rest.chat.responses import ChatAnswer
from gateway.rest.chat.runs import SERVICE, ask_and_collect
from gateway.rest.http.calls import AskerDep, ClientsDep, SettingsDep
from gateway.rest.http.event_stream import stream
from gateway.rest.http.request_parsing import JSON_BODY_ONLY
from gateway.rest.http.route_scopes import ScopedRoute
from gateway.rest.mapping.contract_rules import Bounds
from gateway.rest.mapping.json_encoding import JsonResponse, time
from gateway.rest.mapping.message_json import to_json
from gateway.rest.mapping.message_schema import event_schema
from gateway.rest.mapping.openapi import EVENT_STREAM, event_stream, events, problems
from services.runtime.errors import FieldError, InvalidFieldError

router = APIRouter(route_class=ScopedRoute, prefix="/api/chat", tags=["chat"], responses=problems())

_EVENTS = (
    "Events `started`, `tool_call`, `tool_result`, `leg_status`, `text`, `citation`, `usage` and `notice` as they "
    "happen; `done` or `error` last. `GET /api/chat/{run_id}/events` with `Last-Event-ID` goes on after an event."
)
RunId = Annotated[
    str,
    Bounds(agent_pb2.StreamRunEventsRequest, "run_id"),
    Path(description="The run's id, as its event `started` has it."),
]
_MAX_EVENT_ID = 2**63 - 1


@router.post(
    "",
    response_model=ChatAnswer,
    responses={200: {"content": event_stream(event_schema(agent_pb2.RunEvent))}},
    dependencies=[JSON_BODY_ONLY],
)
async def ask_question(
    body: Chat,
    caller: AskerDep,
    clients: ClientsDep,
    settings: SettingsDep,
    accept: Annotated[str, Header(include_in_schema=False)] = "",
) -> Response:
    """Answers a question with its sources: at once, or with `stream` or `Accept: text/event-stream` as events."""
    if body.stream or EVENT_STREAM in accept:
        request = body.request(cancel_on_disconnect=False)
        call = caller.open(SERVICE + "Ask", clients.agent.Ask, request)
        return await stream(caller, call, _shown, heartbeat=settings.heartbeat_seconds)
    whole = await ask_and_collect(caller, clients, body.request(cancel_on_disconnect=True))
    return JsonResponse(whole.answer())


@router.get(
    "/{run_id}/events",
    response_class=Response,
    responses=events(_EVENTS, event_schema(agent_pb2.RunEvent)),
)
async def follow_run(
    run_id: RunId,
    caller: AskerDep,
    clients: ClientsDep,
    settings: SettingsDep,
    last_event_id: Annotated[
        str, Header(description="Only events after this one. Default: from the first.")
    ] = "",
) -> Response:
    """The events of a run after a given one, those to come included."""
    request = agent_pb2.StreamRunEventsRequest(
        run_id=run_id, after_event_id=_event_id(last_event_id)
    )
    call = caller.open(SERVICE + "StreamRunEvents", clients.agent.StreamRunEvents, request)
    return await stream(caller, call, _shown, heartbeat=settings.heartbeat_seconds)


def _shown(answer: Any) -> tuple[str, dict[str, Any], str]:
    event = answer.event
    kind = event.WhichOneof("event")
    created = {"created_at": time(event, "create_time")}
    return kind, to_json(getattr(event, kind)) | created, str(event.id)


def _event_id(text: str) -> int:
    if not text:
        return 0
    if not (text.isascii() and text.isdecimal()) or int(text[:20]) > _MAX_EVENT_ID:
        raise InvalidFieldError(FieldError("Last-Event-ID", "must be the id of an event"))
    return int(text[:20])

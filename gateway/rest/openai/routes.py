"""`POST /v1/chat/completions` and `GET /v1/models`, as OpenAI's clients call them."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Path, Request
from fastapi.sse import format_sse_event
from starlette.responses import Response

from braid.agent.v1 import agent_pb2
from gateway.rest.chat.runs import SERVICE, failure, run_events
from gateway.rest.http.calls import AskerDep, CallerDep, ClientsDep
from gateway.rest.http.event_stream import EventStream
from gateway.rest.http.request_parsing import JSON_BODY_ONLY
from gateway.rest.http.route_scopes import ScopedRoute
from gateway.rest.mapping.field_names import renamed
from gateway.rest.mapping.json_encoding import JsonResponse, encode
from gateway.rest.mapping.openapi import problems
from gateway.rest.openai.completions import Completion
from gateway.rest.openai.errors import ModelNotFoundError, OpenAIProblem, openai_error
from gateway.rest.openai.requests import MODELS, ChatCompletion, renamed_field
from services.runtime.errors import BraidError, NotFoundError

if TYPE_CHECKING:
    from gateway.rest.http.calls import Caller

_RESPONSES = problems(body=OpenAIProblem)
# OpenAI's status for wrong fields, whatever else it stands for.
_RESPONSES[400] = {**_RESPONSES[400], **_RESPONSES[422]}

router = APIRouter(route_class=ScopedRoute, prefix="/v1", tags=["openai"], responses=_RESPONSES)

# Documented as an enum; other names are models that are not found.
ModelName = Annotated[str, Path(json_schema_extra={"enum": list(MODELS)})]
_DONE = b"data: [DONE]\n\n"
# Creation time of the models, by which clients sort.
_CREATED = 1_795_478_400


@router.post("/chat/completions", dependencies=[JSON_BODY_ONLY], response_class=Response)
async def create_chat_completion(
    body: ChatCompletion, request: Request, caller: AskerDep, clients: ClientsDep
) -> Response:
    """Answers the last message with its sources, at once or as chunks (`stream`)."""
    if body.model not in MODELS:
        raise ModelNotFoundError(body.model)
    message = body.message()
    base_url = str(request.base_url).rstrip("/")
    completion = Completion(body.model, body.prompt, base_url, int(time.time()), body.text_limit())
    call = caller.open(SERVICE + "Ask", clients.agent.Ask, message)
    if body.stream:
        include_usage = bool(body.stream_options and body.stream_options.include_usage)
        return await _streamed(caller, call, completion, include_usage=include_usage)
    async with (
        caller.cancel_on_disconnect(call.cancel),
        aclosing(run_events(caller, call)) as events,
    ):
        try:
            async for event in events:
                _take(completion, event)
        except BraidError as error:
            raise renamed(error, renamed_field) from None
    return JsonResponse(completion.whole())


@router.post("/responses", response_class=Response, include_in_schema=False)
async def create_response(caller: CallerDep) -> Response:
    """Says which route to use instead."""
    caller.require(SERVICE + "Ask")
    raise NotFoundError("route", "There is no /v1/responses: use POST /v1/chat/completions.")


@router.get("/models", response_class=Response)
async def list_chat_models(caller: CallerDep) -> Response:
    """The models: each is a choice of tools."""
    caller.require(SERVICE + "Ask")
    return JsonResponse({"object": "list", "data": [_model(name) for name in MODELS]})


@router.get("/models/{model}", response_class=Response)
async def get_chat_model(model: ModelName, caller: CallerDep) -> Response:
    """One model."""
    caller.require(SERVICE + "Ask")
    if model not in MODELS:
        raise ModelNotFoundError(model)
    return JsonResponse(_model(model))


async def _streamed(
    caller: Caller, call: Any, completion: Completion, *, include_usage: bool
) -> EventStream:
    """Waits for the start of the run, so that an immediate error is answered by its status."""
    chunks = _chunks(caller, call, completion, include_usage=include_usage)
    async with caller.cancel_on_disconnect(call.cancel):
        try:
            first = await anext(chunks)
        except BraidError as error:
            raise renamed(error, renamed_field) from None
    return EventStream(first, _with_failures(chunks))


async def _chunks(
    caller: Caller, call: Any, completion: Completion, *, include_usage: bool
) -> AsyncGenerator[bytes]:
    async with aclosing(run_events(caller, call)) as events:
        async for event in events:
            _take(completion, event)
            match event.WhichOneof("event"):
                case "started":
                    yield _sent(completion.first())
                case "text":
                    if (chunk := completion.text(event.text)) is not None:
                        yield _sent(chunk)
                case "done":
                    yield _sent(completion.last())
    if include_usage:
        yield _sent(completion.usage_chunk())
    yield _DONE


async def _with_failures(chunks: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
    """Reports a failure as a chunk, because the status has already been sent."""
    async with aclosing(chunks):
        try:
            async for chunk in chunks:
                yield chunk
        except BraidError as error:
            yield _sent(openai_error(error))


def _take(completion: Completion, event: agent_pb2.RunEvent) -> None:
    if event.WhichOneof("event") == "error":
        raise failure(event.error)
    completion.take(event)


def _sent(chunk: dict[str, Any]) -> bytes:
    return format_sse_event(data_str=encode(chunk).decode())


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": _CREATED, "owned_by": "braid"}

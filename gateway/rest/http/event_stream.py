"""Server-Sent Events: the answers of a stream, heartbeats in between, and an `error` event if it fails."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any

import grpc
from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event
from starlette.responses import Response

from gateway.rest.http.calls import wait_for_disconnect
from gateway.rest.http.errors import body_of
from gateway.rest.mapping.field_names import rest_name
from gateway.rest.mapping.json_encoding import encode
from gateway.rest.mapping.openapi import EVENT_STREAM
from services.runtime.errors import BraidError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from starlette.types import Receive, Scope, Send

    from gateway.rest.http.calls import Caller
    from gateway.rest.mapping.field_names import Named

    Show = Callable[[Any], tuple[str, dict[str, Any]] | tuple[str, dict[str, Any], str]]


class EventStream(Response):
    """Sends events until they end or the client disconnects; then ends the call behind them."""

    media_type = EVENT_STREAM

    def __init__(self, first: bytes, rest: AsyncGenerator[bytes]) -> None:
        super().__init__(headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._first = first
        self._rest = rest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - ASGI
        sending = asyncio.create_task(self._send(send))
        hanging_up = asyncio.create_task(wait_for_disconnect(receive))
        try:
            await asyncio.wait((sending, hanging_up), return_when=asyncio.FIRST_COMPLETED)
            if sending.done():
                sending.result()
        finally:
            sending.cancel()
            hanging_up.cancel()
            await asyncio.gather(sending, hanging_up, return_exceptions=True)

    async def _send(self, send: Send) -> None:
        headers = self.raw_headers
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": self._first, "more_body": True})
        async with aclosing(self._rest) as rest:
            async for event in rest:
                await send({"type": "http.response.body", "body": event, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def stream(
    caller: Caller, call: Any, show: Show, *, heartbeat: float, named: Named = rest_name
) -> EventStream:
    """Returns the answers of a streaming call as events. `show` returns an answer's event name, data, and id if any.

    Waits for the first answer up to `heartbeat` seconds, so that an immediate error is answered by its status, with
    its fields under the names of `named`.
    """
    answers = _answers(caller, call, show, heartbeat, named)
    async with caller.cancel_on_disconnect(call.cancel):
        first = await anext(answers)
    return EventStream(first, _with_error_event(caller, answers))


async def _answers(
    caller: Caller, call: Any, show: Show, heartbeat: float, named: Named
) -> AsyncGenerator[bytes]:
    reading: asyncio.Task[Any] | None = None
    try:
        while True:
            reading = reading or asyncio.ensure_future(call.read())
            await asyncio.wait((reading,), timeout=heartbeat)
            if not reading.done():
                yield KEEPALIVE_COMMENT
                continue
            answer, reading = reading.result(), None
            if answer is grpc.aio.EOF:
                return
            yield event(*show(answer))
    except grpc.aio.AioRpcError as error:
        raise caller.error_of(error, named) from None
    finally:
        call.cancel()
        if reading is not None:
            reading.cancel()
            with suppress(asyncio.CancelledError, grpc.aio.AioRpcError):
                await reading


async def _with_error_event(
    caller: Caller, answers: AsyncGenerator[bytes]
) -> AsyncGenerator[bytes]:
    """Reports a failure as an event, because the status has already been sent."""
    async with aclosing(answers):
        try:
            async for answer in answers:
                yield answer
        except BraidError as error:
            yield event("error", body_of(error, caller.state.request_id))


def event(name: str, data: dict[str, Any], event_id: str | None = None) -> bytes:
    """Encodes one event."""
    return format_sse_event(event=name, data_str=encode(data).decode(), id=event_id)

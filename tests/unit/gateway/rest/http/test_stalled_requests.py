"""A client that stalls before the end of its body gets a timeout; after the end it may be silent."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from gateway.rest.http.calls import wait_for_disconnect
from gateway.rest.http.errors import StalledError
from gateway.rest.http.middleware import RequestMiddleware
from services.runtime.identity import Authenticator

PART: Message = {"type": "http.request", "body": b"a", "more_body": True}
END: Message = {"type": "http.request", "body": b"b", "more_body": False}
GONE: Message = {"type": "http.disconnect"}
# More event-loop iterations than an expired timer needs to fire.
LOOP_ITERATIONS = 20


class Client:
    """Sends messages immediately, then nothing for a while or forever."""

    def __init__(self, *messages: Message, at_last: Message | None = None) -> None:
        self._messages = list(messages)
        self._at_last = at_last

    async def receive(self) -> Message:
        """Returns the next message."""
        if self._messages:
            return self._messages.pop(0)
        if self._at_last is None:
            await asyncio.Event().wait()
        for _ in range(LOOP_ITERATIONS):
            await asyncio.sleep(0)
        assert self._at_last is not None
        return self._at_last


async def send_through_middleware(
    app: Callable[[Receive], Awaitable[None]], client: Client
) -> list[Any]:
    """Returns the messages sent to a client by middleware with an idle timeout of 0 in front of `app`."""
    sent: list[Message] = []

    async def inside(scope: Scope, receive: Receive, send: Send) -> None:
        await app(receive)

    async def send(message: Message) -> None:
        sent.append(message)

    authenticator = Authenticator(None, allow_local=True)
    middleware = RequestMiddleware(
        inside, authenticator=authenticator, body_limit=lambda _path: 10, idle_seconds=0
    )
    scope = {"type": "http", "method": "POST", "path": "/", "headers": []}
    await middleware(scope, client.receive, send)
    return sent


@pytest.mark.parametrize("messages", [(), (PART,), (PART, PART)])
async def test_a_stalled_body_gets_a_408_and_the_connection_is_closed(
    messages: tuple[Message, ...],
) -> None:
    async def read(receive: Receive) -> None:
        await Request({"type": "http"}, receive).body()

    start, body = await send_through_middleware(read, Client(*messages))
    headers = dict(start["headers"])
    problem = json.loads(body["body"])
    assert (start["status"], headers[b"connection"]) == (408, b"close")
    assert (problem["reason"], problem["request_id"]) == (
        "REQUEST_TIMEOUT",
        headers[b"x-request-id"].decode(),
    )
    assert problem["detail"]


async def test_silence_after_the_end_of_a_body_is_allowed() -> None:
    seen: list[Message] = []

    async def read(receive: Receive) -> None:
        for _ in range(3):
            seen.append(await receive())

    await send_through_middleware(read, Client(PART, END, at_last=GONE))
    assert seen == [PART, END, GONE]


async def test_waiting_for_a_disconnect_survives_a_stalled_body() -> None:
    stalled = 0

    async def wait(receive: Receive) -> None:
        async def counted() -> Message:
            nonlocal stalled
            try:
                return await receive()
            except StalledError:
                stalled += 1
                raise

        await wait_for_disconnect(counted)

    assert await send_through_middleware(wait, Client(PART, at_last=GONE)) == []
    assert stalled == 1


async def test_an_unread_body_that_is_too_large_does_not_end_a_wait_for_a_disconnect() -> None:
    large: Message = {**PART, "body": b"x" * 11}
    assert (
        await send_through_middleware(wait_for_disconnect, Client(large, END, END, at_last=GONE))
        == []
    )


async def test_a_cancelled_wait_for_a_disconnect_keeps_the_idle_timeout() -> None:
    async def read(receive: Receive) -> None:
        waiting = asyncio.create_task(wait_for_disconnect(receive))
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await Request({"type": "http"}, receive).body()

    start, _ = await send_through_middleware(read, Client(PART))
    assert start["status"] == 408

"""A client that falls silent before its body's end is answered; one whose body has ended may be silent."""

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
# More often than a timer that has run out needs to be seen.
TURNS = 20


class Client:
    """Sends messages at once, and after them nothing for a while, or ever."""

    def __init__(self, *messages: Message, at_last: Message | None = None) -> None:
        self._messages = list(messages)
        self._at_last = at_last

    async def receive(self) -> Message:
        """The next message."""
        if self._messages:
            return self._messages.pop(0)
        if self._at_last is None:
            await asyncio.Event().wait()
        for _ in range(TURNS):
            await asyncio.sleep(0)
        assert self._at_last is not None
        return self._at_last


async def behind_the_door(app: Callable[[Receive], Awaitable[None]], client: Client) -> list[Any]:
    """What a door that bears no silence at all answers a client with, which is let in to `app`."""
    sent: list[Message] = []

    async def inside(scope: Scope, receive: Receive, send: Send) -> None:
        await app(receive)

    async def send(message: Message) -> None:
        sent.append(message)

    authenticator = Authenticator(None, allow_local=True)
    door = RequestMiddleware(
        inside, authenticator=authenticator, body_limit=lambda _path: 10, idle_seconds=0
    )
    scope = {"type": "http", "method": "POST", "path": "/", "headers": []}
    await door(scope, client.receive, send)
    return sent


@pytest.mark.parametrize("messages", [(), (PART,), (PART, PART)])
async def test_silence_before_a_bodys_end_is_answered_and_the_connection_closed(
    messages: tuple[Message, ...],
) -> None:
    async def read(receive: Receive) -> None:
        await Request({"type": "http"}, receive).body()

    start, body = await behind_the_door(read, Client(*messages))
    headers = dict(start["headers"])
    problem = json.loads(body["body"])
    assert (start["status"], headers[b"connection"]) == (408, b"close")
    assert (problem["reason"], problem["request_id"]) == (
        "REQUEST_TIMEOUT",
        headers[b"x-request-id"].decode(),
    )
    assert problem["detail"]


async def test_silence_after_a_bodys_end_is_none_of_the_doors_business() -> None:
    seen: list[Message] = []

    async def read(receive: Receive) -> None:
        for _ in range(3):
            seen.append(await receive())

    await behind_the_door(read, Client(PART, END, at_last=GONE))
    assert seen == [PART, END, GONE]


async def test_who_waits_for_a_client_to_hang_up_does_not_mind_a_body_that_never_ends() -> None:
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

    assert await behind_the_door(wait, Client(PART, at_last=GONE)) == []
    assert stalled == 1


async def test_a_large_body_that_no_route_asked_for_does_not_end_a_wait() -> None:
    large: Message = {**PART, "body": b"x" * 11}
    assert await behind_the_door(wait_for_disconnect, Client(large, END, END, at_last=GONE)) == []


async def test_a_wait_that_was_broken_off_leaves_the_body_watched() -> None:
    async def read(receive: Receive) -> None:
        waiting = asyncio.create_task(wait_for_disconnect(receive))
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await Request({"type": "http"}, receive).body()

    start, _ = await behind_the_door(read, Client(PART))
    assert start["status"] == 408

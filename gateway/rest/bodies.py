"""Requests' bodies on their way into what routes work with."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

Read = TypeVar("Read")
Raw = TypeVar("Raw", bytes, bytearray)
# Longer ones may take more than a few milliseconds to read, for which every other request would wait.
MOST_AT_ONCE = 16 * 1024


async def parsed(read: Callable[[Raw], Read], body: Raw) -> Read:
    """What `read` makes of the body: a long one beside the event loop, in a thread. Raises what `read` raises.

    Others go on only between the steps of `read`: a parser keeps the interpreter to itself until it has all of a text
    (`long_text` parts one).
    """
    if len(body) <= MOST_AT_ONCE:
        return read(body)
    return await asyncio.to_thread(read, body)


async def whole(request: Request) -> bytearray:
    """A request's body, in one place as it arrives: to join its parts at the end would take a while for a long one."""
    body = bytearray()
    async for part in request.stream():
        body += part
    return body

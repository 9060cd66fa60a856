"""Requests' bodies on their way into what routes work with."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, TypeVar

from fastapi import Depends, Request

from services.runtime.errors import FieldError, InvalidFieldError

if TYPE_CHECKING:
    from collections.abc import Callable

Read = TypeVar("Read")
Raw = TypeVar("Raw", bytes, bytearray)
# Longer ones may take more than a few milliseconds to read, for which every other request would wait.
MOST_AT_ONCE = 16 * 1024
_JSON = re.compile(r"application/(?:[^/,\s]+\+)?json")


def media_type(request: Request) -> str:
    """What the caller says its body is, without parameters; empty where nothing is said."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def is_json(kind: str) -> bool:
    """Whether a media type is of JSON."""
    return _JSON.fullmatch(kind) is not None


async def _check_json(request: Request) -> None:
    # FastAPI leaves such a body as bytes, and would tell of those that they are no object.
    if not is_json(media_type(request)) and await request.body():
        raise InvalidFieldError(FieldError("Content-Type", "must be application/json"))


# For routes whose body FastAPI reads: one of another type is refused by its name.
JSON_ALONE = Depends(_check_json)


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

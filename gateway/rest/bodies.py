"""Requests' bodies on their way into what routes work with."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

Read = TypeVar("Read")
# Longer ones take more than a few milliseconds to read, for which every other request would wait.
MOST_AT_ONCE = 256 * 1024


async def parsed(read: Callable[[bytes], Read], body: bytes) -> Read:
    """What `read` makes of the body: a long one beside the event loop, in a thread. Raises what `read` raises.

    For bodies of many values with checks of their own, such as facts: others go on between those. What is one long text
    gains nothing, since the parser keeps the interpreter to itself until it has all of it.
    """
    if len(body) <= MOST_AT_ONCE:
        return read(body)
    return await asyncio.to_thread(read, body)

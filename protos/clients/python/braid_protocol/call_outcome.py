"""How a call ended, also where gRPC loses it: its server ends the call while a message of it is on its way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import grpc

from braid_protocol.errors import is_not_sent

if TYPE_CHECKING:
    from collections.abc import Coroutine

_T = TypeVar("_T")


async def outcome_of(
    call: grpc.aio.StreamUnaryCall[Any, _T] | grpc.aio.UnaryUnaryCall[Any, _T],
) -> _T:
    """The answer of a call that was just started; AioRpcError with the status that the server gave it.

    A message that cannot be sent any more writes its own error over the status of its call (grpc/aio/_call.py,
    `_write`). The call tells of each status that it is given, so that the server's own can be kept.
    """
    given: list[grpc.aio.AioRpcError] = []
    call.add_done_callback(lambda ended: given.append(_status_of(ended)))
    try:
        return await call
    except grpc.aio.AioRpcError as error:
        raise next((status for status in given if not is_not_sent(status)), error) from None


def _status_of(ended: grpc.aio.Call) -> grpc.aio.AioRpcError:
    """A call's status at this very moment: a task would come to it after it was written over."""
    return grpc.aio.AioRpcError(
        _known(ended.code()),
        grpc.aio.Metadata(),
        _known(ended.trailing_metadata()),
        details=_known(ended.details()),
    )


def _known(value: Coroutine[Any, Any, _T]) -> _T:
    """What a coroutine returns that has nothing to wait for: a call that has ended knows its status."""
    try:
        value.send(None)
    except StopIteration as returned:
        known: _T = returned.value
        return known
    raise RuntimeError("the call has not ended")

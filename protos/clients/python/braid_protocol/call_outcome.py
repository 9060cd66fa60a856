"""The outcome of a call, also if gRPC loses it because the server ends the call while a request is being sent."""

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
    """Returns the answer of a call that was just started. Raises AioRpcError with the status from the server.

    A message that can no longer be sent overwrites the status of its call with its own error (grpc/aio/_call.py,
    `_write`). The call notifies callbacks of each status that is set, so that the server's status can be recorded.
    """
    given: list[grpc.aio.AioRpcError] = []
    call.add_done_callback(lambda ended: given.append(_status_of(ended)))
    try:
        return await call
    except grpc.aio.AioRpcError as error:
        raise next((status for status in given if not is_not_sent(status)), error) from None


def _status_of(ended: grpc.aio.Call) -> grpc.aio.AioRpcError:
    """Returns a call's current status without yielding to the loop: later the status would be overwritten."""
    return grpc.aio.AioRpcError(
        _known(ended.code()),
        grpc.aio.Metadata(),
        _known(ended.trailing_metadata()),
        details=_known(ended.details()),
    )


def _known(value: Coroutine[Any, Any, _T]) -> _T:
    """Returns the result of a coroutine that does not suspend: a call that has ended knows its status."""
    try:
        value.send(None)
    except StopIteration as returned:
        known: _T = returned.value
        return known
    raise RuntimeError("the call has not ended")

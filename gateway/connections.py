"""HTTP connections within bounds: one that sends nothing is closed, and idle ones make room for those that ask."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

if TYPE_CHECKING:
    from asyncio.events import TimerHandle

_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class ConnectionLimits:
    """What the connections of a server share: limits, and which of them are idle.

    A connection has `head_seconds` to send a whole request head of up to `head_bytes`. Beyond `max_connections` a new
    one takes the place of the one that has been idle the longest; where all are busy, it is closed.
    """

    def __init__(
        self, *, max_connections: int, head_seconds: float, head_bytes: int = 64 * 1024
    ) -> None:
        self.head_seconds = head_seconds
        self.head_bytes = head_bytes
        self._max_connections = max_connections
        self._idle: OrderedDict[BoundedConnection, None] = OrderedDict()

    def protocol(self, **parts: Any) -> BoundedConnection:
        """What uvicorn makes of a new connection."""
        return BoundedConnection(self, **parts)

    def make_room(self, connections: int) -> bool:
        """Whether one more connection than `connections` may stay."""
        if connections < self._max_connections:
            return True
        if not self._idle:
            return False
        oldest, _ = self._idle.popitem(last=False)
        oldest.transport.abort()
        return True

    def set_idle(self, connection: BoundedConnection) -> None:
        """Nothing is asked of the connection from now on."""
        self._idle[connection] = None

    def set_busy(self, connection: BoundedConnection) -> None:
        """A request came, or the connection has ended."""
        self._idle.pop(connection, None)


class BoundedConnection(HttpToolsProtocol):
    """One connection."""

    def __init__(self, limits: ConnectionLimits, **parts: Any) -> None:
        super().__init__(**parts)
        self._limits = limits
        self._head_timer: TimerHandle | None = None
        self._head_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Waits for a request, if there is room."""
        if not self._limits.make_room(len(self.connections)):
            transport.abort()
            return
        super().connection_made(transport)
        self._limits.set_idle(self)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forgets the connection."""
        self._end_head()
        self._limits.set_busy(self)
        if self.transport is not None:
            super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Reads a part of a request. A head that is too large is answered, and the connection closed."""
        if self.transport is None:
            return
        if self._head_timer is None and (self.cycle is None or self.cycle.response_complete):
            self._await_head()
        if self._head_timer is not None:
            self._head_bytes += len(data)
        super().data_received(data)
        if self._head_timer is not None and self._head_bytes > self._limits.head_bytes:
            self._end_head()
            self.transport.write(_TOO_LARGE)
            self.transport.close()

    def on_headers_complete(self) -> None:
        """A request is known: it has the time and the size that its route gives it."""
        self._end_head()
        self._limits.set_busy(self)
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """Idle again, unless another request is waiting."""
        super().on_response_complete()
        if not self.transport.is_closing() and self.cycle.response_complete:
            self._limits.set_idle(self)

    def _await_head(self) -> None:
        self._head_bytes = 0
        self._head_timer = self.loop.call_later(self._limits.head_seconds, self._close_late_head)

    def _end_head(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _close_late_head(self) -> None:
        self._head_timer = None
        if not self.transport.is_closing():
            self.transport.close()

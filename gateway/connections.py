"""Limits of HTTP connections: silent connections are closed, and idle ones are replaced by new ones."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

if TYPE_CHECKING:
    from asyncio.events import TimerHandle

_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class ConnectionLimits:
    """State that a server's connections share: limits, and which connections are idle.

    A connection has `head_seconds` to send a whole request head of up to `head_bytes`. Beyond `max_connections` a new
    connection replaces the one that has been idle the longest; if all are busy, the new one is closed.
    """

    def __init__(
        self, *, max_connections: int, head_seconds: float, head_bytes: int = 64 * 1024
    ) -> None:
        self.head_seconds = head_seconds
        self.head_bytes = head_bytes
        self._max_connections = max_connections
        self._idle: OrderedDict[BoundedConnection, None] = OrderedDict()

    def protocol(self, **parts: Any) -> BoundedConnection:
        """Returns uvicorn's protocol for a new connection."""
        return BoundedConnection(self, **parts)

    def make_room(self, connections: int) -> bool:
        """Whether a new connection may remain open; closes an idle connection if necessary."""
        if connections < self._max_connections:
            return True
        if not self._idle:
            return False
        oldest, _ = self._idle.popitem(last=False)
        oldest.transport.abort()
        return True

    def set_idle(self, connection: BoundedConnection) -> None:
        """Marks the connection as idle."""
        self._idle[connection] = None

    def set_busy(self, connection: BoundedConnection) -> None:
        """Marks the connection as not idle: it has a request, or has ended."""
        self._idle.pop(connection, None)


class BoundedConnection(HttpToolsProtocol):
    """One connection."""

    def __init__(self, limits: ConnectionLimits, **parts: Any) -> None:
        super().__init__(**parts)
        self._limits = limits
        self._head_timer: TimerHandle | None = None
        self._head_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Starts to wait for a request, or closes the connection if the limit is reached."""
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
        """Reads a part of a request. Answers a head that is too large with an error, and closes the connection."""
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
        """Ends the limits of the head; from here the limits of the route apply."""
        self._end_head()
        self._limits.set_busy(self)
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """Marks the connection as idle, unless another request is waiting."""
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

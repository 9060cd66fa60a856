"""What every method of the asyncio client stands on: channels, deadlines and typed errors."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

import grpc

from braid_client.channel import channel_options
from braid_client.errors import BraidCallError, failure_of
from braid_client.requests import call_metadata

if TYPE_CHECKING:
    from collections.abc import Iterator

CLOSED = "the client is closed"


class Connection:
    """A channel to each tier that is used: opened when first needed, closed once and for all."""

    def __init__(
        self,
        target: str = "127.0.0.1:50050",
        *,
        vector_target: str = "127.0.0.1:50051",
        graph_target: str = "127.0.0.1:50052",
        api_key: str | None = None,
        space: str | None = None,
        user: str | None = None,
        timeout: float = 10.0,
        credentials: grpc.ChannelCredentials | None = None,
    ) -> None:
        self._targets = {"agent": target, "vector": vector_target, "graph": graph_target}
        self._metadata = call_metadata(api_key, space, user)
        self._timeout = timeout
        self._credentials = credentials
        self._channels: dict[str, grpc.aio.Channel] = {}
        self._closed = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes every channel that was opened; calls after it raise RuntimeError."""
        self._closed = True
        channels, self._channels = list(self._channels.values()), {}
        await asyncio.gather(*(channel.close() for channel in channels))

    def _channel(self, tier: str) -> grpc.aio.Channel:
        if self._closed:
            raise RuntimeError(CLOSED)
        if tier not in self._channels:
            self._channels[tier] = self._open(self._targets[tier])
        return self._channels[tier]

    def _open(self, target: str) -> grpc.aio.Channel:
        options = channel_options()
        if self._credentials is None:
            return grpc.aio.insecure_channel(target, options=options)
        return grpc.aio.secure_channel(target, self._credentials, options=options)

    def _options(self, timeout: float | None = None) -> dict[str, Any]:
        return {
            "timeout": self._timeout if timeout is None else timeout,
            "metadata": self._metadata,
        }


@contextmanager
def typed_errors() -> Iterator[None]:
    """Turns gRPC's error of a failed call into `BraidCallError`."""
    try:
        yield
    except grpc.aio.AioRpcError as error:
        raise BraidCallError(failure_of(error)) from None

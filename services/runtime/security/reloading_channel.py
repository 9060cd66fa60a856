"""A gRPC channel with TLS that follows its certificates: calls started after a change use a new connection."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import grpc

if TYPE_CHECKING:
    from services.runtime.security.certificates import Certificates, Material

# By then the longest calls, which watch a job, have ended.
RETIRE_SECONDS = 3600.0

OpenChannel = Callable[["Material"], grpc.aio.Channel]


class ReloadingChannel(grpc.aio.Channel):
    """Opens a channel with `open_channel`, and a new one after each change of the certificates.

    Calls on an earlier channel finish there, within an hour.
    """

    def __init__(self, certificates: Certificates, open_channel: OpenChannel) -> None:
        """Raises CertificateError if there are no valid files at the start."""
        self._certificates = certificates
        self._open = open_channel
        material = certificates.current()
        self._version = material.version
        self._channel = open_channel(material)
        self._retired: dict[grpc.aio.Channel, asyncio.Task[None]] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self, grace: float | None = None) -> None:
        """Closes the current channel and the remaining earlier ones."""
        for task in self._retired.values():
            task.cancel()
        channels = [self._channel, *self._retired]
        await asyncio.gather(*self._retired.values(), return_exceptions=True)
        await asyncio.gather(*(channel.close(grace) for channel in channels))

    def current(self) -> grpc.aio.Channel:
        """Returns the channel for a new call."""
        material = self._certificates.current()
        if material.version != self._version:
            retired, self._channel = self._channel, self._open(material)
            self._version = material.version
            task = asyncio.create_task(retired.close(RETIRE_SECONDS), name="retired channel")
            self._retired[retired] = task
            task.add_done_callback(lambda _: self._retired.pop(retired, None))
        return self._channel

    def get_state(self, try_to_connect: bool = False) -> grpc.ChannelConnectivity:
        """Returns the state of the current channel."""
        return self.current().get_state(try_to_connect)

    async def wait_for_state_change(self, last_observed_state: grpc.ChannelConnectivity) -> None:
        """Waits until the current channel leaves a state."""
        await self.current().wait_for_state_change(last_observed_state)

    async def channel_ready(self) -> None:
        """Waits until the current channel is connected."""
        await self.current().channel_ready()

    def unary_unary(self, *args: Any, **options: Any) -> Any:
        """Returns a method that uses the channel current at the time of the call."""
        return _Method(self, "unary_unary", args, options)

    def unary_stream(self, *args: Any, **options: Any) -> Any:
        """Returns a method that uses the channel current at the time of the call."""
        return _Method(self, "unary_stream", args, options)

    def stream_unary(self, *args: Any, **options: Any) -> Any:
        """Returns a method that uses the channel current at the time of the call."""
        return _Method(self, "stream_unary", args, options)

    def stream_stream(self, *args: Any, **options: Any) -> Any:
        """Returns a method that uses the channel current at the time of the call."""
        return _Method(self, "stream_stream", args, options)


class _Method:
    """One method of a contract, on the channel current at the time of the call."""

    def __init__(
        self, owner: ReloadingChannel, shape: str, args: tuple[Any, ...], options: dict[str, Any]
    ) -> None:
        self._owner = owner
        self._shape = shape
        self._args = args
        self._options = options
        self._channel: grpc.aio.Channel | None = None
        self._method: Any = None

    def __call__(self, *args: Any, **options: Any) -> Any:
        channel = self._owner.current()
        if channel is not self._channel:
            self._channel = channel
            self._method = getattr(channel, self._shape)(*self._args, **self._options)
        return self._method(*args, **options)

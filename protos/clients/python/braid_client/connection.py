"""The connection of the asyncio client: channels, deadlines and typed errors."""

from __future__ import annotations

import asyncio
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

import grpc

from braid_client.errors import BraidCallError
from braid_client.requests import call_metadata
from braid_client.tls import Tls
from braid_protocol.channel import channel_options
from braid_protocol.errors import LOST, TIME_UP, failure_of, is_not_sent
from braid_protocol.idempotency import KeyedChannel

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from google.protobuf.message import Message

CLOSED = "the client is closed"


class Connection:
    """A channel to each tier, opened at first use. A closed connection cannot be opened again."""

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
        tls: Tls | None = None,
    ) -> None:
        if credentials is not None and tls is not None:
            raise ValueError("credentials and tls exclude each other")
        self._targets = {"agent": target, "vector": vector_target, "graph": graph_target}
        self._metadata = call_metadata(api_key, space, user)
        self._timeout = timeout
        self._credentials = credentials
        self._tls = tls
        self._channels: dict[str, KeyedChannel] = {}
        self._closed = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes all open channels; running and later calls raise RuntimeError."""
        self._closed = True
        channels, self._channels = list(self._channels.values()), {}
        await asyncio.gather(*(channel.close() for channel in channels))

    def _channel(self, tier: str) -> Any:
        """Returns the channel of a tier, for stubs; it gives each call that creates something an idempotency key."""
        if self._closed:
            raise RuntimeError(CLOSED)
        if tier not in self._channels:
            self._channels[tier] = KeyedChannel(self._open(self._targets[tier]))
        return self._channels[tier]

    def _open(self, target: str) -> grpc.aio.Channel:
        options = channel_options()
        credentials = self._credentials
        if self._tls is not None:
            credentials = self._tls.credentials()
            options.extend(self._tls.channel_options())
        if credentials is None:
            return grpc.aio.insecure_channel(target, options=options)
        return grpc.aio.secure_channel(target, credentials, options=options)

    async def _call(
        self,
        tier: str,
        stub: Callable[[Any], Any],
        method: str,
        request: Message,
        timeout: float | None,
    ) -> Any:
        """Returns the answer of a method."""
        with self._typed_errors(timeout):
            return await getattr(stub(self._channel(tier)), method)(
                request, **self._options(timeout)
            )

    async def _pages(
        self,
        tier: str,
        stub: Callable[[Any], Any],
        method: str,
        request: Any,
        timeout: float | None,
    ) -> AsyncIterator[Any]:
        """Yields the pages of a list; `timeout` is of each page."""
        while True:
            page = await self._call(tier, stub, method, request, timeout)
            yield page
            request.page_token = page.next_page_token
            if not request.page_token:
                return

    async def _stream(
        self,
        tier: str,
        stub: Callable[[Any], Any],
        method: str,
        request: Message,
        timeout: float | None,
    ) -> AsyncIterator[Any]:
        """Yields the answers of a method; a reader who leaves ends the call."""
        call = getattr(stub(self._channel(tier)), method)(request, **self._options(timeout))
        try:
            with self._typed_errors(timeout):
                async for answer in call:
                    yield answer
        finally:
            call.cancel()

    @contextmanager
    def _typed_errors(self, timeout: float | None = None) -> Iterator[None]:
        """Converts gRPC's error of a call with this `timeout` into `BraidCallError`.

        gRPC cancels the calls of a closed channel, and a call whose requests it cannot send completely. Unless the task
        itself was cancelled, this CancelledError would look like a cancellation by the caller.
        """
        ends_at = time.monotonic() + (self._timeout if timeout is None else timeout)
        try:
            yield
        except grpc.aio.AioRpcError as error:
            failure = failure_of(error)
            if is_not_sent(error) and time.monotonic() >= ends_at:
                failure = TIME_UP
            raise BraidCallError(failure) from None
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            if self._closed:
                raise RuntimeError(CLOSED) from None
            raise BraidCallError(TIME_UP if time.monotonic() >= ends_at else LOST) from None

    def _options(self, timeout: float | None = None) -> dict[str, Any]:
        return {
            "timeout": self._timeout if timeout is None else timeout,
            "metadata": self._metadata,
        }

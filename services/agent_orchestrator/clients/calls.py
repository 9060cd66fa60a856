"""How the tiers are called: on behalf of the current call, within a time limit and the caller's deadline."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

import grpc

from braid_protocol.call_outcome import outcome_of
from services.runtime.context import remaining
from services.runtime.status import error_from_rpc

if TYPE_CHECKING:
    from services.agent_orchestrator.clients.health_watch import HealthWatch
    from services.runtime.channels import OutgoingMetadata

Answer = TypeVar("Answer")


class Calls:
    """Makes calls with a limit of `seconds`. Failures are `BraidError`s."""

    def __init__(self, outgoing: OutgoingMetadata, seconds: float) -> None:
        self._outgoing = outgoing
        self._seconds = seconds

    async def call(
        self, stub: Callable[..., Awaitable[Answer]], request: Any, *, patience: int = 1
    ) -> Answer:
        """Returns the answer; `patience` multiplies the limit."""
        try:
            return await stub(request, **self._options(patience))
        except grpc.aio.AioRpcError as error:
            raise error_from_rpc(error) from None

    async def call_with_stream(self, stub: Callable[..., Any], request: Any) -> Any:
        """Returns the answer of a method that takes a stream of requests, here of one."""
        try:
            return await outcome_of(stub(iter((request,)), **self._options(1)))
        except grpc.aio.AioRpcError as error:
            raise error_from_rpc(error) from None

    async def pages(
        self, stub: Callable[..., Awaitable[Answer]], request: Any
    ) -> AsyncIterator[Answer]:
        """Yields the pages of a list."""
        more = True
        while more:
            page: Any = await self.call(stub, request)
            yield page
            request.page_token = page.next_page_token
            more = bool(page.next_page_token)

    def _options(self, patience: int) -> dict[str, Any]:
        timeout = remaining(self._seconds * patience)
        return {"timeout": timeout, "metadata": self._outgoing.metadata()}


class WatchedCalls:
    """Makes calls that end at once when their tier is known to be unavailable."""

    def __init__(self, outgoing: OutgoingMetadata, health: HealthWatch) -> None:
        self._outgoing = outgoing
        self._health = health

    async def call(
        self,
        stub: Callable[..., grpc.aio.UnaryUnaryCall[Any, Answer]],
        request: Any,
        seconds: float,
    ) -> Answer:
        """Returns the answer within `seconds`. Raises AioRpcError or TierUnavailableError."""
        metadata = self._outgoing.metadata()
        return await self._health.watch(lambda: stub(request, timeout=seconds, metadata=metadata))

"""Moves data of the graph to a quarantine and back, in the partition of the current call."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import TypeAlias

import grpc

from braid.graph.internal.v1 import quarantine_pb2, quarantine_pb2_grpc
from services.agent_orchestrator.clients.calls import Calls
from services.runtime.channels import OutgoingMetadata

Kind: TypeAlias = "quarantine_pb2.QuarantinedKind.ValueType"
Counts: TypeAlias = Sequence[quarantine_pb2.QuarantinedCount]

PAGE = 1_000
RESTORED_AT_ONCE = 100


class GraphQuarantine:
    """The quarantines of the graph tier. Failures are `BraidError`s."""

    def __init__(
        self,
        channel: grpc.aio.Channel,
        outgoing: OutgoingMetadata,
        *,
        seconds: float,
        write_seconds: float,
    ) -> None:
        self._stub = quarantine_pb2_grpc.GraphQuarantineServiceStub(channel)
        self._calls = Calls(outgoing, seconds)
        self._writes = Calls(outgoing, write_seconds)

    async def quarantine(self, quarantine_id: str, kind: Kind, ids: Sequence[str]) -> Counts:
        """Moves data to a quarantine; returns what that added to it."""
        request = quarantine_pb2.QuarantineDataRequest(
            quarantine_id=quarantine_id, kind=kind, ids=ids
        )
        return (await self._writes.call(self._stub.QuarantineData, request)).counts

    async def quarantines(self) -> AsyncIterator[quarantine_pb2.GraphQuarantine]:
        """Yields all quarantines by id."""
        request = quarantine_pb2.ListGraphQuarantinesRequest(page_size=PAGE)
        async for page in self._calls.pages(self._stub.ListGraphQuarantines, request):
            for one in page.quarantines:
                yield one

    async def items(
        self, quarantine_id: str, size: int, token: str
    ) -> quarantine_pb2.ListQuarantinedDataResponse:
        """Returns a page of a quarantine's items."""
        request = quarantine_pb2.ListQuarantinedDataRequest(
            quarantine_id=quarantine_id, page_size=size, page_token=token
        )
        return await self._calls.call(self._stub.ListQuarantinedData, request)

    async def restore(self, quarantine_id: str, item_ids: Sequence[str]) -> Counts:
        """Restores items; returns what is restored."""
        request = quarantine_pb2.RestoreDataRequest(quarantine_id=quarantine_id, item_ids=item_ids)
        return (await self._writes.call(self._stub.RestoreData, request)).counts

    async def purge(self, quarantine_id: str) -> Counts:
        """Deletes a quarantine for good; returns what it held."""
        request = quarantine_pb2.PurgeGraphQuarantineRequest(quarantine_id=quarantine_id)
        return (await self._writes.call(self._stub.PurgeGraphQuarantine, request)).counts

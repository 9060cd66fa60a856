"""Consistency of the stores, for the asyncio client: checks, repairs, and what repairs have taken out of the space."""

from __future__ import annotations

from typing import TYPE_CHECKING

from braid.agent.v1 import consistency_pb2, consistency_pb2_grpc
from braid_client.connection import Connection

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable


class Consistency(Connection):
    """Part of `AsyncBraid`."""

    async def check_consistency(
        self, *, max_listed: int | None = None, timeout: float | None = None
    ) -> consistency_pb2.ConsistencyReport:
        """Compares all stores of the space; changes nothing."""
        stub = consistency_pb2_grpc.ConsistencyServiceStub(self._channel("agent"))
        request = consistency_pb2.CheckConsistencyRequest(max_listed=max_listed)
        with self._typed_errors(timeout):
            return (await stub.CheckConsistency(request, **self._options(timeout))).report

    async def repair_consistency(
        self, *, apply: bool = False, max_listed: int | None = None, timeout: float | None = None
    ) -> consistency_pb2.ConsistencyReport:
        """Reports what a repair would do; with `apply`, repairs. What somebody stated is quarantined, never deleted."""
        stub = consistency_pb2_grpc.ConsistencyServiceStub(self._channel("agent"))
        request = consistency_pb2.RepairConsistencyRequest(max_listed=max_listed, apply=apply)
        with self._typed_errors(timeout):
            return (await stub.RepairConsistency(request, **self._options(timeout))).report

    async def list_quarantines(
        self, *, page_size: int = 100, timeout: float | None = None
    ) -> AsyncIterator[consistency_pb2.Quarantine]:
        """Lists all quarantines, latest first; `timeout` applies to each page."""
        token = ""
        while True:
            stub = consistency_pb2_grpc.ConsistencyServiceStub(self._channel("agent"))
            request = consistency_pb2.ListQuarantinesRequest(page_size=page_size, page_token=token)
            with self._typed_errors(timeout):
                page = await stub.ListQuarantines(request, **self._options(timeout))
            for quarantine in page.quarantines:
                yield quarantine
            token = page.next_page_token
            if not token:
                return

    async def list_quarantined_items(
        self, quarantine_id: str, *, page_size: int = 100, timeout: float | None = None
    ) -> AsyncIterator[consistency_pb2.QuarantinedItem]:
        """Lists all items of a quarantine, in the order of their restoration; `timeout` applies to each page."""
        token = ""
        while True:
            stub = consistency_pb2_grpc.ConsistencyServiceStub(self._channel("agent"))
            request = consistency_pb2.GetQuarantineRequest(
                quarantine_id=quarantine_id, page_size=page_size, page_token=token
            )
            with self._typed_errors(timeout):
                page = await stub.GetQuarantine(request, **self._options(timeout))
            for item in page.items:
                yield item
            token = page.next_page_token
            if not token:
                return

    async def restore_quarantine(
        self, quarantine_id: str, item_ids: Iterable[str] = (), *, timeout: float | None = None
    ) -> consistency_pb2.RestoreQuarantineResponse:
        """Restores a quarantine, or only some of its items, as they were."""
        stub = consistency_pb2_grpc.ConsistencyServiceStub(self._channel("agent"))
        request = consistency_pb2.RestoreQuarantineRequest(
            quarantine_id=quarantine_id, item_ids=list(item_ids)
        )
        with self._typed_errors(timeout):
            return await stub.RestoreQuarantine(request, **self._options(timeout))

    async def purge_quarantine(
        self, quarantine_id: str, *, timeout: float | None = None
    ) -> consistency_pb2.PurgeQuarantineResponse:
        """Deletes a quarantine and its items for good."""
        stub = consistency_pb2_grpc.ConsistencyServiceStub(self._channel("agent"))
        request = consistency_pb2.PurgeQuarantineRequest(quarantine_id=quarantine_id)
        with self._typed_errors(timeout):
            return await stub.PurgeQuarantine(request, **self._options(timeout))

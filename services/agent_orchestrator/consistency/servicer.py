"""The contract's ConsistencyService."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from braid.agent.v1 import consistency_pb2, consistency_pb2_grpc
from services.agent_orchestrator.consistency.checking import Check, Repairer
from services.agent_orchestrator.consistency.quarantines import Quarantines, counts_of

Context: TypeAlias = Any

MAX_LISTED = 100


class ConsistencyServicer(consistency_pb2_grpc.ConsistencyServiceServicer):
    """Checks and repairs the caller's space."""

    def __init__(
        self, check: Check, start_repair: Callable[[], Repairer], quarantines: Quarantines
    ) -> None:
        """`start_repair` is called for each repair."""
        self._check = check
        self._start_repair = start_repair
        self._quarantines = quarantines

    async def CheckConsistency(
        self, request: consistency_pb2.CheckConsistencyRequest, _context: Context
    ) -> consistency_pb2.CheckConsistencyResponse:
        """See the contract."""
        tally = await self._check.run(_listed(request))
        return consistency_pb2.CheckConsistencyResponse(report=tally.report())

    async def RepairConsistency(
        self, request: consistency_pb2.RepairConsistencyRequest, _context: Context
    ) -> consistency_pb2.RepairConsistencyResponse:
        """See the contract."""
        repairer = self._start_repair() if request.apply else None
        tally = await self._check.run(_listed(request), repairer)
        return consistency_pb2.RepairConsistencyResponse(report=tally.report())

    async def ListQuarantines(
        self, request: consistency_pb2.ListQuarantinesRequest, _context: Context
    ) -> consistency_pb2.ListQuarantinesResponse:
        """See the contract."""
        return await self._quarantines.page(request)

    async def GetQuarantine(
        self, request: consistency_pb2.GetQuarantineRequest, _context: Context
    ) -> consistency_pb2.GetQuarantineResponse:
        """See the contract."""
        return await self._quarantines.items(request)

    async def RestoreQuarantine(
        self, request: consistency_pb2.RestoreQuarantineRequest, _context: Context
    ) -> consistency_pb2.RestoreQuarantineResponse:
        """See the contract."""
        quarantine = request.quarantine_id.lower()
        items = [one.lower() for one in request.item_ids]
        restored = await self._quarantines.restore(quarantine, items)
        return consistency_pb2.RestoreQuarantineResponse(
            restored=counts_of(restored), quarantine=await self._quarantines.get(quarantine)
        )

    async def PurgeQuarantine(
        self, request: consistency_pb2.PurgeQuarantineRequest, _context: Context
    ) -> consistency_pb2.PurgeQuarantineResponse:
        """See the contract."""
        purged = await self._quarantines.purge(request.quarantine_id.lower())
        return consistency_pb2.PurgeQuarantineResponse(purged=counts_of(purged))


def _listed(
    request: consistency_pb2.CheckConsistencyRequest | consistency_pb2.RepairConsistencyRequest,
) -> int:
    return request.max_listed if request.HasField("max_listed") else MAX_LISTED

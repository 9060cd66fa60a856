"""The contract's ConsistencyService."""

from __future__ import annotations

from typing import Any, TypeAlias

from braid.agent.v1 import consistency_pb2, consistency_pb2_grpc
from services.agent_orchestrator.clients.inventories import GraphInventory
from services.agent_orchestrator.clients.tiers import GraphTier, VectorTier
from services.agent_orchestrator.consistency.checking import Check, Work
from services.agent_orchestrator.consistency.repairing import Repair

Context: TypeAlias = Any

MAX_LISTED = 100


class ConsistencyServicer(consistency_pb2_grpc.ConsistencyServiceServicer):
    """Checks and repairs the caller's space."""

    def __init__(
        self,
        check: Check,
        *,
        vector: VectorTier,
        graph: GraphTier,
        inventory: GraphInventory,
        work: Work,
    ) -> None:
        self._check = check
        self._vector = vector
        self._graph = graph
        self._inventory = inventory
        self._work = work

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
        repairer = Repair(self._vector, self._graph, self._inventory, self._work)
        tally = await self._check.run(_listed(request), repairer)
        return consistency_pb2.RepairConsistencyResponse(report=tally.report())


def _listed(
    request: consistency_pb2.CheckConsistencyRequest | consistency_pb2.RepairConsistencyRequest,
) -> int:
    return request.max_listed if request.HasField("max_listed") else MAX_LISTED

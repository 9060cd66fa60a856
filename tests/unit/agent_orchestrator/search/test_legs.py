"""The outcome of one search leg."""

from __future__ import annotations

from braid.common.v1 import legs_pb2
from services.agent_orchestrator.search.legs import LegOutcome, run_leg


async def test_an_unreadable_answer_fails_only_its_leg() -> None:
    async def search() -> None:
        """Returns None, as gRPC does for a response that it cannot parse."""

    ended = await run_leg(legs_pb2.LEG_VECTOR, search, lambda _, report: LegOutcome(report))
    assert ended.failed
    assert ended.report.status == legs_pb2.LEG_STATUS_UNAVAILABLE
    assert ended.report.reason == legs_pb2.LEG_REASON_INTERNAL

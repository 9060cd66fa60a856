"""One leg of a search, however it ends."""

from __future__ import annotations

from braid.common.v1 import legs_pb2
from services.agent_orchestrator.search.legs import LegOutcome, run_leg


async def test_an_answer_that_cannot_be_read_fails_its_leg_alone() -> None:
    async def look() -> None:
        """gRPC gives nothing for an answer that it cannot read."""

    ended = await run_leg(legs_pb2.LEG_VECTOR, look, lambda _, report: LegOutcome(report))
    assert ended.failed
    assert ended.report.status == legs_pb2.LEG_STATUS_UNAVAILABLE
    assert ended.report.reason == legs_pb2.LEG_REASON_INTERNAL

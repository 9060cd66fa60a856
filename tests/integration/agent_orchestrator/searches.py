"""Helpers that run comprehensive searches and read the status of their legs."""

from __future__ import annotations

from collections.abc import Sequence

import grpc
import pytest

from braid.agent.v1 import search_pb2
from braid.common.v1 import legs_pb2
from services.runtime.errors import BraidError
from services.runtime.status import error_from_rpc
from tests.integration.agent_orchestrator.conftest import ALICE, World

Request = search_pb2.ComprehensiveSearchRequest
Legs = dict[str, tuple[str, str]]


def legs(reports: Sequence[legs_pb2.LegReport]) -> Legs:
    return {
        legs_pb2.Leg.Name(report.leg).removeprefix("LEG_").lower(): (
            legs_pb2.LegStatus.Name(report.status).removeprefix("LEG_STATUS_"),
            legs_pb2.LegReason.Name(report.reason).removeprefix("LEG_REASON_"),
        )
        for report in reports
    }


async def ask(
    world: World,
    request: Request | None = None,
    seconds: float = 5,
    metadata: tuple[tuple[str, str], ...] = ALICE,
) -> search_pb2.ComprehensiveSearchResponse:
    return await world.search.ComprehensiveSearch(
        request or Request(query="who owns it"), metadata=metadata, timeout=seconds
    )


async def refused(world: World, request: Request | None = None, seconds: float = 5) -> BraidError:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await ask(world, request, seconds)
    return error_from_rpc(caught.value)

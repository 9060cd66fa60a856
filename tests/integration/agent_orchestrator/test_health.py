"""The orchestrator is healthy while at least one tier is available."""

from __future__ import annotations

import asyncio

from grpc_health.v1 import health_pb2, health_pb2_grpc

from tests.integration.agent_orchestrator.conftest import World

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


async def wait_for_status(world: World, status: int) -> None:
    """Waits until the orchestrator reports the status."""
    health = health_pb2_grpc.HealthStub(world.channel)
    async with asyncio.timeout(10):
        watch = health.Watch(health_pb2.HealthCheckRequest())  # type: ignore[attr-defined]
        async for answer in watch:
            if answer.status == status:
                return


async def test_it_serves_while_one_tier_is_available_and_again_after_recovery(world: World) -> None:
    await wait_for_status(world, SERVING)
    await world.stop_vector()
    await wait_for_status(world, SERVING)
    await world.stop_graph()
    await wait_for_status(world, NOT_SERVING)
    await world.start_graph()
    await wait_for_status(world, SERVING)

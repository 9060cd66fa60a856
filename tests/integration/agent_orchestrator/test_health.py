"""The orchestrator is healthy while its database has a schema and at least one tier is available."""

from __future__ import annotations

import asyncio

import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from deploy.local.provision import AGENT
from deploy.local.stores import LocalStores
from services.agent_orchestrator.migrate import SchemaProbe, migrate
from services.postgres.pool import Pool, PoolLimits
from services.runtime.errors import StoreUnavailableError
from tests.integration.agent_orchestrator.conftest import World
from tests.stores import create_template, database_from_template

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


async def test_it_does_not_serve_before_its_database_has_a_schema(stores: LocalStores) -> None:
    async def no_schema(_dsn: str) -> None: ...

    template = await create_template(stores, no_schema, like=AGENT)
    async with database_from_template(stores, template, like=AGENT) as database:
        pool = await Pool.open(database.dsn("braid_agent"), PoolLimits(size=1), application="test")
        probe = SchemaProbe(pool)
        with pytest.raises(StoreUnavailableError, match="no schema yet"):
            await probe.check()
        await migrate(database.dsn("braid_agent_migrator"))
        await probe.check()
        await pool.close()
        await probe.check()  # found once, it is not looked for again


async def test_a_database_that_does_not_answer_is_not_taken_for_one_without_schema() -> None:
    pool = await Pool.open("postgresql://127.0.0.1:1/none", PoolLimits(size=1), application="test")
    await SchemaProbe(pool).check()
    await pool.close()

"""The orchestrator's own database: a pool, and its named queries."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from services.agent_orchestrator.settings import AgentSettings
from services.postgres.pool import Pool, PoolLimits
from services.runtime.pool_metrics import observe_pools
from services.runtime.queries import Queries

_ROOMS = ("jobs", "deletion", "consistency", "sources", "spaces", "typed_memory")


@dataclass(frozen=True, slots=True)
class Database:
    """The pool and the queries that the orchestrator's stores use."""

    pool: Pool
    queries: Queries


def load_queries() -> Queries:
    """Loads the orchestrator's named queries from the packages that own them."""
    return Queries.load("sql", *(f"services.agent_orchestrator.{room}" for room in _ROOMS))


@asynccontextmanager
async def open_database(settings: AgentSettings, application: str) -> AsyncIterator[Database]:
    """Yields the database that the settings name, until the block is left. It connects on first use.

    Metrics report only the first pool of a process.
    """
    limits = PoolLimits(
        size=settings.pool_size,
        queue_size=settings.queue_size,
        queue_seconds=settings.queue_seconds,
        statement_seconds=settings.statement_seconds,
    )
    pool = await Pool.open(settings.database(), limits, application=application)
    observe_pools(pool)
    try:
        yield Database(pool, load_queries())
    finally:
        await pool.close()

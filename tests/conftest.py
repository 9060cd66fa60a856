"""Fixtures for all tests: a clean environment, and real stores on request."""

from __future__ import annotations

import asyncio
import importlib
import os
import threading
from collections.abc import AsyncIterator, Coroutine, Generator, Iterator
from typing import Any, TypeVar

import pytest
import structlog
from hypothesis import HealthCheck, settings

from deploy.local.provision import AGENT
from deploy.local.stores import LocalStores
from services.agent_orchestrator.migrate import migrate as migrate_agent
from services.runtime.loop import freeze_gc
from services.vector_search.database import migrate
from tests.schedule import Scheduling, order
from tests.store_suite.graph.neo4j_graph import prepare
from tests.stores import (
    TestDatabase,
    create_template,
    database_from_template,
    empty_database,
    postgres_in_stores,
)

T = TypeVar("T")
PREFIXES = (
    "BRAID_",
    "EMBEDDING_",
    "LLM_",
    "RERANKER_",
    "DATABASE_URL",
    "NEO4J_",
    "OPENAI_",
    "ANTHROPIC_",
    "OTEL_",
)

# Every run uses the same examples, and none fails because the machine is busy.
settings.register_profile(
    "braid", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("braid")


def pytest_configure() -> None:
    """Disables the fork handlers of gRPC, with which a process that is started while servers run can abort.

    Logged exceptions are printed plainly: by default they are drawn with the values of all variables, which stops the
    event loop of the test for 0.3 seconds.
    """
    os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "false"
    plain = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(processors=[*structlog.get_config()["processors"][:-1], plain])


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts the tests that use Neo4j first."""
    order(items)


def pytest_collection_finish() -> None:
    """Excludes what collecting the tests left behind from garbage collection, which would stop event loops for seconds.

    A process holds 800,000 objects by then: to scan them takes half a second of an idle machine. The agent's modules,
    which the orchestrator imports when it begins to serve, are among them.
    """
    importlib.import_module("services.agent_orchestrator.agent.app")
    freeze_gc()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, None, None]:
    """Does the same for what a file of tests has imported and built, once its fixtures have ended."""
    yield
    if nextitem is None or nextitem.path != item.path:
        freeze_gc()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Scheduling:
    """Assigns tests to processes when there are several."""
    return Scheduling(config, log)


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Removes the machine's settings, disables telemetry, and lets servers drain without a delay."""
    for name in list(os.environ):
        if name.startswith(PREFIXES):
            monkeypatch.delenv(name)
    monkeypatch.setenv("GRAPHITI_TELEMETRY_ENABLED", "false")
    monkeypatch.setenv("BRAID_DRAIN_DELAY_SECONDS", "0")


class LoopThread:
    """An event loop that also runs between tests, because it supervises the stores' processes."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="stores")
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs `work` on the loop and waits for it for at most three minutes."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(180)

    def close(self) -> None:
        """Stops the loop and its thread."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


@pytest.fixture(scope="session")
def stores_loop() -> Iterator[LoopThread]:
    """The event loop that runs the stores."""
    loop = LoopThread()
    yield loop
    loop.close()


@pytest.fixture(scope="session")
def stores(stores_loop: LoopThread) -> Iterator[LocalStores]:
    """Real PostgreSQL, started once per process. Neo4j starts slowly, so only `graph_stores` starts it."""
    manager = postgres_in_stores()
    running = stores_loop.run(manager.__aenter__())
    yield running
    stores_loop.run(manager.__aexit__(None, None, None))


@pytest.fixture(scope="session")
def graph_stores(stores: LocalStores, stores_loop: LoopThread) -> LocalStores:
    """The same stores, with Neo4j started and the graph's schema installed."""

    async def start() -> None:
        await stores.fetch()
        await stores.neo4j.start()
        await prepare(stores)

    stores_loop.run(start())
    return stores


@pytest.fixture(scope="session")
def vector_template(stores: LocalStores, stores_loop: LoopThread) -> str:
    """The name of a template database with the vector tier's schema."""

    async def into(dsn: str) -> None:
        await migrate(dsn)

    return stores_loop.run(create_template(stores, into))


@pytest.fixture
async def own_vector_database(
    stores: LocalStores, vector_template: str
) -> AsyncIterator[TestDatabase]:
    """A database with the vector tier's schema for a single test, which may change the schema."""
    async with database_from_template(stores, vector_template) as database:
        yield database


@pytest.fixture(scope="session")
def shared_vector_database(
    stores: LocalStores, stores_loop: LoopThread, vector_template: str
) -> Iterator[TestDatabase]:
    """A database with the vector tier's schema for all tests that do not change the schema."""
    manager = database_from_template(stores, vector_template)
    yield stores_loop.run(manager.__aenter__())
    stores_loop.run(manager.__aexit__(None, None, None))


@pytest.fixture
async def vector_database(shared_vector_database: TestDatabase) -> TestDatabase:
    """The vector tier's database, emptied. Emptying it takes a tenth of the time of creating a new one."""
    await empty_database(shared_vector_database)
    return shared_vector_database


@pytest.fixture(scope="session")
def agent_template(stores: LocalStores, stores_loop: LoopThread) -> str:
    """The name of a template database with the orchestrator's schema."""
    return stores_loop.run(create_template(stores, migrate_agent, like=AGENT))


@pytest.fixture(scope="session")
def shared_agent_database(
    stores: LocalStores, stores_loop: LoopThread, agent_template: str
) -> Iterator[TestDatabase]:
    """A database with the orchestrator's schema for all tests that do not change the schema."""
    manager = database_from_template(stores, agent_template, like=AGENT)
    yield stores_loop.run(manager.__aenter__())
    stores_loop.run(manager.__aexit__(None, None, None))


@pytest.fixture
async def agent_database(shared_agent_database: TestDatabase) -> TestDatabase:
    """The orchestrator's database, emptied."""
    await empty_database(shared_agent_database)
    return shared_agent_database

"""A busy pool is not an outage of Neo4j: calls beyond its queue are refused, and its probe still succeeds."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from braid.graph.v1 import query_pb2
from deploy.local.stores import LocalStores
from services.graph_query.app import build_store
from services.graph_query.neo4j.database import Database, open_driver
from services.graph_query.neo4j.queries import load_queries, load_schema
from services.graph_query.neo4j_store import Neo4jStore
from services.runtime.admission import AdmissionLimits
from services.runtime.errors import OverloadedError, StoreUnavailableError
from services.runtime.health import PROBE_TIMEOUT
from services.runtime.pool_metrics import PoolStats
from services.runtime.queries import Queries
from tests.integration.graph_query.conftest import serve_tier
from tests.integration.graph_query.messages import fact, stream
from tests.store_suite.graph.builders import new_space
from tests.store_suite.graph.neo4j_graph import settings

_ENDLESS = """// takes hours
UNWIND range(1, 1000000) AS a UNWIND range(1, 1000000) AS b
WITH sum(a % 7 * b) AS s RETURN s"""
_REAL = load_queries()


def database(stores: LocalStores, limits: AdmissionLimits, **instead: str) -> Database:
    """A database of the tier's queries, some of them replaced."""
    found = settings(stores)
    driver = open_driver(found.neo4j_uri, found.neo4j_user, found.neo4j_password, limits.size)
    return Database(
        driver, Queries({**{name: _REAL[name] for name in _REAL.names()}, **instead}), limits
    )


@pytest.fixture
async def busy(graph_stores: LocalStores) -> AsyncIterator[Neo4jStore]:
    """A store whose connections are all taken for hours, with a queue of one more call."""
    limits = AdmissionLimits(size=2, queue_size=1, queue_seconds=60)
    store = Neo4jStore(
        database(graph_stores, limits, graph_stats=_ENDLESS),
        load_schema(),
        probed=database(graph_stores, AdmissionLimits(size=1)),
    )
    await store.ensure_schema()
    # Both connections are opened first: a call that is canceled while it opens one leaks the driver's socket.
    await asyncio.gather(*(store.facts(new_space(), ["nowhere"]) for _ in range(limits.size)))
    calls = [asyncio.create_task(store.stats(new_space())) for _ in range(limits.size)]
    await until(store, PoolStats(max=2, used=2, idle=None, waiting=0))
    yield store
    for call in calls:
        assert not call.done()
        call.cancel()
    await asyncio.wait(calls)
    await store.close()


async def until(store: Neo4jStore, numbers: PoolStats) -> None:
    async with asyncio.timeout(10):
        while store.pools[0].stats() != numbers:  # noqa: ASYNC110 - numbers have no event
            await asyncio.sleep(0)


async def test_the_health_probe_does_not_wait_behind_callers(busy: Neo4jStore) -> None:
    async with asyncio.timeout(PROBE_TIMEOUT):
        await busy.ping()


async def test_a_call_beyond_the_queue_is_refused_at_once_with_a_retry_time(
    busy: Neo4jStore,
) -> None:
    waiting = asyncio.create_task(busy.facts(new_space(), ["nowhere"]))
    await until(busy, PoolStats(max=2, used=2, idle=None, waiting=1))
    with pytest.raises(OverloadedError) as refused:
        await busy.facts(new_space(), ["nowhere"])
    assert refused.value.retry_after == 60
    assert not waiting.done()
    waiting.cancel()
    await asyncio.wait([waiting])
    assert busy.pools[0].stats().waiting == 0


async def test_a_freed_connection_is_given_to_the_waiting_call(graph_stores: LocalStores) -> None:
    limits = AdmissionLimits(size=1, queue_seconds=60)
    single = database(graph_stores, limits, graph_stats=_ENDLESS)
    first = asyncio.create_task(single.read("graph_stats", space=new_space()))
    waiting = asyncio.create_task(single.read("index_states"))
    await asyncio.sleep(0)
    assert single.stats().waiting == 1
    first.cancel()
    assert await waiting
    assert single.stats() == PoolStats(max=1, used=0, idle=None, waiting=0)
    await single.close()


async def test_a_call_that_waits_too_long_reports_overload_and_not_an_outage(
    graph_stores: LocalStores,
) -> None:
    limits = AdmissionLimits(size=1, queue_seconds=0.1)
    single = database(graph_stores, limits, graph_stats=_ENDLESS)
    first = asyncio.create_task(single.read("graph_stats", space=new_space()))
    await asyncio.sleep(0)
    with pytest.raises(OverloadedError):
        await single.read("index_states")
    first.cancel()
    await asyncio.wait([first])
    await single.close()


async def test_concurrent_searches_and_writes_over_one_connection_do_not_deadlock(
    graph_stores: LocalStores, tmp_path: Path
) -> None:
    """A search queries words, sentences and vectors concurrently."""
    narrow = settings(graph_stores).model_copy(update={"pool_size": 1, "queue_seconds": 60.0})
    store = build_store(narrow)
    await store.ensure_schema()
    async with serve_tier(store, tmp_path) as tier, asyncio.timeout(60):
        stated = fact("Anna Bell", "OWNS", "Payments")
        await tier.ingest.AddFacts(stream(stated), metadata=tier.ours)
        search = query_pb2.SearchFactsRequest(query="who owns Payments")
        writes = [tier.ingest.AddFacts(stream(stated), metadata=tier.ours) for _ in range(5)]
        searches = [tier.query.SearchFacts(search, metadata=tier.ours) for _ in range(20)]
        answers = [await one for one in searches]
        for write in writes:
            await write
    assert all(answer.hits for answer in answers)
    await store.close()


@pytest.fixture
async def late(graph_stores: LocalStores) -> AsyncIterator[Neo4jStore]:
    """A store whose probe gets no response."""
    store = Neo4jStore(
        database(graph_stores, AdmissionLimits()),
        load_schema(),
        probed=database(graph_stores, AdmissionLimits(size=1), index_states=_ENDLESS),
    )
    await store.ensure_schema()
    yield store
    await store.close()


async def test_a_late_probe_is_not_an_outage_while_callers_are_answered(
    late: Neo4jStore,
) -> None:
    with pytest.raises(StoreUnavailableError):
        await late.ping()
    probing = asyncio.create_task(late.ping())
    while not probing.done():
        await late.facts(new_space(), ["nowhere"])
    await probing


async def test_a_probe_does_not_look_at_indexes_while_plans_are_made(late: Neo4jStore) -> None:
    warming = asyncio.create_task(late.warmer.run())
    async with asyncio.timeout(60):
        while not late.warmer.warming:  # noqa: ASYNC110 - the begin of a round has no event
            await asyncio.sleep(0)
        await late.ping()
    warming.cancel()
    await asyncio.wait([warming])


async def _until_all_threads_have_stopped(pid: int) -> None:
    """Waits for each thread of a process to stop, which takes longer than an answer of one that has not."""
    async with asyncio.timeout(5):
        while _thread_states(pid) != {"T"}:  # noqa: ASYNC110 - processes send no events
            await asyncio.sleep(0.01)


def _thread_states(pid: int) -> set[str]:
    states = set()
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):  # it has just ended
            states.add((thread / "stat").read_text().rpartition(")")[2].split()[0])
    return states


async def test_a_probe_of_a_hung_neo4j_fails_in_time_and_succeeds_once_neo4j_resumes(
    store: Neo4jStore, graph_stores: LocalStores
) -> None:
    await store.ping()
    pid = graph_stores.neo4j.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    try:
        await _until_all_threads_have_stopped(pid)
        for _ in range(2):  # over its existing connection, then over a new one
            with pytest.raises((TimeoutError, StoreUnavailableError)):
                async with asyncio.timeout(0.3):
                    await store.ping()
    finally:
        os.kill(pid, signal.SIGCONT)
    async with asyncio.timeout(PROBE_TIMEOUT):
        await store.ping()

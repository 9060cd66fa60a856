"""Calls fail fast while Neo4j is down, and the tier recovers by itself."""

from __future__ import annotations

import asyncio

import pytest

from deploy.local.stores import LocalStores
from services.graph_query.app import build_store, keep_schema
from services.graph_query.neo4j_store import Neo4jStore
from services.graph_query.settings import GraphSettings
from services.runtime.context import CallContext, call_scope
from services.runtime.errors import DeadlineError, StoreUnavailableError
from tests.conftest import LoopThread
from tests.store_suite.graph.builders import fact, new_space
from tests.store_suite.graph.neo4j_graph import opened, settings


@pytest.mark.restarts_neo4j
async def test_acknowledged_writes_survive_a_kill_of_neo4j_and_calls_fail_fast_meanwhile(
    store: Neo4jStore, graph_stores: LocalStores, stores_loop: LoopThread
) -> None:
    space = new_space()
    await store.add_facts(space, [fact("Anna Bell", "OWNS", "Payments")], "")
    loop = asyncio.get_running_loop()
    await asyncio.to_thread(stores_loop.run, graph_stores.neo4j.kill())
    try:
        for call in (
            store.stats(space),
            store.add_facts(space, [fact("Karl Otto", "OWNS", "Ledger")], ""),
            store.ping(),
        ):
            started = loop.time()
            with pytest.raises(StoreUnavailableError):
                await call
            assert loop.time() - started < 1
    finally:
        await asyncio.to_thread(stores_loop.run, graph_stores.neo4j.start())
    restarted = loop.time()
    async with asyncio.timeout(5):
        await _until_ready(store)
    assert (await store.stats(space)).facts == 1
    assert loop.time() - restarted < 5


async def test_warming_up_plans_changes_no_data(store: Neo4jStore) -> None:
    before = await store.stats("")
    warming = asyncio.create_task(store.warmer.run())
    async with asyncio.timeout(60):
        while store.warmer.rounds == 0:
            assert not warming.done()
            await asyncio.sleep(0.05)
    warming.cancel()
    await asyncio.gather(warming, return_exceptions=True)
    assert await store.stats("") == before


async def test_a_tier_that_starts_before_neo4j_waits_for_it(graph_stores: LocalStores) -> None:
    unreachable = GraphSettings(
        neo4j_uri="bolt://127.0.0.1:9", neo4j_password=settings(graph_stores).neo4j_password
    )
    store = build_store(unreachable)
    waiting = asyncio.create_task(keep_schema(store))
    with pytest.raises(StoreUnavailableError):
        await store.ping()
    assert not waiting.done()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    await store.close()


async def test_a_call_ends_at_its_callers_deadline(store: Neo4jStore) -> None:
    loop = asyncio.get_running_loop()
    call = CallContext("r", "m", new_space(), "u", frozenset(), deadline=loop.time() + 0.0005)
    with call_scope(call), pytest.raises(DeadlineError):
        await store.stats(call.space)


async def test_a_read_waits_for_its_pending_plan_until_its_callers_deadline(
    store: Neo4jStore,
) -> None:
    loop = asyncio.get_running_loop()
    pending = store.pools[0].pending_plans
    pending.add(["facts_in_full"])
    try:
        call = CallContext("r", "m", new_space(), "u", frozenset(), deadline=loop.time() + 0.01)
        with call_scope(call), pytest.raises(DeadlineError):
            await store.facts(call.space, ["none"])
        waiting = asyncio.create_task(store.facts(new_space(), ["none"]))
        await store.stats("")
        assert not waiting.done()
    finally:
        pending.clear()
    assert await waiting == {}


async def test_concurrent_writers_of_one_space_create_no_duplicate_entity(
    graph_stores: LocalStores,
) -> None:
    space = new_space()
    async with opened(graph_stores) as one, opened(graph_stores) as other:
        async with asyncio.TaskGroup() as group:
            for number, store in enumerate((one, other) * 4):
                facts = [
                    fact("Anna Bell", "OWNS", f"Thing {number}"),
                    fact("anna bell", "IS", "Here Now"),
                ]
                group.create_task(store.add_facts(space, facts, ""))
        stats = await one.stats(space)
    assert (stats.entities, stats.facts, stats.revision) == (10, 9, 8)


async def _until_ready(store: Neo4jStore) -> None:
    while True:
        try:
            return await store.ping()
        except StoreUnavailableError:
            await asyncio.sleep(0.05)

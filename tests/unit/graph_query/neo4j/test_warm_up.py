"""Queries are warmed up when Neo4j becomes available, and again after it was unavailable."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from services.graph_query.neo4j.queries import load_queries
from services.graph_query.neo4j.warm_up import (
    EXPANSION_QUERIES,
    SEARCH_QUERIES,
    WARMED_QUERIES,
    PendingPlans,
    QueryPlanWarmer,
)
from services.runtime.errors import DeadlineError, StoreUnavailableError


class FakeWarmUp:
    """Records the queries that are warmed up; fails while Neo4j is unavailable."""

    def __init__(self) -> None:
        self.warmed: list[str] = []
        self.unavailable = False

    async def connect(self) -> None:
        if self.unavailable:
            raise StoreUnavailableError("neo4j")

    async def warm_up(self, name: str) -> None:
        await self.connect()
        self.warmed.append(name)


@asynccontextmanager
async def running(warmer: QueryPlanWarmer) -> AsyncIterator[None]:
    task = asyncio.create_task(warmer.run())
    yield
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not holds():  # noqa: ASYNC110 - the end of a round has no event
            await asyncio.sleep(0)


def test_every_warmed_query_exists() -> None:
    names = load_queries().names()
    assert set(WARMED_QUERIES) <= set(names)
    assert {*SEARCH_QUERIES, *EXPANSION_QUERIES} <= set(WARMED_QUERIES)


async def test_nothing_is_warmed_up_before_the_schema_exists() -> None:
    store = FakeWarmUp()
    warmer = QueryPlanWarmer(store.connect, store.warm_up, PendingPlans(), names=["a"])
    async with running(warmer):
        for _ in range(10):
            await asyncio.sleep(0)
    assert store.warmed == []


async def test_each_query_is_warmed_up_in_order_and_again_after_an_outage() -> None:
    store = FakeWarmUp()
    warmer = QueryPlanWarmer(store.connect, store.warm_up, PendingPlans(), names=["a", "b"])
    async with running(warmer):
        warmer.start()
        await until(lambda: warmer.rounds == 1)
        store.unavailable = True
        for _ in range(2):
            warmer.start()
            await asyncio.sleep(0)
        assert warmer.rounds == 1
        assert warmer.warming
        store.unavailable = False
        await until(lambda: warmer.rounds == 2 and not warmer.warming)
    assert store.warmed == ["a", "b", "a", "b"]


async def test_a_round_that_an_outage_ends_is_repeated_once_neo4j_answers() -> None:
    store = FakeWarmUp()
    warmer = QueryPlanWarmer(
        store.connect, store.warm_up, PendingPlans(), names=["a", "b"], searched=[]
    )
    async with running(warmer):
        with warmer.pause_for_write():
            warmer.start()
            await asyncio.sleep(0)
            store.unavailable = True
        await asyncio.sleep(0)
        store.unavailable = False
        await until(lambda: warmer.rounds == 1)
    assert store.warmed == ["a", "b"]


class SlowWarmUp(FakeWarmUp):
    """Each warm-up ends only when `done` is released."""

    def __init__(self) -> None:
        super().__init__()
        self.done = asyncio.Semaphore(0)

    async def warm_up(self, name: str) -> None:
        await super().warm_up(name)
        await self.done.acquire()


async def test_two_searches_are_planned_at_a_time_and_each_waits_only_for_its_own_plan() -> None:
    store = SlowWarmUp()
    pending = PendingPlans()
    names = ["a", "b", "c"]
    warmer = QueryPlanWarmer(
        store.connect, store.warm_up, pending, names=[*names, "write"], searched=names
    )
    assert "a" not in pending
    async with running(warmer):
        warmer.start()
        await until(lambda: store.warmed == ["a", "b"])
        assert "write" not in pending
        waiting = {name: asyncio.create_task(pending.wait(name)) for name in names}
        store.done.release()
        await until(waiting["a"].done)
        await until(lambda: store.warmed == names)
        assert "b" in pending
        assert not waiting["b"].done()
        assert not waiting["c"].done()
        for _ in range(2):
            store.done.release()
        async with asyncio.timeout(5):
            await asyncio.gather(waiting["b"], waiting["c"])


async def test_expansions_are_planned_one_at_a_time_once_searches_are_planned_and_are_waited_for() -> (
    None
):
    store = SlowWarmUp()
    pending = PendingPlans()
    warmer = QueryPlanWarmer(
        store.connect,
        store.warm_up,
        pending,
        names=["a", "b", "c", "d"],
        searched=["a", "b"],
        expanded=["c", "d"],
    )
    async with running(warmer):
        warmer.start()
        await until(lambda: store.warmed == ["a", "b"])
        waiting = asyncio.create_task(pending.wait("d"))
        for planned in (["a", "b"], ["a", "b", "c"], ["a", "b", "c", "d"]):
            for _ in range(10):
                await asyncio.sleep(0)
            assert (store.warmed, waiting.done()) == (planned, False)
            store.done.release()
            if planned == ["a", "b"]:
                store.done.release()
        async with asyncio.timeout(5):
            await waiting


async def test_no_search_waits_while_neo4j_takes_no_connections() -> None:
    store = FakeWarmUp()
    store.unavailable = True
    pending = PendingPlans()
    warmer = QueryPlanWarmer(store.connect, store.warm_up, pending, names=["a"], searched=["a"])
    async with running(warmer):
        warmer.start()
        for _ in range(10):
            await asyncio.sleep(0)
            assert "a" not in pending


async def test_no_search_waits_for_a_warm_up_that_failed() -> None:
    async def refuse(_name: str) -> None:
        raise StoreUnavailableError("neo4j")

    names = ["a", "b", "c"]
    pending = PendingPlans()
    warmer = QueryPlanWarmer(FakeWarmUp().connect, refuse, pending, names=names, searched=names)
    pending.add(["a"])
    async with running(warmer):
        warmer.start()
        async with asyncio.timeout(5):
            for name in names:
                await pending.wait(name)
    assert warmer.rounds == 0


async def test_only_search_queries_are_warmed_up_during_a_write() -> None:
    store = FakeWarmUp()
    warmer = QueryPlanWarmer(
        store.connect, store.warm_up, PendingPlans(), names=["a", "b"], searched=["a"]
    )
    async with running(warmer):
        with warmer.pause_for_write(), warmer.pause_for_write():
            warmer.start()
            await until(lambda: store.warmed == ["a"])
            for _ in range(10):
                await asyncio.sleep(0)
            assert store.warmed == ["a"]
        await until(lambda: warmer.rounds == 1)
    assert store.warmed == ["a", "b"]


async def test_continuous_writes_delay_a_round_but_do_not_block_it() -> None:
    store = FakeWarmUp()
    warmer = QueryPlanWarmer(
        store.connect, store.warm_up, PendingPlans(), names=["a", "b"], max_pause_seconds=0.01
    )
    async with running(warmer):
        with warmer.pause_for_write():
            warmer.start()
            await until(lambda: warmer.rounds == 1)
    assert store.warmed == ["a", "b"]


async def test_a_round_interrupted_by_a_timeout_is_repeated() -> None:
    outcomes = iter([DeadlineError()])
    warmed: list[str] = []

    async def warm_up(name: str) -> None:
        for error in outcomes:
            raise error
        warmed.append(name)

    warmer = QueryPlanWarmer(
        FakeWarmUp().connect, warm_up, PendingPlans(), names=["a", "b"], searched=[]
    )
    async with running(warmer):
        warmer.start()
        await until(lambda: warmer.rounds == 1)
    assert warmed == ["a", "b"]

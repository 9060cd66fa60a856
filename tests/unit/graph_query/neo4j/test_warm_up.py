"""Warming: queries are warmed once Neo4j is up, and again when it has been away."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from services.graph_query.neo4j.queries import load_queries
from services.graph_query.neo4j.warm_up import (
    SEARCH_QUERIES,
    WARMED_QUERIES,
    PendingPlans,
    QueryPlanWarmer,
)
from services.runtime.errors import DeadlineError, StoreUnavailableError


class Stage:
    """Notes what is warmed; refuses while Neo4j is away."""

    def __init__(self) -> None:
        self.warmed: list[str] = []
        self.away = False

    async def warm_up(self, name: str) -> None:
        if self.away:
            raise StoreUnavailableError("neo4j")
        self.warmed.append(name)


@asynccontextmanager
async def running(warmer: QueryPlanWarmer) -> AsyncIterator[None]:
    task = asyncio.create_task(warmer.run())
    yield
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not holds():  # noqa: ASYNC110 - nothing tells of a round's end
            await asyncio.sleep(0)


def test_every_warmed_query_exists() -> None:
    names = load_queries().names()
    assert set(WARMED_QUERIES) <= set(names)
    assert set(SEARCH_QUERIES) <= set(WARMED_QUERIES)


async def test_nothing_is_rehearsed_before_the_schema_is_there() -> None:
    stage = Stage()
    warmer = QueryPlanWarmer(stage.warm_up, PendingPlans(), ["a"])
    async with running(warmer):
        warmer.note(answers=True)
        await asyncio.sleep(0)
    assert stage.warmed == []


async def test_each_query_is_rehearsed_in_order_and_again_after_an_outage() -> None:
    stage = Stage()
    warmer = QueryPlanWarmer(stage.warm_up, PendingPlans(), ["a", "b"])
    async with running(warmer):
        warmer.start()
        await until(lambda: warmer.rounds == 1)
        for answers in (True, False, False, True, True):
            warmer.note(answers=answers)
        await until(lambda: warmer.rounds == 2)
    assert stage.warmed == ["a", "b", "a", "b"]


async def test_an_outage_during_a_round_leaves_the_rest_to_the_next() -> None:
    stage = Stage()
    warmer = QueryPlanWarmer(stage.warm_up, PendingPlans(), ["a"])
    async with running(warmer):
        stage.away = True
        warmer.start()
        await asyncio.sleep(0)
        warmer.note(answers=False)
        stage.away = False
        warmer.note(answers=True)
        await until(lambda: warmer.rounds == 1)
    assert stage.warmed == ["a"]


class Slow(Stage):
    """A rehearsal ends when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.done = asyncio.Semaphore(0)

    async def warm_up(self, name: str) -> None:
        await super().warm_up(name)
        await self.done.acquire()


async def test_each_search_waits_for_its_own_plan_and_for_no_other() -> None:
    stage = Slow()
    pending = PendingPlans()
    warmer = QueryPlanWarmer(stage.warm_up, pending, ["a", "b", "write"], ["a", "b"])
    assert "a" not in pending
    async with running(warmer):
        warmer.start()
        await until(lambda: stage.warmed == ["a"])
        assert "write" not in pending
        waiting = [asyncio.create_task(pending.wait(name)) for name in ("a", "b")]
        stage.done.release()
        await until(waiting[0].done)
        assert stage.warmed == ["a", "b"]
        assert "b" in pending
        assert not waiting[1].done()
        stage.done.release()
        async with asyncio.timeout(5):
            await waiting[1]
        assert "b" not in pending


async def test_no_search_waits_for_a_store_that_went_away_again() -> None:
    stage = Stage()
    stage.away = True
    pending = PendingPlans()
    warmer = QueryPlanWarmer(stage.warm_up, pending, ["a", "b", "c"], ["a", "b", "c"])
    pending.add(["a"])
    async with running(warmer):
        warmer.start()
        async with asyncio.timeout(5):
            for name in ("a", "b", "c"):
                await pending.wait(name)
    assert warmer.rounds == 0


async def test_nothing_but_what_searches_need_is_rehearsed_while_something_is_written() -> None:
    stage = Stage()
    warmer = QueryPlanWarmer(stage.warm_up, PendingPlans(), ["a", "b"], ["a"])
    async with running(warmer):
        with warmer.pause_for_write(), warmer.pause_for_write():
            warmer.start()
            await until(lambda: stage.warmed == ["a"])
            for _ in range(10):
                await asyncio.sleep(0)
            assert stage.warmed == ["a"]
        await until(lambda: warmer.rounds == 1)
    assert stage.warmed == ["a", "b"]


async def test_writes_without_end_hold_a_round_up_and_do_not_stop_it() -> None:
    stage = Stage()
    warmer = QueryPlanWarmer(stage.warm_up, PendingPlans(), ["a", "b"], max_pause_seconds=0.01)
    async with running(warmer):
        with warmer.pause_for_write():
            warmer.start()
            await until(lambda: warmer.rounds == 1)
    assert stage.warmed == ["a", "b"]


async def test_a_round_that_a_busy_store_ends_early_is_followed_by_another() -> None:
    late = iter([DeadlineError(), None])
    warmed: list[str] = []

    async def warm_up(name: str) -> None:
        if error := next(late, None):
            raise error
        warmed.append(name)

    warmer = QueryPlanWarmer(warm_up, PendingPlans(), ["a", "b"], ["a", "b"])
    async with running(warmer):
        warmer.start()
        await until(lambda: warmer.rounds == 1)
    assert warmed == ["a", "b"]

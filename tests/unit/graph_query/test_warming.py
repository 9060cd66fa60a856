"""Warming: queries are rehearsed once Neo4j is up, and again when it has been away."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from services.graph_query.warming import WARMED, Warmer
from services.runtime.errors import StoreUnavailableError
from services.runtime.queries import Queries


class Stage:
    """Notes what is rehearsed; refuses while Neo4j is away."""

    def __init__(self) -> None:
        self.rehearsed: list[str] = []
        self.away = False

    async def rehearse(self, name: str) -> None:
        if self.away:
            raise StoreUnavailableError("neo4j")
        self.rehearsed.append(name)


@asynccontextmanager
async def running(warmer: Warmer) -> AsyncIterator[None]:
    task = asyncio.create_task(warmer.run())
    yield
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not holds():  # noqa: ASYNC110 - nothing tells of a round's end
            await asyncio.sleep(0)


def test_every_warmed_query_exists() -> None:
    names = Queries.load("services.graph_query", "cypher", ".cypher").names()
    assert set(WARMED) <= set(names)


async def test_nothing_is_rehearsed_before_the_schema_is_there() -> None:
    stage = Stage()
    warmer = Warmer(stage.rehearse, ["a"])
    async with running(warmer):
        warmer.note(answers=True)
        await asyncio.sleep(0)
    assert stage.rehearsed == []


async def test_each_query_is_rehearsed_in_order_and_again_after_an_outage() -> None:
    stage = Stage()
    warmer = Warmer(stage.rehearse, ["a", "b"])
    async with running(warmer):
        warmer.start()
        await until(lambda: warmer.rounds == 1)
        for answers in (True, False, False, True, True):
            warmer.note(answers=answers)
        await until(lambda: warmer.rounds == 2)
    assert stage.rehearsed == ["a", "b", "a", "b"]


async def test_an_outage_during_a_round_leaves_the_rest_to_the_next() -> None:
    stage = Stage()
    warmer = Warmer(stage.rehearse, ["a"])
    async with running(warmer):
        stage.away = True
        warmer.start()
        await asyncio.sleep(0)
        warmer.note(answers=False)
        stage.away = False
        warmer.note(answers=True)
        await until(lambda: warmer.rounds == 1)
    assert stage.rehearsed == ["a"]

"""Work in a thread while something else goes on."""

from __future__ import annotations

import threading

import pytest

from services.graph_query.neo4j.run_in_thread import beside

PATIENCE = 10.0


async def test_the_work_goes_on_while_the_block_does() -> None:
    told = threading.Event()
    async with beside(told.wait, PATIENCE) as running:
        told.set()
        assert await running


async def test_what_the_work_fails_with_is_told_where_its_result_is_awaited() -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        async with beside(int, "no number") as running:
            await running


async def test_a_block_that_fails_leaves_no_work_behind() -> None:
    told, ended = threading.Event(), threading.Event()

    def work() -> None:
        told.wait(PATIENCE)
        ended.set()

    with pytest.raises(LookupError, match="away"):
        async with beside(work):
            told.set()
            raise LookupError("away")
    assert ended.is_set()

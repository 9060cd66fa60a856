"""Work in a thread while something else goes on."""

from __future__ import annotations

import threading

import pytest

from services.graph_query.neo4j.run_in_thread import run_in_thread

PATIENCE = 10.0


async def test_the_work_goes_on_while_the_block_does() -> None:
    result = threading.Event()
    async with run_in_thread(result.wait, PATIENCE) as running:
        result.set()
        assert await running


async def test_what_the_work_fails_with_is_told_where_its_result_is_awaited() -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        async with run_in_thread(int, "no number") as running:
            await running


async def test_a_block_that_fails_leaves_no_work_behind() -> None:
    value, ended = threading.Event(), threading.Event()

    def work() -> None:
        value.wait(PATIENCE)
        ended.set()

    with pytest.raises(LookupError, match="away"):
        async with run_in_thread(work):
            value.set()
            raise LookupError("away")
    assert ended.is_set()

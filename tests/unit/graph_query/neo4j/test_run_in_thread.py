"""Running work in a thread while the calling block continues."""

from __future__ import annotations

import threading

import pytest

from services.graph_query.neo4j.run_in_thread import run_in_thread

PATIENCE = 10.0


async def test_the_work_and_the_block_run_concurrently() -> None:
    result = threading.Event()
    async with run_in_thread(result.wait, PATIENCE) as running:
        result.set()
        assert await running


async def test_an_error_of_the_work_is_raised_where_its_result_is_awaited() -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        async with run_in_thread(int, "no number") as running:
            await running


async def test_a_failing_block_waits_for_the_work_to_end() -> None:
    value, ended = threading.Event(), threading.Event()

    def work() -> None:
        value.wait(PATIENCE)
        ended.set()

    with pytest.raises(LookupError, match="away"):
        async with run_in_thread(work):
            value.set()
            raise LookupError("away")
    assert ended.is_set()

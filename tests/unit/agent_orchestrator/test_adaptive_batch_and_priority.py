"""The batch size adapts to the speed of the graph, and the search stage has priority over the graph stage."""

from __future__ import annotations

import asyncio

import pytest

from services.agent_orchestrator.jobs.adaptive_batch import AdaptiveBatch
from services.agent_orchestrator.jobs.time_slice import StagePriority
from services.runtime.errors import DeadlineError


def test_failures_shrink_the_batch_size_and_fast_batches_double_it() -> None:
    batch_size = AdaptiveBatch(8)
    for _ in range(2):
        with pytest.raises(ValueError, match="away"), batch_size.measured():
            raise ValueError("away")
    assert (batch_size.size, batch_size.is_full) == (1, False)
    for expected in (2, 4, 8, 8):
        with batch_size.measured():
            pass
        assert batch_size.size == expected


def test_a_slow_batch_halves_the_batch_size() -> None:
    batch_size = AdaptiveBatch(8, slow_seconds=-1.0)
    with batch_size.measured():
        pass
    assert batch_size.size == 4


def test_a_batch_of_one_that_exceeds_its_deadline_gets_a_longer_one() -> None:
    batch_size = AdaptiveBatch(8)
    patience = []
    for _ in range(7):
        with pytest.raises(DeadlineError), batch_size.measured():
            raise DeadlineError
        patience.append(batch_size.patience)
    assert patience == [1, 2, 4, 8, 16, 16, 16]  # the first makes the batch smaller
    with batch_size.measured():
        pass
    assert batch_size.patience == 1


async def test_the_graph_stage_waits_while_the_search_stage_runs() -> None:
    priority = StagePriority(60)
    with priority.search_runs():
        waiting = asyncio.create_task(priority.yield_to_search(asyncio.Event()))
        await asyncio.sleep(0)
        assert not waiting.done()
    async with asyncio.timeout(5):
        await waiting


async def test_the_graph_stage_stops_waiting_at_its_limit_or_on_shutdown() -> None:
    stop = asyncio.Event()
    priority = StagePriority(0.01)
    async with asyncio.timeout(5):
        with priority.search_runs():
            await priority.yield_to_search(stop)
    stop.set()
    patient = StagePriority(60)
    async with asyncio.timeout(5):
        with patient.search_runs():
            await patient.yield_to_search(stop)

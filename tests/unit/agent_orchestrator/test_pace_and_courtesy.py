"""How much goes to a graph of unknown speed at once, and which stage goes first."""

from __future__ import annotations

import asyncio

import pytest

from services.agent_orchestrator.ingest.pipeline import episode_retry as pacing
from services.agent_orchestrator.ingest.pipeline.episode_retry import Pace
from services.agent_orchestrator.jobs.time_slice import Courtesy


def test_a_batch_that_fails_is_cut_down_and_quick_ones_double_it_again() -> None:
    pace = Pace(8)
    for _ in range(2):
        with pytest.raises(ValueError, match="away"), pace.measured():
            raise ValueError("away")
    assert (pace.size, pace.is_full) == (1, False)
    for expected in (2, 4, 8, 8):
        with pace.measured():
            pass
        assert pace.size == expected


def test_a_slow_batch_is_halved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pacing, "SLOW_SECONDS", -1.0)
    pace = Pace(8)
    with pace.measured():
        pass
    assert pace.size == 4


async def test_the_graph_gives_way_until_uploads_are_embedded() -> None:
    courtesy = Courtesy(60)
    with courtesy.goes_first():
        waiting = asyncio.create_task(courtesy.give_way(asyncio.Event()))
        await asyncio.sleep(0)
        assert not waiting.done()
    async with asyncio.timeout(5):
        await waiting


async def test_the_graph_does_not_give_way_for_ever_nor_hold_up_an_end() -> None:
    stop = asyncio.Event()
    courtesy = Courtesy(0.01)
    async with asyncio.timeout(5):
        with courtesy.goes_first():
            await courtesy.give_way(stop)
    stop.set()
    patient = Courtesy(60)
    async with asyncio.timeout(5):
        with patient.goes_first():
            await patient.give_way(stop)

"""A turn that is interrupted through no fault of its uploads releases them; a slow one says what takes long."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Collection, Mapping, Sequence

import pytest

from services.agent_orchestrator.ingest.pipeline import search_turn
from services.agent_orchestrator.ingest.pipeline.batches import Batch
from services.agent_orchestrator.ingest.pipeline.search_turn import SearchTurns
from services.agent_orchestrator.ingest.sandbox.reader import Parsers
from services.agent_orchestrator.jobs.queue import SEARCH, Turn, TurnLostError
from services.agent_orchestrator.jobs.time_slice import StagePriority
from services.agent_orchestrator.jobs.work_store import ReadJob, TakenUpload
from tests.unit.agent_orchestrator.ingest.pipeline.test_batches import taken

TURN = Turn(1, SEARCH, "s", uuid.uuid4())


class Work:
    """A work store with one upload. If `lost`, another worker has claimed the turn when results are recorded."""

    def __init__(self, *, lost: bool) -> None:
        self.lost = lost
        self.released: set[str] = set()
        self.recorded = 0
        self.reasons: asyncio.Queue[str] = asyncio.Queue()

    async def set_waiting_reason(self, turn: Turn, reason: str) -> None:
        self.reasons.put_nowait(reason)

    async def claim_uploads(
        self, turn: Turn, claimed: Collection[str], *, count: int, size: int
    ) -> list[TakenUpload]:
        return [] if claimed else [taken("j", "a")]

    async def unchanged(self, jobs: Mapping[str, int]) -> set[str]:
        return set(jobs)

    async def record_read(self, turn: Turn, read: Sequence[ReadJob]) -> None:
        self.recorded += 1
        if self.lost:
            raise TurnLostError

    async def release_uploads(self, job_ids: Collection[str]) -> None:
        self.released.update(job_ids)


class Stages:
    """Stages that do nothing; the last one waits for `proceed`."""

    batch_chunks = 512

    def __init__(self) -> None:
        self.arrived = asyncio.Event()
        self.proceed = asyncio.Event()

    async def dimension(self) -> int:
        return 4

    async def check(self, batch: Batch, on_the_way: object) -> None:
        """Does nothing."""

    async def embed(self, batch: Batch) -> None:
        """Does nothing."""

    async def store(self, batch: Batch) -> None:
        self.arrived.set()
        await self.proceed.wait()


def search_turns(work: Work, stages: Stages) -> SearchTurns:
    return SearchTurns(
        work,  # type: ignore[arg-type] # has the methods that a turn calls
        stages,  # type: ignore[arg-type] # as above
        Parsers().parse,
        StagePriority(),
        max_message_bytes=2**20,
        turn_seconds=60,
    )


async def run_turn(work: Work, *, stopped: bool) -> None:
    """Runs a turn and, if the worker is `stopped`, cancels it while it stores."""
    stages, stop = Stages(), asyncio.Event()
    running = asyncio.create_task(search_turns(work, stages).run(TURN, stop))
    async with asyncio.timeout(10):
        await stages.arrived.wait()
    if stopped:
        stop.set()
        running.cancel()
    stages.proceed.set()
    await running


async def test_a_stopped_worker_releases_its_uploads() -> None:
    work = Work(lost=False)
    with pytest.raises(asyncio.CancelledError):
        await run_turn(work, stopped=True)
    assert (work.released, work.recorded) == ({"j"}, 0)


async def test_a_lost_turn_releases_its_uploads() -> None:
    work = Work(lost=True)
    with pytest.raises(TurnLostError):
        await run_turn(work, stopped=False)
    assert (work.released, work.recorded) == ({"j"}, 1)


class SlowStages(Stages):
    """Stages of which embedding takes long."""

    async def embed(self, batch: Batch) -> None:
        batch.texts, batch.embedded = 9, 3
        await self.proceed.wait()


async def test_jobs_say_what_takes_long_until_their_batch_is_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(search_turn, "REPORT_SECONDS", 0.01)
    work, stages = Work(lost=False), SlowStages()
    running = asyncio.create_task(search_turns(work, stages).run(TURN, asyncio.Event()))
    async with asyncio.timeout(10):
        while "embedding" not in (reason := await work.reasons.get()):
            pass
        stages.proceed.set()
        await running
    assert reason.startswith("embedding takes long: 3 of 9 texts in ")
    while not work.reasons.empty():
        reason = work.reasons.get_nowait()
    assert (reason, work.recorded) == ("", 1)

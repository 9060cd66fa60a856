"""A turn that is interrupted for no fault of its uploads leaves no blame on them."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Collection, Mapping, Sequence

import pytest

from services.agent_orchestrator.ingest.pipeline.batches import Batch
from services.agent_orchestrator.ingest.pipeline.search_turn import SearchTurns
from services.agent_orchestrator.ingest.sandbox.reader import Parsers
from services.agent_orchestrator.jobs.queue import SEARCH, Turn, TurnLostError
from services.agent_orchestrator.jobs.time_slice import StagePriority
from services.agent_orchestrator.jobs.work_store import ReadJob, TakenUpload
from tests.unit.agent_orchestrator.test_reading import taken


class Work:
    """One upload of one document; what was left is noted. `lost`: the turn is another worker's by then."""

    def __init__(self, *, lost: bool) -> None:
        self.lost = lost
        self.left: set[str] = set()
        self.noted = 0

    async def claim_uploads(
        self, turn: Turn, claimed: Collection[str], *, count: int, size: int
    ) -> list[TakenUpload]:
        return [] if claimed else [taken("j", "a")]

    async def unchanged(self, jobs: Mapping[str, int]) -> set[str]:
        return set(jobs)

    async def record_read(self, turn: Turn, read: Sequence[ReadJob]) -> None:
        self.noted += 1
        if self.lost:
            raise TurnLostError

    async def release_uploads(self, job_ids: Collection[str]) -> None:
        self.left.update(job_ids)


class Stages:
    """Stages that do nothing; the last waits until `go_on`."""

    def __init__(self) -> None:
        self.arrived = asyncio.Event()
        self.go_on = asyncio.Event()

    async def dimension(self) -> int:
        return 4

    async def check(self, batch: Batch, on_the_way: object) -> None:
        """Nothing."""

    async def embed(self, batch: Batch) -> None:
        """Nothing."""

    async def store(self, batch: Batch) -> None:
        self.arrived.set()
        await self.go_on.wait()


async def interrupted(work: Work, *, stopped: bool) -> None:
    """Runs a turn, cancelled while it stores where the worker stops."""
    stages, stop = Stages(), asyncio.Event()
    turns = SearchTurns(
        work,  # type: ignore[arg-type] # what a turn asks of it
        stages,  # type: ignore[arg-type] # as above
        Parsers().parse,
        StagePriority(),
        max_message_bytes=2**20,
        turn_seconds=60,
    )
    turn = Turn(1, SEARCH, "s", uuid.uuid4())
    running = asyncio.create_task(turns.run(turn, stop))
    async with asyncio.timeout(10):
        await stages.arrived.wait()
    if stopped:
        stop.set()
        running.cancel()
    stages.go_on.set()
    await running


async def test_a_worker_that_stops_blames_no_upload() -> None:
    work = Work(lost=False)
    with pytest.raises(asyncio.CancelledError):
        await interrupted(work, stopped=True)
    assert (work.left, work.noted) == ({"j"}, 0)


async def test_a_turn_that_is_lost_blames_no_upload() -> None:
    work = Work(lost=True)
    with pytest.raises(TurnLostError):
        await interrupted(work, stopped=False)
    assert (work.left, work.noted) == ({"j"}, 1)

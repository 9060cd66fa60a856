"""Runs jobs in the background: those of one space one after the other, spaces side by side and in turn."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import replace

from services.agent_orchestrator.ingest.backlog import Place
from services.agent_orchestrator.ingest.jobs import Job, JobBoard
from services.agent_orchestrator.ingest.pipeline import Pipeline
from services.runtime.context import call_scope


class JobRunner:
    """Takes accepted jobs. A space's jobs keep their order: a later version of a document is written later."""

    def __init__(self, pipeline: Pipeline, board: JobBoard, *, at_once: int) -> None:
        self._pipeline = pipeline
        self._board = board
        self._at_once = at_once
        self._waiting: dict[str, deque[tuple[Job, Place]]] = {}
        # Spaces with jobs of which none is running, in turn: a space with many jobs waits behind one with few.
        self._ready: asyncio.Queue[str] = asyncio.Queue()

    def submit(self, job: Job, place: Place) -> None:
        """Queues the job. Its place in the backlog is given back when it has ended."""
        self._board.add(job)
        jobs = self._waiting.get(job.call.space)
        if jobs is None:
            jobs = self._waiting[job.call.space] = deque()
            self._ready.put_nowait(job.call.space)
        jobs.append((job, place))

    async def run(self) -> None:
        """Works until cancelled."""
        async with asyncio.TaskGroup() as group:
            for _ in range(self._at_once):
                group.create_task(self._work())

    async def _work(self) -> None:
        while True:
            space = await self._ready.get()
            job, place = self._waiting[space].popleft()
            await self._run(job, place)
            if self._waiting[space]:
                self._ready.put_nowait(space)
            else:
                del self._waiting[space]

    async def _run(self, job: Job, place: Place) -> None:
        # The caller has its answer: the call's deadline does not bound the work.
        with call_scope(replace(job.call, deadline=None)):
            try:
                await self._pipeline.run(job)
            finally:
                place.leave()
                self._board.retire(job)

"""Watches jobs: database notifications trigger one query that all watchers of a process share."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

import asyncpg

from services.agent_orchestrator.jobs.records import JobRecord
from services.agent_orchestrator.jobs.store import JobStore
from services.runtime.errors import BraidError, NotFoundError
from services.runtime.telemetry import get_logger

# Minimum seconds between two queries, and the maximum if no notification arrives, as while the database is unavailable.
LOOK_SECONDS = 0.2
MAX_LOOK_SECONDS = 1.0


class Watchers:
    """Informs watchers of changes to jobs."""

    def __init__(self, jobs: JobStore) -> None:
        self._jobs = jobs
        self._watched: Counter[str] = Counter()
        self._asked: set[str] = set()
        self._seen: dict[str, JobRecord] = {}
        self._looked = asyncio.Event()
        self._wanted = asyncio.Event()
        self._changes = asyncio.Event()

    def wake(self) -> None:
        """Jobs have changed: triggers a query soon, if there are watchers."""
        self._changes.set()

    async def run(self) -> None:
        """Queries while there are watchers, until cancelled."""
        while True:
            await self._wanted.wait()
            self._changes.clear()
            await self._poll()
            await asyncio.sleep(LOOK_SECONDS)
            with suppress(TimeoutError):
                async with asyncio.timeout(MAX_LOOK_SECONDS - LOOK_SECONDS):
                    await self._changes.wait()

    async def watch(self, space: str, job_id: str) -> AsyncIterator[JobRecord]:
        """Yields a job of the space now and at each change until it has ended. Raises NotFoundError if unknown."""
        job = await self._jobs.get(space, job_id)
        self._enter(job.id)
        try:
            while True:
                yield job
                if job.ended:
                    return
                job = await self._changed(job)
        finally:
            self._leave(job.id)

    async def _changed(self, job: JobRecord) -> JobRecord:
        while True:
            await self._looked.wait()
            now = self._seen.get(job.id, job)
            if now.update_time != job.update_time:
                return now
            if job.id in self._asked and job.id not in self._seen:
                raise NotFoundError("job")

    async def _poll(self) -> None:
        asked = list(self._watched)
        try:
            seen = await self._jobs.get_many(asked)
        except (BraidError, TimeoutError) as error:
            get_logger("watchers").warning("no look at jobs", error=type(error).__name__)
            return
        self._asked, self._seen = set(asked), seen
        looked, self._looked = self._looked, asyncio.Event()
        looked.set()

    def _enter(self, job_id: str) -> None:
        self._watched[job_id] += 1
        self._wanted.set()
        self._changes.set()  # a change after its first read may have been notified before it was registered

    def _leave(self, job_id: str) -> None:
        self._watched[job_id] -= 1
        self._watched += Counter()
        if not self._watched:
            self._wanted.clear()


JOB_CHANGED = "braid_job_changed"
CONNECT_SECONDS = 5.0
AGAIN_SECONDS = 1.0


class Listener:
    """A separate connection that calls `on_notification` for each notification of a channel."""

    def __init__(self, url: str, channel: str, on_notification: Callable[[], None]) -> None:
        self._url = url
        self._channel = channel
        self._on_notification = on_notification

    async def run(self) -> None:
        """Listens until cancelled, and reconnects whenever the connection is lost."""
        while True:
            try:
                await self._listen()
            except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError):
                await asyncio.sleep(AGAIN_SECONDS)

    async def _listen(self) -> None:
        connection = await asyncpg.connect(
            self._url,
            timeout=CONNECT_SECONDS,
            server_settings={"application_name": "braid-agent-listen"},
        )
        over = asyncio.Event()
        try:
            connection.add_termination_listener(lambda _: over.set())
            await connection.add_listener(self._channel, lambda *_: self._on_notification())
            self._on_notification()
            await over.wait()
        finally:
            connection.terminate()

"""The orchestrator's job stores over real PostgreSQL, for tests that act as a worker."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from services.agent_orchestrator.database import Database
from services.agent_orchestrator.jobs.queue import SEARCH, TurnQueue
from services.agent_orchestrator.jobs.records import NewJob
from services.agent_orchestrator.jobs.store import JobStore
from services.agent_orchestrator.jobs.tasks import TaskStore
from services.agent_orchestrator.jobs.work_store import ReadJob, Searchable, WorkStore

LEASE = 0.3
ONE, OTHER = uuid.uuid4(), uuid.uuid4()


@dataclass
class JobStores:
    """The job stores over one database."""

    database: Database
    turns: TurnQueue
    jobs: JobStore
    work: WorkStore
    tasks: TaskStore

    @classmethod
    def over(cls, database: Database) -> JobStores:
        """Builds the stores over a database, with turn leases of `LEASE` seconds."""
        turns = TurnQueue(database, lease_seconds=LEASE)
        stores = JobStore(database, turns), WorkStore(database, turns), TaskStore(database, turns)
        return cls(database, turns, *stores)

    async def upload(self, space: str = "s") -> str:
        """Enqueues an upload of one document and returns its job's id."""
        new = NewJob(space, "", "", "upload", {}, documents_total=1, data=b"text")
        return (await self.jobs.enqueue(new)).id

    async def read(self, job_id: str) -> None:
        """Claims the search turn, records the upload's document as searchable, and ends the turn."""
        [turn] = await self.turns.claim(ONE, SEARCH, 1)
        [taken] = await self.work.claim_uploads(turn, (), count=9, size=9)
        await self.work.record_read(turn, [searchable(job_id, taken.retries)])
        await self.work.end_turn(turn)


def searchable(job_id: str, retries: int = 0) -> ReadJob:
    """The record of an upload whose only document is searchable."""
    document = Searchable(0, "d", 1, b"", unchanged=False, chunks_added=1)
    return ReadJob(job_id, 1, read=True, searchable=[document], failures=[], retries=retries)

"""The check's access to jobs, in the orchestrator's database."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from services.agent_orchestrator.consistency.confirmation import DeadWork
from services.agent_orchestrator.database import Database
from services.agent_orchestrator.jobs.queue import SEARCH
from services.agent_orchestrator.jobs.records import WHOLE_JOB
from services.agent_orchestrator.jobs.store import DeadDocument, JobStore
from services.runtime.errors import WrongStateError

PAGE = 500
_LAST = (datetime.max.replace(tzinfo=UTC), "ffffffff-ffff-ffff-ffff-ffffffffffff", 2**31 - 1)


@dataclass(frozen=True, slots=True)
class Dead:
    """Implements `DeadWork`."""

    job_id: str
    document_id: str


class JobWork:
    """Implements `Work`."""

    def __init__(self, database: Database, jobs: JobStore) -> None:
        self._database = database
        self._jobs = jobs

    async def in_progress(self, space: str, document_ids: Sequence[str]) -> set[str]:
        """See `Work`."""
        query = self._database.queries["documents_in_progress"]
        async with self._database.pool.session() as session:
            rows = await session.fetch(query, space, list(document_ids))
        return {row["document_id"] for row in rows}

    async def dead(self, space: str) -> AsyncIterator[DeadWork]:
        """See `Work`: documents that the graph refused, and jobs that failed entirely, but no unreadable documents."""
        before, more = _LAST, True
        while more:
            page = await self._jobs.dead(space, before=before, size=PAGE)
            for one in page:
                if _is_repairable(one):
                    yield Dead(one.job_id, one.failure.document_id)
            more = len(page) == PAGE
            if more:
                before = (page[-1].create_time, page[-1].job_id, page[-1].failure.position)

    async def seen_graph(self, space: str) -> int:
        """See `Work`."""
        async with self._database.pool.session() as session:
            return int(await session.value(self._database.queries["seen_graph"], space) or 0)

    async def accept_graph(self, space: str, revision: int) -> None:
        """See `Work`."""
        async with self._database.pool.session() as session:
            await session.execute(self._database.queries["accept_graph"], space, revision)

    async def retry(self, space: str, job_id: str) -> bool:
        """See `Work`. Work that a later job has superseded is not retried."""
        try:
            if await self._jobs.superseded(space, job_id):
                return False
            await self._jobs.retry(space, job_id)
        except WrongStateError:
            return False
        return True


def _is_repairable(dead: DeadDocument) -> bool:
    return dead.failure.stage != SEARCH or dead.failure.position == WHOLE_JOB

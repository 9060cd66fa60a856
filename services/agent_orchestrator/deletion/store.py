"""Deletions and ends of documents in the orchestrator's database: their order among a space's uploads, their progress.

Uploads accepted after a deletion are not read until the document is deleted from the vector tier, and their version of
the document is added to the graph only after the deletion from the graph.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any, NamedTuple

from services.agent_orchestrator.database import Database
from services.agent_orchestrator.jobs.queue import GRAPH, SEARCH, TurnLostError, TurnQueue
from services.agent_orchestrator.jobs.records import JobRecord, NewJob, job_record
from services.agent_orchestrator.jobs.store import JobStore
from services.agent_orchestrator.jobs.tasks import Task
from services.postgres.pool import Session
from services.runtime.context import CallContext

DELETE = "delete"
_KEEP_VERSIONS = "keep_versions"

Rows = Sequence[Sequence[str | int]]
"""What was removed: store, kind, count."""
Progress = dict[str, Any]


class VectorOutcome(NamedTuple):
    """What the vector tier has removed of a document; `end_time` is set if the document has ended instead."""

    removed: Rows = ()
    end_time: datetime | None = None


def keeps_versions(job: JobRecord) -> bool:
    """Whether a deletion only ends the document."""
    return bool(job.arguments.get(_KEEP_VERSIONS))


class DeletionStore:
    """Deletions of every space."""

    def __init__(self, database: Database, turns: TurnQueue, jobs: JobStore) -> None:
        self._database = database
        self._queries = database.queries
        self._turns = turns
        self._jobs = jobs

    async def running(self, space: str, document_id: str) -> JobRecord | None:
        """Returns the document's unfinished deletion, unless a later upload may add the document again."""
        async with self._database.pool.session() as session:
            row = await session.row(self._queries["running_deletion"], space, document_id)
        return None if row is None else job_record(row)

    async def expected(self, space: str, document_id: str) -> bool:
        """Whether accepted work may still add the document."""
        return await self._ask("document_expected", space, document_id)

    async def accept(
        self, call: CallContext, document_id: str, *, keep_versions: bool
    ) -> JobRecord:
        """Accepts a deletion; the same request again returns the same job."""
        kept = {_KEEP_VERSIONS: True} if keep_versions else {}
        identity = "\0".join((DELETE, document_id, *kept))
        digest = sha256(identity.encode()).hexdigest()
        return await self._jobs.enqueue(
            NewJob(
                space=call.space,
                user=call.user,
                request_id=call.request_id,
                kind=DELETE,
                arguments={"document_id": document_id, **kept},
                input_hash=digest,
                documents_total=1,
            )
        )

    async def has_earlier_work(self, job: JobRecord) -> bool:
        """Whether earlier uploads that may add the document, or earlier deletions of it, are unfinished."""
        return await self._ask("earlier_work", job.space, job.number, job.arguments["document_id"])

    async def is_pending(self, job: JobRecord, mark: int) -> bool:
        """Whether content of the document that became searchable before its deletion still waits for the graph."""
        return await self._ask("document_pending", job.space, job.arguments["document_id"], mark)

    async def leave_vector(self, task: Task, outcome: VectorOutcome) -> Progress:
        """Records what the vector tier did: uploads resume, and a deleted document's waiting content is dropped."""
        space, document_id = task.job.space, task.job.arguments["document_id"]
        end_time = outcome.end_time.isoformat() if outcome.end_time else None
        async with self._database.pool.transaction() as session:
            await self._turns.lock(session, task.turn)
            await self._turns.request(session, SEARCH, space)
            if not keeps_versions(task.job):
                await self._jobs.mark_document_deleted(session, space, document_id)
                await session.execute(self._queries["forget_expiry"], space, document_id)
            mark = await session.value(self._queries["last_document"])
            progress = {"vector": outcome.removed, "mark": mark, "end_time": end_time}
            return await self._save(session, task, progress)

    async def leave_graph(self, task: Task, progress: Progress, removed: Rows) -> Progress:
        """Records the deletion from the graph: later content of the document may be added."""
        async with self._database.pool.transaction() as session:
            await self._turns.lock(session, task.turn)
            await self._turns.request(session, GRAPH, task.job.space)
            return await self._save(session, task, {**progress, "graph": removed})

    async def _save(self, session: Session, task: Task, progress: Progress) -> Progress:
        done = int("graph" in progress)
        key, encoded = uuid.UUID(task.job.id), json.dumps(progress)
        row = await session.row(self._queries["save_task"], key, encoded, 1, 1, done, 0)
        if row is None:
            raise TurnLostError
        return progress

    async def _ask(self, query: str, *arguments: object) -> bool:
        async with self._database.pool.session() as session:
            return bool(await session.value(self._queries[query], *arguments))

"""The job store in PostgreSQL for callers that create, read, cancel and retry jobs."""

from __future__ import annotations

import json
import struct
import uuid
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from services.agent_orchestrator.database import Database
from services.agent_orchestrator.jobs.queue import SEARCH, TASK, TurnQueue
from services.agent_orchestrator.jobs.records import (
    DELETE_SPACE,
    UPLOAD,
    Failure,
    JobRecord,
    JobWarning,
    NewJob,
    job_record,
)
from services.postgres.pool import Row, Session
from services.runtime.errors import KeyReusedError, NotFoundError, WrongStateError
from services.runtime.idempotency import new_id

MAX_FAILURES = 1000
# A warning may be several times as long as a reason of failure.
MAX_WARNINGS = 200
# Failures of each job in a page of jobs, which must fit into one message.
LISTED_FAILURES = 10
LAST_NUMBER = 2**63 - 1


class Waiting(NamedTuple):
    """The waiting and running jobs of a space, and their bytes that are still to be read."""

    jobs: int
    bytes: int


@dataclass(frozen=True, slots=True)
class DeadDocument:
    """A document that could not be ingested, in its space's list."""

    job_id: str
    failure: Failure
    create_time: datetime


class DocumentCounts(NamedTuple):
    """How many documents a space may contain, and how many are accepted and not stored yet."""

    allowed: int
    waiting: int


class RetriedDead(NamedTuple):
    """The dead documents that are queued again, their jobs, and the documents that remain dead."""

    documents: int
    jobs: int
    remaining: int


class JobStore:
    """Accepts jobs and returns their state. Only its own space can access a job."""

    def __init__(self, database: Database, turns: TurnQueue) -> None:
        self._database = database
        self._queries = database.queries
        self._turns = turns

    async def enqueue(self, job: NewJob) -> JobRecord:
        """Accepts a job with its input atomically. A repetition with the same idempotency key returns the same job."""
        async with self._database.pool.transaction() as session:
            return await self.enqueue_within(session, job)

    async def enqueue_within(self, session: Session, job: NewJob) -> JobRecord:
        """Does the same as part of the caller's transaction.

        Raises WrongStateError while the space is being imported, and for an upload beyond what it takes in a day.
        """
        size = len(job.data or b"")
        await self._check_limits(session, job, size)
        key = uuid.UUID(new_id("job"))
        row = await session.row(
            self._queries["add_job"],
            key,
            job.space,
            job.user,
            job.request_id,
            job.kind,
            json.dumps(job.arguments),
            job.input_hash,
            size,
            job.documents_total,
        )
        if row is None:
            return await self._same(session, key, job)
        if job.data is not None:
            await add_input(session, self._queries["add_input"], row["id"], job.data)
        await self._ask(session, row)
        return job_record(row)

    async def _check_limits(self, session: Session, job: NewJob, size: int) -> None:
        limits = await session.row(self._queries["job_limits"], job.space)
        if limits is None:
            return
        if limits["imported"] and job.kind != DELETE_SPACE:
            raise WrongStateError("The space is being imported: wait until that has ended.")
        allowed, used = limits["allowed"], limits["used"]
        if job.kind == UPLOAD and allowed is not None and used + size > allowed:
            raise WrongStateError(
                f"The space takes {allowed} bytes of uploads a day, and has taken {used} today (UTC): "
                "upload the rest tomorrow, or raise the limit of the space."
            )

    async def document_limit(self, space: str) -> DocumentCounts | None:
        """Returns how many documents the space may contain; None for any number."""
        async with self._database.pool.session() as session:
            row = await session.row(self._queries["document_limit"], space)
        return None if row is None else DocumentCounts(*row.values())

    async def enqueue_alone(self, job: NewJob, *, per_user: bool = False) -> JobRecord:
        """Accepts a job, or returns the waiting or running one of its kind (and user, if `per_user`)."""
        async with self._database.pool.transaction() as session:
            await session.execute(self._queries["lock_kind"], job.space, job.kind)
            user = job.user if per_user else None
            row = await session.row(self._queries["unended_job"], job.space, job.kind, user)
            if row is None:
                return await self.enqueue_within(session, job)
            [unended] = await self._with_failures(session, [row], LISTED_FAILURES)
        return unended

    async def get(self, space: str, job_id: str) -> JobRecord:
        """Returns a job of the space. Raises NotFoundError for an unknown job and for one of another space."""
        async with self._database.pool.session() as session:
            row = await session.row(self._queries["get_job"], space, uuid.UUID(job_id))
            if row is None:
                raise NotFoundError("job")
            [job] = await self._with_failures(session, [row])
        return job

    async def get_many(self, job_ids: Sequence[str]) -> dict[str, JobRecord]:
        """Returns jobs by id, without a check of the space: for callers that were authorized before."""
        async with self._database.pool.session() as session:
            rows = await session.fetch(
                self._queries["get_jobs"], [uuid.UUID(one) for one in job_ids]
            )
            return {job.id: job for job in await self._with_failures(session, rows)}

    async def page(
        self,
        space: str,
        *,
        before: int,
        states: Sequence[str],
        size: int,
        kinds: Sequence[str] = (),
    ) -> list[JobRecord]:
        """Returns jobs of a space, latest first, with a number lower than `before`; of any kind if `kinds` is empty.

        Each job contains only its first failures.
        """
        async with self._database.pool.session() as session:
            rows = await session.fetch(
                self._queries["list_jobs"], space, before, list(states), list(kinds), size
            )
            return await self._with_failures(session, rows, LISTED_FAILURES)

    async def dead(
        self, space: str, *, before: tuple[datetime, str, int], size: int
    ) -> list[DeadDocument]:
        """Returns documents of a space that could not be ingested, latest first."""
        time, job_id, position = before
        async with self._database.pool.session() as session:
            rows = await session.fetch(
                self._queries["list_failures"], space, time, uuid.UUID(job_id), position, size
            )
        return [DeadDocument(str(row["job_id"]), _failure(row), row["create_time"]) for row in rows]

    async def note_seen_graph(self, space: str, revision: int) -> None:
        """Records the revision of a space's graph after a write."""
        async with self._database.pool.session() as session:
            await session.execute(self._queries["note_seen_graph"], space, revision)

    async def cancel(self, space: str, job_id: str) -> JobRecord:
        """Ends a job; one that has ended already is not changed."""
        async with self._database.pool.transaction() as session:
            await session.row(self._queries["cancel_job"], space, uuid.UUID(job_id))
        return await self.get(space, job_id)

    async def retry(self, space: str, job_id: str) -> JobRecord:
        """Retries the failed part of an ended job. Raises WrongStateError if it has not ended or has no such part."""
        job = await self.get(space, job_id)
        if not job.ended:
            raise WrongStateError("The job has not ended yet.")
        async with self._database.pool.transaction() as session:
            await self._retry(session, job)
        return await self.get(space, job_id)

    async def retry_dead(self, space: str, since: datetime) -> RetriedDead:
        """Retries all documents of the space's ended uploads that failed since a time."""
        async with self._database.pool.transaction() as session:
            # Locks the turn first: workers lock in the same order.
            await self._turns.request(session, SEARCH, space)
            row = await session.row(self._queries["retry_dead"], space, since)
            remaining = await session.value(self._queries["count_dead"], space, since)
        assert row is not None  # noqa: S101 - an aggregate has one row
        return RetriedDead(row["documents"], row["jobs"], remaining)

    async def superseded(self, space: str, job_id: str) -> bool:
        """Whether a later job may have written or deleted what a retry of this job would write or delete."""
        async with self._database.pool.session() as session:
            key = uuid.UUID(job_id)
            return bool(await session.value(self._queries["superseded"], space, key))

    async def backlog(self) -> dict[str, Waiting]:
        """Returns the waiting and running work by space."""
        async with self._database.pool.session() as session:
            rows = await session.fetch(self._queries["backlog"])
        return {row["space"]: Waiting(row["jobs"], row["bytes"]) for row in rows}

    async def mark_document_deleted(self, session: Session, space: str, document_id: str) -> None:
        """Marks a deleted document: its content that waits for the graph is removed from the graph instead."""
        await session.execute(self._queries["mark_document_deleted"], space, document_id)

    async def _retry(self, session: Session, job: JobRecord) -> None:
        key = uuid.UUID(job.id)
        if job.kind == UPLOAD and not await session.value(self._queries["has_input"], key):
            raise WrongStateError("Nothing of the job is left to do.")
        # Locks the turn first: workers lock in the same order.
        await self._turns.request(session, *_turn(job.kind, job.space, job.id))
        again = await session.fetch(self._queries["retry_failures"], key)
        await session.execute(self._queries["delete_job_failure"], key)
        if await session.row(self._queries["retry_job"], job.space, key, len(again)) is None:
            raise WrongStateError("The job has not ended yet.")

    async def _same(self, session: Session, key: uuid.UUID, job: NewJob) -> JobRecord:
        row = await session.row(
            self._queries["same_job"], job.space, key, job.request_id, job.input_hash
        )
        if row is None:
            raise WrongStateError("The same request's job was forgotten meanwhile.")
        if row["input_hash"] != job.input_hash:
            raise KeyReusedError
        [same] = await self._with_failures(session, [row])
        return same

    async def _ask(self, session: Session, row: Row) -> None:
        await self._turns.request(session, *_turn(row["kind"], row["space"], str(row["id"])))

    async def _with_failures(
        self, session: Session, rows: Sequence[Row], limit: int = MAX_FAILURES
    ) -> list[JobRecord]:
        failed = [row["id"] for row in rows if row["documents_failed"] or row["state"] == "failed"]
        failures: dict[Any, list[Failure]] = defaultdict(list)
        if failed:
            for row in await session.fetch(self._queries["job_failures"], failed, limit):
                failures[row["job_id"]].append(_failure(row))
        warnings = await self._warnings(session, rows, limit)
        return [job_record(row, failures[row["id"]], warnings[row["id"]]) for row in rows]

    async def _warnings(
        self, session: Session, rows: Sequence[Row], limit: int
    ) -> dict[Any, list[JobWarning]]:
        warned = [row["id"] for row in rows if row["warning_count"]]
        warnings: dict[Any, list[JobWarning]] = defaultdict(list)
        if warned:
            for row in await session.fetch(
                self._queries["job_warnings"], warned, min(limit, MAX_WARNINGS)
            ):
                warnings[row["job_id"]].append(_warning(row))
        return warnings


def _turn(kind: str, space: str, job_id: str) -> tuple[str, str]:
    return (SEARCH, space) if kind == UPLOAD else (TASK, job_id)


def _warning(row: Row) -> JobWarning:
    return JobWarning(
        row["position"], row["document_id"], row["reason"], row["notice"], row["place"]
    )


def _failure(row: Row) -> Failure:
    return Failure(row["position"], row["document_id"], row["stage"], row["reason"])


# Longer inputs take more than a few milliseconds to encode into one statement.
MAX_AT_ONCE = 1024 * 1024
_PART = 256 * 1024
# PostgreSQL's binary COPY format: signature, no flags, no header extension; each value follows its length.
_HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_END = struct.pack(">h", -1)


async def add_input(session: Session, sql: str, job_id: UUID, data: bytes) -> None:
    """Stores the bytes of an upload: short ones with the statement `sql`, long ones in parts with COPY."""
    if len(data) <= MAX_AT_ONCE:
        await session.execute(sql, job_id, data)
        return
    await session.copy("job_input", ("job_id", "data"), _row(job_id, data))


async def _row(job_id: UUID, data: bytes) -> AsyncIterator[bytes | memoryview]:
    yield _HEADER + struct.pack(">hi", 2, len(job_id.bytes)) + job_id.bytes
    yield struct.pack(">i", len(data))
    view = memoryview(data)
    for start in range(0, len(data), _PART):
        yield view[start : start + _PART]
    yield _END

"""The job store in PostgreSQL for workers: a space's next work, and the recording of results, in one transaction.

Results are recorded only with a valid turn: a worker that has lost it records nothing, and its work is repeated.
Locks are always taken in the same order: turns (search before graph), then jobs.
"""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import groupby

from services.agent_orchestrator.database import Database
from services.agent_orchestrator.jobs.queue import GRAPH, SEARCH, Turn, TurnQueue
from services.agent_orchestrator.jobs.records import (
    WHOLE_JOB,
    Failure,
    JobRecord,
    JobWarning,
    job_record,
)
from services.postgres.pool import Row, Session

ALONE_AFTER = 2
"""A job that was taken up so often without going on is taken up alone."""


@dataclass(frozen=True, slots=True)
class TakenUpload:
    """An upload to read: `position` documents were read before; of the first `reached`, only those in `again` count.

    `data` follows the first `offset` bytes, which are `line` lines; both are 0 if everything is read again.
    """

    job: JobRecord
    data: bytes = field(repr=False)
    position: int
    reached: int
    again: frozenset[int]
    takes: int
    retries: int = 0
    offset: int = 0
    line: int = 0


@dataclass(frozen=True, slots=True)
class Searchable:
    """A searchable document: its encoded episodes wait for the graph."""

    position: int
    document_id: str
    chunks: int
    episodes: bytes = field(repr=False)
    unchanged: bool
    chunks_added: int


@dataclass(frozen=True, slots=True)
class ReadJob:
    """How far a job was read, and the outcome of its documents since the last record.

    `retries` is how often the job had been retried when it was claimed; `offset` and `line` are where reading can
    resume, 0 for the beginning.
    """

    job_id: str
    position: int
    read: bool
    searchable: Sequence[Searchable]
    failures: Sequence[Failure]
    warnings: Sequence[JobWarning] = ()
    retries: int = 0
    offset: int = 0
    line: int = 0


@dataclass(frozen=True, slots=True)
class WaitingDocument:
    """A document that waits for the graph; `gone` if it was deleted meanwhile."""

    number: int
    job_id: str
    position: int
    document_id: str
    chunks: int
    episodes: bytes = field(repr=False)
    attempts: int
    gone: bool


@dataclass(frozen=True, slots=True)
class GraphOutcome:
    """The outcome of documents: in the graph, refused with a reason, or to be retried."""

    ready: Sequence[WaitingDocument]
    refused: Sequence[tuple[WaitingDocument, str]] = ()


class WorkStore:
    """The database operations of workers."""

    def __init__(self, database: Database, turns: TurnQueue) -> None:
        self._database = database
        self._queries = database.queries
        self._turns = turns

    async def claim_uploads(
        self, turn: Turn, claimed: Collection[str], *, count: int, size: int
    ) -> list[TakenUpload]:
        """Claims the next uploads of the turn's space: at most `count` uploads and `size` bytes, or one upload."""
        async with self._locked(turn) as session:
            rows = await session.fetch(
                self._queries["claim_uploads"],
                turn.key,
                [uuid.UUID(one) for one in claimed],
                count,
                size,
                ALONE_AFTER,
            )
        return [_taken(row) for row in rows]

    async def release_uploads(self, job_ids: Collection[str]) -> None:
        """Releases uploads that did not cause the interruption."""
        async with self._database.pool.session() as session:
            ids = [uuid.UUID(one) for one in job_ids]
            await session.execute(self._queries["release_jobs"], ids)

    async def unchanged(self, jobs: Mapping[str, int]) -> set[str]:
        """Returns the jobs, given by id with their `retries`, that have neither ended nor been retried since."""
        async with self._database.pool.session() as session:
            rows = await session.fetch(
                self._queries["unchanged_jobs"],
                [uuid.UUID(one) for one in jobs],
                list(jobs.values()),
            )
        return {str(row["id"]) for row in rows}

    async def record_read(self, turn: Turn, read: Sequence[ReadJob]) -> None:
        """Records a batch: how far each job was read, its searchable documents and failures; requests the graph's turn.

        Records nothing of jobs that were retried since they were claimed: they are read again. Documents of cancelled
        jobs still go to the graph, because search finds them.
        """
        async with self._locked(turn) as session:
            jobs = await self._fail_permanently(session, read)
            if any(job.searchable for job in jobs):
                await self._turns.request(session, GRAPH, turn.key)
                await self._add_documents(session, turn.key, jobs)
            await self._add_failures(
                session,
                turn.key,
                [(job.job_id, failure) for job in jobs for failure in job.failures],
            )
            await self._add_warnings(session, jobs)
            await self._note_positions(session, jobs)
            await self._end(session, [job.job_id for job in jobs if job.read])

    async def next_documents(self, turn: Turn, *, count: int, chunks: int) -> list[WaitingDocument]:
        """Returns the next documents of the space for the graph, in order: at most `chunks` chunks, or one document."""
        async with self._locked(turn) as session:
            rows = await session.fetch(self._queries["next_documents"], turn.key, count, chunks)
        return [_waiting(row) for row in rows]

    async def note_graph(self, turn: Turn, outcome: GraphOutcome) -> None:
        """Records which documents are in the graph, and which it has refused."""
        done = [*outcome.ready, *(document for document, _ in outcome.refused)]
        async with self._locked(turn) as session:
            rows = await session.fetch(
                self._queries["delete_documents"],
                [document.number for document in done],
                [document.number for document in done if document.gone],
            )
            dropped = {row["number"] for row in rows}
            refused = [pair for pair in outcome.refused if pair[0].number in dropped]
            await self._add_failures(
                session,
                turn.key,
                [
                    (one.job_id, Failure(one.position, one.document_id, GRAPH, reason))
                    for one, reason in refused
                ],
            )
            await self._count_graph(session, done, {one.number for one, _ in refused}, dropped)

    async def note_seen_graph(self, space: str, revision: int) -> None:
        """Records the revision of a space's graph after a write."""
        async with self._database.pool.session() as session:
            await session.execute(self._queries["note_seen_graph"], space, revision)

    async def record_attempt(self, turn: Turn, document: WaitingDocument, attempts: int) -> None:
        """Records how often in a row a single document has failed while the graph works."""
        async with self._locked(turn) as session:
            await session.execute(self._queries["record_attempt"], document.number, attempts)

    async def fail_jobs(self, turn: Turn, job_ids: Collection[str], reason: str) -> None:
        """Ends jobs before their documents are done."""
        async with self._locked(turn) as session:
            ids = sorted(uuid.UUID(one) for one in job_ids)
            rows = await session.fetch(self._queries["fail_jobs"], ids)
            failures = [
                (str(row["id"]), Failure(WHOLE_JOB, "", turn.stage, reason)) for row in rows
            ]
            await self._add_failures(session, turn.key, failures)

    async def set_waiting_reason(self, turn: Turn, reason: str) -> None:
        """Records why the jobs of the turn's space cannot continue now."""
        async with self._database.pool.session() as session:
            await session.execute(self._queries["set_waiting_reason"], turn.key, reason)

    async def end_turn(self, turn: Turn, *, delay: float = 0.0) -> None:
        """Releases the turn, and requests another one if there is more work."""
        async with self._locked(turn) as session:
            query = "has_uploads" if turn.stage == SEARCH else "has_documents"
            again = await session.value(self._queries[query], turn.key)
            if turn.stage == GRAPH and not delay:
                await session.execute(self._queries["clear_waiting_reason"], turn.key)
            await self._turns.end(session, turn, again=again, delay=delay)

    async def others_waiting(self, stage: str) -> bool:
        """Whether other turns of the stage wait for a worker."""
        async with self._database.pool.session() as session:
            return bool(await session.value(self._queries["others_waiting"], stage))

    async def request_unqueued_turns(self) -> None:
        """Requests turns for work that has none; this is needed only if the queue was emptied manually."""
        async with self._database.pool.transaction() as session:
            for row in await session.fetch(self._queries["unqueued_work"]):
                await self._turns.request(session, row["stage"], row["key"])

    async def purge(self, days: int) -> None:
        """Deletes jobs that ended more than `days` days ago."""
        async with self._database.pool.session() as session:
            await session.execute(self._queries["purge_jobs"], days)

    async def _fail_permanently(
        self, session: Session, jobs: Sequence[ReadJob]
    ) -> Sequence[ReadJob]:
        rows = await session.fetch(
            self._queries["lock_jobs"],
            [uuid.UUID(job.job_id) for job in jobs],
            [job.retries for job in jobs],
        )
        held = {str(row["id"]) for row in rows}
        return [job for job in jobs if job.job_id in held]

    @asynccontextmanager
    async def _locked(self, turn: Turn) -> AsyncIterator[Session]:
        async with self._database.pool.transaction() as session:
            await self._turns.lock(session, turn)
            yield session

    async def _add_documents(self, session: Session, space: str, jobs: Sequence[ReadJob]) -> None:
        rows = [(job, document) for job in jobs for document in job.searchable]
        ids = [uuid.UUID(job.job_id) for job, _ in rows]
        named = [document.document_id for _, document in rows]
        await session.execute(self._queries["set_expiries"], space, ids, named)
        await session.execute(
            self._queries["add_documents"],
            space,
            ids,
            [document.position for _, document in rows],
            named,
            [document.chunks for _, document in rows],
            [document.episodes for _, document in rows],
        )

    async def _add_failures(
        self, session: Session, space: str, failures: Sequence[tuple[str, Failure]]
    ) -> None:
        if not failures:
            return
        await session.execute(
            self._queries["add_failures"],
            space,
            failures[0][1].stage,
            [uuid.UUID(job_id) for job_id, _ in failures],
            [failure.position for _, failure in failures],
            [failure.document_id for _, failure in failures],
            [failure.reason for _, failure in failures],
        )

    async def _add_warnings(self, session: Session, jobs: Sequence[ReadJob]) -> None:
        rows = [
            (job, warning, number)
            for job in jobs
            for _, same in groupby(job.warnings, key=lambda warning: warning.position)
            for number, warning in enumerate(same)
        ]
        if not rows:
            return
        await session.execute(
            self._queries["add_warnings"],
            [uuid.UUID(job.job_id) for job, _, _ in rows],
            [warning.position for _, warning, _ in rows],
            [number for _, _, number in rows],
            [warning.document_id for _, warning, _ in rows],
            [warning.reason for _, warning, _ in rows],
            [warning.text for _, warning, _ in rows],
            [warning.where for _, warning, _ in rows],
        )

    async def _note_positions(self, session: Session, jobs: Sequence[ReadJob]) -> None:
        ids = [uuid.UUID(job.job_id) for job in jobs]
        positions = [job.position for job in jobs]
        await session.execute(self._queries["clear_retried_failures"], ids, positions)
        await session.execute(
            self._queries["record_read"],
            ids,
            positions,
            [job.read for job in jobs],
            positions,
            [len(job.searchable) for job in jobs],
            [sum(one.unchanged for one in job.searchable) for job in jobs],
            [len(job.failures) for job in jobs],
            [sum(one.chunks_added for one in job.searchable) for job in jobs],
            [job.offset for job in jobs],
            [job.line for job in jobs],
            [len(job.warnings) for job in jobs],
        )

    async def _count_graph(
        self,
        session: Session,
        done: Sequence[WaitingDocument],
        refused: set[int],
        dropped: set[int],
    ) -> None:
        counts: dict[str, list[int]] = {}
        for document in done:
            if document.number in dropped:
                count = counts.setdefault(document.job_id, [0, 0])
                count[document.number in refused] += 1
        ids = sorted(uuid.UUID(job_id) for job_id in counts)
        per_job = [counts[str(one)] for one in ids]
        await session.execute(
            self._queries["record_graph_ready"],
            ids,
            [one[0] for one in per_job],
            [one[1] for one in per_job],
        )
        await self._end(session, [str(one) for one in ids])

    async def _end(self, session: Session, job_ids: Sequence[str]) -> None:
        ids = [uuid.UUID(one) for one in job_ids]
        if ids and await session.fetch(self._queries["end_jobs"], ids):
            await session.execute(self._queries["delete_inputs"], ids)


def _taken(row: Row) -> TakenUpload:
    return TakenUpload(
        job=job_record(row),
        data=row["data"],
        position=row["position"],
        reached=row["reached"],
        again=frozenset(row["again"]),
        takes=row["takes"],
        retries=row["retries"],
        offset=row["begin_offset"],
        line=row["begin_line"],
    )


def _waiting(row: Row) -> WaitingDocument:
    return WaitingDocument(
        number=row["number"],
        job_id=str(row["job_id"]),
        position=row["position"],
        document_id=row["document_id"],
        chunks=row["chunks"],
        episodes=row["episodes"],
        attempts=row["attempts"],
        gone=row["gone"],
    )

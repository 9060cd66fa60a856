"""Jobs as the orchestrator knows them: what was asked, how far it is, and who may see it.

In memory for now: a restart forgets jobs. What they wrote stays, and the same upload again goes on from there.
"""

from __future__ import annotations

import asyncio
import uuid
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from datetime import datetime

from braid.agent.v1 import ingest_pb2
from services.agent_orchestrator.ingest.documents import Rejected
from services.agent_orchestrator.ingest.parsing import Upload
from services.runtime.context import CallContext
from services.runtime.errors import NotFoundError
from services.runtime.times import to_timestamp, utc_now

MAX_FAILURES = 1000
WATCH_INTERVAL = 0.2
_ENDED = frozenset({ingest_pb2.JOB_STATE_SUCCEEDED, ingest_pb2.JOB_STATE_FAILED})


@dataclass(eq=False, slots=True)
class Job:
    """One upload's way through the tiers, on behalf of the call that brought it."""

    call: CallContext
    upload: Upload | None
    documents_total: int
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    state: ingest_pb2.JobState.ValueType = ingest_pb2.JOB_STATE_QUEUED
    documents_searchable: int = 0
    documents_graph_ready: int = 0
    documents_unchanged: int = 0
    documents_failed: int = 0
    chunks_written: int = 0
    failures: deque[Rejected] = field(default_factory=deque)
    create_time: datetime = field(default_factory=utc_now)
    update_time: datetime = field(default_factory=utc_now)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _over: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def ended(self) -> bool:
        """Nothing of it will change any more."""
        return self.state in _ENDED

    def start(self) -> None:
        """It is being worked on."""
        self.state = ingest_pb2.JOB_STATE_RUNNING
        self.touch()

    def reject(self, rejected: Iterable[Rejected]) -> None:
        """Lists documents that could not be taken."""
        for one in rejected:
            self.documents_failed += 1
            if len(self.failures) < MAX_FAILURES:
                self.failures.append(one)
        self.touch()

    def succeed(self) -> None:
        """Every document is through or listed. With none through, the job has failed."""
        lost = self.documents_failed > 0 and self.documents_failed >= self.documents_total
        self._end(ingest_pb2.JOB_STATE_FAILED if lost else ingest_pb2.JOB_STATE_SUCCEEDED)

    def fail(self, reason: str) -> None:
        """It ended before its documents were done; the reason comes first in the list, for no document."""
        if len(self.failures) == MAX_FAILURES:
            self.failures.pop()
        self.failures.appendleft(Rejected("", reason))
        self._end(ingest_pb2.JOB_STATE_FAILED)

    def touch(self) -> None:
        """Something of it has changed: whoever watches is woken."""
        self.update_time = utc_now()
        self._changed.set()
        self._changed = asyncio.Event()

    def message(self) -> ingest_pb2.IngestJob:
        """The job as it stands."""
        return ingest_pb2.IngestJob(
            id=self.id,
            state=self.state,
            documents_total=self.documents_total,
            documents_searchable=self.documents_searchable,
            documents_graph_ready=self.documents_graph_ready,
            documents_unchanged=self.documents_unchanged,
            documents_failed=self.documents_failed,
            chunks_written=self.chunks_written,
            failures=[
                ingest_pb2.IngestFailure(document_id=one.document_id, reason=one.reason)
                for one in self.failures
            ],
            create_time=to_timestamp(self.create_time),
            update_time=to_timestamp(self.update_time),
        )

    async def watch(self) -> AsyncIterator[ingest_pb2.IngestJob]:
        """The job now, then after changes, at most one each `WATCH_INTERVAL` seconds, until it has ended."""
        while True:
            changed = self._changed
            ended = self.ended
            yield self.message()
            if ended:
                return
            await changed.wait()
            await self._pause()

    async def _pause(self) -> None:
        try:
            async with asyncio.timeout(WATCH_INTERVAL):
                await self._over.wait()
        except TimeoutError:
            return

    def _end(self, state: ingest_pb2.JobState.ValueType) -> None:
        self.state = state
        self.upload = None
        self._over.set()
        self.touch()


class JobBoard:
    """Jobs by space and id. The last `max_ended` ended ones are kept for those who ask later."""

    def __init__(self, max_ended: int) -> None:
        self._max_ended = max_ended
        self._jobs: dict[tuple[str, str], Job] = {}
        self._ended: OrderedDict[tuple[str, str], None] = OrderedDict()

    def add(self, job: Job) -> None:
        """Shows the job to its space."""
        self._jobs[job.call.space, job.id] = job

    def get(self, space: str, job_id: str) -> Job:
        """A job of the space. NotFoundError for one of another space as for one that never was."""
        job = self._jobs.get((space, job_id.lower()))
        if job is None:
            raise NotFoundError("job")
        return job

    def retire(self, job: Job) -> None:
        """The job has ended; the oldest ended one may be forgotten for it."""
        self._ended[job.call.space, job.id] = None
        while len(self._ended) > self._max_ended:
            forgotten, _ = self._ended.popitem(last=False)
            del self._jobs[forgotten]

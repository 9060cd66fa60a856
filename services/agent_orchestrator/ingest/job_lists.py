"""Pages of jobs and of dead documents."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from braid.agent.v1 import ingest_pb2
from services.agent_orchestrator.jobs.messages import NAMES, job_message
from services.agent_orchestrator.jobs.records import STATES
from services.agent_orchestrator.jobs.store import LAST_NUMBER, DeadDocument, JobStore
from services.runtime.errors import FieldError, InvalidFieldError
from services.runtime.paging import decode_token, encode_token
from services.runtime.times import to_timestamp

PAGE_SIZE = 50
_LAST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff"
_NO_TOKEN = InvalidFieldError(FieldError("page_token", "is not a token of this service"))
_LAST = (datetime.max.replace(tzinfo=UTC), _LAST_ID, 2**31 - 1)


class JobLists:
    """Lists of a space, the latest first."""

    def __init__(self, jobs: JobStore) -> None:
        self._jobs = jobs

    async def jobs(
        self, space: str, request: ingest_pb2.ListIngestJobsRequest
    ) -> ingest_pb2.ListIngestJobsResponse:
        """A page of jobs."""
        states = sorted({NAMES[state] for state in request.states}) or sorted(STATES)
        query = ("jobs", space, *states, request.kind)
        before = LAST_NUMBER
        if request.page_token:
            before = _number(decode_token(request.page_token, query, length=1))
        size = _size(request)
        found = await self._jobs.page(
            space, before=before, states=states, kind=request.kind, size=size + 1
        )
        return ingest_pb2.ListIngestJobsResponse(
            jobs=[job_message(job) for job in found[:size]],
            next_page_token=encode_token(query, [found[size - 1].number])
            if len(found) > size
            else "",
        )

    async def dead(
        self, space: str, request: ingest_pb2.ListDeadDocumentsRequest
    ) -> ingest_pb2.ListDeadDocumentsResponse:
        """A page of documents that could not be taken."""
        query = ("dead", space)
        before = _LAST
        if request.page_token:
            before = _instant(decode_token(request.page_token, query, length=3))
        size = _size(request)
        found = await self._jobs.dead(space, before=before, size=size + 1)
        return ingest_pb2.ListDeadDocumentsResponse(
            documents=[_dead_message(one) for one in found[:size]],
            next_page_token=encode_token(query, _place(found[size - 1]))
            if len(found) > size
            else "",
        )


def _size(
    request: ingest_pb2.ListIngestJobsRequest | ingest_pb2.ListDeadDocumentsRequest,
) -> int:
    return request.page_size if request.HasField("page_size") else PAGE_SIZE


def _number(position: list[Any]) -> int:
    [number] = position
    if not isinstance(number, int) or not 0 <= number <= LAST_NUMBER:
        raise _NO_TOKEN
    return number


def _instant(position: list[Any]) -> tuple[datetime, str, int]:
    time, job_id, place = position
    try:
        told = datetime.fromisoformat(time), str(UUID(job_id))
    except (TypeError, ValueError, AttributeError):
        raise _NO_TOKEN from None
    if not isinstance(place, int) or abs(place) > _LAST[2] or told[0].tzinfo is None:
        raise _NO_TOKEN
    return (*told, place)


def _place(dead: DeadDocument) -> list[str | int | float | bool | None]:
    return [dead.create_time.isoformat(), dead.job_id, dead.failure.position]


def _dead_message(dead: DeadDocument) -> ingest_pb2.DeadDocument:
    failure = dead.failure
    return ingest_pb2.DeadDocument(
        job_id=dead.job_id,
        failure=ingest_pb2.IngestFailure(
            document_id=failure.document_id, reason=failure.reason, stage=failure.stage
        ),
        create_time=to_timestamp(dead.create_time),
    )

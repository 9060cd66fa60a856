"""`/api/jobs`: how far uploads are, once or as they go on; what could not be taken; to cancel and to try again."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from braid.agent.v1 import ingest_pb2
from gateway.rest import views
from gateway.rest.answers.events import WatchEvent
from gateway.rest.answers.jobs import DeadDocuments, Job, Jobs
from gateway.rest.bounds import Bounds
from gateway.rest.deps import CallerDep, ClientsDep, SettingsDep, WatcherDep
from gateway.rest.documented import events, problems
from gateway.rest.events import stream
from gateway.rest.json import JsonAnswer
from gateway.rest.values import Int32, at_most

router = APIRouter(prefix="/api/jobs", tags=["jobs"], responses=problems())

_SERVICE = "/braid.agent.v1.IngestService/"
# As many as the contract takes.
MOST_STATES = 10
Limit = Annotated[
    Int32 | None,
    Bounds(ingest_pb2.ListIngestJobsRequest, "page_size"),
    Query(description="How many, 1–200. Default 50."),
]
Cursor = Annotated[
    str,
    Bounds(ingest_pb2.ListIngestJobsRequest, "page_token"),
    Query(description="`next_cursor` of the page before."),
]
StateName = Literal["QUEUED", "RUNNING", "SUCCEEDED", "FAILED", "CANCELLED"]
JobId = Annotated[
    str,
    Bounds(ingest_pb2.GetIngestJobRequest, "job_id"),
    Path(description="The job's id, as the upload was answered with."),
]


@router.get("", response_model=Jobs)
async def listing(  # noqa: PLR0917 - the framework names them
    caller: CallerDep,
    clients: ClientsDep,
    limit: Limit = None,
    cursor: Cursor = "",
    state: Annotated[
        list[StateName] | None,
        Bounds(ingest_pb2.ListIngestJobsRequest, "states"),
        Query(description="Only in these states."),
        at_most(MOST_STATES),
    ] = None,
    kind: Annotated[
        str,
        Bounds(ingest_pb2.ListIngestJobsRequest, "kind"),
        Query(description="Only of this kind, such as `upload`."),
    ] = "",
) -> Response:
    """The jobs, the latest first, in pages."""
    states = [ingest_pb2.JobState.Value(f"JOB_STATE_{name}") for name in state or ()]
    request = ingest_pb2.ListIngestJobsRequest(
        page_size=limit, page_token=cursor, states=states, kind=kind
    )
    answer = await caller.ask(_SERVICE + "ListIngestJobs", clients.ingest.ListIngestJobs, request)
    shown = [views.job(one) for one in answer.jobs]
    return JsonAnswer({"jobs": shown, "next_cursor": answer.next_page_token or None})


@router.get("/dead", response_model=DeadDocuments)
async def dead(
    caller: CallerDep, clients: ClientsDep, limit: Limit = None, cursor: Cursor = ""
) -> Response:
    """The documents that were accepted and could not be taken, the latest first, in pages."""
    request = ingest_pb2.ListDeadDocumentsRequest(page_size=limit, page_token=cursor)
    method = _SERVICE + "ListDeadDocuments"
    answer = await caller.ask(method, clients.ingest.ListDeadDocuments, request)
    shown = [views.dead_document(one) for one in answer.documents]
    return JsonAnswer({"documents": shown, "next_cursor": answer.next_page_token or None})


@router.get("/{job_id}", response_model=Job)
async def read(job_id: JobId, caller: CallerDep, clients: ClientsDep) -> Response:
    """A job as it stands."""
    request = ingest_pb2.GetIngestJobRequest(job_id=job_id)
    answer = await caller.ask(_SERVICE + "GetIngestJob", clients.ingest.GetIngestJob, request)
    return JsonAnswer(views.job(answer.job))


@router.post("/{job_id}/cancel", response_model=Job)
async def cancel(job_id: JobId, caller: CallerDep, clients: ClientsDep) -> Response:
    """Ends a job; what is searchable of it still goes into the graph."""
    request = ingest_pb2.CancelIngestJobRequest(job_id=job_id)
    method = _SERVICE + "CancelIngestJob"
    answer = await caller.ask(method, clients.ingest.CancelIngestJob, request)
    return JsonAnswer(views.job(answer.job))


@router.post("/{job_id}/retry", response_model=Job)
async def retry(job_id: JobId, caller: CallerDep, clients: ClientsDep) -> Response:
    """Tries again what an ended job did not do."""
    request = ingest_pb2.RetryIngestJobRequest(job_id=job_id)
    method = _SERVICE + "RetryIngestJob"
    answer = await caller.ask(method, clients.ingest.RetryIngestJob, request)
    return JsonAnswer(views.job(answer.job))


@router.get(
    "/{job_id}/events",
    response_class=Response,
    responses=events(
        "Events `job`: at once, then at each change, until the job has ended; `error` if watching it fails after all.",
        WatchEvent,
    ),
)
async def watch(
    job_id: JobId, caller: WatcherDep, clients: ClientsDep, settings: SettingsDep
) -> Response:
    """A job as it goes on."""
    request = ingest_pb2.WatchIngestJobRequest(job_id=job_id)
    call = caller.open(_SERVICE + "WatchIngestJob", clients.ingest.WatchIngestJob, request)
    return await stream(caller, call, _shown, heartbeat=settings.heartbeat_seconds)


def _shown(answer: ingest_pb2.WatchIngestJobResponse) -> tuple[str, dict[str, Any]]:
    return "job", views.job(answer.job)

"""`GET /api/jobs/…`: how far an upload is, once or as it goes on."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path
from starlette.responses import Response

from braid.agent.v1 import ingest_pb2
from gateway.rest import views
from gateway.rest.answers import Job
from gateway.rest.deps import CallerDep, ClientsDep, SettingsDep, WatcherDep
from gateway.rest.documented import events, problems
from gateway.rest.events import stream
from gateway.rest.json import JsonAnswer

router = APIRouter(prefix="/api/jobs", tags=["jobs"], responses=problems())

_SERVICE = "/braid.agent.v1.IngestService/"
JobId = Annotated[str, Path(description="The job's id, as the upload was answered with.")]


@router.get("/{job_id}", response_model=Job)
async def read(job_id: JobId, caller: CallerDep, clients: ClientsDep) -> Response:
    """A job as it stands."""
    request = ingest_pb2.GetIngestJobRequest(job_id=job_id)
    answer = await caller.ask(_SERVICE + "GetIngestJob", clients.ingest.GetIngestJob, request)
    return JsonAnswer(views.job(answer.job))


@router.get(
    "/{job_id}/events",
    response_class=Response,
    responses=events("Events `job`: at once, then at each change, until the job has ended."),
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

"""A job as a stream of events, and its address. The contract declares the other routes of jobs."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from fastapi import APIRouter, Path
from pydantic import Field
from starlette.responses import Response

from braid.agent.v1 import jobs_pb2
from gateway.rest.http.calls import ClientsDep, SettingsDep, WatcherDep
from gateway.rest.http.event_stream import stream
from gateway.rest.http.route_scopes import ScopedRoute
from gateway.rest.mapping.contract_rules import Bounds
from gateway.rest.mapping.json_encoding import Json
from gateway.rest.mapping.message_json import to_json
from gateway.rest.mapping.message_schema import Shape
from gateway.rest.mapping.openapi import ErrorEvent, ResponseSchema, events, problems

JobShape = Annotated[Json, Shape(jobs_pb2.Job)]


class JobEvent(ResponseSchema):
    """A job as it stands."""

    event: Literal["job"]
    data: JobShape


WatchEvent: TypeAlias = Annotated[JobEvent | ErrorEvent, Field(discriminator="event")]


def location(job: jobs_pb2.Job) -> dict[str, str]:
    """Returns the header with a job's address."""
    return {"location": f"/api/jobs/{job.id}"}


router = APIRouter(route_class=ScopedRoute, prefix="/api/jobs", tags=["jobs"], responses=problems())

_SERVICE = "/braid.agent.v1.JobService/"
JobId = Annotated[
    str,
    Bounds(jobs_pb2.GetJobRequest, "job_id"),
    Path(description="The job's id, as the upload was answered with."),
]


@router.get(
    "/{job_id}/events",
    response_class=Response,
    responses=events(
        "Events `job`: at once, then at each change, until the job has ended; `error` if watching it fails after all.",
        WatchEvent,
    ),
)
async def watch_job(
    job_id: JobId, caller: WatcherDep, clients: ClientsDep, settings: SettingsDep
) -> Response:
    """A job as it goes on."""
    request = jobs_pb2.WatchJobRequest(job_id=job_id)
    call = caller.open(_SERVICE + "WatchJob", clients.jobs.WatchJob, request)
    return await stream(caller, call, _shown, heartbeat=settings.heartbeat_seconds)


def _shown(answer: jobs_pb2.WatchJobResponse) -> tuple[str, dict[str, Any]]:
    return "job", to_json(answer.job)

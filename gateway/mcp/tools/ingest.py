"""Ingestion of a text, and the state of its job."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from time import monotonic
from typing import Annotated, Literal

import grpc
from pydantic import BaseModel, Field

from braid.agent.v1 import ingest_pb2, jobs_pb2
from gateway.mcp.arguments import Arguments, Cursor, InstantText, PageLimit, instant
from gateway.mcp.calls import ToolCall
from gateway.mcp.pages import Page
from gateway.mcp.results import ToolResult, day_or_time
from gateway.rest.mapping.field_names import rest_name
from gateway.rest.mapping.field_types import Text
from services.runtime.errors import DeadlineError

SERVICE = "/braid.agent.v1.IngestService/"
_JOBS = "/braid.agent.v1.JobService/"
_PIECE = 512 * 1024
_STEPS = 3
_ENDED = (
    jobs_pb2.JOB_STATE_SUCCEEDED,
    jobs_pb2.JOB_STATE_FAILED,
    jobs_pb2.JOB_STATE_CANCELLED,
)


class IngestTextArguments(Arguments):
    """The text and what it is."""

    text: Annotated[Text, Field(description="The text, plain or Markdown.", min_length=1)]
    title: Annotated[Text, Field(max_length=1000, description="The document's title.")] = ""
    document_id: Annotated[
        Text,
        Field(
            max_length=512,
            description="The document's id: the same id again is a new version. Default: made from the text.",
        ),
    ] = ""
    source: Annotated[Text, Field(max_length=2000, description="Where it came from.")] = ""
    valid_at: InstantText | None = Field(
        default=None, description="Since when it holds. Default: now."
    )
    wait: Literal["none", "searchable", "graph_ready"] = Field(
        default="searchable",
        description="What to wait for: nothing, that searches find it, or that the graph has it.",
    )
    wait_seconds: Annotated[int, Field(ge=1, le=300, description="How long to wait at most.")] = 60


class JobStateArguments(Arguments):
    """Which job."""

    job_id: Annotated[Text, Field(description="The job's id, as the upload was answered with.")]


class ListJobsArguments(Arguments):
    """Which jobs."""

    state: Literal["queued", "running", "succeeded", "failed", "cancelled"] | None = None
    limit: PageLimit = 50
    cursor: Cursor | None = None


class Job(BaseModel):
    """An upload, and how far it is: `searchable` and `graph_ready` count documents."""

    job_id: str
    state: str
    kind: str | None = None
    title: str | None = None
    documents: int
    searchable: int
    graph_ready: int
    unchanged: int | None = None
    failed: list[str] | None = None
    warnings: list[str] | None = None
    waiting_for: str | None = None
    created_at: str | None = None


class JobResult(ToolResult):
    """A job."""

    view: Literal["job"] = "job"
    job: Job


class JobsResult(ToolResult):
    """A page of jobs, the latest first."""

    view: Literal["jobs"] = "jobs"
    jobs: list[Job]


async def ingest_text(arguments: IngestTextArguments, call: ToolCall) -> JobResult:
    """Add a text as a document; its facts and entities join the graph. Waits until it is searchable by default."""
    uploading = call.within(call.settings.upload_timeout_seconds)
    answer = await uploading.caller.call(
        SERVICE + "IngestDocument",
        call.clients.ingest.IngestDocument,
        _parts(arguments),
        _argument_name,
    )
    job: jobs_pb2.Job = answer.job
    if arguments.wait != "none":
        job = await _followed(job, arguments, call)
    return _result(job, call)


async def job_state(arguments: JobStateArguments, call: ToolCall) -> JobResult:
    """See how far an upload's job is."""
    request = jobs_pb2.GetJobRequest(job_id=arguments.job_id)
    answer = await call.rpc(_JOBS + "GetJob", call.clients.jobs.GetJob, request)
    return _result(answer.job, call)


async def list_jobs(arguments: ListJobsArguments, call: ToolCall) -> JobsResult:
    """List the space's jobs, the latest first."""
    cursor = call.cursor(arguments)
    begin = cursor.read(arguments.cursor)
    state = arguments.state
    states = [jobs_pb2.JobState.Value(f"JOB_STATE_{state.upper()}")] if state else []
    request = jobs_pb2.ListJobsRequest(
        page_size=arguments.limit, page_token=begin.page_token, states=states
    )
    answer = await call.rpc(_JOBS + "ListJobs", call.clients.jobs.ListJobs, request)
    found = [_job(one) for one in answer.jobs]
    page = Page(found, begin, answer.next_page_token, cursor, "jobs")

    def build(shown: Sequence[Job], words: str, next_cursor: str | None) -> JobsResult:
        return JobsResult(
            space=call.space,
            status="found" if shown else "no_match",
            message=words,
            next_cursor=next_cursor,
            jobs=list(shown),
        )

    return page.result(build)


async def _parts(
    arguments: IngestTextArguments,
) -> AsyncIterator[ingest_pb2.IngestDocumentRequest]:
    metadata = ingest_pb2.DocumentMetadata(
        document_id=arguments.document_id,
        title=arguments.title,
        source=arguments.source,
        content_type="text/markdown",
        valid_time=instant(arguments.valid_at),
    )
    yield ingest_pb2.IngestDocumentRequest(metadata=metadata)
    data = arguments.text.encode()
    for start in range(0, len(data), _PIECE):
        yield ingest_pb2.IngestDocumentRequest(data=data[start : start + _PIECE])


def _argument_name(path: str) -> str:
    name = rest_name(path.removeprefix("metadata."))
    return {"data": "text", "valid_time": "valid_at", "part": "text"}.get(name, name)


async def _followed(
    job: jobs_pb2.Job, arguments: IngestTextArguments, call: ToolCall
) -> jobs_pb2.Job:
    """Waits until the job reaches the requested state or the time is over; the job continues in either case."""
    until = monotonic() + arguments.wait_seconds
    watching = call.within(arguments.wait_seconds).caller
    request = jobs_pb2.WatchJobRequest(job_id=job.id)
    stream = watching.open(_JOBS + "WatchJob", call.clients.jobs.WatchJob, request)
    try:
        while not _is_reached(job, arguments.wait):
            answer = await stream.read()
            if answer is grpc.aio.EOF:
                break
            job = answer.job
            await call.progress(_steps_done(job), _STEPS, _stage(job))
    except grpc.aio.AioRpcError as error:
        typed = watching.error_of(error)
        if not isinstance(typed, DeadlineError) and monotonic() < until:
            raise typed from None
    finally:
        stream.cancel()
    return job


def _is_reached(job: jobs_pb2.Job, wait: str) -> bool:
    if job.state in _ENDED:
        return True
    done = job.searchable_count if wait == "searchable" else job.graph_ready_count
    return 0 < job.unit_count <= done + job.failed_count


def _steps_done(job: jobs_pb2.Job) -> int:
    return 1 + bool(job.searchable_count) + bool(job.graph_ready_count)


def _stage(job: jobs_pb2.Job) -> str:
    if job.waiting_for:
        return f"waiting for {job.waiting_for}"
    if job.graph_ready_count:
        return "in the graph"
    return "searchable" if job.searchable_count else "accepted"


def _result(job: jobs_pb2.Job, call: ToolCall) -> JobResult:
    return JobResult(space=call.space, status="done", message=_message(job), job=_job(job))


def _message(job: jobs_pb2.Job) -> str:
    if job.state == jobs_pb2.JOB_STATE_FAILED:
        return "The job failed: see `failed` for the reasons."
    if job.state == jobs_pb2.JOB_STATE_CANCELLED:
        return "The job was cancelled."
    if job.state == jobs_pb2.JOB_STATE_SUCCEEDED:
        stored = "Stored: searchable, and in the graph."
        return f"{stored} See `warnings` for what was not taken." if job.warning_count else stored
    stage = _stage(job)
    return f"The job goes on ({stage}): ask for its state with this job_id."


def _job(job: jobs_pb2.Job) -> Job:
    return Job(
        job_id=job.id,
        state=jobs_pb2.JobState.Name(job.state).removeprefix("JOB_STATE_").lower(),
        kind=jobs_pb2.JobKind.Name(job.kind).removeprefix("JOB_KIND_").lower(),
        title=job.title or None,
        documents=job.unit_count,
        searchable=job.searchable_count,
        graph_ready=job.graph_ready_count,
        unchanged=job.unchanged_count or None,
        failed=[f"{one.document_id}: {one.reason}" for one in job.failures[:5]] or None,
        warnings=[f"{one.document_id}: {one.text}" for one in job.warnings[:5]] or None,
        waiting_for=job.waiting_for or None,
        created_at=day_or_time(job, "create_time"),
    )

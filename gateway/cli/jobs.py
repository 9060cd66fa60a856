"""`braid jobs`: list, show, cancel and retry jobs."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any

import typer

from gateway.cli import output
from gateway.cli.options import AsJson, Cursor, Limit, print_page
from gateway.cli.session import Session
from gateway.cli.times import between, moment, moment_and_age

jobs = typer.Typer(help="List, show, cancel and retry jobs.", no_args_is_help=True)

_UPLOAD = "upload"
JOB_COLUMNS = (
    "id",
    "kind",
    "state",
    "document",
    "documents",
    "accepted",
    "started",
    "ended",
    "reason",
)
JobId = Annotated[str, typer.Argument(help="The job's id.")]


class State(StrEnum):
    """The state of a job."""

    queued = "queued"
    running = "running"
    succeeded = "succeeded"
    failed = "failed"
    cancelled = "cancelled"


@jobs.command("list")
def list_jobs(  # noqa: PLR0917 - typer names them all
    context: typer.Context,
    state: Annotated[
        list[State] | None,
        typer.Option(case_sensitive=False, help="Only in this state; may be given again."),
    ] = None,
    kind: Annotated[
        str | None, typer.Option(help="Only of this kind, such as upload or delete.")
    ] = None,
    limit: Limit = None,
    cursor: Cursor = None,
    as_json: AsJson = False,
) -> None:
    """List jobs, the latest first: of what kind, of what, when, how far, and why not further."""
    session: Session = context.obj
    states = [one.value.upper() for one in state or ()] or None
    with session.api() as api:
        answer = api.get("/api/jobs", state=states, kind=kind, limit=limit, cursor=cursor)
    if as_json:
        session.show_json(answer)
        return
    now = datetime.now(UTC)
    rows = {"jobs": [job_row(job, now) for job in answer["jobs"]]}
    columns = {name: name for name in JOB_COLUMNS}
    print_page(session, answer | rows, "jobs", columns, as_json=False)


@jobs.command()
def dead(
    context: typer.Context, limit: Limit = None, cursor: Cursor = None, as_json: AsJson = False
) -> None:
    """List documents that were accepted and could not be taken, with their reasons."""
    session: Session = context.obj
    with session.api() as api:
        answer = api.get("/api/jobs/dead", limit=limit, cursor=cursor)
    columns = {"document": "id", "stage": "stage", "reason": "reason", "job": "job_id"}
    print_page(session, answer, "documents", columns, as_json)


@jobs.command("get")
def show_job(context: typer.Context, job_id: JobId, as_json: AsJson = False) -> None:
    """Show one job."""
    from gateway.cli.api import segment  # noqa: PLC0415 - only commands that ask need it

    session: Session = context.obj
    with session.api() as api:
        answer = api.get(f"/api/jobs/{segment(job_id)}")
    _show_job(session, answer, as_json)


@jobs.command()
def cancel(context: typer.Context, job_id: JobId, as_json: AsJson = False) -> None:
    """End a job; what is searchable of it still goes into the graph."""
    _act(context.obj, job_id, "cancel", as_json)


@jobs.command()
def retry(
    context: typer.Context,
    job_id: Annotated[str | None, typer.Argument(help="The job's id.")] = None,
    dead: Annotated[
        bool, typer.Option("--dead", help="Try again all documents that `braid jobs dead` lists.")
    ] = False,
    since: Annotated[
        str | None,
        typer.Option(help="With --dead: only those that failed at this day or instant, or later."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Try again what an ended job did not do, or with --dead all documents that could not be taken."""
    if dead == (job_id is not None) or (since is not None and not dead):
        raise typer.BadParameter("give either a job's id, or --dead and optionally --since")
    if job_id is not None:
        _act(context.obj, job_id, "retry", as_json)
    else:
        _retry_dead(context.obj, since, as_json)


def job_row(job: dict[str, Any], now: datetime) -> dict[str, str]:
    """Returns a row of the list of jobs; `now` is the reference for ages."""
    took = between(job["started_at"], job["ended_at"])
    return {
        "id": job["id"],
        "kind": job["kind"],
        "state": job["state"],
        "document": job["title"] or job["source"] or job["document_id"] or "",
        "documents": _progress(job),
        "accepted": moment_and_age(job["created_at"], now),
        "started": moment(job["started_at"]),
        "ended": f"{moment(job['ended_at'])} (took {took})" if took else moment(job["ended_at"]),
        "reason": _reason(job),
    }


def _progress(job: dict[str, Any]) -> str:
    """Returns `3` if all units are finished; otherwise also the progress."""
    total = job["documents_total"]
    parts = {
        "searchable": job["documents_searchable"],
        "graph-ready": job["documents_graph_ready"],
    }
    progress = [f"{count} {name}" for name, count in parts.items() if count < total]
    if job["documents_failed"]:
        progress.append(f"{job['documents_failed']} failed")
    return (
        f"{total}: {', '.join(progress)}"
        if progress and job["kind"] == _UPLOAD
        else str(total or "")
    )


def _reason(job: dict[str, Any]) -> str:
    """Returns why the job makes no progress, or the first failure, or the first warning."""
    if job["waiting_for"]:
        return f"waits: {job['waiting_for']}"
    if not job["failures"]:
        return _first_warning(job)
    first = job["failures"][0]
    more = max(job["documents_failed"], len(job["failures"])) - 1
    reason = f"{first['id']}: {first['reason']}" if first["id"] else first["reason"]
    return f"{reason} (and {more} more)" if more > 0 else reason


def _first_warning(job: dict[str, Any]) -> str:
    if not job["warnings"]:
        return ""
    more = job["warnings_total"] - 1
    text = f"warning: {job['warnings'][0]['text']}"
    return f"{text} (and {more} more)" if more > 0 else text


def _act(session: Session, job_id: str, verb: str, as_json: bool) -> None:
    from gateway.cli.api import segment  # noqa: PLC0415 - as above

    with session.api(changes=True) as api:
        answer = api.post(f"/api/jobs/{segment(job_id)}/{verb}", {})
    _show_job(session, answer, as_json)


def _retry_dead(session: Session, since: str | None, as_json: bool) -> None:
    with session.api(changes=True) as api:
        answer = api.post("/api/jobs/dead/retry", {}, since=since)
    if as_json:
        session.show_json(answer)
        return
    session.out.print(
        f"{answer['documents']} documents of {answer['jobs']} jobs are tried again; "
        f"{answer['remaining']} remain dead."
    )


def _show_job(session: Session, answer: dict[str, Any], as_json: bool) -> None:
    if as_json:
        session.show_json(answer)
        return
    tables = {
        "failures": {"document": "id", "stage": "stage", "reason": "reason"},
        "removed": {"store": "store", "removed": "kind", "count": "count"},
    }
    output.show_record(
        session.out, {name: value for name, value in answer.items() if name not in tables}
    )
    for name, columns in tables.items():
        if answer[name]:
            session.out.print("")
            output.show_table(session.out, columns, answer[name])

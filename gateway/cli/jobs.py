"""`braid jobs`: what uploads became of, to cancel and to try again."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from gateway.cli import show
from gateway.cli.session import Session

jobs = typer.Typer(help="List, show, cancel and retry jobs.", no_args_is_help=True)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Limit = Annotated[int | None, typer.Option(help="How many at most.")]
Cursor = Annotated[str | None, typer.Option(help="Go on where the page before ended.")]
JobId = Annotated[str, typer.Argument(help="The job's id.")]


@jobs.command("list")
def list_jobs(
    context: typer.Context,
    state: Annotated[
        list[str] | None, typer.Option(help="Only in this state; may be given again.")
    ] = None,
    limit: Limit = None,
    cursor: Cursor = None,
    as_json: AsJson = False,
) -> None:
    """List jobs, the latest first."""
    session: Session = context.obj
    states = [one.upper() for one in state or ()] or None
    with session.api() as api:
        answer = api.get("/api/jobs", state=states, limit=limit, cursor=cursor)
    columns = {
        "id": "id",
        "state": "state",
        "documents": "documents_total",
        "searchable": "documents_searchable",
        "graph-ready": "documents_graph_ready",
        "failed": "documents_failed",
        "waiting for": "waiting_for",
    }
    _show_page(session, answer, "jobs", columns, as_json)


@jobs.command()
def dead(
    context: typer.Context, limit: Limit = None, cursor: Cursor = None, as_json: AsJson = False
) -> None:
    """List documents that were accepted and could not be taken, with their reasons."""
    session: Session = context.obj
    with session.api() as api:
        answer = api.get("/api/jobs/dead", limit=limit, cursor=cursor)
    columns = {"document": "id", "stage": "stage", "reason": "reason", "job": "job_id"}
    _show_page(session, answer, "documents", columns, as_json)


@jobs.command("show")
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
def retry(context: typer.Context, job_id: JobId, as_json: AsJson = False) -> None:
    """Try again what an ended job did not do."""
    _act(context.obj, job_id, "retry", as_json)


def _act(session: Session, job_id: str, verb: str, as_json: bool) -> None:
    from gateway.cli.api import segment  # noqa: PLC0415 - as above

    with session.api() as api:
        answer = api.post(f"/api/jobs/{segment(job_id)}/{verb}", {})
    _show_job(session, answer, as_json)


def _show_job(session: Session, answer: dict[str, Any], as_json: bool) -> None:
    if as_json:
        session.show_json(answer)
        return
    failures = answer["failures"]
    show.show_pairs(
        session.out, {name: value for name, value in answer.items() if name != "failures"}
    )
    columns = {"document": "id", "stage": "stage", "reason": "reason"}
    show.show_table(session.out, columns, failures)


def _show_page(
    session: Session, answer: dict[str, Any], name: str, columns: dict[str, str], as_json: bool
) -> None:
    if as_json:
        session.show_json(answer)
        return
    show.show_table(session.out, columns, answer[name])
    if answer["next_cursor"]:
        session.out.print(f"More: --cursor {answer['next_cursor']}", markup=False, soft_wrap=True)

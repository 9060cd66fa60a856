"""`braid documents`: list, show and delete documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.cli.job_progress import wait_for_end
from gateway.cli.job_status import has_ended, require_success
from gateway.cli.options import AsJson, Cursor, Limit, print_page, show
from gateway.cli.output import show_pairs, show_record, show_removed
from gateway.cli.times import day, moment

if TYPE_CHECKING:
    from rich.console import Console

    from gateway.cli.api import Api
    from gateway.cli.session import Session

DocumentId = Annotated[
    str, typer.Argument(help="The document's id, as `braid documents list` shows it.")
]
documents = typer.Typer(help="List, show and delete documents.", no_args_is_help=True)


@documents.command("list")
def list_documents(
    context: typer.Context,
    *,
    prefix: Annotated[
        str | None, typer.Option(help="Only ids that begin with this, such as handbook/.")
    ] = None,
    limit: Limit = None,
    cursor: Cursor = None,
    as_json: AsJson = False,
) -> None:
    """List documents by id."""
    session: Session = context.obj
    with session.api() as api:
        answer = api.get("/api/documents", prefix=prefix, limit=limit, cursor=cursor)
    columns = {"id": "id", "title": "title", "version": "version", "chunks": "chunk_count"}
    print_page(session, answer, "documents", columns, as_json)


@documents.command("get")
def show_document(context: typer.Context, document_id: DocumentId, as_json: AsJson = False) -> None:
    """Show one document's current version."""
    from gateway.cli.api import segment  # noqa: PLC0415

    session: Session = context.obj
    with session.api() as api:
        answer = api.get(f"/api/documents/{segment(document_id)}")
    if as_json:
        session.show_json(answer)
    else:
        # A long document has thousands of chunks: only their number is shown.
        shown = {name: value for name, value in answer.items() if name != "chunk_ids"}
        show_record(session.out, shown)


@documents.command()
def versions(
    context: typer.Context,
    document_id: DocumentId,
    limit: Limit = None,
    cursor: Cursor = None,
    as_json: AsJson = False,
) -> None:
    """List a document's versions, the latest first, and when each one held."""
    session: Session = context.obj
    with session.api() as api:
        answer = api.get(
            "/api/document-versions", document_id=document_id, limit=limit, cursor=cursor
        )
    if not as_json:
        for one in answer["versions"]:
            one["holds"] = f"{day(one['valid_at'])} → {day(one['invalid_at']) or 'now'}"
    columns = {"version": "version", "holds": "holds", "title": "title", "chunks": "chunk_count"}
    print_page(session, answer, "versions", columns, as_json)


@documents.command("delete")
def delete_document(
    context: typer.Context,
    document_id: DocumentId,
    *,
    keep_versions: Annotated[
        bool,
        typer.Option("--keep-versions", help="End it now; as of earlier times it is still found."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Remove a document from both stores, and show what was removed; or end it."""
    session: Session = context.obj
    with session.api(changes=True) as api:
        answer = delete_and_wait(api, session, document_id, keep_versions=keep_versions)
    show(session, answer, _show_deleted, as_json)


def _show_deleted(out: Console, answer: dict[str, Any]) -> None:
    if ended := answer.get("invalid_at"):
        show_pairs(out, {"valid until": moment(ended)})
    else:
        show_removed(out, answer["removed"])


def delete_and_wait(
    api: Api, session: Session, document_id: str, *, keep_versions: bool = False
) -> dict[str, Any]:
    """Deletes or ends a document; returns the ended job and what was removed. Raises CliError if the job failed."""
    from gateway.cli.api import segment  # noqa: PLC0415

    address = f"/api/documents/{segment(document_id)}"
    answer: dict[str, Any] = api.delete(address, keep_versions=keep_versions or None)
    if not has_ended(answer["job"]):
        answer["job"] = wait_for_end(api, session, answer["job"])
        answer["removed"] = answer["job"]["removed"]
        if keep_versions:
            page = api.get("/api/document-versions", document_id=document_id, limit=1)
            answer["invalid_at"] = page["versions"][0]["invalid_at"]
    require_success(answer["job"])
    return answer

"""`braid space quarantine`: list, restore and purge what repairs have taken out of the space."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.cli import output
from gateway.cli.options import AsJson, Cursor, Limit, print_page

if TYPE_CHECKING:
    from gateway.cli.session import Session

quarantine = typer.Typer(
    help="List, restore and purge what repairs have taken out of the space.", no_args_is_help=True
)
QuarantineId = Annotated[str, typer.Argument(help="The quarantine's id.")]


@quarantine.command("list")
def list_quarantines(
    context: typer.Context, limit: Limit = None, cursor: Cursor = None, as_json: AsJson = False
) -> None:
    """List quarantines, the latest first: when, how many items, and how many are left."""
    session: Session = context.obj
    with session.api() as api:
        answer = api.get("/api/quarantines", limit=limit, cursor=cursor)
    rows = [one | {"taken": _counts(one["counts"])} for one in answer["quarantines"]]
    shown = answer if as_json else answer | {"quarantines": rows}
    columns = {"id": "id", "created": "created_at", "taken": "taken", "left": "items_left"}
    print_page(session, shown, "quarantines", columns, as_json)


@quarantine.command()
def show(
    context: typer.Context,
    quarantine_id: QuarantineId,
    limit: Limit = None,
    cursor: Cursor = None,
    as_json: AsJson = False,
) -> None:
    """Show the items of a quarantine."""
    session: Session = context.obj
    with session.api() as api:
        answer = api.get(_path(quarantine_id), limit=limit, cursor=cursor)
    columns = {"id": "id", "kind": "kind", "of": "subject_id", "document": "document_id"}
    print_page(session, answer, "items", columns | {"text": "text"}, as_json)


@quarantine.command()
def restore(
    context: typer.Context,
    quarantine_id: QuarantineId,
    item: Annotated[
        list[str] | None, typer.Option(help="Only this item; may be given again.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Restore a quarantine, or some of its items, as they were.

    Ingest the document of what is restored first: without it, the next check finds the same inconsistency.
    """
    session: Session = context.obj
    with session.api(changes=True) as api:
        answer = api.post(f"{_path(quarantine_id)}/restore", {"items": item or []})
    if as_json:
        session.show_json(answer)
        return
    left = answer["quarantine"]["items_left"]
    pairs = {"restored": _counts(answer["restored"]) or "nothing", "left": left}
    output.show_pairs(session.out, pairs)


@quarantine.command()
def purge(
    context: typer.Context,
    quarantine_id: QuarantineId,
    as_json: AsJson = False,
) -> None:
    """Delete a quarantine and its items for good."""
    session: Session = context.obj
    with session.api(changes=True) as api:
        answer = api.delete(_path(quarantine_id))
    if as_json:
        session.show_json(answer)
        return
    output.show_pairs(session.out, {"purged": _counts(answer["purged"]) or "nothing"})


def _path(quarantine_id: str) -> str:
    from gateway.cli.api import segment  # noqa: PLC0415 - only commands that ask need it

    return f"/api/quarantines/{segment(quarantine_id)}"


def _counts(counts: list[dict[str, Any]]) -> str:
    return ", ".join(f"{one['count']} {one['kind'].lower()}" for one in counts)

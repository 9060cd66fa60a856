"""`braid facts`: list stated facts, show one with its versions, end one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from gateway.cli import graph_output
from gateway.cli.options import (
    AsJson,
    AsOf,
    Cursor,
    KnownAt,
    Limit,
    Relation,
    entity_parameters,
    show,
)
from gateway.cli.output import fact_line

if TYPE_CHECKING:
    from gateway.cli.session import Session


facts = typer.Typer(help="List, show and end facts.", no_args_is_help=True)

Uuid = Annotated[str, typer.Argument(help="The fact's uuid, as `braid facts list` shows it.")]


@facts.command("list")
def list_facts(  # noqa: PLR0917 - typer names them all
    context: typer.Context,
    subject: Annotated[
        str | None, typer.Option(help="Only facts said of this entity: name or uuid.")
    ] = None,
    subject_type: Annotated[str | None, typer.Option(help="Its type.")] = None,
    relation: Relation = None,
    object_name: Annotated[
        str | None,
        typer.Option(
            "--object", help="Only facts with this entity at the other end: name or uuid."
        ),
    ] = None,
    object_type: Annotated[str | None, typer.Option(help="Its type.")] = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    limit: Limit = None,
    cursor: Cursor = None,
    as_json: AsJson = False,
) -> None:
    """List the facts that hold now, or at a time; all of them as of `../..`."""
    session: Session = context.obj
    with session.api() as api:
        answer = api.get(
            "/api/facts",
            **entity_parameters("subject", subject, subject_type),
            relation=relation,
            **entity_parameters("object", object_name, object_type),
            as_of=as_of,
            known_at=known_at,
            limit=limit,
            cursor=cursor,
        )
    show(session, answer, graph_output.show_identified_facts, as_json)


@facts.command("get")
def show_fact(context: typer.Context, uuid: Uuid, as_json: AsJson = False) -> None:
    """Show a fact, and all that was ever known of it."""
    from gateway.cli.api import segment  # noqa: PLC0415 - only commands that ask need it

    session: Session = context.obj
    with session.api() as api:
        answer = api.get(f"/api/facts/{segment(uuid)}")
    show(session, answer, graph_output.show_fact_and_versions, as_json)


@facts.command("end")
def end_fact(
    context: typer.Context,
    uuid: Uuid,
    at: Annotated[str, typer.Option(help="The day or instant from which on it no longer holds.")],
    as_json: AsJson = False,
) -> None:
    """End a fact at a time; what was known before stays on record."""
    from gateway.cli.api import segment  # noqa: PLC0415 - as above

    session: Session = context.obj
    with session.api() as api:
        answer = api.post(f"/api/facts/{segment(uuid)}/end", {"invalid_at": at})
    if as_json:
        session.show_json(answer)
        return
    session.out.print(fact_line(answer["fact"]), soft_wrap=True)
    session.out.print("ended" if answer["changed"] else "unchanged: it had ended then already")

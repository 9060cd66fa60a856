"""`braid facts`: list stated facts, show one with its versions, end, correct and withdraw."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.cli import graph_output
from gateway.cli.exit_codes import ExitCode
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


facts = typer.Typer(help="List, show, end, correct and withdraw facts.", no_args_is_help=True)

# A range without ends.
ALL_TIME = "../.."
MAX_PAGE = 200
_EMPTIED = ""
_OPEN = frozenset({"fact", "valid_at", "invalid_at"})
MAX_WITHDRAWN = 1000

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
    conditions = {
        **entity_parameters("subject", subject, subject_type),
        "relation": relation,
        **entity_parameters("object", object_name, object_type),
        "known_at": known_at,
    }
    with session.api() as api:
        answer = api.get("/api/facts", as_of=as_of, limit=limit, cursor=cursor, **conditions)
        if not as_json and not answer["facts"] and as_of is None and cursor is None:
            other_times = api.get("/api/facts", as_of=ALL_TIME, limit=MAX_PAGE, **conditions)
            graph_output.show_facts_of_other_times(session.out, other_times, ALL_TIME)
            return
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


@facts.command("withdraw")
def withdraw_facts(
    context: typer.Context,
    uuids: Annotated[
        list[str], typer.Argument(help="The facts' uuids, as `braid facts list` shows them.")
    ],
    reason: Annotated[str, typer.Option(help="Why; kept with the facts' versions.")] = "",
    as_json: AsJson = False,
) -> None:
    """Take back facts that were never true: they are known no longer until they are stated again."""
    session: Session = context.obj
    found: list[dict[str, str]] = []
    with session.api(changes=True) as api:
        for start in range(0, len(uuids), MAX_WITHDRAWN):
            body = {"uuids": uuids[start : start + MAX_WITHDRAWN], "reason": reason}
            answer = api.post("/api/facts/withdraw", body)
            found += answer["facts"]
    if as_json:
        session.show_json({"facts": found, "revision": answer["revision"]})
    else:
        graph_output.show_withdrawals(session.out, found)
    if any(one["outcome"] == "not_found" for one in found):
        raise typer.Exit(ExitCode.PARTIAL if len(found) > 1 else ExitCode.NOT_FOUND)


@facts.command("correct")
def correct_fact(  # noqa: PLR0917 - typer names them all
    context: typer.Context,
    uuid: Uuid,
    subject: Annotated[str | None, typer.Option(help="Whom or what it is said of.")] = None,
    subject_type: Annotated[str | None, typer.Option(help="Its type; goes with --subject.")] = None,
    relation: Annotated[str | None, typer.Option(help="The relation's name.")] = None,
    object_name: Annotated[str | None, typer.Option("--object", help="The other end.")] = None,
    object_type: Annotated[str | None, typer.Option(help="Its type; goes with --object.")] = None,
    text: Annotated[
        str | None,
        typer.Option("--fact", help='The statement as a sentence; "" makes it of the three.'),
    ] = None,
    valid_at: Annotated[
        str | None, typer.Option(help='The day or instant since when it holds; "" is open.')
    ] = None,
    invalid_at: Annotated[
        str | None,
        typer.Option(help='The day or instant from which on it no longer holds; "" is open.'),
    ] = None,
    attributes: Annotated[
        str | None, typer.Option(help="All its attributes, as a JSON object of flat values.")
    ] = None,
    reason: Annotated[str, typer.Option(help="Why; kept with the fact's versions.")] = "",
    as_json: AsJson = False,
) -> None:
    """Correct what was never true of a fact. What was known before stays on record."""
    from gateway.cli.api import segment  # noqa: PLC0415 - only commands that ask need it

    session: Session = context.obj
    given = {
        "subject": subject,
        "subject_type": subject_type,
        "relation": relation,
        "object": object_name,
        "object_type": object_type,
        "fact": text,
        "valid_at": valid_at,
        "invalid_at": invalid_at,
        "attributes": None if attributes is None else _object(attributes),
    }
    body = {
        name: None if name in _OPEN and value == _EMPTIED else value
        for name, value in given.items()
        if value is not None
    }
    if reason:
        body["reason"] = reason
    with session.api(changes=True) as api:
        answer = api.patch(f"/api/facts/{segment(uuid)}", body)
    if as_json:
        session.show_json(answer)
        return
    graph_output.show_correction(session.out, answer)


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise typer.BadParameter("must be a JSON object", param_hint="--attributes")
    return value

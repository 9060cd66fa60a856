"""`braid graph history`, `snapshot`, `diff` and `paths`: the graph over time, and paths between entities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from gateway.cli import graph_output
from gateway.cli.exit_codes import ExitCode
from gateway.cli.options import (
    RANGE,
    AsJson,
    AsOf,
    Cursor,
    Entity,
    EntityType,
    KnownAt,
    Limit,
    Relation,
    entity_parameters,
    is_uuid,
    show,
)

if TYPE_CHECKING:
    from gateway.cli.session import Session


def history(  # noqa: PLR0917 - typer names them all
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="The entity's name, any case, or its uuid.")],
    kind: EntityType = None,
    relation: Relation = None,
    since: Annotated[
        str | None, typer.Option(help="Leave out facts that had ended by this day or instant.")
    ] = None,
    as_of: Annotated[
        str | None, typer.Option(help="The day or instant that counts as now. Default: now.")
    ] = None,
    known_at: KnownAt = None,
    withdrawn: Annotated[
        bool,
        typer.Option("--withdrawn", help="Also show the facts that were withdrawn or replaced."),
    ] = False,
    limit: Limit = None,
    cursor: Cursor = None,
    as_json: AsJson = False,
) -> None:
    """Show an entity's facts, current and past, in time order, and whether anything ever changed."""
    from gateway.cli.api import segment  # noqa: PLC0415 - only commands that ask need it

    session: Session = context.obj
    with session.api() as api:
        answer = api.get(
            f"/api/graph/history/{segment(name)}",
            by="uuid" if is_uuid(name) else None,
            type=kind,
            relation=relation,
            since=since,
            as_of=as_of,
            known_at=known_at,
            withdrawn="true" if withdrawn else None,
            limit=limit,
            cursor=cursor,
        )
    show(session, answer, graph_output.show_history, as_json)
    if graph_output.is_ambiguous(answer):
        raise typer.Exit(ExitCode.USAGE)


def snapshot(  # noqa: PLR0917 - as above
    context: typer.Context,
    as_of: Annotated[str, typer.Option(help=f"The time of the snapshot: {RANGE}.")],
    entity: Entity = None,
    kind: EntityType = None,
    relation: Relation = None,
    known_at: KnownAt = None,
    limit: Limit = None,
    cursor: Cursor = None,
    as_json: AsJson = False,
) -> None:
    """Show the facts that held at a time, and what has changed since."""
    session: Session = context.obj
    with session.api() as api:
        answer = api.get(
            "/api/graph/snapshot",
            as_of=as_of,
            **entity_parameters("entity", entity, kind),
            relation=relation,
            known_at=known_at,
            limit=limit,
            cursor=cursor,
        )
    show(session, answer, graph_output.show_snapshot, as_json)


def diff(  # noqa: PLR0917 - as above
    context: typer.Context,
    since: Annotated[str, typer.Option("--from", help=f"The first time: {RANGE}.")],
    until: Annotated[
        str | None, typer.Option("--to", help="The second time, as the first. Default: now.")
    ] = None,
    entity: Entity = None,
    kind: EntityType = None,
    relation: Relation = None,
    known_at: KnownAt = None,
    limit: Annotated[int | None, typer.Option(help="How many of each kind at most.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show what changed between two times: facts added, ended, and replaced."""
    session: Session = context.obj
    times = {"from": since, "to": until}
    with session.api() as api:
        answer = api.get(
            "/api/graph/diff",
            **times,
            **entity_parameters("entity", entity, kind),
            relation=relation,
            known_at=known_at,
            limit=limit,
        )
    show(session, answer, graph_output.show_diff, as_json)


def paths(  # noqa: PLR0917 - as above
    context: typer.Context,
    source: Annotated[str, typer.Argument(help="Where paths begin: a name, any case, or a uuid.")],
    target: Annotated[str, typer.Argument(help="Where they end.")],
    source_type: Annotated[
        str | None, typer.Option(help="The first entity's type, where several share the name.")
    ] = None,
    target_type: Annotated[str | None, typer.Option(help="The other's.")] = None,
    max_hops: Annotated[int | None, typer.Option(help="How many facts long, 1–6.")] = None,
    limit: Limit = None,
    as_of: AsOf = None,
    include_local: Annotated[
        bool, typer.Option("--include-local", help="Also go along mere mentions: hints.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show the shortest paths between two entities."""
    session: Session = context.obj
    with session.api() as api:
        answer = api.get(
            "/api/graph/paths",
            **entity_parameters("source", source, source_type),
            **entity_parameters("target", target, target_type),
            max_hops=max_hops,
            limit=limit,
            as_of=as_of,
            include_local=include_local or None,
        )
    show(session, answer, graph_output.show_paths, as_json)
    if graph_output.is_ambiguous(answer):
        raise typer.Exit(ExitCode.USAGE)

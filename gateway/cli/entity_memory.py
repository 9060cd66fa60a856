"""`braid memory`: list, search and delete the user's entity memory."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from gateway.cli.errors import CliError
from gateway.cli.graph_output import show_cursor, show_indented
from gateway.cli.options import AsJson, Cursor, Limit, is_uuid, print_page, show
from gateway.cli.output import show_pairs
from gateway.cli.terminal_escape import styled

if TYPE_CHECKING:
    from rich.console import Console

    from gateway.cli.session import Session


Json = dict[str, Any]
memory = typer.Typer(
    help="List, search and delete what is remembered of you.", no_args_is_help=True
)


class EntityType(StrEnum):
    """What an entity is."""

    person = "person"
    project = "project"
    tool = "tool"
    concept = "concept"
    organization = "organization"
    place = "place"


class RelationshipType(StrEnum):
    """What a relationship says."""

    uses = "USES"
    prefers = "PREFERS"
    decided = "DECIDED"
    works_on = "WORKS_ON"
    works_with = "WORKS_WITH"
    knows = "KNOWS"
    depends_on = "DEPENDS_ON"
    mentioned_in = "MENTIONED_IN"
    part_of = "PART_OF"
    lives_in = "LIVES_IN"


TypeOption = Annotated[
    EntityType | None, typer.Option("--type", case_sensitive=False, help="Only of this type.")
]
RelationshipOption = Annotated[
    RelationshipType | None,
    typer.Option("--relationship", case_sensitive=False, help="Only relationships of this type."),
]


@memory.command()
def profile(
    context: typer.Context,
    question: Annotated[
        str | None,
        typer.Option("--for", help="Show the text for a prompt that asks this question."),
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(help="With --for: its maximum length in tokens.")
    ] = None,
    limit: Limit = None,
    as_json: AsJson = False,
) -> None:
    """Show what is known about you, the last said first, with the sentences that said it."""
    session: Session = context.obj
    with session.api() as api:
        if question is None:
            answer = api.get("/api/memory/profile", limit=limit)
        else:
            body = {"query": question, "max_tokens": max_tokens}
            answer = api.query("/api/memory/context", body)
    if as_json:
        session.show_json(answer)
    elif question is None:
        _show_profile(session.out, answer)
    else:
        for line in (answer["text"] or "Nothing is known.").splitlines():
            session.out.print(styled(line), soft_wrap=True)


def _show_profile(out: Console, answer: Json) -> None:
    items = [*answer["statements"], *answer["memories"]]
    if not items:
        out.print("Nothing is known.")
    for one in items:
        out.print(styled(one["text"]))
        if one["evidence"]:
            show_indented(out, f"“{one['evidence']}”")


@memory.command("list")
def list_entities(  # noqa: PLR0917 - typer names them all
    context: typer.Context,
    query: Annotated[
        str, typer.Argument(help="A name or a description. Default: everything.")
    ] = "",
    kind: TypeOption = None,
    limit: Limit = None,
    cursor: Cursor = None,
    as_json: AsJson = False,
) -> None:
    """List the people, projects and tools that are remembered, the last mentioned first."""
    session: Session = context.obj
    with session.api() as api:
        answer = api.get(
            "/api/memory/entities",
            query=query or None,
            type=kind.value if kind else None,
            limit=limit,
            cursor=cursor,
        )
    show(session, answer, _show_entities, as_json)


# Two aliases: REST uses the one, people use the other.
@memory.command("query", hidden=True)
@memory.command("search")
def search_relationships(  # noqa: PLR0917 - as above
    context: typer.Context,
    question: Annotated[str, typer.Argument(help="Such as: What do I use for monitoring?")],
    kind: TypeOption = None,
    relationship: RelationshipOption = None,
    limit: Limit = None,
    as_json: AsJson = False,
) -> None:
    """Ask what is remembered, in plain words."""
    session: Session = context.obj
    body = {
        "query": question,
        "entity_type": kind.value if kind else None,
        "relationship_type": relationship.value if relationship else None,
        "limit": limit,
    }
    with session.api() as api:
        answer = api.query("/api/memory/query", body)
    show(session, answer, _show_answers, as_json)


@memory.command("forget", hidden=True)
@memory.command("delete")
def delete_entity(
    context: typer.Context,
    entity: Annotated[
        str | None, typer.Argument(help="The name or the id of what is deleted.")
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Erase everything that is remembered of you, for good.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Delete an entity with its relationships, or erase everything."""
    session: Session = context.obj
    if (entity is None) == (not everything):
        raise CliError("name an entity, or give --all", reason="INVALID_FIELD")
    with session.api() as api:
        if entity is None:
            answer = api.delete("/api/memory")
        else:
            id_ = (
                entity if is_uuid(entity) else _id_of(api.get("/api/memory/entities", query=entity))
            )
            answer = api.delete(f"/api/memory/entities/{id_}")
    show(session, answer, show_pairs, as_json)


@memory.command()
def dead(
    context: typer.Context, limit: Limit = None, cursor: Cursor = None, as_json: AsJson = False
) -> None:
    """List what could not be remembered, with reasons."""
    session: Session = context.obj
    with session.api() as api:
        answer = api.get("/api/memory/writes/dead", limit=limit, cursor=cursor)
    columns = {"what": "kind", "reason": "reason", "attempts": "attempts", "failed": "failed_at"}
    print_page(session, answer, "writes", columns, as_json)


@memory.command()
def retry(context: typer.Context, as_json: AsJson = False) -> None:
    """Try again to remember everything that `braid memory dead` lists."""
    session: Session = context.obj
    with session.api(changes=True) as api:
        answer = api.post("/api/memory/writes/dead/retry", {})
    show(session, answer, show_pairs, as_json)


def _id_of(found: Json) -> str:
    """Returns the id of the only entity with exactly this name, so that similar names are not deleted."""
    named = [one for one in found["entities"] if one["match"] in {"exact", "alias"}]
    hint = "`braid memory list` shows the ids"
    if not named:
        raise CliError(f"nothing has this name: {hint}", reason="NOT_FOUND")
    if len(named) > 1:
        raise CliError(f"several entities have this name: {hint}", reason="INVALID_FIELD")
    return str(named[0]["id"])


def _show_entities(out: Console, answer: Json) -> None:
    for one in answer["entities"]:
        match = f" ({one['match']} {one['score']:.2f})" if one["match"] else ""
        head = Text(f"{one['type']:<13}").append_text(styled(one["name"], "bold"))
        out.print(head.append(match), soft_wrap=True)
        parts = [
            f"also {', '.join(one['aliases'])}" if one["aliases"] else "",
            f"mentioned {one['mention_count']}×",
            one["id"],
        ]
        show_indented(out, " · ".join(filter(None, parts)))
    if not answer["entities"]:
        out.print("Nothing is remembered.")
    show_cursor(out, answer)


def _show_answers(out: Console, answer: Json) -> None:
    for one in answer["answers"]:
        found = one["relationship"]
        says = f"{found['source']['name']} {found['type']} {found['target']['name']}"
        out.print(Text(f"{one['score']:.4f}  ").append_text(styled(says, "bold")), soft_wrap=True)
        if found["context"]:
            show_indented(out, found["context"])
    if not answer["answers"]:
        out.print("Nothing is remembered about this.")
    show_cursor(out, answer)

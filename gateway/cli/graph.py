"""`braid graph`: the entities of the space and the neighbors of one."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from gateway.cli import graph_history, output
from gateway.cli.options import AsJson, Limit, show
from gateway.cli.output import QUIET, fact_line
from gateway.cli.search import AsOf
from gateway.cli.terminal_escape import styled

if TYPE_CHECKING:
    from rich.console import Console

    from gateway.cli.api import Api
    from gateway.cli.session import Session

graph = typer.Typer(help="Show entities, neighbors, paths and histories.", no_args_is_help=True)
Json = dict[str, Any]
DEFAULT_LIMIT = 50


class Order(StrEnum):
    """The order in which entities are listed."""

    mentions = "mentions"
    name = "name"


class Titles(StrEnum):
    """How to treat entities that are known only as a document's title."""

    include = "include"
    exclude = "exclude"
    only = "only"


@graph.command("entities")
def list_entities(  # noqa: PLR0917 - typer names them all
    context: typer.Context,
    kind: Annotated[str | None, typer.Option("--type", help="Only entities of this type.")] = None,
    order: Annotated[
        Order, typer.Option(help="Most mentioned first, or by name.")
    ] = Order.mentions,
    titles: Annotated[
        Titles, typer.Option(help="What to do with what is known only as a document's title.")
    ] = Titles.include,
    limit: Annotated[
        int | None, typer.Option(help=f"How many at most. Default {DEFAULT_LIMIT}.")
    ] = None,
    cursor: Annotated[
        str | None, typer.Option(help="Go on where the page before ended: with the same options.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List what the space knows, most mentioned first: entities with their types; documents' titles are marked."""
    session: Session = context.obj
    options = {"type": kind, "order": order.value, "titles": titles.value}
    with session.api() as api:
        answer = _full_page(api, options, limit, cursor)
    if as_json:
        session.show_json(answer)
        return
    rows = [
        one | {"title": "document title" if one["document_title"] else ""}
        for one in answer["entities"]
    ]
    columns = {"name": "name", "type": "type", "mentions": "mentions", "": "title"}
    output.show_page(session.out, columns, rows, answer["next_cursor"])


def _full_page(
    api: Api, options: dict[str, str | None], limit: int | None, cursor: str | None
) -> dict[str, Any]:
    """Returns a page of the requested length: with a filter, pages of the service may be short before the end."""
    page: dict[str, Any] = api.get("/api/graph/entities", limit=limit, cursor=cursor, **options)
    if options["type"] is None and options["titles"] == Titles.include:
        return page
    while page["next_cursor"] and len(page["entities"]) < (limit or DEFAULT_LIMIT):
        left = (limit or DEFAULT_LIMIT) - len(page["entities"])
        more = api.get("/api/graph/entities", limit=left, cursor=page["next_cursor"], **options)
        page = page | more | {"entities": page["entities"] + more["entities"]}
    return page


@graph.command()
def neighborhood(  # noqa: PLR0917 - typer names them all
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="The entity's name, any case.")],
    kind: Annotated[
        str | None, typer.Option("--type", help="Its type, where several share it.")
    ] = None,
    limit: Limit = None,
    as_of: AsOf = None,
    as_json: AsJson = False,
) -> None:
    """Show an entity's neighbors and the facts that join them."""
    from gateway.cli.api import segment  # noqa: PLC0415

    session: Session = context.obj
    path = f"/api/graph/neighborhood/{segment(name)}"
    with session.api() as api:
        answer = api.get(path, type=kind, limit=limit, as_of=as_of)
    show(session, answer, show_neighborhood, as_json)


for view in (
    graph_history.history,
    graph_history.snapshot,
    graph_history.diff,
    graph_history.paths,
):
    graph.command()(view)


def show_neighborhood(out: Console, answer: Json) -> None:
    """Shows an entity, the number of its neighbors, and the facts that connect them."""
    center = answer["center"]
    head = styled(center["name"], "bold").append("  ").append_text(styled(center["type"], QUIET))
    out.print(head, soft_wrap=True)
    for edge in answer["edges"]:
        out.print(Text("  ").append_text(fact_line(edge)), soft_wrap=True)
    shown, total = len(answer["nodes"]), answer["total"]
    more = ", more with --limit" if answer["truncated"] else ""
    out.print(Text(f"{shown} of {total} neighbors{more}", style=QUIET))
    for other in answer["homonyms"]:
        out.print(styled(f"Also: {other['name']} ({other['type'] or 'no type'})", QUIET))

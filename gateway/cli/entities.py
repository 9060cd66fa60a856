"""`braid graph entities`: what the space knows, most mentioned first or by name."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.cli import show

if TYPE_CHECKING:
    from gateway.cli.api import Api
    from gateway.cli.session import Session

DEFAULT_LIMIT = 50


class Order(StrEnum):
    """In which order entities are listed."""

    mentions = "mentions"
    name = "name"


class Titles(StrEnum):
    """What to do with entities that are known only as a document's title."""

    include = "include"
    exclude = "exclude"
    only = "only"


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
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
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
    show.show_page(session.out, columns, rows, answer["next_cursor"])


def _full_page(
    api: Api, options: dict[str, str | None], limit: int | None, cursor: str | None
) -> dict[str, Any]:
    """A page as long as asked for: with a filter the service's own may be short before the end."""
    page: dict[str, Any] = api.get("/api/graph/entities", limit=limit, cursor=cursor, **options)
    if options["type"] is None and options["titles"] == Titles.include:
        return page
    while page["next_cursor"] and len(page["entities"]) < (limit or DEFAULT_LIMIT):
        left = (limit or DEFAULT_LIMIT) - len(page["entities"])
        more = api.get("/api/graph/entities", limit=left, cursor=page["next_cursor"], **options)
        page = page | more | {"entities": page["entities"] + more["entities"]}
    return page

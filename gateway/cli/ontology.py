"""`braid ontology`: show and replace the entity and relation types of the space."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.cli.options import AsJson, read_json, show
from gateway.cli.output import show_pairs, show_table

if TYPE_CHECKING:
    from rich.console import Console

    from gateway.cli.session import Session


Json = dict[str, Any]
ontology = typer.Typer(help="Show and replace the space's ontology.", no_args_is_help=True)


@ontology.command("get")
def show_ontology(context: typer.Context, as_json: AsJson = False) -> None:
    """Show the ontology; with --json in the form that `put` takes."""
    session: Session = context.obj
    with session.api() as api:
        answer = api.get("/api/ontology")
    show(session, answer, _show, as_json)


@ontology.command()
def put(
    context: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(help="JSON of the whole ontology; - is standard input."),
    ],
    as_json: AsJson = False,
) -> None:
    """Replace the ontology. One with a `version` replaces that version alone."""
    session: Session = context.obj
    body = read_json(file)
    with session.api() as api:
        answer = api.put("/api/ontology", body)
    show(session, answer, show_pairs, as_json)


def _show(out: Console, answer: Json) -> None:
    names = ("version", "strict", "instructions")
    show_pairs(out, {name: answer[name] for name in names})
    entities = {"entity type": "name", "attributes": "attributes", "description": "description"}
    relations = {"relation": "name", "between": "between", **entities}
    del relations["entity type"]
    if answer["entity_types"]:
        out.print()
        show_table(out, entities, [_row(one) for one in answer["entity_types"]])
    if answer["relation_types"]:
        out.print()
        show_table(out, relations, [_row(one) for one in answer["relation_types"]])


def _row(one: Json) -> Json:
    attributes = ", ".join(f"{each['name']} ({each['kind']})" for each in one["attributes"])
    pairs = [
        f"{each['subject_type'] or 'any'} → {each['object_type'] or 'any'}"
        for each in one.get("endpoints", ())
    ]
    return {**one, "attributes": attributes, "between": ", ".join(pairs) or "any"}

"""Options and steps that commands of the graph share."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from gateway.cli.session import Session

_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
RANGE = "a day, an instant, or a range such as 2024-01-01/2025-01-01 (.. leaves a side open)"

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Limit = Annotated[int | None, typer.Option(help="How many at most.")]
Cursor = Annotated[str | None, typer.Option(help="Go on where the page before ended.")]
EntityType = Annotated[
    str | None, typer.Option("--type", help="The entity's type, where several share the name.")
]
Relation = Annotated[str | None, typer.Option(help="Only facts of this relation, any case.")]
Entity = Annotated[
    str | None, typer.Option(help="Only facts with this entity at either end: name or uuid.")
]
KnownAt = Annotated[
    str | None, typer.Option(help="As it was known at this day or instant. Default: now.")
]
AsOf = Annotated[str | None, typer.Option(help=f"The time of the answer: {RANGE}. Default: now.")]


def is_uuid(text: str) -> bool:
    """Whether an entity is named by its uuid."""
    return _UUID.fullmatch(text) is not None


def entity_parameters(
    place: str, name: str | None, kind: str | None = None
) -> dict[str, str | None]:
    """The query parameters that mean an entity, given by name or by uuid."""
    if name is not None and is_uuid(name):
        return {f"{place}_uuid": name, f"{place}_type": kind}
    return {place: name, f"{place}_type": kind}


def show(
    session: Session,
    answer: dict[str, Any],
    shown: Callable[[Console, dict[str, Any]], None],
    as_json: bool,
) -> None:
    """Prints an answer for people, or as JSON."""
    if as_json:
        session.show_json(answer)
    else:
        shown(session.out, answer)

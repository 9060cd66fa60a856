"""Options and steps that several commands share."""

from __future__ import annotations

import json
import re
import sys
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.cli.errors import CliError
from gateway.cli.output import show_page

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rich.console import Console

    from gateway.cli.session import Session


_SPAN = re.compile(r"(\d{1,6})(s|m|h|d)")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
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
    """Whether a text that selects an entity is a uuid."""
    return _UUID.fullmatch(text) is not None


def entity_parameters(
    place: str, name: str | None, kind: str | None = None
) -> dict[str, str | None]:
    """Returns the query parameters for an entity, given by name or by uuid."""
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


def print_page(
    session: Session, answer: dict[str, Any], name: str, columns: dict[str, str], as_json: bool
) -> None:
    """Prints a page of a list for people, or as JSON."""

    def shown(out: Console, answer: dict[str, Any]) -> None:
        show_page(out, columns, answer[name], answer["next_cursor"])

    show(session, answer, shown, as_json)


STANDARD_INPUT = "-"


def read_json(path: Path) -> Any:
    """Returns the value in a file, or on standard input if the path is `-`. Raises CliError if it is not JSON."""
    return _parsed(_text(path), str(path))


def read_items(path: Path, field: str) -> list[Any]:
    """Returns the items in a file: a list, an object with a list in `field`, or one JSON value per line."""
    text = _text(path)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        lines = [line for line in text.splitlines() if line.strip()]
        return [
            _parsed(line, f"{path}, line {number}") for number, line in enumerate(lines, start=1)
        ]
    if isinstance(value, dict) and isinstance(value.get(field), list):
        return list(value[field])
    return value if isinstance(value, list) else [value]


def _text(path: Path) -> str:
    try:
        if str(path) == STANDARD_INPUT:
            return sys.stdin.buffer.read().decode()
        return path.read_bytes().decode()
    except UnicodeDecodeError:
        raise CliError(f"{path}: must be UTF-8", reason="INVALID_FIELD") from None


def _parsed(text: str, place: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CliError(f"{place}: is no JSON: {error}", reason="INVALID_FIELD") from None


def end_of(text: str | None, option: str) -> datetime | None:
    """Returns the instant that an option names: a span from now, a day or an instant. Raises CliError."""
    if text is None:
        return None
    if _SPAN.fullmatch(text):
        return datetime.now(UTC) + span_of(text, option)
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        raise _wrong(option, "must be a span such as 90d, a day or an instant") from None
    return instant if instant.tzinfo else instant.replace(tzinfo=UTC)


def span_of(text: str, option: str) -> timedelta:
    """Returns the span that an option names, such as 30m, 12h or 7d. Raises CliError."""
    matched = _SPAN.fullmatch(text)
    if matched is None:
        raise _wrong(option, "must be a span such as 30m, 12h or 7d")
    return timedelta(**{_UNITS[matched[2]]: int(matched[1])})


def _wrong(field: str, description: str) -> CliError:
    return CliError(
        f"{field}: {description}", reason="INVALID_FIELD", fields=((field, description),)
    )

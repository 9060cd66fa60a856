"""`braid findings`: list, search and add findings, intents and outcomes."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from gateway.cli.errors import CliError
from gateway.cli.exit_codes import ExitCode
from gateway.cli.graph_output import show_cursor, show_indented
from gateway.cli.options import AsJson, Cursor, Limit, read_items, show
from gateway.cli.output import show_legs, show_pairs
from gateway.cli.terminal_escape import styled

if TYPE_CHECKING:
    from rich.console import Console

    from gateway.cli.session import Session


Json = dict[str, Any]
findings = typer.Typer(
    help="List, search and add findings, intents and outcomes.", no_args_is_help=True
)
# The maximum that the service accepts in one request.
_BATCH = 500
_STATEMENT = {"finding": "key_insight", "intent": "goal", "outcome": "result"}


class Kind(StrEnum):
    """What a statement about the text is."""

    finding = "finding"
    intent = "intent"
    outcome = "outcome"


class Priority(StrEnum):
    """How much an intent matters."""

    low = "low"
    medium = "medium"
    high = "high"
    critical = "critical"


KindOption = Annotated[
    list[Kind] | None, typer.Option(help="Only of this kind; may be given again.")
]
About = Annotated[str | None, typer.Option(help="Only about this entity, any case.")]
MinConfidence = Annotated[float | None, typer.Option(help="Only findings at least as sure, 0–1.")]
Type = Annotated[str | None, typer.Option("--type", help="Only findings of this type.")]
Status = Annotated[str | None, typer.Option(help="Only intents of this status.")]
PriorityOption = Annotated[
    list[Priority] | None, typer.Option(help="Only intents of this priority; may be given again.")
]
Owner = Annotated[str | None, typer.Option(help="Only intents of this owner.")]


@findings.command("list")
def list_findings(  # noqa: PLR0917 - typer names them all
    context: typer.Context,
    kind: KindOption = None,
    about: About = None,
    min_confidence: MinConfidence = None,
    kind_of_finding: Type = None,
    status: Status = None,
    priority: PriorityOption = None,
    owner: Owner = None,
    limit: Limit = None,
    cursor: Cursor = None,
    as_json: AsJson = False,
) -> None:
    """List findings, intents and outcomes, the newest first."""
    session: Session = context.obj
    with session.api() as api:
        answer = api.get(
            "/api/findings",
            kind=_values(kind) or None,
            about_entity=about,
            min_confidence=min_confidence,
            type=kind_of_finding,
            status=status,
            priority=_values(priority) or None,
            owner=owner,
            limit=limit,
            cursor=cursor,
        )
    show(session, answer, _show_page, as_json)


@findings.command()
def search(  # noqa: PLR0917 - as above
    context: typer.Context,
    query: Annotated[str, typer.Argument(help="What to look for.")],
    kind: KindOption = None,
    about: About = None,
    min_confidence: MinConfidence = None,
    kind_of_finding: Type = None,
    status: Status = None,
    priority: PriorityOption = None,
    owner: Owner = None,
    limit: Limit = None,
    as_json: AsJson = False,
) -> None:
    """Search findings, intents and outcomes by words and by meaning."""
    session: Session = context.obj
    only = {
        "kinds": _values(kind) or None,
        "about_entity": None if about is None else {"name": about},
        "confidence": None if min_confidence is None else {"at_least": min_confidence},
        "type": kind_of_finding,
        "status": status,
        "priorities": _values(priority) or None,
        "owner": owner,
    }
    given = {name: value for name, value in only.items() if value is not None}
    with session.api() as api:
        answer = api.query(
            "/api/findings/search", {"query": query, "filter": given, "limit": limit}
        )
    show(session, answer, _show_found, as_json)


@findings.command()
def add(
    context: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(
            help="JSON of findings as REST takes them (a list, or one a line); - is standard input."
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Add findings, intents and outcomes. Unchanged ones are skipped, refused ones are listed."""
    session: Session = context.obj
    given = read_items(file, "findings")
    report: Json = {"uuids": [], "added": 0, "updated": 0, "unchanged": 0, "refused": []}
    with session.api() as api:
        for start in range(0, len(given), _BATCH):
            answer = api.post("/api/findings", {"findings": given[start : start + _BATCH]})
            report["uuids"] += answer["uuids"]
            for name in ("added", "updated", "unchanged"):
                report[name] += answer[name]
            report["refused"] += [
                {"index": start + one["index"], "reason": one["reason"]}
                for one in answer["refused"]
            ]
    if as_json:
        session.show_json(report)
    else:
        show_pairs(session.out, {name: report[name] for name in ("added", "updated", "unchanged")})
        for one in report["refused"]:
            session.complain(CliError(f"finding {one['index'] + 1}: {one['reason']}"))
    if report["refused"]:
        raise typer.Exit(ExitCode.PARTIAL)


def _values(given: list[Any] | None) -> list[str]:
    return [one.value for one in given or ()]


def _show_found(out: Console, answer: Json) -> None:
    _show_page(out, answer)
    show_legs(out, answer["legs"])


def _show_page(out: Console, answer: Json) -> None:
    for one in answer["findings"]:
        _show_finding(out, one)
    if not answer["findings"]:
        out.print("No findings.")
    show_cursor(out, answer)


def _show_finding(out: Console, one: Json) -> None:
    details = one[one["kind"]]
    score = "" if one["score"] is None else f"{one['score']:.4f}  "
    head = Text(f"{score}{one['kind']:<8} ").append_text(
        styled(details[_STATEMENT[one["kind"]]], "bold")
    )
    out.print(head, soft_wrap=True)
    about = ", ".join(entity["name"] for entity in one["about_entities"])
    parts = [*_details(details), f"about {about}" if about else "", one["id"] or one["uuid"]]
    show_indented(out, " · ".join(filter(None, parts)))


def _details(details: Json) -> list[str]:
    """The fields of a finding, an intent or an outcome but for its statement."""
    statements = frozenset(_STATEMENT.values())
    parts = []
    for name, value in details.items():
        if name in statements or value in (None, "", []):
            continue
        if name == "metrics":
            parts += [f"{one['name']} {one['value']:g} {one['unit']}".rstrip() for one in value]
        elif isinstance(value, list):
            parts.append(f"{name}: {', '.join(value)}")
        else:
            parts.append(f"{name} {value}")
    return parts

"""`braid search`: asks a question, and shows what was found, why, since when, and where it stands."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from gateway.cli.options import AsJson, Limit, show
from gateway.cli.output import QUIET, fact_line, show_legs
from gateway.cli.terminal_escape import line, styled

if TYPE_CHECKING:
    from rich.console import Console

    from gateway.cli.session import Session

EXCERPT = 240
Json = dict[str, Any]
# What `show_comprehensive` shows: nothing else is asked for.
SHOWN_PARTS = ("results", "graph_results", "legs")
AsOf = Annotated[str | None, typer.Option(help="The day or instant that the answer is about.")]


class Mode(StrEnum):
    """What is searched."""

    comprehensive = "comprehensive"
    hybrid = "hybrid"
    vector = "vector"
    text = "text"
    graph = "graph"


def search(  # noqa: PLR0917 - typer names them all
    context: typer.Context,
    query: Annotated[str, typer.Argument(help="The question.")],
    mode: Annotated[Mode, typer.Option(help="What is searched.")] = Mode.comprehensive,
    limit: Limit = None,
    as_of: AsOf = None,
    as_json: AsJson = False,
) -> None:
    """Ask a question."""
    session: Session = context.obj
    body: dict[str, Any] = {"query": query, "limit": limit, "as_of": as_of}
    if mode is Mode.comprehensive and not as_json:
        body["include"] = SHOWN_PARTS
    with session.api() as api:
        answer = api.post(f"/api/search/{mode.value}", body)
    shown = {Mode.comprehensive: show_comprehensive, Mode.graph: show_facts}
    show(session, answer, shown.get(mode, show_chunks), as_json)


def show_comprehensive(out: Console, answer: Json) -> None:
    """The fused list with its facts, the graph's facts, and the legs."""
    for number, result in enumerate(answer["results"], start=1):
        show_hit(out, number, result)
        for fact in result["facts"]:
            out.print(Text("      ").append_text(fact_line(fact)), soft_wrap=True)
    if not answer["results"]:
        out.print("Nothing was found.")
    if answer["graph_results"]:
        out.print(Text("\nFacts", style="bold"))
    for fact in answer["graph_results"]:
        show_fact(out, fact)
    show_legs(out, answer["legs"])


def show_chunks(out: Console, answer: Json) -> None:
    """Found chunks and the leg."""
    for number, hit in enumerate(answer["results"], start=1):
        show_hit(out, number, hit)
    _show_end(out, answer)


def show_facts(out: Console, answer: Json) -> None:
    """Found facts and the leg."""
    for fact in answer["results"]:
        show_fact(out, fact)
    _show_end(out, answer)


def show_hit(out: Console, number: int, hit: Json) -> None:
    """A chunk: score, title, document, the parts of its score, and its beginning."""
    head = Text(f"{number:>3}  {hit['score']:.4f}  ").append_text(styled(hit["title"], "bold"))
    where = hit["document_id"] or hit["source"]
    if where:
        head.append("  ").append_text(styled(where, QUIET))
    out.print(head, soft_wrap=True)
    parts = _parts(hit["scores"])
    if parts:
        out.print(Text(f"      {parts}", style=QUIET), soft_wrap=True)
    out.print(Text("      ").append_text(styled(hit["content"], most=EXCERPT)), soft_wrap=True)


def show_fact(out: Console, fact: Json) -> None:
    """A fact with its score, dates and citations."""
    out.print(Text(f"  {fact['score']:.4f}  ").append_text(fact_line(fact)), soft_wrap=True)


def _show_end(out: Console, answer: Json) -> None:
    if not answer["results"]:
        out.print("Nothing was found.")
    show_legs(out, answer["legs"])


def _parts(scores: Json) -> str:
    parts = []
    for name, value in scores.items():
        if isinstance(value, dict):
            place = f"#{value['rank']} " if value["rank"] else ""
            parts.append(f"{line(name)} {place}{value['score']:.4f}")
        elif isinstance(value, float):
            parts.append(f"{line(name)} {value:.4f}")
    return " · ".join(parts)

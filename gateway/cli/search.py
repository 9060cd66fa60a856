"""`braid search`: searches, and shows results with scores, dates and sources."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from gateway.cli import exit_codes
from gateway.cli.errors import CliError
from gateway.cli.options import AsJson, Limit, show
from gateway.cli.output import QUIET, fact_line, show_legs
from gateway.cli.terminal_escape import line, styled

if TYPE_CHECKING:
    from rich.console import Console

    from gateway.cli.session import Session

EXCERPT = 240
Json = dict[str, Any]
# The parts that `show_comprehensive` shows; no others are requested.
SHOWN_PARTS = ("results", "graph_results", "legs")
AsOf = Annotated[str | None, typer.Option(help="The day or instant that the answer is about.")]


class Mode(StrEnum):
    """The kind of search."""

    comprehensive = "comprehensive"
    hybrid = "hybrid"
    vector = "vector"
    text = "text"
    graph = "graph"


class Expansion(StrEnum):
    """How the results are expanded along the graph."""

    none = "none"
    formula = "formula"
    query_aware = "query_aware"
    pagerank = "pagerank"


class Rerank(StrEnum):
    """How the results are reranked."""

    none = "none"
    local = "local"
    cross_encoder = "cross_encoder"
    language_model = "language_model"


_WITH_STEPS = frozenset({Mode.comprehensive, Mode.hybrid})


def search(  # noqa: PLR0917 - typer names them all
    context: typer.Context,
    query: Annotated[str, typer.Argument(help="What to look for: a question or words.")],
    mode: Annotated[Mode, typer.Option(help="What is searched.")] = Mode.comprehensive,
    limit: Limit = None,
    as_of: AsOf = None,
    expansion: Annotated[
        Expansion | None,
        typer.Option(
            case_sensitive=False,
            help="Expand the results along the graph (comprehensive: query_aware by default; hybrid).",
        ),
    ] = None,
    hops: Annotated[
        int | None, typer.Option(help="Relations away from a result, 1–3; with --expansion.")
    ] = None,
    rerank: Annotated[
        Rerank | None,
        typer.Option(
            case_sensitive=False, help="Rerank the results before that (comprehensive, hybrid)."
        ),
    ] = None,
    memories: Annotated[
        bool, typer.Option("--memories", help="List your typed memories too (comprehensive).")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Search passages and facts, and memories if asked to."""
    session: Session = context.obj
    steps = _steps(expansion, hops, rerank)
    if steps and mode not in _WITH_STEPS:
        raise CliError(
            f"--expansion and --rerank are for comprehensive and hybrid, not {mode}",
            reason="INVALID_FIELD",
        )
    if memories and mode is not Mode.comprehensive:
        raise CliError(f"--memories is for comprehensive, not {mode}", reason="INVALID_FIELD")
    body: dict[str, Any] = {"query": query, "limit": limit, "as_of": as_of, **steps}
    if memories:
        body["use_memories"] = True
    if mode is Mode.comprehensive and not as_json:
        body["include"] = SHOWN_PARTS
    with session.api() as api:
        answer = api.query(f"/api/search/{mode.value}", body)
    shown = {Mode.comprehensive: show_comprehensive, Mode.graph: show_facts}
    show(session, answer, shown.get(mode, show_chunks), as_json)
    raise typer.Exit(exit_codes.of_search(answer))


def _steps(expansion: Expansion | None, hops: int | None, rerank: Rerank | None) -> Json:
    """Returns the fields of a body for the steps after the search; empty for the defaults."""
    steps: Json = {}
    if expansion is not None or hops is not None:
        steps["expansion"] = {"mode": expansion and expansion.value, "hops": hops}
    if rerank is not None:
        steps["rerank"] = rerank.value
    return steps


def show_comprehensive(out: Console, answer: Json) -> None:
    """Shows the fused list with its facts, the graph's facts, and the legs."""
    for number, result in enumerate(answer["results"], start=1):
        show_hit(out, number, result)
        for fact in result["facts"]:
            out.print(Text("      ").append_text(fact_line(fact)), soft_wrap=True)
    if not answer["results"]:
        _show_nearest(out, answer)
    if answer["graph_results"]:
        out.print(Text("\nFacts", style="bold"))
    for fact in answer["graph_results"]:
        show_fact(out, fact)
    show_legs(out, answer["legs"])
    show_steps(out, answer)


def show_chunks(out: Console, answer: Json) -> None:
    """Shows found chunks, the leg, and the later steps."""
    for number, hit in enumerate(answer["results"], start=1):
        show_hit(out, number, hit)
    _show_end(out, answer)


def show_facts(out: Console, answer: Json) -> None:
    """Shows found facts and the leg."""
    for fact in answer["results"]:
        show_fact(out, fact)
    _show_end(out, answer)


def show_hit(out: Console, number: int, hit: Json) -> None:
    """Shows a chunk: score, title, document, the parts of its score, and the start of its text."""
    head = Text(f"{number:>3}  {hit['score']:.4f}  ").append_text(styled(hit["title"], "bold"))
    where = hit["document_id"] or hit["source"]
    if where:
        head.append("  ").append_text(styled(where, QUIET))
    out.print(head, soft_wrap=True)
    parts = _parts(hit["scores"] | hit.get("contributions", {}))
    if parts:
        out.print(Text(f"      {parts}", style=QUIET), soft_wrap=True)
    trace = hit.get("expansion")
    if trace and trace["steps"]:
        out.print(Text(f"      {line(_path(trace))}", style=QUIET), soft_wrap=True)
    out.print(
        Text("      ").append_text(styled(hit["content"], max_length=EXCERPT)), soft_wrap=True
    )


def show_fact(out: Console, fact: Json) -> None:
    """Shows a fact with its score, dates and citations."""
    out.print(Text(f"  {fact['score']:.4f}  ").append_text(fact_line(fact)), soft_wrap=True)


def _show_nearest(out: Console, answer: Json) -> None:
    """Shows that nothing was found, and the nearest passages, which are not relevant."""
    out.print("Nothing was found.")
    nearest = answer.get("nearest")
    if nearest:
        out.print(Text("\nNearest, but not considered relevant", style=QUIET))
        for number, hit in enumerate(nearest, start=1):
            show_hit(out, number, hit)


def _show_end(out: Console, answer: Json) -> None:
    if not answer["results"]:
        _show_nearest(out, answer)
    show_legs(out, answer["legs"])
    show_steps(out, answer)


def show_steps(out: Console, answer: Json) -> None:
    """Shows how the results were reranked and expanded."""
    notes = [
        f"{name} {step['mode']} {step['status']}{' ' + step['reason'] if step['reason'] else ''}"
        for name in ("reranking", "expansion")
        if (step := answer.get(name))
    ]
    expanded = answer.get("expansion")
    if expanded:
        notes[-1] += f" {expanded['overhead_ms']:.1f} ms, {expanded['new_results']} new"
    if notes:
        out.print(Text(line(" · ".join(notes)), style=QUIET), soft_wrap=True)


def _path(trace: Json) -> str:
    """Returns `via <entity> from <seed>` for a result that the expansion reached."""
    names = [step["entity"] or step["relation_type"] for step in trace["steps"]]
    begin = f" from {trace['seed_entity']}" if trace["seed_entity"] else ""
    return f"reached over {' → '.join(names)}{begin}"


def _parts(scores: Json) -> str:
    parts = []
    for name, value in scores.items():
        if isinstance(value, dict):
            place = f"#{value['rank']} " if value["rank"] else ""
            parts.append(f"{line(name)} {place}{value['score']:.4f}")
        elif isinstance(value, float):
            parts.append(f"{line(name)} {value:.4f}")
    return " · ".join(parts)

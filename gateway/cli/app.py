"""The commands and their options; what they do lives in the modules beside this one."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from gateway.cli import graph_history, show, upkeep
from gateway.cli.ends import has_ended, require_success
from gateway.cli.entities import list_entities
from gateway.cli.errors import CliError, GoesOnError
from gateway.cli.graph_facts import facts
from gateway.cli.graph_findings import findings
from gateway.cli.graph_ontology import ontology
from gateway.cli.jobs import jobs
from gateway.cli.running import run, wants_json
from gateway.cli.session import Session
from gateway.cli.status import READY, read_status, show_status
from gateway.kinds import KINDS

app = typer.Typer(
    name="braid",
    help="Answers from vectors, full text and a temporal knowledge graph.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,
)
graph = typer.Typer(help="Walk the graph.", no_args_is_help=True)
documents = typer.Typer(help="List, show and delete documents.", no_args_is_help=True)
app.add_typer(graph, name="graph")
graph.command("entities")(list_entities)
app.add_typer(documents, name="documents")
app.add_typer(jobs, name="jobs")
app.add_typer(facts, name="facts")
app.add_typer(findings, name="findings")
app.add_typer(ontology, name="ontology")
for command in (
    graph_history.history,
    graph_history.snapshot,
    graph_history.diff,
    graph_history.paths,
    upkeep.check,
    upkeep.reembed,
    upkeep.reextract,
):
    app.command()(command)

# Of lines that no person looks at: other programs need ids whole.
_UNCUT = 1_000_000
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Limit = Annotated[int | None, typer.Option(help="How many at most.")]
AsOf = Annotated[str | None, typer.Option(help="The day or instant that the answer is about.")]
Cursor = Annotated[str | None, typer.Option(help="Go on where the page before ended.")]


class Mode(StrEnum):
    """What is searched."""

    comprehensive = "comprehensive"
    hybrid = "hybrid"
    vector = "vector"
    text = "text"
    graph = "graph"


def main() -> None:
    """The `braid` command. Exit code 0; 1 when something failed; 2 when it was called wrongly; 130 after Ctrl-C."""
    out, err = Console(highlight=False), Console(stderr=True, highlight=False)
    if not out.file.isatty():
        out.width = _UNCUT
    session = Session(os.environ, out, err, as_json=wants_json(sys.argv[1:]))
    sys.exit(run(session, partial(app, obj=session, prog_name="braid")))


@app.command()
def up(  # noqa: PLR0917 - typer names them all
    context: typer.Context,
    data: Annotated[
        Path | None, typer.Option(help="Data folder. Default: BRAID_DATA or .braid.")
    ] = None,
    sample: Annotated[
        bool, typer.Option("--sample", help="Load the sample on first start.")
    ] = False,
    ask: Annotated[bool, typer.Option("--ask", help="Ask the sample's first question.")] = False,
    free_ports: Annotated[bool, typer.Option("--free-ports", help="Take any free ports.")] = False,
    workers: Annotated[int, typer.Option(help="Processes that work on jobs.", min=1, max=32)] = 1,
    as_json: AsJson = False,
) -> None:
    """Start the stack of this folder, until Ctrl-C: PostgreSQL, Neo4j and Braid on this machine."""
    import asyncio  # noqa: PLC0415 - as below: each command pays for what it imports

    from gateway.cli.up import Wishes  # noqa: PLC0415
    from gateway.cli.up import up as run_stack  # noqa: PLC0415

    session: Session = context.obj
    wishes = Wishes(sample=sample, ask=ask, free_ports=free_ports, as_json=as_json, workers=workers)
    asyncio.run(run_stack(session, data or session.data, wishes))


@app.command()
def ingest(
    context: typer.Context,
    paths: Annotated[list[Path], typer.Argument(help=f"Files or folders: {' '.join(KINDS)}")],
    as_json: AsJson = False,
) -> None:
    """Add documents and facts. Facts are .jsonl lines with subject, relation, object; unchanged files are skipped."""
    from gateway.cli.bars import ConsoleBars  # noqa: PLC0415
    from gateway.cli.ingest import Ingest  # noqa: PLC0415
    from gateway.cli.page_titles import without_site_names  # noqa: PLC0415
    from gateway.cli.sources import find  # noqa: PLC0415

    session: Session = context.obj
    try:
        with session.api(changes=True) as api, ConsoleBars(session.err) as bars:
            report = Ingest(api, bars).run(without_site_names(find(paths)))
    except KeyboardInterrupt:
        raise GoesOnError("jobs that were accepted go on; `braid jobs list` shows them") from None
    told = report.as_json()
    if as_json:
        session.show_json(told)
    else:
        failures = told.pop("failures")
        show.show_pairs(session.out, told)
        for problem in failures:
            session.complain(CliError(f"{problem['path']}: {problem['reason']}"))
    if report.failures:
        raise typer.Exit(1)


@app.command()
def search(  # noqa: PLR0917 - as above
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
        body["include"] = show.SHOWN_PARTS
    with session.api() as api:
        answer = api.post(f"/api/search/{mode.value}", body)
    shown = {Mode.comprehensive: show.show_comprehensive, Mode.graph: show.show_facts}
    _show(session, answer, shown.get(mode, show.show_chunks), as_json)


@app.command()
def status(context: typer.Context, as_json: AsJson = False) -> None:
    """Say which services serve, and what the graph holds. Ends with 1 when one does not serve."""
    session: Session = context.obj
    with session.api() as api:
        answer = read_status(api, session.gateway)
    _show(session, answer, partial(show_status, gateway=session.gateway), as_json)
    if answer["status"] != READY:
        raise typer.Exit(1)


@graph.command()
def neighborhood(  # noqa: PLR0917 - as above
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="The entity's name, any case.")],
    kind: Annotated[
        str | None, typer.Option("--type", help="Its type, where several share it.")
    ] = None,
    limit: Limit = None,
    as_of: AsOf = None,
    as_json: AsJson = False,
) -> None:
    """Show an entity's neighbours and the facts that join them."""
    from gateway.cli.api import segment  # noqa: PLC0415

    session: Session = context.obj
    path = f"/api/graph/neighborhood/{segment(name)}"
    with session.api() as api:
        answer = api.get(path, type=kind, limit=limit, as_of=as_of)
    _show(session, answer, show.show_neighborhood, as_json)


@documents.command("list")
def list_documents(
    context: typer.Context, limit: Limit = None, cursor: Cursor = None, as_json: AsJson = False
) -> None:
    """List documents by id."""
    session: Session = context.obj
    with session.api() as api:
        answer = api.get("/api/documents", limit=limit, cursor=cursor)
    columns = {"id": "id", "title": "title", "version": "version", "chunks": "chunk_count"}
    _show_page(session, answer, "documents", columns, as_json)


@documents.command("show")
def show_document(context: typer.Context, document_id: str, as_json: AsJson = False) -> None:
    """Show one document's current version."""
    from gateway.cli.api import segment  # noqa: PLC0415

    session: Session = context.obj
    with session.api() as api:
        answer = api.get(f"/api/documents/{segment(document_id)}")
    if as_json:
        session.show_json(answer)
    else:
        # A long document has thousands of chunks: their number says enough.
        shown = {name: value for name, value in answer.items() if name != "chunk_ids"}
        show.show_record(session.out, shown)


@documents.command("delete")
def delete_document(context: typer.Context, document_id: str, as_json: AsJson = False) -> None:
    """Remove a document from both stores, and show what was removed."""
    from gateway.cli.api import segment  # noqa: PLC0415

    session: Session = context.obj
    with session.api(changes=True) as api:
        answer = api.delete(f"/api/documents/{segment(document_id)}")
        if not has_ended(answer["job"]):
            answer["job"] = upkeep.ended(api, session, answer["job"])
            answer["removed"] = answer["job"]["removed"]
    require_success(answer["job"])
    columns = {"store": "store", "removed": "kind", "count": "count"}
    _show(session, answer, lambda out, a: show.show_table(out, columns, a["removed"]), as_json)


def _show_page(
    session: Session, answer: dict[str, Any], name: str, columns: dict[str, str], as_json: bool
) -> None:
    def shown(out: Console, answer: dict[str, Any]) -> None:
        show.show_page(out, columns, answer[name], answer["next_cursor"])

    _show(session, answer, shown, as_json)


def _show(session: Session, answer: dict[str, Any], shown: Any, as_json: bool) -> None:
    if as_json:
        session.show_json(answer)
    else:
        shown(session.out, answer)

"""The `braid` command: its groups and its single commands. What each does is in the module of its noun."""

from __future__ import annotations

import os
import sys
from functools import partial

import typer
from rich.console import Console

from gateway.cli import graph_history, upkeep
from gateway.cli.chat import commands as questions
from gateway.cli.documents import documents
from gateway.cli.facts import facts
from gateway.cli.findings import findings
from gateway.cli.graph import graph
from gateway.cli.ingest.command import ingest
from gateway.cli.jobs import jobs
from gateway.cli.keys import keys
from gateway.cli.mcp import mcp
from gateway.cli.memories import memories
from gateway.cli.memory import memory
from gateway.cli.ontology import ontology
from gateway.cli.search import search
from gateway.cli.session import Session, run, wants_json
from gateway.cli.status import status
from gateway.cli.up import up

# A new group (`braid NAME …`) or a new single command plugs in here, in the order of `braid --help`.
GROUPS = {
    "graph": graph,
    "documents": documents,
    "jobs": jobs,
    "facts": facts,
    "findings": findings,
    "memories": memories,
    "ontology": ontology,
    "memory": memory,
    "keys": keys,
}
COMMANDS = (
    questions.ask,
    questions.chat,
    graph_history.history,
    graph_history.snapshot,
    graph_history.diff,
    graph_history.paths,
    upkeep.check,
    upkeep.reembed,
    upkeep.reextract,
    up,
    ingest,
    search,
    status,
    mcp,
)

app = typer.Typer(
    name="braid",
    help="Answers from vectors, full text and a temporal knowledge graph.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,
)
for name, group in GROUPS.items():
    app.add_typer(group, name=name)
for command in COMMANDS:
    app.command()(command)

# The width of lines that go to a file or another program: ids must stay whole.
_UNCUT = 1_000_000


def main() -> None:
    """The `braid` command. Exit code 0; 1 when something failed; 2 when it was called wrongly; 130 after Ctrl-C."""
    out, err = Console(highlight=False), Console(stderr=True, highlight=False)
    if not out.file.isatty():
        out.width = _UNCUT
    session = Session(os.environ, out, err, as_json=wants_json(sys.argv[1:]))
    sys.exit(run(session, partial(app, obj=session, prog_name="braid")))

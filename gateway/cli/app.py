"""The `braid` command: its groups and single commands, which the module of each noun implements."""

from __future__ import annotations

import os
import sys
from functools import cache, partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.cli import exit_codes
from gateway.cli.backup import backup, restore
from gateway.cli.chat.commands import ask, chat
from gateway.cli.conversations import conversations
from gateway.cli.documents import documents
from gateway.cli.entity_memory import memory
from gateway.cli.evaluation.command import evaluate
from gateway.cli.facts import facts
from gateway.cli.findings import findings
from gateway.cli.graph import graph
from gateway.cli.ingest.command import ingest
from gateway.cli.jobs import jobs
from gateway.cli.keys import keys
from gateway.cli.mcp import mcp
from gateway.cli.ontology import ontology
from gateway.cli.search import search
from gateway.cli.session import Session, console, run, wants_json
from gateway.cli.sources.commands import sources
from gateway.cli.sources.sync import sync
from gateway.cli.space import space
from gateway.cli.status import status
from gateway.cli.typed_memory import memories
from gateway.cli.up import up
from services.runtime.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence

# `braid VERB …`: frequent commands, in the order of `braid --help`.
COMMANDS = (up, status, ingest, sync, search, ask, chat, mcp, backup, restore)
# `braid NOUN VERB …`. Add a new noun here; docs/command-line.md lists the verbs.
GROUPS = {
    "documents": documents,
    "sources": sources,
    "jobs": jobs,
    "graph": graph,
    "facts": facts,
    "findings": findings,
    "ontology": ontology,
    "conversations": conversations,
    "memories": memories,
    "memory": memory,
    "keys": keys,
    "space": space,
}


def _show_version(context: typer.Context, wanted: bool) -> None:
    if wanted:
        session: Session = context.obj
        session.out.print(f"braid {VERSION}", highlight=False)
        raise typer.Exit


app = typer.Typer(
    name="braid",
    help="Answers from vectors, full text and a temporal knowledge graph.",
    epilog=f"\b\nExit codes:\n{exit_codes.table()}",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback()
def braid(
    *,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", help="Show the version and exit.", callback=_show_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Answers from vectors, full text and a temporal knowledge graph."""


for command in COMMANDS:
    app.command()(command)
app.command("eval")(evaluate)
for name, group in GROUPS.items():
    app.add_typer(group, name=name)


@cache
def _root_command() -> Any:
    """Returns the command tree. Typer builds it from the functions, which takes 0.1 s, so it is built once."""
    return typer.main.get_command(app)


def invoke(session: Session, words: Sequence[str]) -> int:
    """Runs the command with these arguments; returns its exit code (see `exit_codes`)."""
    command = partial(_root_command(), words, obj=session, prog_name="braid", standalone_mode=False)
    return run(session, command)


def main() -> None:
    """The `braid` command."""
    words = sys.argv[1:]
    out, err = console(sys.stdout, os.environ), console(sys.stderr, os.environ)
    sys.exit(invoke(Session(os.environ, out, err, as_json=wants_json(words)), words))

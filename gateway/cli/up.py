"""`braid up`: its options. The implementation is in `local_stack`, which only this command imports."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gateway.cli.options import AsJson

if TYPE_CHECKING:
    from gateway.cli.session import Session


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
    replicas: Annotated[int, typer.Option(help="Processes of each service.", min=1, max=8)] = 1,
    as_json: AsJson = False,
) -> None:
    """Run PostgreSQL, Neo4j and Braid until Ctrl-C. Everything is kept in the data folder."""
    import asyncio  # noqa: PLC0415 - `braid --help` must not pay for it

    from gateway.cli.local_stack import UpOptions  # noqa: PLC0415
    from gateway.cli.local_stack import up as run_stack  # noqa: PLC0415

    session: Session = context.obj
    wishes = UpOptions(
        sample=sample,
        ask=ask,
        free_ports=free_ports,
        as_json=as_json,
        workers=workers,
        replicas=replicas,
    )
    asyncio.run(run_stack(session, data or session.data, wishes))

"""`braid mcp`: the tools for an assistant that starts this command and uses MCP over standard input and output."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlencode

import typer

from gateway.cli.tls import tls_context

if TYPE_CHECKING:
    from gateway.cli.session import Session


class McpProfile(StrEnum):
    """The set of offered tools."""

    default = "default"
    all = "all"


def mcp(
    context: typer.Context,
    profile: Annotated[
        McpProfile | None,
        typer.Option(help="At most eight tools, or each on its own. Default: the gateway's."),
    ] = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="Only tools that read.")] = False,
) -> None:
    """Serve an assistant over standard input and output (MCP)."""
    # Imported here, because only this command needs it and `--help` must be fast.
    import asyncio  # noqa: PLC0415

    from gateway.mcp.stdio import serve_stdio  # noqa: PLC0415

    session: Session = context.obj
    with session.api(changes=not read_only) as api:
        url, key = api.url.rstrip("/"), api.key
    given = {"profile": profile.value} if profile else {}
    if read_only:
        given["read_only"] = "true"
    address = f"{url}/mcp" + (f"?{urlencode(given)}" if given else "")
    asyncio.run(serve_stdio(address, key, tls_context(session.environment, address)))

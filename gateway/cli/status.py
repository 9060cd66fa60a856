"""`braid status`: state of the services, also if some are unavailable."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import typer

from gateway.cli.errors import CliError
from gateway.cli.exit_codes import ExitCode
from gateway.cli.options import AsJson, show
from gateway.cli.output import show_pairs, show_table
from gateway.cli.times import moment_and_age

if TYPE_CHECKING:
    from rich.console import Console

    from gateway.cli.api import Api
    from gateway.cli.discovery import Gateway
    from gateway.cli.session import Session


READY = "ready"
_ONLINE = "ONLINE"
_COUNTS = {
    "entities": "entities",
    "facts": "facts",
    "local facts": "local_facts",
    "episodes": "episodes",
    "revision": "revision",
}


def status(context: typer.Context, as_json: AsJson = False) -> None:
    """Show which services serve, and what the graph holds. Exit code 4 when one does not serve."""
    session: Session = context.obj
    with session.api() as api:
        answer = read_status(api, session.gateway)
    show(session, answer, partial(show_status, gateway=session.gateway), as_json)
    if answer["status"] != READY:
        raise typer.Exit(ExitCode.PARTIAL)


def read_status(api: Api, gateway: Gateway | None) -> dict[str, Any]:
    """Returns which services serve, and counts of the graph; `graph` has only a `reason` if they are unavailable."""
    readiness = api.readiness()
    found = {"found_by": gateway.found_by} if gateway else {}
    return {
        "url": api.url,
        **found,
        "status": readiness["status"],
        "services": readiness["services"],
        "graph": _graph(api),
    }


def show_status(out: Console, answer: dict[str, Any], gateway: Gateway | None = None) -> None:
    """Shows one line per service, one per count of the graph, and its entities by type."""
    show_pairs(out, {"gateway": gateway or answer["url"], **answer["services"]})
    graph = answer["graph"]
    if "reason" in graph:
        show_pairs(out, {"graph reason": graph["reason"]})
        return
    pairs: dict[str, Any] = {f"graph {name}": graph[key] for name, key in _COUNTS.items()}
    last = moment_and_age(graph["last_ingest_at"], datetime.now(UTC))
    pairs |= {
        "graph last ingest": last or "never",
        "graph indexes": index_summary(graph["indexes"]),
    }
    show_pairs(out, pairs)
    types = graph["entities_by_type"]
    if types:
        ordered = sorted(types.items(), key=lambda one: (-one[1], one[0]))
        rows = [{"type": name or "(no type)", "entities": count} for name, count in ordered]
        out.print("")
        show_table(out, {"type": "type", "entities": "entities"}, rows)


def index_summary(states: dict[str, str]) -> str:
    """Returns `45 indexes online`, and the names of those that are not."""
    online = sum(state == _ONLINE for state in states.values())
    others = [f"{name} {state}" for name, state in sorted(states.items()) if state != _ONLINE]
    summary = f"{online} {'index' if online == 1 else 'indexes'} online"
    return "; ".join([summary, *others])


def _graph(api: Api) -> dict[str, Any]:
    try:
        graph: dict[str, Any] = api.get("/api/graph/status")
    except CliError as error:
        return {"reason": error.reason or error.detail}
    return graph

"""How the services are: told whole also when some of them are away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gateway.cli.errors import CliError
from gateway.cli.show import show_pairs

if TYPE_CHECKING:
    from rich.console import Console

    from gateway.cli.api import Api

READY = "ready"


def read_status(api: Api) -> dict[str, Any]:
    """Which services serve, and what the graph holds: `graph` has a `reason` alone when that cannot be said."""
    told = api.readiness()
    status = told.get("status", "not ready")
    return {"url": api.url, "status": status, "services": told["services"], "graph": _graph(api)}


def show_status(out: Console, answer: dict[str, Any]) -> None:
    """One line a service, and one a number of the graph."""
    pairs = {"gateway": answer["url"], **answer["services"]}
    show_pairs(out, pairs | {f"graph {name}": value for name, value in answer["graph"].items()})


def _graph(api: Api) -> dict[str, Any]:
    try:
        return dict(api.get("/api/graph/status"))
    except CliError as error:
        return {"reason": error.reason or error.detail}

"""`/healthz` and `/readyz`: whether this process runs, and whether the services behind it serve."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from gateway.rest.answers.probes import Alive, Readiness
from gateway.rest.answers.problems import NotReady
from gateway.rest.deps import ClientsDep
from gateway.rest.documented import problems
from gateway.rest.errors import error_body
from gateway.rest.json import JsonAnswer

router = APIRouter(tags=["probes"], responses=problems(405))


@router.get("/healthz", response_model=Alive)
async def healthz() -> Response:
    """The process runs."""
    return JsonAnswer({"status": "ok"})


@router.get("/readyz", response_model=Readiness, responses={503: {"model": NotReady}})
async def readyz(request: Request, clients: ClientsDep) -> Response:
    """The orchestrator and both tiers serve; if not, which of them does not."""
    services = await clients.health()
    away = [f"{name} is {state}" for name, state in services.items() if state != "SERVING"]
    if not away:
        return JsonAnswer({"status": "ready", "services": services})
    detail = "; ".join(away) + "."
    body = error_body(detail, "STORE_UNAVAILABLE", request.state.visit.request_id)
    return JsonAnswer(body | {"services": services}, 503, {"retry-after": "1"})

"""`/healthz` and `/readyz`: whether this process runs, and whether it and the services behind it serve."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, Request
from starlette.responses import Response

from gateway.clients import SERVING
from gateway.rest.http.calls import ClientsDep
from gateway.rest.http.errors import error_body
from gateway.rest.mapping.json_encoding import JsonResponse
from gateway.rest.mapping.openapi import Problem, ResponseSchema, problems


class NotReady(Problem):
    """Which service is not serving, and why, where it says so: such as that an index is still being built."""

    services: dict[str, str]
    reasons: dict[str, str]


class Alive(ResponseSchema):
    """The process runs."""

    status: Literal["ok"]


class Readiness(ResponseSchema):
    """Every service that the gateway needs is serving; `reasons` say what they do without, such as a model."""

    status: Literal["ready"]
    services: dict[str, str]
    reasons: dict[str, str] | None = None


router = APIRouter(tags=["probes"], responses=problems(405))


@router.get("/healthz", response_model=Alive)
async def get_liveness() -> Response:
    """The process runs."""
    return JsonResponse({"status": "ok"})


@router.get("/readyz", response_model=Readiness, responses={503: {"model": NotReady}})
async def get_readiness(request: Request, clients: ClientsDep) -> Response:
    """The orchestrator and both tiers serve, and this process is not about to end; if not, what is the matter."""
    if request.app.state.drain.begun:
        return _not_ready(request, "The gateway is shutting down.", {}, {})
    found = await clients.health()
    services = {name: health.state for name, health in found.items()}
    reasons = {name: health.reason for name, health in found.items() if health.reason}
    if all(state == SERVING for state in services.values()):
        body = {"status": "ready", "services": services}
        return JsonResponse(body | ({"reasons": reasons} if reasons else {}))
    sentences = [
        f"{name} is {state}{f' ({reasons[name]})' if name in reasons else ''}"
        for name, state in services.items()
        if state != SERVING
    ]
    return _not_ready(request, "; ".join(sentences) + ".", services, reasons)


def _not_ready(
    request: Request, detail: str, services: dict[str, str], reasons: dict[str, str]
) -> Response:
    body = error_body(detail, "STORE_UNAVAILABLE", request.state.request_state.request_id)
    more = {"services": services, "reasons": reasons}
    return JsonResponse(body | more, 503, {"retry-after": "1"})

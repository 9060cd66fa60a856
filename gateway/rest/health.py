"""`/healthz` and `/readyz`: whether this process runs, and whether the services behind it serve."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, Request
from starlette.responses import Response

from gateway.rest.http.calls import ClientsDep
from gateway.rest.http.errors import error_body
from gateway.rest.mapping.json_encoding import JsonResponse
from gateway.rest.mapping.openapi import Problem, ResponseSchema, problems


class NotReady(Problem):
    """Which service is not serving."""

    services: dict[str, str]


class Alive(ResponseSchema):
    """The process runs."""

    status: Literal["ok"]


class Readiness(ResponseSchema):
    """Every service that the gateway needs is serving."""

    status: Literal["ready"]
    services: dict[str, str]


router = APIRouter(tags=["probes"], responses=problems(405))


@router.get("/healthz", response_model=Alive)
async def healthz() -> Response:
    """The process runs."""
    return JsonResponse({"status": "ok"})


@router.get("/readyz", response_model=Readiness, responses={503: {"model": NotReady}})
async def readyz(request: Request, clients: ClientsDep) -> Response:
    """The orchestrator and both tiers serve; if not, which of them does not."""
    services = await clients.health()
    away = [f"{name} is {state}" for name, state in services.items() if state != "SERVING"]
    if not away:
        return JsonResponse({"status": "ready", "services": services})
    detail = "; ".join(away) + "."
    body = error_body(detail, "STORE_UNAVAILABLE", request.state.request_state.request_id)
    return JsonResponse(body | {"services": services}, 503, {"retry-after": "1"})

"""`/healthz` and `/readyz`: whether this process runs and takes requests, and what the services behind it do."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, Request
from starlette.responses import Response

from gateway.clients import SERVING
from gateway.rest.http.calls import ClientsDep
from gateway.rest.http.errors import error_body
from gateway.rest.mapping.json_encoding import JsonResponse
from gateway.rest.mapping.openapi import Problem, ResponseSchema, problems


class Alive(ResponseSchema):
    """The process runs."""

    status: Literal["ok"]


class Readiness(ResponseSchema):
    """The gateway takes requests. It is degraded while a service is not serving: `detail` names it.

    `reasons` say why, where a service says so, such as that an index is still being built or a model is missing.
    """

    status: Literal["ready", "degraded"]
    services: dict[str, str]
    reasons: dict[str, str] | None = None
    detail: str | None = None


router = APIRouter(tags=["probes"], responses=problems(405))


@router.get("/healthz", response_model=Alive)
async def get_liveness() -> Response:
    """The process runs."""
    return JsonResponse({"status": "ok"})


@router.get("/readyz", response_model=Readiness, responses={503: {"model": Problem}})
async def get_readiness(request: Request, clients: ClientsDep) -> Response:
    """This process takes requests and is not about to end; what the services behind it do is in the body.

    A gateway without a store still answers: with what is left, or with the reason.
    """
    if request.app.state.drain.begun:
        request_id = request.state.request_state.request_id
        body = error_body("The gateway is shutting down.", "STORE_UNAVAILABLE", request_id)
        return JsonResponse(body, 503, {"retry-after": "1"})
    found = await clients.health()
    services = {name: health.state for name, health in found.items()}
    reasons = {name: health.reason for name, health in found.items() if health.reason}
    sentences = [
        f"{name} is {state}{f' ({reasons[name]})' if name in reasons else ''}"
        for name, state in services.items()
        if state != SERVING
    ]
    status = "degraded" if sentences else "ready"
    body = {"status": status, "services": services}
    body |= {"reasons": reasons} if reasons else {}
    body |= {"detail": f"{'; '.join(sentences)}."} if sentences else {}
    return JsonResponse(body)

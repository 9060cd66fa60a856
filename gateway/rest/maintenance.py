"""`/api/models`, `/api/reembed`, `/api/reextract`: model migrations."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import Response

from braid.agent.v1 import models_pb2
from gateway.rest import jobs
from gateway.rest.http.calls import CallerDep, ClientsDep
from gateway.rest.http.request_parsing import JSON_BODY_ONLY
from gateway.rest.http.route_scopes import ScopedRoute
from gateway.rest.jobs import OneJob
from gateway.rest.mapping.field_types import Body
from gateway.rest.mapping.message_json import respond
from gateway.rest.mapping.message_schema import shown
from gateway.rest.mapping.openapi import problems

router = APIRouter(
    route_class=ScopedRoute, prefix="/api", tags=["maintenance"], responses=problems()
)

_MODELS = "/braid.agent.v1.ModelService/"


class Reembed(Body):
    """How to move to the configured embedding model."""

    keep_former: bool = Field(default=False, description="Keep the former model's vectors.")


@router.get("/models", responses=shown(models_pb2.GetSpaceModelsResponse))
async def get_embedding_models(caller: CallerDep, clients: ClientsDep) -> Response:
    """The embedding model of the space, and the one that the settings name."""
    request = models_pb2.GetSpaceModelsRequest()
    answer = await caller.call(_MODELS + "GetSpaceModels", clients.models.GetSpaceModels, request)
    return respond(answer)


@router.post("/reembed", status_code=202, response_model=OneJob, dependencies=[JSON_BODY_ONLY])
async def reembed_space(
    caller: CallerDep, clients: ClientsDep, body: Reembed | None = None
) -> Response:
    """Moves everything in the space to the configured embedding model, as a job. Needs the scope `admin`."""
    keep = body is not None and body.keep_former
    request = models_pb2.StartReembeddingRequest(keep_former=keep)
    method = _MODELS + "StartReembedding"
    answer = await caller.call(method, clients.models.StartReembedding, request)
    return jobs.accepted(answer.job)


@router.post("/reextract", status_code=202, response_model=OneJob)
async def reextract_space(caller: CallerDep, clients: ClientsDep) -> Response:
    """Gives every chunk to the graph again, as a job: a language model added later reads it. Needs scope `admin`."""
    request = models_pb2.StartReextractionRequest()
    method = _MODELS + "StartReextraction"
    answer = await caller.call(method, clients.models.StartReextraction, request)
    return jobs.accepted(answer.job)

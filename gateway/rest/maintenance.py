"""`/api/consistency`, `/api/models`, `/api/reembed`, `/api/reextract`: consistency checks and model migrations."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import Response

from braid.agent.v1 import consistency_pb2, models_pb2
from gateway.rest import jobs
from gateway.rest.http.calls import CallerDep, ClientsDep, UploaderDep
from gateway.rest.http.request_parsing import JSON_BODY_ONLY
from gateway.rest.http.route_scopes import ScopedRoute
from gateway.rest.jobs import OneJob
from gateway.rest.mapping.contract_rules import Bounds
from gateway.rest.mapping.field_types import Body, Int32
from gateway.rest.mapping.json_encoding import Json, JsonResponse
from gateway.rest.mapping.openapi import ResponseSchema, problems

InconsistencyName: TypeAlias = Literal[
    "CHUNK_WITHOUT_EPISODE",
    "EPISODE_WITHOUT_CHUNK",
    "UNKNOWN_DOCUMENT",
    "ENTITY_WITHOUT_MENTION",
    "DEAD_JOB",
    "UNSPECIFIED",
]


class Inconsistency(ResponseSchema):
    """One inconsistency; `document_id` is null if it belongs to no document."""

    kind: InconsistencyName
    id: str
    document_id: str | None


class InconsistencyCount(ResponseSchema):
    """How many of a kind were found, and mended."""

    kind: InconsistencyName
    found: int
    repaired: int


class Consistency(ResponseSchema):
    """Counts of both stores and their inconsistencies; `pending` are differences that unfinished jobs explain."""

    consistent: bool
    chunks: int
    episodes: int
    graph_documents: int
    entities: int
    pending: int
    counts: list[InconsistencyCount]
    listed: list[Inconsistency]


class SpaceModels(ResponseSchema):
    """The space's embedding model, null while it holds nothing, and the one that the settings name."""

    embedding_model: str | None
    configured_embedding_model: str


_KIND = {
    v: k.removeprefix("INCONSISTENCY_KIND_") for k, v in consistency_pb2.InconsistencyKind.items()
}


def consistency(report: consistency_pb2.ConsistencyReport) -> Json:
    """Returns counts of both stores and their inconsistencies."""
    return {
        "consistent": report.consistent,
        "chunks": report.chunk_count,
        "episodes": report.episode_count,
        "graph_documents": report.graph_document_count,
        "entities": report.entity_count,
        "pending": report.pending_count,
        "counts": [
            {"kind": _KIND.get(one.kind, "UNSPECIFIED")}
            | {"found": one.found_count, "repaired": one.repaired_count}
            for one in report.counts
        ],
        "listed": [
            {"kind": _KIND.get(one.kind, "UNSPECIFIED")}
            | {"id": one.id, "document_id": one.document_id or None}
            for one in report.listed
        ],
    }


router = APIRouter(
    route_class=ScopedRoute, prefix="/api", tags=["maintenance"], responses=problems()
)

_CONSISTENCY = "/braid.agent.v1.ConsistencyService/"
_MODELS = "/braid.agent.v1.ModelService/"
Limit = Annotated[
    Int32 | None,
    Bounds(consistency_pb2.CheckConsistencyRequest, "max_listed"),
    Query(description="How many of a kind, 0–1,000. Default 100."),
]


class Reembed(Body):
    """How to move to the configured embedding model."""

    keep_former: bool = Field(default=False, description="Keep the former model's vectors.")


@router.get("/consistency", response_model=Consistency)
async def check(caller: UploaderDep, clients: ClientsDep, limit: Limit = None) -> Response:
    """Compares both stores; changes nothing. What unfinished jobs explain is listed as pending."""
    request = consistency_pb2.CheckConsistencyRequest(max_listed=limit)
    method = _CONSISTENCY + "CheckConsistency"
    answer = await caller.call(method, clients.consistency.CheckConsistency, request)
    return JsonResponse(consistency(answer.report))


@router.post("/consistency", response_model=Consistency)
async def repair(caller: UploaderDep, clients: ClientsDep, limit: Limit = None) -> Response:
    """Compares both stores, and repairs inconsistencies. Needs the scope `admin`."""
    request = consistency_pb2.RepairConsistencyRequest(max_listed=limit)
    method = _CONSISTENCY + "RepairConsistency"
    answer = await caller.call(method, clients.consistency.RepairConsistency, request)
    return JsonResponse(consistency(answer.report))


@router.get("/models", response_model=SpaceModels)
async def models(caller: CallerDep, clients: ClientsDep) -> Response:
    """The embedding model of the space, and the one that the settings name."""
    request = models_pb2.GetSpaceModelsRequest()
    answer = await caller.call(_MODELS + "GetSpaceModels", clients.models.GetSpaceModels, request)
    return JsonResponse(
        {
            "embedding_model": answer.embedding_model or None,
            "configured_embedding_model": answer.configured_embedding_model,
        }
    )


@router.post("/reembed", status_code=202, response_model=OneJob, dependencies=[JSON_BODY_ONLY])
async def reembed(caller: CallerDep, clients: ClientsDep, body: Reembed | None = None) -> Response:
    """Moves everything in the space to the configured embedding model, as a job. Needs the scope `admin`."""
    keep = body is not None and body.keep_former
    request = models_pb2.StartReembeddingRequest(keep_former=keep)
    method = _MODELS + "StartReembedding"
    answer = await caller.call(method, clients.models.StartReembedding, request)
    return jobs.accepted(answer.job)


@router.post("/reextract", status_code=202, response_model=OneJob)
async def reextract(caller: CallerDep, clients: ClientsDep) -> Response:
    """Gives every chunk to the graph again, as a job: a language model added later reads it. Needs scope `admin`."""
    request = models_pb2.StartReextractionRequest()
    method = _MODELS + "StartReextraction"
    answer = await caller.call(method, clients.models.StartReextraction, request)
    return jobs.accepted(answer.job)

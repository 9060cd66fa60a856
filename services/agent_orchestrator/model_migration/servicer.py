"""The contract's ModelService: starts jobs, and returns the models of a space."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, TypeAlias

from braid.agent.v1 import models_pb2, models_pb2_grpc
from services.agent_orchestrator.clients.model_migration import VectorModels
from services.agent_orchestrator.jobs.records import JobRecord, NewJob, job_message
from services.agent_orchestrator.jobs.store import JobStore
from services.runtime.context import current_call

Context: TypeAlias = Any

REEMBED = "reembed"
REEXTRACT = "reextract"


class ModelServicer(models_pb2_grpc.ModelServiceServicer):
    """Serves the models of the caller's space."""

    def __init__(self, jobs: JobStore, vector: VectorModels, configured: str) -> None:
        self._jobs = jobs
        self._vector = vector
        self._configured = configured

    async def GetSpaceModels(
        self, _request: models_pb2.GetSpaceModelsRequest, _context: Context
    ) -> models_pb2.GetSpaceModelsResponse:
        """See the contract."""
        return models_pb2.GetSpaceModelsResponse(
            embedding_model=(await self._vector.recorded()).model,
            configured_embedding_model=self._configured,
        )

    async def StartReembedding(
        self, request: models_pb2.StartReembeddingRequest, _context: Context
    ) -> models_pb2.StartReembeddingResponse:
        """See the contract."""
        arguments = {"model": self._configured, "keep_former": request.keep_former}
        job = await self._start(REEMBED, arguments)
        return models_pb2.StartReembeddingResponse(job=job_message(job))

    async def StartReextraction(
        self, _request: models_pb2.StartReextractionRequest, _context: Context
    ) -> models_pb2.StartReextractionResponse:
        """See the contract."""
        job = await self._start(REEXTRACT, {})
        return models_pb2.StartReextractionResponse(job=job_message(job))

    async def _start(self, kind: str, arguments: Mapping[str, Any]) -> JobRecord:
        call = current_call()
        return await self._jobs.enqueue_alone(
            NewJob(
                space=call.space,
                user=call.user,
                request_id=call.request_id,
                kind=kind,
                arguments=arguments,
                input_hash=sha256(f"{kind}\0{sorted(arguments.items())}".encode()).hexdigest(),
            )
        )

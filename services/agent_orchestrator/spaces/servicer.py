"""The contract's SpaceService."""

from __future__ import annotations

from typing import Any, TypeAlias

from braid.agent.v1 import spaces_pb2, spaces_pb2_grpc
from services.agent_orchestrator.clients.spaces import SpaceTiers
from services.agent_orchestrator.jobs.records import job_message, row_counts
from services.agent_orchestrator.spaces.store import SpaceStore
from services.runtime.context import current_call
from services.runtime.errors import FieldError, InvalidFieldError

Context: TypeAlias = Any


class SpaceServicer(spaces_pb2_grpc.SpaceServiceServicer):
    """Counts and deletes the caller's space."""

    def __init__(self, store: SpaceStore, tiers: SpaceTiers) -> None:
        self._store = store
        self._tiers = tiers

    async def GetSpaceUsage(
        self, _request: spaces_pb2.GetSpaceUsageRequest, _context: Context
    ) -> spaces_pb2.GetSpaceUsageResponse:
        """See the contract."""
        space = current_call().space
        tiers, own = await self._tiers.usage(), await self._store.usage(space)
        return spaces_pb2.GetSpaceUsageResponse(
            space=space,
            stored=row_counts(spaces_pb2.StoredRows, (*tiers, *own.stored)),
            unfinished_job_count=own.unfinished,
            dead_document_count=own.dead,
        )

    async def DeleteSpace(
        self, request: spaces_pb2.DeleteSpaceRequest, _context: Context
    ) -> spaces_pb2.DeleteSpaceResponse:
        """See the contract."""
        call = current_call()
        if request.confirm != call.space:
            raise InvalidFieldError(FieldError("confirm", "must be the id of the caller's space"))
        job = await self._store.accept_deletion(call)
        return spaces_pb2.DeleteSpaceResponse(job=job_message(job))

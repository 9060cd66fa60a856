"""The contract's SpaceService."""

from __future__ import annotations

import asyncio
from typing import Any, TypeAlias

from braid.agent.v1 import jobs_pb2, spaces_pb2, spaces_pb2_grpc
from services.agent_orchestrator.clients.spaces import SpaceTiers
from services.agent_orchestrator.jobs.records import job_message
from services.agent_orchestrator.spaces.store import SpaceStore
from services.models.task_groups import first_failure
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
        with first_failure():
            async with asyncio.TaskGroup() as group:
                tiers = group.create_task(self._tiers.usage())
                own = group.create_task(self._store.usage(space))
        usage = own.result()
        stored = [
            spaces_pb2.StoredRows(
                store=jobs_pb2.Store.Value(f"STORE_{store.upper()}"),
                kind=jobs_pb2.RowKind.Value(f"ROW_KIND_{kind.upper()}"),
                count=count,
            )
            for store, kind, count in (*tiers.result(), *usage.stored)
        ]
        return spaces_pb2.GetSpaceUsageResponse(
            space=space,
            stored=stored,
            unfinished_job_count=usage.unfinished,
            dead_document_count=usage.dead,
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

"""The contract's SpaceService."""

from __future__ import annotations

from typing import Any, TypeAlias

from braid.agent.v1 import spaces_pb2, spaces_pb2_grpc
from services.agent_orchestrator.clients.spaces import SpaceTiers
from services.agent_orchestrator.jobs.records import job_message, row_counts
from services.agent_orchestrator.spaces.retention import SettingsStore, SpaceSettings
from services.agent_orchestrator.spaces.store import SpaceStore
from services.runtime.context import current_call
from services.runtime.errors import FieldError, InvalidFieldError

Context: TypeAlias = Any


class SpaceServicer(spaces_pb2_grpc.SpaceServiceServicer):
    """Counts and deletes the caller's space."""

    def __init__(self, store: SpaceStore, tiers: SpaceTiers, settings: SettingsStore) -> None:
        self._store = store
        self._tiers = tiers
        self._settings = settings

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

    async def GetSpaceSettings(
        self, _request: spaces_pb2.GetSpaceSettingsRequest, _context: Context
    ) -> spaces_pb2.GetSpaceSettingsResponse:
        """See the contract."""
        found = await self._settings.get(current_call().space)
        return spaces_pb2.GetSpaceSettingsResponse(settings=_settings_message(found))

    async def PutSpaceSettings(
        self, request: spaces_pb2.PutSpaceSettingsRequest, _context: Context
    ) -> spaces_pb2.PutSpaceSettingsResponse:
        """See the contract."""
        given = dict(request.ListFields())
        chosen = SpaceSettings(**{field.name: value for field, value in given.items()})
        await self._settings.put(current_call().space, chosen)
        return spaces_pb2.PutSpaceSettingsResponse(settings=_settings_message(chosen))

    async def DeleteSpace(
        self, request: spaces_pb2.DeleteSpaceRequest, _context: Context
    ) -> spaces_pb2.DeleteSpaceResponse:
        """See the contract."""
        call = current_call()
        if request.confirm != call.space:
            raise InvalidFieldError(FieldError("confirm", "must be the id of the caller's space"))
        job = await self._store.accept_deletion(call)
        return spaces_pb2.DeleteSpaceResponse(job=job_message(job))


def _settings_message(settings: SpaceSettings) -> spaces_pb2.SpaceSettings:
    return spaces_pb2.SpaceSettings(**settings._asdict())

"""The contract's SpaceService."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any, TypeAlias

from braid.agent.v1 import spaces_pb2, spaces_pb2_grpc
from services.agent_orchestrator.clients.spaces import SpaceTiers
from services.agent_orchestrator.jobs.records import job_message, row_counts
from services.agent_orchestrator.spaces.retention import SettingsStore, SpaceSettings
from services.agent_orchestrator.spaces.store import SpaceStore
from services.runtime.context import current_call
from services.runtime.errors import FieldError, InvalidFieldError, WrongStateError
from services.runtime.ids import is_space
from services.runtime.paging import encode_token, page_size, text_position
from services.runtime.times import to_timestamp

Context: TypeAlias = Any

_DEFAULT_PAGE_SIZE = 50
_MAX_PAGE_SIZE = 200


class SpaceServicer(spaces_pb2_grpc.SpaceServiceServicer):
    """Lists spaces, and creates, limits, counts and deletes the caller's."""

    def __init__(self, store: SpaceStore, tiers: SpaceTiers, settings: SettingsStore) -> None:
        self._store = store
        self._tiers = tiers
        self._settings = settings

    async def ListSpaces(
        self, request: spaces_pb2.ListSpacesRequest, _context: Context
    ) -> spaces_pb2.ListSpacesResponse:
        """See the contract."""
        query = ("spaces",)
        size = page_size(request.page_size, default=_DEFAULT_PAGE_SIZE, largest=_MAX_PAGE_SIZE)
        after = text_position(request.page_token, query)
        if after and not is_space(after):
            raise InvalidFieldError(FieldError("page_token", "is not a token of this list"))
        # One more than requested shows whether there is a next page.
        tiers, own = await asyncio.gather(
            self._tiers.list_spaces(after, size + 1), self._store.list_spaces(after, size + 1)
        )
        found = sorted(tiers.union(own))
        page = found[:size]
        titles = await self._store.titles(page)
        return spaces_pb2.ListSpacesResponse(
            spaces=(_space_message(space, *titles.get(space, ("", None))) for space in page),
            next_page_token=encode_token(query, [page[-1]]) if len(found) > size else "",
        )

    async def CreateSpace(
        self, request: spaces_pb2.CreateSpaceRequest, _context: Context
    ) -> spaces_pb2.CreateSpaceResponse:
        """See the contract."""
        space = current_call().space
        tiers, own = await self._tiers.usage(), await self._store.usage(space)
        # The jobs of a space that was deleted are kept.
        stored = any(count for _, kind, count in (*tiers, *own.stored) if kind != "jobs")
        chosen = _chosen(request)
        created = None if stored or own.unfinished else await self._settings.create(space, chosen)
        if created is None:
            raise WrongStateError("The space exists: something is set for it or stored in it.")
        return spaces_pb2.CreateSpaceResponse(
            space=_space_message(space, chosen.title, created), settings=_settings_message(chosen)
        )

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
        chosen = _chosen(request)
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


def _chosen(
    request: spaces_pb2.CreateSpaceRequest | spaces_pb2.PutSpaceSettingsRequest,
) -> SpaceSettings:
    return SpaceSettings(**{field.name: value for field, value in request.ListFields()})


def _space_message(space: str, title: str, created: datetime | None) -> spaces_pb2.Space:
    return spaces_pb2.Space(
        id=space, title=title, create_time=None if created is None else to_timestamp(created)
    )


def _settings_message(settings: SpaceSettings) -> spaces_pb2.SpaceSettings:
    return spaces_pb2.SpaceSettings(**settings._asdict())

"""Exports a space page by page in one state, and imports the pages into an empty space of the same id.

The orchestrator's own rows come first: they name the users, whose memories are partitions of the tiers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from braid.agent.v1 import jobs_pb2
from braid.common.v1 import space_rows_pb2
from services.agent_orchestrator.clients.spaces import SpaceTiers
from services.agent_orchestrator.clients.transfer import TransferPage, TransferTiers
from services.agent_orchestrator.spaces.store import SpaceStore
from services.agent_orchestrator.spaces.transfer_store import Import, TransferStore
from services.runtime.context import call_scope, current_call
from services.runtime.errors import (
    FieldError,
    InvalidFieldError,
    NotFoundError,
    WrongStateError,
)
from services.runtime.paging import decode_token, encode_token
from services.runtime.space_rows import not_a_token

_CHANGED = "The space has changed since the export began: export it again."
_BUSY = "The space has unfinished jobs: export it when they have ended."
_NOT_EMPTY = (
    "The space is not empty: delete what it contains first, or import with a key of an empty space."
)
_IMPORTING = "The space is being imported from another archive: delete the space to begin again."
_HALF = "The space is being imported: export it when that has ended."
_ANY = -1
_OWN = jobs_pb2.STORE_ORCHESTRATOR
_VECTOR = jobs_pb2.STORE_POSTGRESQL
_GRAPH = jobs_pb2.STORE_NEO4J
# Kinds of the orchestrator's rows that an ended job may leave in an empty space.
_KEPT = frozenset({"jobs"})


class Stage(NamedTuple):
    """A store of the export, and the partition of the tiers: "" for the space itself."""

    store: jobs_pb2.Store.ValueType
    partition: str = ""


class ExportedPage(NamedTuple):
    """A page with the stage that it belongs to, and the token of the next one."""

    stage: Stage
    page: TransferPage
    next_page_token: str


class SpaceTransfer:
    """Exports and imports the caller's space."""

    def __init__(
        self,
        store: TransferStore,
        spaces: SpaceStore,
        tiers: TransferTiers,
        usage: SpaceTiers,
        partitions: Callable[[str], Awaitable[Sequence[str]]],
    ) -> None:
        """`partitions` returns a space's further partitions of the tiers: one for each user with memories."""
        self._store = store
        self._spaces = spaces
        self._tiers = tiers
        self._usage = usage
        self._partitions = partitions

    async def export_page(self, page_token: str) -> ExportedPage:
        """Returns a page. Raises WrongStateError if the space is being changed, or was since the first page."""
        space = current_call().space
        query = ("space-export", space)
        if page_token:
            index, inner, revision, state = decode_token(page_token, query, length=4)
        else:
            index, inner, revision, state = 0, "", _ANY, await self._state()
        if type(index) is not int or index < 0 or not isinstance(inner, str):
            raise not_a_token()
        stages = await self._stages(space, index)
        if index >= len(stages):
            raise WrongStateError(_CHANGED)
        stage = stages[index]
        page = await self._read(stage, inner)
        if revision not in (_ANY, page.revision):
            raise WrongStateError(_CHANGED)
        if page.next_page_token:
            place = [index, page.next_page_token, page.revision, state]
        elif index + 1 < len(stages):
            place = [index + 1, "", _ANY, state]
        elif await self._state() == state:
            return ExportedPage(stage, page, "")
        else:
            raise WrongStateError(_CHANGED)
        return ExportedPage(stage, page, encode_token(query, place))

    async def start_import(self, space: str, archive_id: str) -> Import:
        """Begins an import, or returns the unfinished one of the archive. Raises WrongStateError for a space in use."""
        own = current_call().space
        if space != own:
            raise InvalidFieldError(
                FieldError(
                    "exported_space",
                    f"is not the caller's: the archive is imported with a key of {own} only",
                )
            )
        found = await self._store.find_import(own)
        if found is None:
            await self._store.start_import(own, archive_id)
            found = await self._unfinished(own)
            if await self._has_anything(own):
                await self._store.end_import(own, found.id)
                raise WrongStateError(_NOT_EMPTY)
        if found.archive_id != archive_id:
            raise WrongStateError(_IMPORTING)
        return found

    async def import_page(
        self, import_id: str, number: int, stage: Stage, page: space_rows_pb2.SpaceRows
    ) -> int:
        """Stores a page once; returns how many are. Raises NotFoundError for an import that the space does not have."""
        space = current_call().space
        unfinished = await self._unfinished(space)
        if unfinished.id != import_id:
            raise NotFoundError("import")
        if number <= unfinished.stored_pages:
            return unfinished.stored_pages
        if number > unfinished.stored_pages + 1:
            wanted = unfinished.stored_pages + 1
            raise InvalidFieldError(FieldError("number", f"must be {wanted}: pages come in order"))
        await self._write(space, stage, import_id, number, page)
        await self._store.count_page(space, import_id, number)
        return number

    async def finish_import(self, import_id: str) -> None:
        """Ends an import. Raises NotFoundError while the space is being imported by another one."""
        space = current_call().space
        found = await self._store.find_import(space)
        if found is None:
            return
        if found.id != import_id:
            raise NotFoundError("import")
        await self._store.end_import(space, import_id)

    async def _state(self) -> str:
        """Returns what changes with the space. Raises WrongStateError while it is being changed."""
        space = current_call().space
        if await self._store.find_import(space):
            raise WrongStateError(_HALF)
        own = await self._store.state(space)
        if own.unfinished:
            raise WrongStateError(_BUSY)
        vector, graph = await self._tiers.revisions()
        return f"{own.state} {vector} {graph}"

    async def _stages(self, space: str, index: int) -> list[Stage]:
        """Returns the stages; those of users only where the export has reached the last one before."""
        own = [Stage(_OWN), Stage(_VECTOR), Stage(_GRAPH)]
        if index < len(own) - 1:
            return own
        partitions = sorted(await self._partitions(space))
        return [*own, *(Stage(store, one) for one in partitions for store in (_VECTOR, _GRAPH))]

    async def _read(self, stage: Stage, page_token: str) -> TransferPage:
        call = current_call()
        if stage.store == _OWN:
            return await self._store.read(call.space, page_token)
        read = self._tiers.read_vector if stage.store == _VECTOR else self._tiers.read_graph
        with call_scope(replace(call, space=stage.partition or call.space)):
            return await read(page_token)

    async def _write(
        self,
        space: str,
        stage: Stage,
        import_id: str,
        number: int,
        page: space_rows_pb2.SpaceRows,
    ) -> None:
        if stage.partition and stage.partition not in await self._partitions(space):
            raise InvalidFieldError(FieldError("partition", "is of no user with imported memories"))
        if stage.store == _OWN:
            await self._store.write(space, page.kind, list(page.rows))
            return
        with call_scope(replace(current_call(), space=stage.partition or space)):
            if stage.store == _VECTOR:
                await self._tiers.write_vector(page)
            else:
                await self._tiers.write_graph(import_id, number, page)

    async def _unfinished(self, space: str) -> Import:
        found = await self._store.find_import(space)
        if found is None:
            raise NotFoundError("import")
        return found

    async def _has_anything(self, space: str) -> bool:
        own = await self._spaces.usage(space)
        counts = (*await self._usage.usage(), *own.stored)
        return bool(own.unfinished) or any(count for _, kind, count in counts if kind not in _KEPT)

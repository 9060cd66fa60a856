"""The contract's SpaceTransferService."""

from __future__ import annotations

from typing import Any, TypeAlias

from braid.agent.v1 import transfer_pb2, transfer_pb2_grpc
from braid.common.v1 import space_rows_pb2
from services.agent_orchestrator.spaces.transfer import SpaceTransfer, Stage
from services.runtime.context import current_call

Context: TypeAlias = Any


class SpaceTransferServicer(transfer_pb2_grpc.SpaceTransferServiceServicer):
    """Exports and imports the caller's space."""

    def __init__(self, transfer: SpaceTransfer) -> None:
        self._transfer = transfer

    async def ExportSpacePage(
        self, request: transfer_pb2.ExportSpacePageRequest, _context: Context
    ) -> transfer_pb2.ExportSpacePageResponse:
        """See the contract."""
        exported = await self._transfer.export_page(request.page_token)
        return transfer_pb2.ExportSpacePageResponse(
            space=current_call().space,
            store=exported.stage.store,
            partition=exported.stage.partition,
            kind=exported.page.kind,
            rows=exported.page.rows,
            next_page_token=exported.next_page_token,
        )

    async def StartSpaceImport(
        self, request: transfer_pb2.StartSpaceImportRequest, _context: Context
    ) -> transfer_pb2.StartSpaceImportResponse:
        """See the contract."""
        begun = await self._transfer.start_import(request.exported_space, request.archive_id)
        return transfer_pb2.StartSpaceImportResponse(
            import_id=begun.id, stored_page_count=begun.stored_pages
        )

    async def ImportSpacePage(
        self, request: transfer_pb2.ImportSpacePageRequest, _context: Context
    ) -> transfer_pb2.ImportSpacePageResponse:
        """See the contract."""
        stage = Stage(request.store, request.partition)
        page = space_rows_pb2.SpaceRows(kind=request.kind, rows=request.rows)
        stored = await self._transfer.import_page(request.import_id, request.number, stage, page)
        return transfer_pb2.ImportSpacePageResponse(stored_page_count=stored)

    async def FinishSpaceImport(
        self, request: transfer_pb2.FinishSpaceImportRequest, _context: Context
    ) -> transfer_pb2.FinishSpaceImportResponse:
        """See the contract."""
        await self._transfer.finish_import(request.import_id)
        return transfer_pb2.FinishSpaceImportResponse(space=current_call().space)

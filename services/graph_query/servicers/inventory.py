"""GraphInventoryService: messages in, messages out."""

from __future__ import annotations

from typing import Any, TypeAlias

from braid.graph.v1 import inventory_pb2, inventory_pb2_grpc
from services.graph_query.inventory.domain import InventoryStore
from services.graph_query.servicers.page_cursor import position
from services.runtime.context import current_call
from services.runtime.paging import encode_token

Context: TypeAlias = Any


_DEFAULT_PAGE_SIZE = 1000


class GraphInventoryServicer(inventory_pb2_grpc.GraphInventoryServiceServicer):
    """Ids of what the caller's space holds."""

    def __init__(self, store: InventoryStore) -> None:
        self._store = store

    async def ListEpisodes(
        self, request: inventory_pb2.ListEpisodesRequest, _context: Context
    ) -> inventory_pb2.ListEpisodesResponse:
        """See the contract."""
        found = await self._store.list_episodes(
            current_call().space, request.after_uuid.lower(), _size(request)
        )
        return inventory_pb2.ListEpisodesResponse(
            episodes=(
                inventory_pb2.EpisodeRef(uuid=one.uuid, document_id=one.document_id)
                for one in found
            )
        )

    async def FindEpisodes(
        self, request: inventory_pb2.FindEpisodesRequest, _context: Context
    ) -> inventory_pb2.FindEpisodesResponse:
        """See the contract."""
        wanted = sorted({uuid.lower() for uuid in request.uuids})
        found = await self._store.find_episodes(current_call().space, wanted)
        return inventory_pb2.FindEpisodesResponse(uuids=found)

    async def ListGraphDocuments(
        self, request: inventory_pb2.ListGraphDocumentsRequest, _context: Context
    ) -> inventory_pb2.ListGraphDocumentsResponse:
        """See the contract."""
        found = await self._store.list_documents(
            current_call().space, request.after_document_id, _size(request)
        )
        return inventory_pb2.ListGraphDocumentsResponse(document_ids=found)

    async def ListUnjoinedEntities(
        self, request: inventory_pb2.ListUnjoinedEntitiesRequest, _context: Context
    ) -> inventory_pb2.ListUnjoinedEntitiesResponse:
        """See the contract."""
        space, size = current_call().space, _size(request)
        query = ("unjoined-entities", space)
        after = position(request.page_token, query)
        page = await self._store.unjoined_entities(space, after, size)
        return inventory_pb2.ListUnjoinedEntitiesResponse(
            entities=(
                inventory_pb2.UnjoinedEntity(uuid=uuid, name=name) for uuid, name in page.unjoined
            ),
            next_page_token=encode_token(query, [*page.last])
            if page.looked_through == size
            else "",
            looked_through=page.looked_through,
        )

    async def DeleteUnjoinedEntities(
        self, request: inventory_pb2.DeleteUnjoinedEntitiesRequest, _context: Context
    ) -> inventory_pb2.DeleteUnjoinedEntitiesResponse:
        """See the contract."""
        wanted = sorted({uuid.lower() for uuid in request.uuids})
        deleted = await self._store.delete_unjoined(current_call().space, wanted)
        return inventory_pb2.DeleteUnjoinedEntitiesResponse(entities_deleted=deleted)

    async def DeleteGraphDocument(
        self, request: inventory_pb2.DeleteGraphDocumentRequest, _context: Context
    ) -> inventory_pb2.DeleteGraphDocumentResponse:
        """See the contract."""
        space, deletion = current_call().space, request.deletion_id.lower()
        ended = False
        while not ended:
            counts, ended = await self._store.delete_document(space, request.document_id, deletion)
        return inventory_pb2.DeleteGraphDocumentResponse(
            episodes_deleted=counts.episodes,
            facts_deleted=counts.facts,
            local_facts_deleted=counts.local_facts,
            mentions_deleted=counts.mentions,
            entities_deleted=counts.entities,
            findings_deleted=counts.findings,
            facts_revived=counts.revived,
            fact_versions_deleted=counts.versions,
        )


def _size(request: Any) -> int:
    return int(request.page_size) if request.HasField("page_size") else _DEFAULT_PAGE_SIZE

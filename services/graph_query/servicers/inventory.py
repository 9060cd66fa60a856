"""GraphInventoryService and GraphDeletionService: map messages to the store and back."""

from __future__ import annotations

from typing import Any, TypeAlias

from braid.graph.internal.v1 import (
    deletion_pb2,
    deletion_pb2_grpc,
    inventory_pb2,
    inventory_pb2_grpc,
)
from services.graph_query.core.domain import DeletionCounts
from services.graph_query.core.intervals import OPEN
from services.graph_query.core.store import GraphStore
from services.graph_query.inventory.domain import InventoryStore
from services.graph_query.servicers.page_cursor import position
from services.runtime.context import current_call
from services.runtime.errors import FieldError, InvalidFieldError
from services.runtime.paging import encode_token, page_size, text_position
from services.runtime.times import to_datetime

Context: TypeAlias = Any


_DEFAULT_PAGE_SIZE = 1_000
_MAX_PAGE_SIZE = 10_000
_MAX_DOCUMENTS_PAGE_SIZE = 1_000
_MAX_CHECKED = 5_000


class GraphInventoryServicer(inventory_pb2_grpc.GraphInventoryServiceServicer):
    """Lists ids of the caller's space."""

    def __init__(self, store: InventoryStore) -> None:
        self._store = store

    async def ListEpisodes(
        self, request: inventory_pb2.ListEpisodesRequest, _context: Context
    ) -> inventory_pb2.ListEpisodesResponse:
        """See the contract."""
        space, size = current_call().space, _size(request.page_size)
        query = ("episodes", space)
        after = text_position(request.page_token, query)
        # One more than requested shows whether there is a next page.
        found = await self._store.list_episodes(space, after, size + 1)
        more = len(found) > size
        return inventory_pb2.ListEpisodesResponse(
            episodes=(
                inventory_pb2.EpisodeRef(chunk_id=one.uuid, document_id=one.document_id)
                for one in found[:size]
            ),
            next_page_token=encode_token(query, [found[size - 1].uuid]) if more else "",
        )

    async def ListGraphSpaces(
        self, request: inventory_pb2.ListGraphSpacesRequest, _context: Context
    ) -> inventory_pb2.ListGraphSpacesResponse:
        """See the contract."""
        found = await self._store.list_spaces(request.after, request.limit)
        return inventory_pb2.ListGraphSpacesResponse(spaces=found)

    async def FindEpisodes(
        self, request: inventory_pb2.FindEpisodesRequest, _context: Context
    ) -> inventory_pb2.FindEpisodesResponse:
        """See the contract."""
        wanted = sorted({uuid.lower() for uuid in request.chunk_ids})
        found = await self._store.find_episodes(current_call().space, wanted)
        return inventory_pb2.FindEpisodesResponse(chunk_ids=found)

    async def ListGraphDocuments(
        self, request: inventory_pb2.ListGraphDocumentsRequest, _context: Context
    ) -> inventory_pb2.ListGraphDocumentsResponse:
        """See the contract."""
        space = current_call().space
        size = _size(request.page_size, largest=_MAX_DOCUMENTS_PAGE_SIZE)
        query = ("graph-documents", space)
        after = text_position(request.page_token, query)
        found = await self._store.list_documents(space, after, size + 1)
        more = len(found) > size
        return inventory_pb2.ListGraphDocumentsResponse(
            document_ids=found[:size],
            next_page_token=encode_token(query, [found[size - 1]]) if more else "",
        )

    async def ListUnjoinedEntities(
        self, request: inventory_pb2.ListUnjoinedEntitiesRequest, _context: Context
    ) -> inventory_pb2.ListUnjoinedEntitiesResponse:
        """See the contract."""
        space, size = current_call().space, _size(request.page_size)
        query = ("unjoined-entities", space)
        after = position(request.page_token, query)
        page = await self._store.unjoined_entities(space, after, size)
        return inventory_pb2.ListUnjoinedEntitiesResponse(
            entities=(
                inventory_pb2.UnjoinedEntity(id=uuid, name=name) for uuid, name in page.unjoined
            ),
            next_page_token=encode_token(query, [*page.last])
            if page.looked_through == size
            else "",
            examined_count=page.looked_through,
        )

    async def ListFactSources(
        self, request: inventory_pb2.ListFactSourcesRequest, _context: Context
    ) -> inventory_pb2.ListFactSourcesResponse:
        """See the contract."""
        space = current_call().space
        size = _size(request.page_size, largest=_MAX_CHECKED)
        query = ("fact-sources", space)
        start, uuid = position(request.page_token, query)
        found = await self._store.fact_sources(space, (_seconds(start), uuid), size + 1)
        more = len(found) > size
        last = found[size - 1] if more else None
        return inventory_pb2.ListFactSourcesResponse(
            facts=(
                inventory_pb2.FactSources(
                    fact_id=one.uuid,
                    document_ids=sorted(filter(None, one.documents)),
                    stated_without_document="" in one.documents,
                )
                for one in found[:size]
            ),
            next_page_token=encode_token(query, [repr(last.valid_from), last.uuid]) if last else "",
        )

    async def ListFindingsWithoutEpisode(
        self, request: inventory_pb2.ListFindingsWithoutEpisodeRequest, _context: Context
    ) -> inventory_pb2.ListFindingsWithoutEpisodeResponse:
        """See the contract."""
        space = current_call().space
        size = _size(request.page_size, largest=_MAX_CHECKED)
        query = ("findings-without-episode", space)
        after = text_position(request.page_token, query)
        page = await self._store.findings_without_episode(space, after, size)
        return inventory_pb2.ListFindingsWithoutEpisodeResponse(
            finding_ids=page.without_episode,
            next_page_token=encode_token(query, [page.last]) if page.looked_through == size else "",
            examined_count=page.looked_through,
        )

    async def GetGraphState(
        self, _request: inventory_pb2.GetGraphStateRequest, _context: Context
    ) -> inventory_pb2.GetGraphStateResponse:
        """See the contract."""
        state = await self._store.graph_state(current_call().space)
        return inventory_pb2.GetGraphStateResponse(
            space_revision=state.revision,
            ontology_version=state.ontology_version,
            ontology_readable=state.ontology_readable,
        )


class GraphDeletionServicer(deletion_pb2_grpc.GraphDeletionServiceServicer):
    """Deletes content of the caller's space from this tier alone."""

    def __init__(self, store: GraphStore, inventory: InventoryStore) -> None:
        self._store = store
        self._inventory = inventory

    async def DeleteEpisodes(
        self,
        request: deletion_pb2.DeleteEpisodesRequest,
        _context: Context,
    ) -> deletion_pb2.DeleteEpisodesResponse:
        """Removes chunks."""
        uuids = sorted({uuid.lower() for uuid in request.chunk_ids})
        counts = await self._store.delete_episodes(current_call().space, uuids)
        return deletion_pb2.DeleteEpisodesResponse(
            **_deleted(counts),
            revived_fact_count=counts.revived,
        )

    async def DeleteUnjoinedEntities(
        self, request: deletion_pb2.DeleteUnjoinedEntitiesRequest, _context: Context
    ) -> deletion_pb2.DeleteUnjoinedEntitiesResponse:
        """See the contract."""
        wanted = sorted({uuid.lower() for uuid in request.entity_ids})
        deleted = await self._inventory.delete_unjoined(current_call().space, wanted)
        return deletion_pb2.DeleteUnjoinedEntitiesResponse(deleted_entity_count=deleted)

    async def DeleteGraphDocument(
        self, request: deletion_pb2.DeleteGraphDocumentRequest, _context: Context
    ) -> deletion_pb2.DeleteGraphDocumentResponse:
        """See the contract."""
        space, deletion = current_call().space, request.deletion_id.lower()
        ended = False
        while not ended:
            counts, ended = await self._inventory.delete_document(
                space, request.document_id, deletion
            )
        return deletion_pb2.DeleteGraphDocumentResponse(
            **_deleted(counts),
            revived_fact_count=counts.revived,
            deleted_fact_version_count=counts.versions,
        )

    async def EndGraphDocument(
        self, request: deletion_pb2.EndGraphDocumentRequest, _context: Context
    ) -> deletion_pb2.EndGraphDocumentResponse:
        """See the contract."""
        end = to_datetime(request.end_time).timestamp()
        await self._inventory.end_document(current_call().space, request.document_id, end)
        return deletion_pb2.EndGraphDocumentResponse()

    async def DeleteSpaceGraph(
        self, request: deletion_pb2.DeleteSpaceGraphRequest, _context: Context
    ) -> deletion_pb2.DeleteSpaceGraphResponse:
        """See the contract."""
        space, deletion = current_call().space, request.deletion_id.lower()
        ended = False
        while not ended:
            counts, ended = await self._inventory.delete_space(space, deletion)
        return deletion_pb2.DeleteSpaceGraphResponse(
            **_deleted(counts),
            deleted_fact_version_count=counts.versions,
        )


def _deleted(counts: DeletionCounts) -> dict[str, int]:
    """Returns the fields of everything that a deletion of any kind removes."""
    return {
        "deleted_episode_count": counts.episodes,
        "deleted_fact_count": counts.facts,
        "deleted_local_fact_count": counts.local_facts,
        "deleted_mention_count": counts.mentions,
        "deleted_entity_count": counts.entities,
        "deleted_finding_count": counts.findings,
    }


def _seconds(start: str) -> float:
    """Returns the start in a fact's position; the earliest for the beginning of the listing."""
    try:
        return float(start or -OPEN)
    except ValueError:
        raise InvalidFieldError(
            FieldError("page_token", "is not a token of this service")
        ) from None


def _size(asked: int, *, largest: int = _MAX_PAGE_SIZE) -> int:
    return page_size(asked, default=_DEFAULT_PAGE_SIZE, largest=largest)

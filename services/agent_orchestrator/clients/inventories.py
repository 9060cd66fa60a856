"""Reads the ids that the tiers store, page by page as streams, and deletes from the graph what should not exist."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import NamedTuple, TypeVar

import grpc

from braid.graph.internal.v1 import deletion_pb2, deletion_pb2_grpc
from braid.graph.internal.v1 import inventory_pb2 as graph_pb2
from braid.graph.internal.v1 import inventory_pb2_grpc as graph_grpc
from braid.vector.internal.v1 import inventory_pb2, inventory_pb2_grpc
from braid.vector.v1 import documents_pb2, documents_pb2_grpc
from services.agent_orchestrator.clients.calls import Calls
from services.runtime.channels import OutgoingMetadata
from services.runtime.times import to_timestamp

PAGE = 5_000
DOCUMENTS = 1_000

Item = TypeVar("Item")


class Ref(NamedTuple):
    """A chunk or an episode by its id, with the id of its document."""

    id: str
    document_id: str


class EntityPage(NamedTuple):
    """A page of entities: (id, name) of those without connections, the number examined, and the next page token."""

    unjoined: list[tuple[str, str]]
    looked_through: int
    next_token: str


class FactSources(NamedTuple):
    """A stated fact with the documents that state it, and whether it was stated without a document."""

    id: str
    document_ids: tuple[str, ...]
    without_document: bool


class FactPage(NamedTuple):
    """A page of stated facts, and the next page token."""

    facts: list[FactSources]
    next_token: str


class FindingPage(NamedTuple):
    """The findings of a page whose episodes do not exist, the number examined, and the next page token."""

    without_episode: list[str]
    looked_through: int
    next_token: str


class VectorInventory:
    """Reads ids of the vector tier. Failures are `BraidError`s."""

    def __init__(
        self, channel: grpc.aio.Channel, outgoing: OutgoingMetadata, *, seconds: float
    ) -> None:
        self._stub = inventory_pb2_grpc.InventoryServiceStub(channel)
        self._documents = documents_pb2_grpc.DocumentServiceStub(channel)
        self._calls = Calls(outgoing, seconds)

    async def chunks(self, after: str = "") -> AsyncIterator[Ref]:
        """Yields every chunk, ordered by id; with `after`, only those after this id."""
        request = inventory_pb2.ListChunkIdsRequest(after_chunk_id=after, page_size=PAGE)
        async for page in self._calls.pages(self._stub.ListChunkIds, request):
            for chunk in page.chunks:
                yield Ref(chunk.chunk_id, chunk.document_id)

    async def find_chunks(self, ids: Sequence[str]) -> set[str]:
        """Returns the ids of the given chunks that exist."""
        if not ids:
            return set()
        request = inventory_pb2.FindChunksRequest(chunk_ids=ids)
        return set((await self._calls.call(self._stub.FindChunks, request)).chunk_ids)

    async def count_documents(self) -> int:
        """Returns the number of documents."""
        request = documents_pb2.GetVectorStatsRequest()
        return (await self._calls.call(self._documents.GetVectorStats, request)).document_count

    async def find_documents(self, ids: Sequence[str]) -> set[str]:
        """Returns the ids of the given documents that exist; at most `DOCUMENTS` at a time."""
        if not ids:
            return set()
        request = inventory_pb2.FindDocumentsRequest(document_ids=ids)
        return set((await self._calls.call(self._stub.FindDocuments, request)).document_ids)


class GraphInventory:
    """Reads ids of the graph tier, and deletes what should not exist. Failures are `BraidError`s."""

    def __init__(
        self,
        channel: grpc.aio.Channel,
        outgoing: OutgoingMetadata,
        *,
        seconds: float,
        write_seconds: float,
    ) -> None:
        self._stub = graph_grpc.GraphInventoryServiceStub(channel)
        self._deletion = deletion_pb2_grpc.GraphDeletionServiceStub(channel)
        self._calls = Calls(outgoing, seconds)
        self._writes = Calls(outgoing, write_seconds)

    async def episodes(self) -> AsyncIterator[Ref]:
        """Yields every episode, ordered by its chunk's id."""
        request = graph_pb2.ListEpisodesRequest(page_size=PAGE)
        async for page in self._calls.pages(self._stub.ListEpisodes, request):
            for episode in page.episodes:
                yield Ref(episode.chunk_id, episode.document_id)

    async def find_episodes(self, chunk_ids: Sequence[str]) -> set[str]:
        """Returns the chunk ids of the given episodes that exist."""
        if not chunk_ids:
            return set()
        request = graph_pb2.FindEpisodesRequest(chunk_ids=chunk_ids)
        return set((await self._calls.call(self._stub.FindEpisodes, request)).chunk_ids)

    async def documents(self) -> AsyncIterator[list[str]]:
        """Yields every document of the graph, in pages of at most `DOCUMENTS`."""
        request = graph_pb2.ListGraphDocumentsRequest(page_size=DOCUMENTS)
        async for page in self._calls.pages(self._stub.ListGraphDocuments, request):
            if page.document_ids:
                yield list(page.document_ids)

    async def entities(self, token: str) -> EntityPage:
        """Examines a page of entities; the token "" means the first page."""
        request = graph_pb2.ListUnjoinedEntitiesRequest(page_size=PAGE, page_token=token)
        page = await self._calls.call(self._stub.ListUnjoinedEntities, request)
        found = [(entity.id, entity.name) for entity in page.entities]
        return EntityPage(found, page.examined_count, page.next_page_token)

    async def facts(self, token: str) -> FactPage:
        """Returns a page of the stated facts with their documents; the token "" means the first page."""
        request = graph_pb2.ListFactSourcesRequest(page_size=DOCUMENTS, page_token=token)
        page = await self._calls.call(self._stub.ListFactSources, request)
        facts = [
            FactSources(one.fact_id, tuple(one.document_ids), one.stated_without_document)
            for one in page.facts
        ]
        return FactPage(facts, page.next_page_token)

    async def findings(self, token: str) -> FindingPage:
        """Examines a page of findings; the token "" means the first page."""
        request = graph_pb2.ListFindingsWithoutEpisodeRequest(page_size=PAGE, page_token=token)
        page = await self._calls.call(self._stub.ListFindingsWithoutEpisode, request)
        return FindingPage(list(page.finding_ids), page.examined_count, page.next_page_token)

    async def state(self) -> graph_pb2.GetGraphStateResponse:
        """Returns the state of the graph."""
        return await self._calls.call(self._stub.GetGraphState, graph_pb2.GetGraphStateRequest())

    async def delete_entities(self, entity_ids: Sequence[str]) -> int:
        """Deletes the given entities, at most 1,000, that have no connections; returns how many."""
        request = deletion_pb2.DeleteUnjoinedEntitiesRequest(entity_ids=entity_ids)
        answer = await self._writes.call(self._deletion.DeleteUnjoinedEntities, request)
        return answer.deleted_entity_count

    async def delete_document(
        self, document_id: str, deletion_id: str
    ) -> deletion_pb2.DeleteGraphDocumentResponse:
        """Deletes a document from the graph, idempotent by `deletion_id`."""
        request = deletion_pb2.DeleteGraphDocumentRequest(
            document_id=document_id, deletion_id=deletion_id
        )
        return await self._writes.call(self._deletion.DeleteGraphDocument, request)

    async def end_document(self, document_id: str, end_time: datetime) -> None:
        """Ends a document in the graph: what it says holds only before `end_time`."""
        request = deletion_pb2.EndGraphDocumentRequest(
            document_id=document_id, end_time=to_timestamp(end_time)
        )
        await self._writes.call(self._deletion.EndGraphDocument, request)


async def in_parts(items: AsyncIterator[Item], size: int) -> AsyncIterator[list[Item]]:
    """Yields the items in order, in lists of at most `size`."""
    part: list[Item] = []
    async for item in items:
        part.append(item)
        if len(part) == size:
            yield part
            part = []
    if part:
        yield part

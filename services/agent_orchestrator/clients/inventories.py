"""What the tiers hold, by id, as the orchestrator asks for it: pages become streams, and nothing is kept."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import grpc

from braid.graph.internal.v1 import deletion_pb2, deletion_pb2_grpc
from braid.graph.internal.v1 import inventory_pb2 as graph_pb2
from braid.graph.internal.v1 import inventory_pb2_grpc as graph_grpc
from braid.vector.internal.v1 import inventory_pb2, inventory_pb2_grpc
from services.runtime.channels import OutgoingMetadata
from services.runtime.context import remaining
from services.runtime.status import error_from_rpc

PAGE = 5_000
DOCUMENTS = 1_000

Answer = TypeVar("Answer")
Item = TypeVar("Item")


class Ref(NamedTuple):
    """A chunk or an episode by its id, and the document that it is of."""

    id: str
    document_id: str


class EntityPage(NamedTuple):
    """Of a page of entities the (id, name) of those joined to nothing, how many it had, and the token of the next."""

    unjoined: list[tuple[str, str]]
    looked_through: int
    next_token: str


class VectorInventory:
    """Ids in the vector tier. Failures are `BraidError`s."""

    def __init__(
        self, channel: grpc.aio.Channel, outgoing: OutgoingMetadata, *, seconds: float
    ) -> None:
        self._stub = inventory_pb2_grpc.InventoryServiceStub(channel)
        self._calls = Calls(outgoing, seconds)

    async def chunks(self, after: str = "") -> AsyncIterator[Ref]:
        """Every chunk, by id; only those after one where it is given."""
        token, more = "", True
        while more:
            request = inventory_pb2.ListChunkIdsRequest(
                after_chunk_id=after, page_size=PAGE, page_token=token
            )
            page = await self._calls.call(self._stub.ListChunkIds, request)
            for chunk in page.chunks:
                yield Ref(chunk.chunk_id, chunk.document_id)
            token, more = page.next_page_token, bool(page.next_page_token)

    async def find_chunks(self, ids: Sequence[str]) -> set[str]:
        """Those of the chunks that are there."""
        if not ids:
            return set()
        request = inventory_pb2.FindChunksRequest(chunk_ids=ids)
        return set((await self._calls.call(self._stub.FindChunks, request)).chunk_ids)

    async def find_documents(self, ids: Sequence[str]) -> set[str]:
        """Those of the documents that are there, of at most `DOCUMENTS`."""
        if not ids:
            return set()
        request = inventory_pb2.FindDocumentsRequest(document_ids=ids)
        return set((await self._calls.call(self._stub.FindDocuments, request)).document_ids)


class GraphInventory:
    """Ids in the graph tier, and the removal of what should not be there. Failures are `BraidError`s."""

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
        """Every episode, by its chunk's id."""
        token, more = "", True
        while more:
            request = graph_pb2.ListEpisodesRequest(page_token=token, page_size=PAGE)
            page = await self._calls.call(self._stub.ListEpisodes, request)
            for episode in page.episodes:
                yield Ref(episode.chunk_id, episode.document_id)
            token, more = page.next_page_token, bool(page.next_page_token)

    async def find_episodes(self, chunk_ids: Sequence[str]) -> set[str]:
        """Those of the episodes that are there."""
        if not chunk_ids:
            return set()
        request = graph_pb2.FindEpisodesRequest(chunk_ids=chunk_ids)
        return set((await self._calls.call(self._stub.FindEpisodes, request)).chunk_ids)

    async def documents(self) -> AsyncIterator[list[str]]:
        """Every document that the graph knows, in pages of at most `DOCUMENTS`."""
        token, more = "", True
        while more:
            request = graph_pb2.ListGraphDocumentsRequest(page_token=token, page_size=DOCUMENTS)
            page = await self._calls.call(self._stub.ListGraphDocuments, request)
            if page.document_ids:
                yield list(page.document_ids)
            token, more = page.next_page_token, bool(page.next_page_token)

    async def entities(self, token: str) -> EntityPage:
        """A page of entities looked through; "" is the first."""
        request = graph_pb2.ListUnjoinedEntitiesRequest(page_size=PAGE, page_token=token)
        page = await self._calls.call(self._stub.ListUnjoinedEntities, request)
        found = [(entity.id, entity.name) for entity in page.entities]
        return EntityPage(found, page.examined_count, page.next_page_token)

    async def delete_entities(self, entity_ids: Sequence[str]) -> int:
        """Removes those of the entities, of at most 1,000, that are joined to nothing."""
        request = deletion_pb2.DeleteUnjoinedEntitiesRequest(entity_ids=entity_ids)
        answer = await self._writes.call(self._deletion.DeleteUnjoinedEntities, request)
        return answer.deleted_entity_count

    async def delete_document(
        self, document_id: str, deletion_id: str
    ) -> deletion_pb2.DeleteGraphDocumentResponse:
        """Removes a document from the graph under a name."""
        request = deletion_pb2.DeleteGraphDocumentRequest(
            document_id=document_id, deletion_id=deletion_id
        )
        return await self._writes.call(self._deletion.DeleteGraphDocument, request)


class Calls:
    """Makes calls within a limit and the caller's deadline, in the current call's name."""

    def __init__(self, outgoing: OutgoingMetadata, seconds: float) -> None:
        self._outgoing = outgoing
        self._seconds = seconds

    async def call(self, stub: Callable[..., Awaitable[Answer]], request: Any) -> Answer:
        """The answer. BraidError when there is none."""
        try:
            return await stub(
                request, timeout=remaining(self._seconds), metadata=self._outgoing.metadata()
            )
        except grpc.aio.AioRpcError as error:
            raise error_from_rpc(error) from None


async def in_parts(items: AsyncIterator[Item], size: int) -> AsyncIterator[list[Item]]:
    """The items in order, `size` at a time."""
    part: list[Item] = []
    async for item in items:
        part.append(item)
        if len(part) == size:
            yield part
            part = []
    if part:
        yield part

"""Small tiers behind the real contracts, served over real sockets: they keep what they are given, and do as told."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from braid.common.v1 import legs_pb2
from braid.graph.v1 import facts_pb2, ingest_pb2, ingest_pb2_grpc, query_pb2, query_pb2_grpc
from braid.graph.v1 import inventory_pb2 as graph_inventory
from braid.graph.v1 import inventory_pb2_grpc as graph_inventory_grpc
from braid.vector.v1 import (
    chunks_pb2,
    documents_pb2,
    documents_pb2_grpc,
    search_pb2,
    search_pb2_grpc,
)
from braid.vector.v1 import inventory_pb2 as vector_inventory
from braid.vector.v1 import inventory_pb2_grpc as vector_inventory_grpc
from services.runtime.context import CallContext, current_call
from services.runtime.errors import NotFoundError, StoreUnavailableError
from services.runtime.server import RunningServer, Service, start_server
from services.runtime.settings import RuntimeSettings

Act = Callable[[Any], Awaitable[None]]


async def hang(_request: object) -> None:
    """An act that never ends by itself."""
    await asyncio.Event().wait()


def fail(error: Exception) -> Act:
    """An act that raises."""

    async def act(_request: object) -> None:
        raise error

    return act


def wait(seconds: float) -> Act:
    """An act that takes its time."""

    async def act(_request: object) -> None:
        await asyncio.sleep(seconds)

    return act


@dataclass
class Script:
    """What a tier saw, and what it does before it answers: `acts` by method name, for as long as they stand there."""

    acts: dict[str, Act] = field(default_factory=dict)
    requests: dict[str, list[Any]] = field(default_factory=dict)
    calls: list[CallContext] = field(default_factory=list)
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)
    seen: asyncio.Event = field(default_factory=asyncio.Event)

    async def note(self, method: str, request: Any) -> None:
        """Records a call and does what was scripted for it."""
        self.requests.setdefault(method, []).append(request)
        self.calls.append(current_call())
        self.seen.set()
        act = self.acts.get(method)
        if act is None:
            return
        try:
            await act(request)
        except asyncio.CancelledError:
            self.cancelled.set()
            raise

    def count(self, method: str) -> int:
        """How often a method was called."""
        return len(self.requests.get(method, []))

    def fail_times(self, method: str, times: int, error: Exception | None = None) -> None:
        """Lets the next `times` calls of a method fail, as a store that is away does unless told otherwise."""
        failure = error or StoreUnavailableError("store", retry_after=0.01)
        left = times

        async def act(_request: object) -> None:
            nonlocal left
            left -= 1
            if left < 0:
                self.acts.pop(method, None)
                return
            raise failure

        self.acts[method] = act


@dataclass
class VectorStub(
    search_pb2_grpc.VectorSearchServiceServicer, documents_pb2_grpc.DocumentServiceServicer
):
    """The vector tier: `answer` is what HybridSearch answers with; documents are kept by (space, id)."""

    script: Script = field(default_factory=Script)
    answer: search_pb2.HybridSearchResponse = field(
        default_factory=lambda: search_pb2.HybridSearchResponse(status=legs_pb2.LEG_STATUS_NO_MATCH)
    )
    documents: dict[tuple[str, str], documents_pb2.DocumentInput] = field(default_factory=dict)
    vectors: dict[str, list[float]] = field(default_factory=dict)
    retired: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    deletions: dict[str, documents_pb2.DeleteDocumentResponse] = field(default_factory=dict)
    model: str = ""

    async def HybridSearch(
        self, request: search_pb2.HybridSearchRequest, context: Any
    ) -> search_pb2.HybridSearchResponse:
        await self.script.note("HybridSearch", request)
        return self.answer

    async def GetChunks(
        self, request: search_pb2.GetChunksRequest, context: Any
    ) -> search_pb2.GetChunksResponse:
        await self.script.note("GetChunks", request)
        wanted = set(request.chunk_ids)
        return search_pb2.GetChunksResponse(
            chunks=[
                chunks_pb2.Chunk(id=chunk.id, document_title=document.title)
                for (space, _), document in self.documents.items()
                for chunk in document.chunks
                if space == current_call().space and chunk.id in wanted
            ]
        )

    async def CheckDocuments(
        self, request: documents_pb2.CheckDocumentsRequest, context: Any
    ) -> documents_pb2.CheckDocumentsResponse:
        await self.script.note("CheckDocuments", request)
        return documents_pb2.CheckDocumentsResponse(
            unchanged_document_ids=[
                one.document_id
                for one in request.documents
                if self._hash(one.document_id) == one.content_hash
            ]
        )

    async def BatchUpsertDocuments(
        self, request: documents_pb2.BatchUpsertDocumentsRequest, context: Any
    ) -> documents_pb2.BatchUpsertDocumentsResponse:
        await self.script.note("BatchUpsertDocuments", request)
        return documents_pb2.BatchUpsertDocumentsResponse(
            outcomes=[self._upsert(document) for document in request.documents]
        )

    async def GetDocument(
        self, request: documents_pb2.GetDocumentRequest, context: Any
    ) -> documents_pb2.GetDocumentResponse:
        await self.script.note("GetDocument", request)
        document = self.documents.get((current_call().space, request.document_id))
        if document is None:
            raise NotFoundError("document")
        return documents_pb2.GetDocumentResponse(chunk_ids=[c.id for c in document.chunks])

    async def GetVectorStats(
        self, request: documents_pb2.GetVectorStatsRequest, context: Any
    ) -> documents_pb2.GetVectorStatsResponse:
        await self.script.note("GetVectorStats", request)
        return documents_pb2.GetVectorStatsResponse(embedding_model=self.model)

    async def DeleteDocument(
        self, request: documents_pb2.DeleteDocumentRequest, context: Any
    ) -> documents_pb2.DeleteDocumentResponse:
        await self.script.note("DeleteDocument", request)
        key = (current_call().space, request.document_id)
        if request.deletion_id in self.deletions:
            return self.deletions[request.deletion_id]
        if key not in self.documents:
            raise NotFoundError("document")
        former = self.retired.pop(key, [])
        ids = [*former, *(chunk.id for chunk in self.documents.pop(key).chunks)]
        answer = documents_pb2.DeleteDocumentResponse(
            versions_deleted=2 if former else 1, chunks_deleted=len(ids), deleted_chunk_ids=ids
        )
        self.deletions[request.deletion_id] = answer
        return answer

    def _hash(self, document_id: str) -> str | None:
        document = self.documents.get((current_call().space, document_id))
        return document.content_hash if document else None

    def _upsert(self, document: documents_pb2.DocumentInput) -> documents_pb2.UpsertOutcome:
        key = (current_call().space, document.document_id)
        if self._hash(document.document_id) == document.content_hash:
            return documents_pb2.UpsertOutcome(document_id=document.document_id, unchanged=True)
        former = self.documents.get(key)
        known = {chunk.id for chunk in former.chunks} if former else set()
        kept = {chunk.id for chunk in document.chunks}
        self.retired.setdefault(key, []).extend(sorted(known - kept))
        self.documents[key] = document
        for chunk in document.chunks:
            self.vectors.setdefault(chunk.id, list(chunk.embedding))
        added = [chunk.id for chunk in document.chunks if chunk.id not in known]
        return documents_pb2.UpsertOutcome(
            document_id=document.document_id, chunks_added=len(added), added_chunk_ids=added
        )


@dataclass
class GraphStub(
    query_pb2_grpc.GraphQueryServiceServicer, ingest_pb2_grpc.GraphIngestServiceServicer
):
    """The graph tier: `answer` is what SearchFacts answers with; episodes are kept by (space, uuid).

    Facts with both times are refused, for a test to see one refused.
    """

    script: Script = field(default_factory=Script)
    answer: query_pb2.SearchFactsResponse = field(
        default_factory=lambda: query_pb2.SearchFactsResponse(status=legs_pb2.LEG_STATUS_NO_MATCH)
    )
    episodes: dict[tuple[str, str], ingest_pb2.EpisodeInput] = field(default_factory=dict)
    facts: list[ingest_pb2.FactInput] = field(default_factory=list)
    known_facts: set[bytes] = field(default_factory=set)
    writes: Counter[str] = field(default_factory=Counter)
    deletions: dict[str, int] = field(default_factory=dict)
    strays: list[str] = field(default_factory=list)

    async def SearchFacts(
        self, request: query_pb2.SearchFactsRequest, context: Any
    ) -> query_pb2.SearchFactsResponse:
        await self.script.note("SearchFacts", request)
        return self.answer

    async def BatchAddEpisodes(
        self, request: ingest_pb2.BatchAddEpisodesRequest, context: Any
    ) -> ingest_pb2.BatchAddEpisodesResponse:
        await self.script.note("BatchAddEpisodes", request)
        space = current_call().space
        new = [one for one in request.episodes if (space, one.uuid) not in self.episodes]
        self.episodes |= {(space, one.uuid): one for one in new}
        self.writes["episodes"] += len(new)
        return ingest_pb2.BatchAddEpisodesResponse(
            counts=ingest_pb2.EpisodeCounts(episodes_added=len(new))
        )

    async def AddFacts(
        self, request_iterator: AsyncIterator[ingest_pb2.AddFactsRequest], context: Any
    ) -> ingest_pb2.AddFactsResponse:
        answer = ingest_pb2.AddFactsResponse()
        index = 0
        async for request in request_iterator:
            await self.script.note("AddFacts", request)
            for fact in request.facts:
                self._add_fact(fact, index, answer)
                index += 1
        return answer

    def _add_fact(
        self, fact: ingest_pb2.FactInput, index: int, answer: ingest_pb2.AddFactsResponse
    ) -> None:
        bare = ingest_pb2.FactInput()
        bare.CopyFrom(fact)
        bare.ClearField("embedding")
        if fact.HasField("valid_time") and fact.HasField("invalid_time"):
            answer.refused_total += 1
            answer.refused.add(index=index, reason="ends before it starts")
        elif bare.SerializeToString(deterministic=True) in self.known_facts:
            answer.unchanged += 1
        else:
            answer.added += 1
            self.known_facts.add(bare.SerializeToString(deterministic=True))
            self.facts.append(fact)

    async def DeleteEpisodes(
        self, request: ingest_pb2.DeleteEpisodesRequest, context: Any
    ) -> ingest_pb2.DeleteEpisodesResponse:
        await self.script.note("DeleteEpisodes", request)
        space = current_call().space
        gone = [u for u in request.uuids if self.episodes.pop((space, u), None) is not None]
        return ingest_pb2.DeleteEpisodesResponse(
            episodes_deleted=len(gone), mentions_deleted=2 * len(gone), entities_deleted=len(gone)
        )


@dataclass
class VectorInventoryStub(vector_inventory_grpc.InventoryServiceServicer):
    """Ids of what the vector tier's stub holds, in one page."""

    tier: VectorStub

    async def ListChunkIds(
        self, request: vector_inventory.ListChunkIdsRequest, context: Any
    ) -> vector_inventory.ListChunkIdsResponse:
        await self.tier.script.note("ListChunkIds", request)
        return vector_inventory.ListChunkIdsResponse(
            chunks=[
                vector_inventory.ChunkRef(chunk_id=chunk, document_id=document)
                for chunk, document in sorted(self._chunks().items())
            ]
        )

    async def FindChunks(
        self, request: vector_inventory.FindChunksRequest, context: Any
    ) -> vector_inventory.FindChunksResponse:
        await self.tier.script.note("FindChunks", request)
        found = sorted(set(request.chunk_ids) & self._chunks().keys())
        return vector_inventory.FindChunksResponse(chunk_ids=found)

    async def FindDocuments(
        self, request: vector_inventory.FindDocumentsRequest, context: Any
    ) -> vector_inventory.FindDocumentsResponse:
        await self.tier.script.note("FindDocuments", request)
        known = {key for space, key in self.tier.documents if space == current_call().space}
        return vector_inventory.FindDocumentsResponse(
            document_ids=sorted(known & set(request.document_ids))
        )

    def _chunks(self) -> dict[str, str]:
        held = {
            (space, chunk.id): key
            for (space, key), document in self.tier.documents.items()
            for chunk in document.chunks
        }
        held |= {(s, one): key for (s, key), ids in self.tier.retired.items() for one in ids}
        return {chunk: key for (space, chunk), key in held.items() if space == current_call().space}


@dataclass
class GraphInventoryStub(graph_inventory_grpc.GraphInventoryServiceServicer):
    """Ids of what the graph tier's stub holds, in one page."""

    tier: GraphStub

    async def ListEpisodes(
        self, request: graph_inventory.ListEpisodesRequest, context: Any
    ) -> graph_inventory.ListEpisodesResponse:
        await self.tier.script.note("ListEpisodes", request)
        return graph_inventory.ListEpisodesResponse(
            episodes=[
                graph_inventory.EpisodeRef(uuid=one.uuid, document_id=one.document_id)
                for one in sorted(self._episodes(), key=lambda one: one.uuid)
            ]
        )

    async def FindEpisodes(
        self, request: graph_inventory.FindEpisodesRequest, context: Any
    ) -> graph_inventory.FindEpisodesResponse:
        await self.tier.script.note("FindEpisodes", request)
        found = {one.uuid for one in self._episodes()} & set(request.uuids)
        return graph_inventory.FindEpisodesResponse(uuids=sorted(found))

    async def ListGraphDocuments(
        self, request: graph_inventory.ListGraphDocumentsRequest, context: Any
    ) -> graph_inventory.ListGraphDocumentsResponse:
        await self.tier.script.note("ListGraphDocuments", request)
        found = {one.document_id for one in self._episodes()}
        return graph_inventory.ListGraphDocumentsResponse(document_ids=sorted(found))

    async def ListUnjoinedEntities(
        self, request: graph_inventory.ListUnjoinedEntitiesRequest, context: Any
    ) -> graph_inventory.ListUnjoinedEntitiesResponse:
        await self.tier.script.note("ListUnjoinedEntities", request)
        return graph_inventory.ListUnjoinedEntitiesResponse(
            entities=[
                graph_inventory.UnjoinedEntity(uuid=one, name="Stray") for one in self.tier.strays
            ],
            looked_through=len(self.tier.strays),
        )

    async def DeleteUnjoinedEntities(
        self, request: graph_inventory.DeleteUnjoinedEntitiesRequest, context: Any
    ) -> graph_inventory.DeleteUnjoinedEntitiesResponse:
        await self.tier.script.note("DeleteUnjoinedEntities", request)
        gone = [one for one in request.uuids if one in self.tier.strays]
        self.tier.strays = [one for one in self.tier.strays if one not in gone]
        return graph_inventory.DeleteUnjoinedEntitiesResponse(entities_deleted=len(gone))

    async def DeleteGraphDocument(
        self, request: graph_inventory.DeleteGraphDocumentRequest, context: Any
    ) -> graph_inventory.DeleteGraphDocumentResponse:
        await self.tier.script.note("DeleteGraphDocument", request)
        if request.deletion_id not in self.tier.deletions:
            gone = [one for one in self._episodes() if one.document_id == request.document_id]
            for one in gone:
                del self.tier.episodes[current_call().space, one.uuid]
            self.tier.deletions[request.deletion_id] = len(gone)
        count = self.tier.deletions[request.deletion_id]
        return graph_inventory.DeleteGraphDocumentResponse(
            episodes_deleted=count, mentions_deleted=2 * count, entities_deleted=count
        )

    def _episodes(self) -> list[ingest_pb2.EpisodeInput]:
        space = current_call().space
        return [one for (held, _), one in self.tier.episodes.items() if held == space]


async def serve_vector(
    stub: VectorStub, settings: RuntimeSettings, listen: str = "127.0.0.1:0"
) -> RunningServer:
    """The vector tier's stub on a socket."""
    return await start_server(
        settings=settings,
        listen=listen,
        probes={},
        services=[
            Service(
                "braid.vector.v1.VectorSearchService",
                lambda server: search_pb2_grpc.add_VectorSearchServiceServicer_to_server(
                    stub, server
                ),
            ),
            Service(
                "braid.vector.v1.DocumentService",
                lambda server: documents_pb2_grpc.add_DocumentServiceServicer_to_server(
                    stub, server
                ),
            ),
            Service(
                "braid.vector.v1.InventoryService",
                lambda server: vector_inventory_grpc.add_InventoryServiceServicer_to_server(
                    VectorInventoryStub(stub), server
                ),
            ),
        ],
    )


async def serve_graph(
    stub: GraphStub, settings: RuntimeSettings, listen: str = "127.0.0.1:0"
) -> RunningServer:
    """The graph tier's stub on a socket."""
    return await start_server(
        settings=settings,
        listen=listen,
        probes={},
        services=[
            Service(
                "braid.graph.v1.GraphQueryService",
                lambda server: query_pb2_grpc.add_GraphQueryServiceServicer_to_server(stub, server),
            ),
            Service(
                "braid.graph.v1.GraphIngestService",
                lambda server: ingest_pb2_grpc.add_GraphIngestServiceServicer_to_server(
                    stub, server
                ),
            ),
            Service(
                "braid.graph.v1.GraphInventoryService",
                lambda server: graph_inventory_grpc.add_GraphInventoryServiceServicer_to_server(
                    GraphInventoryStub(stub), server
                ),
            ),
        ],
    )


def chunk_hit(chunk_id: str, score: float = 0.5, content: str = "text") -> chunks_pb2.ChunkHit:
    """A hit of the vector tier."""
    chunk = chunks_pb2.Chunk(
        id=chunk_id, document_id=f"doc-{chunk_id}", document_title="Title", content=content
    )
    return chunks_pb2.ChunkHit(chunk=chunk, score=score)


def fact_hit(
    uuid: str,
    chunk_ids: Sequence[str] = (),
    score: float = 0.5,
    origin: facts_pb2.FactOrigin.ValueType = facts_pb2.FACT_ORIGIN_GIVEN,
) -> facts_pb2.FactHit:
    """A hit of the graph tier that cites chunks."""
    fact = facts_pb2.Fact(uuid=uuid, fact=f"sentence {uuid}", origin=origin)
    for chunk_id in chunk_ids:
        fact.sources.add(
            chunk_id=chunk_id, document_id=f"doc-{chunk_id}", quote=f"quote {chunk_id}"
        )
    return facts_pb2.FactHit(fact=fact, score=score)

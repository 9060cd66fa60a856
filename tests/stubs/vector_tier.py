"""An in-memory vector tier with the real contracts, on a real socket."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from google.protobuf.timestamp_pb2 import Timestamp

from braid.common.v1 import legs_pb2
from braid.vector.internal.v1 import (
    deletion_pb2,
    deletion_pb2_grpc,
    inventory_pb2,
    inventory_pb2_grpc,
)
from braid.vector.v1 import (
    chunks_pb2,
    documents_pb2,
    documents_pb2_grpc,
    search_pb2,
    search_pb2_grpc,
)
from services.runtime.context import current_call
from services.runtime.errors import NotFoundError
from services.runtime.server import RunningServer, Service, start_server
from services.runtime.settings import RuntimeSettings
from services.runtime.times import to_timestamp, utc_now
from tests.stubs.script import Script


@dataclass
class VectorStub(
    search_pb2_grpc.VectorSearchServiceServicer, documents_pb2_grpc.DocumentServiceServicer
):
    """The vector tier: `answer` is the response of HybridSearch; documents are stored by (space, id)."""

    script: Script = field(default_factory=Script)
    answer: search_pb2.HybridSearchResponse = field(
        default_factory=lambda: search_pb2.HybridSearchResponse(
            leg=legs_pb2.LegReport(status=legs_pb2.LEG_STATUS_NO_MATCH)
        )
    )
    documents: dict[tuple[str, str], documents_pb2.DocumentInput] = field(default_factory=dict)
    vectors: dict[str, list[float]] = field(default_factory=dict)
    retired: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    ended: dict[tuple[str, str], Timestamp] = field(default_factory=dict)
    deletions: dict[str, deletion_pb2.DeleteDocumentResponse] = field(default_factory=dict)
    model: str = ""
    stored: dict[str, chunks_pb2.Chunk] = field(default_factory=dict)
    scored: dict[str, search_pb2.ChunkScore] = field(default_factory=dict)

    async def HybridSearch(
        self, request: search_pb2.HybridSearchRequest, context: Any
    ) -> search_pb2.HybridSearchResponse:
        await self.script.note("HybridSearch", request)
        return self.answer

    async def VectorSearch(
        self, request: search_pb2.VectorSearchRequest, context: Any
    ) -> search_pb2.VectorSearchResponse:
        await self.script.note("VectorSearch", request)
        return search_pb2.VectorSearchResponse(
            hits=self.answer.hits, leg=legs_pb2.LegReport(status=self.answer.leg.status)
        )

    async def ScoreChunks(
        self, request: search_pb2.ScoreChunksRequest, context: Any
    ) -> search_pb2.ScoreChunksResponse:
        await self.script.note("ScoreChunks", request)
        known = [self.scored[key] for key in request.chunk_ids if key in self.scored]
        return search_pb2.ScoreChunksResponse(scores=known)

    async def GetChunks(
        self, request: search_pb2.GetChunksRequest, context: Any
    ) -> search_pb2.GetChunksResponse:
        await self.script.note("GetChunks", request)
        wanted = set(request.chunk_ids)
        if self.stored:
            return search_pb2.GetChunksResponse(
                chunks=[self.stored[one] for one in request.chunk_ids if one in self.stored]
            )
        return search_pb2.GetChunksResponse(
            chunks=[
                chunks_pb2.Chunk(
                    id=chunk.id,
                    document_id=document.document_id,
                    document_title=document.title,
                    content=chunk.content,
                )
                for (space, _), document in self.documents.items()
                for chunk in document.chunks
                if space == current_call().space and chunk.id in wanted
            ]
        )

    async def CheckDocuments(
        self, request: documents_pb2.CheckDocumentsRequest, context: Any
    ) -> documents_pb2.CheckDocumentsResponse:
        await self.script.note("CheckDocuments", request)
        unchanged = [
            one.document_id
            for one in request.documents
            if self._hash(one.document_id) == one.content_hash
        ]
        return documents_pb2.CheckDocumentsResponse(
            unchanged_documents=[
                documents_pb2.UnchangedDocument(document_id=one, valid_time=self._valid_time(one))
                for one in unchanged
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

    def _hash(self, document_id: str) -> str | None:
        document = self.documents.get((current_call().space, document_id))
        return document.content_hash if document else None

    def _upsert(self, document: documents_pb2.DocumentInput) -> documents_pb2.UpsertOutcome:
        key = (current_call().space, document.document_id)
        if self._hash(document.document_id) == document.content_hash:
            return documents_pb2.UpsertOutcome(
                document_id=document.document_id,
                unchanged=True,
                valid_time=self._valid_time(document.document_id),
            )
        former = self.documents.get(key)
        known = {chunk.id for chunk in former.chunks} if former else set()
        kept = {chunk.id for chunk in document.chunks}
        self.retired.setdefault(key, []).extend(sorted(known - kept))
        self.documents[key] = document
        for chunk in document.chunks:
            self.vectors.setdefault(chunk.id, list(chunk.embedding))
        added = [chunk.id for chunk in document.chunks if chunk.id not in known]
        return documents_pb2.UpsertOutcome(
            document_id=document.document_id,
            added_chunk_count=len(added),
            added_chunk_ids=added,
            valid_time=self._valid_time(document.document_id),
        )

    def _valid_time(self, document_id: str) -> Timestamp:
        return self.documents[current_call().space, document_id].valid_time


@dataclass
class VectorDeletionStub(deletion_pb2_grpc.DocumentDeletionServiceServicer):
    """The deletion service of the stub."""

    tier: VectorStub

    async def DeleteDocument(
        self, request: deletion_pb2.DeleteDocumentRequest, context: Any
    ) -> deletion_pb2.DeleteDocumentResponse:
        await self.tier.script.note("DeleteDocument", request)
        key = (current_call().space, request.document_id)
        if request.deletion_id in self.tier.deletions:
            return self.tier.deletions[request.deletion_id]
        if key not in self.tier.documents:
            raise NotFoundError("document")
        former = self.tier.retired.pop(key, [])
        ids = [*former, *(chunk.id for chunk in self.tier.documents.pop(key).chunks)]
        answer = deletion_pb2.DeleteDocumentResponse(
            deleted_version_count=2 if former else 1,
            deleted_chunk_count=len(ids),
            deleted_chunk_ids=ids,
        )
        self.tier.deletions[request.deletion_id] = answer
        return answer

    async def EndDocument(
        self, request: deletion_pb2.EndDocumentRequest, context: Any
    ) -> deletion_pb2.EndDocumentResponse:
        await self.tier.script.note("EndDocument", request)
        key = (current_call().space, request.document_id)
        if key not in self.tier.documents:
            raise NotFoundError("document")
        end_time = self.tier.ended.setdefault(key, to_timestamp(utc_now()))
        return deletion_pb2.EndDocumentResponse(end_time=end_time)

    async def DeleteSpaceDocuments(
        self, request: deletion_pb2.DeleteSpaceDocumentsRequest, context: Any
    ) -> deletion_pb2.DeleteSpaceDocumentsResponse:
        await self.tier.script.note("DeleteSpaceDocuments", request)
        space = current_call().space
        gone = [key for key in self.tier.documents if key[0] == space]
        chunks = sum(len(self.tier.documents.pop(key).chunks) for key in gone)
        return deletion_pb2.DeleteSpaceDocumentsResponse(
            deleted_version_count=len(gone), deleted_chunk_count=chunks
        )


@dataclass
class VectorInventoryStub(inventory_pb2_grpc.InventoryServiceServicer):
    """The inventory of the stub, in one page."""

    tier: VectorStub

    async def ListVectorSpaces(
        self, request: inventory_pb2.ListVectorSpacesRequest, context: Any
    ) -> inventory_pb2.ListVectorSpacesResponse:
        await self.tier.script.note("ListVectorSpaces", request)
        return inventory_pb2.ListVectorSpacesResponse()

    async def ListChunkIds(
        self, request: inventory_pb2.ListChunkIdsRequest, context: Any
    ) -> inventory_pb2.ListChunkIdsResponse:
        await self.tier.script.note("ListChunkIds", request)
        return inventory_pb2.ListChunkIdsResponse(
            chunks=[
                inventory_pb2.ChunkRef(chunk_id=chunk, document_id=document)
                for chunk, document in sorted(self._chunks().items())
            ]
        )

    async def FindChunks(
        self, request: inventory_pb2.FindChunksRequest, context: Any
    ) -> inventory_pb2.FindChunksResponse:
        await self.tier.script.note("FindChunks", request)
        found = sorted(set(request.chunk_ids) & self._chunks().keys())
        return inventory_pb2.FindChunksResponse(chunk_ids=found)

    async def FindDocuments(
        self, request: inventory_pb2.FindDocumentsRequest, context: Any
    ) -> inventory_pb2.FindDocumentsResponse:
        await self.tier.script.note("FindDocuments", request)
        known = {key for space, key in self.tier.documents if space == current_call().space}
        return inventory_pb2.FindDocumentsResponse(
            document_ids=sorted(known & set(request.document_ids))
        )

    def _chunks(self) -> dict[str, str]:
        owners = {
            (space, chunk.id): key
            for (space, key), document in self.tier.documents.items()
            for chunk in document.chunks
        }
        owners |= {(s, one): key for (s, key), ids in self.tier.retired.items() for one in ids}
        return {
            chunk: key for (space, chunk), key in owners.items() if space == current_call().space
        }


async def serve_vector(
    stub: VectorStub, settings: RuntimeSettings, listen: str = "127.0.0.1:0"
) -> RunningServer:
    """Serves the stub on a socket."""
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
                "braid.vector.internal.v1.InventoryService",
                lambda server: inventory_pb2_grpc.add_InventoryServiceServicer_to_server(
                    VectorInventoryStub(stub), server
                ),
            ),
            Service(
                "braid.vector.internal.v1.DocumentDeletionService",
                lambda server: deletion_pb2_grpc.add_DocumentDeletionServiceServicer_to_server(
                    VectorDeletionStub(stub), server
                ),
            ),
        ],
    )


def chunk_hit(chunk_id: str, score: float = 0.5, content: str = "text") -> chunks_pb2.ChunkHit:
    """Builds a hit of the vector tier."""
    chunk = chunks_pb2.Chunk(
        id=chunk_id, document_id=f"doc-{chunk_id}", document_title="Title", content=content
    )
    return chunks_pb2.ChunkHit(chunk=chunk, score=score)

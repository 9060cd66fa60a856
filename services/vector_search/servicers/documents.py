"""DocumentService, DocumentDeletionService and InventoryService: map messages to domain types and back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from braid.vector.internal.v1 import (
    deletion_pb2,
    deletion_pb2_grpc,
    inventory_pb2,
    inventory_pb2_grpc,
)
from braid.vector.v1 import documents_pb2, documents_pb2_grpc
from services.runtime.context import current_call
from services.runtime.errors import FieldError, InvalidFieldError, NotFoundError
from services.runtime.paging import (
    decode_token,
    encode_token,
    page_size,
    text_position,
    uuid_position,
)
from services.runtime.times import to_timestamp
from services.vector_search.documents.writer import DocumentWriter
from services.vector_search.domain import Document
from services.vector_search.servicers.mapping import (
    document_message,
    new_document,
    no_nul,
    outcome_message,
    version_message,
)
from services.vector_search.store import InventoryStore, VectorStore

Context: TypeAlias = Any

_DEFAULT_PAGE_SIZE = 50
_MAX_PAGE_SIZE = 200
_DEFAULT_IDS_PAGE_SIZE = 1_000
_MAX_IDS_PAGE_SIZE = 10_000
_ABOVE_ALL_VERSIONS = 2**31 - 1
# A page ends at this size, as 200 documents with large metadata do not fit into one message.
_FULL_PAGE_BYTES = 1024 * 1024


class DocumentServicer(documents_pb2_grpc.DocumentServiceServicer):
    """Documents of the caller's space."""

    def __init__(self, writer: DocumentWriter, store: VectorStore) -> None:
        self._writer = writer
        self._store = store

    async def UpsertDocument(
        self, request: documents_pb2.UpsertDocumentRequest, _context: Context
    ) -> documents_pb2.UpsertDocumentResponse:
        """See the contract."""
        model = no_nul(request.embedding_model, "embedding_model")
        written = await self._writer.write([new_document(request.document, "document")], model)
        return documents_pb2.UpsertDocumentResponse(outcome=outcome_message(written.outcomes[0]))

    async def BatchUpsertDocuments(
        self, request: documents_pb2.BatchUpsertDocumentsRequest, _context: Context
    ) -> documents_pb2.BatchUpsertDocumentsResponse:
        """See the contract."""
        model = no_nul(request.embedding_model, "embedding_model")
        documents = [new_document(d, f"documents[{i}]") for i, d in enumerate(request.documents)]
        written = await self._writer.write(documents, model)
        return documents_pb2.BatchUpsertDocumentsResponse(
            outcomes=map(outcome_message, written.outcomes), space_revision=written.revision
        )

    async def CheckDocuments(
        self, request: documents_pb2.CheckDocumentsRequest, _context: Context
    ) -> documents_pb2.CheckDocumentsResponse:
        """See the contract."""
        unchanged = await self._store.unchanged_documents(
            current_call().space, [(d.document_id, d.content_hash) for d in request.documents]
        )
        return documents_pb2.CheckDocumentsResponse(
            unchanged_documents=(
                documents_pb2.UnchangedDocument(document_id=id_, valid_time=to_timestamp(since))
                for id_, since in unchanged.items()
            )
        )

    async def GetDocument(
        self, request: documents_pb2.GetDocumentRequest, _context: Context
    ) -> documents_pb2.GetDocumentResponse:
        """See the contract."""
        document, chunk_ids = await self._store.get_document(
            current_call().space, request.document_id
        )
        return documents_pb2.GetDocumentResponse(
            document=document_message(document), chunk_ids=chunk_ids
        )

    async def ListDocumentVersions(
        self, request: documents_pb2.ListDocumentVersionsRequest, _context: Context
    ) -> documents_pb2.ListDocumentVersionsResponse:
        """See the contract."""
        space, document_id = current_call().space, request.document_id
        query = ("versions", space, document_id)
        below = _version_below(request.page_token, query)
        size = min(request.page_size or _DEFAULT_PAGE_SIZE, _MAX_PAGE_SIZE)
        found = await self._store.list_versions(space, document_id, below, size + 1)
        if not found and not request.page_token:
            raise NotFoundError("document")
        page = documents_pb2.ListDocumentVersionsResponse(
            versions=map(version_message, found[:size])
        )
        if len(found) > size:
            page.next_page_token = encode_token(query, [found[size - 1].version])
        return page

    async def ListDocuments(
        self, request: documents_pb2.ListDocumentsRequest, _context: Context
    ) -> documents_pb2.ListDocumentsResponse:
        """See the contract."""
        space = current_call().space
        query = ("documents", space, request.prefix)
        after = text_position(request.page_token, query)
        size = page_size(request.page_size, default=_DEFAULT_PAGE_SIZE, largest=_MAX_PAGE_SIZE)
        # One more than requested shows whether there is a next page.
        found = await self._store.list_documents(space, after, size + 1, prefix=request.prefix)
        page = documents_pb2.ListDocumentsResponse(documents=_page(found[:size]))
        if len(page.documents) < len(found):
            page.next_page_token = encode_token(query, [page.documents[-1].document_id])
        return page

    async def GetTextLanguage(
        self, _request: documents_pb2.GetTextLanguageRequest, _context: Context
    ) -> documents_pb2.GetTextLanguageResponse:
        """See the contract."""
        language = await self._store.text_language(current_call().space)
        return documents_pb2.GetTextLanguageResponse(
            language=language.name, available_languages=language.available
        )

    async def SetTextLanguage(
        self, request: documents_pb2.SetTextLanguageRequest, _context: Context
    ) -> documents_pb2.SetTextLanguageResponse:
        """See the contract."""
        space = current_call().space
        available = (await self._store.text_language(space)).available
        if request.language not in available:
            raise InvalidFieldError(
                FieldError("language", f"must be one of {', '.join(available)}")
            )
        await self._store.set_text_language(space, request.language)
        return documents_pb2.SetTextLanguageResponse()

    async def GetVectorStats(
        self, _request: documents_pb2.GetVectorStatsRequest, _context: Context
    ) -> documents_pb2.GetVectorStatsResponse:
        """See the contract."""
        stats = await self._store.stats(current_call().space)
        return documents_pb2.GetVectorStatsResponse(
            document_count=stats.documents,
            chunk_count=stats.chunks,
            embedding_model=stats.model.name if stats.model else "",
            embedding_dimension=stats.model.dimension if stats.model else 0,
            space_revision=stats.revision,
        )


class DocumentDeletionServicer(deletion_pb2_grpc.DocumentDeletionServiceServicer):
    """Deletes documents of the caller's space from this tier alone."""

    def __init__(self, store: VectorStore) -> None:
        self._store = store

    async def DeleteDocument(
        self, request: deletion_pb2.DeleteDocumentRequest, _context: Context
    ) -> deletion_pb2.DeleteDocumentResponse:
        """See the contract."""
        deletion = await self._store.delete_document(
            current_call().space, request.document_id, request.deletion_id.lower() or None
        )
        return deletion_pb2.DeleteDocumentResponse(
            deleted_version_count=deletion.versions,
            deleted_chunk_count=deletion.chunks,
            deleted_chunk_ids=deletion.chunk_ids,
        )

    async def EndDocument(
        self, request: deletion_pb2.EndDocumentRequest, _context: Context
    ) -> deletion_pb2.EndDocumentResponse:
        """See the contract."""
        space = current_call().space
        end_time = await self._store.end_document(space, request.document_id)
        return deletion_pb2.EndDocumentResponse(end_time=to_timestamp(end_time))

    async def DeleteSpaceDocuments(
        self, request: deletion_pb2.DeleteSpaceDocumentsRequest, _context: Context
    ) -> deletion_pb2.DeleteSpaceDocumentsResponse:
        """See the contract."""
        space, deletion_id = current_call().space, request.deletion_id.lower()
        ended = False
        while not ended:
            deletion, ended = await self._store.delete_documents(space, deletion_id)
        return deletion_pb2.DeleteSpaceDocumentsResponse(
            deleted_version_count=deletion.versions, deleted_chunk_count=deletion.chunks
        )


class InventoryServicer(inventory_pb2_grpc.InventoryServiceServicer):
    """Lists ids of the caller's space, and of the installation's spaces."""

    def __init__(self, store: InventoryStore) -> None:
        self._store = store

    async def ListVectorSpaces(
        self, request: inventory_pb2.ListVectorSpacesRequest, _context: Context
    ) -> inventory_pb2.ListVectorSpacesResponse:
        """See the contract."""
        found = await self._store.list_spaces(request.after, request.limit)
        return inventory_pb2.ListVectorSpacesResponse(spaces=found)

    async def ListChunkIds(
        self, request: inventory_pb2.ListChunkIdsRequest, _context: Context
    ) -> inventory_pb2.ListChunkIdsResponse:
        """See the contract."""
        space = current_call().space
        query = ("chunk-ids", space)
        after = uuid_position(request.page_token, query) or request.after_chunk_id.lower()
        size = page_size(
            request.page_size, default=_DEFAULT_IDS_PAGE_SIZE, largest=_MAX_IDS_PAGE_SIZE
        )
        # One more than requested shows whether there is a next page.
        found = await self._store.list_chunk_ids(space, after or None, size + 1)
        more = len(found) > size
        return inventory_pb2.ListChunkIdsResponse(
            chunks=(
                inventory_pb2.ChunkRef(chunk_id=chunk.chunk_id, document_id=chunk.document_id)
                for chunk in found[:size]
            ),
            next_page_token=encode_token(query, [found[size - 1].chunk_id]) if more else "",
        )

    async def FindChunks(
        self, request: inventory_pb2.FindChunksRequest, _context: Context
    ) -> inventory_pb2.FindChunksResponse:
        """See the contract."""
        wanted = sorted({chunk_id.lower() for chunk_id in request.chunk_ids})
        found = await self._store.find_chunks(current_call().space, wanted)
        return inventory_pb2.FindChunksResponse(chunk_ids=found)

    async def FindDocuments(
        self, request: inventory_pb2.FindDocumentsRequest, _context: Context
    ) -> inventory_pb2.FindDocumentsResponse:
        """See the contract."""
        found = await self._store.find_documents(current_call().space, request.document_ids)
        return inventory_pb2.FindDocumentsResponse(document_ids=found)


def _page(documents: Sequence[Document]) -> Iterator[documents_pb2.Document]:
    size = 0
    for document in documents:
        message = document_message(document)
        yield message
        size += message.ByteSize()
        if size >= _FULL_PAGE_BYTES:
            return


def _version_below(token: str, query: tuple[str, ...]) -> int:
    if not token:
        return _ABOVE_ALL_VERSIONS
    position = decode_token(token, query, length=1)[0]
    if type(position) is not int or not 0 <= position <= _ABOVE_ALL_VERSIONS:
        raise InvalidFieldError(FieldError("page_token", "is not a token of this service"))
    return position

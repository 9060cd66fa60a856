"""Documents and settings of a space, for the asyncio client, with direct calls to the vector tier."""

from __future__ import annotations

from typing import TYPE_CHECKING

from braid.vector.v1 import documents_pb2, documents_pb2_grpc
from braid_client.connection import Connection

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from braid.vector.v1.documents_pb2 import DocumentInput


class Documents(Connection):
    """Part of `AsyncBraid`."""

    async def upsert_document(
        self, document: DocumentInput, *, embedding_model: str = "", timeout: float | None = None
    ) -> documents_pb2.UpsertDocumentResponse:
        """Writes a version of a document with the caller's own chunks; `document_input` builds it from texts.

        Chunks without a vector are embedded by the tier; `embedding_model` is the model of given vectors, which must be
        the space's. Writing the same content again changes nothing. When the call returns, the document is searchable
        but not in the graph: `ingest_document` writes to both tiers, `RepairConsistency` adds it to the graph later.
        """
        request = documents_pb2.UpsertDocumentRequest(
            document=document, embedding_model=embedding_model
        )
        with self._typed_errors(timeout):
            return await self._documents().UpsertDocument(request, **self._options(timeout))

    async def upsert_documents(
        self,
        documents: Iterable[DocumentInput],
        *,
        embedding_model: str = "",
        timeout: float | None = None,
    ) -> documents_pb2.BatchUpsertDocumentsResponse:
        """Writes 1–500 documents, as `upsert_document`, in one transaction: all or none. At most 16 MiB in total."""
        request = documents_pb2.BatchUpsertDocumentsRequest(
            documents=documents, embedding_model=embedding_model
        )
        with self._typed_errors(timeout):
            return await self._documents().BatchUpsertDocuments(request, **self._options(timeout))

    async def get_document(
        self, document_id: str, *, timeout: float | None = None
    ) -> documents_pb2.GetDocumentResponse:
        """Returns a document's current version and its chunks' ids."""
        request = documents_pb2.GetDocumentRequest(document_id=document_id)
        with self._typed_errors(timeout):
            return await self._documents().GetDocument(request, **self._options(timeout))

    async def list_document_versions(
        self, document_id: str, *, page_size: int = 200, timeout: float | None = None
    ) -> AsyncIterator[documents_pb2.DocumentVersion]:
        """Lists all versions of a document, latest first; `timeout` applies to each page."""
        token = ""
        while True:
            request = documents_pb2.ListDocumentVersionsRequest(
                document_id=document_id, page_size=page_size, page_token=token
            )
            stub = documents_pb2_grpc.DocumentServiceStub(self._channel("vector"))
            with self._typed_errors(timeout):
                page = await stub.ListDocumentVersions(request, **self._options(timeout))
            for version in page.versions:
                yield version
            token = page.next_page_token
            if not token:
                return

    async def list_documents(
        self, *, page_size: int = 200, timeout: float | None = None
    ) -> AsyncIterator[documents_pb2.Document]:
        """Lists all documents of the space by id; `timeout` applies to each page."""
        token = ""
        while True:
            request = documents_pb2.ListDocumentsRequest(page_size=page_size, page_token=token)
            with self._typed_errors(timeout):
                page = await self._documents().ListDocuments(request, **self._options(timeout))
            for document in page.documents:
                yield document
            token = page.next_page_token
            if not token:
                return

    async def get_text_language(
        self, *, timeout: float | None = None
    ) -> documents_pb2.GetTextLanguageResponse:
        """Returns the language of the space's text search, and the names of all available languages."""
        request = documents_pb2.GetTextLanguageRequest()
        with self._typed_errors(timeout):
            return await self._documents().GetTextLanguage(request, **self._options(timeout))

    async def set_text_language(self, language: str, *, timeout: float | None = None) -> None:
        """Sets the language of the space's text search. WRONG_STATE if the space has chunks."""
        request = documents_pb2.SetTextLanguageRequest(language=language)
        with self._typed_errors(timeout):
            await self._documents().SetTextLanguage(request, **self._options(timeout))

    def _documents(self) -> documents_pb2_grpc.DocumentServiceStub:
        return documents_pb2_grpc.DocumentServiceStub(self._channel("vector"))

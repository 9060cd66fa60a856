"""The space's documents and uploads: lists, and a document's text in parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from braid.vector.v1 import documents_pb2, search_pb2
from gateway.mcp.arguments import Arguments, Cursor, PageLimit, narrowed
from gateway.mcp.calls import ToolCall
from gateway.mcp.cursors import Position
from gateway.mcp.pages import Page
from gateway.mcp.results import ToolResult, day_or_time, fit
from gateway.mcp.tools.ingest import (
    Job,
    JobStateArguments,
    ListJobsArguments,
    job_state,
    list_jobs,
)
from gateway.rest.mapping.field_types import Text

SERVICE = "/braid.vector.v1.DocumentService/"
_CHUNKS = "/braid.vector.v1.VectorSearchService/GetChunks"
# More items never fit into one answer.
_READ_AT_ONCE = 32


class ListDocumentsArguments(Arguments):
    """Which page of documents."""

    limit: PageLimit = 50
    cursor: Cursor | None = None


class ReadDocumentArguments(Arguments):
    """Which document, and from where."""

    document_id: Annotated[Text, Field(min_length=1, max_length=512)]
    cursor: Cursor | None = None


class DocumentsArguments(Arguments):
    """What to see."""

    view: Literal["list", "read", "job", "jobs"] = Field(
        default="list",
        description="list: the documents; read: a document's text; job: how far an upload is; jobs: the uploads.",
    )
    document_id: Text | None = Field(default=None, description="read: the document's id.")
    job_id: Text | None = Field(default=None, description="job: the job's id.")
    state: Literal["queued", "running", "succeeded", "failed", "cancelled"] | None = Field(
        default=None, description="jobs: only in this state."
    )
    limit: PageLimit | None = Field(default=None, description="list, jobs: how many, 1–200 (50).")
    cursor: Cursor | None = None


class DocumentSummary(BaseModel):
    """A document."""

    document_id: str
    title: str
    source: str | None = None
    version: int
    valid_from: str | None = None
    chunk_count: int


class TextPart(BaseModel):
    """A part of a document's text. Parts may overlap: `start_char` and `end_char` say where."""

    start_char: int
    end_char: int
    page: int | None = None
    text: str


class DocumentsResult(ToolResult):
    """A page of documents by id."""

    view: Literal["list"] = "list"
    documents: list[DocumentSummary]


class DocumentResult(ToolResult):
    """A document and parts of its text, in order."""

    view: Literal["read"] = "read"
    document: DocumentSummary
    parts: list[TextPart]


class DocumentsViewResult(ToolResult):
    """One of the views: fields of the others are left out."""

    view: Literal["list", "read", "job", "jobs"]
    documents: list[DocumentSummary] | None = None
    document: DocumentSummary | None = None
    parts: list[TextPart] | None = None
    job: Job | None = None
    jobs: list[Job] | None = None


async def documents(arguments: DocumentsArguments, call: ToolCall) -> ToolResult:
    """List the documents, read one, or see how far uploads are."""
    match arguments.view:
        case "list":
            of_list = narrowed(arguments, ListDocumentsArguments, arguments.view)
            return await list_documents(of_list, call)
        case "read":
            of_read = narrowed(arguments, ReadDocumentArguments, arguments.view)
            return await read_document(of_read, call)
        case "job":
            return await job_state(narrowed(arguments, JobStateArguments, arguments.view), call)
        case "jobs":
            return await list_jobs(narrowed(arguments, ListJobsArguments, arguments.view), call)


async def list_documents(arguments: ListDocumentsArguments, call: ToolCall) -> DocumentsResult:
    """List the documents of the space by id."""
    cursor = call.cursor(arguments)
    begin = cursor.read(arguments.cursor)
    request = documents_pb2.ListDocumentsRequest(
        page_size=arguments.limit, page_token=begin.page_token
    )
    stub = call.clients.documents.ListDocuments
    answer = await call.rpc(SERVICE + "ListDocuments", stub, request)
    found = [_summary(one) for one in answer.documents]
    page = Page(found, begin, answer.next_page_token, cursor, "documents")

    def build(
        shown: Sequence[DocumentSummary], words: str, next_cursor: str | None
    ) -> DocumentsResult:
        return DocumentsResult(
            space=call.space,
            status="found" if shown else "no_match",
            message=words,
            next_cursor=next_cursor,
            documents=list(shown),
        )

    return page.result(build)


async def read_document(arguments: ReadDocumentArguments, call: ToolCall) -> DocumentResult:
    """Read a document's text, in parts."""
    cursor = call.cursor(arguments)
    first = cursor.read(arguments.cursor).shown
    stored = await stored_document(arguments.document_id, call)
    parts = await parts_of(stored.chunk_ids[first : first + _READ_AT_ONCE], call)

    def build(shown: Sequence[TextPart]) -> DocumentResult:
        end = first + len(shown)
        total = len(stored.chunk_ids)
        more = end < total
        words = f"Parts {first + 1}–{end} of {total}." if shown else "No further parts."
        return DocumentResult(
            space=call.space,
            status="found" if shown else "no_match",
            message=words + (" For the next ones call again with `cursor`." if more else ""),
            next_cursor=cursor.write(Position("", end)) if more else None,
            document=_summary(stored.document),
            parts=list(shown),
        )

    return fit(parts, build)


async def stored_document(document_id: str, call: ToolCall) -> documents_pb2.GetDocumentResponse:
    """Returns a document's current version and its chunks' ids."""
    request = documents_pb2.GetDocumentRequest(document_id=document_id)
    stub = call.clients.documents.GetDocument
    answer: documents_pb2.GetDocumentResponse = await call.rpc(
        SERVICE + "GetDocument", stub, request
    )
    return answer


async def parts_of(chunk_ids: Sequence[str], call: ToolCall) -> list[TextPart]:
    """Returns the texts of chunks."""
    if not chunk_ids:
        return []
    request = search_pb2.GetChunksRequest(chunk_ids=chunk_ids)
    answer = await call.rpc(_CHUNKS, call.clients.chunks.GetChunks, request)
    return [
        TextPart(
            start_char=one.start_char,
            end_char=one.end_char,
            page=one.page or None,
            text=one.content,
        )
        for one in answer.chunks
    ]


def _summary(message: Any) -> DocumentSummary:
    return DocumentSummary(
        document_id=message.document_id,
        title=message.title,
        source=message.source or None,
        version=message.version,
        valid_from=day_or_time(message, "valid_time"),
        chunk_count=message.chunk_count,
    )

"""Documents and entities as resources: `braid://documents/{document_id}` and `braid://entities/{name}`."""

from __future__ import annotations

from urllib.parse import quote, unquote

from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    ListResourcesResult,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

from braid.vector.v1 import documents_pb2
from gateway.mcp.calls import ToolCall
from gateway.mcp.results import text_of
from gateway.mcp.tools.documents import SERVICE, TextPart, parts_of, stored_document
from gateway.mcp.tools.entities import NeighborhoodArguments, neighborhood

_DOCUMENTS = "braid://documents/"
_ENTITIES = "braid://entities/"
_PAGE = 50
_CHUNKS_AT_ONCE = 500
MAX_DOCUMENT_CHARACTERS = 200_000


def templates() -> list[ResourceTemplate]:
    """Returns the templates of resources that can be read by name."""
    return [
        ResourceTemplate(
            uri_template=_DOCUMENTS + "{document_id}",
            name="document",
            title="Document",
            description="A document's text, by its id (percent-encoded).",
            mime_type="text/plain",
        ),
        ResourceTemplate(
            uri_template=_ENTITIES + "{name}",
            name="entity",
            title="Entity",
            description="An entity with the facts that join it to others, by its name (percent-encoded).",
            mime_type="application/json",
        ),
    ]


async def list_documents(cursor: str | None, call: ToolCall) -> ListResourcesResult:
    """Returns a page of the documents as resources."""
    request = documents_pb2.ListDocumentsRequest(page_size=_PAGE, page_token=cursor or "")
    stub = call.clients.documents.ListDocuments
    answer = await call.rpc(SERVICE + "ListDocuments", stub, request)
    found = [
        Resource(
            uri=_DOCUMENTS + quote(one.document_id, safe=""),
            name=one.document_id,
            title=one.title or one.document_id,
            mime_type="text/plain",
        )
        for one in answer.documents
    ]
    return ListResourcesResult(resources=found, next_cursor=answer.next_page_token or None)


async def read(uri: str, call: ToolCall) -> ReadResourceResult:
    """Returns a resource by its address. Raises MCPError for other addresses."""
    if uri.startswith(_DOCUMENTS):
        text = await _document(unquote(uri.removeprefix(_DOCUMENTS)), call)
        return _result(uri, text, "text/plain")
    if uri.startswith(_ENTITIES):
        arguments = NeighborhoodArguments(entity=unquote(uri.removeprefix(_ENTITIES)))
        return _result(uri, text_of(await neighborhood(arguments, call)), "application/json")
    raise MCPError(
        INVALID_PARAMS, f"uri: must begin with {_DOCUMENTS} or {_ENTITIES}", {"uri": uri}
    )


def _result(uri: str, text: str, mime_type: str) -> ReadResourceResult:
    return ReadResourceResult(
        contents=[TextResourceContents(uri=uri, text=text, mime_type=mime_type)]
    )


async def _document(document_id: str, call: ToolCall) -> str:
    stored = await stored_document(document_id, call)
    text, end = "", 0
    for start in range(0, len(stored.chunk_ids), _CHUNKS_AT_ONCE):
        for part in await parts_of(stored.chunk_ids[start : start + _CHUNKS_AT_ONCE], call):
            text += _after(part, end)
            end = max(end, part.end_char)
            if len(text) > MAX_DOCUMENT_CHARACTERS:
                return (
                    text[:MAX_DOCUMENT_CHARACTERS]
                    + f"\n… [cut at {MAX_DOCUMENT_CHARACTERS:,} characters: read the rest with the tool `documents`, "
                    "view read]"
                )
    return text


def _after(part: TextPart, end: int) -> str:
    """Returns what a part adds to the preceding text: parts may overlap, and white space between them is not stored."""
    if part.start_char >= end:
        return ("\n" if end else "") + part.text
    return part.text[end - part.start_char :]

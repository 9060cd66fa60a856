"""Response schemas of documents, uploads and deletions, and the serialization of messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from braid.agent.v1 import ingest_pb2
from gateway.rest.graph.fact_responses import StatedFact
from gateway.rest.jobs import Job, Removed, job, removed_rows
from gateway.rest.mapping.json_encoding import Json, struct, time
from gateway.rest.mapping.openapi import FieldProblem, ResponseSchema

if TYPE_CHECKING:
    from braid.vector.v1 import documents_pb2


class Document(ResponseSchema):
    """A stored document's current version."""

    id: str
    title: str
    source: str
    metadata: dict[str, Any]
    version: int
    valid_at: str | None
    created_at: str | None
    chunk_count: int


class DocumentWithChunks(Document):
    """A document and its chunks' ids."""

    chunk_ids: list[str]


class Documents(ResponseSchema):
    """A page of documents; `next_cursor` is null at the end."""

    documents: list[Document]
    next_cursor: str | None


class DocumentVersion(ResponseSchema):
    """A version of a document. It holds from `valid_at` until `invalid_at`, which is null where none has ended it."""

    version: int
    title: str
    source: str
    valid_at: str | None
    invalid_at: str | None
    created_at: str | None
    chunk_count: int


class DocumentVersions(ResponseSchema):
    """A page of versions, the latest first; `next_cursor` is null at the end."""

    versions: list[DocumentVersion]
    next_cursor: str | None


class Receipt(ResponseSchema):
    """What deleting a document removed."""

    id: str
    removed: list[Removed]
    job: Job


class RefusedLine(ResponseSchema):
    """A fact that was not taken: the place of its file among the request's, from 0, and its line, from 1."""

    file: int
    line: int
    reason: str


class MissingFact(ResponseSchema):
    """A fact that a file stated before and does not state now: the file's place among the request's, from 0."""

    file: int
    fact: StatedFact


class FactsOfFiles(ResponseSchema):
    """What became of the facts that files of JSON lines hold, and what the files no longer state.

    `missing` lists some of the latter, `missing_total` is their number. `withdrawn` of them were withdrawn, because of
    `replace`; the others stand.
    """

    added: int
    unchanged: int
    refused: list[RefusedLine]
    refused_total: int
    missing: list[MissingFact]
    missing_total: int
    withdrawn: int


class FactsAccepted(ResponseSchema):
    """An upload of files that hold facts alone: there is no job, they are in the graph."""

    facts: FactsOfFiles


class Accepted(ResponseSchema):
    """The jobs of an upload, one a file with documents; `job` is the first. `facts` is there where files hold any."""

    job: Job
    jobs: list[Job]
    facts: FactsOfFiles | None = None


class PartlyAccepted(Accepted):
    """The jobs of the files that were taken, and what is wrong with the others: nothing of those was stored."""

    refused: list[FieldProblem]


def document(message: documents_pb2.Document) -> Json:
    """A stored document's current version."""
    return {
        "id": message.document_id,
        "title": message.title,
        "source": message.source,
        "metadata": struct(message.metadata),
        "version": message.version,
        "valid_at": time(message, "valid_time"),
        "created_at": time(message, "create_time"),
        "chunk_count": message.chunk_count,
    }


def version(message: documents_pb2.DocumentVersion) -> Json:
    """A version of a document."""
    return {
        "version": message.version,
        "title": message.title,
        "source": message.source,
        "valid_at": time(message, "valid_time"),
        "invalid_at": time(message, "end_time"),
        "created_at": time(message, "create_time"),
        "chunk_count": message.chunk_count,
    }


def receipt(document_id: str, answer: ingest_pb2.DeleteDocumentResponse) -> Json:
    """What deleting a document removed, and its job."""
    return {"id": document_id, "removed": removed_rows(answer.removed), "job": job(answer.job)}

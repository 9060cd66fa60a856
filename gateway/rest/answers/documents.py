"""Stored documents, and what uploading or deleting one answers."""

from __future__ import annotations

from typing import Any

from gateway.rest.answers.jobs import Job, Removed
from gateway.rest.answers.problems import FieldProblem
from gateway.rest.answers.shape import Shape


class Document(Shape):
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


class Documents(Shape):
    """A page of documents; `next_cursor` is null at the end."""

    documents: list[Document]
    next_cursor: str | None


class Receipt(Shape):
    """What deleting a document removed."""

    id: str
    removed: list[Removed]
    job: Job


class Accepted(Shape):
    """The jobs of an upload, one a file; `job` is the first."""

    job: Job
    jobs: list[Job]


class PartlyAccepted(Accepted):
    """The jobs of the files that were taken, and what is wrong with the others: nothing of those was stored."""

    refused: list[FieldProblem]

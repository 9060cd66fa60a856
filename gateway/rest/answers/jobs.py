"""Jobs, and the documents that they could not take."""

from __future__ import annotations

from typing import Literal

from gateway.rest.answers.shape import Shape


class Removed(Shape):
    """How many rows of a kind were removed from a store."""

    store: str
    kind: str
    count: int


class Failure(Shape):
    """A document that could not be taken."""

    id: str
    reason: str
    stage: str


class Job(Shape):
    """An upload's way through the tiers."""

    id: str
    state: Literal["QUEUED", "RUNNING", "SUCCEEDED", "FAILED", "CANCELLED", "UNSPECIFIED"]
    documents_total: int
    documents_searchable: int
    documents_graph_ready: int
    documents_unchanged: int
    documents_failed: int
    chunks_written: int
    failures: list[Failure]
    kind: str
    waiting_for: str | None
    searchable_per_second: float
    graph_ready_per_second: float
    removed: list[Removed]
    document_id: str | None
    title: str | None
    source: str | None
    created_at: str | None
    updated_at: str | None
    started_at: str | None
    ended_at: str | None


class OneJob(Shape):
    """The job of what was asked for."""

    job: Job


class Jobs(Shape):
    """A page of jobs; `next_cursor` is null at the end."""

    jobs: list[Job]
    next_cursor: str | None


class DeadDocument(Shape):
    """A document that was accepted and could not be taken."""

    job_id: str
    id: str
    reason: str
    stage: str
    failed_at: str | None


class DeadDocuments(Shape):
    """A page of dead documents; `next_cursor` is null at the end."""

    documents: list[DeadDocument]
    next_cursor: str | None

"""Shapes of answers, for the OpenAPI document alone: `views` builds them, nothing validates them again."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict


class Shape(BaseModel):
    """A documented shape."""

    model_config = ConfigDict(extra="forbid")


class ChunkScores(Shape):
    """How a hit came by its score; null for parts that did not run."""

    vector: float | None
    text: float | None
    vector_fused: float | None
    text_fused: float | None
    vector_rank: int | None
    text_rank: int | None


class Hit(Shape):
    """A found chunk: where it stands in its document's text, and on which page if that has any."""

    id: str
    document_id: str
    title: str
    source: str
    content: str
    start_char: int
    end_char: int
    page: int | None
    score: float
    scores: ChunkScores
    metadata: dict[str, Any]


class EntityEnd(Shape):
    """A fact's endpoint; an unknown type is empty."""

    uuid: str
    name: str
    type: str


class Source(Shape):
    """Where a fact stands."""

    chunk_id: str
    document_id: str
    document_title: str
    source: str
    quote: str


class Fact(Shape):
    """A dated edge between two entities; open ends are null. `local` ones are hints, not statements."""

    uuid: str
    fact: str
    relation: str
    source_entity: EntityEnd
    target_entity: EntityEnd
    valid_at: str | None
    invalid_at: str | None
    sources: list[Source]
    origin: Literal["given", "extracted", "local", "unspecified"]
    score: float | None


class FactScores(Shape):
    """How a fact came by its score; null for parts that did not run."""

    vector: float | None
    text: float | None
    vector_rank: int | None
    text_rank: int | None


class FoundFact(Fact):
    """A fact with its score."""

    scores: FactScores


class Leg(Shape):
    """How one leg of a search ended."""

    name: str
    status: Literal[
        "OK", "NO_MATCH", "DEGRADED", "TIMED_OUT", "UNAVAILABLE", "DISABLED", "UNSPECIFIED"
    ]
    reason: str | None
    took_ms: float
    cached: bool


EmbeddingSource = Literal["given", "computed", "memory", "stored"]


class ChunkResults(Shape):
    """What a search for chunks found, and how; null where no vector was used. `revision` is the space's."""

    results: list[Hit]
    legs: list[Leg]
    total_results: int
    embedding: EmbeddingSource | None
    vector_path: Literal["exact", "hnsw"] | None
    revision: int


class FactResults(Shape):
    """What a search for facts found, and how; null where no vector was used. `revision` is the space's."""

    results: list[FoundFact]
    legs: list[Leg]
    total_results: int
    vector_path: Literal["exact", "index"] | None
    revision: int


class LegPart(Shape):
    """A leg's part in a fused result."""

    rank: int
    score: float
    share: float


class FusedHit(Shape):
    """An entry of the fused list: a chunk with the facts that it states, or a fact without a chunk."""

    id: str
    document_id: str
    title: str
    source: str
    content: str
    score: float
    scores: dict[str, LegPart]
    metadata: dict[str, Any]
    facts: list[Fact]


class Comprehensive(Shape):
    """What all tiers found."""

    vector_results: list[Hit]
    graph_results: list[FoundFact]
    results: list[FusedHit]
    legs: list[Leg]
    total_results: int
    embedding: EmbeddingSource | None


class Entity(Shape):
    """A node of the graph."""

    uuid: str
    name: str
    type: str
    summary: str
    mentions: int


class Neighborhood(Shape):
    """An entity, its neighbours and what joins them."""

    center: Entity
    nodes: list[Entity]
    edges: list[Fact]
    total: int
    truncated: bool
    homonyms: list[EntityEnd]


class Entities(Shape):
    """A page of entities; `next_cursor` is null at the end."""

    entities: list[Entity]
    next_cursor: str | None
    total_hint: int | None


class GraphStatus(Shape):
    """The graph in numbers."""

    entities: int
    facts: int
    local_facts: int
    episodes: int
    entities_by_type: dict[str, int]
    last_ingest_at: str | None
    indexes: dict[str, str]
    revision: int


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


InconsistencyName: TypeAlias = Literal[
    "CHUNK_WITHOUT_EPISODE",
    "EPISODE_WITHOUT_CHUNK",
    "UNKNOWN_DOCUMENT",
    "ENTITY_WITHOUT_MENTION",
    "DEAD_JOB",
    "UNSPECIFIED",
]


class Removed(Shape):
    """How many rows of a kind were removed from a store."""

    store: str
    kind: str
    count: int


class Receipt(Shape):
    """What deleting a document removed."""

    id: str
    removed: list[Removed]
    job: Job


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
    created_at: str | None
    updated_at: str | None


class OneJob(Shape):
    """The job of what was asked for."""

    job: Job


class Inconsistency(Shape):
    """One thing that is amiss; `document_id` is null where it belongs to none."""

    kind: InconsistencyName
    id: str
    document_id: str | None


class InconsistencyCount(Shape):
    """How many of a kind were found, and mended."""

    kind: InconsistencyName
    found: int
    repaired: int


class Consistency(Shape):
    """What both stores hold, and what is amiss; `pending` is what unfinished jobs are at."""

    consistent: bool
    chunks: int
    episodes: int
    graph_documents: int
    entities: int
    pending: int
    counts: list[InconsistencyCount]
    listed: list[Inconsistency]


class SpaceModels(Shape):
    """The space's embedding model, null while it holds nothing, and the one that the settings name."""

    embedding_model: str | None
    configured_embedding_model: str


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


class Accepted(Shape):
    """The jobs of an upload, one a file; `job` is the first."""

    job: Job
    jobs: list[Job]


class RefusedFact(Shape):
    """A fact that was not taken, by its position from 0."""

    index: int
    reason: str


class FactsTaken(Shape):
    """What became of given facts."""

    added: int
    unchanged: int
    refused: list[RefusedFact]
    refused_total: int


class FieldProblem(Shape):
    """A wrong field and what would be right."""

    field: str
    description: str


class Problem(BaseModel):
    """Every error's body."""

    detail: str
    reason: str
    request_id: str
    fields: list[FieldProblem] | None = None


class Alive(Shape):
    """The process runs."""

    status: Literal["ok"]


class Readiness(Shape):
    """Every service that the gateway needs is serving."""

    status: Literal["ready"]
    services: dict[str, str]


class NotReady(Problem):
    """Which service is not serving."""

    services: dict[str, str]

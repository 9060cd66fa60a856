"""What the methods of both clients take by keyword, for those that pass it on. Each is described at `AsyncBraid`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    import grpc

    from braid.agent.v1.agent_pb2 import SearchPreferences, ToolProfile
    from braid.agent.v1.entity_memory_pb2 import (
        MemoryEndInput,
        MemoryEntityType,
        MemoryProvenance,
        MemoryRelationshipType,
    )
    from braid.agent.v1.jobs_pb2 import JobKind, JobState
    from braid.agent.v1.memories_pb2 import MemorySearchMode
    from braid.agent.v1.search_pb2 import AnswerPart
    from braid.common.v1.expansion_pb2 import ExpansionOptions
    from braid.common.v1.reranking_pb2 import RerankMode
    from braid.common.v1.retrieval_pb2 import CacheMode, QueryEmbedding
    from braid.graph.v1.findings_pb2 import FindingFilter
    from braid.graph.v1.query_pb2 import DocumentTitles, EntityOrder
    from braid.graph.v1.relations_pb2 import ChunkRelationType
    from braid.vector.v1.chunks_pb2 import ChunkFilter, Fusion, TextMatch
    from braid_client.requests import EntityLike, ExpansionLike, TimeLike
    from braid_client.tls import Tls


class ConnectionOptions(TypedDict, total=False):
    """Of the clients themselves."""

    vector_target: str
    graph_target: str
    api_key: str | None
    space: str | None
    user: str | None
    timeout: float
    credentials: grpc.ChannelCredentials | None
    tls: Tls | None


class CallOptions(TypedDict, total=False):
    """Of every call: its deadline in seconds, where it is not the client's."""

    timeout: float | None


class ComprehensiveOptions(CallOptions, total=False):
    """Of `comprehensive_search` and `stream_comprehensive_search`."""

    limit: int | None
    use_vector: bool
    use_graph: bool
    use_memories: bool
    text_weight: float | None
    as_of: datetime | None
    chunk_filter: ChunkFilter | None
    cache: CacheMode.ValueType | None
    include: Sequence[AnswerPart.ValueType]
    expansion: ExpansionLike | None
    rerank: RerankMode.ValueType | None


class AskOptions(CallOptions, total=False):
    """Of `ask` and `stream_ask`."""

    conversation_id: str
    profile: ToolProfile.ValueType
    search_preferences: SearchPreferences | None
    time_zone: str
    reference_time: datetime | None


class RunEventOptions(CallOptions, total=False):
    """Of `run_events`."""

    after_event_id: int


class ConversationOptions(CallOptions, total=False):
    """Of `get_conversation`."""

    message_limit: int | None


class ChunkOptions(CallOptions, total=False):
    """Of every search for chunks alone."""

    limit: int | None
    as_of: datetime | None
    chunk_filter: ChunkFilter | None
    min_score: float | None
    cache: CacheMode.ValueType | None


class VectorOptions(ChunkOptions, total=False):
    """Of `vector_search`."""

    query_embedding: QueryEmbedding | None


class TextOptions(ChunkOptions, total=False):
    """Of `text_search`."""

    match: TextMatch.ValueType | None


class HybridOptions(VectorOptions, total=False):
    """Of `hybrid_search`."""

    text_weight: float | None
    fusion: Fusion.ValueType | None


class ExpandedHybridOptions(HybridOptions, total=False):
    """Of `expanded_hybrid_search`."""

    expansion: ExpansionLike | None
    rerank: RerankMode.ValueType | None


class FactOptions(CallOptions, total=False):
    """Of `search_facts`."""

    limit: int | None
    entity_name: str
    relation_type: str
    as_of: datetime | None
    min_score: float | None


class NeighborhoodOptions(CallOptions, total=False):
    """Of `neighborhood`."""

    limit: int | None


class KnownFactOptions(CallOptions, total=False):
    """Of every reading of facts over both clocks."""

    relation_type: str
    known_at: datetime | None


class HistoryOptions(KnownFactOptions, total=False):
    """Of `entity_history`."""

    since: datetime | None
    as_of: datetime | None
    page_size: int
    page_token: str


class SnapshotOptions(KnownFactOptions, total=False):
    """Of `snapshot`."""

    entity: EntityLike | None
    page_size: int
    page_token: str


class DiffOptions(KnownFactOptions, total=False):
    """Of `diff`."""

    entity: EntityLike | None
    limit: int | None


class ListFactsOptions(KnownFactOptions, total=False):
    """Of `list_facts`."""

    subject: EntityLike | None
    object: EntityLike | None
    as_of: TimeLike | None
    page_size: int


class PathOptions(CallOptions, total=False):
    """Of `find_paths`."""

    max_hops: int | None
    limit: int | None
    as_of: TimeLike | None
    include_local: bool


class FindingOptions(CallOptions, total=False):
    """Of `search_findings`."""

    finding_filter: FindingFilter | None
    limit: int | None
    query_embedding: QueryEmbedding | None


class SavedEntityOptions(CallOptions, total=False):
    """Of `save_memory_entity`."""

    aliases: Iterable[str]
    description: str
    confidence: float | None
    provenance: MemoryProvenance | None


class SavedRelationshipOptions(CallOptions, total=False):
    """Of `save_memory_relationship`."""

    source: MemoryEndInput | None
    context: str
    confidence: float | None
    provenance: MemoryProvenance | None


class SavedTurnOptions(CallOptions, total=False):
    """Of `save_memory_turn`."""

    provenance: MemoryProvenance | None


class MemoryEntitiesOptions(CallOptions, total=False):
    """Of `query_memory_entities`."""

    types: Iterable[MemoryEntityType.ValueType]
    page_size: int
    page_token: str


class MemoryQueryOptions(CallOptions, total=False):
    """Of `query_memory`."""

    entity_type: MemoryEntityType.ValueType
    relationship_type: MemoryRelationshipType.ValueType
    page_size: int
    page_token: str


class MemoryRelationshipsOptions(CallOptions, total=False):
    """Of `query_memory_relationships`."""

    types: Iterable[MemoryRelationshipType.ValueType]
    entity_id: str
    page_size: int
    page_token: str


class RelatedMemoryOptions(CallOptions, total=False):
    """Of `related_memory_entities`."""

    types: Iterable[MemoryRelationshipType.ValueType]
    max_hops: int
    page_size: int
    page_token: str


class MemoryQuotaOptions(CallOptions, total=False):
    """Of `memory_quota`."""

    conversation_id: str


class OntologyOptions(CallOptions, total=False):
    """Of `put_ontology`."""

    expected_version: int | None


class PageOptions(CallOptions, total=False):
    """Of `list_documents` and `export_memory`."""

    page_size: int


class EntityOptions(PageOptions, total=False):
    """Of `entities`."""

    entity_type: str
    order_by: EntityOrder.ValueType | None
    document_titles: DocumentTitles.ValueType | None


class FindingListOptions(PageOptions, total=False):
    """Of `list_findings`."""

    finding_filter: FindingFilter | None


class DocumentOptions(CallOptions, total=False):
    """Of `ingest_document`."""

    content_type: str
    document_id: str
    title: str
    source: str
    metadata: Mapping[str, Any] | None
    valid_time: datetime | None


class GivenVectorsOptions(CallOptions, total=False):
    """Of `upsert_document`, `upsert_documents`, `ingest_facts` and `add_findings`."""

    embedding_model: str


class MemoryOptions(CallOptions, total=False):
    """Of `create_memory`."""

    type: str
    title: str
    tags: Sequence[str]
    importance: float | None
    session_id: str
    metadata: Mapping[str, Any] | None
    relations: Iterable[tuple[str, str]]
    infer: bool


class MemoryListOptions(CallOptions, total=False):
    """Of `list_memories`."""

    types: Sequence[str]
    session_id: str
    page_size: int


class MemoryRelationOptions(CallOptions, total=False):
    """Of `relate_memories`."""

    strength: float | None
    valid_time: datetime | None
    invalid_time: datetime | None


class MemoryUnrelateOptions(CallOptions, total=False):
    """Of `unrelate_memories`."""

    relation_type: str | None


class MemorySearchOptions(CallOptions, total=False):
    """Of `search_memories`."""

    limit: int | None
    mode: MemorySearchMode.ValueType
    types: Sequence[str]
    tags: Sequence[str]
    session_id: str
    min_score: float | None
    cache: CacheMode.ValueType | None
    rerank: RerankMode.ValueType
    expansion: ExpansionOptions | None
    keep_ranking: bool


class MemoryInferenceOptions(CallOptions, total=False):
    """Of `run_memory_inference` and `start_memory_inference`."""

    memory_limit: int


class ExpandOptions(CallOptions, total=False):
    """Of `expand`."""

    hops: int | None
    relation_types: Sequence[ChunkRelationType.ValueType]
    expansion_factor: float | None
    adaptive_factor: bool
    min_strength: float | None
    max_degree: int | None
    as_of: datetime | None
    limit: int | None
    keep_ranking: bool


class JobListOptions(PageOptions, total=False):
    """Of `list_jobs`."""

    states: Iterable[JobState.ValueType]
    kinds: Iterable[JobKind.ValueType]


class RelationListOptions(CallOptions, total=False):
    """Of `list_relations`."""

    chunk_id: str
    types: Sequence[ChunkRelationType.ValueType]
    page_size: int

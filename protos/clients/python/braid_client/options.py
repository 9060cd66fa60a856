"""What the methods of both clients take by keyword, for those that pass it on. Each is described at `AsyncBraid`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    import grpc

    from braid.agent.v1.search_pb2 import AnswerPart
    from braid.common.v1.retrieval_pb2 import QueryEmbedding
    from braid.vector.v1.chunks_pb2 import CacheMode, ChunkFilter, Fusion, TextMatch
    from braid.vector.v1.models_pb2 import Distance


class ConnectionOptions(TypedDict, total=False):
    """Of the clients themselves."""

    vector_target: str
    graph_target: str
    api_key: str | None
    space: str | None
    user: str | None
    timeout: float
    credentials: grpc.ChannelCredentials | None


class CallOptions(TypedDict, total=False):
    """Of every call: its deadline in seconds, where it is not the client's."""

    timeout: float | None


class ComprehensiveOptions(CallOptions, total=False):
    """Of `comprehensive_search` and `stream_comprehensive_search`."""

    limit: int | None
    use_vector: bool
    use_graph: bool
    text_weight: float | None
    as_of: datetime | None
    chunk_filter: ChunkFilter | None
    cache: CacheMode.ValueType | None
    include: Sequence[AnswerPart.ValueType]


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


class FactOptions(CallOptions, total=False):
    """Of `search_facts`."""

    limit: int | None
    entity_name: str
    relation_type: str
    as_of: datetime | None


class NeighborhoodOptions(CallOptions, total=False):
    """Of `neighborhood`."""

    limit: int | None


class PageOptions(CallOptions, total=False):
    """Of `list_documents`."""

    page_size: int


class EntityOptions(PageOptions, total=False):
    """Of `entities`."""

    entity_type: str


class DocumentOptions(CallOptions, total=False):
    """Of `ingest_document`."""

    content_type: str
    document_id: str
    title: str
    source: str
    metadata: Mapping[str, Any] | None
    valid_time: datetime | None


class GivenVectorsOptions(CallOptions, total=False):
    """Of `upsert_document`, `upsert_documents` and `ingest_facts`."""

    embedding_model: str


class ModelOptions(CallOptions, total=False):
    """Of `add_embedding_model`."""

    distance: Distance.ValueType | None

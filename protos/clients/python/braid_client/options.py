"""What the methods of both clients take by keyword, for those that pass it on. Each is described at `AsyncBraid`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from braid.vector.v1.chunks_pb2 import CacheMode, ChunkFilter, Fusion


class ComprehensiveOptions(TypedDict, total=False):
    """Of `comprehensive_search` and `stream_comprehensive_search`."""

    limit: int | None
    use_vector: bool
    use_graph: bool
    text_weight: float | None
    as_of: datetime | None
    chunk_filter: ChunkFilter | None
    cache: CacheMode.ValueType | None


class HybridOptions(TypedDict, total=False):
    """Of `hybrid_search`."""

    limit: int | None
    text_weight: float | None
    fusion: Fusion.ValueType | None
    as_of: datetime | None
    chunk_filter: ChunkFilter | None
    min_score: float | None
    cache: CacheMode.ValueType | None


class FactOptions(TypedDict, total=False):
    """Of `search_facts`."""

    limit: int | None
    entity_name: str
    relation_type: str
    as_of: datetime | None


class DocumentOptions(TypedDict, total=False):
    """Of `ingest_document`."""

    content_type: str
    document_id: str
    title: str
    source: str
    metadata: Mapping[str, Any] | None
    valid_time: datetime | None

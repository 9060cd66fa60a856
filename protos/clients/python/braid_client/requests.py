"""Builds the contracts' requests from plain Python values; shared by both clients."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from google.protobuf.timestamp_pb2 import Timestamp

from braid.agent.v1 import ingest_pb2, search_pb2
from braid.common.v1 import retrieval_pb2
from braid.graph.v1 import query_pb2
from braid.vector.v1 import chunks_pb2
from braid.vector.v1 import search_pb2 as vector_pb2

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

PART_BYTES = 512 * 1024


def comprehensive(
    query: str,
    *,
    limit: int | None,
    use_vector: bool,
    use_graph: bool,
    text_weight: float | None,
    as_of: datetime | None,
    chunk_filter: chunks_pb2.ChunkFilter | None,
) -> search_pb2.ComprehensiveSearchRequest:
    """A question for all tiers; None leaves the contract's default."""
    return search_pb2.ComprehensiveSearchRequest(
        query=query,
        limit=limit,
        use_vector=use_vector,
        use_graph=use_graph,
        text_weight=text_weight,
        as_of=timestamp(as_of),
        filter=chunk_filter,
    )


def hybrid(
    query: str,
    *,
    limit: int | None,
    text_weight: float | None,
    as_of: datetime | None,
    chunk_filter: chunks_pb2.ChunkFilter | None,
) -> vector_pb2.HybridSearchRequest:
    """A search by meaning and words; None leaves the contract's default."""
    return vector_pb2.HybridSearchRequest(
        query=query,
        limit=limit,
        text_weight=text_weight,
        as_of=timestamp(as_of),
        filter=chunk_filter,
    )


def facts(
    query: str,
    *,
    limit: int | None,
    entity_name: str,
    relation_type: str,
    as_of: datetime | None,
) -> query_pb2.SearchFactsRequest:
    """A search for facts; None leaves the contract's default."""
    at = retrieval_pb2.TimeSelector(instant=timestamp(as_of)) if as_of is not None else None
    return query_pb2.SearchFactsRequest(
        query=query,
        limit=limit,
        entity_name=entity_name,
        relation_type=relation_type,
        as_of=at,
    )


def document_parts(
    data: bytes,
    *,
    content_type: str,
    document_id: str = "",
    title: str = "",
    source: str = "",
    metadata: Mapping[str, Any] | None = None,
    valid_time: datetime | None = None,
) -> Iterator[ingest_pb2.IngestDocumentRequest]:
    """An upload as the stream that the contract wants: what it is, then its bytes."""
    described = ingest_pb2.DocumentMetadata(
        document_id=document_id,
        title=title,
        source=source,
        content_type=content_type,
        valid_time=timestamp(valid_time),
    )
    described.metadata.update(dict(metadata or {}))
    yield ingest_pb2.IngestDocumentRequest(metadata=described)
    for start in range(0, len(data), PART_BYTES):
        yield ingest_pb2.IngestDocumentRequest(data=data[start : start + PART_BYTES])


def timestamp(value: datetime | None) -> Timestamp | None:
    """An aware datetime as a timestamp. ValueError for a naive one."""
    if value is None:
        return None
    if value.tzinfo is None:
        raise ValueError("times need a zone: datetime(..., tzinfo=UTC)")
    stamp = Timestamp()
    stamp.FromDatetime(value.astimezone(UTC))
    return stamp


def call_metadata(
    api_key: str | None, space: str | None, user: str | None
) -> Sequence[tuple[str, str]]:
    """The credential of a call, and for a delegate the space and user that it works for."""
    named = (
        ("authorization", f"Bearer {api_key}" if api_key else None),
        ("braid-space", space),
        ("braid-user", user),
    )
    return tuple((name, value) for name, value in named if value is not None)

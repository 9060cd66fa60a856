"""Maps the contract's messages to domain types and back."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime
from typing import Any

from google.protobuf import json_format, struct_pb2, timestamp_pb2

from braid.common.v1 import retrieval_pb2
from braid.vector.v1 import chunks_pb2, documents_pb2
from services.runtime.errors import FieldError, InvalidFieldError
from services.runtime.metadata_limits import MAX_METADATA_BYTES, MAX_METADATA_DEPTH
from services.runtime.times import to_datetime, to_timestamp
from services.runtime.unknown_fields import reject_unknown_fields
from services.vector_search.domain import (
    Chunk,
    Document,
    DocumentVersion,
    Hit,
    Metadata,
    NewChunk,
    NewDocument,
    Outcome,
    QueryVector,
    unit_vector,
)


def query_vector(message: retrieval_pb2.QueryEmbedding) -> QueryVector:
    """Maps and checks a given query vector."""
    no_nul(message.embedding_model, "query_embedding.embedding_model")
    return QueryVector(
        message.embedding_model, unit_vector(message.values, "query_embedding.values")
    )


def instant(message: timestamp_pb2.Timestamp, field: str) -> datetime:
    """Maps a point in time. Raises InvalidFieldError outside of the years 1–9999."""
    try:
        return to_datetime(message)
    except (ValueError, OverflowError):
        raise InvalidFieldError(FieldError(field, "must be of the years 1 to 9999")) from None


def metadata(message: struct_pb2.Struct, field: str) -> Metadata:
    """Maps a JSON object.

    Raises InvalidFieldError for values that JSON in PostgreSQL or in an answer cannot represent.
    """
    if not message.fields:
        return {}
    if message.ByteSize() > MAX_METADATA_BYTES:
        raise InvalidFieldError(FieldError(field, f"must be at most {MAX_METADATA_BYTES} bytes"))
    try:
        found: Any = json_format.MessageToDict(message)
    except (json_format.SerializeToJsonError, ValueError, RecursionError):
        raise InvalidFieldError(FieldError(field, "must be plain JSON")) from None
    if not _nested(found, MAX_METADATA_DEPTH):
        raise InvalidFieldError(
            FieldError(field, f"must not be deeper than {MAX_METADATA_DEPTH} levels")
        )
    if not _storable(found):
        raise InvalidFieldError(
            FieldError(field, "must not hold NUL characters or infinite numbers")
        )
    return dict(found)


def chunk_filter(message: chunks_pb2.ChunkFilter) -> tuple[tuple[str, ...], Metadata]:
    """Maps a filter's document ids and metadata. Raises InvalidFieldError for fields unknown to this process."""
    reject_unknown_fields(message, "filter")
    for i, document_id in enumerate(message.document_ids):
        no_nul(document_id, f"filter.document_ids[{i}]")
    return tuple(message.document_ids), metadata(message.metadata, "filter.metadata")


def no_nul(value: str, field: str) -> str:
    """Returns the value. Raises InvalidFieldError if it contains a NUL character, which the store cannot store."""
    if "\x00" in value:
        raise InvalidFieldError(FieldError(field, "must not contain a NUL character"))
    return value


def new_document(message: documents_pb2.DocumentInput, path: str) -> NewDocument:
    """Maps a document to store."""
    return NewDocument(
        path=path,
        document_id=message.document_id,
        title=message.title,
        source=message.source,
        content_hash=message.content_hash,
        metadata=metadata(message.metadata, f"{path}.metadata"),
        valid_time=instant(message.valid_time, f"{path}.valid_time")
        if message.HasField("valid_time")
        else None,
        chunks=tuple(
            _new_chunk(chunk, f"{path}.chunks[{i}]") for i, chunk in enumerate(message.chunks)
        ),
    )


def _new_chunk(message: documents_pb2.ChunkInput, path: str) -> NewChunk:
    return NewChunk(
        id=message.id.lower(),
        content=message.content,
        start_char=message.start_char,
        end_char=message.end_char,
        vector=unit_vector(message.embedding, f"{path}.embedding") if message.embedding else None,
        page=message.page,
        valid_time=instant(message.valid_time, f"{path}.valid_time")
        if message.HasField("valid_time")
        else None,
    )


def hit_message(hit: Hit) -> chunks_pb2.ChunkHit:
    """Maps a found chunk."""
    parts = hit.scores
    return chunks_pb2.ChunkHit(
        chunk=chunk_message(hit.chunk),
        score=hit.score,
        scores=chunks_pb2.ChunkScores(
            vector=parts.vector,
            text=parts.text,
            vector_fused=parts.vector_fused,
            text_fused=parts.text_fused,
            vector_rank=parts.vector_rank,
            text_rank=parts.text_rank,
            reading=parts.reading,
        ),
    )


def chunk_message(chunk: Chunk) -> chunks_pb2.Chunk:
    """Maps a stored chunk."""
    return chunks_pb2.Chunk(
        id=chunk.id,
        document_id=chunk.document_id,
        document_title=chunk.title,
        source=chunk.source,
        content=chunk.content,
        ordinal=chunk.ordinal,
        start_char=chunk.start_char,
        end_char=chunk.end_char,
        metadata=_struct(chunk.metadata),
        valid_time=to_timestamp(chunk.valid_time),
        page=chunk.page,
    )


def document_message(document: Document) -> documents_pb2.Document:
    """Maps a stored document."""
    return documents_pb2.Document(
        document_id=document.document_id,
        title=document.title,
        source=document.source,
        metadata=_struct(document.metadata),
        version=document.version,
        valid_time=to_timestamp(document.valid_time),
        create_time=to_timestamp(document.create_time),
        chunk_count=document.chunk_count,
    )


def version_message(version: DocumentVersion) -> documents_pb2.DocumentVersion:
    """Maps a version of a document."""
    return documents_pb2.DocumentVersion(
        version=version.version,
        title=version.title,
        source=version.source,
        valid_time=to_timestamp(version.valid_time),
        end_time=None if version.end_time is None else to_timestamp(version.end_time),
        create_time=to_timestamp(version.create_time),
        chunk_count=version.chunk_count,
    )


def outcome_message(outcome: Outcome) -> documents_pb2.UpsertOutcome:
    """Maps the outcome of a write."""
    return documents_pb2.UpsertOutcome(
        document_id=outcome.document_id,
        unchanged=outcome.unchanged,
        version=outcome.version,
        added_chunk_count=len(outcome.added),
        retired_chunk_count=outcome.retired,
        added_chunk_ids=outcome.added,
        reindexed_chunk_ids=outcome.reindexed,
        valid_time=to_timestamp(outcome.valid_from),
    )


def _struct(values: Metadata) -> struct_pb2.Struct | None:
    if not values:
        return None
    struct = struct_pb2.Struct()
    struct.update(values)
    return struct


def _nested(value: object, levels: int) -> bool:
    """Returns whether values are nested no deeper than the limit."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return levels >= 0 and all(_nested(item, levels - 1) for item in inner)


def _storable(value: object) -> bool:
    check: dict[type, Callable[[Any], bool]] = {
        str: lambda text: "\x00" not in text,
        float: math.isfinite,
        list: lambda items: all(map(_storable, items)),
        dict: lambda items: all(_storable(k) and _storable(v) for k, v in items.items()),
    }
    return check.get(type(value), lambda _: True)(value)

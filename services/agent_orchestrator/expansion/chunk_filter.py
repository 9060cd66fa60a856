"""Applies a search's filter to chunks that a path reached; the vector tier filters its own hits."""

from __future__ import annotations

from typing import Any

from google.protobuf.json_format import MessageToDict

from braid.vector.v1 import chunks_pb2


def passes(chunk: chunks_pb2.Chunk, wanted: chunks_pb2.ChunkFilter | None) -> bool:
    """Whether the chunk's document is one of those requested, and its metadata contains the requested values."""
    if wanted is None:
        return True
    if wanted.document_ids and chunk.document_id not in wanted.document_ids:
        return False
    if not wanted.HasField("metadata"):
        return True
    return contains(MessageToDict(chunk.metadata), MessageToDict(wanted.metadata))


def contains(value: Any, part: Any) -> bool:
    """Whether a JSON value contains another, as in PostgreSQL: objects by key, arrays by element in any order."""
    if isinstance(part, dict):
        return isinstance(value, dict) and all(
            key in value and contains(value[key], wanted) for key, wanted in part.items()
        )
    if isinstance(part, list):
        return isinstance(value, list) and all(
            any(contains(one, wanted) for one in value) for wanted in part
        )
    return bool(value == part) and isinstance(value, bool) == isinstance(part, bool)

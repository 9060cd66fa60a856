"""Whether a chunk passes a search's filter. The vector tier filters its own hits, this what a path reached."""

from __future__ import annotations

from typing import Any

from google.protobuf.json_format import MessageToDict

from braid.vector.v1 import chunks_pb2


def passes(chunk: chunks_pb2.Chunk, wanted: chunks_pb2.ChunkFilter | None) -> bool:
    """Whether the chunk's document is one of those wanted, and its metadata contains what is wanted."""
    if wanted is None:
        return True
    if wanted.document_ids and chunk.document_id not in wanted.document_ids:
        return False
    if not wanted.HasField("metadata"):
        return True
    return contains(MessageToDict(chunk.metadata), MessageToDict(wanted.metadata))


def contains(value: Any, part: Any) -> bool:
    """Containment of JSON as PostgreSQL has it: objects by key, arrays by their elements in any order."""
    if isinstance(part, dict):
        return isinstance(value, dict) and all(
            key in value and contains(value[key], wanted) for key, wanted in part.items()
        )
    if isinstance(part, list):
        return isinstance(value, list) and all(
            any(contains(one, wanted) for one in value) for wanted in part
        )
    return bool(value == part) and isinstance(value, bool) == isinstance(part, bool)

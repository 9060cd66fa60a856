"""The search filter also applies to passages that were reached by a path."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf.struct_pb2 import Struct

from braid.vector.v1 import chunks_pb2
from services.agent_orchestrator.expansion.chunk_filter import passes


def struct(value: dict[str, Any]) -> Struct:
    made = Struct()
    made.update(value)
    return made


CHUNK = chunks_pb2.Chunk(
    document_id="d1", metadata=struct({"team": "ops", "tags": ["a", "b"], "at": {"year": 2024}})
)


@pytest.mark.parametrize(
    "metadata",
    [{}, {"team": "ops"}, {"tags": ["b"]}, {"tags": ["b", "a"]}, {"at": {"year": 2024}}],
)
def test_a_chunk_whose_metadata_contains_the_filter_passes(metadata: dict[str, Any]) -> None:
    assert passes(CHUNK, chunks_pb2.ChunkFilter(metadata=struct(metadata)))


@pytest.mark.parametrize(
    "metadata", [{"team": "dev"}, {"tags": ["c"]}, {"at": {"year": 1}}, {"team": {"a": 1}}]
)
def test_a_chunk_whose_metadata_lacks_the_filter_is_excluded(metadata: dict[str, Any]) -> None:
    assert not passes(CHUNK, chunks_pb2.ChunkFilter(metadata=struct(metadata)))


def test_a_document_filter_passes_only_chunks_of_its_documents() -> None:
    assert passes(CHUNK, chunks_pb2.ChunkFilter(document_ids=["d0", "d1"]))
    assert not passes(CHUNK, chunks_pb2.ChunkFilter(document_ids=["d0"]))
    assert passes(CHUNK, None)

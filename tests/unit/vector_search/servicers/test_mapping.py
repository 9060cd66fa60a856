"""Messages are mapped to the tier's own types; values that the store cannot hold are field errors."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf.struct_pb2 import Struct
from google.protobuf.timestamp_pb2 import Timestamp
from hypothesis import given
from hypothesis import strategies as st

from braid.vector.v1 import chunks_pb2, documents_pb2, search_pb2
from services.agent_orchestrator.ingest.documents import MAX_VALUES, UnreadableError, check_values
from services.runtime.errors import InvalidFieldError
from services.runtime.metadata_limits import (
    MAX_METADATA_BYTES,
    MAX_METADATA_DEPTH,
    MAX_METADATA_TEXT_BYTES,
)
from services.vector_search.servicers import mapping

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))
JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(TEXT, JSON, max_size=4))
def test_metadata_is_read_as_it_was_written(values: dict[str, Any]) -> None:
    struct = Struct()
    struct.update(values)
    assert mapping.metadata(struct, "f") == values


@pytest.mark.parametrize(
    "values", [{"a": "x\x00"}, {"\x00": 1}, {"a": [{"b": "\x00"}]}, {"a": float("nan")}]
)
def test_metadata_with_nul_or_nan_is_refused(values: dict[str, Any]) -> None:
    struct = Struct()
    struct.update(values)
    with pytest.raises(InvalidFieldError, match=r"document\.metadata"):
        mapping.metadata(struct, "document.metadata")


def test_a_time_out_of_range_is_refused() -> None:
    with pytest.raises(InvalidFieldError, match="as_of"):
        mapping.instant(Timestamp(seconds=10**15), "as_of")


def test_a_filter_with_nul_is_refused_by_position() -> None:
    with pytest.raises(InvalidFieldError, match=r"filter\.document_ids\[1\]"):
        mapping.chunk_filter(chunks_pb2.ChunkFilter(document_ids=["a", "b\x00"]))


def test_a_filter_with_unknown_fields_is_refused() -> None:
    later = chunks_pb2.ChunkFilter.FromString(b"\x0a\x01a\x1a\x01x")
    expected = r"^filter: has fields that are not known here: number 3$"
    for request in (later, search_pb2.TextSearchRequest(query="x", filter=later).filter):
        with pytest.raises(InvalidFieldError, match=expected):
            mapping.chunk_filter(request)


def test_a_filter_that_is_not_set_matches_everything() -> None:
    assert mapping.chunk_filter(search_pb2.TextSearchRequest(query="x").filter) == ((), {})


def test_a_chunk_without_values_has_no_vector_and_ids_are_lower_case() -> None:
    chunk = documents_pb2.ChunkInput(id="0A0B0C0D-0000-5000-8000-000000000000", content="x")
    new = mapping.new_document(documents_pb2.DocumentInput(chunks=[chunk]), "document")
    assert new.chunks[0].vector is None
    assert new.chunks[0].id == "0a0b0c0d-0000-5000-8000-000000000000"
    assert new.valid_time is None


@pytest.mark.parametrize(("bytes_over", "taken"), [(0, True), (1, False)])
def test_metadata_above_the_size_limit_is_refused(bytes_over: int, taken: bool) -> None:
    text = "x" * (MAX_METADATA_BYTES - 100)
    struct = Struct()
    struct.update({"text": text})
    struct.update({"text": text + "x" * (MAX_METADATA_BYTES - struct.ByteSize() + bytes_over)})
    assert struct.ByteSize() == MAX_METADATA_BYTES + bytes_over
    if taken:
        assert list(mapping.metadata(struct, "document.metadata")) == ["text"]
        return
    with pytest.raises(InvalidFieldError, match="at most 524288 bytes"):
        mapping.metadata(struct, "document.metadata")


def test_the_tier_accepts_all_metadata_that_ingestion_accepts() -> None:
    names: dict[str, Any] = {f"{number:05}": 0.5 for number in range(MAX_VALUES // 2 - 1)}
    rest = MAX_METADATA_TEXT_BYTES - 5 * len(names)
    largest = {**names, "é": "x" * (rest - 2)}
    check_values("", "", "", largest)
    message = Struct()
    message.update(largest)
    assert mapping.metadata(message, "metadata") == largest
    with pytest.raises(UnreadableError, match="bytes of names and texts"):
        check_values("", "", "", {**names, "é": "x" * (rest - 1)})


@pytest.mark.parametrize(
    ("levels", "taken"), [(MAX_METADATA_DEPTH, True), (MAX_METADATA_DEPTH + 1, False)]
)
def test_metadata_is_limited_to_the_depth_that_an_answer_can_hold(levels: int, taken: bool) -> None:
    values: Any = "deep"
    for _ in range(levels):
        values = {"in": values}
    struct = Struct()
    struct.update(values)
    if not taken:
        with pytest.raises(InvalidFieldError, match="levels"):
            mapping.metadata(struct, "document.metadata")
        return
    chunk = chunks_pb2.Chunk(metadata=struct)
    answer = search_pb2.HybridSearchResponse(hits=[chunks_pb2.ChunkHit(chunk=chunk)])
    assert mapping.metadata(struct, "document.metadata") == values
    assert search_pb2.HybridSearchResponse.FromString(answer.SerializeToString()) == answer

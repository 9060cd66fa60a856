"""Episodes that wait for the graph have a versioned stored format, and unknown versions are rejected."""

from __future__ import annotations

import json

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from braid.graph.v1 import ingest_pb2
from services.agent_orchestrator.ingest.pipeline.stored_episodes import (
    VERSION,
    decode_episodes,
    encode_episodes,
)


def test_episodes_are_read_as_they_were_stored() -> None:
    whole = ingest_pb2.EpisodeInput(
        chunk_id="5f0c1a52-7a57-5f0d-9d3d-1c1f0b9e7a11",
        document_id="d",
        document_title="Größe",
        source="file:///d",
        content='two\nlines and "quotes"',
        reference_time=Timestamp(seconds=-62135596800),
        version_time=Timestamp(seconds=1_700_000_000, nanos=123_456_789),
        valid_time=Timestamp(seconds=253402300799, nanos=999_999_999),
    )
    plain = ingest_pb2.EpisodeInput(chunk_id="5f0c1a52-7a57-5f0d-9d3d-1c1f0b9e7a12", content="x")
    assert decode_episodes(encode_episodes([whole, plain])) == [whole, plain]


def test_every_field_of_the_contract_is_part_of_the_stored_format() -> None:
    fields = {field.name for field in ingest_pb2.EpisodeInput.DESCRIPTOR.fields}
    whole = ingest_pb2.EpisodeInput(
        reference_time=Timestamp(), version_time=Timestamp(), valid_time=Timestamp()
    )
    [stored] = json.loads(encode_episodes([whole]))["episodes"]
    assert stored.keys() == fields - {"chunk_id"} | {"uuid"}


def test_an_unknown_version_is_rejected() -> None:
    stored = json.loads(encode_episodes([])) | {"version": VERSION + 1}
    with pytest.raises(ValueError, match="unknown version"):
        decode_episodes(json.dumps(stored).encode())

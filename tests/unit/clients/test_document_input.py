"""A document built from the caller's own chunks gets the same ids and hash as ingestion would assign."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta, timezone
from types import SimpleNamespace
from typing import Any

import pytest

from braid.agent.v1.ingest_pb2 import IngestDocumentRequest
from braid.vector.v1.documents_pb2 import DocumentInput
from braid_client import document_input
from braid_client.uploads import document_parts
from services.agent_orchestrator.ingest.formats.parsing import Upload
from services.agent_orchestrator.ingest.uploads import receive
from services.runtime.ids import chunk_id, content_sha256, document_hash
from tests.unit.clients.conftest import NAIVE
from tests.unit.clients.test_client_arguments import nested, within_itself

SINCE = datetime(2024, 3, 1, tzinfo=UTC)


def build_document(*texts: str, **options: Any) -> DocumentInput:
    return document_input("notes/1", texts, **{"space": "acme", **options})


async def ingested(text: str, **options: Any) -> Upload:
    """Returns the upload that ingestion receives for the same document."""

    async def parts() -> AsyncIterator[IngestDocumentRequest]:
        for part in document_parts(text, content_type="text/plain", **options):
            yield part

    place: Any = SimpleNamespace(hold=lambda _size: None)
    return (await receive(parts(), place, max_bytes=1_000))[0]


def test_chunk_ids_derive_from_content_and_occurrence() -> None:
    same, other, again = build_document("Same.", "Other.", "Same.").chunks
    assert [(each.start_char, each.end_char) for each in (same, other, again)] == [
        (0, 5),
        (6, 12),
        (13, 18),
    ]
    hashed = content_sha256("Same.")
    assert same.id == chunk_id("acme", "notes/1", hashed, 0)
    assert again.id == chunk_id("acme", "notes/1", hashed, 1)


async def test_the_content_hash_equals_the_one_of_ingestion() -> None:
    """Ingestion hashes what is sent: numbers have one form there, and times one zone."""
    described: dict[str, Any] = {
        "title": "T",
        "source": "s",
        "metadata": {"team": "core", "rank": 1},
    }
    since = SINCE.astimezone(timezone(timedelta(hours=2)))
    document = build_document("One.", valid_time=since, **described)
    upload = await ingested("One.", valid_time=since, **described)
    assert document.content_hash == document_hash(
        title=upload.title,
        source=upload.source,
        metadata=upload.metadata,
        valid_time=upload.valid_time.isoformat() if upload.valid_time else None,
        text=upload.data.decode(),
    )
    assert document.metadata["team"] == "core"
    assert document.valid_time.ToDatetime(tzinfo=UTC) == SINCE


def test_unknown_fields_are_left_unset() -> None:
    document = build_document("One.")
    assert not document.HasField("metadata")
    assert not document.HasField("valid_time")
    assert not document.chunks[0].embedding


def test_each_chunk_gets_its_embedding() -> None:
    document = build_document("One.", "Two.", embeddings=[[1.0, 0.0], [0.0, 1.0]])
    assert [list(chunk.embedding) for chunk in document.chunks] == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"valid_time": NAIVE}, ValueError),
        ({"valid_time": "2024"}, TypeError),
        ({"metadata": {"a": object()}}, ValueError),
        ({"metadata": {1: "x"}}, TypeError),
        ({"metadata": {"a": float("nan")}}, ValueError),
        ({"metadata": {"a": [float("inf")]}}, ValueError),
        ({"metadata": nested(300)}, ValueError),
        ({"metadata": nested(60)}, ValueError),
        ({"metadata": within_itself()}, ValueError),
        ({"title": 5}, TypeError),
        ({"embeddings": []}, ValueError),
        ({"embeddings": [["x"]]}, TypeError),
    ],
)
def test_an_invalid_argument_is_rejected(wrong: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        build_document("One.", **wrong)


def test_a_single_text_instead_of_a_list_is_rejected() -> None:
    with pytest.raises(TypeError, match="not one str"):
        document_input("notes/1", "One.", space="acme")

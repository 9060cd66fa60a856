"""Builds messages of the contract."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from google.protobuf.timestamp_pb2 import Timestamp

from braid.graph.v1 import ingest_pb2


def stamp(text: str) -> Timestamp:
    """Returns the first instant of a day."""
    found = Timestamp()
    found.FromDatetime(datetime.fromisoformat(text).replace(tzinfo=UTC))
    return found


def episode(document: str, title: str, content: str, **more: Any) -> ingest_pb2.EpisodeInput:
    """A chunk with a new id unless `chunk_id` is given."""
    return ingest_pb2.EpisodeInput(
        chunk_id=more.pop("chunk_id", str(uuid.uuid4())),
        document_id=document,
        document_title=title,
        content=content,
        source=f"{document}.md",
        **more,
    )


def fact(subject: str, relation: str, target: str, **more: Any) -> ingest_pb2.FactInput:
    """A fact between two names; types in `subject_type` and `object_type`."""
    ends = (more.pop("subject_type", ""), more.pop("object_type", ""))
    return ingest_pb2.FactInput(
        subject=ingest_pb2.EntityInput(name=subject, type=ends[0]),
        relation_type=relation,
        object=ingest_pb2.EntityInput(name=target, type=ends[1]),
        **more,
    )


def stream(*facts: ingest_pb2.FactInput, model: str = "") -> Iterator[ingest_pb2.AddFactsRequest]:
    """Yields one message for each fact."""
    for one in facts:
        yield ingest_pb2.AddFactsRequest(facts=[one], embedding_model=model)

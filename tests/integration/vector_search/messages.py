"""Builds the requests of the integration tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from braid.common.v1 import retrieval_pb2
from braid.vector.v1 import documents_pb2
from services.runtime.ids import chunk_id, content_sha256, document_hash

NORTH, EAST = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)


def document(
    document_id: str,
    *texts: str,
    space: str = "ours",
    at: Sequence[Sequence[float]] | None = None,
    **more: Any,
) -> documents_pb2.DocumentInput:
    """A document whose chunks are `texts`, with the vectors `at` if given."""
    vectors = at or [()] * len(texts)
    chunks = [
        documents_pb2.ChunkInput(
            id=chunk_id(space, document_id, content_sha256(text), 0),
            content=text,
            end_char=len(text),
            embedding=vector,
        )
        for text, vector in zip(texts, vectors, strict=True)
    ]
    hashed = document_hash(
        title=more.get("title", ""),
        source=more.get("source", ""),
        metadata=more.get("metadata", {}),
        valid_time=str(more.get("valid_time")),
        text="\n".join(texts),
    )
    return documents_pb2.DocumentInput(
        document_id=document_id, content_hash=hashed, chunks=chunks, **more
    )


def upsert(
    input_: documents_pb2.DocumentInput, model: str = ""
) -> documents_pb2.UpsertDocumentRequest:
    """A write of one document."""
    return documents_pb2.UpsertDocumentRequest(document=input_, embedding_model=model)


def embedding(values: Sequence[float], model: str = "compass") -> retrieval_pb2.QueryEmbedding:
    """A query's vector."""
    return retrieval_pb2.QueryEmbedding(embedding_model=model, values=values)

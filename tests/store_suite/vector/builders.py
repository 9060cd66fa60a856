"""One-line builders of documents, each of a few words and a direction, and of searches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from services.runtime.ids import chunk_id, content_sha256, document_hash
from services.vector_search.domain import (
    FusionKind,
    Model,
    NewChunk,
    NewDocument,
    QueryVector,
    Search,
    SearchResult,
    Vector,
)

SPACE = "suite"
MODEL = Model("compass", 3)
NORTH, EAST, UP = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)

Direction = tuple[float, float, float]


def direction(values: Direction) -> Vector:
    """Returns the values as a vector of length 1."""
    vector = np.array(values, dtype=np.float32)
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


def towards(values: Direction, model: str = MODEL.name) -> QueryVector:
    """Builds a query vector."""
    return QueryVector(model, direction(values))


def year(number: int) -> datetime:
    """Returns the first instant of a year."""
    return datetime(number, 1, 1, tzinfo=UTC)


def document(
    document_id: str,
    *texts: str,
    at: Sequence[Direction | None] | None = None,
    space: str = SPACE,
    title: str = "",
    source: str = "",
    metadata: dict[str, Any] | None = None,
    valid_time: datetime | None = None,
    times: Sequence[datetime | None] | None = None,
    path: str = "document",
) -> NewDocument:
    """Builds a document whose chunks are `texts` with vectors in the directions `at` (by default all north).

    `times` are the valid times of single chunks.
    """
    directions = at or [NORTH] * len(texts)
    return NewDocument(
        path=path,
        document_id=document_id,
        title=title,
        source=source,
        content_hash=document_hash(
            title=title,
            source=source,
            metadata=metadata or {},
            valid_time=valid_time.isoformat() if valid_time else None,
            text="\n".join(texts),
        ),
        metadata=metadata or {},
        valid_time=valid_time,
        chunks=tuple(
            replace(chunk, valid_time=time)
            for chunk, time in zip(
                _chunks(space, document_id, texts, directions),
                times or [None] * len(texts),
                strict=True,
            )
        ),
    )


def _chunks(
    space: str, document_id: str, texts: Sequence[str], directions: Sequence[Direction | None]
) -> tuple[NewChunk, ...]:
    chunks = []
    start = 0
    for i, (text, values) in enumerate(zip(texts, directions, strict=True)):
        key = chunk_id(space, document_id, content_sha256(text), texts[:i].count(text))
        vector = None if values is None else direction(values)
        chunks.append(NewChunk(key, text, start, start + len(text), vector))
        start += len(text) + 1
    return tuple(chunks)


def scattered(count: int) -> list[NewDocument]:
    """Builds documents of one chunk each, with random but reproducible words and independent random directions."""
    chance = np.random.default_rng(1)
    return [
        document(
            f"d{number}",
            " ".join([f"n{number}", *chance.choice(["red", "moon", "salt", "tin"], size=size)]),
            at=[tuple(chance.uniform(-0.2, 1, size=3))],
        )
        for number, size in enumerate(chance.integers(1, 9, size=count))
    ]


def words(text: str, **more: Any) -> Search:
    """Builds a search by words."""
    return Search(text=text, **more)


def meaning(values: Direction, **more: Any) -> Search:
    """Builds a search by vector."""
    return Search(vector=towards(values), **more)


def both(text: str, values: Direction, **more: Any) -> Search:
    """Builds a fused search, by weighted scores unless `fusion` is given."""
    return Search(
        text=text, vector=towards(values), **{"fusion": FusionKind.WEIGHTED_SCORE, **more}
    )


def contents(result: SearchResult) -> list[str]:
    """Returns the contents of the hits, best first."""
    return [hit.chunk.content for hit in result.hits]

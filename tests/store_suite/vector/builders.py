"""Documents for the store suite: a few words and a direction each, told in one line."""

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
    """The values as a vector of length 1."""
    vector = np.array(values, dtype=np.float32)
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


def towards(values: Direction, model: str = MODEL.name) -> QueryVector:
    """A query vector."""
    return QueryVector(model, direction(values))


def year(number: int) -> datetime:
    """The first instant of a year."""
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
    """A document whose chunks are `texts`, pointing `at` directions (north where none are given).

    `times` are since when chunks hold by themselves.
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
    for i, (text, way) in enumerate(zip(texts, directions, strict=True)):
        key = chunk_id(space, document_id, content_sha256(text), texts[:i].count(text))
        vector = None if way is None else direction(way)
        chunks.append(NewChunk(key, text, start, start + len(text), vector))
        start += len(text) + 1
    return tuple(chunks)


def scattered(count: int) -> list[NewDocument]:
    """Documents of a chunk each whose words and directions have nothing to do with each other, the same every time."""
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
    """A search by words."""
    return Search(text=text, **more)


def meaning(values: Direction, **more: Any) -> Search:
    """A search by meaning."""
    return Search(vector=towards(values), **more)


def both(text: str, values: Direction, **more: Any) -> Search:
    """A fused search, by weighted scores unless `fusion` says otherwise."""
    return Search(
        text=text, vector=towards(values), **{"fusion": FusionKind.WEIGHTED_SCORE, **more}
    )


def contents(result: SearchResult) -> list[str]:
    """What was found, best first."""
    return [hit.chunk.content for hit in result.hits]

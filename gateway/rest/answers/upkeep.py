"""What is amiss in the stores, and the models of a space."""

from __future__ import annotations

from typing import Literal, TypeAlias

from gateway.rest.answers.shape import Shape

InconsistencyName: TypeAlias = Literal[
    "CHUNK_WITHOUT_EPISODE",
    "EPISODE_WITHOUT_CHUNK",
    "UNKNOWN_DOCUMENT",
    "ENTITY_WITHOUT_MENTION",
    "DEAD_JOB",
    "UNSPECIFIED",
]


class Inconsistency(Shape):
    """One thing that is amiss; `document_id` is null where it belongs to none."""

    kind: InconsistencyName
    id: str
    document_id: str | None


class InconsistencyCount(Shape):
    """How many of a kind were found, and mended."""

    kind: InconsistencyName
    found: int
    repaired: int


class Consistency(Shape):
    """What both stores hold, and what is amiss; `pending` is what unfinished jobs are at."""

    consistent: bool
    chunks: int
    episodes: int
    graph_documents: int
    entities: int
    pending: int
    counts: list[InconsistencyCount]
    listed: list[Inconsistency]


class SpaceModels(Shape):
    """The space's embedding model, null while it holds nothing, and the one that the settings name."""

    embedding_model: str | None
    configured_embedding_model: str

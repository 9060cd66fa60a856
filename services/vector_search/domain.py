"""Domain types of the vector tier: documents and chunks, searches and hits. Independent of gRPC and SQL."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from services.models.embedding.query_embedder import VectorSource
from services.runtime.errors import FieldError, InvalidFieldError

Vector = NDArray[np.float32]
Metadata = dict[str, Any]

# Stands for an open end.
FOREVER = datetime.max.replace(tzinfo=UTC)
# HNSW over half-precision vectors supports no more.
MAX_DIMENSION = 4000


class VectorPath(IntEnum):
    """How the vector part of a search ran; numbered like the contract's enum."""

    NOT_RUN = 0
    EXACT = 1
    HNSW = 2


class FusionKind(IntEnum):
    """How lists are fused; numbered like the contract's enum. NONE: there is only one list, whose scores are kept."""

    NONE = 0
    WEIGHTED_SCORE = 1
    RECIPROCAL_RANK = 2


class TextMatch(IntEnum):
    """How words are matched; numbered like the contract's enum. PHRASE and PREFIX are only for searches by words."""

    ANY = 1
    PHRASE = 2
    PREFIX = 3


# How many words a prefix may match.
MAX_COMPLETIONS = 50


@dataclass(frozen=True, slots=True)
class Model:
    """An embedding model: its name and the dimension of its vectors."""

    name: str
    dimension: int


@dataclass(frozen=True, slots=True)
class QueryVector:
    """A query's vector (L2-normalized, float32) and the name of the model that made it."""

    model: str
    values: Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """One search: by vector, by words (`text`), or by both, which are then fused.

    `text_weight` and `fusion` apply to fused searches, `min_score` is on the scale of the hits' score; `use_cache` is
    whether a cached result may be returned.
    """

    text: str | None = None
    vector: QueryVector | None = None
    limit: int = 10
    text_weight: float = 0.3
    fusion: FusionKind = FusionKind.NONE
    min_score: float | None = None
    document_ids: tuple[str, ...] = ()
    metadata: Metadata = field(default_factory=dict)
    as_of: datetime | None = None
    match: TextMatch = TextMatch.ANY
    use_cache: bool = True


@dataclass(frozen=True, slots=True)
class SpaceState:
    """A space's revision; `flags_current` is False if a version with a future valid time came into force after it.

    `model` is the space's embedding model; None while it is empty.
    """

    revision: int
    flags_current: bool
    model: Model | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A stored chunk, and its document as of one version."""

    id: str
    document_id: str
    title: str
    source: str
    content: str
    ordinal: int
    start_char: int
    end_char: int
    metadata: Metadata
    valid_time: datetime
    page: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """The parts of a score; None where a part did not run. `reading` is the cross-encoder's judgment, 0 to 1."""

    vector: float | None = None
    text: float | None = None
    vector_fused: float | None = None
    text_fused: float | None = None
    vector_rank: int | None = None
    text_rank: int | None = None
    reading: float | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A found chunk, its score and the score's parts."""

    chunk: Chunk
    score: float
    scores: Scores


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits, best first (equal scores by id), the revision they were read at, and the space's model.

    `cached` is True if they were found by an earlier search; `embedding` is the source of the vector used. `path` is
    NOT_RUN without a vector, or if the vector is not of the space's model. `chunk_count` is the number of the space's
    current chunks.
    """

    hits: list[Hit]
    revision: int
    path: VectorPath
    model: Model | None
    chunk_count: int = 0
    cached: bool = False
    embedding: VectorSource = VectorSource.NONE


@dataclass(frozen=True, slots=True)
class ChunkScore:
    """Exact scores of one chunk; `vector` is None if the query vector is not of the space's model.

    `text_fused` and `score` are as in a fused search with weighted scores; `in_force` is whether a version of its
    document contains it at the requested instant.
    """

    chunk_id: str
    vector: float | None
    text: float
    text_fused: float
    score: float
    in_force: bool = True


@dataclass(frozen=True, slots=True)
class NewChunk:
    """A chunk to store; `vector` is None if the tier is to embed it.

    `valid_time` is the start of the chunk's own validity, None if it is valid as long as its version.
    """

    id: str
    content: str
    start_char: int
    end_char: int
    vector: Vector | None
    page: int = 0
    valid_time: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDocument:
    """A document's content to store. `path` is its field in the request, for errors about it."""

    path: str
    document_id: str
    title: str
    source: str
    content_hash: str
    metadata: Metadata
    valid_time: datetime | None
    chunks: tuple[NewChunk, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The outcome of writing one document, with ids of chunks in order.

    `added` did not exist before; `reindexed` existed, and have the text and vectors of a new title.
    """

    document_id: str
    version: int
    valid_from: datetime
    unchanged: bool = False
    added: tuple[str, ...] = ()
    reindexed: tuple[str, ...] = ()
    retired: int = 0


@dataclass(frozen=True, slots=True)
class WriteResult:
    """One outcome for each document in the given order, and the space's revision after the write."""

    outcomes: list[Outcome]
    revision: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A stored document's version in force."""

    document_id: str
    title: str
    source: str
    metadata: Metadata
    version: int
    valid_time: datetime
    create_time: datetime
    chunk_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentVersion:
    """A version of a document; `end_time` is None until a later version ends it."""

    version: int
    title: str
    source: str
    valid_time: datetime
    end_time: datetime | None
    create_time: datetime
    chunk_count: int


@dataclass(frozen=True, slots=True)
class Deletion:
    """The numbers of removed versions and chunks, with the chunks' ids if this call removed them."""

    versions: int
    chunks: int
    chunk_ids: list[str]


@dataclass(frozen=True, slots=True)
class ChunkRef:
    """A chunk's id, and the document that it belongs to."""

    chunk_id: str
    document_id: str


@dataclass(frozen=True, slots=True)
class SpaceStats:
    """A space's counts; `model` is None while it is empty."""

    documents: int
    chunks: int
    model: Model | None
    revision: int


@dataclass(frozen=True, slots=True)
class TextLanguage:
    """The language of a space's text search, and the names of all available ones."""

    name: str
    available: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """A model of a space, whether searches and writes use it, and how many chunks have a vector of it.

    `unindexed` of these vectors are not in a large space's index yet.
    """

    model: Model
    active: bool
    embedded: int
    unindexed: int = 0


@dataclass(frozen=True, slots=True)
class SpaceModels:
    """A space's models by name, and how many chunks it has."""

    models: list[ModelStatus]
    chunks: int


@dataclass(frozen=True, slots=True)
class UnembeddedChunk:
    """A chunk without a vector of a model, the text to embed, and the text's SHA-256 in hexadecimal."""

    chunk_id: str
    text: str
    text_sha256: str


@dataclass(frozen=True, slots=True)
class ChunkVector:
    """A vector (L2-normalized, float32) of a stored chunk, and the SHA-256 of the embedded text."""

    chunk_id: str
    text_sha256: str
    values: Vector


def unit_vector(values: Iterable[float], field: str) -> Vector:
    """Returns the values as float32 of length 1.

    Raises InvalidFieldError for NaN, infinity, zeros and too many values.
    """
    vector: Vector = np.array(values, dtype=np.float32)
    if len(vector) > MAX_DIMENSION:
        raise InvalidFieldError(
            FieldError(field, f"must not have more than {MAX_DIMENSION} values")
        )
    # In double precision, as squares and sums of large floats overflow in single precision.
    wide = vector.astype(np.float64)
    length = float(np.linalg.norm(wide))
    if not np.isfinite(length):
        raise InvalidFieldError(FieldError(field, "must consist of finite numbers"))
    if length == 0:
        raise InvalidFieldError(FieldError(field, "must not be all zeros"))
    return (wide / length).astype(np.float32)


def metadata_of(text: str) -> Metadata:
    """Parses metadata from its JSON."""
    if text == "{}":
        return {}
    metadata: Any = json.loads(text)
    return dict(metadata)

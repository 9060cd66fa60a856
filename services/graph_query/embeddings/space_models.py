"""A space's embedder and the query vector of a search: always of the model recorded for the space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from services.graph_query.core.store import (
    CHANGING,
    MAX_DIMENSION,
    SpaceState,
)
from services.graph_query.embeddings.domain import RETRY_SECONDS, EmbeddingStore, Vectors
from services.models.embedding.embedder import Embedder
from services.models.embedding.registry import embedder_of, length_of
from services.models.embedding.vectors import Matrix
from services.runtime.errors import (
    EmbedderUnavailableError,
    FieldError,
    InvalidFieldError,
    OverloadedError,
    WrongStateError,
)
from services.runtime.telemetry import get_logger

if TYPE_CHECKING:
    from services.models.embedding.vectors import Matrix

EXACT_LIMIT = 1_000


_FIELD = "query_embedding.values"


class DegradationReason(Enum):
    """Why an answer is degraded: vectors left out although the space has some, or the requested order not available."""

    EMBEDDER = "embedder"
    MODEL = "model"
    RERANKER = "reranker"
    LATE = "late"


@dataclass(frozen=True, slots=True)
class QueryVector:
    """A query's vector as given by the caller."""

    model: str
    values: Sequence[float]


def embedder_as_read(embedder: Embedder, state: SpaceState) -> Embedder | None:
    """Returns the embedder of a space's model as of a read; None during a change, or if its model is not configured."""
    if state.model == CHANGING:
        return None
    return embedder_of(embedder, state.model, state.dimension)


async def query_vector(
    embedder: Embedder,
    query: str,
    given: QueryVector | None,
    state: SpaceState,
    *,
    text_only: bool = False,
) -> tuple[Sequence[float] | None, DegradationReason | None]:
    """Returns a vector of the space's model, or why there is none although the space has vectors.

    Raises InvalidFieldError for a given vector that the index cannot be queried with.
    """
    if state.vectors == 0:
        return None, None
    if text_only:
        return None, DegradationReason.EMBEDDER
    if given is not None and given.model == state.model:
        _check(given.values, state.dimension)
        return given.values, None
    own = embedder_as_read(embedder, state)
    if own is None:
        return None, DegradationReason.MODEL
    return await _embed_query(own, query, state.dimension)


async def _embed_query(
    embedder: Embedder, query: str, dimension: int
) -> tuple[Sequence[float] | None, DegradationReason | None]:
    """Embeds the query; returns no vector if the model's vectors differ in length from the space's."""
    try:
        row = (await embedder.embed_queries([query]))[0]
    except EmbedderUnavailableError:
        return None, DegradationReason.EMBEDDER
    if dimension not in (0, len(row)):
        return None, DegradationReason.MODEL
    return [float(value) for value in row], None


def _check(values: Sequence[float], dimension: int) -> None:
    """Raises InvalidFieldError for an unusable vector; `dimension` is that of the space's vectors, 0 when unknown."""
    if dimension and len(values) != dimension:
        raise InvalidFieldError(FieldError(_FIELD, f"must have {dimension} values"))
    if len(values) > MAX_DIMENSION:
        raise InvalidFieldError(FieldError(_FIELD, f"must have at most {MAX_DIMENSION} values"))
    if not any(values):
        raise InvalidFieldError(FieldError(_FIELD, "must not be all zeros"))


_NOT_THIS = "The space's vectors are of a model, or of a length, that is not configured."


# The maximum number of spaces that are logged with a warning; the others are not logged.
_MAX_WARNED = 1_000


class Embedded(NamedTuple):
    """Vectors, one per row, and the model that made them."""

    rows: Matrix
    model: str


class SpaceModels:
    """The embedding model of each space, and the length of its vectors."""

    def __init__(self, store: EmbeddingStore, embedder: Embedder) -> None:
        """`embedder` is the configured one; it may offer other models too."""
        self._store = store
        self._embedder = embedder
        self._warned: set[str] = set()

    async def embedder(self, space: str) -> Embedder:
        """Returns the space's embedder.

        Raises OverloadedError during a change, WrongStateError if its model is not available.
        """
        return self._of(await self._store.vectors(space))

    async def embed(self, space: str, texts: Sequence[str], model: str = "") -> Embedded | None:
        """Embeds texts with a model, "" for the space's; None if there are no vectors that the space accepts."""
        stored = await self._store.vectors(space)
        if model not in ("", self._embedder.model, stored.model):
            # The provider is sent any model name, so names given only by the caller are not requested.
            return None
        try:
            own = self._of(stored, model)
            rows = await own.embed(texts)
        except WrongStateError:
            self._warn_once(space)
            return None
        except (EmbedderUnavailableError, OverloadedError):
            return None
        if not stored.accepts(own.model, rows.shape[1]):
            self._warn_once(space)
            return None
        return Embedded(rows, own.model)

    async def length(self, space: str, model: str) -> int | None:
        """Returns the length of the model's vectors in the space; None until the first vector determines it."""
        stored = await self._store.vectors(space)
        if stored.model == model and stored.dimension:
            return stored.dimension
        return length_of(self._embedder) if model == self._embedder.model else None

    def _of(self, stored: Vectors, model: str = "") -> Embedder:
        if stored.changing_to:
            raise OverloadedError(RETRY_SECONDS)
        name = model or stored.model
        # The length of the space's vectors does not apply to another model.
        length = stored.dimension if name == stored.model else None
        own = embedder_of(self._embedder, name, length)
        if own is None or not stored.accepts(own.model, length_of(own)):
            raise WrongStateError(_NOT_THIS)
        return own

    def _warn_once(self, space: str) -> None:
        """Logs a warning, once per space."""
        if space not in self._warned and len(self._warned) < _MAX_WARNED:
            self._warned.add(space)
            get_logger("graph").warning("texts go without vectors", space=space, reason=_NOT_THIS)

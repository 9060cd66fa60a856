"""The vector that a search compares with: the caller's where it fits the space, else one made here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from services.graph_query.store import CHANGING, MAX_DIMENSION, SpaceState
from services.models.embedder import Embedder
from services.models.registry import embedder_of
from services.runtime.errors import EmbedderUnavailableError, FieldError, InvalidFieldError

_FIELD = "query_embedding.values"


class Shortfall(Enum):
    """Why an answer is less than it could be: vectors left out although the space has some, or the order not had."""

    EMBEDDER = "embedder"
    MODEL = "model"
    RERANKER = "reranker"
    LATE = "late"


@dataclass(frozen=True, slots=True)
class QueryVector:
    """A query's vector as its caller made it."""

    model: str
    values: Sequence[float]


async def query_vector(
    embedder: Embedder,
    query: str,
    given: QueryVector | None,
    state: SpaceState,
    *,
    text_only: bool = False,
) -> tuple[Sequence[float] | None, Shortfall | None]:
    """A vector of the space's model, or why there is none although the space has vectors.

    InvalidFieldError for a given vector that the index cannot be asked with.
    """
    if state.vectors == 0:
        return None, None
    if text_only:
        return None, Shortfall.EMBEDDER
    if given is not None and given.model == state.model:
        _check(given.values, state.dimension)
        return given.values, None
    changing = state.model == CHANGING
    own = None if changing else embedder_of(embedder, state.model, state.dimension)
    if own is None:
        return None, Shortfall.MODEL
    return await _made(own, query, state.dimension)


async def _made(
    embedder: Embedder, query: str, dimension: int
) -> tuple[Sequence[float] | None, Shortfall | None]:
    """A vector made here; none when the model makes them longer or shorter than the space has them."""
    try:
        row = (await embedder.embed([query]))[0]
    except EmbedderUnavailableError:
        return None, Shortfall.EMBEDDER
    if dimension not in (0, len(row)):
        return None, Shortfall.MODEL
    return [float(value) for value in row], None


def _check(values: Sequence[float], dimension: int) -> None:
    """`dimension` is that of the space's vectors, 0 when it is not known."""
    if dimension and len(values) != dimension:
        raise InvalidFieldError(FieldError(_FIELD, f"must have {dimension} values"))
    if len(values) > MAX_DIMENSION:
        raise InvalidFieldError(FieldError(_FIELD, f"must have at most {MAX_DIMENSION} values"))
    if not any(values):
        raise InvalidFieldError(FieldError(_FIELD, "must not be all zeros"))

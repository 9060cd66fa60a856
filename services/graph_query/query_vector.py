"""The vector that a search compares with: the caller's where it fits the space, else one made here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from services.graph_query.store import SpaceState
from services.models.embedder import Embedder
from services.models.registry import ManyModels
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
    own = _of_model(embedder, state.model)
    if given is not None and given.model == state.model:
        _check(given.values, own.dimension if own else len(given.values))
        return given.values, None
    if own is None:
        return None, Shortfall.MODEL
    try:
        matrix = await own.embed([query])
    except EmbedderUnavailableError:
        return None, Shortfall.EMBEDDER
    return [float(value) for value in matrix[0]], None


def _of_model(embedder: Embedder, model: str) -> Embedder | None:
    """The embedder of the model that the space is embedded with."""
    if embedder.model == model:
        return embedder
    return embedder.named(model) if isinstance(embedder, ManyModels) else None


def _check(values: Sequence[float], dimension: int) -> None:
    if len(values) != dimension:
        raise InvalidFieldError(FieldError(_FIELD, f"must have {dimension} values"))
    if not any(values):
        raise InvalidFieldError(FieldError(_FIELD, "must not be all zeros"))

"""The embedder of a space: that of its recorded model, whatever the settings say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from services.graph_query.embeddings.store import RETRY_SECONDS, EmbeddingStore, Vectors
from services.models.embedder import Embedder
from services.models.registry import embedder_of
from services.runtime.errors import EmbedderUnavailableError, OverloadedError, WrongStateError

if TYPE_CHECKING:
    from services.models.vectors import Matrix


class Embedded(NamedTuple):
    """Vectors, one a row, and the model that made them."""

    rows: Matrix
    model: str


class SpaceModels:
    """Which model embeds a space, and how many values its vectors have there."""

    def __init__(self, store: EmbeddingStore, embedder: Embedder) -> None:
        """`embedder` is the configured one; it may have others beside it."""
        self._store = store
        self._embedder = embedder

    async def embedder(self, space: str) -> Embedder:
        """What embeds it. OverloadedError while it changes over, WrongStateError when its model is not to be had."""
        return self._of(await self._store.vectors(space))

    async def embed(self, space: str, texts: Sequence[str], model: str = "") -> Embedded | None:
        """Vectors of a model, "" for the space's; None when the space would not take them, or none is to be had."""
        held = await self._store.vectors(space)
        try:
            own = embedder_of(self._embedder, model) if model else self._of(held)
            rows = await own.embed(texts) if own is not None else None
        except (EmbedderUnavailableError, OverloadedError, WrongStateError):
            return None
        if own is None or rows is None or not held.takes(own.model, rows.shape[1]):
            return None
        return Embedded(rows, own.model)

    async def length(self, space: str, model: str) -> int | None:
        """Values of the model's vectors in the space; None where the first one will tell."""
        held = await self._store.vectors(space)
        if held.model == model and held.dimension:
            return held.dimension
        return _length(self._embedder) if model == self._embedder.model else None

    def _of(self, held: Vectors) -> Embedder:
        if held.changing_to:
            raise OverloadedError(RETRY_SECONDS)
        own = embedder_of(self._embedder, held.model)
        if own is None or not held.takes(own.model, _length(own)):
            raise WrongStateError("The space's vectors are of a model that is not configured.")
        return own


def _length(embedder: Embedder) -> int | None:
    """Values of a model's vectors; None for one that is not known and has not answered yet."""
    try:
        return embedder.dimension
    except EmbedderUnavailableError:
        return None

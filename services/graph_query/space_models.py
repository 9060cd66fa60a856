"""The embedder of a space: that of its recorded model, whatever the settings say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from services.graph_query.embeddings.store import RETRY_SECONDS, EmbeddingStore, Vectors
from services.models.embedder import Embedder
from services.models.registry import embedder_of, length_of
from services.runtime.errors import EmbedderUnavailableError, OverloadedError, WrongStateError
from services.runtime.telemetry import get_logger

if TYPE_CHECKING:
    from services.models.vectors import Matrix


_NOT_THIS = "The space's vectors are of a model, or of a length, that is not configured."
# Spaces that are warned of; all others are not.
_MOST_TOLD = 1_000


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
        self._told: set[str] = set()

    async def embedder(self, space: str) -> Embedder:
        """What embeds it. OverloadedError while it changes over, WrongStateError when its model is not to be had."""
        return self._of(await self._store.vectors(space))

    async def embed(self, space: str, texts: Sequence[str], model: str = "") -> Embedded | None:
        """Vectors of a model, "" for the space's; None when the space would not take them, or none is to be had."""
        held = await self._store.vectors(space)
        if model not in ("", self._embedder.model, held.model):
            # Any name goes to the provider: none that the caller alone gives is asked for.
            return None
        try:
            own = self._of(held, model)
            rows = await own.embed(texts)
        except WrongStateError:
            self._tell(space)
            return None
        except (EmbedderUnavailableError, OverloadedError):
            return None
        if not held.takes(own.model, rows.shape[1]):
            self._tell(space)
            return None
        return Embedded(rows, own.model)

    async def length(self, space: str, model: str) -> int | None:
        """Values of the model's vectors in the space; None where the first one will tell."""
        held = await self._store.vectors(space)
        if held.model == model and held.dimension:
            return held.dimension
        return length_of(self._embedder) if model == self._embedder.model else None

    def _of(self, held: Vectors, model: str = "") -> Embedder:
        if held.changing_to:
            raise OverloadedError(RETRY_SECONDS)
        name = model or held.model
        # The length of the space's vectors says nothing of another model's.
        length = held.dimension if name == held.model else None
        own = embedder_of(self._embedder, name, length)
        if own is None or not held.takes(own.model, length_of(own)):
            raise WrongStateError(_NOT_THIS)
        return own

    def _tell(self, space: str) -> None:
        """Warns once a space."""
        if space not in self._told and len(self._told) < _MOST_TOLD:
            self._told.add(space)
            get_logger("graph").warning("texts go without vectors", space=space, reason=_NOT_THIS)

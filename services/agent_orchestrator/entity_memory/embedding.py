"""Vectors of names, computed with the space's embedding model."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from cachetools import TTLCache

from services.agent_orchestrator.clients.space_models import Recorded
from services.models.embedding.embedder import Embedder
from services.models.embedding.registry import embedder_of, has_length
from services.models.embedding.vectors import Matrix
from services.runtime.context import current_call
from services.runtime.errors import BraidError
from services.runtime.telemetry import get_logger

# A process uses a cached model for at most this many seconds after the space has changed its model.
_KEEP_SECONDS = 30.0
_MAX_SPACES = 10_000


class Vectors(NamedTuple):
    """Vectors and the model that computed them."""

    model: str
    rows: Matrix


class SpaceVectors:
    """Embeds with the model of the current call's space."""

    def __init__(
        self, recorded: Callable[[], Awaitable[Recorded]], queries: Embedder, documents: Embedder
    ) -> None:
        """`recorded` asks the vector tier for the model of the current call's space."""
        self._recorded = recorded
        self._queries = queries
        self._documents = documents
        self._known: TTLCache[str, Recorded] = TTLCache(_MAX_SPACES, _KEEP_SECONDS)

    async def of_query(self, text: str) -> Vectors | None:
        """Embeds a query; returns None if the model is unavailable."""
        return await self._embed(self._queries, lambda found: found.embed_queries([text]))

    async def of_texts(self, texts: Sequence[str]) -> Vectors | None:
        """Embeds texts to store; returns None if the model is unavailable."""
        return await self._embed(self._documents, lambda found: found.embed(texts))

    async def model(self) -> str | None:
        """Returns the model that `of_texts` uses; None if none is available."""
        try:
            found = await self._embedder(self._documents)
        except (BraidError, TimeoutError):
            return None
        return None if found is None else found.model

    async def _embed(
        self,
        preferred: Embedder,
        embed: Callable[[Embedder], Awaitable[Matrix]],
    ) -> Vectors | None:
        try:
            found = await self._embedder(preferred)
            return None if found is None else Vectors(found.model, await embed(found))
        except (BraidError, TimeoutError) as error:
            get_logger("entity_memory").warning("no vector", cause=type(error).__name__)
            return None

    async def _embedder(self, preferred: Embedder) -> Embedder | None:
        """Returns the embedder of the space's model."""
        recorded = await self._model()
        found = embedder_of(preferred, *recorded) or embedder_of(self._documents, *recorded)
        return found if found is not None and has_length(found, recorded.dimension) else None

    async def _model(self) -> Recorded:
        space = current_call().space
        known = self._known.get(space)
        if known is None:
            known = await self._recorded()
            self._known[space] = known
        return known

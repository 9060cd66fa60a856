"""The embedder of the current call's space: its recorded model's, regardless of the settings."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from services.agent_orchestrator.clients.space_models import Recorded, SpaceModels
from services.agent_orchestrator.jobs.time_slice import WaitingError
from services.models.embedding.embedder import Embedder
from services.models.embedding.registry import has_length
from services.models.embedding.vectors import Matrix
from services.runtime.context import current_call

AGAIN_SECONDS = 30.0
_NOTHING = Recorded("", 0)


class Registry(Protocol):
    """Embedders by model."""

    default: Embedder

    def named(self, model: str, dimension: int | None = None) -> Embedder | None:
        """Returns the model's embedder, "" for the configured one; None if it is not available.

        `dimension` is the dimension of the space's vectors, for models that support several.
        """
        ...


class SingleModel:
    """Implements `Registry` with only the configured model."""

    def __init__(self, embedder: Embedder) -> None:
        self.default = embedder

    def named(self, model: str, _dimension: int | None = None) -> Embedder | None:
        """See `Registry`."""
        return self.default if model in ("", self.default.model) else None


class SpaceEmbedder:
    """Implements `Embedder` for work within a space. `renew` looks up the space's model; before that it is the
    configured one.
    """

    def __init__(
        self, registry: Registry, recorded: Callable[[], Awaitable[Recorded]], models: SpaceModels
    ) -> None:
        """`recorded` returns the model of the current call's space; `models` caches it."""
        self._registry = registry
        self._recorded = recorded
        self._models = models

    @property
    def model(self) -> str:
        """See `Embedder`."""
        return self._embedder().model

    @property
    def dimension(self) -> int:
        """See `Embedder`."""
        return self._embedder().dimension

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """See `Embedder`. Raises WaitingError for vectors that the space would refuse: the length of an unlisted model
        is known only from its answers.
        """
        length = self._recorded_model().dimension
        return _accepted(await self._embedder().embed(texts), length)

    async def embed_queries(self, queries: Sequence[str]) -> Matrix:
        """See `embed`."""
        length = self._recorded_model().dimension
        return _accepted(await self._embedder().embed_queries(queries), length)

    async def close(self) -> None:
        """Does nothing: the registry closes its embedders."""

    async def renew(self) -> bool:
        """Looks up the space's model; returns whether it has changed. Raises WaitingError if it is not available."""
        space, recorded = current_call().space, await self._recorded()
        found = self._registry.named(*recorded)
        if found is None or not has_length(found, recorded.dimension):
            raise _model_unavailable()
        before = self._embedder()
        self._models.record(space, recorded)
        return found is not before

    def _recorded_model(self) -> Recorded:
        return self._models.recorded(current_call().space) or _NOTHING

    def _embedder(self) -> Embedder:
        return self._registry.named(*self._recorded_model()) or self._registry.default


def _accepted(rows: Matrix, length: int) -> Matrix:
    if length not in (0, rows.shape[1]):
        raise _model_unavailable()
    return rows


def _model_unavailable() -> WaitingError:
    return WaitingError(
        "the space is embedded with a model, or with vectors of a length, that is not configured",
        AGAIN_SECONDS,
    )

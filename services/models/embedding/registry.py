"""Embedders by model name: the configured one, and those with which spaces were embedded before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from services.models.breaker import Breakers
from services.models.embedding.embedder import Embedder
from services.models.embedding.factory import build_embedder
from services.models.embedding.local_models import LOCAL_MODELS
from services.models.embedding.openai_models import DIMENSIONS, supports_dimension
from services.models.embedding.settings import EmbeddingSettings
from services.models.embedding.vectors import Matrix
from services.runtime.errors import EmbedderUnavailableError


@runtime_checkable
class SupportsOtherModels(Protocol):
    """An embedder that can provide embedders of other models."""

    def named(self, model: str, dimension: int | None = None) -> Embedder | None:
        """See `EmbedderRegistry`."""
        ...


def embedder_of(embedder: Embedder, model: str, dimension: int | None = None) -> Embedder | None:
    """Returns a model's embedder, "" for the configured one; None if it is not available.

    `dimension` is the length of the space's vectors, None or 0 if unknown; see `EmbedderRegistry.named`.
    """
    own = model in ("", embedder.model)
    if own and has_length(embedder, dimension):
        return embedder
    if isinstance(embedder, SupportsOtherModels):
        return embedder.named(model, dimension)
    return embedder if own else None


def length_of(embedder: Embedder) -> int | None:
    """Returns the length of a model's vectors; None for an unlisted model that has not answered yet."""
    try:
        return embedder.dimension
    except EmbedderUnavailableError:
        return None


def has_length(embedder: Embedder, dimension: int | None) -> bool:
    """Returns whether its vectors have this length, as far as both are known (`dimension` None or 0: unknown)."""
    return not dimension or length_of(embedder) in (None, dimension)


class EmbedderRegistry:
    """Builds each embedder once, on first request; weights and libraries load on first use.

    Embedders are kept until the end, and any name is sent to the provider. Request only models and dimensions from
    settings and spaces, never a name given by a caller.

    Used as an `Embedder`, it is the configured one.
    """

    def __init__(self, settings: EmbeddingSettings, default: Embedder, breakers: Breakers) -> None:
        """`default` is the configured model's embedder, which its owner closes.

        `breakers` are those that it was built with.
        """
        self._settings = settings
        self._breakers = breakers
        self._built: dict[tuple[str, int | None], Embedder] = {}
        self.default = default

    def named(self, model: str, dimension: int | None = None) -> Embedder | None:
        """Returns the model's embedder, "" for the configured one; None if the settings do not say how to reach it.

        `dimension` is the length of a space's vectors, None or 0 if unknown. It is requested if the provider supports
        it; for other models the caller must check the length of the result.
        """
        if model in ("", self.default.model) and not self._makes_other_dimensions(dimension):
            return self.default
        model = model or self.default.model
        key = (model, _asked(model, dimension))
        if key not in self._built:
            found = self._build(*key)
            if found is None:
                return None
            self._built[key] = found
        return self._built[key]

    @property
    def model(self) -> str:
        """Returns the configured model."""
        return self.default.model

    @property
    def dimension(self) -> int:
        """Returns the configured model's dimension."""
        return self.default.dimension

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """Returns vectors of the configured model."""
        return await self.default.embed(texts)

    async def embed_queries(self, queries: Sequence[str]) -> Matrix:
        """Returns vectors of the configured model."""
        return await self.default.embed_queries(queries)

    async def close(self) -> None:
        """Closes the embedders built here."""
        for embedder in self._built.values():
            await embedder.close()

    def _makes_other_dimensions(self, dimension: int | None) -> bool:
        """Returns whether the configured model's vectors differ in length but it can produce this one."""
        if not dimension or has_length(self.default, dimension):
            return False
        return supports_dimension(self.default.model, dimension)

    def _build(self, model: str, dimension: int | None) -> Embedder | None:
        if model in LOCAL_MODELS:
            changes: dict[str, object] = {"provider": "local", "model": model, "dimension": None}
        elif self._settings.api_key is not None or self._settings.base_url is not None:
            changes = {"provider": "openai", "model": model, "dimension": dimension}
        else:
            return None
        return build_embedder(
            self._settings.model_copy(update={**changes, "cache_entries": 0}), self._breakers
        )


def _asked(model: str, dimension: int | None) -> int | None:
    """Returns the dimension to request from the provider; None for the model's own, and if it cannot be chosen."""
    if (
        not dimension
        or dimension == DIMENSIONS.get(model)
        or not supports_dimension(model, dimension)
    ):
        return None
    return dimension

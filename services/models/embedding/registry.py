"""Embedders by the name of their model: the configured one, and those that spaces were embedded with before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from services.models.breaker import Breakers
from services.models.embedding.embedder import Embedder
from services.models.embedding.factory import build_embedder
from services.models.embedding.openai_models import DIMENSIONS, supports_dimension
from services.models.embedding.settings import LOCAL_MODEL, EmbeddingSettings
from services.models.embedding.vectors import Matrix
from services.runtime.errors import EmbedderUnavailableError


@runtime_checkable
class SupportsOtherModels(Protocol):
    """An embedder that has others beside it."""

    def named(self, model: str, dimension: int | None = None) -> Embedder | None:
        """See `EmbedderRegistry`."""
        ...


def embedder_of(embedder: Embedder, model: str, dimension: int | None = None) -> Embedder | None:
    """A model's embedder, "" for the configured one: `embedder` or one beside it. None when it is not to be had.

    `dimension` is how many values the space has of it, None or 0 where that is not known; see `EmbedderRegistry.named`.
    """
    own = model in ("", embedder.model)
    if own and has_length(embedder, dimension):
        return embedder
    if isinstance(embedder, SupportsOtherModels):
        return embedder.named(model, dimension)
    return embedder if own else None


def length_of(embedder: Embedder) -> int | None:
    """Values of a model's vectors; None for one that is not known and has not answered yet."""
    try:
        return embedder.dimension
    except EmbedderUnavailableError:
        return None


def has_length(embedder: Embedder, dimension: int | None) -> bool:
    """Whether its vectors have so many values, as far as both are known (`dimension` None or 0: not)."""
    return not dimension or length_of(embedder) in (None, dimension)


class EmbedderRegistry:
    """Builds each embedder once, when it is first asked for; weights and libraries load when first used.

    Each is kept until the end, and any name goes to the provider: ask for models, and lengths of their vectors, of
    settings and of spaces alone, never for one that a caller names.

    Taken as an `Embedder` it is the configured one.
    """

    def __init__(self, settings: EmbeddingSettings, default: Embedder, breakers: Breakers) -> None:
        """`default` is the configured model's embedder; its maker closes it. `breakers` are those it was built with."""
        self._settings = settings
        self._breakers = breakers
        self._built: dict[tuple[str, int | None], Embedder] = {}
        self.default = default

    def named(self, model: str, dimension: int | None = None) -> Embedder | None:
        """The model's embedder, "" for the configured one; None when the settings do not say where to find it.

        `dimension` is how many values a space has of it, None or 0 where that is not known. So many are made where the
        provider can be asked for them; of any other model it is the caller's to compare what it makes.
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
        """The configured model, as `Embedder` has it."""
        return self.default.model

    @property
    def dimension(self) -> int:
        """The configured model's, as `Embedder` has it."""
        return self.default.dimension

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """Vectors of the configured model, as `Embedder` makes them."""
        return await self.default.embed(texts)

    async def close(self) -> None:
        """Closes what was built here."""
        for embedder in self._built.values():
            await embedder.close()

    def _makes_other_dimensions(self, dimension: int | None) -> bool:
        """Whether the configured model's vectors are longer or shorter, and such ones are to be had of it too."""
        if not dimension or has_length(self.default, dimension):
            return False
        return supports_dimension(self.default.model, dimension)

    def _build(self, model: str, dimension: int | None) -> Embedder | None:
        if model == LOCAL_MODEL:
            changes: dict[str, object] = {"provider": "local", "model": None, "dimension": None}
        elif self._settings.api_key is not None or self._settings.base_url is not None:
            changes = {"provider": "openai", "model": model, "dimension": dimension}
        else:
            return None
        return build_embedder(
            self._settings.model_copy(update={**changes, "cache_entries": 0}), self._breakers
        )


def _asked(model: str, dimension: int | None) -> int | None:
    """What the provider is asked for; None for the model's own, and where it cannot be asked."""
    if (
        not dimension
        or dimension == DIMENSIONS.get(model)
        or not supports_dimension(model, dimension)
    ):
        return None
    return dimension

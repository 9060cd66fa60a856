"""Embedders by the name of their model: the configured one, and those that spaces were embedded with before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from services.models.embedder import Embedder
from services.models.factory import build_embedder
from services.models.settings import LOCAL_MODEL, EmbeddingSettings
from services.models.vectors import Matrix
from services.runtime.errors import EmbedderUnavailableError


@runtime_checkable
class ManyModels(Protocol):
    """An embedder that has others beside it."""

    def named(self, model: str) -> Embedder | None:
        """The model's embedder; None when the settings do not say where to find it."""
        ...


def embedder_of(embedder: Embedder, model: str) -> Embedder | None:
    """A model's embedder, "" for the configured one: `embedder` or one beside it. None when it is not to be had."""
    if model in ("", embedder.model):
        return embedder
    return embedder.named(model) if isinstance(embedder, ManyModels) else None


def length_of(embedder: Embedder) -> int | None:
    """Values of a model's vectors; None for one that is not known and has not answered yet."""
    try:
        return embedder.dimension
    except EmbedderUnavailableError:
        return None


class EmbedderRegistry:
    """Builds each embedder once, when it is first asked for; weights and libraries load when first used.

    Each is kept until the end, and any name goes to the provider: ask for models of settings and of spaces alone, never
    for one that a caller names.

    Taken as an `Embedder` it is the configured one.
    """

    def __init__(self, settings: EmbeddingSettings, default: Embedder) -> None:
        """`default` is the configured model's embedder; its maker closes it."""
        self._settings = settings
        self._built: dict[str, Embedder] = {}
        self.default = default

    def named(self, model: str) -> Embedder | None:
        """The model's embedder; None when the settings do not say where to find it."""
        if model in ("", self.default.model):
            return self.default
        if model not in self._built:
            found = self._build(model)
            if found is None:
                return None
            self._built[model] = found
        return self._built[model]

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

    def _build(self, model: str) -> Embedder | None:
        if model == LOCAL_MODEL:
            told = {"provider": "local", "model": None, "dimension": None}
        elif self._settings.api_key is not None or self._settings.base_url is not None:
            told = {"provider": "openai", "model": model, "dimension": None}
        else:
            return None
        return build_embedder(self._settings.model_copy(update={**told, "cache_entries": 0}))

"""A space's model and its query embedder: the space's recorded model overrides the configured one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from cachetools import LRUCache

from services.models.embedding.embedder import Embedder
from services.models.embedding.query_embedder import QueryEmbedder
from services.vector_search.domain import Model, QueryVector

MAX_SPACES = 10_000


class Registry(Protocol):
    """Provides embedders by model."""

    def named(self, model: str, dimension: int | None = None) -> Embedder | None:
        """Returns the model's embedder, with `dimension` values if that can be chosen; None if it is not available."""
        ...


class QueryEmbedders:
    """The configured model's embedder, and those of spaces that are embedded with another model."""

    def __init__(
        self,
        default: QueryEmbedder,
        registry: Registry | None = None,
        build: Callable[[Embedder], QueryEmbedder] = QueryEmbedder,
    ) -> None:
        """`build` wraps an embedder of the registry, for example with a cache and a store."""
        self.default = default
        self._registry = registry
        self._build = build
        self._others: dict[Model, QueryEmbedder] = {}
        self._spaces: LRUCache[str, Model] = LRUCache(MAX_SPACES)

    def of(self, space: str) -> QueryEmbedder | None:
        """Returns the embedder of the space's model; None if the model is unknown or not available."""
        model = self._spaces.get(space)
        return None if model is None else self._named(model)

    def knows_better(self, space: str, vector: QueryVector) -> bool:
        """Returns whether the space is known to have another model than the vector's, with an available embedder."""
        model = self._spaces.get(space)
        return model is not None and not is_of(vector, model) and self._named(model) is not None

    def learn(self, space: str, model: Model) -> None:
        """Records that the space is embedded with this model."""
        self._spaces[space] = model

    async def close(self) -> None:
        """Waits for vectors that are being stored. The owner of the embedders closes them."""
        for queries in (self.default, *self._others.values()):
            await queries.close()

    def _named(self, model: Model) -> QueryEmbedder | None:
        if self.default.model == model.name and self.default.dimension in (None, model.dimension):
            return self.default
        found = self._others.get(model) or self._built(model)
        # A model of another dimension is useless, and its provider must not receive the query.
        return found if found and found.dimension in (None, model.dimension) else None

    def _built(self, model: Model) -> QueryEmbedder | None:
        found = self._registry.named(model.name, model.dimension) if self._registry else None
        if found is None:
            return None
        self._others[model] = self._build(found)
        return self._others[model]


def is_of(vector: QueryVector, model: Model) -> bool:
    """Returns whether a vector is of the model, and of its dimension."""
    return vector.model == model.name and len(vector.values) == model.dimension

"""Embedders of queries by space: the space's recorded model wins over the configured one."""

from __future__ import annotations

from collections import OrderedDict
from typing import Protocol

from services.models.embedder import Embedder
from services.models.queries import QueryEmbedder

REMEMBERED = 10_000


class Registry(Protocol):
    """Embedders by model."""

    def named(self, model: str) -> Embedder | None:
        """The model's embedder; None when it is not to be had."""
        ...


class QueryEmbedders:
    """The configured model's embedder, and those of spaces that are embedded with another one."""

    def __init__(self, default: QueryEmbedder, registry: Registry | None = None) -> None:
        self.default = default
        self._registry = registry
        self._others: dict[str, QueryEmbedder] = {}
        self._spaces: OrderedDict[str, str] = OrderedDict()

    def of(self, space: str) -> QueryEmbedder | None:
        """The embedder of the space's model; None while that is not known, or where it is not to be had."""
        model = self._spaces.get(space)
        return None if model is None else self._named(model)

    def learn(self, space: str, model: str) -> None:
        """The space is embedded with this model."""
        self._spaces[space] = model
        self._spaces.move_to_end(space)
        while len(self._spaces) > REMEMBERED:
            self._spaces.popitem(last=False)

    def _named(self, model: str) -> QueryEmbedder | None:
        if model == self.default.model:
            return self.default
        if model not in self._others:
            found = self._registry.named(model) if self._registry else None
            if found is None:
                return None
            self._others[model] = QueryEmbedder(found)
        return self._others[model]

"""The embedder of the current call's space: that of its recorded model, whatever the settings say."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from services.agent_orchestrator.ingest.turns import WaitingError
from services.models.embedder import Embedder
from services.models.vectors import Matrix
from services.runtime.context import current_call

REMEMBERED = 10_000
AGAIN_SECONDS = 30.0


class Registry(Protocol):
    """Embedders by model."""

    default: Embedder

    def named(self, model: str) -> Embedder | None:
        """The model's embedder, "" for the configured one; None when it is not to be had."""
        ...


class SingleModel:
    """Implements `Registry` with the configured model alone."""

    def __init__(self, embedder: Embedder) -> None:
        self.default = embedder

    def named(self, model: str) -> Embedder | None:
        """See `Registry`."""
        return self.default if model in ("", self.default.model) else None


class SpaceEmbedder:
    """Implements `Embedder` for work within a space. `renew` asks which model the space has; until then it is the
    configured one.
    """

    def __init__(self, registry: Registry, recorded: Callable[[], Awaitable[str]]) -> None:
        """`recorded` tells the current call's space's model, "" for a space that holds nothing."""
        self._registry = registry
        self._recorded = recorded
        self._models: OrderedDict[str, str] = OrderedDict()

    @property
    def model(self) -> str:
        """See `Embedder`."""
        return self._embedder().model

    @property
    def dimension(self) -> int:
        """See `Embedder`."""
        return self._embedder().dimension

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """See `Embedder`."""
        return await self._embedder().embed(texts)

    async def close(self) -> None:
        """What embeds is its registry's to close."""

    async def renew(self) -> bool:
        """Asks for the space's model; whether it is another one than before. WaitingError when it is not to be had."""
        space, model = current_call().space, await self._recorded()
        if self._registry.named(model) is None:
            raise WaitingError(
                "the space is embedded with a model that is not configured", AGAIN_SECONDS
            )
        before = self.model
        self._models[space] = model
        self._models.move_to_end(space)
        while len(self._models) > REMEMBERED:
            self._models.popitem(last=False)
        return self.model != before

    def _embedder(self) -> Embedder:
        model = self._models.get(current_call().space, "")
        return self._registry.named(model) or self._registry.default

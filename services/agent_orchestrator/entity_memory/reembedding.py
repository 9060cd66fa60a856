"""Entity memory's part of a space's model migration: until it has ended, vectors of both models are stored."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Protocol

from services.agent_orchestrator.entity_memory.records import Owner
from services.agent_orchestrator.entity_memory.store import EntityMemoryStore
from services.models.embedding.embedder import Embedder
from services.models.embedding.vectors import Matrix

_BATCH = 128


class Pace(Protocol):
    """Embeds as many texts at a time as the embedder does in a few seconds."""

    async def embed_next(self, embedder: Embedder, texts: Sequence[str]) -> Matrix:
        """Returns the vectors of the first texts, at least of one."""
        ...


class MemoryReembedding:
    """Embeds the entities of every user of a space."""

    def __init__(self, store: EntityMemoryStore) -> None:
        self._store = store

    async def fill(self, space: str, embedder: Embedder, pace: Pace) -> None:
        """Computes the missing vectors of a model. Can be interrupted and resumed at any point."""
        anyone = Owner(space, "")
        while True:
            async with self._store.reading(anyone, "space") as rows:
                missing = await rows.without_vector(embedder.model, _BATCH, whole_space=True)
            if not missing:
                return
            made = await pace.embed_next(embedder, [one.text for one in missing])
            by_owner: dict[Owner, list[tuple[str, Matrix]]] = defaultdict(list)
            for one, vector in zip(missing, made, strict=False):
                by_owner[one.owner].append((one.id, vector))
            for owner, vectors in by_owner.items():
                await self._store.put_vectors(owner, embedder.model, vectors)

    async def finish(self, space: str, embedder: Embedder, pace: Pace) -> None:
        """Computes vectors that were added meanwhile, and removes the vectors of other models."""
        await self.fill(space, embedder, pace)
        async with self._store.reading(Owner(space, ""), "space") as rows:
            await rows.forget_other_models(embedder.model)

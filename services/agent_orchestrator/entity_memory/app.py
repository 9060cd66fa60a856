"""Builds the objects of entity memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from services.agent_orchestrator.clients.space_models import Recorded
from services.agent_orchestrator.entity_memory.embedding import SpaceVectors
from services.agent_orchestrator.entity_memory.llm_extraction import ModelExtractor
from services.agent_orchestrator.entity_memory.memory import EntityMemory
from services.agent_orchestrator.entity_memory.notes import Notes, NoteTurn, not_noted
from services.agent_orchestrator.entity_memory.queue import MemoryWrites
from services.agent_orchestrator.entity_memory.records import (
    NewRelationship,
    Owner,
    Relationship,
)
from services.agent_orchestrator.entity_memory.servicer import EntityMemoryServicer
from services.agent_orchestrator.entity_memory.settings import EntityMemorySettings
from services.agent_orchestrator.entity_memory.store import EntityMemoryStore
from services.agent_orchestrator.entity_memory.turns import Extractor, LocalExtractor
from services.models.embedding.embedder import Embedder
from services.models.language.model import LanguageModel
from services.postgres.pool import Pool
from services.runtime.background import in_background
from services.runtime.context import current_call


@dataclass(frozen=True, slots=True)
class EntityMemoryParts:
    """The service, and the objects that the agent's tools and runs use."""

    servicer: EntityMemoryServicer
    memory: EntityMemory
    writes: MemoryWrites
    note: NoteTurn


class _CallersMemory:
    """Implements `CallersMemory` for whoever the current call is from."""

    def __init__(self, memory: EntityMemory) -> None:
        self._memory = memory

    async def replaced_by(self, new: NewRelationship) -> Sequence[Relationship]:
        """See the protocol."""
        return await self._memory.replaced_by(_caller(), new)

    async def knows(self, name: str) -> bool:
        """See the protocol."""
        return await self._memory.knows(_caller(), name)


def _caller() -> Owner:
    call = current_call()
    return Owner(call.space, call.user)


@asynccontextmanager
async def open_entity_memory(
    settings: EntityMemorySettings,
    *,
    pool: Pool,
    recorded: Callable[[], Awaitable[Recorded]],
    queries: Embedder,
    documents: Embedder,
    language_model: LanguageModel | None = None,
) -> AsyncIterator[EntityMemoryParts]:
    """Yields entity memory and processes its queue until the block is left. A language model reads any language."""
    local = LocalExtractor()
    extractor: Extractor = ModelExtractor(language_model, local) if language_model else local
    memory = EntityMemory(
        EntityMemoryStore(pool), SpaceVectors(recorded, queries, documents), settings.limits()
    )
    writes = MemoryWrites(pool, memory, extractor)
    callers = _CallersMemory(memory)
    note = not_noted if language_model else Notes(local, callers, settings.limits()).of
    try:
        async with in_background("memory-writes", writes.run):
            yield EntityMemoryParts(EntityMemoryServicer(memory, writes), memory, writes, note)
    finally:
        await writes.close()
        await local.close()

"""Compares the memories of a user with their texts in the tiers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import NamedTuple, Protocol

from services.agent_orchestrator.clients.inventories import Ref, VectorInventory, in_parts
from services.agent_orchestrator.consistency.confirmation import Confirmation
from services.agent_orchestrator.consistency.report import (
    MEMORY,
    MEMORY_TEXT,
    SESSION,
    Inconsistency,
    InconsistencyReport,
)
from services.agent_orchestrator.consistency.streams import Seen, symmetric_difference

SUSPECTS = 1_000

Found = AsyncIterator[Sequence[Inconsistency]]


class Owner(NamedTuple):
    """Whose data a scope has: a user's memories, or without a user the space itself."""

    space: str
    user: str | None


class MemoryRows(Protocol):
    """The check's access to memories. A memory's id is that of its chunk."""

    async def owners(self, space: str) -> Sequence[tuple[str, str]]:
        """Returns the users with memories, each with the partition of the tiers that has them."""
        ...

    def visible(self, owner: Owner) -> AsyncIterator[Ref]:
        """Yields a user's memories, ordered by id, without those being stored or removed."""
        ...

    async def existing(self, owner: Owner, ids: Sequence[str]) -> set[str]:
        """Returns those of the given memories that exist, including those being stored or removed."""
        ...

    async def waiting(self, owner: Owner, ids: Sequence[str]) -> set[str]:
        """Returns those of the given memories whose graph part a job has yet to store."""
        ...

    async def documents(self, owner: Owner, document_ids: Sequence[str]) -> set[str]:
        """Returns those of the given documents that are of memories."""
        ...

    async def sessions_without_summary(self, owner: Owner) -> Sequence[str]:
        """Returns a user's closed sessions whose summary does not exist."""
        ...

    async def store_again(self, owner: Owner, ids: Sequence[str]) -> int:
        """Stores memories in the tiers again; returns how many."""
        ...

    async def list_again(self, owner: Owner, ids: Sequence[str]) -> int:
        """Creates memories from their texts in the tiers; returns how many."""
        ...


class MemoryChecks:
    """Checks a user's memories in the current call's scope."""

    def __init__(
        self, vector: VectorInventory, memories: MemoryRows, confirmation: Confirmation
    ) -> None:
        self._vector = vector
        self._memories = memories
        self._confirmation = confirmation

    async def check(self, report: InconsistencyReport, owner: Owner) -> Found:
        """Yields memories without a text, texts without a memory, and sessions without their summary."""
        seen = Seen()
        suspects = symmetric_difference(self._memories.visible(owner), self._vector.chunks(), seen)
        async for part in in_parts(suspects, SUSPECTS):
            await self._confirmation.settle()
            yield await self._without_text([one.ref for one in part if one.first], owner)
            yield await self._without_memory([one.ref for one in part if not one.first], owner)
        report.memories += seen.first
        sessions = await self._memories.sessions_without_summary(owner)
        yield [Inconsistency(SESSION, one, "", owner.user) for one in sessions]

    async def _without_text(self, refs: Sequence[Ref], owner: Owner) -> list[Inconsistency]:
        ids = [ref.id for ref in refs]
        there = await self._vector.find_chunks(ids)
        left = await self._memories.existing(owner, [one for one in ids if one not in there])
        return [
            Inconsistency(MEMORY, ref.id, ref.document_id, owner.user)
            for ref in refs
            if ref.id in left
        ]

    async def _without_memory(self, refs: Sequence[Ref], owner: Owner) -> list[Inconsistency]:
        ids = [ref.id for ref in refs]
        known = await self._memories.existing(owner, ids)
        left = await self._vector.find_chunks([one for one in ids if one not in known])
        return [
            Inconsistency(MEMORY_TEXT, ref.id, ref.document_id, owner.user)
            for ref in refs
            if ref.id in left
        ]

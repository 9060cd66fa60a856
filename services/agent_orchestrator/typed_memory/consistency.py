"""Memories as the consistency check compares them with their texts in the tiers."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Sequence
from typing import TypeAlias

from google.protobuf.json_format import MessageToDict

from braid.vector.v1 import chunks_pb2
from services.agent_orchestrator.clients.inventories import Ref
from services.agent_orchestrator.clients.tiers import VectorTier
from services.agent_orchestrator.typed_memory.domain import NewMemory, Owner
from services.agent_orchestrator.typed_memory.memories import Memories, in_partition
from services.agent_orchestrator.typed_memory.store import MemoryStore

PAGE = 1_000


# A space and a user, as the check has them; it asks for memories of users only.
MemoryOwner: TypeAlias = tuple[str, str | None]


class MemoryInventory:
    """The memories of every user by id, and repairs of what a store has lost of them."""

    def __init__(self, store: MemoryStore, memories: Memories, vector: VectorTier) -> None:
        self._store = store
        self._memories = memories
        self._vector = vector

    async def owners(self, space: str) -> Sequence[tuple[str, str]]:
        """Returns the users with memories, each with the partition of the tiers that has them."""
        users = await self._store.users(space)
        return [(user, Owner(space, user).partition) for user in users]

    async def visible(self, owner: MemoryOwner) -> AsyncIterator[Ref]:
        """Yields a user's memories, ordered by id, without those being stored or removed."""
        after, more = str(uuid.UUID(int=0)), True
        while more:
            page = await self._store.ids(_owner(owner), after, PAGE)
            for id_, document_id in page:
                yield Ref(id_, document_id)
            more = len(page) == PAGE
            after = page[-1][0] if page else after

    async def existing(self, owner: MemoryOwner, ids: Sequence[str]) -> set[str]:
        """Returns those of the given memories that exist, including those being stored or removed."""
        return await self._store.existing(_owner(owner), ids)

    async def waiting(self, owner: MemoryOwner, ids: Sequence[str]) -> set[str]:
        """Returns those of the given memories whose graph part a job has yet to store."""
        return await self._store.waiting(_owner(owner), ids)

    async def documents(self, owner: MemoryOwner, document_ids: Sequence[str]) -> set[str]:
        """Returns those of the given documents that are of memories."""
        return await self._store.documents(_owner(owner), document_ids)

    async def sessions_without_summary(self, owner: MemoryOwner) -> Sequence[str]:
        """Returns a user's closed sessions whose summary does not exist."""
        return await self._store.sessions_without_summary(_owner(owner))

    async def store_again(self, owner: MemoryOwner, ids: Sequence[str]) -> int:
        """Stores memories in the tiers again; returns how many."""
        found = await self._store.by_id(_owner(owner), ids)
        for memory in found.values():
            await self._memories.store_again(_owner(owner), memory)
        return len(found)

    async def list_again(self, owner: MemoryOwner, ids: Sequence[str]) -> int:
        """Creates memories from their texts in the tiers; returns how many."""
        with in_partition(_owner(owner)):
            chunks = [chunk for one in ids for chunk in await self._vector.chunks([one])]
        for chunk in chunks:
            await self._store.put(_owner(owner), chunk.id, chunk.document_id, _given(chunk))
        return len(chunks)


def _owner(owner: MemoryOwner) -> Owner:
    space, user = owner
    return Owner(space, user or "")


def _given(chunk: chunks_pb2.Chunk) -> NewMemory:
    """Returns a memory as its document describes it; importance and metadata are not stored with the text."""
    about = MessageToDict(chunk.metadata)
    return NewMemory(
        type=about["type"],
        content=chunk.content,
        title=chunk.document_title,
        tags=tuple(about.get("tags", ())),
        session_id=about.get("session_id", ""),
    )

"""Closes a session: its summary becomes a memory that has the session's memories as parts."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from braid.graph.v1 import relations_pb2
from services.agent_orchestrator.typed_memory.domain import (
    SESSION_SUMMARY,
    Memory,
    NewMemory,
    Owner,
)
from services.agent_orchestrator.typed_memory.memories import Memories, RelationInput
from services.agent_orchestrator.typed_memory.store import MemoryStore, Position
from services.agent_orchestrator.typed_memory.summary import summarize
from services.runtime.errors import NotFoundError

# Memories of a session that its summary reads and relates; of a longer one, the last ones.
MAX_MEMORIES = 1000
_TITLE_CHARACTERS = 1000


class ClosedSession(NamedTuple):
    """The summary of a closed session, and the number of memories that are part of it."""

    summary: Memory
    memories: int


class Sessions:
    """The sessions of every user."""

    def __init__(self, store: MemoryStore, memories: Memories) -> None:
        self._store = store
        self._memories = memories

    async def close(self, owner: Owner, session_id: str) -> ClosedSession:
        """Writes the summary, once. Raises NotFoundError for a session without memories."""
        async with self._memories.session(owner, session_id):
            return await self._close(owner, session_id)

    async def _close(self, owner: Owner, session_id: str) -> ClosedSession:
        found = await self._store.page(owner, (), session_id, Position(), MAX_MEMORIES)
        if not found:
            raise NotFoundError("session")
        closed = await self._store.summary_of(owner, session_id)
        if closed is not None:
            return ClosedSession(await self._memories.get(owner, closed), len(found))
        parts = list(reversed(found))
        # In a thread: a session may have many megabytes of text.
        given = await asyncio.to_thread(_summary, session_id, parts)
        summary = await self._memories.create(owner, given, [])
        try:
            await self._memories.put_existing(owner, [_part_of(part, summary) for part in parts])
            kept = await self._store.close_session(owner, session_id, summary.id)
        except BaseException:
            await self._memories.discard(owner, summary.id)
            raise
        if kept != summary.id:  # another call was faster, where this one has lost the session
            await self._memories.delete(owner, summary.id)
            summary = await self._memories.get(owner, kept)
        return ClosedSession(summary, len(found))


def _summary(session_id: str, parts: list[Memory]) -> NewMemory:
    return NewMemory(
        type=SESSION_SUMMARY,
        title=f"Session {session_id}"[:_TITLE_CHARACTERS],
        content=summarize([part.given.content for part in parts]),
        metadata={"session_id": session_id},
    )


def _part_of(part: Memory, summary: Memory) -> RelationInput:
    return RelationInput(
        source_id=part.id,
        target_id=summary.id,
        relation_type=relations_pb2.CHUNK_RELATION_TYPE_PART_OF,
    )

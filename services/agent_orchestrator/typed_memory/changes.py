"""Changes a memory: what it said before is kept as its past.

A memory's id stands for its text, so another text is another memory, which gets the relations and the past of the one
before. Repeating an interrupted change does the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from braid.graph.v1 import relations_pb2
from services.agent_orchestrator.typed_memory.domain import Memory, NewMemory, Owner
from services.agent_orchestrator.typed_memory.memories import Memories, Relation, RelationInput
from services.agent_orchestrator.typed_memory.store import MemoryStore, PastMemory
from services.runtime.errors import NotFoundError

Change = Callable[[NewMemory], NewMemory]
"""Returns a memory as it is to be."""


class Changed(NamedTuple):
    """A changed memory with what it said before, oldest first."""

    memory: Memory
    past: list[PastMemory]


class Changes:
    """Changes the memories of every user."""

    def __init__(self, store: MemoryStore, memories: Memories) -> None:
        self._store = store
        self._memories = memories

    async def apply(self, owner: Owner, id_: str, change: Change) -> Changed:
        """Changes a memory.

        Raises NotFoundError, InvalidFieldError for a type that the space lacks, and WrongStateError for another text or
        type in a session that is closed.
        """
        before = await self._memories.get(owner, id_)
        wanted = change(before.given)
        if (wanted.content, wanted.type) == (before.given.content, before.given.type):
            memory = await self._in_place(owner, before, wanted)
        else:
            memory = await self._replaced(owner, before, wanted)
        return Changed(memory, await self._store.past(owner, memory.id))

    async def _in_place(self, owner: Owner, before: Memory, wanted: NewMemory) -> Memory:
        if wanted == before.given:
            return before
        changed = await self._store.change(owner, before, wanted)
        if changed is None:
            raise NotFoundError("memory")
        await self._memories.store_again(owner, changed)
        return changed

    async def _replaced(self, owner: Owner, before: Memory, wanted: NewMemory) -> Memory:
        found = await self._memories.relations(owner, before.id)
        own = _stated(one for one in found.outgoing if one.target_id != before.id)
        memory = await self._memories.create(owner, wanted, own)
        others = [
            _input(one, one.source_id, memory.id)
            for one in found.incoming
            if one.origin != relations_pb2.RELATION_ORIGIN_INFERRED and one.source_id != memory.id
        ]
        if others:
            await self._memories.put_existing(owner, others)
        await self._store.keep_past(owner, before, memory.id)
        await self._memories.delete(owner, before.id)
        return memory


def _stated(relations: Iterable[Relation]) -> list[RelationInput]:
    """Returns relations that were not inferred, to be stored of another memory: those are inferred again."""
    return [
        _input(one, "", one.target_id)
        for one in relations
        if one.origin != relations_pb2.RELATION_ORIGIN_INFERRED
    ]


def _input(one: Relation, source: str, target: str) -> RelationInput:
    return RelationInput(
        source_id=source,
        target_id=target,
        relation_type=one.relation_type,
        strength=one.strength,
        valid_time=one.valid_time if one.HasField("valid_time") else None,
        invalid_time=one.invalid_time if one.HasField("invalid_time") else None,
    )

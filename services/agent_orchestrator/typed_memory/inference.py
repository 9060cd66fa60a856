"""Infers relations from the content and use of memories. Each names its method and evidence, and can be removed."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from google.protobuf.struct_pb2 import Struct

from braid.graph.v1 import relations_pb2
from braid.graph.v1.relations_pb2 import ChunkRelationType
from braid.vector.v1 import chunks_pb2, search_pb2
from services.agent_orchestrator.clients.chunk_searches import ChunkSearches
from services.agent_orchestrator.clients.relations import GraphRelations
from services.agent_orchestrator.typed_memory.domain import (
    ERROR,
    SESSION_SUMMARY,
    SOLUTION,
    Memory,
    Owner,
)
from services.agent_orchestrator.typed_memory.memories import (
    Memories,
    Relation,
    RelationInput,
    in_partition,
)
from services.agent_orchestrator.typed_memory.store import (
    MemoryStore,
    Pair,
    Position,
    RelationName,
)

SIMILARITY = "similarity"
ERROR_FIX = "error_fix"
CO_ACCESS = "co_access"

# Minimum cosine similarity of two memories with similar content.
MIN_SIMILARITY = 0.75
# Minimum cosine similarity of a solution and its error, which share the subject, not the words.
MIN_FIX_SIMILARITY = 0.5
MIN_FIX_SIMILARITY_IN_SESSION = 0.35
MAX_SIMILAR = 3
# Time-weighted counts: from the first on, memories found together are related; below the second, they no longer are.
MIN_CO_ACCESS = 3.0
FORGOTTEN_CO_ACCESS = 1.0
MAX_CO_ACCESSED = 200
MAX_EXAMINED = 500
DEFAULT_EXAMINED = 100
_NEIGHBORS = 10
_QUERY_CHARACTERS = 4096
_SIMILAR = relations_pb2.CHUNK_RELATION_TYPE_SIMILAR_TO
_FIXES = relations_pb2.CHUNK_RELATION_TYPE_FIXES
_RELATED = relations_pb2.CHUNK_RELATION_TYPE_RELATED


class Neighbor(NamedTuple):
    """A memory near another one, and the cosine of their vectors."""

    memory: Memory
    cosine: float


@dataclass(slots=True)
class Inferred:
    """The results of an inference."""

    examined: int = 0
    created: Counter[str] = field(default_factory=Counter)
    removed: int = 0

    def add(self, other: Inferred) -> None:
        """Adds the results of another part of the same inference."""
        self.examined += other.examined
        self.created += other.created
        self.removed += other.removed


class Inference:
    """Infers relations between memories of one owner at a time."""

    def __init__(
        self,
        store: MemoryStore,
        memories: Memories,
        searches: ChunkSearches,
        relations: GraphRelations,
    ) -> None:
        self._store = store
        self._memories = memories
        self._searches = searches
        self._relations = relations

    async def of_memory(self, owner: Owner, memory: Memory) -> None:
        """Infers relations of a memory that was just stored."""
        await self._store_relations(owner, await self._inferable(owner, memory))

    async def run(self, owner: Owner, limit: int) -> Inferred:
        """Infers relations of the owner's newest memories, and removes those that no longer apply."""
        await self.sweep(owner)
        done, _ = await self.examine(owner, Position(), limit)
        done.add(await self.relate_co_accessed(owner))
        return done

    async def sweep(self, owner: Owner) -> None:
        """Deletes what interrupted calls have left behind, and stores in the graph what it was too busy for."""
        await self._memories.sweep(owner)
        await self._memories.complete(owner)

    async def count(self, owner: Owner) -> int:
        """Returns the number of memories to examine."""
        return await self._store.count(owner)

    async def examine(
        self, owner: Owner, after: Position, count: int
    ) -> tuple[Inferred, Position | None]:
        """Infers relations of the next `count` memories, newest first; returns the next position, None at the end."""
        done = Inferred()
        page = await self._store.page(owner, (), "", after, count)
        for memory in page:
            done.created += await self._store_relations(owner, await self._inferable(owner, memory))
            done.examined += 1
        if len(page) < count:
            return done, None
        return done, Position(page[-1].create_time, page[-1].id)

    async def relate_co_accessed(self, owner: Owner) -> Inferred:
        """Relates memories that are often found together, and removes such relations that no longer apply."""
        pairs = await self._store.co_accessed(owner, MAX_CO_ACCESSED)
        wanted = [_related(pair) for pair in pairs if pair.weight >= MIN_CO_ACCESS]
        created = await self._store_relations(owner, wanted)
        return Inferred(created=created, removed=await self._forget(owner, pairs))

    async def _inferable(self, owner: Owner, memory: Memory) -> list[RelationInput]:
        if memory.given.type == SESSION_SUMMARY:  # it repeats its parts and is related to them
            return []
        near = await self._near(owner, memory)
        older = [one for one in near if _is_older(one.memory, memory)]
        fixes = [one for one in older if _fixes(memory, one)]
        fixed = {one.memory.id for one in fixes}
        similar = [
            one for one in older if one.cosine >= MIN_SIMILARITY and one.memory.id not in fixed
        ][:MAX_SIMILAR]
        return [_inferred_relation(memory, one, _FIXES, ERROR_FIX) for one in fixes] + [
            _inferred_relation(memory, one, _SIMILAR, SIMILARITY) for one in similar
        ]

    async def _near(self, owner: Owner, memory: Memory) -> list[Neighbor]:
        text = f"{memory.given.title}\n{memory.given.content}".strip()[:_QUERY_CHARACTERS]
        only = Struct()
        only.update({"kind": "memory"})
        lowest = min(MIN_SIMILARITY, MIN_FIX_SIMILARITY, MIN_FIX_SIMILARITY_IN_SESSION)
        request = search_pb2.VectorSearchRequest(
            query=text,
            limit=_NEIGHBORS + 1,
            min_score=lowest,
            filter=chunks_pb2.ChunkFilter(metadata=only),
        )
        with in_partition(owner):
            answer = await self._searches.vector(request)
        cosines = {hit.chunk.id: hit.scores.vector for hit in answer.hits}
        found = await self._store.by_id(owner, cosines.keys() - {memory.id})
        near = [Neighbor(found[id_], cosine) for id_, cosine in cosines.items() if id_ in found]
        return [one for one in near if one.memory.given.type != SESSION_SUMMARY]

    async def _store_relations(self, owner: Owner, wanted: Sequence[RelationInput]) -> Counter[str]:
        """Stores relations that are neither removed nor stated by the user; returns how many are new, by method."""
        if not wanted:
            return Counter()
        removed = await self._store.removed(owner, {one.source_id for one in wanted})
        left = [one for one in wanted if _name(one) not in removed]
        created: Counter[str] = Counter()
        for method, relations in _by_method(left).items():
            created[method] = await self._memories.put_existing(owner, relations)
        return +created

    async def _forget(self, owner: Owner, pairs: Iterable[Pair]) -> int:
        """Removes relations between memories that are no longer found together; returns how many."""
        lasting = {frozenset(pair[:2]) for pair in pairs if pair.weight >= FORGOTTEN_CO_ACCESS}
        with in_partition(owner):
            gone = [
                relations_pb2.RelationRef(
                    source_id=one.source_id,
                    target_id=one.target_id,
                    relation_type=one.relation_type,
                )
                async for one in self._inferred_related()
                if frozenset((one.source_id, one.target_id)) not in lasting
            ]
            return await self._relations.delete(gone) if gone else 0

    async def _inferred_related(self) -> AsyncIterator[Relation]:
        request = relations_pb2.ListRelationsRequest(
            relation_types=[_RELATED], origin=relations_pb2.RELATION_ORIGIN_INFERRED, page_size=1000
        )
        page = await self._relations.page(request)
        for one in page.relations:
            if one.evidence.startswith(CO_ACCESS):
                yield one


def _is_older(one: Memory, than: Memory) -> bool:
    """Whether a memory is older. A relation leads to the older one, so it is inferred once from either memory."""
    return (one.create_time, one.id) < (than.create_time, than.id)


def _fixes(memory: Memory, error: Neighbor) -> bool:
    if memory.given.type != SOLUTION or error.memory.given.type != ERROR:
        return False
    session = memory.given.session_id
    together = session and session == error.memory.given.session_id
    return error.cosine >= (MIN_FIX_SIMILARITY_IN_SESSION if together else MIN_FIX_SIMILARITY)


def _inferred_relation(
    memory: Memory, near: Neighbor, kind: ChunkRelationType.ValueType, method: str
) -> RelationInput:
    return RelationInput(
        source_id=memory.id,
        target_id=near.memory.id,
        relation_type=kind,
        strength=min(max(near.cosine, 0.0), 1.0),
        origin=relations_pb2.RELATION_ORIGIN_INFERRED,
        evidence=f"{method}: cosine {near.cosine:.2f}",
    )


def _related(pair: Pair) -> RelationInput:
    return RelationInput(
        source_id=pair.first,
        target_id=pair.second,
        relation_type=_RELATED,
        strength=pair.weight / (pair.weight + MIN_CO_ACCESS),
        origin=relations_pb2.RELATION_ORIGIN_INFERRED,
        evidence=f"{CO_ACCESS}: found together, weight {pair.weight:.1f}",
    )


def _name(relation: RelationInput) -> RelationName:
    return RelationName(
        relation.source_id, relation.target_id, ChunkRelationType.Name(relation.relation_type)
    )


def _by_method(relations: Iterable[RelationInput]) -> dict[str, list[RelationInput]]:
    found: dict[str, list[RelationInput]] = {}
    for one in relations:
        found.setdefault(one.evidence.partition(":")[0], []).append(one)
    return found

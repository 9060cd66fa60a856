"""Stores, reads, relates and deletes memories, in the database and both tiers.

A memory is stored in three steps: its row, not yet visible; its chunk, episode and relations in the tiers; then the row
is made visible. It is deleted in reverse order. An interruption leaves a row that is not visible; the owner's next
inference removes it and everything that was already stored.

A graph that is busy, with bulk work or after its start, does not delay the caller for long: searches find the memory by
its chunk, and its row keeps what the graph lacks until a job stores that.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from google.protobuf.struct_pb2 import Struct

from braid.common.v1 import errors_pb2
from braid.graph.v1 import ingest_pb2, relations_pb2
from braid.graph.v1.relations_pb2 import ChunkRelationType
from braid.vector.v1 import documents_pb2
from services.agent_orchestrator.clients.relations import GraphRelations
from services.agent_orchestrator.clients.tiers import GraphTier, VectorTier
from services.agent_orchestrator.typed_memory.domain import (
    DEFAULT_TYPES,
    SESSION_SUMMARY,
    Memory,
    NewMemory,
    Owner,
)
from services.agent_orchestrator.typed_memory.store import MemoryStore, Position
from services.runtime.context import (
    CallContext,
    call_scope,
    clean_up_scope,
    current_call,
    share_of_remaining,
)
from services.runtime.errors import (
    BraidError,
    FieldError,
    InvalidFieldError,
    NotFoundError,
    WrongStateError,
)
from services.runtime.ids import chunk_id, content_sha256, derived_uuid, document_hash

MAX_RELATIONS = 1000
# Longer than any call may take: a memory not visible by then was interrupted.
INTERRUPTED_SECONDS = 900.0
# A caller waits for the graph for so long at most, and for a share of the time that the call has left.
GRAPH_SECONDS = 2.0
GRAPH_SHARE = 0.5

RelationInput = relations_pb2.ChunkRelationInput
Relation = relations_pb2.ChunkRelation

A = TypeVar("A")
B = TypeVar("B")


@dataclass(frozen=True, slots=True)
class Relations:
    """The relations of a memory."""

    outgoing: Sequence[Relation]
    incoming: Sequence[Relation]
    truncated: bool


def owner_of(call: CallContext) -> Owner:
    """Returns the owner of the memories: only from the call's credential."""
    return Owner(call.space, call.user)


@contextmanager
def in_partition(owner: Owner) -> Iterator[None]:
    """Makes the calls of the block use the owner's partition of the tiers."""
    with call_scope(replace(current_call(), space=owner.partition)):
        yield


def graph_patience() -> float:
    """Returns for how many seconds a caller waits for the graph. Raises DeadlineError past the caller's deadline."""
    share = share_of_remaining(GRAPH_SHARE)
    return GRAPH_SECONDS if share is None else min(GRAPH_SECONDS, share)


class Memories:
    """The memories of every user."""

    def __init__(
        self,
        store: MemoryStore,
        vector: VectorTier,
        graph: GraphTier,
        relations: GraphRelations,
    ) -> None:
        self._store = store
        self._vector = vector
        self._graph = graph
        self._relations = relations
        # Calls of this process wait for these locks, which avoids polling the database.
        self._sessions: WeakValueDictionary[tuple[Owner, str], asyncio.Lock] = WeakValueDictionary()

    async def create(
        self, owner: Owner, given: NewMemory, relations: Sequence[RelationInput]
    ) -> Memory:
        """Stores a memory, or adds `relations` to the one that says the same. Relations start at it."""
        digest = content_sha256(given.content)
        # What is said again gets the same id, also from two devices at once, or after an interruption.
        document = derived_uuid("memory", owner.partition, given.type, given.session_id, digest)
        id_ = chunk_id(owner.partition, document, digest, 0)
        created = (await self._store.by_id(owner, [id_])).get(id_)
        if created is not None:
            return await self._say_again(owner, created, relations)
        await self._check_type(owner, given.type)
        await self._check_targets(owner, [one.target_id for one in relations])
        if not given.session_id:
            return await self._create(owner, (id_, document), given, relations)
        async with self.session(owner, given.session_id):
            last = await self._store.last_of_session(owner, given.session_id)
            follows = (
                [_relation(last, ChunkRelationType.CHUNK_RELATION_TYPE_FOLLOWS)] if last else []
            )
            return await self._create(
                owner, (id_, document), given, _without(relations, follows), follows
            )

    @asynccontextmanager
    async def session(self, owner: Owner, session_id: str) -> AsyncIterator[None]:
        """Locks a session for the block: no other call adds to it or closes it."""
        lock = self._sessions.setdefault((owner, session_id), asyncio.Lock())
        async with lock, self._store.session_lease(owner, session_id):
            yield

    async def get(self, owner: Owner, id_: str) -> Memory:
        """Returns a memory. Raises NotFoundError if the owner has none with this id."""
        found = await self._store.by_id(owner, [id_])
        if id_ not in found:
            raise NotFoundError("memory")
        return found[id_]

    async def page(
        self, owner: Owner, types: Sequence[str], session_id: str, after: Position, size: int
    ) -> list[Memory]:
        """Returns memories, newest first."""
        return await self._store.page(owner, types, session_id, after, size)

    async def relations(self, owner: Owner, id_: str) -> Relations:
        """Returns the relations of a memory, in both directions."""
        with in_partition(owner):
            async with asyncio.TaskGroup() as group:
                outgoing = group.create_task(
                    self._page(id_, relations_pb2.RELATION_DIRECTION_OUTGOING)
                )
                incoming = group.create_task(
                    self._page(id_, relations_pb2.RELATION_DIRECTION_INCOMING)
                )
        pages = (outgoing.result(), incoming.result())
        truncated = any(page.next_page_token for page in pages)
        return Relations(pages[0].relations, pages[1].relations, truncated)

    async def delete(self, owner: Owner, id_: str) -> None:
        """Deletes a memory with its relations. Raises NotFoundError if the owner has none with this id."""
        memory = await self._store.withdraw(owner, id_)
        if memory is None:
            raise NotFoundError("memory")
        await self.erase(owner, memory)

    async def erase(self, owner: Owner, memory: Memory) -> None:
        """Deletes a hidden memory from the tiers, then its row."""
        with in_partition(owner):
            await self._graph.delete_episodes([memory.id])
            try:
                await self._vector.delete(memory.document_id, memory.id)
            except BraidError as error:
                if error.reason != errors_pb2.ERROR_REASON_NOT_FOUND:
                    raise
        await self._store.delete(owner, memory.id)

    async def store_again(self, owner: Owner, memory: Memory) -> None:
        """Stores an existing memory in the tiers again; what they still have of it stays."""
        with in_partition(owner):
            await _together(self._into_vector(memory), self._into_graph(owner, memory))

    async def complete(self, owner: Owner) -> None:
        """Stores in the graph what it was too busy for while callers waited."""
        while waiting := await self._store.waiting_for_graph(owner):
            relations = [relation for _, some in waiting for relation in some]
            with in_partition(owner):
                await self._add_episodes([memory for memory, _ in waiting])
                if relations:
                    await self._put_remaining(owner, relations)
            ids = [memory.id for memory, _ in waiting]
            left = await self._store.note_in_graph(owner, ids)
            if gone := [id_ for id_ in ids if id_ not in left]:
                with in_partition(owner):
                    await self._graph.delete_episodes(gone)

    async def sweep(self, owner: Owner) -> None:
        """Deletes what interrupted calls have left behind."""
        for memory in await self._store.unready(owner, INTERRUPTED_SECONDS):
            await self.erase(owner, memory)

    async def put_relation(
        self, owner: Owner, id_: str, relation: RelationInput
    ) -> tuple[Relation, bool]:
        """Stores a relation between two memories of the owner; returns whether it is new."""
        if id_ == relation.target_id:
            raise InvalidFieldError(
                FieldError("relation.target_id", "a memory has no relation to itself")
            )
        await self.get(owner, id_)
        if relation.target_id not in await self._store.by_id(owner, [relation.target_id]):
            raise InvalidFieldError(_unknown_target("relation.target_id"))
        relation.source_id = id_
        await self.complete(owner)
        with in_partition(owner):
            counts = await self._relations.put([relation])
            stored = await self._between(id_, relation.target_id, relation.relation_type)
        if not stored:  # removed by another call meanwhile
            raise NotFoundError("relation")
        return stored[0], counts.created_count > 0

    async def put_existing(self, owner: Owner, relations: Sequence[RelationInput]) -> int:
        """Stores relations, without those of memories that were removed meanwhile; how many are new."""
        await self.complete(owner)
        with in_partition(owner):
            return await self._put_remaining(owner, relations)

    async def delete_relation(
        self, owner: Owner, id_: str, target: str, kind: ChunkRelationType.ValueType
    ) -> int:
        """Deletes relations; inferred ones are not inferred again. Raises NotFoundError if there are none."""
        await self.get(owner, id_)
        with in_partition(owner):
            found = await self._between(id_, target, kind)
        if not found:
            raise NotFoundError("relation")
        inferred = [
            ChunkRelationType.Name(one.relation_type)
            for one in found
            if one.origin == relations_pb2.RELATION_ORIGIN_INFERRED
        ]
        if inferred:
            await self._store.note_removed(owner, id_, target, inferred)
        with in_partition(owner):
            ref = relations_pb2.RelationRef(source_id=id_, target_id=target, relation_type=kind)
            return await self._relations.delete([ref])

    async def types(self, space: str) -> frozenset[str]:
        """Returns the types that memories of the space may have."""
        chosen = await self._store.types(space)
        return (chosen | {SESSION_SUMMARY}) if chosen else DEFAULT_TYPES

    async def put_types(self, space: str, names: Sequence[str]) -> frozenset[str]:
        """Replaces the types of the space."""
        await self._store.put_types(space, {name.upper() for name in names})
        return await self.types(space)

    async def discard(self, owner: Owner, id_: str) -> None:
        """Removes a memory whose call has failed, as far as that can be done now."""
        try:
            with clean_up_scope():
                await asyncio.shield(self.delete(owner, id_))
        except BraidError:
            return

    async def _say_again(
        self, owner: Owner, memory: Memory, relations: Sequence[RelationInput]
    ) -> Memory:
        """Returns an existing memory with these relations in addition; saying it again counts as an access."""
        await self._check_targets(owner, [one.target_id for one in relations])
        if any(one.target_id == memory.id for one in relations):
            raise InvalidFieldError(FieldError("relations", "a memory has no relation to itself"))
        for relation in relations:
            relation.source_id = memory.id
        if relations:
            await self.put_existing(owner, relations)
        await self._store.note_access(owner, [memory.id])
        return memory

    async def _create(
        self,
        owner: Owner,
        ids: tuple[str, str],
        given: NewMemory,
        relations: Sequence[RelationInput],
        follows: Sequence[RelationInput] = (),
    ) -> Memory:
        id_, document = ids
        memory = await self._store.add(owner, id_, document, given)
        if memory is None:
            # Another call has just said the same, or the session is closed.
            said = (await self._store.by_id(owner, [id_])).get(id_)
            if said is None:
                raise WrongStateError("The session is closed.")
            return await self._say_again(owner, said, relations)
        try:
            in_graph = await self._into_tiers(owner, memory, relations, follows)
            waiting = None if in_graph else [*relations, *follows]
            await self._store.note_ready(owner, id_, waiting)
        except BaseException:
            # Deletes everything stored so far; if that fails, the memory remains invisible.
            await self._undo(owner, memory)
            raise
        return replace(memory, in_graph=in_graph)

    async def _into_tiers(
        self,
        owner: Owner,
        memory: Memory,
        relations: Sequence[RelationInput],
        follows: Sequence[RelationInput],
    ) -> bool:
        """Stores a memory in both tiers; returns whether the graph had the time for it."""
        for relation in (*relations, *follows):
            relation.source_id = memory.id
        with in_partition(owner):
            _, in_graph = await _together(
                self._into_vector(memory),
                _in_time(partial(self._into_graph, owner, memory, relations, follows)),
            )
        return in_graph

    async def _into_vector(self, memory: Memory) -> None:
        await self._vector.upsert([_document(memory)], "")

    async def _into_graph(
        self,
        owner: Owner,
        memory: Memory,
        relations: Sequence[RelationInput] = (),
        follows: Sequence[RelationInput] = (),
    ) -> None:
        await self._add_episodes([memory])
        if relations:
            await self.complete(owner)
            await self._relations.put(relations)
        if follows:
            # The one before may be removed at this moment: nobody has named it.
            await self.put_existing(owner, follows)

    async def _add_episodes(self, memories: Sequence[Memory]) -> None:
        # Without the language model, whose time and cost must not delay the caller.
        await self._graph.add_episodes(list(map(_episode, memories)), skip_language_model=True)

    async def _put_remaining(self, owner: Owner, relations: Sequence[RelationInput]) -> int:
        try:
            return (await self._relations.put(relations)).created_count
        except BraidError as error:
            if error.reason != errors_pb2.ERROR_REASON_INVALID_FIELD:
                raise
        ends = {end for one in relations for end in (one.source_id, one.target_id)}
        there = await self._store.by_id(owner, ends)
        left = [one for one in relations if {one.source_id, one.target_id} <= there.keys()]
        return (await self._relations.put(left)).created_count if left else 0

    async def _undo(self, owner: Owner, memory: Memory) -> None:
        try:
            with clean_up_scope():
                await asyncio.shield(self.erase(owner, memory))
        except BraidError:
            return

    async def _check_type(self, owner: Owner, name: str) -> None:
        known = await self.types(owner.space)
        if name not in known:
            description = f"must be one of {', '.join(sorted(known))}"
            raise InvalidFieldError(FieldError("type", description))

    async def _check_targets(self, owner: Owner, targets: Sequence[str]) -> None:
        if not targets:
            return
        found = await self._store.by_id(owner, targets)
        wrong = [
            _unknown_target(f"relations[{place}].target_id")
            for place, target in enumerate(targets)
            if target not in found
        ]
        if wrong:
            raise InvalidFieldError(*wrong)

    async def _page(
        self, id_: str, direction: relations_pb2.RelationDirection.ValueType
    ) -> relations_pb2.ListRelationsResponse:
        request = relations_pb2.ListRelationsRequest(
            chunk_id=id_, direction=direction, page_size=MAX_RELATIONS
        )
        return await self._relations.page(request)

    async def _between(
        self, source: str, target: str, kind: ChunkRelationType.ValueType
    ) -> list[Relation]:
        """Returns the relations from one memory to another, of one type or of all (0). Reads pages: it may be a hub."""
        request = relations_pb2.ListRelationsRequest(
            chunk_id=source,
            direction=relations_pb2.RELATION_DIRECTION_OUTGOING,
            relation_types=[kind] if kind else [],
            page_size=MAX_RELATIONS,
        )
        found: list[Relation] = []
        while True:
            page = await self._relations.page(request)
            found += [one for one in page.relations if one.target_id == target]
            # They are listed by their targets.
            past = bool(page.relations) and page.relations[-1].target_id > target
            if past or not page.next_page_token:
                return found
            request.page_token = page.next_page_token


async def _together(first: Coroutine[Any, Any, A], second: Coroutine[Any, Any, B]) -> tuple[A, B]:
    """Runs both at the same time; raises the first failure."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = group.create_task(first), group.create_task(second)
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return tasks[0].result(), tasks[1].result()


async def _in_time(work: Callable[[], Awaitable[None]]) -> bool:
    """Whether the graph's part of a call was done in the time that its caller waits for it."""
    try:
        async with asyncio.timeout(graph_patience()):
            await work()
    except TimeoutError:
        return False
    return True


def _unknown_target(field: str) -> FieldError:
    return FieldError(field, "is not the id of one of your memories")


def _relation(target: str, kind: ChunkRelationType.ValueType) -> RelationInput:
    return RelationInput(target_id=target, relation_type=kind)


def _without(
    relations: Sequence[RelationInput], others: Sequence[RelationInput]
) -> list[RelationInput]:
    """Returns the relations that are not in `others`."""
    known = {(one.target_id, one.relation_type) for one in others}
    return [one for one in relations if (one.target_id, one.relation_type) not in known]


def _document(memory: Memory) -> documents_pb2.DocumentInput:
    given = memory.given
    description = {
        "kind": "memory",
        "type": given.type,
        "tags": list(given.tags),
        "session_id": given.session_id,
    }
    metadata = Struct()
    metadata.update(description)
    source = f"memory:{memory.id}"
    return documents_pb2.DocumentInput(
        document_id=memory.document_id,
        title=given.title,
        source=source,
        content_hash=document_hash(
            title=given.title,
            source=source,
            metadata=description,
            valid_time=None,
            text=given.content,
        ),
        metadata=metadata,
        chunks=[
            documents_pb2.ChunkInput(
                id=memory.id, content=given.content, end_char=len(given.content)
            )
        ],
    )


def _episode(memory: Memory) -> ingest_pb2.EpisodeInput:
    return ingest_pb2.EpisodeInput(
        chunk_id=memory.id,
        document_id=memory.document_id,
        document_title=memory.given.title,
        source=f"memory:{memory.id}",
        content=memory.given.content,
    )

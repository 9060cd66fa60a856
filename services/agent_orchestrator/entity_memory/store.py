"""Entity memory in PostgreSQL: reads, and the steps of writes. Each transaction sees only its owner's rows."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any, NamedTuple

from services.agent_orchestrator.entity_memory.domain import EntityType, RelationshipType
from services.agent_orchestrator.entity_memory.matching import Name
from services.agent_orchestrator.entity_memory.names import canonical_name
from services.agent_orchestrator.entity_memory.records import (
    Entity,
    Limits,
    NewEntity,
    NewRelationship,
    Owner,
    Provenance,
    Receipt,
    Relationship,
    StoredEnds,
    Usage,
    reinforced,
)
from services.agent_orchestrator.entity_memory.roles import same_roles
from services.agent_orchestrator.entity_memory.row_mapping import (
    entity_of,
    entity_text,
    relationship_of,
    vector_text,
)
from services.models.embedding.vectors import Matrix
from services.postgres.pool import Pool, Row, Session
from services.runtime.queries import Queries

MAX_NAMES = 5_000
MAX_ALIASES = 50
MAX_NEIGHBORS = 1_000
ROOM = "services.agent_orchestrator.entity_memory"


class Position(NamedTuple):
    """A position in a listing: time of the last mention, then id, both descending."""

    last_mention_time: datetime
    id: str


class Unembedded(NamedTuple):
    """An entity without a vector, and the text to embed for it."""

    owner: Owner
    id: str
    text: str


class EntityMemoryStore:
    """The memories of every user."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._queries = Queries.load("sql", ROOM)
        self._indexed_dimensions: set[int] = set()

    @asynccontextmanager
    async def reading(self, owner: Owner, scope: str = "") -> AsyncIterator[Rows]:
        """Opens a transaction that sees the owner's rows; with scope `space`, those of the whole space."""
        async with self._pool.transaction() as session:
            await session.execute(self._queries["set_owner"], *owner, scope)
            yield Rows(session, self._queries, owner)

    @asynccontextmanager
    async def writing(self, owner: Owner) -> AsyncIterator[Rows]:
        """Opens a transaction that changes the owner's rows; one at a time for each owner."""
        async with self.reading(owner) as rows:
            await rows.session.execute(self._queries["lock_user"], *owner)
            yield rows

    async def after_commit(self, work: Callable[[], Awaitable[None]]) -> None:
        """Does work that must not hold the owner's lock: see `Pool.after_commit`."""
        await self._pool.after_commit(work)

    async def put_vectors(
        self, owner: Owner, model: str, vectors: Iterable[tuple[str, Matrix]]
    ) -> None:
        """Stores vectors of entities by id, except for entities that were deleted meanwhile."""
        given = dict(vectors)
        for dimension in {len(vector) for vector in given.values()} - self._indexed_dimensions:
            # In a separate transaction: creating an index waits for transactions that write vectors.
            async with self._pool.session() as session:
                await session.execute(self._queries["index_entity_vectors"], dimension)
            self._indexed_dimensions.add(dimension)
        async with self.writing(owner) as rows:
            await rows.put_vectors(model, given)


class Rows:
    """The rows of an owner within a transaction."""

    def __init__(self, session: Session, queries: Queries, owner: Owner) -> None:
        self.session = session
        self.owner = owner
        self._queries = queries

    async def find(self, name: str, type_: EntityType | None) -> Entity | None:
        """Returns the entity with a name or an alias."""
        row = await self._row("find_entity", canonical_name(name), type_)
        return None if row is None else entity_of(row)

    async def get(self, id_: str) -> Entity | None:
        """Returns an entity by id, deleted or not."""
        row = await self._row("get_entity", uuid.UUID(id_))
        return None if row is None else entity_of(row)

    async def by_id(self, ids: Iterable[str]) -> dict[str, Entity]:
        """Returns the given entities that exist."""
        rows = await self._fetch("entities_by_id", [uuid.UUID(one) for one in ids])
        return {str(row["id"]): entity_of(row) for row in rows}

    async def self_id(self, *, create: bool = False) -> str | None:
        """Returns the id of the user's own entity; None if it does not exist and is not created."""
        row = await self._row("self_entity")
        if row is not None:
            return str(row["id"])
        if not create:
            return None
        id_ = uuid.uuid4()
        await self._execute("add_self", id_)
        return str(id_)

    async def add(self, new: NewEntity, seen: Provenance, limits: Limits) -> Entity | None:
        """Adds an entity; returns None if a limit is reached."""
        aliases = _distinct((), new.aliases, but=new.name)
        row = await self._row(
            "add_entity",
            uuid.uuid4(),
            new.name,
            canonical_name(new.name),
            new.type,
            list(aliases),
            [canonical_name(one) for one in aliases],
            new.description,
            new.confidence,
            *seen,
            limits.max_entities_per_conversation,
            limits.max_entities_per_day,
        )
        return None if row is None else entity_of(row)

    async def reinforce(self, known: Entity, new: NewEntity, seen: Provenance) -> Entity:
        """Adds evidence to an entity."""
        aliases = _distinct(known.aliases, new.aliases, but=known.name)
        row = await self._row(
            "reinforce_entity",
            uuid.UUID(known.id),
            list(aliases),
            [canonical_name(one) for one in aliases],
            new.description or known.description,
            reinforced(known.confidence, new.confidence),
            *seen,
        )
        assert row is not None  # noqa: S101 - the caller holds the user's lock
        return entity_of(row)

    async def rename(self, known: Entity, name: str, aliases: Iterable[str]) -> Entity:
        """Sets an entity's name and aliases, and the counts of `known`."""
        kept = _distinct((), aliases, but=name)
        row = await self._row(
            "change_names",
            uuid.UUID(known.id),
            name,
            canonical_name(name),
            list(kept),
            [canonical_name(one) for one in kept],
            known.confidence,
            known.mention_count,
        )
        assert row is not None  # noqa: S101 - the caller has read it in this transaction
        return entity_of(row)

    async def delete(self, id_: str, merged_into: str | None = None) -> int:
        """Soft-deletes an entity with its relationships; returns the number of relationships."""
        gone = await self._fetch("delete_relationships_of", uuid.UUID(id_))
        await self._execute(
            "delete_entity", uuid.UUID(id_), uuid.UUID(merged_into) if merged_into else None
        )
        return len(gone)

    async def restore(self, known: Entity) -> tuple[Entity, int]:
        """Restores a deleted entity with the relationships that were deleted with it."""
        row = await self._row("restore_entity", uuid.UUID(known.id))
        assert row is not None  # noqa: S101 - as above
        back = await self._fetch("restore_relationships_of", uuid.UUID(known.id), known.delete_time)
        return entity_of(row), len(back)

    async def relationship(
        self, source_id: str, type_: RelationshipType, target_id: str
    ) -> Relationship | None:
        """Returns a relationship by its ends and type."""
        row = await self._row(
            "find_relationship", uuid.UUID(source_id), type_, uuid.UUID(target_id)
        )
        return None if row is None else (await self.relationships_by_id([str(row["id"])]))[0]

    async def add_relationship(
        self, ends: tuple[str, str], new: NewRelationship, seen: Provenance, limits: Limits
    ) -> str | None:
        """Adds a relationship; returns its id, or None if a limit is reached."""
        row = await self._row(
            "add_relationship",
            uuid.uuid4(),
            uuid.UUID(ends[0]),
            new.type,
            uuid.UUID(ends[1]),
            new.context,
            new.confidence,
            *seen,
            limits.max_relationships_per_conversation,
            new.role,
        )
        return None if row is None else str(row["id"])

    async def reinforce_relationship(
        self, known: Relationship, new: NewRelationship, seen: Provenance
    ) -> None:
        """Adds evidence to a relationship."""
        await self._execute(
            "reinforce_relationship",
            uuid.UUID(known.id),
            new.context or known.context,
            reinforced(known.confidence, new.confidence),
            *seen,
            new.role,
        )

    async def replaced_by(self, new: NewRelationship) -> list[Relationship]:
        """Returns the user's relationships in whose place another one is said: of its role, or of its type."""
        roles = same_roles(new.role) if new.role else []
        rows = await self._fetch("replaced_relationships", roles, new.type)
        return [relationship_of(row) for row in rows]

    async def end_relationship(self, id_: str, by: str | None = None) -> bool:
        """Ends a relationship, which is history from then on; returns whether it held. `by` took its place."""
        key = None if by is None else uuid.UUID(by)
        return await self._row("end_relationship", uuid.UUID(id_), key) is not None

    async def ended(self, ids: Iterable[str]) -> list[Relationship]:
        """Returns the relationships of some entities that later statements have ended, the last ended first."""
        rows = await self._fetch(
            "ended_relationships", [uuid.UUID(one) for one in ids], MAX_NEIGHBORS
        )
        return [relationship_of(row) for row in rows]

    async def delete_relationship(self, id_: str) -> bool:
        """Soft-deletes a relationship; returns whether it existed."""
        return await self._row("delete_relationship", uuid.UUID(id_)) is not None

    async def take_back(self, id_: str) -> list[str] | None:
        """Deletes a relationship as though it had never been said; None if it did not exist.

        Returns what it had taken the place of, which holds again.
        """
        rows = await self._fetch("resume_replaced", uuid.UUID(id_))
        if not await self.delete_relationship(id_):
            return None
        return [str(row["id"]) for row in rows if not row["ended"]]

    async def ends_of(self, id_: str) -> list[StoredEnds]:
        """Returns the relationships of an entity as they are stored."""
        rows = await self._fetch("relationships_of", uuid.UUID(id_))
        return [
            StoredEnds(
                str(row["id"]),
                str(row["source_id"]),
                row["type"],
                str(row["target_id"]),
                row["confidence"],
                row["mention_count"],
            )
            for row in rows
        ]

    async def move(self, id_: str, source_id: str, target_id: str) -> None:
        """Changes the ends of a relationship."""
        await self._execute(
            "move_relationship", uuid.UUID(id_), uuid.UUID(source_id), uuid.UUID(target_id)
        )

    async def fold(self, into: str, one: StoredEnds) -> None:
        """Adds the evidence of one relationship to another one, and deletes it."""
        await self._execute("fold_relationship", uuid.UUID(into), one.confidence, one.mention_count)
        await self.delete_relationship(one.id)

    async def entities(
        self, types: Sequence[EntityType], after: Position | None, limit: int
    ) -> list[Entity]:
        """Returns entities, most recently mentioned first."""
        rows = await self._fetch("list_entities", list(types), *_place(after), limit)
        return [entity_of(row) for row in rows]

    async def relationships(
        self,
        types: Sequence[RelationshipType],
        entity_id: str | None,
        after: Position | None,
        limit: int,
        as_of: datetime | None = None,
    ) -> list[Relationship]:
        """Returns relationships that hold, or held at an instant, most recently mentioned first."""
        of = uuid.UUID(entity_id) if entity_id else None
        asked = (list(types), of, *_place(after), limit)
        if as_of is None:
            rows = await self._fetch("relationships", *asked)
        else:
            rows = await self._fetch("relationships_as_of", *asked, as_of)
        return [relationship_of(row) for row in rows]

    async def relationships_by_id(self, ids: Iterable[str]) -> list[Relationship]:
        """Returns relationships by id, in any order."""
        rows = await self._fetch("relationships_by_id", [uuid.UUID(one) for one in ids])
        return [relationship_of(row) for row in rows]

    async def neighbors(
        self, ids: Iterable[str], types: Sequence[RelationshipType]
    ) -> list[Relationship]:
        """Returns the relationships of some entities, highest confidence first."""
        of = [uuid.UUID(one) for one in ids]
        rows = await self._fetch("neighbors", of, list(types), MAX_NEIGHBORS)
        return [relationship_of(row) for row in rows]

    async def names(self, types: Sequence[EntityType]) -> list[Name]:
        """Returns the names of the most recently mentioned entities, at most 5,000."""
        rows = await self._fetch("entity_names", list(types), MAX_NAMES)
        return [
            Name(
                str(row["id"]),
                row["name"],
                row["canonical_name"],
                tuple(row["aliases"]),
                tuple(row["canonical_aliases"]),
                EntityType(row["type"]),
            )
            for row in rows
        ]

    async def nearest(
        self, model: str, vector: Matrix, types: Sequence[EntityType], limit: int
    ) -> dict[str, float]:
        """Returns the entities most similar to a vector of the model, with their similarities."""
        rows = await self._fetch("nearest_entities", model, vector_text(vector), list(types), limit)
        return {str(row["id"]): float(row["similarity"]) for row in rows}

    async def put_vectors(self, model: str, vectors: Mapping[str, Matrix]) -> None:
        """Stores vectors by entity id, for entities that exist."""
        for id_ in await self.by_id(vectors):
            await self._execute("put_vector", model, uuid.UUID(id_), vector_text(vectors[id_]))

    async def forget_vectors(self, id_: str) -> None:
        """Deletes an entity's vectors, because its text has changed."""
        await self._execute("forget_vectors", uuid.UUID(id_))

    async def without_vector(
        self, model: str, limit: int, *, whole_space: bool = False
    ) -> list[Unembedded]:
        """Returns entities without a vector of a model: the owner's, or with the scope `space` all users'."""
        user = None if whole_space else self.owner.user
        rows = await self.session.fetch(
            self._queries["entities_without_vector"], self.owner.space, user, model, limit
        )
        return [
            Unembedded(
                Owner(row["space"], row["user_id"]),
                str(row["id"]),
                entity_text(row["name"], row["aliases"], row["description"]),
            )
            for row in rows
        ]

    async def forget_other_models(self, model: str) -> None:
        """Deletes the space's vectors of other models; requires the scope `space`."""
        await self.session.execute(self._queries["forget_other_models"], self.owner.space, model)

    async def usage(self, conversation_id: str) -> Usage:
        """Returns how much of their limits a conversation and the day have used."""
        row = await self._row("usage", conversation_id)
        assert row is not None  # noqa: S101 - a count always returns a row
        return Usage(*row.values())

    async def export_entities(self, after: str | None, limit: int) -> list[Entity]:
        """Returns every entity, including deleted ones, ordered by id."""
        place = uuid.UUID(after) if after else None
        return [entity_of(row) for row in await self._fetch("export_entities", place, limit)]

    async def export_relationships(self, after: str | None, limit: int) -> list[Relationship]:
        """Returns every relationship, including deleted ones, ordered by id."""
        place = uuid.UUID(after) if after else None
        rows = await self._fetch("export_relationships", place, limit)
        return [relationship_of(row) for row in rows]

    async def erase(self) -> Receipt:
        """Erases all data of the owner."""
        relationships = await self._value("erase_relationships")
        entities = await self._value("erase_entities")
        writes = await self._value("erase_writes")
        await self._execute("erase_responses")
        return Receipt(entities, relationships, writes)

    async def _row(self, name: str, *arguments: object) -> Row | None:
        return await self.session.row(self._queries[name], *self.owner, *arguments)

    async def _value(self, name: str, *arguments: object) -> Any:
        return await self.session.value(self._queries[name], *self.owner, *arguments)

    async def _fetch(self, name: str, *arguments: object) -> list[Row]:
        return await self.session.fetch(self._queries[name], *self.owner, *arguments)

    async def _execute(self, name: str, *arguments: object) -> None:
        await self.session.execute(self._queries[name], *self.owner, *arguments)


def _distinct(known: Iterable[str], added: Iterable[str], *, but: str) -> tuple[str, ...]:
    seen = {canonical_name(but)}
    kept = []
    for alias in (*known, *added):
        if (key := canonical_name(alias)) not in seen:
            seen.add(key)
            kept.append(alias)
    return tuple(kept[:MAX_ALIASES])


def _place(after: Position | None) -> tuple[datetime | None, uuid.UUID | None]:
    return (None, None) if after is None else (after.last_mention_time, uuid.UUID(after.id))

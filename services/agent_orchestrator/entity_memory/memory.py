"""A user's memory: saves, corrects, queries and erases. The owner comes only from the credential."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from services.agent_orchestrator.entity_memory.domain import EntityType, RelationshipType
from services.agent_orchestrator.entity_memory.embedding import SpaceVectors, Vectors
from services.agent_orchestrator.entity_memory.forgetting import (
    Forgotten,
    Selection,
    named_in,
    of_role,
    select,
)
from services.agent_orchestrator.entity_memory.matching import Hit, Match, add_meaning, match_names
from services.agent_orchestrator.entity_memory.names import canonical_name, display_name
from services.agent_orchestrator.entity_memory.questions import (
    RelationshipQuestion,
    Scored,
    about,
    has_role,
    rank,
    read_question,
)
from services.agent_orchestrator.entity_memory.records import (
    Entity,
    Limits,
    NewEntity,
    NewRelationship,
    Owner,
    Provenance,
    Receipt,
    Relationship,
    SavedEntity,
    SavedRelationship,
    Usage,
)
from services.agent_orchestrator.entity_memory.saving import Saving
from services.agent_orchestrator.entity_memory.store import (
    MAX_NEIGHBORS,
    EntityMemoryStore,
    Position,
    Rows,
)
from services.runtime.errors import NotFoundError, WrongStateError
from services.runtime.times import utc_now

MAX_BY_MEANING = 200
EMBED_BATCH = 64
NAME_TAKEN = "Another entity of this type has the name. Merge them instead."


class FoundEntity(NamedTuple):
    """A found entity, its score, and how it was found."""

    entity: Entity
    score: float
    match: Match


class Found(NamedTuple):
    """A page of results, and their total number."""

    hits: list[FoundEntity]
    total: int
    without_embedding: bool


class Answers(NamedTuple):
    """Relationships that answer a question, best first."""

    answers: list[Scored]
    without_embedding: bool


class Neighbor(NamedTuple):
    """A neighbor, its distance, and the last relationship on the path."""

    entity: Entity
    hops: int
    relationship: Relationship


class EntityMemory:
    """The memories of every user."""

    def __init__(self, store: EntityMemoryStore, vectors: SpaceVectors, limits: Limits) -> None:
        self.store = store
        self.limits = limits
        self._vectors = vectors

    async def save_entity(self, owner: Owner, new: NewEntity, seen: Provenance) -> SavedEntity:
        """Creates an entity, or adds evidence to an existing one."""
        async with self.store.writing(owner) as rows:
            saved = await Saving(rows, seen, self.limits).entity(new)
            if saved.entity is not None and (new.aliases or new.description):
                await rows.forget_vectors(saved.entity.id)
        if saved.outcome.is_saved:
            await self.store.after_commit(lambda: self.embed_missing(owner))
        return saved

    async def save_relationship(
        self, owner: Owner, new: NewRelationship, seen: Provenance
    ) -> SavedRelationship:
        """Creates a relationship, or adds evidence to it. Raises the same errors as `Saving.relationship`."""
        async with self.store.writing(owner) as rows:
            saved = await Saving(rows, seen, self.limits).relationship(new)
        if saved.new_entities:
            await self.store.after_commit(lambda: self.embed_missing(owner))
        return saved

    async def embed_missing(self, owner: Owner) -> None:
        """Embeds entities without a vector of the space's model. On a failure they are embedded later."""
        model = await self._vectors.model()
        if model is None:
            return
        while True:
            async with self.store.reading(owner) as rows:
                missing = await rows.without_vector(model, EMBED_BATCH)
            if not missing:
                return
            made = await self._vectors.of_texts([one.text for one in missing])
            if made is None:
                return
            pairs = zip((one.id for one in missing), made.rows, strict=True)
            await self.store.put_vectors(owner, made.model, pairs)
            if len(missing) < EMBED_BATCH:
                return

    async def get(self, owner: Owner, entity_id: str) -> Entity:
        """Returns an entity by id. Raises NotFoundError if the owner has none with this id."""
        async with self.store.reading(owner) as rows:
            return await _there(rows, entity_id)

    async def query(
        self, owner: Owner, text: str, types: Sequence[EntityType], offset: int, limit: int
    ) -> Found:
        """Returns entities by name, alias, spelling and meaning, best first."""
        vector = await self._vectors.of_query(text)
        async with self.store.reading(owner) as rows:
            hits = await _hits(rows, text, types, vector)
            page = hits[offset : offset + limit]
            entities = await rows.by_id([hit.id for hit in page])
        found = [
            FoundEntity(entities[hit.id], hit.score, hit.match)
            for hit in page
            if hit.id in entities
        ]
        return Found(found, len(hits), without_embedding=vector is None)

    async def entities(
        self, owner: Owner, types: Sequence[EntityType], after: Position | None, limit: int
    ) -> list[Entity]:
        """Returns entities, most recently mentioned first."""
        async with self.store.reading(owner) as rows:
            return await rows.entities(types, after, limit)

    async def relationships(
        self,
        owner: Owner,
        types: Sequence[RelationshipType],
        entity_id: str,
        after: Position | None,
        limit: int,
        *,
        as_of: datetime | None = None,
    ) -> list[Relationship]:
        """Returns relationships that hold, or held at an instant, most recently mentioned first.

        Raises NotFoundError for an unknown entity id.
        """
        async with self.store.reading(owner) as rows:
            if entity_id:
                await _there(rows, entity_id)
            return await rows.relationships(types, entity_id or None, after, limit, as_of)

    async def knows(self, owner: Owner, name: str) -> bool:
        """Whether the owner has an entity with this name or alias."""
        async with self.store.reading(owner) as rows:
            return await rows.find(name, None) is not None

    async def replaced_by(self, owner: Owner, new: NewRelationship) -> list[Relationship]:
        """Returns the relationships in whose place one of the user is said."""
        async with self.store.reading(owner) as rows:
            return await rows.replaced_by(new)

    async def related(
        self, owner: Owner, entity_id: str, types: Sequence[RelationshipType], max_hops: int
    ) -> list[Neighbor]:
        """Returns the entities around one, or around the user, nearest first. Raises NotFoundError if unknown."""
        async with self.store.reading(owner) as rows:
            if entity_id:
                start: str | None = (await _there(rows, entity_id)).id
            else:
                start = await rows.self_id()
            if start is None:
                return []
            ways = await _ways(rows, start, types, max_hops)
            entities = await rows.by_id(ways)
        return [
            Neighbor(entities[id_], hops, relationship)
            for id_, (hops, relationship) in ways.items()
            if id_ in entities
        ]

    async def answer(
        self,
        owner: Owner,
        text: str,
        relationship_type: RelationshipType | None,
        entity_type: EntityType | None,
    ) -> Answers:
        """Returns relationships that answer a question in natural language, best first."""
        async with self.store.reading(owner) as rows:
            names = await rows.names(())
            question = read_question(text, names, relationship_type, entity_type)
            if (question.role or question.is_of_own_project) and (own := await rows.self_id()):
                question = about(question, await rows.neighbors([own], ()))
            candidates = await _candidates(rows, question)
            past = question.is_past or (question.named and not candidates)
            if past and (ended := await _ended(rows, question)):
                candidates = ended
        meaning: dict[str, float] = {}
        is_about_more = bool(question.topic and candidates)  # than types and names
        vector = await self._vectors.of_query(text) if is_about_more else None
        if vector is not None:
            async with self.store.reading(owner) as rows:
                meaning = await rows.nearest(vector.model, vector.rows[0], (), MAX_BY_MEANING)
        strict = [
            name
            for name, given in (("type", relationship_type), ("entity_type", entity_type))
            if given is not None
        ]
        ranked = rank(question, candidates, meaning, strict=strict)
        return Answers(ranked, without_embedding=is_about_more and vector is None)

    async def merge(self, owner: Owner, entity_id: str, other_id: str) -> Entity:
        """Merges the other entity into the first. Raises NotFoundError for an unknown id."""
        async with self.store.writing(owner) as rows:
            kept, other = await _there(rows, entity_id), await _there(rows, other_id)
            await _move_relationships(rows, kept.id, other.id)
            await rows.delete(other.id, merged_into=kept.id)
            together = _with_evidence_of(kept, other)
            merged = await rows.rename(
                together, kept.name, (*kept.aliases, other.name, *other.aliases)
            )
            await rows.forget_vectors(kept.id)
        await self.store.after_commit(lambda: self.embed_missing(owner))
        return merged

    async def rename(self, owner: Owner, entity_id: str, name: str) -> Entity:
        """Renames an entity. Raises NotFoundError, or WrongStateError if another entity has the name."""
        name = display_name(name)
        async with self.store.writing(owner) as rows:
            known = await _there(rows, entity_id)
            await _check_free(rows, known, name)
            aliases = known.aliases
            if canonical_name(name) != known.canonical_name:
                aliases = (*aliases, known.name)
            renamed = await rows.rename(known, name, aliases)
            await rows.forget_vectors(known.id)
        await self.embed_missing(owner)
        return renamed

    async def delete(self, owner: Owner, entity_id: str) -> int:
        """Soft-deletes an entity; returns how many relationships were deleted with it. Raises NotFoundError."""
        async with self.store.writing(owner) as rows:
            known = await _there(rows, entity_id)
            return await rows.delete(known.id)

    async def restore(self, owner: Owner, entity_id: str) -> tuple[Entity, int]:
        """Restores a deleted entity and its relationships. Raises NotFoundError, WrongStateError: see the contract."""
        async with self.store.writing(owner) as rows:
            known = await rows.get(entity_id)
            if known is None:
                raise NotFoundError("entity")
            if known.delete_time is None:
                return known, 0
            if known.merged_into is not None:
                raise WrongStateError("The entity was merged into another one.")
            await _check_free(rows, known, known.name)
            restored = await rows.restore(known)
        await self.embed_missing(owner)
        return restored

    async def delete_relationship(self, owner: Owner, relationship_id: str) -> None:
        """Soft-deletes a relationship; what it took the place of holds again. Raises NotFoundError if it is unknown."""
        async with self.store.writing(owner) as rows:
            if await rows.take_back(relationship_id) is None:
                raise NotFoundError("relationship")

    async def forget(self, owner: Owner, words: str) -> Forgotten:
        """Soft-deletes what the words name, in one transaction; nothing where several entities share the name."""
        async with self.store.writing(owner) as rows:
            named = named_in(words, await rows.names(()))
            ids = [one.id for one in named]
            # What has ended is known, too, until it is forgotten.
            around = [*await rows.neighbors(ids, ()), *await rows.ended(ids)] if named else []
            chosen = select(words, named, around)
            if chosen == Selection() and (own := await rows.self_id()):
                around = [*await rows.neighbors([own], ()), *await rows.ended([own])]
                chosen = of_role(words, around)
            entities = await rows.by_id(chosen.entities)
            for id_ in entities:
                await rows.delete(id_)
            resumed = [
                one for id_ in chosen.relationships for one in await rows.take_back(id_) or ()
            ]
            # What is chosen itself may hold again after another one of them was deleted.
            for id_ in chosen.relationships:
                await rows.delete_relationship(id_)
            again = await rows.relationships_by_id(
                one for one in resumed if one not in chosen.relationships
            )
        relationships = tuple(
            one
            for one in around
            if one.id in chosen.relationships or {one.source.id, one.target.id} & entities.keys()
        )
        return Forgotten(tuple(entities.values()), relationships, tuple(again), chosen.ambiguous)

    async def usage(self, owner: Owner, conversation_id: str) -> Usage:
        """Returns how much of their limits a conversation and the day have used."""
        async with self.store.reading(owner) as rows:
            return await rows.usage(conversation_id)

    async def export(
        self, owner: Owner, kind: str, after: str | None, limit: int
    ) -> tuple[list[Entity], list[Relationship]]:
        """Returns a page of all entities or of all relationships, including deleted ones."""
        async with self.store.reading(owner) as rows:
            if kind == "entities":
                return await rows.export_entities(after, limit), []
            return [], await rows.export_relationships(after, limit)

    async def erase(self, owner: Owner) -> tuple[Receipt, datetime]:
        """Erases all data of the owner."""
        async with self.store.writing(owner) as rows:
            receipt = await rows.erase()
        return receipt, utc_now()


async def _hits(
    rows: Rows, text: str, types: Sequence[EntityType], vector: Vectors | None
) -> list[Hit]:
    by_name = match_names(text, await rows.names(types))
    meaning: dict[str, float] = {}
    if vector is not None:
        meaning = await rows.nearest(vector.model, vector.rows[0], types, MAX_BY_MEANING)
    return add_meaning(by_name, meaning)


async def _candidates(rows: Rows, question: RelationshipQuestion) -> list[Relationship]:
    """Returns the relationships that may answer a question."""
    around = set(question.named)
    if not around and question.is_first_person:
        own = await rows.self_id()
        around = {own} if own else set()
        if not around:
            return []
    if around:
        return await rows.neighbors(around, ())
    return await rows.relationships((), None, None, MAX_NEIGHBORS)


async def _ended(rows: Rows, question: RelationshipQuestion) -> list[Relationship]:
    """Returns the relationships around what a question names, or around the user, that later statements have ended."""
    own = await rows.self_id()
    around = set(question.named) or ({own} if own and question.is_first_person else set())
    found = await rows.ended(around) if around else []
    of_role = [one for one in found if has_role(question, one)]
    return of_role or [one for one in found if not question.types or one.type in question.types]


async def _ways(
    rows: Rows, start: str, types: Sequence[RelationshipType], max_hops: int
) -> dict[str, tuple[int, Relationship]]:
    ways: dict[str, tuple[int, Relationship]] = {}
    frontier = [start]
    for hops in range(1, max_hops + 1):
        following = []
        for one in await rows.neighbors(frontier, types):
            for end in (one.source, one.target):
                # The user is a neighbor of all entities: paths through the user do not relate them.
                if end.id != start and end.id not in ways and not end.is_user:
                    ways[end.id] = (hops, one)
                    following.append(end.id)
        frontier = following
        if not frontier:
            break
    return ways


async def _there(rows: Rows, entity_id: str) -> Entity:
    found = await rows.get(entity_id)
    if found is None or found.delete_time is not None:
        raise NotFoundError("entity")
    return found


async def _check_free(rows: Rows, known: Entity, name: str) -> None:
    other = await rows.find(name, known.type)
    taken = other is not None and other.id != known.id
    if taken and other is not None and other.canonical_name == canonical_name(name):
        raise WrongStateError(NAME_TAKEN)


async def _move_relationships(rows: Rows, kept: str, other: str) -> None:
    there = {(one.source_id, one.type, one.target_id): one.id for one in await rows.ends_of(kept)}
    for one in await rows.ends_of(other):
        source = kept if one.source_id == other else one.source_id
        target = kept if one.target_id == other else one.target_id
        if source == target:
            await rows.delete_relationship(one.id)
        elif (same := there.get((source, one.type, target))) is not None:
            await rows.fold(same, one)
        else:
            await rows.move(one.id, source, target)


def _with_evidence_of(kept: Entity, other: Entity) -> Entity:
    return replace(
        kept,
        confidence=max(kept.confidence, other.confidence),
        mention_count=kept.mention_count + other.mention_count,
    )

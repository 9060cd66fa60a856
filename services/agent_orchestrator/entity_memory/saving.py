"""The steps of saving, in a transaction with the user's lock: limits are exact, and names are resolved once."""

from __future__ import annotations

from typing import NamedTuple

from services.agent_orchestrator.entity_memory.domain import EntityType
from services.agent_orchestrator.entity_memory.names import canonical_name, display_name
from services.agent_orchestrator.entity_memory.records import (
    Entity,
    Limits,
    NamedEnd,
    NewEntity,
    NewRelationship,
    Outcome,
    Provenance,
    Relationship,
    SavedEntity,
    SavedRelationship,
)
from services.agent_orchestrator.entity_memory.store import Rows
from services.runtime.errors import FieldError, InvalidFieldError, NotFoundError

DEFAULT_TYPE = EntityType.CONCEPT


class _ResolvedEnds(NamedTuple):
    """A relationship's ends, None for an entity that does not exist yet, and whether each is the user."""

    source: Entity | None
    target: Entity | None


class Saving:
    """Saves for one owner from one message."""

    def __init__(self, rows: Rows, seen: Provenance, limits: Limits) -> None:
        self._rows = rows
        self._seen = seen
        self._limits = limits

    async def entity(self, new: NewEntity) -> SavedEntity:
        """Creates an entity, or adds evidence to the one with the same name and type."""
        if new.confidence < self._limits.confidence_threshold:
            return SavedEntity(Outcome.BELOW_THRESHOLD)
        new = new._replace(
            name=display_name(new.name), aliases=tuple(display_name(one) for one in new.aliases)
        )
        known = await self._rows.find(new.name, new.type)
        if known is not None:
            return SavedEntity(Outcome.REINFORCED, await self._mention(known, new))
        added = await self._rows.add(new, self._seen, self._limits)
        if added is None:
            return SavedEntity(await self._limit(1) or Outcome.DAY_LIMIT)
        return SavedEntity(Outcome.CREATED, added)

    async def relationship(self, new: NewRelationship) -> SavedRelationship:
        """Creates a relationship with the entities that it needs, or adds evidence to it, atomically.

        Raises InvalidFieldError if both ends are the same entity, NotFoundError for an unknown entity id.
        """
        if new.confidence < self._limits.confidence_threshold:
            return SavedRelationship(Outcome.BELOW_THRESHOLD)
        ends = _ResolvedEnds(await self._known(new.source), await self._known(new.target))
        _check_ends(new, ends)
        missing = sum(
            known is None and not asked.is_user
            for known, asked in zip(ends, (new.source, new.target), strict=True)
        )
        if missing and (limit := await self._limit(missing)) is not None:
            return SavedRelationship(limit)
        known_one = await self._between(new, ends)
        if known_one is None and await self._relationship_limit():
            return SavedRelationship(Outcome.CONVERSATION_LIMIT)
        created: list[Entity] = []
        source_id = await self._end(new.source, ends.source, new, created)
        target_id = await self._end(new.target, ends.target, new, created)
        if known_one is not None:
            ended = await self._end_replaced(new, target_id, known_one.id)
            if not self._is_same_message(known_one.last_seen):
                await self._rows.reinforce_relationship(known_one, new, self._seen)
            return await self._saved(Outcome.REINFORCED, known_one.id, created, ended)
        id_ = await self._rows.add_relationship(
            (source_id, target_id), new, self._seen, self._limits
        )
        assert id_ is not None  # noqa: S101 - the limit was checked under the user's lock
        ended = await self._end_replaced(new, target_id, id_)
        return await self._saved(Outcome.CREATED, id_, created, ended)

    async def retract(self, new: NewRelationship) -> bool:
        """Ends a relationship that holds no longer, or deletes one that was never meant; returns whether it held."""
        ends = _ResolvedEnds(await self._known(new.source), await self._known(new.target))
        known = await self._between(new, ends)
        if known is None:
            return False
        if new.mistaken:
            return await self._rows.take_back(known.id) is not None
        return await self._rows.end_relationship(known.id)

    async def _end_replaced(
        self, new: NewRelationship, target_id: str, by: str
    ) -> list[Relationship]:
        """Ends what has the role of a relationship that is said in its place, unless the same message says both."""
        if not new.exclusive or not new.source.is_user:
            return []
        return [
            one
            for one in await self._rows.replaced_by(new)
            if one.target.id != target_id
            and not self._is_same_message(one.last_seen)
            and await self._rows.end_relationship(one.id, by)
        ]

    async def _known(self, asked: NamedEnd) -> Entity | None:
        if asked.is_user:
            return None
        if asked.id:
            found = await self._rows.get(asked.id)
            if found is None or found.delete_time is not None:
                raise NotFoundError("entity")
            return found
        # One name is one entity, whatever types several turns give it; only SaveEntity distinguishes types.
        return await self._rows.find(asked.name, asked.type) or await self._rows.find(
            asked.name, None
        )

    async def _between(self, new: NewRelationship, ends: _ResolvedEnds) -> Relationship | None:
        ids = []
        for known, asked in zip(ends, (new.source, new.target), strict=True):
            id_ = await self._rows.self_id() if asked.is_user else (known.id if known else None)
            if id_ is None:
                return None
            ids.append(id_)
        return await self._rows.relationship(ids[0], new.type, ids[1])

    async def _end(
        self, asked: NamedEnd, known: Entity | None, new: NewRelationship, created: list[Entity]
    ) -> str:
        if asked.is_user:
            id_ = await self._rows.self_id(create=True)
            assert id_ is not None  # noqa: S101 - it was created above
            return id_
        if known is not None:
            await self._mention(known, NewEntity(known.name, known.type, confidence=new.confidence))
            return known.id
        added = await self._rows.add(
            NewEntity(
                display_name(asked.name),
                asked.type or DEFAULT_TYPE,
                description=new.context,
                confidence=new.confidence,
            ),
            self._seen,
            self._limits,
        )
        assert added is not None  # noqa: S101 - the limits were checked under the user's lock
        created.append(added)
        return added.id

    async def _mention(self, known: Entity, new: NewEntity) -> Entity:
        """Adds evidence; a message counts once, even if it names the entity several times."""
        if self._is_same_message(known.last_seen) and not new.aliases and not new.description:
            return known
        return await self._rows.reinforce(known, new, self._seen)

    def _is_same_message(self, seen: Provenance) -> bool:
        return bool(self._seen.message_id) and seen == self._seen

    async def _limit(self, entities: int) -> Outcome | None:
        """Returns the limit that this many new entities would exceed."""
        used = await self._rows.usage(self._seen.conversation_id)
        limits = self._limits
        if (
            self._seen.conversation_id
            and used.conversation_entities + entities > limits.max_entities_per_conversation
        ):
            return Outcome.CONVERSATION_LIMIT
        if used.day_entities + entities > limits.max_entities_per_day:
            return Outcome.DAY_LIMIT
        return None

    async def _relationship_limit(self) -> bool:
        if not self._seen.conversation_id:
            return False
        used = await self._rows.usage(self._seen.conversation_id)
        return used.conversation_relationships >= self._limits.max_relationships_per_conversation

    async def _saved(
        self, outcome: Outcome, id_: str, created: list[Entity], ended: list[Relationship]
    ) -> SavedRelationship:
        found = await self._rows.relationships_by_id([id_])
        return SavedRelationship(outcome, found[0], tuple(created), tuple(ended))


def _check_ends(new: NewRelationship, ends: _ResolvedEnds) -> None:
    source, target = ends
    same = (
        (new.source.is_user and new.target.is_user)
        or (source is not None and target is not None and source.id == target.id)
        or (
            source is None
            and target is None
            and bool(new.source.name)
            and canonical_name(new.source.name) == canonical_name(new.target.name)
            and (new.source.type or DEFAULT_TYPE) == (new.target.type or DEFAULT_TYPE)
        )
    )
    if same:
        raise InvalidFieldError(FieldError("target", "must be another entity than the source"))

"""Records of a user's memory, and the results of saving."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import NamedTuple

from services.agent_orchestrator.entity_memory.domain import EntityType, RelationshipType

DEFAULT_CONFIDENCE = 0.95
# The share of the remaining uncertainty that a repetition removes.
REINFORCEMENT = 0.2


class Owner(NamedTuple):
    """The space and user that own a memory."""

    space: str
    user: str


class Provenance(NamedTuple):
    """The origin of a statement; "" if unknown."""

    conversation_id: str = ""
    message_id: str = ""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of saving, and the minimum confidence."""

    confidence_threshold: float = 0.7
    max_entities_per_conversation: int = 20
    max_relationships_per_conversation: int = 30
    max_entities_per_day: int = 100


@dataclass(frozen=True, slots=True)
class Entity:
    """A stored entity."""

    id: str
    name: str
    canonical_name: str
    type: EntityType
    aliases: tuple[str, ...]
    description: str
    confidence: float
    mention_count: int
    first_seen: Provenance
    last_seen: Provenance
    create_time: datetime
    last_mention_time: datetime
    delete_time: datetime | None
    merged_into: str | None


@dataclass(frozen=True, slots=True)
class End:
    """One end of a relationship; `type` is None for the user."""

    id: str
    name: str
    type: EntityType | None

    @property
    def is_user(self) -> bool:
        """Whether it is the user."""
        return self.type is None


@dataclass(frozen=True, slots=True)
class Relationship:
    """A stored relationship with its ends. One that a later statement has ended held until `delete_time`."""

    id: str
    source: End
    type: RelationshipType
    target: End
    context: str
    confidence: float
    mention_count: int
    first_seen: Provenance
    last_seen: Provenance
    create_time: datetime
    last_mention_time: datetime
    delete_time: datetime | None
    role: str = ""
    ended: bool = False


class StoredEnds(NamedTuple):
    """A relationship with the ids of its ends, and its evidence."""

    id: str
    source_id: str
    type: str
    target_id: str
    confidence: float
    mention_count: int


class Outcome(Enum):
    """The outcome of saving."""

    CREATED = "It is saved."
    REINFORCED = "It was known, and has more evidence now."
    BELOW_THRESHOLD = "Nothing was saved: the confidence is below the threshold."
    CONVERSATION_LIMIT = (
        "Nothing was saved: this conversation has reached its limit. Say it again in another one."
    )
    DAY_LIMIT = (
        "Nothing was saved: the limit of new entities for today is reached. Say it again tomorrow."
    )

    @property
    def is_saved(self) -> bool:
        """Whether something was saved."""
        return self in {Outcome.CREATED, Outcome.REINFORCED}


class Usage(NamedTuple):
    """The number of items created in a conversation and today."""

    conversation_entities: int
    conversation_relationships: int
    day_entities: int


class NewEntity(NamedTuple):
    """An entity to save; its names are not blank."""

    name: str
    type: EntityType
    aliases: tuple[str, ...] = ()
    description: str = ""
    confidence: float = DEFAULT_CONFIDENCE


class NamedEnd(NamedTuple):
    """An end of a relationship to save: an entity by id or by name, or the user if both are empty."""

    id: str = ""
    name: str = ""
    type: EntityType | None = None

    @property
    def is_user(self) -> bool:
        """Whether it is the user."""
        return not self.id and not self.name


class NewRelationship(NamedTuple):
    """A relationship to save or to retract; `role`, `exclusive` and `mistaken` are those of `ExtractedRelationship`."""

    source: NamedEnd
    type: RelationshipType
    target: NamedEnd
    context: str = ""
    confidence: float = DEFAULT_CONFIDENCE
    role: str = ""
    exclusive: bool = False
    mistaken: bool = False


class SavedEntity(NamedTuple):
    """The result of saving an entity."""

    outcome: Outcome
    entity: Entity | None = None


class SavedRelationship(NamedTuple):
    """The result of saving a relationship. `new_entities` were created for it, and `ended` were in its place."""

    outcome: Outcome
    relationship: Relationship | None = None
    new_entities: tuple[Entity, ...] = ()
    ended: tuple[Relationship, ...] = ()


class Receipt(NamedTuple):
    """The counts of erased items."""

    entities: int
    relationships: int
    writes: int


def reinforced(before: float, evidence: float) -> float:
    """Returns the confidence after a repetition: higher than before, at most 1."""
    base = max(before, evidence)
    return min(1.0, base + (1.0 - base) * REINFORCEMENT)

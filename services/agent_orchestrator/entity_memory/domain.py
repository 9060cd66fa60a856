"""The domain types of entity memory, independent of storage and transport."""

from dataclasses import dataclass
from enum import StrEnum

SELF = "User"
"""The name by which an extraction refers to the user; the user is never listed as an entity."""

IMPLIED_CONFIDENCE = 0.7
"""The lowest confidence of something that the text implies; below it nothing is saved by default."""
EXPLICIT_CONFIDENCE = 0.9
"""The lowest confidence of something that the text says in so many words."""


class EntityType(StrEnum):
    PERSON = "person"
    PROJECT = "project"
    TOOL = "tool"
    CONCEPT = "concept"
    ORGANIZATION = "organization"
    PLACE = "place"


class RelationshipType(StrEnum):
    USES = "USES"
    PREFERS = "PREFERS"
    DECIDED = "DECIDED"
    WORKS_ON = "WORKS_ON"
    WORKS_WITH = "WORKS_WITH"
    KNOWS = "KNOWS"
    DEPENDS_ON = "DEPENDS_ON"
    MENTIONED_IN = "MENTIONED_IN"
    PART_OF = "PART_OF"
    LIVES_IN = "LIVES_IN"


@dataclass(frozen=True, slots=True)
class ExtractedEntity:
    """An entity that a user's turn names, in the user's spelling."""

    name: str
    type: EntityType
    confidence: float


@dataclass(frozen=True, slots=True)
class ExtractedRelationship:
    """A relationship between two names; `source` is `SELF` if it is the user."""

    source: str
    type: RelationshipType
    target: str
    confidence: float
    context: str = ""
    """The clause that says it."""
    role: str = ""
    """What the target is to the user: "boss" of "my boss is Bob"."""
    exclusive: bool = False
    """Whether it ends what has the role now, or was said in its place."""
    mistaken: bool = False
    """Of a retracted one: whether it was never meant, so that it is not history either."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """The statements of a conversation's turns that are worth saving.

    `retracted` names relationships that a later turn withdraws ("we no longer use X"); they are
    removed from the memory if it contains them.
    """

    entities: tuple[ExtractedEntity, ...] = ()
    relationships: tuple[ExtractedRelationship, ...] = ()
    retracted: tuple[ExtractedRelationship, ...] = ()

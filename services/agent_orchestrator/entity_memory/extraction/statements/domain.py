"""A statement: one relationship between two referents."""

from dataclasses import dataclass

from services.agent_orchestrator.entity_memory.domain import RelationshipType
from services.agent_orchestrator.entity_memory.extraction.entity_types import Referent


@dataclass(frozen=True, slots=True)
class Statement:
    source: Referent
    type: RelationshipType
    target: Referent
    confidence: float
    built: bool = False
    """Whether an unknown target is rather a system of the user's company than a product of others."""
    role: str = ""
    """What the target is to the user: "boss" of "my boss is Bob"."""
    exclusive: bool = False
    """Whether it is said in place of what has the role."""

"""The local extractor: finds statements about people, projects and tools with a clause grammar. English only.

turn → own sentences → tokens → names and chunks → clauses → judgement (is it true?) → relationships by verb frame.
"""

from services.agent_orchestrator.entity_memory.extraction.conversation import (
    Conversation,
    read_turns,
)
from services.agent_orchestrator.entity_memory.extraction.known_names import KnownNames

__all__ = ["Conversation", "KnownNames", "read_turns"]

"""The local extractor: what a user's turns say about people, projects and tools, by a clause grammar. English only.

turn → own sentences → tokens → names and chunks → clauses → judgement (does it hold?) → relationships by verb frame.
"""

from services.agent_orchestrator.entity_memory.extraction.conversation import (
    Conversation,
    read_turns,
)
from services.agent_orchestrator.entity_memory.extraction.known_names import KnownNames

__all__ = ["Conversation", "KnownNames", "read_turns"]

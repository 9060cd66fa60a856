"""Memories, their types, and the partition of the tiers that stores a user's memories."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

SESSION_SUMMARY = "SESSION_SUMMARY"
ERROR = "ERROR"
SOLUTION = "SOLUTION"
DEFAULT_TYPE = "CONTEXT"
DEFAULT_TYPES = frozenset(
    {
        DEFAULT_TYPE,
        "DECISION",
        ERROR,
        "INSIGHT",
        "LEARNING",
        "NOTE",
        "PATTERN",
        "PREFERENCE",
        SESSION_SUMMARY,
        SOLUTION,
        "TASK",
    }
)
DEFAULT_IMPORTANCE = 0.5


class Owner(NamedTuple):
    """The space and user that own memories."""

    space: str
    user: str

    @property
    def partition(self) -> str:
        """The space of the tiers that contains only the user's memories.

        Every answer of the tiers about this space is therefore limited to these memories: no filter can be forgotten.
        It is a digest, so that no name of a space or a user can collide with another one's.
        """
        digest = hashlib.sha256(json.dumps([self.space, self.user]).encode()).hexdigest()
        return f"memories-{digest[:48]}"


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A memory to store."""

    type: str
    content: str
    title: str = ""
    tags: tuple[str, ...] = ()
    importance: float = DEFAULT_IMPORTANCE
    session_id: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Memory:
    """A stored memory. `document_id` names its document in the vector tier."""

    id: str
    document_id: str
    given: NewMemory
    create_time: datetime
    access_count: int = 0
    last_access_time: datetime | None = None
    # Whether the graph has it with its relations; otherwise a job stores it there.
    in_graph: bool = True

"""Records of the queue of writes to memory."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from services.agent_orchestrator.entity_memory.records import Provenance


class DeadWrite(NamedTuple):
    """A write that failed for good."""

    number: int
    kind: str
    seen: Provenance
    reason: str
    attempts: int
    create_time: datetime
    fail_time: datetime

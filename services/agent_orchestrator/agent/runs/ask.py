"""A question with its options, the limits of its run, and the run's conversation state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from zoneinfo import ZoneInfo

from services.agent_orchestrator.agent.conversations.history import StoredMessage
from services.agent_orchestrator.agent.conversations.store import Conversation
from services.agent_orchestrator.agent.dependencies import SearchPreferences
from services.agent_orchestrator.agent.toolsets import Profile


@dataclass(frozen=True, slots=True)
class Limits:
    """Timeouts in seconds, the maximum number of concurrent runs, and the token budget of the history."""

    run_seconds: float = 120.0
    conversation_wait_seconds: float = 10.0
    orphan_seconds: float = 10.0
    keep_seconds: float = 60.0
    lease_seconds: float = 15.0
    store_seconds: float = 3.0
    max_runs: int = 200
    history_tokens: int = 4_000


@dataclass(frozen=True, slots=True)
class Ask:
    """A question as the caller asks it. With `keeps`, the turn is stored and entity memory may be written.

    `starts_conversation` stores it in a new conversation.
    """

    question: str
    conversation_id: str
    profile: Profile
    preferences: SearchPreferences
    now: datetime
    zone: ZoneInfo
    session_id: str
    prior: Sequence[StoredMessage] = ()
    cancel_on_disconnect: bool = False
    skip_memory: bool = False
    keeps: bool = True
    starts_conversation: bool = False


@dataclass(slots=True)
class RunMemory:
    """A run's conversation, and whether the conversation and the event log could be reached."""

    conversation: Conversation | None = None
    logged: bool = False
    written: int = 0
    notes: list[str] = field(default_factory=list)

"""The dependencies of a run's tools: user, space, time, and the clients of the tiers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from services.agent_orchestrator.agent.citation_numbers import Evidence
from services.agent_orchestrator.agent.planner.entity_recognition import KnownEntity
from services.agent_orchestrator.agent.planner.tool_choice import VectorOf, no_vector
from services.agent_orchestrator.entity_memory.notes import NoteTurn, not_noted

if TYPE_CHECKING:
    from braid.common.v1 import legs_pb2
    from services.agent_orchestrator.agent.tier_reads import TierReads
    from services.agent_orchestrator.search.comprehensive import ComprehensiveSearch
    from services.agent_orchestrator.search.expanded_hybrid import ExpandedHybrid
    from services.models.reranking.reranker import PairReranker
    from services.runtime.text_worker import TextWorkers

LegEnded = Callable[[str, "legs_pb2.LegReport"], None]
ContextOf = Callable[[str, str, str], Awaitable[str]]
"""Returns a text for a prompt: what is known about a user and relevant to a question. Of space, user and question."""


async def no_context(_space: str, _user: str, _question: str) -> str:
    """Nothing is known about any user."""
    return ""


@dataclass(frozen=True, slots=True)
class SearchPreferences:
    """Search options that tools use unless the model sets others."""

    use_vector: bool = True
    use_graph: bool = True
    default_limit: int = 10


@dataclass(frozen=True, slots=True)
class AgentDependencies:
    """The dependencies of one run.

    `now` is the instant that relative dates refer to, `zone` the caller's time zone. `evidence` collects the tools'
    results. `linked` caches entity look-ups, one task for each text. `planner` processes the local planner's steps;
    `reader` is the cross-encoder that chooses what it quotes, and `vector_of` embeds a question to choose its tools.
    `leg_ended` is called for each finished leg of a search, with the id of the tool call. Unless `may_save`, no tool
    saves anything. `is_remembered` says whether the question is queued for the entity memory, `note` what of it.
    `user_context` is the part of a language model's prompt about the user.
    """

    session_id: str
    user_id: str | None
    space: str
    question: str
    now: datetime
    zone: ZoneInfo
    search: ComprehensiveSearch
    hybrid: ExpandedHybrid
    tiers: TierReads
    planner: TextWorkers
    vector_of: VectorOf = no_vector
    reader: PairReranker | None = None
    search_preferences: SearchPreferences = field(default_factory=SearchPreferences)
    evidence: Evidence = field(default_factory=Evidence)
    run_id: str = ""
    conversation_id: str = ""
    linked: dict[str, asyncio.Task[Sequence[KnownEntity]]] = field(default_factory=dict)
    may_save: bool = True
    is_remembered: bool = False
    note: NoteTurn = not_noted
    user_context: str = ""
    leg_ended: LegEnded = field(default=lambda _call_id, _report: None)

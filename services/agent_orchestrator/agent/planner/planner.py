"""The local planner: a question and the turns before it become tool calls."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from services.agent_orchestrator.agent.planner.entity_recognition import LinkEntities
from services.agent_orchestrator.agent.planner.follow_up import Turn, understand
from services.agent_orchestrator.agent.planner.question import Clock, Question
from services.agent_orchestrator.agent.planner.routing import ToolCall, plan


@dataclass(frozen=True, slots=True)
class LocalPlanner:
    """Routes by the question's form. `link` finds the entities of the space that a text names."""

    link: LinkEntities
    clock: Clock

    async def read(self, text: str, turns: Sequence[Turn] = ()) -> list[Question]:
        """The parts of a question, with what earlier turns say about them."""
        return await understand(text, turns, self.clock, self.link)

    async def plan(
        self, text: str, tools: Collection[str], turns: Sequence[Turn] = ()
    ) -> list[ToolCall]:
        """The calls that a question needs, of the tools there are; none for small talk."""
        return plan(await self.read(text, turns), tools)

"""The local planner: maps a question and the turns before it to tool calls."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from services.agent_orchestrator.agent.planner.entity_recognition import LinkEntities
from services.agent_orchestrator.agent.planner.follow_up import Turn, understand
from services.agent_orchestrator.agent.planner.question import Clock, Question
from services.agent_orchestrator.agent.planner.routing import ToolCall, plan
from services.agent_orchestrator.agent.planner.tool_choice import ChooseTool


@dataclass(frozen=True, slots=True)
class LocalPlanner:
    """Routes a question. `link` finds the entities of the space that a text names, `choose` the tool."""

    link: LinkEntities
    clock: Clock
    choose: ChooseTool

    async def read(self, text: str, turns: Sequence[Turn] = ()) -> list[Question]:
        """Returns the parts of a question, completed from earlier turns, without alternative readings."""
        understood = await understand(text, turns, self.clock, self.link, self.choose)
        return [one for one in understood if not one.is_alternative]

    async def plan(
        self, text: str, tools: Collection[str], turns: Sequence[Turn] = ()
    ) -> list[ToolCall]:
        """Returns the calls that a question needs, limited to the available tools; none for small talk."""
        return plan(await self.read(text, turns), tools)

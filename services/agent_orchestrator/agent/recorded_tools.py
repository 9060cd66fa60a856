"""Records tool calls as spans and in a histogram: by tool name, never with arguments."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from opentelemetry.metrics import Histogram
from pydantic_ai import RunContext
from pydantic_ai.toolsets import WrapperToolset
from pydantic_ai.toolsets.abstract import ToolsetTool

from services.agent_orchestrator.agent.dependencies import AgentDependencies
from services.runtime.instruments import TOOL_DURATION, histogram
from services.runtime.tracing import span


@dataclass
class RecordedToolset(WrapperToolset[AgentDependencies]):
    """A toolset whose calls are recorded."""

    _duration: Histogram = field(default_factory=lambda: histogram(TOOL_DURATION), repr=False)

    async def call_tool(
        self,
        name: str,
        tool_args: dict[str, Any],
        ctx: RunContext[AgentDependencies],
        tool: ToolsetTool[AgentDependencies],
    ) -> Any:
        """See `WrapperToolset`."""
        started = time.perf_counter()
        outcome = "ok"
        try:
            with span(f"tool {name}", {"tool": name}):
                return await super().call_tool(name, tool_args, ctx, tool)
        except BaseException as error:
            outcome = type(error).__name__
            raise
        finally:
            took = time.perf_counter() - started
            self._duration.record(took, {"tool": name, "outcome": outcome})

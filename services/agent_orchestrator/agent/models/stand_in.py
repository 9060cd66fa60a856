"""A minimal planner: searches once and quotes what it found. It stands in until the local planner is there."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelRequest, ToolReturnPart, UserPromptPart
from pydantic_ai.models import Model
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel

from services.agent_orchestrator.agent.models.configured import LOCAL_PLANNER
from services.agent_orchestrator.agent.results import ToolResult

_PREFERRED = ("comprehensive_search", "search_knowledge_graph", "hybrid_search")


def stand_in() -> Model[Any]:
    """The model."""
    return FunctionModel(stream_function=_answer, model_name=LOCAL_PLANNER)


async def _answer(
    messages: list[ModelMessage], info: AgentInfo
) -> AsyncIterator[str | DeltaToolCalls]:
    last = messages[-1]
    found = [
        ToolResult.from_metadata(part.metadata)
        for part in last.parts
        if isinstance(last, ModelRequest) and isinstance(part, ToolReturnPart)
    ]
    if not found:
        offered = [tool.name for tool in info.function_tools]
        name = next((one for one in _PREFERRED if one in offered), offered[0])
        yield {0: DeltaToolCall(name, _arguments(_question(messages)), tool_call_id="call-1")}
        return
    results = [result for result in found if result is not None]
    items = [item for result in results for item in result.items][:3]
    if not items:
        yield " ".join(result.message for result in results) or "The documents do not say."
        return
    for number, item in enumerate(items, start=1):
        yield f"“{item.text}” [{number}]\n"


def _question(messages: list[ModelMessage]) -> str:
    asked = [
        str(part.content)
        for message in messages
        for part in message.parts
        if isinstance(part, UserPromptPart)
    ]
    return asked[-1]


def _arguments(question: str) -> str:
    return json.dumps({"query": question[:4096]})

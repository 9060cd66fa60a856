"""The registry of toolsets: which tools exist, and which of them a run may use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias

from pydantic_ai import FunctionToolset, RunContext, Tool
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import AbstractToolset, CombinedToolset

from services.agent_orchestrator.agent.dependencies import AgentDependencies
from services.agent_orchestrator.agent.guard import GuardedToolset
from services.agent_orchestrator.agent.recorded_tools import RecordedToolset
from services.agent_orchestrator.agent.tools.documents import (
    comprehensive_search,
    hybrid_search,
    vector_search,
)
from services.agent_orchestrator.agent.tools.findings import search_findings
from services.agent_orchestrator.agent.tools.graph import (
    diff_graph,
    get_entity_history,
    get_snapshot,
    search_knowledge_graph,
)
from services.runtime.telemetry import get_logger

Profile: TypeAlias = Literal["all", "search", "graph"]
Toolset: TypeAlias = AbstractToolset[AgentDependencies]

# The expected tools of each profile, by name. Models route a short list more accurately.
EXPECTED: Final[Mapping[Profile, tuple[str, ...]]] = {
    "all": (
        "vector_search",
        "hybrid_search",
        "comprehensive_search",
        "search_knowledge_graph",
        "search_findings",
        "get_entity_history",
        "get_snapshot",
        "diff_graph",
        "query_graph",
        "search_conversations",
        "save_entity",
        "save_relationship",
        "forget",
    ),
    "search": ("vector_search", "graph_search", "hybrid_search", "comprehensive_search"),
    "graph": (
        "search_knowledge_graph",
        "search_findings",
        "get_entity_history",
        "get_snapshot",
        "diff_graph",
    ),
}
_NEEDS_DOCUMENTS = frozenset({"vector_search", "hybrid_search"})
_NEEDS_GRAPH = frozenset(
    {
        "search_knowledge_graph",
        "graph_search",
        "search_findings",
        "get_entity_history",
        "get_snapshot",
        "diff_graph",
    }
)
# Tools that write to the user's memory.
SAVING: Final = frozenset({"save_entity", "save_relationship", "forget"})
# How often arguments are sent back to a model before the run is aborted.
MAX_RETRIES: Final = 2
TOOL_SECONDS: Final = 30.0


def build_toolsets(extra: Sequence[Toolset] = ()) -> dict[Profile, Toolset]:
    """Returns each profile's tools. `extra` toolsets, such as the memory tools, are part of the profile `all`."""
    search_tools: list[Tool[AgentDependencies]] = [
        Tool(vector_search),
        Tool(hybrid_search),
        Tool(comprehensive_search),
    ]
    graph_tools: list[Tool[AgentDependencies]] = [
        Tool(search_knowledge_graph),
        Tool(search_findings),
        Tool(get_entity_history),
        Tool(get_snapshot),
        Tool(diff_graph),
    ]
    alias: Tool[AgentDependencies] = Tool(search_knowledge_graph, name="graph_search")
    return {
        "all": _profile("all", [_functions([*search_tools, *graph_tools]), *extra]),
        "search": _profile("search", [_functions([*search_tools, alias])]),
        "graph": _profile("graph", [_functions(graph_tools)]),
    }


def missing_tools(profile: Profile, present: Sequence[str]) -> tuple[str, ...]:
    """Returns the expected tools of a profile that are not registered; logs a warning for each."""
    missing = tuple(name for name in EXPECTED[profile] if name not in present)
    for name in missing:
        get_logger("agent").warning("expected tool missing", profile=profile, tool=name)
    return missing


def _functions(tools: Sequence[Tool[AgentDependencies]]) -> FunctionToolset[AgentDependencies]:
    return FunctionToolset(tools, max_retries=MAX_RETRIES, timeout=TOOL_SECONDS)


def _profile(profile: Profile, toolsets: Sequence[Toolset]) -> Toolset:
    present = [name for one in toolsets if isinstance(one, FunctionToolset) for name in one.tools]
    missing_tools(profile, present)
    together = toolsets[0] if len(toolsets) == 1 else CombinedToolset(toolsets)
    return RecordedToolset(GuardedToolset(together)).filtered(_is_wanted)


def _is_wanted(ctx: RunContext[AgentDependencies], tool: ToolDefinition) -> bool:
    """Whether a tool is offered: not for what the caller has turned off, nor for writes that it may not make."""
    if tool.name in SAVING and not ctx.deps.may_save:
        return False
    wanted = ctx.deps.search_preferences
    if tool.name in _NEEDS_DOCUMENTS:
        return wanted.use_vector
    return wanted.use_graph or tool.name not in _NEEDS_GRAPH

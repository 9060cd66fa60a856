"""A graph query on behalf of a tool, and the tool's answer if the graph has none.

If the graph is unavailable or empty, or does not know the entity, the tool says so and searches the documents.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic_ai import RunContext, ToolReturn

from braid.common.v1 import legs_pb2
from braid.graph.v1 import entities_pb2, query_pb2
from services.agent_orchestrator.agent.dependencies import AgentDependencies
from services.agent_orchestrator.agent.results import Status, ToolResult
from services.agent_orchestrator.agent.tools.arguments import Time, instant
from services.agent_orchestrator.agent.tools.documents import GRAPH, NO_GRAPH, with_documents
from services.agent_orchestrator.agent.tools.tool_result import (
    LegClock,
    is_refusal,
    is_unknown,
    respond,
    retry_for,
)
from services.runtime.errors import BraidError

Context = RunContext[AgentDependencies]
Times = dict[str, datetime | None]

EMPTY_GRAPH = "The knowledge graph is empty: documents or facts have to be ingested first."


@dataclass(frozen=True, slots=True)
class GraphCall:
    """One graph query on behalf of a tool call: the tool, the entity, and the clock of its leg."""

    ctx: Context
    tool: str
    entity: str
    clock: LegClock

    def result(self, status: Status, **more: Any) -> ToolResult:
        """Builds a result of this call."""
        return ToolResult(self.tool, status, self.ctx.deps.space, entity=self.entity, **more)

    def question(self) -> str:
        """Returns the text to search documents for if the graph has no answer."""
        asked = self.ctx.deps.question
        known = not self.entity or self.entity.casefold() in asked.casefold()
        return asked if known else f"{self.entity} {asked}"


def begin_graph_call(ctx: Context, tool: str, entity: str) -> GraphCall:
    """Starts a graph query and the clock of its leg."""
    # Some profiles register the tool under another name.
    name = ctx.tool_name or tool
    return GraphCall(
        ctx, name, entity, LegClock(ctx.deps, ctx.tool_call_id or "", legs_pb2.LEG_GRAPH)
    )


async def knows_entity(deps: AgentDependencies, entity_name: str | None) -> bool:
    """Whether an entity with this name exists; true without a name."""
    if not entity_name:
        return True
    try:
        await deps.tiers.get_entity(
            entities_pb2.GetEntityRequest(entity=entity_selector(entity_name, None))
        )
    except BraidError as error:
        if is_unknown(error):
            return False
        raise
    return True


async def is_empty(deps: AgentDependencies) -> bool:
    """Whether the space's graph is empty."""
    stats = await deps.tiers.get_graph_stats(query_pb2.GetGraphStatsRequest())
    return not (stats.entity_count or stats.fact_count or stats.local_fact_count)


async def graph_unavailable(call: GraphCall, error: BraidError) -> ToolReturn[str]:
    """Answers that the graph is unavailable; arguments that it rejects go back to the model."""
    if is_refusal(error):
        raise retry_for(error) from None
    call.clock.failed(error)
    nothing = call.result("unavailable", unavailable=(GRAPH,), message=NO_GRAPH)
    return await with_documents(call.ctx, nothing, call.question())


async def unknown_or_empty(call: GraphCall) -> ToolReturn[str]:
    """Answers that there is no such entity, or that the graph is empty."""
    try:
        empty = await is_empty(call.ctx.deps)
    except BraidError as error:
        return await graph_unavailable(call, error)
    call.clock.ended(legs_pb2.LEG_STATUS_NO_MATCH)
    if empty:
        nothing = call.result("empty_graph", message=EMPTY_GRAPH)
        return await with_documents(call.ctx, nothing, call.question())
    return await unknown(call)


async def unknown(call: GraphCall) -> ToolReturn[str]:
    """Answers that there is no such entity."""
    message = f"The knowledge graph does not know “{call.entity}”."
    nothing = call.result("unknown_entity", message=message)
    return await with_documents(call.ctx, nothing, call.question())


async def nothing_then(call: GraphCall, times: Times) -> ToolReturn[str]:
    """Answers that no fact was true at a time."""
    try:
        deps = call.ctx.deps
        if call.entity and not await knows_entity(deps, call.entity):
            return await unknown_or_empty(call)
        empty = await is_empty(deps)
    except BraidError as error:
        return await graph_unavailable(call, error)
    status: Status = "empty_graph" if empty else "no_match"
    message = EMPTY_GRAPH if empty else "The knowledge graph has no fact that held then."
    return await with_documents(
        call.ctx, call.result(status, message=message, **times), call.question()
    )


async def nothing_changed(call: GraphCall, times: Times) -> ToolReturn[str]:
    """Answers that no fact changed between two times."""
    try:
        deps = call.ctx.deps
        if call.entity and not await knows_entity(deps, call.entity):
            return await unknown_or_empty(call)
        if await is_empty(deps):
            empty = call.result("empty_graph", message=EMPTY_GRAPH, **times)
            return await with_documents(call.ctx, empty, call.question())
    except BraidError as error:
        return await graph_unavailable(call, error)
    about = f" about {call.entity}" if call.entity else ""
    message = f"Nothing{about} changed in the knowledge graph between the two times."
    return respond(call.ctx.deps, call.result("no_match", message=message, **times))


def entity_selector(name: str, of_type: str | None) -> entities_pb2.EntitySelector:
    """Selects an entity by its name, and by its type if several share the name."""
    return entities_pb2.EntitySelector(name=name, type=of_type or "")


def times_of(deps: AgentDependencies, start: Time | None, end: Time | None) -> Times:
    """Returns the time that a result refers to."""
    return {
        "as_of": None if start is None else instant(start, deps.zone),
        "as_of_end": None if end is None else instant(end, deps.zone),
    }

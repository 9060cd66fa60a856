"""The local planner's access to a run: its clock, entity linking, and the numbering of citations."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from braid.graph.v1 import entities_pb2
from services.agent_orchestrator.agent.dependencies import AgentDependencies
from services.agent_orchestrator.agent.planner.entity_recognition import KnownEntity
from services.agent_orchestrator.agent.planner.follow_up import asked_parts
from services.agent_orchestrator.agent.planner.pydantic_ai_model import PlannerContext
from services.agent_orchestrator.agent.planner.question import Clock
from services.agent_orchestrator.agent.tools.items import entity_type
from services.runtime.errors import BraidError

_MAX_TEXT = 32_768


def planner_context(deps: AgentDependencies) -> PlannerContext:
    """Returns the planner's view of a run. Without the graph, the planner recognizes names by capital letters."""

    async def link(text: str) -> Sequence[KnownEntity]:
        return await _linking(deps, text)

    clock = Clock(deps.now, deps.zone)
    return PlannerContext(clock, link, deps.evidence.renumber, deps.understood)


@asynccontextmanager
async def linking_ahead(deps: AgentDependencies, text: str) -> AsyncIterator[None]:
    """Starts looking up the entities of a question's parts concurrently, while the agent's loop is set up."""
    for part in asked_parts(text):
        _linking(deps, part)
    try:
        yield
    finally:
        tasks = list(deps.linked.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _linking(deps: AgentDependencies, text: str) -> asyncio.Task[Sequence[KnownEntity]]:
    known = deps.linked.get(text)
    if known is None:
        known = deps.linked[text] = asyncio.create_task(_linked(deps, text), name="link-entities")
    return known


async def _linked(deps: AgentDependencies, text: str) -> Sequence[KnownEntity]:
    asked = text[:_MAX_TEXT].replace("\x00", " ")
    if not asked.strip() or not deps.search_preferences.use_graph:
        return []
    try:
        answer = await deps.tiers.link_entities(entities_pb2.LinkEntitiesRequest(text=asked))
    except BraidError:
        return []
    return [KnownEntity(one.entity.name, entity_type(one.entity.type)) for one in answer.entities]

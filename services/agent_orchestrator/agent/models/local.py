"""The local planner over a run's dependencies: its clock, the graph's entities, and where its sources go."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from braid.graph.v1 import entities_pb2
from services.agent_orchestrator.agent.dependencies import AgentDependencies
from services.agent_orchestrator.agent.planner.entities import KnownEntity
from services.agent_orchestrator.agent.planner.model import PlannerContext, PlannerModel
from services.agent_orchestrator.agent.planner.question import Clock
from services.agent_orchestrator.agent.tools.items import entity_type
from services.runtime.errors import BraidError

_MAX_TEXT = 32_768


def local_planner() -> PlannerModel:
    """The model."""
    return PlannerModel(planner_context)


def planner_context(deps: AgentDependencies) -> PlannerContext:
    """What the planner needs of a run."""
    return PlannerContext(
        Clock(deps.now, deps.zone), partial(link_entities, deps), deps.evidence.replace_items
    )


async def link_entities(deps: AgentDependencies, text: str) -> Sequence[KnownEntity]:
    """The entities of the space that a text names; none while the graph is away. Asked once a run for each text."""
    if text in deps.linked:
        return deps.linked[text]
    found: Sequence[KnownEntity] = ()
    if deps.search_preferences.use_graph and text.strip():
        request = entities_pb2.LinkEntitiesRequest(text=text[:_MAX_TEXT].replace("\x00", " "))
        try:
            answer = await deps.tiers.link_entities(request)
        except BraidError:
            return ()
        found = [
            KnownEntity(one.entity.name, entity_type(one.entity.type)) for one in answer.entities
        ]
    deps.linked[text] = found
    return found

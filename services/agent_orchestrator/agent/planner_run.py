"""The local planner's access to a run: its clock, entity linking, models, and the numbering of citations."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final

from braid.graph.v1 import entities_pb2
from services.agent_orchestrator.agent.chat_tasks import read_chat_task
from services.agent_orchestrator.agent.dependencies import AgentDependencies
from services.agent_orchestrator.agent.planner.entity_recognition import KnownEntity
from services.agent_orchestrator.agent.planner.follow_up import asked_parts
from services.agent_orchestrator.agent.planner.process import REQUEST, STEP, StepRequest
from services.agent_orchestrator.agent.planner.pydantic_ai_model import PlannerRun
from services.agent_orchestrator.agent.planner.steps import Conversation, Step
from services.agent_orchestrator.agent.tools.items import entity_type
from services.models.reranking.reranker import PairReranker
from services.runtime.context import remaining
from services.runtime.errors import BraidError
from services.runtime.telemetry import get_logger
from services.runtime.text_worker import Calls

_MAX_TEXT = 32_768
# For the statements of one part of a question: ten sentences take 50 ms on an idle core.
_READ_SECONDS = 3.0
# Only the entities of short questions are looked up before the planner has read the question.
_MAX_AHEAD: Final = 500


def planner_run(deps: AgentDependencies) -> PlannerRun:
    """Returns the planner's view of a run. Without the graph, the planner recognizes names by capital letters."""

    async def next_step(talk: Conversation, tools: Sequence[str]) -> Step:
        request = StepRequest(
            deps.run_id,
            talk,
            tuple(tools),
            deps.now.astimezone(deps.zone),
            deps.zone.key or "",
            deps.is_remembered,
            bool(deps.conversation_id),
        )
        given = REQUEST.dump_python(request, mode="json")
        calls: Calls = {"link": link, "vector": deps.vector_of, "read": read, "note": deps.note}
        return STEP.validate_python(await deps.planner.ask(given, calls))

    async def link(text: str) -> list[tuple[str, str, bool]]:
        return [(one.name, one.type, one.is_known) for one in await _linking(deps, text)]

    async def read(pairs: Sequence[tuple[str, str]]) -> list[float] | None:
        scores = await _read(deps.reader, pairs)
        deps.evidence.is_unread |= scores is None and deps.reader is not None
        return scores

    return PlannerRun(next_step, deps.evidence.renumber)


async def _read(
    reader: PairReranker | None, pairs: Sequence[tuple[str, str]]
) -> list[float] | None:
    """Returns how well each text answers its question; None if the model is missing, fails, or is too slow."""
    if reader is None:
        return None
    try:
        async with asyncio.timeout(remaining(_READ_SECONDS)):
            return await reader.score_pairs(pairs)
    except (BraidError, TimeoutError) as error:
        get_logger("agent").warning(
            "statements are chosen by their words alone", cause=type(error).__name__
        )
        return None


@asynccontextmanager
async def linking_ahead(deps: AgentDependencies, text: str) -> AsyncIterator[None]:
    """Starts looking up the entities of a question's parts concurrently, while the agent's loop is set up."""
    if len(text) <= _MAX_AHEAD and read_chat_task(text) is None:
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

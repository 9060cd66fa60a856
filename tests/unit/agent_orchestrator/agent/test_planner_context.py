"""Before its first step, the planner looks up the names in all parts of a question concurrently, each part once."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any, cast
from zoneinfo import ZoneInfo

import pytest

from braid.graph.v1 import entities_pb2, facts_pb2
from services.agent_orchestrator.agent.dependencies import AgentDependencies
from services.agent_orchestrator.agent.planner_context import linking_ahead, planner_context

TWO_PARTS = "Who owns Atlas? What does Beacon use?"
FIRST, SECOND = "Who owns Atlas?", "What does Beacon use?"


class Tiers:
    """Answers look-ups when `together` of them are in flight."""

    def __init__(self, together: int) -> None:
        self.asked: list[str] = []
        self._barrier = asyncio.Barrier(together)

    async def link_entities(
        self, request: entities_pb2.LinkEntitiesRequest
    ) -> entities_pb2.LinkEntitiesResponse:
        """Returns one entity, named after the last capitalized word."""
        self.asked.append(request.text)
        await self._barrier.wait()
        name = [word for word in request.text.split() if word[0].isupper()][-1].rstrip("?")
        linked = entities_pb2.LinkedEntity(entity=facts_pb2.Entity(name=name))
        return entities_pb2.LinkEntitiesResponse(entities=[linked])


def run_with(tiers: Tiers) -> AgentDependencies:
    return AgentDependencies(
        session_id="s",
        user_id="alice",
        space="acme",
        question=TWO_PARTS,
        now=datetime(2026, 1, 1, tzinfo=UTC),
        zone=ZoneInfo("UTC"),
        search=cast("Any", None),
        hybrid=cast("Any", None),
        tiers=cast("Any", tiers),
    )


async def test_the_parts_of_a_question_are_looked_up_concurrently_and_once() -> None:
    tiers = Tiers(together=2)
    deps = run_with(tiers)
    async with asyncio.timeout(5), linking_ahead(deps, TWO_PARTS):
        link = planner_context(deps).link
        found = [await link(part) for part in (FIRST, SECOND, FIRST)]
    assert [[one.name for one in names] for names in found] == [["Atlas"], ["Beacon"], ["Atlas"]]
    assert tiers.asked == [FIRST, SECOND]


async def test_pending_look_ups_are_canceled_when_the_run_ends() -> None:
    deps = run_with(Tiers(together=3))
    with pytest.raises(ZeroDivisionError):
        async with linking_ahead(deps, TWO_PARTS):
            await asyncio.sleep(0)
            raise ZeroDivisionError
    await asyncio.gather(*deps.linked.values(), return_exceptions=True)
    assert [task.cancelled() for task in deps.linked.values()] == [True, True]

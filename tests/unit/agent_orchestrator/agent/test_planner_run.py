"""Before its first step, the planner looks up the names in all parts of a question concurrently, each part once."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast
from zoneinfo import ZoneInfo

import pytest

from braid.graph.v1 import entities_pb2, facts_pb2
from services.agent_orchestrator.agent.dependencies import AgentDependencies
from services.agent_orchestrator.agent.planner.process import STEP
from services.agent_orchestrator.agent.planner.steps import Conversation, Step
from services.agent_orchestrator.agent.planner_run import linking_ahead, planner_run
from services.models.errors import RerankerUnavailable

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


class Workers:
    """Plans an answer that lists the names in three texts, as the process of the planner would ask for them."""

    async def ask(self, _request: Any, calls: Mapping[str, Any]) -> Any:
        """See `TextWorkers`."""
        found = [await calls["link"](part) for part in (FIRST, SECOND, FIRST)]
        names = " ".join(name for linked in found for name, _type, _is_known in linked)
        return STEP.dump_python(Step(text=names), mode="json")


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
        planner=cast("Any", Workers()),
    )


async def test_the_parts_of_a_question_are_looked_up_concurrently_and_once() -> None:
    tiers = Tiers(together=2)
    deps = run_with(tiers)
    async with asyncio.timeout(5), linking_ahead(deps, TWO_PARTS):
        step = await planner_run(deps).next_step(Conversation(TWO_PARTS, (), 0, ()), [])
    assert step.text == "Atlas Beacon Atlas"
    assert tiers.asked == [FIRST, SECOND]


async def test_pending_look_ups_are_canceled_when_the_run_ends() -> None:
    deps = run_with(Tiers(together=3))
    with pytest.raises(ZeroDivisionError):
        async with linking_ahead(deps, TWO_PARTS):
            await asyncio.sleep(0)
            raise ZeroDivisionError
    await asyncio.gather(*deps.linked.values(), return_exceptions=True)
    assert [task.cancelled() for task in deps.linked.values()] == [True, True]


class NoReader:
    """A model whose files cannot be read."""

    async def score_pairs(self, _pairs: Sequence[tuple[str, str]]) -> list[float]:
        """See `PairReranker`."""
        raise RerankerUnavailable("local model: no files")


class ReadingWorkers:
    """Plans an answer that says whether a statement was read."""

    async def ask(self, _request: Any, calls: Mapping[str, Any]) -> Any:
        """See `TextWorkers`."""
        scores = await calls["read"]([(FIRST, "Ada owns Atlas.")])
        return STEP.dump_python(Step(text=str(scores)), mode="json")


async def test_that_no_model_could_read_the_statements_is_known_to_the_run() -> None:
    deps = replace(
        run_with(Tiers(together=1)),
        planner=cast("Any", ReadingWorkers()),
        reader=cast("Any", NoReader()),
    )
    step = await planner_run(deps).next_step(Conversation(FIRST, (), 0, ()), [])
    assert step.text == "None"
    assert deps.evidence.is_unread
    assert deps.evidence.unavailable == ("reranker",)

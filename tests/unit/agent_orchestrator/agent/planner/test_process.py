"""The local planner runs in a confined process, and asks its parent for entities, vectors and readings."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from services.agent_orchestrator.agent.planner.process import REQUEST, STEP, StepRequest
from services.agent_orchestrator.agent.planner.reading import shared_words
from services.agent_orchestrator.agent.planner.steps import Conversation, Step
from services.agent_orchestrator.agent.planner.tool_choice import ToolChoice
from services.agent_orchestrator.agent.results import Citation, ResultItem, ToolResult
from services.models.embedding.local_models import LOCAL_MODEL
from services.runtime.text_worker import TextWorkers

TOOLS = ("search_knowledge_graph", "comprehensive_search")
NOW = datetime(2026, 11, 24, 10, tzinfo=UTC)


@pytest.fixture(scope="module")
async def planner() -> AsyncIterator[TextWorkers]:
    workers = TextWorkers("services.agent_orchestrator.agent.planner.process", seconds=30)
    yield workers
    await workers.close()


class Parent:
    """Answers what the planner asks for, and notes which texts were looked up."""

    def __init__(self) -> None:
        self.linked: list[str] = []
        self.read: list[str] = []

    async def link(self, text: str) -> list[tuple[str, str, bool]]:
        """Knows one entity."""
        self.linked.append(text)
        return [("Ledger", "Service", True)] if "Ledger" in text else []

    async def vector(self, _text: str) -> None:
        """Has no vector, so that documents are searched."""

    async def read_pairs(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Scores by words."""
        self.read += [text for _, text in pairs]
        return shared_words(pairs)

    async def step(
        self,
        planner: TextWorkers,
        question: str,
        *results: tuple[str, ToolResult],
        run_id: str = "r",
        zone: str = "UTC",
    ) -> Step:
        """Returns the planner's next step after these results."""
        talk = Conversation(question, (), 1 if results else 0, results)
        request = StepRequest(run_id, talk, TOOLS, NOW, zone)
        calls: dict[str, Any] = {"link": self.link, "vector": self.vector, "read": self.read_pairs}
        return STEP.validate_python(
            await planner.ask(REQUEST.dump_python(request, mode="json"), calls)
        )


def passage(text: str) -> ToolResult:
    source = Citation("d1", "Note", "wiki", "c1", 0, len(text), text)
    item = ResultItem("passage", text, 0.5, valid_from=NOW, citations=(source,))
    return ToolResult("comprehensive_search", "ok", "acme", items=(item,), total_count=1)


async def test_a_question_becomes_calls_and_their_results_an_answer_with_sources(
    planner: TextWorkers,
) -> None:
    parent, question = Parent(), "Why is the ledger slow in winter?"
    first = await parent.step(planner, question)
    [call] = first.calls
    assert call.tool == "comprehensive_search"
    found = passage("The ledger is slow in winter because of the frost.")
    last = await parent.step(planner, question, (call.call_id, found))
    assert "because of the frost" in last.text
    assert [one.citations for one in last.cited] == [found.items[0].citations]
    assert parent.linked == [question]
    assert parent.read


async def test_zones_and_long_sentences_are_read_although_no_file_can_be_opened(
    planner: TextWorkers,
) -> None:
    parent = Parent()
    asked = "What did the ledger show on 3 March 2024 at 15:00 Pacific/Auckland?"
    for zone in ("Europe/Berlin", "America/New_York", "no zone of this process"):
        step = await parent.step(planner, asked, run_id=zone, zone=zone)
        assert step.calls
    words = passage("the ledger shows a sum and " * 700 + "ends.")
    step = await parent.step(
        planner, "What does the ledger show?", ("part-0-ask-1-0", words), run_id="long"
    )
    assert step.text


async def test_the_choice_of_tools_was_trained_with_the_vectors_that_questions_get() -> None:
    assert ToolChoice.load().model == LOCAL_MODEL

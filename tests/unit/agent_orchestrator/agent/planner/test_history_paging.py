"""A long history is shown page by page, at the user's request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from zoneinfo import ZoneInfo

import pytest
from pydantic_ai import Agent, FunctionToolset, RunContext, ToolReturn
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    UserPromptPart,
)

from services.agent_orchestrator.agent.planner.entity_recognition import KnownEntity
from services.agent_orchestrator.agent.planner.history_paging import page_step, requested_page
from services.agent_orchestrator.agent.planner.pydantic_ai_model import PlannerModel, PlannerRun
from services.agent_orchestrator.agent.planner.question import Clock, Question
from services.agent_orchestrator.agent.planner.reading import Reading, shared_words
from services.agent_orchestrator.agent.planner.steps import PlannerContext, next_step
from services.agent_orchestrator.agent.results import ResultItem, ToolResult

CLOCK = Clock(datetime(2026, 11, 24, 10, tzinfo=UTC), ZoneInfo("UTC"))
QUESTION = "How has the ownership of Ledger changed over time?"
TOTAL, TOOL_PAGE = 70, 50


@pytest.mark.parametrize(
    "text",
    [
        "more",
        "show more",
        "Show me more, please.",
        "Yes, continue",
        "next page",
        "and the rest?",
        "Can you show me the next ones?",
        "please list the remaining facts",
        "go on!",
    ],
)
def test_requests_for_the_next_page_are_recognized(text: str) -> None:
    assert page_step(text) == 1


@pytest.mark.parametrize("text", ["older", "Show me the earlier ones.", "previous page", "go back"])
def test_requests_for_the_previous_page_are_recognized(text: str) -> None:
    assert page_step(text) == -1


@pytest.mark.parametrize(
    "text",
    [
        "Who owns the Ledger?",
        "show more about Kafka",
        "Which service is older?",
        "the next release",
        "What else does Atlas use?",
        "more or less",
        "",
    ],
)
def test_other_questions_are_not_page_requests(text: str) -> None:
    assert page_step(text) == 0


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (["Who?", "more"], (0, 1)),
        (["Who?", "more", "more"], (0, 2)),
        (["Who?", "more", "more", "back"], (0, 1)),
        (["Who?", "older", "more"], (0, 1)),
        (["Who?", "more", "What?", "more"], (2, 1)),
        (["more"], None),
    ],
)
def test_pages_are_counted_from_the_question_that_they_continue(
    asked: list[str], expected: tuple[int, int] | None
) -> None:
    assert requested_page(asked[-1], asked[:-1]) == expected


def fact(number: int) -> ResultItem:
    start = datetime(1950 + number, 1, 1, tzinfo=UTC)
    return ResultItem(
        "fact",
        f"Owner{number:02} owns the Ledger",
        0.5,
        f"Owner{number:02}",
        "OWNS",
        "Ledger",
        valid_from=start,
        valid_until=start.replace(year=start.year + 1),
    )


@dataclass
class Deps:
    """Records the pages that were requested from the tool."""

    pages: list[str | None] = field(default_factory=list)


async def get_entity_history(
    ctx: RunContext[Deps], entity: str, page: str | None = None
) -> ToolReturn[str]:
    """Returns a history in pages of 50. The first page begins with the current fact."""
    ctx.deps.pages.append(page)
    facts = [fact(number) for number in range(TOTAL)]
    if page is None:
        items, following = [facts[-1], *facts[:TOOL_PAGE]], "second"
    else:
        items, following = facts[TOOL_PAGE:], ""
    result = ToolResult(
        "get_entity_history",
        "ok",
        "acme",
        entity=entity,
        items=tuple(items),
        total_count=TOTAL if page is None else len(items),
        next_page=following,
        summary=f"{entity}: Facts: {TOTAL}.",
    )
    return ToolReturn("text", metadata=result)


async def link(text: str) -> Sequence[KnownEntity]:
    return [KnownEntity("Ledger")] if "Ledger" in text else []


async def choose_tool(question: Question) -> str:
    return "get_entity_history"


async def by_words(pairs: Sequence[tuple[str, str]]) -> list[float]:
    return shared_words(pairs)


AGENT = Agent(
    PlannerModel(
        lambda _deps: PlannerRun(
            partial(next_step, context=PlannerContext(CLOCK, link, choose_tool, Reading(by_words))),
            lambda _items: None,
        )
    ),
    deps_type=Deps,
    toolsets=[FunctionToolset([get_entity_history])],
)


async def answer(question: str, earlier: Sequence[str]) -> tuple[str, list[str | None]]:
    """Returns the answer after these earlier questions, and the pages that were read for it."""
    history: list[ModelMessage] = []
    for text in earlier:
        history.append(ModelRequest([UserPromptPart(text)]))
        history.append(ModelResponse([TextPart("…")]))
    deps, text = Deps(), ""
    async with AGENT.run_stream_events(question, deps=deps, message_history=history) as events:
        async for event in events:
            if (result := getattr(event, "result", None)) is not None and hasattr(result, "output"):
                text = str(result.output)
    return text, deps.pages


def owners(text: str) -> list[int]:
    return [int(line[7:9]) for line in text.splitlines() if line.startswith("- Owner")]


async def test_the_first_answer_has_the_summary_and_explains_how_to_continue() -> None:
    text, pages = await answer(QUESTION, [])
    assert "Ledger: Facts: 70." in text
    assert owners(text) == list(range(12))
    assert "These are 12 of 70 facts. Say “show more”" in text
    assert pages == [None]


async def test_each_request_shows_the_next_facts() -> None:
    text, pages = await answer("show more", [QUESTION])
    assert owners(text) == list(range(12, 24))
    assert "Ledger, facts 13 to 24 of 70" in text
    assert pages == [None]


async def test_tool_pages_are_read_up_to_the_requested_one() -> None:
    text, pages = await answer("more", [QUESTION, "more", "more", "more"])
    assert owners(text) == list(range(48, 60))
    assert pages == [None, "second"]


async def test_after_the_last_page_the_answer_says_that_no_facts_are_left() -> None:
    last, _ = await answer("more", [QUESTION, *["more"] * 4])
    assert owners(last) == list(range(60, 70))
    assert "show more" not in last
    after, _ = await answer("more", [QUESTION, *["more"] * 5])
    assert "There are no more facts about Ledger." in after


async def test_older_shows_the_previous_page() -> None:
    text, _ = await answer("older", [QUESTION, "more", "more"])
    assert owners(text) == list(range(12, 24))

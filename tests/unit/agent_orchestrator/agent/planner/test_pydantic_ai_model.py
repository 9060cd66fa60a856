"""The planner as a model in Pydantic AI's loop, with real tools and streams and without a provider."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

from pydantic_ai import Agent, FunctionToolset, ModelRetry, RunContext, ToolReturn
from pydantic_ai.messages import (
    FunctionToolCallEvent,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    UserPromptPart,
)
from pydantic_ai.run import AgentRunResultEvent

from services.agent_orchestrator.agent.planner.answers import INTRODUCTION, NOTHING_ANSWERS
from services.agent_orchestrator.agent.planner.entity_recognition import KnownEntity
from services.agent_orchestrator.agent.planner.pydantic_ai_model import PlannerModel, PlannerRun
from services.agent_orchestrator.agent.planner.question import Clock, Question
from services.agent_orchestrator.agent.planner.reading import Reading, shared_words
from services.agent_orchestrator.agent.planner.steps import PlannerContext, next_step
from services.agent_orchestrator.agent.results import Citation, ResultItem, ToolResult

CLOCK = Clock(datetime(2026, 11, 24, 10, tzinfo=UTC), ZoneInfo("UTC"))


@dataclass
class Deps:
    """The results that the tools return, and a record of their calls."""

    facts: tuple[ResultItem, ...] = ()
    passages: tuple[ResultItem, ...] = ()
    refuse: bool = False
    cited: list[ResultItem] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)


async def search_knowledge_graph(
    ctx: RunContext[Deps], query: str, entity_name: str | None = None
) -> ToolReturn[str]:
    """Facts."""
    ctx.deps.asked.append("graph")
    if ctx.deps.refuse:
        raise ModelRetry("not so")
    status: Any = "ok" if ctx.deps.facts else "no_match"
    result = ToolResult("search_knowledge_graph", status, "acme", items=ctx.deps.facts)
    return ToolReturn("text", metadata=result)


async def comprehensive_search(ctx: RunContext[Deps], query: str) -> ToolReturn[str]:
    """Passages."""
    ctx.deps.asked.append("documents")
    result = ToolResult("comprehensive_search", "ok", "acme", items=ctx.deps.passages)
    return ToolReturn("text", metadata=result)


async def link(text: str) -> Sequence[KnownEntity]:
    return [KnownEntity("Ledger")] if "Ledger" in text else []


async def choose_tool(question: Question) -> str:
    return "search_knowledge_graph" if "who" in question.text.casefold() else "documents"


async def by_words(pairs: Sequence[tuple[str, str]]) -> list[float]:
    return shared_words(pairs)


AGENT = Agent(
    PlannerModel(
        lambda deps: PlannerRun(
            partial(next_step, context=PlannerContext(CLOCK, link, choose_tool, Reading(by_words))),
            deps.cited.extend,
        )
    ),
    deps_type=Deps,
    toolsets=[FunctionToolset([search_knowledge_graph, comprehensive_search])],
    retries=2,
)


def cited(text: str) -> ResultItem:
    source = Citation("d1", "Note", "wiki", "c1", 0, len(text), text)
    return ResultItem("passage", text, 0.5, citations=(source,))


ADA = ResultItem(
    "fact",
    "Ada owns the Ledger.",
    0.5,
    "Ada",
    "OWNS",
    "Ledger",
    citations=cited("Ada owns the Ledger.").citations,
)


async def run(
    question: str, deps: Deps, history: Sequence[ModelMessage] = ()
) -> tuple[str, list[str]]:
    """Returns the answer and the ids of the tool calls made for it."""
    calls: list[str] = []
    text = ""
    async with AGENT.run_stream_events(
        question, deps=deps, message_history=list(history)
    ) as events:
        async for event in events:
            if isinstance(event, FunctionToolCallEvent):
                calls.append(event.part.tool_call_id)
            elif isinstance(event, AgentRunResultEvent):
                text = event.result.output
    return text, calls


async def test_a_question_leads_to_a_tool_call_and_a_cited_answer() -> None:
    deps = Deps(facts=(ADA,))
    text, calls = await run("Who owns the Ledger?", deps)
    assert text.startswith("Ada owns the Ledger. [1]")
    assert calls == ["part-0-ask-1-0"]
    assert deps.asked == ["graph"]
    assert deps.cited[0].citations[0].document_id == "d1"


async def test_documents_are_searched_once_if_the_graph_has_no_answer() -> None:
    deps = Deps(passages=(cited("The Ledger is owned by Bo."),))
    text, _ = await run("Who owns the Ledger?", deps)
    assert deps.asked == ["graph", "documents"]
    assert "owned by Bo" in text


async def test_after_two_steps_without_an_answer_the_planner_says_so() -> None:
    deps = Deps()
    text, _ = await run("Who owns the Ledger?", deps)
    assert text.startswith(NOTHING_ANSWERS)
    assert deps.asked == ["graph", "documents"]
    assert deps.cited == []


async def test_a_rejected_tool_call_does_not_count_as_an_answer() -> None:
    deps = Deps(refuse=True, passages=(cited("Ada owns the Ledger."),))
    text, _ = await run("Who owns the Ledger?", deps)
    assert deps.asked == ["graph", "documents"]
    assert "Ada owns the Ledger" in text


async def test_small_talk_calls_no_tool() -> None:
    deps = Deps()
    text, calls = await run("Hello there!", deps)
    assert calls == []
    assert text.endswith(INTRODUCTION)


async def test_the_introduction_appears_once_per_conversation() -> None:
    history: list[ModelMessage] = [
        ModelRequest(parts=[UserPromptPart("Who owns the Ledger?")]),
        ModelResponse(parts=[TextPart(f"Ada owns the Ledger. [1]\n\n{INTRODUCTION}")]),
    ]
    deps = Deps(facts=(ADA,))
    text, _ = await run("and who owns it now?", deps, history)
    assert INTRODUCTION not in text
    assert "Ada owns the Ledger" in text


async def test_a_very_long_question_is_searched_and_answered() -> None:
    deps = Deps()
    text, _ = await run("What is a ledger? " + "and so on " * 10_000, deps)
    assert deps.asked
    assert text


async def test_a_follow_up_is_searched_as_completed_and_as_given() -> None:
    history: list[ModelMessage] = [
        ModelRequest(parts=[UserPromptPart("Where does the brass bell hang?")]),
        ModelResponse(parts=[TextPart(f"In the tower.\n\n{INTRODUCTION}")]),
    ]
    deps = Deps(passages=(cited("The red lamp does hang above the stairs."),))
    text, calls = await run("and the red lamp?", deps, history)
    assert calls == ["part-0-ask-1-0", "part-1-ask-1-0"]
    assert text.count("above the stairs") == 1


async def test_the_title_that_a_front_end_asks_for_needs_no_tool() -> None:
    deps = Deps()
    text, calls = await run(
        "Generate a concise title for the chat.\n\nConversation:\nUser: Who owns the Ledger?\nAI: Ada.",
        deps,
    )
    assert calls == []
    assert text == "Owns Ledger"

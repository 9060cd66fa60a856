"""Measures how many questions are routed to an acceptable tool and to none to avoid.

The format is `{"id","question","tools","avoid","why"}` per line. Only the first calls count, which are made before any
result is known.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

from services.agent_orchestrator.agent.planner.entity_recognition import KnownEntity
from services.agent_orchestrator.agent.planner.planner import LocalPlanner
from services.agent_orchestrator.agent.planner.question import Clock
from services.agent_orchestrator.agent.planner.steps import is_first_call
from services.agent_orchestrator.agent.planner.tool_choice import ToolChoice, ToolChooser
from services.agent_orchestrator.agent.question_vectors import QuestionVectors
from services.models.embedding.local import LocalEmbedder
from services.models.embedding.local_models import LOCAL_MODELS
from services.models.embedding.settings import EmbeddingSettings
from tests.benchmarks.command import Options
from tests.benchmarks.figures import Figures, note
from tests.evals.question_files import question_rows
from tests.evals.sample_stack import chat_all, sample_stack

OWN: Final = Path(__file__).parent / "questions.jsonl"
TOOLS: Final = (
    "vector_search", "hybrid_search", "comprehensive_search", "search_knowledge_graph", "search_findings",
    "get_entity_history", "get_snapshot", "diff_graph", "query_graph",
)  # fmt: skip
# Two names of one tool.
_ALIASES: Final = {"graph_search": "search_knowledge_graph"}


async def run(options: Options) -> None:
    """Asks every question of the running stack, or with MODE=planner only of the planner."""
    rows = question_rows(options.data, OWN)[: options.queries]
    if options.mode == "planner":
        called = await planned_tools([row["question"] for row in rows])
    else:
        async with sample_stack() as stack:
            answers = await chat_all(stack, [row["question"] for row in rows])
        called = [first_calls(answer) for answer in answers]
    put_figures(rows, called, Figures(options.name))


def first_calls(answer: Mapping[str, Any]) -> list[str]:
    """Returns the tools of the first calls. Calls after a first result do not count as routing."""
    calls = answer["tool_calls"]
    return [call["tool"] for call in calls if is_first_call(call["call_id"])]


def put_figures(
    rows: Sequence[Mapping[str, Any]], called: Sequence[Sequence[str]], figures: Figures
) -> None:
    """Prints the accuracy, and each wrongly routed question to standard error."""
    right = 0
    for row, tools in zip(rows, called, strict=True):
        if is_right(tools, row["tools"], row.get("avoid", [])):
            right += 1
        else:
            note(
                f"{row.get('id', '')}: {row['question']!r} went to {tools}, expected {row['tools']}"
            )
    figures.put("accuracy_pct", 100 * right / len(rows), "%")
    figures.put("questions", len(rows), "questions")


def is_right(called: Sequence[str], acceptable: Collection[str], avoid: Collection[str]) -> bool:
    """Returns whether at least one acceptable tool and none to avoid was called; "none" stands for no call."""
    names = {_ALIASES.get(name, name) for name in called} or {"none"}
    good = {_ALIASES.get(name, name) for name in acceptable}
    bad = {_ALIASES.get(name, name) for name in avoid} - good
    return bool(names & good) and not names & bad


async def planned_tools(questions: Sequence[str]) -> list[list[str]]:
    """Returns the tools that the local planner calls for each question in a space without entities."""
    local = LOCAL_MODELS["bge-small-en-v1.5"]
    embedder = LocalEmbedder(local, EmbeddingSettings().models_folder, workers=1)
    clock = Clock(datetime.now(UTC), ZoneInfo("UTC"))
    planner = LocalPlanner(
        _no_entities,
        clock,
        ToolChooser(ToolChoice.load(), QuestionVectors(embedder).vector_of).choose,
    )
    try:
        return [
            [call.tool for call in await planner.plan(question, TOOLS)] for question in questions
        ]
    finally:
        await embedder.close()


async def _no_entities(_text: str) -> list[KnownEntity]:
    return []

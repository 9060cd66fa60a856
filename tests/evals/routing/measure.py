"""How many questions are asked of a right tool and of no wrong one.

`{"id","question","tools","avoid","why"}` a line. What counts are the calls that the question leads to, before any
result is known.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

from services.agent_orchestrator.agent.planner.entities import KnownEntity
from services.agent_orchestrator.agent.planner.planner import LocalPlanner
from services.agent_orchestrator.agent.planner.question import Clock
from tests.benchmarks.command import Options
from tests.benchmarks.figures import Figures, note
from tests.evals.question_files import question_rows

OWN: Final = Path(__file__).parent / "questions.jsonl"
TOOLS: Final = (
    "vector_search", "hybrid_search", "comprehensive_search", "search_knowledge_graph", "search_findings",
    "get_entity_history", "get_snapshot", "diff_graph", "query_graph",
)  # fmt: skip
# One tool by two names.
_ALIASES: Final = {"graph_search": "search_knowledge_graph"}

ToolsOf = Callable[[str], Awaitable[Sequence[str]]]


async def run(options: Options) -> None:
    """Route every question and compare the tools with those that are acceptable."""
    rows = question_rows(options.data, OWN)[: options.queries]
    await measure(rows, planned_tools, Figures(options.name))


async def measure(rows: Sequence[Mapping[str, Any]], tools_of: ToolsOf, figures: Figures) -> None:
    """Print the accuracy, and each wrong question on standard error."""
    right = 0
    for row in rows:
        called = await tools_of(row["question"])
        if is_right(called, row["tools"], row.get("avoid", [])):
            right += 1
        else:
            note(
                f"{row.get('id', '')}: {row['question']!r} went to {called}, expected {row['tools']}"
            )
    figures.put("accuracy_pct", 100 * right / len(rows), "%")
    figures.put("questions", len(rows), "questions")


def is_right(called: Sequence[str], acceptable: Collection[str], avoid: Collection[str]) -> bool:
    """At least one acceptable tool and none to avoid; "none" stands for no call."""
    names = {_ALIASES.get(name, name) for name in called} or {"none"}
    good = {_ALIASES.get(name, name) for name in acceptable}
    bad = {_ALIASES.get(name, name) for name in avoid} - good
    return bool(names & good) and not names & bad


async def planned_tools(question: str) -> list[str]:
    """The tools that the local planner calls, in a space that knows no entity."""
    planner = LocalPlanner(_no_entities, Clock(datetime.now(UTC), ZoneInfo("UTC")))
    return [call.tool for call in await planner.plan(question, TOOLS)]


async def _no_entities(_text: str) -> list[KnownEntity]:
    return []

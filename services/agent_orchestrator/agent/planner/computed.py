"""The parts of a computed answer: a sentence, and the facts that support it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from services.agent_orchestrator.agent.planner.language import fold
from services.agent_orchestrator.agent.planner.question import Question
from services.agent_orchestrator.agent.planner.reading import Reading
from services.agent_orchestrator.agent.planner.statements import Statement, gather
from services.agent_orchestrator.agent.results import ResultItem, ToolResult

HISTORY: Final = "get_entity_history"
# Facts that an answer lists.
MAX_LISTED: Final = 50


@dataclass(frozen=True, slots=True)
class Line:
    """A statement, or words in its place, with words before it."""

    statement: Statement | None
    lead: str = ""


@dataclass(frozen=True, slots=True)
class Computed:
    """A paragraph of a computed answer: a heading, statements with their sources, and the limit of the list."""

    heading: str
    lines: tuple[Line, ...]
    limit: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The facts that a goal is computed from, and how much of each entity's history was read."""

    question: Question
    facts: tuple[ResultItem, ...]
    results: tuple[ToolResult, ...]
    reading: Reading = field(repr=False)

    def history_of(self, name: str) -> list[ToolResult]:
        """Returns the pages of an entity's history that were read."""
        return [
            one
            for one in self.results
            if one.tool == HISTORY and fold(one.entity) == fold(name) and one.items
        ]

    def about(self, name: str) -> list[ResultItem]:
        """Returns the facts with an entity at an end."""
        return [one for one in self.facts if fold(name) in (fold(one.subject), fold(one.object))]

    def limit_of(self, name: str) -> str:
        """Returns a sentence about the part of an entity's history that was not read; empty if all was."""
        pages = self.history_of(name)
        if not pages or not (pages[-1].next_page or pages[-1].unavailable):
            return ""
        total, read = pages[0].total_count, len(self.about(name))
        return (
            f"This is from {read} of the {max(total, read)} facts about {name}: its current ones and the first in the "
            "order of time."
        )


def gather_evidence(
    question: Question, results: Sequence[ToolResult], reading: Reading
) -> Evidence:
    """Returns the facts of results once each, whichever tool returned them."""
    facts = {
        (one.text, one.valid_from, one.valid_until): one
        for one in gather(results).facts
        if one.kind in {"fact", "state"}
    }
    return Evidence(question, tuple(facts.values()), tuple(results), reading)


def lines_of(statements: Iterable[Statement]) -> tuple[Line, ...]:
    """Returns statements as lines without further words."""
    return tuple(Line(one) for one in statements)


def listed(heading: str, statements: Sequence[Statement], limit: str) -> Computed:
    """Returns a list that says how many of its facts are not shown."""
    more = len(statements) - MAX_LISTED
    cut = f"{more} more are not shown: ask for a period. " if more > 0 else ""
    return Computed(heading, lines_of(statements[:MAX_LISTED]), f"{cut}{limit}".strip())

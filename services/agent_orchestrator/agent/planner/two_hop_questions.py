"""Two-hop questions: "who owns the service that caused INC-1" asks first which service caused it.

The inner question is answered from the facts that the first step found; its answer replaces the clause.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from services.agent_orchestrator.agent.planner import statement_selection
from services.agent_orchestrator.agent.planner.entity_recognition import KnownEntity
from services.agent_orchestrator.agent.planner.language import fold
from services.agent_orchestrator.agent.planner.question import Question, read_question
from services.agent_orchestrator.agent.planner.reading import Reading
from services.agent_orchestrator.agent.planner.statements import Statement, gather
from services.agent_orchestrator.agent.planner.tool_choice import RELATIONS
from services.agent_orchestrator.agent.results import ToolResult

_CLAUSE: Final = re.compile(
    r"\b(?:the|that|an?) (?P<noun>[\w-]{1,40}(?: [\w-]{1,40})?) (?:that|which|who|whom) (?P<clause>[^,;?]+)",
    re.IGNORECASE,
)
_PEOPLE: Final = frozenset(
    {"person", "people", "one", "engineer", "man", "woman", "employee", "colleague"}
)


def inner_question(question: Question) -> Question | None:
    """Returns the question in a relative clause, if only the clause names the entities."""
    found = _CLAUSE.search(question.text)
    if found is None or not question.entities:
        return None
    clause = fold(found["clause"])
    inside = [entity for entity in question.entities if fold(entity.name) in clause]
    if not inside or len(inside) < len(question.entities):
        return None
    asks = "Who" if found["noun"].casefold() in _PEOPLE else f"Which {found['noun']}"
    return read_question(f"{asks} {found['clause']}?", inside, question.clock)


async def bridge(
    question: Question, results: Sequence[ToolResult], reading: Reading
) -> tuple[Question, Statement] | None:
    """Returns the question with the answer of its clause in place of the clause, and the fact with that answer."""
    inner = inner_question(question)
    found = _CLAUSE.search(question.text)
    if inner is None or found is None:
        return None
    chosen = await statement_selection.facts(reading, inner, gather(results).facts)
    named = {fold(entity.name) for entity in inner.entities}
    for one in chosen:
        ends = [end for end in (one.item.subject, one.item.object) if fold(end) not in named]
        if len(ends) == 1:
            text = f"{question.text[: found.start()]}{ends[0]}{question.text[found.end() :]}"
            outer = read_question(text, [KnownEntity(ends[0])], question.clock)
            return replace(outer, tool=RELATIONS), one
    return None

"""The end of a relation that a question asks for: "what does X depend on" or "what depends on X"."""

from __future__ import annotations

import re
from typing import Final, Literal

from services.agent_orchestrator.agent.planner.language import fold
from services.agent_orchestrator.agent.planner.question import Question
from services.agent_orchestrator.agent.results import ResultItem

Side = Literal["subject", "object", ""]

_AUXILIARIES: Final = "do|does|did|has|have|had|will|would|can|could"
_COPULAS: Final = "is|are|was|were|been|be"


def side_of(question: Question) -> Side:
    """Returns whether the question's entity is subject or object of the facts that answer it; "" if either may be."""
    if len(question.entities) != 1:
        return ""
    name = re.escape(fold(question.entity))
    plain = fold(question.text)
    if re.search(rf"\b(?:{_AUXILIARIES}) (?:the |our |a )?{name}\b(?!'s)", plain):
        return "subject"
    if re.search(rf"\b\w+(?:ed|en|un|t) by (?:the |our |a )?{name}\b", plain):
        return "subject"
    if re.search(rf"\b(?:{_COPULAS}) (?:the |our |a )?{name}\b(?!'s)", plain):
        return "object" if re.search(rf"{name} .*\b\w+(?:ed|en|un) by\b", plain) else "subject"
    if re.match(
        rf"\W*(?:and |but )?(?:who|which|what)\b(?!.*\b(?:{_COPULAS}) the\b).*\b{name}\b", plain
    ):
        return "object"
    return ""


def is_on_side(item: ResultItem, question: Question, side: Side) -> bool:
    """Whether the question's entity is on that side of a fact."""
    if not side:
        return True
    if item.relation.upper().endswith("BY"):
        side = "object" if side == "subject" else "subject"
    end = item.subject if side == "subject" else item.object
    return fold(end) == fold(question.entity)
